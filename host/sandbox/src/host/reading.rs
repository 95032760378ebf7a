//! Reads node attributes for a guest, and records the reads.
//!
//! The policy's attributes do not contain values that it may not read, so this code cannot reveal them. The host still knows
//! which paths have a hidden value. It records reads of such paths. It refuses reads of hidden facts, and of hidden
//! attributes that the operator set, so that they do not look like absent ones. A policy hears nothing of other policies:
//! their hidden attributes look absent.

use crate::bindings::wrun::{node::attributes as wit, types::types};
use crate::policy_guest::PolicyGuest;
use crate::words::{self, values};
use ::node::attributes::guest_values::guest_number;
use ::node::attributes::{Level, Shape};
use ::node::object::is_policys_own;
use ::node::origin::Origin;
use contract::{AttributeRights, HiddenRead, ReadKind, Run};
use serde_json::Value;
use std::borrow::Cow;

/// The maximum length in bytes of each text in the place that is recorded with a read.
const MAX_PLACE: usize = 512;

/// The name of the node's tags. All policies share them, so they belong to no particular policy.
const TAGS: &str = "tags";

/// The kinds of values whose reads are refused if they are hidden.
const REFUSABLE: [ReadKind; 2] = [ReadKind::Fact, ReadKind::Given];

/// The purpose of a read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Manner {
    /// The guest reads the whole value.
    Read,
    /// The guest only asks whether the value exists.
    Look,
}

/// The hidden share of a value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Hiding {
    Nothing,
    Part,
    Whole,
}

/// One read by a guest, while the host answers it.
pub(super) struct Reading<'a> {
    guest: PolicyGuest,
    run: &'a mut Run,
    rights: &'a dyn AttributeRights,
    view: wit::View,
    path: &'a [String],
    at: Option<Origin>,
}

impl<'a> Reading<'a> {
    pub(super) fn new(
        guest: PolicyGuest,
        (run, services): (&'a mut Run, &'a mut contract::Services),
        view: wit::View,
        path: &'a [String],
        at: Option<types::Origin>,
    ) -> Self {
        let at = at.map(|at| place(words::origin(run.policy(), at)));
        Self { guest, run, rights: services.attributes.as_ref(), view, path, at }
    }

    /// Reads the value and records the read. Returns an error for a hidden value whose read the rights refuse.
    pub(super) fn read(mut self) -> Result<Option<wit::Value>, wit::AttributeError> {
        let found = self.value();
        match self.notice(found.as_ref(), Manner::Read) {
            Some(refusal) => Err(wit::AttributeError::Denied(refusal)),
            None => Ok(found.map(|value| self.seen(value))),
        }
    }

    /// Returns the shape of the value. The read is recorded only if the guest gives its place.
    pub(super) fn look(mut self) -> Option<wit::Shape> {
        let found = self.shape();
        if self.at.is_some() {
            let value = if self.path.is_empty() { None } else { self.value() };
            let _nothing_is_refused = self.notice(value.as_ref(), Manner::Look);
        }
        found
    }

    /// Reads a value for the guest's own cache. If reads of single members matter, the guest asks for each one later.
    pub(super) fn keep(mut self) -> wit::Kept {
        match self.value() {
            found if self.hidden_kinds(found.as_ref()).next().is_some() => {
                // The guest asks for the members of a hidden object later, and those reads are recorded.
                if !self.conceals() {
                    let _read_says_it = self.notice(found.as_ref(), Manner::Read);
                }
                wit::Kept::Hidden
            }
            Some(found) if self.is_open(&found) => wit::Kept::Open(self.seen(found)),
            found => {
                let _nothing_is_hidden = self.notice(found.as_ref(), Manner::Look);
                found.map_or(wit::Kept::Absent, |value| wit::Kept::Whole(self.seen(value)))
            }
        }
    }

    /// Returns true if the path has a hidden object and the rights refuse to read it.
    pub(super) fn conceals(&self) -> bool {
        let found = self.value();
        let is_object = |kind: &ReadKind| self.hidden_value(*kind, found.as_ref()).is_some_and(Value::is_object);
        let is_refused = |kind: ReadKind| self.rights.refuse_read(kind, self.path, false).is_some();
        self.hidden_kinds(found.as_ref()).filter(is_object).any(is_refused)
    }

    /// Returns the kinds of which the whole value is hidden, and whose reads may be refused.
    fn hidden_kinds(&self, found: Option<&Value>) -> impl Iterator<Item = ReadKind> {
        REFUSABLE.into_iter().filter(move |kind| self.hiding(*kind, found) == Hiding::Whole)
    }

    fn value(&self) -> Option<Value> {
        let (node, path) = (self.run.attributes(), self.path);
        let own = |level| node.read_level(level, path).map(Cow::into_owned);
        match self.view {
            wit::View::Merged => node.read(path),
            wit::View::Default => own(Level::Default),
            wit::View::ForceDefault => own(Level::ForceDefault),
            wit::View::Normal => own(Level::Normal),
            wit::View::Override => own(Level::Override),
            wit::View::ForceOverride => own(Level::ForceOverride),
            wit::View::Automatic => own(Level::Automatic),
            wit::View::CombinedDefault => node.combined_default(path),
            wit::View::CombinedOverride => node.combined_override(path),
        }
    }

