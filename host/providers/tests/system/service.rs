//! `service`: init scripts that really run, links that are really made.

use crate::node::{Foreseen, Node};
use serde_json::{Value, json};

/// A daemon that runs until it is stopped, or for a minute.
const DAEMON: &str = "#!/bin/sh\nexec sleep 60.125\n";

const SCRIPT: &str = r#"#!/bin/sh
### BEGIN INIT INFO
# Provides:          ticker
# Required-Start:
# Required-Stop:
# Default-Start:     2 3 4 5
# Default-Stop:      0 1 6
### END INIT INFO
PID=/run/ticker.pid
case "$1" in
  start) [ -e /srv/refuse ] || start-stop-daemon --start --background --make-pidfile --pidfile $PID --exec /usr/sbin/ticker ;;
  stop) start-stop-daemon --stop --oknodo --retry 3 --pidfile $PID; rm -f $PID ;;
  restart) $0 stop; $0 start ;;
  reload) echo reloaded >> /srv/log ;;
  status) start-stop-daemon --status --pidfile $PID || exit 3 ;;
  *) exit 2 ;;
esac
"#;

/// The daemon's script and unit in a root; the daemon ends with it.
struct Ticker(Node);

impl Ticker {
    fn on(node: Node) -> Self {
        node.root.write_program("/usr/sbin/ticker", DAEMON).unwrap();
        node.root.write_program("/etc/init.d/ticker", SCRIPT).unwrap();
        node.root.write("/lib/systemd/system/only-unit.service", "[Install]\nWantedBy=multi-user.target\n").unwrap();
        Self(node)
    }

    #[track_caller]
    fn check(&mut self, action: &str, properties: Value, expect: &[&str]) {
        let done = self.0.act("service", "ticker", action, properties).unwrap_or_else(|error| panic!("{error:?}"));
        assert_eq!(done, expect, "{action}");
    }

    fn links(&self) -> String {
        self.0.output("ls /etc/rc?.d | grep ticker | sort | uniq -c | tr -s ' ' | tr '\\n' ';'")
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        if let Ok(pid) = self.0.root.read("/run/ticker.pid") {
            let _gone = std::process::Command::new("kill").arg(pid.trim()).status();
        }
    }
}

#[test]
fn services_are_started_stopped_and_reloaded_by_their_scripts() {
    let mut ticker = Ticker::on(Node::new());
    ticker.check("stop", json!({}), &[]);
    ticker.check("reload", json!({}), &[]);
    ticker.check("start", json!({}), &["start service service[ticker]"]);
    ticker.check("start", json!({}), &[]);
    let first = ticker.0.root.read("/run/ticker.pid").unwrap();
    ticker.check("restart", json!({}), &["restart service service[ticker]"]);
    assert_ne!(ticker.0.root.read("/run/ticker.pid").unwrap(), first);
    ticker.check("reload", json!({}), &["reload service service[ticker]"]);
    assert_eq!(ticker.0.root.read("/srv/log").unwrap(), "reloaded\n");
    // By the process table: of this root only.
    ticker.check("start", json!({"pattern": "usr/sbin/ticker|sleep 60[.]125"}), &[]);
    ticker.check("stop", json!({"pattern": "sleep 60[.]12$"}), &[]);
    ticker.check("stop", json!({"supports": {"status": true}}), &["stop service service[ticker]"]);
    ticker.check("stop", json!({}), &[]);
}

#[test]
fn a_service_that_does_not_run_after_its_start_is_an_error() {
    let mut ticker = Ticker::on(Node::new());
    ticker.0.root.write("/srv/refuse", "").unwrap();
    let error = ticker.0.act("service", "ticker", "start", json!({})).unwrap_err();
    assert_eq!(error.class(), "Chef::Exceptions::Service");
    assert_eq!(error.message, "service ticker does not run after `start`");
    // What a cookbook's own command or pattern says is the cookbook's affair.
    ticker.check("start", json!({"status_command": "false"}), &["start service service[ticker]"]);
    ticker.check("start", json!({"pattern": "no such process"}), &["start service service[ticker]"]);
    let own = json!({"stop_command": "true", "status_command": "true"});
    ticker.check("stop", own, &["stop service service[ticker]"]);
}

