//! `verify` commands in another root than the machine's own.

use crate::node::Node;
use serde_json::json;

/// The programs of the root find the copy in the root. The folder is its owner's still, who has a link there in the end.
#[test]
fn attack_a_verify_command_in_another_root_reads_a_copy_where_others_own_the_folder() {
    let rules = "paths = [\"/srv/app/**\"]\ncommands = [{ argv = [\"check\", \"%{path}\"] }]\n";
    let mut node = Node::granting(rules);
    let exchange = "#!/bin/sh\nfor file in /srv/app/.chef-*; do ln -sfn /etc/shadow \"$file\"; done\n\
                    case $1 in /var/cache/wrun/verify/.chef-conf-*.ini) ;; *) exit 2 ;; esac\n\
                    test \"$(cat \"$1\")\" = content\n";
    node.root.write_program("/usr/bin/check", exchange).unwrap();
    node.output("mkdir /srv/app && chown nobody /srv/app");
    let wish = json!({"content": "content", "verify": ["check %{path}"]});
    node.act("file", "/srv/app/conf.ini", "create", wish).unwrap();
    assert_eq!(node.output("ls -A /var/cache/wrun/verify"), "");
}
