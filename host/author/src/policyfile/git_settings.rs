//! Decides whether git may be run in a working tree. Its configuration may be untrusted if the folder was copied, and can
//! name programs: `core.fsmonitor`, filters, `core.sshCommand`, includes. Only settings that name neither a program nor
//! another place are accepted. The user's own settings for all repositories are trusted.

/// Harmless settings of a repository, by section.
const PLAIN: [(&str, &[&str]); 14] = [
    ("branch", &["description", "merge", "rebase", "remote", "vscode-merge-base"]),
    ("color", &["branch", "diff", "status", "ui"]),
    ("commit", &["gpgsign"]),
    (
        "core",
        &[
            "autocrlf",
            "bare",
            "eol",
            "filemode",
            "ignorecase",
            "logallrefupdates",
            "precomposeunicode",
            "quotepath",
            "repositoryformatversion",
            "sharedrepository",
            "symlinks",
        ],
    ),
    ("extensions", &["objectformat", "refstorage"]),
    ("gc", &["auto"]),
    ("init", &["defaultbranch"]),
    ("pull", &["ff", "rebase"]),
    ("push", &["autosetupremote", "default"]),
    ("receive", &["denycurrentbranch", "denydeletes", "denynonfastforwards"]),
    ("remote", &["fetch", "pushurl", "tagopt", "url"]),
    ("submodule", &["active", "url"]),
    ("tag", &["gpgsign"]),
    ("user", &["email", "name", "signingkey"]),
];

/// The arguments with which git lists all settings with their scopes.
pub(super) const LIST: [&str; 4] = ["config", "--list", "--show-scope", "-z"];

/// Returns the first setting of the repository itself that may start a program or lead to another place. `listed`: the output
/// of git for [`LIST`]: `SCOPE\0KEY\nVALUE\0` for each.
pub(super) fn first_not_plain(listed: &str) -> Option<&str> {
    let mut words = listed.split('\0');
    while let (Some(scope), Some(setting)) = (words.next(), words.next()) {
        let key = setting.split('\n').next().unwrap_or_default();
        let is_of_repository = !matches!(scope, "command" | "global" | "system");
        if is_of_repository && !is_plain(key) {
            return Some(key);
        }
    }
    None
}

/// Whether a key, as git lists it (`remote.origin.url`), is one of [`PLAIN`].
fn is_plain(key: &str) -> bool {
    let (Some((section, _)), Some((_, name))) = (key.split_once('.'), key.rsplit_once('.')) else { return false };
    PLAIN.iter().any(|(plain, names)| *plain == section && names.contains(&name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_starts_a_program_is_found_where_it_is_the_repositorys_own() {
        #[track_caller]
        fn check(listed: &[(&str, &str)], expected: Option<&str>) {
            let listed: String = listed.iter().map(|(scope, setting)| format!("{scope}\0{setting}\0")).collect();
            assert_eq!(first_not_plain(&listed), expected);
        }
        let plain = [
            ("global", "core.fsmonitor\ntrue"),
            ("command", "core.hookspath\n/dev/null"),
            ("local", "core.filemode\ntrue"),
            ("local", "remote.with.dots.url\nhttps://example.org/a\nb"),
            ("local", "branch.main.merge\nrefs/heads/main"),
        ];
        check(&plain, None);
        for key in [
            "core.fsmonitor",
            "core.sshcommand",
            "core.worktree",
            "diff.external",
            "extensions.partialclone",
            "extensions.worktreeconfig",
            "filter.x.clean",
            "include.path",
            "includeif.gitdir:/.path",
            "remote.origin.promisor",
            "remote.origin.uploadpack",
            "odd",
        ] {
            check(&[plain[2], ("local", &format!("{key}\nevil"))], Some(key));
            check(&[("worktree", key)], Some(key));
        }
    }
}
