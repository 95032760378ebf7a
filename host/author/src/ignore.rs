//! Applies `chefignore`, which excludes files of a cookbook's folder from the cookbook.
//!
//! One pattern per line, `#` begins a comment. Patterns are those of Ruby's `File.fnmatch?` without flags, matched with the
//! path below the cookbook's folder. `*` also matches `/`. A dot at the beginning of the path is matched only by a dot.

use std::io;
use std::path::{Path, PathBuf};

use plain_files::{Folder, HeldFolder, is_own_user};

/// The name of the file.
pub(crate) const FILE: &str = "chefignore";

/// The largest file, in bytes.
const MAX_BYTES: u64 = 1 << 20;

/// The most patterns of a file.
const MAX_PATTERNS: usize = 1000;

/// Largest number of character comparisons while the files of one cookbook are listed. They take about a second, and are a
/// hundred times as many as cookbooks need. Untrusted patterns may be very long.
const MAX_STEPS: u64 = 100_000_000;

/// The patterns of a cookbook, for one listing of its files.
#[derive(Debug, Default)]
pub(crate) struct Ignore {
    path: PathBuf,
    patterns: Vec<Pattern>,
    /// How many characters were compared.
    steps: u64,
}

/// The file that cannot be read or used, and why.
pub(crate) type Unusable = (PathBuf, io::Error);

#[derive(Debug)]
struct Pattern {
    /// Its line, from 1.
    line: usize,
    tokens: Vec<Token>,
}

#[derive(Debug, PartialEq, Eq)]
enum Token {
    /// Any text, also the empty one, for a `*`.
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
    pub(crate) fn of_folder(cookbook: &HeldFolder) -> Result<Self, Unusable> {
        Ok(Self::own(cookbook)?.unwrap_or_default())
    }

    /// The patterns of the first file that lies in the cookbook's folder or in one of those above it, as Chef looks for
    /// it where cookbooks stand side by side. The patterns show in the list of a cookbook's files. So a file above it
    /// counts only where it and its folder belong to root, to the caller or to the owner of the cookbook, and may not be a link.
    ///
    /// # Errors
    /// The file that cannot be read, and why.
    pub(crate) fn of_folder_or_above(cookbook: &HeldFolder) -> Result<Self, Unusable> {
        if let Some(own) = Self::own(cookbook)? {
            return Ok(own);
        }
        let unusable = |source| (cookbook.path().join(FILE), source);
        let owner = cookbook.folder().owner().map_err(unusable)?;
        let mut above = cookbook.folder().above().map_err(unusable)?;
        for path in cookbook.real().ancestors().skip(1).map(|folder| folder.join(FILE)) {
            let Some(folder) = above else { break };
            let found = if is_trusted(&folder, owner) { folder.read(FILE, MAX_BYTES) } else { Ok(None) };
            if let Some(patterns) = Self::found(path.clone(), found)? {
                return Ok(patterns);
            }
            above = folder.above().map_err(|source| (path, source))?;
        }
        Ok(Self::default())
    }

    /// The patterns of a cookbook's own file. `None`: it has none.
    fn own(cookbook: &HeldFolder) -> Result<Option<Self>, Unusable> {
        let read = cookbook.read(FILE, MAX_BYTES).map(Some);
        Self::found(cookbook.path().join(FILE), read)
    }

