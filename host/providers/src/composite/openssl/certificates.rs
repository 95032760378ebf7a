//! Certificates, and requests for them.

use super::super::text::{one_line, plain_name};
use super::super::{Composite, Machine, change, children, in_real_runs, invalid};
use super::der::{self, Certificate as Parsed};
use super::{
    BY_PASSWORD, DAY, NOT_MADE, computed_text, is_private_key, is_there, new_ec_key, new_rsa_key, now, own_file,
    private, required_text, secret, with_files,
};
use crate::resources::asked;
use contract::{Composition, ErrorKind, Raised, Wanted};
use machine::random_bytes;
use schema::types::openssl::{CertificateProperties, KeyFileProperties, SubjectProperties};
use serde_json::Value;

/// The names of the files of one call.
const KEY: &str = "key.pem";
const REQUEST: &str = "request.pem";
const REQUESTED: &str = "requested.pem";
const EXTENSIONS: &str = "extensions.cnf";
const ISSUER: &str = "issuer.pem";

/// The number of random bytes in a serial number, which has at most 20 (RFC 5280, 4.1.2.2).
const SERIAL_BYTES: usize = 19;

/// Extensions whose value may name a file to read (RFC 3820).
const READING_FILES: [&str; 2] = ["proxyCertInfo", "1.3.6.1.5.5.7.1.14"];

/// The composite of `openssl_x509_request`.
pub(in super::super) struct Request;

impl Composite for Request {
    fn compose(&self, wanted: &Wanted<'_>, machine: &mut Machine<'_, '_>) -> Result<Composition, Raised> {
        let KeyFileProperties { path, .. } = asked::properties(wanted)?;
        if is_there(machine, &path)? {
            return Ok(Composition::default());
        }
        let subject: SubjectProperties = asked::properties(wanted)?;
        let place = key_file(&path, &subject);
        let key = key(machine, &place, &subject)?;
        let request = new_request(machine, &subject, &key)?;
        let is_real = !machine.view.why_run;
        let parts = [
            own_file(wanted, &path, "create", is_real.then_some(request))?,
            secret(own_file(wanted, &place, "create_if_missing", is_real.then_some(key))?),
        ];
        Ok(change([format!("Create CSR {}", wanted.declaration.key())], parts.map(in_real_runs).into()))
    }
}

/// The composite of `openssl_x509_certificate`.
pub(in super::super) struct Certificate;

impl Composite for Certificate {
    fn compose(&self, wanted: &Wanted<'_>, machine: &mut Machine<'_, '_>) -> Result<Composition, Raised> {
        let KeyFileProperties { path, .. } = asked::properties(wanted)?;
        let subject: SubjectProperties = asked::properties(wanted)?;
        let properties: CertificateProperties = asked::properties(wanted)?;
        let place = key_file(&path, &subject);
        let is_missing = !is_there(machine, &path)?;
        let is_due = match properties.renew_before_expiry {
            Some(_) if is_missing => true,
            Some(days) => ends_within(machine, &path, days)?,
            None => false,
        };
        let writes_key = properties.csr_file.is_none() && !is_there(machine, &place)?;
        let needs_key = writes_key
            || ((is_missing || is_due) && (properties.csr_file.is_none() || properties.ca_key_file.is_none()));
        let key = if needs_key { Some(key(machine, &place, &subject)?) } else { None };
        let certificate = match is_missing || is_due {
            true => Some(signed(machine, &subject, &properties, key.as_deref().unwrap_or_default())?),
            false => None,
        };
        let is_real = !machine.view.why_run;
        let certificate = certificate.filter(|_| is_real);
        let new = certificate.clone().filter(|_| is_missing);
        let mut parts = vec![own_file(wanted, &path, "create_if_missing", new)?];
        if is_due {
            parts.push(secret(own_file(wanted, &path, "create", certificate)?));
        }
        if properties.csr_file.is_none() {
            let key = key.filter(|_| writes_key && is_real);
            parts.push(secret(own_file(wanted, &place, "create_if_missing", key)?));
        }
        Ok(children(parts))
    }
}

