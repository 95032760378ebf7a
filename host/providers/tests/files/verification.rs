//! What has to accept new content before it is put in place.

use super::file::{file, short};
use super::support::{Machine, Outcome};
use contract::Certainty;
use serde_json::json;
use std::os::unix::fs::chown;

#[test]
fn verification_comes_before_the_file_is_touched() {
    let mut machine = Machine::whole();
    machine.write("/etc/conf", "good old");
    let conf = machine.absolute("/etc/conf");
    let good = json!({ "content": "good new", "verify": ["grep -q good %{path}"] });
    machine.check(
        &file(&conf, "create", good),
        &[&format!("update content in file {conf} from {} to {}", short("good old"), short("good new"))],
    );
    let bad = json!({ "content": "bad", "verify": ["grep -q good %{path}"] });
    let raised = machine.fails(
        &file(&conf, "create", bad.clone()),
        "Chef::Exceptions::ValidationFailed",
        &format!(
            "Proposed content for {conf} failed verification grep -q good %{{path}}\nSTDOUT: \nSTDERR: \n\nTemporary file \
             moved to "
        ),
    );
    let kept = raised.message.rsplit_once("moved to ").unwrap().1.to_owned();
    let place = machine.absolute("/srv");
    let elsewhere = |variable: &str| {
        let command = format!("test \"$A%%$(pwd)\" = \"{variable}%{place}\"");
        let verify = json!([{ "command": command, "cwd": place, "environment": { "A": "x" } }]);
        file(&conf, "create", json!({ "content": "good new, elsewhere", "verify": verify }))
    };
    machine.fails(&elsewhere("y"), "Chef::Exceptions::ValidationFailed", "failed verification test \"$A%%$(pwd)\"");
    assert_eq!(machine.read("/etc/conf"), "good new");
    machine.run(&elsewhere("x")).unwrap();
    machine.write("/etc/conf", "good new");
    assert!(kept.contains("/cache/failed_validations/.chef-conf"), "{kept}");
    assert_eq!(std::fs::read_to_string(kept).unwrap(), "bad");
    assert_eq!((machine.read("/etc/conf").as_str(), machine.names("/etc").len()), ("good new", 3));
    let rejected = machine.beside("cache/failed_validations");
    let count = || std::fs::read_dir(&rejected).unwrap().count();
    let before = count();
    let raised = machine.run(&file(&conf, "create", bad.clone()).sensitive()).unwrap_err();
    assert!(raised.message.ends_with("failed verification [sensitive]"), "{}", raised.message);
    assert_eq!(count(), before, "sensitive content is not kept");
    let plan = machine.plan(&file(&conf, "create", bad)).unwrap();
    assert!(matches!(plan.certainty.as_slice(), [Certainty::Unknown(_)]), "{plan:?}");
}

#[test]
fn a_path_does_not_become_a_part_of_the_line_that_verifies_it() {
    let mut machine = Machine::whole();
    let path = machine.absolute("/etc/a$(touch${IFS}wrun-marker).x");
    for line in ["grep -q ok '%{path}' || true", "grep -q ok \"%{path}\" || true", "grep -q ok %{path} || true"] {
        let asked = file(&path, "create", json!({ "content": "x", "verify": [line] }));
        for raised in [machine.run(&asked).unwrap_err(), machine.plan(&asked).unwrap_err()] {
            assert_eq!(raised.class(), "Chef::Exceptions::ValidationFailed", "{line}: {raised:?}");
        }
        let plain = file(&machine.absolute("/etc/plain.x"), "create", json!({ "content": line, "verify": [line] }));
        machine.run(&plain).unwrap();
    }
    let without_shell = file(&path, "create", json!({ "content": "ok", "verify": ["grep -q ok %{path}"] }));
    machine.run(&without_shell).unwrap();
    assert!(!std::path::Path::new("/wrun-marker").exists());
}

