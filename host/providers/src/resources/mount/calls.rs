//! Calls of `mount` and `umount`. These programs take paths as text and follow any link that exists at that moment.
//!
//! A policy's service may own a directory on the way to a mount point, a bound folder or an image. It could replace that
//! directory at any time. In that case wrun holds the place open, and the program gets a name for the open file
//! ([`machine::root::Pinned`]). Places that cannot be named so (an image, a path within an option) are refused. If only root
//! can replace anything on the way, the programs get the resolved paths themselves, because helpers of network file systems
//! record them.

use super::mounted;
use crate::found::{Found, Thing, changed_meanwhile};
use crate::plan::Writer;
use crate::withheld::Withheld;
use contract::{ErrorKind, Raised};
use grants::GrantedMount;
use machine::command::{Launch, require_success};
use machine::root::{Kind, Pinned, Root};
use rustix::io::Errno;
use std::time::{Duration, Instant};

/// The time in which a busy file system is unmounted again and again before a remount: Chef's twenty tries.
const UNMOUNTING: Duration = Duration::from_secs(2);

/// The pause between two attempts to unmount a busy file system.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// Options that make `mount` use the paths unchanged and record them nowhere.
const AS_IT_IS: [&str; 2] = ["--no-canonicalize", "--no-mtab"];

/// The beginnings of options with a password.
const PASSWORDS: [&str; 4] = ["pass=", "password=", "passwd=", "secret="];

/// The beginnings of options whose value is not a path on the machine now: a path within a file system, a path that only the
/// next start uses, or a text that is not a path.
const OTHER_PATHS: [&str; 6] = ["subvol=", "x-", "X-", "pass=", "password=", "passwd="];

/// One call, with resolved paths.
#[derive(Debug)]
pub(super) enum Call {
    /// Mounts a file system.
    Mount { kind: String, options: Vec<String>, device: Device, mount_point: String },
    /// Remounts a mounted file system with other options.
    Remount { options: Vec<String>, device: String, mount_point: String },
    /// Unmounts the topmost file system at a path.
    Unmount { mount_point: String },
}

/// The device argument of `mount`.
#[derive(Debug)]
pub(super) enum Device {
    /// A resolved path, or a name that is not a path.
    Path(String),
    /// The label of a file system.
    Label(String),
    /// The UUID of a file system.
    Uuid(String),
}

/// The found state of a mount point. Its options may contain a password.
#[derive(Debug, Clone)]
pub(super) struct MountedThere {
    /// The resolved path, without escapes.
    pub(super) place: String,
    /// The lines of `findmnt` for the place, one for each file system mounted there, the topmost last.
    pub(super) lines: Withheld<String>,
    /// The line of `/etc/fstab`, if it has one.
    pub(super) table: Withheld<Option<String>>,
}

impl MountedThere {
    /// Returns the state after the topmost file system is unmounted.
    pub(super) fn without_last(self) -> Self {
        let lines = self.lines.0.rsplit_once('\n').map_or_else(String::new, |(below, _)| below.to_owned());
        Self { lines: Withheld(lines), ..self }
    }
}

/// Calls of `mount` and `umount`. Their options may contain a password.
#[derive(Debug)]
pub(crate) struct ChangeMounts {
    calls: Withheld<Vec<Call>>,
    found: MountedThere,
    _granted: Withheld<GrantedMount>,
}

impl ChangeMounts {
    pub(super) fn new(calls: Vec<Call>, granted: GrantedMount, found: MountedThere) -> Self {
        Self { calls: Withheld(calls), found, _granted: Withheld(granted) }
    }

    /// Returns the mounts at the mount point when planned, and the line of the table.
    pub(crate) fn found(&self) -> Found {
        let MountedThere { place, lines, table } = &self.found;
        let is_secret = [Some(&lines.0), table.0.as_ref()].into_iter().flatten().any(|text| has_password(text));
        let thing = Thing::new("mount", place).with("mounted", &lines.0).with_any("table", table.0.clone());
        Found::of([thing]).secret_if(is_secret)
    }

    /// Mounts or unmounts the file system.
    ///
    /// # Errors
    /// A tool fails; users other than root may replace a directory on the way to an image or to a path of an option; or
    /// another file system is now mounted at the place.
    pub(crate) fn carry_out(self, writer: &mut Writer<'_>) -> Result<(), Raised> {
        let launch = mounted::launch();
        let now = writer.launch(&launch).map_err(|failure| failure.into_raised(&launch))?;
        if mounted::lines(&mounted::answer(&now)?, &self.found.place) != self.found.lines.0 {
            return Err(changed_meanwhile(&self.found.place, "something else is mounted there now"));
        }
        self.calls.0.iter().try_for_each(|call| call.carry_out(writer))
    }
}

/// Whether a line has an option with a password, in one of the spellings of file systems.
fn has_password(line: &str) -> bool {
    let mut options = line.split([' ', ',']);
    options.any(|option| PASSWORDS.iter().any(|word| option.starts_with(word)))
}

