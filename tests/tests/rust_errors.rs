//! The mistakes of authors of Rust cookbooks: each is told with its file, its line, its recipe, the lines around it and, where
//! there is one, a near name.
//!
//! The guest `mistakes` makes them, one in each recipe; the line that is at fault ends in the recipe's name.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use serde_json::{Value, json};
use specs::{Machine, Network, Program, Root};
use std::path::{Path, PathBuf};

fn checkout() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// Runs one recipe of the guest; its error as JSON.
fn error_of(program: &Program, machine: &Machine<'_>, recipe: &str) -> Value {
    let (root, policies) = (machine.root().path().display().to_string(), checkout().join("target/fixtures"));
    let policies = policies.display().to_string();
    let fixed = ["converge", "--root", &root, "--node-name", "n1", "--allow-all", "--policies", &policies];
    let item = format!("mistakes::{recipe}");
    let output =
        program.run_in(machine, &[&fixed[..], &["--policy-name", "mistakes", "-o", &item, "-F", "json"]].concat());
    let output = output.unwrap().expect_code(1).unwrap();
    serde_json::from_str::<Value>(&output.stdout).unwrap()["error"].clone()
}

/// The line of the guest's source that a mark is at the end of.
fn marked(mark: &str) -> u64 {
    let source = std::fs::read_to_string(checkout().join("guests/fixtures/mistakes/src/lib.rs")).unwrap();
    let at = source.lines().position(|line| line.ends_with(&format!("// {mark}")));
    u64::try_from(at.unwrap()).unwrap() + 1
}

/// The place of an error: the lines around it are those of a file.
fn place(error: &Value) -> (&str, u64) {
    (error["excerpt"]["file"].as_str().unwrap_or_default(), error["excerpt"]["line"].as_u64().unwrap_or_default())
}

