//! Tests guests that attack within the contract's rules: time, memory, stack, sizes, counts, texts. Each one is ended or
//! refused within its budget, with an error that names it. The next policy runs as usual.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test fails by panicking, and says what it counted"
)]

mod support;

use std::time::Duration;
use support::{Guest, Ran, run};

/// Runs one recipe of the hostile policy, and a harmless policy after it.
fn attack(recipe: &str) -> Ran {
    run(vec![Guest::new("hostile", &[recipe]), Guest::new("everything", &["default"])], false)
}

#[track_caller]
fn check(recipe: &str, expected: &str) -> Ran {
    let ran = attack(recipe);
    let failure = ran.failure("hostile");
    if expected.is_empty() {
        assert_eq!(failure, "", "{recipe}");
    } else {
        assert!(failure.contains(expected), "{recipe}: {}", failure.chars().take(500).collect::<String>());
    }
    unharmed(&ran, recipe);
    ran
}

#[track_caller]
fn unharmed(ran: &Ran, recipe: &str) {
    assert_eq!(ran.failure("everything"), "", "{recipe}");
    assert!(ran.heard.iter().any(|line| line == "info: default: ends"), "{recipe}: {:?}", ran.heard.last());
}

const OUT_OF_TIME: &str = "policy `hostile` used up its 0.5 s of processor time (`guest_seconds` of the settings, or \
                           `limits.guest_seconds` in its grants)";

#[test]
fn endless_loops_end_within_the_budget() {
    for recipe in ["loop", "loop_in_guard", "loop_in_lazy", "loop_in_action", "loop_of_calls"] {
        check(recipe, OUT_OF_TIME);
    }
}

#[test]
fn an_endless_loop_in_a_handler_ends_too() {
    let ran = attack("loop_in_handler");
    assert_eq!(ran.failure("hostile"), "");
    let handler = ran.heard.iter().find(|line| line.starts_with("handler report failed")).expect("it failed");
    assert!(handler.contains("processor time"), "{handler}");
    unharmed(&ran, "loop_in_handler");
}

#[test]
fn the_hosts_own_time_is_not_the_guests() {
    // More than the guest's whole budget.
    let slow = Guest { slow: Duration::from_millis(60), ..Guest::new("load", &["logs"]).with("count", 12) };
    assert!(slow.limits.guest_time < 12 * slow.slow);
    let ran = run(vec![slow], false);
    assert_eq!(ran.failure("load"), "");
    assert_eq!(ran.done.len(), 12);
}

#[test]
fn the_wall_time_of_a_policy_is_bounded() {
    let slow = Guest {
        slow: Duration::from_millis(60),
        wall_time: Duration::from_millis(300),
        ..Guest::new("load", &["logs"]).with("count", 1000)
    };
    let ran = run(vec![slow, Guest::new("everything", &["default"])], false);
    assert!(!ran.failure("load").is_empty());
    assert!(ran.done.len() < 10, "{} actions of 60 ms in 300 ms", ran.done.len());
    unharmed(&ran, "wall time");
}

#[test]
fn memory_and_stack_are_bounded() {
    for recipe in ["memory", "memory_in_guard"] {
        check(
            recipe,
            "policy `hostile` used up its memory (`guest_memory_mib` of the settings, or `limits.memory_mib` in its grants)",
        );
    }
    // A Rust guest first exceeds the stack in its own memory, which is smaller than the engine's.
    for recipe in ["recursion", "recursion_in_guard", "wide_recursion"] {
        check(
            recipe,
            "policy `hostile` trapped: wasm trap: out of bounds memory access (calls that nest too deep do this",
        );
    }
}

