//! Folders that others than the user as whom git runs may change, by their modes, their access lists, or what they have open.

use super::{check_odd, shell, tripwire, with, with_foreign_things};
use crate::support::exists;
use contract::{Providers as _, Wanted};
use serde_json::json;
use std::path::Path;

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
