//! Uses of cookbooks that lie beside the one that is checked, and on which its metadata do not depend.
//!
//! A run fails there, or works because another cookbook of it happens to depend on them.

use super::gather::Gathered;
use super::verdict::Verdict;
use crate::CookbookFolders;
use crate::undeclared::{self, Brought};
use contract::CookbookFiles as _;
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

/// All cookbooks that could be depended on.
pub(super) struct All {
    /// Their files, by the cookbooks' names.
    files: CookbookFolders,
    /// What they bring; read when somebody asks first.
    brought: OnceCell<Brought>,
    /// The words of all their code; read when somebody asks first.
    words: OnceCell<Words>,
}

/// Words with the one cookbook that has them; `None`: several have.
type Words = BTreeMap<String, Option<String>>;

/// The folders whose files may set attributes.
const CODE: [&str; 6] = ["attributes", "recipes", "resources", "providers", "libraries", "definitions"];

impl All {
    pub(super) fn of(folders: &CookbookFolders) -> Self {
        Self { files: undeclared::by_name(folders), brought: OnceCell::new(), words: OnceCell::new() }
    }
}

impl All {
    /// Whether a cookbook other than `own` has a word in its code.
    fn has_word(&self, word: &str, own: &str) -> bool {
        let words = self.words.get_or_init(|| words(&self.files));
        words.get(word).is_some_and(|cookbook| cookbook.as_deref() != Some(own))
    }
}

fn words(files: &CookbookFolders) -> Words {
    let mut words = Words::new();
    for cookbook in files.names() {
        let below = CODE.iter().flat_map(|folder| files.paths(cookbook, folder).unwrap_or_default());
        for path in below.chain(["attributes.rb".to_owned(), "recipe.rb".to_owned()]) {
            let text = files.read(cookbook, &path).unwrap_or_default();
            for word in undeclared::tokens(&String::from_utf8_lossy(&text)) {
                match words.get_mut(word) {
                    Some(known) if known.as_deref() == Some(cookbook) => {}
                    Some(known) => *known = None,
                    None => drop(words.insert(word.to_owned(), Some(cookbook.to_owned()))),
                }
            }
        }
    }
    words
}

/// The cookbooks beside one.
pub(super) struct Beside<'a> {
    all: &'a All,
    gathered: &'a Gathered,
    /// The cookbooks that are checked with it. With a run list, a run has no others.
    checked: &'a [Gathered],
    /// The names of the facts that a node has.
    automatic: &'a BTreeSet<String>,
}

impl<'a> Beside<'a> {
    pub(super) fn new(
        all: &'a All,
        gathered: &'a Gathered,
        checked: &'a [Gathered],
        automatic: &'a BTreeSet<String>,
    ) -> Self {
        Self { all, gathered, checked, automatic }
    }

    /// Whether a top-level attribute is a fact of the machine.
    pub(super) fn is_fact(&self, name: &str) -> bool {
        self.automatic.contains(name)
    }

    /// The names of the cookbooks on which nothing here depends.
    fn names(&self) -> impl Iterator<Item = &'a str> {
        let Gathered { name, reached, .. } = self.gathered;
        self.all.files.names().filter(move |one| one != name && !reached.contains(*one))
    }

    fn bringing(&self, name: &str) -> Option<&'a str> {
        let All { files, brought, .. } = self.all;
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
        let verdict = self.verdict("resource", &format!("`{name}`"), cookbook);
        Some(verdict.always_fails(!self.is_loaded(cookbook)))
    }

    /// A class or a module that one of them brings.
    pub(super) fn constant(&self, name: &str) -> Option<Verdict> {
        let cookbook = self.bringing(name)?;
        let verdict = self.verdict("constant", &format!("`{name}`"), cookbook);
        Some(verdict.always_fails(!self.is_loaded(cookbook)))
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

    /// Whether another cookbook may set an attribute with this key. Keys of several words are not looked for.
    pub(super) fn may_set(&self, key: &str) -> bool {
        !undeclared::tokens(key).eq([key]) || self.all.has_word(key, &self.gathered.name)
    }

    /// The names of the facts that a node has.
    pub(super) fn automatic(&self) -> &'a BTreeSet<String> {
        self.automatic
    }

    /// A recipe that is included.
    pub(super) fn recipe(&self, name: &str, cookbook: &str) -> Option<Verdict> {
        let cookbook = self.names().find(|one| *one == cookbook)?;
        Some(self.verdict("cookbook", &format!("the included recipe {name}"), cookbook))
    }

    /// Whether a run has the cookbook anyway, because another one depends on it.
    fn is_loaded(&self, cookbook: &str) -> bool {
        self.checked.iter().any(|one| one.name == cookbook)
    }

    fn verdict(&self, kind: &'static str, what: &str, cookbook: &str) -> Verdict {
        let message = format!("{what} is of the cookbook {cookbook}, on which the metadata do not depend");
        let is_json = self.gathered.files.iter().any(|file| file == undeclared::METADATA_JSON);
        let file = if is_json { undeclared::METADATA_JSON } else { undeclared::METADATA_RB };
        Verdict::problem(kind, message).hint(Some(undeclared::line_for(cookbook, file)))
    }
}
