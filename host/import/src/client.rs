//! Converts a client.rb to settings. The file is Ruby, so an instance of the Ruby runtime evaluates it. This module decides
//! which of its settings exist in wrun.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use author::check::Readers;
use contract::{CookbookFiles, FileError, Question, RubyDocument};
use serde_json::Value;
use text::toml_string;

use crate::ImportError;
use crate::repository::{ask, with_line};

/// Largest size of a file, in bytes.
const MAX_FILE: u64 = 1 << 20;

/// Largest number of files in client.d.
const MAX_FILES: usize = 200;

/// Largest number of settings that are processed.
const MAX_SETTINGS: usize = 10_000;

/// A setting that was imported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Taken {
    /// Its name in the client.rb.
    pub from: String,
    /// The place that sets it: `/etc/chef/client.rb:3`.
    pub place: String,
    /// The line of wrun.toml.
    pub line: String,
}

/// A setting that was not imported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Left {
    /// Its name in the client.rb.
    pub name: String,
    /// The place that sets it.
    pub place: String,
    /// The reason, with advice.
    pub why: String,
}

/// The result of reading a client.rb.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ClientSettings {
    /// Settings that also exist in wrun.
    pub taken: Vec<Taken>,
    /// All other settings, without their values, since these can be secrets.
    pub left: Vec<Left>,
    /// The reasons why files were not read completely.
    pub stopped: Vec<String>,
}

impl ClientSettings {
    /// Returns the text of wrun.toml.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text =
            "# Settings of wrun, made by `wrun settings import`. docs/wrun.toml lists all of them.\n".to_owned();
        for Taken { from, place, line } in &self.taken {
            let place = text::escape_line(place);
            text.push_str(&format!("\n# {}, {place}\n{line}\n", text::escape_line(from)));
        }
        text
    }
}

/// Reads a client.rb and the files in client.d beside it. `is_setting` returns whether wrun accepts a line.
///
/// # Errors
/// A file cannot be read, or no instance of the Ruby runtime could be opened.
pub fn client_settings(
    file: &Path,
    is_setting: &dyn Fn(&str) -> Result<(), String>,
    readers: &impl Readers,
) -> Result<ClientSettings, ImportError> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |source| ImportError::Read { source: plain_files::explained(&path, source), path }
    };
    let file = std::path::absolute(file).map_err(failed(file))?;
    let folder = file.parent().unwrap_or(Path::new("/")).to_owned();
    let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let mut texts = BTreeMap::from([(name.clone(), plain_files::read_text(&file, MAX_FILE).map_err(failed(&file))?)]);
    for path in parts(&folder.join("client.d")) {
        let text = plain_files::read_text(&path, MAX_FILE).map_err(failed(&path))?;
        let below = path.strip_prefix(&folder).unwrap_or(&path).to_string_lossy().into_owned();
        texts.insert(below, text);
    }
    let files = Arc::new(Files(texts.clone()));
    let mut settings = ClientSettings::default();
    let mut said: BTreeMap<String, Said> = BTreeMap::new();
    // As in Chef, the files in client.d come after client.rb and override it.
    let order = std::iter::once(&name).chain(texts.keys().filter(|other| **other != name));
    for below in order {
        let path = folder.join(below);
        let source = texts.get(below).cloned().unwrap_or_default();
        let asked = RubyDocument { name: FOLDER.to_owned(), file: path.display().to_string(), source };
        match ask(readers, Arc::clone(&files) as _, Question::ClientSettings(asked))? {
            Ok(answer) => take(&answer, &mut said, &mut settings.stopped),
            Err(failure) => settings.stopped.push(format!("{}: {}", path.display(), with_line(&failure, &path))),
        }
    }
    judge(said, is_setting, &mut settings);
    Ok(settings)
}

/// Returns the Ruby files of client.d, sorted. If it is missing, the list is empty.
fn parts(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut files: Vec<_> =
        entries.filter(|path| path.extension().is_some_and(|ending| ending == "rb")).take(MAX_FILES).collect();
    files.sort();
    files
}

/// A setting as written in the client.rb.
#[derive(Debug, Clone, PartialEq)]
struct Said {
    place: String,
    value: Value,
}

