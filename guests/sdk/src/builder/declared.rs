//! Handles of declared resources, and the targets of notifications.

use super::values::kinds::Anything;
use super::values::{Given, IntoProperty};
use super::{Builder, Timing, known};
use crate::bindings::wrun::resources::collection::{
    self as resources, NamedProperty, Notification, Party, Property as HostProperty,
};
use crate::bindings::wrun::turns::turns::{ResourceAction, Task};
use crate::conversation::complete;
use crate::error::{Here as _, Result};
use crate::table::{scope, table};

/// The number of the root context, which exists until the policy ends.
const ROOT: u32 = 0;

/// A handle of a declared resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Declared {
    pub(crate) id: u32,
}

/// Finds `type[name]` in the current context or in an enclosing one. If there are several, returns the one that was declared
/// last.
pub fn find(key: &str) -> Option<Declared> {
    resources::find(scope().context, key).map(|id| Declared { id })
}

impl Declared {
    /// Returns the resource's type and name, or `None` if the resource no longer exists.
    pub fn describe(&self) -> Option<(String, String)> {
        resources::describe(self.id).map(|it| (it.kind, it.name))
    }

    /// Sets or replaces a property for later actions.
    ///
    /// # Errors
    /// The type has no such property, or the value does not fit.
    #[track_caller]
    pub fn set(&self, property: &str, value: impl IntoProperty<Anything>) -> Result {
        let value = match value.into_property().0 {
            Given::Plain(value) => known(value),
            Given::Bytes(bytes) => HostProperty::Bytes(bytes),
            // The resource may exist longer than the current context.
            Given::Lazy(closure) => HostProperty::Lazy(table(|table| table.keep(ROOT, closure))),
            Given::Rendered(closure) => HostProperty::Rendered(table(|table| table.keep(ROOT, closure))),
            Given::Absent => return Ok(()),
        };
        let property = NamedProperty { name: property.to_owned(), value };
        resources::amend(self.id, &resources::Amendment::Property(property)).here()
    }

    /// Replaces the resource's actions.
    ///
    /// # Errors
    /// The type has no such action.
    #[track_caller]
    pub fn set_actions(&self, actions: &[&str]) -> Result {
        let actions = actions.iter().map(|action| (*action).to_owned()).collect();
        resources::amend(self.id, &resources::Amendment::Actions(actions)).here()
    }

    /// Runs an action of another resource when this one changes.
    ///
    /// # Errors
    /// The resource is gone.
    #[track_caller]
    pub fn notify(&self, action: &str, other: impl Target, timing: Timing) -> Result {
        let notification = Notification { action: action.to_owned(), other: other.party(), timing, subscribes: false };
        resources::amend(self.id, &resources::Amendment::Notification(notification)).here()
    }

    /// Removes the resource from its collection. Actions that have run stay in the report.
    ///
    /// # Errors
    /// The resource is gone.
    #[track_caller]
    pub fn retract(self) -> Result {
        resources::retract(self.id).here()
    }

    /// Returns true if an action has changed the resource so far.
    pub fn is_updated(&self) -> bool {
        resources::status(self.id).is_some_and(|status| status.updated)
    }

    /// Runs one of the resource's actions now, without notifications, even while the policy still compiles.
    ///
    /// # Errors
    /// The action failed.
    #[track_caller]
    pub fn run_action(&self, action: &str) -> Result {
        complete(Task::RunAction(ResourceAction { id: self.id, action: action.to_owned() })).here()
    }

    /// Queues an action to run once at the end of the resource's context.
    ///
    /// # Errors
    /// The resource's context has ended.
    #[track_caller]
    pub fn delayed_action(&self, action: &str) -> Result {
        resources::amend(self.id, &resources::Amendment::Delayed(action.to_owned())).here()
    }
}

/// The other resource of a notification.
///
/// | form | finds |
/// |---|---|
/// | `"service[nginx]"` | the last resource of this type and name, here or around this custom resource |
/// | `&nginx`, a resource that is not declared yet | the same, by its type and name |
/// | a handle from `declared()` | exactly that resource |
///
/// ```no_run
/// # use wrun_sdk::prelude::*;
/// # fn recipe() -> Result {
/// let nginx = service("nginx").action_enable().action_start();
/// template("/etc/nginx/nginx.conf").notifies("reload", &nginx).declare()?;
/// nginx.declare()
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "notifications cannot be sent to `{Self}`",
    note = "name a resource before it is declared (`&nginx`), its text (`\"service[nginx]\"`), or a handle: \
            `.declared()?` returns one, `.declare()?` does not"
)]
pub trait Target {
    /// Returns the resource in the contract's form.
    fn party(&self) -> Party;
}

impl Target for str {
    fn party(&self) -> Party {
        Party::Key(self.to_owned())
    }
}

impl Target for String {
    fn party(&self) -> Party {
        Party::Key(self.clone())
    }
}

impl Target for Declared {
    fn party(&self) -> Party {
        Party::Declared(self.id)
    }
}

impl Target for Builder {
    fn party(&self) -> Party {
        Party::Key(self.key())
    }
}

impl<T: Target + ?Sized> Target for &T {
    fn party(&self) -> Party {
        (**self).party()
    }
}

/// The result of a guard: `bool` or `Result<bool>`.
pub trait IntoTruth {
    /// Returns the truth, or the error of a guard that failed.
    fn into_truth(self) -> Result<bool>;
}

impl IntoTruth for bool {
    fn into_truth(self) -> Result<bool> {
        Ok(self)
    }
}

impl IntoTruth for Result<bool> {
    fn into_truth(self) -> Result<bool> {
        self
    }
}
