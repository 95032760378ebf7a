//! Recipes that a dry run did not compile to their end, with the needs in the rest of their text.

use crate::{Block, Tone};
use grants::Addition;
use serde::{Deserialize, Serialize};

/// The most entries of one recipe that are listed; the run's record has more.
const MAX_LISTED: usize = 30;

/// The most names of types that are listed.
const MAX_TYPES: usize = 10;

/// The most bytes of an entry or a type's name that a list shows.
const MAX_SHOWN: usize = 200;

/// A recipe that ended early while a dry run compiled it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct UnseenRecipe {
    /// The policy whose recipe it is, by its name.
    pub policy: String,
    /// The recipe of the run list, as `cookbook::recipe`.
    pub recipe: String,
    /// The place where it ended, as `COOKBOOK/FILE:LINE`.
    pub ended_at: Option<String>,
    /// Whether nothing of the recipe was compiled, because an attributes file failed at `ended_at`.
    pub whole: bool,
    /// Whether the rest of the text was read, without evaluating it. That is impossible for recipes in Rust.
    pub read: bool,
    /// The grants' entries for literal needs of the rest, without those that are granted or were denied in the run.
    pub entries: Vec<UnseenEntry>,
    /// The number of entries that exceed the limits of number or length and are left out.
    pub left_out: usize,
    /// The number of places whose need is computed when they run.
    pub computed: usize,
    /// Custom resource types that the rest declares.
    pub types: Vec<String>,
    /// Whether some of the text could not be read.
    pub incomplete: bool,
}

/// An entry of the policy's table for a literal need.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct UnseenEntry {
    /// The key of the policy's table, as in `packages`.
    pub key: String,
    /// The entry as TOML.
    pub value: String,
    /// The place that needs it, as `COOKBOOK/FILE:LINE`.
    pub place: String,
}

impl UnseenEntry {
    /// Returns a line with the key, the beginning of the entry, and the place.
    pub fn line(&self) -> String {
        format!("{} {}  ({})", self.key, text::cut(&self.value, MAX_SHOWN), self.place)
    }
}

impl UnseenRecipe {
    /// The entries, to add them to a file.
    pub fn additions(&self) -> impl Iterator<Item = Addition> {
        self.entries.iter().map(|entry| {
            let UnseenEntry { key, value, .. } = entry;
            Addition { policy: self.policy.clone(), key: key.clone(), value: value.clone() }
        })
    }

    /// Returns the heading: the recipe, and its part that was not seen. It is the end of a clause, `wrun did not see ..`.
    pub fn heading(&self) -> String {
        let at = self.ended_at.as_deref();
        if self.whole {
            let since = at.map(|place| format!(", because an attributes file failed before it, at {place}"));
            let since = since.unwrap_or_default();
            return format!("recipe {}{since}", self.recipe);
        }
        let at = at.map(|place| format!(", which ended at {place}")).unwrap_or_default();
        format!("the rest of recipe {}{at}", self.recipe)
    }

    /// Returns the lines about the rest: each is a sentence or an entry.
    pub fn lines(&self) -> Vec<String> {
        if !self.read {
            return vec!["wrun cannot read its source: run again after granting".to_owned()];
        }
        let entries = self.entries.iter().take(MAX_LISTED);
        let mut lines: Vec<_> = entries.map(UnseenEntry::line).collect();
        let more = self.entries.len().saturating_sub(MAX_LISTED);
        if more > 0 {
            lines.push(format!("and {more} more"));
        }
        match self.left_out {
            0 => {}
            1 => lines.push("1 more entry was not kept: there were too many, or it is too long".to_owned()),
            more => lines.push(format!("{more} more entries were not kept: there were too many, or they are too long")),
        }
        match self.computed {
            0 => {}
            1 => lines.push("1 more place computes what it asks for".to_owned()),
            places => lines.push(format!("{places} more places compute what they ask for")),
        }
        if !self.types.is_empty() {
            let mut names: Vec<_> = self.types.iter().take(MAX_TYPES).map(|name| text::cut(name, MAX_SHOWN)).collect();
            let more = self.types.len().saturating_sub(MAX_TYPES);
            if more > 0 {
                names.push(format!("and {more} more").into());
            }
            lines.push(format!("actions of custom resources, which are not looked at: {}", names.join(", ")));
        }
        if self.incomplete {
            lines.push("not all of its text could be read".to_owned());
        }
        if lines.is_empty() {
            lines.push("nothing that is not granted, as far as its text says".to_owned());
        }
        lines
    }
}

