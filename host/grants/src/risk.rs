//! Finds entries that allow more than they seem to. An operator should look at each of them before granting it.
//!
//! The lists of [`crate::privileged`] decide about risks, as they do for rules with wildcards.

mod comments;
mod harmless;
mod machine_view;
mod named;
mod others;
mod own_files;
mod reason;
mod run_by_root;
mod runners;
mod together;
mod unasked;

pub(crate) use comments::comment;
pub use comments::risk_comments;
pub use machine_view::{AtPath, MachineQueries, MachineView};
pub use named::{FirstLink, places};
pub use reason::{Reason, RiskClass};
pub use unasked::in_question;

use crate::commands::{ANY, CommandGrant, GrantedLine, WordPattern};
use crate::denied::Capability;
use crate::edit::{Addition, new_among};
use crate::file::{GrantsError, command_of, rule_of};
use crate::pattern::{PathPattern, Pattern};
use crate::policy::{Grants, PolicyGrants};
use crate::privileged::{self, is_within};
use crate::rules::Rule;
use crate::signs::only_text;
use harmless::{acts_on_guarded_service, asks_without_reading, is_harmless};
use named::NamedPaths;
use own_files::{Files, Owner, Policy, account_of, names, read_from_policy, runs_as};
use run_by_root::RunByRoot;
use runners::{changes_accounts, runs_others, starts_containers};
use std::cell::{LazyCell, OnceCell};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use together::{configures, is_configuration, runs_as_root, starts_as_root};

/// Returns the risky entries that a file of grants does not have yet, each with the reason. `all` has the grants of all
/// files, to know the commands and paths of other policies. Also risky are entries that open a lot together: new configuration
/// of a policy with services or commands as root, and new ones of these for a policy that has configuration.
///
/// # Errors
/// As [`add`](crate::add).
pub fn risks<'a>(
    text: &str,
    name: &str,
    additions: &'a [Addition],
    all: &Grants,
    machine: &MachineView,
) -> Result<Vec<(&'a Addition, Reason)>, GrantsError> {
    let (edited, new) = new_among(text, name, additions)?;
    let (before, after) = (Grants::parse(text, name)?, Grants::parse(&edited.text, name)?);
    let tables = tables_of(&after, all);
    let mut assessed = Assessed::of(&tables, machine);
    assessed.knows_before(&before, additions);
    let new: Vec<_> = additions.iter().zip(new).filter(|(_, is_new)| *is_new).map(|(addition, _)| addition).collect();
    assessed.knows_new(&new);
    Ok(new.into_iter().filter_map(|addition| Some((addition, assessed.risk(addition)?))).collect())
}

/// Returns the grants of each policy once: those of the file, else those of `all` files.
fn tables_of(file: &Grants, all: &Grants) -> Vec<Arc<PolicyGrants>> {
    let names: BTreeSet<&str> = all.policy_names().chain(file.policy_names()).collect();
    let tables = names.into_iter().map(|policy| {
        let grants = if file.file_of(policy).is_some() { file } else { all };
        grants.policy(policy, &[])
    });
    tables.collect()
}

const NO_RIGHT: &str = "is not a right, and may take rights away: read it";
const UNREAD: &str = "is not understood: read it";
const UNKNOWN: &str = "runs as root, and wrun does not know what it does: read all of it";
const MANY: &str = "has a wildcard, and allows all that it matches: name what is meant";
const LENT: &str = "is read or run by a command that the policy may have run as an account that it does not make";
const TOO_MANY: &str = "names more paths than wrun looks at, or paths with too many parts: read all of it";
const ANOTHERS_PATH: &str =
    "covers a path that another policy's table names: this policy could change or remove what that one manages";
const EXISTS: &str =
    "is an account or group of this machine already: this policy could do what it may, and reach its files";
const IN_A_HOME: &str =
    "is in the home of somebody whom this policy does not make: their programs run or read files there";
const RUNS_MORE: &str =
    "may be run or read as root: this machine has more jobs, units and scripts of root than wrun reads";
const OTHER_MAY_CHANGE: &str = "runs as root with a file that another policy may change";

