//! `rpm_package`, `dnf_package` and `yum_package` by their command lines: programs that answer as the real ones do and
//! write down what they are told to change.

use crate::node::{Foreseen, Node};
use serde_json::{Value, json};

/// Answers from `/srv/installed` and of files; `-i`, `-U` and `-e` are written down. A line `replaces NAME ..` of a file names
/// a package that it replaces.
const RPM: &str = r#"#!/bin/sh
case "$1" in
  -q) shift 4; missing=0
    for name; do
      grep "^${name%.x86_64} " /srv/installed || { echo "package $name is not installed"; missing=$((missing + 1)); }
    done; exit $missing ;;
  -qp) case "$3" in
      *OBSOLETENAME*) tail -c +5 "$5" | sed -n 's/^replaces //p' ;;
      *) tail -c +5 "$5" | sed '/^replaces /d' ;;
    esac ;;
  *) echo "rpm $*" >> /srv/log; [ ! -e /srv/fail ] || { echo "conflict" >&2; exit 3; }
     . /srv/deed ;;
esac
"#;

/// Lists from `/srv/available`; what it would do stands in `/srv/table`, and for a file that holds `and more` in `/srv/more`.
const DNF: &str = r#"#!/bin/sh
case "$*" in
  *--assumeno*)
    for last; do :; done
    [ ! -e /srv/broken ] || { echo "Error: conflicting requests" >&2; exit 1; }
    if grep -qs "and more" "$last"; then cat /srv/more; else cat /srv/table; fi; exit 1 ;;
  *" list --showduplicates "*)
    while [ "$1" != --showduplicates ]; do shift; done; shift 2
    for name; do grep -h "^$name\." /srv/available; done > /tmp/found
    [ -s /tmp/found ] || { echo "Error: No matching Packages to list" >&2; exit 1; }
    echo "Available Packages"; cat /tmp/found ;;
  "versionlock list" | "-C versionlock list") cat /srv/locks ;;
  *) echo "${0##*/} $*" >> /srv/log; . /srv/deed ;;
esac
"#;

fn prepared(node: Node) -> Node {
    node.root.write_program("/usr/bin/rpm", RPM).unwrap();
    node.root.write_program("/usr/bin/dnf", DNF).unwrap();
    node.root.write_program("/usr/bin/yum", DNF).unwrap();
    let installed = "bash (none) 5.1 6.el9 x86_64\nbind 32 9.16 1.el9 x86_64\n";
    let available = "bash.x86_64 5.1-9.el9 baseos\nbash.i686 5.3-1.el9 baseos\nvim.x86_64 2:8.0-1.el9 base\n\
                     vim.x86_64 2:8.2-1.el9 base\nvim.i686 2:8.3-1.el9 base\n";
    for (path, text) in [
        ("installed", installed),
        ("available", available),
        ("deed", ""),
        ("table", "Transaction Summary\n"),
        ("locks", "bind-32:9.16-1.el9.*\n"),
        ("log", ""),
    ] {
        node.root.write(format!("/srv/{path}"), text).unwrap();
    }
    node
}

/// A file that begins as a package does, and holds what the program above answers.
fn package_file(text: &str) -> Vec<u8> {
    [&[0xed, 0xab, 0xee, 0xdb], text.as_bytes()].concat()
}

/// What the next change leaves installed.
fn deed(node: &Node, installed: &str) {
    node.root.write("/srv/deed", format!("cat > /srv/installed <<'X'\n{installed}X\n")).unwrap();
}

fn told(node: &Node) -> String {
    let log = node.root.read("/srv/log").unwrap();
    node.root.write("/srv/log", "").unwrap();
    log
}

#[track_caller]
fn check(node: &mut Node, (kind, name, action): (&str, &str, &str), properties: Value, sentence: &[&str], words: &str) {
    let done = node.act(kind, name, action, properties).unwrap_or_else(|raised| panic!("{raised:?}"));
    assert_eq!(done, sentence);
    // A package file is installed from a copy of wrun's own.
    let words = words.replace("COPY", "/var/cache/wrun/packages/.chef-x-wrun-0.rpm");
    let words = if words.is_empty() { String::new() } else { format!("{words}\n") };
    assert_eq!(told(node), words);
}

