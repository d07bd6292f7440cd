//! What “Masks” quotes.

use std::fmt::Write;

use attention::{
    Batch, Dims, LayerParameters, Mask, Matrix, MultiHeadAttention, Rng, SeedableRng,
    max_abs_diff, random_matrix, softmax_rows,
};
use fused_heads::FusedAttention;
use lessons::masks::{HEAD, QUERY, SCORES, before_and_after_softmax, padded, row};
use model_files::minilm;

use crate::quote::{assert_quote, bound, digits, values};
use stages::cases::{assert_close, layer, tokens};

const TOLERANCE: f64 = 1e-12;

#[test]
fn padding_on_a_trained_layer() {
    let trained = minilm().unwrap();
    let layer = FusedAttention::new(&trained.parameters);
    let bank = trained.sentence("bank_loan").unwrap();
    let (n, padded) = (bank.input.nrows(), padded(&trained).unwrap());
    let n_padded = padded.nrows();
    let real = |seen: &attention::Attended| seen.out.rows(0, n).into_owned();
    let astray = |seen: &attention::Attended, head: usize, query: usize| -> f64 {
        seen.attn[head].row(query).columns(n, n_padded - n).sum()
    };

    let alone = layer.self_attend(&bank.input, &Mask::None).unwrap();
    let unmasked = layer.self_attend(&padded, &Mask::None).unwrap();
    let masked = layer.self_attend(&padded, &Mask::FirstKeys(n)).unwrap();
    // PyTorch's mask of the same padding, taken for one of ours: True is the padding.
    let is_padding: Vec<bool> = (0..n_padded).map(|key| key >= n).collect();
    let inverted = layer.self_attend(&padded, &Mask::Keys(is_padding)).unwrap();

    let moved = |seen| max_abs_diff(&real(&alone), &real(seen)).unwrap();
    let same = |of| format!("less than {}", bound(moved(of), TOLERANCE));
    let all = (0..12).flat_map(|head| (0..n).map(move |query| (head, query)));
    let shares: Vec<f64> =
        all.map(|(head, query)| astray(&unmasked, head, query)).collect();
    let said = [
        ("n_real", n.to_string()),
        ("n_padded", n_padded.to_string()),
        ("query", bank.tokens[QUERY].clone()),
        ("head", HEAD.to_string()),
        ("astray", format!("{:.2}", astray(&unmasked, HEAD, QUERY))),
        (
            "astray_mean",
            format!("{:.2}", shares.iter().sum::<f64>() / shares.len() as f64),
        ),
        ("astray_masked", format!("{:.2}", astray(&masked, HEAD, QUERY))),
        ("moved", format!("{:.2}", moved(&unmasked))),
        ("largest", format!("{:.2}", real(&alone).amax())),
        ("moved_masked", same(&masked)),
        ("astray_inverted", format!("{:.2}", astray(&inverted, HEAD, QUERY))),
        ("moved_inverted", format!("{:.2}", moved(&inverted))),
    ];
    assert_quote!("masks_padding", values(&said));
}

#[test]
fn a_mask_after_softmax_loses_attention() {
    let [before, after] = before_and_after_softmax().unwrap();
    let sums: Vec<f64> = after.row_iter().map(|row| row.sum()).collect();
    assert!(sums[2] > 0.33 && sums[2] < 0.37, "the output of bank, a third: {sums:?}");
    let mut again = after.clone();
    again.row_iter_mut().for_each(|mut row| row /= row.sum());
    let difference = max_abs_diff(&before, &again).unwrap();
    assert_close("before softmax and after, divided", difference, TOLERANCE);
}

#[test]
fn causal_where_queries_and_keys_differ_in_number() {
    let pictures =
        |n_q, n_kv| [Mask::Causal, Mask::CausalTopLeft].map(|it| it.picture(n_q, n_kv));
    let [ours, theirs] = pictures(4, 4);
    assert_eq!(ours, theirs);
    assert_eq!(pictures(1, 4), ["xxxx\n", "x...\n"]);
    assert_eq!(pictures(2, 4), ["xxx.\nxxxx\n", "x...\nxx..\n"]);
    assert_eq!(pictures(4, 2), ["..\n..\nx.\nxx\n", "x.\nxx\nxx\nxx\n"]);
}

#[test]
fn a_blocked_score_times_zero() {
    let flags = [1.0, 1.0, 0.0, 0.0];
    let times = Matrix::from_fn(1, 4, |_, j| SCORES[j] * flags[j]);
    let masked = Mask::FirstKeys(2).apply(row(SCORES));
    let zero_times_blocked = Matrix::from_fn(1, 4, |_, j| masked[j] * flags[j]);
    let text = [
        ("blocked by −∞", softmax_rows(masked)),
        ("score × 0", softmax_rows(times)),
        ("−∞ × 0", softmax_rows(zero_times_blocked)),
    ]
    .map(|(name, row)| format!("{name:<14}  {}", digits(row.iter().copied())));
    assert_quote!("masks_times_zero", text.join("\n"));
}

