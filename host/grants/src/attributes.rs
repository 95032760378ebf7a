//! Attributes: the paths that a policy may write, and the attributes of others that it may read.

use crate::denied::{Capability, Denied};
use crate::pattern::{Asked, Pattern, join_dots};
use crate::policy::PolicyGrants;
use crate::proofs::GrantedAttribute;
use crate::rules::{Rule, Verdict};
use serde_json::{Map, Value};
use std::borrow::Cow;

/// The top-level attribute of the node's tags. Every policy may write below it.
const TAGS: &str = "tags";

impl PolicyGrants {
    /// Checks whether the policy may write at an attribute path: below the names of its own cookbooks, below `tags`, and
    /// below granted paths. A path above a granted one is refused, because writing there would replace everything below it.
    ///
    /// # Errors
    /// The path neither belongs to the policy nor is granted.
    pub fn write_attribute(&self, path: &[String]) -> Result<GrantedAttribute, Denied> {
        let asked = Asked::Keys(path);
        let refused = matches!(self.list(Capability::WriteAttributes).decide(asked, || false), Verdict::Refused(_));
        let own = path.first().is_some_and(|first| self.owns(first));
        if !own || refused {
            self.decide(Capability::WriteAttributes, asked, &join_dots(path), || false)?;
        }
        Ok(GrantedAttribute(path.to_vec()))
    }

    /// Checks as [`write_attribute`](Self::write_attribute) does, without a record of the question or of a denial. It is for
    /// empty objects on the way to a value, whose own write is asked for afterwards.
    pub fn write_attribute_unasked(&self, path: &[String]) -> Option<GrantedAttribute> {
        let may = match self.list(Capability::WriteAttributes).decide(Asked::Keys(path), || false) {
            _ if self.allows_everything() => true,
            Verdict::Allowed(_) => true,
            Verdict::Refused(_) => false,
            Verdict::TooWide(..) | Verdict::Unheard => path.first().is_some_and(|first| self.owns(first)),
        };
        may.then(|| GrantedAttribute(path.to_vec()))
    }

    /// Tells whether the policy may write below this top-level attribute without a grant.
    pub(crate) fn owns(&self, first: &String) -> bool {
        first == TAGS || self.cookbooks.contains(first)
    }

    /// Tells whether a write at this path of `normal` replaces the values of other policies. It does only if the path is
    /// granted. Below the names of its own cookbooks, the policy's values are kept beside those of others.
    pub fn overwrites_attribute(&self, path: &[String]) -> bool {
        let rules = self.list(Capability::WriteAttributes);
        self.allows_everything() || matches!(rules.decide(Asked::Keys(path), || false), Verdict::Allowed(_))
    }

    /// Returns the attributes that other policies left, in this run or in `normal`, without those that this policy may not
    /// read. The names of its own cookbooks give no right here, because anybody can choose the name of a cookbook.
    pub fn visible_attributes<'all>(&self, left: &'all Value) -> Cow<'all, Value> {
        if self.is_unlimited() {
            return Cow::Borrowed(left);
        }
        let rules = self.list(Capability::ReadAttributes);
        let allowed = |path: &[String]| matches!(rules.decide(Asked::Keys(path), || false), Verdict::Allowed(_));
        let differs =
            |path: &[String], allowed| rules.iter().any(|rule| may_speak_below(rule, path) && rule.allow != allowed);
        Cow::Owned(
            seen_below(&Look { allowed: &allowed, differs: &differs }, &mut vec![], left).unwrap_or_else(nothing),
        )
    }

    /// Returns the operator's values in `normal`, without those that this policy may not read. It may read what it may write:
    /// below the names of its own cookbooks, below `tags`, and below granted paths.
    pub fn visible_given<'all>(&self, given: &'all Value) -> Cow<'all, Value> {
        if self.is_unlimited() {
            return Cow::Borrowed(given);
        }
        let (read, write) = (self.list(Capability::ReadAttributes), self.list(Capability::WriteAttributes));
        let is_own = |path: &[String]| path.first().is_some_and(|name| self.owns(name));
        let allowed = |path: &[String]| match read.decide(Asked::Keys(path), || false) {
            Verdict::Unheard => {
                is_own(path) || matches!(write.decide(Asked::Keys(path), || false), Verdict::Allowed(_))
            }
            verdict => matches!(verdict, Verdict::Allowed(_)),
        };
        let differs = |path: &[String], _: bool| {
            path.is_empty() || read.iter().chain(write.iter()).any(|rule| may_speak_below(rule, path))
        };
        Cow::Owned(
            seen_below(&Look { allowed: &allowed, differs: &differs }, &mut vec![], given).unwrap_or_else(nothing),
        )
    }
}

pub(crate) fn nothing() -> Value {
    Value::Object(Map::new())
}

pub(crate) fn may_speak_below(rule: &Rule, path: &[String]) -> bool {
    matches!(&rule.pattern, Pattern::Attribute(pattern) if pattern.may_match_below(path))
}

/// The decisions of rules about paths.
pub(crate) struct Look<'rules> {
    /// Tells whether the policy may see the value at a path.
    pub(crate) allowed: &'rules dyn Fn(&[String]) -> bool,
    /// Tells whether rules may decide differently below a path with this decision.
    pub(crate) differs: &'rules dyn Fn(&[String], bool) -> bool,
}

/// Returns the visible part of a value, or `None` if no part is visible. It descends only where rules can differ.
pub(crate) fn seen_below(look: &Look<'_>, path: &mut Vec<String>, value: &Value) -> Option<Value> {
    let allowed = (look.allowed)(path);
    let Value::Object(members) = value else { return allowed.then(|| value.clone()) };
    if !(look.differs)(path, allowed) {
        return allowed.then(|| value.clone());
    }
    let mut seen = Map::new();
    for (key, member) in members {
        path.push(key.clone());
        if let Some(part) = seen_below(look, path, member) {
            seen.insert(key.clone(), part);
        }
        path.pop();
    }
    (allowed || !seen.is_empty()).then_some(Value::Object(seen))
}
