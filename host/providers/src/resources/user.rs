//! `user`: accounts in the root's own files, changed by `useradd`, `usermod` and `userdel`.
//!
//! The tools handle locks, subordinate ids, mail spools and login.defs. The present state comes from the root's files, never
//! from the host's name service. A password hash goes to `chpasswd` through a pipe, since all users of the machine can see
//! arguments (Chef passes it as one). wrun handles home directories itself: see [`home`]. It also changes a user's numbers
//! itself, and gives the user's files to the new ones: see [`own_files`].

mod change;
mod defaults;
mod grant;
mod home;
mod own_files;
mod shadow;

use crate::found::{Found, Thing, changed_meanwhile};
use crate::operation::Operation;
use crate::plan::{Assumption, Plan, Provider, Step, View, Writer};
use crate::resources::{account, asked};
use crate::standing;
use change::{Account, DesiredUser, Difference, compare};
use contract::{Certainty, Change, ErrorKind, LogLevel, Raised, Wanted};
use grants::{Capability, GrantedGroup, GrantedUser, Standing};
use machine::command::{Launch, require_success};
use machine::denied::denied;
use machine::remarks::remark;
use own_files::OwnFiles;
use schema::types::user::UserProperties;
use shadow::Shadow;

/// The provider of `user`: local login accounts.
pub(crate) struct User;

impl Provider for User {
    fn plan(&self, wanted: &Wanted<'_>, view: &mut View<'_>) -> Result<Plan, Raised> {
        // Other programs may have changed the user since an earlier resource read it.
        view.caches.users.doubt();
        let mut properties: UserProperties = asked::properties(wanted)?;
        let name = properties.username.clone();
        account::check_name(&name, ErrorKind::User)?;
        if wanted.action == "create" && properties.gid.is_none() && view.users().user(&name).is_none() {
            properties.gid = defaults::primary_group(view.root);
        }
        let granted = view.grants.user(&name, standing(&properties, view)).map_err(denied)?;
        let current = view.users().user(&name).cloned();
        let shadow = Shadow::find(view.root, &name);
        let mut plan = Plan::default();
        let mut wish = change::read(properties, wanted.action, view, current.is_some(), &mut plan)?;
        if matches!(wanted.action, "modify" | "lock" | "unlock") && current.is_none() {
            require(wanted, &wish.name, view, &mut plan)?;
        }
        let current = current.map(|user| Account::of(&user, shadow.as_ref()));
        let made = matches!(wanted.action, "create" | "manage" | "modify")
            .then(|| home::Login::of(&wish, current.as_ref(), view.root));
        match wanted.action {
            "create" if current.is_none() => {
                grant::check(&granted, &wish, None, view)?;
                account::require_room(Capability::Users, &wish.name, ErrorKind::User, view)?;
                let home = match wish.manage_home {
                    true => home::plan_new(&granted, &mut wish, view)?,
                    false => {
                        home::ask(&granted, &wish, None, view)?;
                        home::NewHome::default()
                    }
                };
                plan.assume(Assumption::User(wish.name.clone()));
                if wish.gid.is_none() {
                    plan.assume(Assumption::Group(wish.name.clone()));
                }
                let sentence = format!("create user {}", wish.name);
                let operation = Operation::MakeUser(Box::new(MakeUser { wish, home, _granted: granted }));
                plan.steps.push(Step::new(Change::new(sentence).appears("account"), operation));
            }
            "create" | "manage" | "modify" => {
                let blank = (wanted.action == "modify").then(Account::default);
                let found = current.clone();
                let Some(current) = current.or(blank) else { return Ok(plan) };
                grant::check(&granted, &wish, Some(&current), view)?;
                let home = match wish.manage_home {
                    true => home::plan_move(&granted, &mut wish, &current, view)?,
                    false => {
                        home::ask(&granted, &wish, Some(&current.home), view)?;
                        home::MovedHome::default()
                    }
                };
                let own_files = OwnFiles::plan(&granted, &wish, &current, &home, view)?;
                let verb = if wanted.action == "create" { "alter" } else { wanted.action };
                let difference = compare(&wish, &current);
                plan.steps.extend(modify(verb, granted, wish, (difference, found), (home, own_files)));
            }
            "remove" => {
                let Some(current) = current else { return Ok(plan) };
                let belongings = match wish.manage_home {
                    true => Some(home::plan_removal(&granted, &wish, &current, view)?),
                    false => None,
                };
                let group = grant::check_removal(&wish, view)?;
                plan.steps.push(remove(RemoveUser { wish, found: current, belongings, group, _granted: granted }));
            }
            action @ ("lock" | "unlock") => {
                plan.steps.extend(lock(action == "lock", granted, &wish.name, shadow.as_ref()));
            }
            other => {
                let message = format!("{} does not support :{other}", wanted.declaration.key());
                return Err(Raised::new(ErrorKind::UnsupportedAction, message));
            }
        }
        if let Some(login) = made {
            login.hide_names(view);
        }
        Ok(plan)
    }

