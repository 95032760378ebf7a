//! The reasons of risky entries, entry by entry.

use super::named::Links;
use super::*;

mod others;

fn assess(grants: &str, addition: &Addition) -> Option<Reason> {
    let grants = Grants::parse(grants, "after").unwrap();
    let tables: Vec<_> = grants.policy_names().map(|name| grants.policy(name, &[])).collect();
    let machine = MachineView {
        users: ["ops".into()].into(),
        groups: ["admins".into()].into(),
        places: ["/srv/tools/greet".into()].into(),
        run_by_root: [("/srv/ops/nightly", "/etc/cron.d/ops"), ("/srv/jobs/", "/etc/systemd/system/job@.service")]
            .map(|(path, by)| (path.to_owned(), by.to_owned()))
            .into(),
        ..MachineView::default()
    };
    Assessed::of(&tables, &machine).risk(addition)
}

#[track_caller]
fn check(key: &str, value: &str, expect: Option<&str>) {
    let entry = if key == "reboot" { value.to_owned() } else { format!("[{value}]") };
    let after = format!("[policy.a]\npaths = [\"/srv/**\"]\n[policy.b]\n{key} = {entry}\n");
    let _is_an_entry = Grants::parse(&after, "after").unwrap();
    let addition = Addition { policy: "a".into(), key: key.into(), value: value.into() };
    let found = assess("[policy.a]\npaths = [\"/srv/**\"]\n", &addition);
    match expect {
        Some(part) => assert!(found.is_some_and(|reason| reason.text.contains(part)), "{key} {value}"),
        None => assert_eq!(found, None, "{key} {value}"),
    }
}

