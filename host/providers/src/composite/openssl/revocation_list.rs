//! `openssl_x509_crl`: an authority's list of revoked certificates. This module builds the list itself, because `openssl ca`
//! would need a folder with the authority's records. The `openssl` command signs it.

use super::super::{Composite, Machine, always, child, invalid, runtime_error};
use super::der::{Certificate, Entry, RevocationList as Parsed, identifier, tag};
use super::{BY_PASSWORD, DAY, NOT_MADE, computed, der, known, now, own_file, private, required_text, with_files};
use crate::resources::asked;
use contract::{Child, Composition, ErrorKind, Raised, Wanted};
use schema::types::openssl::{CrlProperties, KeyFileProperties};
use serde_json::Value;

/// The name of the file with the key.
const KEY: &str = "key.pem";

/// The composite of `openssl_x509_crl`.
pub(in super::super) struct RevocationList;

impl Composite for RevocationList {
    fn compose(&self, wanted: &Wanted<'_>, machine: &mut Machine<'_, '_>) -> Result<Composition, Raised> {
        known(list(wanted, machine))
    }
}

fn list(wanted: &Wanted<'_>, machine: &mut Machine<'_, '_>) -> Result<Composition, Raised> {
    let KeyFileProperties { path, .. } = asked::properties(wanted)?;
    let properties: CrlProperties = asked::properties(wanted)?;
    let certificate = required_text(machine, &properties.ca_cert_file)?;
    let key = required_text(machine, &properties.ca_key_file)?;
    let found = machine.readable_bytes(&path)?.unwrap_or_default();
    let mut parts = Vec::new();
    // In a dry run, files of earlier resources may have no content yet.
    let is_to_come = machine.view.why_run && ![&certificate, &key].iter().all(|text| text.contains("-----BEGIN"));
    let text = if machine.is_survey {
        signature(machine, NOT_MADE.as_bytes(), &key, &properties)?;
        None
    } else if is_to_come {
        None
    } else {
        Some(renewed(machine, (&path, &found), (&certificate, &key), &properties, &mut parts)?)
    };
    parts.push(always(own_file(wanted, &path, "create", text)?));
    Ok(Composition { children: parts, ..Composition::default() })
}

/// Returns the text of the list. The existing one is kept if no certificate is to be revoked and it is valid for some more
/// time.
fn renewed(
    machine: &mut Machine<'_, '_>,
    (path, found): (&str, &[u8]),
    (certificate, key): (&str, &str),
    properties: &CrlProperties,
    parts: &mut Vec<Child>,
) -> Result<String, Raised> {
    let authority = der::unarmoured(certificate.as_bytes(), &der::CERTIFICATE);
    let Some(authority) = Certificate::of(&authority) else {
        return Err(invalid(format!("{} is not a certificate", properties.ca_cert_file)));
    };
    let now = now();
    let mut log = |line: String| parts.push(always(child("log", &line, "write", [])));
    let found = der::unarmoured(found, &der::REVOCATION_LIST);
    let old = Parsed::of(&found);
    let next_update = match &old {
        Some(old) => old.next_update,
        None => {
            log(format!("Creating a CRL {path} for CA {}", properties.ca_cert_file));
            Some(now.saturating_add(days(properties.expire)))
        }
    };
    let entry: Vec<u8>;
    let mut entries = old.as_ref().map(|old| old.entries.clone()).unwrap_or_default();
    let number = old.as_ref().map_or(Some(&[1][..]), |old| old.number);
    let serial = properties.serial_to_revoke.as_ref().filter(|serial| !serial.is_null()).map(number_of).transpose()?;
    let revoked = serial.filter(|serial| entries.iter().all(|entry| der::unsigned(entry.serial) != *serial));
    let number = if let Some(serial) = &revoked {
        let shown = properties.serial_to_revoke.as_ref().map(shown).unwrap_or_default();
        log(format!("Revoking serial {shown} in CRL {path}"));
        entry = revocation(serial, now, properties)?;
        entries.push(Entry { serial, whole: &entry });
        next_number(number)
    } else if next_update.is_none_or(|next| next <= now.saturating_add(days(properties.renewal_threshold))) {
        log(format!("Renewing CRL for CA {}", properties.ca_cert_file));
        next_number(number)
    } else if old.is_some() {
        return Ok(der::armoured(&found));
    } else {
        vec![1]
    };
    // Unsigned numbers sort by length first, then by their octets.
    entries.sort_by_key(|entry| {
        let serial = der::unsigned(entry.serial);
        (serial.len(), serial)
    });
    let content = content(&authority, &number, &entries, now, properties)?;
    let signed = signature(machine, &content.0, key, properties)?;
    let list = der::sequence(&[&content.0, &content.1, &der::tagged(tag::BITS, &[&[0], &signed])]);
    Ok(der::armoured(&list))
}

