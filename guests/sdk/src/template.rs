//! Templates: minijinja, rendered here. The host has no template engine.
//!
//! A template sees its `variables` by name, the whole `node` lazily as `node("a.b")`, and includes others of its
//! cookbook by name. As in Jinja, `{{ true }}` writes `True`: say `{{ "yes" if it else "no" }}` where that matters.

use crate::bindings::wrun::cookbook::cookbooks;
use crate::error::{Error, Result};
use crate::node;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{Environment, ErrorKind, UndefinedBehavior};
use serde_json::Value;

/// What a template may take to render: enough for hundreds of thousands of lines, short of an endless loop.
const FUEL: u64 = 50_000_000;

/// Renders the most specific of a cookbook's templates for this node.
pub(crate) fn render(cookbook: &str, sources: &[String], variables: Value) -> Result<Vec<u8>> {
    let path = cookbooks::locate(cookbook, "templates", sources).map_err(not_found)?;
    let text = read(cookbook, &path)?;
    let mut environment = Environment::new();
    // A misspelt variable is an error, not an empty place in a configuration file.
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    // Tags on lines of their own leave no trace; a file's last newline stays.
    let mut syntax = SyntaxConfig::builder();
    syntax.trim_blocks(true).lstrip_blocks(true).keep_trailing_newline(true);
    environment.set_syntax(syntax.build().map_err(|error| failed(cookbook, &path, &error))?);
    environment.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
    environment.set_fuel(Some(FUEL));
    let owner = cookbook.to_owned();
    environment.set_loader(move |name| {
        let path = cookbooks::locate(&owner, "templates", &[name.to_owned()]).map_err(|_| missing(name))?;
        read(&owner, &path)
            .map(Some)
            .map_err(|error| minijinja::Error::new(ErrorKind::BadSerialization, error.to_string()))
    });
    environment.add_function("node", |path: String| -> std::result::Result<minijinja::Value, minijinja::Error> {
        let found =
            node::value(&path).map_err(|error| minijinja::Error::new(ErrorKind::UndefinedError, error.to_string()))?;
        Ok(Serde(found).into())
    });
    environment.add_template_owned(path.clone(), text).map_err(|error| failed(cookbook, &path, &error))?;
    let template = environment.get_template(&path).map_err(|error| failed(cookbook, &path, &error))?;
    let variables = if variables.is_null() { Value::Object(serde_json::Map::new()) } else { variables };
    let rendered = template.render(minijinja::Value::from(Serde(variables)));
    Ok(rendered.map_err(|error| failed(cookbook, &path, &error))?.into_bytes())
}

fn missing(name: &str) -> minijinja::Error {
    minijinja::Error::new(ErrorKind::TemplateNotFound, format!("the cookbook has no template {name}"))
}

fn not_found(error: cookbooks::FileError) -> Error {
    match error {
        cookbooks::FileError::NoSuchCookbook(text) => Error::new("Chef::Exceptions::CookbookNotFound", text),
        cookbooks::FileError::NoSuchFile(text) => Error::new("Chef::Exceptions::FileNotFound", text),
    }
}

fn read(cookbook: &str, path: &str) -> Result<String> {
    let bytes = cookbooks::read(cookbook, path).map_err(not_found)?;
    String::from_utf8(bytes).map_err(|_| Error::new("EncodingError", format!("{cookbook}/{path} is not UTF-8")))
}

/// The template's own place comes first: that is where a person must look.
fn failed(cookbook: &str, path: &str, error: &minijinja::Error) -> Error {
    let file = error.name().unwrap_or(path);
    let line = error.line().unwrap_or(0);
    let mut raised = Error::new("Chef::Mixin::Template::TemplateError", format!("{cookbook}/{file}:{line}: {error}"));
    raised.0.backtrace = vec![format!("{cookbook}/{file}:{line}")];
    raised
}
