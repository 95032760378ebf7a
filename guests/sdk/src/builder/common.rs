//! Methods of all builders: guards, notifications, retries and declaration.

use crate::error::Result;

/// Lets the compiler explain what is wrong with an action that is given by its name.
///
/// ```compile_fail
/// use wrun_sdk::prelude::*;
///
/// let _ = service("nginx").action("start");
/// ```
///
/// ```no_run
/// use wrun_sdk::prelude::*;
///
/// let _ = service("nginx").action_enable().action_start();
/// let _ = custom("web_site", "shop").action("remove");
/// ```
#[doc(hidden)]
pub trait ActionByName: Sized {
    /// Is never called: nothing is a [`NamesAction`].
    #[must_use]
    fn action<A: NamesAction>(self, _action: A) -> Self {
        self
    }
}

/// Nothing has this trait: see [`ActionByName`].
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "an action of this resource is a method: write `.action_start()` for the action `start`",
    label = "the name of the action is a part of the method's name",
    note = "several actions are several calls: `.action_enable().action_start()`",
    note = "only a resource of `custom(..)` takes its action by name"
)]
pub trait NamesAction {}

/// Adds the methods of all builders: guards, notifications, retries and declaration.
#[doc(hidden)]
#[macro_export]
macro_rules! __common_methods {
    ($builder:ident) => {
        impl $crate::builder::ActionByName for $builder {}

        #[allow(dead_code, unreachable_pub, reason = "a builder need not use all of it, or be public")]
        impl $builder {
            /// Acts only if the test is true. All `only_if` are tested before all `not_if`.
            pub fn only_if<T: $crate::builder::IntoTruth>(mut self, test: impl Fn() -> T + 'static) -> Self {
                self.0.guard(false, move || test().into_truth());
                self
            }

            /// Acts only if the test is false.
            pub fn not_if<T: $crate::builder::IntoTruth>(mut self, test: impl Fn() -> T + 'static) -> Self {
                self.0.guard(true, move || test().into_truth());
                self
            }

            /// Acts only if the command exits with 0. The policy needs a grant for the command.
            pub fn only_if_command(mut self, line: &str) -> Self {
                self.0.guard_command(false, line);
                self
            }

            /// Acts only if the command exits with a code other than 0. The policy needs a grant for the command.
            pub fn not_if_command(mut self, line: &str) -> Self {
                self.0.guard_command(true, line);
                self
            }

            /// Runs an action of another resource once at the end of the run, if this resource changed. Inside a custom
            /// resource, the action of another resource inside it runs at the end of the custom resource's action. It is
            /// lost if that action fails before.
            ///
            /// The other resource is a builder or a handle (`&nginx`), or a key (`"service[nginx]"`).
            pub fn notifies(mut self, action: &str, other: impl $crate::builder::Target) -> Self {
                self.0.notify(false, $crate::builder::Timing::Delayed, action, &other);
                self
            }

            /// Runs an action of another resource right after this resource changed. If the other resource is declared later,
            /// the action waits for it.
            pub fn notifies_immediately(mut self, action: &str, other: impl $crate::builder::Target) -> Self {
                self.0.notify(false, $crate::builder::Timing::Immediate, action, &other);
                self
            }

            /// Runs an action of another resource right before this resource changes.
            pub fn notifies_before(mut self, action: &str, other: impl $crate::builder::Target) -> Self {
                self.0.notify(false, $crate::builder::Timing::Before, action, &other);
                self
            }

            /// Runs an action of this resource once at the end, if the other resource changed.
            pub fn subscribes(mut self, action: &str, other: impl $crate::builder::Target) -> Self {
                self.0.notify(true, $crate::builder::Timing::Delayed, action, &other);
                self
            }

            /// Runs an action of this resource right after the other resource changed.
            pub fn subscribes_immediately(mut self, action: &str, other: impl $crate::builder::Target) -> Self {
                self.0.notify(true, $crate::builder::Timing::Immediate, action, &other);
                self
            }

            /// Runs an action of this resource right before the other resource changes.
            pub fn subscribes_before(mut self, action: &str, other: impl $crate::builder::Target) -> Self {
                self.0.notify(true, $crate::builder::Timing::Before, action, &other);
                self
            }

            /// Retries a failed action up to `retries` times, each time after `seconds` seconds.
            pub fn retries(mut self, retries: u32, seconds: u32) -> Self {
                self.0.retries(retries, seconds);
                self
            }

            /// Continues the run after a failure, and shows the failure.
            pub fn ignore_failure(mut self) -> Self {
                self.0.ignore_failure(false);
                self
            }

            /// Continues the run after a failure, and only records the failure.
            pub fn ignore_failure_quietly(mut self) -> Self {
                self.0.ignore_failure(true);
                self
            }

            /// Hides the properties, content and diffs in all output.
            pub fn sensitive(mut self) -> Self {
                self.0.sensitive(true);
                self
            }

            /// Sets the file mode creation mask for the action.
            pub fn umask(mut self, umask: u32) -> Self {
                self.0.umask(umask);
                self
            }

            /// Adds actions by name, in order.
            pub fn actions(mut self, actions: &[&str]) -> Self {
                actions.iter().for_each(|action| self.0.action(action));
                self
            }

            /// Declares the resource to the host.
            ///
            /// # Errors
            /// The host refuses the resource, for example for an unknown property or a wrong type. Inside an action of a
            /// custom resource, the resource converges at once and may fail.
            pub fn declare(self) -> $crate::Result {
                self.0.declare()
            }

            /// Declares the resource to the host, as `declare` does, and returns its handle. The handle can run an action
            /// while the policy compiles, change the resource later, or tell whether it was updated.
            ///
            /// # Errors
            /// Those of `declare`.
            pub fn declared(self) -> $crate::Result<$crate::builder::Declared> {
                self.0.declared()
            }

            /// Declares the resource outside of the collection, so that only `run_action` runs it. Returns its handle.
            ///
            /// # Errors
            /// The host refuses it.
            pub fn build(self) -> $crate::Result<$crate::builder::Declared> {
                self.0.build()
            }
        }

        impl $crate::builder::Target for $builder {
            fn party(&self) -> $crate::builder::Party {
                $crate::builder::Target::party(&self.0)
            }
        }
    };
}

macro_rules! verified {
    ($($builder:ident),+) => { $(
        impl crate::resources::$builder {
            /// Adds a block that checks the new content before it replaces the file. The block gets the path of the staged
            /// content.
            pub fn verify_block(mut self, block: impl Fn(&str) -> Result<bool> + 'static) -> Self {
                self.0.verify_block(block);
                self
            }
        }
    )+ };
}
verified!(CookbookFile, File, RemoteFile, Template);
