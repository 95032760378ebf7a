//! Reads archives: tar (also compressed with gzip, bzip2 or xz) and zip. The first bytes tell the format.
//!
//! The content of an archive is untrusted: names are checked before use, and counts and sizes are limited.

use super::meter::Meter;
use contract::{Account, ErrorKind, Raised};
use machine::pace::{Paced, looked_at};
use machine::root::Entry;
use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use tar::EntryType;
use zip::ZipArchive;
use zip::extra_fields::ExtraField;

/// Maximum number of entries in an archive.
const MAX_ENTRIES: usize = 500_000;

/// Maximum size of all unpacked entries of an archive, in bytes.
const MAX_UNPACKED: u64 = 64 << 30;

/// Maximum memory for decompression, in KiB.
const MAX_MEMORY: u32 = 160 << 10;

/// Maximum size of a zip's directory, in bytes. All its entries are in memory at once.
const MAX_DIRECTORY: usize = 16 << 20;

/// Maximum length of an entry's name and of a link's text, in bytes: the kernel's limit for paths.
const MAX_NAME: usize = 4096;

/// The block size of a tar, in bytes.
const BLOCK: u64 = 512;

/// Permission bits for entries of archives that were not created on Unix.
const FOREIGN_FILE: u32 = 0o664;
const FOREIGN_DIRECTORY: u32 = 0o775;

/// The kind of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    File,
    Directory,
    /// A symbolic link with its target as in the archive.
    Link(String),
    /// A hard link to an earlier entry.
    HardLink(String),
}

/// An entry to unpack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Item {
    /// The relative and clean path, without the stripped leading folders.
    pub(super) path: String,
    pub(super) kind: Kind,
    pub(super) mode: u32,
    /// The time of the last change, in seconds since 1970.
    pub(super) modified: i64,
    pub(super) owner: Option<(u32, u32)>,
}

/// The size of an archive and the time of its last change. A difference shows that the content changed.
pub(super) type Stamp = (u64, i64, u64);

/// A callback for each entry with its content.
pub(super) type Visit<'a> = dyn FnMut(Item, &mut dyn Read) -> Result<(), Raised> + 'a;

/// An open archive. Every pass starts at its beginning.
#[derive(Debug)]
pub(super) struct Archive {
    file: File,
    /// The account that pays for reading.
    account: Account,
    /// The number of leading folders that are stripped from each path.
    strip: usize,
}

impl Archive {
    pub(super) fn new(file: File, strip: usize, account: &Account) -> Self {
        Self { file, account: account.clone(), strip }
    }

    /// The size of the file in bytes, and the time of its last change in seconds and nanoseconds.
    ///
    /// # Errors
    /// The file's attributes cannot be read.
    pub(super) fn stamp(&self) -> Result<Stamp, Raised> {
        let entry = Entry::of_handle(&self.file).map_err(|error| broken(&error))?;
        Ok((entry.size, entry.modified, entry.modified_nanos))
    }

    /// Returns the same open archive for a later pass.
    ///
    /// # Errors
    /// There are too many open files.
    pub(super) fn again(&self) -> Result<Self, Raised> {
        let file = self.file.try_clone().map_err(|error| broken(&error))?;
        Ok(Self { file, account: self.account.clone(), strip: self.strip })
    }

    /// Calls the visitor for each entry. Entries without a path after stripping are skipped.
    ///
    /// # Errors
    /// The file is not an archive, is damaged, or contains an entry that must not be unpacked; or the visitor returns an
    /// error.
    pub(super) fn each(&mut self, visit: &mut Visit<'_>) -> Result<(), Raised> {
        let mut start = Vec::new();
        self.file.seek(SeekFrom::Start(0)).map_err(|error| broken(&error))?;
        (&self.file).take(6).read_to_end(&mut start).map_err(|error| broken(&error))?;
        self.file.seek(SeekFrom::Start(0)).map_err(|error| broken(&error))?;
        let (file, account) = (BufReader::new(&self.file), &self.account);
        match start.as_slice() {
            [0x1f, 0x8b, ..] => each_of_tar(flate2::read::MultiGzDecoder::new(file), self.strip, account, visit),
            [b'B', b'Z', b'h', ..] => each_of_tar(bzip2::read::MultiBzDecoder::new(file), self.strip, account, visit),
            [0xfd, b'7', b'z', b'X', b'Z', 0] => {
                each_of_tar(lzma_rust2::XzReader::new_mem_limit(file, true, MAX_MEMORY), self.strip, account, visit)
            }
            [b'P', b'K', 3, 4, ..] | [b'P', b'K', 5, 6, ..] => each_of_zip(&self.file, self.strip, account, visit),
            _ => each_of_tar(file, self.strip, account, visit),
        }
    }
}

