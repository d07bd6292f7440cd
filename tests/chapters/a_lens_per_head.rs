//! What “A lens per head” quotes.

mod circuits;

use attention::{
    Dims, HeadParameters, LayerParameters, Linear, Mask, Matrix, MultiHeadAttention, Rng,
    SeedableRng, max_abs_diff, random_matrix, thousands,
};
use lessons::a_lens_per_head::disturbed::{self, Disturbed, moved};
use lessons::a_lens_per_head::slices::slices;
use lessons::a_lens_per_head::two_lenses;
use lessons::numbers::ends;
use lessons::one_head::words;
use model_files::{Sentence, TrainedLayer, minilm};
use per_head::{NaiveAttention, PerHeadAttention, SumOfHeadsAttention, concat};
use single_head::HeadPass;

use crate::quote::{Aligned, assert_quote, below, values};

const HEADS: usize = 12;
const D_V: usize = 32;
const D_MODEL: usize = 384;

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
    let (parameters, x) = (two_lenses().unwrap(), words());
    let layer = PerHeadAttention::new(parameters.clone());
    let heads = passes(&layer, &x);
    let concat = concat(heads.iter().map(|head| &head.out)).unwrap();
    let out = layer.self_attend(&x, &Mask::None).unwrap().out;
    let cell = |value: f64| format!("{value:.3}");
    let said = [
        ("grammar_overflowed_banks", cell(heads[0].attn[(2, 1)])),
        ("water_overflowed_river", cell(heads[1].attn[(2, 0)])),
        ("water_banks_river", cell(heads[1].attn[(1, 0)])),
        ("grammar_banks_overflowed", cell(heads[0].attn[(1, 2)])),
        ("banks_verb", cell(concat[(1, 1)])),
        ("banks_water", cell(concat[(1, 2)])),
        ("banks_mixed", cell(out[(1, 0)])),
        ("river_mixed", cell(out[(0, 0)])),
        ("river_verb", cell(concat[(0, 1)])),
        ("river_water", cell(concat[(0, 2)])),
    ];
    assert_quote!("a_lens_per_head_words_values", values(&said));
}

#[test]
fn sizes_of_512_among_8() {
    let dims = Dims::new(512, 8).unwrap();
    let layer: LayerParameters =
        LayerParameters::random(dims, true, &mut Rng::seed_from_u64(4));
    let x: Matrix = random_matrix(10, 512, 1.0, &mut Rng::seed_from_u64(5));
    assert_quote!(
        "a_lens_per_head_trace",
        PerHeadAttention::new(layer.clone()).trace(&x).unwrap()
    );
    let one = layer.heads()[0].w_q.weight.len();
    let said = [
        ("one_w_q", thousands(one)),
        ("all_w_q", thousands(8 * one)),
        ("w_o", thousands(layer.w_o().weight.len())),
        ("wide_w_q", thousands(8 * 512 * 512)),
        ("wide_concat", thousands(8 * 512)),
    ];
    assert_quote!("a_lens_per_head_sizes", values(&said));
}

#[test]
fn every_head_reads_the_whole_token() {
    let Trained { layer, per_head } = Trained::new();
    let heads = layer.parameters.heads();
    let trained = heads.iter().flat_map(HeadParameters::projections);
    let [least, _, most] = ends(trained.flat_map(|(_, linear)| slices(&linear.weight)));
    let rng = &mut Rng::seed_from_u64(4);
    let random =
        (0..3 * HEADS).flat_map(|_| slices(&random_matrix(D_MODEL, D_V, 1.0, rng)));
    let [random_least, _, random_most] = ends(random);

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
    let said = [
        ("slice_least", format!("{least:.3}")),
        ("slice_most", format!("{most:.3}")),
        ("slice_even", format!("{:.3}", 1.0 / HEADS as f64)),
        ("random_slice_least", format!("{random_least:.3}")),
        ("random_slice_most", format!("{random_most:.3}")),
        ("pairs", thousands(D_MODEL * HEADS)),
        ("pairs_reached", thousands(reached)),
    ];
    assert_quote!("a_lens_per_head_whole_token", values(&said));
}