#[test]
fn panics_and_traps_name_their_place() {
    for recipe in ["panic", "panic_in_guard"] {
        let ran = check(recipe, "policy `hostile` panicked at ");
        let place = |line: &&String| line.starts_with("fatal: panicked at ") && line.contains("hunger.rs:");
        assert!(ran.heard.iter().any(|line| place(&line)), "{:?}", ran.heard);
    }
    let ran = check("trap_in_action", "policy `hostile` trapped");
    // Neither `ignore_failure` nor `retries` helps, and what comes after is not reached.
    assert!(ran.done.iter().any(|line| line == "write log[before]"));
    assert!(!ran.done.iter().any(|line| line == "write log[after]"));
}

#[test]
fn counts_are_bounded() {
    check("nest", "hostile_nest[deep]");
    let long = Duration::from_secs(60);
    for (recipe, expected) in [("resources", "250000"), ("storm", "more than 50000 actions"), ("retries", "1000000")] {
        let mut hostile = Guest::new("hostile", &[recipe]);
        (hostile.limits.guest_time, hostile.limits.memory) = (long, 512 << 20);
        let ran = run(vec![hostile, Guest::new("everything", &["default"])], false);
        let failure = ran.failure("hostile");
        assert!(failure.contains(expected), "{recipe}: {failure}");
        unharmed(&ran, recipe);
    }
    check("callbacks", "4000000000 is too large for a closure's number");
}

#[test]
fn sizes_are_bounded() {
    for recipe in ["huge_text", "huge_content", "huge_attribute", "huge_log"] {
        let mut hostile = Guest::new("hostile", &[recipe]);
        hostile.limits.memory = 1 << 30;
        hostile.limits.guest_time = Duration::from_secs(20);
        let ran = run(vec![hostile, Guest::new("everything", &["default"])], false);
        let failure = ran.failure("hostile");
        assert!(failure.contains("policy `hostile`"), "{recipe}: {}", failure.chars().take(300).collect::<String>());
        unharmed(&ran, recipe);
    }
    let mut hostile = Guest::new("hostile", &["huge_error"]);
    hostile.limits.memory = 512 << 20;
    let ran = run(vec![hostile, Guest::new("everything", &["default"])], false);
    assert!(ran.failure("hostile").len() < 1 << 20, "the error was kept whole");
    unharmed(&ran, "huge_error");
}

#[test]
fn attributes_are_bounded() {
    for (recipe, expected) in [
        ("deep_attribute", "recursion limit"),
        ("deep_property", "recursion limit"),
        ("not_json", "not JSON"),
        ("long_path", "64"),
        ("foreign_attribute", "write_attributes"),
    ] {
        check(recipe, expected);
    }
    let mut hostile = Guest::new("hostile", &["many_attributes"]);
    hostile.limits.guest_time = Duration::from_secs(30);
    let ran = run(vec![hostile, Guest::new("everything", &["default"])], false);
    assert!(!ran.failure("hostile").is_empty());
    unharmed(&ran, "many_attributes");
}

/// The attributes of a failed policy are not visible to later policies, and are not saved.
#[test]
fn a_failed_policy_leaves_no_attributes() {
    let ran = check("automatic", "write_attributes");
    assert!(!ran.node.to_saved_json(&Default::default()).unwrap().to_string().contains("plan9"));
}

#[test]
fn the_log_is_bounded() {
    let ran = check("log_flood", "");
    let bytes: usize = ran.heard.iter().map(String::len).sum();
    assert!(bytes < 20 << 20, "{bytes} bytes of log");
    assert!(ran.heard.iter().any(|line| line.contains("what follows is dropped")), "nobody was told");
    check("not_utf8", "");
}

/// Escape sequences in texts are kept. The code that displays the texts escapes them. Here they must only do no harm.
#[test]
fn words_for_terminals_are_only_words() {
    for recipe in ["escapes_in_name", "escapes_in_log", "escapes_in_attribute", "escapes_in_change"] {
        check(recipe, "");
    }
    let ran = check("escapes_in_error", "owned");
    let hint = ran.hint("hostile").expect("the guest gave one");
    assert!(hint.contains("owned") && hint.len() < 5_000, "{} bytes of hint", hint.len());
    check("escapes_in_type", "owned");
}
