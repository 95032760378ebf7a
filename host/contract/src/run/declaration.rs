//! Declarations of resources: `wit/deps/resources/collection.wit`, without its bindings.

use super::ContextId;
use crate::{Callback, CommandTest, Receipt};
use node::origin::Origin;
use serde_json::Value;
use std::sync::Arc;

/// The number of a declared resource. It is never reused within a run.
pub type ResourceId = u32;

/// The number of one of a policy's guests. Cookbooks in two languages have one guest each. Types, closures and exceptions
/// belong to the guest that created them.
pub type GuestId = u8;

/// Marks resources that the host declares itself. No guest defines types for this number.
pub const HOST_AS_GUEST: GuestId = GuestId::MAX;

/// Marks resources of built-in types. No guest defines types for this number.
pub(super) const BUILTIN_OF_GUEST: GuestId = GuestId::MAX - 1;

/// A prefix of the type's name that selects the built-in type, even if the guest has a type of that name.
pub const BUILTIN_PREFIX: &str = "builtin:";

/// A resource as the cookbook declared it.
#[derive(Debug, Clone, Default)]
pub struct Declaration {
    /// The context it is declared in.
    pub context: ContextId,
    /// Its type. A guest may write [`BUILTIN_PREFIX`] before the name of a built-in type.
    pub kind: String,
    /// The resource's name, such as `/etc/motd`.
    pub name: String,
    /// The place of the declaration, shared with the records of its actions.
    pub origin: Arc<Origin>,
    /// The actions, in order. [`Run::declare`](crate::Run::declare) adds the default action to an empty list.
    pub actions: Vec<String>,
    /// Properties by name, each at most once.
    pub properties: Vec<(String, Property)>,
    /// The guards, in the order of the cookbook.
    pub guards: Vec<Guard>,
    /// The notifications, in the order of the cookbook.
    pub notifications: Vec<Wish>,
    /// The number of retries after a failure.
    pub retries: u32,
    /// The pause between two attempts, in seconds.
    pub retry_delay: u32,
    /// The handling of a failure.
    pub on_failure: FailureMode,
    /// True if its properties, content and diffs must never be shown.
    pub sensitive: bool,
    /// The file mode creation mask for its actions.
    pub umask: Option<u32>,
    /// True if the resource is outside of the collection, so that only `run_action` runs it.
    pub detached: bool,
    /// The guest that declared it. The resource may use this guest's types.
    pub guest_id: GuestId,
    /// What only a part of a composite type of the host does. `None` for all that a guest declares.
    pub own: Option<OwnPart>,
}

impl Declaration {
    /// Returns a property's latest value from the declaration or an amendment.
    pub fn property(&self, name: &str) -> Option<&Property> {
        self.properties.iter().rev().find(|(other, _)| other == name).map(|(_, property)| property)
    }

    /// Makes it a part of a composite type of the host, which has chosen its name and its properties.
    #[must_use]
    pub fn chosen(self, own: impl FnOnce(Chosen) -> OwnPart) -> Self {
        Self { own: Some(own(Chosen::of(&self))), ..self }
    }

    /// Returns what it does as a part of a composite type, if it still is what that type has chosen.
    pub fn own_part(&self) -> Option<&OwnPart> {
        self.own.as_ref().filter(|own| match own {
            OwnPart::OfCommand(_, chosen)
            | OwnPart::OfKernelModule(_, chosen)
            | OwnPart::SwapSpace { chosen, .. }
            | OwnPart::SwapLine { chosen, .. } => *chosen == Chosen::of(self),
            // The right to the path covers it, whatever it says.
            OwnPart::Lines => true,
        })
    }

    /// Returns the key by which notifications find the resource, as `type[name]`.
    pub fn key(&self) -> String {
        format!("{}[{}]", self.kind, self.name)
    }
}

/// What a part of a composite type does that no guest can declare.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OwnPart {
    /// The file is filled as an empty swap file.
    SwapSpace {
        /// The size in bytes.
        size: u64,
        /// The number of seconds after which filling it fails.
        timeout: u64,
        /// True if the right to the command `swapon PATH` covers the file, because the path is free or leads to a swap file.
        is_covered: bool,
        /// Its path, owner and mode. wrun makes the content when the part acts.
        chosen: Chosen,
    },
    /// The file is the table of file systems, and gets the line of a swap file. The other lines stay as they are when the part
    /// acts. The right to the command `swapon PATH` covers it.
    SwapLine {
        /// The path of the swap file.
        swap_file: String,
        /// The path of the table. wrun makes the content when the part acts.
        chosen: Chosen,
    },
    /// The content has lines that are not the resource's, and that it leaves as they are. The right to the path covers it.
    Lines,
    /// wrun has chosen the path, and the content if there is one. The right to a command covers it: the command does no more
    /// than it would with any other content that wrun could choose.
    OfCommand(Vec<String>, Chosen),
    /// The same. The right to the kernel module of this name covers it.
    OfKernelModule(String, Chosen),
}

