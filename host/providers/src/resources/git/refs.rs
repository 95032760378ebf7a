//! Finds the commit of a name in the output of `git ls-remote`.

/// A commit, and the kind of name that led to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) commit: String,
    pub(super) is_tag: bool,
    pub(super) is_branch: bool,
}

impl Target {
    /// Creates the target of a revision that is itself a commit.
    pub(super) fn commit(commit: &str) -> Self {
        Self { commit: commit.into(), is_tag: false, is_branch: false }
    }
}

/// Tells whether a text is a full commit id.
pub(super) fn is_commit(text: &str) -> bool {
    text.len() == 40 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Returns the pattern for `ls-remote`. The star also finds the commit behind an annotated tag.
pub(super) fn search_pattern(revision: &str) -> String {
    if matches!(revision, "" | "HEAD") { "HEAD".into() } else { format!("{revision}*") }
}

/// Returns the commit of a revision, or `None` if no name matches, or several do.
pub(super) fn resolve(said: &str, revision: &str) -> Option<Target> {
    let refs: Vec<(&str, &str)> = said.lines().filter_map(|line| line.split_once('\t')).collect();
    // The real HEAD is looked up first, so that a tag named HEAD cannot mislead.
    let first = match search_pattern(revision).as_str() {
        "HEAD" => named(&refs, "HEAD", false, false),
        _ => find(&refs, revision, "^{}"),
    };
    let found = if first.is_empty() { find(&refs, revision, "") } else { first };
    match found.as_slice() {
        [one] if is_commit(&one.commit) => Some(one.clone()),
        _ => None,
    }
}

/// Looks for tags first, then branches, then full names. The suffix `^{}` marks the commit behind an annotated tag.
fn find(refs: &[(&str, &str)], revision: &str, suffix: &str) -> Vec<Target> {
    let whole = |prefix: &str| match revision.strip_prefix(prefix) {
        Some(_) => format!("{revision}{suffix}"),
        None => format!("{prefix}{revision}{suffix}"),
    };
    let tags = named(refs, &whole("refs/tags/"), true, false);
    if !tags.is_empty() {
        return tags;
    }
    let branches = named(refs, &whole("refs/heads/"), false, true);
    if !branches.is_empty() {
        return branches;
    }
    named(refs, &format!("{revision}{suffix}"), false, false)
}

fn named(refs: &[(&str, &str)], name: &str, is_tag: bool, is_branch: bool) -> Vec<Target> {
    let found = refs.iter().filter(|(_, other)| *other == name);
    found.map(|(commit, _)| Target { commit: (*commit).to_owned(), is_tag, is_branch }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(lines: &[(char, &str)]) -> String {
        lines.iter().map(|(digit, name)| format!("{}\t{name}\n", digit.to_string().repeat(40))).collect()
    }

    #[test]
    fn names_lead_to_commits() {
        let text = said(&[
            ('1', "HEAD"),
            ('2', "refs/heads/main"),
            ('3', "refs/heads/v1"),
            ('4', "refs/tags/v1"),
            ('5', "refs/tags/v2"),
            ('6', "refs/tags/v2^{}"),
            ('7', "refs/heads/feature/main"),
        ]);
        let check = |revision: &str, expect: Option<(char, bool, bool)>| {
            let found = resolve(&text, revision).map(|target| (target.commit, target.is_tag, target.is_branch));
            let expect = expect.map(|(digit, is_tag, is_branch)| (digit.to_string().repeat(40), is_tag, is_branch));
            assert_eq!(found, expect, "{revision}");
        };
        check("HEAD", Some(('1', false, false)));
        check("", Some(('1', false, false)));
        check("main", Some(('2', false, true)));
        check("refs/heads/main", Some(('2', false, true)));
        check("v1", Some(('4', true, false)));
        check("v2", Some(('6', true, false)));
        check("feature/main", Some(('7', false, true)));
        check("absent", None);
        check("mai", None);
        assert_eq!(resolve("warning: odd\nno commit\trefs/heads/main\n", "main"), None);
    }

    #[test]
    fn commits() {
        assert!(is_commit(&"a1".repeat(20)));
        assert!(!is_commit(&"A1".repeat(20)) && !is_commit("a1") && !is_commit(&"a1".repeat(21)));
    }
}
