//! The end of a run for people: one line per policy, the failed ones last, each with its error: sentence, place, excerpt of
//! the source, hint, each once.

use crate::json::Parts;
use crate::{Block, Tone};
use crate::{by_code, sentence, would};
use contract::{Failure, Place, Tally};
use converge::{PolicyOutcome, PolicyReport};
use grants::Denial;
use node::origin::Origin;
use serde_json::Value;

/// The most frames of a backtrace that are shown below the excerpt.
const SHOWN_FRAMES: usize = 10;

/// The widest name that the columns are aligned for, in characters.
const WIDEST_NAME: usize = 30;

/// The margin of lines below a policy's line.
const MARGIN: &str = "    ";

/// Returns the outcome of the run, and a line for each policy with details below it.
pub fn blocks(parts: &Parts<'_>) -> Vec<Block> {
    let report = parts.report;
    let failed = report.failure().is_some();
    let word = match failed {
        true if report.is_interrupted() => "interrupted",
        true => "failed",
        false => "finished",
    };
    // Policies and recipes that did not get their turn have not declared theirs.
    let so_far = if report.is_interrupted() { ", of those declared so far" } else { "" };
    let counts = match (report.why_run, report.tally()) {
        (true, tally) => format!("{}{so_far}", would(tally)),
        (false, Tally { updated, total, .. }) => format!("{updated} of {total} resources updated{so_far}"),
    };
    let counts = format!("{counts}{}", by_code(report.writes(), report.commands(), report.why_run));
    // Compilation happens before the run and is not part of its duration.
    let compiled = match parts.compile_seconds {
        0.0 => String::new(),
        seconds => {
            let kept = if parts.compiled_is_kept { "" } else { " (not kept)" };
            format!(", after {seconds:.2} s of compiling native code{kept}")
        }
    };
    let text = format!("Run {word} in {:.2} s{compiled}: {counts}", report.seconds);
    let mut blocks = vec![Block::new(if failed { Tone::Error } else { Tone::Heading }, text)];
    // For a single policy that succeeded, the first line is enough.
    if let [only] = report.policies.as_slice()
        && matches!(only.outcome, PolicyOutcome::Succeeded)
    {
        return blocks;
    }
    let width = report.policies.iter().map(|policy| policy.name.chars().count()).max().unwrap_or(0).min(WIDEST_NAME);
    let (bad, good): (Vec<_>, Vec<_>) =
        report.policies.iter().partition(|policy| matches!(policy.outcome, PolicyOutcome::Failed(_)));
    blocks.extend(good.into_iter().chain(bad).map(|policy| row(policy, width, parts)));
    blocks
}

fn row(policy: &PolicyReport, width: usize, parts: &Parts<'_>) -> Block {
    let name = format!("{:width$}", policy.name);
    let count = match (parts.report.why_run, Tally::of(&policy.records)) {
        (true, tally) => would(tally),
        (false, Tally { updated, total, .. }) => format!("{updated} of {total} updated"),
    };
    let count = format!("{count}{}", by_code(policy.writes.len(), policy.own_commands(), parts.report.why_run));
    let line = |word: &str| format!("{name}  {word:<8}  {count:<20}  {:.2} s", policy.seconds);
    match &policy.outcome {
        PolicyOutcome::Succeeded => Block::new(Tone::Plain, line("ok")),
        PolicyOutcome::NotRun => {
            let why = match parts.report.ended_early().is_some() {
                true => "the run was ended early",
                false => "use --keep-going to run policies after a failure",
            };
            let text = format!("{name}  not run   ({why})");
            Block::new(Tone::Warning, text)
        }
        PolicyOutcome::Failed(failure) => {
            let error = parts.errors.iter().find(|(name, _)| *name == policy.name).map(|(_, error)| error);
            let error = error.unwrap_or(&Value::Null);
            let is_stopped = parts.report.has_interrupted(policy);
            let block = Block::new(Tone::Error, line(if is_stopped { "stopped" } else { "FAILED" }));
            let text = failure.to_string();
            let of_policy = |denial: &&Denial| denial.policy == policy.name && denial.is_told_in(&text);
            match parts.denials.iter().find(of_policy) {
                Some(_) => told_above(block, error),
                None => told(block, failure, error),
            }
        }
    }
}

