//! `group`: groups and their members in the root's own files, changed by `groupadd`, `groupmod`, `gpasswd` and `groupdel`.

use crate::found::{Found, Thing, changed_meanwhile};
use crate::operation::Operation;
use crate::plan::{Assumption, Plan, Provider, Step, View, Writer};
use crate::resources::{account, asked};
use crate::standing;
use contract::{Certainty, Change, ErrorKind, MachineGroup, Raised, Wanted};
use grants::{Capability, GrantedGroup, Standing};
use machine::command::{Launch, list_of_words, require_success};
use machine::denied::denied;
use schema::types::group::GroupProperties;
use std::collections::HashSet;

/// The provider of `group`: local groups and their members.
pub(crate) struct Group;

impl Provider for Group {
    fn plan(&self, wanted: &Wanted<'_>, view: &mut View<'_>) -> Result<Plan, Raised> {
        // Other programs may have changed the group since an earlier resource read it.
        view.caches.users.doubt();
        let wish = DesiredGroup::read(wanted, view)?;
        let granted = view.grants.group(&wish.name, standing(&wish, view)).map_err(denied)?;
        let current = view.users().group(&wish.name).cloned();
        let mut plan = Plan::default();
        match (wanted.action, current) {
            ("create", None) => {
                check_number(&granted, &wish, view)?;
                account::require_room(Capability::Groups, &wish.name, ErrorKind::Group, view)?;
                plan.assume(Assumption::Group(wish.name.clone()));
                let sentence = format!("create group {}", wish.name);
                plan.steps.push(Step::new(
                    Change::new(sentence).appears("account"),
                    Operation::MakeGroup(MakeGroup { wish, _granted: granted }),
                ));
            }
            ("create", Some(current)) => {
                plan.steps.extend(modify("alter", &granted, wish, (&current, Some(&current)), view)?);
            }
            ("modify", None) => {
                if !view.why_run {
                    let message = format!("Cannot modify {} - group does not exist!", wanted.declaration.key());
                    return Err(Raised::new(ErrorKind::Group, message));
                }
                plan.certainty.push(Certainty::Assumed(format!(
                    "Group {} does not exist. Unless it would have been created earlier in this run, this attempt to \
                     modify it would fail.",
                    wanted.declaration.key()
                )));
                let gid = wish.gid.unwrap_or_default();
                let blank = MachineGroup { name: wish.name.clone(), gid, members: vec![] };
                plan.steps.extend(modify("modify", &granted, wish, (&blank, None), view)?);
            }
            ("modify", Some(current)) => {
                plan.steps.extend(modify("modify", &granted, wish, (&current, Some(&current)), view)?);
            }
            ("manage", Some(current)) => {
                plan.steps.extend(modify("manage", &granted, wish, (&current, Some(&current)), view)?);
            }
            ("remove", Some(found)) => {
                let sentence = format!("remove group {}", wish.name);
                let operation = RemoveGroup { name: wish.name, found, _granted: granted };
                let change = Change::new(sentence).disappears("account");
                plan.steps.push(Step::new(change, Operation::RemoveGroup(operation)));
            }
            ("manage" | "remove", None) => {}
            (other, _) => {
                let message = format!("{} does not support :{other}", wanted.declaration.key());
                return Err(Raised::new(ErrorKind::UnsupportedAction, message));
            }
        }
        Ok(plan)
    }

    fn ask(&self, wanted: &Wanted<'_>, view: &mut View<'_>) -> Result<(), Raised> {
        view.asking(|view| self.plan(wanted, view)).map(drop)
    }
}

/// The declared group, from the resource's properties.
#[derive(Debug, Clone, Default)]
struct DesiredGroup {
    name: String,
    gid: Option<u32>,
    members: Vec<String>,
    excluded: Vec<String>,
    append: bool,
    system: bool,
    non_unique: bool,
}

