//! The chances of the next letter at a temperature, and which letters top-p leaves.

use models::{Result, Sampling};

use crate::a_gpt_from_nothing::next::order;

/// The chances of all letters, of which some may be drawn.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct NextLetter {
    /// softmax(logits / temperature), `[n_letters]`.
    pub(super) chances: Vec<f64>,
    /// Whether a letter may be drawn.
    pub(super) is_kept: Vec<bool>,
}

impl NextLetter {
    /// Keeps the likeliest letters that come to `top_p` together, and at least one.
    ///
    /// # Errors
    /// As [`Sampling::temperature`] and [`Sampling::top_p`].
    pub(super) fn of(logits: &[f64], temperature: f64, top_p: f64) -> Result<Self> {
        let all = Sampling::default().temperature(temperature)?;
        let kept = all.top_p(top_p)?.chances(logits);
        let is_kept = kept.into_iter().map(|chance| chance > 0.0).collect();
        Ok(Self { chances: all.chances(logits), is_kept })
    }

    /// The likeliest letter.
    pub(super) fn likeliest(&self) -> usize {
        order(&self.chances)[0]
    }

    /// The letter at this part, from 0 to 1, of the chances that are kept.
    pub(super) fn drawn(&self, part: f64) -> usize {
        let kept = || (0..self.chances.len()).filter(|&id| self.is_kept[id]);
        let mut left = part * kept().map(|id| self.chances[id]).sum::<f64>();
        let crossed = kept().find(|&id| {
            left -= self.chances[id];
            left < 0.0
        });
        // Rounding can leave a rest.
        crossed.unwrap_or_else(|| self.likeliest())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of chances of 1/8, 1/2, 1/4 and 1/8.
    fn next(temperature: f64, top_p: f64) -> NextLetter {
        let logits = [0.0, 2.0, 1.0, 0.0].map(|power| power * 2f64.ln());
        NextLetter::of(&logits, temperature, top_p).unwrap()
    }

    #[test]
    fn a_temperature_takes_powers_of_the_chances() {
        let sum = 22.0; // of the squares of 1, 4, 2 and 1
        let squares = [1.0 / sum, 16.0 / sum, 4.0 / sum, 1.0 / sum];
        for (temperature, expected) in [(1.0, [0.125, 0.5, 0.25, 0.125]), (0.5, squares)]
        {
            for (chance, expected) in next(temperature, 1.0).chances.iter().zip(expected)
            {
                assert!((chance - expected).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn the_likeliest_are_kept_until_they_come_to_top_p() {
        let kept = |top_p| next(1.0, top_p).is_kept.iter().filter(|&&it| it).count();
        assert_eq!([0.01, 0.49, 0.51, 0.74, 0.76, 1.0].map(kept), [1, 1, 2, 2, 3, 4]);
        assert_eq!(next(1.0, 0.49).is_kept, [false, true, false, false]);
        assert_eq!(next(1.0, 0.51).is_kept, [false, true, true, false]);
        assert_eq!(next(1.0, 0.76).is_kept, [true, true, true, false]);
    }

    #[test]
    fn only_what_is_kept_is_drawn_as_often_as_its_chance() {
        let next = next(1.0, 0.7);
        let drawn: Vec<usize> =
            (0..900).map(|nth| next.drawn((f64::from(nth) + 0.5) / 900.0)).collect();
        let count = |id| drawn.iter().filter(|&&it| it == id).count();
        assert_eq!([0, 1, 2, 3].map(count), [0, 600, 300, 0]);
        assert_eq!(next.drawn(1.0), 1);
    }
}
