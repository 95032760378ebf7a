//! Writes the Rust SDK's builders from the host's schema, so that the two cannot disagree.

use std::path::PathBuf;

use anyhow::{Context as _, Result};

use crate::{checkout, say};

/// The generated file.
pub(crate) fn path() -> PathBuf {
    checkout::root().join("guests/sdk/src/resources/generated.rs")
}

/// Writes the file anew where it is not as the schema wants it.
pub(crate) fn write() -> Result<()> {
    let text = schema::rust_builders();
    let path = path();
    if std::fs::read_to_string(&path).is_ok_and(|old| old == text) {
        say::line(&format!("{} is as the schema wants it", path.display()));
        return Ok(());
    }
    std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    say::line(&format!("wrote {}", path.display()));
    Ok(())
}
