//! Recipes that a dry run could not compile completely.

use super::Run;
use crate::account::text_bytes;
use crate::{Failure, Outcome};

/// A recipe that ended early while a dry run compiled it. The dry run went on with the next recipe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndedRecipe {
    /// The recipe of the run list, as `cookbook::recipe`.
    pub recipe: String,
    /// The reason for its end. Its backtrace names the places in this recipe and in those that it included.
    pub failure: Failure,
}

impl Run {
    /// Tells whether this is a dry run in which a recipe ended early, so that resources may be missing.
    pub fn misses_declarations(&self) -> bool {
        self.why_run && !self.ended_recipes.is_empty()
    }

    /// Records that a recipe ended early in a dry run.
    ///
    /// # Errors
    /// The policy's memory is used up.
    pub fn recipe_ended(&mut self, recipe: &str, failure: &Failure) -> Outcome {
        self.pay(size_of::<EndedRecipe>() as u64 + text_bytes(recipe))?;
        self.pay_for_failure(failure)?;
        self.ended_recipes.push(EndedRecipe { recipe: recipe.to_owned(), failure: failure.clone() });
        Ok(())
    }
}
