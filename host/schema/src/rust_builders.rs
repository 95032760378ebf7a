//! Generates the Rust SDK's typed builders.
//!
//! # Contract with the SDK
//! The text of [`rust_builders`] is the SDK's `src/resources/generated.rs`: a line for each property and action, from which the
//! SDK's macro `resource!` (`src/resources.rs`) makes the builders. The builders use `crate::builder` of the SDK:
//!
//! - `Builder` with `new(kind: &'static str, name: impl Into<String>)` (`#[track_caller]`: the caller is the declaration's origin),
//!   `set(&mut self, property: &'static str, value: Property)` (the last call wins), `append` with the same arguments (for properties
//!   that collect over several calls) and `action(&mut self, action: &'static str)` (the first call replaces the default action,
//!   later ones add to it, in order);
//! - `trait IntoProperty<Kind> { fn into_property(self) -> Property; }`, implemented for plain values and for `lazy(|| ..)`;
//! - `kinds`: one empty marker type for each [`Shape`](crate::property::Shape) (see [`Shape::marker`](crate::property::Shape::marker));
//! - `__common_methods!(Type)`, which gives a builder what all resources have: guards, notifications, the common properties of
//!   [`crate::common`], `declare` and so on.
//!
//! Each type becomes `pub struct Type(pub(crate) Builder)`, made by a function of the type's name. Property methods take
//! `impl IntoProperty<kinds::Shape>`, action methods are called `action_` and the action's name. Closures of `guest_block` are no
//! property and are added by the SDK beside the generated code.

use std::collections::BTreeSet;

use crate::common::COMMON;
use crate::property::{Property, Required};
use crate::reference::default_words;
use crate::resource::{NOTHING, ResourceType};
use crate::types;

/// Types that only a Ruby cookbook can use: their content is Ruby code or Ruby packages.
pub(crate) const ONLY_IN_RUBY: &[&str] =
    &["chef_gem", "chef_handler", "gem_package", "ruby_block", "whyrun_safe_ruby_block"];

/// Keywords of Rust, which need `r#` when used as a name.
const KEYWORDS: &[&str] = &[
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do", "dyn", "else", "enum",
    "extern", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro", "match", "mod", "move", "mut",
    "override", "priv", "pub", "ref", "return", "static", "struct", "trait", "try", "type", "typeof", "unsafe",
    "unsized", "use", "virtual", "where", "while", "yield",
];

/// Returns the whole text of the SDK's `src/resources/generated.rs`.
pub fn rust_builders() -> String {
    let resources: Vec<&'static ResourceType> =
        types::builtin().filter(|resource| !ONLY_IN_RUBY.contains(&resource.name)).collect();
    let markers: BTreeSet<&str> =
        resources.iter().flat_map(|resource| methods(resource)).map(|property| property.shape().marker()).collect();
    let mut text = String::from(
        "//! The built-in resource types, a line for each property and action; the macro `resource!` makes their builders.\n//!\n//! \
         @generated from the host's schema by `cargo xtask builders`; do not edit.\n\n",
    );
    let markers: Vec<&str> = markers.into_iter().collect();
    text.push_str(&format!("use crate::builder::kinds::{{{}}};\n", markers.join(", ")));
    resources.iter().for_each(|resource| write_type(&mut text, resource));
    text
}

