//! A dry run continues after a failure, so that people see all problems at once.
//!
//! The failure of an action is kept at the place where the action runs. Inside a custom resource, that resource then fails
//! with it, as in a real run, after its other children have run. For a recipe's own resources, the policy fails with it. The
//! first failure kept at each place is the one that a real run would report.
//!
//! For a guest that declares children one after the other, a failed child counts as settled, and it declares the next one:
//! its code cannot both continue and see the exception. Only an action that the guest runs itself (`run_action`) raises the
//! exception, as in a real run. Its caller expects an answer and may rescue the exception.

use super::Runner;
use contract::{Failure, Guest, Outcome, Providers};

impl<G: Guest, P: Providers> Runner<'_, G, P> {
    /// Tells whether this is a dry run, and not a trial run for `:before` in a real one.
    pub(super) fn is_dry(&self) -> bool {
        self.run.why_run() && self.trial == 0
    }

    /// In a dry run, keeps a failure for the enclosing resource or policy, and continues. A lost guest and a signal still end
    /// the run.
    pub(super) fn kept_if_dry(&mut self, outcome: Outcome) -> Outcome {
        match outcome {
            Err(failure) if self.is_dry() && !failure.is_final() => self.run.keep_failure(failure),
            outcome => outcome,
        }
    }

    /// In a dry run, keeps the refusal that ended the compilation of a recipe, and continues with the next recipe. So all
    /// refusals are reported at once. A survey does the same for every failure.
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

    /// In a dry run, records that no recipe is compiled because an attributes file ended with a refusal. The recipes would
    /// lack these attributes and report misleading errors.
    pub(crate) fn note_unseen(&mut self, recipes: &[String], failure: &Failure) -> Outcome {
        if self.is_dry() && !failure.is_final() && (failure.is_denial() || failure.is_dry_refusal()) {
            recipes.iter().try_for_each(|recipe| self.run.recipe_ended(recipe, failure))?;
        }
        Ok(())
    }

    /// In a dry run, returns the refused operation of some code. The effect of the code is then unknown, and an earlier
    /// resource may create the file that it did not find.
    ///
    /// # Errors
    /// Returns the failure itself if it is not such a refusal, if this is a real run, or in a survey, which reports skipped
    /// parts itself.
    pub(super) fn refused_in_dry(&self, failure: Failure) -> Result<String, Failure> {
        match failure.dry_refusal() {
            Some(what) if self.is_dry() && !self.run.is_survey() => Ok(what.to_owned()),
            _ => Err(failure),
        }
    }

    /// Returns the outcome of the open action. A failure that was kept inside it has precedence, because it came first.
    pub(super) fn with_kept<T>(&mut self, outcome: Result<T, Failure>) -> Result<T, Failure> {
        let Some(first) = self.run.take_kept_here() else { return outcome };
        match outcome {
            Err(failure) if failure.is_final() => Err(failure),
            _ => Err(first),
        }
    }
}
