//! Reads the result of evaluating a `Policyfile.rb` from the Ruby runtime: the statements of the file with their lines.
//!
//! A Policyfile is untrusted code, so everything in the result is checked and limited.

use artifact::lock::{AttributeKey, AttributeValue};
use serde_json::{Map, Value};

use crate::model::{
    CookbookSpec, IncludeSpec, Level, ListName, Policy, Problem, WrittenSource, constraint_on, cookbook_source,
    preferred_twice, run_list_problems, shown_options,
};

/// Largest number of cookbooks, includes, sources, lists, or items of one list.
const MAX_ENTRIES: usize = 10_000;

/// How deep attributes may be nested.
const MAX_DEPTH: usize = 100;

/// The parsed answer of the Ruby runtime.
#[derive(Debug, Clone, PartialEq)]
pub struct Written {
    name: Option<String>,
    run_list: (Vec<String>, u32),
    named_run_lists: Vec<(ListName, Vec<String>, u32)>,
    default_sources: Vec<WrittenSource>,
    cookbooks: Vec<WrittenCookbook>,
    includes: Vec<IncludeSpec>,
    default_attributes: AttributeValue,
    override_attributes: AttributeValue,
    attribute_lines: Vec<(Level, Vec<String>, u32)>,
}

#[derive(Debug, Clone, PartialEq)]
struct WrittenCookbook {
    /// `None`: the cookbook in the Policyfile's folder, which the statement `metadata` means.
    name: Option<String>,
    constraint: Option<String>,
    options: Map<String, Value>,
    line: u32,
}

/// The answer is not in the form of this release's runtime.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the Ruby runtime's answer about the Policyfile is not understood: {0}")]
pub struct NotUnderstood(String);

impl Written {
    /// Reads the answer.
    ///
    /// # Errors
    /// The answer is not what the runtime gives.
    pub fn read(answer: &Value) -> Result<Self, NotUnderstood> {
        let bad = |what: &str| NotUnderstood(what.to_owned());
        let attributes = |key: &str| attribute(answer.get(key).unwrap_or(&Value::Null), 0).ok_or_else(|| bad(key));
        let run_list = answer.get("run_list").ok_or_else(|| bad("run_list"))?;
        Ok(Self {
            name: optional_text(answer, "name").ok_or_else(|| bad("name"))?,
            run_list: (texts(run_list, "items").ok_or_else(|| bad("run_list"))?, line(run_list)),
            named_run_lists: entries(answer, "named_run_lists", named_run_list)
                .ok_or_else(|| bad("named_run_lists"))?,
            default_sources: entries(answer, "default_sources", source).ok_or_else(|| bad("default_sources"))?,
            cookbooks: entries(answer, "cookbooks", cookbook).ok_or_else(|| bad("cookbooks"))?,
            includes: entries(answer, "includes", include).ok_or_else(|| bad("includes"))?,
            default_attributes: attributes("default")?,
            override_attributes: attributes("override")?,
            attribute_lines: entries(answer, "lines", attribute_line).ok_or_else(|| bad("lines"))?,
        })
    }

    /// The line of the word `metadata`, which names the cookbook in the Policyfile's folder.
    #[must_use]
    pub fn metadata_line(&self) -> Option<u32> {
        self.cookbooks.iter().find(|cookbook| cookbook.name.is_none()).map(|cookbook| cookbook.line)
    }

