//! A softmax whose scores arrive in blocks: a slider through the blocks.

use plotly::common::{HoverInfo, Line, Marker, Mode};
use plotly::layout::Axis;
use plotly::{Bar, Scatter};
use serde_json::{Value, json, to_value};

use attention::Error as SizeError;

use crate::layout::{NEUTRAL, axis_title, number_axis, rounded, with};
use crate::panels::{self, GAP, NARROW, Panel, Place, WIDE, axis_name};
use crate::{Error, Figure, Result, Table, palette, sketch};

/// The most keys that one figure takes.
const MOST_KEYS: usize = 16;

/// Room for the slider, in pixels.
const SLIDER: f64 = 62.0;

/// One query's scores and values, and what is kept of them block by block.
#[derive(Debug, Clone, Copy)]
pub struct OnlineSteps<'a> {
    /// The query's score with each key.
    pub scores: &'a [f64],
    /// Each key's value, one number.
    pub values: &'a [f64],
    /// What is kept after each block.
    pub steps: &'a [OnlineStep],
}

/// What is kept after a block.
#[derive(Debug, Clone, PartialEq)]
pub struct OnlineStep {
    /// How many keys were seen, this block's among them.
    pub n_seen: usize,
    /// m, the largest score so far.
    pub maximum: f64,
    /// c = exp(m before − m), 0 in the first block.
    pub correction: f64,
    /// exp(s − m) of each key seen.
    pub counts: Vec<f64>,
    /// l, their sum.
    pub sum: f64,
    /// o, the sum of count times value.
    pub out: f64,
    /// o / l.
    pub average: f64,
}

/// Scores, what each key counts, and the running numbers with the sums that they come
/// from. The first block is shown first.
///
/// # Errors
/// [`Error::Sizes`] for no keys or blocks; [`Error::TooMany`] above 16 keys;
/// [`Error::Length`] for lists that do not fit; [`Error::Number`] for a score, value or
/// running number that is not finite.
pub fn online_softmax(title: impl Into<String>, it: OnlineSteps) -> Result<Figure> {
    check(it)?;
    let table = table(it);
    Ok(Figure {
        title: title.into(),
        alternative: told(it),
        sketch: sketched(it, &table),
        tables: vec![table],
        traces: (0..it.steps.len()).flat_map(|nth| traces(it, nth)).collect(),
        wide: layout(it, WIDE, 2),
        narrow: layout(it, NARROW, 1),
        notebook: None,
    })
}

fn check(OnlineSteps { scores, values, steps }: OnlineSteps) -> Result<()> {
    SizeError::expect_positive("the number of keys", scores.len())?;
    SizeError::expect_positive("the number of blocks", steps.len())?;
    Error::expect_at_most("keys", scores.len(), MOST_KEYS)?;
    Error::expect_length("the list of values", values.len(), scores.len())?;
    let finite = [f64::NEG_INFINITY, f64::INFINITY];
    for &number in scores.iter().chain(values) {
        Error::expect_between("a score or value", number, finite)?;
    }
    let mut before = 0;
    for (nth, step) in steps.iter().enumerate() {
        let what = format!("the list of counts after block {}", nth + 1);
        Error::expect_length(what, step.counts.len(), step.n_seen)?;
        let what = format!("the number of keys seen after block {}", nth + 1);
        let range = [before as f64 + 1.0, scores.len() as f64];
        Error::expect_between(what, step.n_seen as f64, range)?;
        for number in [step.maximum, step.correction, step.sum, step.out, step.average] {
            let what = format!("a running number after block {}", nth + 1);
            Error::expect_between(what, number, finite)?;
        }
        before = step.n_seen;
    }
    Ok(())
}

/// Where the keys of block `nth` begin.
fn first_of(steps: &[OnlineStep], nth: usize) -> usize {
    nth.checked_sub(1).map_or(0, |before| steps[before].n_seen)
}

/// A number of a sum: at most two decimals.
fn short(number: f64) -> String {
    let text = format!("{:.2}", number + 0.0);
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.replace('-', "−") }
}

