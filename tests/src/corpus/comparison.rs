//! Compares a result with the expected one, key by key.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::archive;
use super::normal_form::{message, value};

/// The result of a run. `ROOT`, `COOKBOOKS`, and `CACHE` replace the paths of the developer's machine.
#[derive(Debug, Clone)]
pub struct Found {
    /// The JSON output of the run.
    pub json: Value,
    /// The content of the scratch folder.
    pub tree: Value,
    /// The number of backups of each path.
    pub backups: Value,
}

/// A difference from the expected result.
#[derive(Debug)]
pub struct Difference {
    /// The key of the result: `error.message`.
    pub key: &'static str,
    /// A description of the difference.
    pub text: String,
}

/// Keys of a resource that are always compared.
const ROW: [&str; 7] = ["type", "name", "action", "status", "cookbook", "recipe", "nesting"];

/// Keys of a resource that are compared only if the program prints them.
const PRINTED: [&str; 3] = ["notified", "forced_why_run", "retried"];

/// The mark with which Chef's recorder shortened a long message.
const CUT: &str = "...[cut]";

/// Returns the differences between a result and Chef's result.
#[must_use]
pub fn differences(expected: &Value, found: &Found) -> Vec<Difference> {
    let got = &found.json;
    let mut all = Vec::new();
    let mut note = |key: &'static str, text: Option<String>| all.extend(text.map(|text| Difference { key, text }));
    note("outcome", unequal(&expected["outcome"], &got["outcome"]));
    let (wanted_error, error) = (&expected["error"], &got["error"]);
    if is_transport(wanted_error) {
        note("error", names_the_same(expected, error));
    } else {
        note("error.class", unequal(&wanted_error["class"], &error["class"]));
        note("error.message", unequal_messages(&wanted_error["message"], &error["message"]));
    }
    note("resources", unequal_rows(&expected["resources"], &got["resources"]));
    note("node", unequal(&value(&expected["node"]), &value(&got["node"])));
    note("expanded_run_list", unequal(&expected["expanded_run_list"], &got["expanded_run_list"]));
    note("roles", unequal(&expected["roles"], &got["roles"]));
    note("log", unequal_lines(&log(&expected["log"], &Value::Null), &log(&got["log"], &expected["log"])));
    let tree = |tree: &Value| archive::without_times(&value(tree));
    note("tree", unequal_entries(&tree(&expected["tree"]), &tree(&found.tree)));
    let backups = expected.get("backups").cloned().unwrap_or_else(|| json!({}));
    note("backups", unequal_entries(&backups, &found.backups));
    all
}

fn unequal(expected: &Value, got: &Value) -> Option<String> {
    (expected != got).then(|| format!("expected {expected}\n     got {got}"))
}

fn unequal_messages(expected: &Value, got: &Value) -> Option<String> {
    let (wanted, have) = (expected.as_str().map(message), got.as_str().map(message));
    let same = match (&wanted, &have) {
        (Some(wanted), Some(have)) => match wanted.split_once(CUT) {
            Some((begin, _)) => have.starts_with(begin.trim_end()),
            None => wanted == have,
        },
        (wanted, have) => wanted == have,
    };
    (!same).then(|| format!("expected {}\n     got {}", wanted.unwrap_or_default(), have.unwrap_or_default()))
}

/// Returns whether an error comes from Chef's own transport, which wrun does not have.
fn is_transport(error: &Value) -> bool {
    error["class"].as_str().is_some_and(|class| class.starts_with("Net::"))
}

/// Checks that wrun's error names one of the things in Chef's error: a quoted name in its log or response body, or a cookbook
/// of the run list.
fn names_the_same(expected: &Value, error: &Value) -> Option<String> {
    let quoted = |text: &str| text.split('"').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>();
    let lines = expected["log"].as_array().into_iter().flatten().filter_map(|line| line["message"].as_str());
    let mut names: BTreeSet<String> = lines.flat_map(quoted).collect();
    let body = expected.pointer("/error/response_body").and_then(Value::as_str).unwrap_or_default();
    names.extend(body.rsplit([' ', '/']).next().map(|word| word.trim_matches(['"', ']', '}']).to_owned()));
    let items =
        expected.pointer("/node/run_list").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    names.extend(items.filter_map(|item| item.split(['[', ']', '@', ':']).nth(1)).map(str::to_owned));
    let said = error["message"].as_str().unwrap_or_default();
    names.remove("");
    let named = names.iter().any(|name| said.contains(name.as_str()));
    (!named).then(|| format!("expected an error that names one of {names:?}\n     got {error}"))
}

fn unequal_rows(expected: &Value, got: &Value) -> Option<String> {
    let rows = |list: &Value, other: Option<&Value>| -> Vec<String> {
        let list = list.as_array().into_iter().flatten().enumerate();
        list.map(|(at, row)| {
            let printed = |key: &&&str| other.is_none_or(|other| other.pointer(&format!("/{at}/{key}")).is_some());
            let optional = PRINTED.iter().filter(printed);
            let entries = ROW.iter().chain(optional).filter(|key| !row[**key].is_null());
            let entries: BTreeMap<&str, Value> = entries.map(|key| (*key, value(&row[*key]))).collect();
            json!(entries).to_string()
        })
        .collect()
    };
    // Optional keys that the program does not print are not compared.
    unequal_lines(&rows(expected, Some(got)), &rows(got, None))
}

