//! Values as the host sends them.

use crate::error::Result;
use serde_json::Value;

/// Reads the host's JSON.
pub(crate) fn parse(text: &str) -> Result<Value> {
    Ok(serde_json::from_str(text)?)
}
