//! Those who inspect and change the machine, as the runner sees them.

use crate::{ABSENT, Amendment, Claim, ClosureValue, Declaration, Failure, PRESENCE, Property, Raised, ResourceId};
use serde_json::{Map, Value};

/// The providers of one policy. They act only within what the operator granted that policy.
///
/// Guest code never runs inside a provider: lazy values are resolved before [`prepare`](Self::prepare), `verify` blocks
/// run between it and [`commit`](Self::commit).
pub trait Providers: Send {
    /// What `prepare` hands to `commit`: complete, so that `commit` makes no choices.
    type Plan: Send;

    /// Inspects the machine and compares it with what is wanted. Never changes anything.
    ///
    /// # Errors
    /// What is wanted makes no sense, is denied, or the machine cannot be read.
    fn prepare(&mut self, wanted: &Wanted<'_>) -> Result<Prepared<Self::Plan>, Raised>;

    /// Returns the parts of an action of a composite type; see [`Types::is_composite`]. Never changes anything. The runner
    /// declares the children and converges them inside the action. For a survey, returns all parts that the action could have,
    /// whatever the machine looks like now.
    ///
    /// # Errors
    /// The properties are invalid, or the machine cannot be read.
    fn compose(&mut self, _wanted: &Wanted<'_>, _is_survey: bool) -> Result<Composition, Raised> {
        Ok(Composition::default())
    }

    /// Asks for the grants of everything that a resource could come to, whatever the machine looks like now: of commands that
    /// accept new content, and of actions that nobody asked for. Only a survey does this; what cannot be asked is left out.
    fn survey(&mut self, _wanted: &Wanted<'_>) {}

    /// Asks for each of the grants that an action needs, also after one of them was denied. A resource that was denied something
    /// has ended, and its operator should hear of everything that it lacks. Carries nothing out, looks at the machine as a dry
    /// run does, and speaks to no server that the action names. The grants' journal keeps the answers.
    fn ask(&mut self, _wanted: &Wanted<'_>) {}

    /// The same for a guard's command, which is not run.
    fn ask_guard(&mut self, _command: &CommandTest) {}

    /// Whether a lazy value is needed, as far as the values before it and the machine tell. Asked before it is computed, so
    /// that what is wrong without it is said first, and nothing is computed in vain.
    ///
    /// # Errors
    /// As [`prepare`](Self::prepare).
    fn needs(&mut self, _wanted: &Wanted<'_>, _property: &str) -> Result<bool, Raised> {
        Ok(true)
    }

    /// The policy's code is loaded or its recipes are compiled; actions that it runs meanwhile do not belong to the run's order.
    fn begin_compile(&mut self) {}

    /// The policy's actions begin, in their order.
    fn begin_converge(&mut self) {}

    /// What an action claims of the machine's things, which is held against the claims of the run's other policies. Asked
    /// after [`prepare`](Self::prepare) and before anything is changed.
    fn claims(&mut self, _wanted: &Wanted<'_>) -> Vec<Claim> {
        vec![]
    }

    /// What an action would leave behind is not known to those who look later in the same dry run: it failed, before or in
    /// [`prepare`](Self::prepare), or it has no plan because the machine is as it was before an earlier action.
    fn cannot_foresee(&mut self, _wanted: &Wanted<'_>) {}

    /// A dry run has left out code of the policy's own, which may change whatever it is able to.
    fn left_out_code(&mut self) {}

    /// Stages the content that the guest's `verify` blocks are asked about, and returns their argument (a path).
    ///
    /// # Errors
    /// The staged file cannot be written.
    fn stage(&mut self, plan: &mut Self::Plan) -> Result<Value, Raised>;

    /// Keeps staged content that a `verify` block rejected, for people to look at; where. None: nothing is kept.
    ///
    /// # Errors
    /// It cannot be kept.
    fn reject(&mut self, plan: Self::Plan) -> Result<Option<String>, Raised> {
        drop(plan);
        Ok(None)
    }

    /// Facts that the action before gathered anew, by their first key; asked once after each action that changed something.
    fn gathered(&mut self) -> Option<Map<String, Value>> {
        None
    }

    /// Carries a plan out, then inspects again: what did not reach its aim is an error. Not called in a dry run.
    ///
    /// # Errors
    /// The machine said no, or is not as it should be afterwards.
    fn commit(&mut self, wanted: &Wanted<'_>, plan: Self::Plan) -> Result<Vec<Change>, Raised>;

    /// The resources that the provider made as parts of the last action, in order, for the report: each once, as
    /// [`prepare`](Self::prepare) foresees them or as [`commit`](Self::commit) left them. A failed one is the last.
    fn parts(&mut self) -> Vec<Part> {
        vec![]
    }

    /// Runs a guard's command.
    ///
    /// # Errors
    /// The command is not granted. A command that cannot be started is false.
    fn guard(&mut self, command: &CommandTest, why_run: bool) -> Result<GuardResult, Raised>;

    /// Waits between attempts; returns early when the run is to stop.
    fn pause(&mut self, seconds: u32);
}

/// The parts of an action of a composite type.
#[derive(Debug, Default)]
pub struct Composition {
    /// What a dry run cannot know, so that it cannot tell whether the action would change something.
    pub unknown: Option<String>,
    /// Lines for the log.
    pub warnings: Vec<String>,
    /// The action's own sentences. If there are any, the action counts as a change.
    pub changes: Vec<Change>,
    /// The resources of the whole policy that the action needs.
    pub shared: Vec<Shared>,
    /// The resources that carry the action out, in order.
    pub children: Vec<Child>,
}

/// A resource that the host declares as a part of an action.
#[derive(Debug)]
pub struct Child {
    /// The resource, with the host as its guest.
    pub declaration: Declaration,
    /// Whether reports show it as a resource of its own.
    pub row: ChildRow,
}

/// The runs whose reports have a row for a child.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChildRow {
    /// A row in dry runs and real runs.
    Always,
    /// Real runs. A dry run plans the child, so that a denial is an error, and shows the action's own sentences alone.
    RealRuns,
    /// No run: the child's sentences and its failure are those of the action itself.
    Never,
}

/// A resource that several actions of a policy share, such as a file that each of them adds a line to. It is declared once,
/// in the root context.
#[derive(Debug)]
pub struct Shared {
    /// The resource. A resource with this key that the policy declared itself counts as well, unless there is a line.
    pub declaration: Declaration,
    /// The action that runs at once. The resource must be there then.
    pub action: Option<&'static str>,
    /// The action that runs once, at the end of the policy's run.
    pub delayed: Option<&'static str>,
    /// A line that is added to the property `content`, unless the content has it. Lines are sorted below the first ones.
    pub line: Option<SharedLine>,
}

/// A line of a shared file.
#[derive(Debug)]
pub struct SharedLine {
    /// The beginning of the file, which stays above all lines.
    pub head: &'static str,
    /// The line, without its end.
    pub line: String,
}

/// A declaration whose lazy values are resolved.
#[derive(Debug)]
pub struct Wanted<'a> {
    /// The number of the resource that acts.
    pub resource: ResourceId,
    /// As it was declared: kind, name, origin and what is common to all types.
    pub declaration: &'a Declaration,
    /// The action that runs.
    pub action: &'a str,
    /// The lazy values that are needed, known now, validated and coerced. The others stand in the declaration.
    pub resolved: Vec<(String, ClosureValue)>,
    /// Nothing may be changed.
    pub why_run: bool,
}

impl Wanted<'_> {
    /// A property's value, if it was set and is known.
    pub fn get(&self, name: &str) -> Option<Known<'_>> {
        if let Some((_, value)) = self.resolved.iter().rev().find(|(other, _)| other == name) {
            return Some(match value {
                ClosureValue::Json(value) => Known::Json(value),
                ClosureValue::Bytes(bytes) => Known::Bytes(bytes),
            });
        }
        match self.declaration.property(name)? {
            Property::Plain(value) => Some(Known::Json(value)),
            Property::Bytes(bytes) => Some(Known::Bytes(bytes)),
            Property::Lazy(_) | Property::Rendered(_) | Property::Verify(_) => None,
        }
    }
}

/// A property's value where it stands: content is large, and nobody copies it to look at it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Known<'a> {
    /// Anything that JSON can hold.
    Json(&'a Value),
    /// File content that need not be text.
    Bytes(&'a [u8]),
}

/// What a provider found.
#[derive(Debug)]
pub struct Prepared<P> {
    plan: Option<P>,
    changes: Vec<Change>,
    certainty: Vec<Certainty>,
}

/// What an action would come to, as far as its provider can tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expected<P> {
    /// There is something to do, or there would be once earlier resources have done their part. None: this dry run has no
    /// plan for it.
    Change(Option<P>),
    /// This dry run could not look.
    Unknown,
    /// Nothing to do, for sure.
    Nothing,
}

impl<P> Expected<P> {
    /// The plan, if there is one.
    pub fn plan(self) -> Option<P> {
        match self {
            Self::Change(plan) => plan,
            Self::Unknown | Self::Nothing => None,
        }
    }
}

impl<P> Prepared<P> {
    /// Nothing to apply: the machine is as declared.
    pub fn up_to_date() -> Self {
        Self { plan: None, changes: vec![], certainty: vec![] }
    }

