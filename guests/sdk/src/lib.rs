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
//!     node::DEFAULT.set("motd.text", "Welcome")
//! }
//!
//! fn default() -> Result {
//!     let text: String = node::get("motd.text")?;
//!     file("/etc/motd").content(format!("{text}\n")).mode("0644").declare()
//! }
//! ```
//!
//! A policy links its cookbooks' crates into one component: `wrun_sdk::policy!(motd, ntp);`
//!
//! A policy does not have a standard output. With `#[macro_use] extern crate wrun_sdk;` at the top of a crate, `println!`,
//! `eprintln!`, `print!`, `eprint!` and `dbg!` anywhere in it write to the run's log; see [`log`](mod@log). (Rust does not
//! let the prelude's `*` replace macros of the standard library.)

#![warn(missing_docs)]

mod bindings;
pub mod builder;
pub mod clock;
mod conversation;
mod cookbook;
pub mod custom;
pub mod data;
mod error;
mod from_value;
pub mod handlers;
mod json;
pub mod log;
pub mod machine;
#[expect(unreachable_pub, reason = "the file is shared with a room of the host")]
mod near;
pub mod node;
mod outside;
pub mod random;
pub mod resources;
mod table;
mod template;
#[cfg(not(target_family = "wasm"))]
pub mod testing;

pub use builder::find;
pub use cookbook::{Cookbook, include_recipe};
pub use error::{Error, Result};
pub use from_value::{FromValue, Mismatch};
pub use serde_json::{self, Value, json};

/// A JSON object whose keys keep their order.
pub type Map = serde_json::Map<String, Value>;

/// What a cookbook usually needs.
pub mod prelude {
    pub use crate::builder::{Declared, Timing, lazy};
    pub use crate::custom::{CustomResource, Property, Resource, custom};
    pub use crate::resources::*;
    pub use crate::{
        Cookbook, Error, FromValue, Map, Result, Value, bail, cookbook, handlers, include_recipe, json, log, machine,
        node,
    };
}

#[doc(hidden)]
pub mod component {
    /// The contract itself, for the things that this crate has no function for.
    pub mod contract {
        pub use crate::bindings::wrun::clock::clock;
        pub use crate::bindings::wrun::cookbooks::files as cookbooks;
        pub use crate::bindings::wrun::data::data;
        pub use crate::bindings::wrun::machine;
        pub use crate::bindings::wrun::node::{attributes as node, identity};
        pub use crate::bindings::wrun::output::log as output;
        pub use crate::bindings::wrun::random::random;
        pub use crate::bindings::wrun::resources::{collection as resources, schema};
        pub use crate::bindings::wrun::turns::{events, turns};
        pub use crate::bindings::wrun::types::types;
    }
    pub use crate::bindings::{__export_world_policy_cabi, _export_serve_cabi, Guest, export};
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

/// Writes text to the run's log, as `std::print!` would to standard output.
#[macro_export]
macro_rules! print {
    ($($text:tt)*) => { $crate::log::print(false, &::std::format!($($text)*)) };
}

/// Writes a line to the run's log, as `std::println!` would to standard output.
#[macro_export]
macro_rules! println {
    () => { $crate::log::print(false, "\n") };
    ($($text:tt)+) => { $crate::log::print(false, &::std::format!("{}\n", ::std::format_args!($($text)+))) };
}

/// Writes text to the run's log as a warning, as `std::eprint!` would to standard error.
#[macro_export]
macro_rules! eprint {
    ($($text:tt)*) => { $crate::log::print(true, &::std::format!($($text)*)) };
}

/// Writes a line to the run's log as a warning, as `std::eprintln!` would to standard error.
#[macro_export]
macro_rules! eprintln {
    () => { $crate::log::print(true, "\n") };
    ($($text:tt)+) => { $crate::log::print(true, &::std::format!("{}\n", ::std::format_args!($($text)+))) };
}

/// Writes the place, the source and the value of an expression to the run's log, and returns the value.
#[macro_export]
macro_rules! dbg {
    () => { $crate::eprintln!("[{}:{}]", ::std::file!(), ::std::line!()) };
    ($value:expr $(,)?) => {
        match $value {
            value => {
                let (file, line) = (::std::file!(), ::std::line!());
                $crate::eprintln!("[{file}:{line}] {} = {:#?}", ::std::stringify!($value), &value);
                value
            }
        }
    };
    ($($value:expr),+ $(,)?) => { ($($crate::dbg!($value)),+,) };
}

/// Returns an error: `bail!("no such {thing}")`.
#[macro_export]
macro_rules! bail {
    ($($text:tt)*) => { return Err($crate::Error::text(format!($($text)*))) };
}
