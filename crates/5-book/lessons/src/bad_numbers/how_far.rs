//! How far a number that is none gets in a head: live.

use anyhow::{Context, Result};
use attention::{Mask, Matrix, Rng, SeedableRng, random_matrix};

use super::head::{Computed, Fill, Precision, Recipe};
use super::number_maps;
use crate::live::{Control, Kind, Live, LiveView, Question, Settings};
use crate::numbers::share;

/// Draws scores, weights and output of a head at what its reader sets.
pub const LIVE: Live = Live {
    name: "bad-numbers",
    questions: &[
        Question {
            ask: "Token 2 is blocked, and a NaN in its value still reaches every query. \
                  Stop it, with the NaN and the mask left where they are.",
            is_answered: |settings, view| {
                let is_there = settings.choice("nan")? == "v";
                let is_blocked = settings.choice("mask")? == "token";
                Ok(is_there && is_blocked && view.number(NAN_OUTPUTS)? == 0.0)
            },
            answer: &[("rules", "on")],
            found: "0 · NaN is NaN, so a mask alone does not stop it. Leaving out terms \
                    whose share is 0 does.",
        },
        Question {
            ask: "Take the NaN out of the input, and get NaN all the same, in f64.",
            is_answered: |settings, view| {
                let is_clean = settings.choice("nan")? == "no";
                let is_wide = settings.choice("type")? == "f64";
                Ok(is_clean && is_wide && view.number(NAN_OUTPUTS)? > 0.0)
            },
            answer: &[("nan", "no"), ("mask", "front")],
            found: "Softmax of a row of −∞ is 0 / 0, unless a rule makes it zeros.",
        },
        Question {
            ask: "A fill of −1e9 keeps that NaN away. In which type does it come back?",
            is_answered: |settings, view| {
                let is_finite = settings.choice("fill")? == "-1e9";
                let is_clean = settings.choice("nan")? == "no";
                Ok(is_finite && is_clean && view.number(NAN_OUTPUTS)? > 0.0)
            },
            answer: &[
                ("nan", "no"),
                ("mask", "front"),
                ("fill", "-1e9"),
                ("type", "f16"),
            ],
            found: "f16 ends at 65,504. There −1e9 is −∞, and the empty row 0 / 0 again.",
        },
    ],
    weights: None,
    controls,
    draw,
    training: None,
};

/// Where the numbers hold how many outputs are NaN, after the scores and the weights.
const NAN_OUTPUTS: usize = 2;

/// How many tokens, and how many entries each has as query, key and value.
const N: usize = 4;
/// The entry that is NaN: its token, and its column.
const BROKEN: (usize, usize) = (2, 1);

fn controls() -> Vec<Control> {
    let choice = |options: &[(&str, &str)]| Kind::choice(options.iter().copied());
    let nan = choice(&[
        ("v", "value of token 2"),
        ("k", "key of token 2"),
        ("q", "query of token 2"),
        ("no", "nowhere"),
    ]);
    let mask = choice(&[
        ("token", "token 2 blocked"),
        ("none", "none"),
        ("causal", "causal"),
        ("front", "causal, tokens 0 and 1 blocked"),
    ]);
    let fill = choice(&[
        ("-inf", "−∞"),
        ("-1e9", "−1e9"),
        ("-1e4", "−1e4"),
        ("added", "−1e9 added"),
    ]);
    let types = choice(&[("f64", "f64"), ("f32", "f32"), ("f16", "f16")]);
    let times = choice(&[("1", "1"), ("10000", "10,000")]);
    vec![
        Control::new("nan", "NaN", nan),
        Control::new("mask", "Mask", mask),
        Control::new("fill", "Blocked scores", fill),
        Control::new("type", "Stored in", types),
        Control::new("times", "Queries times", times),
        Control::new(
            "rules",
            "This book's softmax and average",
            Kind::Switch { first: false },
        ),
    ]
}

fn recipe(settings: &Settings) -> Result<Recipe> {
    let mask = match settings.choice("mask")? {
        "token" => Mask::Keys((0..N).map(|key| key != BROKEN.0).collect()),
        "causal" => Mask::Causal,
        "front" => {
            let real = Mask::Keys((0..N).map(|key| key >= 2).collect());
            Mask::All(vec![Mask::Causal, real])
        }
        _ => Mask::None,
    };
    let fill = match settings.choice("fill")? {
        "-1e9" => Fill::Replaced(-1e9),
        "-1e4" => Fill::Replaced(-1e4),
        "added" => Fill::Added(-1e9),
        _ => Fill::Replaced(f64::NEG_INFINITY),
    };
    let precision = match settings.choice("type")? {
        "f16" => Precision::F16,
        "f32" => Precision::F32,
        _ => Precision::F64,
    };
    Ok(Recipe { mask, fill, precision, has_rules: settings.is_on("rules")? })
}

