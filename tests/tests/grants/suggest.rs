//! `wrun grants suggest`.

use super::{Bench, RECIPE, json};
use serde_json::Value;
use specs::{Network, Program, Root};
use std::fs;
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

#[test]
fn a_suggestion_is_added_to_a_file() {
    let (bench, root) = (Bench::new(RECIPE), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    let path = bench.grants().display().to_string();
    fs::write(bench.grants(), "# ours\n[policy.db]\nclock = true\n").unwrap();
    let refused = bench.wrun(&machine, &["grants", "suggest"], &["--write", &path]).expect_code(43).unwrap();
    assert!(refused.stdout.contains("+[policy.solo]"), "{}", refused.text());
    let written = bench.wrun(&machine, &["grants", "suggest"], &["--write", &path, "--yes"]).expect_code(0).unwrap();
    let text = fs::read_to_string(bench.grants()).unwrap();
    assert!(text.starts_with("# ours\n[policy.db]\nclock = true\n\n[policy.solo]\n"), "{text}\n{}", written.text());
    let again = bench.wrun(&machine, &["grants", "suggest"], &["--write", &path]).expect_code(0).unwrap();
    assert!(again.stderr.contains("has all of it already"), "{}", again.text());
    let _done = bench.converge(&machine, &[]).expect_code(0).unwrap();
}

/// The tables of other policies are in other files than the one that is written.
#[test]
fn attack_a_suggestion_for_another_file_knows_the_other_policies() {
    let (bench, root) = (Bench::new("file '/srv/db/conf'\nfile '/srv/a'\n"), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    fs::write(bench.grants(), "[policy.db]\npaths = [\"/srv/db/**\"]\n").unwrap();
    let (grants, other) = (bench.grants().display().to_string(), bench.grants().with_file_name("other.toml"));
    let more = ["--grants", &grants, "--write", &other.display().to_string(), "--yes"];
    let written = bench.wrun(&machine, &["grants", "suggest"], &more).expect_code(1).unwrap();
    let text = fs::read_to_string(other).unwrap();
    assert!(text.contains("\"/srv/a\"") && !text.contains("/srv/db/conf"), "{text}\n{}", written.text());
}

/// In a survey nothing is denied, so an address could carry what a policy may not read to anybody.
#[test]
fn a_suggestion_asks_no_server() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let program = Program::new().unwrap();
    let cookbook = program.configuration().join("cookbooks/a");
    fs::create_dir_all(cookbook.join("recipes")).unwrap();
    fs::write(cookbook.join("metadata.rb"), "name 'a'\n").unwrap();
    let asked = format!(
        "remote_file '/srv/x' do\n  source '{address}/file'\nend\n\
         http_request 'told' do\n  action :post\n  url '{address}/resource'\n  message 'x'\nend\n\
         file '/srv/y' do\n  content lazy {{ Chef::HTTP.new('{address}').get('/lazy') }}\nend\n\
         Chef::HTTP.new('{address}').get('/recipe')\n"
    );
    fs::write(cookbook.join("recipes/default.rb"), asked).unwrap();
    let (cookbooks, root) = (cookbook.parent().unwrap().display().to_string(), Root::new().unwrap());
    let place = root.path().display().to_string();
    let common = ["--cookbooks", &cookbooks, "--run-list", "a", "--root", &place, "-N", "n1"];
    let suggested = program.run(&[&["grants", "suggest"], &common[..]].concat()).unwrap();
    assert!(suggested.stdout.contains(&format!("download_hosts = [\"{address}\"]")), "{}", suggested.text());
    assert!(suggested.text().contains("`wrun grants suggest` asks no server"), "{}", suggested.text());
    assert_eq!(listener.accept().unwrap_err().kind(), std::io::ErrorKind::WouldBlock, "{}", suggested.text());
    // A dry run of what was granted does ask: its connections are ended at once, the last one is our own.
    listener.set_nonblocking(false).unwrap();
    let (at, is_over) = (listener.local_addr().unwrap(), Arc::new(AtomicBool::new(false)));
    let told = Arc::clone(&is_over);
    let server = std::thread::spawn(move || listener.incoming().take_while(|_| !told.load(Ordering::SeqCst)).count());
    let asked = program.run(&[&["converge", "--why-run", "--allow-all"], &common[..]].concat()).unwrap();
    is_over.store(true, Ordering::SeqCst);
    drop(TcpStream::connect(at).unwrap());
    assert!(server.join().unwrap() > 0, "{}", asked.text());
}

#[test]
fn names_with_the_signs_of_patterns_are_suggested_as_they_are() {
    let recipe =
        "file '/srv/**' do\n  content 'x'\nend\nexecute 'signs' do\n  command ['echo', '<any>', '<rest>']\nend\n";
    let (bench, root) = (Bench::new(recipe), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    let suggested = bench.wrun(&machine, &["grants", "suggest"], &[]).expect_code(0).unwrap();
    for expect in [r#"paths = ["/srv/[*][*]"]"#, r#"{ argv = ["echo", "<is:<any>>", "<is:<rest>>"] }"#] {
        assert!(suggested.stdout.contains(expect), "{}", suggested.text());
    }
    fs::write(bench.grants(), &suggested.stdout).unwrap();
    let _done = bench.converge(&machine, &[]).expect_code(0).unwrap();
    assert!(root.exists("/srv/**"));
    // Nothing else is granted with it, and the denial of another name offers that name alone.
    let other = "file '/srv/a'\nexecute 'signs' do\n  command ['echo', 'other', '<rest>']\nend\nfile '/srv/?'\n";
    fs::write(std::path::Path::new(&bench.cookbooks).join("site/recipes/default.rb"), other).unwrap();
    let denied = json(&bench.converge(&machine, &["--why-run", "--format", "json"]));
    let values: Vec<_> = denied["denials"].as_array().unwrap().iter().map(|one| one["value"].as_str()).collect();
    let expect = [r#""/srv/a""#, r#"{ argv = ["echo", "other", "<is:<rest>>"] }"#, r#""/srv/[?]""#];
    assert_eq!(values, expect.map(Some), "{denied:#}");
    let _written = bench.tool(&["grants", "allow", "--last", "--yes"]).expect_code(0).unwrap();
    let _done = bench.converge(&machine, &[]).expect_code(0).unwrap();
}

#[test]
fn the_clock_and_variables_are_suggested_where_they_are_used() {
    let (bench, root) = (Bench::new("log 'x'\n"), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    let quiet = bench.wrun(&machine, &["grants", "suggest"], &[]).expect_code(0).unwrap();
    for key in ["clock", "random", "environment"] {
        assert!(!quiet.stdout.contains(key), "{}", quiet.text());
    }
    let recipe =
        "require 'securerandom'\nlog Time.now.to_s + SecureRandom.hex(4)\nlog \"#{ENV['TERM']} #{ENV['NO_SUCH']}\"\n";
    fs::write(std::path::Path::new(&bench.cookbooks).join("site/recipes/default.rb"), recipe).unwrap();
    let used = bench.wrun(&machine, &["grants", "suggest"], &[]).expect_code(0).unwrap();
    let expect = "[policy.solo]\nclock = true\nenvironment = [\"TERM\"]\nrandom = true\n";
    assert_eq!(used.stdout, expect, "{}", used.text());
}

/// Ruby itself reads the monotonic clock, to wait and to measure: no cookbook asked for that.
#[test]
fn the_runtimes_own_clock_is_neither_suggested_nor_denied() {
    let recipe = "sleep 0.001\nProcess.clock_gettime(Process::CLOCK_MONOTONIC)\nGC.start\nlog 'x'\n";
    let (bench, root) = (Bench::new(recipe), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    let suggested = bench.wrun(&machine, &["grants", "suggest"], &[]).expect_code(0).unwrap();
    assert!(!suggested.stdout.contains("clock"), "{}", suggested.text());
    fs::write(bench.grants(), "").unwrap();
    let run = json(&bench.converge(&machine, &["--format", "json"]).expect_code(0).unwrap());
    assert_eq!(
        (&run["denials"], &run["asked"]["solo"]["entries"]["clock"]),
        (&Value::Array(vec![]), &Value::Null),
        "{run:#}"
    );
}

/// What a recipe's machine has already, and what its guards skip, has to be granted all the same.
#[test]
fn a_suggestion_does_not_depend_on_what_the_machine_looks_like() {
    let recipe = "file '/srv/checked' do\n  content 'x'\n  verify 'grep -q x %{path}'\n  notifies :run, 'execute[late]'\nend\n\
        execute 'late' do\n  command 'echo late'\n  action :nothing\nend\n\
        execute 'echo skipped' do\n  not_if 'test -d /'\nend\n\
        execute 'echo made' do\n  creates '/etc/passwd'\nend\n\
        service 'thing' do\n  start_command 'echo start'\n  restart_command 'echo restart'\n  status_command 'echo status'\n  action :start\nend\n\
        file '/srv/broken' do\n  owner 'nobody-of-that-name'\n  content lazy { raise 'nothing here' }\nend\n\
        file '/srv/guarded' do\n  content lazy { raise 'not yet' }\n  only_if { false }\nend\n\
        site_thing 'a' do\n  size 1\nend\n\
        file '/srv/last' do\n  content node['memory'].to_s\nend\n";
    let (bench, root) = (Bench::new(recipe), Root::new().unwrap());
    let resources = bench.program.configuration().join("cookbooks/site/resources");
    fs::create_dir(&resources).unwrap();
    let custom = "unified_mode true\nproperty :size, Integer\nload_current_value { size 1 }\n\
        action :create do\n  converge_by('make it') { file '/srv/by' }\n  \
        converge_if_changed(:size) { file '/srv/if-changed' }\nend\n";
    fs::write(resources.join("thing.rb"), custom).unwrap();
    let machine = root.machine(Network::Own).unwrap();
    machine.run(&["sh", "-c", "mkdir -p /srv; printf x > /srv/checked"]).unwrap();
    let before = root.changes().unwrap();
    let output = bench.wrun(&machine, &["grants", "suggest"], &[]).expect_code(1).unwrap();
    assert_eq!(before.difference(&root.changes().unwrap()), "", "nothing has changed");
    let (own, others) = output.stdout.split_once("# Only actions").unwrap();
    for expect in [
        "grep -q x %{path}",
        "\"echo late\"",
        "\"echo skipped\"",
        "\"test -d /\"",
        "\"echo made\"",
        "\"echo start\"",
        "\"echo status\"",
        "\"/srv/checked\"",
        "\"/srv/broken\"",
        "\"/srv/by\"",
        "\"/srv/if-changed\"",
        "\"/srv/last\"",
        "facts = [\"memory\"]",
        "services = [\"thing\"]",
    ] {
        assert!(own.contains(expect), "{expect} is not in\n{}", output.text());
    }
    assert!(others.contains("# commands = [\"echo restart\"]"), "{}", output.text());
    let said = &output.stderr;
    assert!(said.contains("not all that file[/srv/broken] would ask for is seen: nothing here"), "{said}");
    assert!(
        said.contains("not all that file[/srv/guarded] would ask for is seen: ") && said.contains("not yet"),
        "{said}"
    );
}

/// An earlier resource of the first run may bring the archive, as a download does.
#[test]
fn an_archive_and_its_destination_are_suggested_at_once() {
    let recipe = "archive_file '/srv/x.tar' do\n  destination '/srv/new/x'\nend\n";
    let (bench, root) = (Bench::new(recipe), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    let suggested = bench.wrun(&machine, &["grants", "suggest"], &[]);
    for expect in ["read_paths = [\"/srv/x.tar\"]", "\"/srv/new\"", "\"/srv/new/x/**\""] {
        assert!(suggested.stdout.contains(expect), "{}", suggested.text());
    }
    fs::write(bench.grants(), &suggested.stdout).unwrap();
    machine.run(&["sh", "-c", "mkdir -p /srv/y && tar -cf /srv/x.tar -C /srv y"]).unwrap();
    let _done = bench.converge(&machine, &[]).expect_code(0).unwrap();
    assert!(root.exists("srv/new/x/y"));
}

/// A policy sees what the operator set where it may write, so it needs no right to read there.
#[test]
fn attributes_of_the_operator_are_suggested_only_where_the_policy_may_not_write() {
    let recipe = "node.default['acme']['motd'] = [node['acme']['motd'], node['db']['host']]\n";
    let (bench, root) = (Bench::new(recipe), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    let layer = bench.program.configuration().join("layer.yaml");
    fs::write(&layer, "default_attributes: {acme: {motd: hello}, db: {host: a}}\n").unwrap();
    let layer = ["--environment-file", &layer.display().to_string()].map(str::to_owned);
    let layer = layer.each_ref().map(String::as_str);
    let grants = bench.grants().display().to_string();
    let layer = [&layer[..], &["--allow-all"]].concat();
    let suggested = bench.wrun(&machine, &["grants", "suggest"], &layer).expect_code(0).unwrap();
    for line in ["read_attributes = [\"db.host\"]\n", "write_attributes = [\"acme.motd\"]\n"] {
        assert!(suggested.stdout.contains(line), "{line}{}", suggested.text());
    }
    let more = [&layer[..], &["--write", &grants, "--yes", "--dangerous"]].concat();
    let _written = bench.wrun(&machine, &["grants", "suggest"], &more).expect_code(0).unwrap();
    let done = json(&bench.converge(&machine, &[&layer[..2], &["--format", "json"]].concat()).expect_code(0).unwrap());
    assert_eq!([&done["hidden_reads"], &done["denials"]], [&Value::Array(vec![]); 2]);
}
