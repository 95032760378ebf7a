//! The conversation with a guest: `wit/turns.wit`, without its bindings.

use crate::{ContextId, Failure, Lost, Raised, ResourceId, Run};
use serde_json::Value;

/// A number under which a guest keeps a closure. Valid until the context it was declared in ends.
pub type Callback = u32;

/// The other side of the conversation. One method: everything else is data.
pub trait Guest: Send {
    /// Gives the guest the turn and the run, and waits for its next word.
    ///
    /// # Errors
    /// The guest is gone for good; it stays gone.
    fn turn(&mut self, run: &mut Run, tell: Tell) -> impl Future<Output = Result<Said, Lost>> + Send;
}

/// What a guest hears when it gets the turn.
#[derive(Debug, Clone)]
pub enum Tell {
    /// Guest code is needed; the guest answers, and may send errands before it does.
    Request(Request),
    /// The errand that the guest sent last is over.
    Done(Result<(), Failure>),
}

/// What a guest says when it gives the turn back.
#[derive(Debug, Clone)]
pub enum Said {
    /// The answer to the innermost open request.
    Answer(Answer),
    /// Something the host must finish before the guest can go on.
    Errand(Errand),
}

/// What the runner needs of a guest.
#[derive(Debug, Clone, PartialEq)]
pub enum Request {
    /// Run one phase of the policy: load its libraries, compile a recipe, call a handler.
    Phase {
        /// `load`, `compile`, `start`, `report`, `exception` or `event`.
        name: String,
        /// A JSON object.
        input: Value,
    },
    /// Answer a question that comes before the policy: evaluate a cookbook's metadata, a role, an environment.
    Question {
        /// `metadata`, `role` or `environment`.
        name: String,
        /// A JSON object.
        input: Value,
    },
    /// Call a closure: a guard, a lazy value, a template, a `verify` block.
    Evaluate {
        /// Which.
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

/// One action of one guest-made resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// Of which resource.
    pub resource: ResourceId,
    /// Which.
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
    /// A closure's value.
    Value(Got),
    /// Guest code raised.
    Failed(Raised),
}

/// What a closure evaluates to.
#[derive(Debug, Clone, PartialEq)]
pub enum Got {
    /// A value.
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
