//! Links, races and hostile paths, on a real file system.

use super::*;
use grants::{Grants, PolicyGrants};
use rustix::fs::inotify;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

struct Tree {
    folder: tempfile::TempDir,
    root: Root,
    grants: Arc<PolicyGrants>,
}

impl Tree {
    /// `inside` is the root; what stands beside it must never be reached.
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("inside/etc")).unwrap();
        std::fs::create_dir_all(folder.path().join("outside")).unwrap();
        std::fs::write(folder.path().join("outside/secret"), "outside").unwrap();
        let root = Root::open(&folder.path().join("inside"), &Account::unmetered("test")).unwrap();
        Self { folder, root, grants: Grants::allow_all().policy("core", &[]) }
    }

    fn inside(&self, path: &str) -> PathBuf {
        self.folder.path().join("inside").join(path.trim_start_matches('/'))
    }

    fn site(&self, real: &str) -> Result<Site, Fault> {
        self.root.site(&self.grants.manage_path(real).unwrap())
    }

    fn write(&self, real: &str, text: &str) -> Result<(), Fault> {
        self.site(real)?.write(text.as_bytes(), ModeBits::plain(0o600), &NewFileAttributes::default())
    }

    /// The real path that a path leads to, or the error's name.
    fn real(&self, path: &str) -> String {
        match self.root.locate_target(path) {
            Ok(place) => place.real().to_owned(),
            Err(fault) => fault.error().name().to_owned(),
        }
    }
}

#[test]
fn links_are_resolved_inside_the_root() {
    let tree = Tree::new();
    std::fs::create_dir_all(tree.inside("run/data")).unwrap();
    std::fs::write(tree.inside("run/data/file"), "inside").unwrap();
    let link = |says: &str, name: &str| symlink(says, tree.inside(name)).unwrap();
    link("/run", "var-run");
    link("../../../../run", "etc/up");
    link(&tree.folder.path().join("outside").to_string_lossy(), "escape");
    link("loop-b", "loop-a");
    link("loop-a", "loop-b");
    link("/run/data/file", "etc/file");
    link("nowhere", "dangling");
    link("/", "slash");
    for (path, real) in [
        ("/var-run/data/file", "/run/data/file"),
        ("/etc/up/data", "/run/data"),
        ("/etc/up/.././up/data//file", "/run/data/file"),
        // The text counts, not where the link leads.
        ("/var-run/../run/data/file", "/run/data/file"),
        ("/etc/up/../run/data/file", "ENOENT"),
        ("/../../../etc", "/etc"),
        ("/etc/file", "/run/data/file"),
        ("/dangling", "/nowhere"),
        ("/slash/slash/etc", "/etc"),
        ("/", "/"),
        ("/..", "/"),
        ("/escape/secret", "ENOENT"),
        ("/loop-a", "ELOOP"),
        ("/loop-a/x", "ELOOP"),
        ("/etc/file/x", "ENOTDIR"),
        ("/none/x", "ENOENT"),
        ("relative", "EINVAL"),
        ("", "EINVAL"),
        ("/a\0b", "EINVAL"),
    ] {
        assert_eq!(tree.real(path), real, "{path}");
    }
    assert_eq!(tree.real(&"/a".repeat(300)), "ENAMETOOLONG");
    assert_eq!(tree.real(&format!("/{}", "a".repeat(5000))), "ENAMETOOLONG");
    // The last link is followed only where that is asked for.
    assert_eq!(tree.root.locate("/etc/file").unwrap().real(), "/etc/file");
    assert_eq!(tree.root.locate("/var-run/data").unwrap().real(), "/run/data");
    assert_eq!(tree.root.read("/etc/file").unwrap(), b"inside");
    assert!(tree.root.open_unlinked("/etc/file").is_none());
    assert!(tree.root.open_unlinked("/var-run/data/file").is_none());
    assert!(tree.root.open_unlinked("/run/data/file").is_some());
    assert!(tree.root.open_unlinked("/run/data").is_none());
}

