//! Runs one or more policies from start to end.

use super::{Acting, BuiltinTypes, Journal, all_services, finish, fixture, sandbox_with_cache};
use contract::{Account, AccountLimits, Event, Failure, GuestLost, Memory, Meters, Moment, Observer, Services, Stop};
use converge::{Instance, PolicyInput, PolicyOutcome, RunOptions, RunReport, WholeRun};
use node::object::{NodeObject, PolicyStart};
use sandbox::{Limits, Policy, Sandbox, Session};
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// One policy of a run.
pub(crate) struct Guest {
    pub(crate) fixture: &'static str,
    pub(crate) recipes: Vec<String>,
    pub(crate) attributes: Map<String, Value>,
    pub(crate) limits: Limits,
    pub(crate) slow: Duration,
    pub(crate) wall_time: Duration,
    /// The limit of host memory in bytes, or `None` for the default.
    pub(crate) host_memory: Option<u64>,
    /// Processor time of the host's own work for the policy.
    pub(crate) host_time: Option<Duration>,
    /// The limit of the policy's pauses, or `None` for the default.
    pub(crate) pauses: Option<Duration>,
    /// Measures the memory of the process. If it is set, the account does not charge.
    pub(crate) resident: Option<fn() -> Option<u64>>,
}

impl Guest {
    /// Creates a policy with the fixture as its only cookbook. Its limits end endless work soon.
    pub(crate) fn new(fixture: &'static str, recipes: &[&str]) -> Self {
        Self {
            fixture,
            recipes: recipes.iter().map(|recipe| format!("{fixture}::{recipe}")).collect(),
            attributes: Map::new(),
            limits: Limits { memory: 64 << 20, guest_time: Duration::from_millis(500), ..Limits::default() },
            slow: Duration::ZERO,
            wall_time: Duration::from_secs(600),
            host_memory: None,
            host_time: None,
            pauses: None,
            resident: None,
        }
    }

    /// Adds an attribute below the cookbook's name.
    pub(crate) fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        let own = self.attributes.entry(self.fixture).or_insert_with(|| json!({}));
        own[key] = value.into();
        self
    }
}

/// The result of a run.
pub(crate) struct Ran {
    pub(crate) report: RunReport,
    /// The log lines, guest writes and handlers' failures, in order.
    pub(crate) heard: Vec<String>,
    /// The actions, in order.
    pub(crate) done: Vec<String>,
    /// The notifications that are still due.
    pub(crate) due: Vec<(String, String)>,
    /// The node after the run.
    pub(crate) node: NodeObject,
}

impl Ran {
    /// Returns the message of a policy's failure. It is empty after success, and `not run` if the policy never began.
    pub(crate) fn failure(&self, policy: &str) -> String {
        let found = self.report.policies.iter().find(|one| one.name == policy).expect("the policy was run");
        match &found.outcome {
            PolicyOutcome::Succeeded => String::new(),
            PolicyOutcome::Failed(failure) => failure.to_string(),
            PolicyOutcome::NotRun => "not run".into(),
        }
    }

    /// Returns the hint of a policy's failure.
    pub(crate) fn hint(&self, policy: &str) -> Option<&str> {
        match &self.report.policies.iter().find(|one| one.name == policy)?.outcome {
            PolicyOutcome::Failed(failure) => failure.hint(),
            PolicyOutcome::Succeeded | PolicyOutcome::NotRun => None,
        }
    }
}

/// Collects the events that tests check, as lines.
pub(crate) struct Heard(pub(crate) Arc<Mutex<Vec<String>>>);

impl Observer for Heard {
    fn notice(&mut self, event: &Event<'_>) {
        let line = match event {
            Event::Log { level, line, .. } | Event::Printed { level, line, .. } => format!("{}: {line}", level.name()),
            Event::Written { write, .. } => format!("info: {}", write.what),
            Event::HandlerFailed { handler, failure, .. } => format!("handler {handler} failed: {failure}"),
            _ => return,
        };
        self.0.lock().unwrap().push(line);
    }
}

/// Opens fixtures in one real sandbox.
pub(crate) struct RunHost {
    sandbox: Sandbox,
    guests: Vec<Guest>,
    pub(crate) services: fn(&str) -> Services,
    done: Arc<Mutex<Vec<String>>>,
    journal: Journal,
}

/// A real instance, with providers that only record actions.
pub(crate) struct Opened {
    policy: Policy,
    acting: Acting,
}

impl Instance for Opened {
    type Session<'a> = Session<'a>;
    type Providers = Acting;

    fn conversation(&mut self) -> (Session<'_>, &mut Acting) {
        (self.policy.session(), &mut self.acting)
    }

    async fn end<'a>(session: Session<'a>) -> Result<(), GuestLost>
    where
        Self: 'a,
    {
        session.end().await
    }
}

