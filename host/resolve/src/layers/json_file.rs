//! JSON with comments, as Chef's tools write it, read with the line of each key.

use serde_json::Value;

use super::document::{Budget, DocumentError, Members, Node};

/// Reads a JSON text.
pub(crate) fn parse(text: &str) -> Result<Node, DocumentError> {
    let mut reader = Reader { text, at: 0, line: 1, budget: Budget::default() };
    let node = reader.value(1)?;
    match reader.peek()? {
        None => Ok(node),
        Some(_) => Err(reader.wrong("nothing may follow the document")),
    }
}

struct Reader<'a> {
    text: &'a str,
    /// The offset of the next byte in `text`.
    at: usize,
    line: u32,
    budget: Budget,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn wrong(&self, reason: &str) -> DocumentError {
        DocumentError::new(self.line, reason)
    }

    /// Goes on by some bytes.
    fn skip(&mut self, bytes: usize) {
        let skipped = self.rest().get(..bytes).unwrap_or_default();
        let lines = skipped.bytes().filter(|byte| *byte == b'\n').count();
        self.line = self.line.saturating_add(u32::try_from(lines).unwrap_or(u32::MAX));
        self.at += bytes;
    }

    /// Returns the next character that is neither white space nor in a comment.
    fn peek(&mut self) -> Result<Option<char>, DocumentError> {
        loop {
            let rest = self.rest();
            let blank = rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n', '\u{feff}']).len();
            self.skip(blank);
            let rest = self.rest();
            if rest.starts_with("//") {
                self.skip(rest.find('\n').unwrap_or(rest.len()));
            } else if rest.starts_with("/*") {
                let end = rest.find("*/").ok_or_else(|| self.wrong("a comment does not end"))?;
                self.skip(end + 2);
            } else {
                return Ok(rest.chars().next());
            }
        }
    }

    fn value(&mut self, depth: usize) -> Result<Node, DocumentError> {
        let next = self.peek()?;
        self.budget.take(depth, self.line)?;
        match next {
            Some('{') => self.object(depth),
            Some('[') => self.list(depth),
            Some('"') => Ok(Node::Plain(Value::String(self.text()?))),
            Some(_) => {
                let rest = self.rest();
                let end = rest.find(|one: char| !(one.is_ascii_alphanumeric() || "+-.".contains(one)));
                let word = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
                let value: Value = serde_json::from_str(word).map_err(|_| {
                    self.wrong("this is not JSON: a value is an object, a list, text, a number, true, false or null")
                })?;
                if value.is_f64() && word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-') {
                    return Err(self.wrong(&format!("{word} is not a number that fits")));
                }
                self.skip(word.len());
                Ok(Node::Plain(value))
            }
            None => Err(self.wrong("the document ends too early")),
        }
    }

    fn object(&mut self, depth: usize) -> Result<Node, DocumentError> {
        self.skip(1);
        let mut members = Members::default();
        if self.peek()? == Some('}') {
            self.skip(1);
            return Ok(members.into_node());
        }
        loop {
            if self.peek()? != Some('"') {
                return Err(self.wrong("a key in quotation marks must follow"));
            }
            let line = self.line;
            let key = self.text()?;
            if self.peek()? != Some(':') {
                return Err(self.wrong("a colon must follow the key"));
            }
            self.skip(1);
            members.add(key, line, self.value(depth + 1)?)?;
            match self.peek()? {
                Some(',') => self.skip(1),
                Some('}') => {
                    self.skip(1);
                    return Ok(members.into_node());
                }
                _ => return Err(self.wrong("a comma or } must follow")),
            }
        }
    }

    fn list(&mut self, depth: usize) -> Result<Node, DocumentError> {
        self.skip(1);
        let mut all = Vec::new();
        if self.peek()? == Some(']') {
            self.skip(1);
            return Ok(Node::List(all));
        }
        loop {
            all.push(self.value(depth + 1)?);
            match self.peek()? {
                Some(',') => self.skip(1),
                Some(']') => {
                    self.skip(1);
                    return Ok(Node::List(all));
                }
                _ => return Err(self.wrong("a comma or ] must follow")),
            }
        }
    }

    /// The text in quotation marks that begins here.
    fn text(&mut self) -> Result<String, DocumentError> {
        let rest = self.rest();
        let mut is_escaped = true;
        let end = rest.bytes().position(|byte| {
            let is_end = byte == b'"' && !is_escaped;
            is_escaped = (byte == b'\\' && !is_escaped) || rest.is_empty();
            is_end
        });
        let quoted = end.and_then(|end| rest.get(..=end)).ok_or_else(|| self.wrong("a text does not end"))?;
        let text = serde_json::from_str(quoted).map_err(|error| {
            let reason = error.to_string();
            let reason = reason.split(" at line").next().unwrap_or_default();
            self.wrong(&format!("this text is not JSON: {reason}"))
        })?;
        self.skip(quoted.len());
        Ok(text)
    }
}
