//! Policies' folders: the skeleton is sound, and every mistake is told with file and line.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::{Path, PathBuf};

use artifact::{EMPTY_COMPONENT, Language, Runtime};
use author::policyfile::{Tools, lock_of_folder};
use author::{AuthorError, NoRuby, Options, PolicyFolder, Ruby, SdkSource, Start, create};
use contract::CookbookFiles as _;
use serde_json::{Value, json};

/// A stand-in for the SDK's folder: `create` looks at its name only.
fn sdk(below: &Path) -> Start {
    let path = below.join("sdk");
    fs::create_dir_all(&path).unwrap();
    fs::write(path.join("Cargo.toml"), "[package]\nname = \"wrun-sdk\"\n").unwrap();
    Start::Rust(SdkSource::Path(path))
}

/// A new policy, `hello`.
fn fresh() -> (tempfile::TempDir, PathBuf) {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().join("a/hello");
    create(&folder, "hello", &sdk(temporary.path())).unwrap();
    (temporary, folder)
}

#[test]
fn the_skeleton_is_a_policy() {
    let (_temporary, folder) = fresh();
    let policy = PolicyFolder::read(&folder, &mut NoRuby).unwrap();
    let manifest = policy.manifest();
    assert_eq!(manifest.name, "hello");
    assert_eq!(manifest.run_list, ["recipe[hello::default]"]);
    assert_eq!(manifest.needs.table()["paths"], json!(["/etc/hello.txt"]));
    assert_eq!(manifest.default_attributes["hello"]["greeting"], "Hello from the policy hello");
    let cookbook = manifest.cookbook("hello").unwrap();
    assert_eq!(cookbook.version, "0.1.0");
    let cargo = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
    assert!(cargo.contains("name = \"policy-hello\""), "{cargo}");
    for file in ["Cargo.toml", "policy.toml", "README.md", "src/lib.rs"] {
        assert!(!fs::read_to_string(folder.join(file)).unwrap().contains('@'), "{file} is filled in");
    }
    // The same folder is the same policy; another content is another one.
    assert_eq!(PolicyFolder::read(&folder, &mut NoRuby).unwrap().manifest(), manifest);
    fs::write(folder.join("cookbooks/hello/templates/more.j2"), "x").unwrap();
    assert_ne!(PolicyFolder::read(&folder, &mut NoRuby).unwrap().manifest().revision_id, manifest.revision_id);
}

#[test]
fn a_template_that_cannot_be_parsed_is_no_artifact() {
    let (_temporary, folder) = fresh();
    let template = folder.join("cookbooks/hello/templates/more.j2");
    for (text, line, said) in [
        ("one\n{% if x %}\ntwo\n", 2, "syntax error: unexpected end of input"),
        ("{{ greeting }\n", 1, "syntax error: unexpected `}`"),
    ] {
        fs::write(&template, text).unwrap();
        let error = refused(&folder);
        assert!(error.contains(&format!("cookbooks/hello/templates/more.j2:{line}: {said}")), "{error}");
    }
    fs::write(&template, "{% for one in all %}{{ one | unknown_filter }}{% endfor %}\n").unwrap();
    let recipes = folder.join("cookbooks/hello/src/recipes.rs");
    fs::write(&recipes, fs::read_to_string(&recipes).unwrap().replace("hello.txt.j2", "gone.j2")).unwrap();
    // Filters are looked up when a template is rendered, so that the next mistake is told.
    assert!(refused(&folder).contains("does not have the template `gone.j2`"));
}

#[test]
fn a_policy_file_is_wrong_where_its_mistake_is() {
    let (_temporary, folder) = fresh();
    let path = folder.join("policy.toml");
    let head = "name = \"hello\"\nrun_list = [\"hello\"]\n";
    for (rest, line, said) in [
        ("[needs]\npaths = [\"/a\"\n\n[default]\nx = 1\n", 4, "the list that begins here is not closed before line 6"),
        ("[default]\nx = \"\"\"a\n\n", 4, "the text that begins here is not closed before the end of the file"),
        ("[default]\nx = 99999999999999999999\n", 4, "the number 99999999999999999999 is out of range"),
        ("[default]\nx = 9223372036854775808\n", 4, "the number is out of range"),
    ] {
        fs::write(&path, format!("{head}{rest}")).unwrap();
        let error = PolicyFolder::read(&folder, &mut NoRuby).unwrap_err().to_string();
        assert!(error.contains(&format!("policy.toml:{line}: {said}")), "{error}");
    }
}

