//! What a policy may cost: the operator's limits, how they end a policy, and how a run tells what was used.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, and helpers are not tests to the lints")]

use serde_json::{Value, json};
use specs::{Network, Program, Root};
use std::fs::{self, File};

/// Runs a recipe with limits, and returns the run as JSON.
fn run(limits: &str, recipe: &str, code: i32) -> Value {
    run_with("", limits, recipe, code)
}

/// The same with settings.
fn run_with(settings: &str, limits: &str, recipe: &str, code: i32) -> Value {
    run_in(&Root::new().unwrap(), settings, limits, recipe, code)
}

/// The same in a root that is there.
fn run_in(root: &Root, settings: &str, limits: &str, recipe: &str, code: i32) -> Value {
    let program = Program::new().unwrap();
    let machine = root.machine(Network::Own).unwrap();
    let folder = program.configuration().join("cookbooks");
    fs::create_dir_all(folder.join("a/recipes")).unwrap();
    fs::write(folder.join("a/metadata.rb"), "name 'a'\n").unwrap();
    fs::write(folder.join("a/recipes/default.rb"), recipe).unwrap();
    fs::write(program.configuration().join("wrun.toml"), settings).unwrap();
    let grants = program.configuration().join("limited.toml");
    let text = format!(
        "[policy.solo]\npaths = [\"/srv/h/**\"]\nusers = [\"web-*\"]\ngroups = [\"web-*\"]\ncommands = [\"sleep 1000\"]\n\n[policy.solo.limits]\n{limits}\n"
    );
    fs::write(&grants, text).unwrap();
    fs::create_dir_all(machine.root().path().join("srv/h")).unwrap();
    File::create(machine.root().path().join("srv/h/big")).unwrap().set_len(1_000_000).unwrap();
    let places = [machine.root().path(), &folder, &grants].map(|path| path.display().to_string());
    let [root, cookbooks, grants] = places.each_ref().map(String::as_str);
    let arguments = ["converge", "-N", "n1", "--root", root, "--cookbooks", cookbooks, "--grants", grants];
    let more = ["--run-list", "a", "-F", "json"];
    let output = program.run_in(&machine, &[&arguments[..], &more].concat()).unwrap().expect_code(code).unwrap();
    serde_json::from_str(&output.stdout).unwrap()
}

#[test]
fn what_was_used_is_shown_beside_its_limit() {
    let limits = "host_memory_mib = 100\nhost_seconds = 200\ndisk_mib = 300\nentries = 400\nopen_files = 450\nprocesses = 460\naccounts = 470\npause_seconds = 500\nwall_seconds = 600";
    let run =
        run(limits, "file '/srv/h/x' do\n  content 'y' * 2_000_000\nend\nchef_sleep '0.1' do\n  seconds 1\nend\n", 0);
    let shown = &run["limits"];
    let limits = [
        "host_memory_mib",
        "host_seconds",
        "disk_mib",
        "entries",
        "open_files",
        "processes",
        "accounts",
        "pause_seconds",
        "wall_seconds",
    ];
    let of = |key: &str, part: &str| shown[key][part].as_f64().unwrap();
    assert_eq!(
        limits.map(|key| of(key, "limit")),
        [100.0, 200.0, 300.0, 400.0, 450.0, 460.0, 470.0, 500.0, 600.0],
        "{shown:#}"
    );
    let memory = of("host_memory_mib", "used");
    assert!((1.9..20.0).contains(&memory), "two megabytes are kept while they are declared: {memory}");
    assert!(of("disk_mib", "used") > 1.9 && (1.0..450.0).contains(&of("open_files", "used")), "{shown:#}");
    assert_eq!(shown["pause_seconds"]["used"], json!(1.0));
    assert!(of("host_seconds", "used") > 0.0 && of("wall_seconds", "used") >= 1.0, "{shown:#}");
}

/// Whoever wants to raise a limit looks where it was set.
#[test]
fn the_error_names_the_place_that_set_the_limit() {
    for (settings, limits, place) in [
        ("guest_seconds = 1", "", "(`guest_seconds` of the settings, or `limits.guest_seconds` in its grants)"),
        ("guest_seconds = 600", "guest_seconds = 1", "(`limits.guest_seconds` in its grants)"),
    ] {
        let run = run_with(settings, limits, "loop {}\n", 1);
        let message = run["error"]["message"].as_str().unwrap();
        assert!(message.contains(&format!("used up its 1 s of processor time {place}")), "{message}");
    }
}

/// Host-memory, from a cookbook in Ruby: the error has the resource's place and the setting.
#[test]
fn host_memory() {
    let recipe = "(0..).each do |at|\n  file \"/srv/h/#{at}\" do\n    content 'x' * 1_000_000\n    action :nothing\n  end\nend\n";
    let run = run("host_memory_mib = 20", recipe, 1);
    let error = &run["error"];
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("used up its 20 MiB of the host's memory"), "{message}");
    assert!(message.contains("(`limits.host_memory_mib` in its grants), in recipe a::default"), "{message}");
    assert_eq!((&error["origin"]["file"], &error["origin"]["line"]), (&json!("recipes/default.rb"), &json!(2)));
}

