//! Parses the host's JSON.

use crate::error::Result;
use serde_json::Value;

/// Parses JSON text from the host.
pub(crate) fn parse(text: &str) -> Result<Value> {
    Ok(serde_json::from_str(text)?)
}
