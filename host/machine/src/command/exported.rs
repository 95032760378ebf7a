//! Environment variables that a cookbook sets: its commands inherit them, as a program's children do.

use super::DEFAULT_PATH;
use contract::MachineError;
use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

/// The maximum size of all names and values, in bytes. It leaves room for the program's own environment.
const MOST: usize = 128 << 10;

/// Variables that only the host sets: it parses the output of commands, so it chooses the locale. Chef sets them for its
/// commands, too.
const OF_THE_HOST: [&str; 3] = ["LANG", "LANGUAGE", "LC_ALL"];

/// Variables by name, shared by all parts of wrun that start programs for one policy.
#[derive(Debug, Clone, Default)]
pub(crate) struct Exported(Arc<Mutex<Variables>>);

#[derive(Debug, Default)]
struct Variables {
    by_name: BTreeMap<String, String>,
    /// True if only granted commands of the policy get them.
    for_granted: bool,
}

impl Exported {
    /// Sets a variable, or unsets it if `value` is `None`. If `for_granted` is true, from now on only granted commands get
    /// any of these variables. In a dry run those commands are confined, but programs that the host chooses are not: `PATH`
    /// and the loader's variables could decide which code runs.
    ///
    /// # Errors
    /// A name or a value is impossible in an environment (`EINVAL`), or the variables are too large.
    pub(crate) fn set(&self, name: &str, value: Option<&str>, for_granted: bool) -> Result<(), MachineError> {
        let impossible = name.is_empty() || name.contains(['=', '\0']) || value.is_some_and(|it| it.contains('\0'));
        if impossible {
            return Err(MachineError::System("EINVAL".into(), name.into()));
        }
        let mut variables = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        variables.for_granted |= for_granted;
        let all = &mut variables.by_name;
        let Some(value) = value else {
            all.remove(name);
            return Ok(());
        };
        let others: usize =
            all.iter().filter(|(other, _)| *other != name).map(|(name, it)| name.len() + it.len()).sum();
        if others + name.len() + value.len() > MOST {
            return Err(MachineError::TooMuch(format!("an environment has at most {MOST} bytes")));
        }
        all.insert(name.into(), value.into());
        Ok(())
    }

    /// Adds the variables to an environment and replaces those of the same name. `PATH` keeps the default folders of the
    /// system's programs. `granted` is true for a command that the policy was granted.
    pub(super) fn put_into(&self, environment: &mut Vec<(String, String)>, granted: bool) {
        let variables = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if variables.for_granted && !granted {
            return;
        }
        let own = || variables.by_name.iter().filter(|(name, _)| !OF_THE_HOST.contains(&name.as_str()));
        let names: HashSet<&String> = own().map(|(name, _)| name).collect();
        environment.retain(|(other, _)| !names.contains(other));
        environment.extend(own().map(|(name, value)| {
            let value = if name == "PATH" { with_default_folders(value) } else { value.clone() };
            (name.clone(), value)
        }));
    }
}

fn with_default_folders(path: &str) -> String {
    let missing = DEFAULT_PATH.split(':').filter(|folder| !path.split(':').any(|other| other == *folder));
    std::iter::once(path).chain(missing).collect::<Vec<_>>().join(":")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(exported: &Exported) -> Vec<(String, String)> {
        let mut all = vec![("PATH".to_owned(), DEFAULT_PATH.to_owned()), ("LANG".to_owned(), "C".to_owned())];
        exported.put_into(&mut all, true);
        all.sort();
        all
    }

    #[test]
    fn variables_come_in_and_go() {
        let exported = Exported::default();
        for (name, value) in [("A", "1"), ("A", "2"), ("LANG", "de_DE"), ("PATH", "/opt/bin:/usr/bin")] {
            exported.set(name, Some(value), false).unwrap();
        }
        let path = "/opt/bin:/usr/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/sbin:/bin";
        let expected = [("A", "2"), ("LANG", "C"), ("PATH", path)].map(|(name, it)| (name.to_owned(), it.to_owned()));
        assert_eq!(environment(&exported), expected);
        for name in ["A", "PATH", "never"] {
            exported.set(name, None, false).unwrap();
        }
        assert_eq!(environment(&exported).len(), 2);
        assert_eq!(environment(&exported)[1].1, DEFAULT_PATH);
    }

    #[test]
    fn what_no_environment_holds_is_refused() {
        let exported = Exported::default();
        for (name, value) in [("", "x"), ("A=B", "x"), ("A\0", "x"), ("A", "x\0")] {
            assert!(matches!(exported.set(name, Some(value), false), Err(MachineError::System(..))), "{name:?}");
        }
        exported.set("A", Some(&"x".repeat(MOST - 1)), false).unwrap();
        assert!(matches!(exported.set("B", Some("x"), false), Err(MachineError::TooMuch(_))));
        exported.set("A", Some("y"), false).unwrap();
        exported.set("B", Some("x"), false).unwrap();
    }

    #[test]
    fn attack_variables_of_a_dry_run_reach_no_program_of_the_hosts_own_choosing() {
        let exported = Exported::default();
        let finds = |granted: bool| {
            let mut all = vec![("PATH".to_owned(), DEFAULT_PATH.to_owned())];
            exported.put_into(&mut all, granted);
            all != [("PATH".to_owned(), DEFAULT_PATH.to_owned())]
        };
        exported.set("PATH", Some("/var/tmp/p"), false).unwrap();
        assert!(finds(true) && finds(false));
        exported.set("PATH", Some("/var/tmp/p"), true).unwrap();
        assert!(finds(true) && !finds(false));
    }
}