/// Endless-pause: of a resource that is tried again.
#[test]
fn endless_pause() {
    let block =
        |delay: &str| format!("ruby_block('x') {{ block {{ raise 'again' }}; retries 3; retry_delay {delay} }}\n");
    let refused = run("", &block("4_000_000_000"), 1);
    let message = refused["error"]["message"].as_str().unwrap();
    assert!(message.contains("retry_delay is 4000000000 s"), "{message}");
    let ended = run("pause_seconds = 1", &block("2"), 1);
    let message = ended["error"]["message"].as_str().unwrap();
    assert!(message.contains("used up its 1 s of pauses: it used 0 s and asked for 2 s more"), "{message}");
    assert_eq!(ended["error"]["origin"]["line"], json!(1));
}

/// The numbers of users are shared by all policies of a machine.
#[test]
fn attack_users_and_groups_are_counted() {
    let ended = run(
        "accounts = 2",
        "group 'web-1'\nuser('web-2') { manage_home false }\nuser('web-3') { manage_home false }\n",
        1,
    );
    let message = ended["error"]["message"].as_str().unwrap();
    assert!(message.contains("used up its 2 of new users and groups: it used 2 and asked for 1 more"), "{message}");
    assert_eq!(ended["limits"]["accounts"], json!({"used": 2, "limit": 2}), "{ended:#}");
}

/// A policy could make new ones in each run, until the machine has no numbers left for anybody.
#[test]
fn attack_users_of_earlier_runs_are_counted() {
    let root = Root::new().unwrap();
    let recipe = |names: &[&str]| {
        let lines = names.iter().map(|name| format!("user('{name}') {{ manage_home false }}\n"));
        lines.collect::<String>() + "group 'web-2'\n"
    };
    let _made = run_in(&root, "", "accounts = 3", &recipe(&["web-1", "web-2"]), 0);
    let done = run_in(&root, "", "accounts = 3", &recipe(&["web-2", "web-3"]), 0);
    assert_eq!(done["limits"]["accounts"]["used"], json!(1), "{done:#}");
    for more in ["user('web-4') { manage_home false }\n", "group 'web-5'\n"] {
        let refused = run_in(&root, "", "accounts = 3", more, 1);
        let message = refused["error"]["message"].as_str().unwrap();
        let expect = "3 users and groups are there already that rules with wildcards of the policy match";
        assert!(message.contains(expect) && message.contains("`limits.accounts` allows 3"), "{message}");
    }
    let _more_room = run_in(&root, "", "accounts = 4", "group 'web-5'\n", 0);
}

/// Host-time: adding a byte to a file costs the guest little and the host a copy of the file.
#[test]
fn host_time() {
    let recipe = "100.times { File.open('/srv/h/big', 'a') { |file| file.write('x') } }\n";
    let ended = run("disk_mib = 20", recipe, 1);
    let message = ended["error"]["message"].as_str().unwrap();
    assert!(message.contains("used up its 20 MiB of disk") && message.contains("`limits.disk_mib`"), "{message}");
    assert_eq!(ended["error"]["origin"]["recipe"], json!("default"));
    let used = ended["limits"]["disk_mib"]["used"].as_f64().unwrap();
    assert!((18.0..=20.0).contains(&used), "{used}");
}

/// A policy chooses the timeouts of its commands, and not how long others wait for it.
#[test]
fn a_command_ends_with_the_wall_time() {
    for recipe in [
        "execute('sleep 1000') { timeout 100_000 }",
        "log('x') { only_if 'sleep 1000', timeout: 100_000 }",
        "file('/srv/h/x') { content 'x'; verify 'sleep 1000' }",
    ] {
        let run = run("wall_seconds = 1", recipe, 1);
        let message = run["error"]["message"].as_str().unwrap();
        assert!(message.contains("used up its 1 s of wall time (`limits.wall_seconds` in its grants)"), "{message}");
        assert!(run["seconds"].as_f64().unwrap() < 500.0, "{run:#}");
    }
}

/// What late handlers are told of a policy's actions is paid for before it is made.
#[test]
fn attack_handlers_of_many_actions_are_paid_for() {
    let recipe = |actions: usize| {
        format!(
            "Chef.event_handler {{ on(:run_completed) {{ |*all| puts 'heard' }} }}\n\
             100.times {{ |at| log(\"#{{at}}\" + 'x' * 1000) {{ action Array.new({actions}, :nothing) }} }}\n"
        )
    };
    let limits = "host_memory_mib = 24";
    let failed = |run: &Value| run["log"].to_string().contains("used up its 24 MiB of the host's memory");
    let run_of = |actions| run(limits, &recipe(actions), 0);
    assert!(!failed(&run_of(1)), "a hundred actions are told");
    let ended = run_of(60);
    assert!(failed(&ended), "{ended:#}");
}
