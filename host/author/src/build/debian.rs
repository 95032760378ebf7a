//! Unpacks Debian's Rust compiler into the cache folder, without installing it.
//!
//! Debian has a current compiler for its browsers, `rustc-web`, and a package with the sources of the standard library.
//! Neither package includes a `std` for WebAssembly. But the compiler supports the target, and can build `std` from these
//! sources; rustc refuses those of another version. This downloads about 140 MB, builds for a minute, and leaves some 380 MB
//! in one folder per version. It compiles guests only; the host is always built by the installed Rust.
//!
//! The folder is made under another name and renamed at the end, so it is complete or does not exist. A set-up holds a lock
//! file, and first removes the remains of an interrupted one.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::command::{CommandError, find_program, output_of};
use super::toolchain::{GUEST_TARGET, GuestCompiler, holds_standard_library};

/// First part of the folder's name. The number counts changes to what the folder holds.
const FOLDER_PREFIX: &str = "guest-rust-2-";

/// First part of the name of a folder that is being made.
const PARTIAL_PREFIX: &str = "guest-rust-partial-";

/// The compiler and the sources of its standard library. What else is needed follows from their dependencies.
const PACKAGES: [&str; 2] = ["rustc-web", "rust-web-src"];

/// Dependencies that are fetched too; all others (libc, gcc) are on any machine that can build Rust programs.
const DEPENDENCY_PREFIXES: [&str; 2] = ["libstd-rust-web", "libllvm"];

/// The compiler flags of the official build of the standard library, as far as they matter for guests.
const STANDARD_LIBRARY_FLAGS: &str = "-Zforce-unstable-if-unmarked -Cembed-bitcode=yes -Cdebuginfo=0 -Cpanic=abort";

/// Largest number of packages, in case dependencies in the index never end.
const PACKAGE_LIMIT: usize = 12;