    /// Converts a value to the guest's form.
    fn seen(&self, value: Value) -> wit::Value {
        values::shown(self.guest, self.run.attributes(), value)
    }

    fn shape(&self) -> Option<wit::Shape> {
        let length = |length: usize| wit::Shape::Array(u32::try_from(length).unwrap_or(u32::MAX));
        if !matches!(self.view, wit::View::Merged) {
            return self.value().map(|value| match value {
                Value::Object(ref object) if guest_number(&value).is_none() => {
                    wit::Shape::Object(object.keys().cloned().collect())
                }
                Value::Array(array) => length(array.len()),
                scalar => wit::Shape::Scalar(self.seen(scalar)),
            });
        }
        self.run.attributes().shape(self.path).map(|found| match found {
            Shape::Scalar => wit::Shape::Scalar(self.seen(self.run.attributes().read(self.path).unwrap_or_default())),
            Shape::Array(elements) => length(elements),
            Shape::Object(keys) => wit::Shape::Object(keys),
        })
    }

    /// Returns true if the reads of an object's members must be recorded one by one. That is so if a part of the object is
    /// hidden. It is also so at the first step of facts and of other policies' attributes. A read of one fact there is not a
    /// read of its siblings.
    fn is_open(&self, found: &Value) -> bool {
        found.is_object()
            && ReadKind::ALL.into_iter().any(|kind| {
                let shows_first_step = self.path.len() < 2 && self.shows(kind);
                shows_first_step || self.hiding(kind, Some(found)) == Hiding::Part
            })
    }

    /// Returns true if the policy sees a value of this kind at the path.
    fn shows(&self, kind: ReadKind) -> bool {
        let (node, path) = (self.run.attributes(), self.path);
        let has = |level| node.has_in_level(level, path);
        match (kind, self.view) {
            _ if self.is_own(kind) => false,
            (ReadKind::Fact, wit::View::Merged | wit::View::Automatic) => has(Level::Automatic),
            (ReadKind::Given, wit::View::Merged) => {
                has(Level::EnvDefault) || has(Level::EnvOverride) || node.is_given(path)
            }
            (ReadKind::Given, wit::View::Normal) => node.is_given(path),
            (ReadKind::Given, wit::View::CombinedDefault) => has(Level::EnvDefault),
            (ReadKind::Given, wit::View::CombinedOverride) => has(Level::EnvOverride),
            (ReadKind::Attribute, wit::View::Merged) => {
                has(Level::Inherited) || has(Level::Normal) && !node.is_given(path)
            }
            (ReadKind::Attribute, wit::View::Normal) => has(Level::Normal) && !node.is_given(path),
            _ => false,
        }
    }

    /// Returns true if the value belongs to the policy itself. These are the host's facts about the policy, the node's tags,
    /// and attributes with the name of one of its cookbooks.
    fn is_own(&self, kind: ReadKind) -> bool {
        self.path.first().is_some_and(|first| match kind {
            ReadKind::Fact => is_policys_own(first),
            ReadKind::Given | ReadKind::Attribute => first == TAGS || self.run.is_own_cookbook(first),
        })
    }

    /// Returns the hidden share of a value of this kind. `found` is the value that the guest sees.
    fn hiding(&self, kind: ReadKind, found: Option<&Value>) -> Hiding {
        if self.path.is_empty() && self.withholds(kind) {
            return Hiding::Part;
        }
        match self.hidden_value(kind, found) {
            None => Hiding::Nothing,
            Some(Value::Object(_)) if found.is_some_and(Value::is_object) => Hiding::Part,
            Some(_) => Hiding::Whole,
        }
    }

    /// Returns true if any value of this kind is hidden.
    fn withholds(&self, kind: ReadKind) -> bool {
        let node = self.run.attributes();
        match (kind, self.view) {
            (ReadKind::Fact, wit::View::Merged | wit::View::Automatic) => node.withholds_facts(),
            (ReadKind::Given, wit::View::Merged) => [Level::EnvDefault, Level::Normal, Level::EnvOverride]
                .into_iter()
                .any(|level| node.withholds_given(level)),
            (ReadKind::Given, wit::View::Normal) => node.withholds_given(Level::Normal),
            (ReadKind::Given, wit::View::CombinedDefault) => node.withholds_given(Level::EnvDefault),
            (ReadKind::Given, wit::View::CombinedOverride) => node.withholds_given(Level::EnvOverride),
            (ReadKind::Attribute, wit::View::Merged | wit::View::Normal) => node.withholds_attributes(),
            _ => false,
        }
    }

