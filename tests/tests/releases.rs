//! Signed releases, as their people type them: one admin, three teams, a node.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, and helpers are not tests to the lints")]

use serde_json::Value;
use specs::server::{Answer, Server};
use specs::{Network, Program, Root, TEAMS, ThreeTeams};
use std::fs;
use std::path::Path;

/// The versions of all targets of a repository: which of its releases counts.
fn timestamp(place: &ThreeTeams, team: &str) -> Vec<u8> {
    fs::read(place.folder.join(format!("srv/teams/{team}/metadata/timestamp.json"))).unwrap()
}

#[test]
fn runtime_native_one_admin_releases_for_three_teams() {
    let place = ThreeTeams::new();
    place.works("repository init /srv --team core --team database --team monitoring");
    let pushed = place.output("policy push staging /core /database /monitoring");
    assert_eq!(pushed.stdout.matches(": released (version 1)").count(), 3, "{}", pushed.stdout);
    let first = place.run(&place.line("")).expect_code(0).unwrap();
    assert!(
        first.stderr.contains("platform/metadata/1.root.json is trusted from the first real run on"),
        "{}",
        first.stderr
    );
    let run: Value = serde_json::from_str(&first.stdout).unwrap();
    let releases = run["releases"]["policies"].as_array().unwrap();
    assert_eq!(releases.len(), 3);
    for release in releases {
        assert_eq!((&release["stale"], &release["group"]), (&Value::Null, &Value::from("staging")));
        assert_eq!(release["team"], release["policy"]);
    }
    let revision = releases[0]["revision"].as_str().unwrap();
    assert_eq!(place.file("core"), format!("1 core staging {revision} staging"));
    let node = &place.saved_node()["node"];
    assert_eq!(node["policy_name"], serde_json::json!(TEAMS));
    assert_eq!(node["policy_group"], "staging");
    assert_eq!(node["automatic"]["policy_name"], serde_json::json!(TEAMS));
    assert_eq!(node["automatic"]["policy_revision"][0], revision);
    assert_eq!(node["policies"]["core"]["revision"], revision);
    let again = place.converge("");
    assert_eq!((&again["updated"], &again["releases"]["policies"][0]["stale"]), (&0.into(), &Value::Null));
}

#[test]
fn runtime_native_a_team_releases_alone_and_groups_are_apart() {
    let place = ThreeTeams::new();
    place.init();
    place.push("staging");
    place.push("prod");
    place.converge("");
    place.recipe("database", "2");
    place.fails(
        "policy push staging /database",
        &[
            "policy.lock.json no longer fits what it locks",
            "cookbook database has the identifier",
            "wrun policy update",
        ],
    );
    fs::remove_file(place.folder.join("database/policy.lock.json")).unwrap();
    let before = (timestamp(&place, "core"), timestamp(&place, "monitoring"));
    // Nobody can be asked here whether a word was mistyped.
    place.fails(
        "policy push stagign /database",
        &[
            "policy database was never released to a group stagign, but to staging",
            "nothing was released",
            "--new-group",
        ],
    );
    let meant = place.output("policy push stagign /database --new-group");
    assert!(meant.stderr.contains("stagign is a new group of the team's"), "{}", meant.text());
    let other = place.output("policy push canary /database");
    assert!(other.stderr.contains("canary is a new group of the team's"), "{}", other.text());
    let known = place.output("policy push staging /database");
    assert!(!known.stderr.contains("new group"), "{}", known.text());
    let released = known.stdout.lines().find(|line| line.starts_with("policy database, revision ")).unwrap();
    assert!(released.contains(", artifact ") && released.contains(", group staging: released"), "{released}");
    assert_eq!((timestamp(&place, "core"), timestamp(&place, "monitoring")), before);
    let run = place.converge("");
    assert_eq!(run["updated"], 1);
    assert!(place.file("database").starts_with("2 ") && place.file("core").starts_with("1 "));
    let mixed = place.converge(" --policy-name core@staging,database@prod");
    let groups: Vec<_> = mixed["releases"]["policies"].as_array().unwrap().iter().map(|one| &one["group"]).collect();
    assert_eq!(groups, ["staging", "prod"]);
    assert!(place.file("database").starts_with("1 database prod"));
    place.fails(
        "converge --repository /srv --root /root --allow-all --node-name n1 --policy-name core",
        &["which policy group is this node in?", "core@GROUP"],
    );
    place.fails(
        &place.line(" --policy-name core@canary"),
        &["has not released the policy \"core\" to the group \"canary\""],
    );
}

