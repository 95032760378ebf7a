//! `wrun grants check`: faults of the grants that no run reports, such as rules that nobody uses.

use crate::arguments::CheckGrantsArguments;
use crate::commands::records;
use crate::exit::Exit;
use crate::printer::{Printer, Tone};
use crate::settings::Settings;
use artifact::Manifest;
use assemble::GrantsFiles;
use grants::{Grants, Needs, PolicyGrants};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use text::escape_line;
use text::nearest;

/// The name of the table for cookbooks that are run from folders.
const FOLDERS: &str = "solo";

pub(super) fn run(arguments: &CheckGrantsArguments, printer: Printer) -> anyhow::Result<Exit> {
    let settings = crate::commands::settings(arguments.common.config.as_deref(), arguments.layer())?;
    let files = GrantsFiles::read(&settings.run.grants, arguments.grants.is_some())?;
    if files.is_empty() {
        printer.note(Tone::Plain, &format!("there are no grants: {} does not exist", settings.run.grants.display()));
        return Ok(Exit::Done);
    }
    let grants = match files.parse() {
        Ok(grants) => grants,
        Err(error) => {
            printer.line(Tone::Error, &escape_line(&error.to_string()));
            return Ok(Exit::Failed);
        }
    };
    let mut check = Check { settings: &settings, problems: vec![], notes: vec![] };
    let manifests = check.manifests();
    let names: Vec<&str> = grants.policy_names().collect();
    let kept = check.kept(&names)?;
    for (name, kept) in names.iter().zip(&kept) {
        check.policy(&grants, name, &manifests, kept);
    }
    for note in &check.notes {
        printer.note(Tone::Quiet, &format!("note: {}", escape_line(note)));
    }
    for (_, problem) in &check.problems {
        printer.line(Tone::Warning, &escape_line(problem));
    }
    let tables = grants.policy_names().count();
    let tables = if tables == 1 { "1 policy".to_owned() } else { format!("{tables} policies") };
    let tone = if check.problems.is_empty() { Tone::Plain } else { Tone::Error };
    printer.note(tone, &format!("checked the grants of {tables}: {}", check.counts()));
    Ok(if check.problems.is_empty() { Exit::Done } else { Exit::Failed })
}

/// A kind of fault, in the order in which the last line counts them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    UnknownPolicy,
    Covered,
    Empty,
    Unused,
}

impl Fault {
    const ALL: [Self; 4] = [Self::UnknownPolicy, Self::Covered, Self::Empty, Self::Unused];

    /// `2 unused rules`.
    fn counted(self, count: usize) -> String {
        let (one, many) = match self {
            Self::UnknownPolicy => ("unknown policy", "unknown policies"),
            Self::Covered => ("rule that another one covers", "rules that others cover"),
            Self::Empty => ("rule that allows nothing", "rules that allow nothing"),
            Self::Unused => ("unused rule", "unused rules"),
        };
        format!("{count} {}", if count == 1 { one } else { many })
    }
}

struct Check<'a> {
    settings: &'a Settings,
    /// Sentences that begin with file and line.
    problems: Vec<(Fault, String)>,
    notes: Vec<String>,
}

