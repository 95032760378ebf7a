//! Cookbooks that are fetched from repositories of strangers: each is what its address and its commit say, whatever other
//! repositories and other cookbooks hold.

#![expect(clippy::indexing_slicing, reason = "helpers are not tests to the lints")]

use serde_json::Value;
use specs::Place;
use std::fs;
use std::ops::Deref;
use std::path::PathBuf;

/// A place with one Policyfile, named `p`.
struct Policy(Place);

impl Deref for Policy {
    type Target = Place;

    fn deref(&self) -> &Place {
        &self.0
    }
}

impl Policy {
    fn new() -> Self {
        Self(Place::new())
    }

    fn policyfile(&self, text: &str) {
        self.write("Policyfile.rb", &format!("name 'p'\n{text}"));
    }

    /// A repository with one cookbook in a folder of it. Returns the commit.
    fn repository(&self, repository: &str, folder: &str, name: &str, text: &str) -> String {
        let place = PathBuf::from(repository).join(folder);
        let place = place.display();
        self.write(&format!("{place}/metadata.rb"), &format!("name '{name}'\nversion '1.0.0'\n"));
        self.write(&format!("{place}/recipes/default.rb"), text);
        if !self.folder.join(repository).join(".git").exists() {
            self.git(repository, &["init", "-q"]);
        }
        self.commit(repository)
    }

    /// Runs a command that must refuse the Policyfile.
    #[track_caller]
    fn refuses(&self, command: &str, parts: &[&str]) {
        self.fails(&format!("policy {command} /Policyfile.rb"), parts);
    }

    /// Locks anew and returns what the lock says of a cookbook.
    #[track_caller]
    fn locked(&self, cookbook: &str) -> Value {
        drop(fs::remove_file(self.folder.join("Policyfile.lock.json")));
        self.works("policy install /Policyfile.rb");
        self.json("Policyfile.lock.json")["cookbook_locks"][cookbook].clone()
    }
}

#[test]
fn another_repositorys_branch_is_not_taken_for_a_commit() {
    let place = Policy::new();
    let commit = place.repository("good", ".", "nginx", "log 'good'\n");
    let short = &commit[..7];
    place.repository("evil", ".", "nginx", "log 'evil'\n");
    let file = |repository: &str, revision: &str| {
        place.policyfile(&format!(
            "run_list 'nginx'\ncookbook 'nginx', git: 'file://@FOLDER@/{repository}', revision: '{revision}'\n"
        ));
        place.locked("nginx")
    };
    let good = file("good", &commit);
    for name in [short, &commit] {
        place.git("evil", &["update-ref", &format!("refs/heads/{name}"), "HEAD"]);
    }
    let evil = file("evil", short);
    assert_ne!(evil["identifier"], good["identifier"]);
    // The short name is another commit here, and the lock has the whole one.
    assert_eq!(file("good", short), good);
    assert_eq!(good["source_options"]["revision"], commit.as_str());
    assert_eq!(good["cache_key"], format!("nginx-{commit}"));
    // A whole name is a commit, and never a branch: the stranger's repository does not have that one.
    place.policyfile(&format!(
        "run_list 'nginx'\ncookbook 'nginx', git: 'file://@FOLDER@/evil', revision: '{commit}'\n"
    ));
    place.refuses("update", &["Policyfile.rb:3: cookbook \"nginx\" from file://"]);
}

/// One blob under many names is small in a repository and large in a folder.
#[test]
fn a_commit_that_unpacks_to_more_than_a_cookbook_is_refused_before_it_is_written() {
    let place = Policy::new();
    place.repository("bomb", ".", "web", "log 'a'\n");
    place.write("bomb/filler", &"a".repeat(1 << 20));
    let blob = place.git("bomb", &["hash-object", "-w", "filler"]);
    let entries: Vec<String> = (0..600).map(|at| format!("100644,{blob},files/{at}")).collect();
    let mut arguments = vec!["update-index", "--add"];
    entries.iter().for_each(|entry| arguments.extend(["--cacheinfo", entry]));
    place.git("bomb", &arguments);
    place.git("bomb", &["commit", "-q", "-m", "many names"]);
    place.policyfile("run_list 'web'\ncookbook 'web', git: 'file://@FOLDER@/bomb', branch: 'main'\n");
    place.refuses("install", &["Policyfile.rb:3", "are more than 536870912 bytes"]);
}