#[test]
fn entries_that_open_a_lot_have_a_reason() {
    for (key, value, part) in [
        ("paths", "\"/etc/cron.d/x\"", "full control"),
        ("paths", "\"/root/.ssh/authorized_keys\"", "full control"),
        ("privileged_paths", "\"/srv/**\"", "full control"),
        ("read_paths", "\"/etc/shadow\"", "secret"),
        ("setuid", "\"/srv/x\"", "owner's rights"),
        ("read_attributes", "\"*\"", "other policies"),
        ("read_attributes", "\"?*\"", "other policies"),
        ("read_attributes", "\"**\"", "other policies"),
        ("packages", "\"*\"", "wildcard"),
        ("packages", "\"?*\"", "wildcard"),
        ("packages", "\"wrun\"", "wrun's own"),
        ("services", "\"*\"", "wildcard"),
        ("services", "\"wrun-agent\"", "wrun's own"),
        ("services", "\"wrun-converge.timer\"", "wrun's own"),
        ("services", "\"poweroff.target\"", "whole machine"),
        ("services", "\"systemd-reboot.service\"", "whole machine"),
        ("paths", "\"/srv/**\"", "wildcard"),
        ("paths", "\"/srv/a?c\"", "wildcard"),
        ("paths", "\"/*/**\"", "wildcard"),
        ("paths", "\"/srv/*/**\"", "wildcard"),
        ("paths", "\"/srv/app*/**\"", "wildcard"),
        ("paths", "\"/srv/app/*\"", "wildcard"),
        ("read_paths", "\"/**\"", "wildcard"),
        ("write_attributes", "\"*\"", "replaces what other policies read"),
        ("write_attributes", "\"victim.comment\"", "replaces what other policies read"),
        ("read_attributes", "\"nginx.port\"", "other policies"),
        ("environment", "\"AWS_SECRET_ACCESS_KEY\"", "secret"),
        ("environment", "\"VAULT_TOKEN\"", "secret"),
        ("commands", "\"hostnamectl set-hostname other\"", "does not know what it does"),
        ("commands", "\"perl -I/srv/lib /opt/x.pl\"", "may change"),
        ("facts", "\"*\"", "wildcard"),
        ("data_bags", "\"*\"", "wildcard"),
        ("search", "\"*\"", "wildcard"),
        ("users", "\"a*\"", "wildcard"),
        ("groups", "\"web*\"", "wildcard"),
        ("environment", "\"*\"", "wildcard"),
        ("download_hosts", "\"https://*.example.org\"", "wildcard"),
        ("reboot", "true", "restart the machine"),
        ("paths", "\"/srv/tools/greet\"", "who is as good as root"),
        ("paths", "\"/srv/tools\"", "who is as good as root"),
        ("download_hosts", "\"http://127.0.0.1:8080\"", "this machine itself"),
        ("download_hosts", "\"http://169.254.169.254\"", "credentials"),
        ("download_hosts", "\"http://localhost\"", "this machine itself"),
        ("commands", "{ argv = [\"a\", \"<any>\"], user = \"ada\" }", "wildcard"),
        ("commands", "{ argv = [\"a\", \"<path:/srv/*>\"], user = \"ada\" }", "wildcard"),
        ("commands", "{ shell = \"<any>\", user = \"ada\" }", "wildcard"),
        ("commands", "{ argv = [\"a\"], user = \"ada\", cwd = \"/srv/*\" }", "wildcard"),
        ("commands", "{ argv = [\"a\"], user = \"ada\", environment = { HELPER = \"<any>\" } }", "wildcard"),
        ("commands", "\"systemctl stop wrun-agent\"", "wrun's own"),
        ("commands", "{ argv = [\"true\"], umask = \"000\" }", "does not know what it does"),
        ("commands", "{ argv = [\"true\"], cwd = \"/opt\" }", "does not know what it does"),
        (
            "commands",
            "{ argv = [\"systemd-tmpfiles\", \"--create\"], environment = { CREDENTIALS_DIRECTORY = \"/srv/app/c\" } }",
            "which code it loads",
        ),
        (
            "commands",
            "{ argv = [\"systemd-tmpfiles\", \"--create\"], environment = { UNHEARD_OF = \"/opt/c\" } }",
            "does not know what it does",
        ),
        (
            "commands",
            "{ argv = [\"systemd-tmpfiles\", \"--create\"], environment = { UNHEARD_OF = \"/srv/app/c\" } }",
            "runs with `/srv/app/c` as root, and this policy may change it",
        ),
        (
            "commands",
            "{ argv = [\"postfix\", \"check\"], environment = { MAIL_CONFIG = \"<any>\" } }",
            "which code it loads",
        ),
        ("users", "\"root\"", "as good as root"),
        ("users", "\"ops\"", "as good as root"),
        ("users", "\"op*\"", "as good as root"),
        ("cron_users", "\"ops\"", "as good as root"),
        ("groups", "\"admins\"", "as good as root"),
        ("commands", "{ shell = \"a | b\", user = \"ops\" }", "shell"),
        ("commands", "{ shell = \"a | b\", user = \"ada\", group = \"admins\" }", "shell"),
        ("cron_users", "\"root\"", "as good as root"),
        ("groups", "\"docker\"", "as good as root"),
        ("package_options", "\"-o=x\"", "options"),
        ("package_environment", "\"PERL5LIB=/srv\"", "variable"),
        ("package_sources", "\"/srv/x.deb\"", "package file"),
        ("commands", "{ shell = \"<any>\" }", "any command as root"),
        ("commands", "\"a | b\"", "shell"),
        ("commands", "{ interpreter = [\"bash\"], script = \"a\" }", "script"),
        ("commands", "{ interpreter = [\"bash\"], script = \"<any>\" }", "is any script as root"),
        ("commands", "{ argv = [\"sh\"], input = true }", "standard input"),
        ("commands", "{ argv = [\"mysql\", \"<rest>\"] }", "any kind"),
        ("commands", "{ argv = [\"a\"], environment = { LD_PRELOAD = \"/x\" } }", "which code it loads"),
        ("commands", "\"/srv/app/run --now\"", "may change"),
        ("commands", "\"/etc/../srv/app/run\"", "may change"),
        ("commands", "\"//srv/run\"", "may change"),
        ("commands", "\"/opt/run --config=/srv/a\"", "may change"),
        ("commands", "{ argv = [\"./run\"], cwd = \"/srv/a\" }", "may change"),
        ("commands", "{ argv = [\"bash\", \"-c\", \"id\"] }", "another program"),
        ("commands", "{ argv = [\"/usr/bin/python3.11\", \"-c\", \"x\"] }", "another program"),
        ("commands", "\"env A=b id\"", "another program"),
        ("commands", "\"useradd -o -u 0 toor\"", "changes accounts"),
        ("commands", "\"/usr/sbin/usermod -aG sudo deploy\"", "changes accounts"),
        ("commands", "\"docker run -v /:/h x\"", "containers"),
        ("commands", "\"capsh --\"", "another program"),
        ("commands", "\"cat /etc/shadow\"", "secret"),
        ("commands", "\"truncate -s 0 /etc//shadow\"", "secret"),
        (
            "commands",
            "\"tee /etc/sudoers.d/x\"",
            "with `/etc/sudoers.d/x`, a secret that root or the system reads as configuration or trusts",
        ),
        ("commands", "\"grep -r x /etc\"", "with `/etc`, where root"),
        ("commands", "\"cat /srv/app/x\"", "may change"),
        ("commands", "\"test -d /etc && id\"", "shell"),
        ("commands", "\"curl -o /etc/cron.d/x http://h/x\"", "trusts"),
        ("commands", "{ shell = \"a | b\", user = \"0\" }", "shell"),
        ("commands", "{ shell = \"a | b\", user = \"ada\" }", "that a shell runs as ada"),
        ("commands", "{ argv = [\"a\", \"<is:<any>>\"], user = \"ada\" }", "does not know, and runs as ada"),
        (
            "commands",
            "{ argv = [\"a\"], user = \"ada\", environment = { RAILS_ENV = \"<any>\" } }",
            "does not know, and runs as ada",
        ),
        ("commands", "{ shell = \"a | b\", user = \"daemon\" }", "shell"),
        ("commands", "{ shell = \"a | b\", user = \"ada\", group = \"shadow\" }", "shell"),
        ("commands", "{ argv = [\"a\"], environment = { _JAVA_OPTIONS = \"x\" } }", "which code it loads"),
        ("mounts", "\"/etc on /srv/e type none (bind)\"", "mounts a file system"),
        ("mounts", "\"/dev/sda1 on /srv/e type ext4 (ro)\"", "mounts a file system"),
        ("mounts", "\"server:/x on /usr/bin type nfs (ro)\"", "mounts a file system"),
        ("users", "\"0\"", "number of an account"),
        ("groups", "\"0\"", "number of an account"),
        ("cron_users", "\"0\"", "number of an account"),
        ("commands", "\"python3 /srv/app/run.py\"", "may change"),
    ] {
        check(key, value, Some(part));
    }
}

