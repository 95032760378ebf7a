//! Reads layers of environment files from the disk, and merges them for a run.

mod files;
mod groups;
mod parameters;
mod run;

pub use files::{LayerFiles, LayersError, changed_group_layers};
pub use groups::NextGroups;
pub(crate) use run::{LayerInput, RunLayers};
