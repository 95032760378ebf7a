//! Tells the grants which code asks: the resource whose action runs, or else the recipe that is compiled.

use contract::{Event, Observer, Resource};
use grants::{Asker, Journal, WhoAsks};
use std::sync::Arc;

/// The most bytes of a resource's name that denials show. Guests choose the names.
const MAX_NAME: usize = 512;

/// Follows a run from action to action.
pub(crate) struct Askers {
    journal: Journal,
    /// The actions that run, the innermost last.
    open: Vec<WhoAsks>,
    /// The recipe that is compiled.
    recipe: Option<WhoAsks>,
}

impl Askers {
    pub(crate) fn new(journal: Journal) -> Self {
        Self { journal, open: vec![], recipe: None }
    }

    fn tell(&self) {
        self.journal.asks(self.open.last().or(self.recipe.as_ref()).cloned());
    }
}

fn of_resource(resource: &Resource, action: &str) -> WhoAsks {
    // Every action comes here, and most of them never ask for anything: so shared strings are not copied.
    let (kind, key) = (Arc::clone(&resource.kind), Arc::clone(&resource.key));
    let name_at = resource.declaration.kind.len() + 1;
    let origin = Arc::clone(&resource.declaration.origin);
    let action = action.to_owned();
    WhoAsks::new(move || {
        // The key is the type and, in brackets, the name.
        let name = key.get(name_at..key.len().saturating_sub(1)).unwrap_or(&key);
        Asker {
            kind: Some(kind.to_string()),
            name: Some(text::cut(name, MAX_NAME).into_owned()),
            action: Some(action.clone()),
            cookbook: origin.cookbook.clone(),
            recipe: origin.recipe.clone(),
            file: origin.file.clone(),
            line: origin.line,
        }
    })
}

impl Observer for Askers {
    fn notice(&mut self, event: &Event<'_>) {
        match event {
            Event::PolicyStarted { .. } | Event::PolicyFinished { .. } | Event::PolicyFailed { .. } => {
                self.open.clear();
                self.recipe = None;
            }
            Event::RecipeStarted { recipe } => {
                let (cookbook, recipe) = recipe.split_once("::").unwrap_or((recipe, "default"));
                let (cookbook, recipe) = (Some(cookbook.to_owned()), Some(recipe.to_owned()));
                self.recipe = Some(Asker { cookbook, recipe, ..Asker::default() }.into());
            }
            Event::CompileFinished { .. } => self.recipe = None,
            Event::ActionStarted { resource, action, .. } => self.open.push(of_resource(resource, action)),
            Event::ActionFinished { .. } => drop(self.open.pop()),
            _ => return,
        }
        self.tell();
    }
}
