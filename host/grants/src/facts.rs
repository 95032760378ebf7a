//! Facts of the machine: those that every policy may read, those that are granted, and the reads of hidden ones.

use crate::attributes::{Look, may_speak_below, nothing, seen_below};
use crate::denied::{Capability, Denied, line, literal_entry};
use crate::pattern::{Asked, join_dots};
use crate::policy::PolicyGrants;
use crate::rules::Verdict;
use serde_json::Value;
use std::borrow::Cow;
use text::toml_string;

/// The facts that every policy may read, also one without a table: the one exception to "absent means denied". Ohai's
/// paths, each with all below it. They say which distribution and which kernel the machine runs, what it is called and
/// whether it is virtual: a cookbook can hardly choose a package's name without them. Any rule of `deny_facts` that
/// matches beats them, `"*"` included.
pub const HARMLESS_FACTS: [&[&str]; 19] = [
    &["platform"],
    &["platform_family"],
    &["platform_version"],
    &["platform_build"],
    &["lsb"],
    &["os_release"],
    &["os"],
    &["os_version"],
    &["kernel", "name"],
    &["kernel", "release"],
    &["kernel", "machine"],
    &["hostname"],
    &["machinename"],
    &["domain"],
    &["fqdn"],
    &["root_group"],
    &["chef_packages"],
    &["init_package"],
    &["virtualization"],
];

/// What a policy gets when it reads a fact that the machine has and that it may not see: `on_hidden_fact`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnHiddenFact {
    /// An error that names the grant.
    #[default]
    Error,
    /// Nothing, as if the machine did not have the fact. The read is recorded all the same.
    Warn,
}

impl OnHiddenFact {
    /// The words in the operator's file.
    pub(crate) const WORDS: [(&'static str, Self); 2] = [("error", Self::Error), ("warn", Self::Warn)];
}

impl PolicyGrants {
    /// The machine's facts, without those that this policy may not read. There are thousands, which a policy that may read
    /// all of them gets uncopied.
    pub fn visible_facts<'all>(&self, facts: &'all Value) -> Cow<'all, Value> {
        if self.allows_everything() {
            return Cow::Borrowed(facts);
        }
        let rules = self.list(Capability::Facts);
        let differs = |path: &[String], allowed: bool| {
            let harmless_below = HARMLESS_FACTS.iter().any(|harmless| begins(harmless, path));
            (!allowed && harmless_below)
                || rules.iter().any(|rule| may_speak_below(rule, path) && rule.allow != allowed)
        };
        let look = Look { allowed: &|path| self.sees_fact(path), differs: &differs };
        Cow::Owned(seen_below(&look, &mut vec![], facts).unwrap_or_else(nothing))
    }

    pub(crate) fn sees_fact(&self, path: &[String]) -> bool {
        match self.list(Capability::Facts).decide(Asked::Keys(path), || false) {
            Verdict::Unheard => HARMLESS_FACTS.iter().any(|harmless| holds(harmless, path)),
            verdict => matches!(verdict, Verdict::Allowed(_)),
        }
    }

    /// The line of this policy's table that would let it read a fact; all of them for an empty path.
    pub fn fact_grant(&self, path: &[String]) -> String {
        line(Capability::Facts.key(), &entry(path).unwrap_or_else(|| toml_string(EVERYTHING)))
    }

    /// The line of this policy's table that would let it read what other policies left.
    pub fn attribute_grant(&self, path: &[String]) -> String {
        line(Capability::ReadAttributes.key(), &entry(path).unwrap_or_else(|| toml_string(EVERYTHING)))
    }

    /// Writes down that the policy read a fact. Nobody needs a grant for a harmless one.
    pub fn uses_fact(&self, path: &[String]) {
        if !HARMLESS_FACTS.iter().any(|harmless| holds(harmless, path)) {
            self.uses(Capability::Facts.key(), entry(path));
        }
    }

    /// Writes down that the policy read what other policies left.
    pub fn uses_attribute(&self, path: &[String]) {
        self.uses(Capability::ReadAttributes.key(), entry(path));
    }

    /// Refuses the read of a fact that the machine has and that the policy does not see. `None` where the operator wants it
    /// to read as nothing (`on_hidden_fact = "warn"`). `is_new`: it is written down as a denial.
    pub fn refuse_fact(&self, path: &[String], is_new: bool) -> Option<Denied> {
        if self.rules.on_hidden_fact == OnHiddenFact::Warn {
            return None;
        }
        let asked = shown(path);
        let (value, reason) = match self.list(Capability::Facts).decide(Asked::Keys(path), || false) {
            Verdict::Refused(rule) => {
                let reason = format!("{} refuses it: `{}`", self.line(rule.line), rule.text);
                // A rule for exactly this would win against a wider one, and lose against its equal.
                (entry(path).filter(|_| !rule.pattern.is_exact()), Some(reason))
            }
            // A rule that matches inside of a list shows nothing.
            Verdict::Allowed(_) => {
                let list = path.split_last().map_or(path, |(_, list)| list);
                (entry(list), Some("a list can only be granted whole".into()))
            }
            Verdict::TooWide(..) | Verdict::Unheard => (entry(path), None),
        };
        Some(match is_new {
            true => self.refuse_with(Capability::Facts, &asked, value, reason),
            false => self.denial(Capability::Facts, &asked, value, reason),
        })
    }

    /// Writes into the audit log that the policy read a value which it does not see. `path` as the operator would write it.
    pub fn audit_hidden(&self, capability: Capability, path: &str, partly: bool) {
        self.audit.hidden(&self.decision(capability, path), partly);
    }
}

/// The pattern of all paths.
const EVERYTHING: &str = "*";

