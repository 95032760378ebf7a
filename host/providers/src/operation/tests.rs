//! Operations that hold a secret are planned, and what they show of themselves is searched for it.

use crate::MachineProviders;
use contract::{CommandOutcome, CookbookFiles, Declaration, FileError, Property, Providers as _, Wanted};
use grants::Grants;
use machine::command::{Answers, Launch};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;

/// What no output for debugging may hold.
const SECRET: &str = "hunter2";

/// A commit that git need not be asked for.
const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

/// An entry of dpkg's for a package that is installed.
const INSTALLED: &str = "Package: tool\nStatus: install ok installed\nArchitecture: all\nVersion: 1.0\n\n";

/// A cookbook in which every file answers a question of the package `tool`.
struct Answering;

impl CookbookFiles for Answering {
    fn cookbooks(&self) -> Vec<(String, String)> {
        vec![]
    }
    fn paths(&self, _cookbook: &str, _folder: &str) -> Result<Vec<String>, FileError> {
        Ok(vec![])
    }
    fn read(&self, _cookbook: &str, _path: &str) -> Result<Vec<u8>, FileError> {
        Ok(format!("tool tool/password password {SECRET}\n").into_bytes())
    }
}

/// Programs that have nothing to say, and work.
fn answer(launch: &Launch) -> Option<CommandOutcome> {
    let output = match launch.words().first().map(String::as_str) {
        Some("apt-cache") => "new:\n  Installed: (none)\n  Candidate: 1.0\n  Version table:\n     1.0 500\n",
        Some("rpm") => "tool (none) 1.0 1 noarch\n",
        _ => "",
    };
    Some(CommandOutcome { code: Some(0), output: output.into(), ..CommandOutcome::default() })
}

fn providers(directory: &Path) -> MachineProviders {
    let root = directory.join("root");
    for folder in ["etc/systemd/system", "srv", "var/lib/dpkg"] {
        std::fs::create_dir_all(root.join(folder)).unwrap();
    }
    std::fs::write(root.join("etc/fstab"), format!("# {SECRET}\n")).unwrap();
    std::fs::write(root.join("var/lib/dpkg/status"), INSTALLED).unwrap();
    let mut settings = crate::tests::settings(directory, &Grants::allow_all());
    settings.files = Arc::new(Answering);
    settings.answers = Some(Answers::new(answer));
    MachineProviders::new(Arc::new(settings)).unwrap()
}

/// Plans an action of a sensitive resource, and looks at all that its steps hold. `operations`: those that must be among them.
#[track_caller]
fn check(kind: &str, action: &str, properties: Value, operations: &[&str]) {
    let directory = tempfile::tempdir().unwrap();
    let mut providers = providers(directory.path());
    let properties = properties.as_object().unwrap().iter();
    let declaration = Declaration {
        kind: kind.into(),
        name: "tool".into(),
        properties: properties.map(|(name, value)| (name.clone(), Property::Plain(value.clone()))).collect(),
        origin: node::origin::Origin { cookbook: Some("c".into()), ..node::origin::Origin::policy("a") }.into(),
        sensitive: true,
        ..Declaration::default()
    };
    let wanted = Wanted { resource: 0, declaration: &declaration, action, resolved: vec![], why_run: false };
    let plan = providers.prepare(&wanted).unwrap().expected().0.plan().unwrap().0;
    let mut shown = format!("{:?} {:?}", plan.staging, plan.rejection);
    for step in plan.steps {
        shown.push_str(&format!(" {:?}", step.into_operation()));
    }
    assert!(!shown.contains(SECRET), "{kind} shows a secret: {shown}");
    // A list of bytes is the secret, too.
    assert!(!shown.contains("104, 117, 110, 116"), "{kind} shows the bytes of a secret: {shown}");
    for operation in operations {
        assert!(shown.contains(operation), "{kind} plans no {operation}: {shown}");
    }
}

#[test]
fn content_of_files_is_not_shown() {
    let file = json!({"path": "/srv/x", "content": SECRET, "verify": format!("true {SECRET}")});
    check("file", "create", file, &["WriteFile", "/srv/x"]);
    check(
        "systemd_unit",
        "create",
        json!({"content": format!("[Service]\nExecStart=/bin/{SECRET}\n")}),
        &["WriteFile"],
    );
    let mount =
        json!({"mount_point": "/srv", "device": "//h/x", "fstype": "cifs", "options": [format!("password={SECRET}")]});
    check("mount", "enable", mount.clone(), &["Sequence", "WriteFile"]);
    check("mount", "mount", mount, &["ChangeMounts"]);
    check("cron", "create", json!({"command": format!("/bin/x {SECRET}")}), &["WriteCrontab"]);
}

#[test]
fn commands_are_not_shown() {
    let line = format!("/bin/x {SECRET}");
    let execute = json!({"command": line, "environment": {"A": SECRET}, "input": SECRET});
    check("execute", "run", execute, &["RunCommand"]);
    check("bash", "run", json!({"code": line, "flags": format!("-o {SECRET}")}), &["RunCommand"]);
    let service = json!({"restart_command": line, "status_command": line, "init_command": line, "pattern": SECRET});
    check("service", "restart", service, &["ControlService", "Restart"]);
}

#[test]
fn options_and_answers_of_packages_are_not_shown() {
    let options = json!({"options": [format!("-o{SECRET}")], "environment": {"A": SECRET}});
    check("apt_package", "lock", options.clone(), &["ChangePackages", "apt-mark"]);
    check("apt_package", "remove", options.clone(), &["ChangePackages", "apt-get"]);
    check("dpkg_package", "purge", options.clone(), &["ChangePackages", "dpkg"]);
    check("dnf_package", "lock", options, &["ChangeRpmPackages", "dnf"]);
    let answered = json!({"response_file": "seed", "environment": {"A": SECRET}});
    check("apt_package", "reconfig", answered, &["Preseed", "dpkg-reconfigure"]);
    let new = json!({"package_name": "new", "options": [format!("-o{SECRET}")]});
    check("apt_package", "install", new, &["InstallFromArchives"]);
}

#[test]
fn addresses_and_passwords_are_not_shown() {
    let address = format!("https://example.org/x?token={SECRET}");
    let request = json!({"url": address, "message": SECRET, "headers": {"Authorization": SECRET}});
    check("http_request", "post", request, &["SendRequest"]);
    let git = json!({
        "destination": "/srv/x",
        "repository": address,
        "revision": COMMIT,
        "environment": {"A": SECRET},
        "additional_remotes": {"other": address},
        "enable_submodules": true,
    });
    check("git", "export", git, &["CloneRepository", "CheckOut", "UpdateSubmodules", "SetRemote", "RemoveRepository"]);
    check("user", "create", json!({"password": format!("$6${SECRET}")}), &["MakeUser"]);
}
