//! Fences: programs of the host's own choosing that write, and start, no more than they need.
//!
//! A program that works in a place which a policy fills may be led elsewhere: by a directory that becomes a link, or by a
//! configuration that names programs. Landlock keeps to the place whoever is led away. It counts for one thread and for what
//! that starts, so the thread that is about to start the program puts it up, by safe calls. A kernel without Landlock starts
//! the program without a fence, so callers must be safe without one too.

use landlock::{
    ABI, AccessFs, BitFlags, CompatLevel, Compatible as _, PathBeneath, PathFd, Ruleset, RulesetAttr as _,
    RulesetCreatedAttr as _,
};
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

/// What all programs may write to.
const SINK: &str = "/dev/null";

/// What the kernel starts to start a program. A program names its own near its beginning.
const LOADERS: [&str; 4] = [
    "/lib64/ld-linux-x86-64.so.2",
    "/lib/ld-linux-aarch64.so.1",
    "/lib/ld-musl-x86_64.so.1",
    "/lib/ld-musl-aarch64.so.1",
];

/// How much of a program is searched for the name of its loader, in bytes.
const BEGINNING: u64 = 4096;

/// What a program may write and start.
#[derive(Debug, Clone, Default)]
pub struct Fence {
    /// It may make, change and remove what is in its working directory.
    pub writes_here: bool,
    /// Files elsewhere that it may write to, such as `/root/.ssh/known_hosts`. Those that are missing stay missing.
    pub files: Vec<String>,
    /// Programs, and directories of programs, that it may start beside itself; `None`: all.
    pub programs: Option<&'static [&'static str]>,
}

/// Puts a fence around the calling thread, and around all that it starts. For good.
///
/// # Errors
/// The working directory cannot be opened, or the kernel has Landlock and refuses.
pub(super) fn put_up(fence: &Fence, program: &Path) -> io::Result<()> {
    let writes = AccessFs::from_write(ABI::V5);
    let programs = fence.programs.and_then(|programs| Some((loader(program)?, programs)));
    let handled = if programs.is_some() { writes | AccessFs::Execute } else { writes };
    let mut rules = vec![];
    let mut allow = |path: &str, access: BitFlags<AccessFs>| {
        // What is not there is not reached either.
        rules.extend(PathFd::new(path).map(|place| PathBeneath::new(place, access)));
    };
    for file in fence.files.iter().map(String::as_str).chain([SINK]) {
        allow(file, AccessFs::from_file(ABI::V5) & writes);
    }
    if let Some((loader, programs)) = programs {
        for path in programs.iter().copied().chain([loader]) {
            allow(path, AccessFs::Execute.into());
        }
        allow(&program.to_string_lossy(), AccessFs::Execute.into());
    }
    if fence.writes_here {
        let here = PathFd::new(".").map_err(io::Error::other)?;
        rules.push(PathBeneath::new(here, writes));
    }
    let ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(handled)
        .and_then(Ruleset::create)
        .and_then(|ruleset| ruleset.add_rules(rules.into_iter().map(Ok::<_, landlock::RulesetError>)))
        .map_err(io::Error::other)?;
    ruleset.restrict_self().map(drop).map_err(io::Error::other)
}

/// The loader of a program; `None`: it is a script, or of a kind that is not known, and what it starts cannot be told.
fn loader(program: &Path) -> Option<&'static str> {
    let mut head = vec![];
    File::open(program).ok()?.take(BEGINNING).read_to_end(&mut head).ok()?;
    LOADERS.into_iter().find(|loader| head.windows(loader.len()).any(|window| window == loader.as_bytes()))
}
