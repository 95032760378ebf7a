//! `wrun search`, `role`, `environment` and `data-bag`: what they show and change, what they refuse, many at once, and killed at any
//! moment.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod kept;

use serde_json::{Value, json};
use specs::Program;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

const SECRET: &str = "test-only-secret-not-a-credential";

/// A program whose settings name the folders of a repository.
struct Repository {
    program: Program,
}

impl Repository {
    fn new() -> Self {
        let repository = Self { program: Program::new().unwrap() };
        let mut settings = String::new();
        for key in ["roles", "environments", "data_bags"] {
            fs::create_dir(repository.path(key)).unwrap();
            settings.push_str(&format!("{key} = {:?}\n", repository.path(key)));
        }
        repository.write("wrun.toml", &settings);
        repository
    }

    fn path(&self, name: &str) -> PathBuf {
        self.program.configuration().join(name)
    }

    fn write(&self, name: &str, text: &str) -> String {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path.display().to_string()
    }

    fn json(&self, name: &str) -> Value {
        serde_json::from_str(&fs::read_to_string(self.path(name)).unwrap()).unwrap()
    }

    /// Standard output of a command.
    #[track_caller]
    fn shows(&self, arguments: &[&str]) -> String {
        self.program.run(arguments).unwrap().expect_code(0).unwrap().stdout
    }

    /// Standard error of a command.
    #[track_caller]
    fn says(&self, code: i32, arguments: &[&str]) -> String {
        self.program.run(arguments).unwrap().expect_code(code).unwrap().stderr
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(self.program.executable());
        command.args(arguments).env_clear().envs(self.program.environment()).env("PATH", "/usr/bin:/bin");
        command.stdin(Stdio::null());
        command
    }

    /// Runs a command with an editor, which is a shell script with the draft as `$1`.
    fn edits(&self, script: &str, arguments: &[&str]) -> (Option<i32>, String) {
        let script = self.write("editor.sh", script);
        let drafts = self.path("drafts");
        fs::create_dir_all(&drafts).unwrap();
        let editor = format!("sh {script}");
        let ended = self.command(arguments).env("TMPDIR", drafts).env("EDITOR", editor).output().unwrap();
        (ended.status.code(), String::from_utf8(ended.stderr).unwrap())
    }
}

#[test]
fn roles_are_created_changed_and_deleted() {
    let repository = Repository::new();
    repository.shows(&["role", "create", "web", "--description", "sites", "--run-list", "nginx,role[base]"]);
    assert_eq!(repository.shows(&["role", "list"]), "web\n");
    let expected = json!({
        "name": "web", "description": "sites", "json_class": "Chef::Role", "chef_type": "role", "default_attributes": {},
        "override_attributes": {}, "run_list": ["recipe[nginx]", "role[base]"], "env_run_lists": {},
    });
    assert_eq!(repository.json("roles/web.json"), expected);
    let shown: Value = serde_json::from_str(&repository.shows(&["role", "show", "web"])).unwrap();
    assert_eq!(shown, expected);
    assert!(repository.says(43, &["role", "create", "web"]).contains("there is a role \"web\" already"));
    assert!(repository.says(43, &["role", "show", "wep"]).contains("there is no role \"wep\"; did you mean `web`?"));
    assert!(repository.says(43, &["role", "show", "q"]).contains("`wrun role list` lists those"));
    assert!(repository.says(43, &["role", "create", "../x"]).contains("cannot be the name of a role"));

    repository.shows(&["role", "run-list", "add", "web", "tls", "--after", "nginx"]);
    repository.shows(&["role", "run-list", "remove", "web", "role[base]"]);
    repository.shows(&["role", "run-list", "replace", "web", "tls", "certs"]);
    repository.shows(&["role", "env-run-list", "set", "web", "prod", "nginx,waf"]);
    let role = repository.json("roles/web.json");
    assert_eq!(role["run_list"], json!(["recipe[nginx]", "recipe[certs]"]));
    assert_eq!(role["env_run_lists"], json!({"prod": ["recipe[nginx]", "recipe[waf]"]}));
    let missing = repository.says(43, &["role", "run-list", "remove", "web", "z"]);
    assert!(missing.contains("recipe[z] is not in the run list; it has: recipe[nginx], recipe[certs]"), "{missing}");
    assert!(repository.says(43, &["role", "run-list", "add", "web", "recipe[z"]).contains("recipe[z"));
    assert!(repository.says(0, &["role", "run-list", "add", "web", "nginx"]).contains("nothing to change"));
    repository.shows(&["role", "env-run-list", "clear", "web", "prod"]);
    assert_eq!(repository.json("roles/web.json")["env_run_lists"], json!({"prod": []}));

    let file = repository.write("new.json", "{ \"name\": \"db\", // a comment\n\"run_list\": [\"mysql\"] }");
    repository.shows(&["role", "from-file", &file]);
    assert_eq!(repository.shows(&["role", "list", "-F", "json"]), "{\"version\":1,\"roles\":[\"db\",\"web\"]}\n");
    let bad = repository.write("bad.json", "{ \"name\": \"mail\",\n\"runlist\": [] }");
    let refused = repository.says(43, &["role", "from-file", &file, &bad]);
    assert!(refused.contains("bad.json:2: a role has no key \"runlist\""), "{refused}");
    assert!(repository.says(43, &["role", "delete", "db", "gone"]).contains("there is no role \"gone\""));
    assert_eq!(repository.shows(&["role", "bulk-delete", "d.*"]), "db\n");
    repository.shows(&["role", "bulk-delete", "d.*", "--yes"]);
    repository.shows(&["role", "delete", "web"]);
    assert_eq!(repository.shows(&["role", "list"]), "");
    let nowhere = Program::new().unwrap().run(&["role", "list"]).unwrap().expect_code(43).unwrap().stderr;
    assert!(nowhere.contains("no directory of roles is set: name one with `roles = \"DIR\"`"), "{nowhere}");
}

