//! Access lists, which outlive what they were made for.

use super::file::file;
use super::support::{Asked, Machine, resource};
use rustix::fs::{XattrFlags, getxattr, setxattr};
use serde_json::json;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::Path;

const ACCESS: &str = "system.posix_acl_access";
const DEFAULT: &str = "system.posix_acl_default";

fn set_list(path: &Path, name: &str, list: &[u8]) {
    setxattr(path, name, list, XattrFlags::empty()).unwrap();
}

fn has_list(path: &Path, name: &str) -> bool {
    getxattr(path, name, &mut [0_u8; 64][..]).is_ok()
}

fn directory(path: &str, properties: serde_json::Value) -> Asked {
    resource("directory", path, "create", properties)
}

/// An access list by which the user 1001 may read and write.
const LIST: [u8; 44] = [
    2, 0, 0, 0, // version
    1, 0, 6, 0, 255, 255, 255, 255, // the owner
    2, 0, 6, 0, 0xe9, 3, 0, 0, // 1001
    4, 0, 4, 0, 255, 255, 255, 255, // the group
    16, 0, 6, 0, 255, 255, 255, 255, // the mask
    32, 0, 0, 0, 255, 255, 255, 255, // others
];

#[test]
fn attack_an_access_list_goes_with_the_owner_who_made_it() {
    let mut machine = Machine::open();
    let mut kept = |owner: u32| {
        let path = machine.at("/etc/key");
        std::fs::write(&path, "old\n").unwrap();
        chown(&path, Some(owner), Some(0)).unwrap();
        set_list(&path, ACCESS, &LIST);
        let properties = json!({ "content": "new\n", "owner": 0, "group": 0, "mode": "0660" });
        machine.run(&file("/etc/key", "create", properties)).unwrap();
        let is_there = has_list(&path, ACCESS);
        std::fs::remove_file(path).unwrap();
        is_there
    };
    assert!(kept(0), "root's own list is kept");
    assert!(!kept(1001));
}

#[test]
fn attack_a_directory_that_becomes_roots_passes_no_list_of_its_owners_on() {
    let mut machine = Machine::open();
    let folder = machine.at("/srv/app");
    let mut make = |owner: u32| {
        std::fs::create_dir(&folder).unwrap();
        std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o750)).unwrap();
        set_list(&folder, DEFAULT, &LIST);
        set_list(&folder, ACCESS, &LIST);
        chown(&folder, Some(owner), Some(0)).unwrap();
        machine.run(&directory("/srv/app", json!({ "owner": 0, "group": 0 }))).unwrap();
        machine.run(&file("/srv/app/key", "create", json!({ "content": "x", "mode": "0640" }))).unwrap();
        let lists = [has_list(&folder, ACCESS), has_list(&folder, DEFAULT), has_list(&folder.join("key"), ACCESS)];
        let mode = machine.mode("/srv/app");
        std::fs::remove_dir_all(&folder).unwrap();
        (lists, mode)
    };
    assert_eq!(make(0).0, [true; 3], "root's own lists count");
    // What the list gave to others at most is not what it gave to the group.
    assert_eq!(make(1001), ([false; 3], 0o640));
}

#[test]
fn attack_a_file_in_anothers_folder_is_not_opened_by_their_list() {
    let mut machine = Machine::open();
    let folder = machine.at("/srv/app");
    std::fs::create_dir(&folder).unwrap();
    set_list(&folder, DEFAULT, &LIST);
    chown(&folder, Some(1001), Some(1002)).unwrap();
    machine.run(&file("/srv/app/key", "create", json!({ "content": "x", "owner": 0, "mode": "0640" }))).unwrap();
    machine.run(&directory("/srv/app/private", json!({ "mode": "0750" }))).unwrap();
    machine.run(&directory("/srv/app/a/b", json!({ "recursive": true }))).unwrap();
    machine.run(&file("/srv/app/a/b/key", "create", json!({ "content": "x", "mode": "0640" }))).unwrap();
    for name in ["key", "private", "a", "a/b", "a/b/key"] {
        assert!(!has_list(&folder.join(name), ACCESS) && !has_list(&folder.join(name), DEFAULT), "{name}");
    }
    assert_eq!(machine.mode("/srv/app/private"), 0o750);
    // What is to be theirs is opened as they like.
    machine.run(&file("/srv/app/own", "create", json!({ "content": "x", "owner": 1001, "mode": "0640" }))).unwrap();
    machine.run(&directory("/srv/app/more", json!({ "owner": 1001 }))).unwrap();
    assert!(has_list(&folder.join("own"), ACCESS) && has_list(&folder.join("more"), DEFAULT));
}

/// The bits of the group are the most that a list can give.
#[test]
fn attack_a_mode_does_not_give_what_may_not_be_read_to_those_whom_a_list_names() {
    let mut machine = Machine::granted("paths = [\"/srv/**\"]\ndeny_read_paths = [\"/srv/key\"]");
    let mut masked = LIST;
    masked[30] = 0;
    for (path, denied) in [("/srv/key", true), ("/srv/other", false)] {
        machine.write(path, "old");
        set_list(&machine.at(path), ACCESS, &masked);
        assert_eq!(machine.mode(path), 0o600);
        let asked = file(path, "create", json!({ "mode": "0640" }));
        if denied {
            machine.denies(&asked);
            assert_eq!(machine.mode(path), 0o600);
        } else {
            machine.run(&asked).unwrap();
        }
    }
}

#[test]
fn attack_a_mode_does_not_give_a_folder_with_all_that_is_in_it_to_those_whom_a_list_names() {
    let mut machine = Machine::granted("paths = [\"/srv/folder\"]");
    let folder = machine.at("/srv/folder");
    std::fs::create_dir(&folder).unwrap();
    machine.write("/srv/folder/theirs", "x");
    let mut masked = LIST;
    masked[30] = 0;
    set_list(&folder, ACCESS, &masked);
    let asked = directory("/srv/folder", json!({ "mode": "0770", "group": 0 }));
    machine.denies(&asked);
    std::fs::remove_file(machine.at("/srv/folder/theirs")).unwrap();
    machine.run(&asked).unwrap();
}
