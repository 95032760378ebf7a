//! The specification of a property, with the semantics of Chef's `property` options.
//!
//! Specifications of built-in types are constant tables, so that nothing is built at start-up. Therefore everything is
//! `&'static`, and the constructors are `const fn`s that look like Chef's own declarations:
//!
//! ```
//! use schema::property::{Literal, Property};
//! const RECURSIVE: Property = Property::boolean("recursive", "Parents too.").default(Literal::Boolean(false));
//! assert_eq!(RECURSIVE.shape(), schema::property::Shape::Boolean);
//! ```
//!
//! The semantics are those of `Chef::Property` and `Chef::Mixin::ParamsValidate` in Chef 18. Tests compare `check.rs` with
//! values that Chef itself accepted and rejected (`tests/vectors/property_validation_rows.json`).

mod build;
mod callbacks;
mod check;
mod coercion;
mod methods;
mod pattern;
mod shape;

pub use callbacks::{CIPHER_NAME, CRON_DAY, CRON_HOUR, CRON_MINUTE, CRON_MONTH, CRON_WEEKDAY, Callback, MODE_IN_RANGE};
pub(crate) use check::base_name;
pub use check::{Invalid, validate_default};
pub use coercion::Coercion;
pub use methods::responds_to;
pub use pattern::Pattern;
pub use shape::Shape;

use crate::value::Value;

/// A Ruby class that a value may be an instance of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// `String`: text, but not a symbol.
    Text,
    /// `Symbol`: a name written as `:name`.
    Symbol,
    /// `Integer`: a number without a fraction.
    Integer,
    /// `Float`: a number with a fraction.
    Float,
    /// `Numeric`: integers and floats.
    Numeric,
    /// `TrueClass`: the value `true` alone.
    True,
    /// `FalseClass`: the value `false` alone.
    False,
    /// `NilClass`: the value `nil` alone.
    Nil,
    /// `Array`: values in an order.
    List,
    /// `Hash`: keys and their values.
    Map,
    /// `Comparable`: strings, symbols, numbers.
    Comparable,
    /// `Enumerable`: arrays and hashes.
    Enumerable,
    /// `Object`: every value is an instance of it.
    Object,
    /// Any other class, by its name. Values that the host gets are never instances of it.
    Foreign(&'static str),
}

