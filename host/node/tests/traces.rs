//! Every call that Chef's own examples make on the attribute and node API, replayed.
//!
//! A trace has calls on `Chef::Node::Attribute` ("attribute"), on `Chef::Node` ("node") and on one level's tree
//! ("mash"). Objects that JSON cannot carry stand as `{"$opaque": CLASS}`; as attribute values they are what this
//! crate calls guest values, and take part as such.

#![cfg(test)]

#[path = "support/attributes.rs"]
mod calls;
mod support;

use std::collections::HashMap;

use node::attributes::guest_values::{guest_number, guest_value};
use node::attributes::{AttributeError, Attributes, Level};
use node::deep_merge;
use node::object::{JsonAttributes, NodeObject, NormalAccess, PolicyStart};
use node::origin::Origin;
use node::run_list::RunList;
use node::saved_filter::{FilterItem, LevelFilter, SavedFilters};
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use support::{run_vectors, same, same_order};

/// Calls that are out of scope, by name, each with the reason. No other call may go unanswered.
const OUT_OF_SCOPE: [(&str, &str); 19] = [
    ("inspect", "writes Ruby's own syntax for objects"),
    ("to_s", "writes Ruby's own syntax for hashes"),
    ("hash", "Ruby's hash number of an object"),
    ("object_id", "Ruby's object identity"),
    ("equal?", "Ruby's object identity"),
    ("dup", "Ruby's copy of an object"),
    ("clone", "Ruby's copy of an object"),
    ("respond_to?", "asks about Ruby methods"),
    ("is_a?", "asks about Ruby classes"),
    ("kind_of?", "asks about Ruby classes"),
    ("frozen?", "asks whether a Ruby object is frozen"),
    ("each", "runs a Ruby block, which the trace does not have"),
    ("each_pair", "runs a Ruby block, which the trace does not have"),
    ("each_key", "runs a Ruby block, which the trace does not have"),
    ("each_value", "runs a Ruby block, which the trace does not have"),
    ("map", "runs a Ruby block, which the trace does not have"),
    ("collect", "runs a Ruby block, which the trace does not have"),
    ("any?", "runs a Ruby block, which the trace does not have"),
    ("all?", "runs a Ruby block, which the trace does not have"),
];

/// Of these a Ruby block, which the trace does not have, chooses the pairs; that the pairs are true is checked.
const CHOSEN_BY_BLOCK: [&str; 2] = ["select", "reject"];

#[test]
fn trace_attribute_spec() {
    run_vectors("trace_attribute_spec.json", "examples", replay);
}

#[test]
fn trace_node_spec() {
    run_vectors("trace_node_spec.json", "examples", replay);
}

type Outcome = Result<Value, Raised>;

/// The class of what was raised.
#[derive(Debug)]
struct Raised(String);

impl From<AttributeError> for Raised {
    fn from(error: AttributeError) -> Self {
        Self(errors::chef::class(&error.kind()).to_owned())
    }
}

/// What one example has made so far.
#[derive(Default)]
struct Replay {
    sets: HashMap<String, Attributes>,
    opaque: Vec<Value>,
}

fn replay(example: &Value) -> Result<(), String> {
    let mut replay = Replay::default();
    let calls = example["calls"].as_array().ok_or("no calls")?;
    let finals = example["final"].as_object().ok_or("no final state")?;
    for (number, call) in calls.iter().enumerate() {
        let what = format!("call {number} {}", shortened(call));
        let set = call["attr"].as_str().ok_or("no attr")?.to_owned();
        replay.call(&set, call, &finals[&set]).map_err(|why| format!("{what}: {why}"))?;
    }
    for (name, expected) in finals {
        replay.check_final(name, expected).map_err(|why| format!("final {name}: {why}"))?;
    }
    Ok(())
}

fn shortened(call: &Value) -> String {
    call.to_string().chars().take(300).collect()
}

fn origin() -> Origin {
    Origin::policy("trace")
}

