//! The attributes that roles and environments set. A name that only they set does not count as misspelt.

use super::{Ask, CheckError, Readers, Subject};
use crate::CookbookFolders;
use crate::documents::documents;
use contract::{Question, RubyDocument};
use plain_files::read_text;
use resolve::layers::{MAX_FILE, parse_json, without_lines};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The keys of the attributes in a role or an environment.
const LEVELS: [&str; 2] = ["default_attributes", "override_attributes"];

/// Directories of roles and environments; `None`: those beside the directories of cookbooks, where they exist.
#[derive(Debug, Clone, Copy, Default)]
pub struct DocumentFolders<'a> {
    /// The directory of roles.
    pub roles: Option<&'a Path>,
    /// The directory of environments.
    pub environments: Option<&'a Path>,
}

/// A file of a role or an environment that was left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unread {
    /// The path of the file or directory.
    pub path: PathBuf,
    /// The reason, a sentence.
    pub why: String,
}

/// A role or an environment whose file has not been read.
struct Document {
    kind: &'static str,
    name: String,
    path: PathBuf,
}

impl Subject {
    /// Adds the attributes that roles and environments set. Also returns the files that could not be read.
    ///
    /// # Errors
    /// A given directory cannot be read, or no instance could be opened for files in Ruby.
    pub fn with_documents(
        self,
        folders: DocumentFolders<'_>,
        readers: &impl Readers,
    ) -> Result<(Self, Vec<Unread>), CheckError> {
        let mut unread = vec![];
        let mut all = find("role", folders.roles, &self, &mut unread)?;
        all.extend(find("environment", folders.environments, &self, &mut unread)?);
        let (ruby, json): (Vec<_>, Vec<_>) = all.into_iter().partition(|one| has_ending(&one.path, "rb"));
        let mut values = vec![];
        for document in json {
            let value = text(&document.path).and_then(|text| parse_json(&text));
            keep(document, value, &mut values, &mut unread);
        }
        if !ruby.is_empty() {
            let mut ruby = Some(ruby);
            let mut evaluate_all = |ask: &mut Ask<'_>| {
                for document in ruby.take().into_iter().flatten() {
                    let value = text(&document.path).and_then(|text| evaluate(&document, text, ask));
                    keep(document, value, &mut values, &mut unread);
                }
            };
            readers.open(Arc::new(CookbookFolders::default()), &mut evaluate_all).map_err(CheckError::Reader)?;
        }
        Ok((self.with_set_elsewhere(values), unread))
    }
}

/// Finds the files of a directory that was given, or of those beside the cookbooks.
fn find(
    kind: &'static str,
    given: Option<&Path>,
    subject: &Subject,
    unread: &mut Vec<Unread>,
) -> Result<Vec<Document>, CheckError> {
    let named = |(name, path)| Document { kind, name, path };
    if let Some(folder) = given {
        let found = documents(folder).map_err(|(folder, source)| {
            let source = plain_files::explained(&folder, source);
            CheckError::Documents { kind, folder, source }
        })?;
        return Ok(found.into_iter().map(named).collect());
    }
    let mut all = vec![];
    for folder in subject.beside(&format!("{kind}s")) {
        match documents(&folder) {
            Ok(found) => all.extend(found.into_iter().map(named)),
            Err((path, error)) => unread.push(Unread { path, why: error.to_string() }),
        }
    }
    Ok(all)
}

fn has_ending(path: &Path, ending: &str) -> bool {
    path.extension().is_some_and(|one| one == ending)
}

fn text(path: &Path) -> Result<String, String> {
    read_text(path, u64::try_from(MAX_FILE).unwrap_or(u64::MAX)).map_err(|error| error.to_string())
}

fn evaluate(document: &Document, source: String, ask: &mut Ask<'_>) -> Result<Value, String> {
    let asked = RubyDocument { name: document.name.clone(), file: document.path.display().to_string(), source };
    let question = if document.kind == "role" { Question::Role(asked) } else { Question::Environment(asked) };
    ask(question).map(without_lines).map_err(|failure| failure.to_string())
}

/// Keeps the attributes of a document.
fn keep(document: Document, value: Result<Value, String>, values: &mut Vec<Value>, unread: &mut Vec<Unread>) {
    match value {
        Ok(mut value) => {
            values.extend(LEVELS.iter().filter_map(|level| value.get_mut(level).map(Value::take)));
        }
        Err(why) => unread.push(Unread { path: document.path, why }),
    }
}
