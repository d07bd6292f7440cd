//! Right answers written otherwise, and two that hide in equal sizes.

use attention::weighted_values;

use super::*;
use crate::Verdict;

/// One head after the other over the real rows of each source, from the last to the first.
fn in_loops(input: &Input, n_source: usize) -> Matrix {
    let dims = input.layer.dims();
    let mut concat = Matrix::zeros(input.y.nrows(), dims.concat_width());
    for (i, w) in input.layer.heads().iter().enumerate() {
        let q = w.w_q.forward(&input.y).unwrap();
        let k = w.w_k.forward(&input.memory).unwrap();
        let v = w.w_v.forward(&input.memory).unwrap();
        for row in 0..q.nrows() {
            let s = row / input.n_target();
            let mut head = Matrix::zeros(1, dims.d_v());
            let mut total = 0.0;
            for j in (s * n_source..s * n_source + input.n_valid[s]).rev() {
                let share =
                    (q.row(row).dot(&k.row(j)) / (dims.d_k() as f64).sqrt()).exp();
                head += v.rows(j, 1) * share;
                total += share;
            }
            let place = (row, i * dims.d_v());
            concat.view_mut(place, (1, dims.d_v())).copy_from(&(head / total));
        }
    }
    input.layer.w_o().forward(&concat).unwrap()
}

#[test]
fn right_answers_written_otherwise_pass() {
    let loops = |input: &Input| in_loops(input, input.n_source());
    assert_eq!(EXERCISE.diagnose(loops), Verdict::Passed);
    // Each source without its padding, and no mask.
    let cut = |input: &Input| {
        input.each(|s| {
            let memory = input.source(s).rows(0, input.n_valid[s]).into_owned();
            input.attended([&input.target(s), &memory, &memory], &Mask::None)
        })
    };
    assert_eq!(EXERCISE.diagnose(cut), Verdict::Passed);
    // One map for the whole batch in f32, other sources and padding blocked, and W^O head by
    // head.
    let one_map = |input: &Input| {
        let layer = input.layer.cast::<f32>();
        let [y, memory] = [&input.y, &input.memory].map(|x| x.map(|x| x as f32));
        let mask = Mask::Allowed(Matrix::from_fn(y.nrows(), memory.nrows(), |i, j| {
            let s = i / input.n_target();
            j / input.n_source() == s && j % input.n_source() < input.n_valid[s]
        }));
        let of_head = |(i, w): (usize, &HeadParameters<f32>)| {
            let q = w.w_q.forward(&y).unwrap();
            let [k, v] = [&w.w_k, &w.w_v].map(|w| w.forward(&memory).unwrap());
            let scores = &q * k.transpose() / (q.ncols() as f32).sqrt();
            let attn = softmax_rows(mask.apply(scores));
            weighted_values(&attn, v.as_view()) * layer.w_o_of_head(i)
        };
        let mut out: Matrix<f32> = layer.heads().iter().enumerate().map(of_head).sum();
        for mut row in out.row_iter_mut() {
            row += layer.w_o().bias.as_ref().unwrap();
        }
        out.map(f64::from)
    };
    assert_eq!(EXERCISE.diagnose(one_map), Verdict::Passed);
}

#[test]
fn the_targets_length_for_the_sources_is_right_where_they_are_equal() {
    let verdict = EXERCISE.diagnose(|input| in_loops(input, input.n_target()));
    assert!(matches!(verdict, Verdict::SquareOnly { .. }), "{verdict:?}");
}

/// A finite fill is right here: every query has a key.
#[test]
fn any_fill_far_below_the_scores_passes() {
    let filled = |input: &Input| {
        input.by_heads(|head, n| {
            head.out(|mut scores| {
                scores.columns_range_mut(n..).fill(-1e9);
                softmax_rows(scores)
            })
        })
    };
    assert_eq!(EXERCISE.diagnose(filled), Verdict::Passed);
}

/// All that a source is to its target comes from its real rows.
#[test]
fn exchanging_two_real_rows_of_a_source_changes_nothing() {
    for Case { input, sizes, .. } in cases() {
        let exchanged = input.changed(|input| {
            for (s, &n) in input.n_valid.iter().enumerate() {
                let first = s * input.memory.nrows() / input.n_valid.len();
                input.memory.swap_rows(first, first + n - 1);
            }
        });
        let difference = (exchanged - input.right()).amax();
        assert!(difference < 1e-12, "{sizes}: {difference}");
    }
}
