//! What a policy may do with git, and with which rights.

use super::{repository, shell, tripwire, with, with_foreign_things};
use crate::support::{Bench, exists};
use contract::Certainty;
use serde_json::{Value, json};
use std::path::Path;

#[test]
fn the_right_to_fetch_is_no_right_to_run_programs() {
    let rules = "paths = [\"ROOT/a/**\", \"ROOT/b/**\"]\nread_paths = [\"ROOT/src/**\"]\n";
    let bench = Bench::whole(rules);
    repository(&bench);
    bench.run("git", "ROOT/a", "sync", with(json!({}))).unwrap();
    bench.run("git", "ROOT/a", "sync", with(json!({}))).unwrap();
    let denied = |folder: &str, properties: Value| {
        let raised = bench.run("git", &format!("ROOT/{folder}"), "sync", with(properties.clone())).unwrap_err();
        assert_eq!(raised.class(), "Wrun::Denied", "{properties}");
    };
    denied("c", json!({}));
    denied("a", json!({"repository": "ROOT/other"}));
    denied("a", json!({"repository": "https://example.org/x"}));
    denied("a", json!({"repository": "ext::sh -c evil"}));
    denied("a", json!({"additional_remotes": {"x": "ssh://evil.example/x"}}));
    denied("a", json!({"additional_remotes": {"x": "ROOT/other"}}));
    bench.run("git", "ROOT/a", "sync", with(json!({"additional_remotes": {"x": "ROOT/src"}}))).unwrap();
    denied("a", json!({"user": "nobody"}));
    denied("a", json!({"environment": {"GIT_SSH_COMMAND": "evil"}}));
    denied("a", json!({"ssh_wrapper": "ROOT/evil"}));
    denied("a", json!({"enable_submodules": true}));
    // A hook that the policy put there with its right to files.
    let hook = bench.path("a/.git/hooks/post-checkout");
    tripwire(&hook);
    shell(&bench, "cd src; echo five > f; git commit -q -am five; git branch other");
    bench.run("git", "ROOT/a", "sync", with(json!({"revision": "other"}))).unwrap();
    assert_eq!(bench.read("a/f"), "five\n");
    assert!(!exists(&hook.with_extension("ran")) && !exists(&bench.path("a/.git/hooks/post-checkout.ran")));
    shell(&bench, "git -C a config filter.x.smudge evil");
    denied("a", json!({}));
    let rules = bench.text(&format!("{rules}commands = [{{ argv = [\"git\"] }}]"));
    let granted = Bench::whole(&rules);
    let wish = json!({"repository": bench.text("ROOT/src"), "revision": "main"});
    granted.run("git", &bench.text("ROOT/a"), "sync", wish).unwrap();
}

/// git would follow a link that is laid after the check.
#[test]
fn home_through_link_a_repository_on_the_node_is_given_to_git_resolved() {
    let bench = Bench::whole("paths = [\"ROOT/a/**\", \"ROOT/b/**\"]\nread_paths = [\"ROOT/src/**\"]\n");
    repository(&bench);
    std::os::unix::fs::symlink(bench.path("src"), bench.path("link")).unwrap();
    for (folder, repository, expect) in [("a", "ROOT/link", "ROOT/src"), ("b", "file://ROOT/link", "file://ROOT/src")] {
        let wish = json!({"repository": repository, "revision": "main"});
        let done = bench.run("git", &format!("ROOT/{folder}"), "sync", wish).unwrap();
        let said = done.sentences().join("\n");
        assert!(said.contains(&bench.text(&format!("clone from {repository} into"))), "{said}");
        assert_eq!(shell(&bench, &format!("git -C {folder} remote get-url origin")), bench.text(expect));
    }
}

#[test]
fn a_commit_brings_no_keys() {
    let bench = with_foreign_things();
    let keys = "cd src; git checkout -q -b keys; mkdir -p home/.ssh; echo k > home/.ssh/authorized_keys; git add home;
        git commit -q -m keys; git checkout -q main";
    shell(&bench, keys);
    let refused = |folder: &str, revision: &str, what: &str| {
        let raised =
            bench.run("git", &format!("ROOT/{folder}"), "sync", with(json!({"revision": revision}))).unwrap_err();
        assert_eq!(raised.class(), "Wrun::Denied", "{raised:?}");
        assert!(raised.message.contains(&bench.text(what)), "{}", raised.message);
    };
    refused("a", "keys", "ROOT/a/home/.ssh/authorized_keys");
    assert!(!exists(&bench.path("a/home")));
    bench.run("git", "ROOT/b", "sync", with(json!({"revision": "main"}))).unwrap();
    refused("b", "keys", "ROOT/b/home/.ssh/authorized_keys");
    assert!(!exists(&bench.path("b/home")) && exists(&bench.path("b/f")));
    // Where a clone would check them out at once, nothing of it stays, and the next run says the same.
    shell(&bench, "git -C src checkout -q keys; rm -rf a");
    for _ in 0..2 {
        refused("a", "HEAD", "ROOT/a/home/.ssh/authorized_keys");
        assert!(!exists(&bench.path("a/.git")));
    }
    // Keys that are there are not taken away.
    shell(
        &bench,
        "mkdir -p b/home/.ssh; echo mine > b/home/.ssh/id; cd src; git rm -rq home; echo h > home; git add home; git commit -q -m h",
    );
    refused("b", "keys", "ROOT/b/home/.ssh/id");
    assert_eq!(bench.read("b/home/.ssh/id"), "mine\n");
    let rules = "paths = [\"ROOT/a/**\"]\nprivileged_paths = [\"ROOT/a/home/.ssh/**\"]\nread_paths = [\"ROOT/src/**\"]";
    let granted = Bench::whole(&bench.text(rules));
    let commit = shell(&bench, "git -C src rev-parse keys~1");
    let wish = json!({"revision": commit, "repository": bench.text("ROOT/src")});
    granted.run("git", &bench.text("ROOT/a"), "sync", wish).unwrap();
    assert_eq!(bench.read("a/home/.ssh/authorized_keys"), "k\n");
}

