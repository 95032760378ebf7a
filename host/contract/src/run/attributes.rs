//! The node's attributes in a policy's run, and the functions that change them. A change for a guest needs a proof of the
//! grant, and the policy's account pays for the growth before the write.

use super::Run;
use crate::{Event, Failure, Outcome};
use grants::GrantedAttribute;
use node::attributes::{AttributeError, Attributes, GuestValue, Level, acceptable_facts};
use node::origin::Origin;
use serde_json::{Map, Value};

/// Bytes of a compiled recipe in addition to the copies of its name.
const RECIPE_BYTES: u64 = 256;

/// The number of copies of its name: one here, and two in the attributes.
const RECIPE_COPIES: u64 = 3;

/// A change of attributes that a guest requests.
pub struct AttributeChange<'a> {
    /// The proof that the guest may change the path.
    pub granted: &'a GrantedAttribute,
    /// The level's name, for the observer.
    pub level_name: &'static str,
    /// The level and the value to write, or `None` for a removal.
    pub written: Option<(Level, Value)>,
    /// The place in the guest's code, for the attribute's history.
    pub origin: &'a Origin,
}

impl Run {
    /// Returns the node's present levels, for example to show the values that compile has set.
    pub fn levels(&self) -> Map<String, Value> {
        let empty = || Value::Object(Map::new());
        let levels = [
            ("normal", Some(self.node.level(Level::Normal).into_owned())),
            ("default", self.node.combined_default::<&str>(&[])),
            ("override", self.node.combined_override::<&str>(&[])),
        ];
        levels.into_iter().map(|(name, value)| (name.to_owned(), value.unwrap_or_else(empty))).collect()
    }

    /// Returns the node's attributes in this policy's run.
    pub fn attributes(&self) -> &Attributes {
        &self.node
    }

    /// Changes attributes at a granted path. The account pays for the maximum growth before the change, and gets the rest
    /// back afterwards. `change` gets the path and the value to write, or `null` for a removal.
    ///
    /// # Errors
    /// The policy's memory is used up, and nothing is changed. The inner result has the error of `change`.
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

    /// Replaces a marker by the value that the guest has computed for it. The marker was already granted and paid for.
    ///
    /// # Errors
    /// The policy's memory is used up, or the path cannot have the value.
    pub fn freeze_attribute(&mut self, marker: &GuestValue, value: Value) -> Outcome {
        let origin = Origin::policy(&self.policy);
        let growth = self.node.most_growth(Some((marker.level, &value)), &marker.path, &origin);
        let frozen = self.paying_for(growth, &origin, |node| node.freeze(marker.level, &marker.path, value))?;
        frozen.map_err(|error| Failure::raised(error.kind(), error.to_string()))
    }

    /// Replaces facts by new ones with the same first key.
    ///
    /// # Errors
    /// As [`freeze_attribute`](Self::freeze_attribute).
    pub fn take_facts(&mut self, facts: Map<String, Value>) -> Outcome {
        let origin = Origin::policy(&self.policy);
        for (key, value) in acceptable_facts(facts) {
            let path = [key];
            let growth = self.node.most_growth(Some((Level::Automatic, &value)), &path, &origin);
            let written =
                self.paying_for(growth, &origin, |node| node.host_write(Level::Automatic, &path, value, &origin))?;
            written.map_err(|error| Failure::raised(error.kind(), error.to_string()))?;
        }
        Ok(())
    }

    /// Begins to compile a recipe, `cookbook::recipe`, and adds it to the node's recipes. Returns false if it was compiled
    /// before.
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

    /// Pays for the maximum growth, makes the change, and then adjusts the charge to the attributes' real size.
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
