//! The files of a user in its home, which go with its new number or primary group.
//!
//! `usermod` would give them away itself: by the home's path as text, and everybody's files of the old group. Another team's
//! files may lie in a home too. So `usermod` only changes the user database, and wrun gives files over handles: those that the
//! user owns, in a home that the user owns.

use super::change::{Account, DesiredUser};
use super::home::{MovedHome, base};
use crate::plan::{View, Writer};
use contract::{ErrorKind, Raised};
use grants::{GrantedTree, GrantedUser};
use machine::denied::denied;
use machine::root::{Kind, UserNumbers, absent};

/// A user's files to give to its new numbers.
#[derive(Debug)]
pub(super) struct OwnFiles {
    home: GrantedTree,
    old: UserNumbers,
}

impl OwnFiles {
    /// Asks for the home of a user whose numbers are to change. `None`: they stay, or there is no home of the user's.
    ///
    /// The user's own place among the homes is a part of the user. Another directory is asked for with all that is in it.
    ///
    /// # Errors
    /// The home is not granted.
    pub(super) fn plan(
        user: &GrantedUser,
        wish: &DesiredUser,
        current: &Account,
        moved: &MovedHome,
        view: &View<'_>,
    ) -> Result<Option<Self>, Raised> {
        let (Some(uid), Some(gid)) = (current.uid, current.gid) else { return Ok(None) };
        let new_uid = wish.uid.filter(|new| *new != uid);
        if new_uid.is_none() && wish.gid.as_ref().is_none_or(|new| *new == gid.to_string()) {
            return Ok(None);
        }
        let (from, to) = match moved.places() {
            Some((from, to)) => (from.to_owned(), to.to_owned()),
            None => {
                let written = wish.home.as_deref().unwrap_or(&current.home);
                let place = Some(written).filter(|home| home.starts_with('/'));
                let place = place.and_then(|home| view.root.future_place(home).ok());
                let Some(place) = place.filter(|place| place.missing.is_empty()) else { return Ok(None) };
                (place.real(), place.real())
            }
        };
        let Some(place) = absent(view.root.locate(&from))? else { return Ok(None) };
        let Some(entry) = absent(place.entry())? else { return Ok(None) };
        if entry.kind != Kind::Directory || (entry.uid != uid && Some(entry.uid) != new_uid) {
            return Ok(None);
        }
        let own = view.grants.own_home(user, &base(view.root));
        let home = if to == own.path() && entry.uid == uid {
            own
        } else {
            let home = view.grants.manage_tree(&to).map_err(denied)?;
            place.require_below(view.grants, &home)?.map_err(denied)?;
            home
        };
        Ok(Some(Self { home, old: UserNumbers { uid, gid } }))
    }

    /// Gives the files to the numbers that the user has now.
    ///
    /// # Errors
    /// The machine refuses, or the user is not in the database any more.
    pub(super) fn give(&self, name: &str, writer: &mut Writer<'_>) -> Result<(), Raised> {
        let new = writer.users().user(name).map(|user| UserNumbers { uid: user.uid, gid: user.gid });
        let Some(new) = new else {
            return Err(Raised::new(ErrorKind::User, format!("user {name} is not in the user database any more")));
        };
        match absent(writer.root.tree_site(&self.home))? {
            Some(home) => Ok(home.give_files_of(self.old, new)?),
            None => Ok(()),
        }
    }
}
