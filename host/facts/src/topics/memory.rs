//! `memory`: Ohai's plugin Memory, from `/proc/meminfo`. Sizes are texts with their unit (`"4028964kB"`).

use serde_json::Value;

use crate::machine::{Gathered, Machine};
use crate::topics::one;

/// Lines of `/proc/meminfo`, with their section of `memory` (empty for `memory` itself) and their name there.
const LINES: &[(&str, &str, &str)] = &[
    ("MemTotal", "", "total"),
    ("MemFree", "", "free"),
    ("MemAvailable", "", "available"),
    ("Buffers", "", "buffers"),
    ("Cached", "", "cached"),
    ("Active", "", "active"),
    ("Inactive", "", "inactive"),
    ("HighTotal", "", "high_total"),
    ("HighFree", "", "high_free"),
    ("LowTotal", "", "low_total"),
    ("LowFree", "", "low_free"),
    ("Dirty", "", "dirty"),
    ("Writeback", "", "writeback"),
    ("AnonPages", "", "anon_pages"),
    ("Mapped", "", "mapped"),
    ("Slab", "", "slab"),
    ("SReclaimable", "", "slab_reclaimable"),
    ("SUnreclaim", "", "slab_unreclaim"),
    ("PageTables", "", "page_tables"),
    ("NFS_Unstable", "", "nfs_unstable"),
    ("Bounce", "", "bounce"),
    ("CommitLimit", "", "commit_limit"),
    ("Committed_AS", "", "committed_as"),
    ("VmallocTotal", "", "vmalloc_total"),
    ("VmallocUsed", "", "vmalloc_used"),
    ("VmallocChunk", "", "vmalloc_chunk"),
    ("Hugepagesize", "", "hugepage_size"),
    ("Hugetlb", "", "hugetlb"),
    ("SwapCached", "swap", "cached"),
    ("SwapTotal", "swap", "total"),
    ("SwapFree", "swap", "free"),
    ("HugePages_Total", "hugepages", "total"),
    ("HugePages_Free", "hugepages", "free"),
    ("HugePages_Rsvd", "hugepages", "reserved"),
    ("HugePages_Surp", "hugepages", "surplus"),
];

pub(crate) fn gather(machine: &Machine) -> Gathered {
    match machine.machine.text("/proc/meminfo") {
        Some(text) => one("memory", memory(&text)),
        None => Gathered::new(),
    }
}

fn memory(text: &str) -> Gathered {
    let (mut memory, mut swap, mut huge, mut direct) =
        (Gathered::new(), Gathered::new(), Gathered::new(), Gathered::new());
    for line in text.lines() {
        let Some((name, size)) = line.split_once(':') else { continue };
        let mut words = size.split_whitespace();
        let Some(number) = words.next().filter(|number| number.bytes().all(|byte| byte.is_ascii_digit())) else {
            continue;
        };
        let size = Value::from(format!("{number}{}", words.next().unwrap_or_default()));
        if let Some(page_size) = name.strip_prefix("DirectMap") {
            direct.insert(page_size.to_owned(), size);
        } else if let Some((_, part, key)) = LINES.iter().find(|(line, _, _)| *line == name) {
            let part = match *part {
                "swap" => &mut swap,
                "hugepages" => &mut huge,
                _ => &mut memory,
            };
            part.insert((*key).to_owned(), size);
        }
    }
    let mut parts = one("swap", swap);
    parts.extend(one("hugepages", huge));
    parts.extend(one("directmap", direct));
    parts.extend(memory);
    parts
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn reads_meminfo() {
        let text = "MemTotal:       4028964 kB\nSwapTotal:  0 kB\nHugePages_Total:       3\nDirectMap4k:   10 kB\n\
                    Active(anon):  77 kB\nNonsense\nMemFree: many kB\nHugepagesize:       2048 kB\n";
        assert_eq!(
            Value::Object(memory(text)),
            json!({
                "swap": {"total": "0kB"},
                "hugepages": {"total": "3"},
                "directmap": {"4k": "10kB"},
                "total": "4028964kB",
                "hugepage_size": "2048kB",
            })
        );
    }
}