impl DesiredGroup {
    fn read(wanted: &Wanted<'_>, view: &View<'_>) -> Result<Self, Raised> {
        let properties: GroupProperties = asked::properties(wanted)?;
        let different = |all: Vec<String>| -> Result<Vec<String>, Raised> {
            let mut known = HashSet::new();
            let mut names: Vec<String> = vec![];
            for name in all {
                view.looks_at_item()?;
                account::check_name(&name, ErrorKind::Group)?;
                if known.insert(name.clone()) {
                    names.push(name);
                }
            }
            Ok(names)
        };
        let name = properties.group_name;
        account::check_name(&name, ErrorKind::Group)?;
        let (members, excluded) = (different(properties.members)?, different(properties.excluded_members)?);
        let unwanted = excluded.iter().collect::<HashSet<_>>();
        let common = members.iter().filter(|name| unwanted.contains(name)).map(String::as_str).collect::<Vec<_>>();
        if !common.is_empty() {
            let message = format!("Attempting to both add and remove users from a group: '{}'", common.join(", "));
            return Err(Raised::new(ErrorKind::ConflictingMembers, message));
        }
        let gid = properties.gid.map(|text| account::parse_number("gid", &text, ErrorKind::Group)).transpose()?;
        Ok(Self {
            name,
            gid,
            members,
            excluded,
            append: properties.append,
            system: properties.system,
            non_unique: properties.non_unique,
        })
    }
}

/// Checks the group id. The id of another group gives that group's rights, and an id in the administrators' files is as
/// powerful as root.
fn check_number(granted: &GrantedGroup, wish: &DesiredGroup, view: &mut View<'_>) -> Result<(), Raised> {
    let Some(gid) = wish.gid else { return Ok(()) };
    let holder = view.users().group_by_id(gid).map(|group| group.name.clone());
    let holder = holder.as_deref().map(|name| (name, standing::of_group(name, view)));
    view.grants.group_number(granted, gid, holder).map_err(denied)?;
    if standing::is_elevated_group_number(gid, view) {
        view.grants.group_number(granted, gid, Some(("root", Standing::Elevated))).map_err(denied)?;
    }
    for (owner, standing) in standing::owners_of_group_number(gid, view) {
        let _owner = view.grants.user(&owner, standing).map_err(denied)?;
    }
    Ok(())
}

/// Returns the standing of the group, now and after it has been created or changed as declared.
fn standing(wish: &DesiredGroup, view: &mut View<'_>) -> Standing {
    match standing::of_future_group(&wish.name, wish.gid, view) {
        Standing::Ordinary if wish.system => Standing::System,
        now => now,
    }
}

/// The changes to an existing group.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Difference {
    gid: Option<u32>,
    add: Vec<String>,
    remove: Vec<String>,
    /// The complete new list of members, if it replaces the present one.
    replace: Option<Vec<String>>,
    changes: Vec<Change>,
}

fn compare(wish: &DesiredGroup, current: &MachineGroup) -> Difference {
    let mut difference = Difference::default();
    if let Some(gid) = wish.gid.filter(|gid| *gid != current.gid) {
        difference.gid = Some(gid);
        let change = Change::new(format!("change gid {} to {gid}", current.gid));
        difference.changes.push(change.sets("gid", Some(current.gid.to_string()), Some(gid.to_string())));
    }
    let members = current.members.iter().collect::<HashSet<_>>();
    let is_member = |name: &&String| members.contains(name);
    if wish.append {
        difference.add = wish.members.iter().filter(|name| !is_member(name)).cloned().collect();
        difference.remove = wish.excluded.iter().filter(is_member).cloned().collect();
        if !difference.add.is_empty() {
            difference.changes.push(Change::new(format!("add missing member(s): {}", difference.add.join(", "))));
        }
        if !difference.remove.is_empty() {
            difference
                .changes
                .push(Change::new(format!("remove existing member(s): {}", difference.remove.join(", "))));
        }
        return difference;
    }
    let sorted = |names: &[String]| {
        let mut names = names.to_vec();
        names.sort_unstable();
        names
    };
    if sorted(&wish.members) != sorted(&current.members) {
        difference.replace = Some(wish.members.clone());
        let change = format!("replace group members with new list of members: {}", wish.members.join(", "));
        let (before, after) = (current.members.join(","), wish.members.join(","));
        difference.changes.push(Change::new(change).sets("members", Some(before), Some(after)));
    }
    difference
}