#[test]
fn services_are_enabled_by_the_links_of_their_scripts() {
    let mut ticker = Ticker::on(Node::new());
    ticker.check("disable", json!({}), &[]);
    ticker.check("enable", json!({}), &["enable service service[ticker]"]);
    ticker.check("enable", json!({}), &[]);
    assert_eq!(ticker.links(), " 3 K01ticker; 4 S01ticker;");
    ticker.check("disable", json!({}), &["disable service service[ticker]"]);
    ticker.check("disable", json!({}), &[]);
    assert_eq!(ticker.links(), " 7 K01ticker;");
    let levels = json!({"priority": {"2": ["start", 20], "3": ["stop", 55]}});
    ticker.check("enable", levels.clone(), &["enable service service[ticker]"]);
    ticker.check("enable", levels, &[]);
}

#[test]
fn services_with_units_are_enabled_and_masked_by_links() {
    let mut node = Node::new();
    node.root
        .write("/lib/systemd/system/web.service", "[Install]\nWantedBy=multi-user.target wrun-test.target\n")
        .unwrap();
    node.root.write("/lib/systemd/system/fixed.service", "[Service]\nExecStart=/bin/true\n").unwrap();
    let mut check = |name: &str, action: &str, expect: &[&str]| {
        let done = node.act("service", name, action, json!({})).unwrap_or_else(|error| panic!("{error:?}"));
        assert_eq!(done, expect, "{action} {name}");
    };
    check("web", "disable", &[]);
    check("web", "enable", &["enable service service[web]"]);
    check("web.service", "enable", &[]);
    check("fixed", "enable", &[]);
    check("fixed", "disable", &[]);
    check("web", "mask", &["mask service service[web]"]);
    check("web", "mask", &[]);
    check("web", "disable", &[]);
    check("web", "unmask", &["unmask service service[web]"]);
    check("web", "unmask", &[]);
    let link = "/etc/systemd/system/wrun-test.target.wants/web.service";
    assert_eq!(node.output(&format!("readlink {link}")), "/lib/systemd/system/web.service");
    assert_eq!(node.act("service", "web", "disable", json!({})).unwrap(), ["disable service service[web]"]);
    assert!(!node.root.exists(link));
    let error = node.act("service", "web", "start", json!({})).unwrap_err();
    assert_eq!(error.message, "/etc/init.d/web does not exist!");
    assert_eq!(error.hint.unwrap(), "there is a unit for systemd, but systemd does not run here");
}

#[test]
fn a_missing_service_has_a_near_name_if_the_policy_may_use_that() {
    let node = Node::new();
    node.root.write("/lib/systemd/system/collector.service", "[Service]\nExecStart=/bin/true\n").unwrap();
    let hint = |node: &mut Node| node.act("service", "colector", "start", json!({})).unwrap_err().hint.unwrap();
    let mut node = node.again(Some("services = [\"colector\", \"collector\"]"));
    assert_eq!(hint(&mut node), "did you mean `collector`?");
    let mut node = node.again(Some("services = [\"colector\"]"));
    assert_eq!(hint(&mut node), "is the package that brings the service installed?");
    let mut node = node.again(Some("services = [\"colector.service\", \"collector\"]"));
    let raised = node.act("service", "colector.service", "start", json!({})).unwrap_err();
    assert_eq!(raised.hint.unwrap(), "did you mean `collector.service`?");
}

#[test]
fn what_policy_rc_d_forbids_is_left_alone() {
    let mut ticker = Ticker::on(Node::new());
    ticker.0.root.write_program("/usr/sbin/policy-rc.d", "#!/bin/sh\necho \"$@\" >> /srv/asked\nexit 101\n").unwrap();
    ticker.check("start", json!({}), &[]);
    ticker.check("restart", json!({}), &[]);
    assert_eq!(ticker.0.root.read("/srv/asked").unwrap(), "ticker start\nticker restart\n");
    assert!(!ticker.0.root.exists("/run/ticker.pid"));
    ticker.0.root.write_program("/usr/sbin/policy-rc.d", "#!/bin/sh\nexit 104\n").unwrap();
    ticker.check("start", json!({}), &["start service service[ticker]"]);
    ticker.check("stop", json!({}), &["stop service service[ticker]"]);
}

