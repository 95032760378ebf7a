//! Reads `policy.toml`, in which a policy's author writes everything besides the cookbooks.
//!
//! It has the same content as a Policyfile, with the same names: [`PolicyToml::model`] returns the common model.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::path::{Path, PathBuf};

use artifact::lock::AttributeValue;
use grants::Needs;
use node::object::attribute_key;
use node::run_list::{RunListItem, RunListItemKind, split_recipe};
use plain_files::{HeldFolder, WalkError, leads_out};
use policyfile::model::{CookbookSpec, Level, ListName, Policy};
use serde::Deserialize;
use serde::de::IgnoredAny;
use toml::Spanned;

use super::AuthorError;
use super::cookbook::Cookbook;
use super::origins::{Origins, WrittenCookbooks, WrittenInclude, WrittenSources};
use super::own_folder::no_policy;
use super::toml_file::TomlFile;
use artifact::{MAX_FILES, check_policy_name, is_component_name, ordered};

const FILE: &str = "policy.toml";

/// The folder of cookbooks, if `cookbooks` does not name their folders.
const COOKBOOKS: &str = "cookbooks";

/// The checked content of the file. Items of run lists are in their full form.
#[derive(Debug)]
pub(crate) struct PolicyToml {
    pub(super) path: PathBuf,
    pub(super) name: String,
    pub(super) run_list: Vec<String>,
    run_list_line: usize,
    /// The items of all run lists, with their lines.
    pub(super) item_lines: Vec<(String, usize)>,
    pub(super) named_run_lists: Vec<(String, Vec<String>)>,
    pub(super) default: toml::Table,
    pub(super) r#override: toml::Table,
    /// The line of each attribute, by its key with its table.
    pub(super) attribute_lines: BTreeMap<String, u32>,
    pub(super) needs: Needs,
    /// The folder of gems, as written.
    pub(super) gems: Option<String>,
    /// Gems that are named in metadata but not loaded.
    pub(super) without_gems: Vec<String>,
    /// The sources of cookbooks outside of the policy's folder.
    pub(super) origins: Origins,
    /// The folders of cookbooks, if the file names them.
    cookbooks: Option<Vec<Spanned<String>>>,
    file: TomlFile,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    name: Spanned<String>,
    run_list: Spanned<Vec<Spanned<String>>>,
    #[serde(default, deserialize_with = "ordered::deserialize")]
    named_run_list: Vec<(String, Vec<Spanned<String>>)>,
    cookbooks: Option<WrittenCookbooks>,
    #[serde(default)]
    include: Vec<WrittenInclude>,
    #[serde(default)]
    sources: WrittenSources,
    #[serde(default)]
    default: toml::Table,
    #[serde(default)]
    r#override: toml::Table,
    /// The crate `grants` reads this table, which has the same keys as the operator's file.
    #[serde(rename = "needs")]
    _needs: Option<IgnoredAny>,
    gems: Option<String>,
    #[serde(default)]
    without_gems: Vec<String>,
}

