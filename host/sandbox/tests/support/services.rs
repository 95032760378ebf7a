//! Provides services in memory: a small machine, two data bags and one cookbook's files.

use contract::{
    Account, Applied, AttributeRights, CommandOutcome, CommandTest, CookbookFiles, Data, DataError, FileError,
    HiddenRead, HttpRequest, HttpResponse, Machine, MachineChange, MachineError, MachineGroup, MachineUser, Moment,
    OutsideInput, ReadKind, Services, Stat, StatKind, TypeTexts,
};
use grants::{GrantedAttribute, Grants};
use node::file_specificity::NodeIdentity;
use node::origin::Origin;
use serde_json::{Value, json};
use std::sync::Arc;

/// Services with everything granted.
pub(crate) fn all_services(cookbook: &str) -> Services {
    Services { clock: true, random: true, ..services(cookbook) }
}

/// Services of a policy whose one cookbook has this name.
pub(crate) fn services(cookbook: &str) -> Services {
    Services {
        account: Account::unmetered(cookbook),
        machine: Box::new(Table::default()),
        data: Box::new(Bags),
        files: Arc::new(Files(cookbook.to_owned())),
        clock: false,
        random: false,
        environment: vec![("LANG".into(), "C.UTF-8".into())],
        started: Moment { seconds: 1_700_000_000, nanoseconds: 5 },
        zone: |_| (3600, "CET".into()),
        attributes: Box::new(OwnName(cookbook.to_owned())),
        node: NodeIdentity { platform: Some("debian".into()), platform_version: Some("12".into()), fqdn: None },
        types: Arc::new(Texts),
    }
}

/// Rights to write only below the cookbook's name.
struct OwnName(String);

