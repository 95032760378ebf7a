//! Parses the text of a query to an expression.

use super::query::{Bound, Expression, Operator};
use super::words::{Pattern, Piece};

/// Characters of a query.
const MAX_CHARACTERS: usize = 65_536;

/// How deep parentheses and operators may be nested.
const MAX_DEPTH: usize = 200;

/// Terms, phrases and ranges of a query.
const MAX_CLAUSES: usize = 1_024;

/// Wildcards (`*` and `?`) of a query. A text is compared with all that may still match, which is more with each of them.
const MAX_WILDCARDS: usize = 1_024;

/// A syntax error in a query.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Wrong {
    /// The position of the error as a number of characters, from 1. `None`: the error is about the whole query.
    pub(super) at: Option<usize>,
    /// The reason in plain words.
    pub(super) why: String,
}

impl Wrong {
    fn whole(why: String) -> Self {
        Self { at: None, why }
    }
}

/// Parses the text of a query.
pub(super) fn parse(text: &str) -> Result<Expression, Wrong> {
    if text.chars().count() > MAX_CHARACTERS {
        return Err(Wrong::whole(format!("it has more than {MAX_CHARACTERS} characters")));
    }
    let tokens = tokens(text);
    let mut parser = Parser { tokens, at: 0, clauses: 0, wildcards: 0 };
    let expression = parser.expression(0)?;
    match parser.peek() {
        None => Ok(expression),
        Some(token) => Err(parser.wrong(format!("`{token}` closes nothing"))),
    }
}

/// Signs that stand for themselves.
const SIGNS: [&str; 11] = ["\"", "+", "-", "!", "(", ")", "{", "}", "[", "]", "^"];

/// A sign, or a term with its backslashes.
#[derive(Debug)]
struct Token {
    text: String,
    /// The number of its first character, from 1.
    at: usize,
}

/// The sign that begins here.
fn sign(rest: &[char]) -> Option<&'static str> {
    let first = rest.first()?;
    let second = rest.get(1);
    let pairs = [("&&", '&'), ("||", '|')];
    let pair = pairs.into_iter().find(|(_, one)| first == one && second == Some(one)).map(|(pair, _)| pair);
    let colon = (*first == ':').then_some(":");
    pair.or(colon).or_else(|| SIGNS.into_iter().find(|sign| sign.starts_with(*first)))
}

fn tokens(text: &str) -> Vec<Token> {
    let characters: Vec<char> = text.chars().collect();
    let (mut tokens, mut at) = (vec![], 0);
    let rest = |at: usize| characters.get(at..).unwrap_or_default();
    while let Some(character) = characters.get(at) {
        let begin = at + 1;
        if character.is_whitespace() {
            at += 1;
        } else if let Some(sign) = sign(rest(at)) {
            tokens.push(Token { text: sign.to_owned(), at: begin });
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
            tokens.push(Token { text: term, at: begin });
        }
    }
    tokens
}

/// Returns the depth within one more expression.
fn deeper(depth: usize) -> Result<usize, Wrong> {
    match depth {
        ..MAX_DEPTH => Ok(depth + 1),
        MAX_DEPTH.. => Err(Wrong::whole(format!("it is nested more than {MAX_DEPTH} deep"))),
    }
}

struct Parser {
    tokens: Vec<Token>,
    at: usize,
    clauses: usize,
    wildcards: usize,
}

impl Parser {
    fn peek(&self) -> Option<&str> {
        self.tokens.get(self.at).map(|token| token.text.as_str())
    }

    fn next(&mut self) -> Option<String> {
        let token = self.tokens.get(self.at).map(|token| token.text.clone());
        self.at += 1;
        token
    }

    /// An error at the token that comes next.
    fn wrong(&self, why: impl Into<String>) -> Wrong {
        Wrong { at: self.tokens.get(self.at).map(|token| token.at), why: why.into() }
    }

    /// An error at the token that was taken last.
    fn wrong_before(&self, why: impl Into<String>) -> Wrong {
        let token = self.at.checked_sub(1).and_then(|at| self.tokens.get(at));
        Wrong { at: token.map(|token| token.at), why: why.into() }
    }

    /// Counts a term, a phrase or a range.
    fn clause(&mut self, expression: Expression) -> Result<Expression, Wrong> {
        self.clauses += 1;
        if self.clauses <= MAX_CLAUSES {
            return Ok(expression);
        }
        Err(Wrong::whole(format!("it has more than {MAX_CLAUSES} terms")))
    }

    /// Parses an expression within `depth` others.
    fn expression(&mut self, depth: usize) -> Result<Expression, Wrong> {
        let depth = deeper(depth)?;
        let mut result = self.single(depth)?;
        while let Some(token) = self.peek().filter(|token| *token != ")") {
            let operator = match token {
                "AND" | "&&" => Some(Operator::And),
                "OR" | "||" => Some(Operator::Or),
                "^" => Some(Operator::Boost),
                _ => None,
            };
            self.at += usize::from(operator.is_some());
            let operator = operator.unwrap_or(Operator::Or);
            let next = Box::new(self.single(depth)?);
            result = match result {
                // An operator that binds tighter takes the operand next to it.
                Expression::Both(left, earlier, right) if operator > earlier => {
                    Expression::Both(left, earlier, Box::new(Expression::Both(right, operator, next)))
                }
                other => Expression::Both(Box::new(other), operator, next),
            };
        }
        Ok(result)
    }