/// Queries, keys and values of four tokens, `[4, 4]` each, to one decimal, with the NaN.
fn inputs(settings: &Settings) -> Result<[Matrix; 3]> {
    let rng = &mut Rng::seed_from_u64(8);
    let mut inputs = [(); 3]
        .map(|()| random_matrix(N, N, 1.0, rng).map(|x: f64| (x * 10.0).round() / 10.0));
    let times = settings.choice("times")?;
    inputs[0] *= times.parse::<f64>().with_context(|| format!("{times} is a number"))?;
    let broken = settings.choice("nan")?;
    if let Some(nth) = ["q", "k", "v"].iter().position(|name| *name == broken) {
        inputs[nth][BROKEN] = f64::NAN;
    }
    Ok(inputs)
}

fn draw(settings: &Settings) -> Result<LiveView> {
    let recipe = recipe(settings)?;
    let computed = recipe.compute(&inputs(settings)?);
    let Computed { scores, attn, out } = &computed;
    let counts = [scores, attn, out].map(|it| it.iter().filter(|x| x.is_nan()).count());
    let [in_scores, in_weights, in_outputs] = counts;
    let cells = N * N;
    let title = format!(
        "NaN in {in_scores} of {cells} scores, {in_weights} of {cells} weights and \
         {in_outputs} of {cells} entries of the output"
    );
    let rows: Vec<String> = (0..N).map(|query| format!("query {query}")).collect();
    let columns: Vec<String> = (0..N).map(|column| column.to_string()).collect();
    let named = [("scores", scores), ("weights", attn), ("output", out)];
    let figure = number_maps::figure(title, &rows, &columns, &named)?;
    let place = match settings.choice("nan")? {
        "v" => "One entry of token 2's value is NaN",
        "k" => "One entry of token 2's key is NaN",
        "q" => "One entry of token 2's query is NaN",
        _ => "All inputs are finite",
    };
    let blocked = blocked(&recipe.mask, attn);
    let words = format!(
        "{place}. NaN has reached {}. {}{}",
        reached(out),
        told(&blocked),
        empty_rows(&recipe.mask, attn)
    );
    let numbers = counts.map(|count| count as f64).into_iter();
    Ok(LiveView { figure, words, numbers: numbers.collect() })
}

/// `the output of queries 0 and 3`.
fn reached(out: &Matrix) -> String {
    let is_nan = |query: &usize| out.row(*query).iter().any(|x| x.is_nan());
    let queries: Vec<String> =
        (0..N).filter(is_nan).map(|query| query.to_string()).collect();
    match queries.as_slice() {
        [] => "no output".to_owned(),
        [query] => format!("the output of query {query}"),
        all if all.len() == N => "the output of every query".to_owned(),
        [first @ .., last] => {
            format!("the output of queries {} and {last}", first.join(", "))
        }
    }
}

/// The weights of the blocked pairs.
fn blocked(mask: &Mask, attn: &Matrix) -> Vec<f64> {
    let pairs = (0..N).flat_map(|i| (0..N).map(move |j| (i, j)));
    let blocked = pairs.filter(|&at| mask.added(at, (N, N)).is_none());
    blocked.map(|at| attn[at]).collect()
}

fn told(blocked: &[f64]) -> String {
    let n_nan = blocked.iter().filter(|weight| weight.is_nan()).count();
    match blocked.iter().copied().fold(0.0, f64::max) {
        _ if blocked.is_empty() => "Nothing is blocked.".to_owned(),
        _ if n_nan == blocked.len() => "Every blocked pair has weight NaN.".to_owned(),
        0.0 if n_nan > 0 => "Blocked pairs have weight 0 or NaN.".to_owned(),
        0.0 => "Every blocked pair has weight 0.".to_owned(),
        most => format!("The largest weight of a blocked pair is {}.", share(most)),
    }
}

/// What the rows without a key became, if there are such.
fn empty_rows(mask: &Mask, attn: &Matrix) -> String {
    let is_empty = |i: &usize| (0..N).all(|j| mask.added((*i, j), (N, N)).is_none());
    let rows = (0..N).filter(is_empty).map(|i| {
        let row = attn.row(i);
        let even = row.iter().all(|weight| (weight - 1.0 / N as f64).abs() < 1e-3);
        let weights = match row.sum() {
            sum if sum.is_nan() => "NaN",
            0.0 => "zeros",
            _ if even => "an even share each",
            _ => "uneven shares",
        };
        format!(" Query {i} may attend to nothing, and its weights are {weights}.")
    });
    rows.collect()
}

#[cfg(test)]
mod tests;