impl Replay {
    fn call(&mut self, name: &str, call: &Value, final_state: &Value) -> Result<(), String> {
        let method = call["call"].as_str().ok_or("no call")?;
        let opaque_before = self.opaque.len();
        let args: Vec<Value> = call["args"].as_array().into_iter().flatten().map(|arg| self.untraced(arg)).collect();
        if method.starts_with("new(") {
            self.sets.insert(name.to_owned(), new_set(&args)?);
            return Ok(());
        }
        if OUT_OF_SCOPE.iter().any(|(out_of_scope, _)| *out_of_scope == method) {
            return Ok(());
        }
        let takes_opaque = self.opaque.len() > opaque_before;
        let result = call.get("result").map(|result| self.untraced(result));
        let set = self.sets.entry(name.to_owned()).or_default();
        if method == "apply_expansion_attributes" && takes_opaque {
            // The expansion is opaque: the levels that it replaces are known from the final state alone.
            return take_levels(
                set,
                final_state,
                &[Level::EnvDefault, Level::RoleDefault, Level::RoleOverride, Level::EnvOverride],
            );
        }
        if result.as_ref().is_some_and(|result| guest_number(result).is_some()) && args.is_empty() {
            // A decorator or an enumerator: nothing has happened yet.
            return Ok(());
        }
        let found = match call["on"].as_str() {
            Some("mash") => on_level(set, call, method, &args)?,
            Some("attribute" | "node") => on_node(set, method, &args, call, result.as_ref(), final_state)?,
            other => return Err(format!("unknown receiver {other:?}")),
        };
        match (found, call.get("raises")) {
            (Ok(found), None) => match result {
                Some(expected) if !CHOSEN_BY_BLOCK.contains(&method) => self.compare("result", &found, &expected),
                _ => Ok(()),
            },
            (Err(error), Some(raised)) => {
                let class = raised.as_str().or_else(|| raised["class"].as_str()).unwrap_or_default();
                same("class", &json!(error.0), &json!(class))
            }
            (found, raises) => Err(format!("found {found:?}, expected {raises:?}")),
        }
    }

    fn check_final(&self, name: &str, expected: &Value) -> Result<(), String> {
        let set = self.sets.get(name).ok_or("never made")?;
        let levels: Map<String, Value> = Level::ALL
            .into_iter()
            .map(|level| (level.as_str().to_owned(), set.level(level).into_owned()))
            .filter(|(_, tree)| *tree != json!({}))
            .collect();
        self.compare("levels", &Value::Object(levels), &expected["levels"])?;
        let combined = set.combined_default::<&str>(&[]).unwrap_or_default();
        self.compare("combined_default", &combined, &expected["combined_default"])?;
        let combined = set.combined_override::<&str>(&[]).unwrap_or_default();
        self.compare("combined_override", &combined, &expected["combined_override"])?;
        same_order("merged", &self.traced(&Value::Object(set.merged())), &self.normal(&expected["merged"]))
    }

    fn compare(&self, what: &str, found: &Value, expected: &Value) -> Result<(), String> {
        same(what, &self.traced(found), &self.traced(&self.normal(expected)))
    }

    /// Symbols become text, opaque objects become guest values.
    fn untraced(&mut self, value: &Value) -> Value {
        match value {
            Value::Object(object) if object.contains_key("$sym") => object["$sym"].clone(),
            Value::Object(object) if object.contains_key("$opaque") => {
                self.opaque.push(value.clone());
                guest_value(self.opaque.len() as u64)
            }
            Value::Object(object) => {
                Value::Object(object.iter().map(|(key, value)| (key.clone(), self.untraced(value))).collect())
            }
            Value::Array(array) => array.iter().map(|value| self.untraced(value)).collect(),
            other => other.clone(),
        }
    }

