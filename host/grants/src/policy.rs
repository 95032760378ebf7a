//! The operator's grants per policy, and the one function that makes every decision.

use crate::audit::{AuditLog, Decision};
use crate::breadth::{Breadth, OpenPaths};
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

/// All grants of an operator, by policy.
#[derive(Debug, Clone, Default)]
pub struct Grants {
    policies: Arc<BTreeMap<String, PolicyRules>>,
    breadth: Breadth,
    journal: Journal,
    own_places: Arc<OwnPlaces>,
    homes: Arc<Homes>,
}

/// The resolved paths of wrun's own files on this machine, as seen from inside the root.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OwnPlaces {
    /// State, settings, grants and data: privileged and secret, with everything below.
    pub data: Vec<String>,
    /// wrun's program, its runtime and libraries, cookbooks, programs of the operator that it starts, and what the machine's
    /// administrators named as further rules of sudo or programs of PAM: privileged, with everything below. They are not
    /// secret.
    pub code: Vec<String>,
}

impl Grants {
    /// Creates empty grants, like those of a missing file.
    pub fn nothing() -> Self {
        Self::default()
    }

    /// Reads the operator's file. `name` is the file's name in errors.
    ///
    /// # Errors
    /// The file is not TOML, has an unknown key, or an invalid rule. The error has file and line.
    pub fn parse(text: &str, name: &str) -> Result<Self, GrantsError> {
        Self::parse_files(&[(name, text)])
    }

    /// Reads several files of the operator, as `(name, text)`.
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
        Ok(Self { policies: policies.into(), ..Self::default() })
    }

    /// Grants everything to every policy, for a machine of one's own.
    pub fn allow_all() -> Self {
        Self { breadth: Breadth::Everything, ..Self::default() }
    }

    /// Returns the same grants for a survey, a dry run that finds out what policies would ask for. Every change is allowed,
    /// since none is made. What a policy may learn is still decided by the rules, and so is which commands are started.
    /// Besides, it may read the files that `open` contains, and the facts that every user of a machine may find out.
    #[must_use]
    pub fn surveying(self, open: OpenPaths) -> Self {
        Self { breadth: Breadth::Survey(open), ..self }
    }

    /// Adds the places that belong to wrun on this machine. Rules with wildcards do not cover them.
    #[must_use]
    pub fn keeping(self, own_places: OwnPlaces) -> Self {
        Self { own_places: own_places.into(), ..self }
    }

    /// Adds the resolved paths of users' homes, as seen from inside the root. Rules with wildcards do not cover hidden names
    /// in them.
    #[must_use]
    pub fn with_homes(self, homes: Vec<String>) -> Self {
        Self { homes: Arc::new(Homes::of(homes)), ..self }
    }

    /// Returns the grants of one policy; empty ones if the file does not name the policy.
    ///
    /// `cookbooks` are the names of its cookbooks: the policy may write attributes below them, and below `tags`.
    pub fn policy(&self, name: &str, cookbooks: &[String]) -> Arc<PolicyGrants> {
        Arc::new(PolicyGrants {
            policy: name.into(),
            breadth: self.breadth.clone(),
            cookbooks: cookbooks.to_vec(),
            rules: self.policies.get(name).cloned().unwrap_or_default(),
            all: Arc::clone(&self.policies),
            journal: self.journal.clone(),
            audit: Arc::default(),
            own_places: Arc::clone(&self.own_places),
            homes: Arc::clone(&self.homes),
            silent: false,
            hiding: false,
            asking: false,
            verified: Arc::default(),
        })
    }

    /// Returns the names of the policies with a table in the file.
    pub fn policy_names(&self) -> impl Iterator<Item = &str> {
        self.policies.keys().map(String::as_str)
    }

    pub(crate) fn tables(&self) -> &BTreeMap<String, PolicyRules> {
        &self.policies
    }

    /// Returns the file with the table of a policy, if any.
    pub fn file_of(&self, policy: &str) -> Option<&str> {
        self.policies.get(policy).map(|rules| &*rules.file)
    }

    /// Returns the journal, which records all requests.
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
    /// The file of the table, and the line where it begins.
    pub(crate) file: Arc<str>,
    pub(crate) line: usize,
}

impl PolicyRules {
    fn place(&self) -> String {
        format!("{}:{}", self.file, self.line)
    }

