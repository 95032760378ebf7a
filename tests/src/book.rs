//! Runs the commands on the pages of the book, and compares their output with the page.
//!
//! A page is Markdown. Blocks marked `console` contain commands (`$ ..`) with their output. They run in order, in one
//! temporary root for each page, as root, with the program installed as by its package. A block below a comment `<!-- file
//! PATH -->` is a file that the reader writes, and the test writes it too. A block below `<!-- read as KIND -->` is an
//! example that a test parses with the program's own code. `<!-- not run: REASON -->` excludes the block below it; `text`
//! blocks are pictures. No other blocks are allowed, so that all shown blocks are tested. The lines between `<!-- run` and
//! `-->` also run, but are not shown; they prepare the reader's machine. `<!-- with a compiler -->` anywhere means that the
//! page needs the tools of the developer's machine.
//!
//! A command that fails is followed by `$ echo $?` with its exit code. A line `..` matches any lines. Times, identifiers,
//! digests, sizes, and process IDs may differ: see [`normal`].

mod following;
mod machine;

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail, ensure};
use regex::Regex;

pub use following::{Followed, follow};
pub use machine::Reader;

/// A step of the reader of a page.
#[derive(Debug, PartialEq, Eq)]
pub enum Step {
    /// Writes a file.
    File { line: usize, path: PathBuf, content: String },
    /// Has already run this script, which the page does not show.
    Before { line: usize, script: String },
    /// Types a command.
    Command(Command),
}

/// One command of a page, with the output that the page shows.
#[derive(Debug, PartialEq, Eq)]
pub struct Command {
    /// The number of its line in the page, from 1.
    pub line: usize,
    /// Its text, including continued lines (a backslash, a here-document).
    pub text: String,
    /// The line range of its output in the page, from 0, without the end.
    pub output: std::ops::Range<usize>,
}

/// A block with an example of a file that wrun reads.
#[derive(Debug, PartialEq, Eq)]
pub struct Example {
    /// The number of its first line in the page, from 1.
    pub line: usize,
    /// The kind of the example: `grants`, `policy.toml`, ..
    pub kind: String,
    pub text: String,
}

/// The beginnings of lines that a reader would type.
const TYPED: [&str; 6] = ["$ ", "wrun ", "cargo ", "systemctl ", "apt ", "git "];

/// A page of the book.
#[derive(Debug)]
pub struct Page {
    pub path: PathBuf,
    lines: Vec<String>,
    pub steps: Vec<Step>,
    pub examples: Vec<Example>,
    /// Whether the page needs the compiler of the developer's machine.
    pub with_compiler: bool,
}

