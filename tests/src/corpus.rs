//! How a run is held against what real Chef gave, for the corpus.

mod archive;
pub mod comparison;
pub mod normal_form;

pub use comparison::{Difference, Found, differences};
