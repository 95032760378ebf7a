//! A query, parsed.

use thiserror::Error;

use super::Document;
use super::words::{Pattern, Piece};

/// Where terms without a field are looked for.
const DEFAULT_FIELD: &str = "text";

/// The most characters of a query.
const MAX_CHARACTERS: usize = 65_536;

/// How deep parentheses and operators may be nested.
const MAX_DEPTH: usize = 200;

/// Why a query cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("invalid search query: '{query}': {why}")]
pub struct BadQuery {
    query: String,
    why: String,
}

/// A query in Chef's syntax.
#[derive(Debug, Clone, PartialEq)]
pub struct Query(Expression);

#[derive(Debug, Clone, PartialEq)]
enum Expression {
    Words(Pattern),
    Range { from: String, to: String, with_from: bool, with_to: bool },
    Not(Box<Self>),
    Both(Box<Self>, Operator, Box<Self>),
    Field(Pattern, Box<Self>),
    Group(Box<Self>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Operator {
    Or,
    And,
    /// `^`, a weight; it decides nothing.
    Boost,
}

impl Query {
    /// Reads a query.
    ///
    /// # Errors
    /// It is none; the text says where.
    pub fn parse(text: &str) -> Result<Self, BadQuery> {
        let bad = |why: String| BadQuery { query: text.chars().take(1_000).collect(), why };
        if text.chars().count() > MAX_CHARACTERS {
            return Err(bad(format!("it has more than {MAX_CHARACTERS} characters")));
        }
        let mut parser = Parser { tokens: tokens(text), at: 0, depth: 0 };
        let expression = parser.expression().map_err(bad)?;
        Ok(Self(expression))
    }

    /// Whether an object is found.
    pub fn matches(&self, document: &Document) -> bool {
        self.0.matches(document)
    }
}

impl Expression {
    fn matches(&self, document: &Document) -> bool {
        match self {
            Self::Words(_) | Self::Range { .. } => self.holds(&document.values(|key| key == DEFAULT_FIELD)),
            Self::Not(inner) => !inner.matches(document),
            Self::Group(inner) => inner.matches(document),
            Self::Both(left, Operator::And, right) => left.matches(document) && right.matches(document),
            Self::Both(left, Operator::Or, right) => left.matches(document) || right.matches(document),
            Self::Both(left, Operator::Boost, _) => left.matches(document),
            Self::Field(field, value) => match field.literal() {
                Some(name) => value.holds(&document.values(|key| key == name)),
                None => value.holds(&document.values(|key| field.matches(key))),
            },
        }
    }

    /// Whether one of a field's values is as asked.
    fn holds(&self, values: &[&str]) -> bool {
        match self {
            Self::Words(pattern) => values.iter().any(|value| pattern.matches(value)),
            // Local mode compares the lower bound the wrong way round: only what equals it is in the range.
            Self::Range { from, to, with_from, with_to } => values.first().is_some_and(|value| {
                let above = from == "*" || (from == value && *with_from) || from.as_str() > *value;
                let below = to == "*" || *value < to.as_str() || (*value == to && *with_to);
                above && below
            }),
            Self::Not(inner) => !inner.holds(values),
            Self::Group(inner) => inner.holds(values),
            Self::Both(left, Operator::And, right) => left.holds(values) && right.holds(values),
            Self::Both(left, Operator::Or, right) => left.holds(values) || right.holds(values),
            Self::Both(left, Operator::Boost, _) => left.holds(values),
            Self::Field(..) => false,
        }
    }
}

/// Signs that stand for themselves.
const SIGNS: [&str; 11] = ["\"", "+", "-", "!", "(", ")", "{", "}", "[", "]", "^"];

/// The sign that begins here.
fn sign(rest: &[char]) -> Option<&'static str> {
    let first = rest.first()?;
    let second = rest.get(1);
    let pairs = [("&&", '&'), ("||", '|')];
    let pair = pairs.into_iter().find(|(_, one)| first == one && second == Some(one)).map(|(pair, _)| pair);
    let colon = (*first == ':').then_some(":");
    pair.or(colon).or_else(|| SIGNS.into_iter().find(|sign| sign.starts_with(*first)))
}

/// Signs, and terms with their backslashes.
fn tokens(text: &str) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    let (mut tokens, mut at) = (vec![], 0);
    let rest = |at: usize| characters.get(at..).unwrap_or_default();
    while let Some(character) = characters.get(at) {
        if character.is_whitespace() {
            at += 1;
        } else if let Some(sign) = sign(rest(at)) {
            tokens.push(sign.to_owned());
            at += sign.len();
        } else {
            let mut term = String::new();
            while let Some(character) = characters.get(at) {
                let ends = character.is_whitespace() || sign(rest(at)).is_some_and(|sign| sign != "-");
                if ends && !term.is_empty() {
                    break;
                }
                term.push(*character);
                at += 1;
                if *character == '\\' {
                    term.extend(characters.get(at));
                    at += 1;
                }
            }
            tokens.push(term);
        }
    }
    tokens
}

