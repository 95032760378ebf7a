//! `swap_file`: a swap file of the kernel.
//!
//! wrun makes and fills the file itself, through its own handle. Rights to commands that do it (`dd of=PATH`, `mkswap PATH`)
//! would reach further: the policy could lay a link at the path and run the same words with `execute`. So would the right to
//! the path: the policy could read there what other processes had in memory. The right to use the file covers making it.

use super::machine::SwapFile as Found;
use super::text::{absolute_path, one_word};
use super::{Composite, Machine, OwnFile, always, change, child, command, invalid, step};
use crate::private_copy::own_number;
use crate::resources::asked;
use crate::resources::mount::TABLE;
use contract::{Composition, Declaration, OwnPart, Raised, Wanted};
use schema::types::swap_file::SwapFileProperties;
use serde_json::json;

/// The number of bytes in a mebibyte.
const MEBIBYTE: u64 = 1 << 20;

/// The composite of `swap_file`: it makes a swap file, or removes one.
pub(super) struct SwapFile;

impl Composite for SwapFile {
    fn compose(&self, wanted: &Wanted<'_>, machine: &mut Machine<'_, '_>) -> Result<Composition, Raised> {
        let properties: SwapFileProperties = asked::properties(wanted)?;
        let path = one_word("path", absolute_path("path", &properties.path)?)?;
        // In the table of file systems it would begin the number of a sign.
        if path.contains('\\') {
            return Err(invalid(format!("path {path:?} has a backslash")));
        }
        // The list of active swap files is read only if the policy may change this one.
        let change_it = if wanted.action == "remove" { "swapoff" } else { "swapon" };
        machine.granted(&[change_it, path])?;
        let found = machine.swap_file(path);
        let is_covered = found != Found::Other;
        let summary = machine.printed("swapon", &["--summary"]).unwrap_or_default();
        // Below another root no kernel swaps, so only the file itself counts.
        let is_used = match machine.has_own_kernel() {
            true => summary.lines().any(|line| line.split_whitespace().next() == Some(path)),
            false => wanted.action != "remove" && found != Found::Absent,
        };
        let (mut sentences, mut parts) = (Vec::new(), Vec::new());
        if wanted.action == "remove" {
            if is_used || machine.is_survey {
                machine.fixed(path)?;
                sentences.push(format!("turn off swap for {path}"));
                parts.push(step(command("swapoff", "run", &["swapoff", path])));
            }
            if found != Found::Absent || machine.is_survey {
                sentences.push(format!("remove swap file {path}"));
                let file = child("file", path, "delete", [("backup", json!(false))]);
                parts.push(step(match is_covered {
                    true => file.chosen(|chosen| OwnPart::OfCommand(words("swapoff", path), chosen)),
                    false => file,
                }));
            }
            return Ok(change(sentences, parts));
        }
        if !is_used || machine.is_survey {
            let Some(size) = properties.size.filter(|size| *size > 0) else {
                return Err(invalid("size is a required property: a number of megabytes"));
            };
            let size = size.checked_mul(MEBIBYTE).ok_or_else(|| invalid(format!("no file has {size} megabytes")))?;
            if !is_covered {
                machine.managed(path)?;
            }
            machine.fixed(path)?;
            sentences.extend([
                format!("create empty swapfile at {path}"),
                format!("set permissions on {path} to 600"),
                format!("make {path} swappable"),
                format!("enable swap for {path}"),
            ]);
            parts.push(step(swap_space(path, (size, properties.timeout), is_covered)));
            if machine.has_own_kernel() || machine.is_survey {
                parts.push(step(command("swapon", "run", &["swapon", path])));
            }
            if properties.persist {
                let line = format!("{path} swap swap defaults 0 0");
                let table = machine.whole_text(TABLE)?;
                if !table.lines().any(|one| one.trim() == line) {
                    sentences.push(format!("add `{line}` to {TABLE}"));
                    // Filling the file takes a while, and others may write to the table meanwhile.
                    let swap_file = path.to_owned();
                    let file = child("file", TABLE, "create", []);
                    let file = file.chosen(|chosen| OwnPart::SwapLine { swap_file, chosen });
                    // The other lines are not the policy's, and may have passwords.
                    parts.push(step(Declaration { sensitive: true, ..file }));
                }
            }
        }
        if let Some(swappiness) = properties.swappiness {
            parts.push(always(child("sysctl", "vm.swappiness", "apply", [("value", json!(swappiness))])));
        }
        Ok(change(sentences, parts))
    }

    fn own_file(&self, wanted: &Wanted<'_>) -> Option<OwnFile> {
        let SwapFileProperties { path, .. } = asked::properties(wanted).ok()?;
        Some(OwnFile { path, text: None })
    }
}

/// Returns the part that makes the file and fills it.
fn swap_space(path: &str, (size, timeout): (u64, u64), is_covered: bool) -> Declaration {
    let properties = [("owner", json!(own_number())), ("mode", json!("0600")), ("backup", json!(false))];
    child("file", path, "create", properties).chosen(|chosen| OwnPart::SwapSpace { size, timeout, is_covered, chosen })
}

/// Returns the words of a command about the file.
fn words(program: &str, path: &str) -> Vec<String> {
    vec![program.to_owned(), path.to_owned()]
}
