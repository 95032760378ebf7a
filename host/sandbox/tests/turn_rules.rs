//! Tests that a component gets nothing outside its turn: neither its start code nor code after the end of its session.
//! Nobody would answer it there, and nobody would count its time. The components are written by hand, because the SDK's
//! loop keeps to the rules.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod support;

use contract::{
    Account, Answer, Guest as _, GuestMessage, HostMessage, Phase, Request, Run, Services, Stop, StopReason,
};
use node::attributes::Attributes;
use sandbox::{Compiler, Limits, Policy, Sandbox};
use std::sync::Arc;
use std::time::Duration;
use support::{BuiltinTypes, finish, services};

/// The imports of a component by hand: `list-directory` and `next`, with all types of the conversation.
const IMPORTS: &str = include_str!("support/imports.wat");

/// Returns a component. Its start code is `start`. Its loop answers each request with `finished`, after `on_request`. It does
/// `on_done` when the host has ended the session. All three are instructions; `(call $list)` lists a directory, and
/// `(call $ready)` says that the guest is ready.
fn component(start: &str, on_request: &str, on_done: &str) -> Vec<u8> {
    let zeros = "(i32.const 0)".repeat(15);
    let text = format!(
        r#"(component {IMPORTS}
            (core module $memory (memory (export "memory") 64)
                (global $next (mut i32) (i32.const 65536))
                (func (export "realloc") (param i32 i32 i32 $size i32) (result i32)
                    (local $at i32)
                    ;; What is written is read at once, so the space is used again and again.
                    (if (i32.gt_u (global.get $next) (i32.const 2000000)) (then (global.set $next (i32.const 65536))))
                    (local.set $at (i32.and (i32.add (global.get $next) (i32.const 15)) (i32.const -16)))
                    (global.set $next (i32.add (local.get $at) (local.get $size)))
                    (local.get $at)))
            (core instance $own (instantiate $memory))
            (core func $list (canon lower (func $files "list-directory")
                (memory (core memory $own "memory")) (realloc (core func $own "realloc"))))
            (core func $next (canon lower (func $turns "next")
                (memory (core memory $own "memory")) (realloc (core func $own "realloc"))))
            (core module $code
                (import "host" "list" (func $list_directory (param i32 i32 i32)))
                (import "host" "next"
                    (func $next (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32)))
                (import "own" "memory" (memory 1))
                (data (i32.const 1024) "/etc")
                (func $list (call $list_directory (i32.const 1024) (i32.const 4) (i32.const 512)))
                (func $ready (call $next (i32.const 0) {zeros} (i32.const 64)))
                (func $start {start})
                (start $start)
                (func (export "serve") (local $number i32)
                    (call $ready)
                    (block $done (loop $more
                        (br_if $done (i32.load8_u (i32.const 72)))
                        (local.set $number (i32.load (i32.const 80)))
                        {on_request}
                        (call $next (i32.const 1) (local.get $number) {fewer} (i32.const 64))
                        (br $more)))
                    {on_done}))
            (core instance $host (export "list" (func $list)) (export "next" (func $next)))
            (core instance $guest (instantiate $code (with "host" (instance $host)) (with "own" (instance $own))))
            (func (export "serve") (canon lift (core func $guest "serve"))))"#,
        fewer = "(i32.const 0)".repeat(14),
    )
    .replace("(param i32 i32 i32 $size i32)", "(param i32 i32 i32) (param $size i32)");
    wat::parse_str(text).unwrap()
}

/// Opens a component within small limits, in a turn of its account.
fn open(sandbox: &Sandbox, component: &[u8], account: &Account) -> Result<Policy, String> {
    let limits = Limits { guest_time: Duration::from_secs(1), ..Limits::default() };
    let services = Services { account: account.clone(), ..services("team") };
    finish(sandbox.open("team", component, &limits, services)).map_err(|error| error.to_string())
}

fn sandbox() -> Sandbox {
    Sandbox::new(None, Compiler::Here).unwrap()
}

/// Sends one request to a policy and ends the session. Returns the failure, or nothing.
fn converse(policy: &mut Policy, account: &Account) -> String {
    let mut run = Run::new("team", false, Attributes::new(), Arc::new(BuiltinTypes));
    run.charge_to(account.clone());
    let mut session = policy.session();
    let load = HostMessage::Request(Request::Phase(Phase::Load(Box::default())));
    match finish(session.turn(&mut run, load)) {
        Ok(said) => assert!(matches!(said, GuestMessage::Answer(Answer::Finished)), "{said:?}"),
        Err(lost) => return lost.why,
    }
    finish(session.end()).err().map(|lost| lost.why).unwrap_or_default()
}

