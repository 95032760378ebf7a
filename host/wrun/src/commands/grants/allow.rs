//! `wrun grants allow`: adds the denials of a run to the grants.

use super::add::{Consent, Wanted, add};
use super::edit::Written;
use crate::arguments::{AllowArguments, Common, WhichRun};
use crate::exit::Exit;
use crate::printer::{Hinted, Printer, Tone};
use crate::settings::Settings;
use anyhow::{Context as _, bail};
use assemble::{GrantsFiles, Records};
use grants::{Addition, Denial};
use report::denials::additions;
use report::unseen::UnseenRecipe;
use report::{Record, RecordError};
use text::{did_you_mean, escape, escape_line, shell_word};

/// The most runs before the last one that are looked at.
const MAX_OLDER: usize = 50;

/// The keys of a record that tell what it was denied, and which policies it had.
const KEYS: [&str; 5] = ["run_id", "denials", "unseen_recipes", "hidden_reads", "policies[].name"];

/// What a run was denied, of all its policies or of those that were named.
struct Lacks {
    denials: Vec<Denial>,
    unseen: Vec<UnseenRecipe>,
    hidden: Vec<Addition>,
}

impl Lacks {
    fn of(record: &Record, named: &[String]) -> Result<Self, RecordError> {
        let (mut denials, mut unseen) = (record.denials()?, record.unseen_recipes()?);
        if !named.is_empty() {
            denials.retain(|denial| named.contains(&denial.policy));
            unseen.retain(|recipe| named.contains(&recipe.policy));
        }
        Ok(Self { denials, unseen, hidden: record.hidden_read_additions(named) })
    }

    fn is_empty(&self) -> bool {
        self.denials.is_empty() && self.hidden.is_empty() && self.unseen.iter().all(|recipe| recipe.entries.is_empty())
    }

    /// Checks that each entry is a right of a policy that was in the run. A record that somebody changed could give entries to
    /// other policies, or take rights from them by `deny_` lists.
    fn checked(self, record: &Record) -> anyhow::Result<Self> {
        let ran = policies_of(record);
        for addition in self.additions() {
            addition.check()?;
            if !ran.contains(&addition.policy.as_str()) {
                bail!("it has entries for policy `{}`, which was not in the run", addition.policy);
            }
        }
        Ok(self)
    }

    /// The entries that would allow it.
    fn additions(&self) -> Vec<Addition> {
        let mut all = self.hidden.clone();
        all.extend(additions(&self.denials, &self.unseen));
        all
    }
}

pub(super) fn run(arguments: &AllowArguments, printer: Printer) -> anyhow::Result<Exit> {
    let settings = crate::commands::settings(arguments.common.config.as_deref(), arguments.layer())?;
    let WhichRun { last: _, from_run } = &arguments.run;
    let (record, owner) = match from_run {
        Some(id) => Records::named(&settings.run, id, &KEYS)?,
        None => (Records::find(&settings.run)?.newest(&KEYS)?, None),
    };
    if let (Some(file), Some(owner)) = (from_run, owner) {
        tell_of_file(file, owner, arguments.yes, printer)?;
    }
    let id = escape_line(record.id().unwrap_or("this run"));
    let lacks = Lacks::of(&record, &arguments.policy_name);
    let lacks = lacks.map_err(anyhow::Error::from).and_then(|lacks| lacks.checked(&record));
    let lacks = lacks.with_context(|| format!("the record of run {id} cannot be used"))?;
    let older = match from_run {
        None if lacks.is_empty() => older(arguments, &settings, &record),
        _ => None,
    };
    if let Err(stranger) = require_policies(&record, &arguments.policy_name) {
        return Err(match older {
            Some(older) => Hinted::new(stranger, &older).into(),
            None => stranger,
        });
    }
    if lacks.is_empty() {
        let text = match arguments.policy_name.as_slice() {
            [] => format!("nothing was denied in run {id}"),
            named => format!("nothing was denied to {} in run {id}", named.join(", ")),
        };
        printer.note(Tone::Plain, &escape_line(&text));
        older.iter().for_each(|older| printer.note(Tone::Warning, &format!("hint: {}", escape(older))));
        return Ok(Exit::Done);
    }
    tell(&lacks, printer);
    let files = GrantsFiles::read(&settings.run.grants, arguments.grants.is_some())?;
    let grants = files.parse()?;
    let mut wanted = Vec::new();
    for (path, additions) in files.by_file(&grants, &lacks.additions()) {
        let before = additions.first().map_or("", |first| files.file_of(&grants, &first.policy).1).to_owned();
        wanted.push(Wanted { path, before, additions });
    }
    let consent = Consent { yes: arguments.yes, dangerous: arguments.dangerous };
    let machine = assemble::machine_view(&settings.run.root);
    let written = add(&wanted, &grants, &machine, consent, printer);
    Ok(match written.with_context(|| format!("what run {id} was denied was not added"))? {
        Some(Written::Done) => Exit::Done,
        Some(Written::Declined) => Exit::Failed,
        None => {
            let is_refused = lacks.denials.iter().any(|denial| denial.value.is_none());
            let text = match is_refused {
                true => format!(
                    "nothing was added: the grants have all entries that run {id} was denied, but for what is named above"
                ),
                false => format!("the grants have all entries that run {id} was denied"),
            };
            printer.note(Tone::Plain, &escape(&text));
            Exit::Done
        }
    })
}

