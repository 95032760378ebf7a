//! Fences: limits for programs that the host chooses, so that they write and start no more than they need.
//!
//! A program that works in a directory of a policy may be misled: by a directory that becomes a link, or by a configuration
//! that names programs. Landlock then still limits it to that directory. A Landlock rule set applies to one thread and
//! everything it starts, so the thread that starts the program sets it up, by safe calls. A kernel without Landlock starts
//! the program without a fence, so callers must be safe without one too.

use landlock::{
    ABI, AccessFs, BitFlags, CompatLevel, Compatible as _, PathBeneath, PathFd, Ruleset, RulesetAttr as _,
    RulesetCreated, RulesetCreatedAttr as _, RulesetStatus,
};
use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::fs::FileExt as _;
use std::path::Path;

/// The file that every program may write to.
const SINK: &str = "/dev/null";

/// How much of a program is read for its headers, in bytes.
const BEGINNING: u64 = 4096;

/// The longest path of a loader, in bytes.
const MAX_LOADER: u64 = 4096;

/// The type of the header that names the loader of a program.
const LOADER_HEADER: u64 = 3;

/// The files that a program may write, and the programs that it may start.
#[derive(Debug, Clone, Default)]
pub struct Fence {
    /// True if it may create, change and remove files in its working directory.
    pub writes_here: bool,
    /// Files elsewhere that it may write to, such as `/root/.ssh/known_hosts`. Files that do not exist cannot be created.
    pub files: Vec<String>,
    /// Programs, and directories of programs, that it may start beside itself. `None`: all. If this is set, scripts are not
    /// started, because wrun cannot know which programs they need.
    pub programs: Option<&'static [&'static str]>,
}

/// The reason why the fence could not be set up.
#[derive(Debug)]
pub(super) enum NoFence {
    System(io::Error),
    /// wrun cannot tell which other program (such as a loader) the kernel runs to start this one. The text completes the
    /// sentence `it is ..`.
    UnknownProgram(&'static str),
}

/// Sets up a fence for the calling thread and everything that it starts. This cannot be undone.
///
/// # Errors
/// The working directory cannot be opened, the kernel has Landlock and refuses, or the programs cannot be limited.
pub(super) fn put_up(fence: &Fence, program: &Path) -> Result<(), NoFence> {
    let writes = AccessFs::from_write(ABI::V5);
    let programs = fence.programs.map(|programs| (loader(program), programs));
    let handled = if programs.is_some() { writes | AccessFs::Execute } else { writes };
    let mut rules = vec![];
    let mut allow = |path: &str, access: BitFlags<AccessFs>| {
        // A missing file needs no rule.
        rules.extend(PathFd::new(path).map(|place| PathBeneath::new(place, access)));
    };
    for file in fence.files.iter().map(String::as_str).chain([SINK]) {
        allow(file, AccessFs::from_file(ABI::V5) & writes);
    }
    if let Some((loader, programs)) = &programs {
        let loader = loader.as_ref().ok().and_then(Option::as_deref);
        for path in programs.iter().copied().chain(loader) {
            allow(path, AccessFs::Execute.into());
        }
        allow(&program.to_string_lossy(), AccessFs::Execute.into());
    }
    if fence.writes_here {
        let here = PathFd::new(".").map_err(|error| NoFence::System(io::Error::other(error)))?;
        rules.push(PathBeneath::new(here, writes));
    }
    let ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(handled)
        .and_then(Ruleset::create)
        .and_then(|ruleset| ruleset.add_rules(rules.into_iter().map(Ok::<_, landlock::RulesetError>)))
        .and_then(RulesetCreated::restrict_self);
    let status = ruleset.map_err(|error| NoFence::System(io::Error::other(error)))?.ruleset;
    match programs {
        Some((Err(what), _)) if status != RulesetStatus::NotEnforced => Err(NoFence::UnknownProgram(what)),
        _ => Ok(()),
    }
}

/// Returns the loader that the kernel runs to start the program, or `None` if it needs no loader.
///
/// # Errors
/// The file is not an ELF program. The error completes the sentence `it is ..`.
fn loader(program: &Path) -> Result<Option<String>, &'static str> {
    let unreadable = "a file that cannot be read";
    let file = File::open(program).map_err(|_| unreadable)?;
    let mut head = vec![];
    (&file).take(BEGINNING).read_to_end(&mut head).map_err(|_| unreadable)?;
    if head.starts_with(b"#!") {
        return Err("a script");
    }
    let found = place_of_loader(&head).ok_or("a file of a format that is not known")?;
    let Some((offset, length)) = found else { return Ok(None) };
    let mut name = vec![0; usize::try_from(length.min(MAX_LOADER)).unwrap_or_default()];
    file.read_exact_at(&mut name, offset).map_err(|_| unreadable)?;
    let name = name.split(|byte| *byte == 0).next().unwrap_or_default();
    let name = String::from_utf8(name.to_vec()).ok().filter(|name| name.starts_with('/'));
    name.map(Some).ok_or("a file that names no loader")
}

/// Returns the offset and length of the loader's path in an ELF program, from the file's first bytes. The inner `None` means
/// that the program names no loader; the outer `None` means that the file is not ELF.
fn place_of_loader(head: &[u8]) -> Option<Option<(u64, u64)>> {
    let rest = head.strip_prefix(b"\x7fELF")?;
    let (is_wide, is_big) = (*rest.first()? == 2, *rest.get(1)? == 2);
    let number = |at: u64, length: u64| {
        let at = usize::try_from(at).ok()?;
        let bytes = head.get(at..at.checked_add(usize::try_from(length).ok()?)?)?;
        let join = |sum: u64, byte: &u8| sum << 8 | u64::from(*byte);
        Some(if is_big { bytes.iter().fold(0, join) } else { bytes.iter().rev().fold(0, join) })
    };
    // Offsets of the header table's position, of the size of one header, and of their count; then, within a header, offsets
    // of the position and the length.
    let (table, size, count) = if is_wide { ((32, 8), 54, 56) } else { ((28, 4), 42, 44) };
    let (offset, length, width) = if is_wide { (8, 32, 8) } else { (4, 16, 4) };
    let (table, size, count) = (number(table.0, table.1)?, number(size, 2)?, number(count, 2)?);
    for index in 0..count {
        let header = table.checked_add(index.checked_mul(size)?)?;
        if number(header, 4)? == LOADER_HEADER {
            return Some(Some((
                number(header.checked_add(offset)?, width)?,
                number(header.checked_add(length)?, width)?,
            )));
        }
    }
    Some(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_programs_loader_is_found_in_its_headers() {
        let own = std::env::current_exe().unwrap();
        assert!(loader(&own).unwrap().is_none_or(|path| Path::new(&path).exists()));
        // A narrow program of the other byte order, with two headers.
        let mut narrow = vec![0; 52 + 64];
        narrow.splice(..6, *b"\x7fELF\x01\x02");
        let mut put = |at: usize, bytes: &[u8]| narrow.splice(at..at + bytes.len(), bytes.iter().copied()).count();
        put(28, &[0, 0, 0, 52]);
        put(42, &[0, 32, 0, 2]);
        put(52 + 32, &[0, 0, 0, 3, 0, 0, 0, 20]);
        put(52 + 32 + 16, &[0, 0, 0, 13]);
        assert_eq!(place_of_loader(&narrow), Some(Some((20, 13))));
        // Cut off in the middle of its headers.
        assert_eq!(place_of_loader(narrow.get(..90).unwrap()), None);
        assert_eq!(place_of_loader(b"#!/bin/sh\n"), None);
    }
}
