//! Charges the host's memory for a policy's run.
//!
//! Each resource has its own receipt, which shrinks when its context ends. The run's purse pays for memory that is used until
//! the end of the run. A guest's text is stored only after one of these receipts has grown.

use super::{ActionRecord, Declaration, ResourceId, Run, Wish};
use crate::account::{failure_bytes, guard_bytes, origin_bytes, property_bytes, text_bytes, wish_bytes};
use crate::{Account, Change, Failure, Limit, Outcome, Receipt, ValueChange, value_bytes};
use serde_json::Value;

/// Bytes of an action in a run's record in addition to its texts: names of members and numbers.
const RECORD_ON_DISK: u64 = 256;

/// Bytes of a resource in addition to its texts and values: its entries in the run and its context.
const RESOURCE_BYTES: u64 = 768;

/// The number of copies of a resource's key: type and name, the key itself, in the context, as a sender, and as updated.
const KEY_COPIES: u64 = 5;

impl Run {
    /// Returns the account to which everything is charged.
    pub fn account(&self) -> &Account {
        &self.account
    }

    /// Sets the account for all later charges. Only for a run that is still empty.
    pub fn charge_to(&mut self, account: Account) {
        let nothing = |account: &Account| account.keep(0, Default::default).unwrap_or_default();
        (self.purse, self.attributes_paid) = (nothing(&account), nothing(&account));
        self.account = account;
    }

    /// Charges bytes that are used until the end of the run.
    ///
    /// # Errors
    /// The bytes exceed the policy's limit, which ends the policy.
    pub fn pay(&mut self, bytes: u64) -> Outcome {
        let Self { purse, open_records, records, policy, .. } = self;
        purse.grow(bytes, || super::reporting::here(open_records, records, policy)).map_err(Failure::from)
    }

    /// Charges a record and stores it.
    ///
    /// # Errors
    /// As [`pay`](Self::pay).
    pub fn record(&mut self, record: ActionRecord) -> Result<usize, Failure> {
        let notified = record.notified.iter().flat_map(|notified| [&notified.by, &notified.unsure, &notified.since]);
        let notified = notified.flatten().map(|text| text_bytes(text)).sum::<u64>();
        let texts = text_bytes(&record.name) + text_bytes(&record.action) + notified;
        self.pay(size_of::<ActionRecord>() as u64 + texts)?;
        self.spend_on_record(RECORD_ON_DISK + texts + origin_bytes(&record.origin))?;
        self.records.push(record);
        Ok(self.records.len() - 1)
    }

    /// Notes that all recipes are compiled. Reserves space for a record of each resource, so that a long list is not moved while
    /// it grows.
    pub fn begin_converge(&mut self) {
        self.converges = true;
        self.records.reserve(self.resources.len());
    }

    /// Charges a text for an action's record.
    ///
    /// # Errors
    /// As [`pay`](Self::pay).
    pub fn pay_for_words(&mut self, words: &str) -> Outcome {
        self.pay(text_bytes(words))?;
        self.spend_on_record(text_bytes(words))
    }

    /// Charges a state for an action's record.
    ///
    /// # Errors
    /// As [`pay`](Self::pay).
    pub fn pay_for_state(&mut self, state: &Value) -> Outcome {
        self.pay(value_bytes(state))?;
        self.spend_on_record(value_bytes(state))
    }

    /// Charges a failure for a record or a dry run.
    ///
    /// # Errors
    /// As [`pay`](Self::pay).
    pub fn pay_for_failure(&mut self, failure: &Failure) -> Outcome {
        let bytes = failure_bytes(failure);
        self.pay(bytes)?;
        self.spend_on_record(bytes)
    }

    /// Charges the bytes for saving the policy's part of the node. Its levels are written twice.
    ///
    /// # Errors
    /// The bytes exceed the policy's limit, which ends the policy.
    pub fn pay_for_saved_node(&self) -> Outcome {
        self.spend_on_record(2 * self.node.held_bytes())
    }

    /// Charges bytes that wrun writes to its records of the run.
    pub(super) fn spend_on_record(&self, bytes: u64) -> Outcome {
        let spent = self.account.spend(Limit::Disk, bytes);
        spent.map_err(|ended| ended.or_at(|| self.here()).into())
    }

    pub(super) fn pay_for_change(&mut self, change: &Change) -> Outcome {
        let (what, diff) = (text_bytes(&change.what), change.diff.as_ref().map_or(0, |diff| text_bytes(diff)));
        let fingerprint = change.planned_against.as_ref().map_or(0, |found| text_bytes(found.text()));
        let values = change.values.iter().map(value_change_bytes).sum::<u64>() + fingerprint;
        // The observer keeps a copy of the sentence, too.
        self.pay(2 * what + diff + values)?;
        self.spend_on_record(what + diff + values)
    }

    /// Charges a declaration before it is stored.
    pub(super) fn pay_for_declaration(&self, declaration: &Declaration) -> Result<Receipt, Failure> {
        let bytes = declaration_bytes(declaration);
        self.account.keep(bytes, || declaration.origin.as_ref().clone()).map_err(Failure::from)
    }

    /// Increases or decreases the charge of a resource.
    pub(super) fn pay_for_more_of(&mut self, id: ResourceId, more: u64, less: u64) -> Outcome {
        let resource = self.known_mut(id)?;
        let bytes = resource.paid.bytes().saturating_add(more).saturating_sub(less);
        let origin = &resource.declaration.origin;
        resource.paid.resize(bytes, || origin.as_ref().clone()).map_err(Failure::from)
    }
}

/// Returns the maximum bytes of a changed value.
fn value_change_bytes(change: &ValueChange) -> u64 {
    let texts = [&change.of, &change.before, &change.after];
    text_bytes(change.aspect) + texts.into_iter().flatten().map(|text| text_bytes(text)).sum::<u64>()
}

pub(super) fn declaration_bytes(declaration: &Declaration) -> u64 {
    let Declaration { kind, name, origin, actions, properties, guards, notifications, .. } = declaration;
    let key = (kind.len() + name.len() + 2) as u64;
    let sent = notifications.iter().map(|wish| wish_bytes_of(wish, key)).sum::<u64>();
    RESOURCE_BYTES
        + KEY_COPIES * key
        + origin_bytes(origin)
        + actions.iter().map(|action| text_bytes(action)).sum::<u64>()
        + properties.iter().map(|(name, property)| property_bytes(name, property)).sum::<u64>()
        + guards.iter().map(guard_bytes).sum::<u64>()
        + sent
}

/// Returns the bytes of a wish and its notification. Only the length of the sender's key matters.
fn wish_bytes_of(wish: &Wish, key: u64) -> u64 {
    wish_bytes(wish, "") + key
}