fn take(answer: &Value, said: &mut BTreeMap<String, Said>, stopped: &mut Vec<String>) {
    let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let place = |value: &Value| match value.get("line").and_then(Value::as_u64).unwrap_or_default() {
        0 => text(value, "file"),
        line => format!("{}:{line}", text(value, "file")),
    };
    for one in answer.get("said").and_then(Value::as_array).into_iter().flatten().take(MAX_SETTINGS) {
        let value = one.get("value").cloned().unwrap_or_default();
        // Each `require` is a setting of its own.
        let key = match text(one, "key").as_str() {
            "require" => format!("require {}", value.as_str().unwrap_or_default()),
            key => key.to_owned(),
        };
        said.insert(key, Said { place: place(one), value });
    }
    if let Some(one) = answer.get("stopped").filter(|one| !one.is_null()) {
        stopped.push(format!("{}: {}", place(one), text(one, "message")));
    }
}

/// Settings that wrun has under the same or a different name.
const SAME: [(&str, &str, Form); 35] = [
    ("node_name", "node_name", Form::Text),
    ("chef_server_url", "chef_server", Form::Text),
    ("client_key", "chef_client_key", Form::Text),
    ("policy_name", "policy_name", Form::List),
    ("policy_group", "policy_group", Form::Text),
    ("log_level", "log_level", Form::Text),
    ("log_location", "log_location", Form::Log),
    ("interval", "interval", Form::Seconds),
    ("splay", "splay", Form::Seconds),
    ("run_lock_timeout", "lock_timeout", Form::Number),
    ("encrypted_data_bag_secret", "encrypted_data_bag_secret", Form::Text),
    ("data_bag_path", "data_bags", Form::First),
    ("role_path", "roles", Form::First),
    ("environment_path", "environments", Form::First),
    ("file_backup_path", "backup_dir", Form::Text),
    ("formatter", "format", Form::Text),
    ("formatters", "format", Form::First),
    ("color", "color", Form::Color),
    ("automatic_attribute_whitelist", "allowed_automatic_attributes", Form::List),
    ("default_attribute_whitelist", "allowed_default_attributes", Form::List),
    ("normal_attribute_whitelist", "allowed_normal_attributes", Form::List),
    ("override_attribute_whitelist", "allowed_override_attributes", Form::List),
    ("automatic_attribute_blacklist", "blocked_automatic_attributes", Form::List),
    ("default_attribute_blacklist", "blocked_default_attributes", Form::List),
    ("normal_attribute_blacklist", "blocked_normal_attributes", Form::List),
    ("override_attribute_blacklist", "blocked_override_attributes", Form::List),
    ("allowed_automatic_attributes", "allowed_automatic_attributes", Form::List),
    ("allowed_default_attributes", "allowed_default_attributes", Form::List),
    ("allowed_normal_attributes", "allowed_normal_attributes", Form::List),
    ("allowed_override_attributes", "allowed_override_attributes", Form::List),
    ("blocked_automatic_attributes", "blocked_automatic_attributes", Form::List),
    ("blocked_default_attributes", "blocked_default_attributes", Form::List),
    ("blocked_normal_attributes", "blocked_normal_attributes", Form::List),
    ("blocked_override_attributes", "blocked_override_attributes", Form::List),
    // The environment becomes the policy group if no group is set.
    ("environment", "policy_group", Form::Text),
];

/// The form of a value in wrun.toml.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Text,
    Number,
    Seconds,
    List,
    /// The first value of a list.
    First,
    Log,
    Color,
}

