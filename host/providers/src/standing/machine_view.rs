//! Fills the view of a machine that the crate `grants` judges entries with.

mod at_path;
mod private;
mod queries;

use super::administrators::Administrators;
use super::{elevated_numbers, is_home, is_named_elevated, places_of, run_by_root};
use contract::MachineUser;
use grants::MachineView;
use machine::root::Root;
use machine::users::Users;
use queries::Queries;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

/// Returns the accounts of a root that are as powerful as root itself, the files that root runs by itself, and what is there.
/// The crate `grants` warns operators about entries with such accounts and files, about commands that reach a policy's own files
/// by a link, and about what is not new.
pub fn machine_view(root: &Path) -> MachineView {
    let Ok(root) = Root::open(root, &contract::Account::unmetered("wrun")) else {
        return MachineView::new(Arc::new(Queries::of_unknown_machine()));
    };
    let mut users = Users::default();
    users.refresh(&root);
    let administrators = Administrators::read(&root);
    let elevated = elevated_numbers(&mut users, &administrators);
    let mut elevated_users = elevated_users(&mut users, &elevated, &administrators);
    let elevated_groups = || users.groups().iter().filter(|group| elevated.contains(&group.gid));
    // Accounts that are named but do not exist yet have this power once they are created. So does a user whose own group is
    // created with it.
    elevated_users.extend(elevated_groups().flat_map(|group| group.members.iter().cloned()));
    elevated_users.extend(administrators.users().map(str::to_owned));
    let is_missing = |name: &&str| users.groups().iter().all(|group| group.name != *name);
    elevated_users.extend(administrators.groups().filter(is_missing).map(str::to_owned));
    let named_groups = administrators.groups().map(str::to_owned);
    let groups = elevated_groups().map(|group| group.name.clone()).chain(named_groups).collect();
    let places = places_of(&administrators, &root);
    let run_by_root = run_by_root::read(&root, &administrators, &elevated_users);
    let homes = users.users().iter().map(|user| (user.name.clone(), home_of(&user.home))).collect();
    let logins = users.users().iter().filter(|user| can_log_in(user)).map(|user| user.name.clone()).collect();
    let mut view = MachineView::new(Arc::new(Queries::new(root, users)));
    (view.users, view.groups, view.places) = (elevated_users, groups, places);
    (view.run_by_root, view.runs_more_by_root) = (run_by_root.found, run_by_root.is_cut);
    (view.homes, view.logins) = (homes, logins);
    view
}

/// Returns the users in the root's file who are as powerful as root.
fn elevated_users(users: &mut Users, elevated: &BTreeSet<u32>, administrators: &Administrators) -> BTreeSet<String> {
    let all: Vec<(String, u32, u32)> =
        users.users().iter().map(|user| (user.name.clone(), user.uid, user.gid)).collect();
    let mut found = BTreeSet::new();
    for (name, uid, gid) in all {
        let is_member = |gid: &u32, users: &mut Users| {
            elevated.contains(gid)
                || administrators.names_group_number(*gid)
                || is_named_elevated(*gid, users, administrators)
        };
        let is_elevated = uid == 0
            || administrators.names_user(&name, Some(uid))
            || users.group_numbers(&name, Some(gid)).iter().any(|gid| is_member(gid, users));
        if is_elevated {
            found.insert(name);
        }
    }
    found
}

/// Returns a home without slashes at its end. The root directory is nobody's home.
fn home_of(written: &str) -> String {
    let home = written.trim_end_matches('/');
    if home.starts_with('/') { home.to_owned() } else { "/nonexistent".to_owned() }
}

/// Tells whether a user has a home and a shell to log in with.
fn can_log_in(user: &MachineUser) -> bool {
    is_home(&user.home, &user.shell)
}

#[cfg(test)]
mod tests {
    use super::*;
    use contract::MachineGroup;

