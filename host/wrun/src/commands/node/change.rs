//! `wrun node` list, create, delete, and the commands that change a node.

use super::super::objects;
use super::super::store::{Place, assignment, matching};
use crate::arguments::{
    AssignedPolicyCommand, AttributeCommand, EnvironmentCommand, RunListCommand, StoredNode, TagCommand,
};
use crate::exit::Exit;
use crate::printer::{Printer, Tone};
use crate::settings::View;
use assemble::{KnownPolicies, NodeStore as _, attribute_path};
use node::layers;
use node::object::{NodeEdit, NodeObject};
use node::policy_in_group::PolicyInGroup;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use text::escape_line;

/// The version of the JSON output. It grows when the meaning of a key changes or a key is removed.
const VERSION: u32 = 1;

pub(super) fn list(node: &StoredNode, format: View, printer: Printer) -> anyhow::Result<Exit> {
    objects::list(&Place::of(node)?.nodes(false)?.names()?, "nodes", format, printer);
    Ok(Exit::Done)
}

pub(super) fn create(
    node: &StoredNode,
    name: &str,
    run_list: &[String],
    environment: Option<&str>,
    printer: Printer,
) -> anyhow::Result<Exit> {
    let mut new = NodeObject::new(name)?;
    if !run_list.is_empty() {
        new.apply(&NodeEdit::SetRunList(run_list.to_vec()))?;
    }
    if let Some(environment) = environment {
        new.apply(&NodeEdit::SetEnvironment(environment.to_owned()))?;
    }
    Place::of(node)?.nodes(true)?.create(&new)?;
    printer.note(Tone::Quiet, &format!("created the node {name}"));
    Ok(Exit::Done)
}

pub(super) fn delete(node: &StoredNode, names: &[String], printer: Printer) -> anyhow::Result<Exit> {
    let names: Vec<_> = names.iter().collect::<BTreeSet<_>>().into_iter().cloned().collect();
    // Damaged nodes can also be removed.
    Place::of(node)?.nodes(false)?.remove(&names)?;
    for name in &names {
        printer.note(Tone::Quiet, &format!("deleted the node {}", escape_line(name)));
    }
    Ok(Exit::Done)
}

/// Removes the nodes with names that an expression matches completely. Without `yes`, it only lists them.
pub(super) fn bulk_delete(
    node: &StoredNode,
    pattern: &str,
    yes: bool,
    format: View,
    printer: Printer,
) -> anyhow::Result<Exit> {
    let names = matching(pattern, Place::of(node)?.nodes(false)?.names()?)?;
    if yes {
        let _ = delete(node, &names, printer)?;
    }
    if format == View::Json {
        printer.json(&json!({ "version": VERSION, "nodes": names, "deleted": yes }).to_string());
    } else if !yes {
        objects::list(&names, "nodes", format, printer);
    }
    if yes {
        return Ok(Exit::Done);
    }
    printer.note(Tone::Quiet, "nothing was deleted; --yes deletes the nodes above");
    Ok(Exit::Done)
}

pub(super) fn run_list(command: RunListCommand, printer: Printer) -> anyhow::Result<Exit> {
    let (node, edit) = match command {
        RunListCommand::Add { node, items, before, after } => {
            let place = before.map(layers::Place::Before).or_else(|| after.map(layers::Place::After));
            (node, NodeEdit::AddToRunList { items, place: place.unwrap_or_default() })
        }
        RunListCommand::Remove { node, items } => (node, NodeEdit::RemoveFromRunList(items)),
        RunListCommand::Set { node, items } => (node, NodeEdit::SetRunList(items)),
    };
    Place::of(&node)?.change(&[edit], printer)
}

pub(super) fn environment(command: EnvironmentCommand, printer: Printer) -> anyhow::Result<Exit> {
    let EnvironmentCommand::Set { node, name } = command;
    Place::of(&node)?.change(&[NodeEdit::SetEnvironment(name)], printer)
}

pub(super) fn policy(command: AssignedPolicyCommand, printer: Printer) -> anyhow::Result<Exit> {
    match command {
        AssignedPolicyCommand::Set { node, policies } => {
            let policies = PolicyInGroup::parse_list(&policies)?;
            let place = Place::of(&node)?;
            let strangers =
                |known: &KnownPolicies| policies.iter().filter_map(|one| known.stranger(&one.name)).collect();
            place.warn_of_strangers(strangers, printer);
            place.change(&[NodeEdit::SetPolicies(policies)], printer)
        }
        AssignedPolicyCommand::Unset { node } => Place::of(&node)?.change(&[NodeEdit::SetPolicies(vec![])], printer),
        AssignedPolicyCommand::List { node, format } => {
            let place = Place::of(&node)?;
            let node = place.nodes(false)?.node(&place.name()?)?;
            let names: Vec<_> = node.assigned_policies().iter().map(ToString::to_string).collect();
            objects::list(&names, "policies", format, printer);
            Ok(Exit::Done)
        }
    }
}

pub(super) fn tag(command: TagCommand, printer: Printer) -> anyhow::Result<Exit> {
    match command {
        TagCommand::Add { node, tags } => Place::of(&node)?.change(&[NodeEdit::AddTags(tags)], printer),
        TagCommand::Remove { node, tags } => Place::of(&node)?.change(&[NodeEdit::RemoveTags(tags)], printer),
        TagCommand::List { node, format } => {
            let place = Place::of(&node)?;
            let node = place.nodes(false)?.node(&place.name()?)?;
            let tags = node.normal().get("tags").and_then(Value::as_array);
            let tags = tags.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned);
            objects::list(&tags.collect::<Vec<_>>(), "tags", format, printer);
            Ok(Exit::Done)
        }
    }
}

pub(super) fn attribute(command: AttributeCommand, printer: Printer) -> anyhow::Result<Exit> {
    let (node, edits) = match command {
        AttributeCommand::Set { node, attributes } => {
            let set = |text: &String| assignment(text).map(|(path, value)| NodeEdit::SetAttribute { path, value });
            (node, attributes.iter().map(set).collect::<anyhow::Result<Vec<_>>>()?)
        }
        AttributeCommand::Unset { node, attributes } => {
            let unset = |name: &String| NodeEdit::UnsetAttribute { path: attribute_path(name) };
            (node, attributes.iter().map(unset).collect())
        }
    };
    Place::of(&node)?.change(&edits, printer)
}