#[test]
fn a_new_policy_needs_no_sdk_and_names_no_place() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().join("core");
    create(&folder, "core", &Start::Rust(SdkSource::Carried)).unwrap();
    let text = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
    assert!(!text.contains('@') && !text.contains(temporary.path().to_str().unwrap()), "{text}");
    let cargo: toml::Table = text.parse().unwrap();
    let requirement = cargo["workspace"]["dependencies"]["wrun-sdk"].as_str().unwrap();
    let sdk = folder.join(cargo["patch"]["crates-io"]["wrun-sdk"]["path"].as_str().unwrap());
    let sdk: toml::Table = fs::read_to_string(sdk.join("Cargo.toml")).unwrap().parse().unwrap();
    assert!(sdk["package"]["version"].as_str().unwrap().starts_with(&format!("{requirement}.")));
    let ignored = fs::read_to_string(folder.join(".gitignore")).unwrap();
    assert!(ignored.lines().any(|line| line == ".wrun/"), "{ignored}");
}

#[test]
fn a_new_policy_in_ruby_is_a_policy() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().join("core");
    create(&folder, "hello", &Start::Ruby).unwrap();
    assert!(!folder.join("Cargo.toml").exists());
    let mut ruby = Says(Ok(json!({"name": "hello", "version": "0.1.0"})));
    let policy = PolicyFolder::read(&folder, &mut ruby).unwrap();
    assert_eq!(policy.manifest().run_list, ["recipe[hello::default]"]);
    assert_eq!(policy.manifest().cookbooks[0].language, Language::Ruby);
    let readme = fs::read_to_string(folder.join("README.md")).unwrap();
    assert!(readme.contains("`hello.wasm`") && !readme.contains('@'), "{readme}");
}

/// What is wrong with the cargo workspace of a policy, which is told before a compiler is looked for.
#[track_caller]
fn refused(folder: &Path) -> String {
    let mut ruby = Says(Ok(json!({"name": "web", "version": "1.2.0"})));
    let mut no_compiler = || unreachable!("nothing is to be compiled");
    author::build(folder, &Options::new(Path::new("/nowhere")), &mut ruby, &mut no_compiler).unwrap_err().to_string()
}

/// The compiler explains a method that does not exist; without it, the template has its usual name.
#[test]
fn a_misspelt_source_is_left_to_the_compiler() {
    let (_temporary, folder) = fresh();
    let recipes = folder.join("cookbooks/hello/src/recipes.rs");
    let text = fs::read_to_string(&recipes).unwrap();
    fs::write(&recipes, text.replace(".source(\"hello", ".sorce(\"helo")).unwrap();
    let mut is_asked = false;
    let mut compiler = || {
        is_asked = true;
        Err(author::build::ToolchainError::NoCacheFolder)
    };
    let mut ruby = Says(Ok(json!({})));
    let _error = author::build(&folder, &Options::new(Path::new("/nowhere")), &mut ruby, &mut compiler).unwrap_err();
    assert!(is_asked);
}

