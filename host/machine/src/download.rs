//! HTTP: the only module that connects to web servers.
//!
//! Every requested address needs a grant, also one that a redirect leads to. So this module follows redirects itself and does
//! not leave that to the library. A download goes into an unnamed file in wrun's own cache. So a dry run leaves nothing
//! behind, and nobody can change the file between its check and its use.
//!
//! Failures have the kinds and the messages of Ruby's `Net::HTTP`, since cookbooks rescue them.

mod arriving;
mod cache_control;
mod failure;
mod redirect;
mod resolving;
mod watched;

pub use cache_control::CacheControl;

use crate::denied::denied;
use crate::digest::Hasher;
use crate::pace::looked_at;
use crate::root::{Disk, NamelessFile, Root, memory_file};
use arriving::{Arriving, awaited};
use contract::{Account, ErrorKind, HttpRequest, HttpResponse, Raised, SystemError};
use errors::chef;
use failure::{of_body, of_call, of_status};
use grants::{GrantedUrl, PolicyGrants};
use resolving::RefusedAddress;
use std::io::{Read, Write};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use ureq::http::{Request, Response};
use ureq::tls::{RootCerts, TlsConfig};
use ureq::{Agent, Body};

/// Limits of a download.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Downloads {
    /// Maximum size of one file, in bytes.
    pub bytes: u64,
    /// Time limit of one request, in total.
    pub time: Duration,
    /// The reason why the run contacts no server. `None`: it may contact servers.
    pub off: Option<NoServers>,
}

/// The addresses that redirects may lead to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Redirects {
    /// Every address that the grants allow.
    Granted,
    /// Only addresses with the same scheme, host and port.
    SameServer,
}

/// The reason why a run contacts no server, even if its grants allow it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoServers {
    /// The run is a test of a policy.
    Test,
    /// The run is a survey, which denies nothing. A request could therefore send what the policy has read to anybody.
    Survey,
}

impl NoServers {
    /// Returns the reason as text.
    pub fn reason(self) -> &'static str {
        match self {
            Self::Test => "a test downloads nothing",
            Self::Survey => "`wrun grants suggest` asks no server",
        }
    }
}

impl Default for Downloads {
    fn default() -> Self {
        Self { bytes: 4 << 30, time: Duration::from_secs(1800), off: None }
    }
}

/// Maximum number of redirects, as in Chef.
const MAX_REDIRECTS: usize = 10;

/// Time limit for connecting to a server.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(60);

/// Time limit for a server's silence, as in Chef.
const SILENCE_TIMEOUT: Duration = Duration::from_secs(300);

/// Maximum size of a file that a dry run without a cache directory keeps in memory, in bytes.
const MAX_IN_MEMORY: u64 = 256 << 20;

/// Maximum size of a response body for a guest, in bytes.
const MAX_BODY: u64 = 64 << 20;

/// Maximum number of header fields of a request, and maximum length of a value, in bytes.
const MAX_FIELDS: usize = 100;
const MAX_VALUE: usize = 16 << 10;

/// Fields that determine the server or the end of a request. A guest that could set them could reach another server than the
/// granted one.
const FIELDS_OF_OURS: [&str; 7] =
    ["host", "content-length", "transfer-encoding", "connection", "upgrade", "te", "proxy-authorization"];

/// The allowed methods. `CONNECT` would open a tunnel to any port, and `TRACE` shows headers that proxies add.
const METHODS: [&str; 7] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/// Fields with secrets between the guest and one server. A redirect to another server drops them.
const SECRET_FIELDS: [&str; 2] = ["authorization", "cookie"];

/// The prefix of the fields that sign a request to a Chef server. They are for that server only.
const SIGNATURE_FIELDS: &str = "x-ops-";

/// A request for a file.
pub struct DownloadRequest<'a> {
    pub url: &'a str,
    /// Fields of the request.
    pub headers: Vec<(String, String)>,
    /// True if the server may compress the file.
    pub compressed: bool,
    /// True if the server needs a valid certificate.
    pub verify: bool,
}

/// The result of a download.
pub enum Fetched {
    /// The file did not change since the last download.
    NotModified,
    /// The file, and the data for asking next time whether it changed.
    File(NamelessFile, CacheControl),
}

