//! The keys of releases as people use them: passphrases that are typed, keys that other programs have, and the revision that a
//! node is told to run.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, and helpers are not tests to the lints")]

use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use ring::signature::{Ed25519KeyPair, KeyPair as _};
use serde_json::Value;
use specs::program::Output;
use specs::{Place, Terminal};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;

/// A place with a root for nodes.
fn place() -> Place {
    let place = Place::new();
    for name in ["root/etc", "root/tmp"] {
        fs::create_dir_all(place.folder.join(name)).unwrap();
    }
    place
}

/// A policy with a cookbook in Ruby that writes a file.
fn policy(place: &Place, name: &str, words: &str) {
    place.write(&format!("{name}/policy.toml"), &format!("name = \"{name}\"\nrun_list = [\"{name}\"]\n"));
    let metadata = format!("{{\"name\": \"{name}\", \"version\": \"1.0.0\"}}");
    place.write(&format!("{name}/cookbooks/{name}/metadata.json"), &metadata);
    let recipe = format!("file '/tmp/{name}' do\n  content '{words}'\nend\n");
    place.write(&format!("{name}/cookbooks/{name}/recipes/default.rb"), &recipe);
}

fn key(place: &Place, name: &str) -> PathBuf {
    place.program.configuration().with_file_name("home").join(format!(".config/wrun/keys/{name}.key"))
}

#[test]
fn a_passphrase_is_typed_unseen_and_ctrl_c_leaves_a_terminal_that_shows_what_is_typed() {
    let place = place();
    let mut terminal = Terminal::start(&place.program, 80, &["keys", "new", "web"]).unwrap();
    terminal.wait_for("Passphrase for new keys (empty for none):").unwrap();
    assert!(!terminal.shows_keys().unwrap());
    terminal.press("correct horse\n").unwrap();
    terminal.wait_for("The same once more:").unwrap();
    terminal.press("correct horse\n").unwrap();
    assert!(terminal.end().unwrap().success());
    assert!(terminal.shows_keys().unwrap() && !terminal.words().contains("correct"), "{}", terminal.words());
    let text = fs::read_to_string(key(&place, "web")).unwrap();
    assert!(text.contains("passphrase"), "{text}");
    let mut terminal = Terminal::start(&place.program, 80, &["keys", "new", "other"]).unwrap();
    terminal.wait_for("Passphrase for new keys").unwrap();
    terminal.press("half of i\u{3}").unwrap();
    assert_eq!(terminal.end().unwrap().signal(), Some(2));
    assert!(terminal.shows_keys().unwrap());
    assert!(!key(&place, "other").exists());
}

#[test]
fn a_key_that_another_program_has_signs_releases() {
    let place = place();
    policy(&place, "web", "1");
    let seed: Vec<u8> = (0..32).collect();
    let pair = Ed25519KeyPair::from_seed_unchecked(&seed).unwrap();
    let public = text::hex(pair.public_key().as_ref());
    // The program hands on to this test, which has the key.
    let program = place.folder.join("sign");
    for name in ["message", "reply"] {
        mkfifo(&place.folder.join(name), Mode::S_IRWXU).unwrap();
    }
    let folder = place.folder.display();
    let script = format!("#!/bin/sh\n[ \"$1\" = 'slot 1' ] || exit 1\ncat > {folder}/message\ncat {folder}/reply\n");
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let (message, reply) = (place.folder.join("message"), place.folder.join("reply"));
    // One release after the other; the last answer is not a signature of what was asked.
    std::thread::spawn(move || {
        for right in [true, false] {
            let asked = fs::read(&message).unwrap();
            fs::write(&reply, pair.sign(if right { &asked } else { b"another message" })).unwrap();
        }
    });
    place.works("repository init /srv --team core");
    let program = program.display().to_string();
    let made = place.program.run(&["keys", "command", "web", "--public", &public, "--", &program, "slot 1"]).unwrap();
    let made = made.expect_code(0).unwrap();
    assert!(made.stdout.contains(&public), "{}", made.text());
    let listed = place.output("keys show").stdout;
    assert!(listed.contains(", signed for by ") && listed.contains("sign slot 1"), "{listed}");
    place.works("repository add-team web");
    let pushed = place.output("policy push staging /web");
    assert!(pushed.stdout.contains("released (version 1)"), "{}", pushed.text());
    policy(&place, "web", "2");
    place.works("policy update /web/policy.toml");
    let refused = place.run("policy push staging /web").expect_code(43).unwrap();
    assert!(refused.stderr.contains("is not the signature of this key"), "{}", refused.stderr);
    let shown = place.output("policy show --group staging --policy web").stdout;
    let lock: Value = serde_json::from_slice(&fs::read(place.folder.join("web/policy.lock.json")).unwrap()).unwrap();
    assert!(!shown.contains(lock["revision_id"].as_str().unwrap()), "{shown}");
    for (words, part) in [
        (&["--public", "ab", "--", &program][..], "64 hexadecimal digits"),
        (&["--public", &public, "--", "sign"][..], "is not named by its whole path"),
    ] {
        let words: Vec<&str> = ["keys", "command", "x"].iter().chain(words).copied().collect();
        let refused = place.program.run(&words).unwrap().expect_code(43).unwrap();
        assert!(refused.stderr.contains(part), "{}", refused.stderr);
    }
}

