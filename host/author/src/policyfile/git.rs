//! Runs the program git: fetches repositories into a cache, and reads commits from it.

use std::path::{Path, PathBuf};

use super::cookbook::MAX_BYTES;
use super::git_places::check_source;
use super::git_process::{in_cache, transfer};
use policyfile::model::GitSource;
use sha1::{Digest as _, Sha1};
use text::hex;

/// The errors of running git.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// The program cannot be started.
    #[error("cannot start git, which fetches repositories and says which commit a cookbook is")]
    Start(#[source] std::io::Error),
    /// Git ran and ended with an error.
    #[error("Git command `git {command}` failed with message: {message}")]
    Failed {
        /// The command, without the options that are always given.
        command: String,
        /// The text that git wrote to standard error.
        message: String,
    },
    /// Git would take an address, a name or a folder for an option.
    #[error("{text:?} cannot be a git repository, revision or folder: git could take it for an option")]
    Option {
        /// The address or name that was refused.
        text: String,
    },
    /// There is no folder to fetch into.
    #[error("nothing can be fetched here; `wrun policy build` fetches what a policy needs")]
    NoCache,
    /// Git ran without progress for too long, so it was ended.
    #[error("`git {command}` was ended after {seconds} s; {hint}")]
    Waits {
        /// The command, without the options that are always given.
        command: String,
        /// How long it ran.
        seconds: u64,
        /// A hint about the cause.
        hint: &'static str,
    },
    /// The output of git exceeds the limit.
    #[error("`git {command}` wrote more than {limit} bytes")]
    TooMuch {
        /// The command, without the options that are always given.
        command: String,
        /// How many bytes are read.
        limit: u64,
    },
    /// A repository is larger than any repository of cookbooks should be.
    #[error(
        "`git {command}` was ended: the repository is larger than {limit} bytes, or what its server sends is damaged"
    )]
    TooLarge {
        /// The command, without the options that are always given.
        command: String,
        /// The most bytes of one of its files.
        limit: u64,
    },
    /// A commit has more files or bytes than a cookbook may have.
    #[error("the files of {commit} are more than {limit} {of}, which no cookbook may have")]
    TooManyFiles {
        /// The identifier of the commit.
        commit: String,
        /// The things that are too many: files or bytes.
        of: &'static str,
        /// How many there may be.
        limit: u64,
    },
    /// A repository that was fetched before cannot be brought up to date.
    #[error(
        "{uri} cannot be fetched into {}; if that folder is damaged, remove it, and the repository is fetched anew",
        place.display()
    )]
    Outdated {
        /// The address of the repository.
        uri: String,
        /// The folder of the cache.
        place: PathBuf,
        /// What git said about it.
        source: Box<Self>,
    },
    /// A repository's own settings may start programs.
    #[error(
        "{}: git is not asked there, since its configuration sets {key}, which may start a program or lead elsewhere",
        place.display()
    )]
    Strange {
        /// The folder of the repository.
        place: PathBuf,
        /// The setting that names a program.
        key: String,
    },
    /// Git would wait for a pipe, or read a device without end.
    #[error(
        "{} is neither a plain file nor a folder, so that git is not asked: it would wait there, or read without end",
        place.display()
    )]
    NotPlain {
        /// The path of the pipe or device.
        place: PathBuf,
    },
    /// A link leads out of a repository.
    #[error("the folder {rel:?} of the repository is a link that leads out of it")]
    Outside {
        /// The folder, as the source names it.
        rel: String,
    },
    /// A folder of the cache.
    #[error("cannot write {}", path.display())]
    Cache {
        /// The path of the cache's folder.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

/// The branch of a cookbook whose source names none.
const DEFAULT_BRANCH: &str = "main";

/// All branches and tags of a repository. Branches and tags that were deleted there are deleted in the cache too.
const BRANCHES_AND_TAGS: [&str; 2] = ["+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*"];

/// The commit that the repository calls HEAD, under a name that fetching branches does not touch.
const REMOTE_HEAD: &str = "refs/wrun/head";

/// The lengths of a whole commit id, with SHA-1 and SHA-256.
const ID_LENGTHS: [usize; 2] = [40, 64];

/// The repositories that were fetched.
pub(super) struct Repositories<'a> {
    folder: PathBuf,
    /// Tells a person what takes time; an empty text ends it.
    doing: &'a dyn Fn(&str),
}

impl<'a> Repositories<'a> {
    pub(super) fn new(cache: &Path, doing: &'a dyn Fn(&str)) -> Self {
        Self { folder: cache.join("git"), doing }
    }