    /// Checks the statements. `metadata`: the name of the cookbook in the Policyfile's folder.
    ///
    /// # Errors
    /// All that is wrong.
    pub fn check(self, metadata: Option<&str>) -> Result<Policy, Vec<Problem>> {
        let mut problems = vec![];
        let (run_list, run_list_line) = self.run_list;
        problems.extend(run_list_problems(&run_list, None, run_list_line));
        for (name, items, line) in &self.named_run_lists {
            problems.extend(run_list_problems(items, Some(&name.name), *line));
        }
        let mut default_sources = vec![];
        for source in self.default_sources {
            match source.check() {
                Ok(source) => default_sources.push(source),
                Err(problem) => problems.push(problem),
            }
        }
        let mut cookbooks: Vec<CookbookSpec> = vec![];
        for written in self.cookbooks {
            match written.check(metadata, &cookbooks) {
                Ok(spec) => cookbooks.push(spec),
                Err(problem) => problems.push(problem),
            }
        }
        let mut includes: Vec<IncludeSpec> = vec![];
        for include in self.includes {
            let found = problems_of_include(&include, &includes);
            if found.is_empty() {
                includes.push(include);
            }
            problems.extend(found);
        }
        if run_list.is_empty() {
            problems.push(Problem { line: 0, what: "Invalid run_list. run_list cannot be empty".into() });
        }
        problems.extend(preferred_twice(&default_sources));
        if !problems.is_empty() {
            return Err(problems);
        }
        let name = self.name.or_else(|| cookbooks.iter().any(is_around).then(|| metadata.map(str::to_owned))?);
        Ok(Policy {
            name,
            run_list,
            named_run_lists: self.named_run_lists.into_iter().map(|(name, items, _)| (name, items)).collect(),
            default_sources,
            cookbooks,
            includes,
            default_attributes: self.default_attributes,
            override_attributes: self.override_attributes,
            attribute_lines: self.attribute_lines,
        })
    }
}

/// Whether a cookbook is the one in the Policyfile's folder.
fn is_around(cookbook: &CookbookSpec) -> bool {
    cookbook.options.get("path").and_then(Value::as_str) == Some(".")
}

impl WrittenCookbook {
    fn check(self, metadata: Option<&str>, known: &[CookbookSpec]) -> Result<CookbookSpec, Problem> {
        let Self { name, constraint, options, line } = self;
        let problem = |what: String| Problem { line, what };
        let Some(name) = name.or_else(|| metadata.map(str::to_owned)) else {
            return Err(problem("the word metadata needs a cookbook around the Policyfile".into()));
        };
        if let Some(previous) = known.iter().find(|previous| previous.name == name) {
            return Err(problem(format!(
                "Cookbook '{name}' assigned to conflicting sources: {} on line {}, {} here",
                shown_options(&previous.options),
                previous.line,
                shown_options(&options)
            )));
        }
        let constraint = constraint_on(line, constraint.as_deref())?;
        let source = cookbook_source(&name, &options).map_err(problem)?;
        Ok(CookbookSpec { name, constraint, options, source, line })
    }
}

fn problems_of_include(include: &IncludeSpec, known: &[IncludeSpec]) -> Vec<Problem> {
    let Some(previous) = known.iter().find(|previous| previous.name == include.name) else {
        return include.problems();
    };
    let (before, here) = (shown_options(&previous.options), shown_options(&include.options));
    let what = format!(
        "Included policy '{}' assigned conflicting locations or was already specified: {before} on line {}, {here} here",
        include.name, previous.line
    );
    vec![Problem { line: include.line, what }]
}

fn line(value: &Value) -> u32 {
    value.get("line").and_then(Value::as_u64).and_then(|line| u32::try_from(line).ok()).unwrap_or_default()
}

/// A text that may be left out.
#[expect(clippy::option_option, reason = "the outer one says whether the value is of the right kind")]
fn optional_text(value: &Value, key: &str) -> Option<Option<String>> {
    match value.get(key) {
        None | Some(Value::Null) => Some(None),
        Some(Value::String(text)) => Some(Some(text.clone())),
        Some(_) => None,
    }
}

fn text(value: &Value, key: &str) -> Option<String> {
    Some(value.get(key)?.as_str()?.to_owned())
}

fn texts(value: &Value, key: &str) -> Option<Vec<String>> {
    entries(value, key, |item| Some(item.as_str()?.to_owned()))
}

fn entries<Entry>(value: &Value, key: &str, read: impl Fn(&Value) -> Option<Entry>) -> Option<Vec<Entry>> {
    let list = value.get(key)?.as_array().filter(|list| list.len() <= MAX_ENTRIES)?;
    list.iter().map(read).collect()
}

fn named_run_list(value: &Value) -> Option<(ListName, Vec<String>, u32)> {
    let is_symbol = value.get("symbol")?.as_bool()?;
    Some((ListName { name: text(value, "name")?, is_symbol }, texts(value, "items")?, line(value)))
}

