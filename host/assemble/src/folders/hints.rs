//! Hints about a missing cookbook, role or environment: near names, a list of existing ones, and the option that names their
//! directory.

use std::path::{Path, PathBuf};
use text::escape_line;
use text::nearest;

/// The most names that are listed.
const LISTED: usize = 10;

/// Returns the hint about a cookbook that none of the directories has.
pub(super) fn cookbook<'n>(
    missing: &str,
    known: impl Iterator<Item = &'n str> + Clone,
    directories: &[PathBuf],
) -> String {
    let is_cookbook = |place: &&PathBuf| ["metadata.rb", "metadata.json"].iter().any(|file| place.join(file).exists());
    if let Some(place) = directories.iter().find(is_cookbook) {
        let above = std::path::absolute(place).ok().and_then(|place| place.parent().map(Path::to_owned));
        let above = above.unwrap_or_default();
        return format!(
            "{} is a cookbook itself; name the directory that it is in: --cookbooks {}",
            place.display(),
            above.display()
        );
    }
    let places = directories.iter().map(|place| place.display().to_string()).collect::<Vec<_>>().join(", ");
    format!("{}{}", near(missing, known.clone()), there(&format!("the cookbooks in {places}"), missing, known))
}

/// Returns the hint about a missing role or environment. `directory`: where they are read from; `option` names such a
/// directory.
pub(super) fn document<'n>(
    missing: &str,
    known: impl Iterator<Item = &'n str> + Clone,
    directory: Option<&Path>,
    (kind, option): (&str, &str),
) -> String {
    match directory {
        None => format!("no directory of {kind}s was given ({option} DIR)"),
        Some(place) => {
            format!(
                "{}{}",
                near(missing, known.clone()),
                there(&format!("the {kind}s in {}", place.display()), missing, known)
            )
        }
    }
}

/// Returns the hint about a missing environment that the saved node names, not this run's command line. `hint` is the one about
/// the directory of environments.
pub(super) fn remembered(name: &str, node: &str, hint: &str) -> String {
    let (name, node) = (escape_line(name), escape_line(node));
    format!(
        "the node {node} remembers the environment {name:?} from an earlier run; {hint}; \
         `--environment _default` runs without one, and the node remembers that"
    )
}

/// The fewest letters of a shortened name.
const MIN_SHORTENED: usize = 3;

/// Returns the hint with a near name, with one of the same letters in another order, or with the only one that begins so, such
/// as `production` for `prod`.
fn near<'n>(missing: &str, known: impl Iterator<Item = &'n str> + Clone) -> String {
    let letters = |name: &str| {
        let mut letters: Vec<char> = name.chars().collect();
        letters.sort_unstable();
        letters
    };
    let same_letters = || known.clone().find(|name| name.len() == missing.len() && letters(name) == letters(missing));
    let is_longer = |name: &&str| missing.chars().count() >= MIN_SHORTENED && name.starts_with(missing);
    let longer =
        || Some(known.clone().filter(is_longer)).and_then(|mut all| all.next().filter(|_| all.next().is_none()));
    let name = nearest(missing, known.clone()).or_else(same_letters).or_else(longer);
    name.map(|name| format!("did you mean {name:?}? ")).unwrap_or_default()
}

/// Lists the names that there are. Of more than fit, those that begin as the missing one come first.
fn there<'n>(what: &str, missing: &str, known: impl Iterator<Item = &'n str>) -> String {
    let mut names: Vec<_> = known.collect();
    if names.len() > LISTED {
        let common = |name: &str| missing.chars().zip(name.chars()).take_while(|(one, other)| one == other).count();
        names.sort_by_key(|name| std::cmp::Reverse(common(name)));
    }
    if names.is_empty() {
        return format!("{what}: there are none");
    }
    let listed = names.iter().take(LISTED).copied().collect::<Vec<_>>().join(", ");
    match names.len().checked_sub(LISTED) {
        Some(more @ 1..) => format!("{what}: {listed} and {more} more"),
        _ => format!("{what}: {listed}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_cookbook_is_answered_with_a_near_name_and_what_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("cookbooks");
        std::fs::create_dir_all(place.join("nginx")).unwrap();
        let names = ["nginx", "ntp"];
        let said = cookbook("nxing", names.into_iter(), std::slice::from_ref(&place));
        let shown = place.display();
        assert_eq!(said, format!("did you mean \"nginx\"? the cookbooks in {shown}: nginx, ntp"));
        let none: [&str; 0] = [];
        assert_eq!(
            cookbook("x", none.into_iter(), std::slice::from_ref(&place)),
            format!("the cookbooks in {shown}: there are none")
        );
        let many: Vec<_> = (0..LISTED + 3).map(|at| format!("c{at:02}")).collect();
        let said = cookbook("x", many.iter().map(String::as_str), std::slice::from_ref(&place));
        assert!(said.ends_with("c08, c09 and 3 more"), "{said}");
        let said = cookbook("nx", many.iter().map(String::as_str).chain(["nginx"]), std::slice::from_ref(&place));
        assert!(said.ends_with(": nginx, c00, c01, c02, c03, c04, c05, c06, c07, c08 and 4 more"), "{said}");

        std::fs::write(place.join("nginx/metadata.rb"), "name 'nginx'").unwrap();
        let own = place.join("nginx");
        let said = cookbook("nginx", none.into_iter(), std::slice::from_ref(&own));
        assert_eq!(
            said,
            format!("{} is a cookbook itself; name the directory that it is in: --cookbooks {shown}", own.display())
        );
    }

    #[test]
    fn a_missing_role_is_answered_with_the_option_that_would_bring_it() {
        let names = ["web", "db"];
        let kind = ("role", "--roles");
        assert_eq!(document("wbe", names.into_iter(), None, kind), "no directory of roles was given (--roles DIR)");
        let said = document("wbe", names.into_iter(), Some(Path::new("/srv/roles")), kind);
        assert_eq!(said, "did you mean \"web\"? the roles in /srv/roles: web, db");
    }
}
