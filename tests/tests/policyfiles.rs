//! Policyfiles beside the recorded cases: what wrun does otherwise than chef-cli, and what a Policyfile may not do.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "support/stated.rs"]
mod support;

use serde_json::{Value, json};
use specs::Place;
use std::fs;
use std::path::Path;
use support::stated;

/// A place with a Policyfile, and cookbooks in `c`, each with its metadata.
fn place(policyfile: &str, cookbooks: &[(&str, &str)]) -> Place {
    let place = Place::new();
    place.write("Policyfile.rb", policyfile);
    for (name, metadata) in cookbooks {
        place.write(&format!("c/{name}/metadata.rb"), metadata);
        place.write(&format!("c/{name}/recipes/default.rb"), "");
    }
    place
}

const WEB: (&str, &str) = ("web", "name 'web'\nversion '1.0.0'\n");

#[test]
fn a_policyfile_sees_its_own_folder_and_nothing_else() {
    let reads = "name File.read('NAME').strip\nrun_list 'web'\ncookbook 'web', path: 'c/web'\n\
                 default['there'] = File.exist?(File.join(__dir__, 'c/web/metadata.rb'))\n";
    let own = place(reads, &[WEB]);
    own.write("NAME", "web\n");
    own.git(".", &["init", "-q"]);
    own.git(".", &["config", "remote.origin.url", "https://token@localhost/"]);
    own.works("policy install /Policyfile.rb");
    let lock = own.json("Policyfile.lock.json");
    assert_eq!((&lock["name"], &lock["default_attributes"]["there"]), (&"web".into(), &true.into()));
    for (number, attempt) in
        ["File.read('/etc/hostname')", "File.read('../wrun.toml')", "`id`", "system('id')", "File.write('x', '')"]
            .iter()
            .enumerate()
    {
        let file = format!("other{number}.rb");
        own.write(&file, &format!("name 'x'\nrun_list 'web'\n{attempt}\n"));
        own.fails(&format!("policy install /{file}"), &[&format!("{file}:3"), "a Policyfile sees its own folder"]);
    }
    assert!(!own.folder.join("x").exists());
    // Git's own files are not among those of the folder.
    own.write("plain.rb", "name 'x'\nFile.read('.git/config')\n");
    own.fails("policy install /plain.rb", &["plain.rb:2", "No such file or directory"]);
    own.write("git.rb", "name 'x'\nraise Wrun::Bridge.call('cookbooks.read', 'folder-0', '.git/config')\n");
    let output = own.ends_with(43, "policy install /git.rb");
    assert!(output.stderr.contains("git.rb:2") && !output.stderr.contains("token"), "{}", output.stderr);
}

#[test]
fn everything_that_is_wrong_is_told_with_its_line() {
    let file = "name 'web'\nrun_list 'web', 'we b', 'role[base]'\ncookbook 'web', 'about 2', path: 'c/web'\n\
                cookbook 'db', ftp: 'x'\ndefault_source :floppy\ninclude_policy 'base'\n";
    place(file, &[]).fails(
        "policy install /Policyfile.rb",
        &[
            "Policyfile.rb:2: Run List Item 'we b' has invalid cookbook name 'we b'",
            "Policyfile.rb:2: Run List Item 'role[base]' is a role",
            "Policyfile.rb:3: \"about 2\" is not a version constraint",
            "Policyfile.rb:4: cookbook `db' has invalid source options {ftp: \"x\"}",
            "Policyfile.rb:5: Invalid default_source type ':floppy'",
            "Policyfile.rb:6: include_policy \"base\" must use one of",
        ],
    );
    place("name 'x'\n\nrun_lst 'web'\n", &[])
        .fails("policy install /Policyfile.rb", &["Policyfile.rb:3: NoMethodError"]);
    place("name 'x'\nrun_list ['web'\n", &[])
        .fails("policy install /Policyfile.rb", &["SyntaxError", "Policyfile.rb:"]);
    let refused = "name 'x'\ndefault_source :chef_server, 'https://chef.example/organizations/o'\nrun_list 'web'\n";
    let message = "Policyfile.rb:2: chef_server(https://chef.example/organizations/o): ";
    place(refused, &[]).fails("policy install /Policyfile.rb", &[message, "the settings name no Chef server"]);
}

