//! Verifies signed requests like a Chef server with version 1.3 of its signatures. It is written from the protocol's
//! description, without any of the program's own code.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use ring::signature::{KeyPair as _, RSA_PKCS1_2048_8192_SHA256, RsaKeyPair, UnparsedPublicKey};
use sha2::{Digest as _, Sha256};

/// Largest difference between the clocks of client and server, in seconds.
const CLOCKS: i64 = 899;

/// A request as the server receives it.
#[derive(Debug, Clone, Copy)]
pub struct Received<'a> {
    pub method: &'a str,
    /// The path, without a query.
    pub path: &'a str,
    /// The headers by their names in lower case.
    pub headers: &'a BTreeMap<String, String>,
    pub body: &'a [u8],
}

/// Verifies that a request was signed with a client's key. `private` is the private key in PEM.
///
/// # Errors
/// The status with which a server answers: 400 where a header is missing, else 401.
pub fn verify(request: &Received<'_>, private: &str, now: Timestamp) -> Result<(), u16> {
    let header = |name: &str| request.headers.get(name).map(String::as_str).unwrap_or_default();
    let needed = ["x-ops-sign", "x-ops-userid", "x-ops-timestamp", "x-ops-content-hash"];
    if needed.iter().any(|name| header(name).is_empty()) {
        return Err(400);
    }
    let moment: Timestamp = header("x-ops-timestamp").parse().map_err(|_| 401_u16)?;
    let apart = now.as_second().abs_diff(moment.as_second());
    if header("x-ops-sign") != "algorithm=sha256;version=1.3;" || apart > CLOCKS.unsigned_abs() {
        return Err(401);
    }
    let parts: Vec<_> = request.path.split('/').filter(|part| !part.is_empty()).collect();
    let version = request.headers.get("x-ops-server-api-version").map_or("0", String::as_str);
    let text = [
        format!("Method:{}", request.method.to_uppercase()),
        format!("Path:/{}", parts.join("/")),
        format!("X-Ops-Content-Hash:{}", STANDARD.encode(Sha256::digest(request.body))),
        "X-Ops-Sign:version=1.3".to_owned(),
        format!("X-Ops-Timestamp:{}", header("x-ops-timestamp")),
        format!("X-Ops-UserId:{}", header("x-ops-userid")),
        format!("X-Ops-Server-API-Version:{version}"),
    ];
    let lines = (1..).map_while(|number| request.headers.get(&format!("x-ops-authorization-{number}")));
    let signature = STANDARD.decode(lines.cloned().collect::<String>()).map_err(|_| 401_u16)?;
    let der: String = private.lines().filter(|line| !line.starts_with("-----")).collect();
    let der = STANDARD.decode(der).map_err(|_| 500_u16)?;
    let pair = RsaKeyPair::from_der(&der).map_err(|_| 500_u16)?;
    let public = UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, pair.public_key().as_ref());
    public.verify(text.join("\n").as_bytes(), &signature).map_err(|_| 401)
}
