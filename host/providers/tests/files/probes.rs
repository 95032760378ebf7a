//! A policy that may not see a path gets one answer for it, whatever is there: every property of every built-in type, and
//! every call of the guest's machine, with every kind of path.

use crate::support::{Machine, resource};
use contract::{CommandTest, Machine as _, MachineChange, Providers as _, Purpose};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::os::unix::fs::symlink;

/// What else the policy may do, so that its resources come as far as the path.
const GRANTS: &str = r#"
commands = ["true"]
users = ["app", "web"]
groups = ["www"]
packages = ["x"]
services = ["x"]
cron_users = ["web"]
"#;

/// The paths that are probed, by kind.
fn probed(machine: &Machine) -> Vec<(&'static str, String)> {
    for folder in ["secret/folder/below", "srv/open", "other"] {
        std::fs::create_dir_all(machine.at(folder)).unwrap();
    }
    for file in ["secret/file", "srv/open/file", "other/file"] {
        machine.write(file, "theirs");
    }
    for (target, link) in [
        ("/srv/open/file", "granted"),
        ("/other/file", "elsewhere"),
        ("/other", "folder-elsewhere"),
        ("/secret/loop", "loop"),
        ("/secret/nowhere/at/all", "dangling"),
    ] {
        symlink(target, machine.at("/secret").join(link)).unwrap();
    }
    let mut all: Vec<(&str, String)> = [
        ("missing", "/secret/missing"),
        ("missing folder", "/secret/no/such/folder"),
        ("file", "/secret/file"),
        ("folder", "/secret/folder"),
        ("below a file", "/secret/file/below"),
        ("link to what another rule would grant", "/secret/granted"),
        ("link", "/secret/elsewhere"),
        ("link to a folder", "/secret/folder-elsewhere"),
        ("loop", "/secret/loop"),
        ("below a loop", "/secret/loop/below"),
        ("dangling", "/secret/dangling"),
    ]
    .map(|(kind, path)| (kind, path.to_owned()))
    .into();
    all.push(("over-long", format!("/secret/{}", "x".repeat(300))));
    all.push(("over-deep", format!("/secret{}", "/d".repeat(300))));
    all
}

/// Properties that name accounts, which are looked for by programs; and content, whose digest is told.
const NO_PATHS: [&str; 8] =
    ["content", "user", "group", "owner", "files_owner", "files_group", "username", "group_name"];

/// Types that are another one under another name.
const SAME: [&str; 8] = ["csh", "ksh", "perl", "python", "ruby", "linux_user", "yum_package", "chef_gem"];

/// What else a type needs.
fn others(kind: &str) -> Value {
    match kind {
        "file" | "systemd_unit" => json!({"content": "[Unit]\n"}),
        "template" => json!({"source": "app.erb"}),
        "cookbook_file" => json!({"source": "motd"}),
        "remote_directory" => json!({"source": "site"}),
        "remote_file" => json!({"source": ["file:///srv/open/file"]}),
        "link" => json!({"to": "/srv/open/file"}),
        "execute" => json!({"command": "true"}),
        "script" | "bash" | "csh" | "ksh" | "perl" | "python" | "ruby" => json!({"code": "true"}),
        "archive_file" => json!({"path": "/srv/open/file", "destination": "/srv/out"}),
        "git" => json!({"repository": "/srv/open", "destination": "/srv/checkout"}),
        "mount" => json!({"device": "tmpfs", "fstype": "tmpfs", "mount_point": "/srv/open"}),
        "user" | "linux_user" => json!({"username": "app", "manage_home": true}),
        "group" => json!({"group_name": "www"}),
        "cron" | "cron_d" => json!({"command": "true", "user": "web"}),
        "dpkg_package" | "rpm_package" => json!({"source": "/srv/open/file"}),
        _ => json!({}),
    }
}

/// A resource that names the path in one property, or in its name.
fn probes(kind: &'static schema::ResourceType, path: &str) -> Vec<(String, Map<String, Value>)> {
    let others = others(kind.name).as_object().cloned().unwrap_or_default();
    let mut all = vec![];
    let values = [json!(path), json!([path]), json!(format!("file://{path}")), json!([format!("file://{path}")])];
    for property in kind.own_properties().filter(|property| !NO_PATHS.contains(&property.name)) {
        for value in &values {
            let Ok(Some(value)) = schema::validate_one(kind.name, "x", property.name, value.clone()) else { continue };
            let mut properties = others.clone();
            properties.insert(property.name.into(), value);
            for flag in ["recursive", "manage_symlink_source", "force_unlink"] {
                let set = schema::validate_one(kind.name, "x", flag, json!(true)).ok().flatten();
                let set = set.map(|set| properties.clone().into_iter().chain([(flag.to_owned(), set)]).collect());
                all.extend(set.map(|with| (property.name.to_owned(), with)));
            }
            all.push((property.name.into(), properties));
        }
    }
    let identity: Vec<&str> = kind
        .identity()
        .iter()
        .chain(&kind.name_property().into_iter().collect::<Vec<_>>())
        .map(|one| one.name)
        .collect();
    let unnamed = others.into_iter().filter(|(name, _)| !identity.contains(&name.as_str())).collect();
    all.push((String::new(), unnamed));
    all
}

