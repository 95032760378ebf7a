//! Where wrun deliberately differs from Chef. Nothing else may differ; docs/compatibility.md says the same for people.

use serde_json::Value;

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
    Different { case: "chef-sleep-breakpoint", run: 1, key: "resources", why: NAMELESS },
    Different { case: "chef-sleep-breakpoint", run: 2, key: "resources", why: NAMELESS },
    Different { case: "dsl-syntax-error", run: 1, key: "error.message", why: SYNTAX },
    Different { case: "dsl-why-run-mode", run: 1, key: "tree", why: DRY },
    Different { case: "dsl-search", run: 1, key: "log", why: RANGE },
    Different { case: "dsl-search", run: 2, key: "log", why: RANGE },
    Different { case: "dsl-search", run: 1, key: "resources", why: RANGE },
    Different { case: "dsl-search", run: 2, key: "resources", why: RANGE },
    Different { case: "execute-basics", run: 1, key: "tree", why: GROUP },
    Different { case: "execute-basics", run: 2, key: "tree", why: GROUP },
    Different { case: "lazy-reevaluated", run: 1, key: "node", why: LAZY },
    Different { case: "lazy-reevaluated", run: 2, key: "node", why: LAZY },
    Different { case: "service-simple-unsupported", run: 1, key: "error.message", why: PROVIDER },
];

const SYNTAX: &str = "Ruby 4.0's parser says more about a syntax error than Ruby 3.1's, and in other words";
const NAMELESS: &str = "a `breakpoint` without a name is called after a line of Chef's own source";
const DRY: &str = "in a dry run Ruby code writes nothing either: what would be written is thrown away";
const RANGE: &str = "a range in a search (`port:[80 TO 81]`) finds all in it, as on a Chef server; Chef's local mode compares the lower bound the wrong way round";
const GROUP: &str = "a command of another user has that user's group, not root's, where no group is given";
const LAZY: &str = "a lazy attribute is saved with its value, not as the name of an object";
const PROVIDER: &str = "how a service is managed is the host's to find out: `provider` is not looked at";

/// A text that Chef's own run could have written in either of two ways.
#[derive(Debug)]
pub(crate) struct Race {
    pub(crate) case: &'static str,
    pub(crate) run: u64,
    /// Where the text stands: below `tree` of a result.
    pub(crate) pointer: &'static str,
    /// The other outcome, whole; the recorded one stands in the corpus.
    pub(crate) also: &'static str,
    /// Why; the sentence of docs/compatibility.md.
    pub(crate) why: &'static str,
}

/// All of them. Each outcome is held exactly; a bare shell that is given the same commands gives both.
pub(crate) const RACES: &[Race] = &[
    Race { case: "notify-action-list", run: 1, pointer: ORDER, also: "x \norder x \norder \n", why: PIPE },
    Race {
        case: "notify-action-list",
        run: 2,
        pointer: ORDER,
        also: "x \norder x \norder \norder x \norder x \norder \n",
        why: PIPE,
    },
];

const ORDER: &str = "/order/content";
const PIPE: &str = "the recipe's command lists a directory in one process and makes the file `order` in it in another";

/// The recorded result of a run, or the other outcome of its race where that is what was found.
pub(crate) fn either(case: &str, run: u64, mut expected: Value, tree: &Value) -> Value {
    for race in RACES.iter().filter(|race| race.case == case && race.run == run) {
        let other = tree.pointer(race.pointer).is_some_and(|found| found == race.also);
        if let (true, Some(text)) = (other, expected.pointer_mut(&format!("/tree{}", race.pointer))) {
            *text = race.also.into();
        }
    }
    expected
}

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
    let race = |race: &Race| format!("| {} | {} | {} |", race.case, race.pointer, race.why);
    let lines = DIFFERENT.iter().map(line).chain(RACES.iter().map(race));
    lines.filter(|line| !text.contains(line.as_str())).collect()
}

pub(crate) fn is_different(rows: &[Different], run: u64, key: &str) -> bool {
    rows.iter().any(|row| row.run == run && row.key == key && !row.why.is_empty())
}
