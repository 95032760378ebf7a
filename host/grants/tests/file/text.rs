//! What the file may say: keys, limits, mistakes, and the documented example.

use super::policy;
use grants::{Grants, Limit, LimitDefault, LimitSetting};
use std::time::Duration;

#[track_caller]
fn check_refused(text: &str, expect: &str) {
    let error = Grants::parse(text, "/etc/wrun/grants.toml").expect_err(text).to_string();
    assert_eq!(error, expect);
}

#[test]
fn errors_name_file_line_and_key() {
    check_refused("[policy.a]\npathes = []\n", "/etc/wrun/grants.toml:2: unknown key `pathes`, did you mean `paths`?");
    for (text, key, meant) in [
        ("\n[polices.a]\n", "polices", ", did you mean `[policy.a]`?"),
        ("\n[policies.web]\n", "policies", ", did you mean `[policy.web]`?"),
        ("\n[web]\npaths = []\n", "web", ", did you mean `[policy.web]`?"),
        ("\n[\"a b\"]\n", "a b", ", did you mean `[policy.\"a b\"]`?"),
        ("\n[polices]\n", "polices", ", did you mean `policy`?"),
        ("\n[needs]\n", "needs", ""),
        ("\nweb = 1\n", "web", ""),
    ] {
        check_refused(text, &format!("/etc/wrun/grants.toml:2: unknown key `{key}`{meant}"));
    }
    check_refused("[policy.a]\nqqqqqqqqq = 1\n", "/etc/wrun/grants.toml:2: unknown key `qqqqqqqqq`");
    check_refused("[policy.a]\npaths = \"/etc\"\n", "/etc/wrun/grants.toml:2: `paths` must be a list");
    check_refused("[policy.a]\npaths = [\n  \"/a\",\n  3,\n]\n", "/etc/wrun/grants.toml:4: `paths` must hold text");
    check_refused("[policy.a]\nclock = \"yes\"\n", "/etc/wrun/grants.toml:2: `clock` must be true or false");
    check_refused(
        "[policy.a]\nlimits = { memory_mib = 0 }\n",
        "/etc/wrun/grants.toml:2: `memory_mib` must be a whole number above 0",
    );
    check_refused("[policy.a]\nlimits = { memory = 1 }\n", "/etc/wrun/grants.toml:2: unknown key `memory`");
    check_refused(
        "[policy.a]\ncommands = [{ argv = [\"x\"], usr = \"a\" }]\n",
        "/etc/wrun/grants.toml:2: unknown key `usr`, did you mean `user`?",
    );
    check_refused(
        "[policy.a]\ncommands = [{ user = \"a\" }]\n",
        "/etc/wrun/grants.toml:2: `commands` must have one of `argv`, `shell`, or `interpreter` with `script` or `script_sha256`",
    );
    check_refused(
        "[policy.a]\npaths = [\"etc\"]\n",
        "/etc/wrun/grants.toml:2: `paths` has a bad rule: `etc` is not an absolute path: it must begin with `/` and have no empty, `.` or `..` component",
    );
    check_refused(
        "[policy.a]\ndownload_hosts = [\"https://a/b\"]\n",
        "/etc/wrun/grants.toml:2: `download_hosts` has a bad rule: `https://a/b` has a path; only whole servers can be granted",
    );
    let error = Grants::parse("[policy.a]\npaths = [\n", "g.toml").unwrap_err().to_string();
    assert!(error.starts_with("g.toml:"), "{error}");
}

#[test]
fn a_key_that_is_there_twice_is_named_with_what_to_write_instead() {
    check_refused(
        "[policy.a]\nclock = true\nclock = true\n",
        "/etc/wrun/grants.toml:3: the key `clock` is in this table twice, first in line 2; join the two values into one",
    );
    check_refused(
        "[policy.b]\npackages = [\"z\"]\n[policy.a]\n# web\npackages = [\n  \"x\", # one\n  \"y\",\n]\npackages = [\"y\", \"w\"]\npaths = []\n",
        "/etc/wrun/grants.toml:9: the key `packages` is in this table twice, first in line 5; write one line instead: packages = [\"x\", \"y\", \"w\"]",
    );
    check_refused(
        "[policy.a]\nclock = true\n\n[policy.a]\nrandom = true\n",
        "/etc/wrun/grants.toml:4: the table [policy.a] is here twice, first in line 1: put the keys of both below the first",
    );
}

