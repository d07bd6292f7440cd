//! How far a model's maps are from those of another form of the same model, on many texts.
//!
//! Weights in few bits, say: each attention weight is compared with its own, and what a head
//! prefers over all texts together with what it preferred.

use crate::{Glance, TextHeads};

/// Both forms of a model, on the texts so far.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Agreement {
    /// Of each head, the sums of its glances in the one form and in the other.
    heads: Vec<([usize; 2], [Glance; 2])>,
    /// The control: an even head on the same texts.
    chance: Option<Glance>,
    /// How far each attention weight is from its own.
    apart: Vec<f32>,
    n_texts: usize,
}

/// A head that prefers another kind of key in the other form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Relabelled {
    /// Its layer and its number, both from 0.
    pub head: [usize; 2],
    /// What it prefers in the one form and in the other, as [`Glance::preference`] has it.
    pub labels: [&'static str; 2],
}

impl Agreement {
    /// One more text: its maps in both forms, which have the same heads. A text without a token
    /// of its own adds nothing.
    pub fn add(&mut self, one: &TextHeads, other: &TextHeads) {
        let Some(chance) = one.uniform() else { return };
        self.n_texts += 1;
        self.chance = Some(self.chance.map_or(chance, |sum| sum.plus(&chance)));
        for (nth, ((head, a), (_, b))) in one.heads().zip(other.heads()).enumerate() {
            self.apart.extend(a.iter().zip(b).map(|(a, b)| (a - b).abs()));
            let (Some(a), Some(b)) = (one.glance(a), other.glance(b)) else { continue };
            match self.heads.get_mut(nth) {
                Some((_, sums)) => *sums = [sums[0].plus(&a), sums[1].plus(&b)],
                None => self.heads.push((head, [a, b])),
            }
        }
    }

    /// How many texts there were.
    pub fn n_texts(&self) -> usize {
        self.n_texts
    }

    /// How many heads there are.
    pub fn n_heads(&self) -> usize {
        self.heads.len()
    }

    /// The largest difference of an attention weight; NaN if one is none.
    pub fn largest(&self) -> f32 {
        self.sorted().last().copied().unwrap_or_default()
    }

    /// The difference that half of all attention weights stay below.
    pub fn median(&self) -> f32 {
        let sorted = self.sorted();
        sorted.get(sorted.len() / 2).copied().unwrap_or_default()
    }

    fn sorted(&self) -> Vec<f32> {
        let mut sorted = self.apart.clone();
        sorted.sort_by(f32::total_cmp);
        sorted
    }

    /// The heads that prefer another kind of key over all texts together.
    pub fn relabelled(&self) -> Vec<Relabelled> {
        let Some(chance) = self.chance else { return vec![] };
        let mean = |sum: &Glance| sum.scaled(1.0 / self.n_texts as f64);
        let chance = mean(&chance);
        let label = |sum: Glance| mean(&sum).preference(&chance);
        let all = self.heads.iter();
        let all = all.map(|&(head, sums)| Relabelled { head, labels: sums.map(label) });
        all.filter(|it| it.labels[0] != it.labels[1]).collect()
    }
}

#[cfg(test)]
mod tests {
    use attention::Matrix;

    use super::*;

    /// Two heads on five tokens, between two special ones: an even head, and one that gives
    /// this part to the token before and the rest evenly.
    fn text(part: f32) -> TextHeads {
        let special = [true, false, false, false, true].to_vec();
        let even = Matrix::from_element(5, 5, 0.2);
        let back = |i, j| part * f32::from(u8::from(j + 1 == i)) + (1.0 - part) * 0.2;
        let maps = vec![vec![even, Matrix::from_fn(5, 5, back)]];
        TextHeads::of_encoder(vec!["a".into(); 5], special, maps)
    }

    #[test]
    fn a_label_changes_where_a_preference_goes_and_not_with_a_nudge() {
        let mut found = Agreement::default();
        found.add(&text(0.5), &text(0.5));
        assert_eq!((found.largest(), found.median(), found.n_heads()), (0.0, 0.0, 2));
        found.add(&text(0.5), &text(0.45));
        assert!((found.largest() - 0.04).abs() < 1e-6 && found.relabelled().is_empty());
        // Over all texts together: one alone does not move it.
        found.add(&text(0.5), &text(0.0));
        assert!(found.relabelled().is_empty());
        let mut found = Agreement::default();
        found.add(&text(0.5), &text(0.0));
        let labels = ["previous", "spread"];
        assert_eq!(found.relabelled(), [Relabelled { head: [0, 1], labels }]);
        let [largest, median] = [found.largest(), found.median()];
        assert!((largest - 0.4).abs() < 1e-6 && (median - 0.1).abs() < 1e-6);
    }
}
