//! Compares two locks for `wrun policy diff`.

use std::fmt::Write as _;
use std::path::Path;

use policyfile::lock::{document, pretty};
use serde_json::{Map, Value};
use similar::{Algorithm, ChangeTag, DiffOp, capture_diff_slices, group_diff_ops};
use text::escape_line;

use super::error::{PolicyfileError, Remedy};
use super::read_own_text;

/// The lines around a change that are shown.
const CONTEXT: usize = 3;

/// A lock to compare.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Base {
    /// The lock file in the folder.
    Local,
    /// The lock as it is in a commit.
    Git(String),
}

/// A lock with its name in the comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct Side {
    /// The name: `git:HEAD` or `local:Policyfile.lock.json`.
    pub name: String,
    lock: Map<String, Value>,
}

impl Side {
    /// Reads a lock. `lock`: its path below `folder`.
    ///
    /// # Errors
    /// The lock cannot be read, or is not JSON.
    pub fn read(base: &Base, lock: &str, folder: &Path) -> Result<Self, PolicyfileError> {
        let (name, text) = match base {
            Base::Local => {
                let path = folder.join(lock);
                if !path.exists() {
                    return Err(PolicyfileError::NoLock { path });
                }
                (format!("local:{lock}"), read_own_text(&path)?)
            }
            Base::Git(reference) => {
                (format!("git:{reference}"), super::working_tree::file_of_revision(folder, reference, lock)?)
            }
        };
        Self::of_text(name, &text)
    }

    /// Takes a lock's text under a name.
    ///
    /// # Errors
    /// The text is not JSON.
    pub fn of_text(name: String, text: &str) -> Result<Self, PolicyfileError> {
        let lock = document(text).map_err(|invalid| PolicyfileError::Lock {
            place: name.clone(),
            invalid,
            remedy: Remedy::Nothing,
        })?;
        Ok(Self { name, lock })
    }

    fn get(&self, key: &str) -> &Value {
        self.lock.get(key).unwrap_or(&Value::Null)
    }

    fn cookbook(&self, name: &str) -> Option<&Value> {
        self.get("cookbook_locks").get(name)
    }
}

/// Returns the differences as chef-cli shows them, or `None` if there are none.
#[must_use]
pub fn compare(old: &Side, new: &Side) -> Option<String> {
    let sections =
        ["revision_id", "run_list", "named_run_lists", "cookbook_locks", "default_attributes", "override_attributes"];
    let differs = |key: &str| old.get(key) != new.get(key);
    if !sections.into_iter().any(differs) {
        return None;
    }
    let name = old.get("name").as_str().unwrap_or_default();
    let [name, before, after] = [name, &old.name, &new.name].map(escape_line);
    let mut text = format!("Policy lock '{name}' differs between '{before}' and '{after}':\n\n");
    heading(&mut text, "REVISION ID CHANGED", '=');
    lines(&mut text, &items(old.get("revision_id")), &items(new.get("revision_id")));
    if differs("run_list") {
        heading(&mut text, "RUN LIST CHANGED", '=');
        lines(&mut text, &items(old.get("run_list")), &items(new.get("run_list")));
    }
    if differs("named_run_lists") {
        heading(&mut text, "NAMED RUN LISTS CHANGED", '=');
        lines(&mut text, &json_lines(old.get("named_run_lists")), &json_lines(new.get("named_run_lists")));
    }
    cookbooks(&mut text, old, new);
    for (key, title) in
        [("default_attributes", "DEFAULT ATTRIBUTES CHANGED"), ("override_attributes", "OVERRIDE ATTRIBUTES CHANGED")]
    {
        if differs(key) {
            heading(&mut text, title, '=');
            lines(&mut text, &json_lines(old.get(key)), &json_lines(new.get(key)));
        }
    }
    Some(text)
}

fn cookbooks(text: &mut String, old: &Side, new: &Side) {
    let mut names: Vec<&String> = vec![];
    for side in [old, new] {
        for name in side.get("cookbook_locks").as_object().into_iter().flat_map(Map::keys) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    let titles = ["ADDED COOKBOOKS", "REMOVED COOKBOOKS", "MODIFIED COOKBOOKS"];
    for (kind, title) in titles.into_iter().enumerate() {
        let fits = |name: &&&String| match (old.cookbook(name), new.cookbook(name)) {
            (None, Some(_)) => kind == 0,
            (Some(_), None) => kind == 1,
            (before, after) => kind == 2 && before != after,
        };
        let found: Vec<_> = names.iter().filter(fits).collect();
        if found.is_empty() {
            continue;
        }
        heading(text, title, '=');
        for name in found {
            text.push('\n');
            heading(text, &escape_line(name), '-');
            let side = |side: &Side| side.cookbook(name).map(json_lines).unwrap_or_default();
            lines(text, &side(old), &side(new));
        }
    }
}

fn heading(text: &mut String, title: &str, line: char) {
    let under: String = std::iter::repeat_n(line, title.chars().count()).collect();
    // Writing into a string cannot fail.
    let _ = writeln!(text, "{title}\n{under}");
}

/// Returns one line for each item. Texts are escaped, because the locks are untrusted and have not been checked.
fn items(value: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), escape_line);
    value.as_array().map_or_else(|| vec![text(value)], |items| items.iter().map(text).collect())
}

fn json_lines(value: &Value) -> Vec<String> {
    pretty(value).lines().map(str::to_owned).collect()
}

/// Adds a unified diff of two lists of lines.
fn lines(text: &mut String, old: &[String], new: &[String]) {
    text.push('\n');
    let operations = capture_diff_slices(Algorithm::Myers, old, new);
    for group in group_diff_ops(operations, CONTEXT) {
        hunk(text, &group, old, new);
    }
    text.push('\n');
}

fn hunk(text: &mut String, group: &[DiffOp], old: &[String], new: &[String]) {
    let (Some(first), Some(last)) = (group.first(), group.last()) else { return };
    let range = |from: usize, to: usize| match to - from {
        0 => format!("{from},0"),
        1 => format!("{}", from + 1),
        length => format!("{},{length}", from + 1),
    };
    let before = range(first.old_range().start, last.old_range().end);
    let after = range(first.new_range().start, last.new_range().end);
    let _ = writeln!(text, "@@ -{before} +{after} @@");
    for change in group.iter().flat_map(|operation| operation.iter_changes(old, new)) {
        let sign = match change.tag() {
            ChangeTag::Equal => ' ',
            ChangeTag::Delete => '-',
            ChangeTag::Insert => '+',
        };
        let _ = writeln!(text, "{sign}{}", change.value());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// An untrusted lock is compared unchecked: none of its texts may forge another line.
    #[test]
    fn texts_of_a_lock_forge_no_line_of_the_comparison() {
        let forged = "x\nerror: forged\n@@ -1 +1 @@";
        let side = |name: &str, word: &str| {
            let lock = json!({
                "name": forged, "revision_id": word, "run_list": [word],
                "cookbook_locks": { word: { "version": "1.0.0" } },
            });
            Side::of_text(name.to_owned(), &lock.to_string()).unwrap()
        };
        let text = compare(&side("a", "plain"), &side("b", forged)).unwrap();
        assert!(text.contains(r"+x\nerror: forged"), "{text}");
        assert!(
            !text.lines().any(|line| line.starts_with("error:") || line == "@@ -1 +1 @@" && line.len() > 12),
            "{text}"
        );
    }
}
