//! Queries of the installed and the available packages.

use super::removals::{self, Replaces};
use super::version::Version;
use super::{QUERY, inquiry};
use crate::plan::{View, Writer};
use contract::Raised;
use machine::command::{Launch, require_success};

/// The packages in a file, with their versions.
type Held = Vec<(String, Version)>;

/// The format of rpm's answer: fields without white space.
const FORMAT: &str = "%{NAME} %{EPOCH} %{VERSION} %{RELEASE} %{ARCH}\\n";

/// Returns the installed versions, by name. Of several versions of one name, rpm lists the oldest first.
pub(super) fn installed(view: &mut View<'_>, names: &[String]) -> Result<Vec<(String, Version)>, Raised> {
    if names.is_empty() {
        return Ok(vec![]);
    }
    let mut arguments = ["-q", "--queryformat", FORMAT, "--"].map(str::to_owned).to_vec();
    arguments.extend(names.iter().cloned());
    let launch = Launch::program("rpm", arguments).timeout(QUERY);
    let outcome = inquiry::ask_rpm(view, &launch).map_err(|failure| failure.into_raised(&launch))?;
    // The exit code is the number of names that are not installed.
    let text = String::from_utf8_lossy(&outcome.output).into_owned();
    let absent = text.lines().filter(|line| line.ends_with(" is not installed")).count();
    if outcome.code != i32::try_from(absent).ok() && outcome.code != Some(0) {
        require_success(&launch, &outcome, &[0])?;
    }
    Ok(parse(&text))
}

/// Returns the packages in a file.
pub(super) fn in_file(view: &mut View<'_>, path: &str) -> Result<Vec<(String, Version)>, Raised> {
    Ok(parse(&asked(view, &of_file(path, FORMAT))?))
}

/// Returns the packages that a file replaces.
pub(super) fn replaced_by_file(view: &mut View<'_>, path: &str) -> Result<Vec<Replaces>, Raised> {
    removals::parse(&asked(view, &of_file(path, removals::REPLACES))?, path)
}

fn asked(view: &mut View<'_>, launch: &Launch) -> Result<String, Raised> {
    let outcome = inquiry::ask_rpm(view, launch).map_err(|failure| failure.into_raised(launch))?;
    require_success(launch, &outcome, &[0])?;
    Ok(String::from_utf8_lossy(&outcome.output).into_owned())
}

/// Returns the packages in a private copy, and the packages that it replaces.
pub(super) fn in_copy(writer: &mut Writer<'_>, path: &str) -> Result<(Held, Vec<Replaces>), Raised> {
    let mut ask = |format: &str| {
        let launch = of_file(path, format);
        let outcome = writer.launch(&launch).map_err(|failure| failure.into_raised(&launch))?;
        require_success(&launch, &outcome, &[0])?;
        Ok::<_, Raised>(String::from_utf8_lossy(&outcome.output).into_owned())
    };
    Ok((parse(&ask(FORMAT)?), removals::parse(&ask(removals::REPLACES)?, path)?))
}

fn of_file(path: &str, format: &str) -> Launch {
    Launch::program("rpm", ["-qp", "--queryformat", format, "--", path]).timeout(QUERY)
}

fn parse(text: &str) -> Vec<(String, Version)> {
    let line = |line: &str| {
        let mut words = line.split(' ').map(str::to_owned);
        let (name, epoch) = (words.next()?, words.next()?);
        let (version, release, architecture) = (words.next()?, words.next()?, words.next()?);
        let epoch = if epoch == "(none)" { "0".to_owned() } else { epoch };
        let is_number = !epoch.is_empty() && epoch.bytes().all(|byte| byte.is_ascii_digit());
        let found = is_number && words.next().is_none();
        found.then_some((name, Version { epoch, version, release, architecture }))
    };
    text.lines().filter_map(line).collect()
}

/// Returns the available versions by name, from `dnf list` or `yum list`.
pub(super) fn available(
    view: &mut View<'_>,
    program: &'static str,
    options: &[String],
    names: &[String],
) -> Result<Vec<(String, Version)>, Raised> {
    if names.is_empty() {
        return Ok(vec![]);
    }
    let mut arguments = options.to_vec();
    let which = if program == "yum" { "available" } else { "--available" };
    arguments.extend(["-q", "list", "--showduplicates", which].map(str::to_owned));
    arguments.extend(names.iter().cloned());
    let launch = inquiry::question(program, arguments.clone());
    let outcome = inquiry::ask(view, program, arguments)?;
    if outcome.code == Some(1) && String::from_utf8_lossy(&outcome.errors).to_lowercase().contains("no matching") {
        return Ok(vec![]);
    }
    require_success(&launch, &outcome, &[0])?;
    Ok(parse_list(&String::from_utf8_lossy(&outcome.output)))
}

/// Parses triples of `name.architecture`, `epoch:version-release` and the repository's name. yum breaks lines that are too
/// long for a terminal, so line ends are ignored.
fn parse_list(text: &str) -> Vec<(String, Version)> {
    let words = text.lines().filter(|line| !line.ends_with("Packages") && !line.ends_with("packages"));
    let words: Vec<&str> = words.flat_map(str::split_ascii_whitespace).collect();
    let triple = |triple: &[&str]| {
        let (name, architecture) = triple.first()?.rsplit_once('.')?;
        let (epoch, rest) = triple.get(1)?.split_once(':').unwrap_or(("0", triple.get(1)?));
        let (version, release) = rest.rsplit_once('-')?;
        let [epoch, version, release, architecture] = [epoch, version, release, architecture].map(str::to_owned);
        Some((name.to_owned(), Version { epoch, version, release, architecture }))
    };
    words.chunks(3).filter_map(triple).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(found: &[(String, Version)]) -> String {
        found.iter().map(|(name, version)| format!("{name} {}", version.text())).collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn rpms_answers_are_read() {
        let text =
            "bash (none) 5.1.8 6.el9 x86_64\npackage nothing is not installed\nbind 32 9.16 1.el9 x86_64\nodd line\n";
        assert_eq!(shown(&parse(text)), "bash 0:5.1.8-6.el9.x86_64; bind 32:9.16-1.el9.x86_64");
    }

    #[test]
    fn lists_are_read() {
        let dnf = "Available Packages\nbash.x86_64         5.1.8-9.el9          baseos\nbind.x86_64    32:9.16-2.el9  appstream\n";
        assert_eq!(shown(&parse_list(dnf)), "bash 0:5.1.8-9.el9.x86_64; bind 32:9.16-2.el9.x86_64");
        let yum = "Available Packages\na-very-long-name-that-does-not-fit.noarch\n                       1.0-1.el7    base\nb.c.i686 2-3 x\n";
        assert_eq!(shown(&parse_list(yum)), "a-very-long-name-that-does-not-fit 0:1.0-1.el7.noarch; b.c 0:2-3.i686");
    }
}
