//! The message of the day.
//!
//! Other cookbooks of the policy add lines to it with [`note`], also after this recipe was compiled: the template's
//! variables are computed right before the file is written.

use wrun_sdk::prelude::*;

pub fn cookbook() -> Cookbook {
    cookbook!().attributes(attributes).recipe("default", default)
}

/// Adds a line to the message. The same topic twice is one line, the later one.
pub fn note(topic: &str, text: &str) -> Result {
    node::DEFAULT.set(["motd", "notes", topic], text)
}

fn attributes() -> Result {
    node::DEFAULT.set("motd.title", "Welcome.")?;
    node::DEFAULT.set("motd.notes", json!({}))
}

fn default() -> Result {
    template("/etc/motd")
        .owner("root")
        .group("root")
        .mode("0644")
        .variables(lazy(|| {
            Ok(json!({ "title": node::get::<String>("motd.title")?, "notes": node::get::<Value>("motd.notes")? }))
        }))
        .declare()
}
