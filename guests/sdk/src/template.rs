//! Renders templates with minijinja inside the guest. The host does not have a template engine.
//!
//! A template reads its `variables` by name and attributes as `node("a.b")`. It can include other templates of its cookbook
//! by name. As in Jinja, `{{ true }}` writes `True`. If this matters, write `{{ "yes" if it else "no" }}`.

use crate::bindings::wrun::cookbooks::files as cookbooks;
use crate::error::{Error, Result};
use crate::near::{did_you_mean, nearest};
use crate::node;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{Environment, ErrorKind, UndefinedBehavior};
use serde_json::Value;

/// The maximum number of minijinja instructions for a template. It is enough for hundreds of thousands of lines, and it ends
/// endless loops.
const FUEL: u64 = 50_000_000;

/// Renders the most specific of a cookbook's templates for this node.
pub(crate) fn render(cookbook: &str, sources: &[String], variables: Value) -> Result<Vec<u8>> {
    let path =
        cookbooks::locate(cookbook, "templates", sources).map_err(|error| missing_file(cookbook, sources, error))?;
    let text = read(cookbook, &path)?;
    let mut environment = Environment::new();
    // A misspelt variable must be an error. Otherwise it would silently be empty in a configuration file.
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    // Lines that contain only a tag produce no output. A file's last newline stays.
    let mut syntax = SyntaxConfig::builder();
    syntax.trim_blocks(true).lstrip_blocks(true).keep_trailing_newline(true);
    environment.set_syntax(syntax.build().map_err(|error| failed(cookbook, &path, &error, None))?);
    environment.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
    environment.set_fuel(Some(FUEL));
    let owner = cookbook.to_owned();
    environment.set_loader(move |name| {
        let path =
            cookbooks::locate(&owner, "templates", &[name.to_owned()]).map_err(|_| not_included(&owner, name))?;
        read(&owner, &path)
            .map(Some)
            .map_err(|error| minijinja::Error::new(ErrorKind::BadSerialization, error.to_string()))
    });
    environment.add_function("node", |path: String| -> std::result::Result<minijinja::Value, minijinja::Error> {
        let found = node::get::<Value>(&path)
            .map_err(|error| minijinja::Error::new(ErrorKind::UndefinedError, error.to_string()))?;
        Ok(Serde(found).into())
    });
    environment.add_template_owned(path.clone(), text).map_err(|error| failed(cookbook, &path, &error, None))?;
    let template = environment.get_template(&path).map_err(|error| failed(cookbook, &path, &error, None))?;
    let variables = by_name(variables)?;
    let rendered = template.render(minijinja::Value::from(Serde(&variables)));
    let rendered = rendered.map_err(|error| {
        let undefined = undefined_names(&environment, cookbook, &path, &error, &variables);
        failed(cookbook, &path, &error, undefined)
    })?;
    Ok(rendered.into_bytes())
}

/// Returns the variables as an object. Without any, it is empty.
fn by_name(variables: Value) -> Result<Value> {
    let kind = match variables {
        Value::Null => return Ok(Value::Object(serde_json::Map::new())),
        Value::Object(_) => return Ok(variables),
        Value::Array(_) => "a list",
        Value::String(_) => "a string",
        Value::Number(_) => "a number",
        Value::Bool(_) => "a boolean",
    };
    let message = format!("the variables of a template have names, but these are {kind}");
    Err(Error::new("ArgumentError", message).with_hint("give a map or a struct: `json!({ \"servers\": servers })`"))
}

fn not_included(cookbook: &str, name: &str) -> minijinja::Error {
    let hint = templates_hint(cookbook, name).map(|hint| format!("; {hint}")).unwrap_or_default();
    let message = format!("cookbook {cookbook} does not have the template {name}{hint}");
    minijinja::Error::new(ErrorKind::TemplateNotFound, message)
}

/// Returns the error about a missing template, with a similar name or the names of the cookbook's templates.
fn missing_file(cookbook: &str, sources: &[String], error: cookbooks::FileError) -> Error {
    let error = not_found(error);
    match sources.first().and_then(|name| templates_hint(cookbook, name)) {
        Some(hint) => error.with_hint(hint),
        None => error,
    }
}

/// The maximum number of names in a hint.
const MAX_LISTED: usize = 10;

/// Returns a hint with a similar template name or the names of the cookbook's templates. Returns `None` if they are unknown.
fn templates_hint(cookbook: &str, name: &str) -> Option<String> {
    let paths = cookbooks::paths(cookbook, "templates").ok()?;
    let below = paths.iter().map(|path| path.strip_prefix("templates/").unwrap_or(path));
    let names: Vec<&str> = below.map(|path| path.strip_prefix("default/").unwrap_or(path)).collect();
    if names.is_empty() {
        return Some(format!("cookbook {cookbook} does not have any templates: put them into {cookbook}/templates/"));
    }
    let more = if names.len() > MAX_LISTED { ", .." } else { "" };
    let listed = || names.iter().take(MAX_LISTED).copied().collect::<Vec<_>>().join(", ");
    let near = near_file(name, &names).map(|near| format!("did you mean `{near}`?"));
    Some(near.unwrap_or_else(|| format!("cookbook {cookbook} has the templates {}{more}", listed())))
}

