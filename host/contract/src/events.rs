//! What happens during a run, as it happens. Formatters and the run record hear all of it, guests what [`GuestEvent`] names;
//! providers and the runner never print.

mod for_guests;

pub use for_guests::GuestEvent;

use crate::{Change, Failure, GuestCommand, GuestWrite, HiddenRead, Notified, Resource, ResourceId, Tally};
use node::origin::Origin;
use serde_json::Value;

/// The guard that skips the action `nothing`, as events name it.
pub const NOTHING_CONDITIONAL: &str = "not_if { action == :nothing }";

/// Someone who wants to hear what happens. Must not fail: who cannot write says so on another way.
pub trait Observer: Send {
    /// Receives one event, at the moment it happens.
    fn notice(&mut self, event: &Event<'_>);
}

/// How much a log line matters, least first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogLevel {
    /// For whoever looks for a fault in the runtime.
    Trace,
    /// For whoever looks for a fault in a cookbook.
    Debug,
    /// Normal progress, which operators may want to read.
    Info,
    /// What someone should look at.
    Warn,
    /// An error, after which the run may still go on.
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
    /// The runtime itself, about the policy that runs.
    Host,
}

/// How one action of one resource ended, in Chef's words where Chef has one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// It changed something, or would have in a dry run.
    Updated,
    /// A dry run could not look: the action may change something or not.
    Unknown,
    /// The resource was already as declared.
    UpToDate,
    /// A guard, or the action `nothing`.
    Skipped,
    /// The action ended with an error.
    Failed,
    /// A signal ended it, or kept it from being carried out to its end.
    Interrupted,
    /// It was never reached; with a failure in the record: it ended where Chef hears no more of it.
    Unprocessed,
    /// A dry run left it out, since it cannot be simulated.
    Bypassed,
}

impl Status {
    /// As Chef's handlers hear it: an action that a signal ended was not carried out.
    pub fn chef_name(self) -> &'static str {
        if self == Self::Interrupted { Self::Unprocessed.name() } else { self.name() }
    }

    /// As reports write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Updated => "updated",
            Self::Unknown => "unknown",
            Self::UpToDate => "up-to-date",
            Self::Skipped => "skipped",
            Self::Failed => "failed",
            Self::Interrupted => "interrupted",
            Self::Unprocessed => "unprocessed",
            Self::Bypassed => "bypassed",
        }
    }
}

