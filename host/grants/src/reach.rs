//! The reach of rules with wildcards: below directories that many applications share, and into homes.
//!
//! The author of `/etc/**` hardly meant a right to everything that root's programs read, and no list of such files is
//! complete. So a rule with wildcards must name an application's directory (`/etc/mysql/**`), and a hidden name in a home
//! must appear in the rule. Rules without wildcards, and those in `privileged_paths`, cover everything that they match.

use crate::homes::Homes;
use crate::pattern::PathPattern;
use crate::privileged::is_within;

/// Directories in which applications have their own directories. The longest matching one counts.
const SHARED: [&str; 7] = ["/etc", "/etc/opt", "/usr", "/usr/local", "/run", "/var/lib", "/var/cache"];

/// The usual place of homes.
const HOMES: &str = "/home/";

/// The directory in a person's home in which shells look for programs first.
const PROGRAMS: &str = "bin";

/// The reason why a rule with wildcards does not cover a path that it matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TooWide {
    /// The path is privileged.
    Privileged,
    /// The rule does not name an application's directory below this one.
    Nameless(&'static str),
    /// The path has a hidden name in a home, which the rule does not contain.
    Hidden,
    /// A wildcard of the rule's mount options stands for an option that is not known to be harmless.
    Option,
}

impl TooWide {
    /// Returns the reason for messages. `rule` is the rule's text, and `place` its place, such as `line 3 of grants.toml`.
    pub(crate) fn reason(self, rule: &str, place: &str) -> String {
        match self {
            Self::Privileged => format!("it is privileged, and `{rule}` in {place} is too wide a rule to reach it"),
            Self::Nameless(shared) => format!(
                "`{rule}` in {place} is too wide a rule to reach anything below {shared}: it must name an application's \
                 directory there, as `{shared}/NAME/**` does"
            ),
            Self::Hidden => format!(
                "a hidden name in a home must stand in the rule, and `{rule}` in {place} is too wide a rule to reach it"
            ),
            Self::Option => format!(
                "a wildcard stands for a mount option that is known to be harmless, with a plain value, and `{rule}` in \
                 {place} has wildcards: write the option into the rule"
            ),
        }
    }
}

/// Returns why a rule with wildcards does not cover this resolved path, apart from privileges. `homes` are the resolved homes
/// of this machine's users.
pub(crate) fn too_wide(pattern: &PathPattern, path: &str, homes: &Homes) -> Option<TooWide> {
    if let Some(shared) = nameless(pattern, path) {
        return Some(TooWide::Nameless(shared));
    }
    let hidden = hidden_in_home(path, homes)?;
    (!pattern.has_part(hidden)).then_some(TooWide::Hidden)
}

/// Returns the shared directory above a path, if the pattern does not name a directory in it.
pub(crate) fn nameless(pattern: &PathPattern, path: &str) -> Option<&'static str> {
    let shared = SHARED.into_iter().filter(|shared| lies_below(path, shared)).max_by_key(|shared| shared.len())?;
    (!lies_below(pattern.beginning(), shared)).then_some(shared)
}

/// Returns the shared directory in which a pattern covers nothing. That is so if all its matches are in that directory and it
/// does not name an application's directory, as in `/etc/*.conf`.
pub(crate) fn reaches_nothing(pattern: &PathPattern) -> Option<&'static str> {
    let within = SHARED.into_iter().filter(|shared| is_within(pattern.beginning(), shared));
    let shared = within.max_by_key(|shared| shared.len())?;
    (!pattern.is_exact() && pattern.beginning() == shared).then_some(shared)
}

/// Returns the shared directories that a pattern with wildcards matches but does not cover. For `/var/**` these are
/// `/var/lib` and `/var/cache`.
pub(crate) fn left_out(pattern: &PathPattern) -> Vec<&'static str> {
    let outer = SHARED.into_iter().filter(|shared| !SHARED.iter().any(|other| lies_below(shared, other)));
    outer.filter(|shared| !pattern.is_exact() && lies_below(shared, pattern.beginning())).collect()
}

/// Returns the name directly below a home in `/home`.
fn name_in_usual_home(path: &str) -> Option<&str> {
    path.strip_prefix(HOMES)?.split('/').nth(1)
}

/// Returns the hidden name directly below a home, such as a file that the owner's shell reads.
fn hidden_in_home<'p>(path: &'p str, homes: &Homes) -> Option<&'p str> {
    let name = name_in_usual_home(path).filter(|name| name.starts_with('.'));
    name.or_else(|| homes.hidden_name(path))
}

