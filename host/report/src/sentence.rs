//! Formats errors for people. Reports contain the exception classes that Ruby cookbooks rescue, but authors of cookbooks in
//! Rust do not know most of them.

use contract::{Failure, Place};
use errors::chef;
use std::path::Path;

/// Returns the message of a failure, without the resources that it passed through. For a Ruby file the message begins with
/// the class.
///
/// `file` is the file that it is about, if one is known.
pub fn of(failure: &Failure, file: Option<&str>) -> String {
    let (class, message) = match failure {
        Failure::Raised(raised) => (raised.class(), raised.message.clone()),
        Failure::Stopped(_) => return failure.to_string(),
        Failure::GuestLost(_) => (failure.class(), failure.to_string()),
        Failure::Many(all) => return many(all, file),
    };
    of_recorded(class, &message, file)
}

/// Returns the message of a recorded failure, like [`of`]. The recorded message names the resources that it passed through,
/// each with the class.
pub fn of_recorded(class: &str, message: &str, file: Option<&str>) -> String {
    let passed = format!(" had an error: {class}: ");
    let message = message.rsplit_once(&passed).map_or(message, |(_, own)| own);
    if is_plain(class, file) {
        chef::plainly(class, message)
    } else {
        format!("{class}: {}", chef::without_repetition(class, message))
    }
}

/// Returns the message of a failure like [`of`], with the resources that it passed through.
pub fn with_resources(failure: &Failure, file: Option<&str>) -> String {
    if matches!(failure, Failure::Many(_)) || is_plain(failure.class(), file) {
        of(failure, file)
    } else {
        format!("{}: {failure}", failure.class())
    }
}

/// Returns the message like [`with_resources`], without the class if the author knows it.
pub fn shortly(failure: &Failure, file: Option<&str>) -> String {
    if is_plain(failure.class(), file) { with_resources(failure, file) } else { failure.to_string() }
}

/// Returns the messages of several failures, one on each line.
fn many(all: &[(Place, Failure)], file: Option<&str>) -> String {
    let each = all.iter().map(|(place, failure)| match place {
        Place::Converge => format!("\n* {}", of(failure, file)),
        Place::DelayedNotification => format!("\n* in a delayed notification: {}", of(failure, file)),
    });
    format!("{} failures:{}", all.len(), each.collect::<String>())
}

/// Tells whether the class would not help the author: the file is not in Ruby, or the class is wrun's own.
fn is_plain(class: &str, file: Option<&str>) -> bool {
    let extension = file.and_then(|file| Path::new(file).extension()?.to_str());
    chef::is_own(class) || matches!(extension, Some("rs" | "j2"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use contract::{ErrorKind, StopReason, SystemError};

    #[test]
    fn a_path_alone_is_told_with_what_is_wrong_with_it() {
        let of = |class: &str, message: &str| of_recorded(class, message, Some("src/lib.rs"));
        assert_eq!(of("Errno::ENOENT", "/etc/nosuch"), "/etc/nosuch: no such file or directory");
        assert_eq!(of("Errno::EACCES", "said by the policy"), "said by the policy");
        assert_eq!(of_recorded("Errno::ENOENT", "/x", Some("a.rb")), "Errno::ENOENT: /x");
        let passed = "thing[a] (a line 1) had an error: X: file[b] (a line 2) had an error: X: no disk";
        assert_eq!(of_recorded("X", passed, Some("a.rb")), "X: no disk");
    }

    #[test]
    fn authors_of_rust_read_plain_sentences() {
        let check = |class: &str, message: &str, expected: &str| {
            let failure = Failure::of_class(class, message);
            assert_eq!(of(&failure, Some("src/lib.rs")), expected);
            assert_eq!(of(&failure, Some("recipes/default.rb")), format!("{class}: {message}"));
        };
        check("Errno::EACCES", "Permission denied @ rb_sysopen - /srv/a - b", "permission denied: /srv/a - b");
        check("NoMethodError", "resource type `x` does not exist", "resource type `x` does not exist");
        assert_eq!(of_recorded("Errno::ENOENT", "/x", Some("a.rs")), "/x: no such file or directory");
        assert_eq!(of_recorded("Errno::ENOENT", "/x", Some("a.rb")), "Errno::ENOENT: /x");
    }

    #[test]
    fn several_failures_are_counted_and_told_each() {
        let many = Failure::Many(vec![
            (Place::Converge, Failure::raised(SystemError::NotFound, "No such file or directory - nosuch")),
            (Place::DelayedNotification, Failure::Stopped(StopReason::Signal(2))),
        ]);
        let rust =
            "2 failures:\n* no such file or directory: nosuch\n* in a delayed notification: stopped by Ctrl-C (SIGINT)";
        assert_eq!(of(&many, Some("src/lib.rs")), rust);
        assert_eq!(with_resources(&many, Some("src/lib.rs")), rust);
        let ruby = "2 failures:\n* Errno::ENOENT: No such file or directory - nosuch\n* in a delayed notification: stopped by \
                    Ctrl-C (SIGINT)";
        assert_eq!(of(&many, Some("recipes/default.rb")), ruby);
    }

    #[test]
    fn wruns_own_classes_and_resources_on_the_way_are_left_out() {
        let denied = Failure::raised(ErrorKind::Denied, "policy `web` may not read fact `x`");
        assert_eq!(of(&denied, None), "policy `web` may not read fact `x`");
        let passed = contract::Raised { passed: vec!["a[b] (c)".into()], ..contract::Raised::of_class("E", "no") };
        assert_eq!(with_resources(&passed.clone().into(), Some("src/lib.rs")), "no");
        assert_eq!(with_resources(&passed.into(), Some("a.rb")), "E: a[b] (c) had an error: E: no");
        let exit = Failure::of_class(
            "Mixlib::ShellOut::ShellCommandFailed",
            "Expected process to exit with [0], but received '1'",
        );
        assert_eq!(shortly(&exit, Some("src/lib.rs")), "the command ended with 1, not with 0");
        assert_eq!(shortly(&exit, Some("a.rb")), "Expected process to exit with [0], but received '1'");
    }
}
