//! Cookbooks from a Supermarket: a list of all that there is, archives on another host, and what strangers may put into both.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test fails by panicking, and helpers are not tests to the lints"
)]

#[path = "support/stated.rs"]
mod support;

use artifact::lock::{CookbookIdentifier, FileChecksum};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Map, Value, json};
use specs::{Answer, Place, Server, Terminal};
use std::fs;
use std::io::Write as _;
use std::ops::Deref;
use std::path::PathBuf;
use support::stated;
use tar::{EntryType, Header};

/// A Supermarket, the store that it redirects downloads to, and a place for who uses them.
struct Served {
    place: Place,
    supermarket: Server,
    store: Server,
}

impl Deref for Served {
    type Target = Place;

    fn deref(&self) -> &Place {
        &self.place
    }
}

/// One version of a cookbook: its name, its version and its dependencies.
type Version<'a> = (&'a str, &'a str, &'a [(&'a str, &'a str)]);

const COOKBOOKS: [Version<'static>; 5] = [
    ("app", "1.0.0", &[("lib", "~> 1.0")]),
    ("app", "2.0.0", &[("lib", "~> 2.0")]),
    ("lib", "1.0.0", &[]),
    ("lib", "1.2.0", &[]),
    ("lib", "2.0.0", &[]),
];

fn files((name, version, dependencies): Version<'_>) -> Vec<(String, Vec<u8>)> {
    let dependencies: Map<String, Value> =
        dependencies.iter().map(|(name, constraint)| ((*name).to_owned(), (*constraint).into())).collect();
    let metadata = json!({"name": name, "version": version, "dependencies": dependencies});
    let recipe = format!("log '{name} {version}'\n");
    vec![
        ("metadata.json".into(), metadata.to_string().into_bytes()),
        ("recipes/default.rb".into(), recipe.into_bytes()),
    ]
}

fn identifier(cookbook: Version<'_>) -> CookbookIdentifier {
    let sums: Vec<_> = files(cookbook).iter().map(|(path, content)| FileChecksum::of(path, content)).collect();
    CookbookIdentifier::of(&sums)
}

fn header(kind: EntryType, size: usize) -> Header {
    let mut header = Header::new_gnu();
    header.set_size(size as u64);
    header.set_entry_type(kind);
    header.set_mode(0o644);
    header.set_cksum();
    header
}

fn archive(cookbook: Version<'_>) -> Vec<u8> {
    packed(|archive| {
        for (path, content) in files(cookbook) {
            let path = format!("{}/{path}", cookbook.0);
            archive.append_data(&mut header(EntryType::Regular, content.len()), path, content.as_slice()).unwrap();
        }
    })
}

fn packed(fill: impl FnOnce(&mut tar::Builder<Vec<u8>>)) -> Vec<u8> {
    let mut archive = tar::Builder::new(vec![]);
    fill(&mut archive);
    let mut packed = GzEncoder::new(vec![], Compression::fast());
    packed.write_all(&archive.into_inner().unwrap()).unwrap();
    packed.finish().unwrap()
}

fn path(name: &str, version: &str) -> String {
    format!("/api/v1/cookbooks/{name}/versions/{version}/download")
}

impl Served {
    fn new() -> Self {
        let (supermarket, store) = (Server::here().unwrap(), Server::here().unwrap());
        let place = Place::new().with_name("@SUPERMARKET@", supermarket.address(""));
        let served = Self { place, supermarket, store };
        served.offer(&COOKBOOKS, |_| {});
        served
    }

