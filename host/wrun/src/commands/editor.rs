//! Opens a draft in the user's editor, and keeps the text if it cannot be saved.

use anyhow::{Context as _, bail};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use std::fs::{OpenOptions, Permissions};
use std::io::Write as _;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tempfile::TempDir;
use text::escape_line;

/// Largest size of a draft, in bytes.
const MAX_DRAFT: u64 = 16 << 20;

/// The editor that is used if the user has not set one.
const USUAL_EDITOR: &str = "vi";

/// A text that was written in an editor. It is in its own directory, which is removed with all backup files of the editor.
pub(super) struct Draft {
    folder: TempDir,
    path: PathBuf,
    pub(super) text: String,
}

impl Draft {
    /// Opens a text in the user's editor and waits until the editor ends. Only this user can read the file.
    pub(super) fn edit(what: &str, text: &str) -> anyhow::Result<Self> {
        let only_owner = Permissions::from_mode(0o700);
        let folder = tempfile::Builder::new().prefix(&format!("wrun-{what}-")).permissions(only_owner).tempdir()?;
        let path = folder.path().join(format!("{what}.json"));
        OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?.write_all(text.as_bytes())?;
        let mut draft = Self { folder, path, text: text.to_owned() };
        if let Err(error) = open_editor(&draft.path) {
            // An editor that failed may have saved the file before.
            let is_as_before = plain_files::read(&draft.path, MAX_DRAFT).is_ok_and(|read| read == text.as_bytes());
            return if is_as_before {
                Err(error.context("nothing was changed"))
            } else {
                draft.saved(Err(error), |_| "")
            };
        }
        // Editors replace the file.
        let read = plain_files::read_text(&draft.path, MAX_DRAFT);
        match read.with_context(|| format!("{} cannot be read", draft.path.display())) {
            Ok(text) => {
                draft.text = text;
                Ok(draft)
            }
            Err(error) => draft.saved(Err(error), |_| ""),
        }
    }

    /// Returns the path of the draft's file for error messages.
    pub(super) fn place(&self) -> String {
        self.path.display().to_string()
    }

    /// Returns the result of saving. After an error the draft is kept, since it contains the user's work. The error names its
    /// path, followed by `advice`.
    pub(super) fn saved<T>(
        self,
        saved: anyhow::Result<T>,
        advice: impl FnOnce(&anyhow::Error) -> &'static str,
    ) -> anyhow::Result<T> {
        match saved {
            Ok(value) => Ok(value),
            Err(error) => {
                let _kept = self.folder.keep();
                let advice = advice(&error);
                Err(error.context(format!("nothing was saved; your version is in {}{advice}", self.path.display())))
            }
        }
    }
}

/// Delays signals while an editor uses the terminal. A key such as Ctrl-C in the editor must not end wrun, which would leave
/// the draft behind.
struct HeldSignals {
    /// Whether signals have their usual effect again.
    passes: Arc<AtomicBool>,
    /// Whether a signal asked wrun to end.
    ends: Arc<AtomicBool>,
}

impl HeldSignals {
    fn hold() -> std::io::Result<Self> {
        let held = Self { passes: Arc::default(), ends: Arc::default() };
        for signal in [SIGINT, SIGQUIT, SIGHUP, SIGTERM] {
            signal_hook::flag::register_conditional_default(signal, Arc::clone(&held.passes))?;
        }
        for signal in [SIGHUP, SIGTERM] {
            signal_hook::flag::register(signal, Arc::clone(&held.ends))?;
        }
        Ok(held)
    }
}

impl Drop for HeldSignals {
    fn drop(&mut self) {
        self.passes.store(true, Ordering::SeqCst);
    }
}

/// Starts the user's editor and waits until it ends.
fn open_editor(file: &Path) -> anyhow::Result<()> {
    let named = ["VISUAL", "EDITOR"].into_iter().filter_map(|variable| std::env::var(variable).ok());
    let editor = named.into_iter().find(|editor| !editor.trim().is_empty()).unwrap_or_else(|| USUAL_EDITOR.to_owned());
    let mut words = editor.split_whitespace();
    let program = words.next().unwrap_or(USUAL_EDITOR);
    let held = HeldSignals::hold()?;
    let ended = Command::new(program).args(words).arg(file).status();
    let ended = ended.with_context(|| {
        format!("the editor {} cannot be started; set VISUAL or EDITOR to one that can", escape_line(&editor))
    })?;
    if !ended.success() {
        bail!("the editor {} failed ({ended})", escape_line(&editor));
    }
    if held.ends.load(Ordering::SeqCst) {
        bail!("wrun was asked to end while the editor {} was open", escape_line(&editor));
    }
    Ok(())
}
