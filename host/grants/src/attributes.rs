//! Attributes: what a policy may write, and what it sees of others and of the machine.

use crate::denied::{Capability, Denied};
use crate::pattern::{Asked, Pattern, join_dots};
use crate::policy::PolicyGrants;
use crate::proofs::GrantedAttribute;
use crate::rules::Verdict;
use serde_json::{Map, Value};

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
        let own = path.first().is_some_and(|first| first == TAGS || self.cookbooks.contains(first));
        if !own || refused {
            self.decide(Capability::WriteAttributes, asked, &join_dots(path), || false)?;
        }
        Ok(GrantedAttribute(path.to_vec()))
    }

    /// Whether the policy may read what earlier policies left at this path.
    ///
    /// # Errors
    /// Neither its own nor granted.
    pub fn read_attribute(&self, path: &[String]) -> Result<GrantedAttribute, Denied> {
        self.decide(Capability::ReadAttributes, Asked::Keys(path), &join_dots(path), || false)?;
        Ok(GrantedAttribute(path.to_vec()))
    }

    /// Whether the policy may read an automatic attribute.
    ///
    /// # Errors
    /// Not granted.
    pub fn fact(&self, path: &[String]) -> Result<GrantedAttribute, Denied> {
        self.decide(Capability::Facts, Asked::Keys(path), &join_dots(path), || false)?;
        Ok(GrantedAttribute(path.to_vec()))
    }

    /// What earlier policies left, without what this policy may not read.
    pub fn visible_attributes(&self, inherited: &Value) -> Value {
        self.visible(Capability::ReadAttributes, inherited)
    }

    /// The machine's facts, without those that this policy may not read.
    pub fn visible_facts(&self, facts: &Value) -> Value {
        self.visible(Capability::Facts, facts)
    }

    fn visible(&self, capability: Capability, value: &Value) -> Value {
        if self.everything {
            return value.clone();
        }
        self.visible_below(capability, &mut vec![], value).unwrap_or_else(|| Value::Object(Map::new()))
    }

    /// The part of a value that may be seen; none if there is none. Goes down only as far as rules can differ.
    fn visible_below(&self, capability: Capability, path: &mut Vec<String>, value: &Value) -> Option<Value> {
        let rules = self.list(capability);
        let allowed = matches!(rules.decide(Asked::Keys(path), || false), Verdict::Allowed(_));
        let deeper = rules.iter().any(|rule| match &rule.pattern {
            Pattern::Attribute(pattern) => pattern.may_match_below(path) && rule.allow != allowed,
            _ => false,
        });
        let Value::Object(members) = value else { return allowed.then(|| value.clone()) };
        if !deeper {
            return allowed.then(|| value.clone());
        }
        let mut seen = Map::new();
        for (key, member) in members {
            path.push(key.clone());
            if let Some(part) = self.visible_below(capability, path, member) {
                seen.insert(key.clone(), part);
            }
            path.pop();
        }
        (allowed || !seen.is_empty()).then_some(Value::Object(seen))
    }
}
