//! What a person hears who presses Ctrl-C, and what is recorded of the run.

use super::Place;
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use specs::Terminal;
use std::fs;

/// A recipe whose command waits at the pipe, with a file that would come after it.
const HELD: &str = "execute 'held' do\n  command 'cat /srv/pipe'\nend\nfile '/srv/after'\n";

/// The only run's record.
fn record(place: &Place) -> serde_json::Value {
    let mut runs = fs::read_dir(place.program.state().join("runs")).unwrap();
    let run = runs.next().unwrap().unwrap().path();
    serde_json::from_str(&fs::read_to_string(run.join("run.json")).unwrap()).unwrap()
}

/// Waits until a process that holds the other end of a pipe is gone.
fn wait_for_nobody_at(place: &Place, name: &str) {
    use std::os::unix::fs::OpenOptionsExt as _;
    let path = place.root.at(name).unwrap();
    let until = std::time::Instant::now() + std::time::Duration::from_secs(300);
    let somebody = || fs::OpenOptions::new().write(true).custom_flags(nix::libc::O_NONBLOCK).open(&path).is_ok();
    while somebody() {
        assert!(std::time::Instant::now() < until, "a process still reads {name}");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

#[test]
fn the_first_ctrl_c_finishes_the_action_and_says_so() {
    let later = "execute 'late' do\n  command 'touch /srv/late'\n  action :nothing\nend\nexecute 'sender' do\n  command 'true'\n  \
                 notifies :run, 'execute[late]'\nend\n";
    let place = Place::new(&format!("{later}{HELD}"));
    let mut terminal = place.terminal(80, &[]);
    terminal.wait_for("s] execute[held] run").unwrap();
    // The command runs when it has opened its pipe.
    let end = fs::OpenOptions::new().write(true).open(place.root.at("srv/pipe").unwrap()).unwrap();
    terminal.press("\u{3}").unwrap();
    terminal.wait_for("Interrupted: finishing execute[held] run, then stopping. 1 notification is due").unwrap();
    terminal.wait_for("at the end of the policy's next run: execute[late] run. Press Ctrl-C again").unwrap();
    drop(end);
    let status = terminal.end().unwrap();
    let shown = terminal.rows().join("\n");
    assert_eq!(status.code(), Some(2), "{shown}");
    assert!(
        shown.contains("1 notification did not run. ") && shown.contains("\n  execute[late] run, policy solo"),
        "{shown}"
    );
    assert!(!place.root.exists("srv/after"));
    let ended = record(&place);
    let listed = place.program.run(&["run", "list"]).unwrap().stdout;
    assert!(listed.contains("  interrupted  "), "{listed}");
    let resources = ended["resources"].as_array().unwrap();
    let held = resources.iter().find(|one| one["name"] == "held").unwrap();
    assert_eq!(held["status"], "updated", "{ended:#}");
    // Whatever was due runs at the end of the policy's next run, and that says since when it has been due.
    assert!(!place.root.exists("srv/late"));
    let dry = place.piped_alone(&["--why-run"]);
    let since = format!("    * execute[late] action run, due since run {}\n", ended["run_id"].as_str().unwrap());
    assert!(dry.contains(&since) && !place.root.exists("srv/late"), "{since}{dry}");
    let next = place.piped(&[]);
    assert!(next.contains(&since) && place.root.exists("srv/late"), "{since}{next}");
    let shown = place.program.run(&["run", "show"]).unwrap().stdout;
    let since = format!("execute[late] run, due since run {}  (", ended["run_id"].as_str().unwrap());
    assert!(shown.contains(&since), "{since}{shown}");
}

/// What is interrupted must have had something left to do.
#[test]
fn a_signal_in_the_last_action_has_ended_nothing() {
    let place = Place::new("execute 'held' do\n  command 'cat /srv/pipe'\nend\n");
    let mut terminal = place.terminal(80, &[]);
    terminal.wait_for("s] execute[held] run").unwrap();
    let end = fs::OpenOptions::new().write(true).open(place.root.at("srv/pipe").unwrap()).unwrap();
    terminal.press("\u{3}").unwrap();
    terminal.wait_for("Interrupted: finishing execute[held] run").unwrap();
    drop(end);
    assert_eq!(terminal.end().unwrap().code(), Some(0), "{}", terminal.rows().join("\n"));
    assert_eq!(record(&place)["outcome"], "success");
}

#[test]
fn the_second_ends_what_runs_and_the_run_is_recorded() {
    // Its children are ended too, also those that want to clean up first, and those that do not hear.
    let recipe = "execute 'late' do\n  command 'true'\n  action :nothing\nend\nexecute 'sender' do\n  command 'true'\n  \
                  notifies :run, 'execute[late]'\nend\nexecute 'held' do\n  command \"(trap 'echo cleaned > /srv/cleaned; exit' TERM; cat /srv/pipe & wait) & \
                  (trap '' TERM; exec cat /srv/deaf) & wait\"\nend\nfile '/srv/after'\n";
    let place = Place::new(recipe);
    mkfifo(&place.root.at("srv/deaf").unwrap(), Mode::S_IRWXU).unwrap();
    let mut terminal = place.terminal(80, &[]);
    terminal.wait_for("s] execute[held] run").unwrap();
    // Both have opened their pipes, since these can be opened.
    let ends =
        ["srv/pipe", "srv/deaf"].map(|name| fs::OpenOptions::new().write(true).open(place.root.at(name).unwrap()));
    terminal.press("\u{3}").unwrap();
    terminal.wait_for("Press Ctrl-C again").unwrap();
    // The row that the `^C` was written in is the status line's, and is gone.
    let torn = |rows: &[String]| rows.iter().filter(|row| row.contains("s] execute[held]")).count() > 1;
    assert!(!torn(&terminal.rows()), "{}", terminal.rows().join("\n"));
    terminal.press("\u{3}").unwrap();
    terminal.wait_for("Stopping at once").unwrap();
    let status = terminal.end().unwrap();
    let shown = terminal.rows().join("\n");
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&status), Some(2), "{shown}");
    drop(ends);
    wait_for_nobody_at(&place, "srv/pipe");
    wait_for_nobody_at(&place, "srv/deaf");
    assert_eq!(place.root.read("srv/cleaned").unwrap(), "cleaned\n");
    assert!(!place.root.exists("srv/after"));
    // What is due was not tried, and did not fail.
    assert!(!shown.contains("failures") && shown.contains("  execute[late] run, policy solo"), "{shown}");
    let record = record(&place);
    let resources = record["resources"].as_array().unwrap();
    let held = resources.iter().find(|one| one["name"] == "held").unwrap();
    assert_eq!((&record["outcome"], &held["status"]), (&"interrupted".into(), &"interrupted".into()), "{record:#}");
    assert_eq!(record["interrupted"], true, "{record:#}");
    // What was seen while it ran says the same.
    assert!(shown.contains("* execute[held] action run (interrupted)") && !shown.contains("failed)"), "{shown}");
}

