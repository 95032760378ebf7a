//! The facts and attributes that a policy asked for: which it read and wrote, and which it could not see.
//!
//! Guests choose what they read, so everything here is bounded, and a path is kept once however often it is read.

use node::origin::Origin;
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// The most paths that are kept of each kind.
pub const MAX_READ_PATHS: usize = 1_000;

/// The most hidden reads that are kept.
pub const MAX_HIDDEN_READS: usize = 200;

/// The most bytes of one path that is kept.
const MAX_PATH_BYTES: usize = 1_024;

/// Where a read looks for a value that belongs to somebody else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ReadKind {
    /// In the facts of the machine.
    Fact,
    /// In what other policies left: the inherited layer, and `normal`.
    Attribute,
}

impl ReadKind {
    /// The word in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fact => "fact",
            Self::Attribute => "attribute",
        }
    }
}

/// A read of a value that is there and that the policy may not see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HiddenRead {
    /// A fact, or another policy's attribute.
    pub kind: ReadKind,
    /// The path that was read; empty for everything.
    pub path: Vec<String>,
    /// The policy saw a part of the value.
    pub partly: bool,
    /// The read was refused: the policy got an error.
    pub refused: bool,
    /// The first place that read it.
    pub origin: Origin,
    /// The line of the policy's table in the grants that would allow it.
    pub grant: String,
}

/// What one policy read and wrote of the node beyond its own cookbooks.
#[derive(Debug, Clone, Default)]
pub struct Reads {
    /// Facts that were read, seen or not.
    pub facts: BTreeSet<Vec<String>>,
    /// Attributes of other policies that were read, seen or not.
    pub attributes: BTreeSet<Vec<String>>,
    /// Attributes that were written at any level.
    pub written: BTreeSet<Vec<String>>,
    /// Reads of what the policy may not see, in the order in which they first happened.
    pub hidden: Vec<HiddenRead>,
    /// Something was left out of the lists, because they were full.
    pub incomplete: bool,
    known: HashSet<(ReadKind, Vec<String>)>,
}

impl Reads {
    /// Notes that a value of this kind was read at a path. True: for the first time.
    pub fn read(&mut self, kind: ReadKind, path: &[String]) -> bool {
        let set = match kind {
            ReadKind::Fact => &mut self.facts,
            ReadKind::Attribute => &mut self.attributes,
        };
        let kept = keep(set, path);
        self.incomplete |= kept.is_none();
        kept == Some(true)
    }

    /// Notes that a path was written.
    pub fn wrote(&mut self, path: &[String]) {
        self.incomplete |= keep(&mut self.written, path).is_none();
    }

    /// Whether a hidden read of this kind and path is kept.
    pub fn has_hidden(&self, kind: ReadKind, path: &[String]) -> bool {
        self.hidden.iter().any(|read| read.kind == kind && read.path == path)
    }

    /// Notes a hidden read. True: it is the first of its path and is kept.
    pub fn hid(&mut self, read: HiddenRead) -> bool {
        let key = (read.kind, read.path.clone());
        if self.known.contains(&key) {
            self.complete(&read);
            return false;
        }
        if self.hidden.len() >= MAX_HIDDEN_READS || bytes(&read.path) > MAX_PATH_BYTES {
            self.incomplete = true;
            return false;
        }
        self.known.insert(key);
        self.hidden.push(read);
        true
    }

    /// A guest that keeps attributes finds out first that something is hidden, and then says where it was asked for it.
    fn complete(&mut self, read: &HiddenRead) {
        let known = self.hidden.iter_mut().find(|known| known.kind == read.kind && known.path == read.path);
        if let Some(known) = known {
            known.refused |= read.refused;
            if known.origin.file.is_none() && read.origin.file.is_some() {
                known.origin.clone_from(&read.origin);
            }
        }
    }

    /// The hint for an error of the policy: the lines of its table that would show it the hidden facts and attributes it
    /// read. `None` where it read none that `said`, the error's own text, does not speak of already.
    pub fn hint(&self, policy: &str, said: &str) -> Option<String> {
        let told = self.hidden.iter().filter(|read| !said.contains(&read.grant)).collect::<Vec<_>>();
        if told.is_empty() {
            return None;
        }
        let paths = told.iter().map(|read| read.shown()).collect::<Vec<_>>().join(", ");
        let lines = grant_lines(&told).join("\n");
        let text = format!("policy {policy} read values of this node that it is not granted: {paths}");
        Some(format!("{text}\nto allow it, add to its table in grants.toml:\n{lines}"))
    }
}

impl HiddenRead {
    /// The path with dots, as rules of the grants have it; `*` for everything.
    pub fn shown(&self) -> String {
        dotted_path(&self.path)
    }
}

/// A path with dots, as rules of the grants have it: `*` for everything, a dot within a key as `\.`.
pub fn dotted_path(path: &[String]) -> String {
    if path.is_empty() {
        return "*".to_owned();
    }
    let steps: Vec<_> = path.iter().map(|step| step.replace('\\', "\\\\").replace('.', "\\.")).collect();
    steps.join(".")
}

/// The lines that would allow hidden reads, one per key of the policy's table.
fn grant_lines(reads: &[&HiddenRead]) -> Vec<String> {
    let mut by_key: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (key, entry) in grant_entries(reads.iter().map(|read| read.grant.as_str())) {
        by_key.entry(key).or_default().push(entry);
    }
    by_key.into_iter().map(|(key, entries)| format!("{key} = [{}]", entries.join(", "))).collect()
}