/// Why Debian's compiler could not be set up.
#[derive(Debug, thiserror::Error)]
pub enum DebianError {
    #[error("{program} is missing: {remedy}")]
    MissingProgram { program: &'static str, remedy: &'static str },
    #[error("the installed Rust has no rust-lld, which links WebAssembly: install Rust from https://rustup.rs")]
    NoLinker,
    #[error("no package source of this machine offers {package}: check /etc/apt/sources.list.d and the mirror")]
    NoPackage { package: String, source: Option<CommandError> },
    #[error("the package {package} holds no {what}")]
    UnexpectedContent { package: &'static str, what: String },
    #[error("cannot build the standard library for guests")]
    StandardLibrary { source: CommandError },
    #[error(transparent)]
    Command(#[from] CommandError),
    #[error("cannot {action} {}", path.display())]
    File { action: &'static str, path: PathBuf, source: std::io::Error },
}

/// Returns the newest complete compiler in the cache folder.
pub(super) fn ready_compiler(cache_folder: &Path) -> Option<GuestCompiler> {
    let entries = fs::read_dir(cache_folder).ok()?;
    let named = entries.flatten().filter(|entry| entry.file_name().to_string_lossy().starts_with(FOLDER_PREFIX));
    let newest = named.map(|entry| entry.path()).max()?;
    // The linker belongs to the installed Rust, which may have been upgraded since.
    if !linker_link(&newest).exists() {
        link_linker(&newest).ok()?;
    }
    Some(GuestCompiler::at(newest.join("rustc")))
}

/// Fetches, unpacks and completes the compiler. Announces what it does after all checks and before the work.
pub(super) fn set_up(cache_folder: &Path, announce: &mut dyn FnMut(&str)) -> Result<GuestCompiler, DebianError> {
    for program in ["apt-get", "apt-cache", "dpkg-deb"] {
        let remedy = "guests are built with rustup's target, or on Debian with Debian's compiler";
        find_program(program).ok_or(DebianError::MissingProgram { program, remedy })?;
    }
    find_linker()?;
    fs::create_dir_all(cache_folder).map_err(|source| file_error("make", cache_folder, source))?;
    let lock = lock(cache_folder, announce)?;
    if let Some(compiler) = ready_compiler(cache_folder) {
        return Ok(compiler);
    }
    remove_partial_folders(cache_folder)?;
    let partial = cache_folder.join(format!("{PARTIAL_PREFIX}{}", std::process::id()));
    let made = set_up_in(&partial, announce).and_then(|version| {
        let folder = cache_folder.join(format!("{FOLDER_PREFIX}{}", version.replace([':', '/'], "_")));
        fs::rename(&partial, &folder).map_err(|source| file_error("rename", &partial, source))?;
        Ok(GuestCompiler::at(folder.join("rustc")))
    });
    if made.is_err() {
        // Only the first error is reported. The next set-up removes files that stay.
        let _ignored = fs::remove_dir_all(&partial);
    }
    drop(lock);
    made
}

/// Makes the whole compiler in `folder` and returns the version of Debian's package.
fn set_up_in(folder: &Path, announce: &mut dyn FnMut(&str)) -> Result<String, DebianError> {
    fs::create_dir_all(folder).map_err(|source| file_error("make", folder, source))?;
    let index = PackageIndex::open(folder, announce)?;
    let packages = index.packages()?;
    let version = packages.first().map(|package| package.version.clone()).unwrap_or_default();
    announce(&format!(
        "the installed Rust lacks the target {GUEST_TARGET}: fetching Debian's Rust compiler {version} ({} MB) and \
         building its standard library, once; this takes a minute or two and installs nothing system-wide",
        packages.iter().map(|package| package.size).sum::<u64>() / 1_000_000
    ));
    let root = folder.join("root");
    unpack(&index, &packages, folder, &root)?;
    write_wrapper(folder)?;
    link_linker(folder)?;
    build_standard_library(folder, &root)?;
    for left in [root.join("usr/src"), folder.join("index")] {
        if left.exists() {
            fs::remove_dir_all(&left).map_err(|source| file_error("remove", &left, source))?;
        }
    }
    Ok(version)
}

/// One package as the index describes it.
struct Package {
    name: String,
    version: String,
    dependencies: Vec<String>,
    /// The size of the packed file, in bytes.
    size: u64,
}

/// The machine's package index, or a private one that is downloaded if the machine's is empty, as in a new container.
struct PackageIndex {
    options: Vec<String>,
}

impl PackageIndex {
    fn open(folder: &Path, announce: &mut dyn FnMut(&str)) -> Result<Self, DebianError> {
        let machine = Self { options: vec!["-o".into(), "APT::Sandbox::User=root".into()] };
        if machine.packages().is_ok() {
            return Ok(machine);
        }
        announce("the package index names no rustc-web: reading the package sources anew");
        let lists = folder.join("index/lists");
        let archives = folder.join("index/cache");
        for path in [lists.join("partial"), archives.join("archives/partial")] {
            fs::create_dir_all(&path).map_err(|source| file_error("make", &path, source))?;
        }
        let mut private = machine;
        private.options.extend(["-o".into(), format!("Dir::State::Lists={}", lists.display())]);
        private.options.extend(["-o".into(), format!("Dir::Cache={}", archives.display())]);
        let updated = output_of(Command::new("apt-get").args(&private.options).args(["-qq", "update"]));
        match (private.packages(), updated) {
            (Ok(_), _) => Ok(private),
            (Err(DebianError::NoPackage { package, .. }), Err(source)) => {
                Err(DebianError::NoPackage { package, source: Some(source) })
            }
            (Err(error), _) => Err(error),
        }
    }

    /// Returns the wanted packages, and the dependencies that not every machine has, the compiler first.
    fn packages(&self) -> Result<Vec<Package>, DebianError> {
        let mut wanted: Vec<String> = PACKAGES.iter().map(ToString::to_string).collect();
        let mut found: Vec<Package> = Vec::new();
        while let Some(name) = wanted.get(found.len()).cloned() {
            let text = output_of(Command::new("apt-cache").args(&self.options).args([
                "show",
                "--no-all-versions",
                name.as_str(),
            ]));
            let package = text.ok().and_then(|text| parse_package(&text));
            let package = package.ok_or(DebianError::NoPackage { package: name, source: None })?;
            for dependency in &package.dependencies {
                let taken = DEPENDENCY_PREFIXES.iter().any(|prefix| dependency.starts_with(prefix));
                if taken && !wanted.contains(dependency) && wanted.len() < PACKAGE_LIMIT {
                    wanted.push(dependency.clone());
                }
            }
            found.push(package);
        }
        Ok(found)
    }
}

/// Reads the first paragraph of `apt-cache show`.
fn parse_package(text: &str) -> Option<Package> {
    let paragraph = text.split("\n\n").next()?;
    let field =
        |name: &str| paragraph.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": ")).map(str::trim);
    let dependencies = field("Depends").unwrap_or_default().split([',', '|']);
    Some(Package {
        name: field("Package")?.to_owned(),
        version: field("Version")?.to_owned(),
        dependencies: dependencies.filter_map(|one| one.split_whitespace().next()).map(str::to_owned).collect(),
        size: field("Size").and_then(|size| size.parse().ok()).unwrap_or(0),
    })
}

/// Downloads the packages and unpacks them below `root`.
fn unpack(index: &PackageIndex, packages: &[Package], folder: &Path, root: &Path) -> Result<(), DebianError> {
    let downloads = folder.join("packages");
    fs::create_dir_all(&downloads).map_err(|source| file_error("make", &downloads, source))?;
    let exact = packages.iter().map(|package| format!("{}={}", package.name, package.version));
    output_of(
        Command::new("apt-get").args(&index.options).args(["-qq", "download"]).args(exact).current_dir(&downloads),
    )?;
    let entries = fs::read_dir(&downloads).map_err(|source| file_error("read", &downloads, source))?;
    for entry in entries.flatten() {
        output_of(Command::new("dpkg-deb").arg("-x").arg(entry.path()).arg(root))?;
    }
    fs::remove_dir_all(&downloads).map_err(|source| file_error("remove", &downloads, source))
}

/// Writes the `rustc` script that cargo starts. It starts Debian's compiler, and finds its libraries relative to itself, so
/// that the folder can be moved.
fn write_wrapper(folder: &Path) -> Result<(), DebianError> {
    let libraries = library_folder(folder)?;
    let script = format!(
        "#!/bin/sh\n# Debian's Rust compiler for guests; made by wrun.\nhere=${{0%/*}}\n\
         LD_LIBRARY_PATH=$here/root/usr/lib/{libraries}${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}} \\\n\
         exec \"$here/root/usr/bin/rustc\" \"$@\"\n"
    );
    let path = folder.join("rustc");
    fs::write(&path, script).map_err(|source| file_error("write", &path, source))?;
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).map_err(|source| file_error("change", &path, source))
}