#[test]
fn query_and_key_from_different_sentences() {
    let trained = minilm().unwrap();
    let [bank, river] =
        ["bank_loan", "river_banks"].map(|name| trained.sentence(name).unwrap());
    let layer = FusedAttention::new(&trained.parameters);
    let seen =
        layer.forward(&bank.input, &river.input, &river.input, &Mask::None).unwrap();
    let shape = |m: &Matrix| format!("({}, {})", m.nrows(), m.ncols());
    let said = [
        ("query_shape", shape(&bank.input)),
        ("key_shape", shape(&river.input)),
        ("map_shape", shape(&seen.attn[0])),
        ("out_shape", shape(&seen.out)),
        ("pair", format!("{} → {}", bank.tokens[2], river.tokens[3])),
        ("share", format!("{:.2}", seen.attn[11][(2, 3)])),
    ];
    assert_quote!("masks_cross", values(&said));
}

#[test]
fn a_padded_batch_is_its_sequences_one_by_one() {
    let (n_sequences, n_tokens) = (32, 100);
    let rng = &mut Rng::seed_from_u64(7);
    let parameters: LayerParameters<f32> =
        LayerParameters::random(Dims::new(512, 8).unwrap(), true, rng);
    let layer = FusedAttention::new(&parameters);
    let batch =
        Batch::new(n_sequences, random_matrix(n_sequences * n_tokens, 512, 1.0, rng));
    let batch = batch.unwrap();
    let lengths: Vec<usize> = (0..n_sequences).map(|s| n_tokens - 3 * s).collect();
    let masks: Vec<Mask> =
        lengths.iter().map(|&length| Mask::FirstKeys(length)).collect();

    let seen = layer.forward_batch(&batch, &batch, &batch, &masks).unwrap();
    let (n_maps, map) = (seen.attn[0].len(), seen.attn[0][0].shape());
    let out = seen.out.tokens().shape();
    let shape =
        format!("({}, {}, {})", seen.out.n_sequences(), seen.out.n_tokens(), out.1);
    let mut largest = 0.0;
    for (s, (seen, &length)) in seen.into_sequences().iter().zip(&lengths).enumerate() {
        let alone = batch.sequence(s).rows(0, length).into_owned();
        let alone = layer.self_attend(&alone, &Mask::None).unwrap().out;
        let together = seen.out.rows(0, length).into_owned();
        let difference = max_abs_diff(&alone, &together).unwrap();
        largest = f64::max(largest, difference);
    }
    let said = [
        ("batch_out_shape", shape),
        ("maps_shape", format!("({n_sequences}, {n_maps}, {}, {})", map.0, map.1)),
        ("longest", lengths[0].to_string()),
        ("shortest", lengths[n_sequences - 1].to_string()),
        ("real", attention::thousands(lengths.iter().sum::<usize>())),
        ("rows", attention::thousands(n_sequences * n_tokens)),
        ("alone_or_together", format!("less than {}", bound(largest, 1e-5))),
    ];
    assert_quote!("masks_batch", values(&said));
}

#[test]
fn masks_repeated_a_head_in_the_wrong_order() {
    let (lengths, n_heads) = ([5, 3, 2], 2);
    let n_sequences = lengths.len();
    // A list of sequences · heads masks is read at s · n_heads + head.
    let repeated = |at: usize| at % n_sequences; // 0 1 2 0 1 2
    let interleaved = |at: usize| at / n_heads; // 0 0 1 1 2 2
    let layer = FusedAttention::new(&layer(12, n_heads, 1));
    let batch = Batch::new(n_sequences, tokens(n_sequences * 5, 12, 2)).unwrap();
    let astray = |of: &dyn Fn(usize) -> usize| -> Vec<Vec<f64>> {
        let mask =
            |s: usize, head: usize| Mask::FirstKeys(lengths[of(s * n_heads + head)]);
        let masks: Vec<Mask> = (0..n_sequences)
            .map(|s| Mask::PerHead((0..n_heads).map(|head| mask(s, head)).collect()))
            .collect();
        let seen = layer.forward_batch(&batch, &batch, &batch, &masks).unwrap();
        let share = |map: &Matrix, s: usize| {
            map.columns_range(lengths[s]..).sum() / map.nrows() as f64
        };
        let maps = seen.attn.iter().enumerate();
        maps.map(|(s, maps)| maps.iter().map(|map| share(map, s)).collect()).collect()
    };
    let orders: [(&str, &dyn Fn(usize) -> usize); 2] =
        [("each mask twice", &interleaved), ("all masks twice over", &repeated)];
    let mut text = String::new();
    for (name, of) in orders {
        let list: Vec<String> =
            (0..n_sequences * n_heads).map(|at| of(at).to_string()).collect();
        writeln!(text, "{name}: {}", list.join(" ")).unwrap();
        writeln!(text, "  {:<20}  {:<12}  head 1", "", "head 0").unwrap();
        for (s, shares) in astray(of).iter().enumerate() {
            write!(text, "  sequence {s}, {} tokens", lengths[s]).unwrap();
            for (head, share) in shares.iter().enumerate() {
                let mask = of(s * n_heads + head);
                let right = if mask == s { ' ' } else { '!' };
                write!(text, "  mask {mask}{right} {share:.2}").unwrap();
            }
            text.push('\n');
        }
    }
    assert_quote!("masks_order", text);
}
