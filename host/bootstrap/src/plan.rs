//! Compares a machine with its desired state, and plans the necessary steps.

use std::collections::BTreeMap;

use crate::wanted::{Package, Wanted, WantedFile};

/// The only architecture with packages.
const MACHINE: &str = "x86_64";

/// The current state of a machine.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Found {
    /// The machine's architecture, as `uname` prints it.
    pub machine: String,
    /// The version of the installed package.
    pub version: Option<String>,
    /// The SHA-256 of the last package that this command installed.
    pub package: Option<String>,
    /// The status text of dpkg for a package that is only partly installed.
    pub broken: Option<String>,
    /// The path of a program `wrun` that does not belong to the package.
    pub other: Option<String>,
    /// Paths of wanted files where the machine has links.
    pub links: Vec<String>,
    /// Wanted files that exist, by path.
    pub files: BTreeMap<String, FoundFile>,
}

/// A file that exists on the machine.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FoundFile {
    /// Its mode, in octal digits.
    pub mode: String,
    /// Its owner, as numeric `USER:GROUP`.
    pub owner: String,
    /// The SHA-256 of its content.
    pub sha256: String,
}

/// One step on the machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// The package is installed.
    Package(Package),
    /// A file is written, with its mode.
    Put(WantedFile),
    /// A file gets its mode and belongs to root.
    Mode(WantedFile),
    /// The first run of the node.
    Converge,
}

impl Step {
    /// Returns a description of the step that follows "would".
    #[must_use]
    pub fn words(&self) -> String {
        match self {
            Self::Package(Package::File { path, sha256, .. }) => {
                format!("install {} (SHA-256 {sha256})", path.display())
            }
            Self::Package(Package::Url { url, sha256 }) => format!("fetch {url} (SHA-256 {sha256}) and install it"),
            Self::Put(file) => format!("write {} (mode 0{})", file.path, file.mode),
            Self::Mode(file) => format!("set mode 0{} and owner root of {}", file.mode, file.path),
            Self::Converge => "run wrun converge".to_owned(),
        }
    }
}

/// A file that exists with different content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The file in its wanted form.
    pub wanted: WantedFile,
}

impl Change {
    /// Returns whether the content on the machine can be replaced without asking. This is true for TOML with only comments
    /// and blank lines, like the package's own file.
    #[must_use]
    pub fn loses_nothing(&self, there: &str) -> bool {
        let is_comment = |line: &str| line.trim().is_empty() || line.trim_start().starts_with('#');
        !self.wanted.is_secret && self.wanted.path.ends_with(".toml") && there.lines().all(is_comment)
    }
}

/// The plan for a machine.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Plan {
    /// The steps, in order.
    pub steps: Vec<Step>,
    /// Descriptions of parts that are already correct.
    pub unchanged: Vec<String>,
    /// Files with content that would be lost.
    pub changes: Vec<Change>,
    /// Messages for the user.
    pub notes: Vec<String>,
}

