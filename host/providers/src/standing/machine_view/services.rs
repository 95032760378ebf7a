//! Whether there is a unit or an init script of a name.

use crate::standing::run_by_root::units::UNITS;
use machine::root::Root;

/// The folders of init scripts.
const INIT_SCRIPTS: [&str; 3] = ["/etc/init.d", "/etc/rc.d/init.d", "/etc/rc.d"];

/// The endings of units that a service's name may lack.
const KINDS: [&str; 4] = [".service", ".socket", ".timer", ".path"];

/// Tells whether there is a unit or an init script of this name. One that cannot be looked at counts as present.
pub(super) fn has_service(root: &Root, name: &str) -> bool {
    let (plain, kind) = match KINDS.iter().find_map(|kind| Some((name.strip_suffix(kind)?, *kind))) {
        Some((plain, kind)) => (plain, kind),
        None => (name, ""),
    };
    // An instance of a template, as in `web@1`.
    let template = plain.split_once('@').map(|(before, _)| format!("{before}@"));
    let units = [Some(plain.to_owned()), template, Some(format!("{plain}@"))];
    let is_there = |path: String| !matches!(root.entry(&path), Ok(None));
    let mut names = units.iter().flatten().flat_map(|unit| {
        let kinds = if kind.is_empty() { KINDS.to_vec() } else { vec![kind] };
        kinds.into_iter().chain([""]).map(move |kind| format!("{unit}{kind}"))
    });
    names.any(|unit| UNITS.iter().any(|folder| is_there(format!("{folder}/{unit}"))))
        || INIT_SCRIPTS.iter().any(|folder| is_there(format!("{folder}/{plain}")))
}
