//! Instances of the Ruby runtime that answer questions. They have no grants.

use crate::program::program;
use crate::settings::Settings;
use assemble::Runtime;
use author::check::{Ask, Readers};
use contract::{CookbookFiles, Stop};
use std::cell::OnceCell;
use std::error::Error;
use std::sync::Arc;

/// Opens instances of the Ruby runtime that is installed beside this program.
pub(crate) struct Instances<'a> {
    settings: &'a Settings,
    runtime: Arc<Runtime>,
}

impl<'a> Instances<'a> {
    /// Finds the runtime that the settings name, without opening it.
    pub(crate) fn find(settings: &'a Settings) -> anyhow::Result<Self> {
        Ok(Self { settings, runtime: Arc::new(Runtime::find(settings.run.runtime_dir.as_deref())?) })
    }
}

/// Does the same as [`Instances`], but finds the runtime only at the first question, since many commands need none.
pub(crate) struct WhenAsked<'a> {
    settings: &'a Settings,
    found: OnceCell<Instances<'a>>,
}

impl<'a> WhenAsked<'a> {
    /// Stores the settings. The runtime is not searched for yet.
    pub(crate) fn new(settings: &'a Settings) -> Self {
        Self { settings, found: OnceCell::new() }
    }
}

impl Readers for WhenAsked<'_> {
    fn open(
        &self,
        files: Arc<dyn CookbookFiles>,
        questions: &mut dyn FnMut(&mut Ask<'_>),
    ) -> Result<(), Box<dyn Error + Send + Sync>> {
        let found = match self.found.get() {
            Some(found) => found,
            None => {
                let found = Instances::find(self.settings)?;
                self.found.get_or_init(|| found)
            }
        };
        found.open(files, questions)
    }
}

impl Readers for Instances<'_> {
    fn open(
        &self,
        files: Arc<dyn CookbookFiles>,
        questions: &mut dyn FnMut(&mut Ask<'_>),
    ) -> Result<(), Box<dyn Error + Send + Sync>> {
        let (settings, runtime) = (&self.settings.run, Arc::clone(&self.runtime));
        Ok(assemble::ask(settings, &program(), &Stop::default(), runtime, files, |ask| questions(ask))?)
    }
}
