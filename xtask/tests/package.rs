//! The Debian package in a minimal Debian 12 without systemd: installed, used, upgraded, removed and purged.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, and helpers are not tests to the lints")]

use serde_json::Value;
use specs::book::{Reader, follow};
use specs::{Machine, Network, Root, program};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The most that an installation takes on the disk, in MiB: the program of the tests is not optimised for size.
const MOST_ON_DISK: u64 = 400;

const RECIPE: &str = "file '/srv/ruby' do\n  content \"#{node['platform']}\\n\"\nend\n";

/// Makes a package of the tests' own program and runtime.
fn package(version: &str, output: &Path) -> PathBuf {
    let [package] = <[PathBuf; 1]>::try_from(make(version, output, &["--only-deb"])).unwrap();
    package
}

/// Makes the package and, unless options say otherwise, the archive.
fn make(version: &str, output: &Path, options: &[&str]) -> Vec<PathBuf> {
    let runtime = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/share/wrun");
    let mut make = Command::new(env!("CARGO_BIN_EXE_xtask"));
    make.args(["package", "--version", version, "--output"]).arg(output).args(options);
    make.arg("--program").arg(program::executable().unwrap()).arg("--runtime").arg(runtime);
    let made = make.output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let files: Vec<_> = String::from_utf8(made.stdout).unwrap().lines().map(PathBuf::from).collect();
    assert_eq!(files.first(), Some(&output.join(format!("wrun_{version}_amd64.deb"))));
    assert_eq!(fs::read_dir(output).unwrap().filter(|entry| is_work(&entry.as_ref().unwrap().path())).count(), 0);
    files
}

fn is_work(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("work-"))
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// Runs a command inside that has to succeed, and returns what it said.
fn run(machine: &Machine<'_>, words: &[&str]) -> String {
    let output = machine.run(words).unwrap();
    assert!(output.status.success(), "{words:?} ended with {}: {}", output.status, said(&output));
    said(&output)
}

/// Puts a package into the root, installs it, and removes the file.
fn install(machine: &Machine<'_>, package: &Path) {
    let inside = machine.root().at("/root/wrun.deb").unwrap();
    fs::copy(package, &inside).unwrap();
    run(machine, &["dpkg", "--install", "/root/wrun.deb"]);
    fs::remove_file(inside).unwrap();
}

/// Checks that the installed pages are whole: what they link to is installed, and have what they include.
fn check_book(book: &Path) {
    let pages = pages_below(book);
    assert!(pages.len() > 60 && pages.iter().any(|page| page.ends_with("resources/file.md")), "{pages:?}");
    for page in pages {
        let text = fs::read_to_string(&page).unwrap();
        assert!(!text.contains("{{#"), "{} includes a file that does not stand in it", page.display());
        let mut in_code = false;
        for line in text.lines() {
            in_code ^= line.trim_start().starts_with("```");
            // What is written as code is not a link.
            let prose = line.split('`').step_by(2).collect::<String>();
            for target in prose.split("](").skip(1).filter(|_| !in_code) {
                let target = target.split([')', '#', ' ']).next().unwrap();
                assert!(
                    target.is_empty()
                        || target.contains("://")
                        || target.starts_with("mailto:")
                        || page.with_file_name(target).exists(),
                    "{} links to {target}, which is not installed",
                    page.display()
                );
            }
        }
    }
    let settings = fs::read_to_string(book.join("settings.md")).unwrap();
    let example = fs::read_to_string(book.join("wrun.toml")).unwrap();
    assert!(settings.contains(example.trim_end()), "settings.md has all keys with their defaults");
}

fn pages_below(folder: &Path) -> Vec<PathBuf> {
    let mut pages = vec![];
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            pages.extend(pages_below(&path));
        } else if path.extension().is_some_and(|ending| ending == "md") {
            pages.push(path);
        }
    }
    pages
}

