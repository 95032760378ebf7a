//! Limits the number of bytes that are read from an archive. The description of an entry (long names, extensions, the map of
//! a sparse file) is read into memory before this code sees the entry. So the underlying reader must enforce the limit.

use std::cell::Cell;
use std::io::{self, Read};

/// Maximum size of the description of one entry, in bytes: names, extensions, the parts of a sparse file.
pub(super) const MAX_DESCRIPTION: u64 = 4 << 20;

/// The present position in an archive, and the position where reading must stop.
pub(super) struct Meter {
    position: Cell<u64>,
    limit: Cell<u64>,
}

impl Meter {
    /// Creates a meter at the beginning of an archive, which allows a first description.
    pub(super) fn new() -> Self {
        Self { position: Cell::new(0), limit: Cell::new(MAX_DESCRIPTION) }
    }

    /// Returns a reader that stops at the limit.
    pub(super) fn reads<R: Read>(&self, reader: R) -> Metered<'_, R> {
        Metered { reader, meter: self }
    }

    /// Allows so many bytes of content from here on, and one description after them.
    pub(super) fn allow(&self, content: u64) {
        let end = self.position.get().saturating_add(content);
        self.limit.set(end.saturating_add(MAX_DESCRIPTION));
    }
}

/// A reader that fails at the limit. It does not return an end of file, which would look like a complete archive.
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
        let description = usize::try_from(MAX_DESCRIPTION).unwrap();
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
