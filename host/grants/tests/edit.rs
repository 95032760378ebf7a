//! Adding entries to a file of grants: what is there stays as it is written.

#![cfg(test)]

use grants::{Addition, add};

fn addition(key: &str, value: &str) -> Addition {
    Addition { policy: "web".into(), key: key.into(), value: value.into() }
}

#[track_caller]
fn check(text: &str, additions: &[(&str, &str)], expect: &str) {
    let additions: Vec<_> = additions.iter().map(|(key, value)| addition(key, value)).collect();
    let edited = add(text, "grants.toml", &additions).unwrap();
    assert_eq!(edited.text, expect);
    // A second time there is nothing to do.
    let again = add(&edited.text, "grants.toml", &additions).unwrap();
    assert_eq!((again.text.as_str(), again.keys.len()), (expect, 0));
}

#[test]
fn comments_and_order_stay() {
    check(
        "# ours\n[policy.web] # the site\npackages = [\"nginx\"] # from Debian\n\n# last\nclock = false\n\n[policy.db]\npaths = []\n",
        &[("packages", "\"curl\""), ("clock", "true"), ("services", "\"nginx\"")],
        "# ours\n[policy.web] # the site\npackages = [\"nginx\", \"curl\"] # from Debian\n\n# last\nclock = true\nservices = [\"nginx\"]\n\n[policy.db]\npaths = []\n",
    );
}

#[test]
fn a_list_keeps_its_style() {
    check(
        "[policy.web]\npaths = [\n  \"/a\", # one\n  # two\n  \"/b\", # three\n]\n",
        &[("paths", "\"/c\""), ("paths", "\"/d\"")],
        "[policy.web]\npaths = [\n  \"/a\", # one\n  # two\n  \"/b\", # three\n  \"/c\",\n  \"/d\",\n]\n",
    );
    check(
        "[policy.web]\npaths = [\n    \"/a\",\n    \"/b\"\n]\n",
        &[("paths", "\"/c\"")],
        "[policy.web]\npaths = [\n    \"/a\",\n    \"/b\",\n    \"/c\",\n]\n",
    );
    let (long, longer) = (format!("\"/{}\"", "a".repeat(40)), format!("\"/{}\"", "b".repeat(50)));
    check(
        "",
        &[("paths", &long), ("paths", &longer)],
        &format!("[policy.web]\npaths = [\n    {long},\n    {longer},\n]\n"),
    );
}

#[test]
fn tables_are_made_where_they_are_missing_and_found_however_they_are_written() {
    check("", &[("reboot", "true")], "[policy.web]\nreboot = true\n");
    check(
        "[policy.db]\nclock = true\n",
        &[("packages", "\"a\"")],
        "[policy.db]\nclock = true\n\n[policy.web]\npackages = [\"a\"]\n",
    );
    check("policy.web.packages = [\"a\"]\n", &[("packages", "\"b\"")], "policy.web.packages = [\"a\", \"b\"]\n");
    check(
        "policy = { web = { packages = [\"a\"] } }\n",
        &[("packages", "\"b\"")],
        "policy = { web = { packages = [\"a\", \"b\"] } }\n",
    );
    check(
        "[policy.web]\ncommands = [\"ls\"]\n",
        &[("commands", "{ argv = [\"a\", \"b c\"], user = \"x\" }")],
        "[policy.web]\ncommands = [\"ls\", { argv = [\"a\", \"b c\"], user = \"x\" }]\n",
    );
}

#[test]
fn what_is_allowed_already_is_not_added() {
    check(
        "[policy.web]\nwrite_attributes = [\"a\"]\n",
        &[("write_attributes", "\"a.b\"")],
        "[policy.web]\nwrite_attributes = [\"a\"]\n",
    );
    check("[policy.web]\ndata_bags = [\"a\"]\n", &[("data_bags", "\"a/b\"")], "[policy.web]\ndata_bags = [\"a\"]\n");
    // A wide rule may not reach it.
    check(
        "[policy.web]\npaths = [\"/etc/**\"]\n",
        &[("paths", "\"/etc/sudoers\"")],
        "[policy.web]\npaths = [\"/etc/**\", \"/etc/sudoers\"]\n",
    );
}

#[test]
fn the_changed_lines_are_told() {
    let text = "[policy.web]\npackages = [\"nginx\"] # x\n";
    let edited = add(text, "grants.toml", &[addition("packages", "\"curl\""), addition("paths", "\"/a\"")]).unwrap();
    let keys: Vec<_> = edited.keys.iter().map(|key| (key.policy.as_str(), key.lines.as_str(), key.is_new)).collect();
    assert_eq!(keys, [("web", "packages = [\"nginx\", \"curl\"]", false), ("web", "paths = [\"/a\"]", true)]);
}

#[test]
fn what_grants_cannot_have_is_refused_and_files_with_mistakes_are_left_alone() {
    for (key, value) in [
        ("beer", "\"x\""),
        ("paths", "\"etc\""),
        ("paths", "3"),
        ("paths", "\"/a\"]\nx = [\"/b\""),
        ("clock", "\"yes\""),
    ] {
        assert!(add("", "grants.toml", &[addition(key, value)]).is_err(), "{key} = {value}");
    }
    let error =
        add("[policy.web]\npackages = []\npackages = []\n", "g.toml", &[addition("paths", "\"/a\"")]).unwrap_err();
    assert!(error.to_string().starts_with("g.toml:3: the key `packages` is in this table twice"), "{error}");
}