/// The name and the properties that a composite type has chosen for a part. A right that covers the part covers nothing else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chosen {
    kind: String,
    name: String,
    /// `None` in place of a value that only a guest declares.
    properties: Vec<(String, Option<Value>)>,
}

impl Chosen {
    fn of(declaration: &Declaration) -> Self {
        let value = |property: &Property| match property {
            Property::Plain(value) => Some(value.clone()),
            _ => None,
        };
        let properties = declaration.properties.iter().map(|(name, property)| (name.clone(), value(property)));
        Self { kind: declaration.kind.clone(), name: declaration.name.clone(), properties: properties.collect() }
    }
}

/// The value of a property.
#[derive(Debug, Clone, PartialEq)]
pub enum Property {
    /// A value that the cookbook gave when it declared the resource.
    Plain(Value),
    /// Content that need not be text.
    Bytes(Vec<u8>),
    /// A closure that the host calls right before the action.
    Lazy(Callback),
    /// A closure that renders a template. The host calls it after all other lazy properties, and only if the action needs it.
    Rendered(Callback),
    /// A block that checks the staged content.
    Verify(Callback),
}

/// The handling of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FailureMode {
    /// The failure is raised and ends the policy's run.
    #[default]
    Raise,
    /// The failure is recorded and shown, and the run continues.
    Ignore,
    /// The failure is recorded without a line in the log, and the run continues.
    IgnoreQuietly,
}

/// A guard: `only_if` or `not_if`.
#[derive(Debug, Clone)]
pub struct Guard {
    /// True for `not_if`, false for `only_if`.
    pub negated: bool,
    /// The test whose result the guard takes or negates.
    pub test: Test,
}

/// The test of a guard.
#[derive(Debug, Clone)]
pub enum Test {
    /// A command, which is true if its exit code is 0.
    Command(Box<CommandTest>),
    /// A closure, which is true unless it returns null or false.
    Block(Callback),
    /// A fixed result, which the host decided at the declaration.
    Decided(bool),
}

/// The timing of a notification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Timing {
    /// Before the sender changes, if a trial run predicts a change.
    Before,
    /// Right after the sender changed.
    Immediate,
    /// Once, at the end of the receiver's context.
    Delayed,
}

impl Timing {
    /// Returns Chef's name of the timing.
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
    /// The action that the receiver runs.
    pub action: String,
    /// The receiver of `notifies`, the sender of `subscribes`.
    pub other: ResourceRef,
    /// The timing of the receiver's action.
    pub timing: Timing,
    /// True if the other resource is the sender.
    pub subscribes: bool,
}

/// The other resource of a notification.
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
    /// True if child resources converge at their declaration.
    pub unified: bool,
    /// True if the type has a `load_current_value`, so that the host requests its state.
    pub inspects: bool,
    /// True if its actions cannot be simulated, so that a dry run skips them.
    pub bypassed_in_why_run: bool,
}

/// One change to a resource that is declared already.
#[derive(Debug, Clone)]
pub enum Amendment {
    /// Replaces the list of actions, in order.
    Actions(Vec<String>),
    /// Sets or replaces a property.
    Property(String, Property),
    /// Clears a property's value.
    Clear(String),
    /// Adds a guard after those it has.
    Guard(Guard),
    /// Adds a notification after those it has.
    Notification(Wish),
    /// Queues an action for the end of the context.
    Delayed(String),
    /// Replaces the number of retries and the seconds between them.
    Retries(u32, u32),
    /// Replaces the handling of a failure.
    OnFailure(FailureMode),
    /// Replaces whether it is sensitive.
    Sensitive(bool),
}

/// A declared resource and its state in the run.
#[derive(Debug)]
pub struct Resource {
    /// The declaration with all amendments.
    pub declaration: Declaration,
    /// Its key for notifications and messages, as `type[name]`.
    pub key: Arc<str>,
    /// The name of its type. Successive resources of one type share the text.
    pub kind: Arc<str>,
    /// True if an action has changed it.
    pub updated: bool,
    /// True if the last action changed it.
    pub updated_by_last_action: bool,
    /// True in a dry run if it is unknown whether the last action would change it. Then `updated_by_last_action` is true,
    /// too.
    pub unsure: bool,
    /// True if an action has surely changed it.
    pub surely_updated: bool,
    /// True if the running guest action has reported a change. The change counts only if the action succeeds.
    pub converged: bool,
    /// True if all its actions have run in their normal order.
    pub executed: bool,
    /// True if it was removed from its context.
    pub retracted: bool,
    /// The state before the last action, for the report. Only resources of guest types have it.
    pub before: Option<Value>,
    /// Its state after that action, as in `before`.
    pub after: Option<Value>,
    /// The depth of nesting inside other resources. It is 0 for a recipe's resource.
    pub nesting: u32,
    /// The receipt for its memory.
    pub(crate) paid: Receipt,
}

impl Resource {
    /// Records with certainty whether the last action changed it.
    pub fn mark(&mut self, updated: bool) {
        self.updated |= updated;
        self.updated_by_last_action = updated;
        self.unsure = false;
    }
}
