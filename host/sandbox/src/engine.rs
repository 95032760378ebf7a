//! Runs the engine and its clock, and creates instances of components.

use crate::bindings::PolicyPre;
use crate::bindings::wrun as wit;
use crate::cache::{NativeCache, portable};
use crate::compile::{self, Compiler, Effort, NotCompiled};
use crate::examine::examine;
use crate::limits::{GUEST_STACK, HOST_STACK, Limits, TICK};
use crate::policy::{Policy, State};
use crate::shared::{self, Code, MadeFor, SharedComponent};
use crate::verdicts::{self, Verdict};
use contract::CONTRACT_VERSION;
use contract::Services;
use std::collections::HashMap;
use std::fs::File;
use std::io::BufReader;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use thiserror::Error;
use wasmtime::component::{Component, HasSelf, Linker};
use wasmtime::{Config, Engine};

/// The reasons why a component cannot run.
#[derive(Debug, Error)]
pub enum SandboxError {
    /// The engine does not start on this machine.
    #[error("the WebAssembly engine does not start")]
    Engine(#[source] wasmtime::Error),
    /// The file is not a component, or it is damaged.
    #[error("policy `{policy}` is not a valid component: {why}")]
    NoComponent {
        /// The policy with the component, by its name.
        policy: String,
        /// The message of the engine.
        why: String,
    },
    /// Compiling the component exceeds a limit.
    #[error("policy `{policy}` cannot be compiled: {why}")]
    Costly {
        /// The policy with the component, by its name.
        policy: String,
        /// The sentence with the exceeded limit of time, memory or size.
        why: String,
    },
    /// The component could not be compiled, because something failed on this machine.
    #[error("policy `{policy}` is not compiled: {why}")]
    NotCompiled {
        /// The policy with the component, by its name.
        policy: String,
        /// The sentence about the failure on this machine.
        why: String,
    },
    /// The operator interrupted the run.
    #[error("interrupted while policy `{policy}` was compiled")]
    Interrupted {
        /// The policy that was being compiled, by its name.
        policy: String,
    },
    /// The component imports an interface that this host does not offer.
    #[error("policy `{policy}` imports `{import}`, {why}")]
    Import {
        /// The policy with the import, by its name.
        policy: String,
        /// The name of the import in the component.
        import: String,
        /// The reason, as the rest of the sentence.
        why: String,
    },
    /// The component's imports exist, but their types differ, or the component's start code failed.
    #[error("policy `{policy}` cannot be started: {why}")]
    Start {
        /// The policy that cannot be started, by its name.
        policy: String,
        /// The message of the engine.
        why: String,
    },
}

/// One engine for all policies of a run.
pub struct Sandbox {
    /// The engine that runs all code and compiles language runtimes. `compiler` compiles policies' own components.
    engine: Engine,
    compiler: Compiler,
    effort: Effort,
    made_for: OnceLock<MadeFor>,
    cache: Option<NativeCache>,
    prepared: Mutex<HashMap<String, Prepared>>,
    ticker: Ticker,
    compiling: Option<Box<Compiling>>,
    /// The time that was spent on compiling native code so far.
    compiled: Mutex<Duration>,
}

/// A compiled and linked component, ready for an instance.
#[derive(Clone)]
struct Prepared {
    linked: PolicyPre<State>,
    /// The packages of the contract from which it imports functions, such as `machine`.
    packages: Vec<String>,
}

/// The maximum size of a memory image that is mapped as a whole, in bytes. A language runtime has such an image.
const RUNTIME_IMAGE: u64 = 512 << 20;

/// The settings of an engine that runs policies.
fn settings(effort: Effort) -> Config {
    let mut configuration = compile::configuration(effort);
    // With a lower limit, the memory image of the Ruby runtime would be copied instead of mapped.
    configuration.memory_guaranteed_dense_image_size(RUNTIME_IMAGE);
    configuration
}

/// A callback with the name of a policy whose component is about to be compiled, which takes seconds.
type Compiling = dyn Fn(&str) + Send + Sync;

/// A thread that advances the engine's epoch as long as the sandbox exists.
struct Ticker {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Ticker {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            let _ = thread.join();
        }
    }
}

