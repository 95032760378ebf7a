//! Decides which entries wrun adds without a question (`--yes`).
//!
//! Nobody can list all that root, other accounts and other programs run, read or trust, or will once they are installed. So no
//! list of dangerous entries is complete, and this is a list of the entries that concern nobody else: new paths in folders
//! where no program looks for names by itself, files and facts that every account of the machine may read, and commands that
//! only answer. Everything else needs a person, or `--dangerous`.

use super::harmless::{asks_without_reading, only_answers};
use super::reason::{Reason, RiskClass, shown};
use super::{AtPath, MachineView, tables_of};
use crate::commands::{CommandGrant, GrantedLine};
use crate::denied::Capability;
use crate::edit::{Addition, new_among};
use crate::facts::is_open_fact;
use crate::file::{GrantsError, command_of, rule_of};
use crate::names::OPEN_VARIABLES;
use crate::pattern::{Asked, Pattern};
use crate::policy::{Grants, PolicyGrants};
use crate::rules::{Rule, Verdict};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Folders in which people and applications have their own files, and in which no program looks for names by itself.
const PLAIN: [&str; 6] = ["/data", "/etc/opt", "/opt", "/srv", "/var/opt", "/var/www"];

/// The reason of all entries of a kind that is never added without a question.
const CONCERNS_OTHERS: &str = "may concern more than this policy";

/// Returns the entries that a file of grants does not have yet, and that wrun does not add without a question, each with the
/// reason. `all` has the grants of all files, to know the names of other policies.
///
/// # Errors
/// As [`add`](crate::add).
pub fn in_question<'a>(
    text: &str,
    name: &str,
    additions: &'a [Addition],
    all: &Grants,
    machine: &MachineView,
) -> Result<Vec<(&'a Addition, Reason)>, GrantsError> {
    let (_, new) = new_among(text, name, additions)?;
    let before = Grants::parse(text, name)?;
    let tables = tables_of(&before, all);
    let paths = new_paths(additions);
    let new = additions.iter().zip(new).filter(|(_, is_new)| *is_new).map(|(addition, _)| addition);
    let judged = new.filter_map(|addition| {
        let known = tables.iter().find(|table| table.policy() == addition.policy).cloned();
        let own = known.unwrap_or_else(|| before.policy(&addition.policy, &[]));
        let look = Look { own: &own, tables: &tables, paths: &paths, machine };
        if let Some(refusal) = look.refusal(addition) {
            return Some((addition, Reason::from(refusal)));
        }
        Some((addition, Reason { class: RiskClass::InQuestion, text: look.reason(addition)?.into() }))
    });
    Ok(judged.collect())
}

/// Looks at a machine and at the tables of all policies for one entry.
struct Look<'l> {
    /// The grants of the entry's policy, without the new entries.
    own: &'l PolicyGrants,
    tables: &'l [Arc<PolicyGrants>],
    /// The paths that entries name, by policy.
    paths: &'l BTreeMap<&'l str, NewPaths>,
    machine: &'l MachineView,
}

