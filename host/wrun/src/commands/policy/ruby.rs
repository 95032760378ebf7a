//! The Ruby runtime as a policy's author needs it: to name it in artifacts, and to evaluate `metadata.rb`.

use crate::house::{BuiltinTypes, Folders, Keeper, Runtime, Source, TheHouse};
use crate::poll::finish;
use crate::settings::Settings;
use converge::{House as _, Moment, PolicyInput, Questions, Stop};
use grants::Grants;
use node::file_specificity::NodeIdentity;
use policy::CookbookFolders;
use policy::author::Ruby;
use providers::Reboots;
use sandbox::Sandbox;
use serde_json::{Value, json};
use state::Unrecorded;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// Whose cookbook it is while its metadata is evaluated.
const AUTHOR: &str = "author";

/// The runtime beside this program, looked for when a cookbook needs it.
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
        let found = Runtime::find(self.settings.runtime_dir.as_deref()).map_err(|error| error.to_string())?;
        Ok(Arc::clone(self.found.insert(Arc::new(found))))
    }

    fn ask(&mut self, cookbook: &Path) -> anyhow::Result<Value> {
        let place = cookbook.canonicalize()?;
        let (Some(parent), Some(name)) = (place.parent(), place.file_name().and_then(|name| name.to_str())) else {
            anyhow::bail!("a cookbook's folder has a name");
        };
        let runtime = self.find().map_err(anyhow::Error::msg)?;
        let files = Arc::new(CookbookFolders::open(&[parent.to_owned()])?);
        let source = Source::Folders(Folders { runtime, files, data: Arc::default() });
        // It is granted nothing, and what it may see of the machine is its own cookbook.
        let grants = Grants::nothing().policy(AUTHOR, &[]);
        let mut house = TheHouse {
            settings: self.settings,
            sandbox: Sandbox::new(None)?,
            sources: BTreeMap::from([(AUTHOR.to_owned(), source)]),
            grants: BTreeMap::from([(AUTHOR.to_owned(), grants)]),
            node: NodeIdentity::default(),
            started: Moment::default(),
            why_run: true,
            stop: Stop::default(),
            log: Arc::new(|_, _| {}),
            live: None,
            reboots: Reboots::default(),
            // Metadata are the author's: no machine's facts are gathered for them.
            given_facts: true,
            keeper: Keeper::Unrecorded(Unrecorded::new(Vec::new())),
        };
        let mut opened = house.open(&PolicyInput { name: AUTHOR.to_owned(), ..PolicyInput::default() })?;
        let mut questions = Questions::new(&mut opened, AUTHOR, Arc::new(BuiltinTypes));
        let said = finish(questions.ask("metadata", json!({ "cookbook": name, "place": place.display().to_string() })));
        // It has answered the one question it was asked.
        let _ = finish(questions.end());
        Ok(said?)
    }
}

impl Ruby for RuntimeHere<'_> {
    fn runtime(&mut self) -> Result<policy::artifact::Runtime, String> {
        let found = self.find()?;
        Ok(policy::artifact::Runtime::Shared { name: found.name.clone(), digest: found.digest.clone() })
    }

    fn metadata(&mut self, cookbook: &Path) -> Result<Value, String> {
        self.ask(cookbook).map_err(|error| format!("{error:#}"))
    }
}
