//! Every operation is planned, and what it was planned against is changed: its fingerprint shows that, and it is not carried
//! out.

mod cases;
mod stage;

use crate::operation::Operation;
use crate::{MachineProviders, ReadyPlan};
use cases::{Then, all_cases, cases, without_fingerprints};
use contract::{Change, Declaration, ErrorKind, Property, Providers as _, Raised, Wanted};
use serde_json::{Value, json};
use stage::{Stage, unrelated};
use std::collections::BTreeSet;

/// The operations. Each is planned by a test below.
const OPERATIONS: [&str; 48] = [
    "Nothing",
    "WriteFile",
    "SetAccess",
    "Touch",
    "RemoveFile",
    "MakeDirectory",
    "RemoveDirectory",
    "PurgeDirectory",
    "MakeLink",
    "RemoveLink",
    "MakeGroup",
    "ChangeGroup",
    "RemoveGroup",
    "MakeUser",
    "ChangeUser",
    "RemoveUser",
    "LockUser",
    "RunCommand",
    "Preseed",
    "RefreshLists",
    "InstallFromArchives",
    "InstallFiles",
    "ChangePackages",
    "ChangeRpmPackages",
    "EnableService",
    "EnableAtBoot",
    "MaskService",
    "ChangeUnitLinks",
    "ControlService",
    "ReloadSystemd",
    "ControlUnit",
    "MakeDestination",
    "UnpackArchive",
    "GiveAway",
    "CloneRepository",
    "CheckOut",
    "Fetch",
    "UpdateSubmodules",
    "SetRemote",
    "RemoveRepository",
    "WriteCrontab",
    "ChangeMounts",
    "SendRequest",
    "GatherFacts",
    "RequestReboot",
    "CancelReboot",
    "Sleep",
    "Sequence",
];

/// Operations that are planned only where systemd runs or dpkg is, which is not so in a folder. What the first two found is
/// what systemd said; the third has found what [`Operation::ChangePackages`] finds.
const NEED_A_SYSTEM: [&str; 3] = ["EnableService", "MaskService", "InstallFiles"];

/// The place of an operation in [`OPERATIONS`]. A new operation needs a place, a name, and a test that plans it.
fn place(operation: &Operation) -> usize {
    match operation {
        Operation::Nothing | Operation::Scripted(_) => 0,
        Operation::WriteFile(_) => 1,
        Operation::SetAccess(_) => 2,
        Operation::Touch(_) => 3,
        Operation::RemoveFile(_) => 4,
        Operation::MakeDirectory(_) => 5,
        Operation::RemoveDirectory(_) => 6,
        Operation::PurgeDirectory(_) => 7,
        Operation::MakeLink(_) => 8,
        Operation::RemoveLink(_) => 9,
        Operation::MakeGroup(_) => 10,
        Operation::ChangeGroup(_) => 11,
        Operation::RemoveGroup(_) => 12,
        Operation::MakeUser(_) => 13,
        Operation::ChangeUser(_) => 14,
        Operation::RemoveUser(_) => 15,
        Operation::LockUser(_) => 16,
        Operation::RunCommand(_) => 17,
        Operation::Preseed(_) => 18,
        Operation::RefreshLists(_) => 19,
        Operation::InstallFromArchives(_) => 20,
        Operation::InstallFiles(_) => 21,
        Operation::ChangePackages(_) => 22,
        Operation::ChangeRpmPackages(_) => 23,
        Operation::EnableService(_) => 24,
        Operation::EnableAtBoot(_) => 25,
        Operation::MaskService(_) => 26,
        Operation::ChangeUnitLinks(_) => 27,
        Operation::ControlService(_) => 28,
        Operation::ReloadSystemd(_) => 29,
        Operation::ControlUnit(_) => 30,
        Operation::MakeDestination(_) => 31,
        Operation::UnpackArchive(_) => 32,
        Operation::GiveAway(_) => 33,
        Operation::CloneRepository(_) => 34,
        Operation::CheckOut(_) => 35,
        Operation::Fetch(_) => 36,
        Operation::UpdateSubmodules(_) => 37,
        Operation::SetRemote(_) => 38,
        Operation::RemoveRepository(_) => 39,
        Operation::WriteCrontab(_) => 40,
        Operation::ChangeMounts(_) => 41,
        Operation::SendRequest(_) => 42,
        Operation::GatherFacts(_) => 43,
        Operation::RequestReboot(_) => 44,
        Operation::CancelReboot(_) => 45,
        Operation::Sleep(_) => 46,
        Operation::Sequence(_) => 47,
    }
}

