//! Adding entries to the operator's file: comments and the order of existing entries stay.

mod needless;

use crate::covering::Covering;
use crate::denied::Capability;
use crate::file::rule_of;
use crate::policy::Grants;
use crate::{GrantsError, journal::Denial};
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use text::toml_key;
use toml_edit::{Array, DocumentMut, Item, RawString, TableLike, Value};

/// Maximum length of a list's line, in characters. A longer list has one entry per line.
const MAX_LINE: usize = 100;

/// An entry to add to a policy's table.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Addition {
    /// The policy whose table gets the entry.
    pub policy: String,
    /// The key of the table, as in `packages`.
    pub key: String,
    /// The entry as TOML: `"nginx"`, `{ argv = ["ls"] }`, `true`.
    pub value: String,
}

impl Addition {
    /// Returns the entry that would allow a denied thing, if there is one.
    pub fn of(denial: &Denial) -> Option<Self> {
        let value = denial.value.clone()?;
        Some(Self { policy: denial.policy.clone(), key: denial.key.clone(), value })
    }

    /// Checks an entry that was read from elsewhere, such as a recorded run. A line end in it would bring comments and further
    /// keys into the operator's file.
    ///
    /// # Errors
    /// Its key is not that of a right, or its value is not one value on one line.
    pub fn check(&self) -> Result<(), AdditionFault> {
        let Self { policy, key, value } = self;
        if !Capability::is_key(key) {
            return Err(AdditionFault::NoRight { policy: policy.clone(), key: key.clone() });
        }
        if value.contains(['\n', '\r']) || !value.parse::<Value>().is_ok_and(|parsed| is_bare(&parsed)) {
            return Err(AdditionFault::NoEntry { policy: policy.clone(), key: key.clone() });
        }
        Ok(())
    }
}

/// The reasons why an entry cannot be one that a run was denied.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AdditionFault {
    /// The key is not that of a right, as with `deny_paths`.
    #[error("`{key}` of policy `{policy}` is not a right that a run can be denied")]
    NoRight {
        /// The policy, by its name.
        policy: String,
        /// The key, as it was read.
        key: String,
    },
    /// The value has several lines, a comment, or is not a value of TOML.
    #[error("a value for `{key}` of policy `{policy}` is not one TOML value on one line without a comment")]
    NoEntry {
        /// The policy, by its name.
        policy: String,
        /// The key of the entry, such as `paths`.
        key: String,
    },
}

/// A file of grants with added entries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edited {
    /// The whole file with the entries in it.
    pub text: String,
    /// The keys that changed, in the order of the additions.
    pub keys: Vec<EditedKey>,
}

/// A key of a policy's table with added entries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditedKey {
    /// The policy whose table has the key.
    pub policy: String,
    /// The key of the table, as in `packages`.
    pub key: String,
    /// The key's lines as they are now.
    pub lines: String,
    /// True if the file did not have the key.
    pub is_new: bool,
}

/// Lines that a policy's table in a file of grants would have after adding entries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewLines {
    /// The file of grants that would get the lines.
    pub file: PathBuf,
    /// The policy whose table would get them.
    pub policy: String,
    /// True if the table does not have their keys yet.
    pub is_new: bool,
    /// The lines of complete keys.
    pub lines: String,
}

/// Adds entries to the text of a file of grants. Entries that exist, or that existing ones cover, are not added. A right to
/// manage a path takes the place of that to read it.
///
/// # Errors
/// The file is not valid, or would not be valid with the additions: a key or an entry does not exist in grants.
pub fn add(text: &str, name: &str, additions: &[Addition]) -> Result<Edited, GrantsError> {
    new_among(text, name, additions).map(|(edited, _)| edited)
}

