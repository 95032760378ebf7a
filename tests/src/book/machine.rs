//! The machine on which the commands of a page run.

use std::ffi::OsString;
use std::fs;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context as _, Result, ensure};

use super::Page;
use crate::{Machine, Network, Root};

/// The shell script that runs one command, in the folder of the previous command and with its exit code in `$?`.
const SHELL: &str = r#"exec 2>&1
hostname node
cd -- "$1" || exit 97
(exit "$2")
eval "$3"
code=$?
pwd -P >"$4"
exit "$code"
"#;

/// The file inside the root in which the shell stores its current folder.
const FOLDER: &str = "run/book-folder";

/// The folder inside the root with the crates that cargo has compiled for other tests.
const TARGET: &str = "run/book-target";

/// The simulated reader, who runs the commands of a page.
pub struct Reader<'root> {
    machine: Machine<'root>,
    environment: Vec<(&'static str, OsString)>,
    folder: String,
    code: i32,
    /// A lock for pages with a compiler. Their sources have the same path and they share cargo's target folder, so one page
    /// could otherwise get files that were compiled from another page's sources.
    _alone: Option<fs::File>,
}

impl<'root> Reader<'root> {
    /// Creates the root that a page needs.
    pub fn root(page: &Page) -> Result<Root> {
        if page.with_compiler { Root::of_this_machine() } else { Root::new() }
    }

    /// Installs the program and its Ruby runtime in a root, at the paths of the package.
    pub fn new(root: &'root Root, page: &Page, program: &Path, runtimes: &Path) -> Result<Self> {
        let machine = prepared(root, page)?;
        for folder in ["etc/wrun/policies", "etc/wrun/grants.d", "var/lib/wrun", "var/cache/wrun", "root/book"] {
            fs::create_dir_all(root.at(folder)?)?;
        }
        for folder in ["var/lib/wrun", "var/cache/wrun"] {
            fs::set_permissions(root.at(folder)?, fs::Permissions::from_mode(0o700))?;
        }
        root.write("etc/wrun/wrun.toml", fs::read(checkout()?.join("docs/wrun.toml"))?)?;
        root.write("usr/bin/wrun", "")?;
        mount(&machine, program, "usr/bin/wrun")?;
        mount(&machine, runtimes, "usr/share/wrun")?;
        Self::at(machine, page)
    }

    /// Installs the Debian package in a root, as the page about it describes.
    pub fn with_package(root: &'root Root, page: &Page, package: &Path) -> Result<Self> {
        let machine = prepared(root, page)?;
        fs::create_dir_all(root.at("root/book")?)?;
        root.write("root/wrun.deb", fs::read(package)?)?;
        let installed = machine.run(&["dpkg", "--install", "/root/wrun.deb"])?;
        let said = String::from_utf8_lossy(&installed.stderr);
        ensure!(installed.status.success(), "the package cannot be installed: {said}");
        fs::remove_file(root.at("root/wrun.deb")?)?;
        Self::at(machine, page)
    }

    /// Creates a reader on a machine that has wrun.
    fn at(machine: Machine<'root>, page: &Page) -> Result<Self> {
        let checkout = checkout()?;
        let mut alone = None;
        if page.with_compiler {
            let target = checkout.join("target/guests");
            fs::create_dir_all(&target)?;
            mount(&machine, &target, TARGET)?;
            alone = Some(turn_in(&target)?);
        }
        let mut environment: Vec<(&str, OsString)> = vec![
            ("COLUMNS", "100".into()),
            ("NO_COLOR", "1".into()),
            ("TERM", "dumb".into()),
            ("TZ", "UTC".into()),
            ("HOME", "/root".into()),
        ];
        if page.with_compiler {
            // The page reuses crates that were compiled for other tests.
            environment.push(("BOOK_TARGET", Path::new("/").join(TARGET).into()));
            // The versions come from this lock, so that a page does not depend on new releases. Cargo may ask the registry
            // again, since its cache may be cleared during use.
            environment.push(("BOOK_LOCK", checkout.join("guests/Cargo.lock").into()));
            for name in ["PATH", "HOME", "CARGO_HOME", "RUSTUP_HOME"] {
                environment.extend(std::env::var_os(name).map(|value| (name, value)));
            }
        }
        Ok(Self { machine, environment, folder: "/root/book".to_owned(), code: 0, _alone: alone })
    }

    /// Writes a file. Its path is relative to the reader's current folder.
    pub fn write(&self, path: &Path, content: &str) -> Result<()> {
        self.machine.root().write(Path::new(&self.folder).join(path), content)
    }

    /// Runs a command and returns its output and its exit code.
    pub fn run(&mut self, command: &str) -> Result<(String, i32)> {
        // The host name must be that of the page's machine, not the developer's.
        let mut shell = self.machine.command("unshare");
        shell.args(["--uts", "/bin/bash", "-c", SHELL, "bash", &self.folder, &self.code.to_string(), command]);
        shell.arg(PathBuf::from("/").join(FOLDER)).envs(self.environment.clone());
        let mut child = shell.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        drop(shell);
        let mut printed = Vec::new();
        child.stdout.take().context("the shell has no output")?.read_to_end(&mut printed)?;
        self.code = child.wait()?.code().unwrap_or(-1);
        self.folder = self.machine.root().read(FOLDER)?.trim_end().to_owned();
        Ok((String::from_utf8_lossy(&printed).into_owned(), self.code))
    }
}

/// Waits until no other page, even in another process, uses cargo's target folder. The lock is held as long as the file is
/// open.
fn turn_in(target: &Path) -> Result<fs::File> {
    let lock = fs::File::create(target.join("book.lock"))?;
    lock.lock().context("cannot lock what cargo has compiled")?;
    Ok(lock)
}

fn checkout() -> Result<&'static Path> {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("the checkout has no folder")
}

/// Creates a machine in a root, without files of the developer's own wrun.
fn prepared<'root>(root: &'root Root, page: &Page) -> Result<Machine<'root>> {
    let machine = root.machine(if page.with_compiler { Network::Shared } else { Network::Own })?;
    for left in ["etc/wrun", "var/lib/wrun", "var/cache/wrun", "root/book"] {
        if root.exists(left) {
            fs::remove_dir_all(root.at(left)?)?;
        }
    }
    Ok(machine)
}

/// Mounts a file or a folder of the developer's machine. The mount is visible only in the temporary machine, and ends with
/// it.
fn mount(machine: &Machine<'_>, from: &Path, to: &str) -> Result<()> {
    let place = machine.root().at(to)?;
    if from.is_dir() {
        fs::create_dir_all(&place)?;
    }
    let mounted = machine.outside("mount").arg("--bind").arg(from).arg(&place).status()?;
    ensure!(mounted.success(), "cannot mount {} at {}", from.display(), place.display());
    Ok(())
}