/// The grants of several policies, prepared for assessing entries one by one.
pub(crate) struct Assessed<'g> {
    policies: BTreeMap<&'g str, Policy<'g>>,
    machine: &'g MachineView,
    /// The policies that could change configuration before the entries to assess.
    configuring: BTreeSet<String>,
    /// By policy, the paths without wildcards among the entries to assess. `None` if it is not known which entries are new.
    new_paths: Option<BTreeMap<String, BTreeSet<String>>>,
    /// By policy, the files of commands that ran as an account of somebody else before the entries to assess.
    lent: BTreeMap<String, Files>,
    /// The places that root runs by itself. Few entries need them.
    run_by_root: OnceCell<RunByRoot<'g>>,
}

impl<'g> Assessed<'g> {
    /// Reads the grants of policies, which already include the entries to assess.
    pub(crate) fn of(policies: &'g [Arc<PolicyGrants>], machine: &'g MachineView) -> Self {
        let policy = |grants: &'g Arc<PolicyGrants>| (grants.policy(), Policy::of(grants, machine));
        let policies = policies.iter().map(policy).collect();
        Self {
            policies,
            machine,
            configuring: BTreeSet::new(),
            new_paths: None,
            lent: BTreeMap::new(),
            run_by_root: OnceCell::new(),
        }
    }

    /// Takes the grants without the entries to assess.
    fn knows_before(&mut self, before: &Grants, additions: &[Addition]) {
        let gets_more = |name: &str| additions.iter().any(|addition| addition.policy == name);
        for (name, policy) in self.policies.iter_mut().filter(|(name, _)| gets_more(name)) {
            let table = before.policy(name, &[]);
            policy.makes_none_that_exist(self.machine, |capability| names(&table, capability));
        }
        for name in before.policy_names() {
            let grants = before.policy(name, &[]);
            if configures(&grants) {
                self.configuring.insert(name.to_owned());
            }
            let Some(own) = self.policies.get(name) else { continue };
            let lent = grants.rules.commands.iter().filter(|command| {
                !has_rights(command, self.machine) && self.owner_of_account(own, command) != Owner::Policy
            });
            self.lent.insert(name.to_owned(), Files::of(lent, &self.machine.links));
        }
    }

    /// Takes the entries to assess. Where two policies get the same path at once, neither has it from the other.
    fn knows_new(&mut self, additions: &[&Addition]) {
        let mut new: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for addition in additions.iter().filter(|addition| addition.key == Capability::Paths.key()) {
            let rule = rule_of(Capability::Paths, &addition.value);
            if let Some(Rule { pattern: Pattern::Path(path), .. }) = rule
                && let Some(path) = path.only_path()
            {
                new.entry(addition.policy.clone()).or_default().insert(path);
            }
        }
        self.new_paths = Some(new);
    }

    /// Returns the reason why an entry is risky, as the rest of a sentence that begins with the entry. Returns `None` for any
    /// other entry.
    pub(crate) fn risk(&self, addition: &Addition) -> Option<Reason> {
        let own = self.policies.get(addition.policy.as_str())?;
        self.risk_alone(own, addition).or_else(|| self.risk_together(own, addition).map(Reason::from))
    }

