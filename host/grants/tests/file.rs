//! The operator's file: what it may say, what it must not, and what is denied without it.

#![cfg(test)]

use grants::{Asker, CommandAsked, Grants, Limit, LimitDefault, LimitSetting, LineAsked, PolicyGrants};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

fn policy(table: &str) -> Arc<PolicyGrants> {
    Grants::parse(&format!("[policy.database]\n{table}"), "grants.toml").unwrap().policy("database", &["mysql".into()])
}

fn path(keys: &[&str]) -> Vec<String> {
    keys.iter().map(ToString::to_string).collect()
}

fn shell(line: &str) -> CommandAsked<'_> {
    CommandAsked {
        line: LineAsked::Text(line),
        user: None,
        group: None,
        cwd: None,
        umask: None,
        environment: &[],
        input: None,
        sensitive: false,
    }
}

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
fn absent_and_empty_both_mean_denied() {
    for table in [
        "",
        "paths = []\npackages = []\nservices = []\nusers = []\ngroups = []\ncommands = []\ndownload_hosts = []\nfacts = []\n",
    ] {
        denies_all(&policy(table));
    }
    denies_all(&Grants::nothing().policy("database", &[]));
    denies_all(&Grants::parse("[policy.core]\npaths = [\"/**\"]\n", "g").unwrap().policy("database", &[]));
}

#[track_caller]
fn denies_all(grants: &PolicyGrants) {
    assert!(grants.manage_path("/srv/x").is_err() && grants.read_path("/srv/x").is_err());
    assert!(grants.package("x").is_err() && grants.service("x").is_err());
    assert!(
        grants.user("x", grants::Standing::Ordinary).is_err() && grants.group("x", grants::Standing::Ordinary).is_err()
    );
    assert!(grants.command(&shell("true")).is_err() && grants.download("https://example.org/").is_err());
    let all = json!({ "platform": "debian", "memory": { "total": "1kB" } });
    assert_eq!(grants.visible_facts(&all).into_owned(), json!({ "platform": "debian" }), "the one exception");
    assert!(
        grants.refuse_fact(&path(&["memory"]), true).is_some()
            && grants.visible_attributes(&all).into_owned() == json!({})
    );
    assert!(grants.data_bag("x", None).is_err() && grants.search("node").is_err() && grants.role("x").is_err());
    let one = [("X".to_owned(), "y".to_owned())];
    assert!(grants.visible_environment(one).is_empty() && !grants.clock() && !grants.random());
}

#[test]
fn names_are_granted_one_by_one_or_by_pattern() {
    let grants = policy(
        "packages = [\"mariadb-server\", \"php-*\"]\ndeny_packages = [\"php-fpm\"]\nservices = [\"mariadb.service\"]\n",
    );
    assert_eq!(grants.package("mariadb-server").unwrap().name(), "mariadb-server");
    assert!(grants.package("mariadb-client").is_err());
    assert!(grants.package("php-xml").is_ok() && grants.package("php-fpm").is_err());
    assert_eq!(grants.service("mariadb").unwrap().name(), "mariadb");
    assert_eq!(grants.service("mariadb.service").unwrap().name(), "mariadb");
    assert!(grants.service("ssh").is_err());
}

#[test]
fn what_may_be_managed_may_be_read() {
    let grants = policy(
        "paths = [\"/etc/mysql/**\"]\nread_paths = [\"/proc/meminfo\", \"/etc/hosts\", \"/etc/ssl/**\"]\ndeny_read_paths = [\"/etc/ssl/cert/**\"]\n",
    );
    for readable in ["/etc/mysql/my.cnf", "/etc/hosts", "/proc/meminfo", "/etc/ssl/openssl.cnf"] {
        assert!(grants.read_path(readable).is_ok(), "{readable}");
    }
    for refused in ["/etc/ssl/cert", "/etc/ssl/private/key", "/etc/shadow", "/proc/1/environ", "/srv"] {
        assert!(grants.read_path(refused).is_err(), "{refused}");
    }
    assert!(grants.manage_path("/etc/hosts").is_err());
}

