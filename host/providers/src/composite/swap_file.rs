//! `swap_file`: a swap file of the kernel.

use super::text::{absolute_path, one_word};
use super::{Composite, Machine, always, change, child, command, invalid, step, with};
use crate::resources::asked;
use contract::{Composition, Raised, Wanted};
use schema::types::swap_file::SwapFileProperties;
use serde_json::json;

/// The number of bytes in a mebibyte.
const MEBIBYTE: u64 = 1 << 20;

/// The table of file systems.
const TABLE: &str = "/etc/fstab";

/// The composite of `swap_file`: it makes a swap file, or removes one.
pub(super) struct SwapFile;

impl Composite for SwapFile {
    fn compose(&self, wanted: &Wanted<'_>, machine: &mut Machine<'_, '_>) -> Result<Composition, Raised> {
        let properties: SwapFileProperties = asked::properties(wanted)?;
        let path = one_word("path", absolute_path("path", &properties.path)?)?;
        // The list of active swap files is read only if the policy may change this one.
        let change_it = if wanted.action == "remove" { "swapoff" } else { "swapon" };
        machine.granted(&[change_it, path])?;
        let summary = machine.printed("swapon", &["--summary"]).unwrap_or_default();
        // Below another root no kernel swaps, so only the file itself counts.
        let is_used = match machine.has_own_kernel() {
            true => summary.lines().any(|line| line.split_whitespace().next() == Some(path)),
            false => wanted.action != "remove" && machine.is_seen(path),
        };
        let (mut sentences, mut parts) = (Vec::new(), Vec::new());
        if wanted.action == "remove" {
            if is_used || machine.is_survey {
                machine.fixed(path)?;
                sentences.push(format!("turn off swap for {path}"));
                parts.push(step(command("swapoff", "run", &["swapoff", path])));
            }
            if !machine.is_absent(path) || machine.is_survey {
                sentences.push(format!("remove swap file {path}"));
                parts.push(step(child("file", path, "delete", [("backup", json!(false))])));
            }
            return Ok(change(sentences, parts));
        }
        if !is_used || machine.is_survey {
            let Some(size) = properties.size.filter(|size| *size > 0) else {
                return Err(invalid("size is a required property: a number of megabytes"));
            };
            // The choice of the command reveals the file system, so the grant is checked first.
            machine.managed(path)?;
            machine.fixed(path)?;
            let fill = filling(path, size, machine);
            let fill: Vec<&str> = fill.iter().map(String::as_str).collect();
            sentences.extend([
                format!("create empty swapfile at {path}"),
                format!("set permissions on {path} to 600"),
                format!("make {path} swappable"),
                format!("enable swap for {path}"),
            ]);
            parts.extend([
                // wrun creates the file, so that the command fills an existing one.
                step(child("file", path, "create", [("mode", json!("0600"))])),
                step(with(command("fill", "run", &fill), "timeout", json!(properties.timeout))),
                step(command("mkswap", "run", &["mkswap", "-f", path])),
            ]);
            if machine.has_own_kernel() || machine.is_survey {
                parts.push(step(command("swapon", "run", &["swapon", path])));
            }
            if properties.persist {
                let line = format!("{path} swap swap defaults 0 0");
                machine.managed(TABLE)?;
                let table = machine.readable_text(TABLE)?.unwrap_or_default();
                if !table.lines().any(|one| one.trim() == line) {
                    let end = if table.is_empty() || table.ends_with('\n') { "" } else { "\n" };
                    let content = format!("{table}{end}{line}\n");
                    parts.push(step(child("file", TABLE, "create", [("content", json!(content))])));
                }
            }
        }
        if let Some(swappiness) = properties.swappiness {
            parts.push(always(child("sysctl", "vm.swappiness", "apply", [("value", json!(swappiness))])));
        }
        Ok(change(sentences, parts))
    }
}

/// Returns the command that fills the file: a fast one if the file system supports it.
fn filling(path: &str, size: u64, machine: &mut Machine<'_, '_>) -> Vec<String> {
    let folder = path.rsplit_once('/').map_or("/", |(folder, _)| if folder.is_empty() { "/" } else { folder });
    let is_fast = !machine.is_container()
        && machine.has_program("fallocate")
        && machine
            .printed("df", &["-PT", "--", folder])
            .and_then(|table| {
                table.lines().nth(1)?.split_whitespace().nth(1).map(|kind| ["xfs", "ext4"].contains(&kind))
            })
            .unwrap_or(false);
    let words: &[&str] = if is_fast {
        &["fallocate", "-l", &size.saturating_mul(MEBIBYTE).to_string(), path]
    } else {
        &["dd", "if=/dev/zero", &format!("of={path}"), &format!("bs={MEBIBYTE}"), &format!("count={size}")]
    };
    words.iter().map(|word| (*word).to_owned()).collect()
}