fn traces(it: OnlineSteps, nth: usize) -> Vec<Value> {
    let OnlineSteps { scores, values, steps } = it;
    let (step, first) = (&steps[nth], first_of(steps, nth));
    let colour = |key: usize| match key {
        key if key < first => palette::head(0),
        key if key < step.n_seen => palette::head(1),
        _ => crate::layout::FAINT,
    };
    let bars = |heights: &[f64], panel: usize, told: Vec<String>| {
        Bar::new(
            (0..heights.len()).collect(),
            heights.iter().map(|&y| rounded(y)).collect(),
        )
        .x_axis(axis_name("x", panel))
        .y_axis(axis_name("y", panel))
        .marker(Marker::new().color_array((0..heights.len()).map(colour).collect()))
        .hover_text_array(told)
        .hover_info(HoverInfo::Text)
    };
    let keys = || scores.iter().zip(values).enumerate();
    let told = keys().map(|(j, (s, v))| {
        format!("key {j}<br>score {}, value {}", short(*s), short(*v))
    });
    let counted = step.counts.iter().enumerate().map(|(j, count)| {
        format!("key {j} counts {}<br>its value is {}", short(*count), short(values[j]))
    });
    let maximum = Scatter::new(
        vec![-0.5, scores.len() as f64 - 0.5],
        vec![rounded(step.maximum); 2],
    )
    .mode(Mode::Lines)
    .line(Line::new().color(NEUTRAL).width(1.5))
    .hover_info(HoverInfo::Skip);
    let lines = sums(it, nth);
    let text = Scatter::new(vec![0.0; lines.len()], (0..lines.len()).collect())
        .mode(Mode::Text)
        .x_axis("x3")
        .y_axis("y3")
        .text_array(lines)
        .hover_info(HoverInfo::Skip);
    let shown = || ("visible", json!(nth == 0));
    vec![
        with(to_value(bars(scores, 0, told.collect())), [shown()]),
        with(to_value(maximum), [shown()]),
        with(to_value(bars(&step.counts, 1, counted.collect())), [shown()]),
        with(
            to_value(text),
            [
                shown(),
                ("textposition", json!("middle right")),
                ("cliponaxis", json!(false)),
            ],
        ),
    ]
}

/// How each running number comes from the one before and the block.
fn sums(OnlineSteps { scores, values, steps }: OnlineSteps, nth: usize) -> Vec<String> {
    let (step, first) = (&steps[nth], first_of(steps, nth));
    let block = first..step.n_seen;
    let join = |parts: Vec<String>, with: &str| parts.join(with);
    let scored = join(block.clone().map(|j| short(scores[j])).collect(), ", ");
    let counts = join(block.clone().map(|j| short(step.counts[j])).collect(), " + ");
    let product = |j: usize| format!("{} · {}", short(step.counts[j]), short(values[j]));
    let products = join(block.map(product).collect(), " + ");
    let (m, c) = (short(step.maximum), short(step.correction));
    let before = nth.checked_sub(1).map(|before| &steps[before]);
    let (m_before, l_before, o_before) = match before {
        None => ("−∞".to_owned(), "0".to_owned(), "0".to_owned()),
        Some(it) => (short(it.maximum), short(it.sum), short(it.out)),
    };
    vec![
        format!("m = max({m_before}, {scored}) = {m}"),
        format!("c = exp({m_before} − {m}) = {c}"),
        format!("l = {c} · {l_before} + {counts} = {}", short(step.sum)),
        format!("o = {c} · {o_before} + {products} = {}", short(step.out)),
        format!("o / l = {}", short(step.average)),
    ]
}

fn layout(it: OnlineSteps, width: f64, n_columns: usize) -> Value {
    let OnlineSteps { scores, steps, .. } = it;
    let place =
        Place { width, n_columns, left: 34.0, left_once: false, below: 38.0, above: 0.0 };
    let keys = || -> Axis {
        number_axis(1.0, "")
            .range(vec![-0.5, scores.len() as f64 - 0.5])
            .tick_values((0..scores.len()).map(|j| j as f64).collect())
            .title(axis_title("key"))
            .show_grid(false)
    };
    let hidden = |range| Axis::new().range(range).visible(false).fixed_range(true);
    let most = scores.iter().copied().fold(0.1, f64::max);
    let least = scores.iter().copied().fold(0.0, f64::min);
    let n_lines = sums(it, 0).len() as f64;
    let panels = vec![
        Panel {
            title: "scores s, and m as a line".to_owned(),
            x: keys(),
            y: number_axis(1.0, "")
                .range(vec![rounded(least * 1.08), rounded(most * 1.08)]),
            width: None,
            height: 130.0,
        },
        Panel {
            title: "what each key counts, exp(s − m)".to_owned(),
            x: keys(),
            y: number_axis(1.08, ""),
            width: None,
            height: 130.0,
        },
        Panel {
            title: String::new(),
            x: hidden(vec![0.0, 1.0]),
            y: hidden(vec![n_lines - 0.5, -0.5]),
            width: Some(width - place.left - GAP),
            height: n_lines * 20.0,
        },
    ];
    let mut layout = panels::layout(panels, &place);
    for path in ["/height", "/margin/b"] {
        if let Some(size) = layout.pointer_mut(path) {
            // The last panel has no labels below it.
            *size = json!(size.as_f64().unwrap_or(0.0) + SLIDER - place.below);
        }
    }
    let n_traces = traces(it, 0).len();
    let slide = |nth: usize| {
        let shown = |at: usize| at / n_traces == nth;
        let visible: Vec<bool> = (0..steps.len() * n_traces).map(shown).collect();
        json!({
            "label": (nth + 1).to_string(),
            "method": "restyle",
            "args": ["visible", visible],
        })
    };
    layout["sliders"] = json!([{
        "active": 0,
        "currentvalue": { "prefix": "block ", "font": { "size": 12 } },
        "font": { "size": 10 },
        "x": 0, "len": 1, "xanchor": "left",
        "y": 0, "yanchor": "top",
        "pad": { "t": 6, "b": 0 },
        "ticklen": 3,
        "steps": (0..steps.len()).map(slide).collect::<Vec<_>>(),
    }]);
    layout
}

