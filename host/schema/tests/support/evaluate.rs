//! Evaluates expressions: the bodies of procs in specifications.

use std::sync::atomic::{AtomicI64, Ordering};

use schema::property::{Class, Pattern, responds_to};
use schema::value::Value;

use super::ruby::Expression;
use super::specification::{class, leak_pattern};

/// The upstream test's resource has a method `blah` that counts its calls; specifications may use it.
static BLAH: AtomicI64 = AtomicI64::new(0);

/// The value of an expression without variables.
pub(crate) fn constant(expression: &Expression) -> Result<Value, String> {
    evaluate(expression, &[])
}

/// Calls a block with one argument.
pub(crate) fn call(parameters: &[String], body: &Expression, argument: &Value) -> Result<Value, String> {
    let variables: Vec<(String, Value)> =
        parameters.first().map(|name| (name.clone(), argument.clone())).into_iter().collect();
    evaluate(body, &variables)
}

fn evaluate(expression: &Expression, variables: &[(String, Value)]) -> Result<Value, String> {
    match expression {
        Expression::Literal(value) => Ok(value.clone()),
        Expression::Array(items) => {
            items.iter().map(|item| evaluate(item, variables)).collect::<Result<_, _>>().map(Value::List)
        }
        Expression::Hash(pairs) => pairs
            .iter()
            .map(|(key, entry)| Ok((evaluate(key, variables)?, evaluate(entry, variables)?)))
            .collect::<Result<_, String>>()
            .map(Value::Map),
        Expression::Not(inner) => Ok(Value::Boolean(!evaluate(inner, variables)?.is_truthy())),
        Expression::Ternary(condition, yes, no) => {
            evaluate(if evaluate(condition, variables)?.is_truthy() { yes } else { no }, variables)
        }
        Expression::Binary(operator, left, right) => binary(operator, left, right, variables),
        Expression::Call(None, name, arguments) if arguments.is_empty() => {
            if let Some((_, value)) = variables.iter().find(|(variable, _)| variable == name) {
                return Ok(value.clone());
            }
            match name.as_str() {
                "blah" => Ok(Value::Integer(BLAH.fetch_add(1, Ordering::Relaxed) + 1)),
                _ => Err(format!("unknown name {name}")),
            }
        }
        Expression::Call(Some(receiver), name, arguments) => method(receiver, name, arguments, variables),
        Expression::Constant(_)
        | Expression::Regex(..)
        | Expression::Range(..)
        | Expression::Block(..)
        | Expression::Call(..) => Err(format!("cannot evaluate {expression:?}")),
    }
}

fn binary(
    operator: &str,
    left: &Expression,
    right: &Expression,
    variables: &[(String, Value)],
) -> Result<Value, String> {
    if matches!(operator, "=~" | "!~") {
        let found = matches(pattern(right)?, &evaluate(left, variables)?);
        return Ok(Value::Boolean(found == (operator == "=~")));
    }
    let first = evaluate(left, variables)?;
    match operator {
        "&&" | "and" => return if first.is_truthy() { evaluate(right, variables) } else { Ok(first) },
        "||" | "or" => return if first.is_truthy() { Ok(first) } else { evaluate(right, variables) },
        _ => {}
    }
    let second = evaluate(right, variables)?;
    match operator {
        "==" | "===" => return Ok(Value::Boolean(first.equals(&second))),
        "!=" => return Ok(Value::Boolean(!first.equals(&second))),
        _ => {}
    }
    match (&first, &second) {
        (Value::Integer(left), Value::Integer(right)) => integers(operator, *left, *right),
        (Value::Text(left), Value::Text(right)) if operator == "+" => Ok(Value::Text(format!("{left}{right}"))),
        (Value::Text(left), Value::Text(right)) => compared(operator, left.cmp(right)),
        _ => match (number(&first), number(&second)) {
            (Some(left), Some(right)) => compared(operator, left.partial_cmp(&right).ok_or("comparison failed")?)
                .or_else(|_| floats(operator, left, right)),
            _ => Err(format!("no {operator} for {} and {}", first.inspect(), second.inspect())),
        },
    }
}

fn compared(operator: &str, ordering: std::cmp::Ordering) -> Result<Value, String> {
    Ok(Value::Boolean(match operator {
        "<" => ordering.is_lt(),
        "<=" => ordering.is_le(),
        ">" => ordering.is_gt(),
        ">=" => ordering.is_ge(),
        _ => return Err(format!("unknown operator {operator}")),
    }))
}

fn integers(operator: &str, left: i64, right: i64) -> Result<Value, String> {
    let divided = || if right == 0 { Err("divided by 0".to_owned()) } else { Ok(right) };
    Ok(Value::Integer(match operator {
        "+" => left + right,
        "-" => left - right,
        "*" => left * right,
        "/" => left.div_euclid(divided()?),
        "%" => left.rem_euclid(divided()?),
        "&" => left & right,
        "|" => left | right,
        other => return compared(other, left.cmp(&right)),
    }))
}

