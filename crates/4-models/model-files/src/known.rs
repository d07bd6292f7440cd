//! Known or refused: what a reader does with each name that a file has.
//!
//! A tensor that nobody asked for can change what the right result is: a mask, positions, a
//! table of rotations. So a reader says of every name that it is used, or that it is harmless
//! and why; any other is refused, and what is refused is named with what it would have meant.

/// Patterns, and what is done with a name that fits one of them.
macro_rules! rules {
    ($($patterns:literal => $use:expr,)*) => {
        &[$($crate::Rule($patterns, $use)),*]
    };
}

mod facts;
mod keys;
mod metadata;
mod model;
mod names;
pub mod rules;

use tensors::TensorFile;

use crate::{Error, Result};

pub use facts::Fact;
use keys::COMMON_KEYS;
pub use metadata::{Claim, expect_metadata};
pub use model::expect_settings;
pub use names::{expect_layers, harmless, refuse_packed, refuse_unread};

/// What a reader does with a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// It is read.
    Used,
    /// It changes no result; why not.
    Harmless(&'static str),
    /// It would change the result; what it means, and what to do.
    Refused(&'static str),
}

/// What is done with the names that fit one of some patterns, with spaces between them: names,
/// in which `#` stands for a number and `*` for anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rule(pub &'static str, pub Use);

/// What a file has and a reader does not use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unused {
    /// The tensor's name.
    pub name: String,
    /// Why that changes nothing.
    pub why: &'static str,
}

impl Rule {
    fn fits(&self, name: &str) -> bool {
        let mut patterns = self.0.split(' ');
        patterns.any(|pattern| matches(pattern.as_bytes(), name.as_bytes()))
    }
}

fn matches(pattern: &[u8], name: &[u8]) -> bool {
    match pattern.split_first() {
        None => name.is_empty(),
        Some((b'*', rest)) => (0..=name.len()).any(|n| matches(rest, &name[n..])),
        Some((b'#', rest)) => {
            let digits = name.iter().take_while(|c| c.is_ascii_digit()).count();
            digits > 0 && matches(rest, &name[digits..])
        }
        Some((c, rest)) => name.first() == Some(c) && matches(rest, &name[1..]),
    }
}

/// What the first rule that fits a name says of it.
pub fn first_rule(rules: &[Rule], name: &str) -> Option<Use> {
    rules.iter().find(|rule| rule.fits(name)).map(|rule| rule.1)
}

/// Asks of every tensor's name what a reader does with it; gives what is harmless and not
/// used. `reader` is whose list it is, as in `a model's INPUT`.
///
/// # Errors
/// [`Error::Unsupported`] for a name that is refused, [`Error::Unknown`] for one of which
/// nothing is known.
pub fn expect_known(
    file: &TensorFile,
    reader: &'static str,
    of: impl Fn(&str) -> Option<Use>,
) -> Result<Vec<Unused>> {
    let mut unused = Vec::new();
    for name in file.names() {
        let file = || file.name().to_string();
        match of(&name) {
            Some(Use::Used) => {}
            Some(Use::Harmless(why)) => unused.push(Unused { name, why }),
            Some(Use::Refused(why)) => {
                return Err(Error::Unsupported { file: file(), found: name, why });
            }
            None => {
                return Err(Error::Unknown { file: file(), tensor: name, reader });
            }
        }
    }
    Ok(unused)
}

/// Whether a text of metadata says that something is not so.
fn says_no(text: &str) -> bool {
    let text = text.trim().to_ascii_lowercase();
    matches!(text.as_str(), "" | "false" | "no" | "none" | "null" | "off")
        || text.parse() == Ok(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_rule_that_fits_decides() {
        let rules = [
            Rule("mask", Use::Used),
            Rule("grad.*", Use::Harmless("a gradient")),
            Rule("*_mask masked", Use::Refused("another mask")),
            Rule("*rotary*", Use::Refused("rotations")),
            Rule("h.#.bias", Use::Harmless("a mask")),
        ];
        let of = |name| first_rule(&rules, name);
        assert_eq!(of("mask"), Some(Use::Used));
        assert_eq!(of("grad.a_mask"), Some(Use::Harmless("a gradient")));
        assert_eq!(of("a_mask"), Some(Use::Refused("another mask")));
        assert_eq!(of("masked"), of("a_mask"));
        assert_eq!(of("a.rotary.b"), Some(Use::Refused("rotations")));
        assert_eq!(of("h.11.bias"), Some(Use::Harmless("a mask")));
        assert_eq!(
            (of("masks"), of("a.grad."), of("h.x.bias"), of("")),
            (None, None, None, None)
        );
    }

    #[test]
    fn metadata_can_say_no() {
        assert!(["False", "0", "0.0", "none", " "].iter().all(|text| says_no(text)));
        assert!(["True", "1", "4", "yes"].iter().all(|text| !says_no(text)));
    }
}
