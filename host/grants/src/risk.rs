//! Finds entries that allow more than they seem to. An operator should look at each of them before granting it.
//!
//! The lists of [`crate::privileged`] decide about risks, as they do for rules with wildcards.

mod comments;
mod harmless;
mod runners;
mod together;

pub(crate) use comments::comment;
pub use comments::risk_comments;
pub use together::open_together;

use crate::commands::{ANY, CommandGrant, GrantedLine, WordPattern};
use crate::denied::Capability;
use crate::edit::{Addition, new_among};
use crate::file::{GrantsError, command_of, rule_of};
use crate::pattern::{Asked, PathPattern, Pattern};
use crate::policy::{Grants, PolicyGrants};
use crate::privileged;
use crate::rules::{Rule, Verdict};
use crate::signs::only_text;
use harmless::is_harmless;
use runners::{changes_accounts, runs_others, starts_containers};
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

/// Accounts of a machine that are as powerful as root there, in addition to those that are so on every machine.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ElevatedAccounts {
    /// Login names of accounts that are as powerful as root.
    pub users: BTreeSet<String>,
    /// Names of groups whose members are as powerful as root.
    pub groups: BTreeSet<String>,
}

/// Returns the risky entries that a file of grants does not have yet, each with the reason. `all` has the grants of all
/// files, to know the commands and paths of other policies.
///
/// # Errors
/// As [`add`](crate::add).
pub fn risks<'a>(
    text: &str,
    name: &str,
    additions: &'a [Addition],
    all: &Grants,
    elevated: &ElevatedAccounts,
) -> Result<Vec<(&'a Addition, &'static str)>, GrantsError> {
    let (edited, new) = new_among(text, name, additions)?;
    let after = Grants::parse(&edited.text, name)?;
    let names: BTreeSet<&str> = all.policy_names().chain(after.policy_names()).collect();
    let tables = names.into_iter().map(|policy| {
        let grants = if after.file_of(policy).is_some() { &after } else { all };
        grants.policy(policy, &[])
    });
    let tables: Vec<Arc<PolicyGrants>> = tables.collect();
    let assessed = Assessed::of(&tables, elevated);
    let found = additions.iter().zip(new).filter(|(_, is_new)| *is_new);
    Ok(found.filter_map(|(addition, _)| Some((addition, assessed.risk(addition)?))).collect())
}

const NO_RIGHT: &str = "is not a right, and may take rights away: read it";
const UNREAD: &str = "is not understood: read it";
const MAY_CHANGE: &str = "runs as root with a file that the policy may change";
const MAY_DO_MORE: &str = "runs as root, and may do more than it says: read all of it";
const MANY: &str = "has a wildcard, and allows all that it matches: name what is meant";
const OTHER_MAY_CHANGE: &str = "runs as root with a file that another policy may change";

/// Maximum number of files that are compared with all rules of a policy. Further files count as allowed if any rule allows
/// them.
const MAX_DECIDED: usize = 2_000;

/// The grants of several policies, prepared for assessing entries one by one.
pub(crate) struct Assessed<'g> {
    policies: BTreeMap<&'g str, Policy<'g>>,
    elevated: &'g ElevatedAccounts,
}

/// The files that one policy may change, and the files that its privileged commands name.
struct Policy<'g> {
    grants: &'g PolicyGrants,
    exact: HashSet<String>,
    wide: Vec<&'g PathPattern>,
    decided: Cell<usize>,
    files: HashSet<String>,
}

impl<'g> Policy<'g> {
    fn of(grants: &'g PolicyGrants, elevated: &ElevatedAccounts) -> Self {
        let (mut exact, mut wide) = (HashSet::new(), vec![]);
        for rule in grants.list(Capability::Paths).iter().filter(|rule| rule.allow) {
            if let Pattern::Path(path) = &rule.pattern {
                match path.only_path() {
                    Some(path) => drop(exact.insert(path)),
                    None => wide.push(path),
                }
            }
        }
        let commands = grants.rules.commands.iter().filter(|command| has_rights(command, elevated));
        Self { grants, exact, wide, decided: Cell::new(0), files: commands.flat_map(files).collect() }
    }