/// The places of an error: where it was raised, and where its resource was declared.
fn places(error: &Value) -> (Option<String>, Option<String>) {
    let (excerpt, origin) = (&error["excerpt"], &error["origin"]);
    let raised = excerpt["file"].as_str().and_then(|file| Some(format!("{file}:{}", excerpt["line"].as_u64()?)));
    (raised, place(origin["cookbook"].as_str(), origin))
}

/// Tells whether a sentence names a place, and not just one whose line number begins with the same digits.
pub fn names_place(sentence: &str, place: &str) -> bool {
    sentence.match_indices(place).any(|(at, _)| {
        let rest = sentence.get(at + place.len()..).unwrap_or_default();
        !rest.starts_with(|next: char| next.is_ascii_digit())
    })
}

/// Adds a failed policy that ended with a denial. The block of denials has its details.
fn told_above(block: Block, error: &Value) -> Block {
    let (raised, declared) = places(error);
    let place = declared.or(raised);
    let what = match (resource(&error["resource"]), place) {
        (Some(resource), Some(place)) => format!(": {resource} ({place})"),
        (Some(only), None) | (None, Some(only)) => format!(": {only}"),
        (None, None) => String::new(),
    };
    block.line(Tone::Error, format!("{MARGIN}denied, see above{what}"))
}

/// Adds a failed policy with its error.
fn told(block: Block, failure: &Failure, error: &Value) -> Block {
    if let Failure::Many(all) = failure {
        return told_each(block, all, error);
    }
    let (excerpt, origin) = (&error["excerpt"], &error["origin"]);
    let (raised, declared) = places(error);
    let sentence = sentence::of(failure, excerpt["file"].as_str().or_else(|| origin["file"].as_str()));
    let shown = raised.clone().or_else(|| declared.clone());
    // The message of a panic contains its place.
    let hint = error["hint"].as_str().or_else(|| failure.hint());
    let is_in_hint = |place: &str| hint.is_some_and(|hint| names_place(hint, &format!("/{place}")));
    let untold = shown.as_deref().filter(|place| !is_in_hint(place));
    let mut block = told_sentence(block, "", &sentence, untold);
    if let Some(resource) = resource(&error["resource"]) {
        let declared = declared.filter(|place| Some(place) != shown.as_ref());
        let declared = declared.map(|place| format!(", declared in {place}")).unwrap_or_default();
        block = block.line(Tone::Quiet, format!("{MARGIN}in {resource}{declared}"));
    }
    if !shows_line(&sentence, excerpt["line"].as_u64()) {
        block = with_excerpt(block, excerpt);
    }
    let frames = error["backtrace"].as_array().into_iter().flatten().filter_map(Value::as_str);
    // The first frame is the place that was shown already.
    let is_told = |frame: &str| raised.is_some() || shown.as_ref().is_some_and(|place| names_place(frame, place));
    let first_is_told = frames.clone().next().is_some_and(is_told);
    let frames = frames.skip(usize::from(first_is_told)).take(SHOWN_FRAMES);
    block = frames.fold(block, |block, frame| block.line(Tone::Quiet, format!("{MARGIN}from {frame}")));
    with_hint(block, hint)
}

/// Adds a failed policy with several errors, each with its place and resource. The excerpt belongs to the first error.
fn told_each(block: Block, all: &[(Place, Failure)], error: &Value) -> Block {
    let mut block = block.line(Tone::Error, format!("{MARGIN}{} failures:", all.len()));
    let file = ["/excerpt/file", "/origin/file"].into_iter().find_map(|path| error.pointer(path)?.as_str());
    let causes = error["causes"].as_array().map_or(&[][..], Vec::as_slice);
    for (at, (phase, failure)) in all.iter().enumerate() {
        let cause = causes.get(at).unwrap_or(&Value::Null);
        let origin = &cause["origin"];
        let mark = match phase {
            Place::Converge => "* ",
            Place::DelayedNotification => "* in a delayed notification: ",
        };
        let file = origin["file"].as_str().or(file);
        let place = place(origin["cookbook"].as_str(), origin);
        block = told_sentence(block, mark, &sentence::of(failure, file), place.as_deref());
        if let Some(resource) = resource(&cause["resource"]) {
            block = block.line(Tone::Quiet, format!("{MARGIN}  in {resource}"));
        }
        if at == 0 {
            block = with_excerpt(block, &error["excerpt"]);
        }
    }
    with_hint(block, error["hint"].as_str())
}

