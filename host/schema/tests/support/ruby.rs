//! A parser for the small part of Ruby in which specifications are written: literals, constants, method calls, operators, blocks.

use schema::value::Value;

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Expression {
    Literal(Value),
    /// A constant's full name, such as `String` or `Chef::Property`.
    Constant(String),
    /// Source and flags.
    Regex(String, String),
    Array(Vec<Self>),
    Hash(Vec<(Self, Self)>),
    /// `first..last`; exclusive with three dots.
    Range(Box<Self>, Box<Self>, bool),
    /// `proc { |names| body }`, `lambda` and `->`.
    Block(Vec<String>, Box<Self>),
    /// A call; without receiver it may also be a variable.
    Call(Option<Box<Self>>, String, Vec<Self>),
    Not(Box<Self>),
    Binary(String, Box<Self>, Box<Self>),
    Ternary(Box<Self>, Box<Self>, Box<Self>),
}

/// Parses one expression that is the whole text.
pub(crate) fn parse_expression(source: &str) -> Result<Expression, String> {
    let mut parser = Parser::new(source);
    let expression = parser.expression()?;
    parser.end()?;
    Ok(expression)
}

/// Parses the arguments of a call: positional ones, then `key: value` pairs as one hash at the end.
pub(crate) fn parse_arguments(source: &str) -> Result<Vec<Expression>, String> {
    let mut parser = Parser::new(source);
    let arguments = parser.arguments(None)?;
    parser.end()?;
    Ok(arguments)
}

struct Parser<'a> {
    source: &'a str,
    at: usize,
}

/// Binary operators from the loosest to the tightest; within a line, longer ones first.
const OPERATORS: [&[&str]; 8] = [
    &["||", "or "],
    &["&&", "and "],
    &["<=>", "===", "==", "!=", "=~", "!~"],
    &["<=", ">=", "<", ">"],
    &["|", "^"],
    &["&"],
    &["+", "-"],
    &["**", "*", "/", "%"],
];

impl<'a> Parser<'a> {
    fn new(source: &'a str) -> Self {
        Self { source, at: 0 }
    }

