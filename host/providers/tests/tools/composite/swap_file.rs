//! The steps and parts of a swap file.

use super::{check_denied, composition, survey};
use crate::support::{Bench, run};
use contract::{Account, AccountLimits, ChildRow, Composition, Meters, Property, Providers as _, Purpose, Wanted};
use providers::{MachineProviders, Settings};
use serde_json::json;
use std::os::unix::fs::MetadataExt as _;
use std::sync::Arc;

#[test]
fn a_swap_file_is_made_by_steps_of_the_action_itself() {
    let made =
        composition("swap_file", "/swap", "create", json!({ "size": 2, "persist": true, "swappiness": 5 })).unwrap();
    let sentences: Vec<_> = made.changes.iter().map(|change| change.what.as_str()).collect();
    assert_eq!(
        sentences,
        [
            "create empty swapfile at /swap",
            "set permissions on /swap to 600",
            "make /swap swappable",
            "enable swap for /swap",
            "add `/swap swap swap defaults 0 0` to /etc/fstab"
        ]
    );
    let swapped_on =
        |made: &Composition| made.children.iter().any(|child| child.declaration.key() == "execute[swapon]");
    assert!(!swapped_on(&made), "nothing swaps below another root");
    let made = survey("swap_file", "/swap", "create", json!({ "size": 2, "persist": true, "swappiness": 5 }));
    assert!(swapped_on(&made));
    let rows: Vec<_> = made.children.iter().map(|child| (child.declaration.key(), child.row)).collect();
    let never = |key: &str| (key.to_owned(), ChildRow::Never);
    let sysctl = ("sysctl[vm.swappiness]".to_owned(), ChildRow::Always);
    let steps = ["file[/swap]", "execute[swapon]", "file[/etc/fstab]"];
    assert_eq!(rows, Vec::from_iter(steps.map(never).into_iter().chain([sysctl])));
    for (name, properties) in [("swap", json!({ "size": 1 })), ("/a b", json!({ "size": 1 })), ("/swap", json!({}))] {
        assert!(composition("swap_file", name, "create", properties).is_err(), "{name}");
    }
    assert!(composition("swap_file", "/swap", "create", json!({ "size": "large" })).is_err());
}

/// Rights to `dd of=/srv/swap` and `mkswap /srv/swap` would reach every file, by a link at that path.
#[test]
fn attack_a_swap_file_needs_no_command_that_writes_where_a_link_leads() {
    let bench = Bench::new("commands = [\"swapon /srv/swap\", \"swapoff /srv/swap\"]\n");
    std::fs::create_dir_all(bench.path("srv")).unwrap();
    std::fs::write(bench.path("etc/shadow"), "kept").unwrap();
    let declaration = bench.declaration("swap_file", "/srv/swap", json!({ "size": 1 }));
    let mut providers = bench.providers(false);
    let wanted = |action, why_run| Wanted { resource: 0, declaration: &declaration, action, resolved: vec![], why_run };
    let everything = providers.compose(&wanted("create", false), Purpose::Survey).unwrap();
    let commands = everything.children.iter().filter(|child| child.declaration.kind == "execute");
    assert_eq!(commands.map(|child| child.declaration.name.as_str()).collect::<Vec<_>>(), ["swapon"]);
    let made = providers.compose(&wanted("create", false), Purpose::Action).unwrap();
    let file = &made.children[0].declaration;
    std::os::unix::fs::symlink("/etc/shadow", bench.path("srv/swap")).unwrap();
    run(&mut providers, file, "create", false).unwrap_err();
    assert_eq!(bench.read("etc/shadow"), "kept");
    std::fs::remove_file(bench.path("srv/swap")).unwrap();
    run(&mut providers, file, "create", false).unwrap();
    let content = std::fs::read(bench.path("srv/swap")).unwrap();
    assert_eq!(content.len(), 1 << 20);
    assert!(content[..1 << 17].windows(10).any(|bytes| bytes == b"SWAPSPACE2"), "it has the header of a swap file");
    let about = std::fs::metadata(bench.path("srv/swap")).unwrap();
    assert_eq!(about.mode() & 0o7777, 0o600);
    assert_eq!(about.blocks(), 2048, "it has no holes");
    assert!(!run(&mut providers, file, "create", false).unwrap().updated);
    // Its line in the table is a part of the right to use the file, and no right to other lines.
    let declaration = bench.declaration("swap_file", "/srv/swap", json!({ "size": 1, "persist": true }));
    std::fs::remove_file(bench.path("srv/swap")).unwrap();
    std::fs::write(bench.path("etc/fstab"), "tmpfs /tmp tmpfs").unwrap();
    let wanted = Wanted { resource: 0, declaration: &declaration, action: "create", resolved: vec![], why_run: false };
    let made = providers.compose(&wanted, Purpose::Action).unwrap();
    let table = &made.children.last().unwrap().declaration;
    run(&mut providers, table, "create", false).unwrap();
    assert_eq!(bench.read("etc/fstab"), "tmpfs /tmp tmpfs\n/srv/swap swap swap defaults 0 0\n");
    check_denied(bench.run("file", "/etc/fstab", "create", json!({ "content": "" })), "/etc/fstab");
    // Something else needs the right to its path, to be replaced or removed. What other processes swapped is not read.
    std::fs::write(bench.path("srv/swap"), "theirs").unwrap();
    let declaration = bench.declaration("swap_file", "/srv/swap", json!({ "size": 1 }));
    let wanted = |action| Wanted { resource: 0, declaration: &declaration, action, resolved: vec![], why_run: false };
    let removal = |providers: &mut MachineProviders| {
        let made = providers.compose(&wanted("remove"), Purpose::Action).unwrap();
        run(providers, &made.children[0].declaration, "delete", false)
    };
    check_denied(providers.compose(&wanted("create"), Purpose::Survey), "/srv/swap");
    check_denied(removal(&mut providers), "/srv/swap");
    assert_eq!(bench.read("srv/swap"), "theirs");
    std::fs::remove_file(bench.path("srv/swap")).unwrap();
    run(&mut providers, file, "create", false).unwrap();
    let read = json!({ "source": "file:///srv/swap" });
    check_denied(bench.run("remote_file", "/srv/copy", "create", read), "/srv");
    removal(&mut providers).unwrap();
    assert!(!bench.path("srv/swap").exists());
}

