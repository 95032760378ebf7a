//! `wrun bootstrap` against a real sshd in a throw-away machine.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, and helpers are no tests to the lints")]

use specs::program::{Output, executable};
use specs::terminal::Terminal;
use specs::{Machine, Network, Program, Root};
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Debian's ssh server, and sudo.
const PACKAGES: [&str; 2] = ["openssh-server", "sudo"];

const GRANTS: &str = "[policy.load]\npaths = [\"/srv/load\", \"/srv/load/**\"]\n";

struct Place {
    program: Program,
    root: Root,
    /// The package that is sent, and its SHA-256.
    package: PathBuf,
}

impl Place {
    fn new() -> Self {
        let program = Program::new().unwrap();
        let root = Root::with_packages(&PACKAGES).unwrap();
        let folder = program.configuration();
        let key = folder.join("key");
        let made = Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(&key).status();
        assert!(made.unwrap().success());
        let public = fs::read_to_string(folder.join("key.pub")).unwrap();
        fs::create_dir_all(root.at("/run/sshd").unwrap()).unwrap();
        let host = root.read("/etc/ssh/ssh_host_ed25519_key.pub").unwrap();
        fs::write(folder.join("known"), format!("machine {host}")).unwrap();
        fs::write(folder.join("unknown"), "").unwrap();
        fs::write(folder.join("grants.toml"), GRANTS).unwrap();
        root.write("/root/.ssh/authorized_keys", &public).unwrap();
        fs::set_permissions(root.at("/root/.ssh").unwrap(), fs::Permissions::from_mode(0o700)).unwrap();
        let artifact = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/fixtures/load.wasm");
        root.write("/etc/wrun/policies/load.wasm", fs::read(artifact).unwrap()).unwrap();
        let package = small_package(&folder, "0.1.0");
        Self { program, root, package }
    }

    /// The options with which ssh reaches the machine. `known`: the file of host keys. `through`: what the connection goes
    /// through on its way.
    fn ssh(&self, machine: &Machine<'_>, known: &str, through: &str) -> Vec<String> {
        let folder = self.program.configuration();
        let mut server = machine.command("/usr/sbin/sshd");
        server.args(["-i", "-q", "-o", "StrictModes=no", "-o", "UseDNS=no"]);
        let words = std::iter::once(server.get_program()).chain(server.get_args());
        let words: Vec<_> = words.map(|word| word.to_string_lossy().into_owned()).collect();
        let options = [
            format!("ProxyCommand={through}{}", words.join(" ")),
            "HostKeyAlias=machine".to_owned(),
            "StrictHostKeyChecking=yes".to_owned(),
            "GlobalKnownHostsFile=/dev/null".to_owned(),
            format!("UserKnownHostsFile={}", folder.join(known).display()),
            format!("IdentityFile={}", folder.join("key").display()),
            "IdentitiesOnly=yes".to_owned(),
            "PasswordAuthentication=no".to_owned(),
        ];
        options.into_iter().flat_map(|option| ["-o".to_owned(), option]).collect()
    }

    fn words(&self, host: &str, more: &[&str]) -> Vec<String> {
        let grants = self.program.configuration().join("grants.toml").display().to_string();
        let words =
            ["bootstrap", host, "--policy-name", "load", "--policy-group", "it's \"prod\"", "--grants", &grants];
        words.iter().chain(more).map(|word| (*word).to_owned()).collect()
    }

    #[track_caller]
    fn run_with(&self, words: Vec<String>, ssh: Vec<String>, code: i32) -> Output {
        let words: Vec<_> = words.into_iter().chain(ssh).collect();
        self.program.run(&words).unwrap().expect_code(code).unwrap()
    }

    /// Runs the command with the package.
    #[track_caller]
    fn run(&self, machine: &Machine<'_>, more: &[&str], code: i32) -> Output {
        let package = self.package.display().to_string();
        let more: Vec<_> = ["--package", &package].iter().chain(more).copied().collect();
        self.run_with(self.words("root@machine", &more), self.ssh(machine, "known", ""), code)
    }

