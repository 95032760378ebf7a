//! The lines of policies' own code that ask, as the guests tell them.

use super::{Asker, Journal};

impl Journal {
    /// Notes the line of a policy's own code that asks until the next call. It is told where no resource's line is known.
    pub fn asks_at(&self, place: Option<Asker>) {
        self.pages().place = place;
    }

    /// Adds the line of a policy's own code to the last denial, if that was the policy's and has no line. A guest looks for the
    /// line only after a denial, since the search takes longer than most calls.
    pub fn denied_at(&self, policy: &str, place: Asker) {
        let mut pages = self.pages();
        let last = pages.last.take();
        let Some(denial) = last.and_then(|at| pages.denials.get_mut(at)) else { return };
        if denial.policy != policy || place.line.is_none() || denial.by.as_ref().is_some_and(|by| by.line.is_some()) {
            return;
        }
        let Asker { cookbook, file, line, .. } = place;
        denial.by = Some(Asker { cookbook, file, line, ..denial.by.take().unwrap_or_default() });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Capability, Denied};

    fn deny(journal: &Journal, policy: &str, asked: &str) {
        let denied = Denied {
            policy: policy.into(),
            capability: Capability::ReadPaths,
            asked: asked.into(),
            value: None,
            reason: None,
        };
        journal.deny(&denied, false);
    }

    fn place(line: u32) -> Asker {
        Asker {
            cookbook: Some("a".into()),
            file: Some("recipes/default.rb".into()),
            line: Some(line),
            ..Asker::default()
        }
    }

    #[test]
    fn a_place_belongs_to_the_last_denial_of_its_policy() {
        let journal = Journal::default();
        let lines = || journal.denials().0.iter().map(|one| one.by.as_ref()?.line).collect::<Vec<_>>();
        deny(&journal, "web", "/a");
        journal.denied_at("db", place(1));
        journal.denied_at("web", place(2));
        assert_eq!(lines(), [None], "another policy does not name its place, and no later place is its own");
        deny(&journal, "web", "/a");
        journal.denied_at("web", place(3));
        deny(&journal, "web", "/a");
        journal.denied_at("web", place(4));
        deny(&journal, "web", "/b");
        journal.denied_at("web", place(5));
        journal.denied_at("web", place(6));
        assert_eq!(lines(), [Some(3), Some(5)], "the first place stays");
    }
}
