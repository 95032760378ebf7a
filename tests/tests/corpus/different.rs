//! Where wrun deliberately differs from Chef. Nothing else may differ; docs/compatibility.md says the same for people.

/// One deliberate difference.
#[derive(Debug)]
pub(crate) struct Different {
    pub(crate) case: &'static str,
    pub(crate) run: u64,
    /// The key of the result that differs: `error.message`.
    pub(crate) key: &'static str,
    /// Why; the sentence of docs/compatibility.md.
    pub(crate) why: &'static str,
}

/// All of them, by case.
pub(crate) const DIFFERENT: &[Different] = &[
    Different { case: "attr-syntax-error", run: 1, key: "error.message", why: SYNTAX },
    Different { case: "dsl-syntax-error", run: 1, key: "error.message", why: SYNTAX },
];

/// Ruby's parser is another one since 3.4.
const SYNTAX: &str = "Ruby 4.0's parser says more about a syntax error than Ruby 3.1's, and in other words";

/// The rows of a case; they stand together.
pub(crate) fn reasons(case: &str) -> &'static [Different] {
    let first = DIFFERENT.iter().position(|row| row.case == case).unwrap_or(DIFFERENT.len());
    let rest = DIFFERENT.get(first..).unwrap_or_default();
    let count = rest.iter().take_while(|row| row.case == case).count();
    rest.get(..count).unwrap_or_default()
}

/// Rows that docs/compatibility.md does not have.
pub(crate) fn undocumented(text: &str) -> Vec<String> {
    let line = |row: &Different| format!("| {} | {} | {} |", row.case, row.key, row.why);
    DIFFERENT.iter().map(line).filter(|line| !text.contains(line.as_str())).collect()
}

pub(crate) fn is_different(rows: &[Different], run: u64, key: &str) -> bool {
    rows.iter().any(|row| row.run == run && row.key == key && !row.why.is_empty())
}