/// Does the same, and returns for each entry whether it was added.
pub(crate) fn new_among(text: &str, name: &str, additions: &[Addition]) -> Result<(Edited, Vec<bool>), GrantsError> {
    let mut added = Vec::with_capacity(additions.len());
    let _sound = Grants::parse(text, name)?;
    let syntax = |error: &dyn std::fmt::Display| GrantsError::Syntax {
        file: name.into(),
        line: 1,
        message: error.to_string().replace('\n', " "),
    };
    let mut document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| syntax(&error))?;
    let mut changed: Vec<(String, String, bool)> = Vec::new();
    // Each existing entry is parsed once, even if many are added.
    let mut present: HashMap<(&str, &str), Present> = HashMap::new();
    for addition in additions {
        let value: Value = addition.value.parse().map_err(|error: toml_edit::TomlError| syntax(&error))?;
        let table = table_of(&mut document, &addition.policy).ok_or_else(|| syntax(&"`policy` is not a table"))?;
        let is_new = !table.contains_key(&addition.key);
        let is_known = changed.iter().any(|(policy, key, _)| *policy == addition.policy && *key == addition.key);
        let present = present.entry((&addition.policy, &addition.key));
        let present = present.or_insert_with(|| Present::of(&addition.key, table.get(&addition.key)));
        let is_added = add_to(table, addition, value, present).map_err(|what| syntax(&what))?;
        added.push(is_added);
        if is_added && !is_known {
            changed.push((addition.policy.clone(), addition.key.clone(), is_new));
        }
    }
    for (policy, key, _) in &changed {
        if [Capability::Paths, Capability::ReadPaths].iter().any(|one| one.key() == key) {
            needless::remove(&mut document, name, policy);
        }
    }
    let text = document.to_string();
    let _sound = Grants::parse(&text, name)?;
    let keys = changed.into_iter().filter_map(|(policy, key, is_new)| {
        let lines = table_of(&mut document, &policy).and_then(|table| shown(table, &key))?;
        Some(EditedKey { policy, key, lines, is_new })
    });
    Ok((Edited { keys: keys.collect(), text }, added))
}

/// Returns a key with its value as in the file, without the surrounding comments.
fn shown(table: &mut dyn TableLike, key: &str) -> Option<String> {
    let mut value = table.get(key)?.as_value()?.clone();
    value.decor_mut().clear();
    Some(format!("{} = {value}", toml_key(key)))
}

fn table_of<'d>(document: &'d mut DocumentMut, policy: &str) -> Option<&'d mut dyn TableLike> {
    let all = document.entry("policy").or_insert_with(|| {
        let mut table = toml_edit::Table::new();
        table.set_implicit(true);
        Item::Table(table)
    });
    let inline = all.is_inline_table();
    let all = all.as_table_like_mut()?;
    let own = all.entry(policy).or_insert_with(|| match inline {
        true => Item::Value(Value::InlineTable(toml_edit::InlineTable::new())),
        false => Item::Table(toml_edit::Table::new()),
    });
    own.as_table_like_mut()
}

/// Tells whether a value has nothing but white space around it.
fn is_bare(value: &Value) -> bool {
    let is_blank =
        |text: Option<&RawString>| text.and_then(RawString::as_str).is_none_or(|text| text.trim().is_empty());
    is_blank(value.decor().prefix()) && is_blank(value.decor().suffix())
}

/// The entries of a key.
struct Present {
    capability: Option<Capability>,
    /// The entries as TOML, without surrounding white space and comments.
    plain: HashSet<String>,
    rules: Option<Covering>,
}

impl Present {
    fn of(key: &str, item: Option<&Item>) -> Self {
        let capability = Capability::LISTS.into_iter().find(|one| one.key() == key);
        let mut present = Self { capability, plain: HashSet::new(), rules: capability.map(Covering::new) };
        for value in item.and_then(Item::as_array).into_iter().flatten() {
            let _is_new = present.takes(value);
        }
        present
    }

    /// Adds an entry and returns true, unless an existing entry covers it.
    fn takes(&mut self, value: &Value) -> bool {
        let mut value = value.clone();
        value.decor_mut().clear();
        let plain = value.to_string();
        if self.plain.contains(&plain) {
            return false;
        }
        let Some(capability) = self.capability else { return self.plain.insert(plain) };
        #[cfg(test)]
        tests::PARSED.set(tests::PARSED.get() + 1);
        if let Some((wanted, rules)) = rule_of(capability, &plain).zip(self.rules.as_mut()) {
            // The reach of a wildcard rule is not known here, so only an existing entry for the same exact thing counts.
            let is_exact = wanted.pattern.is_exact();
            if rules.any(&wanted, |_, present| present.pattern.is_exact() || !is_exact) {
                return false;
            }
            rules.add(wanted);
        }
        self.plain.insert(plain)
    }
}

