//! The ordered list of a node's layers.

use serde_json::{Map, Value};
use text::did_you_mean;
use thiserror::Error;

use super::{Layer, MAX_LAYERS, is_layer_name};

/// The layers of a node, in order; the last one wins.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Layers {
    pub(super) all: Vec<Layer>,
}

/// The place of a layer in the list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Place {
    /// At the end of the list, where it wins over all others.
    #[default]
    Last,
    /// Just before the layer of this name.
    Before(String),
    /// Just after the layer of this name.
    After(String),
    /// At this place, from 1.
    At(usize),
}

/// The reasons why the list cannot be changed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum LayerListError {
    /// The name cannot be a layer's.
    #[error(
        "{name:?} cannot be the name of a layer: use letters, digits and the characters - _ : . and no dot at the beginning"
    )]
    InvalidName {
        /// The name that was refused, as given.
        name: String,
    },
    /// The list has a layer of that name already.
    #[error("the node has a layer {name} already: replace it, or give the new one another name")]
    Exists {
        /// The name that is taken already.
        name: String,
    },
    /// The list does not have that layer.
    #[error("the node has no layer {name}{}", known(name, names))]
    Missing {
        /// The name that was asked for.
        name: String,
        /// The names of all layers.
        names: Vec<String>,
    },
    /// The requested place is behind the end of the list.
    #[error("there is no place {place} in a list of {length}")]
    NoSuchPlace {
        /// The place, from 1.
        place: usize,
        /// The number of places.
        length: usize,
    },
    /// The node has too many layers.
    #[error("a node may have {MAX_LAYERS} layers, and this would be one more")]
    TooMany,
}

/// Layers that an error names.
const MAX_NAMED: usize = 10;

/// Returns the end of an error message: the layers that the user may have meant.
fn known(name: &str, names: &[String]) -> String {
    let near = did_you_mean(name, names.iter().map(String::as_str)).map(|near| format!("; {near}"));
    match names {
        [] => "; it has none".to_owned(),
        names if near.is_none() && names.len() <= MAX_NAMED => format!("; it has: {}", names.join(", ")),
        names => near.unwrap_or_else(|| format!("; it has {} layers: `wrun layer list` lists them", names.len())),
    }
}

impl Layers {
    /// Returns the layers in order.
    pub fn all(&self) -> &[Layer] {
        &self.all
    }

    /// Tells whether there is no layer.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Returns the layer of a name.
    ///
    /// # Errors
    /// The layer does not exist.
    pub fn get(&self, name: &str) -> Result<&Layer, LayerListError> {
        self.all.iter().find(|layer| layer.name == name).ok_or_else(|| self.missing(name))
    }

    /// Returns the layer of a name, to change it.
    ///
    /// # Errors
    /// The layer does not exist.
    pub fn get_mut(&mut self, name: &str) -> Result<&mut Layer, LayerListError> {
        let at = self.position(name)?;
        let missing = self.missing(name);
        self.all.get_mut(at).ok_or(missing)
    }

    /// Adds a layer.
    ///
    /// # Errors
    /// The name is invalid or exists, or the place does not exist.
    pub fn add(&mut self, layer: Layer, place: &Place) -> Result<(), LayerListError> {
        if !is_layer_name(&layer.name) {
            return Err(LayerListError::InvalidName { name: layer.name });
        }
        if self.position(&layer.name).is_ok() {
            return Err(LayerListError::Exists { name: layer.name });
        }
        if self.all.len() >= MAX_LAYERS {
            return Err(LayerListError::TooMany);
        }
        let at = self.index(place)?;
        self.all.insert(at, layer);
        Ok(())
    }

    /// Replaces the layer with this name by another one, at the same place.
    ///
    /// # Errors
    /// The layer does not exist, or another one has the new name.
    pub fn replace(&mut self, name: &str, layer: Layer) -> Result<(), LayerListError> {
        let at = self.position(name)?;
        if !is_layer_name(&layer.name) {
            return Err(LayerListError::InvalidName { name: layer.name });
        }
        if layer.name != name && self.position(&layer.name).is_ok() {
            return Err(LayerListError::Exists { name: layer.name });
        }
        if let Some(old) = self.all.get_mut(at) {
            *old = layer;
        }
        Ok(())
    }

    /// Replaces the layer of the same name in its place, else adds the layer at the end.
    ///
    /// # Errors
    /// The name is invalid, or there are too many layers.
    pub fn put(&mut self, layer: Layer) -> Result<(), LayerListError> {
        match self.position(&layer.name) {
            Ok(_) => self.replace(&layer.name.clone(), layer),
            Err(_) => self.add(layer, &Place::Last),
        }
    }

    /// Removes a layer and returns it.
    ///
    /// # Errors
    /// The layer does not exist.
    pub fn remove(&mut self, name: &str) -> Result<Layer, LayerListError> {
        let at = self.position(name)?;
        Ok(self.all.remove(at))
    }

    /// Moves a layer to another place.
    ///
    /// # Errors
    /// The layer or the place does not exist. The list has not changed then.
    pub fn move_to(&mut self, name: &str, place: &Place) -> Result<(), LayerListError> {
        let mut rest = self.clone();
        let layer = rest.remove(name)?;
        let at = rest.index(place)?;
        rest.all.insert(at, layer);
        *self = rest;
        Ok(())
    }

