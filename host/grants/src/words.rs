//! Splits a command line into words as a POSIX shell would, and detects lines that only a shell can run.

/// Words that only a shell knows: reserved words, and builtins that do not exist as programs.
const SHELL_WORDS: [&str; 41] = [
    "!", "{", "}", ".", ":", "alias", "bg", "break", "case", "cd", "command", "continue", "do", "done", "elif", "else",
    "esac", "eval", "exec", "exit", "export", "fg", "fi", "for", "hash", "if", "jobs", "local", "read", "readonly",
    "return", "set", "shift", "source", "then", "times", "trap", "type", "ulimit", "umask", "until",
];

/// More words that only a shell knows.
const MORE_SHELL_WORDS: [&str; 7] = ["unset", "wait", "while", "function", "select", "time", "[["];

/// Shell words for which Ruby, and so Chef, starts a shell even if the rest of the line does not need one. For any other word
/// it looks for a program of that name: `cd /x` and `command -v x` fail if the program does not exist.
const RUBY_SHELL_WORDS: [&str; 29] = [
    "!", ".", ":", "break", "case", "continue", "do", "done", "elif", "else", "esac", "eval", "exec", "exit", "export",
    "fi", "for", "if", "in", "readonly", "return", "set", "shift", "then", "times", "trap", "unset", "until", "while",
];

/// Tells whether Ruby runs a line through a shell: because of a special character, an assignment, or a shell word.
pub(crate) fn asks_for_shell(line: &str) -> bool {
    let line = line.trim_start_matches([' ', '\t']);
    let first = line.split([' ', '\t']).next().unwrap_or_default();
    line.contains(|sign: char| "*?{}[]<>()~&|\\$;'`\"\n#".contains(sign))
        || first.split('/').next().is_some_and(|begin| begin.contains('='))
        || RUBY_SHELL_WORDS.contains(&first)
}

/// Splits a line into words if it can run without a shell. Quotes and backslashes are understood. Returns `None` for text
/// that a shell would expand, redirect or run itself, for unbalanced quotes, and for an empty line.
pub fn split_words(line: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        match character {
            ' ' | '\t' => words.extend(word.take()),
            '\'' => single_quoted(&mut characters, word.get_or_insert_default())?,
            '"' => double_quoted(&mut characters, word.get_or_insert_default())?,
            '\\' => match characters.next()? {
                '\n' => {}
                escaped => word.get_or_insert_default().push(escaped),
            },
            '|' | '&' | ';' | '<' | '>' | '(' | ')' | '$' | '`' | '*' | '?' | '[' | ']' | '\n' | '\r' | '\0' => {
                return None;
            }
            '~' | '#' if word.is_none() => return None,
            '=' if words.is_empty() => return None,
            plain => word.get_or_insert_default().push(plain),
        }
    }
    words.extend(word);
    let first = words.first()?;
    let known = SHELL_WORDS.contains(&first.as_str()) || MORE_SHELL_WORDS.contains(&first.as_str());
    let shell_only = known && asks_for_shell(line);
    (!shell_only && !first.is_empty()).then_some(words)
}

fn single_quoted(characters: &mut std::str::Chars<'_>, word: &mut String) -> Option<()> {
    loop {
        match characters.next()? {
            '\'' => return Some(()),
            '\0' => return None,
            plain => word.push(plain),
        }
    }
}

fn double_quoted(characters: &mut std::str::Chars<'_>, word: &mut String) -> Option<()> {
    loop {
        match characters.next()? {
            '"' => return Some(()),
            '$' | '`' | '\0' => return None,
            '\\' => match characters.next()? {
                '\n' => {}
                escaped @ ('"' | '\\' | '$' | '`') => word.push(escaped),
                other => word.extend(['\\', other]),
            },
            plain => word.push(plain),
        }
    }
}

/// Tells whether a text means itself to a shell, inside and outside of quotes: letters, digits, and characters without a
/// special meaning.
pub(crate) fn means_itself(text: &str) -> bool {
    text.chars().all(|c| c.is_alphanumeric() || "/._-+:,@%=~".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expect: Option<&[&str]>) {
        let expect = expect.map(|words| words.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(split_words(line), expect, "{line}");
    }

    #[test]
    fn lines_that_need_no_shell_are_split() {
        check("systemctl daemon-reload", Some(&["systemctl", "daemon-reload"]));
        check("  a\tb  ", Some(&["a", "b"]));
        check("echo 'a b' \"c d\"e f\\ g", Some(&["echo", "a b", "c de", "f g"]));
        check("echo '' \"\"", Some(&["echo", "", ""]));
        check("echo \"a\\\"b\\c\"", Some(&["echo", "a\"b\\c"]));
        check("find /x -name '*.a' -exec rm {} +", Some(&["find", "/x", "-name", "*.a", "-exec", "rm", "{}", "+"]));
        check("dd if=/a of=/b", Some(&["dd", "if=/a", "of=/b"]));
        check("a b#c d~", Some(&["a", "b#c", "d~"]));
        check("x --a=~/b", Some(&["x", "--a=~/b"]));
        check("cd /tmp", Some(&["cd", "/tmp"]));
        check("command -v sh", Some(&["command", "-v", "sh"]));
    }

    #[test]
    fn lines_that_need_a_shell_are_not() {
        for line in [
            "a | b",
            "a && b",
            "a; b",
            "a > b",
            "a < b",
            "a $X",
            "a `b`",
            "a \"$X\"",
            "ls *.c",
            "ls a?",
            "ls [ab]",
            "(a)",
            "a &",
            "cd '/tmp'",
            "command -v a | b",
            "X=1 a",
            "~/bin/a",
            "a ~root",
            "a #b",
            "a\nb",
            "'a",
            "\"a",
            "a\\",
            "",
            "   ",
            "if true",
            "exit 1",
            "! true",
            ". /etc/x",
            "umask 022; a",
            "''",
            "[ -f /x ]",
        ] {
            check(line, None);
        }
    }

    #[test]
    fn a_shell_is_asked_for_as_ruby_does() {
        for line in ["a 'b'", "a \"b\"", "a\\ b", "a ~", "{ a", "A=b c", "a\n", "exit 1", "  set -e", ". /x", "a # b"] {
            assert!(asks_for_shell(line), "{line}");
        }
        for line in ["a b", "a %b", "a b=c", "./a=b", "/a=b c", "cd /tmp", "command -v a", "umask", "type a", "", " "] {
            assert!(!asks_for_shell(line), "{line}");
        }
    }

    #[test]
    fn some_texts_mean_themselves_to_a_shell() {
        for text in ["/etc/x", "/srv/a_b-1.conf", "/etc/é", "a=b", "x@y:z", ""] {
            assert!(means_itself(text), "{text}");
        }
        for text in
            ["/etc/a b", "/etc/$(rm -rf x)", "it's", "a;b", "a`b`", "a\\b", "a\nb", "a*", "a\"b", "{a,b}", "a<b", "a&b"]
        {
            assert!(!means_itself(text), "{text}");
        }
    }
}
