//! The result of a run, for assertions.

use serde_json::Value;

/// The result of a run. All values are JSON in the shapes of `docs/run-json.md`.
#[derive(Debug, Clone)]
pub struct Run {
    answer: Value,
}

impl Run {
    pub(super) fn new(answer: Value) -> Self {
        Self { answer }
    }

    /// Returns the run if it succeeded.
    ///
    /// # Panics
    /// It failed. The message has the error's place, text and hint.
    #[track_caller]
    pub fn succeeded(self) -> Self {
        if let Some(error) = self.error() {
            panic!("the run failed: {error}");
        }
        self
    }

    /// Returns the error of a run that failed: its place, its message and its hint.
    pub fn error(&self) -> Option<String> {
        let error = self.answer.pointer("/run/error").filter(|error| !error.is_null())?;
        let text = |key: &str| error.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
        let place = error.pointer("/backtrace/0").and_then(Value::as_str).map(|place| format!("{place}: "));
        let hint = text("hint").map(|hint| format!("\nhint: {hint}"));
        let (place, hint) = (place.unwrap_or_default(), hint.unwrap_or_default());
        Some(format!("{place}{}{hint}", text("message").unwrap_or("no message")))
    }

    /// Returns the resources that the recipes declared, in order. Resources inside custom resources are not among them: their
    /// actions are in [`actions`](Self::actions).
    pub fn resources(&self) -> &[Value] {
        list(&self.answer, "/declared")
    }

    /// Returns the declared resource `type[name]`, the last one if there are several.
    ///
    /// # Panics
    /// The resource does not exist. The message lists those that do.
    #[track_caller]
    pub fn resource(&self, key: &str) -> &Value {
        match self.resources().iter().rev().find(|resource| is(resource, key)) {
            Some(found) => found,
            None => panic!("no recipe declared {key}; declared are: {}", keys(self.resources())),
        }
    }

    /// Tells whether a recipe declared `type[name]`.
    pub fn has_resource(&self, key: &str) -> bool {
        self.resources().iter().any(|resource| is(resource, key))
    }

    /// Returns the actions of the dry run, in order: `status` is `updated` if the machine would change, `up-to-date`,
    /// `skipped`, `unknown` or `failed`; `updates` has the sentences.
    pub fn actions(&self) -> &[Value] {
        list(&self.answer, "/run/policies/0/resources")
    }

    /// Returns the last run of an action of `type[name]`.
    ///
    /// # Panics
    /// The action was not run. The message lists those that were.
    #[track_caller]
    pub fn action(&self, key: &str, action: &str) -> &Value {
        let found =
            self.actions().iter().rev().find(|row| is(row, key) && row.get("action").is_some_and(|it| it == action));
        match found {
            Some(found) => found,
            None => panic!("{key} did not {action}; run were: {}", rows(self.actions())),
        }
    }

    /// Returns the content that a file would get from a `file`, `template`, `cookbook_file` or a similar resource.
    ///
    /// # Panics
    /// No resource writes content into this file. The message lists the files with content.
    #[track_caller]
    pub fn file(&self, path: &str) -> &str {
        let contents = self.answer.get("contents").and_then(Value::as_object);
        match contents.and_then(|contents| contents.get(path)).and_then(Value::as_str) {
            Some(content) => content,
            None => {
                let known = contents.into_iter().flatten().map(|(path, _)| path.as_str()).collect::<Vec<_>>();
                panic!("no resource writes {path}; written are: {}", known.join(", "))
            }
        }
    }

    /// Returns the denied requests of the policy, as in the run's JSON.
    pub fn denials(&self) -> &[Value] {
        list(&self.answer, "/run/denials")
    }

    /// Returns the lines of the run's log: objects with `source`, `level` and `message`.
    pub fn log(&self) -> &[Value] {
        list(&self.answer, "/run/log")
    }

    /// Returns the attributes at the end of the policy, by level: `run.node()["default"]["web"]["port"]`.
    pub fn node(&self) -> &Value {
        self.answer.pointer("/run/policies/0/node").unwrap_or(&Value::Null)
    }

    /// Returns the whole result. `run` is the JSON of the run (docs/run-json.md). `declared` and `contents` are beside it.
    pub fn json(&self) -> &Value {
        &self.answer
    }
}

fn list<'a>(value: &'a Value, pointer: &str) -> &'a [Value] {
    value.pointer(pointer).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn key_of(resource: &Value) -> String {
    let text = |key: &str| resource.get(key).and_then(Value::as_str).unwrap_or_default();
    format!("{}[{}]", text("type"), text("name"))
}

/// General types. If Ruby declares such a resource, its row has the name of the platform's own type, as in Chef:
/// `linux_user`, `apt_package`.
const OF_PLATFORM: [&str; 2] = ["user", "package"];

/// Returns true if the row belongs to `type[name]`. `user[app]` also matches `linux_user[app]`.
fn is(resource: &Value, key: &str) -> bool {
    let own = key_of(resource);
    let general = |kind: &&str| {
        let end = own.split_once(&format!("_{kind}[")).map(|(_, end)| end);
        end.is_some() && end == key.strip_prefix(kind).and_then(|rest| rest.strip_prefix('['))
    };
    own == key || OF_PLATFORM.iter().any(general)
}

fn keys(resources: &[Value]) -> String {
    resources.iter().map(key_of).collect::<Vec<_>>().join(", ")
}

fn rows(rows: &[Value]) -> String {
    let row =
        |row: &Value| format!("{} {}", key_of(row), row.get("action").and_then(Value::as_str).unwrap_or_default());
    rows.iter().map(row).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::is;
    use serde_json::json;

    #[test]
    fn a_row_is_found_by_the_general_type_too() {
        let row = json!({"type": "linux_user", "name": "a[b]"});
        assert!(is(&row, "linux_user[a[b]]") && is(&row, "user[a[b]]"));
        assert!(!is(&row, "ser[a[b]]") && !is(&row, "user[a]") && !is(&row, "user"));
        assert!(!is(&json!({"type": "cookbook_file", "name": "a"}), "file[a]"));
    }
}