#[test]
fn a_path_that_a_granted_command_runs_has_a_reason() {
    for (policy, part) in [("a", "that the policy may have run"), ("b", "by a command of another policy")] {
        let grants = "[policy.a]\ncommands = [\"/opt/a/run\"]\n[policy.b]\n";
        for (value, expect) in
            [("\"/opt/a/run\"", true), ("\"/opt/a\"", true), ("\"/opt/a/*\"", true), ("\"/opt/b\"", false)]
        {
            let addition = Addition { policy: policy.into(), key: "paths".into(), value: value.into() };
            let found = assess(grants, &addition);
            assert_eq!(
                found.as_ref().is_some_and(|reason| reason.text.contains(part)),
                expect,
                "{policy} {value}: {found:?}"
            );
        }
    }
}

#[test]
fn attack_a_path_of_another_policy_has_a_reason() {
    let text = "[policy.one]\npaths = [\"/srv/app/x\", \"/var/lib/one/**\"]\n[policy.two]\n";
    let told = |policy: &str, value: &str, text: &str| {
        let addition = [Addition { policy: policy.into(), key: "paths".into(), value: format!("\"{value}\"") }];
        let found = risks(text, "g", &addition, &Grants::nothing(), &MachineView::default()).unwrap();
        found.iter().any(|(_, reason)| reason.text == ANOTHERS_PATH)
    };
    for value in ["/srv/app/**", "/srv/app/x", "/srv/app/x/**", "/srv/**", "/var/lib/one/**", "/var/lib/**"] {
        assert!(told("two", value, text), "{value}");
    }
    for value in ["/var/lib/one", "/var/lib/one/bin/app", "/var/lib/one/data/**", "/var/lib/*/data"] {
        assert!(told("two", value, text), "in a folder of the other policy: {value}");
    }
    for value in ["/srv/app", "/srv/app/y", "/srv/other/**", "/srv/app/y/**", "/var/lib/two", "/var/lib/two/**"] {
        assert!(!told("two", value, text), "{value}");
    }
    assert!(!told("one", "/srv/app/**", text), "its own path");
    // Two policies that get one path at once have it from nobody.
    let entry =
        |policy: &str, value: &str| Addition { policy: policy.into(), key: "paths".into(), value: value.into() };
    let both = ["one", "two"].map(|policy| entry(policy, "\"/srv/shared/x\""));
    let found =
        |additions: &[Addition]| risks("", "g", additions, &Grants::nothing(), &MachineView::default()).unwrap().len();
    assert_eq!(found(&both), 0);
    let nested = [entry("one", "\"/srv/shared/x\""), entry("two", "\"/srv/shared/**\"")];
    assert_eq!(found(&nested), 2, "a folder of one and a path of the other are both looked at");
    // The other policy's table may be in another file.
    let other = Grants::parse(text, "other").unwrap();
    let additions = [entry("two", "\"/srv/app/**\"")];
    assert_eq!(risks("", "g", &additions, &other, &MachineView::default()).unwrap().len(), 1);
}