/// Adds a sentence. The place follows its first line, unless the sentence contains it.
fn told_sentence(block: Block, mark: &str, sentence: &str, place: Option<&str>) -> Block {
    let mut lines = sentence.lines();
    let first = lines.next().unwrap_or_default();
    let at = place.filter(|place| !names_place(first, place)).map(|place| format!(" ({place})")).unwrap_or_default();
    let block = block.line(Tone::Error, format!("{MARGIN}{mark}{first}{at}"));
    // Further lines of an exception are marked, so that they cannot be taken for wrun's own lines below.
    block.lines(Tone::Plain, &format!("{MARGIN}| "), lines)
}

/// Whether a sentence shows the line of an error itself, as Ruby's syntax errors do: `> 3 | end`.
fn shows_line(sentence: &str, number: Option<u64>) -> bool {
    let Some(number) = number.map(|number| number.to_string()) else { return false };
    let is_it = |line: &str| {
        let marked = line.trim_start().strip_prefix('>').map(str::trim_start);
        let rest = marked.and_then(|marked| marked.strip_prefix(&number));
        rest.is_some_and(|rest| rest.trim_start().starts_with('|'))
    };
    sentence.lines().skip(1).any(is_it)
}

/// Adds the lines around the place of an error.
fn with_excerpt(block: Block, excerpt: &Value) -> Block {
    excerpt["lines"].as_array().into_iter().flatten().fold(block, |block, line| {
        let (number, text) = (line[0].as_u64().unwrap_or(0), line[1].as_str().unwrap_or_default());
        let head = |mark: &str| format!("{MARGIN}{mark} {number:>4} ");
        match excerpt["line"].as_u64() == Some(number) {
            true => block.whole_code(Tone::Error, head(">").len(), format!("{}| {text}", head(">"))),
            false => block.code(Tone::Quiet, format!("{}| {text}", head(" "))),
        }
    })
}

fn with_hint(block: Block, hint: Option<&str>) -> Block {
    let Some(hint) = hint else { return block };
    let mut lines = hint.lines();
    let first = format!("{MARGIN}hint: {}", lines.next().unwrap_or_default());
    block.line(Tone::Warning, first).lines(Tone::Warning, &format!("{MARGIN}      "), lines)
}

/// Returns `cookbook/file:line`, as an excerpt names it, or the recipe if the file is unknown.
fn place(cookbook: Option<&str>, origin: &Value) -> Option<String> {
    let text = |key: &str| origin[key].as_str().map(str::to_owned);
    let line = origin["line"].as_u64().and_then(|line| u32::try_from(line).ok());
    let (cookbook, recipe, file) = (Some(cookbook?.to_owned()), text("recipe"), text("file"));
    crate::place(&Origin { cookbook, recipe, file, line, ..Origin::default() })
}

/// Returns the resource and its action, as `type[name] action`.
fn resource(value: &Value) -> Option<String> {
    Some(format!("{}[{}] {}", value["type"].as_str()?, value["name"].as_str()?, value["action"].as_str()?))
}

#[cfg(test)]
mod tests {
    use super::{names_place, shows_line};

    #[test]
    fn a_sentence_that_shows_the_line_needs_no_excerpt() {
        let ruby = "syntax error found\n  2 | a\n> 3 |   b(\n    |     ^ unexpected end-of-input";
        assert!(shows_line(ruby, Some(3)));
        assert!(!shows_line(ruby, Some(2)) && !shows_line(ruby, Some(30)) && !shows_line(ruby, None));
        assert!(!shows_line("> 3 | only one line", Some(3)));
    }

    #[test]
    fn a_place_is_found_by_its_whole_line_number() {
        assert!(names_place("policy `web` panicked at site/src/lib.rs:5: no", "site/src/lib.rs:5"));
        assert!(!names_place("policy `web` panicked at site/src/lib.rs:59: no", "site/src/lib.rs:5"));
        assert!(!names_place("no disk", "site/src/lib.rs:5"));
    }
}