#[test]
fn runtime_native_a_node_goes_on_without_its_repository_and_says_so() {
    let place = ThreeTeams::new();
    place.init();
    place.push("staging");
    place.converge("");
    place.change("core", "2");
    fs::rename(place.folder.join("srv"), place.folder.join("away")).unwrap();
    let output = place.output(&place.line(""));
    assert_eq!(output.stderr.matches("runs in the revision that was verified at").count(), 3, "{}", output.stderr);
    let run: Value = serde_json::from_str(&output.stdout).unwrap();
    let stale = &run["releases"]["policies"][0]["stale"];
    assert!(stale["reason"].as_str().unwrap().contains("cannot read") && stale["verified"].is_string(), "{stale}");
    place.fails_with(1, &place.line(" --policy-name core,mail"), &[]);
    place.fails(&place.line(" --policy-name mail"), &["no revision of mail for the group staging"]);
    place.write("configuration.toml", "stale_after = \"0s\"\n");
    place.fails(&place.line(" --config /configuration.toml"), &["longer ago than `stale_after` allows"]);
    fs::rename(place.folder.join("away"), place.folder.join("srv")).unwrap();
    place.works("policy push staging /core");
    let run = place.converge("");
    assert_eq!((&run["updated"], &run["releases"]["policies"][0]["stale"]), (&1.into(), &Value::Null));
    assert!(place.file("core").starts_with("2 "));
}

#[test]
fn runtime_native_a_tampered_artifact_is_not_run() {
    let place = ThreeTeams::new();
    place.init();
    place.push("staging");
    let folder = place.folder.join("srv/teams/core/targets/revisions/core");
    let artifact = |end: &str| {
        let paths = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
        paths.into_iter().find(|path| path.to_string_lossy().ends_with(end)).unwrap()
    };
    let path = artifact(".wasm");
    let mut bytes = fs::read(&path).unwrap();
    let last = bytes.len() - 1;
    *bytes.get_mut(last).unwrap() ^= 1;
    fs::write(&path, bytes).unwrap();
    let output = place.run(&place.line(" --keep-going")).expect_code(1).unwrap();
    assert!(output.stderr.contains("is not the file that was signed"), "{}", output.stderr);
    assert!(!place.folder.join("root/tmp/core").exists() && place.folder.join("root/tmp/monitoring").exists());
    // An unsigned artifact of the same name does not take its place.
    place.write("plain/core.wasm", "");
    place.fails(&place.line(" --policies /plain"), &["cannot be used with"]);
}

#[test]
fn runtime_native_a_dry_run_keeps_nothing_and_shows_what_would_change() {
    let place = ThreeTeams::new();
    place.init();
    place.push("staging");
    let run = place.converge(" --why-run");
    assert_eq!(run["updated"], 3);
    assert!(!place.program.state().join("releases").exists());
    assert!(!place.folder.join("root/tmp/core").exists());
}

#[test]
fn runtime_native_a_policyfile_is_built_from_its_lock() {
    let place = ThreeTeams::new();
    fs::remove_file(place.folder.join("core/policy.toml")).unwrap();
    place.write(
        "core/Policyfile.rb",
        "name 'core'\nrun_list 'core'\ncookbook 'core', path: 'cookbooks/core'\ndefault['core']['port'] = 7\n",
    );
    place.init();
    place.works("policy push staging /core");
    let lock: Value =
        serde_json::from_slice(&fs::read(Path::new(&place.path("core/Policyfile.lock.json"))).unwrap()).unwrap();
    let run = place.converge(" --policy-name core");
    assert_eq!(run["releases"]["policies"][0]["revision"], lock["revision_id"]);
    place.recipe("core", "2");
    place.write(
        "core/Policyfile.rb",
        "name 'core'\nrun_list 'core', 'core::more'\ncookbook 'core', path: 'cookbooks/core'\n",
    );
    place.fails(
        "policy push staging /core",
        &[
            "Policyfile.lock.json no longer fits what it locks",
            "- the run list is recipe[core::default], recipe[core::more], the lock has recipe[core::default]",
            "- default[\"core\"] has another value than in the lock",
            "- cookbook core in",
        ],
    );
}