fn answer(machine: &mut Machine, probe: &crate::support::Asked, path: &str, why_run: bool) -> String {
    let wanted = probe.wanted(why_run);
    if schema::is_composite(&wanted.declaration.kind) {
        // Some names of files are the path with other signs.
        let told = format!("{:?}", machine.providers.compose(&wanted, Purpose::Action)).replace(path, "PATH");
        return told.replace(&path.replace('/', "."), "PATH");
    }
    let told = match machine.providers.prepare(&wanted) {
        Ok(prepared) => {
            let certainty = format!("{:?}", prepared.certainty());
            format!("{certainty} {:?}", prepared.expected().1)
        }
        Err(raised) => format!("{} {} {:?}", raised.class(), raised.message, raised.hint),
    };
    machine.providers.parts();
    let told = told.replace(path, "PATH");
    // The digest of code that holds the path.
    match told.split_once("script_sha256 = ") {
        Some((before, after)) => format!("{before}{}", after.split_once("}]").map_or("", |(_, rest)| rest)),
        None => told,
    }
}

fn every_answer_is_the_same(lines: &str) {
    let mut machine = Machine::granted(&format!("{GRANTS}{lines}"));
    let paths = probed(&machine);
    let mut refused = 0;
    let mut apart = BTreeMap::new();
    for kind in schema::builtin().filter(|kind| !SAME.contains(&kind.name)) {
        // Some start programs to look at the machine, each time anew; what they do with paths is the same for all actions.
        let is_slow = ["package", "service", "user", "group"].iter().any(|slow| kind.name.ends_with(slow));
        let (actions, dry): (usize, &[bool]) = if is_slow { (1, &[false]) } else { (usize::MAX, &[false, true]) };
        let mut expected: BTreeMap<(usize, &str, bool), String> = BTreeMap::new();
        for (what, path) in &paths {
            for (at, (property, properties)) in probes(kind, path).into_iter().enumerate() {
                let name = if property.is_empty() { path } else { "/srv/name" };
                for action in kind.actions.iter().take(actions).map(|action| action.name) {
                    let probe = resource(kind.name, name, action, Value::Object(properties.clone()));
                    for why_run in dry.iter().copied() {
                        let told = answer(&mut machine, &probe, path, why_run);
                        refused += usize::from(told.contains("Wrun::Denied"));
                        let first = expected.entry((at, action, why_run)).or_insert_with(|| told.clone());
                        if *first != told {
                            let about = format!("{} {property} {action}, dry run: {why_run}, {what}", kind.name);
                            let apart = apart.entry((kind.name, property.clone()));
                            apart.or_insert(format!("{about}: {told}\ninstead of {first}"));
                        }
                    }
                }
            }
        }
    }
    let apart: Vec<String> = apart.into_values().collect();
    assert!(apart.is_empty(), "{}", apart.join("\n\n"));
    assert!(refused > 1_000, "{refused} were refused");
}

#[test]
fn a_policy_without_grants_cannot_tell_paths_apart_by_resources() {
    every_answer_is_the_same("");
}

#[test]
fn a_policy_with_other_paths_cannot_tell_paths_apart_by_resources() {
    every_answer_is_the_same("paths = [\"/srv/name\", \"/srv/out/**\", \"/srv/checkout/**\"]");
}

