//! The bounds of one policy's run.

/// The most notifications and child contexts that may be open inside each other. Each takes some kibibytes of the host's
/// stack (about 25 unoptimised), and running out of that would end the process.
pub const MAX_DEPTH: u32 = 50;

/// The most actions, retries included, that one policy may take. Without it, resources that notify each other could keep
/// the host busy for ever without any guest code running.
pub const MAX_ACTIONS: u32 = 1_000_000;

/// The most actions that `:before` and `:immediately` notifications of one policy may start. A resource may send many, and their
/// receivers send on: a few dozen resources could ask for more actions than there are seconds.
pub const MAX_NOTIFIED_AT_ONCE: u32 = 50_000;

/// The most resources that one policy may declare, children and their repetitions included.
pub const MAX_RESOURCES: usize = 250_000;

/// The most contexts that may be open at a time. Each nests inside an action, of which far fewer may.
pub const MAX_OPEN_CONTEXTS: usize = 1_000;

/// The most delayed actions that one policy may queue.
pub const MAX_DELAYED: usize = 100_000;

/// The most bytes of an action's name.
pub(crate) const MAX_ACTION_BYTES: usize = 1_024;

/// The longest time between two tries, in seconds.
pub(crate) const MAX_RETRY_DELAY: u32 = 3_600;

/// The most notifications and guards of one resource.
pub(crate) const MAX_PER_RESOURCE: usize = 10_000;

/// The most log lines and change sentences that are kept of one policy; later ones are only shown.
pub const MAX_RECORDS: usize = 1_000_000;