    /// Mode and owner of a file of the machine.
    fn about(&self, path: &str) -> (u32, u32, u32) {
        let about = fs::symlink_metadata(self.root.at(path).unwrap()).unwrap();
        (about.mode() & 0o7777, about.uid(), about.gid())
    }

    /// Nothing of a package is left where packages wait.
    fn is_clean(&self) -> bool {
        let names = |path: &str| -> Vec<_> {
            let entries = fs::read_dir(self.root.at(path).unwrap()).unwrap();
            entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect()
        };
        !names("/var/tmp").iter().chain(&names("/etc/wrun")).any(|name| name.contains("wrun-"))
    }
}

/// A package that holds the tests' own program and nothing else, which is quick to make.
fn small_package(folder: &Path, version: &str) -> PathBuf {
    let tree = folder.join(format!("tree-{version}"));
    for below in ["DEBIAN", "usr/bin", "etc/wrun"] {
        fs::create_dir_all(tree.join(below)).unwrap();
        fs::set_permissions(tree.join(below), fs::Permissions::from_mode(0o755)).unwrap();
    }
    fs::set_permissions(&tree, fs::Permissions::from_mode(0o755)).unwrap();
    fs::copy(executable().unwrap(), tree.join("usr/bin/wrun")).unwrap();
    fs::write(tree.join("etc/wrun/wrun.toml"), "# Only comments.\n#policy_name = [\"x\"]\n").unwrap();
    fs::write(tree.join("DEBIAN/conffiles"), "/etc/wrun/wrun.toml\n").unwrap();
    let control =
        format!("Package: wrun\nVersion: {version}\nArchitecture: amd64\nMaintainer: a <a@b>\nDescription: x\n");
    fs::write(tree.join("DEBIAN/control"), control).unwrap();
    let package = folder.join(format!("wrun_{version}_amd64.deb"));
    let made =
        Command::new("dpkg-deb").args(["-Znone", "--root-owner-group", "--build"]).arg(&tree).arg(&package).output();
    assert!(made.unwrap().status.success());
    fs::remove_dir_all(&tree).unwrap();
    package
}

fn sha256(path: &Path) -> String {
    let output = Command::new("sha256sum").arg(path).output().unwrap();
    String::from_utf8(output.stdout).unwrap().split(' ').next().unwrap().to_owned()
}

#[track_caller]
fn has(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part:?} is missing in:\n{text}");
    }
}

