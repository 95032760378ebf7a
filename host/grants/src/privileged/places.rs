//! The places of root's programs, settings and secrets on Debian, Fedora, SUSE or Alpine.

mod identities;
mod programs;
mod servers;
mod started;
mod state;
mod tools;

/// Privileged places: each path, everything below it, and every directory above it.
pub(super) const PLACES: [&[&str]; 6] =
    [&programs::PROGRAMS, &started::STARTED, &identities::IDENTITIES, &tools::TOOLS, &servers::SERVERS, &state::STATE];

/// Beginnings of privileged paths, such as `/etc/python3.11`. The directories above them are not privileged, because a team
/// may manage its own server's directory.
pub(super) const BEGINNINGS: [&str; 8] = [
    "/etc/python",
    "/etc/csh.",
    "/etc/zsh",
    "/etc/tcsh",
    "/etc/ld-musl-",
    // systemd runs this file with full rights after Debian's MariaDB has started; root's timers read the next one.
    "/etc/mysql/debian-start",
    "/etc/mysql/debian.cnf",
    "/etc/nginx/modules-enabled",
];
