//! Where a case is run: folders of its own on the tester's machine, or a throw-away root where the case changes the
//! machine itself.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};
use specs::corpus::Found;
use specs::corpus::normal_form::replace;
use specs::{Network, Program, Root};

use crate::case::Case;

/// The node's name; Chef's runs had it too.
const NODE: &str = "corpus";

/// Seconds after which a run has hung.
const PATIENCE: &str = "1800";

/// The folder for temporary files that cookbooks use.
const TEMPORARY_FOLDER: &str = "/var/tmp";

/// Gives a run a folder for temporary files of its own: what one case leaves there is not found by another. The first
/// argument is that folder, then follow the names below `/var/tmp` that stay, `--`, and the command.
const OWN_TEMPORARY_FOLDER: &str = r#"set -e
exec 3</var/tmp
mount --bind "$1" /var/tmp
shift
while [ "$1" != -- ]; do
  mkdir -p "/var/tmp/$1"
  mount --no-canonicalize --bind "/proc/self/fd/3/$1" "/var/tmp/$1"
  shift
done
shift
exec 3<&- "$@"
"#;

/// What the tester may set to try another runtime.
const PASSED_ON: [&str; 2] = ["WRUN_RUNTIME_DIR", "WRUN_RUBY_LIBRARY"];

/// A case's folders.
pub(crate) struct Place {
    program: Program,
    /// The throw-away root, for cases that need one.
    root: Option<Root>,
    /// Holds everything but the scratch folder of a throw-away root.
    base: tempfile::TempDir,
    /// The word `ROOT`, as the run sees it.
    scratch: String,
    /// The options that stay the same from run to run.
    options: Vec<String>,
    attributes: Value,
}

impl Place {
    pub(crate) fn new(case: &Case) -> Result<Self> {
        let base = tempfile::Builder::new().prefix(case.prefix).tempdir()?;
        // Commands of other users run in it.
        fs::set_permissions(base.path(), fs::Permissions::from_mode(0o755))?;
        let root = case.is("system").then(Root::new).transpose()?;
        let scratch = match &root {
            Some(_) => "/scratch".to_owned(),
            None => base.path().join("scratch").display().to_string(),
        };
        let mut place = Self {
            program: Program::new()?,
            root,
            base,
            scratch,
            options: vec![],
            attributes: case.settings.get("json_attributes").cloned().unwrap_or_else(|| json!({})),
        };
        place.fill(case)?;
        Ok(place)
    }

    /// What stands for a path in results.
    fn names(&self) -> Vec<(String, &'static str)> {
        let below = |name: &str| self.base.path().join(name).display().to_string();
        let cache = self.program.environment().into_iter().find(|(name, _)| *name == "WRUN_CACHE_DIR");
        let cache = cache.map(|(_, path)| (format!("{}/files/solo", path.to_string_lossy()), "CACHE"));
        let own = [(below("cookbooks"), "COOKBOOKS"), (self.scratch.clone(), "ROOT")];
        own.into_iter().chain(cache).collect()
    }

    /// The scratch folder as the tester sees it.
    fn scratch_folder(&self) -> Result<PathBuf> {
        self.root.as_ref().map_or_else(|| Ok(PathBuf::from(&self.scratch)), |root| root.at(&self.scratch))
    }

    fn fill(&mut self, case: &Case) -> Result<()> {
        let base = self.base.path().to_owned();
        let scratch = self.scratch_folder()?;
        for folder in [&scratch, &base.join("cookbooks"), &base.join("backups"), &base.join("temporary")] {
            fs::create_dir_all(folder)?;
        }
        fs::set_permissions(base.join("temporary"), fs::Permissions::from_mode(0o1777))?;
        self.copy(&case.folder.join("cookbooks"), &base.join("cookbooks"))?;
        if case.folder.join("before").is_dir() {
            self.copy(&case.folder.join("before"), &scratch)?;
        }
        let entries = |key: &str| case.settings.get(key).and_then(Value::as_object).into_iter().flatten();
        for (path, mode) in entries("before_modes") {
            let mode = u32::from_str_radix(mode.as_str().unwrap_or_default(), 8)?;
            let path = scratch.join(path);
            if !path.exists() {
                fs::create_dir_all(&path)?;
            }
            fs::set_permissions(path, fs::Permissions::from_mode(mode))?;
        }
        for (path, target) in entries("before_links") {
            symlink(self.in_place(target.as_str().unwrap_or_default()), scratch.join(path))?;
        }
        self.options = vec!["--cookbooks".into(), base.join("cookbooks").display().to_string()];
        for (key, option) in [
            ("roles", "--roles"),
            ("environments", "--environments"),
            ("nodes", "--nodes"),
            ("data_bags", "--data-bags"),
        ] {
            if let Some(documents) = case.settings.get(key) {
                let depth = if key == "data_bags" { 2 } else { 1 };
                self.write_documents(&base.join(key), documents, depth)?;
                self.options.extend([option.to_owned(), base.join(key).display().to_string()]);
            }
        }
        if let Some(environment) = case.settings.get("environment").and_then(Value::as_str) {
            self.options.extend(["--environment".into(), environment.into()]);
        }
        for (key, option) in [("run_list", "--run-list"), ("override_run_list", "--override-runlist")] {
            if let Some(items) = case.texts(key) {
                self.options.extend([option.to_owned(), items.join(",")]);
            }
        }
        if case.is("why_run") {
            self.options.push("--why-run".into());
        }
        Ok(())
    }

