//! Archives: whatever is in one, nothing comes out beside the destination, and nothing that is set-id.

#[path = "../../../../host/providers/tests/support/mod.rs"]
mod support;

use serde_json::json;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use support::Bench;

/// The most bytes that are tried: what is large is slow, and no other than what is small.
const MAX_BYTES: usize = 64 << 10;

/// Unpacks the bytes: as they are, or as a tar archive that is compressed with gzip.
pub(super) fn unpack(data: &[u8]) {
    if data.len() > MAX_BYTES {
        return;
    }
    let (choice, content) = super::choice(data);
    let bench = Bench::new("paths = [\"/srv/**\"]\n");
    std::fs::create_dir_all(bench.path("/srv")).unwrap();
    std::fs::create_dir_all(bench.path("/beside")).unwrap();
    std::fs::write(bench.path("/beside/file"), "kept").unwrap();
    let bytes = if choice % 2 == 0 { content.to_vec() } else { gzip(content) };
    std::fs::write(bench.path("/srv/archive"), bytes).unwrap();
    let properties = json!({ "path": "/srv/archive", "destination": "/srv/out", "options": options(choice) });
    let asked = bench.why_run("archive_file", "/srv/archive", "extract", properties.clone());
    assert!(!bench.path("/srv/out").exists(), "a dry run unpacks");
    let done = bench.run("archive_file", "/srv/archive", "extract", properties);
    assert!(asked.is_ok() || done.is_err(), "a dry run fails where the run does not: {asked:?}");
    assert_eq!(names(&bench.root), ["beside", "etc", "srv"]);
    assert_eq!(names(&bench.path("/beside")), ["file"]);
    assert_eq!(bench.read("/beside/file"), "kept");
    assert!(names(&bench.path("/srv")).iter().all(|name| name == "archive" || name == "out"));
    assert!(names(&bench.path("/etc")).is_empty());
    no_set_id(&bench.path("/srv"));
}

/// What is kept of the entries.
fn options(choice: u8) -> Vec<&'static str> {
    let all = ["time", "owner", "permissions", "no_overwrite", "no_overwrite_newer"];
    all.iter().enumerate().filter(|(at, _)| choice >> (at + 1) & 1 == 1).map(|(_, name)| *name).collect()
}

fn gzip(content: &[u8]) -> Vec<u8> {
    use std::io::Write as _;
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(content).unwrap();
    packed.finish().unwrap()
}

/// What lies in a directory, sorted.
fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// Links are not followed: where they lead is not what was unpacked.
fn no_set_id(folder: &Path) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let about = path.symlink_metadata().unwrap();
        assert_eq!(about.mode() & 0o6000, 0, "{}", path.display());
        if about.is_dir() {
            no_set_id(&path);
        }
    }
}
