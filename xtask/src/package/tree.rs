//! Creates the files of an installation in their folders.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use super::book::install_book;
use crate::{checkout, say};

/// The shells, and the folders for their completions in Debian.
const COMPLETIONS: [(&str, &str); 3] = [
    ("bash", "usr/share/bash-completion/completions/wrun"),
    ("zsh", "usr/share/zsh/vendor-completions/_wrun"),
    ("fish", "usr/share/fish/vendor_completions.d/wrun.fish"),
];

/// Files of the checkout that are installed without changes.
const FILES: [(&str, &str); 8] = [
    ("packaging/systemd/wrun-agent.service", "usr/lib/systemd/system/wrun-agent.service"),
    ("packaging/systemd/wrun-converge.service", "usr/lib/systemd/system/wrun-converge.service"),
    ("packaging/systemd/wrun-converge.timer", "usr/lib/systemd/system/wrun-converge.timer"),
    ("packaging/logrotate/wrun", "etc/logrotate.d/wrun"),
    ("docs/wrun.toml", "etc/wrun/wrun.toml"),
    ("docs/wrun.toml", "usr/share/doc/wrun/examples/wrun.toml"),
    ("docs/grants.example.toml", "usr/share/doc/wrun/examples/grants.toml"),
    ("LICENSE", "usr/share/doc/wrun/copyright"),
];

/// Creates the tree of an installation in a folder that does not exist yet.
pub(super) fn make(program: &Path, runtime: &Path, tree: &Path) -> Result<()> {
    say::line("collecting the files");
    let installed = tree.join("usr/bin/wrun");
    make_folder_of(&installed)?;
    let mut strip = Command::new("strip");
    checkout::run(strip.args(["--strip-debug", "-o"]).arg(&installed).arg(program))?;
    set_mode(&installed, 0o755)?;
    copy_runtime(program, runtime, &tree.join("usr/share/wrun"))?;
    for (from, to) in FILES {
        install(&checkout::root().join(from), &tree.join(to))?;
    }
    install_book(&checkout::root().join("docs"), &tree.join("usr/share/doc/wrun"))?;
    for (shell, to) in COMPLETIONS {
        let to = tree.join(to);
        make_folder_of(&to)?;
        fs::write(&to, output(Command::new(&installed).args(["completions", shell]))?)?;
        set_mode(&to, 0o644)?;
    }
    manual_pages(&installed, &tree.join("usr/share/man/man1"))
}

/// Copies the runtime with native code for all processors of the baseline. Native code for only this machine's processor is
/// not copied.
fn copy_runtime(program: &Path, runtime: &Path, to: &Path) -> Result<()> {
    say::line("compiling the Ruby runtime for all x86-64-v2 processors (up to a minute and 2 GB, once)");
    let native = output(Command::new(program).arg("ship-runtime").arg(runtime))?;
    let native = PathBuf::from(String::from_utf8(native)?.trim_end());
    fs::create_dir_all(to)?;
    let mut files = vec![native];
    for entry in fs::read_dir(runtime).with_context(|| format!("cannot read {}", runtime.display()))? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.starts_with("ruby-") {
            files.push(path);
        }
    }
    // The digest is valid only if it is not older than the component, so it is copied after it.
    files.sort();
    for file in files {
        let mut copy = Command::new("cp");
        checkout::run(copy.args(["--sparse=always", "--preserve=timestamps"]).arg(&file).arg(to))?;
        set_mode(&to.join(file.file_name().unwrap_or_default()), 0o644)?;
    }
    Ok(())
}

fn manual_pages(program: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    output(Command::new(program).arg("man").arg(to))?;
    let mut pages = Vec::new();
    for entry in fs::read_dir(to)? {
        pages.push(entry?.path());
    }
    ensure!(!pages.is_empty(), "the program wrote no manual pages");
    pages.iter().try_for_each(|page| set_mode(page, 0o644))?;
    checkout::run(Command::new("gzip").args(["-9", "--no-name"]).args(pages))
}

/// Copies a file, and makes it readable for all users.
pub(super) fn install(from: &Path, to: &Path) -> Result<()> {
    make_folder_of(to)?;
    fs::copy(from, to).with_context(|| format!("cannot copy {} to {}", from.display(), to.display()))?;
    set_mode(to, 0o644)
}

fn make_folder_of(file: &Path) -> Result<()> {
    let folder = file.parent().context("a file lies in no folder")?;
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))
}

pub(super) fn set_mode(path: &Path, mode: u32) -> Result<()> {
    let permissions = fs::Permissions::from_mode(mode);
    fs::set_permissions(path, permissions).with_context(|| format!("cannot change the mode of {}", path.display()))
}

/// Returns the output of a command, which runs without the developer's settings.
pub(super) fn output(command: &mut Command) -> Result<Vec<u8>> {
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("WRUN_")) {
        command.env_remove(name);
    }
    let output = command.output().with_context(|| format!("cannot start {}", command.get_program().display()))?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{} failed: {}", command.get_program().display(), said.trim());
    Ok(output.stdout)
}
