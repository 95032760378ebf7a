//! All inputs that fuzzing has kept are tried again: `tests/fuzz/corpus/TARGET/`, those that broke something among them.

#[path = "../fuzz/src/targets/mod.rs"]
mod targets;

use std::path::Path;

#[test]
fn no_kept_input_breaks_a_promise() {
    for (name, target) in targets::TARGETS {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(name);
        let mut files: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        assert!(!files.is_empty(), "{} holds nothing", folder.display());
        for file in files {
            let content = std::fs::read(&file).unwrap();
            if std::panic::catch_unwind(|| target(&content)).is_err() {
                panic!("{} breaks a promise: see above", file.display());
            }
        }
    }
}
