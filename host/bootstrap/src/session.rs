//! The connection to the machine: sends scripts and orders, and reads the replies.
//!
//! Lines that begin with the mark are for wrun; all other lines are shown. Marks are random for each connection, so that
//! other programs on the machine cannot write such lines. The first script's mark is among the arguments of its shell and of
//! sudo, where every program on the machine can read it. So it is valid only until the second script begins. That script
//! receives its own mark on standard input.

use std::fs::File;
use std::io::{self, BufRead, Read as _, Write};

use text::escape_line;

use crate::plan::{Found, FoundFile, Step};
use crate::wanted::{Package, WantedFile};

const FIRST: &str = include_str!("remote/first.sh");
const SECOND: &str = include_str!("remote/second.sh");

/// Largest length of a line, in bytes.
const MAX_LINE: u64 = 64 << 10;

/// Largest size of a file that is read from the machine for a comparison, in bytes.
const MAX_CONTENT: u64 = 16 << 20;

/// The user of the command.
pub trait People {
    /// Asks for the password of sudo. Returns `None` if it cannot ask.
    fn password(&mut self) -> Option<String>;

    /// Shows a line of the machine's output. It contains no control characters.
    fn output(&mut self, line: &str);
}

/// The reasons why the setup of a machine failed.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The machine reported that a step failed.
    #[error("{0}")]
    Failed(String),
    /// The connection is broken.
    #[error("the connection ended before the machine was done")]
    Broken,
    /// sudo asked for a password that is not available.
    #[error(
        "sudo asks for a password on the machine, and nobody can be asked: allow it without one (NOPASSWD), or run this on a terminal"
    )]
    NoPassword,
    /// The machine sent a reply that these scripts never send.
    #[error("the machine's answer is not understood: {0}")]
    NotUnderstood(String),
    /// A file of this machine cannot be read.
    #[error("the package cannot be read")]
    Package(#[source] io::Error),
}

/// The beginnings of the lines for wrun: random letters and digits.
#[derive(Debug, Clone)]
pub struct Marks {
    /// The mark of the first script, until the second one begins.
    pub login: String,
    /// The mark of the second script. It is not in the arguments of any program.
    pub orders: String,
}

/// The result of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The step is done.
    Done,
    /// The run ended with this code.
    Converged(i32),
}

/// An open connection to a machine.
pub struct Session<'p, Reader, Writer> {
    from: Reader,
    to: Writer,
    mark: String,
    people: &'p mut dyn People,
}

/// A reply line of the machine for wrun.
#[derive(Debug)]
struct Reply {
    word: String,
    rest: Vec<String>,
}

impl Reply {
    fn text(&self, at: usize) -> String {
        self.rest.get(at).cloned().unwrap_or_default()
    }

    fn all(&self) -> String {
        self.rest.join(" ")
    }
}

/// Returns the command line that ssh starts on the machine. It only contains the code that reads the first script.
fn command_for(script: &str) -> String {
    format!("exec /bin/sh -c 'eval \"$(dd bs=1 count={} 2>/dev/null)\"'", script.len())
}

fn first_script(marks: &Marks, sudo: bool, files: &[WantedFile]) -> (String, String) {
    let paths: Vec<_> = files.iter().map(|file| file.path).collect();
    let second = SECOND.replace("@MARK@", &marks.orders).replace("@FILES@", &paths.join(" "));
    let first = FIRST
        .replace("@MARK@", &marks.login)
        .replace("@SIZE@", &second.len().to_string())
        .replace("@SUDO@", if sudo { "yes" } else { "no" });
    (first, second)
}

impl<'p, Reader: BufRead, Writer: Write> Session<'p, Reader, Writer> {
    /// Returns the command line for the machine.
    #[must_use]
    pub fn command(marks: &Marks, sudo: bool, files: &[WantedFile]) -> String {
        command_for(&first_script(marks, sudo, files).0)
    }

    /// Starts the scripts and returns the state of the machine.
    ///
    /// # Errors
    /// The connection broke, or the machine lacks something.
    pub fn open(
        from: Reader,
        to: Writer,
        marks: &Marks,
        sudo: bool,
        files: &[WantedFile],
        people: &'p mut dyn People,
    ) -> Result<(Self, Found), SessionError> {
        let (first, second) = first_script(marks, sudo, files);
        let mut session = Self { from, to, mark: marks.login.clone(), people };
        session.send(first.as_bytes())?;
        let mut found = Found::default();
        loop {
            let reply = session.reply()?;
            match reply.word.as_str() {
                "password" => {
                    let password = session.people.password().ok_or(SessionError::NoPassword)?;
                    session.send(format!("{password}\n").as_bytes())?;
                }
                "started" => {
                    session.mark.clone_from(&marks.orders);
                    session.send(second.as_bytes())?;
                }
                "machine" => found.machine = reply.all(),
                "version" => found.version = Some(reply.all()),
                "package" => found.package = Some(reply.all()),
                "broken" => found.broken = Some(reply.all()),
                "other" => found.other = Some(reply.all()),
                "link" => found.links.push(reply.all()),
                "file" => {
                    let file = FoundFile { mode: reply.text(1), owner: reply.text(2), sha256: reply.text(3) };
                    found.files.insert(reply.text(0), file);
                }
                "ready" => return Ok((session, found)),
                other => return Err(SessionError::NotUnderstood(other.to_owned())),
            }
        }
    }

