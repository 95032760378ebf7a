//! Encrypted values: what Chef wrote is read, what is written is what Chef reads, and what was changed is refused.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use databag::{Secret, ValueError, check_bag_name, check_item_name, decrypt_item, decrypt_value, encrypt_item};
use databag::{encrypt_value, is_encrypted};
use serde_json::{Map, Value, json};

fn vectors() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors/encrypted_data_bag_values.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn secret(text: &str) -> Secret {
    Secret::new(text.as_bytes().to_vec())
}

#[test]
fn values_that_chef_encrypted_are_read() {
    let vectors = vectors();
    let secret = secret(vectors["secret"].as_str().unwrap());
    let mut formats = [0, 0, 0, 0];
    for case in vectors["cases"].as_array().unwrap() {
        assert_eq!(decrypt_value(&case["encrypted"], &secret).as_ref(), Ok(&case["value"]), "{case}");
        formats[usize::try_from(case["version"].as_u64().unwrap()).unwrap()] += 1;
    }
    assert!(formats[1] > 0 && formats[2] > 0 && formats[3] > 0, "{formats:?}");
}

/// With the vector's own initialisation vector, the bytes are those that Chef wrote.
#[test]
fn values_are_written_as_chef_writes_them() {
    let vectors = vectors();
    let secret = secret(vectors["secret"].as_str().unwrap());
    let cases = vectors["cases"].as_array().unwrap().iter().filter(|case| case["version"] == 3);
    let mut checked = 0;
    for case in cases {
        use base64::Engine as _;
        let iv = case["encrypted"]["iv"].as_str().unwrap().trim();
        let iv: [u8; 12] = base64::engine::general_purpose::STANDARD.decode(iv).unwrap().try_into().unwrap();
        let written = encrypt_value(&case["value"], &secret, iv).unwrap();
        // Ruby writes some characters and numbers otherwise; their text is as long or it is not the same value.
        if written["encrypted_data"].as_str().unwrap().len()
            == case["encrypted"]["encrypted_data"].as_str().unwrap().len()
        {
            assert_eq!(written, case["encrypted"], "{case}");
            checked += 1;
        }
        assert_eq!(decrypt_value(&written, &secret).as_ref(), Ok(&case["value"]));
    }
    assert!(checked > 1, "{checked}");
}

#[test]
fn a_changed_value_and_a_wrong_secret_are_refused() {
    let vectors = vectors();
    let (right, wrong) = (secret(vectors["secret"].as_str().unwrap()), secret("another"));
    for case in vectors["cases"].as_array().unwrap() {
        let encrypted = &case["encrypted"];
        assert_eq!(decrypt_value(encrypted, &wrong), Err(ValueError::WrongSecret), "{case}");
        if case["version"] == 1 {
            continue;
        }
        for part in ["encrypted_data", "iv", "auth_tag", "hmac"] {
            // The keyed digest of format 2 does not cover the vector: that is the format's own weakness.
            let Some(text) = encrypted[part].as_str().filter(|_| !(part == "iv" && case["version"] == 2)) else {
                continue;
            };
            let mut changed = encrypted.clone();
            let first = if text.starts_with('A') { "B" } else { "A" };
            changed[part] = json!(format!("{first}{}", &text[1..]));
            assert_eq!(decrypt_value(&changed, &right), Err(ValueError::WrongSecret), "{part} of {case}");
        }
    }
}

#[test]
fn what_is_not_an_encrypted_value_is_refused() {
    #[track_caller]
    fn check(value: Value, why: &str) {
        let error = decrypt_value(&value, &secret("s")).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
    let value =
        |version: Value| json!({"version": version, "cipher": "aes-256-gcm", "encrypted_data": "AAAA", "iv": "AAAA"});
    check(json!("text"), "not an encrypted value");
    check(json!({}), "not an encrypted value");
    check(value(json!(0)), "it has the format 0; wrun reads 1, 2 and 3");
    check(value(json!("3")), "it has the format \"3\"");
    check(value(json!(2)), "format 2 has aes-256-cbc");
    check(value(json!(3)), "`auth_tag` is missing");
    let with = |key: &str, text: Value| {
        let mut value = value(json!(3));
        value["auth_tag"] = json!("AAAAAAAAAAAAAAAAAAAAAA==");
        value[key] = text;
        value
    };
    check(with("encrypted_data", json!("!")), "`encrypted_data` is missing or is not base64");
    check(with("encrypted_data", json!(7)), "`encrypted_data` is missing or is not base64");
    check(with("auth_tag", json!("AAAA")), "`auth_tag`");
    check(with("iv", json!("AAAA")), "`iv`");
    let chained = json!({"version": 1, "cipher": "aes-256-cbc", "encrypted_data": "AAAA", "iv": "AAAA"});
    check(chained, "`iv`");
}

#[test]
fn items_are_encrypted_value_by_value() {
    let secret = secret("s");
    let plain = json!({"id": "ann", "password": "p\u{fc}", "groups": ["a", null, 1.5], "empty": {}});
    let plain = plain.as_object().unwrap();
    let mut next = 0;
    let mut random = |bytes: &mut [u8]| {
        next += 1;
        bytes.fill(next);
        Ok::<_, ValueError>(())
    };
    let encrypted = encrypt_item(plain, &secret, &mut random).unwrap();
    assert!(is_encrypted(&encrypted) && !is_encrypted(plain));
    assert_eq!(encrypted["id"], "ann");
    assert_ne!(encrypted["password"]["iv"], encrypted["groups"]["iv"], "each value has its own");
    assert!(!Value::Object(encrypted.clone()).to_string().contains("groups\":["));
    assert_eq!(&decrypt_item(&encrypted, &secret).unwrap(), plain);
    let mut damaged = encrypted.clone();
    damaged["empty"]["iv"] = json!("");
    assert!(decrypt_item(&damaged, &secret).unwrap_err().to_string().starts_with("`empty`: "));
    // An item of which a part is plain is plain: nobody is to take it for a protected one.
    damaged.insert("note".to_owned(), json!("open"));
    assert!(!is_encrypted(&damaged));
    assert!(!is_encrypted(json!({"id": "x"}).as_object().unwrap_or(&Map::new())));
    assert!(!format!("{secret:?}").contains("115"), "{secret:?}");
}

#[test]
fn names_are_checked() {
    for name in ["users", "a.b-c_1", "9"] {
        assert!(check_bag_name(name).is_ok() && check_item_name(name).is_ok(), "{name}");
    }
    for name in ["", ".hidden", "..", "a/b", "a b", "\u{fc}", "a\n", &"x".repeat(300)] {
        assert!(check_bag_name(name).is_err() && check_item_name(name).is_err(), "{name}");
    }
    assert!(check_bag_name("node").unwrap_err().to_string().contains("search index"));
    assert!(check_item_name("node").is_ok());
}
