//! Gems that travel: what lies in a folder is listed, what Ruby chose is read, and hostile archives are refused.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::fs;
use std::io::Write as _;
use std::path::Path;

use artifact::Runtime;
use author::gems::{GemFolder, GemsError, WantedGem};
use author::{AuthorError, Options, Ruby};
use contract::CookbookFiles as _;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use tar::{Builder, EntryType, Header};

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// An archive of entries, whose paths stand in it whatever they are.
fn tar_of(entries: &[(&str, EntryType, &[u8])]) -> Vec<u8> {
    let mut builder = Builder::new(Vec::new());
    for (path, kind, content) in entries {
        let mut header = Header::new_ustar();
        header.as_old_mut().name[..path.len()].copy_from_slice(path.as_bytes());
        header.set_entry_type(*kind);
        header.set_mode(0o644);
        header.set_size(content.len() as u64);
        if *kind == EntryType::Symlink {
            header.set_link_name("/etc/shadow").unwrap();
        }
        header.set_cksum();
        builder.append(&header, *content).unwrap();
    }
    builder.into_inner().unwrap()
}

/// A released gem.
fn gem(specification: &str, files: &[(&str, EntryType, &[u8])]) -> Vec<u8> {
    let (metadata, data) = (gzip(specification.as_bytes()), gzip(&tar_of(files)));
    tar_of(&[("metadata.gz", EntryType::Regular, &metadata), ("data.tar.gz", EntryType::Regular, &data)])
}

fn plain<'a>(path: &'a str, content: &'a str) -> (&'a str, EntryType, &'a [u8]) {
    (path, EntryType::Regular, content.as_bytes())
}

fn chosen(name: &str) -> Value {
    json!({ "chosen": [{ "there": 0, "name": name, "version": "1.0", "require_paths": ["lib"] }] })
}

fn wanted() -> [WantedGem; 1] {
    [WantedGem { cookbook: "web".into(), gem: vec!["one".into(), "~> 1.0".into()] }]
}

#[test]
fn released_and_unpacked_gems_are_listed_and_the_chosen_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let files = [plain("lib/one.rb", "ONE = 1"), plain("README.md", "read")];
    fs::write(folder.path().join("one-1.0.gem"), gem("--- what it says", &files)).unwrap();
    fs::create_dir_all(folder.path().join("two-2.0/lib")).unwrap();
    fs::write(folder.path().join("two-2.0/lib/two.rb"), "TWO = 2").unwrap();
    fs::write(folder.path().join("notes.txt"), "no gem").unwrap();
    let there = GemFolder::open(folder.path()).unwrap();
    let question = there.question(&wanted(), &["pg".to_owned()]);
    assert_eq!(
        question,
        json!({
            "wanted": [["web", ["one", "~> 1.0"]]],
            "without": ["pg"],
            "there": [
                { "file": "one-1.0.gem", "specification": "--- what it says" },
                { "file": "two-2.0", "files": ["lib/two.rb"] },
            ],
        })
    );
    let gems = there.take(chosen("one"), "nowhere").unwrap();
    let paths: Vec<_> = gems.files().keys().map(String::as_str).collect();
    assert_eq!(paths, ["gems.json", "one-1.0/README.md", "one-1.0/lib/one.rb"]);
    assert_eq!(gems.files().get("one-1.0/lib/one.rb").unwrap(), b"ONE = 1");
}

#[test]
fn what_leads_out_of_a_gem_or_is_none_is_refused() {
    let check = |bytes: &[u8], expect: &str| {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("one-1.0.gem"), bytes).unwrap();
        let got = GemFolder::open(folder.path()).and_then(|there| there.take(chosen("one"), "nowhere"));
        let error = got.unwrap_err();
        assert!(matches!(error, GemsError::NoGem { .. }), "{error}");
        let text = error.to_string();
        assert!(text.contains("one-1.0.gem") && text.contains(expect), "{text}");
    };
    check(&gem("", &[plain("../../etc/cron.d/x", "")]), "impossible path");
    check(&gem("", &[plain("/etc/cron.d/x", "")]), "impossible path");
    check(&gem("", &[plain("lib//x.rb", "")]), "impossible path");
    check(&gem("", &[("lib/x.rb", EntryType::Symlink, b"")]), "not a plain file");
    check(&gem("", &[("lib/x", EntryType::Char, b"")]), "not a plain file");
    check(&gem(&"x".repeat(2 << 20), &[]), "more than");
    check(&tar_of(&[plain("checksums.yaml.gz", "")]), "it has no metadata.gz");
    check(b"no archive at all", "");
    // 300 MB of nothing in some kilobytes.
    let bomb = vec![0; 300 << 20];
    check(&gem("", &[("lib/bomb", EntryType::Regular, &bomb)]), "too large");
    // What describes an entry is no file, and is read before one is seen.
    let long = vec![b'x'; 70_000];
    check(&gem("", &[("name", EntryType::GNULongName, &long), plain("lib/x.rb", "")]), "more than 1024 bytes");
    check(&gem("", &[("name", EntryType::XHeader, &long), plain("lib/x.rb", "")]), "more than 65536 bytes");
}

