//! Holds what a command did against what chef-cli did.

use std::collections::BTreeSet;

use anyhow::Result;
use regex::Regex;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::different::is_different;
use super::folder::Tree;
use super::members;

/// What a command did.
#[derive(Debug, Clone)]
pub(super) struct Got {
    pub(super) code: Option<i32>,
    /// What it said, to whomever.
    pub(super) words: String,
    pub(super) before: Tree,
    pub(super) after: Tree,
}

impl Got {
    /// With what stands for the paths of this run.
    pub(super) fn named(mut self, name: &dyn Fn(&str) -> String) -> Self {
        self.words = name(&self.words);
        for content in self.before.0.values_mut().chain(self.after.0.values_mut()) {
            if let Ok(text) = std::str::from_utf8(content) {
                *content = name(text).into_bytes();
            }
        }
        self
    }
}

/// Files of an export that are for people and for Chef's own configuration.
const OWN_WORDS: [&str; 2] = ["README.md", ".chef/config.rb"];

pub(super) fn differences(case: &str, number: usize, expected: &Value, got: &Got) -> Result<Vec<String>> {
    let mut found = vec![];
    let mut note = |what: &str, difference: String| {
        if !is_different(case, number, what) {
            found.push(difference);
        }
    };
    let field = |key: &str| expected.get(key).unwrap_or(&Value::Null);
    let is_good = *field("exit") == 0;
    if is_good != (got.code == Some(0)) {
        note("exit", format!("exit {:?} instead of {}: {}", got.code, field("exit"), got.words));
        return Ok(found);
    }
    let written: BTreeSet<&String> = members(expected, "written").map(|(path, _)| path).collect();
    let changed = got.after.0.iter().filter(|(path, content)| got.before.0.get(*path) != Some(content));
    let changed: BTreeSet<&String> = changed.map(|(path, _)| path).collect();
    if written != changed {
        note("written", format!("wrote {changed:?} instead of {written:?}"));
    }
    let removed: BTreeSet<&str> = field("removed").as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let gone: BTreeSet<&str> =
        got.before.0.keys().filter(|path| !got.after.0.contains_key(*path)).map(String::as_str).collect();
    if removed != gone {
        note("removed", format!("removed {gone:?} instead of {removed:?}"));
    }
    for (path, expect) in members(expected, "written") {
        let Some(content) = got.after.0.get(path) else { continue };
        if let Some(difference) = content_difference(path, expect, content) {
            note(path, difference);
        }
    }
    if !is_good {
        let said = field("stderr").as_str().unwrap_or_default();
        for word in missing_words(said, &got.words)? {
            note(&word, format!("the message does not name {word:?}: {}", got.words));
        }
    }
    Ok(found)
}

fn content_difference(path: &str, expect: &Value, content: &[u8]) -> Option<String> {
    if OWN_WORDS.iter().any(|own| path.ends_with(own)) || path.ends_with(".tgz") {
        return None;
    }
    let Some(text) = expect.get("content").and_then(Value::as_str) else {
        let digest: String = Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect();
        return (expect.get("sha256").and_then(Value::as_str) != Some(&digest))
            .then(|| format!("{path} has another content"));
    };
    let ours = String::from_utf8_lossy(content);
    let (left, right) = (compared(text), compared(&ours));
    (left != right).then(|| {
        let lines = left.lines().zip(right.lines()).find(|(left, right)| left != right);
        let (left, right) = lines.unwrap_or((&left, &right));
        format!("{path}: {right:?} instead of {left:?}")
    })
}

/// A lock's text with commits under names of their own, in the order in which they appear; others as they are.
fn compared(text: &str) -> String {
    let Ok(document) = serde_json::from_str::<Value>(text) else { return text.to_owned() };
    let mut commits = vec![];
    gather(&document, &mut commits);
    let text = serde_json::to_string_pretty(&document).unwrap_or_default();
    commits.iter().enumerate().fold(text, |text, (number, commit)| text.replace(commit, &format!("COMMIT-{number}")))
}

fn gather(value: &Value, commits: &mut Vec<String>) {
    for (key, value) in value.as_object().into_iter().flatten() {
        match value.as_str() {
            Some(commit) if key == "revision" && !commits.iter().any(|known| known == commit) => {
                commits.push(commit.to_owned());
            }
            _ => gather(value, commits),
        }
    }
    for value in value.as_array().into_iter().flatten() {
        gather(value, commits);
    }
}

/// Words of chef-cli's that are its own: the program, its classes, and what it calls the Policyfile.
const WORDS_OF_ITS_OWN: [&str; 5] = ["user-specified", "dependency", "install", "push", "name"];

/// What chef-cli's message names and ours does not: cookbooks, versions, policies, attribute paths and files stand in
/// quotes, are versions, or are paths below the scratch folder.
fn missing_words(theirs: &str, ours: &str) -> Result<Vec<String>> {
    if theirs.contains("Usage: chef") {
        return Ok(vec![]);
    }
    let theirs = theirs.split("Backtrace:").next().unwrap_or_default();
    let theirs = Regex::new(r"#<.*>")?.replace_all(theirs, "");
    let quoted = Regex::new(r#"[`'"]([^`'"\n]{1,200})[`'"]|(\d+\.\d+\.\d+)|(ROOT/[^\s'`",):]+)"#)?;
    let mut words = BTreeSet::new();
    for found in quoted.captures_iter(&theirs) {
        let text = found.get(1).or_else(|| found.get(2)).or_else(|| found.get(3)).map_or("", |text| text.as_str());
        words.extend(text.split([' ', '(', ')', '=', '>', '<', '~', '{', '}', ',']).map(str::to_owned));
    }
    let is_named = |word: &str| {
        let parts = word.rsplit_once('-').filter(|(_, version)| version.split('.').count() == 3);
        ours.contains(word) || parts.is_some_and(|(name, version)| ours.contains(name) && ours.contains(version))
    };
    let is_own = |word: &str| WORDS_OF_ITS_OWN.contains(&word) || word.chars().count() < 2 && !ours.contains(word);
    Ok(words.into_iter().filter(|word| !word.is_empty() && !is_own(word) && !is_named(word)).collect())
}