#[test]
fn attack_a_path_within_another_policys_command_has_a_reason() {
    let grants = "[policy.a]\ncommands = [{ shell = \"cd /opt; sh /srv/ops/job | tee /tmp/x\" }, \"perl -I/srv/lib /opt/x.pl\", \
                  { argv = [\"/srv/c/run\"], user = \"ada\" }]\n[policy.b]\n";
    for (value, expect) in
        [("/srv/ops/job", true), ("/srv/lib/**", true), ("/srv/lib", true), ("/srv/c/run", true), ("/srv/d", false)]
    {
        let addition = Addition { policy: "b".into(), key: "paths".into(), value: format!("\"{value}\"") };
        let found = assess(grants, &addition);
        let told = found.as_ref().is_some_and(|reason| reason.text.contains("by a command of another policy"));
        assert_eq!(told, expect, "{value}: {found:?}");
    }
}

#[test]
fn attack_a_file_of_the_policy_that_runs_as_an_account_of_others_has_a_reason() {
    let grants = "[policy.a]\npaths = [\"/srv/a/**\"]\nusers = [\"own\", \"ada\", \"app*\"]\ngroups = [\"team\"]\n\
                  [policy.b]\nusers = [\"ada\"]\n[policy.c]\n";
    let others = "as ada, an account of another policy, and this policy may change that file";
    let unknown = "as web, an account that this policy does not make, and this policy may change that file";
    let wide = "as app1, an account that this policy does not make, and this policy may change that file";
    let group = "as own with the group shop, an account that this policy does not make, and";
    for (of, expect) in [
        ("user = \"ada\"", Some(others)),
        ("user = \"own\"", None),
        ("user = \"own\", group = \"own\"", None),
        ("user = \"own\", group = \"team\"", None),
        ("user = \"own\", group = \"shop\"", Some(group)),
        ("user = \"web\"", Some(unknown)),
        ("user = \"app1\"", Some(wide)),
    ] {
        let value = format!("{{ argv = [\"/srv/a/run\"], {of} }}");
        let found = assess(grants, &Addition { policy: "a".into(), key: "commands".into(), value });
        let is_told = |part: &str| found.as_ref().is_some_and(|reason| reason.text.contains(part));
        assert!(expect.map_or(found.is_none(), is_told), "{of} {found:?}");
    }
}