#[test]
fn dnf_installs_what_is_missing() {
    let mut node = prepared(Node::new());
    check(&mut node, ("dnf_package", "bash", "install"), json!({}), &[], "");
    deed(&node, "vim 2 8.2 1.el9 x86_64\n");
    let newest = ["install version 2:8.2-1.el9.x86_64 of package vim"];
    check(&mut node, ("dnf_package", "vim", "install"), json!({}), &newest, "dnf -y install vim-2:8.2-1.el9.x86_64");
    check(&mut node, ("dnf_package", "vim", "install"), json!({}), &[], "");
    for version in ["8.2", "8.2-1.el9", "2:8.2-1.el9"] {
        check(&mut node, ("dnf_package", "vim", "install"), json!({"version": version}), &[], "");
    }
    deed(&node, "vim 2 8.0 1.el9 x86_64\n");
    let older = ["install version 2:8.0-1.el9.x86_64 of package vim"];
    let spared = json!({"version": "8.0", "allow_downgrade": false});
    check(&mut node, ("dnf_package", "vim", "install"), spared, &[], "");
    let wanted = json!({"version": "8.0", "options": ["-q"]});
    check(&mut node, ("dnf_package", "vim", "install"), wanted, &older, "dnf -q -y install vim-2:8.0-1.el9.x86_64");
}

#[test]
fn several_packages_are_one_transaction() {
    let mut node = prepared(Node::new());
    deed(&node, "bash (none) 5.1 9.el9 x86_64\nvim 2 8.3 1.el9 i686\n");
    let many = json!({"package_name": ["bash", "vim"], "arch": ["", "i686"]});
    let sentences = [
        "upgrade package bash from 0:5.1-6.el9.x86_64 to 0:5.1-9.el9.x86_64",
        "upgrade package vim from uninstalled to 2:8.3-1.el9.i686",
    ];
    let words = "yum -y install bash-0:5.1-9.el9.x86_64 vim-2:8.3-1.el9.i686";
    // yum has its own word for what is available.
    node.root
        .write_program("/usr/bin/yum", DNF.replace("list --showduplicates ", "list --showduplicates available "))
        .unwrap();
    check(&mut node, ("yum_package", "both", "upgrade"), many.clone(), &sentences, words);
    check(&mut node, ("yum_package", "both", "upgrade"), many, &[], "");
    deed(&node, "vim 2 8.3 1.el9 i686\n");
    let remove = ["remove package bash"];
    check(&mut node, ("yum_package", "bash", "remove"), json!({}), &remove, "yum -y remove bash-0:5.1-9.el9.x86_64");
    check(&mut node, ("yum_package", "bash", "remove"), json!({}), &[], "");
    check(&mut node, ("yum_package", "vim", "remove"), json!({"version": "7"}), &[], "");
}

#[test]
fn versions_are_locked() {
    let mut node = prepared(Node::new());
    check(&mut node, ("dnf_package", "bind", "lock"), json!({}), &[], "");
    node.root.write("/srv/deed", "echo 'bash-0:5.1-6.el9.*' >> /srv/locks\n").unwrap();
    let words = "dnf -d0 -e0 -y versionlock add bash";
    check(&mut node, ("dnf_package", "bash", "lock"), json!({}), &["lock package bash"], words);
    node.root.write("/srv/deed", ": > /srv/locks\n").unwrap();
    let words = "dnf -d0 -e0 -y versionlock delete bind-32:9.16-1.el9.*";
    check(&mut node, ("dnf_package", "bind", "unlock"), json!({}), &["unlock package bind"], words);
}

/// Version-lock: dnf and rpm take `bash.x86_64` for bash, and a pattern for the locks of a package is one for those of others
/// whose names begin with it.
#[test]
fn version_lock() {
    let mut node = prepared(Node::granting("packages = [\"bind\", \"*.x86_64\"]"));
    node.root.write("/srv/locks", "bind-32:9.16-1.el9.*\nbind-utils-32:9.16-1.el9.*\n").unwrap();
    node.root.write("/srv/deed", "echo 'bind-utils-32:9.16-1.el9.*' > /srv/locks\n").unwrap();
    let words = "dnf -d0 -e0 -y versionlock delete bind-32:9.16-1.el9.*";
    check(&mut node, ("dnf_package", "bind", "unlock"), json!({}), &["unlock package bind"], words);
    for kind in ["dnf_package", "yum_package"] {
        let error = node.act(kind, "bash.x86_64", "lock", json!({})).unwrap_err();
        assert_eq!(error.message, "bash.x86_64 cannot be locked: no package of exactly that name is installed");
        check(&mut node, (kind, "bash.x86_64", "unlock"), json!({}), &[], "");
    }
    for kind in ["dnf_package", "yum_package", "rpm_package"] {
        check(&mut node, (kind, "bash.x86_64", "remove"), json!({}), &[], "");
    }
}

