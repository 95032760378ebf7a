//! Tracks the resources of the host that one policy uses, and enforces the policy's limits.
//!
//! The engine limits the guest itself. An account covers the *host's* work for the guest: memory, computation, writes and
//! waits. Each policy has one [`Account`], and all parts of the host share it. Memory is charged by a [`Receipt`], which only
//! the account creates. It returns the bytes when it is dropped, so the charge always equals the memory in use. All other
//! charges are final.
//!
//! The first exceeded limit ends the policy. From then on each charge fails, even if guest code rescues the error, and the
//! next [`Account::check`] returns the reason. Rejected: an error that guest code can rescue, because the code could then
//! retry forever.

mod ended;
mod free;
mod limits;
mod meters;
mod weight;

pub use ended::{Ended, Exceeded};
pub use free::{FreeEntries, FreeSpace};
pub use limits::{AccountLimits, Limit};
pub use meters::{Meters, Usage};
pub use weight::{claim_bytes, json_text_bytes, value_bytes};
pub(crate) use weight::{failure_bytes, guard_bytes, origin_bytes, property_bytes, text_bytes, wish_bytes};

use crate::{Stop, StopReason, StopStep};
use meters::{Counter, Turn};
use node::origin::Origin;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// The number of units of work between two readings of the clock. A unit is an item of a list, or 64 bytes of content.
const UNITS_BETWEEN_LOOKS: u64 = 2_048;

/// The maximum number of bytes of the host's own remarks in the log of one policy. Remarks contain names that guests choose,
/// so they need a limit.
const MAX_REMARKS: u64 = 1 << 20;

/// The number of bytes to write to a file system before its free space is queried again.
const BYTES_BETWEEN_FLOORS: u64 = 64 << 20;

/// The account of one policy. Clones are the same account. The default account belongs to no policy, and each charge to it
/// fails.
#[derive(Debug, Clone, Default)]
pub struct Account(Option<Arc<Inner>>);

#[derive(Debug)]
struct Inner {
    policy: String,
    limits: AccountLimits,
    meters: Meters,
    /// False in tests that forget to charge on purpose.
    charges: bool,
    memory: Counter,
    disk: Counter,
    entries: Counter,
    open_files: Counter,
    /// The maximum number of processes of a command so far.
    processes: Counter,
    /// The number of bytes that the policy must leave free on each file system.
    least_free: u64,
    /// True if the policy may take at most half of the free space, because other policies of the run need some, too.
    shares: bool,
    /// The state of each file system, by device.
    room: Mutex<HashMap<u64, Room>>,
    /// Users and groups made for the policy.
    accounts: Counter,
    /// Pauses that the policy has made, in milliseconds.
    pauses: Counter,
    /// Processor time of the guest itself, in nanoseconds.
    guest_time: AtomicU64,
    /// The bytes of the guest's own memory, which has a separate limit.
    guest_memory: AtomicU64,
    /// The part of these bytes that counts against the policy's memory limit. All its instances share that limit.
    limited_memory: Counter,
    /// Units of work that the host did for the policy.
    work: AtomicU64,
    /// Bytes of the host's remarks in the log.
    remarks: AtomicU64,
    turn: Mutex<Turn>,
    /// The signal that ended a long step of this turn, or 0.
    interrupted: AtomicU32,
    exceeded: OnceLock<Exceeded>,
}

/// The state of a file system that a policy writes to. An entry counts as [`FreeSpace::ENTRY`] bytes.
#[derive(Debug, Default)]
struct Room {
    /// The bytes that may be written before the free space is queried again.
    rest: u64,
    /// The bytes that the policy has written so far.
    taken: u64,
    /// The bytes that are reserved for other policies. The policy itself may take the same amount. `None` before the first
    /// query.
    others: Option<u64>,
}

impl Account {
    /// Creates the account of a policy.
    pub fn new(policy: &str, limits: AccountLimits, meters: Meters) -> Self {
        Self(Some(Arc::new(Inner {
            policy: policy.into(),
            limits,
            meters,
            charges: true,
            memory: Counter::default(),
            disk: Counter::default(),
            entries: Counter::default(),
            open_files: Counter::default(),
            processes: Counter::default(),
            least_free: 0,
            shares: false,
            room: Mutex::default(),
            accounts: Counter::default(),
            pauses: Counter::default(),
            guest_time: AtomicU64::new(0),
            guest_memory: AtomicU64::new(0),
            limited_memory: Counter::default(),
            work: AtomicU64::new(0),
            remarks: AtomicU64::new(0),
            turn: Mutex::default(),
            interrupted: AtomicU32::new(0),
            exceeded: OnceLock::new(),
        })))
    }

