//! What chapter 4 quotes.

use std::fmt::Write;

use attention::{
    Dims, HeadParameters, LayerParameters, Linear, Mask, Matrix, MultiHeadAttention, Rng,
    SeedableRng, max_abs_diff, random_matrix, thousands,
};
use per_head::{NaiveAttention, PerHeadAttention, SumOfHeadsAttention, concat};
use pretrained::{Sentence, TrainedLayer, minilm};
use single_head::HeadPass;

use super::ch03::{WORDS, by_hand, table, words};

const HEADS: usize = 12;
const D_V: usize = 32;
const D_MODEL: usize = 384;
const DISTURBED: usize = 9;
const N_RANDOM: usize = 200;

/// Two lenses on the three words: one for verbs and plural nouns, one for water.
#[rustfmt::skip]
pub fn two_lenses() -> LayerParameters {
    let grammar = HeadParameters {
        w_q: by_hand([0.0, 0.0,  0.0, 0.0,  0.0, 2.0,  2.0, 0.0]),
        w_k: by_hand([0.0, 0.0,  0.0, 0.0,  1.0, 0.0,  0.0, 1.0]),
        w_v: by_hand([0.0, 0.0,  0.0, 0.0,  1.0, 0.0,  0.0, 1.0]),
    };
    let water = HeadParameters {
        w_q: by_hand([2.0, 0.0,  0.0, 0.0,  0.0, 0.0,  0.0, 0.0]),
        w_k: by_hand([1.0, 0.0,  0.0, 1.0,  0.0, 0.0,  0.0, 0.0]),
        w_v: by_hand([1.0, 0.0,  0.0, 1.0,  0.0, 0.0,  0.0, 0.0]),
    };
    let w_o = Matrix::from_row_slice(4, 4, &[
        0.0, 1.0, 0.0, 0.0,
        1.0, 0.0, 0.0, 0.0,
        1.0, 0.0, 1.0, 0.0,
        0.0, 0.0, 0.0, 1.0,
    ]);
    LayerParameters::new(vec![grammar, water], Linear::new(w_o, None).unwrap()).unwrap()
}

struct Trained {
    layer: TrainedLayer,
    per_head: PerHeadAttention,
}

impl Trained {
    fn new() -> Self {
        let layer = minilm().unwrap();
        let per_head = PerHeadAttention::new(layer.parameters.clone());
        Self { layer, per_head }
    }

    fn sentence(&self, name: &str) -> &Sentence {
        self.layer.sentence(name).unwrap()
    }

    fn passes(&self, name: &str) -> Vec<HeadPass> {
        passes(&self.per_head, &self.sentence(name).input)
    }
}

fn passes(layer: &PerHeadAttention, x: &Matrix) -> Vec<HeadPass> {
    layer.heads(x, x, x, &Mask::None).unwrap()
}

#[test]
fn two_lenses_on_three_words() {
    let (parameters, x) = (two_lenses(), words());
    let layer = PerHeadAttention::new(parameters.clone());
    let heads = passes(&layer, &x);
    let concat = concat(heads.iter().map(|head| &head.out)).unwrap();
    let out = layer.self_attend(&x, &Mask::None).unwrap().out;
    let features = ["plural noun", "verb", "water", "money"];
    let parts = [
        table("map of head 0, the grammar lens", &WORDS, &heads[0].attn, 3),
        table("map of head 1, the water lens", &WORDS, &heads[1].attn, 3),
        table("concat  (3, 4): two columns of head 0, two of head 1", &WORDS, &concat, 3),
        table("w_o  (4, 4)", &features, &parameters.w_o().weight, 0),
        table("output = concat · w_o  (3, 4)", &WORDS, &out, 3),
    ];
    insta::assert_snapshot!("ch04_words", parts.join("\n"));

    let cell = |value: f64| format!("{value:.3}");
    let values = [
        ("grammar_overflowed_banks", cell(heads[0].attn[(2, 1)])),
        ("water_overflowed_river", cell(heads[1].attn[(2, 0)])),
        ("water_banks_river", cell(heads[1].attn[(1, 0)])),
        ("grammar_banks_overflowed", cell(heads[0].attn[(1, 2)])),
        ("banks_verb", cell(concat[(1, 1)])),
        ("banks_water", cell(concat[(1, 2)])),
        ("banks_mixed", cell(out[(1, 0)])),
    ];
    insta::assert_snapshot!("ch04_words_values", lines(&values));
}

