//! The denials of a run as one block: what was denied to whom, which line asked, and what would allow it.

use super::blocks::Block;
use super::unseen::{self, UnseenRecipe};
use crate::printer::Tone;
use assemble::GrantsFiles;
use grants::{Addition, Denial, Grants};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The most denials that are listed; the run's record has all.
const MAX_LISTED: usize = 50;

/// The most bytes of an entry that a comment repeats.
const MAX_COMMENTED: usize = 60;

/// What a plan's denials leave out, and where it is found.
const BEYOND_THE_PLAN: &str = "A plan does not ask for everything that a real run needs, such as what is in `converge_if_changed`. `wrun grants \
                               suggest` with the same options lists that, too.";

/// The block; `None` if nothing was denied.
///
/// `command` is the command line that would write the entries into the grants; `None`: the run has no record. `why_run`: the
/// run was a plan, which does not see all that a real run needs.
pub(crate) fn block(
    denials: &[Denial],
    left_out: usize,
    unseen: &[UnseenRecipe],
    files: &GrantsFiles,
    command: Option<&str>,
    why_run: bool,
) -> Option<Block> {
    if denials.is_empty() && unseen.is_empty() {
        return None;
    }
    let count = denials.len() + left_out;
    let things = match count {
        0 => "Not all was seen".to_owned(),
        1 => "1 thing was denied".to_owned(),
        count => format!("{count} things were denied"),
    };
    let mut block = Block::new(Tone::Warning, format!("{things}:"));
    for denial in denials.iter().take(MAX_LISTED) {
        block = block.line(Tone::Plain, format!("  policy {} {}{}", denial.policy, denial.message, asked_by(denial)));
        let reason = denial.reason.iter().map(String::as_str);
        block = block.lines(Tone::Plain, "    ", reason.chain(remark(denial)));
    }
    let more = count - MAX_LISTED.min(denials.len());
    if more > 0 {
        block = block.line(Tone::Plain, format!("  and {more} more"));
    }
    block = unseen::add_to(block, unseen);
    let to_write = to_write(&additions(denials, unseen), files);
    let command = command.filter(|_| !to_write.is_empty());
    for (heading, lines) in to_write {
        block = lines
            .lines()
            .fold(block.line(Tone::Plain, heading), |block, line| block.verbatim(Tone::Change, format!("    {line}")));
    }
    if let Some(command) = command {
        block = block.verbatim(Tone::Plain, format!("Or let wrun write that: {command}"));
    }
    if why_run {
        block = block.line(Tone::Plain, BEYOND_THE_PLAN);
    }
    Some(block)
}

/// What there is to know about the entry that would allow it.
fn remark(denial: &Denial) -> Option<&'static str> {
    match &denial.value {
        None if denial.asked == "[sensitive]" => {
            Some("the resource is sensitive, so that the entry for it has to be written by hand")
        }
        None => Some("no new entry would allow it"),
        Some(_) => None,
    }
}

/// Who asked, in parentheses.
fn asked_by(denial: &Denial) -> String {
    let Some(by) = &denial.by else { return String::new() };
    let parts: Vec<_> = by.resource().into_iter().chain(by.place()).collect();
    if parts.is_empty() { String::new() } else { format!("  ({})", parts.join(", ")) }
}

