//! `wrun grants allow`: what a run was denied becomes entries of the grants.

use super::add::{Consent, Wanted, add};
use super::edit::Written;
use crate::arguments::{AllowArguments, WhichRun};
use crate::exit::Exit;
use crate::printer::{Printer, Tone};
use anyhow::Context as _;
use assemble::{GrantsFiles, Records};
use report::denials::additions;
use text::{escape, escape_line};

pub(super) fn run(arguments: &AllowArguments, printer: Printer) -> anyhow::Result<Exit> {
    let settings = crate::commands::settings(arguments.common.config.as_deref(), arguments.layer())?;
    let WhichRun { last: _, from_run } = &arguments.run;
    let record = match from_run {
        Some(id) => Records::named(&settings.run, id)?,
        None => Records::find(&settings.run)?.newest()?,
    };
    let id = escape_line(record.id().unwrap_or("this run"));
    let mut denials = record.denials().with_context(|| format!("the record of run {id} cannot be used"))?;
    let mut unseen = record.unseen_recipes().with_context(|| format!("the record of run {id} cannot be used"))?;
    if !arguments.policy_name.is_empty() {
        denials.retain(|denial| arguments.policy_name.contains(&denial.policy));
        unseen.retain(|recipe| arguments.policy_name.contains(&recipe.policy));
    }
    let hidden = record.hidden_read_additions(&arguments.policy_name);
    if denials.is_empty() && hidden.is_empty() && unseen.iter().all(|recipe| recipe.entries.is_empty()) {
        let text = match arguments.policy_name.as_slice() {
            [] => format!("nothing was denied in run {id}"),
            named => format!("nothing was denied to {} in run {id}", named.join(", ")),
        };
        printer.note(Tone::Plain, &escape_line(&text));
        return Ok(Exit::Done);
    }
    for denial in denials.iter().filter(|denial| denial.value.is_none()) {
        let text = format!("policy {} {}: no new entry would allow it", denial.policy, denial.message);
        printer.note(Tone::Warning, &format!("warning: {}", escape_line(&text)));
    }
    for recipe in unseen.iter().filter(|recipe| !recipe.entries.is_empty()) {
        let text = format!(
            "note: policy {}: {} was not seen in the run; these entries are from its text:",
            recipe.policy,
            recipe.heading()
        );
        printer.note(Tone::Plain, &escape_line(&text));
        for entry in &recipe.entries {
            printer.note(Tone::Plain, &escape_line(&format!("  {}", entry.line())));
        }
    }
    let files = GrantsFiles::read(&settings.run.grants, arguments.grants.is_some())?;
    let grants = files.parse()?;
    let mut wanted = Vec::new();
    let mut all = hidden;
    all.extend(additions(&denials, &unseen));
    for (path, additions) in files.by_file(&grants, &all) {
        let before = additions.first().map_or("", |first| files.file_of(&grants, &first.policy).1).to_owned();
        wanted.push(Wanted { path, before, additions });
    }
    let consent = Consent { yes: arguments.yes, dangerous: arguments.dangerous };
    let elevated = assemble::elevated_accounts(&settings.run.root);
    let written = add(&wanted, &grants, &elevated, consent, printer);
    Ok(match written.with_context(|| format!("what run {id} was denied was not added"))? {
        Some(Written::Done) => Exit::Done,
        Some(Written::Declined) => Exit::Failed,
        None => {
            let is_refused = denials.iter().any(|denial| denial.value.is_none());
            let text = match is_refused {
                true => format!(
                    "nothing was added: the grants refuse what is named above, and have the rest of what run {id} was denied"
                ),
                false => format!("the grants have all entries that run {id} was denied"),
            };
            printer.note(Tone::Plain, &escape(&text));
            Exit::Done
        }
    })
}