fn each_of_tar(reader: impl Read, strip: usize, account: &Account, visit: &mut Visit<'_>) -> Result<(), Raised> {
    let meter = Meter::new();
    let mut archive = tar::Archive::new(meter.reads(Paced::new(reader, account).take(MAX_UNPACKED)));
    let mut left = MAX_UNPACKED;
    for (count, entry) in archive.entries().map_err(|error| broken(&error))?.enumerate() {
        within_limit(count)?;
        let mut entry = entry.map_err(|error| broken(&error))?;
        left = left.checked_sub(entry.size()).ok_or_else(too_much)?;
        meter.allow(stored(&mut entry)?);
        let name = entry.path_bytes().into_owned();
        let header = entry.header();
        let kind = header.entry_type();
        let number = |number: io::Result<u64>| number.map_err(|error| broken(&error));
        let mode = header.mode().map_err(|error| broken(&error))?;
        let modified = i64::try_from(number(header.mtime())?).unwrap_or(0);
        let owner = u32::try_from(number(header.uid())?).ok().zip(u32::try_from(number(header.gid())?).ok());
        let Some(path) = clean(&name, strip)? else { continue };
        let link = entry.link_name_bytes().map(|link| text(&link)).transpose()?.unwrap_or_default();
        let kind = match kind {
            EntryType::Regular | EntryType::Continuous | EntryType::GNUSparse => Kind::File,
            EntryType::Directory => Kind::Directory,
            EntryType::Symlink => Kind::Link(link),
            EntryType::Link => match clean(link.as_bytes(), strip)? {
                Some(original) => Kind::HardLink(original),
                None => continue,
            },
            EntryType::XGlobalHeader => continue,
            other => return Err(refused(&path, &format!("is neither file, directory nor link ({other:?})"))),
        };
        visit(Item { path, kind, mode, modified, owner }, &mut entry)?;
    }
    Ok(())
}

/// Returns the size of an entry's content in the archive. For a sparse file, holes are not stored.
fn stored(entry: &mut tar::Entry<'_, impl Read>) -> Result<u64, Raised> {
    let length = if entry.header().entry_type() == EntryType::GNUSparse {
        // A sparse file of the old format never has extensions, which could give a second size.
        if entry.pax_extensions().map_err(|error| broken(&error))?.is_some() {
            return Err(refused(&String::from_utf8_lossy(&entry.path_bytes()), "is a sparse file in two ways at once"));
        }
        entry.header().entry_size().map_err(|error| broken(&error))?
    } else {
        entry.size()
    };
    Ok(length.div_ceil(BLOCK).saturating_mul(BLOCK))
}

/// A zip file with a limit for the bytes that may be read until its directory is known.
struct Limited<'a> {
    file: &'a File,
    /// The number of bytes that may still be read. `None`: no limit.
    left: &'a Cell<Option<usize>>,
}

impl Read for Limited<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let Some(left) = self.left.get() else { return self.file.read(into) };
        if left == 0 && !into.is_empty() {
            return Err(io::Error::other("the archive's directory is too long"));
        }
        let wanted = into.len().min(left);
        let length = self.file.read(into.get_mut(..wanted).unwrap_or_default())?;
        self.left.set(Some(left.saturating_sub(length)));
        Ok(length)
    }
}

impl Seek for Limited<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

fn each_of_zip(file: &File, strip: usize, account: &Account, visit: &mut Visit<'_>) -> Result<(), Raised> {
    let damaged = |error: zip::result::ZipError| Raised::new(ErrorKind::InvalidArchive, error.to_string());
    let left = Cell::new(Some(MAX_DIRECTORY));
    let mut archive = ZipArchive::new(BufReader::new(Limited { file, left: &left })).map_err(damaged)?;
    left.set(None);
    let mut left = MAX_UNPACKED;
    for number in 0..archive.len() {
        within_limit(number)?;
        looked_at(account, 0).map_err(|error| broken(&error))?;
        let mut entry = archive.by_index(number).map_err(damaged)?;
        left = left.checked_sub(entry.size()).ok_or_else(too_much)?;
        let name = entry.name().map_err(damaged)?.into_owned();
        let Some(path) = clean(name.as_bytes(), strip)? else { continue };
        let directory = entry.is_dir();
        let foreign = if directory { FOREIGN_DIRECTORY } else { FOREIGN_FILE };
        let mode = entry.unix_mode().unwrap_or(foreign);
        let modified = modified(&entry);
        let kind = if directory {
            Kind::Directory
        } else if entry.is_symlink() {
            let mut link = Vec::new();
            // One more byte is read to detect a text that is too long.
            (&mut entry).take(MAX_NAME as u64 + 1).read_to_end(&mut link).map_err(|error| broken(&error))?;
            Kind::Link(text(&link)?)
        } else {
            Kind::File
        };
        let size = entry.size();
        visit(Item { path, kind, mode, modified, owner: None }, &mut Paced::new((&mut entry).take(size), account))?;
    }
    Ok(())
}