    /// Guest values become the opaque objects that they were made from.
    fn traced(&self, value: &Value) -> Value {
        match value {
            _ if guest_number(value).is_some() => {
                let number = guest_number(value).and_then(|number| usize::try_from(number).ok()).unwrap_or_default();
                self.opaque[number - 1].clone()
            }
            Value::Object(object) => {
                Value::Object(object.iter().map(|(key, value)| (key.clone(), self.traced(value))).collect())
            }
            Value::Array(array) => array.iter().map(|value| self.traced(value)).collect(),
            other => other.clone(),
        }
    }

    /// Symbols become text.
    fn normal(&self, value: &Value) -> Value {
        match value {
            Value::Object(object) if object.contains_key("$sym") => object["$sym"].clone(),
            Value::Object(object) => {
                Value::Object(object.iter().map(|(key, value)| (key.clone(), self.normal(value))).collect())
            }
            Value::Array(array) => array.iter().map(|value| self.normal(value)).collect(),
            other => other.clone(),
        }
    }
}

fn object(value: &Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap_or_default()
}

fn new_set(args: &[Value]) -> Result<Attributes, String> {
    let mut set = Attributes::new();
    for (level, data) in [Level::Normal, Level::Default, Level::Override, Level::Automatic].into_iter().zip(args) {
        set.set_level(level, object(data), &origin()).map_err(|error| error.to_string())?;
    }
    Ok(set)
}

fn take_levels(set: &mut Attributes, state: &Value, levels: &[Level]) -> Result<(), String> {
    for level in levels {
        let data = object(&state["levels"][level.as_str()]);
        set.set_level(*level, data, &origin()).map_err(|error| error.to_string())?;
    }
    Ok(())
}

fn steps(args: &[Value]) -> Vec<String> {
    args.iter().map(|arg| arg.as_str().map_or_else(|| arg.to_string(), str::to_owned)).collect()
}

/// A call on one level's tree, at a path inside it.
fn on_level(set: &mut Attributes, call: &Value, method: &str, args: &[Value]) -> Result<Outcome, String> {
    on_tree(set, call, method, args).map(|outcome| outcome.map_err(Raised::from))
}

fn on_tree(
    set: &mut Attributes,
    call: &Value,
    method: &str,
    args: &[Value],
) -> Result<Result<Value, AttributeError>, String> {
    let level = call["level"].as_str().and_then(Level::from_name).ok_or("no such level")?;
    let path = steps(call["path"].as_array().map(Vec::as_slice).unwrap_or_default());
    let below = |args: &[Value]| [path.clone(), steps(args)].concat();
    Ok(match (method, args) {
        // Reading through a level makes an empty object where nothing stands: what a guest does by writing one.
        ("[]", [_]) => match set.read_level(level, &below(args)).map(Cow::into_owned) {
            Some(value) => Ok(value),
            None => set.host_write(level, &below(args), json!({}), &origin()).map(|()| json!({})),
        },
        ("[]=" | "store", [key, value]) => {
            set.host_write(level, &below(std::slice::from_ref(key)), value.clone(), &origin()).map(|()| value.clone())
        }
        ("write", [keys @ .., value]) => {
            set.host_write(level, &below(keys), value.clone(), &origin()).map(|()| value.clone())
        }
        ("write!", [keys @ .., value]) => {
            calls::host_write_strict(set, level, &below(keys), value.clone(), &origin()).map(|()| value.clone())
        }
        ("unlink" | "delete", _) => set.host_unlink(level, &below(args), &origin()).map(Option::unwrap_or_default),
        ("unlink!", _) => set.host_unlink_strict(level, &below(args), &origin()).map(Option::unwrap_or_default),
        ("key?" | "has_key?" | "include?" | "member?" | "attribute?" | "exist?", _) => {
            Ok(json!(set.has_in_level(level, &below(args))))
        }
        ("read" | "dig", _) => Ok(set.read_level(level, &below(args)).map(Cow::into_owned).unwrap_or_default()),
        ("to_hash" | "to_h", []) => Ok(set.read_level(level, &path).map(Cow::into_owned).unwrap_or_default()),
        _ => return Err(format!("unknown call on a level: {method}")),
    })
}

