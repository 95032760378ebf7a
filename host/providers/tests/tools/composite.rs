//! Types whose actions are made of other resources: which ones, and what they say.

mod accounts;
mod apt;
mod kernel;
mod machine;
mod small;
mod swap_file;
mod yum;

use crate::support::{Bench, run};
use contract::{Composition, Declaration, Property, Providers as _, Purpose, Raised, Wanted};
use serde_json::Value;

/// The children of an action, in an empty root, whose kernel is another machine's.
fn composition(kind: &str, name: &str, action: &str, properties: Value) -> Result<Composition, Raised> {
    composed(kind, name, action, properties, Purpose::Action)
}

/// All that the action could need, on any machine.
fn survey(kind: &str, name: &str, action: &str, properties: Value) -> Composition {
    composed(kind, name, action, properties, Purpose::Survey).unwrap()
}

fn composed(kind: &str, name: &str, action: &str, properties: Value, purpose: Purpose) -> Result<Composition, Raised> {
    let bench = Bench::new("").unlimited();
    let declaration = bench.declaration(kind, name, properties);
    let wanted = Wanted { resource: 0, declaration: &declaration, action, resolved: vec![], why_run: false };
    bench.providers(false).compose(&wanted, purpose)
}

fn children(kind: &str, name: &str, action: &str, properties: Value) -> Result<Vec<Declaration>, Raised> {
    composition(kind, name, action, properties).map(|made| made.children.into_iter().map(|it| it.declaration).collect())
}

#[track_caller]
fn check(kind: &str, name: &str, action: &str, properties: Value, expected: &[&str]) -> Vec<Declaration> {
    let children = children(kind, name, action, properties).unwrap();
    let rows: Vec<_> = children.iter().map(|child| format!("{} {}", child.key(), child.actions.join(" "))).collect();
    assert_eq!(rows, expected);
    children
}

fn text<'a>(child: &'a Declaration, property: &str) -> &'a str {
    match child.property(property) {
        Some(Property::Plain(Value::String(text))) => text,
        other => panic!("{property}: {other:?}"),
    }
}

/// Composes an action with the grants of a bench, and carries its files and directories out.
fn files_of(bench: &Bench, kind: &str, name: &str, action: &str, properties: Value) -> Result<(), Raised> {
    let declaration = bench.declaration(kind, name, properties);
    let mut providers = bench.providers(false);
    let wanted = Wanted { resource: 0, declaration: &declaration, action, resolved: vec![], why_run: false };
    let made = providers.compose(&wanted, Purpose::Action)?;
    for child in made.children.into_iter().map(|child| child.declaration).filter(|child| child.kind != "execute") {
        // The mask of the composite's resource is that of its parts.
        let child = Declaration { umask: Some(0), ..child };
        run(&mut providers, &child, &child.actions[0], false)?;
    }
    Ok(())
}

#[track_caller]
fn check_denied(outcome: Result<impl std::fmt::Debug, Raised>, part: &str) {
    let raised = outcome.unwrap_err();
    assert!(raised.class() == "Wrun::Denied" && raised.message.contains(part), "{raised:?}");
}
