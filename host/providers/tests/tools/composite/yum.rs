//! yum's repositories.

use super::{check, children, text};
use crate::support::Bench;
use contract::{Declaration, Providers as _, Purpose, Wanted};
use serde_json::{Value, json};

#[test]
fn yum_has_nothing_to_do_where_it_is_absent() {
    check("yum_repository", "thing", "create", json!({ "baseurl": "http://a" }), &[]);
}

/// The children of an action in a root that has some programs.
fn children_beside(programs: &[&str], kind: &str, name: &str, action: &str, properties: Value) -> Vec<Declaration> {
    let bench = Bench::new("").unlimited();
    std::fs::create_dir_all(bench.path("usr/bin")).unwrap();
    for program in programs {
        std::fs::write(bench.path("usr/bin").join(program), "").unwrap();
    }
    let declaration = bench.declaration(kind, name, properties);
    let wanted = Wanted { resource: 0, declaration: &declaration, action, resolved: vec![], why_run: false };
    let made = bench.providers(false).compose(&wanted, Purpose::Action).unwrap();
    made.children.into_iter().map(|child| child.declaration).collect()
}

#[test]
fn yum_is_told_to_look_again_where_apt_is_the_machines_tool() {
    for (programs, kind) in [(&["yum"][..], "package"), (&["yum", "apt-get"], "yum_package")] {
        let made = children_beside(programs, "yum_repository", "app", "create", json!({ "baseurl": "http://a" }));
        let reload = format!("{kind}[package-cache-reload-app]");
        assert_eq!(made.last().unwrap().key(), reload);
        let receivers: Vec<_> = made[0].notifications.iter().map(|wish| wish.other.clone()).collect();
        assert!(receivers.contains(&contract::ResourceRef::Key(reload)), "{receivers:?}");
    }
}

#[test]
fn attack_files_of_repositories_with_passwords_are_sensitive() {
    let yum = |properties: Value| children_beside(&["yum"], "yum_repository", "app", "create", properties);
    for secret in [
        json!({ "baseurl": "http://a", "password": "S3cret" }),
        json!({ "baseurl": "http://a", "proxy_password": "S3cret" }),
        json!({ "baseurl": "http://a", "options": { "password": "S3cret" } }),
        json!({ "baseurl": ["http://a", "http://team:S3cret@b"] }),
        json!({ "baseurl": "http://a", "content": "[app]\nbaseurl=http://team:S3cret@a\n" }),
    ] {
        assert!(yum(secret.clone())[0].sensitive, "{secret}");
    }
    let made = yum(json!({ "baseurl": "http://a", "username": "team" }));
    assert!(!made[0].sensitive && text(&made[0], "mode") == "0644");
    for (uri, sensitive) in [("http://team:S3cret@a/debian", true), ("http://a/debian", false)] {
        let properties = json!({ "uri": uri, "distribution": "x" });
        let made = children("apt_repository", "app", "add", properties).unwrap();
        assert_eq!(made.last().unwrap().sensitive, sensitive, "{uri}");
    }
}
