//! Shows the conflicts between several policies of a run.

use crate::{Block, Tone};
use contract::{Claimant, Conflict};
use converge::RunReport;
use text::counted;

/// The most conflicts that are shown; the run's record has them all.
const SHOWN: usize = 20;

/// Returns the block before the recap, or `None` if no conflict was found.
pub fn block(report: &RunReport) -> Option<Block> {
    let conflicts = report.conflicts.as_slice();
    let count = conflicts.len();
    let left_out = report.conflicts_left_out;
    let heading = match count {
        0 if left_out == 0 => return None,
        0 => {
            let things = counted(left_out, "thing");
            let heading = format!("{things} could not be compared between the policies: one of them has too many");
            return Some(Block::new(Tone::Warning, heading));
        }
        1 => "1 thing is wanted differently by two policies; the later one has the last word, on every run:".to_owned(),
        _ => format!(
            "{count} things are wanted differently by several policies; the later one has the last word, on every run:"
        ),
    };
    let block = Block::new(Tone::Warning, heading);
    let block = conflicts.iter().take(SHOWN).fold(block, lines);
    let block = match count.saturating_sub(SHOWN) {
        0 => block,
        more => block.line(Tone::Quiet, format!("  and {more} more, in the run's record")),
    };
    Some(match left_out {
        0 => block,
        more => block.line(Tone::Warning, format!("  and {more} more that there was no room for")),
    })
}

fn lines(block: Block, conflict: &Conflict) -> Block {
    let Conflict { identity, aspects, earlier, later } = conflict;
    let name = if identity.name.is_empty() { String::new() } else { format!(" {}", identity.name) };
    let thing = format!("  {}{name} ({})", identity.kind, aspects.join(", "));
    let width = earlier.policy.chars().count().max(later.policy.chars().count());
    let who = |one: &Claimant| format!("    {:width$}  {} {}  {}", one.policy, one.resource, one.action, place(one));
    block.line(Tone::Plain, thing).line(Tone::Quiet, who(earlier)).line(Tone::Quiet, who(later))
}

/// Returns the place as `cookbook/file:line`, or the recipe.
fn place(claimant: &Claimant) -> String {
    crate::words::place(&claimant.origin).unwrap_or_default()
}