#[test]
fn a_package_manager_is_left_to_finish_and_the_third_leaves_it_running() {
    let recipe = "execute 'install' do\n  command '/srv/apt-get'\nend\nfile '/srv/after'\n";
    for third in [false, true] {
        let place = Place::new(recipe);
        place
            .root
            .write_program(
                "srv/apt-get",
                "#!/bin/sh\necho begun >/srv/begun\nread line </srv/pipe\necho done >/srv/done\n",
            )
            .unwrap();
        let mut terminal = place.terminal(120, &[]);
        terminal.wait_for("s] execute[install] run").unwrap();
        // The program runs when it has opened its pipe.
        let end = fs::OpenOptions::new().write(true).open(place.root.at("srv/pipe").unwrap()).unwrap();
        for (key, said) in [("\u{3}", "Press Ctrl-C again"), ("\u{3}", "Waiting for apt-get (process ")] {
            terminal.press(key).unwrap();
            terminal.wait_for(said).unwrap();
        }
        if third {
            terminal.press("\u{3}").unwrap();
            terminal.wait_for(") is left running.").unwrap();
        } else {
            drop(end.try_clone().unwrap());
            place_line(&end);
        }
        let status = terminal.end().unwrap();
        let shown = terminal.rows().join("\n");
        assert_eq!(std::os::unix::process::ExitStatusExt::signal(&status), Some(2), "{shown}");
        assert_eq!(place.root.exists("srv/done"), !third, "{shown}");
        assert!(!place.root.exists("srv/after"));
        assert_eq!(record(&place)["outcome"], "interrupted");
        drop(end);
        wait_for_nobody_at(&place, "srv/pipe");
    }
}

/// Lets a shell's `read` go on.
fn place_line(mut pipe: &fs::File) {
    std::io::Write::write_all(&mut pipe, b"go on\n").unwrap();
}

