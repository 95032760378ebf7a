//! Generates files from the host's schema, so that they always agree with it: the Rust SDK's builders, the types of the Ruby
//! DSL, and the book's pages about resource types.

use std::path::PathBuf;

use anyhow::{Context as _, Result};

use crate::{checkout, reference, say};

/// Returns the generated files: their paths and contents.
pub(crate) fn files() -> Result<Vec<(PathBuf, String)>> {
    let root = checkout::root();
    let mut files = vec![
        (root.join("guests/sdk/src/resources/generated.rs"), schema::rust_builders()),
        (root.join("guests/ruby/lib/chef/resource/builtin_types/generated.rb"), schema::ruby_types()),
    ];
    files.extend(reference::pages()?);
    Ok(files)
}

/// Rewrites the files that differ from the schema.
pub(crate) fn write() -> Result<()> {
    let mut unchanged = 0;
    for (path, text) in files()? {
        if std::fs::read_to_string(&path).is_ok_and(|old| old == text) {
            unchanged += 1;
            continue;
        }
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
        }
        std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        say::line(&format!("wrote {}", path.display()));
    }
    say::line(&format!("{unchanged} files are as the schema wants them"));
    Ok(())
}
