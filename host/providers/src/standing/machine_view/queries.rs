//! Questions about a machine as it is now.

use super::at_path::at_path;
use super::private::is_private;
use grants::{AtPath, FirstLink, MachineQueries};
use machine::root::Root;
use machine::users::Users;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The root directory of a machine. What cannot be looked at counts as present.
pub(super) struct Queries {
    /// `None`: the root cannot be opened.
    root: Option<Root>,
    users: Mutex<Users>,
}

impl Queries {
    /// Answers from an open root, whose users have been read.
    pub(super) fn new(root: Root, users: Users) -> Self {
        Self { root: Some(root), users: Mutex::new(users) }
    }

    /// Answers for a root that cannot be opened.
    pub(super) fn of_unknown_machine() -> Self {
        Self { root: None, users: Mutex::default() }
    }

    fn users(&self) -> MutexGuard<'_, Users> {
        self.users.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl MachineQueries for Queries {
    fn at_path(&self, path: &str) -> AtPath {
        self.root.as_ref().map_or(AtPath::Closed, |root| at_path(root, path))
    }

    fn is_private(&self, path: &str) -> bool {
        self.root.as_ref().is_none_or(|root| is_private(root, path))
    }

    fn first_link(&self, path: &str) -> Option<FirstLink> {
        self.root.as_ref()?.first_link(path)
    }

    fn has_user(&self, name: &str) -> bool {
        self.root.is_none() || self.users().user(name).is_some()
    }

    fn has_group(&self, name: &str) -> bool {
        self.root.is_none() || self.users().group(name).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn what_is_there_is_told_from_what_is_new() {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| folder.path().join(path);
        for directory in ["etc", "srv/ops", "srv/secret"] {
            std::fs::create_dir_all(at(directory)).unwrap();
        }
        for (path, text) in [
            ("etc/passwd", "root:x:0:0::/root:/bin/sh\nann:x:1000:1000::/home/ann:/bin/sh\n"),
            ("etc/group", "root:x:0:\nann:x:1000:\n"),
            ("srv/ops/open", ""),
            ("srv/ops/closed", ""),
            ("srv/secret/x", ""),
        ] {
            std::fs::write(at(path), text).unwrap();
        }
        std::os::unix::fs::symlink("/srv/ops", at("srv/link")).unwrap();
        std::os::unix::fs::symlink("/nowhere", at("srv/dangling")).unwrap();
        for (path, mode) in [("srv/ops/closed", 0o600), ("srv/secret", 0o700), ("", 0o755)] {
            std::fs::set_permissions(at(path), std::fs::Permissions::from_mode(mode)).unwrap();
        }
        let root = Root::open(folder.path(), &contract::Account::unmetered("test")).unwrap();
        let mut users = Users::default();
        users.refresh(&root);
        let machine = Queries::new(root, users);
        let nothing = |above: &str| AtPath::Nothing { above: above.to_owned() };
        for (path, expect) in [
            ("/srv/ops/open", AtPath::Readable),
            ("/srv/ops", AtPath::Readable),
            ("/srv/ops/closed", AtPath::Closed),
            ("/srv/secret", AtPath::Closed),
            ("/srv/secret/x", AtPath::Closed),
            ("/srv/dangling", AtPath::Closed),
            ("/srv/new/in/it", nothing("/srv")),
            ("/srv/link/new", nothing("/srv/ops")),
            ("/new", nothing("/")),
            ("/srv/ops/open/below", nothing("/srv/ops/open")),
        ] {
            assert_eq!(machine.at_path(path), expect, "{path}");
        }
        for (path, is_private) in [
            ("/srv/ops/open", false),
            ("/srv/ops/closed", true),
            ("/srv/secret/x", true),
            ("/srv/secret/new", true),
            ("/srv/ops/new", false),
        ] {
            assert_eq!(machine.is_private(path), is_private, "{path}");
        }
        assert!(machine.has_user("ann") && !machine.has_user("bob"));
        assert!(machine.has_group("ann") && !machine.has_group("bob"));
    }

    #[test]
    fn what_is_on_a_root_that_cannot_be_opened_counts_as_present_and_private() {
        let machine = Queries::of_unknown_machine();
        assert_eq!(machine.at_path("/srv"), AtPath::Closed);
        assert!(machine.is_private("/srv") && machine.has_user("ann") && machine.has_group("ann"));
    }
}
