//! Owner and mode are given to what was judged, and never to what has its name by then.

use crate::node::Node;
use serde_json::json;

const GRANTS: &str = "paths = [\"/srv/app/www\", \"/srv/app/www/**\"]\nread_paths = [\"/srv/site.tar\"]\n";

/// An archive, and a key of another team beside its destination.
const SITE: &str = "useradd -M app; mkdir -p /srv/app/www /tmp/t/sub; echo x > /tmp/t/a0; chmod 4755 /tmp/t/a0
    ln -s a0 /tmp/t/link; tar -C /tmp/t -cf /srv/site.tar ./a0 ./sub ./link; cp /tmp/t/a0 /srv/app/www/a0
    mkdir /srv/app/www/sub; ln -s a0 /srv/app/www/link; chown app /srv/app
    chown -h root /srv/app/www/a0 /srv/app/www/sub /srv/app/www/link
    echo key > /srv/app/tls.key; chmod 600 /srv/app/tls.key; mkdir -m 700 /srv/app/vault; echo data > /srv/app/vault/data";

#[test]
fn attack_what_takes_an_entrys_name_is_not_given_away() {
    for (own, others) in [("a0", "tls.key"), ("sub", "vault")] {
        let mut node = Node::granting(GRANTS);
        node.output(SITE);
        let swap = format!("cd /srv/app; mv www/{own} aside; mv {others} www/{own}");
        let give = json!({"destination": "/srv/app/www", "owner": "app"});
        let raised = node.act_after(("archive_file", "/srv/site.tar", "extract"), give, |root| {
            assert!(root.run(&["sh", "-c", &swap]).unwrap().status.success());
        });
        let raised = raised.unwrap_err();
        assert!(raised.message.contains("changed after this action was planned"), "{own}: {}", raised.message);
        assert_eq!(node.output(&format!("stat -c %U /srv/app/www/{own}")), "root", "{own}");
    }
}

#[test]
fn entries_have_their_owner_as_soon_as_they_are_there() {
    let mut node = Node::granting(&format!("{GRANTS}setuid = [\"/srv/app/www/a0\"]\n"));
    node.output(SITE);
    let extract = |overwrite: bool| json!({"destination": "/srv/app/www", "owner": "app", "overwrite": overwrite, "options": ["permissions"]});
    let owners = "cd /srv/app/www; stat -c '%U %a %n' a0 sub link | tr '\n' ' '";
    node.act("archive_file", "/srv/site.tar", "extract", extract(false)).unwrap();
    assert_eq!(node.output(owners), "app 755 a0 app 755 sub app 777 link");
    node.output("chown -R root /srv/app/www/sub; rm -r /srv/app/www/a0");
    node.act("archive_file", "/srv/site.tar", "extract", extract(true)).unwrap();
    assert_eq!(node.output(owners), "app 755 a0 app 755 sub app 777 link");
    node.output("rm -r /srv/app/www");
    node.act("archive_file", "/srv/site.tar", "extract", extract(true)).unwrap();
    assert_eq!(node.output(owners), "app 755 a0 app 755 sub app 777 link");
    assert_eq!(node.output("stat -c %U /srv/app/tls.key /srv/app/vault"), "root\nroot");
}
