//! A deep stack with and without its parts: live.

use crate::live::{LiveFigure, LiveView, Question, live};
use crate::numbers::{brief, ends};
use anyhow::Result;
use figures::{
    Axis, Chart, DASHES, Figure, Mark, NEUTRAL, Panel, legend_room, log_axis, palette,
    significant,
};

use super::depth::{Depth, N_BLOCKS, Place, Setting, measure};

/// The axis begins and ends here, if nothing needs more: what a part that is taken away does is
/// compared with what was before it.
const LEAST: f64 = 1e-16;
const MOST: f64 = 1e3;

/// Draws what a fresh stack does to tokens and gradients.
pub(crate) const LIVE: LiveFigure<Set, Facts> =
    LiveFigure::new("deep-stack", draw, QUESTIONS);

const QUESTIONS: &[Question<Set, Facts>] = &[
    Question {
        ask: "Take a part away, so that all tokens become the same but for rounding.",
        is_answered: |_, it| it.apart_at_end < 1e-12,
        answer: |set| set.residual = false,
        found: "Without the residual, after a few blocks and whatever the norm: every \
                block replaces tokens by averages.",
    },
    Question {
        ask: "Keep the residual, and make the spread of the entries grow to more than \
              1,000 times what it was.",
        is_answered: |set, it| set.residual && it.growth > 1e3,
        answer: |set| set.norm = Place::None,
        found: "Without a norm nothing holds the scale: what a block adds grows with \
                what comes in.",
    },
    Question {
        ask: "All 24 blocks and no norm: keep the gradient below 3, let the spread grow \
              less than 3 times, and tokens stay apart by 0.3 or more.",
        is_answered: |set, it| {
            let is_as_asked = set.norm == Place::None && set.blocks == 24;
            is_as_asked && it.gradient.max(it.growth) < 3.0 && it.apart_at_end >= 0.3
        },
        answer: |set| (set.norm, set.size) = (Place::None, 0.5),
        found: "Begin with smaller parameters: each block then changes little, and the \
                residual passes tokens and gradients on.",
    },
];

live! {
    struct Set {
        residual: bool = "Residual", switch(true);
        norm: Place = "Norm", choice([
            ("before", "before", Place::Before),
            ("after", "after", Place::After),
            ("none", "nowhere", Place::None),
        ]);
        blocks: usize = "Blocks", slider([1, 24], 1, 24);
        size: f64 = "Parameters", choice([
            ("1", "as they begin here", 1.0), ("0.5", "halved", 0.5), ("2", "doubled", 2.0),
        ]);
        seed: usize = "Seed", count([0, 99], 0);
    }

    struct Facts {
        /// Below the first block, as a part of that at the top.
        gradient: f64,
        /// How many times the scale of the entries grows from the beginning to the end.
        growth: f64,
        /// The distance of tokens from their mean, as a part of their size, after each block.
        apart: Vec<f64>,
        /// The last of them.
        apart_at_end: f64,
    }
}

