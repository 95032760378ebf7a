//! Commands: the program or line, its user, directory and variables. A rule must match all of these.
//!
//! A command that needs a shell matches only a rule for its whole text, since a shell may read a part of it in any way. Any
//! other command is split into words and run without a shell, so that no text in it can become a second command.

use crate::denied::{Capability, Denied};
use crate::file::command_of;
use crate::pattern::PathPattern;
use crate::policy::{PolicyGrants, SENSITIVE};
use crate::privileged;
use crate::proofs::{GrantedCommand, Program};
use crate::signs::literal_pattern;
use crate::words::{asks_for_shell, split_words};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use text::{toml_key, toml_string};

/// The placeholder for one arbitrary argument.
pub(crate) const ANY: &str = "<any>";

/// The beginning of a digest of a variable's value. The digest ends with `>`.
const DIGEST: &str = "<sha256:";

/// The placeholder for all further arguments, even none.
const REST: &str = "<rest>";

/// The host's own file mode creation mask, which needs no grant.
const DEFAULT_UMASK: u32 = 0o022;

/// A command that a guest asks for.
#[derive(Debug, Clone, Copy)]
pub struct CommandAsked<'a> {
    /// The words or the line of the command.
    pub line: LineAsked<'a>,
    /// The user. `None`: wrun's own user.
    pub user: Option<&'a str>,
    /// The group it runs in, by name; `None`: the user's own group.
    pub group: Option<&'a str>,
    /// The working directory, resolved; `None`: the root directory.
    pub cwd: Option<&'a str>,
    /// The file mode creation mask.
    pub umask: Option<u32>,
    /// Variables in addition to the clean environment.
    pub environment: &'a [(String, String)],
    /// Bytes for its standard input; `None`: the input is empty.
    pub input: Option<&'a [u8]>,
    /// True if the command's text is secret: the audit log then does not show it.
    pub sensitive: bool,
}

impl<'a> CommandAsked<'a> {
    /// Returns a command of wrun's own user, with nothing but its line.
    #[must_use]
    pub const fn plain(line: LineAsked<'a>) -> Self {
        Self { line, user: None, group: None, cwd: None, umask: None, environment: &[], input: None, sensitive: false }
    }
}

/// The form in which a cookbook writes a command.
#[derive(Debug, Clone, Copy)]
pub enum LineAsked<'a> {
    /// A single string, like a line in a shell.
    Text(&'a str),
    /// Program and arguments, started without a shell.
    Arguments(&'a [String]),
    /// A script for an interpreter.
    Script {
        /// The interpreter and its flags.
        interpreter: &'a [String],
        /// The script, which the interpreter reads from its standard input.
        code: &'a str,
    },
}

/// One rule about commands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandGrant {
    pub(crate) what: GrantedLine,
    pub(crate) user: Option<String>,
    pub(crate) group: Option<String>,
    pub(crate) cwd: Option<PathPattern>,
    pub(crate) umask: Option<u32>,
    pub(crate) environment: BTreeMap<String, String>,
    pub(crate) input: bool,
    pub(crate) text: String,
    pub(crate) line: usize,
}

/// The commands that a rule allows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum GrantedLine {
    /// Words, one pattern each, which the command's words must match in order.
    PathSource(Vec<WordPattern>),
    /// Exactly this line for a shell.
    Shell(String),
    /// Any line for a shell.
    AnyShell,
    /// A script with this digest for this interpreter.
    Script {
        /// The interpreter and its flags.
        interpreter: Vec<String>,
        /// The digest of the text in lower-case hexadecimal. `None`: any text.
        sha256: Option<String>,
    },
}

/// One word of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum WordPattern {
    /// Exactly this word, character by character.
    Word(String),
    /// Any single word, whatever it says.
    Any,
    /// A word that matches this path pattern. The word is not resolved.
    Path(PathPattern),
    /// All further words, in any number.
    Rest,
}

impl GrantedLine {
    /// Creates the rule for a line as the cookbook writes it.
    pub(crate) fn line(text: &str) -> Self {
        match split_words(text) {
            Some(words) => Self::PathSource(words.into_iter().map(WordPattern::Word).collect()),
            None => Self::Shell(text.into()),
        }
    }

