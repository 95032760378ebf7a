//! The interface between the runner and the providers, which inspect and change the machine.

use crate::{ABSENT, Amendment, Claim, ClosureValue, Declaration, Failure, PRESENCE, Property, Raised, ResourceId};
use serde_json::{Map, Value};

/// The providers of one policy. They act only within the policy's grants.
///
/// Guest code never runs inside a provider. Lazy values are computed before [`prepare`](Self::prepare), and `verify` blocks
/// run between it and [`commit`](Self::commit).
pub trait Providers: Send {
    /// The plan that `prepare` passes to `commit`. It is complete, so that `commit` makes no decisions.
    type Plan: Send;

    /// Inspects the machine and compares it with the declaration. Never changes anything.
    ///
    /// # Errors
    /// The declaration is invalid or denied, or the machine cannot be read.
    fn prepare(&mut self, wanted: &Wanted<'_>) -> Result<Prepared<Self::Plan>, Raised>;

    /// Returns the parts of an action of a composite type; see [`Types::is_composite`]. Never changes anything. The runner
    /// declares the children and converges them inside the action.
    ///
    /// # Errors
    /// The properties are invalid, or the machine cannot be read; or a grant is missing, unless this is a question.
    fn compose(&mut self, _wanted: &Wanted<'_>, _purpose: Purpose) -> Result<Composition, Raised> {
        Ok(Composition::default())
    }

    /// Requests the grants for everything that a resource could do, independent of the machine's present state. This includes
    /// commands that check new content, and actions that the policy did not request. Only a survey calls it. It skips grants
    /// that it cannot determine.
    fn survey(&mut self, _wanted: &Wanted<'_>) {}

    /// Asks for each of the grants that an action needs, also after one of them was denied. A resource that was denied something
    /// has ended, and its operator should hear of everything that it lacks. Carries nothing out, looks at the machine as a dry
    /// run does, and speaks to no server that the action names. The grants' journal keeps the answers.
    fn ask(&mut self, _wanted: &Wanted<'_>) {}

    /// The same for a guard's command, which is not run.
    fn ask_guard(&mut self, _command: &CommandTest) {}

    /// Returns true if a lazy value is needed, according to earlier values and the machine. The runner calls it before it
    /// computes the value. So other errors come first, and unneeded values are not computed.
    ///
    /// # Errors
    /// As [`prepare`](Self::prepare).
    fn needs(&mut self, _wanted: &Wanted<'_>, _property: &str) -> Result<bool, Raised> {
        Ok(true)
    }

    /// Begins loading and compiling the policy. Actions during this time are not part of the run's order.
    fn begin_compile(&mut self) {}

    /// Begins the policy's actions in their order.
    fn begin_converge(&mut self) {}

    /// Returns the claims of an action on things of the machine. The runner compares them with those of other policies. It
    /// calls this after [`prepare`](Self::prepare) and before any change.
    fn claims(&mut self, _wanted: &Wanted<'_>) -> Vec<Claim> {
        vec![]
    }

    /// Notes that a dry run cannot predict the result of an action. The action failed, before or in
    /// [`prepare`](Self::prepare), or it has no plan because an earlier action was not really run.
    fn cannot_foresee(&mut self, _wanted: &Wanted<'_>) {}

    /// Notes that a dry run has skipped code of the policy, which could change anything within its grants.
    fn left_out_code(&mut self) {}

    /// Stages the content for the guest's `verify` blocks, and returns their argument (a path).
    ///
    /// # Errors
    /// The staged file cannot be written.
    fn stage(&mut self, plan: &mut Self::Plan) -> Result<Value, Raised>;

    /// Keeps staged content that a `verify` block rejected, for people to inspect. Returns its place, or `None` if it is not
    /// kept.
    ///
    /// # Errors
    /// The content cannot be kept.
    fn reject(&mut self, plan: Self::Plan) -> Result<Option<String>, Raised> {
        drop(plan);
        Ok(None)
    }

    /// Returns facts that the last action gathered again, by their first key. The runner calls it once after each action that
    /// changed something.
    fn gathered(&mut self) -> Option<Map<String, Value>> {
        None
    }

    /// Applies a plan, then inspects the machine again. It is an error if the machine is not as declared. Never called in a
    /// dry run.
    ///
    /// # Errors
    /// The machine refused a change, or is not as declared afterwards.
    fn commit(&mut self, wanted: &Wanted<'_>, plan: Self::Plan) -> Result<Vec<Change>, Raised>;

    /// Returns the resources that were parts of the last action, in order, for the report. Each occurs once, as
    /// [`prepare`](Self::prepare) predicted it or as [`commit`](Self::commit) left it. A failed one is the last.
    fn parts(&mut self) -> Vec<Part> {
        vec![]
    }

    /// Runs a guard's command.
    ///
    /// # Errors
    /// The command is not granted. A command that cannot be started is not an error: its result is false.
    fn guard(&mut self, command: &CommandTest, why_run: bool) -> Result<GuardResult, Raised>;

    /// Waits between attempts. Returns early if the run must end.
    fn pause(&mut self, seconds: u32);
}

/// The reason why the parts of an action are requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// They are converged, or planned in a dry run.
    Action,
    /// A survey: all parts that the action could have, whatever the machine's present state is.
    Survey,
    /// A question about an action that was denied something: the parts that it would have with all grants. A missing grant
    /// is recorded and ends nothing, and what the policy may not read counts as absent. Nobody converges these parts.
    Question,
}

/// The parts of an action of a composite type.
#[derive(Debug, Default)]
pub struct Composition {
    /// The reason why a dry run cannot tell whether the action would change something.
    pub unknown: Option<String>,
    /// Lines for the log.
    pub warnings: Vec<String>,
    /// The action's own sentences. If there are any, the action counts as a change.
    pub changes: Vec<Change>,
    /// The shared resources of the policy that the action needs.
    pub shared: Vec<Shared>,
    /// The child resources that implement the action, in order.
    pub children: Vec<Child>,
}

/// A resource that the host declares as a part of an action.
#[derive(Debug, Clone)]
pub struct Child {
    /// The resource, with the host as its guest.
    pub declaration: Declaration,
    /// The runs whose reports show it as a separate resource.
    pub row: ChildRow,
}

/// The runs whose reports have a row for a child.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChildRow {
    /// Dry runs and real runs.
    Always,
    /// Only real runs. A dry run plans the child to detect denials, but shows only the action's own sentences.
    RealRuns,
    /// No run. The child's sentences and its failure become those of the action itself.
    Never,
}

/// A resource that several actions of a policy share, such as a file to which each adds a line. It is declared once, in the
/// root context.
#[derive(Debug)]
pub struct Shared {
    /// The resource. If `line` is `None`, a resource with this key that the policy declared itself is used instead.
    pub declaration: Declaration,
    /// The action that runs at once, because the resource must exist then.
    pub action: Option<&'static str>,
    /// The action that runs once, at the end of the policy's run.
    pub delayed: Option<&'static str>,
    /// A line to add to the property `content`, unless the content has it. The lines are sorted, below the head.
    pub line: Option<SharedLine>,
}

/// A line of a shared file.
#[derive(Debug)]
pub struct SharedLine {
    /// The beginning of the file, above all lines.
    pub head: &'static str,
    /// The line, without its end.
    pub line: String,
}

/// A declaration whose lazy values are resolved.
#[derive(Debug)]
pub struct Wanted<'a> {
    /// The number of the resource that acts.
    pub resource: ResourceId,
    /// The declaration: type, name, origin and the options of all types.
    pub declaration: &'a Declaration,
    /// The action that runs.
    pub action: &'a str,
    /// The needed lazy values, computed, validated and coerced. The other values are in the declaration.
    pub resolved: Vec<(String, ClosureValue)>,
    /// True if nothing may be changed (dry run).
    pub why_run: bool,
}

impl Wanted<'_> {
    /// Returns a property's value, if it is set and known.
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

/// A borrowed value of a property. Contents can be large, so they are not copied.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Known<'a> {
    /// Anything that JSON can hold.
    Json(&'a Value),
    /// File content that need not be text.
    Bytes(&'a [u8]),
}

/// The result of a provider's inspection.
#[derive(Debug)]
pub struct Prepared<P> {
    plan: Option<P>,
    changes: Vec<Change>,
    certainty: Vec<Certainty>,
}

/// The expected result of an action, according to its provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expected<P> {
    /// The action would change something, at least after earlier resources have converged. `None` means that this dry run has
    /// no plan for it.
    Change(Option<P>),
    /// Unknown, because this dry run could not query the machine.
    Unknown,
    /// The action would surely change nothing.
    Nothing,
}

impl<P> Expected<P> {
    /// Returns the plan, if there is one.
    pub fn plan(self) -> Option<P> {
        match self {
            Self::Change(plan) => plan,
            Self::Unknown | Self::Nothing => None,
        }
    }
}

impl<P> Prepared<P> {
    /// Creates a result without changes: the machine is as declared.
    pub fn up_to_date() -> Self {
        Self { plan: None, changes: vec![], certainty: vec![] }
    }

    /// Creates a result with a plan to apply and its descriptions.
    pub fn changes(plan: P, changes: Vec<Change>) -> Self {
        Self { plan: Some(plan), changes, certainty: vec![] }
    }

    /// Creates a result with an optional plan, its descriptions for people, and its doubts. Only a dry run may have doubts.
    pub fn new(plan: Option<P>, changes: Vec<Change>, certainty: Vec<Certainty>) -> Self {
        Self { plan, changes, certainty }
    }

    /// Returns the doubts of a dry run. An empty list means that the result is sure.
    pub fn certainty(&self) -> &[Certainty] {
        &self.certainty
    }

    /// Returns the expected result and the changes. The plan is accessible only here, so that a doubt without a plan never
    /// counts as "nothing to do".
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

/// The description of one change, created by the code that makes the change.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Change {
    /// The change, as in `create new file /etc/motd`. It may have further lines.
    pub what: String,
    /// A unified diff, or the reason why it is left out (`(diff output suppressed by config)`, binary, huge, sensitive).
    pub diff: Option<String>,
    /// The changed values of the machine, if they are short enough.
    pub values: Vec<ValueChange>,
    /// The state of the machine for which the step was planned. Of several changes of one step, only the first has it. `None`
    /// if the step does not depend on the state, or if the state is secret.
    pub planned_against: Option<Fingerprint>,
}

impl Change {
    /// Creates a change without a diff.
    pub fn new(what: impl Into<String>) -> Self {
        Self { what: what.into(), ..Self::default() }
    }

    /// Adds a changed value of the resource's own thing. `None` means that the thing does not have the value.
    #[must_use]
    pub fn sets(mut self, aspect: &'static str, before: Option<String>, after: Option<String>) -> Self {
        self.values.push(ValueChange { of: None, aspect, before, after });
        self
    }

    /// Adds a changed value of one of several things that the resource manages.
    #[must_use]
    pub fn sets_of(mut self, of: &str, aspect: &'static str, before: Option<String>, after: Option<String>) -> Self {
        self.values.push(ValueChange { of: Some(of.to_owned()), aspect, before, after });
        self
    }

    /// Adds a changed yes-or-no value, written `yes` and `no` as in a claim.
    #[must_use]
    pub fn turns(mut self, of: Option<&str>, aspect: &'static str, is_so: bool) -> Self {
        let word = |is_so: bool| Some(if is_so { "yes" } else { "no" }.to_owned());
        let of = of.map(str::to_owned);
        self.values.push(ValueChange { of, aspect, before: word(!is_so), after: word(is_so) });
        self
    }

    /// Adds that the change creates the thing.
    #[must_use]
    pub fn appears(self, kind: &str) -> Self {
        self.sets(PRESENCE, Some(ABSENT.to_owned()), Some(kind.to_owned()))
    }

    /// Adds that the change removes the thing.
    #[must_use]
    pub fn disappears(self, kind: &str) -> Self {
        self.sets(PRESENCE, Some(kind.to_owned()), Some(ABSENT.to_owned()))
    }
}

/// A digest of the state that planning found for the things that a step changes. Two fingerprints are equal if and only if
/// the states are equal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fingerprint(String);

impl Fingerprint {
    /// Creates a fingerprint from a SHA-256 digest in hexadecimal digits.
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
    /// The thing with the value, such as one of several packages. `None` means the resource's own thing.
    pub of: Option<String>,
    /// The name of the value. An aspect of [`Claim`](crate::Claim) has the same name and form.
    pub aspect: &'static str,
    /// The value before the change, or `None` if there was no value.
    pub before: Option<String>,
    /// The value after the change, or `None` if the value is absent.
    pub after: Option<String>,
}

/// A resource that a provider handles as part of another one's action, such as a file of a `remote_directory`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Its type, such as `cookbook_file`.
    pub kind: &'static str,
    /// The resource's name, such as the file's path.
    pub name: String,
    /// The action, such as `create`.
    pub action: &'static str,
    /// The cookbook of its content, if there is one.
    pub cookbook: Option<String>,
    /// The changes that were made, or that a dry run would make.
    pub changes: Vec<Change>,
    /// The outcome of the part.
    pub outcome: Result<PartStatus, Raised>,
}

/// The outcome of a part without a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartStatus {
    /// The part was changed, or a dry run would change it.
    Updated,
    /// The part was already as wanted.
    UpToDate,
}

