//! Waiting for servers. They are spoken to on a thread of its own, so that whoever waits hears of signals and of the end of
//! the policy's wall time, however slow a server is. The connection of a thread that nobody waits for any more ends soon.

use super::watched::Watch;
use crate::pace::BYTES_PER_UNIT;
use contract::{Account, Ended, ErrorKind, Raised};
use std::io::{self, Read};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

/// The interval for checking whether the policy may continue.
const LOOK: Duration = Duration::from_millis(100);

/// The size of one read, in bytes.
const CHUNK: usize = 64 << 10;

/// Runs code that waits for a server, on a separate thread.
///
/// # Errors
/// The policy must end, or the system cannot create a thread.
pub(super) fn awaited<T: Send + 'static>(
    account: &Account,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Raised> {
    let failed = |error: io::Error| Raised::new(ErrorKind::InputOutput, error.to_string());
    let handed = Handed::by(account, move |sender, watch| {
        let done = work();
        watch.charge();
        drop(sender.send(done));
    });
    handed.map_err(failed)?.next().map_err(failed)?.ok_or_else(|| failed(io::ErrorKind::BrokenPipe.into()))
}

/// A response body that a separate thread reads.
pub(super) struct Arriving {
    chunks: Handed<io::Result<Vec<u8>>>,
    /// The present chunk, and the number of its bytes that were already returned.
    present: (Vec<u8>, usize),
}

impl Arriving {
    /// Begins to read.
    ///
    /// # Errors
    /// The system cannot create a thread.
    pub(super) fn of(mut body: impl Read + Send + 'static, account: &Account) -> io::Result<Self> {
        let chunks = Handed::by(account, move |sender, watch| {
            let mut buffer = vec![0; CHUNK];
            loop {
                let read = body.read(&mut buffer).map(|length| buffer.get(..length).unwrap_or_default().to_vec());
                let is_last = read.as_ref().map_or(true, Vec::is_empty);
                watch.charge();
                if sender.send(read).is_err() || is_last {
                    return;
                }
            }
        })?;
        Ok(Self { chunks, present: (vec![], 0) })
    }
}

impl Read for Arriving {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.present.0.len() <= self.present.1 {
            self.present = (self.chunks.next()?.transpose()?.unwrap_or_default(), 0);
        }
        let (chunk, done) = &mut self.present;
        let length = chunk.get(*done..).unwrap_or_default().read(buffer)?;
        *done += length;
        Ok(length)
    }
}

/// What a thread hands over. When it is dropped, nobody waits for the thread any more.
struct Handed<T> {
    receiver: Receiver<T>,
    watch: Watch,
    account: Account,
}

impl<T: Send + 'static> Handed<T> {
    /// Starts a thread that sends values through a channel.
    fn by(account: &Account, work: impl FnOnce(SyncSender<T>, Watch) + Send + 'static) -> io::Result<Self> {
        let (sender, receiver) = sync_channel(1);
        let watch = Watch::new(account);
        let own = watch.clone();
        std::thread::Builder::new().name("download".into()).spawn(move || {
            own.begin();
            work(sender, own);
        })?;
        Ok(Self { receiver, watch, account: account.clone() })
    }

    /// Returns the next value that the thread hands over, or `None` at the end.
    fn next(&self) -> io::Result<Option<T>> {
        let ended = |ended: Ended| io::Error::new(io::ErrorKind::TimedOut, ended);
        loop {
            self.account.work(self.watch.received() / BYTES_PER_UNIT).map_err(ended)?;
            self.account.check_waiting().map_err(ended)?;
            match self.receiver.recv_timeout(LOOK) {
                Ok(handed) => return Ok(Some(handed)),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(None),
            }
        }
    }
}

impl<T> Drop for Handed<T> {
    fn drop(&mut self) {
        self.watch.end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use contract::{Stop, StopReason};

    /// A server that sends a byte now and then.
    struct Slow;

    impl Read for Slow {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            std::thread::sleep(Duration::from_millis(5));
            buffer.first_mut().map_or(Ok(0), |first| {
                *first = b'x';
                Ok(1)
            })
        }
    }

    #[test]
    fn a_slow_server_is_not_waited_for_after_a_signal() {
        let (account, stop) = (Account::unmetered("web"), Stop::default());
        account.begin_turn(stop.clone());
        let mut arriving = Arriving::of(Slow, &account).unwrap();
        let mut some = [0; 3];
        arriving.read_exact(&mut some).unwrap();
        assert_eq!(&some, b"xxx");
        stop.request(StopReason::Signal(15));
        assert_eq!(io::copy(&mut arriving, &mut io::sink()).unwrap_err().to_string(), "was stopped by SIGTERM");
        let silent = || std::thread::sleep(Duration::from_secs(3_600));
        assert_eq!(awaited(&account, silent).unwrap_err().message, "was stopped by SIGTERM");
    }

    #[test]
    fn all_that_is_sent_arrives() {
        let account = Account::unmetered("web");
        let sent: Vec<u8> = (0..300_000).map(|number| (number % 251) as u8).collect();
        let mut arrived = vec![];
        Arriving::of(io::Cursor::new(sent.clone()), &account).unwrap().read_to_end(&mut arrived).unwrap();
        assert_eq!(arrived, sent);
        assert_eq!(awaited(&account, || 7).unwrap(), 7);
        let broken = io::Cursor::new(vec![]).chain(Broken);
        assert!(Arriving::of(broken, &account).unwrap().read_to_end(&mut vec![]).is_err());
    }

    struct Broken;

    impl Read for Broken {
        fn read(&mut self, _buffer: &mut [u8]) -> io::Result<usize> {
            Err(io::ErrorKind::ConnectionReset.into())
        }
    }
}
