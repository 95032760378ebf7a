//! The operator's word, per policy, and the one function through which every decision goes.

use crate::audit::{AuditLog, Decision};
use crate::commands::CommandGrant;
use crate::denied::{Capability, Denied, literal_entry};
use crate::facts::OnHiddenFact;
use crate::file::{self, GrantsError, rule_of};
use crate::homes::Homes;
use crate::journal::Journal;
use crate::limits::Limits;
use crate::pattern::Asked;
use crate::proofs::GrantedReboot;
use crate::rules::{Rules, Verdict};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// All that an operator grants, by policy.
#[derive(Debug, Clone, Default)]
pub struct Grants {
    policies: BTreeMap<String, PolicyRules>,
    everything: bool,
    journal: Journal,
    own_places: Arc<OwnPlaces>,
    homes: Arc<Homes>,
}

/// The resolved paths, as seen from inside the root, of all that is wrun's own on this machine.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OwnPlaces {
    /// State, settings, grants and data: privileged and secret with all below them.
    pub data: Vec<String>,
    /// wrun's program, its runtime and libraries, cookbooks, programs of the operator's that it starts: privileged with all
    /// below them. Reading them gives nothing away.
    pub code: Vec<String>,
}

impl Grants {
    /// Grants nothing to anybody, as a missing file does.
    pub fn nothing() -> Self {
        Self::default()
    }

    /// Reads the operator's file. `name` is what errors call it.
    ///
    /// # Errors
    /// It is not TOML, has a key that does not exist, or a rule that cannot be; file and line are named.
    pub fn parse(text: &str, name: &str) -> Result<Self, GrantsError> {
        Self::parse_files(&[(name, text)])
    }

    /// Reads several files of the operator's, as `(name, text)`.
    ///
    /// # Errors
    /// As [`parse`](Self::parse); or a policy has a table in two of them.
    pub fn parse_files(files: &[(&str, &str)]) -> Result<Self, GrantsError> {
        let mut policies: BTreeMap<String, PolicyRules> = BTreeMap::new();
        for (name, text) in files {
            for (policy, rules) in file::parse(text, name)? {
                if let Some(first) = policies.get(&policy) {
                    let (first, second) = (first.place(), rules.place());
                    return Err(GrantsError::Twice { policy, first, second });
                }
                policies.insert(policy, rules);
            }
        }
        Ok(Self { policies, ..Self::default() })
    }

    /// Grants everything to every policy: for one's own machine.
    pub fn allow_all() -> Self {
        Self { everything: true, ..Self::default() }
    }

    /// The same grants on a machine where these places are wrun's own. Rules with wildcards do not reach them.
    #[must_use]
    pub fn keeping(self, own_places: OwnPlaces) -> Self {
        Self { own_places: own_places.into(), ..self }
    }

    /// The same grants on a machine where these resolved paths, as seen from inside the root, are users' homes. Rules with
    /// wildcards do not reach hidden names in them.
    #[must_use]
    pub fn with_homes(self, homes: Vec<String>) -> Self {
        Self { homes: Arc::new(Homes::of(homes)), ..self }
    }

    /// The grants of one policy; none at all for a policy that the file does not name.
    ///
    /// `cookbooks` are its cookbooks' names: it may write attributes below them, and below `tags`.
    pub fn policy(&self, name: &str, cookbooks: &[String]) -> Arc<PolicyGrants> {
        Arc::new(PolicyGrants {
            policy: name.into(),
            everything: self.everything,
            cookbooks: cookbooks.to_vec(),
            rules: self.policies.get(name).cloned().unwrap_or_default(),
            journal: self.journal.clone(),
            audit: Arc::default(),
            own_places: Arc::clone(&self.own_places),
            homes: Arc::clone(&self.homes),
            silent: false,
            hiding: false,
            verified: Arc::default(),
        })
    }

    /// Names of the policies that the file has a table for.
    pub fn policy_names(&self) -> impl Iterator<Item = &str> {
        self.policies.keys().map(String::as_str)
    }

    pub(crate) fn tables(&self) -> &BTreeMap<String, PolicyRules> {
        &self.policies
    }

    /// The file that has the table of a policy; `None`: no file has it.
    pub fn file_of(&self, policy: &str) -> Option<&str> {
        self.policies.get(policy).map(|rules| &*rules.file)
    }

    /// What is asked for from now on is written here.
    pub fn journal(&self) -> &Journal {
        &self.journal
    }
}

/// A policy's table in the operator's file, key by key.
#[derive(Debug, Clone, Default)]
pub(crate) struct PolicyRules {
    pub(crate) lists: BTreeMap<Capability, Rules>,
    pub(crate) commands: Vec<CommandGrant>,
    pub(crate) denied_commands: Vec<CommandGrant>,
    pub(crate) clock: bool,
    pub(crate) random: bool,
    pub(crate) reboot: bool,
    pub(crate) limits: Limits,
    pub(crate) on_hidden_fact: OnHiddenFact,
    /// The file that the table is in, and the line where it begins.
    pub(crate) file: Arc<str>,
    pub(crate) line: usize,
}