fn lines(values: &[(&str, String)]) -> String {
    let lines: Vec<String> =
        values.iter().map(|(name, value)| format!("{name}: {value}")).collect();
    lines.join("\n")
}

/// A table without the spaces at the ends of its lines.
fn trimmed(text: &str) -> String {
    text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}

#[test]
fn sizes_of_512_among_8() {
    let dims = Dims::new(512, 8).unwrap();
    let layer: LayerParameters =
        LayerParameters::random(dims, true, &mut Rng::seed_from_u64(4));
    let x: Matrix = random_matrix(10, 512, 1.0, &mut Rng::seed_from_u64(5));
    insta::assert_snapshot!(
        "ch04_trace",
        PerHeadAttention::new(layer.clone()).trace(&x).unwrap()
    );
    let one = layer.heads()[0].w_q.weight.len();
    let values = [
        ("one_w_q", thousands(one)),
        ("all_w_q", thousands(8 * one)),
        ("w_o", thousands(layer.w_o().weight.len())),
        ("wide_w_q", thousands(8 * 512 * 512)),
        ("wide_concat", thousands(8 * 512)),
    ];
    insta::assert_snapshot!("ch04_sizes", lines(&values));
}

#[test]
fn every_head_reads_the_whole_token() {
    let Trained { layer, per_head } = Trained::new();
    let heads = layer.parameters.heads();
    let (mut least, mut most) = (f64::INFINITY, 0.0f64);
    for (_, linear) in heads.iter().flat_map(HeadParameters::projections) {
        let weight = &linear.weight;
        for slice in 0..HEADS {
            let part = weight.rows(slice * D_V, D_V).norm_squared();
            let share = part / weight.norm_squared();
            (least, most) = (least.min(share), most.max(share));
        }
    }

    // Each feature of one token, moved by itself, against each head's query.
    let x = &layer.sentence("river_banks").unwrap().input;
    let before: Vec<Matrix> = heads.iter().map(|h| h.w_q.forward(x).unwrap()).collect();
    let mut reached = 0;
    for feature in 0..D_MODEL {
        let mut nudged = x.clone();
        nudged[(3, feature)] += 1.0;
        for (head, before) in heads.iter().zip(&before) {
            let after = head.w_q.forward(&nudged).unwrap();
            reached += usize::from(max_abs_diff(before, &after).unwrap() > 0.0);
        }
    }
    assert_eq!(reached, D_MODEL * HEADS);
    assert_eq!(per_head.dims().d_v(), D_V);
    let values = [
        ("slice_least", format!("{least:.3}")),
        ("slice_most", format!("{most:.3}")),
        ("slice_even", format!("{:.3}", 1.0 / HEADS as f64)),
        ("pairs", thousands(D_MODEL * HEADS)),
        ("pairs_reached", thousands(reached)),
    ];
    insta::assert_snapshot!("ch04_whole_token", lines(&values));
}

/// The mean share that some queries give to a key.
fn mean(attn: &Matrix, queries: impl Iterator<Item = usize>, key: usize) -> f64 {
    let shares: Vec<f64> = queries.map(|query| attn[(query, key)]).collect();
    shares.iter().sum::<f64>() / shares.len() as f64
}