/// Returns the time of the last change of a file in a zip: the Unix time, or else the local time.
fn modified<R: Read>(entry: &zip::read::ZipFile<'_, R>) -> i64 {
    let unix = entry.extra_data_fields().find_map(|field| match field {
        ExtraField::ExtendedTimestamp(times) => times.mod_time(),
        _ => None,
    });
    if let Some(seconds) = unix {
        return i64::from(seconds);
    }
    let Some(time) = entry.last_modified() else { return 0 };
    let civil = || {
        let [month, day, hour, minute, second] =
            [time.month(), time.day(), time.hour(), time.minute(), time.second()].map(|part| i8::try_from(part).ok());
        jiff::civil::DateTime::new(i16::try_from(time.year()).ok()?, month?, day?, hour?, minute?, second?, 0).ok()
    };
    let zoned = civil().and_then(|civil| civil.to_zoned(jiff::tz::TimeZone::system()).ok());
    zoned.map_or(0, |zoned| zoned.timestamp().as_second())
}

fn broken(error: &io::Error) -> Raised {
    Raised::new(ErrorKind::InvalidArchive, format!("Unrecognized archive format, or a damaged archive: {error}"))
}

fn refused(path: &str, why: &str) -> Raised {
    let path: String = path.chars().take(200).collect();
    Raised::new(ErrorKind::InvalidArchive, format!("the archive's entry {path:?} {why}"))
}

fn too_much() -> Raised {
    Raised::new(ErrorKind::InvalidArchive, format!("the archive holds more than {MAX_UNPACKED} bytes"))
}

fn within_limit(count: usize) -> Result<(), Raised> {
    if count < MAX_ENTRIES {
        Ok(())
    } else {
        Err(Raised::new(ErrorKind::InvalidArchive, "the archive has too many entries"))
    }
}

fn text(bytes: &[u8]) -> Result<String, Raised> {
    if bytes.len() > MAX_NAME {
        let beginning = bytes.get(..MAX_NAME).unwrap_or_default();
        return Err(refused(&String::from_utf8_lossy(beginning), "has a name, or says one, that is too long"));
    }
    let text = std::str::from_utf8(bytes).ok().filter(|text| !text.contains('\0'));
    text.map(str::to_owned).ok_or_else(|| refused(&String::from_utf8_lossy(bytes), "has a name that is not UTF-8"))
}

