//! Judges each write to an attribute: whether the policy saw its value.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{NodeExplanation, PolicyPart};
use crate::attributes::{Change, Group, Level, WriteRecord, WrittenValue};

/// The effect of a write on the value that the policy saw.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Its value is the one that the policy saw.
    Won,
    /// Its value is a part of the one that the policy saw.
    Merged,
    /// A later write of the same level, or a write of a higher level, hides its value.
    Lost,
    /// The write removed the attribute.
    Removed,
    /// Another policy wrote it, and this one may not read it.
    Hidden,
}

impl Verdict {
    /// One word for people and for JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Won => "won",
            Self::Merged => "merged",
            Self::Lost => "lost",
            Self::Removed => "removed",
            Self::Hidden => "hidden",
        }
    }
}

/// A write with its effect for one policy.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgedWrite<'a> {
    /// The write as the history recorded it.
    pub record: &'a WriteRecord,
    /// The level at which this policy met it: `inherited` for those of earlier policies.
    pub level: Level,
    /// The effect of the write.
    pub verdict: Verdict,
}

impl NodeExplanation {
    /// Returns the writes about the attribute at `path`, for the policy with this index in the order: its own and those of
    /// earlier policies, the strongest first.
    pub fn judged<Step: AsRef<str>>(&self, path: &[Step], policy: usize) -> Vec<JudgedWrite<'_>> {
        let Some(part) = self.policies.get(policy) else { return vec![] };
        let earlier = self.policies.get(..policy).unwrap_or_default();
        let inherited =
            |record: &WriteRecord| if record.level == Level::Normal { Level::Normal } else { Level::Inherited };
        let earlier = earlier.iter().enumerate().flat_map(|(at, part)| {
            part.writes.iter().map(move |record| ((inherited(record), at, record.level, record.sequence), record))
        });
        let is_hidden = |level: Level, record: &WriteRecord| match level {
            Level::Inherited => part.hidden_inherited.contains(&record.path),
            _ => part.hidden_normal.contains(&record.path),
        };
        let (hidden, earlier): (Vec<_>, Vec<_>) = earlier.partition(|((level, ..), record)| is_hidden(*level, record));
        let own = part.writes.iter().map(|record| ((record.level, policy, record.level, record.sequence), record));
        let mut all: Vec<_> = earlier.into_iter().chain(own).collect();
        all.sort_by_key(|(rank, _)| std::cmp::Reverse(*rank));
        let mut by_path: BTreeMap<&[String], Vec<(Level, &WriteRecord)>> = BTreeMap::new();
        for ((level, ..), record) in &all {
            by_path.entry(&record.path).or_default().push((*level, record));
        }
        let judge = |((level, ..), record): ((Level, usize, Level, u64), _)| {
            let record: &WriteRecord = record;
            let rivals = by_path.get(record.path.as_slice()).map(Vec::as_slice).unwrap_or_default();
            let verdict = self.verdict(part, path.len(), level, record, rivals);
            JudgedWrite { record, level, verdict }
        };
        let hidden = hidden.into_iter().map(|((level, ..), record)| {
            let record: &WriteRecord = record;
            JudgedWrite { record, level, verdict: Verdict::Hidden }
        });
        all.iter().copied().map(judge).chain(hidden).collect()
    }

    fn verdict(
        &self,
        part: &PolicyPart,
        depth: usize,
        level: Level,
        record: &WriteRecord,
        rivals: &[(Level, &WriteRecord)],
    ) -> Verdict {
        let (Change::Set(written) | Change::Joined(written)) = &record.change else { return Verdict::Removed };
        // A level holds its newest write, and the earlier writes that this one was merged with.
        let of_level = || rivals.iter().filter(|(other, _)| *other == level).map(|(_, other)| *other);
        let is_join = |other: &WriteRecord| matches!(other.change, Change::Joined(_));
        let is_held = of_level().take_while(|other| *other != record).all(is_join);
        let is_joined = of_level().next().is_some_and(is_join);
        let seen = part.seen.as_ref().and_then(|seen| match record.path.get(depth..) {
            Some(below) => below.iter().try_fold(seen, |here, step| match here {
                Value::Array(all) => all.get(step.parse::<usize>().ok()?),
                here => here.get(step),
            }),
            None => Some(seen),
        });
        let Some(seen) = seen.filter(|_| is_held) else { return Verdict::Lost };
        if record.path.len() < depth {
            // A write to an object around the attribute may or may not contain it. It counts only if no write names the
            // attribute itself.
            let is_alone = part.writes.iter().all(|other| other.path.len() < depth);
            return if is_alone && self.automatic.is_none() { Verdict::Merged } else { Verdict::Lost };
        }
        let is_strongest = |group: Group| rivals.iter().all(|(other, _)| *other <= level || other.group() == group);
        match (seen, written) {
            (Value::Object(_), WrittenValue::Object(_)) => Verdict::Merged,
            _ if self.automatic.is_some() => Verdict::Lost,
            (Value::Array(_), WrittenValue::Array(_)) if is_strongest(level.group()) => {
                let shares = rivals.iter().any(|(other, _)| *other != level && other.group() == level.group());
                if shares || is_joined { Verdict::Merged } else { Verdict::Won }
            }
            (Value::Array(_) | Value::Object(_), _) => Verdict::Lost,
            (_, _) if is_joined => {
                let is_hidden = rivals.iter().take_while(|(other, _)| *other != level).any(|(_, other)| is_set(other));
                if is_hidden { Verdict::Lost } else { Verdict::Merged }
            }
            // A stronger write hides this one, unless it was a removal.
            (seen, written) => {
                let stronger = rivals.iter().take_while(|(_, other)| *other != record);
                let is_hidden = stronger.into_iter().any(|(_, other)| is_set(other));
                let is_it = matches!(written, WrittenValue::Withheld) || *written == WrittenValue::summary(seen);
                if is_it && !is_hidden { Verdict::Won } else { Verdict::Lost }
            }
        }
    }
}

/// Whether a write left a value.
fn is_set(record: &WriteRecord) -> bool {
    !matches!(record.change, Change::Removed)
}