#[test]
fn a_workspace_that_lacks_a_cookbook_is_told_before_it_is_compiled() {
    let (_temporary, folder) = fresh();
    let write = |path: &str, text: &str| {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write("cookbooks/site/Cargo.toml", "[package]\nname = \"site\"\nversion = \"1.0.0\"\n");
    let error = refused(&folder);
    assert!(
        error.ends_with(
            "Cargo.toml: the cookbook site is not linked; add it to `[dependencies]`, and to `policy!` in src/lib.rs"
        ),
        "{error}"
    );
    // A cookbook in Ruby beside crates is fine, unless cargo is told to read it.
    fs::remove_dir_all(folder.join("cookbooks/site")).unwrap();
    write("cookbooks/web/metadata.rb", "name 'web'\n");
    let text = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
    write("Cargo.toml", &text.replace("resolver = \"3\"", "resolver = \"3\"\nmembers = [\"cookbooks/*\"]"));
    let error = refused(&folder);
    assert!(error.contains("Cargo.toml:5: `members` takes the cookbook web for a crate"), "{error}");
}

#[test]
fn a_component_that_lacks_something_is_refused_with_the_line_that_asks_for_it() {
    let (_temporary, folder) = fresh();
    let refused = |described: Value| {
        let policy = PolicyFolder::read(&folder, &mut NoRuby).unwrap();
        let error = policy.check_component(&serde_json::from_value(described).unwrap());
        error.map_or_else(|error| error.to_string().replace(folder.to_str().unwrap(), "."), |()| String::new())
    };
    let cookbook = |name: &str, recipes: Value, types: Value| json!({"name": name, "version": "1.0.0", "recipes": recipes, "types": types});
    let hello = cookbook("hello", json!(["default", "more"]), json!([]));
    assert_eq!(refused(json!({"cookbooks": [hello]})), "");
    assert_eq!(
        refused(json!({"cookbooks": [cookbook("hello", json!(["defualt"]), json!([]))]})),
        "./policy.toml:6: cookbook hello does not have the recipe `default`; did you mean `defualt`?"
    );
    let lacking = "./src/lib.rs:3: `policy!` does not name the cookbook hello, so the component is built without it; \
                   write `wrun_sdk::policy!(hello);`";
    assert_eq!(refused(json!({"cookbooks": []})), lacking);
    let stranger = refused(json!({"cookbooks": [hello, cookbook("site", json!([]), json!([]))]}));
    assert!(
        stranger.starts_with("./src/lib.rs:3: `policy!` names the cookbook site, which is not among"),
        "{stranger}"
    );
    assert_eq!(
        refused(json!({"cookbooks": [cookbook("hello", json!(["default"]), json!(["vhost", "vhost"]))]})),
        "./src/lib.rs:3: the resource type `vhost` is twice in cookbook hello; rename one of them"
    );
}

#[test]
fn a_resource_type_that_nobody_has_is_told_with_its_line() {
    let (_temporary, folder) = fresh();
    let recipes = folder.join("cookbooks/hello/src/recipes.rs");
    let refused = |code: &str, types: Value| {
        fs::write(&recipes, format!("// first\n{code}\n")).unwrap();
        let policy = PolicyFolder::read(&folder, &mut NoRuby).unwrap();
        let hello = json!({"name": "hello", "version": "1.0.0", "recipes": ["default"], "types": types});
        let error = policy.check_component(&serde_json::from_value(json!({"cookbooks": [hello]})).unwrap());
        error.map_or_else(|error| error.to_string().replace(folder.to_str().unwrap(), "."), |()| String::new())
    };
    let place = "./cookbooks/hello/src/recipes.rs:2: resource type";
    let slip = "custom(\"site_vhots\", name).declare()?;";
    let near = format!("{place} `site_vhots` does not exist; did you mean `site_vhost`?");
    assert_eq!(refused(slip, json!(["site_vhost"])), near);
    let none = format!("{place} `site_vhots` does not exist; the policy does not have types of its own");
    assert_eq!(refused(slip, json!([])), none);
    for fine in [
        "custom(\"site_vhost\", name)",
        "custom(\"file\", \"/srv/x\")",
        "custom(kind, name)",
        "self.custom(\"x\", 1)",
        "// custom(\"x\", 1)",
        "fn custom(a: &str, b: u8) {} custom(\"x\", 1)",
    ] {
        assert_eq!(refused(fine, json!(["site_vhost"])), "", "{fine}");
    }
}

#[test]
fn templates_and_recipes_that_do_not_exist_are_told_before_anything_is_compiled() {
    let (_temporary, folder) = fresh();
    let recipes = folder.join("cookbooks/hello/src/recipes.rs");
    let text = fs::read_to_string(&recipes).unwrap();
    fs::write(&recipes, text.replace("hello.txt.j2", "helo.txt.j2")).unwrap();
    let error = refused(&folder);
    let expect = "recipes.rs:7: cookbook hello does not have the template `helo.txt.j2`; did you mean `hello.txt.j2`?";
    assert!(error.ends_with(expect), "{error}");
    let temporary = tempfile::tempdir().unwrap();
    ruby_policy(temporary.path());
    fs::write(temporary.path().join("policy.toml"), "name = \"site\"\nrun_list = [\n\"web\",\n\"web::defalt\"]\n")
        .unwrap();
    let error = refused(temporary.path());
    let expect = "policy.toml:4: cookbook web does not have the recipe `defalt`; did you mean `default`?";
    assert!(error.ends_with(expect), "{error}");
}

#[test]
fn a_policy_in_ruby_that_gets_a_crate_is_told_which_files_to_write() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path();
    ruby_policy(folder);
    fs::create_dir_all(folder.join("cookbooks/site-x")).unwrap();
    fs::write(folder.join("cookbooks/site-x/Cargo.toml"), "[package]\nname = \"site-x\"\nversion = \"1.0.0\"\n")
        .unwrap();
    let error = refused(folder);
    let (what, files) = error.split_once("\n\nhint: ").unwrap();
    assert!(what.ends_with(&format!("site-x is a crate, but {} has no Cargo.toml", folder.display())), "{what}");
    // The files, taken as they are shown, are a workspace that has the cookbook.
    let (manifest, library) = files.split_once("    Cargo.toml\n").unwrap().1.split_once("    src/lib.rs\n").unwrap();
    assert_eq!(library.trim(), "wrun_sdk::policy!(site_x);");
    let manifest: String = manifest.lines().map(|line| format!("{}\n", line.trim_start())).collect();
    let table: toml::Table = manifest.parse().unwrap();
    assert_eq!(table["workspace"]["dependencies"]["site-x"]["path"].as_str(), Some("cookbooks/site-x"));
    assert!(table["workspace"].get("members").is_none());
    assert_eq!(table["dependencies"]["site-x"]["workspace"].as_bool(), Some(true));
    assert!(!manifest.contains("hello") && !manifest.contains('@'), "{manifest}");
}

