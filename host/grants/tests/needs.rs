//! What an author asks for, held against what an operator grants.

#![cfg(test)]

use grants::{Addition, Grants, Limit, NeedAnswer, Needs};
use serde_json::{Value, json};
use std::time::Duration;

fn needs(text: &str) -> Needs {
    Needs::parse(&format!("name = \"web\"\n[needs]\n{text}"), "policy.toml").unwrap()
}

/// The needs of a policy with a cookbook `site`, each as `KEY VALUE: ANSWER`.
#[track_caller]
fn check(wanted: &str, granted: &str, expect: &[&str]) {
    let grants = Grants::parse(&format!("[policy.web]\n{granted}"), "grants.toml").unwrap();
    let held = grants.policy("web", &["site".into()]).hold(&needs(wanted));
    let shown = held.iter().map(|held| {
        let answer = match &held.answer {
            NeedAnswer::Granted => "granted",
            NeedAnswer::Missing => "missing",
            NeedAnswer::Refused(why) => why,
        };
        format!("{} {}: {answer}", held.key, held.value)
    });
    assert_eq!(shown.collect::<Vec<_>>(), expect);
}

#[test]
fn every_key_of_grants_can_be_asked_for() {
    let all = "paths = [\"/a\"]\nprivileged_paths = [\"/b\"]\nread_paths = [\"/c\"]\nsetuid = [\"/d\"]\n\
        packages = [\"e\"]\npackage_options = [\"-f\"]\npackage_environment = [\"G=h\"]\npackage_sources = [\"/i\"]\n\
        services = [\"j\"]\nusers = [\"k\"]\ngroups = [\"l\"]\ncron_users = [\"m\"]\n\
        mounts = [\"n on /o type p (q)\"]\nkernel_modules = [\"ab-c\"]\ncommands = [\"r\", { argv = [\"s\"], user = \"t\" }]\n\
        download_hosts = [\"https://u\"]\nwrite_attributes = [\"v\"]\nread_attributes = [\"w\"]\nfacts = [\"x\"]\n\
        data_bags = [\"y\"]\nsearch = [\"z\"]\nroles = [\"a\"]\nenvironments = [\"b\"]\nenvironment = [\"C\"]\n\
        clock = true\nrandom = true\nreboot = true\nlimits = { guest_seconds = 3.5 }\n";
    let needs = needs(all);
    assert_eq!(needs.limits().time(Limit::GuestTime), Some(Duration::from_millis(3500)));
    // All of it is granted by a table of the same text, and none of it by an empty one.
    let held = |table: &str| {
        let grants = Grants::parse(&format!("[policy.web]\n{table}"), "grants.toml").unwrap();
        grants.policy("web", &[]).hold(&needs)
    };
    assert_eq!(held(all).len(), 28);
    assert!(held(all).iter().all(|held| held.answer == NeedAnswer::Granted), "{:?}", held(all));
    assert!(held("").iter().all(|held| held.answer == NeedAnswer::Missing), "{:?}", held(""));
    // An artifact keeps them as JSON.
    let kept: Value = serde_json::to_value(&needs).unwrap();
    assert_eq!(kept["commands"], json!(["r", { "argv": ["s"], "user": "t" }]));
    let read: Needs = serde_json::from_value(kept).unwrap();
    assert_eq!(read, needs);
    assert_eq!(Grants::allow_all().policy("web", &[]).hold(&read).len(), 28);
}

#[test]
fn mistakes_are_named_with_file_and_line() {
    let refused = |text: &str| Needs::parse(text, "policy.toml").unwrap_err().to_string();
    assert_eq!(
        refused("name = \"a\"\n[needs]\npackges = []\n"),
        "policy.toml:3: unknown key `packges`, did you mean `packages`?"
    );
    assert_eq!(refused("[needs]\npaths = [\n\"etc\"]\n").split(": ").next(), Some("policy.toml:3"));
    let denial = refused("[needs]\ndeny_paths = []\n");
    assert!(denial.starts_with("policy.toml:2: `deny_paths` is for operators"), "{denial}");
    assert!(serde_json::from_value::<Needs>(json!({ "beer": [] })).is_err());
    assert!(serde_json::from_value::<Needs>(json!(1)).is_err());
    assert!(Needs::parse("name = \"a\"\n", "policy.toml").unwrap().is_empty());
}

#[test]
fn a_rule_grants_what_it_covers() {
    check(
        "paths = [\"/opt/motd\", \"/srv/**\", \"/opt/*\"]\n",
        "paths = [\"/opt/**\", \"/srv/a/**\"]\n",
        &["paths \"/opt/*\": granted", "paths \"/opt/motd\": granted", "paths \"/srv/**\": missing"],
    );
    check("read_paths = [\"/opt/hosts\"]\n", "paths = [\"/opt/*\"]\n", &["read_paths \"/opt/hosts\": granted"]);
    check(
        "services = [\"nginx.service\"]\ndata_bags = [\"a/b\"]\ndownload_hosts = [\"a.example.org\"]\n",
        "services = [\"nginx\"]\ndata_bags = [\"a\"]\ndownload_hosts = [\"https://*.example.org\"]\n",
        &[
            "data_bags \"a/b\": granted",
            "download_hosts \"a.example.org\": granted",
            "services \"nginx.service\": granted",
        ],
    );
    // Harmless facts are everybody's, unless a rule says otherwise.
    check("facts = [\"platform\", \"memory\"]\n", "", &["facts \"memory\": missing", "facts \"platform\": granted"]);
    check("facts = [\"platform\"]\n", "deny_facts = [\"*\"]\n", &["facts \"platform\": line 2 refuses it: `*`"]);
    // Its own cookbooks' attributes need no rule.
    check(
        "write_attributes = [\"site.port\", \"other\"]\n",
        "",
        &["write_attributes \"other\": missing", "write_attributes \"site.port\": granted"],
    );
}

