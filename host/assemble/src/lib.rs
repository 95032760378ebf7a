//! Assembles a run from settings, artifacts, grants and the state, then carries it out and records it.
//!
//! This is a library for every program that converges a node. It does not read arguments, print, or change its process. It
//! reports to people by [`Notice`]s, and a program follows a run by its observers.
//!
//! ```text
//! Assembly::make_ready -> ReadyRun::open -> OpenRun::carry_out -> EndedRun::record
//! ```

mod artifacts;
mod askers;
mod data;
mod error;
mod folders;
mod grants_check;
mod grants_files;
mod input;
mod known_node;
mod known_policies;
mod layers;
mod native_cache;
mod node_changes;
mod notice;
mod objects;
mod open;
mod outgoing;
mod own_places;
pub mod own_state;
mod policy_tests;
mod program;
mod questions;
mod ready;
mod records;
mod releases;
mod request;
mod run_host;
mod runtime;
mod saved_names;
mod saved_node;
mod settings;
mod source;
mod stand_in;
mod started;
mod store;
mod thread;
mod unchanged;
mod unseen;
mod watchers;

pub use error::AssembleError;
pub use grants_check::{GrantsCheck, hint_of_resource_type};
pub use grants_files::{GrantsFiles, GrantsFilesError};

pub use facts::{known_platforms, platform_family};
pub use known_node::machine_facts;
pub use known_policies::KnownPolicies;
pub use layers::{LayerFiles, LayersError, NextGroups, changed_group_layers};
pub use node_changes::LateChanges;
pub use notice::{Notice, Notify};
pub use objects::{
    Expected, ItemSecret, Items, KeptObject, LocalObjects, ObjectKind, ObjectStore, ObjectsError, OpenedItem,
    SearchError, SearchIndex, Shelf, attribute_of, change_role_run_list, cookbook_versions, empty_item, indexes,
    new_object, node_summary, read_object, read_object_file, search,
};
pub use open::{EndedRun, Ending, OpenRun, StartedAgain};
pub use outgoing::{Destination, Place, deliver};
pub use policy_tests::{CommandAnswer, PolicyTests, TestCase, TestOutcome};
pub use program::Program;
pub use providers::machine_view;
pub use questions::{ask, ask_component};
pub use ready::{Assembly, ReadyRun};
pub use records::{RecordedRun, Records, RecordsError};
pub use releases::RepositorySettings;
pub use request::{FolderRequest, GrantsSource, Mode, OwnFiles, Request};
pub use resolve::layers::{CombineError, attribute_path, merge_layer_values, merge_layers};
pub use run_host::{DueNotifications, compiler, limits};
pub use runtime::{Runtime, RuntimeError};
pub use saved_names::{Named, is_plain_word, saved_names};
pub use saved_node::{
    ASSIGNED_POLICIES, CHANGES, HISTORIES, LAYERS, NORMAL_WRITERS, SavedNodeError, WITHOUT_POLICIES, node_to_save,
    saved_node,
};
pub use settings::Settings;
pub use stand_in::{PreparedPolicy, StandIn};
pub use started::{RunState, Started};
pub use store::{Applied, LocalNodes, NodeDocument, NodeStore, Put, StoreError, node_hint, set_in_layer};
pub use thread::spawn;
pub use unchanged::SkippedRun;
pub use unseen::known_facts;
