//! The files that a policy may change, and the commands that run or read them.
//!
//! A policy that may change a program, a file that the program reads, or a link on the way, decides what the command does. So
//! such a command gives it the whole account. Only an account that the policy makes itself is excepted.

use super::harmless::services_acted_on;
use super::named::{Links, NamedPaths, Part};
use super::reason::{Reason, shown};
use super::{MachineView, has_rights};
use crate::commands::{CommandGrant, GrantedLine};
use crate::denied::Capability;
use crate::pattern::{Asked, NamePattern, PathPattern, Pattern};
use crate::policy::PolicyGrants;
use crate::privileged::{is_within, unit_stem};
use crate::rules::{Rule, Verdict};
use std::cell::Cell;
use std::collections::{BTreeSet, HashSet};

/// Maximum number of files that are compared with all rules of a policy. Further files count as allowed if any rule allows
/// them.
const MAX_DECIDED: usize = 2_000;

/// Maximum size of the files of all commands of a policy, in bytes. If there are more, each path counts as one of them.
const MAX_FILES: usize = 32 << 20;

/// Who makes the account that a command runs as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    /// The policy of the command, by its `users` and `groups`.
    Policy,
    /// Another policy names it.
    OtherPolicy,
    /// No policy names it.
    Unknown,
}

/// The places that commands name or lead through.
#[derive(Debug, Default)]
pub(super) struct Files {
    places: HashSet<String>,
    bytes: usize,
    is_cut: bool,
}

impl Files {
    pub(super) fn of<'c>(commands: impl Iterator<Item = &'c CommandGrant>, links: &Links) -> Self {
        let mut files = Self::default();
        for command in commands {
            files.add(NamedPaths::of(command, links));
        }
        files
    }

    fn add(&mut self, named: NamedPaths) {
        self.is_cut |= named.is_cut;
        for place in named.paths.into_iter().flat_map(|path| path.places) {
            if self.bytes >= MAX_FILES {
                self.is_cut = true;
                return;
            }
            let bytes = place.len();
            if self.places.insert(place) {
                self.bytes += bytes;
            }
        }
    }

    /// Tells whether a path rule matches one of the files.
    pub(super) fn has_what_matches(&self, rule: &PathPattern) -> bool {
        let is_one = match rule.only_path() {
            Some(path) => self.places.contains(&path),
            None => self.places.iter().any(|path| rule.matches(path)),
        };
        is_one || self.is_cut
    }
}

/// The files that one policy may change, and the files that its commands name.
pub(super) struct Policy<'g> {
    pub(super) grants: &'g PolicyGrants,
    exact: HashSet<String>,
    wide: Vec<&'g PathPattern>,
    decided: Cell<usize>,
    /// The files that commands with more rights than an ordinary account name.
    pub(super) files: Files,
    /// The files that commands of any account name.
    pub(super) files_of_all: Files,
    /// The accounts that the policy's commands run as, and those that it may manage by their names.
    pub(super) accounts: BTreeSet<String>,
    /// The rules for reading.
    pub(super) reads: Vec<&'g PathPattern>,
    /// The services that it may manage, or that its commands act on, without the endings of units.
    pub(super) services: BTreeSet<String>,
    /// The packages that it may manage by their names.
    pub(super) packages: BTreeSet<String>,
    /// The accounts that it may manage by their names.
    managed: BTreeSet<String>,
    /// The groups that it may manage by their names.
    managed_groups: BTreeSet<String>,
    /// The accounts that its jobs run as.
    jobs: BTreeSet<String>,
}

