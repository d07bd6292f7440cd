//! The test of “Trained heads”, that no stage knows the order of tokens, with positions.

use attention::{Mask, Matrix, Rng, SeedableRng, max_abs_diff};
use block::{Block, Norms, Positions, Stack, Sublayer};
use lessons::numbers::ends;
use lessons::the_block::before::{
    D_MODEL, Kind, Model, N_STEPS, N_TOKENS, N_VOCABULARY, sequences, trained,
};

use crate::quote::{assert_quote, values};
use stages::cases::{assert_close, every_stage_and_batched};

const SEEDS: u64 = 3;
const N_TESTS: usize = 200;

/// By how much the outputs of a reversed sentence differ from the reversed outputs, as a
/// part of the largest entry: for every stage the same.
fn mismatch(model: &Model) -> f64 {
    let ids: Vec<usize> = (0..N_TOKENS).collect(); // all different
    let back: Vec<usize> = ids.iter().rev().copied().collect();
    let parameters = model.stack.blocks[0].attention.function.parameters().unpack();
    let mut found = Vec::new();
    for stage in every_stage_and_batched(&parameters) {
        let block = Block::new(Sublayer::new(stage, Norms::none()), None);
        let stack = Stack { blocks: vec![block], last_norm: None };
        let out = |ids: &[usize]| -> Matrix {
            let x = model.embedding.forward(ids, N_TOKENS).unwrap();
            stack.forward(x, &Mask::None).unwrap().out().clone()
        };
        let (forth, back) = (out(&ids), out(&back));
        let reversed =
            Matrix::from_fn(N_TOKENS, forth.ncols(), |i, j| forth[(N_TOKENS - 1 - i, j)]);
        found.push(max_abs_diff(&reversed, &back).unwrap() / forth.amax());
    }
    let [least, middle, most] = ends(found);
    assert_close("every stage", most - least, 1e-12);
    middle
}

#[test]
fn with_positions_a_stage_knows_the_order() {
    let tests = sequences(N_TESTS, &mut Rng::seed_from_u64(99));
    let mut without = String::new();
    for (kind, name) in Kind::ALL {
        let models: Vec<Model> =
            (0..SEEDS).map(|seed| trained(kind, seed).unwrap()).collect();
        let [least, _, most] = ends(models.iter().map(mismatch));
        let [worst, _, best] =
            ends(models.iter().map(|model| model.right(&tests).unwrap()));
        if kind == Kind::None {
            assert_close("no positions", most, 1e-12);
            assert!(best < 0.5, "{best}");
            without = format!("{:.0} to {:.0} %", 100.0 * worst, 100.0 * best);
        } else {
            assert!(least > 1.0 && worst > 0.995, "{name}: {least} {worst}");
        }
    }
    let said = [
        ("order_tokens", N_TOKENS.to_string()),
        ("order_vocabulary", N_VOCABULARY.to_string()),
        ("order_steps", N_STEPS.to_string()),
        ("order_seeds", SEEDS.to_string()),
        ("order_without", without),
    ];
    assert_quote!("the_block_order_values", values(&said));
}

/// Both measures can fail. A table whose rows are all alike says nothing of order, and passes the
/// reversal; a table that nothing has learned to read is seen by the reversal, and names no
/// token.
#[test]
fn a_table_that_says_nothing_or_is_not_read_is_no_order() {
    let tests = sequences(N_TESTS, &mut Rng::seed_from_u64(99));
    for seed in 0..SEEDS {
        let fresh = Model::fresh(Kind::Sinusoidal, seed).unwrap();
        assert!(mismatch(&fresh) > 0.1 && fresh.right(&tests).unwrap() < 0.3);
        let mut alike = fresh;
        let table = Matrix::from_fn(N_TOKENS, D_MODEL, |_, column| column as f64 / 16.0);
        alike.embedding.positions = Positions::Learned(table);
        assert_close("rows that are alike", mismatch(&alike), 1e-12);
    }
}