#[test]
fn a_service_that_is_missing_is_an_error_now_or_an_assumption() {
    let mut node = Node::new();
    for action in ["start", "stop", "restart", "reload", "enable"] {
        let error = node.act("service", "absent", action, json!({})).unwrap_err();
        assert_eq!(error.class(), "Chef::Exceptions::Service", "{action}");
        assert_eq!(error.message, "/etc/init.d/absent does not exist!");
    }
    assert_eq!(node.act("service", "absent", "disable", json!({})).unwrap(), [""; 0]);
    let error = node.act("service", "absent", "start", json!({"user": "ann"})).unwrap_err();
    assert_eq!(error.class(), "Chef::Exceptions::UnsupportedAction");
    let mut node = node.dry();
    let assumed = "Init script '/etc/init.d/absent' doesn't exist, assuming a prior action would have created it.";
    let expect = Foreseen {
        status: contract::Status::Updated,
        changes: vec!["start service service[absent]".into()],
        assumed: vec![assumed.into()],
        unknown: vec![],
    };
    assert_eq!(node.foresee("service", "absent", "start", json!({})).unwrap(), expect);
    let foreseen = node.foresee("service", "absent", "stop", json!({})).unwrap();
    assert_eq!((foreseen.changes.len(), foreseen.assumed.len()), (0, 1));
    // Commands of the cookbook's own are asked in a dry run, and change nothing.
    let own = json!({"start_command": "exit 1", "stop_command": "true", "status_command": "touch /srv/ran"});
    let foreseen = node.foresee("service", "absent", "start", own.clone()).unwrap();
    assert_eq!((foreseen.changes.len(), foreseen.unknown.len()), (1, 1));
    let foreseen = node.foresee("service", "absent", "stop", own).unwrap();
    assert_eq!((foreseen.changes.len(), foreseen.unknown.len()), (0, 1));
    assert!(!node.root.exists("/srv/ran"));
    let own = json!({"start_command": "exit 1", "status_command": "test -d /srv"});
    let foreseen = node.foresee("service", "absent", "start", own).unwrap();
    assert_eq!((foreseen.changes.len(), foreseen.unknown.len()), (0, 0), "it runs: there is nothing to do");
    let own = json!({"start_command": "true", "status_command": "no-such-program x"});
    let foreseen = node.foresee("service", "absent", "start", own).unwrap();
    assert!(foreseen.assumed.first().unwrap().contains("Assuming a prior action would have installed the service"));
}

#[test]
fn what_nothing_earlier_can_bring_is_not_assumed_to_be_stopped() {
    let stop = |node: &mut Node, name: &str, action: &str| {
        let foreseen = node.foresee("service", name, action, json!({}));
        foreseen.map(|foreseen| foreseen.assumed.len()).map_err(|raised| raised.message)
    };
    let missing = |name: &str| Err(format!("/etc/init.d/{name} does not exist!"));
    let mut node = Node::new().dry();
    for action in ["stop", "reload"] {
        assert_eq!(stop(&mut node, "absent", action), missing("absent"), "as in a real run");
    }
    let foreseen = node.foresee("service", "absent", "disable", json!({})).unwrap();
    assert_eq!((foreseen.status, foreseen.assumed.len(), foreseen.unknown.len()), (contract::Status::UpToDate, 0, 0));
    // A file elsewhere brings none, one at the script's place does.
    let file = json!({"content": "#!/bin/sh\n", "mode": "0755"});
    node.foresee("file", "/srv/motd", "create", file.clone()).unwrap();
    assert_eq!(stop(&mut node, "absent", "stop"), missing("absent"));
    node.foresee("file", "/etc/init.d/absent", "create", file).unwrap();
    assert_eq!(stop(&mut node, "another", "stop"), missing("another"));
    assert_eq!(stop(&mut node, "absent", "stop"), Ok(1));
    // Nobody knows what a command or a package brings.
    let brought: [(&str, &str, &str, Value); 2] = [
        ("execute", "make install", "run", json!({"command": "true"})),
        ("apt_package", "brought", "install", json!({})),
    ];
    for (kind, name, action, properties) in brought {
        let mut node = Node::new().dry();
        assert_eq!(stop(&mut node, "absent", "stop"), missing("absent"));
        node.foresee(kind, name, action, properties).unwrap();
        assert_eq!(stop(&mut node, "absent", "stop"), Ok(1), "{kind}");
    }
    // So does code that the dry run leaves out.
    let mut node = Node::new().dry();
    contract::Providers::left_out_code(&mut node.providers);
    assert_eq!(stop(&mut node, "absent", "stop"), Ok(1));
}

