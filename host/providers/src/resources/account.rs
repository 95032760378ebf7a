//! Checks that `user` and `group` have in common.

use crate::plan::{View, Writer};
use crate::standing;
use contract::{ErrorKind, Limit, Raised};
use grants::Capability;
use std::collections::HashSet;

/// Maximum length of a text in the files of accounts, in bytes.
const MAX_FIELD: usize = 1024;

/// Maximum length of a name in the records of the kernel and the login tools, in bytes.
const MAX_NAME: usize = 32;

/// Refuses names with another meaning for the tools or in the files. The tools themselves check the remaining names.
///
/// # Errors
/// The name is empty, too long or a number, begins with a special character of tools or files, or contains separators of the
/// files.
pub(super) fn check_name(name: &str, kind: ErrorKind) -> Result<(), Raised> {
    let separator = |c: char| c.is_control() || c.is_whitespace() || matches!(c, ':' | ',' | '/');
    let is_number = name.bytes().all(|byte| byte.is_ascii_digit());
    if is_number || name.len() > MAX_NAME || name.starts_with(['-', '+', '~']) || name.contains(separator) {
        return Err(Raised::new(kind, format!("{name:?} cannot be the name of a user or a group")));
    }
    Ok(())
}

/// Checks a field of the account files: it must not contain a separator or a line end.
///
/// # Errors
/// The value contains a colon or a control character, or is too long: all policies read the files of accounts.
pub(super) fn check_field(property: &str, value: &str, kind: ErrorKind) -> Result<(), Raised> {
    if value.contains(|c: char| c == ':' || c.is_control()) {
        return Err(Raised::new(kind, format!("{property} holds a colon or a control character")));
    }
    if value.len() > MAX_FIELD {
        return Err(Raised::new(kind, format!("{property} has more than {MAX_FIELD} bytes")));
    }
    Ok(())
}

/// Parses the numeric id of a user or group.
///
/// # Errors
/// The text is not an id that an account can have.
pub(super) fn parse_number(property: &str, text: &str, kind: ErrorKind) -> Result<u32, Raised> {
    let number = text.trim().parse().ok().filter(|number| *number != u32::MAX);
    number.ok_or_else(|| Raised::new(kind, format!("{property} {text:?} is not a number from 0 to {}", u32::MAX - 1)))
}

/// Charges the policy for a user or a group that is made. Numbers of users, and the ranges of numbers in `/etc/subuid`, are
/// shared by all policies of the machine.
///
/// # Errors
/// The policy has made as many in this run as it may.
pub(super) fn charge_new(writer: &Writer<'_>, kind: ErrorKind) -> Result<(), Raised> {
    let charged = writer.settings.account.spend(Limit::Accounts, 1);
    charged.map_err(|ended| Raised::new(kind, ended.to_string()))
}

/// Checks that there is room for a user or a group that only a rule with wildcards allows. A policy could otherwise make new
/// ones in each run, until the machine has no numbers left for anybody.
///
/// # Errors
/// The rules with wildcards match as many accounts of earlier runs, or of others, as the policy may make.
pub(super) fn require_room(
    capability: Capability,
    name: &str,
    kind: ErrorKind,
    view: &mut View<'_>,
) -> Result<(), Raised> {
    if !view.grants.is_account_by_wildcard(capability, name) {
        return Ok(());
    }
    let (most, made) = (view.settings.account.limits().accounts, view.settings.account.usage().accounts);
    let grants = view.grants;
    let (users, groups) = standing::ordinary_names(view);
    let matched = |capability, name: &String| grants.is_account_by_wildcard(capability, name);
    let users: HashSet<&String> = users.iter().filter(|name| matched(Capability::Users, name)).collect();
    // A user's own group comes with the user.
    let groups = groups.iter().filter(|name| matched(Capability::Groups, name) && !users.contains(name)).count();
    let count = u64::try_from(users.len() + groups).unwrap_or(u64::MAX);
    // Those of this run are charged.
    if count < most || count <= made {
        return Ok(());
    }
    let message = format!(
        "cannot make {name}: {count} users and groups are there already that rules with wildcards of the policy match, and \
         `limits.accounts` allows {most}"
    );
    Err(Raised::new(kind, message)
        .with_hint("remove those that nobody needs, name them in the grants without wildcards, or raise the limit"))
}

/// Adds the reason to the error of a `useradd` that found no range of subordinate numbers.
pub(super) fn explain_ranges(raised: Raised) -> Raised {
    if !raised.message.contains("subordinate") {
        return raised;
    }
    raised.with_hint(
        "/etc/subuid or /etc/subgid has no range left below SUB_UID_MAX or SUB_GID_MAX of /etc/login.defs: remove users that \
         nobody needs, raise these numbers, or set SUB_UID_COUNT and SUB_GID_COUNT to 0 if no user needs containers",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attack_long_texts_do_not_fill_the_files_of_accounts() {
        let check = |length: usize| check_field("comment", &"x".repeat(length), ErrorKind::User);
        assert!(check(MAX_FIELD).is_ok() && check(MAX_FIELD + 1).is_err());
    }

    #[test]
    fn names_that_would_break_the_files_are_refused() {
        let check =
            |name: &str, expect: bool| assert_eq!(check_name(name, ErrorKind::User).is_ok(), expect, "{name:?}");
        check("mysql", true);
        check("_apt", true);
        check("host$", true);
        check("", false);
        check("-r", false);
        check("0", false);
        check("1000", false);
        check("+", false);
        check("+@all", false);
        check("~a", false);
        check("a0", true);
        check("0a", true);
        check("a:b", false);
        check("a,b", false);
        check("a b", false);
        check("a\nroot::0:0::/:/bin/sh", false);
        check(&"a".repeat(33), false);
    }

    #[test]
    fn attack_used_up_ranges_are_named() {
        let failed =
            "STDERR: useradd: Can't get unique subordinate UID range\nuseradd: can't create subordinate user IDs";
        let hint = explain_ranges(Raised::new(ErrorKind::User, failed)).hint.unwrap();
        assert!(hint.contains("/etc/subuid"), "{hint}");
        assert_eq!(explain_ranges(Raised::new(ErrorKind::User, "useradd: user 'x' already exists")).hint, None);
    }

    #[test]
    fn numbers_are_what_accounts_can_have() {
        let check = |text: &str, expect: Option<u32>| {
            assert_eq!(parse_number("uid", text, ErrorKind::User).ok(), expect, "{text}");
        };
        check("0", Some(0));
        check(" 1000 ", Some(1000));
        check("4294967295", None);
        check("-1", None);
        check("a", None);
    }
}
