//! The paths that a command names, each with what it leads through on the machine.
//!
//! Whoever may change a link, or a directory above a file, decides what a program finds there. So a path counts as written, and
//! with each link on the way and the place that the link leads to.

use crate::commands::{CommandGrant, GrantedLine, WordPattern};
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// The folders in which a program without a folder is looked for.
const PROGRAM_FOLDERS: [&str; 6] = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];

/// Maximum number of paths of a command that are looked at.
const MAX_PATHS: usize = 1_000;

/// Maximum number of places that one path leads through. A longer one is not looked at.
const MAX_PLACES: usize = 128;

/// Maximum size of a place, in bytes.
const MAX_PLACE: usize = 1_024;

/// Maximum size of all places of a command, in bytes.
const MAX_BYTES: usize = 2 << 20;

/// Maximum number of links on the way of a path, as in the kernel.
const MAX_LINKS: usize = 40;

/// Maximum number of remembered places. Further ones are looked up each time.
const MAX_KNOWN: usize = 50_000;

/// The first symbolic link on the way of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FirstLink {
    /// The length of the path up to the end of the link's name.
    pub end: usize,
    /// The text of the link.
    pub target: String,
}

type FindLink = dyn Fn(&str) -> Option<FirstLink> + Send + Sync;

/// The symbolic links of a machine. Without a machine, no path is a link.
#[derive(Clone, Default)]
pub(super) struct Links {
    find: Option<Arc<FindLink>>,
    known: Arc<Mutex<HashMap<String, Option<FirstLink>>>>,
}

impl fmt::Debug for Links {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Links").field("of_a_machine", &self.find.is_some()).finish()
    }
}

impl Links {
    /// Finds links by a function. It gets an absolute path without `.` and `..`, and returns the first link on its way, or
    /// `None` if there is no link.
    pub(super) fn new(find: impl Fn(&str) -> Option<FirstLink> + Send + Sync + 'static) -> Self {
        Self { find: Some(Arc::new(find)), known: Arc::default() }
    }

    /// Finds links by their texts.
    #[cfg(test)]
    pub(super) fn of_texts(text: impl Fn(&str) -> Option<&'static str> + Send + Sync + 'static) -> Self {
        Self::new(move |path| {
            let mut ends = path.match_indices('/').map(|(at, _)| at).skip(1).chain([path.len()]);
            ends.find_map(|end| Some(FirstLink { end, target: text(&path[..end])?.to_owned() }))
        })
    }

    fn first(&self, path: &str) -> Option<FirstLink> {
        let find = self.find.as_ref()?;
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(link) = known.get(path) {
            return link.clone();
        }
        let link = find(path);
        if known.len() < MAX_KNOWN {
            known.insert(path.to_owned(), link.clone());
        }
        link
    }

    /// Returns all places that a path leads through; see [`places`].
    pub(super) fn places(&self, path: &str) -> Option<Vec<String>> {
        places(path, |path| self.first(path))
    }
}

/// Returns all places that an absolute path leads through: its directories, links, and the places that these lead to. The last
/// one is where it ends. Returns `None` if there are too many, also because links form a circle.
///
/// `first_link` gets an absolute path without `.` and `..`, and returns the first link on its way, or `None` if there is no
/// link. It is called once for each link and each `..`, not for each place: a policy may name many long paths.
pub fn places(path: &str, first_link: impl Fn(&str) -> Option<FirstLink>) -> Option<Vec<String>> {
    let mut places = Vec::new();
    let mut pending: Vec<String> = parts(path).rev().map(str::to_owned).collect();
    let (mut at, mut links) = (String::new(), 0);
    while let Some(part) = pending.last() {
        if part == ".." {
            pending.pop();
            at.truncate(at.rfind('/').unwrap_or(0));
            continue;
        }
        // One name too many is enough to see that there are too many.
        let names = pending.iter().rev().take_while(|name| *name != "..").take(MAX_PLACES + 1);
        let stretch = names.fold(at.clone(), |path, name| format!("{path}/{name}"));
        let link = first_link(&stretch);
        let end = link.as_ref().map_or(stretch.len(), |link| link.end);
        let from = at.len();
        while at.len() < end {
            at = format!("{at}/{}", pending.pop()?);
            places.push(at.clone());
        }
        // A directory that was passed may have become a link meanwhile.
        if at.len() == from || places.len() > MAX_PLACES || at.len() > MAX_PLACE {
            return None;
        }
        let Some(FirstLink { target, .. }) = link else { continue };
        links += 1;
        if links > MAX_LINKS {
            return None;
        }
        at.truncate(if target.starts_with('/') { 0 } else { at.rfind('/').unwrap_or(0) });
        pending.extend(parts(&target).rev().map(str::to_owned));
    }
    Some(places)
}

