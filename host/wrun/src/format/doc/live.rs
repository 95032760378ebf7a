//! Collects the output of a running command, which arrives in pieces and is shown as whole lines.

/// Largest length of a line, in bytes. Longer lines are split, so that output without line breaks is shown too.
const LONGEST: usize = 8 << 10;

/// The received part of an unfinished line.
#[derive(Default)]
pub(super) struct Live(Vec<u8>);

impl Live {
    /// Adds a piece, and returns the lines that are now complete, without their line breaks.
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

    /// Returns the rest of the output at the command's end.
    pub(super) fn rest(&mut self) -> Option<String> {
        let rest = std::mem::take(&mut self.0);
        (!rest.is_empty()).then(|| shown(&rest))
    }
}

/// Returns a line without its line break. On a terminal, a carriage return overwrites the line, so only the text after the
/// last one counts.
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
