//! Archives of all kinds, packed here: only `tar` is on every machine.

use crate::support::Bench;
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;
use std::process::Command;
use zip::write::FullFileOptions;

/// Packs the folder `top` in every way, and returns the archives' names.
pub(crate) fn pack(bench: &Bench) -> [&'static str; 5] {
    let tar = Command::new("tar").args(["cf", "-", "top"]).current_dir(&bench.root).output().unwrap();
    assert!(tar.status.success());
    let tar = tar.stdout;
    let write = |name: &str, bytes: Vec<u8>| std::fs::write(bench.path(name), bytes).unwrap();
    let mut gzip = flate2::write::GzEncoder::new(vec![], flate2::Compression::fast());
    gzip.write_all(&tar).unwrap();
    let mut bzip2 = bzip2::write::BzEncoder::new(vec![], bzip2::Compression::fast());
    bzip2.write_all(&tar).unwrap();
    let mut xz = lzma_rust2::XzWriter::new(vec![], lzma_rust2::XzOptions::with_preset(1)).unwrap();
    xz.write_all(&tar).unwrap();
    write("x.tar.gz", gzip.finish().unwrap());
    write("x.tbz", bzip2.finish().unwrap());
    write("x.tar.xz", xz.finish().unwrap());
    write("x.tar", tar);
    let mut zip = zip::ZipWriter::new(std::fs::File::create(bench.path("x.zip")).unwrap());
    add(&mut zip, &bench.root, "top");
    zip.finish().unwrap();
    ["x.tar", "x.tar.gz", "x.tbz", "x.tar.xz", "x.zip"]
}

fn add(zip: &mut zip::ZipWriter<std::fs::File>, root: &Path, path: &str) {
    let full = root.join(path);
    let about = full.symlink_metadata().unwrap();
    // When it changed, as Unix counts: the format's own time is that of a wall clock.
    let mut times = vec![1];
    times.extend(u32::try_from(about.mtime()).unwrap().to_le_bytes());
    let mut options = FullFileOptions::default().unix_permissions(about.permissions().mode() & 0o7777);
    options.add_extra_field(0x5455, times, false).unwrap();
    if about.is_dir() {
        zip.add_directory(path, options).unwrap();
        let mut names: Vec<_> = std::fs::read_dir(full).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names.iter().for_each(|name| add(zip, root, &format!("{path}/{}", name.to_str().unwrap())));
    } else if about.is_symlink() {
        zip.add_symlink(path, std::fs::read_link(full).unwrap().to_str().unwrap(), options).unwrap();
    } else {
        zip.start_file(path, options).unwrap();
        zip.write_all(&std::fs::read(full).unwrap()).unwrap();
    }
}
