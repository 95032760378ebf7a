//! Guards: all `only_if`, then all `not_if`; the first that fails skips.

use super::Runner;
use crate::{CommandLine, CommandTest, Failure, Got, Guard, Guest, Providers, ResourceId, Test, Truth};
use serde_json::Value;

/// What a resource's guards say.
pub(super) enum Verdict {
    Run,
    /// The guard that skips it, in Chef's words.
    Skip(String),
    /// A dry run cannot know.
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
                let dry = self.run.why_run && self.trial == 0;
                let truth = match &guard.test {
                    Test::Block(callback) => is_true(&self.evaluate(*callback, None).await?),
                    Test::Command(command) => match self.guard_command(resource, command, dry)? {
                        Truth::True => true,
                        Truth::False => false,
                        Truth::Unknown(why) => {
                            unknown.push(format!("{} is not known: {why}", describe(&guard)));
                            continue;
                        }
                    },
                };
                if truth == negated {
                    return Ok(Verdict::Skip(describe(&guard)));
                }
            }
        }
        Ok(if unknown.is_empty() { Verdict::Run } else { Verdict::Unknown(unknown.join("; ")) })
    }
}

impl<G: Guest, P: Providers> Runner<'_, G, P> {
    /// A denial names the resource and who declared it.
    fn guard_command(&mut self, id: ResourceId, command: &CommandTest, dry: bool) -> Result<Truth, Failure> {
        self.providers.guard(command, dry).map_err(|mut raised| {
            if let Ok(resource) = self.run.known(id)
                && raised.class == "Wrun::Denied"
            {
                let origin = &resource.declaration.origin;
                raised.message = format!("{} (a guard of {}, declared by {origin})", raised.message, resource.key);
            }
            raised.into()
        })
    }
}

/// A guard in Chef's words.
fn describe(guard: &Guard) -> String {
    let word = if guard.negated { "not_if" } else { "only_if" };
    match &guard.test {
        Test::Block(_) => format!("{word} {{ #code block }}"),
        Test::Command(command) => match &command.line {
            CommandLine::Text(line) => format!("{word} \"{line}\""),
            CommandLine::Arguments(arguments) => format!("{word} \"{}\"", arguments.join(" ")),
        },
    }
}

/// Null and false are false, as in Ruby.
pub(super) fn is_true(got: &Got) -> bool {
    !matches!(got, Got::Json(Value::Null | Value::Bool(false)))
}