    /// Returns the reason why an entry opens a lot together with others of its policy.
    fn risk_together(&self, own: &Policy<'_>, addition: &Addition) -> Option<&'static str> {
        if is_configuration(addition) {
            return runs_as_root(own.grants, self.machine).then_some(together::CONFIGURES);
        }
        let is_configuring = self.configuring.contains(addition.policy.as_str());
        (is_configuring && starts_as_root(addition, self.machine)).then_some(together::RUNS)
    }

    /// Returns the reason why an entry is risky by itself.
    fn risk_alone(&self, own: &Policy<'_>, addition: &Addition) -> Option<Reason> {
        if addition.key == Capability::Reboot.key() {
            return Some("lets the policy restart the machine, with all that runs on it".into());
        }
        if addition.key == Capability::Commands.key() {
            let Some(command) = command_of(&addition.value) else { return Some(UNREAD.into()) };
            return self.risk_of_command(own, &command).or_else(|| allows_many(&command).then_some(MANY.into()));
        }
        if Capability::FLAGS.iter().any(|flag| flag.key() == addition.key) {
            return None;
        }
        let Some(capability) = Capability::LISTS.into_iter().find(|one| one.key() == addition.key) else {
            return Some(NO_RIGHT.into());
        };
        let Some(rule) = rule_of(capability, &addition.value) else { return Some(UNREAD.into()) };
        let is_wide = || !rule.pattern.is_exact() && !is_folder(&rule);
        let reason = self.risk_of_rule(own, capability, &rule, addition).map(Reason::from);
        reason.or_else(|| is_wide().then(|| MANY.into())).or_else(|| self.risk_of_running(capability, &rule))
    }

    /// Returns the reason why a path is risky: root runs it by itself.
    fn risk_of_running(&self, capability: Capability, rule: &Rule) -> Option<Reason> {
        let (Capability::Paths, Pattern::Path(path)) = (capability, &rule.pattern) else { return None };
        match self.run_by_root.get_or_init(|| RunByRoot::of(self.machine)).named_by(path) {
            Some(by) => Some(format!("is run or read as root, as `{}` of this machine says", reason::shown(by)).into()),
            None => self.machine.runs_more_by_root.then(|| RUNS_MORE.into()),
        }
    }

    /// Returns the reason why a rule is risky, apart from its wildcards.
    fn risk_of_rule(
        &self,
        own: &Policy<'_>,
        capability: Capability,
        rule: &Rule,
        addition: &Addition,
    ) -> Option<&'static str> {
        let needs_its_name = || {
            let list = if capability == Capability::PrivilegedPaths { Capability::Paths } else { capability };
            own.grants.needs_its_name(list, rule)
        };
        let is_elevated = |names: &BTreeSet<String>| {
            let Pattern::Name(name) = &rule.pattern else { return false };
            match name.only_name() {
                Some(name) => names.contains(&name),
                None => names.iter().any(|elevated| name.matches(elevated)),
            }
        };
        let reason = match capability {
            Capability::Paths if needs_its_name() => {
                "is a path that root or the system runs, reads as configuration or trusts: changing it can give full control of the machine"
            }
            Capability::Paths => {
                let Pattern::Path(path) = &rule.pattern else { return None };
                if self.is_of_administrators(path) {
                    return Some("decides who is as good as root, or is run when somebody logs in");
                }
                if own.files.has_what_matches(path) {
                    return Some("is read or run by a command that the policy may have run as root");
                }
                if self.lent.get(own.grants.policy()).is_some_and(|files| files.has_what_matches(path)) {
                    return Some(LENT);
                }
                if self.others(own).any(|other| other.files_of_all.has_what_matches(path)) {
                    return Some("is read or run by a command of another policy");
                }
                if self.is_anothers_path(own, path) {
                    return Some(ANOTHERS_PATH);
                }
                return self.is_in_a_home(own, path).then_some(IN_A_HOME);
            }
            Capability::Mounts => {
                "mounts a file system: the policy reaches all that is in it, and it lies over what was at its place"
            }
            Capability::PrivilegedPaths => {
                "reaches paths that root or the system runs, reads as configuration or trusts: changing them can give full control of the machine"
            }
            Capability::ReadPaths if needs_its_name() => "is a secret: keys, passwords, or what leads to them",
            Capability::ReadPaths => {
                let Pattern::Path(path) = &rule.pattern else { return None };
                if self.reads_what_is_anothers(own, path) {
                    return Some(
                        "is a path that another policy's table names: this policy would read what that one keeps there",
                    );
                }
                return self.reads_what_is_private(own, path).then_some("is not for everybody to read on this machine");
            }
            Capability::SetId => "lets the policy make programs that run with their owner's rights",
            Capability::Users | Capability::CronUsers | Capability::Groups if is_number(&addition.value) => {
                "is the number of an account, which may be root's or one that is as good as root"
            }
            Capability::Users | Capability::CronUsers if needs_its_name() || is_elevated(&self.machine.users) => {
                "is root, or an account that is as good as root, or would be if it were made"
            }
            Capability::Groups if needs_its_name() || is_elevated(&self.machine.groups) => {
                "is a group whose members can be as good as root"
            }
            Capability::Users | Capability::CronUsers | Capability::Groups if self.is_anothers_account(own, rule) => {
                "is an account or group that another policy names: this policy could do what that account may"
            }
            Capability::Users | Capability::CronUsers
                if is_exactly(rule, |name| self.machine.queries.has_user(name)) =>
            {
                EXISTS
            }
            Capability::Groups if is_exactly(rule, |name| self.machine.queries.has_group(name)) => EXISTS,
            Capability::CronUsers if !own.makes(rule) => {
                "is an account that the policy does not make: its jobs may do all that this account may"
            }
            Capability::DataBags | Capability::Search | Capability::Roles | Capability::Environments
                if rule.pattern.is_exact() =>
            {
                "shows data that all policies share, with the passwords that are in some"
            }
            Capability::KernelModules => {
                "is code that the kernel runs when the machine starts, with options of the policy: a module can do anything"
            }
            Capability::PackageOptions => {
                "is an option for package tools, which run as root: options can name programs to run"
            }
            Capability::PackageEnvironment => {
                "is a variable for package tools, which run as root and hand it on to each package's scripts"
            }
            Capability::ReadAttributes => {
                "shows what other policies have left there and below, with the passwords that are in some"
            }
            Capability::WriteAttributes => "replaces what other policies read there and below",
            Capability::Environment if is_secret_variable(rule) => {
                "is a variable whose name is that of a secret: the policy reads its value"
            }
            Capability::Services | Capability::Packages if needs_its_name() => {
                "is wrun's own, or the whole machine depends on it: changing it can end the runs of all policies"
            }
            Capability::Services if is_exactly(rule, privileged::keeps_machine_reachable) => {
                "keeps the machine reachable: without it, nobody may be able to log in, or to run wrun, from elsewhere"
            }
            Capability::Services | Capability::Packages if self.is_anothers(own, capability, rule) => {
                "is a service or package that another policy's table names: this policy could stop or remove it"
            }
            Capability::PackageSources => "is a package file: installing it runs its scripts as root",
            Capability::DownloadHosts if needs_its_name() => {
                "is this machine itself or a service of its closest surroundings: such services may give passwords and credentials to whoever asks"
            }
            _ => return None,
        };
        Some(reason)
    }