impl PolicyToml {
    pub(crate) fn read(folder: &HeldFolder) -> Result<Self, AuthorError> {
        let file = TomlFile::read(folder, FILE)?;
        let file = file.ok_or_else(|| no_policy(folder.path()))?;
        let written: Written = file.parse()?;
        check_policy_name(written.name.get_ref())
            .map_err(|error| file.wrong(&written.name.span(), error.to_string()))?;
        let run_list_span = written.run_list.span();
        if written.run_list.get_ref().is_empty() {
            return Err(file.wrong(&run_list_span, "Invalid run_list. run_list cannot be empty".into()));
        }
        let full = |item: &Spanned<String>| full_item(item.get_ref()).map_err(|what| file.wrong(&item.span(), what));
        let run_list = written.run_list.get_ref().iter().map(full).collect::<Result<_, _>>()?;
        let named = written.named_run_list.iter();
        let named = named.map(|(name, list)| Ok((name.clone(), list.iter().map(full).collect::<Result<_, _>>()?)));
        let named_run_lists = named.collect::<Result<_, AuthorError>>()?;
        let items = written.named_run_list.iter().flat_map(|(_, list)| list);
        let items = written.run_list.get_ref().iter().chain(items);
        let item_lines =
            items.map(|item| Ok((full(item)?, file.line(&item.span())))).collect::<Result<_, AuthorError>>()?;
        let needs = file.needs()?;
        let (cookbooks, named) = match written.cookbooks {
            None => (None, vec![]),
            Some(WrittenCookbooks::Folders(folders)) => (Some(folders), vec![]),
            Some(WrittenCookbooks::Named(named)) => (None, named),
        };
        let origins = Origins::read(&file, written.include, written.sources, named)?;
        let mut attribute_lines = BTreeMap::new();
        for table in ["default", "override"] {
            let lines = file.paths_with_lines(table);
            attribute_lines.extend(lines.into_iter().map(|(path, line)| (attribute_key(table, &path), line)));
        }
        Ok(Self {
            path: file.path.clone(),
            name: written.name.into_inner(),
            run_list,
            run_list_line: file.line(&run_list_span),
            item_lines,
            named_run_lists,
            default: written.default,
            r#override: written.r#override,
            attribute_lines,
            needs,
            gems: written.gems,
            without_gems: written.without_gems,
            origins,
            cookbooks,
            file,
        })
    }

