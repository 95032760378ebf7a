//! Archives of `chef export -a`: what is taken from them, and what strangers may put into them.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use artifact::lock::CookbookIdentifier;
use artifact::{Artifact, Runtime};
use author::Ruby;
use author::policyfile::archived;
use flate2::Compression;
use flate2::write::GzEncoder;
use policyfile::lock::Lock;
use serde_json::{Value, json};
use std::fs;
use std::io::Write as _;
use std::path::Path;
use tar::{EntryType, Header};

const IDENTIFIER: &str = "0123456789abcdef0123456789abcdef01234567";

/// There is a runtime, and nothing else is asked.
struct OnlyRuntime;

impl Ruby for OnlyRuntime {
    fn runtime(&mut self) -> Result<Runtime, String> {
        Ok(Runtime::Shared { name: "ruby-4.0.0-1".into(), digest: "ab".repeat(32) })
    }

    fn metadata(&mut self, _cookbook: &Path) -> Result<Value, String> {
        Err("an archive has metadata.json".into())
    }

    fn gems(&mut self, _question: Value) -> Result<Value, String> {
        Err("its cookbooks name no gems".into())
    }
}

/// The files of an archive, each with its path.
type Files = Vec<(String, Vec<u8>)>;

fn lock() -> String {
    let dotted = CookbookIdentifier::parse(IDENTIFIER).unwrap().dotted_decimal();
    let cookbook = json!({
        "version": "1.0.0", "identifier": IDENTIFIER, "dotted_decimal_identifier": dotted, "cache_key": null,
        "source": "c/web", "scm_info": null, "source_options": {"path": "c/web"},
    });
    let lock = json!({
        "revision_id": "", "name": "web", "run_list": ["recipe[web::default]"], "included_policy_locks": [],
        "cookbook_locks": {"web": cookbook}, "default_attributes": {"a": 1}, "override_attributes": {},
        "solution_dependencies": {"Policyfile": [["web", ">= 0.0.0"]], "dependencies": {"web (1.0.0)": []}},
    });
    Lock::parse(&lock.to_string()).unwrap().to_text().unwrap()
}

fn files() -> Files {
    let metadata = json!({"name": "web", "version": "1.0.0", "dependencies": {}}).to_string();
    let below = |path: &str| format!("cookbook_artifacts/web-{IDENTIFIER}/{path}");
    vec![
        ("Policyfile.lock.json".into(), lock().into_bytes()),
        (below("metadata.json"), metadata.into_bytes()),
        (below("recipes/default.rb"), b"log 'hello'\n".to_vec()),
        ("policies/web-0.json".into(), b"{}".to_vec()),
        ("README.md".into(), vec![]),
    ]
}

fn tar_of(files: &Files) -> Vec<u8> {
    let mut archive = tar::Builder::new(vec![]);
    for (path, content) in files {
        let mut header = Header::new_gnu();
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        header.set_cksum();
        archive.append_data(&mut header, path, content.as_slice()).unwrap();
    }
    archive.into_inner().unwrap()
}

fn packed(tar: &[u8]) -> Vec<u8> {
    let mut packed = GzEncoder::new(vec![], Compression::fast());
    packed.write_all(tar).unwrap();
    packed.finish().unwrap()
}

/// Reads an archive of these bytes.
fn read(bytes: &[u8], sha256: Option<&str>) -> Result<Artifact, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("web.tgz");
    fs::write(&path, bytes).unwrap();
    archived(&path, sha256, &mut OnlyRuntime).map(|policy| policy.artifact).map_err(|error| error.to_string())
}

#[test]
fn a_policy_is_taken_from_an_archive_as_it_is() {
    let bytes = packed(&tar_of(&files()));
    let artifact = read(&bytes, None).unwrap();
    let manifest = artifact.manifest();
    let revision = Lock::parse(&lock()).unwrap().revision_id().unwrap();
    assert_eq!((&manifest.revision_id, &manifest.name), (&revision, &"web".to_owned()));
    assert_eq!(manifest.cookbooks[0].identifier, IDENTIFIER);
    let digest = manifest.archive.clone().unwrap();
    let paths: Vec<_> = artifact.files().map(|(path, _)| path.to_owned()).collect();
    assert_eq!(paths, ["web/metadata.json", "web/recipes/default.rb"]);
    // The same archive makes the same artifact, and its digest can be demanded.
    assert_eq!(read(&bytes, Some(&digest.to_uppercase())).unwrap().digest(), artifact.digest());
    let error = read(&bytes, Some(&"0".repeat(64))).unwrap_err();
    assert!(error.contains(&format!("its SHA-256 is {digest}")), "{error}");
    // Other files are another artifact of the same revision.
    let mut changed = files();
    changed[2].1 = b"log 'other'\n".to_vec();
    let changed = read(&packed(&tar_of(&changed)), None).unwrap();
    assert_eq!(changed.manifest().revision_id, revision);
    assert_ne!(changed.digest(), artifact.digest());
    let found = artifact::differences(&artifact, &changed).join("; ");
    assert!(found.contains("the files web/recipes/default.rb differ") && found.contains("archive"), "{found}");
}

