//! What chapter 2 quotes.

use std::fmt::Write;

use attention::{
    Mask, Matrix, Rng, SeedableRng, max_abs_diff, random_matrix, softmax_rows,
    weighted_values,
};
use pretrained::TrainedLayer;
use single_head::{HeadPass, attend};

fn pass_of(layer: &TrainedLayer, sentence: &str, head: usize) -> HeadPass {
    let x = &layer.sentence(sentence).unwrap().input;
    attend(&layer.parameters.heads()[head], x, x, x, &Mask::None).unwrap()
}

/// The row of “flew” in the pilot sentence.
const FLEW: usize = 3;

/// q · k as it is: the scores before the division.
fn undivided(pass: &HeadPass) -> Matrix {
    &pass.scores * (pass.q.ncols() as f64).sqrt()
}

fn share(share: f64) -> String {
    format!("{share:.3}").trim_start_matches('0').to_string()
}

/// The entropy of a row of shares, in bits.
fn entropy(row: impl IntoIterator<Item = f64>) -> f64 {
    let bits = |a: f64| if a == 0.0 { 0.0 } else { -a * a.log2() };
    row.into_iter().map(bits).sum()
}

fn mean_entropy(attn: &Matrix) -> f64 {
    entropy(attn.iter().copied()) / attn.nrows() as f64
}

/// The mean of `Σ_j ∂a_j/∂s_j = Σ_j a_j (1 − a_j)` over rows.
fn mean_slope(attn: &Matrix) -> f64 {
    attn.map(|a| a * (1.0 - a)).sum() / attn.nrows() as f64
}

fn mean_largest(attn: &Matrix) -> f64 {
    attn.row_iter().map(|row| row.max()).sum::<f64>() / attn.nrows() as f64
}

#[test]
fn one_row_step_by_step() {
    let layer = pretrained::minilm().unwrap();
    let tokens = &layer.sentence("pilot").unwrap().tokens;
    assert_eq!(tokens[FLEW], "flew");
    let pass = pass_of(&layer, "pilot", 11);
    let raw = undivided(&pass);
    let largest = pass.scores.row(FLEW).max();
    let exp = |j: usize| (pass.scores[(FLEW, j)] - largest).exp();
    let sum: f64 = (0..tokens.len()).map(exp).sum();

    let mut table = format!(
        "{:<8}{:>7}{:>14}{:>15}{:>8}",
        "key", "q · k", "q · k / √32", "exp(s − max)", "share"
    );
    for (j, token) in tokens.iter().enumerate() {
        assert!((exp(j) / sum - pass.attn[(FLEW, j)]).abs() < 1e-12);
        write!(
            table,
            "\n{token:<8}{:>7.2}{:>14.2}{:>15.3}{:>8}",
            raw[(FLEW, j)],
            pass.scores[(FLEW, j)],
            exp(j),
            share(pass.attn[(FLEW, j)])
        )
        .unwrap();
    }
    write!(table, "\n{:<8}{:>7}{:>14}{sum:>15.3}{:>8}", "sum", "", "", "1.000").unwrap();
    insta::assert_snapshot!("ch02_row", table);

    let dot: f64 = pass.q.row(FLEW).dot(&pass.k.row(2));
    assert!((dot - raw[(FLEW, 2)]).abs() < 1e-12);
    let scores = pass.scores.row(FLEW);
    let text = format!(
        "sqrt_d_k: {:.2}\nlargest: {largest:.2}\nleast: {:.2}\nhead_spread: {:.2}\n\
         exp_sum: {sum:.3}\nnegative: {}\nentropy: {:.2}\nkeys_in_bits: {:.2}\n\
         as_many_as: {:.1}",
        (pass.q.ncols() as f64).sqrt(),
        scores.min(),
        pass.scores.variance().sqrt(),
        raw.iter().filter(|score| **score < 0.0).count(),
        entropy(pass.attn.row(FLEW).iter().copied()),
        (tokens.len() as f64).log2(),
        entropy(pass.attn.row(FLEW).iter().copied()).exp2(),
    );
    insta::assert_snapshot!("ch02_row_numbers", text);
}

#[test]
fn what_softmax_does_to_three_scores() {
    let cases = [
        ("three scores", [2.0, 1.0, 0.0]),
        ("100 added to each", [102.0, 101.0, 100.0]),
        ("each doubled", [4.0, 2.0, 0.0]),
        ("each halved", [1.0, 0.5, 0.0]),
        ("each divided by 100", [0.02, 0.01, 0.0]),
        ("three alike", [1.0, 1.0, 1.0]),
    ];
    let mut table = format!("{:<22}{:<20}shares", "", "scores");
    for (name, scores) in cases {
        let shares = softmax_rows(Matrix::from_row_slice(1, 3, &scores));
        let shares: Vec<String> = shares.iter().map(|&a| share(a)).collect();
        let scores = scores.map(|score| score.to_string());
        write!(table, "\n{name:<22}{:<20}{}", scores.join("  "), shares.join("  "))
            .unwrap();
    }
    insta::assert_snapshot!("ch02_softmax", table);
}

