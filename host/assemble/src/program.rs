//! The program that carries out runs, as far as a run depends on it.

use contract::Meters;
use std::path::PathBuf;

/// What a run needs to know of the program that it runs in.
#[derive(Debug, Clone)]
pub struct Program {
    /// The program that is started to compile components and to confine commands: `/proc/self/exe` also finds a program
    /// whose file was replaced meanwhile. It answers to `sandbox::COMPILE_WORD` and to `providers`' word for launching.
    pub path: PathBuf,
    /// The command line, for those who wait for this run to end.
    pub command_line: String,
    /// The environment variables, of which policies read those that they are granted.
    pub environment: Vec<(String, String)>,
    /// How the program's own use of memory and time is measured.
    pub meters: Meters,
}
