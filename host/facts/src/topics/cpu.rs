//! `cpu`: Ohai's plugin CPU, which reads `lscpu` and `/proc/cpuinfo`.
//!
//! The data of `lscpu` comes from the same sources: `/proc/cpuinfo` and `/sys/devices/system/cpu`. The processor itself is
//! not asked about its hypervisor, because safe code cannot use the necessary instruction. The kernel's clock sources and the
//! firmware name the same vendors.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::limits;
use crate::machine::{Gathered, Machine};
use crate::topics::cpu_topology::{Processor, caches, memory_nodes, processors, processors_in};
use crate::topics::{known, one};

/// Lines of `/proc/cpuinfo` for each processor, and Ohai's names for them.
const PROCESSOR_LINES: [(&str, &str); 7] = [
    ("vendor_id", "vendor_id"),
    ("cpu family", "family"),
    ("model", "model"),
    ("model name", "model_name"),
    ("stepping", "stepping"),
    ("cpu MHz", "mhz"),
    ("bogomips", "bogomips"),
];

/// Manufacturers of ARM processors by the number in `CPU implementer`, with the names of `lscpu`.
const ARM_IMPLEMENTERS: [(&str, &str); 6] = [
    ("0x41", "ARM"),
    ("0x42", "Broadcom"),
    ("0x46", "FUJITSU"),
    ("0x51", "Qualcomm"),
    ("0x61", "Apple"),
    ("0xc0", "Ampere"),
];

/// Clock sources that exist only in guests of one hypervisor, with the vendor's name in `lscpu`.
const HYPERVISOR_CLOCKS: [(&str, &str); 4] = [
    ("kvm-clock", "KVM"),
    ("hyperv_clocksource_tsc_page", "Microsoft"),
    ("hyperv_clocksource_msr", "Microsoft"),
    ("xen", "Xen"),
];

/// Manufacturers of virtual hardware, with the vendors of their hypervisors.
const HYPERVISOR_MAKERS: [(&str, &str); 5] =
    [("QEMU", "KVM"), ("Amazon EC2", "KVM"), ("VMware", "VMware"), ("Microsoft", "Microsoft"), ("innotek", "Oracle")];

/// The lines of one processor in `/proc/cpuinfo`.
type Lines<'a> = BTreeMap<&'a str, &'a str>;

pub(crate) fn gather(machine: &Machine) -> Gathered {
    let files = &machine.machine;
    let text = files.text_within("/proc/cpuinfo", limits::TABLE_FILE).unwrap_or_default();
    let lines = lines_of_processors(&text);
    let numbered = |number: usize, field: &str| lines.get(&number)?.get(field)?.parse::<i64>().ok();
    let mut processors =
        processors(files, |number| Some((numbered(number, "physical id")?, numbered(number, "core id")?)));
    if processors.is_empty() {
        processors = lines.keys().map(|number| Processor { number: *number, core: *number, socket: 0 }).collect();
    }
    if processors.is_empty() {
        return Gathered::new();
    }
    let nothing = Lines::new();
    let of = |number: usize| lines.get(&number).or_else(|| lines.values().next()).unwrap_or(&nothing);
    let first = of(processors.first().map_or(0, |processor| processor.number));
    let counts = Counts::of(&processors);

    let mut cpu = architecture(first);
    cpu.extend(known([
        ("cpus", Some(processors_in(&files.line("/sys/devices/system/cpu/present").unwrap_or_default()).len())),
        ("cpus_online", Some(processors.len())),
        ("threads_per_core", Some(counts.threads_per_core)),
        ("cores_per_socket", Some(counts.cores_per_socket)),
        ("sockets", Some(counts.sockets)),
    ]));
    cpu.extend(told_of_processor(first));
    cpu.extend(frequencies(machine));
    cpu.extend(virtualization(machine, first));
    cpu.extend(caches(files, &processors));
    let nodes = memory_nodes(files);
    cpu.extend(one("numa_nodes", nodes.len()));
    cpu.extend(one("numa_node_cpus", nodes));
    cpu.extend(one("vulnerability", vulnerabilities(machine)));
    cpu.extend(flags(first));
    for processor in &processors {
        cpu.extend(one(&processor.number.to_string(), one_processor(processor, of(processor.number), &counts)));
    }
    cpu.extend(one("total", counts.sockets * counts.cores_per_socket * counts.threads_per_core));
    cpu.extend(one("real", counts.sockets));
    cpu.extend(one("cores", counts.sockets * counts.cores_per_socket));
    one("cpu", cpu)
}

