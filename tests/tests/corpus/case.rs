//! One case: what it is, and how its runs are held against what Chef gave.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use specs::corpus::differences;

use crate::different::{either, is_different, reasons};
use crate::place::Place;
use crate::read_json;

/// Cases that are also run in folders whose path has blanks and letters that are not ASCII.
const ALSO_ELSEWHERE: [&str; 3] = ["cookbook-file-basics", "cr-basics", "cr-nested-failure"];

/// What the names of the folders begin with that a case is run in.
const USUAL: &str = "wrun-corpus-";

/// The same for cases that are run elsewhere.
const ELSEWHERE: &str = "wrun corpus im \u{d6}lhafen \u{6e2f}-";

/// A case of the corpus.
#[derive(Clone)]
pub(crate) struct Case {
    pub(crate) name: String,
    /// What the name of its folder begins with.
    pub(crate) prefix: &'static str,
    pub(crate) folder: PathBuf,
    /// `case.json`.
    pub(crate) settings: Value,
}

impl Case {
    /// All cases of a folder, by name.
    pub(crate) fn all(folder: &Path) -> Result<Vec<Self>> {
        let entries =
            std::fs::read_dir(folder).with_context(|| format!("the corpus {} is missing", folder.display()))?;
        let mut cases = Vec::new();
        for entry in entries {
            let folder = entry?.path();
            if folder.join("case.json").is_file() {
                let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
                let settings = read_json(&folder.join("case.json"))?;
                cases.push(Self { name, prefix: USUAL, folder, settings });
            }
        }
        ensure!(!cases.is_empty(), "{} has no cases", folder.display());
        cases.sort_by(|left, right| left.name.cmp(&right.name));
        Ok(cases)
    }

    /// The cases among these that are also run elsewhere.
    pub(crate) fn elsewhere(all: &[Self]) -> Vec<Self> {
        let chosen = all.iter().filter(|case| ALSO_ELSEWHERE.contains(&case.name.as_str()));
        chosen.map(|case| Self { prefix: ELSEWHERE, ..case.clone() }).collect()
    }

    /// Its name, with the place where it is not the usual one.
    pub(crate) fn title(&self) -> String {
        if self.prefix == USUAL { self.name.clone() } else { format!("{} below a path with blanks", self.name) }
    }

    /// Whether a key of the case says yes.
    pub(crate) fn is(&self, key: &str) -> bool {
        self.settings.get(key).and_then(Value::as_bool).unwrap_or(false)
    }

    /// A list of texts.
    pub(crate) fn texts(&self, key: &str) -> Option<Vec<&str>> {
        Some(self.settings.get(key)?.as_array()?.iter().filter_map(Value::as_str).collect())
    }

    /// Makes the runs and says what is not as it was with Chef.
    pub(crate) fn differences(&self, show: bool) -> Result<Vec<String>> {
        let place = Place::new(self)?;
        let runs = self.settings.get("runs").and_then(Value::as_u64).unwrap_or(1);
        let mut all = Vec::new();
        for run in 1..=runs {
            let expected = read_json(&self.folder.join(format!("expected/run{run}.json")))?;
            let (found, errors) = place.run(self, run)?;
            let expected = either(&self.name, run, expected, &found.tree);
            if show {
                all.push(format!("run {run} gave {}", serde_json::to_string_pretty(&found.json)?));
                all.push(errors);
            }
            let known = reasons(&self.name);
            let (mut own, mut seen) = (Vec::new(), Vec::new());
            for difference in differences(&expected, &found) {
                match is_different(known, run, difference.key) {
                    true => seen.push(difference.key),
                    false => own.push(difference),
                }
            }
            let lines = own.iter().map(|difference| format!("run {run}: {}: {}", difference.key, difference.text));
            all.extend(lines);
            // A reason that no longer holds would hide the next difference.
            let idle = known.iter().filter(|row| row.run == run && !seen.contains(&row.key));
            all.extend(
                idle.map(|row| format!("run {run}: {} is as with Chef, but the table says that it differs", row.key)),
            );
        }
        Ok(all)
    }
}
