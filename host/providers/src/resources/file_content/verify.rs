//! Verifies new content by commands and other checks before it is put in place.

use super::content::Content;
use super::create::unverified;
use super::wish::FileWish;
use super::{json_check, key_check, unit_check};
use crate::gpg::keys_of;
use crate::notes;
use crate::plan::{Plan, View, Writer};
use crate::private_copy::{Copying, PrivateCopy, own_number};
use crate::secrets::SENSITIVE;
use crate::withheld::Withheld;
use contract::{Certainty, CommandOutcome, CommandTest, ErrorKind, LogLevel, Raised};
use errors::chef::{VERIFIES_JSON, VERIFIES_UNIT};
use grants::GrantedCommand;
use machine::command::{Answer, CommandOptions, Launch, MAX_PLACED, PLACED};
use machine::remarks::remark;
use machine::root::{Kind, ModeBits, NewFileAttributes, StagedFile, absent};
use schema::typed;
use std::io::Read;
use std::time::Duration;

/// The folder of rejected content, below the cache directory.
const REJECTED: &str = "/failed_validations";

/// Maximum number of rejected contents that are kept.
const MAX_REJECTED: usize = 20;

/// Maximum size of the rejected contents besides the newest one, in bytes.
const MAX_REJECTED_BYTES: u64 = 64 << 20;

/// Maximum size of content that is parsed for verification, in bytes.
const MAX_PARSED: u64 = 64 << 20;

/// All checks that must accept the content.
#[derive(Default)]
pub(super) struct Verification {
    pub(super) checks: Vec<Check>,
    /// True if the guest has `verify` blocks, which need the staged content.
    pub(super) blocks: bool,
}

/// One check that must accept the content.
#[derive(Debug)]
pub(super) enum Check {
    /// A granted command that still contains `%{path}`, with its options and its text as written.
    Command(Withheld<Box<GrantedCommand>>, CommandOptions, Withheld<String>),
    /// `verify "gpg %{path}"`, granted, with its text as written: the content must be a key.
    Key(Withheld<String>),
    /// `verify :json`: the content must be valid JSON.
    Json,
    /// `verify :systemd_unit`, with the unit's name.
    SystemdUnit(String),
}

impl Verification {
    /// Checks the grants of the commands. A dry run also runs them at once, on content that no other process sees.
    ///
    /// # Errors
    /// A command is denied; a kind of verification does not exist.
    pub(super) fn of(
        wish: &FileWish<'_>,
        content: &Content<'_>,
        view: &mut View<'_>,
        plan: &mut Plan,
    ) -> Result<Self, Raised> {
        let checks = wish.verify.iter().map(|asked| check(asked, wish.path, view)).collect::<Result<Vec<_>, _>>()?;
        if view.why_run {
            let mut doubts: Vec<_> = checks.iter().filter_map(|check| check.foresee(wish, content, view)).collect();
            if wish.verify_blocks {
                doubts.push(unverified(wish.path));
            }
            plan.certainty.extend(doubts);
            return Ok(Self::default());
        }
        Ok(Self { checks, blocks: wish.verify_blocks })
    }
}

/// Checks the grants of all commands.
pub(super) fn ask(wish: &FileWish<'_>, view: &View<'_>) -> Result<(), Raised> {
    wish.verify.iter().try_for_each(|asked| check(asked, wish.path, view).map(drop))
}

fn check(asked: &typed::Verification, path: &str, view: &View<'_>) -> Result<Check, Raised> {
    let line = asked.line.as_str();
    match line.strip_prefix(':').unwrap_or(line) {
        "json" => return Ok(Check::Json),
        "systemd_unit" => return unit_check::unit_at(path).map(Check::SystemdUnit),
        name if name == "yaml" || is_symbol(line) => {
            return Err(Raised::new(ErrorKind::NoSuchVerification, format!("No file verification for {name} found."))
                .with_hint("say a command that checks it, as in verify 'yamllint %{path}'"));
        }
        _ => {}
    }
    if line.contains("%{file}") {
        return Err(Raised::new(
            ErrorKind::InvalidArgument,
            "The %{file} expansion for verify commands has been removed. Please use %{path} instead.",
        ));
    }
    let test = command_test(asked);
    let how = CommandOptions {
        timeout: test.timeout.map(|seconds| Duration::from_secs(seconds.into())),
        ..CommandOptions::default()
    };
    let command = view.command(&test)?;
    let shown = if view.sensitive { SENSITIVE } else { line };
    let _askable = about(&command, shown, path)?;
    if key_check::is_meant_by(line) {
        return Ok(Check::Key(Withheld(line.to_owned())));
    }
    Ok(Check::Command(Withheld(Box::new(command)), how, Withheld(line.to_owned())))
}