/// A block, whose parts are pressed, over what a stack of them does to gradient and tokens. The
/// axis has all that the longest stack needs, so that nothing moves while its end is dragged.
fn figure(title: String, set: &Set, depth: &Depth, longest: &Depth) -> Result<Figure> {
    let all = |it: &Depth| [&it.gradients[..], &it.scales, &it.apart].concat();
    let [least, _, most] = ends([all(depth), all(longest)].concat());
    let y = [least.min(LEAST), most.max(MOST)];
    let blocks = Axis::between([0.0, N_BLOCKS as f64]).titled("after block");
    let decades = Axis::decades(y, log_axis::power_of_ten);
    let lines = [
        ("gradient (top = 1)", &depth.gradients),
        ("spread of entries", &depth.scales),
        ("tokens apart", &depth.apart),
    ];
    let marks = lines.iter().enumerate().map(|(nth, (name, numbers))| {
        let told = numbers.iter().enumerate();
        let told = told
            .map(|(block, &y)| format!("{name}<br>after block {block}: {}", brief(y)));
        Mark::lines_and_marks(0..=set.blocks, numbers.iter().map(|&y| significant(y)))
            .named(name)
            .line(palette::beside_wrong(nth), 2.5)
            .dashed(DASHES[nth])
            .sized(6)
            .hover(told)
            .unclipped()
    });
    let end = Mark::points([set.blocks], [significant(depth.scales[set.blocks])]);
    let end = end.sized(16).coloured(palette::beside_wrong(1)).outlined("var(--bg)", 3.0);
    let end = end.dragged_along_x("blocks").in_legend(false).silent().unclipped();
    let hidden = Panel::new(
        "one block: press the residual, a norm or the layer",
        Axis::hidden([0.0, 10.0]),
        Axis::hidden([-0.45, 2.0]),
        132.0,
    );
    let measured = Panel::new("through the stack: drag its end", blocks, decades, 200.0);
    let chart = Chart::new(title)
        .left(44.0)
        .below(36.0)
        .above(legend_room(lines.iter().map(|(name, _)| *name), 14.0))
        .panel(measured, marks.chain([end]))
        .panel(hidden, block(set));
    Ok(chart.captioned().figure()?)
}

/// The wire through a block, the residual over it, and its parts.
fn block(set: &Set) -> Vec<Mark> {
    let quiet = |mark: Mark| mark.in_legend(false).silent().unclipped();
    let wire = quiet(Mark::lines([0.0, 10.0], [0.5, 0.5]).line(NEUTRAL, 2.5));
    let name =
        |x: f64, y: f64, text: &str| quiet(Mark::texts([x], [y], [text]).text_size(13));
    let (residual, other) = if set.residual { ("on", "off") } else { ("off", "on") };
    let over = (0..=12).map(|at| 1.0 + 0.5 * f64::from(at));
    let x: Vec<f64> = [1.0].into_iter().chain(over).chain([7.0]).collect();
    let y = (0..x.len()).map(|at| if at == 0 || at + 1 == x.len() { 0.5 } else { 1.45 });
    let arc = Mark::lines(x.clone(), y.collect::<Vec<_>>()).in_legend(false);
    let arc = match set.residual {
        true => arc.line(palette::head(0), 5.0),
        false => arc.line(NEUTRAL, 2.0).dashed("dot"),
    };
    let arc = arc.tells(format!("turn the residual {other}"));
    let arc = arc.picks(format!("residual={other}")).unclipped();
    let part = |x: f64, size: usize, is_there: bool, colour: &'static str| {
        let mark = Mark::points([x], [0.5]).marked("square", size).in_legend(false);
        match is_there {
            true => mark.coloured(colour).unclipped(),
            false => mark.coloured("var(--bg)").outlined(NEUTRAL, 2.0).unclipped(),
        }
    };
    let norm = |x: f64, place: Place, key: &str| {
        let is_there = set.norm == place;
        let sets = if is_there { "none" } else { key };
        let mark = part(x, 54, is_there, palette::head(0));
        let mark = mark.tells(format!("norm: {sets}")).picks(format!("norm={sets}"));
        let text = name(x, 0.5, "norm");
        [mark, if is_there { text.text_colour("#fff") } else { text }]
    };
    let (size, next, told) = match set.size {
        ..0.9 => (42, "2", "double its parameters"),
        ..1.1 => (54, "0.5", "halve its parameters"),
        _ => (66, "1", "its parameters as they begin"),
    };
    let layer =
        part(4.0, size, true, palette::head(2)).tells(told).picks(format!("size={next}"));
    let sum = Mark::points([7.0], [0.5]).marked("circle", 30).coloured(palette::head(2));
    let white = |mark: Mark| mark.text_colour("#fff");
    let mut marks = vec![wire, arc];
    marks.extend(norm(2.3, Place::Before, "before"));
    marks.extend(norm(8.6, Place::After, "after"));
    marks.extend([layer, quiet(sum), white(name(7.0, 0.5, "+"))]);
    marks.push(white(name(4.0, 0.5, "layer")));
    marks.push(name(4.0, 1.75, &format!("residual: {residual}")));
    let size = format!("parameters × {}", set.size);
    for (x, text) in [(2.3, "before"), (4.0, &size), (8.6, "after")] {
        marks.push(name(x, -0.3, text));
    }
    marks
}