    /// Where a repository lies.
    fn place(&self, uri: &str) -> PathBuf {
        self.folder.join(hex(Sha1::digest(uri)))
    }

    /// Fetches a repository: all of it at the first time, and later only new commits.
    pub(super) fn fetch(&self, uri: &str) -> Result<PathBuf, GitError> {
        check(uri)?;
        if !self.folder.is_absolute() {
            return Err(GitError::NoCache);
        }
        let place = self.place(uri);
        let failed = |source| GitError::Cache { path: self.folder.clone(), source };
        std::fs::create_dir_all(&self.folder).map_err(failed)?;
        check_source(uri, &self.folder)?;
        (self.doing)(&format!("fetching {uri}"));
        let fetched = self.fetch_to(place, uri);
        (self.doing)("");
        fetched
    }

    fn fetch_to(&self, place: PathBuf, uri: &str) -> Result<PathBuf, GitError> {
        let failed = |source| GitError::Cache { path: self.folder.clone(), source };
        let _alone = self.lock(&place)?;
        if place.is_dir() {
            self.fetch_into(&place, uri, &BRANCHES_AND_TAGS)?;
            return Ok(place);
        }
        // The repository has a temporary name until it is complete.
        let unfinished = self.folder.join(plain_files::unfinished_name().map_err(failed)?);
        let name = unfinished.to_string_lossy().into_owned();
        let cloned =
            transfer(&self.folder, &["clone", "--progress", "--bare", "--no-hardlinks", "--", uri, &name], &[]);
        let moved = cloned.and_then(|()| std::fs::rename(&unfinished, &place).map_err(failed));
        drop(std::fs::remove_dir_all(&unfinished));
        moved.map(|()| place)
    }

    /// Waits until no other process fetches the same repository, because git skips a branch that another process is writing.
    fn lock(&self, place: &Path) -> Result<std::fs::File, GitError> {
        let locks = self.folder.with_file_name("locks");
        let made = std::fs::create_dir_all(&locks);
        let lock = made.and_then(|()| std::fs::File::create(locks.join(place.file_name().unwrap_or_default())));
        let locked = lock.and_then(|lock| lock.lock().map(|()| lock));
        locked.map_err(|source| GitError::Cache { path: self.folder.clone(), source })
    }

    /// Updates a repository that was fetched before.
    fn fetch_into(&self, place: &Path, uri: &str, what: &[&str]) -> Result<(), GitError> {
        let options = ["fetch", "--progress", "--force", "--prune", "--no-tags", "--", uri];
        let arguments: Vec<&str> = options.iter().chain(what).copied().collect();
        let fetched = transfer(&self.folder, &arguments, &[("GIT_DIR", place)]);
        fetched.map_err(|source| GitError::Outdated {
            uri: uri.to_owned(),
            place: place.to_owned(),
            source: Box::new(source),
        })
    }

    /// The repository, fetched unless it has the commit already.
    pub(super) fn with_commit(&self, uri: &str, commit: &str) -> Result<PathBuf, GitError> {
        check(commit)?;
        let place = self.place(uri);
        let has = || self.run(&place, &["cat-file", "-e", &format!("{commit}^{{commit}}")]).is_ok();
        if place.is_dir() && has() { Ok(place) } else { self.fetch(uri) }
    }

    /// Returns the full id of the commit that a cookbook's source means now.
    pub(super) fn commit_of(&self, source: &GitSource) -> Result<String, GitError> {
        if let Some(revision) = &source.revision {
            return self.pinned(&source.uri, revision);
        }
        let wanted = source.reference.as_deref().or(source.branch.as_deref()).or(source.tag.as_deref());
        self.fetch(&source.uri)?;
        self.resolve(&source.uri, wanted.unwrap_or(DEFAULT_BRANCH))
    }

    /// Returns the full id of a named commit. A full id is returned unchanged, without asking the repository. A shorter name
    /// may be a branch or a tag, which can move, so the repository is asked.
    pub(super) fn pinned(&self, uri: &str, revision: &str) -> Result<String, GitError> {
        check(revision)?;
        let is_whole = ID_LENGTHS.contains(&revision.len()) && revision.chars().all(|one| one.is_ascii_hexdigit());
        if is_whole {
            return Ok(revision.to_ascii_lowercase());
        }
        self.fetch(uri)?;
        let named = self.resolve(uri, revision)?;
        self.resolve(uri, &format!("{named}^{{commit}}"))
    }

