//! Chooses a version of each cookbook, or explains why no choice fits.
//!
//! An explanation names the origin of each demand. For that, each demand of the Policyfile and of an included policy is a
//! package of its own for the solver.

use std::cell::{Cell, RefCell};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use node::version_constraint::Version;
use pubgrub::{
    Dependencies, DependencyProvider, DerivationTree, External, PackageResolutionStatistics, PubGrubError, Ranges,
    resolve,
};
use thiserror::Error;

use crate::constraint::{Constraint, InvalidConstraint, version};
use crate::universe::reachable;

/// Cookbooks by name, their versions, and the constraints of each version on other cookbooks.
pub type Universe = BTreeMap<String, BTreeMap<String, Vec<(String, String)>>>;

/// The amount of work after which the solver gives up, because for some inputs no solver would end in time. A step counts
/// once, and once more for each interval of versions in each contradiction found before, because the solver looks at all
/// known contradictions in each later step. So this also limits the memory.
const MAX_WORK: u64 = 100_000_000;

/// The number of reasons that a message lists.
const MAX_REASONS: usize = 30;

/// The origin of a demand for a cookbook.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Demander {
    /// The policy itself, in its run lists or with `cookbook`.
    Policyfile,
    /// An included policy, by its name.
    Include(String),
}

impl fmt::Display for Demander {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Policyfile => out.write_str("the Policyfile"),
            Self::Include(name) => write!(out, "the included policy {name:?}"),
        }
    }
}

/// One demand for a cookbook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Demand {
    /// The policy, or an included one, that demands it.
    pub by: Demander,
    /// The name of the demanded cookbook.
    pub cookbook: String,
    /// The versions that are demanded.
    pub constraint: Constraint,
}

/// The reasons why no versions were chosen.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SolveError {
    /// Demands contradict each other, or no source has a demanded cookbook.
    #[error("no set of cookbook versions satisfies every demand:\n{}", lines(reasons))]
    NoSolution {
        /// One sentence for each involved demand and cookbook.
        reasons: Vec<String>,
        /// The names of the involved cookbooks that no source has.
        absent: Vec<String>,
    },
    /// Cookbooks depend on each other in a circle.
    #[error("there is a circular dependency between cookbooks: {}", cycle.join(" -> "))]
    Circular {
        /// The names on the circle; the first is also the last.
        cycle: Vec<String>,
    },
    /// A version or constraint in the metadata of a cookbook is malformed.
    #[error("cookbook {cookbook} {version}: {reason}")]
    Malformed {
        /// The name of the cookbook with the metadata.
        cookbook: String,
        /// The version with that metadata, as `x.y.z`.
        version: String,
        /// What is malformed. Part of the message, hence no `source`.
        reason: InvalidConstraint,
    },
    /// The solver gave up.
    #[error(
        "no set of cookbook versions was found: after {steps} steps and {contradictions} contradictions it cannot be told \
         whether there is one; narrow the constraints in the Policyfile, or name the versions of some cookbooks"
    )]
    TooHard {
        /// The number of choices that were tried.
        steps: u64,
        /// The number of cookbooks in contradictions that were found.
        contradictions: u64,
    },
}

fn lines(reasons: &[String]) -> String {
    let mut text: Vec<String> = reasons.iter().take(MAX_REASONS).map(|reason| format!("- {reason}")).collect();
    if reasons.len() > MAX_REASONS {
        text.push(format!("- and {} more", reasons.len() - MAX_REASONS));
    }
    text.join("\n")
}

/// Chooses versions: for each cookbook that is needed, the newest that satisfies all demands on it.
///
/// # Errors
/// No choice satisfies all demands, or cookbooks depend on each other in a circle.
pub fn solve(universe: &Universe, demands: &[Demand]) -> Result<BTreeMap<String, String>, SolveError> {
    let graph = Graph::new(universe, demands)?;
    let chosen = match resolve(&graph, Package::Root, Version::new(0, 0, 0)) {
        Ok(chosen) => chosen,
        Err(PubGrubError::NoSolution(tree)) => {
            let (reasons, absent) = graph.reasons(&tree);
            return Err(SolveError::NoSolution { reasons, absent });
        }
        Err(_) => {
            let (steps, contradictions) = (graph.steps.get(), graph.contradictions.get());
            return Err(SolveError::TooHard { steps, contradictions });
        }
    };
    let mut solution = BTreeMap::new();
    for (package, version) in chosen {
        let Package::Cookbook(name) = package else { continue };
        if let Some((written, _)) = graph.cookbooks.get(&name).and_then(|versions| versions.get(&version)) {
            solution.insert(name, (*written).to_owned());
        }
    }
    match circle(universe, &solution) {
        Some(cycle) => Err(SolveError::Circular { cycle }),
        None => Ok(solution),
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Package {
    /// The root, which depends on all demands.
    Root,
    /// A demand, by its number.
    Demand(usize),
    Cookbook(String),
}

impl fmt::Display for Package {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => out.write_str("the policy"),
            Self::Demand(number) => write!(out, "demand {number}"),
            Self::Cookbook(name) => out.write_str(name),
        }
    }
}

