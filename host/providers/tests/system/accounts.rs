//! `user`, `group` and `cron_d`, with the shadow tools.

use crate::node::{Foreseen, Node};
use serde_json::{Value, json};

#[track_caller]
fn check(node: &mut Node, kind: &str, name: &str, action: &str, properties: Value, expect: &[&str]) {
    let done = node.act(kind, name, action, properties).unwrap_or_else(|error| panic!("{error:?}"));
    assert_eq!(done, expect, "{action} {kind}[{name}]");
}

#[track_caller]
fn fails(node: &mut Node, kind: &str, name: &str, action: &str, properties: Value, class: &str, message: &str) {
    let error = node.act(kind, name, action, properties).unwrap_err();
    assert_eq!((error.class(), error.message.as_str()), (class, message));
}

#[test]
fn users_are_created_changed_locked_and_removed() {
    let mut node = Node::new();
    let node = &mut node;
    check(node, "group", "team", "create", json!({"gid": 64001}), &["create group team"]);
    let first = json!({"uid": 64001, "gid": "team", "home": "/home/ann", "shell": "/bin/sh", "comment": "First"});
    check(node, "user", "ann", "create", first.clone(), &["create user ann"]);
    check(node, "user", "ann", "create", first, &[]);
    assert_eq!(node.output("grep ^ann: /etc/passwd"), "ann:x:64001:64001:First:/home/ann:/bin/sh");
    assert!(!node.root.exists("/home/ann"));
    let second = json!({"username": "ann", "comment": "Second, changed", "shell": "/bin/bash"});
    let expect =
        ["modify user ann", "change comment from First to Second, changed", "change shell from /bin/sh to /bin/bash"];
    check(node, "user", "change", "modify", second, &expect);
    check(node, "user", "ann", "lock", json!({}), &[]);
    let password = json!({"password": "$6$salt$hash", "expire_date": "2030-03-27", "inactive": 30});
    let expect = [
        "manage user ann",
        "change password from ******** to ********",
        "change expire_date from  to 2030-03-27",
        "change inactive from  to 30",
    ];
    check(node, "user", "ann", "manage", password.clone(), &expect);
    check(node, "user", "ann", "manage", password, &[]);
    assert!(node.output("grep ^ann: /etc/shadow").starts_with("ann:$6$salt$hash:"));
    check(node, "user", "ann", "lock", json!({}), &["lock the user ann"]);
    check(node, "user", "ann", "lock", json!({}), &[]);
    assert!(node.output("grep ^ann: /etc/shadow").starts_with("ann:!$6$salt$hash:"));
    check(node, "user", "ann", "unlock", json!({}), &["unlock user ann"]);
    check(node, "user", "ann", "remove", json!({}), &["remove user ann"]);
    check(node, "user", "ann", "remove", json!({}), &[]);
    check(node, "user", "ann", "manage", json!({"shell": "/bin/sh"}), &[]);
    let message = "Cannot modify user ann - does not exist!";
    fails(node, "user", "ann", "modify", json!({}), "Chef::Exceptions::User", message);
    fails(node, "user", "ann", "lock", json!({}), "Chef::Exceptions::User", message);
}

#[test]
fn home_directories_are_made_moved_and_removed() {
    let mut node = Node::new();
    let node = &mut node;
    node.root.write("/etc/skel/.hello", "").unwrap();
    check(node, "user", "bob", "create", json!({"manage_home": true}), &["create user bob"]);
    assert!(node.root.exists("/home/bob/.hello"));
    let moved = json!({"manage_home": true, "home": "/srv/bob"});
    let expect = ["alter user bob", "change homedir from /home/bob to /srv/bob"];
    check(node, "user", "bob", "create", moved.clone(), &expect);
    assert!(node.root.exists("/srv/bob/.hello") && !node.root.exists("/home/bob"));
    check(node, "user", "bob", "create", moved.clone(), &[]);
    check(node, "user", "bob", "remove", moved, &["remove user bob"]);
    assert!(!node.root.exists("/srv/bob"));
    check(node, "user", "robot", "create", json!({"system": true}), &["create user robot"]);
    assert!(node.output("id -u robot").parse::<u32>().unwrap() < 1000);
}

