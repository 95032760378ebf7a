//! Defines all limits of a guest in the sandbox. The limits of its declarations and attributes are in other crates:
//! `contract` (resources, actions, depth) and `node` (attributes).

use crate::rules::ProtocolViolation;
use contract::Account;
use std::time::Duration;
use wasmtime::{ResourceLimiter, Store, StoreLimits, StoreLimitsBuilder};

/// The period of the engine's clock, after which the time of a busy guest is checked.
pub const TICK: Duration = Duration::from_millis(5);

/// The size of a guest's stack in bytes. Only touched pages cost memory. Each nested context needs some of it, and a Ruby
/// recipe needs some kibibytes for each nested block.
pub(crate) const GUEST_STACK: usize = 16 << 20;

/// The additional bytes for host functions on the same fiber.
pub(crate) const HOST_STACK: usize = 512 << 10;

/// The maximum number of nested open requests and tasks of a guest.
pub(crate) const MAX_OPEN: usize = 256;

/// The maximum number of bytes that one call may pass to the host. It allows the longest file content that a guest can
/// create. The engine's own default is four times as much.
pub(crate) const HOSTCALL_BYTES: usize = 32 << 20;

/// The maximum number of values in one JSON text of a guest.
pub(crate) const JSON_VALUES: usize = 1_000_000;

/// The maximum number of bytes that one policy may log. After a single warning, further lines are dropped.
pub(crate) const LOG_BYTES: usize = 16 << 20;

/// The maximum length of a log line in bytes. Longer lines are cut.
pub(crate) const LOG_LINE: usize = 64 << 10;

/// The maximum length in bytes of an exception's message, and of each frame of its backtrace. Longer texts are cut.
pub(crate) const RAISED_TEXT: usize = 256 << 10;

/// The maximum length of an exception's hint, in bytes.
pub(crate) const RAISED_HINT: usize = 4 << 10;

/// The maximum number of kept frames of a backtrace.
pub(crate) const RAISED_FRAMES: usize = 200;

/// The maximum length in bytes of the cookbook's name, and of the recipe's, in an origin. With [`ORIGIN_FILE`] they are at
/// most a kibibyte together.
pub(crate) const ORIGIN_NAME: usize = 250;
/// The maximum length in bytes of a file's path in an origin: see [`ORIGIN_NAME`].
pub(crate) const ORIGIN_FILE: usize = 512;

/// The maximum number of bytes that one call of `random.bytes` returns.
pub(crate) const RANDOM_BYTES: u32 = 65_536;

/// The maximum time of one call of `clock.sleep`.
pub(crate) const SLEEP: Duration = Duration::from_secs(60);

/// The period after which a sleep checks whether the policy may continue.
pub(crate) const SLEEP_TICK: Duration = Duration::from_millis(50);

/// The maximum size of a policy's component in bytes, including names and debugging sections.
pub(crate) const COMPONENT_BYTES: usize = 64 << 20;

/// The maximum number of bytes of all functions of a component together.
pub(crate) const CODE_BYTES: usize = 16 << 20;

/// The maximum number of bytes of one function.
pub(crate) const FUNCTION_BYTES: usize = 512 << 10;

/// The maximum number of local variables of one function, without its parameters.
pub(crate) const LOCALS: usize = 10_000;

/// The maximum number of functions in all modules of a component.
pub(crate) const FUNCTIONS: usize = 100_000;

/// The maximum number of types in all modules of a component.
pub(crate) const TYPES: usize = 50_000;

/// The maximum number of bytes of the type sections in all modules of a component.
pub(crate) const TYPE_BYTES: usize = 2 << 20;

/// The maximum number of imports in all modules of a component.
pub(crate) const IMPORTS: usize = 10_000;

/// The maximum number of exports in all modules of a component.
pub(crate) const EXPORTS: usize = 10_000;

/// The maximum number of global variables in all modules of a component.
pub(crate) const GLOBALS: usize = 10_000;

/// The maximum number of bytes of all sections outside the modules, at all levels. They contain types, imports, aliases,
/// instances and exports, with their names. A component that imports the whole contract has about 10 kB.
pub(crate) const DESCRIPTION_BYTES: usize = 256 << 10;

/// The maximum number of declared instances of components and modules, at all levels. A component that imports the whole
/// contract has 20.
pub(crate) const COMPONENT_INSTANCES: usize = 128;

/// The maximum number of core modules of a component: the code, its adapters and shims.
pub(crate) const MODULES: usize = 32;

/// The maximum number of nested components.
pub(crate) const COMPONENTS: usize = 64;

/// The maximum number of segments that fill memories and tables.
pub(crate) const SEGMENTS: usize = 20_000;

/// The maximum number of bytes of the sections that fill tables.
pub(crate) const ELEMENTS: usize = 2 << 20;

/// The maximum size of the native code of a policy's component, in bytes.
pub(crate) const NATIVE_BYTES: u64 = 128 << 20;

/// The maximum number of tables. The next constant limits the elements of one table.
pub(crate) const TABLES: usize = 64;
pub(crate) const TABLE_ELEMENTS: usize = 100_000;
/// The bytes of a table's element: a pointer. They count as memory of the guest.
const TABLE_ELEMENT: usize = 8;
/// The maximum number of core instances of one component: the code, its adapters and shims. The next constant limits its
/// memories.
const INSTANCES: usize = 64;
pub(crate) const MEMORIES: usize = 8;
/// The maximum number of live component handles. The contract does not use handles.
const HANDLES: usize = 16;