    /// Tells whether the rules allow the policy to change the file.
    fn may_change(&self, path: &str) -> bool {
        if !self.exact.contains(path) && !self.wide.iter().any(|wide| wide.matches(path)) {
            return false;
        }
        self.decided.set(self.decided.get() + 1);
        let rules = self.grants.list(Capability::Paths);
        let asked = Asked::Path(path, &self.grants.homes);
        self.decided.get() > MAX_DECIDED
            || matches!(rules.decide(asked, || self.grants.is_privileged(path)), Verdict::Allowed(_))
    }

    /// Tells whether a path rule matches a file that a privileged command runs or reads.
    fn runs_what_matches(&self, rule: &PathPattern) -> bool {
        match rule.only_path() {
            Some(path) => self.files.contains(&path),
            None => self.files.iter().any(|path| rule.matches(path)),
        }
    }
}

impl<'g> Assessed<'g> {
    /// Reads the grants of policies, which already include the entries to assess.
    pub(crate) fn of(policies: &'g [Arc<PolicyGrants>], elevated: &'g ElevatedAccounts) -> Self {
        let policy = |grants: &'g Arc<PolicyGrants>| (grants.policy(), Policy::of(grants, elevated));
        Self { policies: policies.iter().map(policy).collect(), elevated }
    }

