//! Numeric ids that are in use although no account has them: those of users' containers, and those that systemd lends to
//! services.

use machine::root::Root;
use std::io::ErrorKind;
use std::ops::RangeInclusive;

/// The file with ranges of user ids for users' containers.
pub(super) const USERS: &str = "/etc/subuid";

/// The file with ranges of group ids for users' containers.
pub(super) const GROUPS: &str = "/etc/subgid";

/// The ids that systemd gives to services with `DynamicUser=`.
const DYNAMIC: RangeInclusive<u32> = 61184..=65519;

/// The ranges of one of the files.
#[derive(Debug, Default)]
pub(super) struct Ranges {
    all: Vec<Range>,
    /// True if the file cannot be read: any id may then be in use.
    is_unread: bool,
}

#[derive(Debug, PartialEq, Eq)]
struct Range {
    owner: String,
    first: u64,
    count: u64,
}

impl Ranges {
    /// Reads the file of a root.
    pub(super) fn read(root: &Root, path: &str) -> Self {
        match root.read(path) {
            Ok(text) => Self::parse(&String::from_utf8_lossy(&text)),
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Self::default(),
            Err(_) => Self { is_unread: true, ..Self::default() },
        }
    }

    fn parse(text: &str) -> Self {
        let range = |line: &str| {
            let mut fields = line.trim().split(':');
            let owner = fields.next().filter(|owner| !owner.is_empty() && !owner.starts_with('#'))?;
            let (first, count) = (fields.next()?.trim().parse().ok()?, fields.next()?.trim().parse().ok()?);
            Some(Range { owner: owner.to_owned(), first, count })
        };
        Self { all: text.lines().filter_map(range).collect(), is_unread: false }
    }

    /// Returns the owners of the ranges with this id: login names or user ids.
    pub(super) fn owners(&self, number: u32) -> impl Iterator<Item = &str> {
        let number = u64::from(number);
        let has_it = move |range: &&Range| number >= range.first && number - range.first < range.count;
        self.all.iter().filter(has_it).map(|range| range.owner.as_str())
    }

    /// Tells whether another user or service may use the id.
    pub(super) fn hold(&self, number: u32, name: &str) -> bool {
        self.is_unread || DYNAMIC.contains(&number) || self.owners(number).any(|owner| owner != name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_others_are_known() {
        let ranges = Ranges::parse("# x\nann:100000:65536\n1001:165536:10\nbad:1\nbob:4294967295:99999999999\n");
        for (number, expect) in [
            (99_999, None),
            (100_000, Some("ann")),
            (165_535, Some("ann")),
            (165_536, Some("1001")),
            (165_546, None),
            (u32::MAX, Some("bob")),
        ] {
            assert_eq!(ranges.owners(number).next(), expect, "{number}");
            assert_eq!(ranges.hold(number, "eve"), expect.is_some(), "{number}");
        }
        assert!(!ranges.hold(100_000, "ann"));
        assert!(ranges.hold(61_184, "ann") && ranges.hold(65_519, "ann") && !ranges.hold(65_520, "ann"));
    }
}
