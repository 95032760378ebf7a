//! The words of the connection; the scripts themselves are tried with a real sshd in `tests/tests/bootstrap.rs`.

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

/// Opens a session with a machine that says this, and returns what was shown and how it ended.
fn check(said: &str, password: Option<&str>) -> (Vec<String>, Result<Found, String>, String) {
    let mut people = Nobody(vec![], password.map(str::to_owned));
    let mut sent = vec![];
    let opened = Session::open(said.as_bytes(), &mut sent, "M1", true, &[], &mut people).map(|(_, found)| found);
    (people.0, opened.map_err(|error| error.to_string()), String::from_utf8(sent).unwrap())
}

#[test]
fn what_the_machine_has_is_read() {
    let said = "Welcome\nM1 password\nM1 started\nM1 machine x86_64\nM1 version 0.1.0\nM1 file /etc/wrun/wrun.toml 644 0:0 ab\nM1 ready\n";
    let (shown, found, sent) = check(said, Some("se cret"));
    let found = found.unwrap();
    assert_eq!(shown, ["Welcome"]);
    assert_eq!((found.machine.as_str(), found.version.as_deref()), ("x86_64", Some("0.1.0")));
    assert_eq!(found.files["/etc/wrun/wrun.toml"].sha256, "ab");
    // The password follows the first script, and the second script the password.
    let (first, second) = first_script("M1", true, &[]);
    assert_eq!(sent, format!("{first}se cret\n{second}"));
    assert!(!Session::<&[u8], Vec<u8>>::command("M1", true, &[]).contains("M1"), "no argument holds the mark");
}

#[test]
fn a_machine_that_fails_says_which_step() {
    for (said, expect) in [
        ("M1 failed not-root\n", "use --sudo"),
        ("M1 failed tools  zstd dpkg\n", "the machine lacks"),
        ("M1 started\n", "the connection ended"),
        ("", "the connection ended"),
        ("M1 started\nM1 odd\n", "is not understood"),
        ("M1 password\n", "NOPASSWD"),
        ("M1 started\nM1 failed dpkg 2\n", "exit code 2"),
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
