//! Generates the Ruby DSL's table of the built-in resource types.
//!
//! The text of [`ruby_types`] is the Ruby runtime's `lib/chef/resource/builtin_types/generated.rb`. `builtin_types.rb` beside
//! it defines the methods that it calls: `type NAME, ..` with a block of `property`, `also` (another name of a property) and
//! `collects` (a property whose calls add up), and `foreign` for the types of other platforms with their default actions.

use crate::common::COMMON;
use crate::property::{Coercion, Default, Literal, Matcher, Pattern, Property, Required};
use crate::resource::{ImplementedBy, ResourceType};
use crate::types::{ACCOUNT_NAMES, ALL, ForeignType, OTHER_PLATFORMS, SECURABLE};

/// Properties for which Chef also converts text to a symbol. For others only JSON needs the conversion, and text in place of
/// a symbol is an error.
const SYMBOLS_IN_CHEF: [&str; 7] =
    ["link_type", "device_type", "route_type", "strategy", "topology", "binding_mode", "update_condition"];

/// Types that Ruby cookbooks do not have, because they use another type for it.
pub(crate) const NOT_IN_RUBY: [&str; 1] = ["guest_block"];

/// Returns the whole text of the generated Ruby file.
pub fn ruby_types() -> String {
    let mut text = String::from(
        "# frozen_string_literal: true\n\n# The built-in resource types.\n#\n# @generated from the host's schema by `cargo xtask \
         builders`; do not edit.\n\nWrun::Resources::Builtin.fill do\n",
    );
    for resource in ALL.into_iter().filter(|resource| !NOT_IN_RUBY.contains(&resource.name)) {
        write_type(&mut text, resource);
    }
    OTHER_PLATFORMS.iter().for_each(|(platform, types)| write_foreign(&mut text, platform, types));
    text.push_str("end\n");
    text
}

fn write_foreign(text: &mut String, platform: &str, types: &[ForeignType]) {
    text.push_str(&format!("  foreign {platform:?}, {{\n"));
    types.iter().for_each(|one| text.push_str(&format!("    {}: :{},\n", one.name, one.default_action)));
    let aliases = types.iter().flat_map(|one| one.aliases.iter().map(move |alias| format!("{alias}: :{}", one.name)));
    let aliases: Vec<String> = aliases.collect();
    let aliases = if aliases.is_empty() { String::new() } else { format!(", aliases: {{ {} }}", aliases.join(", ")) };
    text.push_str(&format!("  }}{aliases}\n"));
}

fn write_type(text: &mut String, resource: &'static ResourceType) {
    let actions: Vec<&str> = resource.actions.iter().map(|action| action.name).collect();
    let by = match resource.implemented_by {
        ImplementedBy::Host => "host",
        ImplementedBy::Children => "children",
        ImplementedBy::Guest | ImplementedBy::RubyLibrary => "guest",
        ImplementedBy::Nobody => "nobody",
    };
    let aliases = if resource.aliases.is_empty() {
        String::new()
    } else {
        format!(", aliases: %i[{}]", resource.aliases.join(" "))
    };
    text.push_str(&format!(
        "  type :{}, by: :{by}, actions: %i[{}], default: :{}{aliases} do\n",
        resource.name,
        actions.join(" "),
        resource.default_action
    ));
    // Properties that all types have are left out, except for a type's own `name`, which has a default.
    let is_written = |own: &&Property| own.name == "name" || COMMON.iter().all(|common| common.name != own.name);
    for property in resource.own_properties().filter(is_written) {
        text.push_str(&format!("    {}\n", property_line(property)));
        property.aliases.iter().for_each(|alias| text.push_str(&format!("    also :{alias}, :{}\n", property.name)));
    }
    text.push_str("  end\n\n");
}

fn property_line(property: &Property) -> String {
    if property.collects {
        return format!("collects :{}", property.name);
    }
    let mut words = vec![format!("property :{}", property.name)];
    let is = property.is.filter(|_| !is_any_number(property));
    words.extend(is.map(|matchers| listed(in_ruby(matchers).map(matcher))));
    let kinds = property.kind_of.map(|kinds| listed(kinds.iter().map(|kind| kind.name().to_owned())));
    words.extend(kinds.map(|kinds| format!("kind_of: {kinds}")));
    let equal = property.equal_to.map(|values| listed(values.iter().map(|value| value.to_value().inspect())));
    words.extend(equal.map(|values| format!("equal_to: {values}")));
    words.extend(property.regex.map(|patterns| format!("regex: {}", regex(patterns))));
    if !property.callbacks.is_empty() {
        let checks = property.callbacks.iter().map(|callback| format!("{}: {:?}", callback.id, callback.message));
        words.push(format!("callbacks: checks({})", checks.collect::<Vec<_>>().join(", ")));
    }
    words.extend(coercion(property).map(|coercion| format!("coerce: {coercion}")));
    words.extend(default(property.default));
    match property.required {
        Required::Never => {}
        Required::Always => words.push("required: true".to_owned()),
        Required::For(actions) => words.push(format!("required: %i[{}]", actions.join(" "))),
    }
    let flags = [("sensitive: true", property.sensitive), ("identity: true", property.identity)];
    words.extend(flags.into_iter().filter(|(_, set)| *set).map(|(flag, _)| flag.to_owned()));
    if !property.desired_state {
        words.push("desired_state: false".to_owned());
    }
    words.extend(property.deprecated.map(|reason| format!("deprecated: {reason:?}")));
    words.extend(property.validation_message.map(|message| format!("validation_message: {message:?}")));
    words.join(", ")
}

