//! The places that root runs by itself, and that lead to them.

use super::MachineView;
use crate::pattern::PathPattern;
use crate::privileged::is_within;
use std::collections::HashMap;

/// Maximum size of all places, in bytes. Paths beyond it count as written, without the links on their way.
const MAX_BYTES: usize = 16 << 20;

/// The places that root runs by itself, each with the file that names it.
pub(super) struct RunByRoot<'m> {
    places: HashMap<String, &'m str>,
    /// The folders of which root may run anything.
    folders: Vec<(String, &'m str)>,
}

impl<'m> RunByRoot<'m> {
    /// Follows the links of all paths.
    pub(super) fn of(machine: &'m MachineView) -> Self {
        let mut found = Self { places: HashMap::new(), folders: vec![] };
        let mut bytes = 0;
        for (path, by) in &machine.run_by_root {
            let is_folder = path.ends_with('/');
            let path = path.trim_end_matches('/').to_owned();
            let places = if bytes < MAX_BYTES { machine.links.places(&path) } else { None };
            let places = places.unwrap_or_default();
            if is_folder {
                found
                    .folders
                    .extend([Some(&path), places.last()].into_iter().flatten().map(|path| (path.clone(), &**by)));
            }
            let written = path.match_indices('/').map(|(at, _)| at).skip(1).filter_map(|end| path.get(..end));
            for place in written.map(str::to_owned).chain(places).chain([path.clone()]) {
                bytes += place.len();
                found.places.entry(place).or_insert(by);
            }
        }
        found
    }

    /// Returns the file that makes root run something that a rule allows to change, also by a directory or link on the way.
    pub(super) fn named_by(&self, rule: &PathPattern) -> Option<&'m str> {
        let only_path = rule.only_path();
        let place = match &only_path {
            Some(path) => self.places.get(path).copied(),
            None => self.places.iter().filter(|(place, _)| rule.matches(place)).map(|(_, by)| *by).min(),
        };
        let beginning = only_path.as_deref().unwrap_or_else(|| rule.beginning()).trim_end_matches('/');
        let is_met =
            |folder: &str| is_within(beginning, folder) || (only_path.is_none() && folder.starts_with(beginning));
        place.or_else(|| self.folders.iter().find(|(folder, _)| is_met(folder)).map(|(_, by)| *by))
    }
}
