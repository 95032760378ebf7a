//! The operator's word, per policy, and the one function through which every decision goes.

use crate::commands::CommandGrant;
use crate::denied::{Capability, Denied, toml_key, toml_list};
use crate::file::{self, GrantsError};
use crate::pattern::Asked;
use crate::proofs::GrantedReboot;
use crate::rules::{Rules, Verdict};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

/// The most of one question that goes into the audit log, in characters: guests choose its length.
const MAX_AUDITED: usize = 512;

/// All that an operator grants, by policy.
#[derive(Debug, Clone, Default)]
pub struct Grants {
    policies: BTreeMap<String, PolicyRules>,
    everything: bool,
    needs: Option<Arc<Needs>>,
    own_places: Arc<[String]>,
}

impl Grants {
    /// Grants nothing to anybody, as a missing file does.
    pub fn nothing() -> Self {
        Self::default()
    }

    /// Reads the operator's file. `name` is what errors call it.
    ///
    /// # Errors
    /// It is no TOML, has a key that does not exist, or a rule that cannot be; file and line are named.
    pub fn parse(text: &str, name: &str) -> Result<Self, GrantsError> {
        Ok(Self { policies: file::parse(text, name)?, ..Self::default() })
    }

    /// Grants everything to every policy: for one's own machine.
    pub fn allow_all() -> Self {
        Self { everything: true, ..Self::default() }
    }

    /// The same grants, and from now on it is written down what is asked for; see [`needs`](Self::needs).
    #[must_use]
    pub fn recording(self) -> Self {
        Self { needs: Some(Arc::default()), ..self }
    }

    /// The same grants on a machine where these resolved paths, as seen from inside the root, are wrun's own: state, grants,
    /// settings. They are privileged and secret with all below them, as their usual places are anywhere.
    #[must_use]
    pub fn keeping(self, own_places: Vec<String>) -> Self {
        Self { own_places: own_places.into(), ..self }
    }

    /// The grants of one policy; none at all for a policy that the file does not name.
    ///
    /// `cookbooks` are its cookbooks' names: it may write attributes below them, and below `tags`.
    pub fn policy(&self, name: &str, cookbooks: &[String]) -> Arc<PolicyGrants> {
        self.policy_beside(name, cookbooks, &[])
    }

    /// The grants of one policy of several. `others` are the names of the other policies' cookbooks: who names a cookbook
    /// as another team does has no right to that team's `normal` attributes for it.
    pub fn policy_beside(&self, name: &str, cookbooks: &[String], others: &[String]) -> Arc<PolicyGrants> {
        Arc::new(PolicyGrants {
            policy: name.into(),
            everything: self.everything,
            cookbooks: cookbooks.to_vec(),
            contested: cookbooks.iter().filter(|cookbook| others.contains(cookbook)).cloned().collect(),
            rules: self.policies.get(name).cloned().unwrap_or_default(),
            needs: self.needs.clone(),
            own_places: Arc::clone(&self.own_places),
        })
    }

    /// Names of the policies that the file has a table for.
    pub fn policy_names(&self) -> impl Iterator<Item = &str> {
        self.policies.keys().map(String::as_str)
    }

    /// What was asked for since [`recording`](Self::recording), as the least file that allows it.
    pub fn needs(&self) -> String {
        self.needs.as_ref().map(|needs| needs.to_toml()).unwrap_or_default()
    }
}

/// Limits of a policy's run; none: the host's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Limits {
    /// Seconds of processor time for guest code.
    pub guest_seconds: Option<u64>,
    /// Seconds from the policy's begin to its end.
    pub wall_seconds: Option<u64>,
    /// Memory of the guest, in mebibytes.
    pub memory_mib: Option<u64>,
}

/// A policy's table.
#[derive(Debug, Clone, Default)]
pub(crate) struct PolicyRules {
    pub(crate) lists: BTreeMap<Capability, Rules>,
    pub(crate) commands: Vec<CommandGrant>,
    pub(crate) denied_commands: Vec<CommandGrant>,
    pub(crate) clock: bool,
    pub(crate) random: bool,
    pub(crate) reboot: bool,
    pub(crate) limits: Limits,
}

/// What one policy may do. Its methods check, and return proofs.
#[derive(Debug, Clone)]
pub struct PolicyGrants {
    pub(crate) policy: String,
    pub(crate) everything: bool,
    pub(crate) cookbooks: Vec<String>,
    /// Those of its cookbooks' names that another policy of the run has too.
    pub(crate) contested: Vec<String>,
    pub(crate) rules: PolicyRules,
    needs: Option<Arc<Needs>>,
    /// Paths of wrun's own.
    pub(crate) own_places: Arc<[String]>,
}

static NO_RULES: Rules = Rules::NONE;

impl PolicyGrants {
    /// The policy's name.
    pub fn policy(&self) -> &str {
        &self.policy
    }

    /// Whether this policy may do everything, since the operator said so on the command line.
    pub fn allows_everything(&self) -> bool {
        self.everything
    }

    /// Limits of the policy's run.
    pub fn limits(&self) -> Limits {
        self.rules.limits
    }

    /// Whether the policy is granted anything at all of a capability.
    pub fn has_any(&self, capability: Capability) -> bool {
        self.everything
            || match capability {
                Capability::Commands => !self.rules.commands.is_empty(),
                Capability::Clock => self.rules.clock,
                Capability::Random => self.rules.random,
                Capability::Reboot => self.rules.reboot,
                Capability::PrivilegedPaths => {
                    self.list(Capability::Paths).iter().any(|rule| rule.allow && rule.privileged)
                }
                _ => self.list(capability).iter().any(|rule| rule.allow),
            }
    }

