//! The declared user, its comparison with the existing one, and the calls that change it.

use super::{Shadow, run, shadow};
use crate::found::{Found, Thing, changed_meanwhile};
use crate::plan::{Assumption, Plan, View, Writer};
use crate::resources::account;
use contract::{Certainty, Change, CommandOutcome, ErrorKind, MachineUser, Raised};
use grants::GrantedUser;
use machine::command::{Launch, require_success};
use machine::process_search;
use machine::root::UserEntryChange;
use schema::types::user::UserProperties;
use std::fmt;

/// Exit codes of `usermod`: another user has the number; processes run as the user.
const NUMBER_IN_USE: i32 = 4;
const USER_BUSY: i32 = 8;

/// A password's hash, which no message shows.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Hash(pub(super) String);

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("********")
    }
}

/// The declared properties of a user. `None` leaves a property unchanged.
#[derive(Debug, Clone, Default)]
pub(super) struct DesiredUser {
    pub(super) name: String,
    pub(super) comment: Option<String>,
    pub(super) uid: Option<u32>,
    /// The primary group for the tools: a numeric id, or a name that does not exist yet.
    pub(super) gid: Option<String>,
    pub(super) home: Option<String>,
    pub(super) shell: Option<String>,
    pub(super) password: Option<Hash>,
    /// The day the account expires, as `YYYY-MM-DD`; empty if it never expires.
    pub(super) expire_date: Option<String>,
    /// Days from the password's end until the account is disabled; -1 means never.
    pub(super) inactive: Option<i64>,
    pub(super) manage_home: bool,
    pub(super) non_unique: bool,
    pub(super) system: bool,
    pub(super) force: bool,
}

/// The same properties of an existing user. They are empty for a user that an earlier resource of a dry run would create.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Account {
    pub(super) comment: String,
    pub(super) uid: Option<u32>,
    pub(super) gid: Option<u32>,
    pub(super) home: String,
    pub(super) shell: String,
    pub(super) password: Option<Hash>,
    pub(super) expires: Option<i64>,
    pub(super) inactive: Option<i64>,
}

impl Account {
    /// Creates the account from the root's files.
    pub(super) fn of(user: &MachineUser, shadow: Option<&Shadow>) -> Self {
        Self {
            comment: user.comment.clone(),
            uid: Some(user.uid),
            gid: Some(user.gid),
            home: user.home.clone(),
            shell: user.shell.clone(),
            password: shadow.map(|shadow| Hash(shadow.hash.clone())),
            expires: shadow.and_then(|shadow| shadow.expires),
            inactive: shadow.and_then(|shadow| shadow.inactive),
        }
    }

    /// Returns the user's state. The password is a part of it if one is declared, and makes the state secret.
    pub(super) fn found(&self, wish: &DesiredUser) -> Found {
        let number = |number: Option<u32>| number.map(|number| number.to_string());
        let day = |day: Option<i64>| day.map(|day| day.to_string());
        let thing = Thing::new("user", &wish.name).with_any("uid", number(self.uid)).with_any("gid", number(self.gid));
        let thing = thing.with("comment", &self.comment).with("home", &self.home).with("shell", &self.shell);
        let thing = thing.with_any("expire_date", day(self.expires)).with_any("inactive", day(self.inactive));
        match &wish.password {
            None => Found::of([thing]),
            Some(_) => {
                let hash = self.password.as_ref().map(|Hash(hash)| hash.clone());
                Found::of([thing.with_any("password", hash)]).secret_if(true)
            }
        }
    }

    /// Returns the present state of the user, or `None` if it does not exist.
    pub(super) fn now(name: &str, writer: &mut Writer<'_>) -> Option<Self> {
        let user = writer.users().user(name).cloned()?;
        Some(Self::of(&user, Shadow::find(writer.root, name).as_ref()))
    }
}

/// Fails if a user has changed since it was found.
///
/// # Errors
/// [`ErrorKind::ChangedMeanwhile`].
pub(super) fn require(writer: &mut Writer<'_>, name: &str, found: Option<&Account>) -> Result<(), Raised> {
    let now = Account::now(name, writer);
    let how = match (found, &now) {
        (found, now) if found == now.as_ref() => return Ok(()),
        (None, _) => "it was not there, and is there now",
        (Some(_), None) => "it was there, and is not there now",
        (Some(_), Some(_)) => "its fields are others now",
    };
    Err(changed_meanwhile(format_args!("user {name}"), how))
}

