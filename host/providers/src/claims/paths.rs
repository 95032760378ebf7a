//! The claims on paths: files, directories and links, whatever type of resource writes them.

use super::{digest, named, text};
use crate::plan::View;
use crate::resources::{Access, Account, asked, cookbook_source, remote_directory, systemd_unit};
use crate::value;
use contract::{ABSENT, CONTENT, Claim, LINES, OwnPart, PATH, PRESENCE, Wanted};
use schema::types::cookbook_file::CookbookFileProperties;
use schema::types::directory::DirectoryProperties;
use schema::types::git::GitProperties;
use schema::types::remote_directory::RemoteDirectoryProperties;
use schema::types::securable::{OwnerProperties, SecurableProperties};
use schema::types::systemd_unit::SystemdUnitProperties;
use serde_json::Value;
use std::collections::BTreeSet;

/// Returns a claim on a path. If `follows` is true, the last link is followed, as for writing.
pub(super) fn path(path: &str, follows: bool, view: &View<'_>) -> Claim {
    let place = if follows { view.root.locate_target(path) } else { view.root.locate(path) };
    let real = match place {
        Ok(place) => place.real().to_owned(),
        // An earlier resource may still create a directory on the way.
        Err(_) => view.root.asked_about(path),
    };
    Claim::of(PATH, real)
}

/// Claims a file. A link at its path is followed. The path as written is then claimed, too, since the file would be there
/// without the link.
pub(super) fn file(wanted: &Wanted<'_>, view: &mut View<'_>) -> Vec<Claim> {
    let name = named(wanted, "path");
    let replaces = value(wanted, "manage_symlink_source").and_then(Value::as_bool) == Some(false);
    let there = |view: &View<'_>| path(name, !replaces, view).with(PRESENCE, "file");
    let claim = match wanted.action {
        "delete" => return vec![path(name, false, view).with(PRESENCE, ABSENT)],
        "create" => with_content(accessed(there(view), wanted, view), wanted, view),
        "create_if_missing" | "touch" => there(view),
        _ => return vec![],
    };
    let written = path(name, false, view).with(PRESENCE, "file");
    let through_link = (written.identity != claim.identity).then_some(written);
    [claim].into_iter().chain(through_link).collect()
}

fn with_content(claim: Claim, wanted: &Wanted<'_>, view: &mut View<'_>) -> Claim {
    match wanted.declaration.own {
        // wrun adds a line, and leaves the others as they are.
        Some(OwnPart::SwapLine { .. }) => return claim.with(LINES, "mounts"),
        Some(OwnPart::Lines) => return claim.with(LINES, "some"),
        _ => {}
    }
    let content = match asked::content(wanted, "content") {
        Ok(Some(content)) => Some(digest(content)),
        _ => text(wanted, "checksum").map(str::to_lowercase),
    };
    let mut brought = || {
        let CookbookFileProperties { source, cookbook } = asked::properties(wanted).ok()?;
        let cookbook = cookbook_source::cookbook(cookbook.as_deref(), wanted).ok()?;
        Some(cookbook_source::digest(view, cookbook, "files", &source).ok()?.text().to_owned())
    };
    match (wanted.declaration.kind.as_str(), content) {
        (_, Some(content)) => claim.with(CONTENT, content),
        ("cookbook_file", None) => match brought() {
            Some(content) => claim.with(CONTENT, content),
            None => claim.with_unknown(CONTENT),
        },
        ("remote_file", None) => claim.with_unknown(CONTENT),
        // A resource without content leaves the file's content unclaimed.
        _ => claim,
    }
}

/// Adds owner, group and mode to a claim, as far as the action sets them.
fn accessed(mut claim: Claim, wanted: &Wanted<'_>, view: &mut View<'_>) -> Claim {
    let is_link = wanted.declaration.kind == "link";
    let of_link = |wanted| asked::properties::<OwnerProperties>(wanted).map(SecurableProperties::from);
    let Ok(SecurableProperties { owner, group, mode }) =
        (if is_link { of_link(wanted) } else { asked::properties(wanted) })
    else {
        return claim;
    };
    let access = Access::of(owner.as_ref(), group.as_ref(), mode);
    if let Some(mode) = access.mode {
        claim = claim.with("mode", format!("{mode:o}"));
    }
    let number = |account: &Account<'_>, of: &mut dyn FnMut(&str) -> Option<u32>| match account {
        Account::Number(number) => number.to_string(),
        Account::Name(name) => of(name).map_or_else(|| (*name).to_owned(), |number| number.to_string()),
    };
    if let Some(owner) = &access.owner {
        let owner = number(owner, &mut |name| view.users().user(name).map(|user| user.uid));
        claim = claim.with("owner", owner);
    }
    if let Some(group) = &access.group {
        let group = number(group, &mut |name| view.users().group(name).map(|group| group.gid));
        claim = claim.with("group", group);
    }
    claim
}

