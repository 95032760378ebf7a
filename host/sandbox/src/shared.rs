//! Loads native code, above all of components that policies share, such as a language's runtime. A shared component is a
//! large file beside the program. Its digest is known before it is read.
//!
//! Its native code has 60 MB, too much to read, hash and copy in each run. So the file is mapped into memory. A verified file
//! is remembered by its identity: device, inode, size and the times of its last changes. A keyed tag authenticates the
//! identity. Each write to the file changes these times.
//!
//! Native code may also be shipped beside the component. Like the program itself, it is trusted because the administrator
//! installed it. It is used only if the file and its folder are writable by root or the present user alone. Its name must
//! also match the component, the engine and the processor. Packages ship code for all processors of a level.

use crate::cache::{NATIVE, NativeCache, PORTABLE, open, tags_of};
use cap_std::ambient_authority;
use cap_std::fs::{Dir, Permissions, PermissionsExt as _};
use cap_std_ext::cap_tempfile::TempFile;
use std::fs::File;
use std::io::{self, Read, Seek as _, Write as _};
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;
use wasmtime::Engine;
use wasmtime::component::Component;

/// The size of a block in bytes. Blocks of zeros are not written, because half of native code is a memory image with holes.
const PAGE: usize = 4096;

/// The component of a policy's instance.
#[derive(Debug, Clone, Copy)]
pub enum Code<'a> {
    /// The policy's own component.
    Own {
        /// The component's bytes, as the artifact holds them.
        bytes: &'a [u8],
        /// The digest of the bytes, if the caller knows it. Otherwise the sandbox computes one.
        digest: Option<&'a str>,
    },
    /// A component that policies share.
    Shared(SharedComponent<'a>),
}

impl<'a> From<&'a [u8]> for Code<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Self::Own { bytes, digest: None }
    }
}

impl<'a> From<&'a Vec<u8>> for Code<'a> {
    fn from(bytes: &'a Vec<u8>) -> Self {
        Self::Own { bytes, digest: None }
    }
}

impl<'a> From<SharedComponent<'a>> for Code<'a> {
    fn from(shared: SharedComponent<'a>) -> Self {
        Self::Shared(shared)
    }
}

/// A component that policies share.
#[derive(Debug, Clone, Copy)]
pub struct SharedComponent<'a> {
    /// The path of the component's file.
    pub path: &'a Path,
    /// The SHA-256 of the file at `path`, in hexadecimal. The caller has verified it.
    pub digest: &'a str,
    /// Reads and verifies the component if it must be compiled, which takes about a minute.
    pub read: &'a dyn ReadComponent,
}

/// Reads a shared component.
pub trait ReadComponent: std::fmt::Debug {
    /// Returns the component's bytes after checking their digest.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, or if its content has changed.
    fn read(&self) -> io::Result<Vec<u8>>;
}

/// A hash of the target of native code: an engine, its settings and a processor. It is kept because the query takes most of a
/// millisecond.
#[derive(Clone)]
pub(crate) struct MadeFor(blake3::Hasher);

impl MadeFor {
    pub(crate) fn of(engine: &Engine) -> Self {
        let mut hasher = Self(blake3::Hasher::new());
        std::hash::Hash::hash(&engine.precompile_compatibility_hash(), &mut hasher);
        hasher
    }

    /// Returns the file name of a component's native code, which depends on the component and the target.
    pub(crate) fn native_name(&self, digest: &str) -> String {
        let mut hasher = self.0.clone();
        hasher.update(digest.as_bytes());
        let hash = hasher.finalize().to_hex();
        format!("{}{NATIVE}", hash.get(..32).unwrap_or(&hash))
    }
}

impl std::hash::Hasher for MadeFor {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn finish(&self) -> u64 {
        0
    }
}

/// Returns the file name of a component's native code for all processors of a level. The engine checks compatibility when it
/// loads the file.
pub(crate) fn portable_name(digest: &str) -> String {
    format!("{}.{PORTABLE}{NATIVE}", digest.get(..32).unwrap_or(digest))
}

/// Loads native code that was shipped beside a component, or returns `None` if it is absent or not trusted.
pub(crate) fn shipped(engine: &Engine, component: &Path, name: &str) -> Option<Component> {
    let folder = component.parent()?;
    let opened = Dir::open_ambient_dir(folder, ambient_authority()).ok()?;
    let file = open(&opened, name)?;
    is_installed(&file, folder).then(|| map(engine, &file)).flatten()
}

/// Returns true if only root or the present user can write to both the file and its folder.
#[must_use]
pub fn is_installed(file: &File, folder: &Path) -> bool {
    let owned = |about: io::Result<std::fs::Metadata>| {
        about.is_ok_and(|about| {
            let owner = about.uid();
            let is_ours = owner == 0 || owner == rustix::process::geteuid().as_raw();
            is_ours && about.permissions().mode() & 0o022 == 0
        })
    };
    owned(file.metadata()) && owned(std::fs::metadata(folder))
}