impl<'g> Policy<'g> {
    pub(super) fn of(grants: &'g PolicyGrants, machine: &MachineView) -> Self {
        let (mut exact, mut wide) = (HashSet::new(), vec![]);
        for rule in grants.list(Capability::Paths).iter().filter(|rule| rule.allow) {
            if let Pattern::Path(path) = &rule.pattern {
                match path.only_path() {
                    Some(path) => drop(exact.insert(path)),
                    None => wide.push(path),
                }
            }
        }
        let all = || grants.rules.commands.iter();
        let reads = grants.list(Capability::ReadPaths).iter().filter(|rule| rule.allow);
        let reads = reads.filter_map(|rule| if let Pattern::Path(path) = &rule.pattern { Some(path) } else { None });
        let acted_on = all().filter_map(|command| match &command.what {
            GrantedLine::PathSource(words) => Some(services_acted_on(words)),
            _ => None,
        });
        let services = names(grants, Capability::Services);
        let services = services.iter().map(|name| unit_stem(name)).chain(acted_on.flatten());
        let managed = names(grants, Capability::Users);
        Self {
            grants,
            exact,
            wide,
            decided: Cell::new(0),
            files: Files::of(all().filter(|command| has_rights(command, machine)), &machine.links),
            files_of_all: Files::of(all(), &machine.links),
            accounts: all().filter_map(|command| command.user.clone()).chain(managed.iter().cloned()).collect(),
            reads: reads.collect(),
            services: services.map(str::to_owned).collect(),
            packages: names(grants, Capability::Packages),
            managed,
            managed_groups: names(grants, Capability::Groups),
            jobs: names(grants, Capability::CronUsers),
        }
    }

    /// Tells whether the policy makes the account of a command, and its group. Rules with wildcards do not count, since they also
    /// match accounts of others.
    pub(super) fn makes_account_of(&self, command: &CommandGrant) -> bool {
        let Some(user) = &command.user else { return false };
        let makes_group = |group: &String| group == user || self.managed_groups.contains(group);
        self.managed.contains(user) && command.group.as_ref().is_none_or(makes_group)
    }

    /// Takes the accounts of this machine from those that the policy makes, except for those that it could manage before.
    pub(super) fn makes_none_that_exist(
        &mut self,
        machine: &MachineView,
        before: impl Fn(Capability) -> BTreeSet<String>,
    ) {
        let (users, groups) = (before(Capability::Users), before(Capability::Groups));
        self.managed.retain(|name| users.contains(name) || !machine.queries.has_user(name));
        self.managed_groups.retain(|name| groups.contains(name) || !machine.queries.has_group(name));
    }

    /// Tells whether the policy makes an account.
    pub(super) fn makes_user(&self, name: &str) -> bool {
        self.managed.contains(name)
    }

    /// Tells whether the policy makes the account of a rule without wildcards.
    pub(super) fn makes(&self, rule: &Rule) -> bool {
        let Pattern::Name(name) = &rule.pattern else { return false };
        name.only_name().is_some_and(|name| self.managed.contains(&name))
    }

    /// Tells whether the policy names this account or group, in a command, a job or a list.
    pub(super) fn names(&self, name: &str) -> bool {
        self.accounts.contains(name) || self.managed_groups.contains(name) || self.jobs.contains(name)
    }

    /// Tells whether a rule for another policy and a rule of this one match a common path. If both name one path alone, it counts
    /// if `is_older` says so.
    pub(super) fn names_what_meets(&self, rule: &PathPattern, is_older: impl Fn(&str) -> bool) -> bool {
        let is_named = match rule.only_path() {
            Some(path) => self.exact.contains(&path) && is_older(&path),
            None => self.exact.iter().any(|path| rule.matches(path)),
        };
        is_named || self.wide.iter().any(|wide| meet(rule, wide))
    }

    /// Tells whether a path is in a folder that the policy may change as a whole.
    pub(super) fn has_in_a_folder(&self, path: &str) -> bool {
        self.wide.iter().any(|wide| wide.matches(path))
    }

    /// Tells whether the rules allow the policy to change the file.
    pub(super) fn may_change(&self, path: &str) -> bool {
        if !self.exact.contains(path) && !self.wide.iter().any(|wide| wide.matches(path)) {
            return false;
        }
        self.decided.set(self.decided.get() + 1);
        let rules = self.grants.list(Capability::Paths);
        let asked = Asked::Path(path, &self.grants.homes);
        self.decided.get() > MAX_DECIDED
            || matches!(rules.decide(asked, || self.grants.is_privileged(path)), Verdict::Allowed(_))
    }