/// The formula as it is written, which overflows.
fn as_written(scores: &[f64]) -> Vec<f64> {
    let exps: Vec<f64> = scores.iter().map(|score| score.exp()).collect();
    let sum: f64 = exps.iter().sum();
    exps.iter().map(|exp| exp / sum).collect()
}

#[test]
fn a_softmax_as_written_fails_on_large_scores() {
    let mut table = format!("{:<18}{:<16}row maximum first", "scores", "as written");
    for scores in [[2.0, 1.0], [1000.0, 999.0], [-1000.0, -1001.0]] {
        let stable = softmax_rows(Matrix::from_row_slice(1, 2, &scores));
        let text =
            |row: &[f64]| row.iter().map(|&a| share(a)).collect::<Vec<_>>().join("  ");
        let shown = scores.map(|score| score.to_string()).join("  ");
        write!(
            table,
            "\n{shown:<18}{:<16}{}",
            text(&as_written(&scores)),
            text(stable.as_slice())
        )
        .unwrap();
    }
    insta::assert_snapshot!("ch02_overflow", table);

    let layer = pretrained::minilm().unwrap();
    let raw = |head| {
        let of = |name| undivided(&pass_of(&layer, name, head)).amax();
        pretrained::SENTENCES.into_iter().map(of).fold(0.0, f64::max)
    };
    let most = (0..12).map(raw).fold(0.0, f64::max);
    let (f64_end, f32_end) = (f64::MAX.ln(), f32::MAX.ln());
    assert!((f64_end + 1.0).exp().is_infinite() && (f32_end + 1.0).exp().is_infinite());
    insta::assert_snapshot!(
        "ch02_largest",
        format!("exp_f64: {f64_end:.1}\nexp_f32: {f32_end:.1}\nlargest_raw: {most:.1}")
    );
}

const N_KEYS: usize = 64;

/// One row of the measurement: spread, entropy and slope, undivided and divided.
fn measured(d_k: usize) -> [[f64; 3]; 2] {
    let rng = &mut Rng::seed_from_u64(d_k as u64);
    let q: Matrix = random_matrix(256, d_k, 1.0, rng);
    let k: Matrix = random_matrix(N_KEYS, d_k, 1.0, rng);
    let scores = q * k.transpose();
    [scores.clone(), scores / (d_k as f64).sqrt()].map(|scores| {
        let spread = scores.variance().sqrt();
        let attn = softmax_rows(scores);
        [spread, mean_entropy(&attn), mean_slope(&attn)]
    })
}

#[test]
fn scores_spread_as_d_k_grows() {
    let mut table = format!(
        "{:>5}  {:>20}  {:>20}  {:>20}\n{:>5}{}",
        "",
        "spread of scores",
        "entropy, bits",
        "slope of a row",
        "d_k",
        format!("  {:>9}{:>11}", "q · k", "/ √d_k").repeat(3),
    );
    let mut text = format!("even_bits: {:.2}\n", (N_KEYS as f64).log2());
    let mut figure_rows = Vec::new();
    for d_k in [4, 8, 16, 32, 64, 128, 256, 512] {
        let [raw, divided] = measured(d_k);
        write!(table, "\n{d_k:>5}").unwrap();
        for i in 0..3 {
            write!(table, "  {:>9.2}{:>11.2}", raw[i], divided[i]).unwrap();
        }
        if [32, 128, 512].contains(&d_k) {
            for (name, i) in [("spread", 0), ("entropy", 1), ("slope", 2)] {
                writeln!(text, "{name}_{d_k}: {:.2}", raw[i]).unwrap();
                writeln!(text, "{name}_{d_k}_divided: {:.2}", divided[i]).unwrap();
            }
            writeln!(text, "as_many_as_{d_k}: {:.1}", raw[1].exp2()).unwrap();
            writeln!(text, "as_many_as_{d_k}_divided: {:.0}", divided[1].exp2()).unwrap();
        }
        let cells = [raw[0], divided[0], raw[1], divided[1]].map(|x| format!("{x:.2}"));
        figure_rows.push([&[d_k.to_string()][..], &cells].concat());
        let expected = (d_k as f64).sqrt();
        assert!((raw[0] / expected - 1.0).abs() < 0.06, "{} at {d_k}", raw[0]);
    }
    insta::assert_snapshot!("ch02_spread", table);
    insta::assert_snapshot!("ch02_spread_numbers", text);

    let figure = lessons::draw("score-spread", &lessons::Args::default()).unwrap();
    assert_eq!(figure.tables()[0].rows, figure_rows, "the figure shows other numbers");
}

