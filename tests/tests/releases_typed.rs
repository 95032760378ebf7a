//! Releases as a person at a terminal sees them: what takes time is shown while it does, and questions are answered there.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, and helpers are not tests to the lints")]

use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use ring::signature::{Ed25519KeyPair, KeyPair as _};
use specs::{Place, Terminal};
use std::fs;
use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};
use std::sync::mpsc;

/// A policy with a cookbook in Ruby.
fn policy(place: &Place, name: &str) {
    place.write(&format!("{name}/policy.toml"), &format!("name = \"{name}\"\nrun_list = [\"{name}\"]\n"));
    place.write(&format!("{name}/cookbooks/{name}/metadata.rb"), &format!("name '{name}'\nversion '1.0.0'\n"));
    place.write(&format!("{name}/cookbooks/{name}/recipes/default.rb"), &format!("log '{name}'\n"));
}

/// Types a line into a terminal of its own.
fn typed(place: &Place, line: &str) -> Terminal {
    let words = place.words(line);
    Terminal::start(&place.program, 300, &words.iter().map(String::as_str).collect::<Vec<_>>()).unwrap()
}

/// A server of git's own protocol below a folder, which lets each connection wait until somebody says that it may go on.
fn slow_git_server(place: &Place) -> (String, mpsc::Sender<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("git://{}", listener.local_addr().unwrap());
    let (go_on, wait) = mpsc::channel();
    let folder = place.folder.clone();
    std::thread::spawn(move || {
        for connection in listener.incoming() {
            let connection = OwnedFd::from(connection.unwrap());
            if wait.recv().is_err() {
                return;
            }
            let mut server = Command::new("git");
            server.args(["daemon", "--inetd", "--export-all", "--base-path=."]).current_dir(&folder);
            server.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin").env("GIT_CONFIG_GLOBAL", "/dev/null");
            let answers = connection.try_clone().unwrap();
            server.stdin(Stdio::from(connection)).stdout(Stdio::from(answers)).stderr(Stdio::null());
            server.status().unwrap();
        }
    });
    (address, go_on)
}

#[test]
fn a_repository_that_is_fetched_is_named_while_it_is() {
    let place = Place::new();
    place.write("books/metadata.rb", "name 'web'\nversion '1.0.0'\n");
    place.write("books/recipes/default.rb", "log 'web'\n");
    place.git("books", &["init", "-q"]);
    place.commit("books");
    let (address, go_on) = slow_git_server(&place);
    let policyfile = format!("name 'web'\nrun_list 'web'\ncookbook 'web', git: '{address}/books', branch: 'main'\n");
    place.write("Policyfile.rb", &policyfile);
    let mut terminal = typed(&place, "policy install /Policyfile.rb");
    terminal.wait_for(&format!("fetching {address}/books")).unwrap();
    go_on.send(()).unwrap();
    assert!(terminal.end().unwrap().success(), "{}", terminal.words());
    assert!(terminal.has_erased() && !terminal.words().contains("fetching"), "{}", terminal.words());
    assert!(place.folder.join("Policyfile.lock.json").exists());
    // The same for what is fetched again; in a pipe nothing of it is written.
    let mut terminal = typed(&place, "policy update /Policyfile.rb");
    terminal.wait_for(&format!("fetching {address}/books")).unwrap();
    go_on.send(()).unwrap();
    assert!(terminal.end().unwrap().success(), "{}", terminal.words());
    go_on.send(()).unwrap();
    assert!(!place.output("policy update /Policyfile.rb").text().contains("fetching"));
}

#[test]
fn a_release_that_waits_for_a_signature_is_named_while_it_does() {
    let place = Place::new();
    policy(&place, "web");
    let pair = Ed25519KeyPair::from_seed_unchecked(&[7; 32]).unwrap();
    let public = text::hex(pair.public_key().as_ref());
    for name in ["message", "reply"] {
        mkfifo(&place.folder.join(name), Mode::S_IRWXU).unwrap();
    }
    let program = place.folder.join("sign");
    place.write("sign", "#!/bin/sh\ncat > @FOLDER@/message\ncat @FOLDER@/reply\n");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    // The program hands on to this thread, which has the key, and waits for it all the while.
    let (go_on, wait) = mpsc::channel();
    let [message, reply] = ["message", "reply"].map(|name| place.folder.join(name));
    std::thread::spawn(move || {
        let message = fs::read(message).unwrap();
        if wait.recv().is_ok() {
            fs::write(reply, pair.sign(&message)).unwrap();
        }
    });
    place.works("repository init /srv --team core");
    place.works(&format!("keys command web --public {public} -- /sign"));
    place.works("repository add-team web");
    let mut terminal = typed(&place, "policy push staging /web");
    terminal.wait_for("releasing policy web to the group staging").unwrap();
    go_on.send(()).unwrap();
    assert!(terminal.end().unwrap().success(), "{}", terminal.words());
    let words = terminal.words();
    assert!(terminal.has_erased() && !words.contains("releasing") && words.contains("released (version 1)"), "{words}");
}

