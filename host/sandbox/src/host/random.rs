//! Returns random bytes to policies with the grant `random`.

use crate::bindings::wrun::random::random as wit;
use crate::limits::RANDOM_BYTES;
use crate::policy::State;
use contract::OutsideInput;
use wasmtime::Result;

impl wit::Host for State {
    fn bytes(&mut self, count: u32) -> Result<Option<Vec<u8>>> {
        self.call()?;
        if !self.services.random {
            self.services.attributes.refuse_outside(OutsideInput::Random);
            return Ok(None);
        }
        self.services.attributes.uses_outside(OutsideInput::Random);
        let mut bytes = vec![0; count.min(RANDOM_BYTES) as usize];
        let mut filled = 0;
        while let Some(rest) = bytes.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            match rustix::rand::getrandom(rest, rustix::rand::GetRandomFlags::empty()) {
                Ok(more) => filled += more,
                Err(rustix::io::Errno::INTR) => {}
                Err(_) => return Ok(None),
            }
        }
        Ok(Some(bytes))
    }
}
