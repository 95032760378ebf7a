//! Errors of cookbooks.

mod kind;

pub use kind::ErrorKind;

use crate::bindings::wrun::types::types::Raised;
use crate::outside;
use crate::table::frame;
use std::any::Any;
use std::fmt;
use std::panic::Location;

/// How something in a cookbook ended.
pub type Result<T = ()> = std::result::Result<T, Error>;

/// An error with a class that others may look for, a message, and where it was made.
///
/// Anything that implements [`std::error::Error`] becomes one by `?`.
pub struct Error(pub(crate) Box<Raised>);

impl Error {
    /// An error of a class: `Error::new("Errno::ENOENT", "no such file")`.
    #[track_caller]
    pub fn new(class: impl Into<String>, message: impl Into<String>) -> Self {
        let backtrace = frame(Location::caller()).into_iter().collect();
        let (class, message) = (class.into(), message.into());
        Self(Box::new(Raised { class, message, passed: vec![], backtrace, object: None, hint: None }))
    }

    /// The same with what a person could do about it, which is shown beside the message.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    /// An error without a class of its own.
    #[track_caller]
    pub fn text(message: impl Into<String>) -> Self {
        Self::new("RuntimeError", message)
    }

    /// What went wrong, to tell errors of the host apart.
    pub fn kind(&self) -> ErrorKind {
        kind::of_class(&self.0.class)
    }

    /// Its class, by which reports and Ruby cookbooks know it.
    pub fn class(&self) -> &str {
        &self.0.class
    }

    /// Its message as reports have it, without the resources that it has passed through. [`Display`](fmt::Display) has
    /// a plain sentence.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// What a person could do about it: a near name, the line that would grant it.
    pub fn hint(&self) -> Option<&str> {
        self.0.hint.as_deref()
    }

    /// The same with a place, if it has none: an error of the host's, or one that was made inside of this crate.
    pub(crate) fn at(mut self, place: &Location<'_>) -> Self {
        if self.0.backtrace.is_empty() {
            self.0.backtrace.extend(frame(place));
        }
        self
    }

    pub(crate) fn into_raised(self) -> Raised {
        *self.0
    }
}

impl<E: std::error::Error + 'static> From<E> for Error {
    #[track_caller]
    fn from(error: E) -> Self {
        // What the host raised keeps its class, its object and the way it came.
        if let Some(raised) = (&error as &dyn Any).downcast_ref::<Raised>() {
            return Self(Box::new(raised.clone())).at(Location::caller());
        }
        let mut message = error.to_string();
        let mut advice = outside::advice_on(&error);
        let mut source = error.source();
        while let Some(cause) = source {
            message.push_str(": ");
            message.push_str(&cause.to_string());
            advice = advice.or_else(|| outside::advice_on(cause));
            source = cause.source();
        }
        if let Some(advice) = advice {
            return Self::text(format!("the sandbox does not have this: {message}")).with_hint(advice);
        }
        Self::text(message)
    }
}

/// Results that leave this crate: their errors get the caller's place.
pub(crate) trait Here<T> {
    /// The same, with the caller's place if the error has none.
    #[track_caller]
    fn here(self) -> Result<T>;
}

impl<T, E: Into<Error>> Here<T> for std::result::Result<T, E> {
    #[track_caller]
    fn here(self) -> Result<T> {
        match self {
            Ok(value) => Ok(value),
            Err(error) => Err(error.into().at(Location::caller())),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Raised { class, message, passed, .. } = self.0.as_ref();
        passed.iter().rev().try_for_each(|place| write!(f, "{place} had an error: "))?;
        f.write_str(&kind::plainly(class, message))
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {self}", self.0.class)
    }
}
