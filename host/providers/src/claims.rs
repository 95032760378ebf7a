//! Computes the claims of an action: the canonical name of the thing that it manages, and the wanted value of each aspect
//! that it sets.
//!
//! Names are those of the machine: paths with all links resolved, units without `.service`, accounts by name, owners by
//! number. Actions that set no state (`restart`, `run`) claim nothing. Writes by Ruby code claim nothing either, because
//! their wanted state is unknown.

use crate::plan::View;
use crate::resources::{Access, Account, asked, cookbook_source};
use crate::value;
use contract::{ABSENT, Claim, Known, PRESENCE, Wanted};
use machine::digest::Digest;
use schema::ImplementedBy;
use schema::property::Property;
use schema::types::cookbook_file::CookbookFileProperties;
use schema::types::git::GitProperties;
use schema::types::group::GroupProperties;
use schema::types::package::PackageProperties;
use schema::types::securable::{OwnerProperties, SecurableProperties};
use serde_json::Value;

/// Returns the claims of an action.
pub(crate) fn of(wanted: &Wanted<'_>, view: &mut View<'_>) -> Vec<Claim> {
    match wanted.declaration.kind.as_str() {
        "file" | "template" | "cookbook_file" | "remote_file" => file(wanted, view).into_iter().collect(),
        "directory" | "remote_directory" => directory(wanted, view).into_iter().collect(),
        "link" => link(wanted, view).into_iter().collect(),
        "cron_d" => cron_d(wanted, view).into_iter().collect(),
        "git" => checkout(wanted, view).into_iter().collect(),
        "mount" => mount(wanted, view).into_iter().collect(),
        "package" | "apt_package" | "dpkg_package" | "rpm_package" | "dnf_package" | "yum_package" => {
            packages("package", wanted)
        }
        "gem_package" | "chef_gem" => packages("gem", wanted),
        "service" | "systemd_unit" => unit(wanted).into_iter().collect(),
        "user" | "linux_user" => user(wanted).into_iter().collect(),
        "group" => group(wanted).into_iter().collect(),
        "cron" => cron(wanted).into_iter().collect(),
        kind => composed(kind, wanted).into_iter().collect(),
    }
}

/// Types with one instance per machine, such as its time zone. The resource's name is the wanted value.
const ONE_OF_A_KIND: [&str; 3] = ["hostname", "locale", "timezone"];

/// Returns the claim of a composite type: the properties that the resource sets. It exists even if the action has no children
/// because nothing is left to do.
fn composed(kind: &str, wanted: &Wanted<'_>) -> Option<Claim> {
    let resource = schema::find(kind).filter(|resource| resource.implemented_by == ImplementedBy::Children)?;
    let is_one = ONE_OF_A_KIND.contains(&resource.name);
    let properties = resource.properties.iter().flat_map(|part| part.iter());
    let naming = properties.clone().find(|property| property.is_name_property());
    let name = naming.map_or(wanted.declaration.name.as_str(), |property| named(wanted, property.name));
    let claim = Claim::of(resource.name, if is_one { "" } else { name });
    if REMOVING.contains(&wanted.action) {
        return Some(claim.with(PRESENCE, ABSENT));
    }
    if is_one && let Some(property) = naming {
        return Some(claim.with(property.name, name));
    }
    // The report of a conflict shows the values, so sensitive ones are left out.
    let is_shown = |property: &&Property| property.desired_state && !property.sensitive;
    let set = properties.filter(|property| is_shown(property) && !property.is_name_property());
    let set = set.filter_map(|property| Some((property.name, value(wanted, property.name)?)));
    let claim =
        set.filter(|(_, value)| !value.is_null()).fold(claim, |claim, (name, value)| claim.with(name, plain(value)));
    Some(claim.with(PRESENCE, resource.name))
}

/// Actions that remove the thing.
const REMOVING: [&str; 3] = ["delete", "remove", "uninstall"];

/// Returns a claim on a path. If `follows` is true, the last link is followed, as for writing.
fn path(path: &str, follows: bool, view: &View<'_>) -> Option<Claim> {
    let place = if follows { view.root.locate_target(path) } else { view.root.locate(path) };
    let real = match place {
        Ok(place) => place.real().to_owned(),
        // An earlier resource may still create a directory on the way.
        Err(_) => view.root.asked_about(path),
    };
    Some(Claim::of("path", real))
}

/// Returns the property that names the thing, or else the resource's name.
fn named<'w>(wanted: &'w Wanted<'_>, property: &str) -> &'w str {
    text(wanted, property).unwrap_or(&wanted.declaration.name)
}

