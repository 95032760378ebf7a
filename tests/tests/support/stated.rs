//! Locks that tests write by hand.

use artifact::lock::CookbookIdentifier;
use policyfile::lock::Lock;
use serde_json::Value;

/// A lock that states of its content what is so: its revision, and each identifier in its second form.
#[must_use]
pub(super) fn stated(mut lock: Value) -> Value {
    let cookbooks = lock.get_mut("cookbook_locks").and_then(Value::as_object_mut).unwrap();
    for cookbook in cookbooks.values_mut().map(|cookbook| cookbook.as_object_mut().unwrap()) {
        let identifier = CookbookIdentifier::parse(cookbook.get("identifier").unwrap().as_str().unwrap()).unwrap();
        cookbook.insert("dotted_decimal_identifier".into(), identifier.dotted_decimal().into());
    }
    let revision = Lock::from_json(&lock).unwrap().revision_id().unwrap();
    lock.as_object_mut().unwrap().insert("revision_id".into(), revision.into());
    lock
}
