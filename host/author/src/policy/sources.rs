//! Finds the templates and files that a cookbook's Rust sources name.
//!
//! It finds only certain cases: a resource with a text literal as its source that is declared in the same expression, as in
//! `template("/etc/x").source("x.j2").declare()`. A dry run shows the others.

/// What a source is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Template,
    File,
}

/// A template or file that a source names.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Reference {
    pub(super) kind: Kind,
    pub(super) name: String,
    /// The line of the source that names it, from 1.
    pub(super) line: usize,
    /// Whether the name follows from the path, because the code does not name a source.
    pub(super) is_usual: bool,
}

#[derive(Debug, PartialEq, Eq)]
enum Token {
    Word(String),
    Text(String),
    Sign(char),
}

/// Tokens with their lines.
type Tokens<'a> = &'a [(Token, usize)];

/// The templates and files that Rust code declares.
pub(super) fn references(code: &str) -> Vec<Reference> {
    let tokens = tokens(code);
    let functions = [("template", Kind::Template), ("cookbook_file", Kind::File)];
    let mut found = Vec::new();
    for (at, (token, _)) in tokens.iter().enumerate() {
        let Token::Word(word) = token else { continue };
        let Some((_, kind)) = functions.iter().find(|(name, _)| name == word) else { continue };
        let before = at.checked_sub(1).and_then(|before| tokens.get(before)).map(|(token, _)| token);
        match before {
            // A function of the cookbook's own.
            Some(Token::Word(word)) if word == "fn" => return Vec::new(),
            Some(Token::Sign('.')) => {}
            _ => found.extend(tokens.get(at + 1..).and_then(|rest| declared(rest, *kind))),
        }
    }
    found
}

/// The resource types that Rust code declares by their names, as in `custom("site_vhost", ..)`, with their lines from 1.
pub(super) fn custom_types(code: &str) -> Vec<(String, usize)> {
    let tokens = tokens(code);
    let mut found = Vec::new();
    for (at, (token, line)) in tokens.iter().enumerate() {
        if *token != Token::Word("custom".to_owned()) {
            continue;
        }
        let before = at.checked_sub(1).and_then(|before| tokens.get(before)).map(|(token, _)| token);
        match (before, tokens.get(at + 1..)) {
            // A function of the cookbook's own.
            (Some(Token::Word(word)), _) if word == "fn" => return Vec::new(),
            (Some(Token::Sign('.')), _) => {}
            (_, Some([(Token::Sign('('), _), (Token::Text(name), _), (Token::Sign(','), _), ..])) => {
                found.push((name.clone(), *line));
            }
            _ => {}
        }
    }
    found
}

/// Methods of `std::path::Path` that are false where a program has no files, without an error.
const SILENT: [&str; 4] = ["exists", "is_file", "is_dir", "is_symlink"];

/// The calls of `exists()` and the like in Rust code that names `Path`, with their lines from 1. Tests at the end of the code
/// run on the author's machine, and do not count.
pub(super) fn silent_calls(code: &str) -> Vec<(String, usize)> {
    let tokens = tokens(code);
    let word = |at: usize| match tokens.get(at) {
        Some((Token::Word(word), _)) => word.as_str(),
        _ => "",
    };
    let names_paths = (0..tokens.len()).any(|at| matches!(word(at), "Path" | "PathBuf"));
    let is_test = |at: &usize| word(*at) == "cfg" && word(*at + 2) == "test";
    let end = (0..tokens.len()).find(is_test).unwrap_or(tokens.len());
    let calls = tokens.get(..end).unwrap_or_default().windows(4).filter_map(|call| match call {
        [(Token::Sign('.'), _), (Token::Word(method), line), (Token::Sign('('), _), (Token::Sign(')'), _)] => {
            SILENT.contains(&method.as_str()).then(|| (method.clone(), *line))
        }
        _ => None,
    });
    if names_paths { calls.collect() } else { Vec::new() }
}

