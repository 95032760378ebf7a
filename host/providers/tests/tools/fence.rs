//! Fences around programs: what Landlock keeps, with real programs.

use machine::command::{Commands, Fence, Launch};
use machine::users::Users;
use std::path::Path;

/// Runs a shell in a folder of its own, and returns what it prints; links in the folder lead elsewhere.
fn shell(folder: &Path, fence: Fence, script: &str) -> String {
    let here = folder.join("here");
    std::fs::create_dir_all(&here).unwrap();
    let launch = Launch::program("sh", ["-c", script]).cwd(here.to_str().unwrap()).fenced(fence);
    let outcome = Commands::new(Path::new("/"), None).run(&launch, &mut Users::default(), None).unwrap();
    String::from_utf8(outcome.output).unwrap().trim().to_owned()
}

#[test]
fn git4_a_fenced_program_changes_what_is_in_its_directory_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap();
    let elsewhere = path.join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    std::fs::write(elsewhere.join("kept"), "kept").unwrap();
    let known = path.join("known");
    std::fs::write(&known, "").unwrap();
    let fence = || Fence { writes_here: true, files: vec![known.to_str().unwrap().into()], programs: None };
    let script = "mkdir sub; echo x > sub/in; mv sub dir; ln -s ../elsewhere way; echo x > way/out; mkdir way/made;
        rm -f way/kept; echo x >> way/kept; echo x > /dev/null && echo sink; echo x >> ../known; cat dir/in";
    assert_eq!(shell(&path, fence(), script), "sink\nx");
    assert_eq!(std::fs::read_to_string(elsewhere.join("kept")).unwrap(), "kept");
    assert_eq!(std::fs::read_dir(&elsewhere).unwrap().count(), 1);
    assert_eq!(std::fs::read_to_string(&known).unwrap(), "x\n");
    assert_eq!(shell(&path, Fence::default(), "cat dir/in; echo y > dir/in || rm dir/in || echo kept"), "x\nkept");
}

#[test]
fn a_fenced_program_starts_no_other_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap();
    let fence = |programs| Fence { programs: Some(programs), ..Fence::default() };
    assert_eq!(shell(&path, fence(&[]), "cat /dev/null || echo refused"), "refused");
    assert_eq!(
        shell(&path, fence(&["/usr/bin/cat"]), "cat /dev/null && echo started; ls / || echo refused"),
        "started\nrefused"
    );
    assert_eq!(shell(&path, fence(&["/usr/bin"]), "ls / > /dev/null && echo started"), "started");
}

/// A script needs its interpreter and all that it calls: nobody knows what to let it start, and it was let start everything.
#[test]
fn attack_a_script_in_the_place_of_a_fenced_program_is_not_started() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap();
    let script = path.join("git");
    std::fs::write(&script, "#!/bin/sh\nexec git \"$@\"\n").unwrap();
    std::fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let run = |programs| {
        let launch = Launch::program(script.to_str().unwrap(), ["--version"]).cwd(path.to_str().unwrap());
        let launch = launch.fenced(Fence { programs, ..Fence::default() });
        let outcome = Commands::new(Path::new("/"), None).run(&launch, &mut Users::default(), None);
        outcome.map_err(|failure| failure.into_raised(&launch))
    };
    let raised = run(Some(&["/usr/lib/git-core"])).unwrap_err();
    let expect = format!(
        "{} is not started: it is a script, so that wrun cannot limit which programs it starts",
        script.display()
    );
    assert_eq!(raised.message, expect);
    assert!(raised.hint.unwrap().contains("grant the command `{ argv = [\"git\"] }`"));
    assert_eq!(run(None).unwrap().code, Some(0), "writing alone is limited");
}
