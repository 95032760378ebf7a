//! Removes rights to read a path from a file of grants once the same path may be managed, since that includes reading it.

use super::table_of;
use crate::denied::{Capability, is_plain};
use crate::policy::Grants;
use toml_edit::{Array, DocumentMut, RawString, Value};

/// Removes the entries of `read_paths` that an equal entry of `paths` makes needless. Entries with a comment stay, and those
/// without which the policy could no longer read the path.
pub(super) fn remove(document: &mut DocumentMut, name: &str, policy: &str) {
    for path in needless(document, policy) {
        let mut without = document.clone();
        take_out(&mut without, policy, &path);
        let is_readable = |grants: Grants| grants.policy(policy, &[]).may_look(&path).is_some();
        if Grants::parse(&without.to_string(), name).is_ok_and(is_readable) {
            *document = without;
        }
    }
}

/// The paths that are in both lists.
fn needless(document: &mut DocumentMut, policy: &str) -> Vec<String> {
    let Some(table) = table_of(document, policy) else { return vec![] };
    let list = |capability: Capability| table.get(capability.key()).and_then(|item| item.as_array());
    let Some((managed, read)) = list(Capability::Paths).zip(list(Capability::ReadPaths)) else { return vec![] };
    let is_managed = |path: &&str| managed.iter().any(|one| one.as_str() == Some(path));
    let bare = read.iter().filter(|value| has_no_comment(value)).filter_map(Value::as_str);
    bare.filter(|path| is_plain(path)).filter(is_managed).map(str::to_owned).collect()
}

/// Removes an entry of `read_paths`, and the key with its last entry.
fn take_out(document: &mut DocumentMut, policy: &str, path: &str) {
    let key = Capability::ReadPaths.key();
    let Some(table) = table_of(document, policy) else { return };
    let list = table.get_mut(key).and_then(|item| item.as_array_mut());
    let is_empty = list.is_some_and(|list| {
        list.retain(|value| value.as_str() != Some(path));
        tidy_start(list);
        list.is_empty() && !list.trailing().as_str().is_some_and(|text| text.contains('#'))
    });
    let has_comment = table.key(key).is_some_and(|key| is_comment(key.leaf_decor().prefix()));
    if is_empty && !has_comment {
        let _removed = table.remove(key);
    }
}

/// Removes the space before the first entry of a list in one line.
fn tidy_start(list: &mut Array) {
    if let Some(first) = list.get_mut(0)
        && first.decor().prefix().and_then(RawString::as_str) == Some(" ")
    {
        first.decor_mut().set_prefix("");
    }
}

fn has_no_comment(value: &Value) -> bool {
    !is_comment(value.decor().prefix()) && !is_comment(value.decor().suffix())
}

fn is_comment(text: Option<&RawString>) -> bool {
    text.and_then(RawString::as_str).is_some_and(|text| text.contains('#'))
}

#[cfg(test)]
mod tests {
    use crate::edit::{Addition, add};

    #[track_caller]
    fn check(before: &str, key: &str, path: &str, after: &str) {
        let addition = Addition { policy: "web".into(), key: key.into(), value: format!("\"{path}\"") };
        assert_eq!(add(before, "grants.toml", &[addition]).unwrap().text, after);
    }

    #[test]
    fn a_right_to_manage_takes_the_place_of_that_to_read() {
        let both = "[policy.web]\nread_paths = [\"/etc/x\", \"/etc/y\"]\n";
        check(both, "paths", "/etc/x", "[policy.web]\nread_paths = [\"/etc/y\"]\npaths = [\"/etc/x\"]\n");
        let one = "[policy.web]\nclock = true\nread_paths = [\"/etc/x\"]\n";
        check(one, "paths", "/etc/x", "[policy.web]\nclock = true\npaths = [\"/etc/x\"]\n");
        let other = "[policy.web]\nread_paths = [\"/etc/x\"]\n";
        check(other, "paths", "/etc/z", "[policy.web]\nread_paths = [\"/etc/x\"]\npaths = [\"/etc/z\"]\n");
        // The other way round it is not added.
        let managed = "[policy.web]\npaths = [\"/etc/x\"]\n";
        check(managed, "read_paths", "/etc/x", managed);
    }

    #[test]
    fn comments_and_rights_that_are_still_needed_stay() {
        for before in [
            "[policy.web]\n# for the audit\nread_paths = [\"/etc/x\"] # keep\n",
            "[policy.web]\nread_paths = [\n    # for the audit\n    \"/etc/x\",\n]\n",
            "[policy.web]\nread_paths = [\"/etc/x\"]\ndeny_read_paths = [\"/etc/**\"]\n",
        ] {
            let addition = Addition { policy: "web".into(), key: "paths".into(), value: "\"/etc/x\"".into() };
            let after = add(before, "grants.toml", &[addition]).unwrap().text;
            assert!(after.contains("/etc/x\"") && after.contains("read_paths = ["), "{after}");
            assert_eq!(after.contains("# for the audit"), before.contains("# for the audit"), "{after}");
        }
    }
}
