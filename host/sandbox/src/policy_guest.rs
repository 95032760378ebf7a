//! Identifies the guest that a number comes from. A policy with cookbooks in two languages has two guests. Each one numbers
//! its closures and exceptions independently. Outside the guest, such a number carries a mark of its guest.

use contract::GuestId;

/// The bit that marks the second guest's numbers. A guest's own numbers must be smaller.
const MARK: u32 = 1 << 31;

/// One of a policy's guests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum PolicyGuest {
    /// The first guest, or the only one.
    #[default]
    First,
    /// The second guest, of a policy in two languages.
    Second,
}

impl PolicyGuest {
    /// Returns the runner's identifier of the guest.
    pub(crate) fn guest_id(self) -> GuestId {
        match self {
            Self::First => 0,
            Self::Second => 1,
        }
    }

    /// Returns the guest of a marked number.
    pub(crate) fn of(number: u32) -> Self {
        if number & MARK == 0 { Self::First } else { Self::Second }
    }

    /// Returns the marked form of a guest's number, or `None` if the number is too large.
    pub(crate) fn mark(self, number: u32) -> Option<u32> {
        (Self::of(number) == Self::First).then_some(match self {
            Self::First => number,
            Self::Second => number | MARK,
        })
    }

    /// Returns the guest's own number for a marked one, or `None` if it belongs to another guest.
    pub(crate) fn own(self, marked: u32) -> Option<u32> {
        (Self::of(marked) == self).then(|| self.number(marked))
    }

    /// Returns a number without its mark.
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