fn table(OnlineSteps { scores, steps, .. }: OnlineSteps) -> Table {
    let row = |(nth, step): (usize, &OnlineStep)| {
        let seen = first_of(steps, nth)..step.n_seen;
        let seen: Vec<String> = seen.map(|j| short(scores[j])).collect();
        [
            (nth + 1).to_string(),
            seen.join(", "),
            short(step.maximum),
            short(step.correction),
            short(step.sum),
            short(step.out),
            short(step.average),
        ]
    };
    let columns = ["block", "scores", "m", "c", "l", "o", "o / l"];
    let caption = "What is kept after each block";
    Table::new(caption, columns, steps.iter().enumerate().map(row))
}

fn sketched(it: OnlineSteps, table: &Table) -> String {
    let blocks = (0..it.steps.len()).map(|nth| {
        let lines = sums(it, nth).join("\n  ");
        format!("block {}\n  {lines}", nth + 1)
    });
    format!("{}\n\n{}", sketch::table(table), blocks.collect::<Vec<_>>().join("\n\n"))
}

fn told(OnlineSteps { scores, steps, .. }: OnlineSteps) -> String {
    let (n_keys, n_blocks, last) = (scores.len(), steps.len(), &steps[steps.len() - 1]);
    let maxima: Vec<String> = steps.iter().map(|step| short(step.maximum)).collect();
    format!(
        "Bars for the scores of {n_keys} keys and for what each key counts, with a slider \
         through {n_blocks} blocks. The maximum so far is {}. At the end the sum is {}, the \
         output {} and their quotient {}.",
        maxima.join(", then "),
        short(last.sum),
        short(last.out),
        short(last.average)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_figure;

    fn step(n_seen: usize, [m, c, l, o]: [f64; 4], counts: &[f64]) -> OnlineStep {
        let counts = counts.to_vec();
        OnlineStep {
            n_seen,
            maximum: m,
            correction: c,
            counts,
            sum: l,
            out: o,
            average: o / l,
        }
    }

    #[test]
    fn three_keys_in_two_blocks() {
        let steps = [
            step(2, [2f64.ln(), 0.0, 1.5, 30.0], &[0.5, 1.0]),
            step(3, [4f64.ln(), 0.5, 1.75, 55.0], &[0.25, 0.5, 1.0]),
        ];
        let it = OnlineSteps {
            scores: &[0.0, 2f64.ln(), 4f64.ln()],
            values: &[10.0, 25.0, 40.0],
            steps: &steps,
        };
        assert_figure!(online_softmax("What was seen counts half", it).unwrap());
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let refused = |scores: &[f64], values: &[f64], steps: &[OnlineStep]| {
            online_softmax("", OnlineSteps { scores, values, steps }).unwrap_err()
        };
        let fine = step(1, [0.0, 0.0, 1.0, 2.0], &[1.0]);
        insta::assert_snapshot!(refused(&[], &[], std::slice::from_ref(&fine)), @"the number of keys is 0, and must be at least 1");
        insta::assert_snapshot!(refused(&[0.0], &[2.0], &[]), @"the number of blocks is 0, and must be at least 1");
        insta::assert_snapshot!(refused(&[0.0], &[], std::slice::from_ref(&fine)), @"the list of values has 0 entries, expected 1");
        insta::assert_snapshot!(refused(&[0.0], &[2.0], &[fine.clone(), fine]), @"the number of keys seen after block 2 is 1, expected from 2 to 1");
        insta::assert_snapshot!(refused(&[0.0], &[2.0], &[step(1, [0.0, 0.0, 0.0, 0.0], &[1.0])]), @"a running number after block 1 is NaN, expected a number");
    }
}
