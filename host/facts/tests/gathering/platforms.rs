//! Platform, version and family of the systems that cookbooks are written for, from the files those systems have.

use crate::support::{at, facts, tree};
use serde_json::{Value, json};

/// Checks platform, version, family and the four fields of `lsb`. The version `KERNEL` stands for the running kernel's.
fn check(files: &[(&str, &str)], expect: [&str; 3], lsb: &Value) {
    let root = tree(files);
    let machine = tree(&[]);
    let facts = facts(root.path(), machine.path());
    let kernel = at(&facts, &["os_version"]);
    let expect = expect.map(|word| if word == "KERNEL" { kernel.clone() } else { Value::from(word) });
    let found = ["platform", "platform_version", "platform_family"].map(|key| at(&facts, &[key]));
    assert_eq!(found, expect, "for {files:?}");
    assert_eq!(&at(&facts, &["lsb"]), lsb, "for {files:?}");
}

#[test]
fn debian_and_its_kin() {
    check(
        &[(
            "etc/os-release",
            "PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nNAME=\"Debian GNU/Linux\"\nVERSION_ID=\"12\"\n\
             VERSION=\"12 (bookworm)\"\nVERSION_CODENAME=bookworm\nID=debian\n",
        )],
        ["debian", "12", "debian"],
        &json!({
            "release": "12", "id": "Debian", "description": "Debian GNU/Linux 12 (bookworm)", "codename": "bookworm",
        }),
    );
    check(
        &[
            ("etc/os-release", "NAME=\"Debian GNU/Linux\"\nID=debian\nVERSION_CODENAME=trixie\n"),
            ("etc/debian_version", "trixie/sid\n"),
        ],
        ["debian", "trixie/sid", "debian"],
        &json!({"release": "trixie/sid", "id": "Debian", "codename": "trixie"}),
    );
    check(
        &[
            (
                "etc/os-release",
                "NAME=\"Ubuntu\"\nVERSION=\"22.04.3 LTS (Jammy Jellyfish)\"\nID=ubuntu\nID_LIKE=debian\n\
                 PRETTY_NAME=\"Ubuntu 22.04.3 LTS\"\nVERSION_ID=\"22.04\"\nVERSION_CODENAME=jammy\n",
            ),
            (
                "etc/lsb-release",
                "DISTRIB_ID=Ubuntu\nDISTRIB_RELEASE=22.04\nDISTRIB_CODENAME=jammy\n\
                 DISTRIB_DESCRIPTION=\"Ubuntu 22.04.3 LTS\"\n",
            ),
        ],
        ["ubuntu", "22.04", "debian"],
        &json!({"release": "22.04", "id": "Ubuntu", "description": "Ubuntu 22.04.3 LTS", "codename": "jammy"}),
    );
}

#[test]
fn red_hat_and_its_kin() {
    check(
        &[
            ("etc/os-release", "NAME=\"CentOS Linux\"\nVERSION=\"7 (Core)\"\nID=\"centos\"\nVERSION_ID=\"7\"\n"),
            ("etc/redhat-release", "CentOS Linux release 7.9.2009 (Core)\n"),
        ],
        ["centos", "7.9.2009", "rhel"],
        &json!({"release": "7", "id": "CentOS", "codename": "Core"}),
    );
    check(
        &[(
            "etc/os-release",
            "NAME=\"Rocky Linux\"\nVERSION=\"9.3 (Blue Onyx)\"\nID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"\n\
             VERSION_ID=\"9.3\"\nPRETTY_NAME=\"Rocky Linux 9.3 (Blue Onyx)\"\n",
        )],
        ["rocky", "9.3", "rhel"],
        &json!({
            "release": "9.3", "id": "Rocky", "description": "Rocky Linux 9.3 (Blue Onyx)", "codename": "BlueOnyx",
        }),
    );
    check(
        &[("etc/os-release", "ID=\"rhel\"\nVERSION_ID=\"8.9\"\n")],
        ["redhat", "8.9", "rhel"],
        &json!({"release": "8.9", "id": "RedHatEnterprise"}),
    );
    check(
        &[("etc/os-release", "ID=\"ol\"\nVERSION_ID=\"8.9\"\n")],
        ["oracle", "8.9", "rhel"],
        &json!({"release": "8.9", "id": "OracleServer"}),
    );
    check(
        &[("etc/os-release", "NAME=\"Fedora Linux\"\nID=fedora\nVERSION_ID=39\n")],
        ["fedora", "39", "fedora"],
        &json!({"release": "39", "id": "Fedora"}),
    );
    check(
        &[(
            "etc/os-release",
            "NAME=\"Amazon Linux\"\nVERSION=\"2023\"\nID=\"amzn\"\nID_LIKE=\"fedora\"\nVERSION_ID=\"2023\"\n",
        )],
        ["amazon", "2023", "amazon"],
        &json!({"release": "2023", "id": "Amazon"}),
    );
}