#[test]
fn one_head_disturbed() {
    let Disturbed { concat, out } =
        Disturbed::new(disturbed::HEAD, disturbed::FACTOR).unwrap();
    let [before, after] = [&concat, &out].map(Disturbed::change);
    let identity: Linear = Linear::new(Matrix::identity(D_MODEL, D_MODEL), None).unwrap();
    let bare = concat.each_ref().map(|concat| identity.forward(concat).unwrap());
    let first = before.iter().position(|&moved| moved > 0.0).unwrap();
    assert_eq!(moved(&before), D_V);
    assert_eq!(first, disturbed::HEAD * D_V);
    assert_eq!(moved(&after), D_MODEL);
    let [least, _, most] = ends(after.iter().copied());
    let said = [
        ("disturbed", disturbed::HEAD.to_string()),
        ("first_column", first.to_string()),
        ("last_column", (first + D_V - 1).to_string()),
        ("columns", D_MODEL.to_string()),
        ("moved_before", moved(&before).to_string()),
        ("moved_after", moved(&after).to_string()),
        ("moved_without", moved(&Disturbed::change(&bare)).to_string()),
        ("least_moved", format!("{least:.3}")),
        ("most_moved", format!("{most:.3}")),
    ];
    assert_quote!("a_lens_per_head_disturbed", values(&said));
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

    let mut table = Aligned::new([-9, 8]);
    let mut z_j = b_o;
    for (i, head) in heads.iter().enumerate() {
        let term = (&head.out * parameters.w_o_of_head(i))[(token, j)];
        z_j += term;
        table.row([format!("head {i:>2}"), format!("{term:.3}")]);
    }
    assert!((z_j - out[(token, j)]).abs() <= 1e-12);
    table.row(["b^O", &format!("{b_o:.3}")]);
    table.row(["─".repeat(17), String::new()]);
    table.row([format!("z_{j}"), format!("{z_j:.3}")]);
    let text = format!("output feature {j} of banks\n\n{}", table.text());
    assert_quote!("a_lens_per_head_one_output", text);

    let written: Vec<f64> = heads
        .iter()
        .enumerate()
        .map(|(i, head)| (&head.out * parameters.w_o_of_head(i)).row(token).norm())
        .collect();
    let ends = |a: &usize, b: &usize| written[*a].total_cmp(&written[*b]);
    let (longest, shortest) =
        ((0..HEADS).max_by(ends).unwrap(), (0..HEADS).min_by(ends).unwrap());
    let said = [
        ("longest_head", longest.to_string()),
        ("longest", format!("{:.2}", written[longest])),
        ("shortest_head", shortest.to_string()),
        ("shortest", format!("{:.2}", written[shortest])),
    ];
    assert_quote!("a_lens_per_head_written", values(&said));
}

#[test]
fn two_readings_of_one_formula() {
    let trained = Trained::new();
    let parameters = &trained.layer.parameters;
    let x = &trained.sentence("river_banks").input;
    let of = |layer: &dyn MultiHeadAttention| layer.self_attend(x, &Mask::None).unwrap();
    let per_head = of(&trained.per_head);
    let stages = [
        of(&SumOfHeadsAttention::new(parameters.clone())),
        of(&NaiveAttention::new(parameters.clone())),
    ];
    let differences = stages.map(|stage| per_head.max_abs_diff(&stage).unwrap());
    let tolerance = below(differences.into_iter().fold(0.0, f64::max), 1e-12);

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
    let said = [
        ("tolerance", tolerance),
        (
            "bare_difference",
            format!("{:.2}", max_abs_diff(&bare, &per_head.out).unwrap()),
        ),
        ("largest_output", format!("{:.2}", per_head.out.amax())),
    ];
    assert_quote!("a_lens_per_head_readings", values(&said));
}

#[test]
fn a_second_projection_adds_nothing() {
    let trained = Trained::new();
    let w_o = &trained.layer.parameters.w_o().weight;
    let passes = trained.passes("river_banks");
    let concat = concat(passes.iter().map(|pass| &pass.out)).unwrap();
    let second: Matrix =
        random_matrix(D_MODEL, D_MODEL, 0.05, &mut Rng::seed_from_u64(6));
    let difference =
        max_abs_diff(&(&concat * w_o * &second), &(&concat * (w_o * &second))).unwrap();
    assert!(difference <= 1e-12, "{difference:.1e}");
}
