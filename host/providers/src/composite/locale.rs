//! `locale`: the language of the machine's programs.

use super::machine::Family;
use super::text::plain_name;
use super::{Composite, Machine, change, child, command, in_real_runs, invalid, step, with};
use crate::resources::asked;
use contract::{Composition, ErrorKind, Raised, Wanted};
use schema::types::locale::LocaleProperties;
use serde_json::json;

/// The file of settings.
const SETTINGS: &str = "/etc/locale.conf";

/// Time limit for generating locales, in seconds.
const TIMEOUT: u32 = 1_800;

/// The regional settings that the resource accepts.
const VARIABLES: [&str; 12] = [
    "LC_ADDRESS",
    "LC_COLLATE",
    "LC_CTYPE",
    "LC_IDENTIFICATION",
    "LC_MEASUREMENT",
    "LC_MESSAGES",
    "LC_MONETARY",
    "LC_NAME",
    "LC_NUMERIC",
    "LC_PAPER",
    "LC_TELEPHONE",
    "LC_TIME",
];

/// The composite of `locale`: it writes the machine's language settings.
pub(super) struct Locale;

impl Composite for Locale {
    fn compose(&self, wanted: &Wanted<'_>, machine: &mut Machine<'_, '_>) -> Result<Composition, Raised> {
        let LocaleProperties { lang, lc_env } = asked::properties(wanted)?;
        if machine.family() != Family::Debian {
            let name = machine.release("ID").unwrap_or_default();
            return Err(not_here(format!("The locale resource is not supported on platform family: {name}")));
        }
        if !machine.has_program("locale-gen") {
            return Err(not_here("The locale resource requires the locale-gen tool".to_owned()));
        }
        let mut all: Vec<(&str, &str)> = Vec::new();
        for (name, value) in &lc_env {
            if !VARIABLES.contains(&name.as_str()) {
                let known = VARIABLES.join("\", \"");
                let message =
                    format!("Key of option lc_env must be equal to one of: \"{known}\"!  You passed \"{name}\".");
                return Err(invalid(message));
            }
            all.push((name, plain_name("lc_env", value, LETTERS, "the name of a locale")?));
        }
        if let Some(lang) = &lang {
            all.push(("LANG", plain_name("lang", lang, LETTERS, "the name of a locale")?));
        }
        all.sort_unstable();
        let settings = all.iter().map(|(name, value)| format!("{name}={value}\n")).collect::<String>();
        machine.managed(SETTINGS)?;
        if machine.readable_text(SETTINGS)?.as_deref() == Some(&settings) && !machine.is_survey {
            return Ok(Composition::default());
        }
        let made = machine.printed("locale", &["-a"]).unwrap_or_default();
        let mut missing: Vec<&str> = all.iter().map(|(_, value)| *value).collect();
        missing.retain(|value| machine.is_survey || !made.lines().any(|made| is_same(made, value)));
        missing.sort_unstable();
        missing.dedup();
        let mut parts = Vec::new();
        if !missing.is_empty() {
            let words: Vec<&str> = ["locale-gen"].into_iter().chain(missing).collect();
            parts.push(step(with(command("locale-gen", "run", &words), "timeout", json!(TIMEOUT))));
        }
        let properties = [("path", json!(SETTINGS)), ("content", json!(settings))];
        parts.push(in_real_runs(child("file", "Updating system locale", "create", properties)));
        let sentences = [format!("create {}", wanted.declaration.name)].into_iter();
        Ok(change(sentences.chain(all.iter().map(|(name, value)| format!("  set {name} to {value:?}"))), parts))
    }
}

/// The characters in locale names besides letters and digits.
const LETTERS: &str = "_.@-";

/// Tells whether two names mean one locale: `en_GB.utf8` is listed for `en_GB.UTF-8`.
fn is_same(made: &str, wanted: &str) -> bool {
    let plain = |name: &str| name.to_ascii_lowercase().replace('-', "");
    plain(made.trim()) == plain(wanted)
}

fn not_here(message: String) -> Raised {
    Raised::new(ErrorKind::NoProvider, message)
}
