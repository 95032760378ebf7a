//! The block of a run's summary that names the notifications which the run leaves to the next one.

use crate::{Block, Tone};
use text::escape_line;

/// The most notifications that are listed.
const SHOWN: usize = 20;

/// A notification that has not run yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DueNotification {
    /// The policy that leaves the notification, by its name.
    pub policy: String,
    /// The resource and its action, as `service[nginx] restart`, escaped.
    pub action: String,
}

impl DueNotification {
    /// Makes a policy's notification, with its text escaped.
    pub fn new(policy: &str, receiver: &str, action: &str) -> Self {
        Self { policy: policy.to_owned(), action: escape_line(&format!("{receiver} {action}")) }
    }
}

/// Returns the block, or `None` if no notification is due.
pub fn block(due: &[DueNotification]) -> Option<Block> {
    let heading = match due.len() {
        0 => return None,
        1 => "1 notification did not run. It is kept, and runs at the end of the policy's next run:".to_owned(),
        count => {
            format!("{count} notifications did not run. They are kept, and run at the end of their policy's next run:")
        }
    };
    let line = |due: &DueNotification| format!("  {}, policy {}", due.action, due.policy);
    let block = due
        .iter()
        .take(SHOWN)
        .fold(Block::new(Tone::Warning, heading), |block, due| block.line(Tone::Plain, line(due)));
    Some(match due.len().saturating_sub(SHOWN) {
        0 => block,
        more => block.line(Tone::Plain, format!("  and {more} more")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_named_with_its_policy_and_a_long_list_is_cut() {
        let due = |count: usize| -> Vec<_> {
            (0..count).map(|at| DueNotification::new("web", &format!("service[s{at}]"), "restart")).collect()
        };
        assert!(block(&[]).is_none());
        let shown = block(&due(2)).unwrap().text();
        let expect = "2 notifications did not run. They are kept, and run at the end of their policy's next run:\n  \
                      service[s0] restart, policy web\n  service[s1] restart, policy web";
        assert_eq!(shown, expect);
        assert!(block(&due(SHOWN + 3)).unwrap().text().ends_with("\n  and 3 more"));
    }
}
