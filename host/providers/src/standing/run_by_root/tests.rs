//! What is found on small machines.

use super::*;
use std::os::unix::fs::PermissionsExt as _;

/// Returns what is found on a machine with these files. Those below `/srv` are executable. A text that begins with `->` is that of
/// a link, and a path that ends in a slash is a folder.
fn found(files: &[(&str, &str)]) -> RunByRoot {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let place = folder.path().join(path.trim_start_matches('/'));
        std::fs::create_dir_all(place.parent().unwrap()).unwrap();
        if let Some(target) = text.strip_prefix("->") {
            std::os::unix::fs::symlink(target, &place).unwrap();
            continue;
        }
        if path.ends_with('/') {
            std::fs::create_dir_all(&place).unwrap();
            continue;
        }
        std::fs::write(&place, text).unwrap();
        let mode = if path.starts_with("/srv") { 0o755 } else { 0o644 };
        std::fs::set_permissions(&place, std::fs::Permissions::from_mode(mode)).unwrap();
    }
    let root = Root::open(folder.path(), &contract::Account::unmetered("test")).unwrap();
    read(&root, &Administrators::read(&root), &["root".to_owned()].into())
}

#[track_caller]
fn check(files: &[(&str, &str)], expect: &[&str]) {
    let found = found(files).found;
    let others = found.keys().filter(|path| !OF_DISTRIBUTION.iter().any(|folder| path.starts_with(folder)));
    assert_eq!(others.map(String::as_str).collect::<Vec<_>>(), expect, "{files:?}");
}

#[test]
fn attack_files_of_units_are_found() {
    let unit = |text: &str, expect: &[&str]| check(&[("/etc/systemd/system/a.service", text)], expect);
    unit("[Service]\nExecStart=/srv/a/run --fast /srv/a/conf\n", &["/srv/a/conf", "/srv/a/run"]);
    unit("[Service]\nExecStartPre=-/srv/a/run\nEnvironmentFile=-/srv/a/env\n", &["/srv/a/env", "/srv/a/run"]);
    unit("[Service]\nExecStart=/usr/bin/env \\\n  \"/srv/a b/run\"\n", &["/srv/a", "/srv/a b/run"]);
    unit("[Service]\nExecStart=/srv/jobs/%i/run\n", &["/srv/jobs/"]);
    unit("[Service]\nUser=web\nExecStart=/srv/a/run\nExecStartPre=+/srv/a/prepare\n", &["/srv/a/prepare"]);
    unit("[Service]\nUser=root\nExecStop=/srv/a/run\n", &["/srv/a/run"]);
    unit("[Service]\nDynamicUser=yes\nExecStart=/srv/a/run\n", &[]);
    let unit = "[Service]\nWorkingDirectory=/srv/a\nExecStart=/usr/bin/node server.js data\n";
    check(&[("/lib/systemd/system/a.service", unit), ("/srv/a/server.js", "")], &["/srv/a/server.js"]);
    check(&[("/etc/systemd/system/a.service.d/x.conf", "[Service]\nExecStop=/srv/x\n")], &["/srv/x"]);
}

#[test]
fn attack_files_of_jobs_are_found() {
    let jobs = "SHELL=/srv/shell\n# 0 3 * * * root /srv/no\n0 3 * * * root /srv/ops/nightly >/dev/null\n\
                @daily root cd /srv/ops && ./weekly\n* * * * * web /srv/web/job\n";
    let expect = ["/dev/null", "/srv/ops", "/srv/ops/", "/srv/ops/nightly", "/srv/ops/weekly", "/srv/shell"];
    check(&[("/etc/cron.d/ops", jobs), ("/srv/ops/weekly", "")], &expect);
    let own = ("/var/spool/cron/crontabs/root", "*/5 * * * * /srv/own\n");
    check(&[own, ("/var/spool/cron/crontabs/web", "* * * * * /srv/web\n")], &["/srv/own"]);
}

#[test]
fn attack_files_that_scripts_run_are_found() {
    let script = "#!/bin/sh\n. /srv/lib/common\n/srv/ops/backup /srv/data/all >/var/log/ops\n";
    let others = [("/srv/lib/common", "x"), ("/srv/ops/backup", "#!/bin/sh\n/srv/ops/last\n"), ("/srv/ops/last", "")];
    let mut files = others.to_vec();
    files.push(("/etc/cron.daily/ops", script));
    check(&files, &["/srv/lib/common", "/srv/ops/backup", "/srv/ops/last"]);
    files.push(("/etc/init.d/ops", "#!/bin/sh\nDAEMON=/srv/ops/missing\n"));
    check(&files, &["/srv/lib/common", "/srv/ops/backup", "/srv/ops/last"]);
    // A unit of the distribution leads there, too.
    check(
        &[("/lib/systemd/system/a.service", "[Service]\nExecStart=/srv/ops/backup\n"), others[1], others[2]],
        &["/srv/ops/backup", "/srv/ops/last"],
    );
}

#[test]
fn attack_files_of_rules_are_found() {
    check(&[("/etc/udev/rules.d/9.rules", "ACTION==\"add\", RUN+=\"/srv/plug %k\"\n")], &["/srv/plug"]);
    check(&[("/etc/modprobe.d/x.conf", "install x /srv/x; true\noptions y z=/srv/no\n")], &["/srv/x"]);
    let sudoers = "Cmnd_Alias OPS = /srv/ops/a, /srv/ops/all/\n%ops ALL=(root) NOPASSWD: /srv/ops/b\n# /srv/no\n";
    check(&[("/etc/sudoers", sudoers)], &["/srv/ops/a", "/srv/ops/all/", "/srv/ops/b"]);
}

