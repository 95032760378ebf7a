//! Types that the host makes of other resources, declared by a policy in Rust: made, found as wanted, and removed. Their
//! children need grants of their own.

#![cfg(target_arch = "x86_64")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use serde_json::Value;
use specs::{Machine, Network, Program, Root, fixtures};
use std::collections::BTreeMap;
use std::fs;

/// Programs of the machine as tests need them: they keep what they are told below `/srv`.
const PROGRAMS: &str = r#"
mkdir -p /srv /etc/sudoers.d
cat > /usr/local/bin/sysctl <<'END'
#!/bin/sh
case "$1" in
-n) cat "/srv/sysctl-$3" 2>/dev/null ;;
-w) echo "${2#*=}" > "/srv/sysctl-${2%%=*}" ;;
-p) echo loaded >> /srv/loads ;;
esac
END
cat > /bin/hostname <<'END'
#!/bin/sh
if [ -n "$1" ]; then echo "$1" > /srv/hostname; else cat /srv/hostname 2>/dev/null || echo old; fi
END
# As if the folder of the running machine's systemd were there, too.
mkdir -p /run/systemd/system
for name in hostnamectl timedatectl; do printf '#!/bin/sh\necho "$@" >> /srv/systemd\n' > /usr/bin/$name; done
chmod 0755 /usr/local/bin/sysctl /bin/hostname /usr/bin/hostnamectl /usr/bin/timedatectl
echo '127.0.0.1 localhost' > /etc/hosts
rm -f /usr/sbin/visudo
"#;

struct Bench {
    program: Program,
    root: Root,
}

impl Bench {
    fn run(&self, machine: &Machine<'_>, recipe: &str, more: &[&str], code: i32) -> Value {
        let (place, policies) = (self.root.path().display().to_string(), fixtures().display().to_string());
        let item = format!("composites::{recipe}");
        let fixed = ["converge", "-F", "json", "--root", &place, "--node-name", "n1", "--policies", &policies];
        let arguments = [&fixed[..], &["--policy-name", "composites", "-o", &item], more].concat();
        let output = self.program.run_in(machine, &arguments).unwrap().expect_code(code).unwrap();
        serde_json::from_str(&output.stdout).unwrap()
    }
}

/// The status of each row at one level: `TYPE[NAME]` and `STATUS`.
fn rows(run: &Value, nesting: u64) -> BTreeMap<String, String> {
    let policies = run["policies"].as_array().unwrap().iter();
    let rows = policies.flat_map(|policy| policy["resources"].as_array().unwrap());
    let of_level = rows.filter(|row| row["nesting"] == nesting);
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    of_level.map(|row| (format!("{}[{}]", text(&row["type"]), text(&row["name"])), text(&row["status"]))).collect()
}

fn check(found: &BTreeMap<String, String>, expected: &[&str], status: &str) {
    for key in expected {
        assert_eq!(found.get(*key).map(String::as_str), Some(status), "{key}: {found:#?}");
    }
}

const MADE: [&str; 5] =
    ["sudo[ops]", "sysctl[net.ipv4.ip_forward]", "hostname[web1]", "apt_preference[libx.y]", "user_ulimit[ann]"];

const REMOVED: [&str; 4] = ["sudo[ops]", "sysctl[net.ipv4.ip_forward]", "apt_preference[libx.y]", "user_ulimit[ann]"];

