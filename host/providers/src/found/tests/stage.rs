//! A root with a little of everything, and what its programs say.

use crate::MachineProviders;
use contract::{CommandOutcome, CookbookFiles, FileError};
use grants::Grants;
use machine::command::{Answers, Launch};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

pub(super) const COMMITS: [&str; 3] = [
    "0123456789abcdef0123456789abcdef01234567",
    "1123456789abcdef0123456789abcdef01234567",
    "2123456789abcdef0123456789abcdef01234567",
];

/// A root with a little of everything, and what its programs say.
pub(super) struct Stage {
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
    pub(super) fn new() -> Self {
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
            ("dnf", "Transaction Summary\n"),
            ("yum", "Transaction Summary\n"),
            ("findmnt", "/ /dev/sda1 ext4 rw\n/mnt tmpfs tmpfs rw\n"),
            ("crontab", "1 1 * * * /bin/other\n"),
            ("HEAD", COMMITS[0]),
            ("running", "yes"),
        ] {
            stage.says(question, answer);
        }
        stage
    }

    pub(super) fn at(&self, path: &str) -> PathBuf {
        self.directory.path().join("root").join(path)
    }

    pub(super) fn write(&self, path: &str, text: &str) {
        let path = self.at(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub(super) fn append(&self, path: &str, text: &str) {
        let before = std::fs::read_to_string(self.at(path)).unwrap();
        self.write(path, &format!("{before}{text}"));
    }

    pub(super) fn replace(&self, path: &str, old: &str, new: &str) {
        let before = std::fs::read_to_string(self.at(path)).unwrap();
        assert!(before.contains(old), "{path}: {before}");
        self.write(path, &before.replace(old, new));
    }

    pub(super) fn says(&self, question: &'static str, answer: &str) {
        self.said.lock().unwrap().insert(question, answer.to_owned());
    }

    pub(super) fn providers(&self) -> MachineProviders {
        self.providers_of(false)
    }

    pub(super) fn providers_of(&self, why_run: bool) -> MachineProviders {
        let mut settings = crate::tests::settings(self.directory.path(), &Grants::allow_all());
        settings.why_run = why_run;
        settings.files = Arc::new(OneWord);
        let said = Arc::clone(&self.said);
        settings.answers = Some(Answers::new(move |launch| Some(answer(&said.lock().unwrap(), launch))));
        settings.facts = Some(Arc::new(|_| Ok(serde_json::Map::new())));
        MachineProviders::new(Arc::new(settings)).unwrap()
    }

    /// All that is in the root: kinds, modes, owners and contents.
    pub(super) fn snapshot(&self) -> String {
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

/// Changes what has nothing to do with any of the resources.
pub(super) fn unrelated(stage: &Stage) {
    stage.write("srv/unrelated", "x");
    stage.append("etc/passwd", "other:x:2000:2000::/:/bin/sh\n");
    stage.append("etc/group", "other:x:2000:\n");
    stage.append("var/lib/dpkg/status", "Package: other\nStatus: install ok installed\nVersion: 7\n\n");
    stage.append("srv/clone/.git/config", "[user]\n\tname = Other\n");
    let mounts = "/ /dev/sda1 ext4 rw\n/other /dev/sdb1 ext4 rw\n/mnt tmpfs tmpfs rw\n";
    stage.says("findmnt", mounts);
}
