//! Reads the sources of a policy.toml for cookbooks outside of its folder, and the policies that it includes.
//!
//! ```toml
//! [[include]]
//! name = "base"
//! path = "../base"
//!
//! [sources]
//! chef_repo = "../shared"
//!
//! [cookbooks]
//! ntp = "~> 3.0"
//! apache = { version = ">= 1.0", git = "https://example.com/apache.git", branch = "main" }
//! ```
//!
//! These are the keys of a Policyfile, and the same code in `policyfile` checks them.

use std::fmt;

use policyfile::model::{
    CookbookSpec, DefaultSource, IncludeSpec, Problem, WrittenSource, constraint_on, cookbook_source,
};
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use toml::Spanned;

use super::AuthorError;
use super::toml_file::TomlFile;

/// The keys of a cookbook in `[cookbooks]`, beside `version`.
const COOKBOOK_KEYS: [&str; 11] = [
    "path",
    "git",
    "github",
    "branch",
    "tag",
    "ref",
    "revision",
    "rel",
    "artifactserver",
    "chef_server",
    "artifactory",
];

/// The key of a cookbook with the versions that may be taken.
const VERSION: &str = "version";

/// The value of `cookbooks`: folders, or cookbooks by name.
pub(super) enum WrittenCookbooks {
    /// The only folders of cookbooks, relative to the file.
    Folders(Vec<Spanned<String>>),
    /// Cookbooks beside those in `cookbooks/`, each a constraint or a table.
    Named(Vec<(String, Spanned<toml::Value>)>),
}

impl<'de> Deserialize<'de> for WrittenCookbooks {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ListOrTable;

        impl<'de> Visitor<'de> for ListOrTable {
            type Value = WrittenCookbooks;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a list of folders, or a table of cookbooks")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
                let mut folders = vec![];
                while let Some(folder) = list.next_element()? {
                    folders.push(folder);
                }
                Ok(WrittenCookbooks::Folders(folders))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut named = vec![];
                while let Some(cookbook) = map.next_entry()? {
                    named.push(cookbook);
                }
                Ok(WrittenCookbooks::Named(named))
            }
        }

        deserializer.deserialize_any(ListOrTable)
    }
}

/// One table `[[include]]` of policy.toml, as written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenInclude {
    name: Spanned<String>,
    path: Option<String>,
    git: Option<String>,
    remote: Option<String>,
    server: Option<String>,
    branch: Option<String>,
    tag: Option<String>,
    r#ref: Option<String>,
    revision: Option<String>,
    sha: Option<String>,
    policy_revision_id: Option<String>,
    policy_name: Option<String>,
    policy_group: Option<String>,
}

/// The table `[sources]` of policy.toml, as written.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenSources {
    chef_repo: Option<Spanned<toml::Value>>,
    supermarket: Option<Spanned<toml::Value>>,
    chef_server: Option<Spanned<toml::Value>>,
}

/// The sources of cookbooks, besides the policy's own folder.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Origins {
    /// The policies that are included.
    pub(crate) includes: Vec<IncludeSpec>,
    /// The sources that are searched for cookbooks without a source of their own, in order.
    pub(crate) sources: Vec<DefaultSource>,
    /// The cookbooks that are named with a constraint or a source.
    pub(crate) cookbooks: Vec<CookbookSpec>,
}

impl Origins {
    /// Checks the sources and includes of a file.
    pub(super) fn read(
        file: &TomlFile,
        includes: Vec<WrittenInclude>,
        sources: WrittenSources,
        cookbooks: Vec<(String, Spanned<toml::Value>)>,
    ) -> Result<Self, AuthorError> {
        let mut all = Self::default();
        for written in includes {
            let include = include(file, written)?;
            if let Some(previous) = all.includes.iter().find(|previous| previous.name == include.name) {
                let what = format!("the policy {:?} is included on line {} already", include.name, previous.line);
                return Err(file.wrong_on(include.line, what));
            }
            all.includes.push(include);
        }
        let WrittenSources { chef_repo, supermarket, chef_server } = sources;
        for (kind, value) in [("chef_repo", chef_repo), ("supermarket", supermarket), ("chef_server", chef_server)] {
            let Some(value) = value else { continue };
            let line = file.line_of(&value.span());
            for source in places(kind, line, value.into_inner()).map_err(|problem| file.problem(problem))? {
                all.sources.push(source.check().map_err(|problem| file.problem(problem))?);
            }
        }
        if let Some(problem) = policyfile::model::preferred_twice(&all.sources).into_iter().next() {
            return Err(file.problem(problem));
        }
        for (name, value) in cookbooks {
            all.cookbooks.push(cookbook(file, name, &value)?);
        }
        Ok(all)
    }