/// The reason why a dry run's result is not certain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Certainty {
    /// An assumption about an earlier resource: `assuming directory /x would have been created`.
    Assumed(String),
    /// Unknown without a change to the machine. It counts neither as changed nor as unchanged.
    Unknown(String),
}

/// The result of a guard's command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GuardResult {
    /// The command ended with exit code 0.
    True,
    /// The command ended with another exit code, could not be started, or took too long.
    False,
    /// A dry run cannot know the result. The text has the reason.
    Unknown(String),
}

/// A command of a guard, with its user and options.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandTest {
    /// The command, as words or as a line for a shell.
    pub line: CommandLine,
    /// The user it runs as. `None` means wrun's own user.
    pub user: Option<String>,
    /// The group it runs in; `None`: the user's own group.
    pub group: Option<String>,
    /// The working directory; `None`: the root directory.
    pub cwd: Option<String>,
    /// Variables in addition to the clean environment.
    pub environment: Vec<(String, String)>,
    /// Seconds until the command is ended; `None`: the default of 600.
    pub timeout: Option<u32>,
    /// The file mode creation mask.
    pub umask: Option<u32>,
    /// An interpreter that gets the line as a script.
    pub interpreter: Option<String>,
    /// Bytes for its standard input; `None`: the input is empty.
    pub input: Option<Vec<u8>>,
    /// True for a sensitive resource's command, whose text and output are never shown.
    pub sensitive: bool,
}

