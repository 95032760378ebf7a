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
    command.env_clear().env("PATH", "/usr/bin:/bin").envs(program.environment()).output().unwrap()
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

/// Where a command writes a file, the folder has a link, or a pipe, of its name. The file takes its place.
#[test]
fn outputs_take_the_place_of_links_and_pipes() {
    let program = Program::new().unwrap();
    let victim = tempfile::NamedTempFile::new().unwrap();
    fs::write(victim.path(), "kept").unwrap();
    let cases: [(&str, &[&str]); 4] = [
        ("web.wasm", &["policy", "build"]),
        ("tests/snapshots/debian-12.json", &["policy", "test", "--update"]),
        (".wrun/test/web.wasm", &["policy", "test", "--update"]),
        ("policy.lock.json", &["policy", "update"]),
    ];
    for (file, arguments) in cases {
        for is_pipe in [true, false] {
            let folder = policy();
            let path = folder.path().join(file);
            pipe(folder.path(), file);
            if !is_pipe {
                fs::remove_file(&path).unwrap();
                symlink(victim.path(), &path).unwrap();
            }
            let of_toml = folder.path().join("policy.toml");
            let place = if file == "policy.lock.json" { of_toml.as_path() } else { folder.path() };
            let output = run(&program, place, arguments);
            assert!(output.status.code().is_some_and(|code| code != 137), "{file}: {output:?}");
            let is_refused = String::from_utf8_lossy(&output.stderr).contains("is a link, and wrun would write where");
            assert!(is_refused || output.status.success(), "{file}: {output:?}");
            assert!(is_refused || fs::symlink_metadata(&path).unwrap().is_file(), "{file}");
            assert_eq!(fs::read_to_string(victim.path()).unwrap(), "kept", "{file}");
        }
    }
}

/// A name that can be guessed before the file has its own is a name that somebody has put a link at.
#[test]
fn no_file_is_written_under_a_name_that_can_be_guessed() {
    let program = Program::new().unwrap();
    let victim = tempfile::NamedTempFile::new().unwrap();
    fs::write(victim.path(), "kept").unwrap();
    // The shell knows the number that its process has, and so will the program that takes its place.
    let script = "for name in \"$DIR\"/.web-$$ \"$DIR\"/.web.wasm-$$ \"$DIR\"/.policy.lock.json-$$; do \
                  ln -s \"$VICTIM\" $name.unfinished; done; exec \"$@\"";
    for arguments in [&["policy", "build"][..], &["policy", "update"]] {
        let folder = policy();
        let place =
            if arguments.contains(&"update") { folder.path().join("policy.toml") } else { folder.path().into() };
        let mut command = Command::new("sh");
        command.args(["-c", script, "sh"]).arg(program.executable()).args(arguments).arg(place);
        command.env_clear().env("PATH", "/usr/bin:/bin").envs(program.environment());
        let output = command.env("DIR", folder.path()).env("VICTIM", victim.path()).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        assert_eq!(fs::read_to_string(victim.path()).unwrap(), "kept", "{arguments:?}");
    }
}

/// An archive's name is known before it is made, and so was the one that it had until then.
#[test]
fn an_exported_archive_is_not_written_through_a_link() {
    let program = Program::new().unwrap();
    let (folder, out) = (policy(), tempfile::tempdir().unwrap());
    let victim = tempfile::NamedTempFile::new().unwrap();
    fs::write(victim.path(), "kept").unwrap();
    write(folder.path(), "Policyfile.rb", "name 'web'\nrun_list 'web'\ncookbook 'web', path: 'cookbooks/web'\n");
    let file = folder.path().join("Policyfile.rb");
    assert!(run(&program, &file, &["policy", "install"]).status.success());
    let file = file.to_str().unwrap();
    let export = || run(&program, out.path(), &["policy", "export", "-a", file]);
    assert!(export().status.success());
    let archive = fs::read_dir(out.path()).unwrap().next().unwrap().unwrap().path();
    fs::remove_file(&archive).unwrap();
    symlink(victim.path(), &archive).unwrap();
    symlink(victim.path(), archive.with_extension("unfinished")).unwrap();
    let output = export();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(fs::read_to_string(victim.path()).unwrap(), "kept");
    assert!(fs::symlink_metadata(&archive).unwrap().is_file());
}

/// The policy's folder may be the cookbook's, and lie among all that the author works on.
#[test]
fn a_cookbooks_metadata_see_no_neighbours() {
    let program = Program::new().unwrap();
    let top = tempfile::tempdir().unwrap();
    let folder = top.path().join("web");
    write(top.path(), "neighbour/files/secret", "the author's");
    write(&folder, "policy.toml", "name = \"web\"\nrun_list = [\"web\"]\ncookbooks = [\".\"]\n");
    write(&folder, "recipes/default.rb", "");
    for call in ["'cookbooks.read', 'neighbour', 'files/secret'", "'cookbooks.all'"] {
        let text = format!("name 'web'\nversion '1.0.0'\nraise \"got #{{Wrun::Bridge.call({call}).inspect}}\"\n");
        write(&folder, "metadata.rb", &text);
        let output = run(&program, &folder, &["policy", "build"]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "{output:?}");
        assert!(!said.contains("the author's"), "{said}");
        assert!(call.contains("neighbour") || said.contains("got") && !said.contains("neighbour"), "{said}");
    }
}
