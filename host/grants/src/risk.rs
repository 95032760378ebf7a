//! Entries that open more than they say: an operator should look at them one by one before granting them.
//!
//! The lists of [`crate::privileged`] decide what counts, as they do for rules with wildcards.

use crate::commands::{CommandGrant, GrantedLine, WordPattern};
use crate::denied::Capability;
use crate::edit::{Addition, add};
use crate::file::{GrantsError, command_of, rule_of};
use crate::pattern::{Asked, Pattern};
use crate::policy::{Grants, PolicyGrants};
use crate::privileged;
use crate::rules::Verdict;

/// Returns those of the entries that open a lot and that a file of grants does not have yet, each with the reason.
///
/// # Errors
/// As [`add`].
pub fn risks<'a>(
    text: &str,
    name: &str,
    additions: &'a [Addition],
) -> Result<Vec<(&'a Addition, &'static str)>, GrantsError> {
    let after = Grants::parse(&add(text, name, additions)?.text, name)?;
    let mut found = Vec::new();
    for addition in additions {
        if let Some(reason) = after.policy(&addition.policy, &[]).risk(addition)
            && add(text, name, std::slice::from_ref(addition))?.text != text
        {
            found.push((addition, reason));
        }
    }
    Ok(found)
}

/// Programs that run code or another program that their arguments name. Versions and `-` with more may follow the name.
const RUNNERS: [&str; 53] = [
    "sh",
    "ash",
    "bash",
    "csh",
    "dash",
    "fish",
    "ksh",
    "mksh",
    "rbash",
    "tcsh",
    "zsh",
    "busybox",
    "toybox",
    "env",
    "sudo",
    "su",
    "doas",
    "pkexec",
    "runuser",
    "setpriv",
    "nsenter",
    "unshare",
    "chroot",
    "systemd-run",
    "start-stop-daemon",
    "find",
    "xargs",
    "parallel",
    "nohup",
    "nice",
    "ionice",
    "timeout",
    "setsid",
    "stdbuf",
    "flock",
    "script",
    "watch",
    "strace",
    "gdb",
    "expect",
    "python",
    "perl",
    "ruby",
    "php",
    "node",
    "lua",
    "tclsh",
    "awk",
    "gawk",
    "mawk",
    "make",
    "ssh",
    "socat",
];

const MAY_CHANGE: &str = "runs as root with a file that the policy may change";

impl PolicyGrants {
    /// The reason why an entry opens a lot, as the rest of a sentence that begins with the entry; `None` for any other entry.
    ///
    /// `self` are the grants with the entry in them: a command is held against the paths that the policy may change.
    pub(crate) fn risk(&self, addition: &Addition) -> Option<&'static str> {
        if addition.key == Capability::Commands.key() {
            return self.risk_of_command(&command_of(&addition.value)?);
        }
        let capability = Capability::LISTS.into_iter().find(|one| one.key() == addition.key)?;
        let needs_its_name = || {
            let list = if capability == Capability::PrivilegedPaths { Capability::Paths } else { capability };
            rule_of(capability, &addition.value).is_some_and(|rule| self.needs_its_name(list, &rule))
        };
        let reason = match capability {
            Capability::Paths if needs_its_name() => {
                "is a path that root or the system runs, reads as configuration or trusts: changing it can give full control of the machine"
            }
            Capability::Paths if self.meets_a_command(&rule_of(capability, &addition.value)?.pattern) => {
                "is read or run by a command that the policy may have run as root"
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
            Capability::Users | Capability::CronUsers if needs_its_name() => {
                "is root, or an account that is as good as root"
            }
            Capability::Groups if needs_its_name() => "is a group whose members can be as good as root",
            Capability::PackageOptions => {
                "is an option for package tools, which run as root: options can name programs to run"
            }
            Capability::PackageEnvironment => {
                "is a variable for package tools, which run as root and hand it on to each package's scripts"
            }
            Capability::PackageSources => "is a package file: installing it runs its scripts as root",
            _ => return None,
        };
        Some(reason)
    }