    /// Creates the rule for a list of words. `<any>`, `<rest>` (only at the end) and `<path:PATTERN>` are placeholders;
    /// `<is:TEXT>` means exactly this text.
    pub(crate) fn words(words: &[String]) -> Result<Self, String> {
        let is_program =
            |first: &String| !first.is_empty() && (!first.starts_with('<') || literal_word(first).is_some());
        if !words.first().is_some_and(is_program) {
            return Err("`argv` must begin with a program".into());
        }
        let last = words.len() - 1;
        let parsed = words.iter().enumerate().map(|(position, word)| match word.as_str() {
            ANY => Ok(WordPattern::Any),
            REST if position == last => Ok(WordPattern::Rest),
            REST => Err("`<rest>` can only be the last argument".into()),
            other if literal_word(other).is_some() => {
                Ok(WordPattern::Word(literal_word(other).unwrap_or(other).into()))
            }
            other => match other.strip_prefix("<path:").and_then(|inner| inner.strip_suffix('>')) {
                Some(pattern) => PathPattern::new(pattern).map(WordPattern::Path),
                None => Ok(WordPattern::Word(other.into())),
            },
        });
        parsed.collect::<Result<_, _>>().map(Self::PathSource)
    }

    fn matches(&self, program: &Program) -> bool {
        match (self, program) {
            (Self::PathSource(patterns), Program::Arguments(words)) => words_match(patterns, words),
            (Self::Shell(granted), Program::Shell(asked)) => granted == asked,
            (Self::AnyShell, Program::Shell(_) | Program::Arguments(_)) => true,
            (Self::Script { interpreter, sha256 }, Program::Script { interpreter: asked, code }) => {
                interpreter == asked && sha256.as_ref().is_none_or(|wanted| *wanted == sha256_of(code))
            }
            _ => false,
        }
    }
}

impl GrantedLine {
    /// Tells whether this line allows every command that the other line allows.
    fn covers(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::PathSource(patterns), Self::PathSource(others)) => words_cover(patterns, others),
            (Self::Shell(granted), Self::Shell(other)) => granted == other,
            (Self::AnyShell, Self::AnyShell | Self::Shell(_) | Self::PathSource(_)) => true,
            (Self::Script { interpreter, sha256 }, Self::Script { interpreter: other, sha256: digest }) => {
                interpreter == other && (sha256.is_none() || sha256 == digest)
            }
            _ => false,
        }
    }
}

fn words_cover(patterns: &[WordPattern], others: &[WordPattern]) -> bool {
    let is_rest = |word: Option<&WordPattern>| matches!(word, Some(WordPattern::Rest));
    let open_ended = is_rest(patterns.last());
    let fixed = if open_ended { patterns.len() - 1 } else { patterns.len() };
    let fixed_others = if is_rest(others.last()) { others.len() - 1 } else { others.len() };
    if fixed_others < fixed || (!open_ended && (fixed_others > fixed || is_rest(others.last()))) {
        return false;
    }
    patterns.iter().take(fixed).zip(others).all(|(pattern, other)| match (pattern, other) {
        (WordPattern::Any, other) => *other != WordPattern::Rest,
        (WordPattern::Path(pattern), WordPattern::Word(word)) => pattern.matches(word),
        (WordPattern::Path(pattern), WordPattern::Path(other)) => pattern.covers(other),
        (pattern, other) => pattern == other,
    })
}

fn words_match(patterns: &[WordPattern], words: &[String]) -> bool {
    let open_ended = matches!(patterns.last(), Some(WordPattern::Rest));
    let fixed = if open_ended { patterns.len() - 1 } else { patterns.len() };
    if words.len() < fixed || (words.len() > fixed && !open_ended) {
        return false;
    }
    patterns.iter().zip(words).all(|(pattern, word)| match pattern {
        WordPattern::Word(wanted) => wanted == word,
        WordPattern::Any | WordPattern::Rest => true,
        WordPattern::Path(pattern) => pattern.matches(word),
    })
}

