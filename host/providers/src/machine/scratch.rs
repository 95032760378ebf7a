//! Temporary files of a dry run.
//!
//! Ruby's own (`Tempfile`, `Dir.mktmpdir`, `Dir::Tmpname`) get names below [`SCRATCH`] while nothing may be changed: what
//! follows it is the path that a real run would use, and needs the same grants. They are kept in memory, the policy's own
//! code sees them, and they are gone with it. Programs do not see them: a command that names one is unknown.

use contract::{CommandLine, CommandTest, MachineChange, MachineError, Stat, StatKind};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Where a dry run's temporary files seem to be; in front of the path of a real run.
pub(crate) const SCRATCH: &str = "/tmp/.wrun-scratch";

/// The most bytes and the most files and directories that one policy may keep.
const MAX_BYTES: usize = 64 << 20;
const MAX_NODES: usize = 10_000;

/// The longest path, which is the system's own limit.
const MAX_PATH: usize = 4_096;

/// The path that a real run would use, of a path in the scratch; `None`: it is not one.
pub(crate) fn inside(path: &str) -> Option<&str> {
    let inner = path.strip_prefix(SCRATCH)?.trim_end_matches('/');
    let names = inner.strip_prefix('/').filter(|_| inner.len() <= MAX_PATH)?;
    names.split('/').all(|name| !matches!(name, "" | "." | "..")).then_some(inner)
}

/// Whether a path lies in the scratch, or is a directory of it.
pub(crate) fn is_within(path: &str) -> bool {
    path.strip_prefix(SCRATCH).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Returns a text in which the paths of temporary files are those of a real run: `/tmp/x` for `/tmp/.wrun-scratch/tmp/x`.
pub fn real_paths(text: &str) -> Cow<'_, str> {
    const IN_FRONT: &str = "/tmp/.wrun-scratch/";
    if text.contains(IN_FRONT) { Cow::Owned(text.replace(IN_FRONT, "/")) } else { Cow::Borrowed(text) }
}

/// Whether a command names a file of the scratch, anywhere.
pub(crate) fn is_named_by(command: &CommandTest) -> bool {
    let is_named_in = |text: &str| text.contains(SCRATCH);
    let line = match &command.line {
        CommandLine::Text(line) => is_named_in(line),
        CommandLine::Arguments(words) => words.iter().any(|word| is_named_in(word)),
    };
    let input = command.input.as_deref().map(String::from_utf8_lossy);
    line || command.cwd.as_deref().is_some_and(is_named_in)
        || command.environment.iter().any(|(_, value)| is_named_in(value))
        || input.is_some_and(|input| is_named_in(&input))
}

/// The files and directories of one policy, by the path of a real run.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    nodes: BTreeMap<String, Node>,
    /// All bytes of all files.
    bytes: usize,
    /// How many were ever made: their inode numbers.
    made: u64,
}

#[derive(Debug)]
struct Node {
    /// `None`: a directory.
    content: Option<Vec<u8>>,
    mode: u32,
    modified: i64,
    number: u64,
}

impl Scratch {
    /// What is at a path, if the scratch has it.
    pub(super) fn stat(&self, path: &str) -> Option<Stat> {
        let node = self.nodes.get(path)?;
        Some(Stat {
            kind: if node.content.is_some() { StatKind::File } else { StatKind::Directory },
            mode: node.mode,
            uid: rustix::process::geteuid().as_raw(),
            gid: rustix::process::getegid().as_raw(),
            size: node.content.as_ref().map_or(0, |content| content.len() as u64),
            modified: node.modified,
            identity: (u64::MAX, node.number),
            links: 1,
        })
    }

    /// A part of a file's content, if the scratch has it.
    pub(super) fn read(&self, path: &str, offset: u64, length: u64) -> Option<Result<Vec<u8>, MachineError>> {
        let Some(content) = &self.nodes.get(path)?.content else { return Some(Err(system("EISDIR", path))) };
        let start = usize::try_from(offset).unwrap_or(usize::MAX).min(content.len());
        let end = start.saturating_add(usize::try_from(length).unwrap_or(usize::MAX)).min(content.len());
        Some(Ok(content.get(start..end).unwrap_or_default().to_vec()))
    }

    /// The names in a directory, if the scratch has it.
    pub(super) fn names(&self, path: &str) -> Option<Result<Vec<String>, MachineError>> {
        if self.nodes.get(path)?.content.is_some() {
            return Some(Err(system("ENOTDIR", path)));
        }
        let below = self.below(path);
        Some(Ok(below.iter().filter(|name| !name.contains('/')).cloned().collect()))
    }

    /// Bytes that the scratch takes, at most.
    pub(super) fn held_bytes(&self) -> u64 {
        (self.nodes.len() * MAX_PATH + self.bytes) as u64
    }

