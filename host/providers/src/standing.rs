//! The standing of accounts on this machine: whether they are as powerful as root, system accounts, or ordinary.
//!
//! A fixed list of names cannot know which users the administrators of this machine put into `sudo`. So the root's own files
//! are read each time, since policies change them. If a file cannot be read, the worse case is assumed.

mod administrators;
mod machine_view;
mod ranges;
mod run_by_root;

use crate::plan::View;
use administrators::Administrators;
use contract::MachineGroup;
use grants::Standing;
use machine::root::Root;
use machine::users::Users;
pub use machine_view::machine_view;
use ranges::Ranges;
use std::collections::BTreeSet;

/// Default first and last id of ordinary accounts, unless the login tools' configuration sets others.
const FIRST_ORDINARY: u32 = 1000;
const LAST_ORDINARY: u32 = 60_000;

/// The numeric id of `nobody`, which counts as a system account.
const NOBODY: u32 = 65534;

/// The planned state of an account. A new account has its rights at once, so they are checked before it is created.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Future<'a> {
    /// The planned id. `None`: the present one, or the next free one.
    pub(crate) number: Option<u32>,
    /// The planned primary group of a user, by name or id. `None`: the present one, or a new group with the user's name.
    pub(crate) group: Option<&'a str>,
}

/// Returns the standing of a user, or the one that it would have if it were created.
pub(crate) fn of_user(name: &str, view: &mut View<'_>) -> Standing {
    of_future_user(name, Future::default(), view)
}

/// Returns the standing of a user that is created or changed as planned.
pub(crate) fn of_future_user(name: &str, future: Future<'_>, view: &mut View<'_>) -> Standing {
    if view.grants.allows_everything() {
        return Standing::Ordinary;
    }
    let root = view.root;
    let administrators = Administrators::read(root);
    let (first, last) = (first_ordinary(root, "UID_MIN"), ordinary(root, "UID_MAX", LAST_ORDINARY));
    let group_numbers = (first_ordinary(root, "GID_MIN"), ordinary(root, "GID_MAX", LAST_ORDINARY));
    let (user_ranges, group_ranges) = (Ranges::read(root, ranges::USERS), Ranges::read(root, ranges::GROUPS));
    let users = view.users();
    let elevated = elevated_numbers(users, &administrators);
    let is_elevated_name = |name: &str| is_elevated_group_name(name, &administrators);
    let is_elevated_number = |gid: &u32| elevated.contains(gid) || administrators.names_group_number(*gid);
    let now = users.user(name).map(|user| (user.uid, user.gid));
    let is_new = now.is_none();
    let has_own_group = is_new && future.group.is_none();
    let new_uid = future.number.filter(|number| now.is_none_or(|(uid, _)| uid != *number));
    let next_uid = next_number(users.users().iter().map(|user| user.uid), (first, last));
    let next_gid = next_number(users.groups().iter().map(|group| group.gid), group_numbers);
    let uids = [now.map(|(uid, _)| uid), new_uid, next_uid.filter(|_| is_new && new_uid.is_none())];
    let mut gids = users.group_numbers(name, now.map(|(_, gid)| gid));
    if has_own_group {
        // `useradd` gives the group the user's id if that is free.
        gids.extend(new_uid.or(next_uid).into_iter().chain(next_gid));
    }
    let wanted = future.group.map(str::trim).filter(|group| group.parse::<u32>().is_err());
    gids.extend(future.group.and_then(|group| group.trim().parse::<u32>().ok()));
    gids.extend(wanted.and_then(|group| users.group(group)).map(|group| group.gid));
    // If the tools must search for a free id, the result cannot be predicted.
    let is_unforeseen = is_new
        && administrators.names_numbers()
        && ((new_uid.is_none() && next_uid.is_none()) || (has_own_group && next_gid.is_none()));
    let is_elevated_elsewhere = gids.iter().any(|gid| is_named_elevated(*gid, users, &administrators));
    let is_elevated = uids.iter().flatten().any(|uid| *uid == 0 || administrators.names_user_number(*uid))
        || administrators.names_user(name, None)
        || gids.iter().any(is_elevated_number)
        || is_elevated_elsewhere
        || wanted.is_some_and(is_elevated_name)
        || (has_own_group && is_elevated_name(name))
        || is_unforeseen;
    let is_system = |uid: &u32| *uid < first || *uid == NOBODY;
    let is_others =
        new_uid.is_some_and(|uid| user_ranges.hold(uid, name) || (has_own_group && group_ranges.hold(uid, name)));
    if is_elevated {
        Standing::Elevated
    } else if is_others || uids.iter().flatten().any(is_system) {
        Standing::System
    } else {
        Standing::Ordinary
    }
}

