//! HTTP: the only place that speaks to servers.
//!
//! Every address that is asked, the ones that redirects lead to included, needs a grant, so redirects are followed here and
//! not by the library. What is downloaded goes into a file without a name in wrun's own cache: in a dry run nothing stays
//! behind, and nobody can change it between the look at it and its use.
//!
//! Failures have the kinds and the words of Ruby's `Net::HTTP`, since cookbooks rescue them.

mod arriving;
mod cache_control;
mod failure;
mod redirect;
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
use std::io::{Read, Write};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use ureq::http::{Request, Response};
use ureq::tls::{RootCerts, TlsConfig};
use ureq::{Agent, Body};

/// Limits of a download.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Downloads {
    /// The most bytes of one file.
    pub bytes: u64,
    /// How long one may take in all.
    pub time: Duration,
    /// Why no server is asked at all, where none is.
    pub off: Option<NoServers>,
}

/// Where redirects may lead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Redirects {
    /// Wherever the grants allow it.
    Granted,
    /// To the same scheme, host and port.
    SameServer,
}

/// Why a run asks no server, whatever its grants say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoServers {
    /// The run is a test of a policy.
    Test,
    /// The run is a survey, in which nothing is denied: an address could carry what the policy has read to anybody.
    Survey,
}

impl NoServers {
    /// A sentence that says so.
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

/// How many redirects are followed: Chef's limit.
const MAXIMUM_REDIRECTS: usize = 10;

/// How long a server may take to be reached.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(60);

/// How long a server may be silent: Chef's limit.
const SILENCE_TIMEOUT: Duration = Duration::from_secs(300);

/// The largest file that a dry run without a cache directory keeps in memory, in bytes.
const MAXIMUM_IN_MEMORY: u64 = 256 << 20;

/// The largest body that is handed to a guest, in bytes.
const MAXIMUM_BODY: u64 = 64 << 20;

/// How many header fields a request may have, and the longest value.
const MAXIMUM_FIELDS: usize = 100;
const MAXIMUM_VALUE: usize = 16 << 10;

/// Fields that say where a request goes or where it ends. A guest that sets them speaks to another server than was granted.
const FIELDS_OF_OURS: [&str; 7] =
    ["host", "content-length", "transfer-encoding", "connection", "upgrade", "te", "proxy-authorization"];

/// The methods that a request may have. `CONNECT` would make a tunnel to any port, `TRACE` shows what proxies add.
const METHODS: [&str; 7] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/// Fields that are secrets between the guest and one server.
const SECRET_FIELDS: [&str; 2] = ["authorization", "cookie"];

/// The beginning of the fields with which a request to a Chef server is signed, for that server.
const SIGNATURE_FIELDS: &str = "x-ops-";

/// A file that is wanted.
pub struct DownloadRequest<'a> {
    pub url: &'a str,
    /// Fields of the request.
    pub headers: Vec<(String, String)>,
    /// The server may send it compressed.
    pub compressed: bool,
    /// The server must prove who it is.
    pub verify: bool,
}

/// What came of it.
pub enum Fetched {
    /// The server says that nothing changed.
    NotModified,
    /// A file, and by what to ask for it next time.
    File(NamelessFile, CacheControl),
}

/// Downloads a file.
///
/// # Errors
/// The address, or one that it redirects to, is denied; the server cannot be reached or says no.
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

/// Sends a person's own request, as [`request_of`] sends a policy's.
///
/// # Errors
/// Those of [`request_of`].
pub fn request(request: &HttpRequest, grants: &PolicyGrants, limits: Downloads) -> Result<HttpResponse, Raised> {
    request_of(request, grants, limits, &Account::unmetered("person"))
}

/// Sends a policy's request and reads the whole answer, whatever its status.
///
/// # Errors
/// The address, or one that it redirects to, is denied; the server cannot be reached; the answer is too large; the policy
/// may not go on.
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
    reader.take(MAXIMUM_BODY + 1).read_to_end(&mut body).map_err(|error| of_body(&error, &url))?;
    if body.len() as u64 > MAXIMUM_BODY {
        return Err(too_large(&url, MAXIMUM_BODY));
    }
    Ok(HttpResponse { status, headers, body })
}