#[test]
fn a_dry_run_runs_no_program_of_the_policy() {
    let rules = "paths = [\"ROOT/a/**\", \"ROOT/own/**\"]\ndownload_hosts = [\"ssh://git.example.org\"]\n\
                 commands = [{ argv = [\"git\"], environment = { GIT_SSH = \"ROOT/own/wrap\" } }]\n";
    let bench = Bench::whole(rules);
    std::fs::create_dir(bench.path("own")).unwrap();
    // Where it is confined, only what it leaves behind elsewhere is noticed: `/tmp` is its own.
    let script = "touch \"$0.ran\" /etc/wrun-wrapped";
    shell(&bench, &format!("printf '#!/bin/sh\\n%s\\n' '{script}' > own/wrap; chmod 755 own/wrap"));
    let wish = json!({"repository": "git@git.example.org:x/y.git", "ssh_wrapper": "ROOT/own/wrap"});
    let done = bench.why_run("git", "ROOT/a", "sync", wish).unwrap();
    assert!(done.changes.is_empty(), "{done:?}");
    assert!(matches!(done.certainty.as_slice(), [Certainty::Unknown(why)] if why.contains("ls-remote")), "{done:?}");
    assert!(!exists(&bench.path("own/wrap.ran")) && !exists(&bench.path("a")));
    assert!(!exists(Path::new("/etc/wrun-wrapped")));
}

/// An address could carry what the policy has read to anybody.
#[test]
fn a_survey_asks_no_repository() {
    let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    server.set_nonblocking(true).unwrap();
    let bench = Bench::whole("").unlimited();
    let mut settings = bench.settings(true);
    settings.downloads.off = Some(machine::download::NoServers::Survey);
    let mut providers = providers::MachineProviders::new(std::sync::Arc::new(settings)).unwrap();
    let repository = format!("http://{}/secret", server.local_addr().unwrap());
    let declaration = bench.declaration("git", "ROOT/a", json!({ "repository": repository }));
    let done = crate::support::run(&mut providers, &declaration, "sync", true).unwrap();
    assert!(matches!(&done.certainty[..], [Certainty::Unknown(why)] if why.contains("asks no server")), "{done:?}");
    assert_eq!(server.accept().unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
}

/// A repository can be made of links to other files, and git says in its errors what it reads.
#[test]
fn attack_a_survey_starts_no_git() {
    let bench = Bench::whole("");
    repository(&bench);
    let survey = grants::Grants::nothing().surveying(grants::OpenPaths::new(|_| true));
    let settings = providers::Settings { grants: survey.policy("p", &[]), ..bench.settings(true) };
    let mut providers = providers::MachineProviders::new(std::sync::Arc::new(settings)).unwrap();
    let declaration = bench.declaration("git", "ROOT/a", with(json!({})));
    let done = crate::support::run(&mut providers, &declaration, "sync", true).unwrap();
    assert!(matches!(&done.certainty[..], [Certainty::Unknown(why)] if why.contains("does not start git")), "{done:?}");
}

/// What a survey suggests is what a real run would ask for.
#[test]
fn a_survey_asks_for_the_command_git_only_where_a_run_would() {
    let suggestion = |fill: &str, properties: Value| {
        let bench = Bench::whole("").unlimited();
        repository(&bench);
        shell(&bench, fill);
        let settings = std::sync::Arc::new(bench.settings(true));
        let mut providers = providers::MachineProviders::new(std::sync::Arc::clone(&settings)).unwrap();
        let declaration = bench.declaration("git", "ROOT/a", with(properties));
        crate::support::run(&mut providers, &declaration, "sync", true).unwrap();
        settings.grants.journal().suggestion(&grants::MachineView::default(), false, &grants::Grants::nothing())
    };
    let asks = "argv = [\"git\"]";
    assert!(!suggestion("true", json!({})).contains(asks), "{}", suggestion("true", json!({})));
    assert!(suggestion("true", json!({"enable_submodules": true})).contains(asks));
    assert!(suggestion("git clone -q src a; git -C a config core.pager less", json!({})).contains(asks));
}
