//! The table of file systems (`/etc/fstab`) as lines.

/// A line, its fields as written: white space in them is escaped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) device: String,
    pub(super) mount_point: String,
    pub(super) kind: String,
    pub(super) options: String,
    pub(super) dump: u32,
    pub(super) pass: u32,
}

impl Line {
    /// Parses a line, or returns `None` for comments and lines with missing fields.
    fn of(text: &str) -> Option<Self> {
        if text.starts_with('#') || text.starts_with(char::is_whitespace) {
            return None;
        }
        let mut words = text.split_ascii_whitespace();
        let mut word = || words.next().map(str::to_owned);
        let line = Self { device: word()?, mount_point: word()?, kind: word()?, options: word()?, dump: 0, pass: 0 };
        let number = |word: Option<String>| word.and_then(|word| word.parse().ok()).unwrap_or(0);
        let dump = number(word());
        Some(Self { dump, pass: number(word()), ..line })
    }

    /// Formats the line for the table.
    pub(super) fn text(&self) -> String {
        let Self { device, mount_point, kind, options, dump, pass } = self;
        format!("{device} {mount_point} {kind} {options} {dump} {pass}")
    }
}

/// Returns the effective line: the last one for which `is_meant` is true.
pub(super) fn find(text: &str, is_meant: impl Fn(&Line) -> bool) -> Option<Line> {
    text.lines().rev().filter_map(Line::of).find(is_meant)
}

/// Returns the table with a line in place of the last matching one, or at its end.
pub(super) fn with(text: &str, is_meant: impl Fn(&Line) -> bool, new: &Line) -> String {
    edit(text, is_meant, Some(new))
}

/// Returns the table without the last matching line.
pub(super) fn without(text: &str, is_meant: impl Fn(&Line) -> bool) -> String {
    edit(text, is_meant, None)
}

fn edit(text: &str, is_meant: impl Fn(&Line) -> bool, new: Option<&Line>) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let at = lines.iter().rposition(|line| Line::of(line).is_some_and(|line| is_meant(&line)));
    let new = new.map(Line::text);
    let mut all: Vec<&str> = Vec::with_capacity(lines.len() + 1);
    for (number, line) in lines.into_iter().enumerate() {
        match (&new, at == Some(number)) {
            (_, false) => all.push(line),
            (Some(new), true) => all.push(new),
            (None, true) => {}
        }
    }
    if let (Some(new), None) = (&new, at) {
        all.push(new);
    }
    all.iter().map(|line| format!("{line}\n")).collect()
}

/// Escapes white space as the table writes it.
pub(super) fn escape(text: &str) -> String {
    text.replace('\\', "\\134").replace(' ', "\\040").replace('\t', "\\011").replace('\n', "\\012")
}

/// Returns the text that [`escape`] was given.
pub(super) fn unescape(text: &str) -> String {
    text.replace("\\040", " ").replace("\\011", "\t").replace("\\012", "\n").replace("\\134", "\\")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# /etc/fstab\n/dev/sda1 / ext4 errors=remount-ro 0 1\nLABEL=a /srv ext4 defaults 0 2\n \
                        /dev/x /srv/y ext4 defaults\n/dev/sdb1 /srv xfs defaults\n";

    fn new() -> Line {
        let [device, mount_point, kind, options] = ["/dev/sdc1", "/srv", "ext4", "noatime"].map(str::to_owned);
        Line { device, mount_point, kind, options, dump: 0, pass: 2 }
    }

    #[test]
    fn the_last_line_counts() {
        let found = find(TEXT, |line| line.mount_point == "/srv").unwrap();
        assert_eq!((found.device.as_str(), found.dump, found.pass), ("/dev/sdb1", 0, 0));
        assert_eq!(find(TEXT, |line| line.mount_point == "/srv/y"), None, "an indented line is none");
    }

    #[test]
    fn one_line_changes() {
        let is_srv = |line: &Line| line.mount_point == "/srv";
        let changed = with(TEXT, is_srv, &new());
        assert_eq!(changed, TEXT.replace("/dev/sdb1 /srv xfs defaults\n", "/dev/sdc1 /srv ext4 noatime 0 2\n"));
        assert_eq!(find(&changed, is_srv), Some(new()));
        assert_eq!(without(TEXT, is_srv), TEXT.replace("/dev/sdb1 /srv xfs defaults\n", ""));
        assert_eq!(with("a b c d", |_| false, &new()), "a b c d\n/dev/sdc1 /srv ext4 noatime 0 2\n");
        assert_eq!(with("", |_| true, &new()), "/dev/sdc1 /srv ext4 noatime 0 2\n");
    }

    #[test]
    fn white_space_is_escaped() {
        assert_eq!(escape("//host/a b\\c\n"), "//host/a\\040b\\134c\\012");
        assert_eq!(unescape(&escape("a b\t\\040")), "a b\t\\040");
    }
}
