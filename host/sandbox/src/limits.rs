//! Every limit that a guest meets in the sandbox, in one place. Limits of what it may declare or write are those of the
//! rooms that keep it: `contract` (resources, actions, depth), `node` (attributes).

use crate::rules::ProtocolViolation;
use contract::Account;
use std::time::Duration;
use wasmtime::{ResourceLimiter, Store, StoreLimits, StoreLimitsBuilder};

/// The period of the engine's clock: how often a busy guest's time is looked at.
pub const TICK: Duration = Duration::from_millis(5);

/// What the guest may put on its stack, of which only what is touched costs anything: each nested child context needs
/// some of it, and a Ruby recipe some kibibytes for each block inside a block.
pub(crate) const GUEST_STACK: usize = 16 << 20;

/// What host functions need on the same fiber above that.
pub(crate) const HOST_STACK: usize = 512 << 10;

/// The most guest frames that may wait for the host inside each other.
pub(crate) const MAX_OPEN: usize = 256;

/// Bytes that one call may hand to the host: the longest file content that a guest can make, with room for its
/// envelope. The engine's own default is four times that.
pub(crate) const HOSTCALL_BYTES: usize = 32 << 20;

/// The most values of one JSON text of a guest.
pub(crate) const JSON_VALUES: usize = 1_000_000;

/// The most bytes of log that one policy may write. What follows is dropped, once with a warning.
pub(crate) const LOG_BYTES: usize = 16 << 20;

/// The longest log line that is kept whole.
pub(crate) const LOG_LINE: usize = 64 << 10;

/// The most characters of an exception's message, and of one frame of its backtrace, that are kept.
pub(crate) const RAISED_TEXT: usize = 256 << 10;

/// The most bytes of what an exception says could be done about it.
pub(crate) const RAISED_HINT: usize = 4 << 10;

/// The most frames of a backtrace that are kept.
pub(crate) const RAISED_FRAMES: usize = 200;

/// The most bytes of a cookbook's and of a recipe's name in a place, and of the file's: a kibibyte together.
pub(crate) const ORIGIN_NAME: usize = 250;
/// The most bytes of a file's path in an origin: see [`ORIGIN_NAME`].
pub(crate) const ORIGIN_FILE: usize = 512;

/// The most bytes that `random.bytes` hands out at a time.
pub(crate) const RANDOM_BYTES: u32 = 65_536;

/// The longest time that `clock.sleep` waits at a time.
pub(crate) const SLEEP: Duration = Duration::from_secs(60);

/// How often a sleep looks whether the policy may go on.
pub(crate) const SLEEP_TICK: Duration = Duration::from_millis(50);

/// The largest component of a policy that is compiled, in bytes, names and debugging sections included.
pub(crate) const COMPONENT_BYTES: usize = 64 << 20;

/// Bytes of all functions of a component.
pub(crate) const CODE_BYTES: usize = 16 << 20;

/// Bytes of one function.
pub(crate) const FUNCTION_BYTES: usize = 512 << 10;

/// Local variables of one function, beside its parameters.
pub(crate) const LOCALS: usize = 10_000;

/// Functions of all modules of a component.
pub(crate) const FUNCTIONS: usize = 100_000;

/// Types of all modules of a component.
pub(crate) const TYPES: usize = 50_000;

/// Bytes of the sections that state them.
pub(crate) const TYPE_BYTES: usize = 2 << 20;

/// Imports of all modules of a component.
pub(crate) const IMPORTS: usize = 10_000;

/// Exports of all modules of a component.
pub(crate) const EXPORTS: usize = 10_000;

/// Global variables of all modules of a component.
pub(crate) const GLOBALS: usize = 10_000;

/// Bytes of all that a component states beside its modules, at all levels: types, imports, aliases, instances, exports, and
/// their names. One that imports the whole contract has some 10 kB.
pub(crate) const DESCRIPTION_BYTES: usize = 256 << 10;

/// Instances of components and modules that a component states, at all levels. One that imports the whole contract has 20.
pub(crate) const COMPONENT_INSTANCES: usize = 128;

/// Core modules of a component: the code, its adapters, shims.
pub(crate) const MODULES: usize = 32;

/// Components inside a component.
pub(crate) const COMPONENTS: usize = 64;

/// Segments of memories and tables.
pub(crate) const SEGMENTS: usize = 20_000;

/// Bytes of the sections that fill tables.
pub(crate) const ELEMENTS: usize = 2 << 20;

