//! Shows the denials of a run as one block, with the line of code that asked and the line that would allow it.

use crate::unseen::{self, UnseenRecipe};
use crate::{Block, Tone};
use grants::{Addition, Denial, NewLines};
use std::collections::BTreeMap;

/// The most denials that are listed; the run's record has all. Each policy has its first ones in the list, whatever others were
/// denied.
const MAX_LISTED: usize = 50;

/// What the denials of a run leave out, and the command that lists it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beyond<'a> {
    /// Nothing that a command would list.
    Nothing,
    /// The run was a plan, which does not ask for everything that a real run needs.
    Plan,
    /// The run was a real one, which ends with the first resource that is denied. The command line makes a plan of the same
    /// run; `None`: nobody typed one.
    Run(Option<&'a str>),
}

/// The remark about denials that a dry run cannot find.
const BEYOND_THE_PLAN: &str = "A plan does not ask for everything that a real run needs, such as what is in `converge_if_changed`. `wrun grants \
                               suggest` with the same options lists that, too.";

/// What a real run's denials leave out, where no command line is known.
const BEYOND_THE_RUN: &str = "A run stops at the first resource that is denied. `wrun converge --why-run` with the same options lists \
                              what all of them are denied.";

/// The same before a command line.
const ALL_OF_THEM: &str = "A run stops at the first resource that is denied. To list what all of them are denied:";

/// Returns the denials that are listed, in their order.
fn listed(denials: &[Denial]) -> impl Iterator<Item = &Denial> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let ranked = denials.iter().enumerate().map(|(at, denial)| {
        let rank = counts.entry(denial.policy.as_str()).or_default();
        *rank += 1;
        (*rank, at)
    });
    let mut ranked: Vec<(usize, usize)> = ranked.collect();
    ranked.sort_unstable();
    let mut chosen: Vec<usize> = ranked.into_iter().map(|(_, at)| at).take(MAX_LISTED).collect();
    chosen.sort_unstable();
    chosen.into_iter().filter_map(|at| denials.get(at))
}

/// Returns the block, or `None` if nothing was denied.
///
/// `to_write` are the lines that would allow what [`additions`] and [`crate::hidden_reads::additions`] name. `command` is the
/// command line that would write the entries into the grants; `None`: the run has no record.
pub fn block(
    denials: &[Denial],
    left_out: usize,
    unseen: &[UnseenRecipe],
    to_write: &[NewLines],
    command: Option<&str>,
    beyond: Beyond<'_>,
) -> Option<Block> {
    if denials.is_empty() && unseen.is_empty() {
        return allowing(None, to_write, command);
    }
    let count = denials.len() + left_out;
    let things = match count {
        0 => "Not all was seen".to_owned(),
        1 => "1 thing was denied".to_owned(),
        count => format!("{count} things were denied"),
    };
    let mut block = Block::new(Tone::Warning, format!("{things}:"));
    for denial in listed(denials) {
        block = block.line(Tone::Plain, format!("  policy {} {}{}", denial.policy, denial.message, denial.asked_by()));
        let reason = denial.reason.iter().map(String::as_str);
        block = block.lines(Tone::Plain, "    ", reason.chain(denial.remark()));
    }
    let more = count - MAX_LISTED.min(denials.len());
    if more > 0 {
        block = block.line(Tone::Plain, format!("  and {more} more"));
    }
    let block = allowing(Some(unseen::add_to(block, unseen)), to_write, command)?;
    Some(match beyond {
        Beyond::Nothing => block,
        Beyond::Plan => block.line(Tone::Plain, BEYOND_THE_PLAN),
        Beyond::Run(None) => block.line(Tone::Plain, BEYOND_THE_RUN),
        Beyond::Run(Some(command)) => {
            block.line(Tone::Plain, ALL_OF_THEM).verbatim(Tone::Plain, format!("    {command}"))
        }
    })
}

/// Adds the lines that would allow the denials. If `block` is `None`, they become a block of their own.
fn allowing(mut block: Option<Block>, to_write: &[NewLines], command: Option<&str>) -> Option<Block> {
    for new in to_write {
        let heading = heading(new);
        let begun = match block {
            Some(block) => block.line(Tone::Plain, heading),
            None => Block::new(Tone::Plain, heading),
        };
        let lines = new.lines.lines();
        block = Some(lines.fold(begun, |block, line| block.verbatim(Tone::Change, format!("    {line}"))));
    }
    let command = command.filter(|_| !to_write.is_empty());
    match (block, command) {
        (Some(block), Some(command)) => Some(block.verbatim(Tone::Plain, format!("Or let wrun write that: {command}"))),
        (block, _) => block,
    }
}

/// Returns the heading that says where the lines belong.
fn heading(new: &NewLines) -> String {
    let (file, table) = (new.file.display(), grants::table_name(&new.policy));
    match new.is_new {
        true => format!("To allow it, add to {file}, under {table}:"),
        false => format!("To allow it, change these lines of {file}, under {table}, to:"),
    }
}

