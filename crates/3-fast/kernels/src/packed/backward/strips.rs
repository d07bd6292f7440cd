//! How gradients of queries, keys and values lie in memory.

use std::ops::Range;

use pulp::Simd;
use tiles::blocks::Part;
use tiles::memory::Aligned;
use tiles::panels::groups_of;
use tiles::queue::{Block, InBlocks};
use tiles::tile::{ROWS, WIDTH, square, turn_8};

use super::groups::BLOCK;

/// The gradients of all heads, `[head][strip][token][8]`: strips of 8 features of all
/// tokens of the batch, zeros behind a head's last feature.
///
/// A product over tokens reads a strip from its first number to its last. As a matrix whose
/// columns are strips, a block of it is what one head and sequence have.
#[derive(Clone, Copy)]
pub(crate) struct Strips<'a> {
    pub(crate) data: &'a [f32],
    pub(crate) n_tokens: usize,
    pub(crate) n_heads: usize,
    /// Of each head.
    pub(crate) n_features: usize,
}

impl<'a> Strips<'a> {
    /// Features `feature..feature + 8` of a head, `[token][8]`.
    pub(crate) fn strip(&self, head: usize, feature: usize) -> &'a [f32] {
        let n_strips = self.n_features.div_ceil(WIDTH);
        let len = self.n_tokens * WIDTH;
        &self.data[(head * n_strips + feature / WIDTH) * len..][..len]
    }

    /// The sums over all tokens of one head, feature by feature: the gradient of the bias,
    /// which was added to every token.
    #[inline(always)]
    pub(crate) fn sums(&self, head: usize, to: &mut [f32]) {
        for (strip, to) in to.chunks_mut(WIDTH).enumerate() {
            let mut sums = [0f64; WIDTH];
            for row in self.strip(head, strip * WIDTH).as_chunks::<WIDTH>().0 {
                for i in 0..WIDTH {
                    sums[i] += f64::from(row[i]);
                }
            }
            to.iter_mut().zip(sums).for_each(|(to, sum)| *to = sum as f32);
        }
    }
}

/// Room for strips, `[n_tokens · 8, strips of all heads]`, in blocks of one head and sequence.
pub(crate) fn in_blocks(
    memory: &mut Aligned,
    n_features: usize,
    n_heads: usize,
    (n_sequences, n_tokens): (usize, usize),
) -> InBlocks<'_> {
    let n_strips = n_features.div_ceil(WIDTH);
    let rows = n_tokens * WIDTH;
    let shape = (n_sequences * rows, n_heads * n_strips);
    (memory.take(shape.0 * shape.1), shape, (rows, n_strips))
}

/// `[features / 48][query][48]` of a group to the strips of its sequence.
#[inline(always)]
pub(super) fn queries_to_strips(
    part: &Part,
    dq: &[f32],
    d_k: usize,
    strips: &mut Block<'_>,
) {
    let factor = 1.0 / (d_k as f32).sqrt();
    for (nth, strip) in strips.columns().enumerate() {
        let (at, column) = (nth * WIDTH / ROWS * BLOCK, nth * WIDTH % ROWS);
        let to = &mut strips.column(strip)[part.tokens.start * WIDTH..];
        for (lane, to) in part.lanes.clone().zip(to.as_chunks_mut::<WIDTH>().0) {
            let from = &dq[at + lane * ROWS + column..][..WIDTH];
            for i in 0..WIDTH {
                to[i] = from[i] * factor;
            }
        }
    }
}

/// `[panel][feature][48]` of sequence `s` to its strips, times a factor.
#[inline(always)]
pub(super) fn panels_to_strips<S: Simd>(
    simd: S,
    s: usize,
    panels: &[f32],
    factor: f32,
    strips: &mut Block<'_>,
) {
    let len = strips.columns().len() * WIDTH * ROWS;
    let n_tokens = strips.rows().len() / WIDTH;
    for (group, panel) in groups_of(s, n_tokens).zip(panels.chunks_exact(len)) {
        let Part { lanes, tokens, .. } = Part::of_sequence(s, group, n_tokens);
        for (strip, rows) in strips.columns().zip(panel.chunks_exact(WIDTH * ROWS)) {
            let to = &mut strips.column(strip)[tokens.start * WIDTH..tokens.end * WIDTH];
            to_strip(simd, rows, lanes.clone(), factor, to);
        }
    }
}

