//! Adds entries to grants files, ordinary entries first. Dangerous entries are listed with the reason and need a separate
//! confirmation.

use super::edit::{Change, Written, apply};
use crate::printer::{Printer, Tone};
use grants::{Addition, Grants, MachineView, Reason, RiskClass};
use std::path::PathBuf;
use text::escape_line;

/// Largest length of an entry that is shown beside its reason, in characters.
const MAX_SHOWN: usize = 100;

/// A grants file, and the entries to add to it.
pub(crate) struct Wanted {
    pub(crate) path: PathBuf,
    /// The file's text; empty for a file that does not exist.
    pub(crate) before: String,
    pub(crate) additions: Vec<Addition>,
}

/// The options that replace questions to the user.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Consent {
    /// `--yes`: wrun does not ask.
    pub(crate) yes: bool,
    /// `--dangerous`: dangerous entries are added like others.
    pub(crate) dangerous: bool,
}

/// Adds entries, and returns `None` if the files already contain all of them. `all` are the grants of all files; `machine`
/// decides which entries are risky. If nobody is asked, all entries that may concern others are left out too.
///
/// # Errors
/// A file has a mistake or cannot be written, or nobody can be asked.
pub(crate) fn add(
    wanted: &[Wanted],
    all: &Grants,
    machine: &MachineView,
    consent: Consent,
    printer: Printer,
) -> anyhow::Result<Option<Written>> {
    let (mut first, mut second, mut risky) = (vec![], vec![], vec![]);
    let mut is_all_by_yes = true;
    for Wanted { path, before, additions } in wanted {
        let name = path.display().to_string();
        let after = grants::add(before, &name, additions)?.text;
        if after == *before {
            continue;
        }
        let mut open = grants::risks(before, &name, additions, all, machine)?;
        let mut more = grants::in_question(before, &name, additions, all, machine)?;
        is_all_by_yes &= more.is_empty();
        // A person who sees the change needs no separate question, except about what overrides a rule of the operator.
        let asks_nobody = consent.yes && !consent.dangerous;
        more.retain(|(one, reason)| {
            let is_asked = asks_nobody || reason.class != RiskClass::InQuestion;
            is_asked && !open.iter().any(|(other, _)| other == one)
        });
        open.extend(more);
        let ordinary: Vec<Addition> =
            additions.iter().filter(|one| !open.iter().any(|(other, _)| other == one)).cloned().collect();
        let middle = if consent.dangerous { after.clone() } else { grants::add(before, &name, &ordinary)?.text };
        if middle != *before {
            first.push(Change { path: path.clone(), before: before.clone(), after: middle.clone() });
        }
        if middle != after {
            second.push(Change { path: path.clone(), before: middle, after });
        }
        risky.extend(open);
    }
    if first.is_empty() && second.is_empty() {
        return Ok(None);
    }
    if consent.dangerous {
        name(&risky, printer);
    }
    let asks_again = !second.is_empty();
    let instead = if is_all_by_yes { "--yes" } else { "--yes --dangerous" };
    if !first.is_empty() && apply(&first, consent.yes, instead, printer)? == Written::Declined {
        return Ok(Some(Written::Declined));
    }
    if !asks_again {
        return Ok(Some(Written::Done));
    }
    name(&risky, printer);
    if consent.yes {
        printer.note(Tone::Warning, "they were left out: --yes does not add them without --dangerous");
        return Ok(Some(Written::Declined));
    }
    apply(&second, false, "--yes --dangerous", printer).map(Some)
}

/// Lists the dangerous entries with their reasons, by class.
fn name(risky: &[(&Addition, Reason)], printer: Printer) {
    for class in RiskClass::ALL {
        let of_class: Vec<_> = risky.iter().filter(|(_, reason)| reason.class == class).collect();
        if of_class.is_empty() {
            continue;
        }
        printer.note(Tone::Warning, &format!("{}:", class.heading(of_class.len())));
        let mut before = "";
        for (Addition { policy, key, value }, reason) in of_class {
            let value = text::cut(value, MAX_SHOWN);
            let why = if reason.text == before { class.repeated() } else { &reason.text };
            before = &reason.text;
            printer.note(Tone::Warning, &escape_line(&format!("  policy {policy}: {key} {value} {why}")));
        }
    }
}