/// A resource and the action that is planned.
struct Asked {
    declaration: Declaration,
    action: &'static str,
}

/// What came of planning.
struct Planned {
    plan: Option<ReadyPlan>,
    /// The names of the operations, those within others too.
    operations: BTreeSet<&'static str>,
    fingerprints: Vec<String>,
}

impl Asked {
    fn new(kind: &str, name: &str, action: &'static str, properties: &Value) -> Self {
        let properties = properties.as_object().unwrap().iter();
        let declaration = Declaration {
            kind: kind.into(),
            name: name.into(),
            properties: properties.map(|(name, value)| (name.clone(), Property::Plain(value.clone()))).collect(),
            origin: node::origin::Origin { cookbook: Some("c".into()), ..node::origin::Origin::policy("a") }.into(),
            ..Declaration::default()
        };
        Self { declaration, action }
    }

    fn wanted(&self) -> Wanted<'_> {
        let Self { declaration, action } = self;
        Wanted { resource: 0, declaration, action, resolved: vec![], why_run: false }
    }

    fn plan(&self, providers: &mut MachineProviders) -> Planned {
        let prepared =
            providers.prepare(&self.wanted()).unwrap_or_else(|raised| panic!("{}: {raised:?}", self.shown()));
        let (expected, changes) = prepared.expected();
        let plan = expected.plan();
        let of_parts = providers.parts().into_iter().flat_map(|part| part.changes);
        let fingerprints = changes.into_iter().chain(of_parts).filter_map(|change: Change| change.planned_against);
        let mut operations = BTreeSet::new();
        for step in plan.iter().flat_map(|plan| &plan.0.steps) {
            names(step.operation(), &mut operations);
        }
        let fingerprints = fingerprints.map(|fingerprint| fingerprint.text().to_owned()).collect();
        Planned { plan, operations, fingerprints }
    }

    fn shown(&self) -> String {
        format!("{} {}", self.declaration.key(), self.action)
    }
}

fn names(operation: &Operation, into: &mut BTreeSet<&'static str>) {
    into.insert(OPERATIONS[place(operation)]);
    if let Operation::Sequence(sequence) = operation {
        sequence.operations().iter().for_each(|operation| names(operation, into));
    }
}

#[test]
fn a_fingerprint_is_of_what_the_plan_depends_on() {
    for ((kind, name, action, properties), operations, meddle, _) in all_cases() {
        let asked = Asked::new(kind, name, action, &properties);
        let shown = asked.shown();
        let stage = Stage::new();
        let first = asked.plan(&mut stage.providers());
        let planned: Vec<_> = operations.iter().filter(|name| !first.operations.contains(*name)).collect();
        assert!(planned.is_empty(), "{shown} plans no {planned:?}: {:?}", first.operations);
        assert!(!first.fingerprints.is_empty(), "{shown}");
        let mut providers = stage.providers();
        assert_eq!(asked.plan(&mut providers).fingerprints, first.fingerprints, "{shown}: planned again");
        unrelated(&stage);
        assert_eq!(asked.plan(&mut providers).fingerprints, first.fingerprints, "{shown}: something else changed");
        let stage = Stage::new();
        let first = asked.plan(&mut stage.providers()).fingerprints;
        meddle(&stage);
        assert_ne!(asked.plan(&mut stage.providers()).fingerprints, first, "{shown}: what it looks at changed");
    }
}

#[test]
fn a_plan_is_carried_out_only_against_what_it_was_made_against() {
    for ((kind, name, action, properties), _, meddle, then) in all_cases() {
        let asked = Asked::new(kind, name, action, &properties);
        let shown = asked.shown();
        let stage = Stage::new();
        let mut providers = stage.providers();
        let plan = asked.plan(&mut providers).plan.unwrap();
        meddle(&stage);
        let before = stage.snapshot();
        let done = providers.commit(&asked.wanted(), plan);
        let kind = done.as_ref().err().map(|raised: &Raised| raised.kind.clone());
        let refused = then != Then::CarriedOut;
        assert_eq!(kind == Some(ErrorKind::ChangedMeanwhile), refused, "{shown}: {done:?}");
        if then == Then::Refused {
            assert_eq!(stage.snapshot(), before, "{shown}");
        }
    }
}

#[test]
fn what_holds_a_secret_has_no_fingerprint_and_neither_has_what_depends_on_nothing() {
    for (asked, operations) in without_fingerprints() {
        let stage = Stage::new();
        stage.append("etc/fstab", "//h/x /srv cifs password=hunter2 0 0\n");
        stage.write("srv/private/.git/config", "[remote \"origin\"]\n\turl = https://me:hunter2@example.org/a\n");
        let planned = asked.plan(&mut stage.providers());
        let all = operations.iter().all(|name| planned.operations.contains(name));
        assert!(all, "{}: {:?}", asked.shown(), planned.operations);
        assert_eq!(planned.fingerprints, [""; 0], "{}", asked.shown());
    }
}

