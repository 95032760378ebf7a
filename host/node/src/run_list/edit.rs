//! Changes of a run list, for the commands that change nodes and roles.

use super::{RunList, RunListError};
use crate::layers::Place;

/// A change of a run list.
#[derive(Debug, Clone, PartialEq)]
pub enum RunListEdit {
    /// Replaces the whole list.
    Set(Vec<String>),
    /// Adds items; those that are in the list already stay where they are.
    Add {
        /// The items as they were written.
        items: Vec<String>,
        /// The place of the first one.
        place: Place,
    },
    /// Removes items from the list.
    Remove(Vec<String>),
    /// Replaces an item at its place in the list.
    Replace {
        /// The item that is there.
        old: String,
        /// The item that takes its place.
        new: String,
    },
}

impl RunList {
    /// Returns the list after a change, each item once.
    ///
    /// # Errors
    /// An item is invalid, or is not in the list where it must be.
    pub fn changed(&self, edit: &RunListEdit) -> Result<Self, RunListError> {
        let known = self.to_strings();
        let list = match edit {
            RunListEdit::Set(items) => Self::parse(items)?,
            RunListEdit::Add { items, place } => {
                let new: Vec<_> = Self::parse(items)?.to_strings();
                let new = new.into_iter().filter(|item| !known.contains(item));
                let at = match place {
                    Place::Last => known.len(),
                    Place::At(place) => place.saturating_sub(1).min(known.len()),
                    Place::Before(item) => self.position(item)?,
                    Place::After(item) => self.position(item)? + 1,
                };
                let (before, after) = known.split_at_checked(at).unwrap_or((&known, &[]));
                let all = before.iter().cloned().chain(new).chain(after.iter().cloned());
                Self::parse(all.collect::<Vec<_>>())?
            }
            RunListEdit::Remove(items) => {
                let gone = Self::parse(items)?.to_strings();
                gone.iter().try_for_each(|item| self.position(item).map(drop))?;
                Self::parse(known.iter().filter(|item| !gone.contains(item)))?
            }
            RunListEdit::Replace { old, new } => {
                let at = self.position(old)?;
                let new = Self::parse([new])?.to_strings();
                let item = |(place, item): (usize, &String)| if place == at { new.concat() } else { item.clone() };
                Self::parse(known.iter().enumerate().map(item))?
            }
        };
        Ok(list.without_repeats())
    }

    fn position(&self, item: &str) -> Result<usize, RunListError> {
        let items = self.to_strings();
        let wanted = Self::parse([item])?.to_strings();
        let at = items.iter().position(|known| wanted.contains(known));
        at.ok_or_else(|| RunListError::NotInList { item: wanted.concat(), items })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_changed_as_a_whole_or_not_at_all() {
        let list = RunList::parse(["a", "role[b]", "c"]).unwrap();
        let texts = |items: &[&str]| items.iter().map(|item| (*item).to_owned()).collect::<Vec<_>>();
        let check = |edit: RunListEdit, expect: Result<&str, &str>| {
            let changed =
                list.changed(&edit).map(|list| list.to_strings().join(" ")).map_err(|error| error.to_string());
            assert_eq!(changed.as_deref().map_err(String::as_str), expect, "{edit:?}");
        };
        let add = |items: &[&str], place: Place| RunListEdit::Add { items: texts(items), place };
        check(RunListEdit::Set(texts(&["x", "x"])), Ok("recipe[x]"));
        check(add(&["x", "a"], Place::Last), Ok("recipe[a] role[b] recipe[c] recipe[x]"));
        check(add(&["x"], Place::Before("role[b]".into())), Ok("recipe[a] recipe[x] role[b] recipe[c]"));
        check(add(&["x"], Place::After("recipe[a]".into())), Ok("recipe[a] recipe[x] role[b] recipe[c]"));
        let missing = "recipe[z] is not in the run list; it has: recipe[a], role[b], recipe[c]";
        check(add(&["x"], Place::After("z".into())), Err(missing));
        check(RunListEdit::Remove(texts(&["a", "z"])), Err(missing));
        check(RunListEdit::Remove(texts(&["c", "a"])), Ok("role[b]"));
        let replace = |old: &str, new: &str| RunListEdit::Replace { old: old.into(), new: new.into() };
        check(replace("role[b]", "d"), Ok("recipe[a] recipe[d] recipe[c]"));
        check(replace("role[b]", "c"), Ok("recipe[a] recipe[c]"));
        check(replace("z", "c"), Err(missing));
    }
}
