//! The guest's state between turns: closures, its resource types, and the current scope. A component has one thread and one
//! table.

use crate::bindings::wrun::types::types::{Origin, Raised};
use crate::cookbook::Cookbook;
use crate::custom::derive::Definition;
use crate::error::Result;
use serde_json::Value;
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::panic::Location;
use std::rc::Rc;

/// The result of a closure.
pub(crate) enum Got {
    Json(Value),
    Bytes(Vec<u8>),
}

pub(crate) type Closure = Rc<dyn Fn(Option<Value>) -> Result<Got>>;

/// The closure of a handler.
pub(crate) type Handler = Rc<dyn Fn(&Value) -> Result>;

/// The scope of the running code. Its declarations belong to this context, cookbook and recipe.
#[derive(Clone, Default)]
pub(crate) struct Scope {
    pub(crate) context: u32,
    pub(crate) cookbook: String,
    pub(crate) recipe: String,
}

#[derive(Default)]
pub(crate) struct Table {
    pub(crate) cookbooks: Vec<Rc<Cookbook>>,
    last: u32,
    pub(crate) closures: HashMap<u32, Closure>,
    /// The closures and resources to remove when a context ends.
    of_context: HashMap<u32, (Vec<u32>, Vec<u32>)>,
    pub(crate) types: BTreeMap<String, Rc<Definition>>,
    /// Resources of this policy's own types, and their blocks.
    pub(crate) made: HashMap<u32, Made>,
    /// Contexts whose resources converge where they are declared.
    pub(crate) unified: HashSet<u32>,
    pub(crate) scopes: Vec<Scope>,
    pub(crate) handlers: Vec<(String, Handler)>,
    /// True if the run only collects the grants that the policy could need. Then closures of unchanged resources run, too.
    pub(crate) survey: bool,
}

/// A declared resource that this guest implements.
#[derive(Clone)]
pub(crate) struct Made {
    pub(crate) kind: String,
    pub(crate) name: String,
    pub(crate) scope: Scope,
    pub(crate) block: Option<Rc<dyn Fn() -> Result>>,
}

thread_local!(static TABLE: RefCell<Table> = RefCell::default());

/// Calls a function with the table. The function must not run code of a cookbook, because that could use the table again.
pub(crate) fn table<T>(look: impl FnOnce(&mut Table) -> T) -> T {
    TABLE.with_borrow_mut(look)
}

impl Table {
    /// Keeps a closure until the context ends.
    pub(crate) fn keep(&mut self, context: u32, closure: Closure) -> u32 {
        self.last += 1;
        self.closures.insert(self.last, closure);
        self.of_context.entry(context).or_default().0.push(self.last);
        self.last
    }

    /// Keeps a closure until the policy ends.
    pub(crate) fn keep_always(&mut self, closure: Closure) -> u32 {
        self.last += 1;
        self.closures.insert(self.last, closure);
        self.last
    }

    pub(crate) fn made(&mut self, context: u32, id: u32, made: Made) {
        self.made.insert(id, made);
        self.of_context.entry(context).or_default().1.push(id);
    }

    pub(crate) fn forget(&mut self, context: u32) {
        self.unified.remove(&context);
        let (closures, resources) = self.of_context.remove(&context).unwrap_or_default();
        closures.iter().for_each(|number| drop(self.closures.remove(number)));
        resources.iter().for_each(|id| drop(self.made.remove(id)));
    }
}

/// Returns the scope of the running code.
pub(crate) fn scope() -> Scope {
    table(|table| table.scopes.last().cloned().unwrap_or_default())
}

/// Runs code of a cookbook in its scope.
pub(crate) fn within<T>(scope: Scope, code: impl FnOnce() -> T) -> T {
    table(|table| table.scopes.push(scope));
    let done = code();
    table(|table| table.scopes.pop());
    done
}

/// Returns the origin of a declaration: the scope, and the caller's file relative to its cookbook's folder.
pub(crate) fn origin(place: &Location<'_>) -> Origin {
    origin_in(&scope(), place)
}