    /// Turns charges off, for tests that forget to charge on purpose. It affects only an account without clones.
    #[doc(hidden)]
    #[must_use]
    pub fn without_charges(mut self) -> Self {
        if let Some(inner) = self.0.as_mut().and_then(Arc::get_mut) {
            inner.charges = false;
        }
        self
    }

    /// Sets the number of bytes that the policy must leave free on each file system. It affects only an account without
    /// clones.
    #[must_use]
    pub fn leaving_free(mut self, bytes: u64) -> Self {
        if let Some(inner) = self.0.as_mut().and_then(Arc::get_mut) {
            inner.least_free = bytes;
        }
        self
    }

    /// Limits the policy to half of each file system's free space at its first write, because other policies of the run need
    /// space, too. It affects only an account without clones.
    #[must_use]
    pub fn sharing_room(mut self) -> Self {
        if let Some(inner) = self.0.as_mut().and_then(Arc::get_mut) {
            inner.shares = true;
        }
        self
    }

    /// Creates an account with the default limits that does not measure the process itself.
    pub fn unmetered(policy: &str) -> Self {
        Self::new(policy, AccountLimits::default(), Meters::default())
    }

    /// Charges bytes of the host's memory until the receipt is dropped. `at` returns the place of the request, for the error.
    ///
    /// # Errors
    /// The bytes exceed the policy's limit.
    pub fn keep(&self, bytes: u64, at: impl FnOnce() -> Origin) -> Result<Receipt, Ended> {
        let mut receipt = Receipt { account: self.clone(), bytes: 0 };
        receipt.grow(bytes, at)?;
        Ok(receipt)
    }

    /// Charges an amount for good: written bytes, created entries and accounts, milliseconds of a pause.
    ///
    /// # Errors
    /// The amount exceeds the policy's limit. Nothing is then charged.
    pub fn spend(&self, limit: Limit, amount: u64) -> Result<(), Ended> {
        let inner = self.inner()?;
        inner.charge(limit, amount, || Origin::policy(&inner.policy))
    }

    /// Charges bytes before they are written to a file system, and checks that enough space stays free. `free` returns the
    /// free space, if it is known. It is called only now and then.
    ///
    /// # Errors
    /// The policy may not write them.
    pub fn write(
        &self,
        bytes: u64,
        device: Option<u64>,
        free: impl FnOnce() -> Option<FreeSpace>,
    ) -> Result<(), Ended> {
        self.spend(Limit::Disk, bytes)?;
        self.leave_free(bytes, device, free)
    }

    /// Checks that enough space stays free on a file system, without charging the bytes.
    ///
    /// # Errors
    /// Too little space would stay free, so the policy ends.
    pub fn leave_free(
        &self,
        bytes: u64,
        device: Option<u64>,
        free: impl FnOnce() -> Option<FreeSpace>,
    ) -> Result<(), Ended> {
        let inner = self.inner()?;
        if inner.least_free == 0 {
            return Ok(());
        }
        let mut rooms = inner.room.lock().unwrap_or_else(PoisonError::into_inner);
        // The free space of a file system without a known device is queried each time.
        let mut unknown = Room::default();
        let room = device.map_or(&mut unknown, |device| rooms.entry(device).or_default());
        room.taken = room.taken.saturating_add(bytes);
        if let Some(rest) = room.rest.checked_sub(bytes) {
            room.rest = rest;
            return Ok(());
        }
        let Some(free) = free() else { return Ok(()) };
        let Some(spare) = free.bytes.checked_sub(inner.least_free).and_then(|spare| spare.checked_sub(bytes)) else {
            return Err(inner.end(Exceeded::floor(inner, free.bytes)));
        };
        let spare_entries = match free.entries {
            None => u64::MAX,
            Some(entries) => match entries.spare() {
                0 => return Err(inner.end(Exceeded::entries_floor(inner, entries))),
                spare => spare.saturating_mul(FreeSpace::ENTRY),
            },
        };
        let spare = spare.min(spare_entries);
        // Only half of it, because others write to the same file system.
        let rest = (spare / 2).min(BYTES_BETWEEN_FLOORS);
        let others = if inner.shares { *room.others.get_or_insert(spare / 2) } else { 0 };
        // Overwriting a file needs no additional space, and writes by commands and other users are not counted here. So the
        // policy ends only if both its writes and the free space are beyond its half.
        let rest = match (spare.checked_sub(others), others.checked_sub(room.taken)) {
            (None, None) => return Err(inner.end(Exceeded::share(inner, room.taken.saturating_sub(bytes)))),
            (left, unused) => rest.min(left.unwrap_or_default().max(unused.unwrap_or_default())),
        };
        room.rest = rest;
        Ok(())
    }