    /// Tells whether a path rule without wildcards matches a place of the administrators, or lies above or below one. A rule
    /// with wildcards does not reach them.
    fn is_of_administrators(&self, rule: &PathPattern) -> bool {
        let places = || self.machine.places.iter();
        let meets = |path: &str| places().any(|place| is_within(path, place) || is_within(place, path));
        rule.only_path().is_some_and(|path| meets(&path))
    }

    fn risk_of_command(&self, own: &Policy<'_>, command: &CommandGrant) -> Option<Reason> {
        if !has_rights(command, self.machine) {
            return self.risk_of_account(own, command);
        }
        let is_open = |word: &WordPattern| matches!(word, WordPattern::Any | WordPattern::Rest);
        if command.environment.keys().any(|name| privileged::variable(name)) {
            return Some("runs as root with a variable that decides which code it loads".into());
        }
        if command.input {
            return Some("runs as root and reads what the policy gives it on standard input".into());
        }
        let named = LazyCell::new(|| NamedPaths::of(command, &self.machine.links));
        let reason = match &command.what {
            GrantedLine::AnyShell => Some("is any command as root"),
            GrantedLine::Shell(_) => Some("is a line that a shell runs as root: read all of it"),
            GrantedLine::Script { sha256: None, .. } => Some("is any script as root"),
            GrantedLine::Script { .. } => Some("is a script that runs as root: read all of it"),
            GrantedLine::PathSource(words) if is_plain(command) && asks_without_reading(words) => self
                .is_in_anothers_folder(own, &named)
                .then_some("tells as root what is in a folder that another policy's table names"),
            GrantedLine::PathSource(_) if let Some(changed) = own.changed_by_itself(&named) => {
                return Some(changed.reason(&account_of(command), Owner::Policy));
            }
            GrantedLine::PathSource(_) if named.is_cut => Some(TOO_MANY),
            GrantedLine::PathSource(_) if self.others(own).any(|other| other.changed_by_itself(&named).is_some()) => {
                Some(OTHER_MAY_CHANGE)
            }
            GrantedLine::PathSource(words) if runs_others(words) => {
                Some("runs code or another program as root: read all of it")
            }
            GrantedLine::PathSource(words) if changes_accounts(words) => {
                Some("changes accounts as root, and can make one that is as good as root")
            }
            GrantedLine::PathSource(words) if starts_containers(words) => {
                Some("starts containers as root, which can reach all of the machine")
            }
            GrantedLine::PathSource(words) if self.acts_on_anothers_service(own, words) => {
                Some("acts as root on a service that another policy's table names")
            }
            GrantedLine::PathSource(words) if is_plain(command) && is_harmless(words) => None,
            GrantedLine::PathSource(words) if acts_on_guarded_service(words) => {
                Some("acts as root on a service that is wrun's own, or that the whole machine depends on")
            }
            GrantedLine::PathSource(_) if let Some(reason) = risk_of_path(command) => return Some(reason),
            GrantedLine::PathSource(words) if words.iter().any(is_open) => {
                Some("runs as root with arguments of any kind")
            }
            GrantedLine::PathSource(_) => return Some(Reason::unknown(UNKNOWN)),
        };
        reason.map(Reason::from)
    }