#[test]
fn a_service_may_bring_its_own_commands() {
    let mut node = Node::new();
    let own = json!({
        "service_name": "thing",
        "start_command": "echo start >> /srv/log; touch /srv/up",
        "stop_command": "echo stop >> /srv/log; rm -f /srv/up",
        "restart_command": "echo restart >> /srv/log",
        "reload_command": "echo reload >> /srv/log",
        "status_command": "test -e /srv/up",
    });
    let mut check = |action: &str, expect: &[&str]| {
        assert_eq!(node.act("service", "again", action, own.clone()).unwrap(), expect, "{action}");
    };
    check("start", &["start service service[again]"]);
    check("start", &[]);
    check("restart", &["restart service service[again]"]);
    check("reload", &["reload service service[again]"]);
    check("stop", &["stop service service[again]"]);
    check("stop", &[]);
    assert_eq!(node.root.read("/srv/log").unwrap(), "start\nrestart\nreload\nstop\n");
}

#[test]
fn a_right_to_a_service_is_no_right_to_commands_or_other_units() {
    let grants = "services = [\"ticker\", \"web\"]\ncommands = [\"test -e /srv/up\"]\n";
    let mut ticker = Ticker::on(Node::granting(grants));
    let mut denied = |name: &str, action: &str, properties: Value| {
        let error = ticker.0.act("service", name, action, properties).unwrap_err();
        assert_eq!(error.class(), "Wrun::Denied", "{name} {action}: {error:?}");
        assert!(error.hint.is_some());
    };
    denied("other", "start", json!({}));
    denied("other", "enable", json!({}));
    denied("ticker", "start", json!({"start_command": "touch /srv/owned"}));
    denied("ticker", "start", json!({"init_command": "/srv/evil"}));
    denied("ticker", "start", json!({"status_command": "touch /srv/owned"}));
    denied("ticker", "restart", json!({"stop_command": "touch /srv/owned", "start_command": "true"}));
    assert!(!ticker.0.root.exists("/srv/owned"));
    // A unit that wants others enabled along with it, and names that are theirs.
    let unit = "[Install]\nWantedBy=multi-user.target\nAlso=only-unit.service\nAlias=cron.service\n";
    ticker.0.root.write("/lib/systemd/system/web.service", unit).unwrap();
    let error = ticker.0.act("service", "web", "enable", json!({})).unwrap_err();
    assert!(error.class() == "Wrun::Denied" && error.message.contains("only-unit"), "{error:?}");
    ticker.0.root.write("/lib/systemd/system/web.service", unit.replace("Also=only-unit.service\n", "")).unwrap();
    assert_eq!(ticker.0.act("service", "web", "enable", json!({})).unwrap(), ["enable service service[web]"]);
    assert!(ticker.0.root.exists("/etc/systemd/system/multi-user.target.wants/web.service"));
    assert!(!ticker.0.root.exists("/etc/systemd/system/cron.service"));
    ticker.check("start", json!({}), &["start service service[ticker]"]);
    ticker.check("stop", json!({}), &["stop service service[ticker]"]);
}

/// Without a running systemd, wrun makes the links that `systemctl enable` would make.
#[test]
fn attack_units_that_are_enabled_together_are_asked_for_without_systemd() {
    let mut node = Node::granting("services = [\"web*\"]\ndeny_services = [\"db-main\"]\n");
    let wants = |name: &str| format!("/etc/systemd/system/multi-user.target.wants/{name}");
    for (name, more) in [
        ("web", "Also=web-b.socket\n"),
        ("web-c", "Also=web.service\n"),
        ("web-far", "Also=web-middle\n"),
        ("web-middle", "Also=db-main\n"),
        ("db-main", ""),
    ] {
        let text = format!("[Install]\nWantedBy=multi-user.target\n{more}");
        node.root.write(format!("/lib/systemd/system/{name}.service"), text).unwrap();
    }
    let socket = "[Install]\nWantedBy=multi-user.target\nAlso=web-c.service\n";
    node.root.write("/lib/systemd/system/web-b.socket", socket).unwrap();
    let all = ["web.service", "web-b.socket", "web-c.service"];
    node.act("service", "web", "enable", json!({})).unwrap();
    assert!(all.iter().all(|name| node.root.exists(wants(name))));
    node.act("service", "web", "disable", json!({})).unwrap();
    assert!(!all.iter().any(|name| node.root.exists(wants(name))));
    let error = node.act("service", "web-far", "enable", json!({})).unwrap_err();
    assert!(error.class() == "Wrun::Denied" && error.message.contains("db-main"), "{error:?}");
    assert!(!node.root.exists(wants("web-far.service")));
}

