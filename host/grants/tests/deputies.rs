//! A right to the outer thing is not a right to the inner one: each deputy has its rule, and here its test.

#![cfg(test)]

mod support;

use grants::{CommandAsked, Grants, LineAsked, MountAsked, PolicyGrants, Standing};
use support::{denied_until_granted, policy};

fn shell(line: &str) -> CommandAsked<'_> {
    CommandAsked::plain(LineAsked::Text(line))
}

#[test]
fn wide_accounts_need_their_names() {
    let wide = policy("users = [\"*\"]\ngroups = [\"*\"]\ncron_users = [\"*\"]");
    for standing in [Standing::System, Standing::Elevated] {
        assert!(wide.user("ann", standing).is_err() && wide.group("team", standing).is_err());
        assert!(wide.crontab("ann", standing).is_err());
        assert!(wide.cron_entry("/etc/cron.d/x", "ann", standing).is_err());
        let named = policy("users = [\"ann\"]\ngroups = [\"team\"]\ncron_users = [\"ann\"]");
        assert!(named.user("ann", standing).is_ok() && named.group("team", standing).is_ok());
        assert!(named.crontab("ann", standing).is_ok());
    }
    for group in
        ["incus-admin", "incus", "microk8s", "snap_daemon", "ssl-cert", "wireshark", "input", "video", "render"]
    {
        assert!(wide.group(group, Standing::Ordinary).is_err(), "{group}");
    }
    // A number is another account's to many programs.
    for number in ["0", "1000"] {
        let table = format!("users = [\"{number}\", \"*\"]\ngroups = [\"{number}\"]\ncron_users = [\"{number}\"]");
        let grants = policy(&table);
        assert!(grants.user(number, Standing::Ordinary).is_err() && grants.group(number, Standing::Ordinary).is_err());
        assert!(grants.crontab(number, Standing::Ordinary).is_err());
    }
    let own = policy("users = [\"mysql\"]");
    let mysql = own.user("mysql", Standing::System).unwrap();
    assert!(own.membership(&mysql, "mysql", Standing::System).is_ok());
    assert!(own.membership(&mysql, "mysql", Standing::Elevated).is_err());
}

#[test]
fn package_options_that_run_commands_are_refused() {
    let options = |words: &'static [&'static str]| {
        move |grants: &PolicyGrants| grants.package_options(&words.iter().map(ToString::to_string).collect::<Vec<_>>())
    };
    denied_until_granted("packages = [\"*\"]", options(&["DPkg::Pre-Invoke::=touch /pwned"]));
    denied_until_granted("packages = [\"*\"]", options(&["-oDPkg::Pre-Invoke::=x"]));
    denied_until_granted("packages = [\"*\"]", options(&["--allow-unauthenticated"]));
    assert!(options(&["--no-install-recommends"])(&policy("")).is_ok());
}

#[test]
fn debconf_frontend_is_no_place_for_code() {
    let code = "noninteractive; BEGIN { system(q(id>).chr(47).q(pwned)) } #";
    let variable = |name: &str, value: &str| vec![(name.to_owned(), value.to_owned())];
    let table = "packages = [\"ssl-cert\"]";
    for (name, value) in [("DEBIAN_FRONTEND", code), ("DEBIAN_PRIORITY", code), ("LANG", "C;id"), ("TZ", "$(id)")] {
        denied_until_granted(table, |grants| grants.package_environment(&variable(name, value)));
    }
    for wide in ["*", "DEBIAN_FRONTEND=*"] {
        let grants = policy(&format!("package_environment = [\"{wide}\"]"));
        assert!(grants.package_environment(&variable("DEBIAN_FRONTEND", code)).is_err(), "{wide}");
    }
    for value in ["noninteractive", "readline", "teletype", "text", "dialog", "Noninteractive"] {
        assert!(policy("").package_environment(&variable("DEBIAN_FRONTEND", value)).is_ok(), "{value}");
    }
}

