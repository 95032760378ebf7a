//! Finds entries about what is on the machine already and does not belong to the policy. Without a question, wrun adds only
//! entries about what is new.
//!
//! Nobody can list all that root, other accounts and other programs run, read or trust, so no list of dangerous entries is
//! complete. What is on the machine already may belong to anybody. What is new, such as a file, an account or a package that
//! the policy itself brings, belongs to the policy, unless it lies in a folder of somebody else.

use super::harmless::{Looks, is_harmless, looks, services_acted_on};
use super::own_files::{account_of, names};
use super::reason::{Reason, RiskClass, shown};
use super::{AtPath, MachineView, has_rights};
use crate::commands::{CommandGrant, GrantedLine};
use crate::denied::Capability;
use crate::edit::{Addition, new_among};
use crate::file::{GrantsError, command_of, rule_of};
use crate::pattern::{PathPattern, Pattern};
use crate::policy::{Grants, PolicyGrants};
use crate::rules::Rule;
use std::collections::BTreeSet;

/// The folders in which applications and people have their own files and folders. Something new there belongs to whoever
/// makes it.
const SHARED: [&str; 21] = [
    "/",
    "/data",
    "/etc",
    "/etc/opt",
    "/home",
    "/mnt",
    "/opt",
    "/run",
    "/srv",
    "/tmp",
    "/usr",
    "/usr/local",
    "/usr/local/share",
    "/usr/share",
    "/var",
    "/var/cache",
    "/var/lib",
    "/var/log",
    "/var/opt",
    "/var/spool",
    "/var/www",
];

/// Returns the entries that a file of grants does not have yet, and that are about what is on the machine already and does not
/// belong to their policy, each with the reason.
///
/// # Errors
/// As [`add`](crate::add).
pub fn about_present<'a>(
    text: &str,
    name: &str,
    additions: &'a [Addition],
    machine: &MachineView,
) -> Result<Vec<(&'a Addition, Reason)>, GrantsError> {
    let (_, new) = new_among(text, name, additions)?;
    let before = Grants::parse(text, name)?;
    let new: Vec<_> = additions.iter().zip(new).filter(|(_, is_new)| *is_new).map(|(addition, _)| addition).collect();
    let judged = new.iter().filter_map(|addition| {
        let own = before.policy(&addition.policy, &[]);
        let brought = users_among(new.iter().filter(|other| other.policy == addition.policy).copied());
        let text = Look { own: &own, brought, machine }.reason(addition)?;
        Some((*addition, Reason { class: RiskClass::Present, text: text.into() }))
    });
    Ok(judged.collect())
}

/// Returns the users whom entries name, without those with wildcards.
fn users_among<'a>(additions: impl Iterator<Item = &'a Addition>) -> BTreeSet<String> {
    let users = additions.filter(|addition| addition.key == Capability::Users.key());
    users.filter_map(|addition| only_name(&rule_of(Capability::Users, &addition.value)?)).collect()
}

fn only_name(rule: &Rule) -> Option<String> {
    match &rule.pattern {
        Pattern::Name(name) => name.only_name(),
        _ => None,
    }
}

/// Looks at a machine for one entry.
struct Look<'l> {
    /// The grants of the policy without the new entries.
    own: &'l PolicyGrants,
    /// The users whom the new entries of the policy name.
    brought: BTreeSet<String>,
    machine: &'l MachineView,
}

