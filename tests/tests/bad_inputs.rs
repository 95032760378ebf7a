//! Typical mistakes of people: what is told of them says where it is and what to do, says nothing twice, and nothing that is
//! misspelt is taken without a word.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, and helpers are not tests to the lints")]

use serde_json::Value;
use specs::program::Output;
use specs::{Network, Program, Root};
use std::fs;

/// A program with files beside it. Words of a command line that begin with `@` are files of its folder.
struct Desk {
    program: Program,
}

impl Desk {
    fn new(files: &[(&str, &str)]) -> Self {
        let desk = Self { program: Program::new().unwrap() };
        files.iter().for_each(|(path, text)| desk.write(path, text));
        desk
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.program.configuration().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn path(&self, path: &str) -> String {
        self.program.configuration().join(path).display().to_string()
    }

    fn run(&self, line: &str) -> Output {
        let words = line.split(' ').map(|word| word.strip_prefix('@').map_or(word.to_owned(), |path| self.path(path)));
        self.program.run(&words.collect::<Vec<_>>()).unwrap()
    }
}

/// The cookbook `a`, whose recipe does nothing.
const COOKBOOK: [(&str, &str); 2] = [("cookbooks/a/metadata.rb", "name 'a'\n"), ("cookbooks/a/recipes/default.rb", "")];

/// A run of the cookbook `a`.
const RUN: &str = "converge -N n1 --why-run --allow-all --cookbooks @cookbooks --run-list a";

/// The parts of each error in a text: sentence, causes, hint.
fn clauses(text: &str) -> Vec<Vec<String>> {
    let errors = text.split("error: ").skip(1);
    let parts = |error: &str| -> Vec<String> {
        let joined = error.replace("\n  cause: ", ": ").replace("\n\nhint: ", ": ");
        let parts = joined.split(": ").flat_map(|part| part.split(['\n', ';'])).map(str::trim);
        // Names and numbers may well be said twice.
        parts.filter(|part| part.split(' ').count() > 2).map(str::to_owned).collect()
    };
    errors.map(parts).collect()
}

#[test]
fn no_error_says_the_same_twice() {
    let desk = Desk::new(&COOKBOOK);
    for (path, text) in [
        ("bad.toml", "policy_name = [\n\"a\"\nroot = \"/\"\n"),
        ("wrong.toml", "lock_timeout = \"5 minutes\"\n"),
        ("bad.json", "{\"a\": }"),
        ("list.json", "[1]"),
        ("bad.rb", "name 'x'\nraise 'no'\n"),
        ("bad.yml", "a: [\n"),
        ("environments/bad.json", "{"),
        ("roles/bad.json", "{"),
        ("bad/policy.toml", "name = \"bad\"\nrun_list = [\"a\"\n"),
        ("lost/policy.toml", "name = \"lost\"\nrun_list = [\"a\"]\ncookbooks = [\"gone\"]\n"),
        (
            "locked/policy.toml",
            "name = \"locked\"\nrun_list = [\"a\"]\n\n[cookbooks]\na = { path = \"../cookbooks/a\" }\n",
        ),
        ("locked/policy.lock.json", "{"),
        (
            "include/policy.toml",
            "name = \"include\"\nrun_list = [\"a\"]\n\n[[include]]\nname = \"x\"\npath = \"gone\"\n",
        ),
        ("torn/Policyfile.rb", "name 'torn'\nrun_list 'a'\ncookbook 'a', path: '../cookbooks/a'\n"),
        ("torn/Policyfile.lock.json", "{"),
        ("policies/a.wasm", "no component"),
        ("bags/users/ann.json", "{"),
        ("latin.json", "\u{feff}{}"),
    ] {
        desk.write(path, text);
    }
    for line in [
        "config show --config @gone.toml",
        "config show --config @bad.toml",
        "config show --config @wrong.toml",
        "config show --config @cookbooks",
        "converge -N n1 --policy-name a --policies @gone",
        "converge -N n1 --policy-name a --policies @policies --grants @gone",
        "converge -N n1 --policy-name a --policies @policies --allow-all",
        "converge -N n1 --policy-name b --policies @policies --allow-all",
        "converge -N n1 --allow-all --cookbooks @gone --run-list a",
        "converge -N n1 --allow-all --cookbooks @cookbooks --run-list b",
        &format!("{RUN} -j @gone.json"),
        &format!("{RUN} -j @bad.json"),
        &format!("{RUN} -j @list.json"),
        &format!("{RUN} --facts @gone.json"),
        &format!("{RUN} --facts @bad.json"),
        &format!("{RUN} --layer @gone.json"),
        &format!("{RUN} --layer @bad.json"),
        &format!("{RUN} --layer @bad.rb"),
        &format!("{RUN} --layer @bad.yml"),
        &format!("{RUN} --parameter foo.bar"),
        &format!("{RUN} --roles @gone"),
        &format!("{RUN} --environments @environments -E bad"),
        &format!("{RUN} --encrypted-data-bag-secret @gone"),
        &format!("{RUN} --data-bags @gone"),
        &format!("{RUN} --root @gone"),
        &format!("{RUN} --grants @bad.toml"),
        "converge -N n1 --policy-name a --repository @gone --policy-group g --allow-all",
        "policy build @gone",
        "policy build @bad",
        "policy build @lost",
        "policy build @locked",
        "policy build @include",
        "policy build @torn",
        "policy install @torn/Policyfile.rb",
        "policy show @policies/a.wasm",
        "policy show @gone.wasm",
        "policy test @gone",
        "policy push staging @bad",
        "policy push-archive staging @bad.json",
        "policy import @gone",
        "settings import @gone.rb",
        "repository init @bad.json",
        "repository check --repository @gone",
        "keys show gone",
        "cookbook check @gone",
        "cookbook check --all --cookbooks @gone",
        "cookbook describe @gone",
        "node create n1 --run-list recipe[",
        "node show -N n1 --state-dir @gone",
        "node explain a.b -N n1",
        "role show bad --roles @roles",
        "role from-file @bad.json --roles @roles",
        "environment show bad --environments @environments",
        "data-bag show users ann --data-bags @bags",
        "data-bag show users bob --data-bags @bags",
        "data-bag from-file users @bad.json --data-bags @bags",
        "search node a:b: --state-dir @gone",
        "layer add @gone.json",
        "run show gone",
        "grants check --grants @bad.toml",
        "grants allow --from-run gone",
        "grants suggest --cookbooks @gone --run-list a",
        "agent status --state-dir @gone",
    ] {
        let output = desk.run(line);
        assert_ne!(output.code, Some(101), "{line}\n{}", output.text());
        for mut parts in clauses(&output.stderr) {
            let all = parts.clone();
            parts.sort();
            let twice = parts.windows(2).find(|pair| pair[0] == pair[1]);
            assert_eq!(twice, None, "{line}\n{all:#?}\n{}", output.text());
        }
    }
}

#[test]
fn what_is_misspelt_is_told_with_the_near_name() {
    let desk = Desk::new(&COOKBOOK);
    for (path, text) in [
        ("node.json", "{\"run_lst\": [\"recipe[a]\"], \"web\": {\"port\": 80}}"),
        ("layer.json", "{\"name\": \"blue\", \"policies\": [\"wbe\", \"of_another_node\"]}"),
        ("wrun.toml", "policy_name = [\"web\", \"core\"]\n"),
        ("grants.toml", "[policy.web]\npaths = [\"/etc/[a\"]\n"),
    ] {
        desk.write(path, text);
    }
    let _ = desk.run("node create n1").expect_code(0).unwrap();
    for (line, code, said) in [
        (
            format!("{RUN} -j @node.json"),
            0,
            "node.json: `run_lst` becomes an attribute of the node, and no run list; did you mean `run_list`?",
        ),
        (format!("{RUN} --parameter foo.bar"), 43, "--parameter foo.bar: it has no `=`; write it as a.b=VALUE"),
        (
            "node policy set wbe".to_owned(),
            0,
            "warning: no policy `wbe` is in the settings, the grants or the policies' directory; did you mean `web`?",
        ),
        ("layer add @layer.json".to_owned(), 0, "layer blue: no policy `wbe` is in the settings"),
        (
            "grants check --grants @grants.toml".to_owned(),
            0,
            "grants.toml:2: policy web: in paths /etc/[a the bracket `[` stands for itself",
        ),
        (
            "grants suggest --cookbooks @cookbooks".to_owned(),
            0,
            "note: policy solo: its run list is empty, so that it asks for nothing",
        ),
    ] {
        let output = desk.run(&line).expect_code(code).unwrap();
        assert!(output.stderr.contains(said), "{said}\n{}", output.text());
        assert!(!output.stderr.contains("of_another_node"), "a file may be for several nodes: {}", output.text());
    }
    // What is right is not told.
    desk.write("node.json", "{\"run_list\": [\"recipe[a]\"], \"runner\": [1]}");
    let silent = desk.run(&format!("{RUN} -j @node.json")).expect_code(0).unwrap();
    assert!(!silent.stderr.contains("did you mean"), "{}", silent.text());
    let silent = desk.run("node policy set web").expect_code(0).unwrap();
    assert!(!silent.stderr.contains("warning"), "{}", silent.text());
}

#[test]
fn a_misspelt_folder_is_told_with_the_near_name() {
    let desk = Desk::new(&COOKBOOK);
    desk.write("policies/a.wasm", "");
    desk.write("bags/users/ann.json", "{\"id\": \"ann\"}");
    for (line, near) in [
        (
            "converge -N n1 --policy-name a --policies @policis".to_owned(),
            "(did you mean `policies`?); name it with --policies",
        ),
        (format!("{RUN} --data-bags @bgas"), "did you mean `bags`?"),
        ("data-bag list --data-bags @bgas".to_owned(), "did you mean `bags`?"),
    ] {
        let output = desk.run(&line).expect_code(43).unwrap();
        assert!(output.stderr.contains(near), "{line}\n{}", output.text());
    }
    let plain = desk.run("converge -N n1 --policy-name a --policies @other").expect_code(43).unwrap();
    assert!(plain.stderr.contains("other; name it with --policies"), "{}", plain.text());
    let missing = desk.run("policy build @other").expect_code(43).unwrap();
    assert!(missing.stderr.contains("no policy folder at "), "{}", missing.text());
}

/// The operator's own mistake ends the run before anything is changed; one policy's artifact does not.
#[test]
fn a_folder_of_runtimes_that_has_none_is_a_wrong_setting() {
    let desk = Desk::new(&[
        ("pol/policy.toml", "name = \"pol\"\nrun_list = [\"a\"]\n"),
        ("pol/cookbooks/a/metadata.rb", "name 'a'\n"),
        ("pol/cookbooks/a/recipes/default.rb", ""),
        ("empty/file", ""),
    ]);
    let _ = desk.run("policy build @pol").expect_code(0).unwrap();
    for folder in ["gone", "empty"] {
        desk.write("wrun.toml", &format!("runtime_dir = {:?}\n", desk.path(folder)));
        // The tester's own setting would count instead of this one.
        let place = desk.program.configuration().join("wrun.toml").display().to_string();
        let mut command = std::process::Command::new(desk.program.executable());
        command.env_clear().env("PATH", "/usr/bin:/bin").envs(desk.program.environment());
        command.env_remove("WRUN_RUNTIME_DIR").env("WRUN_CONFIG", place);
        command.args(["converge", "-N", "n1", "--why-run", "--allow-all", "--policy-name", "pol", "--policies"]);
        let output = command.arg(desk.path("pol")).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(43), "{said}");
        assert!(said.contains("there is no Ruby runtime in ") && said.contains(folder), "{said}");
    }
}