#[test]
fn package_environments_and_files_are_refused() {
    let variable = |name: &str, value: &str| vec![(name.to_owned(), value.to_owned())];
    for (name, value) in
        [("LD_PRELOAD", "/tmp/x.so"), ("PATH", "/tmp"), ("APT_CONFIG", "/tmp/x"), ("DEBIAN_FRONTEND", "/tmp/x")]
    {
        denied_until_granted("packages = [\"*\"]", |grants| grants.package_environment(&variable(name, value)));
    }
    assert!(policy("").package_environment(&variable("DEBIAN_FRONTEND", "noninteractive")).is_ok());
    assert!(policy("package_environment = [\"*\"]").package_environment(&variable("LD_PRELOAD", "/x")).is_err());
    denied_until_granted("packages = [\"*\"]\npaths = [\"/tmp/**\"]", |grants| grants.package_source("/tmp/evil.deb"));
}

#[test]
fn the_right_to_a_file_is_no_right_to_a_servers_answer_and_the_reverse() {
    let table = "download_hosts = [\"https://example.org\"]\npaths = [\"/srv/**\"]";
    let grants = policy(table);
    assert!(grants.download("https://example.org/x").is_ok());
    // `file://` is a path to read; the download list says nothing about it.
    assert!(grants.download("file:///etc/shadow").is_err());
    denied_until_granted(table, |grants| grants.read_path("/etc/shadow"));
    assert!(
        policy("read_paths = [\"/etc/**\"]").read_path("/etc/shadow").is_err(),
        "a wide rule must not reach secrets"
    );
    // Redirects are asked for again, each under its own server.
    for url in [
        "https://evil.example/x",
        "http://example.org/x",
        "https://example.org:8443/x",
        "https://169.254.169.254/latest/meta-data",
        "https://[::1]/",
    ] {
        denied_until_granted(table, |grants| grants.download(url));
    }
    for url in [
        "https://example.org@evil.example/",
        "https://example.org\\@evil.example/",
        "https://example.org\t.evil.example/",
        "https:///x",
        "x",
    ] {
        assert!(grants.download(url).is_err(), "{url}");
    }
}

#[test]
fn commands_in_other_properties_are_commands() {
    denied_until_granted("paths = [\"/etc/nginx/**\"]", |grants| grants.command(&shell("nginx -t -c %{path}")));
    let lines =
        ["nginx -t -c %{path}", "grep -q 'a' < %{path}", "grep -q a '%{path}' || true", "sh -c \"cat %{path}\""];
    let rules = lines.map(|line| format!("'''{line}'''"));
    let grants = policy(&format!("commands = [{}]", rules.join(", ")));
    let about = |line: &str, path: &str| {
        let granted = grants.command(&shell(line)).unwrap().with_path(path)?;
        Some(granted.program().clone())
    };
    let words = |words: &[&str]| Some(grants::Program::Arguments(words.iter().map(ToString::to_string).collect()));
    let line = |line: &str| Some(grants::Program::Shell(line.into()));
    let [plain, redirected, quoted, nested] = lines;
    assert_eq!(about(plain, "/etc/a b;c"), words(&["nginx", "-t", "-c", "/etc/a b;c"]));
    assert_eq!(about(redirected, "/etc/x.conf"), line("grep -q 'a' < /etc/x.conf"));
    assert_eq!(about(quoted, "/etc/x.conf"), line("grep -q a '/etc/x.conf' || true"));
    assert_eq!(about(nested, "/etc/x.conf"), words(&["sh", "-c", "cat /etc/x.conf"]));
    for odd in ["/etc/$(reboot)", "/etc/a'$(reboot)'", "/etc/a b", "/etc/a;reboot", "/etc/a\nreboot"] {
        for line in [redirected, quoted, nested] {
            assert_eq!(about(line, odd), None, "{line} {odd}");
        }
    }
}

#[test]
fn cron_jobs_run_as_somebody_who_must_be_granted() {
    denied_until_granted("cron_users = [\"mysql\"]", |grants| {
        grants.cron_entry("/etc/cron.d/job", "root", Standing::Ordinary)
    });
    let grants = policy("cron_users = [\"*\"]");
    assert!(grants.cron_entry("/etc/cron.d/job", "mysql", Standing::Ordinary).is_ok());
    assert!(
        grants.cron_entry("/etc/cron.d/job", "root", Standing::Ordinary).is_err(),
        "a wildcard must not reach root"
    );
    assert!(grants.cron_entry("/etc/cron.d/../shadow", "mysql", Standing::Ordinary).is_err());
    assert!(grants.cron_entry("/etc/shadow", "mysql", Standing::Ordinary).is_err());
    assert!(grants.manage_path("/etc/cron.d/job").is_err(), "the right to a job is not a right to the file");
    let exact = policy("paths = [\"/etc/cron.d/job\"]");
    assert!(
        exact.cron_entry("/etc/cron.d/job", "root", Standing::Ordinary).is_ok(),
        "who may write the file may write any job"
    );
    let refused = policy("cron_users = [\"mysql\"]\ndeny_paths = [\"/etc/cron.d/job\"]");
    assert!(refused.cron_entry("/etc/cron.d/job", "mysql", Standing::Ordinary).is_err());
}

