//! Runs at a terminal: a screen without torn lines at every width, colours, and ([`signals`]) what a person hears who presses Ctrl-C.
//!
//! Commands are held open by named pipes, so that nothing depends on how long anything takes.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, and helpers are not tests to the lints")]

mod signals;

use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use specs::{Program, Root, Terminal};
use std::fs;
use std::process::{Command, Stdio};

/// Words for lines that no terminal of these tests is wide enough for.
const LONG: &str = "a line of so many words that no terminal in this test is wide enough to show all of them side by side, \
                    wherever it begins";

type Start = fn(&Program, u16, &[&str]) -> anyhow::Result<Terminal>;

/// The cookbook `a` on a fresh root.
struct Place {
    program: Program,
    root: Root,
}

impl Place {
    /// A root with an old file and a pipe that a recipe can wait at.
    fn new(recipe: &str) -> Self {
        let (program, root) = (Program::new().unwrap(), Root::new().unwrap());
        let cookbook = program.configuration().join("cookbooks/a");
        let thing = "provides :thing\nproperty :content, String\naction :create do\n  file \"/srv/#{new_resource.name}\" do\n    \
                     content new_resource.content\n    mode '0600'\n  end\n  file '/srv/gone' do\n    action :delete\n  \
                     end\nend\n";
        for (path, text) in
            [("metadata.rb", "name 'a'\n"), ("resources/thing.rb", thing), ("recipes/default.rb", recipe)]
        {
            let path = cookbook.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        root.write("srv/old", "one\ntwo\nthree\n").unwrap();
        mkfifo(&root.at("srv/pipe").unwrap(), Mode::S_IRWXU).unwrap();
        Self { program, root }
    }

    fn arguments(&self, more: &[&str]) -> Vec<String> {
        let place = self.root.path().display().to_string();
        let cookbooks = self.program.configuration().join("cookbooks").display().to_string();
        let fixed = ["converge", "--root", &place, "--node-name", "n1", "--allow-all", "--cookbooks", &cookbooks];
        fixed.iter().chain(&["--run-list", "a"]).chain(more).map(|word| (*word).to_owned()).collect()
    }

    fn terminal(&self, columns: u16, more: &[&str]) -> Terminal {
        self.start(columns, more, Terminal::start)
    }

    fn start(&self, columns: u16, more: &[&str], start: Start) -> Terminal {
        let arguments = self.arguments(more);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        start(&self.program, columns, &arguments).unwrap()
    }

    /// Lets the command go on that waits at the pipe.
    fn release(&self) {
        fs::write(self.root.at("srv/pipe").unwrap(), "").unwrap();
    }

    /// What the program writes into one file for both of its outputs, if nothing waits at the pipe.
    fn piped_alone(&self, more: &[&str]) -> String {
        let output = self.command(more).stdin(Stdio::null()).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    }

    fn command(&self, more: &[&str]) -> Command {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", "exec \"$@\" 2>&1", "sh"]).arg(self.program.executable()).args(self.arguments(more));
        command.env_clear().env("PATH", "/usr/bin:/bin").envs(self.program.environment());
        command
    }

    /// The same, and lets a command go on that waits at the pipe.
    fn piped(&self, more: &[&str]) -> String {
        let mut child = self.command(more).stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let output = std::thread::scope(|scope| {
            scope.spawn(|| self.release());
            let mut text = String::new();
            std::io::Read::read_to_string(child.stdout.as_mut().unwrap(), &mut text).unwrap();
            text
        });
        child.wait().unwrap();
        output
    }

    /// A text without blanks, and without what differs from run to run.
    fn essence(&self, text: &str) -> String {
        let text: String = text.split_whitespace().collect();
        let text = text.replace(&self.root.path().display().to_string(), "[ROOT]");
        let text = text.replace(&self.program.configuration().display().to_string(), "[CONFIGURATION]");
        // In a file, not at a terminal, each line of the log names the run.
        let text = regex::Regex::new(r"run\{run_id=[^}]*\}:").unwrap().replace_all(&text, "").into_owned();
        let changing = regex::Regex::new(r"\d{8}T\d{6}[^o]*on|(in|updated)\d+\.\d\ds(,after[^:]*)?").unwrap();
        changing.replace_all(&text, "[..]").into_owned()
    }
}

