//! Attributes: what a policy may write, and what it sees of others.

use crate::denied::{Capability, Denied};
use crate::pattern::{Asked, Pattern, join_dots};
use crate::policy::PolicyGrants;
use crate::proofs::GrantedAttribute;
use crate::rules::{Rule, Verdict};
use serde_json::{Map, Value};
use std::borrow::Cow;

/// Every policy may write below it, as every cookbook does: the node's tags.
const TAGS: &str = "tags";

impl PolicyGrants {
    /// Whether the policy may write at this attribute path: below its own cookbooks' names and `tags`, and where it is
    /// granted. A path that ends above what is granted is refused, since writing there replaces all below it.
    ///
    /// # Errors
    /// Neither its own nor granted.
    pub fn write_attribute(&self, path: &[String]) -> Result<GrantedAttribute, Denied> {
        let asked = Asked::Keys(path);
        let refused = matches!(self.list(Capability::WriteAttributes).decide(asked, || false), Verdict::Refused(_));
        let own = path.first().is_some_and(|first| self.owns(first));
        if !own || refused {
            self.decide(Capability::WriteAttributes, asked, &join_dots(path), || false)?;
        }
        Ok(GrantedAttribute(path.to_vec()))
    }

    /// Whether a policy may write below this top-level attribute without a grant.
    pub(crate) fn owns(&self, first: &String) -> bool {
        first == TAGS || self.cookbooks.contains(first)
    }

    /// Whether what the policy writes at this attribute path of `normal` replaces what others wrote there: only where it is
    /// granted. Below its own cookbooks' names its writes stand beside theirs.
    pub fn overwrites_attribute(&self, path: &[String]) -> bool {
        let rules = self.list(Capability::WriteAttributes);
        self.everything || matches!(rules.decide(Asked::Keys(path), || false), Verdict::Allowed(_))
    }

    /// What other policies left, in this run or in `normal`, without what this policy may not read. The names of its own
    /// cookbooks are not a right to it: anybody can name a cookbook so.
    pub fn visible_attributes<'all>(&self, left: &'all Value) -> Cow<'all, Value> {
        if self.everything {
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

    /// What the operator gave the node in `normal`, without what this policy may not read. It may read what it may write:
    /// below the names of its own cookbooks and `tags`, and where it is granted.
    pub fn visible_given<'all>(&self, given: &'all Value) -> Cow<'all, Value> {
        if self.everything {
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

/// What rules say about paths.
pub(crate) struct Look<'rules> {
    /// Whether what is at a path may be seen.
    pub(crate) allowed: &'rules dyn Fn(&[String]) -> bool,
    /// Whether rules may say otherwise below a path where they said this.
    pub(crate) differs: &'rules dyn Fn(&[String], bool) -> bool,
}

/// The part of a value that may be seen. `None`: no part may. Goes down only as far as rules can differ.
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