#[test]
fn users_and_groups_that_are_as_good_as_root_need_their_names() {
    let table = "users = [\"*\"]\ngroups = [\"*\"]";
    denied_until_granted(table, |grants| grants.user("root", Standing::Ordinary));
    for group in ["root", "sudo", "docker", "disk", "shadow", "lxd", "adm", "wheel"] {
        denied_until_granted(table, |grants| grants.group(group, Standing::Ordinary));
        denied_until_granted(table, |grants| {
            grants.membership(&grants.user("mysql", Standing::Ordinary)?, group, Standing::Ordinary)
        });
    }
    denied_until_granted("users = [\"mysql\"]", |grants| {
        grants.membership(&grants.user("mysql", Standing::Ordinary)?, "web", Standing::Ordinary)
    });
    assert!(
        policy("users = [\"mysql\"]")
            .membership(
                &policy("users = [\"mysql\"]").user("mysql", Standing::Ordinary).unwrap(),
                "mysql",
                Standing::Ordinary
            )
            .is_ok()
    );
}

#[test]
fn numbers_are_taken_from_nobody() {
    let table = "users = [\"mysql\"]\ngroups = [\"mysql\"]";
    let user = |number, holder: Option<(&'static str, Standing)>| {
        move |grants: &PolicyGrants| grants.user_number(&grants.user("mysql", Standing::Ordinary)?, number, holder)
    };
    let group = |number, holder: Option<(&'static str, Standing)>| {
        move |grants: &PolicyGrants| grants.group_number(&grants.group("mysql", Standing::Ordinary)?, number, holder)
    };
    denied_until_granted(table, user(0, Some(("root", Standing::Ordinary))));
    denied_until_granted(table, user(0, None));
    denied_until_granted(table, user(33, Some(("www-data", Standing::Ordinary))));
    denied_until_granted(table, group(0, None));
    denied_until_granted(table, group(27, Some(("sudo", Standing::Ordinary))));
    assert!(
        user(999, None)(&policy(table)).is_ok()
            && user(999, Some(("mysql", Standing::Ordinary)))(&policy(table)).is_ok()
    );
}

#[test]
fn variables_that_choose_what_is_run_must_be_granted_with_their_value() {
    let table = "commands = [{ argv = [\"x\"], environment = { LD_PRELOAD = \"<any>\" } }]";
    let environment = [("LD_PRELOAD".to_owned(), "/tmp/x.so".to_owned())];
    let asked = CommandAsked { environment: &environment, ..shell("x") };
    assert!(policy(table).command(&asked).is_err());
    denied_until_granted("commands = [\"x\"]", |grants| grants.command(&asked));
    let harmless = [("MYSQL_HOST".to_owned(), "db".to_owned())];
    let table = "commands = [{ argv = [\"x\"], environment = { MYSQL_HOST = \"<any>\" } }]";
    assert!(policy(table).command(&CommandAsked { environment: &harmless, ..shell("x") }).is_ok());
}