/// Settings that wrun does not have, by the prefix of their names, with the reasons.
const OTHERS: [(&str, &str); 30] = [
    ("chef_server", "wrun reads local files and signed repositories: see `repository` in docs/wrun.toml"),
    ("chef_license", "wrun asks for no licence"),
    ("validation_", "nodes register nowhere"),
    ("validator", "nodes register nowhere"),
    ("client_registration", "nodes register nowhere"),
    ("ssl_", "there is no Chef server; downloads are verified with the system's certificates"),
    ("verify_api_cert", "there is no Chef server"),
    ("trusted_certs_dir", "downloads are verified with the system's certificates"),
    ("http_proxy", "wrun does not use a proxy"),
    ("https_proxy", "wrun does not use a proxy"),
    ("ftp_proxy", "wrun does not use a proxy"),
    ("no_proxy", "wrun does not use a proxy"),
    ("cookbook_path", "policies bring their cookbooks; `wrun converge --cookbooks` takes cookbooks from folders"),
    ("cookbook_artifact_path", "policies bring their cookbooks"),
    ("chef_repo_path", "`wrun policy import` makes policies of a Chef repository"),
    ("file_cache_path", "`cache_dir` is wrun's own, and holds other files"),
    ("checksum_path", "`cache_dir` is wrun's own, and holds other files"),
    ("pid_file", "the agent needs no such file"),
    ("lockfile", "the lock lies in `state_dir`"),
    ("daemonize", "`wrun agent` is a service: see docs/agent.md"),
    ("local_mode", "wrun always runs locally"),
    ("start_handlers", "a program in `[[handlers]]` with on = [\"start\"] hears of runs: see docs/events.md"),
    ("report_handlers", "a program in `[[handlers]]` with on = [\"report\"] hears of runs: see docs/events.md"),
    ("exception_handlers", "a program in `[[handlers]]` with on = [\"exception\"] hears of runs: see docs/events.md"),
    ("data_collector", "`[[report]]` sends wrun's own JSON: see docs/reports.md"),
    ("ohai", "facts are wrun's own: no plugins run"),
    ("knife", "it is knife's"),
    ("use_policyfile", "wrun has policies only"),
    ("deployment_group", "`policy_group` names the group"),
    ("require ", "libraries and handlers of Ruby do not run in wrun itself"),
];

fn judge(
    mut said: BTreeMap<String, Said>,
    is_setting: &dyn Fn(&str) -> Result<(), String>,
    settings: &mut ClientSettings,
) {
    let left = |name: &str, said: &Said, why: &str| Left {
        name: name.to_owned(),
        place: said.place.clone(),
        why: why.to_owned(),
    };
    for (from, to, form) in &SAME {
        let Some(one) = said.remove(*from) else { continue };
        let known =
            |settings: &ClientSettings| settings.taken.iter().any(|taken| taken.line.starts_with(&format!("{to} =")));
        if known(settings) {
            settings.left.push(left(from, &one, &format!("`{to}` is set already")));
            continue;
        }
        match value(*form, &one.value) {
            Ok(None) => settings.left.push(left(from, &one, "it is what wrun does anyway")),
            Ok(Some(value)) => {
                let line = format!("{to} = {value}");
                match is_setting(&line) {
                    Ok(()) => settings.taken.push(Taken { from: (*from).to_owned(), place: one.place, line }),
                    Err(why) => settings.left.push(left(from, &one, &why)),
                }
            }
            Err(why) => settings.left.push(left(from, &one, why)),
        }
    }
    for (name, one) in said {
        let why = OTHERS.iter().find(|(start, _)| name.starts_with(start)).map(|(_, why)| *why);
        settings.left.push(left(&name, &one, why.unwrap_or("wrun has no such setting")));
    }
    settings.left.sort_by(|one, other| place_key(&one.place).cmp(&place_key(&other.place)));
}

/// Returns the file and the line number of a place, as a key for sorting.
fn place_key(place: &str) -> (&str, u64) {
    let (file, line) = place.rsplit_once(':').unwrap_or((place, ""));
    line.parse().map_or((place, 0), |line| (file, line))
}

/// Returns a value as TOML, or `None` if it is wrun's default behaviour.
fn value(form: Form, value: &Value) -> Result<Option<String>, &'static str> {
    const KIND: &str = "its value is of another kind than wrun's setting";
    const COMPUTED: &str = "its value is an object of Ruby";
    if value.get("foreign").is_some() {
        return Err(COMPUTED);
    }
    let list = value.get("list").and_then(Value::as_array);
    if value.is_null() {
        return Ok(None);
    }
    match form {
        Form::Text => match value.as_str() {
            Some("auto" | "") => Ok(None),
            Some(text) => Ok(Some(toml_string(text))),
            None => Err(KIND),
        },
        Form::Number => value.as_u64().map(|number| Some(number.to_string())).ok_or(KIND),
        Form::Seconds => value.as_u64().map(|number| Some(toml_string(&format!("{number}s")))).ok_or(KIND),
        Form::First => match value.as_str().or_else(|| first_text(list?)) {
            Some(text) => Ok(Some(toml_string(text))),
            None => Err(KIND),
        },
        Form::Log => match value.as_str() {
            Some("STDOUT" | "STDERR") => Ok(None),
            Some("syslog") => Ok(Some(toml_string("journald"))),
            Some(text) if text.starts_with('/') => Ok(Some(toml_string(text))),
            _ => Err(KIND),
        },
        Form::Color => match value.as_bool() {
            Some(true) => Ok(None),
            Some(false) => Ok(Some(toml_string("never"))),
            None => Err(KIND),
        },
        Form::List => {
            let one = value.as_str().map(toml_string);
            let several = list
                .and_then(|list| list.iter().map(|item| item.as_str().map(toml_string)).collect::<Option<Vec<_>>>());
            match one.map(|one| vec![one]).or(several) {
                Some(items) => Ok(Some(format!("[{}]", items.join(", ")))),
                None => Err(KIND),
            }
        }
    }
}