/// Returns a text's SHA-256 digest in lower-case hexadecimal.
pub(crate) fn sha256_of(text: &str) -> String {
    text::hex(Sha256::digest(text.as_bytes()))
}

impl CommandGrant {
    pub(crate) fn matches(&self, program: &Program, asked: &CommandAsked<'_>) -> bool {
        self.what.matches(program)
            && self.user.as_deref() == plain_user(asked.user)
            && self.group.as_deref() == asked.group
            && self.matches_cwd(asked.cwd)
            && self.umask.unwrap_or(DEFAULT_UMASK) == asked.umask.unwrap_or(DEFAULT_UMASK)
            && self.matches_environment(asked.environment)
            && (self.input || asked.input.is_none_or(<[u8]>::is_empty))
    }

    /// Tells whether this rule matches every command that the other rule matches.
    pub(crate) fn covers(&self, other: &Self) -> bool {
        let in_directory = match (&self.cwd, &other.cwd) {
            (_, None) => self.matches_cwd(None),
            (Some(pattern), Some(other)) => pattern.covers(other),
            (None, Some(other)) => other.is_exact() && other.matches("/"),
        };
        let value = |(name, value): (&String, &String)| {
            let own = self.environment.get(name);
            let is_open = value == ANY || value.starts_with(DIGEST);
            let asked = literal_word(value).unwrap_or(value);
            own.is_some_and(|own| match is_open {
                true => own == value || (own == ANY && !privileged::variable(name)),
                false => is_value(own, name, asked),
            })
        };
        self.what.covers(&other.what)
            && self.user == other.user
            && self.group == other.group
            && in_directory
            && self.umask.unwrap_or(DEFAULT_UMASK) == other.umask.unwrap_or(DEFAULT_UMASK)
            && self.environment.len() == other.environment.len()
            && other.environment.iter().all(value)
            && (self.input || !other.input)
    }

    /// Tells whether this rule's line covers that of the other rule, for any user. `deny_commands` rules are compared in this
    /// way.
    pub(crate) fn starts(&self, other: &Self) -> bool {
        self.what.covers(&other.what)
    }

    fn matches_cwd(&self, asked: Option<&str>) -> bool {
        match &self.cwd {
            Some(pattern) => pattern.matches(asked.unwrap_or("/")),
            None => asked.unwrap_or("/") == "/",
        }
    }

    /// Tells whether the variables match exactly. `<any>` allows any value, except for a variable that decides which code
    /// runs.
    fn matches_environment(&self, asked: &[(String, String)]) -> bool {
        let value_matches = |(name, value): &(String, String)| {
            self.environment.get(name).is_some_and(|wanted| is_value(wanted, name, value))
        };
        asked.iter().all(value_matches)
            && self.environment.keys().all(|name| asked.iter().any(|(other, _)| other == name))
    }
}

/// Returns the user, or `None` for root, which is wrun's own user.
fn plain_user(user: Option<&str>) -> Option<&str> {
    user.filter(|user| *user != "root")
}

