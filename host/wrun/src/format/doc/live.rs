//! The output of a running command, which comes in pieces and is shown in whole lines.

/// The longest line that is waited for, in bytes: a command that never ends its line is shown all the same.
const LONGEST: usize = 8 << 10;

/// What has come of a line that is not ended yet.
#[derive(Default)]
pub(super) struct Live(Vec<u8>);

impl Live {
    /// Takes a piece; returns the lines that are whole now, without their ends.
    pub(super) fn take(&mut self, piece: &[u8]) -> Vec<String> {
        self.0.extend_from_slice(piece);
        let mut lines = Vec::new();
        while let Some(at) = self.0.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.0.drain(..=at).collect();
            lines.push(shown(&line));
        }
        if self.0.len() > LONGEST {
            lines.extend(self.rest());
        }
        lines
    }

    /// What is left at the command's end.
    pub(super) fn rest(&mut self) -> Option<String> {
        let rest = std::mem::take(&mut self.0);
        (!rest.is_empty()).then(|| shown(&rest))
    }
}

/// A line without its end. A carriage return begins a line anew on a terminal: the last one is the line.
fn shown(line: &[u8]) -> String {
    let line = String::from_utf8_lossy(line);
    let line = line.trim_end_matches(['\n', '\r']);
    line.rsplit('\r').next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_become_lines() {
        let mut live = Live::default();
        assert!(live.take(b"one").is_empty());
        assert_eq!(live.take(b" line\ntwo\r\n10%\r20%\r\nrest"), ["one line", "two", "20%"]);
        assert_eq!(live.rest().as_deref(), Some("rest"));
        assert_eq!(live.rest(), None);
        assert_eq!(live.take(&[b'x'; LONGEST + 1]).len(), 1);
        assert_eq!(live.take(b"\xff\n"), ["\u{fffd}"]);
    }
}
