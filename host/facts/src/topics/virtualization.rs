//! `virtualization`: Ohai's plugin Virtualization.
//!
//! `systems` has everything that was found; `system` and `role` have the last finding. Ohai's order of checks makes them
//! correct (a Docker container on a KVM guest is `docker`), so the same order is used here. Kernel and firmware are read from
//! the machine; programs and marks of containers from the root.

use crate::limits;
use crate::machine::{Gathered, Machine};
use crate::topics::{known, one};

#[derive(Clone, Copy)]
enum Role {
    Host,
    Guest,
}

impl Role {
    fn name(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Guest => "guest",
        }
    }
}

/// The findings so far.
#[derive(Default)]
struct Found {
    system: Option<&'static str>,
    role: Option<Role>,
    systems: Vec<(&'static str, Role)>,
    hypervisor_host: Option<String>,
}

impl Found {
    fn add(&mut self, system: &'static str, role: Role) {
        self.system = Some(system);
        self.role = Some(role);
        self.systems.push((system, role));
    }
}

pub(crate) fn gather(machine: &Machine) -> Gathered {
    let mut found = Found::default();
    find_installed_programs(machine, &mut found);
    find_xen_and_virtualbox(machine, &mut found);
    find_kvm(machine, &mut found);
    find_by_firmware(machine, &mut found);
    find_older_systems(machine, &mut found);
    find_containers(machine, &mut found);
    find_marks(machine, &mut found);
    let mut systems = Gathered::new();
    for (system, role) in found.systems {
        systems.insert(system.to_owned(), role.name().into());
    }
    let mut gathered = one("systems", systems);
    gathered.extend(known([
        ("system", found.system.map(str::to_owned)),
        ("role", found.role.map(|role| role.name().to_owned())),
        ("hypervisor_host", found.hypervisor_host),
    ]));
    one("virtualization", gathered)
}

fn find_installed_programs(machine: &Machine, found: &mut Found) {
    for program in ["docker", "podman"] {
        if machine.root.has_program(program) {
            found.add(program, Role::Host);
        }
    }
}

fn find_xen_and_virtualbox(machine: &Machine, found: &mut Found) {
    let files = &machine.machine;
    if files.exists("/proc/xen") {
        let capabilities = files.text("/proc/xen/capabilities").unwrap_or_default();
        let is_host = capabilities.to_lowercase().contains("control_d");
        found.add("xen", if is_host { Role::Host } else { Role::Guest });
    }
    let modules = files.text_within("/proc/modules", limits::TABLE_FILE).unwrap_or_default();
    if modules.lines().any(|line| line.starts_with("vboxdrv")) {
        found.add("vbox", Role::Host);
    } else if modules.lines().any(|line| line.starts_with("vboxguest")) {
        found.add("vbox", Role::Guest);
    }
    if machine.root.has_program("nova") {
        found.add("openstack", Role::Host);
    }
}

fn find_kvm(machine: &Machine, found: &mut Found) {
    let processors = machine.machine.text_within("/proc/cpuinfo", limits::TABLE_FILE).unwrap_or_default();
    let models = ["QEMU Virtual CPU", "Common KVM processor", "Common 32-bit KVM processor"];
    if models.iter().any(|model| processors.contains(model)) {
        found.add("kvm", Role::Guest);
    }
    // A guest sees the flag of a hypervisor in its processor. A host that runs guests has only the device.
    if machine.machine.exists("/sys/devices/virtual/misc/kvm") {
        found.add("kvm", if processors.contains("hypervisor") { Role::Guest } else { Role::Host });
    } else if machine.get("cpu").and_then(|cpu| cpu.get("hypervisor_vendor")?.as_str()) == Some("KVM") {
        found.add("kvm", Role::Guest);
    }
}

fn find_by_firmware(machine: &Machine, found: &mut Found) {
    let field = |name| machine.get_text(["dmi", "system", name]).unwrap_or_default();
    if let Some(system) = system_of_firmware(field("manufacturer"), field("product_name")) {
        found.add(system, Role::Guest);
    }
}

/// Returns the hypervisor for names of virtual hardware.
fn system_of_firmware(manufacturer: &str, product: &str) -> Option<&'static str> {
    const MANUFACTURERS: [(&str, &str); 8] = [
        ("OpenStack", "openstack"),
        ("Xen", "xen"),
        ("VMware", "vmware"),
        ("Microsoft", "hyperv"),
        ("Amazon EC2", "amazonec2"),
        ("QEMU", "kvm"),
        ("Veertu", "veertu"),
        ("Parallels", "parallels"),
    ];
    const PRODUCTS: [(&str, &str); 5] =
        [("VirtualBox", "vbox"), ("OpenStack", "openstack"), ("KVM", "kvm"), ("RHEV", "kvm"), ("BHYVE", "bhyve")];
    let by_manufacturer = MANUFACTURERS.iter().find(|(name, _)| manufacturer.contains(name));
    // Microsoft also makes physical machines.
    let by_manufacturer =
        by_manufacturer.filter(|(name, _)| *name != "Microsoft" || product.contains("Virtual Machine"));
    let by_product = || PRODUCTS.iter().find(|(name, _)| product.contains(name));
    by_manufacturer.or_else(by_product).map(|(_, system)| *system)
}