/// Downloads a file.
///
/// # Errors
/// The address, or one that it redirects to, is denied; the server cannot be reached or answers with an error.
pub fn fetch(
    grants: &PolicyGrants,
    cache: Option<&Root>,
    wish: &DownloadRequest<'_>,
    limits: Downloads,
    account: &Account,
) -> Result<Fetched, Raised> {
    check_fields(&wish.headers)?;
    let request = HttpRequest { method: "GET".into(), url: wish.url.into(), headers: wish.headers.clone(), body: None };
    let agent = if wish.verify { agent(limits.time) } else { new_agent(true, limits.time) };
    let (url, response) = follow(&agent, grants, &request, wish.compressed, limits, Redirects::Granted, account)?;
    match response.status().as_u16() {
        304 => Ok(Fetched::NotModified),
        200..=299 => {
            let control = CacheControl::of(response.headers());
            let file = store(response, &url, cache, limits.bytes, account)?;
            let control = control.with_checksum(file.digest.text());
            Ok(Fetched::File(file, control))
        }
        _ => Err(of_status(&response)),
    }
}

/// Sends a request of a person at the command line, in the way in which [`request_of`] sends a policy's request.
///
/// # Errors
/// Those of [`request_of`].
pub fn request(request: &HttpRequest, grants: &PolicyGrants, limits: Downloads) -> Result<HttpResponse, Raised> {
    request_of(request, grants, limits, &Account::unmetered("person"))
}

/// Sends a policy's request and reads the whole response, whatever its status.
///
/// # Errors
/// The address, or one that it redirects to, is denied; the server cannot be reached; the response is too large; the policy
/// must end.
pub fn request_of(
    request: &HttpRequest,
    grants: &PolicyGrants,
    limits: Downloads,
    account: &Account,
) -> Result<HttpResponse, Raised> {
    check_fields(&request.headers)?;
    let (url, response) = follow(&agent(limits.time), grants, request, true, limits, Redirects::Granted, account)?;
    let fields = response.headers().iter();
    let fields = fields.map(|(name, value)| (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned()));
    let (status, headers) = (response.status().as_u16(), fields.collect());
    let mut body = Vec::new();
    let reader = arriving(response, &url, account)?;
    reader.take(MAX_BODY + 1).read_to_end(&mut body).map_err(|error| of_body(&error, &url))?;
    if body.len() as u64 > MAX_BODY {
        return Err(too_large(&url, MAX_BODY));
    }
    Ok(HttpResponse { status, headers, body })
}

/// Reads the whole document at an address from the operator's settings. Returns `None` if the server reports that it does not
/// exist. The server may redirect only to its own addresses, because the operator named no other server. The wall time of the
/// account's turn bounds all requests together, and its signals end them.
///
/// # Errors
/// The server cannot be reached, answers with an error, redirects to another server, or sends more than `limits` allow; the
/// account's turn must end.
pub fn read(url: &str, limits: Downloads, account: &Account) -> Result<Option<Vec<u8>>, Raised> {
    let request = HttpRequest { method: "GET".into(), url: url.into(), headers: vec![], body: None };
    let grants = grants::Grants::allow_all().policy("settings", &[]);
    let (url, response) = follow(&agent(limits.time), &grants, &request, true, limits, Redirects::SameServer, account)?;
    match response.status().as_u16() {
        404 | 410 => return Ok(None),
        200 => {}
        _ => return Err(of_status(&response)),
    }
    let mut body = Vec::new();
    let reader = arriving(response, &url, account)?;
    reader.take(limits.bytes.saturating_add(1)).read_to_end(&mut body).map_err(|error| of_body(&error, &url))?;
    if body.len() as u64 > limits.bytes { Err(too_large(&url, limits.bytes)) } else { Ok(Some(body)) }
}

/// Sends data to an address from the operator's settings and returns the status. It reads no response body and follows no
/// redirect.
///
/// # Errors
/// The server cannot be reached, or redirects the request.
pub fn post(url: &str, headers: Vec<(String, String)>, body: Vec<u8>, time: Duration) -> Result<u16, Raised> {
    let request = HttpRequest { method: "POST".into(), url: url.into(), headers, body: Some(body) };
    let grants = grants::Grants::allow_all().policy("settings", &[]);
    let limits = Downloads { bytes: 0, time, off: None };
    let account = Account::unmetered("settings");
    let (agent, redirects) = (new_agent(false, time), Redirects::SameServer);
    let (_, response) = follow(&agent, &grants, &request, false, limits, redirects, &account)?;
    Ok(response.status().as_u16())
}

