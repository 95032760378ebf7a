//! `git`: real repositories, real clones.

mod attacks;
mod filled;
mod rights;
mod settings;
mod writers;

use crate::support::{Bench, exists};
use contract::Certainty;
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;

/// A repository with a branch, two tags and an annotated one.
fn repository(bench: &Bench) {
    let script = "git init -q -b main src && cd src && commit() { echo $1 > f; git add f; git commit -q -m $1; }
        commit one; git tag v1; git tag -a v1a -m v1a; commit two; git branch side; git checkout -q side; commit three;
        git checkout -q main";
    shell(bench, script);
}

fn shell(bench: &Bench, script: &str) -> String {
    let who = ["GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"];
    let output = Command::new("sh")
        .args(["-e", "-c", script])
        .current_dir(&bench.root)
        .envs(who.map(|name| (name, "a@b")))
        .output()
        .unwrap();
    assert!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

fn machine() -> Bench {
    let bench = Bench::whole("").unlimited();
    repository(&bench);
    bench
}

fn with(properties: Value) -> Value {
    let mut all = json!({"repository": "ROOT/src"});
    all.as_object_mut().unwrap().extend(properties.as_object().unwrap().clone());
    all
}

#[track_caller]
fn check(bench: &Bench, folder: &str, action: &str, properties: Value, expect: &[&str]) {
    let done = bench.run("git", &format!("ROOT/{folder}"), action, with(properties)).unwrap();
    let expect: Vec<String> = expect.iter().map(|sentence| bench.text(sentence)).collect();
    assert_eq!(done.sentences(), expect, "{folder} {action}");
}

/// Notes that it ran, beside itself.
fn tripwire(path: &Path) {
    std::fs::write(path, "#!/bin/sh\ntouch \"$0.ran\"\n").unwrap();
    Command::new("chmod").arg("755").arg(path).status().unwrap();
}

/// A bench whose policy may fetch from `src`, and fills `a` and `own` as it likes. `foreign` is not its own.
fn with_foreign_things() -> Bench {
    let rules = "paths = [\"ROOT/a/**\", \"ROOT/b/**\", \"ROOT/own/**\"]\nread_paths = [\"ROOT/src/**\"]\n";
    let bench = Bench::whole(rules);
    repository(&bench);
    shell(&bench, "mkdir own foreign; echo kept > foreign/f");
    bench
}

/// The resource is refused because of the folder, and says what would allow it.
#[track_caller]
fn check_odd(bench: &Bench, folder: &str, properties: Value, why: &str) {
    let raised = bench.run("git", &format!("ROOT/{folder}"), "sync", with(properties)).unwrap_err();
    assert_eq!(raised.class(), "Wrun::Denied", "{raised:?}");
    assert!(raised.message.contains(&bench.text(why)), "{}", raised.message);
    assert!(raised.hint.unwrap().contains("argv = [\"git\"]"), "{why}");
}

#[test]
fn a_branch_is_checked_out_and_followed() {
    let bench = machine();
    let two = shell(&bench, "git -C src rev-parse main");
    let first = format!("checkout ref {two} branch main");
    check(&bench, "a", "sync", json!({"revision": "main"}), &["clone from ROOT/src into ROOT/a", &first]);
    assert_eq!(bench.read("a/f"), "two\n");
    check(&bench, "a", "sync", json!({"revision": "main"}), &[]);
    check(&bench, "a", "checkout", json!({"revision": "side"}), &[]);
    shell(&bench, "cd src; echo four > f; git commit -q -am four; echo rubbish > ../a/f");
    let fetching = ["set up remote tracking branches for ROOT/src at origin", "fetch updates for origin"];
    check(&bench, "a", "sync", json!({"revision": "main"}), &fetching);
    assert_eq!(bench.read("a/f"), "four\n");
    check(&bench, "a", "sync", json!({"revision": "side"}), &fetching);
    assert_eq!(bench.read("a/f"), "three\n");
    assert_eq!(shell(&bench, "git -C a rev-parse --abbrev-ref HEAD"), "side");
    assert_eq!(shell(&bench, "git -C a rev-parse --abbrev-ref side@{u}"), "origin/side");
}

#[test]
fn tags_and_commits_stand_on_no_branch() {
    let bench = machine();
    let one = shell(&bench, "git -C src rev-parse v1");
    for (folder, revision) in [("tag", "v1"), ("annotated", "v1a"), ("commit", one.as_str())] {
        bench.run("git", &format!("ROOT/{folder}"), "checkout", with(json!({"revision": revision}))).unwrap();
        assert_eq!(shell(&bench, &format!("git -C {folder} rev-parse HEAD")), one, "{revision}");
        assert_eq!(shell(&bench, &format!("git -C {folder} rev-parse --abbrev-ref HEAD")), "HEAD");
        check(&bench, folder, "sync", json!({"revision": revision}), &[]);
    }
    let branch = json!({"revision": "v1", "checkout_branch": "deploy"});
    bench.run("git", "ROOT/deploy", "sync", with(branch)).unwrap();
    assert_eq!(shell(&bench, "git -C deploy rev-parse --abbrev-ref HEAD"), "deploy");
}

#[test]
fn the_properties_that_decide_how() {
    let bench = machine();
    let bare = json!({"enable_checkout": false, "remote": "up", "depth": 1, "repository": "file://ROOT/src"});
    check(&bench, "shallow", "sync", bare, &["clone from file://ROOT/src into ROOT/shallow"]);
    assert_eq!(shell(&bench, "git -C shallow remote"), "up");
    assert_eq!(shell(&bench, "git -C shallow rev-list --count HEAD"), "1");
    let remotes = json!({"additional_remotes": {"more": "https://example.org/x"}});
    let further = [
        "add remote more from https://example.org/x",
        "set up remote tracking branches for https://example.org/x at more",
    ];
    bench.run("git", "ROOT/r", "sync", with(json!({}))).unwrap();
    check(&bench, "r", "sync", remotes.clone(), &further);
    check(&bench, "r", "sync", remotes, &further);
    assert_eq!(shell(&bench, "git -C r remote get-url more"), "https://example.org/x");
    let head = shell(&bench, "git -C src rev-parse HEAD");
    let sentences = [
        "clone from ROOT/src into ROOT/x",
        &format!("checkout ref {head} branch HEAD"),
        "complete the export by removing ROOT/x.git after checkout",
    ];
    check(&bench, "x", "export", json!({}), &sentences);
    assert!(exists(&bench.path("x/f")) && !exists(&bench.path("x/.git")));
    check(&bench, "x", "export", json!({}), &sentences[2..]);
}

#[test]
fn another_user_owns_what_it_fetches() {
    let bench = machine();
    shell(&bench, "chmod 755 .. .; mkdir his; chown nobody his; git config --file his.cfg safe.directory '*'");
    let config = bench.text("ROOT/his.cfg");
    let wish = json!({"user": "nobody", "group": "daemon", "environment": {"GIT_CONFIG_GLOBAL": config}});
    bench.run("git", "ROOT/his/a", "sync", with(wish)).unwrap();
    assert_eq!(shell(&bench, "stat -c '%U %G' his/a/f"), "nobody daemon");
}

/// Where git is fenced in, wrun makes the folder and writes the configuration anew.
#[test]
fn a_group_keeps_its_checkout() {
    let rules = "paths = [\"ROOT/a/**\", \"ROOT/b/**\"]\nread_paths = [\"ROOT/src/**\"]\ngroups = [\"daemon\"]\n";
    let bench = Bench::whole(rules);
    repository(&bench);
    for revision in ["main", "side"] {
        let wish = with(json!({"group": "daemon", "revision": revision}));
        bench.run("git", "ROOT/a", "sync", wish).unwrap();
        assert_eq!(
            shell(&bench, "stat -c '%U %G %a' a a/f a/.git/config"),
            "root daemon 755\nroot daemon 644\nroot daemon 644"
        );
    }
    bench.run("git", "ROOT/b/deep/x", "export", with(json!({"group": "daemon"}))).unwrap();
    assert_eq!(shell(&bench, "stat -c '%U %G %a' b/deep b/deep/x/f"), "root daemon 755\nroot daemon 644");
}

#[track_caller]
fn check_failure(folder: &str, properties: Value, class: &str, message: &str) {
    let bench = machine();
    let raised = bench.run("git", &format!("ROOT/{folder}"), "sync", with(properties)).unwrap_err();
    let expect = bench.text(message);
    assert_eq!(raised.class(), class);
    assert!(raised.message.starts_with(&expect), "{}", raised.message);
}

#[test]
fn failures_have_chefs_classes_and_words() {
    check_failure(
        "no/a",
        json!({}),
        "Chef::Exceptions::MissingParentDirectory",
        "Cannot clone git[ROOT/no/a] to ROOT/no/a, the enclosing directory ROOT/no does not exist",
    );
    check_failure(
        "a",
        json!({"user": "nobody-here"}),
        "Chef::Exceptions::User",
        "nobody-here required by resource ROOT/a does not exist",
    );
    check_failure(
        "a",
        json!({"revision": "origin/main"}),
        "Chef::Exceptions::InvalidRemoteGitReference",
        "Deploying remote branches is not supported.",
    );
    check_failure(
        "a",
        json!({"revision": "absent"}),
        "Chef::Exceptions::UnresolvableGitReference",
        "Unable to parse SHA reference for 'absent' in repository 'ROOT/src'. Verify your (case-sensitive) repository URL \
         and revision.\n`git ls-remote 'ROOT/src' 'absent*'` output: ",
    );
    check_failure(
        "a",
        json!({"repository": "ROOT/nowhere"}),
        "Mixlib::ShellOut::ShellCommandFailed",
        "Expected process to exit with [0], but received '128'\n---- Begin output of git ls-remote \"ROOT/nowhere\" \"HEAD\" ----",
    );
    for odd in [json!({"revision": "--upload-pack=x"}), json!({"repository": "-x"}), json!({"remote": "a\nb"})] {
        check_failure("a", odd, "ArgumentError", "");
    }
}

#[test]
fn a_dry_run_knows_the_commit_and_makes_nothing() {
    let bench = machine();
    let done = bench.why_run("git", "ROOT/a", "sync", with(json!({"revision": "v1"}))).unwrap();
    assert!(done.sentences().last().is_some_and(|sentence| sentence.ends_with("branch v1")), "{done:?}");
    assert!(!exists(&bench.path("a")));
    let done = bench.why_run("git", "ROOT/no/a", "sync", with(json!({}))).unwrap();
    assert!(matches!(done.certainty.as_slice(), [Certainty::Assumed(what)] if what.contains("does not exist")));
    let closed = specs::ClosedPort::new().unwrap();
    let gone = closed.address().unwrap();
    let far = with(json!({"repository": format!("git://{gone}/x")}));
    let done = bench.why_run("git", "ROOT/a", "sync", far.clone()).unwrap();
    assert!(done.changes.is_empty(), "{done:?}");
    assert!(
        matches!(done.certainty.as_slice(), [Certainty::Unknown(why)] if why.contains("does not answer: ")),
        "{done:?}"
    );
    assert!(bench.run("git", "ROOT/a", "sync", far).is_err());
    assert!(bench.why_run("git", "ROOT/a", "sync", with(json!({"repository": "ROOT/nowhere"}))).is_err());
    let raised = bench.why_run("git", "ROOT/a", "sync", with(json!({"user": "nobody-here"}))).unwrap_err();
    assert_eq!(raised.class(), "ArgumentError", "as which user to ask is not known");
}
