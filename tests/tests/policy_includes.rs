//! What a policy.toml takes from elsewhere: included policies, sources, versions. It says what a Policyfile says, and gets the
//! same lock.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, and helpers are not tests to the lints")]

use serde_json::Value;
use specs::Place;
use std::fs;

/// A cookbook in Ruby, which logs its version.
fn cookbook(place: &Place, path: &str, version: &str, more: &str) {
    let name = path.rsplit('/').next().unwrap();
    place.write(&format!("{path}/metadata.rb"), &format!("name '{name}'\nversion '{version}'\n{more}"));
    place.write(&format!("{path}/recipes/default.rb"), &format!("log '{name} {version}'\n"));
}

const BASE: &str = "name = \"base\"\nrun_list = [\"motd\"]\n[default.motd]\ntitle = \"base\"\n";

const WEB: &str = "name = \"web\"\nrun_list = [\"web\"]\n[[include]]\nname = \"base\"\npath = \"../base\"\n[default.web]\nport = 80\n";

/// A base policy with a lock, and a policy that includes it.
fn with_base() -> Place {
    let place = Place::new();
    place.write("base/policy.toml", BASE);
    cookbook(&place, "base/cookbooks/motd", "1.0.0", "");
    place.write("web/policy.toml", WEB);
    cookbook(&place, "web/cookbooks/web", "2.0.0", "");
    place.works("policy install /base/policy.toml");
    place
}

#[test]
fn a_policy_toml_includes_another_policy_and_is_built_from_its_lock() {
    let place = with_base();
    place.works("policy install /web/policy.toml");
    let (lock, base) = (place.json("web/policy.lock.json"), place.json("base/policy.lock.json"));
    assert_eq!(lock["run_list"], serde_json::json!(["recipe[motd::default]", "recipe[web::default]"]));
    assert_eq!(lock["default_attributes"], serde_json::json!({"motd": {"title": "base"}, "web": {"port": 80}}));
    let included = &lock["included_policy_locks"][0];
    assert_eq!((&included["name"], &included["revision_id"]), (&"base".into(), &base["revision_id"]));
    assert_eq!(lock["cookbook_locks"]["motd"]["identifier"], base["cookbook_locks"]["motd"]["identifier"]);
    assert_eq!(lock["cookbook_locks"]["motd"]["source_options"]["path"], "../base/cookbooks/motd");
    // A Policyfile that says the same is the same revision.
    place.write(
        "web/Other.rb",
        "name 'web'\nrun_list 'web'\ninclude_policy 'base', path: '../base'\ncookbook 'web', path: 'cookbooks/web'\n\
         default['web']['port'] = 80\n",
    );
    place.works("policy install /web/Other.rb");
    assert_eq!(place.json("web/Other.lock.json")["revision_id"], lock["revision_id"]);
    assert_eq!(
        place.json("web/Other.lock.json")["solution_dependencies"]["dependencies"],
        lock["solution_dependencies"]["dependencies"]
    );
    place.works("policy build /web");
    let shown = place.output("policy show /web/web.wasm --format json");
    let shown: Value = serde_json::from_str(&shown.stdout).unwrap();
    assert_eq!(shown["revision"], lock["revision_id"]);
    fs::create_dir_all(place.folder.join("root")).unwrap();
    let run =
        place.output("converge --policies /web --policy-name web --root /root --allow-all --node-name n --format json");
    let run: Value = serde_json::from_str(&run.stdout).unwrap();
    let names: Vec<_> = run["policies"][0]["resources"].as_array().unwrap().iter().map(|one| &one["name"]).collect();
    assert_eq!(names, ["motd 1.0.0", "web 2.0.0"]);
}

#[test]
fn what_an_included_policy_changes_is_taken_by_an_update_alone() {
    let place = with_base();
    place.works("policy install /web/policy.toml");
    let before = place.json("web/policy.lock.json")["revision_id"].clone();
    assert!(place.output("policy verify /web").stdout.contains("the lock fits what it locks"));
    cookbook(&place, "base/cookbooks/motd", "1.1.0", "");
    // The base policy's lock still names the old cookbook, and its folder has another.
    place.fails("policy verify /web", &["policy.toml:4: include_policy \"base\"", "1.1.0"]);
    place.works("policy update /base/policy.toml");
    place.fails("policy verify /web", &["policy.lock.json no longer fits", "cookbook motd", "wrun policy update"]);
    place.works("policy update /web/policy.toml");
    assert_ne!(place.json("web/policy.lock.json")["revision_id"], before);
    place.works("policy verify /web");
}

/// As in Chef, a folder is taken as it is; only a cookbook that was fetched must be what was locked.
#[test]
fn a_changed_folder_of_an_included_policy_is_told() {
    let place = with_base();
    let same = place.output("policy install /web/policy.toml").stderr;
    assert!(!same.contains("note: include_policy"), "{same}");
    place.write("base/cookbooks/motd/recipes/default.rb", "log 'changed'\n");
    let said = place.output("policy update /web/policy.toml").stderr;
    assert!(said.contains("note: include_policy \"base\": the cookbook motd in "), "{said}");
    let locked = |path: &str| place.json(path)["cookbook_locks"]["motd"]["identifier"].clone();
    assert_ne!(locked("web/policy.lock.json"), locked("base/policy.lock.json"));
}