#[test]
fn what_tools_leave_behind_is_no_part_of_a_cookbook() {
    let (_temporary, folder) = fresh();
    let revision = PolicyFolder::read(&folder, &mut NoRuby).unwrap().manifest().revision_id.clone();
    let cookbook = folder.join("cookbooks/hello");
    fs::create_dir_all(cookbook.join("target/release")).unwrap();
    fs::write(cookbook.join("target/release/hello.wasm"), "x").unwrap();
    assert_eq!(PolicyFolder::read(&folder, &mut NoRuby).unwrap().manifest().revision_id, revision);
    fs::write(cookbook.join("chefignore"), "*~\nnotes/*\n").unwrap();
    let with_ignore = PolicyFolder::read(&folder, &mut NoRuby).unwrap().manifest().revision_id.clone();
    fs::create_dir(cookbook.join("notes")).unwrap();
    fs::write(cookbook.join("notes/a"), "x").unwrap();
    fs::write(cookbook.join("README.md~"), "x").unwrap();
    assert_eq!(PolicyFolder::read(&folder, &mut NoRuby).unwrap().manifest().revision_id, with_ignore);
}

#[test]
fn new_policies_never_overwrite() {
    let (temporary, folder) = fresh();
    let sdk = sdk(temporary.path());
    assert!(matches!(create(&folder, "core", &sdk).unwrap_err(), AuthorError::NotEmpty { .. }));
    let empty = temporary.path().join("empty");
    fs::create_dir(&empty).unwrap();
    let git = SdkSource::Git { url: "https://example.com/\"x\"".into(), revision: Some("v1".into()) };
    create(&empty, "3.d", &Start::Rust(git)).unwrap();
    let cargo: toml::Table = fs::read_to_string(empty.join("Cargo.toml")).unwrap().parse().unwrap();
    let dependency = &cargo["workspace"]["dependencies"]["wrun-sdk"];
    assert_eq!(
        (dependency["git"].as_str(), dependency["rev"].as_str()),
        (Some("https://example.com/\"x\""), Some("v1"))
    );
    assert_eq!(cargo["package"]["name"].as_str(), Some("policy-3-d"));
    let target = temporary.path().join("other");
    assert!(matches!(create(&target, "a/b", &sdk).unwrap_err(), AuthorError::Name(_)));
    let error =
        create(&target, "x", &Start::Rust(SdkSource::Path(folder.join("cookbooks/hello")))).unwrap_err().to_string();
    assert!(error.contains("is not the folder of the SDK"), "{error}");
    assert!(!target.exists());
}

