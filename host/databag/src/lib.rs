//! Data bag items: their names, and how Chef encrypts them.
//!
//! ```text
//! secret      a shared secret, which cannot print itself
//! item        an item as a whole: what looks encrypted, all values at once
//! value       one value in the formats 1, 2 and 3
//! names       names of bags and items
//! ```
//!
//! AES in Galois/counter mode and the keyed digest come from `ring`, which the program has for TLS; chained AES, which only old
//! items need, from `aes` and `cbc`.

mod item;
mod names;
mod secret;
mod value;

pub use item::{ItemError, decrypt_item, encrypt_item, encrypted_beside_plain, is_encrypted};
pub use names::{NameError, check_bag_name, check_item_name};
pub use secret::Secret;
pub use value::{ValueError, decrypt_value, encrypt_value};
