//! What commands keep: what somebody typed, what was encrypted, whose a file is, and what a link leads to.

use super::{Repository, SECRET};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, symlink};

/// The names of the drafts that were kept.
fn drafts(repository: &Repository) -> usize {
    fs::read_dir(repository.path("drafts")).unwrap().count()
}

#[test]
fn what_was_typed_is_kept_whatever_the_editor_does() {
    let repository = Repository::new();
    repository.shows(&["role", "create", "web"]);
    let edit = ["role", "edit", "web"];
    for (script, expect) in [
        ("printf '\\374' > $1", "it is not UTF-8 text"),
        ("echo typed > $1; exit 1", "failed (exit status: 1)"),
        ("echo typed > $1; kill -TERM $PPID; sleep 0.1", "was asked to end"),
    ] {
        let before = drafts_before(&repository);
        let (code, said) = repository.edits(script, &edit);
        assert!(code == Some(43) && said.contains(expect) && said.contains("your version is in"), "{script}: {said}");
        assert_eq!(drafts(&repository), before + 1, "{script}");
    }
    let before = drafts(&repository);
    assert!(repository.edits("exit 1", &edit).1.contains("nothing was changed"));
    // A key in the editor is the editor's, and what it leaves beside the draft goes too.
    let script = "cp $1 $1~; kill -INT $PPID; kill -QUIT $PPID; sleep 0.1; sed -i 's/\"description\": \"\"/\"description\": \"x\"/' $1";
    let (code, said) = repository.edits(script, &edit);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(repository.json("roles/web.json")["description"], "x");
    assert_eq!(drafts(&repository), before);
}

fn drafts_before(repository: &Repository) -> usize {
    fs::create_dir_all(repository.path("drafts")).unwrap();
    drafts(repository)
}

#[test]
fn items_with_some_encrypted_values_are_not_encrypted_twice() {
    let repository = Repository::new();
    let secret = repository.write("secret", SECRET);
    let plain = repository.write("ann.json", "{\"id\": \"ann\", \"password\": \"hunter2\"}");
    repository.shows(&["data-bag", "create", "users"]);
    repository.shows(&["data-bag", "from-file", "users", &plain, "--secret-file", &secret]);
    let mut item = repository.json("data_bags/users/ann.json");
    item["note"] = json!("plain");
    repository.write("data_bags/users/ann.json", &item.to_string());
    let edit = ["data-bag", "edit", "users", "ann", "--secret-file", &secret];
    let (code, said) = repository.edits("sed -i s/plain/other/ $1", &edit);
    assert!(code == Some(43) && said.contains("`password` is encrypted and other values are not"), "{said}");
    assert_eq!(repository.json("data_bags/users/ann.json"), item);
    let shown = repository.program.run(&["data-bag", "show", "users", "ann", "--secret-file", &secret]).unwrap();
    assert!(shown.stderr.contains("so none is decrypted"), "{}", shown.stderr);
    // Without the secret it is changed as it stands.
    let (code, said) = repository.edits("sed -i s/plain/other/ $1", &["data-bag", "edit", "users", "ann"]);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(repository.json("data_bags/users/ann.json")["note"], "other");

    repository.shows(&["data-bag", "from-file", "users", &plain, "--secret-file", &secret]);
    let uncovered = repository.says(0, &["data-bag", "from-file", "users", &plain]);
    assert!(uncovered.contains("the item ann was encrypted and is not so any more"), "{uncovered}");
}

#[test]
fn files_keep_their_owner_and_links_lead_to_objects_only() {
    let repository = Repository::new();
    repository.shows(&["role", "create", "web"]);
    let web = repository.path("roles/web.json");
    chown(&web, Some(65534), Some(65534)).unwrap();
    fs::set_permissions(&web, fs::Permissions::from_mode(0o640)).unwrap();
    repository.shows(&["role", "run-list", "add", "web", "nginx"]);
    let found = fs::metadata(&web).unwrap();
    assert_eq!((found.uid(), found.gid(), found.mode() & 0o777), (65534, 65534, 0o640));

    let victim = repository.write("victim", "root:x:0:0\n");
    fs::create_dir(repository.path("data_bags/users")).unwrap();
    symlink(&victim, repository.path("data_bags/users/evil.json")).unwrap();
    let evil = repository.write("evil.json", "{\"id\": \"evil\"}");
    let refused = repository.says(43, &["data-bag", "from-file", "users", &evil]);
    assert!(refused.contains("evil.json leads to a file that is no data bag item"), "{refused}");
    assert_eq!(fs::read_to_string(&victim).unwrap(), "root:x:0:0\n");
    // A linked object is changed where it lies.
    let shared = repository.write("shared.json", "{\"id\": \"shared\"}");
    symlink(&shared, repository.path("data_bags/users/shared.json")).unwrap();
    let new = repository.write("new.json", "{\"id\": \"shared\", \"a\": 1}");
    repository.shows(&["data-bag", "from-file", "users", &new]);
    assert_eq!(repository.json("shared.json"), json!({"id": "shared", "a": 1}));

    // A linked bag goes, and what it leads to stays.
    fs::create_dir(repository.path("elsewhere")).unwrap();
    let kept = repository.write("elsewhere/x.json", "{\"id\": \"x\"}");
    symlink(repository.path("elsewhere"), repository.path("data_bags/linked")).unwrap();
    repository.shows(&["data-bag", "delete", "linked", "--all"]);
    assert_eq!(repository.shows(&["data-bag", "list"]), "users\n");
    assert!(fs::exists(kept).unwrap());
}

#[test]
fn two_files_of_one_name_are_an_error() {
    let repository = Repository::new();
    for folder in ["x", "y"] {
        repository.write(
            &format!("roles/{folder}/web.json"),
            &format!("{{\"name\": \"web\", \"description\": \"{folder}\"}}"),
        );
    }
    let said = repository.says(43, &["role", "show", "web"]);
    assert!(said.contains("roles/x/web.json and ") && said.contains("roles/y/web.json have one name"), "{said}");
    repository.write("roles/y/web.rb", "name 'web'");
    fs::remove_file(repository.path("roles/y/web.json")).unwrap();
    let refused = repository.says(43, &["role", "from-file", &repository.path("roles/y/web.rb").display().to_string()]);
    assert!(refused.contains("the role is written in Ruby: put the file itself"), "{refused}");
    fs::remove_file(repository.path("roles/y/web.rb")).unwrap();
    let shown: Value = serde_json::from_str(&repository.shows(&["role", "show", "web"])).unwrap();
    assert_eq!(shown["description"], "x");
}
