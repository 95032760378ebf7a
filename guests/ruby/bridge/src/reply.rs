//! Replies to Ruby's requests.

use crate::bindings::wrun::types::types::Raised;
use serde::Serialize;

/// A reply. Its first byte tells Ruby the kind of reply.
pub(crate) enum Reply {
    /// JSON text.
    Value(String),
    /// Bytes.
    Bytes(Vec<u8>),
    /// JSON text, followed by bytes.
    Mixed(String, Vec<u8>),
    /// An exception.
    Raised(Raised),
    /// An error of the contract: its case and its texts.
    Refused(&'static str, Vec<String>),
}

impl Reply {
    /// Returns a reply with a value, serialized as JSON.
    pub(crate) fn value(value: &impl Serialize) -> Self {
        Self::Value(serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned()))
    }

    /// Returns a reply without a value (`null`).
    pub(crate) fn nothing() -> Self {
        Self::Value("null".to_owned())
    }

    /// Returns a reply with JSON text from the host, or with `null`.
    pub(crate) fn json(text: Option<String>) -> Self {
        Self::Value(text.unwrap_or_else(|| "null".to_owned()))
    }

    /// Returns an `ArgumentError`, for a wrong call of the bridge.
    pub(crate) fn argument_error(message: &str) -> Self {
        Self::Raised(Raised {
            class: "ArgumentError".to_owned(),
            message: message.to_owned(),
            passed: vec![],
            backtrace: vec![],
            object: None,
            hint: None,
        })
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        let tagged = |tag: u8, text: &[u8]| {
            let mut bytes = Vec::with_capacity(1 + text.len());
            bytes.push(tag);
            bytes.extend_from_slice(text);
            bytes
        };
        match self {
            Self::Value(json) => tagged(b'v', json.as_bytes()),
            Self::Bytes(bytes) => tagged(b'b', &bytes),
            Self::Mixed(json, tail) => {
                let mut bytes = tagged(b'm', &u32::try_from(json.len()).unwrap_or(u32::MAX).to_le_bytes());
                bytes.extend_from_slice(json.as_bytes());
                bytes.extend_from_slice(&tail);
                bytes
            }
            Self::Raised(raised) => tagged(b'r', raised_json(&raised).as_bytes()),
            Self::Refused(case, texts) => {
                let words: Vec<&str> = std::iter::once(case).chain(texts.iter().map(String::as_str)).collect();
                tagged(b'e', serde_json::to_string(&words).unwrap_or_default().as_bytes())
            }
        }
    }
}

impl From<Raised> for Reply {
    fn from(raised: Raised) -> Self {
        Self::Raised(raised)
    }
}

/// Returns an exception as JSON, in the form that `words::Raised` reads.
pub(crate) fn raised_json(raised: &Raised) -> String {
    #[derive(Serialize)]
    struct Words<'a> {
        class: &'a str,
        message: &'a str,
        passed: &'a [String],
        backtrace: &'a [String],
        object: Option<u32>,
        hint: Option<&'a str>,
    }
    let Raised { class, message, passed, backtrace, object, hint } = raised;
    let words = Words { class, message, passed, backtrace, object: *object, hint: hint.as_deref() };
    serde_json::to_string(&words).unwrap_or_default()
}
