//! Lists the facts and attributes that policies read without a grant, for a run's summary.

use crate::{Block, Tone};
use contract::{HiddenRead, ReadKind, grant_entries};
use converge::RunReport;
use grants::Addition;
use node::origin::Origin;
use serde_json::Value;

/// The most reads that are listed; the run's JSON has all that were kept.
const SHOWN: usize = 20;

/// Returns the reads that gave the policy no value and no error, by policy. Refused reads are among the denials instead.
pub fn of(report: &RunReport) -> Vec<(String, Vec<HiddenRead>)> {
    let unsaid = report.policies.iter().map(|policy| {
        let reads = policy.reads.hidden.iter().filter(|read| !read.refused).cloned().collect::<Vec<_>>();
        (policy.name.clone(), reads)
    });
    unsaid.filter(|(_, reads)| !reads.is_empty()).collect()
}

/// A read in the form that people see.
struct Told {
    kind: ReadKind,
    /// The path with the place, guest's text.
    line: String,
}

/// A block for each policy that read something hidden.
pub fn blocks(reads: &[(String, Vec<HiddenRead>)]) -> Vec<Block> {
    let told = |read: &HiddenRead| Told { kind: read.kind, line: line(&read.shown(), read.partly, &read.origin) };
    reads.iter().map(|(policy, reads)| block(policy, &reads.iter().map(told).collect::<Vec<_>>())).collect()
}

/// Returns the same blocks from the record of a run.
pub fn recorded_blocks(run: &Value) -> Vec<Block> {
    let reads = run["hidden_reads"].as_array().map(Vec::as_slice).unwrap_or_default();
    let mut by_policy: Vec<(&str, Vec<Told>)> = Vec::new();
    for read in reads.iter().filter(|read| read["refused"] == false) {
        let kind = recorded_kind(read);
        let (Some(kind), Some(policy), Some(path)) = (kind, read["policy"].as_str(), read["path"].as_str()) else {
            continue;
        };
        let of_read = &read["origin"];
        let text = |key: &str| of_read[key].as_str().map(str::to_owned);
        let line_number = of_read["line"].as_u64().and_then(|line| u32::try_from(line).ok());
        let origin =
            Origin { cookbook: text("cookbook"), file: text("file"), line: line_number, ..Origin::policy(policy) };
        let told = Told { kind, line: line(path, read["partly"] == true, &origin) };
        match by_policy.iter_mut().find(|(known, _)| *known == policy) {
            Some((_, reads)) => reads.push(told),
            None => by_policy.push((policy, vec![told])),
        }
    }
    by_policy.iter().map(|(policy, reads)| block(policy, reads)).collect()
}

/// Returns the kind of a recorded read. Records of older versions do not tell whose an attribute is.
fn recorded_kind(read: &Value) -> Option<ReadKind> {
    let known = ReadKind::ALL.into_iter().rev();
    let mut of_name = known.filter(|kind| read["kind"] == kind.name());
    of_name.find(|kind| read["owner"].is_null() || read["owner"] == kind.owner())
}

fn block(policy: &str, reads: &[Told]) -> Block {
    let text = text(policy, reads);
    let (heading, lines) = text.split_once('\n').unwrap_or((&text, ""));
    Block::new(Tone::Warning, heading).lines(Tone::Warning, "", lines.lines())
}

/// Returns the entries of the grants that would allow these reads.
pub fn additions(reads: &[(String, Vec<HiddenRead>)]) -> Vec<Addition> {
    let of =
        |(policy, reads): &(String, Vec<HiddenRead>)| entries(policy, reads.iter().map(|read| read.grant.as_str()));
    reads.iter().flat_map(of).collect()
}

/// The entries that lines of one policy's table have, such as `facts = ["memory"]`.
pub(crate) fn entries<'l>(policy: &str, lines: impl Iterator<Item = &'l str>) -> Vec<Addition> {
    let addition =
        |(key, value): (&str, &str)| Addition { policy: policy.into(), key: key.into(), value: value.into() };
    grant_entries(lines).into_iter().map(addition).collect()
}