/// A variable that no list knows may decide what a program reads, loads or runs.
#[test]
fn a_suggested_command_has_the_values_of_its_variables() {
    let ask = |user: Option<&str>, name: &str, value: &str| {
        let environment = [(name.to_owned(), value.to_owned())];
        let asked = CommandAsked { environment: &environment, user, ..shell("systemd-tmpfiles --create") };
        let line = policy("").command(&asked).unwrap_err().line();
        assert!(policy(&line).command(&asked).is_ok(), "{line}");
        let other = [(name.to_owned(), format!("{value}x"))];
        (policy(&line).command(&CommandAsked { environment: &other, ..asked }).is_ok(), line)
    };
    for (name, value) in [
        ("CREDENTIALS_DIRECTORY", "/srv/app/c"),
        ("UNHEARD_OF", "/srv/app/c"),
        ("UNHEARD_OF", "<any>"),
        ("UNHEARD_OF", "<sha256:00>"),
        ("DB_PASSWORD", "hunter2"),
        ("DATABASE_URL", "postgres://u:hunter2@db/x"),
    ] {
        for user in [None, Some("root"), Some("ada")] {
            let (any, line) = ask(user, name, value);
            assert!(!any && !line.contains("hunter2"), "{user:?} {line}");
        }
    }
    // Known to decide nothing; and still not for root.
    assert!(ask(Some("ada"), "RAILS_ENV", "test").0 && ask(Some("ada"), "PGPASSWORD", "hunter2").0);
    for user in [None, Some("root"), Some("daemon")] {
        assert!(!ask(user, "RAILS_ENV", "test").0 && !ask(user, "LANG", "C").0, "{user:?}");
    }
}

#[test]
fn wruns_own_package_and_services_need_their_names() {
    let wide = policy("packages = [\"*\"]\nservices = [\"*\"]");
    for name in ["wrun-agent", "wrun-agent.service", "wrun-converge.timer", "wrun-converge"] {
        assert!(wide.service(name).is_err(), "{name}");
        denied_until_granted("services = [\"wrun*\"]", |grants| grants.service(name));
    }
    // All services are not the right to restart the machine, or to open a shell of root's.
    for name in ["reboot.target", "poweroff.target", "systemd-reboot", "systemd-halt.service", "debug-shell"] {
        denied_until_granted("services = [\"*\"]", |grants| grants.service(name));
    }
    for name in ["wrun", "wrun:amd64"] {
        denied_until_granted("packages = [\"w*\"]", |grants| grants.package(name));
    }
    assert!(wide.service("wrunner").is_ok() && wide.package("nginx").is_ok());
}

#[test]
fn names_that_tools_take_for_something_else_are_no_names() {
    let grants = policy("packages = [\"*\"]\nservices = [\"*\"]\nusers = [\"*\"]\ngroups = [\"*\"]");
    for name in ["", "-oDPkg::Pre-Invoke::=x", "./evil.deb", "/tmp/evil.deb", "a b", "a,b", "a\nb", "*", "a=1"] {
        assert!(grants.package(name).is_err() && grants.service(name).is_err(), "{name}");
        assert!(
            grants.user(name, Standing::Ordinary).is_err() && grants.group(name, Standing::Ordinary).is_err(),
            "{name}"
        );
        assert!(Grants::allow_all().policy("x", &[]).package(name).is_err(), "{name}");
    }
    assert!(grants.package("libstdc++6:amd64").is_ok() && grants.service("getty@tty1").is_ok());
    // `systemctl` takes brackets for a pattern, as shells do.
    for name in ["[w]run-agent.service", "web-[p]rod", "run-glob.moun[t]", "a]", "w\u{e4}b", "web#1", "web~"] {
        assert!(grants.service(name).is_err(), "{name}");
    }
    assert!(grants.package("[c]oreutils").is_err() && grants.user("[a]nn", Standing::Ordinary).is_err());
    assert!(grants.service(r"dev-disk-by\x2dlabel-a").is_ok());
}

#[test]
fn what_starts_a_refused_service_is_refused_with_it() {
    let grants = policy("services = [\"*\"]\ndeny_services = [\"web-prod\"]");
    for name in ["web-prod", "web-prod.service", "web-prod.socket", "web-prod.timer", "web-prod.path"] {
        assert!(grants.service(name).is_err(), "{name}");
    }
    assert!(grants.service("web-prod2.socket").is_ok() && grants.service("web.socket").is_ok());
    for name in ["dbus.socket", "dbus-org.freedesktop.login1.service", "systemd-journald-dev-log.socket"] {
        denied_until_granted("services = [\"*\"]", |grants| grants.service(name));
    }
}