#[test]
fn an_update_of_one_cookbook_leaves_the_others_as_they_are() {
    let file = "name 'x'\ndefault_source :chef_repo, '.'\nrun_list 'app', 'other'\n";
    let app = ("app", "name 'app'\nversion '1.0.0'\ndepends 'lib'\n");
    let (lib, other) = (("lib", "name 'lib'\nversion '1.0.0'\n"), ("other", "name 'other'\nversion '1.0.0'\n"));
    let place = place(&file.replace("'.'", "'c'"), &[app, lib, other]);
    place.works("policy install /Policyfile.rb");
    for (name, depends) in [("app", "depends 'lib'\n"), ("lib", ""), ("other", "")] {
        let metadata = format!("name '{name}'\nversion '1.1.0'\n{depends}");
        place.write(&format!("c/{name}/metadata.rb"), &metadata);
    }
    // What is pinned is no longer there in that version.
    place.fails("policy update /Policyfile.rb app", &["'other'", "1.1.0", "= 1.0.0"]);
    place.write("c/other/metadata.rb", "name 'other'\nversion '1.0.0'\n");
    place.works("policy update /Policyfile.rb app");
    let lock = place.json("Policyfile.lock.json");
    let version = |name: &str| lock["cookbook_locks"][name]["version"].clone();
    assert_eq!([version("app"), version("lib"), version("other")], ["1.1.0", "1.1.0", "1.0.0"]);
    assert_eq!(lock["solution_dependencies"]["Policyfile"].to_string().matches("= 1.").count(), 3);
    place.fails("policy update /Policyfile.rb nope", &["the lock does not have nope"]);
    place.write("c/lib/metadata.rb", "name 'lib'\nversion '2.0.0'\n");
    place.fails("policy update /Policyfile.rb app --exclude-deps", &["'lib'", "2.0.0"]);
}

/// A place with a repository whose policy `base` the Policyfile includes. Nothing of the repository is committed yet.
fn with_platform() -> Place {
    let include = "include_policy 'base', git: 'file://@FOLDER@/platform', path: 'policies/base.lock.json'\n";
    let place = place(&format!("name 'top'\nrun_list 'a'\n{include}"), &[]);
    place.write("platform/policies/base.rb", "name 'base'\nrun_list 'a'\ncookbook 'a', path: '../books/a'\n");
    place.write("platform/books/a/metadata.rb", "name 'a'\nversion '1.0.0'\n");
    place.write("platform/books/a/recipes/default.rb", "");
    place.works("policy install /platform/policies/base.rb");
    place.git("platform", &["init", "-q"]);
    place
}

#[test]
fn an_included_policy_from_git_stays_at_its_commit() {
    let place = with_platform();
    let first = place.commit("platform");
    place.works("policy install /Policyfile.rb");
    let commit =
        || place.json("Policyfile.lock.json")["included_policy_locks"][0]["source_options"]["revision"].clone();
    assert_eq!(commit(), first.as_str());
    let options = place.json("Policyfile.lock.json")["cookbook_locks"]["a"]["source_options"].clone();
    assert_eq!(options["rel"], "books/a", "{options}");
    place.replace("platform/policies/base.rb", "run_list", "default['x'] = 1\nrun_list");
    place.works("policy update /platform/policies/base.rb");
    let second = place.commit("platform");
    place.works("policy update /Policyfile.rb");
    assert_eq!(commit(), first.as_str());
    place.works("policy update /Policyfile.rb --include other");
    assert_eq!(commit(), first.as_str());
    place.works("policy update /Policyfile.rb --include base");
    assert_eq!(commit(), second.as_str());
    assert_eq!(place.json("Policyfile.lock.json")["default_attributes"]["x"], 1);
    // Other options mean another commit; `sha` is another word for `revision`.
    let text = place.read("Policyfile.rb");
    let pinned = text.replace("path: 'policies", &format!("sha: '{first}', path: 'policies"));
    place.write("Policyfile.rb", &pinned);
    place.works("policy update /Policyfile.rb");
    assert_eq!(commit(), first.as_str());
    place.write("Policyfile.rb", &text.replace("path: 'policies", "branch: 'main', path: 'policies"));
    place.works("policy update /Policyfile.rb");
    assert_eq!(commit(), second.as_str());
}

#[test]
fn a_fetched_cookbook_must_be_the_one_that_was_locked() {
    let place = with_platform();
    place.commit("platform");
    place.works("policy install /Policyfile.rb");
    place.works("policy install /Policyfile.rb");
    let lock = place.json("Policyfile.lock.json");
    let key = lock["cookbook_locks"]["a"]["cache_key"].as_str().unwrap();
    let mut cached = fs::read_dir(place.fetched().join("cookbooks")).unwrap();
    let cached = cached.find_map(|entry| {
        let path = entry.unwrap().path();
        path.file_name().unwrap().to_str().unwrap().starts_with(&format!("{key}-")).then_some(path)
    });
    let cached = cached.unwrap();
    // A second install needs no network.
    fs::rename(place.folder.join("platform"), place.folder.join("away")).unwrap();
    place.works("policy install /Policyfile.rb");
    fs::write(cached.join("recipes/default.rb"), "file '/etc/passwd'\n").unwrap();
    place.fails("policy install /Policyfile.rb", &["cookbook a", "it was changed after it was locked"]);
    place.fails("policy export /Policyfile.rb out", &["cookbook a", "it was changed after it was locked"]);
}

