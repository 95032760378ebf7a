//! Formats tables with aligned columns.

use crate::printer::{Printer, Tone};
use crate::terminal;
use text::escape_line;
use textwrap::core::display_width;

/// The candidates for the maximum width of a column. A wider cell only moves the rest of its own row. The candidate with the
/// fewest rows that are too long for the terminal is used.
const WIDEST: [usize; 4] = [40, 30, 20, 10];

/// The text between two columns.
const GAP: &str = "  ";

/// A table without borders. Its cells may contain untrusted text, so they are escaped here.
#[derive(Debug, Default)]
pub(crate) struct Table {
    rows: Vec<(Tone, Vec<String>)>,
    /// Columns that are aligned right.
    numbers: &'static [usize],
    /// Whether all cells of a column begin below each other, also where the lines become too long for the terminal.
    is_straight: bool,
}

impl Table {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Sets the numeric columns, counted from 0. They are aligned right.
    pub(crate) fn with_numbers(self, numbers: &'static [usize]) -> Self {
        Self { numbers, ..self }
    }

    /// Aligns the columns in every row, also if the rows are too long for the terminal. The last cell of a row with fewer cells
    /// than others is a sentence, and does not widen its column.
    pub(crate) fn straight(self) -> Self {
        Self { is_straight: true, ..self }
    }

    /// Adds a row. It may have fewer cells than other rows.
    pub(crate) fn row<Cell: AsRef<str>>(&mut self, tone: Tone, cells: impl IntoIterator<Item = Cell>) {
        self.rows.push((tone, cells.into_iter().map(|cell| escape_line(cell.as_ref())).collect()));
    }

    /// Returns each row as one line of text. `room`: the width of the terminal in columns. `None`: the output is not a
    /// terminal.
    pub(crate) fn lines(&self, room: Option<usize>) -> Vec<(Tone, String)> {
        if self.is_straight {
            return self.lines_of(usize::MAX);
        }
        let room = room.unwrap_or(usize::MAX);
        let too_long =
            |lines: &Vec<(Tone, String)>| lines.iter().filter(|(_, line)| display_width(line) > room).count();
        WIDEST.iter().map(|widest| self.lines_of(*widest)).min_by_key(too_long).unwrap_or_default()
    }

    /// Returns whether all rows fit a terminal with `room` columns. Rows with a warning are sentences and do not count.
    pub(crate) fn fits(&self, room: Option<usize>) -> bool {
        let room = room.unwrap_or(usize::MAX);
        self.lines(Some(room)).iter().all(|(tone, line)| *tone == Tone::Warning || display_width(line) <= room)
    }

    /// Prints the rows. On a terminal, long rows are wrapped.
    pub(crate) fn print(&self, printer: Printer) {
        for (tone, line) in self.lines(terminal::columns()) {
            printer.prose(tone, &line);
        }
    }

    fn lines_of(&self, widest: usize) -> Vec<(Tone, String)> {
        let columns = self.rows.iter().map(|(_, cells)| cells.len()).max().unwrap_or(0);
        let is_sentence = |column: usize, cells: &[String]| {
            self.is_straight && column > 0 && column + 1 == cells.len() && cells.len() < columns
        };
        let width = |column: usize| {
            let rows = self.rows.iter().filter(|(_, cells)| !is_sentence(column, cells));
            let widths = rows.filter_map(|(_, cells)| cells.get(column)).map(|cell| display_width(cell));
            widths.filter(|width| *width <= widest).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        self.rows.iter().map(|(tone, cells)| (*tone, self.line(cells, &widths))).collect()
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
    fn straight_columns_stay_below_each_other_in_long_rows() {
        let mut table = Table::new().straight();
        table.row(Tone::Plain, ["a", "ok", "web"]);
        table.row(Tone::Plain, ["b", &"x".repeat(41), "mail"]);
        table.row(Tone::Warning, ["c", &"a sentence ".repeat(9)]);
        let lines: Vec<_> = table.lines(Some(40)).into_iter().map(|(_, line)| line).collect();
        assert_eq!(lines[0], format!("a  ok{}  web", " ".repeat(39)));
        assert_eq!(lines[1], format!("b  {}  mail", "x".repeat(41)));
        assert!(!table.fits(Some(40)) && table.fits(Some(50)));
    }

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
        // On a narrow terminal the columns are narrow, if this makes more rows fit.
        let mut paths = Table::new();
        paths.row(Tone::Plain, ["a", "/srv/a/path/of/25/letters", "x"]);
        paths.row(Tone::Plain, ["b", "-", "default"]);
        let of = |room| paths.lines(Some(room)).into_iter().map(|(_, line)| line).collect::<Vec<_>>();
        assert_eq!(of(40)[1], format!("b  -{}  default", " ".repeat(24)));
        assert_eq!(of(33), ["a  /srv/a/path/of/25/letters  x", "b  -  default"]);
    }
}
