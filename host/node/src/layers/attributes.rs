//! The merged attributes of a node's layers for one policy, with the layer that set each of them.

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::attributes::WrittenValue;
use crate::origin::Origin;

/// An attribute that a layer sets.
#[derive(Debug, Clone, PartialEq)]
pub struct LayerWrite {
    /// The keys that lead to the attribute.
    pub path: Vec<String>,
    /// The value, or its size.
    pub value: WrittenValue,
    /// Whether it is joined with the values of earlier layers and does not replace them.
    pub joins: bool,
    /// The layer by its name, with the file and the line.
    pub origin: Arc<Origin>,
}

/// The attributes of one level that layers set.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LayerAttributes {
    /// All layers' values together.
    pub values: Map<String, Value>,
    /// What each layer sets, in the order of the layers.
    pub writes: Vec<LayerWrite>,
}

/// The attributes of both levels that layers set.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LayerLevels {
    /// The `env_default` level, with the layer that set each attribute.
    pub default: LayerAttributes,
    /// The `env_override` level, with the layer that set each attribute.
    pub r#override: LayerAttributes,
}
