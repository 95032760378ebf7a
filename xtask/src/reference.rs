//! Generates the book's pages about resource types from the schema, with an example in each language.
//!
//! The examples come from the test guest `reference`: its functions in Rust, and the recipes of its cookbook in Ruby. A test
//! runs both and compares the declared resources, so that all examples work.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::{Context as _, Result};

use crate::checkout;
use author::check::grant_keys;

/// The beginning of the part of a type's reference that is the same for all types.
const COMMON: &str = "\n## Properties of all types\n";

/// The type that supplies the reference of all common properties, because it has no properties of its own.
const WITHOUT_OWN_PROPERTIES: &str = "notify_group";

/// Returns the pages: their paths and contents.
pub(crate) fn pages() -> Result<Vec<(PathBuf, String)>> {
    let folder = checkout::root().join("docs/resources");
    let fixture = checkout::fixture_source("reference");
    let source = read(fixture.join("src/examples.rs"))?;
    let in_rust = functions(&source);
    let mut pages = vec![(folder.join("index.md"), index()?)];
    for resource in schema::reference::all() {
        let recipe = fixture.join(format!("cookbooks/reference/recipes/{}.rb", resource.name));
        let in_ruby = if recipe.is_file() { Some(read(recipe)?) } else { None };
        let in_rust = in_rust.get(resource.name).map(String::as_str);
        let text = page(&schema::reference::type_text(resource, &grant_keys), in_ruby.as_deref(), in_rust);
        pages.push((folder.join(format!("{}.md", resource.name)), text));
    }
    Ok(pages)
}

fn read(path: PathBuf) -> Result<String> {
    std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))
}

/// Returns one type's page: its reference, with the examples above the actions.
fn page(reference: &str, in_ruby: Option<&str>, in_rust: Option<&str>) -> String {
    let own = reference.split(COMMON).next().unwrap_or(reference);
    let (about, rest) = own.split_once("\n## Actions\n").unwrap_or((own, ""));
    let mut text = about.to_owned();
    for (language, name, example) in [("Ruby", "ruby", in_ruby), ("Rust", "rust", in_rust)] {
        if let Some(example) = example {
            text.push_str(&format!("\nIn {language}:\n\n```{name}\n{}\n```\n", example.trim_end()));
        }
    }
    text.push_str(&format!("\n## Actions\n{}\n", rest.trim_end()));
    // A type without properties of its own has a heading and nothing below it.
    let text = text.trim_end().trim_end_matches("\n## Properties").trim_end().to_owned();
    format!("{text}\n\nThe type also has the [properties of all types](index.md#properties-of-all-types).\n")
}

/// Returns the page with the list of all types and the common properties.
fn index() -> Result<String> {
    let mut text = String::from(
        "# Resource types\n\nA recipe declares resources. Each has a type, a name, actions and properties. `wrun resources` prints \
         the same in a terminal.\n\nThe examples are run by the tests: in both languages they declare the same. Whatever an action \
         touches has to be [granted](../grants.md): the list names the keys for each type. A property that needs a grant of its own \
         says so, and so does one whose effect on other things comes with the grant for the resource.\n\n| Type | |\n|---|---|\n",
    );
    for line in schema::reference::list_text(&grant_keys).lines() {
        let (name, about) = line.split_once(' ').unwrap_or((line, ""));
        text.push_str(&format!("| [{name}]({name}.md) | {} |\n", about.trim()));
    }
    let all = schema::reference::find(WITHOUT_OWN_PROPERTIES).context("the schema has no type without properties")?;
    let reference = schema::reference::type_text(all, &grant_keys);
    let common = reference.split_once(COMMON).map_or("", |(_, common)| common);
    text.push_str(&format!(
        "{COMMON}\n{}\n\nGuards and notifications are not properties: `not_if`, `only_if`, `notifies` and `subscribes` are \
         there for each type, as in Chef.\n",
        common.trim()
    ));
    Ok(text)
}

/// Returns the bodies of the functions `TYPE_example` by type, without indentation.
fn functions(source: &str) -> BTreeMap<&str, String> {
    let mut found = BTreeMap::new();
    for part in source.split("pub(crate) fn ").skip(1) {
        let Some((name, rest)) = part.split_once("_example() -> Result {\n") else { continue };
        let body = rest.split("\n}\n").next().unwrap_or_default();
        let lines: Vec<&str> = body.lines().map(|line| line.strip_prefix("    ").unwrap_or(line)).collect();
        found.insert(name, lines.join("\n"));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_are_the_bodies_of_functions() {
        let source = "use x;\n\npub(crate) fn a_example() -> Result {\n    one()\n        .two()\n}\n\npub(crate) fn b_example() -> Result {\n    b()\n}\n";
        let found = functions(source);
        assert_eq!(found.get("a").map(String::as_str), Some("one()\n    .two()"));
        assert_eq!(found.get("b").map(String::as_str), Some("b()"));
    }

    #[test]
    fn a_page_has_examples_above_the_actions_and_no_common_properties() {
        let reference =
            "# a\n\nDoes.\n\n## Actions\n\n- `x`\n\n## Properties\n\n\n## Properties of all types\n\n- `name`\n";
        let text = page(reference, Some("a 'b'\n"), None);
        let expected = "# a\n\nDoes.\n\nIn Ruby:\n\n```ruby\na 'b'\n```\n\n## Actions\n\n- `x`\n\nThe type also has the [properties of all types](index.md#properties-of-all-types).\n";
        assert_eq!(text, expected);
    }
}
