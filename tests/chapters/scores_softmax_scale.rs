//! What “Scores, softmax and √d_k” quotes.

use attention::{
    Mask, Matrix, Rng, SeedableRng, max_abs_diff, random_matrix, softmax_rows,
    weighted_values,
};
use lessons::numbers::{ends, entropy};
use lessons::plain;
use lessons::scores_softmax_scale::{
    FLEW, N_KEYS, RowStatistics, WIDTHS, Way, as_written, mean_entropy, mean_largest,
    measured, undivided, wrong_maps,
};
use model_files::TrainedLayer;
use single_head::{HeadPass, attend};

use crate::quote::{Table, assert_quote, share, values};

fn pass_of(layer: &TrainedLayer, sentence: &str, head: usize) -> HeadPass {
    lessons::scores_softmax_scale::pass_of(layer, sentence, head).unwrap()
}

#[test]
fn one_row_step_by_step() {
    let layer = model_files::minilm().unwrap();
    let tokens = &layer.sentence("pilot").unwrap().tokens;
    assert_eq!(tokens[FLEW], "flew");
    let pass = pass_of(&layer, "pilot", 11);
    let raw = undivided(&pass);
    let largest = pass.scores.row(FLEW).max();
    let exp = |j: usize| (pass.scores[(FLEW, j)] - largest).exp();
    let sum: f64 = (0..tokens.len()).map(exp).sum();

    for j in 0..tokens.len() {
        assert!((exp(j) / sum - pass.attn[(FLEW, j)]).abs() < 1e-12);
    }
    let dot: f64 = pass.q.row(FLEW).dot(&pass.k.row(2));
    assert!((dot - raw[(FLEW, 2)]).abs() < 1e-12);
    let scores = pass.scores.row(FLEW);
    let bits = entropy(pass.attn.row(FLEW).iter().copied());
    let negative = raw.iter().filter(|score| **score < 0.0).count();
    let text = values(&[
        ("sqrt_d_k", format!("{:.2}", (pass.q.ncols() as f64).sqrt())),
        ("largest", format!("{largest:.2}")),
        ("least", format!("{:.2}", scores.min())),
        ("head_spread", format!("{:.2}", pass.scores.variance().sqrt())),
        ("exp_sum", format!("{sum:.3}")),
        ("negative", negative.to_string()),
        ("entropy", format!("{bits:.2}")),
        ("keys_in_bits", format!("{:.2}", (tokens.len() as f64).log2())),
        ("as_many_as", format!("{:.1}", bits.exp2())),
    ]);
    assert_quote!("scores_softmax_scale_row_numbers", text);
}

#[test]
fn what_softmax_does_to_three_scores() {
    let cases = [
        ("three scores", [2.0, 1.0, 0.0]),
        ("100 added to each", [102.0, 101.0, 100.0]),
        ("each doubled", [4.0, 2.0, 0.0]),
        ("each divided by 100", [0.02, 0.01, 0.0]),
    ];
    let mut table = Table::new(["", "scores", "attention weights"]);
    for (name, scores) in cases {
        let shares = softmax_rows(Matrix::from_row_slice(1, 3, &scores));
        let scores = scores.map(|score| score.to_string()).join("  ");
        table.row([name, &scores, &in_a_row(shares.iter())]);
    }
    assert_quote!("scores_softmax_scale_softmax", table.text());
}

/// Shares side by side.
fn in_a_row<'a>(shares: impl Iterator<Item = &'a f64>) -> String {
    shares.map(|&a| share(a)).collect::<Vec<_>>().join("  ")
}

#[test]
fn one_row_is_the_same_softmax() {
    for scores in [[2.0, 1.0, 0.5], [1000.0, 999.0, -1000.0], [-800.0, -801.0, -800.5]] {
        let rows = softmax_rows(Matrix::from_row_slice(1, 3, &scores));
        for (a, b) in plain::softmax(&scores).into_iter().zip(rows.iter()) {
            assert!((a - b).abs() < 1e-15, "{scores:?}: {a} and {b}");
        }
    }
}