impl Ticker {
    fn start(engine: &Engine) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let (stopped, weak) = (Arc::clone(&stop), engine.weak());
        let thread = std::thread::Builder::new().name("epoch".into()).stack_size(64 << 10).spawn(move || {
            while !stopped.load(Ordering::Relaxed) {
                std::thread::park_timeout(TICK);
                let Some(engine) = weak.upgrade() else { return };
                engine.increment_epoch();
            }
        });
        Self { stop, thread: thread.ok() }
    }
}

impl Sandbox {
    /// Starts the engine. With a cache, it keeps native code between runs.
    ///
    /// # Errors
    /// The machine cannot run the engine.
    pub fn new(cache: Option<NativeCache>, compiler: Compiler) -> Result<Self, SandboxError> {
        Self::with(Effort::Full, cache, compiler)
    }

    /// Starts an engine that compiles a component in a fraction of the time. The code runs several times slower. It is for
    /// components that run once or twice before they change.
    ///
    /// # Errors
    /// The machine cannot run the engine.
    pub fn quick_to_compile(cache: Option<NativeCache>, compiler: Compiler) -> Result<Self, SandboxError> {
        Self::with(Effort::Quick, cache, compiler)
    }

    fn with(effort: Effort, cache: Option<NativeCache>, compiler: Compiler) -> Result<Self, SandboxError> {
        let engine = Engine::new(&settings(effort)).map_err(SandboxError::Engine)?;
        let ticker = Ticker::start(&engine);
        if ticker.thread.is_none() {
            let why = wasmtime::Error::msg("no thread could be started for the clock that ends endless loops");
            return Err(SandboxError::Engine(why));
        }
        Ok(Self {
            engine,
            compiler,
            effort,
            made_for: OnceLock::new(),
            cache,
            prepared: Mutex::default(),
            ticker,
            compiling: None,
            compiled: Mutex::default(),
        })
    }

    /// Sets a callback. It gets the name of each policy whose component must be compiled, before the compilation.
    #[must_use]
    pub fn announcing(self, compiling: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self { compiling: Some(Box::new(compiling)), ..self }
    }

    /// Returns the time that was spent on compiling native code so far.
    pub fn compile_time(&self) -> Duration {
        *self.compiled.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns true if native code is kept for later runs.
    pub fn keeps_compiled(&self) -> bool {
        self.cache.is_some()
    }

    /// Calls the announcing callback, then compiles and counts the time.
    fn compile_now<T>(&self, policy: &str, compile: impl FnOnce() -> T) -> T {
        if let Some(compiling) = &self.compiling {
            compiling(policy);
        }
        let began = Instant::now();
        let compiled = compile();
        *self.compiled.lock().unwrap_or_else(PoisonError::into_inner) += began.elapsed();
        compiled
    }

    /// Creates an instance of a component in its own store. The component's start code runs within the limits.
    ///
    /// # Errors
    /// Returns an error if compiling or linking fails, or if the start code fails.
    pub async fn open(
        &self,
        policy: &str,
        code: impl Into<Code<'_>>,
        limits: &Limits,
        services: Services,
    ) -> Result<Policy, SandboxError> {
        let prepared = self.prepare(policy, code.into(), limits)?;
        debug_assert!(self.ticker.thread.is_some());
        let mut store = Policy::store(&self.engine, policy, limits, services);
        store.data_mut().clock.start();
        let started = prepared.linked.instantiate_async(&mut store).await;
        store.data_mut().clock.stop();
        let guest = started.map_err(|error| SandboxError::Start {
            policy: policy.into(),
            why: crate::policy::lost(policy, &error, &store.data().last_words).why,
        })?;
        Ok(Policy { store, guest, lost: None })
    }

    /// Compiles and links a component. Returns the packages of the contract from which it imports functions, such as
    /// `machine` and `clock`.
    ///
    /// # Errors
    /// Returns an error if the component is invalid, exceeds a limit, is built for another contract, or imports unknown
    /// interfaces.
    pub fn check<'a>(
        &self,
        policy: &str,
        code: impl Into<Code<'a>>,
        limits: &Limits,
    ) -> Result<Vec<String>, SandboxError> {
        self.prepare(policy, code.into(), limits).map(|prepared| prepared.packages)
    }