impl PolicyGrants {
    /// Checks whether the policy may run this command. For a command that verifies a staged file, the line contains `%{path}`
    /// as the rule does.
    ///
    /// # Errors
    /// The command is not granted, or cannot be started.
    pub fn command(&self, asked: &CommandAsked<'_>) -> Result<GrantedCommand, Denied> {
        let (program, shown) = program_of(asked);
        let audited = if asked.sensitive { SENSITIVE } else { shown.as_str() };
        let secret = asked.sensitive.then_some(SENSITIVE);
        let refuse = |value: Option<String>, reason: Option<String>| self.refuse_command(&shown, value, reason, secret);
        // Without wildcards, the rule's text equals the command's text, so it is not shown for a sensitive command.
        let named = |rule: &CommandGrant| match asked.sensitive {
            true => self.line(rule.line),
            false => rule.text.clone(),
        };
        let well_formed = !asked
            .environment
            .iter()
            .any(|(name, value)| name.is_empty() || name.contains(['=', '\0']) || value.contains('\0'));
        // A blank line names no program, and starting it fails. Chef's own error for that should appear.
        let blank = self.allows_everything() && matches!(asked.line, LineAsked::Text(_));
        if !well_formed || (shown.trim().is_empty() && !blank) || shown.contains('\0') {
            return Err(refuse(None, Some("it is not a command that can be started".into())));
        }
        let rules = &self.rules;
        let denying = rules.denied_commands.iter().find(|rule| rule.what.matches(&program));
        let allowing = rules.commands.iter().find(|rule| denying.is_none() && rule.matches(&program, asked));
        match (allowing, denying) {
            (Some(rule), _) => self.allow(Capability::Commands, audited, &named(rule))?,
            (None, _) if self.allows_everything() => self.allow(Capability::Commands, audited, self.beyond_rules())?,
            (None, Some(rule)) => {
                let text = if asked.sensitive { SENSITIVE } else { rule.text.as_str() };
                return Err(refuse(None, Some(format!("{} refuses it: `{text}`", self.line(rule.line)))));
            }
            (None, None) => return Err(refuse(command_entry(&program, asked), self.difference(&program, asked))),
        }
        self.uses_command(command_entry(&program, asked), asked.sensitive);
        let by_shell = match asked.line {
            LineAsked::Text(line) => asks_for_shell(line),
            LineAsked::Arguments(_) => false,
            LineAsked::Script { .. } => true,
        };
        Ok(GrantedCommand {
            program,
            shown,
            by_shell,
            user: asked.user.map(Into::into),
            group: asked.group.map(Into::into),
            cwd: asked.cwd.map(Into::into),
            umask: asked.umask,
            environment: asked.environment.to_vec(),
            input: asked.input.map(Into::into),
            may_start: allowing.is_some() || self.is_unlimited(),
        })
    }

    /// Returns the difference to a rule for the same program.
    fn difference(&self, program: &Program, asked: &CommandAsked<'_>) -> Option<String> {
        let rule = self.rules.commands.iter().find(|rule| rule.what.matches(program))?;
        let what = if rule.user.as_deref() != plain_user(asked.user) || rule.group.as_deref() != asked.group {
            "user or group"
        } else if !rule.matches_cwd(asked.cwd) {
            "working directory"
        } else if !rule.matches_environment(asked.environment) {
            "environment"
        } else if !rule.input && asked.input.is_some() {
            "standard input"
        } else {
            "umask"
        };
        Some(format!("{} allows it, but with another {what}", self.line(rule.line)))
    }
}

/// Returns the TOML entry of `commands` that allows exactly this command, or `None` if no entry can.
pub fn entry_of_command(asked: &CommandAsked<'_>) -> Option<String> {
    command_entry(&program_of(asked).0, asked)
}

/// Returns the program to start, and its text for messages.
fn program_of(asked: &CommandAsked<'_>) -> (Program, String) {
    match asked.line {
        LineAsked::Text(line) => {
            let program = match split_words(line) {
                Some(words) => Program::Arguments(words),
                None if line.trim_matches([' ', '\t']).is_empty() => Program::Arguments(vec![String::new()]),
                None => Program::Shell(line.into()),
            };
            (program, line.into())
        }
        LineAsked::Arguments(words) => (Program::Arguments(words.to_vec()), words.join(" ")),
        LineAsked::Script { interpreter, code } => {
            let program = Program::Script { interpreter: interpreter.to_vec(), code: code.into() };
            (program, interpreter.join(" "))
        }
    }
}

/// The text of `<is:TEXT>`; `None` for any other word.
pub(crate) fn literal_word(word: &str) -> Option<&str> {
    word.strip_prefix("<is:")?.strip_suffix('>')
}

/// Writes a word for a rule. A word that would be a placeholder is written so that it means itself.
fn word_entry(word: &str, is_program: bool) -> String {
    let is_placeholder =
        word == ANY || word == REST || ["<path:", "<is:", DIGEST].iter().any(|sign| word.starts_with(sign));
    if is_placeholder || (is_program && word.starts_with('<')) { format!("<is:{word}>") } else { word.to_owned() }
}

