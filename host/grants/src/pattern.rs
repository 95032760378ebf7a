//! Patterns of paths and names, and how specific they are.

use crate::downloads::{Server, ServerPattern};
use crate::homes::Homes;
use crate::mounts::{MountAsked, MountPattern};
use crate::reach::{self, TooWide};
use crate::signs::{covers_name, fixed_beginning, fixed_characters, has_wildcard, only_text, wildcard};

/// How specific a pattern is. A pattern without wildcards is more specific than any with wildcards. Then the longer fixed
/// beginning decides, then the number of fixed characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Specificity {
    exact: bool,
    fixed_parts: usize,
    fixed_characters: usize,
}

/// A pattern of names: `*` matches any characters, and `?` one character; `[*]` and `[?]` match these characters themselves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NamePattern(String);

impl NamePattern {
    pub(crate) fn new(text: &str) -> Self {
        Self(text.into())
    }

    pub(crate) fn matches(&self, name: &str) -> bool {
        wildcard(&self.0, name)
    }

    pub(crate) fn is_exact(&self) -> bool {
        !has_wildcard(&self.0)
    }

    /// Tells whether this pattern matches every name that the other one matches.
    pub(crate) fn covers(&self, other: &Self) -> bool {
        covers_name(&self.0, &other.0)
    }

    /// Returns the pattern as written.
    pub(crate) fn text(&self) -> &str {
        &self.0
    }

    /// Returns the only name that it matches (for a service, without `.service`), or `None` if it has wildcards.
    pub(crate) fn only_name(&self) -> Option<String> {
        only_text(&self.0)
    }

    pub(crate) fn specificity(&self) -> Specificity {
        let (fixed_parts, fixed_characters) = (fixed_beginning(&self.0), fixed_characters(&self.0));
        Specificity { exact: self.is_exact(), fixed_parts, fixed_characters }
    }
}

/// A pattern of absolute paths. `*` and `?` match characters of one component. `**` as a whole component matches any number
/// of components, even none. So `/srv/**` matches `/srv` and everything below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PathPattern {
    parts: Vec<String>,
    /// The beginning of every path that matches, to exclude most rules quickly.
    beginning: String,
}

const ANY_DEPTH: &str = "**";

impl PathPattern {
    /// Parses a pattern, or returns the error.
    pub(crate) fn new(text: &str) -> Result<Self, String> {
        let parts = components(text).ok_or_else(|| {
            format!("`{text}` is not an absolute path: it must begin with `/` and have no empty, `.` or `..` component")
        })?;
        if let Some(part) = parts.iter().find(|part| part.contains(ANY_DEPTH) && **part != ANY_DEPTH) {
            return Err(format!("`**` must be a whole component, not a part of `{part}`"));
        }
        let fixed = parts.iter().map_while(|part| only_text(part));
        let beginning = fixed.map(|part| format!("/{part}")).collect();
        Ok(Self { parts: parts.into_iter().map(Into::into).collect(), beginning })
    }

    pub(crate) fn matches(&self, path: &str) -> bool {
        path.starts_with(&self.beginning) && components(path).is_some_and(|path| covers(&self.parts, &path, wildcard))
    }

    /// Tells whether this pattern matches every path that the other one matches. If in doubt, returns false.
    pub(crate) fn covers(&self, other: &Self) -> bool {
        let names: Vec<&str> = other.parts.iter().map(String::as_str).collect();
        covers(&self.parts, &names, |part, name| name != ANY_DEPTH && covers_name(part, name))
    }

    pub(crate) fn is_exact(&self) -> bool {
        !self.parts.iter().any(|part| has_wildcard(part))
    }

    /// Returns the beginning of every path that matches; empty for `/**`.
    pub(crate) fn beginning(&self) -> &str {
        &self.beginning
    }

    /// Tells whether one of its components is this name.
    pub(crate) fn has_part(&self, name: &str) -> bool {
        self.parts.iter().any(|part| part == name)
    }

    /// Returns the only path that it matches, or `None` if it has wildcards.
    pub(crate) fn only_path(&self) -> Option<String> {
        let names: Option<Vec<String>> = self.parts.iter().map(|part| only_text(part)).collect();
        names.map(|names| format!("/{}", names.join("/")))
    }

    /// Tells whether all paths below a matching path match too.
    pub(crate) fn covers_below(&self) -> bool {
        self.parts.last().is_some_and(|part| part == ANY_DEPTH)
    }

