//! Shortens Chef's sentences about a new file. Chef writes three: `create new file`, `update content .. from none`, `change
//! mode from ''`. Machine-readable reports have all of them; people get one.

/// The first sentence about a new file or directory, and its content, owner and mode from later ones.
pub struct NewThing {
    sentence: String,
    path: String,
    access: Vec<String>,
    pub diff: Option<String>,
}

impl NewThing {
    /// Starts with a change, or returns `None` if the change does not create anything.
    pub fn begun_by(what: &str) -> Option<Self> {
        let path = what.strip_prefix("create new file ").or_else(|| what.strip_prefix("create new directory "))?;
        Some(Self { sentence: what.to_owned(), path: path.to_owned(), access: vec![], diff: None })
    }

    /// Takes in another change of the same resource, if it only describes how the new thing was created. Returns whether it
    /// did.
    pub fn takes(&mut self, what: &str, diff: Option<&String>) -> bool {
        if let Some(rest) = what.strip_prefix("update content in file ") {
            let is_new = rest.strip_prefix(self.path.as_str()).is_some_and(|rest| rest.starts_with(" from none to "));
            if is_new {
                self.diff = diff.cloned();
            }
            return is_new;
        }
        let access = ["mode", "owner", "group"].into_iter().find_map(|part| {
            let rest = what.strip_prefix("change ")?.strip_prefix(part)?;
            let new = rest.strip_prefix(" from '' to '")?.strip_suffix('\'')?;
            Some(format!("{part} {new}"))
        });
        let taken = access.is_some() && diff.is_none();
        self.access.extend(access.filter(|_| taken));
        taken
    }

    /// Returns one sentence for the new thing, with its owner and mode in brackets.
    pub fn sentence(&self) -> String {
        match self.access.as_slice() {
            [] => self.sentence.clone(),
            access => format!("{} ({})", self.sentence, access.join(", ")),
        }
    }
}

/// Returns the sentences of one action. Sentences that only describe a new thing are joined into one.
pub fn shortened<'a>(sentences: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut shown = Vec::new();
    let mut begun: Option<NewThing> = None;
    for sentence in sentences {
        if begun.as_mut().is_some_and(|new| new.takes(sentence, None)) {
            continue;
        }
        shown.extend(begun.take().map(|new| new.sentence()));
        begun = NewThing::begun_by(sentence);
        if begun.is_none() {
            shown.push(sentence.to_owned());
        }
    }
    shown.extend(begun.map(|new| new.sentence()));
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_file_is_told_in_one_sentence_and_nothing_else_is_taken_for_it() {
        let mut new = NewThing::begun_by("create new file /etc/x").unwrap();
        let diff = "--- /etc/x\n".to_owned();
        assert!(new.takes("update content in file /etc/x from none to 277e04", Some(&diff)));
        assert!(new.takes("change mode from '' to '0644'", None));
        assert!(new.takes("change owner from '' to 'root'", None));
        assert!(!new.takes("change mode from '0644' to '0600'", None));
        assert!(!new.takes("update content in file /etc/y from none to 277e04", None));
        assert!(!new.takes("restore selinux security context", None));
        assert_eq!(new.sentence(), "create new file /etc/x (mode 0644, owner root)");
        assert_eq!(new.diff, Some(diff));
        assert!(NewThing::begun_by("update content in file /etc/x from 1 to 2").is_none());
    }

    #[test]
    fn sentences_about_new_things_are_one_each() {
        let made = ["create new file /a", "update content in file /a from none to 12", "change mode from '' to '0600'"];
        let other = ["change mode from '0644' to '0600'", "create new directory /b"];
        let expect = ["create new file /a (mode 0600)", "change mode from '0644' to '0600'", "create new directory /b"];
        assert_eq!(shortened(made.into_iter().chain(other)), expect);
        assert!(shortened([]).is_empty());
    }
}
