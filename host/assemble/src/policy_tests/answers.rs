//! The answers of programs in a test: the test's table of commands, and a package archive made from its table of packages.

use super::{CommandAnswer, TestCase};
use contract::CommandOutcome;
use machine::command::{Answers, Launch};
use std::collections::BTreeMap;

/// The version in which archives offer a package that the test does not name.
const ANY_VERSION: &str = "1.0";

/// The answers that a test gives.
pub(super) fn of(case: &TestCase) -> Answers {
    let (commands, packages) = (case.commands.clone(), case.packages.clone());
    Answers::new(move |launch: &Launch| {
        let given = commands.get(launch.shown()).or_else(|| commands.get(&launch.words().join(" ")));
        match given {
            Some(answer) => Some(outcome(answer)),
            None => archive(launch.words(), &packages),
        }
    })
}

fn outcome(answer: &CommandAnswer) -> CommandOutcome {
    CommandOutcome {
        code: Some(answer.code),
        output: answer.output.clone().into_bytes(),
        errors: answer.errors.clone().into_bytes(),
        ..CommandOutcome::default()
    }
}

/// Returns the output of `apt-cache policy -- NAME..`, `apt-cache showpkg -- NAME` and of simulations of `apt-get`, or `None` for
/// another program. In the simulations, no other package changes along with the named ones.
fn archive(words: &[String], packages: &BTreeMap<String, Option<String>>) -> Option<CommandOutcome> {
    let (program, arguments) = words.split_first()?;
    let end = arguments.iter().position(|word| word == "--")?;
    let (question, names) = (arguments.get(end.checked_sub(1)?)?, arguments.get(end + 1..)?);
    let simulates = arguments.iter().take(end).any(|word| word == "-s");
    let text = match (program.as_str(), question.as_str()) {
        ("apt-get", _) if simulates => String::new(),
        ("apt-cache", "policy") => names.iter().map(|name| offer(name, packages)).collect(),
        ("apt-cache", "showpkg") => "Reverse Provides: \n".to_owned(),
        _ => return None,
    };
    Some(CommandOutcome { code: Some(0), output: text.into_bytes(), ..CommandOutcome::default() })
}

fn offer(name: &str, packages: &BTreeMap<String, Option<String>>) -> String {
    let version = packages.get(name).map_or(Some(ANY_VERSION), Option::as_deref);
    version.map_or_else(String::new, |version| {
        format!("{name}:\n  Installed: (none)\n  Candidate: {version}\n  Version table:\n     {version} 500\n")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn archives_offer_what_the_test_says() {
        let packages = BTreeMap::from([("gone".to_owned(), None), ("redis".to_owned(), Some("7.0".to_owned()))]);
        let ask = |line: &str| {
            let words: Vec<_> = line.split(' ').map(str::to_owned).collect();
            archive(&words, &packages).map(|outcome| String::from_utf8_lossy(&outcome.output).into_owned())
        };
        let known = ask("apt-cache -o X= policy -- redis gone other").expect("an answer");
        assert!(known.contains("redis:\n") && known.contains("Candidate: 7.0\n"), "{known}");
        assert!(known.contains("other:\n") && known.contains("Candidate: 1.0\n"), "{known}");
        assert!(!known.contains("gone"), "{known}");
        assert_eq!(ask("apt-cache showpkg -- gone").as_deref(), Some("Reverse Provides: \n"));
        assert_eq!(ask("apt-get install -- redis"), None);
        assert_eq!(ask("apt-get -s -y install -- redis=7.0").as_deref(), Some(""));
        assert_eq!(ask("--"), None);
    }
}
