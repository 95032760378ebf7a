//! `systemd_unit`: files that are really written, and a `systemctl` that writes down what it is told.

use crate::node::{Foreseen, Node};
use contract::Providers as _;
use serde_json::{Value, json};

/// Notes its arguments, makes and removes the link of the unit it knows, and fails where it is told to.
const SYSTEMCTL: &str = r#"#!/bin/sh
echo "$* ${DBUS_SESSION_BUS_ADDRESS}" | sed 's/ *$//' >> /srv/log
link=/etc/systemd/system/multi-user.target.wants/app.service
case "$2" in
  enable) mkdir -p "${link%/*}"; ln -sf /etc/systemd/system/app.service "$link" ;;
  disable) rm -f "$link" ;;
esac
if [ -e /srv/fail ]; then echo "no such thing" >&2; exit 1; fi
"#;

const PATH: &str = "/etc/systemd/system/app.service";

fn node() -> Node {
    prepared(Node::new())
}

fn prepared(node: Node) -> Node {
    node.root.write_program("/usr/bin/systemctl", SYSTEMCTL).unwrap();
    node.root.write("/srv/log", "").unwrap();
    node
}

fn content() -> Value {
    json!({"Unit": {"Description": "x"}, "Service": {"ExecStart": "/bin/true", "Environment": ["A=1", "B=2"]}, "Install": {"WantedBy": "multi-user.target"}})
}

const TEXT: &str = "[Unit]\nDescription=x\n\n[Service]\nExecStart=/bin/true\nEnvironment=A=1\nEnvironment=B=2\n\n[Install]\n\
                    WantedBy=multi-user.target\n";

/// What systemctl was told since the last time.
fn told(node: &Node) -> Vec<String> {
    let log = node.root.read("/srv/log").unwrap();
    node.root.write("/srv/log", "").unwrap();
    log.lines().map(str::to_owned).collect()
}

/// systemd enables and disables what `Also=` names by itself, and makes the links of aliases.
#[test]
fn attack_units_that_are_enabled_together_are_asked_for() {
    let mut node = prepared(Node::granting("services = [\"web-*\"]\ndeny_services = [\"db-*\", \"front\"]"));
    let unit = |node: &Node, name: &str, more: &str| {
        let text = format!("[Service]\nExecStart=/bin/true\n[Install]\nWantedBy=multi-user.target\n{more}");
        node.root.write(format!("/etc/systemd/system/{name}"), text).unwrap();
    };
    for name in ["db-main.service", "web-b.service", "web-c.service"] {
        unit(&node, name, "");
    }
    unit(&node, "web-own.service", "Also=web-b.service absent.service\nAlias=web-alias.service\n");
    unit(&node, "web-direct.service", "Also=db-main.service\n");
    unit(&node, "web-far.service", "Also=web-middle.service\n");
    unit(&node, "web-middle.service", "Also=db-main\n");
    unit(&node, "web-by-name.service", "Also=%N-x.service\n");
    unit(&node, "web-by-name-x.service", "Also=db-main.service\n");
    unit(&node, "web-dropped.service", "");
    node.root.write("/etc/systemd/system/web-dropped.service.d/x.conf", "[Install]\nAlso=db-main.service\n").unwrap();
    unit(&node, "web-unknown.service", "Also=%H.service\n");
    unit(&node, "web-front.service", "Alias=front.service\n");
    unit(&node, "web-vendor.service", "Alias=vendor.service\n");
    node.root.write("/usr/lib/systemd/system/vendor.service", "[Service]\n").unwrap();
    unit(&node, "web-taken.service", "Alias=web-d.service\n");
    node.output("ln -s /etc/systemd/system/web-c.service /etc/systemd/system/web-d.service");
    node.act("systemd_unit", "web-own.service", "enable", json!({})).unwrap();
    assert_eq!(told(&node), ["--system enable web-own.service"]);
    for (name, said) in [
        ("web-direct", "db-main"),
        ("web-far", "db-main"),
        ("web-by-name", "db-main"),
        ("web-dropped", "db-main"),
        ("web-front", "front"),
        ("web-vendor", "vendor"),
        ("web-unknown", "%H.service"),
        ("web-taken", "web-d.service already exists and is a symlink to /etc/systemd/system/web-c.service"),
    ] {
        let raised = node.act("systemd_unit", &format!("{name}.service"), "enable", json!({})).unwrap_err();
        assert!(raised.message.contains(said), "{name}: {}", raised.message);
    }
    node.output(
        "mkdir -p /etc/systemd/system/x.target.wants; ln -s ../web-direct.service /etc/systemd/system/x.target.wants/",
    );
    let raised = node.act("systemd_unit", "web-direct.service", "disable", json!({})).unwrap_err();
    assert!(raised.message.contains("db-main"), "{}", raised.message);
    assert_eq!(told(&node), Vec::<String>::new());
}

