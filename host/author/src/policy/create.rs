//! Creates the folder of a new policy (`wrun policy new`), which builds and converges without changes.

use std::convert::Infallible;
use std::path::{Path, PathBuf};

use plain_files::{HeldFolder, WalkError};
use text::toml_string;

use super::own_folder::write_below;
use super::toml_file::MAX_FILE;
use super::workspace::Member;
use super::{AuthorError, sdk};
use artifact::check_policy_name;

/// The name of the SDK's package. Cargo finds a git dependency by this name, in any folder of the repository.
const SDK_PACKAGE: &str = "wrun-sdk";

/// Files of a new policy, as path and content. `@NAME@` and similar words are replaced.
type Skeleton = [(&'static str, &'static str)];

const RUST: &Skeleton = &[
    (".gitignore", include_str!("skeleton/rust/gitignore.txt")),
    ("Cargo.toml", include_str!("skeleton/rust/Cargo.toml.txt")),
    ("README.md", include_str!("skeleton/rust/README.md.txt")),
    ("policy.toml", include_str!("skeleton/policy.toml.txt")),
    ("src/lib.rs", include_str!("skeleton/rust/lib.rs.txt")),
    ("cookbooks/@COOKBOOK@/Cargo.toml", include_str!("skeleton/rust/cookbook.Cargo.toml.txt")),
    ("cookbooks/@COOKBOOK@/src/lib.rs", include_str!("skeleton/rust/cookbook.lib.rs.txt")),
    ("cookbooks/@COOKBOOK@/src/attributes.rs", include_str!("skeleton/rust/cookbook.attributes.rs.txt")),
    ("cookbooks/@COOKBOOK@/src/recipes.rs", include_str!("skeleton/rust/cookbook.recipes.rs.txt")),
    ("cookbooks/@COOKBOOK@/templates/hello.txt.j2", include_str!("skeleton/rust/cookbook.template.txt")),
    ("tests/recipes.rs", include_str!("skeleton/rust/test.rs.txt")),
];

const RUBY: &Skeleton = &[
    (".gitignore", include_str!("skeleton/ruby/gitignore.txt")),
    ("README.md", include_str!("skeleton/ruby/README.md.txt")),
    ("policy.toml", include_str!("skeleton/policy.toml.txt")),
    ("cookbooks/@COOKBOOK@/metadata.rb", include_str!("skeleton/ruby/cookbook.metadata.rb.txt")),
    ("cookbooks/@COOKBOOK@/attributes/default.rb", include_str!("skeleton/ruby/cookbook.attributes.rb.txt")),
    ("cookbooks/@COOKBOOK@/recipes/default.rb", include_str!("skeleton/ruby/cookbook.recipe.rb.txt")),
    ("cookbooks/@COOKBOOK@/templates/hello.txt.erb", include_str!("skeleton/ruby/cookbook.template.txt")),
    ("tests/case.toml", include_str!("skeleton/ruby/case.toml.txt")),
    ("tests/snapshots/debian-12.json", include_str!("skeleton/ruby/snapshot.json.txt")),
    ("tests/snapshots/debian-13.json", include_str!("skeleton/ruby/snapshot.json.txt")),
];

/// The lines of the skeleton's Cargo.toml that name its cookbook.
const COOKBOOK_PATH: &str = "@COOKBOOK@ = { path = \"cookbooks/@COOKBOOK@\" }\n";
const COOKBOOK_LINKED: &str = "@COOKBOOK@.workspace = true\n";

/// The patch that makes cargo take the SDK from the folder that wrun writes.
const PATCH: &str = "
# `wrun policy new` and `wrun policy build` write the SDK of their own version to this folder. It is not committed.
[patch.crates-io]
wrun-sdk = { path = \"@FOLDER@\" }
";

/// The SDK's line in the table of the README.
const SDK_ROW: &str = "| `.wrun/sdk` | the SDK for cookbooks, as `wrun policy build` writes it; not committed |\n";

/// The language of a new policy's first cookbook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Start {
    /// A cargo workspace, with the SDK from this source.
    Rust(SdkSource),
    /// Ruby sources, which need no compiler.
    Ruby,
}

/// The source of the SDK for cookbooks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SdkSource {
    /// wrun itself: it writes its SDK into the policy's folder.
    Carried,
    /// A folder on this machine, the one with the SDK's Cargo.toml.
    Path(PathBuf),
    /// A git repository that has the SDK somewhere in it.
    Git {
        /// The address of the repository.
        url: String,
        /// A commit, tag or branch; `None`: the default branch.
        revision: Option<String>,
    },
}

impl SdkSource {
    /// The dependency as Cargo.toml writes it.
    fn dependency(&self) -> Result<String, AuthorError> {
        match self {
            Self::Carried => Ok(toml_string(sdk::requirement())),
            Self::Path(path) => {
                let failed = |source| AuthorError::Read { path: path.clone(), source };
                let text = plain_files::read_text(&path.join("Cargo.toml"), MAX_FILE).map_err(failed)?;
                let manifest: Option<toml::Table> = toml::from_str(&text).ok();
                let name = manifest.as_ref().and_then(|table| table.get("package")?.get("name")?.as_str());
                if name != Some(SDK_PACKAGE) {
                    let what = "is not the folder of the SDK: its Cargo.toml names no package wrun-sdk";
                    return Err(AuthorError::File { path: path.clone(), what });
                }
                let path = path.canonicalize().map_err(failed)?;
                Ok(format!("{{ path = {} }}", toml_string(&path.to_string_lossy())))
            }
            Self::Git { url, revision: None } => Ok(format!("{{ git = {} }}", toml_string(url))),
            Self::Git { url, revision: Some(revision) } => {
                Ok(format!("{{ git = {}, rev = {} }}", toml_string(url), toml_string(revision)))
            }
        }
    }
}

