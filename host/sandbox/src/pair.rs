//! A policy with cookbooks in two languages: an instance for each, every one in its own store, on one run.
//!
//! The runner sees one guest. A request goes to the instance whose cookbook, resource or closure it is about; what the
//! host says at the end of an errand goes to the instance that sent the errand, which is always the one that was asked
//! last. So a recipe of one language can include one of the other, and notify its resources.

use crate::policy::Policy;
use crate::session::Session;
use crate::voice::Voice;
use contract::{Answer, Guest, Load, Lost, Phase, Request, Run, Said, Tell};
use std::collections::BTreeSet;

/// The instances of a policy.
pub enum Policies {
    /// All its cookbooks are in one language.
    One(Policy),
    /// They are in two.
    InstancePair {
        /// What is compiled into the policy's own component.
        first: Box<Policy>,
        /// What a shared runtime evaluates.
        second: Box<Policy>,
        /// The names of the second's cookbooks.
        cookbooks: BTreeSet<String>,
    },
}

impl Policies {
    /// Puts two instances together. Nothing of either has run yet.
    #[must_use]
    pub fn two(first: Policy, mut second: Policy, cookbooks: BTreeSet<String>) -> Self {
        second.store.data_mut().voice = Voice::Second;
        Self::InstancePair { first: Box::new(first), second: Box::new(second), cookbooks }
    }

    /// Begins a conversation with all of them.
    pub fn conversation(&mut self) -> Conversation<'_> {
        match self {
            Self::One(policy) => Conversation::One(policy.session()),
            Self::InstancePair { first, second, cookbooks } => Conversation::InstancePair(Box::new(InstancePair {
                first: first.session(),
                second: second.session(),
                cookbooks,
                asked: vec![],
            })),
        }
    }
}

/// One conversation with a policy's instances.
pub enum Conversation<'a> {
    /// With the only one.
    One(Session<'a>),
    /// With both.
    InstancePair(Box<InstancePair<'a>>),
}

/// A conversation with two instances.
pub struct InstancePair<'a> {
    first: Session<'a>,
    second: Session<'a>,
    cookbooks: &'a BTreeSet<String>,
    /// Who was asked, innermost last, and what the other one is to be asked when the answer is there.
    asked: Vec<(Voice, Option<Request>)>,
}

impl Guest for Conversation<'_> {
    async fn turn(&mut self, run: &mut Run, tell: Tell) -> Result<Said, Lost> {
        match self {
            Self::One(session) => session.turn(run, tell).await,
            Self::InstancePair(two) => two.turn(run, tell).await,
        }
    }
}

impl Conversation<'_> {
    /// Lets the guests return from `serve`.
    ///
    /// # Errors
    /// One was lost before, or is now.
    pub async fn end(self) -> Result<(), Lost> {
        match self {
            Self::One(session) => session.end().await,
            Self::InstancePair(two) => {
                let (first, second) = (two.first.end().await, two.second.end().await);
                first.and(second)
            }
        }
    }
}

impl InstancePair<'_> {
    async fn turn(&mut self, run: &mut Run, tell: Tell) -> Result<Said, Lost> {
        let mut tell = match tell {
            Tell::Request(request) => {
                let (voice, request, then) = self.route(run, request);
                self.asked.push((voice, then));
                Tell::Request(request)
            }
            done @ Tell::Done(_) => done,
        };
        loop {
            let Some((voice, _)) = self.asked.last() else {
                let why = "was told of the end of an errand that nobody sent".to_owned();
                return Err(Lost { policy: run.policy().to_owned(), why, backtrace: vec![], recipe: None });
            };
            let said = match voice {
                Voice::First => self.first.turn(run, tell).await?,
                Voice::Second => self.second.turn(run, tell).await?,
            };
            let Said::Answer(answer) = said else { return Ok(said) };
            match self.asked.pop() {
                Some((voice, Some(next))) if !matches!(answer, Answer::Failed(_)) => {
                    let other = if voice == Voice::First { Voice::Second } else { Voice::First };
                    self.asked.push((other, None));
                    tell = Tell::Request(next);
                }
                _ => return Ok(Said::Answer(answer)),
            }
        }
    }

    /// Who is asked, what, and what the second is asked after that.
    fn route(&self, run: &Run, request: Request) -> (Voice, Request, Option<Request>) {
        match request {
            Request::Phase(Phase::Load(load)) => self.load(&load),
            Request::Phase(Phase::Compile(ref recipe)) => (self.of_recipe(recipe), request, None),
            Request::Phase(_) | Request::Forget(_) => (Voice::First, request.clone(), Some(request)),
            // Only a language's runtime knows an answer.
            Request::Question(_) => (Voice::Second, request, None),
            Request::Evaluate { callback, .. } => (Voice::of(callback), request, None),
            Request::Act(ref call) => (of_resource(run, call.resource), request, None),
            Request::Inspect(id) => (of_resource(run, id), request, None),
        }
    }

    /// Each loads its own cookbooks, the compiled ones first.
    fn load(&self, load: &Load) -> (Voice, Request, Option<Request>) {
        let part = |of_second: bool| {
            let cookbooks = load.cookbooks.iter().filter(|name| self.cookbooks.contains(*name) == of_second);
            let cookbooks = cookbooks.cloned().collect();
            Request::Phase(Phase::Load(Box::new(Load { cookbooks, ..load.clone() })))
        };
        (Voice::First, part(false), Some(part(true)))
    }

    fn of_recipe(&self, recipe: &str) -> Voice {
        let cookbook = recipe.split_once("::").map_or(recipe, |(cookbook, _)| cookbook);
        if self.cookbooks.contains(cookbook) { Voice::Second } else { Voice::First }
    }
}

fn of_resource(run: &Run, id: contract::ResourceId) -> Voice {
    let speaker = run.known(id).map_or(0, |resource| resource.declaration.speaker);
    if speaker == Voice::Second.speaker() { Voice::Second } else { Voice::First }
}
