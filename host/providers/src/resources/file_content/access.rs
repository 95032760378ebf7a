//! Owner, group and mode: the declared values, how they differ from the file's, and Chef's sentences for the changes.

use crate::plan::{Assumption, Plan, View};
use contract::{Certainty, Change, ErrorKind, Raised};
use grants::{GrantedMode, GrantedPath};
use machine::denied::denied;
use machine::root::{Entry, Given, ModeBits, absent};
use schema::typed::{AccountName, Mode};

/// An owner or a group as the cookbook wrote it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Account<'a> {
    Name(&'a str),
    Number(u32),
}

/// The declared owner, group and mode. `None` leaves a value unchanged.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Access<'a> {
    pub(crate) owner: Option<Account<'a>>,
    pub(crate) group: Option<Account<'a>>,
    pub(crate) mode: Option<u32>,
}

/// The values to set, as numeric ids, after the comparison with the existing entry.
#[derive(Debug, Clone)]
pub(crate) struct AccessPlan {
    /// Numeric id of the owner to set. `None` keeps the present one.
    pub(crate) uid: Option<u32>,
    /// Numeric id of the group to set. `None` keeps the present one.
    pub(crate) gid: Option<u32>,
    /// Permission bits to set. `None` keeps the present ones.
    pub(crate) mode: Option<ModeBits>,
    /// The sentences for people about these changes.
    pub(crate) changes: Vec<Change>,
}

/// Owner and group as numeric ids.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Numbers {
    /// `None`: not declared, or the user does not exist yet in a dry run.
    pub(crate) uid: Option<u32>,
    /// `None`: not declared, or the group does not exist yet in a dry run.
    pub(crate) gid: Option<u32>,
}

impl<'a> Access<'a> {
    /// Creates the wish from the properties of a declaration.
    pub(crate) fn of(owner: Option<&'a AccountName>, group: Option<&'a AccountName>, mode: Option<Mode>) -> Self {
        let account = |name: &'a AccountName| match name {
            AccountName::Name(name) => Account::Name(name),
            AccountName::Number(number) => Account::Number(*number),
        };
        Self { owner: owner.map(account), group: group.map(account), mode: mode.map(|mode| mode.0) }
    }

    /// Looks up names in the root's own database. In a dry run, an unknown name is assumed to exist by then.
    ///
    /// `may` checks the right to the entry that they are for. Without it, the policy does not get the error for an unknown
    /// name.
    ///
    /// # Errors
    /// [`ErrorKind::NoSuchUser`], [`ErrorKind::NoSuchGroup`].
    pub(crate) fn numbers(
        &self,
        may: impl FnOnce(&View<'_>) -> Result<(), Raised>,
        view: &mut View<'_>,
        plan: &mut Plan,
    ) -> Result<Numbers, Raised> {
        self.look_up(view, plan).map_err(|unknown| may(view).err().unwrap_or(unknown))
    }

    fn look_up(&self, view: &mut View<'_>, plan: &mut Plan) -> Result<Numbers, Raised> {
        let mut numbers = Numbers::default();
        match self.owner {
            Some(Account::Number(uid)) => numbers.uid = Some(uid),
            Some(Account::Name(name)) => match view.users().user(name) {
                Some(user) => numbers.uid = Some(user.uid),
                None => missing(view, plan, "user", ErrorKind::NoSuchUser, name)?,
            },
            None => {}
        }
        match self.group {
            Some(Account::Number(gid)) => numbers.gid = Some(gid),
            Some(Account::Name(name)) => match view.users().group(name) {
                Some(group) => numbers.gid = Some(group.gid),
                None => missing(view, plan, "group", ErrorKind::NoSuchGroup, name)?,
            },
            None => {}
        }
        Ok(numbers)
    }

    /// Compares with the existing entry (`None`: it does not exist yet), and checks the grant for special permission bits.
    ///
    /// # Errors
    /// The mode is denied, or the content of a directory that others would get power over.
    pub(crate) fn compare(
        &self,
        numbers: Numbers,
        current: Option<&Entry>,
        granted: &GrantedPath,
        is_directory: bool,
        view: &mut View<'_>,
    ) -> Result<AccessPlan, Raised> {
        let differs = |wanted: Option<u32>, now: Option<u32>| wanted.filter(|wanted| now != Some(*wanted));
        let uid = differs(numbers.uid, current.map(|entry| entry.uid));
        let gid = differs(numbers.gid, current.map(|entry| entry.gid));
        // For an existing entry, Chef does not count an unknown owner or group as a change.
        let unknown_owner = numbers.uid.is_none() && self.owner.is_some() && current.is_none();
        let unknown_group = numbers.gid.is_none() && self.group.is_some() && current.is_none();
        // The kernel removes the set-user-id bit when the owner changes.
        let again = |mode: &u32| *mode & 0o4000 != 0 && (uid.is_some() || gid.is_some());
        let now = current.map(|entry| entry.mode);
        let mode = self.mode.filter(|mode| now != Some(*mode) || again(mode));
        let gives = uid.is_some() || gid.is_some() || mode.is_some();
        if current.is_some() && gives {
            let given = Given { uid, gid, mode: self.mode };
            // Entries that earlier resources of a dry run would create do not exist yet.
            if let Some(place) = absent(view.root.locate(granted.path()))? {
                place.require_giving(view.grants, given)?.map_err(denied)?;
            }
        }
        let mut plan = AccessPlan { uid, gid, mode: None, changes: Vec::new() };
        if let Some(wanted) = mode {
            plan.mode = Some(ModeBits::from(&file_mode(view, granted, wanted, is_directory)?));
            let now = now.map(octal).unwrap_or_default();
            let change = Change::new(format!("change mode from '{now}' to '{}'", octal(wanted)));
            let before = current.map(|entry| format!("{:o}", entry.mode));
            plan.changes.push(change.sets("mode", before, Some(format!("{wanted:o}"))));
        }
        if let Some(owner) = self.owner.filter(|_| uid.is_some() || unknown_owner) {
            let now = current.map(|entry| owner_shown(owner, entry.uid, view)).unwrap_or_default();
            let change = Change::new(format!("change owner from '{now}' to '{}'", owner.shown()));
            let number = numbers.uid.map_or_else(|| owner.shown(), |uid| uid.to_string());
            plan.changes.push(change.sets("owner", current.map(|entry| entry.uid.to_string()), Some(number)));
        }
        if let Some(group) = self.group.filter(|_| gid.is_some() || unknown_group) {
            let now = current.map(|entry| group_shown(group, entry.gid, view)).unwrap_or_default();
            let change = Change::new(format!("change group from '{now}' to '{}'", group.shown()));
            let number = numbers.gid.map_or_else(|| group.shown(), |gid| gid.to_string());
            plan.changes.push(change.sets("group", current.map(|entry| entry.gid.to_string()), Some(number)));
        }
        Ok(plan)
    }
}

