//! The reference of built-in resource types, as `wrun resources` prints it: text that is also Markdown, and JSON.

use serde_json::{Value as Json, json};

use crate::common::COMMON;
use crate::property::{Class, Default, Literal, Matcher, Property, Required};
use crate::resource::{ImplementedBy, NOTHING, ResourceType};
use crate::ruby_types::NOT_IN_RUBY;
use crate::rust_builders::ONLY_IN_RUBY;
use crate::types;
use crate::validation::{ValidationFailed, find_without_provider, require};
use text::nearest;

/// The version of the JSON form. It grows when the meaning of a key changes or a key is removed.
pub const JSON_VERSION: u32 = 1;

/// Returns the keys of an operator's grants that a type's actions may need, by the type's name. The caller passes this
/// function, because this crate does not know grants.
pub type GrantKeys<'a> = &'a dyn Fn(&str) -> Vec<&'static str>;

/// Returns all types with an implementation, in alphabetical order, including those for Ruby only.
pub fn all() -> impl Iterator<Item = &'static ResourceType> {
    types::ALL.into_iter().filter(|resource| resource.implemented_by != ImplementedBy::Nobody)
}

/// Returns the type with this name, if it has an implementation for at least one language.
///
/// # Errors
/// Nothing carries it out: see [`require`]. A near name is one of [`all`].
pub fn find(kind: &str) -> Result<&'static ResourceType, ValidationFailed> {
    if let Some(found) = types::ruby_only().find(|resource| resource.name == kind || resource.aliases.contains(&kind)) {
        return Ok(found);
    }
    if let Some(idle) = find_without_provider(kind) {
        return Err(ValidationFailed::NoProvider { kind: idle.name });
    }
    require(kind).map_err(|error| match error {
        ValidationFailed::UnknownType { kind: shown, .. } => ValidationFailed::UnknownType {
            did_you_mean: nearest(kind, all().map(|resource| resource.name)),
            kind: shown,
        },
        other => other,
    })
}

/// Returns the list of all types, one on each line.
pub fn list_text(grants: GrantKeys<'_>) -> String {
    let width = all().map(|resource| resource.name.len()).max().unwrap_or_default();
    let line = |resource: &'static ResourceType| {
        let only = only_language(resource).map(|language| format!(" ({language} only)")).unwrap_or_default();
        let keys = grants(resource.name);
        let keys = if keys.is_empty() { String::new() } else { format!(" (grants: {})", keys.join(", ")) };
        format!("{:width$}  {}{only}{keys}\n", resource.name, first_sentence(resource.doc))
    };
    all().map(line).collect()
}

/// The languages whose cookbooks may declare a type.
fn languages(resource: &ResourceType) -> &'static [&'static str] {
    let is_for_ruby = resource.implemented_by == ImplementedBy::RubyLibrary || ONLY_IN_RUBY.contains(&resource.name);
    match (is_for_ruby, NOT_IN_RUBY.contains(&resource.name)) {
        (true, _) => &["ruby"],
        (false, true) => &["rust"],
        (false, false) => &["rust", "ruby"],
    }
}

/// Returns the only language that may declare a type, or `None` if both may.
fn only_language(resource: &ResourceType) -> Option<&'static str> {
    match languages(resource) {
        ["ruby"] => Some("Ruby"),
        ["rust"] => Some("Rust"),
        _ => None,
    }
}

/// One type's reference as Markdown.
pub fn type_text(resource: &'static ResourceType, grants: GrantKeys<'_>) -> String {
    let mut text = format!("# {}\n\n{}\n", resource.name, resource.doc);
    if !resource.aliases.is_empty() {
        text.push_str(&format!("\nAlso called: {}\n", resource.aliases.join(", ")));
    }
    if let Some(version) = resource.introduced {
        text.push_str(&format!("\nIn Chef since {version}.\n"));
    }
    if let Some(language) = only_language(resource) {
        text.push_str(&format!("\nFor cookbooks in {language} only.\n"));
    }
    if resource.implemented_by == ImplementedBy::Guest {
        text.push_str("\nThe cookbook itself carries it out.\n");
    }
    let keys = grants(resource.name);
    if !keys.is_empty() {
        text.push_str(&format!("\nKeys of the grants that its actions may need: `{}`.\n", keys.join("`, `")));
    }
    text.push_str("\n## Actions\n\n");
    for action in resource.actions.iter().copied().chain([NOTHING]) {
        let is_default = if action.name == resource.default_action { " (default)" } else { "" };
        text.push_str(&format!("- `{}`{is_default}: {}\n", action.name, action.doc));
    }
    text.push_str("\n## Properties\n\n");
    resource.documented_properties().for_each(|property| write_property(&mut text, &property));
    text.push_str("\n## Properties of all types\n\n");
    COMMON
        .iter()
        .filter(|common| resource.own_properties().all(|own| own.name != common.name))
        .for_each(|property| write_property(&mut text, property));
    text
}

/// All types as JSON: `{version, resources: [..], common: [..]}`; see [`type_json_with_grants`].
pub fn all_json(grants: GrantKeys<'_>) -> Json {
    json!({
        "version": JSON_VERSION,
        "resources": all().map(|resource| type_json_with_grants(resource, grants)).collect::<Vec<_>>(),
        "common": COMMON.iter().map(property_json).collect::<Vec<_>>(),
    })
}

/// One type as JSON, as [`type_json`], with `grants`: the keys of the grants that its actions may need.
pub fn type_json_with_grants(resource: &'static ResourceType, grants: GrantKeys<'_>) -> Json {
    let mut json = type_json(resource);
    if let Some(keys) = json.as_object_mut() {
        keys.insert("grants".into(), grants(resource.name).into());
    }
    json
}

