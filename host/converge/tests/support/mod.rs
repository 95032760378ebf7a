//! An in-memory policy for the runner: a guest that keeps its own stack of open actions, providers that only count.

use contract::{
    Answer, Call, Certainty, Change, Child, ChildRow, ClosureValue, CommandTest, Composition, ContextId, Declaration,
    Errand, ErrorKind, Failure, Guard, GuardResult, Guest, GuestLost, GuestMessage, GuestType, HostMessage, Memory,
    Prepared, Property, Providers, Purpose, Raised, Request, ResourceId, ResourceRef, Run, Test, Timing, Types, Wanted,
    Wish,
};
use serde_json::Value;
use std::collections::HashMap;
use std::task::{Context, Poll, Waker};

/// A case: every resource's specification, and whether the guest or the host implements it.
pub(crate) struct Case {
    pub(crate) specs: HashMap<String, Value>,
    pub(crate) kinds: HashMap<String, &'static str>,
}

impl Case {
    pub(crate) fn new(resources: &Value, leaves_in_guest: bool) -> Self {
        let (mut specs, mut kinds) = (HashMap::new(), HashMap::new());
        let mut todo = resources.as_array().unwrap().clone();
        while let Some(spec) = todo.pop() {
            let name = spec["name"].as_str().unwrap().to_owned();
            let in_guest = leaves_in_guest || spec.get("children").is_some();
            let kind = if spec["composite"] == true {
                "c"
            } else if in_guest {
                "g"
            } else {
                "t"
            };
            kinds.insert(name.clone(), kind);
            todo.extend(spec["children"].as_array().cloned().unwrap_or_default());
            specs.insert(name, spec);
        }
        Self { specs, kinds }
    }
}

/// Counts invocations per resource; a child is a new resource each time its parent acts.
#[derive(Default)]
pub(crate) struct Invocations(HashMap<ResourceId, u64>);

impl Invocations {
    /// A dry run does not count, and fails only where the case says so (`would_fail`).
    fn enter(&mut self, id: ResourceId, spec: &Value, why_run: bool) -> Result<bool, Raised> {
        if let (true, Some(class)) = (why_run, spec["would_fail"].as_str()) {
            return Err(Raised::of_class(class, format!("boom {}", spec["name"].as_str().unwrap())));
        }
        if why_run {
            return Ok(spec["updates"] == true);
        }
        let name = spec["name"].as_str().unwrap();
        let count = self.0.entry(id).or_default();
        *count += 1;
        if spec["fails"].as_array().is_some_and(|fails| fails.iter().any(|n| n.as_u64() == Some(*count - 1))) {
            let kind = if spec["denied"] == true { ErrorKind::Denied } else { ErrorKind::Failed };
            return Err(Raised::new(kind, format!("boom {name}")));
        }
        Ok(spec["updates"] == true)
    }
}

/// What a guest written in one thread of control would have on its stack.
struct Frame {
    call: Call,
    children: Vec<Value>,
    next: usize,
}

pub(crate) struct FakeGuest<'a> {
    case: &'a Case,
    invocations: Invocations,
    guards: Vec<bool>,
    stack: Vec<Frame>,
    /// Gone at this many turns.
    pub(crate) dies_after: Option<usize>,
}

impl<'a> FakeGuest<'a> {
    pub(crate) fn new(case: &'a Case) -> Self {
        Self { case, invocations: Invocations::default(), guards: vec![], stack: vec![], dies_after: None }
    }
}

impl Guest for FakeGuest<'_> {
    async fn turn(&mut self, run: &mut Run, tell: HostMessage) -> Result<GuestMessage, GuestLost> {
        if let Some(left) = &mut self.dies_after {
            if *left == 0 {
                return Err(GuestLost {
                    policy: run.policy().to_owned(),
                    why: "trapped: test".into(),
                    ..GuestLost::default()
                });
            }
            *left -= 1;
        }
        Ok(match tell {
            HostMessage::Request(Request::Evaluate { callback, .. }) => {
                GuestMessage::Answer(Answer::Value(ClosureValue::Json(self.guards[callback as usize].into())))
            }
            HostMessage::Request(Request::Act(call)) => self.act(run, call),
            HostMessage::Request(
                Request::Phase(_) | Request::Question(_) | Request::Inspect(_) | Request::Forget(_),
            ) => GuestMessage::Answer(Answer::Finished),
            HostMessage::Done(Ok(())) => self.go_on(run),
            HostMessage::Done(Err(failure)) => {
                self.stack.pop();
                GuestMessage::Answer(Answer::Failed(failure.into_raised()))
            }
        })
    }
}

