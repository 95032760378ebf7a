//! Accounts that would become more than what was granted.

use crate::node::Node;
use serde_json::{Value, json};

/// The files of an operator who gave rights to names and numbers that no account has yet.
const SUDOERS: &str = "root ALL=(ALL:ALL) ALL\n%admin ALL=(ALL) ALL\n%#2222 ALL=(ALL) ALL\n#3333 ALL=(ALL) ALL\n";

#[test]
fn attack_a_new_account_is_asked_for_as_it_will_be() {
    let mut node = Node::granting("users = [\"*\"]\ngroups = [\"*\"]\n");
    node.root.write("/etc/sudoers", SUDOERS).unwrap();
    node.root.write("/etc/polkit-1/rules.d/50-x.rules", "polkit.addAdminRule(() => ['unix-group:netops'])\n").unwrap();
    node.root.write("/etc/subuid", "ann:100000:65536\n").unwrap();
    node.root.write("/etc/subgid", "ann:200000:65536\n").unwrap();
    node.output("useradd -M bob; userdel -r docker 2>/dev/null; groupdel docker 2>/dev/null; true");
    let before = node.output("cat /etc/passwd /etc/group");
    let mut refused = |kind: &str, name: &str, action: &str, properties: Value| {
        let error = node.act(kind, name, action, properties.clone()).unwrap_err();
        assert_eq!(error.class(), "Wrun::Denied", "{kind} {name} {properties}: {error:?}");
        assert_eq!(node.output("cat /etc/passwd /etc/group"), before, "{kind} {name} {properties}");
    };
    // By the group that is made with the user: named in sudoers, by polkit, or privileged everywhere.
    for name in ["admin", "netops", "docker", "wheel"] {
        refused("user", name, "create", json!({}));
        refused("group", name, "create", json!({"members": ["bob"]}));
    }
    // By the number, also as that of the group that is made with the user.
    refused("user", "app", "create", json!({"uid": 3333}));
    refused("user", "app", "create", json!({"uid": 2222}));
    refused("user", "bob", "modify", json!({"uid": 3333}));
    refused("group", "appg", "create", json!({"gid": 2222, "members": ["bob"]}));
    refused("user", "app", "create", json!({"gid": "sudo"}));
    // Numbers that others have without an account: in containers, and of services of systemd.
    refused("user", "app", "create", json!({"uid": 100_000}));
    refused("group", "appg", "create", json!({"gid": 200_000}));
    refused("user", "app", "create", json!({"uid": 200_000}));
    refused("user", "app", "create", json!({"uid": 61_200}));
    // The number that the tools would choose.
    let next = node.output("id -u bob").parse::<u32>().unwrap() + 1;
    node.root.write("/etc/sudoers", format!("#{next} ALL=(ALL) ALL\n")).unwrap();
    assert_eq!(node.act("user", "app", "create", json!({})).unwrap_err().class(), "Wrun::Denied");
    node.root.write("/etc/sudoers", SUDOERS).unwrap();
    assert_eq!(node.act("user", "app", "create", json!({})).unwrap(), ["create user app"]);
    assert_eq!(node.act("group", "appg", "create", json!({"members": ["app"]})).unwrap(), ["create group appg"]);
}

#[test]
fn attack_a_name_is_no_right_to_a_number_of_administrators() {
    let mut node = Node::granting("users = [\"app\"]\ngroups = [\"app\", \"appg\"]\n");
    node.root.write("/etc/sudoers", SUDOERS).unwrap();
    node.root.write("/etc/subuid", "ann:100000:65536\napp:200000:10\n").unwrap();
    for (kind, name, properties, hint) in [
        ("user", "app", json!({"uid": 3333}), "root"),
        ("user", "app", json!({"uid": 2222}), "root"),
        ("group", "appg", json!({"gid": 2222}), "root"),
        ("user", "app", json!({"uid": 100_000}), "ann"),
    ] {
        let error = node.act(kind, name, "create", properties.clone()).unwrap_err();
        assert_eq!(error.class(), "Wrun::Denied", "{properties}");
        assert!(error.message.contains(hint), "{properties}: {}", error.message);
    }
    assert_eq!(node.output("grep -c ^app /etc/passwd /etc/group || true"), "/etc/passwd:0\n/etc/group:0");
    assert_eq!(node.act("user", "app", "create", json!({"uid": 200_001})).unwrap(), ["create user app"]);
}

#[test]
fn attack_users_whom_included_sudoers_name_are_not_ordinary() {
    let mut node = Node::granting("users = [\"*\"]\n");
    node.output("for user in ann bob carl; do useradd -M $user; done");
    node.root.write("/etc/sudoers", "@include /etc/sudo\\ ers2\n@include \"/etc/sudo q\"\n").unwrap();
    node.root.write("/etc/sudo ers2", "ann ALL=ALL\n").unwrap();
    node.root.write("/etc/sudo q", "bob ALL=ALL\n").unwrap();
    let change = json!({"comment": "x"});
    for user in ["ann", "bob"] {
        assert_eq!(node.act("user", user, "modify", change.clone()).unwrap_err().class(), "Wrun::Denied", "{user}");
    }
    node.act("user", "carl", "modify", change.clone()).unwrap();
    node.root.write("/etc/sudoers", "@include /etc/sudo ers2\n").unwrap();
    let again = json!({"comment": "y"});
    assert_eq!(node.act("user", "carl", "modify", again).unwrap_err().class(), "Wrun::Denied");
}

