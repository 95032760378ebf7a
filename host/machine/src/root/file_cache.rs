//! Chef's file cache, which cookbooks put downloads into and never make themselves: Chef makes it before a run.

use super::{Fault, ModeBits, Root, Site};
use contract::FileCall;
use rustix::io::Errno;

/// Everybody may read what is in there, and only root writes, whatever the file mode creation mask: as Chef's.
const MODE: u32 = 0o755;

impl Root {
    /// Makes the folders that are missing. It is the host's own doing and nobody's wish, so no grant is asked; who may
    /// write into them is. An operator may keep it elsewhere by a link; but a policy that may manage such a folder can lay
    /// one too, so nothing is made where `guarded` says that more than a file would come of it.
    ///
    /// # Errors
    /// The kernel refuses; or a link leads to something guarded.
    pub fn make_file_cache(&self, path: &str, guarded: impl Fn(&str) -> bool) -> Result<(), Fault> {
        let ends = path.match_indices('/').map(|(at, _)| at).skip(1).chain([path.len()]);
        for folder in ends.filter_map(|end| path.get(..end)) {
            let place = self.locate(folder)?;
            if place.real() != folder && guarded(place.real()) {
                return Err(Fault::new(Errno::LOOP, FileCall::MakeDirectory, folder));
            }
            match Site::new(place).make_directory(ModeBits::plain(MODE)) {
                Err(fault) if fault.errno != Errno::EXIST => return Err(fault),
                _ => {}
            }
        }
        Ok(())
    }
}
