//! What is granted, and denied without an entry.

use super::{path, policy, shell};
use grants::{CommandAsked, Grants, LineAsked, MachineView, OpenPaths, PolicyGrants};
use serde_json::json;

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

/// While a block verifies new content, its path is readable whatever the rules say.
#[test]
fn attack_what_may_not_be_read_does_not_get_the_path_that_is_verified() {
    let rules = "[policy.x]\npaths = [\"/srv/app/**\"]\ndeny_read_paths = [\"/srv/app/closed/**\"]\n";
    let grants = Grants::parse(rules, "grants.toml").unwrap().policy("x", &[]);
    let (secret, staged) = ("/srv/app/closed/secret", "/srv/app/closed/.staged");
    assert!(grants.read_under_another_name(secret, staged).is_ok(), "it stays unread there");
    grants.let_verify(Some(staged.to_owned()));
    assert!(grants.read_path(staged).is_ok() && grants.read_under_another_name(secret, staged).is_err());
    assert!(grants.read_under_another_name("/srv/app/open", staged).is_ok());
}

/// In a survey a policy may change everything, since nothing is changed, and learns what the rules and modes say.
#[test]
fn attack_a_survey_lets_a_policy_learn_only_what_is_granted_or_open() {
    let rules = "[policy.x]\nread_paths = [\"/srv/own\"]\ndata_bags = [\"own\"]\nenvironment = [\"OWN\"]\ncommands = [\"own\"]\n";
    let open = OpenPaths::new(|path| path.starts_with("/srv/open") || path == "/etc/shadow");
    let grants = Grants::parse(rules, "grants.toml").unwrap().surveying(open).policy("x", &[]);
    assert!(grants.manage_path("/etc/sudoers").is_ok() && grants.package("x").is_ok() && grants.reboot().is_ok());
    assert!(["/srv/own", "/srv/open/x"].iter().all(|path| grants.read_path(path).is_ok()));
    assert!(["/srv/closed", "/etc/shadow"].iter().all(|path| grants.read_path(path).is_err()));
    assert!(grants.reads_as_every_user("/srv/open/x") && !grants.reads_as_every_user("/srv/own"));
    assert!(grants.read_under_another_name("/srv/closed", "/root/x").is_err(), "a folder may be opened a moment later");
    assert!(grants.data_bag("own", None).is_ok() && grants.data_bag("other", None).is_err());
    assert!(grants.role("r").is_err() && grants.search("node").is_err() && grants.chef_environment("e").is_err());
    let variables = ["OWN", "OTHER", "PATH"].map(|name| (name.to_owned(), "1".to_owned()));
    let seen: Vec<_> = grants.visible_environment(variables).into_iter().map(|(name, _)| name).collect();
    assert_eq!(seen, ["OWN", "PATH"]);
    let facts = json!({"memory": 1, "dmi": 2, "ec2": {"userdata": "x"}, "platform": "debian"});
    assert_eq!(grants.visible_facts(&facts).into_owned(), json!({"memory": 1, "platform": "debian"}));
    let command = |line| grants.command(&shell(line)).unwrap().may_start();
    assert!(command("own") && !command("other"));
    let suggestion = grants.journal().suggestion(&MachineView::default(), false, &Grants::nothing());
    for part in ["\"/srv/closed\"", "\"other\"", "roles = [\"r\"]", "search = [\"node\"]", "environments = [\"e\"]"] {
        assert!(suggestion.contains(part), "{part} is missing in {suggestion}");
    }
}
