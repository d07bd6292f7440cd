//! How much of each head's attention falls on which part of a date.

use attention::{Error, Matrix, Result, Rng};
use rand::seq::SliceRandom;

use super::criteria::TIMES_EVEN;
use super::{DateTexts, N_TARGET, Part};

/// Which parts are right for each letter of "YYYY-MM-DD"; one of them is enough.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Truth(pub [Vec<Part>; N_TARGET]);

impl Truth {
    /// What each letter is made from, as [`criteria`](super::criteria) says.
    pub fn planted() -> Self {
        use Part::{Day, Month, Year};
        Self(std::array::from_fn(|letter| match letter {
            0..4 => vec![Year],
            4 => vec![Year, Month], // a dash
            5..7 => vec![Month],
            7 => vec![Month, Day], // a dash
            _ => vec![Day],
        }))
    }

    /// Shuffled so that no letter keeps a part of its own, as a control: the year's letters
    /// are given months and days at random, all others that they can be given.
    pub fn shuffled(rng: &mut Rng) -> Self {
        use Part::{Day, Month, Year};
        let mut of_year = [Month, Month, Day, Day];
        of_year.shuffle(rng);
        Self(std::array::from_fn(|letter| match letter {
            0..4 => vec![of_year[letter]],
            4 => vec![Day],
            _ => vec![Year],
        }))
    }
}

/// The mean shares of attention on year, month and day.
#[derive(Debug, Clone, PartialEq)]
pub struct PartShares {
    /// `of_head[i]` is `[N_TARGET, 3]`: head i's share at each letter of each part.
    pub of_head: Vec<Matrix>,
    /// What even attention gives at each letter to each part, `[N_TARGET, 3]`.
    pub even: Matrix,
}

impl PartShares {
    /// The shares of maps on dates.
    ///
    /// `judged_by[s]` is the date by whose parts the map of date s is judged: itself, or, as a
    /// control, another one.
    ///
    /// # Shapes
    /// `attn[s][i]` is head i's map on date s, `[N_TARGET, n_source]`.
    pub(crate) fn of(
        attn: &[Vec<Matrix<f32>>],
        texts: &DateTexts,
        judged_by: &[usize],
    ) -> Result<Self> {
        // From every letter all of the text is seen, and nothing else.
        Self::beside(attn, texts, judged_by, |_| 0)
    }

    /// The same where `n_others(letter)` are seen from a letter beside the text that is read;
    /// the maps have as many columns more.
    pub(super) fn beside(
        attn: &[Vec<Matrix<f32>>],
        texts: &DateTexts,
        judged_by: &[usize],
        n_others: impl Fn(usize) -> usize,
    ) -> Result<Self> {
        let n = texts.n_dates();
        Error::expect_positive("the number of dates", n)?;
        Error::expect_length("the list of maps", n, attn.len())?;
        Error::expect_length("the list of judging dates", n, judged_by.len())?;
        let mut of_head = vec![Matrix::zeros(N_TARGET, 3); attn[0].len()];
        let mut even = Matrix::zeros(N_TARGET, 3);
        for (s, maps) in attn.iter().enumerate() {
            let length = texts.written[s].text.len();
            let parts = &texts.written[judged_by[s]].parts;
            for (p, part) in parts.iter().enumerate() {
                // A longer date has letters where this one has none.
                let part = part.start.min(length)..part.end.min(length);
                for letter in 0..N_TARGET {
                    let n_seen = length + n_others(letter);
                    even[(letter, p)] += part.len() as f64 / n_seen as f64 / n as f64;
                }
                for (shares, map) in of_head.iter_mut().zip(maps) {
                    for letter in 0..N_TARGET {
                        let share: f32 = part.clone().map(|key| map[(letter, key)]).sum();
                        shares[(letter, p)] += f64::from(share) / n as f64;
                    }
                }
            }
        }
        Ok(Self { of_head, even })
    }

    /// Whether a head gives the right part of a letter more than [`TIMES_EVEN`] times its even
    /// share.
    ///
    /// # Panics
    /// If there is no such head or letter.
    pub fn is_aligned(&self, head: usize, letter: usize, truth: &Truth) -> bool {
        truth.0[letter].iter().any(|&part| {
            let at = (letter, part as usize);
            self.of_head[head][at] > TIMES_EVEN * self.even[at]
        })
    }

    /// How many letters of each head are aligned.
    pub fn aligned(&self, truth: &Truth) -> Vec<usize> {
        let of_head = |head: usize| {
            (0..N_TARGET).filter(|&letter| self.is_aligned(head, letter, truth)).count()
        };
        (0..self.of_head.len()).map(of_head).collect()
    }
}