/// A link of the policy's own on the way to a home, with two directories missing behind it.
#[test]
fn home_through_link_is_asked_for_where_it_would_be_made() {
    let mut node = Node::granting("users = [\"deploy\"]\npaths = [\"/srv/h/**\"]\n");
    node.output("mkdir -p /srv/h /usr/local/share; ln -s /usr/local/share /srv/h/way; ln -s /var/nowhere /srv/h/blind");
    let there = "find /usr/local/share /var/nowhere 2>/dev/null || true";
    let before = node.output(there);
    for home in ["/srv/h/way/perl/5.36.0", "/srv/h/way/perl", "/srv/h/way", "/srv/h/blind/x", "/srv/h/blind"] {
        let properties = json!({"manage_home": true, "home": home});
        assert!(node.act("user", "deploy", "create", properties).is_err(), "{home}");
        assert_eq!(node.output(there), before, "{home}");
    }
    assert_eq!(node.output("grep -c ^deploy: /etc/passwd || true"), "0");
    // The same for the way to which a home is moved, and from which it is taken.
    node.act("user", "deploy", "create", json!({"manage_home": true, "home": "/srv/h/a/b"})).unwrap();
    assert_eq!(node.output("stat -c %U:%a /srv/h/a /srv/h/a/b"), "root:755\ndeploy:755");
    let away = json!({"manage_home": true, "home": "/srv/h/way/perl/5.36.0"});
    assert_eq!(node.act("user", "deploy", "modify", away).unwrap_err().class(), "Wrun::Denied");
    assert_eq!(node.output("getent passwd deploy | cut -d: -f6"), "/srv/h/a/b");
    let text_only = json!({"home": "/srv/h/way/there"});
    assert_eq!(node.act("user", "deploy", "modify", text_only).unwrap_err().class(), "Wrun::Denied");
    node.output("mkdir /usr/local/share/there; chown deploy /usr/local/share/there");
    node.output("usermod -d /srv/h/way/there deploy");
    let mut node = node.again(Some("users = [\"deploy\"]\npaths = [\"/srv/h/**\"]\n"));
    let error = node.act("user", "deploy", "remove", json!({"manage_home": true})).unwrap_err();
    assert_eq!(error.class(), "Wrun::Denied");
    assert!(node.root.exists("/usr/local/share/there"));
}

#[test]
fn home_through_link_programs_get_no_path_to_follow() {
    let mut node = Node::granting("users = [\"deploy\"]\npaths = [\"/srv/**\"]\n");
    node.output("mkdir -p /srv/real; ln -s real /srv/link; mkdir -p /etc/skel/.config; echo hi >/etc/skel/.config/x");
    node.act("user", "deploy", "create", json!({"manage_home": true, "home": "/srv/link/deploy"})).unwrap();
    assert_eq!(node.output("getent passwd deploy | cut -d: -f6"), "/srv/real/deploy");
    assert_eq!(
        node.output("stat -c %U:%G /srv/real/deploy /srv/real/deploy/.config/x"),
        "deploy:deploy\ndeploy:deploy"
    );
    let again = json!({"manage_home": true, "home": "/srv/link/deploy"});
    assert_eq!(node.act("user", "deploy", "create", again).unwrap(), [""; 0]);
    // A home that is another's is not removed, unless by force.
    node.output(
        "chown root /srv/real/deploy; mkdir -p /var/mail; touch /var/mail/deploy; chown deploy /var/mail/deploy",
    );
    let error = node.act("user", "deploy", "remove", json!({"manage_home": true})).unwrap_err();
    assert_eq!(
        error.message,
        "user deploy was removed, but not the home /srv/real/deploy: it is not owned by the user"
    );
    assert!(node.root.exists("/srv/real/deploy/.config/x") && !node.root.exists("/var/mail/deploy"));
}

/// A directory that is somebody's home has other rules: a policy must not make another's directory one.
#[test]
fn a_home_that_is_only_named_is_asked_for() {
    let mut node = Node::granting("users = [\"deploy\"]\npaths = [\"/srv/own/**\"]\n");
    for home in ["/srv/victim", "/etc/cron.d", "/usr/local/share/x/y"] {
        let error = node.act("user", "deploy", "create", json!({"home": home})).unwrap_err();
        assert!(error.class() == "Wrun::Denied" && error.message.contains(home), "{home}: {}", error.message);
    }
    for home in ["/nonexistent", "/srv/own/deploy", "/home/deploy"] {
        node.act("user", "deploy", "create", json!({"home": home})).unwrap();
        assert_eq!(node.output("getent passwd deploy | cut -d: -f6"), home);
    }
}