#[test]
fn the_right_to_a_service_is_the_right_to_enable_it_and_nothing_else() {
    let table = "services = [\"mariadb\"]";
    let link = |path: &'static str| move |grants: &PolicyGrants| grants.unit_link(&grants.service("mariadb")?, path);
    for path in [
        "/etc/systemd/system/mariadb.service",
        "/etc/systemd/system/multi-user.target.wants",
        "/etc/systemd/system/multi-user.target.wants/mariadb.service",
    ] {
        assert!(link(path)(&policy(table)).is_ok(), "{path}");
        assert!(link(path)(&policy(&format!("{table}\ndeny_paths = [\"/etc/systemd/**\"]"))).is_err(), "{path}");
    }
    for path in [
        "/etc/systemd/system/ssh.service",
        "/etc/systemd/system/multi-user.target.wants/ssh.service",
        "/etc/systemd/system/mariadb.service.d/override.conf",
        "/etc/systemd/system/../x.wants/mariadb.service",
        "/etc/cron.d/mariadb.service",
    ] {
        assert!(link(path)(&policy(table)).is_err(), "{path}");
    }
    assert!(policy(table).manage_path("/etc/systemd/system/mariadb.service").is_err());
}

#[test]
fn the_right_to_a_socket_is_the_right_to_enable_it() {
    let grants = policy("services = [\"web.socket\"]");
    let link = |path: &str| grants.unit_link(&grants.service("web.socket").unwrap(), path);
    assert!(link("/etc/systemd/system/sockets.target.wants/web.socket").is_ok());
    for path in ["/etc/systemd/system/web.service", "/etc/systemd/system/sockets.target.wants/web.socket.service"] {
        assert!(link(path).is_err(), "{path}");
    }
}

/// The kernel takes `-` and `_` for the same.
#[test]
fn a_kernel_module_is_granted_by_either_of_its_names() {
    let denial = denied_until_granted("paths = [\"/etc/modprobe.d/**\"]", |grants| grants.kernel_module("nf-x"));
    assert_eq!(denial.line(), "kernel_modules = [\"nf_x\"]");
    let grants = policy("kernel_modules = [\"nf-*\"]\ndeny_kernel_modules = [\"nf_secret\"]");
    assert!(grants.kernel_module("nf_x").is_ok() && grants.kernel_module("nf-x").is_ok());
    for name in ["nf-secret", "nf_secret", "other", "nf/x", "-r", ""] {
        assert!(grants.kernel_module(name).is_err(), "{name}");
    }
}

#[test]
fn a_crontab_is_granted_by_its_user() {
    let denial = denied_until_granted("cron_users = [\"*\"]", |grants| grants.crontab("root", Standing::Ordinary));
    assert_eq!(denial.line(), "cron_users = [\"root\"]");
    denied_until_granted("paths = [\"/var/spool/cron/crontabs/backup\"]", |grants| {
        grants.crontab("backup", Standing::Ordinary)
    });
    assert!(policy("cron_users = [\"*\"]").crontab("backup", Standing::Ordinary).is_ok());
}

#[test]
fn a_mount_is_granted_whole() {
    let asked = MountAsked { device: "/dev/sdb1", mount_point: "/srv/data", kind: "ext4", options: "noatime" };
    let denial = denied_until_granted("paths = [\"/srv/**\"]", |grants| grants.mount(&asked));
    assert_eq!(denial.line(), "mounts = [\"/dev/sdb1 on /srv/data type ext4 (noatime)\"]");
    let rules = "mounts = [\"tmpfs on /srv/* type tmpfs (nosuid,size=*)\"]";
    let scratch = MountAsked { device: "tmpfs", mount_point: "/srv/x", kind: "tmpfs", options: "nosuid,size=1m" };
    assert!(policy(rules).mount(&scratch).is_ok());
    for other in [
        MountAsked { options: "suid", ..scratch },
        MountAsked { mount_point: "/etc", ..scratch },
        MountAsked { device: "/etc", ..scratch },
        MountAsked { device: "tmpfs on /srv/x type tmpfs (nosuid) /etc", ..scratch },
        MountAsked { mount_point: "/srv/x\n/dev/sdb1", ..scratch },
        MountAsked { device: "--bind", ..scratch },
        MountAsked { options: "", ..scratch },
        MountAsked { options: "size=1m", ..scratch },
        MountAsked { options: "nosuid,size=1m,suid", ..scratch },
        MountAsked { options: "nosuid,size=1m,exec", ..scratch },
    ] {
        assert!(policy(rules).mount(&other).is_err(), "{other:?}");
    }
    assert!(policy(rules).mount(&MountAsked { options: "size=1m,nosuid", ..scratch }).is_ok());
    let over_etc = MountAsked { mount_point: "/etc", ..scratch };
    let wide = "mounts = [\"tmpfs on /* type tmpfs (nosuid,size=*)\"]";
    assert!(policy(wide).mount(&over_etc).is_err() && policy(wide).mount(&scratch).is_ok());
    assert!(policy("mounts = [\"tmpfs on /etc type tmpfs (nosuid,size=*)\"]").mount(&over_etc).is_ok());
    let table = |rules: &str, path: &str| {
        let grants = policy(rules);
        let mount = grants.mount(&scratch).unwrap();
        grants.mount_table(&mount, path).is_ok()
    };
    assert!(table(rules, "/etc/fstab") && !table(rules, "/etc/shadow"));
    assert!(!table(&format!("{rules}\ndeny_paths = [\"/etc/fstab\"]"), "/etc/fstab"));
}