/// The limits of memory and processor time of one policy's guest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of linear memory and of tables. All instances of a policy share them.
    pub memory: usize,
    /// Bytes that a language's runtime takes for itself. They do not count against `memory`.
    pub reserved: usize,
    /// The processor time of guest code in the whole run. The host's work does not count.
    pub guest_time: Duration,
    /// The place where `memory` was set.
    pub memory_from: LimitSource,
    /// The place where `guest_time` was set.
    pub guest_time_from: LimitSource,
}

/// The place where a guest's limit was set. The error about the limit names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LimitSource {
    /// Below `limits` in the policy's grants.
    Grants,
    /// In the settings for all policies, or nowhere, so that the default applies.
    #[default]
    Settings,
}

impl LimitSource {
    /// Returns the names of the grants and settings that would raise the limit, for an error.
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
        Self { memory: 256 << 20, reserved: 0, guest_time: Duration::from_secs(60), memory_from, guest_time_from }
    }
}

impl Limits {
    /// Returns all limits of a store. `account` gets the amount of the guest's memory.
    pub(crate) fn store(&self, account: Account) -> Bounds {
        let others = StoreLimitsBuilder::new()
            .table_elements(TABLE_ELEMENTS)
            .tables(TABLES)
            .instances(INSTANCES)
            .memories(MEMORIES)
            .trap_on_grow_failure(true)
            .build();
        let (memory, reserved) = (self.memory, self.reserved);
        Bounds { memory, reserved, memory_from: self.memory_from, used: 0, growing: 0, others, account }
    }

    /// Sets the limits that the store itself enforces.
    pub(crate) fn apply<T>(store: &mut Store<T>) {
        store.set_hostcall_fuel(HOSTCALL_BYTES);
        store.set_max_component_handles(HANDLES);
    }
}

/// Limits the growth of memories and tables. The engine's own limiter decides about their numbers and the sizes of tables. For
/// the bytes of both, the error must name the setting that would raise the limit.
pub(crate) struct Bounds {
    /// The maximum number of bytes of all memories and tables of the policy's stores together, without the reserved bytes.
    memory: usize,
    /// The bytes that the store's memories and tables may have without counting against `memory`.
    reserved: usize,
    memory_from: LimitSource,
    /// The bytes that the store's memories and tables have now.
    used: usize,
    /// The bytes of the last allowed growth.
    growing: usize,
    others: StoreLimits,
    account: Account,
}

impl Bounds {
    /// Takes the bytes of a growth.
    ///
    /// # Errors
    /// The policy's limit would be exceeded.
    fn take(&mut self, growing: usize) -> wasmtime::Result<bool> {
        let used = self.used.saturating_add(growing);
        if !self.account.guest_takes(self.limited(used) - self.limited(self.used), self.memory as u64) {
            return Err(ProtocolViolation::OutOfMemory(self.memory_from).into());
        }
        self.growing = growing;
        self.used = used;
        self.account.guest_memory_grew(growing as u64);
        Ok(true)
    }

    /// Returns the bytes of the last growth, which failed.
    fn give_back(&mut self) {
        let growing = std::mem::take(&mut self.growing);
        let used = self.used.saturating_sub(growing);
        self.account.guest_gives_back(self.limited(self.used) - self.limited(used));
        self.used = used;
        self.account.guest_memory_did_not_grow(growing as u64);
    }

    /// Returns the part of the store's bytes that counts against the policy's limit.
    fn limited(&self, used: usize) -> u64 {
        used.saturating_sub(self.reserved) as u64
    }
}

impl Drop for Bounds {
    fn drop(&mut self) {
        self.account.guest_gives_back(self.limited(self.used));
    }
}

impl ResourceLimiter for Bounds {
    fn memory_growing(&mut self, current: usize, desired: usize, maximum: Option<usize>) -> wasmtime::Result<bool> {
        self.growing = 0;
        if !self.others.memory_growing(current, desired, maximum)? {
            return Ok(false);
        }
        self.take(desired.saturating_sub(current))
    }

    fn memory_grow_failed(&mut self, error: wasmtime::Error) -> wasmtime::Result<()> {
        self.give_back();
        self.others.memory_grow_failed(error)
    }

    fn table_growing(&mut self, current: usize, desired: usize, maximum: Option<usize>) -> wasmtime::Result<bool> {
        self.growing = 0;
        if !self.others.table_growing(current, desired, maximum)? {
            return Ok(false);
        }
        self.take(desired.saturating_sub(current).saturating_mul(TABLE_ELEMENT))
    }

    fn table_grow_failed(&mut self, error: wasmtime::Error) -> wasmtime::Result<()> {
        self.give_back();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attack_tables_count_as_memory() {
        let limits = Limits { memory: 1 << 20, ..Limits::default() };
        let account = Account::unmetered("test");
        let mut bounds = limits.store(account.clone());
        assert!(bounds.table_growing(0, 100_000, None).unwrap());
        assert!(bounds.memory_growing(0, 256 << 10, None).is_err(), "800,000 bytes are taken");
        assert!(bounds.memory_growing(0, 128 << 10, None).unwrap());
        assert!(bounds.table_growing(0, 100_000, None).is_err());
        drop(bounds);
        assert!(limits.store(account).memory_growing(0, 1 << 20, None).unwrap(), "a store gives back what it took");
    }
}