#[test]
fn every_operation_is_planned_by_these_tests() {
    let cases = cases().into_iter().flat_map(|(_, operations, _, _)| operations);
    let others = without_fingerprints().into_iter().flat_map(|(_, operations)| operations);
    let tried: BTreeSet<&str> = cases.chain(others).chain(&NEED_A_SYSTEM).copied().collect();
    assert_eq!(tried, BTreeSet::from(OPERATIONS));
}

/// Types that have no steps, and scripts, which differ from `bash` in their interpreter alone.
const NO_CASE: [&str; 9] = ["log", "gem_package", "chef_gem", "csh", "ksh", "perl", "python", "ruby", "script"];

#[test]
fn every_type_is_planned_by_these_tests() {
    let others = without_fingerprints().into_iter().map(|(asked, _)| asked.declaration.kind.to_string());
    let mut tried: BTreeSet<String> = all_cases().map(|((kind, ..), ..)| kind.to_owned()).chain(others).collect();
    tried.extend(NO_CASE.map(str::to_owned));
    let host = schema::builtin().filter(|one| matches!(one.implemented_by, schema::ImplementedBy::Host));
    // Composites are made of the others.
    let names = host.map(|one| one.name).filter(|kind| !schema::is_composite(kind));
    let forgotten: Vec<_> = names.filter(|kind| !tried.contains(*kind)).collect();
    assert_eq!(forgotten, [""; 0]);
}

#[test]
fn a_plan_that_is_made_anew_is_carried_out() {
    let stage = Stage::new();
    let mut providers = stage.providers();
    let asked = Asked::new("file", "/srv/file", "create", &json!({"content": "new\n"}));
    let plan = asked.plan(&mut providers).plan.unwrap();
    stage.write("srv/file", "longer than before\n");
    let raised = providers.commit(&asked.wanted(), plan).unwrap_err();
    let expect = "/srv/file changed after this action was planned, and was left as it is now: its content changed";
    assert_eq!((raised.class(), raised.message.as_str()), ("Wrun::ChangedMeanwhile", expect));
    let plan = asked.plan(&mut providers).plan.unwrap();
    providers.commit(&asked.wanted(), plan).unwrap();
    assert_eq!(std::fs::read_to_string(stage.at("srv/file")).unwrap(), "new\n");
}

/// What a sensitive resource of a dry run would write is as secret to those that come later.
#[test]
fn content_that_would_be_there_is_a_part_of_the_fingerprint_unless_it_is_secret() {
    let stage = Stage::new();
    let plan = |asked: &Asked, providers: &mut MachineProviders| {
        let prepared = providers.prepare(&Wanted { why_run: true, ..asked.wanted() }).unwrap();
        prepared.expected().1.into_iter().find_map(|change| change.planned_against)
    };
    let write = |content: &str, sensitive: bool| {
        let mut asked = Asked::new("file", "/srv/file", "create", &json!({"content": content}));
        asked.declaration.sensitive = sensitive;
        asked
    };
    let after = |first: &Asked| {
        let mut providers = stage.providers_of(true);
        plan(first, &mut providers);
        plan(&write("last", false), &mut providers)
    };
    assert!(after(&write("one", false)).is_some());
    assert_eq!(after(&write("one", false)), after(&write("one", false)));
    assert_ne!(after(&write("one", false)), after(&write("two", false)));
    assert_eq!(after(&write("one", true)), None);
}

/// A write of the same length, with the same time of change.
#[test]
fn a_change_of_content_alone_is_noticed() {
    let stage = Stage::new();
    let mut providers = stage.providers();
    let asked = Asked::new("file", "/srv/file", "create", &json!({"content": "new\n"}));
    let modified = stage.at("srv/file").metadata().unwrap().modified().unwrap();
    let plan = asked.plan(&mut providers).plan.unwrap();
    stage.write("srv/file", "odd\n");
    std::fs::File::options().write(true).open(stage.at("srv/file")).unwrap().set_modified(modified).unwrap();
    let raised = providers.commit(&asked.wanted(), plan).unwrap_err();
    assert_eq!(raised.kind, ErrorKind::ChangedMeanwhile);
    assert_eq!(std::fs::read_to_string(stage.at("srv/file")).unwrap(), "odd\n");
}
