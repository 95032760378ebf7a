//! The block of a run's summary that names the facts and attributes which a policy read and may not see.

use crate::{Block, Tone};
use contract::{HiddenRead, ReadKind, grant_lines};
use converge::{PolicyReport, RunReport};

/// The most reads that are listed; the run's JSON has all that were kept.
const SHOWN: usize = 20;

/// A block for each policy that read something hidden and was not told so: refusals are among the denials.
pub fn blocks(report: &RunReport) -> Vec<Block> {
    let block = |text: String| {
        let (heading, lines) = text.split_once('\n').unwrap_or((&text, ""));
        Block::new(Tone::Warning, heading).lines(Tone::Warning, "", lines.lines())
    };
    let unsaid = |policy: &PolicyReport| -> Vec<HiddenRead> {
        policy.reads.hidden.iter().filter(|read| !read.refused).cloned().collect()
    };
    let policies = report.policies.iter().map(|policy| (policy.name.as_str(), unsaid(policy)));
    let with_some = policies.filter(|(_, reads)| !reads.is_empty());
    with_some.map(|(policy, reads)| block(text(policy, &reads))).collect()
}

/// The block for one policy. Guests' text is in it.
fn text(policy: &str, reads: &[HiddenRead]) -> String {
    let mut text = String::new();
    for (kind, what) in [(ReadKind::Fact, "facts"), (ReadKind::Attribute, "attributes of other policies")] {
        let of_kind: Vec<_> = reads.iter().filter(|read| read.kind == kind).collect();
        if of_kind.is_empty() {
            continue;
        }
        text.push_str(&format!("Policy {policy} read {what} that it is not granted:\n"));
        for read in of_kind.iter().take(SHOWN) {
            text.push_str(&format!("  {}\n", line(read)));
        }
        if let Some(more @ 1..) = of_kind.len().checked_sub(SHOWN) {
            text.push_str(&format!("  and {more} more\n"));
        }
    }
    let lines = grant_lines(&reads.iter().take(SHOWN).collect::<Vec<_>>()).join("\n  ");
    text.push_str(&format!("To allow it, add to [policy.{policy}] in the grants:\n  {lines}"));
    text
}

fn line(read: &HiddenRead) -> String {
    let part = if read.partly { " (a part of it)" } else { "" };
    let origin = &read.origin;
    let place = match (&origin.cookbook, &origin.file, origin.line) {
        (Some(cookbook), Some(file), Some(line)) => format!(", {cookbook}/{file}:{line}"),
        (Some(cookbook), ..) => format!(", cookbook {cookbook}"),
        _ => String::new(),
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
    fn the_block_names_each_read_and_one_line_per_key() {
        let reads = [
            read(ReadKind::Fact, "memory", Some(3)),
            HiddenRead { partly: true, ..read(ReadKind::Fact, "network", None) },
            read(ReadKind::Attribute, "ntp", None),
        ];
        let expect = "Policy web read facts that it is not granted:
  memory, site/recipes/default.rb:3
  network (a part of it)
Policy web read attributes of other policies that it is not granted:
  ntp
To allow it, add to [policy.web] in the grants:
  facts = [\"memory\", \"network\"]
  read_attributes = [\"ntp\"]";
        assert_eq!(text("web", &reads), expect);
    }

    #[test]
    fn a_long_list_is_cut() {
        let reads: Vec<_> = (0..SHOWN + 5).map(|at| read(ReadKind::Fact, &format!("f{at}"), None)).collect();
        let text = text("web", &reads);
        assert!(text.contains("\n  and 5 more\n"), "{text}");
        assert_eq!(text.lines().count(), SHOWN + 4);
    }
}