#[test]
fn a_softmax_as_written_fails_on_large_scores() {
    let mut table = Table::new(["scores", "as written", "row maximum first"]);
    for scores in [[2.0, 1.0], [1000.0, 999.0], [-1000.0, -1001.0]] {
        let stable = softmax_rows(Matrix::from_row_slice(1, 2, &scores));
        let shown = scores.map(|score| score.to_string()).join("  ");
        let plain = as_written(&scores);
        table.row([shown, in_a_row(plain.iter()), in_a_row(stable.iter())]);
    }
    assert_quote!("scores_softmax_scale_overflow", table.text());

    let layer = model_files::minilm().unwrap();
    let raw = |head| {
        let of = |name| undivided(&pass_of(&layer, name, head)).amax();
        model_files::SENTENCES.into_iter().map(of).fold(0.0, f64::max)
    };
    let most = (0..12).map(raw).fold(0.0, f64::max);
    let (f64_end, f32_end) = (f64::MAX.ln(), f64::from(f32::MAX.ln()));
    assert!(
        (f64_end + 1.0).exp().is_infinite() && (f32_end as f32 + 1.0).exp().is_infinite()
    );
    let said = [("exp_f64", f64_end), ("exp_f32", f32_end), ("largest_raw", most)];
    let said = said.map(|(name, value)| (name, format!("{value:.1}")));
    assert_quote!("scores_softmax_scale_largest", values(&said));
}

#[test]
fn scores_spread_as_d_k_grows() {
    let mut said =
        vec![("even_bits".to_owned(), format!("{:.2}", (N_KEYS as f64).log2()))];
    for d_k in WIDTHS {
        let [raw, divided] = measured(d_k);
        let each = |of: fn(&RowStatistics) -> f64| {
            [&raw, &divided].map(|measured| format!("{:.2}", of(measured)))
        };
        let of = [each(|it| it.spread), each(|it| it.entropy), each(|it| it.slope)];
        if [32, 128, 512].contains(&d_k) {
            for (name, [raw, divided]) in ["spread", "entropy", "slope"].iter().zip(of) {
                said.push((format!("{name}_{d_k}"), raw));
                said.push((format!("{name}_{d_k}_divided"), divided));
            }
            let keys = [&raw, &divided].map(|measured| measured.entropy.exp2());
            said.push((format!("as_many_as_{d_k}"), format!("{:.1}", keys[0])));
            said.push((format!("as_many_as_{d_k}_divided"), format!("{:.0}", keys[1])));
        }
        let expected = (d_k as f64).sqrt();
        // A weight moves an undivided score √d_k times as far.
        if d_k == 512 {
            let three = |number: f64| format!("{number:.3}");
            let by_product = "slope_512_by_product".to_owned();
            said.push((by_product.clone(), three(divided.slope / expected)));
            said.push(("median_slope_512".to_owned(), three(raw.median_slope)));
            let median = three(divided.median_slope / expected);
            said.push((format!("median_{by_product}"), median));
        }
        assert!((raw.spread / expected - 1.0).abs() < 0.06, "{raw:?} at {d_k}");
    }
    assert_quote!("scores_softmax_scale_spread_numbers", values(&said));
}

/// What the trained layer's rows become under other divisors.
/// PyTorch's `nn.MultiheadAttention` draws W^Q, W^K and W^V as one matrix of
/// `[3 d_model, d_model]` by Glorot: a variance of 2 / (4 d_model).
#[test]
fn scores_of_a_layer_as_pytorch_starts_it() {
    const D_MODEL: usize = 512;
    const D_K: usize = 64;
    let rng = &mut Rng::seed_from_u64(2);
    let std_dev = (2.0 / (4 * D_MODEL) as f64).sqrt();
    let x: Matrix = random_matrix(256, D_MODEL, 1.0, rng);
    let [q, k] = [(); 2].map(|()| &x * random_matrix(D_MODEL, D_K, std_dev, rng));
    let scores = &q * k.transpose();
    let spread = |of: &Matrix| of.variance().sqrt();
    let said = [
        ("q_spread", format!("{:.2}", spread(&q))),
        ("score_spread", format!("{:.1}", spread(&scores))),
        ("divided_spread", format!("{:.1}", spread(&(scores / (D_K as f64).sqrt())))),
    ];
    assert_quote!("scores_softmax_scale_start", values(&said));
}

