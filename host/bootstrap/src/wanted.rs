//! The desired state of a machine.

use std::fmt;
use std::io::{self, Read};
use std::path::PathBuf;

use sha2::{Digest as _, Sha256};
use text::toml_string;

/// The path of the settings.
pub(crate) const SETTINGS: &str = "/etc/wrun/wrun.toml";

/// The path of the grants.
const GRANTS: &str = "/etc/wrun/grants.toml";

/// The path of the repository's trusted root.
const ROOT: &str = "/etc/wrun/root.json";

/// The path of the secret for data bags.
const SECRET: &str = "/etc/wrun/data_bag_secret";

/// The package to install.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Package {
    /// A file on the operator's machine, which is sent.
    File {
        /// The path of the file.
        path: PathBuf,
        /// The number of its bytes.
        size: u64,
        /// Its SHA-256, in hexadecimal digits.
        sha256: String,
    },
    /// A file that the machine downloads.
    Url {
        /// The address that was given.
        url: String,
        /// The SHA-256 of the file, in hexadecimal digits.
        sha256: String,
    },
}

impl Package {
    /// The SHA-256, in hexadecimal digits.
    #[must_use]
    pub fn sha256(&self) -> &str {
        match self {
            Self::File { sha256, .. } | Self::Url { sha256, .. } => sha256,
        }
    }
}

/// Largest size of a package, in bytes.
const MAX_PACKAGE: u64 = 2 << 30;

/// The first bytes of a Debian package.
const ARCHIVE: &[u8] = b"!<arch>\ndebian-binary";

/// Reads a package, and returns its size in bytes and its SHA-256.
///
/// # Errors
/// It is not a package of Debian, is too large, or cannot be read.
pub fn package_digest(package: &mut impl Read) -> io::Result<(u64, String)> {
    let mut start = vec![];
    package.by_ref().take(u64::try_from(ARCHIVE.len()).unwrap_or(u64::MAX)).read_to_end(&mut start)?;
    if start != ARCHIVE {
        return Err(io::Error::other("it is not a package of Debian (wrun_VERSION_amd64.deb)"));
    }
    let mut digest =
        Digesting { digest: Sha256::new_with_prefix(&start), size: u64::try_from(start.len()).unwrap_or(u64::MAX) };
    io::copy(&mut package.take(MAX_PACKAGE), &mut digest)?;
    match digest.size < MAX_PACKAGE {
        true => Ok((digest.size, text::hex(digest.digest.finalize()))),
        false => Err(io::Error::other(format!("it has {MAX_PACKAGE} bytes or more"))),
    }
}

/// A writer that counts and hashes the written bytes.
struct Digesting {
    digest: Sha256,
    size: u64,
}

impl io::Write for Digesting {
    fn write(&mut self, part: &[u8]) -> io::Result<usize> {
        self.digest.update(part);
        self.size = self.size.saturating_add(u64::try_from(part.len()).unwrap_or(u64::MAX));
        Ok(part.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A file of the desired state.
#[derive(Clone, PartialEq, Eq)]
pub struct WantedFile {
    /// Its path on the machine. It contains no characters with a special meaning in a shell.
    pub path: &'static str,
    /// Its mode, in octal digits.
    pub mode: &'static str,
    /// The whole content of the file.
    pub content: Vec<u8>,
    /// Whether the content must not be displayed.
    pub is_secret: bool,
}

/// The content of a secret file is left out.
impl fmt::Debug for WantedFile {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = out.debug_struct("WantedFile");
        shown.field("path", &self.path).field("mode", &self.mode).field("is_secret", &self.is_secret);
        if self.is_secret {
            return shown.finish_non_exhaustive();
        }
        shown.field("content", &String::from_utf8_lossy(&self.content)).finish()
    }
}

impl WantedFile {
    /// The SHA-256 of the content, in hexadecimal digits.
    #[must_use]
    pub fn sha256(&self) -> String {
        text::hex(Sha256::digest(&self.content))
    }
}

/// The settings of the machine.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Settings {
    /// The policies of the machine, in order.
    pub policy_names: Vec<String>,
    /// The group of the policies.
    pub policy_group: String,
    /// The repository of signed releases: an address, or a directory of the machine.
    pub repository: Option<String>,
    /// The name of the node. `None`: its host name.
    pub node_name: Option<String>,
}

/// The desired state of a machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// The package. `None`: the machine already has wrun.
    pub package: Option<Package>,
    /// Files, in the order in which they are written.
    pub files: Vec<WantedFile>,
}

