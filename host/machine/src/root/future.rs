//! Resolves paths whose last parts do not exist yet.

use super::{Entry, Fault, Kind, MAX_BLIND_LINKS, Place, Root, absent, check, walk};
use contract::FileCall;
use rustix::io::Errno;
use std::ops::ControlFlow;

/// The place that a path would lead to if its missing parts were created.
#[derive(Debug)]
pub struct FuturePlace {
    /// The deepest existing entry of the path.
    pub base: Place,
    /// The attributes of that entry.
    pub entry: Entry,
    /// The missing names below it, in order.
    pub missing: Vec<String>,
}

/// The deepest existing entry of a path, and the missing names below it.
type Deepest = (Place, Entry, Vec<String>);

impl FuturePlace {
    /// Returns the real path of the whole.
    pub fn real(&self) -> String {
        self.real_paths().pop().unwrap_or_else(|| self.base.real.clone())
    }

    /// Returns the real paths of the missing parts, in order.
    pub fn real_paths(&self) -> Vec<String> {
        let base = self.base.real.trim_end_matches('/');
        let grow = |path: &mut String, name: &String| {
            path.push('/');
            path.push_str(name);
            Some(path.clone())
        };
        self.missing.iter().scan(base.to_owned(), grow).collect()
    }
}

impl Root {
    /// Resolves an absolute path as if its missing parts existed: returns the real path of the deepest existing entry, and
    /// the missing names below it.
    ///
    /// # Errors
    /// The path is malformed, forms a circle, or may not be searched.
    pub fn future_place(&self, path: &str) -> Result<FuturePlace, Fault> {
        let (base, entry, missing) = self.deepest(path)?;
        let future_place = FuturePlace { base, entry, missing };
        self.asked.note(path, &future_place.real());
        Ok(future_place)
    }

    /// Returns the deepest existing entry of a path, and the missing names below it. A dangling link is followed to its
    /// target, just as a link to an existing entry. So the grant check is the same for both.
    fn deepest(&self, path: &str) -> Result<Deepest, Fault> {
        check(path)?;
        let mut path = path.to_owned();
        for _ in 0..=MAX_BLIND_LINKS {
            path = walk::by_text(path.split('/'));
            check(&path)?;
            path = match self.deepest_or_link(&path)? {
                ControlFlow::Break(found) => return Ok(found),
                ControlFlow::Continue(behind_link) => behind_link,
            };
        }
        Err(Fault::new(Errno::LOOP, FileCall::Open, &path))
    }

    /// Does one round of [`deepest`](Self::deepest): returns the result, or the target of a dangling link.
    fn deepest_or_link(&self, path: &str) -> Result<ControlFlow<Deepest, String>, Fault> {
        let names: Vec<&str> = path.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
        for end in (0..=names.len()).rev() {
            let (there, missing) = names.split_at_checked(end).unwrap_or_default();
            let there = format!("/{}", there.join("/"));
            if let Some(place) = absent(self.find_target(&there))?
                && let Some(entry) = absent(place.entry())?
            {
                let missing = missing.iter().map(|name| (*name).to_owned()).collect();
                return Ok(ControlFlow::Break((place, entry, missing)));
            }
            let Some(place) = absent(self.find(&there))? else { continue };
            if absent(place.entry())?.is_some_and(|entry| entry.kind == Kind::Link) {
                let text = place.read_link()?;
                let parent = place.real().rsplit_once('/').map_or("", |(parent, _)| parent);
                let target = if text.starts_with('/') { text } else { format!("{parent}/{text}") };
                return Ok(ControlFlow::Continue(format!("{target}/{}", missing.join("/"))));
            }
        }
        Err(Fault::new(Errno::NOENT, FileCall::Open, path))
    }
}