/// Returns the path of the key that belongs to a certificate or request.
fn key_file(path: &str, subject: &SubjectProperties) -> String {
    if let Some(named) = &subject.key_file {
        return named.clone();
    }
    let (folder, name) = path.rsplit_once('/').unwrap_or((".", path));
    let stem = name.rsplit_once('.').map(|(stem, _)| stem).filter(|stem| !stem.is_empty());
    format!("{folder}/{}.key", stem.unwrap_or(name))
}

/// Returns the text of the existing key, or of a new one.
fn key(machine: &mut Machine<'_, '_>, place: &str, subject: &SubjectProperties) -> Result<String, Raised> {
    let found = machine.readable_text(place)?;
    if let Some(text) = found.filter(|_| !machine.is_survey)
        && is_private_key(machine, &text, subject.key_pass.as_deref())?
    {
        return Ok(text);
    }
    if machine.is_survey {
        is_private_key(machine, NOT_MADE, subject.key_pass.as_deref())?;
    }
    match subject.key_type.as_str() {
        "rsa" => new_rsa_key(machine, subject.key_length, None),
        _ => new_ec_key(machine, &subject.key_curve, None),
    }
}

/// Returns a request for a certificate of a subject, signed with its key.
fn new_request(machine: &mut Machine<'_, '_>, subject: &SubjectProperties, key: &str) -> Result<String, Raised> {
    let (name, place) = (subject_text(subject), private(KEY));
    let words = ["req", "-new", "-sha256", "-subj", &name, "-key", &place, BY_PASSWORD[0], BY_PASSWORD[1]];
    computed_text(machine, &with_files(&words, &[(KEY, key)], subject.key_pass.as_deref()))
}

/// Returns the name of a subject, as in `/C=DE/CN=a`.
fn subject_text(subject: &SubjectProperties) -> String {
    let SubjectProperties { country, state, city, org, org_unit, common_name, email, .. } = subject;
    let names = [
        ("C", country),
        ("ST", state),
        ("L", city),
        ("O", org),
        ("OU", org_unit),
        ("CN", common_name),
        ("emailAddress", email),
    ];
    let mut text = String::new();
    for (name, value) in names {
        let Some(value) = value else { continue };
        text.push_str(&format!("/{name}="));
        for sign in value.chars() {
            if "/+\\".contains(sign) {
                text.push('\\');
            }
            text.push(sign);
        }
    }
    text
}

/// Tells whether a certificate ends within some days. A file that is not a certificate counts as one that has ended.
fn ends_within(machine: &Machine<'_, '_>, path: &str, days: i64) -> Result<bool, Raised> {
    let bytes = machine.readable_bytes(path)?.unwrap_or_default();
    let bytes = der::unarmoured(&bytes, &der::CERTIFICATE);
    let end = Parsed::of(&bytes).and_then(|certificate| certificate.not_after());
    Ok(end.is_none_or(|end| end <= now().saturating_add(days.saturating_mul(DAY))))
}

