//! Whose words these are. A policy with cookbooks in two languages has two guests, and each numbers its closures and
//! exceptions on its own: outside a guest such a number carries a mark of the guest that it is from.

use contract::GuestId;

/// Set in the numbers of the second guest; no guest uses numbers that large.
const MARK: u32 = 1 << 31;

/// One of a policy's guests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum PolicyGuest {
    /// The only guest, or the first.
    #[default]
    First,
    /// The second guest, of a policy in two languages.
    Second,
}

impl PolicyGuest {
    /// What the runner knows the guest by.
    pub(crate) fn guest_id(self) -> GuestId {
        match self {
            Self::First => 0,
            Self::Second => 1,
        }
    }

    /// Whose a marked number is.
    pub(crate) fn of(number: u32) -> Self {
        if number & MARK == 0 { Self::First } else { Self::Second }
    }

    /// A guest's number as others see it; none if it is too large to be marked.
    pub(crate) fn mark(self, number: u32) -> Option<u32> {
        (Self::of(number) == Self::First).then_some(match self {
            Self::First => number,
            Self::Second => number | MARK,
        })
    }

    /// A marked number as its own guest knows it; of another guest's, nothing.
    pub(crate) fn own(self, marked: u32) -> Option<u32> {
        (Self::of(marked) == self).then(|| self.number(marked))
    }

    /// A number without its mark.
    pub(crate) fn number(self, marked: u32) -> u32 {
        marked & !MARK
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_go_back_to_their_own_guest_alone() {
        for (guest, other) in [(PolicyGuest::First, PolicyGuest::Second), (PolicyGuest::Second, PolicyGuest::First)] {
            let marked = guest.mark(7).unwrap();
            assert_eq!((PolicyGuest::of(marked), guest.own(marked), other.own(marked)), (guest, Some(7), None));
            assert_eq!(guest.mark(MARK), None);
        }
    }
}