#[test]
fn a_policy_in_rust_makes_and_removes_them() {
    let bench = Bench { program: Program::new().unwrap(), root: Root::new().unwrap() };
    let machine = bench.root.machine(Network::Own).unwrap();
    machine.run(&["sh", "-ec", PROGRAMS]).unwrap();
    let there = |path: &str| machine.run(&["test", "-e", path]).unwrap().status.success();
    let file = "/etc/sudoers.d/ops";
    // A dry run says what would change, and changes nothing.
    let dry = bench.run(&machine, "create", &["--allow-all", "--why-run"], 0);
    check(&rows(&dry, 0), &MADE, "updated");
    check(&rows(&dry, 1), &["template[/etc/sudoers.d/ops]", "execute[set hostname to web1]"], "updated");
    assert!(!there(file) && !there("/srv/hostname") && !there("/srv/loads"));
    // The run makes it, and another one finds it so.
    let run = bench.run(&machine, "create", &["--allow-all"], 0);
    check(&rows(&run, 0), &MADE, "updated");
    check(&rows(&run, 1), &["template[/etc/sudoers.d/ops]"], "updated");
    // The kernel below another root is another machine's.
    assert!(!rows(&run, 1).contains_key("execute[Load sysctl values]") && !there("/srv/loads"), "{run:#}");
    let read = |path: &str| String::from_utf8(machine.run(&["cat", path]).unwrap().stdout).unwrap();
    assert!(read(file).ends_with("ann ALL=(ALL) NOPASSWD:/bin/true\n"), "{}", read(file));
    assert_eq!(read("/etc/sysctl.d/99-chef-net.ipv4.ip_forward.conf"), "net.ipv4.ip_forward = 1\n");
    assert_eq!(read("/etc/hosts"), "127.0.0.1 localhost\n192.0.2.1 web1.example.org web1 web1\n");
    assert_eq!(read("/etc/hostname"), "web1\n");
    assert!(read("/etc/security/limits.d/ann_limits.conf").contains("\nann - nofile 100\n"));
    let again = bench.run(&machine, "create", &["--allow-all"], 0);
    check(&rows(&again, 0), &[&MADE[..], &["timezone[Etc/UTC]"]].concat(), "up-to-date");
    let removed = bench.run(&machine, "remove", &["--allow-all"], 0);
    check(&rows(&removed, 0), &REMOVED, "updated");
    assert!(!there(file) && !there("/etc/security/limits.d/ann_limits.conf"));
    // Neither its kernel nor its systemd is told anything.
    assert!(!there("/srv/loads") && !there("/srv/systemd"), "{removed:#}");
    check(&rows(&bench.run(&machine, "remove", &["--allow-all"], 0), 0), &REMOVED, "up-to-date");
}

/// What lives below another root has no business with the name of the machine that wrun runs on.
#[test]
fn a_command_below_another_root_does_not_rename_this_machine() {
    let bench = Bench { program: Program::new().unwrap(), root: Root::new().unwrap() };
    let machine = bench.root.machine(Network::Own).unwrap();
    let name = || machine.run(&["cat", "/proc/sys/kernel/hostname"]).unwrap().stdout;
    let before = name();
    let recipes = bench.program.configuration().join("cookbooks/a/recipes");
    fs::create_dir_all(&recipes).unwrap();
    fs::write(recipes.join("../metadata.rb"), "name 'a'\n").unwrap();
    let recipe = "hostname 'renamed'\nexecute 'hostname again && hostname > /srv/said'\n";
    fs::write(recipes.join("default.rb"), recipe).unwrap();
    let [root, cookbooks] =
        [bench.root.path(), &bench.program.configuration().join("cookbooks")].map(|path| path.display().to_string());
    let arguments =
        ["converge", "--root", &root, "-N", "n1", "--cookbooks", &cookbooks, "-r", "recipe[a]", "--allow-all"];
    let ran = bench.program.run_in(&machine, &arguments).unwrap().expect_code(0).unwrap();
    let said = machine.run(&["cat", "/srv/said", "/etc/hostname"]).unwrap().stdout;
    assert_eq!(String::from_utf8_lossy(&said), "again\nrenamed\n", "{}", ran.text());
    assert_eq!(name(), before);
    let again = bench.program.run_in(&machine, &arguments).unwrap().expect_code(0).unwrap();
    assert!(again.stdout.contains("hostname[renamed]") && again.stdout.contains("1 of "), "{}", again.text());
}