#[test]
fn policies_that_include_each_other_are_refused() {
    let file = |name: &str, other: &str| {
        format!("name '{name}'\nrun_list 'web'\ncookbook 'web', path: 'c/web'\ninclude_policy '{other}', path: '.'\n")
    };
    let place = place("name 'unused'\n", &[WEB]);
    place.write("one.rb", "name 'one'\nrun_list 'web'\ncookbook 'web', path: 'c/web'\n");
    place.works("policy install /one.rb");
    place.write("two.rb", &file("two", "one"));
    place.works("policy install /two.rb");
    place.write("one.rb", &file("one", "two"));
    place.fails("policy update /one.rb", &["include_policy \"two\"", "in a loop: one -> two -> one"]);
}

#[test]
fn a_loop_through_a_repository_is_found() {
    let place = place("name 'unused'\n", &[]);
    let lock = |name: &str, includes: &str, path: &str| {
        stated(json!({
            "name": name, "run_list": [], "cookbook_locks": {}, "default_attributes": {}, "override_attributes": {},
            "solution_dependencies": {"Policyfile": [], "dependencies": {}},
            "included_policy_locks": [{"name": includes, "revision_id": "0", "source_options": {"path": path}}],
        }))
        .to_string()
    };
    // Two policies of one repository, the second of which includes one of this machine, which is the first one's name again.
    place.write("far/teams/two.lock.json", &lock("two", "three", "three.lock.json"));
    place.write("far/teams/three.lock.json", &lock("three", "one", "../one.lock.json"));
    place.write("far/one.lock.json", &lock("one", "gone", "gone.lock.json"));
    place.git("far", &["init", "-q"]);
    place.commit("far");
    let include = "include_policy 'two', git: 'file://@FOLDER@/far', path: 'teams/two.lock.json'\n";
    place.write("one.rb", &format!("name 'one'\nrun_list 'web'\n{include}"));
    place.fails(
        "policy install /one.rb",
        &["one.rb:3: include_policy \"two\"", "in a loop: one -> two -> three -> one"],
    );
    // For another policy there is no loop, and what cannot be read is told.
    place.write("four.rb", &format!("name 'four'\nrun_list 'web'\n{include}"));
    place.fails(
        "policy install /four.rb",
        &["note: cannot look for a loop through \"gone\": ", "no source has cookbook web"],
    );
}

#[test]
fn all_attribute_conflicts_are_told_with_both_origins() {
    let place = place("name 'unused'\n", &[WEB]);
    let web = "run_list 'web'\ncookbook 'web', path: 'c/web'\n";
    let one = format!("name 'one'\n{web}default['a']['b'] = 1\ndefault['c'] = [1]\noverride['d'] = 1\n");
    place.write("one.rb", &one);
    place.works("policy install /one.rb");
    let own = "include_policy 'one', path: './one.lock.json'\ndefault['a']['b'] = 2\ndefault['c']['x'] = 1\noverride['d'] = 1\n";
    place.write("Policyfile.rb", &format!("name 'top'\n{web}{own}"));
    place.fails(
        "policy install /Policyfile.rb",
        &[
            "default[a][b]: 2 in Policyfile.rb:5, 1 in the included policy \"one\" (./one.lock.json)",
            "default[c]: {\"x\":1} in Policyfile.rb, [1] in the included policy \"one\" (./one.lock.json)",
        ],
    );
    assert!(!place.folder.join("Policyfile.lock.json").exists());
}

