//! What a run was denied: how it is told, recorded and allowed.

use super::{Bench, RECIPE, json};
use specs::{Network, Root};
use std::fs;

/// Somebody changes the grants while a run is under way. The run has changed the machine: it is recorded as what it was.
#[test]
fn grants_that_cannot_be_read_at_the_end_change_nothing_of_the_run() {
    let (bench, root) = (Bench::new(RECIPE), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    fs::write(bench.grants(), "[policy.solo]\npaths = [\"/srv/site\"]\n").unwrap();
    let grants = bench.grants().display().to_string();
    let settings = format!("[[handlers]]\ncommand = [\"chmod\", \"666\", \"{grants}\"]\non = [\"start\"]\n");
    fs::write(bench.program.configuration().join("wrun.toml"), settings).unwrap();
    let output = bench.converge(&machine, &[]).expect_code(1).unwrap();
    assert!(output.stderr.contains("warning: no lines for the grants are shown"), "{}", output.text());
    assert!(output.stdout.contains("may not manage path /srv/site/index"), "{}", output.text());
    let runs = bench.program.run(&["run", "list"]).unwrap().expect_code(0).unwrap();
    assert!(runs.stdout.contains("failure"), "{}", runs.text());
}

/// New content is looked at under a name of wrun's beside the file. The right to the file is enough for that.
#[test]
fn blocks_of_verify_read_the_new_content_and_nothing_beside_it() {
    let recipe = |path: &str| {
        format!(
            "file '/srv/site.conf' do\n  content \"port 80\\n\"\n  verify do |path|\n    $last = path\n    \
             ::File.read({path}) == \"port 80\\n\"\n  end\nend\n\
             ruby_block 'later' do\n  block {{ raise 'still there' if (::File.read($last) rescue nil) }}\nend\n"
        )
    };
    for (path, code) in [("path", 0), ("path.sub('site', 'other')", 1)] {
        let (bench, root) = (Bench::new(&recipe(path)), Root::new().unwrap());
        let machine = root.machine(Network::Own).unwrap();
        fs::write(bench.grants(), "[policy.solo]\npaths = [\"/srv/site.conf\"]\n").unwrap();
        let output = bench.converge(&machine, &[]).expect_code(code).unwrap();
        assert_eq!(root.exists("srv/site.conf"), code == 0, "{}", output.text());
        assert_eq!(output.stdout.contains("may not read path /srv/.chef-other"), code == 1, "{}", output.text());
    }
}

#[test]
fn from_nothing_granted_to_a_run_in_two_commands() {
    let (bench, root) = (Bench::new(RECIPE), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    fs::write(bench.grants(), "# ours\n[policy.solo]\npaths = [\"/srv/other\"] # later\n").unwrap();
    let dry = bench.converge(&machine, &["--why-run"]).expect_code(1).unwrap();
    let shown = &dry.stdout;
    let grants = bench.grants().display().to_string();
    assert!(
        shown.contains("policy solo may not manage path /srv/site  (directory[/srv/site], site/recipes/default.rb:1)"),
        "{shown}"
    );
    assert!(shown.contains("change these lines of [CONFIGURATION]/grants.toml, under [policy.solo], to:"), "{shown}");
    assert!(shown.contains("wrun grants allow --last --grants [CONFIGURATION]/grants.toml"), "{shown}");
    assert_eq!(
        shown.matches("2 things were denied").count() + shown.matches("3 things were denied").count(),
        1,
        "{shown}"
    );
    // Nobody can be asked here, and nothing is written unasked.
    let asked = bench.tool(&["grants", "allow", "--last"]).expect_code(43).unwrap();
    assert!(
        asked.stdout.contains("+paths = [\"/srv/other\", \"/srv/site\"") && asked.stderr.contains("--yes"),
        "{}",
        asked.text()
    );
    assert!(!fs::read_to_string(&grants).unwrap().contains("/srv/site"));
    let written = bench.tool(&["grants", "allow", "--last", "--yes"]).expect_code(0).unwrap();
    let text = fs::read_to_string(&grants).unwrap();
    assert!(
        text.starts_with("# ours\n[policy.solo]\npaths = [\"/srv/other\", \"/srv/site\""),
        "{text}\n{}",
        written.text()
    );
    assert!(text.contains("] # later\n") && text.contains("commands = [\"true\"]\n"), "{text}");
    let run = bench.converge(&machine, &[]).expect_code(0).unwrap();
    assert!(run.stdout.contains("3 of 3 resources updated") && !run.stdout.contains("denied"), "{}", run.text());
    // There is nothing more to allow.
    let nothing = bench.tool(&["grants", "allow", "--last", "--yes"]).expect_code(0).unwrap();
    assert!(nothing.stderr.contains("nothing was denied in run "), "{}", nothing.text());
}

#[test]
fn what_was_denied_is_in_the_json_once_with_who_asked() {
    let recipe = "begin\n  File.read('/srv/secret')\nrescue SystemCallError\nend\n3.times { |at| file \"/srv/#{at}\" do\n  path '/srv/same'\n  ignore_failure true\nend }\n";
    let (bench, root) = (Bench::new(recipe), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    fs::write(bench.grants(), "").unwrap();
    let run = json(&bench.converge(&machine, &["--why-run", "--format", "json"]));
    let denials = run["denials"].as_array().unwrap();
    let shown: Vec<_> =
        denials.iter().map(|one| format!("{} {} {}", one["key"], one["value"], one["by"]["recipe"])).collect();
    assert_eq!(
        shown,
        [r#""read_paths" "\"/srv/secret\"" "default""#, r#""paths" "\"/srv/same\"" "default""#],
        "{run:#}"
    );
    assert_eq!((denials[1]["times"].as_u64(), denials[1]["by"]["line"].as_u64()), (Some(3), Some(5)), "{run:#}");
    assert_eq!(denials[1]["by"]["name"], "/srv/0");
}

#[test]
fn a_denial_is_told_once_and_an_end_that_it_brought_names_it() {
    let recipe = "file '/srv/a'\nfile '/srv/b'\n";
    let (bench, root) = (Bench::new(recipe), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    fs::write(bench.grants(), "").unwrap();
    for (more, word) in [(&["--why-run"][..], "would fail: denied"), (&[], "failed: denied")] {
        let run = bench.converge(&machine, more).expect_code(1).unwrap();
        let shown = &run.stdout;
        assert_eq!(shown.matches("manage path").count(), if more.is_empty() { 1 } else { 2 }, "{shown}");
        assert!(shown.contains(&format!("file[/srv/a] action create ({word})")), "{shown}");
        let row = shown.lines().position(|line| line.starts_with("solo  FAILED  ")).unwrap();
        let lines: Vec<_> = shown.lines().skip(row).collect();
        assert!(lines[0].ends_with(" s"), "{shown}");
        assert_eq!(lines[1..], ["    denied, see above: file[/srv/a] create (site/recipes/default.rb:1)"], "{shown}");
        let suggests = shown.contains("`wrun grants suggest` with the same options lists that, too");
        assert_eq!(suggests, !more.is_empty(), "{shown}");
    }
}

/// Code in Ruby hears of a denial as of an error of the system, which can have other causes.
#[test]
fn an_action_that_ruby_code_ends_with_a_denial_is_called_denied() {
    for (guard, why) in [("shell_out('true').exitstatus == 0", ": denied"), ("raise Errno::EACCES, 'by itself'", "")] {
        let recipe = format!("file '/srv/a' do\n  only_if {{ {guard} }}\nend\n");
        let (bench, root) = (Bench::new(&recipe), Root::new().unwrap());
        let machine = root.machine(Network::Own).unwrap();
        fs::write(bench.grants(), "[policy.solo]\npaths = [\"/srv/a\"]\n").unwrap();
        for (more, word) in [(&["--why-run"][..], "would fail"), (&[], "failed")] {
            let run = bench.converge(&machine, more).expect_code(1).unwrap();
            assert!(run.stdout.contains(&format!("file[/srv/a] action create ({word}{why})")), "{}", run.text());
        }
    }
}

/// A dry run goes on after a denial while compiling; nothing of what it then finds was rescued.
#[test]
fn a_dry_run_does_not_call_a_denial_rescued() {
    let recipe = "file '/srv/a'\nfile '/no/such/folder/b'\nlog File.read('/srv/secret')\n";
    let (bench, root) = (Bench::new(recipe), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    fs::write(bench.grants(), "[policy.solo]\npaths = [\"/no/such/folder/b\"]\n").unwrap();
    let shown = bench.converge(&machine, &["--why-run"]).expect_code(1).unwrap().stdout;
    assert!(shown.contains("2 things were denied") && !shown.contains("rescued"), "{shown}");
}

#[test]
fn a_link_that_is_followed_is_warned_of_once_with_its_resource() {
    let (bench, root) = (Bench::new("file '/srv/link' do\n  content 'x'\nend\n"), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    root.write("srv/target", "").unwrap();
    std::os::unix::fs::symlink("target", root.at("srv/link").unwrap()).unwrap();
    fs::write(bench.grants(), "[policy.solo]\npaths = [\"/srv/target\"]\n").unwrap();
    let told = bench.converge(&machine, &[]).expect_code(0).unwrap().stderr;
    let warning =
        "policy solo: file[/srv/link] (site/recipes/default.rb:1): /srv/link is a link, and its target /srv/target";
    assert!(told.matches("is a link").count() == 1 && told.contains(warning), "{told}");
}

/// A rescued denial ends nothing, and is shown later with its cure as at the end of the run.
#[test]
fn a_recorded_run_shows_its_denials_as_the_run_did() {
    let rescued = "begin\n  File.write('/srv/x', 'x')\nrescue StandardError\nend\nfile '/srv/a'\n";
    for (recipe, granted, code) in [(rescued, "\"/srv/a\"", 0), ("file '/srv/a'\nfile '/srv/b'\n", "", 1)] {
        let (bench, root) = (Bench::new(recipe), Root::new().unwrap());
        let machine = root.machine(Network::Own).unwrap();
        fs::write(bench.grants(), format!("[policy.solo]\npaths = [{granted}]\n")).unwrap();
        let log = bench.program.configuration().join("log").display().to_string();
        let output = bench.converge(&machine, &["--log-location", &log]).expect_code(code).unwrap();
        // Whoever reads the log reads each refusal once.
        let log = fs::read_to_string(&log).unwrap();
        assert_eq!(log.matches("decision=\"denied\"").count(), 1, "{log}");
        let ran = output.stdout;
        let shown = bench.program.run(&["run", "show"]).unwrap().expect_code(0).unwrap().stdout;
        let denied = |text: &str| {
            let lines = text.lines().skip_while(|line| !line.ends_with(" denied:"));
            lines.take_while(|line| !line.starts_with("To allow it")).map(str::to_owned).collect::<Vec<_>>()
        };
        assert!(denied(&ran).len() > 1 && denied(&ran)[1].contains("site/recipes/default.rb:"), "{ran}");
        assert_eq!(denied(&shown), denied(&ran), "{shown}");
        assert!(shown.contains("To allow it, ") && shown.contains("wrun grants allow --from-run "), "{shown}");
        assert_eq!(shown.contains("  denied, see below"), code == 1, "{shown}");
    }
}

/// A notification whose action was denied did not run: it is due until it is granted.
#[test]
fn a_denied_notification_runs_once_it_is_granted() {
    let recipe = "file '/srv/a' do\n  content 'x'\n  notifies :run, 'execute[e]'\nend\nexecute 'e' do\n  command 'touch /srv/ran'\n  \
                  action :nothing\nend\n";
    let (bench, root) = (Bench::new(recipe), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    fs::write(bench.grants(), "[policy.solo]\npaths = [\"/srv/a\"]\n").unwrap();
    drop(bench.converge(&machine, &[]).expect_code(1).unwrap());
    assert!(root.exists("srv/a") && !root.exists("srv/ran"));
    // A command as root is read before it is granted.
    drop(bench.tool(&["grants", "allow", "--last", "--yes"]).expect_code(1).unwrap());
    drop(bench.tool(&["grants", "allow", "--last", "--yes", "--dangerous"]).expect_code(0).unwrap());
    let next = bench.converge(&machine, &[]).expect_code(0).unwrap();
    assert!(root.exists("srv/ran") && next.stdout.contains("due since run"), "{}", next.text());
    drop(bench.converge(&machine, &[]).expect_code(0).unwrap());
}

/// The same for an immediate notification, and for those after it: their sender will be up to date.
#[test]
fn a_denied_immediate_notification_and_those_after_it_run_once_it_is_granted() {
    let recipe = "file '/srv/a' do\n  content 'x'\n  notifies :run, 'execute[e]', :immediately\n  \
                  notifies :create, 'file[/srv/b]', :immediately\n  notifies :create, 'file[/srv/c]'\nend\n\
                  execute('e') { command 'touch /srv/ran'; action :nothing }\n\
                  file('/srv/b') { action :nothing }\nfile('/srv/c') { action :nothing }\n";
    let (bench, root) = (Bench::new(recipe), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    let paths = "[policy.solo]\npaths = [\"/srv/a\", \"/srv/b\", \"/srv/c\"]\n";
    fs::write(bench.grants(), paths).unwrap();
    let denied = bench.converge(&machine, &[]).expect_code(1).unwrap();
    assert!(root.exists("srv/a") && !root.exists("srv/ran") && !root.exists("srv/b"), "{}", denied.text());
    drop(bench.tool(&["grants", "allow", "--last", "--yes", "--dangerous"]).expect_code(0).unwrap());
    let next = bench.converge(&machine, &[]).expect_code(0).unwrap();
    assert!(["ran", "b", "c"].iter().all(|file| root.exists(format!("srv/{file}"))), "{}", next.text());
    assert_eq!(next.stdout.matches("touch /srv/ran").count(), 1, "{}", next.text());
    let last = bench.converge(&machine, &[]).expect_code(0).unwrap();
    assert!(last.stdout.contains("0 of 4 resources updated"), "{}", last.text());
}

/// The part of a recipe that a dry run did not see may declare the receiver of a notification.
#[test]
fn a_receiver_behind_a_denied_read_is_not_called_missing() {
    let recipe = "file '/srv/a' do\n  notifies :run, 'execute[e]'\n  notifies :run, 'execute[e]', :immediately\n  \
                  notifies :run, 'execute[e]', :before\nend\n\
                  file('/srv/b') { content node['ipaddress'] }\nexecute('e') { command 'true'; action :nothing }\n";
    let (bench, root) = (Bench::new(recipe), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    fs::write(bench.grants(), "[policy.solo]\npaths = [\"/srv/a\"]\n").unwrap();
    let run = bench.converge(&machine, &["--why-run", "--format", "json"]).expect_code(1).unwrap();
    let report = json(&run);
    assert!(!run.text().contains("cannot be found"), "{}", run.text());
    assert_eq!(report["denials"].as_array().unwrap().len(), 1, "{:#}", report["denials"]);
    assert!(report["denials"].to_string().contains("ipaddress"), "{:#}", report["denials"]);
}

#[test]
fn refused_random_numbers_are_a_denial_like_any_other() {
    let (bench, root) = (Bench::new("log rand(6).to_s\n"), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    fs::write(bench.grants(), "").unwrap();
    let ran = bench.converge(&machine, &["--format", "json"]).expect_code(1).unwrap();
    let denials = json(&ran)["denials"].clone();
    assert!(denials.to_string().contains("\"key\":\"random\""), "{denials}");
    drop(bench.tool(&["grants", "allow", "--last", "--yes"]).expect_code(0).unwrap());
    assert!(fs::read_to_string(bench.grants()).unwrap().contains("random = true"));
    drop(bench.converge(&machine, &[]).expect_code(0).unwrap());
}

/// Nothing shows what a sensitive resource runs, but each of them is listed, with the one command that shows the entries.
#[test]
fn each_sensitive_resource_that_was_denied_is_listed_with_one_advice() {
    let secret = |name: &str| format!("execute '{name}' do\n  command 'echo s3cret-{name}'\n  sensitive true\nend\n");
    let (bench, root) = (Bench::new(&format!("{}{}", secret("a"), secret("b"))), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    fs::write(bench.grants(), "").unwrap();
    let run = bench.converge(&machine, &["--why-run"]).expect_code(1).unwrap();
    let advice = "the resource is sensitive: `wrun grants suggest --sensitive` shows the entry";
    let place = |name: &str, line: u32| format!("(execute[{name}], site/recipes/default.rb:{line})");
    let line = |name: &str, line: u32| format!("policy solo may not run command [sensitive]  {}", place(name, line));
    let (a, b) = (line("a", 1), line("b", 5));
    let expected = format!("2 things were denied:\n  {a}\n    {advice}\n  {b}\n    {advice}\n");
    assert!(run.stdout.contains(&expected), "{}", run.text());
    assert!(run.stdout.contains("    denied, see above: execute[a] run (site/recipes/default.rb:1)"), "{}", run.text());
    let allowed = bench.tool(&["grants", "allow", "--last", "--yes"]);
    assert!(
        allowed.stderr.contains(&format!("warning: {a}: {advice}\nwarning: {b}: {advice}\n")),
        "{}",
        allowed.text()
    );
    let shown = bench.wrun(&machine, &["grants", "suggest"], &["--sensitive"]).stdout;
    assert!(["a", "b"].iter().all(|name| shown.contains(&format!("\"echo s3cret-{name}\""))), "{shown}");
    assert!([run.text(), allowed.text()].iter().all(|text| !text.contains("s3cret")));
}

/// Whoever reads the list has to find the line, though no error says it.
#[test]
fn a_denial_that_the_cookbook_rescues_names_its_line() {
    let recipe = "secret = (::File.read('/etc/shadow') rescue nil)\nthere = begin\n  ::File.exist?('/etc/gshadow')\nrescue StandardError\n  nil\nend\n\
                  item = (data_bag_item('a', 'b') rescue nil)\ntotal = (node['memory']['total'] rescue nil)\n\
                  2.times { (::File.read('/etc/shadow') rescue nil) }\n(node['memory']['total'] rescue nil)\n";
    let (bench, root) = (Bench::new(recipe), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    fs::write(bench.grants(), "").unwrap();
    let output = bench.converge(&machine, &["--why-run"]).expect_code(0).unwrap();
    for (denied, line) in
        [("path /etc/shadow", 1), ("path /etc/gshadow", 3), ("data bag a/b", 7), ("fact memory.total", 8)]
    {
        let told = format!("policy solo may not read {denied}  (site/recipes/default.rb:{line})\n");
        assert_eq!(output.stdout.matches(&told).count(), 1, "{told:?} in {}", output.text());
    }
    assert!(output.stdout.contains("4 things were denied:\n"), "{}", output.text());
}

/// The settings may name another file, to which the lines do not belong.
#[test]
fn a_recorded_run_names_the_grants_that_it_used() {
    let (bench, root) = (Bench::new("file '/srv/a'\n"), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    let (usual, used) = (bench.grants(), bench.program.configuration().join("strict.toml"));
    fs::write(&usual, "").unwrap();
    fs::write(&used, "").unwrap();
    let settings = format!("grants = \"{}\"\n", usual.display());
    fs::write(bench.program.configuration().join("wrun.toml"), settings).unwrap();
    let show = |file: &std::path::Path| {
        let _ =
            bench.wrun(&machine, &["converge", "--grants", &file.display().to_string()], &[]).expect_code(1).unwrap();
        bench.program.run(&["run", "show"]).unwrap().expect_code(0).unwrap().stdout
    };
    let shown = show(&used);
    assert!(shown.contains("To allow it, add to [CONFIGURATION]/strict.toml, under [policy.solo]:"), "{shown}");
    assert!(shown.contains(" --grants [CONFIGURATION]/strict.toml\n"), "{shown}");
    let shown = show(&usual);
    assert!(shown.contains("To allow it, add to [CONFIGURATION]/grants.toml, under [policy.solo]:"), "{shown}");
    assert!(shown.contains("wrun grants allow --from-run ") && !shown.contains("--grants"), "{shown}");
}
