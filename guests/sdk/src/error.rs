//! Errors of cookbooks.

mod kind;

pub use kind::ErrorKind;

use crate::bindings::wrun::output::log;
use crate::bindings::wrun::types::types::Raised;
use crate::outside;
use crate::table::{frame, origin};
use std::any::Any;
use std::fmt;
use std::panic::Location;

/// The result of code in a cookbook.
pub type Result<T = ()> = std::result::Result<T, Error>;

/// An error with a class, a message and the place of its origin.
///
/// The operator `?` converts every [`std::error::Error`] into it.
pub struct Error(pub(crate) Box<Raised>);

impl Error {
    /// Creates an error of a class: `Error::new("Errno::ENOENT", "no such file")`.
    #[track_caller]
    pub fn new(class: impl Into<String>, message: impl Into<String>) -> Self {
        let backtrace = frame(Location::caller()).into_iter().collect();
        let (class, message) = (class.into(), message.into());
        Self(Box::new(Raised { class, message, passed: vec![], backtrace, object: None, hint: None }))
    }

    /// Adds a hint for the author or operator, which reports show with the message.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    /// Creates an error of the general class `RuntimeError`.
    #[track_caller]
    pub fn text(message: impl Into<String>) -> Self {
        Self::new("RuntimeError", message)
    }

    /// Returns the kind of the error, to distinguish errors of the host.
    pub fn kind(&self) -> ErrorKind {
        kind::of_class(&self.0.class)
    }

    /// Returns the class, which reports and Ruby cookbooks use.
    pub fn class(&self) -> &str {
        &self.0.class
    }

    /// Returns the message as in reports, without the resources that the error has passed through. [`Display`](fmt::Display)
    /// writes a plain sentence.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Returns the hint: a similar name, or the line of a grant that would allow the call.
    pub fn hint(&self) -> Option<&str> {
        self.0.hint.as_deref()
    }

    /// Adds a place if the error has none. Errors of the host and of this crate lack a place.
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
        // An error of the host keeps its class, its object and its path through resources.
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

/// Adds the caller's place to the errors of results that leave this crate, and tells it to the host if the call was denied.
pub(crate) trait Here<T> {
    /// Adds the caller's place if the error has none.
    #[track_caller]
    fn here(self) -> Result<T>;
}

impl<T, E: Into<Error>> Here<T> for std::result::Result<T, E> {
    #[track_caller]
    fn here(self) -> Result<T> {
        match self {
            Ok(value) => Ok(value),
            Err(error) => {
                let (error, place) = (error.into(), Location::caller());
                if error.kind() == ErrorKind::Denied {
                    // The cookbook may handle the error, and the host would not know the line then.
                    log::denied_at(&origin(place));
                }
                Err(error.at(place))
            }
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

/// Writes the sentence and the hint, because the message of `unwrap` and `expect` is made of it.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")?;
        self.hint().map_or(Ok(()), |hint| write!(f, "; {hint}"))
    }
}
