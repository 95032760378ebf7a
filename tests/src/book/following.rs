//! Runs the commands of a page, and compares their output.

use std::collections::BTreeMap;
use std::ops::Range;

use anyhow::{Result, ensure};

use super::{Page, Reader, Step, is_as_shown};

/// The result of following a page.
#[derive(Debug, Default)]
pub struct Followed {
    /// The differences from the page, each with its place.
    pub problems: Vec<String>,
    /// The actual outputs that differ, with the line ranges of the outputs in the page.
    pub outputs: Vec<(Range<usize>, String)>,
}

/// Runs the steps of a page.
///
/// # Errors
/// A command cannot be started, or what the page's reader has done before fails.
pub fn follow(page: &Page, reader: &mut Reader<'_>) -> Result<Followed> {
    let mut followed = Followed::default();
    let mut ran = vec![];
    let mut steps = page.steps.iter().peekable();
    while let Some(step) = steps.next() {
        match step {
            Step::File { path, content, .. } => reader.write(path, content)?,
            Step::Before { line, script } => {
                let (printed, code) = reader.run(script)?;
                ensure!(code == 0, "{}: {printed}", page.place(*line));
            }
            Step::Command(command) => {
                let (printed, code) = reader.run(&command.text)?;
                let asks = matches!(steps.peek(), Some(Step::Command(next)) if next.text == "echo $?");
                let here = page.place(command.line);
                if code != 0 && !asks {
                    followed.problems.push(format!("{here}: `{}` fails with {code}:\n{printed}", command.text));
                }
                let shown = page.expected(command);
                let is_same = is_as_shown(&shown, &printed);
                ran.push(Ran {
                    line: command.line,
                    place: command.output.clone(),
                    shown: shown.clone(),
                    printed: printed.clone(),
                });
                if !is_same {
                    let differs = format!("{here}: `{}` prints\n{printed}--- the page shows\n{shown}---", command.text);
                    followed.problems.push(differs);
                    followed.outputs.push((command.output.clone(), printed));
                }
            }
        }
    }
    followed.add_old_digests(page, &ran);
    Ok(followed)
}

/// A command that was run.
struct Ran {
    /// Its line in the page.
    line: usize,
    /// The lines of its output in the page.
    place: Range<usize>,
    shown: String,
    printed: String,
}

impl Followed {
    /// Adds the outputs in which the page shows one digest as several, or several as one: a part of the page is from another
    /// run than the rest. All outputs with digests are then written anew.
    fn add_old_digests(&mut self, page: &Page, ran: &[Ran]) {
        let is_whole = |one: &&Ran| !one.shown.lines().any(|line| line == "..");
        let is_written =
            |one: &Ran, outputs: &[(Range<usize>, String)]| outputs.iter().any(|(place, _)| *place == one.place);
        let mut pairs = Pairs::default();
        let found = ran.iter().filter(is_whole).find_map(|one| {
            let shown = if is_written(one, &self.outputs) { &one.printed } else { &one.shown };
            pairs.first_conflict(shown, &one.printed).map(|conflict| (one.line, conflict))
        });
        let Some((line, conflict)) = found else { return };
        self.problems.push(format!("{}: {conflict}", page.place(line)));
        for one in ran.iter().filter(is_whole).filter(|one| !digests(&one.printed).is_empty()) {
            if !is_written(one, &self.outputs) {
                self.outputs.push((one.place.clone(), one.printed.clone()));
            }
        }
        self.outputs.sort_by_key(|(place, _)| place.start);
    }
}

/// The digests of a page, each with that of the run.
#[derive(Default)]
struct Pairs {
    printed: BTreeMap<String, String>,
    shown: BTreeMap<String, String>,
}

impl Pairs {
    /// Notes the digests of one output. Returns a sentence about the first one that the page shows as another one elsewhere.
    fn first_conflict(&mut self, shown: &str, printed: &str) -> Option<String> {
        let (shown, printed) = (digests(shown), digests(printed));
        if shown.len() != printed.len() {
            return None;
        }
        shown.into_iter().zip(printed).find_map(|(shown, printed)| {
            let before = self.printed.entry(shown.clone()).or_insert_with(|| printed.clone());
            let elsewhere = self.shown.entry(printed.clone()).or_insert_with(|| shown.clone());
            (*before != printed || *elsewhere != shown).then(|| {
                format!("the page shows {shown} for {printed}, and elsewhere {elsewhere} for {printed} or {shown} for {before}")
            })
        })
    }
}

/// Returns the first twelve digits of each digest in a text.
fn digests(text: &str) -> Vec<String> {
    let words = text.split(|character: char| !character.is_ascii_alphanumeric());
    let is_digest = |word: &&str| {
        [12, 40, 64].contains(&word.len()) && word.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    };
    words.filter(is_digest).map(|word| word.chars().take(12).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_digest_is_shown_as_one() {
        let check = |outputs: &[(&str, &str)], is_sound: bool| {
            let mut pairs = Pairs::default();
            let conflict = outputs.iter().find_map(|(shown, printed)| pairs.first_conflict(shown, printed));
            assert_eq!(conflict.is_none(), is_sound, "{conflict:?}");
        };
        let [one, other, new] = ["0123456789ab", "1123456789ab", "2123456789ab"];
        let long = format!("revision {other}{}", "0".repeat(52));
        check(&[(one, new), (one, new)], true);
        check(&[(one, new), (&long, new)], false);
        check(&[(one, one), (one, new)], false);
        check(&[(one, new), ("no digest", other)], true);
    }
}
