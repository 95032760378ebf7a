//! Layers: environment files that belong to the node, in order; the last one wins.
//!
//! The node stores the content of each file as it was when the file was added, so that one layer can be changed without the
//! others. The merged result is computed in each run and is never stored.

mod attributes;
mod json;
mod lines;
mod list;
mod tree;

use std::fmt;

use serde_json::{Map, Value};

pub use attributes::{LayerAttributes, LayerLevels, LayerWrite};
pub use list::{LayerListError, Layers, Place};
pub use tree::{LayerTree, TreeError, Visit};

/// Largest number of layers of a node.
pub const MAX_LAYERS: usize = 1000;

/// Largest length of a layer's name, in bytes.
pub const MAX_LAYER_NAME: usize = 200;

/// The language that a layer's file is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LayerFormat {
    /// An environment of Chef as JSON.
    Json,
    /// An environment of Chef in Ruby, evaluated when the layer was added.
    Ruby,
    /// TOML with the keys of an environment.
    Toml,
    /// YAML with the keys of an environment.
    Yaml,
}

impl LayerFormat {
    /// Returns the format's word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Ruby => "ruby",
            Self::Toml => "toml",
            Self::Yaml => "yaml",
        }
    }

    /// Returns the format with this word, such as `toml`.
    pub fn of_word(word: &str) -> Option<Self> {
        [Self::Json, Self::Ruby, Self::Toml, Self::Yaml].into_iter().find(|format| format.as_str() == word)
    }

    /// Returns the format of a file with this ending, such as `toml`.
    pub fn of_ending(ending: &str) -> Option<Self> {
        Some(match ending {
            "json" => Self::Json,
            "rb" => Self::Ruby,
            "toml" => Self::Toml,
            "yaml" | "yml" => Self::Yaml,
            _ => return None,
        })
    }
}

/// A constraint on a cookbook's version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CookbookVersion {
    /// The cookbook that the constraint is about.
    pub cookbook: String,
    /// The constraint, such as `~> 2.0`.
    pub constraint: String,
    /// The line of the layer's file, from 1.
    pub line: Option<u32>,
}

/// One environment file of the node.
#[derive(Debug, Clone, PartialEq)]
pub struct Layer {
    /// The name by which commands refer to the layer.
    pub name: String,
    /// The path of the file that it was read from.
    pub file: Option<String>,
    /// The digest of the file's content, or of the content after a change.
    pub digest: String,
    /// The language of the file.
    pub format: LayerFormat,
    /// Attributes for the `env_default` level.
    pub default_attributes: LayerTree,
    /// Attributes for the `env_override` level.
    pub override_attributes: LayerTree,
    /// Constraints on cookbooks' versions.
    pub cookbook_versions: Vec<CookbookVersion>,
    /// Merge strategies by attribute, as the file has them.
    pub merge_strategies: Map<String, Value>,
    /// The policies that see the layer. `None`: all.
    pub policies: Option<Vec<String>>,
}

impl Layer {
    /// Returns a layer without content.
    pub fn empty(name: &str, format: LayerFormat) -> Self {
        Self {
            name: name.to_owned(),
            file: None,
            digest: String::new(),
            format,
            default_attributes: LayerTree::default(),
            override_attributes: LayerTree::default(),
            cookbook_versions: Vec::new(),
            merge_strategies: Map::new(),
            policies: None,
        }
    }

    /// Tells whether a policy sees the layer. `None`: a run list without a policy.
    pub fn is_for(&self, policy: Option<&str>) -> bool {
        let is_named = |policies: &Vec<String>| policy.is_some_and(|policy| policies.iter().any(|name| name == policy));
        self.policies.as_ref().is_none_or(is_named)
    }

    /// Returns a place as text: the file, or the layer's name, with the line if it is given.
    pub fn place(&self, line: Option<u32>) -> String {
        let file = self.file.as_deref().unwrap_or(&self.name);
        line.map_or_else(|| file.to_owned(), |line| format!("{file}:{line}"))
    }
}

/// Shown as the layer's name with its file.
impl fmt::Display for Layer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.file {
            Some(file) => write!(out, "layer {} ({file})", self.name),
            None => write!(out, "layer {}", self.name),
        }
    }
}

/// Tells whether a text can be a layer's name: letters, digits and `-_:.`, not beginning with a dot.
pub fn is_layer_name(name: &str) -> bool {
    let is_fine = |character: char| character.is_ascii_alphanumeric() || "-_:.".contains(character);
    !name.is_empty() && name.len() <= MAX_LAYER_NAME && !name.starts_with('.') && name.chars().all(is_fine)
}
