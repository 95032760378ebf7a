//! Checks that a folder makes git run only git itself, and read only files within the folder.
//!
//! A policy can fill such folders with its right to files, and git, which runs as root, trusts them: their configuration,
//! directories that they share with other repositories, links in them. So without the grant of the command `git`, a folder
//! must look exactly as git itself creates it. An unusual part is reported and refused; nothing is repaired.

use contract::{ErrorKind, Raised};
use grants::GrantedTree;
use machine::root::{Entry, Fault, Kind, ModeBits, NewFileAttributes, Root, absent};
use std::collections::HashSet;
use std::io::Read as _;

/// Files that lead git out of the folder, or make it run programs on the files that it checks out.
const ODD: [&str; 6] = [
    "commondir",
    "config.worktree",
    "gitdir",
    "info/attributes",
    "objects/info/alternates",
    "objects/info/http-alternates",
];

/// The folder of hooks. Restrained git runs no hook, so its content is harmless.
const HOOKS: &str = "hooks/";

/// Maximum size of a file that is read to find its format, in bytes.
const MAX_HEAD: u64 = 4096;

/// Returns what is unusual about the checkout in a folder that `uid` will change, or `None` if nothing is or the checkout
/// does not exist.
pub(super) fn odd_checkout(folder: &str, uid: Option<u32>, root: &Root) -> Result<Option<String>, Raised> {
    let uid = uid.unwrap_or(0);
    let git = format!("{}/.git", folder.trim_end_matches('/'));
    if root.mounts_at_boot_below(folder)? {
        // A commit may put a link there, and the next start of the machine would follow it.
        return Ok(Some(format!("/etc/fstab names something below {folder}")));
    }
    let entry = root.entry(&git)?;
    // If `.git` does not exist yet, its folder decides which users can replace it later.
    if let Some(odd) = exchangeable(if entry.is_some() { &git } else { folder }, uid, root)? {
        return Ok(Some(odd));
    }
    let Some(entry) = entry else { return odd_directory(folder, uid, root) };
    if entry.kind != Kind::Directory {
        return Ok(Some(format!("{git} is a {}", entry.kind.words())));
    }
    let top = root.entry(folder)?;
    let foreign = |entry: &Entry| uid != entry.uid;
    // git itself refuses such folders when it finds them by itself.
    if foreign(&entry) || top.as_ref().is_some_and(foreign) {
        return Ok(Some(format!("{folder} belongs to another user than git runs as")));
    }
    match odd_repository(&git, uid, root)? {
        None => {}
        odd => return Ok(odd),
    }
    match linked_elsewhere(&git, root)? {
        None => odd_directory(folder, uid, root),
        odd => Ok(odd),
    }
}

/// Reports a file of a repository with several names (hard links), because git writes to some of its files in place. Objects
/// are exempt: they are never rewritten, and clones share them.
fn linked_elsewhere(git: &str, root: &Root) -> Result<Option<String>, Raised> {
    let below = root.locate(git)?.descendants()?;
    let objects = format!("{git}/objects/");
    for (path, _) in below.iter().filter(|(path, kind)| *kind == Kind::File && !path.starts_with(&objects)) {
        if root.entry(path)?.is_some_and(|entry| entry.links > 1) {
            return Ok(Some(format!("{path} is a file with several names")));
        }
    }
    Ok(None)
}

/// Reports a directory of a checkout that other users may change: while git works there, they could replace it by a link.
fn odd_directory(folder: &str, uid: u32, root: &Root) -> Result<Option<String>, Raised> {
    if root.entry(folder)?.is_none_or(|entry| entry.kind != Kind::Directory) {
        return Ok(None);
    }
    // `.git` has stricter checks.
    Ok(match root.directory_of_others(folder, ".git", uid) {
        Ok(found) => found.map(|path| changeable(&path)),
        Err(fault) => Some(format!("what is in {folder} cannot be seen ({fault})")),
    })
}

fn changeable(path: &str) -> String {
    format!("others than the user as whom git runs may change {path}")
}

/// Reports if users other than root and git's user may replace a directory on the way to a folder. Between wrun's check and
/// git's run they could put a configuration there that makes git run programs.
fn exchangeable(folder: &str, uid: u32, root: &Root) -> Result<Option<String>, Raised> {
    let mut there = folder;
    // git creates missing folders below the last existing one.
    while root.entry(there)?.is_none() {
        there = there.rsplit_once('/').map_or("", |(parent, _)| parent);
        if there.is_empty() {
            return Ok(None);
        }
    }
    let is_alone = root.is_alone_of(there, uid)?;
    // If others may create names there, they may create this one first, also in `/tmp`.
    let is_open = there != folder && root.changeable_by_others([there], uid)?.is_some();
    Ok((!is_alone || is_open).then(|| format!("others than the user as whom git runs may exchange {folder}")))
}

