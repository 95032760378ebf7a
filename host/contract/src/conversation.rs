//! The messages between the host and a guest: `wit/deps/turns/turns.wit`, without its bindings.

use crate::{ContextId, Failure, GuestLost, Raised, ResourceId, Run};
use serde_json::Value;
use std::collections::BTreeMap;

/// A number under which a guest keeps a closure. Valid until the context it was declared in ends.
pub type Callback = u32;

/// A guest. It has one method, because everything else is data.
pub trait Guest: Send {
    /// Passes the turn and the run to the guest, and waits for its next message.
    ///
    /// # Errors
    /// The guest has ended. All later calls fail, too.
    fn turn(
        &mut self,
        run: &mut Run,
        tell: HostMessage,
    ) -> impl Future<Output = Result<GuestMessage, GuestLost>> + Send;
}

/// The host's message to a guest, which then has the turn.
#[derive(Debug, Clone)]
pub enum HostMessage {
    /// A request to the guest. The guest may send errands before it answers.
    Request(Request),
    /// The guest's last errand is complete.
    Done(Result<(), Failure>),
}

/// The guest's message to the host, which then has the turn.
#[derive(Debug, Clone)]
pub enum GuestMessage {
    /// The answer to the innermost open request.
    Answer(Answer),
    /// A task that the host must complete before the guest continues.
    Errand(Errand),
}

/// The runner's requests to a guest.
#[derive(Debug, Clone, PartialEq)]
pub enum Request {
    /// Run a phase of the policy: load its libraries, compile a recipe, call a handler.
    Phase(Phase),
    /// Answer a question that is asked outside any policy's run, such as the metadata of a cookbook.
    Question(Question),
    /// Call a closure: a guard, a lazy value, a template, a `verify` block.
    Evaluate {
        /// The number that the guest gave the closure.
        callback: Callback,
        /// Its argument, if it has one.
        input: Option<Value>,
    },
    /// Run the action of a resource whose type the guest implements.
    Act(Call),
    /// Return the present state of a resource whose type the guest implements.
    Inspect(ResourceId),
    /// A context has ended: its closures will not be called again.
    Forget(ContextId),
}

/// A part of a policy's run.
#[derive(Debug, Clone, PartialEq)]
pub enum Phase {
    /// Load libraries, attributes and resource types.
    Load(Box<Load>),
    /// Compile a recipe, given as `cookbook::recipe`.
    Compile(String),
    /// Call the handlers for the start of the run.
    Start(StartPhase),
    /// Call the handlers of an event.
    Event {
        /// The event's name, from the list in docs/events.md.
        name: &'static str,
        /// The event as a JSON object.
        details: Value,
    },
    /// Call the report handlers with the run's status.
    Report(Value),
    /// Call the exception handlers with the run's status.
    Exception(Value),
}

impl Phase {
    /// Returns the name with which a guest subscribes to this phase. Returns `None` for phases that every guest gets.
    pub fn listened(&self) -> Option<&'static str> {
        match self {
            Self::Load(_) | Self::Compile(_) => None,
            Self::Start(_) => Some("start"),
            Self::Event { name, .. } => Some(name),
            Self::Report(_) => Some("report"),
            Self::Exception(_) => Some("exception"),
        }
    }
}

/// The input of the phase `load`; see `wit/deps/turns/turns.wit`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Load {
    /// The name of the policy.
    pub policy: String,
    /// The cookbooks to load, in this order.
    pub cookbooks: Vec<String>,
    /// True in a dry run.
    pub why_run: bool,
    /// True if the run only collects the grants that the policy could need.
    pub survey: bool,
    /// True if backtraces must have all frames, including those of the language's own library.
    pub all_frames: bool,
    /// The folders of cookbooks, for messages.
    pub places: BTreeMap<String, String>,
    /// The policy's own directory for downloads.
    pub file_cache: Option<String>,
    /// The run list of this run.
    pub run_list: Vec<String>,
    /// The run list that is saved for the node, if it differs.
    pub primary_run_list: Option<Vec<String>>,
    /// The name of the node's environment.
    pub environment: String,
}