#[test]
fn commands_match_in_every_part() {
    let grants = policy(
        r#"commands = [
            "systemctl daemon-reload",
            { argv = ["/usr/sbin/x", "-t"], user = "mysql", cwd = "/srv", umask = "077", environment = { A = "b" } },
            { shell = "a | b" },
            { argv = ["chown", "<path:/srv/**>"] },
            { argv = ["mysql", "-e", "<any>"], input = true },
            { argv = ["pip", "install", "<rest>"] },
            { interpreter = ["bash", "-e"], script = "echo hi\n" },
        ]
        deny_commands = [{ argv = ["pip", "install", "evil"] }]
        "#,
    );
    let environment = [("A".to_owned(), "b".to_owned())];
    let words: Vec<String> = path(&["/usr/sbin/x", "-t"]);
    let asked = CommandAsked {
        line: LineAsked::Arguments(&words),
        user: Some("mysql"),
        group: None,
        cwd: Some("/srv"),
        umask: Some(0o77),
        environment: &environment,
        input: None,
        sensitive: false,
    };
    let granted = |asked: &CommandAsked<'_>| grants.command(asked).is_ok();
    assert!(granted(&asked));
    assert!(!granted(&CommandAsked { user: None, ..asked }));
    assert!(!granted(&CommandAsked { group: Some("mysql"), ..asked }));
    assert!(!granted(&CommandAsked { cwd: None, ..asked }));
    assert!(!granted(&CommandAsked { umask: None, ..asked }));
    assert!(!granted(&CommandAsked { environment: &[], ..asked }));
    assert!(!granted(&CommandAsked { environment: &[("A".into(), "c".into())], ..asked }));
    assert!(!granted(&CommandAsked { input: Some(b"x"), ..asked }));
    for line in [
        "systemctl daemon-reload",
        "systemctl  'daemon-reload'",
        "a | b",
        "chown /srv/x",
        "mysql -e 'drop x'",
        "pip install",
        "pip install a b",
    ] {
        assert!(granted(&shell(line)), "{line}");
    }
    assert!(granted(&CommandAsked { user: Some("root"), cwd: Some("/"), umask: Some(0o22), ..shell("a | b") }));
    for line in [
        "systemctl",
        "systemctl daemon-reload now",
        "systemctl daemon-reload; reboot",
        "a | b ",
        "a |b",
        "chown /etc/shadow",
        "chown /srv/../etc/shadow",
        "chown",
        "mysql -e a b",
        "pip install evil",
        "reboot",
        "",
    ] {
        assert!(!granted(&shell(line)), "{line}");
    }
    let interpreter = path(&["bash", "-e"]);
    let script = |code| CommandAsked { line: LineAsked::Script { interpreter: &interpreter, code }, ..shell("") };
    assert!(granted(&script("echo hi\n")) && !granted(&script("echo hi")) && !granted(&script("reboot")));
}

#[test]
fn a_denied_commands_line_says_what_is_special_about_it() {
    let environment =
        [("A B", "plain"), ("PATH", "/c\"\u{202e}")].map(|(name, value)| (name.to_owned(), value.to_owned()));
    let asked = CommandAsked {
        user: Some("mysql"),
        umask: Some(0o77),
        environment: &environment,
        input: Some(b"x"),
        ..shell("a b")
    };
    let denial = policy("").command(&asked).unwrap_err();
    assert_eq!(
        denial.line(),
        "commands = [{ argv = [\"a\", \"b\"], user = \"mysql\", umask = \"077\", environment = { \"A B\" = \"plain\", PATH = \"/c\\\"\\U0000202E\" }, input = true }]"
    );
    assert!(policy(&denial.line()).command(&asked).is_ok());
    assert_eq!(policy("").command(&shell("a > b")).unwrap_err().line(), "commands = [\"a > b\"]");
    let denial = policy("commands = [\"a b\"]").command(&asked).unwrap_err();
    assert!(
        denial.to_string().ends_with("line 2 of grants.toml allows it, but with another user or group"),
        "{denial}"
    );
    assert_eq!(denial.to_string().split(": line").next(), Some("policy `database` may not run command `a b`"));
}

