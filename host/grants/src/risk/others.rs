//! What belongs to other policies: the paths, accounts, services and packages that their tables name.

use super::harmless::{OPEN_FILES, services_acted_on};
use super::named::NamedPaths;
use super::own_files::{Owner, Policy, meet};
use super::{Assessed, CommandGrant};
use crate::commands::WordPattern;
use crate::denied::Capability;
use crate::pattern::{PathPattern, Pattern};
use crate::privileged::{is_within, unit_stem};
use crate::rules::Rule;

impl<'g> Assessed<'g> {
    pub(super) fn others(&self, own: &Policy<'_>) -> impl Iterator<Item = &Policy<'g>> {
        let name = own.grants.policy().to_owned();
        self.policies.values().filter(move |one| one.grants.policy() != name)
    }

    /// Tells whether a path rule meets a path that the table of another policy names, or lies in the home of an account of
    /// another policy.
    pub(super) fn is_anothers_path(&self, own: &Policy<'_>, rule: &PathPattern) -> bool {
        self.others(own).any(|other| {
            let is_older = |path: &str| {
                let new = self.new_paths.as_ref().map(|new| new.get(other.grants.policy()));
                new.is_some_and(|new| !new.is_some_and(|new| new.contains(path)))
            };
            other.names_what_meets(rule, is_older)
        }) || self.is_in_anothers_home(own, rule)
    }

    /// Tells whether a path rule lies in the home of somebody who can log in, and whom the policy does not make.
    pub(super) fn is_in_a_home(&self, own: &Policy<'_>, rule: &PathPattern) -> bool {
        let beginning = rule.only_path().unwrap_or_else(|| rule.beginning().to_owned());
        let mut homes = self.machine.homes.iter().filter(|(_, home)| is_within(&beginning, home));
        homes.any(|(user, _)| self.machine.logins.contains(user) && !own.makes_user(user))
    }

    fn is_in_anothers_home(&self, own: &Policy<'_>, rule: &PathPattern) -> bool {
        let beginning = rule.only_path().unwrap_or_else(|| rule.beginning().to_owned());
        let mut homes = self.machine.homes.iter().filter(|(_, home)| is_within(&beginning, home));
        homes.any(|(user, _)| !own.names(user) && self.others(own).any(|other| other.names(user)))
    }

    /// Tells whether a rule for reading meets a path that the table of another policy names, except for a file that everybody
    /// may read everywhere.
    pub(super) fn reads_what_is_anothers(&self, own: &Policy<'_>, rule: &PathPattern) -> bool {
        let is_open = rule.only_path().is_some_and(|path| OPEN_FILES.contains(&path.as_str()));
        !is_open
            && self.others(own).any(|other| {
                other.names_what_meets(rule, |_| true)
                    || other.reads.iter().any(|read| meet(rule, read))
                    || other.files_of_all.has_what_matches(rule)
            })
    }

    /// Tells whether a rule for reading names a file that not every account of the machine may read, and that the policy could
    /// not change anyway.
    pub(super) fn reads_what_is_private(&self, own: &Policy<'_>, rule: &PathPattern) -> bool {
        let path = rule.only_path().unwrap_or_else(|| rule.beginning().to_owned());
        !own.may_change(&path) && self.machine.queries.is_private(&path)
    }

    /// Tells whether another policy names this account or group.
    pub(super) fn is_anothers_account(&self, own: &Policy<'_>, rule: &Rule) -> bool {
        let Pattern::Name(name) = &rule.pattern else { return false };
        name.only_name().is_some_and(|name| self.others(own).any(|other| other.names(&name)))
    }

    /// Tells whether another policy names this service or package.
    pub(super) fn is_anothers(&self, own: &Policy<'_>, capability: Capability, rule: &Rule) -> bool {
        let Pattern::Name(name) = &rule.pattern else { return false };
        let Some(name) = name.only_name() else { return false };
        match capability {
            Capability::Services => self.others(own).any(|other| other.services.contains(unit_stem(&name))),
            _ => self.others(own).any(|other| other.packages.contains(&name)),
        }
    }

    /// Tells whether a command starts, stops or changes a service that another policy names.
    pub(super) fn acts_on_anothers_service(&self, own: &Policy<'_>, words: &[WordPattern]) -> bool {
        let mut services = services_acted_on(words);
        services.any(|service| self.others(own).any(|other| other.services.contains(service)))
    }

    /// Tells whether a command names something in a folder that another policy may change as a whole.
    pub(super) fn is_in_anothers_folder(&self, own: &Policy<'_>, named: &NamedPaths) -> bool {
        let mut places = named.paths.iter().flat_map(|path| &path.places);
        places.any(|place| !own.may_change(place) && self.others(own).any(|other| other.has_in_a_folder(place)))
    }

    /// Returns who makes the account of a command. An account that several policies name is not one's own.
    pub(super) fn owner_of_account(&self, own: &Policy<'_>, command: &CommandGrant) -> Owner {
        let is_others =
            command.user.as_ref().is_some_and(|user| self.others(own).any(|other| other.accounts.contains(user)));
        match is_others {
            true => Owner::OtherPolicy,
            false if own.makes_account_of(command) => Owner::Policy,
            false => Owner::Unknown,
        }
    }
}