/// The name of Debian's folder of this architecture's libraries, such as `x86_64-linux-gnu`.
fn library_folder(folder: &Path) -> Result<String, DebianError> {
    let libraries = folder.join("root/usr/lib");
    let entries = fs::read_dir(&libraries).map_err(|source| file_error("read", &libraries, source))?;
    let mut names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.find(|name| name.contains("-linux-gnu")).ok_or_else(|| DebianError::UnexpectedContent {
        package: "rustc-web",
        what: "libraries for this architecture".to_owned(),
    })
}

/// Builds `std` for guests from the compiler's own sources, with the flags of the official build, and installs it.
fn build_standard_library(folder: &Path, root: &Path) -> Result<(), DebianError> {
    let sources = root.join("usr/lib/rustlib/src/rust/library");
    if !sources.join("Cargo.toml").exists() {
        return Err(DebianError::UnexpectedContent { package: "rust-web-src", what: sources.display().to_string() });
    }
    let target = folder.join("build");
    let mut cargo = Command::new("cargo");
    cargo
        .args(["build", "--quiet", "--release", "--locked", "--package", "sysroot", "--target", GUEST_TARGET])
        .current_dir(&sources)
        .env("RUSTC", folder.join("rustc"))
        // The standard library may use unstable features, and this variable allows them, as in the official build.
        .env("RUSTC_BOOTSTRAP", "1")
        .env("__CARGO_DEFAULT_LIB_METADATA", "stablestd")
        .env("CARGO_TARGET_DIR", &target)
        .env("RUSTFLAGS", format!("{STANDARD_LIBRARY_FLAGS} --remap-path-prefix={}=rust", sources.display()));
    for name in ["RUSTC_WRAPPER", "RUSTC_WORKSPACE_WRAPPER", "CARGO_ENCODED_RUSTFLAGS", "CARGO_BUILD_TARGET"] {
        cargo.env_remove(name);
    }
    output_of(&mut cargo).map_err(|source| DebianError::StandardLibrary { source })?;
    let built = target.join(GUEST_TARGET).join("release/deps");
    let installed = root.join("usr/lib/rustlib").join(GUEST_TARGET).join("lib");
    fs::create_dir_all(&installed).map_err(|source| file_error("make", &installed, source))?;
    for entry in fs::read_dir(&built).map_err(|source| file_error("read", &built, source))?.flatten() {
        let path = entry.path();
        if path.extension().is_some_and(|extension| extension == "rlib") {
            let copy = installed.join(entry.file_name());
            fs::copy(&path, &copy).map_err(|source| file_error("copy", &path, source))?;
        }
    }
    if !holds_standard_library(&installed) {
        return Err(DebianError::UnexpectedContent { package: "rust-web-src", what: "libstd".to_owned() });
    }
    fs::remove_dir_all(&target).map_err(|source| file_error("remove", &target, source))
}