/// Returns the file whose own name, without folder and endings, is the same or nearly so. Otherwise `web.conf.j2` would count as
/// nearly `app.conf.j2`.
fn near_file<'a>(name: &str, files: &[&'a str]) -> Option<&'a str> {
    let stem = |path: &str| {
        let file = path.rsplit('/').next().unwrap_or(path);
        file.split('.').next().unwrap_or(file).to_owned()
    };
    let wanted = stem(name);
    let stems: Vec<String> = files.iter().map(|file| stem(file)).collect();
    let near = nearest(&wanted, stems.iter().map(String::as_str))?;
    let alike = files.iter().zip(&stems).filter(|(_, stem)| *stem == near).map(|(file, _)| *file);
    let alike: Vec<&str> = alike.collect();
    nearest(name, alike.iter().copied()).or(alike.first().copied())
}

/// Finds the undefined variables on the line of an error, from the template's text.
fn undefined_names(
    environment: &Environment<'_>,
    cookbook: &str,
    path: &str,
    error: &minijinja::Error,
    variables: &Value,
) -> Option<Undefined> {
    if error.kind() != ErrorKind::UndefinedError || error.detail().is_some() {
        return None;
    }
    let file = error.name().unwrap_or(path);
    let names = environment.get_template(file).ok()?.undeclared_variables(true);
    let located = cookbooks::locate(cookbook, "templates", &[file.to_owned()]).unwrap_or_else(|_| file.to_owned());
    let text = read(cookbook, &located).ok()?;
    let line = text.lines().nth(error.line()?.checked_sub(1)?)?;
    // What the environment offers itself, such as `node`, is not a variable.
    let is_offered = |name: &str| environment.globals().any(|(known, _)| known == name);
    let is_missing = |name: &String| line.contains(name.as_str()) && !has(variables, name) && !is_offered(name);
    let mut missing: Vec<String> = names.into_iter().filter(is_missing).collect();
    missing.sort();
    // Variables of loops are not among the given variables. So the line's only expression may be the undefined one.
    if missing.is_empty() {
        missing.extend(only_path(line));
    }
    let known = variables.as_object().into_iter().flatten().map(|(name, _)| name.as_str());
    let hint = missing.first().and_then(|name| did_you_mean(name, known));
    (!missing.is_empty()).then_some(Undefined { names: missing, hint })
}

/// Returns the path in the line's only `{{ .. }}`, such as `item.name`. Returns `None` for several expressions or other ones.
fn only_path(line: &str) -> Option<String> {
    let (_, rest) = line.split_once("{{")?;
    let (expression, rest) = rest.split_once("}}")?;
    let path = expression.trim_matches(|letter: char| letter.is_whitespace() || letter == '-');
    let is_path = path.chars().all(|letter| letter.is_alphanumeric() || letter == '_' || letter == '.');
    (is_path && !path.is_empty() && !rest.contains("{{")).then(|| path.to_owned())
}

/// Variables that a template uses but did not get.
struct Undefined {
    names: Vec<String>,
    hint: Option<String>,
}

/// Returns true if the variables have a value at `a.b.c`.
fn has(variables: &Value, name: &str) -> bool {
    name.split('.').try_fold(variables, |value, key| value.get(key)).is_some()
}

fn not_found(error: cookbooks::FileError) -> Error {
    match error {
        cookbooks::FileError::NoSuchCookbook(text) => Error::new("Chef::Exceptions::CookbookNotFound", text),
        cookbooks::FileError::TooMuch(text) => Error::new("RangeError", text),
        cookbooks::FileError::NoSuchFile(text) => Error::new("Chef::Exceptions::FileNotFound", text),
    }
}

fn read(cookbook: &str, path: &str) -> Result<String> {
    let bytes = cookbooks::read(cookbook, path).map_err(not_found)?;
    String::from_utf8(bytes).map_err(|_| Error::new("EncodingError", format!("{cookbook}/{path} is not UTF-8")))
}

/// Returns the error of a template, with the template's line as its place and the names of undefined variables.
fn failed(cookbook: &str, path: &str, error: &minijinja::Error, undefined: Option<Undefined>) -> Error {
    let file = error.name().unwrap_or(path);
    let undefined = undefined.unwrap_or(Undefined { names: vec![], hint: None });
    let message = match (&undefined.names[..], error.kind(), error.detail()) {
        ([], ErrorKind::UndefinedError, Some(detail)) => detail.to_owned(),
        ([], ErrorKind::UndefinedError, None) => "the template uses a value that is not set".to_owned(),
        ([], kind, Some(detail)) => format!("{kind}: {detail}"),
        ([], kind, None) => kind.to_string(),
        ([one], _, _) => format!("the template uses the variable `{one}`, which is not set"),
        (several, _, _) => format!("the template uses variables that are not set: {}", several.join(", ")),
    };
    let mut raised = Error::new("Chef::Mixin::Template::TemplateError", message);
    raised.0.backtrace = vec![format!("{cookbook}/{file}:{}", error.line().unwrap_or(1))];
    match undefined.hint {
        Some(hint) => raised.with_hint(hint),
        None => raised,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_files_with_nearly_the_same_own_name_are_near() {
        let files = ["app.conf.j2", "site/motd.j2", "hosts.j2"];
        let check = |name: &str, expected: Option<&str>| assert_eq!(near_file(name, &files), expected, "{name}");
        check("web.conf.j2", None);
        check("apps.conf.j2", Some("app.conf.j2"));
        check("motd.erb", Some("site/motd.j2"));
        check("hots.j2", Some("hosts.j2"));
    }

    #[test]
    fn variables_without_names_are_an_error() {
        assert_eq!(by_name(Value::Null).unwrap(), json!({}));
        let error = by_name(json!(["a"])).unwrap_err();
        assert_eq!(error.message(), "the variables of a template have names, but these are a list");
        assert!(
            format!("{error:?}").ends_with("; give a map or a struct: `json!({ \"servers\": servers })`"),
            "{error:?}"
        );
    }
}
