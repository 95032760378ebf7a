//! What went wrong with a request, under the class that Ruby's `Net::HTTP` would have raised.

use contract::Raised;
use grants::GrantedUrl;
use std::io;
use ureq::http::{Response, StatusCode};
use ureq::{Body, Error, Timeout};

/// A status that is not a success.
pub(super) fn of_status(response: &Response<Body>) -> Raised {
    of_number(response.status().as_u16())
}

/// The same by its number.
pub(super) fn of_number(status: u16) -> Raised {
    let class = match status {
        400..=499 => "Net::HTTPClientException",
        500..=599 => "Net::HTTPFatalError",
        300..=399 => "Net::HTTPRetriableError",
        _ => "Net::HTTPError",
    };
    let reason = StatusCode::from_u16(status).ok().and_then(|status| status.canonical_reason());
    Raised::new(class, format!("{status} \"{}\"", reason.unwrap_or_default()))
}

/// A request without an answer.
pub(super) fn of_call(error: &Error, url: &GrantedUrl) -> Raised {
    let (host, port) = (url.host(), url.port());
    match error {
        Error::HostNotFound => {
            Raised::new("SocketError", format!("Failed to open TCP connection to {host}:{port} (getaddrinfo: {error})"))
        }
        Error::Timeout(Timeout::Connect | Timeout::Resolve) => {
            Raised::new("Net::OpenTimeout", format!("Timeout connecting to {host}:{port}: {error}"))
        }
        Error::Timeout(_) => Raised::new("Net::ReadTimeout", format!("Timeout reading from {host}:{port}: {error}")),
        Error::Tls(_) | Error::Rustls(_) | Error::Pem(_) => {
            Raised::new("OpenSSL::SSL::SSLError", format!("SSL Error connecting to {host}:{port} - {error}"))
        }
        Error::Io(error) if error.kind() == io::ErrorKind::UnexpectedEof && url.scheme() == "http" => Raised::new(
            "EOFError",
            format!("end of file reached: {host}:{port} ended the connection without an answer"),
        ),
        Error::Io(error)
            if matches!(error.kind(), io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidData)
                && url.scheme() == "https" =>
        {
            Raised::new("OpenSSL::SSL::SSLError", format!("SSL Error connecting to {host}:{port} - {error}"))
        }
        Error::Io(error) => of_io(error, url),
        Error::ConnectionFailed => refused(url),
        Error::BadUri(_) => Raised::new("URI::InvalidURIError", error.to_string()),
        other => Raised::new("Net::HTTPBadResponse", format!("{host}:{port}: {other}")),
    }
}

/// An answer that broke off.
pub(super) fn of_body(error: &io::Error, url: &GrantedUrl) -> Raised {
    match error.get_ref().and_then(|inner| inner.downcast_ref::<Error>()) {
        Some(Error::Io(inner)) => of_io(inner, url),
        Some(inner) => of_call(inner, url),
        None => of_io(error, url),
    }
}

fn of_io(error: &io::Error, url: &GrantedUrl) -> Raised {
    let (host, port) = (url.host(), url.port());
    match error.kind() {
        io::ErrorKind::ConnectionRefused => refused(url),
        io::ErrorKind::ConnectionReset | io::ErrorKind::ConnectionAborted | io::ErrorKind::BrokenPipe => {
            Raised::new("Errno::ECONNRESET", format!("Connection reset by {host}:{port}"))
        }
        io::ErrorKind::UnexpectedEof => Raised::new(
            "Chef::Exceptions::ContentLengthMismatch",
            format!("{host}:{port} ended the connection before the whole file was sent"),
        ),
        io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => {
            Raised::new("Net::ReadTimeout", format!("Timeout reading from {host}:{port}"))
        }
        io::ErrorKind::HostUnreachable | io::ErrorKind::NetworkUnreachable => {
            Raised::new("Errno::EHOSTUNREACH", format!("No route to {host}:{port}"))
        }
        _ => Raised::new("SocketError", format!("Failed to open TCP connection to {host}:{port} ({error})")),
    }
}

fn refused(url: &GrantedUrl) -> Raised {
    let (host, port) = (url.host(), url.port());
    Raised::new(
        "Errno::ECONNREFUSED",
        format!(
            "Failed to open TCP connection to {host}:{port} (Connection refused - connect(2) for \"{host}\" port {port})"
        ),
    )
}
