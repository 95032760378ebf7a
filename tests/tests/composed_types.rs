//! What types need that Ruby composes of others: the check says it from the text, and a survey of the machine asks for no
//! more of it.

#![cfg(target_arch = "x86_64")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use serde_json::Value;
use specs::{Network, Program, Root};
use std::collections::BTreeSet;
use std::fs;

const RECIPE: &str = "
sysctl 'net.ipv4/ip_forward' do
  value 1
end
timezone 'Europe/Berlin'
hostname 'web1' do
  ipaddress '192.0.2.1'
end
apt_update 'now'
apt_preference 'libx.y' do
  pin 'version 1'
  pin_priority '700'
end
apt_repository 'thing' do
  uri 'https://example.org/debian'
  distribution 'stable'
  components ['main']
end
sudo 'admins.x' do
  users ['bob']
end
user_ulimit 'bob' do
  filehandle_limit 100
end
cron_access 'bob'
ohai_hint 'ec2'
ssh_known_hosts_entry 'example.org' do
  key 'AAA'
end
mount '/mnt/x' do
  device '/dev/sdz1'
  fstype 'ext4'
  options %w[ro noexec]
end
";

/// The paths, packages, mounts, modules and commands of a table, one `key value` each; a command's words joined by blanks.
fn entries(grants: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut key = "";
    for line in grants.lines().filter(|line| !line.starts_with(['#', '['])) {
        let (name, values) = line.split_once(" = [").filter(|_| !line.starts_with(' ')).unwrap_or((key, line));
        key = name;
        if !["paths", "packages", "mounts", "kernel_modules", "commands"].contains(&key) {
            continue;
        }
        let values = values.trim().trim_end_matches(',');
        // What is on one line has the list's own bracket.
        let values = if line.starts_with(' ') { values } else { values.strip_suffix(']').unwrap_or(values) };
        let command = values.strip_prefix("{ argv = ").and_then(|rest| rest.strip_suffix(" }"));
        let listed: Vec<String> = match command {
            Some(words) => vec![serde_json::from_str::<Vec<String>>(words).unwrap().join(" ")],
            None => serde_json::from_str(&format!("[{}]", values.trim_end_matches(']'))).unwrap_or_default(),
        };
        found.extend(listed.into_iter().map(|value| format!("{key} {value}")));
    }
    found
}

#[test]
fn the_check_finds_what_a_survey_finds() {
    let (program, root) = (Program::new().unwrap(), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    machine.run(&["sh", "-c", "echo '127.0.0.1 localhost' > /etc/hosts; touch /etc/sudoers"]).unwrap();
    let cookbook = program.configuration().join("cookbooks/web");
    fs::create_dir_all(cookbook.join("recipes")).unwrap();
    fs::write(cookbook.join("metadata.rb"), "name 'web'\n").unwrap();
    fs::write(cookbook.join("recipes/default.rb"), RECIPE).unwrap();
    let folder = cookbook.display().to_string();
    let said = program.run(&["cookbook", "check", &folder, "--format", "json"]).unwrap().expect_code(0).unwrap().stdout;
    let said: Value = serde_json::from_str(&said).unwrap();
    let checked = entries(said["grants"].as_str().unwrap());
    let (cookbooks, place) = (cookbook.parent().unwrap().display().to_string(), root.path().display().to_string());
    let arguments = ["grants", "suggest", "--cookbooks", &cookbooks, "--run-list", "recipe[web]", "--root", &place];
    // This machine lacks some of the programs, of which a survey says so (exit code 1).
    let surveyed = entries(&program.run_in(&machine, &arguments).unwrap().stdout);
    let missing: Vec<_> = surveyed.difference(&checked).collect();
    assert!(missing.is_empty(), "{missing:#?}\nof {surveyed:#?}\nin {checked:#?}");
    // What the machine as it is does not need is there too.
    for entry in [
        "commands sysctl -w net.ipv4/ip_forward=1",
        "commands /usr/bin/timedatectl --no-ask-password set-timezone Europe/Berlin",
        "commands hostnamectl set-hostname web1",
        "paths /etc/sysctl.d/99-chef-net.ipv4.ip_forward.conf",
        "paths /etc/sudoers.d/admins__x",
        "paths /etc/security/limits.d/bob_limits.conf",
        "mounts /dev/sdz1 on /mnt/x type ext4 (ro,noexec)",
    ] {
        assert!(checked.contains(entry), "{entry}: {checked:#?}");
    }
    assert!(surveyed.len() > 15, "{surveyed:#?}");
}
