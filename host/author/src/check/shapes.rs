//! The properties and actions of a cookbook's own resource types, read from their files.
//!
//! A type may have several files (`provides` with filters), and a file may include others (`use '_partial'`). A type is
//! *closed* if its text shows all of its properties and actions. Only for a closed type can a property or action be called
//! missing.

use super::facts::{Fact, What};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The classes that the values of a property may have; `None`: any may fit.
type Kinds<'a> = Option<&'a [String]>;

/// One property of a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Member<'a> {
    kinds: Kinds<'a>,
    /// The actions that need a value, every one if the list is empty; `None` if a value may be absent.
    pub(super) required: Option<&'a [String]>,
}

/// The properties and actions of one type.
#[derive(Debug, Default, Clone)]
pub(super) struct Shape<'a> {
    pub(super) properties: BTreeMap<&'a str, Member<'a>>,
    pub(super) actions: BTreeSet<&'a str>,
    open: bool,
    /// Whether properties may have values that no declaration sets.
    pub(super) fills: bool,
    takes_in: BTreeSet<&'a str>,
}

impl<'a> Shape<'a> {
    /// Takes a property. If it is declared twice, only what both declarations say counts.
    fn take(&mut self, name: &'a str, member: Member<'a>) {
        let known = self.properties.entry(name).or_insert(member);
        if known.kinds != member.kinds {
            known.kinds = None;
        }
        if known.required != member.required {
            known.required = None;
        }
    }

    /// Returns the names of the classes that a property's values may have, if this value has none of them.
    pub(super) fn misfit(&self, property: &str, value: &Value) -> Option<String> {
        let kinds = self.properties.get(property)?.kinds?;
        let own: &[&str] = match value {
            Value::Null => return None,
            // Symbols come as texts.
            Value::String(_) => &["String", "Symbol"],
            Value::Bool(true) => &["TrueClass"],
            Value::Bool(false) => &["FalseClass"],
            Value::Number(number) if number.is_f64() => &["Float", "Numeric"],
            Value::Number(_) => &["Integer", "Numeric"],
            Value::Array(_) => &["Array"],
            Value::Object(_) => &["Hash"],
        };
        (!kinds.iter().any(|kind| own.contains(&kind.as_str()))).then(|| kinds.join(", "))
    }

    pub(super) fn is_closed(&self) -> bool {
        !self.open
    }
}

/// The types of a cookbook and of those that it depends on.
#[derive(Debug, Default)]
pub(super) struct Shapes<'a> {
    by_type: BTreeMap<&'a str, Shape<'a>>,
    by_file: BTreeMap<&'a str, Shape<'a>>,
}

impl<'a> Shapes<'a> {
    /// Collects the shapes from facts with their files. A type that is also declared in another kind of file counts as open.
    pub(super) fn of(facts: impl Iterator<Item = (&'a str, &'a Fact)>) -> Self {
        let mut files: BTreeMap<&str, (Shape<'_>, BTreeSet<&str>)> = BTreeMap::new();
        let mut open_types = BTreeSet::new();
        for (file, fact) in facts {
            if !is_of_type(file) {
                if let What::Type { name, .. } = &fact.what {
                    open_types.insert(name.as_str());
                }
                continue;
            }
            let (shape, types) = files.entry(file).or_default();
            match &fact.what {
                What::Type { name, .. } => drop(types.insert(name.as_str())),
                What::Member { name, kinds, required } => {
                    shape.take(name, Member { kinds: kinds.as_deref(), required: required.as_deref() });
                }
                What::Fills {} => shape.fills = true,
                What::Action { name } => drop(shape.actions.insert(name.as_str())),
                What::TakesIn { name } => drop(shape.takes_in.insert(name.as_str())),
                // A file that cannot be read may add any property or action.
                What::Open {} | What::Error { .. } | What::TooMuch {} => shape.open = true,
                _ => {}
            }
        }
        let mut shapes = Self::default();
        for (file, (shape, types)) in &files {
            let whole = with_partials(file, shape, &files);
            for name in types {
                // Which of several files a resource means depends on the node.
                let is_one_of_several = shapes.by_type.contains_key(name);
                let known = shapes.by_type.entry(name).or_default();
                whole.properties.iter().for_each(|(name, member)| known.take(name, *member));
                known.actions.extend(&whole.actions);
                known.fills |= whole.fills || is_one_of_several;
                known.open |= whole.open || open_types.contains(name);
            }
            shapes.by_file.insert(file, whole);
        }
        shapes
    }

    /// Returns the shape of a type, if it is closed and declared in a file of its own.
    pub(super) fn of_type(&self, name: &str) -> Option<&Shape<'a>> {
        self.by_type.get(name).filter(|shape| shape.is_closed())
    }

