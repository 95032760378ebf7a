//! The events of a run. Formatters and the run record get all events, guests only those of [`GuestEvent`]. Providers and the
//! runner never print.

mod for_guests;

pub use for_guests::GuestEvent;

use crate::{Change, Failure, GuestCommand, GuestWrite, HiddenRead, Notified, Resource, ResourceId, Tally};
use node::origin::Origin;
use serde_json::Value;

/// The text in events for the guard that skips the action `nothing`.
pub const NOTHING_CONDITIONAL: &str = "not_if { action == :nothing }";

/// A receiver of events. It must not fail: if it cannot write, it reports this in another way.
pub trait Observer: Send {
    /// Receives one event when it happens.
    fn notice(&mut self, event: &Event<'_>);
}

/// The level of a log line, lowest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogLevel {
    /// Details for developers of wrun.
    Trace,
    /// Details for authors of cookbooks.
    Debug,
    /// Normal progress, which operators may want to read.
    Info,
    /// A problem that an operator should look at.
    Warn,
    /// An error, after which the run may still go on.
    Error,
    /// The error that ended the run.
    Fatal,
}

impl LogLevel {
    /// Returns Chef's name of the level.
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

    /// Returns the level with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        let all = [Self::Trace, Self::Debug, Self::Info, Self::Warn, Self::Error, Self::Fatal];
        all.into_iter().find(|level| level.name() == name)
    }
}

/// The source of a log line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogSource {
    /// A cookbook: by its language's logger, or by a `log` resource.
    Cookbook,
    /// The runtime itself, about the policy that runs.
    Host,
}

/// The outcome of one action of one resource, with Chef's name if Chef has one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// The action changed something, or would change it in a dry run.
    Updated,
    /// Unknown, because a dry run could not query the machine.
    Unknown,
    /// The resource was already as declared.
    UpToDate,
    /// A guard or the action `nothing` skipped it.
    Skipped,
    /// The action ended with an error.
    Failed,
    /// A signal ended it or prevented its completion.
    Interrupted,
    /// The run never reached it. If the record has a failure, the action failed at a point after which Chef reports nothing
    /// more.
    Unprocessed,
    /// A dry run skipped it, because it cannot be simulated.
    Bypassed,
}