/// Returns the standing of a group, or the one that it would have if it were created.
pub(crate) fn of_group(name: &str, view: &mut View<'_>) -> Standing {
    of_future_group(name, None, view)
}

/// Returns the standing of a group that is created with this id or gets it.
pub(crate) fn of_future_group(name: &str, number: Option<u32>, view: &mut View<'_>) -> Standing {
    if view.grants.allows_everything() {
        return Standing::Ordinary;
    }
    let root = view.root;
    let administrators = Administrators::read(root);
    let (first, last) = (first_ordinary(root, "GID_MIN"), ordinary(root, "GID_MAX", LAST_ORDINARY));
    let ranges = Ranges::read(root, ranges::GROUPS);
    let users = view.users();
    let elevated = elevated_numbers(users, &administrators);
    let now = users.group(name).map(|group| group.gid);
    let new = number.filter(|number| now != Some(*number));
    let is_free = now.is_none() && new.is_none();
    let next = next_number(users.groups().iter().map(|group| group.gid), (first, last));
    let gids = [now, new, next.filter(|_| is_free)];
    let is_elevated =
        gids.iter().flatten().any(|gid| elevated.contains(gid) || administrators.names_group_number(*gid))
            || Standing::by_name_of_group(name) == Standing::Elevated
            || administrators.names_group(name)
            || (is_free && next.is_none() && administrators.names_numbers());
    let is_system = |gid: &u32| *gid < first || *gid == NOBODY;
    if is_elevated {
        Standing::Elevated
    } else if new.is_some_and(|gid| ranges.hold(gid, name)) || gids.iter().flatten().any(is_system) {
        Standing::System
    } else {
        Standing::Ordinary
    }
}

/// Returns the id that the tools give to the next account. Returns `None` if the last id is in use, because the tools then
/// search for a free one.
fn next_number(taken: impl Iterator<Item = u32>, (first, last): (u32, u32)) -> Option<u32> {
    let highest = taken.filter(|number| (first..=last).contains(number)).max();
    highest.map_or(Some(first), |highest| highest.checked_add(1)).filter(|next| *next <= last)
}

/// Returns the present holders of a user id, each with its standing: the user with this id, users whose containers use it,
/// and root if the administrators' files name the id.
pub(crate) fn holders_of_user_number(uid: u32, makes_group: bool, view: &mut View<'_>) -> Vec<(String, Standing)> {
    let mut names: Vec<String> = view.users().user_by_id(uid).map(|holder| holder.name.clone()).into_iter().collect();
    if !view.grants.allows_everything() {
        names.extend(owners_of_range(ranges::USERS, uid, view));
        let administrators = Administrators::read(view.root);
        if administrators.names_user_number(uid) || (makes_group && administrators.names_group_number(uid)) {
            names.push("root".into());
        }
    }
    with_standing(names, view)
}

/// Returns the users whose containers use a group id, each with its standing.
pub(crate) fn owners_of_group_number(gid: u32, view: &mut View<'_>) -> Vec<(String, Standing)> {
    if view.grants.allows_everything() {
        return vec![];
    }
    let names = owners_of_range(ranges::GROUPS, gid, view);
    with_standing(names, view)
}

/// Tells whether the administrators' files name a group by this id.
pub(crate) fn is_elevated_group_number(gid: u32, view: &View<'_>) -> bool {
    !view.grants.allows_everything() && Administrators::read(view.root).names_group_number(gid)
}

fn owners_of_range(file: &str, number: u32, view: &mut View<'_>) -> Vec<String> {
    let ranges = Ranges::read(view.root, file);
    let users = view.users();
    let name = |owner: &str| {
        let by_number = owner.parse().ok().and_then(|uid| users.user_by_id(uid));
        by_number.map_or_else(|| owner.to_owned(), |user| user.name.clone())
    };
    ranges.owners(number).map(name).collect()
}

fn with_standing(names: Vec<String>, view: &mut View<'_>) -> Vec<(String, Standing)> {
    names
        .into_iter()
        .map(|name| {
            let standing = of_user(&name, view);
            (name, standing)
        })
        .collect()
}

/// Returns the ids of all groups that are as powerful as root. A second name of such a group has the same power. The
/// administrators' files may also name groups from a directory service that the root's file lacks.
fn elevated_numbers(users: &mut Users, administrators: &Administrators) -> BTreeSet<u32> {
    let is_elevated = |group: &&MachineGroup| {
        is_elevated_group_name(&group.name, administrators) || administrators.names_group_number(group.gid)
    };
    let mut all: BTreeSet<u32> = users.groups().iter().filter(is_elevated).map(|group| group.gid).chain([0]).collect();
    all.extend(administrators.groups().filter_map(|name| users.group(name).map(|group| group.gid)));
    all
}

