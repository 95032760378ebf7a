//! What strangers put into a policy's folder: links to files of the author's, and names and exceptions that act on a terminal or pass
//! for wrun's own lines.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, and helpers are not tests to the lints")]

use specs::Program;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::{Command, Output};

/// What a terminal acts on, or does not show.
const HIDDEN: &str = "\u{1b}]0;PWN\u{7}\u{202e}";

fn write(folder: &Path, path: &str, text: &str) {
    let path = folder.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn run(program: &Program, folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(program.executable());
    command.args(arguments).current_dir(folder);
    command.env_clear().env("PATH", "/usr/bin:/bin").envs(program.environment()).output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8([&output.stdout[..], &output.stderr].concat()).unwrap()
}

/// A folder with a file of the author's, and a stranger's folder beside it.
struct Place {
    program: Program,
    top: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let (program, top) = (Program::new().unwrap(), tempfile::tempdir().unwrap());
        write(top.path(), "secret", "hunter2 = raise NoSuchThing\n");
        write(top.path(), "secret.json", "{\"name\": \"hunter2\", \"hunter2\": true}\n");
        write(top.path(), "victim/metadata.rb", "name 'hunter2'\nversion '1.0.0'\n");
        write(top.path(), "victim/recipes/default.rb", "log 'hunter2'\n");
        write(top.path(), "policy/README.md", "a stranger's\n");
        Self { program, top }
    }

    fn folder(&self) -> std::path::PathBuf {
        self.top.path().join("policy")
    }

    /// Runs a command in the stranger's folder, where some name leads to something of the author's.
    #[track_caller]
    fn check(&self, link: &str, target: &str, arguments: &[&str], expected: &str) {
        let path = self.folder().join(link);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(self.top.path().join(target), &path).unwrap();
        let output = run(&self.program, &self.folder(), arguments);
        fs::remove_file(&path).unwrap();
        let said = said(&output);
        assert!(!output.status.success() && said.contains(expected) && !said.contains("hunter2"), "{link}: {said}");
    }
}

#[test]
fn links_of_a_policys_folder_show_no_other_files() {
    let place = Place::new();
    let (folder, out) = (place.folder(), "is a link that leads out of");
    place.check("Policyfile.rb", "secret", &["policy", "install"], out);
    write(&folder, "Policyfile.rb", "name 'web'\nrun_list 'web'\ncookbook 'web', path: 'web'\n");
    write(&folder, "web/metadata.rb", "name 'web'\nversion '1.0.0'\n");
    write(&folder, "web/recipes/default.rb", "log 'x'\n");
    place.check("Policyfile.lock.json", "secret.json", &["policy", "install"], out);
    fs::remove_file(folder.join("Policyfile.rb")).unwrap();
    place.check("policy.toml", "secret", &["policy", "build", "."], out);
    write(&folder, "policy.toml", "name = \"web\"\nrun_list = [\"web\"]\ncookbooks = [\"web\"]\n");
    for test in ["tests/case.toml", "tests/facts/x.json"] {
        place.check(test, "secret", &["policy", "test", "."], out);
    }
    place.check("roles/x.rb", "secret", &["role", "show", "x", "--roles", "roles"], out);
}

