//! Where wrun's own files are, as the policies' paths would name them: rules with wildcards do not reach them.

use crate::grants_files::GrantsFiles;
use crate::settings::{LogLocation, Settings};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The paths, from inside the root, of all that the settings name and that is inside it: as they are written, for who
/// replaces a link on the way replaces what is behind it, and resolved, for that is what grants are asked about.
pub(super) fn inside(settings: &Settings, config: Option<&Path>) -> Vec<String> {
    let log = match &settings.log_location {
        LogLocation::File(path) => Some(path),
        LogLocation::Stderr | LogLocation::Journald => None,
    };
    let always = [&settings.state_dir, &settings.cache_dir, &settings.backup_dir, &settings.policies, &settings.grants];
    let named = [&settings.data_bags, &settings.encrypted_data_bag_secret, &settings.runtime_dir];
    let more_grants = GrantsFiles::folder(&settings.grants);
    let always = always.into_iter().chain([&more_grants]);
    let all = always.chain(named.into_iter().flatten()).chain(log).map(PathBuf::as_path);
    let config = config.map_or_else(crate::commands::settings_file, Path::to_owned);
    let roots = both(&settings.root);
    let mut found = Vec::new();
    for path in all.chain([config.as_path()]).flat_map(both) {
        for root in &roots {
            // What holds the whole root says nothing about what is in it.
            let Some(rest) = path.strip_prefix(root).ok().filter(|rest| !rest.as_os_str().is_empty()) else { continue };
            found.push(format!("/{}", rest.display()));
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// A path as it is written, and resolved.
fn both(path: &Path) -> [PathBuf; 2] {
    let written = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let resolved = resolved(&written);
    [written, resolved]
}

/// Where a path leads, or would lead if what is missing were made.
fn resolved(path: &Path) -> PathBuf {
    let mut missing: Vec<OsString> = vec![];
    let mut there = path;
    loop {
        if let Ok(found) = there.canonicalize() {
            return missing.iter().rev().fold(found, |path, name| path.join(name));
        }
        let (Some(parent), Some(name)) = (there.parent(), there.file_name()) else { return path.to_owned() };
        missing.push(name.to_owned());
        there = parent;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::{Layer, resolve};
    use std::collections::BTreeMap;

    #[test]
    fn paths_are_those_inside_the_root_also_over_links_and_where_nothing_is_yet() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        std::fs::create_dir_all(top.join("root/real")).unwrap();
        std::os::unix::fs::symlink("real", top.join("root/link")).unwrap();
        let text = format!(
            "root = '{0}/root'\nstate_dir = '{0}/root/new/state'\ngrants = '{0}/root/link/grants.toml'\ncache_dir = '{0}/cache'\n",
            top.display()
        );
        let layer: Layer = toml::from_str(&text).unwrap();
        let settings = resolve(Layer::default(), &BTreeMap::new(), layer).unwrap();
        let found = inside(&settings, Some(&top.join("root/wrun.toml")));
        let expect = [
            "/link/grants.d",
            "/link/grants.toml",
            "/new/state",
            "/new/state/backup",
            "/real/grants.d",
            "/real/grants.toml",
            "/wrun.toml",
        ];
        assert_eq!(found, expect);
    }
}
