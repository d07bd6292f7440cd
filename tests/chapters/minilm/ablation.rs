//! What the vector of a sentence loses without heads.
//!
//! Fixed before: a head *matters* if its ablation alone costs more than .01 on average over
//! the sentences; an order of ablation *knows heads* if with half of all heads gone it has
//! lost less than 95 of 100 draws of other heads.
//!
//! Sentences that set an order would flatter it, so ten set it, and it is measured on the
//! thirty others. (Of that we thought after a first look, in which the same did both.) Nor did
//! we think at first of what else an order can know: that the last layer matters. So heads
//! are drawn three times: from all layers, from all but the last, and from each layer as many
//! as the order takes there.

use std::fmt::Write;

use ablation::odds::rank_p;
use ablation::{HeadOfLayer, Replacement, drawn_alike, drawn_from};
use attention::{Rng, RowVector, SeedableRng, median};
use fused_heads::FusedAttention;
use lessons::numbers::{ends, mean};
use model_files::Sequence;
use models::encoders::Study;

use super::{minilm, texts};
use crate::quote::{Table, assert_quote, kept_quote, values};

const MATTERS: f64 = 0.01;
/// How many heads go: half of all.
const HALF: usize = 36;
/// How many sentences set an order; the others measure it.
const N_SET: usize = 10;
/// How many times heads are drawn in each way.
const N_DRAWS: u64 = 40;

#[test]
fn heads_that_can_be_removed() {
    let Some(parameters) = minilm() else {
        return kept_quote!(
            "minilm_removal",
            "minilm_removal_orders",
            "minilm_removal_values"
        );
    };
    let all: Vec<Sequence> =
        texts("sentence").into_iter().map(|text| text.sequence).collect();
    let (set, measured) = all.split_at(N_SET);
    let study = |sequences| {
        Study::new(parameters, |p| Box::new(FusedAttention::new(p)), sequences)
    };
    let (set, measured) = (study(set).unwrap(), study(measured).unwrap());
    let (n_layers, n_heads) =
        (parameters.config.n_layers, parameters.config.dims.n_heads());
    let heads: Vec<HeadOfLayer> =
        (0..n_layers).flat_map(|l| (0..n_heads).map(move |i| (l, i))).collect();

    let single: Vec<f64> =
        heads.iter().map(|head| set.loss(&[*head], Replacement::Mean).unwrap()).collect();
    assert_quote!("minilm_removal", by_layer(&single, n_heads));
    let mut order: Vec<usize> = (0..heads.len()).collect();
    order.sort_by(|&a, &b| single[a].total_cmp(&single[b]));
    let least_first = |n: usize| -> Vec<HeadOfLayer> {
        order[..n].iter().map(|&nth| heads[nth]).collect()
    };

    let whole = measured.embeddings(&[], Replacement::Mean).unwrap();
    let lost = |gone: &[HeadOfLayer]| {
        let without = measured.embeddings(gone, Replacement::Mean).unwrap();
        Lost::of(&whole, &without)
    };
    let chosen = least_first(HALF);
    let mut quoted = Vec::new();
    let rows = drawn(&chosen, [n_layers, n_heads], &lost);
    assert_quote!("minilm_removal_orders", table(&rows, &mut quoted));

    let of_last = chosen.iter().filter(|(l, _)| l + 1 == n_layers).count();
    let n_sentences = [set.layers().len(), measured.layers().len()];
    quoted.extend(singles(&single, n_heads));
    quoted.extend([
        ("removal_sentences".into(), n_sentences[0].to_string()),
        ("removal_measured".into(), n_sentences[1].to_string()),
        ("removal_draws".into(), N_DRAWS.to_string()),
        ("removal_chosen_last".into(), of_last.to_string()),
        ("removal_unrelated".into(), format!("{:.2}", 1.0 - mean(cosines(&whole)))),
    ]);
    assert_quote!("minilm_removal_values", values(&quoted));
}

/// What is lost without the chosen heads, and without as many that are drawn in three ways.
fn drawn(
    chosen: &[HeadOfLayer],
    [n_layers, n_heads]: [usize; 2],
    lost: &dyn Fn(&[HeadOfLayer]) -> Lost,
) -> [Vec<Lost>; 4] {
    let draws = |draw: &dyn Fn(&mut Rng) -> Vec<HeadOfLayer>| -> Vec<Lost> {
        (0..N_DRAWS).map(|seed| lost(&draw(&mut Rng::seed_from_u64(seed)))).collect()
    };
    [
        vec![lost(chosen)],
        draws(&|rng| drawn_from(0..n_layers, n_heads, HALF, rng)),
        draws(&|rng| drawn_from(0..n_layers - 1, n_heads, HALF, rng)),
        draws(&|rng| drawn_alike(chosen, n_heads, rng)),
    ]
}