    /// Tells whether the rules allow the policy to change something directly in a directory.
    fn may_change_in(&self, directory: &str) -> bool {
        let is_below = |path: &str| path.rsplit_once('/').is_some_and(|(parent, _)| parent == directory);
        self.exact.iter().any(|path| is_below(path)) || self.wide.iter().any(|wide| wide.may_match_in(directory))
    }

    /// Returns a path of a command by which the policy may change what the command does.
    pub(super) fn changed_by_itself<'n>(&self, named: &'n NamedPaths) -> Option<Changed<'n>> {
        named.paths.iter().find_map(|path| {
            let place = path.places.iter().rev().find(|place| self.may_change(place));
            let is_changed_inside = |place: &&String| path.part == Part::Directory && self.may_change_in(place);
            let place = place.or_else(|| path.places.last().filter(is_changed_inside))?;
            Some(Changed { part: path.part, written: &path.written, place })
        })
    }
}

/// Tells whether a path may match both of two patterns. If in doubt, returns true.
pub(super) fn meet(one: &PathPattern, other: &PathPattern) -> bool {
    match (one.only_path(), other.only_path()) {
        (Some(one), Some(other)) => one == other,
        (Some(path), None) => other.matches(&path),
        (None, Some(path)) => one.matches(&path),
        (None, None) => one.may_match_below(other.beginning()) && other.may_match_below(one.beginning()),
    }
}

/// Returns the names that the rules of a list allow, without those with wildcards.
pub(super) fn names(grants: &PolicyGrants, capability: Capability) -> BTreeSet<String> {
    let only_name = |pattern: &Pattern| match pattern {
        Pattern::Name(name) => NamePattern::only_name(name),
        _ => None,
    };
    grants.list(capability).iter().filter(|rule| rule.allow).filter_map(|rule| only_name(&rule.pattern)).collect()
}

/// A path of a command, and the place on its way that the policy may change.
pub(super) struct Changed<'n> {
    part: Part,
    written: &'n str,
    place: &'n str,
}

impl Changed<'_> {
    /// Returns the reason, as the rest of a sentence that begins with the command.
    pub(super) fn reason(&self, account: &str, owner: Owner) -> Reason {
        let Self { part, written, place } = self;
        let by = match part {
            Part::Program => "",
            Part::Named => "with ",
            Part::Directory => "in ",
        };
        let change = match part {
            Part::Directory if place == written => "this policy may change what is there".to_owned(),
            Part::Program if place == written => "this policy may change that file".to_owned(),
            _ if place == written => "this policy may change it".to_owned(),
            _ if is_within(written, place) => format!("this policy may change `{}` above it", shown(place)),
            _ => format!("this policy may change `{}`, where it leads", shown(place)),
        };
        format!("runs {by}`{}` as {account}{}, and {change}", shown(written), whose(owner)).into()
    }
}

/// Returns the reason of a command that gets its input from the policy.
pub(super) fn read_from_policy(account: &str, owner: Owner) -> Reason {
    format!("runs as {account}{}, and reads what the policy gives it on standard input", whose(owner)).into()
}

/// Returns the reason of a command whose words decide what it does, and do not tell all of it.
pub(super) fn runs_as(account: &str, owner: Owner, what: &str) -> Reason {
    format!("{what} as {account}{}: read all of it", whose(owner)).into()
}

fn whose(owner: Owner) -> &'static str {
    match owner {
        Owner::Policy => "",
        Owner::OtherPolicy => ", an account of another policy",
        Owner::Unknown => ", an account that this policy does not make",
    }
}

/// Returns the account of a command, as a reason names it.
pub(super) fn account_of(command: &CommandGrant) -> String {
    let user = command.user.as_deref().map_or_else(|| "root".to_owned(), shown);
    match &command.group {
        Some(group) => format!("{user} with the group {}", shown(group)),
        None => user,
    }
}