    fn rest(&self) -> &'a str {
        &self.source[self.at..]
    }

    fn skip_blanks(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    fn peek(&mut self) -> Option<char> {
        self.skip_blanks();
        self.rest().chars().next()
    }

    fn next_is(&mut self, token: &str) -> bool {
        self.skip_blanks();
        self.rest().starts_with(token)
    }

    fn take(&mut self, token: &str) -> bool {
        let found = self.next_is(token);
        if found {
            self.at += token.len();
        }
        found
    }

    fn expect(&mut self, token: &str) -> Result<(), String> {
        if self.take(token) { Ok(()) } else { Err(self.error(&format!("expected `{token}`"))) }
    }

    fn error(&self, message: &str) -> String {
        format!("{message} at `{}` in `{}`", self.rest(), self.source)
    }

    fn end(&mut self) -> Result<(), String> {
        self.skip_blanks();
        if self.rest().is_empty() { Ok(()) } else { Err(self.error("unexpected text")) }
    }

    fn word(&mut self) -> Option<String> {
        self.skip_blanks();
        let rest = self.rest();
        let length =
            rest.find(|character: char| !(character.is_alphanumeric() || character == '_')).unwrap_or(rest.len());
        let starts_well = rest.chars().next().is_some_and(|first| first.is_alphabetic() || first == '_');
        (length > 0 && starts_well).then(|| {
            self.at += length;
            rest[..length].to_owned()
        })
    }

    fn expression(&mut self) -> Result<Expression, String> {
        let condition = self.range()?;
        let is_ternary = self.next_is("?");
        if !is_ternary {
            return Ok(condition);
        }
        self.expect("?")?;
        let yes = self.expression()?;
        self.expect(":")?;
        let no = self.expression()?;
        Ok(Expression::Ternary(Box::new(condition), Box::new(yes), Box::new(no)))
    }

    fn range(&mut self) -> Result<Expression, String> {
        let first = self.binary(0)?;
        let exclusive = self.take("...");
        if exclusive || self.take("..") {
            let last = self.binary(0)?;
            return Ok(Expression::Range(Box::new(first), Box::new(last), exclusive));
        }
        Ok(first)
    }

    fn binary(&mut self, level: usize) -> Result<Expression, String> {
        let Some(operators) = OPERATORS.get(level) else { return self.unary() };
        let mut left = self.binary(level + 1)?;
        while let Some(operator) = self.operator(operators) {
            let right = self.binary(level + 1)?;
            left = Expression::Binary(operator.trim().to_owned(), Box::new(left), Box::new(right));
        }
        Ok(left)
    }

    fn operator(&mut self, operators: &[&'static str]) -> Option<&'static str> {
        let found = operators.iter().find(|operator| self.next_is(operator))?;
        // `|` ends a block's parameters and begins `||`; `&` begins `&&` and `&.`; `=>` is not a comparison.
        let next = &self.rest()[found.len()..];
        let is_other = match *found {
            "|" | "&" => next.starts_with(['|', '&', '.']),
            _ => false,
        };
        if is_other {
            return None;
        }
        self.at += found.len();
        Some(found)
    }

    fn unary(&mut self) -> Result<Expression, String> {
        if self.next_is("!") && !self.next_is("!=") && !self.next_is("!~") {
            self.expect("!")?;
            return Ok(Expression::Not(Box::new(self.unary()?)));
        }
        let value = self.primary()?;
        self.calls(value)
    }

    /// Method calls and indexes behind a value.
    fn calls(&mut self, mut value: Expression) -> Result<Expression, String> {
        loop {
            if self.rest().starts_with('.') && !self.rest().starts_with("..") || self.rest().starts_with("&.") {
                self.at += if self.rest().starts_with('.') { 1 } else { 2 };
                let mut name = self.word().ok_or_else(|| self.error("expected a method"))?;
                let is_predicate = self.rest().starts_with(['?', '!']) && !self.rest().starts_with("!=");
                if is_predicate {
                    name.push_str(&self.rest()[..1]);
                    self.at += 1;
                }
                let arguments = if self.rest().starts_with('(') {
                    self.at += 1;
                    self.arguments(Some(")"))?
                } else {
                    Vec::new()
                };
                value = Expression::Call(Some(Box::new(value)), name, arguments);
            } else if self.rest().starts_with('[') {
                self.at += 1;
                let arguments = self.arguments(Some("]"))?;
                value = Expression::Call(Some(Box::new(value)), "[]".into(), arguments);
            } else {
                return Ok(value);
            }
        }
    }

    /// Arguments up to the closing token, which is taken; without one, up to the end of the text.
    fn arguments(&mut self, close: Option<&str>) -> Result<Vec<Expression>, String> {
        let mut positional = Vec::new();
        let mut named = Vec::new();
        loop {
            match close {
                Some(token) if self.take(token) => break,
                None if self.peek().is_none() => break,
                _ => {}
            }
            match self.pair()? {
                (Some(key), value) => named.push((key, value)),
                (None, value) => positional.push(value),
            }
            if !self.take(",") {
                if let Some(token) = close {
                    self.expect(token)?;
                }
                break;
            }
        }
        if !named.is_empty() {
            positional.push(Expression::Hash(named));
        }
        Ok(positional)
    }

    /// `key: value`, `"key": value`, `key => value` or a value alone.
    fn pair(&mut self) -> Result<(Option<Expression>, Expression), String> {
        let start = self.at;
        let label = match self.peek() {
            Some('"' | '\'') => match self.quoted()? {
                Expression::Literal(Value::Text(text)) if self.rest().starts_with(':') => Some(text),
                _ => None,
            },
            _ => self.word(),
        };
        if let Some(label) = label
            && self.rest().starts_with(':')
            && !self.rest().starts_with("::")
        {
            self.at += 1;
            return Ok((Some(Expression::Literal(Value::Symbol(label))), self.expression()?));
        }
        self.at = start;
        let value = self.expression()?;
        if self.take("=>") {
            return Ok((Some(value), self.expression()?));
        }
        Ok((None, value))
    }

    fn primary(&mut self) -> Result<Expression, String> {
        match self.peek() {
            None => Err(self.error("expected a value")),
            Some('[') => {
                self.at += 1;
                Ok(Expression::Array(self.arguments(Some("]"))?))
            }
            Some('{') => {
                self.at += 1;
                match self.arguments(Some("}"))?.as_slice() {
                    [] => Ok(Expression::Hash(Vec::new())),
                    [hash @ Expression::Hash(_)] => Ok(hash.clone()),
                    _ => Err(self.error("expected a hash")),
                }
            }
            Some('(') => {
                self.at += 1;
                let inner = self.expression()?;
                self.expect(")")?;
                Ok(inner)
            }
            Some('"' | '\'') => self.quoted(),
            Some('/') => {
                self.at += 1;
                self.regex('/', '/')
            }
            Some('%') => self.percent(),
            Some(':') => self.symbol(),
            Some('-') if self.rest().starts_with("->") => {
                self.at += 2;
                let parameters = if self.take("(") { self.parameters(")")? } else { Vec::new() };
                self.block(parameters)
            }
            Some(digit) if digit.is_ascii_digit() || digit == '-' => self.number(),
            Some(_) => self.named(),
        }
    }

    fn named(&mut self) -> Result<Expression, String> {
        let mut name = self.word().ok_or_else(|| self.error("expected a value"))?;
        if name.starts_with(char::is_uppercase) {
            while self.rest().starts_with("::") {
                self.at += 2;
                let part = self.word().ok_or_else(|| self.error("expected a constant"))?;
                name = format!("{name}::{part}");
            }
            return Ok(Expression::Constant(name));
        }
        match name.as_str() {
            "nil" => Ok(Expression::Literal(Value::Nil)),
            "true" => Ok(Expression::Literal(Value::Boolean(true))),
            "false" => Ok(Expression::Literal(Value::Boolean(false))),
            "proc" | "lambda" | "lazy" if self.next_is("{") => self.block(Vec::new()),
            _ if self.rest().starts_with('(') => {
                self.at += 1;
                Ok(Expression::Call(None, name, self.arguments(Some(")"))?))
            }
            _ => Ok(Expression::Call(None, name, Vec::new())),
        }
    }

    /// `{ |names| body }`.
    fn block(&mut self, mut parameters: Vec<String>) -> Result<Expression, String> {
        self.expect("{")?;
        if self.take("|") {
            parameters = self.parameters("|")?;
        }
        let body = self.expression()?;
        self.expect("}")?;
        Ok(Expression::Block(parameters, Box::new(body)))
    }

    fn parameters(&mut self, close: &str) -> Result<Vec<String>, String> {
        let mut names = Vec::new();
        while !self.take(close) {
            names.push(self.word().ok_or_else(|| self.error("expected a parameter"))?);
            self.take(",");
        }
        Ok(names)
    }

    fn symbol(&mut self) -> Result<Expression, String> {
        self.expect(":")?;
        if self.rest().starts_with(['"', '\'']) {
            return match self.quoted()? {
                Expression::Literal(Value::Text(text)) => Ok(Expression::Literal(Value::Symbol(text))),
                other => Ok(other),
            };
        }
        let mut name = self.word().ok_or_else(|| self.error("expected a symbol"))?;
        if self.rest().starts_with(['?', '!']) {
            name.push_str(&self.rest()[..1]);
            self.at += 1;
        }
        Ok(Expression::Literal(Value::Symbol(name)))
    }

    fn number(&mut self) -> Result<Expression, String> {
        let rest = self.rest();
        let sign = usize::from(rest.starts_with('-'));
        let mut length = sign;
        let mut is_float = false;
        for (at, character) in rest.char_indices().skip(sign) {
            let next_is_digit = rest[at + 1..].starts_with(|next: char| next.is_ascii_digit());
            match character {
                '0'..='9' | '_' => {}
                '.' if !is_float && next_is_digit => is_float = true,
                'e' if length > sign => is_float = true,
                _ => break,
            }
            length = at + 1;
        }
        let digits = rest[..length].replace('_', "");
        self.at += length;
        let is_octal = digits.trim_start_matches('-').starts_with('0') && digits.len() > 1 && !is_float;
        if is_float {
            digits.parse().map(|float| Expression::Literal(Value::Float(float))).map_err(|_| self.error("bad number"))
        } else if is_octal {
            i64::from_str_radix(&digits, 8)
                .map(|bits| Expression::Literal(Value::Integer(bits)))
                .map_err(|_| self.error("bad number"))
        } else {
            digits
                .parse()
                .map(|integer| Expression::Literal(Value::Integer(integer)))
                .map_err(|_| self.error("bad number"))
        }
    }

    fn quoted(&mut self) -> Result<Expression, String> {
        let quote = self.peek().ok_or_else(|| self.error("expected a string"))?;
        self.at += 1;
        let mut text = String::new();
        let mut characters = self.rest().char_indices();
        while let Some((at, character)) = characters.next() {
            match character {
                end if end == quote => {
                    self.at += at + 1;
                    return Ok(Expression::Literal(Value::Text(text)));
                }
                '\\' => match characters.next() {
                    Some((_, 'n')) if quote == '"' => text.push('\n'),
                    Some((_, 't')) if quote == '"' => text.push('\t'),
                    Some((_, escaped @ ('\\' | '\'' | '"'))) => text.push(escaped),
                    Some((_, other)) => {
                        if quote == '\'' {
                            text.push('\\');
                        }
                        text.push(other);
                    }
                    None => break,
                },
                plain => text.push(plain),
            }
        }
        Err(self.error("unfinished string"))
    }

    /// The inside of a regular expression, whose opening delimiter is already taken.
    fn regex(&mut self, open: char, close: char) -> Result<Expression, String> {
        let source = self.delimited(open, close)?;
        let rest = self.rest();
        let flags: String = rest.chars().take_while(|flag| matches!(flag, 'i' | 'm' | 'x' | 'u' | 'o')).collect();
        self.at += flags.len();
        Ok(Expression::Regex(source, flags))
    }

    /// Text up to the closing delimiter, which is taken; pairs nest, backslashes stay.
    fn delimited(&mut self, open: char, close: char) -> Result<String, String> {
        let mut depth = 0;
        let mut is_escaped = false;
        let rest = self.rest();
        for (at, character) in rest.char_indices() {
            if is_escaped {
                is_escaped = false;
            } else if character == '\\' {
                is_escaped = true;
            } else if character == close && depth == 0 {
                self.at += at + close.len_utf8();
                return Ok(rest[..at].to_owned());
            } else if character == close {
                depth -= 1;
            } else if character == open {
                depth += 1;
            }
        }
        Err(self.error("unfinished literal"))
    }

    /// `%w(a b)`, `%i{a b}`, `%q(..)`, `%r{..}`.
    fn percent(&mut self) -> Result<Expression, String> {
        self.expect("%")?;
        let mut characters = self.rest().chars();
        let kind = characters.next().filter(char::is_ascii_alphabetic);
        let open = if kind.is_some() { characters.next() } else { self.rest().chars().next() };
        let open = open.ok_or_else(|| self.error("expected a literal"))?;
        self.at += usize::from(kind.is_some()) + open.len_utf8();
        let close = match open {
            '(' => ')',
            '[' => ']',
            '{' => '}',
            '<' => '>',
            same => same,
        };
        if kind == Some('r') {
            return self.regex(open, close);
        }
        let text = self.delimited(open, close)?;
        let words = text.split_whitespace().map(str::to_owned);
        match kind {
            Some('w' | 'W') => {
                Ok(Expression::Array(words.map(|word| Expression::Literal(Value::Text(word))).collect()))
            }
            Some('i' | 'I') => {
                Ok(Expression::Array(words.map(|word| Expression::Literal(Value::Symbol(word))).collect()))
            }
            Some('q' | 'Q') | None => Ok(Expression::Literal(Value::Text(text))),
            Some(other) => Err(self.error(&format!("unknown literal %{other}"))),
        }
    }
}
