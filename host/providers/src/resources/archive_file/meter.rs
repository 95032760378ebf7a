//! How far into an archive may be read. What describes an entry (long names, extensions, the map of a sparse file) is read
//! into memory before anybody sees the entry, so it is the reader below that has to stop.

use std::cell::Cell;
use std::io::{self, Read};

/// The most bytes that describe one entry: names, extensions, the parts of a sparse file.
pub(super) const MAXIMUM_DESCRIPTION: u64 = 4 << 20;

/// Where the reading of an archive has come to, and where it has to stop.
pub(super) struct Meter {
    position: Cell<u64>,
    limit: Cell<u64>,
}

impl Meter {
    /// At the beginning: a first description may be read.
    pub(super) fn new() -> Self {
        Self { position: Cell::new(0), limit: Cell::new(MAXIMUM_DESCRIPTION) }
    }

    /// A reader that stops where this says.
    pub(super) fn reads<R: Read>(&self, reader: R) -> Metered<'_, R> {
        Metered { reader, meter: self }
    }

    /// Lets so many bytes of content be read, which begin here, and one description after them.
    pub(super) fn allow(&self, content: u64) {
        let end = self.position.get().saturating_add(content);
        self.limit.set(end.saturating_add(MAXIMUM_DESCRIPTION));
    }
}

/// A reader that fails where the meter says, rather than end: an end would pass for a whole archive.
pub(super) struct Metered<'a, R> {
    reader: R,
    meter: &'a Meter,
}

impl<R: Read> Read for Metered<'_, R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let Meter { position, limit } = self.meter;
        let left = usize::try_from(limit.get().saturating_sub(position.get())).unwrap_or(usize::MAX);
        if left == 0 && !into.is_empty() {
            return Err(io::Error::other("an entry's names and the like are too long"));
        }
        let wanted = into.len().min(left);
        let length = self.reader.read(into.get_mut(..wanted).unwrap_or_default())?;
        position.set(position.get().saturating_add(u64::try_from(length).unwrap_or(u64::MAX)));
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_fails_behind_a_description_and_behind_content() {
        let meter = Meter::new();
        let mut reader = meter.reads(io::repeat(7));
        let description = usize::try_from(MAXIMUM_DESCRIPTION).unwrap();
        reader.read_exact(&mut vec![0; description]).unwrap();
        assert!(reader.read(&mut [0]).is_err());
        assert_eq!(reader.read(&mut []).unwrap(), 0);
        meter.allow(10);
        reader.read_exact(&mut vec![0; description + 10]).unwrap();
        assert!(reader.read(&mut [0]).is_err());
        meter.allow(u64::MAX);
        reader.read_exact(&mut [0; 99]).unwrap();
    }
}
