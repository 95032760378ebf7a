//! `wrun node`.

mod change;
mod explanation;
mod last_runs;
mod status;
mod summary;
mod whole;

use super::objects;
use super::store::{existing_state, node_name};
use crate::arguments::{Common, NodeCommand};
use crate::exit::Exit;
use crate::printer::{Printer, Tone};
use crate::settings::{Format, Settings, View};
use anyhow::{Context as _, bail};
use assemble::{
    ASSIGNED_POLICIES, CHANGES, HISTORIES, LAYERS, NORMAL_WRITERS, Records, WITHOUT_POLICIES, node_to_save,
};
use contract::dotted_path;
use node::layers::Layers;
use node::object::NodeObject;
use node::saved_filter::SavedFilters;
use serde_json::Value;
use state::StateDirectory;
use text::nearest;
use text::{escape, escape_line};

pub(crate) fn run(command: NodeCommand, printer: &Printer) -> anyhow::Result<Exit> {
    let printer = *printer;
    match command {
        NodeCommand::List { node, format } => change::list(&node, format, printer),
        NodeCommand::Show { common, run_list: true, format, .. } => {
            let view = if format.is_for_programs() { View::Json } else { View::Doc };
            objects::list(&saved(&common)?.whole_run_list().to_strings(), "run_list", view, printer);
            Ok(Exit::Done)
        }
        NodeCommand::Show { common, attribute, named, format, .. } => match attribute.or(named) {
            Some(attribute) => {
                let keys = keys(&attribute)?;
                let node = saved(&common)?;
                match node.merged_value(&keys) {
                    Some(value) => show(&value, format, printer)?,
                    None => return not_set(&common, &node, &attribute, &keys, printer),
                }
                Ok(Exit::Done)
            }
            None => show_all(&common, format, printer),
        },
        NodeCommand::Explain { common, attribute, format } => explain(&common, &attribute, format, printer),
        NodeCommand::Create { node, name, run_list, environment } => {
            change::create(&node, name.as_str(), &run_list, environment.as_deref(), printer)
        }
        NodeCommand::Delete { node, names } => change::delete(&node, &names, printer),
        NodeCommand::BulkDelete { node, pattern, yes, format } => {
            change::bulk_delete(&node, &pattern, yes, format, printer)
        }
        NodeCommand::Edit { node } => whole::edit(&node, printer),
        NodeCommand::FromFile { node, files } => whole::from_files(&node, &files, printer),
        NodeCommand::Status { node, format } => status::show(&node, format, printer),
        NodeCommand::RunList(command) => change::run_list(command, printer),
        NodeCommand::Environment(command) => change::environment(command, printer),
        NodeCommand::Policy(command) => change::policy(command, printer),
        NodeCommand::Tag(command) => change::tag(command, printer),
        NodeCommand::Attribute(command) => change::attribute(command, printer),
    }
}

/// Shows the whole node, without internal data of wrun.
fn show_all(common: &Common, format: Format, printer: Printer) -> anyhow::Result<Exit> {
    let (state, name) = find(common)?;
    let mut shown = match state.waiting_changes(&name)?.is_empty() {
        true => state.node(&name)?.context("the saved node is gone")?,
        false => node_to_save(&saved(common)?, &SavedFilters::default())?,
    };
    if let Some(object) = shown.as_object_mut() {
        for key in [HISTORIES, NORMAL_WRITERS, CHANGES] {
            object.shift_remove(key);
        }
        if let Some(assigned) = object.shift_remove(ASSIGNED_POLICIES) {
            object.insert("assigned_policies".to_owned(), assigned);
        }
        if let Some(kept) = object.shift_remove(WITHOUT_POLICIES) {
            object.insert("without_policies".to_owned(), kept);
        }
        if let Some(layers) = object.shift_remove(LAYERS) {
            object.insert("layers".to_owned(), Layers::from_json(layers)?.summary());
        }
    }
    if format.is_for_programs() {
        printer.json(&serde_json::to_string_pretty(&shown)?);
    } else {
        let settings = super::settings(common.config.as_deref(), common.layer())?;
        summary::print(&shown, &last_runs::of_last(&settings, &name, &shown), printer);
        last_runs::print(&settings, &name, &shown, printer);
        printer.note(Tone::Quiet, "`--format json` shows all of it; `wrun node show ATTR` shows one attribute");
    }
    Ok(Exit::Done)
}

