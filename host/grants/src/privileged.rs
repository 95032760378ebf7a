//! Privileged things: files and accounts that root or the system runs, reads as code, or trusts. Rules with wildcards do not
//! cover them; see [`crate`].
//!
//! The lists are those of a Debian machine. They can never be complete: a daemon that runs as root and reads its hooks from
//! `/opt` is privileged too. They are only the second protection; the first one is that rules are narrow ([`crate::reach`]).

mod accounts;
mod names;
mod own_names;
mod places;
mod variables;

pub use accounts::Standing;
pub(crate) use accounts::{group, user};
pub(crate) use own_names::{keeps_machine_reachable, package, service, unit_stem};
pub(crate) use variables::{is_plain_variable, may_be_secret, variable};

use names::{NAME_BEGINNINGS, NAMES, NAMES_IN_HOMES, SECRET_NAMES, SECRETS, SECRETS_IN_HOMES};
use places::{BEGINNINGS, PLACES};
use std::sync::LazyLock;

/// Host keys of the SSH server.
const HOST_KEYS: &str = "/etc/ssh/ssh_host_";

/// Privileged places and secrets, sorted, for fast lookups of thousands of files.
static IN_ORDER: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let mut places: Vec<&str> = PLACES.into_iter().flatten().chain(&SECRETS).copied().collect();
    places.sort_unstable();
    places.dedup();
    places
});

/// Tells whether writing to a path can give root's rights, or change who is trusted. Secret paths are privileged.
pub(crate) fn path(path: &str) -> bool {
    lies_below(path) || has_privileged_name(path) || secret(path)
}

/// Tells whether the path is privileged, or above a privileged path with a fixed place.
pub(crate) fn lies_below(path: &str) -> bool {
    if BEGINNINGS.iter().any(|beginning| path.starts_with(beginning)) {
        return true;
    }
    let ends = path.match_indices('/').map(|(at, _)| at).skip(1).chain([path.len()]);
    let mut beginnings = ends.filter_map(|end| path.get(..end));
    if beginnings.any(|beginning| IN_ORDER.binary_search(&beginning).is_ok()) {
        return true;
    }
    let below = format!("{}/", path.trim_end_matches('/'));
    let next = IN_ORDER.partition_point(|place| *place < below.as_str());
    IN_ORDER.get(next).is_some_and(|place| place.starts_with(&below))
}

fn has_privileged_name(path: &str) -> bool {
    path.split('/').any(|part| {
        part.starts_with('.')
            && (NAMES.contains(&part)
                || SECRET_NAMES.contains(&part)
                || NAME_BEGINNINGS.iter().any(|beginning| part.starts_with(beginning)))
    })
}

/// Tells whether a hidden name directly in a home decides which programs the owner runs.
pub(crate) fn name_in_home(name: &str) -> bool {
    NAMES_IN_HOMES.contains(&name)
}

/// Tells whether a path is one of these places, or is below or above one.
pub(crate) fn meets(path: &str, places: &[String]) -> bool {
    places.iter().any(|place| is_within(path, place) || is_within(place, path))
}

/// Tells whether a path is one of these places or is below one.
pub(crate) fn lies_in(path: &str, places: &[String]) -> bool {
    places.iter().any(|place| is_within(path, place))
}

