//! Reads authors' TOML files, with errors that name file and line.

use std::io::ErrorKind;
use std::ops::Range;
use std::path::PathBuf;

use grants::Needs;
use plain_files::{HeldFolder, leads_out};
use policyfile::model::Problem;
use serde::de::DeserializeOwned;
use text::toml_fault;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::AuthorError;

/// The largest such file, in bytes.
pub(super) const MAX_FILE: u64 = 4 << 20;

/// A TOML file's text and where it is.
#[derive(Debug)]
pub(super) struct TomlFile {
    pub(super) path: PathBuf,
    text: String,
    /// Where each line begins, the first one left out.
    starts: Vec<usize>,
}

impl TomlFile {
    /// Reads the text of a file in a folder. `None`: the file does not exist.
    pub(super) fn read(folder: &HeldFolder, name: &str) -> Result<Option<Self>, AuthorError> {
        let path = folder.path().join(name);
        match folder.read_text(name, MAX_FILE) {
            Ok(text) => {
                let starts = text.match_indices('\n').map(|(at, _)| at + 1).collect();
                Ok(Some(Self { path, text, starts }))
            }
            // The folder may be untrusted, and errors quote lines of the file: so a link that leads out of the folder is
            // refused.
            Err(error) if leads_out(&error) => {
                let what = "is a link that leads out of its folder: put the file itself there";
                Err(AuthorError::File { path, what })
            }
            Err(error) => match error.kind() {
                ErrorKind::NotFound => Ok(None),
                ErrorKind::FileTooLarge => Err(AuthorError::TooMuch { path, limit: MAX_FILE, of: "bytes" }),
                _ => Err(AuthorError::Read { path, source: error }),
            },
        }
    }

    /// Parses the text of the file.
    pub(super) fn parse<T: DeserializeOwned>(&self) -> Result<T, AuthorError> {
        toml::from_str(&self.text).map_err(|error: toml::de::Error| {
            let at = error.span().unwrap_or_default().start;
            let (line, what) = toml_fault(&self.text, at, error.message());
            AuthorError::Wrong { path: self.path.clone(), line, what }
        })
    }

    /// The entries of the table `needs`.
    pub(super) fn needs(&self) -> Result<Needs, AuthorError> {
        Ok(Needs::parse(&self.text, &self.path.display().to_string())?)
    }

    /// The line, from 1, where something begins.
    pub(super) fn line(&self, span: &Range<usize>) -> usize {
        self.starts.partition_point(|start| *start <= span.start) + 1
    }

    /// The line, from 1, where something begins, as models count them.
    pub(super) fn line_of(&self, span: &Range<usize>) -> u32 {
        u32::try_from(self.line(span)).unwrap_or(u32::MAX)
    }

    /// The keys and the line of each value below a table that is not a table itself.
    pub(super) fn paths_with_lines(&self, table: &str) -> Vec<(Vec<String>, u32)> {
        let mut lines = vec![];
        // The file has been parsed before, and its errors were reported then.
        let Ok(all) = DeTable::parse(&self.text) else { return lines };
        if let Some((_, value)) = all.get_ref().iter().find(|(key, _)| key.get_ref() == table) {
            self.lines_below(&mut vec![], value, &mut lines);
        }
        lines
    }

    fn lines_below(&self, path: &mut Vec<String>, value: &Spanned<DeValue<'_>>, lines: &mut Vec<(Vec<String>, u32)>) {
        let Some(members) = value.get_ref().as_table() else {
            lines.push((path.clone(), self.line_of(&value.span())));
            return;
        };
        for (key, member) in members {
            path.push(key.get_ref().to_string());
            self.lines_below(path, member, lines);
            path.pop();
        }
    }

    /// An error about a place in the file.
    pub(super) fn wrong(&self, span: &Range<usize>, what: String) -> AuthorError {
        AuthorError::Wrong { path: self.path.clone(), line: self.line(span), what }
    }

    /// An error about a line of the file.
    pub(super) fn wrong_on(&self, line: u32, what: String) -> AuthorError {
        AuthorError::Wrong { path: self.path.clone(), line: usize::try_from(line).unwrap_or(usize::MAX), what }
    }

    /// Turns a problem of a model into an error about its line.
    pub(super) fn problem(&self, problem: Problem) -> AuthorError {
        self.wrong_on(problem.line.max(1), problem.what)
    }
}
