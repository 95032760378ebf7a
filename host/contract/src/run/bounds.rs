//! The fixed limits of one policy's run.

/// The maximum depth of nested notifications and child contexts. Each takes some kibibytes of the host's stack (about 25
/// without optimization), and a stack overflow would end the process.
pub const MAX_DEPTH: u32 = 50;

/// The maximum number of actions of one policy, including retries. Without this limit, resources that notify each other could
/// keep the host busy forever, without running guest code.
pub const MAX_ACTIONS: u32 = 1_000_000;

/// The maximum number of actions that `:before` and `:immediately` notifications of one policy may start. Receivers can send
/// notifications, too, so a few dozen resources could cause an enormous number of actions.
pub const MAX_NOTIFIED_AT_ONCE: u32 = 50_000;

/// The maximum number of resources that one policy may declare, including child resources and their repetitions.
pub const MAX_RESOURCES: usize = 250_000;

/// The maximum number of open contexts. Each is inside an action, and the limit for nested actions is much lower.
pub const MAX_OPEN_CONTEXTS: usize = 1_000;

/// The maximum number of delayed actions that one policy may queue.
pub const MAX_DELAYED: usize = 100_000;

/// The maximum length of an action's name in bytes.
pub(crate) const MAX_ACTION_BYTES: usize = 1_024;

/// The maximum delay between two attempts, in seconds.
pub(crate) const MAX_RETRY_DELAY: u32 = 3_600;

/// The maximum number of notifications and guards of one resource.
pub(crate) const MAX_PER_RESOURCE: usize = 10_000;

/// The maximum number of action records, and of recorded guest writes and commands, of one policy. Further writes and
/// commands are only shown. A further action ends the policy.
pub const MAX_RECORDS: usize = 1_000_000;
