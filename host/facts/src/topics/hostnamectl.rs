//! `hostnamectl`: the output of `hostnamectl status`, if it is installed. Ohai's plugin Hostnamectl.

use serde_json::Value;

use crate::machine::{Gathered, Machine};
use crate::topics::os_release::OsRelease;
use crate::topics::{known, one};

/// systemd's names of hypervisors, by their names in `virtualization.system`.
const VIRTUAL_MACHINES: &[(&str, &str)] = &[
    ("amazonec2", "amazon"),
    ("hyperv", "microsoft"),
    ("kvm", "kvm"),
    ("parallels", "parallels"),
    ("vbox", "oracle"),
    ("vmware", "vmware"),
    ("xen", "xen"),
];

pub(crate) fn gather(machine: &Machine) -> Gathered {
    if !machine.root.has_program("hostnamectl") {
        return Gathered::new();
    }
    let text = |key: &str| machine.get(key).and_then(Value::as_str).map(str::to_owned);
    let release = OsRelease::read(&machine.root, "/etc/os-release");
    let virtualization = virtualization(machine);
    let names = rustix::system::uname();
    let architecture = match names.machine().to_string_lossy().as_ref() {
        "x86_64" => "x86-64".to_owned(),
        "aarch64" => "arm64".to_owned(),
        other => other.to_owned(),
    };
    one(
        "hostnamectl",
        known([
            ("static_hostname", text("machinename")),
            ("icon_name", virtualization.map(|_| "computer-vm".to_owned())),
            ("chassis", virtualization.map(|_| "vm".to_owned())),
            ("machine_id", text("machine_id")),
            ("boot_id", machine.machine.line("/proc/sys/kernel/random/boot_id").map(|line| line.replace('-', ""))),
            ("virtualization", virtualization.map(str::to_owned)),
            ("operating_system", release.as_ref().and_then(|release| release.get("PRETTY_NAME")).map(str::to_owned)),
            ("kernel", Some(format!("Linux {}", names.release().to_string_lossy()))),
            ("architecture", Some(architecture)),
        ]),
    )
}

fn virtualization(machine: &Machine) -> Option<&'static str> {
    let virtualization = machine.get("virtualization")?;
    let is_guest = virtualization.get("role")?.as_str() == Some("guest");
    let system = virtualization.get("system")?.as_str().filter(|_| is_guest)?;
    VIRTUAL_MACHINES.iter().find(|(ohai, _)| *ohai == system).map(|(_, systemd)| *systemd)
}