/// With its name as an option, git would list folders alone: nothing to weigh, and all to write.
#[test]
fn a_folder_with_the_name_of_an_option_is_no_option() {
    for folder in ["-d", "books/-d", "-d/web", "--name-only"] {
        let place = Policy::new();
        place.repository("books", folder, "web", "log 'a'\n");
        place.policyfile(&format!("run_list 'web'\ncookbook 'web', git: 'file://@FOLDER@/books', rel: '{folder}'\n"));
        place.refuses("install", &["Policyfile.rb:", "option"]);
    }
}

#[test]
fn a_folder_of_a_repository_is_not_taken_for_another() {
    let place = Policy::new();
    place.repository("books", "a", "web", "log 'a'\n");
    place.repository("books", "b", "web", "log 'b'\n");
    let file = |rel: &str| {
        place.policyfile(&format!("run_list 'web'\ncookbook 'web', git: 'file://@FOLDER@/books', rel: '{rel}'\n"));
        place.locked("web")
    };
    let (first, second) = (file("a"), file("b"));
    assert_eq!(first["cache_key"], second["cache_key"]);
    assert_ne!(first["identifier"], second["identifier"]);
    assert_eq!(file("a"), first);
    place.works("policy install /Policyfile.rb");
}

/// Metadata are code: each is evaluated where no other one was.
#[test]
fn metadata_of_one_cookbook_change_no_other() {
    let place = Policy::new();
    place.repository("evil", ".", "evil", "");
    place.write(
        "evil/metadata.rb",
        "name 'evil'\nversion '1.0.0'\n\
         self.class.class_eval { m = instance_method(:version); define_method(:version) { |*a| m.bind_call(self, *(a.empty? ? [] : ['66.6.6'])) } }\n",
    );
    place.commit("evil");
    place.write("own/metadata.rb", "name 'own'\nversion '9.0.0'\n");
    place.write("own/recipes/default.rb", "");
    place.policyfile(
        "run_list 'evil', 'own'\ncookbook 'evil', git: 'file://@FOLDER@/evil'\ncookbook 'own', path: 'own'\n",
    );
    assert_eq!(place.locked("own")["version"], "9.0.0");
    // Nor does it see what others lie in.
    place.write("secret", "the author's\n");
    for folder in ["folder-0", "folder-1"] {
        place.write(
            "evil/metadata.rb",
            &format!("name 'evil'\nversion '1.0.0'\nraise Wrun::Bridge.call('cookbooks.read', '{folder}', 'secret').inspect\n"),
        );
        place.commit("evil");
        let said = place.ends_with(43, "policy update /Policyfile.rb").stderr;
        assert!(!said.contains("the author's"), "{said}");
        assert!(said.contains("Policyfile.rb:3: cookbook \"evil\" from file://"), "{said}");
    }
}

#[test]
fn branches_that_are_gone_are_forgotten() {
    let place = Policy::new();
    let first = place.repository("books", ".", "web", "log 1\n");
    place.git("books", &["branch", "feature"]);
    let file = |branch: &str| {
        place
            .policyfile(&format!("run_list 'web'\ncookbook 'web', git: 'file://@FOLDER@/books', branch: '{branch}'\n"));
    };
    file("feature");
    assert_eq!(place.locked("web")["source_options"]["revision"], first.as_str());
    place.git("books", &["branch", "-D", "-q", "feature"]);
    place.refuses("update", &["Policyfile.rb:3: cookbook \"web\" from file://", "git rev-parse --verify feature"]);
    // A branch below the old one's name is another file where the old one was a folder, and the other way round.
    place.git("books", &["branch", "feature/next"]);
    file("feature/next");
    assert_eq!(place.locked("web")["source_options"]["revision"], first.as_str());
}