#[test]
fn attributes_below_own_cookbooks_and_what_is_granted() {
    let grants = policy(
        "write_attributes = [\"ntp.servers\", \"fb_*\"]\nread_attributes = [\"core\"]\ndeny_write_attributes = [\"mysql.frozen\"]\n",
    );
    for writable in [
        &["mysql", "port"][..],
        &["mysql"],
        &["tags"],
        &["ntp", "servers", "0"],
        &["ntp", "servers"],
        &["fb_timers", "x"],
    ] {
        assert!(grants.write_attribute(&path(writable)).is_ok(), "{writable:?}");
    }
    for refused in [&["ntp"][..], &["ntp", "port"], &["automatic"], &[], &["mysql", "frozen", "a"]] {
        assert!(grants.write_attribute(&path(refused)).is_err(), "{refused:?}");
    }
    assert_eq!(grants.write_attribute(&path(&["a.b", "c"])).unwrap_err().line(), "write_attributes = [\"a\\\\.b.c\"]");
    assert!(policy("write_attributes = [\"a\\\\.b.c\"]").write_attribute(&path(&["a.b", "c", "d"])).is_ok());
}

#[test]
fn others_attributes_and_facts_are_seen_as_far_as_they_are_granted() {
    let all = json!({"core": {"a": 1, "secret": {"x": 1}}, "db": {"b": {"c": 2, "d": 3}}, "z": 1});
    let grants = policy(
        "read_attributes = [\"core\", \"db.b.c\"]\ndeny_read_attributes = [\"core.secret\"]\nfacts = [\"*\"]\ndeny_facts = [\"z\"]\n",
    );
    assert_eq!(grants.visible_attributes(&all).into_owned(), json!({"core": {"a": 1}, "db": {"b": {"c": 2}}}));
    assert_eq!(
        grants.visible_facts(&all).into_owned(),
        json!({"core": {"a": 1, "secret": {"x": 1}}, "db": {"b": {"c": 2, "d": 3}}})
    );
    assert_eq!(policy("").visible_facts(&all).into_owned(), json!({}));
    assert_eq!(Grants::allow_all().policy("x", &[]).visible_attributes(&all).into_owned(), all);
}

#[test]
fn what_the_operator_gave_is_seen_where_it_is_ones_own_or_granted() {
    let all = json!({"tags": ["a"], "mysql": {"port": 1, "key": 2}, "core": {"a": 1, "b": 2}, "db": {"password": "x"}});
    assert_eq!(policy("").visible_given(&all).into_owned(), json!({"tags": ["a"], "mysql": {"port": 1, "key": 2}}));
    let granted =
        policy("read_attributes = [\"core.a\"]\nwrite_attributes = [\"db\"]\ndeny_read_attributes = [\"mysql.key\"]\n");
    assert_eq!(
        granted.visible_given(&all).into_owned(),
        json!({"tags": ["a"], "mysql": {"port": 1}, "core": {"a": 1}, "db": {"password": "x"}}),
        "what may be written may be read"
    );
    assert_eq!(Grants::allow_all().policy("x", &[]).visible_given(&all).into_owned(), all);
}

#[test]
fn a_cookbooks_name_is_no_right_to_what_other_policies_wrote_below_it() {
    let all = json!({"tags": ["a"], "mysql": {"port": 1}, "own": 1});
    let port = path(&["mysql", "port"]);
    let named = policy("");
    assert!(named.write_attribute(&port).is_ok(), "it writes below its cookbook's name");
    assert!(!named.overwrites_attribute(&port), "but what others wrote stays");
    assert_eq!(named.visible_attributes(&all).into_owned(), json!({}));
    let granted = policy("read_attributes = [\"mysql\"]\nwrite_attributes = [\"mysql.port\"]");
    assert!(granted.overwrites_attribute(&port) && !granted.overwrites_attribute(&path(&["mysql"])));
    assert_eq!(granted.visible_attributes(&all).into_owned(), json!({"mysql": {"port": 1}}));
    assert!(Grants::allow_all().policy("x", &[]).overwrites_attribute(&port));
}

#[test]
fn data_bags_are_granted_whole_or_by_item() {
    let grants = policy("data_bags = [\"users\", \"secrets/mysql\"]\ndeny_data_bags = [\"users/admin\"]\n");
    assert!(grants.data_bag("users", None).is_ok() && grants.data_bag("users", Some("bob")).is_ok());
    assert!(grants.data_bag("users", Some("admin")).is_err());
    assert!(grants.data_bag("secrets", Some("mysql")).is_ok());
    assert!(grants.data_bag("secrets", Some("core")).is_err() && grants.data_bag("secrets", None).is_err());
}

