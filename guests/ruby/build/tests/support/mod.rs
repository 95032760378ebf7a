//! Runs the real runtime in the real sandbox, with one cookbook and with providers that only record actions.

#![allow(dead_code, reason = "each test file uses another part")]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test that cannot go on fails, and says why"
)]

mod services;

use author::build::{GuestCompiler, Settings, guest_compiler};
use contract::{
    Answer, Change, ClosureValue, CommandTest, Declaration, ErrorKind, Event, Failure, GuardResult, Guest as _,
    GuestMessage, HostMessage, Known, Load, Memory, Observer, Phase, Prepared, Property, Providers, Question, Raised,
    Request, Run, Services, Stop, SystemError, Types, Wanted,
};
use converge::Runner;
use node::attributes::{Attributes, Level};
use node::origin::Origin;
use ruby_runtime::Library;
use sandbox::{Compiler, LimitSource, Limits, NativeCache, ReadComponent, Sandbox, SharedComponent};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

/// The memory limit of a test's policy: the linear memory at the start, mostly untouched, and 256 MiB more.
pub(crate) const MEMORY: usize = (320 << 20) + (256 << 20);

/// Limits that are sufficient for every harmless recipe, even on a busy machine.
const LIMITS: Limits = Limits {
    memory: MEMORY,
    reserved: 0,
    guest_time: Duration::from_secs(60),
    memory_from: LimitSource::Settings,
    guest_time_from: LimitSource::Settings,
};

/// A runtime that loads its library at start: the library is `trial.rb`, so that what fails here is the runtime.
pub(crate) fn runtime() -> &'static Runtime {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    RUNTIME.get_or_init(|| Runtime::new(Library::AtStart))
}

/// The runtime that nodes get.
pub(crate) fn released_runtime() -> &'static Runtime {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    RUNTIME.get_or_init(|| Runtime::new(Library::Frozen))
}

/// A runtime in memory.
#[derive(Debug)]
pub(crate) struct Runtime {
    pub(crate) component: Vec<u8>,
    digest: String,
    path: PathBuf,
}

impl Runtime {
    fn new(library: Library) -> Self {
        let component = make(library);
        let digest = Sha256::digest(&component).iter().map(|byte| format!("{byte:02x}")).collect();
        Self { component, digest, path: PathBuf::from("the tests' runtime") }
    }

    pub(crate) fn shared(&self) -> SharedComponent<'_> {
        SharedComponent { path: &self.path, digest: &self.digest, read: self }
    }
}

impl ReadComponent for Runtime {
    fn read(&self) -> std::io::Result<Vec<u8>> {
        eprintln!("compiling the runtime (a minute, once)");
        Ok(self.component.clone())
    }
}

/// Makes a runtime's component, unless it was made before.
pub(crate) fn make(library: Library) -> Vec<u8> {
    make_by(|compiler, target, say| ruby_runtime::make_component(library, compiler, target, say))
}

/// Makes a runtime's component, also if it was made before.
pub(crate) fn make_anew(library: Library) -> Vec<u8> {
    make_by(|compiler, target, say| ruby_runtime::make_component_anew(library, compiler, target, say))
}

type Made = anyhow::Result<(Vec<u8>, Vec<u8>)>;

fn make_by(make: impl FnOnce(&GuestCompiler, &Path, &mut dyn FnMut(&str)) -> Made) -> Vec<u8> {
    let settings = Settings::from_environment().unwrap();
    let compiler = guest_compiler(&settings, &mut |sentence| eprintln!("{sentence}")).unwrap();
    // The folder in which `cargo xtask guests` builds the bridge.
    let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../target/guests/of/ruby");
    make(&compiler, &target, &mut |sentence| eprintln!("{sentence}")).unwrap().0
}

/// One engine for all tests: the runtime is compiled once, and its native code is kept between test runs.
pub(crate) fn sandbox() -> &'static Sandbox {
    static SANDBOX: OnceLock<Sandbox> = OnceLock::new();
    SANDBOX.get_or_init(|| {
        // Where the builder keeps it too, under the same key.
        let folder = ruby_runtime::cache_folder().unwrap().join("ruby-native");
        std::fs::create_dir_all(&folder).unwrap();
        Sandbox::new(Some(NativeCache::new(&folder, *b"native code of the Ruby runtime.").unwrap()), Compiler::Here)
            .unwrap()
    })
}

