//! A user's home directory: wrun itself creates, moves and removes it.
//!
//! `useradd -m`, `usermod -m` and `userdel -r` take the path as text and follow every link in it, as root. A policy, or the
//! owner of a managed directory, can create such a link. So these programs only change the user database, and wrun handles
//! directories itself, over handles, each with its own proof.

use super::change::{Account, DesiredUser, clean};
use super::defaults::setting;
use crate::found::{Found, Thing};
use crate::plan::{View, Writer};
use crate::standing::is_home;
use contract::{ErrorKind, LogLevel, Raised};
use grants::{GrantedPath, GrantedTree, GrantedUser};
use machine::denied::denied;
use machine::remarks::remark;
use machine::root::{HomeAccess, Kind, ModeBits, Place, Root, absent};
use rustix::io::Errno;

/// Debian's path for users without a home. It gives no rights.
const NO_HOME: &str = "/nonexistent";

/// Default folders of home directories, the skeleton and mailboxes, unless the machine's configuration sets others.
const HOMES: &str = "/home";
const SKELETON: &str = "/etc/skel";
const MAILBOXES: &str = "/var/mail";

/// The permission bits of new directories above a home.
const PARENT: ModeBits = ModeBits::plain(0o755);

/// Directories to create, in order; the last one is the home. Empty if the home exists.
#[derive(Debug, Default)]
pub(super) struct NewHome(Vec<GrantedPath>);

/// The old and the new place of a home. `None`: the old home does not exist, or the new one already does.
#[derive(Debug, Default)]
pub(super) struct MovedHome(Option<(GrantedTree, NewHome)>);

/// The home and mailbox of a user to remove.
#[derive(Debug)]
pub(super) struct Belongings {
    home: Option<GrantedTree>,
    mailbox: GrantedPath,
    uid: u32,
    /// True if the home is granted by its path. It may then be removed by force, whoever owns it. False: it is granted as a
    /// part of the user, who must own it.
    home_by_path: bool,
    /// The same for the mailbox.
    mailbox_by_path: bool,
}

/// Plans the home of a new user, and stores its resolved path in the wish.
///
/// # Errors
/// A directory to create is not granted; the path cannot be resolved.
pub(super) fn plan_new(user: &GrantedUser, wish: &mut DesiredUser, view: &View<'_>) -> Result<NewHome, Raised> {
    let base = base(view.root);
    let asked = wish.home.clone().unwrap_or_else(|| format!("{base}/{}", wish.name));
    let future_place = view.future_place(&asked, |grants, real| grants.home(user, real).map(drop))?;
    let mut missing = future_place.real_paths();
    if view.why_run {
        missing.retain(|path| !view.assumed.directory(path));
    }
    let granted = if future_place.real() == format!("{base}/{}", wish.name) {
        view.grants.make_own_home(user, &base, &missing)
    } else if missing.is_empty() {
        view.grants.home(user, future_place.base.real()).map(|_| vec![])
    } else {
        // The home itself is checked first: a denial names the declared path, and does not reveal which of its parents are
        // missing.
        let granted = missing.iter().rev().map(|path| view.grants.home(user, path)).collect::<Result<Vec<_>, _>>();
        granted.map(|granted| granted.into_iter().rev().collect())
    };
    let granted = granted.map_err(denied)?;
    if future_place.entry.kind != Kind::Directory && !missing.is_empty() {
        return Err(Raised::new(ErrorKind::User, format!("the home {asked} cannot be made: a file is on the way")));
    }
    // A dangling link resolves to itself, but its text can change at any time.
    for path in &missing {
        if view.root.entry(path)?.is_some() {
            return Err(Raised::new(
                ErrorKind::User,
                format!("the home {asked} cannot be made: a link leads to nowhere"),
            ));
        }
    }
    wish.home = wish.home.as_ref().map(|_| future_place.real());
    Ok(NewHome(granted))
}

