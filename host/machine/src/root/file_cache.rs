//! Chef's file cache. Cookbooks put downloads into it without creating it, because Chef creates it before a run.

use super::{Fault, ModeBits, Root, Site};
use contract::FileCall;
use rustix::io::Errno;

/// The mode of the folders, whatever the file mode creation mask is: everybody may read, and only root may write, as in Chef.
const MODE: u32 = 0o755;

impl Root {
    /// Creates the missing folders. The host needs them itself and no resource asked for them, so creating them needs no
    /// grant; writing into them does. An operator may place the cache elsewhere by a link. But a policy that may manage such
    /// a folder can also create a link there. So the function does not create folders behind a link into a path that
    /// `guarded` protects.
    ///
    /// # Errors
    /// The kernel refuses a call, or a link leads to a guarded path.
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
