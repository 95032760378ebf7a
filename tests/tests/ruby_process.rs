//! What a Ruby cookbook does as a program would: its environment reaches its commands, what it prints stands in the log
//! beside what it logs, and the node's run list is its own to change.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use serde_json::{Value, json};
use specs::{Machine, Network, Output, Program, Root};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

/// A cookbook `a` with one recipe on a machine of its own.
struct Place<'a> {
    program: Program,
    machine: Machine<'a>,
}

impl Place<'_> {
    /// Runs it; returns the run as JSON.
    fn run(&self, recipe: &str, more: &[&str]) -> Value {
        let output = self.converge(recipe, &[&["--format", "json"], more].concat());
        serde_json::from_str(&output.stdout).unwrap_or_else(|error| panic!("{error} in {output:?}"))
    }

    /// Runs it; returns what a terminal shows.
    fn said(&self, recipe: &str) -> String {
        self.converge(recipe, &ALL).text()
    }

    fn converge(&self, recipe: &str, more: &[&str]) -> Output {
        let cookbooks = self.program.configuration().join("cookbooks");
        for (path, text) in [("metadata.rb", "name 'a'\n"), ("recipes/default.rb", recipe), ("recipes/b.rb", "")] {
            let path = cookbooks.join("a").join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let [cookbooks, place] = [cookbooks.as_path(), self.machine.root().path()].map(|it| it.display().to_string());
        let mut all = vec!["converge", "--node-name", "node1", "--cookbooks", &cookbooks, "--root", &place];
        all.extend(more);
        self.program.run_in(&self.machine, &all).unwrap().expect_code(0).unwrap()
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.machine.root().path().join(path)).unwrap()
    }
}

fn with_place(test: impl FnOnce(&Place<'_>)) {
    let (program, root) = (Program::new().unwrap(), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    test(&Place { program, machine });
}

const ALL: [&str; 3] = ["--allow-all", "--run-list", "recipe[a]"];

#[test]
fn what_a_cookbook_puts_into_its_environment_reaches_commands_and_guards() {
    let recipe = r#"
      ENV['COLOUR'] = 'red'
      ENV['PATH'] = "/opt/tools:#{ENV['PATH']}"
      ENV['GONE'] = 'x'
      ENV.delete('GONE')
      execute('told') { command 'echo "$COLOUR ${GONE-unset} ${PATH%%:*}" > /srv/told' }
      execute('own') { command 'echo "$COLOUR" > /srv/own'; environment 'COLOUR' => 'green' }
      execute('guarded') { command 'true'; only_if 'test "$COLOUR" = red' }
      ruby_block('later') { block { ENV['COLOUR'] = 'blue' } }
      bash('script') { code 'echo "$COLOUR" > /srv/script' }
    "#;
    with_place(|place| {
        let run = place.run(recipe, &ALL);
        assert_eq!(place.read("srv/told"), "red unset /opt/tools\n");
        assert_eq!(place.read("srv/own"), "green\n");
        assert_eq!(place.read("srv/script"), "blue\n");
        let statuses: Vec<_> = run["resources"].as_array().unwrap().iter().map(|row| &row["status"]).collect();
        assert_eq!(statuses, ["updated"; 5]);
    });
}

/// In a survey everything counts as allowed, also where nobody has granted anything, and a dry run changes nothing.
#[test]
fn attack_in_a_dry_run_the_environment_reaches_no_program_of_wruns_own_choosing() {
    let recipe = "ENV['PATH'] = \"/opt/tools:#{ENV['PATH']}\"\ncron('x') { command 'true'; ignore_failure true }\n";
    with_place(|place| {
        let tools = place.machine.root().path().join("opt/tools");
        fs::create_dir_all(&tools).unwrap();
        fs::write(tools.join("crontab"), "#!/bin/sh\necho ran >> /srv/ran\nexit 1\n").unwrap();
        fs::set_permissions(tools.join("crontab"), fs::Permissions::from_mode(0o755)).unwrap();
        place.run(recipe, &[&ALL[..], &["--why-run"]].concat());
        assert!(!place.machine.root().exists("srv/ran"), "a program of the cookbook's was taken for crontab");
    });
}

/// A message that every line has, or a quiet failure, took the next line of wrun's own log for its own.
#[test]
fn attack_a_forgiven_failure_hides_no_other_line() {
    let recipe = |mode: &str, message: &str| {
        format!(
            "ruby_block('x') {{ block {{ raise '{message}' }}; ignore_failure {mode} }}\n\
             log('y') {{ only_if {{ 'touch /srv/f' }} }}\n"
        )
    };
    with_place(|place| {
        for (mode, message) in [(":quiet", ""), (":quiet", "i"), ("true", ""), ("true", "told once")] {
            let said = place.said(&recipe(mode, message));
            assert!(said.contains("did you mean"), "{mode} {message:?}: {said}");
            assert!(!said.contains("ignore_failure is set, continuing"), "it was told already: {said}");
        }
    });
}

#[test]
fn commands_of_a_policy_that_may_not_do_everything_find_what_was_granted_only() {
    let recipe = "ENV['LD_PRELOAD'] = '/srv/evil.so'; ENV['COLOUR'] = 'red'\n\
                  execute('env > /srv/found')\n";
    with_place(|place| {
        let grants = place.program.configuration().join("grants.toml");
        fs::write(&grants, "[policy.solo]\ncommands = [{ shell = \"env > /srv/found\" }]\n").unwrap();
        place.run(recipe, &["--grants", &grants.display().to_string(), "--run-list", "recipe[a]"]);
        let found = place.read("srv/found");
        assert!(found.contains("PATH=") && !found.contains("LD_PRELOAD") && !found.contains("COLOUR"), "{found}");
    });
}

#[test]
fn what_is_printed_is_not_what_the_cookbook_logs() {
    let recipe = "puts 'first'\nlog 'second'\n$stderr.puts 'third'\nChef::Log.warn('fourth')\nprint 'fifth'\nwarn 'sixth'\n\
                  print 'last', \"\\n\"\n";
    with_place(|place| {
        let run = place.run(recipe, &ALL);
        let lines = run["log"].as_array().unwrap().iter();
        let of = |source: &str| -> Vec<_> {
            lines.clone().filter(|line| line["source"] == source).map(|line| line["message"].clone()).collect()
        };
        assert_eq!(of("resource"), ["fourth", "second"]);
        let mut printed = of("printed");
        printed.retain(|line| ["first", "third", "fifth", "sixth", "last"].iter().any(|word| line == word));
        assert_eq!(printed, ["first", "third", "fifth", "sixth", "last"]);
    });
}

#[test]
fn the_next_run_begins_with_the_run_list_that_a_cookbook_leaves() {
    let recipe = "node.run_list << 'recipe[a::b]'\nnode.run_list.remove('recipe[a]')\n";
    with_place(|place| {
        let first = place.run(recipe, &ALL);
        assert_eq!(first["expanded_run_list"], json!(["a", "a::default"]));
        assert_eq!(first["node"]["run_list"], json!(["recipe[a::b]"]));
        let second = place.run(recipe, &["--allow-all"]);
        assert_eq!(second["expanded_run_list"], json!(["a::b"]));
        let long = "begin; node.run_list('a' * 2000); rescue => e; log \"#{e.class}: #{e.message}\"; end";
        let refused = place.run(long, &ALL);
        let said = refused["log"].as_array().unwrap().iter().filter_map(|line| line["message"].as_str());
        assert!(said.clone().any(|line| line.contains("at most 1000 items of 1000 bytes")), "{refused}");
        assert_eq!(refused["node"]["run_list"], json!(["recipe[a]"]));
    });
}
