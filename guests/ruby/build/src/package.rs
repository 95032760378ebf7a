//! Fetches the npm package with CRuby for WebAssembly, once, and keeps it in the cache folder. The pinned digest protects it,
//! so the source does not matter. An installed npm fetches it, because npm knows this machine's registry and proxy. Otherwise
//! a plain request to the public registry fetches it.

use anyhow::{Context as _, Result, bail, ensure};
use base64::Engine as _;
use sha2::{Digest as _, Sha512};
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use ureq::Agent;
use ureq::tls::{RootCerts, TlsConfig};

/// The pinned package. Ruby 3.4 traps after tens of thousands of raises; 4.0 does not.
pub const PACKAGE: &str = "@ruby/4.0-wasm-wasi";

/// Its pinned version.
pub const PACKAGE_VERSION: &str = "2.10.1";

/// The package's digest, which npm's registry calls "integrity".
const INTEGRITY: &str =
    "sha512-ObIFKo4CyXJFWtJU2BRnrnvWA4YZEY9wYEVGCiVZVQ1fZ0Ox4PJuUJT0+Z7FKQ3vAVI75ymddknYEV0zPHKDpw==";

/// The registry for machines without npm.
const REGISTRY: &str = "https://registry.npmjs.org";

/// The maximum duration of the download.
const LONGEST: Duration = Duration::from_secs(900);

/// The largest file that is taken from the package.
const LARGEST: u64 = 64 << 20;

/// The parts of the package that the build needs.
pub(crate) struct Package {
    /// CRuby without its library.
    pub(crate) ruby: Vec<u8>,
    /// CRuby with all of its library packed in.
    pub(crate) ruby_with_library: Vec<u8>,
    /// The licences of Ruby and of what it is linked with.
    pub(crate) notice: Vec<u8>,
}

/// Takes the package from the cache folder, or fetches it first.
pub(crate) fn package(cache: &Path, say: &mut dyn FnMut(&str)) -> Result<Package> {
    let path = cache.join(format!("ruby-4.0-wasm-wasi-{PACKAGE_VERSION}.tgz"));
    let archive = match fs::read(&path) {
        Ok(archive) if is_intact(&archive) => archive,
        _ => fetch(cache, &path, say)?,
    };
    unpack(&archive)
}

/// Returns the folder for packages and their products: `$XDG_CACHE_HOME/wrun`, or `~/.cache/wrun`.
pub fn cache_folder() -> Result<PathBuf> {
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = absolute("XDG_CACHE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".cache")));
    Ok(cache.context("neither XDG_CACHE_HOME nor HOME names a folder")?.join("wrun"))
}

fn is_intact(archive: &[u8]) -> bool {
    let digest = base64::engine::general_purpose::STANDARD.encode(Sha512::digest(archive));
    INTEGRITY.strip_prefix("sha512-") == Some(&digest)
}

fn fetch(cache: &Path, path: &Path, say: &mut dyn FnMut(&str)) -> Result<Vec<u8>> {
    let folder = cache.join(format!("npm-{}", std::process::id()));
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let fetched = match npm_pack(&folder, say) {
        Ok(Some(archive)) => Ok(archive),
        Ok(None) => download(say),
        Err(error) => Err(error),
    };
    let kept = fetched.and_then(|archive| {
        ensure!(is_intact(&archive), "{PACKAGE} {PACKAGE_VERSION} is not what it was: its digest is not {INTEGRITY}");
        let partial = folder.join("archive");
        fs::write(&partial, &archive).with_context(|| format!("cannot write {}", partial.display()))?;
        fs::rename(&partial, path).with_context(|| format!("cannot rename {}", partial.display()))?;
        Ok(archive)
    });
    fs::remove_dir_all(&folder).with_context(|| format!("cannot remove {}", folder.display()))?;
    kept
}

/// Fetches the package with npm. Returns `None` if npm is not installed.
fn npm_pack(folder: &Path, say: &mut dyn FnMut(&str)) -> Result<Option<Vec<u8>>> {
    let mut npm = Command::new("npm");
    npm.args(["pack", "--silent", "--ignore-scripts"]).arg(format!("{PACKAGE}@{PACKAGE_VERSION}"));
    let started = npm.current_dir(folder).stdin(Stdio::null()).stdout(Stdio::piped()).spawn();
    let running = match started {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        started => started.context("cannot start npm, which fetches Ruby")?,
    };
    say(&format!("fetching {PACKAGE} {PACKAGE_VERSION} (33 MB) with npm"));
    let output = running.wait_with_output()?;
    ensure!(output.status.success(), "npm could not fetch {PACKAGE} {PACKAGE_VERSION} ({})", output.status);
    let name = String::from_utf8(output.stdout)?;
    let path = folder.join(name.trim());
    Ok(Some(fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?))
}

/// Fetches the package from the public registry.
fn download(say: &mut dyn FnMut(&str)) -> Result<Vec<u8>> {
    let name = PACKAGE.rsplit('/').next().unwrap_or(PACKAGE);
    let address = format!("{REGISTRY}/{PACKAGE}/-/{name}-{PACKAGE_VERSION}.tgz");
    say(&format!("fetching {address} (33 MB)"));
    let tls = TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).build();
    let agent: Agent = Agent::config_builder().tls_config(tls).timeout_global(Some(LONGEST)).build().into();
    let response = agent.get(&address).call();
    let mut response =
        response.with_context(|| format!("cannot fetch {address}; npm, if installed, is asked instead"))?;
    let archive = response.body_mut().with_config().limit(LARGEST).read_to_vec();
    archive.with_context(|| format!("cannot fetch {address} whole"))
}

fn unpack(archive: &[u8]) -> Result<Package> {
    let (mut ruby, mut ruby_with_library, mut notice) = (None, None, None);
    let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(archive));
    for entry in archive.entries()? {
        let entry = entry?;
        let path = entry.path()?.to_string_lossy().into_owned();
        let slot = match path.as_str() {
            "package/dist/ruby.wasm" => &mut ruby,
            "package/dist/ruby+stdlib.wasm" => &mut ruby_with_library,
            "package/dist/NOTICE" => &mut notice,
            _ => continue,
        };
        let mut bytes = Vec::new();
        entry.take(LARGEST).read_to_end(&mut bytes)?;
        *slot = Some(bytes);
    }
    match (ruby, ruby_with_library, notice) {
        (Some(ruby), Some(ruby_with_library), Some(notice)) => Ok(Package { ruby, ruby_with_library, notice }),
        _ => bail!("{PACKAGE} {PACKAGE_VERSION} lacks one of ruby.wasm, ruby+stdlib.wasm and NOTICE"),
    }
}