/// Nothing of a sensitive resource is shown: no sentence, no value in an error, and nothing of a file that others share.
#[test]
fn sensitive_resources_show_nothing() {
    let bench = Bench { program: Program::new().unwrap(), root: Root::new().unwrap() };
    let machine = bench.root.machine(Network::Own).unwrap();
    let cookbooks = bench.program.configuration().join("cookbooks");
    fs::create_dir_all(cookbooks.join("a/recipes")).unwrap();
    fs::write(cookbooks.join("a/metadata.rb"), "name 'a'\n").unwrap();
    let recipe = r#"
directory '/etc/ssh'
ssh_known_hosts_entry 'a.example' do
  key 'PLAIN'
end
ssh_known_hosts_entry 'b.example' do
  key 'SECRET1'
  sensitive true
end
sysctl 'vm.swappiness' do
  value 'SECRET2'
  sensitive true
end
sysctl 'vm.dirty_ratio' do
  value "SECRET3\nx"
  sensitive true
  ignore_failure true
end
"#;
    fs::write(cookbooks.join("a/recipes/default.rb"), recipe).unwrap();
    let [root, cookbooks] = [bench.root.path(), &cookbooks].map(|path| path.display().to_string());
    for more in [&["--why-run"][..], &["-F", "json"], &[]] {
        let fixed =
            ["converge", "--root", &root, "-N", "n1", "--cookbooks", &cookbooks, "-r", "recipe[a]", "--allow-all"];
        let ran = bench.program.run_in(&machine, &[&fixed[..], more].concat()).unwrap().expect_code(0).unwrap();
        assert!(!ran.text().contains("SECRET"), "{}", ran.text());
    }
    let hosts = machine.run(&["cat", "/etc/ssh/ssh_known_hosts"]).unwrap().stdout;
    assert!(String::from_utf8_lossy(&hosts).contains("b.example ssh-rsa SECRET1\n"));
}

/// Programs that manage what a throw-away root does not have. They keep what they are told below `/srv`.
const SYSTEM_PROGRAMS: &str = r#"
mkdir -p /srv /etc/ssh /etc/modprobe.d
cd /usr/local/bin
printf '#!/bin/sh\necho update >> /srv/apt\ntouch /var/lib/apt/periodic/update-success-stamp\n' > apt-get
printf '#!/bin/sh\necho gencaches >> /srv/apt\n' > apt-cache
printf '#!/bin/sh\necho pub:\n' > gpg
printf '#!/bin/sh\ncase $1 in --summary) cat /srv/swaps;; *) echo "$1 file 1024 0 -2" > /srv/swaps;; esac\n' > swapon
printf '#!/bin/sh\n: > /srv/swaps\n' > swapoff
printf '#!/bin/sh\necho "$@" >> /srv/modprobe\n' > modprobe
printf '#!/bin/sh\necho "$@" >> /srv/initramfs\n' > update-initramfs
printf '#!/bin/sh\necho "$@" >> /srv/locales\n' > locale-gen
printf '#!/bin/sh\ncat /srv/locales\n' > locale
chmod 0755 *
: > /srv/swaps; : > /srv/locales
"#;

const OF_SYSTEM: [&str; 10] = [
    "apt_repository[thing]",
    "apt_update[lists]",
    "swap_file[/srv/swap]",
    "kernel_module[thing]",
    "locale[language]",
    "alternatives[thing]",
    "template[update ssh known hosts file /etc/ssh/ssh_known_hosts]",
    "template[/etc/cron.allow]",
    "ohai_hint[ec2]",
    "chef_sleep[0]",
];