#[test]
fn others() {
    check(
        &[("etc/os-release", "NAME=\"openSUSE Leap\"\nID=\"opensuse-leap\"\nVERSION_ID=\"15.5\"\n")],
        ["opensuseleap", "15.5", "suse"],
        &json!({"release": "15.5", "id": "openSUSE"}),
    );
    check(
        &[("etc/os-release", "ID=sles\nVERSION_ID=\"15.5\"\n")],
        ["suse", "15.5", "suse"],
        &json!({"release": "15.5", "id": "SUSE"}),
    );
    check(
        &[("etc/os-release", "NAME=\"Alpine Linux\"\nID=alpine\nVERSION_ID=3.19.0\n")],
        ["alpine", "3.19.0", "alpine"],
        &json!({"release": "3.19.0", "id": "Alpine"}),
    );
    check(
        &[("etc/os-release", "NAME=\"Arch Linux\"\nID=arch\n")],
        ["arch", "KERNEL", "arch"],
        &json!({"release": running_kernel(), "id": "Arch"}),
    );
    check(
        &[("usr/lib/os-release", "ID=clear-linux-os\nVERSION_ID=40000\n")],
        ["clearlinux", "40000", "clearlinux"],
        &json!({"release": "40000", "id": "Clearlinux"}),
    );
    check(
        &[("etc/os-release", "ID=void\nVERSION_ID=1\n")],
        ["void", "1", "void"],
        &json!({"release": "1", "id": "Void"}),
    );
}

fn running_kernel() -> String {
    std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap().trim().to_owned()
}

#[test]
fn before_os_release() {
    let nothing = json!({});
    for (files, expect, id) in [
        (vec![("etc/redhat-release", "CentOS release 6.10 (Final)\n")], ["centos", "6.10", "rhel"], "CentOS"),
        (
            vec![("etc/redhat-release", "Red Hat Enterprise Linux Server release 6.5 (Santiago)\n")],
            ["redhat", "6.5", "rhel"],
            "RedHatEnterprise",
        ),
        (
            vec![
                ("etc/oracle-release", "Oracle Linux Server release 6.8\n"),
                ("etc/redhat-release", "Red Hat Enterprise Linux Server release 6.8 (Santiago)\n"),
            ],
            ["oracle", "6.8", "rhel"],
            "OracleServer",
        ),
        (vec![("etc/debian_version", "6.0.10\n")], ["debian", "6.0.10", "debian"], "Debian"),
        (
            vec![("etc/SuSE-release", "openSUSE 13.1 (x86_64)\nVERSION = 13.1\nCODENAME = Bottle\n")],
            ["opensuse", "13.1", "suse"],
            "openSUSE",
        ),
        (
            vec![("etc/SuSE-release", "SUSE Linux Enterprise Server 11 (x86_64)\nVERSION = 11\nPATCHLEVEL = 2\n")],
            ["suse", "11.2", "suse"],
            "SUSE",
        ),
        (vec![("etc/system-release", "Amazon Linux AMI release 2014.03\n")], ["amazon", "2014.03", "amazon"], "Amazon"),
        (vec![("etc/slackware-version", "Slackware 14.2\n")], ["slackware", "14.2", "slackware"], "Slackware"),
    ] {
        check(&files, expect, &json!({"release": expect[1], "id": id}));
    }
    check(&[], ["linux", "KERNEL", "linux"], &nothing);
}

#[test]
fn malformed() {
    let nothing = json!({});
    check(&[("etc/os-release", "")], ["linux", "KERNEL", "linux"], &nothing);
    check(&[("etc/os-release", "ID=\nVERSION_ID\n===\n\u{0}")], ["linux", "KERNEL", "linux"], &nothing);
    check(
        &[("etc/os-release", "ID=\u{fffd}\u{1b}[31m\nVERSION_ID=\"\\")],
        ["\u{fffd}\u{1b}[31m", "\"\\", "\u{fffd}\u{1b}[31m"],
        &json!({"release": "\"\\", "id": "\u{fffd}\u{1b}[31m"}),
    );
}