impl Wanted {
    /// Collects the wanted files. `root`: the trusted root; `secret`: the secret for data bags.
    #[must_use]
    pub fn new(
        package: Option<Package>,
        settings: &Settings,
        root: Option<Vec<u8>>,
        grants: Option<Vec<u8>>,
        secret: Option<Vec<u8>>,
    ) -> Self {
        let text = settings_text(settings, root.is_some(), secret.is_some());
        let public = |path, content| WantedFile { path, mode: "644", content, is_secret: false };
        let mut files = vec![];
        files.extend(root.map(|content| public(ROOT, content)));
        files.extend(secret.map(|content| WantedFile { path: SECRET, mode: "600", content, is_secret: true }));
        files.extend(grants.map(|content| public(GRANTS, content)));
        files.push(public(SETTINGS, text.into_bytes()));
        Self { package, files }
    }
}

/// Returns the text of wrun.toml.
fn settings_text(settings: &Settings, has_root: bool, has_secret: bool) -> String {
    let Settings { policy_names, policy_group, repository, node_name } = settings;
    let names: Vec<_> = policy_names.iter().map(|name| toml_string(name)).collect();
    let mut text = format!(
        "# Written by `wrun bootstrap`. docs/wrun.toml lists all settings.\npolicy_name = [{}]\npolicy_group = {}\n",
        names.join(", "),
        toml_string(policy_group)
    );
    let mut line = |key: &str, value: &str| text.push_str(&format!("{key} = {}\n", toml_string(value)));
    if let Some(repository) = repository {
        line("repository", repository);
    }
    if has_root {
        line("repository_root", ROOT);
    }
    if let Some(name) = node_name {
        line("node_name", name);
    }
    if has_secret {
        line("encrypted_data_bag_secret", SECRET);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_quotes_stay_names() {
        let settings = Settings {
            policy_names: vec!["a\"b".into(), "c".into()],
            policy_group: "it's \\ $(x)".into(),
            repository: Some("https://example.com/r".into()),
            node_name: None,
        };
        let wanted = Wanted::new(None, &settings, Some(vec![1]), None, Some(vec![2]));
        let text = String::from_utf8(wanted.files.last().unwrap().content.clone()).unwrap();
        let expect = "policy_name = [\"a\\\"b\", \"c\"]\npolicy_group = \"it's \\\\ $(x)\"\nrepository = \"https://example.com/r\"\n\
                      repository_root = \"/etc/wrun/root.json\"\nencrypted_data_bag_secret = \"/etc/wrun/data_bag_secret\"\n";
        assert!(text.ends_with(expect), "{text}");
        let modes: Vec<_> = wanted.files.iter().map(|file| (file.path, file.mode)).collect();
        assert_eq!(modes[0], ("/etc/wrun/root.json", "644"));
        assert_eq!(modes[1], ("/etc/wrun/data_bag_secret", "600"));
    }

    #[test]
    fn a_secret_is_never_printed() {
        let wanted = Wanted::new(None, &Settings::default(), None, Some(b"grants".to_vec()), Some(b"hunter2".to_vec()));
        let shown = format!("{wanted:?} {wanted:#?}");
        assert!(shown.contains("grants") && !shown.contains("hunter2") && !shown.contains("104"), "{shown}");
    }
}
