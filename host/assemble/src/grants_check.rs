//! Checks grants for faults that a run does not report, such as unused rules.

use crate::records::Records;
use crate::settings::Settings;
use crate::unseen::known_facts;
use artifact::Manifest;
use author::check::grant_keys;
use grants::{Grants, GrantsError, Needs, PolicyGrants};
use report::{FOLDERS_POLICY, Record};
use schema::reference;
use state::StateError;
use std::collections::{BTreeMap, BTreeSet};
use text::{did_you_mean, nearest};

/// A kind of fault, in the order in which the last line counts them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    UnknownPolicy,
    UnknownFact,
    Covered,
    Empty,
    Unused,
}

impl Fault {
    const ALL: [Self; 5] = [Self::UnknownPolicy, Self::UnknownFact, Self::Covered, Self::Empty, Self::Unused];

    /// Returns the number with the right noun: `2 unused rules`.
    fn counted(self, count: usize) -> String {
        let (one, many) = match self {
            Self::UnknownPolicy => ("unknown policy", "unknown policies"),
            Self::UnknownFact => ("unknown fact", "unknown facts"),
            Self::Covered => ("rule that another one covers", "rules that others cover"),
            Self::Empty => ("rule that allows nothing", "rules that allow nothing"),
            Self::Unused => ("unused rule", "unused rules"),
        };
        format!("{count} {}", if count == 1 { one } else { many })
    }
}

/// The faults of grants that a run does not report, such as unused rules.
pub struct GrantsCheck<'a> {
    settings: &'a Settings,
    /// Policies that the settings name.
    policy_names: &'a [String],
    /// The names of facts that can be found out.
    known_facts: BTreeSet<String>,
    /// Sentences that begin with file and line.
    problems: Vec<(Fault, String)>,
    notes: Vec<String>,
}

impl<'a> GrantsCheck<'a> {
    /// Compares grants with the artifacts and the recorded runs. `policy_names` are the policies that the settings name.
    ///
    /// # Errors
    /// The records cannot be looked for.
    pub fn of(settings: &'a Settings, policy_names: &'a [String], grants: &Grants) -> Result<Self, StateError> {
        let mut check = Self { settings, policy_names, known_facts: known_facts(), problems: vec![], notes: vec![] };
        let (manifests, digests) = check.manifests();
        let names: Vec<&str> = grants.policy_names().collect();
        let kept = check.kept(&names, &digests)?;
        for (name, kept) in names.iter().zip(&kept) {
            check.policy(grants, name, &manifests, kept);
        }
        Ok(check)
    }

    /// Returns a sentence for each fault, with its file and line.
    pub fn problems(&self) -> impl Iterator<Item = &str> {
        self.problems.iter().map(|(_, problem)| problem.as_str())
    }

    /// Returns remarks that are not faults, as sentences.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Tells whether there are faults.
    pub fn has_problems(&self) -> bool {
        !self.problems.is_empty()
    }

    /// Returns how many faults of each kind there are, in words.
    pub fn counts(&self) -> String {
        let count = |fault: Fault| self.problems.iter().filter(|(kind, _)| *kind == fault).count();
        let found = Fault::ALL.into_iter().map(|fault| (fault, count(fault))).filter(|(_, count)| *count > 0);
        let found: Vec<_> = found.map(|(fault, count)| fault.counted(count)).collect();
        if found.is_empty() { "no problems found".to_owned() } else { found.join(", ") }
    }

    /// Returns the manifests of all artifacts by policy, and the artifacts' digests. A manifest is `None` if the artifact
    /// cannot be opened; the notes say why.
    fn manifests(&mut self) -> (BTreeMap<String, Option<Manifest>>, BTreeMap<String, String>) {
        let mut digests = BTreeMap::new();
        let folder = &self.settings.policies;
        let manifests = match artifact::list(folder) {
            Ok(names) => names
                .into_iter()
                .map(|name| {
                    let opened = artifact::find(folder, &name);
                    if let Err(error) = &opened {
                        self.notes.push(error.to_string());
                    }
                    if let Ok(artifact) = &opened {
                        digests.insert(name.clone(), artifact.digest().to_owned());
                    }
                    (name, opened.ok().map(|artifact| artifact.manifest().clone()))
                })
                .collect(),
            Err(error) => {
                self.notes.push(format!("{error}; whether policies exist is not looked at"));
                BTreeMap::new()
            }
        };
        (manifests, digests)
    }

    fn policy(&mut self, grants: &Grants, name: &str, manifests: &BTreeMap<String, Option<Manifest>>, kept: &Kept) {
        let (file, line) = grants.place_of(name).unwrap_or_default();
        let is_known = manifests.contains_key(name)
            || name == FOLDERS_POLICY
            || kept.runs > 0
            || self.policy_names.iter().any(|known| known == name);
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
        self.facts(&own, file, name);
        let brackets = own.bare_brackets().into_iter();
        self.notes.extend(brackets.map(|(line, text)| format!("{file}:{line}: policy {name}: {text}")));
        self.unused(&own, file, name, manifest, kept);
    }

