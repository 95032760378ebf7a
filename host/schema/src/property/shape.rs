//! Determines the shape of a property's values, for the builders of the Rust SDK and for the reference.

use super::{Class, Coercion, Literal, Matcher, Property};

/// The shapes of values. Each is a marker type of the SDK (`crate::builder::kinds`), and the SDK defines which Rust values it
/// accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Shape {
    /// Any JSON value, with no check of its own.
    Anything,
    /// True or false, and nothing else.
    Boolean,
    /// True, false or a whole number.
    BooleanOrInteger,
    /// True, false or a string.
    BooleanOrText,
    /// A number with or without a fraction.
    Float,
    /// A whole number of up to 64 bits.
    Integer,
    /// A whole number or several.
    IntegerOrList,
    /// A list of any JSON values.
    List,
    /// A list or a map.
    ListOrMap,
    /// A map with text as keys and any JSON values.
    Map,
    /// Permission bits, as octal text or a number.
    Mode,
    /// A string of any content.
    Text,
    /// A string or a whole number.
    TextOrInteger,
    /// A string or several.
    TextOrList,
    /// A string or a map.
    TextOrMap,
}

impl Shape {
    /// The marker type's name in the SDK.
    pub const fn marker(self) -> &'static str {
        match self {
            Self::Anything => "Anything",
            Self::Boolean => "Boolean",
            Self::BooleanOrInteger => "BooleanOrInteger",
            Self::BooleanOrText => "BooleanOrText",
            Self::Float => "Float",
            Self::Integer => "Integer",
            Self::IntegerOrList => "IntegerOrList",
            Self::List => "List",
            Self::ListOrMap => "ListOrMap",
            Self::Map => "Map",
            Self::Mode => "Mode",
            Self::Text => "Text",
            Self::TextOrInteger => "TextOrInteger",
            Self::TextOrList => "TextOrList",
            Self::TextOrMap => "TextOrMap",
        }
    }
}

/// The classes of values that a specification accepts, one flag each. `nil` is left out, because it unsets every property.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Accepted {
    boolean: bool,
    integer: bool,
    float: bool,
    text: bool,
    list: bool,
    map: bool,
    anything: bool,
}

impl Accepted {
    fn add(&mut self, class: Class) {
        match class {
            Class::True | Class::False => self.boolean = true,
            Class::Integer => self.integer = true,
            Class::Float | Class::Numeric => self.float = true,
            Class::Text | Class::Symbol => self.text = true,
            Class::List => self.list = true,
            Class::Map => self.map = true,
            Class::Nil | Class::Foreign(_) => {}
            Class::Object | Class::Comparable | Class::Enumerable => self.anything = true,
        }
    }
}

impl Property {
    /// The shape of the values it takes.
    pub fn shape(&self) -> Shape {
        if self.coerce == Some(Coercion::Mode) {
            return Shape::Mode;
        }
        // Several calls collect a list, and each may add one entry or more.
        if self.collects {
            return Shape::List;
        }
        let mut accepted = Accepted::default();
        match self.is {
            None if self.kind_of.is_none() => accepted.anything = true,
            _ => {}
        }
        for matcher in self.is.unwrap_or_default() {
            match matcher {
                Matcher::Class(class) => accepted.add(*class),
                Matcher::Equal(Literal::Nil) => {}
                Matcher::Equal(literal) => accepted.add(Class::of(&literal.to_value())),
                Matcher::Pattern(_) => accepted.text = true,
                Matcher::Nested(_) | Matcher::Test(_) => accepted.anything = true,
            }
        }
        self.kind_of.unwrap_or_default().iter().for_each(|class| accepted.add(*class));
        let Accepted { boolean, integer, float, text, list, map, anything } = accepted;
        match (boolean, integer, float, text, list, map, anything) {
            (true, false, false, false, false, false, false) => Shape::Boolean,
            // `[String, false]` and `[Integer, false]`: false means "no value".
            (true, true, false, false, false, false, false) => Shape::BooleanOrInteger,
            (true, false, false, true, false, false, false) => Shape::BooleanOrText,
            (false, true, false, false, false, false, false) => Shape::Integer,
            (false, _, true, false, false, false, false) => Shape::Float,
            (false, true, false, false, true, false, false) => Shape::IntegerOrList,
            (false, false, false, false, true, false, false) => Shape::List,
            (false, false, false, false, true, true, false) => Shape::ListOrMap,
            (false, false, false, false, false, true, false) => Shape::Map,
            (false, false, false, true, false, false, false) => Shape::Text,
            (false, true, false, true, false, false, false) => Shape::TextOrInteger,
            (false, false, false, true, true, false, false) => Shape::TextOrList,
            (false, false, false, true, false, true, false) => Shape::TextOrMap,
            _ => Shape::Anything,
        }
    }
}
