//! Builds the text of a unit from a text or from sections.

use contract::{ErrorKind, Raised};
use serde_json::Value;

/// Returns a unit's text. Sections are a map of maps. A list sets an option several times.
pub(super) fn text(content: &Value) -> String {
    match content {
        Value::Object(sections) => {
            let sections: Vec<String> = sections.iter().map(|(name, options)| section(name, options)).collect();
            sections.join("\n")
        }
        other => plain(other),
    }
}

fn section(name: &str, options: &Value) -> String {
    let mut text = format!("[{name}]\n");
    let Value::Object(options) = options else { return text };
    for (option, value) in options {
        let values = match value {
            Value::Array(values) => flat(values),
            single => vec![single],
        };
        for value in values {
            text.push_str(&format!("{option}={}\n", plain(value)));
        }
    }
    text
}

/// Flattens nested lists, as Ruby's `flatten`.
fn flat(values: &[Value]) -> Vec<&Value> {
    let mut all = Vec::with_capacity(values.len());
    for value in values {
        match value {
            Value::Array(inner) => all.extend(flat(inner)),
            other => all.push(other),
        }
    }
    all
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

/// Refuses a text that is not an INI file, as Chef does.
///
/// # Errors
/// A line is neither a section, an option, a comment, nor the continuation of an option.
pub(super) fn check(text: &str) -> Result<(), Raised> {
    let mut continued = false;
    for line in text.lines() {
        let bare = line.trim();
        let known = bare.is_empty()
            || continued
            || bare.starts_with(['#', ';'])
            || (bare.starts_with('[') && bare.contains(']'))
            || bare.split_once('=').is_some_and(|(option, _)| !option.trim().is_empty());
        if !known {
            let message = format!("A line of your INI document could not be parsed to a LineType: '{line}'.");
            return Err(Raised::new(ErrorKind::InvalidUnit, message));
        }
        continued = bare.ends_with('\\');
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn sections_become_text() {
        let content = json!({
            "Unit": {"Description": "x", "After": ["a.target", ["b.target"]]},
            "Service": {"ExecStart": "/bin/true", "RemainAfterExit": true, "TimeoutSec": 5},
            "Install": {"WantedBy": "multi-user.target"},
        });
        let expect = "[Unit]\nDescription=x\nAfter=a.target\nAfter=b.target\n\n[Service]\nExecStart=/bin/true\n\
                      RemainAfterExit=true\nTimeoutSec=5\n\n[Install]\nWantedBy=multi-user.target\n";
        assert_eq!(text(&content), expect);
        assert_eq!(text(&json!("[Unit]\n")), "[Unit]\n");
        assert_eq!(text(&Value::Null), "");
    }

    #[test]
    fn what_is_no_unit_is_refused() {
        for good in ["", "# x\n; y\n[A]\nb = c\n\nD=\n", "[Service]\nExecStart=/bin/x \\\n  --flag\n"] {
            assert_eq!(check(good), Ok(()), "{good}");
        }
        for bad in ["just words\n", "[Unit\n", "=x\n"] {
            assert_eq!(check(bad).unwrap_err().class(), "IniParse::ParseError", "{bad}");
        }
    }
}
