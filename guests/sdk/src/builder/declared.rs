//! Resources that are declared, and whatever else notifications can be sent to.

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

/// The root context, which lives as long as the policy.
const ROOT: u32 = 0;

/// A declared resource: where notifications can be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Declared {
    pub(crate) id: u32,
}

/// Finds `type[name]` here or in what is around this custom resource; of two, the last declared.
pub fn find(key: &str) -> Option<Declared> {
    resources::find(scope().context, key).map(|id| Declared { id })
}

impl Declared {
    /// Its type and its name.
    pub fn describe(&self) -> Option<(String, String)> {
        resources::describe(self.id).map(|it| (it.kind, it.name))
    }

    /// Sets or replaces a property, from now on.
    ///
    /// # Errors
    /// The type has no such property, or the value does not fit.
    #[track_caller]
    pub fn set(&self, property: &str, value: impl IntoProperty<Anything>) -> Result {
        let value = match value.into_property().0 {
            Given::Plain(value) => known(value),
            Given::Bytes(bytes) => HostProperty::Bytes(bytes),
            // The resource may outlive the context that this is said in.
            Given::Lazy(closure) => HostProperty::Lazy(table(|table| table.keep(ROOT, closure))),
            Given::Rendered(closure) => HostProperty::Rendered(table(|table| table.keep(ROOT, closure))),
            Given::Absent => return Ok(()),
        };
        let property = NamedProperty { name: property.to_owned(), value };
        resources::amend(self.id, &resources::Amendment::Property(property)).here()
    }

    /// Replaces its actions.
    ///
    /// # Errors
    /// The type has no such action.
    #[track_caller]
    pub fn set_actions(&self, actions: &[&str]) -> Result {
        let actions = actions.iter().map(|action| (*action).to_owned()).collect();
        resources::amend(self.id, &resources::Amendment::Actions(actions)).here()
    }

    /// Has another resource act when this one changes.
    ///
    /// # Errors
    /// The resource is gone.
    #[track_caller]
    pub fn notify(&self, action: &str, other: impl Target, timing: Timing) -> Result {
        let notification = Notification { action: action.to_owned(), other: other.party(), timing, subscribes: false };
        resources::amend(self.id, &resources::Amendment::Notification(notification)).here()
    }

    /// Takes it out of its collection. What has run already stays in the report.
    ///
    /// # Errors
    /// The resource is gone.
    #[track_caller]
    pub fn retract(self) -> Result {
        resources::retract(self.id).here()
    }

    /// Whether some action has changed it so far.
    pub fn is_updated(&self) -> bool {
        resources::status(self.id).is_some_and(|status| status.updated)
    }

    /// Runs one of its actions now, while the policy still compiles; without notifications.
    ///
    /// # Errors
    /// The action failed.
    #[track_caller]
    pub fn run_action(&self, action: &str) -> Result {
        complete(Task::RunAction(ResourceAction { id: self.id, action: action.to_owned() })).here()
    }

    /// Has an action run once at the end of its context.
    ///
    /// # Errors
    /// The resource has no such context any more.
    #[track_caller]
    pub fn delayed_action(&self, action: &str) -> Result {
        resources::amend(self.id, &resources::Amendment::Delayed(action.to_owned())).here()
    }
}

/// The other end of a notification.
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
    /// The resource, as the contract names it.
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

/// What guards return: a truth, or a result with one.
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
