//! Private keys, public keys of private keys, and parameters for key exchange.

use super::super::{Composite, Machine, change, child, children, in_real_runs, runtime_error};
use super::{
    BY_PASSWORD, Kind, NOT_MADE, is_private_key, known, made, new_ec_key, new_rsa_key, opened_by, openssl, own_file,
    printed, secret, succeeds,
};
use crate::resources::asked;
use contract::{Composition, ErrorKind, Raised, Wanted};
use schema::types::openssl::{
    DhparamProperties, EcKeyProperties, KeyFileProperties, PrivateKeyProperties, PublicKeyProperties, RsaKeyProperties,
};

/// The composite of both types of private keys.
pub(in super::super) struct PrivateKey(pub(in super::super) Kind);

impl Composite for PrivateKey {
    fn compose(&self, wanted: &Wanted<'_>, machine: &mut Machine<'_, '_>) -> Result<Composition, Raised> {
        let KeyFileProperties { path, .. } = asked::properties(wanted)?;
        let PrivateKeyProperties { key_pass, key_cipher, force } = asked::properties(wanted)?;
        // As in Chef, an existing key stays even with `force`.
        if force && !machine.is_survey {
            return Ok(Composition::default());
        }
        let found = machine.readable_text(&path)?.unwrap_or_default();
        if is_private_key(machine, &found, key_pass.as_deref())? {
            return Ok(Composition::default());
        }
        let locked = key_pass.as_deref().map(|password| (password, key_cipher.as_str()));
        let mut parts = Vec::new();
        let (text, sentence) = match self.0 {
            Kind::Rsa => {
                let RsaKeyProperties { key_length } = asked::properties(wanted)?;
                (new_rsa_key(machine, key_length, locked)?, format!("create {key_length} bit RSA key {path}"))
            }
            Kind::Ec => {
                let EcKeyProperties { key_curve } = asked::properties(wanted)?;
                let line = format!("Generating an {key_curve} EC key file at {path}, this may take some time");
                parts.push(in_real_runs(child("log", &line, "write", [])));
                (new_ec_key(machine, &key_curve, locked)?, format!("Create an EC private key {path}"))
            }
        };
        let text = (!machine.view.why_run).then_some(text);
        parts.push(in_real_runs(secret(own_file(wanted, &path, "create", text)?)));
        Ok(change([sentence], parts))
    }
}

/// The composite of both types of public keys.
pub(in super::super) struct PublicKey(pub(in super::super) Kind);

impl Composite for PublicKey {
    fn compose(&self, wanted: &Wanted<'_>, machine: &mut Machine<'_, '_>) -> Result<Composition, Raised> {
        known(self.file(wanted, machine))
    }
}

impl PublicKey {
    fn file(&self, wanted: &Wanted<'_>, machine: &mut Machine<'_, '_>) -> Result<Composition, Raised> {
        let KeyFileProperties { path, .. } = asked::properties(wanted)?;
        let properties: PublicKeyProperties = asked::properties(wanted)?;
        let password = properties.private_key_pass.as_deref();
        let key = match (&properties.private_key_path, &properties.private_key_content) {
            (Some(key), None) | (None, Some(key)) => key_text(machine, key)?,
            (Some(_), Some(_)) => {
                return Err(wrong_argument(
                    "You cannot specify both 'private_key_path' and 'private_key_content' properties at the same time.",
                ));
            }
            (None, None) => {
                return Err(wrong_argument(
                    "You must specify the private key with either 'private_key_path' or 'private_key_content' properties.",
                ));
            }
        };
        if !is_private_key(machine, &key, password)? && !machine.is_survey && !machine.is_question {
            let place = properties.private_key_path.as_deref().unwrap_or_default();
            // In a dry run an earlier resource would create the key.
            if machine.view.why_run && key.is_empty() {
                return Err(Raised::new(ErrorKind::Unknown, format!("the key {place} would be made before")));
            }
            let kind = if self.0 == Kind::Rsa { "RSA" } else { "EC" };
            return Err(runtime_error(format!("{place} not a valid private {kind} key or password is invalid")));
        }
        let words = ["pkey", "-pubout", BY_PASSWORD[0], BY_PASSWORD[1]];
        let public = printed(machine, &opened_by(openssl(&words, Some(&key)), password))?;
        let text = (!machine.is_survey).then(|| String::from_utf8_lossy(&public).into_owned());
        Ok(children([own_file(wanted, &path, "create", text)?]))
    }
}

/// Returns the text of a key that is given as a path or as text.
fn key_text(machine: &Machine<'_, '_>, given: &str) -> Result<String, Raised> {
    let found = if given.starts_with('/') { machine.readable_text(given)? } else { None };
    Ok(found.unwrap_or_else(|| given.to_owned()))
}

fn wrong_argument(message: &str) -> Raised {
    Raised::new(ErrorKind::InvalidArgument, message)
}

/// The composite of `openssl_dhparam`.
pub(in super::super) struct Dhparam;

impl Composite for Dhparam {
    fn compose(&self, wanted: &Wanted<'_>, machine: &mut Machine<'_, '_>) -> Result<Composition, Raised> {
        known(parameters(wanted, machine))
    }
}

fn parameters(wanted: &Wanted<'_>, machine: &mut Machine<'_, '_>) -> Result<Composition, Raised> {
    let KeyFileProperties { path, .. } = asked::properties(wanted)?;
    let DhparamProperties { key_length, generator } = asked::properties(wanted)?;
    let found = machine.readable_text(&path)?;
    let check = openssl(&["dhparam", "-check", "-noout"], Some(found.as_deref().unwrap_or(NOT_MADE)));
    let is_good = (found.is_some() || machine.is_survey) && succeeds(machine, &check)?;
    let text = match is_good {
        true => None,
        false => Some(made(machine, &openssl(&["dhparam", &format!("-{generator}"), &key_length.to_string()], None))?),
    };
    let text = text.filter(|_| !machine.view.why_run);
    Ok(children([secret(own_file(wanted, &path, "create", text)?)]))
}
