//! `remote_directory`: a folder of a cookbook with its whole content.
//!
//! The plan has the directory, its subdirectories and their files, planned one after the other, each taking the earlier steps
//! into account. Everything except the directory itself is a part with its own row in the report.

use super::asked;
use super::cookbook_source::{self, CookbookFile};
use super::directory::{self, DirectoryWish};
use super::file_content::{Access, Content, Current, FileWish, Source, plan_create};
use crate::foreseen::Outcomes;
use crate::found::{Found, FoundPath, Still};
use crate::operation::Operation;
use crate::plan::{Plan, PlannedPart, Provider, Step, View, Writer};
use contract::{Change, Raised, Wanted};
use grants::GrantedPath;
use machine::denied::denied;
use machine::digest::Digest;
use machine::guest::Planned;
use machine::root::{Kind, absent};
use schema::types::directory::DirectoryProperties;
use schema::types::remote_directory::RemoteDirectoryProperties;
use std::borrow::Cow;
use std::collections::{BTreeSet, HashSet};

/// The provider of `remote_directory`: it copies a cookbook's folder to the machine.
pub(crate) struct RemoteDirectory;

/// One file of the folder, already read.
struct Given<'a> {
    cookbook: &'a str,
    file: CookbookFile,
}

impl Source for Given<'_> {
    fn content<'w>(
        &self,
        _wanted: &'w Wanted<'_>,
        _current: &mut Current,
        _view: &mut View<'_>,
    ) -> Result<Option<Content<'w>>, Raised> {
        Ok(Some(Content::Bytes(Cow::Owned(self.file.bytes.clone()))))
    }

    fn digest(&self, _content: &Content<'_>, view: &mut View<'_>) -> Digest {
        cookbook_source::digest_of_read(view, self.cookbook, &self.file)
    }
}

impl Provider for RemoteDirectory {
    fn plan(&self, wanted: &Wanted<'_>, view: &mut View<'_>) -> Result<Plan, Raised> {
        let properties: DirectoryProperties = asked::properties(wanted)?;
        let wish = DirectoryWish::of(&properties, wanted);
        let wish = DirectoryWish { path: wish.path.trim_end_matches('/'), ..wish };
        match wanted.action {
            "delete" => directory::plan_delete(&wish, view),
            _ => create(&wish, wanted, view),
        }
    }
}

fn create(wish: &DirectoryWish<'_>, wanted: &Wanted<'_>, view: &mut View<'_>) -> Result<Plan, Raised> {
    let mut made = HashSet::new();
    let mut denials = Denials::default();
    let mut plan = denials.or_else(directory::plan_create(wish, view, &mut made), Plan::up_to_date)?;
    let properties: RemoteDirectoryProperties = asked::properties(wanted)?;
    let cookbook = cookbook_source::cookbook(properties.cookbook.as_deref(), wanted)?;
    let source = properties.source.trim_matches('/');
    let files = denials.or_else(cookbook_source::folder(view, cookbook, source), Vec::new)?;
    let folder = Folder { wish, wanted, properties: &properties, cookbook, source };
    let mut managed = BTreeSet::new();
    for file in &files {
        let planned = folder.plan_file(file, view, &mut made, &mut plan);
        let planned = directory::worded(planned, view);
        denials.or_else(planned, || ())?;
        managed.extend(with_parents(file));
    }
    if let Some(first) = denials.0 {
        return Err(first);
    }
    if properties.purge {
        purge(wish, &managed, view, &mut plan)?;
    }
    Ok(plan)
}

/// A file of the cookbook's folder, by its path there.
pub(crate) struct FolderFile {
    /// The path relative to the folder.
    pub(crate) name: String,
    cookbook: String,
    source: String,
}

impl FolderFile {
    /// Returns the digest of the file's content, or `None` if it cannot be read.
    pub(crate) fn digest(&self, view: &mut View<'_>) -> Option<Digest> {
        let names = [format!("{}/{}", self.source, self.name)];
        cookbook_source::digest(view, &self.cookbook, "files", &names).ok()
    }
}

/// Returns the files of the cookbook's folder.
///
/// # Errors
/// The properties are invalid, or the cookbook does not have the folder.
pub(crate) fn files(wanted: &Wanted<'_>, view: &View<'_>) -> Result<Vec<FolderFile>, Raised> {
    let properties: RemoteDirectoryProperties = asked::properties(wanted)?;
    let cookbook = cookbook_source::cookbook(properties.cookbook.as_deref(), wanted)?;
    let source = properties.source.trim_matches('/');
    let of = |name| FolderFile { name, cookbook: cookbook.to_owned(), source: source.to_owned() };
    Ok(cookbook_source::folder(view, cookbook, source)?.into_iter().map(of).collect())
}

/// The first denial. Planning continues after it, so that all denials are recorded at once.
#[derive(Default)]
struct Denials(Option<Raised>);

impl Denials {
    /// Returns the plan, or `otherwise` if it was denied.
    fn or_else<T>(&mut self, planned: Result<T, Raised>, otherwise: impl FnOnce() -> T) -> Result<T, Raised> {
        match planned {
            Err(raised) if directory::is_denial(&raised) => {
                self.0.get_or_insert(raised);
                Ok(otherwise())
            }
            // This error may be a consequence of the earlier denial, which is the one that the policy gets.
            Err(_) if self.0.is_some() => Ok(otherwise()),
            planned => planned,
        }
    }
}

