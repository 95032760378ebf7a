//! Words to the service manager: systemd's notification protocol (sd_notify), datagrams of `KEY=VALUE` lines to a socket.
//!
//! A service manager that does not listen is not a reason to do anything else: nothing is reported of a datagram that is lost.

use std::ffi::{OsStr, OsString};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::path::Path;
use std::time::Duration;
use text::escape_line;

/// The variables by which a service manager says where it listens, and whether it watches. A run does not inherit them.
pub(crate) const VARIABLES: [&str; 3] = ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"];

/// What a service manager is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Word {
    /// The agent is ready, or has read its settings again.
    Ready,
    /// The agent does something else now.
    Status,
    /// The agent reads its settings again.
    Reloading,
    /// The agent is about to end.
    Stopping,
    /// A sign of life, where a watchdog waits for it.
    Alive,
}

/// A service manager that listens, or nobody.
#[derive(Debug, Default)]
pub struct Notifier {
    socket: Option<(UnixDatagram, SocketAddr)>,
    watchdog: Option<Duration>,
}

impl Notifier {
    /// The service manager that the variables name. `variable` gives the value of one; `process` is this process's number.
    #[must_use]
    pub fn new(variable: impl Fn(&str) -> Option<OsString>, process: u32) -> Self {
        let [socket, microseconds, watched] = VARIABLES.map(variable);
        let number = |text: &OsStr| text.to_str()?.parse::<u64>().ok();
        // A watchdog may be meant for another process of the service.
        let is_watched = watched.is_none_or(|watched| number(&watched) == Some(u64::from(process)));
        let watchdog = microseconds.as_deref().and_then(number).filter(|time| *time > 0 && is_watched);
        let address = socket.as_deref().and_then(address);
        let socket = address.and_then(|address| Some((UnixDatagram::unbound().ok()?, address)));
        Self { socket, watchdog: watchdog.map(Duration::from_micros) }
    }

    /// The longest time between two signs of life: half of what the watchdog waits for. `None`: nobody watches.
    #[must_use]
    pub fn sign_of_life_every(&self) -> Option<Duration> {
        self.socket.as_ref()?;
        self.watchdog.map(|time| time / 2)
    }

    /// Says something; `sentence` tells people what the agent does.
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

/// The address that the variable names: a path, or with `@` a name that is not a file.
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