/// The result of a recipe.
#[derive(Debug)]
pub(crate) struct Ran {
    /// The failure's class and text; none: it succeeded.
    pub(crate) failure: Option<(String, String)>,
    pub(crate) backtrace: Vec<String>,
    /// What was done, in order: `action kind[name]`, with the content where there is one.
    pub(crate) done: Vec<String>,
    /// The log.
    pub(crate) log: Vec<String>,
    /// What was declared, in order, as `kind[name] cookbook/file:line`.
    pub(crate) declared: Vec<String>,
    pub(crate) opened: Duration,
    pub(crate) compiled: Duration,
    pub(crate) converged: Duration,
}

/// Runs one recipe: `app::default` of a cookbook `app` whose only file it is.
pub(crate) fn run(recipe: &str) -> Ran {
    run_within(recipe, LIMITS)
}

/// Runs one recipe within limits.
pub(crate) fn run_within(recipe: &str, limits: Limits) -> Ran {
    run_with(runtime(), recipe, limits, true)
}

/// Runs one recipe of a policy that is granted neither time nor randomness.
pub(crate) fn run_denied(recipe: &str) -> Ran {
    run_with(runtime(), recipe, LIMITS, false)
}

/// Asks a question that comes before a policy.
pub(crate) fn ask(question: Question) -> Result<Value, String> {
    let services = services::services(String::new(), true);
    let opened = finish(sandbox().open("app", runtime().shared(), &LIMITS, services));
    let mut policy = opened.unwrap();
    let mut run = Run::new("app", true, Attributes::new(), Arc::new(BuiltinTypes));
    let mut session = policy.session();
    let request = Request::Question(question);
    match finish(session.turn(&mut run, HostMessage::Request(request))) {
        Ok(GuestMessage::Answer(Answer::Value(ClosureValue::Json(value)))) => Ok(value),
        other => Err(format!("{other:?}")),
    }
}

/// Runs one recipe on the runtime that nodes get.
pub(crate) fn run_released(recipe: &str) -> Ran {
    run_with(released_runtime(), recipe, LIMITS, true)
}

/// As [`run_released`], for a policy that is granted neither time nor randomness.
pub(crate) fn run_released_denied(recipe: &str) -> Ran {
    run_with(released_runtime(), recipe, LIMITS, false)
}

fn run_with(runtime: &'static Runtime, recipe: &str, limits: Limits, granted: bool) -> Ran {
    let (sandbox, recipe) = (sandbox(), recipe.to_owned());
    // Unoptimised, each nested child takes 25 KiB of the host's stack.
    let thread = std::thread::Builder::new().stack_size(16 << 20);
    let services = move || services::services(recipe, granted);
    thread.spawn(move || converge(sandbox, runtime, services(), &limits)).unwrap().join().unwrap()
}

fn converge(sandbox: &Sandbox, runtime: &Runtime, services: Services, limits: &Limits) -> Ran {
    let mut attributes = Attributes::new();
    let facts = json!({ "platform": "debian", "platform_family": "debian", "platform_version": "12.5" });
    attributes.set_level(Level::Automatic, facts.as_object().cloned().unwrap(), &Origin::default()).unwrap();
    let mut run = Run::new("app", false, attributes, Arc::new(BuiltinTypes));
    let log = Arc::<Mutex<Vec<String>>>::default();
    run.set_observer(Some(Box::new(Heard(Arc::clone(&log)))));
    let began = Instant::now();
    let opened = finish(sandbox.open("app", runtime.shared(), limits, services));
    let mut policy = opened.unwrap();
    let opened = began.elapsed();
    let (mut acting, mut journal) = (Acting::default(), Journal::default());
    let mut session = policy.session();
    let mut runner = Runner::new(&mut run, &mut session, &mut acting, &mut journal, Stop::default());
    let (mut compiled, mut converged) = (Duration::ZERO, Duration::ZERO);
    let outcome = finish(async {
        let began = Instant::now();
        let load = Load { policy: "app".into(), cookbooks: vec!["app".into()], ..Load::default() };
        runner.phase(Phase::Load(Box::new(load))).await?;
        runner.compile("app::default").await?;
        compiled = began.elapsed();
        let began = Instant::now();
        runner.converge().await?;
        converged = began.elapsed();
        Ok::<_, Failure>(())
    });
    let failure = outcome.as_ref().err().map(|failure| (failure.class().to_owned(), failure.to_string()));
    let backtrace = outcome.err().map(|failure| failure.backtrace().to_vec()).unwrap_or_default();
    let ended =
        finish(session.end()).err().map(|lost| ("lost".to_owned(), format!("{} {:?}", lost.why, lost.backtrace)));
    let backtrace = policy.lost().map_or(backtrace, |lost| lost.backtrace.clone());
    let declared = run.resources().iter().map(|resource| {
        let (it, origin) = (&resource.declaration, &resource.declaration.origin);
        let file = format!("{}/{}", origin.cookbook.as_deref().unwrap_or(""), origin.file.as_deref().unwrap_or(""));
        format!("{}[{}] {file}:{}", it.kind, it.name, origin.line.unwrap_or(0))
    });
    let declared = declared.collect();
    let log = log.lock().unwrap().clone();
    Ran { failure: failure.or(ended), backtrace, done: acting.done, log, declared, opened, compiled, converged }
}

