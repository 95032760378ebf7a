//! wrun's own package and services. A policy that stops them ends the runs of all others, so a rule with wildcards was hardly
//! meant for them.

/// The package, and how the names of all services begin.
const OWN: &str = "wrun";

/// Returns whether a package is wrun's own. The architecture may follow its name.
pub(crate) fn package(name: &str) -> bool {
    name.split(':').next() == Some(OWN)
}

/// Returns whether a service, a timer or another unit is wrun's own.
pub(crate) fn service(name: &str) -> bool {
    name.strip_prefix(OWN).is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', '.', '@']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_and_units_of_wruns_own() {
        for name in ["wrun", "wrun-agent", "wrun-agent.service", "wrun-converge.timer", "wrun.slice", "wrun@x"] {
            assert!(service(name), "{name}");
        }
        assert!(package("wrun") && package("wrun:amd64"));
        for name in ["wrunner", "swrun", "nginx", ""] {
            assert!(!service(name) && !package(name), "{name}");
        }
    }
}
