//! Finds the paths that a word of a command names.

/// The characters that end a path within a word: those that shells and options put around paths. A path that contains one is
/// found up to there.
const ENDS: [char; 19] =
    [' ', '\t', '\n', '\r', '"', '\'', '`', ';', '|', '&', '<', '>', '(', ')', '{', '}', '=', ',', ':'];

/// Returns the absolute paths within a word: `/a` of `/a`, `-I/a`, `NAME=/a`, `/a:/b` and `sh /a; /b`. A word that begins with `/`
/// is also returned whole, whichever characters it has.
pub fn absolute_paths(word: &str) -> impl Iterator<Item = &str> {
    let whole = word.starts_with('/').then_some(word);
    let path = |part: &'_ str| (part.starts_with('/') || part.starts_with('-')).then(|| part.find('/')).flatten();
    let parts = word.split(ENDS).filter_map(move |part| part.get(path(part)?..));
    whole.into_iter().chain(parts.filter(move |part| *part != word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_found_wherever_a_word_has_them() {
        let check = |word: &str, paths: &[&str]| assert_eq!(absolute_paths(word).collect::<Vec<_>>(), paths, "{word}");
        check("/a/b", &["/a/b"]);
        check("/a b", &["/a b", "/a"]);
        check("-I/srv/lib", &["/srv/lib"]);
        check("PERL5LIB=/a:/b", &["/a", "/b"]);
        check("cd /srv && ./x; perl '/srv/x.pl' >/dev/null", &["/srv", "/srv/x.pl", "/dev/null"]);
        check("--file=/etc/x", &["/etc/x"]);
        check("plain", &[]);
    }
}
