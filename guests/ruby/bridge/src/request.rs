//! Parses Ruby's requests: a function's name, its arguments as JSON, and bytes.

use crate::reply::Reply;
use serde::Deserialize;

/// The offset and length of some bytes in a request's tail.
#[derive(Deserialize, Clone, Copy)]
pub(crate) struct Bytes(usize, usize);

/// A request: `INTERFACE.FUNCTION[:LENGTH] ARGUMENTS`. The arguments have `LENGTH` bytes, and the tail follows.
pub(crate) struct Request<'a> {
    pub(crate) interface: &'a str,
    pub(crate) function: &'a str,
    arguments: &'a str,
    tail: &'a [u8],
}

impl<'a> Request<'a> {
    /// Parses the bytes of a call as a request.
    pub(crate) fn parse(bytes: &'a [u8]) -> Result<Self, Reply> {
        let malformed = || Reply::argument_error("a call of the bridge is malformed");
        let space = bytes.iter().position(|byte| *byte == b' ').ok_or_else(malformed)?;
        let (head, rest) = bytes.split_at(space);
        let rest = rest.get(1..).unwrap_or_default();
        let head = std::str::from_utf8(head).map_err(|_| malformed())?;
        let (name, length) = match head.split_once(':') {
            None => (head, rest.len()),
            Some((name, length)) => (name, length.parse().map_err(|_| malformed())?),
        };
        let (arguments, tail) = rest.split_at_checked(length).ok_or_else(malformed)?;
        let (interface, function) = name.split_once('.').ok_or_else(malformed)?;
        let arguments = std::str::from_utf8(arguments)
            .map_err(|_| Reply::argument_error(&format!("an argument of {name} is not valid UTF-8")))?;
        Ok(Self { interface, function, arguments, tail })
    }

    /// Parses the arguments as a tuple.
    pub(crate) fn arguments<T: Deserialize<'a>>(&self) -> Result<T, Reply> {
        serde_json::from_str(self.arguments).map_err(|error| {
            Reply::argument_error(&format!("{}.{} cannot take that: {error}", self.interface, self.function))
        })
    }

    /// Parses the only argument.
    pub(crate) fn argument<T: Deserialize<'a>>(&self) -> Result<T, Reply> {
        self.arguments::<(T,)>().map(|(only,)| only)
    }

    /// Returns some of the tail's bytes, or an error if they lie outside of it.
    pub(crate) fn bytes(&self, at: Bytes) -> Result<&'a [u8], Reply> {
        let end = at.0.checked_add(at.1);
        let bytes = end.and_then(|end| self.tail.get(at.0..end));
        bytes.ok_or_else(|| Reply::argument_error("a call of the bridge names bytes that it does not bring"))
    }

    /// Returns some of the tail's bytes as text, or an error if they are not valid UTF-8.
    pub(crate) fn text(&self, at: Bytes) -> Result<&'a str, Reply> {
        let invalid = |_| Reply::argument_error("a text of a call of the bridge is not valid UTF-8");
        std::str::from_utf8(self.bytes(at)?).map_err(invalid)
    }

    /// Returns the error for an unknown function.
    pub(crate) fn unknown(&self) -> Reply {
        Reply::argument_error(&format!("the contract has no function {}.{}", self.interface, self.function))
    }
}
