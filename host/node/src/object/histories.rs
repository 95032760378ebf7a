//! The records of writes to attributes, which are saved between runs.
//!
//! The saved node, whose format is Chef's, cannot hold them. So they are a document of their own, which the crate `state`
//! stores beside the node: `{"version": 2, "policies": {NAME: TEXT}, "unseen_edits": [..]}`, with a [text](crate::attributes)
//! that is parsed only when it is needed, and the changes that operators [made since](super::unseen_edits). The document
//! serves only explanations: if it is lost, damaged or older than the node, no attribute changes.

use std::sync::{Arc, OnceLock};

use serde_json::{Map, Value, json};

use super::size::{MAX_HISTORY_BYTES, written_bytes};
use super::unseen_edits::UnseenEdits;
use super::{NodeObject, ObjectError};
use crate::attributes::{Group, History, Level, WriteRecord};
use crate::saved_filter::{LevelFilter, SavedFilters};

/// Version of the document.
const VERSION: u64 = 2;

/// The version whose records are JSON objects.
const VERSION_OF_OBJECTS: u64 = 1;

const DOCUMENT: &str = "attribute history";

/// Key of the writes of a run without policies.
const WITHOUT_POLICY: &str = "";

/// The records of each policy's last successful run.
#[derive(Debug, Clone, Default)]
pub(super) struct Histories {
    by_policy: Vec<(String, Kept)>,
    /// What operators changed in `normal` since policies ran.
    pub(super) unseen_edits: Arc<UnseenEdits>,
}

/// The records of one policy.
#[derive(Debug, Clone)]
struct Kept {
    /// The records as saved text; `None` if they have not been saved.
    text: Option<Arc<str>>,
    /// The parsed records, once somebody has asked for them.
    history: OnceLock<Arc<History>>,
}

impl Kept {
    fn of(history: Arc<History>) -> Self {
        Self { text: None, history: OnceLock::from(history) }
    }

    /// Returns all records. They are empty if the text is damaged.
    fn history(&self) -> &Arc<History> {
        let parse = || {
            let text = self.text.as_deref().unwrap_or_default();
            Arc::new(History::from_text(text, None).unwrap_or_default())
        };
        self.history.get_or_init(parse)
    }

    /// Returns the records about a path.
    fn about<Step: AsRef<str>>(&self, path: &[Step]) -> Vec<WriteRecord> {
        let records = |history: &History| history.about(path).into_iter().cloned().collect();
        match (&self.text, self.history.get()) {
            (Some(text), None) => {
                let path: Vec<String> = path.iter().map(|step| step.as_ref().to_owned()).collect();
                records(&History::from_text(text, Some(&path)).unwrap_or_default())
            }
            _ => records(self.history()),
        }
    }

    /// The text to save.
    fn to_text(&self, is_withheld: &impl Fn(Level) -> bool) -> String {
        let is_any_withheld = Level::ALL.into_iter().any(is_withheld);
        match &self.text {
            Some(text) if !is_any_withheld => text.to_string(),
            _ => {
                let fits = |text: &str| written_bytes(&Value::from(text), MAX_HISTORY_BYTES).is_some();
                self.history().to_text(is_withheld, fits)
            }
        }
    }
}

impl Histories {
    pub(super) fn put(&mut self, policy: Option<&str>, history: Arc<History>) {
        let policy = policy.unwrap_or(WITHOUT_POLICY);
        if self.unseen_edits.has_any_for(policy) {
            Arc::make_mut(&mut self.unseen_edits).seen_by(policy);
        }
        let kept = Kept::of(history);
        match self.by_policy.iter_mut().find(|(name, _)| name == policy) {
            Some((_, known)) => *known = kept,
            None => self.by_policy.push((policy.to_owned(), kept)),
        }
    }

    fn find(&self, policy: Option<&str>) -> Option<&Kept> {
        let policy = policy.unwrap_or(WITHOUT_POLICY);
        self.by_policy.iter().find(|(name, _)| name == policy).map(|(_, kept)| kept)
    }

    pub(super) fn of(&self, policy: Option<&str>) -> Option<&History> {
        self.find(policy).map(|kept| kept.history().as_ref())
    }

    /// Returns a policy's records about a path, in the order of writing.
    pub(super) fn about<Step: AsRef<str>>(&self, policy: Option<&str>, path: &[Step]) -> Vec<WriteRecord> {
        self.find(policy).map(|kept| kept.about(path)).unwrap_or_default()
    }

    /// All policies with their records, in the order in which they ran.
    pub(super) fn all(&self) -> impl DoubleEndedIterator<Item = (&str, &History)> {
        self.by_policy.iter().map(|(name, kept)| (name.as_str(), kept.history().as_ref()))
    }
}

impl NodeObject {
    /// Returns the document to store beside the saved node. For levels that are saved only in part, it has the origins of
    /// writes but not the values.
    pub fn histories_to_json(&self, filters: &SavedFilters) -> Value {
        let is_withheld = |level: Level| {
            *match level.group() {
                Group::Default | Group::Inherited => &filters.default,
                Group::Normal => &filters.normal,
                Group::Override => &filters.r#override,
                Group::Automatic => &filters.automatic,
            } != LevelFilter::default()
        };
        let histories = self.histories.by_policy.iter();
        let policies: Map<String, Value> =
            histories.map(|(name, kept)| (name.clone(), Value::from(kept.to_text(&is_withheld)))).collect();
        let mut document = Map::from_iter([("version".into(), json!(VERSION)), ("policies".into(), json!(policies))]);
        let unseen_edits = &self.histories.unseen_edits;
        if !unseen_edits.is_empty() && !is_withheld(Level::Normal) {
            document.insert("unseen_edits".into(), unseen_edits.to_json());
        }
        Value::Object(document)
    }

    /// Takes the stored document back.
    ///
    /// # Errors
    /// Another version, or what is no such document. The node object has not changed then.
    pub fn set_histories_from_json(&mut self, json: Value) -> Result<(), ObjectError> {
        let wrong = |key: &str, expected| ObjectError::WrongKind { document: DOCUMENT, key: key.to_owned(), expected };
        let version = json.get("version").and_then(Value::as_u64);
        if !matches!(version, Some(VERSION | VERSION_OF_OBJECTS)) {
            return Err(wrong("version", "1 or 2"));
        }
        let Value::Object(mut json) = json else { return Err(wrong("the whole", "an object")) };
        let Some(Value::Object(policies)) = json.remove("policies") else {
            return Err(wrong("policies", "an object"));
        };
        let mut by_policy = Vec::new();
        for (name, records) in policies {
            let kept = match records {
                Value::String(text) if version == Some(VERSION) => {
                    Kept { text: Some(text.into()), history: OnceLock::new() }
                }
                records if version == Some(VERSION_OF_OBJECTS) => {
                    let history = History::from_json(&records).ok_or_else(|| wrong(&name, "a list of records"))?;
                    Kept::of(Arc::new(history))
                }
                _ => return Err(wrong(&name, "a text of records")),
            };
            by_policy.push((name, kept));
        }
        let unseen_edits = json.get("unseen_edits").map(UnseenEdits::from_json);
        let unseen_edits = unseen_edits.map(|edits| edits.ok_or_else(|| wrong("unseen_edits", "a list of changes")));
        self.histories = Histories { by_policy, unseen_edits: unseen_edits.transpose()?.unwrap_or_default().into() };
        Ok(())
    }
}