const LIST_FOR_EVER: &str = "(loop $again (call $list) (br $again))";

#[test]
fn a_component_by_hand_keeps_to_the_rules() {
    let account = Account::unmetered("team");
    let sandbox = sandbox();
    let mut policy = open(&sandbox, &component("", "(call $list)", ""), &account).map(Some).unwrap().unwrap();
    assert_eq!(converse(&mut policy, &account), "");
}

#[test]
fn attack_start_code_looks_at_the_machine_for_ever() {
    let refused =
        open(&sandbox(), &component(LIST_FOR_EVER, "", ""), &Account::unmetered("team")).map(drop).unwrap_err();
    assert!(refused.contains("spoke before it was ready"), "{refused}");
}

#[test]
fn attack_start_code_waits_for_an_answer_that_nobody_gives() {
    let refused =
        open(&sandbox(), &component("(call $ready)", "", ""), &Account::unmetered("team")).map(drop).unwrap_err();
    assert!(refused.contains("spoke before it was ready"), "{refused}");
}

#[test]
fn attack_start_code_computes_after_a_signal() {
    let account = Account::unmetered("team");
    let stop = Stop::default();
    account.begin_turn(stop.clone());
    stop.request(StopReason::Signal(15));
    let refused = open(&sandbox(), &component("(loop $again (br $again))", "", ""), &account).map(drop).unwrap_err();
    assert!(refused.contains("was interrupted"), "{refused}");
}

#[test]
fn attack_code_after_the_session_looks_at_the_machine_for_ever() {
    let account = Account::unmetered("team");
    let sandbox = sandbox();
    let mut policy = open(&sandbox, &component("", "", LIST_FOR_EVER), &account).map(Some).unwrap().unwrap();
    assert_eq!(converse(&mut policy, &account), "spoke after it was told that all is done");
}

#[test]
fn attack_code_after_the_session_computes_after_two_signals() {
    let account = Account::unmetered("team");
    let stop = Stop::default();
    account.begin_turn(stop.clone());
    let sandbox = sandbox();
    let mut policy =
        open(&sandbox, &component("", "", "(loop $again (br $again))"), &account).map(Some).unwrap().unwrap();
    let mut run = Run::new("team", false, Attributes::new(), Arc::new(BuiltinTypes));
    run.charge_to(account.clone());
    let mut session = policy.session();
    let load = HostMessage::Request(Request::Phase(Phase::Load(Box::default())));
    finish(session.turn(&mut run, load)).unwrap();
    stop.request(StopReason::Signal(15));
    stop.request_at_once(15);
    assert_eq!(finish(session.end()).unwrap_err().why, "was interrupted");
}

/// A policy in two languages has two instances.
#[test]
fn attack_two_instances_share_the_memory_of_one_policy() {
    let sandbox = sandbox();
    let account = Account::unmetered("team");
    let opened = |pages: u32, reserved: usize| {
        let limits = Limits { memory: 64 << 20, reserved, ..Limits::default() };
        let services = Services { account: account.clone(), ..services("team") };
        let start = format!("(drop (memory.grow (i32.const {pages})))");
        finish(sandbox.open("team", &component(&start, "", ""), &limits, services)).map_err(|error| error.to_string())
    };
    // Each has 64 pages at the start, so the second one may have 296 more of 1024.
    let first = opened(600, 0).map(Some).unwrap();
    let refused = opened(400, 0).map(drop).unwrap_err();
    assert!(refused.contains("used up its memory"), "{refused}");
    let second = opened(400, 30 << 20).map(Some).unwrap();
    // What has ended gives its memory back.
    drop((first, second));
    opened(900, 0).map(drop).unwrap();
}

#[test]
fn attack_two_instances_share_the_time_of_one_policy() {
    let sandbox = sandbox();
    let compute = "(local $n i32) (loop $more
        (local.set $n (i32.add (local.get $n) (i32.const 1)))
        (br_if $more (i32.lt_u (local.get $n) (i32.const 100000000))))";
    let component = component(compute, "", "");
    let account = Account::unmetered("team");
    let opened = |guest_time: Duration| {
        let services = Services { account: account.clone(), ..services("team") };
        let limits = Limits { guest_time, ..Limits::default() };
        finish(sandbox.open("team", &component, &limits, services)).map(drop).map_err(|error| error.to_string())
    };
    opened(Duration::from_secs(60)).unwrap();
    // The second one computes as long as the first one did.
    let refused = opened(account.guest_time() * 3 / 2).unwrap_err();
    assert!(refused.contains("of processor time"), "{refused}");
}
