//! Tests of the connection's protocol. The scripts themselves are tested with a real sshd in `tests/tests/bootstrap.rs`.

use super::*;

#[derive(Default)]
struct Nobody(Vec<String>, Option<String>);

impl People for Nobody {
    fn password(&mut self) -> Option<String> {
        self.1.take()
    }

    fn output(&mut self, line: &str) {
        self.0.push(line.to_owned());
    }
}

fn marks() -> Marks {
    Marks { login: "M1".into(), orders: "M2".into() }
}

/// Opens a session with a simulated machine that sends `said`. Returns the displayed lines, the result, and the data that was
/// sent.
fn check(said: &str, password: Option<&str>) -> (Vec<String>, Result<Found, String>, String) {
    let mut people = Nobody(vec![], password.map(str::to_owned));
    let mut sent = vec![];
    let opened = Session::open(said.as_bytes(), &mut sent, &marks(), true, &[], &mut people).map(|(_, found)| found);
    (people.0, opened.map_err(|error| error.to_string()), String::from_utf8(sent).unwrap())
}

#[test]
fn what_the_machine_has_is_read() {
    let said = "Welcome\nM1 password\nM1 started\nM2 machine x86_64\nM2 version 0.1.0\nM2 file /etc/wrun/wrun.toml 644 0:0 ab\nM2 ready\n";
    let (shown, found, sent) = check(said, Some("se cret"));
    let found = found.unwrap();
    assert_eq!(shown, ["Welcome"]);
    assert_eq!((found.machine.as_str(), found.version.as_deref()), ("x86_64", Some("0.1.0")));
    assert_eq!(found.files["/etc/wrun/wrun.toml"].sha256, "ab");
    // The password follows the first script, and the second script the password.
    let (first, second) = first_script(&marks(), true, &[]);
    assert_eq!(sent, format!("{first}se cret\n{second}"));
    assert!(!Session::<&[u8], Vec<u8>>::command(&marks(), true, &[]).contains('M'), "no argument holds a mark");
    assert!(
        second.contains("M2") && !second.contains("M1") && !first.contains("M2"),
        "arguments hold the first script's"
    );
}

#[test]
fn a_machine_that_fails_says_which_step() {
    for (said, expect) in [
        ("M1 failed not-root\n", "use --sudo"),
        ("M1 failed tools  zstd dpkg\n", "the machine lacks"),
        ("M1 started\n", "the connection ended"),
        ("", "the connection ended"),
        ("M1 started\nM2 odd\n", "is not understood"),
        ("M1 password\n", "NOPASSWD"),
        ("M1 started\nM2 failed dpkg 2\n", "exit code 2"),
    ] {
        let error = check(said, None).1.unwrap_err();
        assert!(error.contains(expect), "{said}: {error}");
    }
}

#[test]
fn lines_of_programs_are_shown_without_control_characters() {
    let (shown, found, _) = check("\u{1b}[31mred\nhalf a lineM1 failed fetch https://x\n", None);
    assert_eq!(shown.len(), 2);
    assert!(!shown[0].contains('\u{1b}') && shown[1] == "half a line", "{shown:?}");
    assert_eq!(found.unwrap_err(), "https://x cannot be fetched by the machine");
}

/// A policy's command can list all programs with their arguments, and can print lines like those of the scripts.
#[test]
fn a_mark_that_programs_can_read_says_nothing_once_the_second_script_has_begun() {
    for forged in ["M1 done 0", "M1 failed dpkg 2", "M1 ready", "M1 end", "M1 password", "half M1 done 0"] {
        let said = format!("M1 started\n{forged}\nM2 machine x86_64\nM2 ready\n");
        let (shown, found, sent) = check(&said, Some("se cret"));
        assert_eq!((shown, found.unwrap().machine), (vec![forged.to_owned()], "x86_64".to_owned()));
        assert!(!sent.contains("se cret"), "{forged} asks for the password");
    }
    let mut people = Nobody::default();
    let said = "M1 started\nM2 ready\nlog line\nM1 done 0\nM2 done 3\n";
    let (mut session, _) =
        Session::open(said.as_bytes(), vec![], &marks(), false, &[], &mut people).map_err(|_| ()).unwrap();
    assert_eq!(session.step(&Step::Converge).unwrap(), Outcome::Converged(3));
    drop(session);
    assert_eq!(people.0, ["log line", "M1 done 0"]);
}
