//! Checks of names: packages, services, users, groups, and data that is read by name.

use crate::denied::{Capability, Denied, literal_entry};
use crate::pattern::Asked;
use crate::policy::PolicyGrants;
use crate::privileged::{self, Standing};
use crate::proofs::{
    GrantedGroup, GrantedModule, GrantedName, GrantedPackage, GrantedPath, GrantedService, GrantedTree, GrantedUser,
};
use crate::rules::Verdict;

/// Environment variables that a policy may know in a survey without a grant.
pub(crate) const OPEN_VARIABLES: [&str; 7] = ["HOME", "LANG", "LOGNAME", "PATH", "SHELL", "TERM", "USER"];

impl PolicyGrants {
    /// Checks the name of a thing for a tool. A text that tools could read as an option, a file or several names is refused,
    /// whatever the rules say.
    fn plain(&self, capability: Capability, name: &str, privileged: impl Fn() -> bool) -> Result<String, Denied> {
        let odd = |c: char| c.is_whitespace() || c.is_control() || matches!(c, '/' | ',' | '*' | '?' | '=' | '[' | ']');
        if name.is_empty() || name.starts_with(['-', '.']) || name.contains(odd) {
            return Err(self.refuse_with(capability, name, None, Some("it is not a plain name".into())));
        }
        self.named(capability, name, privileged)
    }

    fn named(&self, capability: Capability, name: &str, privileged: impl Fn() -> bool) -> Result<String, Denied> {
        self.decide(capability, Asked::Text(name), name, privileged)?;
        Ok(name.into())
    }

    /// Checks whether the policy may install, change and remove a package.
    ///
    /// # Errors
    /// The package is not granted.
    pub fn package(&self, name: &str) -> Result<GrantedPackage, Denied> {
        self.plain(Capability::Packages, name, || privileged::package(name)).map(GrantedPackage)
    }

    /// Checks whether a granted package may bring or upgrade another one, which need not be granted. A rule that refuses the
    /// other one forbids that, and wrun's own package needs a rule that names it.
    ///
    /// # Errors
    /// The package may not be brought along.
    pub fn package_is_brought(&self, name: &str) -> Result<(), Denied> {
        let is_refused =
            || matches!(self.list(Capability::Packages).decide(Asked::Text(name), || false), Verdict::Refused(_));
        let is_guarded = !self.allows_everything() && (privileged::package(name) || is_refused());
        if is_guarded { self.package(name).map(drop) } else { Ok(()) }
    }

    /// Checks whether the policy may configure a kernel module: its options, and whether it is loaded when the system starts, or
    /// never.
    ///
    /// # Errors
    /// The module is not granted.
    pub fn kernel_module(&self, name: &str) -> Result<GrantedModule, Denied> {
        self.plain(Capability::KernelModules, &name.replace('-', "_"), || false).map(GrantedModule)
    }

