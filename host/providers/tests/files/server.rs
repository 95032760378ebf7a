//! An HTTP server on the loopback interface.

use std::io::{BufRead, BufReader, Read as _, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// What is asked: the path, and the header fields in lower case.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) path: String,
    pub(crate) fields: Vec<(String, String)>,
}

impl Request {
    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }
}

pub(crate) struct Server {
    port: u16,
    requests: Arc<Mutex<Vec<Request>>>,
}

impl Server {
    /// Answers each request with what the function returns: everything after `HTTP/1.1 `.
    pub(crate) fn start(answer: impl Fn(&Request) -> Vec<u8> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&requests);
        let answer = Arc::new(answer);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (seen, answer) = (Arc::clone(&seen), Arc::clone(&answer));
                std::thread::spawn(move || serve(stream.unwrap(), &seen, answer.as_ref()));
            }
        });
        Self { port, requests }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }
}

fn serve(mut stream: TcpStream, seen: &Mutex<Vec<Request>>, answer: &(impl Fn(&Request) -> Vec<u8> + ?Sized)) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut lines = reader.by_ref().lines().map_while(Result::ok);
    let Some(first) = lines.next() else { return };
    let fields = lines.take_while(|line| !line.is_empty());
    let fields =
        fields.filter_map(|line| line.split_once(": ").map(|(name, value)| (name.to_lowercase(), value.to_owned())));
    let request = Request { path: first.split(' ').nth(1).unwrap_or_default().to_owned(), fields: fields.collect() };
    // A body that nobody reads would make the kernel cut the connection before the answer is read.
    let length = request.field("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    std::io::copy(&mut reader.take(length), &mut std::io::sink()).unwrap();
    let bytes = answer(&request);
    seen.lock().unwrap().push(request);
    let _ = stream.write_all(b"HTTP/1.1 ");
    let _ = stream.write_all(&bytes);
}

/// An answer with a body.
pub(crate) fn answer(status: &str, fields: &[(&str, &str)], body: &[u8]) -> Vec<u8> {
    let mut text = format!("{status}\r\nconnection: close\r\n");
    for (name, value) in fields {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    if !status.starts_with("304") {
        text.push_str(&format!("content-length: {}\r\n", body.len()));
    }
    text.push_str("\r\n");
    [text.as_bytes(), body].concat()
}

/// A plain success.
pub(crate) fn ok(body: &str) -> Vec<u8> {
    answer("200 OK", &[], body.as_bytes())
}

/// The address of something that says the same to whoever connects, and hangs up.
pub(crate) fn talker(says: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let _ = std::io::Read::read(&mut stream, &mut [0; 4096]);
            let _ = stream.write_all(says.as_bytes());
        }
    });
    format!("http://{address}/")
}
