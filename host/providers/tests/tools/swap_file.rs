//! Swap files: what the right to use one leaves alone.

use crate::composite::check_denied;
use crate::support::{Bench, run};
use contract::{Providers as _, Purpose, Wanted};
use serde_json::json;

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