/// A version as it was written, and its dependencies.
type Known<'a> = (&'a str, Vec<(&'a str, Constraint)>);

struct Graph<'a> {
    cookbooks: BTreeMap<String, BTreeMap<Version, Known<'a>>>,
    demands: &'a [Demand],
    steps: Cell<u64>,
    /// The work so far, as [`MAX_WORK`] counts it.
    work: Cell<u64>,
    /// The cookbooks in all contradictions so far.
    contradictions: Cell<u64>,
    /// The intervals of versions of these cookbooks.
    intervals: Cell<u64>,
    /// The contradictions of each package, as far as they are counted.
    counted: RefCell<BTreeMap<Package, u32>>,
}

impl<'a> Graph<'a> {
    fn new(universe: &'a Universe, demands: &'a [Demand]) -> Result<Self, SolveError> {
        let mut cookbooks = BTreeMap::new();
        // The metadata of cookbooks that are not needed may be malformed.
        let reached = reachable(&[universe], demands.iter().map(|demand| demand.cookbook.as_str()));
        for (name, versions) in universe.iter().filter(|(name, _)| reached.contains(*name)) {
            let mut known = BTreeMap::new();
            for (written, dependencies) in versions {
                let malformed =
                    |reason| SolveError::Malformed { cookbook: name.clone(), version: written.clone(), reason };
                let dependencies = dependencies
                    .iter()
                    .map(|(name, constraint)| Ok((name.as_str(), Constraint::parse(constraint)?)))
                    .collect::<Result<Vec<_>, _>>()
                    .map_err(malformed)?;
                known.insert(version(written).map_err(malformed)?, (written.as_str(), dependencies));
            }
            cookbooks.insert(name.clone(), known);
        }
        Ok(Self {
            cookbooks,
            demands,
            steps: Cell::new(0),
            work: Cell::new(0),
            contradictions: Cell::new(0),
            intervals: Cell::new(0),
            counted: RefCell::default(),
        })
    }

    fn versions_in(
        &self,
        name: &str,
        range: &Ranges<Version>,
    ) -> impl DoubleEndedIterator<Item = (Version, &Known<'a>)> {
        let versions = self.cookbooks.get(name).into_iter().flatten();
        versions.filter(|(version, _)| range.contains(version)).map(|(version, known)| (*version, known))
    }

    /// Returns the facts that exclude every choice, each once, in the order of the explanation, followed by the other demands
    /// on the same cookbooks. Also returns the names of these cookbooks that no source has.
    fn reasons(&self, tree: &DerivationTree<Package, Ranges<Version>, String>) -> (Vec<String>, Vec<String>) {
        let mut reasons = Reasons::default();
        let mut open = vec![tree];
        while let Some(tree) = open.pop() {
            match tree {
                DerivationTree::Derived(derived) => open.extend([derived.cause2.as_ref(), derived.cause1.as_ref()]),
                DerivationTree::External(fact) => self.fact(fact, &mut reasons),
            }
        }
        let cookbooks = reasons.cookbooks.clone();
        for demand in self.demands.iter().filter(|demand| cookbooks.contains(&demand.cookbook)) {
            reasons.add(sentence(demand));
        }
        for name in &cookbooks {
            reasons.add(self.availability(name));
        }
        let is_absent = |name: &String| self.cookbooks.get(name).is_none_or(BTreeMap::is_empty);
        (reasons.sentences, cookbooks.into_iter().filter(is_absent).collect())
    }

    fn fact(&self, fact: &External<Package, Ranges<Version>, String>, reasons: &mut Reasons) {
        match fact {
            External::FromDependencyOf(Package::Demand(number), _, Package::Cookbook(name), _) => {
                reasons.cookbooks.insert(name.clone());
                if let Some(demand) = self.demands.get(*number) {
                    reasons.add(sentence(demand));
                }
            }
            External::FromDependencyOf(Package::Cookbook(name), range, Package::Cookbook(wanted), _) => {
                reasons.cookbooks.insert(wanted.clone());
                let mut by_constraint: BTreeMap<String, Vec<&str>> = BTreeMap::new();
                for (_, (written, dependencies)) in self.versions_in(name, range) {
                    for (_, constraint) in dependencies.iter().filter(|(dependency, _)| dependency == wanted) {
                        by_constraint.entry(constraint.to_string()).or_default().push(written);
                    }
                }
                for (constraint, versions) in by_constraint {
                    reasons.add(format!("cookbook {name} {} depends on {wanted} {constraint}", listed(&versions)));
                }
            }
            External::NoVersions(Package::Cookbook(name), _) => {
                reasons.cookbooks.insert(name.clone());
            }
            _ => {}
        }
    }