    /// Returns the hidden value of this kind, or the hidden part of a value. `None` if what the guest sees overrides it.
    fn hidden_value(&self, kind: ReadKind, found: Option<&Value>) -> Option<&Value> {
        let (node, path) = (self.run.attributes(), self.path);
        match (kind, self.view) {
            (ReadKind::Fact | ReadKind::Given, _) if self.is_own(kind) => None,
            _ if self.path.first().is_some_and(|first| first == TAGS) => None,
            (ReadKind::Fact, wit::View::Merged | wit::View::Automatic) => node.withheld_fact(path),
            (ReadKind::Given, wit::View::Normal) => node.withheld_given(path),
            (ReadKind::Given, wit::View::CombinedDefault) => {
                node.withheld_default_layers(path).filter(|_| !self.overrides(Level::EnvDefault, found))
            }
            (ReadKind::Given, wit::View::CombinedOverride) => {
                node.withheld_override_layers(path).filter(|_| !self.overrides(Level::EnvOverride, found))
            }
            (ReadKind::Given, wit::View::Merged) => {
                let above =
                    || node.withheld_override_layers(path).filter(|_| !self.overrides(Level::EnvOverride, found));
                let between = || node.withheld_given(path).filter(|_| !self.overrides(Level::Normal, found));
                let below = || node.withheld_default_layers(path).filter(|_| !self.overrides(Level::EnvDefault, found));
                above().or_else(between).or_else(below)
            }
            (ReadKind::Attribute, wit::View::Normal) => node.withheld_normal(path),
            (ReadKind::Attribute, wit::View::Merged) => {
                let below = || node.withheld_inherited(path).filter(|_| !self.overrides(Level::Inherited, found));
                let above = node.withheld_normal(path).filter(|_| !self.overrides(Level::Normal, found));
                above.or_else(below)
            }
            _ => None,
        }
    }

    /// Returns true if the value that the guest sees overrides one of this level. Objects are merged, and so are the arrays of
    /// one group of levels. The combined views have one group of levels.
    fn overrides(&self, level: Level, found: Option<&Value>) -> bool {
        let node = self.run.attributes();
        let is_merged = matches!(self.view, wit::View::Merged);
        let is_seen = |other: &Level| is_merged || other.group() == level.group();
        let mut higher = Level::ALL.into_iter().filter(|other| *other > level).filter(is_seen);
        match found {
            None | Some(Value::Object(_)) => false,
            Some(Value::Array(_)) => {
                higher.any(|other| other.group() != level.group() && node.has_in_level(other, self.path))
            }
            Some(_) => higher.any(|other| node.has_in_level(other, self.path)),
        }
    }

    /// Records a read. Returns the text of the refusal if the read is refused.
    fn notice(&mut self, found: Option<&Value>, manner: Manner) -> Option<String> {
        let mut refusal = None;
        for kind in ReadKind::ALL {
            if self.is_of_language() {
                continue;
            }
            let hiding = match self.hiding(kind, found) {
                // Policies with the same cookbook leave attributes below the same name. A policy that reads its own part of
                // them misses nothing.
                Hiding::Part if self.is_own(kind) => Hiding::Nothing,
                hiding => hiding,
            };
            if hiding != Hiding::Nothing || self.shows(kind) {
                self.note_read(kind);
            }
            match hiding {
                Hiding::Whole if REFUSABLE.contains(&kind) && manner == Manner::Read => {
                    let is_new = !self.run.reads().has_refused(kind, self.path);
                    let refused = self.rights.refuse_read(kind, self.path, is_new);
                    self.record(kind, false, refused.is_some());
                    refusal = refusal.or(refused);
                }
                Hiding::Whole => self.record(kind, false, false),
                Hiding::Part if manner == Manner::Read || self.path.is_empty() => self.record(kind, true, false),
                Hiding::Part | Hiding::Nothing => {}
            }
        }
        refusal
    }

    /// Returns true if the language's runtime reads, and not a cookbook. To write one attribute, the runtime reads the whole
    /// level.
    fn is_of_language(&self) -> bool {
        self.path.is_empty() && self.at.is_none() && matches!(self.view, wit::View::Normal)
    }

    fn note_read(&mut self, kind: ReadKind) {
        if self.run.note_read(kind, self.path) {
            self.rights.uses(kind, self.path);
        }
    }

    fn record(&mut self, kind: ReadKind, partly: bool, refused: bool) {
        let origin = self.at.clone().unwrap_or_else(|| place(self.run.here()));
        let grant = self.rights.read_grant(kind, self.path);
        let read = HiddenRead { kind, path: self.path.to_vec(), partly, refused, origin, grant };
        if self.run.note_hidden_read(read.clone(), self.at.is_some()) && !refused {
            self.rights.audit_hidden(&read);
        }
    }
}

/// Returns the place with its texts cut to the maximum length.
pub(super) fn place(origin: Origin) -> Origin {
    let cut = |text: String| if text.len() > MAX_PLACE { words::shorten(&text, MAX_PLACE) } else { text };
    let short = |text: Option<String>| text.map(cut);
    Origin { cookbook: short(origin.cookbook), recipe: short(origin.recipe), file: short(origin.file), ..origin }
}
