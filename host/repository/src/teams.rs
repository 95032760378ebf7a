//! The teams of a repository and the policies that they own, as the platform has signed them.

use serde_json::{Map, Value};

use crate::error::RepositoryError;
use crate::metadata::Targets;
use crate::names::{PolicyPattern, check_name};

/// The member of a team's target that lists its policies.
const POLICIES: &str = "policies";

/// A team with its policies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Team {
    /// The name of the team.
    pub name: String,
    /// The policies that it owns.
    pub policies: Vec<PolicyPattern>,
}

impl Team {
    /// Returns the data about the team that the platform signs, besides the digest of its root.
    #[must_use]
    pub fn custom(&self) -> Map<String, Value> {
        let policies: Vec<_> = self.policies.iter().map(ToString::to_string).collect();
        Map::from_iter([(POLICIES.to_owned(), Value::from(policies))])
    }

    /// The team and its policies, for messages.
    #[must_use]
    pub fn shown(&self) -> String {
        let policies: Vec<_> = self.policies.iter().map(ToString::to_string).collect();
        format!("{} ({})", self.name, policies.join(", "))
    }
}

/// The teams that the platform has signed, by name.
///
/// # Errors
/// A sentence says what is wrong with one of them.
pub fn teams(targets: &Targets) -> Result<Vec<Team>, String> {
    let mut teams = vec![];
    for (path, target) in &targets.targets {
        let Some(name) = path.strip_prefix("teams/").and_then(|rest| rest.strip_suffix("/root.json")) else { continue };
        check_name(name, "team").map_err(|error| error.to_string())?;
        let policies = target.custom.get(POLICIES).and_then(Value::as_array);
        let policies = policies.ok_or_else(|| format!("the team {name} has no list of policies"))?;
        let pattern = |value: &Value| {
            let text = value.as_str().ok_or_else(|| format!("a policy of the team {name} is not text"))?;
            PolicyPattern::try_from(text.to_owned()).map_err(|error| error.to_string())
        };
        let policies = policies.iter().map(pattern).collect::<Result<_, _>>()?;
        teams.push(Team { name: name.to_owned(), policies });
    }
    Ok(teams)
}

/// The team that owns a policy.
///
/// # Errors
/// None does, or two.
pub fn owner<'t>(teams: &'t [Team], policy: &str, repository: &str) -> Result<&'t Team, RepositoryError> {
    let mut owners = teams.iter().filter(|team| team.policies.iter().any(|pattern| pattern.owns(policy)));
    let Some(first) = owners.next() else {
        return Err(RepositoryError::NoTeam {
            repository: repository.to_owned(),
            policy: policy.to_owned(),
            teams: teams.iter().map(Team::shown).collect(),
        });
    };
    match owners.next() {
        None => Ok(first),
        Some(second) => Err(RepositoryError::TwoTeams {
            policy: policy.to_owned(),
            first: first.name.clone(),
            second: second.name.clone(),
        }),
    }
}

/// Checks that no policy could belong to two teams.
///
/// # Errors
/// One could.
pub fn check_apart(teams: &[Team]) -> Result<(), RepositoryError> {
    for (index, team) in teams.iter().enumerate() {
        for other in teams.iter().take(index) {
            let both = team.policies.iter().find(|one| other.policies.iter().any(|two| one.overlaps(two)));
            if let Some(pattern) = both {
                return Err(RepositoryError::TwoTeams {
                    policy: pattern.to_string(),
                    first: other.name.clone(),
                    second: team.name.clone(),
                });
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn team(name: &str, policies: &[&str]) -> Team {
        let pattern = |text: &&str| PolicyPattern::try_from((*text).to_owned()).unwrap();
        Team { name: name.into(), policies: policies.iter().map(pattern).collect() }
    }

    #[test]
    fn a_policy_has_exactly_one_owner() {
        let all = [team("core", &["core*"]), team("web", &["web", "shop"]), team("other", &["core-x"])];
        assert_eq!(owner(&all, "shop", "r").unwrap().name, "web");
        assert!(matches!(owner(&all, "core-x", "r"), Err(RepositoryError::TwoTeams { .. })));
        let nobody = owner(&all, "mail", "r").unwrap_err().to_string();
        assert!(nobody.contains("core (core*), web (web, shop)"), "{nobody}");
        assert!(check_apart(&all).is_err() && check_apart(&all[..2]).is_ok());
    }
}
