//! Reads data bags, roles and environments, and searches for nodes.

use crate::bindings::wrun::data::data as wit;
use crate::policy::State;
use contract::DataError;
use serde_json::Value;
use wasmtime::Result;

type Answer<T> = Result<Result<T, wit::DataError>>;

fn error(error: DataError) -> wit::DataError {
    match error {
        DataError::Denied(text) => wit::DataError::Denied(text),
        DataError::NotFound(text) => wit::DataError::NotFound(text),
        DataError::Invalid(text) => wit::DataError::Invalid(text),
        DataError::BadQuery(text) => wit::DataError::BadQuery(text),
    }
}

fn text(value: Value) -> String {
    value.to_string()
}

impl wit::Host for State {
    fn bags(&mut self) -> Answer<Vec<String>> {
        self.run()?;
        Ok(self.services.data.bags().map_err(error))
    }

    fn bag(&mut self, name: String) -> Answer<Vec<String>> {
        self.run()?;
        Ok(self.services.data.bag(&name).map_err(error))
    }

    fn bag_item(&mut self, bag: String, id: String) -> Answer<String> {
        self.run()?;
        Ok(self.services.data.bag_item(&bag, &id).map(text).map_err(error))
    }

    fn bag_secret(&mut self) -> Answer<Option<Vec<u8>>> {
        self.run()?;
        Ok(self.services.data.bag_secret().map_err(error))
    }

    fn role(&mut self, name: String) -> Answer<String> {
        self.run()?;
        Ok(self.services.data.role(&name).map(text).map_err(error))
    }

    fn environment(&mut self, name: String) -> Answer<String> {
        self.run()?;
        Ok(self.services.data.environment(&name).map(text).map_err(error))
    }

    fn search(&mut self, index: String, query: String) -> Answer<Vec<String>> {
        self.run()?;
        let found = self.on_host_time(|state| state.services.data.search(&index, &query));
        Ok(found.map(|all| all.into_iter().map(text).collect()).map_err(error))
    }
}
