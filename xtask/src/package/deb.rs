//! Builds the Debian package of a tree.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};

use super::tree::{install, output, set_mode};
use crate::{checkout, say};

/// The scripts that dpkg calls.
const SCRIPTS: [&str; 3] = ["postinst", "prerm", "postrm"];

/// Files that an operator may change. An upgrade keeps changed files.
const SETTINGS: [&str; 2] = ["/etc/logrotate.d/wrun", "/etc/wrun/wrun.toml"];

/// Builds the package in the output folder.
pub(super) fn make(tree: &Path, version: &str, work: &Path, folder: &Path) -> Result<PathBuf> {
    let root = work.join("deb");
    checkout::run(Command::new("cp").args(["--archive", "--sparse=always"]).arg(tree).arg(&root))?;
    let control = root.join("DEBIAN");
    fs::create_dir(&control).with_context(|| format!("cannot make {}", control.display()))?;
    for script in SCRIPTS {
        let to = control.join(script);
        install(&checkout::root().join("packaging/debian").join(script), &to)?;
        set_mode(&to, 0o755)?;
    }
    fs::write(control.join("conffiles"), SETTINGS.map(|path| format!("{path}\n")).concat())?;
    fs::write(control.join("md5sums"), md5sums(&root)?)?;
    fs::write(control.join("control"), description(version, kibibytes_on_disk(tree)?))?;
    let file = folder.join(format!("wrun_{version}_amd64.deb"));
    say::line("making the Debian package");
    let mut build = Command::new("dpkg-deb");
    // dpkg in Debian 12 supports zstd, which unpacks several times faster than xz.
    build.args(["--root-owner-group", "-Zzstd", "-z6", "--build"]).arg(&root).arg(&file);
    output(&mut build)?;
    Ok(file)
}

fn description(version: &str, installed: u64) -> String {
    format!(
        "Package: wrun\n\
         Version: {version}\n\
         Architecture: amd64\n\
         Maintainer: The wrun authors <wrun@localhost>\n\
         Installed-Size: {installed}\n\
         Depends: libc6 (>= 2.36), libgcc-s1\n\
         Section: admin\n\
         Priority: optional\n\
         Description: many teams' configuration on one node, each sandboxed\n \
         wrun runs the cookbooks of several teams side by side. Each policy is a\n \
         WebAssembly component in a sandbox of its own, and only the host touches\n \
         the machine, within what the operator granted that policy.\n"
    )
}

/// Returns the size of the tree in kibibytes on a disk that supports sparse files.
fn kibibytes_on_disk(tree: &Path) -> Result<u64> {
    let said = String::from_utf8(output(Command::new("du").args(["--summarize", "--block-size=1024"]).arg(tree))?)?;
    said.split_whitespace().next().and_then(|number| number.parse().ok()).context("du says no number")
}

/// Returns the digests with which `dpkg --verify` finds changed files. Settings files are not included.
fn md5sums(root: &Path) -> Result<Vec<u8>> {
    let mut sums = Command::new("sh");
    let settings = SETTINGS.map(|path| format!("! -path .{path}")).join(" ");
    let script =
        format!("find . -path ./DEBIAN -prune -o -type f {settings} -printf '%P\\0' | sort -z | xargs -0 md5sum");
    output(sums.args(["-c", &script]).current_dir(root))
}