impl Call {
    fn carry_out(&self, writer: &mut Writer<'_>) -> Result<(), Raised> {
        match self {
            Self::Mount { kind, options, device, mount_point } => {
                let place = Held::at(mount_point, writer.root)?;
                require_fixed(options, writer.root)?;
                let mut words = vec!["-t".to_owned(), kind.clone()];
                if !options.is_empty() {
                    words.extend(["-o".to_owned(), options.join(",")]);
                }
                let mut held = None;
                match device {
                    Device::Path(path) => {
                        let device = Held::device(path, (kind, options), writer.root)?;
                        words.push(device.path());
                        held = Some(device);
                    }
                    Device::Label(label) => words.extend(["-L".to_owned(), label.clone()]),
                    Device::Uuid(uuid) => words.extend(["-U".to_owned(), uuid.clone()]),
                }
                run_mount(writer, words, &[Some(&place), held.as_ref()])
            }
            Self::Remount { options, device, mount_point } => {
                let place = Held::at(mount_point, writer.root)?;
                require_fixed(options, writer.root)?;
                let mut words = vec!["-o".to_owned(), format!("remount,{}", options.join(","))];
                if place.is_pinned() {
                    // Without a device, `mount` would look the path up in the table of mounts.
                    words.push(if device.is_empty() { "none".to_owned() } else { device.clone() });
                }
                run_mount(writer, words, &[Some(&place), None])
            }
            Self::Unmount { mount_point } => unmount(writer, mount_point),
        }
    }
}

/// Kinds of file systems whose device may be `//HOST/SHARE`.
const OF_SHARES: [&str; 4] = ["cifs", "smb3", "smbfs", "ncpfs"];

/// Tells whether a device is on another machine, or is a text for a helper program. Every other device that begins with a
/// slash is a local path, whatever characters it contains: `mount` follows it.
pub(super) fn is_remote(device: &str, kind: &str, options: &[String]) -> bool {
    match device.strip_prefix('/') {
        _ if binds(options) => false,
        Some(rest) if rest.starts_with('/') => OF_SHARES.contains(&kind),
        // A list of folders, as for mergerfs.
        Some(rest) => rest.contains(':') && kind.starts_with("fuse"),
        None => device.contains(':') || device.contains("//"),
    }
}