/// Returns a new certificate. It is made for the given request or for one of the subject's own, and signed by the authority
/// or by itself.
fn signed(
    machine: &mut Machine<'_, '_>,
    subject: &SubjectProperties,
    properties: &CertificateProperties,
    own_key: &str,
) -> Result<String, Raised> {
    let request = match &properties.csr_file {
        Some(path) => required_text(machine, path)?,
        None => new_request(machine, subject, own_key)?,
    };
    let (signer, password) = match &properties.ca_key_file {
        Some(path) => (required_text(machine, path)?, &properties.ca_key_pass),
        None => (own_key.to_owned(), &subject.key_pass),
    };
    let (serial, expire) = (new_serial()?, properties.expire.to_string());
    let [request_place, extensions_place, signer_place, issuer_place, requested_place] =
        [REQUEST, EXTENSIONS, KEY, ISSUER, REQUESTED].map(private);
    let extensions = extensions(properties)?;
    let mut words = vec!["x509", "-req", "-sha256", "-days", &expire, "-set_serial", &serial];
    words.extend(["-in", &request_place, "-extfile", &extensions_place]);
    let (issuer, requested);
    let mut files = vec![(REQUEST, request.as_str()), (EXTENSIONS, &extensions), (KEY, &signer)];
    if let Some(path) = &properties.ca_cert_file {
        issuer = required_text(machine, path)?;
        files.push((ISSUER, &issuer));
        words.extend(["-CA", &issuer_place, "-CAkey", &signer_place]);
    } else {
        // Without this option, `openssl` would put the signing key's public half into the certificate of another subject's
        // request.
        let asked = with_files(&["req", "-noout", "-pubkey", "-in", &request_place], &[(REQUEST, &request)], None);
        requested = computed_text(machine, &asked)?;
        files.push((REQUESTED, &requested));
        words.extend(["-signkey", &signer_place, "-force_pubkey", &requested_place]);
    }
    words.extend(BY_PASSWORD);
    computed_text(machine, &with_files(&words, &files, password.as_deref()))
}

/// Returns a random serial number, because two certificates of an authority must not have the same one.
fn new_serial() -> Result<String, Raised> {
    match random_bytes::<SERIAL_BYTES>() {
        Ok(bytes) => Ok(format!("0x1{}", text::hex(bytes))),
        Err(_) => Err(Raised::new(ErrorKind::Failed, "the system has no random bytes")),
    }
}

/// Returns the extensions of a certificate in the syntax of `openssl`'s configuration files.
fn extensions(properties: &CertificateProperties) -> Result<String, Raised> {
    let mut lines = Vec::new();
    for (name, given) in properties.extensions.as_object().into_iter().flatten() {
        lines.push(extension(name, given)?);
    }
    if !properties.subject_alt_name.is_empty() {
        lines.push(format!("subjectAltName={}", plain_value(&properties.subject_alt_name.join(","))));
    }
    if properties.ca_cert_file.is_none() {
        lines.push("basicConstraints=critical,CA:TRUE".to_owned());
    }
    lines.extend(["subjectKeyIdentifier=hash", "authorityKeyIdentifier=keyid:always,issuer:always"].map(str::to_owned));
    let mut text = String::new();
    for line in &lines {
        text.push_str(one_line("extensions and subject_alt_name", line)?);
        text.push('\n');
    }
    Ok(text)
}

/// Returns the line of one extension. The check of the name excludes other settings, such as one that includes another file.
fn extension(name: &str, given: &Value) -> Result<String, Raised> {
    let name = plain_name("extensions", name, "._-", "the name of an extension")?;
    let Value::Object(given) = given else {
        return Err(Raised::new(ErrorKind::WrongType, format!("{name} must contain a Ruby Hash")));
    };
    let (Some(values), Some(critical)) = (given.get("values"), given.get("critical")) else {
        let message = format!("keys in {name} must be 'values' and 'critical'");
        return Err(Raised::new(ErrorKind::InvalidArgument, message));
    };
    let word = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let values = match values {
        Value::Array(values) => values.iter().map(word).collect::<Vec<_>>().join(","),
        one => word(one),
    };
    // `openssl` would put the content of such a file into the certificate.
    if READING_FILES.iter().any(|reading| reading.eq_ignore_ascii_case(name)) && values.contains("file:") {
        return Err(invalid(format!("{name} may not read a file: say its value as text: or hex:")));
    }
    let is_critical = !matches!(critical, Value::Null | Value::Bool(false));
    Ok(format!("{name}={}{}", if is_critical { "critical," } else { "" }, plain_value(&values)))
}