    /// Returns the shape of the type that a file is about, if the type is closed.
    pub(super) fn of_file(&self, file: &str) -> Option<&Shape<'a>> {
        self.by_file.get(file).filter(|shape| shape.is_closed() && !is_partial(file))
    }
}

/// `resources/x.rb`, also below a cookbook's name.
fn is_of_type(file: &str) -> bool {
    file.starts_with("resources/") || file.contains("/resources/")
}

fn is_partial(file: &str) -> bool {
    file.rsplit('/').next().is_some_and(|name| name.starts_with('_'))
}

/// Returns a file's shape, with those of all files that it includes directly or indirectly.
fn with_partials<'a>(
    file: &str,
    shape: &Shape<'a>,
    files: &BTreeMap<&'a str, (Shape<'a>, BTreeSet<&'a str>)>,
) -> Shape<'a> {
    let folder = file.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut whole = shape.clone();
    let mut taken = BTreeSet::new();
    let mut next: Vec<&str> = shape.takes_in.iter().copied().collect();
    while let Some(name) = next.pop() {
        if !taken.insert(name) {
            continue;
        }
        match files.get(format!("{folder}/{name}").as_str()) {
            Some((partial, _)) => {
                partial.properties.iter().for_each(|(name, member)| whole.take(name, *member));
                whole.actions.extend(&partial.actions);
                whole.fills |= partial.fills;
                whole.open |= partial.open;
                next.extend(&partial.takes_in);
            }
            None => whole.open = true,
        }
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn fact(what: What) -> Fact {
        Fact { line: 1, platform: None, optional: false, conditional: false, families: vec![], what }
    }

    fn member(name: &str) -> Fact {
        fact(What::Member { name: name.into(), kinds: None, required: None })
    }

    fn declares(name: &str) -> Fact {
        fact(What::Type { name: name.into(), first: false, block: false })
    }

    #[test]
    fn types_are_put_together_from_their_files() {
        let facts = [
            ("resources/site.rb", declares("web_site")),
            ("resources/site.rb", member("port")),
            ("resources/site.rb", fact(What::TakesIn { name: "_shared.rb".into() })),
            ("resources/_shared.rb", declares("web__shared")),
            ("resources/_shared.rb", member("owner")),
            ("resources/loose.rb", declares("web_loose")),
            ("resources/loose.rb", fact(What::Open {})),
            ("resources/lost.rb", declares("web_lost")),
            ("resources/lost.rb", fact(What::TakesIn { name: "_nowhere.rb".into() })),
            ("base/resources/clock.rb", declares("base_clock")),
            ("libraries/more.rb", declares("base_clock")),
        ];
        let shapes = Shapes::of(facts.iter().map(|(file, fact)| (*file, fact)));
        let site = shapes.of_type("web_site").unwrap();
        assert_eq!(site.properties.keys().copied().collect::<Vec<_>>(), ["owner", "port"]);
        for unknown in ["web_loose", "web_lost", "base_clock", "none"] {
            assert!(shapes.of_type(unknown).is_none(), "{unknown}");
        }
        assert!(shapes.of_file("resources/site.rb").is_some());
        assert!(shapes.of_file("resources/_shared.rb").is_none(), "others' properties are asked for there");
    }

    #[test]
    fn a_value_is_held_against_the_classes_of_its_property() {
        let kinds = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let (port, flag) = (kinds(&["Integer", "NilClass"]), kinds(&["TrueClass", "FalseClass"]));
        let mut shape = Shape::default();
        let mut take = |name, kinds| shape.take(name, Member { kinds, required: None });
        take("port", Some(port.as_slice()));
        take("flag", Some(flag.as_slice()));
        take("any", None);
        take("twice", Some(port.as_slice()));
        take("twice", Some(flag.as_slice()));
        for (property, value, misfit) in [
            ("port", json!(80), None),
            ("port", json!(null), None),
            ("port", json!("80"), Some("Integer, NilClass")),
            ("port", json!(1.5), Some("Integer, NilClass")),
            ("port", json!([80]), Some("Integer, NilClass")),
            ("flag", json!(true), None),
            ("flag", json!("true"), Some("TrueClass, FalseClass")),
            ("any", json!({}), None),
            ("twice", json!("x"), None),
            ("unknown", json!("x"), None),
        ] {
            assert_eq!(shape.misfit(property, &value).as_deref(), misfit, "{property} {value}");
        }
    }
}