#[test]
fn attack_whatever_decides_what_a_command_does_has_a_reason() {
    let grants = "[policy.a]\npaths = [\"/srv/a/**\", \"/srv/b/Makefile\", \"/usr/local/bin/job\"]\n";
    for (command, expect) in [
        ("argv = [\"bash\", \"/srv/a/x\"]", Some("runs with `/srv/a/x` as web")),
        ("argv = [\"job\"]", Some("runs `/usr/local/bin/job` as web")),
        ("argv = [\"make\"], cwd = \"/srv/a\"", Some("runs in `/srv/a` as web")),
        ("argv = [\"make\"], cwd = \"/srv/b\"", Some("may change what is there")),
        ("shell = \"cd /srv/a && ./x\"", Some("runs with `/srv/a` as web")),
        ("interpreter = [\"/srv/a/sh\"], script = \"x\"", Some("runs `/srv/a/sh` as web")),
        ("argv = [\"x\"], environment = { PERL5LIB = \"/srv/a/lib\" }", Some("runs with `/srv/a/lib` as web")),
        ("argv = [\"sh\"], input = true", Some("on standard input")),
        ("argv = [\"make\"], cwd = \"/srv\"", Some("runs code or another program as web")),
        ("argv = [\"/opt/x\", \"--check\"]", Some("does not know, and runs as web")),
        ("argv = [\"cat\", \"/srv/secret\"]", Some("does not know, and runs as web")),
        ("argv = [\"python3\", \"-c\", \"x\"]", Some("runs code or another program as web")),
        ("shell = \"id | cat\"", Some("is a line that a shell runs as web")),
        ("interpreter = [\"bash\"], script = \"id\"", Some("is a script that runs as web")),
        ("argv = [\"test\", \"-f\", \"/srv/a/x\"]", None),
        ("argv = [\"uname\", \"-r\"]", None),
    ] {
        let value = format!("{{ {command}, user = \"web\" }}");
        let found = assess(grants, &Addition { policy: "a".into(), key: "commands".into(), value });
        let is_told = |part: &str| found.as_ref().is_some_and(|reason| reason.text.contains(part));
        assert!(expect.map_or(found.is_none(), is_told), "{command} {found:?}");
    }
}

#[test]
fn attack_a_path_within_an_earlier_command_of_an_account_of_others_has_a_reason() {
    let addition = |key: &str, value: &str| Addition { policy: "a".into(), key: key.into(), value: value.into() };
    let (path, command) = (addition("paths", "\"/srv/x/run\""), "{ argv = [\"/srv/x/run\"], user = \"web\" }");
    let check = |before: &str, additions: &[Addition], expect: &[(&str, &str)]| {
        let found = risks(before, "g", additions, &Grants::nothing(), &MachineView::default()).unwrap();
        let told: Vec<_> = found.iter().map(|(one, reason)| (one.key.as_str(), &*reason.text)).collect();
        assert_eq!(told, expect, "{before}");
    };
    let before = format!("[policy.a]\ncommands = [{command}]\n");
    check(&before, std::slice::from_ref(&path), &[("paths", LENT)]);
    check(&format!("{before}users = [\"web\"]\n"), std::slice::from_ref(&path), &[]);
    // Of two that are new, the command is the one to look at.
    let reason =
        "runs `/srv/x/run` as web, an account that this policy does not make, and this policy may change that file";
    check("", &[path, addition("commands", command)], &[("commands", reason)]);
}

#[test]
fn attack_files_that_root_runs_by_itself_open_a_lot() {
    let job = "run or read as root, as `/etc/cron.d/ops`";
    for (path, part) in [
        ("/srv/ops/nightly", job),
        ("/srv/ops", job),
        ("/srv/ops/**", job),
        ("/srv/ops/n*", "wildcard"),
        ("/srv/jobs/daily/run", "`/etc/systemd/system/job@.service`"),
        ("/srv/jobs/daily/**", "`/etc/systemd/system/job@.service`"),
    ] {
        check("paths", &format!("\"{path}\""), Some(part));
    }
    for path in ["/srv/ops/data", "/srv/ops2/**", "/srv/job", "/srv/ops/nightly.log"] {
        check("paths", &format!("\"{path}\""), None);
    }
    // A link on the way decides what is run.
    let links = Links::of_texts(|path| (path == "/usr/local/bin/job").then_some("/srv/a/job"));
    let run_by_root = [("/usr/local/bin/job".to_owned(), "/etc/crontab".to_owned())].into();
    let machine = MachineView { links, run_by_root, ..MachineView::default() };
    let tables = [Grants::parse("[policy.a]\n", "g").unwrap().policy("a", &[])];
    let addition = Addition { policy: "a".into(), key: "paths".into(), value: "\"/srv/a/job\"".into() };
    assert!(Assessed::of(&tables, &machine).risk(&addition).is_some());
}

