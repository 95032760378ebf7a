//! What texts of settings lead to: other settings that they include, and programs that they name.
//!
//! Conditions (`includeIf`, `Match`) are taken for true, since a policy may be able to make them true.

/// A path that settings name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Named {
    /// More settings. In those of ssh, the last parts may be patterns.
    Settings(String),
    /// Settings of ssh that git's settings name.
    SettingsOfSsh(String),
    /// A word of a value that may be the path of a program.
    Program(String),
    /// The value of this setting can name a program in a way that only git, ssh or a shell understands.
    Unknown(String),
}

/// Sections of git's settings whose values are never programs.
const WITHOUT_PROGRAMS: [&str; 5] = ["safe", "url", "http", "user", "commit"];

/// Keys of git's settings whose values are commands, or folders of them.
const COMMANDS: [&str; 17] = [
    "sshcommand",
    "gitproxy",
    "helper",
    "askpass",
    "hookspath",
    "fsmonitor",
    "program",
    "uploadpack",
    "receivepack",
    "alternaterefscommand",
    "clean",
    "smudge",
    "process",
    "textconv",
    "driver",
    "command",
    "cmd",
];

/// Settings of ssh whose values have programs or libraries in them.
const PROGRAMS_OF_SSH: [&str; 7] = [
    "proxycommand",
    "localcommand",
    "knownhostscommand",
    "match",
    "pkcs11provider",
    "securitykeyprovider",
    "xauthlocation",
];

/// The options of ssh without a value, which may be before another one in the same word.
const FLAGS_OF_SSH: [char; 23] =
    ['4', '6', 'A', 'a', 'C', 'f', 'G', 'g', 'K', 'k', 'M', 'N', 'n', 'q', 's', 'T', 't', 'V', 'v', 'X', 'x', 'Y', 'y'];

/// Signs that part the words of a command.
const PARTING: [char; 11] = ['!', '\'', '"', '=', ';', ',', '&', '|', '(', ')', '`'];

/// The place below which git itself was installed.
const PREFIX: &str = "%(prefix)";

/// The places that it can be.
const PREFIXES: [&str; 2] = ["/usr", "/usr/local"];

/// The mark of a path that need not exist.
const OPTIONAL: &str = ":(optional)";

/// Returns what a text of git's settings names.
pub(super) fn of_git(text: &str) -> Vec<Named> {
    let mut named = vec![];
    for Setting { section, key, value } in settings(text) {
        let value = value.strip_prefix(OPTIONAL).unwrap_or(&value);
        let values: Vec<String> = match value.contains(PREFIX) {
            true => PREFIXES.map(|place| value.replace(PREFIX, place)).into(),
            false => vec![value.to_owned()],
        };
        for value in values {
            if section.starts_with("include") {
                named.extend((key == "path").then_some(Named::Settings(value)));
            } else if key == "sshcommand" {
                named.extend(of_ssh_command(&value));
            } else if !WITHOUT_PROGRAMS.contains(&section.as_str()) {
                named.extend(programs(&value, &format!("{section}.{key}"), COMMANDS.contains(&key.as_str())));
            }
        }
    }
    named
}

/// Returns what the command line names with which git starts ssh: `ssh -F /srv/x`, `ssh -F/srv/x -i key`.
fn of_ssh_command(line: &str) -> Vec<Named> {
    const KEY: &str = "core.sshcommand";
    let unknown = || Named::Unknown(KEY.to_owned());
    // A shell reads the line. Signs that put other words in place of these make them unknown.
    if line.contains(['$', '`', '\\']) || line.to_ascii_lowercase().contains("include") {
        return vec![unknown()];
    }
    let line = line.replace(['"', '\''], "");
    let (mut settings, mut rest) = (vec![], vec![]);
    let mut words = line.split_ascii_whitespace();
    while let Some(word) = words.next() {
        let options = word.strip_prefix('-').unwrap_or_default().trim_start_matches(FLAGS_OF_SSH);
        let path = match options.strip_prefix('F') {
            Some("") => words.next().unwrap_or_default(),
            Some(path) => path,
            None => {
                rest.push(word);
                continue;
            }
        };
        match path {
            "none" => {}
            path if path.starts_with(['/', '~']) => settings.push(Named::SettingsOfSsh(path.to_owned())),
            _ => settings.push(unknown()),
        }
    }
    let mut named = programs(&rest.join(" "), KEY, true);
    named.extend(settings);
    named
}

/// Returns what a text of ssh's settings names.
pub(super) fn of_ssh(text: &str) -> Vec<Named> {
    let mut named = vec![];
    for line in text.lines() {
        let Some(words) = words_of_ssh(line) else {
            named.push(Named::Unknown(line.trim().to_owned()));
            continue;
        };
        let Some((key, values)) = words.split_first() else { continue };
        match key.to_ascii_lowercase().as_str() {
            "include" => named.extend(values.iter().cloned().map(Named::Settings)),
            key if PROGRAMS_OF_SSH.contains(&key) => named.extend(programs(&values.join(" "), key, true)),
            _ => {}
        }
    }
    named
}

