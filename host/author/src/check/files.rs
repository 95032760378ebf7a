//! Templates and files that a resource's `source` names and the cookbook does not have.

use super::facts::Resource;
use super::gather::Gathered;
use super::verdict::Verdict;
use serde_json::Value;
use text::nearest;

/// Types that take a file from a cookbook, with the cookbook's folder and the ending that is added to a resource's name
/// without a `source`.
const TAKING: [(&str, &str, &str); 3] =
    [("template", "templates", ".erb"), ("cookbook_file", "files", ""), ("remote_directory", "files", "")];

/// Judges one resource. Only the sources that are literal are known; one of several values is enough.
pub(super) fn missing(gathered: &Gathered, file: &str, resource: &Resource, line: u32) -> Option<(u32, Verdict)> {
    let (kind, folder, ending) = TAKING.into_iter().find(|(kind, ..)| *kind == resource.kind)?;
    if !creates(resource) || !is_own(gathered, resource) {
        return None;
    }
    let (sources, line) = match resource.property("source") {
        Some(property) => (resource.texts("source")?, property.line),
        None => (default_sources(resource, ending)?, line),
    };
    if sources.is_empty() || sources.iter().any(|source| is_there(gathered, kind, folder, source)) {
        return None;
    }
    let shown = sources.iter().map(|source| format!("`{source}`")).collect::<Vec<_>>().join(" or ");
    let names = gathered.files.iter().filter_map(|path| path.strip_prefix(folder)?.rsplit('/').next());
    let near = sources.first().and_then(|source| nearest(source, names)).map(str::to_owned);
    let named = resource.texts("cookbook").is_some();
    let verdict = if file.starts_with("recipes/") || named {
        let is_ignored = resource.property("ignore_failure").is_some();
        Verdict::problem("source", format!("`{kind}`: there is no {shown} in {folder}/")).always_fails(!is_ignored)
    } else {
        // Without the property `cookbook`, a custom resource takes files from the cookbook whose recipe declares it.
        let message = format!("`{kind}`: there is no {shown} in {folder}/: the cookbook that uses it has to have one");
        Verdict::note("source", message)
    };
    Some((line, verdict.near(near.as_deref())))
}

/// Whether a file is made: `:create` and its like, or the type's default.
fn creates(resource: &Resource) -> bool {
    match resource.property("action") {
        None => true,
        Some(property) => {
            let actions = property.values.iter().flatten().filter_map(Value::as_str);
            actions.into_iter().any(|action| action.starts_with("create"))
        }
    }
}

/// Whether the file is looked for in this cookbook.
fn is_own(gathered: &Gathered, resource: &Resource) -> bool {
    let is_local = resource.property("local").is_some();
    let cookbook = match resource.property("cookbook") {
        None => true,
        Some(_) => resource.texts("cookbook").is_some_and(|names| names == [gathered.name.as_str()]),
    };
    !is_local && cookbook
}

/// Returns the file names that follow from the resource's name or path, or `None` if that is computed.
pub(super) fn default_sources(resource: &Resource, ending: &str) -> Option<Vec<String>> {
    let names = resource.named_by("name")?;
    let base = |name: &String| Some(format!("{}{ending}", name.trim_end_matches('/').rsplit('/').next()?));
    names.iter().map(base).collect()
}

/// Tells whether the file exists in the folder itself, or in a folder for a host, a platform or `default`.
fn is_there(gathered: &Gathered, kind: &str, folder: &str, source: &str) -> bool {
    let wanted = source.trim_matches('/');
    let is_directory = kind == "remote_directory";
    gathered.files.iter().filter_map(|path| path.strip_prefix(folder)?.strip_prefix('/')).any(|path| {
        let fits = |inside: &str| match inside.strip_prefix(wanted) {
            Some(rest) => rest.is_empty() || (is_directory && rest.starts_with('/')),
            None => false,
        };
        fits(path) || path.split_once('/').is_some_and(|(_, inside)| fits(inside))
    })
}