impl Look<'_> {
    /// Returns the reason, as the rest of a sentence that begins with the entry.
    fn reason(&self, addition: &Addition) -> Option<String> {
        if addition.key == Capability::Commands.key() {
            return self.reason_of_command(&command_of(&addition.value)?);
        }
        let capability = Capability::LISTS.into_iter().find(|one| one.key() == addition.key)?;
        let rule = rule_of(capability, &addition.value)?;
        let (name, path) = (only_name(&rule), path_of(&rule));
        let is_there = |kind: &str| Some(format!("is a {kind} of this machine already"));
        match (capability, name, path) {
            (Capability::Paths, _, Some(path)) => self.reason_to_change(&path),
            (Capability::ReadPaths, _, Some(path)) => self.reason_to_read(&path),
            (Capability::Users, Some(name), _) if self.machine.queries.has_user(&name) => is_there("user"),
            (Capability::Groups, Some(name), _) if self.machine.queries.has_group(&name) => is_there("group"),
            (Capability::CronUsers, Some(name), _) if !self.makes(&name) && self.machine.queries.has_user(&name) => {
                is_there("user")
            }
            (Capability::Services, Some(name), _) if self.machine.queries.has_service(&name) => is_there("service"),
            (Capability::Packages, Some(name), _) if self.machine.queries.has_package(&name) => {
                Some("is installed on this machine already".to_owned())
            }
            _ => None,
        }
    }

    /// Tells whether an earlier entry lets the policy manage this user.
    fn makes(&self, user: &str) -> bool {
        names(self.own, Capability::Users).contains(user)
    }

    fn reason_to_change(&self, path: &str) -> Option<String> {
        match self.machine.queries.at_path(path) {
            AtPath::Nothing { above } => self.reason_of_folder(&above),
            AtPath::Readable | AtPath::Visible | AtPath::Hidden => Some("is on this machine already".to_owned()),
        }
    }

    fn reason_to_read(&self, path: &str) -> Option<String> {
        match self.machine.queries.at_path(path) {
            AtPath::Nothing { above } => self.reason_of_folder(&above),
            AtPath::Readable => None,
            _ if self.paths().any(|own| own.matches(path)) => None,
            AtPath::Visible | AtPath::Hidden => {
                Some("is on this machine already, and not every account may read it".to_owned())
            }
        }
    }

    /// Returns the reason for something new in a folder that exists.
    fn reason_of_folder(&self, folder: &str) -> Option<String> {
        let is_own = || self.paths().any(|own| own.matches(folder));
        let belongs_to_others = !SHARED.contains(&folder) && !is_own();
        belongs_to_others.then(|| format!("lies in `{}`, which is on this machine already", shown(folder)))
    }

    /// The paths that earlier entries let the policy change.
    fn paths(&self) -> impl Iterator<Item = &PathPattern> {
        let rules = self.own.list(Capability::Paths).iter().filter(|rule| rule.allow);
        rules.filter_map(|rule| match &rule.pattern {
            Pattern::Path(path) => Some(path),
            _ => None,
        })
    }

    fn reason_of_command(&self, command: &CommandGrant) -> Option<String> {
        let words = match &command.what {
            GrantedLine::PathSource(words) => words.as_slice(),
            _ => &[],
        };
        let looked_at = || looks(words).and_then(|looks| self.reason_of_look(&looks));
        let user = command.user.as_ref().filter(|_| !has_rights(command, self.machine));
        match user {
            Some(user) if self.makes(user) => None,
            _ if looks(words).is_some() => looked_at(),
            Some(user) if self.machine.queries.has_user(user) => {
                Some(format!("runs as {}, an account of this machine that this policy does not make", shown(user)))
            }
            Some(user) if !self.brought.contains(user) && !is_harmless(words) => {
                Some(format!("runs as {}, an account that this policy does not make", account_of(command)))
            }
            Some(_) => None,
            None => {
                let service = services_acted_on(words).find(|name| self.machine.queries.has_service(name))?;
                Some(format!("acts on `{}`, which is a service of this machine already", shown(service)))
            }
        }
    }

    /// Returns the reason for a command that tells what files are.
    fn reason_of_look(&self, looks: &Looks) -> Option<String> {
        let is_open = |path: &String| match self.machine.queries.at_path(path) {
            AtPath::Nothing { above } => self.reason_of_folder(&above).is_none() || self.is_readable(&above),
            AtPath::Readable => true,
            AtPath::Visible => !looks.lists,
            AtPath::Hidden => false,
        };
        let path = looks.paths.iter().find(|path| !is_open(path))?;
        Some(format!("looks at `{}`, which not every account of this machine may look at", shown(path)))
    }

    fn is_readable(&self, folder: &str) -> bool {
        self.machine.queries.at_path(folder) == AtPath::Readable
    }
}