#[test]
fn a_policy_in_rust_manages_repositories_swap_modules_and_languages() {
    let bench = Bench { program: Program::new().unwrap(), root: Root::new().unwrap() };
    let machine = bench.root.machine(Network::Own).unwrap();
    machine.run(&["sh", "-ec", SYSTEM_PROGRAMS]).unwrap();
    let there = |path: &str| machine.run(&["test", "-e", path]).unwrap().status.success();
    let read = |path: &str| String::from_utf8(machine.run(&["cat", path]).unwrap().stdout).unwrap();
    let dry = bench.run(&machine, "system", &["--allow-all", "--why-run"], 0);
    check(&rows(&dry, 0), &OF_SYSTEM, "updated");
    assert!(!there("/srv/swap") && !there("/srv/modprobe") && !there("/etc/cron.allow"));
    let run = bench.run(&machine, "system", &["--allow-all"], 0);
    // The repository has fetched the lists of packages by then.
    let changed: Vec<_> = OF_SYSTEM.iter().copied().filter(|key| !key.starts_with("apt_update")).collect();
    check(&rows(&run, 0), &changed, "updated");
    check(&rows(&run, 0), &["apt_update[lists]"], "up-to-date");
    check(&rows(&run, 1), &["file[/etc/apt/sources.list.d/thing.list]", "file[Updating system locale]"], "updated");
    let list = read("/etc/apt/sources.list.d/thing.list");
    assert_eq!(list, "deb      [signed-by=/etc/apt/keyrings/thing.gpg] https://example.org/debian stable main\n");
    assert_eq!(read("/etc/fstab").lines().last(), Some("/srv/swap swap swap defaults 0 0"));
    assert_eq!(read("/etc/modprobe.d/options_thing.conf"), "options thing a=1\n");
    // The kernel below another root is another machine's.
    assert_eq!((read("/srv/modprobe"), read("/srv/initramfs")), (String::new(), "-u\n".into()));
    assert_eq!(read("/etc/locale.conf"), "LANG=en_GB.UTF-8\n");
    assert_eq!(read("/etc/ssh/ssh_known_hosts"), "[a.example]:2222 ssh-rsa AAA\nb.example ssh-rsa BBB\n");
    assert!(read("/etc/cron.allow").ends_with("\nann\nbob\n"), "{}", read("/etc/cron.allow"));
    assert!(there("/etc/alternatives/thing") && there("/etc/chef/ohai/hints/ec2.json"));
    let again = bench.run(&machine, "system", &["--allow-all"], 0);
    let settled: Vec<_> = OF_SYSTEM.iter().copied().filter(|key| !key.starts_with("chef_sleep")).collect();
    // The stub of `modprobe` loads nothing.
    let settled: Vec<_> = settled.into_iter().filter(|key| !key.starts_with("kernel_module")).collect();
    check(&rows(&again, 0), &settled, "up-to-date");
    let removed = bench.run(&machine, "unsystem", &["--allow-all"], 0);
    let gone = [
        "apt_repository[thing]",
        "swap_file[/srv/swap]",
        "kernel_module[thing]",
        "alternatives[thing]",
        "ohai_hint[ec2]",
    ];
    check(&rows(&removed, 0), &gone, "updated");
    assert!(!there("/srv/swap") && !there("/etc/apt/sources.list.d/thing.list") && !there("/etc/alternatives/thing"));
    let lie = bench.run(&machine, "lie", &["--allow-all"], 1);
    let message = lie["error"]["message"].as_str().unwrap();
    assert!(message.contains("\"-r\" is not the name of a kernel module"), "{message}");
}

#[test]
fn children_need_grants_of_their_own_and_stay_in_their_folders() {
    let bench = Bench { program: Program::new().unwrap(), root: Root::new().unwrap() };
    let machine = bench.root.machine(Network::Own).unwrap();
    machine.run(&["sh", "-ec", PROGRAMS]).unwrap();
    let grants = bench.program.configuration().join("grants.toml");
    fs::write(&grants, "[policy.composites]\npaths = [\"/etc/sudoers.d\"]\n").unwrap();
    let grants = grants.display().to_string();
    let message = |run: &Value| run["error"]["message"].as_str().unwrap_or_default().to_owned();
    let denied = bench.run(&machine, "create", &["--grants", &grants], 1);
    assert!(message(&denied).contains("/etc/sudoers.d/ops"), "{denied:#}");
    assert_eq!(denied["error"]["origin"]["recipe"], "create", "{denied:#}");
    let hostile = bench.run(&machine, "hostile", &["--allow-all"], 1);
    assert!(message(&hostile).contains("is not the name of a file"), "{hostile:#}");
    assert!(!machine.run(&["test", "-e", "/root/ops"]).unwrap().status.success());
}

