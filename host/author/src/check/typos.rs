//! Tells typing errors from other names.

use text::nearest;

/// Returns the name that was most likely meant, if one differs only by a typing error.
pub(super) fn meant<'n>(name: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    nearest(name, names).filter(|near| is_typo(name, near))
}

/// Whether two names differ only in one place, by at most two characters that are not digits: `ngnix` and `nginx`. Names of
/// several versions of one thing differ by digits.
fn is_typo(one: &str, other: &str) -> bool {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    let same = |pairs: &mut dyn Iterator<Item = (&char, &char)>| pairs.take_while(|(a, b)| a == b).count();
    let before = same(&mut one.iter().zip(&other));
    let after = same(&mut one.iter().rev().zip(other.iter().rev()));
    let middle = |name: &[char]| name.get(before..name.len().saturating_sub(after)).unwrap_or_default().to_vec();
    let (mine, theirs) = (middle(&one), middle(&other));
    let has_digits = mine.iter().chain(&theirs).any(char::is_ascii_digit);
    one.len() > 3 && mine.len().max(theirs.len()) <= 2 && !has_digits
}

#[cfg(test)]
mod tests {
    use super::is_typo;

    #[test]
    fn typos_are_told_from_other_names() {
        for (one, other, expected) in [
            ("nginx", "ngnix", true),
            ("/etc/web/site.conf", "/etc/web/sites.conf", true),
            ("php7.4-fpm", "php8.2-fpm", false),
            ("/etc/ldap.conf", "/etc/nscd.conf", false),
            ("a", "b", false),
        ] {
            assert_eq!(is_typo(one, other), expected, "{one} {other}");
        }
    }
}
