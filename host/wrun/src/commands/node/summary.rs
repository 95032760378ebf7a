//! The summary of a whole node that `wrun node show` prints, like that of `knife node show`.

use crate::printer::{Printer, Tone};
use crate::table::Table;
use serde_json::Value;

/// The rows: their labels, and where the values are in the node.
const ROWS: [(&str, &str); 11] = [
    ("Node name", "/name"),
    ("Policies", "/assigned_policies"),
    ("Policy group", "/policy_group"),
    ("Environment", "/chef_environment"),
    ("FQDN", "/automatic/fqdn"),
    ("IP", "/automatic/ipaddress"),
    ("Run list", "/run_list"),
    ("Run list without policies", "/without_policies/run_list"),
    ("Environment without policies", "/without_policies/chef_environment"),
    ("Recipes", "/automatic/recipes"),
    ("Tags", "/normal/tags"),
];

/// The place of the row before those about policies of runs.
const POLICIES: &str = "/assigned_policies";

/// Prints the rows for which the node has a value. `node`: the node as JSON, with the summaries of its layers; `last`: the
/// policies of its last real run.
pub(super) fn print(node: &Value, last: &[String], printer: Printer) {
    let mut table = Table::new();
    let mut row = |name: &str, value: &str| {
        if !value.is_empty() {
            table.row(Tone::Plain, [format!("{name}:").as_str(), value]);
        }
    };
    for (name, place) in ROWS {
        row(name, &node.pointer(place).map(short).unwrap_or_default());
        if place == POLICIES {
            row("Policies of the last run", &last.join(", "));
            row("Also has attributes of", &others(node, last).join(", "));
        }
    }
    let platform = ["/automatic/platform", "/automatic/platform_version"].map(|place| node.pointer(place).map(short));
    row("Platform", platform.into_iter().flatten().collect::<Vec<_>>().join(" ").trim());
    row("Layers", &node.pointer("/layers").map(short).unwrap_or_default());
    table.print(printer);
}

/// Returns the policies whose attributes the node has from earlier runs.
fn others(node: &Value, last: &[String]) -> Vec<String> {
    let names = node.get("policy_name").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    names.filter(|name| !last.iter().any(|one| one == name)).map(str::to_owned).collect()
}

/// Formats the value of a row: strings unquoted, lists of names with commas.
fn short(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(all) => all.iter().map(short).filter(|one| !one.is_empty()).collect::<Vec<_>>().join(", "),
        Value::Object(one) => one.get("name").map(short).unwrap_or_default(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}