#[test]
fn an_item_that_needs_a_secret_names_the_setting() {
    let value = "{\"encrypted_data\": \"eA==\", \"iv\": \"eA==\", \"auth_tag\": \"eA==\", \"version\": 3, \"cipher\": \"aes-256-gcm\"}";
    let desk = Desk::new(&[
        ("cookbooks/a/metadata.rb", "name 'a'\n"),
        ("cookbooks/a/recipes/default.rb", "data_bag_item('users', 'ann')\n"),
        ("bags/users/ann.json", &format!("{{\"id\": \"ann\", \"password\": {value}}}")),
    ]);
    let output = desk.run(&format!("{RUN} --data-bags @bags")).expect_code(1).unwrap();
    assert!(output.stdout.contains("No secret specified"), "{}", output.text());
    let words = output.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("hint: set `encrypted_data_bag_secret` in the settings (wrun.toml)"), "{}", output.text());
}

/// Whoever looks for the value of a role finds the role, and its file.
#[test]
fn an_attribute_of_a_role_is_explained_with_the_role() {
    let desk = Desk::new(&[
        ("cookbooks/a/metadata.rb", "name 'a'\n"),
        ("cookbooks/a/recipes/default.rb", ""),
        ("cookbooks/a/attributes/default.rb", "default['site']['port'] = 1\n"),
        (
            "roles/web.json",
            "{\"name\": \"web\", \"run_list\": [\"role[base]\", \"recipe[a]\"], \"default_attributes\": {\"site\": {\"port\": 80}}}",
        ),
        ("roles/base.rb", "name 'base'\ndefault_attributes 'site' => { 'port' => 81, 'name' => 'x' }\n"),
    ]);
    let root = Root::new().unwrap();
    let machine = root.machine(Network::Own).unwrap();
    let (place, cookbooks, roles) =
        (machine.root().path().display().to_string(), desk.path("cookbooks"), desk.path("roles"));
    let words = ["converge", "-N", "n1", "--allow-all", "--root", &place, "--cookbooks", &cookbooks, "--roles", &roles];
    let ran = desk.program.run_in(&machine, &[&words[..], &["--run-list", "role[web]"]].concat()).unwrap();
    let _ = ran.expect_code(0).unwrap();
    let told = desk.run("node explain site.port -N n1").expect_code(0).unwrap();
    let row = |text: &str, verdict: &str| -> String {
        let line = text.lines().find(|line| line.trim_start().starts_with(verdict)).unwrap_or_default();
        line.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(
        row(&told.stdout, "won"),
        "won 80 role_default role web ([CONFIGURATION]/roles/web.json)",
        "{}",
        told.text()
    );
    let inner = desk.run("node explain site.name -N n1").expect_code(0).unwrap();
    let expect = "won \"x\" role_default role base ([CONFIGURATION]/roles/base.rb)";
    assert_eq!(row(&inner.stdout, "won"), expect, "{}", inner.text());
    let json = desk.run("node explain site.port -N n1 -F json").expect_code(0).unwrap();
    let json: Value = serde_json::from_str(&json.stdout).unwrap();
    let won = &json["policies"][0]["writes"][0];
    assert_eq!(
        [&won["role"], &won["policy"], &won["verdict"]],
        [&Value::from("web"), &Value::Null, &Value::from("won")]
    );
    assert!(won["file"].as_str().unwrap().ends_with("/roles/web.json"), "{won}");
}
