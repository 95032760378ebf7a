//! `#[derive(Resource)]` of `wrun-sdk`. Its manual is `wrun_sdk::custom`.
//!
//! The macro generates an implementation of the trait `Resource` and a builder like those of the built-in types.
//! [`declaration`] reads the struct and its attributes, [`expansion`] writes the code.

mod declaration;
mod expansion;

use declaration::Declaration;
use proc_macro::TokenStream;
use syn::{DeriveInput, parse_macro_input};

/// Makes a resource type from a struct whose fields are its properties. See `wrun_sdk::custom`.
#[proc_macro_derive(Resource, attributes(resource, property))]
pub fn resource(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    let code = Declaration::read(input).map(|declaration| expansion::expand(&declaration));
    code.unwrap_or_else(|error| error.into_compile_error()).into()
}