/// Patterns for account names are a setting in Chef, and a list, so messages show them as a list.
fn regex(patterns: &'static [&'static Pattern]) -> String {
    let shown = listed(patterns.iter().map(|pattern| pattern.shown().to_owned()));
    if std::ptr::eq(patterns, ACCOUNT_NAMES.as_slice()) { format!("[{shown}]") } else { shown }
}

/// One value stands for itself, several are a list.
fn listed(values: impl Iterator<Item = String>) -> String {
    let values: Vec<String> = values.collect();
    match values.as_slice() {
        [only] => only.clone(),
        several => format!("[{}]", several.join(", ")),
    }
}

/// Tells whether a property is the mode of a file, which accepts everything that Ruby's `Integer()` accepts, with its own
/// error message.
fn is_any_number(property: &Property) -> bool {
    property.name == "mode" && SECURABLE.iter().any(|own| std::ptr::eq(own, property))
}

/// Returns the matchers for Ruby. Text in place of a symbol is only for languages without symbols.
fn in_ruby(matchers: &[Matcher]) -> impl Iterator<Item = &Matcher> {
    let is_symbol = |name: &str| {
        matchers.iter().any(|one| matches!(one, Matcher::Equal(Literal::Symbol(symbol)) if *symbol == name))
    };
    matchers.iter().filter(move |one| !matches!(one, Matcher::Equal(Literal::Text(text)) if is_symbol(text)))
}

fn matcher(matcher: &Matcher) -> String {
    match matcher {
        Matcher::Class(class) => class.name().to_owned(),
        Matcher::Equal(literal) => literal.to_value().inspect(),
        Matcher::Pattern(pattern) => pattern.shown().to_owned(),
        // A check that only the host makes accepts every value in Ruby.
        Matcher::Nested(_) | Matcher::Test(_) => "Object".to_owned(),
    }
}

fn coercion(property: &Property) -> Option<String> {
    match property.coerce? {
        Coercion::Mode => None,
        Coercion::Symbol if !SYMBOLS_IN_CHEF.contains(&property.name) => None,
        coercion => Some(format!("coercion(:{})", snake_case(&format!("{coercion:?}")))),
    }
}

fn snake_case(name: &str) -> String {
    let mut snake = String::new();
    for character in name.chars() {
        if character.is_ascii_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.push(character.to_ascii_lowercase());
    }
    snake
}

fn default(default: Default) -> Option<String> {
    Some(match default {
        Default::Unset | Default::Described(_) => return None,
        Default::Fixed(literal) => format!("default: {}", literal.to_value().inspect()),
        Default::Name => "name_property: true".to_owned(),
        Default::SameAs(other) => format!("default: lazy {{ {other} }}"),
        Default::BaseNameOf(other) => format!("default: lazy {{ ::File.basename({other}) }}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ruby_has_a_check_for_each_validator_and_picks_it_by_its_id() {
        let text = ruby_types();
        assert!(text.contains("callbacks: checks(mode_in_range: \"not in valid numeric range\")"), "{text}");
        let library = include_str!("../../../guests/ruby/lib/wrun/resources/coercions.rb");
        for callback in ALL.into_iter().flat_map(ResourceType::own_properties).flat_map(|property| property.callbacks) {
            assert!(library.contains(&format!("        {}: ->(value) {{", callback.id)), "{callback:?}");
            assert!(!library.contains(callback.message), "{callback:?} is picked by its id");
        }
    }

    #[test]
    fn a_type_becomes_a_block_of_properties() {
        let text = ruby_types();
        assert!(text.contains("  type :link, by: :host, actions: %i[create delete], default: :create do\n"), "{text}");
        assert!(text.contains("    property :to, String\n"), "{text}");
        assert!(text.contains("    collects :verify\n"), "{text}");
        assert!(!text.contains("guest_block"), "{text}");
        assert!(text.contains("  type :mdadm, by: :nobody, actions: %i[create assemble stop], default: :create do\n"));
        assert!(text.contains("    property :name, String, default: \"install habitat\"\n"), "{text}");
        assert!(text.contains("    batch: :run,\n") && text.contains("aliases: { env: :windows_env }\n"), "{text}");
        // Messages name what Chef names: its classes, in its order, its actions likewise.
        for line in [
            "    property :backup, [Integer, FalseClass], default: 5, desired_state: false\n",
            "    property :uid, [String, Integer, NilClass]\n",
            "    property :overwrite, [TrueClass, FalseClass, :auto], default: false\n",
            "  type :file, by: :host, actions: %i[create delete touch create_if_missing], default: :create do\n",
        ] {
            assert!(text.contains(line), "{line} in {text}");
        }
    }
}