/// Adds what was not seen to the block of denials.
pub(crate) fn add_to(mut block: Block, unseen: &[UnseenRecipe]) -> Block {
    for recipe in unseen {
        let reads = if recipe.read { ". Its text asks for" } else { "" };
        let heading = format!("In policy {}, wrun did not see {}{reads}:", recipe.policy, recipe.heading());
        block = block.line(Tone::Warning, heading);
        block = recipe.lines().into_iter().fold(block, |block, line| block.line(Tone::Plain, format!("  {line}")));
    }
    block
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recipe() -> UnseenRecipe {
        UnseenRecipe {
            policy: "web".into(),
            recipe: "web::default".into(),
            ended_at: Some("web/recipes/default.rb:2".into()),
            read: true,
            ..UnseenRecipe::default()
        }
    }

    fn shown(recipe: UnseenRecipe) -> String {
        add_to(Block::new(Tone::Plain, "x"), &[recipe]).text()
    }

    #[test]
    fn the_rest_of_a_recipe_is_told_as_far_as_its_text_says_it() {
        let entry = |at: usize| UnseenEntry {
            key: "packages".into(),
            value: format!("\"p{at}\u{1b}\""),
            place: format!("web/recipes/default.rb:{at}"),
        };
        let many = UnseenRecipe {
            entries: (0..32).map(entry).collect(),
            computed: 2,
            types: vec!["site".into()],
            incomplete: true,
            ..recipe()
        };
        let text = shown(many);
        let begin = "x\nIn policy web, wrun did not see the rest of recipe web::default, which ended at web/recipes/default.rb:2. \
                     Its text asks for:\n  packages \"p0\\u{1b}\"  (web/recipes/default.rb:0)\n";
        assert!(text.starts_with(begin), "{text}");
        let end = "\"p29\\u{1b}\"  (web/recipes/default.rb:29)\n  and 2 more\n  2 more places compute what they ask for\n  \
                   actions of custom resources, which are not looked at: site\n  not all of its text could be read";
        assert!(text.ends_with(end), "{text}");
        assert!(shown(recipe()).ends_with("\n  nothing that is not granted, as far as its text says"));
        let whole = UnseenRecipe { whole: true, ended_at: Some("web/attributes/default.rb:4".into()), ..recipe() };
        let expect = "recipe web::default, because an attributes file failed before it, at web/attributes/default.rb:4";
        assert_eq!(whole.heading(), expect);
    }

    #[test]
    fn long_entries_are_cut_and_those_that_are_not_kept_are_counted() {
        let value = format!("\"{}\"", "x".repeat(10_000));
        let entry = UnseenEntry { key: "commands".into(), value, place: "web/recipes/default.rb:3".into() };
        let text = shown(UnseenRecipe { entries: vec![entry], left_out: 7, ..recipe() });
        let end = "xxx...  (web/recipes/default.rb:3)\n  7 more entries were not kept: there were too many, or they are too long";
        assert!(text.ends_with(end) && text.len() < 600, "{text}");
    }

    #[test]
    fn a_long_list_of_types_is_cut() {
        let types = (0..100).map(|at| format!("t{at}")).collect();
        let text = shown(UnseenRecipe { types, ..recipe() });
        assert!(text.ends_with("not looked at: t0, t1, t2, t3, t4, t5, t6, t7, t8, t9, and 90 more"), "{text}");
    }

    #[test]
    fn of_compiled_code_it_is_said_that_nothing_is_known() {
        let rust = UnseenRecipe { read: false, ended_at: None, ..recipe() };
        assert_eq!(
            shown(rust),
            "x\nIn policy web, wrun did not see the rest of recipe web::default:\n  wrun cannot read its source: run again after granting"
        );
    }
}