#[test]
fn drafts_are_checked_and_kept_where_they_cannot_be_saved() {
    let repository = Repository::new();
    repository.shows(&["role", "create", "web"]);
    let before = repository.json("roles/web.json");
    let edit = |script: &str| repository.edits(script, &["role", "edit", "web"]);
    let (code, said) = edit("sed -i 's/\"run_list\": .*/\"run_list\": [\"a\"],/' $1");
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(repository.json("roles/web.json")["run_list"], json!(["recipe[a]"]));
    assert!(edit("true").1.contains("nothing to change"));
    for (script, expect) in [
        ("echo '{' > $1", "a key in quotation marks must follow"),
        ("sed -i 's/\"web\"/\"db\"/' $1", "it must be \"web\""),
        ("sed -i 's/recipe.a/recipe[/' $1", "must be recipe[] or role[]"),
        ("exit 3", "nothing was changed"),
        ("echo '{}' > $WRUN_OTHER; true", "nothing to change"),
    ] {
        let (_, said) = edit(script);
        assert!(said.contains(expect), "{script}: {said}");
        if let Some(place) = said.split("your version is in ").nth(1) {
            let place = place.split([':', ';', '\n']).next().unwrap();
            assert!(fs::read_to_string(place).is_ok(), "{place} is kept");
        }
        assert_eq!(repository.json("roles/web.json")["run_list"], json!(["recipe[a]"]), "{script}");
    }
    // Somebody else was quicker.
    let other = repository.path("roles/web.json");
    let mut changed = before;
    changed["description"] = json!("theirs");
    let theirs = repository.write("theirs.json", &changed.to_string());
    let (code, said) = edit(&format!("sed -i 's/recipe.a./recipe[mine]/' $1; cp {theirs} {}", other.display()));
    assert_eq!(code, Some(43));
    assert!(said.contains("the role \"web\" has changed meanwhile") && said.contains("edit it again"), "{said}");
    assert_eq!(repository.json("roles/web.json")["description"], "theirs");
}

