//! A look at what is on a machine now, for entries of grants that nobody is asked about.

use super::run_by_root::units::UNITS;
use crate::resources::package::packages_of_dpkg;
use grants::{AtPath, Present};
use machine::root::{Kind, Root};
use machine::users::Users;
use std::cell::{OnceCell, RefCell};
use std::collections::HashSet;
use std::path::Path;

/// The folders of init scripts.
const INIT_SCRIPTS: [&str; 3] = ["/etc/init.d", "/etc/rc.d/init.d", "/etc/rc.d"];

/// The endings of units that a service's name may lack.
const KINDS: [&str; 4] = [".service", ".socket", ".timer", ".path"];

/// Rights of everybody: to read something, and to look for a name in a directory.
const READ: u32 = 0o004;
const SEARCH: u32 = 0o001;

/// The root directory of a machine. What cannot be looked at counts as present.
pub struct PresentMachine {
    /// `None`: the root cannot be opened.
    root: Option<Root>,
    users: RefCell<Users>,
    /// The packages that dpkg has. `None`: the root has no dpkg.
    packages: OnceCell<Option<HashSet<String>>>,
}

impl PresentMachine {
    /// Opens the machine below a root directory.
    pub fn open(root: &Path) -> Self {
        let root = Root::open(root, &contract::Account::unmetered("wrun")).ok();
        let mut users = Users::default();
        root.iter().for_each(|root| users.refresh(root));
        Self { root, users: RefCell::new(users), packages: OnceCell::new() }
    }

    /// Tells whether everybody may look at an entry: each directory on the way may be searched.
    fn is_visible(root: &Root, real: &str) -> bool {
        let ends = real.match_indices('/').map(|(at, _)| at).skip(1);
        let mut above = ends.filter_map(|end| real.get(..end)).chain(["/"]);
        above.all(|folder| root.entry(folder).ok().flatten().is_some_and(|entry| entry.mode & SEARCH != 0))
    }

    fn is_there(&self, path: &str) -> bool {
        self.root.as_ref().is_none_or(|root| !matches!(root.entry(path), Ok(None)))
    }
}

impl Present for PresentMachine {
    fn at_path(&self, path: &str) -> AtPath {
        let Some(root) = &self.root else { return AtPath::Hidden };
        let mut here = path.trim_end_matches('/');
        loop {
            let asked = if here.is_empty() { "/" } else { here };
            match root.target_entry(asked) {
                Ok(Some(entry)) => {
                    let Ok(place) = root.locate_target(asked) else { return AtPath::Hidden };
                    let real = place.real().to_owned();
                    let is_readable =
                        entry.mode & READ != 0 && (entry.kind != Kind::Directory || entry.mode & SEARCH != 0);
                    return match Self::is_visible(root, &real) {
                        _ if asked.len() < path.trim_end_matches('/').len() => AtPath::Nothing { above: real },
                        true if is_readable => AtPath::Readable,
                        true => AtPath::Visible,
                        false => AtPath::Hidden,
                    };
                }
                // A link that leads nowhere is an entry of somebody.
                Ok(None) if !matches!(root.entry(asked), Ok(None)) => return AtPath::Hidden,
                Ok(None) if !here.is_empty() => here = here.rsplit_once('/').map_or("", |(above, _)| above),
                Ok(None) | Err(_) => return AtPath::Hidden,
            }
        }
    }

    fn has_user(&self, name: &str) -> bool {
        self.root.is_none() || self.users.borrow_mut().user(name).is_some()
    }

    fn has_group(&self, name: &str) -> bool {
        self.root.is_none() || self.users.borrow_mut().group(name).is_some()
    }

