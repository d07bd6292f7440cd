//! Back to the tokens: `d_x = dq · W^Qᵀ`, and what comes by the keys and values.

use pulp::{Simd, WithSimd};
use tiles::memory::Scratch;
use tiles::merge::merge_block;
use tiles::panels::{Panels, n_groups, rows_of};
use tiles::queue::Blocks;
use tiles::tile::{ROWS, WIDTH};

use super::strips::{Strips, from_strip};

/// The sum of some ways back to the same tokens, `[n_rows, d_in]`.
pub(crate) struct TokensBack<'a> {
    pub(crate) ways: &'a [Strips<'a>],
    pub(crate) weights: &'a Panels,
    pub(crate) blocks: Blocks<'a, 1>,
}

/// Computes what no other thread has; false if a number of it is not finite.
pub(crate) struct Job<'a, 'b> {
    pub(crate) all: &'b TokensBack<'a>,
    pub(crate) scratch: &'b mut Scratch,
}

impl WithSimd for Job<'_, '_> {
    type Output = bool;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> bool {
        let TokensBack { ways, weights, blocks } = self.all;
        let len = weights.d_in() * ROWS;
        self.scratch.groups = 0..0; // left over from another matrix
        let mut finite = true;
        while let Some([mut block]) = blocks.take() {
            let groups = block.rows().start / ROWS..n_groups(block.rows().end);
            let panels = self.scratch.x.take(groups.len() * len);
            if self.scratch.groups != groups {
                for (group, panel) in groups.clone().zip(panels.chunks_exact_mut(len)) {
                    gather(simd, ways, group, panel);
                }
                self.scratch.groups = groups.clone();
            }
            let panel = |group: usize| &panels[(group - groups.start) * len..][..len];
            merge_block(simd, panel, *weights, &mut block);
            finite &= block.is_finite();
        }
        finite
    }
}

/// The gradients of a group's 48 tokens by all ways and heads, `[feature][48]`.
#[inline(always)]
fn gather<S: Simd>(simd: S, ways: &[Strips<'_>], group: usize, panel: &mut [f32]) {
    let mut to = panel.chunks_exact_mut(WIDTH * ROWS);
    for way in ways {
        let tokens = rows_of(group, way.n_tokens);
        for head in 0..way.n_heads {
            for feature in (0..way.n_features).step_by(WIDTH) {
                let strip =
                    &way.strip(head, feature)[tokens.start * WIDTH..tokens.end * WIDTH];
                from_strip(simd, strip, to.next().expect("a panel has room for each"));
            }
        }
    }
}
