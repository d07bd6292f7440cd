//! Every split gives the output of one machine.

use attention::{Batch, Mask, Matrix, Real, max_abs_diff};
use distributed::{
    BatchApart, Engine, Fast, Grid, Group, HeadsApart, OnGrid, Plain, Threads,
};

use crate::cases::{Case, SIZES};

const SEEDS: std::ops::Range<u64> = 0..40;

/// Heads apart: all ranks have the same output, to the last digit.
pub fn heads_apart<T: Real, E: Engine<T>>(case: &Case<T>, size: usize) -> Matrix<T> {
    let outs = Threads::run(size, |group| {
        let mut part: HeadsApart<T, E> = HeadsApart::new(&case.layer, group)?;
        part.forward(group, [&case.x; 3], &case.masks)
    });
    let mut outs = outs.unwrap();
    let last = outs.pop().unwrap();
    let same = |out: &Matrix<T>| {
        out.iter().zip(&last).all(|(a, b)| a == b || a.is_nan() && b.is_nan())
    };
    assert!(outs.iter().all(same));
    last
}

/// Tokens apart, or both, put together.
pub fn on_grid<T: Real, E: Engine<T>>(
    case: &Case<T>,
    size: usize,
    by_heads: usize,
) -> Matrix<T> {
    let (n, n_tokens) = (case.x.n_sequences(), case.n_tokens());
    let parts = Threads::run(size, |group| {
        let mut grid = Grid::new(group, by_heads)?;
        let mut part: OnGrid<T, E> = OnGrid::new(&case.layer, &grid)?;
        let (chunks, rank) = (grid.chunks(n_tokens), grid.ring().rank());
        let mine = chunks.rows(case.x.tokens(), n, rank)?;
        let out = part.forward(&mut grid, &mine, (n, n_tokens), &case.masks)?;
        Ok((chunks, rank, out))
    });
    let (n_rows, width) = case.x.tokens().shape();
    let mut all = Matrix::from_element(n_rows, width, T::of(f64::NAN));
    for (chunks, rank, out) in parts.unwrap() {
        chunks.put(&out, n, rank, &mut all).unwrap();
    }
    all
}

/// A batch apart, put together.
fn batch_apart<T: Real, E: Engine<T>>(case: &Case<T>, size: usize) -> Matrix<T> {
    let n = case.x.n_sequences();
    let parts = Threads::run(size, |group| {
        let mut layer: BatchApart<T, E> = BatchApart::new(&case.layer)?;
        let mine = layer.sequences(n, group);
        if mine.is_empty() {
            return Ok(Vec::new());
        }
        let own: Vec<_> = mine.clone().map(|s| case.x.sequence(s).into_owned()).collect();
        let x = Batch::stack(&own)?;
        let out = layer.forward([&x; 3], &case.masks[mine])?;
        Ok(Batch::new(own.len(), out)?
            .tokens()
            .row_iter()
            .map(|r| r.into_owned())
            .collect())
    });
    Matrix::from_rows(&parts.unwrap().concat())
}

fn all_splits<T: Real, E: Engine<T>>(bound: f64) {
    let mut largest = 0f64;
    for seed in SEEDS {
        let case = Case::<T>::random(seed);
        let expected = case.on_one();
        for size in SIZES {
            let mut splits = vec![
                ("heads apart".to_owned(), heads_apart::<T, E>(&case, size)),
                ("a batch apart".to_owned(), batch_apart::<T, E>(&case, size)),
            ];
            let by_heads = (1..=size).filter(|by| size.is_multiple_of(*by));
            splits.extend(by_heads.map(|by_heads| {
                let name = format!("{by_heads} groups of heads");
                (name, on_grid::<T, E>(&case, size, by_heads))
            }));
            for (split, out) in splits {
                let diff = max_abs_diff(&expected, &out).unwrap();
                assert!(diff <= bound, "{split}: {diff:e}: {}", case.name(seed, size));
                largest = largest.max(diff);
            }
        }
    }
    println!("largest difference {largest:e}");
}

#[test]
fn all_splits_in_f64() {
    all_splits::<f64, Plain>(1e-12);
}

#[test]
fn all_splits_in_f32() {
    all_splits::<f32, Plain<f32>>(1e-5);
}

#[test]
fn all_splits_with_the_last_rung() {
    all_splits::<f32, Fast>(1e-5);
}

/// Sequences that are long enough to be cut into blocks: messages of several blocks a
/// chunk, and blocks of several panels.
#[test]
fn long_sequences_go_round_in_blocks() {
    for (seed, size) in [(0, 2), (1, 3)] {
        let mut case = Case::<f64>::random(seed);
        let rng = &mut <attention::Rng as attention::SeedableRng>::seed_from_u64(seed);
        let x = attention::random_matrix(1501, case.x.tokens().ncols(), 1.0, rng);
        case.x = Batch::new(1, x).unwrap();
        for mask in [Mask::Causal, Mask::FirstKeys(700)] {
            case.masks = vec![mask];
            let diff = max_abs_diff(&case.on_one(), &on_grid::<_, Plain>(&case, size, 1));
            assert!(diff.unwrap() <= 1e-12);
            let single = Case {
                layer: case.layer.cast::<f32>(),
                x: Batch::new(1, case.x.tokens().map(|x| x as f32)).unwrap(),
                masks: case.masks.clone(),
            };
            let out = on_grid::<_, Fast>(&single, size, 1).map(f64::from);
            let diff = max_abs_diff(&case.on_one(), &out).unwrap();
            assert!(diff <= 1e-5, "{diff:e}");
        }
    }
}
