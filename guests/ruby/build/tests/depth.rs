//! Tests deeply nested recipes: nested blocks that run through C, together with garbage collection and exceptions. Without
//! enlarged buffers, CRuby for WebAssembly would die after fifty such blocks.

mod support;

use support::run;

/// Runs Ruby that ends with the recipe's one resource, which says `expected`.
fn check(recipe: &str, expected: &str) {
    let ran = run(recipe);
    assert_eq!(ran.failure, None, "{recipe}\n{ran:?}");
    assert_eq!(ran.done, [format!("create file[/done] = \"{expected}\"")], "{recipe}");
}

/// A recipe that nests a step two hundred deep and does something at the bottom.
fn nested(step: &str, bottom: &str) -> String {
    format!(
        "deep = ->(left) {{ left.zero? ? ({bottom}) : {step} }}
        result = begin; deep.(200); rescue RuntimeError => error; error.message; end
        declare('file', '/done') {{ result.to_s }}"
    )
}

/// What runs at the bottom, and what comes back.
const BOTTOMS: [(&str, &str); 3] = [
    ("GC.start; 'bottom'", "bottom"),
    ("begin; raise 'inside'; rescue RuntimeError => error; error.message; end", "inside"),
    ("raise 'to the top'", "to the top"),
];

#[test]
fn instance_eval_two_hundred_deep() {
    for (bottom, expected) in BOTTOMS {
        check(&nested("Object.new.instance_eval { deep.(left - 1) }", bottom), expected);
    }
}

#[test]
fn each_two_hundred_deep() {
    for (bottom, expected) in BOTTOMS {
        check(&nested("(found = nil; { a: 1 }.each { found = deep.(left - 1) }; found)", bottom), expected);
        check(&nested("[1].map { deep.(left - 1) }.first", bottom), expected);
    }
}

#[test]
fn blocks_two_hundred_deep_under_constant_collection() {
    let step = "[1].each_with_object([]) { |_, all| all << Object.new.instance_exec(left) { |n| deep.(n - 1) } }.last";
    check(&format!("GC.stress = false\n{}", nested(step, "20.times { GC.start }; 'bottom'")), "bottom");
    let stressed = "begin; GC.stress = true; 'a' + 'b'; raise 'x'; rescue RuntimeError; GC.stress = false; 'calm'; end";
    check(&nested(step, stressed), "calm");
}

#[test]
fn exceptions_fly_through_every_level() {
    let step = "begin; [1].each { Object.new.instance_eval { deep.(left - 1) } }; rescue RuntimeError => error; \
        raise RuntimeError, error.message.succ; end";
    check(&nested(step, "raise 'a'"), "gs");
}

#[test]
fn resources_inside_resources() {
    check(
        "
        define('nest') do
          depth = (Thread.current[:depth] = (Thread.current[:depth] || 0) + 1)
          [1].each { Object.new.instance_eval { GC.start } }
          depth < 40 ? { a: 1 }.each { declare('nest', depth.to_s) } : declare('file', '/done') { depth.to_s }
        end
        declare('nest', '0')
        ",
        "40",
    );
}
