//! The attributes given for one run on the command line or in a file.

use serde_json::{Map, Value};

use super::ObjectError;
use crate::attributes::Level;
use crate::attributes::guest_values::mentions_guest_values;
use crate::attributes::limits::inspect;
use crate::run_list::RunList;
use text::nearest;

const DOCUMENT: &str = "JSON attributes";

/// JSON attributes, split into the keys with a special meaning and the attributes.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct JsonAttributes {
    /// `run_list`, or its old name `recipes`.
    pub run_list: Option<RunList>,
    /// Whether the run list was given under its old name.
    pub as_recipes: bool,
    /// `chef_environment`, the name of the environment; `None` if it was not given.
    pub chef_environment: Option<String>,
    /// `policy_name`: one name, or several in a list.
    pub policy_names: Vec<String>,
    /// `policy_group`, the group of the policies; `None` if it was not given.
    pub policy_group: Option<String>,
    /// The other keys. They are merged into `normal`.
    pub attributes: Map<String, Value>,
}

impl JsonAttributes {
    /// Returns a key whose value is a list and whose name is nearly `run_list`: probably a spelling mistake.
    pub fn misspelt_run_list(&self) -> Option<&str> {
        let lists = self.attributes.iter().filter(|(_, value)| value.is_array()).map(|(key, _)| key.as_str());
        lists.into_iter().find(|key| nearest(key, ["run_list"]).is_some())
    }

    /// Splits JSON attributes into their parts.
    ///
    /// # Errors
    /// Anything but an object; keys with the wrong kind of value; an invalid run list, or one under each of its
    /// two names.
    pub fn from_json(json: Value) -> Result<Self, ObjectError> {
        let wrong = |key: &str, expected| ObjectError::WrongKind { document: DOCUMENT, key: key.to_owned(), expected };
        if mentions_guest_values(&json) {
            return Err(ObjectError::GuestValueNotAccepted { document: DOCUMENT, key: "one".to_owned() });
        }
        let Value::Object(mut attributes) = json else { return Err(wrong("the whole", "an object")) };
        let mut text = |key: &str| match attributes.shift_remove(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(wrong(key, "text")),
        };
        let chef_environment = text("chef_environment")?;
        let policy_group = text("policy_group")?;
        let policy_names = match attributes.shift_remove("policy_name") {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::String(name)) => vec![name],
            Some(Value::Array(names)) => names
                .into_iter()
                .map(|name| name.as_str().map(str::to_owned).ok_or_else(|| wrong("policy_name", "a list of names")))
                .collect::<Result<_, _>>()?,
            Some(_) => return Err(wrong("policy_name", "a name or a list of names")),
        };
        let given = |value: Option<Value>| value.filter(|value| !value.is_null());
        let recipes = given(attributes.shift_remove("recipes"));
        let run_list = given(attributes.shift_remove("run_list"));
        let as_recipes = recipes.is_some();
        let run_list = match (recipes, run_list) {
            (Some(_), Some(_)) => return Err(ObjectError::AmbiguousRunList),
            (Some(list), None) => Some(("recipes", list)),
            (None, Some(list)) => Some(("run_list", list)),
            (None, None) => None,
        };
        let run_list = run_list.map(|(key, list)| {
            RunList::from_json(&list).map(RunList::without_repeats).map_err(|reason| ObjectError::RunList {
                document: DOCUMENT,
                key: key.to_owned(),
                reason,
            })
        });
        for (key, value) in &attributes {
            let wrong = |reason| ObjectError::Attributes { level: Level::Normal, reason };
            inspect(value, &[key]).map_err(wrong)?;
        }
        Ok(Self {
            run_list: run_list.transpose()?,
            as_recipes,
            chef_environment,
            policy_names,
            policy_group,
            attributes,
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn refused(json: Value, expect: &str) {
        assert_eq!(JsonAttributes::from_json(json).unwrap_err().to_string(), expect);
    }

    #[test]
    fn attributes_that_could_not_be_saved_are_refused() {
        let nested = (0..100).fold(json!(1), |inner, _| json!([inner]));
        refused(
            json!({"a": {"b": nested}}),
            "normal attributes: attribute a would be nested deeper than the limit of 90 levels",
        );
    }

    #[test]
    fn keys_that_are_no_attributes_are_taken_out() {
        let taken = JsonAttributes::from_json(json!({
            "run_list": ["recipe[a]", "recipe[a]"], "policy_name": ["core", "web"], "policy_group": "prod", "x": {"y": 1}
        }));
        let taken = taken.unwrap();
        assert_eq!(taken.run_list.unwrap().to_strings(), ["recipe[a]"]);
        assert_eq!(taken.policy_names, ["core", "web"]);
        assert_eq!(taken.policy_group.as_deref(), Some("prod"));
        assert_eq!(Value::Object(taken.attributes), json!({"x": {"y": 1}}));
        let old = JsonAttributes::from_json(json!({"recipes": "a"})).unwrap();
        assert!(old.as_recipes);
        assert_eq!(old.run_list.unwrap().to_strings(), ["recipe[a]"]);
    }

    #[test]
    fn what_is_wrong_is_said() {
        refused(json!([1]), "JSON attributes: the whole must be an object");
        refused(json!({"policy_group": 1}), "JSON attributes: policy_group must be text");
        refused(json!({"policy_name": [1]}), "JSON attributes: policy_name must be a list of names");
        refused(json!({"run_list": [1]}), "JSON attributes: run_list: a run list item must be text, not a number");
        refused(
            json!({"run_list": ["a"], "recipes": ["b"]}),
            "please set the node's run list using the 'run_list' attribute only.",
        );
        refused(
            json!({"a": {"\u{0}guest": 1}}),
            "JSON attributes: one holds a value that only a running policy can compute",
        );
    }

    #[test]
    fn a_list_that_is_nearly_a_run_list_is_found() {
        let misspelt = |json| JsonAttributes::from_json(json).unwrap().misspelt_run_list().map(str::to_owned);
        for key in ["run_lst", "run-list", "runlist"] {
            assert_eq!(misspelt(json!({ "web": {}, key: ["recipe[a]"] })).as_deref(), Some(key));
        }
        assert_eq!(misspelt(json!({ "run_list": ["a"], "web": ["x"], "run_lst": "a" })), None);
    }
}
