//! `verify "gpg %{path}"`: checks whether the content is a key, as Chef's `apt_repository` asks.
//!
//! The words are Chef's, and policies need the grant for them. But gpg itself would unpack a message beside the file: through
//! a link that somebody laid there, and without a limit. So wrun reads the content and asks gpg for its keys, confined.

use crate::gpg::{has_keys, keys_of};
use contract::{CommandOutcome, ErrorKind, Raised};
use machine::command::{Answer, Launch, MAX_PLACED};
use machine::root::StagedFile;
use std::io::Read as _;

/// Chef's words for the check.
const WORDS: [&str; 2] = ["gpg", "%{path}"];

/// Tells whether a line of `verify` runs gpg without a command of its own.
pub(super) fn is_meant_by(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().map(|word| word.trim_matches(['"', '\''])).collect();
    matches!(words.as_slice(), [program, path] if program.rsplit('/').next() == Some(WORDS[0]) && *path == WORDS[1])
}

/// Returns the call of gpg for staged content.
///
/// # Errors
/// The content cannot be read, or is larger than any key.
pub(super) fn launch(staged: &StagedFile, path: &str) -> Result<Launch, Raised> {
    let mut content = Vec::new();
    let read = staged.content()?.take(MAX_PLACED + 1).read_to_end(&mut content);
    read.map_err(|error| cannot(path, &error.to_string()))?;
    match content.len() as u64 > MAX_PLACED {
        true => Err(cannot(path, &format!("it is larger than {MAX_PLACED} bytes"))),
        false => Ok(keys_of(content)),
    }
}

/// Tells whether the content has keys. `Err` has what gpg said of other content.
///
/// # Errors
/// gpg cannot be asked.
pub(super) fn judge(answer: Answer, path: &str) -> Result<Result<(), CommandOutcome>, Raised> {
    match answer {
        Answer::Unknown(why) => Err(cannot(path, &why)),
        Answer::Ended(outcome) if is_key(&outcome) => Ok(Ok(())),
        Answer::Ended(outcome) => Ok(Err(outcome)),
    }
}

/// Tells whether gpg found keys. It also succeeds for a message that it skips.
pub(super) fn is_key(outcome: &CommandOutcome) -> bool {
    outcome.code == Some(0) && !outcome.timed_out && has_keys(&String::from_utf8_lossy(&outcome.output))
}

fn cannot(path: &str, why: &str) -> Raised {
    Raised::new(ErrorKind::InvalidValue, format!("gpg cannot be asked about the key {path}: {why}"))
}

#[cfg(test)]
mod tests {
    use super::is_meant_by;

    #[test]
    fn gpg_without_a_command_is_the_check() {
        for (line, is_check) in [
            ("gpg %{path}", true),
            ("  gpg   '%{path}' ", true),
            ("/usr/bin/gpg %{path}", true),
            ("gpg --show-keys %{path}", false),
            ("gpgv %{path}", false),
            ("gpg %{path} || true", false),
        ] {
            assert_eq!(is_meant_by(line), is_check, "{line}");
        }
    }
}
