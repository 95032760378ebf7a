//! A dry run goes on after a failure, so that people see everything that is in the way.
//!
//! The failure of an action is kept where the action runs: inside the custom resource around it, which then fails of it as
//! it would in a real run, once its other children have had their turn; or, for a recipe's own resources, as the policy's.
//! The first one kept in each place is the one that a real run would have met.
//!
//! A guest that declares children where it stands hears that a failed child is settled, and declares the next: its code
//! cannot both go on and see the exception. Only an action that it runs by itself (`run_action`) raises, as in a real run:
//! whoever calls one by name expects an answer, and may rescue it.

use super::Runner;
use contract::{Failure, Guest, Outcome, Providers};

impl<G: Guest, P: Providers> Runner<'_, G, P> {
    /// Whether this is a dry run, and not the trial that `:before` makes in a real one.
    pub(super) fn is_dry(&self) -> bool {
        self.run.why_run() && self.trial == 0
    }

    /// In a dry run keeps a failure for what is around it, and goes on. A lost guest and a signal end it all the same.
    pub(super) fn kept_if_dry(&mut self, outcome: Outcome) -> Outcome {
        match outcome {
            Err(failure) if self.is_dry() && !failure.is_final() => self.run.keep_failure(failure),
            outcome => outcome,
        }
    }

    /// In a dry run keeps the refusal that a recipe ended with while it was compiled, and goes on with the next recipe: all
    /// that is refused is told at once. So does a survey with any failure.
    pub(crate) fn kept_if_denied(&mut self, recipe: &str, compiled: Outcome) -> Outcome {
        match &compiled {
            Err(failure) if self.run.is_survey() || failure.is_denial() || failure.is_dry_refusal() => {
                if self.is_dry() && !failure.is_final() {
                    self.run.recipe_ended(recipe, failure)?;
                }
                self.kept_if_dry(compiled)
            }
            _ => compiled,
        }
    }

    /// In a dry run, that no recipe is compiled, since an attributes file ended with a refusal. What the recipes would read is
    /// not there, so that going on would tell of other errors.
    pub(crate) fn note_unseen(&mut self, recipes: &[String], failure: &Failure) -> Outcome {
        if self.is_dry() && !failure.is_final() && (failure.is_denial() || failure.is_dry_refusal()) {
            recipes.iter().try_for_each(|recipe| self.run.recipe_ended(recipe, failure))?;
        }
        Ok(())
    }

    /// In a dry run, what code was refused: it is not known what it would have done, and an earlier resource may bring what it
    /// did not find.
    ///
    /// # Errors
    /// The failure, where it is another one, or this is not a dry run or a survey, which tells what it did not see.
    pub(super) fn refused_in_dry(&self, failure: Failure) -> Result<String, Failure> {
        match failure.dry_refusal() {
            Some(what) if self.is_dry() && !self.run.is_survey() => Ok(what.to_owned()),
            _ => Err(failure),
        }
    }

    /// How the open action ended, with the failure that was kept inside it: that came first.
    pub(super) fn with_kept<T>(&mut self, outcome: Result<T, Failure>) -> Result<T, Failure> {
        let Some(first) = self.run.take_kept_here() else { return outcome };
        match outcome {
            Err(failure) if failure.is_final() => Err(failure),
            _ => Err(first),
        }
    }
}
