//! Why numbers cannot be drawn.

/// Rounding in f32 may carry a share this far above 1.
pub(crate) const ROUNDING: f64 = 1e-4;

/// A result whose error is this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why attention maps or other numbers cannot be drawn.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Sizes that do not fit one another.
    #[error(transparent)]
    Sizes(#[from] attention::Error),

    /// More heads than can be told apart in one figure.
    #[error("{n_heads} heads are too many for one figure: draw at most {most} at a time")]
    TooManyHeads {
        /// The number of heads given.
        n_heads: usize,
        /// The most that a figure takes.
        most: usize,
    },

    /// An entry that is no share of attention: scores before the softmax, perhaps.
    #[error(
        "head {head} holds {entry} at query {query}, key {key}: \
         an attention map holds shares from 0 to 1"
    )]
    Entry {
        /// The head's number.
        head: usize,
        /// The query's row.
        query: usize,
        /// The key's column.
        key: usize,
        /// The entry.
        entry: f64,
    },

    /// More of something than can be read in one figure.
    #[error("{found} {what} are too many for one figure: draw at most {most}")]
    TooMany {
        /// What there is too much of.
        what: &'static str,
        /// How many were given.
        found: usize,
        /// The most that a figure takes.
        most: usize,
    },

    /// A list that does not fit the others.
    #[error("{what} has {found} entries, expected {expected}")]
    Length {
        /// Which list.
        what: String,
        /// How many entries it has.
        found: usize,
        /// How many fit.
        expected: usize,
    },

    /// A number that cannot be what it is said to be.
    #[error("{what} is {found}, expected {expected}")]
    Number {
        /// Which number.
        what: String,
        /// The number.
        found: f64,
        /// What it should be.
        expected: String,
    },

    /// An entry of a mark that is no finite number.
    #[error("entry {nth} of {what} is no finite number")]
    NotFinite {
        /// Which list.
        what: String,
        /// Which of its entries, from 0.
        nth: usize,
    },

    /// Numbers for another count of heads.
    #[error("{n_numbers} numbers were given for {n_heads} heads: give one per head")]
    Numbers {
        /// How many numbers were given.
        n_numbers: usize,
        /// How many heads there are.
        n_heads: usize,
    },

    /// A part of a diagram that it does not have.
    #[error("there is no part {found} in this diagram, only {}", known.join(", "))]
    NoSuchPart {
        /// The name asked for.
        found: String,
        /// The names of the parts that there are.
        known: Vec<&'static str>,
    },

    /// A head to show that is not among the heads.
    #[error("there is no head {number} here, only {known:?}")]
    NoSuchHead {
        /// The number asked for.
        number: usize,
        /// The numbers of the heads that there are.
        known: Vec<usize>,
    },

    /// A query whose row is to be framed, and that is not there.
    #[error("there is no query {number} among {n_queries}: they count from 0")]
    NoSuchQuery {
        /// The number asked for.
        number: usize,
        /// How many there are.
        n_queries: usize,
    },
}

impl Error {
    /// Holds `found` to what a number of its kind can be, but for rounding; NaN is in no
    /// range.
    pub(crate) fn expect_between(
        what: impl Into<String>,
        found: f64,
        [least, most]: [f64; 2],
    ) -> Result<()> {
        if found.is_finite() && (least..=most + ROUNDING).contains(&found) {
            return Ok(());
        }
        let expected = match (least, most) {
            (f64::NEG_INFINITY, f64::INFINITY) => "a number".to_owned(),
            (f64::NEG_INFINITY, _) => format!("at most {most}"),
            (_, f64::INFINITY) => format!("at least {least}"),
            _ => format!("from {least} to {most}"),
        };
        Err(Self::Number { what: what.into(), found, expected })
    }

    /// Holds `found` to what is a number at all.
    pub(crate) fn expect_finite(what: impl Into<String>, found: f64) -> Result<()> {
        Self::expect_between(what, found, [f64::NEG_INFINITY, f64::INFINITY])
    }

    /// Holds `what`, `the number of heads`, to at least 1 and at most so many.
    pub(crate) fn expect_count(
        what: &'static str,
        found: usize,
        most: usize,
    ) -> Result<()> {
        attention::Error::expect_positive(what, found)?;
        Self::expect_at_most(what.trim_start_matches("the number of "), found, most)
    }

    /// Holds `found` to what has a logarithm.
    pub(crate) fn expect_above_zero(what: impl Into<String>, found: f64) -> Result<()> {
        if found.is_finite() && found > 0.0 {
            return Ok(());
        }
        Err(Self::Number { what: what.into(), found, expected: "above 0".into() })
    }

    /// The part of a diagram that has this name.
    pub(crate) fn find_part<T: Copy>(
        name: &str,
        parts: &[(&'static str, T)],
    ) -> Result<T> {
        let part = parts.iter().find(|(known, _)| *known == name);
        part.map(|(_, part)| *part).ok_or_else(|| Self::NoSuchPart {
            found: name.to_owned(),
            known: parts.iter().map(|(name, _)| *name).collect(),
        })
    }

    pub(crate) fn expect_at_most(
        what: &'static str,
        found: usize,
        most: usize,
    ) -> Result<()> {
        if found > most { Err(Self::TooMany { what, found, most }) } else { Ok(()) }
    }

    pub(crate) fn expect_length(
        what: impl Into<String>,
        found: usize,
        expected: usize,
    ) -> Result<()> {
        if found == expected {
            return Ok(());
        }
        Err(Self::Length { what: what.into(), found, expected })
    }
}
