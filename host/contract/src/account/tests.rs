use super::*;
use crate::Failure;
use std::cell::Cell;

const LIMITS: AccountLimits = AccountLimits { host_memory: 1 << 20, ..AccountLimits::for_guest_memory(0) };

fn account() -> Account {
    Account::new("web", LIMITS, Meters::default())
}

fn place() -> Origin {
    let text = |text: &str| Some(text.to_owned());
    let (cookbook, recipe, file) = (text("site"), text("default"), text("recipes/default.rb"));
    Origin { policy: "web".into(), cookbook, recipe, file, line: Some(7) }
}

#[test]
fn memory_is_given_back_with_its_receipt() {
    let account = account();
    let first = account.keep(600_000, Origin::default).unwrap();
    let mut second = account.keep(400_000, Origin::default).unwrap();
    second.resize(300_000, Origin::default).unwrap();
    assert_eq!(account.usage().host_memory, 900_000);
    drop(first);
    second.grow(500_000, Origin::default).unwrap();
    assert_eq!((second.bytes(), account.usage().host_memory), (800_000, 800_000));
    second.shrink(u64::MAX);
    assert_eq!((second.bytes(), account.usage().host_memory, account.usage().host_memory_peak), (0, 0, 1_000_000));
}

#[test]
fn the_first_limit_that_is_exceeded_ends_the_policy_for_good() {
    let account = account();
    let half = account.keep(1 << 19, Origin::default).unwrap();
    assert!(account.check().is_ok());
    let ended = account.keep(1 << 20, place).unwrap_err();
    let said = "policy `web` used up its 1 MiB of the host's memory: it used 0.5 MiB and asked for 1 MiB more \
                (`limits.host_memory_mib` in its grants)";
    let failure = Failure::from(ended.clone());
    assert_eq!(failure.to_string(), said);
    assert_eq!(failure.backtrace(), ["site/recipes/default.rb:7: in site::default"]);
    // Nothing else can be charged, even if there is room again, and the first place stays.
    drop(half);
    assert_eq!(account.keep(1, Origin::default).unwrap_err(), ended);
    assert_eq!(account.spend(Limit::Disk, 1).unwrap_err(), ended);
    assert_eq!((account.check(), account.work(0).is_ok()), (Err(ended), true));
    assert_eq!(account.usage().host_memory, 0);
}

#[test]
fn what_is_spent_is_not_given_back() {
    for (limit, most, text) in [
        (Limit::Disk, 4u64 << 30, "used up its 4096 MiB of disk: it used 4096 MiB and asked for 0.0 MiB more"),
        (Limit::Entries, 500_000, "used up its 500000 of files and directories: it used 500000 and asked for 1 more"),
        (Limit::Pauses, 900_000, "used up its 900 s of pauses: it used 900 s and asked for 0.001 s more"),
    ] {
        let account = account();
        account.spend(limit, most).unwrap();
        let said = account.spend(limit, 1).unwrap_err().to_string();
        assert_eq!(said, format!("{text} (`limits.{}` in its grants)", limit.setting().key));
    }
}

#[test]
fn one_open_file_too_many_ends_the_policy() {
    let account = Account::new("web", AccountLimits { open_files: 2, ..LIMITS }, Meters::default());
    for _ in 0..10 {
        let _two = [account.open_file(), account.open_file()];
        assert!(account.verdict().is_ok());
    }
    assert_eq!(account.usage().open_files, 2);
    let all = [account.open_file(), account.open_file(), account.open_file()];
    let said = account.verdict().unwrap_err().to_string();
    assert_eq!(said, "used up its 2 of open files: it used 2 and asked for 1 more (`limits.open_files` in its grants)");
    drop(all);
    assert!(account.spend(Limit::Entries, 1).is_err(), "the policy is at its end");
}

#[test]
fn processes_are_counted_where_they_are_seen() {
    let account = Account::new("web", AccountLimits { processes: 3, ..LIMITS }, Meters::default());
    assert_eq!((account.has_processes(3), account.has_processes(1)), (Ok(()), Ok(())));
    assert_eq!(account.usage().processes, 3);
    let said = account.has_processes(4).unwrap_err().to_string();
    assert_eq!(said, "used up its 3 of processes at a time: it used 4 (`limits.processes` in its grants)");
}