impl AttributeRights for OwnName {
    fn write(&self, path: &[String]) -> Result<GrantedAttribute, String> {
        let grants = Grants::nothing().policy(&self.0, std::slice::from_ref(&self.0));
        grants.write_attribute(path).map_err(|_| "write_attributes would allow it".into())
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
    fn uses_outside(&self, _: OutsideInput<'_>) {}
    fn refuse_outside(&self, _: OutsideInput<'_>) {}
}

struct Texts;

impl TypeTexts for Texts {
    fn names(&self) -> Vec<String> {
        vec!["file".into(), "log".into()]
    }

    fn describe(&self, name: &str) -> Option<Value> {
        (name == "file").then(|| json!({ "name": "file" }))
    }
}

struct Files(String);

impl CookbookFiles for Files {
    fn cookbooks(&self) -> Vec<(String, String)> {
        vec![(self.0.clone(), "1.0.0".into())]
    }

    fn paths(&self, cookbook: &str, folder: &str) -> Result<Vec<String>, FileError> {
        if cookbook != self.0 {
            return Err(FileError::NoSuchCookbook(format!("there is only {}", self.0)));
        }
        let all = ["files/default/plain.txt", "files/plain.txt", "templates/greeting.j2", "templates/part.j2"];
        Ok(all.into_iter().filter(|path| path.starts_with(folder)).map(str::to_owned).collect())
    }

    fn read(&self, cookbook: &str, path: &str) -> Result<Vec<u8>, FileError> {
        match (self.paths(cookbook, "")?.contains(&path.to_owned()), path) {
            (true, "templates/greeting.j2") => {
                Ok(b"{% include \"part.j2\" %}\n{{ greeting }}, {{ node(\"everything.name\") }}\n".to_vec())
            }
            (true, "templates/part.j2") => Ok(b"# a part\n".to_vec()),
            (true, _) => Ok(b"plain\n".to_vec()),
            (false, _) => Err(FileError::NoSuchFile(path.to_owned())),
        }
    }
}

#[derive(Default)]
struct Table {
    /// The place of the last call that was denied, as the guest told it.
    last_denial: Option<Origin>,
}

fn denied<T>(what: &str) -> Result<T, MachineError> {
    Err(MachineError::Denied(format!("{what} is not granted")))
}

impl Machine for Table {
    fn denied_at(&mut self, place: &Origin) {
        self.last_denial = Some(place.clone());
    }

    fn stat(&mut self, path: &str, follow: bool) -> Result<Option<Stat>, MachineError> {
        let kind = match (path, follow) {
            ("/etc/hostname", _) => StatKind::File,
            ("/etc/link", true) | ("/etc", _) => StatKind::Directory,
            ("/etc/link", false) => StatKind::Link,
            _ => return Ok(None),
        };
        let (mode, identity) = (0o644, (1, 2));
        Ok(Some(Stat { kind, mode, uid: 0, gid: 0, size: 5, modified: 0, identity, links: 1 }))
    }

    fn read_file(&mut self, path: &str, _: u64, _: u64) -> Result<Vec<u8>, MachineError> {
        match (path, &self.last_denial) {
            ("/etc/hostname", _) => Ok(b"node\n".to_vec()),
            ("/last-denial", Some(Origin { cookbook: Some(cookbook), file: Some(file), line: Some(_), .. })) => {
                Ok(format!("{cookbook}/{file}, and a line").into_bytes())
            }
            _ => denied(path),
        }
    }

    fn list_directory(&mut self, _: &str) -> Result<Vec<String>, MachineError> {
        Ok(vec!["hostname".into(), "link".into()])
    }

    fn read_link(&mut self, _: &str) -> Result<String, MachineError> {
        Ok("/srv".into())
    }

    fn real_path(&mut self, _: &str) -> Result<String, MachineError> {
        Ok("/srv".into())
    }

    fn run(&mut self, command: &CommandTest, why_run: bool) -> Result<CommandOutcome, MachineError> {
        if why_run {
            return Err(MachineError::DryRun(format!("{:?}", command.line)));
        }
        Ok(CommandOutcome { code: Some(0), output: b"hello\n".to_vec(), ..CommandOutcome::default() })
    }

    fn apply(&mut self, path: &str, change: MachineChange, why_run: bool) -> Result<Applied, MachineError> {
        match change {
            change if why_run => Err(MachineError::DryRun(format!("{change:?} {path}"))),
            MachineChange::Link(to) => denied(&to),
            change => Ok(Applied { path: path.into(), what: format!("{change:?} {path}") }),
        }
    }

    fn set_environment(&mut self, _: &str, _: Option<&str>) -> Result<(), MachineError> {
        Ok(())
    }

    fn users(&mut self) -> Result<Vec<MachineUser>, MachineError> {
        let text = String::new;
        let root =
            MachineUser { name: "root".into(), uid: 0, gid: 0, comment: text(), home: "/root".into(), shell: text() };
        Ok(vec![root])
    }

    fn groups(&mut self) -> Result<Vec<MachineGroup>, MachineError> {
        Ok(vec![MachineGroup { name: "root".into(), gid: 0, members: vec![] }])
    }

    fn http(&mut self, _: &HttpRequest, _: bool) -> Result<HttpResponse, MachineError> {
        Ok(HttpResponse { status: 204, headers: vec![], body: vec![] })
    }
}

struct Bags;

impl Data for Bags {
    fn bags(&mut self) -> Result<Vec<String>, DataError> {
        Ok(vec!["keys".into(), "users".into()])
    }

    fn bag(&mut self, name: &str) -> Result<Vec<String>, DataError> {
        if name == "users" { Ok(vec!["ada".into()]) } else { Err(DataError::NotFound(name.to_owned())) }
    }

    fn bag_item(&mut self, _: &str, id: &str) -> Result<Value, DataError> {
        Ok(json!({ "id": id }))
    }

    fn bag_secret(&mut self) -> Result<Option<Vec<u8>>, DataError> {
        Err(DataError::Denied("bag_secret is not granted".into()))
    }

    fn role(&mut self, name: &str) -> Result<Value, DataError> {
        Ok(json!({ "name": name }))
    }

    fn environment(&mut self, name: &str) -> Result<Value, DataError> {
        Ok(json!({ "name": name }))
    }

    fn search(&mut self, _: &str, _: &str) -> Result<Vec<Value>, DataError> {
        Ok(vec![json!({ "name": "node" })])
    }
}
