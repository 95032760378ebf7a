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
pub(crate) const DIFFERENT: &[Different] = &[];

/// The rows of a case; they stand together.
pub(crate) fn reasons(case: &str) -> &'static [Different] {
    let first = DIFFERENT.iter().position(|row| row.case == case).unwrap_or(DIFFERENT.len());
    let rest = DIFFERENT.get(first..).unwrap_or_default();
    let count = rest.iter().take_while(|row| row.case == case).count();
    rest.get(..count).unwrap_or_default()
}

pub(crate) fn is_different(rows: &[Different], run: u64, key: &str) -> bool {
    rows.iter().any(|row| row.run == run && row.key == key && !row.why.is_empty())
}