fn parts(path: &str) -> impl DoubleEndedIterator<Item = &str> {
    path.split('/').filter(|part| !matches!(*part, "" | "."))
}

/// Removes `.`, `..` and repeated slashes from a path, by its text alone.
fn normal(path: &str) -> String {
    let mut normal: Vec<&str> = Vec::new();
    for part in parts(path) {
        if part == ".." {
            normal.pop();
        } else {
            normal.push(part);
        }
    }
    format!("/{}", normal.join("/"))
}

/// The part that a path has in a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// The command runs it.
    Program,
    /// An argument, a line, or a variable names it.
    Named,
    /// It is the working directory.
    Directory,
}

/// A path that a command names.
#[derive(Debug)]
pub(super) struct NamedPath {
    pub(super) part: Part,
    /// The path without `.` and `..`.
    pub(super) written: String,
    /// All places that it leads through, as written and by links, outermost first.
    pub(super) places: Vec<String>,
}

/// The paths that a command names.
#[derive(Debug, Default)]
pub(super) struct NamedPaths {
    pub(super) paths: Vec<NamedPath>,
    /// True if some paths are missing, because there are too many or they lead too far.
    pub(super) is_cut: bool,
    /// The size of all places, in bytes.
    bytes: usize,
}

impl NamedPaths {
    /// Returns the paths of a command's words, line, variables and directory.
    pub(super) fn of(command: &CommandGrant, links: &Links) -> Self {
        let mut all = Self::default();
        let cwd = command.cwd.as_ref().map(|cwd| cwd.only_path().unwrap_or_else(|| cwd.beginning().to_owned()));
        let base = cwd.as_deref().unwrap_or_default();
        let words = words(command);
        if let Some(program) = words.first().copied().flatten() {
            match program.contains('/') {
                true => all.add(Part::Program, &joined(base, program), links),
                false => PROGRAM_FOLDERS
                    .iter()
                    .for_each(|folder| all.add(Part::Program, &format!("{folder}/{program}"), links)),
            }
        }
        let arguments = || words.iter().skip(1).copied().flatten();
        let line = match &command.what {
            GrantedLine::Shell(line) => Some(line.as_str()),
            _ => None,
        };
        let values = command.environment.values().map(String::as_str);
        for path in arguments().chain(line).chain(values).flat_map(text::absolute_paths) {
            all.add(Part::Named, path, links);
        }
        if let Some(cwd) = cwd.as_deref().filter(|cwd| !matches!(*cwd, "" | "/")) {
            all.add(Part::Directory, cwd, links);
        }
        // Each word may be a path below the working directory.
        let relative =
            arguments().flat_map(|word| [Some(word), word.split_once('=').map(|(_, value)| value)]).flatten();
        for word in relative.filter(|word| !word.starts_with('/')) {
            all.add(Part::Named, &joined(base, word), links);
        }
        all
    }

