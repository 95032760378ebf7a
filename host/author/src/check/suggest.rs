//! Suggests the lines of the operator's grants file that a cookbook needs according to its text. Computed needs are not among
//! them: a dry run with `wrun grants suggest` finds those.

use super::needs::{Kind, Need, Needs, kinds_of_type};
use grants::{Addition, Grants, is_harmless_fact, script_entry};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use text::{toml_key, toml_string};

/// Grants' keys and the kinds of needs that they are for.
const KEYS: [(&str, Kind); 15] = [
    ("paths", Kind::Paths),
    ("read_paths", Kind::ReadPaths),
    ("packages", Kind::Packages),
    ("services", Kind::Services),
    ("users", Kind::Users),
    ("groups", Kind::Groups),
    ("cron_users", Kind::CronUsers),
    ("mounts", Kind::Mounts),
    ("kernel_modules", Kind::KernelModules),
    ("download_hosts", Kind::Hosts),
    ("data_bags", Kind::DataBags),
    ("search", Kind::Searches),
    ("environment", Kind::Environment),
    ("facts", Kind::Facts),
    ("write_attributes", Kind::WrittenAttributes),
];

/// Returns the table of a policy for the operator's file; empty if nothing is needed. Entries that only some Linux families
/// need are comments.
pub fn table(policy: &str, needs: &Needs) -> String {
    let mut by_families: BTreeMap<String, Vec<(&str, Vec<String>)>> = BTreeMap::new();
    for Entry { key, value, need } in entries(needs) {
        let families = need.families.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
        let by_key = by_families.entry(families).or_default();
        match by_key.last_mut().filter(|(last, _)| *last == key) {
            Some((_, values)) => values.push(value),
            None => by_key.push((key, vec![value])),
        }
    }
    let mut lines = String::new();
    for (families, by_key) in by_families {
        let mut own = String::new();
        by_key.iter().for_each(|(key, values)| add(&mut own, key, values));
        if families.is_empty() {
            lines.push_str(&own);
            continue;
        }
        let _infallible = writeln!(lines, "# Only on {families}:");
        for line in own.lines() {
            let _infallible = writeln!(lines, "# {line}");
        }
    }
    if lines.is_empty() { lines } else { format!("[policy.{}]\n{lines}", toml_key(policy)) }
}

/// Returns the entries of a policy's table that would meet the needs of one of its cookbooks.
#[must_use]
pub fn additions(policy: &str, needs: &Needs) -> Vec<Addition> {
    let addition = |Entry { key, value, .. }| Addition { policy: policy.to_owned(), key: key.to_owned(), value };
    entries(needs).into_iter().map(addition).collect()
}

/// Returns the keys of grants that the actions of a built-in resource type may need, in the order of [`KEYS`].
pub fn grant_keys(resource_type: &str) -> Vec<&'static str> {
    let kinds = kinds_of_type(resource_type);
    let lists = KEYS.iter().filter(|(_, kind)| kinds.contains(kind)).map(|(key, _)| *key);
    let runs = kinds.contains(&Kind::Commands) || kinds.contains(&Kind::Scripts);
    let others = [("commands", runs), ("reboot", kinds.contains(&Kind::Reboot))];
    lists.chain(others.into_iter().filter(|(_, is_needed)| *is_needed).map(|(key, _)| key)).collect()
}

/// One entry of a policy's table that would meet a need.
pub(super) struct Entry<'n> {
    /// The key of the policy's table, as in `packages`.
    pub(super) key: &'static str,
    /// The entry as TOML: `"nginx"`, `{ interpreter = ["bash"], script_sha256 = ".." }`, `true`.
    pub(super) value: String,
    /// The need with its places.
    pub(super) need: &'n Need,
}

impl Entry<'_> {
    /// Tells whether the entry is valid in grants. An invalid one, such as a path with `..`, would make the whole file
    /// invalid.
    fn is_sound(&self) -> bool {
        let Self { key, value, .. } = self;
        let list = if *key == "reboot" { value.clone() } else { format!("[{value}]") };
        Grants::parse(&format!("[policy.a]\n{key} = {list}\n"), "entry").is_ok()
    }
}

/// Returns the entries that would meet the needs, those of one key together.
pub(super) fn entries(needs: &Needs) -> Vec<Entry<'_>> {
    let names = |key, kind| wanted(needs, kind).map(move |(name, need)| Entry { key, value: toml_string(name), need });
    let scripts = wanted(needs, Kind::Scripts).map(|(code, need)| {
        let interpreter = need.note.clone().unwrap_or_default();
        let value = script_entry(&[interpreter], code);
        Entry { key: "commands", value, need }
    });
    let reboot =
        wanted(needs, Kind::Reboot).take(1).map(|(_, need)| Entry { key: "reboot", value: "true".to_owned(), need });
    let lists = KEYS.iter().flat_map(|(key, kind)| names(*key, *kind));
    // A need with a note is a complete entry already, and the note has the command's text.
    let commands = wanted(needs, Kind::Commands).map(|(name, need)| {
        let value = if need.note.is_some() { name.to_owned() } else { toml_string(name) };
        Entry { key: "commands", value, need }
    });
    let all = lists.chain(commands).chain(scripts).chain(reboot);
    all.filter(Entry::is_sound).collect()
}