    /// Whether the policy may know the present time; else it hears when the run began.
    pub fn clock(&self) -> bool {
        self.everything || self.rules.clock
    }

    /// Whether the policy may draw random numbers.
    pub fn random(&self) -> bool {
        self.everything || self.rules.random
    }

    /// Whether the policy may start the node again, which ends what every other policy has running.
    ///
    /// # Errors
    /// Not granted.
    pub fn reboot(&self) -> Result<GrantedReboot, Denied> {
        let line = || "reboot = true".to_owned();
        if !self.everything && !self.rules.reboot {
            return Err(self.refuse_with_line(Capability::Reboot, "the node", line(), None));
        }
        let rule = if self.everything { "--allow-all".to_owned() } else { line() };
        let (policy, key) = (self.policy.as_str(), Capability::Reboot.key());
        tracing::info!(target: "audit", decision = "allowed", policy, capability = key, asked = "the node", rule);
        self.need(key, line());
        Ok(GrantedReboot(()))
    }

    pub(crate) fn list(&self, capability: Capability) -> &Rules {
        self.rules.lists.get(&capability).unwrap_or(&NO_RULES)
    }

    /// The decision about one thing. `shown` is what a rule for exactly this thing would say.
    pub(crate) fn decide(
        &self,
        capability: Capability,
        asked: Asked<'_>,
        shown: &str,
        privileged: impl Fn() -> bool,
    ) -> Result<(), Denied> {
        if self.everything {
            return self.allow(capability, shown, "--allow-all");
        }
        let reason = match self.list(capability).decide(asked, privileged) {
            Verdict::Allowed(rule) => return self.allow(capability, shown, &rule.text),
            Verdict::Refused(rule) => Some(format!("line {} of the grants refuses it: `{}`", rule.line, rule.text)),
            Verdict::TooWide(rule) => Some(format!(
                "it is privileged, and `{}` in line {} is too wide a rule to reach it",
                rule.text, rule.line
            )),
            Verdict::Unheard => None,
        };
        Err(self.refuse(capability, shown, shown, reason))
    }

    /// Writes down that something is allowed.
    pub(crate) fn allow(&self, capability: Capability, asked: &str, rule: &str) -> Result<(), Denied> {
        let (policy, key) = (self.policy.as_str(), capability.key());
        tracing::info!(target: "audit", decision = "allowed", policy, capability = key, asked = audited(asked), rule);
        if let Some(needs) = &self.needs
            && capability != Capability::Commands
        {
            needs.add(policy, key, toml_list(key, [asked]));
        }
        Ok(())
    }

    /// Writes down that a line of the file was needed that is no list's entry.
    pub(crate) fn need(&self, key: &'static str, line: String) {
        if let Some(needs) = &self.needs {
            needs.add(&self.policy, key, line);
        }
    }

    /// Writes down that something is refused, and says what would allow it.
    pub(crate) fn refuse(&self, capability: Capability, asked: &str, allowing: &str, reason: Option<String>) -> Denied {
        let line = toml_list(capability.key(), [allowing]);
        self.refuse_with_line(capability, asked, line, reason)
    }

    /// The same where the line is no plain list.
    pub(crate) fn refuse_with_line(
        &self,
        capability: Capability,
        asked: &str,
        line: String,
        reason: Option<String>,
    ) -> Denied {
        self.audit_refusal(capability, asked, reason.as_deref());
        self.denial(capability, asked, line, reason)
    }

    /// Writes a refusal into the audit log.
    pub(crate) fn audit_refusal(&self, capability: Capability, asked: &str, reason: Option<&str>) {
        let (policy, key) = (self.policy.as_str(), capability.key());
        tracing::warn!(target: "audit", decision = "denied", policy, capability = key, asked = audited(asked), reason);
    }

    /// A refusal that is in the audit log.
    pub(crate) fn denial(&self, capability: Capability, asked: &str, line: String, reason: Option<String>) -> Denied {
        Denied { policy: self.policy.clone(), capability, asked: asked.into(), line, reason }
    }
}

fn audited(asked: &str) -> String {
    asked.chars().take(MAX_AUDITED).flat_map(char::escape_debug).collect()
}

/// What was asked for, per policy and key, as lines of the file.
#[derive(Debug, Default)]
struct Needs(Mutex<BTreeMap<String, BTreeMap<&'static str, BTreeSet<String>>>>);

impl Needs {
    fn add(&self, policy: &str, key: &'static str, line: String) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.entry(policy.into()).or_default().entry(key).or_default().insert(line);
    }

    fn to_toml(&self) -> String {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut text = String::new();
        for (policy, keys) in &*all {
            if !text.is_empty() {
                text.push('\n');
            }
            text.push_str(&format!("[policy.{}]\n", toml_key(policy)));
            for (key, lines) in keys {
                text.push_str(&merged(key, lines));
            }
        }
        text
    }
}

/// Lines of one key as one line: `key = [..]` with all entries, or the one line there is.
fn merged(key: &str, lines: &BTreeSet<String>) -> String {
    let (head, tail) = (format!("{key} = ["), "]");
    let entries: Option<Vec<&str>> =
        lines.iter().map(|line| line.strip_prefix(&head).and_then(|line| line.strip_suffix(tail))).collect();
    match entries {
        Some(entries) if entries.len() == 1 => format!("{head}{}]\n", entries.concat()),
        Some(entries) => format!("{head}\n    {},\n]\n", entries.join(",\n    ")),
        None => lines.iter().map(|line| format!("{line}\n")).collect(),
    }
}