    /// Serves versions, and the list of them as `change` leaves it.
    fn offer(&self, cookbooks: &[Version<'_>], change: impl FnOnce(&mut Value)) {
        let mut universe = json!({});
        for cookbook @ (name, version, dependencies) in cookbooks {
            let dependencies: Map<String, Value> =
                dependencies.iter().map(|(name, constraint)| ((*name).to_owned(), (*constraint).into())).collect();
            universe[name][version] = json!({
                "location_type": "opscode", "location_path": self.supermarket.address("/api/v1"),
                "download_url": self.supermarket.address(&path(name, version)), "dependencies": dependencies,
            });
            let stored = format!("/{name}-{version}.tgz");
            self.supermarket.answer(&path(name, version), Answer::redirect(self.store.address(&stored)));
            self.store.answer(&stored, Answer::ok(archive(*cookbook)));
        }
        change(&mut universe);
        self.supermarket.answer("/universe", Answer::ok(universe.to_string()));
    }

    /// The cookbooks of a lock with their versions.
    fn versions(&self, path: &str) -> Vec<(String, String)> {
        let lock = self.json(path);
        let cookbooks = lock["cookbook_locks"].as_object().unwrap();
        cookbooks.iter().map(|(name, lock)| (name.clone(), lock["version"].as_str().unwrap().to_owned())).collect()
    }

    /// The folders of the cache.
    fn cached(&self) -> Vec<PathBuf> {
        let Ok(entries) = fs::read_dir(self.fetched().join("cookbooks")) else { return vec![] };
        let mut found: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
        found.sort();
        found
    }

    /// The downloads that the store was asked for.
    fn downloads(&self) -> Vec<String> {
        self.store.requests().into_iter().map(|request| request.path).collect()
    }
}

const POLICYFILE: &str =
    "name 'p'\ndefault_source :supermarket, '@SUPERMARKET@'\nrun_list 'app'\ncookbook 'app', '~> 1.0'\n";

fn pair(name: &str, version: &str) -> (String, String) {
    (name.to_owned(), version.to_owned())
}

#[test]
fn a_policy_is_locked_and_installed_from_a_supermarket() {
    let place = Served::new();
    place.write("Policyfile.rb", POLICYFILE);
    let said = place.output("policy install /Policyfile.rb").stderr;
    assert!(said.contains("Installing lib 1.2.0") && !said.contains("note"), "{said}");
    let lock = place.json("Policyfile.lock.json");
    let url = place.supermarket.address(&path("app", "1.0.0"));
    let of_app = identifier(COOKBOOKS[0]);
    assert_eq!(
        lock["cookbook_locks"]["app"],
        json!({
            "version": "1.0.0", "identifier": of_app.as_str(),
            "dotted_decimal_identifier": of_app.dotted_decimal(),
            "cache_key": "app-1.0.0-127.0.0.1", "origin": url,
            "source_options": {"artifactserver": url, "version": "1.0.0"},
        })
    );
    assert_eq!(
        lock["solution_dependencies"],
        json!({
            "Policyfile": [["app", "= 1.0.0"], ["lib", "= 1.2.0"]],
            "dependencies": {"app (1.0.0)": [["lib", "~> 1.0"]], "lib (1.2.0)": []},
        })
    );
    // Only the versions that were chosen are fetched.
    assert_eq!(place.downloads(), ["/app-1.0.0.tgz", "/lib-1.2.0.tgz"]);
    let Served { place, supermarket, store } = place;
    drop(store);
    let place = Served { place, supermarket, store: Server::here().unwrap() };
    let asked = place.supermarket.requests().len();
    place.works("policy install /Policyfile.rb");
    place.works("policy export /Policyfile.rb /exported");
    place.works("policy build / --output /out");
    assert_eq!(place.supermarket.requests().len(), asked, "a second install asks nobody");
    assert!(place.folder.join(format!("exported/cookbook_artifacts/app-{of_app}/recipes/default.rb")).is_file());
    // What was fetched is checked each time.
    let [app, _] = place.cached().try_into().unwrap();
    fs::write(app.join("recipes/default.rb"), "log 'other'\n").unwrap();
    place.fails("policy install /Policyfile.rb", &["has the identifier", "it was changed after it was locked"]);
    place.fails("policy export /Policyfile.rb /again", &["it was changed after it was locked"]);
    // A server that serves other files under the same name and version, to a machine that has none of them yet.
    place.cached().iter().for_each(|cookbook| fs::remove_dir_all(cookbook).unwrap());
    let other = packed(|archive| {
        for (path, content) in
            files(COOKBOOKS[0]).into_iter().chain([("recipes/more.rb".into(), b"log 'other'".into())])
        {
            let mut header = header(EntryType::Regular, content.len());
            archive.append_data(&mut header, format!("app/{path}"), content.as_slice()).unwrap();
        }
    });
    for (name, version, answer) in
        [("app", "1.0.0", Answer::ok(other)), ("lib", "1.2.0", Answer::ok(archive(COOKBOOKS[3])))]
    {
        let stored = format!("/{name}-{version}.tgz");
        place.supermarket.answer(&path(name, version), Answer::redirect(place.store.address(&stored)));
        place.store.answer(&stored, answer);
    }
    place.fails("policy build / --output /out", &["cookbook app", "has the identifier", "the lock has"]);
    place.fails("policy test /", &["cookbook app", "has the identifier"]);
}

/// A server that may not be spoken to without encryption could send git there, with the password of the address.
#[test]
fn git_follows_no_answer_to_a_server_without_encryption() {
    let place = Served::new();
    let elsewhere = place.store.address("");
    place.supermarket.guard(move |request| Some(Answer::redirect(format!("{elsewhere}{}", request.path))));
    place.write("Policyfile.rb", "name 'p'\nrun_list 'app'\ncookbook 'app', git: '@SUPERMARKET@/app.git'\n");
    place.fails("policy install /Policyfile.rb", &["http"]);
    assert_eq!(place.downloads(), Vec::<String>::new());
    assert!(!place.supermarket.requests().is_empty());
}

#[test]
fn a_lock_of_chef_cli_is_installed_and_one_with_other_identifiers_refused() {
    let place = Served::new();
    let locked = |cookbook: Version<'_>, identifier: &str| {
        let (name, version, _) = cookbook;
        let url = place.supermarket.address(&path(name, version));
        json!({
            "version": version, "identifier": identifier,
            "cache_key": format!("{name}-{version}-127.0.0.1"), "origin": url,
            "source_options": {"artifactserver": url, "version": version},
        })
    };
    let lock = |of_lib: &str| {
        stated(json!({
            "name": "p", "run_list": ["recipe[app::default]"], "included_policy_locks": [],
            "cookbook_locks": {
                "app": locked(COOKBOOKS[0], identifier(COOKBOOKS[0]).as_str()), "lib": locked(COOKBOOKS[2], of_lib),
            },
            "default_attributes": {}, "override_attributes": {},
            "solution_dependencies": {
                "Policyfile": [["app", "= 1.0.0"], ["lib", "= 1.0.0"]],
                "dependencies": {"app (1.0.0)": [["lib", "~> 1.0"]], "lib (1.0.0)": []},
            },
        }))
        .to_string()
    };
    place.write("Policyfile.rb", POLICYFILE);
    place.write("Policyfile.lock.json", &lock(identifier(COOKBOOKS[2]).as_str()));
    // The older version of the lock, and the list of versions is not asked for.
    place.works("policy install /Policyfile.rb");
    assert_eq!(place.downloads(), ["/app-1.0.0.tgz", "/lib-1.0.0.tgz"]);
    assert!(place.supermarket.requests().iter().all(|request| request.path != "/universe"));
    place.works("policy export /Policyfile.rb /exported");
    place.write("Policyfile.lock.json", &lock(&"0".repeat(40)));
    place.fails(
        "policy install /Policyfile.rb",
        &["cookbook lib in", "and the lock has 000000", "`wrun policy update`"],
    );
}

