//! The node as a policy sees it, and the ways to change it. Whoever changes it for a guest has the proof that the guest may,
//! and has paid for the growth before anything is written.

use super::Run;
use crate::{Event, Failure, Outcome};
use grants::GrantedAttribute;
use node::attributes::{AttributeError, Attributes, GuestValue, Level};
use node::origin::Origin;
use serde_json::{Map, Value};

/// What a compiled recipe takes besides the copies of its name.
const RECIPE_BYTES: u64 = 256;

/// How often its name is kept: here, and twice among the attributes.
const RECIPE_COPIES: u64 = 3;

/// A change that a guest asks for.
pub struct AttributeChange<'a> {
    /// The proof that the guest may change what is at its path.
    pub granted: &'a GrantedAttribute,
    /// The level's name, for those who watch.
    pub level_name: &'static str,
    /// The level and the value to write; `None`: something is removed.
    pub written: Option<(Level, Value)>,
    /// The place in the guest's code that asks, for the attribute's history.
    pub origin: &'a Origin,
}

impl Run {
    /// The node's levels, as they are: for those who ask what compile alone has set.
    pub fn levels(&self) -> Map<String, Value> {
        let empty = || Value::Object(Map::new());
        let levels = [
            ("normal", Some(self.node.level(Level::Normal).into_owned())),
            ("default", self.node.combined_default::<&str>(&[])),
            ("override", self.node.combined_override::<&str>(&[])),
        ];
        levels.into_iter().map(|(name, value)| (name.to_owned(), value.unwrap_or_else(empty))).collect()
    }

    /// The node as this policy sees it.
    pub fn attributes(&self) -> &Attributes {
        &self.node
    }

    /// Changes attributes at a granted path. What the change may add is paid for before it is made, and what it has not
    /// added is given back. `change` gets the path and the value to write, `null` for a removal.
    ///
    /// # Errors
    /// The policy's memory is used up: nothing is changed. Inside: `change`'s own.
    pub fn change_attributes<T>(
        &mut self,
        asked: AttributeChange<'_>,
        change: impl FnOnce(&mut Attributes, &[String], Value) -> Result<T, AttributeError>,
    ) -> Result<Result<T, AttributeError>, Failure> {
        let AttributeChange { granted, level_name, written, origin } = asked;
        let path = granted.path();
        let growth = self.node.most_growth(written.as_ref().map(|(level, value)| (*level, value)), path, origin);
        let value = written.map_or(Value::Null, |(_, value)| value);
        let changed = self.paying_for(growth, origin, |node| change(node, path, value))?;
        if changed.is_ok() {
            self.reads.wrote(path);
            self.notice(&Event::AttributeChanged { level: level_name, path, origin });
        }
        Ok(changed)
    }

    /// Puts a value in place of the marker that the guest has computed it for. The marker was paid for and granted.
    ///
    /// # Errors
    /// The policy's memory is used up; the value cannot be there.
    pub fn freeze_attribute(&mut self, marker: &GuestValue, value: Value) -> Outcome {
        let origin = Origin::policy(&self.policy);
        let growth = self.node.most_growth(Some((marker.level, &value)), &marker.path, &origin);
        let frozen = self.paying_for(growth, &origin, |node| node.freeze(marker.level, &marker.path, value))?;
        frozen.map_err(|error| Failure::raised(error.kind(), error.to_string()))
    }

    /// Puts facts that were gathered anew in place of the old ones of the same first key.
    ///
    /// # Errors
    /// As [`freeze_attribute`](Self::freeze_attribute).
    pub fn take_facts(&mut self, facts: Map<String, Value>) -> Outcome {
        let origin = Origin::policy(&self.policy);
        for (key, value) in facts {
            let path = [key];
            let growth = self.node.most_growth(Some((Level::Automatic, &value)), &path, &origin);
            let written =
                self.paying_for(growth, &origin, |node| node.host_write(Level::Automatic, &path, value, &origin))?;
            written.map_err(|error| Failure::raised(error.kind(), error.to_string()))?;
        }
        Ok(())
    }

    /// Begins to compile a recipe, `cookbook::recipe`, which is from now on one of the node's recipes. False: it was
    /// compiled before.
    ///
    /// # Errors
    /// The policy's memory is used up.
    pub fn begin_recipe(&mut self, recipe: &str) -> Result<bool, Failure> {
        if self.included.contains(recipe) {
            return Ok(false);
        }
        self.pay(RECIPE_BYTES + RECIPE_COPIES * recipe.len() as u64)?;
        self.included.insert(recipe.to_owned());
        let looked_at = self.node.host_add_recipe(recipe);
        self.account.work(looked_at).map_err(Failure::from)?;
        self.notice(&Event::RecipeStarted { recipe });
        Ok(true)
    }

    /// Makes a change for which so many bytes are paid beforehand; afterwards what the attributes take is paid for.
    fn paying_for<T>(
        &mut self,
        growth: u64,
        origin: &Origin,
        change: impl FnOnce(&mut Attributes) -> Result<T, AttributeError>,
    ) -> Result<Result<T, AttributeError>, Failure> {
        self.attributes_paid.grow(growth, || origin.clone()).map_err(Failure::from)?;
        let changed = change(&mut self.node);
        self.attributes_paid.resize(self.node.held_bytes(), || origin.clone()).map_err(Failure::from)?;
        Ok(changed)
    }
}
