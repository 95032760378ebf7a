//! `ohai_hint`: a file that gives the gathering of facts a hint that it cannot find itself.

use super::text::file_name;
use super::{Composite, Machine, child, children, notifying};
use crate::resources::asked;
use contract::{Composition, ErrorKind, Raised, Timing, Wanted};
use schema::types::ohai::OhaiHintProperties;
use serde_json::{Value, json};

/// The folder of hints.
const FOLDER: &str = "/etc/chef/ohai/hints";

/// The name of the child that gathers the facts again.
const FACTS: &str = "reload ohai post hint removal";

/// The composite of `ohai_hint`: it writes a hint file.
pub(super) struct OhaiHint;

impl Composite for OhaiHint {
    fn compose(&self, wanted: &Wanted<'_>, _machine: &mut Machine<'_, '_>) -> Result<Composition, Raised> {
        let OhaiHintProperties { hint_name, content } = asked::properties(wanted)?;
        let name = file_name("hint_name", hint_name.strip_suffix(".json").unwrap_or(&hint_name))?;
        let path = format!("{FOLDER}/{name}.json");
        if wanted.action == "delete" {
            let facts = format!("ohai[{FACTS}]");
            return Ok(children([
                notifying(child("file", &path, "delete", []), Timing::Delayed, &facts, "reload"),
                child("ohai", FACTS, "nothing", []),
            ]));
        }
        let text = match content {
            Some(Value::Object(entries)) if !entries.is_empty() => serde_json::to_string_pretty(&entries)
                .map_err(|error| Raised::new(ErrorKind::NotJson, error.to_string()))?,
            _ => String::new(),
        };
        Ok(children([
            child("directory", FOLDER, "create", [("recursive", json!(true))]),
            child("file", &path, "create", [("content", json!(text))]),
        ]))
    }
}
