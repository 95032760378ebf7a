//! Ruby's standard library, as far as recipes can use it. It is taken out of the package's second module, which carries
//! all of it in its memory: Ruby itself reads it there, once, and its files are kept.

use crate::files::Node;
use crate::ruby::{Ruby, system_with};
use anyhow::{Context as _, Result, ensure};
use sha2::{Digest as _, Sha256};
use std::fs;
use std::path::Path;

/// Where Ruby looks for its library.
pub(crate) const PLACE: &str = "/usr/local/lib/ruby";

/// The digest of the library's files, as [`extract`] writes them.
const DIGEST: &str = "";

/// What is left out: what needs sockets, threads, terminals or a compiler, and what serves developers of Ruby.
const LEFT_OUT: [&str; 0] = [];

/// Writes each file as the lengths of its path and its content, four bytes each, path and content.
const EXTRACT: &str = r#"
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
"#;

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
        let below = path.strip_prefix(PLACE).unwrap_or(path).trim_start_matches('/');
        if !LEFT_OUT.iter().any(|left_out| is_below(below, left_out)) {
            tree.put(below, content.to_vec());
        }
    }
    Ok(tree)
}

fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn is_below(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || folder.ends_with('/'))
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

/// Paths and contents of a list that [`extract`] wrote.
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