/// Replaces text in a file of a fresh policy and looks at the error that this makes.
#[track_caller]
fn check(file: &str, from: &str, to: &str, expect: &str) {
    let (_temporary, folder) = fresh();
    let path = folder.join(file);
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains(from), "{file} has {from}");
    fs::write(&path, text.replacen(from, to, 1)).unwrap();
    let error = PolicyFolder::read(&folder, &mut NoRuby).unwrap_err();
    let chain = match std::error::Error::source(&error) {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    };
    let expect = expect.replace("FOLDER", folder.to_str().unwrap());
    assert!(chain.starts_with(folder.to_str().unwrap()) && chain.contains(&expect), "{chain}\nhas no\n{expect}");
}

#[test]
fn mistakes_in_policy_toml_are_told_with_their_line() {
    let file = "policy.toml";
    check(file, "name = \"hello\"", "name = \"a b\"", "policy.toml:3: \"a b\" cannot be a policy's name");
    check(file, "name = \"hello\"", "nam = \"core\"", "policy.toml:3: unknown key `nam`; did you mean `name`?");
    check(file, "name = \"hello\"", "name = ", "policy.toml:3: ");
    check(file, "[needs]", "[needs]\nbeer = [\"a lot\"]", "policy.toml:21: unknown key `beer`");
    check(file, "[needs]", "[needs]\nfcts = [\"*\"]", "policy.toml:21: unknown key `fcts`, did you mean `facts`?");
    check(file, "[\"hello\"]", "[]", "policy.toml:6: Invalid run_list. run_list cannot be empty");
    check(file, "[\"hello\"]", "[\n\"hello\",\n\"role[web]\"]", "policy.toml:8: role[web] is a role");
    check(file, "[\"hello\"]", "[\"hello@1.0\"]", "policy.toml:6: recipe[hello@1.0] asks for a version");
    check(
        file,
        "[\"hello\"]",
        "[\"nginx\"]",
        "policy.toml:6: cookbook \"nginx\" is not available; the policy has hello",
    );
    check(
        file,
        "[needs]",
        "[named_run_list]\nx = \"hello\"\n[needs]",
        "policy.toml:21: this must be a list, not string \"hello\"",
    );
    check(
        file,
        "[needs]",
        "[named_run_list]\nx = [\"hello\",\n\"nginx\"]\n[needs]",
        "policy.toml:22: cookbook \"nginx\" is not available; the policy has hello",
    );
    check(file, "[needs]", "[named_run_list]\nx = [\"a\", \"/\"]\n[needs]", "policy.toml:21: run list item \"/\" has");
    check(
        file,
        "# cookbooks = [\"cookbooks/hello\", \"../shared/cookbooks/ntp\"]",
        "cookbooks = [\"nowhere\"]",
        "policy.toml:9: there is no cookbook in FOLDER/nowhere",
    );
    check(file, "\"Hello from", "inf #", "[default] has an attribute that a policy cannot have: Floating point");
    check(file, "\"Hello from", "2026-11-20 #", "You gave 2026-11-20 (Time)");
}

