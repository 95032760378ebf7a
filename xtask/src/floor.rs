//! The floor of the benchmarks: the time that the kernel alone needs for the same work.
//!
//! It checks, reads, writes, and renames the same files as the test guest `load`, as a run of wrun must, but without any
//! decisions: no policy, no attributes, no report. No program that converges a machine can be faster. So the ratio to the
//! floor shows wrun's own share of a run. The floor is part of the benchmark program, and runs as a separate process like
//! wrun.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};

use crate::bench::Work;

/// The arguments of the hidden command `bench-floor`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    work: Work,
    count: usize,
    /// The root to work in
    root: PathBuf,
}

/// The users of the mix.
pub(crate) const USERS: [&str; 3] = ["bench0", "bench1", "bench2"];

/// Does the work once. A second call finds everything up to date, like a second run of wrun.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let folder = arguments.root.join("srv/bench");
    let all = 0..arguments.count;
    match arguments.work {
        Work::Nothing => Ok(()),
        Work::Files | Work::Ruby | Work::RubyPlain | Work::RubyGuarded => {
            make_folder(&folder)?;
            all.into_iter().try_for_each(|at| file(&folder.join(format!("file-{at}")), &content(at)))
        }
        Work::Templates => {
            make_folder(&folder)?;
            all.into_iter().try_for_each(|at| file(&folder.join(format!("template-{at}")), &content(at)))
        }
        Work::Mix => mix(&arguments.root, &folder, arguments.count),
    }
}

/// Returns content with the same length as that of the guest `load`.
fn content(at: usize) -> String {
    format!("# file {at}\n{}", format!("setting = {at}\n").repeat(20))
}

/// Does the work of the scenario `Mix`: folders, links, files, installed packages, and users. The guarded commands of the mix
/// are never run.
fn mix(root: &Path, folder: &Path, count: usize) -> Result<()> {
    make_folder(folder)?;
    for at in 0..count {
        let inner = folder.join(format!("directory-{at}"));
        make_folder(&inner)?;
        file(&inner.join("file"), &content(at))?;
        link(&folder.join(format!("link-{at}")), &format!("/srv/bench/directory-{at}/file"))?;
    }
    // One query answers for all packages.
    succeeds(Command::new("chroot").arg(root).args(["dpkg-query", "--show"]))?;
    let accounts = ["passwd", "group", "shadow"].map(|name| fs::read_to_string(root.join("etc").join(name)));
    for name in USERS {
        let known = accounts.iter().flatten().any(|text| text.contains(&format!("\n{name}:")));
        if !known {
            let added = succeeds(Command::new("chroot").arg(root).args(["useradd", "--system", name]))?;
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

/// Reads and compares a file. If it differs, writes a temporary file and renames it.
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
            let path = |number: usize| root.path().join(format!("srv/bench/file-{number}"));
            (0..3).map(|number| path(number).metadata().and_then(|it| it.modified()).expect("a file")).collect()
        };
        let before = times();
        run(&arguments).expect("the second run");
        assert_eq!(before, times());
        let text = fs::read_to_string(root.path().join("srv/bench/file-2")).expect("a file");
        assert_eq!(text, content(2));
    }
}
