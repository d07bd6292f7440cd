//! Of the chapter on trained heads.

use std::process::ExitCode;

use attention::Matrix;

#[cfg(feature = "trained")]
use super::random;
use crate::{Array, Arrays, Case, Exercise, Place};

/// A weight that a file stores `[out, in]`, as the `[in, out]` that `x · W` needs.
pub mod transposed_weights {
    use super::*;

    /// The numbers of a weight as they lie in a file, row after row, and its two sizes.
    pub struct Input {
        numbers: Vec<f32>,
        d_out: usize,
        d_in: usize,
    }

    impl Arrays for Input {
        fn arrays(&self, _: &str) -> Vec<Array> {
            let numbers: Vec<f64> = self.numbers.iter().copied().map(f64::from).collect();
            let sizes = [self.d_out.arrays("d_out"), self.d_in.arrays("d_in")].concat();
            [numbers.arrays("numbers"), sizes].concat()
        }
    }

    pub(crate) static EXERCISE: Exercise<Input, Matrix> =
        Exercise::new("transposed_weights", cases, |_, Place { row, column, .. }| {
            format!("input {row}, output {column}")
        });

    /// Checks what makes of the numbers of a weight `[d_out, d_in]`, row after row, the matrix
    /// `[d_in, d_out]`.
    pub fn check(
        answer: fn(numbers: &[f32], d_out: usize, d_in: usize) -> Matrix,
    ) -> ExitCode {
        EXERCISE.check(move |input| answer(&input.numbers, input.d_out, input.d_in))
    }

    /// The numbers say where they stood: 21 is row 2, column 1 of the file.
    fn cases(_: u64) -> Vec<Case<Input>> {
        let case = |d_out: usize, d_in: usize| {
            let number = |place: usize| (10 * (place / d_in) + place % d_in) as f32;
            let numbers = (0..d_out * d_in).map(number).collect();
            Case {
                sizes: format!(
                    "d_out {d_out}, d_in {d_in}, each number 10 · row + column"
                ),
                square: d_out == d_in,
                input: Input { numbers, d_out, d_in },
            }
        };
        vec![case(3, 3), case(2, 5), case(4, 3)]
    }
}

#[cfg(feature = "trained")]
/// The whole layer: `Concat(head_1, …, head_h) W^O + b^O`, each head under its own mask.
pub mod whole_layer {
    use std::sync::LazyLock;

    use attention::{Attended, Dims, LayerParameters, Mask};
    use model_files::TrainedLayer;

    use super::*;

    /// What a layer is given.
    pub struct Input {
        parameters: LayerParameters,
        query: Matrix,
        key: Matrix,
        value: Matrix,
        mask: Mask,
    }

    /// The mask as what it adds to the scores of each head, −∞ where it blocks.
    impl Arrays for Input {
        fn arrays(&self, _: &str) -> Vec<Array> {
            let Self { parameters, query, key, value, mask } = self;
            let lengths = (query.nrows(), key.nrows());
            let of_head = |head| {
                let mask = mask.of_head(head);
                Matrix::from_fn(lengths.0, lengths.1, |i, j| {
                    mask.added((i, j), lengths).unwrap_or(f64::NEG_INFINITY)
                })
            };
            let masks: Vec<_> = (0..parameters.heads().len()).map(of_head).collect();
            let tokens = [("query", query), ("key", key), ("value", value)];
            let tokens = tokens.into_iter().flat_map(|(name, x)| x.arrays(name));
            let parameters = parameters.arrays("parameters").into_iter();
            parameters.chain(tokens).chain(masks.arrays("mask")).collect()
        }
    }

    /// Of the maps of a layer and its output, which come in this order: a place in the output
    /// says that the maps are right.
    pub(crate) static EXERCISE: Exercise<Input, Attended> =
        Exercise::new("whole_layer", cases, |input, Place { part, row, column }| {
            if part < input.parameters.heads().len() {
                format!("map of head {part}, query {row}, key {column}")
            } else {
                format!("all maps are right; output, query {row}, feature {column}")
            }
        });