#[test]
fn a_home_that_two_users_have_stays_when_one_is_removed() {
    let mut node = Node::granting("users = [\"ann\", \"bea\"]\npaths = [\"/srv/**\"]\n");
    node.act("user", "ann", "create", json!({"manage_home": true, "home": "/srv/both"})).unwrap();
    node.output("useradd -M -d /srv/both bea");
    let error = node.act("user", "ann", "remove", json!({"manage_home": true})).unwrap_err();
    assert_eq!(error.message, "user ann was removed, but not the home /srv/both: it is another user's home too");
    assert!(node.root.exists("/srv/both"));
}

#[test]
fn fields_that_would_break_the_files_are_refused() {
    let mut node = Node::new();
    let before = node.root.read("/etc/passwd").unwrap();
    for (name, properties) in [
        ("x", json!({"comment": "a:b"})),
        ("x", json!({"shell": "/bin/sh\nroot2::0:0::/:/bin/sh"})),
        ("x", json!({"password": "a:b"})),
        ("x", json!({"uid": "-1"})),
        ("x", json!({"home": "/home/x/../../etc"})),
        ("x:y", json!({})),
        ("-r", json!({})),
        ("x", json!({"expire_date": "soon"})),
    ] {
        assert!(node.act("user", name, "create", properties.clone()).is_err(), "{name} {properties}");
    }
    assert_eq!(node.root.read("/etc/passwd").unwrap(), before);
}

#[test]
fn a_group_that_is_missing_is_an_error_now_or_an_assumption() {
    let mut node = Node::new();
    node.act("user", "ann", "create", json!({})).unwrap();
    let message = "Couldn't lookup integer GID for group name nowhere";
    fails(&mut node, "user", "ann", "create", json!({"gid": "nowhere"}), "Chef::Exceptions::User", message);
    // What a tool says of a new user is shown under Chef's own words.
    let error = node.act("user", "bob", "create", json!({"gid": "nowhere"})).unwrap_err();
    assert!(
        error.message.ends_with("Ran [\"useradd\", \"-g\", \"nowhere\", \"-M\", \"bob\"] returned 6"),
        "{}",
        error.message
    );
    let error = node.act("group", "bin2", "create", json!({"gid": 0, "system": true})).unwrap_err();
    assert!(
        error.message.ends_with("Ran [\"groupadd\", \"-g\", \"0\", \"bin2\", \"-r\"] returned 4"),
        "{}",
        error.message
    );
    let error = node.act("group", "bin", "manage", json!({"members": ["nobody-there"]})).unwrap_err();
    assert!(
        error.message.contains("Ran [\"gpasswd\", \"-M\", \"nobody-there\", \"bin\"] returned"),
        "{}",
        error.message
    );
    let mut node = node.dry();
    let foreseen = node.foresee("group", "nowhere", "create", json!({})).unwrap();
    assert_eq!(foreseen.changes, ["create group nowhere"]);
    let foreseen = node.foresee("user", "ann", "create", json!({"gid": "nowhere"})).unwrap();
    assert_eq!(foreseen.changes, ["alter user ann", "change gid from 1000 to nowhere"]);
    assert_eq!(foreseen.assumed.len(), 1);
    let foreseen = node.foresee("user", "eve", "modify", json!({"shell": "/bin/sh"})).unwrap();
    assert_eq!(foreseen.assumed, ["Assuming user eve would have been created"]);
    assert_eq!(foreseen.changes, ["modify user eve", "change shell from  to /bin/sh"]);
    let foreseen = node.foresee("group", "team", "modify", json!({"members": ["ann"], "append": true})).unwrap();
    assert_eq!(foreseen.changes, ["modify group team", "add missing member(s): ann"]);
    assert_eq!(foreseen.assumed.len(), 1);
    assert!(!node.output("cat /etc/group").contains("nowhere"));
}

#[test]
fn groups_and_their_members() {
    let mut node = Node::new();
    let node = &mut node;
    let line = |node: &Node| node.output("grep ^team: /etc/group");
    let create = json!({"gid": 64010, "members": ["daemon", "bin"]});
    check(node, "group", "team", "create", create.clone(), &["create group team"]);
    check(node, "group", "team", "create", create, &[]);
    assert_eq!(line(node), "team:x:64010:daemon,bin");
    let add = json!({"group_name": "team", "members": ["sys"], "append": true});
    check(node, "group", "add", "modify", add, &["modify group team", "add missing member(s): sys"]);
    assert_eq!(line(node), "team:x:64010:daemon,bin,sys");
    let drop = json!({"excluded_members": ["bin"], "append": true});
    check(node, "group", "team", "manage", drop, &["manage group team", "remove existing member(s): bin"]);
    let set = json!({"members": ["games"], "gid": 64011});
    let expect =
        ["alter group team", "change gid 64010 to 64011", "replace group members with new list of members: games"];
    check(node, "group", "team", "create", set, &expect);
    assert_eq!(line(node), "team:x:64011:games");
    let both = json!({"members": ["a", "b"], "excluded_members": ["b"], "append": true});
    let class = "Chef::Exceptions::ConflictingMembersInGroup";
    let message = "Attempting to both add and remove users from a group: 'b'";
    fails(node, "group", "team", "create", both, class, message);
    check(node, "group", "team", "remove", json!({}), &["remove group team"]);
    check(node, "group", "team", "remove", json!({}), &[]);
    check(node, "group", "team", "manage", json!({"members": ["games"]}), &[]);
    let message = "Cannot modify group[team] - group does not exist!";
    fails(node, "group", "team", "modify", json!({}), "Chef::Exceptions::Group", message);
}

