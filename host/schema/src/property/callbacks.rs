//! Named tests of a value: `callbacks` and procs in `is`.

use std::fmt;

use crate::value::Value;

/// A function that accepts or rejects a value, with the words that Chef puts into the message when it rejects.
#[derive(Clone, Copy)]
pub struct Callback {
    /// The validator's name, by which the Ruby library finds its own implementation (`coercions.rb`).
    pub id: &'static str,
    /// The end of the message about a rejected value, as in "Option mode's value 99999 not in valid numeric range!".
    pub message: &'static str,
    /// The test itself, which returns true for accepted values.
    pub test: &'static (dyn Fn(&Value) -> bool + Send + Sync),
}

impl fmt::Debug for Callback {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Callback").field(&self.id).finish()
    }
}

/// Permission bits between 0 and 07777: the check of Chef's `mode`, on the canonical octal text.
pub const MODE_IN_RANGE: Callback =
    Callback { id: "mode_in_range", message: "not in valid numeric range", test: &is_mode };

/// The minute of a crontab line: `*`, a number within the range, or lists, ranges and steps of such.
pub const CRON_MINUTE: Callback =
    Callback { id: "cron_minute", message: "should be a valid minute spec", test: &is_cron_minute };

/// The hour of a crontab line.
pub const CRON_HOUR: Callback =
    Callback { id: "cron_hour", message: "should be a valid hour spec", test: &is_cron_hour };

/// The day of the month of a crontab line.
pub const CRON_DAY: Callback = Callback { id: "cron_day", message: "should be a valid day spec", test: &is_cron_day };

/// The month of a crontab line: numbers from 1 to 12, or one English abbreviation.
pub const CRON_MONTH: Callback =
    Callback { id: "cron_month", message: "should be a valid month spec", test: &is_cron_month };

/// The weekday of a crontab line: numbers from 0 to 7, or one English name or abbreviation.
pub const CRON_WEEKDAY: Callback =
    Callback { id: "cron_weekday", message: "should be a valid weekday spec", test: &is_cron_weekday };

/// A cipher's name: letters, digits and dashes. Only the machine knows which ciphers exist.
pub const CIPHER_NAME: Callback = Callback {
    id: "cipher_name",
    message: "key_cipher must be a cipher known to openssl. Run `openssl list-cipher-algorithms` to see available options.",
    test: &is_cipher_name,
};

fn is_cron_month(value: &Value) -> bool {
    is_cron_number(value, 1, 12)
        || is_one_of(value, &["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"])
}

fn is_cron_weekday(value: &Value) -> bool {
    let names = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
    let long_names = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];
    is_cron_number(&Value::Text(value.to_text()), 0, 7) || is_one_of(value, &names) || is_one_of(value, &long_names)
}

fn is_cron_minute(value: &Value) -> bool {
    is_cron_number(value, 0, 59)
}

fn is_cron_hour(value: &Value) -> bool {
    is_cron_number(value, 0, 23)
}

fn is_cron_day(value: &Value) -> bool {
    is_cron_number(value, 1, 31)
}

fn is_cron_number(value: &Value, least: i64, most: i64) -> bool {
    let within = |number: i64| (least..=most).contains(&number);
    match value {
        Value::Integer(integer) => within(*integer),
        Value::Text(text) if text == "*" => true,
        Value::Text(text) => {
            let is_number =
                |part: &str| part.bytes().all(|byte| byte.is_ascii_digit()) && part.parse().is_ok_and(within);
            !text.is_empty() && text.split(['/', '-', ',']).all(|part| part == "*" || is_number(part))
        }
        _ => false,
    }
}

fn is_one_of(value: &Value, names: &[&str]) -> bool {
    names.contains(&value.to_text().to_lowercase().as_str())
}

fn is_mode(value: &Value) -> bool {
    match value {
        Value::Text(text) => {
            text.bytes().all(|byte| byte.is_ascii_digit())
                && u32::from_str_radix(text, 8).is_ok_and(|bits| bits <= 0o7777)
        }
        Value::Integer(bits) => (0..=0o7777).contains(bits),
        _ => false,
    }
}

fn is_cipher_name(value: &Value) -> bool {
    let name = value.to_text();
    !name.is_empty()
        && name.len() < 64
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cron_fields_take_what_cron_takes() {
        let check = |test: &dyn Fn(&Value) -> bool, value: Value, expected: bool| {
            assert_eq!(test(&value), expected, "{value:?}");
        };
        check(&is_cron_minute, Value::text("*"), true);
        check(&is_cron_minute, Value::text("*/5"), true);
        check(&is_cron_minute, Value::text("0-10,59"), true);
        check(&is_cron_minute, Value::Integer(60), false);
        check(&is_cron_minute, Value::text("5 root reboot"), false);
        check(&is_cron_minute, Value::text(""), false);
        check(&is_cron_day, Value::Integer(0), false);
        check(&is_cron_month, Value::text("Jan"), true);
        check(&is_cron_month, Value::text("jan-feb"), false);
        check(&is_cron_weekday, Value::Symbol("monday".into()), true);
        check(&is_cron_weekday, Value::text("8"), false);
    }

    #[test]
    fn modes_stay_below_07777() {
        let check = |value: Value, expected: bool| assert_eq!(is_mode(&value), expected, "{value:?}");
        check(Value::text("0644"), true);
        check(Value::text("07777"), true);
        check(Value::text("17777"), false);
        check(Value::text("-1"), false);
        check(Value::text("u+x"), false);
        check(Value::Integer(0o7777), true);
        check(Value::Integer(-1), false);
    }
}