/// Adds the address to a failure's message, as Chef's own client does.
pub fn worded(raised: Raised, url: &str) -> Raised {
    let Some(message) = chef::with_address(&raised.kind, &raised.message, url) else { return raised };
    Raised { message, ..raised }
}

/// Tells whether a failure says nothing about the requested document: the server did not answer, or not completely. A status
/// that is not a success is an answer.
pub fn is_unreachable(raised: &Raised) -> bool {
    matches!(
        raised.kind,
        ErrorKind::Unreachable
            | ErrorKind::ConnectTimeout
            | ErrorKind::ReadTimeout
            | ErrorKind::EndOfInput
            | ErrorKind::LengthMismatch
            | ErrorKind::System(
                SystemError::ConnectionRefused | SystemError::ConnectionReset | SystemError::HostUnreachable
            )
    )
}

/// Returns the failure for a missing address: Ruby's own, which Chef passes on.
pub fn no_address() -> Raised {
    Raised::new(ErrorKind::InvalidUrl, chef::NO_URL)
}

/// Returns the failure for a status that is not a success.
pub fn failed(status: u16) -> Raised {
    failure::of_number(status)
}

/// Returns the HTTP client with its connections and certificates. It is created when first needed, and again only if the time
/// limit changes.
fn agent(time: Duration) -> Agent {
    static AGENT: Mutex<Option<(Duration, Agent)>> = Mutex::new(None);
    let mut kept = AGENT.lock().unwrap_or_else(PoisonError::into_inner);
    match kept.as_ref() {
        Some((limit, agent)) if *limit == time => agent.clone(),
        _ => kept.insert((time, new_agent(false, time))).1.clone(),
    }
}

fn new_agent(trust_anyone: bool, time: Duration) -> Agent {
    let tls = TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).disable_verification(trust_anyone).build();
    let config = Agent::config_builder()
        .tls_config(tls)
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .proxy(None)
        .allow_non_standard_methods(true)
        .user_agent(concat!("wrun/", env!("CARGO_PKG_VERSION")))
        .timeout_global(Some(time))
        .timeout_connect(Some(CONNECT_TIMEOUT))
        .timeout_recv_response(Some(SILENCE_TIMEOUT))
        .timeout_per_read(Some(SILENCE_TIMEOUT))
        .build();
    watched::agent(config)
}

/// Fails if the run may not contact servers.
fn check_on(limits: Downloads) -> Result<(), Raised> {
    limits.off.map_or(Ok(()), |off| Err(Raised::new(ErrorKind::Unknown, off.reason())))
}

/// Sends a request and follows redirects, each only if it is granted.
fn follow(
    agent: &Agent,
    grants: &PolicyGrants,
    request: &HttpRequest,
    compressed: bool,
    limits: Downloads,
    redirects: Redirects,
    account: &Account,
) -> Result<(GrantedUrl, Response<Body>), Raised> {
    if !METHODS.contains(&request.method.as_str()) {
        let message =
            format!("{:?} is not a method of HTTP requests: there are {}", request.method, METHODS.join(", "));
        return Err(Raised::new(ErrorKind::InvalidArgument, message));
    }
    let mut url = grants.download(&request.url).map_err(denied)?;
    check_on(limits)?;
    let mut headers = request.headers.clone();
    for _ in 0..=MAX_REDIRECTS {
        let response = send(agent, grants, &url, request, &headers, compressed, account)?;
        let Some(location) = redirect::location(&response) else { return Ok((url, response)) };
        if !matches!(request.method.as_str(), "GET" | "HEAD") {
            return Err(Raised::new(
                ErrorKind::InvalidRedirect,
                format!(
                    "{} request was redirected from {} to {location}. Only GET and HEAD support redirects.",
                    request.method,
                    url.url()
                ),
            ));
        }
        let next = grants.download(&redirect::join(url.url(), &location)).map_err(denied)?;
        redirect::check_secrecy(&url, &next)?;
        if (next.scheme(), next.host(), next.port()) != (url.scheme(), url.host(), url.port()) {
            if redirects == Redirects::SameServer {
                let message = format!("{} redirects to another server: {}", url.url(), next.url());
                return Err(Raised::new(ErrorKind::InvalidRedirect, message));
            }
            headers.retain(|(name, _)| {
                let name = name.to_ascii_lowercase();
                !SECRET_FIELDS.contains(&name.as_str()) && !name.starts_with(SIGNATURE_FIELDS)
            });
        }
        url = next;
    }
    // In Chef this exception has no message, so Ruby shows the name of its class.
    Err(Raised::new(ErrorKind::TooManyRedirects, chef::class(&ErrorKind::TooManyRedirects)))
}