    /// The text with the scratch folder in its place.
    fn in_place(&self, text: &str) -> String {
        text.replace("ROOT", &self.scratch)
    }

    fn copy(&self, from: &Path, to: &Path) -> Result<()> {
        fs::create_dir_all(to)?;
        for entry in fs::read_dir(from).with_context(|| format!("cannot list {}", from.display()))? {
            let entry = entry?;
            let (source, target) = (entry.path(), to.join(entry.file_name()));
            if source.is_dir() {
                self.copy(&source, &target)?;
                continue;
            }
            match String::from_utf8(fs::read(&source)?) {
                Ok(text) => fs::write(&target, self.in_place(&text))?,
                Err(binary) => fs::write(&target, binary.into_bytes())?,
            }
            fs::set_permissions(&target, fs::Permissions::from_mode(0o644))?;
        }
        Ok(())
    }

    /// Writes an object's entries as JSON files; with a depth of two, its entries' entries in folders.
    fn write_documents(&self, folder: &Path, documents: &Value, depth: u32) -> Result<()> {
        fs::create_dir_all(folder)?;
        for (name, document) in documents.as_object().into_iter().flatten() {
            if depth > 1 {
                self.write_documents(&folder.join(name), document, depth - 1)?;
                continue;
            }
            let mut document = replace(document, &[("ROOT".to_owned(), self.scratch.as_str())]);
            let key = if folder.parent().is_some_and(|above| above.ends_with("data_bags")) { "id" } else { "name" };
            if let Some(object) = document.as_object_mut() {
                object.entry(key).or_insert_with(|| json!(name));
            }
            fs::write(folder.join(format!("{name}.json")), document.to_string())?;
        }
        Ok(())
    }

