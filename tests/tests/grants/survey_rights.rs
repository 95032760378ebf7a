//! The rights of a policy in the plan of `wrun grants suggest`: it learns nothing that could then reach others, through the
//! suggestion or the list of processes.

use super::Bench;
use specs::{Machine, Network, Root};
use std::fs;

const SECRET: &str = "s3cr3t-key";

/// Tries to learn secrets in many ways, and puts what it learns into names. Each way is tried, whatever came of the others.
const LEARNS: &str = r#"
require 'fileutils'
tell = lambda do |way, &learn|
  learnt = begin
    learn.call.to_s.strip
  rescue StandardError => error
    "refused-#{error.class}"
  end
  file "/srv/told/#{way}-#{learnt.tr('/ :', '---')[0, 100]}"
end
tell.call('public') { File.read('/srv/public') }
tell.call('read') { File.read('/root/key') }
tell.call('shadow') { File.read('/etc/shadow').lines.first }
tell.call('listed') { Dir.children('/root/folder').first }
tell.call('renamed') { File.rename('/root/key', '/srv/key'); File.read('/srv/key') }
tell.call('copied') { FileUtils.cp('/root/key', '/srv/copy'); File.read('/srv/copy') }
tell.call('moved') { FileUtils.mv('/root/folder', '/srv/folder'); Dir.children('/srv/folder').first }
tell.call('inside') { File.read('/srv/folder/inner') }
tell.call('appended') { File.write('/root/key', 'x', mode: 'a'); File.read('/root/key') }
tell.call('linked') { File.symlink('/root/key', '/srv/link'); File.read('/srv/link') }
tell.call('opened') { File.chmod(0o644, '/root/key'); File.read('/root/key') }
tell.call('there') { Dir.mkdir('/root/folder'); 'made' }
tell.call('absent') { Dir.mkdir('/root/nothing'); 'made' }
tell.call('below') { File.symlink('x', '/root/key/x'); 'made' }
tell.call('leads') { File.realpath('/root/current') }
tell.call('behind') { File.exist?('/root/current') }
tell.call('process') { File.read('/proc/1/environ') }
tell.call('command') { shell_out('cat /root/key').stdout }
tell.call('words') { shell_out('echo s3cr3t-key').stdout }
tell.call('bag') { data_bag_item('passwords', 'db')['password'] }
tell.call('role') { search(:node, '*:*').first['name'] }
tell.call('variable') { ENV['COLUMNS'] }
link '/srv/hard' do
  to '/root/key'
  link_type :hard
end
remote_file '/srv/fetched' do
  source 'file:///root/key'
