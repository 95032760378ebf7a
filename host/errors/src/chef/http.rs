//! Error messages of Ruby's `Net::HTTP` and of Chef's client.

use crate::{ConnectionError, ErrorKind, SystemError};

/// The message of Ruby's URL parser for a missing URL.
pub const NO_URL: &str = "bad URI(is not URI?): nil";

/// Returns the message for a server without a complete response.
pub fn unreachable(host: &str, port: u16, error: &ConnectionError) -> String {
    let server = format!("{host}:{port}");
    match error {
        ConnectionError::NoAddress(why) => format!("Failed to open TCP connection to {server} (getaddrinfo: {why})"),
        ConnectionError::ConnectTimeout(why) => format!("Timeout connecting to {server}: {why}"),
        ConnectionError::ReadTimeout(Some(why)) => format!("Timeout reading from {server}: {why}"),
        ConnectionError::ReadTimeout(None) => format!("Timeout reading from {server}"),
        ConnectionError::Refused => format!(
            "Failed to open TCP connection to {server} (Connection refused - connect(2) for \"{host}\" port {port})"
        ),
        ConnectionError::Reset => format!("Connection reset by {server}"),
        ConnectionError::NoRoute => format!("No route to {server}"),
        ConnectionError::Tls(why) => format!("SSL Error connecting to {server} - {why}"),
        ConnectionError::NoAnswer => format!("end of file reached: {server} ended the connection without an answer"),
        ConnectionError::Incomplete => format!("{server} ended the connection before the whole file was sent"),
        ConnectionError::NotHttp(why) => format!("{server}: {why}"),
        ConnectionError::Other(why) => format!("Failed to open TCP connection to {server} ({why})"),
    }
}

/// Returns the message for an unsuccessful status: `404 "Not Found"`.
pub fn status(number: u16, reason: &str) -> String {
    format!("{number} \"{reason}\"")
}

/// Returns the message with the URL by which Chef's client replaces Ruby's message. Returns `None` if Chef keeps Ruby's
/// message.
pub fn with_address(kind: &ErrorKind, message: &str, url: &str) -> Option<String> {
    match kind {
        ErrorKind::System(SystemError::ConnectionRefused) => {
            Some(format!("Connection refused - Connection refused connecting to {url}, giving up"))
        }
        ErrorKind::Unreachable => Some(format!("Error connecting to {url} - {message}")),
        _ => None,
    }
}