#[test]
fn a_unit_is_written_once_and_systemd_told() {
    let mut node = node();
    let done = node.act("systemd_unit", "app.service", "create", json!({"content": content()})).unwrap();
    assert_eq!(done, ["creating unit: app.service"]);
    let parts = node.providers.parts();
    assert_eq!(parts.iter().map(|part| (part.kind, part.name.as_str())).collect::<Vec<_>>(), [("file", PATH)]);
    assert_eq!(parts[0].changes[0].what, format!("create new file {PATH}"));
    assert_eq!(node.root.read(PATH).unwrap(), TEXT);
    assert_eq!(node.output(&format!("stat -c '%a %U %G' {PATH}")), "644 root root");
    assert_eq!(told(&node), ["--system daemon-reload"]);
    let again = node.act("systemd_unit", "app.service", "create", json!({"content": TEXT})).unwrap();
    assert_eq!((again, told(&node)), (vec![], vec![]));
    let quiet = json!({"content": "[Unit]\n", "triggers_reload": false, "unit_name": "app.service"});
    assert!(!node.act("systemd_unit", "other", "create", quiet).unwrap().is_empty());
    assert_eq!((node.root.read(PATH).unwrap().as_str(), told(&node)), ("[Unit]\n", vec![]));
    let done = node.act("systemd_unit", "app.service", "delete", json!({})).unwrap();
    assert_eq!(done, ["deleting unit: app.service"]);
    assert_eq!(node.providers.parts()[0].changes[0].what, format!("delete file {PATH}"));
    assert!(!node.root.exists(PATH));
    assert_eq!(told(&node), ["--system daemon-reload"]);
    assert_eq!(node.act("systemd_unit", "app.service", "delete", json!({})).unwrap(), [""; 0]);
}

#[test]
fn units_are_enabled_where_nobody_runs() {
    let mut node = node();
    let quiet = json!({"content": content(), "triggers_reload": false});
    node.act("systemd_unit", "app.service", "create", quiet).unwrap();
    let mut check = |action: &str, sentence: &[&str], words: &[&str]| {
        let done = node.act("systemd_unit", "app.service", action, json!({})).unwrap();
        assert_eq!(done, sentence, "{action}");
        assert_eq!(told(&node), words, "{action}");
    };
    check("disable", &[], &[]);
    check("enable", &["enabling unit: app.service"], &["--system enable app.service"]);
    check("enable", &[], &[]);
    check("disable", &["disabling unit: app.service"], &["--system disable app.service"]);
    check("reenable", &["reenabling unit: app.service"], &["--system reenable app.service"]);
    check("mask", &["masking unit: app.service"], &["--system mask app.service"]);
    check("unmask", &[], &[]);
    check("start", &["starting unit: app.service"], &["--system start app.service"]);
    check("stop", &[], &[]);
    check("reload", &[], &[]);
    check("restart", &["restarting unit: app.service"], &["--system restart app.service"]);
    check("try_restart", &["try-restarting unit: app.service"], &["--system try-restart app.service"]);
    let sentence = "restoring enable/disable preset configuration for unit: app.service";
    check("preset", &[sentence], &["--system preset app.service"]);
    check("revert", &["reverting to vendor version of unit: app.service"], &["--system revert app.service"]);
}

#[test]
fn a_users_own_systemd_is_spoken_to_as_that_user() {
    let mut node = node();
    node.output("useradd --uid 4711 alice; chmod 666 /srv/log");
    node.act("systemd_unit", "a.timer", "create", json!({"content": "[Timer]\n", "user": "alice"})).unwrap();
    assert!(node.root.exists("/etc/systemd/user/a.timer"));
    node.act("systemd_unit", "a.timer", "restart", json!({"user": "alice"})).unwrap();
    let bus = "unix:path=/run/user/4711/bus";
    assert_eq!(told(&node), [format!("--user daemon-reload {bus}"), format!("--user restart a.timer {bus}")]);
    let raised = node.act("systemd_unit", "a.timer", "restart", json!({"user": "nobody-here"})).unwrap_err();
    assert_eq!((raised.class(), raised.message.as_str()), ("ArgumentError", "can't find user for nobody-here"));
}