    /// Returns the reason why a command of an ordinary account is risky: the policy decides what it does, and so may do all that
    /// this account may. Returns `None` for an account that the policy itself makes.
    fn risk_of_account(&self, own: &Policy<'_>, command: &CommandGrant) -> Option<Reason> {
        let owner = self.owner_of_account(own, command);
        let only_looks = matches!(&command.what, GrantedLine::PathSource(words) if asks_without_reading(words));
        // The wildcards of a command are a reason of their own.
        if owner == Owner::Policy || (only_looks && command.environment.is_empty()) || allows_many(command) {
            return None;
        }
        let account = account_of(command);
        if command.input {
            return Some(read_from_policy(&account, owner));
        }
        let named = NamedPaths::of(command, &self.machine.links);
        if let Some(changed) = own.changed_by_itself(&named) {
            return Some(changed.reason(&account, owner));
        }
        if named.is_cut {
            return Some(TOO_MANY.into());
        }
        let what = match &command.what {
            GrantedLine::AnyShell | GrantedLine::Shell(_) => "is a line that a shell runs",
            GrantedLine::Script { .. } => "is a script that runs",
            GrantedLine::PathSource(words) if runs_others(words) => "runs code or another program",
            GrantedLine::PathSource(words) if is_plain(command) && is_harmless(words) => return None,
            GrantedLine::PathSource(_) => {
                let reason = runs_as(&account, owner, "is a command that wrun does not know, and runs");
                return Some(Reason { class: RiskClass::Unknown, ..reason });
            }
        };
        Some(runs_as(&account, owner, what))
    }
}

/// Tells whether a rule for one name has a name of some kind.
fn is_exactly(rule: &Rule, is_one: impl Fn(&str) -> bool) -> bool {
    matches!(&rule.pattern, Pattern::Name(name) if name.only_name().is_some_and(|name| is_one(&name)))
}

/// Tells whether a rule names a variable that may have a secret.
fn is_secret_variable(rule: &Rule) -> bool {
    privileged::may_be_secret(only_text(&rule.text).as_deref().unwrap_or(&rule.text), "")
}