/// Everything that is printed in the course of a run, and a command that is held open while the status line moves.
fn recipe() -> String {
    format!(
        "file '/srv/old' do\n  content \"one\\n2\\nthree\\n{LONG}\\n\"\nend\n\
         file '/srv/old again' do\n  path '/srv/old'\n  content lazy {{ ::File.read('/srv/old') }}\nend\n\
         thing 'new' do\n  content \"x\\n\"\nend\n\
         log '{LONG}' do\n  level :warn\nend\n\
         execute 'held' do\n  command 'echo first; cat /srv/pipe; echo second'\n  live_stream true\nend\n\
         execute 'forgiven' do\n  command 'exit 3'\n  ignore_failure true\nend\n\
         file '/no/such/folder'\n"
    )
}

#[test]
fn no_line_is_torn_at_any_width() {
    let recipe = recipe();
    let more = ["--log-level", "info"];
    let pipe = Place::new(&recipe);
    let plain = pipe.piped(&more);
    assert!(plain.lines().any(|line| line.contains(LONG)), "long lines stay whole in a pipe:\n{plain}");
    let plain = pipe.essence(&plain);
    for columns in [60, 80, 120] {
        let place = Place::new(&recipe);
        let mut terminal = place.terminal(columns, &more);
        // The status line says what is running, below whole lines.
        terminal.wait_for("s] execute[held] run").unwrap();
        terminal.wait_for("first").unwrap();
        place.release();
        let status = terminal.end().unwrap();
        let rows = terminal.rows();
        let shown = rows.join("\n");
        assert_eq!(status.code(), Some(1), "{shown}");
        // The same characters in the same order as in a pipe: nothing is drawn twice, lost, or drawn over.
        assert_eq!(place.essence(&shown), plain, "{columns} columns:\n{shown}");
        let once = |line: &str| assert_eq!(rows.iter().filter(|row| *row == line).count(), 1, "{line:?} in\n{shown}");
        once("    * thing[new] action create");
        once("        - create new file /srv/new (mode 0600)");
        once("      * file[/srv/gone] action delete (up to date)");
        once("          -two");
        once("      | second");
        once("    * execute[forgiven] action run (failed, and is ignored)");
        assert!(rows.iter().all(|row| !row.contains(LONG)), "a long line is wrapped at words:\n{shown}");
    }
}

/// Wherever in its line an error is, the line is shown whole.
#[test]
fn the_line_of_an_error_is_folded_and_its_neighbours_are_cut() {
    let line = format!("log('{LONG}'); node['no']['such']");
    let recipe = format!("# before, {LONG}\n{line}\n");
    let place = Place::new(&recipe);
    let mut terminal = place.terminal(60, &["--why-run"]);
    assert_eq!(terminal.end().unwrap().code(), Some(1));
    let rows = terminal.rows();
    let shown = rows.join("\n");
    let before = rows.iter().find(|row| row.starts_with("         1 | # before")).unwrap();
    assert!(before.ends_with('\u{2026}') && before.chars().count() == 60, "{before:?}");
    let (first, further) = ("    >    2 | ", "           | ");
    let (_, from) = shown.split_once(first).unwrap();
    let mut parts = from.lines().enumerate();
    let parts = parts.by_ref().map_while(|(at, row)| if at == 0 { Some(row) } else { row.strip_prefix(further) });
    // A screen's rows have no blanks at their end.
    let without_blanks = |text: &str| text.split_whitespace().collect::<String>();
    assert_eq!(without_blanks(&parts.collect::<String>()), without_blanks(&line), "{shown}");
    let plain = Place::new(&recipe).piped_alone(&["--why-run"]);
    assert!(plain.contains(&format!("{first}{line}\n")), "{plain}");
}

/// Whatever reads the output may draw on the terminal itself, as `less` does.
#[test]
fn there_is_no_status_line_beside_a_pipe() {
    let recipe = "execute 'held' do\n  command 'cat /srv/pipe'\nend\n";
    for (start, is_drawn) in [(Terminal::start as Start, true), (Terminal::start_piped, false)] {
        let place = Place::new(recipe);
        let mut terminal = place.start(100, &[], start);
        if is_drawn {
            terminal.wait_for("s] execute[held] run").unwrap();
        }
        // The command runs when it has opened the pipe, which this waits for.
        place.release();
        assert_eq!(terminal.end().unwrap().code(), Some(0));
        let shown = terminal.rows().join("\n");
        assert!(shown.contains("* execute[held] action run"), "{shown}");
        assert_eq!(terminal.has_erased(), is_drawn, "{shown}");
    }
}

