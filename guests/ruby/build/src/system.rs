//! Simulates the system on which Ruby runs during the build: files in memory, captured output, a constant clock and
//! predictable random bytes. So builds are reproducible.
//!
//! Rejected: a general implementation of WASI, because it would bring the build machine's files, times and inode numbers into
//! the image.

use crate::files::Node;
use anyhow::Result;
use wasmtime::{Caller, Extern, Linker, Memory, Module, Val};

/// Errors of WASI's first preview.
const SUCCESS: i32 = 0;
const EBADF: i32 = 8;
const EINVAL: i32 = 28;
const ENOENT: i32 = 44;
const ENOSYS: i32 = 52;
const ENOTDIR: i32 = 54;

const TYPE_FOLDER: u8 = 3;
const TYPE_FILE: u8 = 4;

/// The first descriptor of the folders that are open at the start.
const FIRST_FOLDER: usize = 3;

/// The constant time of the build: the first second of 2026, in nanoseconds.
const NOW: u64 = 1_767_225_600_000_000_000;

/// An open file or folder.
#[derive(Clone)]
struct Open {
    /// The index of the tree, and the path in it.
    tree: usize,
    path: String,
    offset: u64,
}

/// The state of the system.
#[derive(Default)]
pub(crate) struct System {
    /// The trees with the paths at which Ruby sees them.
    trees: Vec<(String, Node)>,
    open: Vec<Option<Open>>,
    /// Text that Ruby wrote to standard output and standard error.
    pub(crate) output: Vec<u8>,
    pub(crate) errors: Vec<u8>,
    random: u64,
}

impl System {
    /// Creates a system with trees at the given paths.
    pub(crate) fn new(trees: Vec<(String, Node)>) -> Self {
        let mut open = vec![None; FIRST_FOLDER];
        open.extend((0..trees.len()).map(|tree| Some(Open { tree, path: String::new(), offset: 0 })));
        Self { trees, open, ..Self::default() }
    }

    fn opened(&self, descriptor: i32) -> Option<&Open> {
        self.open.get(usize::try_from(descriptor).ok()?)?.as_ref()
    }

    fn node(&self, open: &Open) -> Option<&Node> {
        self.trees.get(open.tree)?.1.at(&open.path)
    }
}

/// Ruby's memory, from a host function.
struct View<'a> {
    memory: Memory,
    caller: Caller<'a, System>,
}

impl<'a> View<'a> {
    fn new(mut caller: Caller<'a, System>) -> wasmtime::Result<Self> {
        match caller.get_export("memory") {
            Some(Extern::Memory(memory)) => Ok(Self { memory, caller }),
            _ => Err(wasmtime::Error::msg("Ruby exports no memory")),
        }
    }

    fn system(&mut self) -> &mut System {
        self.caller.data_mut()
    }

    /// Returns the file or folder of a descriptor.
    fn node(&self, descriptor: i32) -> Option<&Node> {
        let system = self.caller.data();
        system.opened(descriptor).and_then(|open| system.node(open))
    }

    fn read(&self, at: i32, length: i32) -> wasmtime::Result<Vec<u8>> {
        let mut bytes = vec![0; length.cast_unsigned() as usize];
        self.memory.read(&self.caller, at.cast_unsigned() as usize, &mut bytes)?;
        Ok(bytes)
    }

    fn read_text(&self, at: i32, length: i32) -> wasmtime::Result<String> {
        Ok(String::from_utf8_lossy(&self.read(at, length)?).into_owned())
    }

    fn write(&mut self, at: i32, bytes: &[u8]) -> wasmtime::Result<()> {
        Ok(self.memory.write(&mut self.caller, at.cast_unsigned() as usize, bytes)?)
    }

    fn write_u32(&mut self, at: i32, value: u32) -> wasmtime::Result<()> {
        self.write(at, &value.to_le_bytes())
    }

    /// Addresses and lengths of a list of buffers.
    fn buffers(&self, at: i32, count: i32) -> wasmtime::Result<Vec<(i32, i32)>> {
        let words = self.read(at, count.saturating_mul(8))?;
        let number = |bytes: &[u8]| bytes.try_into().map_or(0, i32::from_le_bytes);
        Ok(words
            .chunks_exact(8)
            .map(|pair| pair.split_at(4))
            .map(|(at, length)| (number(at), number(length)))
            .collect())
    }
}