#[test]
fn runtime_native_a_node_runs_the_revision_that_it_is_told_to() {
    let place = place();
    place.works("repository init /srv --team core --team web");
    for name in ["core", "web"] {
        policy(&place, name, "one");
    }
    place.works("policy push staging /core /web");
    let line = "converge --format json --repository /srv --root /root --allow-all --node-name n1 --policy-group staging \
                --policy-name core,web";
    let revision = |output: &Output, policy: usize| {
        let run: Value = serde_json::from_str(&output.stdout).unwrap();
        run["releases"]["policies"][policy]["revision"].as_str().unwrap().to_owned()
    };
    let file = |name: &str| fs::read_to_string(place.folder.join("root/tmp").join(name)).unwrap();
    let first = place.output(line);
    let (core, web) = (revision(&first, 0), revision(&first, 1));
    for name in ["core", "web"] {
        policy(&place, name, "two");
        place.works(&format!("policy update /{name}"));
    }
    place.works("policy push staging /core /web");
    // The new one is fetched and looked at; the one that converged last stays.
    place.works(&format!("{line} --why-run"));
    // One policy stays behind, the other goes on.
    let old = place.output(&format!("{line} --revision core={}", &core[..12]));
    assert_eq!(revision(&old, 0), core);
    assert_ne!(revision(&old, 1), web);
    assert_eq!((file("core"), file("web")), ("one".into(), "two".into()));
    let new = place.output(line);
    assert_ne!(revision(&new, 0), core);
    assert_eq!(file("core"), "two");
    let refused = place.run(&format!("{line} --revision mail=1")).expect_code(43).unwrap();
    assert!(
        refused.stderr.contains("`--revision mail=..`") && refused.stderr.contains("is not run"),
        "{}",
        refused.stderr
    );
    let alone = "converge --policies /out --root /root --allow-all --policy-name core --revision core=1";
    let refused = place.run(alone).expect_code(43).unwrap();
    assert!(refused.stderr.contains("the settings name no repository"), "{}", refused.stderr);
    let missing = place.run(&format!("{line} --revision core=ffffffffffff"));
    assert!(missing.text().contains("no revision \"ffffffffffff\" of the policy core"), "{}", missing.text());
    // Each revision is named once, though the node has the current one as a converged one too.
    let newest = &revision(&new, 0)[..12];
    let all = missing.text();
    let listed = all.split("group staging; it has ").nth(1).and_then(|rest| rest.split([';', '"']).next()).unwrap();
    assert_eq!(listed.matches(newest).count(), 1, "{listed}");
}

#[test]
fn a_policy_with_a_cookbook_in_rust_is_not_exported() {
    let place = place();
    let core = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../policies/core/policy.toml");
    let out = place.folder.join("exported").display().to_string();
    let refused = place.program.run(&["policy", "export", &core.display().to_string(), &out]).unwrap();
    let refused = refused.expect_code(43).unwrap();
    assert!(refused.stderr.contains("is in Rust, which Chef cannot run"), "{}", refused.stderr);
    assert!(!place.folder.join("exported").exists());
}

/// A release that needs two keys, as those who have them type it.
#[test]
fn a_release_below_its_threshold_says_who_signed_and_who_still_has_to() {
    let place = place();
    policy(&place, "web", "1");
    place.works("repository init /srv --team core");
    for name in ["ann", "ben"] {
        place.works(&format!("keys new {name}"));
    }
    let [ann, ben] = ["ann", "ben"].map(|name| key(&place, name));
    // The name of a key is not the path of its file.
    let file = "the file of the key of that name is";
    place.fails("repository add-team web --key ann", &["there is no file ann; ", file, "keys/ann.key"]);
    place.fails("policy push staging /web", &["no team of the repository", "`wrun repository add-team` adds one"]);
    let home = "home/.config/wrun/keys";
    place.works(&format!("repository add-team web --key {home}/ann.key --key {home}/ben.key --threshold 2"));
    let away = place.folder.join("away.key");
    fs::rename(&ben, &away).unwrap();
    let pushed = place.output("policy push staging /web").stdout;
    let id = pushed.rsplit("wrun policy sign ").next().unwrap().trim_end_matches(['`', '\n']).to_owned();
    let listed = place.output("policy sign").stdout;
    assert!(listed.contains(&format!("{id} (team web), signed by 1 key, good until ")), "{listed}");
    place.fails(&format!("policy sign {id}"), &["have signed the release", "already; it waits for another key of"]);
    let verified = place.output(&format!("policy verify /web staging --pending {id}")).stdout;
    assert!(verified.contains("its artifact is what is built here") && !verified.contains("runs"), "{verified}");
    // Who has none of the keys is told that.
    let both = place.folder.join("both.key");
    fs::rename(&ann, &both).unwrap();
    place.fails(&format!("policy sign {id}"), &["none of the keys in", "may sign targets"]);
    fs::rename(&away, &ben).unwrap();
    let signed = place.output(&format!("policy sign {id}")).stdout;
    assert!(signed.contains("released (version 1)"), "{signed}");
    let cleaned = place.output("policy clean web");
    assert_eq!((cleaned.stdout.as_str(), cleaned.stderr.as_str()), ("", "nothing to remove\n"));
    fs::rename(place.folder.join("srv"), place.folder.join("moved")).unwrap();
    place.fails(
        "policy sign",
        &["does not exist: it is the repository that `wrun repository init` made last", "--repository"],
    );
    place.works("policy sign --repository /moved");
}
