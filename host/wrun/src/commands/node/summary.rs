//! What `wrun node show` tells of a whole node, as `knife node show` does.

use crate::printer::{Printer, Tone};
use crate::table::Table;
use serde_json::Value;

/// The rows: what they are called, and where the node has them.
const ROWS: [(&str, &str); 10] = [
    ("Node name", "/name"),
    ("Policies", "/assigned_policies"),
    ("Policies of the last run", "/policy_name"),
    ("Policy group", "/policy_group"),
    ("Environment", "/chef_environment"),
    ("FQDN", "/automatic/fqdn"),
    ("IP", "/automatic/ipaddress"),
    ("Run list", "/run_list"),
    ("Recipes", "/automatic/recipes"),
    ("Tags", "/normal/tags"),
];

/// Prints the rows that the node has. `node`: as JSON, with the layers' summaries.
pub(super) fn print(node: &Value, printer: Printer) {
    let mut table = Table::new();
    let mut row = |name: &str, value: &str| {
        if !value.is_empty() {
            table.row(Tone::Plain, [format!("{name}:").as_str(), value]);
        }
    };
    for (name, place) in ROWS {
        row(name, &node.pointer(place).map(short).unwrap_or_default());
    }
    let platform = ["/automatic/platform", "/automatic/platform_version"].map(|place| node.pointer(place).map(short));
    row("Platform", platform.into_iter().flatten().collect::<Vec<_>>().join(" ").trim());
    row("Layers", &node.pointer("/layers").map(short).unwrap_or_default());
    table.print(printer);
}

/// A value in a row: texts as they are, lists of names with commas.
fn short(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(all) => all.iter().map(short).filter(|one| !one.is_empty()).collect::<Vec<_>>().join(", "),
        Value::Object(one) => one.get("name").map(short).unwrap_or_default(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}