/// A call on the attributes, or on the node that has them.
fn on_node(
    set: &mut Attributes,
    method: &str,
    args: &[Value],
    call: &Value,
    result: Option<&Value>,
    final_state: &Value,
) -> Result<Outcome, String> {
    if let Some(outcome) = writing(set, method, args)? {
        return Ok(outcome.map_err(Raised::from));
    }
    if let Some(outcome) = hash_reading(set, method, args, result, call.get("block").is_some())? {
        return Ok(outcome);
    }
    let expected = result.unwrap_or(&Value::Null);
    Ok(match method {
        "tags" => calls::tags(set, &origin()).map(Value::Array).map_err(Raised::from),
        "tag" => calls::tag(set, &steps(args), &origin()).map(Value::Array).map_err(Raised::from),
        "untag" => calls::untag(set, &steps(args), &origin()).map(Value::Array).map_err(Raised::from),
        "role?" | "recipe?" => is_listed(set, method, args, result),
        // The node's run list is not part of the trace: only the grammar of the item can be checked.
        "run_list?" => Ok(json!(RunList::parse(steps(args)).is_ok())),
        "consume_run_list" => {
            let json = args.first().cloned().unwrap_or_default();
            let taken = JsonAttributes::from_json(json).map_err(|error| error.to_string())?;
            Ok(Value::Object(taken.attributes))
        }
        "consume_external_attrs" => Ok(consume_external_attributes(set, args, final_state)?),
        "for_json" => Ok(saved(set, &SavedFilters::default(), expected)?),
        "data_for_save" => Ok(saved(set, &filters_of(set, expected), expected)?),
        _ => return Err(format!("unknown call: {method}")),
    })
}

/// Calls that change attributes.
fn writing(
    set: &mut Attributes,
    method: &str,
    args: &[Value],
) -> Result<Option<Result<Value, AttributeError>>, String> {
    let origin = origin();
    if let Some(level) = method.strip_suffix('=').and_then(|name| Level::from_name(name.trim_end_matches("_attrs"))) {
        let data = args.first().cloned().unwrap_or_default();
        return Ok(Some(set.set_level(level, object(&data), &origin).map(|()| data)));
    }
    let level_of = |args: &[Value]| args.first().and_then(Value::as_str).and_then(Level::from_name);
    let removed = |outcome: Result<Option<Value>, AttributeError>| outcome.map(Option::unwrap_or_default);
    let path = steps(args);
    Ok(Some(match (method, args) {
        ("rm", _) => removed(set.remove(&path, &origin)),
        ("rm_default", _) => removed(set.remove_default(&path, &origin)),
        ("rm_normal", _) => removed(set.remove_normal(&path, &origin)),
        ("rm_override", _) => removed(set.remove_override(&path, &origin)),
        ("reset_defaults_and_overrides", []) => {
            calls::reset_defaults_and_overrides(set, &origin).map(|()| set.level(Level::Override).into_owned())
        }
        ("write" | "write!" | "unlink" | "unlink!", [_, rest @ ..]) => {
            let level = level_of(args).ok_or("no such level")?;
            match (method, rest) {
                ("write", [keys @ .., value]) => {
                    set.host_write(level, &steps(keys), value.clone(), &origin).map(|()| value.clone())
                }
                ("write!", [keys @ .., value]) => {
                    calls::host_write_strict(set, level, &steps(keys), value.clone(), &origin).map(|()| value.clone())
                }
                ("unlink", keys) => removed(set.host_unlink(level, &steps(keys), &origin)),
                (_, keys) => removed(set.host_unlink_strict(level, &steps(keys), &origin)),
            }
        }
        (_, [keys @ .., value]) => {
            let (keys, value) = (steps(keys), value.clone());
            match method {
                "default!" => set.write(Level::Default, &keys, value.clone(), &origin).map(|()| value),
                "normal!" => set.write(Level::Normal, &keys, value.clone(), &origin).map(|()| value),
                "override!" => set.write(Level::Override, &keys, value.clone(), &origin).map(|()| value),
                "force_default!" => set.force_default(&keys, value.clone(), &origin).map(|()| value),
                "force_override!" => set.force_override(&keys, value.clone(), &origin).map(|()| value),
                "default_unless" | "normal_unless" | "override_unless" => {
                    let level = Level::from_name(method.trim_end_matches("_unless")).ok_or("no such level")?;
                    let written = set.write_unless(level, &keys, value.clone(), &origin);
                    written.map(|written| if written { value } else { Value::Null })
                }
                _ => return Ok(None),
            }
        }
        _ => return Ok(None),
    }))
}

