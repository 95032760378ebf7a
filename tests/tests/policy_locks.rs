//! Locks that somebody has changed or damaged, and locks that no longer fit: each command that reads one says what is wrong, where,
//! and what helps.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, and helpers are not tests to the lints")]

use specs::Place;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt as _;

/// A folder with a Policyfile, its cookbook and its lock, and a repository for its team.
fn locked() -> Place {
    let place = Place::new();
    place.write("Policyfile.rb", "name 'web'\nrun_list 'web'\ncookbook 'web', '~> 1.0', path: 'c/web'\n");
    place.write("c/web/metadata.rb", "name 'web'\nversion '1.0.0'\n");
    place.write("c/web/recipes/default.rb", "log 'web'\n");
    place.works("policy install /Policyfile.rb");
    place
}

const LOCK: &str = "Policyfile.lock.json";

/// Each command that reads a Policyfile's lock.
const READERS: [&str; 6] = [
    "policy install /Policyfile.rb",
    "policy build / --output /built",
    "policy push staging /",
    "policy verify /",
    "policy export /Policyfile.rb /exported",
    "policy export -a /Policyfile.rb /archives",
];

/// The line of the lock that begins with a key.
fn line(place: &Place, key: &str) -> usize {
    place.read(LOCK).lines().position(|line| line.trim_start().starts_with(&format!("\"{key}\""))).unwrap() + 1
}

fn text(place: &Place, pointer: &str) -> String {
    place.json(LOCK).pointer(pointer).unwrap().as_str().unwrap().to_owned()
}

#[test]
fn a_lock_that_states_what_its_content_does_not_give_is_refused_by_every_command() {
    let place = locked();
    place.works("repository init /srv --team web");
    let (sound, revision) = (place.read(LOCK), text(&place, "/revision_id"));
    let identifier = text(&place, "/cookbook_locks/web/identifier");
    let dotted = text(&place, "/cookbook_locks/web/dotted_decimal_identifier");
    let other = |digits: &str| digits.chars().rev().collect::<String>();
    let help = "`wrun policy update` makes the lock anew";
    for reader in READERS {
        place.write(LOCK, &sound.replace(&revision, &other(&revision)));
        let place_of = |key: &str| format!("work/{LOCK}:{}: ", line(&place, key));
        let states = format!("the lock states the revision_id {}, and its content has {revision}", other(&revision));
        place.fails(reader, &[&place_of("revision_id"), &states, help]);
        place.write(LOCK, &sound.replace(&identifier, &other(&identifier)));
        place.fails(
            reader,
            &[
                &format!(
                    "{}cookbook web has the identifier {}",
                    place_of("dotted_decimal_identifier"),
                    other(&identifier)
                ),
                &format!("not {dotted}"),
                &place_of("revision_id"),
                help,
            ],
        );
        place.write(LOCK, &sound.replace("\"run_list\"", "\"default_attributes\": {\"a\": 1},\n  \"run_list\""));
        // The one that is written last counts.
        place.write(LOCK, &place.read(LOCK).replace("attributes\": {\n\n  }", "attributes\": {\"b\": 1}"));
        place.fails(reader, &[&place_of("revision_id"), "and its content has", help]);
        place.write(LOCK, &sound.replacen(&format!("\"revision_id\": \"{revision}\",\n"), "", 1));
        place.fails(reader, &[LOCK, "the lock does not state its revision_id", &revision, help]);
    }
    for folder in ["built", "exported", "archives"] {
        assert!(!place.folder.join(folder).exists(), "{folder}");
    }
    // An update makes it anew, and then everything works.
    let said = place.output("policy update /Policyfile.rb").stderr;
    assert!(
        said.contains("the lock does not state its revision_id") && said.contains("nothing of it is kept"),
        "{said}"
    );
    assert_eq!(place.read(LOCK), sound);
    READERS.iter().for_each(|reader| place.works(reader));
}