/// 8 rows of a panel, some lanes of them, to a strip: times a factor.
#[inline(always)]
fn to_strip<S: Simd>(
    simd: S,
    rows: &[f32],
    lanes: Range<usize>,
    factor: f32,
    strip: &mut [f32],
) {
    let mut from: [&[f32]; WIDTH] = [&[]; WIDTH];
    for (from, row) in from.iter_mut().zip(rows.chunks_exact(ROWS)) {
        *from = &row[lanes.clone()];
    }
    let (squares, rest) = strip.as_chunks_mut::<WIDTH>().0.as_chunks_mut::<WIDTH>();
    for (n, tokens) in squares.iter_mut().enumerate() {
        let turned = turn_8(simd, &square(&from, n * WIDTH));
        for i in 0..WIDTH {
            for j in 0..WIDTH {
                tokens[i][j] = turned[i][j] * factor;
            }
        }
    }
    let first = lanes.len() - rest.len();
    for (i, token) in rest.iter_mut().enumerate() {
        for j in 0..WIDTH {
            token[j] = from[j][first + i] * factor;
        }
    }
}

/// The other way: some tokens of a strip to the front of 8 rows of a panel.
#[inline(always)]
pub(crate) fn from_strip<S: Simd>(simd: S, strip: &[f32], rows: &mut [f32]) {
    let (squares, rest) = strip.as_chunks::<WIDTH>().0.as_chunks::<WIDTH>();
    for (n, tokens) in squares.iter().enumerate() {
        let turned = turn_8(simd, tokens);
        for i in 0..WIDTH {
            rows[i * ROWS + n * WIDTH..][..WIDTH].copy_from_slice(&turned[i]);
        }
    }
    let first = squares.len() * WIDTH;
    for (n, token) in rest.iter().enumerate() {
        for i in 0..WIDTH {
            rows[i * ROWS + first + n] = token[i];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pulp::WithSimd;
    use tiles::Instructions;

    struct ThereAndBack<'a> {
        panel: &'a [f32],
        lanes: Range<usize>,
        strip: &'a mut [f32],
        back: &'a mut [f32],
    }

    impl WithSimd for ThereAndBack<'_> {
        type Output = ();
        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) {
            let Self { panel, lanes, strip, back } = self;
            to_strip(simd, panel, lanes.clone(), 2.0, strip);
            from_strip(simd, strip, &mut back[lanes.start..]);
        }
    }

    #[test]
    fn to_a_strip_and_back() {
        let panel: Vec<f32> = (0..8 * ROWS).map(|i| i as f32).collect();
        for instructions in Instructions::available() {
            for lanes in [0..48, 0..1, 3..10, 40..48, 5..14, 17..17] {
                let mut strip = vec![0.0; lanes.len() * WIDTH];
                let mut back = vec![-1.0; 8 * ROWS];
                let (strip, back) = (&mut strip[..], &mut back[..]);
                let (panel, own) = (&panel[..], lanes.clone());
                instructions.run(ThereAndBack { panel, lanes: own, strip, back });
                for (token, lane) in strip.chunks(WIDTH).zip(lanes.clone()) {
                    for (f, x) in token.iter().enumerate() {
                        assert_eq!(*x, 2.0 * panel[f * ROWS + lane]);
                    }
                }
                for (at, &x) in back.iter().enumerate() {
                    let written = lanes.contains(&(at % ROWS));
                    assert_eq!(x, if written { 2.0 * panel[at] } else { -1.0 });
                }
            }
        }
    }

    #[test]
    fn a_strip_has_8_features_of_every_token() {
        // 2 heads of 9 features, so 2 strips each, of 3 tokens.
        let data: Vec<f32> = (0..2 * 2 * 3 * 8).map(|i| i as f32).collect();
        let strips = Strips { data: &data, n_tokens: 3, n_heads: 2, n_features: 9 };
        assert_eq!(strips.strip(1, 8)[..2], [72.0, 73.0]);
        let mut sums = [0.0; 9];
        strips.sums(1, &mut sums);
        assert_eq!([sums[2], sums[8]], [50.0 + 58.0 + 66.0, 72.0 + 80.0 + 88.0]);
    }
}