/// Checks the grant for a home that is only named, and neither created nor moved. It matters because the rights of others in
/// a directory depend on whether it is a home.
///
/// # Errors
/// The home is not granted, or cannot be resolved.
pub(super) fn ask(
    user: &GrantedUser,
    wish: &DesiredUser,
    current: Option<&str>,
    view: &View<'_>,
) -> Result<(), Raised> {
    let Some(asked) = wish.home.as_deref().filter(|asked| current.is_none_or(|now| clean(now) != clean(asked))) else {
        return Ok(());
    };
    let real = view.future_place(asked, |grants, real| grants.home(user, real).map(drop))?.real();
    let is_own = real == view.grants.own_home(user, &base(view.root)).path();
    if is_own || real == NO_HOME { Ok(()) } else { view.grants.home(user, &real).map(drop).map_err(denied) }
}

/// Plans the move of a home, and stores its resolved path in the wish.
///
/// All files in the home get new paths, which the policy's path rules may cover. So the move needs the same grants as a
/// rename of the directory: for its whole content, whoever owns it.
///
/// # Errors
/// As [`plan_new`]; or the old home may not be removed with its whole content.
pub(super) fn plan_move(
    user: &GrantedUser,
    wish: &mut DesiredUser,
    current: &Account,
    view: &View<'_>,
) -> Result<MovedHome, Raised> {
    let Some(asked) = wish.home.clone() else { return Ok(MovedHome::default()) };
    if clean(&asked) == clean(&current.home) {
        return Ok(MovedHome::default());
    }
    let new = plan_new(user, wish, view)?;
    let old = view.root.future_place(&current.home).ok();
    if old.as_ref().is_some_and(|old| Some(old.real()) == wish.home) {
        // Both paths are the same directory.
        wish.home = Some(current.home.clone());
        return Ok(MovedHome::default());
    }
    let Some(old) = old else { return Ok(MovedHome::default()) };
    let own = view.grants.own_home(user, &base(view.root));
    let moves = old.missing.is_empty() && !new.0.is_empty();
    if !moves && old.real() == own.path() {
        return Ok(MovedHome::default());
    }
    let granted = view.grants.manage_tree(&old.real()).map_err(denied)?;
    if !moves {
        return Ok(MovedHome::default());
    }
    let place = view.root.locate(granted.path())?;
    place.require_below(view.grants, &granted)?.map_err(denied)?;
    let to = wish.home.as_deref().unwrap_or_default();
    // The names are those of a home there, also if they were not here.
    Login::of(wish, Some(current), view.root).hide_names(view);
    let whole = if to == own.path() { own } else { view.grants.manage_tree(to).map_err(denied)? };
    place.require_below(view.grants, &whole)?.map_err(denied)?;
    require_reading(&place, to, view)?;
    Ok(MovedHome(Some((granted, new))))
}

/// Plans the removal of a user's home and mailbox.
///
/// # Errors
/// The policy may not remove the home.
pub(super) fn plan_removal(
    user: &GrantedUser,
    wish: &DesiredUser,
    current: &Account,
    view: &View<'_>,
) -> Result<Belongings, Raised> {
    let uid = current.uid.unwrap_or(u32::MAX);
    let (home, home_by_path) = whole(user, &current.home, uid, view)?;
    if let Some(home) = home.as_ref().filter(|_| wish.force) {
        // With `force` the home is removed whoever owns it.
        let place = view.root.locate(home.path())?;
        place.require_below(view.grants, home)?.map_err(denied)?;
    }
    let mailbox = view.grants.mailbox(user, &mailboxes(view.root));
    let mailbox_by_path = view.grants.silent().manage_path(mailbox.path()).is_ok();
    Ok(Belongings { home, mailbox, uid, home_by_path, mailbox_by_path })
}

/// Returns the right to a home with its whole content, and whether it is a right by path. The right is `None` if the home
/// does not exist. The user's usual home directory counts as a part of the user if the user owns it; the name alone is not
/// enough.
fn whole(user: &GrantedUser, home: &str, uid: u32, view: &View<'_>) -> Result<(Option<GrantedTree>, bool), Raised> {
    let Ok(future_place) = view.root.future_place(home) else { return Ok((None, false)) };
    let own = view.grants.own_home(user, &base(view.root));
    let real = future_place.real();
    let is_there = future_place.missing.is_empty();
    if real == own.path() && (!is_there || future_place.entry.uid == uid) {
        return Ok((is_there.then_some(own), false));
    }
    let tree = view.grants.manage_tree(&real).map_err(denied)?;
    Ok((is_there.then_some(tree), true))
}

