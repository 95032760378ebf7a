//! Where wrun deliberately differs from chef-cli. docs/compatibility.md says the same for people.

/// One deliberate difference.
#[derive(Debug)]
pub(crate) struct Different {
    pub(crate) case: &'static str,
    /// The number of the command, from 0.
    pub(crate) command: usize,
    /// What differs: a word of a message, a file, `exit`, `written`.
    pub(crate) what: &'static str,
    /// Why; the sentence of docs/compatibility.md.
    pub(crate) why: &'static str,
}

/// All of them, by case.
pub(crate) const DIFFERENT: &[Different] =
    &[Different { case: "error-two-cookbook-sources", command: 0, what: "ROOT/c/web", why: TWO_SOURCES }];

const TWO_SOURCES: &str = "a cookbook with two sources is refused before either is looked at";

/// Whether a difference is deliberate.
pub(super) fn is_different(case: &str, command: usize, what: &str) -> bool {
    DIFFERENT.iter().any(|known| (known.case, known.command, known.what) == (case, command, what))
}

/// The lines of docs/compatibility.md that are missing there.
pub(crate) fn undocumented(text: &str) -> Vec<String> {
    let line = |row: &Different| format!("| {} | {} | {} |", row.case, row.what, row.why);
    DIFFERENT.iter().map(line).filter(|line| !text.contains(line.as_str())).collect()
}
