use attention::{Matrix, Rng, SeedableRng, random_matrix};

use super::*;
use crate::Instructions;
use crate::non_finite::TIMES_TAKEN;
use crate::panels::{n_groups, pack_tokens};

/// All heads of these tokens as panels, `[group][head][8][48]`.
fn packed(x: &Matrix<f32>) -> Vec<f32> {
    let len = x.ncols() * ROWS;
    let mut panels = vec![0.0; n_groups(x.nrows()) * len];
    for (group, panel) in panels.chunks_exact_mut(len).enumerate() {
        pack_tokens(x, group, panel);
    }
    panels
}

#[test]
fn finite_numbers_never_take_the_careful_way() {
    let rng = &mut Rng::seed_from_u64(2);
    let n = if cfg!(miri) { 6 } else { 60 };
    let dims = Dims::new(24, 3).unwrap(); // 8 features a head: panels without a gap
    let masks = [Mask::All(vec![Mask::Causal, Mask::FirstKeys(n - 2)])];
    let times = |q_k_v: &[Matrix<f32>; 3]| {
        let [mut out, k, v] = q_k_v.each_ref().map(packed);
        let n_pieces = n_groups(n) * dims.n_heads();
        let mut normalisers = vec![0.0; n_pieces * Normalisers::LEN];
        let order = in_runs(n_pieces, dims, 1);
        let queue = &Queue::new(n_pieces, order, [&mut out[..], &mut normalisers]);
        let panels: &PanelsOf<'_> = &|head| HeadPanels::of_layer(dims, head, [&k, &v]);
        TIMES_TAKEN.set(0);
        Instructions::best().run(Attend {
            dims,
            masks: &masks,
            lengths: Lengths { n_sequences: 1, n_q: n, n_kv: n },
            positions: None,
            q: None, // in the places of the outputs
            panels,
            queue,
            scratch: &mut Scratch::default(),
        });
        TIMES_TAKEN.get()
    };
    let mut q_k_v = [(); 3].map(|()| random_matrix::<f32>(n, 24, 1.0, rng));
    assert_eq!(times(&q_k_v), 0);
    for x in &mut q_k_v {
        x.row_mut(n - 1).fill(f32::NAN); // in the padding: only its own query is not finite
    }
    assert_eq!(times(&q_k_v), 3);
}
