//! Facts from a file: the output of `ohai`, or a saved node.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::limits;

/// The reason why facts cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum FactsError {
    /// The root of the system, or of the machine, cannot be used.
    #[error("cannot use {} as the root of a system", path.display())]
    Root {
        /// The root as it was given.
        path: PathBuf,
        /// The error of the system's call.
        source: std::io::Error,
    },
    /// The file cannot be read.
    #[error("cannot read the facts file {}", path.display())]
    Unreadable {
        /// The path of the file, as it was given.
        path: PathBuf,
        /// The error of the system's call.
        source: std::io::Error,
    },
    /// The file exceeds the limit, which is larger than any saved node.
    #[error("the facts file {} is larger than {limit} bytes", path.display())]
    TooLarge {
        /// The path of the file, as it was given.
        path: PathBuf,
        /// Maximum size of the file, in bytes.
        limit: usize,
    },
    /// The file is not JSON.
    #[error("{}:{line}:{column}: the facts file is not valid JSON: {reason}", path.display())]
    NotJson {
        /// The path of the file, as it was given.
        path: PathBuf,
        /// The line of the error, from 1.
        line: usize,
        /// The column of the error, from 1.
        column: usize,
        /// The description of the error.
        reason: String,
    },
    /// The file is JSON, but neither facts nor a saved node.
    #[error("{}:{line}: the facts file holds {found}, not an object of attributes: give what `ohai` prints, or a saved node", path.display())]
    NotAttributes {
        /// The path of the file, as it was given.
        path: PathBuf,
        /// The line where the wrong value begins.
        line: usize,
        /// The kind of the wrong value, such as `an array`.
        found: &'static str,
    },
}

/// Reads the automatic attributes of a facts file.
pub(crate) fn read(path: &Path) -> Result<Map<String, Value>, FactsError> {
    let unreadable = |source| FactsError::Unreadable { path: path.to_owned(), source };
    let mut content = Vec::new();
    let most = u64::try_from(limits::FACTS_FILE).unwrap_or(u64::MAX).saturating_add(1);
    File::open(path).map_err(unreadable)?.take(most).read_to_end(&mut content).map_err(unreadable)?;
    if content.len() > limits::FACTS_FILE {
        return Err(FactsError::TooLarge { path: path.to_owned(), limit: limits::FACTS_FILE });
    }
    let value = serde_json::from_slice::<Value>(&content).map_err(|fault| not_json(path, &fault))?;
    let not_attributes = |line, found| FactsError::NotAttributes { path: path.to_owned(), line, found };
    let Value::Object(mut object) = value else {
        return Err(not_attributes(line_of_first_value(&content), kind_of(&value)));
    };
    // A saved node has its levels side by side; no Ohai plugin has a key `automatic`.
    match object.remove("automatic") {
        None => Ok(object),
        Some(Value::Object(automatic)) => Ok(automatic),
        Some(other) => Err(not_attributes(line_of(&content, b"\"automatic\""), kind_of(&other))),
    }
}

fn not_json(path: &Path, fault: &serde_json::Error) -> FactsError {
    let described = fault.to_string();
    // The library's sentence ends with the place, which this message has at its beginning.
    let reason = described.rsplit_once(" at line ").map_or(described.as_str(), |(reason, _)| reason).to_owned();
    FactsError::NotJson { path: path.to_owned(), line: fault.line(), column: fault.column(), reason }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

fn line_of_first_value(content: &[u8]) -> usize {
    1 + content.iter().take_while(|byte| byte.is_ascii_whitespace()).filter(|byte| **byte == b'\n').count()
}

fn line_of(content: &[u8], word: &[u8]) -> usize {
    let position = content.windows(word.len()).position(|window| window == word).unwrap_or(0);
    1 + content.iter().take(position).filter(|byte| **byte == b'\n').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(content: &str, expect: &str) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("facts.json");
        std::fs::write(&path, content).unwrap();
        let said = match read(&path) {
            Ok(facts) => serde_json::to_string(&facts).unwrap(),
            Err(fault) => fault.to_string().replace(path.to_str().unwrap(), "FILE"),
        };
        assert_eq!(said, expect, "for {content:?}");
    }

    #[test]
    fn reads_ohai_and_nodes() {
        check(r#"{"platform": "debian", "os": "linux"}"#, r#"{"platform":"debian","os":"linux"}"#);
        check(r#"{"name": "a", "normal": {"x": 1}, "automatic": {"platform": "debian"}}"#, r#"{"platform":"debian"}"#);
        check("{}", "{}");
    }

    #[test]
    fn names_file_and_line() {
        check("{\n \"a\": 1,\n \"b\" 2\n}", "FILE:3:6: the facts file is not valid JSON: expected `:`");
        check("", "FILE:1:0: the facts file is not valid JSON: EOF while parsing a value");
        check(
            "\n[\"debian\"]",
            "FILE:2: the facts file holds an array, not an object of attributes: give what `ohai` prints, or a saved node",
        );
        check(
            "{\n\n\"automatic\": 3}",
            "FILE:3: the facts file holds a number, not an object of attributes: give what `ohai` prints, or a saved node",
        );
        check(&"[".repeat(1000), "FILE:1:128: the facts file is not valid JSON: recursion limit exceeded");
        let missing = read(Path::new("/nowhere/facts.json")).unwrap_err().to_string();
        assert_eq!(missing, "cannot read the facts file /nowhere/facts.json");
    }
}
