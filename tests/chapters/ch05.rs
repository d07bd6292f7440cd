//! What chapter 5 quotes.

use std::fmt::Write;

use attention::{
    Attended, Batch, Dims, LayerParameters, Linear, Mask, Matrix, MultiHeadAttention,
    PackedParameters, Rng, SeedableRng, max_abs_diff, random_matrix, softmax_rows,
    thousands,
};
use fused_heads::FusedAttention;
use per_head::PerHeadAttention;
use pretrained::minilm;

use super::ch03::{WORDS, table, words};
use super::ch04::two_lenses;

fn lines(values: &[(&str, String)]) -> String {
    let lines: Vec<String> =
        values.iter().map(|(name, value)| format!("{name}: {value}")).collect();
    lines.join("\n")
}

/// A matrix of two heads, with a bar between them.
fn two_blocks(name: &str, rows: &[&str], matrix: &Matrix, digits: usize) -> String {
    let block = |i: usize| matrix.columns(2 * i, 2).into_owned();
    let [left, right] = [0, 1].map(|i| table(name, rows, &block(i), digits));
    let mut text = format!("{name}  {:?}\n", matrix.shape());
    let label = rows.iter().map(|row| row.len()).max().unwrap() + 2;
    for (left, right) in left.lines().zip(right.lines()).skip(1) {
        writeln!(text, "{left}  │{}", &right[label..]).unwrap();
    }
    text
}

#[test]
fn two_heads_packed() {
    let (parameters, x) = (two_lenses(), words());
    let packed = parameters.pack();
    assert_eq!(packed.unpack(), parameters);
    let features = ["water", "money", "plural noun", "verb"];
    let q = packed.w_q().forward(&x).unwrap();
    for (i, head) in parameters.heads().iter().enumerate() {
        assert_eq!(q.columns(2 * i, 2), head.w_q.forward(&x).unwrap());
    }
    let parts = [
        two_blocks("w_q", &features, &packed.w_q().weight, 0),
        two_blocks("q = x · w_q", &WORDS, &q, 0),
    ];
    insta::assert_snapshot!("ch05_packed", parts.join("\n"));
}

/// The largest difference between the layer of chapter 4 and the packed one, and whether
/// they are the same to the last bit.
fn apart(parameters: &LayerParameters, x: &Matrix) -> f64 {
    let of = |layer: &dyn MultiHeadAttention| layer.self_attend(x, &Mask::None).unwrap();
    let per_head: Attended = of(&PerHeadAttention::new(parameters.clone()));
    per_head.max_abs_diff(&of(&FusedAttention::new(parameters))).unwrap()
}

#[test]
fn the_same_layer() {
    let layer = minilm().unwrap();
    let mut text = format!("{:<46}largest difference\n", "trained layer, d_k 32");
    for sentence in &layer.sentences {
        let difference = apart(&layer.parameters, &sentence.input);
        // Both use one routine for their products, and it adds in the same order
        // wherever a column lies.
        assert_eq!(difference, 0.0, "{}", sentence.name);
        let tokens = sentence.tokens.len();
        writeln!(
            text,
            "{:<46}{difference}",
            format!("{}, {tokens} tokens", sentence.name)
        )
        .unwrap();
    }

    // Narrow heads: here nalgebra takes another routine for a head's product than for
    // the wide one, and it may add in another order.
    let dims = Dims::new(24, 6).unwrap();
    let mut largest = 0.0;
    let n_layers = 100;
    for seed in 0..n_layers {
        let rng = &mut Rng::seed_from_u64(seed);
        let parameters = LayerParameters::random(dims, true, rng);
        largest = f64::max(largest, apart(&parameters, &random_matrix(20, 24, 1.0, rng)));
    }
    println!("narrow heads: {largest:.1e}");
    assert!(largest <= 1e-12, "{largest:.1e}");
    let name = format!("{n_layers} random layers, d_k {}", dims.d_k());
    write!(text, "\n{name:<46}below 1e-12").unwrap();
    insta::assert_snapshot!("ch05_same", text);
}

