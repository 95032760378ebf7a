//! `remote_directory`: a folder of a cookbook, with everything in it.
//!
//! It is a directory, the directories below it and the files in them, planned one after the other with what the plan has
//! made so far in mind; the sentences are those of the parts.

use super::cookbook_source;
use super::directory::{self, DirectoryWish};
use super::file_content::wish::{backups, boolean, text};
use super::file_content::{Access, Content, Current, FileWish, Source, plan_create};
use crate::plan::{Plan, Provider, Step, View, denied};
use crate::root::{Kind, absent};
use contract::{Change, Raised, Wanted};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// Permission bits of files if nothing is said: Chef's.
const FILES_MODE: u32 = 0o644;

/// The provider.
pub(crate) struct RemoteDirectory;

/// Content at hand.
struct Given(Vec<u8>);

impl Source for Given {
    fn content<'w>(
        &self,
        _wanted: &'w Wanted<'_>,
        _current: &mut Current,
        _view: &mut View<'_>,
    ) -> Result<Option<Content<'w>>, Raised> {
        Ok(Some(Content::Bytes(Cow::Owned(self.0.clone()))))
    }
}

/// A plan that grows, and what it has made so far.
#[derive(Default)]
struct Growing {
    plan: Plan,
    /// Real paths of new directories.
    made: Vec<String>,
}

impl Growing {
    fn add(&mut self, part: Plan) {
        self.plan.steps.extend(part.steps);
        self.plan.certainty.extend(part.certainty);
        self.plan.assumptions.extend(part.assumptions);
    }
}

impl Provider for RemoteDirectory {
    fn plan(&self, wanted: &Wanted<'_>, view: &mut View<'_>) -> Result<Plan, Raised> {
        let wish = DirectoryWish {
            path: text(wanted, "path").unwrap_or(&wanted.declaration.name).trim_end_matches('/'),
            recursive: boolean(wanted, "recursive").unwrap_or(true),
            access: Access::of(wanted)?,
            key: wanted.declaration.key(),
        };
        match wanted.action {
            "delete" => directory::plan_delete(&wish, view),
            _ => create(&wish, wanted, view),
        }
    }
}

fn create(wish: &DirectoryWish<'_>, wanted: &Wanted<'_>, view: &mut View<'_>) -> Result<Plan, Raised> {
    let mut growing = Growing::default();
    let part = directory::plan_create(wish, view, &mut growing.made)?;
    growing.add(part);
    let cookbook = cookbook_source::cookbook(wanted)?;
    let base_name = wish.path.rsplit('/').next().unwrap_or_default();
    let source = text(wanted, "source").unwrap_or(base_name).trim_matches('/');
    let files = cookbook_source::folder(view, cookbook, source)?;
    let files_access = files_access(wanted)?;
    let mut managed = BTreeSet::new();
    for file in &files {
        let path = format!("{}/{file}", wish.path);
        let (parent, _) = path.rsplit_once('/').unwrap_or_default();
        if parent != wish.path && !is_directory(parent, view)? {
            let below = DirectoryWish {
                path: parent,
                recursive: true,
                access: wish.access,
                key: format!("directory[{parent}]"),
            };
            let part = directory::plan_create(&below, view, &mut growing.made)?;
            growing.add(part);
        }
        let names = format!("{source}/{file}");
        let content = Given(cookbook_source::read(view, cookbook, "files", &[&names])?);
        let one = FileWish {
            path: &path,
            access: files_access,
            backup: backups(wanted.get("files_backup")),
            only_if_missing: wanted.action == "create_if_missing" || boolean(wanted, "overwrite") == Some(false),
            directories_made: &growing.made,
            ..FileWish::plain(wanted)
        };
        let part = plan_create(&one, &content, wanted, view)?;
        growing.add(part);
        managed.extend(with_parents(file));
    }
    if boolean(wanted, "purge") == Some(true) {
        purge(wish, &managed, view, &mut growing.plan)?;
    }
    Ok(growing.plan)
}

/// Owner, group and mode of the files.
fn files_access<'a>(wanted: &'a Wanted<'_>) -> Result<Access<'a>, Raised> {
    let access = Access::named(wanted, "files_owner", "files_group", "files_mode")?;
    Ok(Access { mode: access.mode.or(Some(FILES_MODE)), ..access })
}

fn is_directory(path: &str, view: &View<'_>) -> Result<bool, Raised> {
    Ok(view.root.target_entry(path)?.is_some_and(|entry| entry.kind == Kind::Directory))
}

/// `a/b/c`, `a/b`, `a`.
fn with_parents(file: &str) -> impl Iterator<Item = String> {
    std::iter::successors(Some(file), |path| path.rsplit_once('/').map(|(parent, _)| parent)).map(str::to_owned)
}

/// Removes what the cookbook does not have. Links are removed, not followed.
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
    for (real, kind) in place.descendants()? {
        let relative = real.strip_prefix(place.real()).unwrap_or_default().trim_start_matches('/');
        if managed.contains(relative) {
            continue;
        }
        let granted = view.grants.manage_path(&real).map_err(denied)?;
        let shown = format!("{}/{relative}", wish.path);
        plan.steps.push(if kind == Kind::Directory {
            Step::new(Change::new(format!("delete existing directory {shown}")), move |writer| {
                Ok(writer.root.site(&granted)?.remove_directory()?)
            })
        } else {
            super::file_content::delete_step(shown, granted, kind, view)
        });
    }
    Ok(())
}
