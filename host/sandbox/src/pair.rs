//! Handles a policy with cookbooks in two languages. Each language has an instance in its own store, and both share one run.
//!
//! The runner sees one guest. A request goes to the instance with the request's cookbook, resource or closure. The result of
//! a task goes to the instance that sent the task. That is always the instance with the latest open request. So a recipe of
//! one language can include recipes of the other, and notify their resources.

use crate::policy::Policy;
use crate::policy_guest::PolicyGuest;
use crate::session::Session;
use contract::{Answer, Guest, GuestLost, GuestMessage, HostMessage, Load, Phase, Request, Run};
use std::collections::BTreeSet;

/// The instances of a policy.
pub enum Policies {
    /// The instance of a policy with cookbooks in one language.
    One(Policy),
    /// The two instances of a policy with cookbooks in two languages.
    InstancePair {
        /// The instance of the policy's own component, with its compiled cookbooks.
        first: Box<Policy>,
        /// The instance of a language's shared runtime, which evaluates the other cookbooks.
        second: Box<Policy>,
        /// The names of the cookbooks that the second instance evaluates.
        cookbooks: BTreeSet<String>,
    },
}

impl Policies {
    /// Combines two instances. No session of either has begun yet.
    #[must_use]
    pub fn two(first: Policy, mut second: Policy, cookbooks: BTreeSet<String>) -> Self {
        second.store.data_mut().guest = PolicyGuest::Second;
        Self::InstancePair { first: Box::new(first), second: Box::new(second), cookbooks }
    }

    /// Begins a session with all instances of the policy.
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

/// One session with all instances of a policy.
pub enum Conversation<'a> {
    /// A session with the only instance.
    One(Session<'a>),
    /// A session with both instances, one for each language.
    InstancePair(Box<InstancePair<'a>>),
}

/// A session with two instances.
pub struct InstancePair<'a> {
    first: Session<'a>,
    second: Session<'a>,
    cookbooks: &'a BTreeSet<String>,
    /// The guests with open requests, innermost last. The second value is the follow-up request to the other guest, after a
    /// successful reply.
    asked: Vec<(PolicyGuest, Option<Request>)>,
}

impl Guest for Conversation<'_> {
    async fn turn(&mut self, run: &mut Run, tell: HostMessage) -> Result<GuestMessage, GuestLost> {
        match self {
            Self::One(session) => session.turn(run, tell).await,
            Self::InstancePair(two) => two.turn(run, tell).await,
        }
    }
}

impl Conversation<'_> {
    /// Tells the guests to return from `serve`.
    ///
    /// # Errors
    /// Returns the reason if one of the guests has ended early, before or during this call.
    pub async fn end(self) -> Result<(), GuestLost> {
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
    async fn turn(&mut self, run: &mut Run, tell: HostMessage) -> Result<GuestMessage, GuestLost> {
        let mut tell = match tell {
            HostMessage::Request(request) => {
                let (guest, request, then) = self.route(run, request);
                self.asked.push((guest, then));
                HostMessage::Request(request)
            }
            done @ HostMessage::Done(_) => done,
        };
        loop {
            let Some((guest, _)) = self.asked.last() else {
                let why = "was told of the end of an errand that nobody sent".to_owned();
                return Err(GuestLost { policy: run.policy().to_owned(), why, ..GuestLost::default() });
            };
            let said = match guest {
                PolicyGuest::First => self.first.turn(run, tell).await?,
                PolicyGuest::Second => self.second.turn(run, tell).await?,
            };
            let GuestMessage::Answer(answer) = said else { return Ok(said) };
            match self.asked.pop() {
                Some((guest, Some(next))) if !matches!(answer, Answer::Failed(_)) => {
                    let other = if guest == PolicyGuest::First { PolicyGuest::Second } else { PolicyGuest::First };
                    self.asked.push((other, None));
                    tell = HostMessage::Request(next);
                }
                _ => return Ok(GuestMessage::Answer(answer)),
            }
        }
    }

    /// Returns the guest for a request, the request to it, and a follow-up request to the other guest.
    fn route(&self, run: &Run, request: Request) -> (PolicyGuest, Request, Option<Request>) {
        match request {
            Request::Phase(Phase::Load(load)) => self.load(&load),
            Request::Phase(Phase::Compile(ref recipe)) => (self.of_recipe(recipe), request, None),
            Request::Phase(_) | Request::Forget(_) => (PolicyGuest::First, request.clone(), Some(request)),
            // Only a language's shared runtime answers questions.
            Request::Question(_) => (PolicyGuest::Second, request, None),
            Request::Evaluate { callback, .. } => (PolicyGuest::of(callback), request, None),
            Request::Act(ref call) => (of_resource(run, call.resource), request, None),
            Request::Inspect(id) => (of_resource(run, id), request, None),
        }
    }

    /// Splits a load: each guest loads its own cookbooks, the compiled ones first.
    fn load(&self, load: &Load) -> (PolicyGuest, Request, Option<Request>) {
        let part = |of_second: bool| {
            let cookbooks = load.cookbooks.iter().filter(|name| self.cookbooks.contains(*name) == of_second);
            let cookbooks = cookbooks.cloned().collect();
            Request::Phase(Phase::Load(Box::new(Load { cookbooks, ..load.clone() })))
        };
        (PolicyGuest::First, part(false), Some(part(true)))
    }

    fn of_recipe(&self, recipe: &str) -> PolicyGuest {
        let cookbook = recipe.split_once("::").map_or(recipe, |(cookbook, _)| cookbook);
        if self.cookbooks.contains(cookbook) { PolicyGuest::Second } else { PolicyGuest::First }
    }
}

fn of_resource(run: &Run, id: contract::ResourceId) -> PolicyGuest {
    let guest_id = run.known(id).map_or(0, |resource| resource.declaration.guest_id);
    if guest_id == PolicyGuest::Second.guest_id() { PolicyGuest::Second } else { PolicyGuest::First }
}