impl CommandTest {
    /// Creates a command from a line for the shell, without options.
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

/// The form of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandLine {
    /// One string, as a person types it.
    Text(String),
    /// Program and arguments, not split further.
    Arguments(Vec<String>),
}

/// The table of built-in resource types, with which the runner validates declarations.
pub trait Types: Send + Sync {
    /// Returns the default action of a type, or `None` if the type does not exist.
    fn default_action(&self, kind: &str) -> Option<&str>;

    /// Returns true for a composite type, whose actions consist of other resources.
    fn is_composite(&self, _kind: &str) -> bool {
        false
    }

    /// Returns the reason why a type can be declared but not run. Returns `None` for all other types.
    fn why_no_provider(&self, _kind: &str) -> Option<String> {
        None
    }

    /// Returns the property's name for providers, if the declaration used another name.
    fn canonical(&self, _kind: &str, property: String) -> String {
        property
    }

    /// Checks a declaration's type, actions and plain properties, and converts the properties to their canonical form.
    ///
    /// # Errors
    /// Mostly [`ErrorKind::InvalidValue`](errors::ErrorKind::InvalidValue), with a similar name as the hint.
    fn check(&self, declaration: &mut Declaration) -> Result<(), Failure>;

    /// Checks a declaration of a guest's own type against the size limits of built-in types.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidValue`](errors::ErrorKind::InvalidValue).
    fn check_own(&self, _declaration: &Declaration) -> Result<(), Failure> {
        Ok(())
    }

