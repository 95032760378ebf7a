//! Reads the operator's grants from the disk: the file that the settings name, and `grants.d/*.toml` beside it.

use grants::{Addition, EditedKey, Grants, GrantsError, MachineView, NewLines};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, Metadata};
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// The name of the folder beside the file.
const FOLDER: &str = "grants.d";

/// The extension of the files that are read in it.
const EXTENSION: &str = ".toml";

/// The largest file that is read, in bytes.
const MAX_FILE: u64 = 16 << 20;

/// Permission bits of the group and of others to write.
const WRITABLE: u32 = 0o022;

/// The reasons why files of grants cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum GrantsFilesError {
    /// The file that was named does not exist.
    #[error("the grants file {} does not exist: {missing}; `wrun grants suggest --write FILE` makes one", path.display())]
    Missing {
        /// The path of the file, as the settings or the command line give it.
        path: PathBuf,
        /// A clause about the part of the path that is missing.
        missing: String,
    },
    /// A file or the folder beside it cannot be read.
    #[error("the grants {} cannot be read", path.display())]
    Read {
        /// The file or the folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file is too large for a file of grants.
    #[error("the grants {} are longer than {MAX_FILE} bytes", path.display())]
    TooLarge {
        /// The path of the file that is too long.
        path: PathBuf,
    },
    /// A file belongs to a user who is neither root nor the one who runs wrun.
    #[error("the grants {} belong to user {owner}, who could grant anything; run `chown root` on them", path.display())]
    Foreign {
        /// The file or the folder.
        path: PathBuf,
        /// The number of the user who owns it.
        owner: u32,
    },
    /// Other users than the owner may change a file.
    #[error(
        "the grants {} may be written by others than their owner (mode {mode:04o}); run `chmod go-w` on them",
        path.display()
    )]
    OpenToOthers {
        /// The file or the folder.
        path: PathBuf,
        /// The permission bits of the file or folder.
        mode: u32,
    },
}

/// Files of grants, read.
#[derive(Debug)]
pub struct GrantsFiles {
    /// The path of the file that the settings name, whether the file exists or not.
    pub main: PathBuf,
    /// Path and text of each file: first the main file, if it exists, then those of the folder in the order of their names.
    files: Vec<(String, String)>,
}

impl GrantsFiles {
    /// Reads the files. `named`: the operator named the file, so it must exist.
    ///
    /// # Errors
    /// One of them cannot be read, or others than root and the user who runs wrun may change it.
    pub fn read(main: &Path, named: bool) -> Result<Self, GrantsFilesError> {
        let mut files = Vec::new();
        match read(main) {
            Ok(Some(text)) => files.push((main.display().to_string(), text)),
            Ok(None) if named => {
                let missing = plain_files::missing_part(main).unwrap_or_else(|| "it is not there".to_owned());
                return Err(GrantsFilesError::Missing { path: main.to_owned(), missing });
            }
            Ok(None) => {}
            Err(error) => return Err(error),
        }
        for path in in_folder(&Self::folder(main))? {
            // A file that was removed meanwhile is skipped.
            if let Some(text) = read(&path)? {
                files.push((path.display().to_string(), text));
            }
        }
        Ok(Self { main: main.to_owned(), files })
    }

    /// The folder beside a file of grants.
    pub fn folder(main: &Path) -> PathBuf {
        main.with_file_name(FOLDER)
    }

    /// Whether no file was found.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Parses the grants of all files.
    ///
    /// # Errors
    /// A file has a mistake, or a policy has a table in two of them.
    pub fn parse(&self) -> Result<Grants, GrantsError> {
        let files: Vec<_> = self.files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        Grants::parse_files(&files)
    }

    /// Returns the file for a policy's entries with its text: the one that has the policy's table, else the main file.
    pub fn file_of(&self, grants: &Grants, policy: &str) -> (PathBuf, &str) {
        let name = grants.file_of(policy).map_or_else(|| self.main.display().to_string(), str::to_owned);
        let found = self.files.iter().find(|(file, _)| *file == name);
        found.map_or_else(|| (self.main.clone(), ""), |(file, text)| (PathBuf::from(file), text.as_str()))
    }

