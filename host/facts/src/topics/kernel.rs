//! `kernel`: Ohai's plugin Kernel, from `uname(2)` and `/proc/modules`.

use serde_json::Value;

use crate::limits;
use crate::machine::{Gathered, Machine};
use crate::topics::{known, one};

/// Platform families on which `uname -p` prints the same as `uname -m`. On others (Debian, Arch, Alpine) it prints `unknown`.
const FAMILIES_THAT_NAME_THE_PROCESSOR: [&str; 4] = ["rhel", "fedora", "amazon", "suse"];

pub(crate) fn gather(machine: &Machine) -> Gathered {
    let names = rustix::system::uname();
    let hardware = names.machine().to_string_lossy().into_owned();
    let text = |key: &str| machine.get(key).and_then(Value::as_str).unwrap_or_default();
    let names_processor =
        text("platform") == "ubuntu" || FAMILIES_THAT_NAME_THE_PROCESSOR.contains(&text("platform_family"));
    let system = if text("platform_family") == "alpine" { "Linux" } else { "GNU/Linux" };
    let mut kernel = known([
        ("name", Some(names.sysname().to_string_lossy().into_owned())),
        ("release", Some(names.release().to_string_lossy().into_owned())),
        ("version", Some(names.version().to_string_lossy().into_owned())),
        ("machine", Some(hardware.clone())),
        ("processor", Some(if names_processor { hardware } else { "unknown".to_owned() })),
        ("os", Some(system.to_owned())),
    ]);
    kernel.extend(one("modules", modules(machine)));
    one("kernel", kernel)
}

/// Returns the loaded modules: size and number of users as texts, and the version if the module has one.
fn modules(machine: &Machine) -> Gathered {
    let text = machine.machine.text_within("/proc/modules", limits::TABLE_FILE).unwrap_or_default();
    let modules = text.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        let name = words.next()?;
        let size = words.next().filter(|size| is_number(size))?.to_owned();
        let users = words.next().filter(|users| is_number(users))?.to_owned();
        let version = machine.machine.line(&format!("/sys/module/{name}/version"));
        let module = known([("size", Some(size)), ("refcount", Some(users)), ("version", version)]);
        Some((name.to_owned(), Value::Object(module)))
    });
    modules.collect()
}

fn is_number(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit())
}
