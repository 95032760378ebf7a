//! Resources that other tools carry out (git, mount), or libraries (archives, HTTP), on the machine itself below a folder
//! that goes away.

#![cfg(test)]

mod archive_file;
mod composite;
mod costs;
mod fence;
mod git;
mod http_request;
mod mount;
mod pack;
mod run;
#[path = "../files/server.rs"]
#[expect(dead_code, reason = "these tests use a part of it")]
mod server;
#[path = "../support/mod.rs"]
mod support;