#[test]
fn only_what_a_policy_reaches_must_be_sound() {
    let place = Served::new();
    place.write("Policyfile.rb", POLICYFILE);
    place.offer(&COOKBOOKS, |universe| {
        universe["lib"]["1.3.0"] = json!({"dependencies": {"app": "about 2"}, "download_url": "http://localhost/x"});
        universe["lib"]["1.4.0"] = json!({"dependencies": {}});
        universe["other"] = json!({"x": {"dependencies": {"lib": "~~ 3"}}});
        universe["strange"] = json!([1]);
    });
    let said = place.output("policy update /Policyfile.rb").stderr;
    assert_eq!(place.versions("Policyfile.lock.json"), [pair("app", "1.0.0"), pair("lib", "1.2.0")]);
    assert!(said.contains("cookbook lib 1.3.0 is left out: \"about 2\""), "{said}");
    assert!(said.contains("cookbook lib 1.4.0 is left out: it has no download_url"), "{said}");
    assert!(!said.contains("other") && !said.contains("strange"), "{said}");
    place.write("Policyfile.rb", &POLICYFILE.replace("'~> 1.0'", "'> 3.0'"));
    place.fails("policy update /Policyfile.rb", &["the Policyfile demands app > 3.0", "available in 1.0.0, 2.0.0"]);
    for (answer, part) in [
        (Answer::status(503), "answered with the status 503"),
        (Answer::ok("<html>"), "it is not a list of cookbooks"),
        (Answer::ok("[]"), "it is not a list of cookbooks"),
    ] {
        place.supermarket.answer("/universe", answer);
        place.fails("policy update /Policyfile.rb", &["Policyfile.rb:2: ", part]);
    }
}