    /// A plan to apply, with the sentences that describe it.
    pub fn changes(plan: P, changes: Vec<Change>) -> Self {
        Self { plan: Some(plan), changes, certainty: vec![] }
    }

    /// A plan, if there is something to do; what it changes, in the words that people read; and how sure it is. Only a
    /// dry run may be anything but sure.
    pub fn new(plan: Option<P>, changes: Vec<Change>, certainty: Vec<Certainty>) -> Self {
        Self { plan, changes, certainty }
    }

    /// How sure it is.
    pub fn certainty(&self) -> &[Certainty] {
        &self.certainty
    }

    /// What the action would come to, and what the plan changes. This is the only way to the plan: a doubt without a plan
    /// is never "nothing to do".
    pub fn expected(self) -> (Expected<P>, Vec<Change>) {
        let is_assumed = |certainty: &Certainty| matches!(certainty, Certainty::Assumed(_));
        let expected = match self.plan {
            Some(plan) => Expected::Change(Some(plan)),
            None if self.certainty.iter().any(is_assumed) => Expected::Change(None),
            None if self.certainty.is_empty() => Expected::Nothing,
            None => Expected::Unknown,
        };
        (expected, self.changes)
    }
}

/// One sentence about a change, made where the change is made.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Change {
    /// What is done, as in `create new file /etc/motd`. Further lines belong to it.
    pub what: String,
    /// A unified diff, or the reason why it is left out (`(diff output suppressed by config)`, binary, huge, sensitive).
    pub diff: Option<String>,
    /// What the change does to values of the machine, as far as they can be told in a few words.
    pub values: Vec<ValueChange>,
    /// What its step was planned against; of several changes of one step, the first has it. `None`: the step does the same
    /// whatever the machine is like, or what was found is secret.
    pub planned_against: Option<Fingerprint>,
}

