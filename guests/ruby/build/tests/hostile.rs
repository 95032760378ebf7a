//! Tests hostile Ruby cookbooks: the host ends or refuses each, and the next policy on the same engine runs as usual.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod support;

use std::time::Duration;
use support::{MEMORY, Ran, run, run_denied, run_within};

/// Runs a recipe within tight limits; whatever becomes of it, the next one is unharmed.
fn harm(recipe: &str) -> Ran {
    harm_within(recipe, Duration::from_secs(3))
}

/// Runs a recipe that may use so much processor time; whatever becomes of it, the next one is unharmed.
fn harm_within(recipe: &str, guest_time: Duration) -> Ran {
    let ran = run_within(recipe, sandbox::Limits { memory: MEMORY, guest_time, ..sandbox::Limits::default() });
    let next = run("declare('file', '/next')");
    assert_eq!((next.failure, next.done), (None, vec!["create file[/next]".to_owned()]), "after {recipe}");
    ran
}

/// The recipe is ended for the time it takes.
fn check_time(recipe: &str) {
    let (class, message) = harm(recipe).failure.unwrap();
    assert_eq!(class, "Wrun::GuestLost", "{recipe}: {message}");
    assert!(message.contains("time"), "{recipe}: {message}");
}

#[test]
fn endless_loops_end_at_the_deadline() {
    check_time("loop {}");
    check_time("while true; end");
    check_time("begin; raise 'x'; rescue Exception; retry; end");
    check_time("begin; loop { begin; loop {}; rescue Exception; end }; ensure; loop {}; end");
    check_time("define_method(:x) {} rescue nil; at_exit { loop {} }; trap('INT') {} rescue nil; 1 while 1");
}

#[test]
fn a_regexp_bomb_ends_at_the_deadline() {
    check_time("('a' * 40 + 'b') =~ /\\A(a|a|aa)+\\1\\z/; loop { ('a' * 5000) =~ /(x+x+)+y|(a*)*\\2b/ }");
}

#[test]
fn memory_bombs_end_in_an_error() {
    for recipe in [
        "all = []; loop { all << 'x' * 1_000_000 }",
        "'x' * 1_900_000_000",
        "Array.new(400_000_000, 0)",
        "text = 'x'; loop { text << text }",
        "all = {}; n = 0; loop { all[n += 1] = n.to_s * 100 }",
    ] {
        let (class, message) = harm(recipe).failure.unwrap();
        let ended = ["NoMemoryError", "Wrun::GuestLost", "ArgumentError"].contains(&class.as_str());
        assert!(ended, "{recipe}: {class}: {message}");
    }
}

#[test]
fn deep_recursion_is_an_error() {
    let (class, message) = harm("def self.down = down\ndown").failure.unwrap();
    assert_eq!(class, "SystemStackError", "{message}");
    for recipe in [
        "deep = -> { [1].each { deep.() } }; deep.()",
        "deep = -> { Object.new.instance_eval { deep.() } }; deep.()",
        "JSON.generate((1..100_000).inject([]) { |all, _| [all] }, max_nesting: false)",
        "eval('[' * 20_000 + ']' * 20_000)",
    ] {
        let ran = harm(recipe);
        if let Some((class, message)) = ran.failure {
            let ended = ["SystemStackError", "Wrun::GuestLost", "SyntaxError"].contains(&class.as_str());
            assert!(ended, "{recipe}: {class}: {message}");
        }
    }
}

#[test]
fn walking_all_objects_finds_nothing_that_is_more_than_the_bridge() {
    let ran = harm(
        "
        gates = []
        ObjectSpace.each_object(Module) { |it| gates << it if it.respond_to?(:eval) && it.name.to_s.include?('JS') }
        answers = gates.map { |gate| gate.eval('machine.read-file [\"/etc/shadow\",0,10]').to_s }
        ObjectSpace.each_object(Class) { |type| type.allocate rescue nil }
        declare('file', '/seen') { answers.join(' ') }
        ",
    );
    let said = ran.done.join(" ");
    assert!(!said.contains("root:"), "{ran:?}");
    assert!(said.is_empty() || said.contains("denied") || said.ends_with("= \"\""), "{ran:?}");
}

