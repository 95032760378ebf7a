//! Answers that the test of a policy gives in place of programs.
//!
//! If a test gives answers, no program is started, for the host either. So a server that runs tests gives no access to its
//! machine.

use super::{Answer, CommandFailure, Launch};
use contract::{CommandOutcome, ErrorKind};
use std::fmt;
use std::sync::Arc;

/// The reason why a command without an answer is unknown.
const NOT_GIVEN: &str = "the test does not say what it answers";

/// Returns the outcome of a program, or `None` if the test does not state it.
type Given = dyn Fn(&Launch) -> Option<CommandOutcome> + Send + Sync;

/// The outcomes of programs that are not started.
#[derive(Clone)]
pub struct Answers(Arc<Given>);

impl fmt::Debug for Answers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Answers")
    }
}

impl Answers {
    /// Takes answers from a function. It returns `None` if the outcome of the program is unknown.
    pub fn new(given: impl Fn(&Launch) -> Option<CommandOutcome> + Send + Sync + 'static) -> Self {
        Self(Arc::new(given))
    }

    /// Answers a confined command of a dry run.
    pub(super) fn ask(&self, launch: &Launch) -> Answer {
        (self.0)(launch).map_or_else(|| Answer::Unknown(NOT_GIVEN.into()), Answer::Ended)
    }

    /// Answers in place of running a program.
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