/// Returns a file's status in WASI's layout: 64 bytes, without inode number and times.
fn status(node: &Node) -> [u8; 64] {
    let mut bytes = [0; 64];
    let (kind, size) = match node {
        Node::File(content) => (TYPE_FILE, content.len() as u64),
        Node::Folder(_) => (TYPE_FOLDER, 0),
    };
    let fields: [(usize, &[u8]); 3] = [(16, &[kind]), (24, &1_u64.to_le_bytes()), (32, &size.to_le_bytes())];
    for (at, field) in fields {
        if let Some(slot) = bytes.get_mut(at..at + field.len()) {
            slot.copy_from_slice(field);
        }
    }
    bytes
}

/// Resolves a path that is relative to a descriptor.
fn resolve(system: &System, descriptor: i32, path: &str) -> Result<Open, i32> {
    let folder = system.opened(descriptor).ok_or(EBADF)?;
    let path = format!("{}/{path}", folder.path);
    let open = Open { tree: folder.tree, path, offset: 0 };
    system.node(&open).map(|_| open.clone()).ok_or(ENOENT)
}

/// Defines all imports of a module. A function that this system lacks returns ENOSYS.
pub(crate) fn link(linker: &mut Linker<System>, module: &Module) -> Result<()> {
    link_descriptors(linker)?;
    link_paths(linker)?;
    link_time_and_chance(linker)?;
    for import in module.imports() {
        let Some(function) = import.ty().func().cloned() else { continue };
        let is_system = import.module() == "wasi_snapshot_preview1";
        let name = format!("{} {}", import.module(), import.name());
        // Handles are the values themselves; nothing is ever dropped.
        let is_handle = import.module() == "canonical_abi";
        let linked = linker.func_new(import.module(), import.name(), function, move |_, parameters, results| {
            match results.first_mut() {
                Some(result) if is_system => *result = Val::I32(ENOSYS),
                Some(result) if is_handle => *result = parameters.first().copied().unwrap_or(Val::I32(0)),
                _ if is_handle => {}
                _ => return Err(wasmtime::Error::msg(format!("Ruby called {name} while its image was made"))),
            }
            Ok(())
        });
        // An error means that the function was already defined above.
        drop(linked);
    }
    Ok(())
}

const WASI: &str = "wasi_snapshot_preview1";

/// The environment in which Ruby starts, which it reads once. Ruby's collector starts only when this many slots of 24, 48,
/// 96, 192 and 384 bytes are in use, or this many further bytes. A policy's instance lives for one run, and most runs end
/// before that. Ruby's own limits are for long processes. They cost a seventh of a run with 5,000 resources. Ruby still
/// allocates pages one by one, and if it gets no memory, the collector starts at once.
const ENVIRONMENT: [&str; 7] = [
    "RUBY_GC_HEAP_0_INIT_SLOTS=400000",
    "RUBY_GC_HEAP_1_INIT_SLOTS=160000",
    "RUBY_GC_HEAP_2_INIT_SLOTS=80000",
    "RUBY_GC_HEAP_3_INIT_SLOTS=20000",
    "RUBY_GC_HEAP_4_INIT_SLOTS=10000",
    "RUBY_GC_MALLOC_LIMIT=33554432",
    "RUBY_GC_OLDMALLOC_LIMIT=33554432",
];

fn link_descriptors(linker: &mut Linker<System>) -> Result<()> {
    linker.func_wrap(WASI, "fd_prestat_get", |caller: Caller<'_, System>, descriptor: i32, at: i32| {
        let mut view = View::new(caller)?;
        let name = view.system().opened(descriptor).filter(|open| open.path.is_empty()).map(|open| open.tree);
        let length = name.and_then(|tree| view.system().trees.get(tree)).map(|(name, _)| name.len());
        let Some(length) = length else { return wasmtime::Result::Ok(EBADF) };
        view.write_u32(at, 0)?;
        view.write_u32(at.wrapping_add(4), u32::try_from(length).unwrap_or(0))?;
        Ok(SUCCESS)
    })?;
    linker.func_wrap(WASI, "fd_prestat_dir_name", |caller: Caller<'_, System>, descriptor: i32, at: i32, _: i32| {
        let mut view = View::new(caller)?;
        let tree = view.system().opened(descriptor).map(|open| open.tree);
        let name = tree.and_then(|tree| view.system().trees.get(tree)).map(|(name, _)| name.clone());
        let Some(name) = name else { return wasmtime::Result::Ok(EBADF) };
        view.write(at, name.as_bytes())?;
        Ok(SUCCESS)
    })?;
    linker.func_wrap(WASI, "fd_fdstat_get", |caller: Caller<'_, System>, descriptor: i32, at: i32| {
        let mut view = View::new(caller)?;
        let kind = match view.node(descriptor) {
            Some(Node::File(_)) => TYPE_FILE,
            Some(Node::Folder(_)) => TYPE_FOLDER,
            None if (0..3).contains(&descriptor) => 0,
            None => return wasmtime::Result::Ok(EBADF),
        };
        // Grants all rights, because the build has nothing to protect from Ruby.
        view.write(at, &[kind, 0, 0, 0, 0, 0, 0, 0])?;
        view.write(at.wrapping_add(8), &[0xff; 16])?;
        Ok(SUCCESS)
    })?;
    linker.func_wrap(WASI, "fd_filestat_get", |caller: Caller<'_, System>, descriptor: i32, at: i32| {
        let mut view = View::new(caller)?;
        let found = view.system().opened(descriptor).cloned();
        let status = match found.and_then(|open| view.system().node(&open).map(status)) {
            Some(status) => status,
            None if (0..3).contains(&descriptor) => [0; 64],
            None => return wasmtime::Result::Ok(EBADF),
        };
        view.write(at, &status)?;
        Ok(SUCCESS)
    })?;
    linker.func_wrap(WASI, "fd_close", |mut caller: Caller<'_, System>, descriptor: i32| {
        let open = usize::try_from(descriptor).ok().and_then(|index| caller.data_mut().open.get_mut(index));
        open.map_or(EBADF, |open| {
            *open = None;
            SUCCESS
        })
    })?;
    linker.func_wrap(WASI, "fd_write", write_descriptor)?;
    linker.func_wrap(WASI, "fd_read", read_descriptor)?;
    linker.func_wrap(WASI, "fd_seek", seek_descriptor)?;
    linker.func_wrap(WASI, "fd_readdir", read_folder)?;
    Ok(())
}