#[test]
fn a_machine_is_set_up_and_only_what_differs_is_done_again() {
    let place = Place::new();
    let machine = place.root.machine(Network::Own).unwrap();
    let dry = place.run(&machine, &["--dry-run"], 0).stdout;
    has(&dry, &["would install ", "would write /etc/wrun/grants.toml (mode 0644)", "would run wrun converge"]);
    assert!(!place.root.exists("/usr/bin/wrun") && !place.root.exists("/etc/wrun/wrun.toml"));

    let secret = place.program.configuration().join("secret");
    fs::write(&secret, "not to be seen").unwrap();
    let secret = secret.display().to_string();
    let first = place.run(&machine, &["--data-bag-secret", &secret], 0);
    has(&first.stdout, &["Setting up wrun (0.1.0)", "run wrun converge:"]);
    has(&first.stderr, &["root@machine is done"]);
    assert!(!first.text().contains("not to be seen"));
    assert!(place.root.exists("/srv/load"), "{}", first.text());
    assert_eq!(place.root.read("/etc/wrun/grants.toml").unwrap(), GRANTS);
    let settings = place.root.read("/etc/wrun/wrun.toml").unwrap();
    has(&settings, &["policy_name = [\"load\"]", "policy_group = \"it's \\\"prod\\\"\""]);
    assert_eq!(place.about("/etc/wrun/wrun.toml"), (0o644, 0, 0));
    assert_eq!(place.about("/etc/wrun/data_bag_secret"), (0o600, 0, 0));
    assert!(place.is_clean());

    // Nothing differs.
    let again = place.run(&machine, &["--data-bag-secret", &secret], 0).stdout;
    has(
        &again,
        &["unchanged: package wrun 0.1.0", "unchanged: /etc/wrun/wrun.toml", "unchanged: /etc/wrun/grants.toml"],
    );
    assert!(!again.contains("write ") && !again.contains("install "), "{again}");

    // A mode that somebody changed, and grants that somebody wrote: these are shown, and not lost without a word.
    fs::set_permissions(place.root.at("/etc/wrun/data_bag_secret").unwrap(), fs::Permissions::from_mode(0o644))
        .unwrap();
    place.root.write("/etc/wrun/grants.toml", "[policy.mine]\n").unwrap();
    let refused = place.run(&machine, &["--data-bag-secret", &secret], 43);
    has(&refused.stdout, &["-[policy.mine]", "+[policy.load]"]);
    has(&refused.stderr, &["/etc/wrun/grants.toml on root@machine would be replaced", "--yes", "nothing was changed"]);
    assert_eq!(place.root.read("/etc/wrun/grants.toml").unwrap(), "[policy.mine]\n");
    assert_eq!(place.about("/etc/wrun/data_bag_secret").0, 0o644);
    has(
        &place.run(&machine, &["--data-bag-secret", &secret, "--dry-run"], 0).stdout,
        &["would set mode 0600", "-[policy.mine]"],
    );
    drop(place.run(&machine, &["--data-bag-secret", &secret, "--yes"], 0));
    assert_eq!(
        (place.root.read("/etc/wrun/grants.toml").unwrap().as_str(), place.about("/etc/wrun/data_bag_secret").0),
        (GRANTS, 0o600)
    );

    // A newer package replaces the old one; a run that fails is told.
    let newer = small_package(&place.program.configuration(), "0.2.0").display().to_string();
    let words = place.words("root@machine", &["--package", &newer, "--data-bag-secret", &secret]);
    let upgraded = place.run_with(words.clone(), place.ssh(&machine, "known", ""), 0);
    has(&upgraded.stderr, &["wrun 0.1.0 is replaced by the package"]);
    fs::remove_file(place.root.at("/etc/wrun/policies/load.wasm").unwrap()).unwrap();
    let failed = place.run_with(words, place.ssh(&machine, "known", ""), 1).stderr;
    has(&failed, &["has all files, and its run ended with the exit code 1"]);
}

#[test]
fn a_broken_connection_leaves_nothing_half_done_and_is_mended() {
    let place = Place::new();
    let machine = place.root.machine(Network::Own).unwrap();
    let package = place.package.display().to_string();
    let words = place.words("root@machine", &["--package", &package]);
    let broken = place.run_with(words.clone(), place.ssh(&machine, "known", "dd bs=1024 count=3000 2>/dev/null | "), 1);
    has(&broken.stderr, &["could not install ", "run the same command again to go on"]);
    assert!(!place.root.exists("/usr/bin/wrun") && !place.root.exists("/etc/wrun/wrun.toml"));
    // The machine notices on its own; the file that did not arrive is gone then.
    let until = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while !place.is_clean() && std::time::Instant::now() < until {
        std::thread::yield_now();
    }
    assert!(place.is_clean());
    drop(place.run_with(words, place.ssh(&machine, "known", ""), 0));
    assert!(place.root.exists("/srv/load"));
}

