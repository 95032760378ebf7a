//! Artifacts: damaged and forged ones are refused; what is opened names its files inside of its cookbooks.

use artifact::{Artifact, EMPTY_COMPONENT};
use sha2::{Digest as _, Sha256};
use std::path::Path;

/// Opens the bytes as an artifact; or, since a digest is never found by chance, as the manifest and the files of one whose
/// digest is right.
pub(super) fn open(data: &[u8]) {
    let bytes = match super::choice(data) {
        (0..32, rest) => rest.to_vec(),
        (_, rest) => signed(rest),
    };
    let Ok(artifact) = Artifact::from_bytes(Path::new("fuzz.wasm"), bytes.clone()) else { return };
    assert_eq!(artifact.bytes(), bytes);
    let _ = artifact.manifest().compute_revision();
    for (path, _) in artifact.files() {
        let sound = |part: &str| !part.is_empty() && part != "." && part != ".." && !part.contains('\0');
        assert!(path.split('/').count() > 1 && path.split('/').all(sound), "{path:?}");
    }
}

/// An artifact without code: the manifest ends at the first zero byte, the files follow.
fn signed(data: &[u8]) -> Vec<u8> {
    let end = data.iter().position(|byte| *byte == 0).unwrap_or(data.len());
    let (manifest, files) = data.split_at(end);
    let mut bytes = EMPTY_COMPONENT.to_vec();
    section(&mut bytes, "wrun:manifest", manifest);
    section(&mut bytes, "wrun:files", files.get(1..).unwrap_or_default());
    let digest = Sha256::digest(&bytes);
    section(&mut bytes, "wrun:digest", &digest);
    bytes
}

/// A custom section of WebAssembly's binary format.
fn section(bytes: &mut Vec<u8>, name: &str, content: &[u8]) {
    let mut inside = Vec::new();
    length(&mut inside, name.len());
    inside.extend_from_slice(name.as_bytes());
    inside.extend_from_slice(content);
    bytes.push(0);
    length(bytes, inside.len());
    bytes.extend_from_slice(&inside);
}

/// A number in LEB128.
fn length(bytes: &mut Vec<u8>, mut number: usize) {
    while number >= 0x80 {
        bytes.push(u8::try_from(number & 0x7f).unwrap() | 0x80);
        number >>= 7;
    }
    bytes.push(u8::try_from(number).unwrap());
}
