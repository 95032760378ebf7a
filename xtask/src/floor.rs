//! The floor: what the kernel alone takes for the work of a benchmark.
//!
//! The same files are looked at, read, written and renamed as a run of wrun must, without deciding anything: no policy,
//! no attributes, no report. No program that converges a machine can be faster, so a ratio to it says how much of a run
//! is ours. It is compiled into the same program as the benchmark and run as a process of its own, like wrun.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};

use crate::bench::Work;

/// What the hidden command `bench-floor` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    work: Work,
    count: usize,
    /// The root to work in
    root: PathBuf,
}

/// Does the work once. The second time it finds everything as it should be, as a second run of wrun does.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let folder = arguments.root.join("srv/bench");
    match arguments.work {
        Work::Nothing => Ok(()),
        Work::Files | Work::Templates => {
            make_folder(&folder)?;
            (0..arguments.count).try_for_each(|number| file(&folder.join(number.to_string()), &content(number)))
        }
        Work::Mix => mix(&arguments.root, &folder),
    }
}

/// What the benchmark's files hold; the bench policy's recipes say the same.
fn content(number: usize) -> String {
    format!("This is file {number} of the benchmark.\n")
}

/// 50 folders, 50 links, 50 files, 20 guarded commands, 5 packages that are installed, 3 users.
fn mix(root: &Path, folder: &Path) -> Result<()> {
    make_folder(folder)?;
    for number in 0..50 {
        make_folder(&folder.join(format!("folder-{number}")))?;
        link(&folder.join(format!("link-{number}")), &format!("file-{number}"))?;
        file(&folder.join(format!("file-{number}")), &content(number))?;
    }
    for number in 0..20 {
        let made = folder.join(format!("command-{number}"));
        if !succeeds(Command::new("test").arg("-e").arg(&made))? {
            succeeds(Command::new("touch").arg(&made))?;
        }
    }
    // One query answers for all packages.
    succeeds(Command::new("chroot").arg(root).args(["dpkg-query", "--show"]))?;
    let accounts = ["passwd", "group", "shadow"].map(|name| fs::read_to_string(root.join("etc").join(name)));
    for name in ["bench0", "bench1", "bench2"] {
        let known = accounts.iter().flatten().any(|text| text.contains(&format!("\n{name}:")));
        if !known {
            let added = succeeds(Command::new("chroot").arg(root).args(["useradd", "--create-home", name]))?;
            ensure!(added, "useradd failed");
        }
    }
    Ok(())
}

fn make_folder(path: &Path) -> Result<()> {
    if path.symlink_metadata().is_ok_and(|metadata| metadata.is_dir()) {
        return Ok(());
    }
    fs::create_dir_all(path).with_context(|| format!("cannot make {}", path.display()))
}

fn link(path: &Path, target: &str) -> Result<()> {
    if fs::read_link(path).is_ok_and(|found| found == Path::new(target)) {
        return Ok(());
    }
    symlink(target, path).with_context(|| format!("cannot make {}", path.display()))
}

/// Looks, reads and compares; writes beside and renames where it differs.
fn file(path: &Path, content: &str) -> Result<()> {
    let same = path.symlink_metadata().is_ok_and(|metadata| metadata.permissions().mode() & 0o7777 == 0o644)
        && fs::read(path).is_ok_and(|found| found == content.as_bytes());
    if same {
        return Ok(());
    }
    let partial = path.with_extension("partial");
    let mut file = fs::File::create_new(&partial).with_context(|| format!("cannot make {}", partial.display()))?;
    file.write_all(content.as_bytes())?;
    file.set_permissions(fs::Permissions::from_mode(0o644))?;
    fs::rename(&partial, path).with_context(|| format!("cannot rename {}", partial.display()))
}

fn succeeds(command: &mut Command) -> Result<bool> {
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    Ok(status.with_context(|| format!("cannot start {}", command.get_program().display()))?.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_time_changes_nothing() {
        let root = tempfile::tempdir().expect("a temporary folder");
        let arguments = Arguments { work: Work::Files, count: 3, root: root.path().to_owned() };
        run(&arguments).expect("the first run");
        let times = || -> Vec<_> {
            let path = |number: usize| root.path().join(format!("srv/bench/{number}"));
            (0..3).map(|number| path(number).metadata().and_then(|it| it.modified()).expect("a file")).collect()
        };
        let before = times();
        run(&arguments).expect("the second run");
        assert_eq!(before, times());
        let text = fs::read_to_string(root.path().join("srv/bench/2")).expect("a file");
        assert_eq!(text, "This is file 2 of the benchmark.\n");
    }
}
