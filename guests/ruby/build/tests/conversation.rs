//! Ruby and the host, in turns.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod support;

use support::run;

#[test]
fn a_recipe_declares_and_the_host_acts() {
    let ran = run("declare('file', '/a', content: 'one'); declare('file', '/b') { 'tw' + 'o' }");
    assert_eq!(ran.failure, None, "{ran:?}");
    assert_eq!(ran.done, ["create file[/a] = \"one\"", "create file[/b] = \"two\""]);
}
