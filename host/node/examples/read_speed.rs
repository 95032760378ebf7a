//! How fast reads are while writes go on, over a node with 100,000 leaves.
//!
//! Reads must cost what they return: 10,000 of them, each after a write, must cost no more than a few merges of the
//! whole node, where a reader that merges anew after each write would pay for 10,000. The program fails otherwise.

#![expect(clippy::print_stdout, clippy::expect_used, reason = "an example that prints figures and fails by panicking")]

use std::time::{Duration, Instant};

use node::attributes::{Attributes, Level};
use node::origin::Origin;
use serde_json::{Value, json};

const OUTER: usize = 100;
const MIDDLE: usize = 100;
const INNER: usize = 10;
const READS: usize = 10_000;

/// Whole merges that all reads and writes together may cost.
const ALLOWED_MERGES: u32 = 20;

fn main() {
    let mut attributes = full_node();
    let origin = Origin::policy("speed");
    let (merged, whole_merge) = timed(|| attributes.merged());
    println!("leaves in the merged view: {}", leaves(&Value::Object(merged)));
    println!("one merge of everything: {whole_merge:?}");

    let (_, reads_of_leaves) = timed(|| {
        for number in 0..READS {
            let path = path_of(number);
            let mut written = path.clone();
            written.push("k3".to_owned());
            attributes.write(Level::Default, &written, json!(number), &origin).expect("a write");
            let mut other = path_of(number + 1);
            other.push("k7".to_owned());
            assert!(attributes.read(&other).is_some());
        }
    });
    println!("{READS} writes, each before a read of a leaf: {reads_of_leaves:?}");

    let (_, reads_of_subtrees) = timed(|| {
        for number in 0..READS {
            attributes.write(Level::Normal, &["unrelated", "counter"], json!(number), &origin).expect("a write");
            assert!(attributes.read(&path_of(number)).is_some_and(|value| value.is_object()));
        }
    });
    println!("{READS} writes, each before a read of a subtree of {INNER} leaves: {reads_of_subtrees:?}");

    let (_, shapes) = timed(|| {
        for number in 0..READS {
            assert!(attributes.shape(path_of(number).get(..1).unwrap_or_default()).is_some());
        }
    });
    println!("{READS} looks at the shape of a subtree of {} leaves: {shapes:?}", MIDDLE * INNER);

    for (what, spent) in [("leaves", reads_of_leaves), ("subtrees", reads_of_subtrees)] {
        let allowed = whole_merge * ALLOWED_MERGES;
        assert!(spent < allowed, "reads of {what} took {spent:?}, more than {ALLOWED_MERGES} merges of everything");
    }
}

/// 100,000 leaves in `default`, a tenth of them also in `override` and `normal`.
fn full_node() -> Attributes {
    let mut attributes = Attributes::new();
    let origin = Origin::policy("speed");
    for number in 0..OUTER * MIDDLE {
        let path = path_of(number);
        let leaves: serde_json::Map<String, Value> =
            (0..INNER).map(|leaf| (format!("k{leaf}"), json!(number))).collect();
        attributes.write(Level::Default, &path, Value::Object(leaves), &origin).expect("a write");
        let mut leaf = path;
        leaf.push("k1".to_owned());
        attributes.write(Level::Normal, &leaf, json!("normal"), &origin).expect("a write");
        attributes.write(Level::Override, &leaf, json!("override"), &origin).expect("a write");
    }
    attributes
}

fn path_of(number: usize) -> Vec<String> {
    vec![format!("outer{}", number % OUTER), format!("middle{}", number / OUTER % MIDDLE)]
}

fn leaves(value: &Value) -> usize {
    match value {
        Value::Object(object) => object.values().map(leaves).sum(),
        Value::Array(array) => array.iter().map(leaves).sum(),
        _ => 1,
    }
}

fn timed<Made>(work: impl FnOnce() -> Made) -> (Made, Duration) {
    let start = Instant::now();
    let made = work();
    (made, start.elapsed())
}