/// The path for people; `*` for everything.
fn shown(path: &[String]) -> String {
    if path.is_empty() { EVERYTHING.into() } else { join_dots(path) }
}

/// The entry for this path and all below it. `None` for everything, which nobody should grant for one read.
fn entry(path: &[String]) -> Option<String> {
    (!path.is_empty()).then(|| literal_entry(&join_dots(path)))
}

/// Whether every policy sees a fact (`kernel.name`) unless a rule denies it.
pub fn is_harmless_fact(path: &str) -> bool {
    let path: Vec<String> = path.split('.').map(str::to_owned).collect();
    HARMLESS_FACTS.iter().any(|harmless| holds(harmless, &path))
}

/// Whether `path` is a harmless fact or lies below it.
fn holds(harmless: &[&str], path: &[String]) -> bool {
    harmless.len() <= path.len() && harmless.iter().zip(path).all(|(one, other)| one == other)
}

/// Whether a harmless fact lies at `path` or below it.
fn begins(harmless: &[&str], path: &[String]) -> bool {
    path.len() <= harmless.len() && harmless.iter().zip(path).all(|(one, other)| one == other)
}

#[cfg(test)]
mod tests {
    use crate::{Grants, HARMLESS_FACTS};
    use serde_json::{Value, json};

    fn facts() -> Value {
        json!({
            "platform": "debian",
            "fqdn": "a.example.org",
            "ipaddress": "192.0.2.1",
            "kernel": { "name": "Linux", "machine": "x86_64", "release": "6.1", "modules": { "xfs": {} } },
            "virtualization": { "system": "docker", "systems": { "docker": "guest" } },
            "etc": { "passwd": ["root"] },
        })
    }

    #[track_caller]
    fn check(table: &str, expect: Value) {
        let grants = Grants::parse(table, "grants.toml").unwrap();
        assert_eq!(grants.policy("web", &[]).visible_facts(&facts()).into_owned(), expect, "{table}");
    }

    #[test]
    fn the_harmless_facts_are_everybodys() {
        let harmless = json!({
            "platform": "debian",
            "fqdn": "a.example.org",
            "kernel": { "name": "Linux", "machine": "x86_64", "release": "6.1" },
            "virtualization": { "system": "docker", "systems": { "docker": "guest" } },
        });
        check("", harmless.clone());
        check("[policy.web]\npaths = [\"/srv/**\"]", harmless.clone());
        check("[policy.other]\ndeny_facts = [\"*\"]", harmless);
    }

    #[test]
    fn every_rule_that_denies_beats_them() {
        check("[policy.web]\ndeny_facts = [\"*\"]", json!({}));
        check("[policy.web]\ndeny_facts = [\"*\"]\nfacts = [\"*\"]", json!({}));
        check("[policy.web]\ndeny_facts = [\"*\"]\nfacts = [\"fqdn\"]", json!({ "fqdn": "a.example.org" }));
        check(
            "[policy.web]\ndeny_facts = [\"kernel\", \"virtualization.systems\", \"f*\"]",
            json!({ "platform": "debian", "virtualization": { "system": "docker" } }),
        );
        check(
            "[policy.web]\ndeny_facts = [\"kernel.*\", \"virtualization\", \"fqdn\"]\nfacts = [\"kernel.name\"]",
            json!({ "platform": "debian", "kernel": { "name": "Linux" } }),
        );
    }

    #[test]
    fn rules_add_to_them() {
        check(
            "[policy.web]\nfacts = [\"kernel.modules\", \"ipaddress\"]\ndeny_facts = [\"virtualization\", \"fqdn\"]",
            json!({
                "platform": "debian",
                "ipaddress": "192.0.2.1",
                "kernel": { "name": "Linux", "machine": "x86_64", "release": "6.1", "modules": { "xfs": {} } },
            }),
        );
        check("[policy.web]\nfacts = [\"*\"]", facts());
        assert_eq!(Grants::allow_all().policy("web", &[]).visible_facts(&facts()).into_owned(), facts());
    }

    #[test]
    fn a_refusal_names_the_line_unless_the_operator_wants_nothing_said() {
        let path = ["ipaddress".to_owned()];
        let refused =
            |table: &str| Grants::parse(table, "grants.toml").unwrap().policy("web", &[]).refuse_fact(&path, true);
        let denied = refused("").unwrap();
        assert_eq!(denied.to_string(), "policy `web` may not read fact `ipaddress`");
        assert_eq!(denied.line(), "facts = [\"ipaddress\"]");
        assert!(refused("[policy.web]\non_hidden_fact = \"error\"").is_some());
        let denied = refused("[policy.web]\n\ndeny_facts = [\"ip*\"]").unwrap();
        assert!(denied.to_string().ends_with("line 3 of grants.toml refuses it: `ip*`"), "{denied}");
        assert_eq!(refused("[policy.web]\non_hidden_fact = \"warn\""), None);
    }

    #[test]
    fn on_hidden_fact_has_two_values() {
        let error = Grants::parse("[policy.web]\non_hidden_fact = \"wran\"", "grants.toml").unwrap_err();
        let expect = "grants.toml:2: `on_hidden_fact` must be \"error\" or \"warn\", did you mean \"warn\"?";
        assert_eq!(error.to_string(), expect);
        assert!(Grants::parse("[policy.web]\non_hidden_fact = true", "grants.toml").is_err());
    }

    #[test]
    fn the_harmless_facts_are_paths_of_their_own() {
        for (at, path) in HARMLESS_FACTS.iter().enumerate() {
            assert!(!path.is_empty());
            assert!(HARMLESS_FACTS.iter().skip(at + 1).all(|other| !other.starts_with(path)), "{path:?}");
        }
    }
}
