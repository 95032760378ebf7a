//! A crontab as lines: one named job, and the lines before and after it.

use regex::Regex;
use std::sync::LazyLock;

/// A line that sets a variable, `NAME=VALUE`.
static VARIABLE: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"^([^\s=#]+)=(.*)$").ok());

/// A job's line: five fields or a word, and a command.
static JOB: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^(@[a-z]+|[-0-9*,/a-zA-Z]+(\s[-0-9*,/a-zA-Z]+){4})\s\S").ok());

fn is(pattern: &LazyLock<Option<Regex>>, line: &str) -> bool {
    pattern.as_ref().is_some_and(|pattern| pattern.is_match(line))
}

/// A job with its variables, as lines without their ends.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Entry {
    /// The variables' names and values, as written.
    pub(super) variables: Vec<(String, String)>,
    /// The job's line. `None`: only the comment line exists; the job is gone or commented out.
    pub(super) job: Option<String>,
}

impl Entry {
    /// Tells whether two entries mean the same: the order of variables and quotes around values do not matter.
    pub(super) fn same(&self, other: &Self) -> bool {
        let sorted = |entry: &Self| {
            let bare = |(name, value): &(String, String)| (name.clone(), value.trim_matches('"').to_owned());
            let mut all: Vec<_> = entry.variables.iter().map(bare).collect();
            all.sort_unstable();
            all
        };
        self.job.is_some() && self.job == other.job && sorted(self) == sorted(other)
    }
}

/// A crontab, split at one job.
pub(super) struct Table<'a> {
    name: &'a str,
    before: Vec<&'a str>,
    entry: Option<Entry>,
    after: Vec<&'a str>,
}

impl<'a> Table<'a> {
    /// Finds the job by the comment line above it. If several jobs have the same comment, the last one counts and the others
    /// are dropped.
    pub(super) fn of(text: &'a str, name: &'a str) -> Self {
        let marker = format!("# Chef Name: {name}");
        let mut table = Self { name, before: vec![], entry: None, after: vec![] };
        let mut inside = false;
        for line in text.lines() {
            if line == marker {
                table.before.append(&mut table.after);
                table.entry = Some(Entry::default());
                inside = true;
                continue;
            }
            let Some(entry) = table.entry.as_mut().filter(|_| inside) else {
                if table.entry.is_some() {
                    table.after.push(line);
                } else {
                    table.before.push(line);
                }
                continue;
            };
            if is(&VARIABLE, line)
                && let Some((variable, value)) = line.split_once('=')
            {
                entry.variables.push((variable.into(), value.into()));
                continue;
            }
            inside = false;
            if is(&JOB, line) {
                entry.job = Some(line.into());
            } else {
                table.after.push(line);
            }
        }
        table
    }

    /// Returns the present job.
    pub(super) fn entry(&self) -> Option<&Entry> {
        self.entry.as_ref()
    }

    /// Returns the crontab without the job.
    pub(super) fn without(&self) -> String {
        self.write(None)
    }

    /// Returns the crontab with the job at its old place, or at the end.
    pub(super) fn with(&self, entry: &Entry) -> String {
        self.write(Some(entry))
    }

    fn write(&self, entry: Option<&Entry>) -> String {
        let mut text = String::new();
        let mut put = |line: &str| {
            text.push_str(line);
            text.push('\n');
        };
        self.before.iter().for_each(|line| put(line));
        if let Some(entry) = entry {
            put(&format!("# Chef Name: {}", self.name));
            entry.variables.iter().for_each(|(name, value)| put(&format!("{name}={value}")));
            entry.job.iter().for_each(|line| put(line));
        }
        self.after.iter().for_each(|line| put(line));
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(variables: &[(&str, &str)], line: &str) -> Entry {
        let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Entry { variables, job: Some(line.into()) }
    }

    const TEXT: &str = "# mine\nMAILTO=x\n5 * * * * own\n# Chef Name: a\nPATH=\"/bin\"\nB=c\n1 2 3 4 mon-fri one two\n\
                        # Chef Name: b\n@daily other\n";

    #[test]
    fn a_job_is_found_with_its_variables() {
        let entry = |name: &str| Table::of(TEXT, name).entry().cloned();
        assert_eq!(entry("a"), Some(job(&[("PATH", "\"/bin\""), ("B", "c")], "1 2 3 4 mon-fri one two")));
        assert_eq!(entry("b"), Some(job(&[], "@daily other")));
        assert_eq!(entry("c"), None);
        let wanted = job(&[("B", "c"), ("PATH", "/bin")], "1 2 3 4 mon-fri one two");
        assert!(entry("a").is_some_and(|found| found.same(&wanted)));
        assert!(!Entry::default().same(&Entry::default()), "a job that is gone is never as wanted");
    }

    #[test]
    fn nothing_else_changes() {
        let new = job(&[], "@hourly new");
        assert_eq!(
            Table::of(TEXT, "a").with(&new),
            "# mine\nMAILTO=x\n5 * * * * own\n# Chef Name: a\n@hourly new\n# Chef Name: b\n@daily other\n"
        );
        assert_eq!(Table::of(TEXT, "c").with(&new), format!("{TEXT}# Chef Name: c\n@hourly new\n"));
        assert_eq!(Table::of(TEXT, "a").without(), "# mine\nMAILTO=x\n5 * * * * own\n# Chef Name: b\n@daily other\n");
        assert_eq!(Table::of("# Chef Name: a", "a").with(&new), "# Chef Name: a\n@hourly new\n");
        assert_eq!(
            Table::of("# Chef Name: a\n#* * * * * off\n", "a").with(&new),
            "# Chef Name: a\n@hourly new\n#* * * * * off\n"
        );
        assert_eq!(Table::of("", "a").with(&new), "# Chef Name: a\n@hourly new\n");
    }

    #[test]
    fn a_job_that_stands_twice_stands_once_afterwards() {
        let twice = "# Chef Name: a\n@daily x\n# y\n# Chef Name: a\n@weekly x\n* * * * * z\n";
        assert_eq!(Table::of(twice, "a").without(), "# y\n* * * * * z\n");
    }
}
