//! Writes the node object as JSON, and reads it back.
//!
//! The shape is Chef's, so that tools which read nodes can read this one, with the policies added:
//! `policy_name` is a list, `policies` has each one's part, and `default` and `override` at the top are the parts
//! merged in the order of the policies.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::hidden_names::HiddenNames;
use super::normal::Normal;
use super::records::{self, PolicyRecord};
use super::{DEFAULT_ENVIRONMENT, NodeObject, OWN_POLICY_KEYS, ObjectError};
use crate::attributes::guest_values::mentions_guest_values;
use crate::deep_merge::hash_only_merge;
use crate::run_list::RunList;
use crate::saved_filter::{FilterError, SavedFilters};

const DOCUMENT: &str = "saved node";

/// A function that returns one field of a policy's record.
type OfRecord = fn(&PolicyRecord) -> Option<&String>;

impl NodeObject {
    /// The node as it is saved: `{name, chef_environment, json_class, chef_type, automatic, normal, default, override,
    /// run_list}`, and where there are policies `{policy_name: [..], policy_group, policies: {NAME: {group, revision,
    /// artifact, run_list, default, override}}}`. `policy_group` is null where the policies are in different groups.
    ///
    /// The filters apply to the four levels at the top and to each policy's.
    ///
    /// # Errors
    /// An item of the filters that leads through something without keys.
    pub fn to_saved_json(&self, filters: &SavedFilters) -> Result<Value, FilterError> {
        let merged = |of: fn(&PolicyRecord) -> &Map<String, Value>| {
            self.records.iter().fold(Map::new(), |sum, record| hash_only_merge(sum, of(record).clone()))
        };
        let mut saved = Map::new();
        let mut set = |key: &str, value: Value| {
            saved.insert(key.to_owned(), value);
        };
        set("name", json!(self.name));
        set("chef_environment", json!(self.chef_environment));
        set("json_class", json!("Chef::Node"));
        set("chef_type", json!("node"));
        set("automatic", Value::Object(filters.automatic.apply(&self.automatic_with_policies())?));
        set("normal", Value::Object(filters.normal.apply(self.normal.merged())?));
        set("default", Value::Object(filters.default.apply(&merged(|record| &record.default))?));
        set("override", Value::Object(filters.r#override.apply(&merged(|record| &record.r#override))?));
        set("run_list", self.whole_run_list().to_json());
        let named: Vec<(&String, &PolicyRecord)> =
            self.records.iter().filter_map(|record| Some((record.name.as_ref()?, &**record))).collect();
        if !named.is_empty() {
            set("policy_name", named.iter().map(|(name, _)| json!(name)).collect());
            set("policy_group", json!(records::common_group(&self.records)));
            let policies = named.into_iter().map(|(name, record)| {
                let mut part = json!({
                    "group": record.group,
                    "revision": record.revision,
                    "artifact": record.artifact,
                    "run_list": record.run_list.to_json(),
                    "default": filters.default.apply(&record.default)?,
                    "override": filters.r#override.apply(&record.r#override)?,
                });
                let more = [
                    ("normal_bytes", Some(json!(record.normal_bytes)).filter(|_| record.normal_bytes > 0)),
                    ("hidden_inherited", record.hidden_inherited.to_saved().cloned()),
                    ("hidden_normal", record.hidden_normal.to_saved().cloned()),
                ];
                if let Some(part) = part.as_object_mut() {
                    part.extend(more.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))));
                }
                Ok((name.clone(), part))
            });
            set("policies", Value::Object(policies.collect::<Result<_, _>>()?));
        }
        Ok(Value::Object(saved))
    }

    /// The automatic attributes with `policy_name`, `policy_group` and `policy_revision`, where there are policies: lists, or the
    /// text of the only one. Tools that look for nodes read them there.
    fn automatic_with_policies(&self) -> Map<String, Value> {
        // A policy without a revision was assigned, and has not run: Chef's node has its name beside the attributes.
        let has_run = |record: &&Arc<PolicyRecord>| record.name.is_some() && record.revision.is_some();
        let named: Vec<_> = self.records.iter().filter(has_run).collect();
        let mut automatic = self.automatic.clone();
        let all: [(&str, OfRecord); 3] = [
            ("policy_name", |record| record.name.as_ref()),
            ("policy_group", |record| record.group.as_ref()),
            ("policy_revision", |record| record.revision.as_ref()),
        ];
        for (key, of) in all {
            let values: Vec<_> = named.iter().filter_map(|record| of(record)).collect();
            match values.as_slice() {
                [] => {}
                [only] if named.len() == 1 => drop(automatic.insert(key.to_owned(), json!(only))),
                values => drop(automatic.insert(key.to_owned(), json!(values))),
            }
        }
        automatic
    }

    /// Reads a saved node back. One that Chef saved is read too: what it holds in `default` and `override` is kept
    /// until the first run replaces it.
    ///
    /// # Errors
    /// What is missing or of the wrong kind, by its key.
    pub fn from_saved_json(json: &Value) -> Result<Self, ObjectError> {
        let saved = Section::whole(json)?;
        if mentions_guest_values(json) {
            return Err(ObjectError::GuestValueNotAccepted { document: DOCUMENT, key: "an attribute".to_owned() });
        }
        let name = saved.text("name")?.ok_or_else(|| saved.missing("name"))?;
        let mut records = Vec::new();
        match saved.section("policies")? {
            Some(policies) => {
                for name in policies.names_in_order(&saved)? {
                    let part = policies.section(&name)?.ok_or_else(|| policies.missing(&name))?;
                    records.push(Arc::new(part.record(Some(name))?));
                }
            }
            None => records.extend(saved.record_without_policy()?.map(Arc::new)),
        }
        let own_run_list = if records.iter().any(|record| record.name.is_some()) {
            RunList::default()
        } else {
            saved.run_list("run_list")?.without_repeats()
        };
        let mut automatic = saved.attributes("automatic")?;
        if records.iter().any(|record| record.name.is_some() && record.revision.is_some()) {
            // The records have these values.
            OWN_POLICY_KEYS.iter().for_each(|key| drop(automatic.shift_remove(*key)));
        }
        Ok(Self {
            chef_environment: saved.text("chef_environment")?.unwrap_or(DEFAULT_ENVIRONMENT).to_owned(),
            run_list: own_run_list,
            automatic,
            normal: Normal::given(saved.attributes("normal")?),
            records,
            ..Self::new(name)?
        })
    }

    /// Returns the node's own run list, or those of the policies one after the other.
    pub fn whole_run_list(&self) -> RunList {
        if !self.run_list.is_empty() {
            return self.run_list.clone();
        }
        let items = self.records.iter().flat_map(|record| record.run_list.to_strings());
        RunList::parse(items).unwrap_or_default().without_repeats()
    }
}