#[test]
fn a_lock_in_a_conflict_or_cut_off_is_told_with_what_helps() {
    let place = locked();
    let sound = place.read(LOCK);
    let conflict = sound.replacen("  \"name\"", "<<<<<<< HEAD\n  \"name\"", 1);
    place.write(LOCK, &conflict);
    for reader in READERS {
        place.fails(reader, &[&format!("{LOCK}:3: git has left a merge conflict here"), "`wrun policy update` makes"]);
    }
    place.write(LOCK, sound.get(..sound.len() / 2).unwrap());
    for reader in READERS {
        place.fails(reader, &[&format!("{LOCK}: the lock is not valid JSON: EOF"), "`wrun policy update` makes"]);
    }
    place.fails("policy update /Policyfile.rb web", &[LOCK, "`wrun policy update` makes the lock anew"]);
    place.works("policy update /Policyfile.rb");
    assert_eq!(place.read(LOCK), sound);
}

/// chef-cli's install takes a folder as it is; what is sent to others has to be what was locked.
#[test]
fn a_folder_that_changed_after_the_lock_is_noted_by_install_and_refused_by_a_push() {
    let place = locked();
    place.works("repository init /srv --team web");
    let locked = text(&place, "/cookbook_locks/web/identifier");
    place.write("c/web/recipes/default.rb", "log 'other'\n");
    let said = place.output("policy install /Policyfile.rb").stderr;
    let what = format!("{LOCK}:{}: cookbook web in ", line(&place, "identifier"));
    for part in ["Using web 1.0.0", &what, &format!("and the lock has {locked}"), "`wrun policy update` locks what"] {
        assert!(said.contains(part), "{part:?} is missing in:\n{said}");
    }
    let of_line = format!("the lock has {locked} (line {})", line(&place, "identifier"));
    let said = place.output("policy build / --output /built").stderr;
    assert!(said.contains(&of_line) && said.contains("`wrun policy update"), "{said}");
    for command in ["policy push staging /", "policy verify /"] {
        place.fails(command, &["no longer fits", &of_line, "`wrun policy update` locks what is there now"]);
    }
}

/// A policy is its folder, for these commands as for `push` and `build`.
#[test]
fn a_policys_folder_names_it() {
    let place = Place::new();
    for name in ["core", "site"] {
        place.write(&format!("{name}/cookbooks/{name}/metadata.rb"), &format!("name '{name}'\nversion '1.0.0'\n"));
        place.write(&format!("{name}/cookbooks/{name}/recipes/default.rb"), "log 'x'\n");
    }
    place.write("core/policy.toml", "name = \"core\"\nrun_list = [\"core\"]\n");
    place.write("site/Policyfile.rb", "name 'site'\nrun_list 'site'\ncookbook 'site', path: 'cookbooks/site'\n");
    for (name, lock) in [("core", "core/policy.lock.json"), ("site", "site/Policyfile.lock.json")] {
        place.works(&format!("policy install /{name}"));
        assert_eq!(place.json(lock)["name"], *name);
        place.replace(&format!("{name}/cookbooks/{name}/metadata.rb"), "1.0.0", "1.1.0");
        place.works(&format!("policy update /{name}/"));
        assert_eq!(place.json(lock)["cookbook_locks"][name]["version"], "1.1.0");
    }
    for command in ["policy install", "policy update", "policy push staging"] {
        place.fails(&format!("{command} /cor"), &["no policy at ", "there is no cor in ", "did you mean `core`?"]);
        place.fails(&format!("{command} /core/cookbooks"), &["is not a policy's folder: it has neither a policy.toml"]);
    }
    let file = "core/cookbooks/core/notes.txt";
    place.write(file, "");
    place.fails(
        &format!("policy install /{file}"),
        &["a policy is named by its folder, its policy.toml, its Policyfile"],
    );
}

