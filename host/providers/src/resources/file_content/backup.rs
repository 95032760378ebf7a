//! Earlier versions of files: `PATH.chef-TIMESTAMP` below wrun's backup directory, as Chef names them.

use crate::bounded::BoundedFolder;
use crate::plan::Writer;
use contract::Raised;
use grants::GrantedPath;
use machine::root::{Kind, ModeBits, NewFileAttributes, absent};

/// The text between the path of a file and the time of its copy.
const MARK: &str = ".chef-";

/// Copies the file at a path, with owner, mode and times. Then removes the oldest copies beyond `count`, and beyond the size
/// limit of the policy's copies. Does nothing if the file does not exist.
///
/// # Errors
/// The file cannot be read, or the copy cannot be written. The file must then not be changed.
pub(super) fn keep(writer: &mut Writer<'_>, path: &str, granted: &GrantedPath, count: usize) -> Result<(), Raised> {
    let site = writer.root.site(granted)?;
    let Some(entry) = absent(site.entry())?.filter(|entry| entry.kind != Kind::Link) else { return Ok(()) };
    let (old, _) = site.open_file()?;
    let mut copies = match writer.caches.backups.take() {
        Some(copies) => copies,
        None => BoundedFolder::read(writer.backups, writer.settings.backups_size, age)?,
    };
    let path = clean(path, granted.path());
    let copied = format!("{path}{MARK}{}", timestamp());
    let copy = writer.backups.own_site(&copied)?;
    let mut staged = copy.stage(ModeBits::plain(0o600))?;
    staged.copy_from(Ok(old.into()))?;
    // The directory, which belongs to wrun, decides who may read the copy. A copy never has set-id bits.
    let mode = Some(ModeBits::plain(entry.mode));
    let times = Some((entry.modified, entry.modified));
    staged.publish(&NewFileAttributes { mode, times, ..NewFileAttributes::default() })?;
    // Only root can change the owner. The copy is useful without that, too.
    let _ = copy.hold()?.set_owner(Some(entry.uid), Some(entry.gid));
    copies.add(writer.backups, &copied)?;
    let beginning = format!("{path}{MARK}");
    let old: Vec<String> = copies.beginning_with(&beginning).rev().skip(count).map(str::to_owned).collect();
    old.iter().try_for_each(|old| copies.remove(writer.backups, old))?;
    writer.caches.backups = Some(copies);
    Ok(())
}

/// Returns the time of a copy from its name. The file's own time is that of the original.
fn age(path: &str, _modified: i64) -> Option<String> {
    let (_, time) = path.rsplit_once(MARK)?;
    let is_time = !time.is_empty() && time.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    is_time.then(|| time.to_owned())
}

/// Returns the written path if it is clean, else the real one.
fn clean<'a>(written: &'a str, real: &'a str) -> &'a str {
    let rest = written.strip_prefix('/').unwrap_or_default();
    if rest.split('/').any(|part| matches!(part, "" | "." | "..")) { real } else { written }
}

/// Returns the local time in microseconds. Two copies in the same microsecond would overwrite each other.
fn timestamp() -> String {
    jiff::Zoned::now().strftime("%Y%m%d%H%M%S.%6f").to_string()
}
