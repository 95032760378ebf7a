//! Runs that are left out, since a good run did the same a short while ago (`--skip-unchanged`).

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test fails by panicking, and helpers are not tests to the lints"
)]

use serde_json::{Value, json};
use specs::{Machine, Network, Output, Program, Root};
use std::fs;
use std::process::Command;

/// Reads two facts and a data bag, and keeps a file as it should be.
const RECIPE: &str = "
node.normal['web']['seen'] = node['platform_version']
raise 'the disk is full' if node['web']['broken']
file '/srv/web' do
  content \"#{node['platform']} #{node['web']['site']} #{data_bag_item('sites', 'main')['port']}\\n\"
end
";

const GRANTS: &str = "[policy.web]\npaths = [\"/srv/web\"]\ndata_bags = [\"sites\"]\n";

/// A node with the policy `web` from a root.
struct Site<'root> {
    program: Program,
    machine: Machine<'root>,
}

impl<'root> Site<'root> {
    fn new(root: &'root Root) -> Self {
        let site = Self { program: Program::new().unwrap(), machine: root.machine(Network::Own).unwrap() };
        site.write("web/policy.toml", "name = \"web\"\nrun_list = [\"web\"]\n[default.web]\nsite = \"main\"\n");
        site.write("web/cookbooks/web/metadata.rb", "name 'web'\nversion '1.2.0'\n");
        site.write("web/cookbooks/web/recipes/default.rb", RECIPE);
        site.write("grants.toml", GRANTS);
        site.write("bags/sites/main.json", &json!({ "id": "main", "port": 80 }).to_string());
        site.build();
        site
    }

