//! Provides providers that only record actions, the built-in types, and a journal in memory.

use contract::{
    Change, CommandLine, CommandTest, Declaration, ErrorKind, Failure, GuardResult, Known, Memory, Prepared, Property,
    Providers, Raised, ResourceId, SystemError, Types, Wanted,
};
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Records the actions. The vectors' resources act as their case prescribes, and all others change something every time.
#[derive(Default)]
pub(crate) struct Acting {
    /// The actions in order, as `action kind[name]`, with the content if there is any.
    pub(crate) done: Arc<Mutex<Vec<String>>>,
    /// The case's resources by name.
    pub(crate) case: HashMap<String, Value>,
    /// How long each action takes.
    pub(crate) slow: Duration,
    pub(crate) entered: HashMap<ResourceId, u64>,
}

impl Acting {
    /// A dry run neither counts nor fails.
    fn enter(&mut self, wanted: &Wanted<'_>) -> Result<bool, Raised> {
        let Some(specification) = self.case.get(&wanted.declaration.name) else {
            return match wanted.declaration.name.as_str() {
                "broken" if !wanted.why_run => Err(Raised::new(SystemError::InputOutput, "the disk is broken")),
                _ => Ok(true),
            };
        };
        if wanted.why_run {
            return Ok(specification["updates"] == true);
        }
        let times = self.entered.entry(wanted.resource).or_default();
        *times += 1;
        let fails = specification["fails"].as_array();
        if fails.is_some_and(|fails| fails.iter().any(|at| at.as_u64() == Some(*times - 1))) {
            return Err(Raised::new(ErrorKind::Failed, format!("boom {}", wanted.declaration.name)));
        }
        Ok(specification["updates"] == true)
    }
}

impl Providers for Acting {
    type Plan = ();

    fn prepare(&mut self, wanted: &Wanted<'_>) -> Result<Prepared<()>, Raised> {
        Ok(if self.enter(wanted)? {
            Prepared::changes((), vec![Change::new("change")])
        } else {
            Prepared::up_to_date()
        })
    }

    fn stage(&mut self, _: &mut ()) -> Result<Value, Raised> {
        Ok("/staged".into())
    }

    fn commit(&mut self, wanted: &Wanted<'_>, _: ()) -> Result<Vec<Change>, Raised> {
        work(self.slow);
        let content = match wanted.get("content") {
            Some(Known::Json(value)) => format!(" = {value}"),
            Some(Known::Bytes(bytes)) => format!(" = {}", bytes.escape_ascii()),
            None => String::new(),
        };
        let declaration = wanted.declaration;
        let line = format!("{} {}[{}]{content}", wanted.action, declaration.kind, declaration.name);
        self.done.lock().unwrap().push(line);
        Ok(vec![Change::new("change")])
    }

    fn guard(&mut self, command: &CommandTest, _: bool) -> Result<GuardResult, Raised> {
        let is_false = matches!(&command.line, CommandLine::Text(text) if text == "false");
        Ok(if is_false { GuardResult::False } else { GuardResult::True })
    }

    fn pause(&mut self, _: u32) {}
}

/// The schema's types and the vectors' type `t`, without checks of properties.
pub(crate) struct BuiltinTypes;

impl Types for BuiltinTypes {
    fn default_action(&self, kind: &str) -> Option<&str> {
        if kind == "t" { Some("run") } else { schema::find(kind).map(|found| found.default_action) }
    }

    fn check(&self, declaration: &mut Declaration) -> Result<(), Failure> {
        let Some(action) = self.default_action(&declaration.kind) else {
            let message = format!("undefined method `{}'", declaration.kind);
            return Err(Failure::raised(ErrorKind::NoSuchName, message));
        };
        if declaration.actions.is_empty() {
            declaration.actions.push(action.to_owned());
        }
        Ok(())
    }

    fn uses(&self, _: &str, _: &str, _: &str) -> bool {
        true
    }

    fn check_property(&self, _: &str, _: &str, property: Property) -> Result<Property, Failure> {
        Ok(property)
    }
}

/// The notifications that are due, in memory.
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
        vec![]
    }
}

/// Uses the given processor time, like the host's work.
fn work(time: Duration) {
    let begin = processor_time();
    while processor_time() - begin < time {
        std::hint::black_box(());
    }
}

/// Returns the processor time of the present thread.
fn processor_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.try_into().unwrap(), time.tv_nsec.try_into().unwrap())
}