/// An object inside the saved node, with the keys that lead to it.
struct Section<'json> {
    object: &'json Map<String, Value>,
    place: String,
}

impl<'json> Section<'json> {
    fn whole(json: &'json Value) -> Result<Self, ObjectError> {
        match json {
            Value::Object(object) => Ok(Self { object, place: String::new() }),
            _ => Err(ObjectError::WrongKind { document: DOCUMENT, key: "the whole".to_owned(), expected: "an object" }),
        }
    }

    fn key(&self, key: &str) -> String {
        if self.place.is_empty() { key.to_owned() } else { format!("{}.{key}", self.place) }
    }

    fn missing(&self, key: &str) -> ObjectError {
        ObjectError::Missing { document: DOCUMENT, key: self.key(key) }
    }

    fn wrong(&self, key: &str, expected: &'static str) -> ObjectError {
        ObjectError::WrongKind { document: DOCUMENT, key: self.key(key), expected }
    }

    fn get(&self, key: &str) -> Option<&'json Value> {
        self.object.get(key).filter(|value| !value.is_null())
    }

    fn text(&self, key: &str) -> Result<Option<&'json str>, ObjectError> {
        self.get(key).map(|value| value.as_str().ok_or_else(|| self.wrong(key, "text"))).transpose()
    }

    fn section(&self, key: &str) -> Result<Option<Self>, ObjectError> {
        let section = |value: &'json Value| {
            let object = value.as_object().ok_or_else(|| self.wrong(key, "an object"))?;
            Ok(Self { object, place: self.key(key) })
        };
        self.get(key).map(section).transpose()
    }

    fn attributes(&self, key: &str) -> Result<Map<String, Value>, ObjectError> {
        Ok(self.section(key)?.map(|section| section.object.clone()).unwrap_or_default())
    }

    fn run_list(&self, key: &str) -> Result<RunList, ObjectError> {
        let parse = |value| {
            RunList::from_json(value).map_err(|reason| ObjectError::RunList {
                document: DOCUMENT,
                key: self.key(key),
                reason,
            })
        };
        self.get(key).map_or_else(|| Ok(RunList::default()), parse)
    }

    fn record(&self, name: Option<String>) -> Result<PolicyRecord, ObjectError> {
        Ok(PolicyRecord {
            name,
            group: self.text("group")?.map(str::to_owned),
            revision: self.text("revision")?.map(str::to_owned),
            artifact: self.text("artifact")?.map(str::to_owned),
            run_list: self.run_list("run_list")?,
            default: self.attributes("default")?,
            r#override: self.attributes("override")?,
            normal_bytes: self.get("normal_bytes").and_then(Value::as_u64).unwrap_or(0),
            hidden_inherited: HiddenNames::from_saved(self.get("hidden_inherited")),
            hidden_normal: HiddenNames::from_saved(self.get("hidden_normal")),
        })
    }

    /// Reads the record of a node without policies from the keys at the top.
    fn record_without_policy(&self) -> Result<Option<PolicyRecord>, ObjectError> {
        let record = PolicyRecord {
            default: self.attributes("default")?,
            r#override: self.attributes("override")?,
            ..PolicyRecord::default()
        };
        Ok((!record.default.is_empty() || !record.r#override.is_empty()).then_some(record))
    }

    /// The policies in the order of `policy_name`, which is the order in which they are merged.
    fn names_in_order(&self, top: &Self) -> Result<Vec<String>, ObjectError> {
        let Some(listed) = top.get("policy_name") else { return Err(top.missing("policy_name")) };
        let names: Option<Vec<String>> =
            listed.as_array().and_then(|names| names.iter().map(|name| name.as_str().map(str::to_owned)).collect());
        let names = names.ok_or_else(|| top.wrong("policy_name", "a list of names"))?;
        match self.object.keys().find(|key| !names.contains(key)) {
            Some(_) => Err(top.wrong("policy_name", "the list of all policies under policies")),
            None => Ok(names),
        }
    }
}
