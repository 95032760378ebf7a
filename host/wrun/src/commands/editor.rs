//! A person's editor: opens a draft, and keeps what was typed if it cannot be saved.

use anyhow::{Context as _, bail};
use std::io::Write as _;
use std::path::Path;
use std::process::Command;
use tempfile::NamedTempFile;
use text::escape_line;

/// The largest draft, in bytes.
const MAX_DRAFT: u64 = 16 << 20;

/// The editor of those who have set none.
const USUAL_EDITOR: &str = "vi";

/// What somebody wrote in an editor.
pub(super) struct Draft {
    file: NamedTempFile,
    pub(super) text: String,
}

impl Draft {
    /// Opens a text in the person's editor, in a file that only this user can read, and waits until the editor ends.
    pub(super) fn edit(what: &str, text: &str) -> anyhow::Result<Self> {
        let mut file = tempfile::Builder::new().prefix(&format!("wrun-{what}-")).suffix(".json").tempfile()?;
        file.write_all(text.as_bytes())?;
        open_editor(file.path())?;
        // Editors replace the file.
        let text = plain_files::read_text(file.path(), MAX_DRAFT);
        let text = text.with_context(|| format!("{} cannot be read", file.path().display()))?;
        Ok(Self { file, text })
    }

    /// The draft's file, as errors name it.
    pub(super) fn place(&self) -> String {
        self.file.path().display().to_string()
    }

    /// What was saved. After an error the draft is kept, since somebody typed it: the error says where. `advice` follows.
    pub(super) fn saved<T>(
        self,
        saved: anyhow::Result<T>,
        advice: impl FnOnce(&anyhow::Error) -> &'static str,
    ) -> anyhow::Result<T> {
        match saved {
            Ok(value) => Ok(value),
            Err(error) => {
                let (_, kept) = self.file.keep()?;
                let advice = advice(&error);
                Err(error.context(format!("nothing was saved; your version is in {}{advice}", kept.display())))
            }
        }
    }
}

/// Starts the person's editor and waits until it ends.
fn open_editor(file: &Path) -> anyhow::Result<()> {
    let named = ["VISUAL", "EDITOR"].into_iter().filter_map(|variable| std::env::var(variable).ok());
    let editor = named.into_iter().find(|editor| !editor.trim().is_empty()).unwrap_or_else(|| USUAL_EDITOR.to_owned());
    let mut words = editor.split_whitespace();
    let program = words.next().unwrap_or(USUAL_EDITOR);
    let ended = Command::new(program).args(words).arg(file).status();
    let ended = ended.with_context(|| {
        format!("the editor {} cannot be started; set VISUAL or EDITOR to one that can", escape_line(&editor))
    })?;
    if !ended.success() {
        bail!("the editor {} failed ({ended}); nothing was changed", escape_line(&editor));
    }
    Ok(())
}