struct Counts {
    sockets: usize,
    cores_per_socket: usize,
    threads_per_core: usize,
}

impl Counts {
    /// Counts sockets, cores and threads of a list of processors, which is not empty. Uneven numbers are rounded up.
    fn of(processors: &[Processor]) -> Self {
        let count = |place: fn(&Processor) -> usize| processors.iter().map(place).max().map_or(1, |most| most + 1);
        let sockets = count(|processor| processor.socket);
        let cores = count(|processor| processor.core);
        Self {
            sockets,
            cores_per_socket: cores.div_ceil(sockets).max(1),
            threads_per_core: processors.len().div_ceil(cores.max(1)).max(1),
        }
    }
}

/// Returns the lines of `/proc/cpuinfo` by processor. A paragraph without a number (ARM's last one) is left out.
fn lines_of_processors(text: &str) -> BTreeMap<usize, Lines<'_>> {
    let mut processors = BTreeMap::new();
    let mut current: Option<(usize, Lines<'_>)> = None;
    for line in text.lines() {
        let Some((name, value)) = line.split_once(':').map(|(name, value)| (name.trim(), value.trim())) else {
            processors.extend(current.take());
            continue;
        };
        if name == "processor" {
            processors.extend(current.take());
            current =
                value.parse().ok().filter(|number| *number < limits::PROCESSORS).map(|number| (number, Lines::new()));
        } else if let Some((_, lines)) = &mut current {
            lines.insert(name, value);
        }
    }
    processors.extend(current);
    processors
}

fn architecture(first: &Lines<'_>) -> Gathered {
    let modes = match (first.get("flags"), usize::BITS) {
        (Some(flags), _) if flags.split(' ').any(|flag| flag == "lm") => vec!["32-bit", "64-bit"],
        (_, 64) => vec!["64-bit"],
        _ => vec!["32-bit"],
    };
    let order = if cfg!(target_endian = "little") { "little endian" } else { "big endian" };
    known([
        ("architecture", Some(Value::from(rustix::system::uname().machine().to_string_lossy()))),
        ("cpu_opmodes", Some(Value::from(modes))),
        ("byte_order", Some(Value::from(order))),
        ("address_sizes", first.get("address sizes").map(|sizes| sizes.split(", ").collect())),
    ])
}

fn told_of_processor(lines: &Lines<'_>) -> Gathered {
    let mut told = known(PROCESSOR_LINES.map(|(line, name)| (name, lines.get(line).copied())));
    let implementer = lines.get("CPU implementer");
    if let Some((_, vendor)) = ARM_IMPLEMENTERS.iter().find(|(number, _)| implementer == Some(number)) {
        told.extend(one("vendor_id", *vendor));
    }
    if let Some(speed) = lines.get("BogoMIPS") {
        told.extend(one("bogomips", *speed));
    }
    told
}

/// Returns the sorted flags of a processor; ARM calls them features.
fn flags(lines: &Lines<'_>) -> Gathered {
    let sorted = |flags: &str| {
        let mut flags: Vec<&str> = flags.split_whitespace().collect();
        flags.sort_unstable();
        Value::from(flags)
    };
    let features = lines.get("Features").or_else(|| lines.get("features")).map(|features| sorted(features));
    let flags = lines.get("flags").map(|flags| sorted(flags)).or_else(|| features.clone());
    known([("flags", flags), ("features", features)])
}

