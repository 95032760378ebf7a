//! What happens during a run, as it happens. Formatters and the run record hear all of it, guests what [`GuestEvent`] names;
//! providers and the runner never print.

mod for_guests;

pub use for_guests::GuestEvent;

use crate::{Change, Failure, GuestCommand, GuestWrite, HiddenRead, Notified, Resource, ResourceId, Tally};
use node::origin::Origin;
use serde_json::Value;

/// Someone who wants to hear what happens. Must not fail: who cannot write says so on another way.
pub trait Observer: Send {
    /// Takes notice.
    fn notice(&mut self, event: &Event<'_>);
}

/// How much a log line matters, least first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogLevel {
    /// For whoever looks for a fault in the runtime.
    Trace,
    /// For whoever looks for a fault in a cookbook.
    Debug,
    /// What happens.
    Info,
    /// What someone should look at.
    Warn,
    /// What went wrong.
    Error,
    /// What ended the run.
    Fatal,
}

impl LogLevel {
    /// Chef's word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Trace => "trace",
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Warn => "warn",
            Self::Error => "error",
            Self::Fatal => "fatal",
        }
    }

    /// The level of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        let all = [Self::Trace, Self::Debug, Self::Info, Self::Warn, Self::Error, Self::Fatal];
        all.into_iter().find(|level| level.name() == name)
    }
}

/// Who says a line of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogSource {
    /// A cookbook: by its language's logger, or by a `log` resource.
    Cookbook,
    /// The host.
    Host,
}

/// How one action of one resource ended, in Chef's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// It changed something, or would have in a dry run.
    Updated,
    /// A dry run could not look: the action may change something or not.
    Unknown,
    /// Nothing to do.
    UpToDate,
    /// A guard, or the action `nothing`.
    Skipped,
    /// It raised.
    Failed,
    /// It was never reached; with a failure in the record: it ended where Chef hears no more of it.
    Unprocessed,
    /// A dry run left it out, since it cannot be simulated.
    Bypassed,
}

impl Status {
    /// As reports write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Updated => "updated",
            Self::Unknown => "unknown",
            Self::UpToDate => "up-to-date",
            Self::Skipped => "skipped",
            Self::Failed => "failed",
            Self::Unprocessed => "unprocessed",
            Self::Bypassed => "bypassed",
        }
    }
}

