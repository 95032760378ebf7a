//! The failures of a policy's run, with their kinds.

use crate::{SensitiveMessage, StopReason, signal_name};
use errors::{ErrorKind, SystemError, chef};
use std::fmt;

/// The result of an operation without a value.
pub type Outcome = Result<(), Failure>;

/// An exception of guest code, or of a provider.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Raised {
    /// The kind of the error. Guests rescue it, and reports show it, by the name of its [class](Self::class).
    pub kind: ErrorKind,
    /// The message, without kind and place.
    pub message: String,
    /// The resources that the exception has passed through, innermost first, as `type[name] (place)`.
    pub passed: Vec<String>,
    /// The stack frames, innermost first, as `FILE:LINE: in NAME`.
    pub backtrace: Vec<String>,
    /// The guest's own number of the exception object, so that `rescue` gets the original object.
    pub object: Option<u32>,
    /// A hint for the author or operator: a similar name, or the line of a grant. It is never part of the message.
    pub hint: Option<String>,
    /// The resolved path in a denial's message, until the provider replaces it by the guest's own path. Neither guests nor
    /// reports get it.
    pub resolved: Option<Box<Resolved>>,
    /// The original message of a sensitive resource's code, which `message` does not contain. Only the policy's own code gets
    /// it, when it rescues the exception.
    pub unshown: Option<SensitiveMessage>,
}

/// A denial about a resolved path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolved {
    /// The path with all links resolved, such as `/etc/shadow`.
    pub path: String,
    /// The key of the grant that would allow it, such as `paths`.
    pub key: &'static str,
    /// The denial's text inside the message.
    pub sentence: String,
}

impl Raised {
    /// Creates an exception of the host, without a backtrace.
    pub fn new(kind: impl Into<ErrorKind>, message: impl Into<String>) -> Self {
        Self { kind: kind.into(), message: message.into(), ..Self::default() }
    }

    /// Creates an exception from the name of its class, as guests send it.
    pub fn of_class(class: &str, message: impl Into<String>) -> Self {
        Self::new(chef::kind(class), message)
    }

    /// Returns the name of its class for guests and reports: `Errno::ENOENT`.
    pub fn class(&self) -> &str {
        chef::class(&self.kind)
    }

    /// Returns the exception with a hint.
    #[must_use]
    pub fn with_hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }
}

/// The reason why a guest has ended.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GuestLost {
    /// The policy whose guest it is.
    pub policy: String,
    /// The rest of a sentence that begins with the policy's name: `trapped: ..`.
    pub why: String,
    /// The stack frames, innermost first, if the engine knows them.
    pub backtrace: Vec<String>,
    /// The recipe that was being compiled.
    pub recipe: Option<Box<LostRecipe>>,
    /// What a person could do about it, in the guest's words: it panicked where its language calls what a sandbox does not have.
    pub hint: Option<String>,
}

/// The recipe during which a guest ended. It is the only known place if the engine cannot tell the line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LostRecipe {
    /// Its name, as `cookbook::recipe`.
    pub name: String,
    /// The last declared resource with its place: `file[/srv/x] (web/recipes/default.rb:3)`.
    pub after: Option<String>,
}

impl fmt::Display for LostRecipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "in recipe {}", self.name)?;
        self.after.iter().try_for_each(|last| write!(f, " after {last}"))
    }
}

/// The part of a context's converge in which a failure happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// The resources, in order.
    Converge,
    /// A notification at the end.
    DelayedNotification,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Converge => "converge",
            Self::DelayedNotification => "delayed notification",
        })
    }
}

impl From<Place> for chef::FailedIn {
    fn from(place: Place) -> Self {
        match place {
            Place::Converge => Self::Converge,
            Place::DelayedNotification => Self::DelayedNotification,
        }
    }
}

/// The reason why a run, a resource or a phase ended early.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// An exception that guest code may rescue.
    Raised(Box<Raised>),
    /// The guest has ended. `rescue`, `retries` and `ignore_failure` have no effect on it.
    GuestLost(Box<GuestLost>),
    /// A signal or a reboot ends the run. Nothing more starts.
    Stopped(StopReason),
    /// A converge and some of its delayed notifications failed.
    Many(Vec<(Place, Self)>),
}

/// The lines of a cookbook's file around the failed line, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt {
    /// The file, relative to the policy: `cookbook/recipes/default.rs`.
    pub file: String,
    /// The number of the failed line, from 1.
    pub line: u32,
    /// Lines with their numbers.
    pub lines: Vec<(u32, String)>,
}

impl Failure {
    /// Creates an exception of the host.
    pub fn raised(kind: impl Into<ErrorKind>, message: impl Into<String>) -> Self {
        Self::Raised(Box::new(Raised::new(kind, message)))
    }

    /// Creates an exception from the name of its class, as guests send it.
    pub fn of_class(class: &str, message: impl Into<String>) -> Self {
        Raised::of_class(class, message).into()
    }

    /// Adds the recipe during which the guest ended. The first call, for the innermost recipe, wins.
    #[must_use]
    pub fn in_recipe(mut self, recipe: impl FnOnce() -> LostRecipe) -> Self {
        if let Self::GuestLost(lost) = &mut self {
            lost.recipe.get_or_insert_with(|| Box::new(recipe()));
        }
        self
    }

