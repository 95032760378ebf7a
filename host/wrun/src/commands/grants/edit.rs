//! Changes a grants file: shows the change, asks for confirmation, and replaces the file atomically.

use super::add::{Consent, Wanted, add};
use crate::printer::{Printer, Tone, diff_tone};
use anyhow::{Context as _, bail};
use grants::{Addition, ElevatedAccounts, Grants};
use similar::TextDiff;
use std::fs::{File, OpenOptions};
use std::io::{IsTerminal as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, fchown};
use std::path::{Path, PathBuf};
use text::escape;

/// The mode of a new file: the grants hold no secrets, and ordinary users plan with them.
const NEW_MODE: u32 = 0o644;

/// Number of unchanged lines that are shown around a change.
const CONTEXT: usize = 3;

/// A grants file with its old and new content.
pub(super) struct Change {
    pub(super) path: PathBuf,
    pub(super) before: String,
    pub(super) after: String,
}

/// The result of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Written {
    Done,
    /// The user declined the change.
    Declined,
}

/// Shows changes, asks for confirmation unless `yes`, and writes them. `options` names the options that avoid the question.
///
/// # Errors
/// Nobody can be asked, or a file cannot be written.
pub(super) fn apply(changes: &[Change], yes: bool, options: &str, printer: Printer) -> anyhow::Result<Written> {
    for change in changes {
        show(change, printer);
    }
    if !yes && !ask(changes, options, printer)? {
        printer.note(Tone::Plain, "nothing was changed");
        return Ok(Written::Declined);
    }
    for change in changes {
        write(change).with_context(|| format!("the grants {} cannot be written", change.path.display()))?;
        printer.note(Tone::Plain, &format!("wrote {}", change.path.display()));
    }
    Ok(Written::Done)
}

/// Adds the entries of a suggestion to a file. `elevated` are the machine's accounts with rights equivalent to root.
///
/// # Errors
/// The file has a mistake or cannot be written, or nobody can be asked.
pub(crate) fn write_suggestion(
    path: &Path,
    additions: Vec<Addition>,
    elevated: &ElevatedAccounts,
    consent: Consent,
    printer: Printer,
) -> anyhow::Result<Written> {
    let before = match std::fs::read_to_string(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        other => other.with_context(|| format!("the grants {} cannot be read", path.display()))?,
    };
    let all = Grants::parse(&before, &path.display().to_string())?;
    let wanted = Wanted { path: path.to_owned(), before, additions };
    let written = add(&[wanted], &all, elevated, consent, printer)?;
    if written.is_none() {
        printer.note(Tone::Plain, &format!("{} has all of it already", path.display()));
    }
    Ok(written.unwrap_or(Written::Done))
}

/// Prints the change as a unified diff on standard output.
fn show(change: &Change, printer: Printer) {
    let path = change.path.display().to_string();
    let diff = TextDiff::from_lines(change.before.as_str(), change.after.as_str());
    let text = diff
        .unified_diff()
        .context_radius(CONTEXT)
        .header(&format!("{path} (before)"), &format!("{path} (after)"))
        .to_string();
    for (at, line) in text.lines().enumerate() {
        printer.line(diff_tone(at, line), &escape(line));
    }
}

/// Asks the user at the terminal for confirmation.
fn ask(changes: &[Change], options: &str, printer: Printer) -> anyhow::Result<bool> {
    let input = std::io::stdin();
    if !input.is_terminal() {
        bail!("nobody can be asked: standard input is not a terminal; look at the change, then say {options}");
    }
    let names: Vec<_> = changes.iter().map(|change| change.path.display().to_string()).collect();
    printer.note(Tone::Heading, &format!("Write this to {}? [y/N]", names.join(" and ")));
    let mut answer = String::new();
    input.read_line(&mut answer).context("the answer cannot be read")?;
    Ok(matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}

/// Replaces the old file with the new one atomically. Owner and mode stay. If the path is a symbolic link, its target is
/// replaced.
fn write(change: &Change) -> anyhow::Result<()> {
    let path = match change.path.canonicalize() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => change.path.clone(),
        other => other?,
    };
    let there = match std::fs::metadata(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        other => Some(other?),
    };
    let now = there.as_ref().map(|_| std::fs::read_to_string(&path)).transpose()?.unwrap_or_default();
    if now != change.before {
        bail!("somebody has changed it meanwhile; try again");
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let name = path.file_name().context("it is not a file's name")?.to_string_lossy();
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let unfinished = folder.join(format!(".{name}.{}", std::process::id()));
    let mode = there.as_ref().map_or(NEW_MODE, |there| there.mode() & 0o777);
    let written = (|| {
        let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(&unfinished)?;
        if let Some(there) = &there {
            let made = file.metadata()?;
            if (made.uid(), made.gid()) != (there.uid(), there.gid()) {
                fchown(&file, Some(there.uid()), Some(there.gid()))?;
            }
        }
        file.write_all(change.after.as_bytes())?;
        file.sync_all()?;
        std::fs::rename(&unfinished, &path)?;
        File::open(folder)?.sync_all()
    })();
    if written.is_err() {
        let _ = std::fs::remove_file(&unfinished);
    }
    Ok(written?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn a_file_is_replaced_whole_behind_its_link_and_keeps_its_mode() {
        let folder = tempfile::tempdir().unwrap();
        let (real, link) = (folder.path().join("real.toml"), folder.path().join("grants.toml"));
        std::fs::write(&real, "# old\n").unwrap();
        std::fs::set_permissions(&real, std::fs::Permissions::from_mode(0o600)).unwrap();
        std::os::unix::fs::symlink("real.toml", &link).unwrap();
        let change =
            |before: &str, after: &str| Change { path: link.clone(), before: before.into(), after: after.into() };
        write(&change("# old\n", "# new\n")).unwrap();
        assert_eq!(std::fs::read_to_string(&real).unwrap(), "# new\n");
        assert_eq!(std::fs::metadata(&real).unwrap().mode() & 0o777, 0o600);
        assert!(link.is_symlink());
        // A change that another process made in the meantime is not lost.
        let error = write(&change("# old\n", "# newer\n")).unwrap_err().to_string();
        assert!(error.contains("meanwhile"), "{error}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2, "nothing is left behind");
    }
}
