//! A survey: a dry run that checks all grants that a real run could need, whatever the machine's present state is.
//!
//! Guards are evaluated, because their commands need grants too, but their results do not count. Each action sends its
//! notifications as if it had changed something. Each action of a resource runs once, so that circular notifications end.

use super::Runner;
use contract::{Failure, GuardResult, Guest, Providers, ResourceId, Test};

/// The beginning of the text in a record if the survey did not see all of an action. The failure follows.
pub const UNSEEN: &str = "not all that it would ask for is seen: ";

impl<G: Guest, P: Providers> Runner<'_, G, P> {
    /// Tells whether an action has already run in this survey, and records that it has.
    pub(super) fn had_its_turn(&mut self, resource: ResourceId, action: &str) -> bool {
        self.run.is_survey() && !self.run.has_first_turn(resource, action)
    }

    /// Evaluates all guards of a resource. Returns true if one of them would skip the action, or cannot be evaluated.
    pub(super) async fn survey_guards(&mut self, resource: ResourceId) -> Result<bool, Failure> {
        let mut skips = false;
        let mut at = 0;
        while let Some(guard) = self.run.known(resource)?.declaration.guards.get(at).cloned() {
            at += 1;
            let truth = match &guard.test {
                Test::Block(callback) => self.evaluate(*callback, None).await.map(|got| super::guards::is_true(&got)),
                Test::Decided(truth) => Ok(*truth),
                Test::Command(command) => {
                    self.guard_command(resource, command, true).map(|truth| truth == GuardResult::True)
                }
            };
            match truth {
                Ok(truth) => skips |= truth == guard.negated,
                Err(failure) if failure.is_final() => return Err(failure),
                Err(failure) => {
                    skips = true;
                    let failure = self.hidden(resource, failure);
                    self.uncertain(resource, &format!("{UNSEEN}a guard failed: {failure}"));
                }
            }
        }
        Ok(skips)
    }

    /// Returns the outcome of an action in a survey. If a guard would have skipped it, the action may fail because of a
    /// missing file or program, which is then only recorded.
    pub(super) fn surveyed<T>(
        &mut self,
        resource: ResourceId,
        skips: bool,
        outcome: Result<T, Failure>,
        otherwise: T,
    ) -> Result<T, Failure> {
        match outcome {
            Err(failure) if self.run.is_survey() && skips && !failure.is_final() => {
                self.uncertain(resource, &format!("{UNSEEN}{failure}"));
                Ok(otherwise)
            }
            Ok(_) if self.run.is_survey() => {
                self.run.known_mut(resource)?.mark(true);
                Ok(otherwise)
            }
            outcome => outcome,
        }
    }
}
