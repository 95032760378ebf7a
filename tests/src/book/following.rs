//! Runs the commands of a page, and compares their output.

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
                if !is_as_shown(&shown, &printed) {
                    let differs = format!("{here}: `{}` prints\n{printed}--- the page shows\n{shown}---", command.text);
                    followed.problems.push(differs);
                    followed.outputs.push((command.output.clone(), printed));
                }
            }
        }
    }
    Ok(followed)
}
