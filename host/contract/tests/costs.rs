//! Tests that a run's memory is charged and given back, and that its work grows at most linearly with a guest's input.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use contract::{
    Account, AccountLimits, ActionRecord, Amendment, AttributeChange, ContextId, Declaration, Failure, GuestType,
    LogLevel, Meters, Notified, Property, ROOT, ResourceId, ResourceRef, Run, Status, Timing, Types, Wish,
};
use grants::Grants;
use node::attributes::{AttributeError, Level};
use node::origin::Origin;
use serde_json::{Value, json};
use std::sync::Arc;

struct AnyType;

impl Types for AnyType {
    fn default_action(&self, _: &str) -> Option<&str> {
        Some("run")
    }

    fn check(&self, _: &mut Declaration) -> Result<(), Failure> {
        Ok(())
    }

    fn uses(&self, _: &str, _: &str, _: &str) -> bool {
        true
    }

    fn check_property(&self, _: &str, _: &str, property: Property) -> Result<Property, Failure> {
        Ok(property)
    }
}

const MIB: usize = 1 << 20;

fn run(host_memory: usize) -> Run {
    let mut run = Run::new("web", false, Default::default(), Arc::new(AnyType));
    let limits = AccountLimits { host_memory: host_memory as u64, ..AccountLimits::default() };
    run.charge_to(Account::new("web", limits, Meters::default()));
    run.define(0, "own".into(), GuestType { unified: true, inspects: false, bypassed_in_why_run: false }).unwrap();
    run
}

fn declare(run: &mut Run, context: ContextId, name: &str, content: usize) -> Result<ResourceId, Failure> {
    let properties = vec![("content".to_owned(), Property::Bytes(vec![0; content]))];
    let (kind, name) = ("own".to_owned(), name.to_owned());
    run.declare(Declaration { context, kind, name, properties, ..Declaration::default() })
}

fn used(run: &Run) -> usize {
    usize::try_from(run.account().usage().host_memory).unwrap()
}

#[test]
fn what_ends_with_its_context_is_given_back() {
    let mut run = run(4 * MIB);
    let parent = declare(&mut run, ROOT, "parent", 0).unwrap();
    let before = used(&run);
    for _ in 0..10 {
        let context = run.begin(ROOT, parent, false).unwrap();
        declare(&mut run, context, "child", 3 * MIB).unwrap();
        assert!(used(&run) > 3 * MIB);
        run.end(context);
    }
    let left = used(&run) - before;
    assert!(left < 10 * 4096, "{left} bytes are left of ten contexts with a child each");
}

#[test]
fn a_refused_resource_costs_nothing() {
    let mut run = run(4 * MIB);
    let before = used(&run);
    let context = 7;
    assert!(declare(&mut run, context, "nowhere", MIB).is_err());
    let foreign =
        Wish { action: "run".into(), other: ResourceRef::Resource(99), timing: Timing::Delayed, subscribes: false };
    let declaration = Declaration { kind: "own".into(), notifications: vec![foreign], ..Declaration::default() };
    assert!(run.declare(declaration).is_err());
    assert_eq!(used(&run), before);
}

#[test]
fn a_property_costs_what_it_is_now() {
    let mut run = run(4 * MIB);
    let id = declare(&mut run, ROOT, "one", 0).unwrap();
    let before = used(&run);
    for size in [2 * MIB, 3 * MIB, MIB] {
        let property = Property::Bytes(vec![0; size]);
        run.amend(id, Amendment::Property("more".into(), property)).unwrap();
        assert!((size..size + 4096).contains(&(used(&run) - before)), "{size}: {}", used(&run) - before);
    }
    run.amend(id, Amendment::Clear("more".into())).unwrap();
    assert_eq!(used(&run), before);
    let too_much = Amendment::Property("more".into(), Property::Bytes(vec![0; 5 * MIB]));
    let Err(Failure::GuestLost(lost)) = run.amend(id, too_much) else { panic!("the policy is lost") };
    assert!(lost.why.contains("limits.host_memory_mib"), "{}", lost.why);
}

