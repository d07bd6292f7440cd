//! Which heads of the model have a pattern, and all patterns of one head: live.

use crate::live::{LiveFigure, LiveView, Question, live};
use crate::numbers::{mean, share, written};
use crate::outlines::outlines;
use anyhow::{Result, ensure};
use attention::Matrix;
use figures::{
    Axis, Chart, Figure, Mark, NARROW, NEUTRAL, Panel, Place, Table, by_cell, palette,
    rounded, share_map,
};
use models::decoders::study::{COPIES, HeadShares, PERIOD};

use super::{N_HEADS, N_LAYERS, findings};

/// Draws what all heads give to one pattern, with lines around those above a bound, and all
/// patterns of the head that a reader clicks.
pub(crate) const LIVE: LiveFigure<Set, Facts> =
    LiveFigure::new("decoder-heads", draw, QUESTIONS);

const QUESTIONS: &[Question<Set, Facts>] = &[
    Question {
        ask: "Click another head that copies random text. What does it do on prose?",
        is_answered: |set, it| {
            let is_other = [set.layer, set.head] != [18, 6];
            set.pattern == "copying" && is_other && it.here > MOST
        },
        answer: |set| (set.layer, set.head) = (17, 3),
        found: "Each head that copies random text gives most to the first token on prose: \
                there is nothing to copy, and it waits.",
    },
    Question {
        ask: "To what do more than 50 heads give over half of their attention?",
        is_answered: |set, it| set.bound >= MOST && it.layers.len() > 50,
        answer: |set| set.pattern = "first",
        found: "To the first token: it is a sink, where a head leaves attention that it \
                has no use for.",
    },
    Question {
        ask: "And to what does no head give half?",
        is_answered: |set, it| set.bound <= MOST && it.layers.is_empty(),
        answer: |set| set.pattern = "copying_prose",
        found: "To copying, in prose. The same heads copy random text: a head's pattern \
                depends on what it reads.",
    },
    Question {
        ask: "How far must the bound fall for a head of the first half, layers 0 to 14, \
              to be among those that copy random text?",
        is_answered: |set, it| {
            let is_early = it.layers.iter().any(|&layer| layer < N_LAYERS / 2);
            set.pattern == "copying" && is_early
        },
        answer: |set| set.bound = 0.05,
        found: "To 0.05, the least that can be set. Heads that copy stand late: they \
                need what earlier heads have written.",
    },
];

/// A head has a pattern if more than this share goes there on average. Fixed before looking.
pub const MOST: f64 = 0.5;

/// The patterns: what each is called, and the shares of all heads.
pub const PATTERNS: [(&str, &str); 5] = [
    ("copying", "copying, random text"),
    ("copying_prose", "copying, prose"),
    ("previous", "before, prose"),
    ("previous_random", "before, random text"),
    ("first", "first token, prose"),
];

live! {
    struct Set {
        pattern: &'static str = "What a head looks at", named(PATTERNS);
        bound: f64 = "Outlined above", number([0.05, 0.95], 0.05, MOST);
        layer: usize = "Layer", count([0, N_LAYERS - 1], 18);
        head: usize = "Head", count([0, N_HEADS - 1], 6);
    }

    /// Of the heads above the bound, the largest share first.
    struct Facts {
        layers: Vec<usize>,
        /// What the chosen head gives to the pattern.
        here: f64,
    }
}

/// The shares of one pattern, `[N_LAYERS, N_HEADS]`.
///
/// # Errors
/// An unknown pattern.
pub fn shares(heads: &HeadShares, pattern: &str) -> Result<Matrix> {
    let shares = match pattern {
        "copying" => &heads.copying,
        "copying_prose" => &heads.copying_prose,
        "previous" => &heads.previous,
        "previous_random" => &heads.previous_random,
        "first" => &heads.first,
        other => anyhow::bail!("no pattern {other}"),
    };
    ensure!(shares.len() == N_LAYERS * N_HEADS, "{} heads", shares.len());
    Ok(Matrix::from_row_slice(N_LAYERS, N_HEADS, shares))
}

