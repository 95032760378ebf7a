//! `chefignore`: which files of a cookbook's folder do not belong to the cookbook.
//!
//! One pattern per line, `#` begins a comment. Patterns are those of Ruby's `File.fnmatch?` without flags, held against
//! the path below the cookbook's folder: `*` also matches `/`, and a dot at the path's beginning only matches itself.

use std::io;
use std::path::{Path, PathBuf};

const FILE: &str = "chefignore";

/// The largest file, in bytes.
const MAX_BYTES: u64 = 1 << 20;

/// The patterns of a cookbook.
#[derive(Debug, Default)]
pub(crate) struct Ignore {
    patterns: Vec<Vec<Token>>,
}

#[derive(Debug, PartialEq, Eq)]
enum Token {
    /// Any text, none too.
    Any,
    /// Any one character, for a `?`.
    One,
    /// This character and no other.
    Character(char),
    /// One of these ranges, or none of them.
    Set { ranges: Vec<(char, char)>, negated: bool },
}

impl Ignore {
    /// The patterns of a cookbook's own file, if it has one.
    ///
    /// # Errors
    /// The file that cannot be read, and why.
    pub(crate) fn of_folder(cookbook: &Path) -> Result<Self, (PathBuf, io::Error)> {
        Self::in_first(std::iter::once(cookbook))
    }

    /// The patterns of the first file that lies in the cookbook's folder or in one of those above it, as Chef looks for
    /// it where cookbooks stand side by side.
    ///
    /// # Errors
    /// The file that cannot be read, and why.
    pub(crate) fn of_folder_or_above(cookbook: &Path) -> Result<Self, (PathBuf, io::Error)> {
        Self::in_first(cookbook.ancestors())
    }

    fn in_first<'path>(folders: impl Iterator<Item = &'path Path>) -> Result<Self, (PathBuf, io::Error)> {
        for folder in folders {
            let path = folder.join(FILE);
            match plain_files::read_text(&path, MAX_BYTES) {
                Ok(text) => return Ok(Self::parse(&text)),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                // A folder of that name is where Chef looks no further, and has no patterns.
                Err(error) if error.kind() == io::ErrorKind::IsADirectory => return Ok(Self::default()),
                Err(source) => return Err((path, source)),
            }
        }
        Ok(Self::default())
    }

    fn parse(text: &str) -> Self {
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        Self { patterns: lines.map(tokens).collect() }
    }

    pub(crate) fn ignores(&self, path: &str) -> bool {
        let path: Vec<char> = path.chars().collect();
        self.patterns.iter().any(|pattern| matches(pattern, &path))
    }
}

fn tokens(pattern: &str) -> Vec<Token> {
    let mut tokens = vec![];
    let mut rest = pattern.chars();
    while let Some(character) = rest.next() {
        tokens.push(match character {
            '*' => Token::Any,
            '?' => Token::One,
            '\\' => Token::Character(rest.next().unwrap_or('\\')),
            '[' => match set(rest.as_str()) {
                Some((set, after)) => {
                    rest = after.chars();
                    set
                }
                None => Token::Character('['),
            },
            other => Token::Character(other),
        });
    }
    tokens
}

/// The set that begins after a `[`, and what follows it. None: no `]` closes it.
fn set(text: &str) -> Option<(Token, &str)> {
    let (negated, text) = match text.strip_prefix(['!', '^']) {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let mut ranges = vec![];
    let mut rest = text.chars();
    loop {
        let first = match rest.next()? {
            ']' => return Some((Token::Set { ranges, negated }, rest.as_str())),
            '\\' => rest.next()?,
            other => other,
        };
        let mut ahead = rest.clone();
        let last = match (ahead.next(), ahead.next()) {
            (Some('-'), Some(last)) if last != ']' => {
                rest = ahead;
                last
            }
            _ => first,
        };
        ranges.push((first, last));
    }
}

/// Backtracks to the last `*` only: what an earlier one could take, that one can take as well.
fn matches(pattern: &[Token], path: &[char]) -> bool {
    let hides = path.first() == Some(&'.') && pattern.first() != Some(&Token::Character('.'));
    if hides {
        return false;
    }
    let (mut at, mut position) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    loop {
        let advanced = match (pattern.get(at), path.get(position)) {
            (None, None) => return true,
            (Some(Token::Any), _) => {
                retry = Some((at + 1, position));
                at += 1;
                continue;
            }
            (Some(Token::One), Some(_)) => true,
            (Some(Token::Character(wanted)), Some(found)) => wanted == found,
            (Some(Token::Set { ranges, negated }), Some(found)) => {
                ranges.iter().any(|(first, last)| (first..=last).contains(&found)) != *negated
            }
            _ => false,
        };
        if advanced {
            (at, position) = (at + 1, position + 1);
            continue;
        }
        match retry {
            Some((after_any, taken)) if taken < path.len() => {
                retry = Some((after_any, taken + 1));
                (at, position) = (after_any, taken + 1);
            }
            _ => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pattern: &str, matching: &[&str], other: &[&str]) {
        let ignore = Ignore::parse(pattern);
        for path in matching {
            assert!(ignore.ignores(path), "{pattern} matches {path}");
        }
        for path in other {
            assert!(!ignore.ignores(path), "{pattern} does not match {path}");
        }
    }

    #[test]
    fn patterns_match_as_rubys_do() {
        check("*~", &["a~", "recipes/default.rb~"], &["a", ".a~"]);
        check("test/*", &["test/a", "test/a/b"], &["test", "a/test/b"]);
        check("*/.git/*", &["a/.git/config"], &[".git/config"]);
        check(".kitchen*", &[".kitchen.yml", ".kitchen/x"], &["a/.kitchen.yml"]);
        check("a?c", &["abc", "a/c"], &["ac", "abbc"]);
        check("[a-cx]1", &["a1", "c1", "x1"], &["d1", "-1"]);
        check("[!a]1", &["b1"], &["a1"]);
        check("[^a-b]1", &["c1"], &["a1", "b1"]);
        check("\\*", &["*"], &["a"]);
        check("[a", &["[a"], &["a"]);
        check("*.rb*x", &["a.rb.rbx"], &["a.rb"]);
        check("# all\n\n  *.md  \n", &["README.md"], &["# all", "a.rb"]);
        check("", &[], &["a"]);
    }

    #[test]
    fn a_folder_of_the_name_has_no_patterns() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("chefignore"), "*.md\n").unwrap();
        let cookbook = folder.path().join("cookbooks/web");
        std::fs::create_dir_all(&cookbook).unwrap();
        assert!(Ignore::of_folder_or_above(&cookbook).unwrap().ignores("a.md"));
        std::fs::create_dir(folder.path().join("cookbooks/chefignore")).unwrap();
        assert!(!Ignore::of_folder_or_above(&cookbook).unwrap().ignores("a.md"));
    }

    #[test]
    fn many_stars_end_soon() {
        let pattern = "*a".repeat(50);
        assert!(!Ignore::parse(&pattern).ignores(&"a".repeat(49)));
        assert!(!Ignore::parse(&format!("{pattern}b")).ignores(&"a".repeat(10_000)));
    }
}
