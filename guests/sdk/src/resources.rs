//! The built-in resource types. Each has a function that creates a builder.
//!
//! ```no_run
//! # use wrun_sdk::prelude::*;
//! # fn recipe() -> Result {
//! directory("/srv/shop").owner("www-data").mode("0755").recursive(true).declare()?;
//! file("/srv/shop/old.html").action_delete().declare()?;
//! execute("build the index")
//!     .command("/usr/bin/shop index")
//!     .not_if(|| wrun_sdk::machine::exists("/srv/shop/index"))
//!     .declare()
//! # }
//! ```
//!
//! | for | types |
//! |---|---|
//! | files | [`file()`], [`template`], [`cookbook_file`], [`remote_file`], [`directory`], [`remote_directory`], [`link`], [`archive_file`] |
//! | packages | [`package`], which takes the platform's own; [`apt_package`], [`dpkg_package`], [`dnf_package`], [`yum_package`], [`rpm_package`], [`build_essential`] |
//! | package sources | [`apt_repository`], [`apt_update`], [`apt_preference`], [`yum_repository`] |
//! | services | [`service`], [`systemd_unit`], [`cron`], [`cron_d`], [`cron_access`] |
//! | accounts | [`user`], [`group`], [`linux_user`], [`sudo`], [`user_ulimit`] |
//! | commands | [`execute`], [`script`], [`bash`], [`csh`], [`ksh`], [`perl`], [`python`], [`ruby`] |
//! | the system | [`hostname`], [`timezone`], [`locale`], [`sysctl`], [`kernel_module`], [`mount`], [`swap_file`], [`alternatives`], [`reboot`], [`ohai`] |
//! | the network | [`http_request`], [`git`], [`ssh_known_hosts_entry`] |
//! | the run | [`log`], [`guest_block`] (code in its turn), [`notify_group`] (notifications of several resources), [`chef_sleep`] |
//!
//! The name of a resource is usually its path, package or account. A builder has methods for its own properties and actions,
//! and these methods of all types:
//!
//! | method | meaning |
//! |---|---|
//! | `only_if`, `not_if`, `only_if_command`, `not_if_command` | acts in some cases only |
//! | `notifies`, `notifies_immediately`, `notifies_before` | another resource acts if this one changes |
//! | `subscribes`, `subscribes_immediately`, `subscribes_before` | this resource acts if another one changes |
//! | `action_..`, `actions` | what to do, in place of the default action; several are done in order |
//! | `retries`, `ignore_failure`, `ignore_failure_quietly` | what a failure means |
//! | `sensitive` | shows its content nowhere |
//! | `declare`, `declared`, `build` | ends the declaration; `declared` returns a handle |
//!
//! A property that is not set has its default. `None` leaves a property unset, so a recipe can pass an `Option`. `wrun
//! resources` prints the same reference in a terminal.

// The lines of `generated.rs` come from the host's schema, which also validates declarations.
/// Defines the builder of a resource type from its documentation, names, properties and actions.
macro_rules! resource {
    (
        $(#[$about:meta])*
        $type:ident $new:ident $kind:literal $about_new:literal;
        properties { $($(#[$attribute:meta])* $property:ident $name:literal $method:ident $shape:ident $doc:literal;)* }
        actions { $($(#[$alias:meta])* $act:ident $action:literal $about_action:literal;)* }
    ) => {
        $(#[$about])*
        #[must_use = "a resource does nothing until it is declared"]
        #[derive(Debug)]
        pub struct $type(pub(crate) $crate::builder::Builder);

        #[doc = $about_new]
        #[track_caller]
        pub fn $new(name: impl Into<String>) -> $type {
            $type($crate::builder::Builder::new($kind, name))
        }

        impl $type {
            $(
                #[doc = $doc]
                $(#[$attribute])*
                pub fn $property(mut self, value: impl $crate::builder::IntoProperty<$shape>) -> Self {
                    self.0.$method($name, $crate::builder::IntoProperty::into_property(value));
                    self
                }
            )*

            $(
                #[doc = $about_action]
                $(#[$alias])*
                pub fn $act(mut self) -> Self {
                    self.0.action($action);
                    self
                }
            )*
        }

        $crate::__common_methods!($type);
    };
}

#[rustfmt::skip]
mod generated;
mod guest_block;

pub use generated::*;
