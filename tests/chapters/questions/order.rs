//! What depends on the order of axes, and what does not on the order of a sum.

use attention::{
    Batch, Mask, Matrix, MultiHeadAttention, OnlineSoftmax, max_abs_diff, softmax_rows,
};
use fused_heads::FusedAttention;
use model_files::minilm;

use crate::quote::{Table, assert_quote, bound, values};

/// The trained layer on its four sentences, cut to the length of the shortest, as a batch
/// and with batch and tokens in each other's place.
#[test]
fn tokens_and_sequences_in_each_others_place() {
    let trained = minilm().unwrap();
    let layer = FusedAttention::new(&trained.parameters);
    let all = trained.sentences.iter().map(|sentence| &sentence.input);
    let n = all.clone().map(|input| input.nrows()).min().unwrap();
    let cut: Vec<Matrix> = all.map(|input| input.rows(0, n).into_owned()).collect();
    let n_sequences = cut.len();
    let row = |token: usize| Matrix::from_fn(n_sequences, 384, |s, j| cut[s][(token, j)]);
    let swapped: Vec<Matrix> = (0..n).map(row).collect();

    let run = |sequences: &[Matrix]| {
        let x = Batch::stack(sequences).unwrap();
        layer.forward_batch(&x, &x, &x, &[Mask::None]).unwrap()
    };
    let (right, wrong) = (run(&cut), run(&swapped));
    let mut apart = 0.0f64;
    for (s, cut) in cut.iter().enumerate() {
        let alone = layer.self_attend(cut, &Mask::None).unwrap().out;
        let together = right.out.sequence(s).into_owned();
        bound(max_abs_diff(&alone, &together).unwrap(), 1e-12);
        let of_sentence =
            Matrix::from_fn(n, 384, |token, j| wrong.out.sequence(token)[(s, j)]);
        apart = apart.max(max_abs_diff(&alone, &of_sentence).unwrap());
    }

    let mut table = Table::new([
        "axes",
        "sequences",
        "tokens",
        "a map",
        "token 3 of sentence 0 attends to",
    ]);
    let seen = [
        ("right", &right, format!("tokens 0 to {} of sentence 0", n - 1)),
        ("swapped", &wrong, format!("token 3 of sentences 0 to {}", n_sequences - 1)),
    ];
    for (name, batch, attends) in seen {
        let (n_sequences, n) = (batch.out.n_sequences(), batch.out.n_tokens());
        let map = format!("{:?}", batch.attn[0][0].shape());
        table.row([name, &n_sequences.to_string(), &n.to_string(), &map, &attends]);
    }
    assert_quote!("questions_batch_shapes", table.text());
    let quoted = [
        ("sequences", n_sequences.to_string()),
        ("tokens", n.to_string()),
        ("apart", format!("{apart:.2}")),
        ("largest", format!("{:.2}", right.out.tokens().amax())),
    ];
    assert_quote!("questions_batch", values(&quoted));
}

/// Every head of the trained layer in `f32`, with keys in blocks and all at once.
#[test]
fn keys_in_blocks_and_all_at_once() {
    const BLOCK: usize = 4;
    let trained = minilm().unwrap();
    let packed = trained.parameters.cast::<f32>().pack();
    let (d_k, h) = (packed.dims().d_k(), packed.dims().n_heads());
    let (mut apart, mut uncorrected) = (0.0f64, 0.0f64);
    for sentence in &trained.sentences {
        let x = sentence.input.map(|x| x as f32);
        let [q, k, v] =
            [packed.w_q(), packed.w_k(), packed.w_v()].map(|w| w.forward(&x).unwrap());
        for head in 0..h {
            let [q, k, v] = [&q, &k, &v].map(|m| m.columns(head * d_k, d_k).into_owned());
            let scores = &q * k.transpose() / (d_k as f32).sqrt();
            let at_once = softmax_rows(scores.clone()) * &v;
            let mut blocks = OnlineSoftmax::new(q.nrows(), d_k);
            let mut wrong = OnlineSoftmax::new(q.nrows(), d_k);
            for first in (0..k.nrows()).step_by(BLOCK) {
                let n = BLOCK.min(k.nrows() - first);
                let exp =
                    |numbers: &mut [f32]| numbers.iter_mut().for_each(|x| *x = x.exp());
                let block = scores.columns(first, n).into_owned();
                let values = v.rows(first, n).into_owned();
                blocks.take_in(block.clone(), values.as_view(), exp);
                // The correction left out: the old maximum is taken for the new one.
                let of_block = |i: usize| block.row(i).max();
                for (i, m) in wrong.maximum.iter_mut().enumerate() {
                    *m = m.max(of_block(i));
                }
                wrong.take_in(block.clone(), values.as_view(), exp);
            }
            apart = apart.max(max_abs_diff(&at_once, &blocks.finish()).unwrap());
            uncorrected =
                uncorrected.max(max_abs_diff(&at_once, &wrong.finish()).unwrap());
        }
    }
    println!("in blocks {apart:e}, without the correction {uncorrected:.2}");
    assert!(uncorrected > 0.1, "a wrong softmax shows: {uncorrected}");
    let quoted = [("block", BLOCK.to_string()), ("apart", bound(apart, 1e-5))];
    assert_quote!("questions_flash", values(&quoted));
}

/// The page's two lines on rows with nothing to attend to: blocked scores are filled where
/// the row has a key left, and the product with the mask makes the others zeros. That is the
/// workspace's own rule, on scores that nothing has masked before.
#[test]
fn the_lines_of_the_page_on_empty_rows() {
    const ROWS: [f64; 12] =
        [2.0, 1.0, 0.5, -1.0, 900.0, -900.0, 3.0, 0.0, -12_000.0, 2.0, 2.0, 7.0];
    let scores = Matrix::from_row_slice(3, 4, &ROWS);
    let allowed = Matrix::from_fn(3, 4, |i, j| i != 1 && j < 2 + i / 2);
    let filled = Matrix::from_fn(3, 4, |i, j| {
        let is_filled = !allowed[(i, j)] && allowed.row(i).iter().any(|&it| it);
        if is_filled { f64::NEG_INFINITY } else { scores[(i, j)] }
    });
    let times_allowed = |attn: Matrix| {
        attn.zip_map(&allowed, |share, may| share * f64::from(u8::from(may)))
    };
    let attn = times_allowed(softmax_rows(filled));
    let expected = softmax_rows(Mask::Allowed(allowed.clone()).apply(scores.clone()));
    assert_eq!(max_abs_diff(&attn, &expected).unwrap(), 0.0);
    let sums: Vec<f64> = attn.row_iter().map(|row| row.sum()).collect();
    assert!((sums[0] - 1.0).abs() < 1e-12 && sums[1] == 0.0, "{sums:?}");

    // Without the fill it is a mask behind softmax: a row sums to less than 1.
    let behind = times_allowed(softmax_rows(scores));
    assert!(behind.row(0).sum() < 0.9, "{behind}");
}