fn floats(operator: &str, left: f64, right: f64) -> Result<Value, String> {
    Ok(Value::Float(match operator {
        "+" => left + right,
        "-" => left - right,
        "*" => left * right,
        "/" => left / right,
        "%" => left.rem_euclid(right),
        _ => return Err(format!("unknown operator {operator}")),
    }))
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Integer(integer) => Some(*integer as f64),
        Value::Float(float) => Some(*float),
        _ => None,
    }
}

fn pattern(expression: &Expression) -> Result<&'static Pattern, String> {
    match expression {
        Expression::Regex(source, flags) => leak_pattern(source, flags),
        other => Err(format!("no regular expression: {other:?}")),
    }
}

fn matches(pattern: &Pattern, value: &Value) -> bool {
    matches!(value, Value::Text(text) | Value::Symbol(text) if pattern.is_found_in(text))
}

fn method(
    receiver: &Expression,
    name: &str,
    arguments: &[Expression],
    variables: &[(String, Value)],
) -> Result<Value, String> {
    if let Expression::Regex(..) = receiver {
        let argument = arguments.first().ok_or("a pattern needs an argument")?;
        return Ok(Value::Boolean(matches(pattern(receiver)?, &evaluate(argument, variables)?)));
    }
    let value = evaluate(receiver, variables)?;
    match (name, arguments) {
        ("is_a?" | "kind_of?" | "instance_of?", [Expression::Constant(wanted)]) => {
            Ok(Value::Boolean(class(wanted).includes(&value)))
        }
        ("match?" | "match" | "=~", [regex @ Expression::Regex(..)]) => {
            Ok(Value::Boolean(matches(pattern(regex)?, &value)))
        }
        _ => {
            let arguments =
                arguments.iter().map(|argument| evaluate(argument, variables)).collect::<Result<Vec<_>, _>>()?;
            builtin(&value, name, &arguments)
        }
    }
}

fn builtin(value: &Value, name: &str, arguments: &[Value]) -> Result<Value, String> {
    let size = || match value {
        Value::Text(text) | Value::Symbol(text) => Some(text.chars().count()),
        Value::List(items) => Some(items.len()),
        Value::Map(pairs) => Some(pairs.len()),
        _ => None,
    };
    let text = match value {
        Value::Text(text) | Value::Symbol(text) => Some(text.as_str()),
        _ => None,
    };
    let answer = match (name, arguments) {
        ("nil?", []) => Some(Value::Boolean(value.is_nil())),
        ("to_s", []) => Some(Value::Text(value.to_text())),
        ("to_sym", []) => text.map(|text| Value::Symbol(text.to_owned())),
        ("to_i", []) => Some(Value::Integer(value.to_text().parse().unwrap_or(0))),
        ("class", []) => Some(Value::text(Class::of(value).name())),
        ("respond_to?", [method]) => Some(Value::Boolean(responds_to(value, &method.to_text()))),
        ("size" | "length" | "count", []) => size().map(|size| Value::Integer(size as i64)),
        ("empty?", []) => size().map(|size| Value::Boolean(size == 0)),
        ("even?", []) => number(value).map(|number| Value::Boolean(number % 2.0 == 0.0)),
        ("odd?", []) => number(value).map(|number| Value::Boolean(number % 2.0 != 0.0)),
        ("zero?", []) => number(value).map(|number| Value::Boolean(number == 0.0)),
        ("positive?", []) => number(value).map(|number| Value::Boolean(number > 0.0)),
        ("negative?", []) => number(value).map(|number| Value::Boolean(number < 0.0)),
        ("between?", [least, most]) => match (number(value), number(least), number(most)) {
            (Some(number), Some(least), Some(most)) => Some(Value::Boolean((least..=most).contains(&number))),
            _ => None,
        },
        ("upcase", []) => text.map(|text| Value::Text(text.to_uppercase())),
        ("downcase", []) => text.map(|text| Value::Text(text.to_lowercase())),
        ("start_with?", [prefix]) => text.map(|text| Value::Boolean(text.starts_with(&prefix.to_text()))),
        ("end_with?", [suffix]) => text.map(|text| Value::Boolean(text.ends_with(&suffix.to_text()))),
        ("include?" | "key?" | "member?", [wanted]) => match value {
            Value::Text(text) => Some(Value::Boolean(text.contains(&wanted.to_text()))),
            Value::List(items) => Some(Value::Boolean(items.iter().any(|item| item.equals(wanted)))),
            Value::Map(pairs) => Some(Value::Boolean(pairs.iter().any(|(key, _)| key.equals(wanted)))),
            _ => None,
        },
        ("[]", [Value::Integer(index)]) => match value {
            Value::List(items) => {
                usize::try_from(*index).ok().map(|index| items.get(index).cloned().unwrap_or(Value::Nil))
            }
            _ => None,
        },
        ("[]", [wanted]) => match value {
            Value::Map(pairs) => {
                Some(pairs.iter().find(|(key, _)| key.equals(wanted)).map_or(Value::Nil, |(_, entry)| entry.clone()))
            }
            _ => None,
        },
        _ => None,
    };
    answer.ok_or_else(|| format!("no method {name} for {}", value.inspect()))
}
