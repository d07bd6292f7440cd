//! What comes out, next to one machine.

use anyhow::{Result, ensure};
use attention::{
    Batch, Dims, LayerParameters, Mask, Matrix, Rng, SeedableRng, max_abs_diff,
    random_matrix,
};
use fused_heads::FusedAttention;
use ranks::Processes;
use spread::{Grid, Group, HeadsApart, OnGrid, Plain, Split};

use crate::measure::slowest;
use crate::run::name;
use crate::times::{Place, Timed};

/// How far f64 may be from one machine.
const BOUND: f64 = 1e-12;

/// How far f32 may be, relative to the largest entry where that is above 1.
const BOUND_F32: f64 = 1e-5;

/// Small layers in f64 by every split that these ranks can have: lengths and heads that
/// nothing divides, causal and with padding.
///
/// # Errors
/// A split that differs from one machine, with the difference.
pub fn small(group: &mut Processes) -> Result<String> {
    let size = Group::<f64>::size(group);
    let (mut largest, mut n_checked) = (0f64, 0);
    for (seed, n_tokens, n_heads) in [(1, 1, 3), (2, 13, 5), (3, 37, 2), (4, 301, 7)] {
        let rng = &mut Rng::seed_from_u64(seed);
        let dims = Dims::with_head_sizes(9, n_heads, 4, 3)?;
        let layer = LayerParameters::<f64>::random(dims, true, rng);
        let x = Batch::new(1, random_matrix(n_tokens, 9, 1.5, rng))?;
        let padded = Mask::All(vec![Mask::Causal, Mask::FirstKeys(2 * n_tokens / 3)]);
        for mask in [Mask::None, Mask::Causal, padded] {
            let masks = std::slice::from_ref(&mask);
            let one = FusedAttention::new(&layer).pass_batch(&x, &x, &x, masks)?.out;
            let mut part: HeadsApart<f64, Plain> = HeadsApart::new(&layer, group)?;
            let out = part.forward(group, [&x; 3], masks)?;
            largest = largest.max(max_abs_diff(&one, &out)?);
            for by_heads in (1..=size).filter(|by| size.is_multiple_of(*by)) {
                let mut grid = Grid::new::<f64>(group, by_heads)?;
                let mut part: OnGrid<f64, Plain> = OnGrid::new(&layer, &grid)?;
                let chunks = grid.chunks::<f64>(n_tokens);
                let rank = Group::<f64>::rank(grid.ring());
                let mine = chunks.rows(x.tokens(), 1, rank)?;
                let out = part.forward(&mut grid, &mine, (1, n_tokens), masks)?;
                let expected = chunks.rows(&one, 1, rank)?;
                largest = largest.max(max_abs_diff(&expected, &out)?);
                n_checked += 1;
            }
            n_checked += 1;
        }
    }
    let largest = slowest(group, largest)?;
    ensure!(largest <= BOUND, "a split differs from one machine by {largest:e}");
    Ok(format!(
        "{n_checked} small layers by every split: within {largest:.0e} of one machine"
    ))
}

/// The output of a split next to that of one machine, which rank 0 has.
///
/// # Errors
/// A difference above the bound, with the difference.
pub fn same(
    group: &mut Processes,
    timed: &Timed,
    alone: &Timed,
    x: &Batch<f32>,
    split: Split,
) -> Result<()> {
    let (n, width) = (x.tokens().nrows(), x.tokens().ncols());
    // Rank 0 has the whole; by a sum with zeros, all have it.
    let mut whole = match alone.out.nrows() {
        0 => Matrix::zeros(n, width),
        _ => alone.out.clone(),
    };
    group.all_reduce(whole.as_mut_slice())?;
    let expected = match &timed.place {
        Place::All => whole,
        Place::Chunks(chunks, rank) => chunks.rows(&whole, x.n_sequences(), *rank)?,
        Place::Sequences(sequences) => {
            let n_tokens = x.n_tokens();
            whole
                .rows(sequences.start * n_tokens, sequences.len() * n_tokens)
                .into_owned()
        }
    };
    let largest = expected.iter().fold(1f64, |most, x| f64::from(x.abs()).max(most));
    let diff = max_abs_diff(&expected, &timed.out)? / largest;
    let diff = slowest(group, diff)?;
    ensure!(diff <= BOUND_F32, "{}: differs from one machine by {diff:e}", name(split));
    Ok(())
}