    /// Returns the file as the model of a Policyfile, without the folders of its cookbooks.
    pub(crate) fn model(&self) -> Policy {
        let named = self.named_run_lists.iter();
        let named = named.map(|(name, items)| (ListName { name: name.clone(), is_symbol: false }, items.clone()));
        let lines =
            [("default", Level::Default), ("override", Level::Override)].into_iter().flat_map(|(table, level)| {
                self.file.paths_with_lines(table).into_iter().map(move |(path, line)| (level, path, line))
            });
        Policy {
            name: Some(self.name.clone()),
            run_list: self.run_list.clone(),
            named_run_lists: named.collect(),
            default_sources: self.origins.sources.clone(),
            cookbooks: self.origins.cookbooks.clone(),
            includes: self.origins.includes.clone(),
            default_attributes: AttributeValue::from(&self.default),
            override_attributes: AttributeValue::from(&self.r#override),
            attribute_lines: lines.collect(),
        }
    }

    /// Tells whether the cookbooks have to be resolved, because of includes or other sources.
    pub(crate) fn needs_resolving(&self) -> bool {
        !self.origins.is_empty()
    }

    /// The line of the first `[[include]]`, else that of the run list.
    pub(super) fn include_line(&self) -> usize {
        let first = self.origins.includes.first();
        first.map_or(self.run_list_line, |include| usize::try_from(include.line).unwrap_or(usize::MAX))
    }

    /// An error about a cookbook that `cookbooks` names.
    pub(crate) fn wrong_cookbook(&self, spec: &CookbookSpec, what: String) -> AuthorError {
        self.file.wrong_on(spec.line, what)
    }

    /// The line of the first item that names a cookbook, else that of the run list.
    pub(super) fn line_of(&self, cookbook: &str) -> usize {
        let recipe =
            |item: &str| item.strip_prefix("recipe[").and_then(|item| item.strip_suffix(']')).map(str::to_owned);
        let names = |item: &str| recipe(item).is_some_and(|recipe| split_recipe(&recipe).0 == cookbook);
        self.item_lines.iter().find(|(item, _)| names(item)).map_or(self.run_list_line, |(_, line)| *line)
    }

    /// The folders of the cookbooks: those that the file names, else every folder in `cookbooks/` that holds one.
    pub(crate) fn cookbook_folders(&self, folder: &HeldFolder) -> Result<Vec<PathBuf>, AuthorError> {
        if let Some(named) = &self.cookbooks {
            let folders = named.iter().map(|one| (one.span(), folder.path().join(one.get_ref())));
            return folders
                .map(|(span, path)| {
                    let what = || {
                        format!("there is no cookbook in {}: it has no metadata.rb and no Cargo.toml", path.display())
                    };
                    if Cookbook::is_in(&path) { Ok(path) } else { Err(self.file.wrong(&span, what())) }
                })
                .collect();
        }
        let Some(names) = names_of_cookbooks(folder)? else {
            // All cookbooks may come from other sources, so the folder may be absent.
            let (path, source) = (folder.path().join(COOKBOOKS), std::io::ErrorKind::NotFound.into());
            return if self.needs_resolving() { Ok(vec![]) } else { Err(AuthorError::Read { path, source }) };
        };
        let mut folders = vec![];
        for below in names {
            let path = folder.path().join(&below);
            match folder.below(&below) {
                Ok(Some(found)) if Cookbook::is_held(&found) => folders.push(path),
                // The folder may be untrusted, so links that lead out of it are refused. Only a cookbook that the file names
                // by its path may be in another folder.
                Err(error) if leads_out(&error) && Cookbook::is_in(&path) => {
                    return Err(AuthorError::File { path, what: LEADS_OUT });
                }
                _ => {}
            }
        }
        Ok(folders)
    }

    /// Opens one of [`cookbook_folders`](Self::cookbook_folders). What lies in `cookbooks/` lies in the policy's folder.
    pub(super) fn open_cookbook(&self, folder: &HeldFolder, path: &Path) -> Result<HeldFolder, AuthorError> {
        let below = path.strip_prefix(folder.path()).ok();
        let opened = match below.filter(|below| self.cookbooks.is_none() && below.starts_with(COOKBOOKS)) {
            None => HeldFolder::open(path),
            Some(below) => folder.below(below).and_then(|found| found.ok_or(std::io::ErrorKind::NotFound.into())),
        };
        opened.map_err(|source| AuthorError::Read { path: path.to_owned(), source })
    }

    /// The folders in `cookbooks/` that hold no cookbook and are therefore left out, hidden ones aside. Empty where the file
    /// names its cookbooks.
    pub(super) fn left_out(&self, folder: &HeldFolder) -> Vec<PathBuf> {
        if self.cookbooks.is_some() {
            return vec![];
        }
        let names = names_of_cookbooks(folder).ok().flatten().unwrap_or_default();
        let is_hidden = |path: &Path| path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        let paths = names.into_iter().filter(|below| !is_hidden(below)).map(|below| folder.path().join(below));
        paths.filter(|path| path.is_dir() && !Cookbook::is_in(path)).collect()
    }
}

const LEADS_OUT: &str =
    "is a link that leads out of the policy's folder: put the cookbook there, or name its path in policy.toml";

/// Returns the sorted paths of all entries in `cookbooks/`, relative to the policy's folder, or `None` without that folder.
fn names_of_cookbooks(folder: &HeldFolder) -> Result<Option<Vec<PathBuf>>, AuthorError> {
    let path = folder.path().join(COOKBOOKS);
    let all = match folder.below(COOKBOOKS) {
        Ok(Some(all)) => all,
        Ok(None) => return Ok(None),
        Err(error) if leads_out(&error) => return Err(AuthorError::File { path, what: LEADS_OUT }),
        Err(source) => return Err(AuthorError::Read { path, source }),
    };
    let mut names = vec![];
    let walked = all.folder().walk(MAX_FILES, |entry| {
        names.push(Path::new(COOKBOOKS).join(&entry.name));
        Ok::<_, Infallible>(false)
    });
    names.sort();
    match walked {
        Ok(()) => Ok(Some(names)),
        Err(WalkError::Read(_, source)) => Err(AuthorError::Read { path, source }),
        Err(WalkError::TooMany) => Err(AuthorError::too_many_files(&path)),
        Err(WalkError::Visit(never)) => match never {},
    }
}

/// An item as locks write it, `recipe[COOKBOOK::RECIPE]`; the error says why it cannot be one.
fn full_item(text: &str) -> Result<String, String> {
    let item = RunListItem::parse(text).map_err(|error| error.to_string())?;
    if item.kind == RunListItemKind::Role {
        return Err(format!("{item} is a role; a policy's run list has recipes only"));
    }
    if item.version.is_some() {
        return Err(format!("{item} asks for a version; a policy has each cookbook in the one version of its folder"));
    }
    let (cookbook, recipe) = split_recipe(&item.name);
    for (what, name) in [("cookbook", cookbook), ("recipe", recipe)] {
        if !is_component_name(name) {
            return Err(format!(
                "run list item {text:?} has the impossible {what} name {name:?}; \
                 names have letters, digits, hyphens, underscores and dots"
            ));
        }
    }
    Ok(format!("recipe[{cookbook}::{recipe}]"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: Result<&str, &str>) {
        match (full_item(text), expect) {
            (Ok(got), Ok(expect)) => assert_eq!(got, expect),
            (Err(got), Err(part)) => assert!(got.contains(part), "{got}"),
            (got, expect) => panic!("{text:?}: {got:?} is not {expect:?}"),
        }
    }

    /// The rows of docs/policy.md by their keys: type and default.
    fn documented() -> BTreeMap<String, (String, String)> {
        let page = include_str!("../../../../docs/policy.md");
        let rows = page.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("` | "));
        let row = |(key, rest): (&str, &str)| {
            let mut columns = rest.split(" | ").map(str::to_owned);
            (key.to_owned(), (columns.next().unwrap_or_default(), columns.next().unwrap_or_default()))
        };
        rows.map(row).collect()
    }

    #[test]
    fn the_reference_has_every_key_and_no_other() {
        // The error about an unknown key lists all known keys.
        let error = toml::from_str::<Written>("no-such-key = 1").err().map(|error| error.message().to_owned()).unwrap();
        let named = error.split_once("expected one of ").unwrap().1;
        let mut known: Vec<_> = named.split(", ").map(|key| key.trim_matches('`').to_owned()).collect();
        known.sort();
        let documented: Vec<_> = documented().into_keys().collect();
        assert_eq!(documented, known, "docs/policy.md");
    }

    #[test]
    fn the_reference_tells_types_and_defaults() {
        let value = |kind: &str| match kind {
            "string" => "\"a\"",
            "list of strings" | "list of strings, or table" => "[\"a\"]",
            "list of tables" => "[{ name = \"a\" }]",
            "table of lists" => "{ a = [\"a\"] }",
            "table" => "{}",
            other => panic!("docs/policy.md: what is the type {other:?}?"),
        };
        let documented = documented();
        let text = |leave_out: &str| {
            let keys = documented.iter().filter(|(key, _)| *key != leave_out);
            keys.map(|(key, (kind, _))| format!("{key} = {}\n", value(kind))).collect::<String>()
        };
        // Each type is right, and exactly the keys that are required have to be there.
        for (key, (_, default)) in &documented {
            let read = toml::from_str::<Written>(&text(key));
            assert_eq!(read.is_err(), default == "required", "{key}: {:?}", read.err());
        }
        for (key, (kind, _)) in documented.iter().filter(|(key, _)| *key != "needs") {
            let wrong = text(key) + &format!("{key} = {}\n", if kind == "string" { "[]" } else { "\"a\"" });
            assert!(toml::from_str::<Written>(&wrong).is_err(), "{key} takes another type than {kind}");
        }
        let least: Written = toml::from_str("name = \"a\"\nrun_list = [\"a\"]").unwrap();
        assert!(least.named_run_list.is_empty() && least.cookbooks.is_none() && least.gems.is_none());
        assert!(least.default.is_empty() && least.r#override.is_empty() && least.without_gems.is_empty());
    }

    #[test]
    fn items_have_one_full_form() {
        check("motd", Ok("recipe[motd::default]"));
        check("motd::banner", Ok("recipe[motd::banner]"));
        check("recipe[motd]", Ok("recipe[motd::default]"));
        check("recipe[motd::banner]", Ok("recipe[motd::banner]"));
        check("role[web]", Err("role"));
        check("recipe[motd@1.0.0]", Err("version"));
        check("motd::", Err("impossible recipe name"));
        check("::default", Err("impossible cookbook name"));
        check("a/b", Err("impossible cookbook name"));
        check("", Err("impossible cookbook name"));
        check("recipe[motd", Err("must be recipe[] or role[]"));
    }
}
