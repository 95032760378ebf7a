//! Folders that the policy, or somebody else, has filled before: git is started in what git itself would have made.

use super::{check_odd, shell, tripwire, with, with_foreign_things};
use crate::support::exists;
use serde_json::json;

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