    /// Compiles a component or loads its native code, and links it. It does so once per component and sandbox.
    fn prepare(&self, policy: &str, code: Code<'_>, limits: &Limits) -> Result<Prepared, SandboxError> {
        let key = match code {
            Code::Own { digest: Some(digest), .. } => digest.to_owned(),
            Code::Own { bytes, digest: None } => blake3::hash(bytes).to_hex().to_string(),
            Code::Shared(shared) => shared.digest.to_owned(),
        };
        let mut prepared = self.prepared.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = prepared.get(&key) {
            return Ok(found.clone());
        }
        let component = match code {
            Code::Own { bytes, .. } => self.compile(policy, bytes, &self.native_name(&key), limits)?,
            Code::Shared(shared) => self.shared_component(policy, shared)?,
        };
        let packages = self.check_imports(policy, &component)?;
        let linker = self.linker().map_err(SandboxError::Engine)?;
        let linked = linker.instantiate_pre(&component).and_then(PolicyPre::new);
        let linked = linked.map_err(|error| SandboxError::Start {
            policy: policy.into(),
            why: format!(
                "it does not fit version {CONTRACT_VERSION} of the contract; build it again with this wrun's SDK ({error:#})"
            ),
        })?;
        let ready = Prepared { linked, packages };
        prepared.insert(key, ready.clone());
        Ok(ready)
    }

    /// Writes a shared component's native code beside the component's file, for shipping. Returns its path.
    ///
    /// # Errors
    /// Returns an error if the file is not a component, or if reading or writing fails.
    pub fn ship_native(&self, component: SharedComponent<'_>) -> Result<PathBuf, SandboxError> {
        let failed = |why: String| SandboxError::NoComponent { policy: "-".into(), why };
        let folder = component.path.parent().ok_or_else(|| failed("it lies in no folder".into()))?;
        let name = self.native_name(component.digest);
        if shared::shipped(&self.engine, component.path, &name).is_none() {
            let code = self.compile_shared("-", component)?.serialize();
            let code = code.map_err(|error| failed(format!("{error:#}")))?;
            shared::write_code(folder, &name, &mut code.as_slice(), 0o644)
                .map_err(|error| failed(error.to_string()))?;
        }
        Ok(folder.join(name))
    }

    /// Writes native code for all processors of the level x86-64-v2, for a package. Returns its path.
    ///
    /// # Errors
    /// Returns an error if the file is not a component, or if reading or writing fails.
    pub fn ship_portable_native(component: SharedComponent<'_>) -> Result<PathBuf, SandboxError> {
        let failed = |why: String| SandboxError::NoComponent { policy: "-".into(), why };
        let folder = component.path.parent().ok_or_else(|| failed("it lies in no folder".into()))?;
        let name = shared::portable_name(component.digest);
        let here = Engine::new(&settings(Effort::Full)).map_err(SandboxError::Engine)?;
        if shared::shipped(&here, component.path, &name).is_none() {
            let elsewhere = portable(settings(Effort::Full)).and_then(|settings| Engine::new(&settings));
            let elsewhere = elsewhere.map_err(SandboxError::Engine)?;
            let bytes = component.read.read().map_err(|error| failed(error.to_string()))?;
            let code = elsewhere.precompile_component(&bytes).map_err(|error| failed(format!("{error:#}")))?;
            shared::write_code(folder, &name, &mut code.as_slice(), 0o644)
                .map_err(|error| failed(error.to_string()))?;
            if shared::shipped(&here, component.path, &name).is_none() {
                return Err(failed(format!("{name} was made, and this processor or its folder does not suit it")));
            }
        }
        Ok(folder.join(name))
    }

    /// Returns the file name of a component's native code.
    fn native_name(&self, digest: &str) -> String {
        self.made_for.get_or_init(|| MadeFor::of(&self.engine)).native_name(digest)
    }