/// Tells whether a path is a place or is below it.
pub(crate) fn is_within(path: &str, place: &str) -> bool {
    place == "/" || path.strip_prefix(place).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Tells whether a path is secret: with its content, a reader could act as another user.
pub(crate) fn secret(path: &str) -> bool {
    let is_host_key = path.strip_prefix(HOST_KEYS).is_some_and(|rest| !rest.ends_with(".pub"));
    let is_backup = path.strip_prefix("/var/backups/").is_some_and(|rest| rest.contains("shadow"));
    is_host_key
        || is_backup
        || SECRETS.iter().any(|place| is_within(path, place))
        || path.split('/').any(|part| part.starts_with('.') && SECRET_NAMES.contains(&part))
        || SECRETS_IN_HOMES.iter().any(|place| path.contains(place))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(asked: &str, expect: bool) {
        assert_eq!(path(asked), expect, "{asked}");
    }

    #[test]
    fn privileged_paths() {
        for asked in [
            "/usr/share/perl5/x.pm",
            "/usr/local/share/wrun/runtime.native",
            "/etc/cron.d/x",
            "/etc/systemd/system/x.service",
            "/etc/sudoers",
            "/etc/sudoers.d/x",
            "/root/.ssh/authorized_keys",
            "/etc/ld.so.preload",
            "/home/a/.ssh/authorized_keys",
            "/usr/local/bin/x",
            "/etc/passwd",
            "/",
            "/etc",
            "/usr/local",
            "/var/spool",
            "/proc/sys/kernel/core_pattern",
            "/etc/wrun/grants.toml",
            "/etc/perl/x.pm",
            "/etc/haproxy/haproxy.cfg",
            "/etc/molly-guard/run.d/x",
            "/etc/depmod.d/x.conf",
            "/etc/postgresql-common/createcluster.conf",
            "/etc/knockd.conf",
            "/etc/default/useradd",
            "/etc/python3.11/sitecustomize.py",
            "/etc/csh.login",
            "/etc/zsh/zshrc",
            "/etc/containers/systemd/x.container",
            "/etc/xdg/autostart/x.desktop",
            "/etc/hosts",
            "/etc/resolv.conf",
            "/etc/ssl/openssl.cnf",
            "/etc/bash_completion.d/x",
            "/etc/apache2/mods-enabled/x.load",
            "/etc/apache2/envvars",
            "/etc/sv/x/run",
            "/etc/openvpn/x.conf",
            "/etc/wireguard/wg0.conf",
            "/etc/monit/conf.d/x",
            "/etc/supervisor/conf.d/x.conf",
            "/etc/runit/1",
            "/etc/xinetd.d/x",
            "/etc/inetd.conf",
            "/etc/logrotate.d/x",
            "/etc/update-motd.d/10-x",
            "/etc/NetworkManager/dispatcher.d/x",
            "/etc/network/if-up.d/x",
            "/etc/ppp/ip-up.d/x",
            "/etc/dhcp/dhclient-exit-hooks.d/x",
            "/etc/incron.d/x",
            "/etc/sudo.conf",
            "/etc/sudoers-rs",
            "/usr/local/etc/doas.conf",
            "/etc/polkit-1/rules.d/10-x.rules",
            "/var/lib/polkit-1/localauthority/x/y.pkla",
            "/etc/security/capability.conf",
            "/etc/pam.d/su",
            "/etc/bashrc",
            "/usr/src/x",
            "/usr/local/etc/x",
            "/run/udev/rules.d/x",
            "/run/user/1000/systemd/x",
            "/var/cache/debconf/config.dat",
            "/var/lib/ucf/x",
            "/var/lib/dkms/x",
            "/home/a/.bashrc",
            "/srv/app/.profile",
            "/home/a/.zshenv",
            "/home/a/.gitconfig",
            "/home/a/.forward",
            "/etc/e2scrub.conf",
            "/etc/zprofile",
            "/etc/mysql/debian-start",
            "/etc/nginx/modules-enabled/x.conf",
            "/opt/puppetlabs/bin/puppet",
            // Secrets.
            "/etc/krb5.keytab",
            "/etc/letsencrypt/live/x/privkey.pem",
            "/var/backups/shadow.bak",
            "/srv/app/.aws/credentials",
        ] {
            check(asked, true);
        }
        for asked in [
            "/etc/motd",
            "/etc/mysql/my.cnf",
            "/etc/mysql",
            "/etc/apache2/sites-enabled/x.conf",
            "/srv/www/.htaccess",
            "/etc/nginx/conf.d/x",
            "/etc/postfix/main.cf",
            "/var/lib/mysql/x",
            "/srv",
            "/var/lib/mysql",
            "/etc/cron.d2",
            "/home/a",
            "/opt/x",
            "/tmp/x",
        ] {
            check(asked, false);
        }
    }

    #[test]
    fn secrets() {
        assert!(secret("/etc/shadow") && secret("/etc/ssh/ssh_host_rsa_key") && secret("/home/a/.ssh/id_rsa"));
        for path in [
            "/etc/sudoers",
            "/etc/krb5.keytab",
            "/etc/letsencrypt/x",
            "/etc/wireguard/wg0.conf",
            "/etc/security/opasswd",
            "/etc/apt/auth.conf.d/x",
            "/var/backups/shadow.bak",
            "/var/backups/gshadow.bak",
            "/var/cache/debconf/passwords.dat",
            "/var/spool/cron/crontabs/root",
            "/run/credentials/x",
            "/home/a/.aws/credentials",
            "/home/a/.netrc",
            "/home/a/.pgpass",
            "/home/a/.kube/config",
            "/home/a/.config/wrun/keys/team.key",
            "/srv/people/a/.config/gcloud/credentials.db",
        ] {
            assert!(secret(path), "{path}");
        }
        assert!(!secret("/etc/passwd") && !secret("/etc/ssh/ssh_host_rsa_key.pub"));
    }
}