/// The properties that become methods: common ones come from `__common_methods!`.
fn methods(resource: &'static ResourceType) -> impl Iterator<Item = &'static Property> {
    resource.own_properties().filter(|property| COMMON.iter().all(|common| common.name != property.name))
}

fn write_type(text: &mut String, resource: &'static ResourceType) {
    let kind = resource.name;
    text.push_str("\nresource! {\n");
    write_doc(text, resource.doc);
    write_doc(text, "");
    write_doc(text, &format!("Default action: `{}`.", resource.default_action));
    let name_doc = match resource.name_property() {
        Some(property) => {
            format!("A new `{kind}` resource. The name is also its `{}`, unless that is set.", property.name)
        }
        None => format!("A new `{kind}` resource."),
    };
    text.push_str(&format!("    {} {} {kind:?} {name_doc:?};\n", type_name(kind), identifier(kind)));
    text.push_str("    properties {\n");
    methods(resource).for_each(|property| write_property(text, property));
    text.push_str("    }\n    actions {\n");
    for action in resource.actions.iter().copied().chain([NOTHING]) {
        if let Some(other) = other_name(resource, action.name) {
            text.push_str(&format!("        #[doc(alias = \"action_{other}\")]\n"));
        }
        text.push_str(&format!("        action_{name} {name:?} {:?};\n", action.doc, name = action.name));
    }
    text.push_str("    }\n}\n");
}

/// Returns the other usual name of an action, if the type does not have an action of that name. The compiler suggests the
/// action to an author who writes the other name.
fn other_name(resource: &ResourceType, action: &str) -> Option<&'static str> {
    let other = match action {
        "delete" => "remove",
        "remove" => "delete",
        _ => return None,
    };
    resource.actions.iter().all(|known| known.name != other).then_some(other)
}

fn write_property(text: &mut String, property: &Property) {
    let mut notes = Vec::new();
    if let Some(choices) = property.equal_to {
        let choices: Vec<String> = choices.iter().map(|choice| format!("`{}`", choice.to_value().to_text())).collect();
        notes.push(format!("One of {}.", choices.join(", ")));
    }
    notes.extend(default_words(property.default).map(|words| format!("Default: {words}.")));
    match property.required {
        Required::Never => {}
        Required::Always => notes.push("Required.".to_owned()),
        Required::For(actions) => notes.push(format!("Required for `{}`.", actions.join("`, `"))),
    }
    if property.sensitive {
        notes.push("Never shown.".to_owned());
    }
    let doc =
        if notes.is_empty() { property.doc.to_owned() } else { format!("{}\n\n{}", property.doc, notes.join(" ")) };
    if let Some(reason) = property.deprecated {
        text.push_str(&format!("        #[deprecated = {reason:?}]\n"));
    }
    let (name, marker) = (property.name, property.shape().marker());
    let method = if property.collects { "append" } else { "set" };
    text.push_str(&format!("        {} {name:?} {method} {marker} {doc:?};\n", identifier(name)));
}

fn write_doc(text: &mut String, doc: &str) {
    let space = if doc.is_empty() { "" } else { " " };
    text.push_str(&format!("    ///{space}{doc}\n"));
}

/// Returns a type's Rust name: `apt_package` becomes `AptPackage`.
fn type_name(kind: &str) -> String {
    kind.split('_')
        .map(|word| {
            let mut letters = word.chars();
            letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
        })
        .collect()
}

fn identifier(name: &str) -> String {
    if KEYWORDS.contains(&name) { format!("r#{name}") } else { name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::property::Shape;

    #[test]
    fn names_become_rust_names() {
        assert_eq!(type_name("apt_package"), "AptPackage");
        assert_eq!(identifier("type"), "r#type");
        assert_eq!(identifier("path"), "path");
    }

    #[test]
    fn file_has_its_builder() {
        let text = rust_builders();
        for part in [
            "    File file \"file\" \"A new `file` resource. The name is also its `path`, unless that is set.\";\n",
            "        mode \"mode\" set Mode \"",
            "        verify \"verify\" append List \"",
            "        action_create_if_missing \"create_if_missing\" \"",
        ] {
            assert!(text.contains(part), "no {part}");
        }
        assert!(!text.contains("RubyBlock"));
    }

    #[test]
    fn only_used_kinds_are_imported() {
        let text = rust_builders();
        let import = text.lines().find(|line| line.contains("builder::kinds")).unwrap();
        for shape in [Shape::Text, Shape::Mode, Shape::Map] {
            assert!(import.contains(shape.marker()));
        }
        let names = import.split(['{', '}']).nth(1).unwrap();
        for name in names.split(", ") {
            assert!(text.contains(&format!(" {name} \"")), "{name} is not used");
        }
    }
}