/// Keys, certificates and lists, each with whether a dry run before the first real one knows what becomes of it.
const PKI: [(&str, &str); 9] = [
    ("openssl_rsa_private_key[/srv/ca/rsa.key]", "updated"),
    ("openssl_rsa_public_key[/srv/ca/rsa.pub]", "unknown"),
    ("openssl_x509_certificate[/srv/ca/rsa.crt]", "updated"),
    ("openssl_ec_private_key[/srv/ca/ec.key]", "updated"),
    ("openssl_ec_public_key[/srv/ca/ec.pub]", "unknown"),
    ("openssl_x509_request[/srv/ca/web.csr]", "updated"),
    ("openssl_x509_certificate[/srv/ca/web.crt]", "updated"),
    ("openssl_x509_crl[/srv/ca/revoked.pem]", "updated"),
    ("openssl_dhparam[/srv/ca/dh.pem]", "updated"),
];

/// What these types need. Each entry names its command whole, and holds in the next run too.
const PKI_GRANTS: &str = r#"
[policy.composites]
paths = ["/srv/ca", "/srv/ca/**"]
commands = [
    "openssl genrsa -traditional 2048",
    { argv = ["openssl", "rsa", "-traditional", "-aes-256-cbc", "-passout", "env:WRUN_PASSWORD"], environment = { WRUN_PASSWORD = "<any>" }, input = true },
    { argv = ["openssl", "pkey", "-noout", "-passin", "env:WRUN_PASSWORD"], environment = { WRUN_PASSWORD = "<any>" }, input = true },
    { argv = ["openssl", "pkey", "-pubout", "-passin", "env:WRUN_PASSWORD"], environment = { WRUN_PASSWORD = "<any>" }, input = true },
    "openssl ecparam -name prime256v1 -genkey -noout",
    { argv = ["openssl", "dhparam", "-check", "-noout"], input = true },
    "openssl dhparam -2 1024",
]
"#;

/// Parts of what nobody may read in a report.
const PKI_SECRETS: [&str; 2] = ["correct horse", "PRIVATE KEY"];

