//! Whether something is there is told only to who may look: where nothing is granted, all paths are refused alike.

use crate::support::{Asked, Machine, resource};
use serde_json::json;

/// All that asks for a path.
fn asking(path: &str) -> Vec<Asked> {
    let local = format!("file://{path}");
    vec![
        resource("file", path, "create", json!({"content": "x"})),
        resource("file", path, "delete", json!({})),
        resource("file", path, "touch", json!({})),
        resource("directory", path, "create", json!({})),
        resource("directory", path, "create", json!({"recursive": true})),
        resource("directory", path, "delete", json!({})),
        resource("link", path, "create", json!({"to": "/srv/a"})),
        resource("link", path, "delete", json!({})),
        resource("link", "/srv/hard", "create", json!({"to": path, "link_type": "hard"})),
        resource("remote_file", "/srv/copy", "create", json!({"source": [local]})),
        resource("execute", "true", "run", json!({"creates": path})),
    ]
}

fn machine(lines: &str) -> Machine {
    let machine = Machine::granted(&format!("commands = [\"true\"]\n{lines}"));
    std::fs::create_dir_all(machine.at("/secret/there")).unwrap();
    machine.write("/secret/there/file", "theirs");
    machine
}

#[test]
fn what_is_missing_is_refused_as_what_is_there() {
    let mut machine = machine("paths = [\"/srv/**\"]");
    let mut refused = |asked: &Asked| {
        let raised = machine.run(asked).unwrap_err();
        assert_eq!(raised.class(), "Wrun::Denied", "{}", raised.message);
        format!("{}{}", raised.message, raised.hint.unwrap_or_default())
    };
    for (there, gone) in [
        ("/secret/there/file", "/secret/other/file"),
        ("/secret/there/x", "/secret/other/x"),
        ("/secret/there/../y", "/secret/other/../y"),
        ("/secret/there/../there/file", "/secret/other/../there/file"),
    ] {
        for (number, (there, gone)) in asking(there).iter().zip(asking(gone)).enumerate() {
            assert_eq!(refused(there).replace("there", "other"), refused(&gone).replace("there", "other"), "{number}");
        }
    }
}

#[test]
fn who_may_look_hears_what_is_missing() {
    let mut machine = machine("paths = [\"/srv/**\", \"/secret/**\"]");
    let mut said = |kind: &str, action: &str, properties| {
        let done = machine.run(&resource(kind, "/secret/other/x", action, properties));
        done.map(|outcome| outcome.changes.len()).map_err(|raised| raised.class().to_owned())
    };
    assert_eq!(said("file", "delete", json!({})), Ok(0));
    assert_eq!(said("directory", "delete", json!({})), Ok(0));
    assert_eq!(said("link", "delete", json!({})), Ok(0));
    assert_eq!(said("link", "create", json!({"to": "/srv/a"})), Err("Errno::ENOENT".into()));
    let parent = "Chef::Exceptions::EnclosingDirectoryDoesNotExist";
    assert_eq!(said("file", "create", json!({"content": "x"})), Err(parent.into()));
    // A way back looks at nothing that it leaves.
    std::fs::create_dir_all(machine.at("/secret")).unwrap();
    let dotted = resource("file", "/secret/none/../x", "create", json!({"content": "x"}));
    assert!(!machine.run(&dotted).unwrap().changes.is_empty());
}

/// A policy lays links to places where it may not look, and compares what it hears.
#[test]
fn link_oracle_a_links_target_is_told_to_nobody_who_may_not_look_there() {
    let mut machine = machine("paths = [\"/srv/**\"]");
    std::fs::create_dir_all(machine.at("/srv")).unwrap();
    for (there, gone) in [
        ("/secret/there/file", "/secret/there/nofile"),
        ("/secret/there", "/secret/nothing"),
        ("/secret/there/file", "/secret/nothing/deep/file"),
    ] {
        for suffix in ["", "/file", "/new"] {
            let mut said = |target: &str, asked: fn(&str) -> Vec<Asked>, number: usize| {
                let link = machine.at("/srv/way");
                let _none = [&link, &machine.at("/srv/hard"), &machine.at("/srv/copy")].map(std::fs::remove_file);
                std::os::unix::fs::symlink(target, &link).unwrap();
                let asked = asked(&format!("/srv/way{suffix}")).swap_remove(number);
                match machine.run(&asked) {
                    Ok(done) => format!("{:?}", done.changes),
                    Err(raised) => format!("{} {} {:?}", raised.class(), raised.message, raised.hint),
                }
            };
            for number in 0..asking("").len() + asking_of_links("").len() {
                let asked: fn(&str) -> Vec<Asked> =
                    |path| [asking(path), asking_of_links(path)].into_iter().flatten().collect();
                let (one, other) = (said(there, asked, number), said(gone, asked, number));
                assert_eq!(one, other, "{number} {there} {gone} {suffix}");
                assert!(!one.contains("/secret"), "{number}: {one}");
            }
        }
    }
}

/// What has a say in links.
fn asking_of_links(path: &str) -> Vec<Asked> {
    vec![
        resource("file", path, "create", json!({"content": "x", "manage_symlink_source": false})),
        resource("file", path, "create", json!({"content": "x", "manage_symlink_source": true})),
        resource("file", path, "create_if_missing", json!({"content": "x"})),
        resource("directory", path, "delete", json!({"recursive": true})),
        resource("execute", "true", "run", json!({"cwd": path})),
        resource("user", "app", "create", json!({"home": path, "manage_home": true})),
        resource("mount", path, "enable", json!({"device": "tmpfs", "fstype": "tmpfs"})),
        resource("dpkg_package", "x", "install", json!({"source": path})),
        resource("git", "/srv/checkout", "sync", json!({"repository": path})),
        resource("archive_file", path, "extract", json!({"destination": "/srv/out"})),
    ]
}
