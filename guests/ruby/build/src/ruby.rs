//! Runs Ruby during the build, through the exports of the pinned package's module.

use crate::files::Node;
use crate::snapshot;
use crate::system::{self, System};
use anyhow::{Context as _, Result, bail, ensure};
use wasmtime::{Config, Engine, Instance, Linker, Memory, Module, OptLevel, RegallocAlgorithm, Store, Val};

const INIT: &str = "ruby-init: func(args: list<string>) -> ()";
const EVALUATE: &str = "rb-eval-string-protect: func(str: string) -> tuple<handle<rb-abi-value>, s32>";
const ERROR: &str = "rb-errinfo: func() -> handle<rb-abi-value>";
const CLEAR_ERROR: &str = "rb-clear-errinfo: func() -> ()";
const TEXT: &str = "rstring-ptr: func(value: handle<rb-abi-value>) -> string";

/// Ruby's command line: UTF-8 everywhere, without gems and without the helpers that change messages, and an empty program.
const ARGUMENTS: [&str; 4] =
    ["ruby", "-EUTF-8", "--disable=gems,did_you_mean,error_highlight,syntax_suggest,rubyopt", "-e_=0"];

/// The engine's part of Ruby's machine stack, in bytes.
const STACK: usize = 16 << 20;

/// The stack of the thread that runs Ruby, in bytes: the engine's part and space for the host's own frames.
const THREAD_STACK: usize = STACK + (16 << 20);

/// A running Ruby.
pub(crate) struct Ruby {
    store: Store<System>,
    instance: Instance,
    memory: Memory,
}

/// Runs a function on a thread whose stack is large enough for Ruby.
pub(crate) fn with_deep_stack<T: Send>(work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(THREAD_STACK).spawn_scoped(scope, work);
        let thread = thread.context("cannot start a thread")?;
        thread.join().unwrap_or_else(|_| bail!("making Ruby's image panicked"))
    })
}

impl Ruby {
    /// Instantiates a module. No code of Ruby runs yet.
    pub(crate) fn new(module: &[u8], system: System) -> Result<Self> {
        let mut configuration = Config::new();
        // Ruby runs only for a second here, so optimized code would cost more time than it saves.
        configuration.cranelift_opt_level(OptLevel::None).max_wasm_stack(STACK);
        configuration.cranelift_regalloc_algorithm(RegallocAlgorithm::SinglePass);
        configuration.async_stack_size(STACK + (2 << 20));
        let engine = Engine::new(&configuration)?;
        let module = Module::new(&engine, module)?;
        let mut linker = Linker::new(&engine);
        system::link(&mut linker, &module)?;
        let mut store = Store::new(&engine, system);
        let instance = linker.instantiate(&mut store, &module)?;
        let memory = instance.get_memory(&mut store, "memory").context("Ruby exports no memory")?;
        Ok(Self { store, instance, memory })
    }

    /// Calls an export without parameters and results.
    pub(crate) fn call(&mut self, name: &str) -> Result<()> {
        Ok(self.instance.get_typed_func::<(), ()>(&mut self.store, name)?.call(&mut self.store, ())?)
    }

    /// Gives Ruby another system: other files, or none.
    pub(crate) fn set_system(&mut self, system: System) {
        *self.store.data_mut() = system;
    }

    /// Returns the system, with Ruby's output.
    pub(crate) fn system(&mut self) -> &mut System {
        self.store.data_mut()
    }

    /// Starts Ruby.
    pub(crate) fn start(&mut self) -> Result<()> {
        let mut list = Vec::new();
        for argument in ARGUMENTS {
            let text = format!("{argument}\0");
            let (at, length) = self.put(text.as_bytes())?;
            list.extend(at.to_le_bytes());
            list.extend(length.to_le_bytes());
        }
        let (at, _) = self.put(&list)?;
        let init = self.instance.get_typed_func::<(i32, i32), ()>(&mut self.store, INIT)?;
        let count = i32::try_from(ARGUMENTS.len())?;
        init.call(&mut self.store, (at, count)).map_err(|error| self.explain(error.into()))
    }