/// Checks on another system that the archive has what the package has, and that it works when it is unpacked as docs/install.md
/// says.
fn check_archive(package: &Path, archive: &Path) {
    let place = tempfile::tempdir().unwrap();
    let root = Root::new().unwrap();
    let machine = root.machine(Network::Own).unwrap();
    // The root has no zstd: another system's tools unpack the archive.
    let unpacked = root.at("/root/unpacked").unwrap();
    fs::create_dir(&unpacked).unwrap();
    let mut unpack = Command::new("tar");
    unpack.args(["--zstd", "--extract", "--file"]).arg(archive).arg("--directory").arg(&unpacked);
    assert!(unpack.status().unwrap().success());
    let of_package = place.path().join("package");
    assert!(Command::new("dpkg-deb").arg("--extract").arg(package).arg(&of_package).status().unwrap().success());
    assert_eq!(listing(&unpacked.join("wrun-0.1.0")), listing(&of_package));

    run(
        &machine,
        &[
            "sh",
            "-c",
            "cp --archive --sparse=always /root/unpacked/wrun-0.1.0/usr /root/unpacked/wrun-0.1.0/etc / && rm -r /root/unpacked",
        ],
    );
    root.write("/root/ruby/policy.toml", "name = \"ruby\"\nrun_list = [\"web\"]\n").unwrap();
    root.write("/root/ruby/cookbooks/web/metadata.rb", "name 'web'\nversion '1.0.0'\n").unwrap();
    root.write("/root/ruby/cookbooks/web/recipes/default.rb", RECIPE).unwrap();
    run(&machine, &["env", "HOME=/root", "wrun", "policy", "build", "/root/ruby", "--output", "/etc/wrun/policies"]);
    root.write("/etc/wrun/grants.toml", "[policy.ruby]\npaths = [\"/srv/ruby\"]\n").unwrap();
    let told = run(&machine, &["wrun", "converge", "--policy-name", "ruby", "-N", "n1"]);
    assert!(!told.contains("compiling the Ruby runtime"), "{told}");
    assert_eq!(root.read("/srv/ruby").unwrap(), "debian\n");
}

/// The pages on which the book's three readers start.
const STARTS: [&str; 3] = ["start-operator.md", "first-policy.md", "start-chef.md"];

/// Goes through the starts as somebody who has installed the package, and types only what stands there.
fn check_starts(package: &Path) {
    let mut pages = specs::book::pages().unwrap();
    pages.retain(|page| STARTS.iter().any(|name| page.path.ends_with(name)));
    assert_eq!(pages.len(), STARTS.len());
    for page in pages {
        let root = Reader::root(&page).unwrap();
        let mut reader = Reader::with_package(&root, &page, package).unwrap();
        let problems = follow(&page, &mut reader).unwrap().problems;
        assert!(problems.is_empty(), "with the package installed:\n{}", problems.join("\n"));
    }
}

/// Every file below a folder, with its mode, its owner and its content's digest.
fn listing(folder: &Path) -> String {
    let each = "find . ! -type d -printf '%p %m %U:%G ' -exec sha256sum --binary {} \\; | sort";
    let listed = Command::new("sh").args(["-c", each]).current_dir(folder).output().unwrap();
    assert!(listed.status.success() && listed.stdout.len() > 1000, "{}", said(&listed));
    String::from_utf8(listed.stdout).unwrap()
}