/// However a lock is outdated, the message says how it is made anew.
#[test]
fn every_message_about_an_outdated_lock_names_the_update() {
    const UPDATE: &str = "`wrun policy update`";
    let place = locked();
    place.works("repository init /srv --team web");
    // A version that the Policyfile's own constraint excludes.
    place.replace("c/web/metadata.rb", "1.0.0", "2.0.0");
    for reader in READERS.into_iter().filter(|reader| !reader.starts_with("policy build")) {
        place.fails(reader, &["web", "2.0.0", UPDATE]);
    }
    place.replace("c/web/metadata.rb", "2.0.0", "1.0.0");
    // A constraint that excludes the locked version.
    place.replace("Policyfile.rb", "~> 1.0", "~> 2.0");
    for reader in ["policy push staging /", "policy verify /"] {
        place.fails(reader, &["Policyfile.rb:3 demands web ~> 2.0, the lock has web 1.0.0", UPDATE]);
    }
    place.replace("Policyfile.rb", "~> 2.0", "~> 1.0");
    // A dependency that the lock does not have.
    place.write("c/web/metadata.rb", "name 'web'\nversion '1.0.0'\ndepends 'db'\n");
    place.fails("policy export /Policyfile.rb /exported", &["depends on db, which the lock does not have", UPDATE]);
    place.fails("policy push staging /", &["cookbook web in", UPDATE]);
    place.write("c/web/metadata.rb", "name 'web'\nversion '1.0.0'\n");
    // A folder that is gone.
    fs::rename(place.folder.join("c"), place.folder.join("d")).unwrap();
    for reader in READERS.into_iter().filter(|reader| !reader.starts_with("policy build")) {
        place.fails(reader, &["c/web", UPDATE]);
    }
    fs::rename(place.folder.join("d"), place.folder.join("c")).unwrap();
    place.works("policy push staging /");
}

/// What was fetched has to be what was locked.
#[test]
fn a_fetched_cookbook_that_is_not_the_locked_one_is_told_with_the_lines_place() {
    let place = Place::new();
    place.write("repository/metadata.rb", "name 'web'\nversion '1.0.0'\n");
    place.write("repository/recipes/default.rb", "log 'web'\n");
    place.git("repository", &["init", "-q"]);
    place.commit("repository");
    place.write(
        "Policyfile.rb",
        "name 'web'\nrun_list 'web'\ncookbook 'web', git: '@FOLDER@/repository', branch: 'main'\n",
    );
    place.works("policy install /Policyfile.rb");
    let key = text(&place, "/cookbook_locks/web/cache_key");
    let cache = place.program.configuration().with_file_name("home").join(".cache/wrun/policyfile/cookbooks");
    let entries = fs::read_dir(&cache).unwrap().map(|entry| entry.unwrap().path());
    let folder = entries.into_iter().find(|path| path.display().to_string().contains(&key)).unwrap();
    let recipe = folder.join("recipes/default.rb");
    fs::write(&recipe, "log 'strange'\n").unwrap();
    let what = format!("{LOCK}:{}: cookbook web in ", line(&place, "identifier"));
    let locked = text(&place, "/cookbook_locks/web/identifier");
    for reader in ["policy install /Policyfile.rb", "policy export /Policyfile.rb /exported"] {
        let has = format!("and the lock has {locked}");
        place.fails(reader, &[&what, &has, "remove the folder to fetch the cookbook again", "`wrun policy update`"]);
    }
    fs::remove_dir_all(folder).unwrap();
    place.works("policy install /Policyfile.rb");
}

