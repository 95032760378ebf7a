//! A cookbook: a crate, or a folder of Ruby sources, and all that lies in it.
//!
//! A Ruby cookbook's name, version and dependencies are what its metadata says: `metadata.json`, else `metadata.rb`, which
//! only Ruby can evaluate. A crate has the name and version of its package. Its Cargo.toml names cookbooks that must be
//! loaded before it, which it need not link as crates:
//!
//! ```toml
//! [package.metadata.cookbook]
//! depends = { ntp = ">= 1.2" }
//! ```
//!
//! The artifact has all files of the folder, also source code, so that errors can show the line that failed. Files of cargo
//! and git, and those in the cookbook's `chefignore`, are left out. For a Ruby cookbook the same files count as in Chef.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use node::version_constraint::{Version, VersionStyle};
use plain_files::{HeldFolder, Kind, WalkError};
use policyfile::lock::MAX_VALUES;
use serde::Deserialize;
use text::check_json_values;
use toml::Spanned;

use super::toml_file::TomlFile;
use super::{AuthorError, Ruby};
use crate::gems::{WantedGem, wanted_gems};
use crate::ignore::{Ignore, Unusable};
use artifact::{Language, MAX_FILES, is_component_name};

/// Folders of tools beside a cookbook's own files.
const TOOLS_FOLDERS: [&str; 2] = ["target", ".git"];

/// Largest total size of a cookbook's files, in bytes.
const MAX_BYTES: u64 = 128 << 20;

/// How deep a cookbook's folders may be nested.
const MAX_DEPTH: usize = 32;

/// A cookbook whose folder was read, with all its files.
#[derive(Debug)]
pub(crate) struct Cookbook {
    /// The path of its folder.
    pub(super) path: PathBuf,
    pub(crate) name: String,
    /// The version, as `x.y.z`.
    pub(crate) version: String,
    /// The constraint on each cookbook it depends on, by its name.
    pub(crate) dependencies: BTreeMap<String, String>,
    pub(super) language: Language,
    /// The gems that its metadata name.
    pub(super) gems: Vec<WantedGem>,
    /// The file with these data: metadata or Cargo.toml.
    pub(super) manifest_path: PathBuf,
    /// The line of the dependencies in that file.
    pub(super) depends_line: usize,
    /// Paths below the folder and contents, sorted.
    pub(crate) files: Vec<(String, Vec<u8>)>,
}

#[derive(Deserialize)]
struct CargoToml {
    package: Package,
}

#[derive(Deserialize)]
struct Package {
    name: Spanned<String>,
    version: Option<Spanned<toml::Value>>,
    #[serde(default)]
    metadata: Metadata,
}

#[derive(Deserialize, Default)]
struct Metadata {
    cookbook: Option<Spanned<CookbookTable>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CookbookTable {
    #[serde(default)]
    depends: BTreeMap<String, String>,
}

/// The file that Chef writes when a cookbook is released. It has precedence over `metadata.rb`.
const METADATA_JSON: &str = "metadata.json";

const METADATA_RB: &str = "metadata.rb";

const CARGO_TOML: &str = "Cargo.toml";

impl Cookbook {
    /// Whether a folder is a cookbook's.
    pub(super) fn is_in(folder: &Path) -> bool {
        [CARGO_TOML, METADATA_JSON, METADATA_RB].iter().any(|file| folder.join(file).is_file())
    }

    /// Whether a folder that is open is a cookbook's.
    pub(super) fn is_held(folder: &HeldFolder) -> bool {
        [CARGO_TOML, METADATA_JSON, METADATA_RB].iter().any(|file| folder.is_file(file))
    }

    pub(super) fn read(folder: &HeldFolder, ruby: &mut dyn Ruby) -> Result<Self, AuthorError> {
        if let Some(file) = TomlFile::read(folder, CARGO_TOML)? {
            return Self::of_crate(folder, file);
        }
        if ![METADATA_JSON, METADATA_RB].iter().any(|file| folder.is_file(file)) {
            return Err(not_a_cookbook(folder.path()));
        }
        Self::in_ruby(folder, ruby)
    }

    /// Reads a cookbook in Rust.
    pub(crate) fn in_rust(folder: &Path) -> Result<Self, AuthorError> {
        let open = HeldFolder::open(folder);
        let open = open.map_err(|source| AuthorError::Read { path: folder.to_owned(), source })?;
        let file = TomlFile::read(&open, CARGO_TOML)?;
        Self::of_crate(&open, file.ok_or_else(|| not_a_cookbook(folder))?)
    }

