//! A small HTTP server on the loopback, for tests of downloads. It records all requests, and no traffic leaves the machine.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use anyhow::{Context as _, Result};
use nix::sched::{CloneFlags, setns};

use crate::machine::Machine;

/// Largest size of a request, in bytes. Tests send short requests.
const REQUEST_LIMIT: usize = 1024 * 1024;

/// The server's response for one path.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The status code.
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    /// If it is set and the request has `If-None-Match` with this value, the response is 304 without a body.
    pub entity_tag: Option<String>,
}

impl Answer {
    /// Returns a successful response with a body.
    #[must_use]
    pub fn ok(body: impl Into<Vec<u8>>) -> Self {
        Self { status: 200, headers: Vec::new(), body: body.into(), entity_tag: None }
    }

    /// Returns a redirect to an address.
    #[must_use]
    pub fn redirect(to: impl Into<String>) -> Self {
        Self { status: 302, headers: vec![("Location".to_owned(), to.into())], body: Vec::new(), entity_tag: None }
    }

    /// Returns a response with a status and without a body.
    #[must_use]
    pub fn status(status: u16) -> Self {
        Self { status, headers: Vec::new(), body: Vec::new(), entity_tag: None }
    }

    /// Sets an entity tag, which is compared with that of conditional requests.
    #[must_use]
    pub fn with_entity_tag(mut self, tag: impl Into<String>) -> Self {
        self.entity_tag = Some(tag.into());
        self
    }
}

/// One request as received.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    pub method: String,
    pub path: String,
    /// The headers by their names in lower case.
    pub headers: BTreeMap<String, String>,
    pub body: Vec<u8>,
}

/// Checks a request before the response. If it returns a response, that one is sent instead.
type Guard = Box<dyn Fn(&Request) -> Option<Answer> + Send>;

#[derive(Default)]
struct Shared {
    guard: Option<Guard>,
    answers: BTreeMap<String, Answer>,
    requests: Vec<Request>,
    stopped: bool,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Shared").field("answers", &self.answers).finish_non_exhaustive()
    }
}

/// A running server, which stops when it is dropped.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    shared: Arc<Mutex<Shared>>,
    network_file: Option<std::path::PathBuf>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Listens on a free port of the machine's loopback. This is a separate one if the machine has its own network.
    pub fn start(machine: &Machine<'_>) -> Result<Self> {
        let network_file = machine.network_file();
        let inside = network_file.clone();
        let listener = std::thread::spawn(move || -> Result<TcpListener> {
            // The change of network affects only this thread, and a socket stays in the network in which it was created.
            enter(inside.as_deref())?;
            TcpListener::bind(("127.0.0.1", 0)).context("cannot listen on the loopback")
        });
        let listener = listener.join().map_err(|_| anyhow::anyhow!("the server's thread ended early"))??;
        Self::on(listener, network_file)
    }

    /// Listens on a free port of the developer's own loopback.
    pub fn here() -> Result<Self> {
        Self::on(TcpListener::bind(("127.0.0.1", 0)).context("cannot listen on the loopback")?, None)
    }

    fn on(listener: TcpListener, network_file: Option<std::path::PathBuf>) -> Result<Self> {
        let address = listener.local_addr()?;
        let shared = Arc::new(Mutex::new(Shared::default()));
        let served = Arc::clone(&shared);
        let thread = std::thread::spawn(move || serve(&listener, &served));
        Ok(Self { address, shared, network_file, thread: Some(thread) })
    }

    /// Returns the complete address of a path.
    #[must_use]
    pub fn address(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Sets or replaces the response for a path. Other paths get 404.
    pub fn answer(&self, path: &str, answer: Answer) {
        lock(&self.shared).answers.insert(path.to_owned(), answer);
    }

    /// Returns the response for a path, if one is set.
    #[must_use]
    pub fn answered(&self, path: &str) -> Option<Answer> {
        lock(&self.shared).answers.get(path).cloned()
    }

    /// Sets the guard that checks every request before the response.
    pub fn guard(&self, guard: impl Fn(&Request) -> Option<Answer> + Send + 'static) {
        lock(&self.shared).guard = Some(Box::new(guard));
    }

    /// Returns all requests so far, in order.
    #[must_use]
    pub fn requests(&self) -> Vec<Request> {
        lock(&self.shared).requests.clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        lock(&self.shared).stopped = true;
        let (address, file) = (self.address, self.network_file.take());
        // The listener waits for a connection, so a last one is made here to end it.
        let waker = std::thread::spawn(move || {
            let _ignored = enter(file.as_deref()).map(|()| TcpStream::connect(address));
        });
        let _ignored = waker.join();
        if let Some(thread) = self.thread.take() {
            let _ignored = thread.join();
        }
    }
}

fn enter(network_file: Option<&std::path::Path>) -> Result<()> {
    let Some(path) = network_file else { return Ok(()) };
    let file = std::fs::File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
    setns(file, CloneFlags::CLONE_NEWNET).context("cannot join the machine's network")
}

fn lock(shared: &Mutex<Shared>) -> std::sync::MutexGuard<'_, Shared> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

fn serve(listener: &TcpListener, shared: &Mutex<Shared>) {
    for stream in listener.incoming() {
        if lock(shared).stopped {
            return;
        }
        // A client that disconnects early is the concern of that client's test.
        let _ignored = stream.map_err(anyhow::Error::from).and_then(|stream| serve_one(&stream, shared));
    }
}

fn serve_one(stream: &TcpStream, shared: &Mutex<Shared>) -> Result<()> {
    let request = read_request(stream)?;
    let answer = {
        let shared = lock(shared);
        let refused = shared.guard.as_ref().and_then(|guard| guard(&request));
        refused.or_else(|| shared.answers.get(&request.path).cloned()).unwrap_or_else(|| Answer::status(404))
    };
    let unchanged = answer.entity_tag.is_some() && answer.entity_tag.as_ref() == request.headers.get("if-none-match");
    let (status, body) = if unchanged { (304, &[][..]) } else { (answer.status, answer.body.as_slice()) };
    let mut head = format!("HTTP/1.1 {status} Answer\r\nConnection: close\r\nContent-Length: {}\r\n", body.len());
    for (name, value) in &answer.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    if let Some(tag) = &answer.entity_tag {
        head.push_str(&format!("ETag: {tag}\r\n"));
    }
    let is_head = request.method == "HEAD";
    lock(shared).requests.push(request);
    let mut stream = stream;
    stream.write_all(head.as_bytes())?;
    stream.write_all(b"\r\n")?;
    if !is_head {
        stream.write_all(body)?;
    }
    Ok(())
}

fn read_request(stream: &TcpStream) -> Result<Request> {
    let mut reader = BufReader::new(std::io::Read::take(stream, REQUEST_LIMIT as u64));
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let mut words = line.split_whitespace();
    let method = words.next().context("the request has no method")?.to_owned();
    let path = words.next().context("the request has no path")?.to_owned();
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.insert(name.to_lowercase(), value.trim().to_owned());
    }
    let length = headers.get("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    let mut body = Vec::new();
    reader.by_ref().take(length).read_to_end(&mut body)?;
    Ok(Request { method, path, headers, body })
}
