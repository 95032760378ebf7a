//! `git`: real repositories, real clones.

use crate::support::{Bench, exists};
use contract::{Certainty, Providers as _, Wanted};
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

/// Notes that it ran, beside itself.
fn tripwire(path: &Path) {
    std::fs::write(path, "#!/bin/sh\ntouch \"$0.ran\"\n").unwrap();
    Command::new("chmod").arg("755").arg(path).status().unwrap();
}

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
fn a_checkout_that_git_did_not_make_is_refused() {
    for (fill, why) in [
        ("echo ../evil > a/.git/commondir", "there is ROOT/a/.git/commondir"),
        ("echo '* filter=x' > a/.git/info/attributes", "there is ROOT/a/.git/info/attributes"),
        ("echo ROOT/foreign > a/.git/objects/info/alternates", "there is ROOT/a/.git/objects/info/alternates"),
        ("ln -sf ../../../foreign/f a/.git/logs/HEAD", "ROOT/a/.git/logs/HEAD is a symlink"),
        ("ln -sf ../../foreign/f a/.git/FETCH_HEAD", "ROOT/a/.git/FETCH_HEAD is a symlink"),
        ("mv a/.git own/x; ln -s ../own/x a/.git", "ROOT/a/.git is a symlink"),
        ("mv a/.git own/x; echo gitdir: ../own/x > a/.git", "ROOT/a/.git is a file"),
        ("git -C a config --add remote.origin.url /etc", "ROOT/a/.git/config says more"),
        ("chown nobody a/.git", "ROOT/a belongs to another user"),
    ] {
        let bench = with_foreign_things();
        bench.run("git", "ROOT/a", "sync", with(json!({}))).unwrap();
        shell(&bench, "cd src; echo five > f; git commit -q -am five");
        shell(&bench, &bench.text(fill));
        check_odd(&bench, "a", json!({"revision": "main"}), why);
        assert_eq!(bench.read("foreign/f"), "kept\n", "{fill}");
    }
}

#[test]
fn a_folder_with_half_a_repository_is_not_its_parents() {
    let bench = with_foreign_things();
    shell(&bench, "git clone -q src a; mkdir -p a/sub/.git; cp -r a/.git/config a/sub/.git/config");
    let hooked = bench.path("own/evil");
    tripwire(&hooked);
    shell(
        &bench,
        &bench.text("git -C a config filter.x.smudge ROOT/own/evil; echo '* filter=x' > a/.git/info/attributes"),
    );
    let raised = bench.run("git", "ROOT/a/sub", "sync", with(json!({}))).unwrap_err();
    assert!(raised.message.contains("not a git repository"), "{raised:?}");
    assert!(!exists(&bench.path("own/evil.ran")));
}

#[test]
fn a_repository_on_the_node_is_read_alone() {
    let bench = with_foreign_things();
    shell(&bench, "git clone -q --bare src foreign/secret.git; chmod 700 foreign");
    for (fill, name, why) in [
        (
            "git init -q --bare own/x; rm -r own/x/refs; ln -s ../../foreign/secret.git/refs own/x/refs",
            "own/x",
            "whole",
        ),
        (
            "git clone -q src own/x; ln -sf ../../../foreign/f own/x/.git/packed-refs",
            "own/x",
            "packed-refs is a symlink",
        ),
        ("git clone -q --shared foreign/secret.git own/x", "own/x", "alternates"),
        ("git clone -q src own/x; git -C own/x config remote.origin.uploadpack evil", "own/x", "says more"),
        ("git clone -q src own/x; rm own/x/.git/HEAD", "own/x", "not a whole repository"),
        ("git clone -q src own/x; mv own/x/.git own/y; echo gitdir: ../y > own/x/.git", "own/x", "is a file"),
        ("echo gitdir: ROOT/foreign/secret.git > own/x", "own/x", "no repository"),
    ] {
        shell(&bench, &bench.text(&format!("rm -rf own/x own/y; {fill}")));
        check_odd(&bench, "b", json!({"repository": format!("ROOT/{name}")}), why);
        check_odd(&bench, "b", json!({"repository": format!("file://ROOT/{name}")}), why);
    }
    for repository in
        ["file://ROOT/own/%2e%2e/foreign/secret.git", "ROOT/foreign/secret", "ROOT/own/../foreign/secret.git"]
    {
        let raised = bench.run("git", "ROOT/b", "sync", with(json!({"repository": repository}))).unwrap_err();
        assert_eq!(raised.class(), "Wrun::Denied", "{repository}");
        assert!(!raised.hint.unwrap().contains("secret.git"), "{repository}");
    }
    assert!(!exists(&bench.path("b")));
    // What git makes is fetched from: bare, bundled, with packed references.
    shell(
        &bench,
        "rm -rf own/x; git clone -q --bare src own/x.git; git -C own/x.git gc -q; git -C src bundle create -q ../own/x.bundle main",
    );
    for (folder, repository) in [("b/bare", "own/x.git"), ("b/short", "own/x"), ("b/bundle", "own/x.bundle")] {
        shell(&bench, "mkdir -p b");
        let wish = json!({"repository": format!("ROOT/{repository}"), "revision": "main"});
        bench.run("git", &format!("ROOT/{folder}"), "sync", with(wish)).unwrap();
        assert_eq!(bench.read(&format!("{folder}/f")), "two\n");
    }
    let object = shell(&bench, "find b/bare/.git/objects -type f | head -1");
    assert_eq!(shell(&bench, &format!("stat -c %h {object}")), "1", "a file of the source is not shared");
}