#[test]
fn the_table_of_file_systems_needs_its_name() {
    denied_until_granted("paths = [\"/etc/**\"]", |grants| grants.manage_path("/etc/fstab"));
}

#[test]
fn starting_the_node_again_is_granted_on_its_own() {
    let denial = denied_until_granted("commands = [\"reboot\"]", |grants| grants.reboot());
    assert_eq!(denial.to_string(), "policy `database` may not restart `the node`");
}

/// The names in backticks of a row of the table "Deputies", by the beginning of the row.
fn documented(row: &str) -> Vec<String> {
    let page = include_str!("../../../docs/grants.md");
    let line = page.lines().find(|line| line.starts_with(row)).unwrap_or_else(|| panic!("there is no row {row:?}"));
    line.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// Where a name of a file that counts wherever it lies, or in a home, is looked for.
fn place_of(name: &str) -> Option<String> {
    match name {
        _ if name.starts_with('/') => Some(name.to_owned()),
        _ if name.starts_with('.') => Some(format!("/home/ann/{name}/x")),
        "ld.so.preload" => Some("/etc/ld.so.preload".to_owned()),
        _ => None,
    }
}

#[test]
fn the_places_that_the_documentation_names_need_their_names() {
    let wide = |key: &str| {
        let grants =
            Grants::parse(&format!("[policy.web]\n{key} = [\"/**\", \"/home/ann/**\"]\n"), "grants.toml").unwrap();
        grants.with_homes(vec!["/home/ann".to_owned()]).policy("web", &[])
    };
    let (managed, read) = (wide("paths"), wide("read_paths"));
    let mut count = 0;
    for place in documented("| cron files, systemd units").iter().filter_map(|name| place_of(name)) {
        assert!(managed.manage_path(&place).is_err(), "{place}");
        let named = policy(&format!("paths = [\"{place}\"]"));
        assert!(named.manage_path(&place).is_ok(), "{place}");
        count += 1;
    }
    for place in documented("| `/etc/shadow`, private keys").iter().filter_map(|name| place_of(name)) {
        assert!(read.read_path(&place).is_err() && managed.manage_path(&place).is_err(), "{place}");
        count += 1;
    }
    assert!(count > 20, "the table names {count} places");
    let everybody = policy("users = [\"*\"]\ngroups = [\"*\"]");
    for name in documented("| groups such as").iter().take(4) {
        let refused = match name.as_str() {
            "root" => everybody.user(name, Standing::Ordinary).is_err(),
            group => everybody.group(group, Standing::Ordinary).is_err(),
        };
        assert!(refused, "{name}");
    }
}

#[test]
fn attack_a_backslash_in_mount_options_is_no_comma_later() {
    let policy = policy("mounts = [\"tmpfs on /srv/cache type tmpfs (nosuid,size=*)\"]");
    let asked =
        |options: &'static str| MountAsked { device: "tmpfs", mount_point: "/srv/cache", kind: "tmpfs", options };
    assert!(policy.mount(&asked("nosuid,size=1m")).is_ok());
    let denied = policy.mount(&asked(r"nosuid,size=1m\054suid")).unwrap_err();
    assert!(denied.to_string().contains("a sign by its number"), "{denied}");
}