fn write_descriptor(
    caller: Caller<'_, System>,
    descriptor: i32,
    buffers: i32,
    count: i32,
    at: i32,
) -> wasmtime::Result<i32> {
    let mut view = View::new(caller)?;
    let mut written = 0_u32;
    for (from, length) in view.buffers(buffers, count)? {
        let bytes = view.read(from, length)?;
        written = written.wrapping_add(length.cast_unsigned());
        match descriptor {
            1 => view.system().output.extend(bytes),
            2 => view.system().errors.extend(bytes),
            _ => return Ok(EBADF),
        }
    }
    view.write_u32(at, written)?;
    Ok(SUCCESS)
}

fn read_descriptor(
    caller: Caller<'_, System>,
    descriptor: i32,
    buffers: i32,
    count: i32,
    at: i32,
) -> wasmtime::Result<i32> {
    let mut view = View::new(caller)?;
    let Some(mut open) = view.system().opened(descriptor).cloned() else { return Ok(EBADF) };
    let mut read = 0_u32;
    for (to, length) in view.buffers(buffers, count)? {
        let Some(Node::File(content)) = view.system().node(&open) else { return Ok(EBADF) };
        let rest = usize::try_from(open.offset).ok().and_then(|offset| content.get(offset..)).unwrap_or_default();
        let piece = rest.get(..rest.len().min(length.cast_unsigned() as usize)).unwrap_or_default().to_vec();
        view.write(to, &piece)?;
        open.offset += piece.len() as u64;
        read = read.wrapping_add(u32::try_from(piece.len()).unwrap_or(0));
    }
    if let Some(slot) = usize::try_from(descriptor).ok().and_then(|index| view.system().open.get_mut(index)) {
        *slot = Some(open);
    }
    view.write_u32(at, read)?;
    Ok(SUCCESS)
}

fn seek_descriptor(
    caller: Caller<'_, System>,
    descriptor: i32,
    distance: i64,
    from: i32,
    at: i32,
) -> wasmtime::Result<i32> {
    let mut view = View::new(caller)?;
    let Some(open) = view.system().opened(descriptor).cloned() else { return Ok(EBADF) };
    let Some(Node::File(content)) = view.system().node(&open) else { return Ok(EBADF) };
    let base = match from {
        0 => 0,
        1 => open.offset,
        2 => content.len() as u64,
        _ => return Ok(EINVAL),
    };
    let Some(offset) = base.checked_add_signed(distance) else { return Ok(EINVAL) };
    if let Some(Some(open)) = usize::try_from(descriptor).ok().and_then(|index| view.system().open.get_mut(index)) {
        open.offset = offset;
    }
    view.write(at, &offset.to_le_bytes())?;
    Ok(SUCCESS)
}

