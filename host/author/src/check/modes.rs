//! Finds permission bits that were meant in octal but written as a decimal number: `mode 644` means the bits 1204.

use super::facts::Property;
use super::verdict::Verdict;
use serde_json::Value;

/// Returns the finding about a `mode` whose number was most likely meant in octal.
pub(super) fn decimal(property: &Property) -> Option<Verdict> {
    let numbers = property.values.iter().flatten().filter_map(Value::as_u64);
    let written = numbers.filter(|_| property.name == "mode").find(|number| is_slip(*number))?;
    let message = format!("`mode {written}` is a decimal number: the permission bits are {written:04o}");
    Some(Verdict::note("property", message).hint(Some(format!("write `mode '{written:04}'`"))))
}

/// Tells whether a number's decimal digits are usual permission bits when read in octal, while its own bits are unusual.
fn is_slip(number: u64) -> bool {
    let digits = number.to_string();
    matches!(digits.len(), 3 | 4) && u64::from_str_radix(&digits, 8).is_ok_and(is_usual) && !is_usual(number)
}

/// Tells whether permission bits are usual: the owner has all rights of the group, the group all rights of others, and each
/// has a usual combination.
fn is_usual(bits: u64) -> bool {
    let sets = [bits >> 6 & 7, bits >> 3 & 7, bits & 7];
    let shrinks = sets.windows(2).all(|pair| matches!(pair, [more, less] if more & less == *less));
    bits <= 0o7777 && shrinks && sets.iter().all(|set| matches!(set, 0 | 1 | 4 | 5 | 6 | 7))
}

#[cfg(test)]
mod tests {
    use super::is_slip;

    #[test]
    fn only_decimal_slips_are_found() {
        for written in [644, 755, 600, 700, 777, 640, 750, 1777, 2755, 440] {
            assert!(is_slip(written), "{written}");
        }
        for meant in [0o644, 0o755, 0o600, 0o700, 0o777, 0o640, 0o750, 0o1777, 0o2755, 0o440, 0o711, 0o4755, 0, 7, 64] {
            assert!(!is_slip(meant), "{meant:o}");
        }
    }
}
