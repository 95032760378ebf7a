//! A policy with cookbooks in two languages: an instance for each, every one in its own store, on one run.
//!
//! The runner sees one guest. A request goes to the instance whose cookbook, resource or closure it is about; what the
//! host says at the end of an errand goes to the instance that sent the errand, which is always the one that was asked
//! last. So a recipe of one language can include one of the other, and notify its resources.

use crate::policy::Policy;
use crate::policy_guest::PolicyGuest;
use crate::session::Session;
use contract::{Answer, Guest, GuestLost, GuestMessage, HostMessage, Load, Phase, Request, Run};
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
        second.store.data_mut().guest = PolicyGuest::Second;
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
    /// With both instances of the policy, one for each language.
    InstancePair(Box<InstancePair<'a>>),
}

/// A conversation with two instances.
pub struct InstancePair<'a> {
    first: Session<'a>,
    second: Session<'a>,
    cookbooks: &'a BTreeSet<String>,
    /// Who was asked, innermost last, and what the other one is to be asked when the answer is there.
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
    /// Lets the guests return from `serve`.
    ///
    /// # Errors
    /// One was lost before, or is now.
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

    /// Who is asked, what, and what the second is asked after that.
    fn route(&self, run: &Run, request: Request) -> (PolicyGuest, Request, Option<Request>) {
        match request {
            Request::Phase(Phase::Load(load)) => self.load(&load),
            Request::Phase(Phase::Compile(ref recipe)) => (self.of_recipe(recipe), request, None),
            Request::Phase(_) | Request::Forget(_) => (PolicyGuest::First, request.clone(), Some(request)),
            // Only a language's runtime knows an answer.
            Request::Question(_) => (PolicyGuest::Second, request, None),
            Request::Evaluate { callback, .. } => (PolicyGuest::of(callback), request, None),
            Request::Act(ref call) => (of_resource(run, call.resource), request, None),
            Request::Inspect(id) => (of_resource(run, id), request, None),
        }
    }

    /// Each loads its own cookbooks, the compiled ones first.
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