#[test]
fn a_policy_in_rust_makes_keys_certificates_and_lists() {
    let bench = Bench { program: Program::new().unwrap(), root: Root::new().unwrap() };
    let machine = bench.root.machine(Network::Own).unwrap();
    let grants = bench.program.configuration().join("grants.toml");
    fs::write(&grants, PKI_GRANTS).unwrap();
    let grants = grants.display().to_string();
    let run = |more: &[&str]| bench.run(&machine, "pki", &[&["--grants", &grants], more].concat(), 0);
    let dry = run(&["--why-run"]);
    for (key, status) in PKI {
        check(&rows(&dry, 0), &[key], status);
    }
    assert!(!machine.run(&["test", "-e", "/srv/ca"]).unwrap().status.success());
    let keys = PKI.map(|(key, _)| key);
    let real = run(&[]);
    check(&rows(&real, 0), &keys, "updated");
    let parts = ["file[/srv/ca/rsa.crt]", "file[/srv/ca/ec.pub]", "file[/srv/ca/web.csr]", "file[/srv/ca/dh.pem]"];
    check(&rows(&real, 1), &parts, "updated");
    check(&rows(&run(&[]), 0), &keys, "up-to-date");
    check(&rows(&run(&["--why-run"]), 0), &keys, "up-to-date");
    let says = |words: &str| {
        let output = machine.run(&["sh", "-ec", &format!("{words} 2>&1")]).unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{words}: {said}");
        said
    };
    assert_eq!(says("cd /srv/ca; stat -c %a rsa.key ec.key rsa.pub"), "600\n640\n640\n");
    assert!(says("head -n 2 /srv/ca/rsa.key").contains("ENCRYPTED"), "the key is locked");
    assert_eq!(says("openssl verify -CAfile /srv/ca/rsa.crt /srv/ca/web.crt"), "/srv/ca/web.crt: OK\n");
    assert!(says("openssl x509 -noout -text -in /srv/ca/web.crt").contains("DNS:web.example.org"));
    assert!(says("openssl x509 -noout -text -in /srv/ca/rsa.crt").contains("Certificate Sign, CRL Sign"));
    assert_eq!(says("openssl pkey -pubout -in /srv/ca/ec.key"), says("cat /srv/ca/ec.pub"));
    assert_eq!(says("openssl req -noout -pubkey -in /srv/ca/web.csr"), says("cat /srv/ca/ec.pub"));
    let list = says("openssl crl -noout -text -in /srv/ca/revoked.pem -CAfile /srv/ca/rsa.crt");
    assert!(
        list.contains("verify OK") && list.contains("Serial Number: 80\n") && list.contains("Key Compromise"),
        "{list}"
    );
    let _ = says("openssl dhparam -check -noout -in /srv/ca/dh.pem");
    // Damaged or soon to end, they are made anew; a key is not, which others hold the public half of.
    let _ = says("cd /srv/ca; : > web.crt; : > dh.pem; rm rsa.pub");
    let again = run(&[]);
    for (key, _) in PKI {
        let is_lost = ["web.crt", "dh.pem", "rsa.pub"].iter().any(|name| key.contains(name));
        check(&rows(&again, 0), &[key], if is_lost { "updated" } else { "up-to-date" });
    }
    for said in [dry, real, again] {
        let said = said.to_string();
        PKI_SECRETS.iter().for_each(|secret| assert!(!said.contains(secret), "{secret} in {said}"));
    }
    for secret in PKI_SECRETS {
        let found =
            std::process::Command::new("grep").args(["-rl", secret]).arg(bench.program.state()).output().unwrap();
        assert!(found.stdout.is_empty(), "{secret} in {}", String::from_utf8_lossy(&found.stdout));
    }
}

/// A command that makes a key is the policy's own, and its denial shows neither key nor password.
#[test]
fn keys_are_made_by_granted_commands_alone() {
    let bench = Bench { program: Program::new().unwrap(), root: Root::new().unwrap() };
    let machine = bench.root.machine(Network::Own).unwrap();
    let grants = bench.program.configuration().join("grants.toml");
    let path = grants.display().to_string();
    let granted = "\"openssl genrsa -traditional 2048\"";
    for (commands, mode, denied) in [
        ("", &[][..], "openssl genrsa -traditional 2048"),
        ("", &["--why-run"], "openssl genrsa -traditional 2048"),
        (granted, &[], "openssl rsa -traditional -aes-256-cbc"),
        (granted, &["--why-run"], "openssl rsa -traditional -aes-256-cbc"),
    ] {
        let table = format!("[policy.composites]\npaths = [\"/srv/ca\", \"/srv/ca/**\"]\ncommands = [{commands}]\n");
        fs::write(&grants, table).unwrap();
        let run = bench.run(&machine, "pki", &[&["--grants", &path], mode].concat(), 1);
        let message = run["error"]["message"].as_str().unwrap_or_default();
        assert!(message.contains(denied), "{run:#}");
        let said = run.to_string();
        PKI_SECRETS.iter().for_each(|secret| assert!(!said.contains(secret), "{secret} in {said}"));
        assert!(!machine.run(&["test", "-e", "/srv/ca/rsa.key"]).unwrap().status.success());
    }
}

