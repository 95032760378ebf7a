//! Rules with wildcards do not reach what root runs, reads or trusts, nor secrets; a file's right is none to what it leads to.

#![cfg(test)]

mod support;

use grants::{Grants, OwnPlaces, PolicyGrants, Standing};
use support::{denied_until_granted, policy};

#[test]
fn wide_rules_do_not_reach_wruns_own_places_wherever_they_are() {
    let grants = |table: &str| {
        let grants = Grants::parse(&format!("[policy.database]\n{table}"), "grants.toml").unwrap();
        let data = vec!["/srv/wrun/grants.toml".into(), "/srv/state".into()];
        grants.keeping(OwnPlaces { data, code: vec!["/srv/bin".into()] }).policy("database", &[])
    };
    let wide = grants("paths = [\"/srv/**\"]\nread_paths = [\"/srv/**\"]\n");
    for path in ["/srv/wrun/grants.toml", "/srv/wrun", "/srv", "/srv/state", "/srv/state/nodes/n.json"] {
        let denial = wide.manage_path(path).unwrap_err();
        assert!(denial.to_string().contains("too wide"), "{denial}");
        assert!(grants(&denial.line()).manage_path(path).is_ok(), "{path}");
        assert!(wide.manage_tree(path).is_err(), "{path}");
    }
    for path in ["/srv/wrun/grants.toml", "/srv/state/cache-key"] {
        let denial = wide.read_path(path).unwrap_err();
        assert!(grants(&denial.line()).read_path(path).is_ok(), "{path}");
        assert!(wide.guards(path), "{path}");
    }
    for path in ["/srv/wrun/other", "/srv/statement", "/srv/www/index.html"] {
        assert!(wide.manage_path(path).is_ok() && wide.read_path(path).is_ok() && !wide.guards(path), "{path}");
    }
    assert!(wide.manage_path("/srv/bin/wrun").is_err() && wide.manage_tree("/srv/bin").is_err());
    assert!(wide.read_path("/srv/bin/wrun").is_ok(), "the program itself is not a secret");
    assert!(wide.read_path("/srv/wrun").is_ok(), "the names beside it are not secret");
    assert!(grants("privileged_paths = [\"/srv/**\"]\n").manage_path("/srv/state").is_ok());
}

#[test]
fn wide_rules_do_not_reach_what_runs_as_root() {
    for path in [
        "/etc/cron.d/job",
        "/etc/cron.daily/job",
        "/etc/crontab",
        "/etc/systemd/system/x.service",
        "/etc/systemd/system/mysql.service.d/override.conf",
        "/etc/sudoers",
        "/etc/sudoers.d/mysql",
        "/etc/ld.so.preload",
        "/etc/profile.d/x.sh",
        "/etc/pam.d/su",
        "/etc/apt/apt.conf.d/99x",
        "/etc/passwd",
        "/etc/shadow",
        "/etc",
    ] {
        let denial = denied_until_granted("paths = [\"/etc/**\"]", |grants| grants.manage_path(path));
        assert!(denial.reason.unwrap().contains("privileged"), "{path}");
    }
    for path in
        ["/root/.ssh/authorized_keys", "/home/mysql/.ssh/authorized_keys", "/usr/local/bin/mysql", "/proc/1/root/etc/x"]
    {
        denied_until_granted("paths = [\"/**\"]", |grants| grants.manage_path(path));
    }
    assert!(policy("privileged_paths = [\"/etc/cron.d/**\"]").manage_path("/etc/cron.d/job").is_ok());
    assert!(policy("paths = [\"/etc/mysql/**\"]").manage_path("/etc/mysql/my.cnf").is_ok());
}