    fn risk_of_command(&self, command: &CommandGrant) -> Option<&'static str> {
        if !has_rights(command) {
            return None;
        }
        let is_open = |word: &WordPattern| matches!(word, WordPattern::Any | WordPattern::Rest);
        if command.environment.keys().any(|name| privileged::variable(name)) {
            return Some("runs as root with a variable that decides which code it loads");
        }
        if command.input {
            return Some("runs as root and reads what the policy gives it on standard input");
        }
        match &command.what {
            GrantedLine::AnyShell => Some("is any command as root"),
            GrantedLine::Shell(_) => Some("is a line that a shell runs as root: read all of it"),
            GrantedLine::Script { sha256: None, .. } => Some("is any script as root"),
            GrantedLine::Script { .. } => Some("is a script that runs as root: read all of it"),
            GrantedLine::Words(_) if files(command).any(|path| self.may_change(&path)) => Some(MAY_CHANGE),
            GrantedLine::Words(words) if runs_others(words) => {
                Some("runs code or another program as root: read all of it")
            }
            GrantedLine::Words(words) if words.iter().any(is_open) => Some("runs as root with arguments of any kind"),
            GrantedLine::Words(_) => None,
        }
    }

    /// Whether the rules let the policy change the file.
    fn may_change(&self, path: &str) -> bool {
        let rules = self.list(Capability::Paths);
        matches!(rules.decide(Asked::Path(path, &self.homes), || self.is_privileged(path)), Verdict::Allowed(_))
    }

    /// Whether a rule for paths matches a file that a granted command runs or reads with rights.
    fn meets_a_command(&self, rule: &Pattern) -> bool {
        let Pattern::Path(rule) = rule else { return false };
        let commands = self.rules.commands.iter().filter(|command| has_rights(command));
        commands.flat_map(files).any(|path| rule.matches(&path))
    }
}

/// Whether a command may have more rights than an ordinary account. Numbers may be anybody's.
fn has_rights(command: &CommandGrant) -> bool {
    let is_plain = |name: &str| !name.starts_with(|first: char| first.is_ascii_digit() || first == '+' || first == '-');
    let user = command.user.as_deref();
    let is_ordinary = |user: &str| is_plain(user) && !privileged::user(user) && !privileged::group(user);
    let group = command.group.as_deref();
    !user.is_some_and(is_ordinary) || group.is_some_and(|group| !is_plain(group) || privileged::group(group))
}

/// The paths that the words of a command name, in their plain form, each followed by the directories that lead to it.
fn files(command: &CommandGrant) -> impl Iterator<Item = String> {
    let words = match &command.what {
        GrantedLine::Words(words) => words.as_slice(),
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

/// Whether the program runs code, or another program, that its arguments name.
fn runs_others(words: &[WordPattern]) -> bool {
    let Some(WordPattern::Word(program)) = words.first() else { return true };
    let name = program.rsplit('/').next().unwrap_or(program);
    let plain = name.trim_end_matches(|last: char| last.is_ascii_digit() || matches!(last, '.' | '-'));
    RUNNERS.contains(&name) || RUNNERS.contains(&plain)
}

/// Whether an entry is the number of an account instead of its name.
fn is_number(value: &str) -> bool {
    let name = value.trim_matches(['"', '\'']);
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use crate::{Addition, Grants};

    #[track_caller]
    fn check(key: &str, value: &str, expect: Option<&str>) {
        let after = format!("[policy.a]\npaths = [\"/srv/**\"]\n[policy.b]\n{key} = [{value}]\n");
        let _is_an_entry = Grants::parse(&after, "after").unwrap();
        let grants = Grants::parse("[policy.a]\npaths = [\"/srv/**\"]\n", "after").unwrap().policy("a", &[]);
        let addition = Addition { policy: "a".into(), key: key.into(), value: value.into() };
        let found = grants.risk(&addition);
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
            ("users", "\"root\"", "as good as root"),
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
        let grants = Grants::parse("[policy.a]\ncommands = [\"/opt/a/run\"]\n", "after").unwrap().policy("a", &[]);
        for (value, expect) in [("\"/opt/a/run\"", true), ("\"/opt/a\"", true), ("\"/opt/b\"", false)] {
            let addition = Addition { policy: "a".into(), key: "paths".into(), value: value.into() };
            assert_eq!(grants.risk(&addition).is_some(), expect, "{value}");
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
        ] {
            check(key, value, None);
        }
    }
}