#[test]
fn package_files_are_installed_by_what_is_in_them() {
    let mut node = prepared(Node::new());
    node.root.write("/srv/x.rpm", package_file("tool (none) 1.0 1 noarch\n")).unwrap();
    deed(&node, "tool (none) 1.0 1 noarch\n");
    let source = json!({"source": "/srv/x.rpm"});
    let sentence = ["install version 1.0-1 of package tool"];
    check(&mut node, ("rpm_package", "x", "install"), source.clone(), &sentence, "rpm -i COPY");
    check(&mut node, ("rpm_package", "x", "install"), source.clone(), &[], "");
    node.root.write("/srv/x.rpm", package_file("tool (none) 1.1 1 noarch\n")).unwrap();
    deed(&node, "tool (none) 1.1 1 noarch\n");
    let sentence = ["upgrade package tool from 1.0-1 to 1.1-1"];
    check(&mut node, ("rpm_package", "x", "upgrade"), source.clone(), &sentence, "rpm -U --oldpackage COPY");
    node.root.write("/srv/x.rpm", package_file("tool (none) 1.0 1 noarch\n")).unwrap();
    let spared = json!({"source": "/srv/x.rpm", "allow_downgrade": false});
    check(&mut node, ("rpm_package", "x", "upgrade"), spared, &[], "");
    deed(&node, "");
    check(&mut node, ("rpm_package", "tool", "remove"), json!({}), &["remove package tool"], "rpm -e tool");
    check(&mut node, ("rpm_package", "tool", "remove"), json!({}), &[], "");
    deed(&node, "tool (none) 1.0 1 noarch\n");
    let sentence = ["install version 0:1.0-1.noarch of package tool"];
    check(&mut node, ("dnf_package", "x", "install"), source, &sentence, "dnf -y install COPY");
}

#[test]
fn package_is_the_type_of_the_roots_own_tools() {
    let mut node = prepared(Node::new());
    node.output("rm /usr/bin/apt-get");
    deed(&node, "vim 2 8.2 1.el9 x86_64\n");
    let newest = ["install version 2:8.2-1.el9.x86_64 of package vim"];
    check(&mut node, ("package", "vim", "install"), json!({}), &newest, "dnf -y install vim-2:8.2-1.el9.x86_64");
}

#[test]
fn failures_have_chefs_classes_and_words() {
    let mut node = prepared(Node::new());
    let mut raised = |kind: &str, name: &str, properties: Value| {
        let raised = node.act(kind, name, "install", properties).unwrap_err();
        (raised.class().to_owned(), raised.message)
    };
    let package = |message: &str| ("Chef::Exceptions::Package".to_owned(), message.to_owned());
    assert_eq!(raised("dnf_package", "absent", json!({})), package("No candidate version available for absent"));
    assert_eq!(raised("dnf_package", "vim*", json!({})).0, "Wrun::Denied", "a pattern is not a name");
    let missing = json!({"source": "/srv/none.rpm"});
    assert_eq!(raised("rpm_package", "x", missing), package("Package x not found: /srv/none.rpm"));
    let remote = raised("rpm_package", "x", json!({"source": "https://example.org/x.rpm"}));
    assert_eq!(remote, package("https://example.org/x.rpm is not a file on the node"));
    node.root.write("/srv/fail", "").unwrap();
    node.root.write("/srv/x.rpm", package_file("tool (none) 1.0 1 noarch\n")).unwrap();
    let failed = node.act("rpm_package", "x", "install", json!({"source": "/srv/x.rpm"})).unwrap_err();
    assert_eq!(failed.class(), "Mixlib::ShellOut::ShellCommandFailed");
    assert!(failed.message.contains("rpm -i /srv/x.rpm"), "{}", failed.message);
    let mut node = node.dry();
    let foreseen = node.foresee("dnf_package", "absent", "install", json!({})).unwrap();
    let assumed = "Assuming a repository that offers absent would have been configured".to_owned();
    assert_eq!(foreseen, Foreseen { assumed: vec![assumed], ..Foreseen::default() });
    let foreseen = node.foresee("dnf_package", "vim", "install", json!({})).unwrap();
    assert_eq!(foreseen.changes, ["install version 2:8.2-1.el9.x86_64 of package vim"]);
    assert_eq!(told(&node), "rpm -i /var/cache/wrun/packages/.chef-x-wrun-0.rpm\n");
}