#[test]
fn an_alias_of_a_refused_service_is_refused() {
    let mut node = Node::granting("services = [\"*\"]\ndeny_services = [\"web-prod\"]\n");
    let unit = "[Install]\nWantedBy=multi-user.target\nAlias=www.service\n";
    node.root.write("/lib/systemd/system/web-prod.service", unit).unwrap();
    node.root.write("/lib/systemd/system/web@.service", "[Install]\nWantedBy=multi-user.target\n").unwrap();
    let _linked = node.output(
        "sh -c 'cd /etc/systemd/system; ln -s /lib/systemd/system/web-prod.service www.service; \
         ln -s /lib/systemd/system/systemd-logind.service org.login.service; ln -s ../../../lib/systemd/system/web@.service web@1.service'",
    );
    node.root.write("/lib/systemd/system/systemd-logind.service", unit).unwrap();
    for (kind, name) in [
        ("service", "www"),
        ("service", "www.service"),
        ("service", "org.login"),
        ("systemd_unit", "www.service"),
        ("systemd_unit", "org.login.service"),
    ] {
        for action in ["disable", "mask"] {
            let error = node.act(kind, name, action, json!({})).unwrap_err();
            assert_eq!(error.class(), "Wrun::Denied", "{kind} {name} {action}: {error:?}");
        }
    }
    // A unit of a template is no alias of it.
    let _done = node.act("service", "web@1", "disable", json!({})).unwrap();
}

#[test]
fn service_umask_of_a_resource_is_not_that_of_the_programs_it_starts() {
    let mut ticker = Ticker::on(Node::granting("services = [\"ticker\"]\n"));
    let script = SCRIPT.replace("echo reloaded >> /srv/log", "umask > /srv/mask; touch /srv/made");
    ticker.0.root.write_program("/etc/init.d/ticker", &script).unwrap();
    ticker.0.act("service", "ticker", "start", json!({})).unwrap();
    ticker.0.act_masked("service", "ticker", "reload", 0).unwrap();
    assert_eq!(ticker.0.root.read("/srv/mask").unwrap(), "0022\n");
    assert_eq!(ticker.0.output("stat -c %a /srv/made"), "644");
}

/// A script whose every word leaves a trace.
const TRACED: &str = "#!/bin/sh\n# status\necho $(basename $0) $1 >> /srv/ran\n";

#[test]
fn attack_a_dry_run_starts_no_init_script_with_rights() {
    let node = Node::new();
    node.root.write_program("/etc/init.d/app", TRACED).unwrap();
    let mut node = node.dry();
    for action in ["start", "stop", "restart", "reload"] {
        let foreseen = node.foresee("service", "app", action, json!({})).unwrap();
        assert!(!node.root.exists("/srv/ran"), "{action}");
        let unknown = foreseen.unknown.first().unwrap();
        assert!(unknown.starts_with("whether it runs is not known: a dry run stopped it at:"), "{action}: {unknown}");
    }
    node.root.write_program("/usr/sbin/policy-rc.d", TRACED).unwrap();
    node.root.write_program("/etc/init.d/app", "#!/bin/sh\n[ $1 != status ] || exit 3\n").unwrap();
    let foreseen = node.foresee("service", "app", "start", json!({})).unwrap();
    assert_eq!((foreseen.changes.len(), foreseen.unknown.len()), (1, 1), "{foreseen:?}");
    assert!(!node.root.exists("/srv/ran"));
    node.root.write_program("/usr/sbin/policy-rc.d", "#!/bin/sh\nexit 101\n").unwrap();
    let foreseen = node.foresee("service", "app", "start", json!({})).unwrap();
    assert_eq!((foreseen.changes.len(), foreseen.unknown.len()), (0, 0), "{foreseen:?}");
    // A script that answers is believed.
    node.root.write_program("/etc/init.d/app", "#!/bin/sh\nexit 0 # status\n").unwrap();
    assert_eq!(node.foresee("service", "app", "start", json!({})).unwrap().changes, [""; 0]);
}