#[test]
fn sudo_asks_for_a_password_where_it_must() {
    let place = Place::new();
    let machine = place.root.machine(Network::Own).unwrap();
    let public = place.root.read("/root/.ssh/authorized_keys").unwrap();
    for user in ["free", "asked", "plain"] {
        assert!(machine.run(&["useradd", "--create-home", "--shell", "/bin/sh", user]).unwrap().status.success());
        place.root.write(format!("/home/{user}/.ssh/authorized_keys"), &public).unwrap();
    }
    let passwords = machine.run(&["sh", "-c", "printf 'asked:pass word\\nfree:x\\nplain:x\\n' | chpasswd"]).unwrap();
    assert!(passwords.status.success());
    place.root.write("/etc/sudoers.d/test", "free ALL=(ALL) NOPASSWD: ALL\nasked ALL=(ALL) ALL\n").unwrap();
    fs::set_permissions(place.root.at("/etc/sudoers.d/test").unwrap(), fs::Permissions::from_mode(0o440)).unwrap();
    let package = place.package.display().to_string();
    let ssh = || place.ssh(&machine, "known", "");
    let words = |host: &str, sudo: &[&str]| {
        let more: Vec<_> = ["--package", &package].iter().chain(sudo).copied().collect();
        place.words(host, &more)
    };
    has(
        &place.run_with(words("free@machine", &[]), ssh(), 43).stderr,
        &["use --sudo, or log in as root; nothing was changed"],
    );
    has(&place.run_with(words("asked@machine", &["--sudo"]), ssh(), 43).stderr, &["nobody can be asked", "NOPASSWD"]);
    has(&place.run_with(words("free@machine", &["--sudo", "--dry-run"]), ssh(), 0).stdout, &["would install"]);
    assert!(!place.root.exists("/usr/bin/wrun"));

    // A wrong password, and then the right one; nobody sees them.
    let all: Vec<String> = words("asked@machine", &["--sudo"]).into_iter().chain(ssh()).collect();
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    let mut terminal = Terminal::start(&place.program, 200, &all).unwrap();
    terminal.wait_for("Password of sudo on asked@machine:").unwrap();
    terminal.press("wrong\n").unwrap();
    terminal.wait_for("Sorry, try again. Password of sudo on asked@machine:").unwrap();
    terminal.press("pass word\n").unwrap();
    assert_eq!(terminal.end().unwrap().code(), Some(0), "{}", terminal.rows().join("\n"));
    assert!(!terminal.words().contains("pass word") && !terminal.words().contains("wrong"));
    assert!(place.root.exists("/srv/load"));
    assert_eq!(place.about("/etc/wrun/wrun.toml"), (0o644, 0, 0));
}

#[test]
fn errors_say_which_step_failed_and_what_to_do() {
    let place = Place::new();
    let machine = place.root.machine(Network::Own).unwrap();
    let package = place.package.display().to_string();
    let with = ["--package", package.as_str()];
    // A host key that nobody knows.
    let unknown = place.run_with(place.words("root@machine", &with), place.ssh(&machine, "unknown", ""), 43).stderr;
    has(&unknown, &["Host key verification failed", "ssh could not connect", "nothing was changed", "hint: "]);
    // A machine without wrun, and without a package for it.
    let none = place.run_with(place.words("root@machine", &[]), place.ssh(&machine, "known", ""), 43).stderr;
    has(&none, &["does not have wrun's package: name one with --package"]);
    // A link where a file should be.
    std::os::unix::fs::symlink("/etc/passwd", place.root.at("/etc/wrun/wrun.toml").unwrap()).unwrap();
    has(&place.run(&machine, &[], 43).stderr, &["/etc/wrun/wrun.toml is a link on the machine"]);
    fs::remove_file(place.root.at("/etc/wrun/wrun.toml").unwrap()).unwrap();
    // A package that dpkg refuses.
    place.root.write("/var/lib/dpkg/lock", "").unwrap();
    let dpkg = place.root.at("/usr/bin/dpkg").unwrap();
    fs::rename(&dpkg, dpkg.with_extension("kept")).unwrap();
    place.root.write_program("/usr/bin/dpkg", "#!/bin/sh\necho 'no room'\nexit 2\n").unwrap();
    let refused = place.run(&machine, &[], 1);
    has(&refused.stdout, &["no room"]);
    has(
        &refused.stderr,
        &["could not install ", "dpkg could not install the package (exit code 2)", "run the same command again"],
    );
    assert!(place.is_clean());
    fs::remove_file(&dpkg).unwrap();
    // A machine that lacks a program.
    has(&place.run(&machine, &[], 43).stderr, &["the machine lacks dpkg: install it there first"]);
    fs::rename(dpkg.with_extension("kept"), &dpkg).unwrap();
    // Packages that are fetched: by nothing, wrongly, rightly.
    let digest = sha256(&place.package);
    let fetch = |sha256: &str, code: i32| {
        let words = place.words("root@machine", &["--package-url", "https://example.com/wrun.deb", "--sha256", sha256]);
        place.run_with(words, place.ssh(&machine, "known", ""), code).stderr
    };
    has(&fetch(&digest, 1), &["could not fetch https://example.com/wrun.deb", "the machine lacks curl or wget"]);
    fs::copy(&place.package, place.root.at("/srv/wrun.deb").unwrap()).unwrap();
    place
        .root
        .write_program(
            "/usr/local/bin/curl",
            "#!/bin/sh\nwhile [ \"$1\" != --output ]; do shift; done\ncp /srv/wrun.deb \"$2\"\n",
        )
        .unwrap();
    has(&fetch(&"0".repeat(64), 1), &["does not have the SHA-256 that was given"]);
    assert!(!place.root.exists("/usr/bin/wrun") && place.is_clean());
    fetch(&digest, 0);
    assert!(place.root.exists("/srv/load"));
}

