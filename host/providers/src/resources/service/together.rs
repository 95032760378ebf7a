//! The other units and names that systemd enables or disables together with a unit: `Also=` and `Alias=` of its `[Install]`
//! section.
//!
//! systemd follows `Also=` by itself, so wrun asks for each of these units before. It also makes the links of aliases, which
//! must not take the name of another unit.

use super::unit::{CONFIGURATION, FOLDERS, NOTHING, install_words, unit_name};
use crate::plan::View;
use contract::{ErrorKind, Raised};
use machine::denied::denied;
use machine::guest::ForeseenFile;
use machine::root::Kind;

/// Maximum number of units that are enabled together.
const MAX_UNITS: usize = 64;

/// Checks whether the policy may enable or disable all units that systemd enables or disables with one.
///
/// # Errors
/// Another unit, or an alias, is not granted; an alias belongs to another unit; or the units are too many, or named in a way
/// that only systemd understands.
pub(crate) fn require_together(name: &str, enable: bool, view: &View<'_>) -> Result<(), Raised> {
    let mut units = vec![unit_name(name)];
    let mut at = 0;
    while let Some(unit) = units.get(at).cloned() {
        at += 1;
        let Some(path) = file_of(&unit, view) else { continue };
        if at > 1 {
            let _granted = view.grants.service(&unit).map_err(denied)?;
        }
        for (key, word) in texts(&path, &unit, view).iter().flat_map(|text| install_words(text)) {
            match key.as_str() {
                "Alias" if enable => require_alias(&expanded(&word, &unit)?, &path, &unit, view)?,
                "Also" => {
                    let other = unit_name(&expanded(&word, &unit)?);
                    if !units.contains(&other) {
                        units.push(other);
                    }
                }
                _ => {}
            }
        }
        if units.len() > MAX_UNITS {
            let message = format!("{name} has more than {MAX_UNITS} units that are enabled together");
            return Err(Raised::new(ErrorKind::Service, message));
        }
    }
    Ok(())
}

/// Checks that an alias may be made: it belongs to no other unit, or the policy has the right to that one.
fn require_alias(alias: &str, path: &str, unit: &str, view: &View<'_>) -> Result<(), Raised> {
    let Some(other) = file_of(alias, view) else {
        return view.grants.service_is_not_refused(alias).map_err(denied);
    };
    if view.root.asked_about(&other) == view.root.asked_about(path) {
        return Ok(());
    }
    let is_link = view.root.entry(&other)?.is_some_and(|entry| entry.kind == Kind::Link);
    if other.strip_prefix(CONFIGURATION).is_some() {
        let leads =
            if is_link { format!(" and is a symlink to {}", view.root.asked_about(&other)) } else { String::new() };
        let message = format!("Failed to enable unit: File {other} already exists{leads}");
        let hint = format!("{alias} is an alias of {unit}, too: disable the other unit first");
        return Err(Raised::new(ErrorKind::Service, message).with_hint(hint));
    }
    view.grants.service(alias).map(drop).map_err(denied)
}

/// Returns the path of a unit's file, or of its template, in the first folder that has one. A masked unit has none.
fn file_of(unit: &str, view: &View<'_>) -> Option<String> {
    let names = [Some(unit.to_owned()), template(unit)];
    let paths = names.into_iter().flatten().flat_map(|name| FOLDERS.map(|folder| format!("{folder}/{name}")));
    paths.into_iter().find(|path| exists(path, view)).filter(|path| view.root.asked_about(path) != NOTHING)
}

fn exists(path: &str, view: &View<'_>) -> bool {
    match view.foreseen_file(&view.root.asked_about(path)) {
        Some(foreseen) => matches!(foreseen, ForeseenFile::There { .. }),
        None => view.root.entry(path).is_ok_and(|entry| entry.is_some()),
    }
}

/// Returns the texts of a unit's file and of its drop-ins, whose `[Install]` sections count as well.
fn texts(path: &str, unit: &str, view: &View<'_>) -> Vec<String> {
    let folders = FOLDERS.into_iter().flat_map(|folder| drop_ins(unit).map(move |name| format!("{folder}/{name}.d")));
    let files = folders.flat_map(|folder| {
        let names = view.root.locate_target(&folder).and_then(|place| place.names()).unwrap_or_default();
        names.into_iter().filter(|name| name.ends_with(".conf")).map(move |name| format!("{folder}/{name}"))
    });
    std::iter::once(path.to_owned()).chain(files).filter_map(|path| text(&path, view)).collect()
}

fn text(path: &str, view: &View<'_>) -> Option<String> {
    let bytes = match view.foreseen_file(&view.root.asked_about(path)) {
        Some(ForeseenFile::There { content, .. }) => content,
        Some(ForeseenFile::Absent) => return None,
        None => view.root.read(path).ok()?,
    };
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns the template of an instance: `web@.service` of `web@1.service`.
fn template(unit: &str) -> Option<String> {
    let (base, rest) = unit.split_once('@')?;
    Some(format!("{base}@.{}", rest.rsplit_once('.')?.1))
}

/// Returns the names of units whose drop-ins count for a unit: its own, its template's, those of its prefixes (`web-` of
/// `web-a`), and those of its suffix.
fn drop_ins(unit: &str) -> impl Iterator<Item = String> {
    let (stem, suffix) = unit.rsplit_once('.').unwrap_or((unit, "service"));
    let (stem, suffix) = (stem.to_owned(), suffix.to_owned());
    let dashes: Vec<usize> = stem.match_indices('-').map(|(at, _)| at).collect();
    let of_prefixes: Vec<String> =
        dashes.into_iter().filter_map(|at| Some(format!("{}.{suffix}", stem.get(..=at)?))).collect();
    [unit.to_owned(), suffix].into_iter().chain(template(unit)).chain(of_prefixes)
}

/// Replaces the specifiers of a word that name parts of the unit's own name.
fn expanded(word: &str, unit: &str) -> Result<String, Raised> {
    let stem = unit.rsplit_once('.').map_or(unit, |(stem, _)| stem);
    let (prefix, instance) = stem.split_once('@').unwrap_or((stem, ""));
    let mut text = String::new();
    let mut characters = word.chars();
    while let Some(character) = characters.next() {
        if character != '%' {
            text.push(character);
            continue;
        }
        text.push_str(match characters.next() {
            Some('n') => unit,
            Some('N') => stem,
            Some('p') => prefix,
            Some('i') => instance,
            Some('j') => prefix.rsplit('-').next().unwrap_or(prefix),
            Some('%') => "%",
            _ => {
                let message = format!("{unit} is enabled together with `{word}`, which wrun cannot judge");
                return Err(
                    Raised::new(ErrorKind::Service, message).with_hint("write the unit's name without this specifier")
                );
            }
        });
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_units_are_expanded_as_systemd_does() {
        let check = |word: &str, expect: &str| assert_eq!(expanded(word, "web-a@x.service").unwrap(), expect, "{word}");
        check("db.socket", "db.socket");
        check("%p@%i.socket", "web-a@x.socket");
        check("%N-%j.timer", "web-a@x-a.timer");
        check("100%%-%n", "100%-web-a@x.service");
        assert!(expanded("%H.service", "web.service").is_err() && expanded("web%", "web.service").is_err());
    }

    #[test]
    fn drop_ins_of_prefixes_and_templates_count() {
        let names: Vec<_> = drop_ins("web-a@x.service").collect();
        assert_eq!(names, ["web-a@x.service", "service", "web-a@.service", "web-.service"]);
    }
}
