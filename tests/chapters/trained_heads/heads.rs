//! What heads do with all tokens: habits, and the order of tokens.

use attention::{Mask, Matrix, max_abs_diff};
use lessons::numbers::mean;
use lessons::trained::passes;
use model_files::{TrainedLayer, minilm};

use crate::quote::{assert_quote, share, values};
use stages::cases::TRAINED;
use stages::cases::{assert_close, every_stage_and_batched};

#[test]
fn what_each_head_does_over_the_four_sentences() {
    let TrainedLayer { parameters, sentences } = minilm().unwrap();
    let mut rows: Vec<[f64; 6]> = vec![[0.0; 6]; parameters.heads().len()];
    for sentence in &sentences {
        let n = sentence.tokens.len();
        for (i, pass) in passes(&parameters, &sentence.input).unwrap().iter().enumerate()
        {
            let map = &pass.attn;
            let bits =
                |row: usize| map.row(row).iter().map(|a| -a * a.log2()).sum::<f64>();
            let inner = 1..n - 1; // neither [CLS] nor [SEP]
            let written = &pass.out * parameters.w_o_of_head(i);
            let measured = [
                mean(map.column(0).iter().copied()),
                mean(inner.clone().map(|j| map[(j, j)])),
                mean(inner.clone().skip(1).map(|j| map[(j, j - 1)])),
                mean(inner.clone().take(n - 3).map(|j| map[(j, j + 1)])),
                mean((0..n).map(|row| bits(row) / (n as f64).log2())),
                mean(written.row_iter().map(|row| row.norm())),
            ];
            for (sum, one) in rows[i].iter_mut().zip(measured) {
                *sum += one / sentences.len() as f64;
            }
        }
    }
    let most = |column: usize| {
        let of = |row: &[f64; 6]| row[column];
        let (head, row) = rows
            .iter()
            .enumerate()
            .max_by(|(_, a), (_, b)| of(a).total_cmp(&of(b)))
            .unwrap();
        (head, of(row))
    };
    let even_share = mean(sentences.iter().map(|s| 1.0 / s.tokens.len() as f64));
    let dims = parameters.dims();
    let mut quoted = vec![
        ("d_model".to_owned(), dims.d_model().to_string()),
        ("d_k".to_owned(), dims.d_k().to_string()),
        ("reference_tolerance".to_owned(), TRAINED.to_string()),
        ("even_share".to_owned(), share(even_share)),
    ];
    for (name, column) in [("before", 2), ("after", 3), ("even", 4), ("writes", 5)] {
        let (head, most) = most(column);
        let most = if column < 4 { share(most) } else { format!("{most:.2}") };
        quoted.push((format!("most_{name}"), most));
        quoted.push((format!("most_{name}_head"), head.to_string()));
    }
    assert_quote!("trained_heads_heads_values", values(&quoted));
}

#[test]
fn no_stage_knows_the_order_of_the_tokens() {
    let TrainedLayer { parameters, sentences } = minilm().unwrap();
    for sentence in &sentences {
        let n = sentence.tokens.len();
        let reversed =
            |m: &Matrix| Matrix::from_fn(n, m.ncols(), |i, j| m[(n - 1 - i, j)]);
        for stage in every_stage_and_batched(&parameters) {
            let out = |x: &Matrix| stage.self_attend(x, &Mask::None).unwrap().out;
            let seen = out(&reversed(&sentence.input));
            let diff = max_abs_diff(&reversed(&out(&sentence.input)), &seen).unwrap();
            assert_close(format!("{} on {}", stage.name(), sentence.name), diff, 1e-12);
        }
    }
}
