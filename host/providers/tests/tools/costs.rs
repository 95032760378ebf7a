//! What providers write, make and hold is charged to the policy's account; long steps end with the policy's time.

use crate::support::{Bench, exists, run};
use contract::{Account, AccountLimits, Ended, Meters, Stop, StopReason};
use flate2::Compression;
use flate2::write::GzEncoder;
use providers::{MachineProviders, Settings};
use serde_json::{Value, json};
use std::io::Write as _;
use std::sync::Arc;

const MIB: usize = 1 << 20;

/// Runs actions of one policy with an account.
struct Charged {
    bench: Bench,
    account: Account,
    providers: MachineProviders,
}

impl Charged {
    fn new(limits: AccountLimits) -> Self {
        Self::with(Account::new("database", limits, Meters::default()))
    }

    fn with(account: Account) -> Self {
        let bench = Bench::whole("").unlimited();
        let log = Some(Arc::new(|_, _: &str| ()) as Arc<providers::Log>);
        let settings = Settings { account: account.clone(), log, ..bench.settings(false) };
        let providers = MachineProviders::new(Arc::new(settings)).unwrap();
        Self { bench, account, providers }
    }

    fn run(&mut self, kind: &str, name: &str, action: &str, properties: Value) -> bool {
        let declaration = self.bench.declaration(kind, name, properties);
        run(&mut self.providers, &declaration, action, false).is_ok()
    }

    /// The sentence of the limit that was exceeded.
    fn ended(&self) -> String {
        self.account.interruption().map(|ended| ended.to_string()).unwrap_or_default()
    }
}

fn file(bytes: usize) -> Value {
    json!({ "content": "x".repeat(bytes) })
}

#[test]
fn what_is_written_is_charged_before_it_is_written() {
    let mut policy = Charged::new(AccountLimits { disk: MIB as u64, ..AccountLimits::default() });
    assert!(policy.run("file", "ROOT/first", "create", file(600_000)));
    assert_eq!(policy.account.usage().disk, 600_000);
    assert!(policy.run("file", "ROOT/first", "create", file(600_000)), "nothing is written again");
    assert!(!policy.run("file", "ROOT/second", "create", file(600_000)));
    assert!(policy.ended().contains("used up its 1 MiB of disk"), "{}", policy.ended());
    assert!(!exists(&policy.bench.path("second")));
}

#[test]
fn entries_are_charged() {
    let mut policy = Charged::new(AccountLimits { entries: 3, ..AccountLimits::default() });
    for name in ["ROOT/a", "ROOT/b"] {
        assert!(policy.run("directory", name, "create", json!({})));
    }
    assert!(policy.run("link", "ROOT/c", "create", json!({ "to": "ROOT/a" })));
    assert_eq!(policy.account.usage().entries, 3);
    assert!(!policy.run("directory", "ROOT/d", "create", json!({})));
    assert!(policy.ended().contains("used up its 3 of files and directories"), "{}", policy.ended());
}

fn header(size: u64) -> tar::Header {
    let mut header = tar::Header::new_gnu();
    header.set_size(size);
    header.set_mode(0o644);
    header.set_uid(0);
    header.set_gid(0);
    header.set_mtime(0);
    header
}

/// Archive-names: long paths in an archive, each with many folders of its own, are held once for each folder.
#[test]
fn archive_names() {
    let mut policy = Charged::new(AccountLimits { host_memory: 4 * MIB as u64, ..AccountLimits::default() });
    let mut archive = tar::Builder::new(std::fs::File::create(policy.bench.path("names.tar")).unwrap());
    for number in 0..100 {
        let mut header = header(0);
        let path = format!("{number}/{}file", "a/".repeat(200));
        archive.append_data(&mut header, path, std::io::empty()).unwrap();
    }
    archive.finish().unwrap();
    assert!(!policy.run("archive_file", "ROOT/names.tar", "extract", json!({ "destination": "ROOT/out" })));
    assert!(policy.ended().contains("used up its 4 MiB of the host's memory"), "{}", policy.ended());
    assert_eq!(policy.account.usage().host_memory, 0, "what was held is given back");
    assert!(!exists(&policy.bench.path("out")));
}

