//! Layers as JSON with their content, as the state folder has them.

use serde_json::{Map, Value, json};

use super::lines;
use super::tree::count;
use super::{CookbookVersion, Layer, LayerFormat, LayerTree, Layers, MAX_LAYERS, is_layer_name};
use crate::object::ObjectError;

/// Version of the document.
const VERSION: u64 = 1;

const DOCUMENT: &str = "layers";

impl Layers {
    /// Returns the document: `{"version": 1, "layers": [..]}`.
    pub fn to_json(&self) -> Value {
        json!({ "version": VERSION, "layers": self.all().iter().map(Layer::to_json).collect::<Vec<_>>() })
    }

    /// Reads the document back.
    ///
    /// # Errors
    /// Another version, or a part that is missing or of the wrong kind.
    pub fn from_json(json: Value) -> Result<Self, ObjectError> {
        let Value::Object(mut document) = json else { return Err(wrong("the whole", "an object")) };
        if document.get("version").and_then(Value::as_u64) != Some(VERSION) {
            return Err(wrong("version", "1"));
        }
        let Some(Value::Array(layers)) = document.shift_remove("layers") else { return Err(wrong("layers", "a list")) };
        if layers.len() > MAX_LAYERS {
            return Err(wrong("layers", "a list of at most 1000"));
        }
        let all = layers.into_iter().map(Layer::from_json).collect::<Result<Vec<_>, _>>()?;
        let mut names: Vec<_> = all.iter().map(|layer| &layer.name).collect();
        names.sort();
        if names.windows(2).any(|pair| matches!(pair, [one, other] if one == other)) {
            return Err(wrong("layers", "a list of layers with different names"));
        }
        Ok(Self { all })
    }
}

impl Layer {
    /// Returns the layer with its content. Parts without content are left out.
    pub fn to_json(&self) -> Value {
        let mut layer = Map::new();
        let mut set = |key: &str, value: Value| drop(layer.insert(key.to_owned(), value));
        set("name", json!(self.name));
        if let Some(file) = &self.file {
            set("file", json!(file));
        }
        set("digest", json!(self.digest));
        set("format", json!(self.format.as_str()));
        let trees =
            [("default_attributes", &self.default_attributes), ("override_attributes", &self.override_attributes)];
        for (key, tree) in trees.into_iter().filter(|(_, tree)| !tree.is_empty()) {
            set(key, json!(tree.values()));
            if !tree.lines().is_empty() {
                set(&format!("{key}_lines"), json!(lines::to_text(tree.lines())));
            }
        }
        if !self.cookbook_versions.is_empty() {
            let version = |one: &CookbookVersion| json!([one.cookbook, one.constraint, one.line]);
            set("cookbook_versions", self.cookbook_versions.iter().map(version).collect());
        }
        if !self.merge_strategies.is_empty() {
            set("merge_strategies", json!(self.merge_strategies));
        }
        if let Some(policies) = &self.policies {
            set("policies", json!(policies));
        }
        Value::Object(layer)
    }

