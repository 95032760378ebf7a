//! The base root: a minimal Debian system, created once and never changed. It includes `openssl`, which some resource types
//! run.
//!
//! mmdebstrap creates it from the machine's own package sources, since debootstrap supports only its own mirror. This takes
//! 10 to 60 seconds and 180 MB. Its name contains the release and the month, so that it is renewed each month. The folder
//! gets its final name when it is complete. The next attempt removes the rest of an interrupted one.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};

/// First part of the folder's name. The number grows when the creation of the root changes.
const PREFIX: &str = "root-2-";

/// First part of the name of an incomplete root.
const PARTIAL_PREFIX: &str = "root-partial-";

/// The host name of a temporary machine, independent of the developer's machine.
pub const HOST_NAME: &str = "node";

/// Returns a sentence about a missing prerequisite for a root, or `None`. It changes nothing and starts no work.
pub fn missing_prerequisite() -> Option<String> {
    if !nix::unistd::geteuid().is_root() {
        return Some("throw-away roots are mounted, which needs root: run this with sudo".to_owned());
    }
    if let Some(program) = ["unshare", "nsenter", "chroot", "mount"].into_iter().find(|name| find(name).is_none()) {
        return Some(format!("{program} is missing: install Debian's util-linux and coreutils"));
    }
    let overlay = fs::read_to_string("/proc/filesystems").is_ok_and(|text| text.contains("\toverlay"));
    if !overlay && !loads_overlay() {
        return Some("this kernel has no overlayfs, which throw-away roots need".to_owned());
    }
    if base_root_is_ready() {
        return None;
    }
    if find("mmdebstrap").is_none() && find("apt-get").is_none() {
        return Some("mmdebstrap is missing, and so is apt-get to install it: roots are made on Debian".to_owned());
    }
    package_sources().err().map(|error| error.to_string())
}

/// Returns `None` if the machine's first package source answers, otherwise a sentence that names it. It downloads one small
/// file.
pub fn missing_mirror() -> Option<String> {
    let helper = Path::new("/usr/lib/apt/apt-helper");
    if !helper.is_file() {
        return Some("apt is missing: packages are installed on Debian".to_owned());
    }
    let address = match first_index() {
        Ok(address) => address,
        Err(error) => return Some(error.to_string()),
    };
    let target = std::env::temp_dir().join(format!("wrun-mirror-{}", std::process::id()));
    let timeout = ["-o", "Acquire::Retries=0", "-o", "Acquire::http::Timeout=10", "-o", "Acquire::https::Timeout=10"];
    let fetched = run(Command::new(helper).args(timeout).arg("download-file").arg(&address).arg(&target));
    // A failed download may leave no file.
    let _ignored = fs::remove_file(&target);
    fetched.err().map(|_| format!("the package mirror does not answer: {address} cannot be fetched"))
}

/// Returns the address of the index of the machine's first package source.
fn first_index() -> Result<String> {
    for path in package_sources()? {
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        if let Some((address, suite)) = first_source(&text) {
            return Ok(format!("{}/dists/{suite}/InRelease", address.trim_end_matches('/')));
        }
    }
    bail!("this machine's package sources name no mirror")
}

/// Returns the address and suite of the first source, in either of apt's formats.
fn first_source(text: &str) -> Option<(&str, &str)> {
    let field = |name: &str| {
        text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')?.split_whitespace().next())
    };
    let plain = || {
        let line = text.lines().find(|line| line.starts_with("deb "))?;
        let mut words = line.split_whitespace().skip_while(|word| !word.contains("://"));
        Some((words.next()?, words.next()?))
    };
    field("URIs").zip(field("Suites")).or_else(plain)
}

/// Returns the base root's folder. If there is none for this month, it announces and creates it.
pub fn base_root(announce: &mut dyn FnMut(&str)) -> Result<PathBuf> {
    if let Some(sentence) = missing_prerequisite() {
        bail!(sentence);
    }
    let cache = cache_folder()?;
    let wanted = cache.join(folder_name()?);
    if wanted.is_dir() {
        return Ok(wanted);
    }
    fs::create_dir_all(&cache).with_context(|| format!("cannot make {}", cache.display()))?;
    let lock_path = cache.join("root.lock");
    let lock = fs::File::create(&lock_path).with_context(|| format!("cannot make {}", lock_path.display()))?;
    if lock.try_lock().is_err() {
        announce("waiting for another process that makes the base root");
        lock.lock().context("cannot lock the base root")?;
    }
    if wanted.is_dir() {
        return Ok(wanted);
    }
    match make(&cache, &wanted, announce) {
        Ok(()) => Ok(wanted),
        Err(error) => {
            let older = newest_root(&cache).ok_or(error)?;
            announce(&format!("no new base root can be made (is the mirror away?); using {}", older.display()));
            Ok(older)
        }
    }
}

fn make(cache: &Path, wanted: &Path, announce: &mut dyn FnMut(&str)) -> Result<()> {
    for left in roots_named(cache, PARTIAL_PREFIX) {
        fs::remove_dir_all(&left).with_context(|| format!("cannot remove {}", left.display()))?;
    }
    install_mmdebstrap(announce)?;
    let release = release()?;
    announce(&format!(
        "making the base root (Debian {release}, minimal) once with mmdebstrap; this takes up to a minute"
    ));
    let partial = cache.join(format!("{PARTIAL_PREFIX}{}", std::process::id()));
    let mut command = Command::new("mmdebstrap");
    command
        .args(["--quiet", "--variant=minbase", "--include=openssl", &release])
        .arg(&partial)
        .args(package_sources()?);
    let made = run(&mut command).and_then(|()| finish(&partial));
    match made {
        Ok(()) => {
            fs::rename(&partial, wanted).with_context(|| format!("cannot rename {}", partial.display()))?;
            // Last month's root may be in use by a running test. Older roots are unused.
            let mut roots = roots_named(cache, PREFIX);
            roots.sort();
            for old in roots.iter().rev().skip(2) {
                let _ignored = fs::remove_dir_all(old);
            }
            Ok(())
        }
        Err(error) => {
            // Only the first error is reported.
            let _ignored = fs::remove_dir_all(&partial);
            Err(error)
        }
    }
}

