//! Reads a layer from an environment file. Files are untrusted, so their content and size are checked here.

use std::collections::BTreeMap;

use node::layers::{CookbookVersion, Layer, LayerFormat, LayerTree, is_layer_name};
use node::version_constraint::{VersionConstraint, VersionStyle};
use serde_json::{Map, Value};
use thiserror::Error;

use super::document::{DocumentError, MAX_FILE, Member, Node};
use super::strategy::Strategy;
use super::{DEFAULT_STRATEGY, attribute_path, json_file, toml_file, yaml_file};

/// Keys of a Chef environment that are ignored.
const IGNORED: [&str; 3] = ["description", "json_class", "chef_type"];

/// Keys that a file may have.
const KNOWN: [&str; 9] = [
    "name",
    "default_attributes",
    "override_attributes",
    "cookbook_versions",
    "merge_strategies",
    "policies",
    "description",
    "json_class",
    "chef_type",
];

/// The reason why a file is not a valid layer.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{}{}: {reason}", file, match line { 0 => String::new(), line => format!(":{line}") })]
pub struct LayerError {
    /// The path of the file.
    pub file: String,
    /// The line, from 1; 0 where it is not known.
    pub line: u32,
    /// The reason and a remedy.
    pub reason: String,
}

/// A file that is to become a layer.
#[derive(Debug, Clone, Copy)]
pub struct LayerSource<'a> {
    /// The path, as people know it.
    pub file: &'a str,
    /// The digest of the file's bytes.
    pub digest: &'a str,
    /// The default name of the layer, from the file's name.
    pub stem: &'a str,
}

/// Reads a file in JSON, TOML or YAML.
///
/// # Errors
/// The file is too large, is not in its language, or has a key or a value that an environment does not have.
pub fn read_layer(source: &LayerSource<'_>, format: LayerFormat, text: &str) -> Result<Layer, LayerError> {
    let wrong =
        |error: DocumentError| LayerError { file: source.file.to_owned(), line: error.line, reason: error.reason };
    if text.len() > MAX_FILE {
        return Err(wrong(DocumentError::new(0, format!("the file has more than {MAX_FILE} bytes"))));
    }
    let parsed = match format {
        LayerFormat::Json => json_file::parse(text),
        LayerFormat::Toml => toml_file::parse(text),
        LayerFormat::Yaml => yaml_file::parse(text),
        LayerFormat::Ruby => Err(DocumentError::new(0, "a file in Ruby must be evaluated first")),
    };
    parsed.and_then(|node| layer(source, format, node)).map_err(wrong)
}

/// The key of attribute lines in the answer about a file in Ruby: `{KEY: [LINE, {KEY: ..}]}`.
const LINES: &str = "wrun_lines";

/// Removes the lines of attributes from the answer about a file in Ruby.
pub fn without_lines(mut document: Value) -> Value {
    if let Some(members) = document.as_object_mut() {
        members.shift_remove(LINES);
    }
    document
}

/// Makes a layer from the result of a file in Ruby.
///
/// # Errors
/// A key or a value that an environment does not have.
pub fn layer_of_ruby(source: &LayerSource<'_>, document: Value) -> Result<Layer, LayerError> {
    let mut budget = super::document::Budget::default();
    let lines = document.get(LINES).cloned().unwrap_or_default();
    let mut node = Node::of_value(without_lines(document));
    if let Node::Object(members) = &mut node {
        let tree = |key: &str| matches!(key, "default_attributes" | "override_attributes");
        for member in members.iter_mut().filter(|member| tree(&member.key)) {
            if let Some(lines) = lines.get(&member.key) {
                set_lines(&mut member.node, lines);
            }
        }
    }
    let checked = budget.take_all(&node, 1, 0).and_then(|()| layer(source, LayerFormat::Ruby, node));
    checked.map_err(|error| LayerError { file: source.file.to_owned(), line: error.line, reason: error.reason })
}

/// Sets the known lines of an object's members.
fn set_lines(node: &mut Node, lines: &Value) {
    let Node::Object(members) = node else { return };
    for member in members {
        let Some(known) = lines.get(&member.key) else { continue };
        let line = known.get(0).and_then(Value::as_u64).and_then(|line| u32::try_from(line).ok());
        member.line = line.unwrap_or(0);
        if let Some(below) = known.get(1) {
            set_lines(&mut member.node, below);
        }
    }
}