/// Checks the right to read the files in a home, because the policy may be able to read them under their new paths.
fn require_reading(place: &Place, new: &str, view: &View<'_>) -> Result<(), Raised> {
    if !view.grants.refuses_reads() || place.entry()?.kind != Kind::Directory {
        return Ok(());
    }
    let old = place.real();
    view.grants.read_under_another_name(old, new).map_err(denied)?;
    for name in place.names_below()? {
        view.looks_at_item()?;
        view.grants.read_under_another_name(&format!("{old}/{name}"), &format!("{new}/{name}")).map_err(denied)?;
    }
    Ok(())
}

/// The future home and shell of a user.
pub(super) struct Login {
    home: String,
    shell: String,
}

impl Login {
    /// Returns the declared values, or else the present ones, or else the defaults of `useradd`.
    pub(super) fn of(wish: &DesiredUser, current: Option<&Account>, root: &Root) -> Self {
        let home = wish.home.clone().or_else(|| Some(current?.home.clone()));
        let shell = wish.shell.clone().or_else(|| Some(current?.shell.clone()));
        Self { home: home.unwrap_or_else(|| format!("{}/{}", base(root), wish.name)), shell: shell.unwrap_or_default() }
    }

    /// Protects hidden names in the home from now on: until the next run, a policy must not reach them.
    pub(super) fn hide_names(&self, view: &View<'_>) {
        let real = view.root.future_place(&self.home).ok().map(|place| place.real());
        for home in [Some(clean(&self.home)), real].into_iter().flatten() {
            if is_home(&home, &self.shell) {
                view.grants.learn_home(&home);
            }
        }
    }
}

impl NewHome {
    /// Returns the state that none of the directories existed.
    pub(super) fn found(&self) -> Found {
        if self.0.is_empty() {
            return Found::Nothing;
        }
        Found::of(self.0.iter().map(|directory| Thing::absent("path", directory.path())))
    }

    /// Creates the directories, and fills the home from the skeleton.
    pub(super) fn make(&self, name: &str, writer: &mut Writer<'_>) -> Result<(), Raised> {
        let Some((home, parents)) = self.0.split_last() else { return Ok(()) };
        self.make_parents(parents, writer)?;
        writer.caches.users.forget();
        writer.caches.users.refresh(writer.root);
        let Some((uid, gid)) = writer.caches.users.user(name).map(|user| (user.uid, user.gid)) else {
            return Err(Raised::new(ErrorKind::User, format!("user {name} is not in the user database after useradd")));
        };
        let root = writer.root;
        let skeleton = setting(root, "/etc/default/useradd", "SKEL").unwrap_or_else(|| SKELETON.into());
        let skeleton = absent(root.locate_target(&skeleton))?;
        let is_directory = |place: &Place| place.entry().is_ok_and(|entry| entry.kind == Kind::Directory);
        let skeleton = skeleton.filter(is_directory);
        let access = HomeAccess { uid, gid, mode: mode(root) };
        Ok(root.site(home)?.make_home(skeleton.as_ref(), access)?)
    }

    fn make_parents(&self, parents: &[GrantedPath], writer: &Writer<'_>) -> Result<(), Raised> {
        for parent in parents {
            let site = writer.root.site(parent)?;
            match site.make_directory(PARENT) {
                // If an entry exists here, opening the next one checks its kind, without following a link.
                Err(fault) if fault.errno == Errno::EXIST => {}
                made => made.and_then(|()| site.refuse_inherited_lists())?,
            }
        }
        Ok(())
    }
}