#[test]
fn attack_what_lies_behind_a_link_in_a_folder_of_root_is_found() {
    let unit = "[Service]\nUser=web\nExecStart=/srv/a\n";
    check(
        &[("/etc/systemd/system/x.service", "->/srv/ops/x.service"), ("/srv/ops/x.service", unit)],
        &["/etc/systemd/system/x.service", "/srv/ops/x.service"],
    );
    check(&[("/etc/cron.d/x", "->/srv/ops/tab"), ("/srv/ops/tab", "")], &["/etc/cron.d/x", "/srv/ops/tab"]);
    check(
        &[("/etc/logrotate.d", "->/srv/rotate"), ("/srv/rotate/x", "")],
        &["/etc/logrotate.d", "/etc/logrotate.d/x", "/srv/rotate", "/srv/rotate/", "/srv/rotate/x"],
    );
    check(&[("/lib", "->usr/lib"), ("/usr/lib/systemd/system/a.service", unit)], &[]);
}

#[test]
fn attack_folders_of_programs_and_of_code_are_found() {
    let jobs =
        "PATH=/srv/bin:/usr/bin\n0 3 * * * root run-parts /srv/hourly\n0 4 * * * root tar -cf /srv/b.tar /srv/data\n";
    let files = [("/etc/cron.d/ops", jobs), ("/srv/hourly/", ""), ("/srv/data/", "")];
    check(&files, &["/srv/b.tar", "/srv/bin", "/srv/bin/", "/srv/data", "/srv/hourly", "/srv/hourly/"]);
    let unit = |text: &str, expect: &[&str]| {
        let text = format!("[Service]\n{text}\n");
        check(&[("/etc/systemd/system/a.service", &text)], expect);
    };
    unit("Environment=LD_PRELOAD=/srv/pre.so \"PYTHONPATH=/srv/py\"", &["/srv/pre.so", "/srv/py", "/srv/py/"]);
    unit("ExecSearchPath=/srv/a:/srv/b", &["/srv/a", "/srv/a/", "/srv/b", "/srv/b/"]);
    unit("BindReadOnlyPaths=-/srv/next:/usr/sbin/app", &["/srv/next", "/srv/next/"]);
    unit("User=web\nBindPaths=/srv/next\nLoadCredential=key:/srv/key", &["/srv/key"]);
    let libraries = [("/etc/ld.so.conf.d/shop.conf", "# x\n/opt/shop/lib\n")];
    check(&libraries, &["/opt/shop/lib", "/opt/shop/lib/"]);
}

#[test]
fn attack_units_that_become_roots_are_found() {
    let unit = |text: &str, expect: &[&str]| {
        check(&[("/etc/systemd/system/job@.service", &format!("[Service]\n{text}\nExecStart=/srv/run\n"))], expect);
    };
    unit("User=%i", &["/srv/run"]);
    unit("User=web\nPermissionsStartOnly=yes\nExecStartPre=/srv/prepare", &["/srv/prepare"]);
    let files = |name: &str, unit: &str, folder: &str, text: &str, expect: &[&str]| {
        let unit = format!("[Service]\n{unit}\nExecStart=/srv/run\n");
        let (place, beside) = (format!("/lib/systemd/system/{name}"), format!("/etc/systemd/system/{folder}/x.conf"));
        check(&[(&place, &unit), (&beside, &format!("[Service]\n{text}\n"))], expect);
    };
    files("x.service", "User=web", "x.service.d", "User=root", &["/srv/run"]);
    files("x.service", "User=web", "service.d", "User=", &["/srv/run"]);
    files("x-y.service", "User=web", "x-.service.d", "User=root", &["/srv/run"]);
    files("x@.service", "User=web", "x@a.service.d", "User=root", &["/srv/run"]);
    files("x.service", "DynamicUser=yes", "x.service.d", "DynamicUser=no", &["/srv/run"]);
    files("x.service", "User=web", "y.service.d", "User=root", &[]);
    files("x.service", "User=web", "x.service.d", "Nice=1", &[]);
}

#[test]
fn attack_variables_of_scripts_are_put_in() {
    let script = "#!/bin/sh\nDIR=/srv/ops\nexport DIRECTORY='/srv/other'\n$DIR/helper\n\"${DIRECTORY}/run.sh\"\n";
    let files = [("/etc/cron.daily/x", script), ("/srv/ops/helper", ""), ("/srv/other/run.sh", "")];
    check(&files, &["/srv/ops/helper", "/srv/other/run.sh"]);
}

#[test]
fn attack_a_search_that_was_cut_says_so_and_has_an_end() {
    let unit = ("/etc/systemd/system/a.service", "[Service]\nExecStart=/srv/log\n");
    assert!(!found(&[unit, ("/srv/log", "#!/bin/sh\n/srv/last\n")]).is_cut);
    let many: String = (0..MAX_LOOKS + 1).map(|number| format!("/srv/{number}\n")).collect();
    assert!(found(&[unit, ("/srv/log", &format!("#!/bin/sh\n{many}"))]).is_cut);
    // Programs that are no scripts, and scripts that others may change, cost nothing.
    let long = "x".repeat(300 << 10);
    assert!(!found(&[unit, ("/srv/log", &long)]).is_cut);
    let files: Vec<_> = (0..20).map(|number| format!("/srv/{number}")).collect();
    let units: String = files.iter().map(|file| format!("ExecStart={file}\n")).collect();
    let script = format!("#!/bin/sh\n# {}", "x".repeat(250 << 10));
    let mut all = vec![("/etc/systemd/system/a.service", units.as_str())];
    all.extend(files.iter().map(|file| (file.as_str(), script.as_str())));
    assert!(found(&all).is_cut);
}