#[test]
fn the_package_is_installed_used_upgraded_removed_and_purged() {
    let place = tempfile::tempdir().unwrap();
    let [first, archive] = <[PathBuf; 2]>::try_from(make("0.1.0", place.path(), &[])).unwrap();
    assert_eq!(archive, place.path().join("wrun-0.1.0-linux-amd64.tar.zst"));
    check_archive(&first, &archive);
    fs::remove_file(archive).unwrap();
    check_starts(&first);
    let second = package("0.1.1", place.path());
    let root = Root::new().unwrap();
    assert!(!root.exists("/usr/bin/systemctl"), "the root has no systemd");
    let machine = root.machine(Network::Own).unwrap();
    install(&machine, &first);

    // Everything is in its place, belongs to root, and takes no more than it should.
    assert_eq!(run(&machine, &["dpkg", "--verify", "wrun"]), "");
    assert!(run(&machine, &["wrun", "--version"]).starts_with("wrun "));
    for file in [
        "/usr/share/man/man1/wrun-agent.1.gz",
        "/usr/share/bash-completion/completions/wrun",
        "/usr/share/zsh/vendor-completions/_wrun",
        "/usr/share/fish/vendor_completions.d/wrun.fish",
        "/usr/lib/systemd/system/wrun-agent.service",
        "/usr/lib/systemd/system/wrun-converge.timer",
        "/usr/share/doc/wrun/examples/grants.toml",
        "/etc/logrotate.d/wrun",
    ] {
        assert!(root.exists(file), "{file}");
    }
    check_book(&root.at("/usr/share/doc/wrun").unwrap());
    // Logs and reports have a folder, and are rotated.
    assert_eq!(run(&machine, &["stat", "-c", "%a %U", "/var/log/wrun"]), "750 root\n");
    let rotated = root.read("/etc/logrotate.d/wrun").unwrap();
    assert!(rotated.contains("\n/var/log/wrun/*.log /var/log/wrun/*.ndjson {\n"), "{rotated}");
    for unit in ["wrun-agent", "wrun-converge"] {
        let unit = root.read(format!("/usr/lib/systemd/system/{unit}.service")).unwrap();
        assert!(unit.contains("\nLogsDirectory=wrun\nLogsDirectoryMode=0750\n"), "{unit}");
    }
    let completions = root.read("/usr/share/bash-completion/completions/wrun").unwrap();
    assert!(!completions.contains("work-"), "completions name no folder of the packager: {completions}");
    let du = run(
        &machine,
        &["sh", "-c", "dpkg -L wrun | while read -r f; do [ -f \"$f\" ] && echo \"$f\"; done | xargs du -cm | tail -1"],
    );
    let mebibytes: u64 = du.split_whitespace().next().unwrap().parse().unwrap();
    assert!(mebibytes < MOST_ON_DISK, "{mebibytes} MiB on the disk");
    let native = run(&machine, &["sh", "-c", "stat -c '%s %b' /usr/share/wrun/*.native"]);
    let sizes: Vec<u64> = native.split_whitespace().map(|number| number.parse().unwrap()).collect();
    let [size, blocks] = sizes[..] else { panic!("{native}") };
    assert!(blocks * 512 < size / 3, "the native code has holes: {blocks} blocks for {size} bytes");

    // Three policies converge; nothing of the Ruby runtime is compiled.
    let artifacts = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/fixtures");
    for policy in ["empty", "load"] {
        fs::copy(
            artifacts.join(format!("{policy}.wasm")),
            root.at(format!("/etc/wrun/policies/{policy}.wasm")).unwrap(),
        )
        .unwrap();
    }
    root.write("/root/ruby/policy.toml", "name = \"ruby\"\nrun_list = [\"web\"]\n").unwrap();
    root.write("/root/ruby/cookbooks/web/metadata.rb", "name 'web'\nversion '1.0.0'\n").unwrap();
    root.write("/root/ruby/cookbooks/web/recipes/default.rb", RECIPE).unwrap();
    run(&machine, &["env", "HOME=/root", "wrun", "policy", "build", "/root/ruby", "--output", "/etc/wrun/policies"]);
    root.write("/etc/wrun/grants.toml", "[policy.ruby]\npaths = [\"/srv/ruby\"]\n[policy.empty]\n[policy.load]\npaths = [\"/srv/load\", \"/srv/load/**\"]\n")
        .unwrap();
    root.write("/etc/wrun/wrun.toml", "policy_name = [\"empty\", \"load\", \"ruby\"]\nnode_name = \"n1\"\n").unwrap();
    let report = run(&machine, &["sh", "-c", "wrun converge --format json 2>/root/said"]);
    let report: Value = serde_json::from_str(&report).unwrap();
    assert_eq!(report["outcome"], "success", "{report:#}");
    assert_eq!(root.read("/srv/ruby").unwrap(), "debian\n");
    let told = root.read("/root/said").unwrap();
    assert!(!told.contains("compiling the Ruby runtime"), "{told}");

    // An upgrade keeps the operator's settings; removal keeps settings and state.
    install(&machine, &second);
    assert!(run(&machine, &["dpkg-query", "-W", "wrun"]).contains("0.1.1"));
    assert!(root.read("/etc/wrun/wrun.toml").unwrap().starts_with("policy_name"));
    run(&machine, &["wrun", "converge"]);
    // A folder that is there keeps the mode that an operator gave it.
    let folders = ["/var/log/wrun", "/etc/wrun/policies", "/etc/wrun/grants.d"];
    for folder in folders {
        run(&machine, &["chmod", "2750", folder]);
    }
    install(&machine, &second);
    for folder in folders {
        assert_eq!(run(&machine, &["stat", "-c", "%a", folder]), "2750\n", "{folder}");
    }
    run(&machine, &["dpkg", "--remove", "wrun"]);
    assert!(!root.exists("/usr/bin/wrun") && !root.exists("/usr/share/wrun"));
    assert!(
        root.exists("/etc/wrun/wrun.toml")
            && root.exists("/etc/wrun/grants.toml")
            && root.exists("/var/lib/wrun/nodes")
    );
    // A run that is under way keeps its state until its end. It ends when the package's script waits for its lock.
    let under_way = "touch /srv/begun; until grep -q -e '-> FLOCK' /proc/locks; do sleep 0.05; done; echo x > /var/lib/wrun/last && touch /srv/ended";
    let mut under_way = machine.command("flock").args(["/var/lib/wrun/lock", "sh", "-c", under_way]).spawn().unwrap();
    while !root.exists("/srv/begun") {
        assert_eq!(under_way.try_wait().unwrap(), None, "the lock is not held");
        std::thread::yield_now();
    }
    run(&machine, &["dpkg", "--purge", "wrun"]);
    let ended = root.exists("/srv/ended");
    let _has_ended = under_way.kill();
    under_way.wait().unwrap();
    assert!(ended, "the package was purged during a run");
    for gone in ["/etc/wrun", "/var/lib/wrun", "/var/cache/wrun", "/etc/logrotate.d/wrun", "/var/log/wrun"] {
        assert!(!root.exists(gone), "{gone}");
    }
    assert_eq!(root.read("/srv/ruby").unwrap(), "debian\n", "what policies made stays");
}