/// An archive of eight GiB of zeros in eight MB: reading it takes long, and ends with a signal and with the wall time.
fn endless_archive(policy: &Charged) {
    let packed = |content: &[u8]| {
        let mut packed = GzEncoder::new(Vec::new(), Compression::best());
        packed.write_all(content).unwrap();
        packed.finish().unwrap()
    };
    let mut header = header(8 << 30);
    header.set_path("zeros").unwrap();
    header.set_cksum();
    let mut file = std::fs::File::create(policy.bench.path("zeros.tar.gz")).unwrap();
    file.write_all(&packed(header.as_bytes())).unwrap();
    let zeros = packed(&vec![0; 16 * MIB]);
    (0..512).for_each(|_| file.write_all(&zeros).unwrap());
}

#[test]
fn host_time() {
    let mut policy = Charged::new(AccountLimits { wall: std::time::Duration::ZERO, ..AccountLimits::default() });
    endless_archive(&policy);
    policy.account.begin_turn(Stop::default());
    assert!(!policy.run("archive_file", "ROOT/zeros.tar.gz", "extract", json!({ "destination": "ROOT/out" })));
    assert!(policy.ended().contains("of wall time"), "{}", policy.ended());
    let mut policy = Charged::new(AccountLimits::default());
    endless_archive(&policy);
    let stop = Stop::default();
    policy.account.begin_turn(stop.clone());
    stop.request(StopReason::Signal(15));
    assert!(!policy.run("archive_file", "ROOT/zeros.tar.gz", "extract", json!({ "destination": "ROOT/out" })));
    assert_eq!(policy.account.interruption(), Some(Ended::Stopped(StopReason::Signal(15))));
    assert!(!exists(&policy.bench.path("out/zeros")));
    let work = policy.account.usage().work;
    assert!(work < 1 << 20, "{work} units of work were done after the signal");
}

#[test]
fn lines_of_the_log_are_charged() {
    let mut policy = Charged::new(AccountLimits { disk: 1_500, ..AccountLimits::default() });
    let message = json!({ "message": "x".repeat(1_000) });
    assert!(policy.run("log", "long", "write", message.clone()));
    assert_eq!(policy.account.usage().disk, 1_000);
    assert!(!policy.run("log", "long", "write", message));
}

#[test]
fn every_file_system_keeps_its_floor() {
    for (kind, properties) in [("file", file(1)), ("directory", json!({})), ("link", json!({ "to": "ROOT/x" }))] {
        let account = Account::new("database", AccountLimits::default(), Meters::default()).leaving_free(1 << 60);
        let mut policy = Charged::with(account);
        assert!(!policy.run(kind, "ROOT/new", "create", properties), "{kind}");
        assert!(policy.ended().contains("are always left (`min_free_mib` of the settings)"), "{}", policy.ended());
        assert!(!exists(&policy.bench.path("new")), "{kind}");
    }
}

#[test]
fn a_file_that_is_written_over_in_place_is_not_emptied_for_a_policy_at_its_end() {
    let mut policy = Charged::new(AccountLimits::default());
    std::fs::write(policy.bench.path("kept"), "old").unwrap();
    let stop = Stop::default();
    policy.account.begin_turn(stop.clone());
    stop.request(StopReason::Signal(15));
    let properties = json!({ "content": "new", "atomic_update": false });
    assert!(!policy.run("file", "ROOT/kept", "create", properties.clone()));
    assert_eq!(std::fs::read_to_string(policy.bench.path("kept")).unwrap(), "old");
    policy.account.begin_turn(Stop::default());
    assert!(policy.run("file", "ROOT/kept", "create", properties));
    assert_eq!(std::fs::read_to_string(policy.bench.path("kept")).unwrap(), "new");
}