    /// Counts an open file until the guard is dropped. If there are too many, the policy ends at the next check.
    pub fn open_file(&self) -> OpenFile {
        if let Some(inner) = &self.0 {
            let open = inner.open_files.add_all(1);
            let most = inner.limits.most(Limit::OpenFiles);
            if inner.charges && open > most {
                inner.end(Exceeded::new(inner, Limit::OpenFiles, most, 1).at(Origin::policy(&inner.policy)));
            }
        }
        OpenFile(self.clone())
    }

    /// Records the number of processes of a command, and checks it.
    ///
    /// # Errors
    /// The command has too many processes, so the policy ends.
    pub fn has_processes(&self, alive: u64) -> Result<(), Ended> {
        let inner = self.inner()?;
        inner.processes.saw(alive);
        if inner.charges && alive > inner.limits.most(Limit::Processes) {
            return Err(inner.end(Exceeded::new(inner, Limit::Processes, alive, 0)));
        }
        Ok(())
    }

    /// Counts work of the host during a long step, and checks now and then whether the step must end. A unit is an item of a
    /// list or 64 bytes of content.
    ///
    /// # Errors
    /// The policy's time is over, a limit was exceeded, or a signal asks the run to end.
    pub fn work(&self, units: u64) -> Result<(), Ended> {
        let inner = self.inner()?;
        let before = inner.work.fetch_add(units, Ordering::Relaxed);
        let looks = |at: u64| at / UNITS_BETWEEN_LOOKS;
        if looks(before) == looks(before.saturating_add(units)) {
            return Ok(());
        }
        self.check_waiting()
    }

    /// Checks whether a waiting step must end. It stores the reason for [`interruption`](Self::interruption).
    ///
    /// # Errors
    /// The policy's time is over, a limit was exceeded, or a signal asks the run to end.
    pub fn check_waiting(&self) -> Result<(), Ended> {
        let inner = self.inner()?;
        let checked = self.check();
        if let Err(Ended::Stopped(reason)) = checked {
            inner.interrupted.store(reason.number(), Ordering::Relaxed);
        }
        checked
    }

    /// Returns true if the run must end at once, without finishing the current step.
    pub fn ends_at_once(&self) -> bool {
        let Some(inner) = &self.0 else { return false };
        let turn = inner.turn.lock().unwrap_or_else(PoisonError::into_inner);
        turn.stop.step() >= Some(StopStep::AtOnce)
    }

    /// Checks only the policy's wall time, for a step that may finish after a first signal.
    ///
    /// # Errors
    /// Its time is over.
    pub fn check_wall(&self) -> Result<(), Ended> {
        let inner = self.inner()?;
        let deadline = inner.turn.lock().unwrap_or_else(PoisonError::into_inner).deadline;
        match deadline.filter(|deadline| Instant::now() >= *deadline) {
            Some(_) => Err(inner.end(Exceeded::new(inner, Limit::Wall, inner.limits.most(Limit::Wall), 0))),
            None => Ok(()),
        }
    }

