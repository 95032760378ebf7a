//! A resource as the cookbook wrote it: `wit/deps/resources/collection.wit`, without its bindings.

use super::ContextId;
use crate::{Callback, CommandTest, Receipt};
use node::origin::Origin;
use serde_json::Value;
use std::sync::Arc;

/// A declared resource; an index that is never reused within a run.
pub type ResourceId = u32;

/// Which of a policy's guests: cookbooks of two languages have an instance each. Types, closures and exceptions belong to
/// the guest that made them.
pub type GuestId = u8;

/// Stands for the host in resources that it declares itself: no guest has types for them.
pub const HOST_AS_GUEST: GuestId = GuestId::MAX;

/// Stands for the guest in resources of built-in types: no guest has types for them.
pub(super) const BUILTIN_OF_GUEST: GuestId = GuestId::MAX - 1;

/// Stands before the name of a built-in type in a declaration whose guest may have a type of that name: the built-in type is meant.
pub const BUILTIN_PREFIX: &str = "builtin:";

/// A resource as the cookbook wrote it.
#[derive(Debug, Clone, Default)]
pub struct Declaration {
    /// The context it is declared in.
    pub context: ContextId,
    /// Its type. A guest may write [`BUILTIN_PREFIX`] before the name of a built-in type.
    pub kind: String,
    /// The resource's name, such as `/etc/motd`.
    pub name: String,
    /// Who wrote it, and where; shared with the records of its actions.
    pub origin: Arc<Origin>,
    /// What to do, in order; filled with the default action by [`Run::declare`](crate::Run::declare).
    pub actions: Vec<String>,
    /// Properties by name, each at most once.
    pub properties: Vec<(String, Property)>,
    /// In the order written.
    pub guards: Vec<Guard>,
    /// In the order written.
    pub notifications: Vec<Wish>,
    /// How often to try again.
    pub retries: u32,
    /// The pause between two attempts, in seconds.
    pub retry_delay: u32,
    /// What becomes of a failure.
    pub on_failure: FailureMode,
    /// Its properties, content and diffs are shown nowhere.
    pub sensitive: bool,
    /// The file mode creation mask while it acts.
    pub umask: Option<u32>,
    /// Stands in no collection; only `run_action` runs it.
    pub detached: bool,
    /// The guest that declared it, whose types it may be of.
    pub guest_id: GuestId,
}

impl Declaration {
    /// A property as it was declared or amended last.
    pub fn property(&self, name: &str) -> Option<&Property> {
        self.properties.iter().rev().find(|(other, _)| other == name).map(|(_, property)| property)
    }

    /// Returns the key by which notifications find the resource, as `type[name]`.
    pub fn key(&self) -> String {
        format!("{}[{}]", self.kind, self.name)
    }
}

/// The value of a property.
#[derive(Debug, Clone, PartialEq)]
pub enum Property {
    /// A value that the cookbook gave when it declared the resource.
    Plain(Value),
    /// Content that need not be text.
    Bytes(Vec<u8>),
    /// Asked for right before the action.
    Lazy(Callback),
    /// A template's text, asked for after all other lazy properties and only if the action needs it.
    Rendered(Callback),
    /// A block that must approve the staged content.
    Verify(Callback),
}

/// What becomes of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FailureMode {
    /// The failure is raised and ends the policy's run.
    #[default]
    Raise,
    /// It is recorded and shown.
    Ignore,
    /// It is recorded, without a line in the log.
    IgnoreQuietly,
}

/// One `only_if` or `not_if`.
#[derive(Debug, Clone)]
pub struct Guard {
    /// True for `not_if`, false for `only_if`.
    pub negated: bool,
    /// The test whose result the guard takes or negates.
    pub test: Test,
}

/// How a guard finds its truth.
#[derive(Debug, Clone)]
pub enum Test {
    /// A command, which is true if its exit code is 0.
    Command(Box<CommandTest>),
    /// Neither null nor false.
    Block(Callback),
    /// Known already: the host decided it when it declared the resource.
    Decided(bool),
}

/// When a notification takes effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Timing {
    /// Before the sender changes, if a dry run says that it would.
    Before,
    /// Right after the sender changed.
    Immediate,
    /// Once, at the end of the receiver's context.
    Delayed,
}

impl Timing {
    /// Chef's word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Before => "before",
            Self::Immediate => "immediate",
            Self::Delayed => "delayed",
        }
    }
}

/// A notification as the cookbook wrote it.
#[derive(Debug, Clone)]
pub struct Wish {
    /// What the receiver is to do.
    pub action: String,
    /// The receiver of `notifies`, the sender of `subscribes`.
    pub other: ResourceRef,
    /// When the receiver acts: at once, before, or at the end.
    pub timing: Timing,
    /// The other resource is the sender.
    pub subscribes: bool,
}

/// The other end of a notification.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ResourceRef {
    /// `type[name]`, which may be declared later.
    Key(String),
    /// The number of a resource that is declared already.
    Resource(ResourceId),
}

/// A resource type that the guest implements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GuestType {
    /// Children converge where they are declared.
    pub unified: bool,
    /// Whether it has a `load_current_value`, so that the host asks for its state.
    pub inspects: bool,
    /// Cannot be simulated: a dry run leaves its actions out.
    pub bypassed_in_why_run: bool,
}

/// One change to a resource that is declared already.
#[derive(Debug, Clone)]
pub enum Amendment {
    /// Replaces the list of actions, in order.
    Actions(Vec<String>),
    /// Sets or replaces a property.
    Property(String, Property),
    /// Takes a property back.
    Clear(String),
    /// Adds a guard after those it has.
    Guard(Guard),
    /// Adds a notification after those it has.
    Notification(Wish),
    /// Queues an action for the end of the context.
    Delayed(String),
    /// Replaces tries and seconds between them.
    Retries(u32, u32),
    /// Replaces what becomes of a failure.
    OnFailure(FailureMode),
    /// Replaces whether it is sensitive.
    Sensitive(bool),
}

/// A declared resource and what has become of it.
#[derive(Debug)]
pub struct Resource {
    /// As it was declared and amended.
    pub declaration: Declaration,
    /// Its key for notifications and messages, as `type[name]`.
    pub key: Arc<str>,
    /// Its type. Resources of one type that follow each other share the text.
    pub kind: Arc<str>,
    /// Some action changed it.
    pub updated: bool,
    /// The last action changed it.
    pub updated_by_last_action: bool,
    /// In a dry run: whether the last action would change it is not known. Only with `updated_by_last_action`.
    pub unsure: bool,
    /// Some action surely changed it.
    pub surely_updated: bool,
    /// The guest action that is running has said that it changes something; it counts once the action has succeeded.
    pub converged: bool,
    /// All its actions have run where it stands.
    pub executed: bool,
    /// It was taken out of its context.
    pub retracted: bool,
    /// The state of a guest-made resource before its last action, for the report.
    pub before: Option<Value>,
    /// Its state after that action, as in `before`.
    pub after: Option<Value>,
    /// How deep it is nested in others: 0 for a recipe's.
    pub nesting: u32,
    /// Pays for the host's memory that it takes.
    pub(crate) paid: Receipt,
}

impl Resource {
    /// Says whether its last action changed it, for sure.
    pub fn mark(&mut self, updated: bool) {
        self.updated |= updated;
        self.updated_by_last_action = updated;
        self.unsure = false;
    }
}