    /// Makes a run. Returns its result and what it said on standard error.
    pub(crate) fn run(&self, case: &Case, run: u64) -> Result<(Found, String)> {
        let attributes = self.attributes.get(format!("run{run}")).unwrap_or(&self.attributes);
        let attributes = replace(attributes, &[("ROOT".to_owned(), self.scratch.as_str())]);
        let file = self.base.path().join("attributes.json");
        fs::write(&file, attributes.to_string())?;
        let output = match &self.root {
            Some(root) => {
                let machine = root.machine(Network::Own)?;
                let mut command = machine.outside("timeout");
                command.args([PATIENCE.as_ref(), self.program.executable().as_os_str()]);
                command.args(self.arguments(&file)).arg("--root").arg(root.path());
                self.finish(command)?
            }
            None => {
                let mut command = Command::new("unshare");
                command.env_clear().env("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
                command.args(["--mount", "--propagation", "private", "sh", "-c", OWN_TEMPORARY_FOLDER, "sh"]);
                command.arg(self.base.path().join("temporary")).args(self.below_temporary_folder()).arg("--");
                command.args(["timeout", PATIENCE]).arg(self.program.executable()).args(self.arguments(&file));
                self.finish(command)?
            }
        };
        let (stdout, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        let Ok(json) = serde_json::from_str::<Value>(&stdout) else {
            bail!("{} run {run}: no JSON, {}:\n{stdout}{errors}", case.name, output.status);
        };
        let names = self.names();
        let tree = replace(&self.tree()?, &names);
        let found = Found { json: replace(&json, &names), tree, backups: self.backups()? };
        Ok((found, errors.into_owned()))
    }

    /// The names in the folder for temporary files that a run needs: the checkout or the tester's folders may lie there.
    fn below_temporary_folder(&self) -> BTreeSet<OsString> {
        let own = self.program.environment().into_iter().chain(passed_on()).map(|(_, value)| PathBuf::from(value));
        let needed = own.chain([self.program.executable().to_owned(), self.base.path().to_owned()]);
        let below = needed.filter_map(|path| path.strip_prefix(TEMPORARY_FOLDER).ok().map(Path::to_owned));
        below.filter_map(|path| Some(path.components().next()?.as_os_str().to_owned())).collect()
    }

    fn arguments(&self, attributes: &Path) -> Vec<String> {
        let mut arguments: Vec<String> =
            ["converge", "--format", "json", "--allow-all", "--node-name", NODE].map(str::to_owned).to_vec();
        arguments.extend(self.options.iter().cloned());
        arguments.extend(["-j".to_owned(), attributes.display().to_string()]);
        arguments
    }

    fn finish(&self, mut command: Command) -> Result<std::process::Output> {
        command.envs(self.program.environment()).env("WRUN_BACKUP_DIR", self.base.path().join("backups"));
        command.envs(passed_on());
        command.current_dir(self.base.path()).stdin(Stdio::null());
        command.output().with_context(|| format!("cannot start {}", command.get_program().display()))
    }

    /// What stands below the scratch folder, as the corpus writes it.
    fn tree(&self) -> Result<Value> {
        let etc = self.root.as_ref().map_or_else(|| PathBuf::from("/etc"), |root| root.path().join("etc"));
        let (users, groups) = (Accounts::read(&etc.join("passwd"))?, Accounts::read(&etc.join("group"))?);
        let top = self.scratch_folder()?;
        let mut tree = Map::new();
        let mut folders = vec![top.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder)? {
                let path = entry?.path();
                let about = path.symlink_metadata()?;
                let (owner, group) = (users.name(about.uid()), groups.name(about.gid()));
                let mode = format!("{:04o}", about.mode() & 0o7777);
                let entry = if about.is_symlink() {
                    let target = fs::read_link(&path)?.display().to_string();
                    json!({ "type": "link", "owner": owner, "group": group, "target": target })
                } else if about.is_dir() {
                    // Chef's recorder did not look into repositories either.
                    if path.file_name().is_none_or(|name| name != ".git") {
                        folders.push(path.clone());
                    }
                    json!({ "type": "directory", "owner": owner, "group": group, "mode": mode })
                } else {
                    let (key, content) = content(fs::read(&path)?);
                    json!({ "type": "file", "owner": owner, "group": group, "mode": mode, key: content })
                };
                tree.insert(path.strip_prefix(&top)?.display().to_string(), entry);
            }
        }
        Ok(Value::Object(tree))
    }

    /// Counts the backups of each path: `PATH.chef-TIME` below the backup folder of the policy that folders of cookbooks are.
    fn backups(&self) -> Result<Value> {
        let top = self.base.path().join("backups/solo");
        let mut counts: BTreeMap<String, u64> = BTreeMap::new();
        let mut folders = if top.exists() { vec![top.clone()] } else { vec![] };
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder)? {
                let path = entry?.path();
                if path.is_dir() {
                    folders.push(path);
                    continue;
                }
                let name = format!("/{}", path.strip_prefix(&top)?.display());
                let original = name.rsplit_once(".chef-").map_or(name.as_str(), |(original, _)| original);
                let inside = original.strip_prefix(&format!("{}/", self.scratch)).unwrap_or(original);
                *counts.entry(inside.to_owned()).or_default() += 1;
            }
        }
        Ok(json!(counts))
    }
}

/// The tester's variables that a run gets.
fn passed_on() -> impl Iterator<Item = (&'static str, OsString)> {
    PASSED_ON.into_iter().filter_map(|name| Some((name, std::env::var_os(name)?)))
}

/// A file's content, as the corpus writes text and what is none.
fn content(bytes: Vec<u8>) -> (&'static str, String) {
    match String::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => ("content", text),
        Ok(text) => ("content_base64", STANDARD.encode(text)),
        Err(binary) => ("content_base64", STANDARD.encode(binary.into_bytes())),
    }
}

/// Names by number, from a file like `/etc/passwd`.
struct Accounts(BTreeMap<u32, String>);

impl Accounts {
    fn read(path: &Path) -> Result<Self> {
        let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        let entry = |line: &str| {
            let mut fields = line.split(':');
            let name = fields.next()?.to_owned();
            Some((fields.nth(1)?.parse().ok()?, name))
        };
        Ok(Self(text.lines().rev().filter_map(entry).collect()))
    }

    fn name(&self, number: u32) -> String {
        self.0.get(&number).cloned().unwrap_or_else(|| number.to_string())
    }
}
