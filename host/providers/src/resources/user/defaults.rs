//! What the configuration of the login tools decides about new users.
//!
//! `useradd` reads it at the time of the call. So wrun reads it before, judges the result, and says each choice as an option.

use machine::root::Root;

/// The configuration of the login tools. Some distributions keep the vendor's file below `/usr`.
const LOGIN: [&str; 2] = ["/etc/login.defs", "/usr/etc/login.defs"];
const NEW_USERS: [&str; 2] = ["/etc/default/useradd", "/usr/etc/default/useradd"];

/// The primary group of new users where `useradd` has no setting for it.
const USERS: &str = "100";

/// Returns the primary group of new users, as a name or a number. `None`: each gets a group of its own name.
pub(super) fn primary_group(root: &Root) -> Option<String> {
    let own = LOGIN.iter().find_map(|file| setting(root, file, "USERGROUPS_ENAB"))?;
    if own.eq_ignore_ascii_case("yes") {
        return None;
    }
    let group = NEW_USERS.iter().find_map(|file| setting(root, file, "GROUP"));
    Some(group.unwrap_or_else(|| USERS.into()))
}

/// Tells whether `useradd` would make new users members of further groups.
pub(super) fn has_further_groups(root: &Root) -> bool {
    NEW_USERS.iter().any(|file| setting(root, file, "GROUPS").is_some())
}

/// A setting of a file with lines `NAME=value` or `NAME value`.
pub(super) fn setting(root: &Root, file: &str, name: &str) -> Option<String> {
    let text = root.read(file).ok()?;
    let text = String::from_utf8_lossy(&text);
    let value = text.lines().rev().find_map(|line| {
        let rest = line.trim().strip_prefix(name)?;
        let value = rest.strip_prefix('=').or_else(|| rest.strip_prefix([' ', '\t']))?;
        Some(value.trim().trim_matches('"').to_owned())
    });
    value.filter(|value| !value.is_empty())
}