#[test]
fn attack_links_lead_to_what_the_policy_may_change() {
    let links = Links::of_texts(|path| (path == "/opt/tool").then_some("/srv/a/tool"));
    let machine = MachineView { links, ..MachineView::default() };
    let grants =
        Grants::parse("[policy.a]\npaths = [\"/srv/a/**\"]\ncommands = [\"/opt/tool\"]\n[policy.b]\n", "g").unwrap();
    let tables: Vec<_> = grants.policy_names().map(|name| grants.policy(name, &[])).collect();
    let assessed = Assessed::of(&tables, &machine);
    let reason = |policy: &str, key: &str, value: &str| {
        let addition = Addition { policy: policy.into(), key: key.into(), value: value.into() };
        assessed.risk(&addition).map(|reason| reason.text.into_owned()).unwrap_or_default()
    };
    let leads = "and this policy may change `/srv/a/tool`, where it leads";
    assert_eq!(reason("a", "commands", "\"/opt/tool\""), format!("runs `/opt/tool` as root, {leads}"));
    let named = reason("a", "commands", "{ argv = [\"sh\", \"/opt/tool\"], user = \"web\" }");
    assert_eq!(named, format!("runs with `/opt/tool` as web, an account that this policy does not make, {leads}"));
    assert_eq!(reason("b", "commands", "\"/opt/tool\""), OTHER_MAY_CHANGE);
    assert!(reason("a", "paths", "\"/srv/a/tool\"").contains("may have run as root"));
    assert!(reason("b", "paths", "\"/srv/a/tool\"").contains("by a command of another policy"));
}

#[test]
fn attack_commands_with_too_many_paths_have_a_reason() {
    for (command, expect) in [(" /a".repeat(2_000), TOO_MANY), (format!(" {}", "/a".repeat(1_000)), TOO_MANY)] {
        let value = format!("\"/opt/x{command}\"");
        let found = assess("[policy.a]\n", &Addition { policy: "a".into(), key: "commands".into(), value });
        assert_eq!(found.as_ref().map(|reason| &*reason.text), Some(expect));
    }
}

#[test]
fn a_command_whose_file_another_policy_may_change_has_a_reason() {
    let grants = "[policy.a]\n[policy.b]\npaths = [\"/srv/b/**\", \"/srv/c\"]\ndeny_paths = [\"/srv/b/kept\"]\n";
    for (value, expect) in [
        ("\"/srv/b/run\"", Some(OTHER_MAY_CHANGE)),
        ("\"/srv/c\"", Some(OTHER_MAY_CHANGE)),
        ("\"/srv/d\"", Some(UNKNOWN)),
    ] {
        let addition = Addition { policy: "a".into(), key: "commands".into(), value: value.into() };
        let found = assess(grants, &addition);
        assert_eq!(found.as_ref().map(|reason| &*reason.text), expect, "{value}");
    }
}

#[test]
fn attack_accounts_of_other_policies_and_shared_data_have_a_reason() {
    let others = "another policy names";
    let not_made = "does not make";
    let grants = "[policy.a]\nusers = [\"own\"]\n[policy.b]\nusers = [\"shop\"]\ngroups = [\"crew\"]\n\
                  cron_users = [\"jobs\"]\ncommands = [{ argv = [\"x\"], user = \"run\" }]\ndata_bags = [\"bag\"]\n";
    for (key, value, expect) in [
        ("cron_users", "\"shop\"", Some(others)),
        ("cron_users", "\"run\"", Some(others)),
        ("users", "\"shop\"", Some(others)),
        ("users", "\"run\"", Some(others)),
        ("users", "\"jobs\"", Some(others)),
        ("groups", "\"shop\"", Some(others)),
        ("groups", "\"crew\"", Some(others)),
        ("cron_users", "\"www-data\"", Some(not_made)),
        ("cron_users", "\"own\"", None),
        ("users", "\"own\"", None),
        ("users", "\"new\"", None),
        ("groups", "\"new\"", None),
        ("data_bags", "\"bag\"", Some("all policies share")),
        ("data_bags", "\"new\"", Some("all policies share")),
        ("search", "\"node\"", Some("all policies share")),
        ("kernel_modules", "\"dummy\"", Some("the kernel runs")),
    ] {
        let addition = Addition { policy: "a".into(), key: key.into(), value: value.into() };
        let found = assess(grants, &addition).map(|reason| reason.text.into_owned());
        match expect {
            Some(part) => assert!(found.as_ref().is_some_and(|text| text.contains(part)), "{key} {value}: {found:?}"),
            None => assert_eq!(found, None, "{key} {value}"),
        }
    }
}