/// Returns the part of a new list that is signed, and its signature algorithm, both encoded.
fn content(
    authority: &Certificate<'_>,
    number: &[u8],
    entries: &[Entry<'_>],
    now: i64,
    properties: &CrlProperties,
) -> Result<(Vec<u8>, Vec<u8>), Raised> {
    let damaged = || invalid(format!("{} is not a certificate", properties.ca_cert_file));
    let (subject, issuer) = (authority.subject().ok_or_else(damaged)?, authority.issuer().ok_or_else(damaged)?);
    let serial = authority.serial().ok_or_else(damaged)?;
    let algorithm = algorithm(authority.key_algorithm().ok_or_else(damaged)?)?;
    let Some(key) = authority.key_identifier() else {
        return Err(runtime_error(format!("{}: unable to get issuer keyid", properties.ca_cert_file)));
    };
    // The signing key: its identifier, and the issuer and number of its certificate (RFC 5280, 4.2.1.1).
    let authority_key = der::sequence(&[
        &der::tagged(0x80, &[key]),
        &der::tagged(0xa1, &[&der::tagged(tag::FIRST + 4, &[issuer.whole])]),
        &der::tagged(0x82, &[serial.content]),
    ]);
    let number = der::tagged(tag::INTEGER, &[number]);
    let extensions =
        [der::extended(identifier::LIST_NUMBER, &number), der::extended(identifier::AUTHORITY_KEY, &authority_key)]
            .concat();
    let revoked = match entries.is_empty() {
        true => vec![],
        false => der::sequence(&entries.iter().map(|entry| entry.whole).collect::<Vec<_>>()),
    };
    let content = der::sequence(&[
        &der::tagged(tag::INTEGER, &[&[1]]),
        &algorithm,
        subject.whole,
        &moment(now, 0)?,
        &moment(now, properties.expire)?,
        &revoked,
        &der::tagged(tag::FIRST, &[&der::sequence(&[&extensions])]),
    ]);
    Ok((content, algorithm))
}

/// Encodes the signature algorithm for a kind of key. RSA has a field for parameters, which is NULL (RFC 4055, 5). Elliptic
/// curves do not have the field (RFC 5758, 3.2).
fn algorithm(key: &[u8]) -> Result<Vec<u8>, Raised> {
    let name = |name| der::tagged(tag::IDENTIFIER, &[name]);
    match key {
        identifier::RSA => Ok(der::sequence(&[&name(identifier::RSA_WITH_SHA256), &der::tagged(tag::NULL, &[])])),
        identifier::CURVE => Ok(der::sequence(&[&name(identifier::CURVE_WITH_SHA256)])),
        _ => Err(Raised::new(ErrorKind::WrongType, "no list is signed with a key of this kind: RSA or EC is wanted")),
    }
}

/// Encodes the entry of a certificate that is revoked now.
fn revocation(serial: &[u8], now: i64, properties: &CrlProperties) -> Result<Vec<u8>, Raised> {
    let reason = u8::try_from(properties.revocation_reason).ok().filter(|reason| *reason <= 10);
    let Some(reason) = reason else {
        return Err(invalid("revocation_reason must be a number from 0 to 10"));
    };
    let reason = der::extended(identifier::REASON, &der::tagged(tag::ENUMERATED, &[&[reason]]));
    Ok(der::sequence(&[&der::tagged(tag::INTEGER, &[serial]), &moment(now, 0)?, &der::sequence(&[&reason])]))
}

/// Returns the signature of some bytes by the authority's key.
fn signature(
    machine: &mut Machine<'_, '_>,
    bytes: &[u8],
    key: &str,
    properties: &CrlProperties,
) -> Result<Vec<u8>, Raised> {
    let place = private(KEY);
    let words = ["dgst", "-sha256", "-binary", "-sign", &place, BY_PASSWORD[0], BY_PASSWORD[1]];
    let launch = with_files(&words, &[(KEY, key)], properties.ca_key_pass.as_deref());
    computed(machine, &launch.input(bytes.to_vec()))
}

/// Encodes the time that is some days after another time.
fn moment(now: i64, after: i64) -> Result<Vec<u8>, Raised> {
    der::time(now.saturating_add(days(after))).ok_or_else(|| {
        let message = format!("a date between the years 1950 and 9999 is wanted, not one in {after} days");
        Raised::new(ErrorKind::InvalidArgument, message)
    })
}

/// Returns the number of seconds in some days.
fn days(count: i64) -> i64 {
    count.saturating_mul(DAY)
}

/// Returns the number of the list that follows a list with this number.
fn next_number(number: Option<&[u8]>) -> Vec<u8> {
    let Some(number) = number else { return vec![2] };
    let mut octets = number.to_vec();
    for octet in octets.iter_mut().rev() {
        *octet = octet.wrapping_add(1);
        if *octet != 0 {
            return der::unsigned(&octets);
        }
    }
    octets.insert(0, 1);
    octets
}

/// Returns the encoded content of a serial number, which is given as an integer or as hexadecimal digits.
fn number_of(serial: &Value) -> Result<Vec<u8>, Raised> {
    let wrong = || invalid(format!("serial_to_revoke {:?} is not a number or its hexadecimal digits", shown(serial)));
    if let Some(number) = serial.as_u64() {
        return Ok(der::unsigned(&number.to_be_bytes()));
    }
    let digits = serial.as_str().ok_or_else(wrong)?.trim();
    let digits = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")).unwrap_or(digits);
    // RFC 5280, 4.1.2.2 allows serial numbers of up to 20 octets; this accepts 32.
    if digits.is_empty() || digits.len() > 64 {
        return Err(wrong());
    }
    let padded = format!("{}{digits}", if digits.len() % 2 == 0 { "" } else { "0" });
    let octets: Option<Vec<u8>> = padded.as_bytes().chunks(2).map(hexadecimal).collect();
    octets.map(|octets| der::unsigned(&octets)).ok_or_else(wrong)
}

fn hexadecimal(pair: &[u8]) -> Option<u8> {
    let digit = |at: usize| char::from(*pair.get(at)?).to_digit(16);
    u8::try_from(digit(0)? * 16 + digit(1)?).ok()
}

/// Returns a serial number as the cookbook wrote it.
fn shown(serial: &Value) -> String {
    serial.as_str().map_or_else(|| serial.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_certificates_number_is_a_number_or_hexadecimal() {
        for (given, expected) in [
            (json!(128), &[0, 0x80][..]),
            (json!("80"), &[0, 0x80]),
            (json!("0x0080"), &[0, 0x80]),
            (json!("fFf"), &[0x0f, 0xff]),
            (json!(0), &[0]),
        ] {
            assert_eq!(number_of(&given).unwrap(), expected, "{given}");
        }
        for wrong in [json!(-1), json!(""), json!("0x"), json!("1:2"), json!("-5"), json!("+5"), json!(1.5), json!("ä")]
        {
            assert!(number_of(&wrong).unwrap_err().message.contains("hexadecimal"), "{wrong}");
        }
    }

    #[test]
    fn lists_are_counted() {
        assert_eq!(next_number(None), [2]);
        assert_eq!(next_number(Some(&[1])), [2]);
        assert_eq!(next_number(Some(&[0x7f])), [0, 0x80]);
        assert_eq!(next_number(Some(&[0, 0xff])), [1, 0]);
        assert_eq!(next_number(Some(&[])), [1]);
    }
}