    /// Returns the rest of the policy's wall time, or `None` outside of its turn.
    pub fn wall_left(&self) -> Option<Duration> {
        let deadline = self.0.as_ref()?.turn.lock().unwrap_or_else(PoisonError::into_inner).deadline;
        deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()))
    }

    /// Adds processor time that another thread has used for the policy.
    pub fn host_worked(&self, time: Duration) {
        if let Some(inner) = &self.0 {
            inner.turn.lock().unwrap_or_else(PoisonError::into_inner).before += time;
        }
    }

    /// Checks the policy's limits and times, and whether a signal asks the run to end.
    ///
    /// # Errors
    /// Returns the exceeded limit, or the signal that asks the run to end.
    pub fn check(&self) -> Result<(), Ended> {
        let inner = self.inner()?;
        inner.verdict()?;
        let mut turn = inner.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        if turn.looks_again(now)
            && let Some(grown) = turn.grown_too_much(&inner.meters, inner.guest_memory.load(Ordering::Relaxed))
        {
            drop(turn);
            return Err(inner.end(Exceeded::growth(inner, grown)));
        }
        if turn.deadline.is_some_and(|deadline| now >= deadline) {
            drop(turn);
            let most = inner.limits.most(Limit::Wall);
            return Err(inner.end(Exceeded::new(inner, Limit::Wall, most, 0)));
        }
        let host_time = turn.host_time(now, &inner.meters, inner.guest_time.load(Ordering::Relaxed));
        let stopped = turn.stop.requested();
        drop(turn);
        if host_time > inner.limits.host_time {
            let used = Limit::HostTime.amount(host_time);
            inner.turn.lock().unwrap_or_else(PoisonError::into_inner).told = host_time;
            return Err(inner.end(Exceeded::new(inner, Limit::HostTime, used, 0)));
        }
        stopped.map_or(Ok(()), |reason| Err(Ended::Stopped(reason)))
    }

    /// Checks whether the policy has exceeded a limit. Unlike [`check`](Self::check), it ignores the clock and signals.
    ///
    /// # Errors
    /// Returns the exceeded limit.
    pub fn verdict(&self) -> Result<(), Ended> {
        self.inner()?.verdict()
    }

    /// Returns the reason why a step of this turn was ended early, or `None`. It explains more than the step's own error,
    /// such as "interrupted".
    pub fn interruption(&self) -> Option<Ended> {
        let inner = self.0.as_ref()?;
        let reason = StopReason::of_number(inner.interrupted.load(Ordering::Relaxed));
        inner.verdict().err().or(reason.map(Ended::Stopped))
    }

    /// Begins a turn of the policy on the current thread. From now on its wall time runs, and the thread's processor time and
    /// memory count for it. `stop` has the signals that end long steps.
    pub fn begin_turn(&self, stop: Stop) {
        let Some(inner) = &self.0 else { return };
        inner.interrupted.store(0, Ordering::Relaxed);
        let mut turn = inner.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let budget = inner.limits.host_memory.saturating_sub(inner.memory.used());
        turn.begin(stop, inner.limits.wall, budget, &inner.meters, inner.guest_time.load(Ordering::Relaxed));
    }

    /// Ends the turn. Later work of the thread does not count for the policy.
    pub fn end_turn(&self) {
        let Some(inner) = &self.0 else { return };
        let mut turn = inner.turn.lock().unwrap_or_else(PoisonError::into_inner);
        turn.end(&inner.meters, inner.guest_time.load(Ordering::Relaxed));
    }

    /// Adds processor time of the guest itself, which does not count as the host's.
    pub fn guest_worked(&self, time: Duration) {
        if let Some(inner) = &self.0 {
            let nanoseconds = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
            inner.guest_time.fetch_add(nanoseconds, Ordering::Relaxed);
        }
    }

    /// Returns the processor time of all guests of the policy so far. A policy in two languages has two.
    pub fn guest_time(&self) -> Duration {
        let nanoseconds = self.0.as_ref().map_or(0, |inner| inner.guest_time.load(Ordering::Relaxed));
        Duration::from_nanos(nanoseconds)
    }

    /// Takes bytes of the memory limit that all instances of the policy share, and returns true. Returns false and takes
    /// nothing if the instances would have more than `most` bytes together.
    #[must_use]
    pub fn guest_takes(&self, bytes: u64, most: u64) -> bool {
        self.0.as_ref().is_none_or(|inner| inner.limited_memory.add(bytes, most))
    }

    /// Returns bytes that [`guest_takes`](Self::guest_takes) took, because the memory did not grow or its instance has ended.
    pub fn guest_gives_back(&self, bytes: u64) {
        if let Some(inner) = &self.0 {
            inner.limited_memory.give_back(bytes);
        }
    }

    /// Records the growth of the guest's own memory, which does not count as the host's.
    pub fn guest_memory_grew(&self, bytes: u64) {
        if let Some(inner) = &self.0 {
            inner.guest_memory.fetch_add(bytes, Ordering::Relaxed);
        }
    }

    /// Reverts [`guest_memory_grew`](Self::guest_memory_grew), if the memory could not be allocated.
    pub fn guest_memory_did_not_grow(&self, bytes: u64) {
        if let Some(inner) = &self.0 {
            inner.guest_memory.fetch_sub(bytes, Ordering::Relaxed);
        }
    }

    /// Counts a remark of the host, and returns whether to write it to the log.
    pub fn remarks(&self, line: &str) -> Remark {
        let Some(inner) = &self.0 else { return Remark::LeftOut };
        let bytes = line.len() as u64;
        let before = inner.remarks.fetch_add(bytes, Ordering::Relaxed);
        match (before <= MAX_REMARKS, before.saturating_add(bytes) <= MAX_REMARKS) {
            (_, true) => Remark::Written,
            (true, false) => Remark::FirstLeftOut,
            (false, false) => Remark::LeftOut,
        }
    }

    /// Returns the policy's limits.
    pub fn limits(&self) -> AccountLimits {
        self.0.as_ref().map_or(AccountLimits::NOTHING, |inner| inner.limits)
    }

    /// Returns the policy's usage so far.
    pub fn usage(&self) -> Usage {
        let Some(inner) = &self.0 else { return Usage::default() };
        let mut turn = inner.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let guest = inner.guest_time.load(Ordering::Relaxed);
        Usage {
            host_memory: inner.memory.used(),
            host_memory_peak: inner.memory.peak(),
            host_time: turn.host_time(Instant::now(), &inner.meters, guest).max(turn.told),
            guest_time: Duration::from_nanos(guest),
            disk: inner.disk.used(),
            entries: inner.entries.used(),
            open_files: inner.open_files.peak(),
            processes: inner.processes.peak(),
            accounts: inner.accounts.used(),
            pauses: Duration::from_millis(inner.pauses.used()),
            work: inner.work.load(Ordering::Relaxed),
        }
    }

    fn inner(&self) -> Result<&Arc<Inner>, Ended> {
        self.0.as_ref().ok_or_else(|| Exceeded::nobodys().into())
    }
}

