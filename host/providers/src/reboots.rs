//! Requests for a reboot of the node. Policies make them while they converge, and the caller that ends the run carries them
//! out.

use contract::{ErrorKind, Raised};
use grants::GrantedReboot;
use machine::command::{Commands, Launch, require_success};
use machine::users::Users;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use text::is_hidden;

/// A policy's request for a reboot of the node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reboot {
    /// The delay, in minutes.
    pub minutes: u32,
    /// The reason, which logged-in users see.
    pub reason: String,
    /// The name of the resource that made the request.
    pub asked_by: String,
    granted: GrantedReboot,
}

impl Reboot {
    pub(crate) fn new(granted: GrantedReboot, minutes: u32, reason: &str, asked_by: &str) -> Self {
        Self { minutes, reason: reason.into(), asked_by: asked_by.into(), granted }
    }
}

/// The reboot requests of a run, shared by all its policies. A policy can withdraw only its own request.
#[derive(Debug, Clone, Default)]
pub struct Reboots(Arc<Mutex<BTreeMap<String, Reboot>>>);

impl Reboots {
    /// Returns the requests, by policy.
    pub fn all(&self) -> Vec<(String, Reboot)> {
        self.lock().iter().map(|(policy, reboot)| (policy.clone(), reboot.clone())).collect()
    }

    pub(crate) fn request(&self, policy: &str, reboot: Reboot) {
        self.lock().insert(policy.into(), reboot);
    }

    pub(crate) fn cancel(&self, policy: &str) {
        self.lock().remove(policy);
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Reboot>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reboots the node for the request with the shortest delay. Returns `None` without a request, and false if the root is
    /// not the machine itself and so cannot be rebooted.
    ///
    /// # Errors
    /// [`ErrorKind::RebootFailed`].
    pub fn carry_out(&self, root: &Path) -> Result<Option<bool>, Raised> {
        let Some((policy, reboot)) = self.all().into_iter().min_by_key(|(_, reboot)| reboot.minutes) else {
            return Ok(None);
        };
        if root != Path::new("/") {
            return Ok(Some(false));
        }
        let Reboot { minutes, reason, asked_by, granted: _proof } = reboot;
        tracing::warn!("starting the node again for {policy}: {} ({})", reason.escape_debug(), asked_by.escape_debug());
        let launch = launch(minutes, &reason);
        let failed = |raised: Raised| Raised::new(ErrorKind::RebootFailed, raised.message);
        let outcome = Commands::new(root, None).run(&launch, &mut Users::default(), None);
        let outcome = outcome.map_err(|failure| failed(failure.into_raised(&launch)))?;
        require_success(&launch, &outcome, &[0]).map_err(failed)?;
        Ok(Some(true))
    }
}

/// Maximum length of a reason, in characters. All logged-in users see it.
const MAX_REASON: usize = 400;

/// Builds the command. A guest chose the reason, so characters that hide or reorder text on terminals are left out.
fn launch(minutes: u32, reason: &str) -> Launch {
    let reason: String = reason.chars().filter(|character| !is_hidden(*character)).take(MAX_REASON).collect();
    Launch::program("shutdown", ["-r", "--", &format!("+{minutes}"), &reason])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reboot(minutes: u32) -> Reboot {
        let granted = grants::Grants::allow_all().policy("p", &[]).reboot().unwrap();
        Reboot::new(granted, minutes, "why\n-x", "later")
    }

    #[test]
    fn requests_are_each_policys_own() {
        let desk = Reboots::default();
        assert_eq!(desk.carry_out(Path::new("/srv/root")), Ok(None));
        desk.request("a", reboot(5));
        desk.clone().request("b", reboot(1));
        desk.cancel("c");
        assert_eq!(desk.carry_out(Path::new("/srv/root")), Ok(Some(false)), "an image is not started");
        desk.cancel("a");
        let left: Vec<_> = desk.all().into_iter().map(|(policy, reboot)| (policy, reboot.minutes)).collect();
        assert_eq!(left, [("b".to_owned(), 1)]);
    }

    #[test]
    fn a_reason_is_no_option() {
        assert_eq!(launch(2, "-h now\n").shown(), "shutdown -r -- +2 -h now");
    }

    #[test]
    fn a_reason_hides_nothing_on_the_terminals_of_others() {
        assert_eq!(launch(2, "a\u{202e}b\u{200b}\u{1b}[2Jc").shown(), "shutdown -r -- +2 ab[2Jc");
        assert_eq!(launch(2, &"x".repeat(5000)).shown(), format!("shutdown -r -- +2 {}", "x".repeat(400)));
    }
}