#[test]
fn forged_calls_are_answered_like_anyone_elses() {
    let recipe =
        |call: &str| format!("begin; {call}; rescue => error; log(\"#{{error.class}}: #{{error.message}}\"); end");
    let check = |call: &str, expected: &str| {
        let ran = harm(&recipe(call));
        assert!(ran.log.iter().any(|line| line.contains(expected)), "{call}: {ran:?}");
    };
    check("Wrun::Bridge.call('machine.read-file', '/etc/shadow', 0, 100)", "/etc/shadow is not granted");
    check(
        "Wrun::Bridge.call('machine.apply', '/etc/x', 'remove', ['hostile', 'default', 'recipes/default.rb', 1])",
        "/etc/x is not granted",
    );
    check("Wrun::Bridge.call('machine.run', { line: 'id' }, ['', '', '', 0])", "is not granted");
    check("Wrun::Bridge.call('machine.explode')", "the contract has no function machine.explode");
    check("Wrun::Bridge.call('no such thing')", "ArgumentError");
    check("Wrun::Bridge.call('node.read', 'sideways', [])", "ArgumentError");
    check(
        "Wrun::Bridge.call_with('abc', 'machine.apply', '/x', { write: [[1, 99], 420] }, ['hostile', 'default', 'recipes/default.rb', 1])",
        "bytes that it does not bring",
    );
    check("Wrun::Bridge.call('resources.amend', 4_000_000, { clear: 'x' })", "");
}

#[test]
fn a_lie_about_whose_turn_it_is_ends_the_policy() {
    for recipe in [
        "Wrun::Bridge.call('turns.next', 'finished', 77)",
        "Wrun::Bridge.call('turns.next', 'ready')",
        "Wrun::Bridge.call('turns.next', 'value', 1, 'x')",
    ] {
        let (class, message) = harm(recipe).failure.unwrap();
        assert_eq!(class, "Wrun::GuestLost", "{recipe}: {message}");
    }
}

#[test]
fn leaving_by_force_ends_only_this_policy() {
    for recipe in
        ["exit!(0)", "abort('bye')", "exit", "Process.kill(9, 0)", "raise SystemExit", "fork {}", "$wrun = nil"]
    {
        let ran = harm(recipe);
        let failed = ran.failure.is_some() || recipe == "$wrun = nil";
        assert!(failed, "{recipe}: {ran:?}");
    }
}

#[test]
fn nothing_is_random_without_a_grant() {
    let recipe = "
        values = [-> { Random.new.rand(1 << 60) }, -> { rand(1 << 60) }, -> { Random.urandom(8).unpack1('Q') },
          -> { [1, 2, 3, 4, 5, 6, 7, 8, 9].shuffle.join }, -> { Object.new.hash }, -> { 'a'.hash }]
        log(values.map { |value| value.call rescue $!.class }.inspect)
    ";
    let (first, second) = (run_denied(recipe), run_denied(recipe));
    assert_eq!(first.failure, None, "{first:?}");
    assert_eq!(first.log, second.log, "the same inputs, the same plan");
}

#[test]
fn time_stands_still_without_a_grant() {
    let ran = run_denied("log([Time.now.to_i, Process.clock_gettime(Process::CLOCK_MONOTONIC)].inspect)");
    assert_eq!(ran.log, ["info: [1700000000, 0.0]"], "{ran:?}");
}

#[test]
fn printing_without_end_is_cut_off() {
    // It ends by itself, which takes about two seconds on a quick machine.
    let ran = harm_within("200_000.times { puts 'x' * 100 }; declare('file', '/done')", Duration::from_secs(60));
    assert_eq!(ran.failure, None, "{:?}", ran.failure);
    assert!(ran.log.last().unwrap().contains("what follows is dropped"), "{:?}", ran.log.last());
}
