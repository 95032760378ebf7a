//! Entries that open more than they say: an operator should look at them one by one before granting them.
//!
//! The lists of [`crate::privileged`] decide what counts, as they do for rules with wildcards.

use crate::commands::{CommandGrant, GrantedLine, WordPattern};
use crate::denied::Capability;
use crate::edit::{Addition, add};
use crate::file::{GrantsError, command_of, rule_of};
use crate::pattern::Asked;
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
            Capability::PrivilegedPaths => {
                "reaches paths that root or the system runs, reads as configuration or trusts: changing them can give full control of the machine"
            }
            Capability::ReadPaths if needs_its_name() => "is a secret: keys, passwords, or what leads to them",
            Capability::SetId => "lets the policy make programs that run with their owner's rights",
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
        if command.user.as_deref().is_some_and(|user| !privileged::user(user)) {
            return None;
        }
        let is_open = |word: &WordPattern| matches!(word, WordPattern::Any | WordPattern::Rest);
        let is_own = |word: &WordPattern| matches!(word, WordPattern::Word(word) if self.may_change(word));
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
            GrantedLine::Words(words) if words.iter().any(is_own) => {
                Some("runs as root with a file that the policy may change")
            }
            GrantedLine::Words(words) if words.iter().any(is_open) => Some("runs as root with arguments of any kind"),
            GrantedLine::Words(_) => None,
        }
    }

    /// Whether the rules let the policy change the file that a word of a command names.
    fn may_change(&self, word: &str) -> bool {
        let rules = self.list(Capability::Paths);
        let verdict = || rules.decide(Asked::Path(word, &self.homes), || self.is_privileged(word));
        word.starts_with('/') && matches!(verdict(), Verdict::Allowed(_))
    }
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
            ("commands", "\"python3 /srv/app/run.py\"", "may change"),
        ] {
            check(key, value, Some(part));
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