/// In each head, a link of the story, and what all tokens but its two ends give the key.
#[test]
fn the_story_held_against_twelve_heads() {
    let trained = Trained::new();
    let [river, loan] = ["river_banks", "bank_loan"].map(|name| trained.passes(name));
    let names = |name: &str| trained.sentence(name).tokens.join(" ");
    assert_eq!(names("river_banks"), "[CLS] the river banks over ##flow ##ed . [SEP]");
    assert_eq!(names("bank_loan"), "[CLS] the bank approved the loan . [SEP]");

    let mut text = format!(
        "{:<10}{:<20}{:<20}{:<20}\n{:<10}{}\n",
        "",
        "overflowed → banks",
        "banks → river",
        "bank → loan",
        "",
        format!("{:<8}{:<12}", "share", "others").repeat(3).trim_end(),
    );
    let mut rows = Vec::new();
    for (i, (river, loan)) in river.iter().zip(&loan).enumerate() {
        let (river, loan) = (&river.attn, &loan.attn);
        let but = |n: usize, ends: [usize; 2]| {
            (0..n).filter(move |query| !ends.contains(query))
        };
        let row = [
            [mean(river, 4..7, 3), mean(river, [0, 1, 2, 7, 8].into_iter(), 3)],
            [river[(3, 2)], mean(river, but(9, [3, 2]), 2)],
            [loan[(2, 5)], mean(loan, but(8, [2, 5]), 5)],
        ];
        write!(text, "head {i:>2}   ").unwrap();
        for [share, others] in row {
            write!(text, "{share:<8.3}{others:<12.3}").unwrap();
        }
        text.push('\n');
        rows.push(row);
    }
    insta::assert_snapshot!("ch04_story", trimmed(&text));

    let best = |link: usize| {
        (0..HEADS).max_by(|&a, &b| rows[a][link][0].total_cmp(&rows[b][link][0])).unwrap()
    };
    let mut values = Vec::new();
    for (link, name) in ["subject", "river", "loan"].into_iter().enumerate() {
        let head = best(link);
        values.push(format!("{name}_head: {head}"));
        values.push(format!("{name}_share: {:.3}", rows[head][link][0]));
        values.push(format!("{name}_others: {:.3}", rows[head][link][1]));
    }
    values.push(format!("river_cls: {:.3}", river[best(1)].attn[(0, 2)]));
    values.push(format!("banks_itself: {:.3}", river[best(0)].attn[(3, 3)]));
    let cls = mean(&river[best(0)].attn, 4..7, 0);
    values.push(format!("subject_cls: {cls:.3}"));
    insta::assert_snapshot!("ch04_story_values", values.join("\n"));
}

fn cosine(a: &Matrix, b: &Matrix) -> f64 {
    a.dot(b) / (a.norm() * b.norm())
}

/// How alike *banks* and *bank* are as they come in, and through each lens.
#[test]
fn two_banks_through_each_lens() {
    let trained = Trained::new();
    let token =
        |name: &str, at: usize| trained.sentence(name).input.rows(at, 1).into_owned();
    let pairs = [
        (token("river_banks", 3), token("bank_loan", 2)),
        (token("river_banks", 2), token("bank_loan", 5)),
    ];
    let through =
        |[a, b]: [&Matrix; 2], weight: &Matrix| cosine(&(a * weight), &(b * weight));
    let of = |(a, b): &(Matrix, Matrix), weight: &Matrix| through([a, b], weight);

    let mut text = format!(
        "{:<10}{:<24}{:<24}\n{:<10}{}\n",
        "",
        "banks and bank",
        "river and loan",
        "",
        format!("{:<7}{:<7}{:<10}", "W_Q", "W_K", "W_V").repeat(2).trim_end()
    );
    let mut seen = [Vec::new(), Vec::new()];
    for (i, head) in trained.layer.parameters.heads().iter().enumerate() {
        write!(text, "head {i:>2}   ").unwrap();
        for (pair, seen) in pairs.iter().zip(&mut seen) {
            for (_, linear) in head.projections() {
                let alike = of(pair, &linear.weight);
                seen.push(alike);
                write!(text, "{alike:<7.2}").unwrap();
            }
            text.push_str("   ");
        }
        text.push('\n');
    }
    insta::assert_snapshot!("ch04_two_banks", trimmed(&text));

    let rng = &mut Rng::seed_from_u64(44);
    let random: Vec<f64> =
        (0..200).map(|_| of(&pairs[0], &random_matrix(D_MODEL, D_V, 1.0, rng))).collect();
    let least = |all: &[f64]| all.iter().copied().fold(f64::INFINITY, f64::min);
    let most = |all: &[f64]| all.iter().copied().fold(-1.0, f64::max);
    let number = |x: f64| format!("{x:.2}");
    let values = [
        ("n_lenses", seen[0].len().to_string()),
        ("banks_raw", number(cosine(&pairs[0].0, &pairs[0].1))),
        ("banks_least", number(least(&seen[0]))),
        ("banks_most", number(most(&seen[0]))),
        ("n_random", N_RANDOM.to_string()),
        ("random_least", number(least(&random))),
        ("random_most", number(most(&random))),
        ("loan_raw", number(cosine(&pairs[1].0, &pairs[1].1))),
        ("loan_least", number(least(&seen[1]))),
        ("loan_most", number(most(&seen[1]))),
    ];
    insta::assert_snapshot!("ch04_two_banks_values", lines(&values));
}