    fn ask(&self, wanted: &Wanted<'_>, view: &mut View<'_>) -> Result<(), Raised> {
        view.asking(|view| self.plan(wanted, view)).map(drop)
    }
}

/// Returns the standing of the user, now and after it has been created or changed as declared.
fn standing(properties: &UserProperties, view: &mut View<'_>) -> Standing {
    let number = properties.uid.as_ref().and_then(|uid| uid.trim().parse().ok());
    let future = standing::Future { number, group: properties.gid.as_deref() };
    match standing::of_future_user(&properties.username, future, view) {
        Standing::Ordinary if properties.system => Standing::System,
        now => now,
    }
}

/// Handles a missing user: an error, or in a dry run the work of an earlier resource.
fn require(wanted: &Wanted<'_>, name: &str, view: &View<'_>, plan: &mut Plan) -> Result<(), Raised> {
    if !view.why_run {
        return Err(Raised::new(ErrorKind::User, format!("Cannot modify user {name} - does not exist!")));
    }
    if !view.assumed.holds(&Assumption::User(name.to_owned())) {
        let line = format!("{}: user {name} does not exist in this dry run", wanted.declaration.key());
        remark(&view.settings.account, LogLevel::Debug, &line);
    }
    plan.certainty.push(Certainty::Assumed(format!("Assuming user {name} would have been created")));
    Ok(())
}

fn modify(
    verb: &str,
    granted: GrantedUser,
    wish: DesiredUser,
    (difference, found): (Difference, Option<Account>),
    (home, own_files): (home::MovedHome, Option<OwnFiles>),
) -> Option<Step> {
    if difference.changes.is_empty() {
        return None;
    }
    let first = Change::new(format!("{verb} user {}", wish.name));
    let changes = difference.changes.clone();
    let operation = ChangeUser { wish, difference, found, home, own_files, granted };
    let step = Step::new(first, Operation::ChangeUser(Box::new(operation)));
    Some(changes.into_iter().fold(step, Step::also))
}

/// A user to create, with its home.
#[derive(Debug)]
pub(crate) struct MakeUser {
    wish: DesiredUser,
    home: home::NewHome,
    _granted: GrantedUser,
}

impl MakeUser {
    /// Returns the state that neither the user nor the directories of the home existed.
    pub(crate) fn found(&self) -> Found {
        Found::of([Thing::absent("user", &self.wish.name)]).and(self.home.found())
    }

    /// Makes the user with `useradd`, sets the password, then creates the home.
    ///
    /// # Errors
    /// A tool fails, the home cannot be created, or the user exists meanwhile.
    pub(crate) fn carry_out(self, writer: &mut Writer<'_>) -> Result<(), Raised> {
        change::require(writer, &self.wish.name, None)?;
        account::charge_new(writer, ErrorKind::User)?;
        change::create(writer, &self.wish)?;
        self.home.make(&self.wish.name, writer)
    }
}

/// A user to change.
#[derive(Debug)]
pub(crate) struct ChangeUser {
    wish: DesiredUser,
    difference: Difference,
    /// The user when planned. `None`: a dry run assumes that it would exist.
    found: Option<Account>,
    home: home::MovedHome,
    /// The user's files, which go with its new numbers. `None`: the numbers stay.
    own_files: Option<OwnFiles>,
    granted: GrantedUser,
}

impl ChangeUser {
    /// Returns the state of the user and of the home directories when planned.
    pub(crate) fn found(&self) -> Found {
        let user = match &self.found {
            Some(user) => user.found(&self.wish),
            None => Found::of([Thing::absent("user", &self.wish.name)]),
        };
        user.and(self.home.found())
    }

