//! `cargo xtask fuzz`: searches with libFuzzer for inputs that break a promise. It works with the stable compiler.
//!
//! Only the project's own crates are instrumented, since the coverage of dependencies would only add noise. So cargo calls
//! this program as a wrapper of the compiler (`RUSTC_WRAPPER`), and it adds the flags for these crates.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context as _, Result, ensure};

use crate::{checkout, guests, say};

/// The targets, as in `tests/fuzz/src/targets.rs`.
const TARGETS: [&str; 5] = ["archive", "artifact", "conversation", "grants", "state"];

/// The environment variable for the compiler's wrapper. It contains the folder of the instrumented packages.
const INSTRUMENTED: &str = "WRUN_FUZZ_INSTRUMENTED";

/// The compiler flags for coverage, as in cargo-fuzz, without those for sanitizers.
const COVERAGE: [&str; 7] = [
    "--cfg=fuzzing",
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "-Ccodegen-units=1",
];

/// The target platform. It is given explicitly, so that macros and build scripts are compiled without the flags.
const PLATFORM: &str = "x86_64-unknown-linux-gnu";

/// Largest time for one input, in seconds. A slower input counts as a finding.
const LONGEST: u32 = 60;

/// Largest memory for one input, in MiB.
const MEMORY: u32 = 2048;

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// What to fuzz: archive, artifact, conversation, grants, state. All in turn if none is named
    #[arg(value_parser = TARGETS)]
    targets: Vec<String>,
    /// How long each target is fuzzed
    #[arg(long, default_value_t = 60)]
    seconds: u32,
}

/// Builds the fuzzing program and runs it on each target. New inputs are stored in `target/fuzz/corpus`. Findings are stored
/// in `tests/fuzz/corpus`, where the tests run them again.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let fuzzer = build()?;
    // The targets need the path of the program and a guest for the conversation.
    let program = checkout::build_program()?;
    guests::build_fixtures(&guests::find_compiler()?)?;
    let all: Vec<String> = TARGETS.iter().map(|target| (*target).to_owned()).collect();
    let mut finds = Vec::new();
    for target in if arguments.targets.is_empty() { &all } else { &arguments.targets } {
        say::line(&format!("fuzzing {target} for {} s", arguments.seconds));
        if !fuzz(&fuzzer, &program, target, arguments.seconds)? {
            finds.push(target.as_str());
        }
    }
    ensure!(finds.is_empty(), "inputs that break a promise were found for {}: see tests/fuzz/corpus", finds.join(", "));
    Ok(())
}

fn fuzz(fuzzer: &Path, program: &Path, target: &str, seconds: u32) -> Result<bool> {
    let kept = checkout::root().join("tests/fuzz/corpus").join(target);
    let fresh = checkout::root().join("target/fuzz/corpus").join(target);
    std::fs::create_dir_all(&fresh).with_context(|| format!("cannot make {}", fresh.display()))?;
    let mut command = Command::new(fuzzer);
    command.env("WRUN_FUZZ_TARGET", target).env("WRUN_PROGRAM", program).env("WRUN_FIXTURES", checkout::fixtures());
    command.current_dir(checkout::root());
    command.arg(&fresh).arg(&kept).arg(format!("-artifact_prefix={}/", kept.display()));
    command.args([
        format!("-max_total_time={seconds}"),
        format!("-timeout={LONGEST}"),
        format!("-rss_limit_mb={MEMORY}"),
        "-print_final_stats=1".to_owned(),
        "-verbosity=1".to_owned(),
    ]);
    let status = command.status().with_context(|| format!("cannot start {}", fuzzer.display()))?;
    Ok(status.success())
}

/// Builds the program with coverage, and returns its path.
fn build() -> Result<PathBuf> {
    let target = checkout::root().join("target/fuzz");
    let mut command = checkout::cargo();
    command.args(["build", "--release", "--target", PLATFORM, "--target-dir"]).arg(&target);
    command.arg("--manifest-path").arg(checkout::root().join("tests/fuzz/Cargo.toml"));
    let own = std::env::current_exe().context("this program cannot be found")?;
    command.env("RUSTC_WRAPPER", own).env(INSTRUMENTED, checkout::root()).env_remove("RUSTC_WORKSPACE_WRAPPER");
    checkout::run(&mut command)?;
    Ok(target.join(PLATFORM).join("release/fuzz"))
}

/// Acts as the compiler's wrapper if cargo has started this program as one: `WRAPPER RUSTC ARGUMENT..`.
pub(crate) fn as_compiler() -> Option<ExitCode> {
    let folder = std::env::var_os(INSTRUMENTED)?;
    let mut words = std::env::args_os().skip(1);
    let compiler = words.next()?;
    let words: Vec<OsString> = words.collect();
    let is_ours =
        std::env::var_os("CARGO_MANIFEST_DIR").is_some_and(|package| Path::new(&package).starts_with(&folder));
    let is_for_the_platform = words.iter().any(|word| word == PLATFORM);
    let mut command = Command::new(compiler);
    command.args(words);
    if is_ours && is_for_the_platform {
        command.args(COVERAGE);
    }
    // The compiler has already printed its errors.
    let succeeded = command.status().is_ok_and(|status| status.success());
    Some(if succeeded { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