/// How many columns move at all.
fn moved(a: &Matrix, b: &Matrix) -> usize {
    a.column_iter().zip(b.column_iter()).filter(|(a, b)| a != b).count()
}

#[test]
fn one_head_disturbed() {
    let trained = Trained::new();
    let parameters = &trained.layer.parameters;
    let x = &trained.sentence("river_banks").input;
    let mut heads = parameters.heads().to_vec();
    heads[DISTURBED].w_v.weight *= -1.0;
    let changed = LayerParameters::new(heads, parameters.w_o().clone()).unwrap();
    let [before, after] = [&trained.per_head, &PerHeadAttention::new(changed)]
        .map(|layer| concat(passes(layer, x).iter().map(|head| &head.out)).unwrap());
    let [z_before, z_after] =
        [&before, &after].map(|concat| parameters.w_o().forward(concat).unwrap());
    let change: Vec<f64> =
        (&z_before - &z_after).column_iter().map(|column| column.amax()).collect();
    let identity: Linear = Linear::new(Matrix::identity(D_MODEL, D_MODEL), None).unwrap();
    let [bare_before, bare_after] =
        [&before, &after].map(|concat| identity.forward(concat).unwrap());
    let first = (0..D_MODEL).find(|&j| before.column(j) != after.column(j)).unwrap();
    assert_eq!(moved(&before, &after), D_V);
    assert_eq!(first, DISTURBED * D_V);
    assert_eq!(moved(&z_before, &z_after), D_MODEL);
    let values = [
        ("disturbed", DISTURBED.to_string()),
        ("first_column", first.to_string()),
        ("last_column", (first + D_V - 1).to_string()),
        ("columns", D_MODEL.to_string()),
        ("moved_before", moved(&before, &after).to_string()),
        ("moved_after", moved(&z_before, &z_after).to_string()),
        ("moved_without", moved(&bare_before, &bare_after).to_string()),
        (
            "least_moved",
            format!("{:.3}", change.iter().copied().fold(f64::INFINITY, f64::min)),
        ),
        ("most_moved", format!("{:.3}", change.iter().copied().fold(0.0, f64::max))),
    ];
    insta::assert_snapshot!("ch04_disturbed", lines(&values));
}

#[test]
fn every_head_reaches_every_output() {
    let trained = Trained::new();
    let parameters = &trained.layer.parameters;
    for (i, head) in trained.passes("river_banks").iter().enumerate() {
        let written = &head.out * parameters.w_o_of_head(i);
        let reached = written.column_iter().filter(|column| column.amax() > 0.0).count();
        assert_eq!(reached, D_MODEL, "head {i}");
    }
}

