//! What Chef computes, asked of Ruby cookbooks: the vectors whose subject is the Ruby library's own. The file's cases lie in
//! a cookbook, its recipe leaves what it found as an attribute, and the program's report has it.
//!
//! `WRUN_VECTORS` names another folder with files of these names.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test fails by panicking, and the count of each file is shown"
)]

use serde_json::{Value, json};
use specs::Program;
use std::fs;
use std::path::{Path, PathBuf};

/// A value of the property rows: JSON, but for symbols and what only Ruby can say. Some rows use a matcher of Chef's own
/// tests, `Globalses.eq`.
const VALUES: &str = "
module ::Globalses
  def self.eq(wanted) = ->(given) { given == wanted }
end
value = lambda do |given|
  case given
  when Hash
    next given['sym'].to_sym if given.keys == ['sym']
    next eval(given['ruby']) if given.keys == ['ruby']
    given.transform_values(&value)
  when Array then given.map(&value)
  else given
  end
end
";

/// In the file's specification, commas stand for an array as a key.
const PLATFORMS: &str = "
keys = ->(hash) { hash.transform_keys { |key| key.include?(',') ? key.split(',') : key } }
found = [value_for_platform(keys.(cases).transform_values { |value| value.is_a?(Hash) ? keys.(value) : value })]
";

fn vectors(file: &str) -> Value {
    let own = || Path::new(env!("CARGO_MANIFEST_DIR")).join("vectors");
    let folder = std::env::var_os("WRUN_VECTORS").map_or_else(own, PathBuf::from);
    let path = folder.join(file);
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap()
}

/// Runs a recipe that has the cases as `cases` and leaves its findings, one for each, in `found`.
fn ask(program: &Program, recipe: &str, cases: &Value, more: &[&str]) -> Vec<Value> {
    let cookbook = program.configuration().join("cookbooks/asked");
    let recipe = format!(
        "cases = JSON.parse(File.read(File.join(__dir__, '..', 'cases.json')))\n{recipe}\nnode.normal['found'] = found\n"
    );
    for (path, text) in [
        ("metadata.rb", "name 'asked'\nversion '1.0.0'\n".to_owned()),
        ("cases.json", cases.to_string()),
        ("recipes/default.rb", recipe),
    ] {
        let path = cookbook.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let folder = program.configuration().join("cookbooks").display().to_string();
    let mut arguments =
        vec!["converge", "--cookbooks", &folder, "--run-list", "asked", "--allow-all", "--format", "json"];
    arguments.extend(["--node-name", "node1"]);
    arguments.extend(more);
    let output = program.run(&arguments).unwrap().expect_code(0).unwrap();
    let run: Value = serde_json::from_str(&output.stdout).unwrap();
    run["node"]["normal"]["found"].as_array().unwrap_or_else(|| panic!("nothing was found: {run}")).clone()
}

/// Fails with every case whose finding is another one than expected, and prints the file's count.
fn judge<'a>(file: &str, cases: impl Iterator<Item = (&'a Value, Value)>, found: &[Value]) {
    let cases: Vec<_> = cases.collect();
    assert_eq!(cases.len(), found.len(), "{file}");
    let wrong: Vec<String> = cases
        .iter()
        .zip(found)
        .filter(|((_, expected), found)| expected != *found)
        .map(|((case, expected), found)| format!("{case}: expected {expected}, found {found}"))
        .collect();
    println!("{file}: {} passed, {} failed", cases.len() - wrong.len(), wrong.len());
    assert!(!cases.is_empty() && wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn encrypted_data_bag_items() {
    let file = "encrypted_data_bag_values.json";
    let all = vectors(file);
    let program = Program::new().unwrap();
    let bags = program.configuration().join("data_bags");
    fs::create_dir_all(bags.join("secrets")).unwrap();
    let cases = all["cases"].as_array().unwrap();
    for (number, case) in cases.iter().enumerate() {
        let item = json!({"id": format!("case{number}"), "kept": case["encrypted"]});
        fs::write(bags.join(format!("secrets/case{number}.json")), item.to_string()).unwrap();
    }
    let secret = program.configuration().join("secret");
    fs::write(&secret, all["secret"].as_str().unwrap()).unwrap();
    let found = ask(
        &program,
        "found = cases.each_index.map { |number| data_bag_item('secrets', \"case#{number}\")['kept'] }",
        &all["cases"],
        &["--data-bags", bags.to_str().unwrap(), "--encrypted-data-bag-secret", secret.to_str().unwrap()],
    );
    judge(file, cases.iter().map(|case| (case, case["value"].clone())), &found);
}

#[test]
fn version_constraints() {
    let file = "version_constraints.json";
    let all = vectors(file);
    let recipe = "
found = cases.map do |asked|
  of_cookbooks = begin
    { 'include' => Chef::VersionConstraint.new(asked['constraint']).include?(asked['version']) }
  rescue StandardError => error
    { 'raises' => error.class.name, 'message' => error.message }
  end
  of_platforms = begin
    { 'platform_include' => Chef::VersionConstraint::Platform.new(asked['constraint']).include?(asked['version']) }
  rescue StandardError => error
    { 'platform_raises' => error.class.name }
  end
  asked.slice('constraint', 'version').merge(of_cookbooks, of_platforms)
end";
    let found = ask(&Program::new().unwrap(), recipe, &all["cases"], &[]);
    judge(file, all["cases"].as_array().unwrap().iter().map(|case| (case, case.clone())), &found);
}

#[test]
fn values_for_platforms() {
    let file = "value_for_platform.json";
    let all = vectors(file);
    let program = Program::new().unwrap();
    let facts = program.configuration().join("facts.json");
    let cases = all["cases"].as_array().unwrap();
    let found: Vec<Value> = cases
        .iter()
        .map(|case| {
            let about = json!({"platform": case["platform"], "platform_version": case["platform_version"]});
            fs::write(&facts, about.to_string()).unwrap();
            let more = ["--facts", facts.to_str().unwrap()];
            ask(&program, PLATFORMS, &all["spec"], &more).remove(0)
        })
        .collect();
    judge(file, cases.iter().map(|case| (case, case["value"].clone())), &found);
}

#[test]
fn property_validation() {
    let file = "property_validation_rows.json";
    let all = vectors(file);
    let recipe = format!(
        "{VALUES}
found = cases.map do |row|
  type = Class.new(Chef::Resource) {{ resource_name :asked_of }}
  type.class_eval(\"property :x, #{{row['property']}}\")
  %w(valid invalid).map do |list|
    (row[list] || []).map do |given|
      type.new('blah', run_context).x(value.(given))
      true
    rescue Chef::Exceptions::ValidationFailed
      false
    end
  end
end"
    );
    // What Chef was not asked itself is a row of its tests, and may need methods that these define.
    let rows: Vec<Value> =
        all["rows"].as_array().unwrap().iter().filter(|row| row["verified"] == true).cloned().collect();
    let found = ask(&Program::new().unwrap(), &recipe, &json!(rows), &[]);
    let many = |list: &Value, answer: bool| vec![answer; list.as_array().map_or(0, Vec::len)];
    judge(file, rows.iter().map(|row| (row, json!([many(&row["valid"], true), many(&row["invalid"], false)]))), &found);
}