#[test]
fn an_archive_has_the_layout_that_chef_reads() {
    let place = place("name 'x'\nrun_list 'web'\ncookbook 'web', path: 'c/web'\n", &[WEB]);
    place.works("policy install /Policyfile.rb");
    place.works("policy export /Policyfile.rb /out -a --policy-group prod");
    let lock = place.json("Policyfile.lock.json");
    let revision = lock["revision_id"].as_str().unwrap();
    let file = fs::File::open(place.folder.join(format!("out/x-{revision}.tgz"))).unwrap();
    let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(file));
    let paths = archive.entries().unwrap().map(|entry| entry.unwrap().path().unwrap().display().to_string());
    let mut files: Vec<_> = paths.filter(|path| !path.ends_with('/')).collect();
    files.retain(|path| Path::new(path).extension().is_some());
    files.sort();
    let web = format!("cookbook_artifacts/web-{}", lock["cookbook_locks"]["web"]["identifier"].as_str().unwrap());
    let expected = [
        ".chef/config.rb".to_owned(),
        "Policyfile.lock.json".to_owned(),
        "README.md".to_owned(),
        format!("{web}/metadata.json"),
        format!("{web}/recipes/default.rb"),
        format!("policies/x-{revision}.json"),
        "policy_groups/prod.json".to_owned(),
    ];
    assert_eq!(files, expected);
    place.fails("policy export /Policyfile.rb /out --policy-group ../x", &["cannot be the name of a file"]);
    // chef-cli locks changed cookbooks anew, too; here it is said, since `push` asks for a lock that fits.
    let revision = revision.to_owned();
    place.write("c/web/recipes/default.rb", "# changed\n");
    let said = place.output("policy export /Policyfile.rb /out -a --policy-group prod").stderr;
    let short = revision.get(..12).unwrap();
    assert!(said.contains(&format!("with the cookbooks beside it: revision {short} is now ")), "{said}");
    let again = place.output("policy export /Policyfile.rb /out -a --policy-group prod").stderr;
    assert!(!again.contains("brought up to date"), "{again}");
}

/// A folder that somebody copied brings its own git configuration, which names programs.
#[test]
fn no_program_of_a_strangers_working_tree_is_started() {
    let own = place("name 'web'\nrun_list 'web'\ncookbook 'web', path: 'c/web'\n", &[WEB]);
    own.git("c/web", &["init", "-q"]);
    own.commit("c/web");
    own.works("policy install /Policyfile.rb");
    let scm_info = |lock: &Value| lock["cookbook_locks"]["web"]["scm_info"].clone();
    assert_eq!(scm_info(&own.json("Policyfile.lock.json"))["working_tree_clean"], true);
    let ran = own.folder.join("ran");
    let program = format!("touch {}; cat", ran.display());
    for (key, value) in
        [("core.fsmonitor", program.as_str()), ("filter.x.clean", &program), ("include.path", "/dev/null")]
    {
        own.git("c/web", &["config", key, value]);
        own.write("c/web/.git/info/attributes", "* filter=x\n");
        own.write("c/web/README", key);
        own.write("c/web/recipes/default.rb", &format!("# {key}\n"));
        let said = own.output("policy update /Policyfile.rb").stderr;
        assert!(said.contains(&format!("its git configuration sets {key}, which may start a program")), "{said}");
        assert_eq!(scm_info(&own.json("Policyfile.lock.json")), Value::Null);
        assert!(!ran.exists(), "{key}");
        own.git("c/web", &["-c", "core.fsmonitor=false", "config", "--unset", key]);
    }
    // Nor one of a repository inside of it.
    own.write("c/web/sub/README", "x");
    own.git("c/web/sub", &["init", "-q"]);
    own.commit("c/web/sub");
    own.git("c/web", &["add", "sub"]);
    own.commit("c/web");
    own.git("c/web/sub", &["config", "core.fsmonitor", &program]);
    own.works("policy update /Policyfile.rb");
    assert_ne!(scm_info(&own.json("Policyfile.lock.json")), Value::Null);
    assert!(!ran.exists(), "of the submodule");
    // A revision is asked for under the same condition.
    own.git(".", &["init", "-q"]);
    own.git(".", &["add", "Policyfile.lock.json"]);
    own.git(".", &["commit", "-q", "-m", "x"]);
    own.works("policy diff /Policyfile.rb --head");
    own.git(".", &["config", "core.sshCommand", &program]);
    own.fails("policy diff /Policyfile.rb --head", &["its configuration sets core.sshcommand"]);
}

