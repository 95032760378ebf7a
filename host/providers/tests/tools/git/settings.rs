//! Settings of git and ssh beside the checkout's own.

use super::{repository, with};
use crate::support::Bench;
use serde_json::json;
use std::io::Read as _;
use std::time::{Duration, Instant};

/// What a process was started with: its arguments or its variables.
fn words(process: &std::path::Path, what: &str) -> Vec<String> {
    let bytes = std::fs::read(process.join(what)).unwrap_or_default();
    bytes.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned()).collect()
}

/// The variables of the git that talks to a server, as the server finds them while git waits.
fn variables_of_git(bench: &Bench, address: &str, server: &std::net::TcpListener) -> Vec<String> {
    server.set_nonblocking(true).unwrap();
    std::thread::scope(|scope| {
        let look = scope.spawn(|| {
            let end = Instant::now() + Duration::from_secs(60);
            let mut stream = loop {
                match server.accept() {
                    Ok((stream, _)) => break stream,
                    Err(_) if Instant::now() < end => std::thread::sleep(Duration::from_millis(10)),
                    Err(error) => panic!("git does not come: {error}"),
                }
            };
            stream.set_nonblocking(false).unwrap();
            let _request = stream.read(&mut [0; 64]);
            let processes = std::fs::read_dir("/proc").unwrap().map(|entry| entry.unwrap().path());
            let mut git = processes.filter(|process| {
                let words = words(process, "cmdline");
                words.iter().any(|word| word == address) && words.iter().any(|word| word.contains("remote-http"))
            });
            words(&git.next().unwrap(), "environ")
        });
        bench.run("git", "ROOT/a", "sync", json!({"repository": address, "user": "nobody"})).unwrap_err();
        look.join().unwrap()
    })
}

/// A policy that may write a file in a user's home, and fetch as that user, would name programs in it.
#[test]
fn attack_git_of_another_user_reads_none_of_that_users_settings() {
    let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/x", server.local_addr().unwrap());
    let rules = "paths = [\"ROOT/a/**\"]\nusers = [\"nobody\"]\n";
    let bench = Bench::whole(&format!("{rules}download_hosts = [\"{}\"]", address.trim_end_matches("/x")));
    let variables = variables_of_git(&bench, &address, &server);
    assert!(variables.contains(&"GIT_CONFIG_GLOBAL=/dev/null".to_owned()), "{variables:?}");
    assert!(!variables.iter().any(|one| one.starts_with("HOME=")), "{variables:?}");
    let parameters = variables.iter().find(|one| one.starts_with("GIT_CONFIG_PARAMETERS=")).unwrap();
    assert!(parameters.to_lowercase().contains("core.sshcommand'='ssh -f "), "{parameters}");
}

#[test]
fn attack_settings_that_the_policy_may_write_name_no_programs() {
    let home = std::path::PathBuf::from(std::env::var_os("HOME").unwrap());
    let own = home.join(".gitconfig").to_string_lossy().into_owned();
    for settings in ["/etc/gitconfig", "/etc/ssh/ssh_config", &own] {
        let rules = "read_paths = [\"ROOT/src/**\"]\npaths = [\"ROOT/a/**\"";
        let bench = Bench::whole(&format!("{rules}, \"{settings}\"]"));
        repository(&bench);
        let raised = bench.run("git", "ROOT/a", "sync", with(json!({}))).unwrap_err();
        assert_eq!(raised.class(), "Wrun::Denied", "{raised:?}");
        assert!(raised.message.contains(&format!("the policy may change {settings}")), "{}", raised.message);
        let granted = Bench::whole(&format!("{rules}, \"{settings}\"]\ncommands = [{{ argv = [\"git\"] }}]"));
        repository(&granted);
        granted.run("git", "ROOT/a", "sync", with(json!({}))).unwrap();
    }
}

