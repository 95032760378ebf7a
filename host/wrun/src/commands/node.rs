//! `wrun node show` and `wrun node explain`.

mod explanation;

use crate::arguments::{Common, NodeCommand};
use crate::exit::Exit;
use crate::printer::{Printer, Tone};
use crate::settings::{Format, Settings};
use anyhow::{Context as _, bail};
use assemble::{HISTORIES, NORMAL_WRITERS, Records};
use contract::dotted_path;
use node::object::NodeObject;
use report::FailedPolicies;
use serde_json::Value;
use state::StateDirectory;
use text::nearest;
use text::{escape, escape_line};

pub(crate) fn run(command: NodeCommand, printer: &Printer) -> anyhow::Result<Exit> {
    match command {
        NodeCommand::Show { common, attribute: None, .. } => {
            let (state, name) = find(&common)?;
            let mut saved = state.node(&name)?.context("the saved node is gone")?;
            if let Some(object) = saved.as_object_mut() {
                object.shift_remove(HISTORIES);
                object.shift_remove(NORMAL_WRITERS);
            }
            printer.json(&serde_json::to_string_pretty(&saved)?);
            Ok(Exit::Done)
        }
        NodeCommand::Show { common, attribute: Some(attribute), format } => {
            let keys = keys(&attribute)?;
            let node = saved(&common)?;
            match node.merged_value(&keys) {
                Some(value) => show(&value, format, *printer)?,
                None => return not_set(&common, &node, &attribute, &keys, *printer),
            }
            Ok(Exit::Done)
        }
        NodeCommand::Explain { common, attribute, format } => explain(&common, &attribute, format, *printer),
    }
}

/// The node that is meant, as it was saved.
fn saved(common: &Common) -> anyhow::Result<NodeObject> {
    let (state, name) = find(common)?;
    assemble::saved_node(&state, &name)?.context("the saved node is gone")
}

/// A value: texts as they are, all else as JSON.
fn show(value: &Value, format: Format, printer: Printer) -> anyhow::Result<()> {
    match value {
        Value::String(text) if !format.is_for_programs() => printer.line(Tone::Plain, &escape(text)),
        value => printer.json(&serde_json::to_string_pretty(value)?),
    }
    Ok(())
}

/// Says that an attribute is not set, with a near name, and which policies failed in the last run.
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
    let settings = super::settings(common.config.as_deref(), common.layer())?;
    if let Some(hint) = of_failed_policies(&settings, node.name()) {
        printer.note(Tone::Warning, &escape_line(&hint));
    }
    Ok(Exit::Failed)
}

/// A failed policy leaves no attribute behind: which ones failed in the node's last run that was not a dry one.
fn of_failed_policies(settings: &Settings, node: &str) -> Option<String> {
    // The attribute is not set, whether or not a record can be read.
    let records = Records::find(&settings.run).ok()?;
    let record = records.first(|record| !record.is_dry() && record.node_name() == node).ok()??;
    let id = record.id().unwrap_or_default();
    let failed = match record.failed_policies()? {
        FailedPolicies::Cookbooks => "its cookbooks".to_owned(),
        FailedPolicies::Named(names) if names.len() == 1 => format!("policy {}", names.concat()),
        FailedPolicies::Named(names) => format!("policies {}", names.join(", ")),
    };
    let end = "attributes that a failed policy set are not saved";
    Some(format!("hint: {failed} failed in the last run, {id}; {end}"))
}

/// The attribute with the nearest name at the first step that leads to nothing.
fn near(all: &Value, keys: &[String]) -> Option<Vec<String>> {
    let (step, rest) = keys.split_first()?;
    if let Some(below) = all.get(step).filter(|_| !rest.is_empty()) {
        return near(below, rest).map(|found| [vec![step.clone()], found].concat());
    }
    let names = all.as_object()?.keys().map(String::as_str);
    let name = nearest(step, names)?.to_owned();
    // The rest of the path, if it leads to something there.
    let whole = rest.iter().try_fold(all.get(&name)?, |here, key| here.get(key)).map(|_| rest.to_vec());
    Some([vec![name], whole.unwrap_or_default()].concat())
}

/// The state, and the name of the node that is meant, which has been saved there.
fn find(common: &Common) -> anyhow::Result<(StateDirectory, String)> {
    let settings = super::settings(common.config.as_deref(), common.layer())?;
    let place = settings.run.state_dir.display();
    let state = StateDirectory::open_existing(&settings.run.state_dir)?;
    let state = state.with_context(|| format!("there is no state in {place}: no run has saved a node there"))?;
    let names = state.node_names()?;
    let name = match (&settings.run.node_name, names.as_slice()) {
        (Some(name), _) => name.as_str().to_owned(),
        (None, [only]) => only.clone(),
        (None, []) => bail!("no run has saved a node in {place}: a run saves it after each policy that succeeded"),
        (None, several) => bail!("{place} has several nodes; say which with --node-name: {}", several.join(", ")),
    };
    if !names.contains(&name) {
        bail!("{place} has no node {name}; it has: {}", names.join(", "));
    }
    Ok((state, name))
}

/// Keys separated by dots; `\.` is a dot in a key.
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
    // Writes above it say nothing about an attribute that is not there.
    let is_about = |path: &[String]| path.starts_with(keys);
    let was_written = explanation.policies.iter().any(|part| part.writes.iter().any(|write| is_about(&write.path)));
    if format.is_for_programs() {
        printer.json(&explanation::json(keys, &explanation).to_string());
    } else if is_set || was_written {
        printer.line(Tone::Plain, &explanation::text(attribute, keys, &explanation));
    }
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