    /// Rules about facts that this program does not gather. One that is not near to another name may be a fact that the settings
    /// add or that another version gathers.
    fn facts(&mut self, own: &PolicyGrants, file: &str, name: &str) {
        for (rule, fact) in own.named_facts().into_iter().filter(|(_, fact)| !self.known_facts.contains(fact)) {
            let near = did_you_mean(&fact, self.known_facts.iter().map(String::as_str));
            let sentence = format!("{file}:{}: policy {name}: no fact is called {fact:?}", rule.line);
            match near {
                Some(near) => self.problems.push((Fault::UnknownFact, format!("{sentence}; {near}"))),
                None => self.notes.push(format!("{sentence}; `wrun facts` prints those of this machine")),
            }
        }
    }

    /// Collects what the stored records of runs and surveys tell about each of these policies, in the same order. Only
    /// surveys of the same artifact count.
    fn kept(&mut self, names: &[&str], artifacts: &BTreeMap<String, String>) -> Result<Vec<Kept>, StateError> {
        let mut all: Vec<Kept> = names.iter().map(|_| Kept::default()).collect();
        let records = Records::find(self.settings)?;
        if let Some(sentence) = records.hidden() {
            self.notes.push(format!("{sentence}; whether rules are used is not looked at"));
            all.iter_mut().for_each(|kept| kept.is_hidden = true);
        }
        let damaged = records.each(|record| {
            for (name, kept) in names.iter().zip(&mut all) {
                kept.add(record, name);
            }
        });
        self.notes.extend(damaged);
        let damaged = Records::each_survey(self.settings, |survey| {
            for (name, kept) in names.iter().zip(&mut all) {
                let artifact = artifacts.get(*name).map_or("", String::as_str);
                kept.add_survey(survey, name, artifact);
            }
        })?;
        self.notes.extend(damaged);
        Ok(all)
    }

    /// Reports rules that neither the author's needs nor any recorded run asks for. It is only a note, and not a fault, if
    /// the evidence is weak: a run that changed nothing may have asked for less than the next one, and authors write down
    /// fewer needs than `grants suggest` finds.
    fn unused(&mut self, own: &PolicyGrants, file: &str, name: &str, manifest: Option<&Manifest>, kept: &Kept) {
        if kept.is_hidden {
            return;
        }
        let needs = manifest.map(|manifest| &manifest.needs).filter(|needs| !needs.is_empty());
        if needs.is_none() && kept.complete == 0 {
            self.notes.push(format!(
                "policy {name:?} has no [needs] and no recorded run that tells all that it asked for: rules that it does not use cannot be told"
            ));
            return;
        };
        let all: Vec<&Needs> = kept.asked.values().chain(needs).collect();
        let is_certain = if needs.is_some() { kept.whole > 0 } else { kept.busy > 0 };
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
            (None, 1) => {
                "its only recorded run did not ask for it, and changed nothing or did not come to its end".to_owned()
            }
            (None, _) => format!("{runs} asked for it, and they changed nothing or did not come to their end"),
        };
        for rule in own.unused(&all) {
            let text = format!("{file}:{}: policy {name}: {} {} is not used: {who}", rule.line, rule.key, rule.text);
            if is_certain { self.problems.push((Fault::Unused, text)) } else { self.notes.push(text) }
        }
    }
}

/// Returns which keys to write in place of an unknown one that is the name of a resource type, or near to one. `None`: it is not.
pub fn hint_of_resource_type(error: &GrantsError) -> Option<String> {
    let GrantsError::UnknownKey { key, near: None, .. } = error else { return None };
    let (found, said) = match reference::find(key) {
        Ok(found) => (found.name, format!("`{key}` is a resource type")),
        Err(error) => {
            let near = error.did_you_mean()?;
            (near, format!("`{key}` is near to the resource type `{near}`"))
        }
    };
    let keys: Vec<_> = grant_keys(found).iter().map(|key| format!("`{key}`")).collect();
    if keys.is_empty() {
        return Some(format!("{said}, which needs no grants"));
    }
    Some(format!("{said}; the keys for what it uses are {}", keys.join(", ")))
}

/// The facts about a policy from the stored records.
#[derive(Default)]
struct Kept {
    /// Whether this user may not read the existing records of real runs.
    is_hidden: bool,
    /// Number of runs in which the policy began.
    runs: usize,
    /// Number of runs whose records have everything that the policy asked for.
    complete: usize,
    /// Number of real runs in which the policy succeeded.
    whole: usize,
    /// Number of those with complete records in which the policy changed something.
    busy: usize,
    /// Everything that the policy asked for in any recorded run or survey, by its text in the records.
    asked: BTreeMap<String, Needs>,
}

impl Kept {
    fn add(&mut self, record: &Record, name: &str) {
        let Some(policy) = record.policy_that_ran(name) else { return };
        self.runs += 1;
        let Some(asked) = record.asked(name) else { return };
        self.complete += usize::from(asked.is_complete);
        // A failed run may not have reached all rules, and a dry run skips code that only a real run executes.
        let is_whole = !record.is_dry() && policy.outcome() == "success";
        self.whole += usize::from(is_whole);
        self.busy += usize::from(asked.is_complete && is_whole && policy.is_busy());
        self.asked.extend(asked.needs);
    }

    /// Adds the possible requests that a survey of this artifact found. `artifact` is empty for cookbooks in folders.
    fn add_survey(&mut self, survey: &Record, name: &str, artifact: &str) {
        let surveyed = survey.policies().into_iter().find(|policy| policy.shown_name() == name);
        if surveyed.is_some_and(|policy| policy.json()["artifact"].as_str().unwrap_or_default() == artifact)
            && let Some(asked) = survey.asked(name)
        {
            self.asked.extend(asked.needs);
        }
    }
}