/// Returns a checked path below the destination, or `None` if stripping leaves nothing. Absolute paths and paths that lead
/// out are refused; cutting off parts of them would unpack something other than what was packed.
fn clean(name: &[u8], strip: usize) -> Result<Option<String>, Raised> {
    let name = text(name)?;
    if name.starts_with('/') || name.split('/').any(|part| part == "..") {
        return Err(refused(&name, "leads out of the destination"));
    }
    let parts: Vec<&str> = name.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    Ok(parts.get(strip..).filter(|rest| !rest.is_empty()).map(|rest| rest.join("/")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_stay_inside() {
        let check = |name: &str, strip: usize, expect: Option<&str>| {
            assert_eq!(clean(name.as_bytes(), strip), Ok(expect.map(Into::into)), "{name}");
        };
        check("a/b", 0, Some("a/b"));
        check("./a//b/", 0, Some("a/b"));
        check("./", 0, None);
        check("a/b/c", 2, Some("c"));
        check("a/b", 2, None);
        check("a", 5, None);
        for bad in ["/etc/passwd", "../x", "a/../../x", "a/..", "x\0y"] {
            assert!(clean(bad.as_bytes(), 0).is_err(), "{bad}");
        }
        assert!(clean(b"\xff", 0).is_err());
    }

    fn header(kind: EntryType, size: u64) -> tar::Header {
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(kind);
        header.set_size(size);
        header.set_mode(0o644);
        header.set_uid(0);
        header.set_gid(0);
        header.set_mtime(0);
        header.as_gnu_mut().unwrap().name[..4].copy_from_slice(b"long");
        header
    }

    /// A tar of such a description of the next entry, with this much text.
    fn described(kind: EntryType, length: usize) -> Vec<u8> {
        let mut builder = tar::Builder::new(vec![]);
        let mut description = header(kind, length as u64);
        description.set_cksum();
        builder.append(&description, io::repeat(b'x').take(length as u64)).unwrap();
        let mut file = header(EntryType::Regular, 3);
        file.set_cksum();
        builder.append(&file, &b"abc"[..]).unwrap();
        builder.into_inner().unwrap()
    }

    /// A tar of one sparse file of this size, all hole but for its last bytes, and of a plain one.
    fn sparse(size: u64) -> Vec<u8> {
        let mut header = header(EntryType::GNUSparse, 5);
        let gnu = header.as_gnu_mut().unwrap();
        let octal = |into: &mut [u8; 12], number: u64| {
            // As numbers are written that octal digits have no room for.
            into[0] = 0x80;
            into[4..].copy_from_slice(&number.to_be_bytes());
        };
        octal(&mut gnu.sparse[0].offset, size - 5);
        octal(&mut gnu.sparse[0].numbytes, 5);
        octal(&mut gnu.realsize, size);
        header.set_cksum();
        let mut builder = tar::Builder::new(vec![]);
        builder.append(&header, &b"12345"[..]).unwrap();
        let mut plain = self::header(EntryType::Regular, 3);
        plain.set_cksum();
        builder.append(&plain, &b"abc"[..]).unwrap();
        builder.into_inner().unwrap()
    }

    /// The names and sizes of what comes out.
    fn unpack(bytes: &[u8]) -> Result<Vec<(String, u64)>, Raised> {
        let mut file = tempfile::tempfile().unwrap();
        io::Write::write_all(&mut file, bytes).unwrap();
        let mut found = vec![];
        Archive::new(file, 0, &Account::unmetered("test")).each(&mut |item, content| {
            found.push((item.path.chars().take(9).collect(), io::copy(content, &mut io::sink()).unwrap()));
            Ok(())
        })?;
        Ok(found)
    }

    #[test]
    fn what_describes_an_entry_is_bounded() {
        assert_eq!(unpack(&described(EntryType::GNULongName, 300)), Ok(vec![("xxxxxxxxx".into(), 3)]));
        for (length, why) in [(5000, "too long"), (9 << 20, "too long")] {
            for kind in [EntryType::GNULongName, EntryType::GNULongLink] {
                let raised = unpack(&described(kind, length)).unwrap_err();
                assert!(raised.message.contains(why) && raised.message.len() < 500, "{}", raised.message);
            }
        }
        let raised = unpack(&described(EntryType::XHeader, 9 << 20)).unwrap_err();
        assert!(raised.message.contains("names and the like are too long"), "{}", raised.message);
        let mut packed = bzip2::write::BzEncoder::new(vec![], bzip2::Compression::best());
        io::Write::write_all(&mut packed, &described(EntryType::GNULongName, 64 << 20)).unwrap();
        let raised = unpack(&packed.finish().unwrap()).unwrap_err();
        assert!(raised.message.contains("names and the like are too long"), "{}", raised.message);
    }

    #[test]
    fn what_comes_out_is_counted_as_it_comes_out() {
        assert_eq!(unpack(&sparse(1 << 20)), Ok(vec![("long".into(), 1 << 20), ("long".into(), 3)]));
        let raised = unpack(&sparse(4 << 40)).unwrap_err();
        assert!(raised.message.contains("holds more than"), "{}", raised.message);
    }

    #[test]
    fn what_is_no_archive_is_an_error() {
        for (bytes, well) in
            [(&b"just text, and not much of it"[..], false), (&b"\x1f\x8bxxxx"[..], false), (b"", true)]
        {
            let mut file = tempfile::tempfile().unwrap();
            io::Write::write_all(&mut file, bytes).unwrap();
            let said = Archive::new(file, 0, &Account::unmetered("test")).each(&mut |_item, _content| Ok(()));
            assert_eq!(said.is_ok(), well, "{said:?}");
        }
    }
}