    fn add(&mut self, part: Part, path: &str, links: &Links) {
        let has_room = self.paths.len() < MAX_PATHS && self.bytes < MAX_BYTES;
        let places = has_room.then(|| links.places(path)).flatten();
        let Some(mut places) = places else {
            self.is_cut = true;
            return;
        };
        let written = normal(path);
        // The written form counts too: a link may be gone, or made, before the command runs.
        let ends = written.match_indices('/').map(|(at, _)| at).skip(1).chain([written.len()]);
        let as_written: Vec<String> = ends.filter_map(|end| written.get(..end)).map(str::to_owned).collect();
        let more: Vec<String> = as_written.into_iter().filter(|place| !places.contains(place)).collect();
        let last = places.pop();
        places.extend(more);
        places.extend(last);
        self.bytes += places.iter().map(String::len).sum::<usize>();
        self.paths.push(NamedPath { part, written, places });
    }
}

fn joined(base: &str, word: &str) -> String {
    if word.starts_with('/') { word.to_owned() } else { format!("{base}/{word}") }
}

/// Returns the words of a command or of a script's interpreter; `None` for a placeholder.
fn words(command: &CommandGrant) -> Vec<Option<&str>> {
    match &command.what {
        GrantedLine::PathSource(words) => words
            .iter()
            .map(|word| match word {
                WordPattern::Word(word) => Some(word.as_str()),
                _ => None,
            })
            .collect(),
        GrantedLine::Script { interpreter, .. } => interpreter.iter().map(|word| Some(word.as_str())).collect(),
        GrantedLine::Shell(_) | GrantedLine::AnyShell => vec![],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::command_of;

    fn links() -> Links {
        Links::of_texts(|path| {
            Some(match path {
                "/opt/tool" => "current/bin/tool",
                "/opt/current" => "/srv/site/7",
                "/usr/local/bin/deploy" => "../../../srv/site/deploy",
                "/loop" => "loop",
                "/deep" => "/deep/x/deep",
                _ => return None,
            })
        })
    }

    #[test]
    fn a_path_counts_with_each_link_on_the_way() {
        let check = |path: &str, expect: &[&str]| assert_eq!(links().places(path).unwrap(), expect, "{path}");
        check("/a/./b/../c", &["/a", "/a/b", "/a/c"]);
        check(
            "/opt/tool",
            &[
                "/opt",
                "/opt/tool",
                "/opt/current",
                "/srv",
                "/srv/site",
                "/srv/site/7",
                "/srv/site/7/bin",
                "/srv/site/7/bin/tool",
            ],
        );
        check("/opt/current/../x", &["/opt", "/opt/current", "/srv", "/srv/site", "/srv/site/7", "/srv/site/x"]);
        assert_eq!(links().places("/loop"), None);
        assert_eq!(links().places("/deep"), None, "it grows with each link");
        assert_eq!(links().places(&"/x".repeat(MAX_PLACES + 1)), None);
    }

    #[test]
    fn programs_lines_variables_and_directories_name_paths() {
        let check = |command: &str, part: Part, place: &str| {
            let named = NamedPaths::of(&command_of(command).unwrap(), &links());
            let found = named.paths.iter().any(|path| path.part == part && path.places.iter().any(|one| one == place));
            assert!(found, "{command} {place} {named:?}");
        };
        check("\"deploy --now\"", Part::Program, "/srv/site/deploy");
        check("\"/opt/tool\"", Part::Program, "/srv/site/7/bin/tool");
        check("{ argv = [\"./x\"], cwd = \"/opt/current\" }", Part::Program, "/srv/site/7/x");
        check("{ argv = [\"make\"], cwd = \"/opt/current\" }", Part::Directory, "/srv/site/7");
        check("{ argv = [\"make\", \"-f\", \"x\"], cwd = \"/opt/current\" }", Part::Named, "/srv/site/7/x");
        check("{ shell = \"cd /opt/current && ./x\" }", Part::Named, "/srv/site/7");
        check("{ argv = [\"x\"], environment = { PATH = \"/bin:/opt/current\" } }", Part::Named, "/srv/site/7");
        check("{ interpreter = [\"/opt/tool\"], script = \"x\" }", Part::Program, "/srv/site/7/bin/tool");
        let many = format!("\"ls{}\"", " /a".repeat(MAX_PATHS + 1));
        assert!(NamedPaths::of(&command_of(&many).unwrap(), &links()).is_cut);
    }
}
