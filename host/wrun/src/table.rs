//! Rows whose columns stand below each other.

use crate::printer::{Printer, Tone};
use crate::terminal;
use text::escape_line;
use textwrap::core::display_width;

/// The widest cell that the next column still stands behind; a longer one moves what follows it in its own row only. Of
/// these the one is taken that leaves the fewest rows too long for the terminal.
const WIDEST: [usize; 4] = [40, 30, 20, 10];

/// What stands between two columns.
const GAP: &str = "  ";

/// A table without lines. Its cells may be a guest's or a stranger's text: they are escaped here.
#[derive(Debug, Default)]
pub(crate) struct Table {
    rows: Vec<(Tone, Vec<String>)>,
    /// Columns whose cells end below each other.
    numbers: &'static [usize],
}

impl Table {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// The same with columns of numbers, counted from 0.
    pub(crate) fn with_numbers(self, numbers: &'static [usize]) -> Self {
        Self { numbers, ..self }
    }

    /// Adds a row; it may have fewer cells than others.
    pub(crate) fn row<Cell: AsRef<str>>(&mut self, tone: Tone, cells: impl IntoIterator<Item = Cell>) {
        self.rows.push((tone, cells.into_iter().map(|cell| escape_line(cell.as_ref())).collect()));
    }

    /// The rows as text, each of one line, for a terminal of so many columns. `None`: the output is not a terminal.
    pub(crate) fn lines(&self, room: Option<usize>) -> Vec<(Tone, String)> {
        let room = room.unwrap_or(usize::MAX);
        let too_long =
            |lines: &Vec<(Tone, String)>| lines.iter().filter(|(_, line)| display_width(line) > room).count();
        WIDEST.iter().map(|widest| self.lines_of(*widest)).min_by_key(too_long).unwrap_or_default()
    }

    /// Whether each of the rows fits a terminal of so many columns. Rows of a warning are sentences and do not count.
    pub(crate) fn fits(&self, room: Option<usize>) -> bool {
        let room = room.unwrap_or(usize::MAX);
        self.lines(Some(room)).iter().all(|(tone, line)| *tone == Tone::Warning || display_width(line) <= room)
    }

    /// Prints them; on a terminal a row that is too long is wrapped.
    pub(crate) fn print(&self, printer: Printer) {
        for (tone, line) in self.lines(terminal::columns()) {
            printer.prose(tone, &line);
        }
    }

    fn lines_of(&self, widest: usize) -> Vec<(Tone, String)> {
        let columns = self.rows.iter().map(|(_, cells)| cells.len()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns).map(|column| self.width(column, widest)).collect();
        self.rows.iter().map(|(tone, cells)| (*tone, self.line(cells, &widths))).collect()
    }

    fn width(&self, column: usize, widest: usize) -> usize {
        let cells = self.rows.iter().filter_map(|(_, cells)| cells.get(column));
        cells.map(|cell| display_width(cell)).filter(|width| *width <= widest).max().unwrap_or(0)
    }

    fn line(&self, cells: &[String], widths: &[usize]) -> String {
        let cells = cells.iter().zip(widths).enumerate().map(|(column, (cell, width))| {
            let blanks = " ".repeat(width.saturating_sub(display_width(cell)));
            if self.numbers.contains(&column) { format!("{blanks}{cell}") } else { format!("{cell}{blanks}") }
        });
        cells.collect::<Vec<_>>().join(GAP).trim_end().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_stand_below_each_other_whatever_is_in_them() {
        let mut table = Table::new().with_numbers(&[1]);
        let long = "x".repeat(41);
        table.row(Tone::Plain, ["name", "9", "end"]);
        table.row(Tone::Plain, ["\u{4e2d}\u{4e2d}\u{4e2d}\u{1b}", "10", ""]);
        table.row(Tone::Plain, [long.as_str(), "1"]);
        table.row(Tone::Plain, [&" ".repeat(40), "", "blanks are counted, not shown"]);
        let lines: Vec<_> = table.lines(None).into_iter().map(|(_, line)| line).collect();
        let expected = [
            format!("name{}   9  end", " ".repeat(30)),
            format!("\u{4e2d}\u{4e2d}\u{4e2d}\\u{{1b}}{}  10", " ".repeat(22)),
            format!("{long}   1"),
            format!("{}\\u{{20}}{{16}}      blanks are counted, not shown", " ".repeat(24)),
        ];
        assert_eq!(lines, expected);
        // A narrow terminal gets narrow columns, if that makes rows fit.
        let mut paths = Table::new();
        paths.row(Tone::Plain, ["a", "/srv/a/path/of/25/letters", "x"]);
        paths.row(Tone::Plain, ["b", "-", "default"]);
        let of = |room| paths.lines(Some(room)).into_iter().map(|(_, line)| line).collect::<Vec<_>>();
        assert_eq!(of(40)[1], format!("b  -{}  default", " ".repeat(24)));
        assert_eq!(of(33), ["a  /srv/a/path/of/25/letters  x", "b  -  default"]);
    }
}