    /// Checks what gives of `query`, `[n_q, d_model]`, `key`, `[n_kv, key_width]`, and
    /// `value`, `[n_kv, value_width]`, the output `[n_q, d_model]` and a map `[n_q, n_kv]` a
    /// head.
    pub fn check(
        answer: fn(
            parameters: &LayerParameters,
            query: &Matrix,
            key: &Matrix,
            value: &Matrix,
            mask: &Mask,
        ) -> Attended,
    ) -> ExitCode {
        EXERCISE.check(move |Input { parameters, query, key, value, mask }| {
            answer(parameters, query, key, value, mask)
        })
    }

    fn cases(seed: u64) -> Vec<Case<Input>> {
        let sizes = random::dims;
        let narrow = sizes(8, 2, 3, 5).with_source_widths(7, 6).expect("no size is 0");
        let wide = sizes(6, 2, 2, 3).with_source_widths(6, 5).expect("no size is 0");
        let padding = || Mask::FirstKeys(3);
        let mut nan =
            to_another("NaN in 2 keys of padding", wide, (4, 5), padding(), seed + 17);
        for tokens in [&mut nan.input.key, &mut nan.input.value] {
            tokens.rows_range_mut(3..).fill(f64::NAN);
        }
        // The first query stays as it is, so that a right map is not only 0 and 1.
        let huge = "huge scores for all queries but the first";
        let mut huge = to_another(huge, sizes(7, 2, 3, 4), (4, 3), Mask::None, seed + 21);
        huge.input.query.rows_range_mut(1..).scale_mut(1e4);
        let (per_head, even) = (mask_per_head(), sizes(8, 3, 2, 4));
        vec![
            to_itself("no mask", sizes(6, 2, 3, 3), 4, Mask::None, seed + 1),
            to_itself("a causal mask", sizes(6, 3, 2, 2), 5, Mask::Causal, seed + 3),
            to_another("no mask", sizes(9, 3, 4, 2), (4, 6), Mask::None, seed + 5),
            to_another("2 keys of padding", narrow, (3, 5), padding(), seed + 9),
            nan,
            huge,
            to_another("one mask per head", even, (4, 4), per_head, seed + 13),
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
        let x = random::matrix(n, dims.d_model(), seed);
        let parameters = random::layer(dims, seed + 1);
        Case {
            sizes: format!(
                "{n} tokens that attend to themselves, {}, {what}",
                names(dims)
            ),
            square: true,
            input: Input { parameters, query: x.clone(), key: x.clone(), value: x, mask },
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
                parameters: random::layer(dims, seed),
                query: random::matrix(n_q, dims.d_model(), seed + 1),
                key: random::matrix(n_kv, dims.key_width(), seed + 2),
                value: random::matrix(n_kv, dims.value_width(), seed + 3),
                mask,
            },
        }
    }

    /// The trained layer and its sentences, read once.
    static TRAINED: LazyLock<TrainedLayer> =
        LazyLock::new(|| model_files::minilm().expect("the embedded layer can be read"));

    fn trained() -> Case<Input> {
        let pilot = TRAINED.sentence("pilot").expect("one of the four sentences");
        let (parameters, x) = (TRAINED.parameters.clone(), pilot.input.clone());
        let (query, key, value) = (x.clone(), x.clone(), x);
        Case {
            sizes: format!("the trained layer and “{}”", pilot.text),
            square: true,
            input: Input { parameters, query, key, value, mask: Mask::None },
        }
    }

    fn names(dims: Dims) -> String {
        let (d_model, h, d_k, d_v) =
            (dims.d_model(), dims.n_heads(), dims.d_k(), dims.d_v());
        format!("d_model {d_model}, {h} heads, d_k {d_k}, d_v {d_v}")
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use crate::{Answer, Numbers, same_answer};

        #[test]
        fn the_trained_layer_gives_what_pytorch_gave() {
            let exercise =
                catalogue::find("whole_layer").expect("a sheet that can be read");
            let kept = Numbers::of(&exercise).expect("numbers that are kept");
            let pilot = TRAINED.sentence("pilot").expect("one of the four sentences");
            let (out, attn) = (pilot.output.clone(), pilot.attn.clone());
            let known = Attended { out, attn }.parts();
            let case = kept.cases.last().expect("several cases");
            assert!(case.sizes.starts_with("the trained layer"), "{}", case.sizes);
            assert!(same_answer(&case.right, &known, Attended::TOLERANCE));
        }
    }
}