    fn in_ruby(folder: &HeldFolder, ruby: &mut dyn Ruby) -> Result<Self, AuthorError> {
        // Files are selected by Chef's rules, so that the cookbook has the same identifier as in Chef.
        let mut room = MAX_BYTES;
        let files = crate::policyfile::contents_in(folder, &mut room, MAX_BYTES)
            .map_err(|error| AuthorError::Resolve(Box::new(error)))?;
        let manifest = if folder.is_file(METADATA_JSON) { METADATA_JSON } else { METADATA_RB };
        let manifest_path = folder.path().join(manifest);
        let wrong = |what: String| AuthorError::Wrong { path: manifest_path.clone(), line: 1, what };
        let metadata = match files.iter().find(|(path, _)| path == METADATA_JSON) {
            Some((_, text)) => {
                check_json_values(text, MAX_VALUES).map_err(&wrong)?;
                serde_json::from_slice(text).map_err(|error| AuthorError::Wrong {
                    path: manifest_path.clone(),
                    line: error.line(),
                    what: error.to_string(),
                })?
            }
            None => ruby.metadata(folder.path()).map_err(&wrong)?,
        };
        let said = |key: &str| metadata.get(key).unwrap_or(&Value::Null);
        let name = said("name").as_str().filter(|name| is_component_name(name));
        let name = name.ok_or_else(|| wrong(format!("{} cannot be a cookbook's name", said("name"))))?.to_owned();
        let version = said("version").as_str().unwrap_or("0.0.0").to_owned();
        Version::parse(&version, VersionStyle::Cookbook).map_err(|error| wrong(error.to_string()))?;
        let dependencies = match said("dependencies") {
            Value::Null => BTreeMap::new(),
            dependencies => serde_json::from_value(dependencies.clone())
                .map_err(|error| wrong(format!("its dependencies are not what Chef writes: {error}")))?,
        };
        let (path, language) = (folder.path().to_owned(), Language::Ruby);
        let gems = wanted_gems(&name, &metadata);
        Ok(Self { path, name, version, dependencies, language, gems, manifest_path, depends_line: 1, files })
    }

    fn of_crate(folder: &HeldFolder, file: TomlFile) -> Result<Self, AuthorError> {
        let CargoToml { package } = file.parse()?;
        let (name, name_span) = (package.name.get_ref(), package.name.span());
        if !is_component_name(name) {
            return Err(file.wrong(&name_span, format!("{name:?} cannot be a cookbook's name")));
        }
        if folder.real().file_name().and_then(|name| name.to_str()) != Some(name) {
            let what = format!("the cookbook {name} must lie in a folder of that name, so that errors find its files");
            return Err(file.wrong(&name_span, what));
        }
        let version_span = package.version.as_ref().map_or(name_span.clone(), Spanned::span);
        let version = package.version.as_ref().and_then(|version| version.get_ref().as_str()).ok_or_else(|| {
            file.wrong(&version_span, "a cookbook states its own version, as in `version = \"1.0.0\"`".into())
        })?;
        Version::parse(version, VersionStyle::Cookbook)
            .map_err(|error| file.wrong(&version_span, error.to_string()))?;
        let depends_span = package.metadata.cookbook.as_ref().map_or(name_span, Spanned::span);
        Ok(Self {
            path: folder.path().to_owned(),
            version: version.to_owned(),
            language: Language::Rust,
            gems: vec![],
            manifest_path: folder.path().join(CARGO_TOML),
            depends_line: file.line(&depends_span),
            files: files(folder)?,
            name: package.name.into_inner(),
            dependencies: package.metadata.cookbook.map(|table| table.into_inner().depends).unwrap_or_default(),
        })
    }

    /// The files as an artifact has them: `COOKBOOK/PATH`.
    pub(super) fn into_files(self) -> impl Iterator<Item = (String, Vec<u8>)> {
        let name = self.name;
        self.files.into_iter().map(move |(path, content)| (format!("{name}/{path}"), content))
    }
}

fn not_a_cookbook(folder: &Path) -> AuthorError {
    let what = "is not a cookbook: it has no metadata.rb, no metadata.json and no Cargo.toml";
    AuthorError::File { path: folder.to_owned(), what }
}

/// The files below a crate's folder, sorted by path.
fn files(folder: &HeldFolder) -> Result<Vec<(String, Vec<u8>)>, AuthorError> {
    let unusable = |(path, source): Unusable| AuthorError::Read { path, source };
    let mut ignore = Ignore::of_folder(folder).map_err(unusable)?;
    let mut found = vec![];
    let mut bytes: u64 = 0;
    let walked = folder.folder().walk(MAX_FILES, |entry| {
        let path = || folder.path().join(&entry.path);
        let Some(relative) = entry.text() else {
            return Err(AuthorError::File { path: path(), what: "has a name that is not UTF-8" });
        };
        if entry.kind == Kind::Folder {
            let is_entered = entry.depth > 0 || !TOOLS_FOLDERS.iter().any(|name| entry.is(name));
            if is_entered && entry.depth >= MAX_DEPTH {
                return Err(AuthorError::File { path: path(), what: "is nested too deeply in its cookbook" });
            }
            return Ok(is_entered);
        }
        if ignore.ignores(relative).map_err(unusable)? {
            return Ok(false);
        }
        if entry.kind != Kind::File {
            return Err(AuthorError::File { path: path(), what: "is not a plain file; put the file itself there" });
        }
        let content = read_file(folder, relative, MAX_BYTES.saturating_sub(bytes))?;
        bytes += u64::try_from(content.len()).unwrap_or(u64::MAX);
        found.push((relative.to_owned(), content));
        Ok(false)
    });
    walked.map_err(|error| match error {
        WalkError::TooMany => AuthorError::too_many_files(folder.path()),
        WalkError::Read(below, source) => AuthorError::Read { path: folder.path().join(below), source },
        WalkError::Visit(error) => error,
    })?;
    found.sort();
    Ok(found)
}

fn read_file(cookbook: &HeldFolder, below: &str, room: u64) -> Result<Vec<u8>, AuthorError> {
    cookbook.read(below, room).map_err(|source| match source.kind() {
        std::io::ErrorKind::FileTooLarge => {
            AuthorError::TooMuch { path: cookbook.path().to_owned(), limit: MAX_BYTES, of: "bytes" }
        }
        _ => AuthorError::Read { path: cookbook.path().join(below), source },
    })
}