/// Makes the folder of a new policy. It must be absent or empty. Returns the name of its cookbook, which differs from the
/// policy's if code could not have that.
///
/// # Errors
/// The name cannot be a policy's, the folder holds something or cannot be written, the SDK is not where it is said to be.
pub fn create(folder: &Path, name: &str, start: &Start) -> Result<String, AuthorError> {
    check_policy_name(name).map_err(AuthorError::Name)?;
    let (skeleton, dependency) = match start {
        Start::Rust(source) => (RUST, source.dependency()?),
        Start::Ruby => (RUBY, String::new()),
    };
    let is_carried = *start == Start::Rust(SdkSource::Carried);
    let patch = if is_carried { PATCH.replace("@FOLDER@", sdk::FOLDER) } else { String::new() };
    let home = HeldFolder::make(folder).map_err(|source| AuthorError::Write { path: folder.to_owned(), source })?;
    match home.folder().walk(0, |_| Ok::<_, Infallible>(false)) {
        Ok(()) => {}
        Err(WalkError::Read(_, source)) => return Err(AuthorError::Read { path: folder.to_owned(), source }),
        Err(_) => return Err(AuthorError::NotEmpty { folder: folder.to_owned() }),
    }
    let cookbook = cookbook_name(name, start);
    for (place, text) in skeleton {
        let text = text
            .replace("@PATCH@", &patch)
            .replace("@SDK_ROW@", if is_carried { SDK_ROW } else { "" })
            .replace("@PACKAGE@", &package_name(name))
            .replace("@COOKBOOK@", &cookbook)
            .replace("@NAME@", name)
            .replace("@SDK@", &dependency);
        write_below(&home, place.replace("@COOKBOOK@", &cookbook), text.as_bytes())?;
    }
    if is_carried {
        sdk::unpack(&home)?;
    }
    Ok(cookbook)
}

/// Returns the two missing files of a policy without a cargo workspace: Cargo.toml and src/lib.rs.
pub(super) fn workspace_files(name: &str, policy: &Path, cookbooks: &[Member]) -> (String, String) {
    let place = |one: &Member| one.path.strip_prefix(policy).unwrap_or(&one.path).display().to_string();
    let lines = |line: &dyn Fn(&Member) -> String| cookbooks.iter().map(line).collect::<String>();
    let manifest = include_str!("skeleton/rust/Cargo.toml.txt")
        .replace(COOKBOOK_PATH, &lines(&|one| format!("{} = {{ path = {} }}\n", one.name, toml_string(&place(one)))))
        .replace(COOKBOOK_LINKED, &lines(&|one| format!("{}.workspace = true\n", one.name)))
        .replace("@PATCH@", &PATCH.replace("@FOLDER@", sdk::FOLDER))
        .replace("@PACKAGE@", &package_name(name))
        .replace("@SDK@", &toml_string(sdk::requirement()));
    let crates: Vec<_> = cookbooks.iter().map(|one| one.name.replace('-', "_")).collect();
    (manifest, format!("wrun_sdk::policy!({});\n", crates.join(", ")))
}

/// The package of a policy's component. Names such as `core` and `3.1` are valid for a policy, but not for a package.
fn package_name(policy: &str) -> String {
    format!("policy-{}", policy.replace('.', "-"))
}

/// Names that a crate cannot have, or that mean another crate in its code.
const RESERVED: [&str; 16] = [
    "alloc",
    "core",
    "crate",
    "dyn",
    "enum",
    "extern",
    "mod",
    "proc_macro",
    "self",
    "static",
    "std",
    "super",
    "test",
    "type",
    "use",
    "wrun_sdk",
];

/// Returns the name of a new policy's cookbook: the policy's name, changed if code cannot have it. So two policies on one node
/// do not get cookbooks of the same name.
fn cookbook_name(policy: &str, start: &Start) -> String {
    let plain = policy.to_ascii_lowercase().replace(['.', '-'], "_");
    if *start != Start::Ruby && RESERVED.contains(&plain.as_str()) {
        return format!("{plain}_base");
    }
    if plain.starts_with(|first: char| first.is_ascii_lowercase()) { plain } else { format!("policy_{plain}") }
}

#[cfg(test)]
mod tests {
    use super::{SdkSource, Start, cookbook_name};

    #[test]
    fn a_cookbook_is_called_as_its_policy_where_code_can_be() {
        for (policy, in_rust, in_ruby) in [
            ("web", "web", "web"),
            ("Web-Front.2", "web_front_2", "web_front_2"),
            ("core", "core_base", "core"),
            ("3.1", "policy_3_1", "policy_3_1"),
            ("_x", "policy__x", "policy__x"),
        ] {
            assert_eq!(cookbook_name(policy, &Start::Rust(SdkSource::Carried)), in_rust);
            assert_eq!(cookbook_name(policy, &Start::Ruby), in_ruby);
        }
    }
}