/// The operator's settings may include files of a team, and name programs of it.
#[test]
fn attack_settings_that_others_include_name_no_programs_that_the_policy_may_write() {
    let rules = "paths = [\"/srv/team/**\"]\ndownload_hosts = [\"git://git.example\"]\n";
    let inner = "[include]\n\tpath = inner\n";
    let cases: [(&str, &str, &str, Option<&str>); 11] = [
        (
            "etc/gitconfig",
            "[include]\n\tpath = /srv/team/gitconfig\n",
            "",
            Some("/srv/team/gitconfig, which /etc/gitconfig"),
        ),
        (
            "etc/gitconfig",
            "[includeIf \"gitdir:/x/\"]\n\tpath = /srv/deep\n",
            inner,
            Some("/srv/team/more, which /srv/inner"),
        ),
        ("etc/gitconfig", "[include]\n\tpath = ../srv/team/../team/x\n", "", Some("/team/x, which /etc/gitconfig")),
        ("etc/gitconfig", "[core]\n\tgitProxy = /srv/team/program\n", "", Some("names as a program")),
        (
            "etc/gitconfig",
            "[core]\n\tsshCommand = ssh -F/srv/team/ssh.conf\n",
            "",
            Some("/srv/team/ssh.conf, which /etc/gitconfig"),
        ),
        (
            "etc/gitconfig",
            "[core]\n\tsshCommand = ssh -F $X\n",
            "",
            Some("cannot tell which program `core.sshcommand`"),
        ),
        ("etc/ssh/ssh_config", "Include \"/srv/team/a b\"\n", "", Some("/srv/team/a b, which /etc/ssh/ssh_config")),
        ("etc/ssh/ssh_config", "Include /srv/*/ssh*\n", "", Some("/srv/team/ssh.conf, which /etc/ssh/ssh_config")),
        ("etc/ssh/ssh_config", "Include more.d/*\n", "", Some("/srv/team/ssh.conf, which /etc/ssh/more.d/a")),
        ("etc/ssh/ssh_config", "Include /srv/%h/x\n", "", Some("cannot tell which files /etc/ssh/ssh_config includes")),
        ("etc/gitconfig", "[safe]\n\tdirectory = /srv/team/checkout\n[include]\n\tpath = /srv/own\n", "", None),
    ];
    for (file, text, deep, expected) in cases {
        let bench = Bench::new(rules);
        for folder in ["srv/team", "etc/ssh/more.d"] {
            std::fs::create_dir_all(bench.path(folder)).unwrap();
        }
        for (path, text) in [
            (file, text),
            ("srv/deep", deep),
            ("srv/inner", "[include]\n\tpath = /srv/team/more\n"),
            ("srv/own", "[core]\n\tgitProxy = /usr/bin/proxy\n"),
            ("srv/team/ssh.conf", "Host *\n"),
            ("etc/ssh/more.d/a", "Include /srv/team/ssh.conf\n"),
        ] {
            std::fs::write(bench.path(path), text).unwrap();
        }
        let raised = bench.run("git", "/srv/team/checkout", "sync", json!({"repository": "git://git.example/x"}));
        let raised = raised.unwrap_err();
        let is_denied = raised.class() == "Wrun::Denied";
        assert_eq!(is_denied, expected.is_some(), "{text}: {raised:?}");
        assert!(raised.message.contains(expected.unwrap_or_default()), "{text}: {}", raised.message);
    }
}

/// Whoever may exchange a link in the middle, or a link to a folder, chooses what git reads. A user's home is where the root's
/// own list of users says.
#[test]
fn attack_settings_behind_links_and_in_homes_name_no_programs_that_the_policy_may_write() {
    let through = "[include]\n\tpath = /etc/git/team.conf\n";
    let cases: [(&str, &str, Option<&str>); 7] = [
        ("/srv/team/current", through, Some("the policy may change /etc/git/team.conf")),
        ("/srv/folder", "[include]\n\tpath = /etc/git/way/v1.conf\n", Some("may change /etc/git/way/v1.conf")),
        ("/srv/folder", "[core]\n\tgitProxy = /etc/git/way/program\n", Some("names as a program")),
        ("/srv/other", through, None),
        ("/srv/home/**", "[include]\n\tpath = ~deploy/gitconfig\n", Some("may change /srv/home/gitconfig")),
        ("/srv/other", "[include]\n\tpath = ~deploy/gitconfig\n", None),
        ("/srv/other", "[include]\n\tpath = ~absent/gitconfig\n", Some("cannot tell which files /etc/gitconfig")),
    ];
    for (granted, text, expected) in cases {
        let rules =
            format!("paths = [\"/srv/checkout/**\", \"{granted}\"]\ndownload_hosts = [\"git://git.example\"]\n");
        let bench = Bench::new(&rules);
        for folder in ["srv/team", "srv/home", "etc/git/real"] {
            std::fs::create_dir_all(bench.path(folder)).unwrap();
        }
        std::fs::write(bench.path("etc/passwd"), "deploy:x:1500:1500::/srv/home:/bin/sh\n").unwrap();
        std::fs::write(bench.path("etc/gitconfig"), text).unwrap();
        for path in ["etc/git/v1.conf", "etc/git/real/v1.conf"] {
            std::fs::write(bench.path(path), "[user]\n").unwrap();
        }
        for (target, link) in [
            ("/srv/team/current", "etc/git/team.conf"),
            ("/etc/git/v1.conf", "srv/team/current"),
            ("/srv/folder", "etc/git/way"),
            ("/etc/git/real", "srv/folder"),
        ] {
            std::os::unix::fs::symlink(target, bench.path(link)).unwrap();
        }
        let fetched = bench.run("git", "/srv/checkout", "sync", json!({"repository": "git://git.example/x"}));
        let raised = fetched.unwrap_err();
        assert_eq!(raised.class() == "Wrun::Denied", expected.is_some(), "{granted} {text}: {raised:?}");
        assert!(raised.message.contains(expected.unwrap_or_default()), "{granted} {text}: {}", raised.message);
    }
}
