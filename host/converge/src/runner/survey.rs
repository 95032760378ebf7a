//! A survey: a dry run that asks for everything that a real run could come to, whatever the machine looks like now.
//!
//! Guards are asked, since what they run has to be granted, and their answers do not count. Each action notifies as if it had
//! changed something. Each action of a resource has one turn, so that notifications in a circle come to an end.

use super::Runner;
use contract::{Failure, GuardResult, Guest, Providers, ResourceId, Test};

/// How a record says that the survey did not see all of an action: what failed follows.
pub const UNSEEN: &str = "not all that it would ask for is seen: ";

impl<G: Guest, P: Providers> Runner<'_, G, P> {
    /// Whether an action has had its turn in a survey; from now on it has.
    pub(super) fn had_its_turn(&mut self, resource: ResourceId, action: &str) -> bool {
        self.run.is_survey() && !self.run.has_first_turn(resource, action)
    }

    /// Asks all guards of a resource. True: one of them would skip it, or cannot be asked.
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

    /// How an action ended in a survey. One that a guard would have skipped may fail for want of what the guard looks for.
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
