//! What texts of settings lead to: other settings that they include, and programs that they name.
//!
//! Conditions (`includeIf`, `Match`) are taken for true, since a policy may be able to make them true.

/// A path that settings name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Named {
    /// More settings. In those of ssh, the last parts may be patterns.
    Settings(String),
    /// A word of a value that may be the path of a program.
    Program(String),
}

/// Sections of git's settings whose values are never programs.
const WITHOUT_PROGRAMS: [&str; 5] = ["safe", "url", "http", "user", "commit"];

/// Settings of ssh whose values have programs or libraries in them.
const PROGRAMS_OF_SSH: [&str; 6] =
    ["proxycommand", "localcommand", "knownhostscommand", "match", "pkcs11provider", "securitykeyprovider"];

/// Signs that part the words of a command.
const PARTING: [char; 11] = ['!', '\'', '"', '=', ';', ',', '&', '|', '(', ')', '`'];

/// Returns what a text of git's settings names.
pub(super) fn of_git(text: &str) -> Vec<Named> {
    let mut named = vec![];
    for Setting { section, key, value } in settings(text) {
        if section.starts_with("include") {
            named.extend((key == "path").then_some(Named::Settings(value)));
        } else if !WITHOUT_PROGRAMS.contains(&section.as_str()) {
            named.extend(paths(&value).map(Named::Program));
        }
    }
    named
}

/// Returns what a text of ssh's settings names.
pub(super) fn of_ssh(text: &str) -> Vec<Named> {
    let mut named = vec![];
    for line in text.lines() {
        let line = line.trim_start().replace(['=', '"', '\''], " ");
        let Some((key, value)) = line.split_once(|sign: char| sign.is_ascii_whitespace()) else { continue };
        match key.to_ascii_lowercase().as_str() {
            "include" => {
                let words = value.split_ascii_whitespace().take_while(|word| !word.starts_with('#'));
                named.extend(words.map(|word| Named::Settings(word.to_owned())));
            }
            key if PROGRAMS_OF_SSH.contains(&key) => named.extend(paths(value).map(Named::Program)),
            _ => {}
        }
    }
    named
}

/// Returns the words of a value that are absolute paths, or paths in a home.
fn paths(value: &str) -> impl Iterator<Item = String> {
    let words = value.split(|sign: char| sign.is_ascii_whitespace() || PARTING.contains(&sign));
    words.filter(|word| word.starts_with(['/', '~'])).map(str::to_owned)
}

/// A setting of git. Section and key are in small letters; the section is without its part in quotation marks.
struct Setting {
    section: String,
    key: String,
    value: String,
}

/// Parses git's settings as `config.c` of git does. What git refuses is skipped.
fn settings(text: &str) -> Vec<Setting> {
    let mut signs = text.trim_start_matches('\u{feff}').chars().peekable();
    let (mut all, mut section) = (vec![], String::new());
    while let Some(sign) = signs.next() {
        match sign {
            '#' | ';' => signs.by_ref().take_while(|sign| *sign != '\n').for_each(drop),
            '[' => section = section_name(&mut signs),
            sign if sign.is_ascii_alphabetic() => {
                let mut key = String::from(sign.to_ascii_lowercase());
                while let Some(sign) = signs.next_if(|sign| sign.is_ascii_alphanumeric() || *sign == '-') {
                    key.push(sign.to_ascii_lowercase());
                }
                while signs.next_if(|sign| matches!(sign, ' ' | '\t' | '\r')).is_some() {}
                let value = if signs.next_if_eq(&'=').is_some() { value(&mut signs) } else { String::new() };
                all.push(Setting { section: section.clone(), key, value });
            }
            _ => {}
        }
    }
    all
}

/// The signs of a text, with a look at the next one.
type Signs<'t> = std::iter::Peekable<std::str::Chars<'t>>;

/// Reads the rest of a section's head, and returns its name.
fn section_name(signs: &mut Signs<'_>) -> String {
    let (mut name, mut is_quoted, mut is_named) = (String::new(), false, false);
    while let Some(sign) = signs.next() {
        match sign {
            '\\' if is_quoted => {
                signs.next();
            }
            '"' => (is_quoted, is_named) = (!is_quoted, true),
            ']' if !is_quoted => break,
            '\n' => break,
            sign if !is_named && !sign.is_ascii_whitespace() => name.push(sign.to_ascii_lowercase()),
            _ => is_named = true,
        }
    }
    // The old form of a subsection: `[section.subsection]`.
    name.split('.').next().unwrap_or_default().to_owned()
}

/// Reads the rest of a line as a value.
fn value(signs: &mut Signs<'_>) -> String {
    let (mut value, mut is_quoted, mut is_comment) = (String::new(), false, false);
    while let Some(sign) = signs.next() {
        match sign {
            '\n' => break,
            _ if is_comment => {}
            '"' => is_quoted = !is_quoted,
            '#' | ';' if !is_quoted => is_comment = true,
            '\\' => match signs.next() {
                Some('n') => value.push('\n'),
                Some('t') => value.push('\t'),
                // The line goes on.
                Some('\n') | None => {}
                Some('\r') => {
                    signs.next_if_eq(&'\n');
                }
                Some(other) => value.push(other),
            },
            sign => value.push(sign),
        }
    }
    value.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn included(paths: &[&str]) -> Vec<Named> {
        paths.iter().map(|path| Named::Settings((*path).to_owned())).collect()
    }

    fn programs(paths: &[&str]) -> Vec<Named> {
        paths.iter().map(|path| Named::Program((*path).to_owned())).collect()
    }

    #[test]
    fn attack_settings_of_git_are_read_as_git_reads_them() {
        let check = |text: &str, expect: Vec<Named>| assert_eq!(of_git(text), expect, "{text}");
        check("[user]\n\tname = ops\n[include]\n\tpath = /srv/a\n", included(&["/srv/a"]));
        check("[INCLUDE] Path=/srv/a # it is\n[x]path=b", included(&["/srv/a"]));
        check("[includeIf \"gitdir:/srv/]x/\"]\npath = \"/srv/a b\" ; it is\n", included(&["/srv/a b"]));
        check("[include]\npath = /srv/\\\na\\\\b\r\npath = ~/c\r\n", included(&["/srv/a\\b", "~/c"]));
        check("[include.x]\npath = /srv/a", included(&["/srv/a"]));
        check("# [include]\n; path = /srv/a\n[include]\n# path = /srv/b\npath\n", included(&[""]));
        check("\u{feff}[include]\npath=/srv/a", included(&["/srv/a"]));
        check("[core]\n\tgitProxy = /srv/program for host\n\tpager = less\n", programs(&["/srv/program"]));
        check("[credential \"https://a\"]\nhelper = \"!f() { ~/x; }; f\"", programs(&["~/x"]));
        check("[safe]\ndirectory = /srv/a\n[url \"/srv/b\"]\ninsteadOf = /srv/c\n[http]\nsslCAInfo = /srv/d", vec![]);
    }

    #[test]
    fn attack_settings_of_ssh_are_read_as_ssh_reads_them() {
        let check = |text: &str, expect: Vec<Named>| assert_eq!(of_ssh(text), expect, "{text}");
        check("Include /srv/a/*.conf \"b\" # c\nHost *\n  IdentityFile /srv/key\n", included(&["/srv/a/*.conf", "b"]));
        check("  INCLUDE=/srv/a\n# Include /srv/b\n", included(&["/srv/a"]));
        check("Match exec \"/srv/x %h\"\n\tProxyCommand /srv/y --to=/srv/z", programs(&["/srv/x", "/srv/y", "/srv/z"]));
    }
}