/// A constant value in a specification.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Literal {
    /// `nil`, the value that resets a property.
    Nil,
    /// The value `true` or `false`.
    Boolean(bool),
    /// A whole number of up to 64 bits.
    Integer(i64),
    /// A number with a fraction.
    Float(f64),
    /// A string, such as `"root"`.
    Text(&'static str),
    /// A symbol, without its colon.
    Symbol(&'static str),
    /// An array of constants, in order.
    List(&'static [Self]),
    /// A hash, in order.
    Map(&'static [(Self, Self)]),
}

/// One alternative of `is`, or of a bare type. The value must match at least one of them, by Ruby's `===`.
#[derive(Clone, Copy, Debug)]
pub enum Matcher {
    /// An instance of the class.
    Class(Class),
    /// Equal to the value.
    Equal(Literal),
    /// A string or symbol in which the pattern is found.
    Pattern(&'static Pattern),
    /// Valid for another specification.
    Nested(&'static Property),
    /// A value that a function accepts (`proc`).
    Test(Callback),
}

/// The actions for which a property must have a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Required {
    /// The property is optional for every action.
    Never,
    /// Every action of the type needs it.
    Always,
    /// Only the actions of these names need it.
    For(&'static [&'static str]),
}

/// The value of a property that is not set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Default {
    /// The property is `nil` and counts as unset.
    Unset,
    /// This value (`default:`); it is checked like a given one.
    Fixed(Literal),
    /// The resource's name (`name_property: true`).
    Name,
    /// The value of another property of the same resource.
    SameAs(&'static str),
    /// The last component of another property's path; `name` means the resource's name.
    BaseNameOf(&'static str),
    /// A value that only the provider can find out, described in words.
    Described(&'static str),
}

/// The kind of thing that a property affects beyond the resource's own file, package or unit.
///
/// A grant for the resource's own thing (a package, a file) does not include what root does because of such a property: each
/// marked property needs a grant of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deputy {
    /// The property affects only the resource itself.
    None,
    /// A command, or the path of one, that will be run.
    Command,
    /// Code or configuration that another program will run or trust later with its own rights (cron, systemd, sudoers).
    LaterCommand,
    /// Arguments of a privileged program. Some programs accept commands among their arguments.
    Options,
    /// Environment variables of a privileged program (`LD_PRELOAD`).
    Environment,
    /// Another path of the machine that is read.
    ReadPath,
    /// Another path of the machine that is written or linked to.
    Path,
    /// An address or host that is contacted.
    Host,
    /// A user or group that owns a file, runs a program, or gets a member.
    Account,
    /// Permission bits, among them setuid and setgid.
    Mode,
}

impl Deputy {
    /// The marker's word in references and JSON; `None` for [`Deputy::None`].
    pub const fn word(self) -> Option<&'static str> {
        match self {
            Self::None => None,
            Self::Command => Some("command"),
            Self::LaterCommand => Some("later-command"),
            Self::Options => Some("options"),
            Self::Environment => Some("environment"),
            Self::ReadPath => Some("read-path"),
            Self::Path => Some("path"),
            Self::Host => Some("host"),
            Self::Account => Some("account"),
            Self::Mode => Some("mode"),
        }
    }

    /// What the grant is for, as people read it; `None` for [`Deputy::None`].
    pub const fn phrase(self) -> Option<&'static str> {
        match self {
            Self::None => None,
            Self::Command => Some("the command"),
            Self::LaterCommand => Some("what other programs run or trust later"),
            Self::Options => Some("the options"),
            Self::Environment => Some("the variables"),
            Self::ReadPath => Some("reading the path"),
            Self::Path => Some("the path"),
            Self::Host => Some("the server"),
            Self::Account => Some("the user or group"),
            Self::Mode => Some("set-user-id and set-group-id bits"),
        }
    }
}

/// The specification of one property of a built-in type.
#[derive(Clone, Copy, Debug)]
pub struct Property {
    /// The property's name, such as `path`.
    pub name: &'static str,
    /// Other names under which it may be set.
    pub aliases: &'static [&'static str],
    /// The purpose, in one or two sentences for the reference.
    pub doc: &'static str,
    /// `is`, or the bare type; `None` accepts every value.
    pub is: Option<&'static [Matcher]>,
    /// `kind_of`: an instance of at least one.
    pub kind_of: Option<&'static [Class]>,
    /// `equal_to`: equal to at least one.
    pub equal_to: Option<&'static [Literal]>,
    /// `regex`: at least one is found in the value's text.
    pub regex: Option<&'static [&'static Pattern]>,
    /// `callbacks`: every one must accept the value.
    pub callbacks: &'static [Callback],
    /// `respond_to`: names of Ruby methods that the value must all have.
    pub respond_to: &'static [&'static str],
    /// `cannot_be`: names of Ruby predicates, without their question mark, that must all be false.
    pub cannot_be: &'static [&'static str],
    /// The coercion to the canonical form, before the checks. `nil` is never coerced.
    pub coerce: Option<Coercion>,
    /// The value when nobody set one.
    pub default: Default,
    /// The actions for which a value is required.
    pub required: Required,
    /// Whether the value must never be shown.
    pub sensitive: bool,
    /// Whether its value is not shown where the whole resource is sensitive: it says where a secret comes from, not which thing
    /// is managed.
    pub hidden_with_resource: bool,
    /// Whether it describes the machine's state, which is compared and reported, and not the way to reach that state.
    pub desired_state: bool,
    /// Whether it identifies the thing on the machine.
    pub identity: bool,
    /// Whether several calls collect values instead of replacing them (`verify`).
    pub collects: bool,
    /// The Chef version that introduced it, if documented.
    pub introduced: Option<&'static str>,
    /// The reason why it is deprecated.
    pub deprecated: Option<&'static str>,
    /// The message for a failed check, instead of Chef's usual one.
    pub validation_message: Option<&'static str>,
    /// The kind of thing that it affects beyond the resource, which needs a grant of its own.
    pub deputy: Deputy,
    /// The granted thing whose grant includes such an effect, such as `the file`. With the right to a file of sudo's rules, a
    /// policy writes any rules into it.
    pub included_in: Option<&'static str>,
}