/// The block for one policy. Guests' text is in it.
fn text(policy: &str, reads: &[Told]) -> String {
    let mut lines = Vec::new();
    let kinds = [
        (ReadKind::Fact, "facts"),
        (ReadKind::Given, "attributes of the operator"),
        (ReadKind::Attribute, "attributes of other policies"),
    ];
    for (kind, what) in kinds {
        let of_kind: Vec<_> = reads.iter().filter(|read| read.kind == kind).collect();
        if of_kind.is_empty() {
            continue;
        }
        lines.push(format!("Policy {policy} read {what} that it is not granted:"));
        lines.extend(of_kind.iter().take(SHOWN).map(|read| format!("  {}", read.line)));
        if let Some(more @ 1..) = of_kind.len().checked_sub(SHOWN) {
            lines.push(format!("  and {more} more"));
        }
    }
    lines.join("\n")
}

fn line(path: &str, partly: bool, origin: &Origin) -> String {
    let part = if partly { " (a part of it)" } else { "" };
    let place = match (origin.line.and_then(|_| origin.place()), &origin.cookbook) {
        (Some(place), _) => format!(", {place}"),
        (None, Some(cookbook)) => format!(", cookbook {cookbook}"),
        (None, None) => String::new(),
    };
    format!("{path}{part}{place}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::hidden_read;
    use serde_json::json;

    fn read(kind: ReadKind, name: &str, line: Option<u32>) -> HiddenRead {
        let origin = Origin {
            cookbook: line.map(|_| "site".into()),
            file: line.map(|_| "recipes/default.rb".into()),
            line,
            ..Origin::policy("web")
        };
        let key = if kind == ReadKind::Fact { "facts" } else { "read_attributes" };
        let grant = format!("{key} = [\"{name}\"]");
        HiddenRead { kind, path: vec![name.into()], partly: false, refused: false, origin, grant }
    }

    #[test]
    fn the_block_names_each_read() {
        let reads = [
            read(ReadKind::Fact, "memory", Some(3)),
            HiddenRead { partly: true, ..read(ReadKind::Fact, "network", None) },
            read(ReadKind::Attribute, "ntp", None),
            read(ReadKind::Given, "mail", None),
        ];
        let expect = "Policy web read facts that it is not granted:
  memory, site/recipes/default.rb:3
  network (a part of it)
Policy web read attributes of the operator that it is not granted:
  mail
Policy web read attributes of other policies that it is not granted:
  ntp";
        let shown = |blocks: Vec<Block>| blocks.into_iter().map(|block| block.text()).collect::<Vec<_>>();
        assert_eq!(shown(blocks(&[("web".into(), reads.to_vec())])), [expect]);
        // The run's record gives the same blocks, without the refused reads.
        let refused = HiddenRead { refused: true, ..read(ReadKind::Fact, "cpu", Some(1)) };
        let recorded: Vec<_> = reads.iter().chain([&refused]).map(|read| hidden_read("web", read)).collect();
        assert_eq!(shown(recorded_blocks(&json!({ "hidden_reads": recorded }))), [expect]);
        assert!(recorded_blocks(&json!({})).is_empty());
        let entry = |key: &str, value: &str| Addition { policy: "web".into(), key: key.into(), value: value.into() };
        let expect = [
            entry("facts", "\"memory\""),
            entry("facts", "\"network\""),
            entry("read_attributes", "\"mail\""),
            entry("read_attributes", "\"ntp\""),
        ];
        assert_eq!(additions(&[("web".into(), reads.into())]), expect);
    }

    #[test]
    fn a_long_list_is_cut() {
        let reads: Vec<_> = (0..SHOWN + 5).map(|at| read(ReadKind::Fact, &format!("f{at}"), None)).collect();
        let text = blocks(&[("web".into(), reads)]).remove(0).text();
        assert!(text.ends_with("\n  and 5 more"), "{text}");
        assert_eq!(text.lines().count(), SHOWN + 2);
    }
}
