//! Signatures for a Chef server, against those that mixlib-authentication made. Of the vectors those of version 1.3 apply: wrun
//! is a client and signs with no other. `verify` and `captured` judge servers, which wrun is not; they are played against the
//! server of the end-to-end tests (`tests/tests/chef_server.rs`).

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use author::policyfile::signing::{ClientKey, Unsigned};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use serde_json::Value;

/// The file of vectors; a missing one is a failure.
fn vectors() -> Value {
    let folder = std::env::var("WRUN_VECTORS")
        .unwrap_or_else(|_| concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors").to_owned());
    let path = std::path::Path::new(&folder).join("signed_requests.json");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap()
}

/// The moment that a case gives in one of several forms.
fn moment(text: &str) -> Timestamp {
    let of_mail = || jiff::fmt::rfc2822::parse(text).unwrap().timestamp();
    text.parse().unwrap_or_else(|_| of_mail())
}

#[test]
fn signed_requests() {
    let vectors = vectors();
    let (mut passed, mut failed) = (0, vec![]);
    for case in vectors["sign"].as_array().unwrap().iter().filter(|case| case["version"] == "1.3") {
        let text = |key: &str| case[key].as_str().unwrap_or_default();
        let pem = vectors["keys"][text("key")]["private"].as_str().unwrap();
        let key = ClientKey::parse(text("user_id"), pem).unwrap();
        let body = match case["body_base64"].as_str() {
            Some(encoded) => STANDARD.decode(encoded).unwrap(),
            None => text("body").as_bytes().to_vec(),
        };
        let request = Unsigned {
            method: text("method"),
            path: text("path"),
            body: &body,
            api_version: case["server_api_version"].as_str(),
        };
        let now = moment(text("timestamp"));
        let headers: serde_json::Map<String, Value> =
            key.headers(&request, now).unwrap().into_iter().map(|(name, value)| (name, value.into())).collect();
        match key.text(&request, now) == text("string_to_sign") && Value::Object(headers) == case["headers"] {
            true => passed += 1,
            false => failed.push(text("name")),
        }
    }
    println!("signed_requests.json: {passed} passed, {} failed", failed.len());
    assert!(failed.is_empty() && passed > 0, "{failed:?}");
}

#[test]
fn other_keys_are_refused() {
    let vectors = vectors();
    let pem = vectors["keys"]["ann"]["private"].as_str().unwrap();
    for (pem, part) in [
        ("", "it has no `-----BEGIN RSA PRIVATE KEY-----`"),
        (&pem.replace("RSA PRIVATE", "ENCRYPTED PRIVATE"), "it has a passphrase"),
        (&pem.replace("RSA PRIVATE", "PRIVATE"), "it is not an RSA key"),
        (&pem.replace('M', "*"), "not base64"),
        (vectors["keys"]["ann"]["public"].as_str().unwrap(), "it has no `-----BEGIN RSA"),
    ] {
        let error = ClientKey::parse("ann", pem).map(|_| ()).unwrap_err();
        assert!(error.contains(part), "{error}");
    }
    // Around it may be what people write into files.
    let around = format!("a comment\n{}\n", pem.replace('\n', "\r\n"));
    assert_eq!(ClientKey::parse("ann", &around).map(|key| key.name().to_owned()).unwrap(), "ann");
}