/// The source of a resource, from the tokens after its function's name.
fn declared(tokens: &[(Token, usize)], kind: Kind) -> Option<Reference> {
    let (arguments, mut rest) = call(tokens)?;
    let first_line = tokens.first()?.1;
    let mut path = literal(arguments).map(str::to_owned);
    let mut source = None;
    while let [(Token::Sign('.'), _), (Token::Word(method), line), after @ ..] = rest {
        let (arguments, next) = call(after)?;
        match method.as_str() {
            "source" => source = Some((literal(arguments)?.to_owned(), *line)),
            "path" => path = literal(arguments).map(str::to_owned),
            // With one of these, the file is in another cookbook or not needed.
            "cookbook" | "content" => return None,
            "declare" | "build" => {
                let is_usual = source.is_none();
                let (name, line) = match source {
                    Some(source) => source,
                    None => (usual_source(&path?, kind), first_line),
                };
                return Some(Reference { kind, name, line, is_usual });
            }
            _ => {}
        }
        rest = next;
    }
    None
}

/// The source of a resource that names none.
fn usual_source(path: &str, kind: Kind) -> String {
    let last = path.rsplit('/').next().unwrap_or(path);
    match kind {
        Kind::Template => format!("{last}.j2"),
        Kind::File => last.to_owned(),
    }
}

/// The arguments of a call and the tokens after it.
fn call(tokens: Tokens<'_>) -> Option<(Tokens<'_>, Tokens<'_>)> {
    let [(Token::Sign('('), _), inner @ ..] = tokens else { return None };
    let mut depth = 1_usize;
    for (at, (token, _)) in inner.iter().enumerate() {
        match token {
            Token::Sign('(' | '[' | '{') => depth += 1,
            Token::Sign(')' | ']' | '}') => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some((inner.get(..at)?, inner.get(at + 1..)?));
        }
    }
    None
}

fn literal(arguments: &[(Token, usize)]) -> Option<&str> {
    match arguments {
        [(Token::Text(text), _)] => Some(text),
        _ => None,
    }
}

/// Code as words, texts and signs with their lines; comments and blanks are left out.
fn tokens(code: &str) -> Vec<(Token, usize)> {
    let mut tokens = Vec::new();
    let mut line = 1;
    let mut rest = code;
    while let Some(first) = rest.chars().next() {
        let (token, length) = token(rest, first);
        let (taken, after) = rest.split_at_checked(length).unwrap_or((rest, ""));
        tokens.extend(token.map(|token| (token, line)));
        line += taken.matches('\n').count();
        rest = after;
    }
    tokens
}

/// Returns the first token of the code and its length in bytes. The token is `None` for comments and blanks.
fn token(code: &str, first: char) -> (Option<Token>, usize) {
    if code.starts_with("//") {
        return (None, code.find('\n').unwrap_or(code.len()));
    }
    if code.starts_with("/*") {
        return (None, block_comment(code));
    }
    let raw = code
        .strip_prefix('r')
        .map(|rest| (rest.trim_start_matches('#'), rest))
        .filter(|(text, _)| text.starts_with('"'));
    if let Some((text, rest)) = raw {
        let end = format!("\"{}", "#".repeat(rest.len() - text.len()));
        let start = code.len() - text.len() + 1;
        let inner = code.get(start..).unwrap_or_default();
        let length = inner.find(&end).unwrap_or(inner.len());
        return (Some(Token::Text(inner.get(..length).unwrap_or_default().to_owned())), start + length + end.len());
    }
    match first {
        '"' => text(code),
        // A lifetime is read as a sign and a word. A character literal is skipped.
        '\'' => (None, letter(code).unwrap_or(1)),
        _ if first.is_alphanumeric() || first == '_' => {
            let length = code.find(|letter: char| !letter.is_alphanumeric() && letter != '_').unwrap_or(code.len());
            (Some(Token::Word(code.get(..length).unwrap_or_default().to_owned())), length)
        }
        _ if first.is_whitespace() => (None, first.len_utf8()),
        _ => (Some(Token::Sign(first)), first.len_utf8()),
    }
}

