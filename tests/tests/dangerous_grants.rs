//! Entries of the grants that open a lot: told with the reason, and added only by somebody who says so.

#![cfg(target_arch = "x86_64")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use specs::{Machine, Network, Output, Program, Root, Terminal};
use std::fs;

const RECIPE: &str = "file '/srv/a'\nfile '/etc/cron.d/site'\nexecute 'echo a | cat'\n";

const CRON_FILE: &str = "\"/etc/cron.d/site\" is a path that root or the system runs, reads as configuration or trusts";
const PIPE: &str = "\"echo a | cat\" is a line that a shell runs as root: read all of it";

/// A text with the comments of several lines on one: each key of these tests has one reason.
fn unwrapped(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let joined = lines.join("\n").replace("\n# ", " ");
    joined.replace(" Opens a lot: ", "\n# Opens a lot: ")
}

struct Bench {
    program: Program,
    cookbooks: String,
    grants: String,
}

impl Bench {
    fn new() -> Self {
        Self::with(RECIPE)
    }

    fn with(recipe: &str) -> Self {
        let program = Program::new().unwrap();
        let folder = program.configuration().join("cookbooks");
        fs::create_dir_all(folder.join("site/recipes")).unwrap();
        fs::write(folder.join("site/metadata.rb"), "name 'site'\n").unwrap();
        fs::write(folder.join("site/recipes/default.rb"), recipe).unwrap();
        let grants = program.configuration().join("grants.toml");
        fs::write(&grants, "").unwrap();
        Self { cookbooks: folder.display().to_string(), grants: grants.display().to_string(), program }
    }

    fn wrun(&self, machine: &Machine<'_>, command: &[&str], more: &[&str]) -> Output {
        let root = machine.root().path().display().to_string();
        let fixed = ["--root", &root, "--node-name", "n1", "--cookbooks", &self.cookbooks, "--run-list", "site"];
        self.program.run_in(machine, &[command, &fixed[..], more].concat()).unwrap()
    }

    fn allow(&self, more: &[&str]) -> Output {
        self.program.run(&[&["grants", "allow", "--last", "--grants", &self.grants], more].concat()).unwrap()
    }

    /// The entries of the file: the harmless one, the privileged path, the shell's line.
    fn entries(&self) -> [bool; 3] {
        let text = fs::read_to_string(&self.grants).unwrap();
        ["/srv/a", "/etc/cron.d/site", "echo a | cat"].map(|entry| text.contains(entry))
    }
}