/// Reads what is at an address that the operator's settings name, whole. `None`: the server says that there is nothing. The
/// server may redirect to other addresses of its own only: nobody has named another one.
///
/// # Errors
/// The server cannot be reached, answers otherwise, redirects to another one, or sends more than `limits` allow.
pub fn read(url: &str, limits: Downloads) -> Result<Option<Vec<u8>>, Raised> {
    let request = HttpRequest { method: "GET".into(), url: url.into(), headers: vec![], body: None };
    let grants = grants::Grants::allow_all().policy("settings", &[]);
    let account = Account::unmetered("settings");
    let (url, response) =
        follow(&agent(limits.time), &grants, &request, true, limits, Redirects::SameServer, &account)?;
    match response.status().as_u16() {
        404 | 410 => return Ok(None),
        200 => {}
        _ => return Err(of_status(&response)),
    }
    let mut body = Vec::new();
    let reader = response.into_body().into_with_config().limit(u64::MAX).reader();
    reader.take(limits.bytes.saturating_add(1)).read_to_end(&mut body).map_err(|error| of_body(&error, &url))?;
    if body.len() as u64 > limits.bytes { Err(too_large(&url, limits.bytes)) } else { Ok(Some(body)) }
}

/// Sends something to an address that the operator's settings name. Returns the status; what the server says beside it is not
/// read. No redirect is followed.
///
/// # Errors
/// The server cannot be reached, or sends the request elsewhere.
pub fn post(url: &str, headers: Vec<(String, String)>, body: Vec<u8>, time: Duration) -> Result<u16, Raised> {
    let request = HttpRequest { method: "POST".into(), url: url.into(), headers, body: Some(body) };
    let grants = grants::Grants::allow_all().policy("settings", &[]);
    let limits = Downloads { bytes: 0, time, off: None };
    let account = Account::unmetered("settings");
    let (agent, redirects) = (new_agent(false, time), Redirects::SameServer);
    let (_, response) = follow(&agent, &grants, &request, false, limits, redirects, &account)?;
    Ok(response.status().as_u16())
}

/// A failure as Chef's own client words it, which names the address.
pub fn worded(raised: Raised, url: &str) -> Raised {
    let Some(message) = chef::with_address(&raised.kind, &raised.message, url) else { return raised };
    Raised { message, ..raised }
}

/// Whether a failure says nothing about what was asked for: the server did not answer, or not to the end. A status that is
/// not a success is an answer.
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

/// There is no address: Ruby's own failure, which Chef passes on.
pub fn no_address() -> Raised {
    Raised::new(ErrorKind::InvalidUrl, chef::NO_URL)
}

/// What a status that is not a success is called.
pub fn failed(status: u16) -> Raised {
    failure::of_number(status)
}

/// Connections and certificates, made when first needed and kept as long as nobody wants another limit.
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

/// Refuses to speak to a server where the run asks none.
fn check_on(limits: Downloads) -> Result<(), Raised> {
    limits.off.map_or(Ok(()), |off| Err(Raised::new(ErrorKind::Unknown, off.reason())))
}

/// Asks, and asks again where the answer says to, as long as that is granted.
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
    for _ in 0..=MAXIMUM_REDIRECTS {
        let response = send(agent, &url, request, &headers, compressed, account)?;
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
    // Chef gives it no message, so that Ruby shows the class.
    Err(Raised::new(ErrorKind::TooManyRedirects, chef::class(&ErrorKind::TooManyRedirects)))
}

fn send(
    agent: &Agent,
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
    let agent = agent.clone();
    let answer = match request.body.clone() {
        Some(body) => {
            let request = builder.body(body).map_err(malformed)?;
            awaited(account, move || agent.run(request))
        }
        None => {
            let request = builder.body(()).map_err(malformed)?;
            awaited(account, move || agent.run(request))
        }
    };
    answer?.map_err(|error| of_call(&error, url))
}

/// The body of an answer, as it comes.
fn arriving(response: Response<Body>, url: &GrantedUrl, account: &Account) -> Result<Arriving, Raised> {
    let body = response.into_body().into_with_config().limit(u64::MAX).reader();
    Arriving::of(body, account).map_err(|error| of_body(&error, url))
}

/// Writes a body into a file without a name.
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
        None => (memory_file()?, limit.min(MAXIMUM_IN_MEMORY)),
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

/// Header fields of a guest's.
fn check_fields(headers: &[(String, String)]) -> Result<(), Raised> {
    let refuse = |name: &str, why: &str| {
        let name: String = name.chars().take(100).collect();
        Err(Raised::new(ErrorKind::InvalidArgument, format!("the header field `{name}` {why}")))
    };
    if headers.len() > MAXIMUM_FIELDS {
        return refuse("..", "is one too many");
    }
    for (name, value) in headers {
        if FIELDS_OF_OURS.contains(&name.to_ascii_lowercase().as_str()) {
            return refuse(name, "is set by wrun alone");
        }
        if value.len() > MAXIMUM_VALUE {
            return refuse(name, "is too long");
        }
    }
    Ok(())
}