impl Inner {
    fn counter(&self, limit: Limit) -> Option<&Counter> {
        match limit {
            Limit::HostMemory => Some(&self.memory),
            Limit::Disk => Some(&self.disk),
            Limit::Entries => Some(&self.entries),
            Limit::Accounts => Some(&self.accounts),
            Limit::Pauses => Some(&self.pauses),
            // These limits are measured instead of charged.
            Limit::OpenFiles | Limit::Processes | Limit::HostTime | Limit::Wall => None,
        }
    }

    fn charge(&self, limit: Limit, amount: u64, at: impl FnOnce() -> Origin) -> Result<(), Ended> {
        self.verdict()?;
        let Some(counter) = self.counter(limit) else { return Ok(()) };
        if !self.charges || counter.add(amount, self.limits.most(limit)) {
            return Ok(());
        }
        Err(self.end(Exceeded::new(self, limit, counter.used(), amount).at(at())))
    }

    fn verdict(&self) -> Result<(), Ended> {
        self.exceeded.get().map_or(Ok(()), |exceeded| Err(exceeded.clone().into()))
    }

    /// Ends the policy. The first exceeded limit remains the reason.
    fn end(&self, exceeded: Exceeded) -> Ended {
        self.exceeded.get_or_init(|| exceeded).clone().into()
    }
}

/// A file that is open for a policy.
#[derive(Debug, Default)]
#[must_use = "the file counts as open as long as its guard lives"]
pub struct OpenFile(Account);

impl OpenFile {
    /// Returns the account for which the file is open.
    pub fn account(&self) -> &Account {
        &self.0
    }
}

impl Drop for OpenFile {
    fn drop(&mut self) {
        if let Some(inner) = &self.0.0 {
            inner.open_files.give_back(1);
        }
    }
}

/// The decision about a remark of the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remark {
    /// The log gets the remark.
    Written,
    /// The log gets one line that says that remarks are left out from here on.
    FirstLeftOut,
    /// The log does not get the remark.
    LeftOut,
}

/// A charge of the host's memory. Only an account creates it. When it is dropped, the account gets the bytes back.
#[derive(Debug, Default)]
#[must_use = "what is kept is paid for as long as its receipt lives"]
pub struct Receipt {
    account: Account,
    bytes: u64,
}

impl Receipt {
    /// Charges further bytes to this receipt.
    ///
    /// # Errors
    /// The bytes exceed the policy's limit. The receipt is then unchanged.
    pub fn grow(&mut self, bytes: u64, at: impl FnOnce() -> Origin) -> Result<(), Ended> {
        self.account.inner()?.charge(Limit::HostMemory, bytes, at)?;
        self.bytes = self.bytes.saturating_add(bytes);
        Ok(())
    }

    /// Changes the receipt to cover exactly `bytes` bytes.
    ///
    /// # Errors
    /// As [`grow`](Self::grow).
    pub fn resize(&mut self, bytes: u64, at: impl FnOnce() -> Origin) -> Result<(), Ended> {
        match bytes.checked_sub(self.bytes) {
            Some(more) => self.grow(more, at),
            None => {
                self.shrink(self.bytes - bytes);
                Ok(())
            }
        }
    }

    /// Returns bytes to the account, at most the bytes of this receipt.
    pub fn shrink(&mut self, bytes: u64) {
        let bytes = bytes.min(self.bytes);
        self.bytes -= bytes;
        if let Some(inner) = &self.account.0 {
            inner.memory.give_back(bytes);
        }
    }

    /// Returns the number of bytes that the receipt covers.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl Drop for Receipt {
    fn drop(&mut self) {
        self.shrink(self.bytes);
    }
}

#[cfg(test)]
mod tests;