#[test]
fn attack_a_look_opens_no_pipe_and_no_device() {
    let tree = Tree::new();
    let mkfifo = std::process::Command::new("mkfifo").arg(tree.inside("etc/pipe")).status().unwrap();
    assert!(mkfifo.success());
    std::fs::write(tree.inside("etc/file"), "text").unwrap();
    let watch = inotify::init(inotify::CreateFlags::NONBLOCK | inotify::CreateFlags::CLOEXEC).unwrap();
    for name in ["etc/pipe", "etc/file"] {
        inotify::add_watch(&watch, tree.inside(name), inotify::WatchFlags::OPEN).unwrap();
    }
    let was_opened = || rustix::io::read(&watch, &mut [0; 4096]).is_ok();
    let open = |path: &str| tree.root.locate(path).unwrap().open_file().map(drop);
    assert!(tree.root.open_unlinked("/etc/pipe").is_none());
    assert_eq!(open("/etc/pipe").unwrap_err().errno, Errno::INVAL);
    assert!(!was_opened(), "a writer that waits for a reader would go on");
    assert!(tree.root.open_unlinked("/etc/file").is_some() && was_opened());
    assert!(open("/etc/file").is_ok() && was_opened());
}

/// `NAME/..` looks at nothing: the answer would tell whether NAME is a directory. Neither do links of `/proc` lead anywhere.
#[test]
fn a_way_back_tells_nothing_of_what_it_leaves() {
    let tree = Tree::new();
    std::fs::create_dir_all(tree.inside("hidden/there")).unwrap();
    std::fs::create_dir_all(tree.inside("proc/7/fd")).unwrap();
    std::fs::create_dir_all(tree.inside("srv")).unwrap();
    std::fs::write(tree.inside("srv/own"), "").unwrap();
    std::fs::write(tree.inside("hidden/file"), "").unwrap();
    symlink("/", tree.inside("proc/7/root")).unwrap();
    symlink("/srv/own", tree.inside("proc/7/fd/3")).unwrap();
    for name in ["there", "file", "none"] {
        let path = format!("/hidden/{name}/../../srv/own");
        symlink(&path, tree.inside(&format!("srv/to-{name}"))).unwrap();
        for path in [path, format!("/srv/to-{name}"), format!("/srv/to-{name}/../own")] {
            assert_eq!(tree.real(&path), "/srv/own", "{path}");
            assert_eq!(tree.root.asked_about(&path), "/srv/own", "{path}");
            assert_eq!(tree.root.future_place(&path).unwrap().real(), "/srv/own", "{path}");
        }
    }
    for path in ["/proc/7/root/srv/own", "/proc/8/root/srv/own", "/proc/7/fd/3", "/proc/7/fd/4"] {
        assert_eq!(tree.root.asked_about(path), path);
    }
    assert_eq!(tree.real("/proc/7/root/srv/own"), "EACCES");
}

#[test]
fn prospects_name_what_is_missing() {
    let tree = Tree::new();
    symlink("/etc", tree.inside("conf")).unwrap();
    let future_place = tree.root.future_place("/conf/a/b").unwrap();
    assert_eq!(future_place.real(), "/etc/a/b");
    assert_eq!(future_place.real_paths(), ["/etc/a", "/etc/a/b"]);
    assert_eq!(tree.root.future_place("/").unwrap().real(), "/");
    assert_eq!(tree.root.future_place("/new").unwrap().real(), "/new");
    assert_eq!(tree.root.future_place("/new/../../x").unwrap().real(), "/x");
    for (path, asked) in [("/new/../../x", "/x"), ("/conf/a/../b", "/etc/b"), ("/", "/"), ("/new/a", "/new/a")] {
        assert_eq!(tree.root.asked_about(path), asked, "{path}");
    }
}