#[test]
fn what_a_rule_refuses_or_does_not_reach_is_told_with_its_line() {
    check(
        "paths = [\"/etc/cron.d/x\", \"/etc/a\"]\n",
        "paths = [\"/etc/**\"]\ndeny_paths = [\"/etc/a\"]\n",
        &[
            "paths \"/etc/a\": line 3 refuses it: `/etc/a`",
            "paths \"/etc/cron.d/x\": it is privileged, and `/etc/**` in line 2 is too wide a rule to reach it",
        ],
    );
    let why = "`/etc/**` in line 2 is too wide a rule to reach anything below /etc: it must name an application's \
               directory there, as `/etc/NAME/**` does";
    for wanted in ["/etc/motd", "/etc/*.conf", "/etc/mysql/**"] {
        let expect = format!("paths \"{wanted}\": {why}");
        check(&format!("paths = [\"{wanted}\"]\n"), "paths = [\"/etc/**\"]\n", &[&expect]);
    }
    check(
        "users = [\"root\"]\n",
        "users = [\"*\"]\n",
        &["users \"root\": it is privileged, and `*` in line 2 is too wide a rule to reach it"],
    );
    check(
        "commands = [\"rm -r x\"]\n",
        "commands = [\"rm -r x\"]\ndeny_commands = [{ argv = [\"rm\", \"<rest>\"] }]\n",
        &["commands \"rm -r x\": line 3 refuses it: `{ argv = [\"rm\", \"<rest>\"] }`"],
    );
}

#[test]
fn commands_are_held_with_all_that_belongs_to_them() {
    let granted = "commands = [{ argv = [\"mysql\", \"<any>\", \"<rest>\"], user = \"mysql\", environment = { A = \"<any>\" } }]\n";
    let held = |wanted: &str, expect: &str| {
        check(&format!("commands = [{wanted}]\n"), granted, &[&format!("commands {wanted}: {expect}")]);
    };
    held("{ argv = [\"mysql\", \"-e\", \"x\"], user = \"mysql\", environment = { A = \"1\" } }", "granted");
    held("{ argv = [\"mysql\", \"<any>\"], user = \"mysql\", environment = { A = \"<any>\" } }", "granted");
    held("{ argv = [\"mysql\", \"<rest>\"], user = \"mysql\", environment = { A = \"1\" } }", "missing");
    held("{ argv = [\"mysql\", \"-e\"], user = \"mysql\" }", "missing");
    held("{ argv = [\"mysql\", \"-e\"], user = \"root\", environment = { A = \"1\" } }", "missing");
    held("{ shell = \"mysql | cat\", user = \"mysql\", environment = { A = \"1\" } }", "missing");
}

#[test]
fn a_flag_is_denied_in_the_same_words_whether_a_run_or_an_author_asks_for_it() {
    let grants = || Grants::parse("[policy.web]\n", "grants.toml").unwrap().policy("web", &[]);
    let denied = |grants: &grants::PolicyGrants| {
        let (denials, _) = grants.journal().denials();
        let mut shown: Vec<_> = denials.into_iter().map(|one| (one.key, one.value, one.message, one.asked)).collect();
        shown.sort();
        shown
    };
    let (run, author) = (grants(), grants());
    run.refuse_clock();
    run.refuse_random();
    assert!(run.reboot().is_err());
    author.deny_needs(&needs("clock = true\nrandom = true\nreboot = true\n"));
    assert_eq!((denied(&run).len(), denied(&run)), (3, denied(&author)));
}

/// A manifest has needs as JSON. A command in table form is denied, and suggested, as one value.
#[test]
fn attack_a_command_in_table_form_is_one_entry() {
    let table = json!({ "commands": [{ "argv": ["date"], "user": "app" }, "true"], "paths": ["/srv/a"] });
    let needs = Needs::from_json(table.as_object().unwrap().clone()).unwrap();
    let grants = Grants::nothing();
    let policy = grants.policy("web", &[]);
    policy.deny_needs(&needs);
    let values: Vec<_> = policy.journal().denials().0.into_iter().filter_map(|denial| denial.value).collect();
    assert!(
        values.iter().any(|value| value.contains("argv = [\"date\"]") && value.contains("user = \"app\"")),
        "{values:?}"
    );
    let additions: Vec<_> = policy.journal().denials().0.iter().filter_map(Addition::of).collect();
    assert!(grants::add("", "grants.toml", &additions).is_ok(), "{additions:?}");
}
