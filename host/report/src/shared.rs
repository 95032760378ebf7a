//! Shows cookbooks that several policies of a run have in common.

use crate::{Block, Tone};
use converge::{RunReport, SharedCookbook};

/// The most cookbooks that are shown; the run's record has them all.
const SHOWN: usize = 10;

/// Returns the block before the recap, or `None` if no two policies have a cookbook with the same name.
pub fn block(report: &RunReport) -> Option<Block> {
    let shared = report.shared_cookbooks.as_slice();
    if shared.is_empty() {
        return None;
    }
    let heading =
        "notice: several policies have a cookbook of the same name; each uses its own copy and its own attributes:";
    let line = |block: Block, one: &SharedCookbook| {
        block.line(Tone::Quiet, format!("  {}: {}", one.cookbook, one.policies.join(", ")))
    };
    let block = shared.iter().take(SHOWN).fold(Block::new(Tone::Quiet, heading), line);
    Some(match shared.len().saturating_sub(SHOWN) {
        0 => block,
        more => block.line(Tone::Quiet, format!("  and {more} more, in the run's record")),
    })
}
