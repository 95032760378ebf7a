//! Constructors of specifications: `const fn`s, so that the tables of built-in types are constants.

use super::{
    BOOLEAN, Callback, Class, Coercion, Default, Deputy, INTEGER, LIST, Literal, MAP, MODE_IN_RANGE, Matcher, Pattern,
    Property, Required, TEXT, TEXT_OR_INTEGER,
};

impl Property {
    /// A property that accepts everything.
    pub const fn new(name: &'static str, doc: &'static str) -> Self {
        Self {
            name,
            aliases: &[],
            doc,
            is: None,
            kind_of: None,
            equal_to: None,
            regex: None,
            callbacks: &[],
            respond_to: &[],
            cannot_be: &[],
            coerce: None,
            default: Default::Unset,
            required: Required::Never,
            sensitive: false,
            hidden_with_resource: false,
            desired_state: true,
            identity: false,
            collects: false,
            introduced: None,
            deprecated: None,
            validation_message: None,
            deputy: Deputy::None,
            included_in: None,
        }
    }

    /// A property that accepts one of these.
    pub const fn of(name: &'static str, is: &'static [Matcher], doc: &'static str) -> Self {
        let mut property = Self::new(name, doc);
        property.is = Some(is);
        property
    }

    /// Makes a property that takes a string.
    pub const fn text(name: &'static str, doc: &'static str) -> Self {
        Self::of(name, TEXT, doc)
    }

    /// Makes a property that takes true or false.
    pub const fn boolean(name: &'static str, doc: &'static str) -> Self {
        Self::of(name, BOOLEAN, doc)
    }

    /// Makes a property that takes a whole number.
    pub const fn integer(name: &'static str, doc: &'static str) -> Self {
        Self::of(name, INTEGER, doc)
    }

    /// Makes a property that takes an array.
    pub const fn list(name: &'static str, doc: &'static str) -> Self {
        Self::of(name, LIST, doc)
    }

    /// Makes a property that takes a hash.
    pub const fn map(name: &'static str, doc: &'static str) -> Self {
        Self::of(name, MAP, doc)
    }

    /// Makes a property that takes one of a few symbols. A plain string is accepted too.
    pub const fn symbol(name: &'static str, choices: &'static [Literal], doc: &'static str) -> Self {
        Self::of(name, &[Matcher::Class(Class::Symbol)], doc).coerce(Coercion::Symbol).equal_to(choices)
    }

    /// Makes a property that takes permission bits, as octal text or a number. They are stored as text of at least four octal
    /// digits.
    pub const fn mode(name: &'static str, doc: &'static str) -> Self {
        let mut property = Self::of(name, TEXT_OR_INTEGER, doc).coerce(Coercion::Mode).callbacks(&[MODE_IN_RANGE]);
        property.deputy = Deputy::Mode;
        property
    }

    /// Sets further names by which cookbooks may set it.
    #[must_use]
    pub const fn aliases(mut self, aliases: &'static [&'static str]) -> Self {
        self.aliases = aliases;
        self
    }

    /// Sets `equal_to`, the only values that are accepted.
    #[must_use]
    pub const fn equal_to(mut self, choices: &'static [Literal]) -> Self {
        self.equal_to = Some(choices);
        self
    }

    /// Sets `regex`, of which one pattern must match.
    #[must_use]
    pub const fn regex(mut self, patterns: &'static [&'static Pattern]) -> Self {
        self.regex = Some(patterns);
        self
    }

    /// Sets `callbacks`, tests that a value must all pass.
    #[must_use]
    pub const fn callbacks(mut self, callbacks: &'static [Callback]) -> Self {
        self.callbacks = callbacks;
        self
    }

    /// Sets `coerce`, which runs before the checks.
    #[must_use]
    pub const fn coerce(mut self, coercion: Coercion) -> Self {
        self.coerce = Some(coercion);
        self
    }

    /// Sets a constant default.
    #[must_use]
    pub const fn default(self, literal: Literal) -> Self {
        self.default_to(Default::Fixed(literal))
    }

    /// Sets a default of any kind, also one that is only described.
    #[must_use]
    pub const fn default_to(mut self, default: Default) -> Self {
        self.default = default;
        self
    }

    /// Makes it default to the resource's name. As in Chef, it is then not part of the desired state.
    #[must_use]
    pub const fn name_property(mut self) -> Self {
        self.default = Default::Name;
        self.desired_state = false;
        self
    }

    /// Marks it as part of the identity of the thing on the machine.
    #[must_use]
    pub const fn identity(mut self) -> Self {
        self.identity = true;
        self
    }

    /// Makes it required for all actions.
    #[must_use]
    pub const fn required(mut self) -> Self {
        self.required = Required::Always;
        self
    }

    /// Makes it required for some actions.
    #[must_use]
    pub const fn required_for(mut self, actions: &'static [&'static str]) -> Self {
        self.required = Required::For(actions);
        self
    }

    /// Marks it as secret.
    #[must_use]
    pub const fn sensitive(mut self) -> Self {
        self.sensitive = true;
        self
    }

    /// Marks it as hidden where the whole resource is sensitive.
    #[must_use]
    pub const fn hidden_with_resource(mut self) -> Self {
        self.hidden_with_resource = true;
        self
    }

    /// Marks it as not part of the desired state.
    #[must_use]
    pub const fn no_state(mut self) -> Self {
        self.desired_state = false;
        self
    }

    /// Makes several calls collect their values.
    #[must_use]
    pub const fn collects(mut self) -> Self {
        self.collects = true;
        self
    }

    /// Notes the Chef version that introduced it.
    #[must_use]
    pub const fn since(mut self, version: &'static str) -> Self {
        self.introduced = Some(version);
        self
    }

    /// Marks it as deprecated, with the reason.
    #[must_use]
    pub const fn deprecated(mut self, reason: &'static str) -> Self {
        self.deprecated = Some(reason);
        self
    }

    /// Sets the message of failed checks.
    #[must_use]
    pub const fn validation_message(mut self, message: &'static str) -> Self {
        self.validation_message = Some(message);
        self
    }

    /// Marks the kind of thing that it affects beyond the resource, which needs a grant of its own.
    #[must_use]
    pub const fn deputy(mut self, deputy: Deputy) -> Self {
        self.deputy = deputy;
        self
    }

    /// Names the thing whose grant includes what the property affects beyond the resource.
    #[must_use]
    pub const fn included_in(mut self, thing: &'static str) -> Self {
        self.deputy = Deputy::None;
        self.included_in = Some(thing);
        self
    }
}