/// Returns the saved object of the selected node.
fn saved(common: &Common) -> anyhow::Result<NodeObject> {
    let (state, name) = find(common)?;
    assemble::saved_node(&state, &name)?.context("the saved node is gone")
}

/// Prints a value: strings unquoted, all other values as JSON.
fn show(value: &Value, format: Format, printer: Printer) -> anyhow::Result<()> {
    match value {
        Value::String(text) if !format.is_for_programs() => printer.line(Tone::Plain, &escape(text)),
        value => printer.json(&serde_json::to_string_pretty(value)?),
    }
    Ok(())
}

/// Returns the error that an attribute is not set, with a similar name and the policies that failed in the last run.
fn not_set(
    common: &Common,
    node: &NodeObject,
    attribute: &str,
    keys: &[String],
    printer: Printer,
) -> anyhow::Result<Exit> {
    let error = format!("error: attribute {} of {} is not set", escape_line(attribute), node.name());
    let near = near(&node.merged_value::<&str>(&[]).unwrap_or_default(), keys);
    let near = near.map(|near| format!("; did you mean `{}`?", escape_line(&dotted_path(&near)))).unwrap_or_default();
    printer.note(Tone::Error, &format!("{error}{near}"));
    if let Some(dotted) = dotted(attribute) {
        let hint = format!("hint: keys are separated by dots: `{}`", escape_line(&dotted));
        printer.note(Tone::Warning, &hint);
    }
    if attribute == node.name() {
        printer.note(Tone::Warning, "hint: what follows is an attribute; the node is named with `--node-name`");
    }
    let settings = super::settings(common.config.as_deref(), common.layer())?;
    if let Some(hint) = of_failed_policies(&settings, node.name()) {
        printer.note(Tone::Warning, &escape_line(&hint));
    }
    Ok(Exit::Failed)
}

/// Returns an attribute that is written as code (`node['a']['b']`) or as a path (`a/b`) in the form with dots.
fn dotted(attribute: &str) -> Option<String> {
    let code = attribute.strip_prefix("node").filter(|rest| rest.starts_with('[')).unwrap_or(attribute);
    let separators: &[char] = if attribute.contains('[') { &['[', ']', ':', '\'', '"'] } else { &['/'] };
    let keys: Vec<String> = code.split(separators).filter(|key| !key.is_empty()).map(str::to_owned).collect();
    let is_mixed = code.split('[').next().is_some_and(|first| first.contains('.'));
    (!is_mixed && (keys.len() > 1 || code != attribute)).then(|| dotted_path(&keys))
}

/// Returns a sentence about the policies that failed in the node's last real run, since failed policies save no attributes.
fn of_failed_policies(settings: &Settings, node: &str) -> Option<String> {
    // An unreadable record must not hide the message that the attribute is not set.
    let records = Records::find(&settings.run).ok()?;
    let record = records.last_of(node).ok()??.read().ok()??;
    let id = record.id().unwrap_or_default();
    let failed = match record.failed_policies().as_slice() {
        [] => return None,
        [only] => format!("policy {only}"),
        names => format!("policies {}", names.join(", ")),
    };
    let end = "attributes that a failed policy set are not saved";
    Some(format!("hint: {failed} failed in the last run, {id}; {end}"))
}

/// Layers that differ from those of the node's last run. The explanation shows the attributes that this run saw.
#[derive(Debug, Default)]
struct ChangedLayers {
    /// The identifier of the run.
    run: String,
    /// The owners of changed layers: `node`, or `group ` and the group's name.
    of: Vec<String>,
}

impl ChangedLayers {
    /// Returns a sentence about each changed owner.
    fn notes(&self) -> impl Iterator<Item = String> {
        self.of.iter().map(|whose| match whose.strip_prefix("group ") {
            Some(group) => format!(
                "note: the layers of the group {group} have changed since the last run, {}; the next run sees the new ones",
                self.run
            ),
            None => format!(
                "note: the node's layers have changed since its last run, {}; the next run sees the new ones (`wrun layer list`)",
                self.run
            ),
        })
    }
}