impl Check<'_> {
    /// How many faults of each kind there are, in words.
    fn counts(&self) -> String {
        let count = |fault: Fault| self.problems.iter().filter(|(kind, _)| *kind == fault).count();
        let found = Fault::ALL.into_iter().map(|fault| (fault, count(fault))).filter(|(_, count)| *count > 0);
        let found: Vec<_> = found.map(|(fault, count)| fault.counted(count)).collect();
        if found.is_empty() { "no problems found".to_owned() } else { found.join(", ") }
    }

    /// The policies that have an artifact. `None` behind a name: it cannot be opened, which a run tells.
    fn manifests(&mut self) -> BTreeMap<String, Option<Manifest>> {
        let folder = &self.settings.run.policies;
        match artifact::list(folder) {
            Ok(names) => names
                .into_iter()
                .map(|name| {
                    let opened = artifact::find(folder, &name);
                    if let Err(error) = &opened {
                        self.notes.push(error.to_string());
                    }
                    (name, opened.ok().map(|artifact| artifact.manifest().clone()))
                })
                .collect(),
            Err(error) => {
                self.notes.push(format!("{error}; whether policies exist is not looked at"));
                BTreeMap::new()
            }
        }
    }

    fn policy(&mut self, grants: &Grants, name: &str, manifests: &BTreeMap<String, Option<Manifest>>, kept: &Kept) {
        let (file, line) = grants.place_of(name).unwrap_or_default();
        let is_known = manifests.contains_key(name)
            || name == FOLDERS
            || kept.runs > 0
            || self.settings.policy_names.iter().any(|known| known == name);
        if !is_known && !manifests.is_empty() {
            let known: BTreeSet<&str> = manifests.keys().map(String::as_str).collect();
            let near = nearest(name, known.iter().copied()).map(|near| format!("; did you mean {near:?}?"));
            let near =
                near.unwrap_or_else(|| format!("; there are {}", known.into_iter().collect::<Vec<_>>().join(", ")));
            let text = format!("{file}:{line}: there is no policy {name:?}{near}");
            self.problems.push((Fault::UnknownPolicy, text));
            return;
        }
        let manifest = manifests.get(name).and_then(Option::as_ref);
        let cookbooks: Vec<String> =
            manifest.iter().flat_map(|manifest| &manifest.cookbooks).map(|cookbook| cookbook.name.clone()).collect();
        let own = grants.policy(name, &cookbooks);
        for (rule, by) in own.covered() {
            let text = format!(
                "{file}:{}: policy {name}: {} {} is not needed: {} {} in line {} covers it",
                rule.line, rule.key, rule.text, by.key, by.text, by.line
            );
            self.problems.push((Fault::Covered, text));
        }
        for rule in own.short_rules() {
            let sentence = format!("{file}:{}: {}", rule.place.line, rule.sentence());
            if rule.is_empty { self.problems.push((Fault::Empty, sentence)) } else { self.notes.push(sentence) }
        }
        self.unused(&own, file, name, manifest, kept);
    }

    /// What the kept records of runs say of each of these policies, in their order.
    fn kept(&mut self, names: &[&str]) -> anyhow::Result<Vec<Kept>> {
        let mut all: Vec<Kept> = names.iter().map(|_| Kept::default()).collect();
        let damaged = records::each(self.settings, |record| {
            for (name, kept) in names.iter().zip(&mut all) {
                kept.add(record, name);
            }
        })?;
        self.notes.extend(damaged);
        Ok(all)
    }

    /// Rules that neither the author nor any recorded run asks for. A run that changed nothing may have asked for less than
    /// the next one, so that it is not held against a rule.
    fn unused(&mut self, own: &PolicyGrants, file: &str, name: &str, manifest: Option<&Manifest>, kept: &Kept) {
        let needs = manifest.map(|manifest| &manifest.needs).filter(|needs| !needs.is_empty());
        if needs.is_none() && kept.complete == 0 {
            self.notes.push(format!(
                "policy {name:?} has no [needs] and no recorded run that tells all that it asked for: rules that it does not use cannot be told"
            ));
            return;
        };
        let all: Vec<&Needs> = kept.asked.values().chain(needs).collect();
        let is_certain = needs.is_some() || kept.busy > 0;
        let runs = match kept.runs {
            1 => "its only recorded run".to_owned(),
            runs => format!("none of its {runs} recorded runs"),
        };
        let who = match (needs, kept.runs) {
            (Some(_), 0) => "its [needs] does not ask for it, and no run of it is recorded".to_owned(),
            (Some(_), 1) => "neither its [needs] nor its only recorded run asks for it".to_owned(),
            (Some(_), runs) => format!("neither its [needs] nor any of its {runs} recorded runs asks for it"),
            (None, 1) if is_certain => "its only recorded run did not ask for it".to_owned(),
            (None, _) if is_certain => format!("{runs} asked for it"),
            (None, 1) => "its only recorded run did not ask for it, and changed nothing".to_owned(),
            (None, _) => format!("{runs} asked for it, and they changed nothing"),
        };
        for rule in own.unused(&all) {
            let text = format!("{file}:{}: policy {name}: {} {} is not used: {who}", rule.line, rule.key, rule.text);
            if is_certain { self.problems.push((Fault::Unused, text)) } else { self.notes.push(text) }
        }
    }
}

/// What the kept records say of a policy.
#[derive(Default)]
struct Kept {
    /// Runs in which it began.
    runs: usize,
    /// Runs that tell all that it asked for.
    complete: usize,
    /// Runs that tell all, and in which not everything was up to date.
    busy: usize,
    /// The different things that it asked for, by the text that the records have of them.
    asked: BTreeMap<String, Needs>,
}

impl Kept {
    fn add(&mut self, record: &Value, name: &str) {
        if !ran(record, name) {
            return;
        }
        self.runs += 1;
        let Some(asked) = asked(record, name) else { return };
        self.complete += 1;
        self.busy += usize::from(is_busy(record, name));
        self.asked.extend(asked);
    }
}

/// Whether an action of the policy did something, would have, or failed.
fn is_busy(record: &Value, name: &str) -> bool {
    let policies = record["policies"].as_array();
    let part = policies.map_or(Some(record), |all| all.iter().find(|policy| policy["name"] == name));
    let resources = part.and_then(|part| part["resources"].as_array());
    let is_quiet = |status: &Value| ["up-to-date", "skipped"].iter().any(|quiet| status == *quiet);
    resources.into_iter().flatten().any(|resource| !is_quiet(&resource["status"]))
}

/// Whether a policy began in a recorded run.
fn ran(record: &Value, name: &str) -> bool {
    let policies = record["policies"].as_array();
    let began = policies.into_iter().flatten().any(|policy| policy["name"] == name && policy["outcome"] != "not-run");
    began || (policies.is_none() && name == FOLDERS)
}

/// What a recorded run asked for, allowed and denied. `None`: the record does not tell all of it.
fn asked(record: &Value, name: &str) -> Option<Vec<(String, Needs)>> {
    let nothing = Value::Null;
    let entries = record.get("asked")?.get(name).unwrap_or(&nothing);
    // A policy that was allowed nothing has no entries.
    if entries["complete"] == false {
        return None;
    }
    let read = |table: &Value| Needs::from_json(table.as_object().cloned().unwrap_or_default()).ok();
    let mut needs: Vec<_> =
        read(&entries["entries"]).map(|needs| (entries["entries"].to_string(), needs)).into_iter().collect();
    let mut denied = BTreeMap::new();
    for denial in record["denials"].as_array().into_iter().flatten().filter(|denial| denial["policy"] == name) {
        let entry = denial["key"].as_str().zip(denial["value"].as_str());
        if let Some((key, value)) = entry {
            denied.entry(key.to_owned()).or_insert_with(Vec::new).push(value.to_owned());
        }
    }
    let text = denied.iter().map(|(key, values)| match values.as_slice() {
        [flag] if flag == "true" => format!("{key} = true\n"),
        values => format!("{key} = [{}]\n", values.join(", ")),
    });
    let text = format!("[needs]\n{}", text.collect::<String>());
    needs.extend(Needs::parse(&text, "denials").ok().map(|needs| (text, needs)));
    Some(needs)
}
