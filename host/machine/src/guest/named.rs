//! Finds the changed paths that a text names.
//!
//! Guests choose both the text and thousands of paths. The search looks up each place of the text where a path may begin in
//! the sorted paths. So its time does not grow with the number of paths, and every lookup counts as work.

use super::layer::{Content, Layer, MAX_PATH, Node};
use contract::{Account, Ended, StatKind};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::Arc;

/// The number of bytes that count as one unit of work.
const BYTES_PER_UNIT: usize = 64;

/// The changed paths, sorted.
struct Paths<'l> {
    nodes: &'l BTreeMap<String, Node>,
    aliases: &'l BTreeSet<String>,
    /// Paths whose state is unknown.
    unknown: &'l BTreeMap<String, Arc<str>>,
    /// The first bytes of all paths.
    first: BTreeSet<u8>,
}

/// Returns a changed path that one of the texts names directly or as the directory of a longer path.
///
/// # Errors
/// The policy must end.
pub(super) fn first_named<'t>(
    layer: &Layer,
    texts: impl IntoIterator<Item = &'t str>,
    account: Option<&Account>,
) -> Result<Option<String>, Ended> {
    let (nodes, aliases) = layer.changed();
    let unknown = &layer.unknown;
    if nodes.is_empty() && unknown.is_empty() {
        return Ok(None);
    }
    let pay = |bytes: usize| account.map_or(Ok(()), |account| account.work((bytes / BYTES_PER_UNIT) as u64 + 1));
    // All real paths begin with `/`. They are not scanned, because there may be one for each resource and every guard does
    // this search.
    let mut first: BTreeSet<u8> = aliases.iter().filter_map(|path| path.bytes().next()).collect();
    first.insert(b'/');
    let paths = Paths { nodes, aliases, unknown, first };
    for text in texts {
        pay(text.len())?;
        if let Some(path) = paths.first_in(text, &pay)? {
            return Ok(Some(path.to_owned()));
        }
    }
    Ok(None)
}

impl<'l> Paths<'l> {
    fn first_in(&self, text: &str, pay: &impl Fn(usize) -> Result<(), Ended>) -> Result<Option<&'l str>, Ended> {
        let ends = ends(text);
        for (at, _) in text.bytes().enumerate().filter(|(_, byte)| self.first.contains(byte)) {
            let node = |most: &str| {
                let (path, node) = self.nodes.range::<str, _>(up_to(most)).next_back()?;
                let looks_alone =
                    matches!(node, Node::There(stat, Content::Machines) if stat.kind == StatKind::Directory);
                Some((path.as_str(), !looks_alone))
            };
            let alias = |most: &str| Some((self.aliases.range::<str, _>(up_to(most)).next_back()?.as_str(), true));
            let unknown = |most: &str| Some((self.unknown.range::<str, _>(up_to(most)).next_back()?.0.as_str(), true));
            let mut found = at_place(text, at, &ends, node, pay)?;
            if found.is_none() {
                found = at_place(text, at, &ends, alias, pay)?;
            }
            if found.is_none() {
                found = at_place(text, at, &ends, unknown, pay)?;
            }
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }
}

fn up_to(most: &str) -> (Bound<&str>, Bound<&str>) {
    (Bound::Unbounded, Bound::Included(most))
}

/// Returns the offsets in a text at which a path may end, ascending.
fn ends(text: &str) -> Vec<usize> {
    let is_part_of_name = |letter: char| letter.is_alphanumeric() || "._-+~%".contains(letter);
    let places = text.char_indices().filter(|(_, letter)| !is_part_of_name(*letter)).map(|(at, _)| at);
    places.chain([text.len()]).collect()
}

