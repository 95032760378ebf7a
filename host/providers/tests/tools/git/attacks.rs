//! What is in a checkout, an index or a bundle leads root's git to nothing else.

use super::{check_odd, repository, shell, with, with_foreign_things};
use crate::support::Bench;
use contract::{Certainty, Providers as _, Wanted};
use serde_json::json;

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

/// A tree may have names that lead out of a checkout, or into its `.git`.
#[test]
fn attack_odd_names_in_what_is_fetched_are_not_kept() {
    for (name, message) in [("..", "hasDotdot"), (".git", "hasDotgit")] {
        for address in ["ROOT/src", "file://ROOT/src"] {
            let bench = with_foreign_things();
            let wish = |revision: &str| json!({"repository": address, "revision": revision});
            bench.run("git", "ROOT/b", "sync", wish("main")).unwrap();
            // `mktree` would refuse a slash, and nothing else.
            let odd = format!(
                "cd src; blob=$(echo odd | git hash-object -w --stdin)
                 tree=$(printf '100644 blob %s\\t{name}\\n' $blob | git mktree)
                 git branch odd $(git commit-tree -m odd $tree)"
            );
            shell(&bench, &odd);
            for folder in ["a", "b"] {
                let raised = bench.run("git", &format!("ROOT/{folder}"), "sync", wish("odd")).unwrap_err();
                assert!(raised.message.contains(message), "{address} {folder}: {}", raised.message);
            }
            assert!(!crate::support::exists(&bench.path("a/.git/objects")), "{address}");
        }
    }
}

/// Repositories that others wrote with old tools can be fetched still.
#[test]
fn harmless_oddities_of_old_repositories_are_let_pass() {
    let bench = with_foreign_things();
    let odd = "cd src; tree=$(git rev-parse main^{tree})
        commit=$(printf 'tree %s\nauthor a 1 +0\ncommitter a <a@b> 1 +0000\n\nold\n' $tree |
            git hash-object -t commit --literally -w --stdin); git update-ref refs/heads/old $commit";
    shell(&bench, odd);
    bench.run("git", "ROOT/a", "sync", json!({"repository": "file://ROOT/src", "revision": "old"})).unwrap();
    assert_eq!(bench.read("a/f"), "two\n");
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
