//! The arguments of `wrun grants`.

use super::ConvergeArguments;
use clap::Subcommand;

/// Options that `wrun grants suggest` shares with `wrun converge` and that change nothing of a suggestion.
pub(super) const IDLE_IN_SUGGESTIONS: [&str; 6] =
    ["format", "grants", "allow_all", "keep_going", "why_run", "lock_timeout"];

#[derive(Debug, Subcommand)]
pub(crate) enum GrantsCommand {
    /// Print the least file that lets a plan happen: a dry run in which everything is allowed and written down
    ///
    /// Takes what `wrun converge` takes. What only a real run comes to (a recipe that reads what it wrote) is not in it.
    Suggest(Box<ConvergeArguments>),
}