#[test]
fn documents_in_ruby_are_shown_and_left_to_their_files() {
    let repository = Repository::new();
    let ruby = "name 'old'\nrun_list 'recipe[a]'\ndefault_attributes 'x' => { 'y' => 1 }\n";
    repository.write("roles/teams/old.rb", ruby);
    let shown: Value = serde_json::from_str(&repository.shows(&["role", "show", "old"])).unwrap();
    assert_eq!([&shown["run_list"], &shown["default_attributes"]], [&json!(["recipe[a]"]), &json!({"x": {"y": 1}})]);
    for arguments in
        [&["role", "edit", "old"][..], &["role", "run-list", "add", "old", "b"], &["role", "create", "old"]]
    {
        let said = repository.says(43, arguments);
        assert!(said.contains("teams/old.rb"), "{said}");
    }
    assert_eq!(fs::read_to_string(repository.path("roles/teams/old.rb")).unwrap(), ruby);
    assert_eq!(repository.shows(&["search", "role", "default_attributes_x_y:1", "-i"]), "old\n");
    repository.write("roles/bad.rb", "name 'bad'\nraise 'no'\n");
    let said = repository.says(43, &["role", "show", "bad"]);
    assert!(said.contains("bad.rb:2 cannot be evaluated: no"), "{said}");
}

#[test]
fn environments_are_created_compared_and_deleted() {
    let repository = Repository::new();
    repository.shows(&["environment", "create", "prod", "-d", "live"]);
    let file = repository.write(
        "test.json",
        r#"{"name": "test", "cookbook_versions": {"ntp": "~> 2.0"}, "merge_strategies": {"a": "merge"}}"#,
    );
    repository.shows(&["environment", "from-file", &file]);
    assert_eq!(repository.shows(&["environment", "list"]), "_default\nprod\ntest\n");
    assert_eq!(repository.json("environments/test.json")["merge_strategies"], json!({"a": "merge"}));
    assert_eq!(
        repository.shows(&["environment", "compare", "prod", "test"]),
        "cookbook  prod  test\nntp       any   ~> 2.0\n"
    );
    let (code, said) = repository.edits(
        "sed -i 's/\"cookbook_versions\": {}/\"cookbook_versions\": {\"ntp\": \"new\"}/' $1",
        &["environment", "edit", "prod"],
    );
    assert!(code == Some(43) && said.contains("the constraint on ntp is \"new\""), "{said}");
    for arguments in [&["environment", "delete", "_default"][..], &["environment", "create", "_default"]] {
        assert!(repository.says(43, arguments).contains("_default"));
    }
    assert!(repository.shows(&["environment", "show", "_default"]).contains("The default Chef environment"));
    repository.shows(&["environment", "delete", "prod"]);
    assert_eq!(repository.shows(&["environment", "list"]), "_default\ntest\n");
}