    /// Reads a layer back.
    ///
    /// # Errors
    /// A part is missing or of the wrong kind.
    pub fn from_json(json: Value) -> Result<Self, ObjectError> {
        let Value::Object(mut layer) = json else { return Err(wrong("layers", "a list of objects")) };
        let text = |value: Option<Value>, key: &str| match value {
            Some(Value::String(text)) => Ok(text),
            _ => Err(wrong(key, "text")),
        };
        let object = |value: Option<Value>, key: &str| match value {
            None => Ok(Map::new()),
            Some(Value::Object(object)) => Ok(object),
            Some(_) => Err(wrong(key, "an object")),
        };
        let name = text(layer.shift_remove("name"), "name")?;
        if !is_layer_name(&name) {
            return Err(wrong("name", "the name of a layer"));
        }
        let file = layer.shift_remove("file").map(|file| text(Some(file), "file")).transpose()?;
        let digest = text(layer.shift_remove("digest"), "digest")?;
        let format = text(layer.shift_remove("format"), "format")?;
        let format = LayerFormat::of_word(&format).ok_or_else(|| wrong("format", "json, ruby, toml or yaml"))?;
        let mut tree = |key: &str| {
            let lines = layer.shift_remove(&format!("{key}_lines"));
            let values = object(layer.shift_remove(key), key)?;
            // Lines serve only explanations, so an invalid list counts as unknown lines. Older nodes have a list of numbers.
            let lines = lines.and_then(|lines| match lines {
                Value::String(text) => lines::from_text(&text, count(&values)),
                numbers => serde_json::from_value(numbers).ok(),
            });
            Ok::<_, ObjectError>(LayerTree::new(values, lines.unwrap_or_default()))
        };
        let (default_attributes, override_attributes) = (tree("default_attributes")?, tree("override_attributes")?);
        let versions = layer.shift_remove("cookbook_versions").unwrap_or_else(|| json!([]));
        let versions: Vec<(String, String, Option<u32>)> =
            serde_json::from_value(versions).map_err(|_| wrong("cookbook_versions", "a list of constraints"))?;
        let version = |(cookbook, constraint, line)| CookbookVersion { cookbook, constraint, line };
        let policies = layer.shift_remove("policies").map(serde_json::from_value).transpose();
        Ok(Self {
            name,
            file,
            digest,
            format,
            default_attributes,
            override_attributes,
            cookbook_versions: versions.into_iter().map(version).collect(),
            merge_strategies: object(layer.shift_remove("merge_strategies"), "merge_strategies")?,
            policies: policies.map_err(|_| wrong("policies", "a list of names"))?,
        })
    }
}

fn wrong(key: &str, expected: &'static str) -> ObjectError {
    ObjectError::WrongKind { document: DOCUMENT, key: key.to_owned(), expected }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layer() -> Layer {
        let object = |value: Value| value.as_object().unwrap().clone();
        Layer {
            file: Some("site.toml".to_owned()),
            digest: "00".to_owned(),
            default_attributes: LayerTree::new(object(json!({"a": {"b": 1}})), vec![1, 2]),
            cookbook_versions: vec![CookbookVersion {
                cookbook: "ntp".to_owned(),
                constraint: "~> 2.0".to_owned(),
                line: Some(4),
            }],
            merge_strategies: object(json!({"a.b": "merge"})),
            policies: Some(vec!["web".to_owned()]),
            ..Layer::empty("site", LayerFormat::Toml)
        }
    }

    #[test]
    fn layers_are_read_as_they_were_written() {
        let layers = Layers { all: vec![layer(), Layer::empty("b", LayerFormat::Ruby)] };
        assert_eq!(Layers::from_json(layers.to_json()).unwrap(), layers);
        let mut older = layers.to_json();
        older["layers"][0]["default_attributes_lines"] = json!([1, 2]);
        assert_eq!(Layers::from_json(older).unwrap(), layers);
    }

    #[test]
    fn damaged_layers_are_refused() {
        #[track_caller]
        fn check(change: impl Fn(&mut Value), expect: &str) {
            let mut json = Layers { all: vec![layer()] }.to_json();
            change(&mut json);
            assert_eq!(Layers::from_json(json).unwrap_err().to_string(), format!("layers: {expect}"));
        }
        check(|json| json["version"] = json!(2), "version must be 1");
        check(|json| json["layers"] = json!({}), "layers must be a list");
        check(|json| json["layers"] = json!([1]), "layers must be a list of objects");
        check(|json| json["layers"][0]["name"] = json!("../x"), "name must be the name of a layer");
        check(|json| json["layers"][0]["format"] = json!("xml"), "format must be json, ruby, toml or yaml");
        check(|json| json["layers"][0]["default_attributes"] = json!([]), "default_attributes must be an object");
        check(|json| json["layers"][0]["policies"] = json!("web"), "policies must be a list of names");
        let same = |json: &mut Value| {
            let first = json["layers"][0].clone();
            json["layers"].as_array_mut().unwrap().push(first);
        };
        check(same, "layers must be a list of layers with different names");
    }
}
