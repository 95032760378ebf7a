//! Dry runs and their records, also of ordinary users.

use super::{Bench, json};
use serde_json::Value;
use specs::{Network, Program, Root, fixtures};
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;

#[test]
fn a_dry_run_leaves_its_record_and_nothing_else() {
    let (bench, root) = (Bench::new("file '/srv/a'\n"), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    fs::write(bench.program.configuration().join("wrun.toml"), "runs_kept = 2\n").unwrap();
    let before = root.changes().unwrap();
    let mut ids = vec![];
    for _ in 0..3 {
        let run = json(&bench.wrun(&machine, &["converge"], &["--why-run", "--allow-all", "--format", "json"]));
        ids.push(run["run_id"].as_str().unwrap().to_owned());
    }
    assert_eq!(before.difference(&root.changes().unwrap()), "");
    let below = |name: &str| {
        let entries = fs::read_dir(bench.program.state().join(name));
        let mut names: Vec<_> =
            entries.unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    };
    assert_eq!(below("dry-runs"), ids[1..]);
    assert!(!bench.program.state().join("nodes").exists() && !bench.program.state().join("runs").exists());
    let record = fs::read(bench.program.state().join("dry-runs").join(&ids[2]).join("run.json")).unwrap();
    let record: Value = serde_json::from_slice(&record).unwrap();
    assert_eq!(
        (&record["why_run"], &record["asked"]["solo"]["entries"]["paths"][0]),
        (&Value::Bool(true), &Value::from("/srv/a"))
    );
}

#[test]
fn an_ordinary_user_may_look_and_has_a_record_of_it() {
    let program = Program::new().unwrap();
    let home = tempfile::tempdir().unwrap();
    // What the user reads, the program too, may lie where only root may look.
    fs::set_permissions(home.path(), fs::Permissions::from_mode(0o755)).unwrap();
    std::os::unix::fs::chown(home.path(), Some(65_534), None).unwrap();
    let at = |name: &str| home.path().join(name).display().to_string();
    // By a process of its own: whoever is started while this one has the copy open for writing keeps it busy.
    let copied = std::process::Command::new("cp").arg(program.executable()).arg(at("wrun")).status().unwrap();
    assert!(copied.success());
    fs::create_dir(at("policies")).unwrap();
    fs::copy(fixtures().join("load.wasm"), at("policies/load.wasm")).unwrap();
    fs::write(at("attributes.json"), r#"{"load": {"count": 1, "folder": "/srv/load"}}"#).unwrap();
    fs::write(at("wrun.toml"), "").unwrap();
    fs::write(at("grants.toml"), "").unwrap();
    fs::create_dir(at("state")).unwrap();
    fs::set_permissions(at("state"), fs::Permissions::from_mode(0o700)).unwrap();
    let run = |arguments: &[&str]| {
        let mut command = std::process::Command::new(at("wrun"));
        command.env_clear().env("PATH", "/usr/bin:/bin").env("HOME", home.path());
        command.env("WRUN_CONFIG", at("wrun.toml")).env("WRUN_STATE_DIR", at("state"));
        command.env("WRUN_GRANTS", at("grants.toml")).args(arguments).current_dir("/").uid(65_534).gid(65_534);
        let output = command.output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    let (policies, attributes) = (at("policies"), at("attributes.json"));
    let converge =
        ["converge", "--why-run", "-N", "n1", "--format", "json", "--policies", &policies, "-j", &attributes];
    let (code, out, err) = run(&[&converge[..], &["--policy-name", "load"]].concat());
    assert_eq!(code, Some(1), "{out}\n{err}");
    assert!(err.contains("this user may not read"), "{err}");
    // Native code is kept where this user alone can write, so that the next dry run finds it.
    let cache = home.path().join(".cache/wrun");
    let about = fs::metadata(cache.join("native-v2")).unwrap();
    assert_eq!((about.uid(), about.mode() & 0o777), (65_534, 0o700));
    let shown =
        ["converge", "--why-run", "-N", "n1", "--policies", &policies, "-j", &attributes, "--policy-name", "load"];
    let compiles = || run(&shown).1.contains("of compiling native code");
    assert!(!compiles());
    fs::remove_dir_all(&cache).unwrap();
    assert_eq!([compiles(), compiles()], [true, false]);
    let json: Value = serde_json::from_str(&out).unwrap();
    // A state directory that is not the usual one has a folder of its own there.
    let states = home.path().join(".local/state/wrun/states");
    let folders: Vec<PathBuf> = fs::read_dir(&states).unwrap().map(|entry| entry.unwrap().path()).collect();
    let record = folders[0].join("dry-runs").join(json["run_id"].as_str().unwrap()).join("run.json");
    assert!(folders.len() == 1 && record.is_file(), "{folders:?} {err}");
    assert_eq!(fs::read_dir(at("state")).unwrap().count(), 0);
    // A real run is root's; what a user can do instead is said.
    let real = ["converge", "-N", "n1", "--policies", &policies, "-j", &attributes, "--policy-name", "load"];
    let (code, out, err) = run(&real);
    assert!(code == Some(43) && out.is_empty(), "{out}\n{err}");
    let hint = err.split("\n\nhint: ").nth(1).unwrap();
    assert!(["sudo wrun converge", "--why-run", "--state-dir DIR"].iter().all(|word| hint.contains(word)), "{err}");
    let (code, out, err) = run(&["grants", "allow", "--last"]);
    assert!(code == Some(43) && out.contains("+[policy.load]\n+paths = ["), "{out}\n{err}");
    // What the user's own folder does not have may be where only root looks.
    let (code, _, err) = run(&["run", "list"]);
    let unread = "cannot be read by this user, and has the records of real runs: do the same as root";
    assert!(code == Some(0) && err.contains(unread) && !err.contains("no run is recorded"), "{err}");
    let (code, _, err) = run(&["run", "show", "20200101T000000.000Z-00000000"]);
    assert!(code == Some(43) && err.contains(unread), "{err}");
    fs::write(at("grants.toml"), "[policy.load]\npaths = [\"/srv/load\"]\n").unwrap();
    let (_, out, err) = run(&["grants", "check", "--policies", &policies]);
    let said = format!("{out}{err}");
    assert!(said.contains("whether rules are used is not looked at") && !said.contains("is not used"), "{said}");
    assert!(!said.contains("no recorded run"), "{said}");
    fs::write(at("grants.toml"), "").unwrap();
    // Another state directory knows nothing of it.
    let (code, _, err) = run(&["grants", "allow", "--last", "--state-dir", &at("other")]);
    assert!(code == Some(43) && err.contains("no run is recorded"), "{err}");
    // A user without a home has no record, and is told so.
    fs::remove_dir_all(at(".local")).unwrap();
    std::os::unix::fs::chown(home.path(), Some(0), None).unwrap();
    let (code, _, err) = run(&[&converge[..], &["--policy-name", "load"]].concat());
    assert!(code == Some(1) && err.contains("this dry run is not recorded"), "{err}");
}

#[test]
fn what_only_root_may_see_is_unknown_to_an_ordinary_user() {
    let (program, root) = (Program::new().unwrap(), Root::new().unwrap());
    let home = tempfile::tempdir().unwrap();
    fs::set_permissions(home.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let at = |name: &str| home.path().join(name).display().to_string();
    let own = program.executable().ancestors().nth(2).unwrap().join("share/wrun");
    let runtime = std::env::var_os("WRUN_RUNTIME_DIR").map_or(own, PathBuf::from);
    for folder in ["share", "home", "ck/a/recipes"] {
        fs::create_dir_all(at(folder)).unwrap();
    }
    for file in fs::read_dir(runtime).unwrap().map(Result::unwrap) {
        fs::copy(file.path(), home.path().join("share").join(file.file_name())).unwrap();
    }
    // By a process of its own: whoever is started while this one has the copy open for writing keeps it busy.
    let copied = std::process::Command::new("cp").arg(program.executable()).arg(at("wrun")).status().unwrap();
    assert!(copied.success());
    fs::write(at("ck/a/metadata.rb"), "name 'a'\n").unwrap();
    fs::write(at("wrun.toml"), "").unwrap();
    // One resource asks apt, which runs in the root as root alone; one lies where nobody else may look.
    fs::write(
        at("ck/a/recipes/default.rb"),
        "package 'hello'\nfile '/root/x'\nfile '/srv/x'\ndirectory '/etc/y'\nfile '/etc/y/z'\n",
    )
    .unwrap();
    fs::set_permissions(root.at("root").unwrap(), fs::Permissions::from_mode(0o700)).unwrap();
    std::os::unix::fs::chown(at("home"), Some(65_534), None).unwrap();
    let (place, cookbooks) = (root.path().display().to_string(), at("ck"));
    let mut command = std::process::Command::new(at("wrun"));
    command.env_clear().env("PATH", "/usr/bin:/bin").env("HOME", at("home")).env("WRUN_CONFIG", at("wrun.toml"));
    command.env("WRUN_RUNTIME_DIR", at("share")).current_dir("/").uid(65_534).gid(65_534);
    command.args(["converge", "--why-run", "-N", "n1", "--allow-all", "--format", "json", "--run-list", "a"]);
    let output = command.args(["--root", &place, "--cookbooks", &cookbooks]).output().unwrap();
    let (out, err) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert_eq!(output.status.code(), Some(0), "{out}\n{err}");
    let run: Value = serde_json::from_str(&out).unwrap();
    let of = |one: &Value| format!("{} {}", one["name"].as_str().unwrap(), one["status"].as_str().unwrap());
    let all: Vec<_> = run["resources"].as_array().unwrap().iter().map(of).collect();
    assert_eq!(
        all,
        ["hello unknown", "/root/x unknown", "/srv/x updated", "/etc/y updated", "/etc/y/z updated"],
        "{run:#}"
    );
    assert!(run["resources"][1]["uncertain"].to_string().contains("only root can look"), "{run:#}");
}

/// The layer of a dry run has a directory where the machine has a link. What the link leads to is not in the directory.
#[test]
fn attack_a_directory_of_the_dry_run_shows_nothing_behind_the_machines_link() {
    let recipe = "File.unlink('/srv/own/d'); Dir.mkdir('/srv/own/d')\n\
        tell = lambda { |way, &learn| file \"/srv/own/told/#{way}-#{(learn.call rescue 'refused').to_s.strip}\" }\n\
        tell.call('there') { File.exist?('/srv/own/d/secret') }\n\
        tell.call('listed') { Dir.children('/srv/own/d').size }\n\
        tell.call('read') { File.read('/srv/own/d/secret') }\n\
        tell.call('renamed') { File.rename('/srv/own/d/secret', '/srv/own/x'); File.read('/srv/own/x') }\n\
        tell.call('appended') { File.write('/srv/own/d/secret', 'x', mode: 'a'); File.read('/srv/own/d/secret') }\n";
    let (bench, root) = (Bench::new(recipe), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    let prepare = "mkdir -p /srv/own /srv/victim; echo s3cr3t > /srv/victim/secret; ln -s /srv/victim /srv/own/d; \
                   chmod 600 /srv/victim/secret; chmod 700 /srv/victim";
    machine.run(&["sh", "-ec", prepare]).unwrap();
    fs::write(bench.grants(), "[policy.solo]\npaths = [\"/srv/own/**\"]\n").unwrap();
    let planned = bench.converge(&machine, &["--why-run"]).expect_code(0).unwrap();
    for part in ["there-false", "listed-0", "read-refused", "renamed-refused", "appended-x"] {
        assert!(planned.stdout.contains(&format!("/srv/own/told/{part}")), "{part} in {}", planned.text());
    }
    assert!(!planned.text().contains("s3cr3t"), "{}", planned.text());
}
