//! Reads Ruby's way to write a property's specification, as the vectors have it, and makes this crate's specification of it.

pub(crate) mod evaluate;
pub(crate) mod ruby;
pub(crate) mod specification;

use std::path::PathBuf;

use schema::value::Value;
use serde_json::Value as Json;

/// A vector file: from the folder that `WRUN_VECTORS` names, else from the checkout.
pub(crate) fn vectors(file: &str) -> Json {
    let folder = std::env::var_os("WRUN_VECTORS")
        .map_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors")), PathBuf::from);
    let path = folder.join(file);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A value of a vector: JSON, `{"sym": name}` for a symbol, `{"ruby": source}` for what JSON cannot say.
pub(crate) fn value(json: &Json) -> Result<Value, String> {
    if let Json::Object(object) = json
        && object.len() == 1
    {
        if let Some(Json::String(name)) = object.get("sym") {
            return Ok(Value::Symbol(name.clone()));
        }
        if let Some(Json::String(source)) = object.get("ruby") {
            return evaluate::constant(&ruby::parse_expression(source)?);
        }
    }
    match json {
        Json::Array(items) => items.iter().map(value).collect::<Result<_, _>>().map(Value::List),
        Json::Object(object) => object
            .iter()
            .map(|(key, entry)| Ok((Value::text(key), value(entry)?)))
            .collect::<Result<_, String>>()
            .map(Value::Map),
        plain => Value::from_json(plain.clone()).map_err(|error| error.to_string()),
    }
}