/// `view(h, n, d)` of a row-major `[n, h · d]`, head 0 first: what lies there.
fn view_without_transpose(q: &Matrix, h: usize) -> Vec<Matrix> {
    let (n, d) = (q.nrows(), q.ncols() / h);
    let memory: Vec<f64> = q.transpose().as_slice().to_vec(); // row after row
    memory.chunks(n * d).map(|head| Matrix::from_row_slice(n, d, head)).collect()
}

fn columns_of_heads(q: &Matrix, h: usize) -> Vec<Matrix> {
    let d = q.ncols() / h;
    (0..h).map(|i| q.columns(i * d, d).into_owned()).collect()
}

/// The layer with a way to split, and its heads put back in the same way.
fn layer_with_split(
    packed: &PackedParameters,
    x: &Matrix,
    split: fn(&Matrix, usize) -> Vec<Matrix>,
    merge: fn(&[Matrix]) -> Matrix,
) -> Matrix {
    let dims = packed.dims();
    let heads_of = |w: &Linear| split(&w.forward(x).unwrap(), dims.n_heads());
    let (q, k, v) =
        (heads_of(packed.w_q()), heads_of(packed.w_k()), heads_of(packed.w_v()));
    let sqrt_d_k = (dims.d_k() as f64).sqrt();
    let heads: Vec<Matrix> = (0..dims.n_heads())
        .map(|i| softmax_rows(&q[i] * k[i].transpose() / sqrt_d_k) * &v[i])
        .collect();
    packed.w_o().forward(&merge(&heads)).unwrap()
}

fn side_by_side(heads: &[Matrix]) -> Matrix {
    let columns: Vec<_> = heads.iter().flat_map(|head| head.column_iter()).collect();
    Matrix::from_columns(&columns)
}

/// `view(n, h · d)` of a row-major `[h, n, d]`: the way back without the transpose.
fn merged_without_transpose(heads: &[Matrix]) -> Matrix {
    let (n, d) = heads[0].shape();
    let memory: Vec<f64> =
        heads.iter().flat_map(|head| head.transpose().as_slice().to_vec()).collect();
    Matrix::from_row_slice(n, heads.len() * d, &memory)
}

#[test]
fn a_view_without_the_transpose() {
    let layer = minilm().unwrap();
    let packed = layer.parameters.pack();
    let sentence = layer.sentence("pilot").unwrap();
    let (x, h) = (&sentence.input, packed.dims().n_heads());
    let right = FusedAttention::new(&layer.parameters);
    let right = right.self_attend(x, &Mask::None).unwrap().out;
    let ours = layer_with_split(&packed, x, columns_of_heads, side_by_side);
    assert!(max_abs_diff(&right, &ours).unwrap() <= 1e-12);

    let wrong =
        layer_with_split(&packed, x, view_without_transpose, merged_without_transpose);
    let badly_merged =
        layer_with_split(&packed, x, columns_of_heads, merged_without_transpose);
    assert_eq!(wrong.shape(), right.shape());

    // Which tokens does "head 0" hold? Label every entry of q with its token.
    let labels = Matrix::from_fn(x.nrows(), 384, |token, _| token as f64);
    let seen = &view_without_transpose(&labels, h)[0];
    let tokens_seen = seen.max() as usize + 1;
    let columns = Matrix::from_fn(x.nrows(), 384, |_, column| (column / 32) as f64);
    let strangers =
        view_without_transpose(&columns, h)[0].iter().filter(|&&i| i > 0.0).count();
    let values = [
        ("n_tokens", x.nrows().to_string()),
        ("entries", seen.len().to_string()),
        ("width", "384".to_string()),
        ("tokens_seen", tokens_seen.to_string()),
        ("strangers", strangers.to_string()),
        ("wrong_difference", format!("{:.2}", max_abs_diff(&right, &wrong).unwrap())),
        (
            "merge_difference",
            format!("{:.2}", max_abs_diff(&right, &badly_merged).unwrap()),
        ),
        ("largest_output", format!("{:.2}", right.amax())),
    ];
    insta::assert_snapshot!("ch05_view", lines(&values));
}