#[test]
fn a_right_to_a_user_is_no_right_to_root_others_or_groups() {
    let mut node = Node::granting("users = [\"app\", \"app-*\"]\ngroups = [\"app\"]\npaths = [\"/srv/app\"]\n");
    let mut denied = |kind: &str, name: &str, action: &str, properties: Value| {
        let error = node.act(kind, name, action, properties).unwrap_err();
        assert_eq!(error.class(), "Wrun::Denied", "{kind} {name}: {error:?}");
        assert!(error.hint.is_some());
    };
    denied("user", "other", "create", json!({}));
    denied("user", "root", "modify", json!({"password": "$6$x$y"}));
    denied("user", "app", "create", json!({"uid": 0, "non_unique": true}));
    denied("user", "app", "create", json!({"uid": 1, "non_unique": true}));
    denied("user", "app", "create", json!({"gid": "sudo"}));
    denied("user", "app", "create", json!({"gid": 0}));
    denied("user", "app", "create", json!({"manage_home": true, "home": "/etc/cron.d"}));
    denied("group", "sudo", "modify", json!({"members": ["app"], "append": true}));
    denied("group", "app", "create", json!({"gid": 0, "non_unique": true}));
    denied("user", "other", "remove", json!({}));
    let home = json!({"manage_home": true, "home": "/srv/app", "gid": "app", "uid": 64001});
    node.act("group", "app", "create", json!({})).unwrap();
    assert_eq!(node.act("user", "app", "create", home).unwrap(), ["create user app"]);
    assert_eq!(node.act("user", "app-1", "create", json!({"manage_home": true})).unwrap(), ["create user app-1"]);
}

#[test]
fn jobs_are_written_as_chef_writes_them() {
    let mut node = Node::new();
    let node = &mut node;
    let job = json!({"minute": "*/5", "hour": 3, "command": "/bin/true"});
    let done = node.act("cron_d", "backup", "create", job.clone()).unwrap();
    assert_eq!(done.first().unwrap(), "create new file /etc/cron.d/backup");
    let expect = "# Generated by Chef Infra Client. Changes will be overwritten.\n\n*/5 3 * * * root /bin/true\n";
    assert_eq!(node.root.read("/etc/cron.d/backup").unwrap(), expect);
    assert_eq!(node.output("stat -c %a:%U /etc/cron.d/backup"), "600:root");
    check(node, "cron_d", "backup", "create", job, &[]);
    let other = json!({"command": "/bin/false", "predefined_value": "@daily", "user": "daemon", "mode": "0644"});
    check(node, "cron_d", "backup", "create_if_missing", other.clone(), &[]);
    assert_eq!(node.act("cron_d", "backup", "create", other).unwrap().len(), 2);
    assert!(node.root.read("/etc/cron.d/backup").unwrap().ends_with("\n\n@daily daemon /bin/false\n"));
    check(node, "cron_d", "backup", "delete", json!({}), &["delete file /etc/cron.d/backup"]);
    check(node, "cron_d", "backup", "delete", json!({}), &[]);
    let message = "The cron job name should contain letters, numbers, hyphens and underscores only.";
    fails(node, "cron_d", "a.b", "create", json!({"command": "x"}), "RuntimeError", message);
    for bad in [json!({"command": "x\n* * * * * root y"}), json!({"command": "x", "user": "a b"}), json!({})] {
        assert!(node.act("cron_d", "bad", "create", bad).is_err());
    }
    assert!(node.act("cron_d", "../passwd", "delete", json!({})).is_err());
}

