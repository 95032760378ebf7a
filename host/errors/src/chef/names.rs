//! The names in the sentences of Ruby and Chef about what does not exist.

use super::class;
use crate::ErrorKind;

/// Classes whose messages name a method, a constant or a resource type that does not exist.
const CLASSES: [&str; 3] = ["NoMethodError", "NameError", "Chef::Exceptions::NoSuchResourceType"];

/// What stands before a constant, and before a resource type.
const BEFORE: [&str; 2] = ["uninitialized constant ", "Cannot find a resource for "];

/// Returns the name that an error says does not exist: of a method, a resource type, or a constant without what it lies in.
/// `None`: the error is about something else, or the name is an operator.
pub fn unknown_name<'m>(kind: &ErrorKind, message: &'m str) -> Option<&'m str> {
    if !CLASSES.contains(&class(kind)) {
        return None;
    }
    let quoted = || {
        let (_, rest) = message.split_once(['`', '\''])?;
        Some(rest.split('\'').next().unwrap_or(rest))
    };
    let after = BEFORE.iter().find_map(|before| Some(message.split_once(before)?.1));
    let name = match after {
        Some(rest) => rest.split_whitespace().next()?.rsplit("::").next()?,
        None => quoted()?,
    };
    let is_name = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    is_name.then_some(name)
}

#[cfg(test)]
mod tests {
    use super::unknown_name;
    use crate::chef::kind;

    #[test]
    fn the_unknown_name_is_found_in_the_sentences() {
        for (class, message, expected) in [
            ("NoMethodError", "undefined method `site' for cookbook: a, recipe: b :Chef::Recipe", Some("site")),
            ("NoMethodError", "undefined method 'go' for nil", Some("go")),
            ("NoMethodError", "undefined method '[]' for nil", None),
            ("NameError", "undefined local variable or method `nodee' for cookbook: a", Some("nodee")),
            ("NameError", "uninitialized constant Chef::Recipe::Tools", Some("Tools")),
            (
                "Chef::Exceptions::NoSuchResourceType",
                "Cannot find a resource for site on debian version 12 with target_mode? false",
                Some("site"),
            ),
            ("RuntimeError", "undefined method `site' for x", None),
            ("NameError", "", None),
        ] {
            assert_eq!(unknown_name(&kind(class), message), expected, "{message}");
        }
    }
}