#[test]
fn a_batch_of_32_sequences() {
    let rng = &mut Rng::seed_from_u64(5);
    let (n_sequences, n_tokens, d_model) = (32, 100, 512);
    let dims = Dims::new(d_model, 8).unwrap();
    let parameters: LayerParameters = LayerParameters::random(dims, true, rng);
    let layer = FusedAttention::new(&parameters);
    let x =
        Batch::new(n_sequences, random_matrix(n_sequences * n_tokens, d_model, 1.0, rng))
            .unwrap();
    let result = layer.forward_batch(&x, &x, &x, &[Mask::None]).unwrap();

    for s in [0, 17, 31] {
        let alone = layer.self_attend(&x.sequence(s).into_owned(), &Mask::None).unwrap();
        let in_batch = result.out.sequence(s).into_owned();
        let difference = max_abs_diff(&alone.out, &in_batch).unwrap();
        assert!(difference <= 1e-12, "sequence {s}: {difference:.1e}");
    }

    let batch = |b: &Batch| {
        format!("({}, {}, {})", b.n_sequences(), b.n_tokens(), b.tokens().ncols())
    };
    let q = layer.parameters().w_q().forward(x.tokens()).unwrap();
    let map = result.attn[0][0].shape();
    let rows = [
        ("tokens", format!("{} as one matrix {:?}", batch(&x), x.tokens().shape())),
        ("q, k, v", format!("{:?} each, one product each", q.shape())),
        (
            "maps",
            format!(
                "{} sequences × {} heads of {map:?}",
                result.attn.len(),
                result.attn[0].len()
            ),
        ),
        ("concat", format!("{:?}", result.out.tokens().shape())),
        ("output", batch(&result.out)),
    ];
    let text: Vec<String> =
        rows.iter().map(|(name, what)| format!("{name:<9}{what}")).collect();
    insta::assert_snapshot!("ch05_batch", text.join("\n"));

    let values = [
        ("rows", thousands(n_sequences * n_tokens)),
        ("one_by_one", thousands(n_sequences * dims.n_heads() * 3)),
        ("maps", thousands(n_sequences * dims.n_heads())),
        ("tolerance", "1e-12".to_string()),
    ];
    insta::assert_snapshot!("ch05_batch_values", lines(&values));
}

#[test]
fn padding_does_not_show() {
    let layer = minilm().unwrap();
    let fused = FusedAttention::new(&layer.parameters);
    let longest = layer.sentences.iter().map(|s| s.tokens.len()).max().unwrap();
    let shortest = layer.sentences.iter().map(|s| s.tokens.len()).min().unwrap();
    let padded: Vec<Matrix> = layer
        .sentences
        .iter()
        .map(|s| s.input.clone().resize_vertically(longest, 100.0))
        .collect();
    let batch = Batch::stack(&padded).unwrap();
    let out = |masks: &[Mask]| {
        fused.forward_batch(&batch, &batch, &batch, masks).unwrap().into_sequences()
    };
    let masks: Vec<Mask> =
        layer.sentences.iter().map(|s| Mask::FirstKeys(s.tokens.len())).collect();
    let (masked, unmasked) = (out(&masks), out(&[Mask::None]));
    let mut moved: f64 = 0.0;
    for (s, sentence) in layer.sentences.iter().enumerate() {
        let n = sentence.tokens.len();
        let alone = fused.self_attend(&sentence.input, &Mask::None).unwrap().out;
        let difference = |attended: &Attended| {
            max_abs_diff(&alone, &attended.out.rows(0, n).into_owned()).unwrap()
        };
        assert!(difference(&masked[s]) <= 1e-12, "{}", sentence.name);
        moved = moved.max(difference(&unmasked[s]));
    }
    let values = [
        ("shortest", shortest.to_string()),
        ("longest", longest.to_string()),
        ("n_sentences", layer.sentences.len().to_string()),
        ("unmasked", format!("{moved:.1}")),
    ];
    insta::assert_snapshot!("ch05_padding", lines(&values));
}