#[test]
fn limits_and_flags() {
    let grants = policy("clock = true\nlimits = { guest_seconds = 60, memory_mib = 256 }\n");
    let limits = grants.limits();
    assert_eq!(limits.time(Limit::GuestTime), Some(Duration::from_secs(60)));
    assert_eq!((limits.get(Limit::GuestMemory), limits.time(Limit::Wall)), (Some(256), None));
    assert!(grants.clock() && !grants.random());
    for (limit, number) in Limit::ALL.into_iter().zip(1..) {
        let limits = policy(&format!("limits = {{ {} = {number} }}\n", limit.setting().key)).limits();
        let set = |one| limits.get(one).or_else(|| limits.time(one).map(|time| time.as_secs()));
        assert_eq!(Limit::ALL.map(set), Limit::ALL.map(|one| (one == limit).then_some(number)));
    }
}

#[test]
fn limits_of_time_may_be_parts_of_seconds() {
    for (text, milliseconds) in [("0.5", 500), ("1.25", 1250), ("60", 60_000), ("1e-3", 1), ("2e1", 20_000)] {
        let limits = policy(&format!("limits = {{ wall_seconds = {text} }}\n")).limits();
        assert_eq!(limits.time(Limit::Wall), Some(Duration::from_millis(milliseconds)), "{text}");
    }
    let refused = |key: &str, text: &str| {
        let file = format!("[policy.a]\nlimits = {{ {key} = {text} }}\n");
        Grants::parse(&file, "g.toml").unwrap_err().to_string()
    };
    for text in ["0", "0.0001", "-0.5", "nan", "inf", "1e300", "\"1\""] {
        let expect = "g.toml:2: `wall_seconds` must be seconds, at least 0.001, such as 60 or 0.5";
        assert_eq!(refused("wall_seconds", text), expect, "{text}");
    }
    assert_eq!(refused("processes", "0.5"), "g.toml:2: `processes` must be a whole number above 0");
}

#[test]
fn the_documentation_has_the_table_of_limits() {
    let page = include_str!("../../../../docs/limits.md");
    let rows = page.lines().skip_while(|line| !line.starts_with("| Setting below `limits` |")).skip(2);
    let rows: Vec<_> = rows.take_while(|line| line.starts_with('|')).collect();
    let expected = Limit::ALL.map(|limit| {
        let LimitSetting { key, default, meaning, .. } = limit.setting();
        let default = match default {
            LimitDefault::Fixed(number) => number.to_string(),
            LimitDefault::Setting(name, number) => format!("`{name}` of the settings, {number}"),
            LimitDefault::TimesGuestMemory(2) => "twice `memory_mib`".to_owned(),
            LimitDefault::TimesGuestMemory(times) => format!("{times} times `memory_mib`"),
        };
        format!("| `{key}` | {default} | {meaning} |")
    });
    assert_eq!(rows, expected);
}

#[test]
fn a_policy_has_its_table_in_one_file() {
    let files = [
        ("a.toml", "[policy.web]\nclock = true\n"),
        ("d/b.toml", "\n[policy.db]\n"),
        ("d/c.toml", "\n\n[policy.web]\n"),
    ];
    let error = Grants::parse_files(&files).unwrap_err().to_string();
    assert_eq!(
        error,
        "policy \"web\" has a table in two files: a.toml:1 and d/c.toml:3; put all of it into one of them"
    );
    let grants = Grants::parse_files(&files[..2]).unwrap();
    assert_eq!(grants.policy_names().collect::<Vec<_>>(), ["db", "web"]);
    assert_eq!((grants.file_of("db"), grants.file_of("x")), (Some("d/b.toml"), None));
}

#[test]
fn the_documented_example_is_valid() {
    let text = include_str!("../../../../docs/grants.example.toml");
    let grants = Grants::parse(text, "docs/grants.example.toml").unwrap_or_else(|error| panic!("{error}"));
    for name in grants.policy_names() {
        assert_eq!(grants.policy(name, &[]).short_rules(), [], "{name}");
    }
    assert!(grants.policy_names().count() >= 1);
}
