//! The conversation with a guest: `wit/deps/turns/turns.wit`, without its bindings.

use crate::{ContextId, Failure, GuestLost, Raised, ResourceId, Run};
use serde_json::Value;
use std::collections::BTreeMap;

/// A number under which a guest keeps a closure. Valid until the context it was declared in ends.
pub type Callback = u32;

/// The other side of the conversation. One method: everything else is data.
pub trait Guest: Send {
    /// Gives the guest the turn and the run, and waits for its next word.
    ///
    /// # Errors
    /// The guest is gone for good; it stays gone.
    fn turn(
        &mut self,
        run: &mut Run,
        tell: HostMessage,
    ) -> impl Future<Output = Result<GuestMessage, GuestLost>> + Send;
}

/// What a guest hears when it gets the turn.
#[derive(Debug, Clone)]
pub enum HostMessage {
    /// Guest code is needed; the guest answers, and may send errands before it does.
    Request(Request),
    /// The errand that the guest sent last is over.
    Done(Result<(), Failure>),
}

/// What a guest says when it gives the turn back.
#[derive(Debug, Clone)]
pub enum GuestMessage {
    /// The answer to the innermost open request.
    Answer(Answer),
    /// Something the host must finish before the guest can go on.
    Errand(Errand),
}

/// What the runner needs of a guest.
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
        /// Its argument, where it takes one.
        input: Option<Value>,
    },
    /// Run the action of a resource whose type the guest implements.
    Act(Call),
    /// Say what is there now of a guest-made resource.
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
    /// Call the handlers of the run's start.
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
    /// The name under which a guest asks for handlers of this phase. `None`: every guest gets it.
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
    /// The policy that the guest loads, as its file names it.
    pub policy: String,
    /// The cookbooks to load, in this order.
    pub cookbooks: Vec<String>,
    /// The run is a dry run.
    pub why_run: bool,
    /// The run only collects what the policy could need.
    pub survey: bool,
    /// A backtrace has every frame, also those of the language's own library.
    pub all_frames: bool,
    /// The folders of cookbooks, for messages.
    pub places: BTreeMap<String, String>,
    /// The policy's own directory for downloads.
    pub file_cache: Option<String>,
    /// The run list of this run.
    pub run_list: Vec<String>,
    /// The run list that the node keeps, if it is another.
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
    /// The cookbooks that a component holds.
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
    /// The gems that a policy takes along, of those that its cookbooks name.
    Gems(Value),
    /// A Policyfile. The document's name is the cookbook that stands for its folder.
    Policyfile(RubyDocument),
    /// The settings of a client.rb. The document's name is the cookbook that stands for the files that it may read.
    ClientSettings(RubyDocument),
}

impl Question {
    /// The question's name in messages.
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

/// One action of one guest-made resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// The number of the resource that acts.
    pub resource: ResourceId,
    /// The action to run, such as `create`.
    pub action: String,
    /// The child context that the action declares into.
    pub context: ContextId,
    /// Nothing may be changed.
    pub why_run: bool,
}

/// How a request ended.
#[derive(Debug, Clone)]
pub enum Answer {
    /// A phase or an action ended well.
    Finished,
    /// A closure was called and returned this.
    Value(ClosureValue),
    /// Guest code raised an exception, which ends the request.
    Failed(Raised),
}

/// What a closure evaluates to.
#[derive(Debug, Clone, PartialEq)]
pub enum ClosureValue {
    /// Anything that JSON can hold.
    Json(Value),
    /// File content that need not be text.
    Bytes(Vec<u8>),
}

/// What a guest needs before it can go on.
#[derive(Debug, Clone)]
pub enum Errand {
    /// Run all actions of a resource just declared in a unified context.
    Settle(ResourceId),
    /// Run one action now, without notifications, as `resource.run_action` does.
    RunAction(ResourceId, String),
    /// Have a recipe compiled, once per run.
    IncludeRecipe(String),
    /// Converge and end a context that the guest entered on its own.
    Leave(ContextId),
    /// End such a context without running more of it.
    Abandon(ContextId),
}