#[test]
fn clones_that_git_made_otherwise_are_followed() {
    for make in [
        "git clone -q --depth 1 file://ROOT/src a",
        "git clone -q src a; git -C a remote add more /x; git -C a pack-refs --all; git -C a gc -q; git -C a tag mine",
        "git clone -q src a; git -C a checkout -q --detach; git -C a branch -q -D main",
    ] {
        let bench = with_foreign_things();
        shell(&bench, &bench.text(make));
        shell(
            &bench,
            &bench.text("git -C a remote set-url origin ROOT/src; cd src; echo five > f; git commit -q -am five"),
        );
        bench.run("git", "ROOT/a", "sync", with(json!({"revision": "main"}))).unwrap();
        assert_eq!(bench.read("a/f"), "five\n", "{make}");
    }
}

#[test]
fn git_enters_no_submodule() {
    let bench = with_foreign_things();
    let script = "git init -q -b main own/sub; cd own/sub; echo x > s; git add s; git commit -q -m sub; cd ../../src;
        git -c protocol.file.allow=always submodule add -q ../own/sub sub; git commit -q -m with-sub; cd ..";
    shell(&bench, script);
    bench.run("git", "ROOT/a", "sync", with(json!({}))).unwrap();
    tripwire(&bench.path("own/evil"));
    let evil =
        "git clone -q own/sub a/sub; touch -d 2001-01-01 a/sub/s; git -C a/sub config filter.x.clean ROOT/own/evil;
        git -C a/sub config core.fsmonitor ROOT/own/evil; echo '* filter=x' > a/sub/.git/info/attributes;
        cd src; echo five > f; git commit -q -am five; git branch other";
    shell(&bench, &bench.text(evil));
    bench.run("git", "ROOT/a", "sync", with(json!({"revision": "other"}))).unwrap();
    assert_eq!(bench.read("a/f"), "five\n");
    assert!(!exists(&bench.path("own/evil.ran")));
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

/// Between wrun's look and git's, whoever may write there could put a configuration that has root run a program.
#[test]
fn a_checkout_that_others_may_change_is_refused() {
    for (fill, folder, why) in [
        ("chmod 777 a/.git", "a", "others than the user as whom git runs may change ROOT/a/.git"),
        ("chmod 666 a/.git/config", "a", "others than the user as whom git runs may change ROOT/a/.git/config"),
        ("chown nobody a/.git/refs", "a", "others than the user as whom git runs may change ROOT/a/.git/refs"),
        ("mkdir -p a/sub/deep; chown nobody a/sub/deep", "a", "git runs may change ROOT/a/sub/deep"),
        ("mkdir -p a/sub/deep; chmod 777 a/sub", "a", "git runs may change ROOT/a/sub"),
        ("chmod 775 a", "a", "others than the user as whom git runs may exchange ROOT/a/.git"),
        (
            "mkdir b; mv a b/c; chown nobody b",
            "b/c",
            "others than the user as whom git runs may exchange ROOT/b/c/.git",
        ),
        ("mkdir b; chmod 1777 b", "b/new", "others than the user as whom git runs may exchange ROOT/b/new"),
        ("mkdir b; chown nobody b", "b/new", "others than the user as whom git runs may exchange ROOT/b/new"),
    ] {
        let bench = with_foreign_things();
        bench.run("git", "ROOT/a", "sync", with(json!({}))).unwrap();
        shell(&bench, "cd src; echo five > f; git commit -q -am five");
        shell(&bench, fill);
        check_odd(&bench, folder, json!({"revision": "main"}), why);
    }
    let bench = with_foreign_things();
    shell(&bench, "cp -r src own/x; chmod 777 own/x/.git");
    check_odd(&bench, "b", json!({"repository": "ROOT/own/x"}), "may change ROOT/own/x/.git");
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

/// Gives a file or a directory an access list that lets `nobody` write, or passes one on to what is made in a directory. The mask
/// takes it away again until the next `chmod`.
fn access_list(path: &Path, name: &str) {
    const NOBODY: u32 = 65534;
    const NO_ID: u32 = u32::MAX;
    let entries = [(1u16, 7u16, NO_ID), (2, 7, NOBODY), (4, 5, NO_ID), (0x10, 5, NO_ID), (0x20, 5, NO_ID)];
    let mut list = 2u32.to_le_bytes().to_vec();
    for (tag, rights, id) in entries {
        list.extend(tag.to_le_bytes().into_iter().chain(rights.to_le_bytes()).chain(id.to_le_bytes()));
    }
    rustix::fs::setxattr(path, format!("system.posix_acl_{name}"), &list, rustix::fs::XattrFlags::empty()).unwrap();
}

/// What git makes in a directory with an access list for new things is its user's too, who adds a filter before the checkout.
#[test]
fn git_default_acl_a_checkout_whose_access_lists_name_others_is_refused() {
    for (path, list, folder, why) in [
        ("b", "default", "b", "git runs may change ROOT/b"),
        ("b", "default", "b/new", "others than the user as whom git runs may exchange ROOT/b/new"),
        ("a", "default", "a", "git runs may change ROOT/a"),
        ("a/.git", "default", "a", "git runs may change ROOT/a/.git"),
        ("a/.git", "access", "a", "git runs may change ROOT/a/.git"),
        ("a/.git/config", "access", "a", "git runs may change ROOT/a/.git/config"),
        ("a", "access", "a", "others than the user as whom git runs may exchange ROOT/a/.git"),
    ] {
        let bench = with_foreign_things();
        bench.run("git", "ROOT/a", "sync", with(json!({}))).unwrap();
        shell(&bench, "mkdir b; cd src; echo five > f; git commit -q -am five");
        access_list(&bench.path(path), list);
        check_odd(&bench, folder, json!({"revision": "main"}), why);
    }
}

/// Between the plan and the clone its folder becomes one that others may change.
#[test]
fn a_folder_is_looked_at_again_before_it_is_filled() {
    let bench = with_foreign_things();
    shell(&bench, "mkdir b");
    let mut providers = bench.providers(false);
    let declaration = bench.declaration("git", "ROOT/b", with(json!({})));
    let wanted = Wanted { resource: 0, declaration: &declaration, action: "sync", resolved: vec![], why_run: false };
    let (expected, _) = providers.prepare(&wanted).unwrap().expected();
    access_list(&bench.path("b"), "default");
    let raised = providers.commit(&wanted, expected.plan().unwrap()).unwrap_err();
    assert_eq!(raised.class(), "Wrun::Denied", "{raised:?}");
    assert!(raised.message.contains(&bench.text("may change ROOT/b")), "{}", raised.message);
    assert!(!exists(&bench.path("b/.git")));
}

/// The owner of before has the configuration open still, and writes a filter as soon as somebody has read it: at the first look
/// at it, the second, and so on.
#[test]
fn git_open_fd_a_descriptor_from_before_reaches_no_configuration() {
    for reading in 1..=8 {
        let bench = with_foreign_things();
        shell(
            &bench,
            "cd src; echo '* filter=x' > .gitattributes; git add .gitattributes; git commit -q -m attributes",
        );
        bench.run("git", "ROOT/a", "sync", with(json!({}))).unwrap();
        shell(&bench, "cd src; echo five > f; git commit -q -am five");
        tripwire(&bench.path("own/evil"));
        let path = bench.path("a/.git/config");
        let mut held = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
        let watch = rustix::fs::inotify::init(rustix::fs::inotify::CreateFlags::empty()).unwrap();
        let flags = rustix::fs::inotify::WatchFlags::CLOSE_NOWRITE | rustix::fs::inotify::WatchFlags::ATTRIB;
        rustix::fs::inotify::add_watch(&watch, &path, flags).unwrap();
        let evil = bench.text("[filter \"x\"]\n\tsmudge = ROOT/own/evil\n");
        let writer = std::thread::spawn(move || {
            let mut buffer = [std::mem::MaybeUninit::uninit(); 512];
            let mut events = rustix::fs::inotify::Reader::new(watch, &mut buffer);
            let mut seen = 0;
            // Where the file has no name any more, nobody reads it again.
            while let Ok(event) = events.next() {
                seen += 1;
                let is_last = !event.events().contains(rustix::fs::inotify::ReadFlags::CLOSE_NOWRITE);
                if seen == reading || is_last {
                    std::io::Write::write_all(&mut held, evil.as_bytes()).unwrap();
                    return;
                }
            }
        });
        let done = bench.run("git", "ROOT/a", "sync", with(json!({"revision": "main"})));
        // Wakes the writer if it waits still.
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert!(!exists(&bench.path("own/evil.ran")), "{reading}: root ran a filter of somebody else's");
        match done {
            Ok(_) => assert!(!text.contains("filter") && bench.read("a/f") == "five\n", "{reading}: {text}"),
            Err(raised) => assert_eq!(raised.class(), "Wrun::Denied", "{reading}: {raised:?}"),
        }
        writer.join().unwrap();
    }
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
        settings.grants.journal().suggestion(&grants::ElevatedAccounts::default(), false)
    };
    let asks = "argv = [\"git\"]";
    assert!(!suggestion("true", json!({})).contains(asks), "{}", suggestion("true", json!({})));
    assert!(suggestion("true", json!({"enable_submodules": true})).contains(asks));
    assert!(suggestion("git clone -q src a; git -C a config core.pager less", json!({})).contains(asks));
}

/// An index whose names lead out: git compares what is there, as root, and its failure tells whether it is the same.
#[test]
fn attack_an_index_with_names_that_lead_out_tells_nothing() {
    for (odd, at) in [("../file", "aa/file"), ("./xfile", "aa/file"), (".git/xx", "aaaa/xx")] {
        let bench = with_foreign_things();
        bench.run("git", "ROOT/a", "sync", with(json!({}))).unwrap();
        let folder = at.split('/').next().unwrap();
        shell(
            &bench,
            &format!(
                "cd a; mkdir {folder}; echo x > {at}; git add {at}; LC_ALL=C sed -i 's#{at}#{odd}#' .git/index
                 cd ../src; echo five > f; git commit -q -am five"
            ),
        );
        let raised = bench.run("git", "ROOT/a", "sync", with(json!({"revision": "main"}))).unwrap_err();
        assert!(raised.message.contains(&format!("has the name {odd:?}, which leads out of it")), "{}", raised.message);
        assert_eq!(bench.read("a/f"), "two\n");
    }
}

/// git writes to its logs in place, so that a second name of them is a way to another file.
#[test]
fn attack_a_log_with_another_name_is_not_written() {
    let bench = with_foreign_things();
    bench.run("git", "ROOT/a", "sync", with(json!({}))).unwrap();
    shell(&bench, "ln -f foreign/f a/.git/logs/HEAD; cd src; echo five > f; git commit -q -am five");
    check_odd(&bench, "a", json!({"revision": "main"}), "ROOT/a/.git/logs/HEAD is a file with several names");
    assert_eq!(bench.read("foreign/f"), "kept\n");
}

/// Another user's git reads that user's settings, which may name programs: a dry run asks it confined, so that it reaches no server.
#[test]
fn attack_a_dry_run_starts_no_git_of_another_user_with_rights() {
    let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    server.set_nonblocking(true).unwrap();
    let bench = Bench::whole("").unlimited();
    let address = format!("git://{}/x", server.local_addr().unwrap());
    let mut providers = bench.providers(true);
    let wish = json!({"repository": address, "user": "nobody"});
    let declaration = bench.declaration("git", "ROOT/a", wish);
    let wanted = Wanted { resource: 0, declaration: &declaration, action: "sync", resolved: vec![], why_run: true };
    let prepared = providers.prepare(&wanted).unwrap();
    assert!(matches!(prepared.certainty(), [Certainty::Unknown(_), ..]), "{:?}", prepared.certainty());
    assert!(server.accept().is_err(), "it was asked with all of the user's rights");
}

/// Whoever may exchange a bundle, or a source that is not there yet, has root's git read any repository.
#[test]
fn attack_a_bundle_that_others_may_exchange_is_not_fetched() {
    let bench = Bench::whole("paths = [\"ROOT/a/**\"]\nread_paths = [\"ROOT/open/**\", \"ROOT/own/**\"]\n");
    repository(&bench);
    shell(&bench, "mkdir open own; git -C src bundle create -q ../open/x main; cp open/x own; chown nobody open");
    let sync = |source: &str| {
        let wish = json!({"repository": bench.text(&format!("ROOT/{source}")), "revision": "main"});
        bench.run("git", "ROOT/a", "sync", wish)
    };
    for source in ["open/x", "open/later"] {
        let raised = sync(source).unwrap_err();
        assert_eq!(raised.class(), "Wrun::Denied", "{raised:?}");
        assert!(raised.message.contains("may exchange"), "{}", raised.message);
    }
    sync("own/x").unwrap();
    assert_eq!(bench.read("a/f"), "two\n");
}
