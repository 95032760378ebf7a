//! The files of a user, which go with its new number or primary group: those in its home, and its mailbox.
//!
//! `usermod` would give them away itself: by their paths as text, and everybody's files of the old group. Another team's files
//! may lie in a home too. So wrun changes the numbers in the user database, and gives files over handles: those that the user
//! owns, in a home that the user owns, and a mailbox of the user's name that the user owns.

use super::change::{Account, DesiredUser};
use super::home::{MovedHome, base, mailboxes};
use crate::plan::{View, Writer};
use contract::{ErrorKind, Raised};
use grants::{GrantedPath, GrantedTree, GrantedUser};
use machine::denied::denied;
use machine::root::{Kind, UserNumbers, absent};

/// A user's files to give to its new numbers.
#[derive(Debug)]
pub(super) struct OwnFiles {
    /// The home, or `None` if it does not exist or is not the user's.
    home: Option<GrantedTree>,
    /// The mailbox. `None`: the user's own number stays.
    mailbox: Option<GrantedPath>,
    old: UserNumbers,
}

impl OwnFiles {
    /// Asks for the home of a user whose numbers are to change. `None`: they stay.
    ///
    /// The mailbox, and the user's own place among the homes, are parts of the user. Another directory is asked for with all
    /// that is in it.
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
        let home = home(user, (wish, current), (uid, new_uid), moved, view)?;
        let mailbox = new_uid.map(|_| view.grants.mailbox(user, &mailboxes(view.root)));
        Ok(Some(Self { home, mailbox, old: UserNumbers { uid, gid } }))
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
        if let Some(home) = &self.home
            && let Some(home) = absent(writer.root.tree_site(home))?
        {
            home.give_files_of(self.old, new)?;
        }
        match &self.mailbox {
            Some(mailbox) => self.give_mailbox(mailbox, new.uid, writer),
            None => Ok(()),
        }
    }

    /// Gives the mailbox to the user's new number, unless somebody else owns it or it has another name.
    fn give_mailbox(&self, mailbox: &GrantedPath, uid: u32, writer: &Writer<'_>) -> Result<(), Raised> {
        let Some(site) = absent(writer.root.site(mailbox))? else { return Ok(()) };
        let Some(held) = absent(site.hold())? else { return Ok(()) };
        let entry = held.entry()?;
        let is_own = entry.kind == Kind::File && entry.links == 1 && entry.uid == self.old.uid;
        if is_own { Ok(held.set_owner(Some(uid), None)?) } else { Ok(()) }
    }
}

/// Asks for the home whose files go with the numbers. Returns `None` if it does not exist or is not the user's.
fn home(
    user: &GrantedUser,
    (wish, current): (&DesiredUser, &Account),
    (uid, new_uid): (u32, Option<u32>),
    moved: &MovedHome,
    view: &View<'_>,
) -> Result<Option<GrantedTree>, Raised> {
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
    if to == own.path() && entry.uid == uid {
        return Ok(Some(own));
    }
    let home = view.grants.manage_tree(&to).map_err(denied)?;
    place.require_below(view.grants, &home)?.map_err(denied)?;
    Ok(Some(home))
}