/// One type as JSON: name, aliases, doc, languages, actions, default_action, implemented_by, introduced, identity, properties.
/// `languages` has the languages whose cookbooks may declare it: `rust`, `ruby`.
pub fn type_json(resource: &'static ResourceType) -> Json {
    json!({
        "name": resource.name,
        "aliases": resource.aliases,
        "doc": resource.doc,
        "languages": languages(resource),
        "actions": resource.actions.iter().map(|action| json!({"name": action.name, "doc": action.doc})).collect::<Vec<_>>(),
        "default_action": resource.default_action,
        "implemented_by": resource.implemented_by.word(),
        "introduced": resource.introduced,
        "identity": resource.identity().iter().map(|property| property.name).collect::<Vec<_>>(),
        "properties": resource.documented_properties().map(|one| property_json(&one)).collect::<Vec<_>>(),
    })
}

/// One property as JSON. `types` are Ruby's class names and literals in Ruby's notation; `default` is `{kind, value?}`.
pub fn property_json(property: &Property) -> Json {
    let shown = |literals: &[Literal]| literals.iter().map(|literal| literal.to_value().inspect()).collect::<Vec<_>>();
    json!({
        "name": property.name,
        "aliases": property.aliases,
        "doc": property.doc,
        "types": types(property),
        "shape": property.shape().marker(),
        "equal_to": property.equal_to.map(shown),
        "regex": property.regex.map(|patterns| patterns.iter().map(|pattern| pattern.shown()).collect::<Vec<_>>()),
        "default": default_json(property.default),
        "required": match property.required {
            Required::Never => json!(false),
            Required::Always => json!(true),
            Required::For(actions) => json!(actions),
        },
        "coercion": property.coerce.map(|coercion| coercion.doc()),
        "sensitive": property.sensitive,
        "desired_state": property.desired_state,
        "identity": property.identity,
        "collects": property.collects,
        "deputy": property.deputy.word(),
        "included_in": property.included_in,
        "introduced": property.introduced,
        "deprecated": property.deprecated,
    })
}

fn default_json(default: Default) -> Json {
    match default {
        Default::Unset => Json::Null,
        Default::Fixed(literal) => json!({"kind": "value", "value": literal.to_value().into_json()}),
        Default::Name => json!({"kind": "name"}),
        Default::SameAs(other) => json!({"kind": "same-as", "value": other}),
        Default::BaseNameOf(other) => json!({"kind": "base-name-of", "value": other}),
        Default::Described(words) => json!({"kind": "described", "value": words}),
    }
}

/// Returns the default in words, or `None` if the property does not have one.
pub(crate) fn default_words(default: Default) -> Option<String> {
    Some(match default {
        Default::Unset => return None,
        Default::Fixed(literal) => format!("`{}`", literal.to_value().inspect()),
        Default::Name => "the resource's name".to_owned(),
        Default::SameAs(other) => format!("the same as `{other}`"),
        Default::BaseNameOf(other) => format!("the last component of `{other}`"),
        Default::Described(words) => words.to_owned(),
    })
}

/// The types a property accepts, in Ruby's words.
fn types(property: &Property) -> Vec<String> {
    let matchers = property.is.unwrap_or_default().iter().map(|matcher| match matcher {
        Matcher::Class(Class::True) => "true".to_owned(),
        Matcher::Class(Class::False) => "false".to_owned(),
        Matcher::Class(class) => class.name().to_owned(),
        Matcher::Equal(literal) => literal.to_value().inspect(),
        Matcher::Pattern(pattern) => pattern.shown().to_owned(),
        Matcher::Nested(property) => types(property).join(" or "),
        Matcher::Test(callback) => callback.message.to_owned(),
    });
    matchers.chain(property.kind_of.unwrap_or_default().iter().map(|class| class.name().to_owned())).collect()
}

fn write_property(text: &mut String, property: &Property) {
    let types = types(property);
    let types = if types.is_empty() { "anything".to_owned() } else { types.join(", ") };
    text.push_str(&format!("- `{}` ({types}): {}", property.name, property.doc));
    let mut notes = Vec::new();
    if let Some(choices) = property.equal_to {
        let choices: Vec<String> = choices.iter().map(|choice| format!("`{}`", choice.to_value().inspect())).collect();
        notes.push(format!("One of {}.", choices.join(", ")));
    }
    notes.extend(default_words(property.default).map(|words| format!("Default: {words}.")));
    match property.required {
        Required::Never => {}
        Required::Always => notes.push("Required.".to_owned()),
        Required::For(actions) => notes.push(format!("Required for `{}`.", actions.join("`, `"))),
    }
    notes.extend(property.coerce.map(|coercion| format!("{}.", capitalised(coercion.doc()))));
    if property.sensitive {
        notes.push("Never shown.".to_owned());
    }
    if !property.aliases.is_empty() {
        notes.push(format!("Also called `{}`.", property.aliases.join("`, `")));
    }
    notes.extend(property.deputy.phrase().map(|what| format!("Needs a grant of its own, for {what}.")));
    notes.extend(property.included_in.map(|thing| format!("Comes with the grant for {thing}.")));
    notes.extend(property.introduced.map(|version| format!("In Chef since {version}.")));
    notes.extend(property.deprecated.map(|reason| format!("Deprecated: {reason}.")));
    for note in notes {
        text.push(' ');
        text.push_str(&note);
    }
    text.push('\n');
}

fn first_sentence(doc: &str) -> &str {
    doc.split_inclusive(". ").next().unwrap_or(doc).trim_end()
}

/// Capitalizes the first letter of a phrase.
fn capitalised(phrase: &str) -> String {
    let mut letters = phrase.chars();
    letters.next().map(|first| format!("{}{}", first.to_uppercase(), letters.as_str())).unwrap_or_default()
}
