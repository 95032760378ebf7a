//! Reads the struct and its attributes. Returns an error if they cannot become a resource type.

use proc_macro2::Span;
use quote::ToTokens as _;
use syn::ext::IdentExt as _;
use syn::meta::ParseNestedMeta;
use syn::spanned::Spanned as _;
use syn::{
    Attribute, Data, DataStruct, DeriveInput, Error, Expr, ExprLit, Field, Fields, Ident, Lit, LitBool, LitStr, Meta,
    Result, Token, Type, Visibility,
};

/// A resource type, as its struct describes it.
pub(crate) struct Declaration {
    pub(crate) visibility: Visibility,
    pub(crate) ident: Ident,
    /// The resource type's name: `web_site`.
    pub(crate) name: String,
    /// The function that creates a builder: the type's name as an identifier.
    pub(crate) function: Ident,
    pub(crate) documentation: Vec<String>,
    pub(crate) actions: Vec<Ident>,
    /// The method that returns the current state of the machine.
    pub(crate) current: Option<Ident>,
    pub(crate) unified_mode: bool,
    pub(crate) properties: Vec<Property>,
    /// Whether the struct has no braces: `struct Probe;`.
    pub(crate) is_unit: bool,
}

/// A property: a field of the struct.
pub(crate) struct Property {
    pub(crate) ident: Ident,
    pub(crate) name: String,
    pub(crate) documentation: Vec<String>,
    pub(crate) value_type: Type,
    pub(crate) is_name: bool,
    pub(crate) default: Option<Default>,
    pub(crate) one_of: Vec<Expr>,
    pub(crate) desired_state: bool,
}

/// The value of a property that is not set.
pub(crate) enum Default {
    /// The default of the field's type.
    OfType,
    /// An expression of the field's type.
    Value(Expr),
}

/// The methods that every builder has. A property of such a name could not be set.
pub(crate) const METHODS: [&str; 20] = [
    "only_if",
    "not_if",
    "only_if_command",
    "not_if_command",
    "notifies",
    "notifies_immediately",
    "notifies_before",
    "subscribes",
    "subscribes_immediately",
    "subscribes_before",
    "retries",
    "ignore_failure",
    "ignore_failure_quietly",
    "sensitive",
    "umask",
    "actions",
    "action_nothing",
    "declare",
    "declared",
    "build",
];

impl Declaration {
    /// Reads a struct with its attributes.
    ///
    /// # Errors
    /// It cannot become a resource type, or an attribute is invalid.
    pub(crate) fn read(input: DeriveInput) -> Result<Self> {
        let DeriveInput { attrs, vis, ident, generics, data } = input;
        if !generics.params.is_empty() {
            return Err(Error::new(generics.span(), "a resource type cannot have parameters"));
        }
        let fields = match data {
            Data::Struct(DataStruct { fields: fields @ (Fields::Named(_) | Fields::Unit), .. }) => fields,
            _ => return Err(Error::new(ident.span(), "a resource type is a struct with named fields")),
        };
        let is_unit = matches!(fields, Fields::Unit);
        let properties = fields.into_iter().map(Property::read).collect::<Result<Vec<_>>>()?;
        let names: Vec<_> = properties.iter().filter(|property| property.is_name).collect();
        if let [_, second, ..] = names.as_slice() {
            return Err(Error::new(second.ident.span(), "only one property can be the resource's name"));
        }
        let own_name = snake_case(&ident.unraw().to_string());
        let mut declaration = Self {
            visibility: vis,
            function: function(&own_name, ident.span()),
            name: own_name,
            documentation: documentation(&attrs),
            actions: vec![],
            current: None,
            unified_mode: true,
            properties,
            is_unit,
            ident,
        };
        for attribute in attrs.iter().filter(|attribute| attribute.path().is_ident("resource")) {
            attribute.parse_nested_meta(|meta| declaration.read_attribute(&meta))?;
        }
        if declaration.actions.is_empty() {
            let message = "a resource type has at least one action: name its methods, \
                           `#[resource(actions(create, remove))]`; the first is the default";
            return Err(Error::new(declaration.ident.span(), message));
        }
        Ok(declaration)
    }

