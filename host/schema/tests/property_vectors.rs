//! `property_validation_rows.json`: specifications, and the values that Chef accepted and rejected for them.

#[cfg(test)]
mod support;

use schema::property::{Property, validate_default};
use schema::value::Value;
use serde_json::{Value as Json, json};
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

/// Forms of specifications that the file does not have, with the answers that follow from Ruby's `===`, `==` and `is_a?`.
#[test]
fn specifications_in_other_forms() {
    let check = |source: &str, given: Json, accepted: bool| {
        let property = specification::property(source).expect(source);
        let given = value(&given).expect("a value");
        assert_eq!(property.accept(given.clone(), "blah").is_ok(), accepted, "{source}: {}", given.inspect());
    };
    check("Integer, default: 10", json!(5), true);
    check("Integer, default: 10", json!("5"), false);
    check("[true, false]", json!(false), true);
    check("[true, false]", json!("false"), false);
    check("%w(a b)", json!("b"), true);
    check("%w(a b)", json!({"sym": "b"}), false);
    check("1..10", json!(10), true);
    check("1...10", json!(10), false);
    check("String, regex: %r{^/a}i", json!("x\n/Abc"), true);
    check("String, regex: %r{^/a}i", json!("x/abc"), false);
    check("[ /a/, Integer ]", json!({"sym": "xa"}), true);
    check("[ /a/, Integer ]", json!(["a"]), false);
    check("property_type(is: [ :a, String ])", json!({"sym": "a"}), true);
    check("is: [ Chef::Property.new(kind_of: String, cannot_be: :empty), :x ]", json!(""), false);
    check("is: [ Chef::Property.new(kind_of: String, cannot_be: :empty), :x ]", json!("y"), true);
    check("kind_of: Numeric", json!(1.5), true);
    check("kind_of: [ Float ]", json!(1), false);
    check("equal_to: [ 1, 2.0 ]", json!(2), true);
    check("respond_to: :each", json!({"ruby": "{}"}), true);
    check("respond_to: :each", json!("a"), false);
    check("is: ->(x) { x.is_a?(String) && x.start_with?('a') }", json!("ab"), true);
    check("is: lambda { |x| x.length > 2 }", json!("ab"), false);
    check("callbacks: { \"is one of\" => proc { |x| [ 1, 2 ].include?(x) } }", json!(3), false);
    check("Array, cannot_be: %i(empty)", json!([]), false);
    check("String, name_property: true", json!(1), false);
    check("[ String, nil ], required: %i{doit}", json!(null), true);
}

#[test]
fn nil_resets_unless_it_is_meant() {
    let check = |source: &str, expected: Value| {
        let property = specification::property(source).expect(source);
        assert_eq!(property.accept(Value::Nil, "blah"), Ok(expected), "{source}");
    };
    check("String, default: 'd'", Value::text("d"));
    check("[ String, nil ], default: 'd'", Value::Nil);
    check("kind_of: [ String, NilClass ], default: 'd'", Value::text("d"));
    check("String, name_property: true", Value::text("blah"));
    check("String", Value::Nil);
}

#[test]
fn messages_are_chefs() {
    let check = |source: &str, given: Json, expected: &str| {
        let property = specification::property(source).expect(source);
        let message = property.accept(value(&given).expect("a value"), "blah").expect_err(source).to_string();
        assert_eq!(message, expected);
    };
    check("[ String, :a, 1, /x/ ]", json!([]), "Property x must be one of: String, :a, 1, /x/!  You passed [].");
    check("kind_of: [ String, Symbol ]", json!(1), "Option x must be a kind of [String, Symbol]!  You passed 1.");
    check(
        "equal_to: [ :a, 'b', nil ]",
        json!({"sym": "c"}),
        "Option x must be equal to one of: :a, \"b\", nil!  You passed :c.",
    );
    check("regex: [ /a/, /b/ ]", json!("c"), "Property x's value c does not match regular expression [/a/, /b/]");
    check("callbacks: { 'is bad' => proc { |x| x > 10 } }", json!(3), "Option x's value 3 is bad!");
    check("respond_to: :split", json!(1), "Option x must have a split method!");
    check("cannot_be: :empty", json!([]), "Option x cannot be empty");
    check("cannot_be: [ :nil, :empty ]", json!([]), "Option x cannot be [:nil, :empty]");
    check("String, validation_message: 'Must be a string, fool'", json!(1), "Must be a string, fool");
    check(
        "String, sensitive: true",
        json!(1),
        "Property x must be one of: String!  You passed *sensitive value suppressed*.",
    );
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
