//! Evaluates a Policyfile.rb.

use contract::{Question, RubyDocument};
use policyfile::model::Policy;
use policyfile::written::Written;

use super::error::PolicyfileError;
use super::{Place, Session};

/// The most characters of a line that a message quotes.
const MAX_CODE: usize = 200;

impl Session<'_> {
    /// Evaluates the Policyfile, or reads the policy.toml, and checks what it says.
    pub(super) fn evaluate(&mut self, place: &Place) -> Result<Policy, PolicyfileError> {
        if place.is_toml() {
            return self.evaluate_toml(place);
        }
        let source = place.read_text(&place.policyfile)?;
        let file = place.policyfile.display().to_string();
        let question = |name| Question::Policyfile(RubyDocument { name, file, source: source.clone() });
        let asked = self.ask(place.home()?.clone(), question)?;
        let answer = asked.map_err(|failure| {
            // A stack frame names the file below the placeholder name of its folder. A syntax error has its line in the
            // message.
            let (message, name) = (failure.to_string(), place.file_name());
            let texts = failure.backtrace().iter().map(String::as_str).chain(message.lines());
            let line = texts.filter_map(|text| line_in(text, &name)).next();
            let code = line.and_then(|line| source.lines().nth(usize::try_from(line).ok()?.checked_sub(1)?));
            let code = code.unwrap_or_default().trim().chars().take(MAX_CODE).collect();
            PolicyfileError::Raised { file: place.policyfile.clone(), line, code, failure: Box::new(failure) }
        })?;
        let problems = |problems| PolicyfileError::Problems { file: place.policyfile.clone(), problems };
        let written = Written::read(&answer).map_err(|error| PolicyfileError::Cookbook(error.to_string()))?;
        let metadata = match written.metadata_line() {
            Some(_) => Some(self.cookbook(&place.folder)?.name),
            None => None,
        };
        written.check(metadata.as_deref()).map_err(problems)
    }
}

/// The line that a text names right after a file's name: `/FILE:LINE`.
fn line_in(text: &str, file: &str) -> Option<u32> {
    let after = text.strip_prefix(file).or_else(|| Some(text.split_once(&format!("/{file}"))?.1))?;
    let digits = after.strip_prefix(':')?.split(|character: char| !character.is_ascii_digit()).next()?;
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_found_in_frames_and_in_messages() {
        let check = |text: &str, expect: Option<u32>| assert_eq!(line_in(text, "Policyfile.rb"), expect, "{text}");
        check("/p/Policyfile.rb:12:in 'block'", Some(12));
        check("syntax errors found in /p/Policyfile.rb:2: unexpected end", Some(2));
        check("/p/Policyfile.rb", None);
        check("folder-0/Policyfile.rb:3: in 'top'", Some(3));
        check("Policyfile.rb:4: in 'top'", Some(4));
        check("/q/Other_Policyfile.rb:3", None);
    }
}
