//! What a cookbook put into its environment: its commands find it there, as a program's children do.

use super::DEFAULT_PATH;
use contract::MachineError;
use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

/// The most bytes of names and values together: as much as a program can be given with room for its own.
const MOST: usize = 128 << 10;

/// The locale is the host's to choose, which reads what commands print; Chef sets it for its commands too.
const OF_THE_HOST: [&str; 3] = ["LANG", "LANGUAGE", "LC_ALL"];

/// Variables by name, shared by all who start programs for one policy.
#[derive(Debug, Clone, Default)]
pub(crate) struct Exported(Arc<Mutex<BTreeMap<String, String>>>);

impl Exported {
    /// Sets a variable; none unsets it.
    ///
    /// # Errors
    /// A name or a value that no environment can hold (`EINVAL`), or too much of them.
    pub(crate) fn set(&self, name: &str, value: Option<&str>) -> Result<(), MachineError> {
        let impossible = name.is_empty() || name.contains(['=', '\0']) || value.is_some_and(|it| it.contains('\0'));
        if impossible {
            return Err(MachineError::System("EINVAL".into(), name.into()));
        }
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
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

    /// Adds the variables to an environment, or puts them in the place of those that are there. `PATH` keeps the folders
    /// that the system's own programs lie in.
    pub(super) fn put_into(&self, environment: &mut Vec<(String, String)>) {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let own = || all.iter().filter(|(name, _)| !OF_THE_HOST.contains(&name.as_str()));
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
        exported.put_into(&mut all);
        all.sort();
        all
    }

    #[test]
    fn variables_come_in_and_go() {
        let exported = Exported::default();
        for (name, value) in [("A", "1"), ("A", "2"), ("LANG", "de_DE"), ("PATH", "/opt/bin:/usr/bin")] {
            exported.set(name, Some(value)).unwrap();
        }
        let path = "/opt/bin:/usr/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/sbin:/bin";
        let expected = [("A", "2"), ("LANG", "C"), ("PATH", path)].map(|(name, it)| (name.to_owned(), it.to_owned()));
        assert_eq!(environment(&exported), expected);
        for name in ["A", "PATH", "never"] {
            exported.set(name, None).unwrap();
        }
        assert_eq!(environment(&exported).len(), 2);
        assert_eq!(environment(&exported)[1].1, DEFAULT_PATH);
    }

    #[test]
    fn what_no_environment_holds_is_refused() {
        let exported = Exported::default();
        for (name, value) in [("", "x"), ("A=B", "x"), ("A\0", "x"), ("A", "x\0")] {
            assert!(matches!(exported.set(name, Some(value)), Err(MachineError::System(..))), "{name:?}");
        }
        exported.set("A", Some(&"x".repeat(MOST - 1))).unwrap();
        assert!(matches!(exported.set("B", Some("x")), Err(MachineError::TooMuch(_))));
        exported.set("A", Some("y")).unwrap();
        exported.set("B", Some("x")).unwrap();
    }
}
