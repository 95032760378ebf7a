//! What is found on machines with a few files.

use super::*;
use std::os::unix::fs::PermissionsExt as _;

/// Returns what is found on a machine with these files. Those below `/srv` are executable.
fn found(files: &[(&str, &str)]) -> BTreeMap<String, String> {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let place = folder.path().join(path.trim_start_matches('/'));
        std::fs::create_dir_all(place.parent().unwrap()).unwrap();
        std::fs::write(&place, text).unwrap();
        let mode = if path.starts_with("/srv") { 0o755 } else { 0o644 };
        std::fs::set_permissions(&place, std::fs::Permissions::from_mode(mode)).unwrap();
    }
    let root = Root::open(folder.path(), &contract::Account::unmetered("test")).unwrap();
    read(&root, &Administrators::read(&root))
}

#[track_caller]
fn check(files: &[(&str, &str)], expect: &[&str]) {
    let found = found(files);
    let others = found.keys().filter(|path| !OF_DISTRIBUTION.iter().any(|folder| path.starts_with(folder)));
    assert_eq!(others.map(String::as_str).collect::<Vec<_>>(), expect, "{files:?}");
}

#[test]
fn attack_files_of_units_are_found() {
    let unit = |text: &str, expect: &[&str]| check(&[("/etc/systemd/system/a.service", text)], expect);
    unit("[Service]\nExecStart=/srv/a/run --fast /srv/a/conf\n", &["/srv/a/conf", "/srv/a/run"]);
    let file = "[Service]\nExecStartPre=-/srv/a/run\nEnvironmentFile=-/srv/a/env\n";
    unit(file, &["/srv/a/env", "/srv/a/env/", "/srv/a/run"]);
    unit("[Service]\nExecStart=/usr/bin/env \\\n  \"/srv/a b/run\"\n", &["/srv/a", "/srv/a b/run"]);
    unit("[Service]\nExecStart=/srv/jobs/%i/run\n", &["/srv/jobs/"]);
    let by_others = "[Service]\nUser=web\nExecStart=/srv/a/run\nExecStartPre=+/srv/a/prepare\n";
    unit(by_others, &["/srv/a/prepare", "/srv/a/run"]);
    unit("[Service]\nUser=root\nExecStop=/srv/a/run\n", &["/srv/a/run"]);
    unit("[Service]\nDynamicUser=yes\nExecStart=/srv/a/run\n", &["/srv/a/run"]);
    for setting in ["Environment=LD_PRELOAD=/srv/a", "ExecSearchPath=/srv/a", "BindPaths=/srv/a:/usr/sbin"] {
        unit(&format!("[Service]\n{setting}\n"), &["/srv/a", "/srv/a/"]);
    }
    let unit = "[Service]\nWorkingDirectory=/srv/a\nExecStart=/usr/bin/node server.js data\n";
    check(&[("/lib/systemd/system/a.service", unit), ("/srv/a/server.js", "")], &["/srv/a/server.js"]);
    check(&[("/etc/systemd/system/a.service.d/x.conf", "[Service]\nExecStop=/srv/x\n")], &["/srv/x"]);
}

#[test]
fn attack_files_of_jobs_are_found() {
    let jobs = "SHELL=/srv/shell\n# 0 3 * * * root /srv/no\n0 3 * * * root /srv/ops/nightly >/dev/null\n\
                @daily root cd /srv/ops && ./weekly\n* * * * * web /srv/web/job\n";
    let of_web = "/srv/web/job";
    let of_ops = ["/srv/ops", "/srv/ops/nightly", "/srv/ops/weekly", "/srv/shell", "/srv/shell/"];
    let expect = [&["/dev/null"][..], &of_ops, &[of_web]].concat();
    check(&[("/etc/cron.d/ops", jobs), ("/srv/ops/weekly", "")], &expect);
    let own = ("/var/spool/cron/crontabs/root", "*/5 * * * * /srv/own\n");
    check(&[own, ("/var/spool/cron/crontabs/web", "* * * * * /srv/web\n")], &["/srv/own", "/srv/web"]);
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
fn attack_folders_of_programs_and_libraries_are_found() {
    let parts = "PATH=/srv/bin:/usr/bin\n0 3 * * * root run-parts /srv/hourly\n";
    check(&[("/etc/crontab", parts)], &["/srv/bin", "/srv/bin/", "/srv/hourly", "/srv/hourly/"]);
    check(&[("/etc/ld.so.conf.d/shop.conf", "# /srv/no\n/srv/lib\n")], &["/srv/lib", "/srv/lib/"]);
    check(&[("/etc/ld.so.conf", "include /srv/conf.d/*.conf\n")], &["/srv/conf.d/"]);
}

#[test]
fn attack_files_behind_links_are_found() {
    let folder = tempfile::tempdir().unwrap();
    for inner in ["etc/cron.d", "srv"] {
        std::fs::create_dir_all(folder.path().join(inner)).unwrap();
    }
    std::fs::write(folder.path().join("srv/jobs"), "0 3 * * * root /srv/nightly\n").unwrap();
    std::os::unix::fs::symlink("/srv/jobs", folder.path().join("etc/cron.d/jobs")).unwrap();
    let root = Root::open(folder.path(), &contract::Account::unmetered("test")).unwrap();
    let found = read(&root, &Administrators::read(&root));
    assert_eq!(found.keys().collect::<Vec<_>>(), ["/srv/jobs", "/srv/nightly"]);
}

/// A team's log that is a script with very many paths in it does not hide what others' scripts run.
#[test]
fn attack_one_file_does_not_use_up_the_looks_of_others() {
    let log = format!("#!/bin/sh\n{}", "/srv/x\n".repeat(9_000));
    let many: Vec<(String, String)> =
        (0..30).map(|at| (format!("/etc/logrotate.d/{at}"), format!("/srv/a/{at}.log\n"))).collect();
    let mut files: Vec<(&str, &str)> = many.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let logs: Vec<String> = (0..30).map(|at| format!("/srv/a/{at}.log")).collect();
    files.extend(logs.iter().map(|path| (path.as_str(), log.as_str())));
    files.push(("/etc/cron.daily/z", "#!/bin/sh\n/srv/ops/backup\n"));
    files.push(("/srv/ops/backup", "#!/bin/sh\n/srv/ops/last\n"));
    files.push(("/srv/ops/last", ""));
    assert!(found(&files).contains_key("/srv/ops/last"));
}

#[test]
fn attack_files_of_rules_are_found() {
    check(&[("/etc/udev/rules.d/9.rules", "ACTION==\"add\", RUN+=\"/srv/plug %k\"\n")], &["/srv/plug"]);
    check(&[("/etc/modprobe.d/x.conf", "install x /srv/x; true\noptions y z=/srv/no\n")], &["/srv/x"]);
    let sudoers = "Cmnd_Alias OPS = /srv/ops/a, /srv/ops/all/\n%ops ALL=(root) NOPASSWD: /srv/ops/b\n# /srv/no\n";
    check(&[("/etc/sudoers", sudoers)], &["/srv/ops/a", "/srv/ops/all/", "/srv/ops/b"]);
}