/// Does the same as [`origin`] for a given scope.
pub(crate) fn origin_in(scope: &Scope, place: &Location<'_>) -> Origin {
    let file = match below_cookbook(place.file(), &scope.cookbook) {
        (Some(cookbook), below) if cookbook != scope.cookbook => format!("../{cookbook}/{below}"),
        (_, below) => below.to_owned(),
    };
    Origin { cookbook: scope.cookbook.clone(), recipe: scope.recipe.clone(), file, line: place.line() }
}

/// Returns the folder of this crate's own sources, as the compiler names it.
fn own_sources() -> &'static str {
    file!().strip_suffix("table.rs").unwrap_or_default()
}

/// The prefix of places in Rust's own libraries.
const STANDARD_LIBRARY: &str = "/rustc/";

/// Returns a place as a frame of a backtrace: `COOKBOOK/FILE:LINE: in COOKBOOK::RECIPE`. Returns `None` for places in this
/// crate or in Rust's own libraries, because they do not help an author. The latter occur if a function is passed as a value.
pub(crate) fn frame(place: &Location<'_>) -> Option<String> {
    if place.file().starts_with(own_sources()) || place.file().starts_with(STANDARD_LIBRARY) {
        return None;
    }
    let Scope { cookbook, recipe, .. } = scope();
    let end = match recipe.as_str() {
        "" => String::new(),
        // The action of a resource: its type and its name.
        action if action.contains(' ') => format!(": in {action}"),
        recipe => format!(": in {cookbook}::{recipe}"),
    };
    Some(format!("{}{end}", short(place)))
}

/// Returns a place as `COOKBOOK/FILE:LINE` if it is in a cookbook of the policy, or else as the compiler names it.
pub(crate) fn short(place: &Location<'_>) -> String {
    let (cookbook, below) = below_cookbook(place.file(), &scope().cookbook);
    let start = cookbook.map(|cookbook| format!("{cookbook}/")).unwrap_or_default();
    format!("{start}{below}:{}", place.line())
}

/// Returns the cookbook whose folder contains a file, and the path inside the folder. It tries the running cookbook first,
/// then the policy's others. Returns `None` and the whole path if no cookbook contains the file.
fn below_cookbook<'a>(path: &'a str, running: &str) -> (Option<String>, &'a str) {
    let below = inside(path, running);
    if below != path {
        return (Some(running.to_owned()), below);
    }
    let names = table(|table| table.cookbooks.iter().map(|cookbook| cookbook.name()).collect::<Vec<_>>());
    let others = names.into_iter().map(|name| (name, inside(path, name))).filter(|(_, below)| *below != path);
    match others.min_by_key(|(_, below)| below.len()) {
        Some((name, below)) => (Some(name.to_owned()), below),
        None => (None, path),
    }
}

/// Returns the part of a path after the last folder of this name, or the whole path.
fn inside<'a>(path: &'a str, folder: &str) -> &'a str {
    let below = |rest: &'a str| rest.strip_prefix(folder)?.strip_prefix('/');
    let deeper = path.rmatch_indices('/').find_map(|(at, _)| below(path.get(at + 1..)?));
    deeper.or_else(|| below(path)).unwrap_or(path)
}

pub(crate) fn no_such(what: &str, name: &str) -> Raised {
    Raised {
        class: "Wrun::GuestError".into(),
        message: format!("this policy has no {what} {name}"),
        passed: vec![],
        backtrace: vec![],
        object: None,
        hint: None,
    }
}

#[cfg(test)]
mod tests {
    use super::inside;

    #[test]
    fn a_file_is_named_from_its_cookbook_on() {
        assert_eq!(inside("policies/core/src/lib.rs", "core"), "src/lib.rs");
        assert_eq!(inside("core/src/lib.rs", "core"), "src/lib.rs");
        assert_eq!(inside("core/web/core/src/core.rs", "core"), "src/core.rs");
        assert_eq!(inside("/home/encore/src/lib.rs", "core"), "/home/encore/src/lib.rs");
        assert_eq!(inside("src/lib.rs", ""), "src/lib.rs");
    }
}