/// Reads and checks the properties. If `exists` is true, a missing group is an error now, and not only when a tool fails.
///
/// # Errors
/// A value is impossible in the account files, or the primary group does not exist.
pub(super) fn read(
    properties: UserProperties,
    action: &str,
    view: &mut View<'_>,
    exists: bool,
    plan: &mut Plan,
) -> Result<DesiredUser, Raised> {
    let field = |property: &str, value: Option<String>| -> Result<Option<String>, Raised> {
        value.as_deref().map_or(Ok(()), |value| account::check_field(property, value, ErrorKind::User))?;
        Ok(value)
    };
    let uid = properties.uid.map(|text| account::parse_number("uid", &text, ErrorKind::User)).transpose()?;
    let expire_date = properties.expire_date;
    if let Some(date) = expire_date.as_deref().filter(|date| !date.is_empty())
        && shadow::parse_day(date).is_none()
    {
        return Err(Raised::new(ErrorKind::User, format!("expire_date {date:?} is not a date of the form YYYY-MM-DD")));
    }
    let inactive = properties.inactive.filter(|text| !text.is_empty());
    let inactive = inactive.map(|text| {
        let days = text.trim().parse().ok().filter(|days| (-1..=i64::from(i32::MAX)).contains(days));
        days.ok_or_else(|| Raised::new(ErrorKind::User, format!("inactive {text:?} is not a number of days")))
    });
    let home = field("home", properties.home)?;
    if home.as_deref().is_some_and(|home| home.split('/').any(|part| part == "..")) {
        return Err(Raised::new(ErrorKind::User, "home leads upwards with `..`"));
    }
    Ok(DesiredUser {
        comment: field("comment", properties.comment)?,
        uid,
        gid: primary_group(properties.gid, action, view, exists, plan)?,
        home,
        shell: field("shell", properties.shell)?,
        password: field("password", properties.password)
            .map_err(|_| Raised::new(ErrorKind::User, "password is not a hash"))?
            .map(Hash),
        expire_date,
        inactive: inactive.transpose()?,
        manage_home: properties.manage_home,
        non_unique: properties.non_unique,
        system: properties.system,
        force: properties.force,
        name: properties.username,
    })
}

/// Returns the id of the primary group. For a new user, a group that does not exist is passed to `useradd`, as in Chef.
fn primary_group(
    group: Option<String>,
    action: &str,
    view: &mut View<'_>,
    exists: bool,
    plan: &mut Plan,
) -> Result<Option<String>, Raised> {
    let Some(group) = group else { return Ok(None) };
    if let Ok(number) = group.trim().parse::<u32>() {
        return Ok(Some(number.to_string()));
    }
    account::check_name(&group, ErrorKind::User)?;
    if let Some(found) = view.users().group(&group) {
        return Ok(Some(found.gid.to_string()));
    }
    let will_be = view.why_run;
    if will_be {
        plan.certainty.push(Certainty::Assumed(format!(
            "group name {group} does not exist.  This will cause group assignment to fail.  Assuming this group will have \
             been created previously."
        )));
        let _known = view.assumed.holds(&Assumption::Group(group.clone()));
    } else if exists && matches!(action, "create" | "modify" | "manage" | "lock" | "unlock") {
        return Err(Raised::new(ErrorKind::User, format!("Couldn't lookup integer GID for group name {group}")));
    }
    Ok(Some(group))
}

/// The properties to set, and the sentences about them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Difference {
    pub(super) changes: Vec<Change>,
    comment: bool,
    uid: bool,
    gid: bool,
    home: bool,
    shell: bool,
    password: bool,
    expire_date: bool,
    inactive: bool,
}

/// Compares the properties, in Chef's order.
pub(super) fn compare(wish: &DesiredUser, current: &Account) -> Difference {
    let mut difference = Difference::default();
    let mut differs = |what: &'static str, old: &str, new: Option<&str>, same: bool| match new {
        Some(new) if !same => {
            let change = Change::new(format!("change {what} from {old} to {new}"));
            let value = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
            let is_secret = what == "password";
            let aspect = if what == "homedir" { "home" } else { what };
            let change = if is_secret { change } else { change.sets(aspect, value(old), value(new)) };
            difference.changes.push(change);
            true
        }
        _ => false,
    };
    let number = |number: Option<u32>| number.map(|number| number.to_string()).unwrap_or_default();
    let (uid, gid, new_uid) = (number(current.uid), number(current.gid), wish.uid.map(|uid| uid.to_string()));
    let expires = current.expires.map(shadow::format_day).unwrap_or_default();
    let wanted_day = wish.expire_date.as_deref().and_then(shadow::parse_day);
    let days = |days: Option<i64>| days.filter(|days| *days >= 0).map(|days| days.to_string()).unwrap_or_default();
    let inactive = wish.inactive.map(|inactive| inactive.to_string());
    let home = wish.home.as_deref();
    let same_home = home.is_some_and(|home| clean(home) == clean(&current.home));
    let same = |old: &str, new: &Option<String>| new.as_deref() == Some(old);
    let home = differs("homedir", &current.home, home, same_home);
    let comment = differs("comment", &current.comment, wish.comment.as_deref(), same(&current.comment, &wish.comment));
    let shell = differs("shell", &current.shell, wish.shell.as_deref(), same(&current.shell, &wish.shell));
    let password = wish.password.is_some() && wish.password != current.password;
    let password = differs("password", "********", Some("********"), !password);
    let uid = differs("uid", &uid, new_uid.as_deref(), wish.uid == current.uid);
    let gid = differs("gid", &gid, wish.gid.as_deref(), same(&gid, &wish.gid));
    let expire_date = differs("expire_date", &expires, wish.expire_date.as_deref(), wanted_day == current.expires);
    let same_inactive = days(wish.inactive) == days(current.inactive);
    let inactive = differs("inactive", &days(current.inactive), inactive.as_deref(), same_inactive);
    Difference { comment, uid, gid, home, shell, password, expire_date, inactive, ..difference }
}