#[test]
fn the_passphrase_of_a_key_is_asked_by_a_push_and_not_shown() {
    let place = Place::new();
    policy(&place, "web");
    place.works("repository init /srv --team core");
    let mut terminal = typed(&place, "keys new web");
    for question in ["Passphrase for new keys (empty for none):", "The same once more:"] {
        terminal.wait_for(question).unwrap();
        terminal.press("correct horse\n").unwrap();
    }
    assert!(terminal.end().unwrap().success(), "{}", terminal.words());
    place.works("repository add-team web");
    place.fails("policy push staging /web", &["it has a passphrase, and nobody can be asked for it"]);
    for (answer, code, said) in
        [("wrong horse", 43, "the passphrase does not fit"), ("correct horse", 0, "released (version 1)")]
    {
        let mut terminal = typed(&place, "policy push staging /web");
        terminal.wait_for("keys/web.key:").unwrap();
        assert!(!terminal.shows_keys().unwrap());
        // What is drawn meanwhile would hide the question.
        assert!(!terminal.words().contains("releasing policy"), "{}", terminal.words());
        terminal.press(&format!("{answer}\n")).unwrap();
        let code_of_end = terminal.end().unwrap().code();
        let words = terminal.words();
        assert_eq!(code_of_end, Some(code), "{words}");
        assert!(words.contains("Passphrase of") && words.contains(said) && !words.contains(answer), "{words}");
        assert!(terminal.shows_keys().unwrap());
    }
    // One who presses ^C goes on typing in a terminal that shows it, and nothing was released.
    let mut terminal = typed(&place, "policy push prod /web");
    terminal.wait_for("keys/web.key:").unwrap();
    terminal.press("half\u{3}").unwrap();
    terminal.end().unwrap();
    assert!(terminal.shows_keys().unwrap());
    place.fails("policy show --group prod --policy web", &["prod"]);
}

#[test]
fn a_group_with_nearly_the_name_of_another_is_released_to_where_a_person_says_yes() {
    let place = Place::new();
    policy(&place, "web");
    place.works("repository init /srv --team web");
    place.works("policy push staging /web");
    for (answer, code, said) in [
        ("n\n", 1, "nothing was released"),
        ("\n", 1, "nothing was released"),
        // The end of what is typed.
        ("\u{4}", 1, "nothing was released"),
        ("Yes\n", 0, "group stagin: released (version 2)"),
    ] {
        let mut terminal = typed(&place, "policy push stagin /web");
        terminal.wait_for("but to staging. Release it to the new group stagin? [y/N]").unwrap();
        assert!(terminal.shows_keys().unwrap());
        terminal.press(answer).unwrap();
        let code_of_end = terminal.end().unwrap().code();
        assert_eq!(code_of_end, Some(code), "{}", terminal.words());
        assert!(terminal.words().contains(said), "{}", terminal.words());
        assert_eq!(place.run("policy show --group stagin --policy web").code == Some(0), code == 0, "{answer:?}");
    }
    // The group is known now: nobody is asked.
    let mut terminal = typed(&place, "policy push stagin /web");
    assert!(terminal.end().unwrap().success(), "{}", terminal.words());
    assert!(!terminal.words().contains("[y/N]"), "{}", terminal.words());
    place.fails("policy push stagi /web", &["nothing was released", "--new-group"]);
    // A promotion asks as a push does.
    place.fails("policy promote staging stagi --policy web", &["nothing was released", "--new-group"]);
    let mut terminal = typed(&place, "policy promote staging stagi --policy web");
    terminal.wait_for("Release it to the new group stagi? [y/N]").unwrap();
    terminal.press("n\n").unwrap();
    assert_eq!(terminal.end().unwrap().code(), Some(1), "{}", terminal.words());
    place.fails("policy show --group stagi --policy web", &["stagi"]);
    place.works("policy promote staging stagi --policy web --new-group");
    place.works("policy promote staging stagi --policy web");
    place.works("policy promote staging prod --policy web");
}