/// Sets the host name of the root, and copies the machine's settings for its mirror (a proxy, the age of its index).
fn finish(root: &Path) -> Result<()> {
    fs::write(root.join("etc/hostname"), format!("{HOST_NAME}\n"))?;
    let hosts = format!("127.0.0.1 localhost\n127.0.1.1 {HOST_NAME}.example.org {HOST_NAME}\n");
    fs::write(root.join("etc/hosts"), hosts)?;
    let Ok(entries) = fs::read_dir("/etc/apt/apt.conf.d") else { return Ok(()) };
    for entry in entries.flatten() {
        let text = fs::read_to_string(entry.path()).unwrap_or_default();
        let mut lines = text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with(['#', '/']));
        if !text.is_empty() && lines.all(|line| line.starts_with("Acquire::")) {
            fs::copy(entry.path(), root.join("etc/apt/apt.conf.d").join(entry.file_name()))?;
        }
    }
    Ok(())
}

fn install_mmdebstrap(announce: &mut dyn FnMut(&str)) -> Result<()> {
    if find("mmdebstrap").is_some() {
        return Ok(());
    }
    announce("installing Debian's package mmdebstrap, which makes the base root");
    let install = || {
        let mut command = Command::new("apt-get");
        command.env("DEBIAN_FRONTEND", "noninteractive");
        run(command.args(["-qq", "install", "--yes", "--no-install-recommends", "mmdebstrap"]))
    };
    if install().is_err() {
        run(Command::new("apt-get").args(["-qq", "update"]))?;
        install()?;
    }
    Ok(())
}

/// Runs a tool, and shows its output only if it fails.
fn run(command: &mut Command) -> Result<()> {
    let output = command.output().with_context(|| format!("cannot start {}", command.get_program().display()))?;
    let errors = String::from_utf8_lossy(&output.stderr);
    let program = command.get_program().display();
    ensure!(output.status.success(), "{program} failed ({}):\n{}", output.status, errors.trim_end());
    Ok(())
}

/// Returns the files with the machine's package sources, in either of apt's formats.
fn package_sources() -> Result<Vec<PathBuf>> {
    let mut sources = Vec::new();
    let plain = PathBuf::from("/etc/apt/sources.list");
    if fs::read_to_string(&plain).is_ok_and(|text| text.lines().any(|line| line.starts_with("deb "))) {
        sources.push(plain);
    }
    let debian = PathBuf::from("/etc/apt/sources.list.d/debian.sources");
    if debian.is_file() {
        sources.push(debian);
    }
    ensure!(!sources.is_empty(), "this machine names no Debian package source, from which a root could be made");
    Ok(sources)
}

fn release() -> Result<String> {
    let text = fs::read_to_string("/etc/os-release").context("cannot read /etc/os-release")?;
    let name = text.lines().find_map(|line| line.strip_prefix("VERSION_CODENAME="));
    name.map(|name| name.trim_matches('"').to_owned()).context("/etc/os-release has no VERSION_CODENAME")
}

/// Returns the folder's name for this month, such as `root-2-bookworm-2026-11`.
fn folder_name() -> Result<String> {
    let output = Command::new("date").args(["-u", "+%Y-%m"]).output().context("cannot start date")?;
    Ok(format!("{PREFIX}{}-{}", release()?, String::from_utf8_lossy(&output.stdout).trim()))
}

fn base_root_is_ready() -> bool {
    cache_folder().is_ok_and(|cache| newest_root(&cache).is_some())
}

fn newest_root(cache: &Path) -> Option<PathBuf> {
    roots_named(cache, PREFIX).into_iter().max()
}

fn roots_named(cache: &Path, prefix: &str) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(cache) else { return Vec::new() };
    let named = entries.flatten().filter(|entry| entry.file_name().to_string_lossy().starts_with(prefix));
    named.map(|entry| entry.path()).collect()
}

/// Returns `$XDG_CACHE_HOME/wrun`, or `~/.cache/wrun`. This is outside of the target folder, which is sometimes deleted.
pub fn cache_folder() -> Result<PathBuf> {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let cache = set("XDG_CACHE_HOME").or_else(|| set("HOME").map(|home| home.join(".cache")));
    Ok(cache.context("neither XDG_CACHE_HOME nor HOME is set, so there is no cache folder")?.join("wrun"))
}

fn loads_overlay() -> bool {
    Command::new("modprobe").arg("overlay").output().is_ok_and(|output| output.status.success())
}

fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(|candidate| candidate.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_source_is_read_in_both_formats() {
        let check = |text: &str, expected: Option<(&str, &str)>| assert_eq!(first_source(text), expected, "{text}");
        let expected = Some(("http://deb.debian.org/debian", "bookworm"));
        check("# a\nTypes: deb\nURIs: http://deb.debian.org/debian\nSuites: bookworm bookworm-updates\n", expected);
        check("# a\ndeb [arch=amd64] http://deb.debian.org/debian bookworm main\n", expected);
        check("# nothing\n", None);
    }
}