/// Fills a buffer with directory entries: a head of 24 bytes and the name. A full buffer means that there may be more
/// entries.
fn read_folder(
    caller: Caller<'_, System>,
    descriptor: i32,
    buffer: i32,
    length: i32,
    cookie: i64,
    at: i32,
) -> wasmtime::Result<i32> {
    let mut view = View::new(caller)?;
    let Some(open) = view.system().opened(descriptor).cloned() else { return Ok(EBADF) };
    let Some(Node::Folder(entries)) = view.system().node(&open) else { return Ok(ENOTDIR) };
    let mut bytes = Vec::new();
    for (index, (name, node)) in entries.iter().enumerate().skip(usize::try_from(cookie).unwrap_or(usize::MAX)) {
        let kind = if matches!(node, Node::Folder(_)) { TYPE_FOLDER } else { TYPE_FILE };
        bytes.extend((index as u64 + 1).to_le_bytes());
        bytes.extend(0_u64.to_le_bytes());
        bytes.extend(u32::try_from(name.len()).unwrap_or(0).to_le_bytes());
        bytes.extend([kind, 0, 0, 0]);
        bytes.extend(name.as_bytes());
    }
    bytes.truncate(length.cast_unsigned() as usize);
    view.write(buffer, &bytes)?;
    view.write_u32(at, u32::try_from(bytes.len()).unwrap_or(0))?;
    Ok(SUCCESS)
}

fn link_paths(linker: &mut Linker<System>) -> Result<()> {
    linker.func_wrap(
        WASI,
        "path_filestat_get",
        |caller: Caller<'_, System>, descriptor: i32, _: i32, path: i32, length: i32, at: i32| {
            let mut view = View::new(caller)?;
            let path = view.read_text(path, length)?;
            let system = view.system();
            match resolve(system, descriptor, &path).map(|open| system.node(&open).map(status)) {
                Ok(Some(status)) => view.write(at, &status)?,
                Ok(None) => return Ok(ENOENT),
                Err(error) => return wasmtime::Result::Ok(error),
            }
            Ok(SUCCESS)
        },
    )?;
    linker.func_wrap(WASI, "path_open", open_path)?;
    Ok(())
}

#[expect(clippy::too_many_arguments, reason = "as WASI has it")]
fn open_path(
    caller: Caller<'_, System>,
    descriptor: i32,
    _: i32,
    path: i32,
    length: i32,
    _: i32,
    _: i64,
    _: i64,
    _: i32,
    at: i32,
) -> wasmtime::Result<i32> {
    let mut view = View::new(caller)?;
    let path = view.read_text(path, length)?;
    let open = match resolve(view.system(), descriptor, &path) {
        Ok(open) => open,
        Err(error) => return Ok(error),
    };
    view.system().open.push(Some(open));
    let opened = view.system().open.len() - 1;
    view.write_u32(at, u32::try_from(opened).unwrap_or(u32::MAX))?;
    Ok(SUCCESS)
}

fn link_time_and_chance(linker: &mut Linker<System>) -> Result<()> {
    linker.func_wrap(WASI, "environ_sizes_get", |caller: Caller<'_, System>, count: i32, size: i32| {
        let mut view = View::new(caller)?;
        let bytes = ENVIRONMENT.iter().map(|variable| variable.len() + 1).sum::<usize>();
        view.write_u32(count, u32::try_from(ENVIRONMENT.len())?)?;
        view.write_u32(size, u32::try_from(bytes)?)?;
        wasmtime::Result::Ok(SUCCESS)
    })?;
    linker.func_wrap(WASI, "environ_get", |caller: Caller<'_, System>, pointers: i32, texts: i32| {
        let mut view = View::new(caller)?;
        let (mut pointer, mut text) = (pointers, texts);
        for variable in ENVIRONMENT {
            view.write_u32(pointer, text.cast_unsigned())?;
            view.write(text, variable.as_bytes())?;
            text = text.wrapping_add(i32::try_from(variable.len())?);
            view.write(text, &[0])?;
            (pointer, text) = (pointer.wrapping_add(4), text.wrapping_add(1));
        }
        wasmtime::Result::Ok(SUCCESS)
    })?;
    linker.func_wrap(WASI, "clock_time_get", |caller: Caller<'_, System>, _: i32, _: i64, at: i32| {
        View::new(caller)?.write(at, &NOW.to_le_bytes())?;
        wasmtime::Result::Ok(SUCCESS)
    })?;
    linker.func_wrap(WASI, "random_get", |caller: Caller<'_, System>, at: i32, length: i32| {
        let mut view = View::new(caller)?;
        // The bytes come from a scrambled counter (the finalizer of splitmix64). They only need to vary.
        for offset in 0..length {
            let system = view.system();
            system.random = system.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mixed = (system.random ^ (system.random >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            view.write(at.wrapping_add(offset), &[(mixed >> 56) as u8])?;
        }
        wasmtime::Result::Ok(SUCCESS)
    })?;
    Ok(())
}
