//! `wrun grants check`.

use super::Bench;
use specs::{Network, Program, Root, fixtures};
use std::fs;

#[test]
fn faults_of_grants_are_found_and_counted_by_kind() {
    let (bench, root) = (Bench::new("file '/srv/a'\n"), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    let policies = bench.program.configuration().join("policies");
    fs::create_dir(&policies).unwrap();
    fs::copy(fixtures().join("load.wasm"), policies.join("load.wasm")).unwrap();
    let policies = policies.display().to_string();
    let check = |text: &str, code: i32| {
        fs::write(bench.grants(), text).unwrap();
        let output = bench.tool(&["grants", "check", "--policies", &policies]).expect_code(code).unwrap();
        (output.stdout, output.stderr)
    };
    let place = "[CONFIGURATION]/grants.toml";
    assert_eq!(
        check("[policy.lod]\n", 1).0,
        format!("{place}:1: there is no policy \"lod\"; did you mean \"load\"?\n")
    );
    assert_eq!(
        check("[policy.load]\npackages = []\npackages = []\n", 1).0,
        format!(
            "{place}:3: the key `packages` is in this table twice, first in line 2; write one line instead: packages = []\n"
        )
    );
    // Before anything is known of what it uses, no rule is called unused.
    let (out, err) = check("[policy.solo]\npaths = [\"/srv/a\", \"/srv/b\"]\n", 0);
    assert!(out.is_empty() && err.contains("no recorded run"), "{out}{err}");
    // After a run that had nothing to do, a rule that it did not need may still be needed by the next.
    fs::create_dir_all(machine.root().at("srv").unwrap()).unwrap();
    machine.root().write("srv/a", "").unwrap();
    let _quiet = bench.converge(&machine, &["--why-run"]).expect_code(0).unwrap();
    let two = "[policy.solo]\npaths = [\n\"/srv/a\",\n\"/srv/b\",\n\"/srv/a\"]\nenvironment = [\"x\"]\n";
    // Whoever misspells a policy hears of those that there are, and of nothing else.
    let (out, err) = check("[policy.other]\n", 1);
    assert_eq!(out, format!("{place}:1: there is no policy \"other\"; there are load\n"));
    assert!(err.ends_with("checked the grants of 1 policy: 1 unknown policy\n"), "{err}");
    let (out, err) = check("[policy.solo]\npaths = [\"/srv/a\",\n\"/srv/b\"]\n", 0);
    assert!(err.ends_with("checked the grants of 1 policy: no problems found\n"), "{err}");
    let note = "policy solo: paths /srv/b is not used: its only recorded run did not ask for it, and changed nothing or did not come to its end";
    assert!(out.is_empty() && err.contains(&format!("note: {place}:3: {note}\n")), "{out}{err}");
    fs::remove_file(machine.root().at("srv/a").unwrap()).unwrap();
    fs::write(bench.grants(), two).unwrap();
    let _done = bench.converge(&machine, &[]).expect_code(0).unwrap();
    let (out, err) = check(two, 1);
    assert!(err.ends_with("checked the grants of 1 policy: 1 rule that another one covers, 2 unused rules\n"), "{err}");
    assert_eq!(
        out,
        format!(
            "{place}:5: policy solo: paths /srv/a is not needed: paths /srv/a in line 3 covers it\n\
             {place}:4: policy solo: paths /srv/b is not used: none of its 2 recorded runs asked for it\n\
             {place}:6: policy solo: environment x is not used: none of its 2 recorded runs asked for it\n"
        )
    );
    assert_eq!(check("[policy.solo]\npaths = [\"/srv/**\"]\n", 0).0, "");
    // All kept runs count, not the last one alone.
    fs::write(bench.grants(), "").unwrap();
    let recipe = std::path::Path::new(&bench.cookbooks).join("site/recipes/default.rb");
    fs::write(&recipe, "file '/srv/b'\n").unwrap();
    let _other = bench.wrun(&machine, &["converge"], &["--why-run", "--allow-all"]).expect_code(0).unwrap();
    assert_eq!(check("[policy.solo]\npaths = [\"/srv/a\", \"/srv/b\"]\n", 0).0, "");
    fs::write(&recipe, "file '/srv/a'\n").unwrap();
    // What was denied was asked for.
    fs::write(bench.grants(), "").unwrap();
    let _denied = bench.converge(&machine, &["--why-run"]).expect_code(1).unwrap();
    assert_eq!(check("[policy.solo]\npaths = [\"/srv/a\"]\n", 0).0, "");
}

#[test]
fn what_is_suggested_is_no_fault_before_the_first_run() {
    let (program, root) = (Program::new().unwrap(), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    let place = |name: &str| program.configuration().join(name).display().to_string();
    let (folder, policies, grants) = (place("web"), place("policies"), place("grants.toml"));
    let run = |words: &[&str], code: i32| {
        let output = program.run_in(&machine, words).unwrap().expect_code(code).unwrap();
        output.text()
    };
    run(&["policy", "new", "--ruby", &folder], 0);
    // More than the policy's [needs] say.
    let recipe = "file '/srv/more'\n\
                  file('/srv/same') { content \"x\\n\"; verify 'grep -q x %{path}' }\n\
                  execute('touch /srv/never') { not_if { ::File.exist?('/etc/passwd') } }\n";
    fs::write(place("web/cookbooks/web/recipes/default.rb"), recipe).unwrap();
    machine.run(&["sh", "-ec", "mkdir -p /srv; echo x > /srv/same"]).unwrap();
    run(&["policy", "build", &folder, "--output", &policies], 0);
    let root = machine.root().path().display().to_string();
    let suggest = ["grants", "suggest", "--policy-name", "web", "--policies", &policies, "--root", &root];
    run(&[&suggest[..], &["--grants", &grants, "--write", &grants, "--yes", "--dangerous"]].concat(), 0);
    let suggested = fs::read_to_string(&grants).unwrap();
    for entry in ["/srv/more", "touch /srv/never", "grep -q x"] {
        assert!(suggested.contains(entry), "{entry} is not in\n{suggested}");
    }
    // What a survey found out is not a run.
    assert!(run(&["run", "list"], 0).contains("no run is recorded"));
    let check = ["grants", "check", "--grants", &grants, "--policies", &policies];
    let said = run(&check, 0);
    assert!(said.contains("no problems found") && !said.contains("is not used"), "{said}");
    fs::write(&grants, suggested.replace("\"/srv/more\"", "\"/srv/more\", \"/srv/unneeded\"")).unwrap();
    let said = run(&check, 0);
    let note = "paths /srv/unneeded is not used: its [needs] does not ask for it, and no run of it is recorded";
    assert!(said.contains(note), "{said}");
    fs::write(&grants, &suggested).unwrap();
    // After a run a rule that neither asks for is one.
    let converge = ["converge", "-N", "n1", "--policy-name", "web", "--policies", &policies, "--root", &root];
    run(&[&converge[..], &["--grants", &grants]].concat(), 0);
    // Neither was asked for in the run: a guard skipped one, the content was right for the other.
    let said = run(&check, 0);
    assert!(said.contains("no problems found"), "{said}");
    fs::write(&grants, "[policy.web]\npaths = [\"/srv/more\", \"/srv/other\"]\n").unwrap();
    let said = run(&check, 1);
    assert!(said.contains("paths /srv/other is not used: neither its [needs] nor its only recorded run"), "{said}");
}

#[test]
fn facts_that_nobody_gathers_are_told_with_a_near_name() {
    let (bench, place) = (Bench::new("log 'x'\n"), "[CONFIGURATION]/grants.toml");
    let policies = bench.program.configuration().join("policies");
    fs::create_dir(&policies).unwrap();
    fs::copy(fixtures().join("load.wasm"), policies.join("load.wasm")).unwrap();
    let policies = policies.display().to_string();
    let check = |facts: &str, code: i32| {
        fs::write(bench.grants(), format!("[policy.load]\n{facts}\n")).unwrap();
        bench.tool(&["grants", "check", "--policies", &policies]).expect_code(code).unwrap()
    };
    let said = check("facts = [\"netwrok.interfaces\", \"memory\"]", 1);
    let fault = format!("{place}:2: policy load: no fact is called \"netwrok\"; did you mean `network`?\n");
    assert!(said.stdout.contains(&fault) && !said.stdout.contains("memory"), "{}", said.text());
    assert!(said.stderr.contains("1 unknown fact"), "{}", said.text());
    // Other machines may have others, and a wildcard is not a name.
    let said = check("facts = [\"site_inventory.rack\", \"net*\"]", 0);
    assert!(
        said.stderr.contains("note: [CONFIGURATION]/grants.toml:2: policy load: no fact is called"),
        "{}",
        said.text()
    );
    assert!(!said.text().contains("net*"), "{}", said.text());
}

/// Grants name things, and not the types of the resources that use them.
#[test]
fn a_resource_type_in_place_of_a_key_is_told_with_the_keys_that_it_needs() {
    let bench = Bench::new("log 'x'\n");
    for (key, hint) in [
        ("execute", "`execute` is a resource type; the keys for what it uses are "),
        ("exceute", "`exceute` is near to the resource type `execute`; the keys for what it uses are "),
    ] {
        fs::write(bench.grants(), format!("[policy.solo]\n{key} = [\"true\"]\n")).unwrap();
        let said = bench.tool(&["grants", "check"]).expect_code(1).unwrap();
        assert!(said.stdout.contains(&format!("grants.toml:2: unknown key `{key}`\n")), "{}", said.text());
        assert!(said.stderr.contains(hint) && said.stderr.contains("`commands`"), "{}", said.text());
    }
    fs::write(bench.grants(), "[policy.solo]\nnonsense = []\n").unwrap();
    let said = bench.tool(&["grants", "check"]).expect_code(1).unwrap();
    assert!(!said.stderr.contains("hint:"), "{}", said.text());
}