    fn build(&self) {
        let mut build = Command::new(self.program.executable());
        let folder = self.program.configuration();
        build.args(["policy", "build"]).arg(folder.join("web")).arg("--output").arg(&folder);
        let built = build.envs(self.program.environment()).output().unwrap();
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.program.configuration().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn path(&self, name: &str) -> String {
        self.program.configuration().join(name).display().to_string()
    }

    fn converge(&self, more: &[&str]) -> Output {
        let root = self.machine.root().path().display().to_string();
        let (folder, bags, grants) = (self.path(""), self.path("bags"), self.path("grants.toml"));
        let fixed = ["converge", "--policy-name", "web", "--policies", &folder, "--root", &root, "-N", "n1"];
        let rest = ["--grants", &grants, "--data-bags", &bags];
        self.program.run_in(&self.machine, &[&fixed[..], &rest, more].concat()).unwrap()
    }

    /// The report of a run that ends with a code.
    fn report(&self, code: i32, more: &[&str]) -> Value {
        let ran = self.converge(&[&["--format", "json", "--skip-unchanged", "4h"], more].concat());
        assert_eq!(ran.code, Some(code), "{}", ran.text());
        serde_json::from_str(&ran.stdout).unwrap()
    }

    /// Checks that the next run is made for a reason, and that the one behind it is left out.
    fn check_made(&self, why: &str, more: &[&str]) {
        let report = self.report(0, more);
        assert_eq!((&report["skipped"], &report["policies"][0]["outcome"]), (&Value::Null, &json!("success")), "{why}");
        self.check_skipped(why, &report["run_id"], more);
    }

    fn check_skipped(&self, why: &str, earlier: &Value, more: &[&str]) {
        let report = self.report(0, more);
        assert_eq!(&report["skipped"]["run_id"], earlier, "after {why}: {report:#}");
        assert_eq!((&report["outcome"], &report["total"]), (&json!("success"), &json!(0)), "{why}");
        let policy = &report["policies"][0];
        assert_eq!((&policy["name"], &policy["outcome"]), (&json!("web"), &json!("not-run")), "{why}");
    }

    fn runs(&self) -> usize {
        let listed = self.program.run(&["run", "list", "-F", "json"]).unwrap().stdout;
        serde_json::from_str::<Value>(&listed).unwrap()["runs"].as_array().unwrap().len()
    }
}

#[test]
fn a_run_is_left_out_exactly_if_nothing_that_it_depends_on_has_changed() {
    let root = Root::new().unwrap();
    let site = Site::new(&root);
    site.check_made("nothing ran before", &[]);
    let shown = site.program.run(&["run", "show", "-F", "json"]).unwrap().stdout;
    let read = &serde_json::from_str::<Value>(&shown).unwrap()["policies"][0]["facts_read"];
    assert_eq!(read, &json!(["platform", "platform_version"]));
    assert_eq!(site.runs(), 1, "a run that is left out has no record");
    let shown = site.converge(&["--skip-unchanged", "4h"]).expect_code(0).unwrap();
    assert!(
        shown.stdout.starts_with("Nothing has changed since run ") && !shown.stdout.contains("Policy"),
        "{}",
        shown.text()
    );
    // Nobody looks at the machine for it.
    root.write("/srv/web", "somebody else's\n").unwrap();
    assert_ne!(site.report(0, &[])["skipped"], Value::Null);
    let old = site.converge(&["--skip-unchanged", "0s", "--format", "json"]).expect_code(0).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&old.stdout).unwrap()["updated"], 1, "no good run is younger than 0 s");

    site.write("grants.toml", &format!("# reviewed\n{GRANTS}"));
    site.check_made("other grants", &[]);
    site.check_made("a parameter", &["--parameter", "web.site=other"]);
    site.check_made("another parameter", &["--parameter", "web.site=third"]);
    site.write("wrun.toml", "backups = 3\n");
    site.check_made("other settings", &[]);
    site.write("bags/sites/main.json", &json!({ "id": "main", "port": 8080 }).to_string());
    site.check_made("another data bag item", &[]);
    assert_eq!(root.read("/srv/web").unwrap(), "debian main 8080\n");
    let release = root.read("/usr/lib/os-release").unwrap();
    root.write("/usr/lib/os-release", release.replace("VERSION_ID=\"12\"", "VERSION_ID=\"13\"")).unwrap();
    site.check_made("another value of a fact that was read", &[]);
    root.write("/etc/hosts", "127.0.0.1 localhost other\n").unwrap();
    assert_ne!(site.report(0, &[])["skipped"], Value::Null, "a fact that was not read counts for nothing");
    let _ = site.program.run(&["node", "tag", "add", "seen"]).unwrap().expect_code(0).unwrap();
    site.check_made("another normal attribute", &[]);
    site.write(
        "layer.json",
        &json!({ "name": "stage", "default_attributes": { "web": { "site": "stage" } } }).to_string(),
    );
    let layer = site.path("layer.json");
    site.check_made("another layer", &["--environment-file", &layer]);
    site.write("web/cookbooks/web/recipes/default.rb", &format!("# changed\n{RECIPE}"));
    site.build();
    site.check_made("another artifact", &[]);
}

#[test]
fn a_run_that_failed_or_was_made_otherwise_stands_for_none() {
    let root = Root::new().unwrap();
    let site = Site::new(&root);
    site.check_made("nothing ran before", &[]);
    let broken = ["--parameter", "web.broken=true"];
    assert_eq!(site.report(1, &broken)["outcome"], "failure");
    assert_eq!(site.report(1, &broken)["skipped"], Value::Null, "a failure is not left out");
    site.check_made("a failure", &[]);
    let _ = site.converge(&[]).expect_code(0).unwrap();
    site.check_made("a run without the option", &[]);
    let dry = site.converge(&["--why-run"]).expect_code(0).unwrap();
    let report = site.report(0, &[]);
    assert_ne!(report["skipped"], Value::Null, "a dry run changes nothing: {}", dry.text());
    // What is kept of the good run is damaged: the next one is made.
    site.write("../state/good-runs/n1.json", "{");
    site.check_made("damage", &[]);
    let refused = site.converge(&["--why-run", "--skip-unchanged", "4h"]).expect_code(43).unwrap();
    assert!(refused.stderr.contains("--skip-unchanged"), "{}", refused.text());
}
