//! `script`, and `bash`, `csh`, `ksh`, `perl`, `python` and `ruby`, which are `script` with an interpreter.
//!
//! As in Chef, the interpreter reads the script from its standard input, so it is never written to a file.

use super::execute::{self, Command};
use crate::plan::{Plan, Provider, View};
use crate::resources::asked;
use contract::{ErrorKind, Raised, Wanted};
use grants::split_words;
use schema::types::script::ScriptProperties;

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

/// Returns the interpreter with its flags, and the script.
fn command(wanted: &Wanted<'_>) -> Result<Command, Raised> {
    let ScriptProperties { code, interpreter, flags } = asked::properties(wanted)?;
    let shown = format!("\"{interpreter}\" {}", flags.unwrap_or_default());
    let words = split_words(&shown).ok_or_else(|| {
        let message = format!("flags of {} must be plain words, without a shell's signs", wanted.declaration.key());
        Raised::new(ErrorKind::InvalidValue, message)
    })?;
    Ok(Command::Script(words, code, shown))
}
