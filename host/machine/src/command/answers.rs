//! Answers that the test of a policy gives in place of programs.
//!
//! Where they are given, no program is started, whoever asks for it: a test server is not a way to the machine that it runs on.

use super::{Answer, CommandFailure, Launch};
use contract::{CommandOutcome, ErrorKind};
use std::fmt;
use std::sync::Arc;

/// Why a command without an answer is unknown.
const NOT_GIVEN: &str = "the test does not say what it answers";

/// Returns how a program ends. `None`: the test does not say.
type Given = dyn Fn(&Launch) -> Option<CommandOutcome> + Send + Sync;

/// How programs end that are not started.
#[derive(Clone)]
pub struct Answers(Arc<Given>);

impl fmt::Debug for Answers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Answers")
    }
}

impl Answers {
    /// Answers of a function. `None`: how the program ends is unknown.
    pub fn new(given: impl Fn(&Launch) -> Option<CommandOutcome> + Send + Sync + 'static) -> Self {
        Self(Arc::new(given))
    }

    /// Answers a command that a dry run asks.
    pub(super) fn ask(&self, launch: &Launch) -> Answer {
        (self.0)(launch).map_or_else(|| Answer::Unknown(NOT_GIVEN.into()), Answer::Ended)
    }

    /// Answers a program that would be run.
    pub(super) fn run(&self, launch: &Launch) -> Result<CommandOutcome, CommandFailure> {
        let why = || format!("{}: {NOT_GIVEN}", launch.shown());
        (self.0)(launch).ok_or_else(|| CommandFailure::CannotLook { kind: ErrorKind::Unknown, why: why() })
    }
}

#[cfg(test)]
mod tests {
    use super::super::Commands;
    use super::*;
    use crate::users::Users;
    use std::path::Path;

    #[test]
    fn a_program_with_answers_is_never_started() {
        let folder = tempfile::tempdir().expect("a folder");
        let made = folder.path().join("made");
        let touch = Launch::program("touch", [made.to_str().expect("UTF-8")]);
        let known = Launch::program("uptime", ["-s"]);
        let answers = Answers::new(|launch| {
            (launch.words() == ["uptime", "-s"]).then(|| CommandOutcome { code: Some(3), ..CommandOutcome::default() })
        });
        let commands = Commands::new(Path::new("/"), None).answered_by(Some(&answers));
        let mut users = Users::default();
        assert!(matches!(commands.run(&touch, &mut users, None), Err(CommandFailure::CannotLook { .. })));
        assert!(matches!(commands.ask(&touch, &mut users), Answer::Unknown(_)));
        assert!(!made.exists());
        assert_eq!(commands.run(&known, &mut users, None).expect("an answer").code, Some(3));
        assert!(matches!(commands.ask(&known, &mut users), Answer::Ended(outcome) if outcome.code == Some(3)));
    }
}
