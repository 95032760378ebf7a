//! Three teams that release through one signed repository, and a node that runs their releases.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::fs;
use std::ops::Deref;
use std::path::PathBuf;

use serde_json::Value;

use crate::place::Place;

/// The teams' names, which are also the names of their policies and cookbooks.
pub const TEAMS: [&str; 3] = ["core", "database", "monitoring"];

/// A machine and a repository, both in folders of one test.
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
    /// Creates three policies, each with one Ruby cookbook that writes a file.
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

    /// Writes a team's recipe, which writes these words and the node's attributes of the policy to a file.
    pub fn recipe(&self, team: &str, words: &str) {
        let text = format!(
            "file '/tmp/{team}' do\n  content \"{words} #{{node['policy_name']}} #{{node['policy_group']}} \
             #{{node['policy_revision']}} #{{node.chef_environment}}\"\nend\n"
        );
        self.write(&format!("{team}/cookbooks/{team}/recipes/default.rb"), &text);
    }

    /// Changes a team's recipe, so that its next push creates a new lock.
    pub fn change(&self, team: &str, words: &str) {
        self.recipe(team, words);
        fs::remove_file(self.folder.join(team).join("policy.lock.json")).unwrap();
    }

    /// Creates the repository `/srv`, with each team's keys on this machine.
    #[track_caller]
    pub fn init(&self) {
        self.works("repository init /srv --team core --team database --team monitoring");
    }

    /// Releases all three policies to a group.
    #[track_caller]
    pub fn push(&self, group: &str) {
        self.works(&format!("policy push {group} /core /database /monitoring"));
    }

    /// Makes a team's releases require a second key. This key is not among this machine's keys until [`AwayKey::come_back`].
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

    /// Converges the test's root, and returns the run as JSON.
    #[track_caller]
    pub fn converge(&self, more: &str) -> Value {
        let output = self.output(&self.line(more));
        serde_json::from_str(&output.stdout).unwrap_or_else(|error| panic!("{error} in\n{}", output.text()))
    }

    /// Returns the command line that converges the test's root with all three policies and the group `staging`, unless `more`
    /// changes this.
    #[must_use]
    pub fn line(&self, more: &str) -> String {
        let names = if more.contains("--policy-name") { "" } else { " --policy-name core,database,monitoring" };
        let group = if more.contains("--policy-group") || more.contains('@') { "" } else { " --policy-group staging" };
        format!("converge --format json --repository /srv --root /root --allow-all --node-name n1{names}{group}{more}")
    }

    /// Reads the file that a team's recipe wrote.
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

/// A key that can be moved away, by its original path.
#[derive(Debug)]
pub struct AwayKey(PathBuf);

impl AwayKey {
    fn elsewhere(&self) -> PathBuf {
        self.0.with_extension("away")
    }

    /// Moves the key away from this machine's keys.
    pub fn go_away(&self) {
        fs::rename(&self.0, self.elsewhere()).unwrap();
    }

    /// Moves the key back to this machine's keys.
    pub fn come_back(&self) {
        fs::rename(self.elsewhere(), &self.0).unwrap();
    }
}