/// Compares the layers of the node and of the settings' groups with those of its last run. Returns `None` if no record
/// contains them.
fn changed_layers(settings: &Settings, node: &NodeObject) -> Option<ChangedLayers> {
    // The explanation is correct without a readable record.
    let records = Records::find(&settings.run).ok()?;
    let run = records.last_of(node.name()).ok()??;
    let record = run.read_part(&["layers"]).ok()??;
    let about = |layer: &Value| ["name", "digest"].map(|key| layer.get(key).cloned());
    let of_node = |layer: &&Value| layer.get("from").is_some_and(|from| from == "node");
    let given = record.json().get("layers")?.as_array()?;
    let then: Vec<_> = given.iter().filter(of_node).map(about).collect();
    let now: Vec<_> = node.layers().summary().as_array()?.iter().map(about).collect();
    let mut of: Vec<String> = (then != now).then(|| "node".to_owned()).into_iter().collect();
    of.extend(assemble::changed_group_layers(&settings.run, given).into_iter().map(|group| format!("group {group}")));
    Some(ChangedLayers { run: run.id.to_string(), of })
}

/// Returns the attribute with the most similar name at the first key that does not exist.
fn near(all: &Value, keys: &[String]) -> Option<Vec<String>> {
    let (step, rest) = keys.split_first()?;
    if let Some(below) = all.get(step).filter(|_| !rest.is_empty()) {
        return near(below, rest).map(|found| [vec![step.clone()], found].concat());
    }
    let names = all.as_object()?.keys().map(String::as_str);
    let name = nearest(step, names)?.to_owned();
    // Keeps the rest of the path if it exists under the similar name.
    let whole = rest.iter().try_fold(all.get(&name)?, |here, key| here.get(key)).map(|_| rest.to_vec());
    Some([vec![name], whole.unwrap_or_default()].concat())
}

/// Opens the state directory, and returns the name of the selected node, which is saved there.
fn find(common: &Common) -> anyhow::Result<(StateDirectory, String)> {
    let settings = super::settings(common.config.as_deref(), common.layer())?;
    let state = existing_state(&settings.run.state_dir)?;
    let name = node_name(&settings, &state)?;
    Ok((state, name))
}

/// Splits an attribute path at its dots. `\.` is a dot in a key.
fn keys(attribute: &str) -> anyhow::Result<Vec<String>> {
    let mut keys = vec![String::new()];
    let mut characters = attribute.chars();
    while let Some(character) = characters.next() {
        match (character, keys.last_mut()) {
            ('.', _) => keys.push(String::new()),
            ('\\', Some(key)) => key.extend(characters.next()),
            (character, Some(key)) => key.push(character),
            (_, None) => {}
        }
    }
    keys.retain(|key| !key.is_empty());
    if keys.is_empty() {
        bail!("name an attribute, as in `ntp.servers`");
    }
    Ok(keys)
}

fn explain(common: &Common, attribute: &str, format: Format, printer: Printer) -> anyhow::Result<Exit> {
    let (keys, node) = (&keys(attribute)?, &saved(common)?);
    let explanation = node.explain(keys);
    let is_set = explanation.value().is_some();
    // Writes to its parents do not explain an attribute that does not exist.
    let is_about = |path: &[String]| path.starts_with(keys);
    let was_written = explanation.policies.iter().any(|part| part.writes.iter().any(|write| is_about(&write.path)));
    let settings = super::settings(common.config.as_deref(), common.layer())?;
    let changed = changed_layers(&settings, node).unwrap_or_default();
    if format.is_for_programs() {
        printer.json(&explanation::json(keys, &explanation, &changed.of).to_string());
    } else if is_set || was_written {
        printer.prose(Tone::Plain, &explanation::text(attribute, keys, &explanation));
    }
    changed.notes().for_each(|note| printer.note(Tone::Warning, &escape_line(&note)));
    if is_set { Ok(Exit::Done) } else { not_set(common, node, attribute, keys, printer) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_near_name_is_found_at_the_step_that_is_missing() {
        let all = serde_json::json!({ "redis": { "port": 1, "bind": { "address": 2 } }, "ntp": {} });
        for (asked, expect) in [
            ("redis.prot", Some("redis.port")),
            ("rediss.port", Some("redis.port")),
            ("redis.bnid.address", Some("redis.bind.address")),
            ("redis.bnid.x", Some("redis.bind")),
            ("redis.port.x", None),
            ("something", None),
        ] {
            let found = near(&all, &keys(asked).unwrap()).map(|path| path.join("."));
            assert_eq!(found.as_deref(), expect, "{asked}");
        }
    }

    #[test]
    fn attributes_are_named_with_dots() {
        for (text, expect) in [
            ("ntp.servers", vec!["ntp", "servers"]),
            ("net.a\\.b.c", vec!["net", "a.b", "c"]),
            ("list.0", vec!["list", "0"]),
        ] {
            assert_eq!(keys(text).unwrap(), expect, "{text}");
        }
        assert!(keys("..").is_err());
    }
}
