//! Environment files as layers: several files become one set of values, the last one wins.
//!
//! ```text
//! read        a layer out of a file: `document` with its lines, in JSON, TOML or YAML
//! strategy    how a value goes together with those of earlier files
//! combine     parameters by name, as OpenStack Heat combines environment files
//! merged      the attributes of a node's layers, by the same strategies
//! ```

mod combine;
pub(crate) mod document;
pub(crate) mod json_file;
mod merged;
mod read;
mod strategy;
mod toml_file;
mod yaml_file;

pub use combine::{CombineError, Combined, Kind, NotMergeable, ParameterFile, combine};
pub use document::MAX_FILE;
pub use merged::{LayerConstraint, cookbook_constraints, merge_layer_values, merge_layers};
pub use read::{LayerError, LayerSource, layer_of_ruby, read_layer, without_lines};
pub use strategy::{Strategies, Strategy};

/// Reads a document in JSON, with comments as Chef's tools write them. The limits of layers apply to it.
///
/// # Errors
/// The reason why it is not JSON, with its line.
pub fn parse_json(text: &str) -> Result<serde_json::Value, String> {
    json_file::parse(text).map(|node| node.into_value(None)).map_err(|error| error.to_string())
}

/// The key of the default strategy.
const DEFAULT_STRATEGY: &str = "default";

/// Splits an attribute's name at its dots; `\.` is a dot in a key.
pub fn attribute_path(name: &str) -> Vec<String> {
    let mut keys = vec![String::new()];
    let mut characters = name.chars();
    while let Some(character) = characters.next() {
        match (character, keys.last_mut()) {
            ('.', _) => keys.push(String::new()),
            ('\\', Some(key)) => key.extend(characters.next()),
            (character, Some(key)) => key.push(character),
            (_, None) => {}
        }
    }
    keys
}
