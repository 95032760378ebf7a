//! A small systemd of our own on a private bus: what is asked of the real one, and what its answers mean.

use super::*;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex};
use zbus::connection::Builder;
use zbus::{ObjectPath, fdo, interface};

#[derive(Debug, Default)]
struct State {
    active: &'static str,
    file: &'static str,
    result: &'static str,
    /// What becomes of `active` when something is started.
    after_start: &'static str,
    calls: Vec<String>,
}

type Shared = Arc<Mutex<State>>;

struct Manager(Shared);
struct Unit(Shared);
struct ServiceUnit(Shared);

const UNIT_PATH: &str = "/org/freedesktop/systemd1/unit/web_2eservice";

fn path(path: &'static str) -> OwnedObjectPath {
    ObjectPath::try_from(path).unwrap().into()
}

impl Manager {
    fn note(&self, call: String) {
        self.0.lock().unwrap().calls.push(call);
    }

    fn job(&self, verb: &str, name: &str, active: &'static str) -> fdo::Result<OwnedObjectPath> {
        if name != "web.service" {
            return Err(fdo::Error::FileNotFound(format!("Unit {name} not found.")));
        }
        self.note(format!("{verb} {name}"));
        self.0.lock().unwrap().active = active;
        Ok(path("/org/freedesktop/systemd1/job/1"))
    }
}

type Changes = Vec<(String, String, String)>;

#[interface(name = "org.freedesktop.systemd1.Manager")]
impl Manager {
    fn load_unit(&self, name: &str) -> fdo::Result<OwnedObjectPath> {
        if name == "web.service" { Ok(path(UNIT_PATH)) } else { Err(fdo::Error::Failed("no".into())) }
    }

    fn start_unit(&self, name: &str, mode: &str) -> fdo::Result<OwnedObjectPath> {
        let after = self.0.lock().unwrap().after_start;
        self.job(&format!("start-{mode}"), name, after)
    }

    fn stop_unit(&self, name: &str, _mode: &str) -> fdo::Result<OwnedObjectPath> {
        self.job("stop", name, "inactive")
    }

    fn restart_unit(&self, name: &str, _mode: &str) -> fdo::Result<OwnedObjectPath> {
        self.job("restart", name, "active")
    }

    fn reload_unit(&self, name: &str, _mode: &str) -> fdo::Result<OwnedObjectPath> {
        self.job("reload", name, "active")
    }

    fn enable_unit_files(&self, names: Vec<String>, runtime: bool, force: bool) -> (bool, Changes) {
        self.note(format!("enable {names:?} {runtime} {force}"));
        self.0.lock().unwrap().file = "enabled";
        (true, vec![])
    }

    fn disable_unit_files(&self, names: Vec<String>, _runtime: bool) -> Changes {
        self.note(format!("disable {names:?}"));
        self.0.lock().unwrap().file = "disabled";
        vec![]
    }

    fn mask_unit_files(&self, names: Vec<String>, runtime: bool, force: bool) -> Changes {
        self.note(format!("mask {names:?} {runtime} {force}"));
        self.0.lock().unwrap().file = "masked";
        vec![]
    }

    fn unmask_unit_files(&self, names: Vec<String>, _runtime: bool) -> Changes {
        self.note(format!("unmask {names:?}"));
        self.0.lock().unwrap().file = "disabled";
        vec![]
    }

    fn reload(&self) {
        self.note("daemon-reload".into());
    }
}

#[interface(name = "org.freedesktop.systemd1.Unit")]
impl Unit {
    #[zbus(property)]
    fn active_state(&self) -> String {
        self.0.lock().unwrap().active.into()
    }

    #[zbus(property)]
    fn unit_file_state(&self) -> String {
        self.0.lock().unwrap().file.into()
    }
}

#[interface(name = "org.freedesktop.systemd1.Service")]
impl ServiceUnit {
    #[zbus(property)]
    fn result(&self) -> String {
        self.0.lock().unwrap().result.into()
    }
}

