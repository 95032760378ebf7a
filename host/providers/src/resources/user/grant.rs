//! Checks the rights that a right to a user does not include: to root's id, and to membership in other groups.

use super::change::{Account, DesiredUser};
use crate::plan::View;
use crate::standing;
use contract::Raised;
use grants::{GrantedGroup, GrantedUser};
use machine::denied::denied;
use machine::users::Users;

/// Checks the id and the groups that a user would get.
///
/// # Errors
/// The id or a group is not granted.
pub(super) fn check(
    user: &GrantedUser,
    wish: &DesiredUser,
    current: Option<&Account>,
    view: &mut View<'_>,
) -> Result<(), Raised> {
    if let Some(uid) = wish.uid.filter(|uid| current.is_none_or(|current| current.uid != Some(*uid))) {
        let makes_group = current.is_none() && wish.gid.is_none();
        view.grants.user_number(user, uid, None).map_err(denied)?;
        for (name, standing) in standing::holders_of_user_number(uid, makes_group, view) {
            view.grants.user_number(user, uid, Some((&name, standing))).map_err(denied)?;
        }
    }
    if let Some(gid) = wish.gid.clone() {
        let number = gid.parse::<u32>().ok();
        let has_it = number.is_some() && current.is_some_and(|current| current.gid == number);
        if !has_it {
            let name = number.and_then(|gid| view.users().group_by_id(gid).map(|group| group.name.clone()));
            let group = name.as_deref().unwrap_or(&gid);
            // A group with the user's name is the user's own if it is created with the user, or if it already was the primary
            // group. Otherwise somebody else created it, with a name that a user may get later.
            let there = view.users().group(group).map(|group| group.gid);
            let is_own = there.is_none() || current.is_some_and(|current| current.gid == there);
            let standing = standing::of_group(group, view);
            let granted =
                if is_own { view.grants.membership(user, group, standing) } else { view.grants.group(group, standing) };
            let _granted = granted.map_err(denied)?;
        }
    }
    Ok(())
}

/// Asks for the group that goes with a user who is removed by force, if that is another user's primary group: its number becomes
/// free, and whoever gets it next gets what that user shares with the group. `None`: no such group goes.
///
/// # Errors
/// The group is not granted.
pub(super) fn check_removal(wish: &DesiredUser, view: &mut View<'_>) -> Result<Option<GrantedGroup>, Raised> {
    if !takes_anothers_group(wish, view.users()) {
        return Ok(None);
    }
    let standing = standing::of_group(&wish.name, view);
    view.grants.group(&wish.name, standing).map(Some).map_err(denied)
}

/// Whether `userdel` removes a group that is another user's primary group: by force it takes the group of the user's name along,
/// as long as that has no other members.
pub(super) fn takes_anothers_group(wish: &DesiredUser, users: &mut Users) -> bool {
    let name = &wish.name;
    let primary = users.user(name).map(|user| user.gid);
    let group = users.group(name).filter(|group| group.members.iter().all(|member| member == name));
    let Some(gid) = group.map(|group| group.gid) else { return false };
    wish.force && primary == Some(gid) && users.users().iter().any(|other| other.name != *name && other.gid == gid)
}
