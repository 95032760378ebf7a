//! Choosing versions, and the reasons where none fits.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::time::Instant;

use policyfile::constraint::Constraint;
use policyfile::solver::{Demand, Demander, SolveError, Universe, solve};

type Versions<'a> = &'a [(&'a str, &'a str, &'a [(&'a str, &'a str)])];

fn universe(cookbooks: Versions<'_>) -> Universe {
    let mut universe = Universe::new();
    for (name, version, dependencies) in cookbooks {
        let dependencies = dependencies.iter().map(|(name, constraint)| ((*name).to_owned(), (*constraint).to_owned()));
        universe.entry((*name).to_owned()).or_default().insert((*version).to_owned(), dependencies.collect());
    }
    universe
}

fn demand(by: Demander, cookbook: &str, constraint: &str) -> Demand {
    Demand { by, cookbook: cookbook.to_owned(), constraint: Constraint::parse(constraint).unwrap() }
}

#[track_caller]
fn check(cookbooks: Versions<'_>, demands: &[(&str, &str)], expect: &[(&str, &str)]) {
    let demands: Vec<_> = demands.iter().map(|(name, it)| demand(Demander::Policyfile, name, it)).collect();
    let expect: BTreeMap<_, _> = expect.iter().map(|(name, it)| ((*name).to_owned(), (*it).to_owned())).collect();
    assert_eq!(solve(&universe(cookbooks), &demands), Ok(expect));
}

#[test]
fn the_newest_versions_that_fit_are_chosen() {
    let all: Versions<'_> = &[
        ("app", "1.0.0", &[("lib", "~> 1.0")]),
        ("app", "2.0.0", &[("lib", "~> 2.0")]),
        ("lib", "1.0.0", &[]),
        ("lib", "1.10", &[]),
        ("lib", "1.9.0", &[]),
        ("lib", "2.1.0", &[("util", "< 1.0")]),
        ("util", "0.9.0", &[]),
        ("util", "1.0.0", &[]),
        ("unused", "1.0.0", &[("gone", "= 1.0.0")]),
    ];
    check(all, &[("app", ">= 0.0.0")], &[("app", "2.0.0"), ("lib", "2.1.0"), ("util", "0.9.0")]);
    check(all, &[("app", ">= 0.0.0"), ("lib", "~> 1.0")], &[("app", "1.0.0"), ("lib", "1.10")]);
    check(all, &[("app", ""), ("util", "= 1.0.0")], &[("app", "1.0.0"), ("lib", "1.10"), ("util", "1.0.0")]);
    check(all, &[], &[]);
}

#[track_caller]
fn refused(cookbooks: Versions<'_>, demands: &[Demand], expect: &[&str]) {
    let SolveError::NoSolution { reasons, .. } = solve(&universe(cookbooks), demands).unwrap_err() else {
        unreachable!("another error")
    };
    assert_eq!(reasons, expect);
}

#[test]
fn reasons_say_who_demanded_what() {
    let all: Versions<'_> = &[("a", "1.0.0", &[]), ("app", "1.0.0", &[("a", ">= 2.0.0")])];
    let demands = [
        demand(Demander::Policyfile, "app", ""),
        demand(Demander::Include("one".into()), "a", "= 1.0.0"),
        demand(Demander::Policyfile, "other", "> 1.0"),
    ];
    refused(
        all,
        demands.get(..2).unwrap(),
        &[
            "the Policyfile demands app >= 0.0.0",
            "cookbook app 1.0.0 depends on a >= 2.0.0",
            "the included policy \"one\" demands a = 1.0.0",
            "cookbook a is available in 1.0.0",
            "cookbook app is available in 1.0.0",
        ],
    );
    refused(all, demands.get(2..).unwrap(), &["the Policyfile demands other > 1.0.0", "no source has cookbook other"]);
}

#[test]
fn circles_are_refused() {
    let all: Versions<'_> =
        &[("a", "1.0.0", &[("b", ">= 0.0.0")]), ("b", "1.0.0", &[("c", "")]), ("c", "1.0.0", &[("b", "")])];
    let error = solve(&universe(all), &[demand(Demander::Policyfile, "a", "")]).unwrap_err();
    assert_eq!(error.to_string(), "there is a circular dependency between cookbooks: b -> c -> b");
}

#[test]
fn malformed_metadata_is_named() {
    let all: Versions<'_> = &[("a", "1.0.0", &[("b", "about 2")])];
    let error = solve(&universe(all), &[demand(Demander::Policyfile, "a", "")]).unwrap_err().to_string();
    assert!(error.starts_with("cookbook a 1.0.0: \"about 2\" is not a version constraint"), "{error}");
    // One that nobody demands stops nobody.
    check(all, &[], &[]);
}

/// 500 cookbooks with 20 versions each, where every version depends on three others by name and needs them as new as itself.
fn large(last: &str) -> Universe {
    let mut all = Universe::new();
    for cookbook in 0..500_u32 {
        for version in 0..20_u32 {
            let on = |step: u32| (format!("c{}", cookbook + step), format!(">= 1.{}.0", version / step));
            let mut dependencies: Vec<_> = [1, 7, 31].into_iter().map(on).collect();
            dependencies.retain(|(name, _)| name.strip_prefix('c').is_some_and(|n| n.parse::<u32>().unwrap() < 500));
            if cookbook == 499 && !last.is_empty() {
                dependencies.push(("c0".into(), last.into()));
            }
            all.entry(format!("c{cookbook}")).or_default().insert(format!("1.{version}.0"), dependencies);
        }
    }
    all
}

#[test]
fn a_large_universe_is_solved_or_refused_soon() {
    let demands = [demand(Demander::Policyfile, "c0", "")];
    let universe = large("");
    let started = Instant::now();
    let solution = solve(&universe, &demands).unwrap();
    let took = started.elapsed();
    assert_eq!((solution.len(), solution.get("c0").map(String::as_str)), (500, Some("1.19.0")));
    let contradictory = large("> 2.0");
    let started = Instant::now();
    let error = solve(&contradictory, &demands).unwrap_err();
    assert!(matches!(&error, SolveError::NoSolution { .. }), "{error}");
    // Ten times what the release build may take.
    assert!(took.as_secs() < 10 && started.elapsed().as_secs() < 20, "{took:?}, {:?}", started.elapsed());
}

/// More pigeons than holes: each pigeon has a version for each hole, and each hole a version for each pigeon.
fn pigeons(holes: usize) -> Universe {
    let mut all = Universe::new();
    for pigeon in 0..=holes {
        let hole = |hole| (format!("{hole}.0.0"), vec![(format!("h{hole}"), format!("= {pigeon}.0.0"))]);
        all.insert(format!("p{pigeon}"), (0..holes).map(hole).collect());
    }
    for hole in 0..holes {
        all.insert(format!("h{hole}"), (0..=holes).map(|pigeon| (format!("{pigeon}.0.0"), vec![])).collect());
    }
    all
}

#[test]
fn a_universe_on_which_no_solver_ends_is_given_up() {
    let solved = |holes: usize| {
        let demands: Vec<_> =
            (0..=holes).map(|number| demand(Demander::Policyfile, &format!("p{number}"), ">= 0.0.0")).collect();
        solve(&pigeons(holes), &demands).unwrap_err()
    };
    assert!(matches!(solved(3), SolveError::NoSolution { .. }));
    let error = solved(8);
    let SolveError::TooHard { steps, contradictions } = error else { panic!("{error}") };
    // Each step costs as much as the solver has learned: it may not take as many as in a universe without contradictions.
    assert!(steps < 100_000 && contradictions < 500_000, "{error}");
    assert!(error.to_string().contains("narrow the constraints in the Policyfile"), "{error}");
}

/// A chain in which each version of a cookbook wants an older one of the next, and the last does not exist: what the solver
/// learns there is long lists of versions, which take gigabytes where only contradictions are counted.
#[test]
fn a_chain_of_long_lists_of_versions_is_given_up_early() {
    let mut all = Universe::new();
    for cookbook in 0..60 {
        let version = |version: u32| {
            let next = (format!("k{}", cookbook + 1), format!("< {version}.0.0"));
            (format!("{version}.0.0"), vec![next])
        };
        all.insert(format!("k{cookbook}"), (0..300).map(version).collect());
    }
    let error = solve(&all, &[demand(Demander::Policyfile, "k0", "")]).unwrap_err();
    let SolveError::TooHard { steps, .. } = error else { panic!("{error}") };
    assert!(steps < 2_000, "{error}");
}
