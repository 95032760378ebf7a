//! Completions for arguments that name saved objects: the arguments and the names that are offered.

use crate::program::program;
use crate::settings::{Color, Format, Layer, Level, NodeName, View};
use assemble::{Named, is_plain_word, saved_names};
use clap::{Arg, ValueHint};
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter as _};
use std::any::TypeId;
use std::ffi::OsStr;
use std::path::PathBuf;

/// The kind of object that an argument names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Offer {
    Nodes,
    Layers,
    Roles,
    Environments,
    DataBags,
    Items,
    Policies,
    Indexes,
    Groups,
    Runs,
    Attributes,
    /// Resource types that wrun itself has.
    Types,
    /// Files and folders of this machine.
    Paths,
    PoliciesOrPaths,
    RunsOrPaths,
    /// The words that the argument accepts.
    Words(&'static [&'static str]),
}

/// Arguments of a command's subcommands, by their identifiers. The first match counts. `*` means all other commands.
const ARGUMENTS: [(&str, &str, Offer); 38] = [
    ("node create", "environment", Offer::Environments),
    ("node delete", "names", Offer::Nodes),
    ("node environment set", "name", Offer::Environments),
    ("node policy set", "policies", Offer::Policies),
    ("node show", "attribute", Offer::Attributes),
    ("node show", "named", Offer::Attributes),
    ("node explain", "attribute", Offer::Attributes),
    ("run show", "run", Offer::Runs),
    ("run diff", "from", Offer::Runs),
    ("run diff", "to", Offer::Runs),
    ("grants allow", "from_run", Offer::RunsOrPaths),
    ("resources", "name", Offer::Types),
    ("policy show", "file", Offer::PoliciesOrPaths),
    ("policy show", "policy", Offer::Policies),
    ("layer show", "name", Offer::Layers),
    ("layer show", "policy", Offer::Policies),
    ("layer", "name", Offer::Layers),
    ("layer", "before", Offer::Layers),
    ("layer", "after", Offer::Layers),
    ("role show", "name", Offer::Roles),
    ("role edit", "name", Offer::Roles),
    ("role delete", "names", Offer::Roles),
    ("role run-list", "role", Offer::Roles),
    ("role env-run-list", "role", Offer::Roles),
    ("role env-run-list", "environment", Offer::Environments),
    ("environment show", "name", Offer::Environments),
    ("environment edit", "name", Offer::Environments),
    ("environment delete", "names", Offer::Environments),
    ("environment compare", "names", Offer::Environments),
    ("data-bag", "bag", Offer::DataBags),
    ("data-bag", "item", Offer::Items),
    ("search", "index", Offer::Indexes),
    ("converge", "policy_name", Offer::Policies),
    ("grants suggest", "policy_name", Offer::Policies),
    ("converge", "environment", Offer::Environments),
    ("*", "policy_name", Offer::Policies),
    ("*", "policy_group", Offer::Groups),
    ("*", "node_name", Offer::Nodes),
];

/// Adds completions with saved names to the arguments of a command and its subcommands.
pub(super) fn offer(command: clap::Command) -> clap::Command {
    offer_below(command, "")
}

fn offer_below(command: clap::Command, path: &str) -> clap::Command {
    let command = command.mut_args(|argument| match offered(path, &argument) {
        Some(offer) => argument.add(ArgValueCompleter::new(move |current: &OsStr| candidates(offer, current))),
        None => argument,
    });
    command.mut_subcommands(|below| {
        let path = if path.is_empty() { below.get_name().to_owned() } else { format!("{path} {}", below.get_name()) };
        offer_below(below, &path)
    })
}

fn offered(path: &str, argument: &Arg) -> Option<Offer> {
    let is_path = matches!(argument.get_value_hint(), ValueHint::AnyPath | ValueHint::FilePath | ValueHint::DirPath);
    let saved = saved(path, argument.get_id().as_str()).or(is_path.then_some(Offer::Paths));
    saved.or_else(|| words(argument).map(Offer::Words))
}

/// Returns the words of an argument that accepts a few words only, such as `--format`.
fn words(argument: &Arg) -> Option<&'static [&'static str]> {
    let all = [
        (TypeId::of::<Format>(), Format::WORDS),
        (TypeId::of::<View>(), View::WORDS),
        (TypeId::of::<Level>(), Level::WORDS),
        (TypeId::of::<Color>(), Color::WORDS),
    ];
    let parser = argument.get_value_parser().type_id();
    all.into_iter().find(|(kind, _)| parser == *kind).map(|(_, words)| words)
}

/// The saved things that an argument names.
fn saved(path: &str, argument: &str) -> Option<Offer> {
    let is_below = |command: &str| {
        command == "*" || path == command || path.strip_prefix(command).is_some_and(|rest| rest.starts_with(' '))
    };
    let found = ARGUMENTS.iter().find(|(command, name, _)| *name == argument && is_below(command));
    found.map(|(.., offer)| *offer)
}

/// What begins as what was typed: names and paths. A shell writes it into the line as it is: so only plain words are offered.
fn candidates(offer: Offer, current: &OsStr) -> Vec<CompletionCandidate> {
    let mut all = match offer {
        Offer::Paths => vec![],
        offer => names_like(offer, current),
    };
    if matches!(offer, Offer::Paths | Offer::PoliciesOrPaths | Offer::RunsOrPaths) {
        all.extend(PathCompleter::any().complete(current));
    }
    all.retain(|candidate| candidate.get_value().to_str().is_some_and(is_plain_line));
    all
}