impl AccessPlan {
    /// Tells whether nothing differs.
    pub(crate) fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }
}

impl Account<'_> {
    fn shown(self) -> String {
        match self {
            Self::Name(name) => name.to_owned(),
            Self::Number(number) => number.to_string(),
        }
    }
}

/// Checks whether the policy may set these permission bits.
///
/// # Errors
/// The mode has set-id bits without a grant.
pub(crate) fn file_mode(
    view: &View<'_>,
    granted: &GrantedPath,
    mode: u32,
    is_directory: bool,
) -> Result<GrantedMode, Raised> {
    view.grants.file_mode(granted, mode, is_directory).map_err(denied)
}

/// Formats a mode as in Chef's sentences.
fn octal(mode: u32) -> String {
    format!("0{mode:o}")
}

/// Returns the present owner, as a name or number like the declared one.
fn owner_shown(like: Account<'_>, uid: u32, view: &mut View<'_>) -> String {
    match like {
        Account::Name(_) => view.users().user_by_id(uid).map_or_else(|| uid.to_string(), |user| user.name.clone()),
        Account::Number(_) => uid.to_string(),
    }
}

fn group_shown(like: Account<'_>, gid: u32, view: &mut View<'_>) -> String {
    match like {
        Account::Name(_) => view.users().group_by_id(gid).map_or_else(|| gid.to_string(), |group| group.name.clone()),
        Account::Number(_) => gid.to_string(),
    }
}

fn missing(view: &View<'_>, plan: &mut Plan, what: &str, kind: ErrorKind, name: &str) -> Result<(), Raised> {
    if !view.why_run {
        return Err(Raised::new(
            kind,
            format!("cannot determine {what} id for '{name}', does the {what} exist on this system?"),
        ));
    }
    plan.certainty.push(Certainty::Assumed(format!("assuming {what} {name} would have been created")));
    Ok(())
}

/// Returns the assumption about a path for later resources of a dry run.
pub(crate) fn assumption(real: &str, is_directory: bool) -> Assumption {
    if is_directory { Assumption::Directory(real.into()) } else { Assumption::Path(real.into()) }
}
