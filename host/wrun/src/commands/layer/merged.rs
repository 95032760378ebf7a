//! Shows the merged layers of a node, and the layer that each value comes from.

use super::VERSION;
use crate::exit::Exit;
use crate::printer::{Printer, Tone};
use crate::settings::View;
use assemble::{merge_layer_values, merge_layers};
use contract::dotted_path;
use node::attributes::WrittenValue;
use node::layers::{Layer, LayerAttributes, LayerWrite};
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::collections::BTreeMap;
use text::escape_line;

/// Prints the merged layers.
pub(super) fn show(layers: &[Cow<'_, Layer>], origin: Option<View>, printer: Printer) -> anyhow::Result<Exit> {
    let layers: Vec<&Layer> = layers.iter().map(AsRef::as_ref).collect();
    let Some(view) = origin else {
        let levels = merge_layer_values(&layers)?;
        let both =
            Values { default_attributes: &levels.default.values, override_attributes: &levels.r#override.values };
        printer.json(&serde_json::to_string_pretty(&both)?);
        return Ok(Exit::Done);
    };
    let levels = merge_layers(&layers, None)?;
    let both = [("default", &levels.default), ("override", &levels.r#override)];
    match view {
        View::Json => {
            let all =
                both.iter().flat_map(|(level, attributes)| merged(attributes).into_iter().map(|one| one.json(level)));
            printer.json(&json!({ "version": VERSION, "attributes": all.collect::<Vec<_>>() }).to_string());
        }
        View::Doc => {
            for (level, attributes) in both {
                for one in merged(attributes) {
                    printer.line(Tone::Plain, &escape_line(&format!("{level} {}", one.line())));
                }
            }
        }
    }
    Ok(Exit::Done)
}

/// The merged values of all layers, without their origins.
#[derive(Serialize)]
struct Values<'a> {
    default_attributes: &'a Map<String, Value>,
    override_attributes: &'a Map<String, Value>,
}

/// An attribute with the layers that set it.
struct Merged<'a> {
    path: &'a [String],
    value: &'a Value,
    /// The layers that the value comes from: several if values were merged.
    from: Vec<&'a LayerWrite>,
    /// The layers with values that were replaced.
    replaced: Vec<&'a LayerWrite>,
}

/// Returns the attributes that layers set. If several layers set one, the last layer wins.
fn merged(attributes: &LayerAttributes) -> Vec<Merged<'_>> {
    let mut by_path: BTreeMap<&[String], Vec<&LayerWrite>> = BTreeMap::new();
    for write in &attributes.writes {
        by_path.entry(&write.path).or_default().push(write);
    }
    by_path.into_iter().filter_map(|(path, writes)| Merged::of(path, writes, &attributes.values)).collect()
}

impl<'a> Merged<'a> {
    /// Returns `None` if the attribute is an object, since its members have their own layers.
    fn of(path: &'a [String], mut replaced: Vec<&'a LayerWrite>, values: &'a Map<String, Value>) -> Option<Self> {
        let value = value_at(values, path)?;
        if matches!(WrittenValue::summary(value), WrittenValue::Object(members) if members > 0) {
            return None;
        }
        // Writes that later layers were merged with are part of the value. Earlier writes were replaced.
        let first = replaced.iter().rposition(|write| !write.joins).unwrap_or(0);
        let from = replaced.split_off(first);
        Some(Self { path, value, from, replaced })
    }

    fn line(&self) -> String {
        let places = |writes: &[&LayerWrite]| writes.iter().map(|write| place(write)).collect::<Vec<_>>().join(", ");
        let before =
            if self.replaced.is_empty() { String::new() } else { format!("; before: {}", places(&self.replaced)) };
        format!("{} = {}  {}{before}", dotted_path(self.path), self.value, places(&self.from))
    }

    fn json(&self, level: &str) -> Value {
        let layers = |writes: &[&LayerWrite]| {
            let one = |write: &&LayerWrite| json!({ "layer": write.origin.policy, "file": write.origin.file, "line": write.origin.line });
            writes.iter().map(one).collect::<Value>()
        };
        json!({
            "level": level, "path": self.path, "value": self.value, "from": layers(&self.from),
            "replaced": layers(&self.replaced),
        })
    }
}

/// Returns the layer's name with the file and the line.
fn place(write: &LayerWrite) -> String {
    let line = write.origin.line.map(|line| format!(":{line}")).unwrap_or_default();
    let place = write.origin.file.as_deref().map(|file| format!(" ({file}{line})")).unwrap_or_default();
    format!("layer {}{place}", write.origin.policy)
}

fn value_at<'all>(all: &'all Map<String, Value>, path: &[String]) -> Option<&'all Value> {
    let (first, rest) = path.split_first()?;
    rest.iter().try_fold(all.get(first)?, |here, key| here.get(key))
}