#[test]
fn what_is_asked_for_is_checked_before_ssh_starts() {
    let place = Place::new();
    let folder = place.program.configuration();
    fs::write(folder.join("broken.toml"), "[policy.load]\npath = 1\n").unwrap();
    fs::write(folder.join("other.deb"), "no package").unwrap();
    let (broken, other) = (folder.join("broken.toml"), folder.join("other.deb"));
    let (broken, other) = (broken.display().to_string(), other.display().to_string());
    let names = ["--policy-name", "load", "--policy-group", "prod"];
    let check = |more: &[&str], expect: &str| {
        let words: Vec<_> = ["bootstrap"].iter().chain(more).chain(&names).copied().collect();
        let output = place.program.run(&words).unwrap().expect_code(43).unwrap();
        has(&output.stderr, &[expect]);
    };
    check(&["x@y", "--grants", &broken], "broken.toml:2");
    check(&["x@y", "--package", &other], "it is not a package of Debian");
    check(&["x@y", "--repository", "https://example.com"], "--repository-root");
    check(&["x@y", "--repository", "here"], "neither an address nor the absolute path");
    check(&["x@y", "--package-url", "https://example.com/a b", "--sha256", &"0".repeat(64)], "is not an address");
    check(&["x@y", "--package-url", "https://example.com/a", "--sha256", "12"], "is not a SHA-256");
    check(&["--cloud-init"], "name it with --package-url");
    check(&[], "USER@HOST");
}