#[test]
fn other_kinds_of_verification() {
    let mut machine = Machine::open();
    let json = |text: &str| file("/etc/x.json", "create", json!({ "content": text, "verify": [":json"] }));
    let words = ":json (Chef::Resource::File::Verification::Json)\n\nTemporary file moved to";
    machine.fails(&json("{"), "Chef::Exceptions::ValidationFailed", words);
    machine.run(&json("{}")).unwrap();
    let yaml = json!({ "content": "a", "verify": ["yaml"] });
    machine.fails(&file("/etc/y", "create", yaml), "Chef::Exceptions::VerificationNotFound", "yaml");
    let unknown = json!({ "content": "a", "verify": [":foo"] });
    let words = "No file verification for foo found.";
    machine.fails(&file("/etc/y", "create", unknown), "Chef::Exceptions::VerificationNotFound", words);
    let old = json!({ "content": "a", "verify": ["true %{file}"] });
    machine.fails(&file("/etc/y", "create", old), "ArgumentError", "%{file}");
}

#[test]
fn blocks_see_the_staged_content() {
    let mut machine = Machine::open();
    let asked = file("/etc/conf.d.txt", "create", json!({ "content": "new", "mode": "0640" })).verify_block();
    let at = machine.at("/");
    let refused = machine.verified(&asked, |path| {
        assert!(path.starts_with("/etc/.chef-conf-") && path.ends_with(".d.txt"), "{path}");
        assert_eq!(std::fs::read_to_string(at.join(path.trim_start_matches('/'))).unwrap(), "new");
        false
    });
    let kept = refused.unwrap_err().message;
    assert!(kept.contains("/failed_validations/.chef-conf") && kept.ends_with(".d.txt"), "{kept}");
    assert_eq!(std::fs::read_to_string(kept).unwrap(), "new", "people can look at what was rejected");
    assert_eq!(machine.names("/etc"), ["group", "passwd"], "nothing is left behind");
    machine.verified(&asked, |_| true).unwrap();
    assert_eq!((machine.read("/etc/conf.d.txt").as_str(), machine.mode("/etc/conf.d.txt")), ("new", 0o640));
    assert_eq!(machine.verified(&asked, |_| panic!("nothing to verify")).unwrap(), Outcome::default());
}

#[test]
fn a_verify_command_needs_a_grant_of_its_own() {
    let mut machine = Machine::granted("paths = [\"/srv/**\"]");
    let asked = file("/srv/x", "create", json!({ "content": "x", "verify": ["cat %{path} /etc/shadow"] }));
    machine.denies(&asked);
    assert!(machine.names("/srv").is_empty());
}

/// A policy whose content is rejected in each run does not fill the cache directory.
#[test]
fn rejected_contents_are_few() {
    let mut machine = Machine::whole();
    let conf = machine.absolute("/etc/conf");
    let mut kept = String::new();
    for number in 0..25 {
        let content = format!("bad {number}");
        let bad = file(&conf, "create", json!({ "content": content, "verify": ["grep -q good %{path}"] }));
        let raised = machine.run(&bad).unwrap_err();
        kept = raised.message.rsplit_once("moved to ").unwrap().1.to_owned();
    }
    let folder = std::path::Path::new(&kept).parent().unwrap();
    assert_eq!(std::fs::read_dir(folder).unwrap().count(), 20);
    assert_eq!(std::fs::read_to_string(&kept).unwrap(), "bad 24");
}

/// A folder that the user 1001 owns, in the whole machine, with what nobody else than root may read beside it.
fn folder_of_another(machine: &Machine) -> String {
    std::fs::create_dir(machine.at("/srv/theirs")).unwrap();
    chown(machine.at("/srv/theirs"), Some(1001), Some(1002)).unwrap();
    machine.write("/etc/secret", "root's secret");
    machine.absolute("/srv/theirs")
}

