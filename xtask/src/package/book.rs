//! Installs the pages of the book for a package, with all linked files, and with included files inserted.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail};

use super::tree::{install, set_mode};

/// The file that only mdBook reads.
const FOR_MDBOOK: &str = "book.toml";

/// The text before and after the name of an included file.
const INCLUDE: [&str; 2] = ["{{#include ", "}}"];

/// Copies a folder of pages recursively. Messages and `--help` refer to the pages as `docs/PAGE.md`.
pub(super) fn install_book(from: &Path, to: &Path) -> Result<()> {
    for entry in fs::read_dir(from).with_context(|| format!("cannot read {}", from.display()))? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default();
        let target = to.join(name);
        if path.is_dir() {
            install_book(&path, &target)?;
        } else if path.extension().is_some_and(|ending| ending == "md") {
            install(&path, &target)?;
            fs::write(&target, expanded(&path)?).with_context(|| format!("cannot write {}", target.display()))?;
            set_mode(&target, 0o644)?;
        } else if name != FOR_MDBOOK {
            install(&path, &target)?;
        }
    }
    Ok(())
}

/// Returns a page with its included files inserted, as mdBook shows it.
fn expanded(page: &Path) -> Result<String> {
    let text = fs::read_to_string(page).with_context(|| format!("cannot read {}", page.display()))?;
    let read = |name: &str| {
        let file = page.with_file_name(name);
        fs::read_to_string(&file).with_context(|| format!("{} includes {}", page.display(), file.display()))
    };
    let text = expand(&text, &read)?;
    if text.contains("{{#") {
        bail!("{} has a word of mdBook that the package does not know: only {{{{#include FILE}}}} is", page.display());
    }
    Ok(text)
}

fn expand(mut text: &str, read: &dyn Fn(&str) -> Result<String>) -> Result<String> {
    let [begin, end] = INCLUDE;
    let mut whole = String::new();
    while let Some((before, rest)) = text.split_once(begin) {
        let (name, after) = rest.split_once(end).context("an include does not end")?;
        whole.push_str(before);
        // The line with the file's name already has a line break.
        whole.push_str(read(name.trim())?.trim_end_matches('\n'));
        text = after;
    }
    Ok(whole + text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn included_files_stand_in_their_places() {
        let read = |name: &str| match name {
            "a.toml" => Ok("a = 1\n".to_owned()),
            other => bail!("{other} does not exist"),
        };
        assert_eq!(expand("x\n{{#include a.toml}}\ny\n", &read).unwrap(), "x\na = 1\ny\n");
        assert_eq!(expand("x\n", &read).unwrap(), "x\n");
        assert!(expand("{{#include b.toml}}", &read).is_err());
        assert!(expand("{{#include a.toml", &read).is_err());
    }
}
