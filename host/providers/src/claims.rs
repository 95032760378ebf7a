//! Computes the claims of an action: the canonical name of the thing that it manages, and the wanted value of each aspect
//! that it sets.
//!
//! Names are those of the machine: paths with all links resolved, units without `.service`, accounts by name, owners by
//! number. Actions that set no state (`restart`, `run`) claim nothing. Writes by Ruby code claim nothing either, because
//! their wanted state is unknown.

mod paths;

use crate::plan::View;
use crate::resources::asked;
use crate::resources::mount::TABLE;
use crate::{composite, value};
use contract::{ABSENT, CONTENT, Claim, LINES, PRESENCE, Wanted};
use machine::digest::Digest;
use schema::ImplementedBy;
use schema::property::Property;
use schema::types::group::GroupProperties;
use schema::types::package::PackageProperties;
use serde_json::Value;

/// Returns the claims of an action.
pub(crate) fn of(wanted: &Wanted<'_>, view: &mut View<'_>) -> Vec<Claim> {
    match wanted.declaration.kind.as_str() {
        "file" | "template" | "cookbook_file" | "remote_file" => paths::file(wanted, view),
        "directory" => paths::directory(wanted, view).into_iter().collect(),
        "remote_directory" => paths::remote_directory(wanted, view),
        "link" => paths::link(wanted, view).into_iter().collect(),
        "cron_d" => paths::cron_d(wanted, view).into_iter().collect(),
        "git" => paths::checkout(wanted, view).into_iter().collect(),
        "mount" => mount(wanted, view),
        "package" | "apt_package" | "dpkg_package" | "rpm_package" | "dnf_package" | "yum_package" => {
            packages("package", wanted)
        }
        "gem_package" | "chef_gem" => packages("gem", wanted),
        "service" => unit(wanted).into_iter().collect(),
        // A unit is its file: two units of one name, and a file at its path, are compared by the path.
        "systemd_unit" if matches!(wanted.action, "create" | "delete") => {
            paths::unit_file(wanted, view).into_iter().collect()
        }
        "systemd_unit" => unit(wanted).into_iter().collect(),
        "user" | "linux_user" => user(wanted).into_iter().chain(paths::home(wanted, view)).collect(),
        "group" => group(wanted).into_iter().collect(),
        "cron" => cron(wanted).into_iter().collect(),
        "hostname" => composed("hostname", wanted).into_iter().chain(hosts(wanted, view)).collect(),
        kind => composed(kind, wanted).into_iter().chain(own_file(kind, wanted, view)).collect(),
    }
}

/// Returns the claim on the file of a composite type, which has no child for it if there is nothing to do.
fn own_file(kind: &str, wanted: &Wanted<'_>, view: &View<'_>) -> Option<Claim> {
    let composite::OwnFile { path, text } = composite::find(kind)?.own_file(wanted)?;
    let claim = paths::path(&path, true, view);
    Some(match text {
        _ if REMOVING.contains(&wanted.action) => claim.with(PRESENCE, ABSENT),
        Some(text) => claim.with(PRESENCE, "file").with(CONTENT, digest(text.as_bytes())),
        None => claim.with(PRESENCE, "file"),
    })
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

fn mount(wanted: &Wanted<'_>, view: &mut View<'_>) -> Vec<Claim> {
    let claim = Claim::of("mount", paths::path(named(wanted, "mount_point"), true, view).identity.name);
    let described = |claim: Claim| {
        let properties = ["device", "fstype", "options", "dump", "pass"];
        properties.into_iter().fold(claim, |claim, name| match value(wanted, name) {
            Some(value) => claim.with(name, plain(value)),
            None => claim,
        })
    };
    let table = || paths::path(TABLE, true, view).with(LINES, "mounts");
    match wanted.action {
        "mount" | "remount" => vec![described(claim.with("mounted", "yes"))],
        "enable" => vec![described(claim.with("enabled", "yes")), table()],
        "umount" | "unmount" => vec![claim.with("mounted", "no")],
        "disable" => vec![claim.with("enabled", "no"), table()],
        _ => vec![],
    }
}

/// Claims the line of a host's name, also if it is there already.
fn hosts(wanted: &Wanted<'_>, view: &View<'_>) -> Option<Claim> {
    let path = composite::line_of_hostname(wanted, view)?;
    Some(paths::path(path, true, view).with(LINES, "some"))
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

/// Claims the state of a unit. A service and its unit count as one thing.
fn unit(wanted: &Wanted<'_>) -> Option<Claim> {
    let is_service = wanted.declaration.kind == "service";
    let name = named(wanted, if is_service { "service_name" } else { "unit_name" });
    let name = name.strip_suffix(".service").unwrap_or(name);
    // A user's systemd instance has its own units.
    let name = text(wanted, "user").map_or_else(|| name.to_owned(), |user| format!("{user}: {name}"));
    let claim = Claim::of("unit", name);
    Some(match wanted.action {
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
