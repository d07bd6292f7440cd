//! A row of products q · k, divided by √d_k and by a temperature: live.

use anyhow::Result;
use attention::{Matrix, softmax_rows};
use figures::{
    Axis, Chart, Figure, Grouping, Mark, NEUTRAL, Panel, Table, legend_room, palette,
    share,
};

use crate::live::{LiveFigure, LiveView, Question, Settings, live};
use crate::numbers::entropy;

/// Draws the row at what its reader sets.
pub(crate) const LIVE: LiveFigure<Set, Facts> =
    LiveFigure::new("scale-and-temperature", draw, QUESTIONS);

const QUESTIONS: &[Question<Set, Facts>] = &[
    Question {
        ask: "Which temperature makes the divided row as sharp as the undivided one? Drag the \
              dot of the temperature.",
        is_answered: |_, it| (it.bits[0] - it.bits[2]).abs() < 0.1,
        answer: |set| set.temperature = 0.1768,
        found: "A temperature of 1/√d_k takes the division back: both are one factor.",
    },
    Question {
        ask: "The products stay as they are. How wide must the head be at least for the \
              divided row to give no word more than 0.3?",
        is_answered: |set, it| {
            let is_first = set.products == Set::first().products;
            is_first && (0.29..=0.3).contains(&largest(&it.shares[1]))
        },
        answer: |set| set.d_k = 256,
        found: "√d_k only suits products that grow with it: those that do not are made \
                even.",
    },
];

/// The keys.
pub const WORDS: [&str; 5] = ["pilot", "flew", "plane", "to", "paris"];
/// What the query has as products with them first.
pub const PRODUCTS: [f64; 5] = [12.0, 3.0, 8.0, -4.0, 6.0];

/// The hottest, and the widest head that can be dragged to.
const HOTTEST: f64 = 3.0;
const WIDEST: f64 = 600.0;

live! {
    struct Set {
        products: Matrix = "Products", matrix(
            ["q · k"], WORDS, 1000.0, Matrix::from_row_slice(1, PRODUCTS.len(), &PRODUCTS),
        );
        d_k: usize = "d_k", count([1, 4096], 32);
        temperature: f64 = "Temperature", number([0.1, HOTTEST], 0.01, 2.0);
    }

    /// Of the row that is not divided, that which is divided, and that with the temperature.
    struct Facts { shares: [Vec<f64>; 3], bits: [f64; 3] }
}

fn draw(set: &Set) -> Result<LiveView<Facts>> {
    let Set { products, d_k, temperature } = set;
    let scores = products / (*d_k as f64).sqrt();
    let rows =
        [products.clone(), scores.clone(), scores / *temperature].map(softmax_rows);
    let bits = rows.each_ref().map(|row| entropy(row.iter().copied()));
    let (most, word) = rows[2]
        .iter()
        .copied()
        .zip(WORDS)
        .fold((0.0, ""), |a, b| if b.0 > a.0 { b } else { a });
    let words = format!(
        "Undivided the row has {:.2} bits of entropy, divided by √{d_k} {:.2}, and with the \
         temperature {:.2}: {word} gets {most:.3}.",
        bits[0], bits[1], bits[2]
    );
    let shares = rows.map(|row| row.iter().copied().collect());
    let facts = Facts { shares, bits };
    Ok(LiveView { figure: figure(set, &facts)?, words, facts })
}

fn largest(row: &[f64]) -> f64 {
    row.iter().copied().fold(0.0, f64::max)
}

