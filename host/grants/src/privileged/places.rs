//! Where on a machine of the Debian, Fedora, SUSE or Alpine family root's programs, their settings and secrets are.

mod identities;
mod programs;
mod servers;
mod started;
mod state;
mod tools;

/// Each of these, all below it, and every directory that leads to it is privileged.
pub(super) const PLACES: [&[&str]; 6] =
    [&programs::PROGRAMS, &started::STARTED, &identities::IDENTITIES, &tools::TOOLS, &servers::SERVERS, &state::STATE];

/// Beginnings of paths that are privileged with all that follows: `/etc/python3.11`. The directories that lead to these are not: a
/// team manages its server's own.
pub(super) const BEGINNINGS: [&str; 8] = [
    "/etc/python",
    "/etc/csh.",
    "/etc/zsh",
    "/etc/tcsh",
    "/etc/ld-musl-",
    // systemd runs it with full rights after Debian's MariaDB has started; root's timers read the other one.
    "/etc/mysql/debian-start",
    "/etc/mysql/debian.cnf",
    "/etc/nginx/modules-enabled",
];