fn one_processor(processor: &Processor, lines: &Lines<'_>, counts: &Counts) -> Gathered {
    let mut told = told_of_processor(lines);
    told.extend(known([
        ("cache_size", lines.get("cache size").map(|size| (*size).to_owned())),
        ("physical_id", Some(processor.socket.to_string())),
        ("core_id", Some(processor.core.to_string())),
        ("cores", Some(counts.cores_per_socket.to_string())),
    ]));
    told.extend(flags(lines));
    told
}

fn frequencies(machine: &Machine) -> Gathered {
    let megahertz = |file: &str| {
        let kilohertz: u64 = machine.machine.number(&format!("/sys/devices/system/cpu/cpu0/cpufreq/{file}"))?;
        Some(format!("{}.{:03}0", kilohertz / 1000, kilohertz % 1000))
    };
    known([("mhz_max", megahertz("cpuinfo_max_freq")), ("mhz_min", megahertz("cpuinfo_min_freq"))])
}

fn virtualization(machine: &Machine, first: &Lines<'_>) -> Gathered {
    let has = |flag: &str| first.get("flags").is_some_and(|flags| flags.split(' ').any(|other| other == flag));
    let able = if has("vmx") {
        Some("VT-x")
    } else if has("svm") {
        Some("AMD-V")
    } else {
        None
    };
    let vendor = has("hypervisor").then(|| hypervisor_vendor(machine)).flatten();
    known([("virtualization", able), ("hypervisor_vendor", vendor), ("virtualization_type", vendor.map(|_| "full"))])
}

fn hypervisor_vendor(machine: &Machine) -> Option<&'static str> {
    if machine.machine.line("/sys/hypervisor/type").as_deref() == Some("xen") {
        return Some("Xen");
    }
    let maker = machine.get_text(["dmi", "system", "manufacturer"]).unwrap_or_default();
    let by_maker = HYPERVISOR_MAKERS.iter().find(|(name, _)| maker.contains(name)).map(|(_, vendor)| *vendor);
    by_maker.or_else(|| {
        let clocks = machine.machine.line("/sys/devices/system/clocksource/clocksource0/available_clocksource")?;
        let vendor = HYPERVISOR_CLOCKS.iter().find(|(clock, _)| clocks.split_whitespace().any(|other| other == *clock));
        vendor.map(|(_, vendor)| *vendor)
    })
}

/// Returns the kernel's statement about each known vulnerability of the processor, in the words of `lscpu`.
fn vulnerabilities(machine: &Machine) -> Gathered {
    let directory = "/sys/devices/system/cpu/vulnerabilities";
    let said = machine.machine.names(directory).into_iter().filter_map(|name| {
        let line = machine.machine.line(&format!("{directory}/{name}"))?;
        let words = line.strip_prefix("Mitigation: ").map(|how| format!("Mitigation; {}", how.replace(':', "")));
        Some((name, words.unwrap_or(line).into()))
    });
    said.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_cpuinfo() {
        let text = "processor\t: 0\nmodel name\t: A: B\nflags\t\t: b a\n\nprocessor\t: 7\ncpu MHz\t: 2.0\n\n\
                    processor : x\nmodel : 1\n\nprocessor : 99999999\nmodel : 1\n\nHardware\t: board\n";
        let processors = lines_of_processors(text);
        assert_eq!(processors.keys().copied().collect::<Vec<_>>(), [0, 7]);
        assert_eq!(Value::Object(told_of_processor(&processors[&0])), serde_json::json!({"model_name": "A: B"}));
        assert_eq!(Value::Object(flags(&processors[&0])), serde_json::json!({"flags": ["a", "b"]}));
    }

    #[test]
    fn counts_parts() {
        let processor = |number, core, socket| Processor { number, core, socket };
        for (processors, expect) in [
            (vec![processor(0, 0, 0)], (1, 1, 1)),
            (vec![processor(0, 0, 0), processor(1, 0, 0)], (1, 1, 2)),
            (vec![processor(0, 0, 0), processor(1, 1, 1), processor(2, 2, 0), processor(3, 3, 1)], (2, 2, 1)),
        ] {
            let counts = Counts::of(&processors);
            assert_eq!((counts.sockets, counts.cores_per_socket, counts.threads_per_core), expect);
        }
    }
}
