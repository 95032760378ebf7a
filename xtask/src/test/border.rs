//! Checks that only the crate `errors` contains class names of Ruby and Chef. The rest of the host distinguishes errors by
//! their kinds.

use std::path::Path;

use anyhow::{Context as _, Result};

use super::targets;
use crate::checkout;

/// The only folder that may contain the names, relative to the checkout.
const BORDER: &str = "host/errors/src";

/// The prefixes of class names of Ruby and Chef, and Ruby's names of C functions, as they appear in strings.
const FOREIGN: [&str; 26] = [
    "Chef::",
    "Errno::",
    "Mixlib::",
    "Net::",
    "OpenSSL::",
    "JSON::",
    "URI::",
    "Gem::",
    "IniParse::",
    "Archive::",
    "Wrun::",
    "rb_sysopen",
    "rb_file",
    "rb_readlink",
    "rb_check",
    "dir_initialize",
    "dir_s_",
    "apply2files",
    "getpwnam",
    "getgrnam",
    "RuntimeError",
    "ArgumentError",
    "NoMethodError",
    "SyntaxError",
    "SocketError",
    "SignalException",
];

/// Allowed lines where such a name is not about an error: the file, the text, and the reason.
const EXCEPTIONS: [(&str, &str, &str); 4] = [
    ("host/node/src/object/saved.rs", "Chef::Node", "the format of Chef's documents"),
    ("host/resolve/src/objects.rs", "Chef::Role", "the format of Chef's documents"),
    ("host/resolve/src/objects.rs", "Chef::Environment", "the format of Chef's documents"),
    ("host/assemble/src/objects/local.rs", "Chef::Environment", "the format of Chef's documents"),
];

/// Returns the lines of the host's crates that contain such a name without permission.
pub(super) fn check() -> Result<Vec<String>> {
    let mut problems = Vec::new();
    let mut used = [false; EXCEPTIONS.len()];
    for path in targets::sources(&checkout::root().join("host")) {
        let inside = path.strip_prefix(checkout::root()).unwrap_or(&path).to_owned();
        let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        problems.extend(in_file(&inside, &text, &mut used));
    }
    let unused = EXCEPTIONS.iter().zip(used).filter(|(_, used)| !used);
    problems.extend(unused.map(|((file, text, _), _)| format!("{file} does not name {text}: take it out of the list")));
    Ok(problems)
}

/// Returns the names in the string literals of one source file. Tests may contain any names.
fn in_file(path: &Path, text: &str, used: &mut [bool]) -> Vec<String> {
    let shown = path.display().to_string();
    let is_source = shown.split('/').nth(2) == Some("src");
    if !is_source || path.starts_with(BORDER) || shown.ends_with("tests.rs") || shown.contains("/tests/") {
        return Vec::new();
    }
    let mut problems = Vec::new();
    let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    for (at, line) in code.lines().enumerate() {
        let words = texts(line);
        for foreign in FOREIGN {
            if !words.contains(foreign) {
                continue;
            }
            let known = EXCEPTIONS.iter().position(|(file, text, _)| shown == *file && words.contains(text));
            match known.and_then(|known| used.get_mut(known)) {
                Some(used) => *used = true,
                None => problems.push(format!(
                    "{shown}:{}: names `{foreign}`: use an `ErrorKind`, whose name {BORDER}/chef.rs knows",
                    at + 1
                )),
            }
        }
    }
    problems
}

/// Returns the text inside the quotes of a line of code. Comments are ignored.
fn texts(line: &str) -> String {
    if line.trim_start().starts_with("//") {
        return String::new();
    }
    line.split('"').skip(1).step_by(2).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_border_names_other_languages() {
        assert_eq!(check().unwrap(), Vec::<String>::new());
    }

    #[test]
    fn names_of_other_languages_are_found_in_texts_outside_of_the_border() {
        let check = |path: &str, text: &str, expected: usize| {
            let found = in_file(Path::new(path), text, &mut [false; EXCEPTIONS.len()]);
            assert_eq!(found.len(), expected, "{path}: {text}: {found:?}");
        };
        let class = "\nRaised::of_class(\"Chef::Exceptions::Cron\", why)\n";
        check("host/providers/src/a.rs", class, 1);
        check("host/errors/src/chef.rs", class, 0);
        check("host/providers/tests/a.rs", class, 0);
        check("host/providers/src/a.rs", &format!("#[cfg(test)]\nmod tests {{{class}}}"), 0);
        check("host/providers/src/a.rs", "/// \"Chef::Exceptions::Cron\"\nlet e = Errno::NOENT;\n", 0);
        check("host/machine/src/a.rs", "format!(\"{sentence} @ rb_sysopen - {path}\")", 1);
        check("host/node/src/object/saved.rs", "set(\"json_class\", json!(\"Chef::Node\"))", 0);
        check("host/node/src/object/other.rs", "set(\"json_class\", json!(\"Chef::Node\"))", 1);
    }
}