    /// Loads a shared component from shipped native code or from the cache, or compiles it.
    fn shared_component(&self, policy: &str, shared: SharedComponent<'_>) -> Result<Component, SandboxError> {
        let name = self.native_name(shared.digest);
        let cached = || self.cache.as_ref().and_then(|cache| shared::kept(cache, &self.engine, &name));
        let shipped = |name: &str| shared::shipped(&self.engine, shared.path, name);
        let portable = || shipped(&shared::portable_name(shared.digest));
        let there = shipped(&name).or_else(portable).or_else(cached);
        there.map_or_else(|| self.compile_shared(policy, shared), Ok)
    }

    fn compile_shared(&self, policy: &str, shared: SharedComponent<'_>) -> Result<Component, SandboxError> {
        let no_component = |why: String| SandboxError::NoComponent { policy: policy.into(), why };
        let bytes = shared.read.read().map_err(|error| no_component(format!("{}: {error}", shared.path.display())))?;
        let component = self.compile_now(policy, || Component::new(&self.engine, &bytes));
        let component = component.map_err(|error| no_component(format!("{:#}", error.root_cause())))?;
        if let (Some(cache), Ok(code)) = (&self.cache, component.serialize()) {
            let _ = shared::keep(cache, &self.native_name(shared.digest), code.len() as u64, &mut code.as_slice());
        }
        Ok(component)
    }

    /// Loads a policy's own component from the cache, or compiles it.
    fn compile(&self, policy: &str, bytes: &[u8], name: &str, limits: &Limits) -> Result<Component, SandboxError> {
        // The component was within all limits when it was compiled. The policy's memory limit is checked again for each
        // instance.
        if let Some(component) = self.cache.as_ref().and_then(|cache| shared::kept(cache, &self.engine, name)) {
            return Ok(component);
        }
        let policy = policy.to_owned();
        if let Err(why) = examine(bytes, limits.memory) {
            return Err(SandboxError::NoComponent { policy, why });
        }
        let verdicts = self.cache.as_ref().zip(self.compiler.limits());
        match verdicts.and_then(|(cache, limits)| verdicts::known(cache, name, limits)) {
            Some((Verdict::Costly(why), file)) => {
                let again = "to try again, raise `compile_seconds` or `compile_mib`, or remove";
                let why = format!("{why}, as an earlier run found; {again} {}", file.display());
                return Err(SandboxError::Costly { policy, why });
            }
            Some((Verdict::Invalid(why), _)) => return Err(SandboxError::NoComponent { policy, why }),
            None => {}
        }
        let remember = |verdict: Verdict| {
            if let Some((cache, limits)) = verdicts {
                verdicts::remember(cache, name, limits, &verdict);
            }
        };
        let code = self.compile_now(&policy, || self.compiler.compile(bytes, self.effort));
        let mut code = match code {
            Ok(code) => code,
            Err(NotCompiled::Invalid(why)) => {
                remember(Verdict::Invalid(why.clone()));
                return Err(SandboxError::NoComponent { policy, why });
            }
            Err(NotCompiled::Costly { why, always }) => {
                if always {
                    remember(Verdict::Costly(why.clone()));
                }
                return Err(SandboxError::Costly { policy, why });
            }
            Err(NotCompiled::Failed(why)) => return Err(SandboxError::NotCompiled { policy, why }),
            Err(NotCompiled::Interrupted) => return Err(SandboxError::Interrupted { policy }),
        };
        let kept = |code: &mut File| {
            let cache = self.cache.as_ref()?;
            let bytes = code.metadata().ok()?.len();
            shared::keep(cache, name, bytes, &mut BufReader::with_capacity(1 << 20, code))?;
            shared::kept(cache, &self.engine, name)
        };
        let component = kept(&mut code).or_else(|| shared::map(&self.engine, &code));
        let why = "its compiler wrote no native code".to_owned();
        component.ok_or(SandboxError::NotCompiled { policy, why })
    }