struct Parser {
    tokens: Vec<String>,
    at: usize,
    depth: usize,
}

impl Parser {
    fn peek(&self) -> Option<&str> {
        self.tokens.get(self.at).map(String::as_str)
    }

    fn next(&mut self) -> Option<String> {
        let token = self.tokens.get(self.at).cloned();
        self.at += 1;
        token
    }

    fn deeper(&mut self) -> Result<(), String> {
        self.depth += 1;
        if self.depth > MAX_DEPTH { Err(format!("it is nested more than {MAX_DEPTH} deep")) } else { Ok(()) }
    }

    fn expression(&mut self) -> Result<Expression, String> {
        self.deeper()?;
        let mut result = self.single()?;
        while let Some(token) = self.peek().filter(|token| *token != ")") {
            let operator = match token {
                "AND" | "&&" => Some(Operator::And),
                "OR" | "||" => Some(Operator::Or),
                "^" => Some(Operator::Boost),
                _ => None,
            };
            self.at += usize::from(operator.is_some());
            let operator = operator.unwrap_or(Operator::Or);
            let next = Box::new(self.single()?);
            result = match result {
                // What binds tighter takes the nearest of what is there.
                Expression::Both(left, earlier, right) if operator > earlier => {
                    Expression::Both(left, earlier, Box::new(Expression::Both(right, operator, next)))
                }
                other => Expression::Both(Box::new(other), operator, next),
            };
        }
        self.depth -= 1;
        Ok(result)
    }

    fn single(&mut self) -> Result<Expression, String> {
        self.deeper()?;
        let token = self.next().ok_or("an expression is missing at its end")?;
        let result = match token.as_str() {
            "NOT" | "-" | "!" => Expression::Not(Box::new(self.single()?)),
            "+" => return Err("`+` is not supported".into()),
            "\"" => Expression::Words(self.phrase()?),
            "{" | "[" => self.range(token == "[")?,
            "(" => {
                let inner = self.expression()?;
                match self.next().as_deref() {
                    Some(")") => Expression::Group(Box::new(inner)),
                    _ => return Err("a `)` is missing".into()),
                }
            }
            "}" | "]" | ")" => return Err(format!("`{token}` closes nothing")),
            "AND" | "OR" | "&&" | "||" | "^" | ":" => return Err(format!("`{token}` has nothing before it")),
            _ => {
                let pattern = Pattern { pieces: term(&token)? };
                if self.peek() == Some(":") {
                    self.at += 1;
                    Expression::Field(pattern, Box::new(self.single()?))
                } else {
                    Expression::Words(pattern)
                }
            }
        };
        self.depth -= 1;
        Ok(result)
    }

    fn phrase(&mut self) -> Result<Pattern, String> {
        let mut pieces = vec![];
        loop {
            let token = self.next().ok_or("a quotation mark is not closed")?;
            if token == "\"" {
                return Ok(Pattern { pieces });
            }
            if !pieces.is_empty() {
                pieces.push(Piece::Gap);
            }
            pieces.extend(term(&token)?);
        }
    }

    fn range(&mut self, with_from: bool) -> Result<Expression, String> {
        let from = self.next().ok_or("the range has no lower bound")?;
        if self.next().as_deref() != Some("TO") {
            return Err("the range has no `TO`".into());
        }
        let to = self.next().ok_or("the range has no upper bound")?;
        let with_to = match self.next().as_deref() {
            Some("]") => true,
            Some("}") => false,
            _ => return Err("the range is not closed".into()),
        };
        Ok(Expression::Range { from, to, with_from, with_to })
    }
}

fn term(token: &str) -> Result<Vec<Piece>, String> {
    let mut pieces = vec![];
    let mut rest = token.chars();
    while let Some(character) = rest.next() {
        pieces.push(match character {
            '*' => Piece::Any,
            '?' => Piece::One,
            '~' => return Err("`~` is not supported".into()),
            '\\' => Piece::Character(rest.next().ok_or("it ends with a backslash")?),
            other => Piece::Character(other),
        });
    }
    Ok(pieces)
}
