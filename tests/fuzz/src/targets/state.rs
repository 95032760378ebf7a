//! Files of the state directory: whatever is in them, they are read or refused, and what was read can be saved and read
//! again.

use contract::Memory as _;
use node::object::NodeObject;
use state::{LockRequest, StateDirectory};
use std::fs;
use std::time::{Duration, SystemTime};

/// Lays the bytes where the node, its due notifications or a run's record are kept, and reads them.
pub(super) fn read(data: &[u8]) {
    let (choice, content) = super::choice(data);
    let folder = tempfile::tempdir().unwrap();
    let state = StateDirectory::open(folder.path()).unwrap();
    let lock = state.lock(LockRequest {
        command: "fuzz",
        began: SystemTime::UNIX_EPOCH,
        wait: Duration::ZERO,
        interrupted: &|| false,
        waiting: &mut |_| {},
    });
    let lock = lock.unwrap();
    match choice % 3 {
        0 => {
            lock.save_node("n", &serde_json::json!({})).unwrap();
            fs::write(state.node_file("n"), content).unwrap();
            let Ok(Some(saved)) = state.node("n") else { return };
            let Ok(node) = NodeObject::from_saved_json(&saved) else { return };
            let again = node.to_saved_json(&node::saved_filter::SavedFilters::default()).unwrap();
            lock.save_node("n", &again).unwrap();
            let read = state.node("n").unwrap().expect("it was saved");
            NodeObject::from_saved_json(&read).expect("a node that was saved can be read");
        }
        1 => {
            lock.pending("n").unwrap().due("core", "service[a]", "restart").unwrap();
            let due = folder.path().join("pending");
            let Some(file) = fs::read_dir(&due).ok().and_then(|mut entries| entries.next()?.ok()) else { return };
            fs::write(file.path(), content).unwrap();
            let _ = state.left_due("n");
            let _ = lock.pending("n");
        }
        _ => {
            let run = lock.run_folder(SystemTime::UNIX_EPOCH).unwrap();
            run.save_record(&serde_json::json!({})).unwrap();
            fs::write(folder.path().join("runs").join(run.id().as_str()).join("run.json"), content).unwrap();
            let _ = state.record(run.id());
            assert_eq!(state.runs().unwrap().len(), 1);
        }
    }
}