/// Plans the changes of a group. `found` is the existing group; if it does not exist, a dry run compares with an empty one.
fn modify(
    verb: &str,
    granted: &GrantedGroup,
    wish: DesiredGroup,
    (current, found): (&MachineGroup, Option<&MachineGroup>),
    view: &mut View<'_>,
) -> Result<Option<Step>, Raised> {
    let difference = compare(&wish, current);
    if difference.gid.is_some() {
        check_number(granted, &wish, view)?;
    }
    if difference.changes.is_empty() {
        return Ok(None);
    }
    let sentence = Change::new(format!("{verb} group {}", wish.name));
    let changes = difference.changes.clone();
    let operation = ChangeGroup { wish, difference, found: found.cloned(), _granted: granted.clone() };
    let step = Step::new(sentence, Operation::ChangeGroup(operation));
    Ok(Some(changes.into_iter().fold(step, Step::also)))
}

/// Returns the state of a group. `None` means that it did not exist.
fn thing(name: &str, found: Option<&MachineGroup>) -> Found {
    let Some(group) = found else { return Found::of([Thing::absent("group", name)]) };
    let thing = Thing::new("group", name).with("gid", group.gid.to_string());
    Found::of([thing.with("members", group.members.join(","))])
}

/// Fails if a group has changed since it was found.
fn require(writer: &mut Writer<'_>, name: &str, found: Option<&MachineGroup>) -> Result<(), Raised> {
    let now = writer.users().group(name).cloned();
    let how = match (found, &now) {
        (found, now) if found == now.as_ref() => return Ok(()),
        (None, _) => "it was not there, and is there now",
        (Some(_), None) => "it was there, and is not there now",
        (Some(_), Some(_)) => "its number or its members are others now",
    };
    Err(changed_meanwhile(format_args!("group {name}"), how))
}

/// A group to create.
#[derive(Debug)]
pub(crate) struct MakeGroup {
    wish: DesiredGroup,
    _granted: GrantedGroup,
}

impl MakeGroup {
    /// Returns the state that the group did not exist.
    pub(crate) fn found(&self) -> Found {
        thing(&self.wish.name, None)
    }

    /// Makes the group with `groupadd`, then sets its members.
    ///
    /// # Errors
    /// One of the tools fails, or the group exists meanwhile.
    pub(crate) fn carry_out(self, writer: &mut Writer<'_>) -> Result<(), Raised> {
        require(writer, &self.wish.name, None)?;
        account::charge_new(writer, ErrorKind::Group)?;
        create(writer, &self.wish)
    }
}

/// A group to change.
#[derive(Debug)]
pub(crate) struct ChangeGroup {
    wish: DesiredGroup,
    difference: Difference,
    /// The group when planned. `None`: a dry run assumes that it would exist.
    found: Option<MachineGroup>,
    _granted: GrantedGroup,
}

impl ChangeGroup {
    /// Returns the state of the group when planned.
    pub(crate) fn found(&self) -> Found {
        thing(&self.wish.name, self.found.as_ref())
    }

    /// Changes what differs, with `groupmod` and `gpasswd`.
    ///
    /// # Errors
    /// One of the tools fails, or the group has changed meanwhile.
    pub(crate) fn carry_out(self, writer: &mut Writer<'_>) -> Result<(), Raised> {
        require(writer, &self.wish.name, self.found.as_ref())?;
        apply(writer, &self.wish, &self.difference)
    }
}

/// A group to remove.
#[derive(Debug)]
pub(crate) struct RemoveGroup {
    name: String,
    /// The group when planned.
    found: MachineGroup,
    _granted: GrantedGroup,
}