#[test]
fn etc_perl_and_all_below_etc_need_a_rule_that_names_an_application() {
    for path in
        ["/etc/perl/x.pm", "/etc/default/useradd", "/etc/hosts", "/etc/motd", "/etc/unheard-of/hook", "/etc/mysql/x"]
    {
        for rule in ["/etc/**", "/etc/*/*", "/etc/*", "/**", "/etc/my*/**", "/etc/?ysql/*"] {
            let grants = policy(&format!("paths = [\"{rule}\"]\nread_paths = [\"{rule}\"]"));
            assert!(grants.manage_path(path).is_err() && grants.read_path(path).is_err(), "{rule} {path}");
            assert!(grants.manage_tree(path).is_err(), "{rule} {path}");
        }
    }
    let wide = policy("paths = [\"/etc/**\", \"/usr/**\", \"/run/**\", \"/var/**\"]");
    for path in ["/usr/local/nagios/x", "/run/app/x", "/var/lib/app/x", "/var/cache/app/x"] {
        let denial = wide.manage_path(path).unwrap_err();
        assert!(denial.to_string().contains("must name an application's directory"), "{denial}");
        assert!(policy(&denial.line()).manage_path(path).is_ok(), "{path}");
    }
    assert!(wide.manage_path("/var/log/app/x").is_ok());
    let named = policy("paths = [\"/etc/mysql/**\", \"/var/lib/mysql/*.d/**\", \"/usr/local/nagios/**\"]");
    for path in ["/etc/mysql", "/etc/mysql/conf.d/x", "/var/lib/mysql/a.d/x", "/usr/local/nagios/x"] {
        assert!(named.manage_path(path).is_ok(), "{path}");
    }
    // A rule against something may be as wide as it likes.
    let denied = policy("paths = [\"/etc/mysql/**\"]\ndeny_paths = [\"/etc/*/secret\"]");
    assert!(denied.manage_path("/etc/mysql/secret").is_ok(), "the more specific rule wins");
    let refused = policy("privileged_paths = [\"/**\"]\ndeny_paths = [\"/etc/**\"]");
    assert!(refused.manage_path("/etc/mysql/secret").is_err());
}

#[test]
fn etc_perl_hidden_names_in_homes_need_a_rule_that_names_them() {
    let grants = |table: &str| {
        let grants = Grants::parse(&format!("[policy.database]\n{table}"), "grants.toml").unwrap();
        grants.with_homes(vec!["/srv/deploy".into()]).policy("database", &[])
    };
    let wide = grants("paths = [\"/home/**\", \"/srv/**\"]\nread_paths = [\"/home/**\"]");
    for path in
        ["/home/ann/.bashrc", "/home/ann/.config/x", "/home/ann/.local/bin/ls", "/home/ann/.x", "/srv/deploy/.x/y"]
    {
        let denial = wide.manage_path(path).unwrap_err();
        assert!(grants(&denial.line()).manage_path(path).is_ok(), "{path}");
    }
    assert!(wide.read_path("/home/ann/.history").is_err());
    assert!(wide.manage_path("/srv/www/.htaccess").is_ok() && wide.manage_path("/home/ann/app/.git/config").is_ok());
    let named = grants("paths = [\"/home/*/.app/**\", \"/home/ann/.config/app/**\"]");
    assert!(named.manage_path("/home/ann/.app/x").is_ok());
    assert!(named.manage_path("/home/ann/.config/app/x").is_err(), "what its owner runs is privileged");
    let tree = wide.manage_tree("/srv/deploy").unwrap();
    assert!(wide.manage_below(&tree, ".x").is_err() && wide.manage_below(&tree, "x/.y").is_ok());
}

#[test]
fn secrets_are_privileged_for_those_who_may_change_them() {
    let wide = policy("paths = [\"/etc/ssl/**\", \"/etc/letsencrypt/**\", \"/srv/**\"]");
    for path in ["/etc/ssl/private/x.key", "/etc/letsencrypt/live/x/privkey.pem", "/srv/app/.aws/credentials"] {
        assert!(wide.manage_path(path).is_err() && wide.read_path(path).is_err(), "{path}");
    }
    let denied = policy("paths = [\"/srv/**\", \"/srv/a/key\"]\ndeny_read_paths = [\"/srv/a/**\"]");
    for path in ["/srv/a/key", "/srv/a/x"] {
        assert!(denied.manage_path(path).is_ok() && denied.read_path(path).is_err(), "{path}");
    }
    let again = policy("paths = [\"/srv/**\"]\nread_paths = [\"/srv/a/x\"]\ndeny_read_paths = [\"/srv/a/**\"]");
    assert!(again.read_path("/srv/a/x").is_ok() && again.read_path("/srv/a/y").is_err());
}

#[test]
fn a_link_in_a_granted_directory_lends_no_right_to_its_target() {
    // Providers ask about resolved paths: what `/etc/mysql/x -> /etc/shadow` leads to is `/etc/shadow`.
    let grants = policy("paths = [\"/etc/mysql/**\"]");
    assert!(grants.manage_path("/etc/mysql/x").is_ok());
    assert!(grants.manage_path("/etc/shadow").is_err());
    assert!(grants.read_path("/etc/shadow").is_err());
    // A path that was not resolved is refused even if its beginning is granted.
    assert!(grants.manage_path("/etc/mysql/../shadow").is_err());
    assert!(policy("paths = [\"/**\"]").manage_path("/srv/./x").is_err());
}

