//! Version constraints, file lookup and saved-attribute filters, as Chef has them.

#![cfg(test)]

mod support;

use node::file_specificity::{NodeIdentity, lookup_paths};
use node::saved_filter::{FilterItem, allow, block};
use node::version_constraint::{Version, VersionConstraint, VersionError, VersionStyle};
use serde_json::{Map, Value, json};
use support::{run_vectors, same, same_order};

#[test]
fn version_constraints() {
    run_vectors("version_constraints.json", "cases", |case| {
        let text = |key: &str| case[key].as_str().unwrap_or_default();
        let includes = |style| -> Result<bool, VersionError> {
            let constraint = match &case["constraint"] {
                Value::Null => VersionConstraint::any(style),
                _ => VersionConstraint::parse(text("constraint"), style)?,
            };
            Ok(constraint.includes(Version::parse(text("version"), style)?))
        };
        match (includes(VersionStyle::Cookbook), case.get("raises")) {
            (Ok(found), None) => same("include", &json!(found), &case["include"])?,
            (Err(error), Some(class)) => {
                same("class", &json!(errors::chef::class(&error.kind())), class)?;
                same("message", &json!(error.to_string()), &case["message"])?;
            }
            (found, _) => return Err(format!("found {found:?}")),
        }
        match (includes(VersionStyle::Platform), case.get("platform_raises")) {
            (Ok(found), None) => same("platform include", &json!(found), &case["platform_include"]),
            (Err(error), Some(class)) => same("platform class", &json!(errors::chef::class(&error.kind())), class),
            (found, _) => Err(format!("platform: found {found:?}")),
        }
    });
}

#[test]
fn file_specificity() {
    run_vectors("file_specificity.json", "cases", |case| {
        let text = |key: &str| case[key].as_str().map(str::to_owned);
        let node =
            NodeIdentity { platform: text("platform"), platform_version: text("platform_version"), fqdn: text("fqdn") };
        let file = text("segment_file").ok_or("no file")?;
        let (segment, name) = file.split_once('/').ok_or("no segment")?;
        same("paths", &json!(lookup_paths(segment, name, &node)), &case["paths"])
    });
}

#[test]
fn allow_block_filter_fuzz() {
    run_vectors("allow_block_filter_fuzz.json", "cases", |case| {
        let data: Map<String, Value> = case["data"].as_object().cloned().unwrap_or_default();
        let items: Vec<FilterItem> = case["items"]
            .as_array()
            .ok_or("no items")?
            .iter()
            .map(|item| FilterItem::from_json(item).map_err(|error| error.to_string()))
            .collect::<Result<_, _>>()?;
        let mut left = data.clone();
        let blocked = block(&mut left, &items).map(|()| left);
        for (name, found) in [("allow", allow(&data, &items)), ("block", blocked)] {
            match (found, case.get(format!("{name}_raises"))) {
                (Ok(found), None) => same_order(name, &Value::Object(found), &case[name])?,
                (Err(error), Some(class)) => same(name, &json!(errors::chef::class(&error.kind())), class)?,
                (found, _) => return Err(format!("{name}: found {found:?}")),
            }
        }
        Ok(())
    });
}
