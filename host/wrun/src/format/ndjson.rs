//! The `ndjson` format: one JSON object per line for each event, as it happens.

use crate::printer::Printer;
use contract::{Event, Observer};
use report::events::as_json;

/// The observer for the `ndjson` format.
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