/// Returns the path of a rule without wildcards, or of one for a folder with its whole content.
fn path_of(rule: &Rule) -> Option<String> {
    let Pattern::Path(path) = &rule.pattern else { return None };
    path.only_path().or_else(|| crate::signs::only_text(rule.text.strip_suffix("/**")?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::risk::{FirstLink, MachineQueries};
    use std::sync::Arc;

    /// A machine with the account `victim` and its closed folder, a service, a package, and a folder of the operator's.
    struct Victims;

    impl MachineQueries for Victims {
        fn at_path(&self, path: &str) -> AtPath {
            let nothing = |above: &str| AtPath::Nothing { above: above.to_owned() };
            match path {
                "/srv" | "/etc/os-release" | "/srv/ops" | "/srv/own" => AtPath::Readable,
                "/srv/victim" | "/srv/own/key" => AtPath::Visible,
                _ if path.starts_with("/srv/victim/") => AtPath::Hidden,
                _ if path.starts_with("/srv/ops/") => nothing("/srv/ops"),
                _ if path.starts_with("/srv/own/") => nothing("/srv/own"),
                _ if path.starts_with("/srv/") => nothing("/srv"),
                _ => nothing("/etc"),
            }
        }

        fn is_private(&self, path: &str) -> bool {
            matches!(self.at_path(path), AtPath::Visible | AtPath::Hidden)
        }

        fn first_link(&self, _: &str) -> Option<FirstLink> {
            None
        }

        fn has_user(&self, name: &str) -> bool {
            name == "victim"
        }

        fn has_group(&self, name: &str) -> bool {
            name == "victim"
        }

        fn has_service(&self, name: &str) -> bool {
            name == "victimd"
        }

        fn has_package(&self, name: &str) -> bool {
            name == "victim-db"
        }
    }

    /// The reasons of entries for a policy that may manage `/srv/own` and all in it, and the user `own`.
    fn reasons(additions: &[Addition]) -> Vec<String> {
        let before = "[policy.a]\npaths = [\"/srv/own\", \"/srv/own/key\"]\nusers = [\"own\"]\n";
        let found = about_present(before, "before", additions, &MachineView::new(Arc::new(Victims))).unwrap();
        found.into_iter().map(|(one, reason)| format!("{} {reason}", one.value)).collect()
    }

    fn entry(key: &str, value: &str) -> Addition {
        Addition { policy: "a".into(), key: key.into(), value: value.into() }
    }

    #[track_caller]
    fn check(key: &str, value: &str, expect: Option<&str>) {
        let found = reasons(&[entry(key, value)]);
        match expect {
            Some(part) => assert!(found.len() == 1 && found.iter().any(|one| one.contains(part)), "{value}: {found:?}"),
            None => assert_eq!(found, [""; 0], "{key} {value}"),
        }
    }

    #[test]
    fn attack_what_is_on_the_machine_already_is_not_new() {
        let already = Some("on this machine already");
        for path in ["/srv/ops", "/srv/ops/new", "/srv/ops/new/**", "/srv/victim", "/srv/victim/bin/app.py"] {
            check("paths", &format!("\"{path}\""), already);
        }
        for path in ["/srv/new", "/srv/new/**", "/srv/own/new", "/etc/motd-of-a"] {
            check("paths", &format!("\"{path}\""), None);
        }
        check("read_paths", "\"/srv/victim/password\"", Some("not every account may read it"));
        check("read_paths", "\"/srv/ops/later\"", already);
        for path in ["/etc/os-release", "/srv/own/key", "/srv/new"] {
            check("read_paths", &format!("\"{path}\""), None);
        }
        for (key, name) in [
            ("users", "victim"),
            ("groups", "victim"),
            ("cron_users", "victim"),
            ("services", "victimd"),
            ("packages", "victim-db"),
        ] {
            check(key, &format!("\"{name}\""), Some("already"));
            check(key, "\"new\"", None);
        }
    }

    #[test]
    fn attack_commands_reach_nothing_of_others() {
        for (command, expect) in [
            ("{ argv = [\"cat\", \"/x\"], user = \"victim\" }", Some("an account of this machine")),
            ("{ shell = \"id\", user = \"victim\" }", Some("an account of this machine")),
            ("{ shell = \"id\", user = \"postgres\" }", Some("this policy does not make")),
            ("{ argv = [\"date\"], user = \"postgres\" }", None),
            ("{ shell = \"id\", user = \"own\" }", None),
            ("{ argv = [\"systemctl\", \"stop\", \"victimd\"] }", Some("a service of this machine")),
            ("{ argv = [\"service\", \"victimd\", \"restart\"] }", Some("a service of this machine")),
            ("{ argv = [\"systemctl\", \"is-active\", \"victimd\"] }", None),
            ("{ argv = [\"systemctl\", \"restart\", \"new\"] }", None),
            ("{ argv = [\"ls\", \"-l\", \"/srv/victim\"] }", Some("may look at")),
            ("{ argv = [\"ls\", \"srv/victim\"] }", Some("may look at")),
            ("{ argv = [\"test\", \"-s\", \"/srv/victim/password\"] }", Some("may look at")),
            ("{ argv = [\"test\", \"-d\", \"/srv/victim\"] }", None),
            ("{ argv = [\"ls\", \"/srv\"] }", None),
            ("{ argv = [\"test\", \"-e\", \"/srv/ops/x\"] }", None),
        ] {
            check("commands", command, expect);
        }
    }

    #[test]
    fn an_account_that_comes_with_the_entries_is_the_policys_own() {
        let command = entry("commands", "{ shell = \"id\", user = \"new\" }");
        assert_eq!(reasons(std::slice::from_ref(&command)).len(), 1);
        assert_eq!(reasons(&[command.clone(), entry("users", "\"new\"")]), [""; 0]);
        let of_another = Addition { policy: "b".into(), ..entry("users", "\"new\"") };
        assert_eq!(reasons(&[command, of_another]).len(), 1);
        // An account that is there already stays somebody else's.
        let both = [entry("commands", "{ shell = \"id\", user = \"victim\" }"), entry("users", "\"victim\"")];
        assert_eq!(reasons(&both).len(), 2);
    }
}