impl Change {
    /// A change without a diff.
    pub fn new(what: impl Into<String>) -> Self {
        Self { what: what.into(), ..Self::default() }
    }

    /// The same change, which sets a value of the resource's own thing. `None`: the thing does not have such a value.
    #[must_use]
    pub fn sets(mut self, aspect: &'static str, before: Option<String>, after: Option<String>) -> Self {
        self.values.push(ValueChange { of: None, aspect, before, after });
        self
    }

    /// The same change, which sets a value of one of several things that the resource is about.
    #[must_use]
    pub fn sets_of(mut self, of: &str, aspect: &'static str, before: Option<String>, after: Option<String>) -> Self {
        self.values.push(ValueChange { of: Some(of.to_owned()), aspect, before, after });
        self
    }

    /// The same change, which makes something so that was not, or ends it: `yes` and `no`, as in a claim.
    #[must_use]
    pub fn turns(mut self, of: Option<&str>, aspect: &'static str, is_so: bool) -> Self {
        let word = |is_so: bool| Some(if is_so { "yes" } else { "no" }.to_owned());
        let of = of.map(str::to_owned);
        self.values.push(ValueChange { of, aspect, before: word(!is_so), after: word(is_so) });
        self
    }

    /// The same change, after which the thing is there.
    #[must_use]
    pub fn appears(self, kind: &str) -> Self {
        self.sets(PRESENCE, Some(ABSENT.to_owned()), Some(kind.to_owned()))
    }

