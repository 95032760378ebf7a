//! Converts denials for guests: they name a path as the guest's code wrote it.
//!
//! Grants are checked for resolved paths. A denial with the resolved path would tell the guest where every link leads, and
//! the links in `/proc` name all running programs. So the guest sees the path that it wrote, and the decision of its rules
//! about that path, as if it had no links. If the rules would allow the written path, only the resolved one is refused. The
//! operator finds the resolved path, and the grant that would allow it, in the audit log and in the list of denials.

use crate::denied::denied;
use crate::root::{MAX_PATH, PathSource, Root, Written};
use contract::{ErrorKind, Raised, Resolved};
use grants::{CommandAsked, Denied, MountAsked, PolicyGrants};

/// The hint in place of the grant that would allow the action.
const HINT: &str = "the list of denials at the end of the run has the line that would allow it";

/// Converts a denial to the words of the refused resource.
pub fn as_written(raised: Raised, grants: &PolicyGrants, root: &Root) -> Raised {
    let Some(resolved) = raised.resolved.clone() else { return raised };
    let raised = Raised { resolved: None, ..raised };
    let Written { text, real } = match root.as_written(&resolved.path) {
        PathSource::Written(written) => written,
        PathSource::Forgotten => return heard(raised, &resolved, "a path of the resource", false, grants),
        PathSource::Unwritten => return raised,
    };
    let below = resolved.path.strip_prefix(&real).unwrap_or_default();
    heard(raised, &resolved, &format!("{text}{below}"), plain(&text).is_some_and(|plain| plain == real), grants)
}

/// Does the same for one written path.
pub(crate) fn as_asked(raised: Raised, written: &str, grants: &PolicyGrants) -> Raised {
    let Some(resolved) = raised.resolved.clone() else { return raised };
    let raised = Raised { resolved: None, ..raised };
    let is_plain = plain(written).is_some_and(|plain| plain == resolved.path);
    heard(raised, &resolved, written, is_plain, grants)
}

/// Builds the message for the guest. `is_plain` is true if no link led from the written path to the resolved one, so that the
/// denial reveals no link.
fn heard(raised: Raised, resolved: &Resolved, written: &str, is_plain: bool, grants: &PolicyGrants) -> Raised {
    if is_plain {
        return raised;
    }
    let shown: String = written.chars().take(MAX_PATH).collect();
    let refusal = plain(&shown).and_then(|plain| grants.refusal_of_text(resolved.key, &plain));
    let (sentence, hint) = match refusal {
        Some(refusal) => (Denied { asked: shown, ..refusal.clone() }.to_string(), refusal.hint()),
        None => (grants.plain_refusal(resolved.key, &shown), HINT.to_owned()),
    };
    Raised { message: raised.message.replace(&resolved.sentence, &sentence), hint: Some(hint), ..raised }
}

/// Converts the denial of a command. The message has the directory as written; `asked` has the resolved one.
pub fn command(denial: Denied, asked: &CommandAsked<'_>, cwd: Option<&str>, grants: &PolicyGrants) -> Raised {
    if cwd == asked.cwd {
        return denied(denial);
    }
    let by_text = cwd.and_then(plain);
    let asked = CommandAsked { cwd: by_text.as_deref().or(cwd), ..*asked };
    again(denial, grants.silent().command(&asked).map(drop))
}

/// Converts the denial of a mount to the names as written.
pub fn mount(denial: Denied, written: &MountAsked<'_>, grants: &PolicyGrants) -> Raised {
    match grants.silent().mount(written) {
        Err(refusal) => denied(refusal),
        // The denial has the resolved mount point, which would reveal the target of a link.
        Ok(granted) => again(Denied { asked: granted.to_string(), ..denial }, Ok(())),
    }
}

/// Returns the decision of the rules about the written words.
fn again(denial: Denied, by_text: Result<(), Denied>) -> Raised {
    match by_text {
        Err(refusal) => denied(refusal),
        Ok(()) => Raised::new(ErrorKind::Denied, Denied { reason: None, ..denial }.to_string()).with_hint(HINT),
    }
}

/// Normalizes an absolute path: removes doubled slashes and `.`. Returns `None` if it has `..`, which may lead anywhere.
fn plain(path: &str) -> Option<String> {
    if !path.starts_with('/') {
        return None;
    }
    let parts: Vec<&str> = path.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    (!parts.contains(&"..")).then(|| format!("/{}", parts.join("/")))
}
