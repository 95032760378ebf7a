//! Connections that are watched below everything that decodes what arrives: encryption, header fields, compression.
//!
//! A server can send without an end what decoders turn into nothing. So each arrival of bytes is looked at here: what was
//! computed for it is charged to the policy, and the connection ends when nobody waits for the download any more.
//!
//! `ureq` promises nothing for its interface of transports between versions. Whoever takes a newer one may have to change this file.

use super::resolving::GrantedAddresses;
use contract::Account;
use grants::{GrantedUrl, is_local_address};
use rustix::time::{ClockId, clock_gettime};
use std::cell::RefCell;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use ureq::unversioned::transport::{
    Buffers, ConnectionDetails, Connector, NextTimeout, RustlsConnector, TcpConnector, Transport,
};
use ureq::{Agent, Error, config::Config};

/// How long a silent server is waited for before it is looked whether anybody still waits.
const LOOK: Duration = Duration::from_millis(500);

thread_local! {
    /// The download that this thread works for.
    static DOWNLOAD: RefCell<Option<Watch>> = const { RefCell::new(None) };

    /// The URL that this thread asks for.
    static URL: RefCell<Option<GrantedUrl>> = const { RefCell::new(None) };
}

/// Does work on the calling thread that asks for a URL.
pub(super) fn for_url<T>(url: GrantedUrl, work: impl FnOnce() -> T) -> T {
    URL.with_borrow_mut(|present| *present = Some(url));
    let done = work();
    URL.with_borrow_mut(|present| *present = None);
    done
}

/// Returns the URL that the calling thread asks for.
pub(super) fn url_of_thread() -> Option<GrantedUrl> {
    URL.with_borrow(Clone::clone)
}

/// What is known of a download, shared by its thread and by whoever waits for it.
#[derive(Debug, Clone)]
pub(super) struct Watch(Arc<Watched>);

#[derive(Debug)]
struct Watched {
    account: Account,
    /// Nobody waits any more.
    is_over: AtomicBool,
    /// Bytes that arrived, and nobody has counted yet.
    received: AtomicU64,
    /// Processor time of the thread that was charged, in nanoseconds.
    charged: AtomicU64,
}

impl Watch {
    pub(super) fn new(account: &Account) -> Self {
        Self(Arc::new(Watched {
            account: account.clone(),
            is_over: AtomicBool::new(false),
            received: AtomicU64::new(0),
            charged: AtomicU64::new(0),
        }))
    }

    /// From now on the calling thread works for this download alone.
    pub(super) fn begin(&self) {
        DOWNLOAD.with_borrow_mut(|download| *download = Some(self.clone()));
    }

    /// Nobody waits any more: the connection ends.
    pub(super) fn end(&self) {
        self.0.is_over.store(true, Ordering::Relaxed);
    }

    /// Returns how many bytes arrived since the last call.
    pub(super) fn received(&self) -> u64 {
        self.0.received.swap(0, Ordering::Relaxed)
    }