/// What the trained layer's rows become under other divisors.
#[test]
fn the_trained_layer_under_other_divisors() {
    let layer = pretrained::minilm().unwrap();
    let passes: Vec<HeadPass> =
        (0..12).map(|head| pass_of(&layer, "pilot", head)).collect();
    let n_tokens = passes[0].attn.nrows();
    let most = (n_tokens as f64).log2();

    let mut table = format!(
        "{:<8}{:>8}{:>10}{:>15}",
        "divisor", "spread", "entropy", "largest share"
    );
    let mut text = format!("even_bits_pilot: {most:.2}\n");
    for (name, divisor) in [("1", 1.0), ("√32", 32f64.sqrt()), ("√384", 384f64.sqrt())]
    {
        let mean = |of: &dyn Fn(&Matrix) -> f64| {
            let each = passes.iter().map(|pass| of(&(undivided(pass) / divisor)));
            each.sum::<f64>() / 12.0
        };
        let spread = mean(&|scores| scores.variance().sqrt());
        let bits = mean(&|scores| mean_entropy(&softmax_rows(scores.clone())));
        let largest = mean(&|scores| mean_largest(&softmax_rows(scores.clone())));
        write!(table, "\n{name:<8}{spread:>8.2}{bits:>10.2}{:>15}", share(largest))
            .unwrap();
        let name = name.trim_start_matches('√');
        writeln!(text, "trained_entropy_{name}: {bits:.2}").unwrap();
        writeln!(text, "trained_largest_{name}: {}", share(largest)).unwrap();
    }
    insta::assert_snapshot!("ch02_trained", table);

    let spreads = passes.iter().map(|pass| pass.scores.variance().sqrt());
    let (least, greatest) =
        spreads.fold((f64::MAX, 0.0), |(a, b): (f64, f64), s| (a.min(s), b.max(s)));
    writeln!(text, "head_spread_least: {least:.2}\nhead_spread_most: {greatest:.2}")
        .unwrap();
    writeln!(text, "sqrt_ratio: {:.2}", 12f64.sqrt()).unwrap();
    insta::assert_snapshot!("ch02_trained_numbers", text);
}

/// A layer could carry the division in its weights: W^Q / √d_k and no division.
#[test]
fn the_division_can_move_into_the_weights() {
    let layer = pretrained::minilm().unwrap();
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
    let layer = pretrained::minilm().unwrap();
    let pass = pass_of(&layer, "pilot", 11);
    let raw = undivided(&pass);
    let (sqrt_d_k, sqrt_d_model) = (32f64.sqrt(), 384f64.sqrt());
    let maps = [
        ("right", softmax_rows(&raw / sqrt_d_k)),
        ("divided by √d_model", softmax_rows(&raw / sqrt_d_model)),
        ("not divided", softmax_rows(raw.clone())),
        ("divided after softmax", softmax_rows(raw.clone()) / sqrt_d_k),
        ("softmax down columns", softmax_rows((&raw / sqrt_d_k).transpose()).transpose()),
    ];
    let mut table = format!(
        "{:<22}{:<10}{:<16}{:>12}{:>17}",
        "map", "shape", "sums of rows", "flew → pilot", "output off by"
    );
    let mut text = String::new();
    let mut figure_rows = vec![Vec::new(); raw.ncols()];
    for (name, attn) in &maps {
        let sums: Vec<f64> = attn.row_iter().map(|row| row.sum()).collect();
        let ends =
            [f64::min, f64::max].map(|end| sums.iter().copied().reduce(end).unwrap());
        let range = ends.map(|sum| format!("{sum:.3}"));
        let range =
            if range[0] == range[1] { range[0].clone() } else { range.join(" to ") };
        let out = weighted_values(attn, pass.v.as_view());
        let wrong = max_abs_diff(&out, &pass.out).unwrap();
        let (shape, to_pilot) = (format!("{:?}", attn.shape()), share(attn[(FLEW, 2)]));
        write!(table, "\n{name:<22}{shape:<10}{range:<16}{to_pilot:>12}{wrong:>17.2}")
            .unwrap();
        let key = name.replace(' ', "_").replace('√', "");
        writeln!(text, "{key}_sum: {}\n{key}_pilot: {to_pilot}", range).unwrap();
        for (cells, a) in figure_rows.iter_mut().zip(attn.row(FLEW).iter()) {
            cells.push(share(*a));
        }
    }
    insta::assert_snapshot!("ch02_wrong_maps", table);
    insta::assert_snapshot!("ch02_wrong_numbers", text);

    let figure = lessons::draw("wrong-maps", &lessons::Args::default()).unwrap();
    let shown: Vec<_> =
        figure.tables()[0].rows.iter().map(|row| row[1..].to_vec()).collect();
    assert_eq!(shown, figure_rows, "the figure shows other numbers");
}