/// Returns what is unusual about a local repository to fetch from, or `None` if nothing is.
pub(super) fn odd_source(path: &str, uid: Option<u32>, root: &Root) -> Result<Option<String>, Raised> {
    let uid = uid.unwrap_or(0);
    // By the time git reads the path, it may have changed, also if it is now a bundle.
    let Some(entry) = root.entry(path)? else { return exchangeable(path, uid, root) };
    match entry.kind {
        Kind::File if is_bundle(path, root)? => return exchangeable(path, uid, root),
        Kind::Directory => {}
        other => return Ok(Some(format!("{path} is a {}, and no repository", other.words()))),
    }
    let inner = format!("{}/.git", path.trim_end_matches('/'));
    let folder = match root.entry(&inner)?.map(|entry| entry.kind) {
        None => path,
        Some(Kind::Directory) => inner.as_str(),
        Some(other) => return Ok(Some(format!("{inner} is a {}", other.words()))),
    };
    // If git does not accept a folder as a repository, it searches other folders.
    if !is_whole(folder, root)? {
        return Ok(Some(format!("{folder} is not a whole repository")));
    }
    match exchangeable(folder, uid, root)? {
        None => odd_repository(folder, uid, root),
        odd => Ok(odd),
    }
}

fn odd_repository(folder: &str, uid: u32, root: &Root) -> Result<Option<String>, Raised> {
    let listed = root.locate(folder).and_then(|place| place.descendants());
    let below = match listed {
        Ok(below) => below,
        Err(fault) => return Ok(Some(format!("what is in {folder} cannot be seen ({fault})"))),
    };
    let odd = below.iter().find_map(|(path, kind)| {
        let name = path.strip_prefix(folder)?.trim_start_matches('/');
        match kind {
            _ if name.starts_with(HOOKS) => None,
            Kind::File | Kind::Directory if !ODD.contains(&name) => None,
            Kind::File | Kind::Directory => Some(format!("there is {path}, which git does not write by itself")),
            other => Some(format!("{path} is a {}", other.words())),
        }
    });
    if odd.is_some() {
        return Ok(odd);
    }
    let paths = std::iter::once(folder).chain(below.iter().map(|(path, _)| path.as_str()));
    if let Some(path) = root.changeable_by_others(paths, uid)? {
        return Ok(Some(changeable(path)));
    }
    let text = root.read(&format!("{folder}/config")).unwrap_or_default();
    let plain = is_plain_configuration(&String::from_utf8_lossy(&text));
    Ok((!plain).then(|| says_more(folder)))
}

fn says_more(folder: &str) -> String {
    format!("{folder}/config says more than git writes by itself")
}

/// Rewrites the configuration of a checkout after checking it in one read. Returns what is unusual about it instead. The old
/// file's owner may still have it open and could write to it after the check, so the file is replaced.
pub(super) fn renew_configuration(tree: &GrantedTree, root: &Root) -> Result<Option<String>, Raised> {
    let site = root.site_below(tree, ".git/config")?;
    let (file, entry) = site.open_file()?;
    let mut text = String::new();
    let read = std::fs::File::from(file).take(MAX_CONFIGURATION).read_to_string(&mut text);
    // A truncated configuration may have another meaning.
    if read.is_err() || text.len() as u64 == MAX_CONFIGURATION || !is_plain_configuration(&text) {
        return Ok(Some(says_more(&format!("{}/.git", tree.path().trim_end_matches('/')))));
    }
    let mode = ModeBits::plain(entry.mode);
    let gid = Some(entry.gid).filter(|_| rustix::process::geteuid().is_root());
    let attributes = NewFileAttributes { mode: Some(mode), gid, in_place: Some(false), ..NewFileAttributes::default() };
    site.write(text.as_bytes(), mode, &attributes)?;
    Ok(None)
}

/// Tells whether git accepts a folder as a repository.
fn is_whole(folder: &str, root: &Root) -> Result<bool, Raised> {
    let is = |name: &str, kind: Kind| -> Result<bool, Fault> {
        Ok(root.entry(&format!("{folder}/{name}"))?.is_some_and(|entry| entry.kind == kind))
    };
    if !(is("objects", Kind::Directory)? && is("refs", Kind::Directory)? && is("HEAD", Kind::File)?) {
        return Ok(false);
    }
    let head = beginning(&format!("{folder}/HEAD"), root)?;
    let is_commit = head.len() >= 40 && head.trim_ascii_end().iter().all(u8::is_ascii_hexdigit);
    Ok(is_commit || head.starts_with(b"ref: refs/"))
}

fn is_bundle(path: &str, root: &Root) -> Result<bool, Raised> {
    let head = beginning(path, root)?;
    Ok([b"# v2 git bundle\n", b"# v3 git bundle\n"].iter().any(|first| head.starts_with(*first)))
}