fn is_elevated_group_name(name: &str, administrators: &Administrators) -> bool {
    Standing::by_name_of_group(name) == Standing::Elevated || administrators.names_group(name)
}

/// Tells whether the group with this id is as powerful as root by its name. The root's file may lack the group.
fn is_named_elevated(gid: u32, users: &mut Users, administrators: &Administrators) -> bool {
    users.group_by_id(gid).is_some_and(|group| is_elevated_group_name(&group.name, administrators))
}

/// Returns the names of the users and of the groups that are not the system's.
pub(crate) fn ordinary_names(view: &mut View<'_>) -> (Vec<String>, Vec<String>) {
    let first = (first_ordinary(view.root, "UID_MIN"), first_ordinary(view.root, "GID_MIN"));
    let users = view.users();
    let of_users = users.users().iter().filter(|user| user.uid >= first.0 && user.uid != NOBODY);
    let of_groups = users.groups().iter().filter(|group| group.gid >= first.1 && group.gid != NOBODY);
    (of_users.map(|user| user.name.clone()).collect(), of_groups.map(|group| group.name.clone()).collect())
}

fn first_ordinary(root: &Root, key: &str) -> u32 {
    ordinary(root, key, FIRST_ORDINARY)
}

/// Returns a number from the login tools' configuration.
fn ordinary(root: &Root, key: &str, otherwise: u32) -> u32 {
    let text = root.read("/etc/login.defs").unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let value = text.lines().find_map(|line| line.trim().strip_prefix(key)?.split_whitespace().next()?.parse().ok());
    value.unwrap_or(otherwise)
}

/// Returns the places of files and programs that the administrators' files name, as seen from inside the root: further rules of
/// sudo, and what PAM runs or includes. Whoever may change one of them decides who is as powerful as root. Each path is listed
/// as written and with links resolved.
pub fn places_of_administrators(root: &std::path::Path) -> Vec<String> {
    let Ok(root) = Root::open(root, &contract::Account::unmetered("wrun")) else { return vec![] };
    places_of(&Administrators::read(&root), &root).into_iter().collect()
}

fn places_of(administrators: &Administrators, root: &Root) -> BTreeSet<String> {
    let written = administrators.places().map(|place| place.trim_end_matches('/')).filter(|place| !place.is_empty());
    written.flat_map(|place| [place.to_owned(), root.asked_about(place)]).collect()
}

/// Returns the resolved homes of users who can log in, as seen from inside the root. The crate `grants` protects hidden names
/// there.
pub fn homes(root: &std::path::Path) -> Vec<String> {
    let Ok(root) = Root::open(root, &contract::Account::unmetered("wrun")) else { return vec![] };
    let mut users = Users::default();
    users.refresh(&root);
    let own = users.users().iter().filter(|user| is_home(&user.home, &user.shell));
    let mut homes: BTreeSet<String> = own.clone().map(|user| user.home.trim_end_matches('/').to_owned()).collect();
    homes.extend(own.filter_map(|user| Some(root.locate_target(&user.home).ok()?.real().to_owned())));
    homes.into_iter().collect()
}

/// Tells whether names in a user's home are protected: the user can log in, and the home is below a top directory. A top
/// directory does not belong to one user.
pub(crate) fn is_home(home: &str, shell: &str) -> bool {
    let can_log_in = !matches!(shell.rsplit('/').next(), Some("nologin" | "false" | "sync"));
    can_log_in && home.trim_matches('/').contains('/')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attack_places_that_administrators_name_are_known_as_written_and_resolved() {
        let folder = tempfile::tempdir().unwrap();
        for inner in ["etc/pam.d", "srv/real"] {
            std::fs::create_dir_all(folder.path().join(inner)).unwrap();
        }
        std::os::unix::fs::symlink("real", folder.path().join("srv/link")).unwrap();
        std::fs::write(folder.path().join("etc/pam.d/sshd"), "session optional pam_exec.so /srv/link/greet\n").unwrap();
        std::fs::write(folder.path().join("etc/sudoers"), "@includedir /srv/rules/\n").unwrap();
        let expect = ["/srv/link/greet", "/srv/real/greet", "/srv/rules"];
        assert_eq!(places_of_administrators(folder.path()), expect);
        assert_eq!(Vec::from_iter(machine_view(folder.path()).places), expect);
    }

    #[test]
    fn the_next_number_is_known_until_the_last_is_taken() {
        for (taken, expect) in [
            (&[][..], Some(1000)),
            (&[0, 999, 60_001], Some(1000)),
            (&[1000, 1007, 65_534], Some(1008)),
            (&[1000, 60_000], None),
        ] {
            assert_eq!(next_number(taken.iter().copied(), (1000, 60_000)), expect, "{taken:?}");
        }
    }
}
