//! The processors, and how they share sockets, cores and caches, from `/sys/devices/system/cpu`.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::files::SystemFiles;
use crate::limits;
use crate::machine::Gathered;

const PROCESSORS: &str = "/sys/devices/system/cpu";

/// One processor that the system schedules work on.
#[derive(Debug, PartialEq)]
pub(crate) struct Processor {
    /// Its number in the kernel, from 0.
    pub(crate) number: usize,
    /// Its core, numbered from 0 over all sockets, in order of appearance.
    pub(crate) core: usize,
    /// Its socket, numbered in the same way.
    pub(crate) socket: usize,
}

/// Returns the online processors. `fallback` returns socket and core of a processor if the kernel does not.
pub(crate) fn processors(files: &SystemFiles, fallback: impl Fn(usize) -> Option<(i64, i64)>) -> Vec<Processor> {
    let online = files.line(&format!("{PROCESSORS}/online")).unwrap_or_default();
    let (mut sockets, mut cores) = (Vec::new(), Vec::new());
    let processors = processors_in(&online).into_iter().map(|number| {
        let said = |field: &str| files.number::<i64>(&format!("{PROCESSORS}/cpu{number}/topology/{field}"));
        let (package, core) = match (said("physical_package_id"), said("core_id")) {
            (Some(package), Some(core)) => (package, core),
            _ => fallback(number).unwrap_or((0, i64::try_from(number).unwrap_or(i64::MAX))),
        };
        let die = said("die_id").unwrap_or(0);
        Processor { number, core: place_of(&mut cores, (package, die, core)), socket: place_of(&mut sockets, package) }
    });
    processors.collect()
}

fn place_of<T: PartialEq>(seen: &mut Vec<T>, value: T) -> usize {
    seen.iter().position(|other| *other == value).unwrap_or_else(|| {
        seen.push(value);
        seen.len() - 1
    })
}

/// Returns the numbers in a list of ranges such as `0-3,8`. A very long range is cut.
pub(crate) fn processors_in(list: &str) -> Vec<usize> {
    let ranges = list.trim().split(',').filter_map(|range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        Some(first.trim().parse::<usize>().ok()?..=last.trim().parse::<usize>().ok()?)
    });
    ranges.flatten().take(limits::PROCESSORS).collect()
}

/// Returns the processors of each memory node, by the node's number as text.
pub(crate) fn memory_nodes(files: &SystemFiles) -> Gathered {
    let mut nodes: Vec<(usize, Value)> = files
        .names("/sys/devices/system/node")
        .iter()
        .filter_map(|name| {
            let number = name.strip_prefix("node")?.parse().ok()?;
            let list = files.text(&format!("/sys/devices/system/node/{name}/cpulist"))?;
            Some((number, processors_in(&list).into_iter().collect()))
        })
        .collect();
    nodes.sort_by_key(|(number, _)| *number);
    nodes.into_iter().map(|(number, processors)| (number.to_string(), processors)).collect()
}

/// Returns the caches of all processors together, in the format of `lscpu`: `{"l1d_cache": "96 KiB (2 instances)"}`.
pub(crate) fn caches(files: &SystemFiles, processors: &[Processor]) -> Gathered {
    let mut sizes: BTreeMap<String, Vec<(String, u64)>> = BTreeMap::new();
    for processor in processors {
        let directory = format!("{PROCESSORS}/cpu{}/cache", processor.number);
        for index in files.names(&directory).iter().filter(|name| name.starts_with("index")) {
            let field = |name: &str| files.line(&format!("{directory}/{index}/{name}"));
            let (Some(level), Some(kind), Some(size)) =
                (field("level"), field("type"), field("size").as_deref().and_then(kibibytes))
            else {
                continue;
            };
            let letter = match kind.as_str() {
                "Data" => "d",
                "Instruction" => "i",
                _ => "",
            };
            let shared = field("shared_cpu_list").unwrap_or_else(|| processor.number.to_string());
            let instances = sizes.entry(format!("l{level}{letter}_cache")).or_default();
            if instances.iter().all(|(other, _)| *other != shared) {
                instances.push((shared, size));
            }
        }
    }
    sizes.into_iter().map(|(name, instances)| (name, in_words(&instances).into())).collect()
}

fn kibibytes(size: &str) -> Option<u64> {
    match size.strip_suffix('K') {
        Some(number) => number.parse().ok(),
        None => size.strip_suffix('M')?.parse::<u64>().ok()?.checked_mul(1024),
    }
}

fn in_words(instances: &[(String, u64)]) -> String {
    let total = instances.iter().fold(0_u64, |total, (_, size)| total.saturating_add(*size));
    let count = instances.len();
    let noun = if count == 1 { "instance" } else { "instances" };
    let (whole, tenths, unit) = match total {
        0..1024 => (total, 0, "KiB"),
        1024..1_048_576 => (total / 1024, total % 1024 * 10 / 1024, "MiB"),
        _ => (total / 1_048_576, total % 1_048_576 * 10 / 1_048_576, "GiB"),
    };
    match tenths {
        0 => format!("{whole} {unit} ({count} {noun})"),
        _ => format!("{whole}.{tenths} {unit} ({count} {noun})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_ranges() {
        for (list, expect) in
            [("0", vec![0]), ("0-2,5\n", vec![0, 1, 2, 5]), ("", vec![]), ("x,1-y,3", vec![3]), ("5-2", vec![])]
        {
            assert_eq!(processors_in(list), expect, "for {list:?}");
        }
        assert_eq!(processors_in("0-18446744073709551615").len(), limits::PROCESSORS);
    }

    #[test]
    fn words_sizes() {
        for (sizes, expect) in [
            (vec![48, 48], "96 KiB (2 instances)"),
            (vec![32 * 1024], "32 MiB (1 instance)"),
            (vec![1536], "1.5 MiB (1 instance)"),
            (vec![u64::MAX, 1], "17592186044415.9 GiB (2 instances)"),
        ] {
            let instances: Vec<_> = sizes.iter().map(|size| (String::new(), *size)).collect();
            assert_eq!(in_words(&instances), expect);
        }
    }
}
