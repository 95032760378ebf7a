//! Three policies that each write to names of their own and to shared ones.

use node::attributes::{Attributes, Level};
use node::object::{NodeObject, NormalAccess, ObjectError, PolicyStart, ReadFilter};
use node::origin::Origin;
use node::run_list::RunList;
use node::saved_filter::SavedFilters;
use serde_json::{Map, Value, json};
use std::borrow::Cow;

pub(crate) const POLICIES: [&str; 3] = ["core", "database", "monitoring"];

pub(crate) fn object(value: Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap_or_default()
}

pub(crate) fn start(policy: &str) -> PolicyStart {
    let start = PolicyStart::of_policy(
        policy,
        Some("production"),
        Some(&format!("{policy}-r1")),
        RunList::parse([format!("recipe[{policy}::default]")]).unwrap(),
        object(json!({"shared": {"from_lock": policy}, "production": {"shared": {"hoisted": policy}}})),
        object(json!({"forced": policy})),
    );
    PolicyStart { artifact: Some(format!("{policy}-a1")), ..start }
}

pub(crate) fn facts() -> Map<String, Value> {
    object(json!({"platform": "debian", "platform_version": "12"}))
}

pub(crate) fn whole(all: &Value) -> Cow<'_, Value> {
    Cow::Borrowed(all)
}

/// A part that a policy may read.
pub(crate) fn part<'all>(part: Value) -> Cow<'all, Value> {
    Cow::Owned(part)
}

/// Every attribute of `normal`, by whomever it was written.
pub(crate) const ALL_OF_NORMAL: NormalAccess<'static> =
    NormalAccess { given: &whole, others: &whole, overwrites: &|_| true };

/// The attributes of a policy that may read everything.
pub(crate) fn begin(
    node: &NodeObject,
    start: &PolicyStart,
    facts: &Map<String, Value>,
) -> Result<Attributes, ObjectError> {
    node.begin_policy_seeing(
        start,
        &mut facts.clone().into(),
        &ReadFilter { inherited: &whole, normal: ALL_OF_NORMAL, facts: &whole },
    )
}

/// What every policy of these tests does: one write per kind of level, all to names of its own and to shared ones.
pub(crate) fn act(attributes: &mut Attributes, policy: &str) {
    let origin = Origin { cookbook: Some(policy.to_owned()), ..Origin::policy(policy) };
    for (level, value) in [(Level::Default, "default"), (Level::Override, "override"), (Level::Normal, "normal")] {
        attributes.write(level, &[policy, value], json!(policy), &origin).unwrap();
        attributes.write(level, &["shared", value], json!(policy), &origin).unwrap();
    }
    attributes.write(Level::Normal, &["log", policy], json!(true), &origin).unwrap();
    attributes.remove(&["forced"], &origin).unwrap();
}

/// Runs the three policies; those in `failing` are rolled back after they have acted.
pub(crate) fn run(node: &mut NodeObject, failing: &[&str], json_attributes: Value) {
    node.begin_run(&POLICIES, object(json_attributes));
    for policy in POLICIES {
        let start = start(policy);
        let mut attributes = begin(node, &start, &facts()).unwrap();
        act(&mut attributes, policy);
        if failing.contains(&policy) {
            drop(attributes);
        } else {
            node.commit(&start, attributes, &ALL_OF_NORMAL).unwrap();
        }
    }
}

pub(crate) fn saved(node: &NodeObject) -> Value {
    node.to_saved_json(&SavedFilters::default()).unwrap()
}
