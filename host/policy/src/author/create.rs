//! `wrun policy new`: a folder that builds and converges as it is.

use std::path::{Path, PathBuf};

use super::AuthorError;
use crate::artifact::check_policy_name;

/// The SDK's package; a git dependency is found by it, wherever in the repository it lies.
const SDK_PACKAGE: &str = "wrun-sdk";

/// The folder's files: where, and what. `@NAME@` and its like are filled in.
const SKELETON: [(&str, &str); 10] = [
    (".gitignore", include_str!("skeleton/gitignore.txt")),
    ("Cargo.toml", include_str!("skeleton/Cargo.toml.txt")),
    ("README.md", include_str!("skeleton/README.md.txt")),
    ("policy.toml", include_str!("skeleton/policy.toml.txt")),
    ("src/lib.rs", include_str!("skeleton/lib.rs.txt")),
    ("cookbooks/hello/Cargo.toml", include_str!("skeleton/cookbook.Cargo.toml.txt")),
    ("cookbooks/hello/src/lib.rs", include_str!("skeleton/cookbook.lib.rs.txt")),
    ("cookbooks/hello/src/attributes.rs", include_str!("skeleton/cookbook.attributes.rs.txt")),
    ("cookbooks/hello/src/recipes.rs", include_str!("skeleton/cookbook.recipes.rs.txt")),
    ("cookbooks/hello/templates/hello.txt.j2", include_str!("skeleton/cookbook.template.txt")),
];

/// Where the SDK for cookbooks comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SdkSource {
    /// A folder on this machine, the one with the SDK's Cargo.toml.
    Path(PathBuf),
    /// A git repository that has the SDK somewhere in it.
    Git {
        /// Its address.
        url: String,
        /// A commit, tag or branch; none: the default branch.
        revision: Option<String>,
    },
}

impl SdkSource {
    /// The dependency as Cargo.toml writes it.
    fn dependency(&self) -> Result<String, AuthorError> {
        match self {
            Self::Path(path) => {
                let failed = |source| AuthorError::Read { path: path.clone(), source };
                let text = std::fs::read_to_string(path.join("Cargo.toml")).map_err(failed)?;
                let manifest: Option<toml::Table> = toml::from_str(&text).ok();
                let name = manifest.as_ref().and_then(|table| table.get("package")?.get("name")?.as_str());
                if name != Some(SDK_PACKAGE) {
                    let what = "is not the folder of the SDK: its Cargo.toml names no package wrun-sdk";
                    return Err(AuthorError::File { path: path.clone(), what });
                }
                let path = path.canonicalize().map_err(failed)?;
                Ok(format!("{{ path = {} }}", quoted(&path.to_string_lossy())))
            }
            Self::Git { url, revision: None } => Ok(format!("{{ git = {} }}", quoted(url))),
            Self::Git { url, revision: Some(revision) } => {
                Ok(format!("{{ git = {}, rev = {} }}", quoted(url), quoted(revision)))
            }
        }
    }
}

/// Makes the folder of a new policy. It must not be there yet, or be empty.
///
/// # Errors
/// The name cannot be a policy's, the folder holds something or cannot be written, the SDK is not where it is said to be.
pub fn create(folder: &Path, name: &str, sdk: &SdkSource) -> Result<(), AuthorError> {
    check_policy_name(name).map_err(AuthorError::Name)?;
    let dependency = sdk.dependency()?;
    match std::fs::read_dir(folder).map(|mut entries| entries.next().is_none()) {
        Ok(true) => {}
        Ok(false) => return Err(AuthorError::NotEmpty { folder: folder.to_owned() }),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(source) => return Err(AuthorError::Read { path: folder.to_owned(), source }),
    }
    for (place, text) in SKELETON {
        let path = folder.join(place);
        let failed = |source| AuthorError::Write { path: path.clone(), source };
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).map_err(failed)?;
        }
        let text = text.replace("@PACKAGE@", &package_name(name)).replace("@NAME@", name).replace("@SDK@", &dependency);
        std::fs::write(&path, text).map_err(failed)?;
    }
    Ok(())
}

/// The package of a policy's component. A policy may be called `core` or `3.1`, a package may not.
fn package_name(policy: &str) -> String {
    format!("policy-{}", policy.replace('.', "-"))
}

fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}
