//! Engine, store, limits, native-code cache, bindings: the only room that names the engine.
//!
//! Each policy's component gets a store of its own. The wasm call of `serve` is a future like any other: a [`Session`]
//! holds it, polls it when the guest has the turn and leaves it suspended (on the engine's own fiber) while the host has
//! it. So the runner is an ordinary async function on the host's stack, nested guest frames pile up on the fiber, and
//! neither knows of the other.
//!
//! Rejected: the runner boxed in the store's data and polled by a synchronous `next`, which turns the call graph inside
//! out and unwinds the runner's whole stack at every turn; two tasks and channels, which cost O(depth) a turn; the
//! component model's own async, which needs another ABI in every SDK.

mod bindings;
mod cache;
mod clock;
mod compile;
mod engine;
mod examine;
mod handover;
mod host;
pub mod limits;
mod pair;
mod policy;
mod policy_guest;
mod rules;
mod session;
mod shared;
mod verdicts;
mod words;

pub use cache::NativeCache;
pub use clock::{processor_time, resident_memory};
pub use compile::{COMPILE_WORD, Compiler, CompilerProcess, compile_standard_input};
pub use engine::{Sandbox, SandboxError};
pub use examine::examine;
pub use limits::{LimitSource, Limits};
pub use pair::{Conversation, Policies};
pub use policy::Policy;
pub use session::Session;
pub use shared::{Code, ReadComponent, SharedComponent, is_installed};
