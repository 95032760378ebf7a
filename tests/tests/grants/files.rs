//! The files of grants.

use super::Bench;
use specs::{Network, Root};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

#[test]
fn a_missing_file_of_grants_is_told() {
    let (bench, root) = (Bench::new("log 'x'\n"), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    let settings = format!("grants = '{}'\n", bench.grants().display());
    fs::write(bench.program.configuration().join("wrun.toml"), settings).unwrap();
    let run = bench.wrun(&machine, &["converge"], &["--why-run"]).expect_code(0).unwrap();
    let told =
        ["[CONFIGURATION]/grants.toml does not exist", "`wrun grants suggest --cookbooks DIR --run-list ITEM,..`"];
    assert!(told.iter().all(|part| run.stderr.contains(part)), "{}", run.text());
    let run = bench.wrun(&machine, &["converge"], &["--why-run", "--allow-all"]).expect_code(0).unwrap();
    assert!(!run.stderr.contains("does not exist"), "{}", run.text());
}

#[test]
fn a_folder_beside_the_file_has_tables_too() {
    let (bench, root) = (Bench::new("file '/srv/a'\n"), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    let folder = bench.program.configuration().join("grants.d");
    fs::create_dir(&folder).unwrap();
    fs::write(bench.grants(), "[policy.other]\n").unwrap();
    fs::write(folder.join("solo.toml"), "[policy.solo]\n").unwrap();
    let _denied = bench.converge(&machine, &["--why-run"]).expect_code(1).unwrap();
    let _written = bench.tool(&["grants", "allow", "--last", "--yes"]).expect_code(0).unwrap();
    assert_eq!(fs::read_to_string(folder.join("solo.toml")).unwrap(), "[policy.solo]\npaths = [\"/srv/a\"]\n");
    let _done = bench.converge(&machine, &[]).expect_code(0).unwrap();
    fs::write(folder.join("twice.toml"), "\n[policy.solo]\n").unwrap();
    let refused = bench.converge(&machine, &["--why-run"]).expect_code(43).unwrap();
    let said = "policy \"solo\" has a table in two files: [CONFIGURATION]/grants.d/solo.toml:1 and [CONFIGURATION]/grants.d/twice.toml:2";
    assert!(refused.stderr.contains(said), "{}", refused.text());
    fs::remove_file(folder.join("twice.toml")).unwrap();
    fs::set_permissions(folder.join("solo.toml"), fs::Permissions::from_mode(0o666)).unwrap();
    let refused = bench.converge(&machine, &["--why-run"]).expect_code(43).unwrap();
    assert!(refused.stderr.contains("solo.toml may be written by others"), "{}", refused.text());
}