#[test]
fn the_trained_layer_under_other_divisors() {
    let layer = model_files::minilm().unwrap();
    let passes: Vec<HeadPass> =
        (0..12).map(|head| pass_of(&layer, "pilot", head)).collect();
    let n_tokens = passes[0].attn.nrows();
    let most = (n_tokens as f64).log2();

    let mut table = Table::new(["divisor", "spread", "entropy", "largest weight"]);
    let mut said = vec![("even_bits_pilot".to_owned(), format!("{most:.2}"))];
    for (name, divisor) in [("1", 1.0), ("√32", 32f64.sqrt()), ("√384", 384f64.sqrt())]
    {
        let mean = |of: &dyn Fn(&Matrix) -> f64| {
            let each = passes.iter().map(|pass| of(&(undivided(pass) / divisor)));
            each.sum::<f64>() / 12.0
        };
        let spread = mean(&|scores| scores.variance().sqrt());
        let bits = mean(&|scores| mean_entropy(&softmax_rows(scores.clone())));
        let largest = mean(&|scores| mean_largest(&softmax_rows(scores.clone())));
        let (spread, bits) = (format!("{spread:.2}"), format!("{bits:.2}"));
        table.row([name, &spread, &bits, &share(largest)]);
        let name = name.trim_start_matches('√');
        said.push((format!("trained_entropy_{name}"), bits));
        said.push((format!("trained_largest_{name}"), share(largest)));
    }
    assert_quote!("scores_softmax_scale_trained", table.text());

    let spreads = passes.iter().map(|pass| pass.scores.variance().sqrt());
    let [least, _, greatest] = ends(spreads);
    said.extend([
        ("head_spread_least".to_owned(), format!("{least:.2}")),
        ("head_spread_most".to_owned(), format!("{greatest:.2}")),
        ("sqrt_ratio".to_owned(), format!("{:.2}", 12f64.sqrt())),
    ]);
    assert_quote!("scores_softmax_scale_trained_numbers", values(&said));
}

/// A layer could carry the division in its weights: W^Q / √d_k and no division.
#[test]
fn the_division_can_move_into_the_weights() {
    let layer = model_files::minilm().unwrap();
    let x = &layer.sentence("pilot").unwrap().input;
    let mut head = layer.parameters.heads()[11].clone();
    let right = attend(&head, x, x, x, &Mask::None).unwrap().attn;
    let sqrt_d_k = 32f64.sqrt();
    head.w_q.weight /= sqrt_d_k;
    head.w_q.bias = head.w_q.bias.map(|bias| bias / sqrt_d_k);
    let pass = attend(&head, x, x, x, &Mask::None).unwrap();
    let moved = softmax_rows(undivided(&pass));
    let diff = max_abs_diff(&right, &moved).unwrap();
    assert!(diff < 1e-12, "W^Q / √d_k, undivided, and the layer: max |Δ| = {diff:.1e}");
}

/// Five ways to turn q · k into a map: one is right, all have its shape.
#[test]
fn wrong_maps_of_the_right_shape() {
    let layer = model_files::minilm().unwrap();
    let pass = pass_of(&layer, "pilot", 11);
    let raw = undivided(&pass);
    let mut table = Table::new(["map", "sums of rows", "flew → pilot", "output off by"]);
    let mut said = Vec::new();
    for Way { name, attn, .. } in &wrong_maps(&raw, 32, 384) {
        let sums: Vec<f64> = attn.row_iter().map(|row| row.sum()).collect();
        let [least, _, most] = ends(sums).map(|sum| format!("{sum:.3}"));
        let range = if least == most { least } else { format!("{least} to {most}") };
        let out = weighted_values(attn, pass.v.as_view());
        let wrong = max_abs_diff(&out, &pass.out).unwrap();
        assert_eq!(attn.shape(), raw.shape());
        let to_pilot = share(attn[(FLEW, 2)]);
        let key = name.replace(' ', "_").replace('√', "");
        said.push((format!("{key}_sum"), range.clone()));
        said.push((format!("{key}_pilot"), to_pilot.clone()));
        table.row([(*name).to_owned(), range, to_pilot, format!("{wrong:.2}")]);
    }
    assert_quote!("scores_softmax_scale_wrong_maps", table.text());
    assert_quote!("scores_softmax_scale_wrong_numbers", values(&said));
}
