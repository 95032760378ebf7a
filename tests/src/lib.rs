//! Support for end-to-end tests, the demo and the benchmarks: throw-away roots in which the program is really run.
//!
//! What the program does to a machine shows only on a machine. [`Root`] is one: Debian's own packages, made once per
//! month and kept in the cache folder, and an overlay above it that takes 7 ms to make and is gone when it is dropped.
//! [`Machine`] gives it processes and, where asked, a network of its own; [`Program`] runs `wrun` with nothing from the
//! tester's environment, and [`Output`] shows what it said without the parts that differ from run to run.
//!
//! All of it needs root, and says so before it touches anything.

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
