//! The Ruby runtime for policy authors. It is named in artifacts and evaluates `metadata.rb`.

use crate::program::program;
use crate::settings::Settings;
use anyhow::Context as _;
use assemble::Runtime;
use author::CookbookFolders;
use author::Ruby;
use contract::{Question, Stop};
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;

/// The Ruby runtime beside this program. It is searched for when a cookbook needs it.
pub(super) struct RuntimeHere<'a> {
    settings: &'a Settings,
    found: Option<Arc<Runtime>>,
}

impl<'a> RuntimeHere<'a> {
    pub(super) fn new(settings: &'a Settings) -> Self {
        Self { settings, found: None }
    }

    fn find(&mut self) -> Result<Arc<Runtime>, String> {
        if let Some(found) = &self.found {
            return Ok(Arc::clone(found));
        }
        let found = Runtime::find(self.settings.run.runtime_dir.as_deref()).map_err(|error| error.to_string())?;
        Ok(Arc::clone(self.found.insert(Arc::new(found))))
    }

    fn ask_metadata(&mut self, cookbook: &Path) -> anyhow::Result<Value> {
        let place = cookbook.canonicalize()?;
        let name = place.file_name().and_then(|name| name.to_str()).context("a cookbook's folder has a name")?;
        // Only this folder is visible, since the cookbook must not see other folders.
        let files = CookbookFolders::one(&place)?;
        let question = Question::Metadata { cookbook: name.to_owned(), place: place.display().to_string() };
        self.ask(files, question)
    }

    /// Asks an instance that sees only the given cookbooks.
    fn ask(&mut self, files: CookbookFolders, question: Question) -> anyhow::Result<Value> {
        let runtime = self.find().map_err(anyhow::Error::msg)?;
        let (settings, stop) = (&self.settings.run, Stop::default());
        let answer = assemble::ask(settings, &program(), &stop, runtime, Arc::new(files), |ask| ask(question))?;
        Ok(answer?)
    }
}

impl Ruby for RuntimeHere<'_> {
    fn runtime(&mut self) -> Result<artifact::Runtime, String> {
        let found = self.find()?;
        Ok(artifact::Runtime::Shared { name: found.name.clone(), digest: found.digest.clone() })
    }

    fn metadata(&mut self, cookbook: &Path) -> Result<Value, String> {
        self.ask_metadata(cookbook).map_err(|error| format!("{error:#}"))
    }

    fn gems(&mut self, question: Value) -> Result<Value, String> {
        self.ask(CookbookFolders::default(), Question::Gems(question)).map_err(|error| format!("{error:#}"))
    }
}
