//! Compares runs with recorded results of real Chef, for the corpus.

mod archive;
pub mod comparison;
pub mod normal_form;

pub use comparison::{Difference, Found, differences};