/// Returns the log lines of cookbooks: level and message. Lines that come from Chef's own logger are removed from wrun's
/// lines.
fn log(lines: &Value, upstream: &Value) -> Vec<String> {
    let line = |line: &Value| {
        format!(
            "{} {}",
            line["level"].as_str().unwrap_or_default(),
            message(line["message"].as_str().unwrap_or_default())
        )
    };
    let of = |source: &'static str, list: &Value| -> Vec<String> {
        list.as_array().into_iter().flatten().filter(|one| one["source"] == source).map(line).collect()
    };
    let own = of("logger", upstream);
    of("resource", lines).into_iter().filter(|line| !own.contains(line)).collect()
}

/// Shows the difference of two lists, without their common beginning and end.
fn unequal_lines(expected: &[String], got: &[String]) -> Option<String> {
    if expected == got {
        return None;
    }
    let same = expected.iter().zip(got).take_while(|(left, right)| left == right).count();
    let rest = (expected.len().min(got.len())) - same;
    let end = expected.iter().rev().zip(got.iter().rev()).take(rest).take_while(|(left, right)| left == right).count();
    let part = |lines: &[String], sign: &str| {
        let lines = lines.iter().skip(same).take(lines.len() - same - end);
        lines.map(|line| format!("\n  {sign} {line}")).collect::<String>()
    };
    Some(format!("after {same} that are the same{}{}", part(expected, "-"), part(got, "+")))
}

fn unequal_entries(expected: &Value, got: &Value) -> Option<String> {
    let (empty, mut lines) = (serde_json::Map::new(), String::new());
    let (wanted, have) = (expected.as_object().unwrap_or(&empty), got.as_object().unwrap_or(&empty));
    for key in wanted.keys().chain(have.keys()).collect::<BTreeSet<_>>() {
        if wanted.get(key) != have.get(key) {
            let side = |sign: &str, entry: Option<&Value>| {
                entry.map(|entry| format!("\n  {sign} {key} {entry}")).unwrap_or_default()
            };
            lines += &side("-", wanted.get(key));
            lines += &side("+", have.get(key));
        }
    }
    (!lines.is_empty()).then_some(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result() -> Value {
        json!({
            "outcome": "failure", "expanded_run_list": ["t"], "roles": [], "node": {"normal": {"a": 1, "b": 2}},
            "error": {"class": "NoMethodError", "message": "undefined method `x' for nil:NilClass"},
            "resources": [{"type": "file", "name": "ROOT/a", "action": "create", "status": "updated", "cookbook": "t",
                           "recipe": "default", "nesting": 0, "notified": {"timing": "before", "by": "log[x]"}}],
            "log": [{"source": "resource", "level": "info", "message": "x"}, {"source": "logger", "level": "warn", "message": "w"}],
            "tree": {"a": {"type": "file", "content": "{:a=>1}"}}, "backups": {"a": 1},
        })
    }

    fn found(json: Value) -> Found {
        Found { json, tree: json!({"a": {"type": "file", "content": "{a: 1}"}}), backups: json!({"a": 1}) }
    }

    #[track_caller]
    fn check(change: impl FnOnce(&mut Value), expect: &[&str]) {
        let mut got = result();
        got["error"]["message"] = json!("undefined method 'x'  for nil");
        change(&mut got);
        let keys: Vec<_> = differences(&result(), &found(got)).iter().map(|difference| difference.key).collect();
        assert_eq!(keys, expect);
    }

    #[test]
    fn each_key_is_compared() {
        check(|_| {}, &[]);
        check(|got| got["node"] = json!({"normal": {"b": 2, "a": 1}}), &[]);
        check(|got| got["outcome"] = json!("success"), &["outcome"]);
        check(|got| got["error"] = Value::Null, &["error.class", "error.message"]);
        check(|got| got["error"]["message"] = json!("undefined method 'y' for nil"), &["error.message"]);
        check(|got| got["resources"][0]["status"] = json!("up-to-date"), &["resources"]);
        check(|got| got["resources"][0]["nesting"] = json!(1), &["resources"]);
        check(|got| got["resources"] = json!([]), &["resources"]);
        check(|got| got["node"]["normal"]["a"] = json!(2), &["node"]);
        check(|got| got["roles"] = json!(["r"]), &["roles"]);
        check(|got| got["expanded_run_list"] = json!([]), &["expanded_run_list"]);
        check(|got| got["log"][0]["message"] = json!("y"), &["log"]);
        check(|got| got["log"] = json!([]), &["log"]);
    }

    #[test]
    fn what_is_not_printed_is_not_asked_for() {
        check(|got| drop(got["resources"][0].as_object_mut().unwrap().remove("notified")), &[]);
        check(|got| got["resources"][0]["notified"]["timing"] = json!("delayed"), &["resources"]);
        check(|got| got["resources"][0]["seconds"] = json!(1), &[]);
    }

    #[test]
    fn a_cookbooks_log_is_compared_without_what_upstreams_logger_says() {
        check(|got| got["log"][1]["source"] = json!("resource"), &[]);
        check(|got| got["log"][1] = json!({"source": "resource", "level": "warn", "message": "other"}), &["log"]);
    }

    #[test]
    fn errors_of_the_transport_need_only_name_the_same() {
        let mut expected = result();
        expected["error"] = json!({"class": "Net::HTTPServerException", "message": "404"});
        expected["node"]["run_list"] = json!(["recipe[t::x]"]);
        expected["log"] = json!([{"source": "logger", "level": "error", "message": "Failed: \"people\" \"zed\""}]);
        let keys = |message: &str| {
            let mut got = expected.clone();
            got["error"] = json!({"class": "Any", "message": message});
            differences(&expected, &found(got)).iter().map(|difference| difference.key).collect::<Vec<_>>()
        };
        assert!(keys("there is no item zed").is_empty());
        assert!(keys("cookbook t is missing").is_empty());
        assert_eq!(keys("no"), ["error"]);
    }
}