/// Returns the needs on Linux that an entry can express. A name with pattern characters is left out, because it would grant
/// more than is needed.
fn wanted(needs: &Needs, kind: Kind) -> impl Iterator<Item = (&str, &Need)> {
    let is_path = matches!(kind, Kind::Paths | Kind::ReadPaths);
    let is_code = matches!(kind, Kind::Commands | Kind::Scripts);
    let known = needs.known.get(&kind);
    // A grant of a fact includes everything below it.
    let is_within = move |name: &str| {
        let mut wider = name.rmatch_indices('.').filter_map(|(at, _)| name.get(..at));
        kind == Kind::Facts
            && wider.any(|wider| known.is_some_and(|known| known.get(wider).is_some_and(|need| need.here)))
    };
    let is_free = move |name: &str| kind == Kind::Facts && is_harmless_fact(name);
    let asked = known.into_iter().flatten().filter(move |(name, _)| !is_within(name) && !is_free(name));
    asked.filter_map(move |(name, need)| {
        // Invalid bytes were replaced by U+FFFD.
        let is_text = !name.is_empty() && !name.contains('\u{fffd}');
        let fits = (!is_path || name.starts_with('/')) && (is_code || !name.contains(['*', '?', '[', '{']));
        (need.here && is_text && fits).then_some((name.as_str(), need))
    })
}

fn add(lines: &mut String, key: &str, values: &[String]) {
    match values {
        [] => {}
        [flag] if flag == "true" => drop(writeln!(lines, "{key} = true")),
        [only] => drop(writeln!(lines, "{key} = [{only}]")),
        several => drop(writeln!(lines, "{key} = [\n    {},\n]", several.join(",\n    "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_suggested_is_a_grants_file() {
        let mut needs = Needs::default();
        let mut add = |kind: Kind, name: &str, here: bool, note: Option<&str>| {
            let need = Need { here, note: note.map(str::to_owned), ..Need::default() };
            needs.known.entry(kind).or_default().insert(name.to_owned(), need);
        };
        add(Kind::Paths, "/etc/a b\"c", true, None);
        add(Kind::Paths, "C:\\windows", true, None);
        add(Kind::Paths, "/etc/windows", false, None);
        add(Kind::Packages, "nginx", true, None);
        add(Kind::Packages, "*", true, None);
        add(Kind::Packages, "a\u{fffd}", true, None);
        add(Kind::Commands, "ls | grep '\u{1b}'", true, None);
        add(Kind::Scripts, "set -e\necho \"x\"\n", true, Some("bash"));
        add(Kind::Hosts, "https://example.org", true, None);
        let table = table("a.b", &needs);
        let parsed = Grants::parse(&table, "suggested").unwrap();
        assert_eq!(parsed.policy_names().collect::<Vec<_>>(), ["a.b"]);
        assert!(table.contains("nginx") && !table.contains("windows") && !table.contains(['*', '\u{fffd}']), "{table}");
        assert_eq!(super::table("a", &Needs::default()), "");
        let families = ["amazon", "rhel"].map(str::to_owned).into();
        let of_some = Need { here: true, families, ..Need::default() };
        needs.known.entry(Kind::Packages).or_default().insert("epel".to_owned(), of_some);
        let table = super::table("a", &needs);
        assert!(table.ends_with("# Only on amazon, rhel:\n# packages = [\"epel\"]\n"), "{table}");
    }

    #[test]
    fn each_type_has_the_keys_that_its_needs_are_for() {
        for (kind, keys) in [
            ("file", &["paths"][..]),
            ("remote_file", &["paths", "download_hosts"]),
            ("package", &["packages"]),
            ("systemd_unit", &["paths", "services"]),
            ("linux_user", &["users"]),
            ("cron_d", &["paths", "cron_users"]),
            ("bash", &["commands"]),
            ("execute", &["commands"]),
            ("reboot", &["reboot"]),
            ("apt_repository", &["paths", "download_hosts", "commands"]),
            ("log", &[]),
        ] {
            assert_eq!(grant_keys(kind), keys, "{kind}");
        }
        // Whatever a type needs can be granted.
        for kind in schema::reference::all().map(|found| found.name) {
            assert_eq!(grant_keys(kind).is_empty(), kinds_of_type(kind).is_empty(), "{kind}");
        }
    }

    #[test]
    fn what_is_suggested_is_literal() {
        let mut needs = Needs::default();
        let signs = ["<any>", "<rest>", "<is:a>", "<path:/**>", "a*", "a?", "[*]", "/srv/*", "/srv/../etc", "*.*"];
        for kind in KEYS.into_iter().map(|(_, kind)| kind).chain([Kind::Commands, Kind::Scripts]) {
            for sign in signs {
                let note = (kind == Kind::Scripts).then(|| "bash".to_owned());
                let need = Need { here: true, note, ..Need::default() };
                needs.known.entry(kind).or_default().insert(sign.to_owned(), need);
            }
        }
        let parsed = Grants::parse(&table("a", &needs), "suggested").unwrap();
        let policy = parsed.policy("a", &[]);
        let bash = [String::from("bash")];
        let allows = |line| policy.command(&grants::CommandAsked { line, ..ASKED }).is_ok();
        let script = |code| allows(grants::LineAsked::Script { interpreter: &bash, code });
        assert!(script("<any>") && script("a*") && !script("id"));
        assert!(allows(grants::LineAsked::Text("a*")) && allows(grants::LineAsked::Text("<any>")));
        for line in ["id", "ab", "id | cat", "a", "/srv/x"] {
            assert!(!allows(grants::LineAsked::Text(line)), "{line}");
        }
        for path in ["/etc", "/srv/x", "/srv/*"] {
            assert!(policy.manage_path(path).is_err() && policy.read_path(path).is_err(), "{path}");
        }
        assert!(policy.package("ab").is_err() && policy.service("ab").is_err());
    }

    const ASKED: grants::CommandAsked<'_> = grants::CommandAsked::plain(grants::LineAsked::Text(""));
}
