//! Folders of strangers: named pipes, devices and links where files are expected. Nothing waits for them, nothing is filled by
//! them, nothing is written where they lead.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use specs::{Machine, Network, Program, Root};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Output};

fn write(folder: &Path, path: &str, text: &str) {
    let path = folder.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn policy() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "policy.toml", "name = \"web\"\nrun_list = [\"web\"]\n");
    write(folder.path(), "cookbooks/web/metadata.rb", "name 'web'\nversion '1.0.0'\n");
    write(folder.path(), "cookbooks/web/recipes/default.rb", "log 'x'\n");
    folder
}

fn pipe(folder: &Path, path: &str) {
    let path = folder.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    drop(fs::remove_file(&path));
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
}

/// Runs wrun. It has a minute: what waits for a pipe, or reads a device without end, is killed.
fn run(program: &Program, folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new("timeout");
    command.args(["--signal=KILL", "60"]).arg(program.executable()).args(arguments).arg(folder);
    command.env_clear().env("PATH", "/usr/bin:/bin").env("HOME", folder);
    command.env("WRUN_CONFIG", program.configuration().join("wrun.toml")).output().unwrap()
}

/// Every file of an author that some command reads, in turn as a pipe and as a device.
#[test]
fn no_command_of_authors_waits_for_a_pipe_or_reads_a_device() {
    let program = Program::new().unwrap();
    let cases: [(&str, &[&str]); 6] = [
        ("policy.toml", &["policy", "build"]),
        ("cookbooks/web/chefignore", &["policy", "build"]),
        ("tests/case.toml", &["policy", "test"]),
        ("tests/facts/strange.json", &["policy", "test"]),
        ("tests/snapshots/debian-12.json", &["policy", "test"]),
        ("chefignore", &["cookbook", "check", "--all", "--cookbooks"]),
    ];
    for (file, arguments) in cases {
        let folder = policy();
        pipe(folder.path(), file);
        let piped = run(&program, folder.path(), arguments);
        fs::remove_file(folder.path().join(file)).unwrap();
        symlink("/dev/zero", folder.path().join(file)).unwrap();
        for output in [piped, run(&program, folder.path(), arguments)] {
            let said = String::from_utf8_lossy(&[&output.stdout[..], &output.stderr].concat()).into_owned();
            assert!(output.status.code().is_some_and(|code| code != 137), "{file}: {output:?}");
            assert!(!output.status.success() || file == "chefignore", "{file}: {output:?}");
            assert!(
                said.contains("not a plain file") || said.contains("is a link") || file == "chefignore",
                "{file}: {said}"
            );
        }
    }
}

#[test]
fn a_converge_from_folders_does_not_wait_for_a_pipe() {
    let (program, root) = (Program::new().unwrap(), Root::new().unwrap());
    let machine: Machine<'_> = root.machine(Network::Own).unwrap();
    let cookbooks = program.configuration().join("cookbooks");
    write(&cookbooks, "web/metadata.rb", "name 'web'\n");
    write(&cookbooks, "web/recipes/default.rb", "log 'x'\n");
    for place in ["chefignore", "web/chefignore"] {
        pipe(&cookbooks, place);
        let (folder, base) = (cookbooks.display().to_string(), root.path().display().to_string());
        let all = ["converge", "--node-name", "node1", "--cookbooks", &folder, "--root", &base, "--run-list", "web"];
        let output = program.run_in(&machine, &all).unwrap();
        fs::remove_file(cookbooks.join(place)).unwrap();
        assert!(output.text().contains("not a plain file"), "{place}: {}", output.text());
    }
}

#[test]
fn nothing_is_written_through_a_link_in_a_policys_folder() {
    let program = Program::new().unwrap();
    let (folder, elsewhere) = (policy(), tempfile::tempdir().unwrap());
    symlink(elsewhere.path(), folder.path().join(".wrun")).unwrap();
    let output = run(&program, folder.path(), &["policy", "test", "--update"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains(".wrun is a link, and wrun would write where it leads: remove it"), "{output:?}");
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
}
