//! Writes new files. Existing files are kept unless the user asks to replace them.

use std::io;
use std::path::PathBuf;

use author::refuse_links;
use plain_files::HeldFolder;

use crate::NewFile;

/// The reasons why files were not written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// Files exist with different content. Nothing was written.
    #[error("{}; nothing was written\n\nhint: {}", listed(.0), .1.hint())]
    Exists(Vec<PathBuf>, Output),
    /// A path contains a link.
    #[error(transparent)]
    Link(#[from] author::AuthorError),
    /// A file cannot be written.
    #[error("{} cannot be written", path.display())]
    Write {
        /// The path of the file.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
}

fn listed(paths: &[PathBuf]) -> String {
    let names: Vec<_> = paths.iter().map(|path| path.display().to_string()).collect();
    match names.as_slice() {
        [one] => format!("{one} is there and differs from what would be written"),
        several => format!("these are there and differ from what would be written: {}", several.join(", ")),
    }
}

/// The meaning of a command's option `--output`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Output {
    /// The folder of all written files.
    Folder,
    /// The only written file. An existing file with only comments may be replaced.
    SettingsFile,
}

impl Output {
    fn hint(self) -> &'static str {
        match self {
            Self::Folder => "--force replaces them, --output names another folder",
            Self::SettingsFile => {
                "--force replaces it, --output names another file, and `--output -` prints the settings"
            }
        }
    }

    /// Returns whether this content can be replaced without loss.
    fn is_free(self, content: &[u8]) -> bool {
        let is_empty = |line: &str| line.trim_start().is_empty() || line.trim_start().starts_with('#');
        // TOML without a line that begins with a key or a table contains no values. Even a multi-line string needs a key
        // before it.
        self == Self::SettingsFile && str::from_utf8(content).is_ok_and(|text| text.lines().all(is_empty))
    }
}

/// Largest size of a settings file that is checked, in bytes.
const MAX_SETTINGS: u64 = 1 << 20;

/// The result of writing a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Written {
    /// The file is new.
    Made,
    /// The file existed with different content and was replaced.
    Replaced,
    /// The file already existed with this content.
    Same,
}

/// Writes files below a folder. It checks first whether all of them can be written, so that usually either all or none are.
///
/// # Errors
/// A file is there with another content that counts and `replace` is not given, the way to it is a link, or the system refuses.
pub fn write(
    folder: &HeldFolder,
    files: &[NewFile],
    output: Output,
    replace: bool,
) -> Result<Vec<(PathBuf, Written)>, WriteError> {
    let mut found = vec![];
    let mut differ = vec![];
    for file in files {
        refuse_links(folder, &file.path)?;
        let path = folder.path().join(&file.path);
        let limit = u64::try_from(file.text.len()).unwrap_or(u64::MAX).max(MAX_SETTINGS);
        let written = match folder.folder().read_below(&file.path, limit) {
            Ok(Some(bytes)) if bytes == file.text.as_bytes() => Written::Same,
            Ok(None) => Written::Made,
            Ok(Some(bytes)) if output.is_free(&bytes) => Written::Replaced,
            _ => {
                differ.push(path.clone());
                Written::Replaced
            }
        };
        found.push((path, written));
    }
    if !replace && !differ.is_empty() {
        return Err(WriteError::Exists(differ, output));
    }
    for (file, (path, written)) in files.iter().zip(&found) {
        if *written != Written::Same {
            folder
                .write(&file.path, file.text.as_bytes())
                .map_err(|source| WriteError::Write { path: path.clone(), source })?;
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_is_not_overwritten() {
        let top = tempfile::tempdir().unwrap();
        let folder = HeldFolder::open(top.path()).unwrap();
        let file = |path: &str, text: &str| NewFile { path: path.into(), text: text.to_owned() };
        let (a, b) = (file("a/one", "1"), file("two", "2"));
        let said = |files: &[NewFile], force| {
            write(&folder, files, Output::Folder, force)
                .map(|all| all.into_iter().map(|(_, one)| one).collect::<Vec<_>>())
        };
        assert_eq!(said(std::slice::from_ref(&a), false).unwrap(), [Written::Made]);
        assert_eq!(said(&[a.clone(), b.clone()], false).unwrap(), [Written::Same, Written::Made]);
        let other = file("two", "3");
        let error = said(&[file("new", ""), other.clone()], false).unwrap_err().to_string();
        assert!(error.contains("two is there and differs") && error.contains("hint: --force"), "{error}");
        assert!(!top.path().join("new").exists());
        assert_eq!(said(&[a, other], true).unwrap(), [Written::Same, Written::Replaced]);
        assert_eq!(std::fs::read_to_string(top.path().join("two")).unwrap(), "3");
        std::os::unix::fs::symlink("/tmp", top.path().join("link")).unwrap();
        assert!(said(&[file("link/x", "")], true).unwrap_err().to_string().contains("is a link"));
    }

    #[test]
    fn attack_a_folder_that_is_exchanged_for_a_link_stays_the_one_that_was_opened() {
        let top = tempfile::tempdir().unwrap();
        let path = |name: &str| top.path().join(name);
        for name in ["repository/wrun", "elsewhere"] {
            std::fs::create_dir_all(path(name)).unwrap();
        }
        let folder = HeldFolder::open(&path("repository")).unwrap().own("wrun").unwrap();
        std::fs::rename(path("repository"), path("away")).unwrap();
        std::os::unix::fs::symlink("elsewhere", path("repository")).unwrap();
        let file = NewFile { path: "a/one".into(), text: "1".to_owned() };
        write(&folder, &[file], Output::Folder, true).unwrap();
        assert!(path("away/wrun/a/one").exists() && !path("elsewhere/wrun").exists());
    }

    #[test]
    fn settings_of_comments_alone_make_room() {
        for (there, is_free) in
            [("# one\n\n  # two\n", true), ("", true), ("# one\nkey = 1\n", false), ("[layers.a]\n", false)]
        {
            assert_eq!(Output::SettingsFile.is_free(there.as_bytes()), is_free, "{there}");
            assert!(!Output::Folder.is_free(there.as_bytes()));
        }
        assert!(!Output::SettingsFile.is_free(b"# \xff"));
    }
}
