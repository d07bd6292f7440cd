//! How far a number that is none gets in a head: live.

use anyhow::Result;
use attention::{Mask, Matrix, Rng, SeedableRng, random_matrix};
use figures::{
    Axis, Chart, Figure, Panel, Table, by_cell, label_width, palette, share_map,
};

use super::head::{Computed, Fill, Precision, Recipe};
use super::number_maps;
use crate::live::{LiveFigure, LiveView, Question, live};
use crate::numbers::share;

/// Draws scores, weights and output of a head at what its reader sets.
pub(crate) const LIVE: LiveFigure<Set, Facts> =
    LiveFigure::new("bad-numbers", draw, QUESTIONS);

const QUESTIONS: &[Question<Set, Facts>] = &[
    Question {
        ask: "Token 2 is blocked, and a NaN in its value still reaches every query. Stop \
              it, with the NaN and the mask left where they are.",
        is_answered: |set, it| {
            set.nan == Some(VALUE) && set.mask == Blocked::Token && it.in_outputs == 0
        },
        answer: |set| set.rules = true,
        found: "0 · NaN is NaN, so a mask alone does not stop it. Leaving out terms \
                whose attention weight is 0 does.",
    },
    Question {
        ask: "Take the NaN out of the input, and get NaN all the same, in f64.",
        is_answered: |set, it| {
            set.nan.is_none() && set.r#type == Precision::F64 && it.in_outputs > 0
        },
        answer: |set| (set.nan, set.mask) = (None, Blocked::Front),
        found: "Softmax of a row of −∞ is 0 / 0, unless a rule makes it zeros.",
    },
    Question {
        ask: "A fill of −1e9 keeps that NaN away. In which type does it come back?",
        is_answered: |set, it| {
            let is_as_asked = set.nan.is_none() && set.fill == Fill::Replaced(-1e9);
            is_as_asked && it.in_outputs > 0
        },
        answer: |set| {
            (set.nan, set.mask) = (None, Blocked::Front);
            (set.fill, set.r#type) = (Fill::Replaced(-1e9), Precision::F16);
        },
        found: "f16 ends at 65,504. There −1e9 is −∞, and the empty row 0 / 0 again.",
    },
];

/// How many tokens, and how many entries each has as query, key and value.
const N: usize = 4;
/// The entry that is NaN: its token, and its column.
const BROKEN: (usize, usize) = (2, 1);

/// Of a row of a map, in pixels.
const ROW: f64 = 30.0;

/// The value, among query, key and value.
const VALUE: usize = 2;

/// Which pairs are blocked.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Blocked {
    /// Those with the broken token's key.
    Token,
    Nothing,
    Causal,
    /// Those and the first two keys, so that two queries have none.
    Front,
}

live! {
    struct Set {
        nan: Option<usize> = "NaN", choice([
            ("v", "value of token 2", Some(VALUE)),
            ("k", "key of token 2", Some(1)),
            ("q", "query of token 2", Some(0)),
            ("no", "nowhere", None),
        ]);
        mask: Blocked = "Mask", choice([
            ("token", "token 2 blocked", Blocked::Token),
            ("none", "none", Blocked::Nothing),
            ("causal", "causal", Blocked::Causal),
            ("front", "causal, tokens 0 and 1 blocked", Blocked::Front),
        ]);
        fill: Fill = "Blocked scores", choice([
            ("-inf", "−∞", Fill::Replaced(f64::NEG_INFINITY)),
            ("-1e9", "−1e9", Fill::Replaced(-1e9)),
            ("-1e4", "−1e4", Fill::Replaced(-1e4)),
            ("added", "−1e9 added", Fill::Added(-1e9)),
        ]);
        r#type: Precision = "Stored in", choice([
            ("f64", "f64", Precision::F64),
            ("f32", "f32", Precision::F32),
            ("f16", "f16", Precision::F16),
        ]);
        times: f64 = "Queries times", choice([("1", "1", 1.0), ("10000", "10,000", 1e4)]);
        rules: bool = "This book's softmax and average", switch(false);
    }

    /// How many entries of the output are NaN.
    struct Facts { in_outputs: usize }
}