/// Returns the path that the text names at byte `at`. `last` returns the last path that sorts up to a given text, and whether
/// paths below it would change with it.
fn at_place<'l>(
    text: &str,
    at: usize,
    ends: &[usize],
    last: impl Fn(&str) -> Option<(&'l str, bool)>,
    pay: &impl Fn(usize) -> Result<(), Ended>,
) -> Result<Option<&'l str>, Ended> {
    let mut most = at + MAX_PATH;
    loop {
        let end = ends.partition_point(|end| *end <= most).checked_sub(1).and_then(|index| ends.get(index));
        let Some(name) = end.and_then(|end| text.get(at..*end)).filter(|name| !name.is_empty()) else {
            return Ok(None);
        };
        pay(name.len())?;
        match last(name) {
            Some((path, has_below)) if path == name => {
                if has_below || text.as_bytes().get(at + name.len()) != Some(&b'/') {
                    return Ok(Some(path));
                }
                most = at + name.len() - 1;
            }
            // Paths that the text begins with sort before this one and share its beginning.
            Some((path, _)) => {
                most = at + path.bytes().zip(name.bytes()).take_while(|(one, other)| one == other).count();
            }
            None => return Ok(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::layer::{Content, Overlay, looks};
    use contract::{Account, StatKind, Stop, StopReason};

    fn changed(paths: impl IntoIterator<Item = String>) -> Overlay {
        let overlay = Overlay::default();
        for path in paths {
            overlay.layer().put(&path, looks(StatKind::File, 0o644, 0), Content::Bytes(vec![])).unwrap();
        }
        overlay
    }

    fn named(overlay: &Overlay, text: &str) -> Option<String> {
        overlay.named_by([text], None).unwrap()
    }

    #[test]
    fn a_command_names_a_path_or_what_is_below_it() {
        let overlay = changed(["/srv/made".to_owned()]);
        overlay.layer().is_called("/srv/made", "/way/made");
        let check = |text: &str, expect: bool| assert_eq!(named(&overlay, text).is_some(), expect, "{text}");
        for text in ["cat /srv/made", "ls /srv/made/x", "x=/srv/made;y", "cat '/way/made'", "/srv/mad /root/srv/made"] {
            check(text, true);
        }
        for text in ["cat /srv/made2", "cat /srv/made.old", "ls /srv", "cat /srv/mad", "", "/", "é/srv/madé"] {
            check(text, false);
        }
    }

    /// The paths of three letters, held against the plain search of each path in the text.
    #[test]
    fn paths_are_found_however_their_beginnings_overlap() {
        let letters = ["/", "a", " ", "é"];
        let words = |count: u32| {
            (0..letters.len().pow(count)).map(move |number| {
                (0..count).map(|at| letters[number / letters.len().pow(at) % letters.len()]).collect::<String>()
            })
        };
        let plain = |text: &str, path: &str| {
            let is_end = |after: &str| !after.starts_with(['a', 'é']);
            text.char_indices().any(|(at, _)| text[at..].strip_prefix(path).is_some_and(is_end))
        };
        for (first, second) in words(2).zip(words(2).skip(5)).chain(words(1).zip(words(3))) {
            let paths = [format!("/{first}"), format!("/{second}"), format!("/{first}{second}")];
            let overlay = changed(paths.clone());
            for text in words(5) {
                let expect = paths.iter().any(|path| plain(&text, path));
                assert_eq!(named(&overlay, &text).is_some(), expect, "{paths:?} in {text:?}");
            }
        }
    }

    #[test]
    fn the_work_does_not_grow_with_the_number_of_paths_and_ends_with_the_policy() {
        let text = "srv/ou".repeat(2_000);
        let account = Account::unmetered("web");
        let stop = Stop::default();
        account.begin_turn(stop.clone());
        let works = [100, 5_000].map(|count| {
            let overlay = changed((0..count).map(|number| format!("/srv/out/{number}")));
            let before = account.usage().work;
            assert_eq!(overlay.named_by([text.as_str()], Some(&account)), Ok(None));
            (overlay, account.usage().work - before)
        });
        assert_eq!(works[0].1, works[1].1);
        assert!(works[0].1 > 2_000, "each place is counted: {}", works[0].1);
        stop.request(StopReason::Signal(15));
        let long = text.repeat(10);
        assert!(works[1].0.named_by([long.as_str()], Some(&account)).is_err());
    }
}