    /// Returns the reason why an entry is risky, as the rest of a sentence that begins with the entry. Returns `None` for any
    /// other entry.
    pub(crate) fn risk(&self, addition: &Addition) -> Option<&'static str> {
        let own = self.policies.get(addition.policy.as_str())?;
        if addition.key == Capability::Reboot.key() {
            return Some("lets the policy restart the machine, with all that runs on it");
        }
        if addition.key == Capability::Commands.key() {
            let Some(command) = command_of(&addition.value) else { return Some(UNREAD) };
            return self.risk_of_command(own, &command).or_else(|| allows_many(&command).then_some(MANY));
        }
        if Capability::FLAGS.iter().any(|flag| flag.key() == addition.key) {
            return None;
        }
        let Some(capability) = Capability::LISTS.into_iter().find(|one| one.key() == addition.key) else {
            return Some(NO_RIGHT);
        };
        let Some(rule) = rule_of(capability, &addition.value) else { return Some(UNREAD) };
        let is_wide = || !rule.pattern.is_exact() && !is_folder(&rule);
        self.risk_of_rule(own, capability, &rule, addition).or_else(|| is_wide().then_some(MANY))
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
                if own.runs_what_matches(path) {
                    return Some("is read or run by a command that the policy may have run as root");
                }
                let others = self.policies.values().filter(|one| one.grants.policy() != own.grants.policy());
                return others
                    .into_iter()
                    .any(|other| other.runs_what_matches(path))
                    .then_some("is read or run by a command that another policy may have run as root");
            }
            Capability::Mounts => {
                "mounts a file system: the policy reaches all that is in it, and it lies over what was at its place"
            }
            Capability::PrivilegedPaths => {
                "reaches paths that root or the system runs, reads as configuration or trusts: changing them can give full control of the machine"
            }
            Capability::ReadPaths if needs_its_name() => "is a secret: keys, passwords, or what leads to them",
            Capability::SetId => "lets the policy make programs that run with their owner's rights",
            Capability::Users | Capability::CronUsers | Capability::Groups if is_number(&addition.value) => {
                "is the number of an account, which may be root's or one that is as good as root"
            }
            Capability::Users | Capability::CronUsers if needs_its_name() || is_elevated(&self.elevated.users) => {
                "is root, or an account that is as good as root, or would be if it were made"
            }
            Capability::Groups if needs_its_name() || is_elevated(&self.elevated.groups) => {
                "is a group whose members can be as good as root"
            }
            Capability::PackageOptions => {
                "is an option for package tools, which run as root: options can name programs to run"
            }
            Capability::PackageEnvironment => {
                "is a variable for package tools, which run as root and hand it on to each package's scripts"
            }
            Capability::ReadAttributes if !rule.pattern.is_exact() => {
                "shows attributes of other policies, with the passwords that are in some"
            }
            Capability::Services | Capability::Packages if needs_its_name() => {
                "is wrun's own, or the whole machine depends on it: changing it can end the runs of all policies"
            }
            Capability::PackageSources => "is a package file: installing it runs its scripts as root",
            _ => return None,
        };
        Some(reason)
    }

    fn risk_of_command(&self, own: &Policy<'_>, command: &CommandGrant) -> Option<&'static str> {
        if !has_rights(command, self.elevated) {
            return None;
        }
        let is_open = |word: &WordPattern| matches!(word, WordPattern::Any | WordPattern::Rest);
        if command.environment.keys().any(|name| privileged::variable(name)) {
            return Some("runs as root with a variable that decides which code it loads");
        }
        if command.input {
            return Some("runs as root and reads what the policy gives it on standard input");
        }
        let others = || self.policies.values().filter(|one| one.grants.policy() != own.grants.policy());
        match &command.what {
            GrantedLine::AnyShell => Some("is any command as root"),
            GrantedLine::Shell(_) => Some("is a line that a shell runs as root: read all of it"),
            GrantedLine::Script { sha256: None, .. } => Some("is any script as root"),
            GrantedLine::Script { .. } => Some("is a script that runs as root: read all of it"),
            GrantedLine::PathSource(_) if files(command).any(|path| own.may_change(&path)) => Some(MAY_CHANGE),
            GrantedLine::PathSource(_) if files(command).any(|path| others().any(|other| other.may_change(&path))) => {
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
            GrantedLine::PathSource(_)
                if arguments(command).any(|path| privileged::path(&path) || privileged::secret(&path)) =>
            {
                Some(
                    "runs as root with a secret, or with a path that root or the system runs, reads as configuration or trusts",
                )
            }
            GrantedLine::PathSource(words) if words.iter().any(is_open) => {
                Some("runs as root with arguments of any kind")
            }
            GrantedLine::PathSource(words) if is_plain(command) && is_harmless(words) => None,
            GrantedLine::PathSource(_) => Some(MAY_DO_MORE),
        }
    }
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
fn has_rights(command: &CommandGrant, elevated: &ElevatedAccounts) -> bool {
    let is_plain = |name: &str| !name.starts_with(|first: char| first.is_ascii_digit() || first == '+' || first == '-');
    let user = command.user.as_deref();
    // The names from the administrators' files are in lower case, those of accounts unchanged.
    let is_one =
        |names: &BTreeSet<String>, name: &str| names.contains(name) || names.contains(&name.to_ascii_lowercase());
    let is_group = |name: &str| privileged::group(name) || is_one(&elevated.groups, name);
    let is_ordinary =
        |user: &str| is_plain(user) && !privileged::user(user) && !is_one(&elevated.users, user) && !is_group(user);
    let group = command.group.as_deref();
    !user.is_some_and(is_ordinary) || group.is_some_and(|group| !is_plain(group) || is_group(group))
}

/// Returns the paths that the words of a command name, normalized, each followed by the directories above it.
fn files(command: &CommandGrant) -> impl Iterator<Item = String> {
    let words = match &command.what {
        GrantedLine::PathSource(words) => words.as_slice(),
        _ => &[],
    };
    let base =
        command.cwd.as_ref().map_or_else(String::new, |cwd| cwd.only_path().unwrap_or_else(|| cwd.beginning().into()));
    let named = words.iter().filter_map(|word| match word {
        WordPattern::Word(word) => Some(word.as_str()),
        _ => None,
    });
    named.flat_map(|word| [Some(word), word.split_once('=').map(|(_, value)| value)]).flatten().flat_map(move |word| {
        let whole = if word.starts_with('/') { word.to_owned() } else { format!("{base}/{word}") };
        let mut path = String::new();
        let mut paths = Vec::new();
        for part in whole.split('/').filter(|part| !matches!(*part, "" | ".")) {
            if part == ".." {
                path.truncate(path.rfind('/').unwrap_or(0));
            } else {
                path = format!("{path}/{part}");
                paths.push(path.clone());
            }
        }
        paths
    })
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
mod tests {
    use super::*;

    fn assess(grants: &str, addition: &Addition) -> Option<&'static str> {
        let grants = Grants::parse(grants, "after").unwrap();
        let tables: Vec<_> = grants.policy_names().map(|name| grants.policy(name, &[])).collect();
        let elevated = ElevatedAccounts { users: ["ops".into()].into(), groups: ["admins".into()].into() };
        Assessed::of(&tables, &elevated).risk(addition)
    }

    #[track_caller]
    fn check(key: &str, value: &str, expect: Option<&str>) {
        let entry = if key == "reboot" { value.to_owned() } else { format!("[{value}]") };
        let after = format!("[policy.a]\npaths = [\"/srv/**\"]\n[policy.b]\n{key} = {entry}\n");
        let _is_an_entry = Grants::parse(&after, "after").unwrap();
        let addition = Addition { policy: "a".into(), key: key.into(), value: value.into() };
        let found = assess("[policy.a]\npaths = [\"/srv/**\"]\n", &addition);
        match expect {
            Some(part) => assert!(found.is_some_and(|reason| reason.contains(part)), "{key} {value}: {found:?}"),
            None => assert_eq!(found, None, "{key} {value}"),
        }
    }

    #[test]
    fn entries_that_open_a_lot_have_a_reason() {
        for (key, value, part) in [
            ("paths", "\"/etc/cron.d/x\"", "full control"),
            ("paths", "\"/root/.ssh/authorized_keys\"", "full control"),
            ("privileged_paths", "\"/srv/**\"", "full control"),
            ("read_paths", "\"/etc/shadow\"", "secret"),
            ("setuid", "\"/srv/x\"", "owner's rights"),
            ("read_attributes", "\"*\"", "other policies"),
            ("read_attributes", "\"?*\"", "other policies"),
            ("read_attributes", "\"**\"", "other policies"),
            ("packages", "\"*\"", "wildcard"),
            ("packages", "\"?*\"", "wildcard"),
            ("packages", "\"wrun\"", "wrun's own"),
            ("services", "\"*\"", "wildcard"),
            ("services", "\"wrun-agent\"", "wrun's own"),
            ("services", "\"wrun-converge.timer\"", "wrun's own"),
            ("services", "\"poweroff.target\"", "whole machine"),
            ("services", "\"systemd-reboot.service\"", "whole machine"),
            ("paths", "\"/srv/**\"", "wildcard"),
            ("paths", "\"/srv/a?c\"", "wildcard"),
            ("paths", "\"/*/**\"", "wildcard"),
            ("paths", "\"/srv/*/**\"", "wildcard"),
            ("paths", "\"/srv/app*/**\"", "wildcard"),
            ("paths", "\"/srv/app/*\"", "wildcard"),
            ("read_paths", "\"/**\"", "wildcard"),
            ("write_attributes", "\"*\"", "wildcard"),
            ("facts", "\"*\"", "wildcard"),
            ("data_bags", "\"*\"", "wildcard"),
            ("search", "\"*\"", "wildcard"),
            ("users", "\"a*\"", "wildcard"),
            ("groups", "\"web*\"", "wildcard"),
            ("environment", "\"*\"", "wildcard"),
            ("download_hosts", "\"https://*.example.org\"", "wildcard"),
            ("reboot", "true", "restart the machine"),
            ("commands", "{ argv = [\"a\", \"<any>\"], user = \"ada\" }", "wildcard"),
            ("commands", "{ argv = [\"a\", \"<path:/srv/*>\"], user = \"ada\" }", "wildcard"),
            ("commands", "{ shell = \"<any>\", user = \"ada\" }", "wildcard"),
            ("commands", "{ argv = [\"a\"], user = \"ada\", cwd = \"/srv/*\" }", "wildcard"),
            ("commands", "{ argv = [\"a\"], user = \"ada\", environment = { HELPER = \"<any>\" } }", "wildcard"),
            ("commands", "\"systemctl stop wrun-agent\"", "more than it says"),
            ("commands", "{ argv = [\"true\"], umask = \"000\" }", "more than it says"),
            ("commands", "{ argv = [\"true\"], cwd = \"/opt\" }", "more than it says"),
            (
                "commands",
                "{ argv = [\"systemd-tmpfiles\", \"--create\"], environment = { CREDENTIALS_DIRECTORY = \"/srv/app/c\" } }",
                "which code it loads",
            ),
            (
                "commands",
                "{ argv = [\"systemd-tmpfiles\", \"--create\"], environment = { UNHEARD_OF = \"/srv/app/c\" } }",
                "more than it says",
            ),
            (
                "commands",
                "{ argv = [\"postfix\", \"check\"], environment = { MAIL_CONFIG = \"<any>\" } }",
                "which code it loads",
            ),
            ("users", "\"root\"", "as good as root"),
            ("users", "\"ops\"", "as good as root"),
            ("users", "\"op*\"", "as good as root"),
            ("cron_users", "\"ops\"", "as good as root"),
            ("groups", "\"admins\"", "as good as root"),
            ("commands", "{ shell = \"a | b\", user = \"ops\" }", "shell"),
            ("commands", "{ shell = \"a | b\", user = \"ada\", group = \"admins\" }", "shell"),
            ("cron_users", "\"root\"", "as good as root"),
            ("groups", "\"docker\"", "as good as root"),
            ("package_options", "\"-o=x\"", "options"),
            ("package_environment", "\"PERL5LIB=/srv\"", "variable"),
            ("package_sources", "\"/srv/x.deb\"", "package file"),
            ("commands", "{ shell = \"<any>\" }", "any command as root"),
            ("commands", "\"a | b\"", "shell"),
            ("commands", "{ interpreter = [\"bash\"], script = \"a\" }", "script"),
            ("commands", "{ interpreter = [\"bash\"], script = \"<any>\" }", "is any script as root"),
            ("commands", "{ argv = [\"sh\"], input = true }", "standard input"),
            ("commands", "{ argv = [\"mysql\", \"<rest>\"] }", "any kind"),
            ("commands", "{ argv = [\"a\"], environment = { LD_PRELOAD = \"/x\" } }", "which code it loads"),
            ("commands", "\"/srv/app/run --now\"", "may change"),
            ("commands", "\"/etc/../srv/app/run\"", "may change"),
            ("commands", "\"//srv/run\"", "may change"),
            ("commands", "\"/opt/run --config=/srv/a\"", "may change"),
            ("commands", "{ argv = [\"./run\"], cwd = \"/srv/a\" }", "may change"),
            ("commands", "{ argv = [\"bash\", \"-c\", \"id\"] }", "another program"),
            ("commands", "{ argv = [\"/usr/bin/python3.11\", \"-c\", \"x\"] }", "another program"),
            ("commands", "\"env A=b id\"", "another program"),
            ("commands", "\"useradd -o -u 0 toor\"", "changes accounts"),
            ("commands", "\"/usr/sbin/usermod -aG sudo deploy\"", "changes accounts"),
            ("commands", "\"docker run -v /:/h x\"", "containers"),
            ("commands", "\"capsh --\"", "another program"),
            ("commands", "\"cat /etc/shadow\"", "secret"),
            ("commands", "\"truncate -s 0 /etc//shadow\"", "secret"),
            ("commands", "\"tee /etc/sudoers.d/x\"", "trusts"),
            ("commands", "\"curl -o /etc/cron.d/x http://h/x\"", "trusts"),
            ("commands", "{ shell = \"a | b\", user = \"0\" }", "shell"),
            ("commands", "{ shell = \"a | b\", user = \"daemon\" }", "shell"),
            ("commands", "{ shell = \"a | b\", user = \"ada\", group = \"shadow\" }", "shell"),
            ("commands", "{ argv = [\"a\"], environment = { _JAVA_OPTIONS = \"x\" } }", "which code it loads"),
            ("mounts", "\"/etc on /srv/e type none (bind)\"", "mounts a file system"),
            ("mounts", "\"/dev/sda1 on /srv/e type ext4 (ro)\"", "mounts a file system"),
            ("mounts", "\"server:/x on /usr/bin type nfs (ro)\"", "mounts a file system"),
            ("users", "\"0\"", "number of an account"),
            ("groups", "\"0\"", "number of an account"),
            ("cron_users", "\"0\"", "number of an account"),
            ("commands", "\"python3 /srv/app/run.py\"", "may change"),
        ] {
            check(key, value, Some(part));
        }
    }

    #[test]
    fn a_path_that_a_granted_command_runs_has_a_reason() {
        for (policy, part) in [("a", "that the policy may have run"), ("b", "that another policy may have run")] {
            let grants = "[policy.a]\ncommands = [\"/opt/a/run\"]\n[policy.b]\n";
            for (value, expect) in
                [("\"/opt/a/run\"", true), ("\"/opt/a\"", true), ("\"/opt/a/*\"", true), ("\"/opt/b\"", false)]
            {
                let addition = Addition { policy: policy.into(), key: "paths".into(), value: value.into() };
                let found = assess(grants, &addition);
                assert_eq!(found.is_some_and(|reason| reason.contains(part)), expect, "{policy} {value}: {found:?}");
            }
        }
    }

    #[test]
    fn a_command_whose_file_another_policy_may_change_has_a_reason() {
        let grants = "[policy.a]\n[policy.b]\npaths = [\"/srv/b/**\", \"/srv/c\"]\ndeny_paths = [\"/srv/b/kept\"]\n";
        for (value, expect) in [
            ("\"/srv/b/run\"", Some(OTHER_MAY_CHANGE)),
            ("\"/srv/c\"", Some(OTHER_MAY_CHANGE)),
            ("\"/srv/d\"", Some(MAY_DO_MORE)),
        ] {
            let addition = Addition { policy: "a".into(), key: "commands".into(), value: value.into() };
            assert_eq!(assess(grants, &addition), expect, "{value}");
        }
    }

    #[test]
    fn entries_are_assessed_once_however_many_there_are() {
        let entry = |number: usize| Addition {
            policy: "a".into(),
            key: "users".into(),
            value: if number.is_multiple_of(2) { "\"root\"".into() } else { format!("\"u{number}\"") },
        };
        let additions: Vec<_> = (0..100).map(entry).collect();
        let found = risks("", "g", &additions, &Grants::nothing(), &ElevatedAccounts::default()).unwrap();
        assert_eq!(found.len(), 1, "an entry that is there already is told once: {found:?}");
    }

    #[test]
    fn comments_fit_a_terminal_and_tell_each_reason_once() {
        let reason = "is a path that root or the system runs, reads as configuration or trusts: changing it is bad";
        let found = [("\"/etc/a\"", reason), ("\"root\"", "is root"), ("\"/etc/b\"", reason), ("\"/etc/c\"", reason)];
        let expect = [
            "# Opens a lot: \"/etc/a\" is a path that root or the system runs, reads as",
            "# configuration or trusts: changing it is bad.",
            "# Opens a lot, for the same reason: \"/etc/b\", \"/etc/c\".",
            "# Opens a lot: \"root\" is root.",
        ];
        assert_eq!(risk_comments(found), expect);
    }

    #[test]
    fn comments_are_whole_sentences_however_long_their_entries_are() {
        let script = format!("{{ interpreter = [\"bash\"], script_sha256 = \"{}\" }}", "0123456789abcdef".repeat(4));
        let long = format!("\"set -e; {}\"", "echo one; ".repeat(40));
        let found = [(script.as_str(), "is a script"), (long.as_str(), "is a line")];
        let lines = risk_comments(found);
        let words: Vec<_> = lines.iter().map(|line| line.strip_prefix("# ").unwrap()).collect();
        let begins = "\"set -e; echo one; echo one; echo one; echo one; echo one;";
        let expect =
            format!("Opens a lot: {script} is a script. Opens a lot: the entry that begins with `{begins}` is a line.");
        assert_eq!(words.join(" "), expect);
        assert!(lines.iter().all(|line| line.chars().count() <= 76), "{lines:?}");
    }

    #[test]
    fn attack_what_is_not_a_right_is_not_ordinary() {
        for key in ["deny_paths", "deny_commands", "limits"] {
            let addition = Addition { policy: "a".into(), key: key.into(), value: "\"/srv/x\"".into() };
            assert_eq!(assess("[policy.a]\n", &addition), Some(NO_RIGHT), "{key}");
        }
    }

    #[test]
    fn ordinary_entries_have_none() {
        for (key, value) in [
            ("paths", "\"/srv/x\""),
            ("paths", "\"/etc/motd\""),
            ("read_paths", "\"/etc/mysql/my.cnf\""),
            ("packages", "\"nginx\""),
            ("services", "\"nginx\""),
            ("users", "\"ada\""),
            ("groups", "\"web\""),
            ("commands", "\"systemctl daemon-reload\""),
            ("commands", "{ shell = \"a | b\", user = \"ada\" }"),
            ("download_hosts", "\"https://example.org\""),
            ("paths", "\"/srv/[*]x\""),
            ("paths", "\"/srv/app/**\""),
            ("read_paths", "\"/srv/[*]x/**\""),
            ("read_attributes", "\"nginx.port\""),
            ("services", "\"wrunner\""),
            ("commands", "{ argv = [\"a\"], user = \"ada\", environment = { RAILS_ENV = \"<any>\" } }"),
            ("commands", "{ argv = [\"a\", \"<is:<any>>\"], user = \"ada\" }"),
        ] {
            check(key, value, None);
        }
    }
}