fn draw(set: &Set) -> Result<LiveView<Facts>> {
    let &Set { residual, norm: place, blocks: n_blocks, size, seed } = set;
    let setting = Setting { residual, place, n_blocks, size };
    let depth = measure(&setting, seed as u64)?;
    let longest = measure(&Setting { n_blocks: N_BLOCKS, ..setting }, seed as u64)?;
    let title = format!("{n_blocks} fresh blocks: {}", setting.name());
    let figure = figure(title, set, &depth, &longest)?;
    let [gradient, from, to, apart_from, apart_to] = [
        depth.gradients[0],
        depth.scales[0],
        depth.scales[n_blocks],
        depth.apart[0],
        depth.apart[n_blocks],
    ];
    let words = format!(
        "Below the first block the gradient is {} times what it is at the top. The spread \
         of the entries goes from {} to {}, and the distance of tokens from their mean, as \
         a part of their size, from {} to {}.",
        brief(gradient),
        brief(from),
        brief(to),
        brief(apart_from),
        brief(apart_to)
    );
    let (growth, apart) = (to / from, depth.apart);
    let facts = Facts { gradient, growth, apart, apart_at_end: apart_to };
    Ok(LiveView { figure, words, facts })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_with_and_without_a_residual() {
        insta::assert_snapshot!(LIVE.at([]).unwrap().words, @"Below the first block the gradient is 5.951 times what it is at the top. The spread of the entries goes from 0.986 to 7.21, and the distance of tokens from their mean, as a part of their size, from 0.838 to 0.18.");
        let without = [("residual", "off"), ("norm", "none")];
        insta::assert_snapshot!(LIVE.at(without).unwrap().words, @"Below the first block the gradient is 9e-10 times what it is at the top. The spread of the entries goes from 0.986 to 0.143, and the distance of tokens from their mean, as a part of their size, from 0.838 to 2e-16.");
    }

    #[test]
    fn every_setting_is_drawn_from_one_block_on() {
        for residual in ["on", "off"] {
            for norm in ["before", "after", "none"] {
                for blocks in ["1", "24"] {
                    let at = [("residual", residual), ("norm", norm), ("blocks", blocks)];
                    let shown = LIVE.at(at).unwrap();
                    let n: usize = blocks.parse().unwrap();
                    assert_eq!(shown.facts.apart.len(), n + 1, "{at:?}");
                }
            }
        }
    }

    /// A gradient is a slope: nudge the tokens, and the output moves by so much.
    #[test]
    fn the_gradient_of_one_block_is_a_central_difference() {
        use crate::the_block::depth::{D_MODEL, N_TOKENS};
        use attention::{Mask, Matrix, Rng, SeedableRng, random_matrix};

        let setting = Setting { n_blocks: 1, ..Setting::deep(true, Place::After, 0.5) };
        let rng = &mut Rng::seed_from_u64(5);
        let x = random_matrix(N_TOKENS, D_MODEL, 1.0, rng);
        let d_out: Matrix = random_matrix(N_TOKENS, D_MODEL, 1.0, rng);
        let stack = setting.stack(rng).unwrap();
        let value = |x: Matrix| stack.forward(x, &Mask::None).unwrap().out().dot(&d_out);
        let h = 1e-5;
        let slopes = Matrix::from_fn(N_TOKENS, D_MODEL, |i, j| {
            let nudged = |by: f64| {
                let mut x = x.clone();
                x[(i, j)] += by;
                value(x)
            };
            (nudged(h) - nudged(-h)) / (2.0 * h)
        });
        let found = measure(&setting, 5).unwrap().gradients[0];
        assert!((found - slopes.norm() / d_out.norm()).abs() < 1e-7, "{found}");
    }
}
