//! Checks the links of pages: their files and headings must exist, and the book must contain every page.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use anyhow::{Context as _, Result};

use crate::checkout;

/// The pages that are not in the book, since they are read in the repository.
const BESIDE_THE_BOOK: [&str; 2] = ["README.md", "ARCHITECTURE.md"];

/// The list of the book's pages.
const SUMMARY: &str = "docs/SUMMARY.md";

/// Returns a line for each broken link, and for each page that is missing in the book.
pub(crate) fn check() -> Result<Vec<String>> {
    let root = checkout::root();
    let mut pages = BTreeMap::new();
    let mut files: Vec<PathBuf> = BESIDE_THE_BOOK.iter().map(PathBuf::from).collect();
    files.extend(
        checkout::files_below(&root.join("docs"), "md")?
            .iter()
            .filter_map(|path| Some(path.strip_prefix(root).ok()?.into())),
    );
    for file in files {
        let text =
            std::fs::read_to_string(root.join(&file)).with_context(|| format!("cannot read {}", file.display()))?;
        pages.insert(file, text);
    }
    Ok(problems(&pages, &|path| root.join(path).exists()))
}

/// Returns the problems of pages, which are given by their paths in the checkout. `exists` returns whether the checkout has
/// another file.
fn problems(pages: &BTreeMap<PathBuf, String>, exists: &dyn Fn(&Path) -> bool) -> Vec<String> {
    let anchors: BTreeMap<&Path, BTreeSet<String>> =
        pages.iter().map(|(page, text)| (page.as_path(), anchors(text))).collect();
    let mut problems = Vec::new();
    let mut in_book = BTreeSet::new();
    for (page, text) in pages {
        for (line, target) in links(text) {
            let mut report = |what: &str| problems.push(format!("{}:{line}: {target} {what}", page.display()));
            if target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            let (path, anchor) = target.split_once('#').map_or((target, None), |(path, anchor)| (path, Some(anchor)));
            let Some(file) = resolved(page, path) else {
                report("leads out of the sources");
                continue;
            };
            if page == Path::new(SUMMARY) && !in_book.insert(file.clone()) {
                report("is in the book twice");
            }
            if page.starts_with("docs") && !file.starts_with("docs") {
                report("leads out of the book: name the file without a link");
            } else if let Some(anchors) = anchors.get(file.as_path()) {
                if anchor.is_some_and(|anchor| !anchors.contains(anchor)) {
                    report("names a heading that the page does not have");
                }
            } else if !exists(&file) {
                report("does not exist");
            }
        }
    }
    let summary = Path::new(SUMMARY);
    let pages = pages.keys().filter(|page| page.starts_with("docs") && *page != summary && !in_book.contains(*page));
    problems.extend(pages.map(|page| format!("{} is not in {SUMMARY}", page.display())));
    problems
}

/// Returns the path in the checkout for a page's link, or `None` if it is outside.
fn resolved(page: &Path, link: &str) -> Option<PathBuf> {
    if link.is_empty() {
        return Some(page.to_owned());
    }
    let mut path = page.parent().unwrap_or(Path::new("")).to_owned();
    for part in Path::new(link).components() {
        match part {
            Component::Normal(name) => path.push(name),
            Component::ParentDir => path.pop().then_some(())?,
            Component::CurDir => {}
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(path)
}

/// Returns the lines of a page that are not code, each with its number from 1.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut in_code = false;
    text.lines().enumerate().filter_map(move |(at, line)| {
        let is_fence = line.trim_start().starts_with("```");
        in_code ^= is_fence;
        (!in_code && !is_fence).then_some((at + 1, line))
    })
}

/// Returns the targets of a page's links, each with its line number. Links in code are ignored.
fn links(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    for (number, line) in prose(text) {
        let mut code = false;
        let mut rest = line;
        while let Some(sign) = rest.chars().next() {
            if sign == '`' {
                code = !code;
            } else if !code && let Some(after) = rest.strip_prefix("](") {
                let target = after.split([')', ' ']).next().unwrap_or_default();
                found.push((number, target));
            }
            rest = rest.get(sign.len_utf8()..).unwrap_or_default();
        }
    }
    found
}

/// Returns the names by which links find a page's headings.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut anchors = BTreeSet::new();
    for (_, line) in prose(text).filter(|(_, line)| line.starts_with('#')) {
        let name = anchor(line.trim_start_matches('#').trim());
        let again = (1..).map(|number| format!("{name}-{number}"));
        let mut names = std::iter::once(name.clone()).chain(again);
        if let Some(free) = names.find(|name| !anchors.contains(name)) {
            anchors.insert(free);
        }
    }
    anchors
}

/// Returns the name of one heading: its letters and digits in lower case, with `-` for blanks.
fn anchor(heading: &str) -> String {
    // Only the text of a link in a heading counts.
    let kept = heading.chars().filter(|sign| sign.is_alphanumeric() || [' ', '-', '_'].contains(sign));
    kept.map(|sign| if sign == ' ' { '-' } else { sign }).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_links_are_named_with_their_line() {
        let check = |page: &str, expected: &[&str]| {
            let summary = "[a](a.md)\n[b](b.md)\n".to_owned();
            let texts =
                [("docs/SUMMARY.md", summary), ("docs/a.md", page.to_owned()), ("docs/b.md", "# One `x`!\n".into())];
            let pages = texts.into_iter().map(|(path, text)| (PathBuf::from(path), text)).collect();
            assert_eq!(problems(&pages, &|path| path == Path::new("docs/x.toml")), expected, "{page}");
        };
        check("[x](b.md#one-x) [y](x.toml) [z](https://example.org/) [a](#own)\n# Own\n", &[]);
        check("\n[x](c.md)", &["docs/a.md:2: c.md does not exist"]);
        check("[x](b.md#two)", &["docs/a.md:1: b.md#two names a heading that the page does not have"]);
        check("[x](../README.md)", &["docs/a.md:1: ../README.md leads out of the book: name the file without a link"]);
        check("[x](../../x)", &["docs/a.md:1: ../../x leads out of the sources"]);
        check("`[x](c.md)`\n```\n[x](c.md)\n```\n", &[]);
    }

    #[test]
    fn every_page_is_in_the_book_once() {
        let check = |summary: &str, expected: &[&str]| {
            let texts = [("docs/SUMMARY.md", summary), ("docs/a.md", "")];
            let pages = texts.into_iter().map(|(path, text)| (PathBuf::from(path), text.to_owned())).collect();
            assert_eq!(problems(&pages, &|_| false), expected, "{summary}");
        };
        check("[a](a.md)", &[]);
        check("", &["docs/a.md is not in docs/SUMMARY.md"]);
        check("[a](a.md)\n[a](a.md)", &["docs/SUMMARY.md:2: a.md is in the book twice"]);
    }

    #[test]
    fn headings_of_one_name_are_told_apart() {
        let names: Vec<String> = anchors("# A b\n## A b\n```\n# no\n```\n").into_iter().collect();
        assert_eq!(names, ["a-b", "a-b-1"]);
    }
}