    /// Refuses unknown imports before linking, with an error that tells the author what to do. Returns the packages from
    /// which functions are imported.
    fn check_imports(&self, policy: &str, component: &Component) -> Result<Vec<String>, SandboxError> {
        let refused =
            |import: &str, why: String| SandboxError::Import { policy: policy.into(), import: import.into(), why };
        let mut packages: Vec<String> = Vec::new();
        for (name, _) in component.component_type().imports(&self.engine) {
            let Some(rest) = name.strip_prefix(NAMESPACE) else {
                let why = format!("which no host offers: a policy's component may import only `{NAMESPACE}` packages");
                return Err(refused(name, why));
            };
            let (interface, version) = rest.split_once('@').unwrap_or((rest, ""));
            if !is_compatible(version) {
                let why = format!(
                    "but this wrun speaks version {CONTRACT_VERSION} of the contract; build the policy again with this \
                     wrun's SDK"
                );
                return Err(refused(name, why));
            }
            let package = interface.split('/').next().unwrap_or_default();
            // An interface with only types gives no access, so it does not count.
            if !interface.ends_with("/types") && !packages.iter().any(|known| known == package) {
                packages.push(package.to_owned());
            }
        }
        Ok(packages)
    }

    /// Returns a linker with only the contract's interfaces. It offers them to every policy, because the host checks each
    /// call against the grants. So an unused recipe may import functions without a grant.
    fn linker(&self) -> wasmtime::Result<Linker<State>> {
        type Me = HasSelf<State>;
        let mut linker = Linker::new(&self.engine);
        wit::types::types::add_to_linker::<_, Me>(&mut linker, |state| state)?;
        wit::turns::turns::add_to_linker::<_, Me>(&mut linker, |state| state)?;
        wit::turns::events::add_to_linker::<_, Me>(&mut linker, |state| state)?;
        wit::output::log::add_to_linker::<_, Me>(&mut linker, |state| state)?;
        wit::resources::collection::add_to_linker::<_, Me>(&mut linker, |state| state)?;
        wit::resources::schema::add_to_linker::<_, Me>(&mut linker, |state| state)?;
        wit::node::attributes::add_to_linker::<_, Me>(&mut linker, |state| state)?;
        wit::node::identity::add_to_linker::<_, Me>(&mut linker, |state| state)?;
        wit::cookbooks::files::add_to_linker::<_, Me>(&mut linker, |state| state)?;
        wit::machine::types::add_to_linker::<_, Me>(&mut linker, |state| state)?;
        wit::machine::files::add_to_linker::<_, Me>(&mut linker, |state| state)?;
        wit::machine::commands::add_to_linker::<_, Me>(&mut linker, |state| state)?;
        wit::machine::environment::add_to_linker::<_, Me>(&mut linker, |state| state)?;
        wit::machine::accounts::add_to_linker::<_, Me>(&mut linker, |state| state)?;
        wit::machine::http::add_to_linker::<_, Me>(&mut linker, |state| state)?;
        wit::data::data::add_to_linker::<_, Me>(&mut linker, |state| state)?;
        wit::clock::clock::add_to_linker::<_, Me>(&mut linker, |state| state)?;
        wit::random::random::add_to_linker::<_, Me>(&mut linker, |state| state)?;
        Ok(linker)
    }
}

/// The namespace of the contract's packages.
const NAMESPACE: &str = "wrun:";

/// Returns true if a component built for this version of the contract can be linked. Until 1.0, a new minor version breaks
/// compatibility, and a new patch version only adds functions.
fn is_compatible(version: &str) -> bool {
    let split = |version: &str| {
        let (series, patch) = version.rsplit_once('.')?;
        Some((series.to_owned(), patch.parse::<u32>().ok()?))
    };
    let (theirs, ours) = (split(version), split(CONTRACT_VERSION));
    theirs.zip(ours).is_some_and(|((theirs, patch), (ours, highest))| theirs == ours && patch <= highest)
}

/// Returns the engine's settings for all code.
pub(crate) fn configuration() -> Config {
    let mut config = Config::new();
    config
        .epoch_interruption(true)
        .max_wasm_stack(GUEST_STACK)
        .async_stack_size(GUEST_STACK + HOST_STACK)
        // Guests' stacks may contain secrets.
        .async_stack_zeroing(true)
        // Results must not depend on the processor, so that the same inputs give the same plan.
        .cranelift_nan_canonicalization(true)
        .wasm_relaxed_simd(false);
    config
}