    /// Returns the kind of the failure.
    pub fn kind(&self) -> &ErrorKind {
        match self {
            Self::Raised(raised) => &raised.kind,
            Self::GuestLost(_) => &ErrorKind::GuestLost,
            Self::Stopped(_) => &ErrorKind::Signalled,
            Self::Many(_) => &ErrorKind::Several,
        }
    }

    /// Returns the name of the class for reports.
    pub fn class(&self) -> &str {
        chef::class(self.kind())
    }

    /// Returns true if a grant is missing, as an error of the host or of the guest's language.
    pub fn is_denial(&self) -> bool {
        matches!(self.kind(), ErrorKind::Denied | ErrorKind::System(SystemError::Access))
    }

    /// Returns true if the operator has not granted something. Ruby code gets an error of the system, which can have other
    /// causes, so the sentence decides. The outcome of such a failure is the same for every attempt.
    pub fn is_missing_grant(&self) -> bool {
        *self.kind() == ErrorKind::Denied || (self.is_denial() && self.to_string().contains("` may not "))
    }

    /// Returns true if a dry run refused a change, as an error of the host or of the guest's language.
    pub fn is_dry_refusal(&self) -> bool {
        self.dry_refusal().is_some()
    }

    /// Returns the change that a dry run refused: `would run /usr/bin/x: its program is not on this machine`. Returns `None`
    /// for other failures.
    pub fn dry_refusal(&self) -> Option<&str> {
        let Self::Raised(raised) = self else { return None };
        chef::dry_refusal(&raised.kind, &raised.message)
    }

    /// Returns the hint, if there is one.
    pub fn hint(&self) -> Option<&str> {
        match self {
            Self::Raised(raised) => raised.hint.as_deref(),
            Self::Many(all) => all.iter().find_map(|(_, failure)| failure.hint()),
            Self::GuestLost(lost) => lost.hint.as_deref(),
            Self::Stopped(_) => None,
        }
    }

    /// Adds a further hint. It has no effect on a lost guest or a signal.
    #[must_use]
    pub fn and_hint(mut self, more: String) -> Self {
        if let Some(raised) = self.hinted() {
            let both = raised.hint.take().map(|hint| format!("{hint}\nbesides, {more}"));
            raised.hint = Some(both.unwrap_or(more));
        }
        self
    }

    /// Returns the exception from which [`hint`](Self::hint) comes, or the first one that can have a hint.
    fn hinted(&mut self) -> Option<&mut Raised> {
        match self {
            Self::Raised(raised) => Some(raised),
            Self::Many(all) => {
                let has_one = all.iter().position(|(_, failure)| failure.hint().is_some());
                all.iter_mut().skip(has_one.unwrap_or(0)).find_map(|(_, failure)| failure.hinted())
            }
            Self::GuestLost(_) | Self::Stopped(_) => None,
        }
    }

    /// Returns the stack frames, innermost first, as `FILE:LINE: in NAME`.
    pub fn backtrace(&self) -> &[String] {
        match self {
            Self::Raised(raised) => &raised.backtrace,
            Self::GuestLost(lost) => &lost.backtrace,
            _ => &[],
        }
    }

    /// Returns true if no code of a cookbook may continue after the failure.
    pub fn is_final(&self) -> bool {
        match self {
            Self::GuestLost(_) | Self::Stopped(_) => true,
            Self::Raised(_) => false,
            Self::Many(all) => all.iter().any(|(_, failure)| failure.is_final()),
        }
    }

    /// Returns true if Ruby's `rescue` without a class catches it. Resources retry and ignore only such failures.
    pub fn is_standard(&self) -> bool {
        match self {
            Self::Raised(raised) => chef::is_standard(&raised.kind),
            Self::Many(_) => !self.is_final(),
            Self::GuestLost(_) | Self::Stopped(_) => false,
        }
    }

    /// Converts the failure to an exception for guest code.
    pub fn into_raised(self) -> Raised {
        match self {
            Self::Raised(raised) => *raised,
            other => {
                Raised { backtrace: other.backtrace().to_vec(), ..Raised::new(other.kind().clone(), other.to_string()) }
            }
        }
    }
}

impl fmt::Display for Raised {
    /// Writes the message after all resources that the exception has passed through, as Chef does.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.passed.iter().rev().try_for_each(|place| f.write_str(&chef::passed_on(place, &self.kind)))?;
        f.write_str(&self.message)
    }
}

impl From<Raised> for Failure {
    fn from(raised: Raised) -> Self {
        Self::Raised(Box::new(raised))
    }
}

impl From<GuestLost> for Failure {
    fn from(lost: GuestLost) -> Self {
        Self::GuestLost(Box::new(lost))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Raised(raised) => raised.fmt(f),
            Self::GuestLost(lost) => {
                write!(f, "policy `{}` {}", lost.policy, lost.why)?;
                lost.recipe.iter().try_for_each(|recipe| write!(f, ", {recipe}"))
            }
            Self::Stopped(StopReason::Reboot) => f.write_str("ended early, to start the node again"),
            Self::Stopped(StopReason::Signal(signal)) => write!(f, "stopped by {}", signal_name(*signal)),
            Self::Many(all) => {
                let each = all.iter().map(|(place, failure)| (failure.kind(), (*place).into(), failure.to_string()));
                f.write_str(&chef::several(each))
            }
        }
    }
}

impl std::error::Error for Failure {}

impl std::error::Error for GuestLost {}

impl fmt::Display for GuestLost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "policy `{}` {}", self.policy, self.why)
    }
}