#[test]
fn one_output_from_twelve_heads() {
    let trained = Trained::new();
    let parameters = &trained.layer.parameters;
    let heads = trained.passes("river_banks");
    let (token, j) = (3, 5);
    let x = &trained.sentence("river_banks").input;
    let out = trained.per_head.self_attend(x, &Mask::None).unwrap().out;
    let b_o = parameters.w_o().bias.as_ref().unwrap()[j];

    let mut text = format!("output feature {j} of banks\n\n");
    let mut z_j = b_o;
    for (i, head) in heads.iter().enumerate() {
        let term = (&head.out * parameters.w_o_of_head(i))[(token, j)];
        z_j += term;
        writeln!(text, "head {i:>2}   {term:>7.3}").unwrap();
    }
    assert!((z_j - out[(token, j)]).abs() <= 1e-12);
    write!(text, "b^O       {b_o:>7.3}\n{}\nz_{j}       {z_j:>7.3}", "─".repeat(17))
        .unwrap();
    insta::assert_snapshot!("ch04_one_output", text);

    let written: Vec<f64> = heads
        .iter()
        .enumerate()
        .map(|(i, head)| (&head.out * parameters.w_o_of_head(i)).row(token).norm())
        .collect();
    let ends = |a: &usize, b: &usize| written[*a].total_cmp(&written[*b]);
    let (longest, shortest) =
        ((0..HEADS).max_by(ends).unwrap(), (0..HEADS).min_by(ends).unwrap());
    let values = [
        ("longest_head", longest.to_string()),
        ("longest", format!("{:.2}", written[longest])),
        ("shortest_head", shortest.to_string()),
        ("shortest", format!("{:.2}", written[shortest])),
    ];
    insta::assert_snapshot!("ch04_written", lines(&values));
}

#[test]
fn two_readings_of_one_formula() {
    let trained = Trained::new();
    let parameters = &trained.layer.parameters;
    let x = &trained.sentence("river_banks").input;
    let of = |layer: &dyn MultiHeadAttention| layer.self_attend(x, &Mask::None).unwrap();
    let per_head = of(&trained.per_head);
    for layer in [
        &SumOfHeadsAttention::new(parameters.clone()) as &dyn MultiHeadAttention,
        &NaiveAttention::new(parameters.clone()),
    ] {
        let difference = per_head.max_abs_diff(&of(layer)).unwrap();
        assert!(difference <= 1e-12, "{}: {difference:.1e}", layer.name());
    }

    // Bare heads summed, then one matrix for all: every W_i^O is the same.
    let blocks = (0..HEADS).map(|i| parameters.w_o_of_head(i));
    let shared =
        blocks.fold(Matrix::zeros(D_V, D_MODEL), |sum, w| sum + w) / HEADS as f64;
    let heads = trained.passes("river_banks");
    let sum = heads.iter().fold(Matrix::zeros(9, D_V), |sum, head| sum + &head.out);
    let mut bare = sum * shared;
    for mut row in bare.row_iter_mut() {
        row += parameters.w_o().bias.as_ref().unwrap();
    }
    let values = [
        ("tolerance", "1e-12".to_string()),
        (
            "bare_difference",
            format!("{:.2}", max_abs_diff(&bare, &per_head.out).unwrap()),
        ),
        ("largest_output", format!("{:.2}", per_head.out.amax())),
    ];
    insta::assert_snapshot!("ch04_readings", lines(&values));
}

#[test]
fn a_second_projection_adds_nothing() {
    let trained = Trained::new();
    let w_o = &trained.layer.parameters.w_o().weight;
    let concat =
        concat(trained.passes("river_banks").iter().map(|head| &head.out)).unwrap();
    let second: Matrix =
        random_matrix(D_MODEL, D_MODEL, 0.05, &mut Rng::seed_from_u64(6));
    let difference =
        max_abs_diff(&(&concat * w_o * &second), &(&concat * (w_o * &second))).unwrap();
    assert!(difference <= 1e-12, "{difference:.1e}");
}