/// What a cookbook in Ruby hears, too: it may declare types that nobody carries out, and an action of theirs fails.
#[test]
fn types_that_nobody_carries_out_may_be_declared() {
    let bench = Bench { program: Program::new().unwrap(), root: Root::new().unwrap() };
    let machine = bench.root.machine(Network::Own).unwrap();
    let idle = bench.run(&machine, "idle", &["--allow-all"], 0);
    check(&rows(&idle, 0), &["snap_package[80]", "selinux_port[80]", "batch[80]"], "skipped");
    let cookbook = bench.program.configuration().join("cookbooks/a");
    fs::create_dir_all(cookbook.join("recipes")).unwrap();
    fs::write(cookbook.join("metadata.rb"), "name 'a'\n").unwrap();
    let [root, cookbooks] = [bench.root.path(), cookbook.parent().unwrap()].map(|path| path.display().to_string());
    for (recipe, kind, name, why) in [
        ("snap", "snap_package", "core", "wrun cannot act for resources of the type `snap_package`"),
        ("batch", "batch", "x", "the resource type `batch` is for Windows only"),
    ] {
        fs::write(cookbook.join("recipes/default.rb"), format!("{kind} '{name}'\n")).unwrap();
        let fixed = ["converge", "-F", "json", "--root", &root, "-N", "n1", "--cookbooks", &cookbooks, "--allow-all"];
        for mode in [&[][..], &["--why-run"]] {
            let rust = bench.run(&machine, recipe, &[&["--allow-all"], mode].concat(), 1);
            let arguments = [&fixed[..], &["-r", "recipe[a]"], mode].concat();
            let ruby = bench.program.run_in(&machine, &arguments).unwrap().expect_code(1).unwrap();
            let ruby: Value = serde_json::from_str(&ruby.stdout).unwrap();
            let message = |run: &Value| run["error"]["message"].as_str().unwrap_or_default().to_owned();
            let expected = format!("Cannot find a provider for {kind}[{name}]: {why}");
            for run in [&rust, &ruby] {
                assert!(message(run).contains(&expected), "{run:#}");
            }
        }
    }
}

/// What is as declared already is asked for as well, and nothing that is a secret is said.
#[test]
fn a_survey_asks_for_all_commands_that_make_keys_and_certificates() {
    let bench = Bench { program: Program::new().unwrap(), root: Root::new().unwrap() };
    let machine = bench.root.machine(Network::Own).unwrap();
    let [root, policies] = [bench.root.path(), &fixtures()].map(|path| path.display().to_string());
    let fixed = ["grants", "suggest", "--root", &root, "-N", "n1", "--policies", &policies];
    let arguments = [&fixed[..], &["--policy-name", "composites", "-o", "composites::pki"]].concat();
    let survey = || bench.program.run_in(&machine, &arguments).unwrap().stdout;
    let before = survey();
    bench.run(&machine, "pki", &["--allow-all"], 0);
    for said in [before, survey()] {
        for part in [
            "\"/srv/ca/rsa.key\"",
            "openssl genrsa -traditional 2048",
            "\"rsa\", \"-traditional\", \"-aes-256-cbc\"",
            "\"pkey\", \"-noout\"",
            "\"pkey\", \"-pubout\"",
            "openssl ecparam -name prime256v1 -genkey -noout",
            "\"dhparam\", \"-check\"",
            "openssl dhparam -2 1024",
        ] {
            let quoted = part.replace(' ', "\", \"");
            assert!(said.contains(part) || said.contains(&quoted), "{part} in {said}");
        }
        PKI_SECRETS.iter().for_each(|secret| assert!(!said.contains(secret), "{secret} in {said}"));
        // What signs is wrun's own call: no grant for it would be both narrow and lasting.
        assert!(!["bash", "x509", "dgst", "rand"].iter().any(|word| said.contains(&format!("\"{word}\""))), "{said}");
    }
}