/// Calls that read, most of them what any Ruby hash answers, on the merged view.
fn hash_reading(
    set: &Attributes,
    method: &str,
    args: &[Value],
    result: Option<&Value>,
    has_block: bool,
) -> Result<Option<Outcome>, String> {
    if let Some(level) = Level::from_name(method.trim_end_matches("_attrs")).filter(|_| args.is_empty()) {
        return Ok(Some(Ok(set.level(level).into_owned())));
    }
    let path = steps(args);
    let merged = set.merged();
    let first = path.first().map(String::as_str).unwrap_or_default();
    Ok(Some(match method {
        "[]" | "read" | "dig" => Ok(set.read(&path).unwrap_or_default()),
        "read!" => calls::read_strict(set, &path).map_err(Raised::from),
        "exist?" => Ok(json!(calls::exist(set, &path))),
        "attribute?" | "has_key?" | "key?" | "include?" | "member?" => Ok(json!(calls::has_key(set, first))),
        "has_value?" | "value?" => Ok(json!(merged.values().any(|value| Some(value) == args.first()))),
        "key" => Ok(json!(merged.iter().find(|(_, value)| Some(*value) == args.first()).map(|(key, _)| key))),
        "merged_attributes" | "to_hash" | "to_h" => Ok(set.read(&path).unwrap_or_default()),
        "combined_default" => Ok(set.combined_default(&path).unwrap_or_default()),
        "combined_override" => Ok(set.combined_override(&path).unwrap_or_default()),
        "debug_value" => Ok(calls::debug_value(set, &path)),
        "keys" => Ok(merged.keys().map(|key| json!(key)).collect()),
        "values" => Ok(merged.values().cloned().collect()),
        "values_at" => Ok(path.iter().map(|key| merged.get(key).cloned().unwrap_or_default()).collect()),
        "size" | "length" | "count" => Ok(json!(merged.len())),
        "empty?" => Ok(json!(merged.is_empty())),
        "fetch" => match merged.get(first) {
            Some(value) => Ok(value.clone()),
            // The block, or the second argument, answers for what is not there.
            None if has_block => Ok(result.cloned().unwrap_or_default()),
            None if args.len() > 1 => Ok(args[1].clone()),
            None => Err(Raised("KeyError".to_owned())),
        },
        _ if CHOSEN_BY_BLOCK.contains(&method) => {
            for (key, value) in object(result.unwrap_or(&Value::Null)) {
                same(&format!("pair {key}"), &merged.get(&key).cloned().unwrap_or_default(), &value)?;
            }
            Ok(Value::Null)
        }
        _ => return Ok(None),
    }))
}

/// Whether the expanded run list names a recipe or a role. The run list itself is not part of the trace: a recipe
/// that only it has is taken from the result.
fn is_listed(set: &Attributes, method: &str, args: &[Value], result: Option<&Value>) -> Outcome {
    let list = if method == "role?" { "roles" } else { "recipes" };
    let listed =
        set.read(&[list]).and_then(|list| list.as_array().map(|list| args.iter().all(|arg| list.contains(arg))));
    match listed {
        None if method == "recipe?" => Ok(result.cloned().unwrap_or_default()),
        listed => Ok(json!(listed.unwrap_or(false))),
    }
}