/// Returns the command for a file of this name. Fails if a shell would read a part of the name as another command.
fn about(command: &GrantedCommand, line: &str, path: &str) -> Result<GrantedCommand, Raised> {
    command.with_path(path).ok_or_else(|| {
        let message = format!("{path} cannot be verified by {line}: a shell would read signs in the path as its own");
        Raised::new(ErrorKind::InvalidValue, message)
            .with_hint("give the file a path of letters, digits and /._-+:,@%=~, or verify it without a shell, as in verify 'program %{path}'")
    })
}

/// Tells whether a text is a Ruby symbol: a colon and a name.
fn is_symbol(line: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    line.strip_prefix(':').is_some_and(|name| !name.is_empty() && name.bytes().all(is_part))
}

/// Returns the command with its user, group and other options. As in a format string, `%%` means one `%`.
fn command_test(asked: &typed::Verification) -> CommandTest {
    CommandTest {
        user: asked.user.clone(),
        group: asked.group.clone(),
        cwd: asked.cwd.clone(),
        environment: asked.environment.clone(),
        timeout: asked.timeout,
        umask: asked.umask,
        ..CommandTest::text(&asked.line.replace("%%", "%"))
    }
}

impl Check {
    /// Returns the uncertainty of a dry run about this check, or `None` if the check accepts the content.
    ///
    /// A rejection is only uncertain here, not an error: the command may need files that earlier resources would create.
    fn foresee(&self, wish: &FileWish<'_>, content: &Content<'_>, view: &mut View<'_>) -> Option<Certainty> {
        let is_small = content.size() <= MAX_PLACED;
        let name = wish.path.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        let (launch, line) = match self {
            Self::Command(Withheld(command), how, Withheld(line)) if is_small => {
                let Some(command) = command.with_path(&format!("{PLACED}/{name}")) else {
                    return Some(unverified(wish.path));
                };
                (Launch::granted(&command, how).placed(name, content.head(MAX_PLACED)), line)
            }
            Self::Key(Withheld(line)) if is_small => (keys_of(content.head(MAX_PLACED)), line),
            Self::Json if is_small => {
                let accepted = json_check::check(&content.head(MAX_PLACED)).is_ok();
                return (!accepted)
                    .then(|| Certainty::Unknown(format!(":json rejects the new content of {}", wish.path)));
            }
            _ => return Some(unverified(wish.path)),
        };
        let line = if wish.sensitive { SENSITIVE } else { line };
        match view.ask(&launch) {
            Answer::Ended(outcome) if matches!(self, Self::Key(_)) && key_check::is_key(&outcome) => None,
            Answer::Ended(outcome) if !matches!(self, Self::Key(_)) && outcome.code == Some(0) => None,
            Answer::Ended(_) => {
                let path = wish.path;
                Some(Certainty::Unknown(format!("{line} rejects the new content of {path}, as the machine is now")))
            }
            Answer::Unknown(why) => {
                let path = wish.path;
                let why = if wish.sensitive { SENSITIVE.to_owned() } else { why };
                Some(Certainty::Unknown(format!(
                    "whether {line} accepts the new content of {path} is not known: {why}"
                )))
            }
        }
    }