fn send(
    agent: &Agent,
    grants: &PolicyGrants,
    url: &GrantedUrl,
    request: &HttpRequest,
    headers: &[(String, String)],
    compressed: bool,
    account: &Account,
) -> Result<Response<Body>, Raised> {
    let mut builder = Request::builder().method(request.method.as_str()).uri(url.url());
    if !compressed {
        builder = builder.header("accept-encoding", "identity");
    }
    for (name, value) in headers {
        builder = builder.header(name, value);
    }
    let malformed = |error: ureq::http::Error| Raised::new(ErrorKind::InvalidArgument, error.to_string());
    let (agent, of_thread) = (agent.clone(), url.clone());
    let answer = match request.body.clone() {
        Some(body) => {
            let request = builder.body(body).map_err(malformed)?;
            awaited(account, move || watched::for_url(of_thread, || agent.run(request)))
        }
        None => {
            let request = builder.body(()).map_err(malformed)?;
            awaited(account, move || watched::for_url(of_thread, || agent.run(request)))
        }
    };
    answer?.map_err(|error| match RefusedAddress::of(&error) {
        Some(address) => denied(grants.refuse_address(url, address)),
        None => of_call(&error, url),
    })
}

/// Returns a reader of the response body as it arrives.
fn arriving(response: Response<Body>, url: &GrantedUrl, account: &Account) -> Result<Arriving, Raised> {
    let body = response.into_body().into_with_config().limit(u64::MAX).reader();
    Arriving::of(body, account).map_err(|error| of_body(&error, url))
}

/// Writes a body into an unnamed file.
fn store(
    response: Response<Body>,
    url: &GrantedUrl,
    cache: Option<&Root>,
    limit: u64,
    account: &Account,
) -> Result<NamelessFile, Raised> {
    let mut reader = arriving(response, url, account)?;
    let (mut file, limit) = match cache {
        Some(cache) => (cache.nameless_file()?, limit),
        None => (memory_file()?, limit.min(MAX_IN_MEMORY)),
    };
    let disk = cache.map(|_| Disk::of(account, &file));
    let mut hash = Hasher::default();
    let mut buffer = vec![0; 64 << 10];
    let mut size = 0;
    loop {
        let length = reader.read(&mut buffer).map_err(|error| of_body(&error, url))?;
        let chunk = buffer.get(..length).unwrap_or_default();
        if chunk.is_empty() {
            return Ok(NamelessFile { file, size, digest: hash.finish(), _open: account.open_file() });
        }
        size += length as u64;
        if size > limit {
            return Err(too_large(url, limit));
        }
        let on_disk = disk.as_ref().map_or(Ok(()), |disk| disk.write(&file, length as u64));
        on_disk.map_err(|ended| Raised::new(ErrorKind::InputOutput, ended.to_string()))?;
        looked_at(account, length).map_err(|error| Raised::new(ErrorKind::InputOutput, error.to_string()))?;
        hash.update(chunk);
        file.write_all(chunk)
            .map_err(|error| Raised::new(ErrorKind::InputOutput, format!("the cache directory: {error}")))?;
    }
}

fn too_large(url: &GrantedUrl, limit: u64) -> Raised {
    Raised::new(ErrorKind::TooLarge, format!("what {} sends is larger than {limit} bytes", url.host()))
}

/// Checks the header fields of a guest's request.
fn check_fields(headers: &[(String, String)]) -> Result<(), Raised> {
    let refuse = |name: &str, why: &str| {
        let name: String = name.chars().take(100).collect();
        Err(Raised::new(ErrorKind::InvalidArgument, format!("the header field `{name}` {why}")))
    };
    if headers.len() > MAX_FIELDS {
        return refuse("..", "is one too many");
    }
    for (name, value) in headers {
        if FIELDS_OF_OURS.contains(&name.to_ascii_lowercase().as_str()) {
            return refuse(name, "is set by wrun alone");
        }
        if value.len() > MAX_VALUE {
            return refuse(name, "is too long");
        }
    }
    Ok(())
}
