//! The package's units, and services of policies, on a machine that systemd booted.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, and helpers are not tests to the lints")]

use specs::{Booted, Program, Root, booted};
use std::fs;
use std::path::{Path, PathBuf};

/// A service of a policy's own, whose configuration makes it start again.
const RECIPE: &str = "file '/etc/hello.conf' do
  content \"greeting\\n\"
  notifies :restart, 'service[hello]'
end
systemd_unit 'hello.service' do
  content(Unit: { Description: 'says hello' }, Service: { ExecStart: '/bin/sleep infinity' }, Install: { WantedBy: 'multi-user.target' })
  action [:create, :enable]
end
service 'hello' do
  action :start
end
";

const GRANTS: &str = "[policy.web]
paths = [\"/etc/hello.conf\"]
privileged_paths = [\"/etc/systemd/system/hello.service\"]
services = [\"hello\"]
";

/// A root with the package's units and the policy `web`. The agent begins a run at once, starts again at once after its
/// end, and has a short watchdog.
struct Node {
    program: Program,
    root: Root,
}

impl Node {
    fn new() -> Self {
        let (program, root) = (Program::new().unwrap(), Root::with_packages(&booted::PACKAGES).unwrap());
        let policy = program.configuration().join("web");
        for (path, text) in [("metadata.rb", "name 'web'\nversion '1.0.0'\n"), ("recipes/default.rb", RECIPE)] {
            let path = policy.join("cookbooks/web").join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        fs::write(policy.join("policy.toml"), "name = \"web\"\nrun_list = [\"web\"]\n").unwrap();
        let output = program.configuration();
        let words = ["policy".as_ref(), "build".as_ref(), policy.as_os_str(), "-o".as_ref(), output.as_os_str()];
        let _ = program.run(&words).unwrap().expect_code(0).unwrap();
        let built = output.join("web.wasm");
        root.write("etc/wrun/policies/web.wasm", fs::read(built).unwrap()).unwrap();
        root.write("etc/wrun/grants.toml", GRANTS).unwrap();
        let settings = "policies = \"/etc/wrun/policies\"\npolicy_name = [\"web\"]\nnode_name = \"n1\"\nsplay = \"0s\"\nmin_free_mib = 1\n";
        root.write("etc/wrun/wrun.toml", settings).unwrap();
        let units = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../packaging/systemd");
        for unit in fs::read_dir(units).unwrap() {
            let unit = unit.unwrap();
            let name = unit.file_name().into_string().unwrap();
            root.write(format!("usr/lib/systemd/system/{name}"), fs::read(unit.path()).unwrap()).unwrap();
        }
        let drop_in = |unit: &str, text: &str| root.write(format!("etc/systemd/system/{unit}.d/test.conf"), text);
        drop_in("wrun-agent.service", "[Service]\nRestartSec=0\nWatchdogSec=10s\n").unwrap();
        drop_in("wrun-converge.timer", "[Timer]\nOnActiveSec=0\nRandomizedDelaySec=0\n").unwrap();
        Self { program, root }
    }

    /// Boots it. `None`: this machine forbids that.
    fn boot(&self) -> Option<Booted> {
        let program = self.program.executable();
        let runtime = std::env::var_os("WRUN_RUNTIME_DIR").map(PathBuf::from);
        let runtime = runtime.unwrap_or_else(|| program.parent().unwrap().join("../share/wrun"));
        let seen = [(program, "/usr/bin/wrun"), (&runtime as &Path, "/usr/share/wrun")];
        Booted::start(&self.root, &seen).unwrap()
    }
}

/// A property of a unit, as `systemctl show` prints it.
fn shown(machine: &Booted, unit: &str, property: &str) -> String {
    machine.says(&["systemctl", "show", "--value", "-p", property, unit]).unwrap()
}

#[test]
fn the_agents_unit_is_ready_watched_and_started_again() {
    let node = Node::new();
    let Some(machine) = node.boot() else { return };
    let agent = "wrun-agent.service";
    // With `Type=notify` the command waits for the agent's word.
    machine.says(&["systemctl", "enable", "--now", "wrun-agent"]).unwrap();
    assert_eq!(shown(&machine, agent, "ActiveState"), "active");
    machine
        .wait_for(&["systemctl", "show", "--value", "-p", "StatusText", agent], |said| said.contains("succeeded"))
        .unwrap();
    let journal = machine.says(&["journalctl", "--no-pager", "-o", "cat", "-u", "wrun-agent"]).unwrap();
    assert!(journal.contains("systemd_unit[hello.service] action create"), "{journal}");
    // The service of the policy runs, by systemd's own word, and not as a part of the agent.
    assert_eq!(machine.says(&["systemctl", "is-active", "hello"]).unwrap(), "active");
    assert_eq!(machine.says(&["systemctl", "is-enabled", "hello"]).unwrap(), "enabled");
    let first = shown(&machine, agent, "MainPID");
    let group = machine.says(&["systemctl", "show", "--value", "-p", "ControlGroup", "hello"]).unwrap();
    assert_eq!(group, "/system.slice/hello.service");
    machine.says(&["systemctl", "reload", "wrun-agent"]).unwrap();
    machine.says(&["systemctl", "kill", "--signal=KILL", "wrun-agent"]).unwrap();
    // On a loaded machine the watchdog may end it once more.
    let restarted = |earlier: u32| move |said: &str| said.parse::<u32>().is_ok_and(|restarts| restarts > earlier);
    machine.wait_for(&["systemctl", "show", "--value", "-p", "NRestarts", agent], restarted(0)).unwrap();
    machine.wait_for(&["systemctl", "is-active", "wrun-agent"], |said| said == "active").unwrap();
    let second = shown(&machine, agent, "MainPID");
    assert_ne!(second, first);
    // One that no longer answers is ended by the watchdog.
    let restarts = shown(&machine, agent, "NRestarts").parse().unwrap();
    machine.says(&["systemctl", "kill", "--signal=STOP", "wrun-agent"]).unwrap();
    machine.wait_for(&["systemctl", "show", "--value", "-p", "NRestarts", agent], restarted(restarts)).unwrap();
    machine.wait_for(&["systemctl", "is-active", "wrun-agent"], |said| said == "active").unwrap();
    let journal = machine.says(&["journalctl", "--no-pager", "-o", "cat", "-u", "wrun-agent"]).unwrap();
    assert!(journal.contains("Watchdog timeout"), "{journal}");
    machine.says(&["systemctl", "stop", "wrun-agent"]).unwrap();
    let ended = ["ActiveState", "Result"].map(|property| shown(&machine, agent, property));
    assert_eq!(ended, ["inactive", "success"]);
    assert_eq!(machine.says(&["systemctl", "is-active", "hello"]).unwrap(), "active");
}

#[test]
fn the_timer_makes_runs_in_the_agents_place() {
    let node = Node::new();
    let Some(machine) = node.boot() else { return };
    machine.says(&["systemctl", "start", "wrun-agent"]).unwrap();
    let succeeded = |said: &str| said.contains("succeeded");
    machine.wait_for(&["systemctl", "show", "--value", "-p", "StatusText", "wrun-agent"], succeeded).unwrap();
    machine.says(&["systemctl", "start", "wrun-converge.timer"]).unwrap();
    let run = "wrun-converge.service";
    let has_ended = |said: &str| !said.is_empty() && said != "0";
    let ended = ["systemctl", "show", "--value", "-p", "ExecMainExitTimestampMonotonic", run];
    machine.wait_for(&ended, has_ended).unwrap();
    assert_eq!(["Result", "ExecMainStatus"].map(|property| shown(&machine, run, property)), ["success", "0"]);
    assert_eq!(shown(&machine, "wrun-agent", "ActiveState"), "inactive");
    let journal = machine.says(&["journalctl", "--no-pager", "-o", "cat", "-u", run]).unwrap();
    assert!(journal.contains(": 0 of 4 resources updated"), "{journal}");
    // What the operator changes by hand is put right, by way of systemd.
    machine.says(&["systemctl", "disable", "--now", "hello"]).unwrap();
    machine.says(&["sh", "-c", "echo other >/etc/hello.conf"]).unwrap();
    machine.says(&["wrun", "converge"]).unwrap();
    assert_eq!(machine.says(&["systemctl", "is-active", "hello"]).unwrap(), "active");
    assert_eq!(machine.says(&["systemctl", "is-enabled", "hello"]).unwrap(), "enabled");
}