impl Look<'_> {
    /// Returns the reason, as the rest of a sentence that begins with the entry. `None`: the entry concerns nobody else.
    fn reason(&self, addition: &Addition) -> Option<String> {
        let other = || Some(CONCERNS_OTHERS.to_owned());
        if addition.key == Capability::Commands.key() {
            return if command_of(&addition.value).is_some_and(|command| is_answer(&command)) { None } else { other() };
        }
        if [Capability::Clock, Capability::Random].iter().any(|flag| flag.key() == addition.key) {
            return None;
        }
        let Some(capability) = Capability::LISTS.into_iter().find(|one| one.key() == addition.key) else {
            return other();
        };
        let Some(rule) = rule_of(capability, &addition.value) else { return other() };
        match (capability, &rule.pattern) {
            (Capability::Paths, Pattern::Path(_)) => match path_of(&rule) {
                Some(path) => self.reason_to_change(&path),
                None => other(),
            },
            (Capability::ReadPaths, Pattern::Path(path)) => match path.only_path() {
                Some(path) => self.reason_to_read(&path),
                None => other(),
            },
            (Capability::Facts, Pattern::Attribute(fact)) if is_open_fact(&fact.keys()) => None,
            (Capability::Environment, Pattern::Name(name))
                if name.only_name().is_some_and(|name| OPEN_VARIABLES.contains(&name.as_str())) =>
            {
                None
            }
            _ => other(),
        }
    }

    fn reason_to_change(&self, path: &str) -> Option<String> {
        let AtPath::Nothing { above } = self.machine.queries.at_path(path) else {
            return Some("is on this machine already".to_owned());
        };
        let is_plain =
            PLAIN.into_iter().any(|plain| is_below(path, plain) && (above == plain || is_below(plain, &above)));
        if !is_plain && !self.may_change(&above) {
            return Some(match PLAIN.into_iter().any(|plain| is_below(path, plain)) {
                true => format!("lies in `{}`, which is on this machine already", shown(&above)),
                false => "is in a folder where programs look for names by themselves".to_owned(),
            });
        }
        let names = |table: &&Arc<PolicyGrants>| table.policy() != self.own.policy() && names_part_of(table, path);
        if let Some(other) = self.tables.iter().find(names) {
            return Some(format!("has a name of policy {} in it", shown(other.policy())));
        }
        let mut others = self.paths.iter().filter(|(policy, _)| **policy != self.own.policy());
        let (other, _) = others.find(|(_, paths)| paths.meet(path))?;
        Some(format!("is also new for policy {}", shown(other)))
    }

    fn reason_to_read(&self, path: &str) -> Option<String> {
        match self.machine.queries.at_path(path) {
            AtPath::Readable => None,
            _ if self.may_change(path) => None,
            AtPath::Nothing { .. } => Some("is not on this machine yet, and somebody else will make it".to_owned()),
            AtPath::Closed => Some("is on this machine already, and not every account may read it".to_owned()),
        }
    }

    /// Returns the rule of the operator that refuses the entry's thing today, and that the entry would override.
    fn refusal(&self, addition: &Addition) -> Option<String> {
        let refused = |text: &str, line| format!("is refused now by `{}` in {}", shown(text), self.own.line(line));
        if addition.key == Capability::Commands.key() {
            let command = command_of(&addition.value)?;
            let rule = self.own.rules.denied_commands.iter().find(|rule| rule.starts(&command))?;
            return Some(refused(&rule.text, rule.line));
        }
        let capability = Capability::LISTS.into_iter().find(|one| one.key() == addition.key)?;
        let wanted = rule_of(capability, &addition.value)?;
        let list = if capability == Capability::PrivilegedPaths { Capability::Paths } else { capability };
        let covers = |rule: &&Rule| !rule.allow && rule.pattern.covers(&wanted.pattern);
        let rule = self.own.list(list).iter().find(covers)?;
        Some(refused(&rule.text, rule.line))
    }

    /// Tells whether earlier entries let the policy change a path.
    fn may_change(&self, path: &str) -> bool {
        let decided = self.own.list(Capability::Paths).decide(self.own.as_path(path), || self.own.is_privileged(path));
        matches!(decided, Verdict::Allowed(_))
    }
}

/// The paths that the entries of one policy name.
#[derive(Default)]
struct NewPaths {
    named: BTreeSet<String>,
    /// True if an entry has a wildcard, and may name any path.
    has_wildcard: bool,
}

impl NewPaths {
    /// Tells whether an entry names a path, or one above or below it.
    fn meet(&self, path: &str) -> bool {
        let below = format!("{path}/");
        let mut above = path.match_indices('/').filter_map(|(at, _)| path.get(..at)).chain([path]);
        self.has_wildcard
            || above.any(|path| self.named.contains(path))
            || self.named.range(below.clone()..).next().is_some_and(|next| next.starts_with(&below))
    }
}

/// Returns the paths of all entries, by policy. A policy may have thousands of entries, so each is parsed once.
fn new_paths(additions: &[Addition]) -> BTreeMap<&str, NewPaths> {
    let mut all: BTreeMap<&str, NewPaths> = BTreeMap::new();
    for Addition { policy, key, value } in additions {
        let is_key = |capability: &Capability| capability.is_path() && capability.key() == key;
        let Some(capability) = Capability::LISTS.into_iter().find(is_key) else { continue };
        let paths = all.entry(policy).or_default();
        match rule_of(capability, value).as_ref().and_then(path_of) {
            Some(path) => {
                paths.named.insert(path);
            }
            None => paths.has_wildcard = true,
        }
    }
    all
}