impl Page {
    /// Reads a page.
    pub fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        Self::parse(path, &text)
    }

    fn parse(path: &Path, text: &str) -> Result<Self> {
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let mut page = Self {
            path: path.to_owned(),
            steps: Vec::new(),
            examples: Vec::new(),
            with_compiler: lines.iter().any(|line| line == "<!-- with a compiler -->"),
            lines,
        };
        let mut at = 0;
        while let Some(line) = page.lines.get(at) {
            if line == "<!-- run" {
                let length = page.lines.iter().skip(at + 1).take_while(|line| *line != "-->").count();
                let script = page.text(at + 1..at + 1 + length);
                page.steps.push(Step::Before { line: at + 1, script });
                at += length + 2;
                continue;
            }
            let Some(kind) = line.strip_prefix("```") else {
                at += 1;
                continue;
            };
            let rest = page.lines.iter().skip(at + 1);
            let length = rest.take_while(|line| !line.starts_with("```")).count();
            let block = at + 1..at + 1 + length;
            let above = at.checked_sub(1).and_then(|above| page.lines.get(above)).map_or("", String::as_str);
            let remark = above.strip_prefix("<!-- ").and_then(|text| text.strip_suffix(" -->"));
            if let Some(file) = remark.and_then(|remark| remark.strip_prefix("file ")) {
                let content = page.text(block.clone());
                page.steps.push(Step::File { line: at + 1, path: PathBuf::from(file), content });
            } else if let Some(kind) = remark.and_then(|remark| remark.strip_prefix("read as ")) {
                let text = page.text(block.clone());
                page.examples.push(Example { line: at + 2, kind: kind.to_owned(), text });
            } else if remark.is_some_and(|remark| remark.starts_with("not run: ")) {
                // The reason is only for authors of the page.
            } else if kind == "console" {
                page.commands(block.clone())?;
            } else {
                let is_typed = |line: &String| TYPED.iter().any(|word| line.starts_with(word));
                let is_typed = page.lines.get(block.clone()).unwrap_or_default().iter().any(is_typed);
                let here = page.place(at + 1);
                ensure!(
                    kind == "text" && !is_typed,
                    "{here}: the block is neither run nor read: mark it `console`, or write `<!-- read as KIND -->` or \
                     `<!-- not run: REASON -->` above it"
                );
            }
            at = block.end + 1;
        }
        Ok(page)
    }

    /// Adds the commands of one block.
    fn commands(&mut self, block: std::ops::Range<usize>) -> Result<()> {
        let mut at = block.start;
        while at < block.end {
            let begin = at;
            let line = self.lines.get(at).map_or("", String::as_str);
            let Some(first) = line.strip_prefix("$ ") else {
                bail!("{}: a block of commands begins with `$ `", self.place(at + 1));
            };
            let mut text = first.to_owned();
            at += 1;
            while text.ends_with('\\') && at < block.end {
                text.push('\n');
                text.push_str(self.lines.get(at).map_or("", String::as_str));
                at += 1;
            }
            if let Some(end) = here_document(&text) {
                loop {
                    let line = self.lines.get(at).filter(|_| at < block.end);
                    let line = line.with_context(|| format!("{}: `{end}` is missing", self.place(begin + 1)))?;
                    text.push('\n');
                    text.push_str(line);
                    at += 1;
                    if *line == end {
                        break;
                    }
                }
            }
            let output = at;
            while at < block.end && !self.lines.get(at).is_some_and(|line| line.starts_with("$ ")) {
                at += 1;
            }
            self.steps.push(Step::Command(Command { line: begin + 1, text, output: output..at }));
        }
        Ok(())
    }

    /// Returns whether the page contains any commands.
    #[must_use]
    pub fn has_commands(&self) -> bool {
        self.steps.iter().any(|step| matches!(step, Step::Command(_)))
    }

    /// Returns the place of a line, for messages.
    #[must_use]
    pub fn place(&self, line: usize) -> String {
        format!("{}:{line}", self.path.display())
    }

    /// Returns the output that the page shows for a command.
    #[must_use]
    pub fn expected(&self, command: &Command) -> String {
        self.text(command.output.clone())
    }

    fn text(&self, lines: std::ops::Range<usize>) -> String {
        self.lines.get(lines).unwrap_or_default().iter().map(|line| format!("{line}\n")).collect()
    }

    /// Returns the page with new outputs for some commands. `outputs` must be in the order of the page.
    #[must_use]
    pub fn with_outputs(&self, outputs: &[(std::ops::Range<usize>, String)]) -> String {
        let mut text = String::new();
        let mut at = 0;
        for (place, output) in outputs {
            text.push_str(&self.text(at..place.start));
            text.push_str(output);
            if !output.is_empty() && !output.ends_with('\n') {
                text.push('\n');
            }
            at = place.end;
        }
        text + &self.text(at..self.lines.len())
    }
}

/// Returns the line that ends a command's here-document, if the command has one.
fn here_document(command: &str) -> Option<String> {
    let (_, word) = command.split_once("<<")?;
    let word = word.trim_start_matches('-').split_whitespace().next()?;
    Some(word.trim_matches(['\'', '"']).to_owned())
}

/// Returns whether a command's output matches the page. A line `..` in the page matches any lines.
#[must_use]
pub fn is_as_shown(expected: &str, printed: &str) -> bool {
    let (expected, printed) = (normal(expected), normal(printed));
    let expected: Vec<&str> = expected.lines().map(str::trim_end).collect();
    let printed: Vec<&str> = printed.lines().map(str::trim_end).collect();
    matches(&expected, &printed)
}

fn matches(expected: &[&str], printed: &[&str]) -> bool {
    match expected.split_first() {
        None => printed.is_empty(),
        Some((&"..", rest)) => {
            (0..=printed.len()).any(|left_out| printed.get(left_out..).is_some_and(|printed| matches(rest, printed)))
        }
        Some((line, rest)) => {
            printed.split_first().is_some_and(|(first, printed)| line == first && matches(rest, printed))
        }
    }
}