    /// Counts the new contradictions of a package.
    fn count(&self, package: &Package, range: &Ranges<Version>, contradictions: u32) {
        if contradictions == 0 {
            return;
        }
        let mut counted = self.counted.borrow_mut();
        let before = match counted.get_mut(package) {
            Some(known) => std::mem::replace(known, contradictions),
            None => counted.insert(package.clone(), contradictions).unwrap_or(0),
        };
        let new = u64::from(contradictions.saturating_sub(before));
        if new == 0 {
            return;
        }
        self.contradictions.set(self.contradictions.get().saturating_add(new));
        let intervals = new.saturating_mul(range.iter().count().max(1) as u64);
        self.intervals.set(self.intervals.get().saturating_add(intervals));
    }

    fn availability(&self, name: &str) -> String {
        let versions: Vec<&str> =
            self.cookbooks.get(name).into_iter().flatten().map(|(_, (written, _))| *written).collect();
        if versions.is_empty() {
            format!("no source has cookbook {name}")
        } else {
            format!("cookbook {name} is available in {}", listed(&versions))
        }
    }
}

#[derive(Default)]
struct Reasons {
    sentences: Vec<String>,
    known: BTreeSet<String>,
    cookbooks: BTreeSet<String>,
}

impl Reasons {
    fn add(&mut self, sentence: String) {
        if self.known.insert(sentence.clone()) {
            self.sentences.push(sentence);
        }
    }
}

fn sentence(demand: &Demand) -> String {
    format!("{} demands {} {}", demand.by, demand.cookbook, demand.constraint)
}

/// Versions in one line: all of a few, else the oldest and the newest.
fn listed(versions: &[&str]) -> String {
    match versions {
        [first, .., last] if versions.len() > 6 => format!("{first} .. {last} ({} versions)", versions.len()),
        _ => versions.join(", "),
    }
}

impl DependencyProvider for Graph<'_> {
    type P = Package;
    type V = Version;
    type VS = Ranges<Version>;
    type Priority = (u32, Reverse<usize>);
    type M = String;
    type Err = WorkSpent;

    fn prioritize(
        &self,
        package: &Package,
        range: &Ranges<Version>,
        conflicts: &PackageResolutionStatistics,
    ) -> Self::Priority {
        self.count(package, range, conflicts.conflict_count());
        match package {
            Package::Root | Package::Demand(_) => (u32::MAX, Reverse(0)),
            Package::Cookbook(name) => (conflicts.conflict_count(), Reverse(self.versions_in(name, range).count())),
        }
    }

    fn choose_version(&self, package: &Package, range: &Ranges<Version>) -> Result<Option<Version>, WorkSpent> {
        Ok(match package {
            Package::Root | Package::Demand(_) => Some(Version::new(0, 0, 0)).filter(|only| range.contains(only)),
            Package::Cookbook(name) => self.versions_in(name, range).next_back().map(|(version, _)| version),
        })
    }

    fn get_dependencies(
        &self,
        package: &Package,
        version: &Version,
    ) -> Result<Dependencies<Package, Ranges<Version>, String>, WorkSpent> {
        let one = |name: &str, range| (Package::Cookbook(name.to_owned()), range);
        Ok(Dependencies::Available(match package {
            Package::Root => (0..self.demands.len()).map(|number| (Package::Demand(number), Ranges::full())).collect(),
            Package::Demand(number) => {
                let demand = self.demands.get(*number).into_iter();
                demand.map(|demand| one(&demand.cookbook, demand.constraint.ranges())).collect()
            }
            Package::Cookbook(name) => {
                let known = self.cookbooks.get(name).and_then(|versions| versions.get(version));
                let dependencies = known.into_iter().flat_map(|(_, dependencies)| dependencies);
                dependencies.map(|(name, constraint)| one(name, constraint.ranges())).collect()
            }
        }))
    }

    fn should_cancel(&self) -> Result<(), WorkSpent> {
        self.steps.set(self.steps.get() + 1);
        self.work.set(self.work.get().saturating_add(1).saturating_add(self.intervals.get()));
        if self.work.get() > MAX_WORK { Err(WorkSpent) } else { Ok(()) }
    }
}

#[derive(Debug, Error)]
#[error("too much work")]
struct WorkSpent;

/// A circle among the chosen cookbooks.
fn circle(universe: &Universe, solution: &BTreeMap<String, String>) -> Option<Vec<String>> {
    let dependencies = |name: &str| {
        let version = solution.get(name)?;
        Some(universe.get(name)?.get(version)?.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>())
    };
    let mut done: BTreeSet<&str> = BTreeSet::new();
    for start in solution.keys() {
        // The path from the start, with what is still to be visited of each of its members.
        let mut path: Vec<(&str, Vec<&str>)> = vec![(start, dependencies(start).unwrap_or_default())];
        while let Some((name, rest)) = path.last_mut() {
            let Some(next) = rest.pop() else {
                done.insert(*name);
                path.pop();
                continue;
            };
            if let Some(at) = path.iter().position(|(name, _)| *name == next) {
                let names = path.iter().skip(at).map(|(name, _)| (*name).to_owned());
                return Some(names.chain([next.to_owned()]).collect());
            }
            if !done.contains(next) {
                path.push((next, dependencies(next).unwrap_or_default()));
            }
        }
    }
    None
}
