//! Guards: all `only_if`, then all `not_if`; the first one that is not fulfilled skips the action.

use super::Runner;
use super::sensitive::SUPPRESSED_GUARD;
use contract::{
    ClosureValue, CommandLine, CommandTest, ErrorKind, Failure, Guard, GuardResult, Guest, LogLevel, Providers,
    ResourceId, Test,
};
use serde_json::Value;

/// The decision of a resource's guards.
pub(super) enum Verdict {
    Run,
    /// Skip the action because of this guard, in Chef's words.
    Skip(String),
    /// The decision is unknown in a dry run.
    Unknown(String),
}

impl<G: Guest, P: Providers> Runner<'_, G, P> {
    pub(super) async fn guards(&mut self, resource: ResourceId) -> Result<Verdict, Failure> {
        let mut unknown = Vec::new();
        for negated in [false, true] {
            let mut at = 0;
            while let Some(guard) = self.run.known(resource)?.declaration.guards.get(at).cloned() {
                at += 1;
                if guard.negated != negated {
                    continue;
                }
                let dry = self.is_dry();
                let truth = match &guard.test {
                    Test::Block(callback) => {
                        let got = match self.evaluate_of(resource, *callback, None).await {
                            Ok(got) => got,
                            Err(failure) => {
                                let why = self.refused_in_dry(failure)?;
                                unknown.push(format!(
                                    "{} is not known: {why}",
                                    describe(&guard, self.is_sensitive(resource))
                                ));
                                continue;
                            }
                        };
                        self.warn_of_text(resource, negated, &got);
                        is_true(&got)
                    }
                    Test::Decided(truth) => *truth,
                    Test::Command(command) => match self.guard_command(resource, command, dry)? {
                        GuardResult::True => true,
                        GuardResult::False => false,
                        GuardResult::Unknown(why) => {
                            let sensitive = self.is_sensitive(resource);
                            let why = if sensitive { "why is not shown".to_owned() } else { why };
                            unknown.push(format!("{} is not known: {why}", describe(&guard, sensitive)));
                            continue;
                        }
                    },
                };
                if truth == negated {
                    return Ok(Verdict::Skip(describe(&guard, self.is_sensitive(resource))));
                }
            }
        }
        Ok(if unknown.is_empty() { Verdict::Run } else { Verdict::Unknown(unknown.join("; ")) })
    }
}

impl<G: Guest, P: Providers> Runner<'_, G, P> {
    /// Warns if a block returns a text, which was probably meant to be a command. Uses Chef's sentence.
    fn warn_of_text(&mut self, id: ResourceId, negated: bool, got: &ClosureValue) {
        let (ClosureValue::Json(Value::String(text)), Ok(resource)) = (got, self.run.known(id)) else { return };
        if text.is_empty() {
            return;
        }
        let word = word(negated);
        let shown = if resource.declaration.sensitive {
            "a string, did you mean to run a command?".to_owned()
        } else {
            let text = text.chars().take(SHOWN_OF_TEXT).collect::<String>();
            format!("{text:?}, did you mean to run a command? If so use '{word} {text:?}' in your code.")
        };
        let line = format!("{word} block for {} returned {shown}", resource.key);
        self.run.log(LogLevel::Warn, &line);
    }

    /// Runs a guard's command. A denial names the resource and its origin.
    pub(super) fn guard_command(
        &mut self,
        id: ResourceId,
        command: &CommandTest,
        dry: bool,
    ) -> Result<GuardResult, Failure> {
        let command = CommandTest { sensitive: self.is_sensitive(id), ..command.clone() };
        self.providers.guard(&command, dry).map_err(|mut raised| {
            if let Ok(resource) = self.run.known(id)
                && raised.kind == ErrorKind::Denied
            {
                let origin = &resource.declaration.origin;
                raised.message = format!("{} (a guard of {}, declared by {origin})", raised.message, resource.key);
            }
            raised.into()
        })
    }
}

/// Maximum length of the shown text of a guard's block.
const SHOWN_OF_TEXT: usize = 1_000;

fn word(negated: bool) -> &'static str {
    if negated { "not_if" } else { "only_if" }
}

/// Describes a guard in Chef's words.
fn describe(guard: &Guard, sensitive: bool) -> String {
    let word = word(guard.negated);
    match &guard.test {
        _ if sensitive => format!("{word} {{ #{SUPPRESSED_GUARD} }}"),
        Test::Block(_) | Test::Decided(_) => format!("{word} {{ #code block }}"),
        Test::Command(command) => match &command.line {
            CommandLine::Text(line) => format!("{word} \"{line}\""),
            CommandLine::Arguments(arguments) => format!("{word} \"{}\"", arguments.join(" ")),
        },
    }
}

/// Tells whether a value counts as true: all except null and false, as in Ruby.
pub(super) fn is_true(got: &ClosureValue) -> bool {
    !matches!(got, ClosureValue::Json(Value::Null | Value::Bool(false)))
}
