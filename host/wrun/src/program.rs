//! Describes this program for the runs that it carries out.

use assemble::Program;
use contract::Meters;

/// Returns the command line without the values of assignments, which may be secret: `wrun node attribute set a.b=..`.
pub(crate) fn command_without_values() -> String {
    let word = |word: std::ffi::OsString| match word.to_string_lossy().split_once('=') {
        Some((name, _)) => format!("{name}=.."),
        None => word.to_string_lossy().into_owned(),
    };
    std::env::args_os().map(word).collect::<Vec<_>>().join(" ")
}

/// Returns the words that were typed behind the name of a command, as a shell reads them. `None`: another command was typed, or a word is not
/// UTF-8.
pub(crate) fn typed_after(command: &str) -> Option<Vec<String>> {
    let words: Option<Vec<_>> = std::env::args_os().skip(1).map(|word| word.into_string().ok()).collect();
    let words = words?;
    let (first, rest) = words.split_first()?;
    (first == command).then(|| rest.iter().map(|word| text::shell_word(word)).collect())
}

/// Describes the running program: its file, command line, environment, and resource usage.
pub(crate) fn program() -> Program {
    let words = std::env::args_os().map(|word| word.to_string_lossy().into_owned());
    let variables = std::env::vars_os();
    Program {
        // This path works even if the program's file was replaced in the meantime.
        path: "/proc/self/exe".into(),
        command_line: words.collect::<Vec<_>>().join(" "),
        environment: variables
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect(),
        meters: Meters {
            resident: Some(sandbox::resident_memory),
            processor: Some(sandbox::processor_time),
            slack: Meters::SLACK,
        },
    }
}
