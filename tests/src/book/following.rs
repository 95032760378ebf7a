//! Typing what a page says, and comparing what is printed.

use std::ops::Range;

use anyhow::{Result, ensure};

use super::{Page, Reader, Step, is_as_shown};

/// What somebody met who typed what a page says.
#[derive(Debug, Default)]
pub struct Followed {
    /// What was otherwise than the page shows, each with its place.
    pub problems: Vec<String>,
    /// What commands printed instead, with the place of their output in the page.
    pub outputs: Vec<(Range<usize>, String)>,
}

/// Types what a page says.
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
