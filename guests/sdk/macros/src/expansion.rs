//! Writes the code of a resource type.

use crate::declaration::{Declaration, Default, Property};
use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::ext::IdentExt as _;
use syn::{Expr, ExprLit, Ident, Lit, Type, Visibility};

/// Returns the implementation of `Resource`, the function that creates a builder, and the builder.
pub(crate) fn expand(declaration: &Declaration) -> TokenStream {
    let (implementation, builder) = (implementation(declaration), builder(declaration));
    quote! {
        #implementation
        #builder
    }
}

fn implementation(declaration: &Declaration) -> TokenStream {
    let Declaration { ident, name, actions, current, unified_mode, properties, is_unit, .. } = declaration;
    let descriptions = properties.iter().map(description);
    let actions = actions.iter().map(|action| {
        let name = action.unraw().to_string();
        quote!(.action::<Self, _>(#name, Self::#action))
    });
    let current = current.iter().map(|method| quote!(.current::<Self>(Self::#method)));
    let fields: Vec<_> = properties.iter().map(|property| &property.ident).collect();
    let names: Vec<_> = properties.iter().map(|property| &property.name).collect();
    let read = if *is_unit { quote!(Self) } else { quote!(Self { #(#fields: properties.get(#names)?,)* }) };
    quote! {
        #[automatically_derived]
        impl ::wrun_sdk::custom::Resource for #ident {
            fn definition() -> ::wrun_sdk::custom::derive::Definition {
                ::wrun_sdk::custom::derive::Definition::new(#name, #unified_mode)
                    #(.property(#descriptions))*
                    #(#actions)*
                    #(#current)*
            }

            fn from_properties(
                properties: &::wrun_sdk::custom::derive::Properties<'_>,
            ) -> ::wrun_sdk::Result<Self> {
                let _ = properties;
                ::wrun_sdk::Result::Ok(#read)
            }

            fn to_values(&self) -> ::std::vec::Vec<(&'static str, ::wrun_sdk::Value)> {
                ::std::vec![#((#names, ::wrun_sdk::custom::PropertyType::to_value(&self.#fields)),)*]
            }
        }
    }
}

/// Returns the code that describes a property. The SDK checks declarations against the description.
fn description(property: &Property) -> TokenStream {
    let Property { name, value_type, is_name, default, one_of, desired_state, .. } = property;
    let default = default.iter().map(|default| {
        let value = match default {
            Default::OfType => quote!(<#value_type as ::core::default::Default>::default()),
            Default::Value(value) => owned(value),
        };
        quote!(.default::<#value_type>(#value))
    });
    let is_name = is_name.then(|| quote!(.name()));
    let one_of = (!one_of.is_empty()).then(|| quote!(.one_of([#(::wrun_sdk::Value::from(#one_of)),*])));
    let how = (!desired_state).then(|| quote!(.no_desired_state()));
    quote!(::wrun_sdk::custom::derive::Property::new::<#value_type>(#name)#(#default)* #is_name #one_of #how)
}

/// Converts a default's expression, in which texts and lists are literals: `"x"` for a `String`, `["x"]` for a `Vec<String>`.
fn owned(value: &Expr) -> TokenStream {
    match value {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => quote!(::core::convert::Into::into(#text)),
        Expr::Array(array) => {
            let items = array.elems.iter().map(owned);
            quote!(::std::vec![#(#items),*])
        }
        other => quote!(#other),
    }
}

fn builder(declaration: &Declaration) -> TokenStream {
    let Declaration { visibility, ident, name, function, documentation, actions, properties, .. } = declaration;
    let builder = format_ident!("{}Builder", ident.unraw());
    let name_property = properties.iter().find(|property| property.is_name).map(|property| &property.name);
    let about_name = match name_property {
        Some(property) => format!("Begins a `{name}`. The name is also its `{property}`, unless that is set."),
        None => format!("Begins a `{name}`."),
    };
    let about_builder = format!("A `{name}` on its way to the host: see [`{ident}`].");
    let setters = properties.iter().map(|property| setter(visibility, property));
    let nothing = format_ident!("nothing");
    let actions = actions.iter().chain([&nothing]).map(|action| action_method(visibility, action));
    let allowed = quote!(#[allow(dead_code, unreachable_pub, reason = "a cookbook need not use all of it")]);
    quote! {
        #(#[doc = #documentation])*
        ///
        #[doc = #about_name]
        #allowed
        #[track_caller]
        #visibility fn #function(name: impl ::core::convert::Into<::std::string::String>) -> #builder {
            #builder(::wrun_sdk::builder::Builder::new(#name, name))
        }

        #[doc = #about_builder]
        #allowed
        #[must_use = "a resource does nothing until it is declared"]
        #[derive(Debug)]
        #visibility struct #builder(::wrun_sdk::builder::Builder);

        #allowed
        impl #builder {
            #(#setters)*
            #(#actions)*
        }

        ::wrun_sdk::__common_methods!(#builder);
    }
}

fn setter(visibility: &Visibility, property: &Property) -> TokenStream {
    let Property { ident, name, documentation, value_type, .. } = property;
    let documentation = if documentation.is_empty() { &vec![format!(" Sets `{name}`.")] } else { documentation };
    let notes = notes(property).map(|notes| quote!(#[doc = ""] #[doc = #notes]));
    quote! {
        #(#[doc = #documentation])*
        #notes
        #visibility fn #ident(
            mut self,
            value: impl ::wrun_sdk::builder::IntoProperty<<#value_type as ::wrun_sdk::custom::PropertyType>::Kind>,
        ) -> Self {
            self.0.set(#name, ::wrun_sdk::builder::IntoProperty::into_property(value));
            self
        }
    }
}

/// Returns the text to append to the author's documentation of a property: choices and default.
fn notes(property: &Property) -> Option<String> {
    let mut notes = Vec::new();
    if !property.one_of.is_empty() {
        let choices: Vec<_> = property.one_of.iter().map(|choice| format!("`{}`", quote!(#choice))).collect();
        notes.push(format!("One of {}.", choices.join(", ")));
    }
    match &property.default {
        _ if property.is_name => notes.push("Default: the resource's name.".to_owned()),
        Some(Default::Value(value)) => notes.push(format!("Default: `{}`.", quote!(#value))),
        Some(Default::OfType) => {}
        None if is_option(&property.value_type) => {}
        None => notes.push("Required.".to_owned()),
    }
    (!notes.is_empty()).then(|| format!(" {}", notes.join(" ")))
}

/// Returns true if the type is written as `Option`. Only the documentation uses it. The SDK asks the type itself whether a
/// value may be absent.
fn is_option(value_type: &Type) -> bool {
    match value_type {
        Type::Path(path) => path.path.segments.last().is_some_and(|segment| segment.ident == "Option"),
        _ => false,
    }
}

fn action_method(visibility: &Visibility, action: &Ident) -> TokenStream {
    let name = action.unraw().to_string();
    let method = format_ident!("action_{name}");
    let about = format!(" Adds the action `{name}`; the first that is added takes the default action's place.");
    quote! {
        #[doc = #about]
        #visibility fn #method(mut self) -> Self {
            self.0.action(#name);
            self
        }
    }
}
