//! Rules that nobody needs.

#![cfg(test)]

use grants::{Grants, Needs};

fn grants(table: &str) -> Grants {
    Grants::parse(&format!("[policy.web]\n{table}"), "g.toml").unwrap()
}

#[track_caller]
fn unused(table: &str, needs: &[&str], expect: &[&str]) {
    let needs: Vec<_> =
        needs.iter().map(|text| Needs::parse(&format!("[needs]\n{text}"), "policy.toml").unwrap()).collect();
    let found = grants(table).policy("web", &[]).unused(&needs.iter().collect::<Vec<_>>());
    let shown: Vec<_> = found.iter().map(|rule| format!("{}: {} {}", rule.line, rule.key, rule.text)).collect();
    assert_eq!(shown, expect);
}

#[test]
fn rules_that_no_needs_ask_for_are_found() {
    unused(
        "packages = [\"nginx\", \"php-*\"]\npaths = [\"/srv/**\", \"/etc/motd\"]\ndeny_paths = [\"/srv/x\"]\nservices = [\"ssh\"]\n",
        &["packages = [\"php-fpm\"]\nread_paths = [\"/etc/motd\"]\n", "services = [\"ssh.service\"]\n"],
        &["2: packages nginx", "3: paths /srv/**"],
    );
    unused(
        "commands = [\"ls\", { argv = [\"rm\", \"<rest>\"] }]\nprivileged_paths = [\"/etc/cron.d/x\"]\n",
        &["commands = [\"rm -r x\"]\n"],
        &["2: commands \"ls\"", "3: privileged_paths /etc/cron.d/x"],
    );
    // A need that is wider than the rule uses it.
    unused(
        "paths = [\"/etc/motd\"]\nenvironment = [\"LANG\"]\n",
        &["paths = [\"/etc/*\"]\n"],
        &["3: environment LANG"],
    );
    unused("facts = [\"memory\", \"network\"]\n", &["facts = [\"memory.total\"]\n"], &["2: facts network"]);
    unused("cron_users = [\"www\"]\n", &["paths = [\"/etc/cron.d/x\"]\n"], &[]);
}

#[track_caller]
fn covered(table: &str, expect: &[&str]) {
    let found = grants(table).policy("web", &[]).covered();
    let shown: Vec<_> = found
        .iter()
        .map(|(rule, by)| format!("{}: {} {} by {}: {} {}", rule.line, rule.key, rule.text, by.line, by.key, by.text))
        .collect();
    assert_eq!(shown, expect);
}

#[test]
fn rules_that_another_one_makes_needless_are_found() {
    covered("paths = [\"/srv/a\", \"/srv/**\"]\n", &["2: paths /srv/a by 2: paths /srv/**"]);
    covered("paths = [\"/etc/sudoers\", \"/etc/**\"]\n", &[]);
    covered("paths = [\"/etc/mysql/**\", \"/etc/**\"]\n", &[]);
    covered(
        "paths = [\"/etc/sudoers\"]\nprivileged_paths = [\"/etc/**\"]\n",
        &["2: paths /etc/sudoers by 3: privileged_paths /etc/**"],
    );
    // A deny between them makes the narrower one count.
    covered("paths = [\"/srv/a/b\", \"/srv/**\"]\ndeny_paths = [\"/srv/a/**\"]\n", &[]);
    covered("write_attributes = [\"a\", \"a.b\"]\n", &["2: write_attributes a.b by 2: write_attributes a"]);
    covered("data_bags = [\"a/b\", \"a\"]\n", &["2: data_bags a/b by 2: data_bags a"]);
    covered("packages = [\n\"x\",\n\"x\",\n]\n", &["4: packages x by 3: packages x"]);
    // Managing a path includes reading it, unless reading is denied.
    covered(
        "read_paths = [\"/etc/x\", \"/etc/y\"]\npaths = [\"/etc/x\"]\n",
        &["2: read_paths /etc/x by 3: paths /etc/x"],
    );
    covered("read_paths = [\"/srv/a/b\"]\npaths = [\"/srv/**\"]\n", &["2: read_paths /srv/a/b by 3: paths /srv/**"]);
    covered("read_paths = [\"/etc/x\"]\npaths = [\"/etc/x\"]\ndeny_read_paths = [\"/etc/**\"]\n", &[]);
    covered("read_paths = [\"/etc/shadow\"]\npaths = [\"/etc/**\"]\n", &[]);
    covered(
        "commands = [{ argv = [\"ls\", \"<rest>\"] }, \"ls /\"]\n",
        &["2: commands \"ls /\" by 2: commands { argv = [\"ls\", \"<rest>\"] }"],
    );
}

#[test]
fn a_tables_place_is_known() {
    let grants = Grants::parse("\n[policy.web]\n[policy.db]\n", "g.toml").unwrap();
    assert_eq!((grants.place_of("db"), grants.place_of("x")), (Some(("g.toml", 3)), None));
}

#[test]
fn rules_that_reach_less_than_they_seem_to_are_found() {
    let table = "paths = [\"/etc/**\", \"/srv/**\",\n\"/var/**\"]\nread_paths = [\"/etc/*.conf\", \"/etc/mysql/**\"]\n\
                 privileged_paths = [\"/etc/**\"]\ndeny_paths = [\"/etc/**\"]\nsetuid = [\"/usr/local/**\"]\n";
    let found = grants(table).policy("web", &[]).short_rules();
    let shown: Vec<_> = found.iter().map(|rule| format!("{}: {}", rule.place.line, rule.sentence())).collect();
    let how = |place: &str| {
        format!("a rule with wildcards must name an application's directory there, as `{place}/NAME/**` does")
    };
    let expect = [
        format!("2: paths /etc/** reaches nothing: {}", how("/etc")),
        format!("3: paths /var/** reaches nothing below /var/lib, /var/cache: {}", how("/var/lib")),
        format!("4: read_paths /etc/*.conf reaches nothing: {}", how("/etc")),
        format!("7: setuid /usr/local/** reaches nothing: {}", how("/usr/local")),
    ];
    assert_eq!(shown, expect);
}

/// Whoever writes a set of characters, as a shell has it, allows or denies nothing.
#[test]
fn brackets_that_stand_for_themselves_are_found() {
    let table = "paths = [\"/srv/[a\", \"/srv/[*]\", \"/srv/a[[]b\"]\ndeny_paths = [\"/srv/[a-z]*\"]\n\
                 services = [\"web[0-9]\"]\ndownload_hosts = [\"http://[::1]\"]\n";
    let found = grants(table).policy("web", &[]).bare_brackets();
    let lines: Vec<_> = found.iter().map(|(line, _)| *line).collect();
    assert_eq!(lines, [2, 3, 4], "{found:?}");
    assert!(found[0].1.starts_with("in paths /srv/[a the bracket `[` stands for itself: "), "{found:?}");
    assert!(found[1].1.starts_with("in deny_paths /srv/[a-z]* the bracket"), "{found:?}");
}