/// Tells whether a path lies below a folder.
fn is_below(path: &str, folder: &str) -> bool {
    let folder = folder.trim_end_matches('/');
    path.strip_prefix(folder).is_some_and(|rest| rest.len() > 1 && rest.starts_with('/'))
}

/// Tells whether a component of a path begins with the name of a policy, or with a name in its table, or the other way round.
fn names_part_of(table: &PolicyGrants, path: &str) -> bool {
    // The plain folders themselves name nobody.
    let own = PLAIN.into_iter().find(|plain| is_below(path, plain)).and_then(|plain| path.strip_prefix(plain));
    let components = || own.unwrap_or(path).split('/').filter(|component| !component.is_empty());
    let is_like = |name: &str| components().any(|component| component.starts_with(name) || name.starts_with(component));
    let lists =
        [Capability::Users, Capability::Groups, Capability::Services, Capability::Packages, Capability::CronUsers];
    is_like(table.policy())
        || lists.into_iter().flat_map(|list| table.list(list).iter()).filter(|rule| rule.allow).any(|rule| match &rule
            .pattern
        {
            Pattern::Name(name) => match name.only_name() {
                Some(name) => is_like(&name),
                None => components().any(|component| rule.pattern.matches(Asked::Text(component))),
            },
            _ => false,
        })
}