#[test]
fn set_id_bits_need_a_grant_of_their_own() {
    let table = "paths = [\"/srv/**\"]";
    let mode = |bits: u32, directory: bool| {
        move |grants: &PolicyGrants| grants.file_mode(&grants.manage_path("/srv/tool")?, bits, directory)
    };
    denied_until_granted(table, mode(0o4755, false));
    denied_until_granted(table, mode(0o2755, false));
    assert_eq!(mode(0o755, false)(&policy(table)).unwrap().bits_of_file(), Some(0o755));
    let shared = mode(0o2775, true)(&policy(table)).unwrap();
    assert_eq!((shared.bits_of_directory(), shared.bits_of_file()), (0o2775, None));
    assert_eq!(mode(0o1777, true)(&policy(table)).unwrap().bits_of_file(), Some(0o1777));
}

#[test]
fn keys_of_users_are_privileged_wherever_their_home_is() {
    denied_until_granted("users = [\"mysql\"]\npaths = [\"/srv/**\"]", |grants| {
        grants.manage_path("/srv/home/mysql/.ssh/authorized_keys")
    });
    denied_until_granted("users = [\"mysql\"]", |grants| {
        grants.home(&grants.user("mysql", Standing::Ordinary)?, "/srv/home/mysql")
    });
}

#[test]
fn whole_directories_are_granted_only_if_nothing_in_them_is_not() {
    let tree = |path: &'static str| move |grants: &PolicyGrants| grants.manage_tree(path);
    assert!(tree("/srv/a")(&policy("paths = [\"/srv/**\"]")).is_ok());
    assert!(tree("/srv/a")(&policy("paths = [\"/srv/a\"]")).is_err());
    assert!(tree("/srv/a")(&policy("paths = [\"/srv/**\"]\ndeny_paths = [\"/srv/a/b/secret\"]")).is_err());
    assert!(tree("/srv/a")(&policy("paths = [\"/srv/**\"]\ndeny_paths = [\"/srv/b\"]")).is_ok());
    assert!(tree("/etc")(&policy("paths = [\"/etc\", \"/etc/**\"]")).is_err());
    assert!(tree("/var/spool")(&policy("paths = [\"/var/**\", \"/var/spool\"]")).is_err());
    assert!(tree("/etc/cron.d")(&policy("privileged_paths = [\"/etc/cron.d/**\"]")).is_ok());
    let below = |name: &'static str| {
        move |grants: &PolicyGrants| grants.manage_below(&grants.manage_tree("/srv/a").unwrap(), name)
    };
    assert!(below("b/c")(&policy("paths = [\"/srv/**\"]")).is_ok());
    for name in [".ssh", "b/.ssh/authorized_keys", ".gnupg/x"] {
        denied_until_granted("paths = [\"/srv/**\"]", below(name));
    }
}