fn layer(source: &LayerSource<'_>, format: LayerFormat, node: Node) -> Result<Layer, DocumentError> {
    let Node::Object(members) = node else {
        return Err(DocumentError::new(1, format!("the file must be an object with keys, not {}", node.kind())));
    };
    let mut layer = Layer::empty(source.stem, format);
    layer.file = Some(source.file.to_owned());
    layer.digest = source.digest.to_owned();
    for Member { key, line, node } in members {
        match key.as_str() {
            // Ruby's classes write null for keys that were not set.
            _ if matches!(node, Node::Plain(Value::Null)) && KNOWN.contains(&key.as_str()) => {}
            "name" => layer.name = text(&key, line, node)?,
            "default_attributes" => layer.default_attributes = tree(&key, line, node)?,
            "override_attributes" => layer.override_attributes = tree(&key, line, node)?,
            "cookbook_versions" => layer.cookbook_versions = cookbook_versions(&key, line, node)?,
            "merge_strategies" => layer.merge_strategies = strategies(&key, line, node)?,
            "policies" => layer.policies = Some(policies(&key, line, node)?),
            key if IGNORED.contains(&key) => {}
            key => {
                let known =
                    KNOWN.iter().filter(|known| !IGNORED.contains(known)).copied().collect::<Vec<_>>().join(", ");
                return Err(DocumentError::new(line, format!("an environment has no key {key:?}; it has: {known}")));
            }
        }
    }
    if !is_layer_name(&layer.name) {
        let reason = format!(
            "{:?} cannot be the name of a layer: set `name` to letters, digits and the characters - _ : .",
            layer.name
        );
        return Err(DocumentError::new(0, reason));
    }
    Ok(layer)
}

fn wrong_kind(key: &str, line: u32, expected: &str, node: &Node) -> DocumentError {
    DocumentError::new(line, format!("{key} must be {expected}, not {}", node.kind()))
}

fn text(key: &str, line: u32, node: Node) -> Result<String, DocumentError> {
    match node {
        Node::Plain(Value::String(text)) => Ok(text),
        other => Err(wrong_kind(key, line, "text", &other)),
    }
}

fn members(key: &str, line: u32, node: Node) -> Result<Vec<Member>, DocumentError> {
    match node {
        Node::Object(members) => Ok(members),
        other => Err(wrong_kind(key, line, "an object", &other)),
    }
}

fn tree(key: &str, line: u32, node: Node) -> Result<LayerTree, DocumentError> {
    let node = Node::Object(members(key, line, node)?);
    let mut lines = Vec::new();
    let values = match node.into_value(Some(&mut lines)) {
        Value::Object(values) => values,
        _ => Map::new(),
    };
    if lines.iter().all(|line| *line == 0) {
        lines.clear();
    }
    Ok(LayerTree::new(values, lines))
}

fn cookbook_versions(key: &str, line: u32, node: Node) -> Result<Vec<CookbookVersion>, DocumentError> {
    let constraint = |Member { key, line, node }: Member| {
        let constraint = text(&format!("the constraint on {key}"), line, node)?;
        if VersionConstraint::parse(&constraint, VersionStyle::Cookbook).is_err() {
            let reason = format!("the constraint on {key} is {constraint:?}; write one like \"~> 2.0\" or \"= 1.2.3\"");
            return Err(DocumentError::new(line, reason));
        }
        Ok(CookbookVersion { cookbook: key, constraint, line: Some(line).filter(|line| *line > 0) })
    };
    members(key, line, node)?.into_iter().map(constraint).collect()
}

fn strategies(key: &str, line: u32, node: Node) -> Result<Map<String, Value>, DocumentError> {
    let mut named = Map::new();
    let mut paths: BTreeMap<Vec<String>, String> = BTreeMap::new();
    for Member { key, line, node } in members(key, line, node)? {
        let word = text(&format!("the merge strategy of {key}"), line, node)?;
        if matches!(Strategy::of_word(&word), Strategy::Unknown(_)) {
            let words = Strategy::WORDS.join(", ");
            let reason = format!("the merge strategy of {key} is {word:?}; it must be one of {words}");
            return Err(DocumentError::new(line, reason));
        }
        if key != DEFAULT_STRATEGY {
            let path = attribute_path(&key);
            let above = (1..=path.len()).find_map(|length| paths.get(path.get(..length)?));
            let below = || paths.range(path.clone()..).next().filter(|(other, _)| other.starts_with(&path));
            if let Some(other) = above.or_else(|| Some(below()?.1)) {
                let reason = format!("merge_strategies names {other} and {key}, of which one is below the other");
                return Err(DocumentError::new(line, reason));
            }
            paths.insert(path, key.clone());
        }
        named.insert(key, Value::String(word));
    }
    Ok(named)
}

fn policies(key: &str, line: u32, node: Node) -> Result<Vec<String>, DocumentError> {
    match node {
        Node::List(names) => names.into_iter().map(|name| text("a name in policies", line, name)).collect(),
        other => Err(wrong_kind(key, line, "a list of names", &other)),
    }
}
