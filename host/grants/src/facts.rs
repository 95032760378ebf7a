//! Facts of the machine: those that every policy may read, those that are granted, and reads of hidden facts.

use crate::attributes::{Look, may_speak_below, nothing, seen_below};
use crate::denied::{Capability, Denied, line, literal_entry};
use crate::pattern::{Asked, join_dots};
use crate::policy::PolicyGrants;
use crate::rules::Verdict;
use serde_json::Value;
use std::borrow::Cow;
use text::toml_string;

/// The facts that every policy may read, even a policy without a table. This is the only exception to "absent means denied".
/// The entries are paths of Ohai, each with everything below it. They tell the distribution, the kernel, the host name, and
/// whether the machine is virtual. Without them a cookbook can hardly choose a package's name. Every matching rule of
/// `deny_facts` overrides them, even `"*"`.
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

/// Facts that every user of a machine may find out. A policy may read them in a survey without a grant: other users learn
/// nothing from it. The list leaves out `dmi` and `shard_seed`, because only root may read serial numbers. It also leaves out
/// all facts that wrun does not gather itself, such as the data of a cloud, which may hold passwords.
const OPEN_FACTS: [&[&str]; 28] = [
    &["kernel"],
    &["hostnamectl"],
    &["machine_id"],
    &["cpu"],
    &["memory"],
    &["network"],
    &["counters"],
    &["ipaddress"],
    &["ip6address"],
    &["macaddress"],
    &["filesystem"],
    &["block_device"],
    &["packages"],
    &["etc"],
    &["current_user"],
    &["systemd_paths"],
    &["shells"],
    &["keys", "ssh"],
    &["sysconf"],
    &["fips"],
    &["languages"],
    &["command"],
    &["time"],
    &["uptime_seconds"],
    &["uptime"],
    &["idletime_seconds"],
    &["idletime"],
    &["ohai_time"],
];

/// The result of reading a fact of the machine, or an attribute of the operator, that the policy may not see:
/// `on_hidden_fact`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnHiddenFact {
    /// An error that names the grant.
    #[default]
    Error,
    /// No value, as if it did not exist. The read is still recorded.
    Warn,
}

impl OnHiddenFact {
    /// The words in the operator's file.
    pub(crate) const WORDS: [(&'static str, Self); 2] = [("error", Self::Error), ("warn", Self::Warn)];
}

impl PolicyGrants {
    /// Returns the machine's facts that this policy may read. There are thousands of facts; a policy that may read all of
    /// them gets them without a copy.
    pub fn visible_facts<'all>(&self, facts: &'all Value) -> Cow<'all, Value> {
        if self.is_unlimited() {
            return Cow::Borrowed(facts);
        }
        let rules = self.list(Capability::Facts);
        let differs = |path: &[String], allowed: bool| {
            let is_above_free = self.free_facts().any(|free| begins(free, path));
            (!allowed && is_above_free) || rules.iter().any(|rule| may_speak_below(rule, path) && rule.allow != allowed)
        };
        let look = Look { allowed: &|path| self.sees_fact(path), differs: &differs };
        Cow::Owned(seen_below(&look, &mut vec![], facts).unwrap_or_else(nothing))
    }

    pub(crate) fn sees_fact(&self, path: &[String]) -> bool {
        match self.list(Capability::Facts).decide(Asked::Keys(path), || false) {
            Verdict::Unheard => self.free_facts().any(|free| holds(free, path)),
            verdict => matches!(verdict, Verdict::Allowed(_)),
        }
    }

