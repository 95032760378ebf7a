//! Warnings about declarations that are valid, as in Chef, but hardly mean what their author wants.

use super::{ContextId, Declaration, HOST_AS_GUEST, Property, ResourceId, Run};
use std::sync::Arc;

/// The bits of a mode that are more than permissions: set-user-ID, set-group-ID, sticky.
const SPECIAL: u64 = 0o7000;

impl Run {
    /// Returns a warning about a mode whose octal digits were written as a decimal number, as in `mode 640`.
    pub(super) fn remark_on_mode(&self, declaration: &Declaration) -> Option<String> {
        if declaration.guest_id == HOST_AS_GUEST || self.type_of(declaration).is_some() {
            return None;
        }
        let number = |(name, value): &(String, Property)| match value {
            Property::Plain(value) if name == "mode" => value.as_u64().filter(|mode| is_decimal(*mode)),
            _ => None,
        };
        let mode = declaration.properties.iter().find_map(number)?;
        let place = declaration.origin.place().map(|place| format!(" ({place})")).unwrap_or_default();
        Some(format!(
            "{}: mode {mode} is a decimal number, in octal 0{mode:o}; write \"0{mode}\" or 0o{mode}{place}",
            declaration.key()
        ))
    }

    /// Notes a resource that replaces another of its key as the receiver of notifications, if they are declared in the same
    /// recipe and differ. Chef's cookbooks often declare a service twice to add actions, which is harmless.
    pub(super) fn note_repetition(&mut self, context: ContextId, key: &Arc<str>, before: ResourceId, now: ResourceId) {
        let (Ok(before), Ok(now)) = (self.known(before), self.known(now)) else { return };
        let (before, now) = (&before.declaration, &now.declaration);
        let is_same_recipe = before.origin.cookbook == now.origin.cookbook && before.origin.recipe == now.origin.recipe;
        if !is_same_recipe || before.properties == now.properties || now.guest_id == HOST_AS_GUEST {
            return;
        }
        if let Some(there) = self.contexts.get_mut(context as usize) {
            there.repeated.insert(Arc::clone(key));
        }
    }

    /// Returns a warning about a notification to a key that several different resources of one recipe have.
    pub(super) fn remark_on_receiver(&self, context: ContextId, sender: &str, receiver: ResourceId) -> Option<String> {
        let receiver = self.known(receiver).ok()?;
        let mut there = self.contexts.get(context as usize);
        while let Some(context) = there {
            if context.repeated.contains(&receiver.key) {
                let place = receiver.declaration.origin.place().map(|place| format!(" ({place})")).unwrap_or_default();
                return Some(format!(
                    "{sender} notifies {key}, but the recipe declares several different {key}: the last one is notified{place}",
                    key = receiver.key
                ));
            }
            there = context.parent.and_then(|parent| self.contexts.get(parent as usize));
        }
        None
    }
}

/// Tells whether a number that has special bits reads like the octal digits of usual permissions: those of the owner, of the
/// group and of others, each including those after it.
fn is_decimal(mode: u64) -> bool {
    if mode & SPECIAL == 0 || mode > 7777 {
        return false;
    }
    let digits = [mode / 1000, mode / 100 % 10, mode / 10 % 10, mode % 10];
    let [special, owner, group, others] = digits;
    let is_usual = |digit: u64| matches!(digit, 0 | 4..=7);
    let is_owners = if special == 0 { owner >= 4 } else { owner >= 6 };
    special <= 7 && is_owners && [owner, group, others].into_iter().all(is_usual) && owner >= group && group >= others
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimal_modes_are_told_from_octal_ones() {
        for digits in [600, 640, 644, 660, 664, 700, 750, 755, 775, 777, 1777, 2755, 2775] {
            assert!(is_decimal(digits), "{digits}");
        }
        // Numbers that code gets by octal literals. A number without special bits is not told apart.
        let octal = [0o600, 0o640, 0o644, 0o755, 0o777, 0o1777, 0o1770, 0o2755, 0o2775, 0o2750, 0o4755, 0o4711, 0o6755];
        for mode in octal.into_iter().chain([0, 400, 444, 9999, u64::MAX]) {
            assert!(!is_decimal(mode), "{mode} is 0{mode:o}");
        }
    }
}