fn beginning(path: &str, root: &Root) -> Result<Vec<u8>, Raised> {
    let Some((file, _)) = absent(root.locate(path).and_then(|place| place.open_file()))? else {
        return Ok(vec![]);
    };
    let mut head = Vec::new();
    let read = std::fs::File::from(file).take(MAX_HEAD).read_to_end(&mut head);
    read.map_err(|error| Raised::new(ErrorKind::InputOutput, format!("{path}: {error}")))?;
    Ok(head)
}

/// Maximum size of a checkout's configuration, in bytes.
const MAX_CONFIGURATION: u64 = 1 << 20;

/// Keys that git writes by itself, or that say how it stores its data. None of them names a program or another place.
const PLAIN_KEYS: [(&str, &[&str]); 10] = [
    (
        "core",
        &[
            "repositoryformatversion",
            "filemode",
            "bare",
            "logallrefupdates",
            "ignorecase",
            "symlinks",
            "precomposeunicode",
            "autocrlf",
            "eol",
        ],
    ),
    ("extensions", &["objectformat", "refstorage"]),
    ("remote", &["url", "fetch", "tagopt"]),
    ("branch", &["remote", "merge", "rebase"]),
    ("submodule", &["url", "active"]),
    ("user", &["name", "email"]),
    ("gc", &["auto"]),
    ("init", &["defaultbranch"]),
    ("receive", &["denynonfastforwards", "denycurrentbranch", "denydeletes"]),
    ("uploadpack", &["allowfilter", "allowanysha1inwant", "allowreachablesha1inwant", "allowtipsha1inwant"]),
];

fn is_plain_configuration(text: &str) -> bool {
    let mut keys: Option<&[&str]> = None;
    let mut section = String::new();
    let mut addresses = HashSet::new();
    !text.is_empty()
        && text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with(['#', ';'])).all(|line| {
            if let Some(header) = line.strip_prefix('[') {
                // A key after the bracket would belong to the section. git never writes it in this way.
                let Some(header) = header.strip_suffix(']') else { return false };
                let name = header.split([' ', '"', '.']).next().unwrap_or_default().to_ascii_lowercase();
                keys = PLAIN_KEYS.iter().find(|(section, _)| *section == name).map(|(_, keys)| *keys);
                let Some(found) = subsection(header) else { return false };
                section = format!("{name} {found}");
                return keys.is_some() && !header.contains(']');
            }
            let key = line.split('=').next().unwrap_or_default().trim().to_ascii_lowercase();
            // With several addresses, git shows the last one but fetches from the first.
            let again = key == "url" && !addresses.insert(section.clone());
            !again && !line.ends_with('\\') && keys.is_some_and(|keys| keys.contains(&key.as_str()))
        })
}

/// Returns the quoted text in a section header, or `None` if git would not write it in this way.
fn subsection(header: &str) -> Option<&str> {
    match header.split_once('"') {
        None => (!header.contains(['.', '\\'])).then_some(""),
        Some((_, rest)) => rest.strip_suffix('"').filter(|name| !name.contains(['"', '\\'])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: &str = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n\
                         [remote \"origin\"]\n\turl = https://example.org/a\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n\
                         [branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n";

    #[test]
    fn what_git_writes_is_plain() {
        assert!(is_plain_configuration(PLAIN));
        assert!(is_plain_configuration(&format!("{PLAIN}[remote \"more.b\"]\n\turl = https://example.org/b\n")));
        for more in [
            "[core]\n\tsshCommand = evil\n",
            "[core] fsmonitor = evil\n",
            "[core]\n\tworktree = /etc\n",
            "[core]\n\tsharedRepository = 0666\n",
            "[extensions]\n\tworktreeConfig = true\n",
            "[extensions]\n\tpartialClone = origin\n",
            "[include]\n\tpath = /tmp/x\n",
            "[filter \"x\"]\n\tsmudge = evil\n",
            "[CORE]\n\tSSHCOMMAND = evil\n",
            "[core.x]\n\tpager = evil\n",
            "[remote \"origin\"]\n\tuploadpack = evil\n",
            "[remote \"origin\"]\n\turl = https://example.org/b\n",
            "[remote   \"origin\"]\n\tURL = https://example.org/b\n",
            "[remote \"ori\\gin\"]\n\turl = https://example.org/b\n",
            "[remote.origin]\n\turl = https://example.org/b\n",
            "[submodule \"a\"]\n\tupdate = !evil\n",
            "\turl = a\\\n",
            "[core] ]\n",
        ] {
            assert!(!is_plain_configuration(&format!("{PLAIN}{more}")), "{more}");
        }
        assert!(!is_plain_configuration(""), "a repository whose configuration cannot be read is none to trust");
    }
}
