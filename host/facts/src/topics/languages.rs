//! `languages`: Ohai's plugins Languages and Perl.
//!
//! Ohai starts every interpreter that it finds and asks for its version. Nothing is started here, so only data from files is
//! known: Debian has Perl's library in a directory named by its version. Every other language is absent, as in Ohai when the
//! interpreter is not installed.

use serde_json::Value;

use crate::machine::{Gathered, Machine};
use crate::topics::{known, one};

pub(crate) fn gather(machine: &Machine) -> Gathered {
    let perl = machine.root.has_program("perl").then(|| machine.root.names("/usr/share/perl")).and_then(|names| {
        let version = names.into_iter().rfind(|name| name.split('.').count() == 3 && is_version(name))?;
        Some(Value::Object(one("version", version)))
    });
    one("languages", known([("perl", perl)]))
}

fn is_version(name: &str) -> bool {
    name.split('.').all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
}
