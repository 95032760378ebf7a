//! Support for end-to-end tests, the demo, and the benchmarks: temporary roots in which the real program runs.
//!
//! The program's effects can only be tested on a machine. [`Root`] is such a machine: a Debian system that is created once
//! per month in the cache folder, with an overlay above it. The overlay takes 7 ms to create and is removed when it is
//! dropped. [`Machine`] gives it processes and, if requested, its own network. [`Program`] runs `wrun` without the
//! developer's environment. [`Output`] is its output without the parts that change from run to run.
//!
//! All of this needs root rights, and reports missing rights before it changes anything.

pub mod base;
pub mod book;
pub mod booted;
pub mod chef_signature;
pub mod closed_port;
pub mod corpus;
pub mod fixtures;
pub mod machine;
pub mod place;
pub mod program;
pub mod root;
pub mod schema;
pub mod server;
pub mod terminal;
pub mod three_teams;
pub mod tree;

pub use booted::Booted;
pub use closed_port::ClosedPort;
pub use fixtures::{fixture, fixtures};
pub use machine::{Machine, Network};
pub use place::Place;
pub use program::{Output, Program};
pub use root::Root;
pub use server::{Answer, Server};
pub use terminal::Terminal;
pub use three_teams::{TEAMS, ThreeTeams};
pub use tree::{Entry, Kind, Tree};