#[test]
fn mistakes_in_cookbooks_are_told_with_their_line() {
    let file = "cookbooks/hello/Cargo.toml";
    check(
        file,
        "name = \"hello\"",
        "name = \"bye\"",
        "Cargo.toml:3: the cookbook bye must lie in a folder of that name",
    );
    check(file, "name = \"hello\"", "name = \"a b\"", "Cargo.toml:3: \"a b\" cannot be a cookbook's name");
    check(file, "version = \"0.1.0\"", "version.workspace = true", "Cargo.toml:4: a cookbook states its own version");
    check(file, "version = \"0.1.0\"", "version = \"1.0.0-beta\"", "Cargo.toml:4: ");
    check(
        file,
        "# [package.metadata.cookbook]",
        "[package.metadata.cookbook]\ndepnds = {}",
        "unknown key `depnds`; did you mean `depends`?",
    );
    let depends = |text: &str| format!("[package.metadata.cookbook]\ndepends = {{ {text} }}");
    check(file, "# [package.metadata.cookbook]", &depends("ntp = \">= 1\""), "cookbook hello depends on \"ntp\"");
    check(
        file,
        "# [package.metadata.cookbook]",
        &depends("hello = \"~> 1.0\""),
        "needs hello ~> 1.0, but the policy has hello 0.1.0",
    );
    check(file, "# [package.metadata.cookbook]", &depends("hello = \"about 1\""), "Cargo.toml:");
}

#[test]
fn cookbooks_have_plain_files_only() {
    let (_temporary, folder) = fresh();
    std::os::unix::fs::symlink("/etc/passwd", folder.join("cookbooks/hello/files")).unwrap();
    let error = PolicyFolder::read(&folder, &mut NoRuby).unwrap_err().to_string();
    assert!(error.ends_with("cookbooks/hello/files is not a plain file; put the file itself there"), "{error}");
}

#[test]
fn cookbooks_are_ordered_as_they_load() {
    let (_temporary, folder) = fresh();
    let add = |name: &str, depends: &str| {
        let cookbook = folder.join("cookbooks").join(name);
        fs::create_dir_all(&cookbook).unwrap();
        let text = format!(
            "[package]\nname = \"{name}\"\nversion = \"1.2.3\"\n[package.metadata.cookbook]\ndepends = {{ {depends} }}\n"
        );
        fs::write(cookbook.join("Cargo.toml"), text).unwrap();
    };
    add("a", "");
    add("z", "a = \"~> 1.2\"");
    add("unused", "");
    let path = folder.join("policy.toml");
    let text = fs::read_to_string(&path).unwrap().replace("[\"hello\"]", "[\"z::x\", \"hello\"]");
    fs::write(&path, text).unwrap();
    let policy = PolicyFolder::read(&folder, &mut NoRuby).unwrap();
    let names: Vec<&str> = policy.manifest().cookbooks.iter().map(|cookbook| cookbook.name.as_str()).collect();
    assert_eq!(names, ["a", "z", "hello", "unused"]);

    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, format!("cookbooks = [\"cookbooks/hello\", \"cookbooks/../cookbooks/hello\"]\n{text}")).unwrap();
    assert!(matches!(PolicyFolder::read(&folder, &mut NoRuby).unwrap_err(), AuthorError::Twice { .. }));
    let within = PolicyFolder::read(&folder.join("src"), &mut NoRuby).unwrap_err();
    assert!(matches!(within, AuthorError::NoPolicy { .. }));
    let above = format!("the folder above it is one: {}", folder.display());
    assert!(within.to_string().ends_with(&above), "{within}");
    let outside = PolicyFolder::read(folder.parent().unwrap(), &mut NoRuby).unwrap_err().to_string();
    assert!(outside.ends_with("; start one with `wrun policy new`"), "{outside}");
    let file = PolicyFolder::read(&path, &mut NoRuby).unwrap_err().to_string();
    assert!(file.contains(": it is not a directory; "), "{file}");
}

#[test]
fn the_three_teams_policies_are_sound() {
    let policies = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../policies"));
    for name in ["base", "core", "database", "monitoring"] {
        let policy = PolicyFolder::read(&policies.join(name), &mut NoRuby).unwrap();
        assert_eq!(policy.manifest().name, name);
        assert!(!policy.manifest().cookbooks.is_empty());
    }
}

/// Answers for Ruby what a test says.
struct Says(Result<Value, String>);