#[test]
fn a_cloud_config_does_the_same() {
    let place = Place::new();
    let machine = place.root.machine(Network::Own).unwrap();
    let words = ["--cloud-init", "--package-url", "https://example.com/it's.deb", "--sha256"];
    let digest = sha256(&place.package);
    let grants = place.program.configuration().join("grants.toml").display().to_string();
    let names = ["--policy-name", "load", "--policy-group", "prod", "--grants", &grants];
    let all: Vec<_> = ["bootstrap"].iter().chain(&words).chain(&[digest.as_str()]).chain(&names).copied().collect();
    let text = place.program.run(&all).unwrap().expect_code(0).unwrap().stdout;
    assert!(text.starts_with("#cloud-config\n") && text.len() < 16 << 10, "{text}");
    // As cloud-init does: it writes the files, and then runs the command.
    let entries: Vec<_> = text.split("\n- path: ").skip(1).collect();
    for entry in &entries {
        let value = |key: &str| entry.lines().find_map(|line| line.trim().strip_prefix(key)).unwrap_or_default().trim();
        let path = entry.lines().next().unwrap();
        let decoded =
            Command::new("sh").args(["-c", "printf %s \"$0\" | base64 -d", value("content:")]).output().unwrap();
        place.root.write(path, decoded.stdout).unwrap();
        let mode = u32::from_str_radix(value("permissions:").trim_matches('\''), 8).unwrap();
        fs::set_permissions(place.root.at(path).unwrap(), fs::Permissions::from_mode(mode)).unwrap();
    }
    fs::copy(&place.package, place.root.at("/srv/wrun.deb").unwrap()).unwrap();
    place.root.write_program("/usr/local/bin/curl", "#!/bin/sh\nwhile [ \"$1\" != --output ]; do shift; done\ncp /srv/wrun.deb \"$2\"\n[ \"$4\" = \"https://example.com/it's.deb\" ]\n").unwrap();
    let command = text.lines().last().unwrap().trim_start_matches("- [").trim_end_matches(']');
    let command: Vec<_> = command.split(", ").collect();
    let ran = machine.run(&command).unwrap();
    assert!(ran.status.success(), "{}{}", String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(place.root.exists("/srv/load"));
    place.root.write("/srv/wrun.deb", "another one").unwrap();
    let ran = machine.run(&command).unwrap();
    assert!(!ran.status.success());
    has(&String::from_utf8_lossy(&ran.stderr), &["does not have the SHA-256"]);
}

/// The policy `site`, in Ruby.
const RECIPE: &str = "file '/srv/site' do\n  content \"#{node['policy_group']}\\n\"\nend\n";

/// A repository with the policy `site` in the group `prod`, in a folder of the person who releases.
fn repository(program: &Program) -> PathBuf {
    let folder = program.configuration();
    for (file, text) in [
        ("policy.toml", "name = \"site\"\nrun_list = [\"site\"]\n"),
        ("cookbooks/site/metadata.rb", "name 'site'\nversion '1.0.0'\n"),
        ("cookbooks/site/recipes/default.rb", RECIPE),
    ] {
        let path = folder.join("site").join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let place = folder.join("releases");
    let [repository, site] = [&place, &folder.join("site")].map(|path| path.display().to_string());
    for words in [&["repository", "init", &repository, "--team", "site"][..], &["policy", "push", "prod", &site]] {
        let _ = program.run(words).unwrap().expect_code(0).unwrap();
    }
    place
}

#[test]
fn a_machine_follows_the_repository_whose_root_it_was_given() {
    let place = Place::new();
    let machine = place.root.machine(Network::Own).unwrap();
    // The small package has no Ruby; the repository lies on the machine, where only root can change it.
    let runtime = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/share/wrun").canonicalize().unwrap();
    let installed = place.root.at("/usr/share/wrun").unwrap();
    fs::create_dir_all(&installed).unwrap();
    assert!(machine.outside("mount").arg("--bind").args([&runtime, &installed]).status().unwrap().success());
    let stranger = Program::new().unwrap();
    let (released, other) = (repository(&place.program), repository(&stranger));
    assert!(
        Command::new("cp")
            .arg("--recursive")
            .arg(&released)
            .arg(place.root.at("/srv/releases").unwrap())
            .status()
            .unwrap()
            .success()
    );
    let (grants, package) = (place.program.configuration().join("site.toml"), place.package.display().to_string());
    fs::write(&grants, "[policy.site]\npaths = [\"/srv/site\"]\n").unwrap();
    let grants = grants.display().to_string();
    let run = |root: &Path, more: &[&str], code: i32| {
        let root = root.join("platform/metadata/1.root.json").display().to_string();
        let words =
            ["bootstrap", "root@machine", "--policy-name", "site", "--policy-group", "prod", "--package", &package];
        let repository = ["--grants", &grants, "--repository", "/srv/releases", "--repository-root", &root];
        let words = words.iter().chain(&repository).chain(more).map(|word| (*word).to_owned()).collect();
        place.run_with(words, place.ssh(&machine, "known", ""), code)
    };
    // The root of another repository: nothing of what is there runs.
    let refused = run(&other, &[], 1);
    has(&refused.stderr, &["has all files, and its run ended with the exit code 43"]);
    has(&refused.text(), &["/srv/releases"]);
    assert!(!place.root.exists("/srv/site"), "{}", refused.text());
    let ran = run(&released, &["--yes"], 0);
    assert_eq!(place.root.read("/srv/site").unwrap(), "prod\n", "{}", ran.text());
    let settings = place.root.read("/etc/wrun/wrun.toml").unwrap();
    has(&settings, &["repository = \"/srv/releases\"", "repository_root = "]);
    // What somebody adds without the team's signature is not run either.
    let artifacts = place.root.at("/srv/releases/teams/site/targets/revisions/site").unwrap();
    for entry in fs::read_dir(artifacts).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "wasm") {
            fs::write(path, "another one").unwrap();
        }
    }
    fs::remove_dir_all(place.root.at("/var/lib/wrun/releases").unwrap()).unwrap();
    fs::remove_file(place.root.at("/srv/site").unwrap()).unwrap();
    let _ = run(&released, &[], 1);
    assert!(!place.root.exists("/srv/site"));
}