    fn read_attribute(&mut self, meta: &ParseNestedMeta<'_>) -> Result<()> {
        if meta.path.is_ident("name") {
            let name: LitStr = meta.value()?.parse()?;
            self.function = name.parse().map_err(|_| {
                Error::new(name.span(), "a resource type's name has letters, digits and underscores: `web_site`")
            })?;
            self.name = name.value();
        } else if meta.path.is_ident("actions") {
            meta.parse_nested_meta(|action| {
                self.actions.push(action.path.require_ident()?.clone());
                Ok(())
            })?;
        } else if meta.path.is_ident("current") {
            self.current = Some(meta.value()?.parse()?);
        } else if meta.path.is_ident("unified_mode") {
            self.unified_mode = meta.value()?.parse::<LitBool>()?.value;
        } else {
            return Err(meta.error("unknown key; there are: name, actions, current, unified_mode"));
        }
        Ok(())
    }
}

impl Property {
    fn read(field: Field) -> Result<Self> {
        let Some(ident) = field.ident else { return Err(Error::new(Span::call_site(), "a property has a name")) };
        let mut property = Self {
            name: ident.unraw().to_string(),
            documentation: documentation(&field.attrs),
            value_type: field.ty,
            is_name: false,
            default: None,
            one_of: vec![],
            desired_state: true,
            ident,
        };
        if METHODS.contains(&property.name.as_str()) {
            let message =
                format!("every resource has the method `{0}`, so no property can be called `{0}`", property.name);
            return Err(Error::new(property.ident.span(), message));
        }
        for attribute in field.attrs.iter().filter(|attribute| attribute.path().is_ident("property")) {
            attribute.parse_nested_meta(|meta| property.read_attribute(&meta))?;
        }
        if property.is_name && property.default.is_some() {
            let message = "the property `name` of a resource has the resource's name as its default";
            return Err(Error::new(property.ident.span(), message));
        }
        if let Some(default) = property.refused_default() {
            let message = "the default is not among the values of `one_of`";
            return Err(Error::new(default.span(), message));
        }
        Ok(property)
    }

    /// Returns the default if it is a literal that `one_of`, a list of literals, does not have.
    fn refused_default(&self) -> Option<&Expr> {
        let Some(Default::Value(default @ Expr::Lit(_))) = &self.default else { return None };
        let are_known = !self.one_of.is_empty() && self.one_of.iter().all(|one| matches!(one, Expr::Lit(_)));
        let text = |one: &Expr| one.to_token_stream().to_string();
        (are_known && !self.one_of.iter().any(|one| text(one) == text(default))).then_some(default)
    }

    fn read_attribute(&mut self, meta: &ParseNestedMeta<'_>) -> Result<()> {
        if meta.path.is_ident("name") {
            self.is_name = true;
        } else if meta.path.is_ident("default") {
            let has_value = meta.input.peek(Token![=]);
            self.default = Some(if has_value { Default::Value(meta.value()?.parse()?) } else { Default::OfType });
        } else if meta.path.is_ident("one_of") {
            match meta.value()?.parse()? {
                Expr::Array(array) => self.one_of = array.elems.into_iter().collect(),
                other => return Err(Error::new(other.span(), "`one_of` is a list: `one_of = [\"http\", \"https\"]`")),
            }
        } else if meta.path.is_ident("desired_state") {
            self.desired_state = meta.value()?.parse::<LitBool>()?.value;
        } else {
            return Err(meta.error("unknown key; there are: name, default, one_of, desired_state"));
        }
        Ok(())
    }
}

/// Returns a name as an identifier, a raw one if it is a keyword of Rust.
fn function(name: &str, span: Span) -> Ident {
    match syn::parse_str::<Ident>(name) {
        Ok(_) => Ident::new(name, span),
        Err(_) => Ident::new_raw(name, span),
    }
}

/// Returns the lines of a documentation comment.
fn documentation(attributes: &[Attribute]) -> Vec<String> {
    let line = |attribute: &Attribute| match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
            _ => None,
        },
        _ => None,
    };
    attributes.iter().filter_map(line).collect()
}