#[test]
fn every_file_system_keeps_its_floor() {
    const MIB: u64 = 1 << 20;
    let account = account().leaving_free(100 * MIB);
    let asked = Cell::new(0);
    let write = |device, free: u64, bytes| {
        account.write(bytes, Some(device), || {
            asked.set(asked.get() + 1);
            Some(FreeSpace::bytes(free))
        })
    };
    // Half of what is free above the floor is written before the file system is asked again.
    (0..11).for_each(|_| write(1, 121 * MIB, MIB).unwrap());
    assert_eq!(asked.get(), 1);
    write(1, 110 * MIB, MIB).unwrap();
    write(2, 1 << 40, MIB).unwrap();
    assert_eq!(asked.get(), 3);
    assert_eq!(account.usage().disk, 13 * MIB);
    let said = write(3, 100 * MIB, MIB).unwrap_err().to_string();
    let expected = "may not write to a file system that has 100 MiB free: 100 MiB are always left (`min_free_mib` of the settings)";
    assert_eq!(said, expected);
    assert!(write(2, 1 << 40, 1).is_err(), "the policy is at its end");
    // A file system without blocks, such as `/proc`, stores nothing.
    let account = Account::unmetered("web").leaving_free(MIB);
    account.write(1, Some(1), || None).unwrap();
}

/// One policy that fills a file system up to its floor leaves nothing to those that come after it.
#[test]
fn attack_one_policy_leaves_half_of_the_room_to_others() {
    const MIB: u64 = 1 << 20;
    let free = Cell::new(300 * MIB);
    let write = |account: &Account, bytes: u64, takes: bool| {
        account.write(bytes, Some(1), || Some(FreeSpace::bytes(free.get())))?;
        free.set(free.get() - if takes { bytes } else { 0 });
        Ok::<_, Ended>(())
    };
    let sharing = || account().leaving_free(100 * MIB).sharing_room();
    let first = sharing();
    let written = (0..).take_while(|_| write(&first, MIB, true).is_ok()).count();
    assert!((99..=101).contains(&written), "{written} MiB of 200");
    let said = write(&first, MIB, true).unwrap_err().to_string();
    assert!(said.starts_with("wrote 100 MiB to a file system that has less than half of its room left"), "{said}");
    let second = sharing();
    assert!((49..=51).contains(&(0..).take_while(|_| write(&second, MIB, true).is_ok()).count()));
    // Entries are room as well.
    let (third, left) = (sharing(), Cell::new(1_000));
    let make = || {
        let entries = Some(FreeEntries { left: left.get(), all: 10_000 });
        third.leave_free(FreeSpace::ENTRY, Some(1), || Some(FreeSpace { bytes: 1 << 40, entries }))?;
        left.set(left.get() - 1);
        Ok::<_, Ended>(())
    };
    let made = (0..).take_while(|_| make().is_ok()).count();
    assert!((249..=251).contains(&made), "{made} of the 500 above the floor");
    // The same file again and again takes no room, and neither does it count what commands have taken.
    free.set(300 * MIB);
    let again = sharing();
    (0..1_000).for_each(|_| write(&again, MIB, false).unwrap());
    let after_command = sharing();
    write(&after_command, MIB, true).unwrap();
    free.set(120 * MIB);
    (0..15).for_each(|_| write(&after_command, MIB, true).unwrap());
    // Alone, a policy may take it all.
    free.set(300 * MIB);
    let alone = account().leaving_free(100 * MIB);
    assert!((199..=200).contains(&(0..).take_while(|_| write(&alone, MIB, true).is_ok()).count()));
}

#[test]
fn a_twentieth_of_the_entries_of_a_small_file_system_is_left() {
    let account = account().leaving_free(1);
    let asked = Cell::new(0);
    let make = |left| {
        account.leave_free(FreeSpace::ENTRY, Some(1), || {
            asked.set(asked.get() + 1);
            Some(FreeSpace { bytes: 1 << 40, entries: Some(FreeEntries { left, all: 5_000 }) })
        })
    };
    // Half of the 100 that are left above the floor of 250.
    (0..51).for_each(|_| make(350).unwrap());
    assert_eq!(asked.get(), 1);
    make(251).unwrap();
    let expected = "may not write to a file system that can have 250 more files: room for 250 is always left";
    assert_eq!(make(250).unwrap_err().to_string(), expected);
    assert_eq!(FreeEntries { left: 10_500, all: 1 << 30 }.spare(), 500);
}

#[test]
fn a_file_system_that_cannot_be_told_from_others_is_asked_each_time() {
    const MIB: u64 = 1 << 20;
    let account = account().leaving_free(100 * MIB);
    let write = |device, free: u64| account.write(1, device, || Some(FreeSpace::bytes(free)));
    // Neither one with a number nor one without leaves room for it.
    write(Some(0), 1 << 40).unwrap();
    write(None, 1 << 40).unwrap();
    assert!(write(None, 100 * MIB).is_err());
}

#[test]
fn an_account_of_nobody_takes_no_charge() {
    let nobodys = Account::default();
    assert!(nobodys.keep(0, Origin::default).is_err());
    assert!(nobodys.spend(Limit::Disk, 0).is_err());
    assert!(nobodys.check().is_err() && nobodys.work(1).is_err());
}

