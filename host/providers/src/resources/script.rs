//! `script`, and `bash`, `csh`, `ksh`, `perl`, `python` and `ruby`, which are `script` with an interpreter.
//!
//! As in Chef, the interpreter reads the script from its standard input, so no file with it ever lies around.

use super::execute::{self, Command};
use crate::plan::{Plan, Provider, View};
use crate::value;
use contract::{Raised, Wanted};
use grants::split_words;
use serde_json::Value;

pub(crate) struct Script;

impl Provider for Script {
    fn plan(&self, wanted: &Wanted<'_>, view: &mut View<'_>) -> Result<Plan, Raised> {
        execute::plan(command(wanted)?, wanted, view)
    }

    fn survey(&self, wanted: &Wanted<'_>, view: &mut View<'_>) -> Result<(), Raised> {
        execute::ask(&command(wanted)?, wanted, view)
    }

    fn settles(&self, _action: &str) -> bool {
        false
    }
}

/// The interpreter with its flags, and the script.
fn command(wanted: &Wanted<'_>) -> Result<Command, Raised> {
    let text = |name| value(wanted, name).and_then(Value::as_str);
    let missing =
        |name: &str| Raised::new("Chef::Exceptions::ValidationFailed", format!("{name} is a required property"));
    let kind = wanted.declaration.kind.as_str();
    let own = Some(kind).filter(|kind| *kind != "script");
    let interpreter = text("interpreter").or(own).ok_or_else(|| missing("interpreter"))?;
    let code = text("code").ok_or_else(|| missing("code"))?;
    let flags = text("flags").unwrap_or_default();
    let shown = format!("\"{interpreter}\" {flags}");
    let words = split_words(&shown).ok_or_else(|| {
        let message = format!("flags of {} must be plain words, without a shell's signs", wanted.declaration.key());
        Raised::new("Chef::Exceptions::ValidationFailed", message)
    })?;
    Ok(Command::Script(words, code.into(), shown))
}
