//! Commands of a dry run, as root: none of them has an effect, and what was stopped is not taken for an answer.

#![cfg(test)]
#![cfg(target_arch = "x86_64")]

mod answers;
mod hostile;
#[path = "../support/mod.rs"]
mod support;
mod unended;
mod victim;
mod worker;

use contract::{CommandTest, GuardResult, Providers as _};
use support::Bench;

fn machine() -> Bench {
    Bench::whole("").unlimited()
}

fn asked(command: &CommandTest) -> GuardResult {
    machine().providers(true).guard(command, true).unwrap()
}

fn ask(line: &str) -> GuardResult {
    asked(&CommandTest::text(line))
}

#[track_caller]
fn is_stopped(truth: &GuardResult, line: &str, at: &str) {
    match truth {
        GuardResult::Unknown(why) => assert!(why.contains(at), "{line}: {why}"),
        known => panic!("{line}: {known:?}"),
    }
}