#[test]
fn a_swap_file_is_charged_and_takes_no_longer_than_it_may() {
    for (limits, properties, expected) in [
        (AccountLimits { disk: 1 << 20, ..AccountLimits::default() }, json!({ "size": 2 }), "Disk quota"),
        (AccountLimits::default(), json!({ "size": 2, "timeout": 0 }), "property `timeout`"),
    ] {
        let bench = Bench::new("").unlimited();
        let account = Account::new("database", limits, Meters::default());
        let settings = Settings { account, ..bench.settings(false) };
        let mut providers = MachineProviders::new(Arc::new(settings)).unwrap();
        let declaration = bench.declaration("swap_file", "/swap", properties);
        let wanted =
            Wanted { resource: 0, declaration: &declaration, action: "create", resolved: vec![], why_run: false };
        let made = providers.compose(&wanted, Purpose::Action).unwrap();
        let raised = run(&mut providers, &made.children[0].declaration, "create", false).unwrap_err();
        let said = format!("{} {}", raised.message, raised.hint.unwrap_or_default());
        assert!(said.contains(expected), "{said}");
        assert_eq!(std::fs::read_dir(&bench.root).unwrap().count(), 1, "nothing but /etc is there");
    }
}

/// Root's tools get the path as text, and would follow whatever link is there when they look.
#[test]
fn a_swap_file_lies_where_nobody_but_root_may_exchange_it() {
    let bench = Bench::new("").unlimited();
    for folder in ["app", "srv/own"] {
        std::fs::create_dir_all(bench.path(folder)).unwrap();
    }
    std::fs::write(bench.path("etc/shadow"), "kept").unwrap();
    let link = |to: &str, at: &str| std::os::unix::fs::symlink(to, bench.path(at)).unwrap();
    link("/etc/shadow", "srv/own/swap");
    link("/etc/absent", "srv/own/dangling");
    link("/srv/own", "srv/way");
    std::os::unix::fs::chown(bench.path("app"), Some(65534), None).unwrap();
    let compose = |name: &str, action: &str| {
        let declaration = bench.declaration("swap_file", name, json!({ "size": 1 }));
        let wanted = Wanted { resource: 0, declaration: &declaration, action, resolved: vec![], why_run: false };
        bench.providers(false).compose(&wanted, Purpose::Survey)
    };
    for name in ["/srv/own/swap", "/srv/own/dangling", "/srv/way/new", "/app/new", "/srv/own/../own/new", "/absent/new"]
    {
        for action in ["create", "remove"] {
            assert!(compose(name, action).is_err(), "{action} {name}");
        }
    }
    assert!(compose("/srv/own/new", "create").is_ok() && compose("/srv/own/new", "remove").is_ok());
}

#[test]
fn attack_a_part_of_a_swap_file_has_its_right_only_as_it_was_chosen() {
    let made = survey("swap_file", "/swap", "create", json!({ "size": 1, "persist": true }));
    let files = made.children.into_iter().map(|child| child.declaration).filter(|part| part.kind == "file");
    let changed = files.map(|mut part| {
        assert!(part.own_part().is_some(), "{part:?}");
        part.properties.push(("mode".into(), Property::Plain(json!("0666"))));
        part.own_part().is_none()
    });
    assert_eq!(changed.collect::<Vec<_>>(), [true, true]);
}