    /// Parses what stands between operators, within `depth` expressions.
    fn single(&mut self, depth: usize) -> Result<Expression, Wrong> {
        let depth = deeper(depth)?;
        let token = self.next().ok_or_else(|| self.wrong("an expression is missing at its end"))?;
        let result = match token.as_str() {
            "NOT" | "-" | "!" => Expression::Not(Box::new(self.single(depth)?)),
            "+" => return Err(self.wrong_before("`+` is not supported; write `\\+` for the character")),
            "\"" => {
                let phrase = Expression::Words(self.phrase()?);
                self.clause(phrase)?
            }
            "{" | "[" => {
                let range = self.range(token == "[")?;
                self.clause(range)?
            }
            "(" => {
                let begin = self.at;
                let inner = self.expression(depth)?;
                match self.next().as_deref() {
                    Some(")") => Expression::Group(Box::new(inner)),
                    _ => {
                        self.at = begin;
                        return Err(self.wrong_before("a `)` is missing"));
                    }
                }
            }
            "}" | "]" | ")" => return Err(self.wrong_before(format!("`{token}` closes nothing"))),
            "AND" | "OR" | "&&" | "||" | "^" | ":" => {
                return Err(self.wrong_before(format!("`{token}` has nothing before it")));
            }
            _ => {
                let pattern = Pattern { pieces: self.term(&token)? };
                if self.peek() == Some(":") {
                    self.at += 1;
                    match self.single(depth)? {
                        Expression::Words(value) if pattern.is_anything() && value.is_anything() => {
                            Expression::Everything
                        }
                        value => Expression::Field(pattern, Box::new(value)),
                    }
                } else {
                    self.clause(Expression::Words(pattern))?
                }
            }
        };
        Ok(result)
    }

    fn phrase(&mut self) -> Result<Pattern, Wrong> {
        let begin = self.at;
        let mut pieces = vec![];
        loop {
            let Some(token) = self.next() else {
                self.at = begin;
                return Err(self.wrong_before("a quotation mark is not closed"));
            };
            if token == "\"" {
                return Ok(Pattern { pieces });
            }
            if !pieces.is_empty() {
                pieces.extend([Piece::Between, Piece::MoreBetween]);
            }
            pieces.extend(self.term(&token)?);
        }
    }

    fn range(&mut self, with_from: bool) -> Result<Expression, Wrong> {
        let from = self.bound(with_from)?;
        if self.next().as_deref() != Some("TO") {
            return Err(self.wrong_before("the range has no `TO`"));
        }
        let mut to = self.bound(true)?;
        match (self.next().as_deref(), &mut to) {
            (Some("]"), _) => {}
            (Some("}"), Some(to)) => to.is_inside = false,
            (Some("}"), None) => {}
            _ => return Err(self.wrong_before("the range is not closed")),
        }
        Ok(Expression::Range { from, to })
    }

    /// A bound of a range; `None` is `*`.
    fn bound(&mut self, is_inside: bool) -> Result<Option<Bound>, Wrong> {
        let token = self.next().ok_or_else(|| self.wrong("the range has no bound"))?;
        let mut words = vec![token];
        if words.first().is_some_and(|word| word == "\"") {
            words.clear();
            loop {
                match self.next().ok_or_else(|| self.wrong("a quotation mark is not closed"))? {
                    quote if quote == "\"" => break,
                    word => words.push(word),
                }
            }
        } else if words.first().is_some_and(|word| word == "*") {
            return Ok(None);
        } else if words.first().is_some_and(|word| word == "-") {
            // A negative number.
            words.extend(self.next());
            words = vec![words.concat()];
        }
        let mut text = String::new();
        let mut is_escaped = false;
        for character in words.join(" ").chars() {
            if character == '\\' && !is_escaped {
                is_escaped = true;
            } else {
                text.push(character);
                is_escaped = false;
            }
        }
        Ok(Some(Bound { text, is_inside }))
    }

    /// The pieces of a term, which was taken last.
    fn term(&mut self, token: &str) -> Result<Vec<Piece>, Wrong> {
        let mut pieces = vec![];
        let mut rest = token.chars();
        while let Some(character) = rest.next() {
            pieces.push(match character {
                '*' if pieces.last() == Some(&Piece::Any) => continue,
                '*' => Piece::Any,
                '?' => Piece::One,
                '~' => return Err(self.wrong_before("`~` is not supported; write `\\~` for the character")),
                '\\' => {
                    let escaped = rest.next();
                    Piece::Character(escaped.ok_or_else(|| self.wrong_before("it ends with a backslash"))?)
                }
                other => Piece::Character(other),
            });
        }
        self.wildcards += pieces.iter().filter(|piece| matches!(piece, Piece::Any | Piece::One)).count();
        if self.wildcards > MAX_WILDCARDS {
            return Err(Wrong::whole(format!("it has more than {MAX_WILDCARDS} wildcards")));
        }
        Ok(pieces)
    }
}