    /// Moves the home where that is wanted, changes what differs, and gives the user's files to its new numbers.
    ///
    /// # Errors
    /// One of the tools fails; the home is then moved back. Or the user has changed meanwhile.
    pub(crate) fn carry_out(self, writer: &mut Writer<'_>) -> Result<(), Raised> {
        change::require(writer, &self.wish.name, self.found.as_ref())?;
        self.home.around(writer, |writer| {
            change::modify(writer, &self.granted, &self.wish, &self.difference, self.found.as_ref())
        })?;
        self.own_files.map_or(Ok(()), |own_files| own_files.give(&self.wish.name, writer))
    }
}

/// A user to remove, with its home and mailbox.
#[derive(Debug)]
pub(crate) struct RemoveUser {
    wish: DesiredUser,
    /// The user when planned.
    found: Account,
    /// The home and mailbox. `None`: they stay.
    belongings: Option<home::Belongings>,
    /// The group that goes with the user although it is another user's primary group.
    group: Option<GrantedGroup>,
    _granted: GrantedUser,
}

impl RemoveUser {
    /// Returns the state of the user when planned.
    pub(crate) fn found(&self) -> Found {
        self.found.found(&self.wish)
    }

    /// Removes the user with `userdel`, then home and mailbox.
    ///
    /// # Errors
    /// The tool fails, the home belongs to another user too, or the user has changed meanwhile.
    pub(crate) fn carry_out(self, writer: &mut Writer<'_>) -> Result<(), Raised> {
        change::require(writer, &self.wish.name, Some(&self.found))?;
        if self.group.is_none() && grant::takes_anothers_group(&self.wish, writer.users()) {
            let how = "its group is the primary group of another user now";
            return Err(changed_meanwhile(format_args!("user {}", self.wish.name), how));
        }
        change::remove(writer, &self.wish)?;
        self.belongings.map_or(Ok(()), |belongings| belongings.remove(&self.wish, writer))
    }
}

fn remove(operation: RemoveUser) -> Step {
    let name = &operation.wish.name;
    let change = Change::new(format!("remove user {name}")).disappears("account");
    let of_group = operation.group.is_some();
    let of_group = of_group.then(|| Change::new(format!("remove group {name}, the primary group of another user")));
    let step = Step::new(change, Operation::RemoveUser(Box::new(operation)));
    of_group.into_iter().fold(step, Step::also)
}

/// A password to lock or unlock.
#[derive(Debug)]
pub(crate) struct LockUser {
    name: String,
    /// True to lock, false to unlock.
    lock: bool,
    _granted: GrantedUser,
}

impl LockUser {
    /// Returns whether the password was locked, which is the opposite of the declared state.
    pub(crate) fn found(&self) -> Found {
        Found::of([Thing::new("user", &self.name).is("locked", !self.lock)])
    }

    /// Locks or unlocks the password with `usermod`.
    ///
    /// # Errors
    /// The tool fails, or the password already has the declared state.
    pub(crate) fn carry_out(self, writer: &mut Writer<'_>) -> Result<(), Raised> {
        let is_locked = Shadow::find(writer.root, &self.name).is_some_and(|shadow| shadow.is_locked());
        if is_locked == self.lock {
            let how = if is_locked { "its password is locked now" } else { "its password is not locked any more" };
            return Err(changed_meanwhile(format_args!("user {}", self.name), how));
        }
        let option = if self.lock { "-L" } else { "-U" };
        run(writer, "usermod", vec![option.into()], &self.name)
    }
}

/// Plans to lock or unlock the password. A user without an entry in the shadow file counts as unlocked; so does a user that a
/// dry run assumes.
fn lock(lock: bool, granted: GrantedUser, name: &str, shadow: Option<&Shadow>) -> Option<Step> {
    let locked = shadow.is_some_and(Shadow::is_locked);
    if locked == lock {
        return None;
    }
    let sentence = if lock { format!("lock the user {name}") } else { format!("unlock user {name}") };
    let operation = LockUser { name: name.to_owned(), lock, _granted: granted };
    Some(Step::new(Change::new(sentence).turns(None, "locked", lock), Operation::LockUser(operation)))
}

/// Runs a tool for a user or a group.
fn run(writer: &mut Writer<'_>, program: &str, mut arguments: Vec<String>, name: &str) -> Result<(), Raised> {
    arguments.extend(["--".to_owned(), name.to_owned()]);
    let launch = Launch::program(program, arguments).shown_as_words();
    let outcome = writer.launch(&launch).map_err(|failure| failure.into_raised(&launch));
    writer.caches.users.forget();
    require_success(&launch, &outcome?, &[0])
}
