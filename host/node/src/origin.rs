//! The place in the source that an attribute write, a declaration or an error comes from.

use std::fmt;

/// The policy that something comes from, and the cookbook, recipe, file and line as far as they are known.
///
/// An unknown part is `None`, never an empty string. Lines count from 1.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Origin {
    /// Name of the policy, or of the host's own source, such as "command line".
    pub policy: String,
    /// Name of the cookbook, without the recipe; `None` outside of cookbooks.
    pub cookbook: Option<String>,
    /// Recipe name without its cookbook; `None` in attribute files and libraries.
    pub recipe: Option<String>,
    /// Path of the file inside the policy, such as `nginx/attributes/default.rb`.
    pub file: Option<String>,
    /// Line in `file`, from 1.
    pub line: Option<u32>,
}

impl Origin {
    /// Returns an origin that has only the name of the policy.
    pub fn policy(name: impl Into<String>) -> Self {
        Self { policy: name.into(), ..Self::default() }
    }

    /// The cookbook in whose folder the file lies, and the file's path there. If the guest names the file by a path that
    /// leaves its own cookbook, such as `../users/resources/manage.rb`, it is that other cookbook.
    pub fn cookbook_file(&self) -> Option<(&str, &str)> {
        let (cookbook, file) = (self.cookbook.as_deref()?, self.file.as_deref()?);
        Some(file.strip_prefix("../").and_then(|other| other.split_once('/')).unwrap_or((cookbook, file)))
    }

    /// The place as `COOKBOOK/FILE:LINE`, without the line where that is not known.
    pub fn place(&self) -> Option<String> {
        let (cookbook, file) = self.cookbook_file()?;
        let line = self.line.map(|line| format!(":{line}")).unwrap_or_default();
        Some(format!("{cookbook}/{file}{line}"))
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.policy)?;
        match (&self.cookbook, &self.recipe) {
            (Some(cookbook), Some(recipe)) => write!(out, " {cookbook}::{recipe}")?,
            (Some(cookbook), None) => write!(out, " {cookbook}")?,
            (None, _) => {}
        }
        match (&self.file, self.line) {
            (Some(file), Some(line)) => write!(out, " ({file}:{line})"),
            (Some(file), None) => write!(out, " ({file})"),
            (None, _) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(origin: Origin, expect: &str) {
        assert_eq!(origin.to_string(), expect);
    }

    #[test]
    fn a_file_of_another_cookbook_is_named_from_there() {
        let place = |file: &str| {
            let origin =
                Origin { cookbook: Some("base".into()), file: Some(file.into()), line: Some(2), ..Origin::default() };
            origin.place().unwrap_or_default()
        };
        assert_eq!(place("recipes/default.rb"), "base/recipes/default.rb:2");
        assert_eq!(place("../users/resources/manage.rb"), "users/resources/manage.rb:2");
        assert_eq!(place("../x"), "base/../x:2");
    }

    #[test]
    fn origins_say_as_much_as_they_know() {
        check(Origin::policy("core"), "core");
        check(
            Origin {
                cookbook: Some("ntp".into()),
                recipe: Some("default".into()),
                file: Some("ntp/recipes/default.rb".into()),
                line: Some(3),
                ..Origin::policy("core")
            },
            "core ntp::default (ntp/recipes/default.rb:3)",
        );
        check(
            Origin { file: Some("Policyfile.lock.json".into()), ..Origin::policy("core") },
            "core (Policyfile.lock.json)",
        );
    }
}