/// Bits that are free on a directory, and a file of root's that has the directory's name when they are set.
#[test]
fn set_id_race_bits_of_a_directory_are_never_set_on_a_file() {
    let mut tree = Tree::new();
    let grants = Grants::parse("[policy.core]\npaths = ['/srv/**']\n", "grants.toml").unwrap();
    tree.grants = grants.policy("core", &[]);
    std::fs::create_dir_all(tree.inside("srv/app/way")).unwrap();
    std::fs::write(tree.inside("srv/app/tool"), "#!/bin/sh\n").unwrap();
    std::fs::set_permissions(tree.inside("srv/app/tool"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let granted = tree.grants.manage_path("/srv/app/way").unwrap();
    let mode = ModeBits::from(&tree.grants.file_mode(&granted, 0o6755, true).unwrap());
    let site = tree.root.site(&granted).unwrap();
    site.hold().unwrap().set_mode(mode).unwrap();
    let bits = |name: &str| std::fs::metadata(tree.inside(name)).unwrap().permissions().mode() & 0o7777;
    assert_eq!(bits("srv/app/way"), 0o6755);
    std::fs::rename(tree.inside("srv/app/way"), tree.inside("srv/app/old")).unwrap();
    std::fs::rename(tree.inside("srv/app/tool"), tree.inside("srv/app/way")).unwrap();
    assert_eq!(site.hold().unwrap().set_mode(mode).unwrap_err().error().name(), "ENOTDIR");
    assert_eq!(bits("srv/app/way"), 0o755);
    // New content takes no bits along that were granted for a directory.
    let new_attributes = NewFileAttributes { mode: Some(mode), ..NewFileAttributes::default() };
    assert_eq!(site.write(b"x", ModeBits::plain(0o600), &new_attributes).unwrap_err().error().name(), "ENOTDIR");
    assert_eq!(std::fs::read_to_string(tree.inside("srv/app/way")).unwrap(), "#!/bin/sh\n");
}

/// Someone who owns a directory exchanges what was judged before its owner and mode are set.
#[test]
fn attack_what_takes_a_judged_name_is_not_given_away() {
    let tree = Tree::new();
    std::fs::create_dir_all(tree.inside("srv/app/vault")).unwrap();
    std::fs::write(tree.inside("srv/app/vault/data"), "theirs").unwrap();
    let site = |path: &str| tree.site(path).unwrap();
    let name = |outcome: Result<(), Fault>| outcome.unwrap_err().error().name().to_owned();
    let mode = |path: &str| std::fs::metadata(tree.inside(path)).unwrap().permissions().mode() & 0o7777;
    // What is held stays the same whatever has its name by now.
    let made = site("/srv/app/made");
    made.make_directory(ModeBits::plain(0o700)).unwrap();
    let held = made.hold().unwrap();
    held.require_new_directory().unwrap();
    let judged = held.entry().unwrap();
    std::fs::rename(tree.inside("srv/app/made"), tree.inside("srv/app/aside")).unwrap();
    std::fs::rename(tree.inside("srv/app/vault"), tree.inside("srv/app/made")).unwrap();
    let before = mode("srv/app/made");
    held.set_mode(ModeBits::plain(0o711)).unwrap();
    assert_eq!((mode("srv/app/aside"), mode("srv/app/made")), (0o711, before));
    let now = |path: &str| std::fs::metadata(tree.inside(path)).unwrap().mtime();
    held.set_times(Some((7, 8))).unwrap();
    assert_eq!(now("srv/app/aside"), 8);
    assert_ne!(now("srv/app/made"), 8);
    // An empty directory of somebody else's takes the name of one that was just made.
    let fresh = site("/srv/app/fresh");
    fresh.make_directory(ModeBits::plain(0o700)).unwrap();
    if rustix::process::geteuid().is_root() {
        std::os::unix::fs::chown(tree.inside("srv/app/fresh"), Some(4_321), None).unwrap();
        assert_eq!(name(fresh.hold().unwrap().require_new_directory()), "EEXIST");
        assert_eq!(name(fresh.refuse_inherited_lists()), "EEXIST");
    }
    // What has the name by now is not what was made or judged.
    let other = made.hold().unwrap();
    assert_eq!(name(other.require_new_directory()), "EEXIST");
    assert_eq!(name(other.require(&judged)), "ESTALE");
    let link = site("/srv/app/link");
    link.make_link("x", false).unwrap();
    link.hold().unwrap().require_link("x").unwrap();
    assert_eq!(name(link.hold().unwrap().require_link("y")), "EEXIST");
    assert_eq!(name(other.require_link("x")), "EEXIST");
}

#[test]
fn sites_refuse_links_that_appeared_after_the_check() {
    let tree = Tree::new();
    std::fs::rename(tree.inside("etc"), tree.inside("old")).unwrap();
    symlink("/old", tree.inside("etc")).unwrap();
    assert_eq!(tree.write("/etc/file", "x").unwrap_err().error().name(), "ELOOP");
    // A link at the end is replaced, never followed.
    symlink("/old/target", tree.inside("old/link")).unwrap();
    std::fs::write(tree.inside("old/target"), "as it was").unwrap();
    tree.write("/old/link", "new").unwrap();
    assert_eq!(std::fs::read_to_string(tree.inside("old/target")).unwrap(), "as it was");
    assert_eq!(std::fs::read_to_string(tree.inside("old/link")).unwrap(), "new");
    symlink("/old/target", tree.inside("old/again")).unwrap();
    let again = tree.site("/old/again").unwrap();
    let refused = again.hold().unwrap().set_mode(ModeBits::plain(0o777)).unwrap_err();
    assert_eq!(refused.error().name(), "EOPNOTSUPP");
    again.hold().unwrap().set_times(Some((1, -5))).unwrap();
    assert_ne!(std::fs::metadata(tree.inside("old/target")).unwrap().mtime(), -5);
    assert_eq!(std::fs::symlink_metadata(tree.inside("old/again")).unwrap().mtime(), -5);
}

#[test]
fn content_is_replaced_in_one_step_and_dressed() {
    let tree = Tree::new();
    tree.write("/etc/file", "one").unwrap();
    let mode = || std::fs::metadata(tree.inside("etc/file")).unwrap().permissions().mode() & 0o7777;
    assert_eq!(mode(), 0o600);
    let (old, before) = tree.root.open_unlinked("/etc/file").unwrap();
    let new_attributes =
        NewFileAttributes { mode: Some(ModeBits::plain(0o4755)), old: Some(old), ..NewFileAttributes::default() };
    tree.site("/etc/file").unwrap().write(b"two", ModeBits::plain(0o600), &new_attributes).unwrap();
    assert_eq!(mode(), 0o755, "plain bits never set an id");
    let (_, after) = tree.root.open_unlinked("/etc/file").unwrap();
    assert_ne!(before.identity, after.identity);
    let staged = tree.site("/etc/file").unwrap().stage(ModeBits::plain(0o600)).unwrap();
    assert!(staged.path().starts_with("/etc/.chef-file-"), "{}", staged.path());
    drop(staged);
    assert_eq!(std::fs::read_dir(tree.inside("etc")).unwrap().count(), 1, "leftovers");
    let in_place = NewFileAttributes { in_place: Some(true), ..NewFileAttributes::default() };
    let mut staged = tree.site("/etc/file").unwrap().stage(ModeBits::plain(0o600)).unwrap();
    staged.write(b"3").unwrap();
    staged.pour(&in_place).unwrap();
    assert_eq!(tree.root.read("/etc/file").unwrap(), b"3");
    assert_eq!(tree.root.entry("/etc/file").unwrap().unwrap().identity, after.identity);
}

#[test]
fn a_new_file_takes_no_name_that_somebody_else_has_taken_meanwhile() {
    let tree = Tree::new();
    let publish = || {
        let staged = tree.site("/etc/file").unwrap().stage(ModeBits::plain(0o600)).unwrap();
        let is_there = staged.target_entry().is_ok();
        (is_there, staged.publish(&NewFileAttributes { is_new: true, ..NewFileAttributes::default() }))
    };
    assert_eq!(publish(), (false, Ok(())));
    std::fs::write(tree.inside("etc/file"), "theirs").unwrap();
    let (is_there, published) = publish();
    assert_eq!((is_there, published.unwrap_err().errno), (true, Errno::EXIST));
    assert_eq!(std::fs::read_to_string(tree.inside("etc/file")).unwrap(), "theirs");
    assert_eq!(std::fs::read_dir(tree.inside("etc")).unwrap().count(), 1, "the staged file is gone");
}

#[test]
fn what_a_killed_process_was_writing_goes_with_the_next_file() {
    let tree = Tree::new();
    let stage = || tree.site("/etc/file.conf").unwrap().stage(ModeBits::plain(0o600)).unwrap();
    let listed = || {
        let entries = std::fs::read_dir(tree.inside("etc")).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    };
    // The end of a process closes its files and removes none.
    std::fs::write(tree.inside("etc/.chef-file-wrun-0.conf"), "half").unwrap();
    let first = stage();
    assert_eq!(first.path(), "/etc/.chef-file-wrun-0.conf");
    assert_eq!(std::fs::read(tree.inside(&first.path())).unwrap(), b"", "the old half is gone");
    let second = stage();
    assert_eq!(second.path(), "/etc/.chef-file-wrun-1.conf", "what is being written is left alone");
    drop(first);
    second.publish(&NewFileAttributes::default()).unwrap();
    assert_eq!(listed(), ["file.conf"]);
    // Things of other kinds are not leftovers, and are in nobody's way.
    symlink("/etc/file.conf", tree.inside("etc/.chef-file-wrun-0.conf")).unwrap();
    std::fs::create_dir(tree.inside("etc/.chef-file-wrun-1.conf")).unwrap();
    std::fs::write(tree.inside("kept"), "kept").unwrap();
    std::fs::hard_link(tree.inside("kept"), tree.inside("etc/.chef-file-wrun-2.conf")).unwrap();
    assert_eq!(stage().path(), "/etc/.chef-file-wrun-3.conf");
    for number in 3..8 {
        std::fs::create_dir(tree.inside(&format!("etc/.chef-file-wrun-{number}.conf"))).unwrap();
    }
    let own = stage();
    assert!(own.path().starts_with(&format!("/etc/.chef-file-{}-", std::process::id())), "{}", own.path());
    drop(own);
    assert_eq!(std::fs::read(tree.inside("kept")).unwrap(), b"kept");
    assert_eq!(listed().len(), 9, "{:?}", listed());
}

#[test]
fn extended_attributes_are_kept() {
    let tree = Tree::new();
    tree.write("/etc/file", "one").unwrap();
    let (old, _) = tree.root.open_unlinked("/etc/file").unwrap();
    let flags = rustix::fs::XattrFlags::empty();
    if rustix::fs::fsetxattr(&old, "user.label", b"kept", flags).is_err() {
        return; // This file system has none.
    }
    let new_attributes = NewFileAttributes { old: Some(old), ..NewFileAttributes::default() };
    tree.site("/etc/file").unwrap().write(b"two", ModeBits::plain(0o600), &new_attributes).unwrap();
    let (new, _) = tree.root.open_unlinked("/etc/file").unwrap();
    let mut value = [0; 16];
    let length = rustix::fs::fgetxattr(&new, "user.label", &mut value).unwrap();
    assert_eq!(&value[..length], b"kept");
}

#[test]
fn trees_are_removed_without_leaving_them() {
    let tree = Tree::new();
    std::fs::create_dir_all(tree.inside("data/deep/er")).unwrap();
    std::fs::write(tree.inside("data/deep/er/file"), "x").unwrap();
    symlink(tree.folder.path().join("outside"), tree.inside("data/deep/out")).unwrap();
    symlink("/etc", tree.inside("data/etc")).unwrap();
    let place = tree.root.locate("/data").unwrap();
    let below: Vec<String> = place.descendants().unwrap().into_iter().map(|(path, _)| path).collect();
    assert_eq!(below, ["/data/deep/er/file", "/data/deep/er", "/data/deep/out", "/data/deep", "/data/etc"]);
    let granted = tree.grants.manage_tree("/data").unwrap();
    tree.root.tree_site(&granted).unwrap().remove().unwrap();
    assert!(!tree.inside("data").exists());
    assert!(tree.inside("etc").exists());
    assert!(tree.folder.path().join("outside/secret").exists());
}

#[test]
fn own_directories_need_no_proof_and_others_do() {
    let tree = Tree::new();
    let own = Root::open_own(&tree.folder.path().join("own/backups"), &Account::unmetered("test")).unwrap();
    own.own_site("/etc/a/file").unwrap().write(b"x", ModeBits::plain(0o600), &NewFileAttributes::default()).unwrap();
    own.own_site("/etc/a/other").unwrap().write(b"x", ModeBits::plain(0o600), &NewFileAttributes::default()).unwrap();
    assert_eq!(own.read("/etc/a/file").unwrap(), b"x");
    let mode = std::fs::metadata(tree.folder.path().join("own/backups/etc")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    assert_eq!(tree.root.own_site("/etc/file").unwrap_err().error().name(), "EPERM");
}

/// Someone who owns a directory swaps it for a link while effects happen below it.
#[test]
fn a_directory_swapped_for_a_link_leads_nowhere() {
    let tree = Tree::new();
    std::fs::create_dir_all(tree.inside("srv/app")).unwrap();
    let victim = tree.folder.path().join("outside");
    let (app, aside) = (tree.inside("srv/app"), tree.inside("srv/aside"));
    let stop = Arc::new(AtomicBool::new(false));
    let swapper = std::thread::spawn({
        let (stop, victim) = (Arc::clone(&stop), victim.clone());
        move || {
            let mut swaps = 0u32;
            while !stop.load(Ordering::Relaxed) {
                if std::fs::rename(&app, &aside).is_ok() {
                    let _ = symlink(&victim, &app);
                    std::thread::yield_now();
                    let _ = std::fs::remove_file(&app);
                    let _ = std::fs::rename(&aside, &app);
                    swaps += 1;
                }
            }
            swaps
        }
    });
    let (mut done, mut refused) = (0u32, 0u32);
    let begun = std::time::Instant::now();
    let seconds = |seconds| std::time::Duration::from_secs(seconds);
    let enough = |done: u32, refused: u32| match begun.elapsed() {
        short if short < seconds(3) => done.min(refused) >= 50,
        long => refused > 0 || long > seconds(900),
    };
    while !enough(done, refused) {
        let attempt = || -> Result<(), Fault> {
            tree.write("/srv/app/secret", "mine")?;
            tree.site("/srv/app/secret")?.hold()?.set_mode(ModeBits::plain(0o777))?;
            tree.site("/srv/app/dir")?.make_directory(ModeBits::plain(0o700))?;
            tree.site("/srv/app/secret")?.remove_file()?;
            tree.site("/srv/app/dir")?.remove_directory()
        };
        match attempt() {
            Ok(()) => done += 1,
            Err(_) => refused += 1,
        }
    }
    stop.store(true, Ordering::Relaxed);
    let swaps = swapper.join().unwrap();
    assert!(swaps > 0 && refused > 0, "{swaps} swaps, {done} done, {refused} refused");
    let left: Vec<_> = std::fs::read_dir(&victim).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["secret"], "nothing outside changes");
    let secret = std::fs::metadata(victim.join("secret")).unwrap();
    assert_eq!(std::fs::read_to_string(victim.join("secret")).unwrap(), "outside");
    assert_ne!(secret.permissions().mode() & 0o777, 0o777);
}

/// A policy that may mount at a path and change what leads there would choose where root mounts at the next start.
#[test]
fn what_is_mounted_at_the_next_start_stays_where_it_is() {
    let tree = Tree::new();
    for folder in ["srv/a/data", "srv/a/m", "srv/a/free"] {
        std::fs::create_dir_all(tree.inside(folder)).unwrap();
    }
    std::fs::write(
        tree.inside("etc/fstab"),
        "/srv/a/data /srv/a/m none bind 0 0\n/srv/a/img /srv/a/late/m ext4 loop 0 0\n",
    )
    .unwrap();
    std::fs::write(tree.inside("srv/a/img"), "").unwrap();
    let whole = |path: &str| tree.root.tree_site(&tree.grants.manage_tree(path).unwrap()).unwrap();
    let refused = |done: Result<(), Fault>| {
        let raised = contract::Raised::from(done.unwrap_err());
        assert_eq!(raised.kind, contract::SystemError::Busy.into());
        assert!(raised.hint.unwrap().starts_with("/etc/fstab names it"));
    };
    for path in ["/srv/a/m", "/srv/a/data"] {
        refused(tree.site(path).unwrap().remove_directory());
        refused(whole(path).remove());
        refused(tree.site(path).unwrap().rename(&tree.site("/srv/a/other").unwrap()));
        refused(whole(path).rename(&whole("/srv/a/other")));
        refused(whole(path).rename_to_free(&tree.site("/srv/a/other").unwrap()));
    }
    refused(whole("/srv/a").remove());
    // A swap file goes before its line does. What is there then is a file, and no link.
    tree.site("/srv/a/img").unwrap().remove_file().unwrap();
    refused(tree.site("/srv/a/img").unwrap().make_link("/dev/sda", false));
    std::fs::write(tree.inside("srv/a/img"), "").unwrap();
    // What is not there yet does not become a link, and nothing takes its place by another name.
    refused(tree.site("/srv/a/late").unwrap().make_link("/etc", false));
    refused(tree.site("/srv/a/img").unwrap().make_link("/dev/sda", true));
    refused(whole("/srv/a/free").rename(&whole("/srv/a/late")));
    // All else is as ever, and so is this once its line is gone.
    tree.site("/srv/a/free").unwrap().remove_directory().unwrap();
    std::fs::write(tree.inside("etc/fstab"), "# /srv/a/data /srv/a/m none bind 0 0\n").unwrap();
    tree.site("/srv/a/m").unwrap().remove_directory().unwrap();
    tree.site("/srv/a/m").unwrap().make_link("/etc", false).unwrap();
}

/// The policy's limit ends the writing in the middle: what stood for the old content must not stand for the new one.
#[test]
fn attack_a_pour_that_ends_early_leaves_no_set_id_bits() {
    for (uid, owner) in [(None, 0), (Some(1001), 1001)] {
        let mut tree = Tree::new();
        let limits = contract::AccountLimits { disk: 300 << 10, ..contract::AccountLimits::default() };
        let account = Account::new("test", limits, contract::Meters::default());
        tree.root = Root::open(&tree.inside(""), &account).unwrap();
        let path = tree.inside("etc/helper");
        std::fs::write(&path, "old").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o6774)).unwrap();
        let mut staged = tree.site("/etc/helper").unwrap().stage(ModeBits::plain(0o600)).unwrap();
        staged.write(&vec![b'x'; 200 << 10]).unwrap();
        let mode = Some(ModeBits::plain(0o755));
        let in_place = NewFileAttributes { mode, uid, in_place: Some(true), ..NewFileAttributes::default() };
        staged.pour(&in_place).unwrap_err();
        let now = std::fs::metadata(&path).unwrap();
        assert!(now.len() > 0 && now.len() < 200 << 10, "{}", now.len());
        // Bits that the file will not have are gone, and none are added before it is whole.
        assert_eq!((now.mode() & 0o7777, now.uid()), (0o754, owner));
    }
}

#[test]
fn attack_what_is_mounted_below_a_folder_at_the_next_start_is_known() {
    let tree = Tree::new();
    assert!(!tree.root.mounts_at_boot_below("/srv/app").unwrap(), "without a table nothing is named");
    tree.write("/etc/fstab", "/srv/own /srv/app/co/data none bind 0 0\n").unwrap();
    for (folder, expect) in [("/srv/app/co", true), ("/srv", true), ("/srv/app/co/data", false), ("/srv/ap", false)] {
        assert_eq!(tree.root.mounts_at_boot_below(folder).unwrap(), expect, "{folder}");
    }
}