/// Code that never returns is ended where it is, and the run comes to its end as any other.
#[test]
fn the_second_ends_the_policys_own_code() {
    // Its time has not run out.
    let place = Place::new("log 'looping' do\n  level :warn\nend\nruby_block 'loop' do\n  block { loop { } }\nend\n");
    fs::write(place.program.configuration().join("wrun.toml"), "guest_seconds = 3000\n").unwrap();
    let _ = place.program.run(&["node", "create", "n1"]).unwrap().expect_code(0).unwrap();
    let mut terminal = place.terminal(80, &[]);
    terminal.wait_for("s] ruby_block[loop] run").unwrap();
    let told = place.program.run(&["node", "tag", "add", "late"]).unwrap().expect_code(0).unwrap();
    assert!(told.stderr.contains("applied when the run ends"), "{}", told.stderr);
    terminal.press("\u{3}").unwrap();
    terminal.wait_for("Interrupted: finishing ruby_block[loop] run").unwrap();
    terminal.press("\u{3}").unwrap();
    let status = terminal.end().unwrap();
    let shown = terminal.rows().join("\n");
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&status), Some(2), "{shown}");
    assert!(shown.contains("! ruby_block[loop] action run (interrupted)"), "{shown}");
    assert!(shown.contains("\nRun interrupted in ") && shown.contains("\nsolo  stopped "), "{shown}");
    let record = record(&place);
    assert_eq!(record["error"]["class"], "SignalException", "{record:#}");
    let statuses = record["resources"].as_array().unwrap().iter().map(|one| one["status"].as_str().unwrap());
    assert_eq!(statuses.collect::<Vec<_>>(), ["up-to-date", "interrupted"], "{record:#}");
    assert_eq!(record["interrupted"], true, "{record:#}");
    let listed = place.program.run(&["run", "list"]).unwrap().stdout;
    assert!(listed.contains("  interrupted  "), "{listed}");
    // What an operator changed meanwhile is in the node.
    let saved = fs::read_to_string(place.program.state().join("nodes/n1.json")).unwrap();
    assert!(saved.contains("\"late\""), "{saved}");
    let again = place.program.run(&["node", "tag", "add", "late"]).unwrap().expect_code(0).unwrap();
    assert!(again.stderr.contains("nothing to change"), "{}", again.stderr);
    assert!(!place.program.state().join("changes/n1.json").exists());
}

/// As a real run: the second signal says what it does, and the dry run is recorded as far as it came.
#[test]
fn a_dry_run_that_is_ended_at_once_is_recorded() {
    let place = Place::new("log 'before'\nlog 'held' do\n  only_if { loop {} }\nend\n");
    fs::write(place.program.configuration().join("wrun.toml"), "guest_seconds = 3000\n").unwrap();
    let mut terminal = place.terminal(80, &["--why-run"]);
    terminal.wait_for("s] log[held] write").unwrap();
    terminal.press("\u{3}").unwrap();
    terminal.wait_for("Interrupted: finishing log[held] write").unwrap();
    terminal.press("\u{3}").unwrap();
    terminal.wait_for("Stopping at once").unwrap();
    let status = terminal.end().unwrap();
    let shown = terminal.rows().join("\n");
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&status), Some(2), "{shown}");
    let listed = place.program.run(&["run", "list", "--format", "json"]).unwrap().expect_code(0).unwrap().stdout;
    let listed: serde_json::Value = serde_json::from_str(&listed).unwrap();
    let run = &listed["runs"][0];
    assert!(shown.contains("* log[held] action write (interrupted)"), "{shown}");
    assert_eq!((&run["why_run"], &run["outcome"]), (&true.into(), &"interrupted".into()), "{listed:#}");
    assert!(!place.program.state().join("runs").exists(), "it is not a real run");
}

