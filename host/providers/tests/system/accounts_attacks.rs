//! `user` where a policy, or a local user, wants more of an account than was granted.

use crate::node::Node;
use serde_json::json;

/// The machine's configuration puts new users into a group that sudoers name.
#[test]
fn attack_the_machines_group_of_new_users_is_asked_for() {
    let mut node = Node::granting("users = [\"app-*\"]\n");
    let configure = "sed -i '/^USERGROUPS_ENAB/d' /etc/login.defs; echo 'USERGROUPS_ENAB no' >> /etc/login.defs";
    node.output(configure);
    node.root.write("/etc/default/useradd", "GROUP=100\nSHELL=/bin/sh\n").unwrap();
    node.root.write("/etc/sudoers", "root ALL=(ALL:ALL) ALL\n%users ALL=(ALL:ALL) NOPASSWD: ALL\n").unwrap();
    let denied = node.act("user", "app-evil", "create", json!({"password": "$6$x$y"})).unwrap_err();
    assert_eq!(denied.class(), "Wrun::Denied", "{}", denied.message);
    assert_eq!(node.output("grep -c ^app-evil: /etc/passwd || true"), "0");
    // Also where nobody elevated is in it: its files are its members' alone.
    node.root.write("/etc/sudoers", "root ALL=(ALL:ALL) ALL\n").unwrap();
    assert_eq!(node.act("user", "app-evil", "create", json!({})).unwrap_err().class(), "Wrun::Denied");
    let mut node = node.again(Some("users = [\"app-*\"]\ngroups = [\"users\"]\n"));
    node.act("user", "app-plain", "create", json!({})).unwrap();
    assert_eq!(node.output("id -gn app-plain; getent group app-plain || echo none"), "users\nnone");
    // What was judged is made, whatever the configuration says by then.
    node.output("sed -i 's/^USERGROUPS_ENAB.*/USERGROUPS_ENAB yes/' /etc/login.defs");
    node.act_after(("user", "app-own", "create"), json!({}), |root| {
        let output = root.run(&["sh", "-c", configure]).unwrap();
        assert!(output.status.success());
    })
    .unwrap();
    assert_eq!(node.output("id -gn app-own"), "app-own");
}

/// A user whose home is a site, in which another team keeps a file for root and the web server's group.
const SITE: &str = "groupadd deploy; useradd -M -d /srv/www -g www-data deploy; mkdir -p /srv/www/other
    echo own > /srv/www/own; chown -R deploy:www-data /srv/www; echo secret > /srv/www/other/config.php
    chown root:www-data /srv/www/other /srv/www/other/config.php; chmod 640 /srv/www/other/config.php";

#[test]
fn attack_a_new_group_gives_no_files_of_others_away() {
    let mut node = Node::granting("users = [\"deploy\"]\ngroups = [\"deploy\"]\n");
    node.output(SITE);
    let owners = "cd /srv/www; stat -c '%U:%G %n' . own other other/config.php | tr '\\n' ' '";
    let before = node.output(owners);
    let denied = node.act("user", "deploy", "create", json!({"gid": "deploy"})).unwrap_err();
    assert_eq!(denied.class(), "Wrun::Denied", "{}", denied.message);
    assert_eq!((node.output("id -gn deploy").as_str(), node.output(owners)), ("www-data", before));
    // With the right to the home, the user's own files go with the group, and others' stay.
    let mut node =
        node.again(Some("users = [\"deploy\"]\ngroups = [\"deploy\"]\npaths = [\"/srv/www\", \"/srv/www/**\"]\n"));
    // As Chef does, also while the user runs programs.
    node.output("(setsid setpriv --reuid deploy --clear-groups sleep 5 >/dev/null 2>&1 &) ; sleep 0.2");
    let done = node.act("user", "deploy", "create", json!({"gid": "deploy"})).unwrap();
    assert_eq!(done.first().map(String::as_str), Some("alter user deploy"));
    assert_eq!(
        node.output(owners),
        "deploy:deploy . deploy:deploy own root:www-data other root:www-data other/config.php"
    );
    assert_eq!(node.output("id -gn deploy; getent passwd deploy | cut -d: -f6"), "deploy\n/srv/www");
}

#[test]
fn attack_a_new_number_gives_no_files_of_others_away() {
    let mut node = Node::granting("users = [\"three\"]\n");
    node.output("useradd -M -u 64300 -d /srv/three three; useradd -M -o -u 64300 -g three -d /home/ann ann");
    node.output("mkdir -p /srv/three; echo x > /srv/three/anns; chown -R ann:root /srv/three");
    let denied = node.act("user", "three", "create", json!({"uid": 64301})).unwrap_err();
    assert_eq!(denied.class(), "Wrun::Denied", "{}", denied.message);
    assert_eq!(node.output("stat -c %u /srv/three/anns; id -u three"), "64300\n64300");
    // A home that is another's is left alone, as usermod does.
    node.output("chown root /srv/three; ln -s /etc/passwd /srv/three/link");
    node.act("user", "three", "create", json!({"uid": 64301})).unwrap();
    assert_eq!(node.output("stat -c %u /srv/three/anns /etc/passwd; id -u three"), "64300\n0\n64301");
    assert_eq!(node.output("getent passwd three | cut -d: -f6"), "/srv/three");
}

