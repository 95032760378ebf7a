//! Describes the built-in resource types to guests.

use crate::bindings::wrun::resources::schema as wit;
use crate::policy::State;
use wasmtime::Result;

impl wit::Host for State {
    fn types(&mut self) -> Result<Vec<String>> {
        self.call()?;
        Ok(self.services.types.names())
    }

    fn describe(&mut self, name: String) -> Result<Option<String>> {
        self.call()?;
        Ok(self.services.types.describe(&name).map(|value| value.to_string()))
    }
}
