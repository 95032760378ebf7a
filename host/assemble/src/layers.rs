//! Layers of environment files: how they are read from the disk, and what they come to in a run.

mod files;
mod groups;
mod parameters;
mod run;

pub use files::{LayerFiles, LayersError};
pub use groups::NextGroups;
pub(crate) use run::{LayerInput, RunLayers};