/// A bus with a systemd that has one service, `web`.
fn fake(state: State) -> (Bus, Shared) {
    let shared = Arc::new(Mutex::new(state));
    let (ours, theirs) = UnixStream::pair().unwrap();
    let served = Arc::clone(&shared);
    std::thread::spawn(move || {
        zbus::block_on(async {
            let _connection = Builder::unix_stream(theirs)
                .server("0123456789abcdef0123456789abcdef")
                .p2p()
                .serve_at(PATH, Manager(Arc::clone(&served)))
                .serve_at(UNIT_PATH, Unit(Arc::clone(&served)))
                .serve_at(UNIT_PATH, ServiceUnit(served))
                .build()
                .await
                .unwrap();
            std::future::pending::<()>().await;
        });
    });
    let connection = zbus::block_on(Builder::unix_stream(ours).p2p().build()).unwrap();
    (Bus(connection), shared)
}

fn state(active: &'static str, file: &'static str) -> State {
    State { active, file, result: "success", after_start: "active", ..State::default() }
}

fn granted(name: &str) -> GrantedService {
    grants::Grants::allow_all().policy("p", &[]).service(name).unwrap()
}

#[test]
fn a_name_without_the_kind_of_a_unit_is_a_services() {
    for (name, unit) in
        [("web", "web.service"), ("a.b", "a.b.service"), ("x.socket", "x.socket"), ("web.service", "web.service")]
    {
        assert_eq!(unit_name(name), unit);
    }
}

#[test]
fn the_states_of_units_mean_what_they_mean_in_chef() {
    for (file, enabled, masked, fixed) in [
        ("enabled", true, false, false),
        ("enabled-runtime", false, false, false),
        ("disabled", false, false, false),
        ("static", true, false, true),
        ("indirect", true, false, true),
        ("generated", true, false, false),
        ("masked", false, true, false),
        ("", false, false, false),
    ] {
        let (bus, _) = fake(state("active", file));
        assert_eq!(bus.standing("web").unwrap(), Standing { enabled, masked, fixed }, "{file}");
    }
    for (active, expect) in [("active", true), ("activating", false), ("failed", false), ("inactive", false)] {
        assert_eq!(fake(state(active, "")).0.is_active("web").unwrap(), expect, "{active}");
    }
}

#[test]
fn attack_units_are_enabled_and_masked_without_replacing_others() {
    let (bus, shared) = fake(state("inactive", "disabled"));
    bus.enable(&granted("web"), true).unwrap();
    bus.enable(&granted("web.service"), false).unwrap();
    bus.mask(&granted("web"), true).unwrap();
    bus.mask(&granted("web"), false).unwrap();
    let expect = [
        "enable [\"web.service\"] false false",
        "daemon-reload",
        "disable [\"web.service\"]",
        "daemon-reload",
        "mask [\"web.service\"] false false",
        "daemon-reload",
        "unmask [\"web.service\"]",
        "daemon-reload",
    ];
    assert_eq!(shared.lock().unwrap().calls, expect);
}

#[test]
fn jobs_are_waited_for_and_judged() {
    let (minute, account) = (Duration::from_secs(60), Account::unmetered("web"));
    let (bus, shared) = fake(state("inactive", "disabled"));
    bus.job(&granted("web"), Way::Start, minute, &account).unwrap();
    assert!(bus.is_active("web").unwrap());
    bus.job(&granted("web"), Way::Reload, minute, &account).unwrap();
    bus.job(&granted("web"), Way::Restart, minute, &account).unwrap();
    bus.job(&granted("web"), Way::Stop, minute, &account).unwrap();
    let expect = ["start-replace web.service", "reload web.service", "restart web.service", "stop web.service"];
    assert_eq!(shared.lock().unwrap().calls, expect);
    let (bus, _) = fake(State { after_start: "failed", result: "exit-code", ..state("inactive", "") });
    let error = bus.job(&granted("web"), Way::Start, minute, &account).unwrap_err();
    assert_eq!(error.class(), "Chef::Exceptions::Service");
    assert_eq!(error.message, "service web is failed after `start`: exit-code");
    let error = bus.job(&granted("absent"), Way::Start, minute, &account).unwrap_err();
    assert!(error.message.contains("Unit absent.service not found."), "{}", error.message);
}
