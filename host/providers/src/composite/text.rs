//! Checks of a guest's texts that become parts of paths, of lines in files, and of commands.

use super::invalid;
use contract::Raised;

/// Checks a text that becomes part of a line of a file.
///
/// # Errors
/// The text has a line end or another control character.
pub(super) fn one_line<'t>(property: &str, text: &'t str) -> Result<&'t str, Raised> {
    match text.chars().any(char::is_control) {
        true => Err(invalid(format!("{property} must not contain control characters"))),
        false => Ok(text),
    }
}

/// Checks a text that becomes one word of a line of a file.
///
/// # Errors
/// The text is empty, or has white space or a control character.
pub(super) fn one_word<'t>(property: &str, text: &'t str) -> Result<&'t str, Raised> {
    match text.is_empty() || text.chars().any(|sign| sign.is_whitespace() || sign.is_control()) {
        true => Err(invalid(format!("{property} {text:?} is not one word"))),
        false => Ok(text),
    }
}

/// Checks the name of a file in a folder.
///
/// # Errors
/// The name is empty, `.` or `..`, or has a slash or a control character.
pub(super) fn file_name<'t>(property: &str, name: &'t str) -> Result<&'t str, Raised> {
    match name.is_empty() || name == "." || name == ".." || name.contains('/') {
        true => Err(invalid(format!("{property} {name:?} is not the name of a file"))),
        false => one_line(property, name),
    }
}

/// Checks a path that becomes an argument of a command.
///
/// # Errors
/// The path is not absolute, or has a control character.
pub(super) fn absolute_path<'t>(property: &str, path: &'t str) -> Result<&'t str, Raised> {
    match path.starts_with('/') {
        true => one_line(property, path),
        false => Err(invalid(format!("{property} {path:?} is not an absolute path"))),
    }
}

/// Checks a name that becomes an argument of a command. It must begin with an ASCII letter or digit, and may contain only
/// these and the characters in `more`.
///
/// # Errors
/// The name is invalid. The message says that it is not `what`.
pub(super) fn plain_name<'t>(property: &str, name: &'t str, more: &str, what: &str) -> Result<&'t str, Raised> {
    let plain = |sign: char| sign.is_ascii_alphanumeric() || more.contains(sign);
    match name.starts_with(|sign: char| sign.is_ascii_alphanumeric()) && name.chars().all(plain) {
        true => Ok(name),
        false => Err(invalid(format!("{property} {name:?} is not {what}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_stay_in_their_folder() {
        for name in ["", ".", "..", "a/b", "../x", "a\nb", "a\0"] {
            assert!(file_name("filename", name).is_err(), "{name:?}");
        }
        assert_eq!(file_name("filename", "..ops").unwrap(), "..ops");
    }

    #[test]
    fn arguments_are_neither_options_nor_relative_paths() {
        for path in ["", "-x", "a", "/a\nb"] {
            assert!(absolute_path("path", path).is_err(), "{path:?}");
        }
        for name in ["", "-x", "a b", "a;b", "a/b", "_a"] {
            assert!(plain_name("name", name, "._-", "a name").is_err(), "{name:?}");
        }
        assert!(one_word("user", "a b").is_err() && one_word("user", "").is_err() && one_word("user", "a").is_ok());
    }
}