impl Status {
    /// Returns the name for Chef's handlers. Chef calls an interrupted action unprocessed.
    pub fn chef_name(self) -> &'static str {
        if self == Self::Interrupted { Self::Unprocessed.name() } else { self.name() }
    }

    /// Returns the name in reports.
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
    /// The run begins with its policies.
    RunStarted {
        /// Identifies the run in its record and in the log.
        run_id: &'a str,
        /// The name of the node that is converged.
        node: &'a str,
        /// The policies, in order.
        policies: &'a [String],
        /// True in a dry run.
        why_run: bool,
    },
    /// A policy begins, before its cookbooks are loaded.
    PolicyStarted {
        /// The policy that begins, by its name.
        policy: &'a str,
        /// Its revision, as Chef computes it.
        revision: &'a str,
        /// The hexadecimal digest of its artifact, or an empty text if its cookbooks come from folders.
        artifact: &'a str,
        /// The recipes of its run list, with roles expanded, as `cookbook::recipe`.
        recipes: &'a [String],
        /// Its cookbooks and their versions, in load order.
        cookbooks: &'a [(String, String)],
    },
    /// The policy's cookbooks are loaded. From now on the guest can subscribe to events.
    PolicyLoaded {
        /// Identifies the run in its record and in the log.
        run_id: &'a str,
        /// The time at which the run began, in seconds since 1970.
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
        /// The number of resources in the root context.
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
        /// The depth of nesting inside other resources.
        nesting: u32,
        /// The notification that started the action, or `None` if it runs in its normal order.
        notified: Option<&'a Notified>,
    },
    /// An action changed something, or would change it in a dry run.
    Changed {
        /// The resource whose action makes the change.
        resource: &'a Resource,
        /// The sentence and the details to show.
        change: &'a Change,
        /// True in a dry run, in which nothing was changed.
        why_run: bool,
        /// The depth of nesting inside other resources.
        nesting: u32,
        /// The place of the guest's code that made the change itself. `None` if the resource made it.
        code: Option<&'a Origin>,
    },
    /// Guest code outside of all actions changed something itself, or would change it in a dry run.
    Written {
        /// The path, the change and the place of the code.
        write: &'a GuestWrite,
        /// True in a dry run, in which nothing was changed.
        why_run: bool,
    },
    /// Guest code outside of all actions ran a command itself. In a dry run, the command was stopped before its first change
    /// or not run at all, so its changes are unknown.
    Ran {
        /// The command and the place of the code.
        command: &'a GuestCommand,
    },
    /// The running action's command wrote output to show at once.
    Output {
        /// A piece of the output, which need not contain whole lines or valid text.
        bytes: &'a [u8],
    },
    /// A dry run assumes something, or cannot know it.
    Assumed {
        /// The resource whose action cannot be simulated fully.
        resource: &'a Resource,
        /// A sentence: the assumption and its reason.
        what: &'a str,
        /// The depth of nesting inside other resources.
        nesting: u32,
    },
    /// An attempt failed, and another one follows.
    Retrying {
        /// The number of the resource in its policy.
        id: ResourceId,
        /// The resource whose action has failed.
        resource: &'a Resource,
        /// The action that is tried again.
        action: &'a str,
        /// The number of possible attempts after the next one. It can be 0.
        left: u32,
        /// The error of the failed attempt.
        failure: &'a Failure,
        /// The depth of nesting inside other resources.
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
        /// The outcome of the action.
        status: Status,
        /// The guard that skipped it, as text, or `None`.
        conditional: Option<&'a str>,
        /// The error of a failed action, or `None`.
        failure: Option<&'a Failure>,
        /// True if the failure is ignored (`ignore_failure`).
        ignored: bool,
        /// The depth of nesting inside other resources.
        nesting: u32,
    },
    /// An action and everything that it caused have ended, with any outcome.
    ActionCompleted {
        /// The number of the resource in its policy.
        id: ResourceId,
        /// The resource whose action is over.
        resource: &'a Resource,
        /// The action that is over, such as `create`.
        action: &'a str,
    },
    /// The converge phase has ended.
    ConvergeFinished {
        /// The error that ended the phase, or `None` if all resources have converged.
        failure: Option<&'a Failure>,
    },
    /// The status of the whole run after its last policy, for the handlers of one policy.
    PolicyStatus {
        /// True if the run succeeded.
        succeeded: bool,
        /// See "The run's status" in docs/events.md.
        status: &'a Value,
    },
    /// The handlers of a policy begin after the last policy of the run. Later events are of this policy.
    HandlersStarted {
        /// The policy, by its name.
        policy: &'a str,
    },
    /// A line for the log, of a cookbook or of the host.
    Log {
        /// The policy that the line is about, by its name. `None` for the run as a whole.
        policy: Option<&'a str>,
        /// Whether a cookbook or the host wrote the line.
        source: LogSource,
        /// The level of the line.
        level: LogLevel,
        /// The text, which is not escaped yet.
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
    /// A policy ended successfully.
    PolicyFinished {
        /// The policy that ended, by its name.
        policy: &'a str,
        /// The number of actions by outcome.
        tally: Tally,
    },
    /// A policy failed in any phase of its run.
    PolicyFailed {
        /// The policy that failed, by its name.
        policy: &'a str,
        /// The error of the policy.
        failure: &'a Failure,
    },
    /// A handler failed. Handlers never change the outcome of a run.
    HandlerFailed {
        /// The policy whose handler failed.
        policy: &'a str,
        /// The handler: `report`, `exception` or an event's name.
        handler: &'a str,
        /// The error of the handler.
        failure: &'a Failure,
    },
    /// A policy read values that it may not read. Sent at the end of the run, once per policy.
    HiddenReads {
        /// The policy that read them, by its name.
        policy: &'a str,
        /// The reads, one for each path.
        reads: &'a [HiddenRead],
    },
    /// The run has ended, including its handlers.
    RunFinished {
        /// True if the run failed.
        failed: bool,
        /// `success`, `failure` or `interrupted`.
        outcome: &'a str,
        /// The number of actions by outcome.
        tally: Tally,
        /// The duration of the run.
        seconds: f64,
    },
}