impl FakeGuest<'_> {
    fn act(&mut self, run: &mut Run, call: Call) -> GuestMessage {
        let spec = &self.case.specs[&run.resources()[call.resource as usize].declaration.name];
        match self.invocations.enter(call.resource, spec, call.why_run) {
            Err(raised) => return GuestMessage::Answer(Answer::Failed(raised)),
            Ok(true) => drop(run.converge_by(call.resource, vec!["change".into()])),
            Ok(false) => {}
        }
        let children = spec["children"].as_array().cloned().unwrap_or_default();
        self.stack.push(Frame { call, children, next: 0 });
        self.go_on(run)
    }

    /// Declares the next child of the innermost action, or ends the action.
    fn go_on(&mut self, run: &mut Run) -> GuestMessage {
        let frame = self.stack.last_mut().unwrap();
        let Some(spec) = frame.children.get(frame.next).cloned() else {
            self.stack.pop();
            return GuestMessage::Answer(Answer::Finished);
        };
        frame.next += 1;
        let context = frame.call.context;
        match self.declare(run, context, &spec) {
            Ok(id) => GuestMessage::Errand(Errand::Settle(id)),
            Err(failure) => {
                self.stack.pop();
                GuestMessage::Answer(Answer::Failed(failure.into_raised()))
            }
        }
    }

    pub(crate) fn declare(&mut self, run: &mut Run, context: ContextId, spec: &Value) -> Result<ResourceId, Failure> {
        let kind = |name: &str| self.case.kinds[name].to_owned();
        let name = spec["name"].as_str().unwrap();
        let mut notifications = Vec::new();
        for (list, subscribes) in [("notifies", false), ("subscribes", true)] {
            for wish in spec[list].as_array().unwrap() {
                let [action, other, timing] = [0, 1, 2].map(|at| wish[at].as_str().unwrap());
                let timing = match timing {
                    "before" => Timing::Before,
                    "delayed" => Timing::Delayed,
                    _ => Timing::Immediate,
                };
                let other = ResourceRef::Key(format!("{}[{other}]", kind(other)));
                notifications.push(Wish { action: action.into(), other, timing, subscribes });
            }
        }
        let mut guards = Vec::new();
        for (word, negated) in [("only_if", false), ("not_if", true)] {
            if let Some(truth) = spec[word].as_bool() {
                self.guards.push(truth);
                guards.push(Guard { negated, test: Test::Block(self.guards.len() as u32 - 1) });
            }
        }
        run.declare(Declaration {
            context,
            kind: kind(name),
            name: name.into(),
            actions: spec["action"].as_array().unwrap().iter().map(|action| action.as_str().unwrap().into()).collect(),
            guards,
            notifications,
            retries: spec["retries"].as_u64().unwrap_or(0) as u32,
            retry_delay: spec["retry_delay"].as_u64().unwrap_or(0) as u32,
            on_failure: if spec["ignore_failure"] == true {
                contract::FailureMode::Ignore
            } else {
                contract::FailureMode::Raise
            },
            ..Declaration::default()
        })
    }
}

pub(crate) struct FakeProviders<'a> {
    case: &'a Case,
    invocations: Invocations,
    /// The seconds of each pause.
    pub(crate) pauses: Vec<u32>,
}

impl<'a> FakeProviders<'a> {
    pub(crate) fn new(case: &'a Case) -> Self {
        Self { case, invocations: Invocations::default(), pauses: vec![] }
    }
}

