//! Finds wrun's own files, as policies would name their paths. Rules with wildcards do not match them.
//!
//! wrun runs as root, so the next run executes as root all that it loads: its program, libraries, runtimes, cookbooks and the
//! operator's handlers. These files are protected wherever they are, even if no setting names them.

use crate::error::AssembleError;
use crate::grants_files::GrantsFiles;
use crate::request::Request;
use crate::runtime;
use crate::settings::Settings;
use grants::OwnPlaces;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Returns the paths of wrun's own files inside the root, as seen from inside it. Each path is listed as written, because
/// replacing a link along it replaces the file behind the link. It is also listed with links resolved, because grants check
/// resolved paths.
///
/// # Errors
/// wrun cannot tell where its own program lies.
pub(crate) fn inside(settings: &Settings, request: &Request) -> Result<OwnPlaces, AssembleError> {
    let (program, mappings) = loaded().map_err(AssembleError::OwnProgram)?;
    let roots = both(&settings.root);
    let data = data(settings, request);
    let code = code(settings, request).into_iter().chain(files_and_folders(&program, &mappings));
    Ok(OwnPlaces { data: seen_from(&roots, data), code: seen_from(&roots, code) })
}

/// Returns the paths of settings, state, grants and attributes.
fn data(settings: &Settings, request: &Request) -> Vec<PathBuf> {
    let Settings { state_dir, cache_dir, backup_dir, grants, .. } = settings;
    let always = [state_dir, cache_dir, backup_dir, &settings.policies, grants, &GrantsFiles::folder(grants)];
    let named = [&settings.data_bags, &settings.roles, &settings.environments, &settings.encrypted_data_bag_secret];
    let folders = request.folders.iter();
    let folders = folders.flat_map(|folders| [&folders.roles, &folders.environments, &folders.nodes]);
    let repository = settings.repository.iter().flat_map(|one| [one.directory(), one.root.clone()]).flatten();
    let given = [&request.json_attributes, &request.facts];
    let optional = named.into_iter().chain(folders).chain(given).flatten();
    let layers = request.environment_files.iter().chain(&request.environment_lists);
    let layers = layers.chain(settings.group_layers.values().flatten());
    always.into_iter().chain(optional).chain(layers).chain(&request.own_files.data).cloned().chain(repository).collect()
}

/// Returns the paths of all that wrun loads or starts, as the settings and the request name it.
fn code(settings: &Settings, request: &Request) -> Vec<PathBuf> {
    let mut code = runtime::folders(settings.runtime_dir.as_deref());
    code.extend(settings.ruby_library.clone());
    if let Some(folders) = &request.folders {
        code.extend(folders.cookbooks.iter().chain(&folders.gems).cloned());
    }
    code.extend(request.own_files.commands.iter().flat_map(|command| of_command(command)));
    code
}

/// Returns a command's program with its folder, and the absolute paths within its arguments: an interpreter's script, `-I/path`,
/// `NAME=/path`, and those in a line for a shell.
fn of_command(command: &[String]) -> Vec<PathBuf> {
    let Some((program, arguments)) = command.split_first() else { return vec![] };
    let mut places: Vec<PathBuf> =
        arguments.iter().flat_map(|argument| text::absolute_paths(argument)).map(PathBuf::from).collect();
    if program.contains('/') {
        places.extend(with_folder(Path::new(program)));
    } else {
        // Only the operator sets `PATH`, and each of its folders may contain the program.
        let path = std::env::var_os("PATH").unwrap_or_default();
        let found = std::env::split_paths(&path).map(|folder| folder.join(program)).filter(|path| path.is_file());
        places.extend(found.flat_map(|path| with_folder(&path)));
    }
    places
}

/// Returns the path of the running program, and the text of `/proc/self/maps`, which names the libraries mapped into it.
fn loaded() -> std::io::Result<(PathBuf, String)> {
    let program = std::env::current_exe()?;
    let mappings = std::fs::read_to_string("/proc/self/maps")?;
    Ok((program, mappings))
}

/// Returns the program and its libraries, each with its folder, because a new file there could be loaded instead.
fn files_and_folders(program: &Path, mappings: &str) -> Vec<PathBuf> {
    let mapped: BTreeSet<&str> = mappings.lines().filter_map(executable_file).collect();
    mapped.into_iter().map(Path::new).chain([program]).flat_map(with_folder).collect()
}

/// Returns the path of a line of `/proc/PID/maps`, its sixth word, if the permissions say that the file is mapped as code.
fn executable_file(line: &str) -> Option<&str> {
    let permissions = line.split_ascii_whitespace().nth(1)?;
    let path = line.get(line.find('/')?..)?;
    permissions.contains('x').then(|| path.strip_suffix(" (deleted)").unwrap_or(path))
}

fn with_folder(file: &Path) -> Vec<PathBuf> {
    let resolved = resolved(file);
    let folders = [file.parent(), resolved.parent()].into_iter().flatten().map(Path::to_owned);
    // A top-level folder such as `/opt` contains other applications too, so it is not protected.
    let folders = folders.filter(|folder| folder.components().count() > 2);
    let mut places: Vec<PathBuf> = folders.collect();
    places.push(file.to_owned());
    places
}