#[test]
fn an_included_policy_follows_the_head_of_its_repository() {
    let place = Policy::new();
    place.write("base/c/web/metadata.rb", "name 'web'\nversion '1.0.0'\n");
    place.write("base/c/web/recipes/default.rb", "");
    place.write("base/Policyfile.rb", "name 'base'\nrun_list 'web'\ncookbook 'web', path: 'c/web'\n");
    let lock = |text: &str| {
        place.write("base/c/web/recipes/default.rb", text);
        place.works("policy update /base/Policyfile.rb");
    };
    lock("log 1\n");
    place.git("base", &["init", "-q"]);
    place.git("base", &["checkout", "-q", "-b", "old"]);
    let first = place.commit("base");
    place.policyfile("run_list 'web'\ninclude_policy 'base', git: 'file://@FOLDER@/base'\n");
    assert_eq!(place.locked("web")["source_options"]["revision"], first.as_str());
    place.git("base", &["branch", "-m", "old", "new"]);
    lock("log 2\n");
    let second = place.commit("base");
    assert_eq!(place.locked("web")["source_options"]["revision"], second.as_str());
    // What is fetched is what the included policy has locked.
    place.write("base/c/web/recipes/default.rb", "log 'not locked'\n");
    place.commit("base");
    drop(fs::remove_file(place.folder.join("Policyfile.lock.json")));
    place.refuses(
        "install",
        &["Policyfile.rb:3: include_policy \"base\"", "the cookbook web in ", "changed after it was locked"],
    );
    // A `chefignore` above the cookbook counted when it was locked.
    place.write("base/c/chefignore", "*.md\n");
    place.write("base/c/web/README.md", "not of the cookbook\n");
    lock("log 3\n");
    let third = place.commit("base");
    assert_eq!(place.locked("web")["source_options"]["revision"], third.as_str());
}

#[test]
fn no_more_of_a_fetched_file_is_read_than_a_lock_may_have() {
    let place = Policy::new();
    place.repository("base", ".", "web", "");
    fs::write(place.folder.join("base/Policyfile.lock.json"), vec![b' '; (16 << 20) + 1]).unwrap();
    place.commit("base");
    place.policyfile("run_list 'web'\ninclude_policy 'base', git: 'file://@FOLDER@/base'\n");
    place.refuses("install", &["Policyfile.rb:3: include_policy \"base\"", "wrote more than 16777216 bytes"]);
}

#[test]
fn errors_of_the_cache_say_what_to_remove() {
    let place = Policy::new();
    place.repository("books", ".", "web", "");
    place.policyfile("run_list 'web'\ncookbook 'web', git: 'file://@FOLDER@/books'\n");
    place.locked("web");
    let clones = place.fetched().join("git");
    let clone = fs::read_dir(&clones).unwrap().next().unwrap().unwrap().path();
    fs::remove_file(clone.join("HEAD")).unwrap();
    let folder = clone.display().to_string();
    let said = place.ends_with(43, "policy update /Policyfile.rb");
    assert!(said.stderr.contains("if that folder is damaged, remove it"), "{}", said.stderr);
    assert!(said.stderr.contains(clone.file_name().unwrap().to_str().unwrap()), "{folder}: {}", said.stderr);
    fs::remove_dir_all(&clone).unwrap();
    place.works("policy update /Policyfile.rb");
    assert_eq!(fs::read_dir(&clones).unwrap().count(), 1, "nothing unfinished is left");
}

#[test]
fn first_installs_beside_each_other_all_succeed() {
    let place = Policy::new();
    place.repository("books", ".", "web", "");
    place.policyfile("run_list 'web'\ncookbook 'web', git: 'file://@FOLDER@/books'\n");
    place.locked("web");
    let cache = place.fetched();
    fs::remove_dir_all(&cache).unwrap();
    std::thread::scope(|scope| {
        let all: Vec<_> = (0..6).map(|_| scope.spawn(|| place.run("policy install /Policyfile.rb"))).collect();
        for one in all {
            drop(one.join().unwrap().expect_code(0).unwrap());
        }
    });
    for folder in ["git", "cookbooks"] {
        assert_eq!(fs::read_dir(cache.join(folder)).unwrap().count(), 1, "{folder}");
    }
}