#[test]
fn keys_with_a_passphrase_ask_for_it() {
    let place = ThreeTeams::new();
    place.write("passphrase", "correct horse\n");
    let with = |line: &str, passphrase: bool| {
        let mut command = std::process::Command::new(place.program.executable());
        command.env_clear().envs(place.program.environment()).env("PATH", "/usr/bin:/bin");
        if passphrase {
            command.env("WRUN_KEY_PASSPHRASE_FILE", place.path("passphrase"));
        }
        command.args(line.split(' ')).stdin(std::process::Stdio::null());
        let output = command.output().unwrap();
        (output.status.code().unwrap(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let srv = place.path("srv");
    assert_eq!(with(&format!("repository init {srv} --team core"), true).0, 0);
    let (code, text) = with("repository refresh", false);
    assert!(code == 1 && text.contains("it has a passphrase, and nobody can be asked for it"), "{text}");
    place.write("passphrase", "wrong\n");
    let (code, text) = with("repository refresh", true);
    assert!(code == 1 && text.contains("the passphrase does not fit"), "{text}");
    place.write("passphrase", "correct horse\n");
    assert_eq!(with("repository refresh", true).0, 0);
}

#[test]
fn who_releases_trusts_a_directory_that_others_can_change_by_name_only() {
    let place = ThreeTeams::new();
    place.init();
    let root = place.folder.join("root.json");
    fs::copy(place.folder.join("srv/platform/metadata/1.root.json"), &root).unwrap();
    let seen = place.program.configuration().with_file_name("home/.config/wrun/seen");
    fs::remove_dir_all(&seen).unwrap();
    // Another machine of the same person: it says whom it trusts, once.
    let first = place.output("repository refresh");
    assert!(first.stderr.contains("platform/metadata/1.root.json is trusted from now on"), "{}", first.stderr);
    assert!(!place.output("repository refresh").stderr.contains("is trusted from now on"));
    fs::remove_dir_all(&seen).unwrap();
    let mode = |mode| std::os::unix::fs::PermissionsExt::from_mode(mode);
    fs::set_permissions(place.folder.join("srv"), mode(0o777)).unwrap();
    for line in ["repository refresh", "repository check", "policy sign"] {
        place.fails(line, &["nothing says whom to trust in", "--repository-root"]);
    }
    place.works("repository check --repository-root /root.json");
    place.works("repository refresh");
}

#[test]
fn one_teams_damage_stops_nobodys_maintenance() {
    let place = ThreeTeams::new();
    place.init();
    let link = |team: &str| {
        let path = place.folder.join(format!("srv/teams/{team}/metadata/timestamp.json"));
        std::os::unix::fs::symlink("/etc/passwd", path).unwrap();
    };
    link("core");
    fs::create_dir(place.folder.join("srv/teams/core/pending")).unwrap();
    place.write(&format!("srv/teams/core/pending/{}.json", "0".repeat(64)), "");
    let output = place.run("repository refresh").expect_code(1).unwrap();
    assert!(output.stderr.contains("error: team core was not renewed"), "{}", output.stderr);
    assert!(output.stderr.contains("team monitoring was left out"), "{}", output.stderr);
    assert!(output.stdout.contains("the platform was renewed"), "{}", output.stdout);
    let output = place.run("policy clean").expect_code(1).unwrap();
    assert_eq!(output.stderr.matches("error: team").count(), 1, "{}", output.stderr);
    let output = place.run("policy sign").expect_code(1).unwrap();
    assert!(output.stderr.contains("error: team core"), "{}", output.stderr);
}

#[test]
fn what_add_team_is_not_told_stays() {
    let place = ThreeTeams::new();
    let first = place.output("repository init /srv --team core --team database");
    assert!(!first.stderr.contains("exists already and is used"), "{}", first.stderr);
    place.works("keys new second");
    place.works("keys new third");
    let keys = ["core", "second", "third"].map(|name| format!("home/.config/wrun/keys/{name}.key"));
    let [first, second, third] = &keys;
    let changed = place.output(&format!("repository add-team core --key {first} --key {second} --threshold 2"));
    for part in ["2 of 2 keys", "was added", "2 keys have to sign, until now 1"] {
        assert!(changed.stdout.contains(part), "{}", changed.stdout);
    }
    let changed = place.output("repository add-team core --policies core shop");
    for part in ["team core (core, shop): 2 of 2 keys", "it was core (core)"] {
        assert!(changed.stdout.contains(part), "{}", changed.stdout);
    }
    assert!(!changed.stdout.contains("key "), "{}", changed.stdout);
    let changed = place.output(&format!("repository add-team core --key {second} --key {third}"));
    for part in ["team core (core, shop): 2 of 2 keys", "was taken away", "was added"] {
        assert!(changed.stdout.contains(part), "{}", changed.stdout);
    }
    place.fails(&format!("repository add-team core --key {third}"), &["has 1 different keys, so that 2 signatures"]);
    place.fails("repository add-team shop-online", &["cannot be the name of a team"]);
    let again = place.output("repository init /other --team core");
    assert!(again.stderr.contains("core.key exists already and is used"), "{}", again.stderr);
}

/// Starts the program and kills it after a while.
fn killed(place: &ThreeTeams, line: &str, after: std::time::Duration) {
    let mut command = std::process::Command::new(place.program.executable());
    command.env_clear().envs(place.program.environment()).env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
    let word = |word: &str| word.strip_prefix('/').map_or_else(|| word.to_owned(), |path| place.path(path));
    command.args(line.split(' ').map(word)).stdin(std::process::Stdio::null());
    command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    let mut child = command.spawn().unwrap();
    std::thread::sleep(after);
    let _ = child.kill();
    child.wait().unwrap();
}

#[test]
fn runtime_native_a_killed_release_or_refresh_leaves_nothing_torn() {
    let place = ThreeTeams::new();
    place.init();
    place.push("staging");
    place.change("core", "2");
    place.works("policy push next /core");
    place.recipe("core", "1");
    place.converge("");
    for step in 0..12 {
        let after = std::time::Duration::from_millis(step * 6);
        let from = if step % 2 == 0 { "next" } else { "staging" };
        killed(&place, &format!("policy promote {from} moving --policy core"), after);
        killed(&place, "repository refresh", after);
        place.works("repository check");
        killed(&place, &place.line(" --policy-name core"), after * 4);
        let run = place.converge(" --policy-name core");
        assert_eq!(run["releases"]["policies"][0]["stale"], Value::Null, "{after:?}");
    }
    place.works("policy promote next staging --policy core");
    place.converge(" --policy-name core");
    assert!(place.file("core").starts_with("2 core staging"));
}

#[test]
fn runtime_native_a_repository_behind_an_address_is_read_and_believed_by_its_root() {
    let place = ThreeTeams::new();
    place.init();
    place.push("staging");
    let root = Root::new().unwrap();
    let machine = root.machine(Network::Shared).unwrap();
    let server = Server::start(&machine).unwrap();
    let mut open = vec![place.folder.join("srv")];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                let below = path.strip_prefix(place.folder.join("srv")).unwrap().display().to_string();
                server.answer(&format!("/r/{below}"), Answer::ok(fs::read(&path).unwrap()));
            }
        }
    }
    let address = server.address("/r/");
    let line = format!(
        "converge --format json --repository {address} --root /root --allow-all --node-name n1 --policy-group staging \
         --policy-name core,database"
    );
    place.fails(&line, &["`repository_root` in the settings"]);
    let root = place.path("srv/platform/metadata/1.root.json");
    place.write("configuration.toml", &format!("repository_root = \"{root}\"\n"));
    let line = format!("{line} --config /configuration.toml");
    let output = place.output(&line);
    let run: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(run["releases"]["policies"][1]["stale"], Value::Null);
    assert!(place.file("database").starts_with("1 database staging"));
    // Within the interval nobody is asked.
    let before = server.requests().len();
    place.works(&line);
    assert_eq!(server.requests().len(), before);
    // Of the platform the next root, and of each repository the timestamp, all at once. All else is known.
    place.write("configuration.toml", &format!("repository_root = \"{root}\"\nrepository_refresh = 0\n"));
    place.works(&line);
    let mut asked: Vec<_> = server.requests().iter().skip(before).map(|request| request.path.clone()).collect();
    asked.sort();
    let expected = ["platform/metadata/2.root", "platform/metadata/timestamp"].into_iter();
    let expected = expected.chain(["teams/core/metadata/timestamp", "teams/database/metadata/timestamp"]);
    assert_eq!(asked, expected.map(|file| format!("/r/{file}.json")).collect::<Vec<_>>());
    // A server names no other one.
    let other = Server::start(&machine).unwrap();
    server.answer("/r/platform/metadata/2.root.json", Answer::redirect(other.address("/r/2.root.json")));
    let output = place.output(&line);
    assert!(output.stderr.contains("redirects to another server"), "{}", output.stderr);
    assert!(other.requests().is_empty());
    server.answer("/r/platform/metadata/2.root.json", Answer::status(404));
    let secret = line.replace("http://", "http://user:secret-word@");
    let output = place.run(&secret).expect_code(43).unwrap();
    assert!(output.stderr.contains("has a user or a password in it"), "{}", output.stderr);
    assert!(!output.text().contains("secret-word"), "{}", output.text());
    // A server that fails is not one that has nothing.
    server.answer("/r/teams/core/metadata/timestamp.json", Answer::status(503));
    let output = place.output(&line);
    assert!(output.stderr.contains("policy core runs in the revision that was verified at"), "{}", output.stderr);
    assert!(!output.stderr.contains("policy database runs in"), "{}", output.stderr);
    server.answer("/r/platform/metadata/2.root.json", Answer::status(503));
    let output = place.output(&line);
    assert!(output.stderr.contains("policy database runs in the revision that was verified at"), "{}", output.stderr);
}

#[test]
fn the_example_policies_fit_their_locks() {
    let program = Program::new().unwrap();
    for team in TEAMS.iter().chain([&"base"]) {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../policies").join(team);
        let mut command = std::process::Command::new(program.executable());
        command.env_clear().envs(program.environment()).env("PATH", "/usr/bin:/bin").current_dir(folder);
        let output = command.args(["policy", "install"]).stdin(std::process::Stdio::null()).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(text.contains("the lock fits what it locks"), "{team}: {text}: run `wrun policy update` there");
    }
}
