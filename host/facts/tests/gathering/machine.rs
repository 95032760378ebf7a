//! The facts of the machine that the tests run on, against readings by other means.

use std::path::Path;
use std::process::Command;

use crate::support::{NOW, at};
use facts::{Facts, Settings, Which};
use serde_json::{Value, json};

fn running_system() -> Facts {
    Facts::new(&Settings::new("/", NOW)).unwrap()
}

/// What a program prints, trimmed; nothing where it is not installed or fails.
fn printed(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).env("LC_ALL", "C").output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

#[test]
fn kernel_and_host_name() {
    let found = running_system();
    for (path, option) in [
        (["kernel", "release"], "-r"),
        (["kernel", "machine"], "-m"),
        (["kernel", "version"], "-v"),
        (["kernel", "name"], "-s"),
    ] {
        assert_eq!(at(&found, &path), json!(printed("uname", &[option]).unwrap()));
    }
    assert_eq!(at(&found, &["machinename"]), json!(printed("uname", &["-n"]).unwrap()));
    assert_eq!(at(&found, &["os"]), json!("linux"));
    assert_eq!(at(&found, &["os_version"]), at(&found, &["kernel", "release"]));
}

#[test]
fn users() {
    let found = running_system();
    let uid = printed("id", &["-u"]).unwrap();
    let name = printed("id", &["-un"]).unwrap();
    let lines = std::fs::read_to_string("/etc/passwd").unwrap();
    if lines.lines().any(|line| line.starts_with(&format!("{name}:"))) {
        assert_eq!(at(&found, &["current_user"]), json!(name));
        assert_eq!(at(&found, &["etc", "passwd", &name, "uid"]).to_string(), uid);
    }
    if let Some(group) = printed("id", &["-gn", "root"]) {
        assert_eq!(at(&found, &["root_group"]), json!(group));
    }
}

#[test]
fn processors_and_memory() {
    let found = running_system();
    let online = printed("getconf", &["_NPROCESSORS_ONLN"]).map(|count| json!(count.parse::<u64>().unwrap()));
    if let Some(online) = online {
        assert_eq!(at(&found, &["cpu", "cpus_online"]), online);
        assert_eq!(at(&found, &["sysconf", "_NPROCESSORS_ONLN"]), online);
    }
    let lscpu = printed("lscpu", &[]).unwrap_or_default();
    for (line, key) in [
        ("Socket(s):", "sockets"),
        ("Core(s) per socket:", "cores_per_socket"),
        ("Thread(s) per core:", "threads_per_core"),
        ("Vendor ID:", "vendor_id"),
        ("Model name:", "model_name"),
        ("L1d cache:", "l1d_cache"),
        ("L2 cache:", "l2_cache"),
        ("NUMA node(s):", "numa_nodes"),
    ] {
        let Some(said) = lscpu.lines().find_map(|printed| printed.trim().strip_prefix(line)) else { continue };
        let fact = at(&found, &["cpu", key]);
        let fact = fact.as_str().map_or_else(|| fact.to_string(), str::to_owned);
        // Older releases of lscpu do not count the instances of a cache.
        assert!(fact == said.trim() || fact.starts_with(&format!("{} (", said.trim())), "{line} {said} is not {fact}");
    }
    let information = std::fs::read_to_string("/proc/meminfo").unwrap();
    let total = information.lines().next().unwrap().split_whitespace().nth(1).unwrap();
    assert_eq!(at(&found, &["memory", "total"]), json!(format!("{total}kB")));
}