/// Quad: lists of names that a policy wrote cost what their length says, and end with the policy's time.
#[test]
fn quad() {
    let names = |beginning: &str, count: usize| (0..count).map(|at| format!("{beginning}{at}")).collect::<Vec<_>>();
    let properties = |case: &str, count: usize| match case {
        "members" => ("group", json!({ "members": names("a", count) })),
        "excluded" => {
            let (members, excluded) = (names("a", count), names("b", count));
            ("group", json!({ "append": true, "members": members, "excluded_members": excluded }))
        }
        _ => ("apt_package", json!({ "package_name": names("a", count) })),
    };
    // A root without tools: what is looked up there fails, after the names were read.
    let attempt = |account: Account, case: &str, count: usize| {
        let (kind, properties) = properties(case, count);
        let bench = Bench::new("").unlimited();
        let settings = Settings { account, ..bench.settings(true) };
        let mut providers = MachineProviders::new(Arc::new(settings)).unwrap();
        let action = if kind == "group" { "create" } else { "install" };
        let _failed_or_not = run(&mut providers, &bench.declaration(kind, "g", properties), action, true);
    };
    for case in ["members", "excluded", "packages"] {
        let work = |count: usize| {
            let account = Account::unmetered("database");
            attempt(account.clone(), case, count);
            account.usage().work
        };
        let (once, twice) = (work(4_000), work(8_000));
        assert!(once >= 4_000 && twice >= 8_000 && twice <= 2 * once + 2_000, "{case}: {once} and {twice} units");
        let limits = AccountLimits { wall: std::time::Duration::ZERO, ..AccountLimits::default() };
        let account = Account::new("database", limits, Meters::default());
        account.begin_turn(Stop::default());
        attempt(account.clone(), case, 8_000);
        let ended = account.interruption().map(|ended| ended.to_string()).unwrap_or_default();
        assert!(ended.contains("of wall time"), "{case}: {ended}");
        assert!(account.usage().work < 4_000, "{case}: {:?}", account.usage());
    }
}

/// A resource may start one short command after the other: none is looked at while it runs.
#[test]
fn no_command_is_started_after_the_wall_time() {
    let mut policy = Charged::new(AccountLimits { wall: std::time::Duration::ZERO, ..AccountLimits::default() });
    policy.account.begin_turn(Stop::default());
    assert!(!policy.run("execute", "touch", "run", json!({ "command": "touch ROOT/made" })));
    assert!(policy.ended().contains("of wall time"), "{}", policy.ended());
    assert!(!exists(&policy.bench.path("made")));
}

#[test]
fn open_files_are_counted() {
    let mut policy = Charged::new(AccountLimits { open_files: 20, ..AccountLimits::default() });
    let deep = |levels: usize| policy.bench.path(&format!("tree/{}", "d/".repeat(levels)));
    std::fs::create_dir_all(deep(10)).unwrap();
    let all = json!({ "recursive": true });
    let deeper = deep(40);
    assert!(policy.run("directory", "ROOT/tree", "delete", all.clone()));
    let most = policy.account.usage().open_files;
    assert!((10..20).contains(&most), "{most} files were open for a tree of ten levels");
    std::fs::create_dir_all(deeper).unwrap();
    assert!(!policy.run("directory", "ROOT/tree", "delete", all));
    assert!(policy.ended().contains("used up its 20 of open files"), "{}", policy.ended());
}

/// How many processes are in a directory.
fn processes_in(directory: &str) -> usize {
    let here = |entry: &std::fs::DirEntry| {
        let about = std::fs::read_link(entry.path().join("cwd"));
        about.is_ok_and(|cwd| cwd.starts_with(directory))
    };
    std::fs::read_dir("/proc").unwrap().filter_map(Result::ok).filter(here).count()
}

#[test]
fn a_command_with_too_many_processes_is_ended_with_all_of_them() {
    let mut policy = Charged::new(AccountLimits { processes: 4, ..AccountLimits::default() });
    let cwd = policy.bench.path("work").display().to_string();
    std::fs::create_dir(&cwd).unwrap();
    let few = json!({ "command": "sleep 0.5 & wait", "cwd": cwd });
    assert!(policy.run("execute", "few", "run", few));
    assert!(policy.account.usage().processes >= 2, "{:?}", policy.account.usage());
    let many = "for one in 1 2 3 4 5 6; do setsid sleep 600 & sleep 600 & done; wait";
    let many = json!({ "command": many, "cwd": cwd });
    assert!(!policy.run("execute", "many", "run", many));
    assert!(policy.ended().contains("used up its 4 of processes at a time: it used "), "{}", policy.ended());
    // The kernel takes them away when it comes to it.
    let gone = (0..500).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(10));
        processes_in(&cwd) == 0
    });
    assert!(gone, "{} processes are left", processes_in(&cwd));
}