pub(super) fn directory(wanted: &Wanted<'_>, view: &mut View<'_>) -> Option<Claim> {
    let name = named(wanted, "path");
    match wanted.action {
        "create" | "create_if_missing" => {
            Some(accessed(path(name, true, view).with(PRESENCE, "directory"), wanted, view))
        }
        "delete" => {
            let claim = path(name, false, view).with(PRESENCE, ABSENT);
            let DirectoryProperties { recursive, .. } = asked::properties(wanted).ok()?;
            Some(if recursive { claim.keeping_below(BTreeSet::new()) } else { claim })
        }
        _ => None,
    }
}

pub(super) fn link(wanted: &Wanted<'_>, view: &mut View<'_>) -> Option<Claim> {
    let claim = path(named(wanted, "target_file"), false, view);
    match wanted.action {
        "create" => {
            let to = text(wanted, "to").unwrap_or_default();
            Some(accessed(claim.with(PRESENCE, "link").with("to", to), wanted, view))
        }
        "delete" => Some(claim.with(PRESENCE, ABSENT)),
        _ => None,
    }
}

/// Claims a file below `/etc/cron.d`. Two cookbooks may write it as resources of different types.
pub(super) fn cron_d(wanted: &Wanted<'_>, view: &mut View<'_>) -> Option<Claim> {
    let name = named(wanted, "cron_name").replace('.', "-");
    let claim = path(&format!("/etc/cron.d/{name}"), true, view);
    match wanted.action {
        "create" => Some(accessed(claim.with(PRESENCE, "file").with_unknown(CONTENT), wanted, view)),
        "create_if_missing" => Some(claim.with(PRESENCE, "file")),
        "delete" => Some(claim.with(PRESENCE, ABSENT)),
        _ => None,
    }
}

pub(super) fn checkout(wanted: &Wanted<'_>, view: &mut View<'_>) -> Option<Claim> {
    if !matches!(wanted.action, "sync" | "checkout") {
        return None;
    }
    let claim = path(named(wanted, "destination"), true, view).with(PRESENCE, "directory");
    let GitProperties { repository, revision, .. } = asked::properties(wanted).ok()?;
    let claim = claim.with("repository", repository.unwrap_or_default());
    Some(if wanted.action == "sync" { claim.with("revision", revision) } else { claim })
}

/// Claims a directory with each of its files. With `purge`, everything else below it is removed.
pub(super) fn remote_directory(wanted: &Wanted<'_>, view: &mut View<'_>) -> Vec<Claim> {
    let Some(claim) = directory(wanted, view) else { return vec![] };
    if wanted.action == "delete" {
        return vec![claim];
    }
    let Ok(files) = remote_directory::files(wanted, view) else { return vec![claim] };
    let Ok(RemoteDirectoryProperties { purge, overwrite, .. }) = asked::properties(wanted) else { return vec![claim] };
    let sets_content = overwrite && wanted.action == "create";
    let folder = claim.identity.name.trim_end_matches('/').to_owned();
    let mut kept = BTreeSet::new();
    let mut claims = Vec::new();
    for file in files {
        kept.extend(remote_directory::with_parents(&file.name).map(|path| format!("{folder}/{path}")));
        let claim = path(&format!("{folder}/{}", file.name), true, view).with(PRESENCE, "file");
        claims.push(match sets_content.then(|| file.digest(view)).flatten() {
            Some(content) => claim.with(CONTENT, content.text()),
            None => claim,
        });
    }
    claims.insert(0, if purge { claim.keeping_below(kept) } else { claim });
    claims
}

/// Claims the file of a unit.
pub(super) fn unit_file(wanted: &Wanted<'_>, view: &View<'_>) -> Option<Claim> {
    let properties: SystemdUnitProperties = asked::properties(wanted).ok()?;
    let (name, text) = systemd_unit::file(&properties);
    Some(match wanted.action {
        "create" => path(&name, true, view).with(PRESENCE, "file").with(CONTENT, digest(text.as_bytes())),
        _ => path(&name, false, view).with(PRESENCE, ABSENT),
    })
}

/// Claims the home of a user that is made, or removed, with the user.
pub(super) fn home(wanted: &Wanted<'_>, view: &mut View<'_>) -> Option<Claim> {
    if value(wanted, "manage_home").and_then(Value::as_bool) != Some(true) {
        return None;
    }
    let known = view.users().user(named(wanted, "username")).map(|user| user.home.clone());
    match wanted.action {
        "create" | "modify" | "manage" => {
            let home = text(wanted, "home").map(str::to_owned).or(known)?;
            Some(path(&home, true, view).with(PRESENCE, "directory"))
        }
        "remove" => Some(path(&known?, false, view).with(PRESENCE, ABSENT).keeping_below(BTreeSet::new())),
        _ => None,
    }
}