/// What to write where: a heading with file and table, and the lines.
fn to_write(additions: &[Addition], files: &GrantsFiles) -> Vec<(String, String)> {
    let grants = files.parse().unwrap_or_else(|_| Grants::nothing());
    let mut found = Vec::new();
    for (file, additions) in by_file(additions, files, &grants) {
        let text = additions.first().map_or("", |first| files.file_of(&grants, &first.policy).1);
        let name = file.display().to_string();
        let Ok(edited) = grants::add(text, &name, &additions) else { continue };
        let risks = grants::risks(text, &name, &additions).unwrap_or_default();
        let mut policies: Vec<&str> = edited.keys.iter().map(|key| key.policy.as_str()).collect();
        policies.dedup();
        for policy in policies {
            for is_new in [true, false] {
                let of_kind = |key: &&grants::EditedKey| key.policy == policy && key.is_new == is_new;
                let lines = edited.keys.iter().filter(of_kind).flat_map(|key| {
                    let of_key = risks.iter().filter(|(one, _)| one.policy == policy && one.key == key.key);
                    let comments = of_key.map(|(one, reason)| {
                        format!("# Opens a lot: {} {reason}.", text::cut(&one.value, MAX_COMMENTED))
                    });
                    comments.chain([key.lines.clone()]).collect::<Vec<_>>()
                });
                let lines: Vec<_> = lines.collect();
                if !lines.is_empty() {
                    let (file, table) = (file.display(), grants::table_name(policy));
                    let heading = if is_new {
                        format!("To allow it, add to {file}, under {table}:")
                    } else {
                        format!("To allow it, change these lines of {file}, under {table}, to:")
                    };
                    found.push((heading, lines.join("\n")));
                }
            }
        }
    }
    found
}

/// The entries that would allow what was denied, and what the text of recipes asks for that were not seen to their end.
pub(crate) fn additions(denials: &[Denial], unseen: &[UnseenRecipe]) -> Vec<Addition> {
    denials.iter().filter_map(Addition::of).chain(unseen.iter().flat_map(UnseenRecipe::additions)).collect()
}

/// Entries by the file that they belong to.
pub(crate) fn by_file(
    additions: &[Addition],
    files: &GrantsFiles,
    grants: &Grants,
) -> BTreeMap<PathBuf, Vec<Addition>> {
    let mut by_file: BTreeMap<PathBuf, Vec<Addition>> = BTreeMap::new();
    for addition in additions {
        let additions = by_file.entry(files.file_of(grants, &addition.policy).0).or_default();
        if !additions.contains(addition) {
            additions.push(addition.clone());
        }
    }
    for additions in by_file.values_mut() {
        additions.sort_by(|one, other| (&one.policy, &one.key).cmp(&(&other.policy, &other.key)));
    }
    by_file
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
    fn each_denial_is_told_once_and_its_lines_can_be_pasted() {
        let temporary = tempfile::tempdir().unwrap();
        let main = temporary.path().join("grants.toml");
        std::fs::write(&main, "[policy.web]\npackages = [\"curl\"]\n").unwrap();
        let files = GrantsFiles::read(&main, true).unwrap();
        let denials = [
            denial("web", "may not manage package nginx", "packages", Some("\"nginx\""), asker(15)),
            denial("web", "may not manage path /etc/motd\u{1b}", "paths", Some("\"/etc/motd\""), None),
            denial("db", "may not restart the node", "reboot", Some("true"), None),
            denial("db", "may not manage user b/c", "users", None, None),
        ];
        let shown = block(&denials, 0, &[], &files, Some("wrun grants allow --last"), true).unwrap().text();
        let place = main.display();
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
        assert_eq!(block(&denials, 0, &[], &files, Some("wrun grants allow --last"), false).unwrap().text(), expect);
        assert!(block(&[], 0, &[], &files, None, true).is_none());
    }

    #[test]
    fn a_long_list_is_cut_and_counted() {
        let temporary = tempfile::tempdir().unwrap();
        let files = GrantsFiles::read(&temporary.path().join("grants.toml"), false).unwrap();
        let value = |number: usize| format!("\"p{number}\"");
        let denials: Vec<_> =
            (0..60).map(|at| denial("web", "may not x", "packages", Some(&value(at)), None)).collect();
        let shown = block(&denials, 5, &[], &files, None, false).unwrap().text();
        assert!(shown.starts_with("65 things were denied:\n") && shown.contains("\n  and 15 more\n"), "{shown}");
        assert!(shown.contains("\"p59\""), "{shown}");
    }
}