fn source(value: &Value) -> Option<WrittenSource> {
    let argument = optional_text(value, "argument")?;
    Some(WrittenSource {
        kind: text(value, "kind")?,
        argument,
        preferred: texts(value, "preferred")?,
        line: line(value),
    })
}

fn cookbook(value: &Value) -> Option<WrittenCookbook> {
    let (name, constraint) = (optional_text(value, "name")?, optional_text(value, "constraint")?);
    Some(WrittenCookbook { name, constraint, options: options(value)?, line: line(value) })
}

fn include(value: &Value) -> Option<IncludeSpec> {
    Some(IncludeSpec { name: text(value, "name")?, options: options(value)?, line: line(value) })
}

/// Reads options, which are written as pairs. If a key occurs twice, the last value counts.
fn options(value: &Value) -> Option<Map<String, Value>> {
    let pair = |pair: &Value| match pair.as_array()?.as_slice() {
        [key, value] => Some((key.as_str()?.to_owned(), value.clone())),
        _ => None,
    };
    Some(entries(value, "options", pair)?.into_iter().collect())
}

fn attribute_line(value: &Value) -> Option<(Level, Vec<String>, u32)> {
    let level = match value.get("level")?.as_str()? {
        "default" => Level::Default,
        "override" => Level::Override,
        _ => return None,
    };
    Some((level, texts(value, "path")?, line(value)))
}

/// Reads an attribute. Simple values are plain JSON; others are an object whose only key names their type.
fn attribute(value: &Value, depth: usize) -> Option<AttributeValue> {
    if depth > MAX_DEPTH {
        return None;
    }
    let Value::Object(tagged) = value else {
        return (!value.is_array()).then(|| AttributeValue::from(value));
    };
    let (tag, content) = tagged.iter().next()?;
    match (tag.as_str(), content) {
        ("list", Value::Array(values)) => {
            Some(AttributeValue::List(values.iter().map(|value| attribute(value, depth + 1)).collect::<Option<_>>()?))
        }
        // Keys and values alternate in one list, so that the answer is nested at most twice as deep as the attributes.
        ("map", Value::Array(flat)) => {
            let read = |pair: &[Value]| match pair {
                [key, value] => Some((attribute_key(key)?, attribute(value, depth + 1)?)),
                _ => None,
            };
            Some(AttributeValue::Map(flat.chunks(2).map(read).collect::<Option<_>>()?))
        }
        ("integer", Value::String(text)) => Some(match text.parse() {
            Ok(integer) => AttributeValue::Integer(integer),
            Err(_) => AttributeValue::Foreign { shown: text.clone(), class: "Integer".into() },
        }),
        ("float", Value::String(text)) => Some(AttributeValue::Float(match text.as_str() {
            "Infinity" => f64::INFINITY,
            "-Infinity" => f64::NEG_INFINITY,
            _ => f64::NAN,
        })),
        ("foreign", content) => {
            let (shown, class) = foreign(content)?;
            Some(AttributeValue::Foreign { shown, class })
        }
        _ => None,
    }
}

fn attribute_key(value: &Value) -> Option<AttributeKey> {
    match value {
        Value::String(text) => Some(AttributeKey::Text(text.clone())),
        other => {
            let (shown, class) = foreign(other.get("foreign")?)?;
            Some(AttributeKey::Foreign { shown, class })
        }
    }
}