/// Returns the text without the parts that change from run to run.
fn normal(text: &str) -> String {
    const CHANGING: [(&str, &str); 7] = [
        (r"\b\d{8}T\d{6}\.\d{3}Z-[0-9a-f]{8}\b", "RUN"),
        (r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z| UTC|[+-]\d\d:?\d\d)?", "TIME"),
        (r"\b[0-9a-f]{64}\b|\b[0-9a-f]{40}\b|\b[0-9a-f]{12}\b|\b[0-9a-f]{6}\b", "DIGEST"),
        (r"\b\d+(\.\d+)? ?(s|ms|min)\b", "SECONDS"),
        (r"\b\d+(\.\d+)? (B|KiB|MiB|kB)\b", "SIZE"),
        (r"\bprocess \d+", "process NUMBER"),
        (r"  +", "  "),
    ];
    CHANGING.iter().fold(text.to_owned(), |text, (pattern, name)| {
        // The patterns are constants. An invalid pattern leaves the text unchanged, and then tests fail.
        Regex::new(pattern).map_or(text.clone(), |pattern| pattern.replace_all(&text, *name).into_owned())
    })
}

/// Reads all hand-written pages of the book, and the repository's own page. The pages about resource types are generated.
pub fn pages() -> Result<Vec<Page>> {
    page_files()?.iter().map(|path| Page::read(path)).collect()
}

/// Returns the files of [`pages`], sorted.
pub fn page_files() -> Result<Vec<PathBuf>> {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs").canonicalize()?;
    let mut files = vec![docs.with_file_name("README.md")];
    for entry in std::fs::read_dir(docs)? {
        files.push(entry?.path());
    }
    files.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_files_and_commands_with_what_they_print() {
        let text = "# A\n\n<!-- run\nzero\n-->\n<!-- file web/a.rb -->\n```ruby\nx\n```\n\n```console\n$ one\nfirst\n$ cat > x <<'END'\ny\nEND\n$ two \\\n  more\n```\n<!-- not run: it never ends -->\n```console\n$ three\n```\n";
        let page = Page::parse(Path::new("a.md"), text).unwrap();
        let command = |line, text: &str, output| Step::Command(Command { line, text: text.to_owned(), output });
        let before = Step::Before { line: 3, script: "zero\n".to_owned() };
        let file = Step::File { line: 7, path: PathBuf::from("web/a.rb"), content: "x\n".to_owned() };
        let expected = [
            before,
            file,
            command(12, "one", 12..13),
            command(14, "cat > x <<'END'\ny\nEND", 16..16),
            command(17, "two \\\n  more", 18..18),
        ];
        assert_eq!(page.steps, expected);
        assert_eq!(page.expected(&Command { line: 12, text: String::new(), output: 12..13 }), "first\n");
        let other = page.with_outputs(&[(12..13, "second\nthird\n".to_owned())]);
        assert_eq!(other, text.replace("first\n", "second\nthird\n"));
    }

    #[test]
    fn examples_say_what_they_are() {
        let text = "<!-- read as grants -->\n```toml\n[policy.a]\n```\n```text\n-->\n```\n";
        let page = Page::parse(Path::new("a.md"), text).unwrap();
        let example = Example { line: 3, kind: "grants".to_owned(), text: "[policy.a]\n".to_owned() };
        assert_eq!((page.steps, page.examples), (vec![], vec![example]));
    }

    #[test]
    fn commands_stand_in_blocks_that_say_so() {
        let check = |text: &str, expected: &str| {
            let error = Page::parse(Path::new("a.md"), text).unwrap_err();
            assert_eq!(error.to_string(), expected);
        };
        let neither = "a.md:1: the block is neither run nor read: mark it `console`, or write `<!-- read as KIND -->` or \
                       `<!-- not run: REASON -->` above it";
        check("```\n$ one\n```\n", neither);
        check("```\nsome output\n```\n", neither);
        check("```toml\na = 1\n```\n", neither);
        check("```text\nwrun converge\n```\n", neither);
        check("```console\none\n```\n", "a.md:2: a block of commands begins with `$ `");
        check("```console\n$ cat <<END\none\n```\n", "a.md:2: `END` is missing");
    }

    #[test]
    fn what_differs_from_run_to_run_may_differ() {
        let check = |expected: &str, printed: &str, same: bool| {
            assert_eq!(is_as_shown(expected, printed), same, "{expected} / {printed}");
        };
        check("a\nb\n", "a\nb\n", true);
        check("a\nb\n", "a\n", false);
        check("a\n..\nd\n", "a\nb\nc\nd\n", true);
        check("a\n..\nd\n", "a\nb\nc\n", false);
        check("..\n", "", true);
        check("revision 45425aac5807, 2 KiB", "revision 0123456789ab, 14 KiB", true);
        check("Run finished in 0.31 s: 3 changed", "Run finished in 4 s: 3 changed", true);
        check("Run finished in 0.31 s: 3 changed", "Run finished in 4 s: 4 changed", false);
        check("20261123T173107.412Z-9f3c01ab", "20271123T173107.412Z-9f3c01ac", true);
    }
}
