//! Merges the attributes of a policy and of those that it includes, and finds conflicts between them.
//!
//! Levels are merged separately: a value in `default` never conflicts with one in `override`.

use serde_json::{Map, Value};

/// The attributes of one level from one source.
#[derive(Debug, Clone, Copy)]
pub struct Attributes<'a> {
    /// The policy that they come from, for messages.
    pub source: &'a str,
    /// The attributes as one object, from the outermost key.
    pub values: &'a Map<String, Value>,
}

/// Two sources that set the same attribute to different values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttributeConflict {
    /// The keys on the way to the attribute.
    pub path: Vec<String>,
    /// The indices of the source that set it first and of the one that sets it differently.
    pub sources: (usize, usize),
}

impl AttributeConflict {
    /// The path as Chef writes it: `[web][port]`.
    #[must_use]
    pub fn shown_path(&self) -> String {
        self.path.iter().map(|key| format!("[{key}]")).collect()
    }
}

/// Returns the conflicts between sources, in the order of their attributes. Equal values do not conflict, and neither do
/// objects whose members do not conflict.
#[must_use]
pub fn conflicts(sources: &[Attributes<'_>]) -> Vec<AttributeConflict> {
    let mut first = Node::Object(vec![]);
    let mut found = vec![];
    for (index, source) in sources.iter().enumerate() {
        fill(&mut first, index, &mut vec![], source.values, &mut found);
    }
    found
}

/// The attributes of all sources in one tree. Arrays that several sources set are united without repeated elements, as in
/// Chef.
#[must_use]
pub fn merged(sources: &[Attributes<'_>]) -> Map<String, Value> {
    let mut all = sources.iter().map(|source| source.values.clone());
    let first = all.next().unwrap_or_default();
    all.fold(first, node::deep_merge::merge)
}

/// The values of the sources so far.
enum Node<'a> {
    Object(Vec<(&'a str, Self)>),
    Leaf(usize, &'a Value),
}

fn fill<'a>(
    into: &mut Node<'a>,
    source: usize,
    path: &mut Vec<String>,
    values: &'a Map<String, Value>,
    found: &mut Vec<AttributeConflict>,
) {
    let Node::Object(members) = into else { return };
    for (key, value) in values {
        path.push(key.clone());
        let at = members.iter().position(|(known, _)| known == key);
        let known = at.and_then(|at| members.get_mut(at)).map(|(_, node)| node);
        let conflict =
            |first: usize, path: &[String]| AttributeConflict { path: path.to_vec(), sources: (first, source) };
        match (known, value) {
            (None, Value::Object(inner)) => {
                let mut node = Node::Object(vec![]);
                fill(&mut node, source, path, inner, found);
                members.push((key, node));
            }
            (None, value) => members.push((key, Node::Leaf(source, value))),
            (Some(node @ Node::Object(_)), Value::Object(inner)) => fill(node, source, path, inner, found),
            (Some(Node::Leaf(_, known)), value) if is_equal(known, value) => {}
            (Some(Node::Leaf(first, _)), _) => found.push(conflict(*first, path)),
            (Some(node @ Node::Object(_)), _) => found.push(conflict(first_source(node).unwrap_or(source), path)),
        }
        path.pop();
    }
}

/// The source of the first value below a node.
fn first_source(node: &Node<'_>) -> Option<usize> {
    match node {
        Node::Leaf(source, _) => Some(*source),
        Node::Object(members) => members.iter().find_map(|(_, node)| first_source(node)),
    }
}

/// Compares like Ruby: `1` equals `1.0`.
fn is_equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => left == right || left.as_f64() == right.as_f64(),
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| is_equal(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left.iter().all(|(key, left)| right.get(key).is_some_and(|right| is_equal(left, right)))
        }
        _ => left == right,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn check(sources: &[Value], expect: &[(&str, (usize, usize))]) {
        let sources: Vec<_> =
            sources.iter().map(|values| Attributes { source: "x", values: values.as_object().unwrap() }).collect();
        let found = conflicts(&sources);
        let found: Vec<_> = found.iter().map(|conflict| (conflict.shown_path(), conflict.sources)).collect();
        let found: Vec<_> = found.iter().map(|(path, sources)| (path.as_str(), *sources)).collect();
        assert_eq!(found, expect);
    }

    #[test]
    fn every_conflict_is_found() {
        let own = json!({"a": {"b": 1, "c": [1]}, "d": true, "e": {"f": {"g": 1}}});
        let base = json!({"a": {"b": 2, "c": [1]}, "d": {"x": 1}, "e": {"f": 3}});
        check(&[own.clone(), base], &[("[a][b]", (0, 1)), ("[d]", (0, 1)), ("[e][f]", (0, 1))]);
        check(
            &[own, json!({"d": true}), json!({"z": 1}), json!({"z": 2, "d": false})],
            &[("[z]", (2, 3)), ("[d]", (0, 3))],
        );
        check(&[json!({"a": 1}), json!({"a": 1.0})], &[]);
        check(&[json!({"a": [1, {"b": 2}]}), json!({"a": [1.0, {"b": 2.0}]})], &[]);
        check(&[json!({"a": null}), json!({"a": false})], &[("[a]", (0, 1))]);
        check(&[json!({"a": {}}), json!({"a": 1})], &[("[a]", (1, 1))]);
    }
}