/// Tells whether a name directly below a home decides which programs the owner runs. These are `.config`, `.local` and
/// others, and below `/home` also `bin`, where shells look first. Homes elsewhere belong to services, whose `bin` is the
/// application's.
pub(crate) fn decides_in_home(path: &str, homes: &Homes) -> bool {
    hidden_in_home(path, homes).is_some_and(crate::privileged::name_in_home)
        || name_in_usual_home(path) == Some(PROGRAMS)
}

fn lies_below(path: &str, directory: &str) -> bool {
    path != directory && is_within(path, directory)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(rule: &str, path: &str, expect: Option<TooWide>) {
        let pattern = PathPattern::new(rule).unwrap();
        assert!(pattern.matches(path), "{rule} {path}");
        assert_eq!(too_wide(&pattern, path, &Homes::of(["/srv/deploy".to_owned()])), expect, "{rule} {path}");
    }

    #[test]
    fn wide_rules_reach_nothing_below_shared_directories() {
        for (rule, path, shared) in [
            ("/etc/**", "/etc/mysql/my.cnf", "/etc"),
            ("/etc/*", "/etc/motd", "/etc"),
            ("/etc/my*/**", "/etc/mysql/my.cnf", "/etc"),
            ("/**", "/etc/motd", "/etc"),
            ("/**/mysql/**", "/var/lib/mysql/x", "/var/lib"),
            ("/var/**", "/var/cache/app/x", "/var/cache"),
            ("/usr/**", "/usr/games/x", "/usr"),
            ("/usr/local/**", "/usr/local/nagios/x", "/usr/local"),
            ("/run/**", "/run/app/x", "/run"),
            ("/etc/opt/**", "/etc/opt/app/x", "/etc/opt"),
        ] {
            check(rule, path, Some(TooWide::Nameless(shared)));
        }
        for (rule, path) in [
            ("/etc/mysql/**", "/etc/mysql/my.cnf"),
            ("/etc/mysql/**", "/etc/mysql"),
            ("/usr/local/nagios/**", "/usr/local/nagios/x"),
            ("/var/**", "/var/log/x"),
            ("/**", "/srv/x"),
            ("/**", "/etcetera/x"),
        ] {
            check(rule, path, None);
        }
    }

    #[test]
    fn hidden_names_in_homes_must_stand_in_the_rule() {
        for (rule, path) in
            [("/home/ann/**", "/home/ann/.x"), ("/home/**", "/home/ann/.x/y"), ("/srv/**", "/srv/deploy/.x")]
        {
            check(rule, path, Some(TooWide::Hidden));
        }
        for (rule, path) in [
            ("/home/*/.y/**", "/home/ann/.y/.x"),
            ("/home/ann/**", "/home/ann/x"),
            ("/srv/**", "/srv/www/.htaccess"),
            ("/srv/**", "/srv/deployed/.x"),
            ("/home/ann/**", "/home/ann/app/.git/config"),
        ] {
            check(rule, path, None);
        }
        let none = Homes::default();
        assert!(decides_in_home("/home/ann/bin/ls", &none) && !decides_in_home("/home/ann/app/bin/x", &none));
        assert!(!decides_in_home("/srv/deploy/bin/x", &Homes::of(["/srv/deploy".to_owned()])));
        assert!(decides_in_home("/home/ann/.config/x", &none) && !decides_in_home("/srv/app/.config/x", &none));
    }

    #[test]
    fn rules_that_reach_nothing_or_less_are_known() {
        let pattern = |text| PathPattern::new(text).unwrap();
        for (rule, shared) in [("/etc/**", "/etc"), ("/etc/*.conf", "/etc"), ("/usr/local/*/x", "/usr/local")] {
            assert_eq!(reaches_nothing(&pattern(rule)), Some(shared), "{rule}");
        }
        for rule in ["/etc/mysql/**", "/etc", "/**", "/var/**", "/srv/**"] {
            assert_eq!(reaches_nothing(&pattern(rule)), None, "{rule}");
        }
        assert_eq!(left_out(&pattern("/var/**")), ["/var/lib", "/var/cache"]);
        assert_eq!(left_out(&pattern("/**")), ["/etc", "/usr", "/run", "/var/lib", "/var/cache"]);
        assert_eq!(left_out(&pattern("/srv/**")), [""; 0]);
    }
}