/// Something that happened.
#[derive(Debug)]
pub enum Event<'a> {
    /// The run begins: its identifier, the node, the policies in order.
    RunStarted {
        /// The run's identifier.
        run_id: &'a str,
        /// The node's name.
        node: &'a str,
        /// The policies, in order.
        policies: &'a [String],
        /// Nothing will be changed.
        why_run: bool,
    },
    /// A policy begins.
    PolicyStarted {
        /// The policy's name.
        policy: &'a str,
        /// Its revision, as Chef computes it.
        revision: &'a str,
        /// The digest of its artifact, hexadecimal; empty where cookbooks run from folders.
        artifact: &'a str,
        /// Its recipes, expanded.
        recipes: &'a [String],
        /// Its cookbooks and their versions, in load order.
        cookbooks: &'a [(String, String)],
    },
    /// The policy's cookbooks are loaded: the guest can listen from here on.
    PolicyLoaded {
        /// The run's identifier.
        run_id: &'a str,
        /// When the run began, in seconds since 1970.
        start_time: i64,
    },
    /// A recipe is about to be compiled.
    RecipeStarted {
        /// `cookbook::recipe`.
        recipe: &'a str,
    },
    /// A recipe of the run list is compiled.
    RecipeCompiled {
        /// `cookbook::recipe`.
        recipe: &'a str,
    },
    /// All recipes are compiled.
    CompileFinished {
        /// How many resources the root context holds.
        resources: usize,
    },
    /// The resources are about to be converged.
    ConvergeStarted,
    /// An action begins.
    ActionStarted {
        /// The resource's number.
        id: ResourceId,
        /// Of which resource.
        resource: &'a Resource,
        /// Which action.
        action: &'a str,
        /// How deep the resource is nested in others.
        nesting: u32,
        /// What notified it.
        notified: Option<&'a Notified>,
    },
    /// Something was changed, or would be.
    Changed {
        /// Of which resource.
        resource: &'a Resource,
        /// What.
        change: &'a Change,
        /// Nothing was changed: this is a dry run.
        why_run: bool,
        /// How deep the resource is nested in others.
        nesting: u32,
        /// The place of the guest's code that made the change by itself. `None`: the resource made it.
        code: Option<&'a Origin>,
    },
    /// Guest code changed something by itself outside of all actions, or would.
    Written {
        /// The path, the change and the place of the code.
        write: &'a GuestWrite,
        /// Nothing was changed: this is a dry run.
        why_run: bool,
    },
    /// Guest code ran a command by itself outside of all actions. In a dry run: one that was stopped, so that nobody knows
    /// what it would change.
    Ran {
        /// The command and the place of the code.
        command: &'a GuestCommand,
    },
    /// The running action's command wrote something that is to be shown at once.
    Output {
        /// A piece of it: neither whole lines nor text.
        bytes: &'a [u8],
    },
    /// A dry run takes something for granted, or cannot know.
    Assumed {
        /// Of which resource.
        resource: &'a Resource,
        /// What and why.
        what: &'a str,
        /// How deep the resource is nested in others.
        nesting: u32,
    },
    /// An attempt failed, another follows.
    Retrying {
        /// The resource's number.
        id: ResourceId,
        /// Of which resource.
        resource: &'a Resource,
        /// Which action.
        action: &'a str,
        /// Attempts left.
        left: u32,
        /// The reason, as a sentence.
        failure: &'a Failure,
        /// How deep the resource is nested in others.
        nesting: u32,
    },
    /// An action ended.
    ActionFinished {
        /// The resource's number.
        id: ResourceId,
        /// Of which resource.
        resource: &'a Resource,
        /// Which action.
        action: &'a str,
        /// How.
        status: Status,
        /// What skipped it.
        conditional: Option<&'a str>,
        /// Why it failed.
        failure: Option<&'a Failure>,
        /// The failure is forgiven.
        ignored: bool,
        /// How deep the resource is nested in others.
        nesting: u32,
    },
    /// All that an action brought with it is over, however it ended.
    ActionCompleted {
        /// The resource's number.
        id: ResourceId,
        /// Of which resource.
        resource: &'a Resource,
        /// Which action.
        action: &'a str,
    },
    /// All resources are converged, or one of them failed.
    ConvergeFinished {
        /// Why it failed.
        failure: Option<&'a Failure>,
    },
    /// The status of the whole run, after its last policy, for the policy that hears it.
    PolicyStatus {
        /// The run went well.
        succeeded: bool,
        /// See "The run's status" in docs/events.md.
        status: &'a Value,
    },
    /// A line for the log, of a cookbook or of the host.
    Log {
        /// Who says it.
        source: LogSource,
        /// How much it matters.
        level: LogLevel,
        /// The text; not escaped yet.
        line: &'a str,
    },
    /// An attribute was written.
    AttributeChanged {
        /// The level's name.
        level: &'a str,
        /// Where.
        path: &'a [String],
        /// By whom.
        origin: &'a Origin,
    },
    /// A policy reached its end.
    PolicyFinished {
        /// The policy's name.
        policy: &'a str,
        /// How its actions ended.
        tally: Tally,
    },
    /// A policy failed.
    PolicyFailed {
        /// The policy's name.
        policy: &'a str,
        /// The reason, as a sentence.
        failure: &'a Failure,
    },
    /// A handler failed. Handlers never change how a run ended.
    HandlerFailed {
        /// Whose.
        policy: &'a str,
        /// Which: `report`, `exception`, an event's name.
        handler: &'a str,
        /// The reason, as a sentence.
        failure: &'a Failure,
    },
    /// A policy read values that it may not see. Told at the end of the run, once per policy.
    HiddenReads {
        /// The policy's name.
        policy: &'a str,
        /// What it read, each path once.
        reads: &'a [HiddenRead],
    },
    /// The run is over, handlers too.
    RunFinished {
        /// It failed.
        failed: bool,
        /// How its actions ended.
        tally: Tally,
        /// How long it took.
        seconds: f64,
    },
}
