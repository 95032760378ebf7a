//! Cookbooks in Rust.
//!
//! A cookbook says what should be; it never does anything itself. It reads node attributes, declares resources, and
//! answers when the host asks: is this guard true, what does this template say, what does this custom resource consist
//! of. The host decides what happens when, and alone changes the machine.
//!
//! ```ignore
//! use wrun_sdk::prelude::*;
//!
//! pub fn cookbook() -> Cookbook {
//!     cookbook!().attributes(attributes).recipe("default", default)
//! }
//!
//! fn attributes() -> Result {
//!     node::default().set("motd.text", "Welcome")
//! }
//!
//! fn default() -> Result {
//!     file("/etc/motd").content(format!("{}\n", node::text("motd.text")?)).mode("0644").declare()?;
//!     Ok(())
//! }
//! ```
//!
//! A policy links its cookbooks' crates into one component: `wrun_sdk::policy!(motd, ntp);`

#![warn(missing_docs)]

mod bindings;
pub mod builder;
pub mod clock;
mod conversation;
mod cookbook;
pub mod custom;
pub mod data;
mod error;
pub mod handlers;
mod json;
pub mod log;
pub mod machine;
pub mod node;
pub mod random;
pub mod resources;
mod table;
mod template;

pub use builder::find;
pub use cookbook::{Cookbook, include_recipe};
pub use error::{Error, Result};
pub use serde_json::{self, Value, json};

/// What a cookbook usually needs.
pub mod prelude {
    pub use crate::builder::{Declared, Timing, lazy};
    pub use crate::custom::{CustomResource, Property, Resource, custom};
    pub use crate::resources::*;
    pub use crate::{Cookbook, Error, Result, Value, bail, cookbook, handlers, include_recipe, json, log, node};
}

#[doc(hidden)]
pub mod component {
    /// The contract itself, for what this crate has no word of its own for.
    pub use crate::bindings::wrun::cookbook as contract;
    pub use crate::bindings::{__export_world_cookbook_cabi, _export_serve_cabi, Guest, export};
    pub use crate::conversation::{answer, begin, serve};
}

/// Makes the component of a policy from its cookbooks' crates, each of which has a function `cookbook`.
#[macro_export]
macro_rules! policy {
    ($($cookbook:ident),+ $(,)?) => {
        struct Policy;
        impl $crate::component::Guest for Policy {
            fn serve() {
                $crate::component::serve(|| vec![$($cookbook::cookbook()),+]);
            }
        }
        $crate::component::export!(Policy with_types_in $crate::component);
    };
}

/// The cookbook of this crate: its name and version are the crate's.
#[macro_export]
macro_rules! cookbook {
    () => {
        $crate::Cookbook::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"))
    };
}

/// Returns an error: `bail!("no such {thing}")`.
#[macro_export]
macro_rules! bail {
    ($($text:tt)*) => { return Err($crate::Error::text(format!($($text)*))) };
}