/// Facts replace the automatic level; JSON attributes are merged into normal; what the node knows of itself is added.
/// The GUID, the name and the environment are not part of the call; they are taken from the final state.
fn consume_external_attributes(set: &mut Attributes, args: &[Value], state: &Value) -> Result<Value, String> {
    let [facts, json] = args else { return Err("two arguments".to_owned()) };
    let taken = JsonAttributes::from_json(json.clone()).map_err(|error| error.to_string())?;
    let normal = deep_merge::merge(object(&set.level(Level::Normal)), taken.attributes);
    let fail = |error: AttributeError| error.to_string();
    set.set_level(Level::Normal, normal, &origin()).map_err(fail)?;
    calls::tags(set, &origin()).map_err(fail)?;
    let mut automatic = object(facts);
    let known = &state["levels"]["automatic"];
    let environment = taken.chef_environment.map_or_else(|| known["chef_environment"].clone(), Value::from);
    for key in ["chef_guid", "name"] {
        automatic.insert(key.to_owned(), known[key].clone());
    }
    automatic.insert("chef_environment".to_owned(), environment.clone());
    set.set_level(Level::Automatic, automatic, &origin()).map_err(fail)?;
    Ok(environment)
}

/// The node as it is saved. Its name, environment, run list and policy are not part of the trace and are taken from
/// the result; the levels are not.
fn saved(set: &Attributes, filters: &SavedFilters, expected: &Value) -> Result<Value, String> {
    let fail = |error: &dyn std::fmt::Display| error.to_string();
    let mut node = NodeObject::new(expected["name"].as_str().unwrap_or("nameless")).map_err(|error| fail(&error))?;
    node.set_run_list(RunList::from_json(&expected["run_list"]).map_err(|error| fail(&error))?);
    let text = |key: &str| expected[key].as_str().map(str::to_owned);
    let start = PolicyStart { name: text("policy_name"), group: text("policy_group"), ..PolicyStart::default() };
    let sight =
        NormalAccess { given: &|all| Cow::Borrowed(all), others: &|all| Cow::Borrowed(all), overwrites: &|_| true };
    node.commit(&start, set.clone(), &sight).map_err(|error| fail(&error))?;
    let mut saved = node.to_saved_json(filters).map_err(|error| fail(&error))?;
    for key in ["name", "chef_environment"] {
        saved[key] = expected[key].clone();
    }
    if start.name.is_some() {
        // With several policies on a node, the names are a list and each policy has its part.
        saved["policy_name"] = saved["policy_name"][0].clone();
        saved.as_object_mut().and_then(|saved| saved.remove("policies"));
    }
    Ok(saved)
}

/// The filters that Chef was configured with are not part of the trace. They are found again from the result: what
/// it has of each level must be what a list of allowed subtrees makes of that level.
fn filters_of(set: &Attributes, expected: &Value) -> SavedFilters {
    let of = |level: Value, name: &str| {
        let mut items = Vec::new();
        collect_kept(&level, &expected[name], &mut Vec::new(), &mut items);
        LevelFilter { allowed: Some(items), blocked: None }
    };
    SavedFilters {
        automatic: of(set.level(Level::Automatic).into_owned(), "automatic"),
        default: of(set.combined_default::<&str>(&[]).unwrap_or_default(), "default"),
        normal: of(set.level(Level::Normal).into_owned(), "normal"),
        r#override: of(set.combined_override::<&str>(&[]).unwrap_or_default(), "override"),
    }
}

fn collect_kept(data: &Value, kept: &Value, path: &mut Vec<String>, items: &mut Vec<FilterItem>) {
    if data == kept && !path.is_empty() {
        items.push(FilterItem::from_keys(path.clone()));
        return;
    }
    for (key, kept) in object(kept) {
        path.push(key.clone());
        collect_kept(&data[&key], &kept, path, items);
        path.pop();
    }
}