    /// Tells whether a flag is set; false for a capability that is not a flag.
    pub(crate) fn flag(&self, capability: Capability) -> bool {
        match capability {
            Capability::Clock => self.clock,
            Capability::Random => self.random,
            Capability::Reboot => self.reboot,
            _ => false,
        }
    }
}

/// The rights of one policy. Its methods check, and return proofs.
#[derive(Debug, Clone, Default)]
pub struct PolicyGrants {
    pub(crate) policy: String,
    breadth: Breadth,
    pub(crate) cookbooks: Vec<String>,
    pub(crate) rules: PolicyRules,
    /// The tables of all policies, by their names.
    pub(crate) all: Arc<BTreeMap<String, PolicyRules>>,
    journal: Journal,
    pub(crate) audit: Arc<AuditLog>,
    pub(crate) own_places: Arc<OwnPlaces>,
    pub(crate) homes: Arc<Homes>,
    /// True if nothing is recorded in the journal and the audit log.
    silent: bool,
    /// True if read paths, addresses and mounts are not recorded.
    hiding: bool,
    /// True if a refusal is recorded, and the check succeeds nevertheless; see [`PolicyGrants::asking`].
    asking: bool,
    /// The path of new content that the policy's own code verifies now, before it is put in place.
    verified: Arc<Mutex<Option<String>>>,
}

/// The text in the audit log in place of secrets.
pub(crate) const SENSITIVE: &str = "[sensitive]";

/// The advice about a denial of a sensitive resource.
pub const SENSITIVE_HINT: &str = "the resource is sensitive: `wrun grants suggest --sensitive` shows the entry";

static NO_RULES: Rules = Rules::NONE;

impl PolicyGrants {
    /// Returns the same rules without recording. They are used to word a refusal for the policy: with the written path, if
    /// the refused one is the resolved path.
    #[must_use]
    pub fn silent(&self) -> Self {
        Self { journal: Journal::default(), silent: true, ..self.clone() }
    }

    /// Returns the same rules for a sensitive resource. Read paths, addresses, mounts (device and options may contain a
    /// password) and options of package tools are not recorded. Other managed things are recorded, so that the operator knows
    /// about them.
    #[must_use]
    pub fn hiding(&self) -> Self {
        Self { hiding: true, ..self.clone() }
    }

    /// Returns the same rules for a question about an account: a refused user, group or managed path is recorded, and the check
    /// succeeds nevertheless, so that one question finds all that is missing. Only for a plan that nobody carries out. What
    /// may be read and run is decided as always.
    #[must_use]
    pub fn asking(&self) -> Self {
        Self { asking: true, ..self.clone() }
    }

    /// Returns a refusal as the outcome of a check.
    pub(crate) fn refused(&self, denied: Denied) -> Result<(), Denied> {
        let is_asked = matches!(
            denied.capability,
            Capability::Users | Capability::Groups | Capability::Paths | Capability::PrivilegedPaths
        );
        if self.asking && is_asked { Ok(()) } else { Err(denied) }
    }

    /// Allows the policy to read this resolved path from now on: its own staged content, which `verify` blocks read before it
    /// is put in place. `None` ends that.
    pub fn let_verify(&self, path: Option<String>) {
        *self.verified.lock().unwrap_or_else(PoisonError::into_inner) = path;
    }

    /// Tells whether a path is the policy's own content that is being verified.
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

    /// Returns the refusal of a path by its text alone, as a policy without a rule for the path would get it. Returns `None`
    /// if the rules allow the path.
    ///
    /// `key` is the key of the refused capability.
    pub fn refusal_of_text(&self, key: &str, path: &str) -> Option<Denied> {
        let silent = self.silent();
        match Capability::LISTS.into_iter().find(|one| one.key() == key)? {
            Capability::ReadPaths => silent.read_path(path).map(drop).err(),
            Capability::PackageSources => silent.package_source(path).map(drop).err(),
            Capability::SetId => silent.decide(Capability::SetId, silent.as_path(path), path, || false).err(),
            _ => silent.manage_path(path).map(drop).err(),
        }
    }

    /// Returns the sentence of a refusal without a rule.
    pub fn plain_refusal(&self, key: &str, asked: &str) -> String {
        let deed = Capability::LISTS.into_iter().find(|one| one.key() == key).map_or("use", Capability::deed);
        format!("policy `{}` may not {deed} `{asked}`", self.policy)
    }