/// Writes an attribute. Also returns true if the write was started.
fn write(run: &mut Run, key: &str, value: Value) -> (Result<Result<(), AttributeError>, Failure>, bool) {
    let grants = Grants::nothing().policy("web", &["web".to_owned()]);
    let granted = grants.write_attribute(&["web".to_owned(), key.to_owned()]).unwrap();
    let (written, origin) = (Some((Level::Default, value)), Origin::policy("web"));
    let asked = AttributeChange { granted: &granted, level_name: "default", written, origin: &origin };
    let mut begun = false;
    let changed = run.change_attributes(asked, |attributes, path, value| {
        begun = true;
        attributes.write(Level::Default, path, value, &origin)
    });
    (changed, begun)
}

#[test]
fn an_attribute_is_paid_for_before_it_is_written() {
    let mut run = run(MIB);
    let before = used(&run);
    let (written, _) = write(&mut run, "small", json!({ "a": [1, 2, { "b": "c" }] }));
    assert_eq!(written.unwrap(), Ok(()));
    let held = usize::try_from(run.attributes().held_bytes()).unwrap();
    assert_eq!(used(&run) - before, held, "the rest of what was paid beforehand is given back");
    let (written, _) = write(&mut run, &"k".repeat(5_000), json!(1));
    assert!(written.unwrap().is_err(), "the key is too long");
    assert_eq!(used(&run) - before, held, "a refused write costs nothing");
    let (written, begun) = write(&mut run, "large", json!("x".repeat(2 * MIB)));
    assert!(!begun, "it was written before it was paid for");
    let Err(Failure::GuestLost(lost)) = written else { panic!("the policy is lost") };
    assert!(lost.why.contains("limits.host_memory_mib"), "{}", lost.why);
    assert_eq!(usize::try_from(run.attributes().held_bytes()).unwrap(), held);
}

/// Compares the units of work at sizes n and 2n.
#[track_caller]
fn is_linear(work: impl Fn(usize) -> u64) {
    let (small, large) = (work(200), work(400));
    assert!(small > 0, "nothing was counted");
    assert!(large <= 2 * small + 8, "{small} units for 200, {large} for 400");
}

#[test]
fn contexts_quadratic() {
    // All inside each other.
    is_linear(|count| {
        let mut run = run(64 * MIB);
        let id = declare(&mut run, ROOT, "one", 0).unwrap();
        let first = run.begin(ROOT, id, false).unwrap();
        (0..count).fold(first, |around, _| run.enter(id, around).unwrap());
        let before = run.account().usage().work;
        assert_eq!(run.open_inside(first).len(), count);
        run.account().usage().work - before
    });
    let mut run = run(64 * MIB);
    let id = declare(&mut run, ROOT, "one", 0).unwrap();
    let first = run.begin(ROOT, id, false).unwrap();
    let second = run.enter(id, first).unwrap();
    let (third, beside) = (run.enter(id, second).unwrap(), run.enter(id, first).unwrap());
    assert_eq!(run.open_inside(first), [beside, third, second]);
    assert_eq!(run.open_inside(second), [third]);
    run.end(third);
    assert!(run.open_inside(second).is_empty());
}

#[test]
fn resources_are_taken_out_without_looking_at_all() {
    is_linear(|count| {
        let mut run = run(64 * MIB);
        let all: Vec<_> = (0..count).map(|at| declare(&mut run, ROOT, &at.to_string(), 0).unwrap()).collect();
        let before = run.account().usage().work;
        all.iter().skip(1).step_by(2).for_each(|id| run.retract(*id).unwrap());
        let left: Vec<_> = all.iter().copied().step_by(2).collect();
        assert_eq!(run.all(ROOT), left);
        assert_eq!((run.listed(ROOT, 1), run.listed(ROOT, count)), (Some(all[1]), None), "places stay as they were");
        assert_eq!((run.find(ROOT, "own[1]"), run.find(ROOT, "own[2]")), (None, Some(all[2])));
        run.account().usage().work - before
    });
    // What was declared again has a place of its own.
    let mut run = run(64 * MIB);
    let first = declare(&mut run, ROOT, "one", 0).unwrap();
    run.retract(first).unwrap();
    let second = declare(&mut run, ROOT, "one", 0).unwrap();
    run.retract(first).unwrap();
    assert_eq!((run.all(ROOT), run.find(ROOT, "own[one]")), (vec![second], Some(second)));
}