/// Tells whether a command only answers, whatever is on the machine, and with nothing that only some may know.
fn is_answer(command: &CommandGrant) -> bool {
    let GrantedLine::PathSource(words) = &command.what else { return false };
    only_answers(words) && !asks_without_reading(words) && command.environment.is_empty() && !command.input
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

    /// A machine with the closed folder of a victim, and a folder of the operator's.
    struct Victims;

    impl MachineQueries for Victims {
        fn at_path(&self, path: &str) -> AtPath {
            let nothing = |above: &str| AtPath::Nothing { above: above.to_owned() };
            match path {
                "/srv" | "/etc/os-release" | "/srv/ops" | "/srv/own" => AtPath::Readable,
                "/srv/victim" | "/srv/own/key" => AtPath::Closed,
                _ if path.starts_with("/srv/victim/") => AtPath::Closed,
                _ if path.starts_with("/srv/ops/") => nothing("/srv/ops"),
                _ if path.starts_with("/srv/own/") => nothing("/srv/own"),
                _ if path.starts_with("/srv/") => nothing("/srv"),
                _ if path.starts_with("/opt/") => nothing("/"),
                _ => nothing("/etc"),
            }
        }

        fn is_private(&self, path: &str) -> bool {
            self.at_path(path) == AtPath::Closed
        }

        fn first_link(&self, _: &str) -> Option<FirstLink> {
            None
        }

        fn has_user(&self, _: &str) -> bool {
            false
        }

        fn has_group(&self, _: &str) -> bool {
            false
        }
    }

    fn entry(policy: &str, key: &str, value: &str) -> Addition {
        Addition { policy: policy.into(), key: key.into(), value: value.into() }
    }

    #[test]
    fn attack_what_two_policies_ask_for_at_once_needs_a_question() {
        let additions = [
            entry("a", "paths", "\"/srv/x/conf\""),
            entry("b", "paths", "\"/srv/x/**\""),
            entry("a", "paths", "\"/srv/y\""),
        ];
        let machine = MachineView::new(Arc::new(Victims));
        let found = in_question("", "before", &additions, &Grants::nothing(), &machine).unwrap();
        let found: Vec<_> = found.into_iter().map(|(one, reason)| format!("{} {reason}", one.value)).collect();
        assert_eq!(found, ["\"/srv/x/conf\" is also new for policy b", "\"/srv/x/**\" is also new for policy a"]);
    }

    /// Judges an entry of the policy `a`, which may manage `/srv/own` and some of what is in it. Another policy has names.
    #[track_caller]
    fn check(key: &str, value: &str, expect: Option<&str>) {
        let before = "[policy.a]\npaths = [\"/srv/own/**\"]\ndeny_paths = [\"/srv/own/conf/**\"]\n\
                      deny_read_paths = [\"/srv/own/closed/**\"]\n";
        let others = "[policy.payments]\nusers = [\"ledger\"]\nservices = [\"billing-*\"]\npackages = [\"telegraf\"]\n";
        let all = Grants::parse_files(&[("before", before), ("others", others)]).unwrap();
        let addition = [entry("a", key, value)];
        let found = in_question(before, "before", &addition, &all, &MachineView::new(Arc::new(Victims))).unwrap();
        let found: Vec<_> = found.into_iter().map(|(one, reason)| format!("{} {reason}", one.value)).collect();
        match expect {
            Some(part) => assert!(found.len() == 1 && found.iter().any(|one| one.contains(part)), "{value}: {found:?}"),
            None => assert_eq!(found, [""; 0], "{key} {value}"),
        }
    }

    #[test]
    fn attack_only_new_paths_in_plain_folders_need_no_question() {
        for path in ["/srv/ops", "/srv/ops/new", "/srv/ops/new/**", "/srv/victim", "/srv/victim/bin/app.py"] {
            check("paths", &format!("\"{path}\""), Some("on this machine already"));
        }
        for path in
            ["/etc/motd-of-a", "/etc/userdb/evil:sudo.membership", "/run/a.pid", "/home/a", "/var/lib/a", "/srv"]
        {
            let expect = if path == "/srv" { "already" } else { "look for names" };
            check("paths", &format!("\"{path}\""), Some(expect));
        }
        for path in ["/srv/new", "/srv/new/**", "/srv/own/new", "/opt/new/conf"] {
            check("paths", &format!("\"{path}\""), None);
        }
    }

    #[test]
    fn attack_names_of_other_policies_need_a_question() {
        for path in ["/srv/ledger", "/opt/payments-data/x", "/srv/new/telegraf.conf", "/srv/billing-web", "/srv/tele"] {
            check("paths", &format!("\"{path}\""), Some("has a name of policy payments in it"));
        }
    }

    #[test]
    fn attack_refusals_of_the_operator_need_a_question() {
        check("paths", "\"/srv/own/conf/new\"", Some("is refused now by `/srv/own/conf/**` in line 3 of before"));
        check("read_paths", "\"/srv/own/closed/secret\"", Some("is refused now by `/srv/own/closed/**`"));
    }

    #[test]
    fn attack_only_open_files_are_read_without_a_question() {
        check("read_paths", "\"/srv/victim/password\"", Some("not every account may read it"));
        for path in ["/srv/ops/later", "/srv/new", "/run/secrets/db"] {
            check("read_paths", &format!("\"{path}\""), Some("is not on this machine yet"));
        }
        check("read_paths", "\"/srv/*\"", Some("may concern more"));
        for path in ["/etc/os-release", "/srv/own/key", "/srv/own/later"] {
            check("read_paths", &format!("\"{path}\""), None);
        }
    }

    #[test]
    fn attack_everything_else_needs_a_question() {
        for (key, value) in [
            ("users", "\"postgres\""),
            ("groups", "\"new\""),
            ("cron_users", "\"new\""),
            ("services", "\"new\""),
            ("packages", "\"sudo-ldap\""),
            ("download_hosts", "\"https://example.org\""),
            ("environment", "\"DATABASE_URL\""),
            ("facts", "\"ec2\""),
            ("facts", "\"dmi.system\""),
            ("data_bags", "\"x\""),
            ("write_attributes", "\"x\""),
            ("reboot", "true"),
            ("commands", "\"a2dissite victim\""),
            ("commands", "\"ls -lR /srv\""),
            ("commands", "\"test -e /srv/own/x\""),
            ("commands", "\"systemctl restart new\""),
            ("commands", "{ argv = [\"date\"], environment = { TZ = \"x\" } }"),
            ("commands", "{ argv = [\"date\"], input = true }"),
        ] {
            check(key, value, Some(CONCERNS_OTHERS));
        }
        for (key, value) in [
            ("clock", "true"),
            ("random", "true"),
            ("facts", "\"memory.total\""),
            ("facts", "\"platform\""),
            ("environment", "\"PATH\""),
            ("commands", "\"date\""),
            ("commands", "{ argv = [\"true\"], user = \"new\" }"),
        ] {
            check(key, value, None);
        }
    }
}
