//! Every operation is planned, and what it was planned against is changed: its fingerprint shows that, and it is not carried
//! out.

use crate::operation::Operation;
use crate::{MachineProviders, ReadyPlan};
use contract::{
    Change, CommandOutcome, CookbookFiles, Declaration, ErrorKind, FileError, Property, Providers as _, Raised, Wanted,
};
use grants::Grants;
use machine::command::{Answers, Launch};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, lchown, symlink};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// The operations, in the order of the enum. Each is planned by a test below.
const OPERATIONS: [&str; 47] = [
    "Nothing",
    "WriteFile",
    "SetAccess",
    "Touch",
    "RemoveFile",
    "MakeDirectory",
    "RemoveDirectory",
    "PurgeDirectory",
    "MakeLink",
    "RemoveLink",
    "MakeGroup",
    "ChangeGroup",
    "RemoveGroup",
    "MakeUser",
    "ChangeUser",
    "RemoveUser",
    "LockUser",
    "RunCommand",
    "Preseed",
    "RefreshLists",
    "InstallFromArchives",
    "ChangePackages",
    "ChangeRpmPackages",
    "EnableService",
    "EnableAtBoot",
    "MaskService",
    "ChangeUnitLinks",
    "ControlService",
    "ReloadSystemd",
    "ControlUnit",
    "MakeDestination",
    "UnpackArchive",
    "GiveAway",
    "CloneRepository",
    "CheckOut",
    "Fetch",
    "UpdateSubmodules",
    "SetRemote",
    "RemoveRepository",
    "WriteCrontab",
    "ChangeMounts",
    "SendRequest",
    "GatherFacts",
    "RequestReboot",
    "CancelReboot",
    "Sleep",
    "Sequence",
];

/// Operations that are planned only where systemd runs, which it does not in a folder. What they found is what it said.
const NEED_SYSTEMD: [&str; 2] = ["EnableService", "MaskService"];

/// The place of an operation in [`OPERATIONS`]. A new operation needs a place, a name, and a test that plans it.
fn place(operation: &Operation) -> usize {
    match operation {
        Operation::Nothing | Operation::Scripted(_) => 0,
        Operation::WriteFile(_) => 1,
        Operation::SetAccess(_) => 2,
        Operation::Touch(_) => 3,
        Operation::RemoveFile(_) => 4,
        Operation::MakeDirectory(_) => 5,
        Operation::RemoveDirectory(_) => 6,
        Operation::PurgeDirectory(_) => 7,
        Operation::MakeLink(_) => 8,
        Operation::RemoveLink(_) => 9,
        Operation::MakeGroup(_) => 10,
        Operation::ChangeGroup(_) => 11,
        Operation::RemoveGroup(_) => 12,
        Operation::MakeUser(_) => 13,
        Operation::ChangeUser(_) => 14,
        Operation::RemoveUser(_) => 15,
        Operation::LockUser(_) => 16,
        Operation::RunCommand(_) => 17,
        Operation::Preseed(_) => 18,
        Operation::RefreshLists(_) => 19,
        Operation::InstallFromArchives(_) => 20,
        Operation::ChangePackages(_) => 21,
        Operation::ChangeRpmPackages(_) => 22,
        Operation::EnableService(_) => 23,
        Operation::EnableAtBoot(_) => 24,
        Operation::MaskService(_) => 25,
        Operation::ChangeUnitLinks(_) => 26,
        Operation::ControlService(_) => 27,
        Operation::ReloadSystemd(_) => 28,
        Operation::ControlUnit(_) => 29,
        Operation::MakeDestination(_) => 30,
        Operation::UnpackArchive(_) => 31,
        Operation::GiveAway(_) => 32,
        Operation::CloneRepository(_) => 33,
        Operation::CheckOut(_) => 34,
        Operation::Fetch(_) => 35,
        Operation::UpdateSubmodules(_) => 36,
        Operation::SetRemote(_) => 37,
        Operation::RemoveRepository(_) => 38,
        Operation::WriteCrontab(_) => 39,
        Operation::ChangeMounts(_) => 40,
        Operation::SendRequest(_) => 41,
        Operation::GatherFacts(_) => 42,
        Operation::RequestReboot(_) => 43,
        Operation::CancelReboot(_) => 44,
        Operation::Sleep(_) => 45,
        Operation::Sequence(_) => 46,
    }
}

const COMMITS: [&str; 3] = [
    "0123456789abcdef0123456789abcdef01234567",
    "1123456789abcdef0123456789abcdef01234567",
    "2123456789abcdef0123456789abcdef01234567",
];

