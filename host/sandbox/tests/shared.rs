//! Tests shared components: trusted native code is mapped, and other native code is compiled again.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod support;

use sandbox::{Compiler, Limits, NativeCache, ReadComponent, Sandbox, SharedComponent};
use std::cell::Cell;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use support::{finish, services};

/// A shared component in a folder. It counts its reads, which equal its compilations.
#[derive(Debug)]
struct Kept {
    path: PathBuf,
    digest: String,
    read: Cell<u32>,
}

impl ReadComponent for Kept {
    fn read(&self) -> std::io::Result<Vec<u8>> {
        self.read.set(self.read.get() + 1);
        std::fs::read(&self.path)
    }
}

impl Kept {
    fn new(folder: &Path) -> Self {
        let path = folder.join("runtime.wasm");
        let component = wat::parse_str(
            r#"(component
                (core module $m (memory 1) (data (i32.const 8) "something") (func (export "serve")))
                (core instance $i (instantiate $m))
                (func (export "serve") (canon lift (core func $i "serve"))))"#,
        );
        std::fs::write(&path, component.unwrap()).unwrap();
        Self { path, digest: "5".repeat(64), read: Cell::new(0) }
    }

    fn shared(&self) -> SharedComponent<'_> {
        SharedComponent { path: &self.path, digest: &self.digest, read: self }
    }

    /// Opens the component in a new sandbox, as another run would. Returns the number of compilations.
    fn compiled(&self, cache: Option<&Path>) -> u32 {
        self.read.set(0);
        let cache = cache.map(|folder| NativeCache::new(folder, [1; 32]).unwrap());
        let sandbox = Sandbox::new(cache, Compiler::Here).unwrap();
        for _ in 0..2 {
            let services = services("team");
            finish(sandbox.open("team", self.shared(), &Limits::default(), services)).map(drop).unwrap();
        }
        self.read.get()
    }
}

/// A temporary folder of one test, which is removed on drop.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("wrun-shared-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        Self(path)
    }

    fn file(&self, ending: &str) -> PathBuf {
        let paths = std::fs::read_dir(&self.0).unwrap().map(|entry| entry.unwrap().path());
        paths.into_iter().find(|path| path.to_string_lossy().ends_with(ending)).unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn native_code_is_made_once_and_kept() {
    let (here, cache) = (Folder::new("once"), Folder::new("once-cache"));
    let runtime = Kept::new(&here.0);
    assert_eq!(runtime.compiled(Some(&cache.0)), 1);
    assert_eq!(runtime.compiled(Some(&cache.0)), 0, "another run takes what was kept");
    assert_eq!(runtime.compiled(None), 1, "who keeps nothing compiles");
}

#[test]
fn kept_code_that_somebody_changed_is_made_again() {
    let (here, cache) = (Folder::new("changed"), Folder::new("changed-cache"));
    let runtime = Kept::new(&here.0);
    runtime.compiled(Some(&cache.0));
    let (native, tags) = (cache.file(".native"), cache.file(".tags"));
    let good = std::fs::read(&native).unwrap();
    let mut bad = good.clone();
    let middle = bad.len() / 2;
    bad[middle] ^= 1;
    std::fs::write(&native, &bad).unwrap();
    assert_eq!(runtime.compiled(Some(&cache.0)), 1, "a changed byte");
    assert_eq!(runtime.compiled(Some(&cache.0)), 0);
    std::fs::write(&tags, [0; 64]).unwrap();
    assert_eq!(runtime.compiled(Some(&cache.0)), 1, "tags of another");
    std::fs::remove_file(&tags).unwrap();
    assert_eq!(runtime.compiled(Some(&cache.0)), 1, "no tags");
    // A file restored from a backup has another identity and the same content. Its content is verified once.
    let copy = cache.0.join("copy");
    std::fs::copy(&native, &copy).unwrap();
    std::fs::rename(&copy, &native).unwrap();
    assert_eq!(runtime.compiled(Some(&cache.0)), 0, "the same content in another file");
}

#[test]
fn shipped_code_counts_where_only_root_can_write() {
    let here = Folder::new("shipped");
    let runtime = Kept::new(&here.0);
    let native = Sandbox::new(None, Compiler::Here).unwrap().ship_native(runtime.shared()).unwrap();
    assert_eq!(runtime.compiled(None), 0, "shipped code is used as it is");
    let mode = |path: &Path, mode| std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    mode(&native, 0o666);
    assert_eq!(runtime.compiled(None), 1, "others can write to the file");
    mode(&native, 0o644);
    mode(&here.0, 0o777);
    assert_eq!(runtime.compiled(None), 1, "others can write to the folder");
    mode(&here.0, 0o755);
    assert_eq!(runtime.compiled(None), 0);
    let elsewhere = here.0.join("elsewhere");
    std::fs::rename(&native, &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &native).unwrap();
    assert_eq!(runtime.compiled(None), 1, "a link is not followed");
    std::fs::remove_file(&native).unwrap();
    std::fs::write(&native, "no native code").unwrap();
    assert_eq!(runtime.compiled(None), 1, "what is not native code");
}

#[test]
fn another_component_has_other_native_code() {
    let here = Folder::new("another");
    let runtime = Kept::new(&here.0);
    Sandbox::new(None, Compiler::Here).unwrap().ship_native(runtime.shared()).unwrap();
    let newer = Kept { path: runtime.path.clone(), digest: "6".repeat(64), read: Cell::new(0) };
    assert_eq!(newer.compiled(None), 1);
    assert_eq!(runtime.compiled(None), 0);
}
