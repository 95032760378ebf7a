//! What accounts may do and whom they know: sudo, limits, cron, ssh.

use super::{check, children, composition, text};
use serde_json::json;

#[test]
fn sudo_is_a_file_that_only_root_reads() {
    let rows = ["directory[/etc/sudoers.d/] create", "template[/etc/sudoers.d/ops] create"];
    let made = check("sudo", "ops", "create", json!({ "users": ["ann"], "nopasswd": true }), &rows);
    assert_eq!(text(&made[1], "mode"), "0440");
    assert!(text(&made[1], "content").ends_with("ann ALL=(ALL) NOPASSWD:ALL\n"), "{:?}", made[1]);
    check("sudo", "ops", "remove", json!({}), &["file[/etc/sudoers.d/ops] delete"]);
    assert!(children("sudo", "ops", "create", json!({})).unwrap_err().message.contains("You must specify users"));
    assert!(children("sudo", "../x", "delete", json!({})).is_err());
    assert!(
        children("sudo", "ops", "create", json!({ "users": { "a": 1 } }))
            .unwrap_err()
            .message
            .contains("users must be")
    );
}

#[test]
fn limits_of_a_user_are_a_file() {
    let path = "/etc/security/limits.d/ann_limits.conf";
    let properties = json!({ "filehandle_limit": 100, "process_soft_limit": 5, "virt_limit": 7 });
    let made = check("user_ulimit", "ann", "create", properties, &[&format!("template[{path}] create")]);
    let content = text(&made[0], "content");
    assert!(content.contains("\nann - nofile 100\n\nann soft nproc 5\n\n"), "{content}");
    assert!(content.ends_with("\n  ann - as 7\n"), "{content}");
    check("user_ulimit", "ann", "delete", json!({}), &[&format!("file[{path}] delete")]);
    let wrong =
        [json!({ "filename": "../x.conf" }), json!({ "username": "ann root" }), json!({ "cpu_limit": "1\n* - x" })];
    for properties in wrong {
        assert!(children("user_ulimit", "ann", "create", properties.clone()).is_err(), "{properties}");
    }
}

#[test]
fn a_host_that_is_asked_for_its_key_is_no_option() {
    for host in ["-f/etc/shadow", "-D", "a b", ""] {
        let made = composition("ssh_known_hosts_entry", "x", "create", json!({ "host": host }));
        assert!(made.is_err_and(|raised| raised.class().contains("Validation")), "{host}");
    }
}

#[test]
fn users_of_cron_and_known_hosts_share_a_file() {
    let made = composition("cron_access", "ann", "deny", json!({})).unwrap();
    assert_eq!(
        (made.shared[0].declaration.key(), made.shared[0].delayed),
        ("template[/etc/cron.deny]".into(), Some("create"))
    );
    assert_eq!(made.shared[0].line.as_ref().unwrap().line, "ann");
    assert!(composition("cron_access", "ann\nroot", "allow", json!({})).is_err());
    let made =
        composition("ssh_known_hosts_entry", "a.example", "create", json!({ "key": "AAA", "port": 2222 })).unwrap();
    assert_eq!(made.shared[0].line.as_ref().unwrap().line, "[a.example]:2222 ssh-rsa AAA");
    for (name, properties) in
        [("a b", json!({ "key": "A" })), ("-oX", json!({})), ("a", json!({ "key": "A\nb ssh-rsa B" }))]
    {
        assert!(composition("ssh_known_hosts_entry", name, "create", properties).is_err(), "{name}");
    }
}