#[test]
fn a_turn_ends_with_its_wall_time() {
    let account = Account::new("web", AccountLimits { wall: Duration::ZERO, ..LIMITS }, Meters::default());
    assert!(account.check().is_ok(), "its turn has not begun");
    account.begin_turn(Stop::default());
    let said = account.check().unwrap_err().to_string();
    assert_eq!(said, "used up its 0 s of wall time (`limits.wall_seconds` in its grants)");
}

#[test]
fn a_signal_ends_long_steps_and_not_the_policy() {
    let stop = Stop::default();
    let account = account();
    account.begin_turn(stop.clone());
    stop.request(StopReason::Signal(15));
    assert_eq!(account.interruption(), None);
    assert_eq!(account.work(UNITS_BETWEEN_LOOKS), Err(Ended::Stopped(StopReason::Signal(15))));
    assert_eq!(account.interruption(), Some(Ended::Stopped(StopReason::Signal(15))));
    assert!(account.verdict().is_ok());
    assert!(account.keep(1, Origin::default).is_ok());
    // Handlers run after the signal, with a turn of their own.
    account.begin_turn(Stop::default());
    assert_eq!(account.work(UNITS_BETWEEN_LOOKS), Ok(()));
    assert_eq!(account.interruption(), None);
}

thread_local! {
    static PROCESSOR: Cell<Duration> = const { Cell::new(Duration::ZERO) };
    static RESIDENT: Cell<u64> = const { Cell::new(0) };
}

fn metered(limits: AccountLimits) -> Account {
    let meters =
        Meters { resident: Some(|| Some(RESIDENT.get())), processor: Some(|| PROCESSOR.get()), ..Meters::default() };
    let account = Account::new("web", limits, meters);
    account.begin_turn(Stop::default());
    account
}

/// The thread computes, and the kernel is due to be asked again.
fn computes(account: &Account, time: Duration) {
    PROCESSOR.set(PROCESSOR.get() + time);
    account.inner().unwrap().turn.lock().unwrap().forget_last_look();
}

/// The process grows, and the kernel is due to be asked again.
fn grows(account: &Account, bytes: u64) {
    RESIDENT.set(RESIDENT.get() + bytes);
    account.inner().unwrap().turn.lock().unwrap().forget_last_look();
}

#[test]
fn the_hosts_time_is_what_the_guest_did_not_use() {
    let second = Duration::from_secs(1);
    let account = metered(AccountLimits { host_time: 3 * second, ..LIMITS });
    computes(&account, 5 * second);
    account.guest_worked(4 * second);
    assert!(account.check().is_ok());
    account.end_turn();
    // Between turns others have the thread.
    computes(&account, 100 * second);
    assert_eq!(account.usage().host_time, second);
    account.begin_turn(Stop::default());
    computes(&account, 3 * second);
    let said = account.check().unwrap_err().to_string();
    let expected = "used up its 3 s of the host's processor time: it used 4 s (`limits.host_seconds` in its grants)";
    assert_eq!(said, expected);
}

#[test]
fn memory_that_nobody_charged_ends_the_policy_too() {
    let account = metered(LIMITS);
    let allowed = LIMITS.host_memory + Meters::SLACK;
    grows(&account, allowed);
    assert!(account.check().is_ok());
    // The guest's own memory has a limit of its own.
    account.guest_memory_grew(1 << 20);
    grows(&account, 1 << 20);
    assert!(account.check().is_ok());
    grows(&account, 1);
    let said = account.check().unwrap_err().to_string();
    assert!(said.starts_with("made wrun's memory grow by 257.0 MiB, "), "{said}");
    // What was paid for before the turn is not allowed a second time.
    let account = metered(LIMITS);
    let _paid = account.keep(LIMITS.host_memory, Origin::default).unwrap();
    account.begin_turn(Stop::default());
    grows(&account, Meters::SLACK + 1);
    assert!(account.check().is_err());
}

#[test]
fn memory_that_cannot_be_measured_ends_the_policy() {
    let account = Account::new("web", LIMITS, Meters { resident: Some(|| None), ..Meters::default() });
    account.begin_turn(Stop::default());
    assert!(account.check().is_err());
}

#[test]
fn texts_of_json_are_never_estimated_below_their_values() {
    for text in [
        "null",
        "[0,0,0,0]",
        "[[],[[]],{}]",
        r#"{"a":{"b":"c","d":[1,"2",null]},"e":""}"#,
        "\"x\"",
        "\n [1, {}]",
        r#""a [text], {with}: signs""#,
    ] {
        let value = serde_json::from_str(text).unwrap();
        assert!(json_text_bytes(text) >= value_bytes(&value), "{text}: {}", value_bytes(&value));
    }
}