impl Set {
    fn recipe(&self) -> Recipe {
        let mask = match self.mask {
            Blocked::Token => Mask::Keys((0..N).map(|key| key != BROKEN.0).collect()),
            Blocked::Nothing => Mask::None,
            Blocked::Causal => Mask::Causal,
            Blocked::Front => {
                let real = Mask::Keys((0..N).map(|key| key >= 2).collect());
                Mask::All(vec![Mask::Causal, real])
            }
        };
        Recipe { mask, fill: self.fill, precision: self.r#type, has_rules: self.rules }
    }

    /// What a press on a cell of the `nth` map sets: the place of the NaN; a mask under which
    /// the pair is blocked, or none; and of a blocked pair's weight, whether it is left out.
    fn pressed(&self, nth: usize, at: (usize, usize)) -> String {
        let is_blocked = self.recipe().mask.added(at, (N, N)).is_none();
        let mask = match at {
            _ if is_blocked => "none",
            (_, 2) => "token",
            (query, key) if key > query => "causal",
            (_, key) if key < 2 => "front",
            _ => return String::new(),
        };
        match nth {
            0..3 if at == BROKEN && self.nan == Some(nth) => "nan=no".to_owned(),
            0..3 if at == BROKEN => format!("nan={}", ["q", "k", "v"][nth]),
            3 => format!("mask={mask}"),
            4 if is_blocked => format!("rules={}", if self.rules { "off" } else { "on" }),
            _ => String::new(),
        }
    }

    /// Queries, keys and values of four tokens, `[4, 4]` each, to one decimal, with the NaN.
    fn inputs(&self) -> [Matrix; 3] {
        let rng = &mut Rng::seed_from_u64(8);
        let round = |x: f64| (x * 10.0).round() / 10.0;
        let mut inputs = [(); 3].map(|()| random_matrix(N, N, 1.0, rng).map(round));
        inputs[0] *= self.times;
        if let Some(nth) = self.nan {
            inputs[nth][BROKEN] = f64::NAN;
        }
        inputs
    }
}

fn draw(set: &Set) -> Result<LiveView<Facts>> {
    let recipe = set.recipe();
    let inputs = set.inputs();
    let computed = recipe.compute(&inputs);
    let Computed { scores, attn, out } = &computed;
    let counts = [scores, attn, out].map(|it| it.iter().filter(|x| x.is_nan()).count());
    let [in_scores, in_weights, in_outputs] = counts;
    let cells = N * N;
    let title = format!(
        "NaN in {in_scores} of {cells} scores, {in_weights} of {cells} attention weights \
         and {in_outputs} of {cells} entries of the output"
    );
    let figure = figure(title, set, &inputs, &computed)?;
    let place = match set.nan {
        Some(VALUE) => "One entry of token 2's value is NaN",
        Some(1) => "One entry of token 2's key is NaN",
        Some(_) => "One entry of token 2's query is NaN",
        None => "All inputs are finite",
    };
    let blocked = blocked(&recipe.mask, attn);
    let words = format!(
        "{place}. NaN has reached {}. {}{}",
        reached(out),
        blocked_words(&blocked),
        empty_rows(&recipe.mask, attn)
    );
    Ok(LiveView { figure, words, facts: Facts { in_outputs } })
}

/// The inputs above what is computed from them. Pressed are the place of the NaN in each
/// input, scores, and attention weights of blocked pairs.
fn figure(
    title: String,
    set: &Set,
    [q, k, v]: &[Matrix; 3],
    Computed { scores, attn, out }: &Computed,
) -> Result<Figure> {
    let names = |what: &str| (0..N).map(|at| format!("{what} {at}")).collect::<Vec<_>>();
    let (tokens, queries) = (names("token"), names("query"));
    let columns: Vec<String> = (0..N).map(|column| column.to_string()).collect();
    let named = [
        ("queries Q", q, &tokens, &columns),
        ("keys K", k, &tokens, &columns),
        ("values V", v, &tokens, &columns),
        ("scores Q Kᵀ / √d_k, by key", scores, &queries, &columns),
        ("attention weights, by key", attn, &queries, &columns),
        ("output: weights times V", out, &queries, &columns),
    ];
    let mut chart = Chart::new(title)
        .columns(3)
        .narrow_columns(2)
        .left(label_width(&queries, 12))
        .below(20.0);
    for (nth, (name, entries, rows, columns)) in named.into_iter().enumerate() {
        let (x, y) = (Axis::across(columns, 12), Axis::down(rows, 12));
        let pressed = match nth {
            0 => "queries Q: click the frame",
            3 => "scores: click one to block it",
            4 => "weights: click a blocked one",
            _ => name,
        };
        let panel = Panel::new(pressed, x, y, ROW * N as f64);
        let marks = number_maps::marks_of(nth, name, entries);
        let marks = marks.map(|mark| {
            mark.text_size(13).sets(by_cell((N, N), |i, j| set.pressed(nth, (i, j))))
        });
        let (row, column) = BROKEN;
        let framed = (nth < 3).then(|| share_map::frame([column; 2], [row; 2]));
        let is_nan = set.nan == Some(nth);
        let colour = if is_nan { palette::wrong() } else { "currentColor" };
        let framed = framed.map(|mark| mark.line(colour, 2.0).dashed("dot"));
        chart =
            chart.panel(panel, marks.into_iter().chain(framed)).tables([Table::grid(
                name,
                "",
                rows,
                columns,
                |i, j| number_maps::written(entries[(i, j)]),
            )]);
    }
    let counts = named.map(|(name, entries, ..)| number_maps::counted(name, entries));
    let says = format!("Maps of numbers. {}.", counts.join(". "));
    Ok(chart.captioned().says(says).figure()?)
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

fn blocked_words(blocked: &[f64]) -> String {
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
            _ if even => "all equal",
            _ => "uneven",
        };
        format!(" Query {i} may attend to nothing, and its weights are {weights}.")
    });
    rows.collect()
}

#[cfg(test)]
mod tests;