#[test]
fn network() {
    let found = running_system();
    let interfaces = at(&found, &["network", "interfaces"]);
    for name in std::fs::read_dir("/sys/class/net").unwrap() {
        let name = name.unwrap().file_name().into_string().unwrap();
        let directory = Path::new("/sys/class/net").join(&name);
        if !directory.is_dir() {
            continue;
        }
        let read = |file: &str| std::fs::read_to_string(directory.join(file)).unwrap().trim().to_owned();
        assert_eq!(interfaces[&name]["mtu"], json!(read("mtu")), "for {name}");
        assert_eq!(interfaces[&name]["state"], json!(read("operstate")), "for {name}");
        let hardware = read("address").to_uppercase();
        if read("type") == "1" {
            assert_eq!(interfaces[&name]["addresses"][&hardware], json!({"family": "lladdr"}), "for {name}");
        }
    }
    // The address that the kernel would send from; nothing is sent by connecting a datagram socket.
    let socket = std::net::UdpSocket::bind("0.0.0.0:0").unwrap();
    if found.get("network").and_then(|network| network.get("default_gateway")).is_some() {
        socket.connect("203.0.113.1:9").unwrap();
        let own = socket.local_addr().unwrap().ip().to_string();
        let holder =
            interfaces.as_object().unwrap().values().find(|interface| interface["addresses"].get(&own).is_some());
        assert!(holder.is_some(), "no interface has {own}");
    }
    let table = std::fs::read_to_string("/proc/net/route").unwrap();
    let default = table.lines().skip(1).find(|line| line.split_whitespace().nth(1) == Some("00000000"));
    if let Some(default) = default {
        assert_eq!(at(&found, &["network", "default_interface"]), json!(default.split_whitespace().next().unwrap()));
    }
}

#[test]
fn file_systems() {
    let found = running_system();
    let Some(table) = printed("df", &["-P", "/"]) else { return };
    let line = table.lines().last().unwrap();
    let fields: Vec<&str> = line.split_whitespace().collect();
    let root = at(&found, &["filesystem", "by_mountpoint", "/"]);
    assert_eq!(root["kb_size"], json!(fields[1]));
    let table = std::fs::read_to_string("/proc/self/mounts").unwrap();
    let kind = table.lines().rfind(|line| line.split(' ').nth(1) == Some("/")).unwrap().split(' ').nth(2).unwrap();
    assert_eq!(root["fs_type"], json!(kind));
    for name in std::fs::read_dir("/sys/block").unwrap() {
        let name = name.unwrap().file_name().into_string().unwrap();
        let size = std::fs::read_to_string(format!("/sys/block/{name}/size")).unwrap();
        assert_eq!(at(&found, &["block_device", &name, "size"]), json!(size.trim()));
    }
}

#[test]
fn packages() {
    let found = running_system();
    let Some(listed) =
        printed("dpkg-query", &["-W", "-f", "${Package}\t${Version}\t${Architecture}\t${db:Status-Status}\n"])
    else {
        return;
    };
    let packages = at(&found, &["packages"]);
    let mut seen = 0;
    for line in listed.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let [name, version, architecture, status] = fields[..] else { continue };
        // Of a package installed for two architectures, the last counts; here only the names have to agree.
        assert_eq!(packages[name]["status"], json!(status), "for {name}");
        if listed.lines().filter(|line| line.starts_with(&format!("{name}\t"))).count() == 1 {
            assert_eq!(packages[name]["version"], json!(version), "for {name}");
            assert_eq!(packages[name]["arch"], json!(architecture), "for {name}");
        }
        seen += 1;
    }
    assert!(seen > 0 && packages.as_object().unwrap().len() <= seen);
}

#[test]
fn everything_at_once_is_what_one_by_one_gives() {
    let together = running_system();
    let all = together.all();
    let alone = running_system();
    let changing = [
        "memory",
        "counters",
        "network",
        "filesystem",
        "uptime",
        "uptime_seconds",
        "idletime",
        "idletime_seconds",
        "cpu",
    ];
    for key in alone.keys() {
        if !changing.contains(&key) {
            assert_eq!(all.get(key), alone.get(key), "for {key}");
        }
        assert_eq!(all.get(key).is_some(), alone.get(key).is_some(), "for {key}");
    }
    assert_eq!(alone.get("no such fact"), None);
    let minimal = Facts::gather(&Settings::new("/", NOW), Which::Minimal).unwrap();
    assert_eq!(minimal["os"], json!("linux"));
    assert_eq!(minimal["ohai_time"], json!(1_700_000_000.5));
    assert!(minimal.get("packages").is_none());
}

#[test]
fn facts_go_to_other_threads() {
    fn check<T: Send + Sync>(_: &T) {}
    let found = running_system();
    check(&found);
    let platform = std::thread::scope(|scope| scope.spawn(|| found.get("platform").cloned()).join().unwrap());
    assert!(matches!(platform, Some(Value::String(_))));
}
