//! `verify "gpg %{path}"`, with which `apt_repository` has a key checked, against a gpg that does as the real one does.

use crate::node::Node;
use serde_json::json;

/// Without a command, gpg unpacks its input beside the file. It obeys the settings in its home directory, and calls a message
/// that it skips no error.
const GPG: &str = r#"
cat > /usr/local/bin/gpg <<'X'
#!/bin/sh
home=/root/.gnupg command= last=
while [ $# -gt 0 ]; do
  case $1 in --homedir) home=$2; shift;; --show-keys) command=show;; esac
  last=$1; shift
done
if [ -z "$command" ]; then cat "$last" > "${last%.gpg}"; exit; fi
[ -e "$home/gpg.conf" ] && echo pub:of-the-settings
content=$(cat)
case $content in *KEY*) echo pub:-:1;; MESSAGE) ;; *) echo "no valid OpenPGP data found" >&2; exit 2;; esac
X
chmod 755 /usr/local/bin/gpg
"#;

fn node(grants: &str) -> Node {
    let node = Node::granting(grants);
    node.output(GPG);
    node
}

const GRANTS: &str = "paths = [\"/srv/app\", \"/srv/app/**\"]\ncommands = [\"gpg %{path}\"]\n";

#[test]
fn attack_the_check_of_a_key_writes_nothing_beside_it_and_through_no_link() {
    let mut node = node(GRANTS);
    node.output("mkdir /srv/app; for i in 0 1 2; do ln -s /etc/evil /srv/app/.chef-x-wrun-$i; done");
    for content in ["* * * * * root /srv/app/evil\n", "MESSAGE"] {
        let asked = json!({ "content": content, "verify": ["gpg %{path}"] });
        let raised = node.act("file", "/srv/app/x.gpg", "create", asked).unwrap_err();
        let expect = "Proposed content for /srv/app/x.gpg failed verification gpg %{path}\nSTDOUT: ";
        assert!(raised.message.starts_with(expect), "{}", raised.message);
    }
    let asked = json!({ "content": "a KEY", "verify": ["gpg %{path}"] });
    node.act("file", "/srv/app/x.gpg", "create", asked).unwrap();
    assert_eq!(node.output("cat /srv/app/x.gpg; ls -A /srv/app | wc -l; test ! -e /etc/evil"), "a KEY4");
}

#[test]
fn attack_the_check_of_a_key_obeys_no_settings_that_others_wrote() {
    let mut node = node(GRANTS);
    node.output("mkdir -p /srv/app /root/.gnupg /tmp/.wrun-asked; for home in /tmp /root/.gnupg /tmp/.wrun-asked; do : > $home/gpg.conf; done");
    let asked = json!({ "content": "MESSAGE", "verify": ["gpg %{path}"] });
    let raised = node.act("file", "/srv/app/x.gpg", "create", asked).unwrap_err();
    assert!(raised.message.contains("STDOUT: \n"), "{}", raised.message);
}

#[test]
fn the_check_of_a_key_needs_its_grant_and_is_foreseen() {
    let asked = |content: &str| json!({ "content": content, "verify": ["gpg %{path}"] });
    let raised = node("paths = [\"/srv/**\"]\n").act("file", "/srv/x", "create", asked("a KEY")).unwrap_err();
    assert_eq!(raised.class(), "Wrun::Denied");
    let mut node = node("").dry();
    let foreseen = node.foresee("file", "/srv/x", "create", asked("a KEY")).unwrap();
    assert!(foreseen.unknown.is_empty(), "{foreseen:?}");
    let foreseen = node.foresee("file", "/srv/x", "create", asked("MESSAGE")).unwrap();
    assert_eq!(foreseen.unknown, ["gpg %{path} rejects the new content of /srv/x, as the machine is now"]);
}

/// A command may make names of files beside the content from its name. The policy may lay links in that folder.
#[test]
fn attack_the_name_of_content_that_a_command_verifies_cannot_be_foreseen() {
    let mut node = node("paths = [\"/srv/app/**\"]\ncommands = [\"tee %{path}.log\"]\n");
    node.output("mkdir /srv/app; for i in 0 1 2; do ln -s /etc/evil /srv/app/.chef-x-wrun-$i.conf.log; done");
    let asked = json!({ "content": "x", "verify": ["tee %{path}.log"] });
    node.act("file", "/srv/app/x.conf", "create", asked).unwrap();
    assert_eq!(
        node.output("test ! -e /etc/evil; cd /srv/app; ls -A | grep -c '^.chef-x-[0-9a-f]\\{32\\}.conf.log$'"),
        "1"
    );
}
