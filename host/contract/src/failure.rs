//! What can go wrong in a policy's run, with the kind by which code tells it apart.

use crate::{SensitiveMessage, StopReason, signal_name};
use errors::{ErrorKind, SystemError, chef};
use std::fmt;

/// How something that may fail ended.
pub type Outcome = Result<(), Failure>;

/// An exception of guest code, or of a provider.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Raised {
    /// What went wrong. Guests rescue it, and reports show it, by the name of a [class](Self::class).
    pub kind: ErrorKind,
    /// The message, without kind and place.
    pub message: String,
    /// The resources it has passed through on its way, innermost first, as `type[name] (place)`.
    pub passed: Vec<String>,
    /// Innermost first, `FILE:LINE: in NAME`.
    pub backtrace: Vec<String>,
    /// The guest's own number for the exception object, so that `rescue` gets back what was raised.
    pub object: Option<u32>,
    /// What a person could do about it: a near name, the line that would grant it. Never part of the message.
    pub hint: Option<String>,
    /// The resolved path that a denial names in its message, until the provider has put the path there that the guest wrote.
    /// No guest and no report gets it.
    pub resolved: Option<Box<Resolved>>,
    /// The message of a sensitive resource's own code, which `message` does not have. Only the policy's code gets it, when the
    /// exception reaches it again.
    pub unshown: Option<SensitiveMessage>,
}

/// A denial about a resolved path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolved {
    /// The path after all links, such as `/etc/shadow`.
    pub path: String,
    /// The key of the policy's table that would allow it: `paths`.
    pub key: &'static str,
    /// The denial's sentence, as it is part of the message.
    pub sentence: String,
}

impl Raised {
    /// An exception of the host's, without backtrace.
    pub fn new(kind: impl Into<ErrorKind>, message: impl Into<String>) -> Self {
        Self { kind: kind.into(), message: message.into(), ..Self::default() }
    }

    /// An exception by the name of its class, as guests send it.
    pub fn of_class(class: &str, message: impl Into<String>) -> Self {
        Self::new(chef::kind(class), message)
    }

    /// The name of its class, for guests and reports: `Errno::ENOENT`.
    pub fn class(&self) -> &str {
        chef::class(&self.kind)
    }

    /// The same with what a person could do about it.
    #[must_use]
    pub fn with_hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }
}

/// Why a guest can no longer be asked.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GuestLost {
    /// The policy whose guest it is.
    pub policy: String,
    /// The rest of a sentence that begins with the policy's name: `trapped: ..`.
    pub why: String,
    /// Innermost first, where the engine knows it.
    pub backtrace: Vec<String>,
    /// The recipe that was being compiled.
    pub recipe: Option<Box<LostRecipe>>,
    /// What a person could do about it, in the guest's words: it panicked where its language calls what a sandbox does not have.
    pub hint: Option<String>,
}

/// The recipe that a guest was lost in: all that is known where the engine cannot tell the line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LostRecipe {
    /// Its name, as `cookbook::recipe`.
    pub name: String,
    /// What it declared last, with the place: `file[/srv/x] (web/recipes/default.rb:3)`.
    pub after: Option<String>,
}

impl fmt::Display for LostRecipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "in recipe {}", self.name)?;
        self.after.iter().try_for_each(|last| write!(f, " after {last}"))
    }
}

/// In which part of a context's converge a failure happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// In the resources, in order.
    Converge,
    /// In a notification at the end.
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

/// Why a run, a resource or a phase did not reach its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// An exception that guest code may rescue.
    Raised(Box<Raised>),
    /// No `rescue`, `retries` or `ignore_failure` helps against this one.
    GuestLost(Box<GuestLost>),
    /// The run was asked to end. Nothing more is begun.
    Stopped(StopReason),
    /// A converge failed and so did some of its delayed notifications.
    Many(Vec<(Place, Self)>),
}

/// The part of a cookbook's file around the line that failed, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt {
    /// The file, relative to the policy: `cookbook/recipes/default.rs`.
    pub file: String,
    /// The line that failed, from 1.
    pub line: u32,
    /// Lines with their numbers.
    pub lines: Vec<(u32, String)>,
}

