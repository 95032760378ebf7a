//! The rights that a right to a user does not bring along: root's number, another group's membership, other directories.

use super::change::{Account, Wish, clean};
use crate::plan::{View, denied};
use contract::Raised;
use grants::GrantedUser;

/// Where `useradd` puts home directories unless its own configuration says otherwise.
const HOMES: &str = "/home";

/// Checks what is to be given to a user.
///
/// # Errors
/// The number, the group or the home directory is not granted.
pub(super) fn check(
    user: &GrantedUser,
    wish: &mut Wish,
    current: Option<&Account>,
    view: &mut View<'_>,
) -> Result<(), Raised> {
    if let Some(uid) = wish.uid.filter(|uid| current.is_none_or(|current| current.uid != Some(*uid))) {
        let holder = view.users().user_by_id(uid).map(|holder| holder.name.clone());
        view.grants.user_number(user, uid, holder.as_deref()).map_err(denied)?;
    }
    if let Some(gid) = wish.gid.clone() {
        let number = gid.parse::<u32>().ok();
        let has_it = number.is_some() && current.is_some_and(|current| current.gid == number);
        if !has_it {
            let name = number.and_then(|gid| view.users().group_by_id(gid).map(|group| group.name.clone()));
            let _granted = view.grants.membership(user, name.as_deref().unwrap_or(&gid)).map_err(denied)?;
        }
    }
    if !wish.manage_home {
        return Ok(());
    }
    let home = match (&wish.home, current) {
        (Some(home), Some(current)) if clean(home) == clean(&current.home) => return Ok(()),
        (Some(home), _) => home.clone(),
        (None, None) => default_home(wish, view),
        (None, Some(_)) => return Ok(()),
    };
    check_directory(user, &home, wish, view)?;
    // What is moved away is taken from where it was.
    match current {
        Some(current) => check_tree(&current.home, wish, view),
        None => Ok(()),
    }
}

/// Checks what goes with a user who is removed.
///
/// # Errors
/// The home directory may not be removed.
pub(super) fn check_removal(
    _user: &GrantedUser,
    wish: &Wish,
    current: Option<&Account>,
    view: &mut View<'_>,
) -> Result<(), Raised> {
    match current {
        Some(current) if wish.manage_home => check_tree(&current.home, wish, view),
        _ => Ok(()),
    }
}

/// A directory that is made, or given to the user. A user's own place among the homes is part of the user while nothing is
/// there.
fn check_directory(user: &GrantedUser, home: &str, wish: &Wish, view: &View<'_>) -> Result<(), Raised> {
    let real = real(home, view);
    let free = view.root.entry(&real).is_ok_and(|entry| entry.is_none());
    if free && clean(&real) == default_home(wish, view) {
        return Ok(());
    }
    view.grants.home(user, &real).map(drop).map_err(denied)
}

/// A directory that vanishes with all that is in it. A user's own place among the homes is part of the user.
fn check_tree(home: &str, wish: &Wish, view: &View<'_>) -> Result<(), Raised> {
    let real = real(home, view);
    let absent = view.root.entry(&real).is_ok_and(|entry| entry.is_none());
    if absent || clean(&real) == default_home(wish, view) {
        return Ok(());
    }
    view.grants.manage_tree(&real).map(drop).map_err(denied)
}

fn real(path: &str, view: &View<'_>) -> String {
    view.root.locate(path).map_or_else(|_| clean(path), |place| place.real().to_owned())
}

/// Where `useradd -m` makes the home directory if nobody says: `HOME=` in its configuration.
fn default_home(wish: &Wish, view: &View<'_>) -> String {
    let text = view.root.read("/etc/default/useradd").unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let base = text.lines().find_map(|line| line.trim().strip_prefix("HOME=")).unwrap_or(HOMES);
    clean(&format!("{base}/{}", wish.name))
}
