//! `wrun grants check`: mistakes that no run tells of.

use crate::arguments::CheckGrantsArguments;
use crate::commands::records;
use crate::exit::Exit;
use crate::grants_files::GrantsFiles;
use crate::printer::{Printer, Tone};
use crate::settings::Settings;
use grants::{Grants, Needs, PolicyGrants};
use policy::artifact::{self, Manifest};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use text::escape_line;
use text::nearest;

/// The name of the table for cookbooks that are run from folders.
const FOLDERS: &str = "solo";

pub(super) fn run(arguments: &CheckGrantsArguments, printer: Printer) -> anyhow::Result<Exit> {
    let settings = crate::commands::settings(arguments.common.config.as_deref(), arguments.layer())?;
    let files = GrantsFiles::read(&settings.grants, arguments.grants.is_some())?;
    if files.is_empty() {
        printer.note(Tone::Plain, &format!("there are no grants: {} does not exist", settings.grants.display()));
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
    for name in grants.policy_names() {
        check.policy(&grants, name, &manifests)?;
    }
    for note in &check.notes {
        printer.note(Tone::Quiet, &format!("note: {}", escape_line(note)));
    }
    for problem in &check.problems {
        printer.line(Tone::Warning, &escape_line(problem));
    }
    let tables = grants.policy_names().count();
    let tables = if tables == 1 { "1 policy".to_owned() } else { format!("{tables} policies") };
    match check.problems.len() {
        0 => printer.note(Tone::Plain, &format!("no mistakes found in the grants of {tables}")),
        1 => printer.note(Tone::Error, &format!("1 mistake in the grants of {tables}")),
        count => printer.note(Tone::Error, &format!("{count} mistakes in the grants of {tables}")),
    }
    Ok(if check.problems.is_empty() { Exit::Done } else { Exit::Failed })
}

struct Check<'a> {
    settings: &'a Settings,
    /// Sentences that begin with file and line.
    problems: Vec<String>,
    notes: Vec<String>,
}

impl Check<'_> {
    /// The policies that have an artifact. `None` behind a name: it cannot be opened, which a run tells.
    fn manifests(&mut self) -> BTreeMap<String, Option<Manifest>> {
        let folder = &self.settings.policies;
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

    fn policy(
        &mut self,
        grants: &Grants,
        name: &str,
        manifests: &BTreeMap<String, Option<Manifest>>,
    ) -> anyhow::Result<()> {
        let (file, line) = grants.place_of(name).unwrap_or_default();
        let record = records::walk(self.settings, |record| ran(record, name))?;
        let is_known = manifests.contains_key(name)
            || name == FOLDERS
            || record.is_some()
            || self.settings.policy_names.iter().any(|known| known == name);
        if !is_known && !manifests.is_empty() {
            let known: BTreeSet<&str> = manifests.keys().map(String::as_str).chain([FOLDERS]).collect();
            let near = nearest(name, known.iter().copied()).map(|near| format!("; did you mean {near:?}?"));
            let near =
                near.unwrap_or_else(|| format!("; there are {}", known.into_iter().collect::<Vec<_>>().join(", ")));
            self.problems.push(format!("{file}:{line}: there is no policy {name:?}{near}"));
            return Ok(());
        }
        let manifest = manifests.get(name).and_then(Option::as_ref);
        let cookbooks: Vec<String> =
            manifest.iter().flat_map(|manifest| &manifest.cookbooks).map(|cookbook| cookbook.name.clone()).collect();
        let own = grants.policy(name, &cookbooks);
        for (rule, by) in own.covered() {
            self.problems.push(format!(
                "{file}:{}: {} {} is needless: {} {} in line {} allows it",
                rule.line, rule.key, rule.text, by.key, by.text, by.line
            ));
        }
        self.unused(&own, file, name, manifest, record.as_ref());
        Ok(())
    }

    /// Rules that neither the author asks for nor the last recorded run used.
    fn unused(
        &mut self,
        own: &PolicyGrants,
        file: &str,
        name: &str,
        manifest: Option<&Manifest>,
        record: Option<&Value>,
    ) {
        let needs = manifest.map(|manifest| &manifest.needs).filter(|needs| !needs.is_empty());
        let asked = record.map(|record| asked(record, name));
        let Asked { needs: by_run, complete } = asked.unwrap_or_else(|| Asked::nothing(needs.is_some()));
        if !complete {
            self.notes.push(format!(
                "policy {name:?} has no [needs] and no recorded run that tells all that it asked for: rules that it does not use cannot be told"
            ));
            return;
        };
        let all: Vec<&Needs> = by_run.iter().chain(needs).collect();
        for rule in own.unused(&all) {
            let who = match (needs, record) {
                (Some(_), Some(_)) => "neither its [needs] nor its last recorded run asks for it",
                (Some(_), None) => "its [needs] does not ask for it, and no run of it is recorded",
                _ => "its last recorded run did not ask for it",
            };
            self.problems.push(format!("{file}:{}: {} {} is not used: {who}", rule.line, rule.key, rule.text));
        }
    }
}

/// Whether a policy began in a recorded run.
fn ran(record: &Value, name: &str) -> bool {
    let policies = record["policies"].as_array();
    let began = policies.into_iter().flatten().any(|policy| policy["name"] == name && policy["outcome"] != "not-run");
    began || (policies.is_none() && name == FOLDERS)
}

/// What a policy asked for in a run.
struct Asked {
    needs: Vec<Needs>,
    /// All of it is known.
    complete: bool,
}

impl Asked {
    fn nothing(complete: bool) -> Self {
        Self { needs: vec![], complete }
    }
}

/// What a recorded run asked for, allowed and denied.
fn asked(record: &Value, name: &str) -> Asked {
    let nothing = Value::Null;
    let entries = record.get("asked").and_then(|asked| asked.get(name)).unwrap_or(&nothing);
    // A policy that was allowed nothing has no entries; a record of before they were kept has none of any.
    if record.get("asked").is_none() || entries["complete"] == false {
        return Asked::nothing(false);
    }
    let read = |table: &Value| Needs::from_json(table.as_object().cloned().unwrap_or_default()).ok();
    let mut needs: Vec<Needs> = read(&entries["entries"]).into_iter().collect();
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
    needs.extend(Needs::parse(&format!("[needs]\n{}", text.collect::<String>()), "denials").ok());
    Asked { needs, complete: true }
}
