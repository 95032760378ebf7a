//! What is said of one place of a cookbook.

/// What a verdict comes to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Weight {
    Problem,
    Note,
    /// The check could not be made; the message says why.
    LeftOut,
}

/// What is said of one place, not yet weighed.
pub(super) struct Verdict {
    pub(super) kind: &'static str,
    pub(super) message: String,
    pub(super) hint: Option<String>,
    pub(super) weight: Weight,
    /// The other system for which the place is meant, if the cookbook does not say so itself.
    pub(super) platform: Option<String>,
    /// Whether whatever reaches the place fails, in Chef too.
    pub(super) always_fails: bool,
}

impl Verdict {
    pub(super) fn problem(kind: &'static str, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hint: None, weight: Weight::Problem, platform: None, always_fails: false }
    }

    pub(super) fn note(kind: &'static str, message: impl Into<String>) -> Self {
        Self { weight: Weight::Note, ..Self::problem(kind, message) }
    }

    /// The check was not made. `why` is a clause.
    pub(super) fn left_out(kind: &'static str, why: String) -> Self {
        Self { weight: Weight::LeftOut, ..Self::problem(kind, why) }
    }

    /// Says whether whatever reaches the place fails, in Chef too.
    pub(super) fn always_fails(self, always_fails: bool) -> Self {
        Self { always_fails, ..self }
    }

    pub(super) fn hint(self, hint: Option<String>) -> Self {
        Self { hint, ..self }
    }

    /// Sets the other system for which the place is meant.
    pub(super) fn only_on(self, platform: &str) -> Self {
        Self { platform: Some(platform.to_owned()), ..self }
    }

    /// Sets a near name as the hint.
    pub(super) fn near(self, near: Option<&str>) -> Self {
        self.hint(near.map(|near| format!("did you mean `{near}`?")))
    }
}
