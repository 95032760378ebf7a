//! Writes to the run's log.
//!
//! `println!`, `eprintln!`, `print!`, `eprint!` and `dbg!` of this crate write to it too, in a crate that begins with
//! `#[macro_use] extern crate wrun_sdk;`. With this crate's feature `log`, all records of the crate `log` go there, too. Text
//! that other crates print with the standard library's own macros is lost.
//!
//! Each function has a macro of the same name that formats its arguments: `log::info!("port {port}")`.

use crate::bindings::wrun::output::log::{self as output, Level};
use std::cell::RefCell;

/// Maximum length of a line in bytes. A longer line is written in pieces.
const LONGEST: usize = 64 << 10;

/// Printed text without a line end yet, of standard output and standard error.
#[derive(Default)]
struct Unfinished {
    output: String,
    errors: String,
}

thread_local!(static UNFINISHED: RefCell<Unfinished> = RefCell::default());

/// Writes a line for debugging the cookbook.
pub fn debug(line: &str) {
    write(Level::Debug, line);
}

/// Writes a line of information.
pub fn info(line: &str) {
    write(Level::Info, line);
}

/// Writes a warning to the log.
pub fn warn(line: &str) {
    write(Level::Warn, line);
}

/// Writes an error message. It does not fail the run.
pub fn error(line: &str) {
    write(Level::Error, line);
}

/// Writes the line that says what ended the policy, and what a person could do about it. A panic is reported so.
pub(crate) fn fatal(line: &str, hint: Option<&str>) {
    write(Level::Fatal, line);
    if let Some(hint) = hint {
        output::note(Level::Fatal, hint.as_bytes());
    }
}

fn write(level: Level, line: &str) {
    flush();
    output::log(level, line.as_bytes());
}

/// Appends printed text, and writes the lines that it completes.
#[doc(hidden)]
pub fn print(is_error: bool, text: &str) {
    UNFINISHED.with_borrow_mut(|both| {
        let (unfinished, level) = both.of(is_error);
        for piece in text.split_inclusive('\n') {
            unfinished.push_str(piece);
            if unfinished.ends_with('\n') || unfinished.len() > LONGEST {
                output::note(level, unfinished.trim_end_matches('\n').as_bytes());
                unfinished.clear();
            }
        }
    });
}

/// Writes unfinished lines. It runs before other log lines and before each turn of the host.
pub(crate) fn flush() {
    UNFINISHED.with_borrow_mut(|both| {
        for is_error in [false, true] {
            let (unfinished, level) = both.of(is_error);
            if !unfinished.is_empty() {
                output::note(level, unfinished.as_bytes());
                unfinished.clear();
            }
        }
    });
}

impl Unfinished {
    fn of(&mut self, is_error: bool) -> (&mut String, Level) {
        if is_error { (&mut self.errors, Level::Warn) } else { (&mut self.output, Level::Info) }
    }
}

/// Installs a logger that writes the records of the crate `log` to the run's log.
#[cfg(feature = "log")]
pub(crate) fn take_the_crates_records() {
    struct Records;

    impl ::log::Log for Records {
        fn enabled(&self, _: &::log::Metadata<'_>) -> bool {
            true
        }

        fn log(&self, record: &::log::Record<'_>) {
            let level = match record.level() {
                ::log::Level::Error => Level::Error,
                ::log::Level::Warn => Level::Warn,
                ::log::Level::Info => Level::Info,
                ::log::Level::Debug => Level::Debug,
                ::log::Level::Trace => Level::Trace,
            };
            write(level, &format!("{}: {}", record.target(), record.args()));
        }

        fn flush(&self) {}
    }

    // A policy that has set a logger of its own keeps it.
    if ::log::set_logger(&Records).is_ok() {
        ::log::set_max_level(::log::LevelFilter::Trace);
    }
}

macro_rules! formatting {
    (($dollar:tt) $($function:ident $exported:ident),+) => { $(
        #[doc(hidden)]
        #[macro_export]
        macro_rules! $exported {
            ($dollar($dollar text:tt)+) => { $dollar crate::log::$function(&::std::format!($dollar($dollar text)+)) };
        }
        pub use $exported as $function;
    )+ };
}
formatting!(($) debug __log_debug, info __log_info, warn __log_warn, error __log_error);
