//! Writes the SDK that is built into wrun to a folder of the policy: `.wrun/sdk`.
//!
//! A policy's Cargo.toml asks for `wrun-sdk = "0.1"` and patches it with this folder. `wrun policy new` writes the folder,
//! and `wrun policy build` updates it. It is in the policy's folder and not in the user's cache, because cargo distinguishes
//! packages by their paths below the workspace. So every user on every machine builds the same bytes, and cargo and editors
//! find the SDK without wrun.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::path::Path;

use artifact::MAX_FILES;
use plain_files::{HeldFolder, Kind, WalkError};

use super::AuthorError;
use super::own_folder::{below_policy, write_below};
use super::toml_file::MAX_FILE;

include!(concat!(env!("OUT_DIR"), "/sdk.rs"));

/// The folder, below the policy's.
pub(super) const FOLDER: &str = ".wrun/sdk";

/// Its two parts: what wrun writes below a policy's folder, and the SDK there.
const OWN: &str = ".wrun";
const SDK: &str = "sdk";

/// The version that a policy's Cargo.toml asks for: `0.1`.
pub(super) fn requirement() -> &'static str {
    VERSION.rsplit_once('.').map_or(VERSION, |(compatible, _)| compatible)
}

/// The folder of facts in the SDK, below its own.
const FACTS: &str = "src/testing/facts/";

/// Returns the machines' facts in the SDK, for tests: names, such as `debian-12`, and JSON.
pub fn shipped_facts() -> impl Iterator<Item = (&'static str, &'static [u8])> {
    FILES.iter().filter_map(|(path, content)| Some((path.strip_prefix(FACTS)?.strip_suffix(".json")?, *content)))
}

/// Whether a policy's Cargo.toml takes the SDK from [`FOLDER`].
fn is_wanted(policy: &HeldFolder) -> bool {
    let Ok(text) = policy.read_text("Cargo.toml", MAX_FILE) else { return false };
    // Cargo reports errors in a Cargo.toml better.
    let manifest: toml::Table = text.parse().unwrap_or_default();
    let patches = manifest.get("patch").and_then(|patch| patch.get("crates-io"));
    patches.and_then(|patches| patches.get("wrun-sdk")?.get("path")?.as_str()) == Some(FOLDER)
}

/// Updates the folder of the SDK to the version in this program, if the policy's Cargo.toml takes the SDK from there.
///
/// Unchanged files are not written, so that cargo does not compile them again. If the folder itself is a link, it leads to
/// the author's own SDK and is not changed. A link inside the folder is an error.
///
/// # Errors
/// A file cannot be written.
pub(super) fn bring_up_to_date(policy: &HeldFolder) -> Result<(), AuthorError> {
    if is_wanted(policy) { unpack(policy) } else { Ok(()) }
}

/// Writes the folder of the SDK, except for unchanged files.
pub(super) fn unpack(policy: &HeldFolder) -> Result<(), AuthorError> {
    let own = below_policy(policy, OWN)?;
    if own.folder().kind(SDK).is_ok_and(|kind| kind == Some(Kind::Link)) {
        return Ok(());
    }
    let folder = below_policy(&own, SDK)?;
    for (file, content) in FILES {
        let size = u64::try_from(content.len()).unwrap_or(u64::MAX);
        let found = folder.folder().read_below(file, size);
        if !found.is_ok_and(|found| found.as_deref() == Some(*content)) {
            write_below(&folder, file, content)?;
        }
    }
    remove_others(&folder)
}

