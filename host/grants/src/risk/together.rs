//! Entries that are harmless alone and open a lot together: configuration, and a service or a command as root that reads it.
//!
//! A server does as root what its configuration says: `CustomLog "|program"`, another folder of programs, another file to
//! read. Which file a service reads is not known, so every path below a directory named `etc` counts.

use super::has_rights;
use crate::denied::Capability;
use crate::edit::{Addition, new_among};
use crate::file::{GrantsError, rule_of};
use crate::pattern::{PathPattern, Pattern};
use crate::policy::{Grants, PolicyGrants};
use crate::risk::ElevatedAccounts;

/// The directory of configuration.
const CONFIGURATION: &str = "etc";

const CONFIGURES: &str = "is configuration, and the policy also has services or commands as root, which do what it says: read what it writes there";
const RUNS: &str =
    "does as root what its configuration says, and the policy may change configuration: read what it writes there";

/// Returns the entries to look at before they are added, each with the reason: new configuration of a policy that also has
/// services or commands as root, and new services and commands of a policy that already has configuration.
///
/// # Errors
/// As [`add`](crate::add).
pub fn open_together<'a>(
    text: &str,
    name: &str,
    additions: &'a [Addition],
    elevated: &ElevatedAccounts,
) -> Result<Vec<(&'a Addition, &'static str)>, GrantsError> {
    let (edited, new) = new_among(text, name, additions)?;
    let (before, after) = (Grants::parse(text, name)?, Grants::parse(&edited.text, name)?);
    let mut found = Vec::new();
    for (addition, _) in additions.iter().zip(new).filter(|(_, is_new)| *is_new) {
        let policy = addition.policy.as_str();
        let reason = if is_configuration(addition) {
            runs_as_root(&after.policy(policy, &[]), elevated).then_some(CONFIGURES)
        } else if [Capability::Services, Capability::Commands].iter().any(|one| one.key() == addition.key) {
            (configures(&before.policy(policy, &[])) && starts_as_root(addition, elevated)).then_some(RUNS)
        } else {
            None
        };
        found.extend(reason.map(|reason| (addition, reason)));
    }
    Ok(found)
}

/// Tells whether an entry lets a policy change configuration.
fn is_configuration(addition: &Addition) -> bool {
    let paths = [Capability::Paths, Capability::PrivilegedPaths];
    let Some(capability) = paths.into_iter().find(|one| one.key() == addition.key) else { return false };
    rule_of(capability, &addition.value).is_none_or(|rule| match &rule.pattern {
        Pattern::Path(path) => reaches_configuration(path),
        _ => true,
    })
}

fn reaches_configuration(path: &PathPattern) -> bool {
    path.has_part(CONFIGURATION) || path.may_match_below("/etc")
}

/// Tells whether a policy may change configuration.
fn configures(grants: &PolicyGrants) -> bool {
    let mut rules = grants.list(Capability::Paths).iter().filter(|rule| rule.allow);
    rules.any(|rule| matches!(&rule.pattern, Pattern::Path(path) if reaches_configuration(path)))
}

/// Tells whether a policy has services, or commands as root.
fn runs_as_root(grants: &PolicyGrants, elevated: &ElevatedAccounts) -> bool {
    grants.has_any(Capability::Services) || grants.rules.commands.iter().any(|command| has_rights(command, elevated))
}

/// Tells whether an entry of services or commands starts something as root.
fn starts_as_root(addition: &Addition, elevated: &ElevatedAccounts) -> bool {
    addition.key != Capability::Commands.key()
        || crate::file::command_of(&addition.value).is_none_or(|command| has_rights(&command, elevated))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(before: &str, entries: &[(&str, &str)], expect: &[&str]) {
        let before = format!("[policy.web]\n{before}\n");
        let additions = entries.iter().map(|(key, value)| Addition {
            policy: "web".into(),
            key: (*key).into(),
            value: format!("\"{value}\""),
        });
        let additions: Vec<_> = additions.collect();
        let found = open_together(&before, "grants.toml", &additions, &ElevatedAccounts::default()).unwrap();
        let values: Vec<_> = found.iter().map(|(one, _)| one.value.trim_matches('"')).collect();
        assert_eq!(values, expect, "{before} {entries:?}");
    }

    #[test]
    fn attack_configuration_and_the_server_that_reads_it_are_looked_at() {
        let site = ("paths", "/etc/apache2/sites-enabled/shop.conf");
        check("", &[site, ("services", "apache2")], &[site.1]);
        check(
            "",
            &[("paths", "/srv/mail/x"), ("paths", "/etc/postfix/main.cf"), ("commands", "postfix check")],
            &["/etc/postfix/main.cf"],
        );
        check("commands = [\"nginx -t\"]", &[("paths", "/etc/nginx/conf.d/x.conf")], &["/etc/nginx/conf.d/x.conf"]);
        check("paths = [\"/usr/local/etc/app/**\"]", &[("services", "app"), ("commands", "true")], &["app", "true"]);
        check("paths = [\"/**\"]", &[("services", "app")], &["app"]);
    }

    #[test]
    fn each_of_them_alone_is_not() {
        check("", &[("paths", "/etc/web.txt"), ("packages", "nginx")], &[]);
        check("", &[("paths", "/srv/app/**"), ("services", "app"), ("commands", "true")], &[]);
        check("paths = [\"/etc/web.txt\"]", &[("paths", "/etc/mail.txt")], &[]);
        check("commands = [{ argv = [\"true\"], user = \"app\" }]", &[("paths", "/etc/web.txt")], &[]);
        check("paths = [\"/etc/web.txt\"]\nservices = [\"web\"]", &[("services", "web"), ("users", "app")], &[]);
    }
}
