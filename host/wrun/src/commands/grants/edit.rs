//! Changes a grants file: shows the change, asks for confirmation, and replaces the file atomically.

use super::add::{Consent, Wanted, add};
use crate::printer::{Printer, Tone, diff_tone};
use anyhow::{Context as _, anyhow, bail};
use assemble::GrantsFiles;
use grants::{Addition, Grants, MachineView};
use plain_files::{Folder, Kind};
use similar::TextDiff;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, IsTerminal as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, fchown};
use std::path::{Path, PathBuf};
use text::escape;

/// The mode of a new file: the grants hold no secrets, and ordinary users plan with them.
const NEW_MODE: u32 = 0o644;

/// The mode of a folder that is made for a suggestion.
const FOLDER_MODE: u32 = 0o755;

/// The largest file of grants that is read, in bytes.
const MAX_FILE: u64 = 16 << 20;

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

/// Adds the entries of a suggestion to a file. `machine` and the node's own grants decide which entries are risky.
///
/// # Errors
/// The file has a mistake or cannot be written, or nobody can be asked. Without a question, also: the node's grants cannot be
/// read, or have a policy's table in another file.
pub(crate) fn write_suggestion(
    path: &Path,
    additions: Vec<Addition>,
    machine: &MachineView,
    settings: &assemble::Settings,
    consent: Consent,
    printer: Printer,
) -> anyhow::Result<Written> {
    let before = own_text(path).with_context(|| format!("the suggestion is not written to {}", path.display()))?;
    let _is_valid = Grants::parse(&before, &path.display().to_string())?;
    let all = known_grants(path, &additions, settings, consent)?;
    let wanted = Wanted { path: path.to_owned(), before, additions };
    let written = add(&[wanted], &all, machine, consent, printer)?;
    if written.is_none() {
        printer.note(Tone::Plain, &format!("{} has all of it already", path.display()));
    }
    Ok(written.unwrap_or(Written::Done))
}

/// Returns the node's own grants, by which entries of a suggestion are judged. If somebody is asked, grants that cannot be read
/// count as none.
fn known_grants(
    path: &Path,
    additions: &[Addition],
    settings: &assemble::Settings,
    consent: Consent,
) -> anyhow::Result<Grants> {
    let read = || anyhow::Ok(GrantsFiles::read(&settings.grants, false)?.parse()?);
    if !consent.yes || consent.dangerous {
        return Ok(read().unwrap_or_else(|_| Grants::nothing()));
    }
    let known = read().context("--yes adds nothing without the node's own grants, which it has to know")?;
    let place = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    for policy in additions.iter().map(|addition| &addition.policy) {
        if let Some(file) = known.file_of(policy).filter(|file| place(Path::new(file)) != place(path)) {
            bail!(
                "policy {policy} has a table in {file}, and --yes judges entries together with those that the policy has\n\n\
                 write to that file (--write {file}), or without --yes"
            );
        }
    }
    Ok(known)
}

/// Returns the text of a file that a suggestion is added to; empty for a file that does not exist.
///
/// The file may lie beside an author's cookbooks. A link there would have the author's entries written to the grants of the
/// node. So the file is not a link, and as root neither the file nor what leads to it may be somebody else's.
fn own_text(path: &Path) -> anyhow::Result<String> {
    const HINT: &str = "name a file in a folder of your own";
    let name = path.file_name().context("it is not a file's name")?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let is_root = rustix::process::geteuid().is_root();
    let folder = if is_root { Folder::make_own(folder, FOLDER_MODE) } else { Folder::make(folder, FOLDER_MODE) };
    let folder = folder.map_err(|error| match error.kind() {
        ErrorKind::PermissionDenied => anyhow!("{error}: {HINT}"),
        _ => error.into(),
    })?;
    match folder.kind(name)? {
        None => return Ok(String::new()),
        Some(Kind::File) if !is_root || folder.is_own(name)? => {}
        Some(Kind::Link) => bail!("it is a link: name the file itself"),
        Some(Kind::File) => bail!("others than root and the present user may change it: {HINT}"),
        Some(_) => bail!("it is not a plain file"),
    }
    let bytes = folder.read(name, MAX_FILE)?.unwrap_or_default();
    String::from_utf8(bytes).context("it is not UTF-8 text")
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
        Err(error) if error.kind() == ErrorKind::NotFound => change.path.clone(),
        other => other?,
    };
    let there = match std::fs::metadata(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound => None,
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

    /// The file may lie beside cookbooks of somebody else, who put a link there.
    #[test]
    fn attack_a_suggestion_is_not_written_where_others_decide() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("grants.toml"), "# ours\n").unwrap();
        std::os::unix::fs::symlink("grants.toml", path("suggested.toml")).unwrap();
        std::fs::create_dir(path("team")).unwrap();
        std::fs::set_permissions(path("team"), std::fs::Permissions::from_mode(0o777)).unwrap();
        std::os::unix::fs::symlink("..", path("team/link")).unwrap();
        std::fs::write(path("open.toml"), "").unwrap();
        std::fs::set_permissions(path("open.toml"), std::fs::Permissions::from_mode(0o666)).unwrap();
        assert_eq!(own_text(&path("grants.toml")).unwrap(), "# ours\n");
        assert_eq!(own_text(&path("new/suggested.toml")).unwrap(), "");
        for (name, said) in [
            ("suggested.toml", "it is a link"),
            ("team", "it is not a plain file"),
            ("team/suggested.toml", "in a folder of your own"),
            ("team/link/grants.toml", "in a folder of your own"),
            ("open.toml", "may change it"),
        ] {
            // An ordinary user's run has no more rights than whoever changes the user's files.
            if !rustix::process::geteuid().is_root() && !["suggested.toml", "team"].contains(&name) {
                continue;
            }
            let error = own_text(&path(name)).unwrap_err().to_string();
            assert!(error.contains(said), "{name}: {error}");
        }
    }

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
