//! Earlier versions of files: `PATH.chef-TIMESTAMP` below wrun's backup directory, as Chef names them.

use crate::plan::Writer;
use contract::Raised;
use grants::GrantedPath;
use machine::root::{Kind, ModeBits, NewFileAttributes, absent};

/// Copies what is at a file's path, with its owner, mode and times, and removes the oldest copies beyond `count`.
/// Nothing there: nothing to keep.
///
/// # Errors
/// It cannot be read, or the copy cannot be written: then the file must not be changed.
pub(super) fn keep(writer: &Writer<'_>, path: &str, granted: &GrantedPath, count: usize) -> Result<(), Raised> {
    let site = writer.root.site(granted)?;
    let Some(entry) = absent(site.entry())?.filter(|entry| entry.kind != Kind::Link) else { return Ok(()) };
    let (old, _) = site.open_file()?;
    let path = clean(path, granted.path());
    let copy = writer.backups.own_site(&format!("{path}.chef-{}", timestamp()))?;
    let mut staged = copy.stage(ModeBits::plain(0o600))?;
    staged.copy_from(Ok(old.into()))?;
    // Who may read it is decided by the directory, which is wrun's own; a copy never has set-id bits.
    let mode = Some(ModeBits::plain(entry.mode));
    staged.publish(&NewFileAttributes { mode, ..NewFileAttributes::default() })?;
    // Only root can give files away; the copy is as good without.
    let _ = copy.set_owner(Some(entry.uid), Some(entry.gid));
    copy.set_times(Some((entry.modified, entry.modified)))?;
    remove_old(writer, path, count)
}

/// The path as written if it says where the copies are, else the real one.
fn clean<'a>(written: &'a str, real: &'a str) -> &'a str {
    let rest = written.strip_prefix('/').unwrap_or_default();
    if rest.split('/').any(|part| matches!(part, "" | "." | "..")) { real } else { written }
}

fn remove_old(writer: &Writer<'_>, path: &str, count: usize) -> Result<(), Raised> {
    let (directory, name) = path.rsplit_once('/').unwrap_or(("", path));
    let directory = if directory.is_empty() { "/" } else { directory };
    let prefix = format!("{name}.chef-");
    let is_copy = |name: &String| {
        name.strip_prefix(&prefix).is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.'))
    };
    let mut copies: Vec<String> = writer.backups.locate(directory)?.names()?.into_iter().filter(is_copy).collect();
    copies.sort_unstable_by(|a, b| b.cmp(a));
    for old in copies.iter().skip(count) {
        writer.backups.own_site(&format!("{}/{old}", directory.trim_end_matches('/')))?.remove_file()?;
    }
    Ok(())
}

/// Local time to the microsecond; two copies in one microsecond would be one.
fn timestamp() -> String {
    jiff::Zoned::now().strftime("%Y%m%d%H%M%S.%6f").to_string()
}