    /// The commit of a name in a repository that was fetched.
    pub(super) fn resolve(&self, uri: &str, name: &str) -> Result<String, GitError> {
        check(name)?;
        let place = self.place(uri);
        // The `HEAD` of the clone may name a deleted branch.
        let name = if name == "HEAD" {
            let _alone = self.lock(&place)?;
            self.fetch_into(&place, uri, &[&format!("+HEAD:{REMOTE_HEAD}")])?;
            REMOTE_HEAD
        } else {
            name
        };
        Ok(self.run(&place, &["rev-parse", "--verify", name])?.trim().to_owned())
    }

    /// Writes the files of a commit, or of one folder in it, into a new folder.
    pub(super) fn check_out(
        &self,
        repository: &Path,
        commit: &str,
        rel: Option<&str>,
        into: &Path,
    ) -> Result<PathBuf, GitError> {
        check(commit)?;
        rel.into_iter().flat_map(|rel| rel.split('/')).try_for_each(check_folder)?;
        let failed = |source| GitError::Cache { path: into.to_owned(), source };
        let work = into.join("work");
        std::fs::create_dir_all(&work).map_err(failed)?;
        let index = into.join("index");
        // A branch may have the name of a commit, and git would use the branch. With this suffix the name cannot be a branch.
        let commit = format!("{commit}^{{commit}}");
        self.check_size(repository, &commit, rel)?;
        write_as_committed(repository)?;
        let arguments =
            ["checkout", "--quiet", "--force", &commit, "--", rel.filter(|rel| !rel.is_empty()).unwrap_or(".")];
        in_cache(&work, &arguments, &[("GIT_DIR", repository), ("GIT_WORK_TREE", &work), ("GIT_INDEX_FILE", &index)])?;
        let Some(rel) = rel else { return Ok(work) };
        let found = work.join(rel);
        if found.exists() && !plain_files::leads_inside(&found, &work) {
            return Err(GitError::Outside { rel: rel.to_owned() });
        }
        Ok(found)
    }

    /// Refuses a commit with more files or bytes than a cookbook may have, before any file is written. In packed form such
    /// files can be small.
    fn check_size(&self, repository: &Path, commit: &str, rel: Option<&str>) -> Result<(), GitError> {
        let (files, bytes) = self.size(repository, commit, rel)?;
        let too_many = |of, limit| GitError::TooManyFiles { commit: commit.to_owned(), of, limit };
        match (files, bytes) {
            (more, _) if more > 2 * artifact::MAX_FILES => Err(too_many("files", 2 * artifact::MAX_FILES as u64)),
            (_, more) if more > MAX_BYTES => Err(too_many("bytes", MAX_BYTES)),
            _ => Ok(()),
        }
    }

    /// The number of files of a commit, or of one folder in it, and their bytes.
    fn size(&self, repository: &Path, commit: &str, rel: Option<&str>) -> Result<(usize, u64), GitError> {
        // Without `--`, a name could be read as an option, and git would list fewer files than it writes.
        let list = ["ls-tree", "-r", "-l", "-z", "--full-tree", "--", commit];
        let arguments: Vec<&str> = list.into_iter().chain(rel).collect();
        let listed = self.run(repository, &arguments)?;
        let (mut files, mut bytes) = (0, 0_u64);
        // `MODE TYPE OBJECT SIZE<TAB>PATH`; a submodule has no size.
        for entry in listed.split_terminator('\0') {
            let size = entry.split('\t').next().and_then(|about| about.split_whitespace().nth(3)?.parse().ok());
            files += 1;
            bytes = bytes.saturating_add(size.unwrap_or(0));
        }
        Ok((files, bytes))
    }

    /// The content of a file in a commit.
    pub(super) fn show(&self, repository: &Path, commit: &str, path: &str) -> Result<String, GitError> {
        check(commit)?;
        self.run(repository, &["cat-file", "blob", &format!("{commit}:{path}")])
    }

    /// Runs git on exactly this repository of the cache. If it is damaged, git must not search the folders above it.
    fn run(&self, repository: &Path, arguments: &[&str]) -> Result<String, GitError> {
        in_cache(&self.folder, arguments, &[("GIT_DIR", repository)])
    }
}

/// Makes git write the files of a cached repository exactly as committed, whatever its attributes say. An encoding or a
/// keyword would make a file larger than the checked size, and different from the commit.
fn write_as_committed(repository: &Path) -> Result<(), GitError> {
    const AS_COMMITTED: &[u8] = b"* -text -ident -filter -working-tree-encoding -eol\n";
    let info = repository.join("info");
    let path = info.join("attributes");
    let written = std::fs::create_dir_all(&info).and_then(|()| plain_files::replace(&path, AS_COMMITTED));
    written.map_err(|source| GitError::Cache { path, source })
}