/// Nothing is under way while a recipe is compiled, and nothing has to be finished.
#[test]
fn the_first_ctrl_c_ends_a_recipe_that_does_not_end() {
    let place = Place::new("log 'begun'\nFile.write('/srv/begun', 'x')\nloop {}\n");
    let mut terminal = place.terminal(80, &[]);
    while !place.root.exists("srv/begun") {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    terminal.press("\u{3}").unwrap();
    let status = terminal.end().unwrap();
    let shown = terminal.rows().join("\n");
    assert_eq!(status.code(), Some(2), "{shown}");
    assert!(shown.contains("stopped by Ctrl-C (SIGINT)") && !shown.contains("processor time"), "{shown}");
    let listed = place.program.run(&["run", "list"]).unwrap().stdout;
    assert!(listed.contains("  interrupted  "), "{listed}");
}

/// What did not get its turn has not been declared either: nobody knows how many resources a run would have had.
#[test]
fn an_interrupted_run_says_what_did_not_run() {
    let place = Place::new(&format!("{HELD}file '/srv/last' do\n  action [:create, :touch]\nend\n"));
    let mut terminal = place.terminal(100, &[]);
    terminal.wait_for("s] execute[held] run").unwrap();
    let end = fs::OpenOptions::new().write(true).open(place.root.at("srv/pipe").unwrap()).unwrap();
    terminal.press("\u{3}").unwrap();
    terminal.wait_for("Interrupted: finishing execute[held] run").unwrap();
    drop(end);
    assert_eq!(terminal.end().unwrap().code(), Some(2));
    let words = terminal.words();
    assert!(words.contains(": 1 of 4 resources updated, of those declared so far"), "{words}");
    assert_eq!(record(&place)["outcome"], "interrupted");
    let shown = place.program.run(&["run", "show"]).unwrap().expect_code(0).unwrap().stdout;
    assert!(shown.contains("\n  interrupted: 1 of 4 updated, of those declared so far, began "), "{shown}");
    assert!(!shown.contains("failure"), "{shown}");
    for action in ["file[/srv/after] create", "file[/srv/last] create", "file[/srv/last] touch"] {
        let line = format!("\n  did not run   {action}  (a/recipes/default.rb:");
        assert!(shown.contains(&line), "{line}: {shown}");
    }
}

#[test]
fn policies_that_an_interrupted_run_did_not_reach_are_listed() {
    let place = Place::new(HELD);
    let policies = place.program.configuration().join("policies");
    for (name, recipe) in [("one", HELD), ("two", "log 'x'\n")] {
        let folder = place.program.configuration().join(name);
        let recipes = folder.join("cookbooks/a/recipes");
        fs::create_dir_all(&recipes).unwrap();
        fs::write(folder.join("policy.toml"), format!("name = \"{name}\"\nrun_list = [\"a\"]\n")).unwrap();
        fs::write(folder.join("cookbooks/a/metadata.rb"), "name 'a'\n").unwrap();
        fs::write(recipes.join("default.rb"), recipe).unwrap();
        let (folder, policies) = (folder.display().to_string(), policies.display().to_string());
        let _ = place.program.run(&["policy", "build", &folder, "-o", &policies]).unwrap().expect_code(0).unwrap();
    }
    let (root, policies) = (place.root.path().display().to_string(), policies.display().to_string());
    let fixed = ["converge", "--root", &root, "--node-name", "n1", "--allow-all", "--policies", &policies];
    let arguments = [&fixed[..], &["--policy-name", "one,two"]].concat();
    let mut terminal = Terminal::start(&place.program, 100, &arguments).unwrap();
    terminal.wait_for("s] execute[held] run").unwrap();
    let end = fs::OpenOptions::new().write(true).open(place.root.at("srv/pipe").unwrap()).unwrap();
    terminal.press("\u{3}").unwrap();
    terminal.wait_for("Interrupted: finishing execute[held] run").unwrap();
    drop(end);
    assert_eq!(terminal.end().unwrap().code(), Some(2));
    let outcomes: Vec<_> =
        record(&place)["policies"].as_array().unwrap().iter().map(|one| one["outcome"].clone()).collect();
    assert_eq!(outcomes, ["interrupted", "not-run"]);
    let shown = place.program.run(&["run", "show"]).unwrap().expect_code(0).unwrap().stdout;
    assert!(shown.contains("\nPolicy one: interrupted ") && shown.contains("\nPolicy two: did not run\n"), "{shown}");
}

/// Without a status line nothing takes the `^C` away that the terminal writes.
#[test]
fn what_a_signal_says_begins_on_a_line_of_its_own() {
    let place = Place::new(HELD);
    let mut terminal = place.terminal(60, &["--format", "json"]);
    let end = fs::OpenOptions::new().write(true).open(place.root.at("srv/pipe").unwrap()).unwrap();
    terminal.press("\u{3}").unwrap();
    terminal.wait_for("Interrupted: finishing execute[held] run").unwrap();
    terminal.press("\u{3}").unwrap();
    terminal.wait_for("Stopping at once").unwrap();
    let _ = terminal.end().unwrap();
    drop(end);
    let rows = terminal.rows();
    for first in ["Interrupted: ", "Stopping at once: "] {
        assert!(rows.iter().any(|row| row.starts_with(first)), "{first}{rows:#?}");
    }
    // The terminal may write a `^C` behind a row whose end is just being written.
    assert_eq!(rows.iter().filter(|row| row.ends_with("^C")).count(), 2, "{rows:#?}");
    // The log is not wrapped.
    assert!(terminal.torn_row().is_none_or(|row| row.starts_with("ERROR run: ")), "{rows:#?}");
}