/// Rows and sentences of commands that only tell: at a terminal they are wrapped, and say all that they say elsewhere.
#[test]
fn what_commands_tell_is_wrapped_at_words() {
    let place = Place::new("node.default['site']['title'] = 'a title of several words that are wrapped'\nlog 'x'\n");
    let runs = ["20261101T080000.000Z-00000000", "20261101T090000.000Z-00000001"];
    let _ = place.terminal(80, &["--policy-name", "site"]).end().unwrap();
    for (run, record) in runs.iter().zip([Some("{\"damaged\": "), None]) {
        let folder = place.program.state().join("runs").join(run);
        fs::create_dir_all(&folder).unwrap();
        let _ = record.map(|record| fs::write(folder.join("run.json"), record).unwrap());
    }
    let _ = place.terminal(80, &["--why-run"]).end().unwrap();
    let _ = place.terminal(80, &[]).end().unwrap();
    let new = place.program.configuration().join("a folder of a long name/web");
    let new = new.display().to_string();
    for words in [
        &["config", "show"][..],
        &["run", "list"],
        &["node", "explain", "site.title", "-N", "n1"],
        &["cookbook", "check", "--all", "--cookbooks", "cookbooks"],
        &["policy", "new", "--ruby", &new],
        &["policy", "build", &new],
        &["agent", "status"],
    ] {
        for columns in [60, 80] {
            let mut terminal = Terminal::start(&place.program, columns, words).unwrap();
            let _ = terminal.end().unwrap();
            let shown = terminal.rows().join("\n");
            assert_eq!(terminal.torn_row(), None, "{words:?}:\n{shown}");
            assert!(!shown.contains("\\u{") && !shown.contains('\u{2026}'), "{words:?}:\n{shown}");
            if !words.contains(&"new") {
                let plain = place.program.run(words).unwrap();
                let plain = place.essence(&format!("{}{}", plain.stdout, plain.stderr));
                let shown = place.essence(&shown);
                assert!(!plain.is_empty() && shown.len() >= plain.len().min(100), "{words:?}: {shown}");
            }
        }
    }
}

#[test]
fn a_run_is_one_row_of_a_screen_of_80_columns() {
    let place = Place::new(
        "file '/srv/x'\ncookbook_file('/srv/no') { source 'none' }\nremote_file('/srv/far') { source 'http://127.0.0.1:9/' }\n",
    );
    let _ = place.terminal(80, &["--why-run"]).end().unwrap();
    let mut terminal = Terminal::start(&place.program, 80, &["run", "list"]).unwrap();
    assert_eq!(terminal.end().unwrap().code(), Some(0));
    let rows = terminal.rows();
    assert_eq!(rows.len(), 1, "{rows:?}");
    assert!(rows[0].contains("  dry failed  1 change, 1 unknown, 1 fail  solo"), "{rows:?}");
    // Elsewhere there is room for all words.
    let plain = place.program.run(&["run", "list"]).unwrap().stdout;
    assert!(plain.contains("dry run, failure") && plain.contains("1 would fail (of 3)"), "{plain}");
}