/// Keeps the log.
struct Heard(Arc<Mutex<Vec<String>>>);

impl Observer for Heard {
    fn notice(&mut self, event: &Event<'_>) {
        if let Event::Log { level, line, .. } | Event::Printed { level, line, .. } = event {
            self.0.lock().unwrap().push(format!("{}: {line}", level.name()));
        }
    }
}

/// Acts on a list: every action changes something, except on resources named `broken`.
#[derive(Default)]
struct Acting {
    done: Vec<String>,
}

impl Providers for Acting {
    type Plan = ();

    fn prepare(&mut self, wanted: &Wanted<'_>) -> Result<Prepared<()>, Raised> {
        match wanted.declaration.name.as_str() {
            "broken" => Err(Raised::new(SystemError::InputOutput, "the disk is broken")),
            _ => Ok(Prepared::changes((), vec![Change::new("change")])),
        }
    }

    fn stage(&mut self, (): &mut ()) -> Result<Value, Raised> {
        Ok("/staged".into())
    }

    fn commit(&mut self, wanted: &Wanted<'_>, (): ()) -> Result<Vec<Change>, Raised> {
        let content = match wanted.get("content") {
            Some(Known::Json(value)) => format!(" = {value}"),
            Some(Known::Bytes(bytes)) => format!(" = {}", bytes.escape_ascii()),
            None => String::new(),
        };
        let it = wanted.declaration;
        self.done.push(format!("{} {}[{}]{content}", wanted.action, it.kind, it.name));
        Ok(vec![Change::new("change")])
    }

    fn guard(&mut self, _: &CommandTest, _: bool) -> Result<GuardResult, Raised> {
        Ok(GuardResult::True)
    }

    fn pause(&mut self, _: u32) {}
}

/// The schema's types, with every property as it comes.
struct BuiltinTypes;

impl Types for BuiltinTypes {
    fn default_action(&self, kind: &str) -> Option<&str> {
        schema::find(kind).map(|found| found.default_action)
    }

    fn check(&self, declaration: &mut Declaration) -> Result<(), Failure> {
        let Some(action) = self.default_action(&declaration.kind) else {
            let message = format!("undefined method `{}'", declaration.kind);
            return Err(Failure::raised(ErrorKind::NoSuchName, message));
        };
        if declaration.actions.is_empty() {
            declaration.actions.push(action.to_owned());
        }
        Ok(())
    }

    fn uses(&self, _: &str, _: &str, _: &str) -> bool {
        true
    }

    fn check_property(&self, _: &str, _: &str, property: Property) -> Result<Property, Failure> {
        Ok(property)
    }
}

/// What is due, in memory.
#[derive(Default)]
struct Journal(Vec<(String, String)>);

impl Memory for Journal {
    fn due(&mut self, _: &str, receiver: &str, action: &str) -> Result<(), String> {
        self.0.push((receiver.into(), action.into()));
        Ok(())
    }

    fn done(&mut self, _: &str, receiver: &str, action: &str) {
        self.0.retain(|(other, due)| other != receiver || due != action);
    }

    fn left(&mut self, _: &str) -> Vec<(String, String)> {
        vec![]
    }
}

/// Polls a future that waits for nobody.
fn finish<T>(future: impl Future<Output = T>) -> T {
    match std::pin::pin!(future).as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("nothing here waits"),
    }
}