/// Returns the entries that would allow the denials, and those that the unseen rest of recipes needs.
pub fn additions(denials: &[Denial], unseen: &[UnseenRecipe]) -> Vec<Addition> {
    denials.iter().filter_map(Addition::of).chain(unseen.iter().flat_map(UnseenRecipe::additions)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use grants::Asker;

    fn denial(policy: &str, message: &str, key: &str, value: Option<&str>, by: Option<Asker>) -> Denial {
        Denial {
            policy: policy.into(),
            message: message.into(),
            key: key.into(),
            value: value.map(Into::into),
            asked: "x".into(),
            reason: None,
            by,
            times: 1,
        }
    }

    fn asker(line: u32) -> Option<Asker> {
        Some(Asker {
            kind: Some("package".into()),
            name: Some("nginx".into()),
            cookbook: Some("site".into()),
            file: Some("src/lib.rs".into()),
            line: Some(line),
            ..Asker::default()
        })
    }

    #[test]
    fn attack_many_denials_of_one_policy_leave_room_for_those_of_another() {
        let mut denials = vec![denial("evil", "may not manage package x", "packages", None, None); MAX_LISTED + 10];
        denials.push(denial("web", "may not manage package nginx", "packages", None, None));
        let shown = block(&denials, 0, &[], &[], None, Beyond::Nothing).unwrap().text();
        assert_eq!(shown.matches("policy evil").count(), MAX_LISTED - 1, "{shown}");
        assert!(shown.contains("policy web may not manage package nginx") && shown.contains("and 11 more"), "{shown}");
    }

    #[test]
    fn each_denial_is_told_once_and_its_lines_can_be_pasted() {
        let lines = |policy: &str, is_new: bool, lines: &str| NewLines {
            file: "/etc/wrun/grants.toml".into(),
            policy: policy.into(),
            is_new,
            lines: lines.into(),
        };
        let to_write = [
            lines("db", true, "reboot = true"),
            lines("web", true, "paths = [\"/etc/motd\"]"),
            lines("web", false, "packages = [\"curl\", \"nginx\"]"),
        ];
        let denials = [
            denial("web", "may not manage package nginx", "packages", Some("\"nginx\""), asker(15)),
            denial("web", "may not manage path /etc/motd\u{1b}", "paths", Some("\"/etc/motd\""), None),
            denial("db", "may not restart the node", "reboot", Some("true"), None),
            denial("db", "may not manage user b/c", "users", None, None),
        ];
        let allow = Some("wrun grants allow --last");
        let shown = block(&denials, 0, &[], &to_write, allow, Beyond::Plan).unwrap().text();
        let place = "/etc/wrun/grants.toml";
        let expect = format!(
            "4 things were denied:\n  policy web may not manage package nginx  (package[nginx], site/src/lib.rs:15)\n  \
             policy web may not manage path /etc/motd\\u{{1b}}\n  policy db may not restart the node\n  \
             policy db may not manage user b/c\n    no new entry would allow it\n\
             To allow it, add to {place}, under [policy.db]:\n    reboot = true\n\
             To allow it, add to {place}, under [policy.web]:\n    paths = [\"/etc/motd\"]\n\
             To allow it, change these lines of {place}, under [policy.web], to:\n    \
             packages = [\"curl\", \"nginx\"]\nOr let wrun write that: wrun grants allow --last"
        );
        assert_eq!(shown, format!("{expect}\n{BEYOND_THE_PLAN}"));
        let beyond = |beyond| block(&denials, 0, &[], &to_write, allow, beyond).unwrap().text();
        assert_eq!(beyond(Beyond::Nothing), expect);
        assert_eq!(beyond(Beyond::Run(None)), format!("{expect}\n{BEYOND_THE_RUN}"));
        let again = "wrun converge --policy-name web --why-run";
        assert_eq!(beyond(Beyond::Run(Some(again))), format!("{expect}\n{ALL_OF_THEM}\n    {again}"));
        assert!(block(&[], 0, &[], &[], allow, Beyond::Plan).is_none());
        let only_hidden = block(&[], 0, &[], &to_write[..1], allow, Beyond::Plan).unwrap().text();
        let expect = "under [policy.db]:\n    reboot = true\nOr let wrun write that: wrun grants allow --last";
        assert!(only_hidden.starts_with("To allow it, ") && only_hidden.ends_with(expect), "{only_hidden}");
    }

    #[test]
    fn a_long_list_is_cut_and_counted() {
        let value = |number: usize| format!("\"p{number}\"");
        let denials: Vec<_> =
            (0..60).map(|at| denial("web", "may not x", "packages", Some(&value(at)), None)).collect();
        let shown = block(&denials, 5, &[], &[], None, Beyond::Nothing).unwrap().text();
        assert!(shown.starts_with("65 things were denied:\n") && shown.ends_with("\n  and 15 more"), "{shown}");
        assert_eq!(additions(&denials, &[]).len(), 60);
    }
}