/// A root with a little of everything, and what its programs say.
struct Stage {
    directory: tempfile::TempDir,
    said: Arc<Mutex<BTreeMap<&'static str, String>>>,
}

/// A cookbook whose files say one word.
struct OneWord;

impl CookbookFiles for OneWord {
    fn cookbooks(&self) -> Vec<(String, String)> {
        vec![]
    }
    fn paths(&self, _cookbook: &str, folder: &str) -> Result<Vec<String>, FileError> {
        Ok(vec![format!("{folder}/kept")])
    }
    fn read(&self, _cookbook: &str, _path: &str) -> Result<Vec<u8>, FileError> {
        Ok(b"tool tool/question string word\n".to_vec())
    }
}

impl Stage {
    fn new() -> Self {
        let stage = Self { directory: tempfile::tempdir().unwrap(), said: Arc::default() };
        for folder in ["srv/old", "srv/site/extra", "srv/clone/.git", "etc/init.d", "etc/cron.d", "var/lib/dpkg", "mnt"]
        {
            std::fs::create_dir_all(stage.at(folder)).unwrap();
        }
        for (path, text) in [
            ("etc/passwd", "root:x:0:0::/root:/bin/sh\nann:x:1000:1000:Ann:/home/ann:/bin/sh\n"),
            ("etc/shadow", "root:*:1::::::\nann:$6$x:1::::::\n"),
            ("etc/group", "root:x:0:\nann:x:1000:\nteam:x:1100:ann\n"),
            ("etc/fstab", "/dev/sda1 / ext4 defaults 0 1\n"),
            ("etc/init.d/tool", "#!/bin/sh\n# status\n"),
            ("lib/systemd/systemd", ""),
            ("lib/systemd/system/web.service", "[Install]\nWantedBy=multi-user.target\n"),
            ("var/lib/dpkg/status", "Package: tool\nStatus: install ok installed\nArchitecture: all\nVersion: 1.0\n\n"),
            ("srv/file", "old\n"),
            ("srv/site/kept", "tool tool/question string word\n"),
            ("srv/clone/.git/config", "[remote \"origin\"]\n\turl = https://example.org/a\n"),
        ] {
            stage.write(path, text);
        }
        symlink("/srv/a", stage.at("srv/link")).unwrap();
        std::fs::create_dir_all(stage.at("etc/systemd/system")).unwrap();
        symlink("/dev/null", stage.at("etc/systemd/system/masked.service")).unwrap();
        let mut archive = tar::Builder::new(std::fs::File::create(stage.at("srv/archive.tar")).unwrap());
        let mut header = tar::Header::new_gnu();
        header.set_size(0);
        header.set_mode(0o644);
        header.set_uid(0);
        header.set_gid(0);
        header.set_mtime(0);
        archive.append_data(&mut header, "entry", std::io::empty()).unwrap();
        archive.finish().unwrap();
        for (question, answer) in [
            (
                "apt-cache",
                "new:\n  Installed: (none)\n  Candidate: 1.0\n  Version table:\n     1.0 500\n     2.0 500\n",
            ),
            ("rpm", "tool (none) 1.0 1 noarch\n"),
            ("findmnt", "/ /dev/sda1 ext4 rw\n/mnt tmpfs tmpfs rw\n"),
            ("crontab", "1 1 * * * /bin/other\n"),
            ("HEAD", COMMITS[0]),
            ("running", "yes"),
        ] {
            stage.says(question, answer);
        }
        stage
    }

