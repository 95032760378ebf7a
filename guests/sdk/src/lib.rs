//! Cookbooks in Rust describe the desired state of a machine as code.
//!
//! A **policy** describes how one team wants its machines to be. It consists of **cookbooks**, and a cookbook of **recipes**:
//! functions that declare **resources**, such as a package, a file or a service. A recipe does not change anything itself.
//! The program `wrun` compares each resource with the machine, and changes only the differences. A second run changes
//! nothing.
//!
//! ```no_run
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
//! # A policy in half an hour
//!
//! 1. **Start.** `wrun policy new web` makes a folder that builds and runs as it is. `wrun policy dev web -- --allow-all`
//!    shows what it would change on your machine, again whenever you save a file. It changes nothing.
//! 2. **Declare resources.** Write into `cookbooks/web/src/recipes.rs`. Each type has a function, and each property a
//!    method; [`resources`] lists them. `.action_..()` says what to do where the default is not meant, and `.declare()`
//!    ends the declaration. Resources are brought about in the order in which they are declared:
//!
//!    ```no_run
//!    # use wrun_sdk::prelude::*;
//!    pub fn default() -> Result {
//!        package("nginx").declare()?;
//!        let nginx = service("nginx").action_enable().action_start();
//!        template("/etc/nginx/sites-enabled/default")
//!            .source("site.j2")
//!            .variables(json!({ "port": node::get::<u16>("web.port")? }))
//!            .notifies("reload", &nginx)
//!            .declare()?;
//!        nginx.declare()
//!    }
//!    ```
//!
//!    If the template changes the file, nginx is reloaded once, at the end of the run. `.only_if(|| ..)` and
//!    `.not_if(|| ..)` make a resource act in some cases only.
//! 3. **Write the template** into `cookbooks/web/templates/site.j2`. It sees its variables by their names:
//!    `listen {{ port }};`. The language is Jinja's: `{% for name in names %}`, `{% if port == 443 %}`,
//!    `{% include "part.j2" %}`. `{{ node("hostname") }}` reads an attribute. As in Jinja, `{{ true }}` writes `True`; if this
//!    matters, write `{{ "yes" if it else "no" }}`. A misspelt variable is an error.
//! 4. **Name what differs between machines** an attribute. A cookbook sets defaults: `node::DEFAULT.set("web.port", 80)`
//!    in `attributes.rs`. `policy.toml` and operators override them, and [`node::get`] reads the value that won. Facts of the
//!    machine are attributes too: `node::get::<String>("platform")`.
//! 5. **Define a resource type** if a recipe repeats itself: a struct with `#[derive(Resource)]`. See [`custom`].
//! 6. **Test** it. `cargo test` runs the recipes without root against facts and attributes that the test gives, and
//!    changes nothing. See `wrun_sdk::testing`, and `tests/recipes.rs` of a new policy:
//!
//!    ```no_run
//!    # #[cfg(not(target_family = "wasm"))] {
//!    use wrun_sdk::testing::policy;
//!
//!    let run = policy().attribute("web.port", 8080).run().succeeded();
//!    assert!(run.file("/etc/nginx/sites-enabled/default").contains("listen 8080;"));
//!    assert_eq!(run.action("service[nginx]", "reload")["status"], "updated");
//!    # }
//!    ```
//! 7. **Build and run.** `wrun policy build web` makes `web/web.wasm`, the one file that a machine needs.
//!    `wrun converge --policies web --policy-name web --why-run` says what would change; without `--why-run` it is
//!    changed. A policy may touch only what the machine's operator grants: denials come with the lines that allow them.
//!    `--allow-all` grants everything, for trying on your own machine.
//!
//! # Where to look
//!
//! | to | see |
//! |---|---|
//! | declare files, packages, services, users, .. | [`resources`] |
//! | guard, notify, retry: what all resources have | any type, such as [`resources::File`] |
//! | read and set attributes, read facts | [`node`] |
//! | compute a value later, right before it is used | [`builder::lazy`] |
//! | make resource types | [`custom`] |
//! | include another recipe | [`include_recipe`] |
//! | read a variable of the environment | [`environment`] |
//! | look at the machine, run a command | [`machine`]; resources are the better way to change anything |
//! | read data that operators keep: data bags, search | [`data`] |
//! | hear how a run ends | [`handlers`] |
//! | write to the run's log | [`log`](mod@log) |
//! | return an error | [`bail!`], [`Error`]; `?` takes every error |
//! | test | `wrun_sdk::testing` |
//!
//! # The sandbox
//!
//! A policy is compiled to WebAssembly. It does not have files, processes, sockets or a clock of its own. Calls of `std::fs`
//! and the like that return an error name the line and what to use instead. Calls that swallow errors do not: for example,
//! `Path::exists()` is always false, and what `io::stdout()` gets is lost. Use [`machine`] instead.
//!
//! With `#[macro_use] extern crate wrun_sdk;` at the top of a crate, `println!`, `eprintln!`, `print!`, `eprint!` and `dbg!`
//! anywhere in it write to the run's log, and a run shows these lines where they are printed. `--log-level info` shows what
//! `log::info!` writes, too; see [`log`](mod@log). (Rust does not let the prelude's `*` replace macros of the standard
//! library.)
//!
//! A policy links its cookbooks' crates into one component, in `src/lib.rs`: `wrun_sdk::policy!(motd, ntp);`

#![warn(missing_docs)]

#[cfg(test)]
extern crate self as wrun_sdk;

mod bindings;
pub mod builder;
pub mod clock;
mod conversation;
mod cookbook;
pub mod custom;
pub mod data;
pub mod environment;
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
pub use error::{Error, ErrorKind, Result};
pub use from_value::{FromValue, Mismatch};
pub use serde_json::{self, Value, json};

/// A JSON object whose keys keep their order.
pub type Map = serde_json::Map<String, Value>;

/// The items that most cookbooks need.
pub mod prelude {
    pub use crate::builder::{ActionByName as _, Declared, Timing, lazy};
    pub use crate::custom::{Action, Resource, custom};
    pub use crate::resources::*;
    pub use crate::{
        Cookbook, Error, ErrorKind, FromValue, Map, Result, Value, bail, cookbook, handlers, include_recipe, json, log,
        machine, node,
    };
}

#[doc(hidden)]
pub mod component {
    /// The contract's own functions, for calls that this crate does not wrap.
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

/// Defines the component of a policy from its cookbooks' crates. Each crate has a function `cookbook`.
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

/// Creates the cookbook of this crate, with the crate's name and version.
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
