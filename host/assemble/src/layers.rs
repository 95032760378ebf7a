//! Layers of environment files: how they are read from the disk, and what they come to in a run.

mod files;
mod groups;
mod parameters;
mod run;

pub use files::{LayerFiles, LayersError, changed_group_layers};
pub use groups::NextGroups;
pub(crate) use run::{LayerInput, RunLayers};
