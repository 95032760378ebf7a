//! Writes a lock.

use artifact::lock::InvalidAttribute;
use serde_json::{Map, Value};

use super::pretty::{block, indent, write, write_text};
use super::{CookbookLock, CookbookPlace, IncludedLock, Lock};

impl Lock {
    /// The lock's text.
    ///
    /// # Errors
    /// An attribute that cannot be part of a revision.
    pub fn to_text(&self) -> Result<String, InvalidAttribute> {
        let texts = |list: &[String]| Value::from(list.to_vec());
        let revision = Value::from(self.revision_id()?);
        let mut text = String::from("{");
        let mut separator = "\n";
        let mut key = |text: &mut String, key: &str| {
            text.push_str(separator);
            separator = ",\n";
            indent(text, 1);
            write_text(text, key);
            text.push_str(": ");
        };
        let name = self.name.clone().map_or(Value::Null, Value::from);
        for (field, value) in [("revision_id", revision), ("name", name), ("run_list", texts(&self.run_list))] {
            key(&mut text, field);
            write(&mut text, &value, 1);
        }
        if !self.named_run_lists.is_empty() {
            key(&mut text, "named_run_lists");
            let lists: Vec<_> = self.named_run_lists.iter().map(|(name, list)| (name, texts(list))).collect();
            block(&mut text, ['{', '}'], 1, lists.iter().map(|(name, list)| (Some(name.as_str()), list)));
        }
        let cookbooks: Map<String, Value> =
            self.cookbooks.iter().map(|(name, lock)| (name.clone(), lock.to_json())).collect();
        let rest = [
            ("included_policy_locks", Value::Array(self.included.iter().map(IncludedLock::to_json).collect())),
            ("cookbook_locks", Value::Object(cookbooks)),
            ("default_attributes", Value::Object(self.default_attributes.clone())),
            ("override_attributes", Value::Object(self.override_attributes.clone())),
            ("solution_dependencies", self.dependencies.to_json()),
        ];
        for (field, value) in rest {
            key(&mut text, field);
            write(&mut text, &value, 1);
        }
        text.push_str("\n}\n");
        Ok(text)
    }
}

impl IncludedLock {
    fn to_json(&self) -> Value {
        object([
            ("name", Value::from(self.name.clone())),
            ("revision_id", self.revision_id.clone()),
            ("source_options", self.source_options.clone()),
        ])
    }
}

impl CookbookLock {
    /// The entry of a cookbook in `cookbook_locks`.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let mut entry = vec![
            ("version", Value::from(self.version.clone())),
            ("identifier", Value::from(self.identifier.clone())),
            ("dotted_decimal_identifier", self.dotted_decimal_identifier.clone()),
        ];
        match &self.place {
            CookbookPlace::Cached { cache_key, origin } => {
                entry.extend([("cache_key", Value::from(cache_key.clone())), ("origin", origin.clone())]);
            }
            CookbookPlace::Local { source, scm_info } => entry.extend([
                ("source", Value::from(source.clone())),
                ("cache_key", Value::Null),
                ("scm_info", scm_info.clone()),
            ]),
        }
        entry.push(("source_options", Value::Object(self.source_options.clone())));
        object(entry)
    }
}

fn object(members: impl IntoIterator<Item = (&'static str, Value)>) -> Value {
    Value::Object(members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}