/// Loads native code from the cache, or returns `None` if it is absent or its tags are invalid.
pub(crate) fn kept(cache: &NativeCache, engine: &Engine, name: &str) -> Option<Component> {
    let file = open(cache.folder(), name)?;
    let mut tags = [0; 64];
    open(cache.folder(), &tags_of(name))?.read_exact(&mut tags).ok()?;
    let (content, identity) = tags.split_at_checked(32)?;
    let same = |tag: &[u8], hash: blake3::Hash| blake3::Hash::from_slice(tag).is_ok_and(|tag| tag == hash);
    if !same(identity, identity_tag(cache, name, &file)?) {
        // The file was moved or restored together with its tags, so its whole content is verified once more.
        if !same(content, content_tag(cache, name, &file)?) {
            return None;
        }
        write_tags(cache, name, &file)?;
    }
    cache.used(name);
    map(engine, &file)
}

/// Keeps native code in the cache. Returns `None` if that fails. Then the component is compiled again next time.
pub(crate) fn keep(cache: &NativeCache, name: &str, bytes: u64, code: &mut dyn Read) -> Option<()> {
    if !cache.has_room_for(bytes) {
        return None;
    }
    let written = write_into(cache.folder(), name, code, 0o600);
    let tagged = written.ok().and_then(|file| write_tags(cache, name, &file));
    if tagged.is_none() {
        let _ = cache.folder().remove_file(name);
    }
    cache.prune();
    tagged
}

/// Writes native code into a folder atomically, with holes instead of zeros.
pub(crate) fn write_code(folder: &Path, name: &str, code: &mut dyn Read, mode: u32) -> io::Result<File> {
    write_into(&Dir::open_ambient_dir(folder, ambient_authority())?, name, code, mode)
}

/// Does the work of [`write_code`]. The file is not flushed to the disk. After a power failure, a damaged file lacks a valid
/// tag and is compiled again.
fn write_into(folder: &Dir, name: &str, code: &mut dyn Read, mode: u32) -> io::Result<File> {
    let unnamed = TempFile::new(folder)?;
    unnamed.as_file().set_permissions(Permissions::from_mode(mode))?;
    let mut file = unnamed.as_file().try_clone()?.into_std();
    write_with_holes(&mut file, code)?;
    unnamed.replace(name)?;
    Ok(file)
}

fn write_with_holes(file: &mut File, code: &mut dyn Read) -> io::Result<()> {
    let mut page = Vec::with_capacity(PAGE);
    let mut length = 0;
    loop {
        page.clear();
        let count = (&mut *code).take(PAGE as u64).read_to_end(&mut page)?;
        if count == 0 {
            break;
        }
        length += count as u64;
        if page.iter().all(|byte| *byte == 0) {
            file.seek_relative(i64::try_from(count).unwrap_or(0))?;
        } else {
            file.write_all(&page)?;
        }
    }
    file.set_len(length)
}

fn write_tags(cache: &NativeCache, name: &str, file: &File) -> Option<()> {
    let mut tags = content_tag(cache, name, file)?.as_bytes().to_vec();
    tags.extend(identity_tag(cache, name, file)?.as_bytes());
    let unnamed = TempFile::new(cache.folder()).ok()?;
    unnamed.as_file().set_permissions(Permissions::from_mode(0o600)).ok()?;
    unnamed.as_file().write_all(&tags).ok()?;
    unnamed.replace(tags_of(name)).ok()
}

fn content_tag(cache: &NativeCache, name: &str, mut file: &File) -> Option<blake3::Hash> {
    let mut hasher = cache.keyed("native code");
    hasher.update(name.as_bytes());
    let mut piece = vec![0; 1 << 20];
    file.rewind().ok()?;
    loop {
        let count = file.read(&mut piece).ok()?;
        if count == 0 {
            return Some(hasher.finalize());
        }
        hasher.update(piece.get(..count)?);
    }
}

fn identity_tag(cache: &NativeCache, name: &str, file: &File) -> Option<blake3::Hash> {
    let mut hasher = cache.keyed("identity");
    hasher.update(name.as_bytes());
    hasher.update(&identity(file)?);
    Some(hasher.finalize())
}

/// Returns the attributes of a file that change with its content.
fn identity(file: &File) -> Option<Vec<u8>> {
    let about = file.metadata().ok()?;
    let times = [about.mtime(), about.mtime_nsec(), about.ctime(), about.ctime_nsec()];
    let mut words = [about.dev(), about.ino(), about.size()].map(u64::to_le_bytes).concat();
    words.extend(times.map(i64::to_le_bytes).concat());
    Some(words)
}

/// Maps native code into memory. It maps the open file itself, even if another file has its name by now.
pub(crate) fn map(engine: &Engine, file: &File) -> Option<Component> {
    crate::cache::map_native(engine, Path::new(&format!("/proc/self/fd/{}", file.as_raw_fd())))
}