impl Providers for FakeProviders<'_> {
    type Plan = ();
    fn prepare(&mut self, wanted: &Wanted<'_>) -> Result<Prepared<()>, Raised> {
        let spec = &self.case.specs[&wanted.declaration.name];
        let updates = self.invocations.enter(wanted.resource, spec, wanted.why_run)?;
        if wanted.why_run && spec["doubt"].is_string() {
            let doubt = spec["doubt"].as_str().unwrap();
            let certainty = match doubt {
                "assumed" => Certainty::Assumed(doubt.into()),
                _ => Certainty::Unknown(doubt.into()),
            };
            return Ok(Prepared::new(None, vec![], vec![certainty]));
        }
        Ok(if updates { Prepared::changes((), vec![Change::new("change")]) } else { Prepared::up_to_date() })
    }
    fn compose(&mut self, wanted: &Wanted<'_>, _purpose: Purpose) -> Result<Composition, Raised> {
        let spec = &self.case.specs[&wanted.declaration.name];
        let changes = spec["says"].as_str().map(Change::new).into_iter().collect();
        let children = spec["children"].as_array().cloned().unwrap_or_default();
        let child = |spec: Value| Child {
            declaration: Declaration {
                kind: "t".into(),
                name: spec["name"].as_str().unwrap().into(),
                actions: vec!["run".into()],
                guards: spec["skipped"]
                    .as_bool()
                    .map(|it| Guard { negated: true, test: Test::Decided(it) })
                    .into_iter()
                    .collect(),
                ..Declaration::default()
            },
            row: match spec["row"].as_str() {
                Some("never") => ChildRow::Never,
                Some("real") => ChildRow::RealRuns,
                _ => ChildRow::Always,
            },
        };
        Ok(Composition { changes, children: children.into_iter().map(child).collect(), ..Composition::default() })
    }
    fn stage(&mut self, _: &mut ()) -> Result<Value, Raised> {
        Ok(Value::Null)
    }
    fn commit(&mut self, _: &Wanted<'_>, _: ()) -> Result<Vec<Change>, Raised> {
        Ok(vec![Change::new("change")])
    }
    fn guard(&mut self, _: &CommandTest, _: bool) -> Result<GuardResult, Raised> {
        Ok(GuardResult::True)
    }
    fn pause(&mut self, seconds: u32) {
        self.pauses.push(seconds);
    }
}

/// A type table that knows `t`, and `c`, which is made of others; it takes everything as it comes.
pub(crate) struct AnyType;

impl Types for AnyType {
    fn default_action(&self, kind: &str) -> Option<&str> {
        ["t", "c"].contains(&kind).then_some("run")
    }
    fn is_composite(&self, kind: &str) -> bool {
        kind == "c"
    }
    fn check(&self, declaration: &mut Declaration) -> Result<(), Failure> {
        if ["t", "c"].contains(&declaration.kind.as_str()) {
            return Ok(());
        }
        Err(Failure::raised(ErrorKind::NoSuchName, format!("there is no resource type {}", declaration.kind)))
    }
    fn uses(&self, _: &str, _: &str, _: &str) -> bool {
        true
    }
    fn check_property(&self, _: &str, _: &str, property: Property) -> Result<Property, Failure> {
        Ok(property)
    }
}

/// A journal in memory.
#[derive(Default)]
pub(crate) struct Journal(pub(crate) Vec<(String, String)>);

impl Memory for Journal {
    fn due(&mut self, _: &str, receiver: &str, action: &str) -> Result<(), String> {
        self.0.push((receiver.into(), action.into()));
        Ok(())
    }
    fn done(&mut self, _: &str, receiver: &str, action: &str) {
        self.0.retain(|(other, due)| other != receiver || due != action);
    }
    fn left(&mut self, _: &str) -> Vec<(String, String)> {
        self.0.clone()
    }
}

/// The type that guests of these tests implement.
pub(crate) const UNIFIED: GuestType = GuestType { unified: true, inspects: false, bypassed_in_why_run: false };

/// Polls a future that waits for nobody.
pub(crate) fn finish<T>(future: impl Future<Output = T>) -> T {
    match std::pin::pin!(future).as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("nothing here waits"),
    }
}