#[test]
fn only_granted_packages_and_files_are_touched() {
    let mut node = prepared(Node::granting("packages = [\"vim\"]\npackage_sources = [\"/srv/*.rpm\"]"));
    deed(&node, "vim 2 8.2 1.el9 x86_64\n");
    node.act("dnf_package", "vim", "install", json!({})).unwrap();
    node.root.write("/srv/vim.rpm", package_file("sudo (none) 1.0 1 noarch\n")).unwrap();
    for (kind, name, action, properties) in [
        ("dnf_package", "bash", "install", json!({})),
        ("dnf_package", "bash", "remove", json!({})),
        ("rpm_package", "bash", "remove", json!({})),
        ("dnf_package", "vim", "upgrade", json!({"options": ["--setopt=pluginpath=/tmp"]})),
        ("dnf_package", "vim", "upgrade", json!({"environment": {"LD_PRELOAD": "/tmp/x"}})),
        ("rpm_package", "vim", "install", json!({"source": "/srv/vim.rpm"})),
        ("dnf_package", "vim", "install", json!({"source": "/srv/vim.rpm"})),
        ("rpm_package", "vim", "install", json!({"source": "/tmp/vim.rpm"})),
    ] {
        let raised = node.act(kind, name, action, properties.clone()).unwrap_err();
        assert_eq!(raised.class(), "Wrun::Denied", "{kind} {name} {action} {properties}");
    }
}

/// rpm takes a file that is no package for a list of files and addresses, and installs those.
#[test]
fn a_list_of_package_files_is_not_a_package_file() {
    let mut node = prepared(Node::granting("packages = [\"vim\"]\npackage_sources = [\"/srv/*.rpm\"]"));
    for content in ["/srv/app/evil.rpm\n", "https://example.org/evil.rpm\n", "", "\u{ed}\u{ab}\u{ee}\u{db}"] {
        node.root.write("/srv/vim.rpm", content).unwrap();
        for kind in ["rpm_package", "dnf_package"] {
            let raised = node.act(kind, "vim", "install", json!({"source": "/srv/vim.rpm"})).unwrap_err();
            assert!(raised.message.contains("is not a package of rpm"), "{content}: {}", raised.message);
        }
    }
    node.root.write("/srv/vim.rpm", package_file("vim 2 8.2 1.el9 x86_64\n")).unwrap();
    node.output("chown nobody /srv/vim.rpm");
    let raised = node.act("rpm_package", "vim", "install", json!({"source": "/srv/vim.rpm"})).unwrap_err();
    assert!(raised.message.contains("others than root may change"), "{}", raised.message);
    assert_eq!(told(&node), "");
}

/// Whoever had a file open before it became root's writes another package into it after it was looked at.
#[test]
fn debfd_what_rpm_installs_is_what_was_looked_at() {
    let mut node = prepared(Node::granting("packages = [\"tool\"]\npackage_sources = [\"/srv/*.rpm\"]"));
    for kind in ["rpm_package", "dnf_package"] {
        node.root.write("/srv/x.rpm", package_file("tool (none) 1.0 1 noarch\n")).unwrap();
        let source = json!({"source": "/srv/x.rpm"});
        let raised = node.act_after((kind, "x", "install"), source, |root| {
            root.write("/srv/x.rpm", package_file("sudo (none) 1.0 1 noarch\n")).unwrap();
        });
        assert!(raised.unwrap_err().message.contains("holds another package"), "{kind}");
        assert_eq!(told(&node), "");
    }
}