/// The Chef type `[TrueClass, FalseClass]`.
pub const BOOLEAN: &[Matcher] = &[Matcher::Class(Class::True), Matcher::Class(Class::False)];
/// The Chef type `String`.
pub const TEXT: &[Matcher] = &[Matcher::Class(Class::Text)];
/// The Chef type `Integer`.
pub const INTEGER: &[Matcher] = &[Matcher::Class(Class::Integer)];
/// The Chef type `Array`.
pub const LIST: &[Matcher] = &[Matcher::Class(Class::List)];
/// The Chef type `Hash`.
pub const MAP: &[Matcher] = &[Matcher::Class(Class::Map)];
/// The Chef type `[String, Integer]`.
pub const TEXT_OR_INTEGER: &[Matcher] = &[Matcher::Class(Class::Text), Matcher::Class(Class::Integer)];
/// The Chef type `[Integer, String]`.
pub const INTEGER_OR_TEXT: &[Matcher] = &[Matcher::Class(Class::Integer), Matcher::Class(Class::Text)];
/// The Chef type `[String, Array]`.
pub const TEXT_OR_LIST: &[Matcher] = &[Matcher::Class(Class::Text), Matcher::Class(Class::List)];
/// The Chef type `[Array, String]`.
pub const LIST_OR_TEXT: &[Matcher] = &[Matcher::Class(Class::List), Matcher::Class(Class::Text)];
/// The Chef type `[Integer, FalseClass]`.
pub const INTEGER_OR_FALSE: &[Matcher] = &[Matcher::Class(Class::Integer), Matcher::Class(Class::False)];
/// The Chef type `[String, Symbol]`.
pub const TEXT_OR_SYMBOL: &[Matcher] = &[Matcher::Class(Class::Text), Matcher::Class(Class::Symbol)];
/// The Chef type `[String, nil]`.
pub const TEXT_OR_NIL: &[Matcher] = &[Matcher::Class(Class::Text), Matcher::Equal(Literal::Nil)];
/// The Chef type `[String, NilClass]`.
pub const TEXT_OR_NIL_CLASS: &[Matcher] = &[Matcher::Class(Class::Text), Matcher::Class(Class::Nil)];
/// The Chef type `[String, Integer, NilClass]`.
pub const TEXT_INTEGER_OR_NIL_CLASS: &[Matcher] =
    &[Matcher::Class(Class::Text), Matcher::Class(Class::Integer), Matcher::Class(Class::Nil)];
/// The Chef type `[String, Integer, nil]`.
pub const TEXT_INTEGER_OR_NIL: &[Matcher] =
    &[Matcher::Class(Class::Text), Matcher::Class(Class::Integer), Matcher::Equal(Literal::Nil)];
/// The Chef type `[String, nil, FalseClass]`.
pub const TEXT_NIL_OR_FALSE: &[Matcher] =
    &[Matcher::Class(Class::Text), Matcher::Equal(Literal::Nil), Matcher::Class(Class::False)];

impl Property {
    /// Whether it takes its value from the resource's name.
    pub const fn is_name_property(&self) -> bool {
        matches!(self.default, Default::Name)
    }

    /// Whether it can be set under this name.
    pub fn is_called(&self, name: &str) -> bool {
        self.name == name || self.aliases.contains(&name)
    }

    /// Whether there must be a value for the action.
    pub fn is_required_for(&self, action: &str) -> bool {
        match self.required {
            Required::Never => false,
            Required::Always => true,
            Required::For(actions) => actions.contains(&action),
        }
    }
}

impl Class {
    /// Its name in Ruby.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Text => "String",
            Self::Symbol => "Symbol",
            Self::Integer => "Integer",
            Self::Float => "Float",
            Self::Numeric => "Numeric",
            Self::True => "TrueClass",
            Self::False => "FalseClass",
            Self::Nil => "NilClass",
            Self::List => "Array",
            Self::Map => "Hash",
            Self::Comparable => "Comparable",
            Self::Enumerable => "Enumerable",
            Self::Object => "Object",
            Self::Foreign(name) => name,
        }
    }

    /// The class of a value.
    pub const fn of(value: &Value) -> Self {
        match value {
            Value::Nil => Self::Nil,
            Value::Boolean(true) => Self::True,
            Value::Boolean(false) => Self::False,
            Value::Integer(_) => Self::Integer,
            Value::Float(_) => Self::Float,
            Value::Text(_) => Self::Text,
            Value::Symbol(_) => Self::Symbol,
            Value::List(_) => Self::List,
            Value::Map(_) => Self::Map,
        }
    }

    /// Whether a value is an instance of the class, as Ruby's `is_a?` says.
    pub fn includes(self, value: &Value) -> bool {
        match (self, Self::of(value)) {
            (Self::Object, _)
            | (Self::Numeric, Self::Integer | Self::Float)
            | (Self::Comparable, Self::Text | Self::Symbol | Self::Integer | Self::Float)
            | (Self::Enumerable, Self::List | Self::Map) => true,
            (wanted, actual) => wanted == actual,
        }
    }
}

impl Literal {
    /// Returns the value of the constant.
    pub fn to_value(self) -> Value {
        match self {
            Self::Nil => Value::Nil,
            Self::Boolean(boolean) => Value::Boolean(boolean),
            Self::Integer(integer) => Value::Integer(integer),
            Self::Float(float) => Value::Float(float),
            Self::Text(text) => Value::Text(text.to_owned()),
            Self::Symbol(name) => Value::Symbol(name.to_owned()),
            Self::List(items) => Value::List(items.iter().map(|item| item.to_value()).collect()),
            Self::Map(pairs) => {
                Value::Map(pairs.iter().map(|(key, entry)| (key.to_value(), entry.to_value())).collect())
            }
        }
    }
}