    /// The same change, after which the thing is there no longer.
    #[must_use]
    pub fn disappears(self, kind: &str) -> Self {
        self.sets(PRESENCE, Some(kind.to_owned()), Some(ABSENT.to_owned()))
    }
}

/// A digest of what planning found about the things that a step changes. Two are equal exactly if planning found the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fingerprint(String);

impl Fingerprint {
    /// Makes a fingerprint of a SHA-256 digest in hexadecimal.
    pub fn of_digest(digest: &str) -> Self {
        Self(digest.to_owned())
    }

    /// Returns the digest as 64 hexadecimal digits.
    pub fn text(&self) -> &str {
        &self.0
    }
}

/// A value of the machine before and after a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValueChange {
    /// The thing that has the value, such as one of several packages. `None`: the resource's own.
    pub of: Option<String>,
    /// What the value says of the thing. An aspect of [`Claim`](crate::Claim) has the same name and form.
    pub aspect: &'static str,
    /// The value that was found. `None`: there was none.
    pub before: Option<String>,
    /// The value afterwards. `None`: the thing does not have one.
    pub after: Option<String>,
}

/// A resource that a provider makes as part of another one's action: a file of a `remote_directory`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Its type, such as `cookbook_file`.
    pub kind: &'static str,
    /// The resource's name, such as the file's path.
    pub name: String,
    /// The action that is taken, such as `create`.
    pub action: &'static str,
    /// The cookbook that it is taken from, if there is one.
    pub cookbook: Option<String>,
    /// The changes that were made, or that a dry run would make.
    pub changes: Vec<Change>,
    /// Whether the part was changed, was up to date or failed.
    pub outcome: Result<PartStatus, Raised>,
}

/// How a part ended that did not fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartStatus {
    /// It was changed, or would be.
    Updated,
    /// There was nothing to do.
    UpToDate,
}

/// Why a dry run's word is not certain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Certainty {
    /// Taken for granted, since an earlier resource would have seen to it: `assuming directory /x would have been created`.
    Assumed(String),
    /// Cannot be known without changing something; counted neither as changed nor as unchanged.
    Unknown(String),
}

/// What a guard's command said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GuardResult {
    /// The command ended with exit code 0.
    True,
    /// Another, or it could not be started, or it took too long.
    False,
    /// A dry run cannot know, and why.
    Unknown(String),
}

/// A command that a guard runs, and as whom.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandTest {
    /// The command, as words or as a line for a shell.
    pub line: CommandLine,
    /// As whom; none: as wrun.
    pub user: Option<String>,
    /// The group it runs in; `None`: the user's own group.
    pub group: Option<String>,
    /// The working directory; `None`: the root directory.
    pub cwd: Option<String>,
    /// Variables beside the clean environment.
    pub environment: Vec<(String, String)>,
    /// Seconds until the command is ended; `None`: the default of 600.
    pub timeout: Option<u32>,
    /// The file mode creation mask.
    pub umask: Option<u32>,
    /// An interpreter that gets the line as a script.
    pub interpreter: Option<String>,
    /// Bytes for its standard input; `None`: the input is empty.
    pub input: Option<Vec<u8>>,
    /// It belongs to a sensitive resource: its text and its output are shown nowhere.
    pub sensitive: bool,
}

