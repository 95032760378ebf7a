//! Requests to a Chef server, signed by version 1.3 of its protocol: RSA (PKCS#1 v1.5) with SHA-256 over the method, the
//! path, the body's digest, the moment, the client's name and the version of the interface. Older versions sign with SHA-1,
//! and every maintained server accepts 1.3.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp as Moment;
use ring::rand::SystemRandom;
use ring::signature::{RSA_PKCS1_SHA256, RsaKeyPair};
use sha2::{Digest as _, Sha256};

/// How many characters of a signature one header has.
const LINE: usize = 60;

/// The key of a Chef server's client, with the client's name. `Debug` does not show the key.
pub struct ClientKey {
    name: String,
    key: RsaKeyPair,
}

/// A request that is to be signed.
#[derive(Debug, Clone, Copy)]
pub struct Unsigned<'a> {
    /// The method, such as `GET`.
    pub method: &'a str,
    /// The path, without host and query.
    pub path: &'a str,
    /// The bytes that are sent; none for a request without a body.
    pub body: &'a [u8],
    /// The version of the server's interface, as its header says it; `None` if the header is absent.
    pub api_version: Option<&'a str>,
}

impl ClientKey {
    /// Reads the key of a client: a file as Chef writes it, in PEM.
    ///
    /// # Errors
    /// It is not an RSA key of at least 2048 bits in PEM, or has a passphrase.
    pub fn parse(name: &str, pem: &str) -> Result<Self, String> {
        let begin = pem.lines().find_map(|line| line.trim().strip_prefix("-----BEGIN ")?.strip_suffix("-----"));
        let read: fn(&[u8]) -> Result<RsaKeyPair, ring::error::KeyRejected> = match begin {
            Some("RSA PRIVATE KEY") => RsaKeyPair::from_der,
            Some("PRIVATE KEY") => RsaKeyPair::from_pkcs8,
            Some("ENCRYPTED PRIVATE KEY") => return Err("it has a passphrase, as keys of Chef never do".into()),
            _ => return Err("it has no `-----BEGIN RSA PRIVATE KEY-----`".into()),
        };
        let lines = pem.lines().map(str::trim).skip_while(|line| !line.starts_with("-----BEGIN ")).skip(1);
        let text: String = lines.take_while(|line| !line.starts_with("-----END ")).collect();
        let der = STANDARD.decode(text).map_err(|_| "what is in it is not base64".to_owned())?;
        let key = read(&der).map_err(|error| format!("it is not an RSA key of at least 2048 bits: {error}"))?;
        Ok(Self { name: name.to_owned(), key })
    }

    /// Returns the name of the client.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The text that is signed.
    #[must_use]
    pub fn text(&self, request: &Unsigned<'_>, now: Moment) -> String {
        format!(
            "Method:{}\nPath:{}\nX-Ops-Content-Hash:{}\nX-Ops-Sign:version=1.3\nX-Ops-Timestamp:{}\nX-Ops-UserId:{}\n\
             X-Ops-Server-API-Version:{}",
            request.method.to_uppercase(),
            canonical(request.path),
            digest(request.body),
            moment(now),
            self.name,
            request.api_version.unwrap_or("0")
        )
    }

    /// The headers that a signed request has beside its others.
    ///
    /// # Errors
    /// The system gives no random numbers.
    pub fn headers(&self, request: &Unsigned<'_>, now: Moment) -> Result<Vec<(String, String)>, String> {
        let mut signature = vec![0; self.key.public().modulus_len()];
        let signed =
            self.key.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), self.text(request, now).as_bytes(), &mut signature);
        signed.map_err(|_| "the request cannot be signed: the system gives no random numbers".to_owned())?;
        let mut headers = vec![
            ("X-Ops-Sign".to_owned(), "algorithm=sha256;version=1.3;".to_owned()),
            ("X-Ops-Userid".to_owned(), self.name.clone()),
            ("X-Ops-Timestamp".to_owned(), moment(now)),
            ("X-Ops-Content-Hash".to_owned(), digest(request.body)),
        ];
        let mut rest = STANDARD.encode(signature);
        for number in 1.. {
            let after = rest.split_off(rest.len().min(LINE));
            headers.push((format!("X-Ops-Authorization-{number}"), rest));
            rest = after;
            if rest.is_empty() {
                break;
            }
        }
        headers.extend(request.api_version.map(|version| ("X-Ops-Server-API-Version".to_owned(), version.to_owned())));
        Ok(headers)
    }
}

/// A path without doubled slashes, and without one at its end.
fn canonical(path: &str) -> String {
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    format!("/{}", parts.join("/"))
}

fn digest(body: &[u8]) -> String {
    STANDARD.encode(Sha256::digest(body))
}

/// A moment in whole seconds, in UTC.
fn moment(now: Moment) -> String {
    now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}