    fn at(&self, path: &str) -> PathBuf {
        self.directory.path().join("root").join(path)
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.at(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn append(&self, path: &str, text: &str) {
        let before = std::fs::read_to_string(self.at(path)).unwrap();
        self.write(path, &format!("{before}{text}"));
    }

    fn replace(&self, path: &str, old: &str, new: &str) {
        let before = std::fs::read_to_string(self.at(path)).unwrap();
        assert!(before.contains(old), "{path}: {before}");
        self.write(path, &before.replace(old, new));
    }

    fn says(&self, question: &'static str, answer: &str) {
        self.said.lock().unwrap().insert(question, answer.to_owned());
    }

    fn providers(&self) -> MachineProviders {
        self.providers_of(false)
    }

    fn providers_of(&self, why_run: bool) -> MachineProviders {
        let mut settings = crate::tests::settings(self.directory.path(), &Grants::allow_all());
        settings.why_run = why_run;
        settings.files = Arc::new(OneWord);
        let said = Arc::clone(&self.said);
        settings.answers = Some(Answers::new(move |launch| Some(answer(&said.lock().unwrap(), launch))));
        settings.facts = Some(Arc::new(|_| Ok(serde_json::Map::new())));
        MachineProviders::new(Arc::new(settings)).unwrap()
    }

    /// All that is in the root: kinds, modes, owners and contents.
    fn snapshot(&self) -> String {
        let mut text = String::new();
        look(&self.at(""), &mut text);
        text
    }
}

fn look(path: &Path, text: &mut String) {
    let metadata = path.symlink_metadata().unwrap();
    let content = match () {
        () if metadata.is_symlink() => std::fs::read_link(path).unwrap().display().to_string(),
        () if metadata.is_file() => String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned(),
        () => String::new(),
    };
    writeln!(text, "{} {:o} {} {content}", path.display(), metadata.mode(), metadata.uid()).unwrap();
    if metadata.is_dir() {
        let mut paths: Vec<_> = std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        paths.iter().for_each(|path| look(path, text));
    }
}

/// What a program says. Those that change something work, and change nothing.
fn answer(said: &BTreeMap<&'static str, String>, launch: &Launch) -> CommandOutcome {
    let words = launch.words();
    let has = |word: &str| words.iter().any(|other| other == word);
    let program = words.first().map(|word| word.rsplit('/').next().unwrap_or(word)).unwrap_or_default();
    let question = match program {
        "git" if has("rev-parse") => "HEAD",
        "crontab" if has("-l") => "crontab",
        "crontab" => "",
        program => program,
    };
    let is_down = has("status") && said.get("running").is_some_and(|running| running == "no");
    let output = said.get(question).cloned().unwrap_or_default().into();
    CommandOutcome { code: Some(if is_down { 3 } else { 0 }), output, ..CommandOutcome::default() }
}

/// A resource and the action that is planned.
struct Asked {
    declaration: Declaration,
    action: &'static str,
}

/// What came of planning.
struct Planned {
    plan: Option<ReadyPlan>,
    /// The names of the operations, those within others too.
    operations: BTreeSet<&'static str>,
    fingerprints: Vec<String>,
}

impl Asked {
    fn new(kind: &str, name: &str, action: &'static str, properties: &Value) -> Self {
        let properties = properties.as_object().unwrap().iter();
        let declaration = Declaration {
            kind: kind.into(),
            name: name.into(),
            properties: properties.map(|(name, value)| (name.clone(), Property::Plain(value.clone()))).collect(),
            origin: node::origin::Origin { cookbook: Some("c".into()), ..node::origin::Origin::policy("a") }.into(),
            ..Declaration::default()
        };
        Self { declaration, action }
    }

    fn wanted(&self) -> Wanted<'_> {
        let Self { declaration, action } = self;
        Wanted { resource: 0, declaration, action, resolved: vec![], why_run: false }
    }

    fn plan(&self, providers: &mut MachineProviders) -> Planned {
        let prepared =
            providers.prepare(&self.wanted()).unwrap_or_else(|raised| panic!("{}: {raised:?}", self.shown()));
        let (expected, changes) = prepared.expected();
        let plan = expected.plan();
        let of_parts = providers.parts().into_iter().flat_map(|part| part.changes);
        let fingerprints = changes.into_iter().chain(of_parts).filter_map(|change: Change| change.planned_against);
        let mut operations = BTreeSet::new();
        for step in plan.iter().flat_map(|plan| &plan.0.steps) {
            names(step.operation(), &mut operations);
        }
        let fingerprints = fingerprints.map(|fingerprint| fingerprint.text().to_owned()).collect();
        Planned { plan, operations, fingerprints }
    }

    fn shown(&self) -> String {
        format!("{} {}", self.declaration.key(), self.action)
    }
}

fn names(operation: &Operation, into: &mut BTreeSet<&'static str>) {
    into.insert(OPERATIONS[place(operation)]);
    if let Operation::Sequence(sequence) = operation {
        sequence.operations().iter().for_each(|operation| names(operation, into));
    }
}

/// Changes what has nothing to do with any of the resources.
fn unrelated(stage: &Stage) {
    stage.write("srv/unrelated", "x");
    stage.append("etc/passwd", "other:x:2000:2000::/:/bin/sh\n");
    stage.append("etc/group", "other:x:2000:\n");
    stage.append("var/lib/dpkg/status", "Package: other\nStatus: install ok installed\nVersion: 7\n\n");
    stage.append("srv/clone/.git/config", "[user]\n\tname = Other\n");
    let mounts = "/ /dev/sda1 ext4 rw\n/other /dev/sdb1 ext4 rw\n/mnt tmpfs tmpfs rw\n";
    stage.says("findmnt", mounts);
}

/// A change of what an operation was planned against.
type Meddle = fn(&Stage);

/// What becomes of a plan if somebody meddles before it is carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Then {
    /// It is refused, and the machine is as whoever meddled left it.
    Refused,
    /// It is refused, after earlier steps of the same action were carried out.
    RefusedLater,
    /// It is carried out: the state that it leads to does no harm, or only the tool itself can judge.
    CarriedOut,
}

