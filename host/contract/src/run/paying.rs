//! What a policy's run takes of the host's memory, and who pays for it.
//!
//! A resource has a receipt of its own, which shrinks when its context ends; what stays until the end of the run is paid
//! by the run's purse. Text of a guest is stored in this room only after one of them has grown.

use super::{ActionRecord, Declaration, ResourceId, Run, Wish};
use crate::account::{failure_bytes, guard_bytes, origin_bytes, property_bytes, text_bytes, wish_bytes};
use crate::{Account, Change, Failure, Limit, Outcome, Receipt, ValueChange, value_bytes};
use serde_json::Value;

/// What an action takes in the record of a run besides its texts: the names of its members, numbers.
const RECORD_ON_DISK: u64 = 256;

/// What a resource takes besides its texts and values: its cells in the run and its context.
const RESOURCE_BYTES: u64 = 768;

/// How often a resource's key is kept: type and name, the key itself, its place in the context, as a sender, as updated.
const KEY_COPIES: u64 = 5;

impl Run {
    /// The account that all is charged to.
    pub fn account(&self) -> &Account {
        &self.account
    }

    /// Charges everything from now on to an account. For a run that has nothing yet.
    pub fn charge_to(&mut self, account: Account) {
        let nothing = |account: &Account| account.keep(0, Default::default).unwrap_or_default();
        (self.purse, self.attributes_paid) = (nothing(&account), nothing(&account));
        self.account = account;
    }

    /// Pays for bytes that are kept until the end of the run.
    ///
    /// # Errors
    /// The policy may not have them; it is lost.
    pub fn pay(&mut self, bytes: u64) -> Outcome {
        let Self { purse, open_records, records, policy, .. } = self;
        purse.grow(bytes, || super::reporting::here(open_records, records, policy)).map_err(Failure::from)
    }

    /// Pays for a record and keeps it.
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

    /// Makes room for a record of each resource, so that a long list of them is not moved while it grows.
    pub fn expect_records(&mut self) {
        self.records.reserve(self.resources.len());
    }

    /// Pays for words that the record of an action keeps.
    ///
    /// # Errors
    /// As [`pay`](Self::pay).
    pub fn pay_for_words(&mut self, words: &str) -> Outcome {
        self.pay(text_bytes(words))?;
        self.spend_on_record(text_bytes(words))
    }

    /// Pays for a state that the record of an action keeps.
    ///
    /// # Errors
    /// As [`pay`](Self::pay).
    pub fn pay_for_state(&mut self, state: &Value) -> Outcome {
        self.pay(value_bytes(state))?;
        self.spend_on_record(value_bytes(state))
    }

    /// Pays for a failure that a record or a dry run keeps.
    ///
    /// # Errors
    /// As [`pay`](Self::pay).
    pub fn pay_for_failure(&mut self, failure: &Failure) -> Outcome {
        let bytes = failure_bytes(failure);
        self.pay(bytes)?;
        self.spend_on_record(bytes)
    }

    /// Charges bytes of the policy's part of the node, which is about to be saved: its levels are written twice.
    ///
    /// # Errors
    /// The policy may not write them; it is lost.
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
        // Whoever watches the run keeps the sentence, too.
        self.pay(2 * what + diff + values)?;
        self.spend_on_record(what + diff + values)
    }

    /// Pays for a declaration that is about to be kept.
    pub(super) fn pay_for_declaration(&self, declaration: &Declaration) -> Result<Receipt, Failure> {
        let bytes = declaration_bytes(declaration);
        self.account.keep(bytes, || declaration.origin.as_ref().clone()).map_err(Failure::from)
    }

    /// Pays for more of a resource, or for less.
    pub(super) fn pay_for_more_of(&mut self, id: ResourceId, more: u64, less: u64) -> Outcome {
        let resource = self.known_mut(id)?;
        let bytes = resource.paid.bytes().saturating_add(more).saturating_sub(less);
        let origin = &resource.declaration.origin;
        resource.paid.resize(bytes, || origin.as_ref().clone()).map_err(Failure::from)
    }
}

/// Bytes that a value before and after a change takes, at most.
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

/// A wish, its notification and the sender's key, of which only the length matters.
fn wish_bytes_of(wish: &Wish, key: u64) -> u64 {
    wish_bytes(wish, "") + key
}