#[test]
fn attack_a_directory_with_a_users_name_is_not_its_home() {
    let mut node = Node::granting("users = [\"*\"]\npaths = [\"/srv/x/**\"]\n");
    node.output("mkdir -p /home/projects/x /srv/x; echo data >/home/projects/x/y; chmod 700 /home/projects");
    node.output("mkdir -p /var/mail; echo mail >/var/mail/projects");
    node.act("user", "projects", "create", json!({})).unwrap();
    let moved = json!({"home": "/srv/x/p", "manage_home": true});
    assert_eq!(node.act("user", "projects", "modify", moved).unwrap_err().class(), "Wrun::Denied");
    for force in [true, false] {
        let removed = json!({"manage_home": true, "force": force});
        assert_eq!(node.act("user", "projects", "remove", removed).unwrap_err().class(), "Wrun::Denied", "{force}");
    }
    assert_eq!(node.output("cat /home/projects/x/y; getent passwd projects | cut -d: -f6"), "data\n/home/projects");
    // What the user owns goes with it, and mail that is somebody else's stays.
    node.output("chown -R projects /home/projects");
    node.act("user", "projects", "remove", json!({"manage_home": true, "force": true})).unwrap();
    assert!(!node.root.exists("/home/projects") && node.root.exists("/var/mail/projects"));
}

#[test]
fn attack_a_moved_home_gives_no_reach_into_it() {
    let grants = "users = [\"*\"]\npaths = [\"/srv/x/**\"]\n";
    let mut node = Node::granting(grants);
    node.output("useradd -m -u 1500 ann; echo private >/home/ann/letter; chown ann /home/ann/letter; mkdir -p /srv/x");
    let away = json!({"home": "/srv/x/h", "manage_home": true});
    let error = node.act("user", "ann", "modify", away.clone()).unwrap_err();
    assert_eq!(error.class(), "Wrun::Denied");
    assert!(error.message.contains("/home/ann"), "{}", error.message);
    assert!(node.root.exists("/home/ann/letter") && !node.root.exists("/srv/x/h"));
    // With the home in `paths`: what may not be read stays unread, and keys need a rule of their own.
    let both = "users = [\"ann\"]\npaths = [\"/srv/x/**\", \"/home/ann/**\"]\n";
    let mut node = node.again(Some(&format!("{both}deny_read_paths = [\"/home/ann/letter\"]\n")));
    assert_eq!(node.act("user", "ann", "modify", away.clone()).unwrap_err().class(), "Wrun::Denied");
    node.output("mkdir /home/ann/.ssh");
    let mut node = node.again(Some(both));
    assert_eq!(node.act("user", "ann", "modify", away.clone()).unwrap_err().class(), "Wrun::Denied");
    node.output("rm -rf /home/ann/.*[a-z]*");
    let mut node = node.again(Some("users = [\"ann\"]\npaths = [\"/srv/x/h\", \"/home/ann/**\"]\n"));
    assert_eq!(node.act("user", "ann", "modify", away.clone()).unwrap_err().class(), "Wrun::Denied");
    let mut node = node.again(Some(both));
    node.act("user", "ann", "modify", away).unwrap();
    assert!(node.root.exists("/srv/x/h/letter"));
    // From then on hidden names in the new home are hidden, in the same run.
    let file = json!({"content": "x"});
    for path in ["/srv/x/h/.config", "/srv/x/h/.npmrc", "/srv/x/h/.anything"] {
        assert_eq!(node.act("file", path, "create", file.clone()).unwrap_err().class(), "Wrun::Denied", "{path}");
    }
    node.act("file", "/srv/x/.anything", "create", file).unwrap();
}

#[test]
fn attack_a_home_that_is_made_hides_its_names_at_once() {
    let mut node = Node::granting("users = [\"*\"]\npaths = [\"/srv/**\"]\n");
    let file = json!({"content": "x"});
    node.act("user", "ann", "create", json!({"home": "/srv/ann", "manage_home": true, "shell": "/bin/bash"})).unwrap();
    node.act("user", "job", "create", json!({"home": "/srv/job", "manage_home": true, "shell": "/bin/false"})).unwrap();
    let error = node.act("file", "/srv/ann/.npmrc", "create", file.clone()).unwrap_err();
    assert_eq!(error.class(), "Wrun::Denied");
    node.act("file", "/srv/job/.npmrc", "create", file.clone()).unwrap();
    node.act("user", "job", "modify", json!({"shell": "/bin/bash"})).unwrap();
    assert_eq!(node.act("file", "/srv/job/.npmrc", "delete", json!({})).unwrap_err().class(), "Wrun::Denied");
}

