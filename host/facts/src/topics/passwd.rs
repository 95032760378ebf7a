//! `etc.passwd`, `etc.group`, `current_user`: Ohai's plugin Passwd.
//!
//! Ohai asks the name service, which may have thousands of users of a directory service. Here only the root's own files are
//! read. That works in the same way for a running system and an image.

use serde_json::{Value, json};

use crate::limits;
use crate::machine::{Gathered, Machine};
use crate::topics::{known, one};

pub(crate) fn gather(machine: &Machine) -> Gathered {
    // A policy may make accounts. Of a table that is too long, the first ones are those of the system.
    let table = |path| machine.root.first_lines(path, limits::TABLE_FILE);
    let users = table("/etc/passwd").map(|text| users(&text));
    let groups = table("/etc/group").map(|text| groups(&text));
    let own_identity = Value::from(rustix::process::geteuid().as_raw());
    let own_name = users.as_ref().and_then(|users| {
        users.iter().find(|(_, user)| user.get("uid") == Some(&own_identity)).map(|(name, _)| name.clone())
    });
    if users.is_none() && groups.is_none() {
        return Gathered::new();
    }
    let mut gathered = one("etc", known([("passwd", users), ("group", groups)]));
    gathered.extend(known([("current_user", own_name)]));
    gathered
}

/// Returns the users of a `passwd` file. If a name occurs twice, the first line counts.
fn users(text: &str) -> Gathered {
    let mut users = Gathered::new();
    for line in text.lines() {
        let fields: Vec<&str> = line.split(':').collect();
        let [name, _, uid, gid, gecos, directory, shell] = fields.as_slice() else { continue };
        let (Ok(uid), Ok(gid)) = (uid.parse::<u32>(), gid.parse::<u32>()) else { continue };
        if is_name(name) {
            users
                .entry(*name)
                .or_insert_with(|| json!({"dir": directory, "gid": gid, "uid": uid, "shell": shell, "gecos": gecos}));
        }
    }
    users
}

/// Returns the groups of a `group` file. If a name occurs twice, the last line counts.
fn groups(text: &str) -> Gathered {
    let mut groups = Gathered::new();
    for line in text.lines() {
        let fields: Vec<&str> = line.split(':').collect();
        let [name, _, gid, members] = fields.as_slice() else { continue };
        let Ok(gid) = gid.parse::<u32>() else { continue };
        if is_name(name) {
            let members: Vec<&str> = members.split(',').filter(|member| !member.is_empty()).collect();
            groups.insert((*name).to_owned(), json!({"gid": gid, "members": members}));
        }
    }
    groups
}

/// Tells whether a name is a real one: not a comment, and not an entry that NIS would replace (`+`, `-name`).
fn is_name(name: &str) -> bool {
    !name.is_empty() && !name.starts_with(['#', '+', '-'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_users() {
        let text = "root:x:0:0:root:/root:/bin/bash\n#c:x:1:1:::\n+::::::\nshort:x:1\nodd:x:one:1:::\n\
                    www:x:33:33:Web,,,:/var/www:\nroot:x:1:1:other:/:/bin/sh\nlarge:x:4294967294:9:::/bin/false\n";
        assert_eq!(
            Value::Object(users(text)),
            json!({
                "root": {"dir": "/root", "gid": 0, "uid": 0, "shell": "/bin/bash", "gecos": "root"},
                "www": {"dir": "/var/www", "gid": 33, "uid": 33, "shell": "", "gecos": "Web,,,"},
                "large": {"dir": "", "gid": 9, "uid": 4_294_967_294_u32, "shell": "/bin/false", "gecos": ""},
            })
        );
    }

    #[test]
    fn reads_groups() {
        assert_eq!(
            Value::Object(groups("root:x:0:\nadm:x:4:a,b\nodd:x:x:\n\u{fffd}:x:7:\nshort\nadm:x:5:c\n")),
            json!({
                "root": {"gid": 0, "members": []},
                "adm": {"gid": 5, "members": ["c"]},
                "\u{fffd}": {"gid": 7, "members": []},
            })
        );
    }
}