/// One step of a run, with what formatters need to show it.
#[derive(Debug)]
pub enum Event<'a> {
    /// The run begins: its identifier, the node, the policies in order.
    RunStarted {
        /// Identifies the run in its record and in the log.
        run_id: &'a str,
        /// The name of the node that is converged.
        node: &'a str,
        /// The policies, in order.
        policies: &'a [String],
        /// Nothing will be changed.
        why_run: bool,
    },
    /// A policy begins, before its cookbooks are loaded.
    PolicyStarted {
        /// The policy that begins, by its name.
        policy: &'a str,
        /// Its revision, as Chef computes it.
        revision: &'a str,
        /// The digest of its artifact, hexadecimal; empty where cookbooks run from folders.
        artifact: &'a str,
        /// The recipes of its run list, with roles expanded, as `cookbook::recipe`.
        recipes: &'a [String],
        /// Its cookbooks and their versions, in load order.
        cookbooks: &'a [(String, String)],
    },
    /// The policy's cookbooks are loaded: the guest can listen from here on.
    PolicyLoaded {
        /// Identifies the run in its record and in the log.
        run_id: &'a str,
        /// When the run began, in seconds since 1970.
        start_time: i64,
    },
    /// A recipe is about to be compiled.
    RecipeStarted {
        /// The recipe's full name, as `cookbook::recipe`.
        recipe: &'a str,
    },
    /// A recipe of the run list is compiled.
    RecipeCompiled {
        /// The recipe's full name, as `cookbook::recipe`.
        recipe: &'a str,
    },
    /// All recipes are compiled.
    CompileFinished {
        /// How many resources the root context holds.
        resources: usize,
    },
    /// The resources are about to be converged.
    ConvergeStarted,
    /// An action begins; [`Event::ActionFinished`] follows.
    ActionStarted {
        /// The number of the resource in its policy.
        id: ResourceId,
        /// The resource whose action begins, as declared.
        resource: &'a Resource,
        /// The action that begins, such as `create`.
        action: &'a str,
        /// How deep the resource is nested in others.
        nesting: u32,
        /// The notification that made it run; `None` if it runs in its turn.
        notified: Option<&'a Notified>,
    },
    /// Something was changed, or would be.
    Changed {
        /// The resource whose action makes the change.
        resource: &'a Resource,
        /// The sentence and the details to show.
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
        /// The resource whose action cannot be simulated fully.
        resource: &'a Resource,
        /// A sentence: the assumption and its reason.
        what: &'a str,
        /// How deep the resource is nested in others.
        nesting: u32,
    },
    /// An attempt failed, another follows.
    Retrying {
        /// The number of the resource in its policy.
        id: ResourceId,
        /// The resource whose action has failed.
        resource: &'a Resource,
        /// The action that is tried again.
        action: &'a str,
        /// How many attempts may follow the next one; may be 0.
        left: u32,
        /// The reason, as a sentence.
        failure: &'a Failure,
        /// How deep the resource is nested in others.
        nesting: u32,
    },
    /// An action ended, and its status is known.
    ActionFinished {
        /// The number of the resource in its policy.
        id: ResourceId,
        /// The resource whose action has ended.
        resource: &'a Resource,
        /// The action that ended, such as `create`.
        action: &'a str,
        /// Whether it changed something, was skipped or failed.
        status: Status,
        /// The guard that skipped it, as text; `None` if it was not skipped by a guard.
        conditional: Option<&'a str>,
        /// The error of an action that failed; `None` for all others.
        failure: Option<&'a Failure>,
        /// The failure is forgiven.
        ignored: bool,
        /// How deep the resource is nested in others.
        nesting: u32,
    },
    /// All that an action brought with it is over, however it ended.
    ActionCompleted {
        /// The number of the resource in its policy.
        id: ResourceId,
        /// The resource whose action is over.
        resource: &'a Resource,
        /// The action that is over, such as `create`.
        action: &'a str,
    },
    /// All resources are converged, or one of them failed.
    ConvergeFinished {
        /// The error that ended the phase; `None` if all is converged.
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
        /// Whether a cookbook or the host wrote the line.
        source: LogSource,
        /// How much it matters.
        level: LogLevel,
        /// The text; not escaped yet.
        line: &'a str,
    },
    /// A line that a policy's code printed, or a message of its language's library.
    Printed {
        /// The policy, by its name.
        policy: &'a str,
        /// How much it matters: standard output is `info`, standard error `warn`.
        level: LogLevel,
        /// The text; not escaped yet.
        line: &'a str,
    },
    /// An attribute was written.
    AttributeChanged {
        /// The level that was written, such as `default`.
        level: &'a str,
        /// The keys that lead to the attribute, outermost first.
        path: &'a [String],
        /// The policy, recipe and line of the write.
        origin: &'a Origin,
    },
    /// A policy reached its end.
    PolicyFinished {
        /// The policy that ended, by its name.
        policy: &'a str,
        /// How its actions ended.
        tally: Tally,
    },
    /// A policy failed, in whatever phase of its run.
    PolicyFailed {
        /// The policy that failed, by its name.
        policy: &'a str,
        /// The reason, as a sentence.
        failure: &'a Failure,
    },
    /// A handler failed. Handlers never change how a run ended.
    HandlerFailed {
        /// The policy whose handler failed.
        policy: &'a str,
        /// Which: `report`, `exception`, an event's name.
        handler: &'a str,
        /// The reason, as a sentence.
        failure: &'a Failure,
    },
    /// A policy read values that it may not see. Told at the end of the run, once per policy.
    HiddenReads {
        /// The policy that read them, by its name.
        policy: &'a str,
        /// What it read, each path once.
        reads: &'a [HiddenRead],
    },
    /// The run is over, handlers too.
    RunFinished {
        /// Whether the run as a whole failed.
        failed: bool,
        /// `success`, `failure` or `interrupted`.
        outcome: &'a str,
        /// How its actions ended.
        tally: Tally,
        /// How long it took.
        seconds: f64,
    },
}
