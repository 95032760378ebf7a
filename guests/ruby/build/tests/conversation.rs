//! Tests turns between Ruby and the host: a recipe sends tasks while it answers a request of the host.

mod support;

use support::{ask, run};

#[test]
fn a_recipe_declares_and_the_host_acts() {
    let ran = run("declare('file', '/a', content: 'one'); declare('file', '/b') { 'tw' + 'o' }");
    assert_eq!(ran.failure, None, "{ran:?}");
    assert_eq!(ran.done, ["create file[/a] = \"one\"", "create file[/b] = \"two\""]);
    assert_eq!(ran.declared, ["file[/a] app/recipes/default.rb:1", "file[/b] app/recipes/default.rb:1"]);
}

#[test]
fn children_converge_where_they_are_declared() {
    let ran = run("
        define('leaf') { declare('file', '/leaf', guard: -> { log('guard'); true }) { log('content'); 'x' } }
        define('branch') { log('before'); declare('leaf', 'l'); log('after') }
        declare('branch', 'b')
        declare('file', '/last')
    ");
    assert_eq!(ran.failure, None, "{ran:?}");
    assert_eq!(ran.log, ["info: before", "info: guard", "info: content", "info: after"]);
    assert_eq!(ran.done, ["create file[/leaf] = \"x\"", "create file[/last]"]);
}

#[test]
fn an_exception_passes_through_the_host_and_stays_the_same_object() {
    let ran = run("
        Mine = Class.new(StandardError) { attr_accessor :detail }
        thrown = Mine.new('broken').tap { |error| error.detail = [1, 2] }
        define('outer') do
          declare('file', '/a', guard: -> { raise thrown })
        rescue Mine => error
          log([error.equal?(thrown), error.detail, error.message].inspect)
        end
        declare('outer', 'o')
    ");
    assert_eq!(ran.failure, None, "{ran:?}");
    assert_eq!(ran.log, ["info: [true, [1, 2], \"broken\"]"]);
}

#[test]
fn the_hosts_failures_are_rescued_by_their_class() {
    let ran = run("
        define('outer') do
          declare('file', 'broken')
        rescue SystemCallError => error
          log(\"#{error.class}: #{error.message}\")
        end
        declare('outer', 'o')
    ");
    assert_eq!(ran.failure, None, "{ran:?}");
    assert_eq!(ran.log.len(), 1, "{ran:?}");
    assert!(ran.log[0].starts_with("info: Errno::EIO: ") && ran.log[0].contains("the disk is broken"), "{ran:?}");
}

#[test]
fn a_failure_names_class_message_and_place() {
    let ran = run("\n\ndef self.helper = raise(ArgumentError, 'no such thing')\nhelper\n");
    let (class, message) = ran.failure.unwrap();
    assert_eq!(class, "ArgumentError");
    assert!(message.contains("no such thing"), "{message}");
    assert_eq!(ran.backtrace[0], "app/recipes/default.rb:3: in helper", "{:?}", ran.backtrace);
    assert!(ran.backtrace.iter().all(|frame| !frame.starts_with("/wrun/")), "{:?}", ran.backtrace);
}

#[test]
fn a_throw_does_not_leave_the_hosts_frames() {
    let ran = run("
        define('outer') do
          caught = catch(:out) { declare('file', '/a', guard: -> { throw :out, 1 }); 2 }
          log(\"caught #{caught}\")
        rescue RuntimeError => error
          log(error.message)
        end
        declare('outer', 'o')
        declare('file', '/after')
    ");
    assert_eq!(ran.failure, None, "{ran:?}");
    assert_eq!(ran.log.len(), 1, "{ran:?}");
    assert!(ran.log[0].contains("a `throw` left the block of a resource"), "{ran:?}");
    assert_eq!(ran.done, ["create file[/after]"]);
}

#[test]
fn ten_thousand_exceptions_and_then_some_work() {
    let ran = run("
        count = 0
        10_000.times do |number|
          raise ArgumentError, number.to_s
        rescue ArgumentError
          count += 1
        end
        define('raising') do
          200.times { declare('file', '/x', guard: -> { raise 'no' }) rescue count += 1 }
        end
        declare('raising', 'r')
        declare('file', '/after') { count.to_s }
    ");
    assert_eq!(ran.failure, None, "{ran:?}");
    assert_eq!(ran.done, ["create file[/after] = \"10200\""]);
}

#[test]
fn a_phase_may_answer_with_a_value() {
    let answer = ask(contract::Question::Metadata { cookbook: "app".into(), place: String::new() });
    assert_eq!(answer.unwrap(), serde_json::json!({ "name": "app" }));
}

#[test]
fn bytes_that_are_no_text_go_both_ways() {
    let ran = run("declare('file', '/a') { Wrun::Content.new([0, 255, 10].pack('C*')) }");
    assert_eq!(ran.failure, None, "{ran:?}");
    assert_eq!(ran.done, ["create file[/a] = \\x00\\xff\\n"]);
}