impl Ruby for Says {
    fn runtime(&mut self) -> Result<Runtime, String> {
        Ok(Runtime::Shared { name: "ruby-4.0.0-1".into(), digest: "ab".repeat(32) })
    }

    fn metadata(&mut self, cookbook: &Path) -> Result<Value, String> {
        assert!(cookbook.join("metadata.rb").is_file());
        self.0.clone()
    }

    fn gems(&mut self, _question: Value) -> Result<Value, String> {
        unreachable!("its cookbooks name none")
    }
}

/// A policy with one Ruby cookbook, `web`.
fn ruby_policy(folder: &Path) {
    fs::create_dir_all(folder.join("cookbooks/web/recipes")).unwrap();
    fs::write(folder.join("policy.toml"), "name = \"site\"\nrun_list = [\"web\"]\n").unwrap();
    fs::write(folder.join("cookbooks/web/metadata.rb"), "name 'web'\nversion '1.2.0'\n").unwrap();
    fs::write(folder.join("cookbooks/web/recipes/default.rb"), "log 'hello'\n").unwrap();
}

#[test]
fn ruby_cookbooks_need_no_compiler() {
    let temporary = tempfile::tempdir().unwrap();
    ruby_policy(temporary.path());
    let mut ruby = Says(Ok(json!({"name": "web", "version": "1.2.0", "dependencies": {}})));
    let mut no_compiler = || unreachable!("nothing is to be compiled");
    let artifact =
        author::build(temporary.path(), &Options::new(Path::new("/nowhere")), &mut ruby, &mut no_compiler).unwrap();
    let manifest = artifact.manifest();
    assert_eq!(artifact.component(), EMPTY_COMPONENT);
    assert_eq!(manifest.runtime, ruby.runtime().unwrap());
    assert!(!manifest.has_own_code());
    assert_eq!((manifest.cookbooks[0].language, manifest.cookbooks[0].version.as_str()), (Language::Ruby, "1.2.0"));
    // Its files are those that Chef counts, so that its identifier is Chef's.
    assert!(artifact.read("web", "metadata.json").is_err());
    assert_eq!(artifact.read("web", "metadata.rb").unwrap(), b"name 'web'\nversion '1.2.0'\n");
    assert_eq!(artifact.read("web", "recipes/default.rb").unwrap(), b"log 'hello'\n");
}

