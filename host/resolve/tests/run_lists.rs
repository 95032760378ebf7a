//! Run-list items, expansions and cookbook orders, as Chef has them.

#![cfg(test)]

#[path = "../../node/tests/support/mod.rs"]
mod support;

use std::collections::HashMap;

use node::run_list::{RunList, RunListItem};
use resolve::cookbook_order::{Dependencies, cookbook_order};
use resolve::expansion::expand;
use resolve::roles::Role;
use serde_json::{Value, json};
use support::{run_vectors, same, same_order};

#[test]
fn run_list_items() {
    run_vectors("run_list_items.json", "cases", |case| {
        match (RunListItem::parse(case["in"].as_str().ok_or("no text")?), case.get("raises")) {
            (Ok(item), None) => {
                same("type", &json!(item.kind.as_str()), &case["type"])?;
                same("name", &json!(item.name), &case["name"])?;
                same("version", &json!(item.version), &case["version"])?;
                same("to_s", &json!(item.to_string()), &case["to_s"])
            }
            (Err(error), Some(class)) => {
                same("class", &json!(errors::chef::class(&error.kind())), class)?;
                same("message", &json!(error.to_string()), &case["message"])
            }
            (found, _) => Err(format!("found {found:?}")),
        }
    });
}

#[test]
fn run_list_expansion_fuzz() {
    run_vectors("run_list_expansion_fuzz.json", "cases", |case| {
        let roles: HashMap<String, Role> = case["roles"]
            .as_object()
            .ok_or("no roles")?
            .iter()
            .map(|(name, json)| Ok((name.clone(), Role::from_json(name, json).map_err(|error| error.to_string())?)))
            .collect::<Result<_, String>>()?;
        let list = RunList::from_json(&case["run_list"]).map_err(|error| error.to_string())?;
        let environment = case["environment"].as_str().ok_or("no environment")?;
        match (expand(&list, environment, &roles), case.get("raises")) {
            (Ok(expansion), None) => {
                let names: Vec<_> = expansion.recipes.iter().map(|recipe| recipe.name.clone()).collect();
                same("recipes", &json!(names), &case["recipes"])?;
                same("recipes_fq", &json!(expansion.fully_qualified_recipes()), &case["recipes_fq"])?;
                same("applied_roles", &json!(expansion.roles), &case["applied_roles"])?;
                same_order("default", &Value::Object(expansion.default_attributes.clone()), &case["default_attrs"])?;
                same_order("override", &Value::Object(expansion.override_attributes.clone()), &case["override_attrs"])?;
                same("missing", &json!(expansion.missing_roles), &case["missing"])
            }
            (Err(error), Some(class)) => same("class", &json!(errors::chef::class(&error.kind())), class),
            (found, _) => Err(format!("found {found:?}")),
        }
    });
}

#[test]
fn cookbook_order_fuzz() {
    run_vectors("cookbook_order_fuzz.json", "cases", |case| {
        let dependencies: Dependencies =
            serde_json::from_value(case["dependencies"].clone()).map_err(|error| error.to_string())?;
        let list = RunList::from_json(&case["run_list"]).map_err(|error| error.to_string())?;
        let recipes: Vec<_> = list.items().iter().map(|item| item.name.clone()).collect();
        let order = cookbook_order(recipes, &dependencies).map_err(|error| error.to_string())?;
        same("cookbook_order", &json!(order), &case["cookbook_order"])
    });
}
