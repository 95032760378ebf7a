//! Near names: the name that somebody may have meant.

/// Names longer than this are compared by their beginning only: the cost grows with the square.
const MAXIMUM_COMPARED_CHARACTERS: usize = 64;

/// Returns the candidate nearest to a name, or `None` if more than a third of its characters differ. Of equally near ones
/// it is the first in alphabetical order.
pub(crate) fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let most = (name.chars().count() / 3).clamp(1, 4);
    let near = candidates.into_iter().map(|candidate| (distance(name, candidate), candidate));
    near.filter(|(distance, _)| *distance <= most).min().map(|(_, candidate)| candidate)
}

/// Returns the sentence that offers the nearest name, or `None` if no candidate is near.
pub(crate) fn did_you_mean<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    nearest(name, candidates).map(|near| format!("did you mean `{near}`?"))
}

/// How many characters must be inserted, removed, replaced or swapped with their neighbour.
fn distance(left: &str, right: &str) -> usize {
    let left: Vec<char> = left.chars().take(MAXIMUM_COMPARED_CHARACTERS).collect();
    let right: Vec<char> = right.chars().take(MAXIMUM_COMPARED_CHARACTERS).collect();
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=right.len()).collect();
    for (row, letter) in left.iter().enumerate() {
        let mut line = vec![row + 1];
        for (column, other) in right.iter().enumerate() {
            let replaced = above[column] + usize::from(letter != other);
            let mut best = replaced.min(above[column + 1] + 1).min(line[column] + 1);
            if row > 0 && column > 0 && left[row - 1] == *other && right[column - 1] == *letter {
                best = best.min(before[column - 1] + 1);
            }
            line.push(best);
        }
        before = std::mem::replace(&mut above, line);
    }
    above.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn slips_are_recognised() {
        let check = |name: &str, expected: Option<&str>| {
            assert_eq!(nearest(name, ["mode", "owner", "site_vhost"]), expected, "{name}");
        };
        check("mdoe", Some("mode"));
        check("mod", Some("mode"));
        check("site_vhots", Some("site_vhost"));
        check("nothing_like_it", None);
    }
}