impl RemoveGroup {
    /// Returns the state of the group when planned.
    pub(crate) fn found(&self) -> Found {
        thing(&self.name, Some(&self.found))
    }

    /// Removes the group with `groupdel`.
    ///
    /// # Errors
    /// The tool fails, or the group has changed meanwhile.
    pub(crate) fn carry_out(self, writer: &mut Writer<'_>) -> Result<(), Raised> {
        require(writer, &self.name, Some(&self.found))?;
        run(writer, "groupdel", vec![], &self.name)
    }
}

fn create(writer: &mut Writer<'_>, wish: &DesiredGroup) -> Result<(), Raised> {
    let number: Vec<String> = wish.gid.map(|gid| ["-g".to_owned(), gid.to_string()]).into_iter().flatten().collect();
    let mut options: Vec<String> = vec![];
    if wish.system {
        options.push("-r".into());
    }
    if wish.non_unique && wish.gid.is_some() {
        options.push("-o".into());
    }
    // Chef's message has the name before all options except the number.
    let program = "groupadd".to_owned();
    let shown = list_of_words([&program].into_iter().chain(&number).chain([&wish.name]).chain(&options));
    run_shown(writer, launch(&program, [number, options].concat(), &wish.name).shown_as(&shown))?;
    let all = match wish.append {
        true => Difference { add: wish.members.clone(), ..Difference::default() },
        false => Difference { replace: Some(wish.members.clone()), ..Difference::default() },
    };
    apply(writer, wish, &all)
}

fn apply(writer: &mut Writer<'_>, wish: &DesiredGroup, difference: &Difference) -> Result<(), Raised> {
    if let Some(gid) = difference.gid {
        let mut arguments = vec!["-g".to_owned(), gid.to_string()];
        if wish.non_unique {
            arguments.push("-o".into());
        }
        run(writer, "groupmod", arguments, &wish.name)?;
    }
    if let Some(members) = &difference.replace {
        run(writer, "gpasswd", vec!["-M".into(), members.join(",")], &wish.name)?;
    }
    for member in &difference.add {
        run(writer, "gpasswd", vec!["-a".into(), member.clone()], &wish.name)?;
    }
    for member in &difference.remove {
        run(writer, "gpasswd", vec!["-d".into(), member.clone()], &wish.name)?;
    }
    Ok(())
}

fn run(writer: &mut Writer<'_>, program: &str, arguments: Vec<String>, name: &str) -> Result<(), Raised> {
    run_shown(writer, launch(program, arguments, name).shown_as_words())
}

fn launch(program: &str, mut arguments: Vec<String>, name: &str) -> Launch {
    arguments.extend(["--".to_owned(), name.to_owned()]);
    Launch::program(program, arguments)
}

fn run_shown(writer: &mut Writer<'_>, launch: Launch) -> Result<(), Raised> {
    let outcome = writer.launch(&launch).map_err(|failure| failure.into_raised(&launch));
    writer.caches.users.forget();
    require_success(&launch, &outcome?, &[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(members: &[&str], excluded: &[&str], append: bool, sentences: &[&str]) {
        let names = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
        let current = MachineGroup { name: "x".into(), gid: 5, members: names(&["a", "b"]) };
        let wish =
            DesiredGroup { members: names(members), excluded: names(excluded), append, ..DesiredGroup::default() };
        let changes = compare(&wish, &current).changes;
        assert_eq!(changes.iter().map(|change| change.what.as_str()).collect::<Vec<_>>(), sentences);
    }

    #[test]
    fn members_are_replaced_or_added() {
        check(&["b", "a"], &[], false, &[]);
        check(&["a", "c"], &[], false, &["replace group members with new list of members: a, c"]);
        check(&[], &[], false, &["replace group members with new list of members: "]);
        check(&["a"], &[], true, &[]);
        check(&["c", "a"], &["b", "d"], true, &["add missing member(s): c", "remove existing member(s): b"]);
    }
}
