//! Manages the child process `wrun policy test-server`: one for each policy and test program. It ends with the test program.

use serde_json::{Value, json};
use std::collections::HashMap;
use std::ffi::OsString;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Mutex, PoisonError};

/// The environment variable with the path of the program.
const VARIABLE: &str = "WRUN";

struct Server {
    child: Child,
    questions: ChildStdin,
    answers: BufReader<ChildStdout>,
    asked: u64,
}

static SERVERS: Mutex<Option<HashMap<PathBuf, Result<Server, String>>>> = Mutex::new(None);

/// Makes a run with the server of a policy. Tests run one after the other here.
pub(super) fn ask(folder: &Path, case: &Value) -> Result<Value, String> {
    let folder = folder.canonicalize().map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut servers = SERVERS.lock().unwrap_or_else(PoisonError::into_inner);
    let server = servers.get_or_insert_default().entry(folder.clone()).or_insert_with(|| Server::start(&folder));
    let server = server.as_mut().map_err(|why| why.clone())?;
    server.ask(case)
}

impl Server {
    fn start(folder: &Path) -> Result<Self, String> {
        let program = std::env::var_os(VARIABLE).unwrap_or_else(|| OsString::from("wrun"));
        let shown = program.to_string_lossy().into_owned();
        let mut command = Command::new(&program);
        command.args(["policy", "test-server"]).arg(folder).stdin(Stdio::piped()).stdout(Stdio::piped());
        command.env_remove(VARIABLE);
        // A developer who moves cargo's target folder wants the same folder for this build.
        if let Some(target) = std::env::var_os("CARGO_TARGET_DIR") {
            command.arg("--target-dir").arg(target);
        }
        let mut child = command.spawn().map_err(|error| {
            format!("the program `{shown}` cannot be started: {error}\nhint: install wrun, or set the variable {VARIABLE} to its path")
        })?;
        let (Some(questions), Some(answers)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(format!("the program `{shown}` has no standard input or output"));
        };
        let mut server = Self { child, questions, answers: BufReader::new(answers), asked: 0 };
        // The first line reports that the policy is built, or why it cannot be built.
        server.read()?;
        Ok(server)
    }

    fn ask(&mut self, case: &Value) -> Result<Value, String> {
        self.asked += 1;
        let line = json!({ "id": self.asked, "case": case }).to_string() + "\n";
        let sent = self.questions.write_all(line.as_bytes()).and_then(|()| self.questions.flush());
        sent.map_err(|error| format!("`wrun policy test-server` does not listen any more: {error}"))?;
        let mut answer = self.read()?;
        if answer.get("id").and_then(Value::as_u64) != Some(self.asked) {
            return Err("`wrun policy test-server` answered another question".to_owned());
        }
        match answer.get_mut("error").map(Value::take).filter(|error| !error.is_null()) {
            Some(Value::String(error)) => Err(error),
            Some(error) => Err(error.to_string()),
            None => Ok(answer),
        }
    }

    fn read(&mut self) -> Result<Value, String> {
        let mut line = String::new();
        let read = self.answers.read_line(&mut line);
        match read {
            Ok(0) => Err(match self.child.wait() {
                Ok(status) => format!("`wrun policy test-server` ended ({status}): its own words are above"),
                Err(error) => format!("`wrun policy test-server` ended: {error}"),
            }),
            Ok(_) => serde_json::from_str(&line).map_err(|error| format!("`wrun policy test-server`: {error}: {line}")),
            Err(error) => Err(format!("`wrun policy test-server` cannot be heard: {error}")),
        }
    }
}