type Case = ((&'static str, &'static str, &'static str, Value), &'static [&'static str], Meddle, Then);

fn cases() -> Vec<Case> {
    let file = json!({"content": "new\n"});
    let git = json!({
        "repository": "https://example.org/a",
        "revision": COMMITS[1],
        "enable_submodules": true,
        "additional_remotes": {"other": "https://example.org/b"},
    });
    let tmpfs = json!({"device": "tmpfs", "fstype": "tmpfs"});
    vec![
        // Files, directories and links.
        (
            ("file", "/srv/file", "create", file.clone()),
            &["WriteFile"],
            |stage| stage.write("srv/file", "else\n"),
            Then::Refused,
        ),
        (
            ("file", "/srv/file", "create", file.clone()),
            &["WriteFile"],
            |stage| {
                std::fs::set_permissions(stage.at("srv/file"), std::fs::Permissions::from_mode(0o600)).unwrap();
            },
            Then::Refused,
        ),
        (("file", "/srv/new", "create", file), &["WriteFile"], |stage| stage.write("srv/new", "else\n"), Then::Refused),
        (
            ("file", "/srv/old", "create", json!({"content": "x", "force_unlink": true})),
            &["WriteFile"],
            |stage| {
                std::fs::remove_dir(stage.at("srv/old")).unwrap();
                symlink("/srv/elsewhere", stage.at("srv/old")).unwrap();
                stage.write("srv/elsewhere", "");
            },
            Then::Refused,
        ),
        (
            ("file", "/srv/file", "create", json!({"mode": "0600"})),
            &["SetAccess"],
            |stage| std::fs::set_permissions(stage.at("srv/file"), std::fs::Permissions::from_mode(0o640)).unwrap(),
            Then::Refused,
        ),
        (
            ("directory", "/srv/old", "create", json!({"mode": "0700"})),
            &["SetAccess"],
            |stage| lchown(stage.at("srv/old"), Some(1), None).unwrap(),
            Then::Refused,
        ),
        (
            ("file", "/srv/file", "touch", json!({})),
            &["Touch"],
            |stage| std::fs::remove_file(stage.at("srv/file")).unwrap(),
            Then::Refused,
        ),
        (
            ("file", "/srv/file", "delete", json!({"backup": false})),
            &["RemoveFile"],
            |stage| {
                stage.write("srv/other", "else\n");
                lchown(stage.at("srv/other"), Some(1), None).unwrap();
                std::fs::rename(stage.at("srv/other"), stage.at("srv/file")).unwrap();
            },
            Then::Refused,
        ),
        (
            ("directory", "/srv/one/two", "create", json!({"recursive": true})),
            &["MakeDirectory"],
            |stage| std::fs::create_dir(stage.at("srv/one")).unwrap(),
            Then::Refused,
        ),
        (
            ("directory", "/srv/old", "delete", json!({"recursive": true})),
            &["RemoveDirectory"],
            |stage| {
                std::fs::rename(stage.at("srv/old"), stage.at("srv/aside")).unwrap();
                stage.write("srv/old/theirs", "");
                lchown(stage.at("srv/old"), Some(1), None).unwrap();
            },
            Then::Refused,
        ),
        (
            ("remote_directory", "/srv/site", "create", json!({"source": "site", "purge": true})),
            &["PurgeDirectory"],
            |stage| {
                std::fs::rename(stage.at("srv/site/extra"), stage.at("srv/aside")).unwrap();
                std::fs::create_dir(stage.at("srv/site/extra")).unwrap();
                lchown(stage.at("srv/site/extra"), Some(1), None).unwrap();
            },
            Then::Refused,
        ),
        (
            ("link", "/srv/link", "create", json!({"to": "/srv/b"})),
            &["MakeLink"],
            |stage| relink(stage, "srv/link", "/srv/c"),
            Then::Refused,
        ),
        (
            ("link", "/srv/new", "create", json!({"to": "/srv/b"})),
            &["MakeLink"],
            |stage| symlink("/srv/c", stage.at("srv/new")).unwrap(),
            Then::Refused,
        ),
        (
            ("link", "/srv/link", "delete", json!({})),
            &["RemoveLink"],
            |stage| relink(stage, "srv/link", "/srv/c"),
            Then::Refused,
        ),
        // Accounts.
        (
            ("group", "new", "create", json!({"gid": 1200})),
            &["MakeGroup"],
            |stage| stage.append("etc/group", "new:x:1300:\n"),
            Then::Refused,
        ),
        (
            ("group", "team", "modify", json!({"members": ["root"]})),
            &["ChangeGroup"],
            |stage| stage.replace("etc/group", "1100:ann", "1100:ann,daemon"),
            Then::Refused,
        ),
        (
            ("group", "team", "remove", json!({})),
            &["RemoveGroup"],
            |stage| stage.replace("etc/group", "1100:ann", "1100:ann,daemon"),
            Then::Refused,
        ),
        (
            ("user", "new", "create", json!({"shell": "/bin/bash"})),
            &["MakeUser"],
            |stage| stage.append("etc/passwd", "new:x:1300:1300::/:/bin/sh\n"),
            Then::Refused,
        ),
        (
            ("user", "ann", "modify", json!({"shell": "/bin/bash"})),
            &["ChangeUser"],
            |stage| stage.replace("etc/passwd", ":Ann:", ":Somebody else:"),
            Then::Refused,
        ),
        (
            ("user", "ann", "remove", json!({})),
            &["RemoveUser"],
            |stage| stage.replace("etc/passwd", ":Ann:", ":Somebody else:"),
            Then::Refused,
        ),
        (
            ("user", "ann", "lock", json!({})),
            &["LockUser"],
            |stage| stage.replace("etc/shadow", "ann:$6$x", "ann:!$6$x"),
            Then::Refused,
        ),
        // Commands and packages.
        (
            ("execute", "true", "run", json!({"creates": "/srv/made"})),
            &["RunCommand"],
            |stage| stage.write("srv/made", ""),
            Then::Refused,
        ),
        (
            ("apt_package", "new", "install", json!({"version": "2.0", "response_file": "seed"})),
            &["Preseed", "InstallFromArchives"],
            |stage| {
                stage.append("var/lib/dpkg/status", "Package: new\nStatus: install ok installed\nVersion: 0.5\n\n");
            },
            Then::RefusedLater,
        ),
        (
            ("apt_package", "tool", "remove", json!({})),
            &["ChangePackages"],
            |stage| stage.replace("var/lib/dpkg/status", "1.0", "1.0-2"),
            Then::Refused,
        ),
        (
            ("apt_package", "tool", "lock", json!({})),
            &["ChangePackages"],
            |stage| stage.replace("var/lib/dpkg/status", "1.0", "1.0-2"),
            Then::Refused,
        ),
        (
            ("dpkg_package", "tool", "purge", json!({})),
            &["ChangePackages"],
            |stage| stage.replace("var/lib/dpkg/status", "1.0", "1.0-2"),
            Then::Refused,
        ),
        (
            ("rpm_package", "tool", "remove", json!({})),
            &["ChangeRpmPackages"],
            |stage| stage.says("rpm", "tool (none) 1.1 1 noarch\n"),
            Then::CarriedOut,
        ),
        // Services.
        (
            ("service", "web", "enable", json!({})),
            &["EnableAtBoot"],
            |stage| stage.write("etc/systemd/system/multi-user.target.wants/web.service", "not a link"),
            Then::Refused,
        ),
        (
            ("service", "masked", "unmask", json!({})),
            &["ChangeUnitLinks"],
            |stage| {
                relink(stage, "etc/systemd/system/masked.service", "/dev/null");
                lchown(stage.at("etc/systemd/system/masked.service"), Some(1), None).unwrap();
            },
            Then::Refused,
        ),
        (
            ("service", "tool", "restart", json!({})),
            &["ControlService"],
            |stage| stage.says("running", "no"),
            Then::CarriedOut,
        ),
        (
            ("systemd_unit", "web.service", "restart", json!({})),
            &["ControlUnit"],
            |stage| {
                let wants = stage.at("etc/systemd/system/multi-user.target.wants");
                std::fs::create_dir_all(&wants).unwrap();
                symlink("/lib/systemd/system/web.service", wants.join("web.service")).unwrap();
            },
            Then::CarriedOut,
        ),
        // What brings several files.
        (
            ("archive_file", "/srv/archive.tar", "extract", json!({"destination": "/srv/out", "owner": "ann"})),
            &["MakeDestination", "UnpackArchive", "GiveAway"],
            |stage| {
                let content = std::fs::read(stage.at("srv/archive.tar")).unwrap();
                std::fs::write(stage.at("srv/archive.tar"), [content.as_slice(), &[0; 512]].concat()).unwrap();
            },
            Then::RefusedLater,
        ),
        (
            ("git", "/srv/checkout", "export", git.clone()),
            &["CloneRepository", "CheckOut", "UpdateSubmodules", "SetRemote", "RemoveRepository"],
            |stage| stage.write("srv/checkout/theirs", ""),
            Then::Refused,
        ),
        (
            ("git", "/srv/clone", "sync", git.clone()),
            &["Fetch", "SetRemote"],
            |stage| stage.replace("srv/clone/.git/config", "example.org/a", "example.org/other"),
            Then::CarriedOut,
        ),
        (
            ("git", "/srv/clone", "sync", git),
            &["Fetch", "UpdateSubmodules", "SetRemote"],
            |stage| stage.says("HEAD", COMMITS[2]),
            Then::Refused,
        ),
        // Tables.
        (
            ("cron", "job", "create", json!({"command": "/bin/x"})),
            &["WriteCrontab"],
            |stage| stage.says("crontab", "1 1 * * * /bin/other\n2 2 * * * /bin/theirs\n"),
            Then::Refused,
        ),
        (
            ("mount", "/mnt", "umount", tmpfs.clone()),
            &["ChangeMounts"],
            |stage| stage.says("findmnt", "/ /dev/sda1 ext4 rw\n/mnt tmpfs tmpfs ro\n"),
            Then::Refused,
        ),
        (
            ("mount", "/mnt", "enable", tmpfs),
            &["Sequence", "WriteFile"],
            |stage| stage.append("etc/fstab", "/dev/sdb1 /srv ext4 defaults 0 2\n"),
            Then::Refused,
        ),
    ]
}

/// The types whose operations are those of other types.
fn other_types() -> Vec<Case> {
    let rewrite: Meddle = |stage| stage.write("srv/file", "else\n");
    let other_version: Meddle = |stage| stage.says("rpm", "tool (none) 1.1 1 noarch\n");
    let file =
        |kind, properties| ((kind, "/srv/file", "create", properties), &["WriteFile"] as &[_], rewrite, Then::Refused);
    let rpm =
        |kind| ((kind, "tool", "remove", json!({})), &["ChangeRpmPackages"] as &[_], other_version, Then::CarriedOut);
    vec![
        file("cookbook_file", json!({"source": "x"})),
        file("template", json!({"source": "x", "content": "new\n"})),
        file("remote_file", json!({"source": ["file:///srv/site/kept"]})),
        (
            ("cron_d", "job", "create", json!({"command": "/bin/x"})),
            &["WriteFile"],
            |stage| stage.write("etc/cron.d/job", "# theirs\n"),
            Then::Refused,
        ),
        (
            ("bash", "x", "run", json!({"code": "true", "creates": "/srv/made"})),
            &["RunCommand"],
            |stage| stage.write("srv/made", ""),
            Then::Refused,
        ),
        (
            ("package", "tool", "remove", json!({})),
            &["ChangePackages"],
            |stage| stage.replace("var/lib/dpkg/status", "1.0", "1.0-2"),
            Then::Refused,
        ),
        (
            ("linux_user", "ann", "modify", json!({"shell": "/bin/bash"})),
            &["ChangeUser"],
            |stage| stage.replace("etc/passwd", ":Ann:", ":Somebody else:"),
            Then::Refused,
        ),
        rpm("dnf_package"),
        rpm("yum_package"),
    ]
}

fn all_cases() -> impl Iterator<Item = Case> {
    cases().into_iter().chain(other_types())
}

fn relink(stage: &Stage, path: &str, to: &str) {
    // Beside the old one, so that it is another for sure.
    symlink(to, stage.at("srv/beside")).unwrap();
    std::fs::rename(stage.at("srv/beside"), stage.at(path)).unwrap();
}

/// Actions whose operations do the same whatever the machine is like, or hold a secret.
fn without_fingerprints() -> Vec<(Asked, &'static [&'static str])> {
    let asked = |kind, name, action, properties: Value| Asked::new(kind, name, action, &properties);
    let sensitive = |mut asked: Asked| {
        asked.declaration.sensitive = true;
        asked
    };
    let password = json!({"device": "//h/x", "fstype": "cifs"});
    let private = json!({"repository": "https://example.org/a", "revision": COMMITS[1]});
    vec![
        (asked("notify_group", "x", "run", json!({})), &["Nothing"]),
        (asked("execute", "true", "run", json!({})), &["RunCommand"]),
        (asked("apt_package", "absent", "install", json!({})), &["RefreshLists"]),
        (asked("http_request", "x", "get", json!({"url": "https://example.org/x"})), &["SendRequest"]),
        (asked("ohai", "x", "reload", json!({})), &["GatherFacts"]),
        (asked("reboot", "x", "request_reboot", json!({})), &["RequestReboot"]),
        (asked("reboot", "x", "cancel", json!({})), &["CancelReboot"]),
        (asked("chef_sleep", "x", "sleep", json!({"seconds": 1})), &["Sleep"]),
        (asked("apt_package", "tool", "reconfig", json!({"response_file": "seed"})), &["Preseed"]),
        (asked("user", "ann", "modify", json!({"password": "$6$y"})), &["ChangeUser"]),
        (asked("mount", "/srv", "mount", password), &["ChangeMounts"]),
        (asked("git", "/srv/private", "sync", private), &["Fetch"]),
        (sensitive(asked("file", "/srv/file", "create", json!({"content": "x"}))), &["WriteFile"]),
        (
            sensitive(asked(
                "systemd_unit",
                "x.service",
                "create",
                json!({"content": "[Service]\nExecStart=/bin/x\n"}),
            )),
            &["WriteFile", "ReloadSystemd"],
        ),
    ]
}

#[test]
fn a_fingerprint_is_of_what_the_plan_depends_on() {
    for ((kind, name, action, properties), operations, meddle, _) in all_cases() {
        let asked = Asked::new(kind, name, action, &properties);
        let shown = asked.shown();
        let stage = Stage::new();
        let first = asked.plan(&mut stage.providers());
        let planned: Vec<_> = operations.iter().filter(|name| !first.operations.contains(*name)).collect();
        assert!(planned.is_empty(), "{shown} plans no {planned:?}: {:?}", first.operations);
        assert!(!first.fingerprints.is_empty(), "{shown}");
        let mut providers = stage.providers();
        assert_eq!(asked.plan(&mut providers).fingerprints, first.fingerprints, "{shown}: planned again");
        unrelated(&stage);
        assert_eq!(asked.plan(&mut providers).fingerprints, first.fingerprints, "{shown}: something else changed");
        let stage = Stage::new();
        let first = asked.plan(&mut stage.providers()).fingerprints;
        meddle(&stage);
        assert_ne!(asked.plan(&mut stage.providers()).fingerprints, first, "{shown}: what it looks at changed");
    }
}

#[test]
fn a_plan_is_carried_out_only_against_what_it_was_made_against() {
    for ((kind, name, action, properties), _, meddle, then) in all_cases() {
        let asked = Asked::new(kind, name, action, &properties);
        let shown = asked.shown();
        let stage = Stage::new();
        let mut providers = stage.providers();
        let plan = asked.plan(&mut providers).plan.unwrap();
        meddle(&stage);
        let before = stage.snapshot();
        let done = providers.commit(&asked.wanted(), plan);
        let kind = done.as_ref().err().map(|raised: &Raised| raised.kind.clone());
        let refused = then != Then::CarriedOut;
        assert_eq!(kind == Some(ErrorKind::ChangedMeanwhile), refused, "{shown}: {done:?}");
        if then == Then::Refused {
            assert_eq!(stage.snapshot(), before, "{shown}");
        }
    }
}

#[test]
fn what_holds_a_secret_has_no_fingerprint_and_neither_has_what_depends_on_nothing() {
    for (asked, operations) in without_fingerprints() {
        let stage = Stage::new();
        stage.append("etc/fstab", "//h/x /srv cifs password=hunter2 0 0\n");
        stage.write("srv/private/.git/config", "[remote \"origin\"]\n\turl = https://me:hunter2@example.org/a\n");
        let planned = asked.plan(&mut stage.providers());
        let all = operations.iter().all(|name| planned.operations.contains(name));
        assert!(all, "{}: {:?}", asked.shown(), planned.operations);
        assert_eq!(planned.fingerprints, [""; 0], "{}", asked.shown());
    }
}

#[test]
fn every_operation_is_planned_by_these_tests() {
    let cases = cases().into_iter().flat_map(|(_, operations, _, _)| operations);
    let others = without_fingerprints().into_iter().flat_map(|(_, operations)| operations);
    let tried: BTreeSet<&str> = cases.chain(others).chain(&NEED_SYSTEMD).copied().collect();
    assert_eq!(tried, BTreeSet::from(OPERATIONS));
}

/// Types that have no steps, and scripts, which differ from `bash` in their interpreter alone.
const NO_CASE: [&str; 9] = ["log", "gem_package", "chef_gem", "csh", "ksh", "perl", "python", "ruby", "script"];

#[test]
fn every_type_is_planned_by_these_tests() {
    let others = without_fingerprints().into_iter().map(|(asked, _)| asked.declaration.kind.to_string());
    let mut tried: BTreeSet<String> = all_cases().map(|((kind, ..), ..)| kind.to_owned()).chain(others).collect();
    tried.extend(NO_CASE.map(str::to_owned));
    let host = schema::builtin().filter(|one| matches!(one.implemented_by, schema::ImplementedBy::Host));
    // Composites are made of the others.
    let names = host.map(|one| one.name).filter(|kind| !schema::is_composite(kind));
    let forgotten: Vec<_> = names.filter(|kind| !tried.contains(*kind)).collect();
    assert_eq!(forgotten, [""; 0]);
}

#[test]
fn a_plan_that_is_made_anew_is_carried_out() {
    let stage = Stage::new();
    let mut providers = stage.providers();
    let asked = Asked::new("file", "/srv/file", "create", &json!({"content": "new\n"}));
    let plan = asked.plan(&mut providers).plan.unwrap();
    stage.write("srv/file", "longer than before\n");
    let raised = providers.commit(&asked.wanted(), plan).unwrap_err();
    let expect = "/srv/file changed after this action was planned, and was left as it is now: its content changed";
    assert_eq!((raised.class(), raised.message.as_str()), ("Wrun::ChangedMeanwhile", expect));
    let plan = asked.plan(&mut providers).plan.unwrap();
    providers.commit(&asked.wanted(), plan).unwrap();
    assert_eq!(std::fs::read_to_string(stage.at("srv/file")).unwrap(), "new\n");
}

/// What a sensitive resource of a dry run would write is as secret to those that come later.
#[test]
fn content_that_would_be_there_is_a_part_of_the_fingerprint_unless_it_is_secret() {
    let stage = Stage::new();
    let plan = |asked: &Asked, providers: &mut MachineProviders| {
        let prepared = providers.prepare(&Wanted { why_run: true, ..asked.wanted() }).unwrap();
        prepared.expected().1.into_iter().find_map(|change| change.planned_against)
    };
    let write = |content: &str, sensitive: bool| {
        let mut asked = Asked::new("file", "/srv/file", "create", &json!({"content": content}));
        asked.declaration.sensitive = sensitive;
        asked
    };
    let after = |first: &Asked| {
        let mut providers = stage.providers_of(true);
        plan(first, &mut providers);
        plan(&write("last", false), &mut providers)
    };
    assert!(after(&write("one", false)).is_some());
    assert_eq!(after(&write("one", false)), after(&write("one", false)));
    assert_ne!(after(&write("one", false)), after(&write("two", false)));
    assert_eq!(after(&write("one", true)), None);
}

/// A write of the same length, with the same time of change.
#[test]
fn a_change_of_content_alone_is_noticed() {
    let stage = Stage::new();
    let mut providers = stage.providers();
    let asked = Asked::new("file", "/srv/file", "create", &json!({"content": "new\n"}));
    let modified = stage.at("srv/file").metadata().unwrap().modified().unwrap();
    let plan = asked.plan(&mut providers).plan.unwrap();
    stage.write("srv/file", "odd\n");
    std::fs::File::options().write(true).open(stage.at("srv/file")).unwrap().set_modified(modified).unwrap();
    let raised = providers.commit(&asked.wanted(), plan).unwrap_err();
    assert_eq!(raised.kind, ErrorKind::ChangedMeanwhile);
    assert_eq!(std::fs::read_to_string(stage.at("srv/file")).unwrap(), "odd\n");
}