    /// Runs the check.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidValue`] if the check rejects the content. The content is then kept for people to read, unless it
    /// is sensitive.
    pub(super) fn run(
        &self,
        writer: &mut Writer<'_>,
        staged: &mut StagedFile,
        path: &str,
        sensitive: bool,
    ) -> Result<(), Raised> {
        let said = |line: &str, outcome: &CommandOutcome| {
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            format!("{line}\nSTDOUT: {}\nSTDERR: {}\n", text(&outcome.output), text(&outcome.errors))
        };
        let rejected = match self {
            Self::Command(Withheld(command), how, Withheld(line)) => {
                let copy = copy_to_verify(command, staged, path, writer)?;
                let read = match &copy {
                    Some(copy) => copy.path().to_owned(),
                    None => {
                        let note = staged.take_secret_name(writer.cache, notes::STAGED)?;
                        notes::keep(writer.caches, writer.cache, &note)?;
                        staged.path()
                    }
                };
                let command = about(command, if sensitive { SENSITIVE } else { line }, &read)?;
                let outcome = writer.run(&command, how).map_err(|raised| match sensitive {
                    true => Raised::new(raised.kind, "the verify command of this sensitive resource cannot be run"),
                    false => raised,
                })?;
                if outcome.code == Some(0) && !outcome.timed_out {
                    return Ok(());
                }
                said(line, &outcome)
            }
            Self::Key(Withheld(line)) => {
                let answer = writer.ask(&key_check::launch(staged, path)?);
                match key_check::judge(answer, path)? {
                    Ok(()) => return Ok(()),
                    Err(outcome) => said(line, &outcome),
                }
            }
            Self::Json => match is_json(staged) {
                Ok(()) => return Ok(()),
                Err(why) => {
                    let why = if sensitive { SENSITIVE } else { &why };
                    let line = format!("Json syntax verify failed with : {why}");
                    remark(&writer.settings.account, LogLevel::Error, &line);
                    format!("{VERIFIES_JSON}\n")
                }
            },
            Self::SystemdUnit(name) => match unit_check::ask(writer, staged, name)? {
                Ok(()) => return Ok(()),
                Err(why) => format!("{VERIFIES_UNIT}\nSTDERR: {why}"),
            },
        };
        let message = match sensitive {
            true => format!("Proposed content for {path} failed verification {SENSITIVE}"),
            false => {
                let kept = keep_rejected(writer, staged)?;
                format!("Proposed content for {path} failed verification {rejected}\nTemporary file moved to {kept}")
            }
        };
        Err(Raised::new(ErrorKind::InvalidValue, message))
    }
}

/// A copy of staged content for a command, if others than root and the command's user may exchange or change the staged file:
/// they could lay a link there to what they may not read themselves. Else `None`: beside its place, content finds what it
/// names by relative paths.
///
/// # Errors
/// The copy cannot be made; the user does not exist.
fn copy_to_verify(
    command: &GrantedCommand,
    staged: &StagedFile,
    path: &str,
    writer: &mut Writer<'_>,
) -> Result<Option<PrivateCopy>, Raised> {
    let reader = match command.user() {
        None => own_number(),
        Some(user) => {
            let known = writer.users().user(user).map(|user| user.uid).or_else(|| user.parse().ok());
            let unknown = || Raised::new(ErrorKind::InvalidArgument, format!("can't find user for {user}"));
            known.ok_or_else(unknown)?
        }
    };
    if writer.root.is_own_file_of(&staged.path(), reader)? {
        return Ok(None);
    }
    let copying = Copying {
        folder: "verify",
        name: staged.target_name(),
        reader,
        failing: &format!("{path} cannot be verified"),
        kind: ErrorKind::InvalidValue,
    };
    PrivateCopy::of(staged.content()?, copying, writer).map(Some)
}

fn is_json(staged: &StagedFile) -> Result<(), String> {
    let mut text = Vec::new();
    let file = staged.content().map_err(|fault| fault.to_string())?;
    file.take(MAX_PARSED).read_to_end(&mut text).map_err(|error| error.to_string())?;
    json_check::check(&text).map_err(|error| error.to_string())
}

/// Copies rejected content into the cache directory and returns its path.
pub(super) fn keep_rejected(writer: &Writer<'_>, staged: &StagedFile) -> Result<String, Raised> {
    let name = staged.copys_name();
    let kept = format!("{REJECTED}/{name}");
    let mut copy = writer.cache.own_site(&kept)?.stage(ModeBits::plain(0o600))?;
    copy.copy_from(staged.content().map_err(std::io::Error::other))?;
    copy.publish(&NewFileAttributes::default())?;
    remove_old_rejected(writer, &name)?;
    Ok(format!("{}{kept}", writer.cache.path().display().to_string().trim_end_matches('/')))
}

/// Removes the oldest rejected contents, except the newest one, until number and size are within the limits.
fn remove_old_rejected(writer: &Writer<'_>, newest: &str) -> Result<(), Raised> {
    let mut others = Vec::new();
    for name in writer.cache.locate(REJECTED)?.names()?.into_iter().filter(|name| name != newest) {
        let site = writer.cache.own_site(&format!("{REJECTED}/{name}"))?;
        if let Some(entry) = absent(site.entry())?.filter(|entry| entry.kind == Kind::File) {
            others.push((entry.modified, entry.size, site));
        }
    }
    others.sort_by_key(|(modified, ..)| std::cmp::Reverse(*modified));
    let mut bytes = 0_u64;
    for (at, (_, size, site)) in others.into_iter().enumerate() {
        bytes = bytes.saturating_add(size);
        if at + 1 >= MAX_REJECTED || bytes > MAX_REJECTED_BYTES {
            site.remove_file()?;
        }
    }
    Ok(())
}
