//! Limits for long steps of the host: each read is counted, and reading stops when the policy's time is over or a signal ends
//! the run.

use contract::Account;
use std::io::{self, Read};

/// The number of bytes that count as one unit of work.
pub(crate) const BYTES_PER_UNIT: u64 = 64;

/// Counts bytes that the host reads as work of the policy.
///
/// # Errors
/// The policy must end. The error has the kind `TimedOut`; the runner reports the reason.
pub fn looked_at(account: &Account, bytes: usize) -> io::Result<()> {
    account.work(bytes as u64 / BYTES_PER_UNIT + 1).map_err(|ended| io::Error::new(io::ErrorKind::TimedOut, ended))
}

/// A reader that counts the bytes it returns.
pub struct Paced<R> {
    inner: R,
    account: Account,
}

impl<R> Paced<R> {
    pub fn new(inner: R, account: &Account) -> Self {
        Self { inner, account: account.clone() }
    }
}

impl<R: Read> Read for Paced<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.inner.read(buffer)?;
        looked_at(&self.account, length)?;
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use contract::{Account, Stop, StopReason};

    #[test]
    fn a_reader_ends_with_a_signal() {
        let (account, stop) = (Account::unmetered("web"), Stop::default());
        account.begin_turn(stop.clone());
        let endless = || Paced::new(io::repeat(0), &account);
        assert_eq!(io::copy(&mut endless().take(1 << 20), &mut io::sink()).unwrap(), 1 << 20);
        assert!(account.usage().work >= (1 << 20) / BYTES_PER_UNIT);
        stop.request(StopReason::Signal(15));
        let ended = io::copy(&mut endless(), &mut io::sink()).unwrap_err();
        assert_eq!(ended.to_string(), "was stopped by SIGTERM");
    }
}