    /// Returns name and digest of each layer, in order: `[{"name": .., "digest": ..}]`.
    pub fn summary(&self) -> Value {
        let one = |layer: &Layer| {
            let texts = [("name", &layer.name), ("digest", &layer.digest)];
            Value::Object(
                texts
                    .map(|(key, text)| (key.to_owned(), Value::from(text.as_str())))
                    .into_iter()
                    .collect::<Map<_, _>>(),
            )
        };
        self.all.iter().map(one).collect()
    }

    fn position(&self, name: &str) -> Result<usize, LayerListError> {
        self.all.iter().position(|layer| layer.name == name).ok_or_else(|| self.missing(name))
    }

    fn missing(&self, name: &str) -> LayerListError {
        let names = self.all.iter().map(|layer| layer.name.clone()).collect();
        LayerListError::Missing { name: name.to_owned(), names }
    }

    fn index(&self, place: &Place) -> Result<usize, LayerListError> {
        match place {
            Place::Last => Ok(self.all.len()),
            Place::Before(name) => self.position(name),
            Place::After(name) => Ok(self.position(name)? + 1),
            Place::At(place) => match place.checked_sub(1) {
                Some(at) if at <= self.all.len() => Ok(at),
                _ => Err(LayerListError::NoSuchPlace { place: *place, length: self.all.len() + 1 }),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layers::LayerFormat;

    fn layers(names: &[&str]) -> Layers {
        Layers { all: names.iter().map(|name| Layer::empty(name, LayerFormat::Json)).collect() }
    }

    #[track_caller]
    fn check(change: impl Fn(&mut Layers) -> Result<(), LayerListError>, expect: Result<&[&str], &str>) {
        let mut list = layers(&["a", "b", "c"]);
        let changed = change(&mut list).map_err(|error| error.to_string());
        let names: Vec<_> = list.all().iter().map(|layer| layer.name.clone()).collect();
        match (changed, expect) {
            (Ok(()), Ok(expect)) => assert_eq!(names, expect),
            (Err(error), Err(expect)) => {
                assert!(error.contains(expect), "{error}");
                assert_eq!(names, ["a", "b", "c"], "a failed change changes nothing");
            }
            (changed, expect) => panic!("{changed:?}, expected {expect:?}"),
        }
    }

    fn new(name: &str) -> Layer {
        Layer::empty(name, LayerFormat::Toml)
    }

    #[test]
    fn layers_are_added_at_their_place() {
        check(|list| list.add(new("x"), &Place::Last), Ok(&["a", "b", "c", "x"]));
        check(|list| list.add(new("x"), &Place::Before("a".into())), Ok(&["x", "a", "b", "c"]));
        check(|list| list.add(new("x"), &Place::After("b".into())), Ok(&["a", "b", "x", "c"]));
        check(|list| list.add(new("x"), &Place::At(1)), Ok(&["x", "a", "b", "c"]));
        check(|list| list.add(new("x"), &Place::At(4)), Ok(&["a", "b", "c", "x"]));
        check(|list| list.add(new("x"), &Place::At(5)), Err("no place 5 in a list of 4"));
        check(|list| list.add(new("x"), &Place::At(0)), Err("no place 0"));
        check(|list| list.add(new("x"), &Place::After("zone".into())), Err("no layer zone; it has: a, b, c"));
        check(|list| list.add(new("b"), &Place::Last), Err("a layer b already"));
        check(|list| list.add(new("../x"), &Place::Last), Err("cannot be the name"));
    }

    #[test]
    fn an_error_names_the_layer_that_may_be_meant() {
        let missing = |list: &Layers, name: &str| list.get(name).unwrap_err().to_string();
        let few = layers(&["base", "berlin", "stage"]);
        assert_eq!(missing(&few, "berln"), "the node has no layer berln; did you mean `berlin`?");
        assert_eq!(missing(&few, "other"), "the node has no layer other; it has: base, berlin, stage");
        let names: Vec<_> = (0..200).map(|number| format!("rack{number}")).collect();
        let many = layers(&names.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(missing(&many, "rack1999"), "the node has no layer rack1999; did you mean `rack199`?");
        assert_eq!(missing(&many, "x"), "the node has no layer x; it has 200 layers: `wrun layer list` lists them");
        assert_eq!(missing(&Layers::default(), "x"), "the node has no layer x; it has none");
    }

    #[test]
    fn layers_are_replaced_in_their_place_and_moved() {
        check(|list| list.replace("b", new("x")), Ok(&["a", "x", "c"]));
        check(|list| list.replace("b", new("c")), Err("a layer c already"));
        check(|list| list.put(new("b")), Ok(&["a", "b", "c"]));
        check(|list| list.put(new("d")), Ok(&["a", "b", "c", "d"]));
        check(|list| list.remove("b").map(drop), Ok(&["a", "c"]));
        check(|list| list.move_to("a", &Place::After("c".into())), Ok(&["b", "c", "a"]));
        check(|list| list.move_to("c", &Place::At(1)), Ok(&["c", "a", "b"]));
        check(|list| list.move_to("a", &Place::Before("a".into())), Err("no layer a"));
        check(|list| list.move_to("z", &Place::Last), Err("no layer z"));
    }
}