#[test]
fn failures_have_chefs_classes() {
    let mut node = node();
    let raised = node.act("systemd_unit", "app.service", "create", json!({"content": "derp"})).unwrap_err();
    assert_eq!(raised.class(), "IniParse::ParseError");
    node.root.write("/srv/fail", "").unwrap();
    let raised = node.act("systemd_unit", "app.service", "restart", json!({})).unwrap_err();
    assert_eq!(raised.class(), "Mixlib::ShellOut::ShellCommandFailed");
    assert!(raised.message.contains("systemctl --system restart app.service"), "{}", raised.message);
    for name in ["../x.service", "-x", "a/b"] {
        assert!(node.act("systemd_unit", name, "create", json!({"content": ""})).is_err(), "{name}");
    }
}

#[test]
fn a_missing_unit_has_a_near_name_if_the_policy_may_use_that() {
    let node = node();
    node.root.write("/srv/fail", "").unwrap();
    node.root.write("/lib/systemd/system/collector.timer", "[Timer]\n").unwrap();
    node.root.write("/lib/systemd/system/collectors.service", "[Service]\n").unwrap();
    let hint = |node: &mut Node, unit: &str| node.act("systemd_unit", unit, "start", json!({})).unwrap_err().hint;
    let mut node = prepared(node.again(Some("services = [\"col*\"]")));
    assert_eq!(hint(&mut node, "colector.timer").as_deref(), Some("did you mean `collector.timer`?"));
    assert_eq!(hint(&mut node, "collectrs.service").as_deref(), Some("did you mean `collectors.service`?"));
    // One that is there fails of something else.
    assert_eq!(hint(&mut node, "collector.timer"), None);
    let mut node = prepared(node.again(Some("services = [\"colector.timer\"]")));
    assert_eq!(hint(&mut node, "colector.timer"), None, "what it may not manage is not named");
}

/// A `systemd-analyze` that tells how it is called, tries what `man` could, and says something of the text and of other files.
const ANALYZE: &str = r#"#!/bin/sh
id > /run/pwned
id > /tmp/pwned
echo "$4:2: it says $(tail -1 "$4")" >&2
echo "app.service: Command /root/x is not executable: No such file or directory" >&2
echo "app.service: called $1 $2 $3" >&2
echo "/etc/systemd/system/other.service:1: hunter2" >&2
exit 1
"#;

#[test]
fn a_unit_that_systemd_does_not_accept_is_not_written() {
    let mut node = node();
    node.root.write_program("/usr/bin/systemd-analyze", ANALYZE).unwrap();
    let text = "[Unit]\nDescription=mine";
    let raised = node.act("systemd_unit", "app.service", "create", json!({"content": text})).unwrap_err();
    assert_eq!(raised.class(), "Chef::Exceptions::ValidationFailed");
    assert!(raised.message.contains("failed verification :systemd_unit"), "{}", raised.message);
    for said in ["app.service:2: it says Description=mine\n", "called verify --man=no --\n"] {
        assert!(raised.message.contains(said), "{}", raised.message);
    }
    assert!(!node.root.exists(PATH));
    let unverified = json!({"content": text, "verify": false});
    node.act("systemd_unit", "app.service", "create", unverified).unwrap();
    assert!(node.root.exists(PATH));
}

#[test]
fn a_verified_unit_runs_nothing_and_tells_of_no_other_file() {
    let mut node = node();
    node.root.write_program("/usr/bin/systemd-analyze", ANALYZE).unwrap();
    let raised = node.act("systemd_unit", "app.service", "create", json!({"content": content()})).unwrap_err();
    for path in ["/run/pwned", "/tmp/pwned"] {
        assert!(!node.root.exists(path), "what systemd-analyze writes is thrown away");
    }
    for told in ["/root/x", "hunter2", "other.service"] {
        assert!(!raised.message.contains(told), "{}", raised.message);
    }
    assert!(raised.message.contains("says more, about other files"), "{}", raised.message);
    // What tries to write elsewhere has no say.
    node.root.write_program("/usr/bin/systemd-analyze", "#!/bin/sh\nid > /srv/pwned\nexit 0\n").unwrap();
    let raised = node.act("systemd_unit", "app.service", "create", json!({"content": content()})).unwrap_err();
    assert!(!node.root.exists("/srv/pwned"));
    assert!(raised.message.contains("systemd-analyze cannot be asked about app.service"), "{}", raised.message);
}

