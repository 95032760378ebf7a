//! A policy's artifact: one file that contains everything a node needs of the policy.
//!
//! The file is a valid WebAssembly component with three custom sections at its end, always in this order:
//!
//! | section | content |
//! |---|---|
//! | `wrun:manifest` | JSON: name, revision, run lists, cookbooks, attributes, what contract and runtime it needs |
//! | `wrun:files` | the cookbooks' files, see [`files`] |
//! | `wrun:digest` | SHA-256 of all bytes before this section: the artifact's name by content |
//!
//! Writing is deterministic: the same component, manifest and files make the same bytes. The file begins with the component's
//! own bytes, by which native code is cached. So a changed template does not cause a compilation.
//!
//! A file is not trusted when it is opened: sizes are limited, and the digest is verified before anything else is
//! interpreted. Every message names the file and a remedy. The digest only detects damage; the signatures of `repository`
//! protect against attackers.

mod compare;
mod error;
mod files;
mod find;
pub mod gems;
pub mod lock;
mod manifest;
pub mod ordered;
mod sections;
mod serve;

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sha2::{Digest as _, Sha256};

pub use compare::differences;
pub use contract::CONTRACT;
pub use error::ArtifactError;
pub use files::{FilesError, MAX_FILES, MAX_PATH};
pub use find::{EXTENSION, find, list};
pub use grants::Needs;
pub use manifest::{
    BuildInputs, CookbookEntry, GemsEntry, Language, MANIFEST_FORMAT, Manifest, ManifestError, ManifestParts, Runtime,
    check_policy_name, is_component_name,
};

use files::FileIndex;
use sections::{Section, Walk};
use text::hex;

/// The namespace of the contract's packages.
const NAMESPACE: &str = "wrun:";

/// The one package of the contract's first version, which had everything.
const FIRST_PACKAGE: &str = "wrun:cookbook";

/// The largest artifact that is opened, in bytes. Components of Rust cookbooks have some 100 kB, their files seldom more.
pub const MAX_ARTIFACT: u64 = 256 << 20;

const MANIFEST_SECTION: &str = "wrun:manifest";
const FILES_SECTION: &str = "wrun:files";
const DIGEST_SECTION: &str = "wrun:digest";

/// Number of wrun's own sections in an artifact.
const SECTIONS: usize = 3;

/// An opened and verified policy. Clones share its bytes.
#[derive(Debug, Clone)]
pub struct Artifact {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    path: PathBuf,
    bytes: Vec<u8>,
    component_length: usize,
    component_digest: String,
    manifest: Manifest,
    files: FileIndex,
    digest: String,
}

impl Artifact {
    /// Opens and verifies an artifact.
    ///
    /// # Errors
    /// It cannot be read, is not an artifact, is damaged, or is for another contract.
    pub fn open(path: &Path) -> Result<Self, ArtifactError> {
        let failed = |source| {
            let source = plain_files::explained(path, source);
            ArtifactError::Read { path: path.to_owned(), source }
        };
        Self::from_file(path, plain_files::open(path).map_err(failed)?)
    }

    fn from_file(path: &Path, file: std::fs::File) -> Result<Self, ArtifactError> {
        let failed = |source| ArtifactError::Read { path: path.to_owned(), source };
        let size = file.metadata().map_err(failed)?.len();
        if size > MAX_ARTIFACT {
            return Err(ArtifactError::TooLarge { path: path.to_owned(), size, limit: MAX_ARTIFACT });
        }
        let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or_default());
        file.take(MAX_ARTIFACT).read_to_end(&mut bytes).map_err(failed)?;
        Self::from_bytes(path, bytes)
    }

    /// Verifies an artifact's bytes. `path`: its path for messages.
    ///
    /// # Errors
    /// They are not artifacts, damaged, or for another contract.
    pub fn from_bytes(path: &Path, bytes: Vec<u8>) -> Result<Self, ArtifactError> {
        let parts = Parts::of(path, &bytes)?;
        let (component_length, files_range) = (parts.component.len(), parts.files_range.clone());
        let (component_digest, digest) = (parts.component_digest, parts.digest);
        let manifest = Manifest::read(parts.manifest).map_err(|error| error.of_artifact(path))?;
        check_component(path, parts.component, &manifest)?;
        let damaged = |what: FilesError| ArtifactError::Damaged { path: path.to_owned(), what: what.to_string() };
        let files = FileIndex::read(&bytes, files_range).map_err(damaged)?;
        let owners = manifest.owners_of_files();
        if let Some(stray) = files.first_outside(&bytes, |cookbook| owners.contains(cookbook)) {
            return Err(damaged(FilesError::Stray { path: stray.to_owned() }));
        }
        let inner = Inner { path: path.to_owned(), bytes, component_length, component_digest, manifest, files, digest };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Returns the manifest of the policy.
    #[must_use]
    pub fn manifest(&self) -> &Manifest {
        &self.inner.manifest
    }

    /// Returns the component's bytes without wrun's own sections. These bytes are compiled, and native code is cached by
    /// their digest.
    #[must_use]
    pub fn component(&self) -> &[u8] {
        self.inner.bytes.get(..self.inner.component_length).unwrap_or_default()
    }

    /// SHA-256 of the component, 64 hexadecimal digits.
    #[must_use]
    pub fn component_digest(&self) -> &str {
        &self.inner.component_digest
    }

    /// The whole artifact, as it is on disk.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.inner.bytes
    }

    /// Returns the SHA-256 of the artifact's content, 64 hexadecimal digits, which identifies it.
    #[must_use]
    pub fn digest(&self) -> &str {
        &self.inner.digest
    }

    /// Returns the path of the file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.inner.path
    }

    /// All files, as `COOKBOOK/PATH` and content, sorted by path.
    pub fn files(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.inner.files.all(&self.inner.bytes)
    }
}