impl PolicyRules {
    fn place(&self) -> String {
        format!("{}:{}", self.file, self.line)
    }

    /// Whether a flag is set; false for what is not a flag.
    pub(crate) fn flag(&self, capability: Capability) -> bool {
        match capability {
            Capability::Clock => self.clock,
            Capability::Random => self.random,
            Capability::Reboot => self.reboot,
            _ => false,
        }
    }
}

/// What one policy may do. Its methods check, and return proofs.
#[derive(Debug, Clone, Default)]
pub struct PolicyGrants {
    pub(crate) policy: String,
    pub(crate) everything: bool,
    pub(crate) cookbooks: Vec<String>,
    pub(crate) rules: PolicyRules,
    journal: Journal,
    pub(crate) audit: Arc<AuditLog>,
    pub(crate) own_places: Arc<OwnPlaces>,
    pub(crate) homes: Arc<Homes>,
    /// Nothing is written into the journal and the audit log.
    silent: bool,
    /// Paths that are read, addresses and mounts are written nowhere.
    hiding: bool,
    /// The path of new content that the policy's own code looks at now, before it is put in place.
    verified: Arc<Mutex<Option<String>>>,
}

/// What the audit log says in the place of secrets.
pub(crate) const SENSITIVE: &str = "[sensitive]";

static NO_RULES: Rules = Rules::NONE;

impl PolicyGrants {
    /// The same rules, which write nothing down. They say how a refusal is worded for the policy: by the path that it wrote,
    /// where the one that was refused is the resolved one.
    #[must_use]
    pub fn silent(&self) -> Self {
        Self { journal: Journal::default(), silent: true, ..self.clone() }
    }

    /// The same rules for a sensitive resource. What it reads, where it asks, what it mounts (device and options may hold a
    /// password) and what it tells a package tool is kept nowhere; what else it manages is, so that the operator knows of it.
    #[must_use]
    pub fn hiding(&self) -> Self {
        Self { hiding: true, ..self.clone() }
    }

    /// From now on the policy may read what lies at this resolved path: content of its own under a name of wrun's, which the
    /// blocks of `verify` look at before it is put in place. `None`: they have looked.
    pub fn let_verify(&self, path: Option<String>) {
        *self.verified.lock().unwrap_or_else(PoisonError::into_inner) = path;
    }

    /// Whether what lies there is content of the policy's own that it verifies.
    pub(crate) fn is_verified_now(&self, path: &str) -> bool {
        self.verified.lock().unwrap_or_else(PoisonError::into_inner).as_deref() == Some(path)
    }

    fn hides(&self, capability: Capability) -> bool {
        let is_named_by_values = matches!(
            capability,
            Capability::ReadPaths
                | Capability::DownloadHosts
                | Capability::Mounts
                | Capability::PackageOptions
                | Capability::PackageEnvironment
                | Capability::PackageSources
        );
        self.hiding && is_named_by_values
    }

    /// The refusal of a path by its text alone, as a policy without rules for it hears of any path. `None`: the rules allow it.
    ///
    /// `key` is that of the refused capability.
    pub fn refusal_of_text(&self, key: &str, path: &str) -> Option<Denied> {
        let silent = self.silent();
        match Capability::LISTS.into_iter().find(|one| one.key() == key)? {
            Capability::ReadPaths => silent.read_path(path).map(drop).err(),
            Capability::PackageSources => silent.package_source(path).map(drop).err(),
            Capability::SetId => silent.decide(Capability::SetId, silent.as_path(path), path, || false).err(),
            _ => silent.manage_path(path).map(drop).err(),
        }
    }

    /// The sentence of a refusal that names no rule.
    pub fn plain_refusal(&self, key: &str, asked: &str) -> String {
        let deed = Capability::LISTS.into_iter().find(|one| one.key() == key).map_or("use", Capability::deed);
        format!("policy `{}` may not {deed} `{asked}`", self.policy)
    }

    /// From now on this resolved path is a user's home, for all policies of the run: rules with wildcards do not reach hidden
    /// names in it.
    pub fn learn_home(&self, home: &str) {
        self.homes.add(home);
    }

    /// Returns the name of the policy that the grants are for.
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
                Capability::Clock | Capability::Random | Capability::Reboot => self.rules.flag(capability),
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

    /// Writes down that the policy asked for the present time, which it is not granted.
    pub fn refuse_clock(&self) {
        let _already_told = self.refuse_flag(Capability::Clock);
    }

    /// Writes down that the policy asked for random numbers that it is not granted.
    pub fn refuse_random(&self) {
        let _already_told = self.refuse_flag(Capability::Random);
    }

    fn refuse_flag(&self, capability: Capability) -> Denied {
        self.refuse_with(capability, capability.subject().unwrap_or_default(), Some("true".to_owned()), None)
    }