    /// Returns the facts that this policy may read without a rule.
    fn free_facts(&self) -> impl Iterator<Item = &'static [&'static str]> {
        let open: &[&[&str]] = if self.is_survey() { &OPEN_FACTS } else { &[] };
        HARMLESS_FACTS.iter().chain(open).copied()
    }

    /// Returns the line of the policy's table that would allow reading a fact; for an empty path, all facts.
    pub fn fact_grant(&self, path: &[String]) -> String {
        line(Capability::Facts.key(), &entry(path).unwrap_or_else(|| toml_string(EVERYTHING)))
    }

    /// Returns the line of the policy's table that would allow reading attributes of other policies.
    pub fn attribute_grant(&self, path: &[String]) -> String {
        line(Capability::ReadAttributes.key(), &entry(path).unwrap_or_else(|| toml_string(EVERYTHING)))
    }

    /// Records that the policy read a fact. Harmless facts need no grant and are not recorded.
    pub fn uses_fact(&self, path: &[String]) {
        if !HARMLESS_FACTS.iter().any(|harmless| holds(harmless, path)) {
            self.uses(Capability::Facts.key(), entry(path));
        }
    }

    /// Records that the policy read attributes of other policies.
    pub fn uses_attribute(&self, path: &[String]) {
        self.uses(Capability::ReadAttributes.key(), entry(path));
    }

    /// Records that the policy read an attribute that the operator set. A right to write at the path is enough for that.
    pub fn uses_given(&self, path: &[String]) {
        let allows = |capability| {
            let verdict = self.list(capability).decide(Asked::Keys(path), || false);
            matches!(verdict, Verdict::Allowed(_))
        };
        if !allows(Capability::ReadAttributes) && allows(Capability::WriteAttributes) {
            return self.uses(Capability::WriteAttributes.key(), entry(path));
        }
        self.journal().allow_given(&self.policy, entry(path));
    }

    /// Refuses the read of a fact that the machine has and that the policy may not see. Returns `None` if the operator wants
    /// the fact to look absent (`on_hidden_fact = "warn"`). If `is_new` is true, the denial is recorded.
    pub fn refuse_fact(&self, path: &[String], is_new: bool) -> Option<Denied> {
        self.refuse_read(Capability::Facts, path, is_new, None)
    }

    /// Does the same for the read of an attribute that the operator set.
    pub fn refuse_given(&self, path: &[String], is_new: bool) -> Option<Denied> {
        self.refuse_read(Capability::ReadAttributes, path, is_new, Some("the operator set it"))
    }

    fn refuse_read(
        &self,
        capability: Capability,
        path: &[String],
        is_new: bool,
        because: Option<&str>,
    ) -> Option<Denied> {
        if self.rules.on_hidden_fact == OnHiddenFact::Warn {
            return None;
        }
        let asked = shown(path);
        let (value, reason) = match self.list(capability).decide(Asked::Keys(path), || false) {
            Verdict::Refused(rule) => {
                let reason = format!("{} refuses it: `{}`", self.line(rule.line), rule.text);
                // An exact rule would override a wider one, but not an exact rule that refuses.
                (entry(path).filter(|_| !rule.pattern.is_exact()), Some(reason))
            }
            // A rule for a part of a list makes nothing visible.
            Verdict::Allowed(_) => {
                let list = path.split_last().map_or(path, |(_, list)| list);
                (entry(list), Some("a list can only be granted whole".into()))
            }
            Verdict::TooWide(..) | Verdict::Unheard => (entry(path), because.map(str::to_owned)),
        };
        Some(match is_new {
            true => self.refuse_with(capability, &asked, value, reason),
            false => self.denial(capability, &asked, value, reason),
        })
    }

    /// Records in the audit log that the policy read a value that it may not see. `path` has the operator's syntax.
    pub fn audit_hidden(&self, capability: Capability, path: &str, partly: bool) {
        self.audit.hidden(&self.decision(capability, path), partly);
    }
}

/// The pattern of all paths.
const EVERYTHING: &str = "*";

/// Formats the path for messages; `*` means everything.
fn shown(path: &[String]) -> String {
    if path.is_empty() { EVERYTHING.into() } else { join_dots(path) }
}

/// Returns the entry for this path and everything below it. Returns `None` for everything, which nobody should grant for one
/// read.
fn entry(path: &[String]) -> Option<String> {
    (!path.is_empty()).then(|| literal_entry(&join_dots(path)))
}

/// Tells whether every policy may see a fact (such as `kernel.name`) unless a rule denies it.
pub fn is_harmless_fact(path: &str) -> bool {
    let path: Vec<String> = path.split('.').map(str::to_owned).collect();
    HARMLESS_FACTS.iter().any(|harmless| holds(harmless, &path))
}

/// Tells whether every user of a machine may find out a fact, or whether every policy may see it.
pub(crate) fn is_open_fact(path: &[String]) -> bool {
    HARMLESS_FACTS.iter().chain(&OPEN_FACTS).any(|open| holds(open, path))
}

/// Tells whether `path` is a harmless fact or lies below it.
fn holds(harmless: &[&str], path: &[String]) -> bool {
    harmless.len() <= path.len() && harmless.iter().zip(path).all(|(one, other)| one == other)
}

/// Tells whether a harmless fact lies at `path` or below it.
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