    /// Tells whether a path at or below the directory could match. If in doubt, returns true.
    pub(crate) fn may_match_below(&self, directory: &str) -> bool {
        let Some(directory) = components(directory) else { return true };
        let paired = self.parts.iter().zip(&directory);
        paired.take_while(|(part, _)| *part != ANY_DEPTH).all(|(part, name)| wildcard(part, name))
            && (self.parts.len() >= directory.len() || self.parts.iter().any(|part| part == ANY_DEPTH))
    }

    /// Tells whether an entry directly in the directory could match. If in doubt, returns true.
    pub(crate) fn may_match_in(&self, directory: &str) -> bool {
        let depth = components(directory).map_or(0, |parts| parts.len());
        let any_depth = self.parts.iter().position(|part| part == ANY_DEPTH);
        let reaches = any_depth.map_or(self.parts.len() == depth + 1, |at| at <= depth);
        reaches && self.may_match_below(directory)
    }

    pub(crate) fn specificity(&self) -> Specificity {
        Specificity {
            exact: self.is_exact(),
            fixed_parts: self.parts.iter().take_while(|part| !has_wildcard(part)).count(),
            fixed_characters: self.parts.iter().map(|part| fixed_characters(part)).sum(),
        }
    }
}

/// Splits an absolute path in normal form into components; `/` gives an empty list. Returns `None` for any other text.
fn components(path: &str) -> Option<Vec<&str>> {
    let inner = path.strip_prefix('/')?;
    if inner.is_empty() {
        return Some(vec![]);
    }
    let parts: Vec<&str> = inner.split('/').collect();
    let plain = parts.iter().all(|part| !matches!(*part, "" | "." | "..") && !part.contains('\0'));
    plain.then_some(parts)
}

/// Tells whether the pattern's components match the path's. Each `**` starts with the shortest match, and only the last one
/// is ever extended. So the time is limited by the product of the lengths.
fn covers(pattern: &[String], path: &[&str], matches: impl Fn(&str, &str) -> bool) -> bool {
    let (mut at_pattern, mut at_path) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    while at_path < path.len() || at_pattern < pattern.len() {
        match (pattern.get(at_pattern), path.get(at_path)) {
            (Some(part), _) if part == ANY_DEPTH => {
                retry = Some((at_pattern, at_path + 1));
                at_pattern += 1;
                continue;
            }
            (Some(part), Some(name)) if matches(part, name) => {
                at_pattern += 1;
                at_path += 1;
                continue;
            }
            _ => {}
        }
        match retry {
            Some((pattern_again, path_again)) if path_again <= path.len() => {
                (at_pattern, at_path) = (pattern_again, path_again);
            }
            _ => return false,
        }
    }
    true
}

/// A pattern of attribute paths, written with dots (`mysql.server`; a dot within a key as `\.`). It covers everything below
/// it. `*` matches any characters of one key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AttributePattern {
    parts: Vec<String>,
}

impl AttributePattern {
    /// Parses a pattern, or returns the error.
    pub(crate) fn new(text: &str) -> Result<Self, String> {
        let parts = split_dots(text);
        if parts.iter().any(String::is_empty) {
            return Err(format!("`{text}` is not an attribute path: it has an empty key"));
        }
        Ok(Self { parts })
    }

    fn matches(&self, asked: &[String]) -> bool {
        asked.len() >= self.parts.len() && self.parts.iter().zip(asked).all(|(part, key)| wildcard(part, key))
    }

    /// Tells whether this pattern covers every attribute that the other one covers.
    pub(crate) fn covers(&self, other: &Self) -> bool {
        other.parts.len() >= self.parts.len()
            && self.parts.iter().zip(&other.parts).all(|(part, key)| covers_name(part, key))
    }

    /// Returns the keys of the path. A key with wildcards is returned as written.
    pub(crate) fn keys(&self) -> Vec<String> {
        self.parts.iter().map(|part| only_text(part).unwrap_or_else(|| part.clone())).collect()
    }

    /// Returns the keys before the first one with wildcards.
    pub(crate) fn exact_beginning(&self) -> Vec<String> {
        self.parts.iter().map_while(|part| only_text(part)).collect()
    }

    /// Tells whether something below the path could match.
    pub(crate) fn may_match_below(&self, path: &[String]) -> bool {
        self.parts.iter().zip(path).all(|(part, key)| wildcard(part, key))
    }
}

