//! Runs policies' components: engine, store, limits, native-code cache and bindings. Only this crate names the engine.
//!
//! Each policy's component gets its own store. The call of the guest's `serve` is a future. A [`Session`] polls this future
//! when the guest has the turn. While the host has the turn, the call stays suspended on the engine's fiber. So the runner is
//! an ordinary async function on the host's stack. The guest's nested frames are on the fiber, and the two stacks are
//! independent.
//!
//! Three designs were rejected. A runner in the store's data, polled by a synchronous `next`, inverts the call graph. It also
//! unwinds the runner's whole stack at every turn. Two tasks with channels cost O(depth) per turn. The component model's own
//! async needs another ABI in every SDK.

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