fn text<'w>(wanted: &'w Wanted<'_>, name: &str) -> Option<&'w str> {
    value(wanted, name).and_then(Value::as_str)
}

/// Returns a value as text, whether it was written as a number or as text.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn digest(bytes: &[u8]) -> String {
    Digest::of(bytes).text().to_owned()
}

fn file(wanted: &Wanted<'_>, view: &mut View<'_>) -> Option<Claim> {
    let name = named(wanted, "path");
    match wanted.action {
        "delete" => Some(path(name, false, view)?.with(PRESENCE, ABSENT)),
        "create" => {
            let claim = accessed(path(name, true, view)?.with(PRESENCE, "file"), wanted, view);
            Some(with_content(claim, wanted, view))
        }
        "create_if_missing" | "touch" => Some(path(name, true, view)?.with(PRESENCE, "file")),
        _ => None,
    }
}

fn with_content(claim: Claim, wanted: &Wanted<'_>, view: &View<'_>) -> Claim {
    let content = match wanted.get("content") {
        Some(Known::Json(Value::String(content))) => Some(digest(content.as_bytes())),
        Some(Known::Bytes(bytes)) => Some(digest(bytes)),
        _ => text(wanted, "checksum").map(str::to_lowercase),
    };
    let brought = || {
        let CookbookFileProperties { source, cookbook } = asked::properties(wanted).ok()?;
        let cookbook = cookbook_source::cookbook(cookbook.as_deref(), wanted).ok()?;
        Some(digest(&cookbook_source::read(view, cookbook, "files", &source).ok()?))
    };
    match (wanted.declaration.kind.as_str(), content) {
        (_, Some(content)) => claim.with("content", content),
        ("cookbook_file", None) => match brought() {
            Some(content) => claim.with("content", content),
            None => claim.with_unknown("content"),
        },
        ("remote_file", None) => claim.with_unknown("content"),
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

fn directory(wanted: &Wanted<'_>, view: &mut View<'_>) -> Option<Claim> {
    let name = named(wanted, "path");
    match wanted.action {
        "create" | "create_if_missing" => {
            Some(accessed(path(name, true, view)?.with(PRESENCE, "directory"), wanted, view))
        }
        "delete" => Some(path(name, false, view)?.with(PRESENCE, ABSENT)),
        _ => None,
    }
}

fn link(wanted: &Wanted<'_>, view: &mut View<'_>) -> Option<Claim> {
    let claim = path(named(wanted, "target_file"), false, view)?;
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
fn cron_d(wanted: &Wanted<'_>, view: &mut View<'_>) -> Option<Claim> {
    let name = named(wanted, "cron_name").replace('.', "-");
    let claim = path(&format!("/etc/cron.d/{name}"), true, view)?;
    match wanted.action {
        "create" => Some(accessed(claim.with(PRESENCE, "file").with_unknown("content"), wanted, view)),
        "create_if_missing" => Some(claim.with(PRESENCE, "file")),
        "delete" => Some(claim.with(PRESENCE, ABSENT)),
        _ => None,
    }
}

fn checkout(wanted: &Wanted<'_>, view: &mut View<'_>) -> Option<Claim> {
    if !matches!(wanted.action, "sync" | "checkout") {
        return None;
    }
    let claim = path(named(wanted, "destination"), true, view)?.with(PRESENCE, "directory");
    let GitProperties { repository, revision, .. } = asked::properties(wanted).ok()?;
    let claim = claim.with("repository", repository.unwrap_or_default());
    Some(if wanted.action == "sync" { claim.with("revision", revision) } else { claim })
}

fn mount(wanted: &Wanted<'_>, view: &mut View<'_>) -> Option<Claim> {
    let real = path(named(wanted, "mount_point"), true, view)?.identity.name;
    let claim = Claim::of("mount", real);
    let described = |claim: Claim| {
        let properties = ["device", "fstype", "options", "dump", "pass"];
        properties.into_iter().fold(claim, |claim, name| match value(wanted, name) {
            Some(value) => claim.with(name, plain(value)),
            None => claim,
        })
    };
    match wanted.action {
        "mount" | "remount" => Some(described(claim.with("mounted", "yes"))),
        "enable" => Some(described(claim.with("enabled", "yes"))),
        "umount" | "unmount" => Some(claim.with("mounted", "no")),
        "disable" => Some(claim.with("enabled", "no")),
        _ => None,
    }
}

fn packages(kind: &'static str, wanted: &Wanted<'_>) -> Vec<Claim> {
    let Ok(PackageProperties { package_name: names, version: versions, .. }) = asked::properties(wanted) else {
        return vec![];
    };
    let of = |(at, name): (usize, &String)| {
        let claim = Claim::of(kind, name.as_str());
        match wanted.action {
            "install" | "upgrade" | "reconfig" => {
                let claim = claim.with(PRESENCE, "installed");
                Some(match versions.get(at).filter(|version| !version.is_empty()) {
                    Some(version) => claim.with("version", version.as_str()),
                    None => claim,
                })
            }
            "remove" | "purge" => Some(claim.with(PRESENCE, ABSENT)),
            "lock" => Some(claim.with("locked", "yes")),
            "unlock" => Some(claim.with("locked", "no")),
            _ => None,
        }
    };
    names.iter().enumerate().filter_map(of).collect()
}

/// Claims a unit. A service and its unit count as one thing.
fn unit(wanted: &Wanted<'_>) -> Option<Claim> {
    let is_service = wanted.declaration.kind == "service";
    let name = named(wanted, if is_service { "service_name" } else { "unit_name" });
    let name = name.strip_suffix(".service").unwrap_or(name);
    // A user's systemd instance has its own units.
    let name = text(wanted, "user").map_or_else(|| name.to_owned(), |user| format!("{user}: {name}"));
    let claim = Claim::of("unit", name);
    Some(match wanted.action {
        "create" => {
            let content = value(wanted, "content").map(|content| digest(plain(content).as_bytes()));
            let claim = claim.with(PRESENCE, "file");
            content.into_iter().fold(claim, |claim, content| claim.with("content", content))
        }
        "delete" => claim.with(PRESENCE, ABSENT),
        "start" => claim.with("running", "yes"),
        "stop" => claim.with("running", "no"),
        "enable" => claim.with("enabled", "yes"),
        "disable" => claim.with("enabled", "no"),
        "mask" => claim.with("masked", "yes"),
        "unmask" => claim.with("masked", "no"),
        _ => return None,
    })
}

fn user(wanted: &Wanted<'_>) -> Option<Claim> {
    let claim = Claim::of("user", named(wanted, "username"));
    match wanted.action {
        "create" | "modify" | "manage" => {
            let claim = claim.with(PRESENCE, "account");
            let properties = ["uid", "gid", "home", "shell", "comment", "password", "expire_date", "inactive"];
            Some(properties.into_iter().fold(claim, |claim, name| match value(wanted, name) {
                Some(value) => claim.with(name, digest(plain(value).as_bytes())),
                None => claim,
            }))
        }
        "remove" => Some(claim.with(PRESENCE, ABSENT)),
        "lock" => Some(claim.with("locked", "yes")),
        "unlock" => Some(claim.with("locked", "no")),
        _ => None,
    }
}

fn group(wanted: &Wanted<'_>) -> Option<Claim> {
    let claim = Claim::of("group", named(wanted, "group_name"));
    match wanted.action {
        "create" | "modify" | "manage" => {
            let mut claim = claim.with(PRESENCE, "account");
            if let Some(gid) = value(wanted, "gid") {
                claim = claim.with("gid", plain(gid));
            }
            let GroupProperties { append, mut members, .. } = asked::properties(wanted).ok()?;
            // With `append`, other resources may add members too, so the members are not claimed. Otherwise the resource sets
            // the whole list; without `members`, it removes all.
            if !append {
                members.sort_unstable();
                claim = claim.with("members", members.join(","));
            }
            Some(claim)
        }
        "remove" => Some(claim.with(PRESENCE, ABSENT)),
        _ => None,
    }
}

/// Claims a job of a user's crontab, identified by its name.
fn cron(wanted: &Wanted<'_>) -> Option<Claim> {
    let user = text(wanted, "user").unwrap_or("root");
    let claim = Claim::of("cron", format!("{user}: {}", wanted.declaration.name));
    match wanted.action {
        "create" => {
            let properties = ["minute", "hour", "day", "month", "weekday", "time", "command", "environment"];
            let values = properties.iter().filter_map(|name| Some(format!("{name} {}\n", plain(value(wanted, name)?))));
            Some(claim.with(PRESENCE, "job").with("job", digest(values.collect::<String>().as_bytes())))
        }
        "delete" => Some(claim.with(PRESENCE, ABSENT)),
        _ => None,
    }
}