    /// Charges what the calling thread, which is the download's own, has computed.
    pub(super) fn charge(&self) {
        let now = clock_gettime(ClockId::ThreadCPUTime);
        let seconds = u64::try_from(now.tv_sec).unwrap_or_default();
        let now = Duration::new(seconds, u32::try_from(now.tv_nsec).unwrap_or_default());
        let before = self.0.charged.swap(u64::try_from(now.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
        self.0.account.host_worked(now.saturating_sub(Duration::from_nanos(before)));
    }

    fn look(&self) -> Result<(), Error> {
        if self.0.is_over.load(Ordering::Relaxed) {
            return Err(io::Error::from(io::ErrorKind::ConnectionAborted).into());
        }
        Ok(())
    }
}

/// An agent whose connections are watched. It speaks to servers directly, and encrypts with rustls.
pub(super) fn agent(config: Config) -> Agent {
    let connector = ().chain(TcpConnector::default()).chain(Watching).chain(RustlsConnector::default());
    Agent::with_parts(config, connector, GrantedAddresses::default())
}

/// Has each connection watched.
#[derive(Debug)]
struct Watching;

impl<In: Transport> Connector<In> for Watching {
    type Out = WatchedConnection<In>;

    fn connect(&self, details: &ConnectionDetails<'_>, chained: Option<In>) -> Result<Option<Self::Out>, Error> {
        let is_local = details.addrs.iter().any(|address| is_local_address(address.ip()));
        Ok(chained.map(|connection| WatchedConnection { connection, is_local }))
    }
}

/// A connection whose bytes are counted for the download that the thread works for.
#[derive(Debug)]
struct WatchedConnection<In> {
    connection: In,
    /// It is to this machine or its closest surroundings. Such a connection is used once: whether the next request may go there
    /// is known when its name is resolved.
    is_local: bool,
}

impl<In: Transport> Transport for WatchedConnection<In> {
    fn buffers(&mut self) -> &mut dyn Buffers {
        self.connection.buffers()
    }

    fn transmit_output(&mut self, amount: usize, timeout: NextTimeout) -> Result<(), Error> {
        if let Some(watch) = DOWNLOAD.with_borrow(Clone::clone) {
            watch.charge();
            watch.look()?;
        }
        self.connection.transmit_output(amount, timeout)
    }

    fn await_input(&mut self, timeout: NextTimeout) -> Result<bool, Error> {
        let Some(watch) = DOWNLOAD.with_borrow(Clone::clone) else { return self.connection.await_input(timeout) };
        let timeout = timeout.for_read();
        let begun = Instant::now();
        loop {
            watch.charge();
            watch.look()?;
            let left = timeout.after.saturating_sub(begun.elapsed());
            let before = self.connection.buffers().input().len();
            match self.connection.await_input(NextTimeout { after: left.min(LOOK).into(), ..timeout }) {
                Err(Error::Timeout(_)) if left > LOOK => {}
                arrived => {
                    let now = self.connection.buffers().input().len();
                    watch.0.received.fetch_add(now.saturating_sub(before) as u64, Ordering::Relaxed);
                    return arrived;
                }
            }
        }
    }

    fn is_open(&mut self) -> bool {
        !self.is_local && self.connection.is_open()
    }

    fn is_tls(&self) -> bool {
        self.connection.is_tls()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Downloads, request_of};
    use contract::{Account, AccountLimits, HttpRequest, Meters, Stop};
    use std::io::{BufRead as _, BufReader, Write as _};
    use std::net::TcpListener;
    use std::time::{Duration, Instant};

    const GZIP: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n\x1f\x8b\x08\0\0\0\0\0\0\xff";
    const EMPTY_BLOCK: &[u8] = b"\0\0\0\xff\xff";

    /// Asks a server that sends `more` without an end, or nothing more, as a policy that has so much time.
    fn ask(begin: &'static [u8], more: &[u8], limits: AccountLimits) -> Account {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/a", listener.local_addr().unwrap());
        let more = more.repeat(10_000);
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut lines = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
            assert!(lines.by_ref().any(|line| line.is_empty()));
            let _ = stream.write_all(begin);
            if more.is_empty() {
                // The other end hangs up.
                return assert_eq!(lines.count(), 0);
            }
            while stream.write_all(&more).is_ok() {}
        });
        let account = Account::new("web", limits, Meters::default());
        account.begin_turn(Stop::default());
        let request = HttpRequest { method: "GET".into(), url, headers: vec![], body: None };
        let grants = grants::Grants::allow_all().policy("web", &[]);
        request_of(&request, &grants, Downloads::default(), &account).unwrap_err();
        let begun = Instant::now();
        server.join().unwrap();
        assert!(begun.elapsed() < Duration::from_secs(60), "the connection ends soon after the policy");
        account
    }

    #[test]
    fn attack_bytes_that_decoders_turn_into_nothing_are_charged() {
        let limits = AccountLimits {
            host_time: Duration::from_millis(200),
            wall: Duration::from_secs(60),
            ..AccountLimits::default()
        };
        let account = ask(GZIP, EMPTY_BLOCK, limits);
        let ended = account.check().unwrap_err().to_string();
        assert!(ended.contains("host_seconds"), "{ended}");
        assert!(account.usage().work > 1_000, "{:?}", account.usage());
    }

    #[test]
    fn attack_a_silent_connection_ends_with_its_policy() {
        let limits = AccountLimits { wall: Duration::from_millis(300), ..AccountLimits::default() };
        for begin in [b"".as_slice(), b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"] {
            let ended = ask(begin, b"", limits).check().unwrap_err().to_string();
            assert!(ended.contains("wall_seconds"), "{ended}");
        }
    }
}
