//! How far each head is from itself on another text, or in another model.
//!
//! Of two texts with as many tokens a head's rows are compared one by one; of others what it
//! gives each kind of key. Both distances are total variation: half the summed differences of
//! two rows of shares, 0 where they are the same and 1 where they have no key in common.
//!
//! Two controls are measured in the same way. One is the distance of a head from itself on
//! texts that were drawn by chance: a head that is not farther from itself on the second text
//! than on those tells nothing of it. The other is the distance of the other heads of its layer
//! from it, on the first text, a high bar.

use attention::Matrix;

use crate::{Glance, TextHeads};

/// What of two maps is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Basis {
    /// Row by row, on average over the tokens of the text as queries.
    Rows,
    /// The share of each kind of key.
    Kinds,
}

/// How far a head is from itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// Its layer and its number, both from 0.
    pub head: [usize; 2],
    /// The total variation between the first and the second text.
    pub distance: f64,
    /// The control: the same between the first text and each that was drawn.
    pub drawn: Vec<f64>,
    /// Between this head and the others of its layer, on average; `None` for a head alone.
    pub others: Option<f64>,
}

impl Difference {
    /// Whether the head is farther from itself than on every text that was drawn. By chance
    /// one in n + 1 is, of n draws.
    pub fn stands_out(&self) -> bool {
        !self.drawn.is_empty() && self.drawn.iter().all(|&drawn| self.distance > drawn)
    }
}

/// All heads by how far they are from themselves, the farthest first, and what was compared;
/// `None` if the two have not the same heads, or a text has no token of its own. Texts that
/// were `drawn` have as many tokens as the second.
pub fn differences(
    first: &TextHeads,
    second: &TextHeads,
    drawn: &[TextHeads],
) -> Option<(Basis, Vec<Difference>)> {
    let n_heads = |text: &TextHeads| text.maps.iter().map(Vec::len).collect::<Vec<_>>();
    if n_heads(first) != n_heads(second) {
        return None;
    }
    let n_tokens = |text: &TextHeads| [text.asking().0.len(), text.pieces.len()];
    let is_aligned = n_tokens(first) == n_tokens(second);
    let basis = if is_aligned { Basis::Rows } else { Basis::Kinds };
    let distance = |a: &Matrix<f32>, text: &TextHeads, b: &Matrix<f32>| match basis {
        Basis::Rows => rows(first, text, a, b),
        Basis::Kinds => Some(kinds(&first.glance(a)?, &text.glance(b)?)),
    };
    let mut all = Vec::new();
    for ([layer, head], map) in first.heads() {
        let heads = first.maps[layer].iter().enumerate();
        let others = heads.filter(|(other, _)| *other != head);
        let others: Vec<f64> = others
            .map(|(_, other)| distance(map, first, other))
            .collect::<Option<_>>()?;
        let on = |text: &TextHeads| distance(map, text, text.maps.get(layer)?.get(head)?);
        let mean = others.iter().sum::<f64>() / others.len() as f64;
        all.push(Difference {
            head: [layer, head],
            distance: on(second)?,
            drawn: drawn.iter().map(on).collect::<Option<_>>()?,
            others: (!others.is_empty()).then_some(mean),
        });
    }
    all.sort_by(|a, b| b.distance.total_cmp(&a.distance));
    Some((basis, all))
}

/// On average over the queries that are of the text on both sides.
fn rows(
    first: &TextHeads,
    second: &TextHeads,
    a: &Matrix<f32>,
    b: &Matrix<f32>,
) -> Option<f64> {
    let ((_, special), (_, also)) = (first.asking(), second.asking());
    let words: Vec<usize> =
        (0..a.nrows()).filter(|&query| !special[query] && !also[query]).collect();
    let of_row = |&query: &usize| {
        let pair = |key| [a, b].map(|map| f64::from(map[(query, key)]));
        variation((0..a.ncols()).map(pair))
    };
    let sum: f64 = words.iter().map(of_row).sum();
    (!words.is_empty()).then(|| sum / words.len() as f64)
}

fn kinds(a: &Glance, b: &Glance) -> f64 {
    variation(a.shares.iter().zip(b.shares).map(|(a, b)| [*a, b]))
}

fn variation(pairs: impl Iterator<Item = [f64; 2]>) -> f64 {
    pairs.map(|[a, b]| (a - b).abs()).sum::<f64>() / 2.0
}

#[cfg(test)]
mod tests {
    use attention::{Rng, SeedableRng, random_matrix, softmax_rows};

    use super::*;

    /// Heads of noise, each sharp in its own way, on `n` tokens between two special ones.
    fn text(n: usize, seed: u64) -> TextHeads {
        let rng = &mut Rng::seed_from_u64(seed);
        let mut map = || {
            let map: Matrix = softmax_rows(random_matrix(n, n, 3.0, rng));
            map.map(|share| share as f32)
        };
        let maps = (0..3).map(|_| (0..4).map(|_| map()).collect()).collect();
        let is_special = (0..n).map(|i| i == 0 || i + 1 == n).collect();
        TextHeads::of_encoder(vec!["a".into(); n], is_special, maps)
    }

