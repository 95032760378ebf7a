//! The reasons of entries for what is not the policy's own: that of other policies, of the machine and of its users.

use super::super::*;

/// A machine of which only accounts and private files are asked.
struct Accounts {
    users: &'static [&'static str],
    groups: &'static [&'static str],
}

impl MachineQueries for Accounts {
    fn at_path(&self, path: &str) -> AtPath {
        unreachable!("{path}")
    }

    fn is_private(&self, path: &str) -> bool {
        path.ends_with("private")
    }

    fn first_link(&self, _: &str) -> Option<FirstLink> {
        None
    }

    fn has_user(&self, name: &str) -> bool {
        self.users.contains(&name)
    }

    fn has_group(&self, name: &str) -> bool {
        self.groups.contains(&name)
    }
}

#[test]
fn attack_what_another_policys_table_names_has_a_reason() {
    let grants = "[policy.victim]\npaths = [\"/srv/victim/**\", \"/etc/motd\"]\nread_paths = [\"/srv/keys/v\"]\n\
                  services = [\"victimd\", \"db.service\"]\npackages = [\"victim-db\"]\nusers = [\"victim\"]\n\
                  commands = [\"systemctl reload queue\", { argv = [\"true\"], user = \"job\" }]\n\
                  [policy.evil]\npaths = [\"/srv/evil/**\"]\n";
    for (key, value, part) in [
        ("read_paths", "/srv/victim/password", Some("would read what that one keeps")),
        ("read_paths", "/srv/victim/**", Some("would read what that one keeps")),
        ("read_paths", "/srv/keys/v", Some("would read what that one keeps")),
        ("read_paths", "/srv/private", Some("not for everybody to read")),
        ("read_paths", "/srv/evil/private", None),
        ("read_paths", "/srv/other", None),
        ("read_paths", "/etc/os-release", None),
        ("services", "victimd", Some("another policy's table names")),
        ("services", "db", Some("another policy's table names")),
        ("services", "queue", Some("another policy's table names")),
        ("services", "evild", None),
        ("services", "ssh", Some("keeps the machine reachable")),
        ("packages", "victim-db", Some("another policy's table names")),
        ("packages", "curl", None),
        ("roles", "db", Some("data that all policies share")),
        ("environments", "prod", Some("data that all policies share")),
        ("commands", "systemctl stop victimd", Some("service that another policy's table names")),
        ("commands", "systemctl is-active victimd", None),
        ("commands", "systemctl stop networking", Some("whole machine depends on")),
        ("commands", "systemd-tmpfiles --remove", Some("does not know")),
        ("commands", "ls -l /srv/victim", Some("in a folder that another policy's table names")),
        ("commands", "test -s /srv/victim/password", Some("in a folder that another policy's table names")),
        ("commands", "test -f /etc/motd", None),
        ("commands", "ls /srv/evil", None),
        ("paths", "/home/victim/.app.rc", Some(ANOTHERS_PATH)),
        ("paths", "/home/job/app.conf", Some(ANOTHERS_PATH)),
        ("paths", "/home/evil/app.conf", None),
    ] {
        let grants = Grants::parse(grants, "g").unwrap();
        let tables: Vec<_> = grants.policy_names().map(|name| grants.policy(name, &[])).collect();
        let homes = ["victim", "job", "evil"].map(|name| (name.to_owned(), format!("/home/{name}")));
        let accounts = Accounts { users: &["victim", "job", "evil"], groups: &[] };
        let machine = MachineView { homes: homes.into(), ..MachineView::new(Arc::new(accounts)) };
        let addition = Addition { policy: "evil".into(), key: key.into(), value: format!("\"{value}\"") };
        let found = Assessed::of(&tables, &machine).risk(&addition);
        let is_told = |part: &str| found.as_ref().is_some_and(|reason| reason.text.contains(part));
        assert!(part.map_or(found.is_none(), is_told), "{key} {value}: {found:?}");
    }
}

#[test]
fn attack_accounts_of_the_machine_and_their_homes_have_a_reason() {
    let accounts = || Accounts { users: &["mysql", "ann", "own"], groups: &["dba"] };
    let machine = || MachineView {
        homes: [("mysql", "/var/lib/mysql"), ("ann", "/home/ann"), ("own", "/home/own")]
            .map(|(name, home)| (name.to_owned(), home.to_owned()))
            .into(),
        logins: ["ann".to_owned(), "own".to_owned()].into(),
        ..MachineView::new(Arc::new(accounts()))
    };
    let before = "[policy.a]\nusers = [\"own\"]\n";
    let check = |entries: &[(&str, &str)], expect: &[&str]| {
        let additions = entries.iter().map(|(key, value)| Addition {
            policy: "a".into(),
            key: (*key).into(),
            value: if value.starts_with('{') { (*value).to_owned() } else { format!("\"{value}\"") },
        });
        let additions: Vec<_> = additions.collect();
        let found = risks(before, "g", &additions, &Grants::nothing(), &machine()).unwrap();
        let told: Vec<_> = found.iter().map(|(_, reason)| &*reason.text).collect();
        assert_eq!(told, expect, "{entries:?}");
    };
    check(&[("users", "mysql"), ("users", "new")], &[EXISTS]);
    check(&[("cron_users", "ann"), ("groups", "dba"), ("groups", "team")], &[EXISTS, EXISTS]);
    let as_mysql = "is a command that wrun does not know, and runs as mysql, an account that this policy does not make: read all of it";
    check(&[("users", "mysql"), ("commands", "{ argv = [\"/srv/tool\"], user = \"mysql\" }")], &[EXISTS, as_mysql]);
    check(&[("users", "new"), ("commands", "{ argv = [\"/srv/tool\"], user = \"new\" }")], &[]);
    check(&[("commands", "{ argv = [\"/srv/tool\"], user = \"own\" }")], &[]);
    check(&[("paths", "/home/ann/.direnvrc"), ("paths", "/home/own/.direnvrc")], &[IN_A_HOME]);
    check(&[("paths", "/var/lib/mysql/x")], &[]);
}

#[test]
fn attack_a_path_of_a_machine_whose_jobs_are_not_all_read_has_a_reason() {
    let tables = [Grants::parse("[policy.a]\n", "g").unwrap().policy("a", &[])];
    let addition = Addition { policy: "a".into(), key: "paths".into(), value: "\"/srv/a/x\"".into() };
    for (runs_more_by_root, expect) in [(false, None), (true, Some(RUNS_MORE))] {
        let machine = MachineView { runs_more_by_root, ..MachineView::default() };
        let found = Assessed::of(&tables, &machine).risk(&addition);
        assert_eq!(found.as_ref().map(|reason| &*reason.text), expect);
    }
}
