//! A tree of attributes with the line of each attribute in its file.

use serde_json::{Map, Value};
use thiserror::Error;

/// Attributes as a file gives them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LayerTree {
    values: Map<String, Value>,
    /// The line of each member of each object, from 1, in the order of a walk that visits a member before those below it. 0
    /// where the line is not known. Lists are not walked into.
    lines: Vec<u32>,
}

/// Looks at a member by its path, its value and its line. `false`: the members below it are passed over.
pub type Visit<'a> = dyn FnMut(&[String], &Value, Option<u32>) -> bool + 'a;

/// The reasons why an attribute cannot be set.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TreeError {
    /// No attribute is named.
    #[error("name an attribute, as in `ntp.servers`")]
    NoPath,
    /// A value that is not an object stands on the way.
    #[error("{} is not an object, so nothing can be set below it", path.join("."))]
    NotAnObject {
        /// The keys that lead to the value.
        path: Vec<String>,
    },
}

impl LayerTree {
    /// Creates attributes from values and their lines. If the numbers of lines and members differ, the lines are dropped.
    pub fn new(values: Map<String, Value>, lines: Vec<u32>) -> Self {
        let lines = if lines.len() == count(&values) { lines } else { Vec::new() };
        Self { values, lines }
    }

    /// Returns the attributes as one object, without their lines.
    pub fn values(&self) -> &Map<String, Value> {
        &self.values
    }

    /// Returns the lines in the order of the walk. The slice is empty if the lines are unknown.
    pub fn lines(&self) -> &[u32] {
        &self.lines
    }

    /// Tells whether there is no attribute.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Calls `visit` for each member of each object, and for a member before the members inside it.
    pub fn walk(&self, visit: &mut Visit<'_>) {
        let mut lines = self.lines.iter().copied();
        walk(&self.values, &mut vec![], &mut lines, true, visit);
    }

    /// Sets the value at a path and creates missing objects along it. The line of the value is unknown afterwards.
    ///
    /// # Errors
    /// The path is empty or leads through a value that is not an object.
    pub fn set(&mut self, path: &[String], value: Value) -> Result<(), TreeError> {
        let mut lines = std::collections::HashMap::new();
        self.walk(&mut |at, _, line| {
            lines.extend(line.filter(|_| !at.starts_with(path)).map(|line| (at.to_vec(), line)));
            true
        });
        set_at(&mut self.values, path, 0, value)?;
        let mut kept = Vec::new();
        walk(&self.values, &mut vec![], &mut std::iter::empty(), true, &mut |at, _, _| {
            kept.push(lines.get(at).copied().unwrap_or(0));
            true
        });
        self.lines = kept;
        Ok(())
    }
}

fn set_at(here: &mut Map<String, Value>, path: &[String], depth: usize, value: Value) -> Result<(), TreeError> {
    match path.get(depth..).unwrap_or_default() {
        [] => Err(TreeError::NoPath),
        [last] => {
            here.insert(last.clone(), value);
            Ok(())
        }
        [first, ..] => match here.entry(first.clone()).or_insert_with(|| Value::Object(Map::new())) {
            Value::Object(below) => set_at(below, path, depth + 1, value),
            _ => Err(TreeError::NotAnObject { path: path.get(..=depth).unwrap_or_default().to_vec() }),
        },
    }
}

/// The number of members of all objects.
pub(super) fn count(values: &Map<String, Value>) -> usize {
    values.values().map(|value| 1 + value.as_object().map_or(0, count)).sum()
}

fn walk(
    values: &Map<String, Value>,
    path: &mut Vec<String>,
    lines: &mut dyn Iterator<Item = u32>,
    is_visited: bool,
    visit: &mut Visit<'_>,
) {
    for (key, value) in values {
        let line = lines.next().filter(|line| *line > 0);
        path.push(key.clone());
        let goes_on = is_visited && visit(path, value, line);
        if let Value::Object(below) = value {
            walk(below, path, lines, goes_on, visit);
        }
        path.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn tree(values: Value, lines: &[u32]) -> LayerTree {
        LayerTree::new(values.as_object().unwrap().clone(), lines.to_vec())
    }

    fn lines(tree: &LayerTree) -> Vec<(String, Option<u32>)> {
        let mut found = vec![];
        tree.walk(&mut |path, _, line| {
            found.push((path.join("."), line));
            true
        });
        found
    }

    #[test]
    fn members_have_lines_and_keep_them_when_others_change() {
        let mut tree = tree(json!({"a": {"b": 1, "c": [{"x": 1}]}, "d": 2}), &[1, 2, 3, 4]);
        let at = |path: &str, line| (path.to_owned(), line);
        let before = [at("a", Some(1)), at("a.b", Some(2)), at("a.c", Some(3)), at("d", Some(4))];
        assert_eq!(lines(&tree), before);
        tree.set(&["a".into(), "b".into()], json!({"n": 1})).unwrap();
        tree.set(&["e".into(), "f".into()], json!(3)).unwrap();
        let after = [
            at("a", Some(1)),
            at("a.b", None),
            at("a.b.n", None),
            at("a.c", Some(3)),
            at("d", Some(4)),
            at("e", None),
            at("e.f", None),
        ];
        assert_eq!(lines(&tree), after);
    }

    #[test]
    fn lines_that_do_not_fit_are_not_used() {
        assert_eq!(lines(&tree(json!({"a": 1}), &[1, 2])), [("a".to_owned(), None)]);
    }

    #[test]
    fn nothing_is_set_below_a_plain_value() {
        let error = tree(json!({"a": {"b": 1}}), &[]).set(&["a".into(), "b".into(), "c".into()], json!(1));
        assert_eq!(error.unwrap_err().to_string(), "a.b is not an object, so nothing can be set below it");
    }
}