    /// The patterns of a file that was looked for. `None`: it does not exist.
    fn found(path: PathBuf, read: io::Result<Option<Vec<u8>>>) -> Result<Option<Self>, Unusable> {
        match read {
            Ok(None) => Ok(None),
            Ok(Some(bytes)) => match String::from_utf8(bytes) {
                Ok(text) => Self::parse(&path, &text).map(Some),
                Err(_) => Err((path, io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8 text"))),
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            // If there is a folder of this name, Chef does not search further, and has no patterns.
            Err(error) if error.kind() == io::ErrorKind::IsADirectory => Ok(Some(Self::default())),
            Err(source) => Err((path, source)),
        }
    }

    /// Parses the patterns of a file.
    ///
    /// # Errors
    /// There are too many.
    pub(crate) fn parse(path: &Path, text: &str) -> Result<Self, Unusable> {
        let lines = text.lines().enumerate().map(|(at, line)| (at + 1, line.trim()));
        let mut patterns = vec![];
        for (line, text) in lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#')) {
            if patterns.len() == MAX_PATTERNS {
                let what = format!("line {line}: there are more than {MAX_PATTERNS} patterns");
                return Err((path.to_owned(), io::Error::other(what)));
            }
            patterns.push(Pattern { line, tokens: tokens(text) });
        }
        Ok(Self { path: path.to_owned(), patterns, steps: 0 })
    }

    /// Whether a file does not belong to the cookbook.
    ///
    /// # Errors
    /// The patterns take too long.
    pub(crate) fn ignores(&mut self, path: &str) -> Result<bool, Unusable> {
        let path: Vec<char> = path.chars().collect();
        for pattern in &self.patterns {
            match matches(&pattern.tokens, &path, &mut self.steps) {
                Some(true) => return Ok(true),
                Some(false) => {}
                None => {
                    let what =
                        format!("line {}: the patterns up to here take too long; write shorter ones", pattern.line);
                    return Err((self.path.clone(), io::Error::other(what)));
                }
            }
        }
        Ok(false)
    }
}

/// Whether a file of this name in a folder above a cookbook says what its owner, root or the caller wants.
fn is_trusted(folder: &Folder, owner: u32) -> bool {
    let is_known = |user: u32| is_own_user(user) || user == owner;
    let file = folder.owner_of(FILE).unwrap_or(None);
    file.is_some_and(is_known) && folder.owner().is_ok_and(is_known)
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

/// Returns the set that begins after a `[`, and the text behind it. Returns `None` if it is not closed by a `]`.
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

/// Matches a path with backtracking to the last `*` only, because the last `*` can match whatever an earlier one could.
/// Returns `None` if the steps are used up.
fn matches(pattern: &[Token], path: &[char], steps: &mut u64) -> Option<bool> {
    let hides = path.first() == Some(&'.') && pattern.first() != Some(&Token::Character('.'));
    if hides {
        return Some(false);
    }
    let (mut at, mut position) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    loop {
        let cost = match pattern.get(at) {
            Some(Token::Set { ranges, .. }) => 1 + ranges.len() as u64,
            _ => 1,
        };
        *steps = steps.saturating_add(cost);
        if *steps > MAX_STEPS {
            return None;
        }
        let advanced = match (pattern.get(at), path.get(position)) {
            (None, None) => return Some(true),
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
            _ => return Some(false),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::MetadataExt as _;

    fn parse(text: &str) -> Ignore {
        Ignore::parse(Path::new("chefignore"), text).unwrap()
    }

    #[track_caller]
    fn check(pattern: &str, matching: &[&str], other: &[&str]) {
        let mut ignore = parse(pattern);
        for path in matching {
            assert!(ignore.ignores(path).unwrap(), "{pattern} matches {path}");
        }
        for path in other {
            assert!(!ignore.ignores(path).unwrap(), "{pattern} does not match {path}");
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
        let cookbook = HeldFolder::open(&cookbook).unwrap();
        assert!(Ignore::of_folder_or_above(&cookbook).unwrap().ignores("a.md").unwrap());
        std::fs::create_dir(folder.path().join("cookbooks/chefignore")).unwrap();
        assert!(!Ignore::of_folder_or_above(&cookbook).unwrap().ignores("a.md").unwrap());
    }

    #[test]
    fn attack_patterns_are_not_read_where_a_link_leads() {
        let (top, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let secret = elsewhere.path().join("secret");
        std::fs::write(&secret, "7391\n").unwrap();
        let cookbook = top.path().join("cookbooks/web");
        std::fs::create_dir_all(&cookbook).unwrap();
        let link = |folder: &Path| std::os::unix::fs::symlink(&secret, folder.join(FILE)).unwrap();
        let open = || HeldFolder::open(&cookbook).unwrap();
        // In the cookbook, and above it.
        for folder in [&cookbook, &top.path().join("cookbooks")] {
            link(folder);
            let (path, error) = Ignore::of_folder_or_above(&open()).unwrap_err();
            assert!(path.ends_with(FILE) && error.to_string().starts_with("it is a link"), "{error}");
            std::fs::remove_file(folder.join(FILE)).unwrap();
        }
        link(&cookbook);
        assert!(Ignore::of_folder(&open()).is_err());
        std::fs::remove_file(cookbook.join(FILE)).unwrap();
        // A link that stays in the cookbook.
        std::fs::write(cookbook.join("patterns"), "*.md\n").unwrap();
        std::os::unix::fs::symlink("patterns", cookbook.join(FILE)).unwrap();
        assert!(Ignore::of_folder_or_above(&open()).unwrap().ignores("a.md").unwrap());
    }

    #[test]
    fn attack_patterns_of_other_users_above_a_cookbook_do_not_count() {
        if std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() != 0) {
            // Only root can give files away.
            return;
        }
        let top = tempfile::tempdir().unwrap();
        std::fs::write(top.path().join(FILE), "*.md\n").unwrap();
        let cookbook = top.path().join("cookbooks/web");
        std::fs::create_dir_all(&cookbook).unwrap();
        let ignores = || {
            let open = HeldFolder::open(&cookbook).unwrap();
            Ignore::of_folder_or_above(&open).unwrap().ignores("a.md").unwrap()
        };
        let give = |path: &Path, user: u32| std::os::unix::fs::chown(path, Some(user), None).unwrap();
        assert!(ignores());
        give(&top.path().join(FILE), 4711);
        assert!(!ignores());
        give(&cookbook, 4711);
        assert!(ignores());
        give(top.path(), 4712);
        assert!(!ignores());
    }

    #[test]
    fn many_stars_end_soon() {
        let pattern = "*a".repeat(50);
        assert!(!parse(&pattern).ignores(&"a".repeat(49)).unwrap());
        assert!(!parse(&format!("{pattern}b")).ignores(&"a".repeat(10_000)).unwrap());
    }

    #[test]
    fn patterns_without_end_are_refused_with_their_line() {
        let (path, error) = Ignore::parse(Path::new("chefignore"), &"# x\na\n".repeat(1001)).unwrap_err();
        assert_eq!(
            (path.as_path(), error.to_string().as_str()),
            (Path::new("chefignore"), "line 2002: there are more than 1000 patterns")
        );
        let pattern = format!("*{}b\n", "a".repeat(1000));
        let mut ignore = parse(&pattern.repeat(1000));
        let name = "a".repeat(4000);
        let (_, error) = std::iter::repeat_with(|| ignore.ignores(&name)).find_map(Result::err).unwrap();
        assert!(error.to_string().ends_with("the patterns up to here take too long; write shorter ones"), "{error}");
    }
}
