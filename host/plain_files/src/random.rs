//! Random bytes of the system, for names and numbers that nobody may foresee.

use rustix::io::Errno;
use rustix::rand::{GetRandomFlags, getrandom};

/// Returns bytes of the system's random source.
///
/// # Errors
/// The system does not have a random source.
pub fn random_bytes<const COUNT: usize>() -> Result<[u8; COUNT], Errno> {
    // The system returns so few bytes either completely or not at all.
    const { assert!(COUNT <= 256) };
    let mut bytes = [0_u8; COUNT];
    let count = rustix::io::retry_on_intr(|| getrandom(bytes.as_mut_slice(), GetRandomFlags::empty()))?;
    if count == COUNT { Ok(bytes) } else { Err(Errno::IO) }
}
