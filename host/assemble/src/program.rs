//! The properties of the running program that a run depends on.

use contract::Meters;
use std::path::PathBuf;

/// The properties of the running program that a run depends on.
#[derive(Debug, Clone)]
pub struct Program {
    /// The program that wrun starts to compile components and to confine commands. `/proc/self/exe` also finds a program
    /// whose file was replaced meanwhile. With `sandbox::COMPILE_WORD` as its first argument it compiles a component; with
    /// `launch-confined` it confines a command.
    pub path: PathBuf,
    /// The command line. It is shown to people whose command waits for this run.
    pub command_line: String,
    /// The environment variables. Policies can read only those that they are granted.
    pub environment: Vec<(String, String)>,
    /// How the program's own use of memory and time is measured.
    pub meters: Meters,
}
