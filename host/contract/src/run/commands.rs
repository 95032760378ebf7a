//! Records the commands that the guest's own code runs, outside of resources.

use super::{MAX_RECORDS, Run};
use crate::account::{origin_bytes, text_bytes};
use crate::{CommandLine, CommandTest, Event, Outcome};
use node::origin::Origin;
use std::sync::Arc;
use text::cut;

/// The maximum length of a command in reports, in bytes.
const MAX_SHOWN: usize = 512;

/// The text of a command of a sensitive resource.
const HIDDEN: &str = "(a command that is not shown, since the resource is sensitive)";

/// A command that guest code ran itself through the machine interface. In a dry run, a command that it requested.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GuestCommand {
    /// The shortened line, or the program and its arguments separated by blanks. It is guest text, so escape it before
    /// showing it.
    pub command: String,
    /// How much is known of its changes.
    pub effect: CommandEffect,
    /// The place of the code: cookbook, recipe, file and line from the guest, or else the place of the resource.
    pub origin: Origin,
    /// `type[name]` of the innermost resource whose action was running; `None` while a recipe is compiled.
    pub resource: Option<Arc<str>>,
    /// The number of consecutive runs.
    pub times: u32,
}

/// The knowledge about a command's changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandEffect {
    /// The command was run, and may have changed anything.
    Ran,
    /// A dry run ran the command with read access only, and it did not try to change anything.
    Looked,
    /// A dry run stopped the command at its first change, or could not run it.
    Unknown,
}

impl CommandEffect {
    /// Returns the word for reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ran => "ran",
            Self::Looked => "looked",
            Self::Unknown => "unknown",
        }
    }
}

impl GuestCommand {
    /// Returns true if another record has the same command, effect and place.
    fn is_like(&self, other: &Self) -> bool {
        self.command == other.command
            && self.effect == other.effect
            && self.origin == other.origin
            && self.resource == other.resource
    }

    /// Returns true if no resource's report covers the command's changes. A command inside an action belongs to the action's
    /// resource.
    pub fn is_own_effect(&self) -> bool {
        self.resource.is_none() && self.effect != CommandEffect::Looked
    }
}

impl Run {
    /// Records a command that guest code ran itself. It notifies the observer if no resource's report covers the command.
    ///
    /// `origin` is the place of the code, or `None` if the guest did not send it.
    ///
    /// # Errors
    /// The policy's memory is used up.
    pub fn ran_by_guest(&mut self, command: &CommandTest, effect: CommandEffect, origin: Option<Origin>) -> Outcome {
        let open = self.open_records.last().and_then(|at| self.records.get(*at));
        let resource = open.and_then(|record| Some(Arc::clone(&self.resources.get(record.resource as usize)?.key)));
        let origin = origin.unwrap_or_else(|| self.here());
        let command = GuestCommand { command: shown(command), effect, origin, resource, times: 1 };
        if let Some(last) = self.commands.last_mut().filter(|last| last.is_like(&command)) {
            last.times = last.times.saturating_add(1);
            return Ok(());
        }
        let texts = text_bytes(&command.command) + origin_bytes(&command.origin);
        self.pay(size_of::<GuestCommand>() as u64 + texts + command.resource.as_deref().map_or(0, text_bytes))?;
        if command.is_own_effect() {
            self.notice(&Event::Ran { command: &command });
        }
        if self.commands.len() < MAX_RECORDS {
            self.commands.push(command);
        }
        Ok(())
    }
}

/// Returns the text of a command for reports.
fn shown(command: &CommandTest) -> String {
    if command.sensitive {
        return HIDDEN.to_owned();
    }
    match &command.line {
        CommandLine::Text(line) => cut(line, MAX_SHOWN).into_owned(),
        CommandLine::Arguments(words) => {
            let mut line = String::new();
            for word in words {
                if !line.is_empty() {
                    line.push(' ');
                }
                line.push_str(&cut(word, MAX_SHOWN));
                if line.len() > MAX_SHOWN {
                    break;
                }
            }
            cut(&line, MAX_SHOWN).into_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_shown_shortened_and_a_secret_one_not_at_all() {
        let words = |words: &[&str]| CommandTest {
            line: CommandLine::Arguments(words.iter().map(|word| (*word).to_owned()).collect()),
            ..CommandTest::text("")
        };
        assert_eq!(shown(&CommandTest::text("a | b")), "a | b");
        assert_eq!(shown(&words(&["ls", "-l", "/"])), "ls -l /");
        let long = "\u{e9}".repeat(1_000);
        assert!(shown(&words(&["ls", &long, "more"])).len() <= MAX_SHOWN + 3);
        assert!(shown(&CommandTest::text(&long)).ends_with("..."));
        assert_eq!(shown(&CommandTest { sensitive: true, ..CommandTest::text("login --password x") }), HIDDEN);
    }
}