impl MovedHome {
    /// From where the home is moved, and to where. `None`: it stays.
    pub(super) fn places(&self) -> Option<(&str, &str)> {
        let (old, new) = self.0.as_ref()?;
        Some((old.path(), new.0.last()?.path()))
    }

    /// Returns the state that the old home existed, and none of the directories of the new one.
    pub(super) fn found(&self) -> Found {
        let Some((old, new)) = &self.0 else { return Found::Nothing };
        Found::of([Thing::new("path", old.path()).with("presence", Kind::Directory.words())]).and(new.found())
    }

    /// Moves the home, changes the user, and moves the home back if the change fails.
    pub(super) fn around(
        &self,
        writer: &mut Writer<'_>,
        change: impl FnOnce(&mut Writer<'_>) -> Result<(), Raised>,
    ) -> Result<(), Raised> {
        let Some((old, new)) = &self.0 else { return change(writer) };
        let Some((home, parents)) = new.0.split_last() else { return change(writer) };
        new.make_parents(parents, writer)?;
        let (from, to) = (writer.root.tree_site(old)?, writer.root.site(home)?);
        from.rename_to_free(&to).map_err(|fault| match fault.errno {
            Errno::XDEV => {
                let (from, to) = (old.path(), home.path());
                let message = format!("the home {from} cannot be moved to {to}, which is on another file system");
                Raised::new(ErrorKind::User, message).with_hint(format!("copy {from} to {to} by hand, then run again"))
            }
            _ => fault.into(),
        })?;
        let changed = change(writer);
        if changed.is_err() && from.rename_back(&to).is_err() {
            let line = format!("the home that was moved to {} could not be moved back to {}", home.path(), old.path());
            remark(&writer.settings.account, LogLevel::Warn, &line);
        }
        changed
    }
}

impl Belongings {
    /// Removes home and mailbox, as `userdel -r` does. A home that another user owns or shares is an error, unless it is
    /// granted by its path and `force` is set.
    pub(super) fn remove(&self, wish: &DesiredUser, writer: &mut Writer<'_>) -> Result<(), Raised> {
        let mailbox = absent(writer.root.site(&self.mailbox))?;
        if let Some(mailbox) = mailbox
            && let Some(entry) = absent(mailbox.entry())?
            && entry.kind == Kind::File
            && (entry.uid == self.uid || (wish.force && self.mailbox_by_path))
        {
            mailbox.remove_file()?;
        }
        let Some(home) = &self.home else { return Ok(()) };
        let Some(site) = absent(writer.root.tree_site(home))? else { return Ok(()) };
        let Some(entry) = absent(site.entry())? else { return Ok(()) };
        // Reads the remaining users after the removal.
        writer.caches.users.refresh(writer.root);
        let shared = writer.caches.users.users().iter().any(|user| clean(&user.home) == home.path());
        let is_own = entry.uid == self.uid && !shared;
        let by_force = wish.force && self.home_by_path;
        if !is_own && !by_force {
            let whose = if shared { "is another user's home too" } else { "is not owned by the user" };
            let message = format!("user {} was removed, but not the home {}: it {whose}", wish.name, home.path());
            return Err(Raised::new(ErrorKind::User, message));
        }
        Ok(site.remove()?)
    }
}

/// Returns the folder for new homes, from the configuration of `useradd`.
pub(super) fn base(root: &Root) -> String {
    clean(&setting(root, "/etc/default/useradd", "HOME").unwrap_or_else(|| HOMES.into()))
}

/// Returns the folder of mailboxes, from the configuration of the login tools.
pub(super) fn mailboxes(root: &Root) -> String {
    clean(&setting(root, "/etc/login.defs", "MAIL_DIR").unwrap_or_else(|| MAILBOXES.into()))
}

/// Returns the permission bits of a new home, from the configuration of the login tools.
fn mode(root: &Root) -> u32 {
    let number = |name: &str| {
        let text = setting(root, "/etc/login.defs", name)?;
        u32::from_str_radix(&text, 8).ok().filter(|number| *number <= 0o777)
    };
    number("HOME_MODE").unwrap_or_else(|| 0o777 & !number("UMASK").unwrap_or(0o022))
}