/// A right to use any swap file would otherwise make files at every free path: `/etc/nologin` locks all users out.
#[test]
fn attack_a_placeholder_for_a_swap_file_makes_none_at_privileged_paths_or_those_of_others() {
    let rules = "commands = [{ argv = [\"swapon\", \"<path:/**>\"] }, { argv = [\"swapoff\", \"<any>\"] }, \
                 \"swapon /etc/named\"]\n[policy.other]\npaths = [\"/srv/theirs/**\"]\n";
    let bench = Bench::new(rules);
    for folder in ["etc/apt/apt.conf.d", "srv/theirs", "root"] {
        std::fs::create_dir_all(bench.path(folder)).unwrap();
    }
    let act = |path: &str, action: &str| {
        let declaration = bench.declaration("swap_file", path, json!({ "size": 1 }));
        let wanted = Wanted { resource: 0, declaration: &declaration, action, resolved: vec![], why_run: false };
        let mut providers = bench.providers(false);
        let made = providers.compose(&wanted, Purpose::Action).unwrap();
        let part = &made.children.first().unwrap().declaration;
        run(&mut providers, part, &part.actions[0], false)
    };
    for path in ["/etc/nologin", "/etc/apt/apt.conf.d/00x", "/srv/theirs/config", "/root/.bashrc"] {
        check_denied(act(path, "create"), path);
        assert!(!bench.path(path.trim_start_matches('/')).exists(), "{path}");
    }
    for path in ["/srv/swap", "/etc/named"] {
        act(path, "create").unwrap();
    }
    act("/srv/swap", "remove").unwrap();
    check_denied(act("/etc/named", "remove"), "/etc/named");
    assert!(bench.path("etc/named").exists());
}

/// The lines of others in the table of file systems may have passwords, and the next start needs all of them.
#[test]
fn attack_the_line_of_a_swap_file_takes_and_shows_no_lines_of_others() {
    let bench = Bench::new("commands = [\"swapon /srv/swap\"]\n");
    std::fs::create_dir_all(bench.path("srv")).unwrap();
    let declaration = bench.declaration("swap_file", "/srv/swap", json!({ "size": 1, "persist": true }));
    let wanted = Wanted { resource: 0, declaration: &declaration, action: "create", resolved: vec![], why_run: false };
    let mut providers = bench.providers(false);
    let too_large = format!("LABEL=x /srv/data ext4 defaults 0 2\n#{}\n", "#".repeat(1 << 20));
    for (table, expected) in
        [(&b"LABEL=x /srv/m\xfcller ext4 defaults 0 2\n"[..], "is not UTF-8"), (too_large.as_bytes(), "is larger than")]
    {
        std::fs::write(bench.path("etc/fstab"), table).unwrap();
        let raised = providers.compose(&wanted, Purpose::Action).unwrap_err();
        assert!(raised.message.starts_with(&format!("/etc/fstab {expected}")), "{}", raised.message);
    }
    std::fs::remove_file(bench.path("etc/fstab")).unwrap();
    std::fs::create_dir(bench.path("etc/fstab")).unwrap();
    providers.compose(&wanted, Purpose::Action).unwrap_err();
    std::fs::remove_dir(bench.path("etc/fstab")).unwrap();
    let theirs = "//nas/share /srv/data cifs username=ops,password=SECRET 0 0\n";
    std::fs::write(bench.path("etc/fstab"), theirs).unwrap();
    let made = providers.compose(&wanted, Purpose::Action).unwrap();
    let sentences: Vec<&str> = made.changes.iter().map(|change| change.what.as_str()).collect();
    let line = "/srv/swap swap swap defaults 0 0";
    assert_eq!(sentences.last().copied(), Some(&*format!("add `{line}` to /etc/fstab")));
    let table = &made.children.last().unwrap().declaration;
    assert!(!format!("{table:?}").contains("SECRET"), "a guest reads what a part declares: {table:?}");
    // The file is filled in between, which takes a while.
    let meanwhile = "LABEL=y /srv/added ext4 defaults 0 2\n";
    std::fs::write(bench.path("etc/fstab"), format!("{theirs}{meanwhile}")).unwrap();
    let plan = run(&mut providers, table, "create", false).unwrap();
    assert!(plan.updated && !format!("{plan:?}").contains("SECRET"), "{plan:?}");
    assert_eq!(bench.read("etc/fstab"), format!("{theirs}{meanwhile}{line}\n"));
    assert!(!run(&mut providers, table, "create", false).unwrap().updated);
}