/// Escapes a value, so that no sign of it has a meaning in a configuration file: no variable, comment or quotation mark.
fn plain_value(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    for sign in value.chars() {
        if matches!(sign, '\\' | '$' | '#' | '"' | '\'' | '`') {
            text.push('\\');
        }
        text.push(sign);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::typed::{DeclaredValues, TypedProperties};
    use serde_json::{Map, json};

    struct Given(Map<String, Value>);

    impl DeclaredValues for Given {
        fn name(&self) -> &str {
            "/etc/ssl/web.pem"
        }

        fn value(&self, property: &str) -> Option<&Value> {
            self.0.get(property)
        }
    }

    fn properties<T: TypedProperties>(values: Value) -> T {
        T::read(&Given(values.as_object().unwrap().clone())).unwrap()
    }

    #[test]
    fn extensions_are_one_line_each_and_nothing_else() {
        let text = |values: Value| extensions(&properties(values)).map_err(|raised| raised.message);
        let own = "subjectKeyIdentifier=hash\nauthorityKeyIdentifier=keyid:always,issuer:always\n";
        let ca = "basicConstraints=critical,CA:TRUE\n";
        assert_eq!(text(json!({})).unwrap(), format!("{ca}{own}"));
        let usage = json!({ "keyUsage": { "values": ["digitalSignature", "keyAgreement"], "critical": true } });
        let all = json!({ "extensions": usage, "subject_alt_name": ["DNS:a", "DNS:b"], "ca_cert_file": "/ca.pem" });
        let expected = "keyUsage=critical,digitalSignature,keyAgreement\nsubjectAltName=DNS:a,DNS:b\n";
        assert_eq!(text(all).unwrap(), format!("{expected}{own}"));
        let signs = json!({ "extensions": { "nsComment": { "values": ["$a #b\\\"'"], "critical": false } } });
        assert_eq!(text(signs).unwrap(), format!("nsComment=\\$a \\#b\\\\\\\"\\'\n{ca}{own}"));
        for (given, expected) in [
            (json!({ "extensions": { "keyUsage": ["x"] } }), "must contain a Ruby Hash"),
            (json!({ "extensions": { "keyUsage": { "values": ["x"] } } }), "must be 'values' and 'critical'"),
            (
                json!({ "extensions": { ".include": { "values": ["/etc/shadow"], "critical": false } } }),
                "the name of an",
            ),
            (json!({ "extensions": { "[x]": { "values": [], "critical": false } } }), "the name of an"),
            (
                json!({ "extensions": { "a": { "values": ["x\n.include=/x"], "critical": false } } }),
                "control characters",
            ),
            (json!({ "subject_alt_name": ["DNS:a\n.include=/x"] }), "control characters"),
            (
                json!({ "extensions": { "proxyCertInfo": { "values": ["language:1.2", "policy:file:/x"], "critical": 1 } } }),
                "may not read a file",
            ),
        ] {
            let refused = text(given.clone()).unwrap_err();
            assert!(refused.contains(expected), "{given}: {refused}");
        }
    }

    #[test]
    fn a_subject_is_written_as_openssl_reads_it() {
        let text = |values: Value| subject_text(&properties(values));
        assert_eq!(text(json!({})), "");
        let all = json!({ "common_name": "a/b+c\\d", "country": "DE", "org": "Ex ample", "email": "x@example.org" });
        assert_eq!(text(all), "/C=DE/O=Ex ample/CN=a\\/b\\+c\\\\d/emailAddress=x@example.org");
    }

    #[test]
    fn a_key_lies_beside_its_certificate() {
        let check = |path, expected| assert_eq!(key_file(path, &properties(json!({}))), expected);
        check("/etc/ssl/web.pem", "/etc/ssl/web.key");
        check("/etc/ssl/web", "/etc/ssl/web.key");
        check("/etc/ssl/.pem", "/etc/ssl/.pem.key");
        check("/a.b.crt", "/a.b.key");
        assert_eq!(key_file("/x.pem", &properties(json!({ "key_file": "/srv/y.key" }))), "/srv/y.key");
    }
}