    /// Groups entries by file, sorted by policy and key, without duplicates.
    pub fn by_file(&self, grants: &Grants, additions: &[Addition]) -> BTreeMap<PathBuf, Vec<Addition>> {
        let mut by_file: BTreeMap<PathBuf, Vec<Addition>> = BTreeMap::new();
        let mut seen = BTreeSet::new();
        for addition in additions.iter().filter(|addition| seen.insert(*addition)) {
            by_file.entry(self.file_of(grants, &addition.policy).0).or_default().push(addition.clone());
        }
        for additions in by_file.values_mut() {
            additions.sort_by(|one, other| (&one.policy, &one.key).cmp(&(&other.policy, &other.key)));
        }
        by_file
    }

    /// Returns the lines of the files with the entries added, by file and policy, new keys first. A comment marks each entry
    /// that grants a lot. `machine` decides which entries these are.
    pub fn new_lines(&self, additions: &[Addition], machine: &MachineView) -> Vec<NewLines> {
        let grants = self.parse().unwrap_or_else(|_| Grants::nothing());
        let mut found = Vec::new();
        for (file, additions) in self.by_file(&grants, additions) {
            let text = additions.first().map_or("", |first| self.file_of(&grants, &first.policy).1);
            let name = file.display().to_string();
            let Ok(edited) = grants::add(text, &name, &additions) else { continue };
            let risks = grants::risks(text, &name, &additions, &grants, machine).unwrap_or_default();
            let mut policies: Vec<&str> = edited.keys.iter().map(|key| key.policy.as_str()).collect();
            policies.dedup();
            for (policy, is_new) in policies.into_iter().flat_map(|policy| [(policy, true), (policy, false)]) {
                let of_kind = |key: &&EditedKey| key.policy == policy && key.is_new == is_new;
                let lines = edited.keys.iter().filter(of_kind).flat_map(|key| {
                    let of_key = risks.iter().filter(|(one, _)| one.policy == policy && one.key == key.key);
                    let mut lines =
                        grants::risk_comments(of_key.map(|(one, reason)| (one.value.as_str(), reason.clone())));
                    lines.push(key.lines.clone());
                    lines
                });
                let lines: Vec<_> = lines.collect();
                if !lines.is_empty() {
                    let (file, policy, lines) = (file.clone(), policy.to_owned(), lines.join("\n"));
                    found.push(NewLines { file, policy, is_new, lines });
                }
            }
        }
        found
    }
}

/// The files of the folder, in the order of their names.
fn in_folder(folder: &Path) -> Result<Vec<PathBuf>, GrantsFilesError> {
    let failed = |source| GrantsFilesError::Read { path: folder.to_owned(), source };
    let entries = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(vec![]),
        other => other.map_err(failed)?,
    };
    trusted(folder, &std::fs::metadata(folder).map_err(failed)?)?;
    let mut paths = Vec::new();
    for entry in entries {
        let name = entry.map_err(failed)?.file_name();
        let Some(name) = name.to_str() else { continue };
        if name.ends_with(EXTENSION) && !name.starts_with('.') {
            paths.push(folder.join(name));
        }
    }
    paths.sort();
    Ok(paths)
}

/// A file's text. `None`: the file does not exist.
fn read(path: &Path) -> Result<Option<String>, GrantsFilesError> {
    let failed = |source| GrantsFilesError::Read { path: path.to_owned(), source };
    let file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        other => other.map_err(failed)?,
    };
    trusted(path, &file.metadata().map_err(failed)?)?;
    let mut text = String::new();
    let read = file.take(MAX_FILE + 1).read_to_string(&mut text).map_err(failed)?;
    if read as u64 > MAX_FILE {
        return Err(GrantsFilesError::TooLarge { path: path.to_owned() });
    }
    Ok(Some(text))
}

