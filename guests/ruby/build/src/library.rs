//! Provides the part of Ruby's standard library that recipes can use. The package's second module contains the whole library
//! in its memory. Ruby itself reads the files from there once, and the cache folder keeps them.

use crate::files::Node;
use crate::ruby::{Ruby, system_with};
use anyhow::{Context as _, Result, ensure};
use sha2::{Digest as _, Sha256};
use std::fs;
use std::path::Path;

/// The folder in which Ruby looks for its library.
pub(crate) const PLACE: &str = "/usr/local/lib/ruby";

/// The digest of the library's files, as [`extract`] writes them.
const DIGEST: &str = "d0c488a9a70f718e2d2490e63c7891d441c1fdae60989b44b09170d8d43462d6";

/// The part of the library that belongs to this Ruby.
const OWN: &str = "4.0.0/";

/// Files and folders that the runtime omits. They need sockets, terminals, foreign libraries or a compiler, wrun's library
/// replaces them, or they only serve developers.
const LEFT_OUT: [&str; 28] = [
    "bundled_gems.rb",
    "bundler",
    "bundler.rb",
    "coverage.rb",
    "did_you_mean",
    "did_you_mean.rb",
    "error_highlight",
    "error_highlight.rb",
    "mkmf.rb",
    "net",
    "objspace",
    "objspace.rb",
    "open-uri.rb",
    "open3",
    "open3.rb",
    "openssl",
    "openssl.rb",
    "prism",
    "prism.rb",
    "resolv.rb",
    "ripper",
    "ripper.rb",
    "rubygems",
    "rubygems.rb",
    "syntax_suggest",
    "syntax_suggest.rb",
    "timeout.rb",
    "un.rb",
];

/// Exceptions from [`LEFT_OUT`]: many cookbooks compare versions.
const KEPT: [&str; 3] = ["rubygems/deprecate.rb", "rubygems/requirement.rb", "rubygems/version.rb"];

/// Gems that come with Ruby. Their files move into the library itself, so that Ruby finds them without RubyGems.
const GEMS: [&str; 10] =
    ["abbrev", "base64", "benchmark", "csv", "getoptlong", "logger", "mutex_m", "observer", "ostruct", "rexml"];

/// Writes each file as the lengths of its path and its content, four bytes each, path and content.
const EXTRACT: &str = r##"
STDOUT.binmode
walk = lambda do |folder|
  Dir.children(folder).sort.each do |name|
    path = "#{folder}/#{name}"
    next walk.(path) if File.directory?(path)
    content = File.binread(path)
    STDOUT.write([path.bytesize, content.bytesize].pack("VV"), path.b, content)
  end
end
walk.("/usr/local/lib/ruby")
STDOUT.flush
""
"##;

/// The library's files that recipes can use, by their paths below [`PLACE`].
pub(crate) fn library(ruby_with_library: &[u8], cache: &Path, say: &mut dyn FnMut(&str)) -> Result<Node> {
    let path = cache.join(format!("ruby-4.0-wasm-wasi-{}-library", crate::package::PACKAGE_VERSION));
    let listed = match fs::read(&path) {
        Ok(listed) if digest(&listed) == DIGEST => listed,
        _ => {
            say("taking Ruby's standard library out of its package");
            let listed = extract(ruby_with_library)?;
            let found = digest(&listed);
            ensure!(found == DIGEST, "Ruby's standard library is not what it was: its digest is {found}");
            let partial = path.with_extension(format!("{}", std::process::id()));
            fs::write(&partial, &listed).with_context(|| format!("cannot write {}", partial.display()))?;
            fs::rename(&partial, &path).with_context(|| format!("cannot rename {}", partial.display()))?;
            listed
        }
    };
    let mut tree = Node::default();
    for (path, content) in files(&listed)? {
        if let Some(place) = place(path.strip_prefix(PLACE).unwrap_or(path).trim_start_matches('/')) {
            tree.put(&place, content.to_vec());
        }
    }
    Ok(tree)
}

/// Returns the new path of a file, `4.0.0/PATH` also for a gem, or `None` if the file is omitted.
fn place(path: &str) -> Option<String> {
    if let Some(own) = path.strip_prefix(OWN) {
        let left_out = LEFT_OUT.iter().any(|left_out| is_below(own, left_out));
        return (!left_out || KEPT.contains(&own)).then(|| path.to_owned());
    }
    // gems/4.0.0/gems/NAME-VERSION/lib/PATH
    let (gem, inside) = path.strip_prefix("gems/4.0.0/gems/")?.split_once('/')?;
    let (name, _) = gem.rsplit_once('-')?;
    let inside = inside.strip_prefix("lib/")?;
    GEMS.contains(&name).then(|| format!("{OWN}{inside}"))
}

fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn is_below(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn extract(ruby_with_library: &[u8]) -> Result<Vec<u8>> {
    crate::ruby::with_deep_stack(|| {
        let mut ruby = Ruby::new(ruby_with_library, system_with(vec![]))?;
        ruby.call("_initialize")?;
        ruby.start()?;
        ruby.evaluate(EXTRACT)?;
        Ok(std::mem::take(&mut ruby.system().output))
    })
}

/// Parses the paths and contents of a list from [`extract`].
fn files(mut list: &[u8]) -> Result<Vec<(&str, &[u8])>> {
    let mut files = Vec::new();
    while !list.is_empty() {
        let (lengths, rest) = list.split_at_checked(8).context("the list of Ruby's library ends early")?;
        let (path, content) = lengths.split_at(4);
        let length = |bytes: &[u8]| Ok::<_, anyhow::Error>(u32::from_le_bytes(bytes.try_into()?) as usize);
        let (path, rest) = rest.split_at_checked(length(path)?).context("the list of Ruby's library ends early")?;
        let content = rest.split_at_checked(length(content)?).context("the list of Ruby's library ends early")?;
        files.push((std::str::from_utf8(path)?, content.0));
        list = content.1;
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_recipes_can_use_is_kept_and_gems_become_part_of_the_library() {
        let check = |path: &str, expected: Option<&str>| assert_eq!(place(path).as_deref(), expected, "{path}");
        check("4.0.0/set.rb", Some("4.0.0/set.rb"));
        check("4.0.0/json/common.rb", Some("4.0.0/json/common.rb"));
        check("4.0.0/bundler/cli.rb", None);
        check("4.0.0/rubygems/version.rb", Some("4.0.0/rubygems/version.rb"));
        check("4.0.0/rubygems/installer.rb", None);
        check("gems/4.0.0/gems/csv-3.3.5/lib/csv/row.rb", Some("4.0.0/csv/row.rb"));
        check("gems/4.0.0/gems/csv-3.3.5/README.md", None);
        check("gems/4.0.0/gems/rake-13.3.1/lib/rake.rb", None);
        check("gems/4.0.0/cache/csv-3.3.5.gem", None);
    }

    #[test]
    fn a_list_that_ends_early_is_refused() {
        let list = b"\x03\0\0\0\x02\0\0\0a/bhi";
        assert_eq!(files(list).unwrap(), [("a/b", b"hi".as_slice())]);
        assert!(files(&list[..12]).is_err());
        assert!(files(&list[..5]).is_err());
    }
}