/// The products, which are dragged, over what becomes of them: three rows of weights, and
/// how sharp a row is at each width and at each temperature.
fn figure(set: &Set, facts: &Facts) -> figures::Result<Figure> {
    let d_k = set.d_k as f64;
    let names = [
        "not divided".to_owned(),
        format!("divided by √{}", set.d_k),
        format!("and by a temperature of {}", set.temperature),
    ];
    let words = WORDS.map(str::to_owned);
    let across = || Axis::across(&words, 12);
    // Fixed while a bar is dragged within it.
    let ends = [set.products.min().min(-14.0), set.products.max().max(20.0)];
    let widest = WIDEST.max(d_k);
    let panel = |name: &str, x: Axis, y: Axis| Panel::new(name, x, y, 118.0);
    let products = across();
    let [width, heat] = [Axis::numbers(widest).titled("d_k"), Axis::numbers(HOTTEST)];
    let weights =
        facts.shares.iter().zip(&names).enumerate().map(|(nth, (row, name))| {
            let bars = Mark::bars(row.iter().map(|&it| figures::rounded(it)));
            bars.named(name).coloured(row_colour(nth))
        });
    Chart::new("The same products: undivided, divided by √d_k, and by a temperature too")
        .panel(
            panel("products q · k: drag a bar", products, Axis::between(ends)),
            bars(set, ends),
        )
        .panel(panel("attention weights", across(), Axis::numbers(1.0)), weights)
        .panel(
            panel("largest weight, by width: drag the dot", width, Axis::numbers(1.05)),
            by_width(set, facts, widest),
        )
        .panel(
            panel(
                "bits of entropy, by temperature: drag the dot",
                heat.titled("temperature"),
                Axis::numbers(2.9),
            ),
            by_temperature(set, facts),
        )
        .columns(2)
        .below(36.0)
        .above(legend_room(names.iter().map(String::as_str), 8.0))
        .grouped(Grouping::Beside)
        .bar_gap(0.25)
        .says(format!(
            "Bars of the products and of three rows of attention weights: {}.",
            names.join(", ")
        ))
        .tables([Table::grid("Attention weight", "token", &words, &names, |at, row| {
            share(facts.shares[row][at])
        })])
        .figure()
}

/// The products, each with its number beyond its bar.
fn bars(set: &Set, [least, most]: [f64; 2]) -> [Mark; 2] {
    let products = || set.products.iter().copied();
    let keys = (0..WORDS.len()).map(|nth| format!("products.0.{nth}"));
    let bars = Mark::bars(products()).coloured(NEUTRAL).in_legend(false);
    let apart = 0.2 * (most - least);
    let beyond = products().map(|it| it + if it < 0.0 { -apart } else { apart });
    let numbers = Mark::texts(
        0..WORDS.len(),
        beyond,
        products().map(|it| it.to_string().replace('-', "−")),
    );
    [bars.dragged_along_y(keys), numbers.in_legend(false).silent().unclipped()]
}

/// A curve, a level with its name, and the dot that is dragged along the curve, with what it
/// says.
fn curve(
    points: &[[f64; 2]],
    (level, named): (f64, String),
    ([x, y], says): ([f64; 2], String),
    (key, nth): (&str, usize),
) -> Vec<Mark> {
    let ends = [points[0][0], points[points.len() - 1][0]];
    let side = if x < 0.5 * ends[1] { "right" } else { "left" };
    let height = if y > 2.0 { "bottom" } else { "top" };
    let dot = Mark::points([x], [y]).sized(18).coloured(row_colour(nth));
    let dot = dot.written([says], &format!("{height} {side}")).text_size(13);
    let named = Mark::texts([ends[1]], [level], [named]).placed("top left");
    vec![
        Mark::rule(ends.map(|x| [x, level])),
        named.in_legend(false).silent(),
        Mark::curve(points).line(row_colour(nth), 2.0).in_legend(false).silent(),
        dot.in_legend(false).silent().dragged_along_x(key).unclipped(),
    ]
}

/// Of the undivided row, the divided one, and the one with a temperature.
fn row_colour(nth: usize) -> &'static str {
    palette::beside_wrong([0, 2, 4][nth])
}

/// The largest weight of the divided row, with a level at 0.3.
fn by_width(set: &Set, facts: &Facts, widest: f64) -> Vec<Mark> {
    let at = |d_k: f64| largest(softmax_rows(&set.products / d_k.sqrt()).as_slice());
    let points: Vec<[f64; 2]> = (0..=120)
        .map(|nth| (widest * f64::from(nth) / 120.0).max(1.0))
        .map(|x| [x, at(x)])
        .collect();
    let most = largest(&facts.shares[1]);
    let dot = ([set.d_k as f64, most], format!("{most:.2} at {} wide", set.d_k));
    curve(&points, (0.3, "0.3".to_owned()), dot, ("d_k", 1))
}

/// The entropy of the divided row, with a level at that of the undivided one.
fn by_temperature(set: &Set, facts: &Facts) -> Vec<Mark> {
    let scores = &set.products / (set.d_k as f64).sqrt();
    let at = |heat: f64| entropy(softmax_rows(&scores / heat).iter().copied());
    let points: Vec<[f64; 2]> = (4..=160)
        .map(|nth| f64::from(nth) * HOTTEST / 160.0)
        .map(|x| [x, at(x)])
        .collect();
    let [undivided, _, bits] = facts.bits;
    let dot = ([set.temperature, bits], format!("{bits:.2} bits at {}", set.temperature));
    let level = (undivided, format!("undivided: {undivided:.2} bits"));
    curve(&points, level, dot, ("temperature", 2))
}