/// The largest native code of a policy's component, in bytes.
pub(crate) const NATIVE_BYTES: u64 = 128 << 20;

/// Tables, and elements in one of them.
pub(crate) const TABLES: usize = 64;
pub(crate) const TABLE_ELEMENTS: usize = 100_000;
/// Core instances and memories of one component: the code, its adapters, shims.
const INSTANCES: usize = 64;
pub(crate) const MEMORIES: usize = 8;
/// Live component handles; the contract uses none.
const HANDLES: usize = 16;

/// What one policy may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of linear memory.
    pub memory: usize,
    /// Processor time of guest code over the whole run; host work does not count.
    pub guest_time: Duration,
    /// Where `memory` was set.
    pub memory_from: LimitSource,
    /// Where `guest_time` was set.
    pub guest_time_from: LimitSource,
}

/// Where a limit of a policy's own code was set, for the error that names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LimitSource {
    /// Below `limits` in the policy's grants.
    Grants,
    /// In the settings, for all policies, or nowhere: then the default counts.
    #[default]
    Settings,
}

impl LimitSource {
    /// The places that would give the policy more, by the limit's names in grants and in settings.
    pub(crate) fn named(self, in_grants: &str, in_settings: &str) -> String {
        match self {
            Self::Grants => format!("(`limits.{in_grants}` in its grants)"),
            Self::Settings => format!("(`{in_settings}` of the settings, or `limits.{in_grants}` in its grants)"),
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        let (memory_from, guest_time_from) = (LimitSource::default(), LimitSource::default());
        Self { memory: 256 << 20, guest_time: Duration::from_secs(60), memory_from, guest_time_from }
    }
}

impl Limits {
    /// The limits of a store, all of them. `account` hears how much memory the guest has.
    pub(crate) fn store(&self, account: Account) -> Bounds {
        let others = StoreLimitsBuilder::new()
            .table_elements(TABLE_ELEMENTS)
            .tables(TABLES)
            .instances(INSTANCES)
            .memories(MEMORIES)
            .trap_on_grow_failure(true)
            .build();
        Bounds { memory: self.memory, memory_from: self.memory_from, used: 0, growing: 0, others, account }
    }

    /// Sets what belongs to the store itself.
    pub(crate) fn apply<T>(store: &mut Store<T>) {
        store.set_hostcall_fuel(HOSTCALL_BYTES);
        store.set_max_component_handles(HANDLES);
    }
}

/// What the engine asks before something grows. The engine's own limiter does it, but for the memory: what a guest is told
/// to have used up names the setting that would give it more.
pub(crate) struct Bounds {
    /// Bytes that all memories of the store may have together.
    memory: usize,
    memory_from: LimitSource,
    /// Bytes that they have.
    used: usize,
    /// Bytes of the growth that was allowed last.
    growing: usize,
    others: StoreLimits,
    account: Account,
}

impl ResourceLimiter for Bounds {
    fn memory_growing(&mut self, current: usize, desired: usize, maximum: Option<usize>) -> wasmtime::Result<bool> {
        self.growing = 0;
        let growing = desired.saturating_sub(current);
        if growing > self.memory.saturating_sub(self.used) {
            return Err(ProtocolViolation::OutOfMemory(self.memory_from).into());
        }
        let is_allowed = self.others.memory_growing(current, desired, maximum)?;
        if is_allowed {
            self.growing = growing;
            self.used = self.used.saturating_add(growing);
            self.account.guest_memory_grew(growing as u64);
        }
        Ok(is_allowed)
    }

    fn memory_grow_failed(&mut self, error: wasmtime::Error) -> wasmtime::Result<()> {
        let growing = std::mem::take(&mut self.growing);
        self.used = self.used.saturating_sub(growing);
        self.account.guest_memory_did_not_grow(growing as u64);
        self.others.memory_grow_failed(error)
    }

    fn table_growing(&mut self, current: usize, desired: usize, maximum: Option<usize>) -> wasmtime::Result<bool> {
        self.others.table_growing(current, desired, maximum)
    }

    fn table_grow_failed(&mut self, error: wasmtime::Error) -> wasmtime::Result<()> {
        self.others.table_grow_failed(error)
    }

    fn instances(&self) -> usize {
        self.others.instances()
    }

    fn tables(&self) -> usize {
        self.others.tables()
    }

    fn memories(&self) -> usize {
        self.others.memories()
    }
}
