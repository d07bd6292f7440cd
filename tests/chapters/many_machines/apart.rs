//! What the parts of a layer make together, what they send, and how evenly they work.

use attention::{
    Batch, Dims, LayerParameters, Mask, Matrix, Rng, SeedableRng, max_abs_diff,
    random_matrix, thousands,
};
use distributed::{Grid, Group, HeadsApart, OnGrid, Piece, Plain, Result, Threads};
use fused_heads::FusedAttention;
use lessons::many_machines::turns::{in_a_row, in_two_chunks, pairs, slowest};

use crate::quote::{assert_quote, bound, values};

/// 6 heads on 50 tokens: neither 3, 4 nor 8 ranks divide both.
fn example() -> (LayerParameters, Batch<f64>) {
    let rng = &mut Rng::seed_from_u64(20);
    let layer = LayerParameters::random(Dims::new(24, 6).unwrap(), true, rng);
    let x = random_matrix(50, 24, 1.0, rng);
    (layer, Batch::new(1, x).unwrap())
}

fn tokens_apart(group: &mut Threads<f64>, by_heads: usize) -> Result<(Matrix, u64)> {
    let (layer, x) = example();
    let mut grid = Grid::new(group, by_heads)?;
    let mut part: OnGrid<f64, Plain> = OnGrid::new(&layer, &grid)?;
    let (chunks, rank) = (grid.chunks(50), grid.ring().rank());
    let mine = chunks.rows(x.tokens(), 1, rank)?;
    let out = part.forward(&mut grid, &mine, (1, 50), &[Mask::Causal])?;
    // Zeros where others have their tokens: the sum over all ranks is the whole.
    let mut all = Matrix::zeros(50, 24);
    chunks.put(&out, 1, rank, &mut all)?;
    let sent = group.tally().bytes;
    group.all_reduce(all.as_mut_slice())?;
    Ok((all / by_heads as f64, sent))
}

fn heads_apart(group: &mut Threads<f64>) -> Result<(Matrix, u64)> {
    let (layer, x) = example();
    let mut part: HeadsApart<f64, Plain> = HeadsApart::new(&layer, group)?;
    let out = part.forward(group, [&x; 3], &[Mask::Causal])?;
    Ok((out, group.tally().bytes))
}

/// The same layer by 2 to 8 ranks, and what each of them sends.
#[test]
fn a_layer_in_parts() {
    let (layer, x) = example();
    let one = FusedAttention::new(&layer);
    let one = one.pass_batch(&x, &x, &x, &[Mask::Causal]).unwrap().out;
    let mut apart = 0f64;
    let mut sent = [String::new(), String::new()];
    for p in [2, 3, 4, 8] {
        let heads = Threads::run(p, heads_apart).unwrap();
        let tokens = Threads::run(p, |group| tokens_apart(group, 1)).unwrap();
        let grids = [2, 3].into_iter().filter(|by| p % by == 0);
        let grids = grids.flat_map(|by| {
            Threads::run(p, move |group| tokens_apart(group, by)).unwrap()
        });
        let grids: Vec<_> = grids.collect();
        for (out, _) in heads.iter().chain(&tokens).chain(&grids) {
            apart = apart.max(max_abs_diff(&one, out).unwrap());
        }
        let most = |outs: &[(Matrix, u64)]| {
            thousands(outs.iter().map(|(_, sent)| *sent).max().unwrap())
        };
        sent = [most(&heads), most(&tokens)];
    }
    println!("largest difference {apart:e}");
    let [sent_heads, sent_tokens] = sent;
    let quoted = [
        ("apart", bound(apart, 1e-14)),
        ("sent_heads", sent_heads),
        ("sent_tokens", sent_tokens),
    ];
    assert_quote!("many_machines_apart", values(&quoted));
}

/// Two keys on two ranks, whose scores are near each other and large.
#[test]
fn two_pieces() {
    let (scores, entries) = ([800.0, 801.0], [10.0, 20.0]);
    let one = |i: usize| Piece::<f64> {
        references: Matrix::from_element(1, 1, scores[i]),
        sums: Matrix::from_element(1, 1, 1.0),
        out: Matrix::from_element(1, 1, entries[i]),
    };
    let mut both = one(0);
    both.merge(0, &one(1));
    let merged = both.finish()[0];
    let shares = [1.0 / (1.0 + 1f64.exp()), 1.0 / (1.0 + (-1f64).exp())];
    assert!((merged - (10.0 * shares[0] + 20.0 * shares[1])).abs() < 1e-12);
    // Without the larger score taken off first.
    let [a, b] = scores.map(f64::exp);
    let naive = (a * entries[0] + b * entries[1]) / (a + b);
    assert!(naive.is_nan());
    let equally = (entries[0] + entries[1]) / 2.0;
    assert_quote!(
        "many_machines_merged",
        values(&[
            ("merged", format!("{merged:.2}")),
            ("naive", naive.to_string()),
            ("equally", equally.to_string()),
        ])
    );
}

/// The pairs that each rank computes at each step of the ring.
#[test]
fn turns_of_the_ring() {
    let (n, p) = (64, 4);
    let cuts = [in_a_row(n, p), in_two_chunks(n, p)].map(|tokens| pairs(&tokens));
    let [row, chunks] = cuts.map(|pairs| slowest(&pairs));
    assert_eq!(chunks[0], chunks[1]);
    assert_quote!(
        "many_machines_turns_values",
        values(&[("row_slower", format!("{:.2}", row[0] / row[1]))])
    );
}