fn find_older_systems(machine: &Machine, found: &mut Found) {
    let files = &machine.machine;
    if files.exists("/proc/bc/0") {
        found.add("openvz", Role::Host);
    } else if files.exists("/proc/vz") {
        found.add("openvz", Role::Guest);
    }
    if let Some(pool) = machine.root.text("/var/lib/hyperv/.kvp_pool_3") {
        found.add("hyperv", Role::Guest);
        let host = pool.split_once("HostName").and_then(|(_, rest)| Some(rest.split_once("HostingSystemEditionId")?.0));
        found.hypervisor_host =
            host.map(|host| host.chars().filter(char::is_ascii_graphic).collect::<String>().to_lowercase());
    }
    let status = files.text("/proc/self/status").unwrap_or_default();
    let context = status.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        matches!(name, "s_context" | "VxID").then(|| value.trim())
    });
    match context {
        Some("0") => found.add("linux-vserver", Role::Host),
        Some(number) if number.parse::<u64>().is_ok() => found.add("linux-vserver", Role::Guest),
        _ => {}
    }
}

fn find_containers(machine: &Machine, found: &mut Found) {
    let Some(groups) = machine.machine.text("/proc/self/cgroup") else { return };
    let environment = machine.machine.text("/proc/1/environ").unwrap_or_default();
    let container = environment.split('\0').find_map(|variable| variable.strip_prefix("container="));
    let paths = || groups.lines().filter_map(|line| line.splitn(3, ':').nth(2));
    if let Some(system) = paths().find_map(container_of_group) {
        found.add(system, Role::Guest);
    } else if let Some(system) = ["lxc", "systemd-nspawn", "podman"].into_iter().find(|name| container == Some(name)) {
        found.add(if system == "systemd-nspawn" { "nspawn" } else { system }, Role::Guest);
    } else if paths().any(|path| path.split('/').nth(2).is_some_and(|part| part.starts_with("containerd"))) {
        found.add("docker", Role::Guest);
    } else if ["lxc-version", "lxc-start"].iter().any(|program| machine.root.has_program(program))
        && paths().any(|path| path == "/")
    {
        if found.system.is_none() || found.role.is_none() {
            found.add("lxc", Role::Host);
        }
        found.systems.push(("lxc", Role::Host));
    }
}

/// Returns the container system in the path of a control group: `/docker/0123..` or `/system.slice/docker-0123..scope`.
fn container_of_group(path: &str) -> Option<&'static str> {
    let mut parts = path.split('/').skip(1);
    let (first, second) = (parts.next()?, parts.next()?);
    ["lxc", "docker"].into_iter().find(|name| {
        let whole = first == *name && !second.is_empty();
        let below = !first.is_empty()
            && second.strip_prefix(name).is_some_and(|rest| !rest.is_empty() || parts.clone().next().is_some());
        whole || below
    })
}

fn find_marks(machine: &Machine, found: &mut Found) {
    if ["/.dockerenv", "/.dockerinit"].iter().any(|mark| machine.root.exists(mark)) {
        found.add("docker", Role::Guest);
    }
    if machine.root.exists("/dev/lxd/sock") {
        found.add("lxd", Role::Guest);
    } else if ["/var/lib/lxd/devlxd", "/var/snap/lxd/common/lxd/devlxd"].iter().any(|mark| machine.root.exists(mark)) {
        found.add("lxd", Role::Host);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn firmware_names() {
        for (manufacturer, product, expect) in [
            ("QEMU", "Standard PC", Some("kvm")),
            ("Microsoft Corporation", "Virtual Machine", Some("hyperv")),
            ("Microsoft Corporation", "Surface", None),
            ("innotek GmbH", "VirtualBox", Some("vbox")),
            ("Amazon EC2", "m5.large", Some("amazonec2")),
            ("Red Hat", "KVM", Some("kvm")),
            ("Dell Inc.", "PowerEdge", None),
            ("", "", None),
        ] {
            assert_eq!(system_of_firmware(manufacturer, product), expect, "for {manufacturer}, {product}");
        }
    }

    #[test]
    fn control_groups() {
        for (path, expect) in [
            ("/", None),
            ("/docker/0123abc", Some("docker")),
            ("/docker", None),
            ("/lxc/vm1", Some("lxc")),
            ("/system.slice/docker-0123abc.scope", Some("docker")),
            ("/system.slice/docker", None),
            ("/user.slice/session", None),
            ("", None),
        ] {
            assert_eq!(container_of_group(path), expect, "for {path}");
        }
    }
}