    /// Whether the scratch has a directory.
    pub(super) fn has_directory(&self, path: &str) -> bool {
        self.nodes.get(path).is_some_and(|node| node.content.is_none())
    }

    /// Makes a change. Its directory must be known to be there.
    pub(super) fn apply(&mut self, path: &str, change: MachineChange, now: i64) -> Result<(), MachineError> {
        match change {
            MachineChange::Write(content, mode) => self.put(path, content, mode, now),
            MachineChange::Append(more, mode) => {
                let node = self.nodes.get(path);
                let mut content = node.and_then(|node| node.content.clone()).unwrap_or_default();
                content.extend(more);
                self.put(path, content, mode, now)
            }
            MachineChange::MakeDirectory(_) if self.nodes.contains_key(path) => Err(system("EEXIST", path)),
            MachineChange::MakeDirectory(mode) => self.make(path, None, mode, now),
            MachineChange::Remove => match self.nodes.get(path) {
                Some(Node { content: Some(content), .. }) => {
                    self.bytes = self.bytes.saturating_sub(content.len());
                    self.nodes.remove(path);
                    Ok(())
                }
                Some(_) => Err(system("EISDIR", path)),
                None => Err(system("ENOENT", path)),
            },
            MachineChange::RemoveDirectory if !self.has_directory(path) => {
                Err(system(if self.nodes.contains_key(path) { "ENOTDIR" } else { "ENOENT" }, path))
            }
            MachineChange::RemoveDirectory if !self.below(path).is_empty() => Err(system("ENOTEMPTY", path)),
            MachineChange::RemoveDirectory => {
                self.nodes.remove(path);
                Ok(())
            }
            MachineChange::Rename(to) => {
                let to = inside(&to).ok_or_else(|| system("EXDEV", path))?.to_owned();
                self.rename(path, &to)
            }
            MachineChange::Mode(mode) => self.node(path).map(|node| node.mode = mode),
            MachineChange::Times(_, modified) => self.node(path).map(|node| node.modified = modified),
            MachineChange::Owner(..) => self.node(path).map(drop),
            MachineChange::Link(_) => Err(system("EPERM", path)),
        }
    }

    /// The names below a directory, relative to it.
    fn below(&self, path: &str) -> Vec<String> {
        let within = format!("{path}/");
        let after = self.nodes.range(within.clone()..).map(|(name, _)| name);
        after.map_while(|name| name.strip_prefix(&within)).map(str::to_owned).collect()
    }

    fn node(&mut self, path: &str) -> Result<&mut Node, MachineError> {
        self.nodes.get_mut(path).ok_or_else(|| system("ENOENT", path))
    }

    fn put(&mut self, path: &str, content: Vec<u8>, mode: u32, now: i64) -> Result<(), MachineError> {
        let old = match self.nodes.get(path) {
            Some(Node { content: None, .. }) => return Err(system("EISDIR", path)),
            Some(Node { content: Some(old), .. }) => Some(old.len()),
            None => None,
        };
        let bytes = self.bytes.saturating_sub(old.unwrap_or_default()).saturating_add(content.len());
        if bytes > MAX_BYTES {
            return Err(MachineError::TooMuch(format!("a dry run keeps at most {MAX_BYTES} bytes of temporary files")));
        }
        match old {
            Some(_) => {
                let node = self.node(path)?;
                (node.content, node.modified) = (Some(content), now);
            }
            None => self.make(path, Some(content), mode, now)?,
        }
        self.bytes = bytes;
        Ok(())
    }

    fn make(&mut self, path: &str, content: Option<Vec<u8>>, mode: u32, modified: i64) -> Result<(), MachineError> {
        if self.nodes.len() >= MAX_NODES {
            return Err(MachineError::TooMuch(format!("a dry run keeps at most {MAX_NODES} temporary files")));
        }
        self.made += 1;
        self.nodes.insert(path.to_owned(), Node { content, mode, modified, number: self.made });
        Ok(())
    }

    /// With all that is below it; a file that is there under the new name goes.
    fn rename(&mut self, from: &str, to: &str) -> Result<(), MachineError> {
        let node = self.nodes.get(from).ok_or_else(|| system("ENOENT", from))?;
        let is_directory = node.content.is_none();
        if to == from {
            return Ok(());
        }
        if self.nodes.get(to).is_some_and(|there| there.content.is_none())
            || (is_directory && self.nodes.contains_key(to))
        {
            return Err(system("EEXIST", to));
        }
        if to.strip_prefix(from).is_some_and(|rest| rest.starts_with('/')) {
            return Err(system("EINVAL", to));
        }
        let below = self.below(from);
        for (old, new) in std::iter::once((from.to_owned(), to.to_owned()))
            .chain(below.iter().map(|name| (format!("{from}/{name}"), format!("{to}/{name}"))))
        {
            if let Some(node) = self.nodes.remove(&old)
                && let Some(Node { content: Some(gone), .. }) = self.nodes.insert(new, node)
            {
                self.bytes = self.bytes.saturating_sub(gone.len());
            }
        }
        Ok(())
    }
}

