//! Search over local data, in the query syntax of Chef.
//!
//! [`Query::parse`] reads a query, [`Document::of`] makes of an object the flat fields that it is held against. What a
//! query finds is what Chef's local mode finds, also where a real index would find more: cookbooks were tested with it.
//!
//! * A field's name is the path to it with `_` between the keys; each key alone is a field too, so `role:db` finds
//!   `{"app": {"role": "db"}}`. Elements of an array are values of the array's field.
//! * A term matches whole words in any case; `*` and `?` stand for characters of words. A quoted phrase matches words in
//!   a row.
//! * Two terms side by side are joined by `OR`; `AND` binds tighter.

mod document;
mod query;
mod words;

pub use document::Document;
pub use query::{BadQuery, Query};

#[cfg(test)]
mod tests;
