//! What a run keeps is paid for and given back, and nothing that it does is more than linear in what a guest controls.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use contract::{
    Account, AccountLimits, Amendment, ContextId, Declaration, Failure, GuestType, Meters, Party, Property, ROOT,
    ResourceId, Run, Timing, Types, Wish,
};
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
    let foreign = Wish { action: "run".into(), other: Party::Resource(99), timing: Timing::Delayed, subscribes: false };
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
    let Err(Failure::Lost(lost)) = run.amend(id, too_much) else { panic!("the policy is lost") };
    assert!(lost.why.contains("limits.host_memory_mib"), "{}", lost.why);
}

/// The units of work of something at sizes n and 2n.
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
fn notifications_in_a_unified_context_are_found_without_looking_at_all() {
    is_linear(|count| {
        let mut run = run(64 * MIB);
        let parent = declare(&mut run, ROOT, "parent", 0).unwrap();
        let context = run.begin(ROOT, parent, false).unwrap();
        let child = |run: &mut Run, at: usize| {
            let other = Party::Key(format!("own[{}]", at + 1));
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