/// sudo takes `SUDO` for `sudo`, and reads numbers and comments in its own way.
#[test]
fn attack_names_that_sudo_takes_for_administrators_are_not_ordinary() {
    let mut node = Node::granting("users = [\"*\"]\ngroups = [\"*\"]\n");
    let sudoers = "root ALL=ALL\n%Operators ALL=ALL\n#01003 ALL=ALL\n# note \\\ncarl ALL=ALL\n";
    node.root.write("/etc/sudoers", sudoers).unwrap();
    node.output("useradd -M -u 1003 numbered; useradd -M carl; useradd -M plain");
    for (kind, name, action) in [
        ("user", "SUDO", "create"),
        ("user", "ROOT", "create"),
        ("user", "operators", "create"),
        ("group", "Sudo", "create"),
        ("group", "OPERATORS", "create"),
        ("user", "numbered", "modify"),
        ("user", "carl", "modify"),
    ] {
        let raised = node.act(
            kind,
            name,
            action,
            json!({"comment": "x"}).as_object().filter(|_| kind == "user").map_or(json!({}), |map| json!(map)),
        );
        assert_eq!(raised.unwrap_err().class(), "Wrun::Denied", "{kind} {name}");
    }
    node.act("user", "plain", "modify", json!({"comment": "x"})).unwrap();
}

#[test]
fn attack_a_new_user_is_in_no_group_of_its_name_that_is_not_granted() {
    let mut node = Node::granting("users = [\"dev*\"]");
    node.output("groupadd developers");
    let denied = node.act("user", "developers", "create", json!({"gid": "developers"})).unwrap_err();
    assert_eq!(denied.class(), "Wrun::Denied", "{}", denied.message);
    assert_eq!(node.output("grep -c ^developers: /etc/passwd || true"), "0");
    let mut node = node.again(Some("users = [\"dev*\"]\ngroups = [\"developers\"]"));
    node.act("user", "developers", "create", json!({"gid": "developers"})).unwrap();
    // From now on it is its own.
    let mut node = node.again(Some("users = [\"dev*\"]"));
    node.act("user", "developers", "modify", json!({"gid": "developers", "comment": "a"})).unwrap();
}

/// `userdel -f` removes the group of the user's name although it is somebody's primary group: its number is free then.
#[test]
fn attack_a_user_who_is_removed_by_force_frees_no_group_of_another() {
    let grants = "users = [\"ann\"]\ngroups = [\"new*\"]\n";
    let mut node = Node::granting(grants);
    node.output("useradd -m -U ann; useradd -m -g ann bob; useradd -m -U carl");
    let force = json!({"force": true});
    let error = node.act("user", "ann", "remove", force.clone()).unwrap_err();
    assert_eq!(error.class(), "Wrun::Denied");
    assert_eq!(node.output("getent group ann | cut -d: -f1; getent passwd ann | cut -d: -f1"), "ann\nann");
    let mut node = node.again(Some("users = [\"ann\"]\ngroups = [\"ann\"]\n"));
    let expect = ["remove user ann", "remove group ann, the primary group of another user"];
    assert_eq!(node.act("user", "ann", "remove", force.clone()).unwrap(), expect);
    assert_eq!(node.output("getent group ann || true"), "");
    // A group that is the user's alone goes with the user.
    let mut node = node.again(Some("users = [\"carl\"]\n"));
    assert_eq!(node.act("user", "carl", "remove", force).unwrap(), ["remove user carl"]);
}

/// Where the names are no hidden names of a home, a policy may have made them with a right to the folder.
#[test]
fn attack_a_home_that_moves_to_its_own_place_brings_no_hidden_names() {
    let grants = "users = [\"ann\"]\npaths = [\"/srv/x/**\"]\n";
    let mut node = Node::granting(grants);
    node.output("useradd -M -d /srv/x/job -s /bin/false ann; mkdir -p /srv/x/job; chown ann /srv/x/job");
    node.act("file", "/srv/x/job/.npmrc", "create", json!({"content": "x"})).unwrap();
    let own = json!({"home": "/home/ann", "manage_home": true, "shell": "/bin/bash"});
    let error = node.act("user", "ann", "modify", own.clone()).unwrap_err();
    assert_eq!(error.class(), "Wrun::Denied");
    assert!(error.message.contains("/home/ann/.npmrc"), "{}", error.message);
    assert!(node.root.exists("/srv/x/job/.npmrc") && !node.root.exists("/home/ann"));
    // The same at another place, which becomes a home by the move.
    let elsewhere = json!({"home": "/srv/x/home", "manage_home": true, "shell": "/bin/bash"});
    let error = node.act("user", "ann", "modify", elsewhere).unwrap_err();
    assert!(error.message.contains("/srv/x/home/.npmrc"), "{}", error.message);
    let named = "users = [\"ann\"]\npaths = [\"/srv/x/**\", \"/home/ann/.npmrc\"]\n";
    let mut node = node.again(Some(named));
    node.act("user", "ann", "modify", own).unwrap();
    assert!(node.root.exists("/home/ann/.npmrc"));
}