/// Splits a line of ssh's settings into its key and the values, as ssh does: blanks part them, and one equals sign after the
/// key. What quotation marks enclose is one word. Returns `None` if a mark is not closed.
fn words_of_ssh(line: &str) -> Option<Vec<String>> {
    let (mut words, mut signs): (Vec<String>, _) = (vec![], line.chars().peekable());
    loop {
        while signs.next_if(|sign| sign.is_ascii_whitespace() || (*sign == '=' && words.len() == 1)).is_some() {}
        match signs.peek() {
            None | Some('#') => return Some(words),
            Some(_) => {}
        }
        let (mut word, mut open) = (String::new(), None);
        while let Some(sign) =
            signs.next_if(|sign| open.is_some() || !(sign.is_ascii_whitespace() || (*sign == '=' && words.is_empty())))
        {
            match sign {
                '"' | '\'' if open.is_none() => open = Some(sign),
                sign if open == Some(sign) => open = None,
                '\\' => word.push(signs.next_if(|sign| matches!(sign, '"' | '\'' | '\\' | ' ')).unwrap_or(sign)),
                sign => word.push(sign),
            }
        }
        if open.is_some() {
            return None;
        }
        words.push(word);
    }
}

/// Returns the words of a value that may be programs: absolute paths, and paths in a home, also behind the letter of an option.
/// If the value is a command, paths of another form are unknown: whoever starts it may be anywhere.
fn programs(value: &str, key: &str, is_command: bool) -> Vec<Named> {
    let mut named = vec![];
    let words = value.split(|sign: char| sign.is_ascii_whitespace() || PARTING.contains(&sign));
    for (at, word) in words.filter(|word| !word.is_empty()).enumerate() {
        let Some(path) = word.find('/').and_then(|slash| {
            let before = word.get(..slash)?;
            match before.chars().next() {
                None | Some('~') => Some(word),
                Some('-') => word.get(slash..),
                Some(_) => None,
            }
        }) else {
            let is_relative = word.starts_with("./") || word.starts_with("../") || (at == 0 && word.contains('/'));
            if is_command && (is_relative || (word.contains('/') && word.contains('$'))) {
                named.push(Named::Unknown(key.to_owned()));
            }
            continue;
        };
        named.push(match path.contains(['%', '$', '\\']) && is_command {
            true => Named::Unknown(key.to_owned()),
            false => Named::Program(path.to_owned()),
        });
    }
    named
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
    fn attack_odd_forms_of_gits_settings_are_understood_or_unknown() {
        let check = |text: &str, expect: Vec<Named>| assert_eq!(of_git(text), expect, "{text}");
        let of_ssh = |path: &str| vec![programs(&["/usr/bin/ssh"]).remove(0), Named::SettingsOfSsh(path.to_owned())];
        let unknown = |key: &str| vec![Named::Unknown(key.to_owned())];
        check("[core] sshCommand = /usr/bin/ssh -F/srv/x", of_ssh("/srv/x"));
        check("[core] SSHCOMMAND = \"/usr/bin/ssh -4vF '/srv/x'\"", of_ssh("/srv/x"));
        check("[core]\nsshCommand = /usr/bin/ssh \\\n  -F ~/x", of_ssh("~/x"));
        check("[core] sshCommand = ssh -F none -i key", vec![]);
        check("[core] sshCommand = ssh -F conf", unknown("core.sshcommand"));
        check("[core] sshCommand = ssh -F $HOME/conf", unknown("core.sshcommand"));
        check("[core] sshCommand = ssh -oProxyCommand=/srv/x", programs(&["/srv/x"]));
        check("[core] sshCommand = ssh -oForwardAgent=yes -i keys/id", vec![]);
        check("[core] sshCommand = ssh -o Include=conf", unknown("core.sshcommand"));
        check("[core] sshCommand = ./ssh", unknown("core.sshcommand"));
        check("[core] hooksPath = %(prefix)/hooks", programs(&["/usr/hooks", "/usr/local/hooks"]));
        check("[include] path = %(prefix)/etc/x", included(&["/usr/etc/x", "/usr/local/etc/x"]));
        check("[include] path = \":(optional)/srv/x\"", included(&["/srv/x"]));
        check("[credential] helper = \"!$HOME/x\"", unknown("credential.helper"));
        check("[credential] helper = store --file=/srv/x", programs(&["/srv/x"]));
        check("[core] fsmonitor = .git/hooks/x", unknown("core.fsmonitor"));
        check("[filter \"lfs\"] clean = git-lfs clean -- %f", vec![]);
        check("[alias] l = log --format=%an/%ae", vec![]);
    }

    #[test]
    fn attack_settings_of_ssh_are_read_as_ssh_reads_them() {
        let check = |text: &str, expect: Vec<Named>| assert_eq!(of_ssh(text), expect, "{text}");
        check("Include /srv/a/*.conf \"b\" # c\nHost *\n  IdentityFile /srv/key\n", included(&["/srv/a/*.conf", "b"]));
        check("  INCLUDE=/srv/a\n# Include /srv/b\n", included(&["/srv/a"]));
        check("Include \"/srv/a b\" '/srv/c' /srv/d\\ e\n", included(&["/srv/a b", "/srv/c", "/srv/d e"]));
        check("\tinclude = /srv/a  \r\n\"Include\" /srv/b\n", included(&["/srv/a", "/srv/b"]));
        check("Include \"/srv/a\n", vec![Named::Unknown("Include \"/srv/a".to_owned())]);
        check("ProxyCommand /srv/%h/x", vec![Named::Unknown("proxycommand".to_owned())]);
        check("ProxyCommand ./x", vec![Named::Unknown("proxycommand".to_owned())]);
        check("ProxyCommand /usr/bin/nc -X 5 %h %p", programs(&["/usr/bin/nc"]));
        check("Match exec \"/srv/x %h\"\n\tProxyCommand /srv/y --to=/srv/z", programs(&["/srv/x", "/srv/y", "/srv/z"]));
    }
}