/// Returns a type's default name: `WebSite` becomes `web_site`.
fn snake_case(name: &str) -> String {
    let mut words = String::new();
    for (at, letter) in name.char_indices() {
        if letter.is_uppercase() && at > 0 && !words.ends_with('_') {
            words.push('_');
        }
        words.extend(letter.to_lowercase());
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn refused(code: &str) -> String {
        let input = syn::parse_str(code).expect("Rust code");
        Declaration::read(input).err().map_or_else(|| "it is read".to_owned(), |error| error.to_string())
    }

    #[test]
    fn a_struct_is_read_with_its_attributes() {
        let code = r#"
            /// A site.
            #[derive(Clone, Resource)]
            #[resource(actions(create, remove), current = find, unified_mode = false)]
            pub struct WebSite {
                /// The address that visitors use.
                #[property(name)]
                r#type: String,
                #[property(default = 80, desired_state = false)]
                port: u16,
                #[property(default, one_of = ["a", "b"])]
                scheme: String,
                root: Option<String>,
            }"#;
        let read = Declaration::read(syn::parse_str(code).expect("Rust code")).expect("a declaration");
        assert_eq!((read.name.as_str(), read.unified_mode), ("web_site", false));
        assert_eq!(read.documentation, [" A site."]);
        assert_eq!(read.actions, ["create", "remove"]);
        assert_eq!(read.current.expect("a method"), "find");
        let [kind, port, scheme, root] = read.properties.as_slice() else { panic!("four properties") };
        assert!(kind.name == "type" && kind.is_name && kind.documentation == [" The address that visitors use."]);
        assert!(matches!(port.default, Some(Default::Value(_))) && !port.desired_state);
        assert!(matches!(scheme.default, Some(Default::OfType)) && scheme.one_of.len() == 2);
        assert!(root.default.is_none() && root.desired_state && !root.is_name);
    }

    #[test]
    fn what_cannot_be_a_type_is_refused_in_the_words_of_its_author() {
        for (code, message) in [
            ("struct A { x: u8 }", "a resource type has at least one action: name its methods"),
            ("#[resource(actions(a))] struct A(u8);", "a resource type is a struct with named fields"),
            ("#[resource(actions(a))] enum A { B }", "a resource type is a struct with named fields"),
            ("#[resource(actions(a))] struct A<T> { x: T }", "a resource type cannot have parameters"),
            ("#[resource(action(a))] struct A;", "unknown key; there are: name, actions, current, unified_mode"),
            ("#[resource(name = \"a b\", actions(a))] struct A;", "a resource type's name has letters"),
            (
                "#[resource(actions(a))] struct A { #[property(defualt)] x: u8 }",
                "unknown key; there are: name, default, one_of, desired_state",
            ),
            ("#[resource(actions(a))] struct A { #[property(one_of = 1)] x: u8 }", "`one_of` is a list"),
            (
                "#[resource(actions(a))] struct A { #[property(default = \"gopher\", one_of = [\"http\"])] x: String }",
                "the default is not among the values of `one_of`",
            ),
            ("#[resource(actions(a))] struct A { retries: u8 }", "every resource has the method `retries`"),
            (
                "#[resource(actions(a))] struct A { #[property(name)] x: String, #[property(name)] y: String }",
                "only one property can be the resource's name",
            ),
        ] {
            assert!(refused(code).starts_with(message), "{code}: {}", refused(code));
        }
    }

    #[test]
    fn the_methods_of_every_builder_are_those_of_the_sdk() {
        let source = include_str!("../../src/builder/common.rs");
        let methods = source.lines().filter_map(|line| line.trim().strip_prefix("pub fn ")?.split(['(', '<']).next());
        let mut methods: BTreeSet<&str> = methods.filter(|name| *name != "verify_block").collect();
        methods.insert("action_nothing");
        assert_eq!(methods, METHODS.into_iter().collect());
    }

    #[test]
    fn a_structs_name_becomes_a_types_name() {
        assert_eq!(snake_case("Site"), "site");
        assert_eq!(snake_case("WebSite2"), "web_site2");
        assert_eq!(snake_case("Web_Site"), "web_site");
    }
}