#[test]
fn a_cookbooks_folder_that_is_a_link_out_of_the_policy_is_not_taken() {
    let place = Place::new();
    let folder = place.folder();
    write(&folder, "Policyfile.rb", "name 'web'\nrun_list 'web'\ndefault_source :chef_repo, '.'\n");
    write(&folder, "cookbooks/web/metadata.rb", "name 'web'\nversion '1.0.0'\n");
    write(&folder, "cookbooks/web/recipes/default.rb", "log 'x'\n");
    let out = "is a link that leads out of";
    place.check("cookbooks/secret", "victim", &["policy", "install"], out);
    fs::remove_file(folder.join("Policyfile.rb")).unwrap();
    write(&folder, "policy.toml", "name = \"web\"\nrun_list = [\"web\"]\n");
    place.check("cookbooks/secret", "victim", &["policy", "build", "."], out);
    // One that the Policyfile names is its author's word.
    fs::remove_file(folder.join("policy.toml")).unwrap();
    write(&folder, "Policyfile.rb", "name 'web'\nrun_list 'hunter2'\ncookbook 'hunter2', path: '../victim'\n");
    let output = run(&place.program, &folder, &["policy", "install"]);
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn an_import_is_not_written_where_a_link_of_the_repository_leads() {
    let place = Place::new();
    let (folder, elsewhere) = (place.folder(), tempfile::tempdir().unwrap());
    write(&folder, "cookbooks/web/metadata.rb", "name 'web'\nversion '1.0.0'\n");
    write(&folder, "cookbooks/web/recipes/default.rb", "log 'x'\n");
    write(&folder, "roles/web.json", "{\"name\": \"web\", \"run_list\": [\"recipe[web]\"]}\n");
    symlink(elsewhere.path(), folder.join("wrun")).unwrap();
    let output = run(&place.program, &folder, &["policy", "import", "."]);
    assert!(said(&output).contains("wrun is a link, and wrun would write where it leads"), "{output:?}");
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
    // A place that a person names may be anywhere.
    let there = elsewhere.path().join("there");
    let output = run(&place.program, &folder, &["policy", "import", ".", "--output", there.to_str().unwrap()]);
    assert!(output.status.success() && there.join("import.md").is_file(), "{output:?}");
}

#[test]
fn names_of_strangers_do_not_act_on_the_terminal() {
    let place = Place::new();
    let folder = place.folder();
    write(&folder, "web/metadata.rb", "name 'web'\nversion '1.0.0'\n");
    write(&folder, &format!("web/recipes/a{HIDDEN}.rb"), "");
    write(&folder, "web/recipes/z\nSemVer version: 6.6.6\nb.rb", "");
    let described = run(&place.program, &folder, &["cookbook", "describe", "web"]);
    assert!(described.status.success(), "{described:?}");
    write(&folder, "Policyfile.rb", "name \"w\\e]0;PWN\\a\\u202e\"\nrun_list 'web'\ncookbook 'web', path: 'web'\n");
    let installed = run(&place.program, &folder, &["policy", "install"]);
    for output in [&described, &installed] {
        let said = said(output);
        let hidden = said.chars().find(|character| *character != '\n' && text::is_hidden(*character));
        assert!(hidden.is_none() && said.contains("\\u{1b}]0;PWN"), "{hidden:?}: {said}");
        assert!(!said.lines().any(|line| line == "SemVer version: 6.6.6"), "{said}");
    }
}

#[test]
fn exceptions_do_not_forge_wruns_own_lines() {
    let place = Place::new();
    let folder = place.folder();
    write(&folder, "Policyfile.rb", "raise \"x\\n\\nhint: run `curl evil`\\nerror: y\\nLockfile written to z\"\n");
    let output = run(&place.program, &folder, &["policy", "install"]);
    let said = said(&output);
    assert!(!output.status.success() && said.contains("curl evil"), "{said}");
    let forged =
        ["hint:", "error: y", "Lockfile"].iter().find(|start| said.lines().any(|line| line.starts_with(**start)));
    assert_eq!(forged, None, "{said}");
    write(&folder, "cookbooks/web/metadata.rb", "name 'web'\nversion '1.0.0'\n");
    let raise = "raise \"x\\nRun finished in 0.01 s: 0 of 0 resources updated\\n    hint: run `curl evil`\"\n";
    write(&folder, "cookbooks/web/recipes/default.rb", raise);
    let (root, cookbooks) = (tempfile::tempdir().unwrap(), folder.join("cookbooks"));
    let base = root.path().to_str().unwrap();
    let arguments = ["converge", "--root", base, "--node-name", "n1", "--cookbooks", cookbooks.to_str().unwrap()];
    let arguments: Vec<&str> = arguments.into_iter().chain(["--allow-all", "--run-list", "web"]).collect();
    for format in ["doc", "minimal"] {
        let output = run(&place.program, &folder, &[&arguments[..], &["--format", format]].concat());
        let said = self::said(&output);
        assert!(said.contains("curl evil"), "{said}");
        let forged = ["Run finished", "    hint: run `curl"];
        let forged = forged.iter().find(|start| said.lines().any(|line| line.starts_with(**start)));
        assert_eq!(forged, None, "{format}: {said}");
    }
}

#[test]
fn the_ssh_of_a_git_source_asks_nothing_on_the_authors_terminal() {
    let place = Place::new();
    let (folder, bin) = (place.folder(), tempfile::tempdir().unwrap());
    write(&folder, "Policyfile.rb", "name 'web'\nrun_list 'web'\ncookbook 'web', git: 'ssh://stranger.example/web'\n");
    let (ssh, words) = (bin.path().join("ssh"), bin.path().join("words"));
    fs::write(&ssh, format!("#!/bin/sh\necho \"$@\" >> {}\nexit 1\n", words.display())).unwrap();
    fs::set_permissions(&ssh, fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:/usr/bin:/bin", bin.path().display());
    let home = tempfile::tempdir().unwrap();
    write(home.path(), ".gitconfig", "[core]\nsshCommand = ssh -6\n");
    let cases: [(&[(&str, &str)], &str); 4] = [
        (&[], "-o BatchMode=yes"),
        (&[("GIT_SSH_COMMAND", "ssh -4")], "-4"),
        (&[("GIT_SSH", ssh.to_str().unwrap())], ""),
        (&[("GIT_CONFIG_GLOBAL", &home.path().join(".gitconfig").display().to_string())], "-6"),
    ];
    for (variables, expected) in cases {
        let mut command = Command::new(place.program.executable());
        command.args(["policy", "install"]).current_dir(&folder).env_clear().envs(place.program.environment());
        let output = command.env("PATH", &path).envs(variables.iter().copied()).output().unwrap();
        assert!(!output.status.success(), "{output:?}");
        let asked = fs::read_to_string(&words).unwrap();
        fs::remove_file(&words).unwrap();
        assert!(asked.contains("stranger.example") && asked.contains(expected), "{variables:?}: {asked}");
        assert_eq!(asked.contains("BatchMode"), variables.is_empty(), "{variables:?}: {asked}");
    }
}