/// Checks that no folder on the way to a cookbook has a name that git could take for an option.
fn check_folder(name: &str) -> Result<(), GitError> {
    if name.is_empty() { Ok(()) } else { check(name) }
}

/// Checks that git cannot take an address or a name for an option or something else.
pub(super) fn check(text: &str) -> Result<(), GitError> {
    let is_sound = !text.is_empty() && !text.starts_with('-') && !text.contains(char::is_control);
    if is_sound { Ok(()) } else { Err(GitError::Option { text: text.chars().take(200).collect() }) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    /// A repository with files, in a cache: its commit, its files and the folder for all of it.
    fn committed(files: &[(&str, &str)]) -> (tempfile::TempDir, PathBuf, String) {
        let top = tempfile::tempdir().unwrap();
        let source = top.path().join("source");
        std::fs::create_dir(&source).unwrap();
        let git = |arguments: &[&str]| {
            let git = Command::new("git").arg("-C").arg(&source).args(arguments).output().unwrap();
            assert!(git.status.success(), "{}", String::from_utf8_lossy(&git.stderr));
            String::from_utf8(git.stdout).unwrap().trim().to_owned()
        };
        git(&["init", "-q", "-b", "main"]);
        for (path, content) in files {
            let path = source.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content).unwrap();
        }
        git(&["-c", "core.autocrlf=false", "add", "."]);
        git(&["-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-q", "-m", "a"]);
        let commit = git(&["rev-parse", "HEAD"]);
        (top, source, commit)
    }

    #[test]
    fn attributes_of_a_repository_do_not_make_its_files_larger_than_they_were_measured() {
        // Text that is UTF-32 already is left alone by `add`: the attributes are committed after the file.
        let text = "$Id$ a cookbook's file\n".repeat(100);
        let attributes = "* ident text working-tree-encoding=UTF-32 eol=crlf\n";
        let (top, source, _) = committed(&[("a/metadata.rb", &text)]);
        std::fs::write(source.join(".gitattributes"), attributes).unwrap();
        let run = |arguments: &[&str]| {
            let git = Command::new("git").arg("-C").arg(&source).args(arguments).output().unwrap();
            assert!(git.status.success(), "{}", String::from_utf8_lossy(&git.stderr));
            String::from_utf8(git.stdout).unwrap().trim().to_owned()
        };
        let blob = run(&["hash-object", "-w", "--no-filters", ".gitattributes"]);
        run(&["update-index", "--add", "--cacheinfo", &format!("100644,{blob},.gitattributes")]);
        run(&["-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-q", "-m", "b"]);
        let commit = run(&["rev-parse", "HEAD"]);
        let cache = top.path().join("cache");
        let repositories = Repositories::new(&cache, &|_| {});
        let repository = repositories.fetch(&format!("file://{}", source.display())).unwrap();
        let into = top.path().join("into");
        let work = repositories.check_out(&repository, &commit, None, &into).unwrap();
        assert_eq!(std::fs::read_to_string(work.join("a/metadata.rb")).unwrap(), text);
        let listed = repositories.size(&repository, &commit, Some("a")).unwrap();
        assert_eq!(listed, (1, text.len() as u64));
    }

    #[test]
    fn a_folder_whose_name_is_a_patterns_is_measured_as_it_is_written() {
        let (top, source, commit) =
            committed(&[(":(top)x/a", "1"), (":(top)x/b", "22"), ("x/c", "333"), ("y/*/d", "4444"), ("y/z/e", "5")]);
        let cache = top.path().join("cache");
        let repositories = Repositories::new(&cache, &|_| {});
        let repository = repositories.fetch(&format!("file://{}", source.display())).unwrap();
        for (rel, expected, files) in [(":(top)x", (2, 3), "a b"), ("x", (1, 3), "c"), ("y/*", (1, 4), "d")] {
            assert_eq!(repositories.size(&repository, &commit, Some(rel)).unwrap(), expected, "{rel}");
            let into = top.path().join(format!("into-{files}"));
            let work = repositories.check_out(&repository, &commit, Some(rel), &into).unwrap();
            let mut found: Vec<_> = std::fs::read_dir(&work)
                .unwrap()
                .map(|entry| entry.unwrap().file_name().into_string().unwrap())
                .collect();
            found.sort();
            assert_eq!(found.join(" "), files, "{rel}");
        }
    }
}