#[test]
fn items_are_encrypted_and_opened_with_their_secret() {
    let repository = Repository::new();
    let secret = repository.write("secret", &format!("{SECRET}\n"));
    let file = repository.write("ann.json", r#"{"id": "ann", "password": "hunter2", "groups": ["a"]}"#);
    repository.shows(&["data-bag", "create", "users"]);
    assert!(repository.says(43, &["data-bag", "create", "users"]).contains("already"));
    assert!(repository.says(43, &["data-bag", "create", "node"]).contains("search index"));
    assert!(repository.says(43, &["data-bag", "create", "../x"]).contains("cannot be the name of a data bag"));
    assert!(repository.says(43, &["data-bag", "from-file", "user", &file]).contains("did you mean `users`?"));
    let no_secret = repository.says(43, &["data-bag", "from-file", "users", &file, "--encrypt"]);
    assert!(no_secret.contains("--secret-file FILE"), "{no_secret}");
    repository.shows(&["data-bag", "from-file", "users", &file, "--secret-file", &secret]);
    let kept = fs::read_to_string(repository.path("data_bags/users/ann.json")).unwrap();
    assert!(!kept.contains("hunter2") && kept.contains("\"version\": 3") && kept.contains("aes-256-gcm"), "{kept}");
    let mode = fs::metadata(repository.path("data_bags/users/ann.json")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    // The same once more is not a change, though it would be encrypted otherwise.
    let again = repository.says(0, &["data-bag", "from-file", "users", &file, "--secret-file", &secret]);
    assert!(again.contains("nothing to change"), "{again}");
    assert_eq!(fs::read_to_string(repository.path("data_bags/users/ann.json")).unwrap(), kept);

    let shown = repository.program.run(&["data-bag", "show", "users", "ann"]).unwrap().expect_code(0).unwrap();
    assert!(!shown.stdout.contains("hunter2") && shown.stderr.contains("is shown so"), "{}", shown.stderr);
    let open = repository.shows(&["data-bag", "show", "users", "ann", "--secret-file", &secret]);
    assert_eq!(serde_json::from_str::<Value>(&open).unwrap()["password"], "hunter2");
    let other = repository.write("other", "another");
    let wrong = repository.says(43, &["data-bag", "show", "users", "ann", "--secret-file", &other]);
    assert!(wrong.contains("users/ann\": ") && wrong.contains("the secret is another one"), "{wrong}");
    let empty = repository.write("empty", "\n");
    assert!(repository.says(43, &["data-bag", "show", "users", "ann", "--secret-file", &empty]).contains("empty"));

    // A file that is encrypted already is kept as it is, and not encrypted twice.
    let encrypted = repository.write("encrypted.json", &kept.replace("\"ann\"", "\"bob\""));
    repository.shows(&["data-bag", "from-file", "users", &encrypted]);
    let twice = repository.says(43, &["data-bag", "from-file", "users", &encrypted, "--secret-file", &secret]);
    assert!(twice.contains("encrypted already"), "{twice}");

    // An editor sees the plain values, and the file has them encrypted again.
    let settings = fs::read_to_string(repository.path("wrun.toml")).unwrap();
    let edit = ["data-bag", "edit", "users", "ann"];
    let refused = repository.edits("true", &edit);
    assert!(refused.0 == Some(43) && refused.1.contains("no secret is known"), "{}", refused.1);
    repository.write("wrun.toml", &format!("{settings}encrypted_data_bag_secret = {secret:?}\n"));
    let (code, said) = repository.edits("grep -q hunter2 $1 && sed -i s/hunter2/hunter3/ $1", &edit);
    assert_eq!(code, Some(0), "{said}");
    let kept = fs::read_to_string(repository.path("data_bags/users/ann.json")).unwrap();
    assert!(!kept.contains("hunter") && kept.contains("aes-256-gcm"), "{kept}");
    let open = repository.shows(&["data-bag", "show", "users", "ann"]);
    assert_eq!(
        serde_json::from_str::<Value>(&open).unwrap(),
        json!({"id": "ann", "password": "hunter3", "groups": ["a"]})
    );
    let (_, said) = repository.edits("echo '{\"id\": \"ann\"' > $1", &edit);
    assert!(said.contains("not encrypted: remove it"), "{said}");
    let place = said.split("your version is in ").nth(1).unwrap().split(" (").next().unwrap();
    assert_eq!(fs::metadata(place).unwrap().permissions().mode() & 0o777, 0o600);

    // Plain items stay plain.
    let (code, said) =
        repository.edits("echo '{\"id\": \"open\", \"a\": 1}' > $1", &["data-bag", "create", "notes", "open"]);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(repository.json("data_bags/notes/open.json"), json!({"id": "open", "a": 1}));
    assert_eq!(repository.shows(&["data-bag", "list"]), "notes\nusers\n");
    assert_eq!(repository.shows(&["data-bag", "show", "users"]), "ann\nbob\n");
    assert!(repository.says(43, &["data-bag", "delete", "users", "zed"]).contains("`wrun data-bag show users`"));
    assert!(repository.says(43, &["data-bag", "delete", "users"]).contains("remove the whole data bag with --all"));
    repository.shows(&["data-bag", "delete", "users", "bob"]);
    repository.shows(&["data-bag", "delete", "users", "--all"]);
    assert_eq!(repository.shows(&["data-bag", "list"]), "notes\n");
}

/// What Chef encrypted in its three formats is shown, and a changed one is refused.
#[test]
fn items_of_chef_are_read_in_all_formats() {
    let repository = Repository::new();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/vectors/encrypted_data_bag_values.json");
    let vectors: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let secret = repository.write("secret", vectors["secret"].as_str().unwrap());
    for (number, case) in vectors["cases"].as_array().unwrap().iter().enumerate() {
        let item = json!({"id": format!("c{number}"), "value": case["encrypted"]});
        repository.write(&format!("data_bags/chef/c{number}.json"), &item.to_string());
        let shown = repository.shows(&["data-bag", "show", "chef", &format!("c{number}"), "--secret-file", &secret]);
        assert_eq!(serde_json::from_str::<Value>(&shown).unwrap()["value"], case["value"]);
    }
}

#[test]
fn searches_find_nodes_roles_environments_and_items() {
    let repository = Repository::new();
    for (name, list) in [("web1", "nginx,role[base]"), ("db1", "mysql")] {
        repository.shows(&["node", "create", name, "--run-list", list]);
    }
    repository.shows(&["node", "attribute", "set", "-N", "web1", "site.name=berlin", "site.racks=[1,22]"]);
    repository.shows(&["node", "tag", "add", "-N", "web1", "edge"]);
    repository.write("data_bags/users/ann.json", r#"{"id": "ann", "uid": 1000, "note": "likes (brackets)"}"#);
    repository.write("data_bags/users/bob.json", r#"{"id": "bob", "uid": 99}"#);
    repository.shows(&["role", "create", "base", "-r", "ntp"]);
    repository.shows(&["environment", "create", "prod"]);
    let found = |arguments: &[&str]| repository.shows(&[&["search"], arguments, &["-i"]].concat());
    assert_eq!(found(&["node", "*:*"]), "db1\nweb1\n");
    assert_eq!(found(&["*:*"]), "db1\nweb1\n", "nodes are searched where no index is named");
    assert_eq!(found(&["node", "site_name:berlin AND role:base"]), "web1\n");
    assert_eq!(found(&["node", "tags:edge OR recipe:mysql"]), "db1\nweb1\n");
    assert_eq!(found(&["node", "site_racks:[20 TO 30]"]), "web1\n");
    assert_eq!(found(&["edge"]), "web1\n", "a word is looked for where people know nodes by");
    assert_eq!(found(&["users", "uid:[100 TO *]"]), "ann\n");
    assert_eq!(found(&["users", "note:\\(brackets\\)"]), "ann\n");
    assert_eq!(found(&["users", "note:none"]), "");
    assert_eq!(found(&["role", "run_list:recipe\\[ntp\\]"]), "base\n");
    assert_eq!(found(&["environment", "name:prod"]), "prod\n");

    let shown =
        repository.program.run(&["search", "node", "name:web1", "-a", "site.name", "-a", "site.racks"]).unwrap();
    assert_eq!(shown.stdout, "web1:\n  site.name: berlin\n  site.racks: [1,22]\n\n");
    assert!(shown.stderr.contains("1 found"), "{}", shown.stderr);
    let summary = repository.shows(&["search", "edge"]);
    assert!(summary.contains("run_list: recipe[nginx], role[base]") && summary.contains("tags: edge"), "{summary}");
    let json: Value = serde_json::from_str(&repository.shows(&["search", "users", "uid:99", "-F", "json"])).unwrap();
    assert_eq!(
        [&json["total"], &json["rows"][0]["name"], &json["rows"][0]["value"]["uid"]],
        [&json!(1), &json!("bob"), &json!(99)]
    );
    let rows: Value = serde_json::from_str(&repository.shows(&["search", "users", "*:*", "-i", "-F", "json"])).unwrap();
    assert_eq!(rows["rows"], json!(["ann", "bob"]));
    let whole: Value = serde_json::from_str(&repository.shows(&["search", "edge", "-F", "json"])).unwrap();
    assert!(!whole.to_string().contains("wrun_"), "{whole}");

    let refused = |arguments: &[&str], why: &str| {
        let said = repository.says(43, &[&["search"], arguments].concat());
        assert!(said.contains(why), "{said}");
    };
    refused(&["user", "*:*"], "the index \"user\" does not exist; did you mean `users`?");
    refused(&["users"], "`wrun search users '*:*'` finds everything");
    refused(&["node", "name:(a"], "at character 6: a `)` is missing");
    refused(&["node", "name:a~"], "`~` is not supported");
    refused(&["node", &format!("name:{}", "(".repeat(5_000))], "nested more than 200 deep");
    refused(&["node", &"a:b ".repeat(2_000)], "more than 1024 terms");
    repository.write("data_bags/users/bad.json", "{\n\"id\": \"other\"}");
    refused(&["users", "*:*"], "bad.json:2: `id` is \"other\", and it must be \"bad\"");
}

#[test]
fn fifty_at_once_lose_nothing() {
    let repository = Repository::new();
    repository.shows(&["role", "create", "web"]);
    let start = |number: u32| {
        let mut command = repository.command(&["role", "run-list", "add", "web", &format!("r{number}")]);
        command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let all: Vec<_> = (0..50).map(start).collect();
    for one in all {
        let ended = one.wait_with_output().unwrap();
        assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    }
    assert_eq!(repository.json("roles/web.json")["run_list"].as_array().unwrap().len(), 50);
    // Of fifty who create the same item one wins, and the others are told.
    let file = repository.write("x.json", r#"{"name": "x"}"#);
    drop(file);
    let start = |_: u32| repository.command(&["role", "create", "x"]).stderr(Stdio::piped()).spawn().unwrap();
    let all: Vec<_> = (0..50).map(start).collect();
    let codes: Vec<_> = all.into_iter().map(|one| one.wait_with_output().unwrap().status.code()).collect();
    assert_eq!(codes.iter().filter(|code| **code == Some(0)).count(), 1, "{codes:?}");
    assert_eq!(codes.iter().filter(|code| **code == Some(43)).count(), 49, "{codes:?}");
}

#[test]
fn a_killed_command_leaves_the_old_document_or_the_new_one() {
    let repository = Repository::new();
    repository.shows(&["role", "create", "web"]);
    let secret = repository.write("secret", SECRET);
    repository.shows(&["data-bag", "create", "users"]);
    let mut list = json!([]);
    let mut both = [0, 0];
    for round in 0..40_u64 {
        let item = format!("recipe[r{round}]");
        let mut child =
            repository.command(&["role", "run-list", "set", "web", &item]).stderr(Stdio::null()).spawn().unwrap();
        let file = repository.write("ann.json", &json!({"id": "ann", "round": round}).to_string());
        let encrypting = &["data-bag", "from-file", "users", &file, "--secret-file", &secret];
        let mut other = repository.command(encrypting).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_micros(round * 1_000));
        child.kill().unwrap();
        other.kill().unwrap();
        child.wait().unwrap();
        other.wait().unwrap();
        let now = repository.json("roles/web.json")["run_list"].clone();
        let is_new = now == json!([item]);
        assert!(is_new || now == list, "{now} is neither {list} nor {item}");
        both[usize::from(is_new)] += 1;
        list = now;
        if repository.path("data_bags/users/ann.json").exists() {
            let shown = repository.shows(&["data-bag", "show", "users", "ann", "--secret-file", &secret]);
            assert!(serde_json::from_str::<Value>(&shown).unwrap()["round"].is_u64(), "{shown}");
        }
    }
    assert!(both[0] > 0, "no child was killed before it had saved: {both:?}");
    repository.shows(&["role", "run-list", "set", "web", "last"]);
    let left: Vec<_> =
        fs::read_dir(repository.path("roles")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["web.json"], "what was unfinished is gone");
}

/// Whatever lies in the folders: pipes, devices, links without end, binary and huge files end in an error with the file's name.
#[test]
fn odd_files_are_refused() {
    let repository = Repository::new();
    let pipe = repository.path("roles/pipe.json");
    nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
    std::os::unix::fs::symlink("/dev/zero", repository.path("roles/zero.json")).unwrap();
    std::os::unix::fs::symlink("..", repository.path("roles/loop")).unwrap();
    fs::write(repository.path("environments/binary.json"), [0xff, 0xfe, 0]).unwrap();
    fs::write(repository.path("environments/huge.json"), vec![b' '; 5 << 20]).unwrap();
    fs::write(repository.path("environments/twice.json"), "{\"name\": \"twice\",\n\"name\": \"twice\"}").unwrap();
    let looped = repository.says(43, &["role", "list"]);
    assert!(looped.contains("directories below each other without end"), "{looped}");
    fs::remove_file(repository.path("roles/loop")).unwrap();
    for (name, why) in [("pipe", "it is not a plain file"), ("zero", "it is not a plain file")] {
        let said = repository.says(43, &["role", "show", name]);
        assert!(said.contains(&format!("{name}.json cannot be read")) && said.contains(why), "{said}");
    }
    for (name, why) in [("binary", "not UTF-8"), ("huge", "more than"), ("twice", "twice.json:2: the key")] {
        let said = repository.says(43, &["environment", "show", name]);
        assert!(said.contains(&format!("{name}.json")) && said.contains(why), "{said}");
    }
    assert!(repository.says(43, &["role", "from-file", &pipe.display().to_string()]).contains("plain file"));
    // A linked file is changed where it lies, and stays a link.
    let real = repository.write("real.json", r#"{"name": "linked"}"#);
    std::os::unix::fs::symlink(&real, repository.path("roles/linked.json")).unwrap();
    repository.shows(&["role", "run-list", "set", "linked", "a"]);
    assert!(fs::symlink_metadata(repository.path("roles/linked.json")).unwrap().is_symlink());
    assert_eq!(repository.json("real.json")["run_list"], json!(["recipe[a]"]));
}

/// What a shell is offered for the last word of a command line.
fn offered(repository: &Repository, words: &[&str]) -> Vec<String> {
    let mut command = repository.command(&["--", "wrun"]);
    command.args(words).env("_WRUN_COMPLETE", "bash").env("_CLAP_IFS", "\n");
    command.env("_CLAP_COMPLETE_INDEX", words.len().to_string()).env("_CLAP_COMPLETE_COMP_TYPE", "9");
    let ended = command.output().unwrap();
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    String::from_utf8(ended.stdout).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn a_shell_completes_saved_names() {
    let repository = Repository::new();
    repository.shows(&["node", "create", "web1"]);
    let base = repository.write("base.yaml", "default_attributes: {a: 1}");
    repository.shows(&["layer", "add", &base]);
    repository.shows(&["node", "create", "web2"]);
    repository.shows(&["role", "create", "front"]);
    repository.shows(&["environment", "create", "prod"]);
    repository.write("data_bags/users/ann.json", r#"{"id": "ann"}"#);
    repository.write("policies/mail.wasm", "");
    let policies = repository.path("policies").display().to_string();
    let check = |words: &[&str], expect: &[&str]| assert_eq!(offered(&repository, words), expect, "{words:?}");
    check(&["node", "tag", "list", "-N", "we"], &["web1", "web2"]);
    check(&["node", "delete", "web2"], &["web2"]);
    check(&["layer", "show", "-N", "web1", "b"], &["base"]);
    check(&["layer", "move", "-N", "web1", "base", "--before", "b"], &["base"]);
    check(&["layer", "show", "-N", "web2", "b"], &[]);
    check(&["role", "show", "f"], &["front"]);
    check(&["role", "env-run-list", "add", "front", "p"], &["prod"]);
    check(&["role", "create", "f"], &[]);
    check(&["environment", "edit", ""], &["_default", "prod", "--config", "--environments", "--help"]);
    check(&["node", "environment", "set", "-N", "web1", "pr"], &["prod"]);
    check(&["data-bag", "edit", "u"], &["users"]);
    check(&["data-bag", "edit", "users", "a"], &["ann"]);
    check(&["search", "us"], &["users"]);
    check(&["converge", "--policies", &policies, "--policy-name", "ma"], &["mail"]);
    check(&["no"], &["node"]);
    repository.write("groups.toml", "policy_group = \"production\"\n[layers.test]\nfiles = []\n");
    let groups = repository.path("groups.toml").display().to_string();
    check(&["layer", "list", "--config", &groups, "--policy-group", ""], &["production", "test"]);
    check(&["converge", "--config", &groups, "--policy-group", "p"], &["production"]);
    // Nobody wants an error while a word is being typed.
    repository.write("wrun.toml", "nonsense");
    check(&["role", "show", "f"], &[]);
    fs::remove_dir_all(repository.program.state()).unwrap();
    check(&["node", "delete", "w"], &[]);
}