#[test]
fn own_files_go_with_a_users_numbers() {
    let mut node = Node::granting("users = [\"bob\"]\ngroups = [\"team\"]\n");
    node.output("groupadd -g 64400 team; useradd -m -u 64401 bob; mkdir -p /home/bob/a/b; echo x > /home/bob/a/b/c");
    node.output("ln -s /etc/passwd /home/bob/link; chown -Rh bob:bob /home/bob; echo y > /home/bob/roots");
    node.output("chgrp bob /home/bob/roots; chgrp games /home/bob/a");
    node.act("user", "bob", "create", json!({"uid": 64402, "gid": "team", "comment": "B"})).unwrap();
    let owners = node.output("cd /home/bob; stat -c '%u:%G %n' . a a/b a/b/c link roots | tr '\\n' ' '");
    assert_eq!(owners, "64402:team . 64402:games a 64402:team a/b 64402:team a/b/c 64402:team link 0:bob roots");
    assert_eq!(node.output("stat -c %U /etc/passwd"), "root");
    assert_eq!(node.output("grep ^bob: /etc/passwd"), "bob:x:64402:64400:B:/home/bob:/bin/sh");
    assert_eq!(node.output("stat -c %a:%U:%G /etc/passwd"), "644:root:root");
    // A home that is moved takes them along.
    let mut node = node.again(None);
    node.act("user", "bob", "create", json!({"uid": 64403, "home": "/srv/bob", "manage_home": true})).unwrap();
    assert_eq!(node.output("stat -c %u /srv/bob /srv/bob/a/b/c; id -u bob"), "64403\n64403\n64403");
    assert_eq!(node.output("getent passwd bob | cut -d: -f6"), "/srv/bob");
}

/// A run may be killed at any time, so the user database never holds anything but the old and the new state.
#[test]
fn attack_a_user_has_its_home_while_its_number_changes() {
    let mut node = Node::granting("users = [\"bob\"]\n");
    node.output(
        "groupadd -g 64501 bob; useradd -m -u 64501 -g bob -c A bob; mv /usr/sbin/usermod /usr/sbin/usermod.real",
    );
    let stand_in = "#!/bin/sh\ngrep ^bob: /etc/passwd >> /seen\nusermod.real \"$@\"\ngrep ^bob: /etc/passwd >> /seen\n";
    node.root.write("/usr/sbin/usermod", stand_in).unwrap();
    node.output("chmod 755 /usr/sbin/usermod");
    node.act("user", "bob", "create", json!({"uid": 64502, "comment": "B"})).unwrap();
    assert_eq!(node.output("cut -d: -f3,5,6 /seen"), "64501:A:/home/bob\n64501:B:/home/bob");
    assert_eq!(node.output("grep ^bob: /etc/passwd"), "bob:x:64502:64501:B:/home/bob:/bin/sh");
    node.output("rm /seen");
    node.act("user", "bob", "create", json!({"uid": 64503})).unwrap();
    assert_eq!(node.output("id -u bob; stat -c %u /home/bob; ls /seen 2>&1 | grep -c 'No such'"), "64503\n64503\n1");
}

#[test]
fn attack_a_new_number_gives_no_mailbox_of_others_away() {
    let mut node = Node::granting("users = [\"bob\", \"carl\", \"dora\", \"eve\"]\n");
    node.output("for n in bob carl dora eve; do useradd -M $n; done; usermod -u 64601 bob; usermod -u 64602 carl");
    node.output("usermod -u 64603 dora; usermod -u 64604 eve; cd /var/mail; rm -f bob carl dora eve");
    node.output("cd /var/mail; echo x > bob; chown bob:mail bob");
    node.output("cd /var/mail; echo x > /srv/theirs; chown carl /srv/theirs; ln -s /srv/theirs carl");
    node.output("cd /var/mail; echo x > /srv/linked; chown dora /srv/linked; ln /srv/linked dora; echo x > eve");
    for (user, uid) in [("bob", 64_611), ("carl", 64_612), ("dora", 64_613), ("eve", 64_614)] {
        node.act("user", user, "create", json!({"uid": uid})).unwrap();
    }
    assert_eq!(node.output("stat -c %u:%G /var/mail/bob"), "64611:mail");
    assert_eq!(node.output("stat -c %u /srv/theirs /srv/linked /var/mail/eve"), "64602\n64603\n0");
}

#[test]
fn a_new_number_is_refused_as_usermod_refuses_it() {
    let mut node = Node::granting("users = [\"bob\", \"carl\"]\n");
    node.output("useradd -M -u 64701 bob; useradd -M -u 64702 carl");
    let mut refused = |uid: u32| {
        let raised = node.act("user", "bob", "create", json!({"uid": uid})).unwrap_err();
        assert_eq!(
            (raised.class(), node.output("id -u bob")),
            ("Mixlib::ShellOut::ShellCommandFailed", "64701".into())
        );
        raised.message
    };
    let message = refused(64_702);
    assert!(message.contains("received '4'") && message.contains("usermod: UID '64702' already exists"), "{message}");
    node.act("user", "carl", "create", json!({"uid": 64701, "non_unique": true})).unwrap();
    node.output("usermod -u 64703 carl");
    let mut process = std::process::Command::new("chroot")
        .args(["--userspec=64701", "--groups=", node.root.path().to_str().unwrap(), "sleep", "60"])
        .spawn()
        .unwrap();
    let status = format!("/proc/{}/status", process.id());
    while !std::fs::read_to_string(&status).unwrap().contains("Uid:\t64701") {
        std::thread::yield_now();
    }
    let message = node.act("user", "bob", "create", json!({"uid": 64704})).unwrap_err().message;
    process.kill().unwrap();
    process.wait().unwrap();
    let expect = format!("usermod: user bob is currently used by process {}", process.id());
    assert!(message.contains("received '8'") && message.contains(&expect), "{message}");
    node.act("user", "bob", "create", json!({"uid": 64704})).unwrap();
    assert_eq!(node.output("id -u bob"), "64704");
}