#[test]
fn long_names_are_read_as_tar_writes_them() {
    let folder = tempfile::tempdir().unwrap();
    let (gnu, pax) = (format!("lib/{}.rb", "g".repeat(200)), format!("lib/{}.rb", "p".repeat(200)));
    let record = format!(" path={pax}\n");
    let record = format!("{}{record}", record.len() + 3);
    let entries = [
        ("name", EntryType::GNULongName, format!("{gnu}\0").into_bytes()),
        ("short", EntryType::Regular, b"1".to_vec()),
        ("name", EntryType::XHeader, record.into_bytes()),
        ("short", EntryType::Regular, b"2".to_vec()),
        ("lib/short.rb", EntryType::Regular, b"3".to_vec()),
    ];
    let entries: Vec<_> = entries.iter().map(|(path, kind, content)| (*path, *kind, content.as_slice())).collect();
    fs::write(folder.path().join("one-1.0.gem"), gem("", &entries)).unwrap();
    let gems = GemFolder::open(folder.path()).unwrap().take(chosen("one"), "nowhere").unwrap();
    for (path, content) in [(gnu.as_str(), b"1"), (pax.as_str(), b"2"), ("lib/short.rb", b"3")] {
        assert_eq!(gems.files().get(&format!("one-1.0/{path}")).unwrap(), content, "{path}");
    }
}

/// A file of some kilobytes may be as long as it likes: the rest of it is a hole.
#[test]
fn a_name_without_end_is_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let mut header = Header::new_gnu();
    header.set_entry_type(EntryType::GNULongName);
    header.set_size(4 << 30);
    header.set_cksum();
    let path = folder.path().join("one-1.0.gem");
    fs::write(&path, header.as_bytes()).unwrap();
    fs::File::options().write(true).open(&path).unwrap().set_len(4 << 30).unwrap();
    let error = GemFolder::open(folder.path()).unwrap_err();
    assert!(matches!(error, GemsError::NoGem { .. }), "{error}");
}

#[test]
fn an_answer_that_makes_no_sense_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("one-1.0.gem"), gem("", &[plain("lib/one.rb", "")])).unwrap();
    let there = GemFolder::open(folder.path()).unwrap();
    let mut outside = chosen("one");
    outside["chosen"][0]["there"] = json!(1);
    for answer in [outside, chosen("../one"), chosen(""), json!({ "chosen": 1 }), json!(null)] {
        let error = there.take(answer, "nowhere").unwrap_err();
        assert!(matches!(error, GemsError::Answer { .. }), "{error}");
    }
    let refused =
        json!({ "refused": { "cookbook": "web", "gem": "one", "requirement": "~> 2", "what": "x".repeat(9000) } });
    let error = there.take(refused, "the list").unwrap_err().to_string();
    assert!(error.len() < 3000 && error.contains("gem fetch one --version '~> 2'"), "{error}");
    assert!(error.contains("the list"), "{error}");
}

/// Answers for Ruby.
struct Says(Value);

impl Ruby for Says {
    fn runtime(&mut self) -> Result<Runtime, String> {
        Ok(Runtime::Shared { name: "ruby-4.0.0-1".into(), digest: "ab".repeat(32) })
    }

    fn metadata(&mut self, _cookbook: &Path) -> Result<Value, String> {
        Ok(json!({ "name": "web", "version": "1.0.0", "gems": [["one", "~> 1.0"], []] }))
    }

    fn gems(&mut self, question: Value) -> Result<Value, String> {
        assert_eq!(question["wanted"], json!([["web", ["one", "~> 1.0"]]]));
        Ok(self.0.clone())
    }
}

#[test]
fn an_artifact_carries_gems_and_its_revision_knows_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    fs::create_dir_all(path.join("cookbooks/web/recipes")).unwrap();
    fs::create_dir_all(path.join("gems")).unwrap();
    fs::write(path.join("policy.toml"), "name = \"site\"\nrun_list = [\"web\"]\n").unwrap();
    fs::write(path.join("cookbooks/web/metadata.rb"), "name 'web'\n\ngem 'one', '~> 1.0'\n").unwrap();
    fs::write(path.join("cookbooks/web/recipes/default.rb"), "").unwrap();
    let build = |says: Value, content: &str| {
        fs::write(path.join("gems/one-1.0.gem"), gem("", &[plain("lib/one.rb", content)])).unwrap();
        let mut no_compiler = || unreachable!("nothing is to be compiled");
        author::build(path, &Options::new(Path::new("/nowhere")), &mut Says(says), &mut no_compiler)
    };
    let artifact = build(chosen("one"), "ONE = 1").unwrap();
    let gems = artifact.manifest().gems.clone().unwrap();
    assert_eq!(gems.versions.get("one").unwrap(), "1.0");
    assert_eq!(artifact.paths("wrun:gems", "").unwrap(), ["gems.json", "one-1.0/lib/one.rb"]);
    assert_eq!(artifact.read("wrun:gems", "one-1.0/lib/one.rb").unwrap(), b"ONE = 1");
    assert!(artifact.cookbooks().iter().all(|(name, _)| name != "wrun:gems"), "they are not cookbooks");
    let other = build(chosen("one"), "ONE = 2").unwrap();
    assert_ne!(artifact.manifest().revision_id, other.manifest().revision_id);
    let without = build(json!({ "chosen": [] }), "").unwrap();
    assert_eq!(without.manifest().gems, None);
    assert!(without.paths("wrun:gems", "").is_err());
    let refused = json!({ "cookbook": "web", "gem": "one", "requirement": "~> 1.0", "what": "there is only 0.9" });
    let error = build(json!({ "refused": refused }), "").unwrap_err();
    assert!(matches!(&error, AuthorError::Wrong { line: 3, .. }), "{error}");
    let text = error.to_string();
    assert!(text.contains("web/metadata.rb:3: there is only 0.9; put one"), "{text}");
}