#[test]
fn everything_is_granted_to_all_on_ones_own_machine() {
    let grants = Grants::allow_all().policy("x", &[]);
    assert!(grants.allows_everything() && grants.clock() && grants.random());
    assert!(grants.manage_path("/etc/shadow").is_ok() && grants.manage_tree("/etc").is_ok());
    assert!(
        grants.command(&shell("a | b")).is_ok()
            && grants.group("sudo", grants::Standing::Ordinary).is_ok()
            && grants.user("root", grants::Standing::Ordinary).is_ok()
    );
    assert!(grants.download("http://127.0.0.1:80/").is_ok());
    assert!(grants.download("file:///etc/shadow").is_err(), "a path is never a server");
    assert!(grants.command(&shell("")).is_ok(), "whoever starts a program says that it does not exist");
    assert!(Grants::nothing().policy("x", &[]).command(&shell("")).is_err(), "nothing is not a command");
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
    let page = include_str!("../../../docs/limits.md");
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
fn what_was_asked_for_becomes_a_file_that_allows_it() {
    let recorder = Grants::allow_all();
    let ask = |grants: &PolicyGrants| {
        let mut refused = vec![];
        refused.extend(grants.manage_path("/etc/cron.d/x").err());
        refused.extend(grants.manage_path("/etc/motd").err());
        refused.extend(grants.package("ntp").err());
        refused.extend(grants.command(&shell("a | b")).err());
        refused.extend(grants.command(&CommandAsked { user: Some("mysql"), ..shell("a b") }).err());
        refused.extend(grants.download("https://example.org:8443/x/y").err());
        refused.extend(grants.write_attribute(&path(&["other", "a.b"])).err());
        refused
    };
    assert_eq!(ask(&recorder.policy("data base", &[])), []);
    let text = recorder.journal().suggestion(&Default::default(), true);
    let grants = Grants::parse(&text, "suggested").unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(ask(&grants.policy("data base", &[])), [], "{text}");
    assert!(text.starts_with("[policy.\"data base\"]\n"), "{text}");
    assert!(grants.policy("data base", &[]).manage_path("/etc/shadow").is_err());
}

#[test]
fn a_suggestion_has_no_entry_that_a_wider_one_makes_needless() {
    let recorder = Grants::allow_all();
    let grants = recorder.policy("web", &["site".into()]);
    for keys in [&["acme", "web", "port"][..], &["acme"], &["acme", "motd"], &["site", "x"]] {
        let _proof = grants.write_attribute(&path(keys)).unwrap();
    }
    let _proof = grants.data_bag("admins", Some("ada")).unwrap();
    let _proof = grants.data_bag("admins", None).unwrap();
    let _proof = grants.data_bag("keys", Some("one")).unwrap();
    let _proof = grants.manage_path("/srv/a").unwrap();
    let _proof = grants.read_path("/srv/a").unwrap();
    let _proof = grants.read_path("/srv/b").unwrap();
    let _tree = grants.manage_tree("/srv/t").unwrap();
    let _proof = grants.manage_path("/srv/t/.ssh").unwrap();
    let _proof = grants.manage_path("/srv/t/x").unwrap();
    let _tree = grants.manage_tree("/etc").unwrap();
    let _proof = grants.repository("https://example.org/team/a.git").unwrap();
    let expect = "[policy.web]\ndata_bags = [\"admins\", \"keys/one\"]\ndownload_hosts = [\"https://example.org\"]\n\
        paths = [\"/etc\", \"/srv/a\", \"/srv/t/**\", \"/srv/t/.ssh\"]\nprivileged_paths = [\"/etc/**\"]\n\
        read_paths = [\"/srv/b\"]\nwrite_attributes = [\"acme\"]\n";
    let suggestion = recorder.journal().suggestion(&Default::default(), true);
    let lines = suggestion.lines().filter(|line| !line.starts_with('#'));
    assert_eq!(lines.map(|line| format!("{line}\n")).collect::<String>(), expect);
}

#[test]
fn what_only_other_actions_would_need_is_a_comment() {
    let recorder = Grants::allow_all();
    let grants = recorder.policy("web", &[]);
    let _proof = grants.service("a").unwrap();
    let _proof = grants.manage_path("/srv/a").unwrap();
    recorder.journal().looks_at_others(true);
    let _proof = grants.service("a").unwrap();
    let _proof = grants.command(&shell("service a restart")).unwrap();
    let _proof = grants.manage_tree("/srv/a").unwrap();
    recorder.journal().looks_at_others(false);
    let secret = CommandAsked { sensitive: true, ..shell("echo secret") };
    let _proof = grants.command(&secret).unwrap();
    let expect = "[policy.web]\ncommands = [\"echo secret\"]\npaths = [\"/srv/a\"]\nservices = [\"a\"]\n\
        # Only actions of these resources that no recipe asks for now (restart,\n# stop, delete ..) would need:\n\
        # commands = [\"service a restart\"]\n# paths = [\"/srv/a/**\"]\n";
    assert_eq!(recorder.journal().suggestion(&Default::default(), true), expect);
    // What a run keeps has neither.
    let asked = recorder.journal().asked();
    assert_eq!(asked[0].1.keys().collect::<Vec<_>>(), ["paths", "services"]);
    assert!(!asked[0].2, "something is left out");
}

#[test]
fn entries_for_names_with_signs_allow_what_was_asked_for() {
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let commands = [words(&["sh", "<rest>"]), words(&["sh", "-c", "<any>"]), words(&["cat", "<path:/**>"])];
    let ask = |grants: &Grants| {
        let policy = grants.policy("web", &[]);
        let paths = ["/srv/a*b", "/**", "/srv/a?"].map(|path| policy.manage_path(path).is_ok());
        let trees = ["/srv/a*", "/srv/**"].map(|path| policy.manage_tree(path).is_ok());
        let run = |words: &Vec<String>, cwd| {
            let line = LineAsked::Arguments(words);
            let (user, group, umask, input) = (None, None, None, None);
            let asked = CommandAsked { line, user, group, cwd, umask, environment: &[], input, sensitive: false };
            policy.command(&asked).is_ok()
        };
        let ran = commands.iter().map(|words| run(words, None)).chain([run(&words(&["true"]), Some("/**"))]);
        [&paths[..], &trees[..], &ran.collect::<Vec<_>>()].concat()
    };
    let recorder = Grants::allow_all();
    assert!(ask(&recorder).into_iter().all(|allowed| allowed));
    assert!(recorder.journal().asked()[0].2, "nothing is left out");
    let suggested = Grants::parse(&recorder.journal().suggestion(&Default::default(), true), "g.toml").unwrap();
    assert!(ask(&suggested).into_iter().all(|allowed| allowed));
    let grants = Grants::nothing();
    assert!(!ask(&grants).into_iter().any(|allowed| allowed));
    let (denials, _) = grants.journal().denials();
    assert!(!denials.is_empty() && denials.iter().all(|denial| denial.value.is_some()), "{denials:?}");
}

#[test]
fn what_is_kept_of_denials_is_bounded() {
    let grants = Grants::nothing();
    let policy = grants.policy("web", &[]);
    for number in 0..2_000 {
        let _denied = policy.manage_path(&format!("/srv/{number}/{}", "x".repeat(10_000))).unwrap_err();
    }
    let (denials, left_out) = grants.journal().denials();
    let bytes: usize = denials.iter().map(|one| one.message.len() + one.value.as_ref().map_or(0, String::len)).sum();
    assert!(bytes <= 256 << 10 && denials.len() + left_out == 2_000, "{bytes} {left_out}");
}

#[test]
fn a_policy_with_many_denials_takes_no_room_from_later_ones() {
    let grants = Grants::nothing();
    for (policy, long) in [("first", ""), ("second", ""), ("third", "xxxxxxxxxxxxxxxx")] {
        let policy = grants.policy(policy, &[]);
        for number in 0..400 {
            let _denied = policy.package(&format!("p{number}{}", long.repeat(64))).unwrap_err();
            let _denied = policy.package(&format!("p{number}{}", long.repeat(64))).unwrap_err();
        }
    }
    let (denials, left_out) = grants.journal().denials();
    let of = |policy: &str| denials.iter().filter(|one| one.policy == policy).count();
    assert_eq!((of("first"), of("second"), of("first") + of("second") + of("third")), (300, 300, denials.len()));
    assert!(of("third") > 50 && of("third") < 300, "its denials are long: {}", of("third"));
    assert!(left_out >= 1_200 - denials.len());
    let _denied = grants.policy("last", &[]).service("nginx").unwrap_err();
    let (denials, _) = grants.journal().denials();
    assert_eq!(denials.last().and_then(|one| one.value.as_deref()), Some("\"nginx\""));
}

#[test]
fn denials_are_kept_once_each_with_who_asked_and_the_entry_that_would_allow_them() {
    let grants = Grants::parse("[policy.web]\nusers = [\"a*\"]\ndeny_users = [\"ab\"]\n", "g.toml").unwrap();
    let web = grants.policy("web", &[]);
    let asker = Asker { kind: Some("package".into()), name: Some("nginx".into()), line: Some(3), ..Asker::default() };
    for action in ["install", "install", "upgrade", "install"] {
        grants.journal().asks(Some(Asker { action: Some(action.into()), ..asker.clone() }.into()));
        let _denied = web.package("nginx").unwrap_err();
        grants.journal().asks(Some(Asker { action: Some(action.into()), ..asker.clone() }.into()));
        let _denied = web.package("nginx").unwrap_err();
    }
    grants.journal().asks(None);
    let _denied = web.user("ab", grants::Standing::Ordinary).unwrap_err();
    let _denied = web.user("b/c", grants::Standing::Ordinary).unwrap_err();
    let secret = CommandAsked { sensitive: true, ..shell("echo secret") };
    let _denied = web.command(&secret).unwrap_err();
    let _granted = web.user("ac", grants::Standing::Ordinary).unwrap();
    let (denials, left_out) = grants.journal().denials();
    let shown: Vec<_> = denials
        .iter()
        .map(|one| {
            (
                one.message.as_str(),
                one.key.as_str(),
                one.value.as_deref(),
                one.times,
                one.by.as_ref().is_some_and(|by| by.name == asker.name),
            )
        })
        .collect();
    let expect = [
        ("may not manage package nginx", "packages", Some("\"nginx\""), 3, true),
        ("may not manage user ab", "users", None, 1, false),
        ("may not manage user b/c", "users", None, 1, false),
        ("may not run command [sensitive]", "commands", None, 1, false),
    ];
    assert_eq!((shown, left_out), (expect.to_vec(), 0));
    assert_eq!(denials[1].reason.as_deref(), Some("line 3 of g.toml refuses it: `ab`"));
    for number in 0..2_000 {
        let _denied = web.package(&format!("p{number}")).unwrap_err();
    }
    let (denials, left_out) = grants.journal().denials();
    assert_eq!((denials.len(), left_out), (300, 1_704));
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
    let text = include_str!("../../../docs/grants.example.toml");
    let grants = Grants::parse(text, "docs/grants.example.toml").unwrap_or_else(|error| panic!("{error}"));
    for name in grants.policy_names() {
        assert_eq!(grants.policy(name, &[]).short_rules(), [], "{name}");
    }
    assert!(grants.policy_names().count() >= 1);
}

#[test]
fn whether_anything_is_granted_at_all() {
    use grants::Capability;
    let grants = policy(
        "privileged_paths = [\"/etc/cron.d/x\"]\ncommands = [\"true\"]\ndeny_packages = [\"x\"]\nenvironment = [\"LANG\"]\n",
    );
    for capability in [Capability::Paths, Capability::PrivilegedPaths, Capability::Commands, Capability::Environment] {
        assert!(grants.has_any(capability), "{capability:?}");
    }
    for capability in [Capability::Packages, Capability::ReadPaths, Capability::Clock, Capability::Random] {
        assert!(!grants.has_any(capability), "{capability:?}");
    }
    let variables = [("LANG".to_owned(), "C".to_owned()), ("SECRET".to_owned(), "x".to_owned())];
    assert_eq!(grants.visible_environment(variables.clone()), variables[..1]);
    assert_eq!(policy("").visible_environment(variables.clone()), []);
    assert_eq!(Grants::allow_all().policy("x", &[]).visible_environment(variables.clone()), variables);
}

/// The right to jobs of one user is less than the right to a file that root's cron reads.
#[test]
fn a_suggestion_for_a_job_names_its_user_and_not_its_file() {
    let recorder = Grants::allow_all().policy("core", &[]);
    let _job = recorder.cron_entry("/etc/cron.d/tidy", "shop", grants::Standing::Ordinary).unwrap();
    let _job = recorder.cron_entry("/etc/cron.d/numbered", "1000", grants::Standing::Ordinary).unwrap();
    let text = recorder.journal().suggestion(&Default::default(), true);
    assert!(text.contains("cron_users = [\"shop\"]") && text.contains("paths = [\"/etc/cron.d/numbered\"]"), "{text}");
    assert!(!text.contains("tidy"), "{text}");
}
