//! Runs commands that sign releases. Such a program has a key, or uses one on a hardware token; it reads a message and writes
//! its signature. Its output and its time are limited. The time is long enough for a person to touch the token.

use std::io::{Read as _, Write as _};
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

/// The bytes of an Ed25519 signature.
const SIGNATURE: usize = 64;

/// How long a command may take.
const TIME: Duration = Duration::from_secs(120);

/// The time between two looks whether it has ended.
const TICK: Duration = Duration::from_millis(5);

/// Runs the command of a key. The command reads the message from its standard input, and writes 64 bytes to its standard
/// output. Its standard error is the same as wrun's.
///
/// # Errors
/// It cannot be started, fails, takes longer than two minutes, or writes something else than 64 bytes.
pub fn signature_of_command(command: &[String], message: &[u8]) -> Result<Vec<u8>, String> {
    within(command, message, TIME)
}

fn within(command: &[String], message: &[u8], time: Duration) -> Result<Vec<u8>, String> {
    let [program, arguments @ ..] = command else { return Err("its command is empty".into()) };
    let mut prepared = Command::new(program);
    prepared.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
    let mut child = prepared.spawn().map_err(|error| format!("its command {program} cannot be started: {error}"))?;
    let (input, output) = (child.stdin.take(), child.stdout.take());
    let message = message.to_vec();
    // A thread writes the message, so that wrun does not wait for a command that never reads. Neither does wrun wait for a
    // child of the command that keeps its output open.
    std::thread::spawn(move || input.map(|mut input| input.write_all(&message)));
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut written = vec![];
        let read = output.map(|output| output.take(SIGNATURE as u64 + 1).read_to_end(&mut written));
        drop(sender.send(read.and_then(Result::ok).map(|_| written)));
    });
    let began = Instant::now();
    let rest = |began: Instant| time.saturating_sub(began.elapsed());
    let late = || format!("its command {program} did not end within {} s", time.as_secs());
    let status = loop {
        if let Some(status) = child.try_wait().map_err(|error| format!("its command {program}: {error}"))? {
            break status;
        }
        if rest(began).is_zero() {
            drop(child.kill().and_then(|()| child.wait()));
            return Err(late());
        }
        std::thread::sleep(TICK);
    };
    if !status.success() {
        return Err(format!("its command {program} failed: {status}"));
    }
    match receiver.recv_timeout(rest(began)) {
        Ok(Some(written)) if written.len() == SIGNATURE => Ok(written),
        Ok(Some(written)) if written.len() > SIGNATURE => {
            Err(format!("its command {program} has written more than the {SIGNATURE} bytes of a signature"))
        }
        Ok(Some(written)) => Err(format!(
            "its command {program} has written {} bytes, and not the {SIGNATURE} of a signature",
            written.len()
        )),
        Ok(None) => Err(format!("what its command {program} writes cannot be read")),
        Err(_) => Err(late()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(script: &str, milliseconds: u64) -> Result<Vec<u8>, String> {
        let command = ["/bin/sh", "-c", script].map(str::to_owned);
        within(&command, &[b'm'; 200_000], Duration::from_millis(milliseconds))
    }

    #[test]
    fn a_command_gets_the_whole_message_and_gives_64_bytes() {
        // SHA-512 has as many bytes as a signature, here of its half in hexadecimal.
        let written = run("sha512sum | cut -c 1-64 | tr -d '\\n'", 60_000).unwrap();
        let expected = Command::new("/bin/sh")
            .args(["-c", "head -c 200000 /dev/zero | tr '\\0' m | sha512sum | cut -c 1-64 | tr -d '\\n'"])
            .output()
            .unwrap();
        assert_eq!(written, expected.stdout);
    }

    #[test]
    fn a_command_that_does_something_else_is_refused() {
        let check = |script: &str, milliseconds: u64, part: &str| {
            let error = run(script, milliseconds).unwrap_err();
            assert!(error.contains(part), "{error}");
        };
        check("exit 3", 60_000, "failed: exit status: 3");
        check("cat > /dev/null; head -c 64 /dev/zero; exit 1", 60_000, "failed: exit status: 1");
        check("head -c 63 /dev/zero", 60_000, "has written 63 bytes, and not the 64");
        check("head -c 65 /dev/zero", 60_000, "has written more than the 64 bytes");
        check("true", 60_000, "has written 0 bytes");
        check("exec cat /dev/zero", 60_000, "failed: signal: 13");
        check("exec sleep 600", 100, "did not end within");
        // A child process keeps the output open, here until the pipe that it reads is closed.
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        check(&format!("cat {} 2>/dev/null & exit 0", pipe.display()), 100, "did not end within");
        drop(std::fs::OpenOptions::new().write(true).open(&pipe).unwrap());
        let command = ["/no/such/program".to_owned()];
        assert!(within(&command, b"", TIME).unwrap_err().contains("cannot be started"));
        assert!(within(&[], b"", TIME).unwrap_err().contains("its command is empty"));
    }
}