#[test]
fn mistakes_are_told_with_their_place() {
    let (program, root) = (Program::new().unwrap(), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    let check = |recipe: &str, message: &str, hint: Value| {
        let error = error_of(&program, &machine, recipe);
        assert!(error["message"].as_str().unwrap().contains(message), "{recipe}: {error:#}");
        assert_eq!(error["hint"], hint, "{recipe}");
        assert_eq!(place(&error), ("mistakes/src/lib.rs", marked(recipe)), "{recipe}: {error:#}");
        assert_eq!(error["origin"]["recipe"], recipe, "{error:#}");
    };
    let near = |name: &str| json!(format!("did you mean `{name}`?"));
    let at = |recipe: &str| ("mistakes/src/lib.rs", marked(recipe));
    check("unknown_type", "resource type `mistakes_vhots` does not exist", near("mistakes_vhost"));
    check("type_of_its_file", "resource type `vhost` does not exist", near("mistakes_vhost"));
    check(
        "unknown_property",
        "mistakes_vhost does not have the property `prot`; it has: domain, port, aliases",
        near("port"),
    );
    let wrong = "property `port` of mistakes_vhost must be a whole number from 0 to 65535, not";
    check("wrong_type", &format!("{wrong} the string \"eighty\""), Value::Null);
    check("wrong_item", "property `aliases.1` of mistakes_vhost must be a string, not the number 5", Value::Null);
    check("unknown_action", "mistakes_vhost does not have the action `remvoe`", near("remove"));
    check("unset_property", "property `domain` of mistakes_vhost is required and not set", Value::Null);
    check("bad_mode", "file[/srv/x]: ", Value::Null);
    check("bad_mode", "rw-r--r--", Value::Null);
    check("attribute_type", "attribute mistakes.name must be a list, not the string \"shop\"", Value::Null);
    check("attribute_unset", "attribute mistakes.nmae is not set", near("mistakes.name"));
    check("unknown_recipe", "cookbook mistakes does not have a recipe `printz`", near("prints"));
    check("notified_action", "service does not have the action `reloadd`; it has: enable", near("reload"));
    check("missing_template", "vhots.conf.j2", near("vhost.conf.j2"));
    let variables = "the variables of a template have names, but these are a list";
    let struct_or_map = json!("give a map or a struct: `json!({ \"servers\": servers })`");
    check("listed_variables", variables, struct_or_map);
    check("index", "index out of bounds: the len is 0 but the index is 2", Value::Null);
    // The receiver may be declared later in the action, and the near name is in the recipe.
    let undeclared = error_of(&program, &machine, "undeclared_receiver");
    assert_eq!((place(&undeclared), &undeclared["hint"]), (at("undeclared_receiver"), &near("service[shop]")));
    // The message of a panic has neither a class nor less than the error says.
    let unwrapped = error_of(&program, &machine, "unwrapped_error");
    let message = unwrapped["message"].as_str().unwrap();
    assert!(message.contains("value: attribute mistakes.nmae is not set; did you mean `mistakes.name`?"), "{message}");
    // A run list has no line: the place is where the cookbook lists its recipes.
    let listed = error_of(&program, &machine, "nosuch");
    assert!(listed["message"].as_str().unwrap().contains("does not have a recipe `nosuch`"), "{listed:#}");
    assert_eq!(place(&listed), ("mistakes/src/lib.rs", marked("cookbook")), "{listed:#}");
    // A lazy value is read when the action runs, where the recipe is over.
    let late = error_of(&program, &machine, "late_type");
    assert!(late["message"].as_str().unwrap().ends_with(&format!("{wrong} the number 70000")), "{late:#}");
    assert_eq!((&late["resource"]["type"], &late["resource"]["name"]), (&json!("mistakes_vhost"), &json!("shop")));
    let class = |recipe: &str| error_of(&program, &machine, recipe)["class"].clone();
    assert_eq!([class("unknown_type"), class("bad_mode")], ["NoMethodError", "Chef::Exceptions::ValidationFailed"]);
}

/// People who have not seen Ruby read no sentences of Chef's.
#[test]
fn what_people_read_is_not_in_the_words_of_chef() {
    let (program, root) = (Program::new().unwrap(), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    let (root, policies) = (machine.root().path().display().to_string(), checkout().join("target/fixtures"));
    let policies = policies.display().to_string();
    let fixed = ["converge", "--root", &root, "--node-name", "n1", "--allow-all", "--policies", &policies];
    let said = |recipe: &str| {
        let arguments = [&fixed[..], &["--policy-name", "mistakes", "-o", recipe]].concat();
        program.run_in(&machine, &arguments).unwrap().expect_code(1).unwrap().stdout
    };
    let undeclared = said("mistakes::undeclared_receiver");
    let plain = "file[/srv/announced] notifies service[shpo] (restart), which no recipe declared";
    assert!(undeclared.contains(plain) && !undeclared.contains("resource collection"), "{undeclared}");
    let said = said("mistakes::bad_mode");
    assert!(said.contains("property `mode` is `rw-r--r--`, which is not a mode: write its octal digits"), "{said}");
    assert!(!said.contains("numeric range"), "{said}");
}

#[test]
fn mistakes_in_templates_are_told_by_the_variables_name() {
    let (program, root) = (Program::new().unwrap(), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    let check = |recipe: &str, message: &str, hint: Value, file: &str| {
        let error = error_of(&program, &machine, recipe);
        let said = error["message"].as_str().unwrap();
        assert!(said.ends_with(message) && !said.contains(file), "the place is not in the message: {error:#}");
        assert_eq!(error["hint"], hint);
        assert_eq!(place(&error), (&*format!("mistakes/templates/{file}"), 2), "{error:#}");
        assert_eq!(error["resource"]["type"], "template", "{error:#}");
    };
    let near = json!("did you mean `prot`?");
    check("missing_variable", "the template uses the variable `port`, which is not set", near, "vhost.conf.j2");
    check("missing_item", "the template uses the variable `item.nme`, which is not set", Value::Null, "item.conf.j2");
    check("syntax", "syntax error: unexpected `}`, expected end of variable block", Value::Null, "syntax.conf.j2");
}

#[test]
fn what_the_sandbox_does_not_have_is_said_with_what_to_use_instead() {
    let (program, root) = (Program::new().unwrap(), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    let advice = "declare a resource, or use `wrun_sdk::machine`";
    for recipe in ["standard_files", "process"] {
        let error = error_of(&program, &machine, recipe);
        assert!(error["hint"].as_str().unwrap().contains(advice), "{error:#}");
        assert_eq!(place(&error), ("mistakes/src/lib.rs", marked(recipe)), "{error:#}");
    }
    let variable = error_of(&program, &machine, "variable");
    assert!(variable["hint"].as_str().unwrap().contains("`wrun_sdk::environment::get`"), "{variable:#}");
    assert_eq!(place(&variable), ("mistakes/src/lib.rs", marked("variable")));
    for recipe in ["clock", "unwrapped"] {
        let at = ("mistakes/src/lib.rs", marked(recipe));
        let error = error_of(&program, &machine, recipe);
        assert!(error["hint"].as_str().unwrap().contains(advice), "{error:#}");
        assert!(!error["message"].as_str().unwrap().contains("declare a resource"), "{error:#}");
        assert_eq!(place(&error), at, "{error:#}");
        // Functions without a file and a line are for debug output.
        assert!(!error["backtrace"].to_string().contains("wasm: in"), "{error:#}");
    }
}

#[test]
fn a_panic_is_told_once_below_what_was_printed_before_it() {
    let (program, root) = (Program::new().unwrap(), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    let (place, policies) =
        (root.path().display().to_string(), checkout().join("target/fixtures").display().to_string());
    let arguments = ["converge", "--root", &place, "-N", "n1", "--allow-all", "--policies", &policies];
    let check = |recipe: &str, more: &[&str], expect: &[&str]| {
        let arguments = [&arguments[..], &["--policy-name", "mistakes", "-o", recipe], more].concat();
        let shown = program.run_in(&machine, &arguments).unwrap().expect_code(1).unwrap().stdout;
        assert_eq!(shown.matches("index out of bounds").count(), 1, "{shown}");
        assert!(shown.contains("\n    policy `mistakes` panicked at mistakes/src/lib.rs:"), "{shown}");
        let place = format!("mistakes/src/lib.rs:{}", marked("index"));
        assert_eq!(shown.matches(&place).count(), 1, "the place is told once: {shown}");
        let printed: Vec<_> = shown.lines().filter(|line| line.contains("] ")).collect();
        assert_eq!(printed, expect, "{shown}");
    };
    check("mistakes::index", &[], &["    [mistakes printed] before the panic"]);
    check("mistakes::index", &["--log-level", "info"], &["    [mistakes printed] before the panic"]);
    check("mistakes::index", &["--format", "minimal"], &["[mistakes printed] before the panic"]);
}

#[test]
fn printed_text_and_the_crate_log_reach_the_runs_log() {
    let (program, root) = (Program::new().unwrap(), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    let (place, policies) =
        (root.path().display().to_string(), checkout().join("target/fixtures").display().to_string());
    let arguments = ["converge", "--root", &place, "-N", "n1", "--allow-all", "--policies", &policies];
    let arguments = [&arguments[..], &["--policy-name", "mistakes", "-F", "json", "--log-level", "info"]].concat();
    let output = program.run_in(&machine, &arguments).unwrap().expect_code(0).unwrap();
    let run: Value = serde_json::from_str(&output.stdout).unwrap();
    let lines = run["log"].as_array().unwrap().iter();
    let lines: Vec<_> = lines
        .map(|line| format!("{} {}", line["level"].as_str().unwrap(), line["message"].as_str().unwrap()))
        .collect();
    let dbg = format!("warn [fixtures/mistakes/src/lib.rs:{}] 1 + 1 = 2", marked("dbg"));
    let expect = [
        "info one line",
        "info ",
        "warn a warning",
        &dbg,
        "warn logged 2",
        "error mistakes: by the crate",
        "info without an end",
    ];
    let printed: Vec<_> = lines.iter().filter(|line| expect.contains(&line.as_str())).collect();
    assert_eq!(printed, expect.iter().collect::<Vec<_>>(), "{lines:#?}");
}
