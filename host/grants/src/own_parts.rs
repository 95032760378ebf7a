//! Checks of paths that wrun manages by itself, with content of its own choice, for something that is granted.

use crate::commands::{CommandAsked, GrantedLine, LineAsked, WordPattern, command_entry};
use crate::denied::{Capability, Denied};
use crate::pattern::{PathPattern, Pattern};
use crate::policy::PolicyGrants;
use crate::proofs::{GrantedCommand, GrantedModule, GrantedPath, Program};
use crate::reach;
use crate::rules::Verdict;

/// The pattern of paths that a placeholder for any word stands for.
const ANY_PATH: &str = "/**";

impl PolicyGrants {
    /// Checks whether wrun may manage a path with content of its own choice, as a part of what a granted command is run for.
    /// The policy gets no right to other content.
    ///
    /// A path that is an argument of the command is the policy's choice. Then a rule with a placeholder reaches no more than a
    /// rule for paths with the same wildcards would, and no path of another policy.
    ///
    /// # Errors
    /// A rule refuses the path; or only placeholders allow it, and it is privileged or another policy's.
    pub fn part_of_command(&self, command: &GrantedCommand, path: &str) -> Result<GrantedPath, Denied> {
        let granted = self.own_part(path)?;
        let words = match &command.program {
            Program::Arguments(words) => words.as_slice(),
            Program::Shell(_) | Program::Script { .. } => &[],
        };
        let Some(at) = words.iter().position(|word| word == path).filter(|_| !self.allows_everything()) else {
            return Ok(granted);
        };
        let asked = CommandAsked {
            line: LineAsked::Arguments(words),
            user: command.user.as_deref(),
            group: command.group.as_deref(),
            cwd: command.cwd.as_deref(),
            umask: command.umask,
            environment: &command.environment,
            input: command.input.as_deref(),
            sensitive: false,
        };
        let mut rules = self.rules.commands.iter().filter(|rule| rule.matches(&command.program, &asked));
        if rules.any(|rule| self.reaches_argument(&rule.what, at, path)) {
            return Ok(granted);
        }
        let reason = format!(
            "it makes or removes {path}, and a rule with a placeholder reaches no path that is privileged, in a shared \
             directory, hidden in a home, or another policy's"
        );
        Err(self.refuse_command(&command.shown, command_entry(&command.program, &asked), Some(reason), None))
    }

    /// Checks the same for a file of settings of a granted kernel module.
    ///
    /// # Errors
    /// A rule refuses the path.
    pub fn part_of_kernel_module(&self, _module: &GrantedModule, path: &str) -> Result<GrantedPath, Denied> {
        self.own_part(path)
    }

    fn own_part(&self, path: &str) -> Result<GrantedPath, Denied> {
        match self.list(Capability::Paths).decide(self.as_path(path), || false) {
            Verdict::Refused(_) if !self.allows_everything() => self.manage_path(path),
            _ => Ok(GrantedPath(path.into())),
        }
    }

    /// Tells whether a rule for a command reaches a path that is the argument with this number.
    fn reaches_argument(&self, rule: &GrantedLine, at: usize, path: &str) -> bool {
        let by_wildcards = |pattern: &PathPattern| {
            !self.is_privileged(path)
                && !self.is_anothers_path(path)
                && reach::too_wide(pattern, path, &self.homes).is_none()
        };
        let word = match rule {
            GrantedLine::PathSource(words) => words.get(at),
            _ => None,
        };
        match word {
            Some(WordPattern::Word(_)) => true,
            Some(WordPattern::Path(pattern)) => pattern.is_exact() || by_wildcards(pattern),
            Some(WordPattern::Any | WordPattern::Rest) | None => {
                PathPattern::new(ANY_PATH).is_ok_and(|pattern| by_wildcards(&pattern))
            }
        }
    }

    /// Tells whether another policy may manage this path.
    fn is_anothers_path(&self, path: &str) -> bool {
        let others = self.all.iter().filter(|(name, _)| **name != self.policy);
        let mut rules =
            others.filter_map(|(_, rules)| rules.lists.get(&Capability::Paths)).flat_map(|list| list.iter());
        rules.any(|rule| rule.allow && matches!(&rule.pattern, Pattern::Path(pattern) if pattern.matches(path)))
    }
}