#[test]
fn entries_are_assessed_once_however_many_there_are() {
    let entry = |number: usize| Addition {
        policy: "a".into(),
        key: "users".into(),
        value: if number.is_multiple_of(2) { "\"root\"".into() } else { format!("\"u{number}\"") },
    };
    let additions: Vec<_> = (0..100).map(entry).collect();
    let found = risks("", "g", &additions, &Grants::nothing(), &MachineView::default()).unwrap();
    assert_eq!(found.len(), 1, "an entry that is there already is told once: {found:?}");
}

#[test]
fn comments_fit_a_terminal_and_tell_each_reason_once() {
    let reason = "is a path that root or the system runs, reads as configuration or trusts: changing it is bad";
    let found = [("\"/etc/a\"", reason), ("\"root\"", "is root"), ("\"/etc/b\"", reason), ("\"/etc/c\"", reason)];
    let expect = [
        "# Opens a lot: \"/etc/a\" is a path that root or the system runs, reads as",
        "# configuration or trusts: changing it is bad.",
        "# Opens a lot, for the same reason: \"/etc/b\", \"/etc/c\".",
        "# Opens a lot: \"root\" is root.",
    ];
    assert_eq!(risk_comments(found), expect);
    let unknown = ["\"a\"", "\"b\""].map(|value| (value, Reason::unknown(UNKNOWN)));
    let expect = [
        "# Not known: \"a\" runs as root, and wrun does not know what it does: read all",
        "# of it.",
        "# Not known either: \"b\".",
    ];
    assert_eq!(risk_comments(unknown), expect);
}

#[test]
fn comments_are_whole_sentences_however_long_their_entries_are() {
    let script = format!("{{ interpreter = [\"bash\"], script_sha256 = \"{}\" }}", "0123456789abcdef".repeat(4));
    let long = format!("\"set -e; {}\"", "echo one; ".repeat(40));
    let found = [(script.as_str(), "is a script"), (long.as_str(), "is a line")];
    let lines = risk_comments(found);
    let words: Vec<_> = lines.iter().map(|line| line.strip_prefix("# ").unwrap()).collect();
    let begins = "\"set -e; echo one; echo one; echo one; echo one; echo one;";
    let expect =
        format!("Opens a lot: {script} is a script. Opens a lot: the entry that begins with `{begins}` is a line.");
    assert_eq!(words.join(" "), expect);
    assert!(lines.iter().all(|line| line.chars().count() <= 76), "{lines:?}");
}

#[test]
fn ordinary_entries_have_none() {
    for (key, value) in [
        ("paths", "\"/srv/x\""),
        ("paths", "\"/etc/motd\""),
        ("read_paths", "\"/etc/mysql/my.cnf\""),
        ("packages", "\"nginx\""),
        ("services", "\"nginx\""),
        ("users", "\"ada\""),
        ("groups", "\"web\""),
        ("commands", "\"systemctl daemon-reload\""),
        ("commands", "\"test -d /etc\""),
        ("commands", "\"date\""),
        ("commands", "\"test -f /srv/app/x\""),
        ("commands", "\"stat /etc/shadow\""),
        ("commands", "\"grep -q foo /etc/passwd\""),
        ("download_hosts", "\"https://example.org\""),
        ("paths", "\"/srv/[*]x\""),
        ("paths", "\"/srv/app/**\""),
        ("read_paths", "\"/srv/[*]x/**\""),
        ("environment", "\"LANG\""),
        ("services", "\"wrunner\""),
    ] {
        check(key, value, None);
    }
}

#[test]
fn attack_what_is_not_a_right_is_not_ordinary() {
    for key in ["deny_paths", "deny_commands", "limits"] {
        let addition = Addition { policy: "a".into(), key: key.into(), value: "\"/srv/x\"".into() };
        assert_eq!(assess("[policy.a]\n", &addition), Some(NO_RIGHT.into()), "{key}");
    }
}