/// The heads above a bound, the largest share first: layer, head, share.
pub fn above(shares: &Matrix, bound: f64) -> Vec<(usize, usize, f64)> {
    let all = (0..N_LAYERS).flat_map(|layer| (0..N_HEADS).map(move |head| (layer, head)));
    let mut heads: Vec<_> = all
        .map(|(layer, head)| (layer, head, shares[(layer, head)]))
        .filter(|(_, _, share)| *share > bound)
        .collect();
    heads.sort_by(|a, b| b.2.total_cmp(&a.2));
    heads
}

/// The control: what a head copies that gives every token up to its own the same.
pub fn even_copying() -> f64 {
    let copied = |i: usize| (i / PERIOD) as f64 / (i + 1) as f64;
    mean((PERIOD..PERIOD * COPIES).map(copied))
}

fn draw(&Set { pattern, bound, layer, head }: &Set) -> Result<LiveView<Facts>> {
    let found = &findings()?.heads;
    let shares = shares(found, pattern)?;
    let heads = above(&shares, bound);
    let name = PATTERNS.iter().find(|(value, _)| *value == pattern);
    let name = name.map_or(pattern, |(_, name)| name);
    let of_head: Vec<f64> = PATTERNS
        .iter()
        .map(|(pattern, _)| Ok(self::shares(found, pattern)?[(layer, head)]))
        .collect::<Result<_>>()?;

    let (height, bound) = (bound, written(bound, 2));
    let give = match heads.len() {
        0 => format!("No head of {} gives more than {bound}", shares.len()),
        1 => format!("1 of {} heads gives more than {bound}", shares.len()),
        n => format!("{n} of {} heads give more than {bound}", shares.len()),
    };
    let layers: Vec<usize> = heads.iter().map(|(layer, ..)| *layer).collect();
    let range = match (layers.iter().min(), layers.iter().max()) {
        (Some(first), Some(last)) => format!(", in layers {first} to {last}"),
        _ => String::new(),
    };
    let first = self::shares(found, "first")?;
    let words = format!(
        "{give} to this ({name}){range}. {} gives {} here; on prose, it \
         gives {} to the first token.",
        called([layer, head]),
        share(shares[(layer, head)]),
        share(first[(layer, head)]),
    );
    let picture = Picture {
        name,
        shares: &shares,
        bound: height,
        above: &heads,
        chosen: [layer, head],
        of_head,
    };
    let figure = picture.figure(format!("{give}: {name}"))?;
    let here = shares[(layer, head)];
    Ok(LiveView { figure, words, facts: Facts { layers, here } })
}

/// A head by its layer and its number: `L18 H6`.
fn called([layer, head]: [usize; 2]) -> String {
    format!("L{layer} H{head}")
}

/// The map of all heads, and the bars of one.
struct Picture<'a> {
    name: &'a str,
    shares: &'a Matrix,
    bound: f64,
    above: &'a [(usize, usize, f64)],
    chosen: [usize; 2],
    /// One for each of [`PATTERNS`].
    of_head: Vec<f64>,
}

