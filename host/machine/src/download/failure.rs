//! The failures of a request.

use contract::{ErrorKind, Raised};
use errors::{ConnectionError, chef};
use grants::GrantedUrl;
use std::io;
use ureq::http::{Response, StatusCode};
use ureq::{Body, Error, Timeout};

/// Returns the failure for a status that is not a success.
pub(super) fn of_status(response: &Response<Body>) -> Raised {
    of_number(response.status().as_u16())
}

/// Returns the failure for the number of a status.
pub(super) fn of_number(status: u16) -> Raised {
    let kind = match status {
        400..=499 => ErrorKind::HttpClientError,
        500..=599 => ErrorKind::HttpServerError,
        300..=399 => ErrorKind::HttpRedirect,
        _ => ErrorKind::HttpStatus,
    };
    let reason = StatusCode::from_u16(status).ok().and_then(|status| status.canonical_reason());
    Raised::new(kind, chef::status(status, reason.unwrap_or_default()))
}

/// Returns the failure for a request without a response.
pub(super) fn of_call(error: &Error, url: &GrantedUrl) -> Raised {
    let why = || error.to_string();
    let error = match error {
        Error::HostNotFound => ConnectionError::NoAddress(why()),
        Error::Timeout(Timeout::Connect | Timeout::Resolve) => ConnectionError::ConnectTimeout(why()),
        Error::Timeout(_) => ConnectionError::ReadTimeout(Some(why())),
        Error::Tls(_) | Error::Rustls(_) | Error::Pem(_) => ConnectionError::Tls(why()),
        Error::Io(error) => match (error.kind(), url.scheme()) {
            (io::ErrorKind::UnexpectedEof, "http") => ConnectionError::NoAnswer,
            (io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidData, "https") => {
                ConnectionError::Tls(error.to_string())
            }
            _ => of_io(error),
        },
        Error::ConnectionFailed => ConnectionError::Refused,
        Error::BadUri(_) => return Raised::new(ErrorKind::InvalidUrl, why()),
        _ => ConnectionError::NotHttp(why()),
    };
    raised(&error, url)
}

/// Returns the failure for a response that broke off.
pub(super) fn of_body(error: &io::Error, url: &GrantedUrl) -> Raised {
    match error.get_ref().and_then(|inner| inner.downcast_ref::<Error>()) {
        Some(Error::Io(inner)) => raised(&of_io(inner), url),
        Some(inner) => of_call(inner, url),
        None => raised(&of_io(error), url),
    }
}

fn of_io(error: &io::Error) -> ConnectionError {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => ConnectionError::Refused,
        io::ErrorKind::ConnectionReset | io::ErrorKind::ConnectionAborted | io::ErrorKind::BrokenPipe => {
            ConnectionError::Reset
        }
        io::ErrorKind::UnexpectedEof => ConnectionError::Incomplete,
        io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => ConnectionError::ReadTimeout(None),
        io::ErrorKind::HostUnreachable | io::ErrorKind::NetworkUnreachable => ConnectionError::NoRoute,
        _ => ConnectionError::Other(error.to_string()),
    }
}

fn raised(error: &ConnectionError, url: &GrantedUrl) -> Raised {
    Raised::new(error.kind(), chef::unreachable(url.host(), url.port(), error))
}
