//! `property_validation_rows.json`: specifications, and the values that Chef accepted and rejected for them.

#[cfg(test)]
mod support;

use schema::property::{Property, validate_default};
use schema::value::Value;
use serde_json::Value as Json;
use support::{specification, value, vectors};

const FILE: &str = "property_validation_rows.json";

#[test]
fn property_validation_rows() {
    let vectors = vectors(FILE);
    let rows = vectors["rows"].as_array().expect("rows");
    let failures: Vec<String> = rows.iter().filter_map(|row| check_row(row).err()).collect();
    println!("{FILE}: {} passed, {} failed", rows.len() - failures.len(), failures.len());
    assert!(!rows.is_empty() && failures.is_empty(), "\n{}", failures.join("\n"));
}

/// Also the specifications that the file lists without values can be read, but for options that do not exist.
#[test]
fn other_specifications_are_read() {
    let vectors = vectors(FILE);
    let lists = vectors["other_with_property"].as_array().cloned().unwrap_or_default();
    for declaration in lists.iter().flat_map(|list| list.as_array().cloned().unwrap_or_default()) {
        let declaration = declaration.as_str().expect("text").to_owned();
        let arguments = declaration.split_once(',').map_or("", |(_, rest)| rest);
        let read = specification::property(arguments);
        assert_eq!(read.is_ok(), !declaration.contains("blarghle"), "{declaration}: {read:?}");
    }
}

fn check_row(row: &Json) -> Result<(), String> {
    let source = row["property"].as_str().ok_or("a row without property")?;
    let property = specification::property(source)?;
    for json in row["valid"].as_array().ok_or("a row without valid values")? {
        let given = value(json)?;
        match property.accept(given.clone(), "blah") {
            Ok(stored) if stored == given => {}
            other => return Err(format!("{source}: {} must be accepted: {other:?}", given.inspect())),
        }
    }
    for json in row["invalid"].as_array().ok_or("a row without invalid values")? {
        let given = value(json)?;
        if let Ok(stored) = property.accept(given.clone(), "blah") {
            return Err(format!("{source}: {} must be refused, became {}", given.inspect(), stored.inspect()));
        }
    }
    // Setting nil on an unset property is never an error, and unset it stays.
    if property.accept(Value::Nil, "blah") != Ok(Value::Nil) {
        return Err(format!("{source}: nil must leave it unset"));
    }
    let tags: Vec<&str> = row["tags"].as_array().into_iter().flatten().filter_map(Json::as_str).collect();
    check_nil_default(source, &tags)
}

/// What upstream's test says about the same specification with `default: nil`.
fn check_nil_default(source: &str, tags: &[&str]) -> Result<(), String> {
    if tags.contains(&"skip_nil_default") {
        return Ok(());
    }
    let property: Property = specification::property(&format!("{source}, default: nil"))?;
    let is_valid = validate_default(&property).is_ok() && property.accept(Value::Nil, "blah") == Ok(Value::Nil);
    let expected = tags.contains(&"nil_is_valid") || tags.contains(&"nillable");
    if is_valid == expected { Ok(()) } else { Err(format!("{source}, default: nil: valid is {is_valid}")) }
}