#[test]
fn a_policy_cannot_tell_paths_apart_by_the_machines_calls() {
    for (lines, dry) in
        [("", false), ("paths = [\"/srv/name\"]", false), ("paths = [\"/srv/name\", \"/srv/own\"]", true)]
    {
        let lines = format!("{GRANTS}{lines}");
        let machine = if dry { Machine::granted_dry(&lines) } else { Machine::granted(&lines) };
        let paths = probed(&machine);
        let mut guest = machine.providers.machine();
        if dry {
            // From now on the guest sees the machine with its own changes over it.
            guest.apply("/srv/own", MachineChange::Write(b"x".into(), 0o644), true).unwrap();
        }
        let mut told = |path: &str| {
            let mut all = vec![
                format!("{:?}", guest.stat(path, true)),
                format!("{:?}", guest.stat(path, false)),
                format!("{:?}", guest.read_file(path, 0, 1)),
                format!("{:?}", guest.list_directory(path)),
                format!("{:?}", guest.read_link(path)),
                format!("{:?}", guest.real_path(path)),
            ];
            for why_run in [false, true] {
                let command = CommandTest { cwd: Some(path.into()), ..CommandTest::text("true") };
                all.push(format!("{:?}", guest.run(&command, why_run)));
                for change in [
                    MachineChange::Write(b"x".into(), 0o644),
                    MachineChange::Append(b"x".into(), 0o644),
                    MachineChange::MakeDirectory(0o755),
                    MachineChange::Link("/srv/name".into()),
                    MachineChange::Rename("/srv/name".into()),
                    MachineChange::Remove,
                    MachineChange::RemoveDirectory,
                    MachineChange::Mode(0o4755),
                    MachineChange::Owner(Some(0), None),
                    MachineChange::Times(0, 0),
                ] {
                    all.push(format!("{:?}", guest.apply(path, change, why_run)));
                }
                all.push(format!("{:?}", guest.apply("/srv/name", MachineChange::Rename(path.into()), why_run)));
            }
            all.into_iter().map(|one| one.replace(path, "PATH")).collect::<Vec<_>>()
        };
        let expected = told(&paths[0].1);
        assert!(expected.iter().all(|answer| answer.contains("Denied")), "{expected:#?}");
        for (what, path) in &paths {
            for (told, expected) in told(path).iter().zip(&expected) {
                assert_eq!(told, expected, "{what}");
            }
        }
    }
}

/// Texts elsewhere in a resource do not help to find out where a link leads.
#[test]
fn a_guess_beside_a_link_changes_nothing() {
    let mut machine = Machine::granted(GRANTS);
    probed(&machine);
    let link = "/secret/elsewhere";
    let mut told = |kind: &str, action: &str, properties: Value, guess: &str| {
        answer(&mut machine, &resource(kind, link, action, properties), guess, false)
    };
    let mut check = |guess: &str| {
        let file = told("file", "create", json!({"content": guess}), "no path");
        let link_to = told("link", "create", json!({"to": guess}), "no path");
        let creates = told("execute", "run", json!({"command": "true", "cwd": guess, "creates": link}), guess);
        assert!([&file, &link_to, &creates].iter().all(|told| !told.contains("/other")), "{file} {link_to} {creates}");
        (file, link_to, creates)
    };
    let expected = check("/nothing/of/it");
    for guess in ["/other/file", "/other"] {
        assert_eq!(check(guess), expected, "{guess}");
    }
    assert!(!told("file", "create", json!({"content": "/"}), "no path").contains("/other"));
}

/// Properties that name accounts.
const ACCOUNTS: [&str; 6] = ["user", "group", "owner", "files_owner", "files_group", "gid"];

/// A policy that may do nothing cannot find out whether a user or a group exists.
#[test]
fn attack_owners_do_not_tell_which_accounts_exist() {
    let mut machine = Machine::granted("");
    std::fs::create_dir_all(machine.at("/etc")).unwrap();
    machine.write("etc/passwd", "root:x:0:0::/root:/bin/sh\ntheir1:x:1001:1001::/home/their1:/bin/sh\n");
    machine.write("etc/group", "root:x:0:\ntheir1:x:1001:\n");
    let mut asked = 0;
    for kind in schema::builtin().filter(|kind| !SAME.contains(&kind.name)) {
        for property in kind.own_properties().filter(|property| ACCOUNTS.contains(&property.name)) {
            for why_run in [false, true] {
                for action in kind.actions.iter().map(|action| action.name) {
                    let mut told = |account: &str| {
                        let mut properties = others(kind.name).as_object().cloned().unwrap_or_default();
                        let value = schema::validate_one(kind.name, "x", property.name, json!(account));
                        properties.extend(value.ok().flatten().map(|value| (property.name.to_owned(), value)));
                        let probe = resource(kind.name, "/srv/name", action, Value::Object(properties));
                        answer(&mut machine, &probe, account, why_run)
                    };
                    let (there, missing) = (told("their1"), told("their2"));
                    assert_eq!(there, missing, "{} {} {action} {why_run}", kind.name, property.name);
                    asked += 1;
                }
            }
        }
    }
    assert!(asked > 50, "{asked}");
}