    /// Checks whether the policy may start, stop, enable and disable a service. `x` and `x.service` are the same.
    ///
    /// # Errors
    /// The service is not granted.
    pub fn service(&self, name: &str) -> Result<GrantedService, Denied> {
        let name = name.strip_suffix(".service").unwrap_or(name);
        if !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b":-_.\\@".contains(&byte)) {
            let reason = "units have names of letters, digits and the characters : - _ . \\ @".to_owned();
            return Err(self.refuse_with(Capability::Services, name, None, Some(reason)));
        }
        // If a rule refuses a service, it also refuses its sockets, timers and paths, which can start it.
        let stem = privileged::unit_stem(name);
        if stem != name
            && matches!(self.list(Capability::Services).decide(Asked::Text(stem), || false), Verdict::Refused(_))
        {
            let _refused = self.named(Capability::Services, stem, || false)?;
        }
        self.plain(Capability::Services, name, || privileged::service(name)).map(GrantedService)
    }

    /// Checks that no rule refuses a service, which need not be granted. That is enough for a further name of a granted one.
    ///
    /// # Errors
    /// A rule refuses it.
    pub fn service_is_not_refused(&self, name: &str) -> Result<(), Denied> {
        let name = name.strip_suffix(".service").unwrap_or(name);
        let refused = |name: &str| {
            let verdict = self.list(Capability::Services).decide(Asked::Text(name), || false);
            matches!(verdict, Verdict::Refused(_))
        };
        let is_refused = !self.allows_everything() && (refused(name) || refused(privileged::unit_stem(name)));
        if is_refused { self.service(name).map(drop) } else { Ok(()) }
    }

    /// Tells whether the policy may use a service, for suggesting near names. Nothing is recorded, since the policy did not
    /// ask for it.
    pub fn may_use_service(&self, name: &str) -> bool {
        let granted = self.list(Capability::Services).decide(Asked::Text(name), || false);
        self.allows_everything() || matches!(granted, Verdict::Allowed(_))
    }

    /// Checks whether the policy may create, change and remove a user. A rule with wildcards does not cover `root`, system
    /// users, and users that are as powerful as root on this machine.
    ///
    /// # Errors
    /// The user is not granted.
    pub fn user(&self, name: &str, standing: Standing) -> Result<GrantedUser, Denied> {
        self.account(Capability::Users, name, standing).map(GrantedUser)
    }

    /// Checks whether the policy may create, change and remove a group, and change its members. A rule with wildcards does
    /// not cover system groups, and groups whose members are as powerful as root (`sudo`, `docker`, `disk`).
    ///
    /// # Errors
    /// The group is not granted.
    pub fn group(&self, name: &str, standing: Standing) -> Result<GrantedGroup, Denied> {
        self.account(Capability::Groups, name, standing).map(GrantedGroup)
    }

    /// Checks a user or a group. A name of digits is refused, because many programs read it as the id of another account.
    pub(crate) fn account(&self, capability: Capability, name: &str, standing: Standing) -> Result<String, Denied> {
        if !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit()) {
            let reason = "it is a number, not a name";
            return Err(self.refuse_with(capability, name, None, Some(reason.into())));
        }
        let is_known = match capability {
            Capability::Groups => privileged::group(name),
            // A new user gets a group of the same name.
            Capability::Users => privileged::user(name) || privileged::group(name),
            _ => privileged::user(name),
        };
        self.plain(capability, name, || is_known || standing != Standing::Ordinary)
    }

    /// Tells whether only a rule with wildcards lets the policy manage an ordinary user or group of this name. Nothing is
    /// recorded, since the policy did not ask for it.
    pub fn is_account_by_wildcard(&self, capability: Capability, name: &str) -> bool {
        let decided = self.list(capability).decide(Asked::Text(name), || privileged::group(name));
        !self.allows_everything() && matches!(decided, Verdict::Allowed(rule) if !rule.pattern.is_exact())
    }

    /// Checks whether the policy may give a user this id. A user with id 0 is root, and a user with another user's id owns
    /// that user's files. `holder` is the user who has the id now, with its standing.
    ///
    /// # Errors
    /// The id is 0 or belongs to another user, and that user is not granted.
    pub fn user_number(&self, user: &GrantedUser, number: u32, holder: Option<(&str, Standing)>) -> Result<(), Denied> {
        if number == 0 {
            let _root = self.user("root", Standing::Elevated)?;
        }
        match holder {
            Some((other, standing)) if other != user.name() => self.user(other, standing).map(drop),
            _ => Ok(()),
        }
    }

    /// Does the same for the id of a group.
    ///
    /// # Errors
    /// The id is 0 or belongs to another group, and that group is not granted.
    pub fn group_number(
        &self,
        group: &GrantedGroup,
        number: u32,
        holder: Option<(&str, Standing)>,
    ) -> Result<(), Denied> {
        if number == 0 {
            let _root = self.group("root", Standing::Elevated)?;
        }
        match holder {
            Some((other, standing)) if other != group.name() => self.group(other, standing).map(drop),
            _ => Ok(()),
        }
    }

    /// Checks whether the policy may make a user a member of a group, also of its primary group. A right to the user does not
    /// include the group, unless it is the user's own group of the same name.
    ///
    /// # Errors
    /// The group is not granted.
    pub fn membership(&self, user: &GrantedUser, group: &str, standing: Standing) -> Result<GrantedGroup, Denied> {
        if user.name() == group && !privileged::group(group) && standing != Standing::Elevated {
            return Ok(GrantedGroup(group.into()));
        }
        self.group(group, standing)
    }

    /// Checks whether the policy may create a directory at this resolved path, as a user's home or above it.
    ///
    /// # Errors
    /// The path is not granted.
    pub fn home(&self, _user: &GrantedUser, path: &str) -> Result<GrantedPath, Denied> {
        self.manage_path(path)
    }

    /// Returns the proof for the user's own directory among the homes. It counts as a part of the user. `base` is the
    /// directory for new homes, from the machine's configuration.
    pub fn own_home(&self, user: &GrantedUser, base: &str) -> GrantedTree {
        GrantedTree(own_place(user, base))
    }

    /// Returns proofs for the directories to create for it. `missing` are resolved paths, in order.
    ///
    /// # Errors
    /// A path is neither that directory nor above it, and is not granted.
    pub fn make_own_home(
        &self,
        user: &GrantedUser,
        base: &str,
        missing: &[String],
    ) -> Result<Vec<GrantedPath>, Denied> {
        let own = own_place(user, base);
        let leads_there =
            |path: &str| own.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        let grant = |path: &String| match leads_there(path) {
            true => Ok(GrantedPath(path.clone())),
            false => self.manage_path(path),
        };
        missing.iter().map(grant).collect()
    }

    /// Returns the proof for the user's mailbox, which counts as a part of the user. `directory` is the folder of mailboxes,
    /// from the machine's configuration.
    pub fn mailbox(&self, user: &GrantedUser, directory: &str) -> GrantedPath {
        GrantedPath(own_place(user, directory))
    }

    /// The root's file of users, in which the entry of this user alone is changed.
    pub fn user_database(&self, _user: &GrantedUser) -> GrantedPath {
        GrantedPath("/etc/passwd".into())
    }

    /// Checks whether the policy may read a data bag, or one item of it. A rule has the form `bag` or `bag/item`.
    ///
    /// # Errors
    /// The data bag or item is not granted.
    pub fn data_bag(&self, bag: &str, item: Option<&str>) -> Result<GrantedName, Denied> {
        let whole = self.list(Capability::DataBags).decide(Asked::Text(bag), || false);
        match (item, whole) {
            (Some(item), Verdict::Unheard) => {
                self.named(Capability::DataBags, &format!("{bag}/{item}"), || false).map(GrantedName)
            }
            (Some(item), Verdict::Allowed(_)) => {
                let path = format!("{bag}/{item}");
                match self.list(Capability::DataBags).decide(Asked::Text(&path), || false) {
                    Verdict::Refused(_) => self.named(Capability::DataBags, &path, || false).map(GrantedName),
                    _ => self.named(Capability::DataBags, bag, || false).map(GrantedName),
                }
            }
            _ => self.named(Capability::DataBags, bag, || false).map(GrantedName),
        }
    }

    /// Checks whether the policy may search an index.
    ///
    /// # Errors
    /// Not granted.
    pub fn search(&self, index: &str) -> Result<GrantedName, Denied> {
        self.named(Capability::Search, index, || false).map(GrantedName)
    }

    /// Checks whether the policy may read a role.
    ///
    /// # Errors
    /// Not granted.
    pub fn role(&self, name: &str) -> Result<GrantedName, Denied> {
        self.named(Capability::Roles, name, || false).map(GrantedName)
    }

    /// Checks whether the policy may read a Chef environment.
    ///
    /// # Errors
    /// Not granted.
    pub fn chef_environment(&self, name: &str) -> Result<GrantedName, Denied> {
        self.named(Capability::Environments, name, || false).map(GrantedName)
    }

    /// Tells whether this is a survey, and a variable is one whose value is not a secret to any user of the machine.
    fn is_open_variable(&self, name: &str) -> bool {
        self.is_survey() && OPEN_VARIABLES.contains(&name)
    }

    /// Returns the host's environment variables that the policy may know. Hidden variables are not denials, because the
    /// policy did not ask for them.
    pub fn visible_environment(&self, all: impl IntoIterator<Item = (String, String)>) -> Vec<(String, String)> {
        let rules = self.list(Capability::Environment);
        let visible = |name: &str| {
            self.is_unlimited()
                || self.is_open_variable(name)
                || matches!(rules.decide(Asked::Text(name), || false), Verdict::Allowed(_))
        };
        all.into_iter().filter(|(name, _)| visible(name)).collect()
    }

    /// Records that the policy asked for a variable that the host has and that it may not know. Only a survey records this: in
    /// any other run such a variable is absent, which is not a denial.
    pub fn misses_variable(&self, name: &str) {
        if self.is_survey() {
            self.uses_variable(name);
        }
    }

    /// Records that the policy read such a variable.
    pub fn uses_variable(&self, name: &str) {
        self.uses(Capability::Environment.key(), Some(literal_entry(name)));
    }

    /// Records that the policy used a flag, such as the clock.
    pub fn uses_flag(&self, capability: Capability) {
        self.uses(capability.key(), Some("true".to_owned()));
    }
}

/// Returns the path of a user's name in a directory.
fn own_place(user: &GrantedUser, directory: &str) -> String {
    format!("{}/{}", directory.trim_end_matches('/'), user.name())
}
