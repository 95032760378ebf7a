//! Checks the fields of `cron` and `cron_d` jobs: no field may start another job.

use contract::{ErrorKind, Raised};

/// Returns the `timeout` command for the job. (Chef's `cron_d` accepts the property and ignores it; its `cron` writes it as
/// here.)
pub(super) fn timeout(options: &[(String, String)]) -> Result<Option<String>, Raised> {
    let mut words = vec!["timeout".to_owned()];
    let mut duration = None;
    for (name, value) in options {
        let value = field("time_out", value.clone())?;
        match (name.as_str(), value.as_str()) {
            ("duration", _) => duration = Some(value),
            ("preserve-status" | "foreground", "true") => words.push(format!("--{name}")),
            ("kill-after" | "signal", _) => words.push(format!("--{name} {value}")),
            _ => {}
        }
    }
    let Some(duration) = duration else { return Ok(None) };
    words.push(duration);
    Ok(Some(words.join(" ")))
}

/// Returns the five fields of a time, in the order of a crontab: minute, hour, day, month, weekday.
pub(super) fn times(fields: [&String; 5]) -> Result<Vec<String>, Raised> {
    let names = ["minute", "hour", "day", "month", "weekday"];
    names.into_iter().zip(fields).map(|(name, value)| field(name, value.clone())).collect()
}

/// Checks a value that must stay on its line.
pub(super) fn line(property: &str, value: String) -> Result<String, Raised> {
    if value.contains(|c: char| c != '\t' && c.is_control()) {
        let message =
            format!("{property} holds a line end or another control character, which would begin another job");
        return Err(Raised::new(ErrorKind::InvalidValue, message));
    }
    Ok(value)
}

/// Checks a value that must be one word.
pub(super) fn field(property: &str, value: String) -> Result<String, Raised> {
    if value.is_empty() || value.contains(|c: char| c.is_control() || c.is_whitespace()) {
        let message = format!("{property} {value:?} is not a single word");
        return Err(Raised::new(ErrorKind::InvalidValue, message));
    }
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_field_can_hold_another_job() {
        assert!(line("command", "true\n* * * * * root evil".into()).is_err());
        assert!(line("command", "true\r".into()).is_err());
        assert!(field("user", "daemon root".into()).is_err());
        assert!(field("minute", "*\n".into()).is_err());
        assert_eq!(line("command", "a\tb".into()).unwrap(), "a\tb");
    }
}