/// A folder with `HEAD`, `objects` and `refs` is a repository for git, with a configuration that names programs. A clone has such
/// a folder as it has others.
#[test]
fn a_repository_that_is_hidden_in_a_folder_is_not_asked() {
    let own = place("name 'web'\n", &[]);
    own.write("policy/Policyfile.rb", "name 'web'\n");
    own.write("policy/Policyfile.lock.json", "{}");
    own.git("policy", &["init", "-q", "--bare", "."]);
    let blob = own.git("policy", &["hash-object", "-w", "HEAD"]);
    own.git("policy", &["update-index", "--add", "--cacheinfo", &format!("100644,{blob},file")]);
    let tree = own.git("policy", &["write-tree"]);
    let commit = own.git("policy", &["commit-tree", "-m", "x", &tree]);
    // `git show` shows a commit in the place of the lock, file by file.
    own.git("policy", &["update-index", "--add", "--cacheinfo", &format!("160000,{commit},Policyfile.lock.json")]);
    let tree = own.git("policy", &["write-tree"]);
    let commit = own.git("policy", &["commit-tree", "-m", "x", &tree]);
    own.git("policy", &["update-ref", "HEAD", &commit]);
    let ran = own.folder.join("ran");
    own.write("policy/info/attributes", "* diff=evil\n");
    own.git("policy", &["config", "diff.evil.textconv", &format!("touch {}; cat", ran.display())]);
    own.git("policy", &["config", "core.bare", "false"]);
    own.git("policy", &["config", "core.worktree", "."]);
    own.fails(
        "policy diff /policy/Policyfile.rb --head",
        &["git show HEAD:./Policyfile.lock.json", "not a git repository"],
    );
    assert!(!ran.exists());
    own.git(".", &["init", "-q"]);
    own.git(".", &["commit", "-q", "--allow-empty", "-m", "x"]);
    own.fails("policy diff /policy/Policyfile.rb --head", &["git show HEAD:./Policyfile.lock.json"]);
    assert!(!ran.exists());
}

/// Where nobody has exported to before, files of these names are somebody's own.
#[test]
fn an_export_replaces_an_earlier_export_and_nothing_else() {
    let own = place("name 'x'\nrun_list 'web'\ncookbook 'web', path: 'c/web'\n", &[WEB]);
    own.works("policy install /Policyfile.rb");
    own.write("out/.chef/config.rb", "mine\n");
    own.write("out/.chef/key.pem", "key\n");
    own.write("out/README.md", "mine\n");
    let out = own.folder.join("out");
    let read = |path: &str| own.read(&format!("out/{path}"));
    own.fails("policy export /Policyfile.rb /out", &["not clean", "out/.chef/config.rb", "out/README.md"]);
    own.fails("policy export /Policyfile.rb /out --force", &["out/README.md", "has no earlier export"]);
    assert_eq!([read(".chef/config.rb"), read("README.md")], ["mine\n", "mine\n"]);
    fs::remove_file(out.join("README.md")).unwrap();
    fs::remove_file(out.join(".chef/config.rb")).unwrap();
    own.works("policy export /Policyfile.rb /out");
    own.fails("policy export /Policyfile.rb /out", &["not clean", "out/.chef/config.rb"]);
    own.works("policy export /Policyfile.rb /out --force");
    assert_eq!(read(".chef/key.pem"), "key\n");
    assert!(read(".chef/config.rb").contains("policy_name 'x'"));
}

#[test]
fn a_policyfile_is_built_and_tested_as_its_folders_are_now() {
    let place = place("name 'web'\nrun_list 'web'\ncookbook 'web', path: 'c/web'\n", &[WEB]);
    // Without a lock it is said what to type.
    let install = "`wrun policy install [CONFIGURATION]/work/Policyfile.rb` writes it";
    place.fails("policy build /", &["No lockfile at", install]);
    place.works("policy install /Policyfile.rb");
    let said = place.output("policy build /").stderr;
    assert!(!said.contains("does not fit"), "{said}");
    assert!(place.folder.join("web.wasm").is_file());
    // What has changed since is built, and the lock stays as it is.
    let lock = place.json("Policyfile.lock.json");
    place.write("c/web/recipes/default.rb", "file '/etc/web.conf' do\n  content 'x'\nend\n");
    let said = place.output("policy test / --update").stderr;
    assert!(said.contains("Policyfile.lock.json does not fit what was built"), "{said}");
    let snapshots = fs::read_dir(place.folder.join("tests/snapshots")).unwrap();
    let mut texts = snapshots.map(|entry| fs::read_to_string(entry.unwrap().path()).unwrap());
    assert!(texts.all(|text| text.contains("/etc/web.conf")));
    assert_eq!(place.json("Policyfile.lock.json"), lock);
    place.works("policy test /");
    place.fails("policy build / --gems /", &["--gems is for a policy.toml"]);
}

#[test]
fn an_artifact_is_not_written_into_its_own_cookbook() {
    let place = place("name 'web'\nrun_list 'web'\ncookbook 'web', path: '.'\n", &[]);
    place.write("metadata.rb", WEB.1);
    place.write("recipes/default.rb", "");
    place.works("policy install /Policyfile.rb");
    place.fails("policy build /", &["would be a file of the cookbook in", "--output"]);
    place.works("policy build / --output /../out");
}