/// Normalizes a path: removes doubled slashes, `.` and a final slash.
pub(super) fn clean(path: &str) -> String {
    let parts = path.split('/').filter(|part| !part.is_empty() && *part != ".");
    format!("/{}", parts.collect::<Vec<_>>().join("/"))
}

/// Creates the user with `useradd`, then sets the password.
pub(super) fn create(writer: &mut Writer<'_>, wish: &DesiredUser) -> Result<(), Raised> {
    let all = Difference {
        comment: wish.comment.as_deref().is_some_and(|comment| !comment.is_empty()),
        uid: wish.uid.is_some(),
        gid: wish.gid.is_some(),
        home: wish.home.is_some(),
        shell: wish.shell.is_some(),
        expire_date: wish.expire_date.as_deref().is_some_and(|date| !date.is_empty()),
        inactive: wish.inactive.is_some(),
        ..Difference::default()
    };
    let mut arguments = options(wish, &all);
    // Nothing of the group is left to the configuration, which may be another than the one that was judged.
    if wish.gid.is_none() {
        arguments.push("-U".into());
    }
    if super::defaults::has_further_groups(writer.root) {
        arguments.extend(["-G".into(), String::new()]);
    }
    if wish.system {
        arguments.push("-r".into());
    }
    arguments.push("-M".into());
    run(writer, "useradd", arguments, &wish.name).map_err(account::explain_ranges)?;
    set_password(writer, wish)
}

/// Changes what differs: the numbers in the user database, all else with `usermod`, the password with `chpasswd`. `usermod` is
/// never told of a new number or group: with them it gives away the mailbox, and files in the home, whoever owns them (see
/// [`super::own_files`]).
pub(super) fn modify(
    writer: &mut Writer<'_>,
    user: &GrantedUser,
    wish: &DesiredUser,
    difference: &Difference,
    found: Option<&Account>,
) -> Result<(), Raised> {
    let gid = if difference.gid { Some(known_group(wish, writer)?) } else { None };
    let uid = wish.uid.filter(|_| difference.uid);
    if let Some(uid) = uid {
        require_free_number(writer, wish, uid, found.and_then(|found| found.uid))?;
    }
    let arguments = options(wish, &Difference { uid: false, gid: false, ..difference.clone() });
    if !arguments.is_empty() {
        run(writer, "usermod", arguments, &wish.name)?;
    }
    if uid.is_some() || gid.is_some() {
        let database = writer.settings.grants.user_database(user);
        let changed = writer.root.change_user_entry(&database, &wish.name, UserEntryChange { uid, gid });
        writer.caches.users.forget();
        if !changed? {
            return Err(Raised::new(ErrorKind::User, format!("user '{}' does not exist in /etc/passwd", wish.name)));
        }
    }
    if difference.password { set_password(writer, wish) } else { Ok(()) }
}

/// Fails as `usermod` does, if another user has the number or if processes still have the old one.
fn require_free_number(writer: &mut Writer<'_>, wish: &DesiredUser, uid: u32, old: Option<u32>) -> Result<(), Raised> {
    let refused = |code: i32, why: String| {
        let words = ["-u".to_owned(), uid.to_string(), "--".to_owned(), wish.name.clone()];
        let launch = Launch::program("usermod", words).shown_as_words();
        let errors = format!("usermod: {why}\n").into_bytes();
        require_success(&launch, &CommandOutcome { code: Some(code), errors, ..CommandOutcome::default() }, &[0])
    };
    if !wish.non_unique && writer.users().user_by_id(uid).is_some() {
        return refused(NUMBER_IN_USE, format!("UID '{uid}' already exists"));
    }
    let busy = old.map(|old| process_search::of_user(old, writer.root.path(), writer.root.account())).transpose()?;
    match busy.flatten() {
        Some(process) => refused(USER_BUSY, format!("user {} is currently used by process {process}", wish.name)),
        None => Ok(()),
    }
}

