//! The demands for which a policy's versions were chosen: `solution_dependencies` of a lock.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use crate::constraint::{Constraint, version};

/// Demands, as a lock stores them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SolutionDependencies {
    /// The demands of the Policyfile.
    pub policyfile: Vec<(String, Constraint)>,
    /// The demands of each cookbook, by its name and version.
    pub cookbooks: BTreeMap<(String, String), Vec<(String, Constraint)>>,
}

impl SolutionDependencies {
    /// Returns the demands in the form of a lock: demands of the Policyfile and cookbooks, sorted by their text.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let pair = |(name, constraint): &(String, Constraint)| Value::from(vec![name.clone(), constraint.to_string()]);
        let mut policyfile: Vec<_> =
            self.policyfile.iter().map(|(name, constraint)| (name.clone(), constraint.to_string())).collect();
        policyfile.sort();
        let policyfile: Vec<_> =
            policyfile.into_iter().map(|(name, constraint)| Value::from(vec![name, constraint])).collect();
        let cookbooks = self.cookbooks.iter();
        let mut cookbooks: Vec<_> = cookbooks
            .map(|((name, version), demands)| (format!("{name} ({version})"), demands.iter().map(pair).collect()))
            .collect();
        cookbooks.sort_by(|(left, _), (right, _)| left.cmp(right));
        let cookbooks: Map<String, Value> =
            cookbooks.into_iter().map(|(key, demands)| (key, Value::Array(demands))).collect();
        let mut all = Map::new();
        all.insert("Policyfile".into(), Value::Array(policyfile));
        all.insert("dependencies".into(), Value::Object(cookbooks));
        Value::Object(all)
    }

    /// Returns these cookbooks and all of their dependencies, as far as they are in the lock.
    #[must_use]
    pub fn with_dependencies(&self, names: &[String]) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        let mut open: Vec<&str> = names.iter().map(String::as_str).collect();
        while let Some(name) = open.pop() {
            if found.insert(name.to_owned()) {
                open.extend(self.of(name).iter().map(|(name, _)| name.as_str()));
            }
        }
        found
    }

    /// Returns the demands of a cookbook in its locked version.
    #[must_use]
    pub fn of(&self, cookbook: &str) -> &[(String, Constraint)] {
        self.cookbooks.iter().find(|((name, _), _)| name == cookbook).map_or(&[], |(_, demands)| demands)
    }

    /// Whether a cookbook is locked.
    #[must_use]
    pub fn has(&self, cookbook: &str) -> bool {
        self.cookbooks.keys().any(|(name, _)| name == cookbook)
    }

    /// Replaces the demands of a changed cookbook. Returns a sentence for each conflict with the other cookbooks.
    pub fn update(&mut self, cookbook: &str, new_version: &str, demands: Vec<(String, Constraint)>) -> Vec<String> {
        self.cookbooks.retain(|(name, _), _| name != cookbook);
        self.cookbooks.insert((cookbook.to_owned(), new_version.to_owned()), demands);
        self.conflicts_of(cookbook, new_version)
    }

    /// The demands that the given version of a cookbook does not satisfy, and its own that the others do not.
    fn conflicts_of(&self, cookbook: &str, new_version: &str) -> Vec<String> {
        let fits =
            |constraint: &Constraint, text: &str| version(text).is_ok_and(|version| constraint.includes(version));
        let about = |(name, _): &&(String, Constraint)| name == cookbook;
        let mut found = vec![];
        for (_, constraint) in self.policyfile.iter().filter(about).filter(|(_, it)| !fits(it, new_version)) {
            found.push(format!(
                "cookbook {cookbook} is {new_version}, but the Policyfile demands {cookbook} {constraint}"
            ));
        }
        for ((name, version), demands) in &self.cookbooks {
            for (_, constraint) in demands.iter().filter(about).filter(|(_, it)| !fits(it, new_version)) {
                found.push(format!(
                    "cookbook {cookbook} is {new_version}, but cookbook {name} {version} depends on {cookbook} {constraint}"
                ));
            }
        }
        for (wanted, constraint) in self.of(cookbook) {
            match self.cookbooks.keys().find(|(name, _)| name == wanted) {
                None => found.push(format!(
                    "cookbook {cookbook} {new_version} depends on {wanted}, which the lock does not have"
                )),
                Some((_, there)) if !fits(constraint, there) => found.push(format!(
                    "cookbook {cookbook} {new_version} depends on {wanted} {constraint}, but the lock has {wanted} {there}"
                )),
                Some(_) => {}
            }
        }
        found
    }
}