/// Removes the files that an older version of the SDK had.
fn remove_others(sdk: &HeldFolder) -> Result<(), AuthorError> {
    let known: BTreeSet<&Path> = FILES.iter().map(|(file, _)| Path::new(file)).collect();
    let mut others = vec![];
    let walked = sdk.folder().walk(MAX_FILES, |entry| {
        if entry.kind != Kind::Folder && !known.contains(entry.path.as_path()) {
            others.push((entry.path.parent().unwrap_or(Path::new("")).to_owned(), entry.name.clone()));
        }
        Ok::<_, Infallible>(true)
    });
    match walked {
        Ok(()) => {}
        Err(WalkError::Read(below, source)) => {
            return Err(AuthorError::Read { path: sdk.path().join(below), source });
        }
        Err(WalkError::TooMany) => return Err(AuthorError::too_many_files(sdk.path())),
        Err(WalkError::Visit(never)) => match never {},
    }
    for (folder, name) in others {
        let failed = |source| AuthorError::Write { path: sdk.path().join(&folder).join(&name), source };
        sdk.folder().below(&folder).and_then(|open| open.map_or(Ok(()), |open| open.remove(&name))).map_err(failed)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn open(folder: &Path) -> HeldFolder {
        HeldFolder::open(folder).expect("a folder")
    }

    /// A policy's folder that takes the SDK from the folder that wrun writes.
    fn policy() -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        let text = format!("[patch.crates-io]\nwrun-sdk = {{ path = {FOLDER:?} }}\n");
        fs::write(folder.path().join("Cargo.toml"), text).expect("a manifest");
        folder
    }

    #[test]
    fn the_sdk_is_whole_and_names_no_checkout() {
        let names: Vec<_> = FILES.iter().map(|(name, _)| *name).collect();
        for name in [
            "Cargo.toml",
            "macros/src/lib.rs",
            "src/lib.rs",
            "src/resources/generated.rs",
            "wit/policy.wit",
            "wit/deps/turns/turns.wit",
        ] {
            assert!(names.contains(&name), "{name} is among {names:?}");
        }
        let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("a checkout");
        let checkout = checkout.to_str().expect("UTF-8").as_bytes();
        for (name, content) in FILES {
            assert!(!content.windows(checkout.len()).any(|part| part == checkout), "{name} names the checkout");
        }
        assert!(VERSION.starts_with(requirement()) && VERSION.len() > requirement().len());
    }

    #[test]
    fn a_folder_is_brought_up_to_date_and_what_is_right_stays_untouched() {
        let policy = policy();
        let sdk = policy.path().join(FOLDER);
        bring_up_to_date(&open(policy.path())).expect("written");
        let (right, wrong, stray) = (sdk.join("Cargo.toml"), sdk.join("src/lib.rs"), sdk.join("src/old/stray.rs"));
        let modified = |path: &Path| fs::metadata(path).and_then(|about| about.modified()).expect("a time");
        let before = modified(&right);
        fs::write(&wrong, "another version").expect("changed");
        fs::create_dir(sdk.join("src/old")).expect("a folder");
        fs::write(&stray, "").expect("a stray file");
        bring_up_to_date(&open(policy.path())).expect("written");
        assert_eq!(modified(&right), before);
        assert!(!stray.exists());
        for (file, content) in FILES {
            assert_eq!(fs::read(sdk.join(file)).expect("a file"), *content, "{file}");
        }
    }

    #[test]
    fn a_link_in_the_folder_is_not_followed() {
        for link in ["src", "Cargo.toml"] {
            let (policy, elsewhere) = (policy(), tempfile::tempdir().expect("a folder"));
            let sdk = policy.path().join(FOLDER);
            fs::create_dir_all(&sdk).expect("a folder");
            fs::write(elsewhere.path().join("Cargo.toml"), "kept").expect("a file");
            let target = if link == "src" { elsewhere.path().to_owned() } else { elsewhere.path().join(link) };
            std::os::unix::fs::symlink(target, sdk.join(link)).expect("a link");
            let error = bring_up_to_date(&open(policy.path())).expect_err("a link").to_string();
            assert!(error.ends_with("is a link, and wrun would write where it leads: remove it"), "{error}");
            assert_eq!(fs::read_to_string(elsewhere.path().join("Cargo.toml")).expect("a file"), "kept");
            assert_eq!(fs::read_dir(elsewhere.path()).expect("a folder").count(), 1, "{link}");
        }
    }

    #[test]
    fn an_sdk_of_the_authors_own_is_left_alone() {
        let own = tempfile::tempdir().expect("a folder");
        let linked = policy();
        fs::create_dir(linked.path().join(".wrun")).expect("a folder");
        std::os::unix::fs::symlink(own.path(), linked.path().join(FOLDER)).expect("a link");
        bring_up_to_date(&open(linked.path())).expect("nothing to do");
        let elsewhere = tempfile::tempdir().expect("a folder");
        fs::write(elsewhere.path().join("Cargo.toml"), "[workspace.dependencies]\nwrun-sdk = \"0.1\"\n")
            .expect("a file");
        bring_up_to_date(&open(elsewhere.path())).expect("nothing to do");
        assert_eq!(fs::read_dir(own.path()).expect("a folder").count(), 0);
        assert!(!elsewhere.path().join(".wrun").exists());
    }
}