/// Whether each word of a list with commas is a plain one.
fn is_plain_line(text: &str) -> bool {
    // The home directory is what a shell makes of `~`.
    text.strip_prefix("~/").unwrap_or(text).split(',').all(|word| word.is_empty() || is_plain_word(word))
}

/// Returns the names that begin with the typed text. In a comma-separated list, the last item counts, and names that the list
/// has already are left out.
fn names_like(offer: Offer, current: &OsStr) -> Vec<CompletionCandidate> {
    let Some(current) = current.to_str() else { return vec![] };
    let (before, last) = match current.rsplit_once(',') {
        Some((before, last)) => (format!("{before},"), last),
        None => (String::new(), current),
    };
    let words: Vec<String> =
        std::env::args_os().skip_while(|word| word != "--").filter_map(|word| word.into_string().ok()).collect();
    let is_new = |name: &str| !before.split(',').any(|listed| listed == name);
    let names = names(offer, last, &words).into_iter().filter(|name| name.starts_with(last) && is_new(name));
    names.map(|name| CompletionCandidate::new(format!("{before}{name}"))).collect()
}

fn names(offer: Offer, typed_name: &str, words: &[String]) -> Vec<String> {
    let named = match offer {
        Offer::Nodes => Named::Nodes,
        Offer::Layers => Named::Layers,
        Offer::Roles => Named::Roles,
        Offer::Environments => Named::Environments,
        Offer::DataBags => Named::DataBags,
        Offer::Items => Named::Items { bag: bag(words).unwrap_or_default() },
        Offer::Policies | Offer::PoliciesOrPaths => Named::Policies,
        Offer::Indexes => Named::Indexes,
        Offer::Groups => Named::Groups,
        Offer::Runs | Offer::RunsOrPaths => Named::Runs,
        Offer::Attributes => Named::Attributes { typed: typed_name.to_owned() },
        Offer::Words(words) => return words.iter().map(|word| (*word).to_owned()).collect(),
        Offer::Types => return schema::reference::all().map(|found| found.name.to_owned()).collect(),
        Offer::Paths => return vec![],
    };
    let path = |options: &[&str]| typed(words, options).map(PathBuf::from);
    let layer = Layer {
        node_name: typed(words, &["--node-name", "-N"]).and_then(|name| name.parse::<NodeName>().ok()),
        state_dir: path(&["--state-dir"]),
        policies: path(&["--policies"]),
        grants: path(&["--grants"]),
        roles: path(&["--roles"]),
        environments: path(&["--environments"]),
        data_bags: path(&["--data-bags"]),
        ..Layer::default()
    };
    let settings = super::super::settings(path(&["--config", "-c"]).as_deref(), layer);
    settings.map(|settings| saved_names(&settings.run, &program(), &named)).unwrap_or_default()
}

/// Returns the value of an option in a partly typed command line.
fn typed<'words>(words: &'words [String], options: &[&str]) -> Option<&'words str> {
    let value = |(at, word): (usize, &'words String)| {
        options.iter().find_map(|option| match word.strip_prefix(option)? {
            "" => words.get(at + 1).map(String::as_str),
            rest => rest.strip_prefix('='),
        })
    };
    words.iter().enumerate().find_map(value)
}

/// Returns the data bag of the item that is being typed: the first word after the command that is not an option.
fn bag(words: &[String]) -> Option<String> {
    let at = words.iter().position(|word| word == "data-bag")?;
    let mut rest = words.iter().skip(at + 2);
    while let Some(word) = rest.next() {
        match word.as_str() {
            option if option.starts_with("--") && option.contains('=') => {}
            "--encrypt" | "--all" => {}
            option if option.starts_with('-') => drop(rest.next()),
            bag => return Some(bag.to_owned()),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::Arguments;

    #[test]
    fn each_row_is_an_argument_of_a_command() {
        fn collect(command: &clap::Command, path: &str, found: &mut Vec<(String, String)>) {
            found.extend(command.get_arguments().map(|argument| (path.to_owned(), argument.get_id().to_string())));
            for below in command.get_subcommands() {
                let path =
                    if path.is_empty() { below.get_name().to_owned() } else { format!("{path} {}", below.get_name()) };
                collect(below, &path, found);
            }
        }
        let mut found = vec![];
        collect(&Arguments::description(), "", &mut found);
        for (command, argument, _) in ARGUMENTS {
            let is_there =
                found.iter().any(|(path, name)| name == argument && (command == "*" || path.starts_with(command)));
            assert!(is_there, "{command} has no argument {argument}");
        }
        assert_eq!(saved("node tag add", "node_name"), Some(Offer::Nodes));
        assert_eq!(saved("layer list", "policy_group"), Some(Offer::Groups));
        assert_eq!(saved("role create", "name"), None, "a new name is nobody's");
    }

    #[test]
    fn options_that_were_typed_count() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(typed(&words("-- wrun role show --roles /a x"), &["--roles"]), Some("/a"));
        assert_eq!(typed(&words("-- wrun role show --roles=/a x"), &["--roles"]), Some("/a"));
        assert_eq!(typed(&words("-- wrun role show x"), &["--roles"]), None);
        assert_eq!(bag(&words("-- wrun data-bag show --data-bags /d users an")).as_deref(), Some("users"));
        assert_eq!(bag(&words("-- wrun data-bag edit --encrypt users an")).as_deref(), Some("users"));
    }
}
