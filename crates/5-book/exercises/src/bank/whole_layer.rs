//! The whole layer: `Concat(head_1, …, head_h) W^O + b^O`, each head under its own mask.

use std::process::ExitCode;
use std::sync::LazyLock;

use attention::{Attended, Dims, LayerParameters, Mask, Matrix, MultiHeadAttention};
use model_files::TrainedLayer;
use per_head::PerHeadAttention;

use super::inputs;
use crate::{Case, Exercise, Place, Section};

pub mod maps;
pub mod outputs;
pub mod projections;
mod steps;
#[cfg(test)]
mod tests;

pub use steps::Steps;

/// What a layer is given.
#[derive(Clone)]
pub struct Input {
    pub(super) parameters: LayerParameters,
    pub(super) query: Matrix,
    pub(super) key: Matrix,
    pub(super) value: Matrix,
    pub(super) mask: Mask,
    /// What PyTorch computed from this, where it did.
    pub(super) known: Option<Attended>,
}

/// What the reader writes: from `query`, `[n_q, d_model]`, `key`, `[n_kv, key_width]`, and
/// `value`, `[n_kv, value_width]`, the output `[n_q, d_model]` and a map `[n_q, n_kv]` a
/// head.
pub type WholeLayer = fn(
    parameters: &LayerParameters,
    query: &Matrix,
    key: &Matrix,
    value: &Matrix,
    mask: &Mask,
) -> Attended;

/// Checks an answer.
pub fn check(answer: WholeLayer) -> ExitCode {
    EXERCISE.check(move |input| {
        let Input { parameters, query, key, value, mask, .. } = input;
        answer(parameters, query, key, value, mask)
    })
}

const TRAINED_LAYER: Section = Section::new("trained-heads", "One layer, four sentences");

/// The exercise.
pub static EXERCISE: Exercise<Input, Attended> = Exercise {
    name: "whole_layer",
    title: "The whole layer",
    read: TRAINED_LAYER,
    begin: "one head: with parameters.heads()[0], write q, k, v, its scores, its map under \
        mask.of_head(0) and its output, as in “One head”. Then let a loop do it for every \
        head, and look at “The heads in code” in “A lens per head”",
    print: "the scores, the map and the output of head 0",
    passed: "Your layer gives the right numbers for every length, width and mask here, and \
        on trained weights it gives what PyTorch gives. This is the end of the main line: \
        there is no part of multi-head attention left that you have not written.",
    cases,
    reference,
    mistakes: &[
        maps::NO_SCALE,
        maps::ROOT_OF_D_MODEL,
        maps::NO_ROOT,
        maps::DOWN_THE_COLUMNS,
        maps::NO_MASK,
        maps::MASK_AFTER_SOFTMAX,
        maps::BLOCKED_IS_ZERO,
        maps::TURNED_MASK,
        maps::FINITE_FILL,
        maps::MASK_OF_HEAD_0,
        maps::MASKS_REVERSED,
        projections::QUERIES_WITH_VALUES,
        projections::HEAD_0,
        projections::SLICES,
        projections::VIEW,
        projections::SELF_ATTENTION,
        projections::VALUES_FROM_KEY,
        projections::KEYS_AS_VALUES,
        projections::NO_VALUE_BIAS,
        projections::NO_HEAD_BIASES,
        outputs::REVERSED,
        outputs::INTERLEAVED,
        outputs::VIEW,
        outputs::MEAN,
        outputs::ONE_BLOCK,
        outputs::NO_W_O,
        outputs::TURNED_W_O,
        outputs::NO_OUTPUT_BIAS,
        outputs::BIAS_PER_HEAD,
        outputs::NO_BIASES,
        // The last, since they take huge scores or a NaN to be seen: `write_a_test` does
        // without them.
        maps::NO_MAXIMUM,
        maps::NO_MAXIMUM_GUARDED,
        outputs::PLAIN_PRODUCT,
    ],
    place: attended,
};

/// How many mistakes at the end of the list only show where numbers are bad.
pub(super) const N_BAD_NUMBERS: usize = 3;

/// PyTorch's numbers where there are some, otherwise those of the stage of “A lens per head”.
fn reference(input: &Input) -> Attended {
    let Input { parameters, query, key, value, mask, known } = input;
    known.clone().unwrap_or_else(|| {
        let layer = PerHeadAttention::new(parameters.clone());
        layer.forward(query, key, value, mask).expect("the inputs fit the layer")
    })
}

