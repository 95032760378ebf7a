//! The `ndjson` format: what happens, as it happens, one JSON object per line.

use crate::printer::Printer;
use contract::{Event, Observer};
use report::events::as_json;

/// Prints each event when it happens.
pub(crate) struct Ndjson {
    printer: Printer,
}

impl Ndjson {
    pub(crate) fn new(printer: Printer) -> Self {
        Self { printer }
    }
}

impl Observer for Ndjson {
    fn notice(&mut self, event: &Event<'_>) {
        if let Some(event) = as_json(event) {
            self.printer.json_line(&event);
        }
    }
}