end
%w[hard fetched].each do |way|
  execute "later #{way}" do
    command(lazy { "echo #{way} #{File.read("/srv/#{way}")}" })
  end
end
"#;

fn bench_with_secrets(recipe: &str) -> (Bench, Root) {
    let (bench, root) = (Bench::new(recipe), Root::new().unwrap());
    let bags = bench.program.configuration().join("bags/passwords");
    fs::create_dir_all(&bags).unwrap();
    fs::write(bags.join("db.json"), format!("{{\"id\": \"db\", \"password\": \"{SECRET}\"}}")).unwrap();
    let prepare = format!(
        "mkdir -p /srv /root/folder; echo {SECRET} > /root/key; echo everybody-knows > /srv/public; chmod 600 /root/key; \
         ln -s /srv/public /root/current; \
         chmod 700 /root /root/folder; echo {SECRET} > /root/folder/inner; echo root:{SECRET}:1:: > /etc/shadow; chmod 640 /etc/shadow"
    );
    root.machine(Network::Own).unwrap().run(&["sh", "-ec", &prepare]).unwrap();
    (bench, root)
}

fn suggest(bench: &Bench, machine: &Machine<'_>, more: &[&str]) -> specs::Output {
    let bags = bench.program.configuration().join("bags").display().to_string();
    bench.wrun(machine, &["grants", "suggest"], &[&["--data-bags", &bags], more].concat())
}

#[test]
fn attack_a_suggestion_tells_no_secret_of_the_machine() {
    let (bench, root) = bench_with_secrets(LEARNS);
    let machine = root.machine(Network::Own).unwrap();
    let suggested = suggest(&bench, &machine, &[]);
    let told = suggested.text().replace("cat /root/key", "").replace(&format!("\"echo {SECRET}\""), "");
    assert!(!told.contains(SECRET), "{}", suggested.text());
    // Each way was tried, and each thing is suggested.
    for part in
        ["/srv/told/public-everybody-knows", "/srv/told/variable-\"", "read_paths", "\"/root/key\"", "passwords/db"]
    {
        assert!(suggested.stdout.contains(part), "{part} is missing in {}", suggested.text());
    }
    for part in ["\"cat /root/key\"", "environment = [\"COLUMNS\"]", "search = [\"node\"]"] {
        assert!(suggested.stdout.contains(part), "{part} is missing in {}", suggested.text());
    }
    for part in ["there-made", "absent-made", "below-made", "leads-refused", "behind-refused"] {
        assert!(suggested.stdout.contains(&format!("/srv/told/{part}")), "{part} is missing in {}", suggested.text());
    }
    assert!(suggested.stderr.contains("use --allow-all if you trust the policy"), "{}", suggested.text());
    let surveys = bench.program.state().join("surveys");
    let records =
        fs::read_dir(surveys).unwrap().map(|entry| fs::read_to_string(entry.unwrap().path().join("run.json")));
    for record in records {
        assert!(!record.unwrap().replace(&format!("echo {SECRET}"), "").contains(SECRET));
    }
    // The same policy learns a lot if the operator trusts it.
    let trusted = suggest(&bench, &machine, &["--allow-all"]);
    for way in ["read", "renamed", "bag"] {
        assert!(trusted.stdout.contains(&format!("/srv/told/{way}-{SECRET}")), "{way} in {}", trusted.text());
    }
}

/// The machine's list of processes shows everybody the words of a running command.
#[test]
fn attack_a_suggestion_starts_no_command_that_is_not_granted() {
    let recipe = "%w[granted other].each do |word|\n  file \"/srv/#{shell_out(\"echo #{word}\").stdout.strip}-ran\"\n\
                  rescue SystemCallError\n  log 'not started'\nend\n";
    let (bench, root) = (Bench::new(recipe), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    fs::write(bench.grants(), "[policy.solo]\ncommands = [\"echo granted\"]\n").unwrap();
    let grants = bench.grants().display().to_string();
    let suggested = bench.wrun(&machine, &["grants", "suggest"], &["--grants", &grants]).stdout;
    assert!(suggested.contains("/srv/granted-ran") && !suggested.contains("/srv/other-ran"), "{suggested}");
    assert!(suggested.contains("\"echo granted\"") && suggested.contains("\"echo other\""), "{suggested}");
}

/// What a policy computes from things that are not granted yet is found in the next rounds.
#[test]
fn suggestions_come_to_an_end_round_by_round() {
    let recipe = "word = shell_out!('echo word').stdout.strip\n\
                  password = data_bag_item('passwords', 'db')['password']\n\
                  key = File.read('/root/key').strip\n\
                  file \"/srv/#{word}-#{password}\" do\n  content key\nend\n";
    let (bench, root) = bench_with_secrets(recipe);
    let machine = root.machine(Network::Own).unwrap();
    let grants = bench.grants().display().to_string();
    let more = ["--grants", &grants, "--write", &grants, "--yes", "--dangerous"];
    let rounds = (1..=6).find(|_| suggest(&bench, &machine, &more).expect_code(0).is_ok());
    assert!(rounds.is_some_and(|rounds| rounds > 1), "{rounds:?}\n{}", suggest(&bench, &machine, &more).text());
    let bags = bench.program.configuration().join("bags").display().to_string();
    let _done = bench.converge(&machine, &["--data-bags", &bags]).expect_code(0).unwrap();
    assert!(root.exists(format!("srv/word-{SECRET}")));
}

/// The rules decide what the plan reads, so that they have to be valid.
#[test]
fn a_file_of_grants_that_is_not_valid_is_an_error_in_a_suggestion() {
    let (bench, root) = (Bench::new("file '/srv/a'\n"), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    fs::write(bench.grants(), "[policy.solo]\npath = [\"/srv/a\"]\n").unwrap();
    let grants = bench.grants().display().to_string();
    let suggest = |grants: &str| bench.wrun(&machine, &["grants", "suggest"], &["--grants", grants]);
    let refused = suggest(&grants).expect_code(43).unwrap();
    assert!(refused.stderr.contains("grants.toml:2"), "{}", refused.text());
    let missing = suggest("/nowhere/grants.toml").expect_code(43).unwrap();
    assert!(missing.stderr.contains("does not exist"), "{}", missing.text());
}