#[test]
fn errors_of_includes_have_the_line_that_includes() {
    let place = with_base();
    let file =
        |include: &str| format!("name = \"web\"\nrun_list = [\"web\"]\n\n[[include]]\nname = \"base\"\n{include}");
    place.write("web/policy.toml", &file("path = \"../gone\"\n"));
    place.fails(
        "policy install /web/policy.toml",
        &["web/policy.toml:5: include_policy \"base\": the provided path ../gone"],
    );
    place.write("web/policy.toml", &file("path = \"../base\"\npolicy_revision_id = \"0123456789\"\n"));
    place.fails("policy install /web/policy.toml", &["policy.toml:5: ", "expected policy_revision_id '0123456789'"]);
    place.write("web/policy.toml", &file("path = \"../base\"\n[default.motd]\ntitle = \"web\"\n"));
    let conflict = "default[motd][title]: \"web\" in policy.toml:8, \"base\" in the included policy \"base\" (../base)";
    place.fails("policy install /web/policy.toml", &[conflict]);
    place.write("base/damaged.lock.json", "{\"name\": \"base\"}");
    place.write("web/policy.toml", &file("path = \"../base/damaged.lock.json\"\n"));
    place.fails(
        "policy build /web",
        &["policy.toml:5: include_policy \"base\": ", "/base/damaged.lock.json: the lock does not have a `run_list`"],
    );
    place.write("Policyfile.rb", "name 'x'\nrun_list 'web'\n\ninclude_policy 'base', path: 'gone'\n");
    place.fails("policy install /Policyfile.rb", &["Policyfile.rb:4: include_policy \"base\": the provided path gone"]);
    assert!(!place.folder.join("web/policy.lock.json").exists());
}

#[test]
fn cookbooks_come_from_sources_and_repositories_in_the_versions_that_fit() {
    let place = Place::new();
    cookbook(&place, "shared/cookbooks/ntp", "3.1.0", "");
    cookbook(&place, "git", "1.4.0", "");
    place.write("git/metadata.rb", "name 'apache'\nversion '1.4.0'\ndepends 'ntp', '>= 3.0'\n");
    place.git("git", &["init", "-q"]);
    place.commit("git");
    cookbook(&place, "web/cookbooks/web", "1.0.0", "depends 'apache'\n");
    let policy = |ntp: &str| {
        format!(
            "name = \"web\"\nrun_list = [\"web\"]\n[sources]\nchef_repo = \"../shared\"\n[cookbooks]\nntp = \"{ntp}\"\n\
             apache = {{ git = \"file://@FOLDER@/git\", version = \"~> 1.0\" }}\n"
        )
    };
    place.write("web/policy.toml", &policy("= 2.0.0"));
    place.fails(
        "policy install /web/policy.toml",
        &["no set of cookbook versions", "ntp = 2.0.0", "cookbook ntp is available in 3.1.0"],
    );
    place.write("web/policy.toml", &policy("~> 3.0"));
    place.works("policy install /web/policy.toml");
    let lock = place.json("web/policy.lock.json");
    assert_eq!(lock["cookbook_locks"]["ntp"]["source_options"]["path"], "../shared/cookbooks/ntp");
    let apache = &lock["cookbook_locks"]["apache"];
    assert_eq!((&apache["version"], &apache["source_options"]["git"]), (&"1.4.0".into(), &apache["origin"]));
    // What was fetched stays where the lock has it, without its repository, until an update.
    place.write("git/recipes/default.rb", "log 'newer'\n");
    place.commit("git");
    place.works("policy verify /web");
    place.works("policy build /web");
    fs::rename(place.folder.join("git"), place.folder.join("away")).unwrap();
    place.works("policy verify /web");
    fs::rename(place.folder.join("away"), place.folder.join("git")).unwrap();
    place.works("policy update /web/policy.toml");
    assert_ne!(place.json("web/policy.lock.json")["cookbook_locks"]["apache"], *apache);
    // Cargo resolves cookbooks in Rust: only folders can be named.
    place.write("git/Cargo.toml", "[package]\nname = \"apache\"\nversion = \"1.4.0\"\n");
    place.commit("git");
    place
        .fails("policy update /web/policy.toml", &["the cookbook 'apache' from file://", "is in Rust: cargo resolves"]);
}

#[test]
fn a_policyfile_has_its_needs_beside_it() {
    let place = Place::new();
    place.write("Policyfile.rb", "name 'web'\nrun_list 'web'\ncookbook 'web', path: 'c/web'\n");
    cookbook(&place, "c/web", "1.0.0", "");
    place.write("Policyfile.needs.toml", "[needs]\npackages = [\"nginx\"]\n");
    place.works("repository init /srv --team web");
    place.works("policy push prod /Policyfile.rb --repository /srv");
    let name = fs::read_dir(place.folder.join("srv/teams/web/targets/revisions/web")).unwrap();
    let artifact =
        name.map(|entry| entry.unwrap().path()).find(|path| path.extension().is_some_and(|end| end == "wasm"));
    let artifact = artifact.unwrap().strip_prefix(&place.folder).unwrap().display().to_string();
    let shown = place.output(&format!("policy show /{artifact} --format json"));
    let shown: Value = serde_json::from_str(&shown.stdout).unwrap();
    assert_eq!((&shown["needs"][0]["key"], &shown["needs"][0]["value"]), (&"packages".into(), &"\"nginx\"".into()));
    place.write("Policyfile.needs.toml", "[needs]\npackges = [\"nginx\"]\n");
    place.fails("policy push prod /Policyfile.rb --repository /srv", &["Policyfile.needs.toml:2", "packges"]);
    place.write("Policyfile.needs.toml", "packages = [\"nginx\"]\n");
    place.fails("policy push prod /Policyfile.rb --repository /srv", &["`packages` is not known here"]);
}