/// The lock of a policy.toml is read by the same rules.
#[test]
fn the_lock_of_a_policy_toml_and_an_included_lock_are_checked_too() {
    let place = Place::new();
    place.write("base/policy.toml", "name = \"base\"\nrun_list = [\"motd\"]\n");
    place.write("base/cookbooks/motd/metadata.rb", "name 'motd'\nversion '1.0.0'\n");
    place.write("base/cookbooks/motd/recipes/default.rb", "log 'motd'\n");
    place.works("policy install /base/policy.toml");
    place.write(
        "web/policy.toml",
        "name = \"web\"\nrun_list = [\"motd\"]\n[[include]]\nname = \"base\"\npath = \"../base\"\n",
    );
    place.works("policy install /web/policy.toml");
    place.works("repository init /srv --team web --team base");
    let (base, web) = (place.read("base/policy.lock.json"), place.read("web/policy.lock.json"));
    let damaged = |text: &str| text.replacen("\"revision_id\": \"", "\"revision_id\": \"0", 1);
    for (policy, sound) in [("base", &base), ("web", &web)] {
        place.write(&format!("{policy}/policy.lock.json"), &damaged(sound));
        let states = format!("{policy}/policy.lock.json:2: the lock states the revision_id 0");
        for command in [
            format!("policy install /{policy}/policy.toml"),
            format!("policy push staging /{policy}"),
            format!("policy verify /{policy}"),
        ] {
            place.fails(&command, &[&states, "`wrun policy update` makes the lock anew"]);
        }
        place.works(&format!("policy update /{policy}/policy.toml"));
        assert_eq!(place.read(&format!("{policy}/policy.lock.json")), *sound);
    }
    place.write("base/policy.lock.json", &damaged(&base));
    let included = "work/base/policy.lock.json:2: the lock states the revision_id 0";
    for command in ["policy install /web/policy.toml", "policy update /web/policy.toml", "policy push staging /web"] {
        place.fails(
            command,
            &["policy.toml:4: include_policy \"base\"", included, "`wrun policy update` in the included"],
        );
    }
    place.write("base/policy.lock.json", &base);
    place.works("policy push staging /web /base");
}

/// A list that is named by a symbol and by a text is written twice by Chef's tools: its lock is no damaged one.
#[test]
fn a_run_list_that_is_named_twice_leaves_a_lock_that_can_be_read() {
    let place = locked();
    place.write("base.rb", "name 'base'\nrun_list 'web'\nnamed_run_list 'n', 'web'\ncookbook 'web', path: 'c/web'\n");
    place.works("policy install /base.rb");
    let policyfile =
        "name 'web'\nrun_list 'web'\nnamed_run_list :n, 'web'\ninclude_policy 'base', path: 'base.lock.json'\n";
    place.write("both.rb", policyfile);
    place.works("policy install /both.rb");
    place.works("policy install /both.rb");
}

/// A file that cannot be in an artifact is not silently missed on the node; a folder's name may be anything.
#[test]
fn names_that_are_not_text_are_told_or_do_not_matter() {
    let place = locked();
    place.works("repository init /srv --team web");
    let strange = |folder: &str| place.folder.join(folder).join(OsStr::from_bytes(b"name-\xff"));
    let file = strange("c/web");
    fs::write(&file, "").unwrap();
    for command in
        ["policy install /Policyfile.rb", "policy update /Policyfile.rb", "policy push staging /", "policy build /"]
    {
        place.fails(command, &["c/web/name-\\xFF\" has a name that is not UTF-8"]);
    }
    fs::remove_file(file).unwrap();
    let folder = strange(".");
    fs::create_dir(&folder).unwrap();
    for name in ["Policyfile.rb", "c"] {
        fs::rename(place.folder.join(name), folder.join(name)).unwrap();
    }
    let words = |words: &[&str]| words.iter().map(OsString::from).chain([folder.clone().into()]).collect::<Vec<_>>();
    let mut install = words(&["policy", "install"]);
    install.last_mut().unwrap().push("/Policyfile.rb");
    for _ in 0..2 {
        drop(place.program.run(&install).unwrap().expect_code(0).unwrap());
    }
    assert!(folder.join(LOCK).exists());
    drop(place.program.run(&words(&["policy", "push", "staging"])).unwrap().expect_code(0).unwrap());
}
