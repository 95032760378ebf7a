//! Tests the runtime that nodes get, with the frozen library.

mod support;

use support::{run_released, run_released_denied};

#[test]
fn a_recipe_runs_on_the_frozen_library() {
    let ran = run_released(
        "
        file '/etc/motd' do
          content lazy { \"on #{node['platform']}\" }
          mode '0644'
        end
        directory '/srv' do
          only_if { true }
        end
        ",
    );
    assert_eq!(ran.failure, None, "{ran:?}");
    assert_eq!(ran.done, ["create file[/etc/motd] = \"on debian\"", "create directory[/srv]"]);
    assert_eq!(ran.declared, ["file[/etc/motd] app/recipes/default.rb:2", "directory[/srv] app/recipes/default.rb:6"]);
}

#[test]
fn two_instances_share_nothing() {
    let first =
        run_released("$left = 1; String.class_eval { def left_behind = 1 }; ENV['LEFT'] = '1' rescue nil; log 'ran'");
    assert_eq!(first.failure, None, "{first:?}");
    let second = run_released(
        "raise 'left behind' if $left || ''.respond_to?(:left_behind) || ENV['LEFT']
        file '/clean'",
    );
    assert_eq!((second.failure, second.done), (None, vec!["create file[/clean]".to_owned()]));
}

/// Numbers that no two runs should share.
const CHANCE: &str = "
    require 'securerandom'
    file [rand(1 << 60), Random.new.rand(1 << 60), Random.rand(1 << 60), SecureRandom.hex(8),
      (1..30).to_a.shuffle.join('.'), (1..1000).to_a.sample(8).join('.')].join(' ')";

#[test]
fn granted_randomness_differs_from_run_to_run() {
    let (first, second) = (run_released(CHANCE), run_released(CHANCE));
    assert_eq!((&first.failure, &second.failure), (&None, &None), "{first:?} {second:?}");
    let numbers = |done: &[String]| done[0].split(' ').map(str::to_owned).collect::<Vec<_>>();
    let (first, second) = (numbers(&first.done), numbers(&second.done));
    assert_eq!((first.len(), second.len()), (7, 7), "{first:?}");
    // The first word is the action.
    for (one, other) in first.iter().zip(&second).skip(2) {
        assert_ne!(one, other, "{first:?} {second:?}");
    }
}

#[test]
fn randomness_that_is_not_granted_is_refused_and_the_grant_is_named() {
    let ran = run_released_denied("require 'securerandom'; file SecureRandom.hex(8)");
    let (class, message) = ran.failure.unwrap();
    assert!(message.contains("random"), "{class}: {message}");
    assert_eq!(ran.done, [""; 0]);
}

#[test]
fn a_failure_hides_the_library_and_shows_the_cookbook() {
    let ran = run_released("\nfile '/a' do\n  no_such_property 1\nend\n");
    let (class, message) = ran.failure.unwrap();
    assert_eq!(class, "NoMethodError", "{message}");
    assert!(message.contains("no_such_property"), "{message}");
    assert!(ran.backtrace[0].starts_with("app/recipes/default.rb:3"), "{:?}", ran.backtrace);
    assert!(ran.backtrace.iter().all(|frame| !frame.contains("/wrun/")), "{:?}", ran.backtrace);
}