    /// Fetches a file's content.
    ///
    /// # Errors
    /// The connection broke, or the file is too large to be compared.
    pub fn content(&mut self, path: &str) -> Result<Vec<u8>, SessionError> {
        self.send(format!("show {path}\n").as_bytes())?;
        let reply = self.expect("content")?;
        let size: u64 = reply.text(0).parse().unwrap_or(u64::MAX);
        if size > MAX_CONTENT {
            return Err(SessionError::Failed(format!("{path} has {size} bytes, which is too much to be compared")));
        }
        let mut content = vec![];
        self.from.by_ref().take(size).read_to_end(&mut content).map_err(|_| SessionError::Broken)?;
        self.expect("done")?;
        Ok(content)
    }

    /// Carries out a step.
    ///
    /// # Errors
    /// The step failed, or the connection broke.
    pub fn step(&mut self, step: &Step) -> Result<Outcome, SessionError> {
        match step {
            Step::Package(Package::File { path, size, sha256 }) => {
                let mut file = File::open(path).map_err(SessionError::Package)?;
                self.send(format!("package {size} {sha256}\n").as_bytes())?;
                // If the file has become shorter, the connection ends, and the machine deletes the received part.
                let sent = io::copy(&mut io::Read::take(&mut file, *size), &mut self.to)
                    .and_then(|sent| self.to.flush().map(|()| sent));
                match sent {
                    Ok(sent) if sent == *size => {}
                    Ok(_) => return Err(SessionError::Package(io::ErrorKind::UnexpectedEof.into())),
                    // The machine may have sent the reason why it reads no more data.
                    Err(_) => drop(self.expect("done")?),
                }
            }
            Step::Package(Package::Url { url, sha256 }) => self.send(format!("fetch {url} {sha256}\n").as_bytes())?,
            Step::Put(file) => {
                let (size, sha256) = (file.content.len(), file.sha256());
                self.send(format!("put {} {}:{size} {sha256}\n", file.path, file.mode).as_bytes())?;
                self.send(&file.content)?;
            }
            Step::Mode(file) => self.send(format!("mode {} {}\n", file.path, file.mode).as_bytes())?,
            Step::Converge => {
                self.send(b"converge\n")?;
                let code = self.expect("done")?.text(0).parse();
                return Ok(Outcome::Converged(code.map_err(|_| SessionError::Broken)?));
            }
        }
        self.expect("done")?;
        Ok(Outcome::Done)
    }

    /// Tells the machine that there are no more orders.
    ///
    /// # Errors
    /// The connection broke.
    pub fn end(mut self) -> Result<(), SessionError> {
        self.send(b"end\n")?;
        self.expect("end").map(drop)
    }

    fn send(&mut self, bytes: &[u8]) -> Result<(), SessionError> {
        if self.to.write_all(bytes).and_then(|()| self.to.flush()).is_ok() {
            return Ok(());
        }
        // The machine may have sent the reason why it reads no more orders.
        match self.reply() {
            Err(error) => Err(error),
            Ok(_) => Err(SessionError::Broken),
        }
    }

    fn expect(&mut self, word: &str) -> Result<Reply, SessionError> {
        let reply = self.reply()?;
        if reply.word == word { Ok(reply) } else { Err(SessionError::NotUnderstood(reply.word)) }
    }

    /// Reads until the next reply line, and shows all other lines.
    fn reply(&mut self) -> Result<Reply, SessionError> {
        loop {
            let mut line = vec![];
            let read =
                self.from.by_ref().take(MAX_LINE).read_until(b'\n', &mut line).map_err(|_| SessionError::Broken)?;
            if read == 0 {
                return Err(SessionError::Broken);
            }
            let line = String::from_utf8_lossy(&line);
            let line = line.trim_end_matches(['\n', '\r']);
            // The output before the reply did not end with a line break.
            let Some((before, ours)) = line.split_once(&format!("{} ", self.mark)) else {
                self.people.output(&escape_line(line));
                continue;
            };
            if !before.is_empty() {
                self.people.output(&escape_line(before));
            }
            let mut words = ours.split(' ').map(escape_line);
            let word = words.next().unwrap_or_default();
            let rest: Vec<_> = words.collect();
            if word == "failed" {
                return Err(SessionError::Failed(reason(&rest)));
            }
            return Ok(Reply { word, rest });
        }
    }
}

/// Returns the description of a failure on the machine, with advice.
fn reason(words: &[String]) -> String {
    let rest = words.get(1..).unwrap_or_default().join(" ");
    match words.first().map(String::as_str).unwrap_or_default() {
        "not-root" => "the login is not root's: use --sudo, or log in as root".to_owned(),
        "sudo-missing" => "the machine does not have sudo: log in as root".to_owned(),
        "sudo" => format!("sudo ended with {rest}: the login may not become root there, or the password was wrong"),
        "tools" => {
            format!("the machine lacks {rest}: install it there first (bootstrap needs Debian's dpkg and coreutils)")
        }
        "not-a-file" => format!("{rest} is there and is not a file: remove it"),
        "write" => format!("{rest} cannot be written on the machine; nothing was left half written"),
        "short" => format!("{rest} did not arrive whole, and was left as it was"),
        "digest" => format!("{rest} does not have the SHA-256 that was given; it was not used"),
        "fetch" => format!("{rest} cannot be fetched by the machine"),
        "dpkg" => format!(
            "dpkg could not install the package (exit code {rest}); its words are above. Mend it there (`dpkg --configure --pending`), and run this again"
        ),
        _ => format!("the machine's script failed: {}", words.join(" ")),
    }
}

#[cfg(test)]
mod tests;
