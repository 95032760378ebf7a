//! The facts that the guest reports about a file. The guest is not trusted: every list is bounded, and texts are never
//! executed.

use serde::Deserialize;

/// One thing that a file needs or provides.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Fact {
    /// The line, from 1; 0 if the guest does not know it.
    #[serde(default)]
    pub(super) line: u32,
    /// The other system that this part of the cookbook is for.
    pub(super) platform: Option<String>,
    /// The Linux families and platforms that a condition around the line names. The code runs only on these.
    #[serde(default)]
    pub(super) families: Vec<String>,
    /// Whether the cookbook works without it.
    #[serde(default)]
    pub(super) optional: bool,
    /// Whether a run that reaches the file may leave it out.
    #[serde(default)]
    pub(super) conditional: bool,
    #[serde(flatten)]
    pub(super) what: What,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "fact", rename_all = "snake_case")]
pub(super) enum What {
    Resource(Resource),
    Command {
        values: Option<Vec<OneOrMany>>,
    },
    Path {
        access: Access,
        values: Option<Vec<String>>,
    },
    Library {
        name: String,
        why: Option<String>,
        /// What an author can do about it.
        hint: Option<String>,
    },
    Recipe {
        values: Option<Vec<String>>,
        /// Whether the names are literals in the code.
        #[serde(default)]
        literal: bool,
    },
    Absent {
        name: String,
        what: String,
    },
    Constant {
        name: String,
        near: Option<String>,
    },
    /// A constant that neither Ruby nor the library has, without what lies in it.
    Foreign {
        name: String,
    },
    /// A method that nodes do not have, as in `node.set`.
    NodeWord {
        name: String,
        /// What replaces it, if Chef removed it.
        removed: Option<String>,
        near: Option<String>,
    },
    /// A word of a recipe or an attributes file that the library does not have.
    Word {
        name: String,
        near: Option<String>,
    },
    Defined {
        name: String,
    },
    Method {
        name: String,
    },
    Type {
        name: String,
        /// Whether Chef's own type of this name wins, because the cookbook's is declared without a block.
        #[serde(default)]
        first: bool,
        /// Whether the declaration has a block.
        #[serde(default)]
        block: bool,
    },
    /// A property of the type that the file is about.
    Member {
        name: String,
        /// The classes that its values may have; `None` if any may fit.
        kinds: Option<Vec<String>>,
        /// The actions that need a value, every one if the list is empty; `None` if a value may be absent.
        required: Option<Vec<String>>,
    },
    /// An action of the type that the file is about.
    Action {
        name: String,
    },
    /// The type includes a file, by its path from the type's own folder: `_shared.rb`, `partials/_shared.rb`.
    TakesIn {
        name: String,
    },
    /// The type may have properties and actions that its text does not show.
    Open {},
    /// The code of the type may set its properties by itself.
    Fills {},
    /// Code looks up resources of these types, and may change them; `None` if the types are computed.
    LookedUp {
        types: Option<Vec<String>>,
    },
    /// The code of a type reads the property `new_resource.NAME`.
    Asked {
        name: String,
    },
    /// Resources that a notification names, as `type[name]`.
    Reference {
        values: Vec<String>,
        /// The actions that the notification names.
        #[serde(default)]
        actions: Vec<String>,
        /// The types among them that the library does not have.
        #[serde(default)]
        unknown: Vec<String>,
    },
    /// A literal that a run refuses, with a sentence about it.
    Refused {
        kind: RefusedKind,
        message: String,
    },
    /// An action in a notification that the library's type does not have.
    WrongAction {
        #[serde(rename = "type")]
        kind: String,
        name: String,
        near: Option<String>,
    },
    /// When a notification is sent, in a word that means nothing.
    WrongTiming {
        /// The word as the code has it: `:immediatly`.
        name: String,
        near: Option<String>,
    },
    /// A platform of the metadata that is nearly the name of one.
    UnknownPlatform {
        name: String,
        near: String,
    },
    /// A word of the metadata that Chef does not have.
    MetadataWord {
        name: String,
        near: Option<String>,
    },
    Environment {
        values: Option<Vec<String>>,
    },
    DataBag {
        values: Option<Vec<String>>,
        item: Option<String>,
    },
    Search {
        values: Option<Vec<String>>,
    },
    /// An attribute that is read: its first key, and the literal ones below it.
    Attribute {
        name: String,
        #[serde(default)]
        below: Vec<String>,
        /// Whether the code expects that it may have no value.
        #[serde(default)]
        asked: bool,
    },
    /// An attribute whose value may be missing, as the code says that asks for it.
    AskedAttribute {
        path: Vec<String>,
    },
    /// An attribute that is written: its literal keys. Without any, every attribute may be written.
    Written {
        path: Vec<String>,
        /// Keys below the path that are set too.
        #[serde(default)]
        keys: Vec<String>,
        /// Whether anything below the path may be set.
        #[serde(default)]
        open: bool,
    },
    /// An instance variable of a template.
    Variable {
        /// Its name without `@`.
        name: String,
        /// Whether the code expects that it may be nil.
        #[serde(default)]
        asked: bool,
        /// Whether the template sets it here.
        #[serde(default)]
        set: bool,
    },
    /// A template that another template renders; `None` if its name is computed.
    Partial {
        values: Option<Vec<String>>,
    },
    /// A literal default of an attribute.
    Default {
        path: Vec<String>,
        values: Vec<serde_json::Value>,
    },
    /// A literal default of a custom resource's property.
    Property {
        name: String,
        values: Vec<serde_json::Value>,
    },
    Address {
        value: String,
    },
    Metadata {
        name: String,
        version: String,
        /// The platforms that the cookbook says it supports.
        #[serde(default)]
        platforms: Vec<String>,
    },
    Gem {
        name: String,
        why: Option<String>,
    },
    Depends {
        name: String,
        constraint: String,
    },
    Error {
        class: String,
        message: String,
    },
    TooMuch {},
}