impl CommandTest {
    /// A plain command line.
    pub fn text(line: &str) -> Self {
        Self {
            line: CommandLine::Text(line.into()),
            user: None,
            group: None,
            cwd: None,
            environment: vec![],
            timeout: None,
            umask: None,
            interpreter: None,
            input: None,
            sensitive: false,
        }
    }
}

/// How a command is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandLine {
    /// One string, as a person types it.
    Text(String),
    /// Program and arguments, not split further.
    Arguments(Vec<String>),
}

/// The built-in resource types, as the runner needs them: it validates what guests declare.
pub trait Types: Send + Sync {
    /// Whether there is such a type, and what it does if nothing is said.
    fn default_action(&self, kind: &str) -> Option<&str>;

    /// Tells whether the actions of a type are made of other resources.
    fn is_composite(&self, _kind: &str) -> bool {
        false
    }

    /// Returns why nobody carries out a type that may be declared all the same; `None` for other types.
    fn why_idle(&self, _kind: &str) -> Option<String> {
        None
    }

    /// Returns the name of a property that providers know, where a declaration may call it by another one.
    fn canonical(&self, _kind: &str, property: String) -> String {
        property
    }

    /// Checks a declaration's type, actions and plain properties, and brings the properties into their canonical form.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidValue`](errors::ErrorKind::InvalidValue) and its like, with a near name as the hint.
    fn check(&self, declaration: &mut Declaration) -> Result<(), Failure>;

    /// Holds a declaration of a guest's own type against the limits of sizes that built-in types have.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidValue`](errors::ErrorKind::InvalidValue).
    fn check_own(&self, _declaration: &Declaration) -> Result<(), Failure> {
        Ok(())
    }

    /// The same of an amendment to a declared resource of such a type.
    ///
    /// # Errors
    /// As [`check_own`](Self::check_own).
    fn check_own_amendment(&self, _declaration: &Declaration, _amendment: &Amendment) -> Result<(), Failure> {
        Ok(())
    }

    /// Whether everything that an action needs is set: asked when it runs, also where a notification brought it.
    ///
    /// # Errors
    /// As [`check`](Self::check).
    fn check_required(&self, _kind: &str, _action: &str, _is_set: &dyn Fn(&str) -> bool) -> Result<(), Failure> {
        Ok(())
    }

    /// Whether an action looks at a property at all. A lazy value that nobody looks at is never computed: a template that
    /// is deleted need not be one that can be rendered.
    fn uses(&self, kind: &str, action: &str, name: &str) -> bool;

    /// Whether nothing happens to a property's text but that people read it, so that another text may take its place. `name`
    /// is the resource's name.
    fn is_only_shown(&self, _kind: &str, _property: &str) -> bool {
        false
    }

    /// Checks one value that is known only now: a lazy one, an amended one.
    ///
    /// # Errors
    /// As [`check`](Self::check).
    fn check_property(&self, kind: &str, name: &str, property: Property) -> Result<Property, Failure>;
}

/// What must outlive the run, even one that is killed: notifications that are due.
pub trait Memory: Send {
    /// A delayed notification of the policy's root context was queued.
    ///
    /// # Errors
    /// It is more than the policy may have due. The text says so.
    fn due(&mut self, policy: &str, receiver: &str, action: &str) -> Result<(), String>;

    /// It has run, or failed and was reported.
    fn done(&mut self, policy: &str, receiver: &str, action: &str);

    /// What an earlier run left due for this policy, in order.
    fn left(&mut self, policy: &str) -> Vec<(String, String)>;

    /// The run that has left it due, if that is known.
    fn since(&self, _policy: &str, _receiver: &str, _action: &str) -> Option<String> {
        None
    }
}
