//! An instance of a policy's component, its store and the reason of its early end.

use crate::bindings;
use crate::clock::Clock;
use crate::handover::Handover;
use crate::limits::{Bounds, Limits};
use crate::policy_guest::PolicyGuest;
use crate::rules::{ProtocolViolation, Rules};
use contract::{GuestLost, Run, Services};
use wasmtime::{Engine, Store, Trap, UpdateDeadline, WasmBacktrace};

/// One instance of a policy's component. It lives until the end of the run.
pub struct Policy {
    pub(crate) store: Store<State>,
    pub(crate) guest: bindings::Policy,
    pub(crate) lost: Option<GuestLost>,
}

/// The data of one instance's store. It is not shared with other instances' stores.
pub(crate) struct State {
    pub(crate) policy: String,
    /// The guest of this store: a policy in two languages has two.
    pub(crate) guest: PolicyGuest,
    /// The run while the guest has the turn, else `None`.
    pub(crate) run: Option<Box<Run>>,
    pub(crate) handover: Handover,
    pub(crate) rules: Rules,
    pub(crate) clock: Clock,
    pub(crate) limits: Bounds,
    pub(crate) services: Services,
    /// The number of the guest's calls of host functions so far.
    pub(crate) calls: u32,
    /// The bytes that the guest has logged so far.
    pub(crate) logged: usize,
    /// What a panic said before it trapped.
    pub(crate) last_words: LastWords,
}

impl Policy {
    pub(crate) fn store(engine: &Engine, policy: &str, limits: &Limits, services: Services) -> Store<State> {
        let state = State {
            policy: policy.into(),
            guest: PolicyGuest::default(),
            run: None,
            handover: Handover::default(),
            rules: Rules::default(),
            clock: Clock::new(limits, services.account.clone()),
            limits: limits.store(services.account.clone()),
            services,
            calls: 0,
            logged: 0,
            last_words: LastWords::default(),
        };
        let mut store = Store::new(engine, state);
        store.limiter(|state| &mut state.limits);
        Limits::apply(&mut store);
        store.epoch_deadline_callback(|mut store| {
            let state = store.data_mut();
            state.clock.check()?;
            state.may_go_on()?;
            Ok(UpdateDeadline::Continue(1))
        });
        store.set_epoch_deadline(1);
        store
    }

    /// Returns the reason of the instance's early end, or `None` if it still answers.
    pub fn lost(&self) -> Option<&GuestLost> {
        self.lost.as_ref()
    }
}

/// The last words of a guest that panics.
#[derive(Debug, Default)]
pub(crate) struct LastWords {
    /// The last line that it logged as fatal.
    pub(crate) line: Option<String>,
    /// What a person could do about it, if the guest knows.
    pub(crate) hint: Option<String>,
}

/// The explanation for a guest that reached unreachable code without a panic.
const ENDED_ITSELF: &str =
    " (`exit` and `abort` of `std::process` do this; a recipe ends early with `return Ok(())` or an error)";

/// The explanation for a guest that accessed memory out of bounds. The guests' compilers put the stack at the beginning of
/// the memory. In safe Rust, only a stack overflow leads out of bounds.
const STACK_USED_UP: &str =
    " (calls that nest too deep do this: a function that calls itself without end uses up the stack)";

/// Returns the innermost reason of a trap with its place. The reason is part of a sentence that begins with the policy's
/// name.
pub(crate) fn lost(policy: &str, error: &wasmtime::Error, last_words: &LastWords) -> GuestLost {
    let (words, told) = (last_words.line.as_deref(), error.downcast_ref::<GuestLost>());
    let why = match (error.downcast_ref::<ProtocolViolation>(), error.downcast_ref::<Trap>()) {
        _ if told.is_some() => told.map(|lost| lost.why.clone()).unwrap_or_default(),
        (None, Some(Trap::UnreachableCodeReached)) if words.is_some() => words.unwrap_or_default().to_owned(),
        (Some(violation), _) => violation.to_string(),
        (None, Some(Trap::StackOverflow)) => "trapped: its calls nest too deep for its stack".into(),
        (None, Some(trap @ Trap::UnreachableCodeReached)) => format!("trapped: {trap}{ENDED_ITSELF}"),
        (None, Some(trap @ Trap::MemoryOutOfBounds)) => format!("trapped: {trap}{STACK_USED_UP}"),
        (None, Some(trap)) => format!("trapped: {trap}"),
        (None, None) => format!("failed: {}", error.root_cause()),
    };
    let hint = last_words.hint.clone().filter(|_| words.is_some_and(|words| words == why));
    let panicked = words.and_then(|words| words.strip_prefix("panicked at ")).and_then(place);
    let known = told.map(|lost| lost.backtrace.clone()).unwrap_or_default();
    let backtrace = known.into_iter().chain(panicked).chain(frames(error)).collect();
    GuestLost { policy: policy.into(), why, backtrace, hint, recipe: None }
}

/// Returns the place at the beginning of a panic's message, as `FILE:LINE`.
fn place(message: &str) -> Option<String> {
    let (place, _) = message.split_once(": ")?;
    let (_, line) = place.rsplit_once(':')?;
    line.parse::<u32>().is_ok().then(|| place.to_owned())
}

/// Returns the guest's stack frames with a known name or line, innermost first.
fn frames(error: &wasmtime::Error) -> Vec<String> {
    let Some(trace) = error.downcast_ref::<WasmBacktrace>() else { return vec![] };
    let mut frames = Vec::new();
    for frame in trace.frames().iter().take(32) {
        let symbols: Vec<_> =
            frame.symbols().iter().filter_map(|symbol| Some((symbol.file()?, symbol.line()?, symbol.name()))).collect();
        for (file, line, name) in &symbols {
            frames.push(format!("{file}:{line}: in {}", name.unwrap_or("?")));
        }
        if symbols.is_empty()
            && let Some(name) = frame.func_name()
        {
            frames.push(format!("wasm: in {name}"));
        }
    }
    frames
}