    /// A little of an even row in every row.
    fn nudged(text: &TextHeads, part: f32) -> TextHeads {
        let mut text = text.clone();
        for map in text.maps.iter_mut().flatten() {
            let even = 1.0 / map.ncols() as f32;
            map.apply(|share| *share = (1.0 - part) * *share + part * even);
        }
        text
    }

    #[test]
    fn the_same_text_is_at_no_distance() {
        let a = text(12, 1);
        let (basis, all) = differences(&a, &a, &[]).unwrap();
        assert_eq!((basis, all.len()), (Basis::Rows, 12));
        assert!(all.iter().all(|it| it.distance == 0.0 && it.others.unwrap() > 0.5));
    }

    /// A nudge of all heads stays far below the control in each; one head that is another's
    /// in the second text is first, and at its control; texts of unrelated noise are there in
    /// every head.
    #[test]
    fn a_planted_head_is_found_and_a_nudge_is_not() {
        let a = text(12, 1);
        let mut b = nudged(&a, 0.05);
        let (_, all) = differences(&a, &b, &[]).unwrap();
        assert!(all.iter().all(|it| it.distance < 0.1 * it.others.unwrap()), "{all:?}");
        b.maps[1][2] = b.maps[1][0].clone();
        let (_, all) = differences(&a, &b, &[]).unwrap();
        assert_eq!(all[0].head, [1, 2]);
        let ratio = |it: &Difference| it.distance / it.others.unwrap();
        assert!(ratio(&all[0]) > 0.8 && ratio(&all[1]) < 0.1, "{all:?}");
        let (_, all) = differences(&a, &text(12, 2), &[]).unwrap();
        assert!(all.iter().all(|it| ratio(it) > 0.8), "{all:?}");
    }

    /// Of texts of other lengths a head that turns to the first token is found by that.
    #[test]
    fn texts_of_other_lengths_are_compared_by_kinds_of_keys() {
        let (a, mut b) = (text(12, 1), text(15, 3));
        b.maps[2][3] = Matrix::from_fn(15, 15, |_, key| f32::from(u8::from(key == 0)));
        let (basis, all) = differences(&a, &b, &[]).unwrap();
        assert_eq!((basis, all[0].head), (Basis::Kinds, [2, 3]));
        assert!(all[0].distance > 2.0 * all[1].distance, "{all:?}");
        let ratio = |it: &Difference| it.distance / it.others.unwrap();
        assert!(ratio(&all[0]) > 3.0 && all[1..].iter().all(|it| ratio(it) < 1.5));
        b.maps.pop();
        assert_eq!(differences(&a, &b, &[]), None);
    }

    #[test]
    fn the_distance_is_that_of_the_definition() {
        let maps = |rows: [f32; 4]| {
            let map = Matrix::from_row_slice(2, 2, &rows);
            TextHeads::of_encoder(vec!["a".into(); 2], vec![false; 2], vec![vec![map]])
        };
        let [a, b] = [[1.0, 0.0, 0.5, 0.5], [0.25, 0.75, 0.0, 1.0]].map(maps);
        let (_, all) = differences(&a, &b, &[]).unwrap();
        assert_eq!((all[0].distance, all[0].others), (0.625, None));
    }

    /// Nine draws nudge all heads by as much as the second text does, and it moves one head
    /// more: that one stands out, and of the others about one in ten.
    #[test]
    fn a_head_that_moved_stands_out_beside_draws() {
        let a = text(12, 1);
        let nudge = |seed: u64| {
            let (mut nudged, noise) = (a.clone(), text(12, seed));
            let pairs = nudged.maps.iter_mut().flatten().zip(noise.maps.iter().flatten());
            for (map, noise) in pairs {
                *map = &*map * 0.9 + noise * 0.1;
            }
            nudged
        };
        let drawn: Vec<_> = (10..19).map(nudge).collect();
        let mut b = nudge(2);
        let stand_out = |b: &TextHeads| {
            let (_, all) = differences(&a, b, &drawn).unwrap();
            let out = all.iter().filter(|it| it.stands_out());
            out.map(|it| it.head).collect::<Vec<_>>()
        };
        assert!(stand_out(&b).len() <= 4, "{:?}", stand_out(&b));
        assert!(!stand_out(&b).contains(&[1, 2]));
        b.maps[1][2] = b.maps[1][0].clone();
        assert!(stand_out(&b).contains(&[1, 2]));
        // A text that is none of this kind is farther in every head.
        assert_eq!(stand_out(&text(12, 3)).len(), 12);
    }
}
