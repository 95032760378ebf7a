//! Notifies the service manager with systemd's protocol (sd_notify): datagrams with `KEY=VALUE` lines to a socket.
//!
//! The agent works the same without a service manager, so lost datagrams are not reported.

use std::ffi::{OsStr, OsString};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::path::Path;
use std::time::Duration;
use text::escape_line;

/// The environment variables of the service manager: its socket and its watchdog. Runs do not inherit them.
pub(crate) const VARIABLES: [&str; 3] = ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"];

/// The messages to a service manager.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Word {
    /// The agent is ready, or has read its settings again.
    Ready,
    /// The agent's activity has changed.
    Status,
    /// The agent reads its settings again.
    Reloading,
    /// The agent is about to end.
    Stopping,
    /// The regular message for the watchdog.
    Alive,
}

/// The connection to a service manager, if there is one.
#[derive(Debug, Default)]
pub struct Notifier {
    socket: Option<(UnixDatagram, SocketAddr)>,
    watchdog: Option<Duration>,
}

impl Notifier {
    /// Connects to the service manager that the environment variables name. `variable` returns the value of a variable;
    /// `process` is this process's ID.
    #[must_use]
    pub fn new(variable: impl Fn(&str) -> Option<OsString>, process: u32) -> Self {
        let [socket, microseconds, watched] = VARIABLES.map(variable);
        let number = |text: &OsStr| text.to_str()?.parse::<u64>().ok();
        // The watchdog may expect messages from another process of the service.
        let is_watched = watched.is_none_or(|watched| number(&watched) == Some(u64::from(process)));
        let watchdog = microseconds.as_deref().and_then(number).filter(|time| *time > 0 && is_watched);
        let address = socket.as_deref().and_then(address);
        let socket = address.and_then(|address| Some((UnixDatagram::unbound().ok()?, address)));
        Self { socket, watchdog: watchdog.map(Duration::from_micros) }
    }

    /// Returns the longest time between two watchdog messages, which is half of the watchdog's timeout. Returns `None`
    /// without a watchdog.
    #[must_use]
    pub fn sign_of_life_every(&self) -> Option<Duration> {
        self.socket.as_ref()?;
        self.watchdog.map(|time| time / 2)
    }

    /// Sends a message. `sentence` describes the agent's activity for people.
    pub fn say(&self, word: Word, sentence: &str) {
        match word {
            Word::Ready => self.send(&format!("READY=1\n{}", status(sentence))),
            Word::Status => self.send(&status(sentence)),
            Word::Reloading => {
                let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
                let microseconds = now.tv_sec.saturating_mul(1_000_000).saturating_add(now.tv_nsec / 1000);
                self.send(&format!("RELOADING=1\nMONOTONIC_USEC={microseconds}"));
            }
            Word::Stopping => self.send(&format!("STOPPING=1\n{}", status(sentence))),
            Word::Alive if self.watchdog.is_some() => self.send("WATCHDOG=1"),
            Word::Alive => {}
        }
    }

    fn send(&self, message: &str) {
        if let Some((socket, address)) = &self.socket {
            let _ = socket.send_to_addr(message.as_bytes(), address);
        }
    }
}

fn status(sentence: &str) -> String {
    format!("STATUS={}", escape_line(sentence))
}

/// Parses the socket's address: a path, or with `@` an abstract name without a file.
fn address(value: &OsStr) -> Option<SocketAddr> {
    match value.as_bytes() {
        [b'@', name @ ..] if !name.is_empty() => SocketAddr::from_abstract_name(name).ok(),
        [b'/', ..] => SocketAddr::from_pathname(Path::new(value)).ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notifier(variables: &[(&str, String)]) -> Notifier {
        let value = |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into());
        Notifier::new(value, 7)
    }

    fn received(socket: &UnixDatagram) -> String {
        let mut bytes = [0; 1000];
        let length = socket.recv(&mut bytes).unwrap();
        String::from_utf8(bytes.get(..length).unwrap().to_vec()).unwrap()
    }

    #[test]
    fn a_service_manager_hears_what_happens() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notify");
        let listening = UnixDatagram::bind(&path).unwrap();
        let variables = [("NOTIFY_SOCKET", path.display().to_string()), ("WATCHDOG_USEC", "180000000".to_owned())];
        let notifier = notifier(&variables);
        assert_eq!(notifier.sign_of_life_every(), Some(Duration::from_secs(90)));
        notifier.say(Word::Ready, "waiting");
        assert_eq!(received(&listening), "READY=1\nSTATUS=waiting");
        notifier.say(Word::Alive, "");
        assert_eq!(received(&listening), "WATCHDOG=1");
        notifier.say(Word::Reloading, "");
        let reloading = received(&listening);
        assert!(reloading.starts_with("RELOADING=1\nMONOTONIC_USEC="), "{reloading}");
        notifier.say(Word::Status, "a\nREADY=1");
        assert_eq!(received(&listening), "STATUS=a\\nREADY=1", "a line is one line");
        notifier.say(Word::Stopping, "ended");
        assert_eq!(received(&listening), "STOPPING=1\nSTATUS=ended");
    }

    #[test]
    fn names_that_are_no_files_are_heard_too() {
        let name = format!("wrun-notify-{}", std::process::id());
        let address = SocketAddr::from_abstract_name(name.as_bytes()).unwrap();
        let listening = UnixDatagram::bind_addr(&address).unwrap();
        notifier(&[("NOTIFY_SOCKET", format!("@{name}"))]).say(Word::Ready, "x");
        assert_eq!(received(&listening), "READY=1\nSTATUS=x");
    }

    #[test]
    fn nobody_is_told_where_nobody_listens() {
        for value in ["", "@", "notify", "/nobody/listens/here"] {
            notifier(&[("NOTIFY_SOCKET", value.to_owned())]).say(Word::Ready, "x");
        }
        let watched = |process: &str| {
            let variables = [
                ("NOTIFY_SOCKET", "/x".to_owned()),
                ("WATCHDOG_USEC", "60".to_owned()),
                ("WATCHDOG_PID", process.to_owned()),
            ];
            notifier(&variables).sign_of_life_every()
        };
        assert_eq!(watched("7"), Some(Duration::from_micros(30)));
        assert_eq!(watched("8"), None, "another process is watched");
    }
}
