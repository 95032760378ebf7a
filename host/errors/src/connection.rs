//! Errors of connections to servers.

use crate::{ErrorKind, SystemError};

/// The reason why a server's response is missing or incomplete. The texts come from the client library.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConnectionError {
    /// The server's name has no address.
    NoAddress(String),
    /// The server took too long to accept the connection.
    ConnectTimeout(String),
    /// The server took too long to send its response or the rest of it.
    ReadTimeout(Option<String>),
    /// The server does not accept connections.
    Refused,
    /// The server ended the connection.
    Reset,
    /// No route leads to the server.
    NoRoute,
    /// The connection could not be encrypted.
    Tls(String),
    /// The server ended the connection before it answered.
    NoAnswer,
    /// The server ended the connection in the middle of its answer.
    Incomplete,
    /// The answer is not HTTP.
    NotHttp(String),
    /// Any other error of the system.
    Other(String),
}

impl ConnectionError {
    /// Returns the kind of the error.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::NoAddress(_) | Self::Other(_) => ErrorKind::Unreachable,
            Self::ConnectTimeout(_) => ErrorKind::ConnectTimeout,
            Self::ReadTimeout(_) => ErrorKind::ReadTimeout,
            Self::Refused => SystemError::ConnectionRefused.into(),
            Self::Reset => SystemError::ConnectionReset.into(),
            Self::NoRoute => SystemError::HostUnreachable.into(),
            Self::Tls(_) => ErrorKind::Tls,
            Self::NoAnswer => ErrorKind::EndOfInput,
            Self::Incomplete => ErrorKind::LengthMismatch,
            Self::NotHttp(_) => ErrorKind::HttpBadResponse,
        }
    }
}