fn first_text(list: &[Value]) -> Option<&str> {
    let first = list.first()?;
    first.as_str().or_else(|| first_text(first.get("list")?.as_array()?))
}

/// The name of the client.rb's folder inside the sandbox.
const FOLDER: &str = "client-settings";

/// The files that a client.rb may read: itself and those of client.d. Key files in the same folder are not included.
struct Files(BTreeMap<String, String>);

impl CookbookFiles for Files {
    fn cookbooks(&self) -> Vec<(String, String)> {
        vec![]
    }

    fn paths(&self, _: &str, folder: &str) -> Result<Vec<String>, FileError> {
        let prefix = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        Ok(self.0.keys().filter(|path| path.starts_with(&prefix)).cloned().collect())
    }

    fn read(&self, _: &str, path: &str) -> Result<Vec<u8>, FileError> {
        self.0.get(path).map(|text| text.clone().into_bytes()).ok_or_else(|| FileError::NoSuchFile(path.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn settings_are_taken_or_named() {
        let line =
            |key: &str, value: Value, line: u32| json!({ "key": key, "value": value, "file": "/c.rb", "line": line });
        let answer = json!({ "stopped": { "message": "NameError: x", "file": "/c.rb", "line": 20 }, "said": [
            line("log_level", json!("auto"), 1),
            line("log_location", json!("syslog"), 2),
            line("node_name", json!("old"), 3),
            line("node_name", json!("web 1"), 4),
            line("environment", json!("prod"), 5),
            line("policy_group", json!("stage"), 6),
            line("interval", json!(1800), 7),
            line("formatters", json!({"list": [{"list": ["doc", null]}]}), 8),
            line("chef_server_url", json!("https://chef"), 9),
            line("report_handlers", json!({"foreign": ["Mail", "Module"]}), 10),
            line("require", json!("mail"), 11),
            line("blocked_default_attributes", json!({"list": ["a/b", "c"]}), 12),
            line("my_own", json!(1), 13),
        ]});
        let (mut said, mut settings) = (BTreeMap::new(), ClientSettings::default());
        take(&answer, &mut said, &mut settings.stopped);
        let check = |line: &str| if line.contains("web 1") { Err("a name has no blanks".to_owned()) } else { Ok(()) };
        judge(said, &check, &mut settings);
        let lines: Vec<_> = settings.taken.iter().map(|taken| taken.line.as_str()).collect();
        let expect = [
            "chef_server = \"https://chef\"",
            "policy_group = \"stage\"",
            "log_location = \"journald\"",
            "interval = \"1800s\"",
            "format = \"doc\"",
            "blocked_default_attributes = [\"a/b\", \"c\"]",
        ];
        assert_eq!(lines, expect);
        let left: Vec<_> =
            settings.left.iter().map(|left| format!("{} {} {}", left.place, left.name, left.why)).collect();
        assert_eq!(left[0], "/c.rb:1 log_level it is what wrun does anyway");
        assert_eq!(left[1], "/c.rb:4 node_name a name has no blanks");
        assert_eq!(left[2], "/c.rb:5 environment `policy_group` is set already");
        assert!(left[3].contains("report_handlers a program") && left[4].contains("require mail"), "{left:?}");
        assert!(left[5].ends_with("my_own wrun has no such setting"), "{left:?}");
        assert_eq!(settings.stopped, ["/c.rb:20: NameError: x"]);
        assert!(settings.text().contains("# policy_group, /c.rb:6\npolicy_group = \"stage\"\n"));
    }
}
