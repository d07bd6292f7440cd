//! A deep stack with and without its parts: live.

use crate::live::{LiveFigure, LiveView, Question, live};
use crate::numbers::{brief, ends};
use anyhow::Result;
use figures::{
    Axis, Chart, DASHES, Figure, Mark, Panel, legend_room, log_axis, palette, significant,
};

use super::depth::{Depth, Place, Setting, measure};

/// The axes begin here at the latest, and end at its inverse at the earliest.
const LEAST: f64 = 1e-3;

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

/// The gradient, and the tokens' spread and how far they are apart, block by block. At least
/// six powers of ten are shown, so that what stays as it is looks so.
fn figure(title: String, depth: &Depth) -> Result<Figure> {
    let Depth { gradients, scales, apart } = depth;
    let n_blocks = gradients.len() - 1;
    let panel = |title: &str, all: &[&[f64]]| {
        let [least, _, most] = ends(all.concat());
        let y = [least.min(LEAST), most.max(LEAST.recip())];
        let blocks = Axis::between([0.0, n_blocks as f64]).titled("after block");
        Panel::new(title, blocks, Axis::decades(y, log_axis::power_of_ten), 230.0)
    };
    let mark = |nth: usize, name: &str, numbers: &[f64]| {
        let told = numbers.iter().enumerate();
        let told = told
            .map(|(block, &y)| format!("{name}<br>after block {block}: {}", brief(y)));
        Mark::lines_and_marks(0..=n_blocks, numbers.iter().map(|&y| significant(y)))
            .named(name)
            .line(palette::beside_wrong(nth), 2.0)
            .dashed(DASHES[nth])
            .sized(5)
            .hover(told)
            .unclipped()
    };
    let names = ["gradient", "spread", "apart"];
    let chart = Chart::new(title)
        .columns(2)
        .left(44.0)
        .above(legend_room(names.into_iter(), 14.0))
        .panel(
            panel("gradient, as a part of that at the top", &[gradients]),
            [mark(0, names[0], gradients)],
        )
        .panel(
            panel("tokens", &[scales, apart]),
            [mark(1, names[1], scales), mark(2, names[2], apart)],
        );
    Ok(chart.captioned().figure()?)
}

fn draw(set: &Set) -> Result<LiveView<Facts>> {
    let &Set { residual, norm: place, blocks: n_blocks, size, seed } = set;
    let setting = Setting { residual, place, n_blocks, size };
    let depth = measure(&setting, seed as u64)?;
    let figure = figure(format!("{n_blocks} fresh blocks: {}", setting.name()), &depth)?;
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