#[test]
fn a_dry_run_sees_that_a_service_of_a_script_runs() {
    let mut ticker = Ticker::on(Node::new());
    // Its script sends a signal to learn whether it runs, which it may not: the table of processes has its name.
    ticker.0.root.write_program("/usr/sbin/ticker", "#!/usr/bin/perl\nsleep 60;\n").unwrap();
    ticker.check("start", json!({}), &["start service service[ticker]"]);
    let pid = ticker.0.root.read("/run/ticker.pid").unwrap();
    let mut node = Ticker(std::mem::replace(&mut ticker.0, Node::new()).dry());
    let foreseen = node.0.foresee("service", "ticker", "start", json!({})).unwrap();
    assert_eq!((foreseen.changes.len(), foreseen.unknown.len()), (0, 0), "{foreseen:?}");
    let foreseen = node.0.foresee("service", "ticker", "stop", json!({})).unwrap();
    assert_eq!(foreseen.changes, ["stop service service[ticker]"]);
    assert_eq!(node.0.root.read("/run/ticker.pid").unwrap(), pid);
}

#[test]
fn attack_a_wildcard_reaches_no_script_that_ends_the_machine() {
    let mut node = Node::granting("services = [\"*\"]\n");
    let names =
        ["halt", "reboot", "sendsigs", "umountfs", "umountnfs.sh", "umountroot", "single", "rc", "rcS", "killprocs"];
    for name in names {
        node.root.write_program(format!("/etc/init.d/{name}"), TRACED).unwrap();
        let error = node.act("service", name, "start", json!({})).unwrap_err();
        assert_eq!(error.class(), "Wrun::Denied", "{name}: {error:?}");
    }
    assert!(!node.root.exists("/srv/ran"));
    let mut node = node.again(Some("services = [\"halt\"]\n"));
    node.act("service", "halt", "restart", json!({"pattern": "no such process"})).unwrap();
}

#[test]
fn attack_an_init_script_that_is_a_link_needs_both_names() {
    let node = Node::granting("services = [\"*\"]\ndeny_services = [\"db\"]\n");
    node.root.write_program("/etc/init.d/db", TRACED).unwrap();
    node.root.write_program("/etc/init.d/halt", TRACED).unwrap();
    node.output(
        "ln -s db /etc/init.d/database; ln -s /etc/init.d/database /etc/init.d/store; ln -s halt /etc/init.d/stopall",
    );
    let denied = |node: &mut Node, name: &str| {
        let error = node.act("service", name, "restart", json!({})).unwrap_err();
        assert_eq!(error.class(), "Wrun::Denied", "{name}: {error:?}");
        assert!(!node.root.exists("/srv/ran"), "{name}");
    };
    let mut node = node;
    for name in ["database", "store", "stopall", "db"] {
        denied(&mut node, name);
    }
    let mut node = node.again(Some("services = [\"database\"]\n"));
    denied(&mut node, "database");
    let mut node = node.again(Some("services = [\"database\", \"db\"]\n"));
    node.act("service", "database", "restart", json!({"pattern": "no such process"})).unwrap();
    assert!(node.root.exists("/srv/ran"));
}

#[test]
fn a_service_that_a_dry_run_would_enable_would_be_disabled_again() {
    let mut node = Ticker::on(Node::new().dry());
    let check = |node: &mut Ticker, name: &str, action: &str, changes: usize, doubts: usize| {
        let foreseen = node.0.foresee("service", name, action, json!({})).unwrap();
        let found = (foreseen.changes.len(), foreseen.assumed.len() + foreseen.unknown.len());
        assert_eq!(found, (changes, doubts), "{name} {action}: {foreseen:?}");
    };
    for name in ["ticker", "only-unit"] {
        check(&mut node, name, "disable", 0, 0);
        check(&mut node, name, "enable", 1, 0);
        check(&mut node, name, "enable", 0, 0);
        check(&mut node, name, "disable", 1, 0);
        check(&mut node, name, "disable", 0, 0);
    }
    // One that is not there yet: a package may bring it, and enable it.
    check(&mut node, "absent", "disable", 0, 0);
    node.0.foresee("apt_package", "brought", "install", json!({})).unwrap();
    check(&mut node, "absent", "disable", 0, 1);
    check(&mut node, "absent", "enable", 1, 1);
    check(&mut node, "absent", "disable", 1, 1);
}