/// Makes an artifact's bytes from a component, its manifest and its cookbooks' files (`COOKBOOK/PATH` and content).
///
/// The same input makes the same bytes; the order of the files does not matter.
///
/// # Errors
/// It is not a component, or has sections of ours already, the manifest is not sound, or the files are too many, twice
/// there, or badly named.
pub fn write(component: &[u8], manifest: &Manifest, files: &[(String, Vec<u8>)]) -> Result<Vec<u8>, ArtifactError> {
    let path = Path::new("the component");
    let mut walk = Walk::of_component(component).map_err(|problem| problem.of_file(path))?;
    while let Some(section) = walk.next_section().map_err(|problem| problem.of_file(path))? {
        if section.name.is_some_and(|name| name.starts_with("wrun:")) {
            return Err(ArtifactError::Damaged { path: path.to_owned(), what: "it has a manifest already".into() });
        }
    }
    check_component(path, component, manifest)?;
    let manifest_text = manifest.write().map_err(|error| error.of_artifact(path))?;
    let container = files::write(files)
        .map_err(|error| ArtifactError::Damaged { path: PathBuf::from("the policy"), what: error.to_string() })?;
    let mut bytes = component.to_vec();
    sections::append(&mut bytes, MANIFEST_SECTION, &manifest_text);
    sections::append(&mut bytes, FILES_SECTION, &container);
    let digest = Sha256::digest(&bytes);
    sections::append(&mut bytes, DIGEST_SECTION, &digest);
    Ok(bytes)
}

/// The component of a policy that has no code of its own: all its cookbooks are in Ruby.
pub const EMPTY_COMPONENT: &[u8] = &sections::COMPONENT_HEADER;

/// Checks that the component is for this contract, or is the empty one of a policy without code of its own.
fn check_component(path: &Path, component: &[u8], manifest: &Manifest) -> Result<(), ArtifactError> {
    if !manifest.has_own_code() && component == EMPTY_COMPONENT {
        return Ok(());
    }
    sections::check_contract(component).map_err(|found| ArtifactError::other_contract(path, &found))
}

/// The parts of an artifact with a verified digest.
struct Parts<'a> {
    component: &'a [u8],
    component_digest: String,
    manifest: &'a [u8],
    files_range: std::ops::Range<usize>,
    digest: String,
}

impl<'a> Parts<'a> {
    fn of(path: &Path, bytes: &'a [u8]) -> Result<Self, ArtifactError> {
        let of_file = |problem: sections::Problem| problem.of_file(path);
        let damaged = |what: &str| ArtifactError::Damaged { path: path.to_owned(), what: what.to_owned() };
        let mut walk = Walk::of_component(bytes).map_err(of_file)?;
        let mut ours: Vec<Section<'a>> = vec![];
        let mut is_after_ours = false;
        while let Some(section) = walk.next_section().map_err(of_file)? {
            match section.name {
                // The walk stops at a fourth section, because millions of them would fit into an artifact.
                Some(name) if name.starts_with("wrun:") => match ours.len() {
                    ..SECTIONS => ours.push(section),
                    _ => return Err(damaged("it has more sections of wrun's than it may")),
                },
                _ => is_after_ours |= !ours.is_empty(),
            }
        }
        let [manifest, files, digest] = ours.as_slice() else {
            return Err(match ours.len() {
                0 => ArtifactError::NoManifest { path: path.to_owned() },
                _ => damaged("some of its sections are missing"),
            });
        };
        let names = [manifest.name, files.name, digest.name];
        if is_after_ours || names != [Some(MANIFEST_SECTION), Some(FILES_SECTION), Some(DIGEST_SECTION)] {
            return Err(damaged("its sections are not in their places"));
        }
        let covered = bytes.get(..digest.start).unwrap_or_default();
        let component = bytes.get(..manifest.start).unwrap_or_default();
        let mut hasher = Sha256::new_with_prefix(component);
        let component_digest = hex(hasher.clone().finalize());
        hasher.update(covered.get(component.len()..).unwrap_or_default());
        if hasher.finalize().as_slice() != digest.content {
            return Err(damaged("its content does not have the digest that it states"));
        }
        Ok(Self {
            component,
            component_digest,
            manifest: manifest.content,
            files_range: files.content_range(),
            digest: hex(digest.content),
        })
    }
}