/// Returns a variable's value for a suggested rule. Usually that is the value itself, because it may decide which code runs.
/// A value that may be secret is replaced by its digest, since refusals are logged. `<any>` is suggested only for variables
/// that are known to be harmless, and never for root.
fn value_entry(name: &str, value: &str, as_root: bool) -> String {
    if !as_root && privileged::is_plain_variable(name) {
        ANY.to_owned()
    } else if privileged::may_be_secret(name, value) {
        format!("{DIGEST}{}>", sha256_of(value))
    } else {
        word_entry(value, false)
    }
}

/// Tells whether a variable's value matches the one in a rule.
fn is_value(wanted: &str, name: &str, value: &str) -> bool {
    if wanted == ANY {
        return !privileged::variable(name);
    }
    match wanted.strip_prefix(DIGEST).and_then(|rest| rest.strip_suffix('>')) {
        Some(digest) => digest == sha256_of(value),
        None => literal_word(wanted).unwrap_or(wanted) == value,
    }
}

/// Returns the TOML entry of `commands` that allows exactly this script for this interpreter. The script is named by its
/// digest, so that nothing in it can be a placeholder.
pub fn script_entry(interpreter: &[String], code: &str) -> String {
    format!("{{ {} }}", script_fields(interpreter, code))
}

fn script_fields(interpreter: &[String], code: &str) -> String {
    format!("interpreter = [{}], script_sha256 = \"{}\"", quoted(interpreter), sha256_of(code))
}

fn quoted(words: &[String]) -> String {
    words.iter().map(|word| toml_string(word)).collect::<Vec<_>>().join(", ")
}

/// Returns the TOML rule that allows exactly this command, or `None` if it does not name a program.
pub(crate) fn command_entry(program: &Program, asked: &CommandAsked<'_>) -> Option<String> {
    let mut fields = Vec::new();
    let plain = match asked.line {
        LineAsked::Text(text) => Some(toml_string(text)),
        _ => None,
    };
    match program {
        Program::Arguments(all) => {
            all.first().filter(|first| !first.is_empty())?;
            let words: Vec<_> = all.iter().enumerate().map(|(at, word)| word_entry(word, at == 0)).collect();
            fields.push(format!("argv = [{}]", quoted(&words)));
        }
        Program::Shell(line) => fields.push(format!("shell = {}", toml_string(&word_entry(line, false)))),
        Program::Script { interpreter, code } => {
            fields.push(script_fields(interpreter, code));
        }
    }
    let before = fields.len();
    fields.extend(plain_user(asked.user).map(|user| format!("user = {}", toml_string(user))));
    fields.extend(asked.group.map(|group| format!("group = {}", toml_string(group))));
    fields
        .extend(asked.cwd.filter(|cwd| *cwd != "/").map(|cwd| format!("cwd = {}", toml_string(&literal_pattern(cwd)))));
    fields.extend(asked.umask.filter(|mask| *mask != DEFAULT_UMASK).map(|mask| format!("umask = \"{mask:03o}\"")));
    if !asked.environment.is_empty() {
        let as_root = plain_user(asked.user).is_none_or(|user| privileged::user(user) || privileged::group(user));
        let shown = |name: &str, value: &str| toml_string(&value_entry(name, value, as_root));
        let pairs =
            asked.environment.iter().map(|(name, value)| format!("{} = {}", toml_key(name), shown(name, value)));
        fields.push(format!("environment = {{ {} }}", pairs.collect::<Vec<_>>().join(", ")));
    }
    fields.extend(asked.input.filter(|input| !input.is_empty()).map(|_| "input = true".into()));
    let entry = match (plain, fields.len() == before) {
        (Some(text), true) => text,
        _ => format!("{{ {} }}", fields.join(", ")),
    };
    // A policy may ask with values that no rule can have, such as a relative directory. One entry that is not valid would make
    // the suggestions of all policies unusable.
    command_of(&entry).map(|_| entry)
}