/// The folder's owner may exchange what is in it while the command runs. The command does that here in their place.
#[test]
fn attack_a_verify_command_of_roots_reads_nothing_that_others_put_in_place_of_the_content() {
    let mut machine = Machine::whole();
    let (folder, secret) = (folder_of_another(&machine), machine.absolute("/etc/secret"));
    let verify = |then: &str| {
        let exchange = format!("for file in {folder}/.chef-*; do ln -sfn {secret} \"$file\"; done");
        let verify = format!("{exchange}; cat %{{path}}; {then}");
        file(&format!("{folder}/conf.ini"), "create", json!({ "content": "content", "verify": [verify] }))
    };
    let raised = machine.fails(&verify("false"), "Chef::Exceptions::ValidationFailed", "STDOUT: content\n");
    assert!(!raised.message.contains("root's secret"), "{}", raised.message);
    let named = "case %{path} in */.chef-conf-*.ini) ;; *) false;; esac; test $(stat -c %%a%%u %{path}) = 6000";
    let verify = json!({ "content": "content", "verify": [named] });
    machine.run(&file(&format!("{folder}/conf.ini"), "create", verify)).unwrap();
    assert_eq!(machine.read("/srv/theirs/conf.ini"), "content");
    assert_eq!(machine.names("/srv/theirs"), ["conf.ini"]);
    assert_eq!(std::fs::read_dir(machine.beside("cache/verify")).unwrap().count(), 0, "the copy vanishes");
}

/// Content that names other files by relative paths is read in its own folder, where nobody else can exchange it.
#[test]
fn content_is_verified_beside_its_place_where_root_alone_may_exchange_it() {
    let mut machine = Machine::whole();
    let here = machine.absolute("/etc");
    let verify = json!({ "content": "x", "verify": [format!("test $(dirname %{{path}}) = {here}")] });
    machine.run(&file(&machine.absolute("/etc/conf"), "create", verify)).unwrap();
}

#[test]
fn attack_a_verify_command_of_another_user_reads_the_content_and_nothing_else() {
    let mut machine = Machine::whole();
    let folder = folder_of_another(&machine);
    let verify = |command: &str| {
        let verify = json!([{ "command": command, "user": "nobody" }]);
        file(&format!("{folder}/conf"), "create", json!({ "content": "content", "verify": verify, "mode": "0600" }))
    };
    let outside = format!("case %{{path}} in {folder}/*) false;; esac");
    machine.run(&verify(&format!("{outside} && test \"$(cat %{{path}})\" = content"))).unwrap();
    assert_eq!((machine.read("/srv/theirs/conf").as_str(), machine.mode("/srv/theirs/conf")), ("content", 0o600));
}

/// Such a file has a name that nobody can foresee, so a note says it. Another file with a name of this form may be of another
/// team, and stays.
#[test]
fn what_a_killed_verification_left_goes_with_the_next_one() {
    let mut machine = Machine::whole();
    let (conf, seen) = (machine.absolute("/etc/conf.ini"), machine.absolute("/srv/seen"));
    let mut count = 0;
    let mut verify = |machine: &mut Machine| {
        count += 1;
        let command = format!("printf %%s %{{path}} >{seen}");
        machine.run(&file(&conf, "create", json!({ "content": format!("{count}"), "verify": [command] }))).unwrap();
    };
    let theirs = "/etc/.chef-conf-0123456789abcdef0123456789abcdef.ini";
    machine.write(theirs, "of another team");
    verify(&mut machine);
    // As if it had been killed before it published the content.
    let left = std::path::PathBuf::from(machine.read("/srv/seen"));
    assert!(left.file_name().unwrap().to_str().unwrap().starts_with(".chef-conf-"), "{left:?}");
    std::fs::write(&left, "half").unwrap();
    // A file of another user, one that has another name too, and one that is being written.
    chown(&left, Some(1001), None).unwrap();
    verify(&mut machine);
    chown(&left, Some(0), None).unwrap();
    let other_name = machine.at("/srv/other");
    std::fs::hard_link(&left, &other_name).unwrap();
    verify(&mut machine);
    std::fs::remove_file(&other_name).unwrap();
    let lock = std::fs::File::open(&left).unwrap();
    lock.lock().unwrap();
    verify(&mut machine);
    assert!(left.exists());
    drop(lock);
    verify(&mut machine);
    let names = machine.names("/etc").into_iter().filter(|name| name.contains("conf"));
    assert_eq!(names.collect::<Vec<_>>(), [theirs.trim_start_matches("/etc/"), "conf.ini"]);
}