#[test]
fn archives_whose_parts_do_not_fit_are_refused() {
    #[track_caller]
    fn check(change: impl Fn(&mut Files), expect: &str) {
        let mut files = files();
        change(&mut files);
        let error = read(&packed(&tar_of(&files)), None).unwrap_err();
        assert!(error.contains(expect), "{error}");
    }
    check(|files| drop(files.remove(0)), "it has no Policyfile.lock.json");
    check(|files| drop(files.remove(1)), "it has no metadata.json");
    check(|files| drop(files.remove(2)), "does not have the recipe default");
    check(|files| drop(files.drain(1..3)), &format!("it has no cookbook_artifacts/web-{IDENTIFIER}"));
    check(
        |files| files.push(("cookbook_artifacts/db-1/metadata.json".into(), vec![])),
        "db-1 is not a cookbook of the lock",
    );
    check(|files| files.push(("cookbook_artifacts/x".into(), vec![])), "does not belong to a cookbook");
    check(|files| files.push(("README.md".into(), vec![])), "README.md is there twice");
    let edit = |from: &'static str, to: &'static str| {
        move |files: &mut Files| {
            let text = String::from_utf8(files[0].1.clone()).unwrap();
            assert!(text.contains(from));
            files[0].1 = text.replace(from, to).into_bytes();
        }
    };
    check(edit("\"a\": 1", "\"a\": 2"), "Policyfile.lock.json:2: the lock states the revision_id");
    check(
        |files| files[1].1 = b"{\"name\": \"web\", \"version\": \"2.0.0\"}".to_vec(),
        "its metadata.json says web 2.0.0",
    );
    let depends = b"{\"name\": \"web\", \"version\": \"1.0.0\", \"dependencies\": {\"db\": \">= 0.0.0\"}}";
    check(|files| files[1].1 = depends.to_vec(), "depends on \"db\", which the lock does not have");
    check(|files| *files = vec![files[0].clone(), ("cookbooks/web/metadata.json".into(), vec![])], "the old format");
    assert!(read(b"not an archive", None).unwrap_err().contains("it is not an archive of `chef export -a`"));
}

#[test]
fn nothing_but_plain_files_inside_the_archive_counts() {
    #[track_caller]
    fn check(path: &[u8], kind: EntryType, expect: &str) {
        let mut archive = tar::Builder::new(tar_of(&files()));
        // What the builder itself would refuse.
        let mut header = Header::new_gnu();
        header.as_old_mut().name[..path.len()].copy_from_slice(path);
        header.set_entry_type(kind);
        header.set_size(0);
        header.set_link_name_literal("/etc/passwd").unwrap();
        header.set_cksum();
        let mut bytes = tar_of(&files());
        // Two empty blocks end an archive.
        bytes.truncate(bytes.len() - 1024);
        bytes.extend(header.as_bytes());
        bytes.extend([0; 1024]);
        archive.finish().unwrap();
        let error = read(&packed(&bytes), None).unwrap_err();
        assert!(error.contains(expect), "{error}");
    }
    let link = format!("cookbook_artifacts/web-{IDENTIFIER}/files/passwd");
    check(link.as_bytes(), EntryType::Symlink, "is not a plain file; links");
    check(link.as_bytes(), EntryType::Link, "is not a plain file; links");
    check(link.as_bytes(), EntryType::Char, "is not a plain file; links");
    check(b"../../etc/passwd", EntryType::Regular, "leads out of the archive");
    check(b"/etc/passwd", EntryType::Regular, "leads out of the archive");
}

#[test]
fn damaged_archives_end_in_an_error_or_in_the_revision_of_their_lock() {
    let (tar, revision) = (tar_of(&files()), Lock::parse(&lock()).unwrap().revision_id().unwrap());
    // A generator with a fixed seed: the same archives each time.
    let mut state: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut next = move |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % below as u64).unwrap()
    };
    let mut taken = 0;
    for _ in 0..10_000 {
        let mut bytes = tar.clone();
        for _ in 0..=next(3) {
            let at = next(bytes.len());
            bytes[at] = u8::try_from(next(256)).unwrap();
        }
        if next(4) == 0 {
            bytes.truncate(next(bytes.len()));
        }
        if let Ok(artifact) = read(&packed(&bytes), None) {
            assert_eq!(artifact.manifest().revision_id, revision);
            taken += 1;
        }
    }
    assert!(taken > 0, "most bytes of an archive say nothing");
}
