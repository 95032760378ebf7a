//! The file family on real file systems: every action, denied beside happy, and the deputies.
#![expect(clippy::tests_outside_test_module, reason = "an integration test is one test module")]

mod cookbook_sources;
mod directory;
mod file;
mod link;
mod races;
mod remote_directory;
mod remote_file;
mod server;
mod support;
