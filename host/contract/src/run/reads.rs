//! Records the facts and attributes that a policy read and wrote, and those that are hidden from it.
//!
//! Guests choose the paths, so all lists have limits. Each path is stored once, even if it is read often.

use node::origin::Origin;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The maximum number of stored paths of each kind.
pub const MAX_READ_PATHS: usize = 1_000;

/// The maximum number of stored hidden reads.
pub const MAX_HIDDEN_READS: usize = 200;

/// The maximum length of a stored path in bytes.
const MAX_PATH_BYTES: usize = 1_024;

/// The owner of a value that the policy does not own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ReadKind {
    /// A fact of the machine.
    Fact,
    /// An attribute that the operator set: in a layer, or in `normal`.
    Given,
    /// An attribute of another policy: in the inherited layer or in `normal`.
    Attribute,
}

impl ReadKind {
    /// Every kind of read, in the order of the report.
    pub const ALL: [Self; 3] = [Self::Fact, Self::Given, Self::Attribute];

    /// Returns the word for reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fact => "fact",
            Self::Given | Self::Attribute => "attribute",
        }
    }

    /// Returns the word of reports for whose value it is.
    pub fn owner(self) -> &'static str {
        match self {
            Self::Fact => "machine",
            Self::Given => "operator",
            Self::Attribute => "policy",
        }
    }
}

/// A read of an existing value that the policy may not read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HiddenRead {
    /// A fact, or an attribute of the operator or of another policy.
    pub kind: ReadKind,
    /// The path of the read. An empty path means everything.
    pub path: Vec<String>,
    /// True if the policy got a part of the value.
    pub partly: bool,
    /// True if the read was refused with an error.
    pub refused: bool,
    /// The first place that read it.
    pub origin: Origin,
    /// The line of the policy's table in the grants that would allow it.
    pub grant: String,
}

/// One policy's reads and writes of the node outside of its own cookbooks.
#[derive(Debug, Clone, Default)]
pub struct Reads {
    /// The facts that were read, including hidden ones.
    pub facts: BTreeSet<Vec<String>>,
    /// The attributes of other policies and of the operator that were read, including hidden ones.
    pub attributes: BTreeSet<Vec<String>>,
    /// Attributes that were written at any level.
    pub written: BTreeSet<Vec<String>>,
    /// Reads of hidden values, in the order of first occurrence.
    pub hidden: Vec<HiddenRead>,
    /// True if a list is incomplete because it was full.
    pub incomplete: bool,
    /// The stored hidden reads, and whether the guest told their place. Otherwise it is the place of the running resource.
    known: HashMap<(ReadKind, Vec<String>), bool>,
}

impl Reads {
    /// Records a read of a value of this kind. Returns true for the first read of the path.
    pub fn read(&mut self, kind: ReadKind, path: &[String]) -> bool {
        let set = match kind {
            ReadKind::Fact => &mut self.facts,
            ReadKind::Given | ReadKind::Attribute => &mut self.attributes,
        };
        let kept = keep(set, path);
        self.incomplete |= kept.is_none();
        kept == Some(true)
    }

    /// Records a write to a path.
    pub fn wrote(&mut self, path: &[String]) {
        self.incomplete |= keep(&mut self.written, path).is_none();
    }

    /// Returns true if a refused read of this kind and path is stored.
    pub fn has_refused(&self, kind: ReadKind, path: &[String]) -> bool {
        self.hidden.iter().any(|read| read.refused && read.kind == kind && read.path == path)
    }

    /// Records a hidden read. `is_told` is true if the guest told its place. Returns true if it is the first of its path and is
    /// stored.
    pub fn hid(&mut self, read: HiddenRead, is_told: bool) -> bool {
        let key = (read.kind, read.path.clone());
        if let Some(was_told) = self.known.get_mut(&key) {
            let is_better = is_told && !*was_told;
            *was_told |= is_told;
            self.complete(&read, is_better);
            return false;
        }
        if self.hidden.len() >= MAX_HIDDEN_READS || bytes(&read.path) > MAX_PATH_BYTES {
            self.incomplete = true;
            return false;
        }
        self.known.insert(key, is_told);
        self.hidden.push(read);
        true
    }

    /// Adds data of a later read to a stored one. A guest with a cache first finds out that a value is hidden, and then sends
    /// the place of the read.
    fn complete(&mut self, read: &HiddenRead, has_better_place: bool) {
        let known = self.hidden.iter_mut().find(|known| known.kind == read.kind && known.path == read.path);
        if let Some(known) = known {
            known.refused |= read.refused;
            if read.origin.file.is_some() && (has_better_place || known.origin.file.is_none()) {
                known.origin.clone_from(&read.origin);
            }
        }
    }

    /// Returns a hint for an error of the policy: the lines of the grants that would allow the hidden reads. Returns `None`
    /// if there were no hidden reads, or if the error's own text, `said`, names all of them.
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
    /// Returns the path with dots, as in rules of the grants, or `*` for everything.
    pub fn shown(&self) -> String {
        dotted_path(&self.path)
    }
}

/// Returns a path with dots, as in rules of the grants: `*` for everything, and `\.` for a dot within a key.
pub fn dotted_path(path: &[String]) -> String {
    if path.is_empty() {
        return "*".to_owned();
    }
    let steps: Vec<_> = path.iter().map(|step| step.replace('\\', "\\\\").replace('.', "\\.")).collect();
    steps.join(".")
}

/// Returns the lines of the grants that would allow hidden reads, one line per key.
fn grant_lines(reads: &[&HiddenRead]) -> Vec<String> {
    let mut by_key: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (key, entry) in grant_entries(reads.iter().map(|read| read.grant.as_str())) {
        by_key.entry(key).or_default().push(entry);
    }
    by_key.into_iter().map(|(key, entries)| format!("{key} = [{}]", entries.join(", "))).collect()
}

/// Returns the keys and entries of lines with one entry each, such as `facts = ["memory"]`, without duplicates. It omits
/// entries below another entry, because an entry allows everything below its path. It returns the entry for everything
/// (`"*"`) only if its key has no other entry. It omits paths with an empty key, because no rule can name them.
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

/// Adds a path. Returns true if it is new, or `None` if it was omitted.
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
        assert!(reads.hid(read("memory", None), false));
        assert!(!reads.hid(HiddenRead { refused: true, ..read("memory", Some(3)) }, true));
        assert!(!reads.hid(read("memory", Some(9)), true));
        // The resource's place is only a guess.
        assert!(reads.hid(read("cpu", Some(1)), false));
        assert!(!reads.hid(read("cpu", Some(7)), true) && !reads.hid(read("cpu", Some(8)), true));
        let expect = [HiddenRead { refused: true, ..read("memory", Some(3)) }, read("cpu", Some(7))];
        assert_eq!(reads.hidden, expect);
    }

    #[test]
    fn lists_are_bounded() {
        let mut reads = Reads::default();
        for number in 0..2 * MAX_READ_PATHS {
            reads.read(ReadKind::Fact, &path(&format!("fact{number}")));
            reads.read(ReadKind::Attribute, &path(&format!("attribute{number}")));
            reads.wrote(&path(&format!("own{number}")));
            reads.hid(read(&format!("fact{number}"), None), true);
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
        reads.hid(read("memory", None), true);
        reads.hid(read("network.interfaces", None), true);
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