/// Checks that only trusted users can change a file, since a user who can change grants can do all that policies can. A run
/// as root accepts files that only root can change. Another user's run also accepts that user's own files, because the run
/// has no more rights than the user.
fn trusted(path: &Path, status: &Metadata) -> Result<(), GrantsFilesError> {
    let user = rustix::process::geteuid().as_raw();
    let (owner, mode) = (status.uid(), status.mode() & 0o7777);
    if owner != 0 && owner != user {
        return Err(GrantsFilesError::Foreign { path: path.to_owned(), owner });
    }
    if user == 0 && mode & WRITABLE != 0 {
        return Err(GrantsFilesError::OpenToOthers { path: path.to_owned(), mode });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    fn folder() -> (tempfile::TempDir, PathBuf) {
        let temporary = tempfile::tempdir().unwrap();
        let main = temporary.path().join("grants.toml");
        std::fs::create_dir(temporary.path().join("grants.d")).unwrap();
        std::fs::write(&main, "[policy.web]\npackages = [\"a\"]\n").unwrap();
        for (name, text) in [
            ("b.toml", "[policy.b]\nclock = true\n"),
            ("a.toml", "[policy.a]\npackages = [\"x\"]\n"),
            (".hidden.toml", "nonsense"),
            ("b.toml~", "nonsense"),
        ] {
            std::fs::write(temporary.path().join("grants.d").join(name), text).unwrap();
        }
        (temporary, main)
    }

    #[test]
    fn the_folder_beside_the_file_is_read_in_the_order_of_names() {
        let (temporary, main) = folder();
        let files = GrantsFiles::read(&main, true).unwrap();
        let names: Vec<_> = files.files.iter().map(|(name, _)| name.rsplit('/').next().unwrap()).collect();
        assert_eq!(names, ["grants.toml", "a.toml", "b.toml"]);
        let grants = files.parse().unwrap();
        assert_eq!(grants.policy_names().collect::<Vec<_>>(), ["a", "b", "web"]);
        assert_eq!(files.file_of(&grants, "a").0, temporary.path().join("grants.d/a.toml"));
        assert_eq!(files.file_of(&grants, "new").0, main);
        std::fs::write(temporary.path().join("grants.d/c.toml"), "\n[policy.a]\n").unwrap();
        let error = GrantsFiles::read(&main, true).unwrap().parse().unwrap_err().to_string();
        assert!(error.contains("grants.d/a.toml:1 and ") && error.contains("grants.d/c.toml:2"), "{error}");
    }

    #[test]
    fn new_lines_belong_to_the_file_with_the_policys_table() {
        let (temporary, main) = folder();
        let files = GrantsFiles::read(&main, true).unwrap();
        let entry = |policy: &str, key: &str, value: &str| Addition {
            policy: policy.into(),
            key: key.into(),
            value: value.into(),
        };
        let nginx = entry("a", "packages", "\"nginx\"");
        let added = [entry("new", "random", "true"), nginx.clone(), entry("a", "clock", "true"), nginx];
        let other = temporary.path().join("grants.d/a.toml");
        let lines = |file: &Path, policy: &str, is_new: bool, lines: &str| NewLines {
            file: file.to_owned(),
            policy: policy.into(),
            is_new,
            lines: lines.into(),
        };
        let expect = [
            lines(&other, "a", true, "clock = true"),
            lines(&other, "a", false, "packages = [\"x\", \"nginx\"]"),
            lines(&main, "new", true, "random = true"),
        ];
        assert_eq!(files.new_lines(&added, &MachineView::default()), expect);
    }

    #[test]
    fn a_named_file_must_be_there_and_the_default_one_need_not() {
        let temporary = tempfile::tempdir().unwrap();
        let main = temporary.path().join("grants.toml");
        assert!(GrantsFiles::read(&main, true).is_err());
        assert!(GrantsFiles::read(&main, false).unwrap().is_empty());
    }

    #[test]
    fn files_that_others_may_change_are_refused() {
        if !rustix::process::geteuid().is_root() {
            return;
        }
        let (temporary, main) = folder();
        let refused = |place: &Path, said: &str| {
            let error = GrantsFiles::read(&main, true).unwrap_err().to_string();
            assert!(error.contains(said) && error.contains(place.to_str().unwrap()), "{error}");
        };
        for (place, usual) in [("grants.toml", 0o644), ("grants.d", 0o755), ("grants.d/a.toml", 0o644)] {
            let place = temporary.path().join(place);
            std::fs::set_permissions(&place, std::fs::Permissions::from_mode(usual | 0o020)).unwrap();
            refused(&place, "may be written by others");
            std::fs::set_permissions(&place, std::fs::Permissions::from_mode(usual)).unwrap();
            std::os::unix::fs::chown(&place, Some(65_534), None).unwrap();
            refused(&place, "belong to user 65534");
            std::os::unix::fs::chown(&place, Some(0), None).unwrap();
        }
        assert!(GrantsFiles::read(&main, true).is_ok());
    }
}