impl Failure {
    /// An exception of the host's.
    pub fn raised(kind: impl Into<ErrorKind>, message: impl Into<String>) -> Self {
        Self::Raised(Box::new(Raised::new(kind, message)))
    }

    /// An exception by the name of its class, as guests send it.
    pub fn of_class(class: &str, message: impl Into<String>) -> Self {
        Raised::of_class(class, message).into()
    }

    /// The same of a guest that was lost while it compiled a recipe. The innermost recipe is said first, and stays.
    #[must_use]
    pub fn in_recipe(mut self, recipe: impl FnOnce() -> LostRecipe) -> Self {
        if let Self::GuestLost(lost) = &mut self {
            lost.recipe.get_or_insert_with(|| Box::new(recipe()));
        }
        self
    }

    /// What went wrong, to tell failures apart.
    pub fn kind(&self) -> &ErrorKind {
        match self {
            Self::Raised(raised) => &raised.kind,
            Self::GuestLost(_) => &ErrorKind::GuestLost,
            Self::Stopped(_) => &ErrorKind::Signalled,
            Self::Many(_) => &ErrorKind::Several,
        }
    }

    /// The name of the class under which it is reported.
    pub fn class(&self) -> &str {
        chef::class(self.kind())
    }

    /// Whether a grant is missing, in the host's words or in those of a language whose code asked.
    pub fn is_denial(&self) -> bool {
        matches!(self.kind(), ErrorKind::Denied | ErrorKind::System(SystemError::Access))
    }

    /// Whether a dry run refused what would change the machine, in the host's words or in those of a language whose code asked.
    pub fn is_dry_refusal(&self) -> bool {
        self.dry_refusal().is_some()
    }

    /// What a dry run refused: `would run /usr/bin/x: its program is not on this machine`. `None`: it refused nothing.
    pub fn dry_refusal(&self) -> Option<&str> {
        let Self::Raised(raised) = self else { return None };
        chef::dry_refusal(&raised.kind, &raised.message)
    }

    /// What a person could do about it.
    pub fn hint(&self) -> Option<&str> {
        match self {
            Self::Raised(raised) => raised.hint.as_deref(),
            Self::Many(all) => all.iter().find_map(|(_, failure)| failure.hint()),
            Self::GuestLost(lost) => lost.hint.as_deref(),
            Self::Stopped(_) => None,
        }
    }

    /// The same with one more thing that a person could do about it. A guest that was lost and a signal take no hint.
    #[must_use]
    pub fn and_hint(mut self, more: String) -> Self {
        if let Some(raised) = self.hinted() {
            let both = raised.hint.take().map(|hint| format!("{hint}\nbesides, {more}"));
            raised.hint = Some(both.unwrap_or(more));
        }
        self
    }

    /// The exception that [`hint`](Self::hint) is taken of, or the first that could have one.
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

    /// Innermost first, `FILE:LINE: in NAME`.
    pub fn backtrace(&self) -> &[String] {
        match self {
            Self::Raised(raised) => &raised.backtrace,
            Self::GuestLost(lost) => &lost.backtrace,
            _ => &[],
        }
    }

    /// True if nothing that a cookbook says may go on after it.
    pub fn is_final(&self) -> bool {
        match self {
            Self::GuestLost(_) | Self::Stopped(_) => true,
            Self::Raised(_) => false,
            Self::Many(all) => all.iter().any(|(_, failure)| failure.is_final()),
        }
    }

    /// True for what Ruby's `rescue` without a class catches: resources retry and ignore nothing else.
    pub fn is_standard(&self) -> bool {
        match self {
            Self::Raised(raised) => chef::is_standard(&raised.kind),
            Self::Many(_) => !self.is_final(),
            Self::GuestLost(_) | Self::Stopped(_) => false,
        }
    }

    /// The exception that guest code gets to see.
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
    /// Chef's sentence: every resource that it passed stands before the message.
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