/// Adds one entry to a policy's table. Returns false if it exists.
fn add_to(table: &mut dyn TableLike, addition: &Addition, value: Value, present: &mut Present) -> Result<bool, String> {
    let Addition { key, .. } = addition;
    let item = table.entry(key).or_insert(Item::None);
    match item {
        Item::Value(Value::Array(list)) => {
            let is_new = present.takes(&value);
            if is_new {
                push(list, addition, value);
            }
            Ok(is_new)
        }
        Item::Value(present) if value.is_bool() => {
            let is_there = present.as_bool() == value.as_bool();
            let mut value = value;
            *value.decor_mut() = present.decor().clone();
            *present = value;
            Ok(!is_there)
        }
        Item::None if value.is_bool() => {
            *item = Item::Value(value);
            Ok(true)
        }
        Item::None => {
            let mut list = Array::new();
            let _is_new = present.takes(&value);
            push(&mut list, addition, value);
            *item = Item::Value(Value::Array(list));
            Ok(true)
        }
        _ => Err(format!("`{key}` is not a list, so that nothing can be added to it")),
    }
}

/// Adds an entry at the end of a list, in the list's own style.
fn push(list: &mut Array, addition: &Addition, value: Value) {
    let mut value = value;
    value.decor_mut().clear();
    let has_lines =
        list.iter().any(|one| one.decor().prefix().and_then(RawString::as_str).unwrap_or("").contains('\n'));
    if has_lines {
        let last = list
            .len()
            .checked_sub(1)
            .and_then(|at| list.get(at))
            .and_then(|one| one.decor().prefix()?.as_str().map(str::to_owned));
        let indent = last.as_deref().and_then(|prefix| prefix.rsplit('\n').next()).unwrap_or("    ").to_owned();
        // Comments after the last entry stay with it.
        let trailing = list.trailing().as_str().unwrap_or("\n").trim_end_matches([' ', '\t', '\n']).to_owned();
        if !list.trailing_comma()
            && let Some(last) = list.len().checked_sub(1).and_then(|at| list.get_mut(at))
        {
            last.decor_mut().set_suffix("");
        }
        value.decor_mut().set_prefix(format!("{trailing}\n{indent}"));
        list.push_formatted(value);
        list.set_trailing("\n");
        list.set_trailing_comma(true);
        return;
    }
    list.push(value);
    let length = addition.key.chars().count() + " = ".len() + list.to_string().trim().chars().count();
    if length > MAX_LINE && list.len() > 1 {
        for one in list.iter_mut() {
            one.decor_mut().set_prefix("\n    ");
            one.decor_mut().set_suffix("");
        }
        list.set_trailing("\n");
        list.set_trailing_comma(true);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    thread_local! {
        /// How many entries were read.
        pub(super) static PARSED: Cell<usize> = const { Cell::new(0) };
    }

    #[test]
    fn attack_an_entry_from_elsewhere_is_one_value_of_a_right() {
        let check =
            |key: &str, value: &str| Addition { policy: "web".into(), key: key.into(), value: value.into() }.check();
        for (key, value) in [
            ("paths", "\"/srv/a # b\""),
            ("commands", "{ argv = [\"a\", \"b\"] }"),
            ("clock", "true"),
            ("facts", "\"cpu\""),
        ] {
            check(key, value).unwrap();
        }
        for key in ["deny_paths", "deny_commands", "limits", "on_hidden_fact", "", "paths\n"] {
            assert!(matches!(check(key, "\"a\""), Err(AdditionFault::NoRight { .. })), "{key}");
        }
        for value in [
            "{ argv = [\"true\",\n# looked at by security, keep\n\"x\"], user = \"app\" }",
            "\"a\" # looked at",
            "\"\"\"a\nb\"\"\"",
            "\"a\", \"b\"",
            "\"a",
            "",
        ] {
            assert!(matches!(check("commands", value), Err(AdditionFault::NoEntry { .. })), "{value}");
        }
    }

    #[test]
    fn each_entry_is_read_once() {
        let addition =
            |number: usize| Addition { policy: "web".into(), key: "packages".into(), value: format!("\"p{number}\"") };
        let text = add("", "g.toml", &(0..200).map(addition).collect::<Vec<_>>()).unwrap().text;
        let before = PARSED.get();
        let edited = add(&text, "g.toml", &(100..400).map(addition).collect::<Vec<_>>()).unwrap();
        assert_eq!(PARSED.get() - before, 400);
        let again = add(&edited.text, "g.toml", &(0..400).map(addition).collect::<Vec<_>>()).unwrap();
        assert_eq!(again, Edited { text: edited.text, keys: vec![] });
    }
}