/// Says that a record is not one of wrun's own. Fails for `--yes`, because the owner of the file decides what it says.
fn tell_of_file(file: &str, owner: u32, yes: bool, printer: Printer) -> anyhow::Result<()> {
    let text = format!("{file} is not a record of wrun's own: user {owner} wrote it, and could write anything into it");
    if yes {
        bail!("{text}; --yes adds nothing from such a file: leave it out, and look at the entries");
    }
    printer.note(Tone::Warning, &format!("warning: {}", escape_line(&text)));
    Ok(())
}

/// Returns the names of the policies in a run.
fn policies_of(record: &Record) -> Vec<&str> {
    record.policies().iter().map(|policy| policy.shown_name()).collect()
}

/// Says what no entry would allow, and which entries come from the text of recipes.
fn tell(lacks: &Lacks, printer: Printer) {
    for denial in &lacks.denials {
        let Some(remark) = denial.remark() else { continue };
        let text = format!("policy {} {}{}: {remark}", denial.policy, denial.message, denial.asked_by());
        printer.note(Tone::Warning, &format!("warning: {}", escape_line(&text)));
    }
    for recipe in lacks.unseen.iter().filter(|recipe| !recipe.entries.is_empty()) {
        let text = format!(
            "note: policy {}: the run did not see {}; these entries are from its text:",
            recipe.policy,
            recipe.heading()
        );
        printer.note(Tone::Plain, &escape_line(&text));
        for entry in &recipe.entries {
            printer.note(Tone::Plain, &escape_line(&format!("  {}", entry.line())));
        }
    }
}

/// Fails if the run had no policy of one of the names.
fn require_policies(record: &Record, named: &[String]) -> anyhow::Result<()> {
    let ran = policies_of(record);
    let Some(stranger) = named.iter().find(|name| !ran.contains(&name.as_str())) else { return Ok(()) };
    let near = did_you_mean(stranger, ran.iter().copied()).map(|near| format!("; {near}")).unwrap_or_default();
    let id = record.id().unwrap_or("this run");
    bail!("policy `{stranger}` was not in run {id}{near}; the run had {}", ran.join(", "));
}

/// Names the newest run before the last one that was denied something which the grants still do not allow, and the command that
/// allows it.
fn older(arguments: &AllowArguments, settings: &Settings, last: &Record) -> Option<String> {
    let records = Records::find(&settings.run).ok()?;
    let files = GrantsFiles::read(&settings.run.grants, false).ok()?;
    let machine = assemble::machine_view(&settings.run.root);
    let before = records.runs().iter().skip_while(|run| Some(run.id.as_str()) != last.id()).skip(1).take(MAX_OLDER);
    for run in before {
        // A record that cannot be read is told of where it is asked for.
        let Ok(Some(record)) = run.read_part(&KEYS) else { continue };
        let Ok(lacks) = Lacks::of(&record, &arguments.policy_name) else { continue };
        if files.new_lines(&lacks.additions(), &machine).is_empty() {
            continue;
        }
        let Common { config, state_dir, .. } = &arguments.common;
        let options = [("--config", config), ("--state-dir", state_dir), ("--grants", &arguments.grants)];
        let options = options
            .iter()
            .filter_map(|(name, path)| Some(format!(" {name} {}", shell_word(&path.as_ref()?.display().to_string()))));
        let command = format!("wrun grants allow --from-run {}{}", run.id, options.collect::<String>());
        return Some(format!("run {}, an older one, was denied what the grants do not allow yet: {command}", run.id));
    }
    None
}