fn split_dots(text: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        let plain = match character {
            '.' => {
                parts.push(String::new());
                continue;
            }
            '\\' => characters.next().unwrap_or('\\'),
            plain => plain,
        };
        if let Some(last) = parts.last_mut() {
            last.push(plain);
        }
    }
    parts
}

/// Formats an attribute path as the operator writes it.
pub(crate) fn join_dots(path: &[String]) -> String {
    let parts: Vec<String> = path.iter().map(|key| key.replace('\\', "\\\\").replace('.', "\\.")).collect();
    parts.join(".")
}

/// The pattern of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Pattern {
    Path(PathPattern),
    Name(NamePattern),
    Server(ServerPattern),
    Attribute(AttributePattern),
    Mount(MountPattern),
}

/// A thing that is compared with a rule.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Asked<'a> {
    /// A name or another text.
    Text(&'a str),
    /// A resolved path, on a machine where users have these homes.
    Path(&'a str, &'a Homes),
    /// A mount, with its device, place, kind and options.
    Mount(&'a MountAsked<'a>),
    /// An attribute's path, one text a key.
    Keys(&'a [String]),
    /// A server, with its scheme, name and port.
    Server(&'a Server),
}

impl Pattern {
    /// Tells whether the pattern matches a thing.
    pub(crate) fn matches(&self, asked: Asked<'_>) -> bool {
        match (self, asked) {
            (Self::Path(pattern), Asked::Path(path, _)) => pattern.matches(path),
            (Self::Name(pattern), Asked::Text(name)) => pattern.matches(name),
            (Self::Server(pattern), Asked::Server(server)) => pattern.matches(server),
            (Self::Attribute(pattern), Asked::Keys(path)) => pattern.matches(path),
            (Self::Mount(pattern), Asked::Mount(mount)) => pattern.matches(mount),
            _ => false,
        }
    }

    /// Tells whether this pattern matches everything that the other one matches. If in doubt, returns false.
    pub(crate) fn covers(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Path(pattern), Self::Path(other)) => pattern.covers(other),
            (Self::Name(pattern), Self::Name(other)) => pattern.covers(other),
            (Self::Server(pattern), Self::Server(other)) => pattern.covers(other),
            (Self::Attribute(pattern), Self::Attribute(other)) => pattern.covers(other),
            (Self::Mount(pattern), Self::Mount(other)) => pattern.covers(other),
            _ => false,
        }
    }

    /// Tells whether it has no wildcards.
    pub(crate) fn is_exact(&self) -> bool {
        match self {
            Self::Path(pattern) => pattern.is_exact(),
            Self::Name(pattern) => pattern.is_exact(),
            Self::Server(pattern) => !has_wildcard(&pattern.0.host),
            Self::Attribute(pattern) => !pattern.parts.iter().any(|part| has_wildcard(part)),
            Self::Mount(pattern) => pattern.is_exact(),
        }
    }

    /// Returns why a matching rule does not cover a thing, apart from privileges.
    pub(crate) fn too_wide(&self, asked: Asked<'_>) -> Option<TooWide> {
        match (self, asked) {
            (Self::Path(pattern), Asked::Path(path, homes)) if !pattern.is_exact() => {
                reach::too_wide(pattern, path, homes)
            }
            (Self::Mount(pattern), Asked::Mount(mount)) => pattern.is_too_wide(mount).then_some(TooWide::Option),
            _ => None,
        }
    }

    /// Returns how specific the pattern is.
    pub(crate) fn specificity(&self) -> Specificity {
        match self {
            Self::Path(pattern) => pattern.specificity(),
            Self::Name(pattern) => pattern.specificity(),
            Self::Mount(pattern) => NamePattern::new(&pattern.text()).specificity(),
            Self::Server(pattern) => Specificity {
                exact: self.is_exact(),
                fixed_parts: 0,
                fixed_characters: fixed_characters(&pattern.0.host),
            },
            Self::Attribute(pattern) => Specificity {
                exact: self.is_exact(),
                fixed_parts: pattern.parts.iter().take_while(|part| !has_wildcard(part)).count(),
                fixed_characters: pattern.parts.iter().map(|part| fixed_characters(part)).sum(),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pattern: &str, path: &str, expect: bool) {
        assert_eq!(PathPattern::new(pattern).unwrap().matches(path), expect, "{pattern} on {path}");
    }

    #[test]
    fn paths_match_by_component() {
        check("/etc/motd", "/etc/motd", true);
        check("/etc/motd", "/etc/motd2", false);
        check("/etc/*", "/etc/motd", true);
        check("/etc/*", "/etc", false);
        check("/etc/*", "/etc/a/b", false);
        check("/etc/*.conf", "/etc/a.conf", true);
        check("/etc/?", "/etc/ab", false);
        check("/etc/mysql/**", "/etc/mysql", true);
        check("/etc/mysql/**", "/etc/mysql/a/b", true);
        check("/etc/mysql/**", "/etc/mysql2", false);
        check("/**/.ssh/**", "/home/a/.ssh/id", true);
        check("/**/.ssh/**", "/.ssh", true);
        check("/**", "/", true);
        check("/", "/", true);
        check("/**/a/**/b", "/x/a/y/a/z/b", true);
        check("/**/a/**/b", "/x/a/y/a/z/c", false);
    }

    #[test]
    fn signs_in_brackets_are_a_names_own() {
        check("/srv/[*][*]", "/srv/**", true);
        check("/srv/[*][*]", "/srv/a", false);
        check("/srv/[*][*]", "/srv", false);
        check("/srv/[*]/*", "/srv/*/a", true);
        check("/srv/[*]/*", "/srv/b/a", false);
        let exact = PathPattern::new("/srv/[?]/a").unwrap();
        assert!(exact.is_exact() && !exact.covers_below());
        assert_eq!(exact.only_path().as_deref(), Some("/srv/?/a"));
        assert!(PathPattern::new("/srv/**").unwrap().covers(&exact));
    }

    #[test]
    fn what_is_no_plain_path_matches_nothing() {
        for path in ["", "etc", "/etc/", "/etc//a", "/etc/../a", "/./a", "/a\0b"] {
            check("/**", path, false);
        }
    }

    #[test]
    fn a_pattern_covers_what_can_only_match_where_it_does() {
        #[track_caller]
        fn covers(pattern: &str, other: &str, expect: bool) {
            let (pattern_, other_) = (PathPattern::new(pattern).unwrap(), PathPattern::new(other).unwrap());
            assert_eq!(pattern_.covers(&other_), expect, "{pattern} and {other}");
        }
        covers("/etc/**", "/etc/mysql/**", true);
        covers("/etc/**", "/etc", true);
        covers("/etc/*", "/etc/**", false);
        covers("/etc/*", "/etc/*.conf", true);
        covers("/etc/*.conf", "/etc/*", false);
        covers("/etc/?", "/etc/*", false);
        covers("/etc/?", "/etc/?", true);
        covers("/etc/*/a", "/etc/**/a", false);
        covers("/**/a", "/etc/**/a", true);
        covers("/etc/motd", "/etc/motd", true);
        covers("/etc/mysql/**", "/etc/**", false);
        assert!(covers_name("php-*", "php-?") && !covers_name("php-?", "php-*"));
        let attribute = |text| AttributePattern::new(text).unwrap();
        assert!(attribute("a").covers(&attribute("a.b")) && !attribute("a.b").covers(&attribute("a")));
    }

    #[test]
    fn bad_patterns_are_refused() {
        for pattern in ["etc", "", "/a/../b", "/a//b", "/a/x**", "/a/"] {
            assert!(PathPattern::new(pattern).is_err(), "{pattern}");
        }
    }

    #[test]
    fn the_more_specific_is_greater() {
        let order = ["/**", "/etc/**", "/etc/*.conf", "/etc/mysql/**", "/etc/mysql/*.cnf", "/etc/mysql/my.cnf"];
        let all: Vec<_> = order.iter().map(|text| PathPattern::new(text).unwrap().specificity()).collect();
        assert!(all.is_sorted(), "{all:?}");
    }

    #[test]
    fn what_may_lie_below_a_directory() {
        #[track_caller]
        fn below(pattern: &str, directory: &str, expect: bool) {
            assert_eq!(
                PathPattern::new(pattern).unwrap().may_match_below(directory),
                expect,
                "{pattern} below {directory}"
            );
        }
        below("/srv/a/secret", "/srv/a", true);
        below("/srv/a/secret", "/srv/b", false);
        below("/srv/a", "/srv/a/b", false);
        below("/srv/a/**", "/srv/a/b", true);
        below("/srv/*/secret", "/srv/b", true);
        below("/**/.ssh", "/srv", true);
        below("/srv/**/secret", "/srv/x/y", true);
        below("/opt/**", "/srv", false);
    }
}
