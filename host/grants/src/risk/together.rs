//! Entries that are harmless alone and open a lot together: configuration, and a service or a command as root that reads it.
//!
//! A server does as root what its configuration says: `CustomLog "|program"`, another folder of programs, another file to
//! read. Which file a service reads is not known, so every path below a directory named `etc` counts.

use super::harmless::only_answers;
use super::{has_rights, is_plain};
use crate::commands::{CommandGrant, GrantedLine};
use crate::denied::Capability;
use crate::edit::Addition;
use crate::file::{command_of, rule_of};
use crate::pattern::{PathPattern, Pattern};
use crate::policy::PolicyGrants;
use crate::risk::MachineView;

/// The directory of configuration.
const CONFIGURATION: &str = "etc";

/// Files of configuration that are only shown, or are a single value that no program runs or loads code for.
const ONLY_SHOWN: [&str; 6] =
    ["/etc/hostname", "/etc/issue", "/etc/issue.net", "/etc/machine-info", "/etc/motd", "/etc/timezone"];

pub(super) const CONFIGURES: &str = "is configuration, and the policy also has services or commands as root, which may do what it says: read what it writes there";
pub(super) const RUNS: &str =
    "may do as root what its configuration says, and the policy may change configuration: read what it writes there";

/// Tells whether an entry lets a policy change configuration.
pub(super) fn is_configuration(addition: &Addition) -> bool {
    let paths = [Capability::Paths, Capability::PrivilegedPaths];
    let Some(capability) = paths.into_iter().find(|one| one.key() == addition.key) else { return false };
    rule_of(capability, &addition.value).is_none_or(|rule| match &rule.pattern {
        Pattern::Path(path) => reaches_configuration(path),
        _ => true,
    })
}

fn reaches_configuration(path: &PathPattern) -> bool {
    if path.only_path().is_some_and(|path| ONLY_SHOWN.contains(&path.as_str())) {
        return false;
    }
    path.has_part(CONFIGURATION) || path.may_match_below("/etc")
}

/// Tells whether a policy may change configuration.
pub(super) fn configures(grants: &PolicyGrants) -> bool {
    let mut rules = grants.list(Capability::Paths).iter().filter(|rule| rule.allow);
    rules.any(|rule| matches!(&rule.pattern, Pattern::Path(path) if reaches_configuration(path)))
}

/// Tells whether a policy has services, or commands as root that may read configuration.
pub(super) fn runs_as_root(grants: &PolicyGrants, machine: &MachineView) -> bool {
    grants.has_any(Capability::Services) || grants.rules.commands.iter().any(|command| is_configured(command, machine))
}

/// Tells whether a command runs as root and may do what its configuration says.
fn is_configured(command: &CommandGrant, machine: &MachineView) -> bool {
    let only_answers = match &command.what {
        GrantedLine::PathSource(words) => is_plain(command) && only_answers(words),
        _ => false,
    };
    has_rights(command, machine) && !only_answers
}

/// Tells whether an entry is for a service, or for a command as root that may read configuration.
pub(super) fn starts_as_root(addition: &Addition, machine: &MachineView) -> bool {
    addition.key == Capability::Services.key()
        || (addition.key == Capability::Commands.key()
            && command_of(&addition.value).is_none_or(|command| is_configured(&command, machine)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Grants;
    use crate::risk::risks;

    #[track_caller]
    fn check(before: &str, entries: &[(&str, &str)], expect: &[&str]) {
        let before = format!("[policy.web]\n{before}\n");
        let additions = entries.iter().map(|(key, value)| Addition {
            policy: "web".into(),
            key: (*key).into(),
            value: format!("\"{value}\""),
        });
        let additions: Vec<_> = additions.collect();
        let machine = MachineView::default();
        let found = risks(&before, "grants.toml", &additions, &Grants::nothing(), &machine).unwrap();
        let together = found.iter().filter(|(_, reason)| [CONFIGURES, RUNS].contains(&&*reason.text));
        let values: Vec<_> = together.map(|(one, _)| one.value.trim_matches('"')).collect();
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
        check(
            "paths = [\"/usr/local/etc/app/**\"]",
            &[("services", "app"), ("commands", "nginx -t")],
            &["app", "nginx -t"],
        );
        check("paths = [\"/**\"]", &[("services", "app")], &["app"]);
    }

    #[test]
    fn what_reads_no_configuration_and_what_nothing_runs_do_not_count() {
        check("services = [\"web\"]", &[("paths", "/etc/motd"), ("paths", "/etc/web.conf")], &["/etc/web.conf"]);
        check("", &[("paths", "/etc/web.conf"), ("commands", "true"), ("commands", "date +%s")], &[]);
        check("paths = [\"/etc/web.conf\"]", &[("commands", "uname -r")], &[]);
        check("paths = [\"/etc/motd\"]", &[("services", "web")], &[]);
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
