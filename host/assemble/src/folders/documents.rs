//! Reads roles and environments: JSON files directly, and Ruby files by a guest that evaluates them.

use super::hints;
use crate::error::AssembleError;
use crate::objects::documents;
use contract::{ErrorKind, Failure, Question, RubyDocument};
use machine::data::parse_written_json;
use resolve::layers::without_lines;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The largest file that is read, in bytes.
const MAX_BYTES: u64 = 16 << 20;

/// The documents of a folder, by name.
pub(super) struct Documents {
    /// `role` or `environment`: what the guest is asked for.
    kind: &'static str,
    /// The directory of the documents, if one is given.
    folder: Option<PathBuf>,
    found: BTreeMap<String, Document>,
    /// The files of those that were found.
    files: BTreeMap<String, PathBuf>,
}

enum Document {
    Known(Value),
    Ruby { path: PathBuf, text: String },
    Broken(Failure),
}

impl Documents {
    pub(super) fn read(folder: Option<&Path>, kind: &'static str) -> Result<Self, AssembleError> {
        let (mut found, mut files) = (BTreeMap::new(), BTreeMap::new());
        let place = folder.map(Path::to_owned);
        let Some(folder) = folder else { return Ok(Self { kind, folder: place, found, files }) };
        let unreadable = |(folder, source): (PathBuf, _)| {
            let source = plain_files::explained(&folder, source);
            AssembleError::Documents { kind, folder, source }
        };
        for (name, path) in documents(folder).map_err(unreadable)? {
            files.insert(name.clone(), path.clone());
            let is_ruby = path.extension().is_some_and(|ending| ending == "rb");
            let document = if is_ruby { ruby(path) } else { json_file(&path) };
            found.insert(name, document);
        }
        Ok(Self { kind, folder: place, found, files })
    }

    /// The path of a document's file, from the root.
    pub(super) fn file(&self, name: &str) -> Option<String> {
        let path = self.files.get(name)?;
        Some(std::path::absolute(path).unwrap_or_else(|_| path.clone()).display().to_string())
    }

    /// Lets the guest evaluate the documents in Ruby.
    pub(super) fn evaluate(&mut self, ask: &mut dyn FnMut(Question) -> Result<Value, Failure>) {
        for (name, document) in &mut self.found {
            let Document::Ruby { path, text } = document else { continue };
            let asked =
                RubyDocument { name: name.clone(), file: path.display().to_string(), source: std::mem::take(text) };
            let question = if self.kind == "role" { Question::Role(asked) } else { Question::Environment(asked) };
            *document = match ask(question) {
                Ok(value) => Document::Known(without_lines(value)),
                Err(failure) => Document::Broken(failure),
            };
        }
    }

    /// Returns a hint about a missing document. `option` is the option that names their directory.
    pub(super) fn hint(&self, missing: &str, option: &str) -> String {
        let names = self.found.keys().map(String::as_str);
        hints::document(missing, names, self.folder.as_deref(), (self.kind, option))
    }

    /// Returns a document, or `None` if it does not exist.
    pub(super) fn value(&self, name: &str) -> Option<Result<Value, Failure>> {
        Some(match self.found.get(name)? {
            Document::Known(value) => Ok(value.clone()),
            Document::Broken(failure) => Err(failure.clone()),
            Document::Ruby { .. } => {
                Err(Failure::raised(ErrorKind::Bug, format!("the {} {name} was not evaluated", self.kind)))
            }
        })
    }

    /// Turns the documents into a map by name, with errors as text.
    pub(super) fn into_values(self) -> BTreeMap<String, Result<Value, String>> {
        let value = |document| match document {
            Document::Known(value) => Ok(value),
            Document::Broken(failure) => Err(failure.to_string()),
            Document::Ruby { path, .. } => Err(format!("{} was not evaluated", path.display())),
        };
        self.found.into_iter().map(|(name, document)| (name, value(document))).collect()
    }
}

fn ruby(path: PathBuf) -> Document {
    match text(&path) {
        Ok(text) => Document::Ruby { path, text },
        Err(failure) => Document::Broken(failure),
    }
}

fn json_file(path: &Path) -> Document {
    let parsed = text(path).and_then(|text| {
        parse_written_json(&text).map_err(|error| {
            Failure::raised(ErrorKind::InvalidJson, format!("{}:{}: {error}", path.display(), error.line()))
        })
    });
    parsed.map_or_else(Document::Broken, Document::Known)
}

fn text(path: &Path) -> Result<String, Failure> {
    let failed = |why: String| Failure::raised(ErrorKind::InputOutput, format!("{}: {why}", path.display()));
    plain_files::read_text(path, MAX_BYTES).map_err(|error| failed(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn json_is_read_here_and_ruby_is_asked_for() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("web.json", r#"{"name": "web"}"#);
        write("db.rb", "name 'db'");
        write("teams/db.json", r#"{"name": "not this one"}"#);
        write("teams/mail.rb", "raise");
        write("broken.json", "{");
        write("README.md", "");
        let mut documents = Documents::read(Some(folder.path()), "role").unwrap();
        let mut asked = vec![];
        documents.evaluate(&mut |question| {
            let Question::Role(input) = question else { panic!("{question:?}") };
            asked.push(format!("{} {}", input.name, input.source));
            match input.name.as_str() {
                "db" => Ok(json!({"name": "db"})),
                _ => Err(Failure::raised(ErrorKind::Failed, "unhandled")),
            }
        });
        assert_eq!(asked, ["db name 'db'", "mail raise"]);
        assert_eq!(documents.value("web").unwrap().unwrap(), json!({"name": "web"}));
        assert_eq!(documents.value("db").unwrap().unwrap(), json!({"name": "db"}));
        assert_eq!(documents.value("mail").unwrap().unwrap_err().to_string(), "unhandled");
        assert_eq!(documents.value("broken").unwrap().unwrap_err().class(), "Chef::Exceptions::JSON::ParseError");
        assert!(documents.value("README").is_none() && documents.value("gone").is_none());
        assert_eq!(documents.into_values().len(), 4);
    }
}
