//! Heads by name.

use std::fmt;
use std::str::FromStr;

use ablation::HeadOfLayer;

use crate::{Error, Result};

/// Which of the three kinds of attention a head of an encoder-decoder belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// The source, every token reading every other.
    Source,
    /// What is written, each token reading those before it.
    Written,
    /// From what is written to the source.
    Cross,
}

impl Part {
    /// All, in the order in which a model computes them.
    pub const ALL: [Self; 3] = [Self::Source, Self::Written, Self::Cross];

    /// As it stands before the numbers of a head.
    pub fn name(self) -> &'static str {
        match self {
            Self::Source => "source",
            Self::Written => "written",
            Self::Cross => "cross",
        }
    }

    /// The one of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.name() == name)
    }
}

/// A head by its layer and its number there, both from 0: `5.7` is its name, and `cross 5.7`
/// in an encoder-decoder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Head {
    /// Whose it is in an encoder-decoder; `None` in a model with one stack of layers.
    pub part: Option<Part>,
    /// Of the encoder's layers for [`Part::Source`], and of the decoder's for the others.
    pub layer: usize,
    /// Which one there.
    pub head: usize,
}

impl Head {
    /// Its layer and its number in that layer.
    pub fn place(self) -> HeadOfLayer {
        (self.layer, self.head)
    }
}

impl From<HeadOfLayer> for Head {
    fn from((layer, head): HeadOfLayer) -> Self {
        Self { part: None, layer, head }
    }
}

impl fmt::Display for Head {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(part) = self.part {
            write!(f, "{} ", part.name())?;
        }
        write!(f, "{}.{}", self.layer, self.head)
    }
}

impl FromStr for Head {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let parts = || {
            let (part, numbers) = match name.trim().split_once(' ') {
                None => (None, name),
                Some((part, numbers)) => (Some(Part::named(part)?), numbers),
            };
            let (layer, head) = numbers.trim().split_once('.')?;
            Some(Self { part, layer: layer.parse().ok()?, head: head.parse().ok()? })
        };
        parts().ok_or_else(|| Error::HeadName { name: name.to_owned() })
    }
}

/// The lowest layer of some heads, which must all be there; of none, how many layers there are.
pub(crate) fn lowest_layer(
    heads: &[HeadOfLayer],
    [n_layers, n_heads]: [usize; 2],
) -> attention::Result<usize> {
    for &(layer, head) in heads {
        attention::Error::expect_index("layer", layer, n_layers)?;
        attention::Error::expect_index("head", head, n_heads)?;
    }
    Ok(heads.iter().map(|(layer, _)| *layer).min().unwrap_or(n_layers))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_of_a_head_is_read_again() {
        let head = Head { part: Some(Part::Cross), layer: 1, head: 3 };
        assert_eq!(head.to_string(), "cross 1.3");
        assert_eq!(Head::from((1, 3)).to_string(), "1.3");
        for part in [None].into_iter().chain(Part::ALL.map(Some)) {
            let head = Head { part, ..head };
            assert_eq!(head.to_string().parse::<Head>().unwrap(), head);
        }
        for name in ["cross 1", "cross", "other 1.3", "cross -1.3", "-1.3", "1", ""] {
            assert!(name.parse::<Head>().is_err(), "{name}");
        }
        let refused = "5,7".parse::<Head>().unwrap_err();
        insta::assert_snapshot!(refused, @r#""5,7" is no head: a head is its layer and its number, both from 0, as in 5.7"#);
    }
}
