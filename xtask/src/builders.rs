//! Writes what is made from the host's schema, so that the two cannot disagree: the Rust SDK's builders, and the types that the
//! Ruby DSL knows.

use std::path::PathBuf;

use anyhow::{Context as _, Result};

use crate::{checkout, say};

/// The generated files: where they are and what they must say.
pub(crate) fn files() -> [(PathBuf, String); 2] {
    let root = checkout::root();
    [
        (root.join("guests/sdk/src/resources/generated.rs"), schema::rust_builders()),
        (root.join("guests/ruby/lib/chef/resource/builtin_types/generated.rb"), schema::ruby_types()),
    ]
}

/// Writes the files anew where they are not as the schema wants them.
pub(crate) fn write() -> Result<()> {
    for (path, text) in files() {
        if std::fs::read_to_string(&path).is_ok_and(|old| old == text) {
            say::line(&format!("{} is as the schema wants it", path.display()));
            continue;
        }
        std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        say::line(&format!("wrote {}", path.display()));
    }
    Ok(())
}
