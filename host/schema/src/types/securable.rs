//! Owner, group and mode, which files, directories and links share.

use super::file::FILE;
use super::link::LINK;
use crate::property::{Pattern, Property, TEXT_OR_INTEGER};
use crate::typed::{AccountName, Mode, properties};

/// Chef's check of user and group names: no sign, tilde or comma in front, no colon, comma or control character inside.
static ACCOUNT_NAME: Pattern =
    Pattern::new(r"/^[^-+~:,\t\r\n\f\0]+[^:,\t\r\n\f\0]*$/", r"\A[^-+~:,\t\r\n\f\x00]+[^:,\t\r\n\f\x00]*\z");

/// The pattern as a list, for `regex`.
pub(crate) static ACCOUNT_NAMES: [&Pattern; 1] = [&ACCOUNT_NAME];

/// The user that owns it.
pub(crate) const fn owner() -> Property {
    Property::of("owner", TEXT_OR_INTEGER, "The owner, as a user's name or number.")
        .aliases(&["user"])
        .regex(&ACCOUNT_NAMES)
}

/// The group that owns it.
pub(crate) const fn group() -> Property {
    Property::of("group", TEXT_OR_INTEGER, "The owning group, as a name or number.").regex(&ACCOUNT_NAMES)
}

/// The permission bits, as octal text or a number.
pub(crate) const MODE: Property = Property::mode("mode", "The permission bits, as octal text or a number.");

/// Owner, group and mode.
pub(crate) static SECURABLE: [Property; 3] = [owner(), group(), MODE];

properties! {
    /// Owner, group and mode, which files and directories share.
    pub struct SecurableProperties for FILE {
        owner: Option<AccountName>,
        group: Option<AccountName>,
        mode: Option<Mode>,
    }
}

properties! {
    /// Owner and group alone, as links have them.
    pub struct OwnerProperties for LINK {
        owner: Option<AccountName>,
        group: Option<AccountName>,
    }
}

impl From<OwnerProperties> for SecurableProperties {
    fn from(OwnerProperties { owner, group }: OwnerProperties) -> Self {
        Self { owner, group, mode: None }
    }
}