fn foreign(value: &Value) -> Option<(String, String)> {
    match value.as_array()?.as_slice() {
        [shown, class] => Some((shown.as_str()?.to_owned(), class.as_str()?.to_owned())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn answer(changes: Value) -> Value {
        let mut answer = json!({
            "name": "web", "run_list": {"items": ["web"], "line": 2}, "named_run_lists": [], "default_sources": [],
            "cookbooks": [], "includes": [], "default": {"map": []}, "override": {"map": []}, "lines": [],
        });
        for (key, value) in changes.as_object().unwrap() {
            answer[key] = value.clone();
        }
        answer
    }

    #[track_caller]
    fn check(changes: Value, expect: &[(u32, &str)]) {
        let found = Written::read(&answer(changes)).unwrap().check(Some("around")).err().unwrap_or_default();
        let fits =
            |(problem, (line, part)): (&Problem, &(u32, &str))| problem.line == *line && problem.what.contains(part);
        assert!(found.len() == expect.len() && found.iter().zip(expect).all(fits), "{found:#?}");
    }

    #[test]
    fn all_problems_are_told_with_their_lines() {
        check(json!({}), &[]);
        let cookbook =
            |line: u32, options: Value| json!({"name": "web", "constraint": null, "options": options, "line": line});
        let twice = json!([cookbook(3, json!([["path", "c/web"]])), cookbook(4, json!([]))]);
        let include = |name: &str, options: Value, line: u32| json!({"name": name, "options": options, "line": line});
        let includes = json!([
            include("base", json!([["ftp", "x"]]), 5),
            include("srv", json!([["server", "https://localhost/x"]]), 6),
            include("ok", json!([["path", "./a"]]), 7),
            include("ok", json!([["path", "./b"]]), 8),
        ]);
        let sources = json!([
            {"kind": ":floppy", "argument": null, "preferred": [], "line": 9},
            {"kind": ":chef_repo", "argument": null, "preferred": [], "line": 10},
            {"kind": ":chef_repo", "argument": "a", "preferred": ["x", "y"], "line": 11},
            {"kind": ":supermarket", "argument": null, "preferred": ["y"], "line": 12},
        ]);
        let run_list = json!({"items": [], "line": 0});
        check(
            json!({"cookbooks": twice, "includes": includes, "default_sources": sources, "run_list": run_list}),
            &[
                (9, "Invalid default_source type ':floppy'"),
                (10, "needs the path"),
                (4, "Cookbook 'web' assigned to conflicting sources: {path: \"c/web\"} on line 3, {} here"),
                (5, "must use one of the following sources: path, remote, server, git"),
                (6, "include_policy for srv must specify policy_revision_id or policy_group"),
                (8, "{path: \"./a\"} on line 7, {path: \"./b\"} here"),
                (0, "run_list cannot be empty"),
                (12, "chef_repo(a) and supermarket(https://supermarket.chef.io) are both set as the preferred source"),
            ],
        );
        check(
            json!({"cookbooks": [{"name": "a", "constraint": "about 2", "options": [], "line": 3}]}),
            &[(3, "\"about 2\" is not a version constraint")],
        );
    }

    #[test]
    fn metadata_names_the_cookbook_around_the_file_and_the_policy() {
        let around = json!({"name": null, "constraint": null, "options": [["path", "."]], "line": 1});
        let written = Written::read(&answer(json!({"name": null, "cookbooks": [around]}))).unwrap();
        assert_eq!(written.metadata_line(), Some(1));
        let policy = written.check(Some("around")).unwrap();
        assert_eq!((policy.name.as_deref(), policy.cookbooks[0].name.as_str()), (Some("around"), "around"));
    }

    #[test]
    fn attributes_keep_what_json_cannot_say() {
        let attributes = json!({"map": [
            "f", {"float": "NaN"}, "s", {"foreign": [":fast", "Symbol"]}, "l", {"list": [1, {"map": []}]},
            "i", {"integer": "18446744073709551616"}, {"foreign": ["1", "Integer"]}, null,
        ]});
        let policy = Written::read(&answer(json!({"default": attributes}))).unwrap().check(None).unwrap();
        let AttributeValue::Map(entries) = policy.default_attributes else { panic!("not a map") };
        assert!(matches!(entries[0].1, AttributeValue::Float(value) if value.is_nan()));
        assert!(matches!(&entries[1].1, AttributeValue::Foreign { shown, .. } if shown == ":fast"));
        assert_eq!(entries[3].1, AttributeValue::Integer(18_446_744_073_709_551_616));
        assert!(matches!(&entries[4].0, AttributeKey::Foreign { class, .. } if class == "Integer"));
    }

    #[test]
    fn other_answers_are_refused() {
        for (key, value) in [
            ("name", json!(3)),
            ("run_list", json!(["web"])),
            ("default", json!([1])),
            ("override", json!({"x": 1})),
            ("cookbooks", json!([{"name": "a", "options": [["path"]]}])),
            ("lines", json!([{"level": "normal", "path": [], "line": 1}])),
        ] {
            assert!(Written::read(&answer(json!({key: value}))).is_err(), "{key}");
        }
    }
}