impl converge::RunHost for RunHost {
    type Instance = Opened;

    fn account(&self, policy: &PolicyInput) -> Account {
        let guest = self.guests.iter().find(|guest| guest.fixture == policy.name).expect("the guest is there");
        let usual = AccountLimits::for_guest_memory(guest.limits.memory as u64);
        let host_memory = guest.host_memory.unwrap_or(usual.host_memory);
        let host_time = guest.host_time.unwrap_or(usual.host_time);
        let pauses = guest.pauses.unwrap_or(usual.pauses);
        let limits = AccountLimits { host_memory, host_time, pauses, wall: guest.wall_time, ..usual };
        let processor = Some(sandbox::processor_time as fn() -> Duration);
        let meters = Meters { processor, resident: guest.resident, slack: 16 << 20 };
        let account = Account::new(&policy.name, limits, meters);
        if guest.resident.is_some() { account.without_charges() } else { account }
    }

    fn open(&mut self, policy: &PolicyInput, account: &Account) -> Result<Opened, Failure> {
        let guest = self.guests.iter().find(|guest| guest.fixture == policy.name).expect("the guest is there");
        let services = Services { account: account.clone(), ..(self.services)(guest.fixture) };
        let bytes = fixture(guest.fixture);
        let opened = finish(self.sandbox.open(&policy.name, &bytes, &guest.limits, services));
        let opened = opened.map_err(|error| Failure::of_class("Wrun::Sandbox", error.to_string()))?;
        let acting = Acting { done: Arc::clone(&self.done), slow: guest.slow, ..Acting::default() };
        Ok(Opened { policy: opened, acting })
    }

    fn visible<'all>(&self, _: &PolicyInput, inherited: &'all Value) -> Cow<'all, Value> {
        Cow::Borrowed(inherited)
    }

    fn visible_given<'all>(&self, _: &PolicyInput, given: &'all Value) -> Cow<'all, Value> {
        Cow::Borrowed(given)
    }

    fn overwrites(&self, _: &PolicyInput, _: &[String]) -> bool {
        true
    }

    fn visible_facts<'all>(&self, _: &PolicyInput, facts: &'all Value) -> Cow<'all, Value> {
        let mut seen = facts.clone();
        for name in ["hidden", "quiet"] {
            seen.as_object_mut().unwrap().remove(name);
        }
        seen["partly"].as_object_mut().unwrap().remove("closed");
        Cow::Owned(seen)
    }

    fn save(&mut self, _: &NodeObject) -> Result<(), Failure> {
        Ok(())
    }

    fn advice(&self, _policy: &PolicyInput, _failure: &Failure) -> Option<String> {
        None
    }

    fn memory(&mut self) -> &mut dyn Memory {
        &mut self.journal
    }
}

/// Runs policies in order. Later policies run even if one fails.
pub(crate) fn run(guests: Vec<Guest>, why_run: bool) -> Ran {
    let input = |guest: &Guest| PolicyInput {
        name: guest.fixture.to_owned(),
        revision: "1".into(),
        cookbooks: vec![(guest.fixture.to_owned(), "1.0.0".into())],
        recipes: guest.recipes.clone(),
        start: PolicyStart {
            name: Some(guest.fixture.to_owned()),
            role_default: guest.attributes.clone(),
            ..PolicyStart::default()
        },
        ..PolicyInput::default()
    };
    let inputs = guests.iter().map(input).collect();
    let done = Arc::<Mutex<Vec<String>>>::default();
    let heard = Arc::<Mutex<Vec<String>>>::default();
    let mut run_host = RunHost {
        sandbox: sandbox_with_cache(),
        guests,
        services: all_services,
        done: Arc::clone(&done),
        journal: Journal::default(),
    };
    let mut node = NodeObject::new("node").unwrap();
    let options = RunOptions {
        run_id: "run".into(),
        started: Moment::default(),
        why_run,
        keep_going: true,
        without_saving: false,
        compile_only: false,
        survey: false,
        all_frames: false,
        lists_declared: false,
    };
    let facts = json!({
        "platform": "debian", "platform_family": "debian", "quiet": 1, "partly": { "open": 1, "closed": "secret" },
        "hidden": { "a": "secret", "b": 1, "deep": { "down": 1 } },
    });
    let facts = facts.as_object().cloned().unwrap();
    let observer = Box::new(Heard(Arc::clone(&heard)));
    let run = WholeRun::new(&mut run_host, options, Arc::new(BuiltinTypes), facts, observer, Stop::default());
    let report = finish(run.run(&mut node, inputs));
    let due = run_host.journal.0;
    let (heard, done) = (heard.lock().unwrap().clone(), done.lock().unwrap().clone());
    Ran { report, heard, done, due, node }
}
