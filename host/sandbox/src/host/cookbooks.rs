//! Reads the cookbooks' files from the policy's artifact.

use super::State;
use crate::bindings::wrun::cookbooks::files as wit;
use contract::FileError;
use wasmtime::Result;

/// The maximum number of names in one call of `locate`.
const NAMES: usize = 100;

fn error(error: FileError) -> wit::FileError {
    match error {
        FileError::NoSuchCookbook(text) => wit::FileError::NoSuchCookbook(text),
        FileError::NoSuchFile(text) => wit::FileError::NoSuchFile(text),
    }
}

impl wit::Host for State {
    fn all(&mut self) -> Result<Vec<wit::Cookbook>> {
        self.call()?;
        let all = self.services.files.cookbooks().into_iter();
        Ok(all.map(|(name, version)| wit::Cookbook { name, version }).collect())
    }

    fn paths(&mut self, cookbook: String, folder: String) -> Result<Result<Vec<String>, wit::FileError>> {
        self.call()?;
        Ok(self.services.files.paths(&cookbook, &folder).map_err(error))
    }

    fn read(&mut self, cookbook: String, path: String) -> Result<Result<Vec<u8>, wit::FileError>> {
        self.call()?;
        Ok(self.services.files.read(&cookbook, &path).map_err(error))
    }

    fn locate(
        &mut self,
        cookbook: String,
        folder: String,
        names: Vec<String>,
    ) -> Result<Result<String, wit::FileError>> {
        self.call()?;
        if names.len() > NAMES {
            let why = format!("at most {NAMES} names can be looked for at a time");
            return Ok(Err(wit::FileError::TooMuch(why)));
        }
        Ok(self.services.files.locate(&cookbook, &folder, &names, &self.services.node).map_err(error))
    }
}