    /// Adds a user's home, for all policies of the run: from now on, rules with wildcards do not cover hidden names in it.
    pub fn learn_home(&self, home: &str) {
        if !self.asking {
            self.homes.add(home);
        }
    }

    /// Returns the name of the policy that the grants are for.
    pub fn policy(&self) -> &str {
        &self.policy
    }

    /// Tells whether this policy may change everything: by the operator's choice on the command line, or in a survey, which
    /// changes nothing.
    pub fn allows_everything(&self) -> bool {
        !matches!(self.breadth, Breadth::Rules)
    }

    /// Tells whether this policy may also learn and start everything, by the operator's choice on the command line.
    pub fn is_unlimited(&self) -> bool {
        matches!(self.breadth, Breadth::Everything)
    }

    /// Tells whether this is a survey: see [`Grants::surveying`].
    pub fn is_survey(&self) -> bool {
        matches!(self.breadth, Breadth::Survey(_))
    }

    /// Tells whether this is a survey and every user of the machine may read this resolved path. Secrets are never open: a
    /// file with a key is not meant for others, whatever its mode says.
    pub(crate) fn is_open_in_survey(&self, path: &str) -> bool {
        match &self.breadth {
            Breadth::Survey(open) => !self.is_secret(path) && open.contain(path),
            Breadth::Rules | Breadth::Everything => false,
        }
    }

    /// Returns the limits of the policy's run.
    pub fn limits(&self) -> Limits {
        self.rules.limits
    }

    /// Tells whether the policy has any grant of a capability.
    pub fn has_any(&self, capability: Capability) -> bool {
        self.allows_everything()
            || match capability {
                Capability::Commands => !self.rules.commands.is_empty(),
                Capability::Clock | Capability::Random | Capability::Reboot => self.rules.flag(capability),
                Capability::PrivilegedPaths => {
                    self.list(Capability::Paths).iter().any(|rule| rule.allow && rule.privileged)
                }
                _ => self.list(capability).iter().any(|rule| rule.allow),
            }
    }

    /// Tells whether the policy may know the present time. Otherwise it gets the time at which the run began.
    pub fn clock(&self) -> bool {
        self.allows_everything() || self.rules.clock
    }

    /// Tells whether the policy may get random numbers.
    pub fn random(&self) -> bool {
        self.allows_everything() || self.rules.random
    }

    /// Records that the policy asked for the present time without a grant.
    pub fn refuse_clock(&self) {
        let _already_told = self.refuse_flag(Capability::Clock);
    }

    /// Records that the policy asked for random numbers without a grant.
    pub fn refuse_random(&self) {
        let _already_told = self.refuse_flag(Capability::Random);
    }

    fn refuse_flag(&self, capability: Capability) -> Denied {
        self.refuse_with(capability, capability.subject().unwrap_or_default(), Some("true".to_owned()), None)
    }

    /// Checks whether the policy may reboot the node, which also ends the work of all other policies.
    ///
    /// # Errors
    /// The reboot is not granted.
    pub fn reboot(&self) -> Result<GrantedReboot, Denied> {
        if !self.allows_everything() && !self.rules.reboot {
            return Err(self.refuse_flag(Capability::Reboot));
        }
        let rule = if self.allows_everything() { self.beyond_rules() } else { "reboot = true" };
        self.audit_allowed(Capability::Reboot, Capability::Reboot.subject().unwrap_or_default(), rule);
        self.uses(Capability::Reboot.key(), Some("true".to_owned()));
        Ok(GrantedReboot(()))
    }