#[test]
fn a_run_names_them_and_yes_alone_leaves_them_out() {
    let (bench, root) = (Bench::new(), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    let run = bench.wrun(&machine, &["converge"], &["--why-run", "--grants", &bench.grants]).expect_code(1).unwrap();
    let comment = format!("# Opens a lot: {CRON_FILE}: changing it can give full control of the machine.\npaths = [");
    let told = unwrapped(&run.stdout);
    assert!(told.contains(&comment), "{}", run.text());
    assert!(told.contains(&format!("# Opens a lot: {PIPE}.\ncommands = [")), "{}", run.text());
    let written = bench.allow(&["--yes"]).expect_code(1).unwrap();
    assert_eq!(bench.entries(), [true, false, false]);
    for said in ["2 entries open a lot:", "  policy solo: paths", CRON_FILE, PIPE, "without --dangerous"] {
        assert!(written.stderr.contains(said), "{said}\n{}", written.text());
    }
    let again = bench.allow(&["--yes"]).expect_code(1).unwrap();
    assert!(!again.stderr.contains("wrote") && again.stderr.contains("2 entries open a lot:"), "{}", again.text());
    let written = bench.allow(&["--yes", "--dangerous"]).expect_code(0).unwrap();
    assert_eq!(bench.entries(), [true; 3]);
    assert!(written.stderr.contains("2 entries open a lot:"), "{}", written.text());
}

#[test]
fn code_that_is_a_placeholder_is_granted_as_it_stands() {
    let bench = Bench::with("File.read('/srv/first')\nbash('x') { code '<any>' }\n");
    let root = Root::new().unwrap();
    let machine = root.machine(Network::Own).unwrap();
    let _denied =
        bench.wrun(&machine, &["converge"], &["--why-run", "--grants", &bench.grants]).expect_code(1).unwrap();
    let _written = bench.allow(&["--yes", "--dangerous"]).expect_code(0).unwrap();
    let text = fs::read_to_string(&bench.grants).unwrap();
    assert!(text.contains("script_sha256") && !text.contains("<any>"), "{text}");
}

#[test]
fn a_person_is_asked_for_them_separately() {
    let (bench, root) = (Bench::new(), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    let _denied =
        bench.wrun(&machine, &["converge"], &["--why-run", "--grants", &bench.grants]).expect_code(1).unwrap();
    let arguments = ["grants", "allow", "--last", "--grants", &bench.grants];
    let mut terminal = Terminal::start(&bench.program, 200, &arguments).unwrap();
    terminal.wait_for("[y/N]").unwrap();
    assert!(!terminal.words().contains("/etc/cron.d/site"), "{}", terminal.words());
    terminal.press("y\n").unwrap();
    terminal.wait_for("2 entries open a lot:").unwrap();
    terminal.wait_for("+paths = [\"/srv/a\", \"/etc/cron.d/site\"]").unwrap();
    terminal.press("n\n").unwrap();
    assert_eq!(terminal.end().unwrap().code(), Some(1));
    assert_eq!(bench.entries(), [true, false, false]);
}

#[test]
fn a_suggestion_has_the_reasons_as_comments() {
    let (bench, root) = (Bench::new(), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    let text = bench.wrun(&machine, &["grants", "suggest"], &[]).expect_code(0).unwrap().stdout;
    assert!(
        unwrapped(&text).contains(&format!("# Opens a lot: {CRON_FILE}"))
            && unwrapped(&text).contains(&format!("# Opens a lot: {PIPE}.\n")),
        "{text}"
    );
    // It is a file of grants as it stands.
    fs::write(&bench.grants, &text).unwrap();
    let run = bench.wrun(&machine, &["converge"], &["--why-run", "--grants", &bench.grants]).expect_code(0).unwrap();
    assert!(!run.stdout.contains("denied"), "{}", run.text());
    // Written by wrun, they are left out unless somebody says so.
    fs::write(&bench.grants, "").unwrap();
    let write = ["--write", &bench.grants, "--yes"];
    let _left_out = bench.wrun(&machine, &["grants", "suggest"], &write).expect_code(1).unwrap();
    assert_eq!(bench.entries(), [true, false, false]);
    let all = [&write[..], &["--dangerous"]].concat();
    let _written = bench.wrun(&machine, &["grants", "suggest"], &all).expect_code(0).unwrap();
    assert_eq!(bench.entries(), [true; 3]);
}

#[test]
fn attack_entries_that_lead_to_root_are_not_added_by_yes() {
    let recipe = "file '/srv/a'\nuser 'admin'\nuser 'docker'\ncron_d('job') { user 'deploy'; command 'id' }\n\
                  %w(halt kexec initrd-switch-root modprobe@evil).each { |name| service(name) { action :start } }\n\
                  execute 'service halt start'\nexecute 'service web start'\n\
                  file '/etc/haproxy/haproxy.cfg'\nfile '/etc/molly-guard/run.d/x'\nfile '/home/ann/bin/ls'\n";
    let (bench, root) = (Bench::with(recipe), Root::new().unwrap());
    root.write("/etc/sudoers", "root ALL=(ALL) ALL\n%admin ALL=(ALL) ALL\ndeploy ALL=(ALL) ALL\n").unwrap();
    root.write_program("/etc/init.d/halt", "#!/bin/sh\necho $1 >>/srv/halted\n").unwrap();
    let machine = root.machine(Network::Own).unwrap();
    let run = bench.wrun(&machine, &["converge"], &["--why-run", "--grants", &bench.grants]).expect_code(1).unwrap();
    assert!(run.stdout.contains("\"admin\""), "{}", run.text());
    let inside = root.path().display().to_string();
    let written = bench.allow(&["--yes", "--root", &inside]).expect_code(1).unwrap();
    let text = fs::read_to_string(&bench.grants).unwrap();
    assert!(text.contains("/srv/a"), "{text}");
    for entry in
        ["service", "admin", "docker", "deploy", "halt", "kexec", "initrd", "modprobe", "haproxy", "molly", "ann/bin"]
    {
        assert!(!text.contains(entry), "{entry}\n{text}\n{}", written.text());
    }
}

/// The policy writes what an account of somebody else runs, so its next release decides what that account does.
#[test]
fn attack_commands_that_lead_to_own_files_are_not_added_by_yes() {
    let recipe = "file('/srv/check') { mode '755' }\nexecute('/srv/check') { user 'nobody' }\nexecute '/opt/check'\n";
    let (bench, root) = (Bench::with(recipe), Root::new().unwrap());
    root.run(&["ln", "-s", "../srv/check", "/opt/check"]).unwrap();
    let machine = root.machine(Network::Own).unwrap();
    let run = bench.wrun(&machine, &["converge"], &["--why-run", "--grants", &bench.grants]).expect_code(1).unwrap();
    let by_name = "runs `/srv/check` as nobody, an account that this policy does not make, and this policy may change \
                   that file";
    let by_link = "runs `/opt/check` as root, and this policy may change `/srv/check`, where it leads";
    let suggested = bench.wrun(&machine, &["grants", "suggest"], &[]);
    for output in [&run, &suggested] {
        let told = unwrapped(&output.stdout);
        assert!(told.contains(by_name) && told.contains(by_link), "{}", output.text());
    }
    let inside = root.path().display().to_string();
    let written = bench.allow(&["--yes", "--root", &inside]).expect_code(1).unwrap();
    assert!(written.stderr.contains(by_name) && written.stderr.contains(by_link), "{}", written.text());
    let text = fs::read_to_string(&bench.grants).unwrap();
    assert!(!text.contains("/srv/check") && !text.contains("/opt/check"), "{text}");
}

/// What PAM runs when somebody logs in, and what sudo reads beside its own files, may lie anywhere.
#[test]
fn attack_what_administrators_name_is_not_reached_by_wildcards() {
    let recipe = "file('/srv/tools/greet') { content 'x' }\nfile('/srv/tools/other') { content 'x' }\nuser 'ops1'\n";
    let (bench, root) = (Bench::with(recipe), Root::new().unwrap());
    root.run(&["mkdir", "-p", "/srv/tools"]).unwrap();
    root.write("/etc/pam.d/greeting", "session optional pam_exec.so /srv/tools/greet\n").unwrap();
    root.write("/etc/pam.d/su", "auth sufficient pam_rootok.so\nauth sufficient pam_wheel.so trust group=ops1\n")
        .unwrap();
    fs::write(&bench.grants, "[policy.solo]\npaths = [\"/srv/**\"]\nusers = [\"ops*\"]\n").unwrap();
    let machine = root.machine(Network::Own).unwrap();
    let run = bench.wrun(&machine, &["converge"], &["--why-run", "--grants", &bench.grants]).expect_code(1).unwrap();
    for denied in ["may not manage path /srv/tools/greet", "may not manage user ops1"] {
        assert!(run.text().contains(denied), "{denied}\n{}", run.text());
    }
    assert!(!run.text().contains("may not manage path /srv/tools/other"), "{}", run.text());
    let inside = root.path().display().to_string();
    let written = bench.allow(&["--yes", "--root", &inside]).expect_code(1).unwrap();
    let text = fs::read_to_string(&bench.grants).unwrap();
    assert!(!text.contains("greet") && !text.contains("ops1"), "{text}\n{}", written.text());
}

#[test]
fn attack_a_suggestion_starts_no_init_script() {
    let (bench, root) = (Bench::with("service('app') { action :start }\n"), Root::new().unwrap());
    root.write_program("/etc/init.d/app", "#!/bin/sh\n# status\necho $1 >>/srv/ran\n").unwrap();
    let machine = root.machine(Network::Own).unwrap();
    fs::write(&bench.grants, "[policy.solo]\n").unwrap();
    let suggestion = bench.wrun(&machine, &["grants", "suggest"], &["--grants", &bench.grants]);
    assert!(suggestion.stdout.contains("services = [\"app\"]"), "{}", suggestion.text());
    assert!(!root.exists("/srv/ran"));
}

/// The end of a run, a suggestion and `grants allow` name the same entries with the same reasons.
#[test]
fn the_same_entries_are_named_everywhere() {
    let recipe = "file '/etc/machine-info'\nfile '/etc/site.conf'\nservice('site') { action :start }\n\
                  execute 'date'\nexecute 'site-tool reload'\nexecute 'echo a | cat'\n";
    let (bench, root) = (Bench::with(recipe), Root::new().unwrap());
    root.write_program("/etc/init.d/site", "#!/bin/sh\n").unwrap();
    let machine = root.machine(Network::Own).unwrap();
    let configuration = "\"/etc/site.conf\" is configuration, and the policy also has services or commands as root";
    let unknown = "\"site-tool reload\" runs as root, and wrun does not know what it does: read all of it";
    let run = bench.wrun(&machine, &["converge"], &["--why-run", "--grants", &bench.grants]).expect_code(1).unwrap();
    let suggested = bench.wrun(&machine, &["grants", "suggest"], &[]);
    for text in [&run.stdout, &suggested.stdout] {
        let joined = text.lines().map(|line| line.trim().trim_start_matches("# ")).collect::<Vec<_>>().join(" ");
        for said in [configuration, unknown, PIPE] {
            assert!(joined.contains(said), "{said}\n{text}");
        }
        assert!(!joined.contains("machine-info\" is") && !joined.contains("\"date\" runs"), "{text}");
        let named = |word: &str| text.matches(&format!("# {word}: ")).count();
        assert_eq!((named("Opens a lot"), named("Not known")), (2, 1), "{text}");
    }
    let inside = root.path().display().to_string();
    let written = bench.allow(&["--yes", "--root", &inside]).expect_code(1).unwrap();
    let headings = [
        "2 entries open a lot:\n",
        "1 entry is a command that wrun does not know:\n",
        "2 entries need a question:\n",
        "services \"site\" may concern more than this policy",
        "paths \"/etc/machine-info\" is in a folder where programs look for names by themselves",
    ];
    for said in headings.into_iter().chain([configuration, unknown, PIPE]) {
        let said = said.trim_start_matches("\"/etc/site.conf\" ");
        assert!(written.stderr.contains(said), "{said}\n{}", written.text());
    }
    let text = fs::read_to_string(&bench.grants).unwrap();
    assert_eq!(text, "[policy.solo]\ncommands = [\"date\"]\n");
}
