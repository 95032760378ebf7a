//! Options and variables of package tools. The tools run as root and pass both on to every maintainer script.

mod asked;

pub use asked::{PackageTool, are_harmless_options};

use crate::denied::{Capability, Denied};
use crate::pattern::Asked;
use crate::policy::PolicyGrants;
use crate::privileged;
use crate::proofs::{GrantedEnvironment, GrantedOptions};

/// Options that only decide which packages are installed and how, but not which code runs.
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

/// The values of `DEBIAN_FRONTEND` that name a debconf frontend without other programs. debconf evaluates the value as Perl,
/// so no other text is harmless. debconf ignores case here.
const FRONTENDS: [&str; 5] = ["noninteractive", "readline", "teletype", "text", "dialog"];

/// The values of `DEBIAN_PRIORITY`.
const PRIORITIES: [&str; 4] = ["low", "medium", "high", "critical"];

/// Variables that choose a language or a time zone.
const LOCALE_VARIABLES: [&str; 5] = ["LANG", "LANGUAGE", "LC_ALL", "LC_MESSAGES", "TZ"];

/// Maximum length of a value of [`LOCALE_VARIABLES`] that needs no grant, in bytes.
const MAX_LOCALE: usize = 64;

impl PolicyGrants {
    /// Checks whether the policy may give these options to a package tool: harmless ones, and those that the operator lists.
    /// `-o DPkg::Pre-Invoke::=..` runs any command as root, and there are many like it, so unknown ones are refused.
    ///
    /// # Errors
    /// An option is neither harmless nor granted.
    pub fn package_options(&self, options: &[String]) -> Result<GrantedOptions, Denied> {
        let asked = options.iter().filter(|option| !HARMLESS_OPTIONS.contains(&option.as_str()));
        let decide = |option: &String| self.decide(Capability::PackageOptions, Asked::Text(option), option, || false);
        // All are asked for, so that one run tells all that are denied.
        asked.map(decide).fold(Ok(()), Result::and)?;
        Ok(GrantedOptions(options.to_vec()))
    }

    /// Checks whether the policy may give these variables to a package tool: harmless ones with a harmless value, and those
    /// that the operator lists as `NAME=value`.
    ///
    /// # Errors
    /// A variable is neither harmless nor granted.
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

/// Tells whether a variable with this value changes only the language and the questions of a package tool.
fn is_harmless(name: &str, value: &str) -> bool {
    let is_one_of = |values: &[&str]| values.iter().any(|known| known.eq_ignore_ascii_case(value));
    match name {
        "DEBIAN_FRONTEND" => is_one_of(&FRONTENDS),
        "DEBIAN_PRIORITY" => is_one_of(&PRIORITIES),
        _ => LOCALE_VARIABLES.contains(&name) && is_plain(value),
    }
}

/// Tells whether a value has only characters of language and time zone names, and none with a meaning in paths, shells or
/// interpreters.
fn is_plain(value: &str) -> bool {
    value.len() <= MAX_LOCALE && value.chars().all(|c| c.is_ascii_alphanumeric() || "_.@:-".contains(c))
}

/// Tells whether an answer to one of debconf's own questions is as harmless as the variable with the same meaning. debconf
/// evaluates the frontend's name as Perl, wherever it comes from. The function judges `debconf/frontend` and
/// `debconf/priority`. Answers to other questions count as harmless.
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