    /// Evaluates Ruby code that ends with a string.
    pub(crate) fn evaluate(&mut self, code: &str) -> Result<String> {
        let guarded = format!(
            "begin\n{code}\nrescue Exception => __error\n\"\\0\" + __error.full_message(highlight: false)\nend"
        );
        let (at, length) = self.put(guarded.as_bytes())?;
        let evaluate = self.instance.get_typed_func::<(i32, i32), i32>(&mut self.store, EVALUATE)?;
        let pair = evaluate.call(&mut self.store, (at, length)).map_err(|error| self.explain(error.into()))?;
        let (value, state) = self.pair(pair)?;
        if state != 0 {
            let error = self.instance.get_typed_func::<(), i32>(&mut self.store, ERROR)?.call(&mut self.store, ())?;
            self.call(CLEAR_ERROR)?;
            bail!("Ruby cannot read its code (exception {error:#x}): {code}");
        }
        let text = self.instance.get_typed_func::<i32, i32>(&mut self.store, TEXT)?.call(&mut self.store, value)?;
        let (at, length) = self.pair(text)?;
        let text = String::from_utf8_lossy(&self.read(at, length)?).into_owned();
        match text.strip_prefix('\0') {
            Some(error) => bail!("{error}"),
            None => Ok(text),
        }
    }

    /// Allocates memory on Ruby's heap that Ruby's collector does not manage. Returns its address.
    pub(crate) fn allocate(&mut self, length: i32) -> Result<i32> {
        self.reallocate(0, 0, length)
    }

    /// Gives back all but the begin of memory from [`Ruby::allocate`].
    pub(crate) fn shrink(&mut self, address: i32, length: i32) -> Result<()> {
        let kept = self.reallocate(address, length, 1)?;
        ensure!(kept == address, "Ruby moved memory at {address} to {kept} instead of making it smaller");
        Ok(())
    }

    fn reallocate(&mut self, address: i32, old: i32, new: i32) -> Result<i32> {
        let reallocate = self.instance.get_typed_func::<(i32, i32, i32, i32), i32>(&mut self.store, "cabi_realloc")?;
        Ok(reallocate.call(&mut self.store, (address, old, 16, new))?)
    }

    /// Sets an exported global.
    pub(crate) fn set_global(&mut self, name: &str, value: i32) -> Result<()> {
        let global = self.instance.get_global(&mut self.store, name);
        let global = global.with_context(|| format!("the module exports no global {name}"))?;
        Ok(global.set(&mut self.store, Val::I32(value))?)
    }

    /// Returns a module that starts in Ruby's present state. `module` must export its globals as [`snapshot::observable`]
    /// does.
    pub(crate) fn freeze(&mut self, module: &[u8], globals: u32) -> Result<Vec<u8>> {
        let mut values = Vec::new();
        for name in (0..globals).map(snapshot::global_name) {
            let global = self.instance.get_global(&mut self.store, &name);
            match global.map(|global| global.get(&mut self.store)) {
                Some(Val::I32(value)) => values.push(value),
                other => bail!("{name} is {other:?} instead of an i32"),
            }
        }
        let state = snapshot::State { memory: self.memory.data(&self.store), globals: values };
        // Removes the exports that only the build needs.
        snapshot::frozen(module, &state, |name| !name.starts_with("image_") && !name.starts_with("wasi_vfs"))
    }

    fn put(&mut self, bytes: &[u8]) -> Result<(i32, i32)> {
        let length = i32::try_from(bytes.len())?;
        let at = self.allocate(length.max(1))?;
        self.memory.write(&mut self.store, at.cast_unsigned() as usize, bytes)?;
        Ok((at, length))
    }

    fn read(&self, at: i32, length: i32) -> Result<Vec<u8>> {
        let mut bytes = vec![0; length.cast_unsigned() as usize];
        self.memory.read(&self.store, at.cast_unsigned() as usize, &mut bytes)?;
        Ok(bytes)
    }

    fn pair(&self, at: i32) -> Result<(i32, i32)> {
        let number = |bytes: Vec<u8>| bytes.as_slice().try_into().map(i32::from_le_bytes);
        Ok((number(self.read(at, 4)?)?, number(self.read(at.wrapping_add(4), 4)?)?))
    }

    /// Adds Ruby's printed errors, because they tell more than the trap.
    fn explain(&mut self, error: anyhow::Error) -> anyhow::Error {
        let printed = String::from_utf8_lossy(&self.system().errors).into_owned();
        if printed.is_empty() { error } else { error.context(printed) }
    }
}

/// Returns a system in which Ruby sees these trees at the given paths.
pub(crate) fn system_with(trees: Vec<(&str, Node)>) -> System {
    System::new(trees.into_iter().map(|(place, tree)| (place.to_owned(), tree)).collect())
}