/// Returns the paths that are inside one of the roots, as seen from inside it, sorted and without duplicates.
fn seen_from(roots: &[PathBuf], places: impl IntoIterator<Item = PathBuf>) -> Vec<String> {
    let mut found = BTreeSet::new();
    for path in places.into_iter().flat_map(|path| both(&path)) {
        for root in roots {
            // A folder that contains the whole root is not a path inside it.
            let Some(rest) = path.strip_prefix(root).ok().filter(|rest| !rest.as_os_str().is_empty()) else { continue };
            found.insert(format!("/{}", rest.display()));
        }
    }
    found.into_iter().collect()
}

/// A path as it is written, and resolved.
fn both(path: &Path) -> [PathBuf; 2] {
    let written = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let resolved = resolved(&written);
    [written, resolved]
}

/// Resolves the links of a path. Its missing end is kept as it is.
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
    use crate::request::{FolderRequest, OwnFiles};

    #[test]
    fn paths_are_those_inside_the_root_also_over_links_and_where_nothing_is_yet() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        std::fs::create_dir_all(top.join("root/real")).unwrap();
        std::os::unix::fs::symlink("real", top.join("root/link")).unwrap();
        let settings = Settings {
            root: top.join("root"),
            state_dir: top.join("root/new/state"),
            backup_dir: top.join("root/new/state/backup"),
            grants: top.join("root/link/grants.toml"),
            cache_dir: top.join("cache"),
            ..Settings::default()
        };
        let own_files = OwnFiles { data: vec![top.join("root/wrun.toml")], commands: vec![] };
        let found = inside(&settings, &Request { own_files, ..Request::default() }).unwrap();
        let expect = [
            "/link/grants.d",
            "/link/grants.toml",
            "/new/state",
            "/new/state/backup",
            "/real/grants.d",
            "/real/grants.toml",
            "/wrun.toml",
        ];
        assert_eq!(found.data, expect);
        assert_eq!(found.code, Vec::<String>::new());
    }

    #[test]
    fn runtime_native_the_program_its_runtime_and_libraries_are_own_places() {
        let found = inside(&Settings::default(), &Request::default()).unwrap().code;
        let program = std::env::current_exe().unwrap();
        let beside = program.parent().unwrap().parent().unwrap().join("share/wrun");
        for own in [program.as_path(), program.parent().unwrap(), &beside] {
            assert!(found.contains(&own.display().to_string()), "{} in {found:?}", own.display());
        }
        assert!(found.iter().any(|place| place.contains("/libc.so")), "{found:?}");
        let mappings = "7f00-7f01 r-xp 00000000 08:01 12   /opt/wrun/lib/libx y.so\n\
                        7f02-7f03 rw-p 00000000 08:01 13   /srv/data\n\
                        7f04-7f05 r-xp 00000000 00:00 0    [vdso]\n\
                        7f06-7f07 r-xp 00000000 08:01 14   /opt/wrun/share/a.native (deleted)\n";
        let places = files_and_folders(Path::new("/opt/wrun/bin/wrun"), mappings);
        let places = seen_from(&["/".into()], places);
        let expect = [
            "/opt/wrun/bin",
            "/opt/wrun/bin/wrun",
            "/opt/wrun/lib",
            "/opt/wrun/lib/libx y.so",
            "/opt/wrun/share",
            "/opt/wrun/share/a.native",
        ];
        assert_eq!(places, expect);
    }

    #[test]
    fn runtime_native_what_settings_and_requests_name_are_own_places() {
        let command = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let settings = Settings {
            runtime_dir: Some("/srv/runtime".into()),
            roles: Some("/srv/set/roles".into()),
            environments: Some("/srv/set/environments".into()),
            ..Settings::default()
        };
        let request = Request {
            folders: Some(FolderRequest {
                cookbooks: vec!["/srv/a".into(), "/srv/b".into()],
                roles: Some("/srv/roles".into()),
                environments: Some("/srv/environments".into()),
                nodes: Some("/srv/nodes".into()),
                gems: Some("/srv/gems".into()),
                ..FolderRequest::default()
            }),
            json_attributes: Some("/srv/node.json".into()),
            own_files: OwnFiles {
                data: vec!["/srv/log".into()],
                commands: vec![
                    command(&["/srv/hooks/tell", "/srv/tell.toml", "-v"]),
                    command(&["/tool"]),
                    command(&["perl", "-I/srv/lib", "x.pl", "RULES=/srv/rules"]),
                    command(&["sh", "-c", "cd /tmp; '/srv/hooks.d/last' now"]),
                ],
            },
            ..Request::default()
        };
        let found = inside(&settings, &request).unwrap();
        let within_arguments = ["/srv/tell.toml", "/srv/lib", "/srv/rules", "/srv/hooks.d/last"];
        for own in ["/srv/runtime", "/srv/hooks/tell", "/srv/hooks", "/srv/a", "/srv/b", "/srv/gems"]
            .into_iter()
            .chain(within_arguments)
        {
            assert!(found.code.contains(&own.to_owned()), "{own} in {:?}", found.code);
        }
        let set = ["/srv/set/roles", "/srv/set/environments"];
        for own in
            set.into_iter().chain(["/srv/roles", "/srv/environments", "/srv/nodes", "/srv/node.json", "/srv/log"])
        {
            assert!(found.data.contains(&own.to_owned()), "{own} in {:?}", found.data);
        }
        assert!(found.code.contains(&"/tool".to_owned()) && !found.code.contains(&"/".to_owned()));
    }
}