#[test]
fn notifications_in_a_unified_context_are_found_without_looking_at_all() {
    is_linear(|count| {
        let mut run = run(64 * MIB);
        let parent = declare(&mut run, ROOT, "parent", 0).unwrap();
        let context = run.begin(ROOT, parent, false).unwrap();
        let child = |run: &mut Run, at: usize| {
            let other = ResourceRef::Key(format!("own[{}]", at + 1));
            let wish = Wish { action: "run".into(), other, timing: Timing::Immediate, subscribes: false };
            let (kind, name) = ("own".to_owned(), at.to_string());
            let declaration = Declaration { context, kind, name, notifications: vec![wish], ..Declaration::default() };
            run.declare(declaration).unwrap()
        };
        let children: Vec<_> = (0..count).map(|at| child(&mut run, at)).collect();
        let before = run.account().usage().work;
        let found: usize = children.iter().map(|id| run.immediately_to(*id).unwrap().len()).sum();
        assert_eq!(found, count - 1, "each but the first is notified by the one before it");
        run.account().usage().work - before
    });
}

#[test]
fn the_name_of_who_notified_an_action_is_paid_for_with_each_record() {
    let mut run = run(4 * MIB);
    let id = declare(&mut run, ROOT, "one", 0).unwrap();
    for by in [None, Some("x".repeat(MIB))] {
        let mut record = ActionRecord::new(run.known(id).unwrap(), id, "run", Status::Unprocessed);
        let expected = by.as_ref().map_or(0, String::len);
        record.notified = Some(Notified { timing: Timing::Immediate, by, unsure: None, since: None });
        let before = used(&run);
        run.record(record).unwrap();
        let paid = used(&run) - before;
        assert!((expected..expected + 4_096).contains(&paid), "{paid} bytes for a name of {expected}");
    }
}

#[test]
fn what_wrun_writes_down_of_a_run_is_charged_to_the_disk() {
    let mut run = run(4 * MIB);
    let id = declare(&mut run, ROOT, "one", 0).unwrap();
    let disk = |run: &Run| usize::try_from(run.account().usage().disk).unwrap();
    assert_eq!(disk(&run), 0);
    run.cookbook_log(LogLevel::Debug, &"x".repeat(1_000));
    assert_eq!(disk(&run), 0, "the record has lines from `info` on");
    run.cookbook_log(LogLevel::Info, &"x".repeat(1_000));
    let lines = disk(&run);
    assert!((1_000..1_200).contains(&lines), "{lines}");
    run.converge_by(id, vec!["y".repeat(3_000)]).unwrap();
    let changes = disk(&run) - lines;
    assert!((3_000..3_200).contains(&changes), "{changes}");
    let (written, _) = write(&mut run, "small", json!("z".repeat(500)));
    assert_eq!(written.unwrap(), Ok(()));
    let before = disk(&run);
    run.pay_for_saved_node().unwrap();
    assert_eq!(disk(&run) - before, 2 * usize::try_from(run.attributes().held_bytes()).unwrap());
}

#[test]
fn recipes_that_include_each_other_are_listed_without_looking_at_all() {
    is_linear(|count| {
        let mut run = run(64 * MIB);
        for at in 0..count {
            assert!(run.begin_recipe(&format!("web::r{at}")).unwrap());
        }
        assert!(!run.begin_recipe("web::r0").unwrap());
        let listed = run.attributes().level(Level::Automatic)["recipes"].as_array().unwrap().len();
        assert_eq!(listed, count);
        run.account().usage().work
    });
    // Facts that are gathered anew replace the list.
    let mut run = run(64 * MIB);
    run.begin_recipe("web::a").unwrap();
    let facts = json!({ "recipes": ["web::b"] });
    run.take_facts(facts.as_object().cloned().unwrap()).unwrap();
    run.begin_recipe("web::b").unwrap();
    run.begin_recipe("web::c").unwrap();
    assert_eq!(run.attributes().level(Level::Automatic)["recipes"], json!(["web::b", "web::c"]));
}
