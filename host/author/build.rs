//! Puts the SDK for cookbooks and the contract into the program, so that `wrun policy new` needs nothing else.
//!
//! Writes `sdk.rs`: the SDK's version, and the path and the content of each file, in the order of their paths. The
//! contents come from the checkout; its own path does not get into the program.

use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    let sdk = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?).join("../../guests/sdk").canonicalize()?;
    let mut files = Vec::new();
    for part in ["Cargo.toml", "macros", "src", "wit"] {
        println!("cargo:rerun-if-changed={}", sdk.join(part).canonicalize()?.display());
        collect(&sdk, part.to_owned(), &mut files)?;
    }
    files.sort();
    let mut code = format!(
        "/// The SDK's version.\npub(super) const VERSION: &str = {:?};\n\n\
         /// The SDK's files: paths below its folder, in order, and contents.\n\
         pub(super) const FILES: &[(&str, &[u8])] = &[\n",
        version(&sdk)?
    );
    for file in &files {
        let path = sdk.join(file).canonicalize()?;
        let path = path.to_str().ok_or("the path of the SDK is not UTF-8")?;
        writeln!(code, "    ({file:?}, include_bytes!({path:?})),")?;
    }
    code.push_str("];\n");
    fs::write(PathBuf::from(env::var("OUT_DIR")?).join("sdk.rs"), code)?;
    Ok(())
}

/// Adds the paths of all files at or below `path`, which is relative to the SDK's folder.
fn collect(sdk: &Path, path: String, files: &mut Vec<String>) -> Result<(), Box<dyn Error>> {
    let place = sdk.join(&path);
    if !place.is_dir() {
        files.push(path);
        return Ok(());
    }
    for entry in fs::read_dir(place)? {
        let name = entry?.file_name().into_string().map_err(|_| "the SDK has a file name that is not UTF-8")?;
        collect(sdk, format!("{path}/{name}"), files)?;
    }
    Ok(())
}

fn version(sdk: &Path) -> Result<String, Box<dyn Error>> {
    let manifest = fs::read_to_string(sdk.join("Cargo.toml"))?;
    let line = manifest.lines().find_map(|line| line.strip_prefix("version = \""));
    Ok(line.and_then(|line| line.strip_suffix('"')).ok_or("the SDK's Cargo.toml has no version")?.to_owned())
}