    fn has_service(&self, name: &str) -> bool {
        let (plain, kind) = match KINDS.iter().find_map(|kind| Some((name.strip_suffix(kind)?, *kind))) {
            Some((plain, kind)) => (plain, kind),
            None => (name, ""),
        };
        // An instance of a template, as in `web@1`.
        let template = plain.split_once('@').map(|(before, _)| format!("{before}@"));
        let units = [Some(plain.to_owned()), template, Some(format!("{plain}@"))];
        let mut names = units.iter().flatten().flat_map(|unit| {
            let kinds = if kind.is_empty() { KINDS.to_vec() } else { vec![kind] };
            kinds.into_iter().chain([""]).map(move |kind| format!("{unit}{kind}"))
        });
        names.any(|unit| UNITS.iter().any(|folder| self.is_there(&format!("{folder}/{unit}"))))
            || INIT_SCRIPTS.iter().any(|folder| self.is_there(&format!("{folder}/{plain}")))
    }

    fn has_package(&self, name: &str) -> bool {
        let Some(root) = &self.root else { return true };
        // Other databases than dpkg's are not read.
        self.packages.get_or_init(|| packages_of_dpkg(root)).as_ref().is_none_or(|packages| packages.contains(name))
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
        for directory in ["etc/systemd/system", "etc/init.d", "srv/ops", "srv/secret", "var/lib/dpkg"] {
            std::fs::create_dir_all(at(directory)).unwrap();
        }
        for (path, text) in [
            ("etc/passwd", "root:x:0:0::/root:/bin/sh\nann:x:1000:1000::/home/ann:/bin/sh\n"),
            ("etc/group", "root:x:0:\nann:x:1000:\n"),
            ("etc/systemd/system/web@.service", ""),
            ("etc/systemd/system/job.timer", ""),
            ("etc/init.d/old", ""),
            ("srv/ops/open", ""),
            ("srv/ops/closed", ""),
            ("srv/secret/x", ""),
            (
                "var/lib/dpkg/status",
                "Package: cron\nStatus: install ok installed\nArchitecture: amd64\nVersion: 1\n\n\
                 Package: gone\nStatus: purge ok not-installed\nArchitecture: amd64\n\n\
                 Package: left\nStatus: deinstall ok config-files\nArchitecture: amd64\nVersion: 1\n",
            ),
        ] {
            std::fs::write(at(path), text).unwrap();
        }
        std::os::unix::fs::symlink("/srv/ops", at("srv/link")).unwrap();
        std::os::unix::fs::symlink("/nowhere", at("srv/dangling")).unwrap();
        for (path, mode) in [("srv/ops/closed", 0o600), ("srv/secret", 0o700), ("", 0o755)] {
            std::fs::set_permissions(at(path), std::fs::Permissions::from_mode(mode)).unwrap();
        }
        let machine = PresentMachine::open(folder.path());
        let nothing = |above: &str| AtPath::Nothing { above: above.to_owned() };
        for (path, expect) in [
            ("/srv/ops/open", AtPath::Readable),
            ("/srv/ops", AtPath::Readable),
            ("/srv/ops/closed", AtPath::Visible),
            ("/srv/secret", AtPath::Visible),
            ("/srv/secret/x", AtPath::Hidden),
            ("/srv/dangling", AtPath::Hidden),
            ("/srv/new/in/it", nothing("/srv")),
            ("/srv/link/new", nothing("/srv/ops")),
            ("/new", nothing("/")),
            ("/srv/ops/open/below", nothing("/srv/ops/open")),
        ] {
            assert_eq!(machine.at_path(path), expect, "{path}");
        }
        assert!(machine.has_user("ann") && !machine.has_user("bob"));
        assert!(machine.has_group("ann") && !machine.has_group("bob"));
        for service in ["web@", "web@1", "web@1.service", "job", "job.timer", "old"] {
            assert!(machine.has_service(service), "{service}");
        }
        assert!(!machine.has_service("new") && !machine.has_service("job.service"));
        assert!(["cron", "cron:amd64", "left"].iter().all(|name| machine.has_package(name)));
        assert!(!machine.has_package("gone") && !machine.has_package("new"));
    }
}