/// The length of a comment with those that are nested in it.
fn block_comment(code: &str) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(rest) = code.get(at..).filter(|rest| !rest.is_empty()) {
        if rest.starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest.starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    code.len()
}

/// A text literal. One with an escape is not a plain name, and is read as a sign.
fn text(code: &str) -> (Option<Token>, usize) {
    let mut escaped = false;
    for (at, letter) in code.char_indices().skip(1) {
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => {
                let inner = code.get(1..at).unwrap_or_default();
                let token = if inner.contains('\\') { Token::Sign('"') } else { Token::Text(inner.to_owned()) };
                return (Some(token), at + 1);
            }
            _ => {}
        }
    }
    (None, code.len())
}

/// Returns the length of a character literal in single quotes, or `None` if this is a lifetime.
fn letter(code: &str) -> Option<usize> {
    let mut letters = code.char_indices().skip(1);
    let (_, first) = letters.next()?;
    if first == '\\' {
        let closing = letters.skip(1).find(|(_, letter)| *letter == '\'')?;
        return Some(closing.0 + 1);
    }
    letters.next().filter(|(_, letter)| *letter == '\'').map(|(at, _)| at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(code: &str, expect: &[(Kind, &str, usize)]) {
        let found = references(code);
        let found: Vec<_> = found.iter().map(|one| (one.kind, one.name.as_str(), one.line)).collect();
        assert_eq!(found, expect, "{code}");
    }

    #[test]
    fn declared_sources_are_found_with_their_lines() {
        use Kind::{File, Template};
        check("fn a() {\n  template(\"/etc/x\")\n  .source(\"x.j2\").declare()?;\n}", &[(Template, "x.j2", 3)]);
        check("template(\"/etc/motd\").mode(\"0644\").declare()?;", &[(Template, "motd.j2", 1)]);
        check("cookbook_file(format!(\"{x}/y\")).source(r#\"y\"#).build()", &[(File, "y", 1)]);
        check("cookbook_file(\"/etc/a\").variables(json!({\"a\": [1, (2)]})).declare()", &[(File, "a", 1)]);
        check("let c = 'x'; let q = '\\''; let l: &'static str; template(\"/a\").declare()", &[(Template, "a.j2", 1)]);
    }

    #[test]
    fn calls_that_are_silently_false_are_found() {
        let calls = |code: &str| {
            silent_calls(code).into_iter().map(|(name, line)| format!("{name}:{line}")).collect::<Vec<_>>()
        };
        let code = "use std::path::Path;\nfn a() { Path::new(\"/x\").exists() || p.is_dir() }\n// Path::new(x).exists()\n\
                    #[cfg(test)]\nmod tests { fn b() { Path::new(\"/y\").is_file(); } }";
        assert_eq!(calls(code), ["exists:2", "is_dir:2"]);
        for fine in ["thing.exists()", "machine::exists(path) // Path", "use std::path::Path; set.exists(1)"] {
            assert!(calls(fine).is_empty(), "{fine}");
        }
    }

    #[test]
    fn what_is_not_certain_is_left_out() {
        for code in [
            "template(path).source(name).declare()",
            "template(path).declare()",
            "let t = template(\"/etc/x\").source(\"x\");",
            "template(\"/etc/x\").source([\"a\", \"b\"]).declare()",
            "template(\"/etc/x\").source(\"x\").cookbook(\"other\").declare()",
            "// template(\"/etc/x\").declare()\n/* /* */ template(\"/etc/x\").declare() */",
            "let text = \"template(\\\"/etc/x\\\").declare()\";",
            "fn template(x: &str) {} template(\"/etc/x\").declare()",
            "self.template(\"/etc/x\").declare()",
            "template(\"/etc/x\"",
        ] {
            check(code, &[]);
        }
    }
}
