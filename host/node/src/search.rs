//! Search over local data, in the query syntax of Chef: the one parser of queries, for guests' `search` and for
//! `wrun search`.
//!
//! * A field's name is the path to it with `_` between the keys; each key alone is a field too, so `role:db` finds
//!   `{"app": {"role": "db"}}`. Elements of an array are values of the array's field.
//! * A term matches whole words in any case; `*` and `?` stand for characters of words. A quoted phrase matches words in
//!   a row.
//! * A range compares numbers as numbers and all else as text. (Chef's local mode compares the lower bound the wrong way
//!   round; a Chef server does not.)
//! * Two terms side by side are joined by `OR`; `AND` binds tighter. This and the rest is as in Chef's local mode.
//!
//! Neither queries nor objects are trusted: a query has limits, and each step of a search is charged to the policy that
//! searches.

mod document;
mod meter;
mod parser;
mod query;
mod words;

pub use query::{BadQuery, Query, widened};

#[cfg(test)]
mod tests;