/// The copy of a cookbook's folder.
struct Folder<'a> {
    wish: &'a DirectoryWish<'a>,
    wanted: &'a Wanted<'a>,
    properties: &'a RemoteDirectoryProperties,
    cookbook: &'a str,
    source: &'a str,
}

impl Folder<'_> {
    /// Plans one file, named relative to the folder, and the directories above it.
    fn plan_file(
        &self,
        file: &str,
        view: &mut View<'_>,
        made: &mut HashSet<String>,
        plan: &mut Plan,
    ) -> Result<(), Raised> {
        let Self { wish, wanted, properties, cookbook, source } = *self;
        let path = format!("{}/{file}", wish.path);
        let (parent, _) = path.rsplit_once('/').unwrap_or_default();
        if parent != wish.path {
            // The state of the file's directory is used only if the policy may create the file.
            let granted = view.grants.manage_path(&view.root.asked_about(&path)).map_err(denied);
            let granted = directory::worded(granted, view);
            if granted.is_err() {
                directory::ask_for_missing(parent, view);
            }
            let _granted = granted?;
        }
        if parent != wish.path && !is_directory(parent, view)? {
            let below = DirectoryWish {
                path: parent,
                recursive: true,
                access: wish.access,
                key: format!("directory[{parent}]"),
                own: None,
            };
            let inner = directory::plan_create(&below, view, made)?;
            if !inner.steps.is_empty() {
                plan.add_part(part("directory", parent, "create", Some(cookbook)), inner);
            }
        }
        let RemoteDirectoryProperties { files_owner, files_group, files_mode, .. } = properties;
        let names = format!("{source}/{file}");
        let content = Given { cookbook, file: cookbook_source::read(view, cookbook, "files", &[names])? };
        let one = FileWish {
            access: Access::of(files_owner.as_ref(), files_group.as_ref(), Some(*files_mode)),
            backup: properties.files_backup.0.map(|kept| kept.0),
            only_if_missing: wanted.action == "create_if_missing" || !properties.overwrite,
            directories_made: Some(made),
            ..FileWish::plain(&path, wanted)
        };
        let action = if one.only_if_missing { "create_if_missing" } else { "create" };
        let inner = plan_create(&one, &content, wanted, view)?;
        plan.add_part(part("cookbook_file", &path, action, Some(cookbook)), inner);
        Ok(())
    }
}

fn part(kind: &'static str, name: &str, action: &'static str, cookbook: Option<&str>) -> PlannedPart {
    PlannedPart { kind, name: name.into(), action, cookbook: cookbook.map(str::to_owned), in_dry_run: true }
}

fn is_directory(path: &str, view: &View<'_>) -> Result<bool, Raised> {
    Ok(view.root.target_entry(path)?.is_some_and(|entry| entry.kind == Kind::Directory))
}

/// Lists a path and its parents: `a/b/c`, `a/b`, `a`.
pub(crate) fn with_parents(file: &str) -> impl Iterator<Item = String> {
    std::iter::successors(Some(file), |path| path.rsplit_once('/').map(|(parent, _)| parent)).map(str::to_owned)
}

/// Plans the removal of files that the cookbook's folder does not have. Links are removed, not followed.
fn purge(
    wish: &DirectoryWish<'_>,
    managed: &BTreeSet<String>,
    view: &mut View<'_>,
    plan: &mut Plan,
) -> Result<(), Raised> {
    let Some(place) = absent(view.root.locate_target(wish.path))? else { return Ok(()) };
    if !absent(place.entry())?.is_some_and(|entry| entry.kind == Kind::Directory) {
        return Ok(());
    }
    let mut found = place.descendants()?;
    // Chef's order, in which the content of a directory comes before the directory.
    found.sort_by(|(one, _), (other, _)| other.cmp(one));
    for (real, kind) in found {
        let relative = real.strip_prefix(place.real()).unwrap_or_default().trim_start_matches('/');
        if managed.contains(relative) {
            continue;
        }
        let granted = view.grants.manage_path(&real).map_err(denied)?;
        let shown = format!("{}/{relative}", wish.path);
        let (kind, step) = if kind == Kind::Directory {
            let change = Change::new(format!("delete existing directory {shown}")).disappears("directory");
            let found = FoundPath::look(view.root, &real)?;
            ("directory", Step::new(change, Operation::PurgeDirectory(PurgeDirectory { granted, found })))
        } else {
            ("file", super::file_content::delete_step(shown.clone(), granted, kind, view)?)
        };
        plan.add_part(part(kind, &shown, "delete", None), Plan::steps(vec![step]));
    }
    Ok(())
}

/// A directory that the cookbook's folder does not have. It is empty by the time of its removal.
#[derive(Debug)]
pub(crate) struct PurgeDirectory {
    granted: GrantedPath,
    /// The state of the path when planned.
    found: FoundPath,
}

impl PurgeDirectory {
    /// Returns the state of the path when planned.
    pub(crate) fn found(&self) -> Found {
        self.found.found(self.granted.path())
    }

    /// Adds that the path would not exist.
    pub(crate) fn foresee(&self, outcomes: &mut Outcomes) {
        outcomes.push((self.granted.path().to_owned(), Planned::Gone));
    }

    /// Removes the directory, which must be empty.
    ///
    /// # Errors
    /// The machine refuses, or another entry is now at the path.
    pub(crate) fn carry_out(self, writer: &mut Writer<'_>) -> Result<(), Raised> {
        let site = writer.root.site(&self.granted)?;
        self.found.require(Still::Itself, site.entry(), self.granted.path())?;
        Ok(site.remove_directory()?)
    }
}