/// What [`drawn`] found, a line a way, and its numbers.
fn table(rows: &[Vec<Lost>; 4], quoted: &mut Vec<(String, String)>) -> String {
    let own = &rows[0][0];
    let mut table = Table::new(["36 heads gone", "1 − cosine", "same nearest", "p"]);
    for (of, (key, name)) in rows.iter().zip([
        ("least", "the least costly"),
        ("all", "random, of all layers"),
        ("spared", "random, of layers 0 to 4"),
        ("alike", "random, as many of each layer"),
    ]) {
        let moved: Vec<f64> = of.iter().map(|lost| lost.moved).collect();
        let nearest = ends(of.iter().map(|lost| lost.nearest)).map(|n| format!("{n:.0}"));
        let [least, middle, most] =
            ends(moved.iter().copied()).map(|it| format!("{it:.3}"));
        let p = rank_p(-own.moved, &moved.iter().map(|it| -it).collect::<Vec<_>>());
        let [fewest, same, most_same] = nearest;
        let [moved, kept, p] = match of.len() {
            1 => [middle.clone(), same.clone(), String::new()],
            _ => [
                format!("{middle} ({least}–{most})"),
                format!("{same} ({fewest}–{most_same})"),
                format!("{p:.2}"),
            ],
        };
        table.row([name, &moved, &kept, &p]);
        for (what, value) in
            [("least", least), ("median", middle), ("most", most), ("nearest", same)]
        {
            quoted.push((format!("removal_{key}_{what}"), value));
        }
    }
    table.text()
}

/// What single heads cost: in the last layer, and at most before it.
fn singles(single: &[f64], n_heads: usize) -> [(String, String); 5] {
    let (before, last) = single.split_at(single.len() - n_heads);
    let matter = |of: &[f64]| of.iter().filter(|&&loss| loss > MATTERS).count();
    assert_eq!(matter(before), 0, "what the chapter says of them");
    let [last_least, _, last_most] = ends(last.iter().copied());
    let [_, _, before_most] = ends(before.iter().copied());
    [
        ("matter", matter(last).to_string()),
        ("heads", single.len().to_string()),
        ("last_least", format!("{last_least:.4}")),
        ("last_most", format!("{last_most:.4}")),
        ("before_most", format!("{before_most:.4}")),
    ]
    .map(|(name, value)| (format!("removal_{name}"), value))
}

/// What sentences lose, on average and as a task.
struct Lost {
    /// 1 − cosine with the vector of the whole model, on average.
    moved: f64,
    /// For how many the most similar of the other sentences is still the same.
    nearest: f64,
}

impl Lost {
    fn of(whole: &[RowVector<f32>], without: &[RowVector<f32>]) -> Self {
        let moved = whole.iter().zip(without).map(|(a, b)| 1.0 - f64::from(a.dot(b)));
        let (before, after) = (nearest(whole), nearest(without));
        let same = before.iter().zip(&after).filter(|(a, b)| a == b).count();
        Self { moved: mean(moved), nearest: same as f64 }
    }
}

/// For each sentence the most similar of the others.
fn nearest(vectors: &[RowVector<f32>]) -> Vec<usize> {
    let of = |nth: usize| {
        let others = (0..vectors.len()).filter(move |&other| other != nth);
        let cosine = |other: &usize| vectors[nth].dot(&vectors[*other]);
        others.max_by(|a, b| cosine(a).total_cmp(&cosine(b))).unwrap()
    };
    (0..vectors.len()).map(of).collect()
}

/// The cosine of every two sentences.
fn cosines(vectors: &[RowVector<f32>]) -> Vec<f64> {
    let pairs = (0..vectors.len()).flat_map(|a| (0..a).map(move |b| (a, b)));
    pairs.map(|(a, b)| f64::from(vectors[a].dot(&vectors[b]))).collect()
}

/// What each head costs by itself, a line a layer, and the layer's median.
fn by_layer(single: &[f64], n_heads: usize) -> String {
    let row = |cells: &mut dyn Iterator<Item = String>| -> String {
        cells.map(|cell| format!("{cell:>7}")).collect()
    };
    let mut table =
        format!("layer{}  median", row(&mut (0..n_heads).map(|i| i.to_string())));
    for (l, layer) in single.chunks(n_heads).enumerate() {
        let cells = row(&mut layer.iter().map(|loss| format!("{loss:.4}")));
        let _ = write!(table, "\n{l:>5}{cells}  {:.4}", median(layer.iter().copied()));
    }
    table
}

/// Vectors that stay keep their neighbours; vectors of chance do not.
#[test]
fn a_loss_is_nothing_for_what_stays_and_large_for_what_is_drawn_anew() {
    let vectors = |seed| -> Vec<RowVector<f32>> {
        let rng = &mut Rng::seed_from_u64(seed);
        let rows = attention::random_matrix::<f32>(30, 64, 1.0, rng);
        rows.row_iter().map(|row| row.into_owned().normalize()).collect()
    };
    let stays = Lost::of(&vectors(0), &vectors(0));
    assert!(stays.moved.abs() < 1e-6 && stays.nearest == 30.0);
    let other = Lost::of(&vectors(0), &vectors(1));
    assert!(
        other.moved > 0.8 && other.nearest < 6.0,
        "{} {}",
        other.moved,
        other.nearest
    );
}
