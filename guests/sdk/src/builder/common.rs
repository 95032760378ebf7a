//! What every resource has: guards, notifications, retries, and how it is declared.

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

/// What every resource has: guards, notifications, retries, and how it is declared.
#[doc(hidden)]
#[macro_export]
macro_rules! __common_methods {
    ($builder:ident) => {
        impl $crate::builder::ActionByName for $builder {}

        #[allow(dead_code, unreachable_pub, reason = "a builder need not use all of it, or be public")]
        impl $builder {
            /// Acts only if this is true. All `only_if` are tested before all `not_if`.
            pub fn only_if<T: $crate::builder::IntoTruth>(mut self, test: impl Fn() -> T + 'static) -> Self {
                self.0.guard(false, move || test().into_truth());
                self
            }

            /// Acts only if this is false.
            pub fn not_if<T: $crate::builder::IntoTruth>(mut self, test: impl Fn() -> T + 'static) -> Self {
                self.0.guard(true, move || test().into_truth());
                self
            }

            /// Acts only if this command exits with 0. The policy needs a grant for it.
            pub fn only_if_command(mut self, line: &str) -> Self {
                self.0.guard_command(false, line);
                self
            }

            /// Acts only if this command exits with something else than 0. The policy needs a grant for it.
            pub fn not_if_command(mut self, line: &str) -> Self {
                self.0.guard_command(true, line);
                self
            }

            /// Once at the end, if this resource changed, the other acts.
            ///
            /// The other is a resource (`&nginx`, before or after it is declared) or its text (`"service[nginx]"`).
            pub fn notifies(mut self, action: &str, other: impl $crate::builder::Target) -> Self {
                self.0.notify(false, $crate::builder::Timing::Delayed, action, &other);
                self
            }

            /// Right after this resource changed, the other acts.
            pub fn notifies_immediately(mut self, action: &str, other: impl $crate::builder::Target) -> Self {
                self.0.notify(false, $crate::builder::Timing::Immediate, action, &other);
                self
            }

            /// Right before this resource changes, the other acts.
            pub fn notifies_before(mut self, action: &str, other: impl $crate::builder::Target) -> Self {
                self.0.notify(false, $crate::builder::Timing::Before, action, &other);
                self
            }

            /// Once at the end, if the other resource changed, this one acts.
            pub fn subscribes(mut self, action: &str, other: impl $crate::builder::Target) -> Self {
                self.0.notify(true, $crate::builder::Timing::Delayed, action, &other);
                self
            }

            /// Right after the other resource changed, this one acts.
            pub fn subscribes_immediately(mut self, action: &str, other: impl $crate::builder::Target) -> Self {
                self.0.notify(true, $crate::builder::Timing::Immediate, action, &other);
                self
            }

            /// Right before the other resource changes, this one acts.
            pub fn subscribes_before(mut self, action: &str, other: impl $crate::builder::Target) -> Self {
                self.0.notify(true, $crate::builder::Timing::Before, action, &other);
                self
            }

            /// Tries again after a failure, this often, after this many seconds each.
            pub fn retries(mut self, retries: u32, seconds: u32) -> Self {
                self.0.retries(retries, seconds);
                self
            }

            /// A failure is shown, and the run goes on.
            pub fn ignore_failure(mut self) -> Self {
                self.0.ignore_failure(false);
                self
            }

            /// A failure is recorded, and the run goes on.
            pub fn ignore_failure_quietly(mut self) -> Self {
                self.0.ignore_failure(true);
                self
            }

            /// Properties, content and diffs are shown nowhere.
            pub fn sensitive(mut self) -> Self {
                self.0.sensitive(true);
                self
            }

            /// The file mode creation mask while it acts.
            pub fn umask(mut self, umask: u32) -> Self {
                self.0.umask(umask);
                self
            }

            /// What to do, by name, in order.
            pub fn actions(mut self, actions: &[&str]) -> Self {
                actions.iter().for_each(|action| self.0.action(action));
                self
            }

            /// Hands the resource to the host.
            ///
            /// # Errors
            /// The host refuses it: an unknown property, a wrong type, ..; or, inside an action of a custom resource,
            /// it failed.
            pub fn declare(self) -> $crate::Result {
                self.0.declare()
            }

            /// Hands the resource to the host, as `declare` does, and returns its handle: to run an action while the
            /// policy compiles, to change it later, to ask whether it was updated.
            ///
            /// # Errors
            /// Those of `declare`.
            pub fn declared(self) -> $crate::Result<$crate::builder::Declared> {
                self.0.declared()
            }

            /// As `declared`, but outside of the collection: only `run_action` runs it.
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
            /// A block that must approve the new content, staged at the path that it gets, before it is put in place.
            pub fn verify_block(mut self, block: impl Fn(&str) -> Result<bool> + 'static) -> Self {
                self.0.verify_block(block);
                self
            }
        }
    )+ };
}
verified!(CookbookFile, File, RemoteFile, Template);
