//! What the vector of a sentence loses without heads.
//!
//! Fixed before: a head *matters* if its removal alone costs more than .01 on average over
//! the sentences; an order of removal is *better than chance* if with half of all heads gone
//! it has lost less than each of five random orders.
//!
//! Sentences that set an order would flatter it, so ten set it, and it is measured on
//! twenty others. (Of that we thought after a first look, in which the same twenty did both.)

use std::fmt::Write;

use attention::{Rng, SeedableRng};
use encoders::Study;
use fused_heads::FusedAttention;
use model_files::Sequence;
use rand::RngExt;
use training::Replacement;

use super::{minilm, texts};
use crate::quote::{assert_quote, kept_quote, values};

const MATTERS: f64 = 0.01;
/// How many heads go in the three steps of an order.
const STEPS: [usize; 3] = [18, 36, 54];
/// How many sentences set an order; as many again and more measure it.
const N_SET: usize = 10;
const N_MEASURED: usize = 20;

type Head = (usize, usize);

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
    let (set, measured) = all[..N_SET + N_MEASURED].split_at(N_SET);
    let study = |sequences| {
        Study::new(parameters, |p| Box::new(FusedAttention::new(p)), sequences)
    };
    let (set, measured) = (study(set).unwrap(), study(measured).unwrap());
    let (n_layers, n_heads) =
        (parameters.config.n_layers, parameters.config.dims.n_heads());
    let heads: Vec<Head> =
        (0..n_layers).flat_map(|l| (0..n_heads).map(move |i| (l, i))).collect();

    let mut found = vec![
        ("removal_sentences".to_owned(), set.layers().len().to_string()),
        ("removal_measured".into(), measured.layers().len().to_string()),
    ];
    let (mut singles, mut curves) = (String::new(), String::new());
    for (name, how) in [("zero", Replacement::Zero), ("mean", Replacement::Mean)] {
        let single: Vec<f64> =
            heads.iter().map(|head| set.loss(&[*head], how).unwrap()).collect();
        singles += &by_layer(name, &single, n_heads);

        let orders = orders(&single);
        let jobs = (0..orders.len()).flat_map(|order| STEPS.map(|n| (order, n)));
        let lost: Vec<f64> = jobs
            .map(|(order, n)| {
                let gone: Vec<Head> =
                    orders[order][..n].iter().map(|&i| heads[i]).collect();
                measured.loss(&gone, how).unwrap()
            })
            .collect();
        curves += &by_order(name, &lost);

        let [least_first, smallest, largest] = at_half(&lost);
        let matter = single.iter().filter(|&&loss| loss > MATTERS).count();
        let worst = orders[0][heads.len() - 1];
        let (layer, head) = heads[worst];
        for (what, value) in [
            ("matter", matter.to_string()),
            ("worst", format!("{layer}.{head}")),
            ("worst_loss", format!("{:.3}", single[worst])),
            ("half_least", format!("{least_first:.3}")),
            ("half_random_least", format!("{smallest:.3}")),
            ("half_random_most", format!("{largest:.3}")),
        ] {
            found.push((format!("removal_{name}_{what}"), value));
        }
    }
    assert_quote!("minilm_removal", singles.trim_end());
    assert_quote!("minilm_removal_orders", curves.trim_end());
    assert_quote!("minilm_removal_values", values(&found));
}

/// The heads by what each costs alone, the least first, and in five random orders.
fn orders(single: &[f64]) -> Vec<Vec<usize>> {
    let mut by_importance: Vec<usize> = (0..single.len()).collect();
    by_importance.sort_by(|&a, &b| single[a].total_cmp(&single[b]));
    let mut orders = vec![by_importance];
    orders.extend((0..5).map(|seed| shuffled(single.len(), seed)));
    orders
}

/// What is lost with half of all heads gone: in the order by importance, and the least and
/// the most in a random one.
fn at_half(lost: &[f64]) -> [f64; 3] {
    let at_half: Vec<f64> = lost.chunks(STEPS.len()).map(|curve| curve[1]).collect();
    let random = at_half[1..].iter().copied();
    let least = random.clone().fold(f64::INFINITY, f64::min);
    [at_half[0], least, random.fold(0.0, f64::max)]
}

/// What each head costs by itself, a line a layer.
fn by_layer(name: &str, single: &[f64], n_heads: usize) -> String {
    let mut table = format!("{name:<6}");
    table += &row((0..n_heads).map(|i| i.to_string()));
    for (l, layer) in single.chunks(n_heads).enumerate() {
        let _ = write!(table, "\n{l:>5} ");
        table += &row(layer.iter().map(|loss| format!("{loss:.4}")));
    }
    table + "\n\n"
}

/// What is lost step by step, a line an order.
fn by_order(name: &str, lost: &[f64]) -> String {
    let mut table = format!("{name:<12}");
    table += &row(STEPS.iter().map(usize::to_string));
    for (order, curve) in lost.chunks(STEPS.len()).enumerate() {
        let label = match order {
            0 => "least first".to_owned(),
            seed => format!("random {}", seed - 1),
        };
        let _ = write!(table, "\n{label:<12}");
        table += &row(curve.iter().map(|loss| format!("{loss:.3}")));
    }
    table + "\n\n"
}

fn row(cells: impl Iterator<Item = String>) -> String {
    cells.map(|cell| format!("{cell:>7}")).collect()
}

/// 0 to n − 1 in a random order.
fn shuffled(n: usize, seed: u64) -> Vec<usize> {
    let rng = &mut Rng::seed_from_u64(seed);
    let mut order: Vec<usize> = (0..n).collect();
    for last in (1..n).rev() {
        order.swap(last, rng.random_range(0..=last));
    }
    order
}