/// The names of a run's policies are told where they fit, and counted on a narrower screen.
#[test]
fn a_list_of_runs_names_the_policies_that_fit() {
    let (program, root) = (Program::new().unwrap(), Root::new().unwrap());
    let folder = program.configuration();
    let names = ["web-servers", "monitoring-agents"];
    for name in names {
        let cookbook = folder.join(name).join("cookbooks/a");
        for (path, text) in [("metadata.rb", "name 'a'\n"), ("recipes/default.rb", "log 'x'\n")] {
            fs::create_dir_all(cookbook.join(path).parent().unwrap()).unwrap();
            fs::write(cookbook.join(path), text).unwrap();
        }
        fs::write(folder.join(name).join("policy.toml"), format!("name = \"{name}\"\nrun_list = [\"a\"]\n")).unwrap();
        let [from, to] = [folder.join(name), folder.clone()].map(|path| path.display().to_string());
        let _ = program.run(&["policy", "build", &from, "--output", &to]).unwrap().expect_code(0).unwrap();
    }
    let [base, policies] = [root.path().to_owned(), folder].map(|path| path.display().to_string());
    let fixed = ["converge", "-N", "n1", "--allow-all", "--root", &base, "--policies", &policies, "--why-run"];
    let ran = program.run(&[&fixed[..], &["--policy-name", "web-servers,monitoring-agents"]].concat()).unwrap();
    let ran = ran.expect_code(0).unwrap();
    for (columns, outcome, policies) in [
        (160, "dry run, success", "web-servers, monitoring-agents"),
        (90, "dry ok", "web-servers, monitoring-agents"),
        (70, "dry ok", "2 policies"),
    ] {
        let mut terminal = Terminal::start(&program, columns, &["run", "list"]).unwrap();
        let _ = terminal.end().unwrap();
        let rows = terminal.rows();
        assert_eq!(rows.len(), 1, "{columns}: {rows:?}\n{}", ran.text());
        assert!(rows[0].contains(&format!("  {outcome}  ")) && rows[0].ends_with(policies), "{columns}: {rows:?}");
    }
}

#[test]
fn json_is_laid_out_for_a_person_and_is_one_line_for_a_program() {
    let place = Place::new("file '/srv/old' do\n  content 'x'\nend\n");
    let mut terminal = place.terminal(200, &["--why-run", "--format", "json"]);
    assert!(terminal.end().unwrap().success());
    let rows = terminal.rows();
    let first = rows.iter().position(|row| row == "{").unwrap();
    let last = rows.iter().position(|row| row == "}").unwrap();
    assert!(rows[first + 1].starts_with("  \"version\": "), "{rows:#?}");
    let text: String = rows[first..=last].iter().map(|row| format!("{row}\n")).collect();
    let run: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(run["updated"], 1, "{text}");
    let plain = place.piped_alone(&["--why-run", "--format", "json"]);
    let lines: Vec<&str> = plain.lines().filter(|line| line.starts_with('{')).collect();
    assert_eq!(lines.len(), 1, "{plain}");
    let again: serde_json::Value = serde_json::from_str(lines[0]).unwrap();
    assert_eq!(again["resources"][0]["diffs"], run["resources"][0]["diffs"]);
}

#[test]
fn a_diff_is_coloured() {
    let place = Place::new("file '/srv/old' do\n  content \"one\\n2\\nthree\\n\"\nend\n");
    let mut terminal = place.terminal(80, &[]);
    assert!(terminal.end().unwrap().success());
    let rows = terminal.rows();
    for (text, colour) in [("-two", 1), ("+2", 2), ("@@ -1,3 +1,3 @@", 6), ("- update content", 2)] {
        let (row, line) = rows.iter().enumerate().find(|(_, line)| line.trim_start().starts_with(text)).unwrap();
        let column = line.find(text).unwrap();
        let cell = terminal.screen().cell(u16::try_from(row).unwrap(), u16::try_from(column).unwrap()).unwrap();
        assert_eq!(cell.fgcolor(), vt100::Color::Idx(colour), "{line}");
    }
    let dash = rows.iter().find_map(|line| line.find("- update content")).unwrap();
    let sign = rows.iter().find_map(|line| line.find("-two")).unwrap();
    assert!(sign > dash, "a diff's signs are further to the right than the dashes of the list");
}

/// Whoever has the operator's terminal can type into it: a command of an ordinary user would give root's shell a line.
#[test]
fn commands_do_not_have_the_operators_terminal() {
    let asks = "(echo typed > /dev/tty) 2>";
    let place = Place::new(&format!(
        "execute '{asks} /srv/seen; true'\nfile '/srv/guarded' do\n  only_if '{asks} /srv/guard; true'\nend\n"
    ));
    let mut terminal = place.terminal(80, &[]);
    let status = terminal.end().unwrap();
    let shown = terminal.rows().join("\n");
    assert_eq!(status.code(), Some(0), "{shown}");
    for file in ["srv/seen", "srv/guard"] {
        let seen = fs::read_to_string(place.root.at(file).unwrap()).unwrap();
        assert!(seen.contains("No such device or address"), "{file}: {seen}\n{shown}");
    }
    assert_eq!(shown.matches("typed").count(), shown.matches("(echo typed").count(), "{shown}");
}

