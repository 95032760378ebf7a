//! Denials as a guest may hear of them: by the path that it wrote.
//!
//! Grants are asked about resolved paths, and a denial names what was asked. Told to a guest, that would say where every link
//! leads: those in `/proc` name all programs that run. So a guest hears its own words; the operator finds the resolved path,
//! and the line that would allow it, in the audit log and in the list of denials.

use crate::root::Root;
use contract::{Known, Raised, Wanted};
use serde_json::Value;

/// What stands for the line that would allow it.
const HINT: &str = "the list of denials at the end of the run has the line that would allow it";

/// Where wrun itself chooses the paths that resources ask for.
const HOST_CHOSEN: [&str; 6] =
    ["/etc/cron.d/", "/etc/fstab", "/etc/systemd/", "/run/systemd/", "/var/spool/cron/", "/home/"];

/// How many texts of one resource are looked at.
const MAX_TEXTS: usize = 1_000;

/// A denial in the words of the resource that was refused.
pub(crate) fn as_written(raised: Raised, wanted: &Wanted<'_>, root: &Root) -> Raised {
    let Some(resolved) = raised.resolved.clone() else { return raised };
    let raised = Raised { resolved: None, ..raised };
    let mut texts = vec![wanted.declaration.name.clone()];
    for (name, _) in &wanted.declaration.properties {
        if let Some(Known::Json(value)) = wanted.get(name) {
            collect(value, &mut texts);
        }
    }
    let base = texts.iter().filter(|text| text.starts_with('/')).find_map(|text| Some(text.rsplit_once('/')?.0));
    let base = base.unwrap_or_default().to_owned();
    let written = texts.iter().find_map(|text| named(text, &base, &resolved, root));
    match written {
        Some(Some(written)) => renamed(raised, &resolved, &written),
        // As it was written.
        Some(None) => raised,
        None if HOST_CHOSEN.iter().any(|folder| resolved.starts_with(folder)) => raised,
        // Named in a way that only the provider understands.
        None => renamed(raised, &resolved, &format!("a path of {}", wanted.declaration.key())),
    }
}

/// The same for one path.
pub(crate) fn as_asked(raised: Raised, written: &str, root: &Root) -> Raised {
    let Some(resolved) = raised.resolved.clone() else { return raised };
    let raised = Raised { resolved: None, ..raised };
    match named(written, "", &resolved, root) {
        Some(None) => raised,
        Some(Some(text)) => renamed(raised, &resolved, &text),
        None => renamed(raised, &resolved, written),
    }
}

/// A denied command, whose line for the grants holds its resolved directory.
pub(crate) fn with_directory(raised: Raised, written: Option<&str>, resolved: Option<&str>) -> Raised {
    let is_plain = written.is_none_or(|written| !written.starts_with('/') || plain(written).as_deref() == resolved);
    if is_plain { raised } else { Raised { hint: Some(HINT.into()), ..raised } }
}

/// A denial of something whose text holds resolved paths, by the same text as it was written.
pub(crate) fn with_text(raised: Raised, resolved: &str, written: &str) -> Raised {
    if resolved == written { raised } else { renamed(raised, resolved, written) }
}

fn renamed(raised: Raised, resolved: &str, written: &str) -> Raised {
    let message = raised.message.replace(&format!("`{resolved}`"), &format!("`{written}`"));
    Raised { message, hint: Some(HINT.into()), ..raised }
}

/// All texts of a value.
fn collect(value: &Value, texts: &mut Vec<String>) {
    match value {
        _ if texts.len() >= MAX_TEXTS => {}
        Value::String(text) => texts.push(text.clone()),
        Value::Array(all) => all.iter().for_each(|one| collect(one, texts)),
        Value::Object(all) => all.values().for_each(|one| collect(one, texts)),
        _ => {}
    }
}

/// How a text names a resolved path: `None` if it does not; `Some(None)` if it says the very path, or one above or below it
/// without a link in between; else the path in the words of the text.
fn named(text: &str, base: &str, resolved: &str, root: &Root) -> Option<Option<String>> {
    let path = text.strip_prefix("file://").unwrap_or(text);
    let absolute = if path.starts_with('/') { path.to_owned() } else { format!("{base}/{path}") };
    // The link itself, and what it leads to.
    let itself = root.locate(&absolute).map(|place| place.real().to_owned());
    let target = root.asked_about(&absolute);
    let plain = plain(&absolute);
    for real in [itself.ok(), target.ok()].into_iter().flatten() {
        let is_above = real.strip_prefix(resolved).is_some_and(|rest| rest.starts_with('/'));
        let below = resolved.strip_prefix(real.trim_end_matches('/'));
        let below = below.filter(|rest| rest.is_empty() || rest.starts_with('/'));
        if !is_above && below.is_none() {
            continue;
        }
        if plain.as_ref() == Some(&real) {
            return Some(None);
        }
        return Some(Some(format!("{text}{}", below.unwrap_or_default())));
    }
    None
}

/// An absolute path without doubled slashes and `.`; `None` if it has `..`, which may lead anywhere.
fn plain(path: &str) -> Option<String> {
    let parts: Vec<&str> = path.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    (!parts.contains(&"..")).then(|| format!("/{}", parts.join("/")))
}