/// Of the maps of a layer and its output, which come in this order: a place in the output
/// says that the maps are right.
fn attended(input: &Input, place: Place) -> String {
    let n_heads = input.parameters.dims().n_heads();
    let Place { part, row, column } = place;
    if part < n_heads {
        format!("map of head {part}, query {row}, key {column}")
    } else {
        format!("all maps are right; output, query {row}, feature {column}")
    }
}

fn cases() -> Vec<Case<Input>> {
    let sizes = |d_model, h, d_k, d_v| inputs::dims(d_model, h, d_k, d_v);
    let narrow = sizes(8, 2, 3, 5).with_source_widths(7, 6).expect("no size is 0");
    let wide = sizes(6, 2, 2, 3).with_source_widths(6, 5).expect("no size is 0");
    vec![
        to_itself("no mask", sizes(6, 2, 3, 3), 4, Mask::None, 1),
        to_itself("a causal mask", sizes(6, 3, 2, 2), 5, Mask::Causal, 3),
        to_another("no mask", sizes(9, 3, 4, 2), (4, 6), Mask::None, 5),
        to_another("2 keys of padding", narrow, (3, 5), Mask::FirstKeys(3), 9),
        with_nan_in_padding(to_another(
            "NaN in 2 keys of padding",
            wide,
            (4, 5),
            Mask::FirstKeys(3),
            17,
        )),
        with_huge_scores(to_another(
            "huge scores for all queries but the first",
            sizes(7, 2, 3, 4),
            (4, 3),
            Mask::None,
            21,
        )),
        to_another("one mask per head", sizes(8, 3, 2, 4), (4, 4), mask_per_head(), 13),
        trained(),
    ]
}

/// A causal mask, one that adds, and one under which query 1 may attend to nothing.
fn mask_per_head() -> Mask {
    let near = Matrix::from_fn(4, 4, |i, j| -0.5 * i.abs_diff(j) as f64);
    let without_query_1 = Matrix::from_fn(4, 4, |i, j| i != 1 && i != j);
    let masks = [Mask::Causal, Mask::Additive(near), Mask::Allowed(without_query_1)];
    Mask::PerHead(masks.into())
}

fn to_itself(what: &str, dims: Dims, n: usize, mask: Mask, seed: u64) -> Case<Input> {
    let x = inputs::matrix(n, dims.d_model(), seed);
    Case {
        sizes: format!("{n} tokens that attend to themselves, {}, {what}", names(dims)),
        square: true,
        input: Input {
            parameters: inputs::layer(dims, seed + 1),
            query: x.clone(),
            key: x.clone(),
            value: x,
            mask,
            known: None,
        },
    }
}

fn to_another(
    what: &str,
    dims: Dims,
    (n_q, n_kv): (usize, usize),
    mask: Mask,
    seed: u64,
) -> Case<Input> {
    Case {
        sizes: format!("{n_q} queries, {n_kv} keys, {}, {what}", names(dims)),
        square: false,
        input: Input {
            parameters: inputs::layer(dims, seed),
            query: inputs::matrix(n_q, dims.d_model(), seed + 1),
            key: inputs::matrix(n_kv, dims.key_width(), seed + 2),
            value: inputs::matrix(n_kv, dims.value_width(), seed + 3),
            mask,
            known: None,
        },
    }
}

/// The trained layer and its sentences, read once.
static TRAINED: LazyLock<TrainedLayer> =
    LazyLock::new(|| model_files::minilm().expect("the embedded layer can be read"));

fn trained() -> Case<Input> {
    let pilot = TRAINED.sentence("pilot").expect("one of the four sentences");
    let (parameters, x) = (TRAINED.parameters.clone(), pilot.input.clone());
    Case {
        sizes: format!("the trained layer and “{}”", pilot.text),
        square: true,
        input: Input {
            parameters,
            query: x.clone(),
            key: x.clone(),
            value: x,
            mask: Mask::None,
            known: Some(Attended { out: pilot.output.clone(), attn: pilot.attn.clone() }),
        },
    }
}

/// The first query stays as it is, so that a right map is not only 0 and 1.
fn with_huge_scores(mut case: Case<Input>) -> Case<Input> {
    case.input.query.rows_range_mut(1..).scale_mut(1e4);
    case
}

/// What nobody may attend to may hold anything.
fn with_nan_in_padding(mut case: Case<Input>) -> Case<Input> {
    for tokens in [&mut case.input.key, &mut case.input.value] {
        tokens.rows_range_mut(3..).fill(f64::NAN);
    }
    case
}

fn names(dims: Dims) -> String {
    let (d_model, h, d_k, d_v) = (dims.d_model(), dims.n_heads(), dims.d_k(), dims.d_v());
    format!("d_model {d_model}, {h} heads, d_k {d_k}, d_v {d_v}")
}