    /// Checks an amendment to a resource of such a type.
    ///
    /// # Errors
    /// As [`check_own`](Self::check_own).
    fn check_own_amendment(&self, _declaration: &Declaration, _amendment: &Amendment) -> Result<(), Failure> {
        Ok(())
    }

    /// Checks that all required properties of an action are set. The runner calls it when the action runs, also after a
    /// notification.
    ///
    /// # Errors
    /// As [`check`](Self::check).
    fn check_required(&self, _kind: &str, _action: &str, _is_set: &dyn Fn(&str) -> bool) -> Result<(), Failure> {
        Ok(())
    }

    /// Returns true if an action uses a property. An unused lazy value is never computed. So a template can be deleted even
    /// if it cannot be rendered.
    fn uses(&self, kind: &str, action: &str, name: &str) -> bool;

    /// Returns true if a property's text is only shown to people, so that it can be replaced. `name` means the resource's
    /// name.
    fn is_only_shown(&self, _kind: &str, _property: &str) -> bool {
        false
    }

    /// Checks a lazy or amended value, which became known after the declaration.
    ///
    /// # Errors
    /// As [`check`](Self::check).
    fn check_property(&self, kind: &str, name: &str, property: Property) -> Result<Property, Failure>;
}

/// Stores due notifications, even if the run is killed.
pub trait Memory: Send {
    /// Stores a delayed notification of the policy's root context when it is queued.
    ///
    /// # Errors
    /// The policy has too many due notifications. The text explains it.
    fn due(&mut self, policy: &str, receiver: &str, action: &str) -> Result<(), String>;

    /// Removes a notification that has run, or that failed and was reported.
    fn done(&mut self, policy: &str, receiver: &str, action: &str);

    /// Returns the notifications that an earlier run left due for this policy, in order.
    fn left(&mut self, policy: &str) -> Vec<(String, String)>;

    /// Returns the run that left a notification due, if it is known.
    fn since(&self, _policy: &str, _receiver: &str, _action: &str) -> Option<String> {
        None
    }
}
