//! The facts and attributes which policies read and may not see, as a part of a run's summary.

use crate::{Block, Tone};
use contract::{HiddenRead, ReadKind, grant_entries};
use converge::RunReport;
use grants::Addition;

/// The most reads that are listed; the run's JSON has all that were kept.
const SHOWN: usize = 20;

/// The reads of which the policies were not told, with the policy's name: refusals are among the denials.
pub fn of(report: &RunReport) -> Vec<(String, Vec<HiddenRead>)> {
    let unsaid = report.policies.iter().map(|policy| {
        let reads = policy.reads.hidden.iter().filter(|read| !read.refused).cloned().collect::<Vec<_>>();
        (policy.name.clone(), reads)
    });
    unsaid.filter(|(_, reads)| !reads.is_empty()).collect()
}

/// A block for each policy that read something hidden.
pub fn blocks(reads: &[(String, Vec<HiddenRead>)]) -> Vec<Block> {
    let block = |(policy, reads): &(String, Vec<HiddenRead>)| {
        let text = text(policy, reads);
        let (heading, lines) = text.split_once('\n').unwrap_or((&text, ""));
        Block::new(Tone::Warning, heading).lines(Tone::Warning, "", lines.lines())
    };
    reads.iter().map(block).collect()
}

/// The entries of the grants that would show the policies what they read.
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
fn text(policy: &str, reads: &[HiddenRead]) -> String {
    let mut lines = Vec::new();
    for (kind, what) in [(ReadKind::Fact, "facts"), (ReadKind::Attribute, "attributes of other policies")] {
        let of_kind: Vec<_> = reads.iter().filter(|read| read.kind == kind).collect();
        if of_kind.is_empty() {
            continue;
        }
        lines.push(format!("Policy {policy} read {what} that it is not granted:"));
        lines.extend(of_kind.iter().take(SHOWN).map(|read| format!("  {}", line(read))));
        if let Some(more @ 1..) = of_kind.len().checked_sub(SHOWN) {
            lines.push(format!("  and {more} more"));
        }
    }
    lines.join("\n")
}

fn line(read: &HiddenRead) -> String {
    let part = if read.partly { " (a part of it)" } else { "" };
    let origin = &read.origin;
    let place = match (origin.line.and_then(|_| origin.place()), &origin.cookbook) {
        (Some(place), _) => format!(", {place}"),
        (None, Some(cookbook)) => format!(", cookbook {cookbook}"),
        (None, None) => String::new(),
    };
    format!("{}{part}{place}", read.shown())
}

#[cfg(test)]
mod tests {
    use super::*;
    use node::origin::Origin;

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
        ];
        let expect = "Policy web read facts that it is not granted:
  memory, site/recipes/default.rb:3
  network (a part of it)
Policy web read attributes of other policies that it is not granted:
  ntp";
        assert_eq!(text("web", &reads), expect);
        let entry = |key: &str, value: &str| Addition { policy: "web".into(), key: key.into(), value: value.into() };
        let expect = [entry("facts", "\"memory\""), entry("facts", "\"network\""), entry("read_attributes", "\"ntp\"")];
        assert_eq!(additions(&[("web".into(), reads.into())]), expect);
    }

    #[test]
    fn a_long_list_is_cut() {
        let reads: Vec<_> = (0..SHOWN + 5).map(|at| read(ReadKind::Fact, &format!("f{at}"), None)).collect();
        let text = text("web", &reads);
        assert!(text.ends_with("\n  and 5 more"), "{text}");
        assert_eq!(text.lines().count(), SHOWN + 2);
    }
}