/// The paths of this machine that a device names which is not held open, since a program of its own reads it: all of it, and
/// each part between colons, as mergerfs takes them, with or without a mode behind it (`=RO`). Of a pattern it is the folder
/// that the pattern is in.
fn paths_in(device: &str) -> Vec<&str> {
    let parts = device.split(':').filter(|part| part.starts_with('/'));
    let with_modes = parts.flat_map(|part| [Some(part), part.rsplit_once('=').map(|(path, _)| path)]).flatten();
    let before_pattern = |path: &'_ str| path.find(['*', '?', '[', '{']);
    let fixed = with_modes.chain([device]).map(|path| match before_pattern(path) {
        Some(end) => path.get(..end).and_then(|path| path.rsplit_once('/')).map_or("/", |(folder, _)| folder),
        None => path,
    });
    fixed.filter(|path| path.starts_with('/')).collect()
}

/// Fails if a device that is not one path names paths of this machine that lead over a link, or that others than root may
/// exchange: the program that reads them follows whatever lies there then.
pub(super) fn require_fixed_device(
    device: &str,
    (kind, options): (&str, &[String]),
    root: &Root,
) -> Result<(), Raised> {
    if !device.starts_with('/') || !kind.starts_with("fuse") || !is_remote(device, kind, options) {
        return Ok(());
    }
    for path in paths_in(device) {
        if root.asked_about(path) != path {
            return Err(not_fixed(path));
        }
        require_roots_alone(path, root)?;
    }
    Ok(())
}

/// Tells whether the options mount a local folder at another place.
fn binds(options: &[String]) -> bool {
    let mut options = options.iter().flat_map(|option| option.split(','));
    options.any(|option| matches!(option, "bind" | "rbind" | "move"))
}

/// A path for a program, with an open file that keeps it from leading elsewhere.
struct Held {
    path: String,
    pinned: Option<Pinned>,
}

impl Held {
    fn at(path: &str, root: &Root) -> Result<Self, Raised> {
        let pinned = if path.starts_with('/') && !root.is_roots_alone(path)? { Some(root.pin(path)?) } else { None };
        Ok(Self { path: path.to_owned(), pinned })
    }

    /// Prepares the device. An image becomes a device by its path, which `mount` resolves itself.
    fn device(path: &str, (kind, options): (&str, &[String]), root: &Root) -> Result<Self, Raised> {
        if !path.starts_with('/') || is_remote(path, kind, options) {
            require_fixed_device(path, (kind, options), root)?;
            return Ok(Self { path: path.to_owned(), pinned: None });
        }
        let held = Self::at(path, root)?;
        match &held.pinned {
            Some(pinned) if !binds(options) && pinned.kind() != Kind::Directory => Err(not_fixed(path)),
            _ => Ok(held),
        }
    }

    fn path(&self) -> String {
        self.pinned.as_ref().map_or_else(|| self.path.clone(), Pinned::path)
    }

    fn is_pinned(&self) -> bool {
        self.pinned.is_some()
    }
}

/// Fails if users other than root may replace a directory on the way to a path. Missing directories can be created by any
/// user who may write to the last existing one.
pub(super) fn require_roots_alone(path: &str, root: &Root) -> Result<(), Raised> {
    let mut there = path;
    loop {
        match root.is_roots_alone(there) {
            Ok(true) => return Ok(()),
            Ok(false) => return Err(not_fixed(path)),
            Err(fault) if fault.is_absence() => {
                there = there.rsplit_once('/').map_or("", |(parent, _)| parent);
                if there.is_empty() {
                    return Ok(());
                }
            }
            Err(fault) => return Err(fault.into()),
        }
    }
}

/// Fails if an option has a path that could lead elsewhere when it is used.
pub(super) fn require_fixed(options: &[String], root: &Root) -> Result<(), Raised> {
    let options = options.iter().flat_map(|option| option.split(','));
    let on_machine = options.filter(|option| !OTHER_PATHS.iter().any(|begin| option.starts_with(begin)));
    let values = on_machine.filter_map(|option| option.split_once('=')).flat_map(|(_, value)| value.split(':'));
    for path in values.filter(|value| value.starts_with('/')) {
        if root.asked_about(path) != path || !root.is_roots_alone(path)? {
            return Err(not_fixed(path));
        }
    }
    Ok(())
}

fn not_fixed(path: &str) -> Raised {
    let message =
        format!("{path} cannot be mounted: it leads over a link, or a directory that others than root may exchange");
    Raised::new(ErrorKind::Mount, message)
        .with_hint("put it below directories that root owns and nobody else may write to")
}

/// Runs `mount`. The last word is the mount point.
fn run_mount(writer: &mut Writer<'_>, words: Vec<String>, held: &[Option<&Held>; 2]) -> Result<(), Raised> {
    let [place, _] = held;
    let mut all = Vec::new();
    if held.iter().flatten().any(|held| held.is_pinned()) {
        all.extend(AS_IT_IS.map(str::to_owned));
    }
    all.extend(words);
    all.extend(place.map(Held::path));
    let launch = Launch::program("mount", all);
    let outcome = writer.launch(&launch).map_err(|failure| failure.into_raised(&launch))?;
    require_success(&launch, &outcome, &[0])
}

/// Unmounts a file system, and retries, because it may stay busy for a moment after its last use.
fn unmount(writer: &mut Writer<'_>, mount_point: &str) -> Result<(), Raised> {
    let begin = Instant::now();
    let is_early = || begin.elapsed() < UNMOUNTING;
    // While it waits, this code has no file open below the mount point.
    if mount_point.starts_with('/') && !writer.root.is_roots_alone(mount_point)? {
        loop {
            match writer.root.unmount(mount_point) {
                Err(fault) if fault.errno == Errno::BUSY && is_early() => std::thread::sleep(LOOK_AGAIN),
                ended => return Ok(ended?),
            }
        }
    }
    let launch = Launch::program("umount", [mount_point]);
    loop {
        let outcome = writer.launch(&launch).map_err(|failure| failure.into_raised(&launch))?;
        let busy = outcome.code != Some(0) && String::from_utf8_lossy(&outcome.errors).contains("busy");
        if !busy || !is_early() {
            return require_success(&launch, &outcome, &[0]);
        }
        std::thread::sleep(LOOK_AGAIN);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attack_a_path_of_this_machine_is_one_whatever_is_in_it() {
        let check = |device: &str, kind: &str, options: &str, expect: bool| {
            assert_eq!(is_remote(device, kind, &[options.to_owned()]), expect, "{device} {kind} {options}");
        };
        for device in ["/srv/app//x", "/srv/app/y:z", "//etc", "host:/x"] {
            check(device, "none", "ro,bind", false);
            check(device, "cifs", "rbind", false);
        }
        check("//etc", "none", "ro", false);
        check("/srv/app/y:z", "ext4", "ro", false);
        check("//host/share", "cifs", "ro", true);
        check("host:/x", "nfs", "ro", true);
        check("user@host:", "fuse.sshfs", "ro", true);
        check("/mnt/a:/mnt/b", "fuse.mergerfs", "ro", true);
    }

    #[test]
    fn attack_a_device_of_several_folders_names_each_of_them() {
        let check = |device: &str, expect: &[&str]| assert_eq!(paths_in(device), expect, "{device}");
        check("/mnt/a:/mnt/b", &["/mnt/a", "/mnt/b", "/mnt/a:/mnt/b"]);
        check("/mnt/a=RO:b", &["/mnt/a=RO", "/mnt/a", "/mnt/a=RO:b"]);
        check("/mnt/d*/x:/y", &["/mnt", "/y", "/mnt"]);
        check("/*:/y", &["/y"]);
    }
}