#[test]
fn sources_with_the_same_cookbook_need_a_preference() {
    let place = Served::new();
    for (path, content) in files(("lib", "9.0.0", &[])) {
        place.write(&format!("books/lib/{path}"), &String::from_utf8(content).unwrap());
    }
    let both = |more: &str| format!("{POLICYFILE}default_source(:chef_repo, 'books'){more}\n");
    place.write("Policyfile.rb", &both(""));
    place.fails(
        "policy install /Policyfile.rb",
        &["several sources have the same cookbooks", "cookbook lib: supermarket("],
    );
    place.write("Policyfile.rb", &both(" { |s| s.preferred_for 'lib' }").replace("'~> 1.0'", "'~> 2.0'"));
    place.fails(
        "policy install /Policyfile.rb",
        &["cookbook app 2.0.0 depends on lib ~> 2.0", "lib is available in 9.0.0"],
    );
    // A cookbook with a source of its own counts before both.
    let own = "cookbook 'lib', path: 'books/lib'\ncookbook 'app', '~> 1.0'\n";
    place.write("Policyfile.rb", &both("").replace("cookbook 'app', '~> 1.0'\n", own));
    place.fails("policy install /Policyfile.rb", &["the Policyfile demands lib = 9.0.0"]);
}

#[test]
fn an_archive_is_a_source_of_one_cookbook_and_of_an_included_policy() {
    let place = Served::new();
    let url = place.supermarket.address(&path("lib", "1.0.0"));
    place.write(
        "base/base.rb",
        &format!("name 'base'\nrun_list 'lib'\ncookbook 'lib', artifactserver: '{url}', version: '1.0.0'\n"),
    );
    place.works("policy install /base/base.rb");
    let options = json!({"artifactserver": url, "version": "1.0.0"});
    assert_eq!(place.json("base/base.lock.json")["cookbook_locks"]["lib"]["source_options"], options);
    place.write("Policyfile.rb", &format!("{POLICYFILE}include_policy 'base', path: 'base/base.lock.json'\n"));
    place.works("policy install /Policyfile.rb");
    // The included policy's version counts, though the Supermarket has a newer one.
    assert_eq!(place.versions("Policyfile.lock.json"), [pair("app", "1.0.0"), pair("lib", "1.0.0")]);
    assert_eq!(place.json("Policyfile.lock.json")["cookbook_locks"]["lib"]["source_options"], options);
    place.write("other.rb", &format!("name 'o'\nrun_list 'lib'\ncookbook 'lib', artifactserver: '{url}'\n"));
    place.fails("policy install /other.rb", &["other.rb:3: ", "needs its `version` beside it"]);
}

#[test]
fn a_policy_toml_keeps_the_versions_of_its_lock() {
    let place = Served::new();
    let text = "name = \"p\"\nrun_list = [\"app\"]\n[sources]\nsupermarket = \"@SUPERMARKET@\"\n[cookbooks]\n";
    place.write("policy.toml", &format!("{text}app = \"~> 1.0\"\n"));
    place.works("policy update /policy.toml");
    assert_eq!(place.versions("policy.lock.json"), [pair("app", "1.0.0"), pair("lib", "1.2.0")]);
    let newer: Vec<_> = COOKBOOKS.into_iter().chain([("lib", "1.9.0", &[][..]), ("app", "1.5.0", &[][..])]).collect();
    place.offer(&newer, |_| {});
    // What is there stays; what no longer fits what is written does not.
    place.works("policy build / --output /out");
    place.works("policy install /policy.toml");
    place.write("policy.toml", &format!("{text}app = \"~> 1.5\"\n"));
    place.fails("policy install /policy.toml", &["no longer fits what it locks"]);
    place.works("policy update /policy.toml");
    assert_eq!(place.versions("policy.lock.json")[0], pair("app", "1.5.0"));
}