/// The number of the wanted primary group, which must exist.
fn known_group(wish: &DesiredUser, writer: &mut Writer<'_>) -> Result<u32, Raised> {
    let group = wish.gid.as_deref().unwrap_or_default();
    let users = writer.users();
    let found = match group.parse() {
        Ok(number) => users.group_by_id(number),
        Err(_) => users.group(group),
    };
    found.map(|found| found.gid).ok_or_else(|| Raised::new(ErrorKind::User, format!("group '{group}' does not exist")))
}

/// Removes the user with `userdel`; `force` also removes a logged-in one.
pub(super) fn remove(writer: &mut Writer<'_>, wish: &DesiredUser) -> Result<(), Raised> {
    let arguments = if wish.force { vec!["-f".to_owned()] } else { vec![] };
    run(writer, "userdel", arguments, &wish.name)
}

/// Returns the options that `useradd` and `usermod` have in common.
fn options(wish: &DesiredUser, difference: &Difference) -> Vec<String> {
    let mut arguments: Vec<String> = vec![];
    let mut option = |set: bool, option: &str, value: Option<String>| {
        if let Some(value) = value.filter(|_| set) {
            arguments.extend([option.to_owned(), value]);
        }
    };
    option(difference.comment, "-c", wish.comment.clone());
    option(difference.expire_date, "-e", wish.expire_date.clone());
    option(difference.gid, "-g", wish.gid.clone());
    option(difference.inactive, "-f", wish.inactive.map(|days| days.to_string()));
    option(difference.shell, "-s", wish.shell.clone());
    option(difference.uid, "-u", wish.uid.map(|uid| uid.to_string()));
    option(difference.home, "-d", wish.home.clone());
    if wish.non_unique && difference.uid {
        arguments.push("-o".into());
    }
    arguments
}

fn set_password(writer: &mut Writer<'_>, wish: &DesiredUser) -> Result<(), Raised> {
    let Some(Hash(hash)) = &wish.password else { return Ok(()) };
    let launch = Launch::program("chpasswd", ["-e"]).input(format!("{}:{hash}\n", wish.name));
    let outcome = writer.launch(&launch).map_err(|failure| failure.into_raised(&launch))?;
    writer.caches.users.forget();
    require_success(&launch, &outcome, &[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn current() -> Account {
        Account {
            comment: "A".into(),
            uid: Some(1000),
            gid: Some(100),
            home: "/home/a".into(),
            shell: "/bin/sh".into(),
            password: Some(Hash("$6$old".into())),
            expires: Some(20_000),
            inactive: None,
        }
    }

    #[track_caller]
    fn check(wish: DesiredUser, sentences: &[&str], arguments: &str) {
        let difference = compare(&wish, &current());
        assert_eq!(difference.changes.iter().map(|change| change.what.as_str()).collect::<Vec<_>>(), sentences);
        assert_eq!(options(&wish, &difference).join(" "), arguments);
    }

    #[test]
    fn only_what_differs_is_changed() {
        let text = |text: &str| Some(text.to_owned());
        check(DesiredUser::default(), &[], "");
        check(
            DesiredUser {
                comment: text("A"),
                uid: Some(1000),
                gid: text("100"),
                home: text("/home//a/"),
                ..DesiredUser::default()
            },
            &[],
            "",
        );
        check(DesiredUser { comment: text("B"), ..DesiredUser::default() }, &["change comment from A to B"], "-c B");
        check(
            DesiredUser { home: text("/srv/a"), shell: text("/bin/bash"), ..DesiredUser::default() },
            &["change homedir from /home/a to /srv/a", "change shell from /bin/sh to /bin/bash"],
            "-s /bin/bash -d /srv/a",
        );
        check(
            DesiredUser { uid: Some(0), gid: text("5"), non_unique: true, ..DesiredUser::default() },
            &["change uid from 1000 to 0", "change gid from 100 to 5"],
            "-g 5 -u 0 -o",
        );
        check(DesiredUser { expire_date: text("2024-10-04"), ..DesiredUser::default() }, &[], "");
        check(
            DesiredUser { expire_date: text(""), ..DesiredUser::default() },
            &["change expire_date from 2024-10-04 to "],
            "-e ",
        );
        check(DesiredUser { inactive: Some(-1), ..DesiredUser::default() }, &[], "");
        check(DesiredUser { inactive: Some(0), ..DesiredUser::default() }, &["change inactive from  to 0"], "-f 0");
    }

    #[test]
    fn a_hash_is_compared_and_never_shown() {
        let wish = DesiredUser { password: Some(Hash("$6$new".into())), ..DesiredUser::default() };
        check(wish.clone(), &["change password from ******** to ********"], "");
        assert!(compare(&wish, &current()).password);
        assert!(!format!("{wish:?}").contains("new"));
        check(DesiredUser { password: Some(Hash("$6$old".into())), ..DesiredUser::default() }, &[], "");
    }
}