impl Picture<'_> {
    /// Heads down, layers across.
    fn figure(&self, title: String) -> Result<Figure> {
        let layers: Vec<String> = (0..N_LAYERS).map(|layer| layer.to_string()).collect();
        let heads: Vec<String> =
            (0..N_HEADS).map(|head| format!("head {head}")).collect();
        let patterns = PATTERNS.map(|(_, name)| name.to_owned());
        let map = self.shares.transpose();
        let told = by_cell(map.shape(), |head, layer| {
            format!("{}: {}", called([layer, head]), share(map[(head, layer)]))
        });
        let cells = share_map::cells(&map, told, 1).named(self.name);
        let [layer, head] = self.chosen;
        let chosen = called(self.chosen);
        let above = self.above.iter().map(|&(layer, head, _)| [head, layer]);
        let lit = PATTERNS
            .map(|(_, name)| if name == self.name { palette::head(0) } else { NEUTRAL });
        let bars = Mark::bars(self.of_head.iter().map(|&of| rounded(of)))
            .named(&chosen)
            .coloured_each(lit)
            .sets(PATTERNS.map(|(pattern, _)| format!("pattern={pattern}")))
            .on(1);
        // In a row over all bars, above the highest bound.
        let values = self.of_head.iter().map(|&of| share(of));
        let values = Mark::texts(0..PATTERNS.len(), [1.11; PATTERNS.len()], values);
        let values = values.in_legend(false).silent().on(1);
        let cell = |pattern: usize, _: usize| share(self.of_head[pattern]);
        let tables = [
            Table::grid(self.name, "layer", &layers, &heads, |i, j| {
                share(self.shares[(i, j)])
            }),
            Table::grid(
                "All patterns of one head",
                "",
                &patterns,
                std::slice::from_ref(&chosen),
                cell,
            ),
        ];
        Ok(Chart::new(title)
            .by_width(|width| panels(width, &layers, &heads, &chosen))
            .marks([
                cells.picks("head={row}&layer={column}"),
                outlines(above, 1.5),
                outlines([[head, layer]], 3.5),
                bars,
                values,
            ])
            .marks(self.bound().map(|mark| mark.on(1)))
            .tables(tables)
            .says(format!(
                "A map of what each of {} heads gives to {}, and bars of the five patterns \
                 of {chosen}.",
                self.shares.len(),
                self.name,
            ))
            .figure()?)
    }

    /// The line above which heads are outlined, and what it is dragged by.
    fn bound(&self) -> [Mark; 2] {
        let at = [self.bound; 2].map(rounded);
        let line = Mark::lines([-0.5, HANDLE], at).line(palette::head(1), 2.0);
        let knob = Mark::points([HANDLE], [at[0]]).sized(18).coloured(palette::head(1));
        let knob = knob.written(["bound"], "top center").text_size(13);
        [line.silent(), knob.silent().dragged_along_y(["bound"]).unclipped()]
    }
}

/// Behind the last bar.
const HANDLE: f64 = 4.7;

/// The map over the bars.
fn panels(
    width: f64,
    layers: &[String],
    heads: &[String],
    chosen: &str,
) -> (Vec<Panel>, Place) {
    // Short enough to stand side by side.
    let patterns =
        PATTERNS.map(|(_, name)| name.replace(" text", "").replace(" token", ""));
    let (size, x, below) = match width > NARROW {
        true => (12, Axis::across(&patterns, 11), 40.0),
        false => (11, Axis::across(&patterns, 12).upright(), 100.0),
    };
    let x = x.range([-0.5, HANDLE + 0.2]);
    let map = Axis::across(layers, size).titled("layer");
    let (down, bars) =
        (Axis::down(heads, 12), Axis::numbers(1.2).numbered_at([0.0, 0.5, 1.0]));
    let what = "mean attention weight of each head: click one";
    let panels = vec![
        Panel::new(what, map, down, 18.0 * N_HEADS as f64),
        Panel::new(format!("{chosen}: click a pattern, drag the bound"), x, bars, 130.0),
    ];
    (panels, Place { width, left: 54.0, below, ..Place::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_at_first_and_where_there_is_none() {
        insta::assert_snapshot!(LIVE.at([]).unwrap().words, @"8 of 270 heads give more than 0.5 to this (copying, random text), in layers 17 to 23. L18 H6 gives .894 here; on prose, it gives .811 to the first token.");
        let high = [("pattern", "copying_prose"), ("bound", "0.95")];
        insta::assert_snapshot!(LIVE.at(high).unwrap().words, @"No head of 270 gives more than 0.95 to this (copying, prose). L18 H6 gives .194 here; on prose, it gives .811 to the first token.");
    }

    /// What the first question's answer says of all that copy.
    #[test]
    fn heads_that_copy_wait_on_prose() {
        let found = &findings().unwrap().heads;
        let of = |pattern| shares(found, pattern).unwrap();
        for (layer, head, _) in above(&of("copying"), MOST) {
            let at = (layer, head);
            assert!(of("first")[at] > MOST && of("copying_prose")[at] < MOST, "{at:?}");
        }
    }

    #[test]
    fn an_even_head_copies_little() {
        // Of token 149 the 50th to the last: keys 50 and 100 come after the same.
        let by_hand = (50..200).map(|i| f64::from(i / 50) / f64::from(i + 1));
        assert!((even_copying() - by_hand.sum::<f64>() / 150.0).abs() < 1e-12);
        assert!(even_copying() < 0.02);
    }
}