/// Any user may hold a read lock on rpm's database, and rpm fails at once.
#[test]
fn attack_a_lock_on_rpms_database_is_waited_for_and_its_holder_named() {
    const HOLD: &str = "use Fcntl; open F, '<', '/var/lib/rpm/.rpm.lock' or die; \
                        my $lock = pack('s s x4 q q i x4', F_RDLCK, 0, 0, 0, 0); fcntl(F, F_SETLK, $lock) or die; \
                        open G, '>', '/srv/begun' or die; sleep 1 until -e '/srv/go'";
    let mut node = prepared(Node::new());
    node.output("mkdir -p /var/lib/rpm; touch /var/lib/rpm/.rpm.lock");
    let mut other = std::process::Command::new("chroot");
    let mut other = other.arg(node.root.path()).args(["perl", "-e", HOLD]).spawn().unwrap();
    while !node.root.exists("/srv/begun") {
        assert_eq!(other.try_wait().unwrap(), None);
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    for (kind, action) in [("rpm_package", "remove"), ("dnf_package", "upgrade")] {
        let error = node.act(kind, "bash", action, json!({})).unwrap_err();
        let expect = format!("/var/lib/rpm/.rpm.lock is held by process {} (perl)", other.id());
        assert!(error.message.starts_with(&expect), "{}", error.message);
    }
    assert_eq!(told(&node), "");
    node.root.write("/srv/go", "").unwrap();
    assert!(other.wait().unwrap().success());
}

/// A tool reads the settings of all teams, and tells addresses with their passwords.
#[test]
fn attack_an_error_of_a_package_tool_tells_no_password() {
    let mut node = prepared(Node::granting("packages = [\"vim\"]"));
    let telling =
        "#!/bin/sh\necho 'Errors during downloading from http://team:S3cret@10.0.0.1/private/x' >&2\nexit 1\n";
    node.root.write_program("/usr/bin/dnf", telling).unwrap();
    let raised = node.act("dnf_package", "vim", "install", json!({})).unwrap_err();
    let said = format!("{} {:?}", raised.message, raised.hint);
    assert!(said.contains("http://***@10.0.0.1/private") && !said.contains("S3cret"), "{said}");
}

/// rpm removes without a word what a package declares to replace. It does so when it upgrades, and not with `-i`.
#[test]
fn attack_a_package_file_replaces_no_package_that_is_not_granted() {
    let rules = "packages = [\"vim\"]\npackage_sources = [\"/srv/*.rpm\"]";
    let mut node = prepared(Node::granting(rules));
    let source = json!({"source": "/srv/x.rpm"});
    let replacing = "replaces bash < 6\nreplaces bind  \nreplaces vim < 9\nreplaces absent  \n";
    node.root.write("/srv/x.rpm", package_file(&format!("vim 2 8.2 1.el9 x86_64\n{replacing}"))).unwrap();
    deed(&node, "vim 2 8.2 1.el9 x86_64\nbash (none) 5.1 6.el9 x86_64\nbind 32 9.16 1.el9 x86_64\n");
    let installed = ["install version 8.2-1.el9 of package vim"];
    check(&mut node, ("rpm_package", "vim", "install"), source.clone(), &installed, "rpm -i COPY");
    node.root.write("/srv/x.rpm", package_file(&format!("vim 2 8.3 1.el9 x86_64\n{replacing}"))).unwrap();
    deed(&node, "vim 2 8.3 1.el9 x86_64\n");
    let error = node.act("rpm_package", "vim", "upgrade", source.clone()).unwrap_err();
    assert!(error.class() == "Wrun::Denied" && error.message.contains("`bash`"), "{error:?}");
    let mut node = node.again(Some(&rules.replace("[\"vim\"]", "[\"vim\", \"bash\"]")));
    let error = node.act("rpm_package", "vim", "upgrade", source.clone()).unwrap_err();
    assert!(error.class() == "Wrun::Denied" && error.message.contains("`bind`"), "{error:?}");
    let mut node = node.again(Some(&rules.replace("[\"vim\"]", "[\"vim\", \"b*\"]")));
    // Another one of the same name and version, which replaces more.
    let error = node.act_after(("rpm_package", "vim", "upgrade"), source.clone(), |root| {
        let more = format!("vim 2 8.3 1.el9 x86_64\n{replacing}replaces sudo  \n");
        root.write("/srv/x.rpm", package_file(&more)).unwrap();
    });
    assert!(error.unwrap_err().message.contains("holds another package"));
    assert_eq!(told(&node), "");
    node.root.write("/srv/x.rpm", package_file(&format!("vim 2 8.3 1.el9 x86_64\n{replacing}"))).unwrap();
    let sentences = [
        "upgrade package vim from 8.2-1.el9 to 8.3-1.el9",
        "remove package bash, which it replaces",
        "remove package bind, which it replaces",
    ];
    check(&mut node, ("rpm_package", "vim", "upgrade"), source.clone(), &sentences, "rpm -U --oldpackage COPY");
    // What cannot be read cannot be judged.
    let odd = "vim 2 8.4 1.el9 x86_64\nreplaces bash < 6 or so\n";
    node.root.write("/srv/x.rpm", package_file(odd)).unwrap();
    let error = node.act("rpm_package", "vim", "upgrade", source).unwrap_err();
    assert!(error.message.contains("replaces \"bash < 6 or so\", which is not the name of a package"), "{error:?}");
}

/// dnf and yum also remove what depends on a package, and what only that package needed.
#[test]
fn attack_dnf_removes_no_package_that_is_not_granted() {
    const REPLACING: &str = "Installing:\n vim  x86_64  2:8.2-1.el9  base  1 k\n     replacing  bash.x86_64 5.1-6.el9\nTransaction Summary\nInstall  1 Package\n";
    const REMOVING: &str = "Removing:\n bash x86_64 5.1-6.el9 @base 1 k\nRemoving dependent packages:\n bind x86_64 1 @base 0\nTransaction Summary\nRemove  2 Packages\n";
    for kind in ["dnf_package", "yum_package"] {
        let mut node = prepared(Node::granting("packages = [\"vim\"]"));
        node.root.write("/srv/table", REPLACING).unwrap();
        let error = node.act(kind, "vim", "install", json!({})).unwrap_err();
        assert!(error.class() == "Wrun::Denied" && error.message.contains("`bash`"), "{error:?}");
        let mut node = node.again(Some("packages = [\"vim\", \"bash\"]"));
        node.root.write("/srv/table", REMOVING).unwrap();
        let error = node.act(kind, "bash", "remove", json!({})).unwrap_err();
        assert!(error.class() == "Wrun::Denied" && error.message.contains("`bind`"), "{error:?}");
        // Whether it would answer its own question is not left to options that need no grant.
        node.root.write("/srv/table", REPLACING).unwrap();
        deed(&node, "vim 2 8.2 1.el9 x86_64\n");
        let program = kind.split('_').next().unwrap();
        let sentences = ["install version 2:8.2-1.el9.x86_64 of package vim", "remove package bash, which it replaces"];
        let words = format!("{program} -y -q -y install vim-2:8.2-1.el9.x86_64");
        check(&mut node, (kind, "vim", "install"), json!({"options": ["-y", "-q"]}), &sentences, &words);
        // A table that is not understood is no permission.
        node.root.write("/srv/installed", "bash (none) 5.1 6.el9 x86_64\n").unwrap();
        node.root.write("/srv/table", "Removing:\n bash x86_64 5.1 @base\nTransaction Summary\n").unwrap();
        let error = node.act(kind, "vim", "install", json!({})).unwrap_err();
        assert!(error.message.contains("--assumeno install vim"), "{error:?}");
        node.root.write("/srv/broken", "").unwrap();
        let error = node.act(kind, "vim", "install", json!({})).unwrap_err();
        assert!(error.message.contains("conflicting requests"), "{error:?}");
        assert_eq!(told(&node), "");
        // A dry run does not fail of it: an earlier resource may help.
        let foreseen = node.dry().foresee(kind, "vim", "install", json!({})).unwrap();
        assert!(foreseen.unknown.iter().any(|why| why.contains("which other packages it would change is not known")));
    }
}

/// What a granted package needs comes along, but no older version of another team's package, and nothing that is denied.
#[test]
fn attack_dnf_changes_no_package_that_is_denied_and_downgrades_none_that_is_not_granted() {
    let installing = "Installing:\n vim x86_64 2:8.2-1.el9 base 1 k\n";
    let table = |kind: &str, line: &str, summary: &str| {
        format!("{installing}{kind}:\n {line}\nTransaction Summary\nInstall  1 Package\n{summary}")
    };
    let upgrading = table("Upgrading", "bash x86_64 5.2-1.el9 base 1 k", "Upgrade  1 Package\n");
    let downgrading = table("Downgrading", "bash x86_64 5.0-1.el9 base 1 k", "Downgrade  1 Package\n");
    let bringing = table("Installing dependencies", "denied x86_64 1-1 base 1 k", "");
    let own = table("Upgrading", "wrun x86_64 2-1 base 1 k", "Upgrade  1 Package\n");
    for kind in ["dnf_package", "yum_package"] {
        let mut node = prepared(Node::granting("packages = [\"*\"]\ndeny_packages = [\"bash\", \"denied\"]"));
        for (table, name) in
            [(&upgrading, "`bash`"), (&downgrading, "`bash`"), (&bringing, "`denied`"), (&own, "`wrun`")]
        {
            node.root.write("/srv/table", table).unwrap();
            let error = node.act(kind, "vim", "install", json!({})).unwrap_err();
            assert!(error.class() == "Wrun::Denied" && error.message.contains(name), "{error:?}");
        }
        let mut node = node.again(Some("packages = [\"vim\"]"));
        node.root.write("/srv/table", &downgrading).unwrap();
        let error = node.act(kind, "vim", "install", json!({})).unwrap_err();
        assert!(error.class() == "Wrun::Denied" && error.message.contains("`bash`"), "{error:?}");
        assert_eq!(told(&node), "");
        deed(&node, "vim 2 8.2 1.el9 x86_64\n");
        node.root.write("/srv/table", &upgrading).unwrap();
        let sentences = [
            "install version 2:8.2-1.el9.x86_64 of package vim",
            "upgrade package bash from 0:5.1-6.el9.x86_64 to 0:5.2-1.el9.x86_64 along with it",
        ];
        let words = format!("{} -y install vim-2:8.2-1.el9.x86_64", kind.split('_').next().unwrap());
        check(&mut node, (kind, "vim", "install"), json!({}), &sentences, &words);
    }
}

/// The file that dnf gets is the copy, and what that would remove is looked at again.
#[test]
fn attack_a_file_for_dnf_that_is_exchanged_removes_nothing_else() {
    let mut node = prepared(Node::granting("packages = [\"tool\"]\npackage_sources = [\"/srv/*.rpm\"]"));
    node.root.write("/srv/x.rpm", package_file("tool (none) 1.0 1 noarch\n")).unwrap();
    node.root
        .write("/srv/more", "Removing:\n bash x86_64 5.1-6.el9 @base 0\nTransaction Summary\nRemove  1 Package\n")
        .unwrap();
    let error = node.act_after(("dnf_package", "x", "install"), json!({"source": "/srv/x.rpm"}), |root| {
        root.write("/srv/x.rpm", package_file("tool (none) 1.0 1 noarch\nand more\n")).unwrap();
    });
    assert!(error.unwrap_err().message.contains("holds another package"));
    assert_eq!(told(&node), "");
}

#[test]
fn gems_are_refused_and_said_so() {
    let mut node = Node::new();
    for kind in ["gem_package", "chef_gem"] {
        let raised = node.act(kind, "pg", "install", json!({})).unwrap_err();
        let expect = ("Gem::InstallError", "gem pg is not installed: wrun installs no gems");
        assert_eq!((raised.class(), raised.message.as_str()), expect);
        assert!(raised.hint.is_some());
    }
    let mut node = node.with_files(&[("greeter-1.0.3/lib/greeter.rb", "")]);
    for properties in [json!({}), json!({"version": "1.0.3"})] {
        assert!(node.act("chef_gem", "greeter", "install", properties).unwrap().is_empty(), "it came with the policy");
    }
    for (kind, name, version) in
        [("chef_gem", "greeter", "2.0"), ("chef_gem", "greet", "1.0.3"), ("gem_package", "greeter", "1.0.3")]
    {
        let raised = node.act(kind, name, "install", json!({"version": version})).unwrap_err();
        assert_eq!(raised.class(), "Gem::InstallError", "{kind} {name} {version}");
    }
    // Cookbooks find it in the runtime.
    assert!(node.act("chef_gem", "toml-rb", "install", json!({})).unwrap().is_empty());
    // What is not there need not be removed; what is there stays.
    assert!(node.act("chef_gem", "pg", "remove", json!({})).unwrap().is_empty());
    for (kind, name) in [("chef_gem", "greeter"), ("chef_gem", "toml-rb"), ("gem_package", "pg")] {
        let raised = node.act(kind, name, "purge", json!({})).unwrap_err();
        assert_eq!(raised.message, format!("gem {name} is not removed: wrun removes no gems"));
    }
    // A real run would fail for certain, so a dry run does not call it unknown.
    let raised = node.dry().foresee("chef_gem", "pg", "install", json!({})).unwrap_err();
    assert_eq!(raised.class(), "Gem::InstallError");
}

/// dnf and yum write logs, lists and a history while they answer, and fetch what is old. So does rpm, what readers of its database
/// share.
#[test]
fn attack_a_dry_run_that_asks_dnf_changes_nothing() {
    let node = prepared(Node::new());
    node.output("mkdir -p /var/log /var/cache/dnf /var/lib/dnf /run");
    let writing = "#!/bin/sh\nset -e\ncase \"$1\" in -C) ;; *) echo fetches >&2; exit 9 ;; esac\n\
                   for file in /var/log/dnf.log /var/cache/dnf/base.solv /var/lib/dnf/history.sqlite /run/dnf.pid; do\n\
                   echo \"$*\" >> $file; done\nflock -n /var/log/dnf.log true\nset +e\n";
    for tool in ["dnf", "yum"] {
        node.root.write_program(format!("/usr/bin/{tool}"), DNF.replacen("#!/bin/sh\n", writing, 1)).unwrap();
    }
    node.output("mkdir -p /var/lib/rpm");
    let sharing = RPM.replacen("#!/bin/sh\n", "#!/bin/sh\necho >> /var/lib/rpm/rpmdb.sqlite-shm\n", 1);
    node.root.write_program("/usr/bin/rpm", sharing).unwrap();
    let mut node = node.dry();
    for kind in ["dnf_package", "yum_package"] {
        for (name, action, expect) in [
            ("vim", "install", "install version 2:8.2-1.el9.x86_64 of package vim"),
            ("bash", "remove", "remove package bash"),
            ("bash", "lock", "lock package bash"),
        ] {
            let foreseen = node.foresee(kind, name, action, json!({})).unwrap();
            assert_eq!(foreseen, Foreseen { changes: vec![expect.to_owned()], ..Foreseen::default() });
        }
    }
    assert_eq!(
        node.output(
            "find /var/log/dnf.log /var/cache/dnf /var/lib/dnf /var/lib/rpm /run/dnf.pid -type f 2>/dev/null || true"
        ),
        ""
    );
    // What was not fetched is not known.
    let nothing = "#!/bin/sh\necho 'Ignoring repositories: base' >&2\nexit 1\n";
    node.root.write_program("/usr/bin/dnf", nothing).unwrap();
    let foreseen = node.foresee("dnf_package", "vim", "install", json!({})).unwrap();
    assert!(foreseen.unknown.iter().any(|why| why.contains("fetches no lists")), "{foreseen:?}");
}

/// dnf looks whether there is a network, and keeps checksums beside its lists, before it answers from what was fetched.
#[test]
fn a_dry_run_tells_dnf_that_there_is_no_network() {
    const LOOKING: &str = "use Socket; use Errno; \
        exit 1 if socket(S, PF_INET6, SOCK_DGRAM, 0) or !$!{EAFNOSUPPORT}; \
        open F, '+>', '/var/lib/list' or exit 2; my ($name, $value) = ('user.a', 'b'); \
        exit 3 if syscall(NUMBER, fileno(F), $name, $value, 1, 0) != -1 or !$!{EOPNOTSUPP}";
    let number = if cfg!(target_arch = "x86_64") { "190" } else { "7" };
    let looking = format!("#!/bin/sh\nperl -e '{}' || exit 9\n", LOOKING.replace('\'', "\"").replace("NUMBER", number));
    let node = prepared(Node::new());
    node.root.write_program("/usr/bin/dnf", DNF.replacen("#!/bin/sh\n", &looking, 1)).unwrap();
    let foreseen = node.dry().foresee("dnf_package", "vim", "install", json!({})).unwrap();
    let changes = vec!["install version 2:8.2-1.el9.x86_64 of package vim".to_owned()];
    assert_eq!(foreseen, Foreseen { changes, ..Foreseen::default() });
}

/// `yum_repository` drops the list under a name that is not a package's.
#[test]
fn the_list_of_known_packages_is_dropped_without_a_right() {
    let mut node = prepared(Node::granting(""));
    for kind in ["dnf_package", "yum_package"] {
        check(&mut node, (kind, "package-cache-reload-app", "flush_cache"), json!({}), &[], "");
    }
}

/// Some options have dnf start programs, also where it is only asked what it would do.
#[test]
fn attack_a_dry_run_asks_dnf_nothing_with_options_that_start_programs() {
    let mut node = prepared(Node::new()).dry();
    let noted = DNF.replacen("#!/bin/sh\n", "#!/bin/sh\necho \"$*\" >> /srv/asked\n", 1);
    for tool in ["dnf", "yum"] {
        node.root.write_program(format!("/usr/bin/{tool}"), &noted).unwrap();
    }
    node.root.write("/srv/x.rpm", package_file("tool (none) 1.0 1 noarch\n")).unwrap();
    for (name, action, more) in [
        ("vim", "install", json!({})),
        ("bash", "remove", json!({})),
        ("tool", "install", json!({"source": "/srv/x.rpm"})),
    ] {
        for kind in ["dnf_package", "yum_package"] {
            let mut properties = more.clone();
            properties["options"] = json!("--setopt=pluginpath=/srv/evil");
            let foreseen = node.foresee(kind, name, action, properties).unwrap();
            assert!(foreseen.unknown.iter().any(|why| why.contains("options that may start")), "{name} {foreseen:?}");
        }
    }
    let asked = node.root.read("/srv/asked").unwrap_or_default();
    assert!(!asked.contains("pluginpath"), "{asked}");
}