#[test]
fn a_right_to_one_users_jobs_is_no_right_to_roots() {
    let mut node = Node::granting("cron_users = [\"daemon\", \"*\"]\n");
    node.root.write("/etc/cron.d/theirs", "0 0 * * * root /bin/true\n").unwrap();
    let denied = |node: &mut Node, name: &str, action: &str, properties: Value| {
        let error = node.act("cron_d", name, action, properties).unwrap_err();
        assert_eq!(error.class(), "Wrun::Denied", "{name}: {error:?}");
    };
    denied(&mut node, "mine", "create", json!({"command": "/bin/evil"}));
    denied(&mut node, "mine", "create", json!({"command": "/bin/evil", "user": "root"}));
    // Neither what replaces another's job nor what removes it is one's own.
    denied(&mut node, "theirs", "create", json!({"command": "/bin/x", "user": "daemon"}));
    denied(&mut node, "theirs", "delete", json!({"user": "daemon"}));
    let done = node.act("cron_d", "mine", "create", json!({"command": "/bin/x", "user": "daemon"})).unwrap();
    assert_eq!(done.len(), 3);
    assert_eq!(node.act("cron_d", "mine", "delete", json!({})).unwrap(), ["delete file /etc/cron.d/mine"]);
    let foreseen = node.foresee("cron_d", "mine", "create", json!({"command": "/bin/x", "user": "daemon"})).unwrap();
    assert_eq!(foreseen.changes.len(), 3);
    assert_ne!(foreseen, Foreseen::default());
    assert!(!node.root.exists("/etc/cron.d/mine"));
}

/// Whom this machine's administrators made as good as root, no list of names knows.
#[test]
fn wide_accounts_are_found_out_on_the_machine() {
    let grants = "users = [\"*\"]\ngroups = [\"*\"]\ncron_users = [\"*\"]\n";
    let mut node = Node::granting(grants);
    node.output(
        "useradd -M alice; useradd -M bob; useradd -M carl; useradd -M dora; useradd -M eve; useradd -M -r robot",
    );
    node.output("getent group sudo || groupadd -r sudo; gpasswd -a alice sudo; groupadd ops; gpasswd -a carl ops");
    node.output("usermod -g ops dora; echo 'bob ALL=(ALL) ALL' >/etc/sudoers");
    node.output("mkdir -p /etc/sudoers.d; echo '@includedir /etc/sudoers.d' >>/etc/sudoers; echo '%ops ALL=ALL' >/etc/sudoers.d/ops");
    let password = json!({"password": "$6$x$y"});
    // A second name for the number of a group that is as good as root; a rule of doas.
    node.output("useradd -M gina; groupadd -o -g $(getent group sudo | cut -d: -f3) helpers; gpasswd -a gina helpers");
    node.output("useradd -M hans; echo 'permit nopass hans as root' >/etc/doas.conf");
    for user in ["alice", "bob", "carl", "dora", "gina", "hans", "robot", "daemon", "root", "nobody"] {
        let error = node.act("user", user, "modify", password.clone()).unwrap_err();
        assert_eq!(error.class(), "Wrun::Denied", "{user}: {error:?}");
        let job = json!({"command": "/bin/x", "user": user});
        assert_eq!(node.act("cron_d", "job", "create", job).unwrap_err().class(), "Wrun::Denied", "{user}");
    }
    for group in ["sudo", "ops", "helpers", "daemon", "robot", "incus-admin"] {
        let error = node.act("group", group, "create", json!({"members": ["eve"], "append": true})).unwrap_err();
        assert_eq!(error.class(), "Wrun::Denied", "{group}: {error:?}");
    }
    // What would be one of the system's once it is made is so before.
    assert_eq!(node.act("user", "new", "create", json!({"system": true})).unwrap_err().class(), "Wrun::Denied");
    assert_eq!(node.act("group", "new", "create", json!({"gid": 7})).unwrap_err().class(), "Wrun::Denied");
    for number in ["0", "1000"] {
        let error = node.act("user", number, "create", json!({})).unwrap_err();
        assert_eq!(error.class(), "Chef::Exceptions::User", "{error:?}");
    }
    node.act("user", "eve", "modify", password.clone()).unwrap();
    node.act("user", "fred", "create", json!({})).unwrap();
    node.act("group", "crew", "create", json!({"members": ["eve"]})).unwrap();
    let mut node = node.again(Some("users = [\"alice\", \"robot\"]\ngroups = [\"ops\"]\n"));
    node.act("user", "alice", "modify", password.clone()).unwrap();
    node.act("user", "robot", "modify", password).unwrap();
    node.act("group", "ops", "modify", json!({"members": ["eve"], "append": true})).unwrap();
}