/// Compares the machine's current state with its desired state.
///
/// # Errors
/// Nothing can be done there; a sentence with what to do.
pub fn plan(wanted: &Wanted, found: &Found) -> Result<Plan, String> {
    if found.machine != MACHINE {
        return Err(format!("the machine is {}, and packages of wrun are for {MACHINE}", found.machine));
    }
    if let Some(link) = found.links.first() {
        return Err(format!("{link} is a link on the machine, and bootstrap does not write where it leads: remove it"));
    }
    let mut plan = Plan::default();
    match (&wanted.package, &found.version) {
        (None, None) => {
            return Err("the machine does not have wrun's package: name one with --package or --package-url".to_owned());
        }
        (Some(package), Some(version)) if found.package.as_deref() == Some(package.sha256()) => {
            plan.unchanged.push(format!("package wrun {version}"));
        }
        (Some(package), version) => {
            if let Some(version) = version {
                plan.notes.push(format!("wrun {version} is replaced by the package"));
            }
            plan.steps.push(Step::Package(package.clone()));
        }
        (None, Some(version)) => plan.unchanged.push(format!("package wrun {version}")),
    }
    if let Some(broken) = &found.broken {
        plan.notes.push(format!("wrun's package is not whole on the machine ({broken}): it is installed again"));
    }
    if let Some(other) = &found.other {
        plan.notes.push(format!("{other} did not come with the package: remove it, or it may be started instead"));
    }
    for file in &wanted.files {
        match found.files.get(file.path) {
            Some(there) if there.sha256 != file.sha256() => {
                plan.changes.push(Change { wanted: file.clone() });
                plan.steps.push(Step::Put(file.clone()));
            }
            Some(there) if there.mode != file.mode || there.owner != "0:0" => plan.steps.push(Step::Mode(file.clone())),
            Some(_) => plan.unchanged.push(file.path.to_owned()),
            None => plan.steps.push(Step::Put(file.clone())),
        }
    }
    plan.steps.push(Step::Converge);
    Ok(plan)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wanted::Settings;

    fn wanted() -> Wanted {
        let package = Package::Url { url: "https://x/wrun.deb".into(), sha256: "ab".into() };
        let settings =
            Settings { policy_names: vec!["web".into()], policy_group: "prod".into(), ..Settings::default() };
        Wanted::new(Some(package), &settings, None, Some(b"[policy.web]\n".to_vec()), None)
    }

    fn words(plan: &Plan) -> Vec<String> {
        plan.steps.iter().map(Step::words).collect()
    }

    #[test]
    fn a_new_machine_gets_everything() {
        let found = Found { machine: "x86_64".into(), ..Found::default() };
        let plan = plan(&wanted(), &found).unwrap();
        let expect = [
            "fetch https://x/wrun.deb (SHA-256 ab) and install it",
            "write /etc/wrun/grants.toml (mode 0644)",
            "write /etc/wrun/wrun.toml (mode 0644)",
            "run wrun converge",
        ];
        assert_eq!(words(&plan), expect);
        assert!(plan.changes.is_empty());
    }

    #[test]
    fn only_what_differs_is_done_again() {
        let wanted = wanted();
        let file = |file: &WantedFile| {
            let there = FoundFile { mode: file.mode.into(), owner: "0:0".into(), sha256: file.sha256() };
            (file.path.to_owned(), there)
        };
        let mut found = Found {
            machine: "x86_64".into(),
            version: Some("0.1.0".into()),
            package: Some("ab".into()),
            files: wanted.files.iter().map(file).collect(),
            ..Found::default()
        };
        assert_eq!(words(&plan(&wanted, &found).unwrap()), ["run wrun converge"]);
        found.files.get_mut("/etc/wrun/grants.toml").unwrap().mode = "666".into();
        found.files.get_mut("/etc/wrun/wrun.toml").unwrap().sha256 = "0".into();
        let plan = plan(&wanted, &found).unwrap();
        assert_eq!(words(&plan)[0], "set mode 0644 and owner root of /etc/wrun/grants.toml");
        assert_eq!(plan.changes.len(), 1);
        found.package = Some("cd".into());
        assert_eq!(super::plan(&wanted, &found).unwrap().notes, ["wrun 0.1.0 is replaced by the package"]);
    }

    #[test]
    fn settings_that_hold_comments_alone_may_be_replaced() {
        let check = |path: &'static str, is_secret: bool, there: &str, expected: bool| {
            let mut file = wanted().files[0].clone();
            (file.path, file.is_secret) = (path, is_secret);
            assert_eq!(Change { wanted: file }.loses_nothing(there), expected, "{path}: {there}");
        };
        check("/etc/wrun/wrun.toml", false, "# log_level = \"info\"\n\n", true);
        check("/etc/wrun/wrun.toml", false, "log_level = \"info\"\n", false);
        check("/etc/wrun/wrun.toml", true, "# a\n", false);
        check("/etc/wrun/key", false, "# a\n", false);
    }

    #[test]
    fn what_cannot_be_done_is_said() {
        let check = |change: &dyn Fn(&mut Found), package: bool, expect: &str| {
            let mut wanted = wanted();
            if !package {
                wanted.package = None;
            }
            let mut found = Found { machine: "x86_64".into(), ..Found::default() };
            change(&mut found);
            let error = plan(&wanted, &found).unwrap_err();
            assert!(error.contains(expect), "{error}");
        };
        check(&|found| found.machine = "aarch64".into(), true, "the machine is aarch64");
        check(&|found| found.links.push("/etc/wrun/wrun.toml".into()), true, "is a link on the machine");
        check(&|_| {}, false, "name one with --package");
    }
}