/// The input of the phase `start`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartPhase {
    /// The identifier of the run.
    pub run_id: String,
    /// The time at which the run began, in seconds since 1970.
    pub start_time: i64,
}

/// A question that is asked outside any policy's run.
#[derive(Debug, Clone, PartialEq)]
pub enum Question {
    /// The cookbooks of a component.
    Describe,
    /// The metadata of a cookbook.
    Metadata {
        /// The name of the cookbook's folder.
        cookbook: String,
        /// The path of the folder, for messages.
        place: String,
    },
    /// The things that a file of a cookbook uses, without running the file.
    Check(Box<FileCheck>),
    /// A role that is written in Ruby.
    Role(RubyDocument),
    /// An environment that is written in Ruby.
    Environment(RubyDocument),
    /// The gems that travel with a policy, chosen from those that its cookbooks name.
    Gems(Value),
    /// A Policyfile. The document's name is the pseudo-cookbook that represents its folder.
    Policyfile(RubyDocument),
    /// The settings of a client.rb. The document's name is the pseudo-cookbook with the files that it may read.
    ClientSettings(RubyDocument),
}

impl Question {
    /// Returns the question's name for messages.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Describe => "describe",
            Self::Metadata { .. } => "metadata",
            Self::Check(_) => "check",
            Self::Role(_) => "role",
            Self::Environment(_) => "environment",
            Self::Gems(_) => "gems",
            Self::Policyfile(_) => "policyfile",
            Self::ClientSettings(_) => "client settings",
        }
    }
}

/// A file of a cookbook to examine.
#[derive(Debug, Clone, PartialEq)]
pub struct FileCheck {
    /// The name of the cookbook's folder.
    pub cookbook: String,
    /// The cookbook's own name.
    pub name: String,
    /// The path of the folder, for messages.
    pub place: Option<String>,
    /// The path of the file inside the folder.
    pub file: String,
    /// The values that attributes may have: an object of lists.
    pub attributes: Value,
    /// The default values of properties: an object of lists.
    pub properties: Value,
}

/// A role, an environment, a Policyfile or a client.rb, which are written in Ruby.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RubyDocument {
    /// The name under which the host asks for it, such as `web`.
    pub name: String,
    /// The path of its file, for messages.
    pub file: String,
    /// The text of the file.
    pub source: String,
}

/// An action of a resource whose type the guest implements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// The number of the resource that acts.
    pub resource: ResourceId,
    /// The action to run, such as `create`.
    pub action: String,
    /// The context for the child resources of the action.
    pub context: ContextId,
    /// True if nothing may be changed (dry run).
    pub why_run: bool,
}

/// The guest's answer to a request.
#[derive(Debug, Clone)]
pub enum Answer {
    /// A phase or an action succeeded.
    Finished,
    /// The result of a closure, a question or an inspection.
    Value(ClosureValue),
    /// Guest code raised an exception, which ends the request.
    Failed(Raised),
}

/// The result of a closure.
#[derive(Debug, Clone, PartialEq)]
pub enum ClosureValue {
    /// Anything that JSON can hold.
    Json(Value),
    /// File content that need not be text.
    Bytes(Vec<u8>),
}

/// A task for the host that a guest needs before it continues (`task` in the WIT).
#[derive(Debug, Clone)]
pub enum Errand {
    /// Run all actions of a resource that was just declared in unified mode.
    Settle(ResourceId),
    /// Run one action now, without notifications, as `resource.run_action` does.
    RunAction(ResourceId, String),
    /// Compile a recipe, once per run.
    IncludeRecipe(String),
    /// Converge and close a context that the guest has opened itself.
    Leave(ContextId),
    /// Close such a context without running its remaining resources.
    Abandon(ContextId),
}