    /// The paths of included policies and of cookbooks, as written.
    pub(super) fn folders(&self) -> impl Iterator<Item = &str> {
        let includes = self.includes.iter().map(|include| &include.options);
        let options = includes.chain(self.cookbooks.iter().map(|cookbook| &cookbook.options));
        options.filter(|options| !options.contains_key("git")).filter_map(|options| options.get("path")?.as_str())
    }

    /// Tells whether there is nothing to resolve: the cookbooks are then only the folders beside the file.
    pub(crate) fn is_empty(&self) -> bool {
        self.includes.is_empty() && self.sources.is_empty() && self.cookbooks.is_empty()
    }
}

fn include(file: &TomlFile, written: WrittenInclude) -> Result<IncludeSpec, AuthorError> {
    let line = file.line_of(&written.name.span());
    let pairs = [
        ("path", written.path),
        ("git", written.git),
        ("remote", written.remote),
        ("server", written.server),
        ("branch", written.branch),
        ("tag", written.tag),
        ("ref", written.r#ref),
        ("revision", written.revision),
        ("sha", written.sha),
        ("policy_revision_id", written.policy_revision_id),
        ("policy_name", written.policy_name),
        ("policy_group", written.policy_group),
    ];
    let pairs = pairs.into_iter().filter_map(|(key, value)| Some((key.to_owned(), Value::from(value?))));
    let include = IncludeSpec { name: written.name.into_inner(), options: pairs.collect(), line };
    match include.problems().into_iter().next() {
        Some(problem) => Err(file.problem(problem)),
        None => Ok(include),
    }
}

/// The places of one kind: a text, a table `{ path = .., preferred_for = [..] }`, or a list of them.
fn places(kind: &str, line: u32, value: toml::Value) -> Result<Vec<WrittenSource>, Problem> {
    let wrong = || {
        let what = format!(
            "`{kind}` in [sources] is a path or an address, a table with `path` or `url` and `preferred_for`, or a list of them"
        );
        Problem { line, what }
    };
    let values = match value {
        toml::Value::Array(values) => values,
        value => vec![value],
    };
    let source = |value: toml::Value| {
        let (argument, preferred) = match value {
            toml::Value::String(place) => (place, vec![]),
            toml::Value::Table(table) => {
                if table.keys().any(|key| !["path", "url", "preferred_for"].contains(&key.as_str())) {
                    return Err(wrong());
                }
                let place = table.get("path").or_else(|| table.get("url")).and_then(toml::Value::as_str);
                let preferred = match table.get("preferred_for") {
                    None => Some(vec![]),
                    Some(list) => list.as_array().and_then(|list| {
                        list.iter().map(|name| Some(name.as_str()?.to_owned())).collect::<Option<Vec<_>>>()
                    }),
                };
                (place.ok_or_else(wrong)?.to_owned(), preferred.ok_or_else(wrong)?)
            }
            _ => return Err(wrong()),
        };
        Ok(WrittenSource { kind: kind.to_owned(), argument: Some(argument), preferred, line })
    };
    values.into_iter().map(source).collect()
}

fn cookbook(file: &TomlFile, name: String, value: &Spanned<toml::Value>) -> Result<CookbookSpec, AuthorError> {
    let line = file.line_of(&value.span());
    let (version, mut options) = match value.get_ref() {
        toml::Value::String(version) => (Some(version.as_str()), Map::new()),
        toml::Value::Table(table) => {
            let mut options = Map::new();
            let mut version = None;
            for (key, value) in table {
                let Some(text) = value.as_str() else {
                    return Err(file.wrong_on(line, format!("`{key}` of cookbook {name:?} must be a string")));
                };
                match key.as_str() {
                    VERSION => version = Some(text),
                    key if COOKBOOK_KEYS.contains(&key) => drop(options.insert(key.to_owned(), text.into())),
                    key => {
                        let known = COOKBOOK_KEYS.iter().copied().chain([VERSION]);
                        let near = text::nearest(key, known).map(|near| format!("; did you mean `{near}`?"));
                        let what = format!("cookbook {name:?} has the unknown key `{key}`");
                        return Err(file.wrong_on(line, format!("{what}{}", near.unwrap_or_default())));
                    }
                }
            }
            (version, options)
        }
        _ => {
            let what = format!("cookbook {name:?} is a constraint such as \"~> 3.0\", or a table with a source");
            return Err(file.wrong_on(line, what));
        }
    };
    // An address is for exactly one version, so the version is part of the source.
    if let Some(version) =
        version.filter(|_| ["artifactserver", "chef_server"].iter().any(|key| options.contains_key(*key)))
    {
        options.insert(VERSION.to_owned(), version.into());
    }
    let constraint = constraint_on(line, version).map_err(|problem| file.problem(problem))?;
    let source = cookbook_source(&name, &options).map_err(|what| file.wrong_on(line, what))?;
    Ok(CookbookSpec { name, constraint, options, source, line })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: Result<&str, &str>) {
        #[derive(Deserialize)]
        struct Whole {
            #[serde(default)]
            include: Vec<WrittenInclude>,
            #[serde(default)]
            sources: WrittenSources,
            cookbooks: Option<WrittenCookbooks>,
        }
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("policy.toml"), text).unwrap();
        let held = plain_files::HeldFolder::open(folder.path()).unwrap();
        let file = TomlFile::read(&held, "policy.toml").unwrap().unwrap();
        let read = file.parse().and_then(|Whole { include, sources, cookbooks }| {
            let named = match cookbooks {
                Some(WrittenCookbooks::Named(named)) => named,
                _ => vec![],
            };
            Origins::read(&file, include, sources, named)
        });
        let shown = read.map(|origins| {
            let includes = origins
                .includes
                .iter()
                .map(|one| format!("{}:{} {}", one.line, one.name, Value::Object(one.options.clone())));
            let sources = origins.sources.iter().map(|one| format!("{}:{} {:?}", one.line, one.place, one.preferred));
            let cookbooks = origins.cookbooks.iter().map(|one| {
                format!("{}:{} {} {}", one.line, one.name, one.constraint, Value::Object(one.options.clone()))
            });
            includes.chain(sources).chain(cookbooks).collect::<Vec<_>>().join("; ")
        });
        match (shown.map_err(|error| error.to_string()), expect) {
            (Ok(got), Ok(expect)) => assert_eq!(got, expect),
            (Err(got), Err(part)) => assert!(got.contains(part), "{got}"),
            (got, expect) => panic!("{text:?}: {got:?} is not {expect:?}"),
        }
    }

    #[test]
    fn origins_are_read_strictly_and_with_their_lines() {
        check("cookbooks = [\"a\"]", Ok(""));
        check("[[include]]\nname = \"b\"\npath = \"../b\"", Ok("2:b {\"path\":\"../b\"}"));
        check(
            "[[include]]\nname = \"b\"\ngit = \"x\"\nref = \"v1\"\npolicy_revision_id = \"0\"",
            Ok("2:b {\"git\":\"x\",\"ref\":\"v1\",\"policy_revision_id\":\"0\"}"),
        );
        check(
            "[[include]]\nname = \"b\"",
            Err("policy.toml:2: include_policy \"b\" must use one of the following sources"),
        );
        check("[[include]]\nname = \"b\"\nserver = \"x\"", Err("policy.toml:2: include_policy for b must specify"));
        check("[[include]]\nname = \"b\"\npth = \"x\"", Err("policy.toml:3: "));
        check("[[include]]\npath = \"x\"", Err("`name`"));
        let twice = "[[include]]\nname = \"b\"\npath = \"x\"\n[[include]]\nname = \"b\"\npath = \"y\"";
        check(twice, Err("policy.toml:5: the policy \"b\" is included on line 2 already"));
        check("[sources]\nchef_repo = \"..\"", Ok("2:chef_repo(..) []"));
        let two = "[sources]\nchef_repo = [\"a\", { path = \"b\", preferred_for = [\"x\"] }]";
        check(two, Ok("2:chef_repo(a) []; 2:chef_repo(b) [\"x\"]"));
        let both = "[sources]\nchef_repo = [{ path = \"a\", preferred_for = [\"x\"] }, { path = \"b\", preferred_for = [\"x\"] }]";
        check(both, Err("are both set as the preferred source"));
        check("[sources]\nchef_repo = 1", Err("policy.toml:2: `chef_repo` in [sources] is a path"));
        check("[sources]\nchef_repo = { path = \"a\", prefered_for = [] }", Err("policy.toml:2: "));
        check("[sources]\nsupermaket = \"x\"", Err("policy.toml:2: "));
        check("[cookbooks]\nntp = \"~> 3.0\"", Ok("2:ntp ~> 3.0 {}"));
        check("[cookbooks]\nntp = { git = \"x\", version = \"1.0.0\" }", Ok("2:ntp = 1.0.0 {\"git\":\"x\"}"));
        check(
            "[cookbooks]\nntp = { artifactserver = \"https://x/y\", version = \"1.0.0\" }",
            Ok("2:ntp = 1.0.0 {\"artifactserver\":\"https://x/y\",\"version\":\"1.0.0\"}"),
        );
        check("[cookbooks]\nntp = { artifactserver = \"x\" }", Err("needs its `version` beside it"));
        check("[cookbooks]\nntp = { gitt = \"x\" }", Err("unknown key `gitt`; did you mean `git`?"));
        check("[cookbooks]\nntp = { path = \"x\", git = \"y\" }", Err("has several sources"));
        check("[cookbooks]\nntp = { branch = \"main\" }", Err("invalid source options"));
        check("[cookbooks]\nntp = 3", Err("policy.toml:2: cookbook \"ntp\" is a constraint"));
        check("[cookbooks]\nntp = \"about 3\"", Err("policy.toml:2: \"about 3\" is not a version constraint"));
        check("cookbooks = \"a\"", Err("a list of folders, or a table of cookbooks"));
    }
}