/// Returns the reason why a command is risky because of a path that its arguments name.
fn risk_of_path(command: &CommandGrant) -> Option<Reason> {
    let secret = arguments(command).find(|path| privileged::secret(path));
    let path = secret.clone().or_else(|| arguments(command).find(|path| privileged::path(path)))?;
    let why = match secret {
        Some(path) if privileged::lies_below(&path) => {
            ", a secret that root or the system reads as configuration or trusts"
        }
        Some(_) => ", a secret",
        None => ", where root or the system runs, reads as configuration or trusts what it finds",
    };
    Some(format!("runs as root with `{}`{why}", reason::shown(&path)).into())
}

/// Tells whether only the words of a command decide its effect. Any variable may change it: programs read files, options and
/// folders from variables that no list knows.
fn is_plain(command: &CommandGrant) -> bool {
    let CommandGrant { what: _, user: _, group, cwd, umask, environment, input, text: _, line: _ } = command;
    group.is_none() && cwd.is_none() && umask.is_none() && environment.is_empty() && !input
}

/// Tells whether a rule is for one folder with its whole content, as wrun suggests it for changing or reading a whole folder.
/// A folder directly below the root directory does not count, because many applications share it.
fn is_folder(rule: &Rule) -> bool {
    let folder = rule.text.strip_suffix("/**").and_then(only_text);
    let is_deep = |folder: &String| folder.split('/').filter(|part| !part.is_empty()).count() > 1;
    matches!(rule.pattern, Pattern::Path(_)) && folder.is_some_and(|folder| is_deep(&folder))
}

/// Tells whether a command rule allows more than one command.
fn allows_many(command: &CommandGrant) -> bool {
    let is_open = |word: &WordPattern| match word {
        WordPattern::Word(_) => false,
        WordPattern::Any | WordPattern::Rest => true,
        WordPattern::Path(pattern) => !pattern.is_exact(),
    };
    let is_any = |(name, value): (&String, &String)| value == ANY && !privileged::is_plain_variable(name);
    let line_is_open = match &command.what {
        GrantedLine::PathSource(words) => words.iter().any(is_open),
        GrantedLine::Shell(_) | GrantedLine::Script { sha256: Some(_), .. } => false,
        GrantedLine::AnyShell | GrantedLine::Script { sha256: None, .. } => true,
    };
    line_is_open || command.cwd.as_ref().is_some_and(|cwd| !cwd.is_exact()) || command.environment.iter().any(is_any)
}

/// Tells whether a command may have more rights than an ordinary account. A numeric id may belong to any account.
fn has_rights(command: &CommandGrant, machine: &MachineView) -> bool {
    let is_plain = |name: &str| !name.starts_with(|first: char| first.is_ascii_digit() || first == '+' || first == '-');
    let user = command.user.as_deref();
    // The names from the administrators' files are in lower case, those of accounts unchanged.
    let is_one =
        |names: &BTreeSet<String>, name: &str| names.contains(name) || names.contains(&name.to_ascii_lowercase());
    let is_group = |name: &str| privileged::group(name) || is_one(&machine.groups, name);
    let is_ordinary =
        |user: &str| is_plain(user) && !privileged::user(user) && !is_one(&machine.users, user) && !is_group(user);
    let group = command.group.as_deref();
    !user.is_some_and(is_ordinary) || group.is_some_and(|group| !is_plain(group) || is_group(group))
}

/// Returns the paths that the arguments of a command name, normalized.
fn arguments(command: &CommandGrant) -> impl Iterator<Item = String> {
    let words = match &command.what {
        GrantedLine::PathSource(words) => words.get(1..).unwrap_or_default(),
        _ => &[],
    };
    let named = words.iter().filter_map(|word| match word {
        WordPattern::Word(word) => Some(word.as_str()),
        _ => None,
    });
    // Options and volumes contain paths after their own characters: `--config=/a`, `-v/a:/b`.
    named
        .flat_map(|word| word.split(['=', ':', ',']))
        .filter_map(|part| Some(part.get(part.find('/')?..)?.to_owned()))
        .map(|path| {
            let parts: Vec<_> = path.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
            format!("/{}", parts.join("/"))
        })
}

/// Tells whether an entry is the numeric id of an account instead of its name.
fn is_number(value: &str) -> bool {
    let name = value.trim_matches(['"', '\'']);
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests;