    #[test]
    fn accounts_as_good_as_root_are_found_on_the_machine() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("etc")).unwrap();
        for (path, text) in [
            (
                "etc/passwd",
                "root:x:0:0::/root:/bin/sh\nops:x:1000:1000::/home/ops:/bin/sh\nada:x:1001:1001::/:/bin/sh\n\
                 bob:x:1002:27::/:/bin/sh\neve:x:1003:1003::/:/bin/sh\n",
            ),
            ("etc/group", "root:x:0:\nsudo:x:27:ada\nteam:x:1100:\nplain:x:1003:eve\n"),
            ("etc/sudoers", "root ALL=(ALL) ALL\nops ALL=(ALL) ALL\n%team ALL=(ALL) ALL\n"),
        ] {
            std::fs::write(folder.path().join(path), text).unwrap();
        }
        let found = machine_view(folder.path());
        assert_eq!(Vec::from_iter(found.users), ["ada", "bob", "ops", "root"]);
        assert_eq!(Vec::from_iter(found.groups), ["root", "sudo", "team"]);
    }

    /// A directory of the company has the group: `/etc/group` lacks it, and sudo asks the name service.
    #[test]
    fn attack_members_of_groups_of_another_source_are_as_good_as_root() {
        use contract::MachineUser;
        use machine::users::NameService;

        fn groups() -> Vec<MachineGroup> {
            let group = |name: &str, gid, members: &[&str]| MachineGroup {
                name: name.into(),
                gid,
                members: members.iter().map(|member| (*member).to_owned()).collect(),
            };
            vec![group("ops", 10_700, &["bob"]), group("chiefs", 10_800, &[])]
        }
        let none: fn(&str) -> Option<MachineUser> = |_| None;
        let service = NameService {
            user: none,
            user_by_id: |_| None,
            group: |name| groups().into_iter().find(|group| group.name == name),
            group_by_id: |gid| groups().into_iter().find(|group| group.gid == gid),
            groups_of: |name, gid| {
                let named = groups().into_iter().filter(|group| group.members.iter().any(|member| member == name));
                named.map(|group| group.gid).chain([gid]).collect()
            },
        };
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("etc")).unwrap();
        for (path, text) in [
            (
                "etc/passwd",
                "root:x:0:0::/root:/bin/sh\nbob:x:1001:1001::/:/bin/sh\ncarl:x:1002:10800::/:/bin/sh\n\
                 ann:x:1003:1003::/:/bin/sh\n",
            ),
            ("etc/group", "root:x:0:\n"),
            ("etc/sudoers", "%ops ALL=(ALL) ALL\n%#10800 ALL=(ALL) ALL\n"),
        ] {
            std::fs::write(folder.path().join(path), text).unwrap();
        }
        let root = Root::open(folder.path(), &contract::Account::unmetered("test")).unwrap();
        let mut users = Users::default();
        users.refresh(&root);
        let mut users = users.with_name_service(service);
        let administrators = Administrators::read(&root);
        let elevated = elevated_numbers(&mut users, &administrators);
        assert!(elevated.contains(&10_700), "{elevated:?}");
        let found = elevated_users(&mut users, &elevated, &administrators);
        assert_eq!(Vec::from_iter(found), ["bob", "carl", "root"]);
        assert_eq!(Vec::from_iter(users.group_numbers("bob", Some(1001))), [1001, 10_700]);
        assert_eq!(Vec::from_iter(users.group_numbers("nobody-yet", None)), [0_u32; 0]);
    }

    #[test]
    fn accounts_that_are_named_and_missing_are_as_good_as_root() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("etc/polkit-1/rules.d")).unwrap();
        for (path, text) in [
            ("etc/passwd", "root:x:0:0::/root:/bin/sh\n"),
            ("etc/group", "root:x:0:\nsudo:x:27:gone\nteam:x:1100:\n"),
            ("etc/sudoers", "%admin ALL=(ALL) ALL\n%team ALL=ALL\nann ALL=ALL\n#3333 ALL=ALL\n"),
            ("etc/polkit-1/rules.d/1.rules", "polkit.addAdminRule(() => ['unix-group:netops'])\n"),
        ] {
            std::fs::write(folder.path().join(path), text).unwrap();
        }
        let found = machine_view(folder.path());
        // There is a group of the name `team`, so that no user gets a new one.
        assert_eq!(Vec::from_iter(found.users), ["admin", "ann", "gone", "netops", "root"]);
        assert_eq!(Vec::from_iter(found.groups), ["admin", "netops", "root", "sudo", "team"]);
    }
}