#[test]
fn only_files_in_systemds_folders_are_verified_as_units() {
    let mut node = prepared(Node::granting("paths = [\"/srv/app/**\"]"));
    node.root.write_program("/usr/bin/systemd-analyze", "#!/bin/sh\nid > /srv/log\n").unwrap();
    node.output(
        "mkdir -p /srv/app && ln -s /etc/systemd/system /srv/app/units && ln -s /srv/app /etc/systemd/system.d",
    );
    for path in ["/srv/app/x.service", "/srv/app/./x.service", "/etc/systemd/system/../../../srv/app/x.service"] {
        for kind in ["file", "template"] {
            let asked =
                json!({"content": "[Unit]\nDocumentation=man:ls(-H/srv/app/evil)\n", "verify": ":systemd_unit"});
            let raised = node.act(kind, path, "create", asked).unwrap_err();
            assert!(raised.message.contains("not in a folder of systemd's units"), "{path}: {}", raised.message);
        }
    }
    assert_eq!(told(&node), [""; 0]);
    // By its text it is one of them, and a link leads elsewhere.
    node.output("mv /etc/systemd/system /etc/systemd/own && ln -s /srv/app /etc/systemd/system");
    let asked = json!({"content": "[Unit]\n", "verify": ":systemd_unit"});
    let raised = node.act("file", "/etc/systemd/system/x.service", "create", asked).unwrap_err();
    assert!(raised.message.contains("not in a folder of systemd's units"), "{}", raised.message);
    assert_eq!(told(&node), [""; 0]);
}

#[test]
fn the_file_and_the_service_are_two_rights() {
    let mut node = prepared(Node::granting(&format!("paths = [\"{PATH}\"]")));
    node.act("systemd_unit", "app.service", "create", json!({"content": content()})).unwrap();
    let denied = |node: &mut Node, name: &str, action: &str| {
        let raised = node.act("systemd_unit", name, action, json!({"content": content()})).unwrap_err();
        assert_eq!(raised.class(), "Wrun::Denied", "{name} {action}");
        raised.hint.unwrap_or_default()
    };
    assert!(denied(&mut node, "app.service", "enable").contains("services = [\"app\"]"));
    denied(&mut node, "other.service", "create");
    told(&node);
    let mut node = prepared(node.again(Some("services = [\"app\"]\npaths = [\"/etc/**\"]")));
    node.act("systemd_unit", "app.service", "enable", json!({})).unwrap();
    assert!(denied(&mut node, "app.service", "create").contains("app.service"));
    denied(&mut node, "app.service", "delete");
    denied(&mut node, "app.service", "revert");
    // What reverting removes is more than the file.
    let file = format!("services = [\"app\"]\npaths = [\"{PATH}\"]\n");
    let mut node = prepared(node.again(Some(&file)));
    let hint = denied(&mut node, "app.service", "revert");
    assert!(hint.contains(&format!("{PATH}.d")), "{hint}");
    let both = format!("{file}privileged_paths = [\"{PATH}.d/**\"]\n");
    let mut node = prepared(node.again(Some(&both)));
    node.root.write("/run/systemd/transient/app.service.d/50-x.conf", "").unwrap();
    let hint = denied(&mut node, "app.service", "revert");
    assert!(hint.contains("/run/systemd/transient/app.service.d"), "{hint}");
}

#[test]
fn a_dry_run_says_the_same() {
    let mut node = node().dry();
    let foreseen = node.foresee("systemd_unit", "app.service", "create", json!({"content": content()})).unwrap();
    assert_eq!(foreseen.changes.first().map(String::as_str), Some("creating unit: app.service"));
    let foreseen = node.foresee("systemd_unit", "app.service", "enable", json!({})).unwrap();
    assert_eq!(foreseen, Foreseen { changes: vec!["enabling unit: app.service".into()], ..Foreseen::default() });
    assert!(!node.root.exists(PATH) && told(&node).is_empty());
}