/// Places that root's programs read on other systems than Debian, at boot, or at events.
#[rustfmt::skip]
const OTHER_PLACES: [&str; 184] = [
    "/.autofsck", "/.autorelabel", "/.dockerenv", "/efi", "/fastboot", "/forcefsck", "/forcequotacheck", "/gnu",
    "/initrd", "/initrd.img", "/initrd.img.old", "/nix", "/ostree", "/snap", "/swap.img", "/swapfile", "/sysroot",
    "/vmlinuz", "/vmlinuz.old", "/usr/etc", "/usr/games", "/usr/local/games", "/usr/local/libexec",
    "/usr/local/src", "/var/mail", "/var/spool/mail", "/var/spool/anacron", "/var/spool/incron", "/var/log/audit",
    "/var/log/journal", "/var/log/sudo-io", "/var/account", "/var/kerberos", "/var/yp", "/var/db", "/etc/sysconfig",
    "/etc/rc.d", "/etc/rc.conf", "/etc/rc.conf.d", "/etc/conf.d", "/etc/runlevels", "/etc/local.d", "/etc/periodic",
    "/etc/crontabs", "/etc/incron.d", "/etc/environment.d", "/etc/acpi", "/etc/apm", "/etc/pm", "/etc/hotplug",
    "/etc/hotplug.d", "/etc/dracut.conf", "/etc/dracut.conf.d", "/etc/mkinitcpio.conf", "/etc/mkinitcpio.d",
    "/etc/mkinitfs", "/etc/initcpio", "/etc/kdump", "/etc/sensors.d", "/etc/tuned", "/etc/X11", "/etc/gdm",
    "/etc/gdm3", "/etc/sddm", "/etc/lightdm", "/etc/netplan", "/etc/networkd-dispatcher", "/etc/dhcpcd.conf",
    "/etc/dhcpcd.enter-hook", "/etc/dhcpcd.exit-hook", "/etc/udhcpc", "/etc/udhcpd", "/etc/resolvconf",
    "/etc/wpa_supplicant", "/etc/ifplugd", "/etc/ufw", "/etc/iptables", "/etc/nftables", "/etc/firewalld",
    "/etc/cloud", "/etc/sssd", "/etc/authselect", "/etc/krb5.conf", "/etc/krb5.conf.d", "/etc/gss", "/etc/gssproxy",
    "/etc/ldap", "/etc/openldap", "/etc/crypto-policies", "/etc/keys", "/etc/apk", "/etc/zypp", "/etc/flatpak",
    "/etc/apport", "/etc/update-manager", "/etc/unattended-upgrades", "/etc/etckeeper", "/etc/debconf.conf",
    "/etc/ucf.conf", "/etc/lvm", "/etc/multipath", "/etc/iscsi", "/etc/libvirt", "/etc/lxc", "/etc/lxd",
    "/etc/incus", "/etc/qemu", "/etc/qemu-ga", "/etc/vmware-tools", "/etc/runc", "/etc/crio", "/etc/fish",
    "/etc/mksh", "/etc/emacs", "/etc/joe", "/etc/mailcap", "/etc/dictionaries-common", "/run/binfmt.d",
    "/run/environment.d", "/run/modprobe.d", "/run/modules-load.d", "/run/sysctl.d", "/run/sysusers.d",
    "/run/NetworkManager", "/run/resolvconf", "/run/openrc", "/run/mdadm", "/run/lvm", "/run/cryptsetup",
    "/run/libvirt", "/run/podman", "/run/crio", "/run/runc", "/run/incus", "/run/lxd", "/run/snapd", "/run/nscd",
    "/run/sendsigs.omit.d", "/var/lib/AccountsService", "/var/lib/alternatives", "/var/lib/authselect",
    "/var/lib/cloud", "/var/lib/containers", "/var/lib/dbus", "/var/lib/dhcp", "/var/lib/dhcpcd", "/var/lib/dnf",
    "/var/lib/extrausers", "/var/lib/flatpak", "/var/lib/fwupd", "/var/lib/gdm3", "/var/lib/grub", "/var/lib/incus",
    "/var/lib/initramfs", "/var/lib/insserv", "/var/lib/iscsi", "/var/lib/krb5kdc", "/var/lib/kubelet",
    "/var/lib/libvirt", "/var/lib/lxc", "/var/lib/lxd", "/var/lib/machines", "/var/lib/os-prober",
    "/var/lib/portables", "/var/lib/private", "/var/lib/python", "/var/lib/rpm-state", "/var/lib/selinux",
    "/var/lib/shells.state", "/var/lib/snapd", "/var/lib/sss", "/var/lib/tpm", "/var/lib/udisks2",
    "/var/lib/unattended-upgrades", "/var/lib/update-notifier", "/var/lib/waagent", "/var/lib/yum", "/var/lib/zypp",
    "/var/cache/apparmor", "/var/cache/dictionaries-common", "/var/cache/dnf", "/var/cache/yum", "/var/cache/zypp",
    "/var/snap",
];

#[test]
fn wide_rules_do_not_reach_what_root_reads_on_other_systems() {
    for place in OTHER_PLACES {
        for path in [place.to_owned(), format!("{place}/x")] {
            let rule = format!("paths = [\"{place}/**\"]");
            let denial = denied_until_granted(&rule, |grants| grants.manage_path(&path));
            assert!(denial.reason.unwrap().contains("privileged"), "{path}");
        }
        assert!(policy("paths = [\"/**\"]").manage_path(place).is_err(), "{place}");
    }
    // What holds passwords and what other people wrote is not read by a wide rule, either.
    for secret in
        ["/var/mail/root", "/var/spool/mail/root", "/etc/sssd/sssd.conf", "/swapfile", "/etc/netplan/50-x.yaml"]
    {
        denied_until_granted("read_paths = [\"/**\"]", |grants| grants.read_path(secret));
    }
}