    /// Returns the words for a right without a rule, for the audit log.
    pub(crate) fn beyond_rules(&self) -> &'static str {
        if self.is_unlimited() { "--allow-all" } else { "grants suggest" }
    }

    pub(crate) fn list(&self, capability: Capability) -> &Rules {
        self.rules.lists.get(&capability).unwrap_or(&NO_RULES)
    }

    /// Decides about one thing. `shown` is the text of a rule for exactly this thing.
    pub(crate) fn decide(
        &self,
        capability: Capability,
        asked: Asked<'_>,
        shown: &str,
        privileged: impl Fn() -> bool,
    ) -> Result<(), Denied> {
        if self.breadth.covers(capability) {
            return self.allow(capability, shown, self.beyond_rules());
        }
        let reason = match self.list(capability).decide(asked, privileged) {
            Verdict::Allowed(rule) => return self.allow(capability, shown, &rule.text),
            Verdict::Refused(rule) => {
                let reason = format!("{} refuses it: `{}`", self.line(rule.line), rule.text);
                // An exact rule would override a wider one, but not an exact rule that refuses.
                let value = Some(literal_entry(shown)).filter(|_| !rule.pattern.is_exact());
                return self.refused(self.refuse_with(capability, shown, value, Some(reason)));
            }
            Verdict::TooWide(rule, why) => Some(why.reason(&rule.text, &self.line(rule.line))),
            Verdict::Unheard => None,
        };
        self.refused(self.refuse(capability, shown, shown, reason))
    }

    /// Returns the place of a rule of this policy, for messages.
    pub(crate) fn line(&self, line: usize) -> String {
        format!("line {line} of {}", self.rules.file)
    }

    /// Records that something is allowed.
    pub(crate) fn allow(&self, capability: Capability, asked: &str, rule: &str) -> Result<(), Denied> {
        self.audit_allowed(capability, asked, rule);
        let (policy, key) = (self.policy.as_str(), capability.key());
        if capability != Capability::Commands {
            self.journal.allow_name(policy, key, asked, self.hides(capability));
        }
        Ok(())
    }

    /// Records a permission in the audit log.
    pub(crate) fn audit_allowed(&self, capability: Capability, asked: &str, rule: &str) {
        if !self.silent {
            self.audit.allowed(&self.decision(capability, asked), rule);
        }
    }

    /// Records the use of an entry. `None` means an entry that may not be shown.
    pub(crate) fn uses(&self, key: &'static str, value: Option<String>) {
        self.journal.allow(&self.policy, key, value, false);
    }

    /// Records that a command was allowed. The text of a secret command is not stored.
    pub(crate) fn uses_command(&self, value: Option<String>, secret: bool) {
        self.journal.allow(&self.policy, Capability::Commands.key(), value, secret);
    }

    /// Returns the journal, which records all requests.
    pub fn journal(&self) -> &Journal {
        &self.journal
    }

    /// Records a refusal, and returns it with the entry that would allow the thing.
    pub(crate) fn refuse(&self, capability: Capability, asked: &str, allowing: &str, reason: Option<String>) -> Denied {
        // Some names are impossible in a rule.
        let can_be_rule =
            |value: &String| !Capability::LISTS.contains(&capability) || rule_of(capability, value).is_some();
        self.refuse_with(capability, asked, Some(literal_entry(allowing)).filter(can_be_rule), reason)
    }

    /// Does the same with a given TOML entry, or `None` if no entry would allow it.
    pub(crate) fn refuse_with(
        &self,
        capability: Capability,
        asked: &str,
        value: Option<String>,
        reason: Option<String>,
    ) -> Denied {
        let hides = self.hides(capability);
        self.audit_refusal(capability, asked, reason.as_deref());
        if self.is_survey() && !matches!(capability, Capability::Facts | Capability::ReadAttributes) {
            // A survey lists the refused thing among those that the policy asked for. Reads of facts and attributes are in the
            // journal already.
            self.journal.allow(&self.policy, capability.key(), value.clone(), hides);
        }
        let denied = self.denial(capability, asked, value, reason);
        self.journal.deny(&denied, hides);
        denied
    }

    /// Records a refused command. The text of a secret command is not recorded.
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

    /// Records a refusal in the audit log.
    fn audit_refusal(&self, capability: Capability, asked: &str, reason: Option<&str>) {
        if self.silent {
            return;
        }
        let by = self.journal.asker().unwrap_or_default();
        let (resource, origin) = (by.resource(), by.place());
        self.audit.denied(&self.decision(capability, asked), reason, resource.as_deref(), origin.as_deref());
    }

    /// Records how many of the policy's decisions are missing in the audit log, if it became too long. Called at the end of
    /// the run.
    pub fn end_audit(&self) {
        self.audit.close(&self.policy);
    }

    pub(crate) fn decision<'a>(&'a self, capability: Capability, asked: &'a str) -> Decision<'a> {
        let asked = if self.hides(capability) { SENSITIVE } else { asked };
        Decision { policy: &self.policy, key: capability.key(), asked }
    }

    /// Returns a refusal that is already recorded.
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