/// The subject of a refused literal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum RefusedKind {
    Action,
    Notification,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Access {
    Read,
    Write,
}

/// A resource as a recipe or an action declares it.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Resource {
    #[serde(rename = "type")]
    pub(super) kind: String,
    /// The possible names; `None` if they are computed.
    pub(super) names: Option<Vec<OneOrMany>>,
    #[serde(default)]
    pub(super) properties: Vec<Property>,
    /// The words without a receiver in the block, but for harmless ones; `None` if something else may set properties.
    pub(super) words: Option<Vec<String>>,
    /// The properties that the library's type requires and that are certainly not set.
    pub(super) missing: Option<Vec<String>>,
    /// Whether the word is certainly a resource and not a method.
    #[serde(default)]
    pub(super) sure: bool,
    /// Whether the Ruby library has this type.
    #[serde(default)]
    pub(super) known: bool,
    /// A word of recipes, or a type, that is nearly this name. Said for types that the library does not have.
    pub(super) near: Option<String>,
    /// The platform for which the library's type does something, if that is not Linux. `nobody`: it never does anything.
    pub(super) idle: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct Property {
    pub(super) name: String,
    #[serde(default)]
    pub(super) line: u32,
    /// The possible values; `None` if they are computed.
    pub(super) values: Option<Vec<serde_json::Value>>,
    /// The value stands there as it is.
    #[serde(default)]
    pub(super) fixed: bool,
    /// Whether the library's type lacks this property.
    #[serde(default)]
    pub(super) unknown: bool,
    /// The other system on which alone Chef's type has this property, if a condition may keep Linux from it.
    pub(super) elsewhere: Option<String>,
    /// Whether every resource has this property. It is set only for types that the library does not have.
    #[serde(default)]
    pub(super) common: bool,
    /// The sentence with which a run refuses the value.
    pub(super) refused: Option<String>,
    /// The literal keys of a template's `variables`; `None` if there may be others.
    pub(super) keys: Option<Vec<String>>,
    /// For the property `action`: an action that the type does not have.
    pub(super) bad: Option<String>,
    /// A name that exists and is nearly the same.
    pub(super) near: Option<String>,
}

/// One text, or several.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub(super) enum OneOrMany {
    One(String),
    Several(Vec<String>),
}

impl OneOrMany {
    pub(super) fn all(&self) -> &[String] {
        match self {
            Self::One(text) => std::slice::from_ref(text),
            Self::Several(texts) => texts,
        }
    }
}

impl Resource {
    /// Returns the values of a property that are texts, or `None` if it is not set or is computed.
    pub(super) fn texts(&self, name: &str) -> Option<Vec<String>> {
        let property = self.property(name)?;
        let texts = property.values.as_ref()?.iter().flat_map(texts_in);
        Some(texts.collect())
    }

    /// Returns the keys of a template's variables, or `None` if there may be others.
    pub(super) fn variables(&self) -> Option<Vec<&str>> {
        let all = self.properties.iter().filter(|property| property.name == "variables");
        let keys: Option<Vec<_>> = all.map(|property| property.keys.as_deref()).collect();
        Some(keys?.into_iter().flatten().map(String::as_str).collect())
    }

    pub(super) fn property(&self, name: &str) -> Option<&Property> {
        self.properties.iter().rev().find(|property| property.name == name)
    }

    /// Returns the texts of a property whose default is the resource's name, or `None` if they are computed.
    pub(super) fn named_by(&self, property: &str) -> Option<Vec<String>> {
        if self.property(property).is_some() {
            return self.texts(property);
        }
        Some(self.names.as_ref()?.iter().flat_map(OneOrMany::all).cloned().collect())
    }
}

fn texts_in(value: &serde_json::Value) -> Vec<String> {
    match value {
        serde_json::Value::String(text) => vec![text.clone()],
        serde_json::Value::Array(all) => all.iter().filter_map(|one| one.as_str().map(str::to_owned)).collect(),
        _ => vec![],
    }
}