/// Whoever starts wrun may have a lock or a file with secrets open; commands of other users would read it.
#[test]
fn commands_do_not_have_descriptors_that_wrun_inherited() {
    let place = Place::new("execute '(cat <&9) > /srv/seen 2>&1; true'\n");
    fs::write(place.root.at("srv/secret").unwrap(), "s3cr3t\n").unwrap();
    let secret = place.root.at("srv/secret").unwrap().display().to_string();
    let mut command = Command::new("/bin/sh");
    command
        .args(["-c", "exec \"$@\" 2>&1 9<\"$0\"", &secret])
        .arg(place.program.executable())
        .args(place.arguments(&[]));
    command.env_clear().env("PATH", "/usr/bin:/bin").envs(place.program.environment()).stdin(Stdio::null());
    let said = String::from_utf8(command.output().unwrap().stdout).unwrap();
    let seen = fs::read_to_string(place.root.at("srv/seen").unwrap()).unwrap();
    assert!(seen.contains("Bad file descriptor") && !seen.contains("s3cr3t"), "{seen}{said}");
}

#[test]
fn a_run_that_goes_on_is_listed_and_shown_without_a_record() {
    let place = Place::new("execute 'cat /srv/pipe'\n");
    let listed = |more: &[&str]| place.program.run(&[&["run", "list"], more].concat()).unwrap().expect_code(0).unwrap();
    let mut terminal = place.terminal(80, &[]);
    terminal.wait_for("s] execute[cat /srv/pipe] run").unwrap();
    let rows = listed(&[]).stdout;
    assert!(rows.lines().count() == 1 && rows.contains("  running  ") && rows.contains("  process "), "{rows}");
    let json: serde_json::Value = serde_json::from_str(&listed(&["-F", "json"]).stdout).unwrap();
    assert!(json["runs"][0]["running"] == true && json["runs"][0]["outcome"] == "running", "{json}");
    assert!(rows.contains("  solo\n"), "{rows}");
    let shown = place.program.run(&["run", "show"]).unwrap().expect_code(0).unwrap().stdout;
    assert!(shown.contains("\n  running: process ") && shown.contains("\n  policies: solo\n"), "{shown}");
    place.release();
    assert_eq!(terminal.end().unwrap().code(), Some(0));
    let after = listed(&[]).stdout;
    assert!(after.lines().count() == 1 && after.contains("  success  ") && after.contains("  solo"), "{after}");
    assert_eq!(after.split(' ').next(), rows.split(' ').next());
}

#[test]
fn a_warning_that_many_resources_bring_is_shown_once_and_counted() {
    let place = Place::new("5.times { |at| file(\"/srv/#{at}\") { only_if { Chef::Log.warn('old'); false } } }\n");
    let text = place.piped_alone(&[]);
    assert_eq!(text.matches("[warn] old").count(), 1, "{text}");
    assert!(text.contains("    [warn] 4 more like it: old\n"), "{text}");
}

/// Wherever both streams go to: a file of a terminal's text looks like the terminal.
#[test]
fn a_warning_does_not_cut_the_row_of_marks() {
    let recipe = "file '/srv/first'\nfile '/srv/link' do\n  content 'x'\nend\nfile '/srv/last'\n";
    let place = |()| {
        let place = Place::new(recipe);
        std::os::unix::fs::symlink("old", place.root.at("srv/link").unwrap()).unwrap();
        place
    };
    let check = |rows: Vec<String>| {
        let at = rows.iter().position(|row| row.contains("is a link, and its target")).unwrap();
        assert_eq!((&*rows[at - 1], &*rows[at + 1]), ("solo: U", "UU"), "{rows:#?}");
        assert_eq!(rows[at..].iter().filter(|row| row.is_empty()).count(), 1, "{rows:#?}");
    };
    check(place(()).piped_alone(&["-F", "minimal"]).lines().map(str::to_owned).collect());
    let shown = place(());
    let mut terminal = shown.terminal(200, &["-F", "minimal"]);
    assert_eq!(terminal.end().unwrap().code(), Some(0));
    check(terminal.rows());
}