/// Returns the path of a link to the installed Rust's linker. Debian does not ship `rust-lld`, and the compiler looks for it
/// there.
fn linker_link(folder: &Path) -> PathBuf {
    folder.join("root/usr/lib/rustlib").join(host_triple()).join("bin/rust-lld")
}

fn host_triple() -> String {
    format!("{}-unknown-linux-gnu", std::env::consts::ARCH)
}

fn link_linker(folder: &Path) -> Result<(), DebianError> {
    let link = linker_link(folder);
    let parent = link.parent().unwrap_or(folder);
    fs::create_dir_all(parent).map_err(|source| file_error("make", parent, source))?;
    if link.is_symlink() {
        fs::remove_file(&link).map_err(|source| file_error("remove", &link, source))?;
    }
    std::os::unix::fs::symlink(find_linker()?, &link).map_err(|source| file_error("make", &link, source))
}

/// The installed Rust's linker for WebAssembly.
fn find_linker() -> Result<PathBuf, DebianError> {
    let sysroot = output_of(Command::new("rustc").args(["--print", "sysroot"]))?;
    let linker = Path::new(sysroot.trim()).join("lib/rustlib").join(host_triple()).join("bin/rust-lld");
    if linker.exists() { Ok(linker) } else { Err(DebianError::NoLinker) }
}

/// Waits until no other process sets the compiler up.
fn lock(cache_folder: &Path, announce: &mut dyn FnMut(&str)) -> Result<fs::File, DebianError> {
    let path = cache_folder.join("guest-rust.lock");
    let file = fs::File::create(&path).map_err(|source| file_error("make", &path, source))?;
    if file.try_lock().is_err() {
        announce("waiting for another process that sets up the compiler for guests");
        file.lock().map_err(|source| file_error("lock", &path, source))?;
    }
    Ok(file)
}

fn remove_partial_folders(cache_folder: &Path) -> Result<(), DebianError> {
    let entries = fs::read_dir(cache_folder).map_err(|source| file_error("read", cache_folder, source))?;
    for entry in entries.flatten() {
        if entry.file_name().to_string_lossy().starts_with(PARTIAL_PREFIX) {
            let path = entry.path();
            fs::remove_dir_all(&path).map_err(|source| file_error("remove", &path, source))?;
        }
    }
    Ok(())
}

fn file_error(action: &'static str, path: &Path, source: std::io::Error) -> DebianError {
    DebianError::File { action, path: path.to_owned(), source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_read_from_the_index() {
        let text = "Package: rustc-web\nVersion: 1.96.0+dfsg1-1\nSize: 4449624\n\
                    Depends: libc6 (>= 2.34), libstd-rust-web-dev (= 1.96.0+dfsg1-1), gcc | clang\n\n\
                    Package: rustc-web\nVersion: 1.85.0\n";
        let package = parse_package(text).expect("a package");
        assert_eq!((package.name.as_str(), package.version.as_str()), ("rustc-web", "1.96.0+dfsg1-1"));
        assert_eq!(package.dependencies, ["libc6", "libstd-rust-web-dev", "gcc", "clang"]);
        assert_eq!(package.size, 4_449_624);
        assert!(parse_package("N: no packages found\n").is_none());
    }

    #[test]
    fn an_empty_cache_is_not_ready_and_partial_folders_are_removed() {
        let cache = tempfile::tempdir().expect("a temporary folder");
        assert!(ready_compiler(cache.path()).is_none());
        let partial = cache.path().join(format!("{PARTIAL_PREFIX}1"));
        fs::create_dir_all(partial.join("root/usr")).expect("a folder");
        assert!(ready_compiler(cache.path()).is_none(), "a folder that is being made is not ready");
        remove_partial_folders(cache.path()).expect("removal");
        assert!(!partial.exists());
    }

    #[test]
    fn the_newest_ready_folder_is_taken_and_its_linker_is_renewed() {
        let cache = tempfile::tempdir().expect("a temporary folder");
        for version in ["1.95.0", "1.96.0"] {
            fs::create_dir_all(cache.path().join(format!("{FOLDER_PREFIX}{version}"))).expect("a folder");
        }
        let newest = cache.path().join(format!("{FOLDER_PREFIX}1.96.0"));
        assert_eq!(ready_compiler(cache.path()), Some(GuestCompiler::at(newest.join("rustc"))));
        assert!(linker_link(&newest).exists());
    }
}