fn system(name: &str, path: &str) -> MachineError {
    MachineError::System(name.into(), format!("{SCRATCH}{path}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_read_the_paths_of_a_real_run() {
        assert!(real_paths(&format!("{SCRATCH}/x")).starts_with("/x"), "both name the same directory");
        assert_eq!(real_paths("cat /tmp/.wrun-scratch/tmp/a /tmp/.wrun-scratch/var/b"), "cat /tmp/a /var/b");
        assert_eq!(real_paths("/tmp/.wrun-scratched"), "/tmp/.wrun-scratched");
    }

    #[test]
    fn paths_of_the_scratch_are_plain() {
        let check = |path: &str, expect: Option<&str>| assert_eq!(inside(path), expect, "{path}");
        check("/tmp/.wrun-scratch/tmp/x", Some("/tmp/x"));
        check("/tmp/.wrun-scratch/tmp/x/", Some("/tmp/x"));
        for other in ["/tmp/x", "/tmp/.wrun-scratch", "/tmp/.wrun-scratch/", "/tmp/.wrun-scratched/x"] {
            check(other, None);
        }
        for odd in ["/tmp/.wrun-scratch/../etc", "/tmp/.wrun-scratch//x", "/tmp/.wrun-scratch/a/./b"] {
            check(odd, None);
        }
    }

    #[test]
    fn files_and_directories_are_kept_and_removed() {
        let mut scratch = Scratch::default();
        let mut apply = |path: &str, change: MachineChange| {
            scratch.apply(path, change, 7).map_err(|error| match error {
                MachineError::System(name, _) => name,
                other => format!("{other:?}"),
            })
        };
        let write = |text: &str| MachineChange::Write(text.into(), 0o600);
        assert_eq!(apply("/tmp/d", MachineChange::MakeDirectory(0o700)), Ok(()));
        assert_eq!(apply("/tmp/d", MachineChange::MakeDirectory(0o700)), Err("EEXIST".into()));
        assert_eq!(apply("/tmp/d/f", write("one")), Ok(()));
        assert_eq!(apply("/tmp/d/f", MachineChange::Append(b" two".to_vec(), 0)), Ok(()));
        assert_eq!(apply("/tmp/d", write("x")), Err("EISDIR".into()));
        assert_eq!(apply("/tmp/d", MachineChange::RemoveDirectory), Err("ENOTEMPTY".into()));
        assert_eq!(apply("/tmp/d", MachineChange::Rename(format!("{SCRATCH}/tmp/e"))), Ok(()));
        assert_eq!(apply("/tmp/e", MachineChange::Rename("/etc/e".into())), Err("EXDEV".into()));
        assert_eq!(apply("/tmp/e/f", MachineChange::Mode(0o644)), Ok(()));
        assert_eq!(apply("/tmp/e/l", MachineChange::Link("f".into())), Err("EPERM".into()));
        assert_eq!(scratch.names("/tmp/e").unwrap().unwrap(), ["f"]);
        assert_eq!(scratch.read("/tmp/e/f", 2, 3).unwrap().unwrap(), b"e t");
        assert_eq!(scratch.stat("/tmp/e/f").map(|it| (it.size, it.mode, it.modified)), Some((7, 0o644, 7)));
        assert!(scratch.stat("/tmp/d/f").is_none() && scratch.stat("/tmp/d").is_none());
        for change in [MachineChange::Remove, MachineChange::Remove] {
            let _second_is_absent = scratch.apply("/tmp/e/f", change, 7);
        }
        assert_eq!(scratch.apply("/tmp/e", MachineChange::RemoveDirectory, 7), Ok(()));
        assert!(scratch.nodes.is_empty() && scratch.bytes == 0);
    }

    #[test]
    fn a_guest_cannot_fill_the_memory() {
        let mut scratch = Scratch::default();
        let half = || MachineChange::Write(vec![0; MAX_BYTES / 2], 0o600);
        assert_eq!(scratch.apply("/tmp/a", half(), 0), Ok(()));
        assert_eq!(scratch.apply("/tmp/a", half(), 0), Ok(()), "the same again takes no more");
        assert_eq!(scratch.apply("/tmp/b", half(), 0), Ok(()));
        let one = MachineChange::Append(vec![0], 0o600);
        assert!(matches!(scratch.apply("/tmp/b", one, 0), Err(MachineError::TooMuch(_))));
        let names = (0..MAX_NODES).map(|at| scratch.apply(&format!("/tmp/{at}"), MachineChange::MakeDirectory(0), 0));
        assert!(names.filter(|made| matches!(made, Err(MachineError::TooMuch(_)))).count() == 2);
    }
}
