//! Options and variables of package tools, which run as root and hand both on to every maintainer script.

mod asked;

pub use asked::{PackageTool, are_harmless_options};

use crate::denied::{Capability, Denied};
use crate::pattern::Asked;
use crate::policy::PolicyGrants;
use crate::privileged;
use crate::proofs::{GrantedEnvironment, GrantedOptions};

/// Options that decide how and what else is installed, but not what code runs.
const HARMLESS_OPTIONS: [&str; 12] = [
    "--no-install-recommends",
    "--install-recommends",
    "--no-install-suggests",
    "--install-suggests",
    "--no-remove",
    "--noautoremove",
    "--no-autoremove",
    "--yes",
    "-y",
    "--quiet",
    "-q",
    "-qq",
];

/// The values of `DEBIAN_FRONTEND` that name a frontend of debconf which starts no other program. debconf evaluates the
/// value as Perl, so no other text is harmless. Upper and lower case are the same to debconf.
const FRONTENDS: [&str; 5] = ["noninteractive", "readline", "teletype", "text", "dialog"];

/// The values of `DEBIAN_PRIORITY`.
const PRIORITIES: [&str; 4] = ["low", "medium", "high", "critical"];

/// Variables that choose a language or a time zone.
const LOCALE_VARIABLES: [&str; 5] = ["LANG", "LANGUAGE", "LC_ALL", "LC_MESSAGES", "TZ"];

/// The longest value of one of [`LOCALE_VARIABLES`] that needs no grant, in bytes.
const MAX_LOCALE: usize = 64;

impl PolicyGrants {
    /// Whether the policy may give these options to a package tool: harmless ones, and those that the operator lists.
    /// `-o DPkg::Pre-Invoke::=..` runs any command as root, and there are many like it, so unknown ones are refused.
    ///
    /// # Errors
    /// One of them is neither.
    pub fn package_options(&self, options: &[String]) -> Result<GrantedOptions, Denied> {
        let asked = options.iter().filter(|option| !HARMLESS_OPTIONS.contains(&option.as_str()));
        let decide = |option: &String| self.decide(Capability::PackageOptions, Asked::Text(option), option, || false);
        // All are asked for, so that one run tells all that are denied.
        asked.map(decide).fold(Ok(()), Result::and)?;
        Ok(GrantedOptions(options.to_vec()))
    }

    /// Whether the policy may give these variables to a package tool: harmless ones with a harmless value, and those that
    /// the operator lists as `NAME=value`.
    ///
    /// # Errors
    /// One of them is neither.
    pub fn package_environment(&self, variables: &[(String, String)]) -> Result<GrantedEnvironment, Denied> {
        let asked = variables.iter().filter(|(name, value)| !is_harmless(name, value));
        let decide = |(name, value): &(String, String)| {
            let asked = format!("{name}={value}");
            self.decide(Capability::PackageEnvironment, Asked::Text(&asked), &asked, || privileged::variable(name))
        };
        asked.map(decide).fold(Ok(()), Result::and)?;
        Ok(GrantedEnvironment(variables.to_vec()))
    }
}

/// Whether a variable with this value changes only words and questions of a package tool.
fn is_harmless(name: &str, value: &str) -> bool {
    let is_one_of = |values: &[&str]| values.iter().any(|known| known.eq_ignore_ascii_case(value));
    match name {
        "DEBIAN_FRONTEND" => is_one_of(&FRONTENDS),
        "DEBIAN_PRIORITY" => is_one_of(&PRIORITIES),
        _ => LOCALE_VARIABLES.contains(&name) && is_plain(value),
    }
}

/// Whether a value is made of the signs that names of languages and time zones have, and of no sign that a path, a shell
/// or an interpreter reads.
fn is_plain(value: &str) -> bool {
    value.len() <= MAX_LOCALE && value.chars().all(|c| c.is_ascii_alphanumeric() || "_.@:-".contains(c))
}

/// Whether an answer to one of debconf's own questions is as harmless as the variable of the same meaning. debconf
/// evaluates the frontend's name as Perl, wherever it comes from. `question` is `debconf/frontend`; other questions are not
/// judged here.
pub fn is_harmless_answer(question: &str, value: &str) -> bool {
    match question {
        "debconf/frontend" => is_harmless("DEBIAN_FRONTEND", value),
        "debconf/priority" => is_harmless("DEBIAN_PRIORITY", value),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debconf_frontend_only_known_values_are_harmless() {
        for (name, value) in [
            ("DEBIAN_FRONTEND", "noninteractive"),
            ("DEBIAN_FRONTEND", "Text"),
            ("DEBIAN_PRIORITY", "critical"),
            ("LANG", "de_DE.UTF-8@euro"),
            ("LANGUAGE", "de:en"),
            ("TZ", "UTC"),
            ("LC_ALL", ""),
        ] {
            assert!(is_harmless(name, value), "{name}={value}");
        }
        for (name, value) in [
            ("DEBIAN_FRONTEND", "noninteractive; BEGIN { system(q(id>).chr(47).q(pwned)) } #"),
            ("DEBIAN_FRONTEND", ""),
            ("DEBIAN_FRONTEND", "editor"),
            ("DEBIAN_FRONTEND", "passthrough"),
            ("DEBIAN_FRONTEND", "noninteractive\n"),
            ("DEBIAN_PRIORITY", "low;"),
            ("LANG", "C;id"),
            ("LC_ALL", "../../x"),
            ("TZ", "Europe/Berlin"),
            ("TZ", "$(id)"),
            ("LANG", "C\0"),
            ("HOME", "x"),
        ] {
            assert!(!is_harmless(name, value), "{name}={value}");
        }
        let long = "a".repeat(MAX_LOCALE + 1);
        assert!(!is_harmless("LANG", &long));
        assert!(is_harmless_answer("debconf/frontend", "Noninteractive"));
        assert!(!is_harmless_answer("debconf/frontend", "Noninteractive; BEGIN { system(q(id)) } #"));
        assert!(is_harmless_answer("postfix/mailname", "anything; at all"));
    }
}
