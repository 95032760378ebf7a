//! Uses of cookbooks that lie beside the one that is checked, and on which its metadata do not depend.
//!
//! A run fails there, or works because another cookbook of it happens to depend on them.

use super::gather::Gathered;
use super::judge::Verdict;
use crate::CookbookFolders;
use crate::undeclared::{self, Brought};
use contract::CookbookFiles as _;
use std::cell::OnceCell;
use std::collections::BTreeSet;

/// All cookbooks that could be depended on.
pub(super) struct All {
    /// Their files, by the cookbooks' names.
    files: CookbookFolders,
    /// What they bring; read when somebody asks first.
    brought: OnceCell<Brought>,
}

impl All {
    pub(super) fn of(folders: &CookbookFolders) -> Self {
        Self { files: undeclared::by_name(folders), brought: OnceCell::new() }
    }
}

/// The cookbooks beside one.
pub(super) struct Beside<'a> {
    all: &'a All,
    gathered: &'a Gathered,
    /// The names of the facts that a node has.
    automatic: &'a BTreeSet<String>,
}

impl<'a> Beside<'a> {
    pub(super) fn new(all: &'a All, gathered: &'a Gathered, automatic: &'a BTreeSet<String>) -> Self {
        Self { all, gathered, automatic }
    }

    /// The names of the cookbooks on which nothing here depends.
    fn names(&self) -> impl Iterator<Item = &'a str> {
        let Gathered { name, reached, .. } = self.gathered;
        self.all.files.names().filter(move |one| one != name && !reached.contains(*one))
    }

    fn bringing(&self, name: &str) -> Option<&'a str> {
        let All { files, brought } = self.all;
        let brought = brought.get_or_init(|| Brought::of(files, files.names()));
        self.names().find(|one| brought.by(name).any(|by| by == *one))
    }

    /// Whether another cookbook depends on this one: its recipes may declare what this one's need.
    pub(super) fn is_depended_on(&self) -> bool {
        let own = self.gathered.name.as_str();
        let files = &self.all.files;
        let depends = |one| undeclared::dependencies(files, one).is_some_and(|all| all.iter().any(|it| it == own));
        files.names().filter(|one| *one != own).any(depends)
    }

    /// A resource type or a method that one of them brings.
    pub(super) fn word(&self, name: &str) -> Option<Verdict> {
        let cookbook = self.bringing(name)?;
        Some(self.verdict("resource", &format!("`{name}`"), cookbook))
    }

    /// A class or a module that one of them brings.
    pub(super) fn constant(&self, name: &str) -> Option<Verdict> {
        let cookbook = self.bringing(name)?;
        Some(self.verdict("constant", &format!("`{name}`"), cookbook))
    }

    /// A part of an attribute that one of them sets: without that cookbook the read fails.
    pub(super) fn attribute(&self, name: &str, below: &[String]) -> Option<Verdict> {
        if below.is_empty() || self.automatic.contains(name) || self.gathered.writes(name) {
            return None;
        }
        let cookbook = self.names().find(|one| *one == name)?;
        let has_attributes = self.all.files.paths(cookbook, "attributes").is_ok_and(|paths| !paths.is_empty());
        has_attributes.then(|| self.verdict("attribute", &format!("`node['{name}']`"), cookbook))
    }

    /// A recipe that is included.
    pub(super) fn recipe(&self, name: &str, cookbook: &str) -> Option<Verdict> {
        let cookbook = self.names().find(|one| *one == cookbook)?;
        Some(self.verdict("cookbook", &format!("the included recipe {name}"), cookbook))
    }

    fn verdict(&self, kind: &'static str, what: &str, cookbook: &str) -> Verdict {
        let message = format!("{what} is of the cookbook {cookbook}, on which the metadata do not depend");
        let is_json = self.gathered.files.iter().any(|file| file == undeclared::METADATA_JSON);
        let file = if is_json { undeclared::METADATA_JSON } else { undeclared::METADATA_RB };
        Verdict::problem(kind, message).hint(Some(undeclared::line_for(cookbook, file)))
    }
}