/// The keys and entries of lines with one entry each, such as `facts = ["memory"]`; each once. An entry for a path allows all
/// below it, so that those below are left out; the entry for everything (`"*"`) is there only if its key has no other. A path
/// with an empty key is left out: no rule can name it.
pub fn grant_entries<'l>(lines: impl Iterator<Item = &'l str>) -> Vec<(&'l str, &'l str)> {
    let parts = |line: &'l str| line.split_once(" = [").and_then(|(key, rest)| Some((key, rest.strip_suffix(']')?)));
    let has_names = |(_, entry): &(&str, &str)| entry.trim_matches('"').split('.').all(|name| !name.is_empty());
    let asked: BTreeSet<(&str, &str)> = lines.filter_map(parts).filter(has_names).collect();
    let is_everything = |entry: &str| entry == "\"*\"";
    let is_below = |entry: &str, other: &str| {
        let other = other.strip_suffix('"').unwrap_or(other);
        entry.strip_prefix(other).is_some_and(|rest| rest.starts_with('.'))
    };
    let needed = |(key, entry): &(&str, &str)| {
        let mut others = asked.iter().filter(|(of, other)| of == key && other != entry);
        if is_everything(entry) { others.next().is_none() } else { !others.any(|(_, other)| is_below(entry, other)) }
    };
    asked.iter().copied().filter(needed).collect()
}

/// Whether the path is new; `None`: it was left out.
fn keep(set: &mut BTreeSet<Vec<String>>, path: &[String]) -> Option<bool> {
    if set.contains(path) {
        return Some(false);
    }
    let fits = set.len() < MAX_READ_PATHS && bytes(path) <= MAX_PATH_BYTES;
    fits.then(|| set.insert(path.to_vec()))
}

fn bytes(path: &[String]) -> usize {
    path.iter().map(|step| step.len() + 1).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> Vec<String> {
        text.split('.').map(str::to_owned).collect()
    }

    fn read(text: &str, line: Option<u32>) -> HiddenRead {
        let origin = Origin { file: line.map(|_| "recipes/default.rb".into()), line, ..Origin::policy("web") };
        let grant = format!("facts = [\"{text}\"]");
        HiddenRead { kind: ReadKind::Fact, path: path(text), partly: false, refused: false, origin, grant }
    }

    #[test]
    fn a_path_is_kept_once_with_the_first_place_that_is_known() {
        let mut reads = Reads::default();
        assert!(reads.hid(read("memory", None)));
        assert!(!reads.hid(HiddenRead { refused: true, ..read("memory", Some(3)) }));
        assert!(!reads.hid(read("memory", Some(9))));
        assert_eq!(reads.hidden, [HiddenRead { refused: true, ..read("memory", Some(3)) }]);
    }

    #[test]
    fn lists_are_bounded() {
        let mut reads = Reads::default();
        for number in 0..2 * MAX_READ_PATHS {
            reads.read(ReadKind::Fact, &path(&format!("fact{number}")));
            reads.read(ReadKind::Attribute, &path(&format!("attribute{number}")));
            reads.wrote(&path(&format!("own{number}")));
            reads.hid(read(&format!("fact{number}"), None));
        }
        let sizes = [reads.facts.len(), reads.attributes.len(), reads.written.len(), reads.hidden.len()];
        assert_eq!(sizes, [MAX_READ_PATHS, MAX_READ_PATHS, MAX_READ_PATHS, MAX_HIDDEN_READS]);
        assert!(reads.incomplete);
        let mut reads = Reads::default();
        reads.wrote(&["x".repeat(MAX_PATH_BYTES)]);
        assert!(reads.written.is_empty() && reads.incomplete);
    }

    #[test]
    fn the_hint_has_one_line_per_key_and_leaves_out_what_the_error_says() {
        let mut reads = Reads::default();
        assert_eq!(reads.hint("web", ""), None);
        reads.hid(read("memory", None));
        reads.hid(read("network.interfaces", None));
        let expect = "policy web read values of this node that it is not granted: memory, network.interfaces\n\
            to allow it, add to its table in grants.toml:\nfacts = [\"memory\", \"network.interfaces\"]";
        assert_eq!(reads.hint("web", "some error").as_deref(), Some(expect));
        let left = reads.hint("web", "may not read fact `memory`: facts = [\"memory\"]").unwrap();
        assert!(left.ends_with("\nfacts = [\"network.interfaces\"]"), "{left}");
    }

    #[test]
    fn entries_stand_once_and_what_a_shorter_one_allows_is_left_out() {
        let entries = |lines: &[&'static str]| grant_entries(lines.iter().copied());
        let facts = |entry: &str| format!("facts = [\"{entry}\"]");
        let (memory, free, other) = (facts("memory"), facts("memory.free"), facts("memory\\\\.x"));
        let lines = [free.as_str(), &memory, &memory, &other, "facts = [\"*\"]", "read_attributes = [\"*\"]"];
        let expect = [("facts", "\"memory\""), ("facts", "\"memory\\\\.x\""), ("read_attributes", "\"*\"")];
        assert_eq!(grant_entries(lines.into_iter()), expect);
        assert_eq!(entries(&["facts", "facts = x"]), []);
        let empty_keys = ["facts = [\"\"]", "facts = [\".a\"]", "facts = [\"a..b\"]", "facts = [\"a.\"]"];
        assert_eq!(entries(&empty_keys), []);
    }
}
