//! Three teams that release through one signed repository, and a node that runs what they release.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::fs;
use std::ops::Deref;
use std::path::PathBuf;

use serde_json::Value;

use crate::place::Place;

/// The teams' names, which are their policies' and cookbooks' names too.
pub const TEAMS: [&str; 3] = ["core", "database", "monitoring"];

/// A machine with a repository beside it, both in folders of one test.
#[derive(Debug)]
pub struct ThreeTeams(Place);

impl Deref for ThreeTeams {
    type Target = Place;

    fn deref(&self) -> &Place {
        &self.0
    }
}

impl Default for ThreeTeams {
    fn default() -> Self {
        Self::new()
    }
}

impl ThreeTeams {
    /// Three policies, each with one cookbook in Ruby that writes a file.
    #[must_use]
    pub fn new() -> Self {
        let place = Self(Place::new());
        for team in TEAMS {
            place.write(&format!("{team}/policy.toml"), &format!("name = \"{team}\"\nrun_list = [\"{team}\"]\n"));
            place.write(&format!("{team}/cookbooks/{team}/metadata.rb"), &format!("name '{team}'\nversion '1.0.0'\n"));
            place.recipe(team, "1");
        }
        for folder in ["root/etc", "root/tmp"] {
            fs::create_dir_all(place.folder.join(folder)).unwrap();
        }
        place
    }

    /// The recipe of a team writes these words, and what the node says about the policy.
    pub fn recipe(&self, team: &str, words: &str) {
        let text = format!(
            "file '/tmp/{team}' do\n  content \"{words} #{{node['policy_name']}} #{{node['policy_group']}} \
             #{{node['policy_revision']}} #{{node.chef_environment}}\"\nend\n"
        );
        self.write(&format!("{team}/cookbooks/{team}/recipes/default.rb"), &text);
    }

    /// Other code of a team's, which its next push locks anew.
    pub fn change(&self, team: &str, words: &str) {
        self.recipe(team, words);
        fs::remove_file(self.folder.join(team).join("policy.lock.json")).unwrap();
    }

    /// Makes the repository `/srv`, with each team's keys on this machine.
    #[track_caller]
    pub fn init(&self) {
        self.works("repository init /srv --team core --team database --team monitoring");
    }

    /// Releases all three policies to a group.
    #[track_caller]
    pub fn push(&self, group: &str) {
        self.works(&format!("policy push {group} /core /database /monitoring"));
    }

    /// Releases of a team need a second key from now on, which is not among this machine's until it comes back.
    #[track_caller]
    pub fn needs_a_second_key(&self, team: &str) -> AwayKey {
        let made = self.output("keys new second");
        assert!(made.stdout.contains("\"keytype\":\"ed25519\""), "{}", made.stdout);
        let keys = self.program.configuration().with_file_name("home/.config/wrun/keys");
        let [first, second, online] = [team, "second", &format!("{team}-online")].map(|name| {
            assert!(keys.join(format!("{name}.key")).exists(), "there is no key {name}");
            format!("home/.config/wrun/keys/{name}.key")
        });
        self.works(&format!(
            "repository add-team {team} --key {first} --key {second} --online-key {online} --threshold 2"
        ));
        let key = AwayKey(keys.join("second.key"));
        key.go_away();
        key
    }

    /// Converges the test's root and returns the run's JSON.
    #[track_caller]
    pub fn converge(&self, more: &str) -> Value {
        let output = self.output(&self.line(more));
        serde_json::from_str(&output.stdout).unwrap_or_else(|error| panic!("{error} in\n{}", output.text()))
    }

    /// The line that converges the test's root: all three policies and the group `staging`, unless `more` says otherwise.
    #[must_use]
    pub fn line(&self, more: &str) -> String {
        let names = if more.contains("--policy-name") { "" } else { " --policy-name core,database,monitoring" };
        let group = if more.contains("--policy-group") || more.contains('@') { "" } else { " --policy-group staging" };
        format!("converge --format json --repository /srv --root /root --allow-all --node-name n1{names}{group}{more}")
    }

    /// Reads what a team's recipe wrote.
    #[must_use]
    pub fn file(&self, team: &str) -> String {
        self.read(&format!("root/tmp/{team}"))
    }

    /// Reads the node as the last run saved it.
    #[must_use]
    pub fn saved_node(&self) -> Value {
        serde_json::from_slice(&fs::read(self.program.state().join("nodes/n1.json")).unwrap()).unwrap()
    }
}

/// A key that lies elsewhere; its own path.
#[derive(Debug)]
pub struct AwayKey(PathBuf);

impl AwayKey {
    fn elsewhere(&self) -> PathBuf {
        self.0.with_extension("away")
    }

    /// Takes the key away from this machine's.
    pub fn go_away(&self) {
        fs::rename(&self.0, self.elsewhere()).unwrap();
    }

    /// Puts the key back among this machine's.
    pub fn come_back(&self) {
        fs::rename(self.elsewhere(), &self.0).unwrap();
    }
}