#[test]
fn what_a_ruby_cookbook_says_of_itself_is_checked() {
    let check = |says: Result<Value, String>, expect: &str| {
        let temporary = tempfile::tempdir().unwrap();
        ruby_policy(temporary.path());
        let error = PolicyFolder::read(temporary.path(), &mut Says(says)).unwrap_err().to_string();
        assert!(error.contains("web/metadata.rb:1: ") && error.contains(expect), "{error}");
    };
    check(Err("undefined local variable or method 'nme'".into()), "'nme'");
    check(Ok(json!({"version": "1.0.0"})), "null cannot be a cookbook's name");
    check(Ok(json!({"name": "../web", "version": "1.0.0"})), "cannot be a cookbook's name");
    check(Ok(json!({"name": "web", "version": "one"})), "one");
    check(Ok(json!({"name": "web", "dependencies": {"ntp": 1}})), "dependencies");
    check(Ok(json!({"name": "web", "dependencies": {"ntp": ">= 1.0"}})), "depends on \"ntp\"");

    let temporary = tempfile::tempdir().unwrap();
    ruby_policy(temporary.path());
    let error = PolicyFolder::read(temporary.path(), &mut NoRuby).unwrap_err().to_string();
    assert!(error.contains("wrun policy build"), "{error}");
    // Released cookbooks need no Ruby to be read.
    fs::write(temporary.path().join("cookbooks/web/metadata.json"), r#"{"name": "web", "version": "3.0.0"}"#).unwrap();
    let policy = PolicyFolder::read(temporary.path(), &mut Says(Err("is not asked".into()))).unwrap();
    assert_eq!(policy.manifest().cookbooks[0].version, "3.0.0");
}

#[test]
fn folders_without_a_cookbook_are_known() {
    let (_temporary, folder) = fresh();
    for name in ["cookbooks/ntp/recipes", "cookbooks/.git", "cookbooks/empty"] {
        fs::create_dir_all(folder.join(name)).unwrap();
    }
    fs::write(folder.join("cookbooks/notes.txt"), "").unwrap();
    let left_out = PolicyFolder::read(&folder, &mut NoRuby).unwrap().left_out().to_vec();
    assert_eq!(left_out, [folder.join("cookbooks/empty"), folder.join("cookbooks/ntp")]);
    // Who names the cookbooks has left the others out.
    let settings = fs::read_to_string(folder.join("policy.toml")).unwrap();
    fs::write(folder.join("policy.toml"), format!("cookbooks = [\"cookbooks/hello\"]\n{settings}")).unwrap();
    assert!(PolicyFolder::read(&folder, &mut NoRuby).unwrap().left_out().is_empty());
}

#[test]
fn attack_a_policys_folder_that_is_exchanged_for_a_link_stays_the_one_that_was_opened() {
    let temporary = tempfile::tempdir().unwrap();
    let path = |name: &str| temporary.path().join(name);
    fs::create_dir_all(path("policies")).unwrap();
    fs::write(path("policies/site.wasm"), "another team's").unwrap();
    ruby_policy(&path("site"));
    let home = author::open_policy(&path("site")).unwrap();
    let exchange = || {
        fs::rename(path("site"), path("away")).unwrap();
        std::os::unix::fs::symlink("policies", path("site")).unwrap();
    };
    exchange();
    let mut ruby = Says(Ok(json!({"name": "web", "version": "1.2.0"})));
    fs::create_dir_all(path("policies/cookbooks/web")).unwrap();
    fs::write(path("policies/cookbooks/web/metadata.rb"), "").unwrap();
    let policy = PolicyFolder::read_with(&home, None, &mut ruby, &Tools::offline()).unwrap();
    let artifact = policy.artifact(EMPTY_COMPONENT).unwrap();
    assert_eq!(artifact.read("web", "metadata.rb").unwrap(), b"name 'web'\nversion '1.2.0'\n");
    // The artifact, the lock and what tests and trials leave.
    author::store_in(&artifact, policy.home()).unwrap();
    author::store_in(&artifact, &author::below_policy(&home, ".wrun/dev").unwrap()).unwrap();
    author::write_below(&home, "tests/snapshots/debian.json", b"{}").unwrap();
    lock_of_folder(&policy, true).unwrap();
    for made in ["site.wasm", ".wrun/dev/site.wasm", "tests/snapshots/debian.json", "policy.lock.json"] {
        assert!(path("away").join(made).is_file(), "{made}");
    }
    assert_eq!(fs::read_to_string(path("policies/site.wasm")).unwrap(), "another team's");
    let mut left: Vec<_> = fs::read_dir(path("policies")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["cookbooks", "site.wasm"]);
}

#[test]
fn attack_gems_and_files_of_a_policy_do_not_lead_out_of_its_folder() {
    let temporary = tempfile::tempdir().unwrap();
    let (folder, secrets) = (temporary.path().join("site"), temporary.path().join("secrets"));
    fs::create_dir_all(secrets.join("backup-2024")).unwrap();
    ruby_policy(&folder);
    let metadata = json!({"name": "web", "version": "1.2.0", "gems": [["backup"]]});
    let read = || PolicyFolder::read(&folder, &mut Says(Ok(metadata.clone()))).map(drop).unwrap_err().to_string();
    std::os::unix::fs::symlink(&secrets, folder.join("gems")).unwrap();
    let error = read();
    assert!(error.contains("gems is a link that leads out of the policy's folder"), "{error}");
    std::os::unix::fs::symlink(secrets.join("chefignore"), folder.join("cookbooks/web/chefignore")).unwrap();
    fs::write(secrets.join("chefignore"), "7391\n").unwrap();
    let error = text::error_chain(&PolicyFolder::read(&folder, &mut Says(Ok(metadata.clone()))).map(drop).unwrap_err());
    assert!(error.contains("web/chefignore") && error.contains("is a link that leads out"), "{error}");
}