#[test]
fn what_a_stranger_packs_stays_in_its_folder_and_within_limits() {
    let place = Served::new();
    place.write("Policyfile.rb", "name 'p'\ndefault_source :supermarket, '@SUPERMARKET@'\nrun_list 'lib'\n");
    let check = |bytes: Vec<u8>, parts: &[&str]| {
        place.store.answer("/lib-2.0.0.tgz", Answer::ok(bytes));
        let parts: Vec<&str> = ["Policyfile.rb: cookbook \"lib\" from http://"].iter().chain(parts).copied().collect();
        place.fails("policy install /Policyfile.rb", &parts);
        assert!(place.cached().is_empty(), "{:?}", place.cached());
        assert!(!place.folder.join("Policyfile.lock.json").exists());
    };
    let metadata = &files(("lib", "2.0.0", &[]))[0].1;
    let with = |path: &str, kind: EntryType| {
        packed(|archive| {
            let size = metadata.len();
            archive.append_data(&mut header(EntryType::Regular, size), "lib/metadata.json", &metadata[..]).unwrap();
            // What the builder itself would refuse.
            let mut header = header(kind, 0);
            header.as_old_mut().name[..path.len()].copy_from_slice(path.as_bytes());
            header.set_link_name_literal("/etc/passwd").unwrap();
            header.set_cksum();
            archive.append(&header, &[][..]).unwrap();
        })
    };
    check(with("lib/files/passwd", EntryType::Symlink), &["lib/files/passwd is not a plain file; links"]);
    check(with("lib/../../../x", EntryType::Regular), &["leads out of the archive"]);
    check(with("/etc/x", EntryType::Regular), &["leads out of the archive"]);
    check(with("lib/metadata.json", EntryType::Regular), &["lib/metadata.json is there twice"]);
    check(b"no archive".to_vec(), &["it is not the archive of a cookbook"]);
    check(archive(("lib", "1.0.0", &[])), &["version 1.0.0, which does not satisfy the constraint = 2.0.0"]);
    check(archive(("other", "2.0.0", &[])), &["it has no cookbook in the folder of its name"]);
    let many = packed(|archive| {
        for number in 0..70_000 {
            let path = format!("lib/files/{number}");
            archive.append_data(&mut header(EntryType::Regular, 0), path, &[][..]).unwrap();
        }
    });
    check(many, &["it has more than"]);
    let zeros = vec![0; 1 << 20];
    let bomb = packed(|archive| {
        for number in 0..300 {
            let path = format!("lib/files/{number}");
            archive.append_data(&mut header(EntryType::Regular, zeros.len()), path, &zeros[..]).unwrap();
        }
    });
    assert!(bomb.len() < 2 << 20);
    check(bomb, &["holds more than 268435456 bytes"]);
    place.store.answer("/lib-2.0.0.tgz", Answer::status(404));
    place.fails("policy install /Policyfile.rb", &["answered with the status 404"]);
    place.store.answer("/lib-2.0.0.tgz", Answer::ok(archive(COOKBOOKS[4])));
    place.works("policy install /Policyfile.rb");
    assert_eq!(place.cached().len(), 1);
}

#[test]
fn a_person_at_a_terminal_sees_what_takes_time() {
    let place = Served::new();
    place.write("Policyfile.rb", POLICYFILE);
    let (go_on, wait) = std::sync::mpsc::channel::<()>();
    place.supermarket.guard(move |request| {
        if request.path == "/universe" {
            let _ = wait.recv();
        }
        None
    });
    let file = place.path("Policyfile.rb");
    let mut terminal = Terminal::start(&place.program, 120, &["policy", "install", &file]).unwrap();
    terminal.wait_for(&format!("asking {}", place.supermarket.address("/universe"))).unwrap();
    go_on.send(()).unwrap();
    assert!(terminal.end().unwrap().success());
    assert!(terminal.has_erased() && !terminal.words().contains("asking"), "{}", terminal.words());
    // In a pipe nothing of it is written.
    drop(go_on);
    assert!(!place.output("policy update /Policyfile.rb").stderr.contains("asking"));
}