    /// Whether the policy may start the node again, which ends what every other policy has running.
    ///
    /// # Errors
    /// Not granted.
    pub fn reboot(&self) -> Result<GrantedReboot, Denied> {
        if !self.everything && !self.rules.reboot {
            return Err(self.refuse_flag(Capability::Reboot));
        }
        let rule = if self.everything { "--allow-all" } else { "reboot = true" };
        self.audit_allowed(Capability::Reboot, Capability::Reboot.subject().unwrap_or_default(), rule);
        self.uses(Capability::Reboot.key(), Some("true".to_owned()));
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
            Verdict::Refused(rule) => {
                let reason = format!("{} refuses it: `{}`", self.line(rule.line), rule.text);
                // A rule for exactly this would win against a wider one, and lose against its equal.
                let value = Some(literal_entry(shown)).filter(|_| !rule.pattern.is_exact());
                return Err(self.refuse_with(capability, shown, value, Some(reason)));
            }
            Verdict::TooWide(rule, why) => Some(why.reason(&rule.text, &self.line(rule.line))),
            Verdict::Unheard => None,
        };
        Err(self.refuse(capability, shown, shown, reason))
    }

    /// Where a rule of this policy is, for people.
    pub(crate) fn line(&self, line: usize) -> String {
        format!("line {line} of {}", self.rules.file)
    }

    /// Writes down that something is allowed.
    pub(crate) fn allow(&self, capability: Capability, asked: &str, rule: &str) -> Result<(), Denied> {
        self.audit_allowed(capability, asked, rule);
        let (policy, key) = (self.policy.as_str(), capability.key());
        if capability != Capability::Commands {
            self.journal.allow_name(policy, key, asked, self.hides(capability));
        }
        Ok(())
    }

    /// Writes a permission into the audit log.
    pub(crate) fn audit_allowed(&self, capability: Capability, asked: &str, rule: &str) {
        if !self.silent {
            self.audit.allowed(&self.decision(capability, asked), rule);
        }
    }

    /// Writes down that an entry of the file was used. `None`: one that may not be shown.
    pub(crate) fn uses(&self, key: &'static str, value: Option<String>) {
        self.journal.allow(&self.policy, key, value, false);
    }

    /// Writes down that a command was allowed. The text of a secret one is kept nowhere.
    pub(crate) fn uses_command(&self, value: Option<String>, secret: bool) {
        self.journal.allow(&self.policy, Capability::Commands.key(), value, secret);
    }

    /// What is asked for is written here.
    pub fn journal(&self) -> &Journal {
        &self.journal
    }

    /// Writes down that something is refused, and says what would allow it.
    pub(crate) fn refuse(&self, capability: Capability, asked: &str, allowing: &str, reason: Option<String>) -> Denied {
        // Some names are none that a rule can have.
        let can_be_rule =
            |value: &String| !Capability::LISTS.contains(&capability) || rule_of(capability, value).is_some();
        self.refuse_with(capability, asked, Some(literal_entry(allowing)).filter(can_be_rule), reason)
    }

    /// The same with the entry that would allow it as TOML, or `None` if no entry would.
    pub(crate) fn refuse_with(
        &self,
        capability: Capability,
        asked: &str,
        value: Option<String>,
        reason: Option<String>,
    ) -> Denied {
        let hides = self.hides(capability);
        self.audit_refusal(capability, asked, reason.as_deref());
        let denied = self.denial(capability, asked, value, reason);
        self.journal.deny(&denied, hides);
        denied
    }

    /// A refused command. The text of a secret one is in nobody's list.
    pub(crate) fn refuse_command(
        &self,
        asked: &str,
        value: Option<String>,
        reason: Option<String>,
        secret: Option<&str>,
    ) -> Denied {
        self.audit_refusal(Capability::Commands, secret.unwrap_or(asked), reason.as_deref());
        let denied = self.denial(Capability::Commands, asked, value, reason);
        self.journal.deny(&denied, secret.is_some());
        denied
    }

    /// Writes a refusal into the audit log.
    fn audit_refusal(&self, capability: Capability, asked: &str, reason: Option<&str>) {
        if self.silent {
            return;
        }
        let by = self.journal.asker().unwrap_or_default();
        let (resource, origin) = (by.resource(), by.place());
        self.audit.denied(&self.decision(capability, asked), reason, resource.as_deref(), origin.as_deref());
    }

    /// Writes how many of the policy's decisions are not in the audit log, if it became too long. For the end of the run.
    pub fn end_audit(&self) {
        self.audit.close(&self.policy);
    }

    pub(crate) fn decision<'a>(&'a self, capability: Capability, asked: &'a str) -> Decision<'a> {
        let asked = if self.hides(capability) { SENSITIVE } else { asked };
        Decision { policy: &self.policy, key: capability.key(), asked }
    }

    /// A refusal that is written down already.
    pub(crate) fn denial(
        &self,
        capability: Capability,
        asked: &str,
        value: Option<String>,
        reason: Option<String>,
    ) -> Denied {
        Denied { policy: self.policy.clone(), capability, asked: asked.into(), value, reason }
    }
}
