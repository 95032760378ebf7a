//! A cookbook's files in memory, attributes that may be written, and a machine that grants nothing.

use contract::{
    Account, Applied, AttributeRights, CommandOutcome, CommandTest, CookbookFiles, Data, DataError, FileError,
    HiddenRead, HttpRequest, HttpResponse, Machine, MachineChange, MachineError, MachineGroup, MachineUser, Moment,
    ReadKind, Services, Stat, TypeTexts,
};
use grants::{GrantedAttribute, Grants};
use node::file_specificity::NodeIdentity;
use serde_json::Value;
use std::sync::Arc;

/// Services of a policy whose one cookbook, `app`, has this recipe. Granted or not are time and randomness.
pub(crate) fn services(recipe: String, granted: bool) -> Services {
    Services {
        account: Account::unmetered("ruby"),
        machine: Box::new(Nothing),
        data: Box::new(Nothing),
        files: Arc::new(Files(recipe)),
        clock: granted,
        random: granted,
        environment: vec![("LANG".into(), "C.UTF-8".into())],
        started: Moment { seconds: 1_700_000_000, nanoseconds: 5 },
        zone: |_| (3600, "CET".into()),
        attributes: Box::new(Everything),
        node: NodeIdentity { platform: Some("debian".into()), platform_version: Some("12".into()), fqdn: None },
        types: Arc::new(Texts),
    }
}

struct Everything;

impl AttributeRights for Everything {
    fn write(&self, path: &[String]) -> Result<GrantedAttribute, String> {
        Grants::allow_all().policy("p", &[]).write_attribute(path).map_err(|denied| denied.to_string())
    }

    fn write_unasked(&self, path: &[String]) -> Option<GrantedAttribute> {
        self.write(path).ok()
    }

    fn read_grant(&self, kind: ReadKind, path: &[String]) -> String {
        format!("{} = [{:?}]", kind.name(), path.join("."))
    }

    fn uses(&self, _: ReadKind, _: &[String]) {}

    fn refuse_read(&self, kind: ReadKind, path: &[String], _: bool) -> Option<String> {
        (kind != ReadKind::Attribute && path != ["quiet"]).then(|| format!("a grant would allow {}", path.join(".")))
    }

    fn audit_hidden(&self, _: &HiddenRead) {}
    fn uses_outside(&self, _: contract::OutsideInput<'_>) {}
    fn refuse_outside(&self, _: contract::OutsideInput<'_>) {}
}

struct Texts;

impl TypeTexts for Texts {
    fn names(&self) -> Vec<String> {
        schema::builtin().map(|kind| kind.name.to_owned()).collect()
    }

    fn describe(&self, name: &str) -> Option<Value> {
        schema::find(name).map(schema::reference::type_json)
    }
}

/// Where a runtime without library looks for it, and what it finds: the tests' own, and of ours what talks to the host.
const LIBRARY: &str = "wrun:library";
const SOURCES: [(&str, &str); 5] = [
    ("wrun/failures.rb", include_str!("../../../lib/wrun/failures.rb")),
    ("wrun/hints.rb", include_str!("../../../lib/wrun/hints.rb")),
    ("wrun/library.rb", include_str!("trial.rb")),
    ("wrun/receivers.rb", include_str!("../../../lib/wrun/receivers.rb")),
    ("wrun/turns.rb", include_str!("../../../lib/wrun/turns.rb")),
];

/// The cookbook's only recipe.
const RECIPE: &str = "recipes/default.rb";

struct Files(String);

impl CookbookFiles for Files {
    fn cookbooks(&self) -> Vec<(String, String)> {
        vec![("app".into(), "1.0.0".into())]
    }

    fn paths(&self, cookbook: &str, _: &str) -> Result<Vec<String>, FileError> {
        match cookbook {
            LIBRARY => Ok(SOURCES.iter().map(|(path, _)| (*path).to_owned()).collect()),
            _ => Ok(vec![RECIPE.to_owned()]),
        }
    }

    fn read(&self, cookbook: &str, path: &str) -> Result<Vec<u8>, FileError> {
        let source = SOURCES.iter().find(|(other, _)| cookbook == LIBRARY && *other == path).map(|(_, text)| *text);
        let recipe = (cookbook == "app" && path == RECIPE).then_some(self.0.as_str());
        source.or(recipe).map(Into::into).ok_or_else(|| FileError::NoSuchFile(path.to_owned()))
    }
}

struct Nothing;

fn denied<T>(what: &str) -> Result<T, MachineError> {
    Err(MachineError::Denied(format!("{what} is not granted")))
}

impl Machine for Nothing {
    fn stat(&mut self, path: &str, _: bool) -> Result<Option<Stat>, MachineError> {
        denied(path)
    }
    fn read_file(&mut self, path: &str, _: u64, _: u64) -> Result<Vec<u8>, MachineError> {
        denied(path)
    }
    fn list_directory(&mut self, path: &str) -> Result<Vec<String>, MachineError> {
        denied(path)
    }
    fn read_link(&mut self, path: &str) -> Result<String, MachineError> {
        denied(path)
    }
    fn real_path(&mut self, path: &str) -> Result<String, MachineError> {
        denied(path)
    }
    fn run(&mut self, command: &CommandTest, _: bool) -> Result<CommandOutcome, MachineError> {
        denied(&format!("{:?}", command.line))
    }
    fn apply(&mut self, path: &str, _: MachineChange, _: bool) -> Result<Applied, MachineError> {
        denied(path)
    }
    fn set_environment(&mut self, _: &str, _: Option<&str>) -> Result<(), MachineError> {
        Ok(())
    }
    fn users(&mut self) -> Result<Vec<MachineUser>, MachineError> {
        denied("the user database")
    }
    fn groups(&mut self) -> Result<Vec<MachineGroup>, MachineError> {
        denied("the user database")
    }
    fn http(&mut self, request: &HttpRequest, _: bool) -> Result<HttpResponse, MachineError> {
        denied(&request.url)
    }
}

impl Data for Nothing {
    fn bags(&mut self) -> Result<Vec<String>, DataError> {
        Ok(vec![])
    }
    fn bag(&mut self, name: &str) -> Result<Vec<String>, DataError> {
        Err(DataError::NotFound(name.to_owned()))
    }
    fn bag_item(&mut self, bag: &str, _: &str) -> Result<Value, DataError> {
        Err(DataError::NotFound(bag.to_owned()))
    }
    fn bag_secret(&mut self) -> Result<Option<Vec<u8>>, DataError> {
        Ok(None)
    }
    fn role(&mut self, name: &str) -> Result<Value, DataError> {
        Err(DataError::NotFound(name.to_owned()))
    }
    fn environment(&mut self, name: &str) -> Result<Value, DataError> {
        Err(DataError::NotFound(name.to_owned()))
    }
    fn search(&mut self, index: &str, _: &str) -> Result<Vec<Value>, DataError> {
        Err(DataError::NotFound(index.to_owned()))
    }
}
